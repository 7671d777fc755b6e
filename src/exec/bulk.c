/* bulk.c - cp.async.bulk, cp.reduce.async.bulk, st.async and red.async, lane after lane. They are done at once: the
 * bytes are there, and their mbarrier knows, before the next instruction. A program that waits as it must sees no
 * difference. */
#include "exec/bulk.h"
#include "exec/engine.h"
#include "exec/mbarrier.h"

/* One end of a copy. */
struct end {
    char *p;
    struct wg_block *of;
    uint64_t at;
};

/* False after a fault. */
static bool find(struct wg_warp *w, const struct wg_inst *i, const struct wg_lane_addr *a, bool shared, unsigned lane,
                 uint64_t addr, uint32_t size, uint32_t align, const char *what, struct end *e)
{
    e->of = w->blk;
    e->at = shared ? wg_shared_at(a, addr) : addr;
    if (shared && a->cluster && e->at != UINT64_MAX && !(e->of = wg_cluster_block(w->blk, &e->at))) {
        wg_cluster_fault(w, i, lane, addr);
        return false;
    }
    bool out = shared ? wg_outside(e->at, size, 0, e->of->shared_bytes) : wg_outside(e->at, size, w->wk->lo, w->wk->hi);
    if (out || ((e->at | size) & (align - 1))) {
        wg_async_bad(w, i, lane, addr, shared ? "shared" : "global", what, size, out);
        return false;
    }
    e->p = shared ? e->of->shared + e->at : (char *)e->at;
    return true;
}

/* Bytes that one lane moves, 16 at a time; false: the observer forbids it. */
static bool observe_bytes(struct wg_warp *w, const struct wg_inst *i, unsigned lane, unsigned space, uint64_t at,
                          uint32_t bytes, bool store)
{
    struct wg_seen s = {.kind = store ? WG_ACCESS_STORE : WG_ACCESS_LOAD, .space = (uint8_t)space, .elem = 4, .n = 4};
    uint64_t addr[WG_LANES] = {0};
    for (uint32_t k = 0; k < bytes; k += 16) {
        addr[lane] = at + k;
        if (!wg_observe_lanes(w, i, &s, addr, 1u << lane, NULL))
            return false;
    }
    return true;
}
/* bar: the object that will count the bytes, or NULL */
static void tell_written(struct wg_warp *w, const struct wg_inst *i, unsigned lane, const struct end *e, bool shared,
                         uint32_t bytes, const struct end *bar)
{
    if (!wg_is_observed(w))
        return;
    if (shared && e->of != w->blk)
        wg_observe_remote(w, e->of, lane, e->at, bytes);
    else if (shared && bar && bar->of == w->blk)
        wg_observe_bulk(w, i, lane, e->at, bytes, bar->at);
    else
        wg_observe_write(w, lane, shared ? WG_SITE_SHARED : WG_SITE_GLOBAL, e->at, bytes);
}

static void count(struct wg_warp *w, const struct wg_inst *i, uint64_t global, uint32_t size)
{
    struct wg_site_count *c = &w->site[i->site];
    c->access++;
    c->bytes += size;
    if (global && size) {
        c->tags += ((global + size - 1) >> 7) - (global >> 7) + 1;
        c->sectors += ((global + size - 1) >> 5) - (global >> 5) + 1;
        c->sectors_ideal += (size + 31) / 32;
    }
}

/* Lets every block of the mask have what the first has at `to`; false after a fault. */
static bool multicast(struct wg_warp *w, const struct wg_inst *i, unsigned lane, const struct end *from,
                      const struct end *to, uint64_t bar, uint32_t size, uint32_t mask)
{
    for (uint32_t m = mask & 0xffff; m; m &= m - 1) {
        uint32_t r = (uint32_t)__builtin_ctz(m), n = w->blk->cluster ? w->blk->cluster->n : 1;
        struct wg_block *t = r >= n ? NULL : w->blk->cluster ? w->blk->cluster->block[r] : w->blk;
        if (!t || t->gone) {
            wg_cluster_fault(w, i, lane, wg_cluster_offset(w->blk, to->at, r));
            return false;
        }
        struct end e = {t->shared + to->at, t, to->at}, object = {NULL, t, bar};
        memmove(e.p, from->p, size);
        tell_written(w, i, lane, &e, true, size, wg_outside(bar, 8, 0, t->shared_bytes) ? NULL : &object);
        if (!wg_mbarrier_complete(w, i, lane, t, bar, size))
            return false;
    }
    return true;
}

