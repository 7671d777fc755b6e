/* judge.h - what in a group of launches is worth fixing, in words. Works from exact counts only: it says what is wasted,
 * never how long that takes. */
#ifndef WG_REPORT_JUDGE_H
#define WG_REPORT_JUDGE_H
#include "report/advice.h"
#include "report/fold.h"
#include <stdbool.h>

/* A tenth of the traffic of one kind is where Nsight Compute's rules begin to speak too. */
#define WG_JUDGE_SHARE 0.10
#define WG_JUDGE_LANES 24.0 /* active lanes of 32 below which divergence is called a problem, likewise */

struct wg_advice {
    const char *title;          /* "shared-memory bank conflicts" */
    const char *unit, *waste;   /* of part and whole: "wavefronts"; what the part is: "extra" */
    uint64_t part, whole;
    const char *remedy;         /* what to try */
    const struct wg_line *line; /* the worst line, or NULL where the whole kernel is meant */
    struct wg_trial trial;      /* of the line's worst access; text "": it was not recorded, or is no access */
    bool tried;                 /* the trial found a fix */
};
enum { WG_ADVICE_MAX = 8 };
/* Fills v with the advice on g, most wasteful first; returns how many. */
size_t wg_judge(const struct wg_group *g, const struct wg_line *lines, size_t nlines, struct wg_advice v[WG_ADVICE_MAX]);
/* True where a line wastes enough to be marked: a tenth of its own traffic and a hundredth of the kernel's. */
bool wg_judge_line(const struct wg_group *g, const struct wg_line *l);
#endif
