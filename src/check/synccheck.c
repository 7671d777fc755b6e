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

/* ---- mbarriers and asynchronous copies ---- */
enum { POLLS = 8 }; /* so many looks in vain are a wait; fewer may be a peek on the way to other work */

static struct wg_cobject *object_at(struct wg_check *c, struct wg_cblock *b, uint64_t addr)
{
    for (size_t k = 0; k < b->nobjects; k++)
        if (b->objects[k].addr == addr)
            return &b->objects[k];
    if (b->nobjects == b->objects_cap) {
        size_t cap = b->objects_cap ? b->objects_cap * 2 : 8;
        struct wg_cobject *v = wg_realloc(b->objects, cap * sizeof *v);
        if (!v) {
            c->no_memory = true;
            return NULL;
        }
        b->objects = v;
        b->objects_cap = cap;
    }
    struct wg_cobject *x = &b->objects[b->nobjects++];
    *x = (struct wg_cobject){.addr = addr, .arrive_site = NO_SITE};
    return x;
}

void wg_synccheck_object(struct wg_check *c, struct wg_cblock *b, uint32_t warp, uint32_t lane, const struct wg_object *o)
{
    struct wg_cobject *x = object_at(c, b, o->addr);
    if (!x)
        return;
    if (o->what == WG_OBJECT_INIT || o->what == WG_OBJECT_INVAL || o->phase != x->phase) {
        x->polls = 0;
        x->arrive_site = NO_SITE;
    }
    x->phase = o->phase;
    x->pending = o->pending;
    x->bytes = o->bytes;
    if (o->what == WG_OBJECT_ARRIVE)
        x->arrive_site = o->site;
    if (o->what != WG_OBJECT_NOT_YET)
        return;
    if (x->polls < POLLS)
        x->polls++;
    x->site = o->site;
    x->warp = warp;
    x->lane = lane;
}

void wg_synccheck_left(struct wg_check *c, struct wg_cblock *b, uint32_t warp, uint32_t lane, uint32_t site)
{
    wg_found(c, WG_FOUND_ASYNC_NOT_AWAITED, site, NO_SITE, (struct wg_who){warp, lane, b->ctaid}, nobody, 0, WG_SEVERITY_INFO,
             "Asynchronous copy still on its way when its thread exits");
}

void wg_synccheck_end(struct wg_check *c, struct wg_cblock *b)
{
    for (size_t k = 0; k < b->nobjects; k++) {
        const struct wg_cobject *x = &b->objects[k];
        if (x->polls < POLLS || b->broken)
            continue;
        const struct wg_array *arr = wg_array_at(c, x->addr);
        wg_found(c, WG_FOUND_MBARRIER_INCOMPLETE, x->site, x->arrive_site, (struct wg_who){x->warp, x->lane, b->ctaid}, nobody,
                 x->addr, WG_SEVERITY_ERROR,
                 "Barrier error detected. mbarrier phase never completes\nThe mbarrier at __shared__ 0x%llx%s%.64s still needs "
                 "%u arrivals and %d bytes",
                 (unsigned long long)x->addr, arr ? " in " : "", arr ? arr->name : "", x->pending, (int)x->bytes);
    }
    b->nobjects = 0;
}
