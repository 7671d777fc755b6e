/* gain.h - how much faster a kernel gets when it needs less of something: estimated, from what each unit of an SM must do. */
#ifndef WG_REPORT_GAIN_H
#define WG_REPORT_GAIN_H
#include "model/gpus.h"
#include "report/fold.h"

/* What a launch asks of the units, for the whole device. */
struct wg_work {
    double instructions; /* warp instructions of the machine */
    double wavefronts;   /* of shared memory */
    double lines;        /* 128-byte lines that global accesses look up, or as much data */
    double l2;           /* sectors between the SMs and the L2 */
    double dram;         /* bytes; 0: not known */
};
enum wg_unit { WG_UNIT_ISSUE, WG_UNIT_LSU, WG_UNIT_L2, WG_UNIT_DRAM, WG_UNITS };
struct wg_gain {
    const struct wg_group *g;
    const struct wg_gpu *gpu;
    bool timed;      /* the models of caches and time ran: cycles and the memory's part are known */
    double sms;      /* that have a block */
    double cycles;   /* of the launch; 0 when not timed */
    struct wg_work work;
    double bound[WG_UNITS], most; /* cycles that each unit needs at its full rate; the largest */
};
/* gpu NULL: false, nothing can be said. */
bool wg_gain_open(const struct wg_group *g, const struct wg_gpu *gpu, struct wg_gain *out);
/* How many times faster with `after` instead of out->work: from low to high. Not timed: low is 1, high what the units that
 * are known allow at most. */
struct wg_faster { double low, high; };
struct wg_faster wg_gain_work(const struct wg_gain *x, const struct wg_work *after);
/* With `times` as many warps to hide latency. */
struct wg_faster wg_gain_warps(const struct wg_gain *x, double times);
/* With a share of the time gone that the warps spend waiting, if another unit does not hold them up. */
struct wg_faster wg_gain_waiting(const struct wg_gain *x, double share);
const char *wg_unit_name(enum wg_unit u);
/* The unit that needs most. */
enum wg_unit wg_gain_unit(const struct wg_gain *x);
#endif
