/* timing.h - what the predicted time of a launch is made of. */
#ifndef WG_REPORT_TIMING_H
#define WG_REPORT_TIMING_H
#include <warpgrind/profile.h>
#include <stdbool.h>
#include <stdio.h>

/* Whether the launch was modelled, so that the rest has something to say. */
bool wg_timing_known(const struct wg_launch_result *l);
/* What holds it back, in words: the busiest unit when it is busy, else what its warps wait for. */
const char *wg_timing_bound(const struct wg_launch_result *l);

enum { WG_TIMING_UNITS = 4, WG_TIMING_WAITS = 4 };
struct wg_timing_part {
    const char *label;
    double share; /* 0..1 */
    bool bound;   /* this is what holds the launch back */
};
/* How busy each unit was, and what the warps' time went into; the largest first. */
void wg_timing_units(const struct wg_launch_result *l, struct wg_timing_part out[WG_TIMING_UNITS]);
void wg_timing_waits(const struct wg_launch_result *l, struct wg_timing_part out[WG_TIMING_WAITS]);
/* Both as bars. False: there is no predicted time. */
bool wg_svg_timing(FILE *out, const struct wg_launch_result *l, bool standalone);
#endif
