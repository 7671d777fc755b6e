/* compare.h - two profiles side by side: kernels and source lines matched although names' order and line numbers moved.
 */
#ifndef WG_REPORT_COMPARE_H
#define WG_REPORT_COMPARE_H
#include "report/view.h"
#include <stdio.h>

struct wg_line_pair {
    const struct wg_line *a, *b;
}; /* one may be NULL: only in the other */
struct wg_pair {
    const struct wg_group *a, *b; /* before, after; one may be NULL */
    const struct wg_lines *alines, *blines;
    bool reshaped; /* grid, block or shared memory differ */
    size_t nlines;
    struct wg_line_pair *lines; /* in the order of `after`, what is gone behind it */
};
struct wg_moved; /* where the lines of each source of `after` were before */
struct wg_compare {
    const struct wg_view *a, *b;
    const struct wg_moved *where;
    size_t n;
    struct wg_pair *v; /* in the order of `after`; kernels that are gone last */
};
/* Kernels match by name, those of equal shape first. Lines match by their text: unchanged lines by a longest common
 * subsequence, changed ones by their place between those; where a profile has no source text, by number. WG_NO_MEMORY
 * is the only error. Everything lives in the arena. */
enum wg_status wg_compare(const struct wg_view *before, const struct wg_view *after, struct wg_arena *arena,
                          struct wg_compare *out);

/* (*map)[i] is the line of `before` (from 1) that line i (from 1) of `after` was, or 0: it is new. n: lines of `after`.
 */
enum wg_status wg_compare_text(const char *before, const char *after, struct wg_arena *arena, uint32_t **map,
                               size_t *n);

/* The finding of the pair's `before` that f, one of its `after`, already was: same kind, same lines. NULL: f is new. */
const struct wg_finding *wg_compare_finding(const struct wg_compare *c, const struct wg_pair *p,
                                            const struct wg_finding *f);

/* How much worse or better `after` is: in the metric's own sense of better. */
enum wg_change { WG_CHANGE_NONE, WG_CHANGE_BETTER, WG_CHANGE_WORSE, WG_CHANGE_OTHER /* neither is better */ };
struct wg_delta {
    bool has;
    struct wg_figure a, b;
    double relative; /* (b - a) / a; INFINITY from 0 */
    enum wg_change change;
};
struct wg_delta wg_compare_figure(const struct wg_pair *p, enum wg_headline h);
struct wg_delta wg_compare_line_figure(const struct wg_pair *p, const struct wg_line_pair *l, enum wg_headline h);
/* "+12.5 %", "-3 %", "from 0", "same". */
const char *wg_compare_text_of(char buf[32], const struct wg_delta *d);

/* compare_print.c. Shows what changed: as text, or as a Markdown page. `verbose`: also what stayed the same. WG_IO when
 * out is in error. */
enum wg_status wg_compare_print(const struct wg_compare *c, bool color, bool verbose, FILE *out);
enum wg_status wg_compare_markdown(const struct wg_compare *c, FILE *out);
#endif
