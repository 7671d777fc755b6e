/* calc.c - reading numbers from options, refusing and printing, for the calculator commands. */
#include "cli/calc.h"
#include "report/escape.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(const char *cmd, const char *fmt, va_list ap)
{
    fflush(stdout);
    char *text = NULL;
    int n = vasprintf(&text, fmt, ap);
    fprintf(stderr, "warpgrind %s: ", cmd);
    for (const char *s = n < 0 ? "out of memory" : text; s; s = strchr(s, '\n') ? strchr(s, '\n') + 1 : NULL) {
        wg_escape(stderr, s, strlen(s), 0); /* up to the end of the line */
        fputc('\n', stderr);
    }
    free(n < 0 ? NULL : text);
}

int wg_calc_fail(const char *cmd, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(cmd, fmt, ap);
    va_end(ap);
    return 1;
}

int wg_calc_unread(const char *cmd, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(cmd, fmt, ap);
    va_end(ap);
    return 2;
}

bool wg_calc_number(const char *cmd, const char *name, const char *text, uint64_t most, uint64_t *v)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 0);
    unsigned shift = 0;
    if (end != text && *end && !end[1])
        shift = *end == 'K' || *end == 'k' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (!isdigit((unsigned char)*text) || errno || (*end && !shift) || n > most >> shift) {
        wg_calc_fail(cmd, "%s takes a whole number from 0 to %llu, not '%s'", name, (unsigned long long)most, text);
        return false;
    }
    *v = (uint64_t)n << shift;
    return true;
}

bool wg_calc_real(const char *cmd, const char *name, const char *text, double *v)
{
    char *end;
    errno = 0;
    *v = strtod(text, &end);
    if (end == text || *end || errno || !isfinite(*v) || *v < 0) {
        wg_calc_fail(cmd, "%s takes a number from 0 up, not '%s'", name, text);
        return false;
    }
    return true;
}

const char *wg_calc_grouped(struct wg_calc_text *t, uint64_t v)
{
    char digits[24], *out = t->slot[t->next++ % 8];
    size_t n = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)v), k = 0;
    for (size_t i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            out[k++] = ',';
        out[k++] = digits[i];
    }
    out[k] = 0;
    return out;
}

bool wg_calc_block(const char *cmd, const char *text, unsigned *bx, unsigned *by)
{
    int n = 0;
    *by = 1;
    if ((sscanf(text, "%ux%u%n", bx, by, &n) == 2 && n && !text[n]) ||
        (n = 0, sscanf(text, "%u%n", bx, &n) == 1 && n && !text[n]))
        if (*bx >= 1 && *by >= 1 && *bx <= 1024 && *by <= 1024 && *bx * *by <= 1024)
            return true;
    wg_calc_fail(cmd, "--block takes a shape such as 32x8, at most 1024 threads, not '%s'", text);
    return false;
}
