/* page.h - what text.c and annotate.c share: the page being written, its width and its colours. */
#ifndef WG_REPORT_PAGE_H
#define WG_REPORT_PAGE_H
#include "report/device.h"
#include "report/fold.h"
#include "report/judge.h"
#include "report/report.h"

enum wg_ink { WG_INK_PLAIN, WG_INK_HEAD, WG_INK_BAD, WG_INK_WARN, WG_INK_DIM };
struct wg_page {
    FILE *out;
    const struct wg_profile *p;
    struct wg_arena *arena;
    struct wg_devices devices;
    unsigned width;
    bool color, verbose;
};
void wg_page_ink(struct wg_page *g, enum wg_ink ink);   /* PLAIN ends the others */
void wg_page_pad(struct wg_page *g, unsigned used, unsigned to); /* spaces from column `used` up to column `to` */
/* wg_escape of a whole string; width 0: not cut. Returns the columns used. */
unsigned wg_page_text(struct wg_page *g, const char *s, unsigned width);
/* The file name of a source without its folders. */
const char *wg_page_base(const char *path);

/* annotate.c: the source lines of one group, the worst marked. */
void wg_page_annotate(struct wg_page *g, const struct wg_group *group, const struct wg_line *lines, size_t n);
#endif
