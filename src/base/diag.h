/* diag.h - located messages: file:line:column, one sentence, the source line and a caret. */
#ifndef WG_BASE_DIAG_H
#define WG_BASE_DIAG_H
#include <warpgrind/warpgrind.h>
#include <stdarg.h>

struct wg_diag {
    enum wg_status status; /* of the first error; WG_OK while there is none */
    char text[2048];       /* the first error, formatted; "" while there is none */
};
/* Record an error unless one is recorded already; returns the recorded status. text/len: the whole source (may be
 * NULL), at: the offending byte in it, from which line and column are found. */
enum wg_status wg_diag_at(struct wg_diag *d, enum wg_status s, const char *file, const char *text, size_t len,
                          const char *at, const char *fmt, ...) __attribute__((format(printf, 7, 8)));
enum wg_status wg_diag_set(struct wg_diag *d, enum wg_status s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
enum wg_status wg_diag_vset(struct wg_diag *d, enum wg_status s, const char *fmt, va_list ap);
void wg_diag_clear(struct wg_diag *d);
#endif
