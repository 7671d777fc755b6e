/* cluster.c - instructions of thread block clusters: the cluster's barrier, mapa, getctarank. */
#include "exec/cluster.h"
#include "exec/async.h"
#include "exec/engine.h"
#include "exec/handlers.h"
#include "exec/lanes.h"

void wg_cluster_tell(struct wg_warp *w, const struct wg_inst *i, uint32_t lanes, uint32_t key, bool arrives)
{
    const struct wg_seen s = {.kind = arrives ? WG_ACCESS_RED : WG_ACCESS_LOAD,
                              .space = WG_SITE_GLOBAL,
                              .elem = 4,
                              .n = 1,
                              .strong = true,
                              .acquire = !arrives,
                              .release = arrives,
                              .wide_scope = true};
    uint64_t at[WG_LANES];
    if (!wg_is_observed(w) || !lanes)
        return;
    for (unsigned l = 0; l < WG_LANES; l++)
        at[l] = w->wk->run->g->workspace + WG_CLUSTER_SYNC_AT + 4 * (key % WG_CLUSTER_SYNCS);
    wg_observe_lanes(w, i, &s, at, lanes, NULL);
}
static uint32_t barrier_key(const struct wg_block *b)
{
    return (uint32_t)(b->cluster->block[0]->linear * 2654435761u);
}

H(cluster_arrive)
{
    uint32_t on = WG_ON;
    if (!on)
        return i + 1;
    struct wg_cluster *c = w->blk->cluster;
    wg_cluster_tell(w, i, on, barrier_key(w->blk), true);
    c->arrived += (uint32_t)__builtin_popcount(on);
    w->cluster_parity = (w->cluster_parity & ~on) | (c->phase & 1 ? on : 0);
    w->wk->changes++;
    wg_cluster_settle(w->wk, c);
    return i + 1;
}

/* Lanes wait for the end of the phase in which they arrived; meanwhile the others have their turn. */
H(cluster_wait)
{
    uint32_t on = WG_ON;
    if (!on)
        return i + 1;
    struct wg_cluster *c = w->blk->cluster;
    wg_cluster_settle(w->wk, c); /* threads may have exited */
    if (on & (c->phase & 1 ? w->cluster_parity : ~w->cluster_parity)) {
        if (!w->wide && w->mask != w->live)
            return wg_deopt(w, i);
        if (w->wide)
            w->splits[w->cur].pc = i;
        w->pc = i;
        w->lease = 0;
        w->spun = true;
        w->state = WG_WARP_YIELD;
        w->fuel = -1;
        return NULL;
    }
    wg_cluster_tell(w, i, on, barrier_key(w->blk), false);
    return i + 1;
}

static uint64_t lane_of(const char *R, uint32_t slot, unsigned bytes, unsigned l)
{
    return bytes == 8 ? ((const uint64_t *)(R + slot))[l] : ((const uint32_t *)(R + slot))[l];
}
static void put(char *R, uint32_t slot, unsigned bytes, unsigned l, uint64_t v)
{
    if (bytes == 8)
        ((uint64_t *)(R + slot))[l] = v;
    else
        ((uint32_t *)(R + slot))[l] = (uint32_t)v;
}

/* d: address in the block of rank b for address a; bytes: of both; k1: generic */
H(mapa)
{
    for (uint32_t m = WG_ON; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t a = lane_of(R, i->a, i->bytes, l) - (i->k1 ? WG_SHARED_WINDOW : 0);
        uint32_t rank = ((const uint32_t *)(R + i->b))[l] & 0x7f;
        put(R, i->d, i->bytes, l, wg_cluster_offset(w->blk, a, rank) + (i->k1 ? WG_SHARED_WINDOW : 0));
    }
    return i + 1;
}
/* d: V32, rank of the block that address a lies in; bytes, k1: as above */
H(getctarank)
{
    for (uint32_t m = WG_ON; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t a = lane_of(R, i->a, i->bytes, l) - (i->k1 ? WG_SHARED_WINDOW : 0);
        put(R, i->d, 4, l, wg_cluster_rank_of(w->blk, a));
    }
    return i + 1;
}