static bool one(struct wg_warp *w, const struct wg_inst *i, const char *R, unsigned l, const uint64_t *to,
                const uint64_t *from, const uint64_t *bar)
{
    const struct wg_bulk_desc *d = i->p;
    uint32_t size = ((const uint32_t *)(R + d->size))[l];
    struct end dst, src, obj = {0};
    if (!find(w, i, &d->from, d->from_shared, l, from[l], size, 16, "bulk read", &src) ||
        !find(w, i, &d->to, d->to_shared, l, to[l], size, 16, "bulk write", &dst))
        return false;
    if (d->has_bar && !find(w, i, &d->bar, true, l, bar[l], 8, 8, "access to an mbarrier", &obj))
        return false;
    if (wg_is_observed(w) && src.of == w->blk &&
        !observe_bytes(w, i, l, d->from_shared ? WG_SITE_SHARED : WG_SITE_GLOBAL, src.at, size, false))
        return true;
    if (wg_is_observed(w) && !d->to_shared && !d->atom && !observe_bytes(w, i, l, WG_SITE_GLOBAL, dst.at, size, true))
        return true;
    if (d->counted)
        count(w, i, !d->from_shared ? src.at : !d->to_shared ? dst.at : 0, size);
    w->wk->changes++;
    if (d->mask)
        return multicast(w, i, l, &src, &dst, obj.at, size, ((const uint32_t *)(R + d->mask))[l]);
    if (d->atom)
        wg_bulk_reduce(dst.p, src.p, size, d->atom, d->type, !d->to_shared, !d->to_shared && w->wk->run->nworkers > 1);
    else
        memmove(dst.p, src.p, size);
    tell_written(w, i, l, &dst, d->to_shared, size, d->has_bar ? &obj : NULL);
    return !d->has_bar || wg_mbarrier_complete(w, i, l, obj.of, obj.at, size);
}

H(cp_bulk)
{
    const struct wg_bulk_desc *d = i->p;
    uint64_t to[WG_LANES], from[WG_LANES], bar[WG_LANES] = {0};
    uint32_t on = WG_ON;
    if (!on)
        return i + 1;
    wg_lane_addresses(&d->to, R, to);
    wg_lane_addresses(&d->from, R, from);
    if (d->has_bar)
        wg_lane_addresses(&d->bar, R, bar);
    for (uint32_t m = on; m; m &= m - 1)
        if (!one(w, i, R, (unsigned)__builtin_ctz(m), to, from, bar))
            return NULL;
    return i + 1;
}

/* to: in the block of the mbarrier; value: what is stored, nvalues of value_bytes */
H(st_async)
{
    const struct wg_bulk_desc *d = i->p;
    uint64_t to[WG_LANES], bar[WG_LANES];
    uint32_t on = WG_ON, size = (uint32_t)d->nvalues * d->value_bytes;
    if (!on)
        return i + 1;
    wg_lane_addresses(&d->to, R, to);
    wg_lane_addresses(&d->bar, R, bar);
    for (uint32_t m = on; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        struct end dst, obj;
        if (!find(w, i, &d->to, true, l, to[l], size, size, "asynchronous write", &dst) ||
            !find(w, i, &d->bar, true, l, bar[l], 8, 8, "access to an mbarrier", &obj))
            return NULL;
        for (unsigned k = 0; k < d->nvalues; k++) {
            const char *v = R + d->value[k] + l * d->value_bytes;
            if (d->atom)
                wg_bulk_reduce(dst.p, v, size, d->atom, d->type, false, false);
            else
                memcpy(dst.p + k * d->value_bytes, v, d->value_bytes);
        }
        tell_written(w, i, l, &dst, true, size, &obj);
        if (!wg_mbarrier_complete(w, i, l, obj.of, obj.at, size))
            return NULL;
    }
    if (d->counted) {
        w->site[i->site].access++;
        w->site[i->site].bytes += (uint32_t)__builtin_popcount(on) * size;
    }
    return i + 1;
}
