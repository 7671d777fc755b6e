/* ending.h - a request to end that arrives twice: the first is obeyed in good order, a later one at once. */
#ifndef WG_BASE_ENDING_H
#define WG_BASE_ENDING_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct wg_ending {
    volatile int64_t asked_ms; /* when the first request came, monotonic clock; 0: none yet */
};

enum { WG_ENDING_SAME_MS = 1000 };

/* Whether this request says more than the first one did. timeout(1), a shell's `kill %1` and a parent that passes
 * signals on deliver one wish as two or three signals at almost the same time; those that follow within a second are
 * the same wish. Safe in a signal handler. */
static inline bool wg_ending_insists(struct wg_ending *e)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t now = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000 + 1;
    if (e->asked_ms)
        return now - e->asked_ms >= WG_ENDING_SAME_MS;
    e->asked_ms = now;
    return false;
}

#endif
