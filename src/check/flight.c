/* flight.c - bulk copies to shared memory between their issue and the first thread that has seen their mbarrier's phase end.
 *
 * While a copy is on its way, whoever touches its bytes races with it. From then on its bytes were written by the thread
 * that asked for it, when it asked: an mbarrier hands that on to those who wait for it, as it does for an arrival. */
#include "check/internal.h"
#include <string.h>

void wg_flight_begin(struct wg_check *c, struct wg_cblock *b, uint32_t warp, uint32_t lane, const struct wg_bulk_copy *x)
{
    if (b->nflights == b->flights_cap) {
        size_t cap = b->flights_cap ? b->flights_cap * 2 : 8;
        struct wg_cflight *v = wg_realloc(b->flights, cap * sizeof *v);
        if (!v) {
            c->no_memory = true;
            return;
        }
        b->flights = v;
        b->flights_cap = cap;
    }
    wg_racecheck_async(c, b, warp, lane, x->site, x->to, x->bytes, WG_ASYNC_ISSUED);
    b->flights[b->nflights++] = (struct wg_cflight){*x, warp, lane};
}

void wg_flight_seen(struct wg_check *c, struct wg_cblock *b, const struct wg_object *o)
{
    size_t left = 0;
    for (size_t k = 0; k < b->nflights; k++) {
        struct wg_cflight f = b->flights[k];
        if (f.copy.bar == o->addr && f.copy.phase != o->phase)
            wg_racecheck_async(c, b, f.warp, f.lane, f.copy.site, f.copy.to, f.copy.bytes, WG_ASYNC_SEEN);
        else
            b->flights[left++] = f;
    }
    b->nflights = left;
}
