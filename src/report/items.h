/* items.h - what the page of advice holds: collected by advice_memory.c and advice_kernel.c, ranked and printed by advise.c. */
#ifndef WG_REPORT_ITEMS_H
#define WG_REPORT_ITEMS_H
#include "report/flow.h"
#include "report/gain.h"
#include "report/view.h"

enum wg_advice_kind {
#define WG_ADVICE(id, word, text) WG_ADVICE_##id,
#include "report/advice.def"
#undef WG_ADVICE
    WG_ADVICE_KINDS
};
/* CERTAIN: counted, and the change does only that. LIKELY: what it rests on is modelled, or the change has a price.
 * MAYBE: worth a try. */
enum wg_sure { WG_SURE_CERTAIN, WG_SURE_LIKELY, WG_SURE_MAYBE };

struct wg_item {
    enum wg_advice_kind kind;
    const struct wg_line *line; /* NULL: the whole kernel */
    const char *text;           /* the instruction meant; NULL: the line tells */
    char found[400], fix[400], proof[300]; /* what was seen, what to do, what was tried and came out */
    enum wg_sure sure;
    struct wg_faster faster;
};
struct wg_items {
    const struct wg_view *view;
    const struct wg_group *g;
    const struct wg_lines *lines;
    const struct wg_gpu *gpu;  /* NULL: not known; then gain is not open */
    bool open;
    struct wg_gain gain;
    struct wg_flow flow;
    struct wg_arena *arena;
    struct wg_item *v;
    size_t n, cap;
    char unfixed[8][400];      /* wasteful lines that nothing was found for */
    size_t nunfixed;
};
/* A zeroed item at the end; NULL: no memory. */
struct wg_item *wg_items_add(struct wg_items *x, enum wg_advice_kind kind, enum wg_sure sure);
void wg_items_drop(struct wg_items *x); /* the last one */
/* "file.cu:12", or "" where no line is known. */
const char *wg_items_place(const struct wg_items *x, const struct wg_line *l, char buf[128]);
/* The line that holds a site; NULL: none. */
const struct wg_line *wg_items_line(const struct wg_items *x, const struct wg_site *s);
const char *wg_items_exact(const struct wg_items *x); /* fidelity of counts of this launch */

void wg_advice_memory(struct wg_items *x);
void wg_advice_kernel(struct wg_items *x);
void wg_advice_occupancy(struct wg_items *x);
#endif
