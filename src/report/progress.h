/* progress.h - one line on a terminal that says how far a long launch is; it erases itself. */
#ifndef WG_REPORT_PROGRESS_H
#define WG_REPORT_PROGRESS_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Zero-initialise with `out` set. Calls for one launch come from one thread at a time. */
struct wg_progress {
    FILE *out;
    uint64_t start_ns, next_ns, last_done;
    bool running, shown;
};
/* As wg_options.progress is called; now_ns is any steady clock. Nothing is shown in a launch's first second, then the
 * line is renewed five times a second and erased when done == all. A launch begins when done falls. */
void wg_progress_show(struct wg_progress *p, uint64_t now_ns, uint64_t done, uint64_t all, uint64_t warp_insts);
void wg_progress_erase(struct wg_progress *p); /* of a launch that was stopped; fine when nothing is shown */
#endif
