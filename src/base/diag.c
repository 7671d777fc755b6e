/* diag.c - formats located messages; status texts. */
#include "base/diag.h"
#include <stdio.h>
#include <string.h>

static const char *const status_texts[] = {
#define WG_STATUS(id, text) text,
#include <warpgrind/status.def>
#undef WG_STATUS
};

const char *wg_status_text(enum wg_status s)
{
    return (unsigned)s < WG_STATUS_COUNT ? status_texts[s] : "unknown status";
}

void wg_diag_clear(struct wg_diag *d)
{
    d->status = WG_OK;
    d->text[0] = 0;
}

enum wg_status wg_diag_vset(struct wg_diag *d, enum wg_status s, const char *fmt, va_list ap)
{
    if (d->status == WG_OK) {
        d->status = s;
        vsnprintf(d->text, sizeof d->text, fmt, ap);
    }
    return d->status;
}

enum wg_status wg_diag_set(struct wg_diag *d, enum wg_status s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    s = wg_diag_vset(d, s, fmt, ap);
    va_end(ap);
    return s;
}

/* Appends the source line that holds `at` and a caret under it; long lines are cut around the caret. */
static void show_line(struct wg_diag *d, const char *text, const char *end, const char *at)
{
    const char *b = at, *e = at;
    while (b > text && b[-1] != '\n')
        b--;
    while (e < end && *e != '\n' && *e)
        e++;
    if (at - b > 60)
        b = at - 60;
    if (e - b > 96)
        e = b + 96;
    size_t n = strlen(d->text), left = sizeof d->text - n;
    char line[100], mark[100];
    int k = 0;
    for (const char *p = b; p < e; p++, k++)
        line[k] = (unsigned char)*p < 32 || *p == 127 ? ' ' : *p;
    line[k] = 0;
    int c = (int)(at - b);
    memset(mark, ' ', (size_t)c);
    mark[c] = '^';
    mark[c + 1] = 0;
    snprintf(d->text + n, left, "\n  %s\n  %s", line, mark);
}

enum wg_status wg_diag_at(struct wg_diag *d, enum wg_status s, const char *file, const char *text, size_t len,
                          const char *at, const char *fmt, ...)
{
    if (d->status != WG_OK)
        return d->status;
    d->status = s;
    size_t n = 0;
    if (text && at) {
        unsigned line = 1, col = 1;
        for (const char *p = text; p < at; p++)
            if (*p == '\n')
                line++, col = 1;
            else
                col++;
        n = (size_t)snprintf(d->text, sizeof d->text, "%s:%u:%u: ", file, line, col);
    } else if (file) {
        n = (size_t)snprintf(d->text, sizeof d->text, "%s: ", file);
    }
    if (n >= sizeof d->text)
        n = sizeof d->text - 1;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(d->text + n, sizeof d->text - n, fmt, ap);
    va_end(ap);
    if (text && at)
        show_line(d, text, text + len, at);
    return s;
}
