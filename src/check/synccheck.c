/* synccheck.c - barriers and warp masks: does everybody come who has to, to the same place.
 *
 * A warp may reach a barrier in parts; that is an error only if its parts stand at different instructions when the
 * barrier opens, because only then must hardware that counts warps go wrong. */
#include "check/internal.h"
#include <stdio.h>

static const struct wg_who nobody;

void wg_synccheck_arrive(struct wg_check *c, struct wg_cblock *b, uint32_t warp, const struct wg_barrier_event *e)
{
    struct wg_cbarrier *x = &b->bar[e->id & (BARRIERS - 1)];
    struct wg_who who = {warp, (uint32_t)__builtin_ctz(e->lanes), b->ctaid};
    if (x->used && x->count != e->count && !b->broken) {
        wg_found(c, WG_FOUND_BARRIER_COUNT, e->site, NO_SITE, who, nobody, 0, WG_SEVERITY_ERROR,
                 "Barrier error detected. Invalid arguments\nBarrier %u: a count of %u here, of %u by those who came before",
                 e->id, e->count, x->count);
        b->broken = true;
    }
    if (e->waits && e->aligned && x->lanes[warp] && x->site[warp] != e->site && !x->split) {
        x->split = true;
        x->split_site = x->site[warp];
        if (!b->broken) {
            uint32_t a = x->site[warp] < e->site ? x->site[warp] : e->site, o = a == e->site ? x->site[warp] : e->site;
            wg_found(c, WG_FOUND_BARRIER_DIVERGENT, a, o, who, nobody, 0, WG_SEVERITY_ERROR,
                     "Barrier error detected. Divergent thread(s) in warp\n%u lanes of warp %u wait at one barrier "
                     "instruction, %u at another",
                     (unsigned)__builtin_popcount(x->lanes[warp]), warp, (unsigned)__builtin_popcount(e->lanes));
            b->broken = true;
        }
    }
    x->used = true;
    x->count = e->count;
    x->site[warp] = e->site;
    x->lanes[warp] |= e->lanes;
}

void wg_synccheck_release(struct wg_check *c, struct wg_cblock *b, uint32_t id, const uint32_t *live)
{
    struct wg_cbarrier *x = &b->bar[id & (BARRIERS - 1)];
    uint32_t here = 0, gone = 0, site = NO_SITE, exit_site = NO_SITE, warp = 0;
    char split[64] = "";
    for (uint32_t k = 0; k < c->launch.nwarps && k < WARPS; k++) {
        uint32_t exited = b->w[k].exited & ~live[k];
        here += (uint32_t)__builtin_popcount(x->lanes[k]);
        gone += (uint32_t)__builtin_popcount(exited);
        if (x->lanes[k] && site == NO_SITE) {
            site = x->site[k];
            warp = k;
        }
        if (exited && exit_site == NO_SITE)
            exit_site = b->w[k].exit_site;
        if (exited && live[k] && !*split)
            snprintf(split, sizeof split, "; warp %u is split %u/%u", k, (unsigned)__builtin_popcount(live[k]),
                     (unsigned)__builtin_popcount(exited));
    }
    if (!gone || x->count || !x->used || b->broken || site == NO_SITE)
        return;
    struct wg_who who = {warp, (uint32_t)__builtin_ctz(x->lanes[warp]), b->ctaid};
    wg_found(c, WG_FOUND_BARRIER_EXITED, site, exit_site, who, nobody, 0, WG_SEVERITY_WARNING,
             "Barrier error detected. Divergent thread(s) in block\n%u of %u threads arrive, %u have exited%s", here,
             c->launch.threads, gone, split);
}

void wg_synccheck_exchange(struct wg_check *c, struct wg_cblock *b, uint32_t warp, const struct wg_exchange *e)
{
    const char *name = e->name ? e->name : "bar.warp.sync";
    for (uint32_t m = e->lanes; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m), mask = e->member[l];
        struct wg_who who = {warp, l, b->ctaid};
        if (!(mask >> l & 1))
            wg_found(c, WG_FOUND_MASK_CALLER, e->site, NO_SITE, who, nobody, 0, WG_SEVERITY_ERROR,
                     "Barrier error detected. Invalid arguments\nLane %u executes %s with member mask 0x%08x, which does "
                     "not name it",
                     l, name, mask);
        uint32_t from = e->source ? e->source[l] : l;
        if (from != l && !(e->lanes >> from & 1 && mask >> from & 1))
            wg_found(c, WG_FOUND_SHUFFLE_SOURCE, e->site, NO_SITE, who, nobody, 0, WG_SEVERITY_ERROR,
                     "Barrier error detected. Invalid arguments\nLane %u of warp %u reads lane %u in %s, which %s; member "
                     "mask 0x%08x: the value is undefined",
                     l, warp, from, name,
                     warp * LANES + from >= c->launch.threads ? "does not exist in this block"
                     : !(e->live >> from & 1)                  ? "has exited"
                                                               : "does not take part",
                     mask);
    }
}

void wg_synccheck_missing(struct wg_check *c, struct wg_cblock *b, uint32_t warp, uint32_t site, uint32_t there,
                          uint32_t need, uint32_t live)
{
    if (b->broken)
        return;
    wg_found(c, WG_FOUND_MASK_ABSENT, site, NO_SITE, (struct wg_who){warp, (uint32_t)__builtin_ctz(there), b->ctaid}, nobody, 0,
             WG_SEVERITY_ERROR,
             "Barrier error detected. Divergent thread(s) in warp\nMember mask 0x%08x names lanes 0x%08x, which never arrive "
             "here: they wait elsewhere",
             need, need & live & ~there);
}
