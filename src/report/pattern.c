/* pattern.c - compiles regular expressions, with the few forms that POSIX spells differently. */
#include "report/pattern.h"
#include <stdio.h>
#include <string.h>

enum wg_status wg_pattern(const char *text, regex_t *out, struct wg_diag *d)
{
    char posix[1024], why[256];
    size_t n = 0;
    bool set = false; /* inside [...] */
    for (const char *s = text; *s; s++) {
        const char *put = NULL;
        char one[3] = {*s, 0, 0};
        if (*s == '\\' && s[1]) {
            put = s[1] != 'd' && s[1] != 'D' ? NULL
                  : set                      ? (s[1] == 'd' ? "0-9" : NULL)
                  : s[1] == 'd'              ? "[0-9]"
                                             : "[^0-9]";
            one[1] = s[1];
            s++;
        } else if (!set && !strncmp(s, "(?:", 3)) {
            put = "(";
            s += 2;
        } else if (*s == '[' || *s == ']') {
            set = *s == '[';
        }
        int k = snprintf(posix + n, sizeof posix - n, "%s", put ? put : one);
        if (n + (size_t)k >= sizeof posix)
            return wg_diag_set(d, WG_INVALID, "the expression '%.40s...' is longer than %zu bytes", text,
                               sizeof posix - 1);
        n += (size_t)k;
    }
    posix[n] = 0;
    int e = *posix ? regcomp(out, posix, REG_EXTENDED | REG_NOSUB) : REG_BADPAT;
    if (!e)
        return WG_OK;
    if (*posix)
        regerror(e, out, why, sizeof why);
    else
        snprintf(why, sizeof why, "it is empty");
    return wg_diag_set(d, WG_INVALID, "'regex:%s' is no regular expression: %s", text, why);
}
