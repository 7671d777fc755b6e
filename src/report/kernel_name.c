/* kernel_name.c - finds the function's own name in a demangled declaration. */
#include "report/kernel_name.h"
#include "report/markup.h"
#include <stdio.h>
#include <string.h>

/* The index of the bracket that opens the one at s[end]; end if there is none. */
static size_t opening(const char *s, size_t end, char open, char close)
{
    int depth = 0;
    for (size_t i = end + 1; i-- > 0;) {
        depth += s[i] == close && !(close == '>' && i && s[i - 1] == '-') ? 1 : s[i] == open ? -1 : 0;
        if (!depth)
            return i;
    }
    return end;
}

const char *wg_kernel_function(char *buf, size_t n, const char *s)
{
    size_t end = strlen(s);
    const char *clone = strstr(s, " [clone");
    if (clone)
        end = (size_t)(clone - s);
    if (end && s[end - 1] == ')')
        end = opening(s, end - 1, '(', ')');
    if (end && s[end - 1] == '>')
        end = opening(s, end - 1, '<', '>');
    size_t start = end;
    while (start && s[start - 1] != ':' && s[start - 1] != ' ' && s[start - 1] != '*' && s[start - 1] != '&')
        start--;
    snprintf(buf, n, "%.*s", (int)(end - start), s + start);
    return buf;
}

const char *wg_kernel_label(const char *s, size_t *n)
{
    s += strncmp(s, "void ", 5) ? 0 : 5; /* kernels return nothing: only templates say so */
    *n = wg_markup_short_kernel(s);
    return s;
}
