/* fold.h - what reports show: launches of one kernel and shape folded into one, traffic by memory and direction, counts
 * by source line. The one place where figures are derived from counters. */
#ifndef WG_REPORT_FOLD_H
#define WG_REPORT_FOLD_H
#include <warpgrind/profile.h>
#include "base/arena.h"

struct wg_gpu;

/* Memory accesses of one kind, summed. */
struct wg_traffic {
    uint64_t requests, sectors, sectors_ideal, sectors_extra; /* extra: above the ideal, site by site */
    uint64_t tags, wavefronts, wavefronts_ideal, wavefronts_extra, bytes_used;
};
enum wg_where { WG_WHERE_GLOBAL, WG_WHERE_SHARED, WG_WHERE_LOCAL, WG_WHERE_GENERIC, WG_WHERE_ASYNC, WG_WHERE_COUNT };
enum wg_how { WG_HOW_LOAD, WG_HOW_STORE, WG_HOW_ATOM, WG_HOW_COUNT }; /* ATOM: atomics and reductions */
/* Which row of the table a site belongs to; false: it accesses none of these memories. A generic access that only ever
 * met one memory belongs there. */
bool wg_fold_class(const struct wg_site *s, enum wg_where *where, enum wg_how *how);
void wg_fold_add(struct wg_traffic *t, const struct wg_site *s);

/* Launches with equal kernel, shape and device that all ended well; or one alone. */
struct wg_group {
    const struct wg_launch_result *first;
    size_t nlaunches, *launches;  /* positions in the profile, ascending */
    uint64_t min_inst, max_inst;  /* warp instructions of one launch */
    double host_seconds;
    struct wg_site *sites;        /* first->nsites, summed over the launches */
    uint64_t total[WG_C_COUNT];
    struct wg_traffic traffic[WG_WHERE_COUNT][WG_HOW_COUNT];
    uint64_t barriers;            /* warp instructions of kind barrier */
    uint64_t lanes;               /* wg_metric_lanes, summed */
    bool one_worker;
    uint64_t merged_sites;
    const struct wg_gpu *gpu;     /* the device; set by view.c, NULL when nothing describes it */
    size_t nfindings;
    struct wg_finding *findings;  /* equal ones joined, counts added; worst first */
};
/* fold false: one group per launch. On WG_NO_MEMORY *out is NULL. Everything lives in the arena. */
enum wg_status wg_fold(const struct wg_profile *p, bool fold, struct wg_arena *a, struct wg_group **out, size_t *n);
/* Equal findings joined, worst first, in their order otherwise. NULL and *n 0 for none or when memory is out. */
struct wg_finding *wg_fold_findings(struct wg_arena *a, const struct wg_finding *const *v, size_t count, size_t *n);

/* Everything counted at one source line. Source UINT32_MAX: at one instruction of a PTX without any lines, `line` is then
 * the PTX's; or, with line 0, at all instructions that the compiler gave no line in a PTX that has some. */
struct wg_line {
    uint32_t source, line;
    const char *text;        /* of the PTX instruction; NULL for others */
    size_t nsites;
    const struct wg_site **sites; /* in PTX order */
    uint64_t total[WG_C_COUNT];
    struct wg_traffic traffic[WG_WHERE_COUNT][WG_HOW_COUNT];
    uint64_t sectors, sector_requests, sectors_extra, wavefronts, wavefront_requests, wavefronts_extra;
    uint64_t lanes;
    bool barrier;
};
/* Lines of a group in order of source (most instructions first), then line. Code that is inlined from a system header
 * counts at the line that called it; where the PTX does not name that (clang's never does), at the line of the program
 * that comes before it in the PTX. */
enum wg_status wg_fold_lines(const struct wg_profile *p, const struct wg_group *g, struct wg_arena *a,
                             struct wg_line **out, size_t *n);
/* The text of a line without its newline; NULL where the profile has none. */
const char *wg_source_line(const struct wg_source *s, uint32_t line, size_t *n);
#endif
