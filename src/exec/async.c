/* async.c - cp.async with its groups, and mbarrier objects.
 *
 * A cp.async reads its source at once and keeps the bytes with the warp; they reach shared memory only when the lane
 * that asked waits for their group, so that a wait for one group too few shows stale data as it may on hardware. */
#include "exec/async.h"
#include "exec/mbarrier.h"
#include "exec/patterns.h"
#include "exec/worst.h"
#include "exec/engine.h"
#include "exec/lanes.h"
#include "model/banks.h"
#include "model/coalesce.h"

/* ---- telling the observer ---- */
static void tell_copy(const struct wg_warp *w, unsigned l, uint32_t site, uint64_t at, uint32_t bytes,
                      enum wg_async_event what)
{
    const struct wg_observer *o = &w->wk->run->g->observer;
    if (w->wk->run->kc->observed)
        o->async_write(o->ctx, w->blk->observed, w->index, l, site, at, bytes, what);
}

/* ---- cp.async ---- */
static void land(struct wg_warp *w, struct wg_async_copy *c, uint32_t lanes, enum wg_async_event what)
{
    for (uint32_t m = c->mask & lanes; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        memcpy(w->blk->shared + c->to[l], c->data[l], c->bytes);
        tell_copy(w, l, c->site, c->to[l], c->bytes, what);
    }
    if (c->mask & lanes)
        w->wk->changes++;
    c->mask &= ~lanes;
}
/* Lets copies land whose group is below limit[lane], for the lanes of on. */
static void land_groups(struct wg_warp *w, uint32_t on, const uint32_t *limit, enum wg_async_event what)
{
    struct wg_async *a = w->async;
    uint32_t left = 0;
    for (uint32_t k = 0; a && k < a->n; k++) {
        struct wg_async_copy *c = &a->v[k];
        uint32_t lanes = 0;
        for (unsigned l = 0; l < WG_LANES; l++)
            lanes |= (uint32_t)(c->group[l] < limit[l]) << l;
        land(w, c, lanes & on, what);
        if (c->mask) {
            if (left != k)
                a->v[left] = *c;
            left++;
        }
    }
    if (a)
        a->n = left;
}
void wg_async_exit(struct wg_warp *w, uint32_t gone)
{
    uint32_t all[WG_LANES];
    memset(all, 0xff, sizeof all);
    land_groups(w, gone, all, WG_ASYNC_LEFT);
}
static struct wg_async *async_of(struct wg_warp *w)
{
    if (!w->async)
        w->async = wg_calloc(1, sizeof *w->async);
    return w->async;
}
static const struct wg_inst *no_memory(struct wg_warp *w, const struct wg_inst *i)
{
    return wg_fault(w, i, WG_NO_MEMORY, "host-memory", -1, 0, "out of host memory for asynchronous copies");
}
const struct wg_inst *wg_async_bad(struct wg_warp *w, const struct wg_inst *i, unsigned l, uint64_t addr,
                                   const char *space, const char *what, uint64_t bytes, bool out)
{
    return wg_fault(w, i, WG_KERNEL_FAULT, out ? "out-of-bounds" : "misaligned", (int)l, addr,
                    "Invalid __%s__ %s of size %llu bytes: address 0x%llx is %s", space, what, (unsigned long long)bytes,
                    (unsigned long long)addr, out ? "out of bounds" : "misaligned");
}
static void count_copy(struct wg_warp *w, const struct wg_inst *i, const uint64_t *from, const uint32_t *to, uint32_t on,
                       uint32_t reads, unsigned bytes)
{
    struct wg_site_count *c = &w->site[i->site];
    struct wg_coalesce x;
    struct wg_banks b;
    wg_coalesce(from, reads, bytes, &x);
    wg_banks_of(WG_BANKS_STORE, to, on, bytes, &b);
    c->access++;
    c->tags += x.lines;
    c->sectors += x.sectors;
    c->sectors_ideal += x.ideal;
    c->wavefronts += b.wavefronts;
    c->wavefronts_ideal += b.ideal;
    c->bytes += (uint32_t)__builtin_popcount(on) * bytes;
    if (wg_patterns_wanted(w))
        wg_patterns_keep(w, i->site, to, on, bytes, b.wavefronts);
    if (b.wavefronts - b.ideal > x.sectors - x.ideal)
        wg_worst_see32(w, i->site, to, on, bytes, b.wavefronts, b.ideal);
    else
        wg_worst_see(w, i->site, from, reads, bytes, false, x.sectors, x.ideal);
}

/* Announces the reads, lanes of one size at a time, and the writes; returns the lanes that may do both. */
static uint32_t observe_copy(struct wg_warp *w, const struct wg_inst *i, const struct wg_async_desc *d, uint32_t on,
                             const uint64_t *to, const uint64_t *from, const uint32_t *size)
{
    uint64_t at[WG_LANES];
    for (uint32_t left = on; left;) {
        uint32_t n = size[__builtin_ctz(left)], same = 0;
        for (uint32_t l = 0; l < WG_LANES; l++)
            same |= (uint32_t)(size[l] == n) << l;
        same &= left;
        left &= ~same;
        struct wg_seen s = {.kind = WG_ACCESS_LOAD, .space = WG_SITE_GLOBAL, .elem = n % 4 ? 1 : 4};
        s.n = (uint8_t)(n / s.elem);
        if (n)
            on &= ~same | wg_observe_lanes(w, i, &s, from, same, NULL);
    }
    const struct wg_seen s = {.kind = WG_ACCESS_STORE, .space = WG_SITE_SHARED, .elem = 4, .n = d->bytes / 4};
    const char *data[WG_LANES];
    for (uint32_t l = 0; l < WG_LANES; l++) {
        at[l] = wg_shared_at(&d->at[0], to[l]);
        data[l] = on >> l & 1 && size[l] == d->bytes ? (const char *)from[l] : NULL;
    }
    return wg_observe_lanes(w, i, &s, at, on, data);
}

H(cp_async)
{
    const struct wg_async_desc *d = i->p;
    uint32_t on = WG_ON, reads = 0;
    if (!on)
        return i + 1;
    struct wg_async *a = async_of(w);
    if (a && a->n == a->cap) {
        uint32_t cap = a->cap ? a->cap * 2 : 8;
        struct wg_async_copy *v = wg_realloc(a->v, cap * sizeof *v);
        if (!v)
            return no_memory(w, i);
        a->v = v;
        a->cap = cap;
    }
    if (!a)
        return no_memory(w, i);
    uint64_t to[WG_LANES], from[WG_LANES];
    wg_lane_addresses(&d->at[0], R, to);
    wg_lane_addresses(&d->at[1], R, from);
    uint32_t sizes[WG_LANES];
    for (uint32_t l = 0; l < WG_LANES; l++) {
        sizes[l] = d->x ? WG_VEC(uint32_t, d->x)[l] : d->bytes;
        if (d->ignore && (WG_P(d->ignore) >> l & 1))
            sizes[l] = 0;
        if ((on >> l & 1) && sizes[l] > d->bytes)
            return wg_fault(w, i, WG_KERNEL_FAULT, "out-of-bounds", (int)l, from[l],
                            "cp.async of %u bytes is told to read %u of its source", d->bytes, sizes[l]);
    }
    if (wg_is_observed(w))
        on = observe_copy(w, i, d, on, to, from, sizes);
    struct wg_async_copy *c = &a->v[a->n];
    c->mask = on;
    c->bytes = d->bytes;
    c->site = i->site;
    for (uint32_t m = on; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t at = wg_shared_at(&d->at[0], to[l]);
        uint32_t size = sizes[l];
        if (wg_outside(at, d->bytes, 0, w->blk->shared_bytes) || (at & (d->bytes - 1u)))
            return wg_async_bad(w, i, l, to[l], "shared", "write", d->bytes, wg_outside(at, d->bytes, 0, w->blk->shared_bytes));
        if (size) {
            if (wg_outside(from[l], size, w->wk->lo, w->wk->hi) || (from[l] & (d->bytes - 1u)))
                return wg_async_bad(w, i, l, from[l], "global", "read", size, wg_outside(from[l], size, w->wk->lo, w->wk->hi));
            reads |= 1u << l;
        }
        c->to[l] = (uint32_t)at;
        c->group[l] = a->committed[l];
        memset(c->data[l], 0, sizeof c->data[l]);
        memcpy(c->data[l], (const char *)from[l], size);
        tell_copy(w, l, i->site, at, d->bytes, WG_ASYNC_ISSUED);
    }
    a->n++;
    if (d->counted)
        count_copy(w, i, from, c->to, on, reads, d->bytes);
    return i + 1;
}
H(cp_commit)
{
    uint32_t on = WG_ON;
    struct wg_async *a = async_of(w);
    if (!a)
        return no_memory(w, i);
    for (unsigned l = 0; l < WG_LANES; l++)
        a->committed[l] += on >> l & 1;
    return i + 1;
}
/* imm: groups that may stay on their way; -1: nothing may, committed or not */
H(cp_wait)
{
    uint32_t on = WG_ON, limit[WG_LANES];
    if (!w->async || !w->async->n)
        return i + 1;
    for (unsigned l = 0; l < WG_LANES; l++) {
        uint32_t n = w->async->committed[l];
        limit[l] = i->imm < 0 ? UINT32_MAX : n > (uint64_t)i->imm ? n - (uint32_t)i->imm : 0;
    }
    land_groups(w, on, limit, WG_ASYNC_LANDED);
    return i + 1;
}

/* ---- mbarrier ---- */
static void tell_object(const struct wg_warp *w, const struct wg_inst *i, unsigned l, const char *p,
                        const struct wg_mbarrier *b, enum wg_object_event what)
{
    const struct wg_observer *o = &w->wk->run->g->observer;
    struct wg_object x = {.site = i->site, .what = what, .pending = b->pending, .bytes = b->tx, .phase = b->phase,
                          .addr = (uint64_t)(p - w->blk->shared)};
    if (w->wk->run->kc->observed)
        o->object(o->ctx, w->blk->observed, w->index, l, &x);
}
/* The object at an address, or NULL after a fault. */
char *wg_mbarrier_object(struct wg_warp *w, const struct wg_inst *i, const struct wg_lane_addr *a, unsigned l,
                         uint64_t addr, struct wg_block **of)
{
    uint64_t at = wg_shared_at(a, addr);
    *of = w->blk;
    if (a->cluster && at != UINT64_MAX && !(*of = wg_cluster_block(w->blk, &at))) {
        wg_cluster_fault(w, i, l, addr);
        return NULL;
    }
    bool out = wg_outside(at, 8, 0, (*of)->shared_bytes);
    if (out || (at & 7)) {
        wg_async_bad(w, i, l, addr, "shared", "access to an mbarrier", 8, out);
        return NULL;
    }
    return (*of)->shared + at;
}
/* Where word of what happened at an object of a cluster is left. */
static uint32_t key_of(const struct wg_block *of, const char *p)
{
    return (uint32_t)(of->linear * 2654435761u + (uint64_t)(p - of->shared) / 8 + 1);
}
bool wg_mbarrier_complete(struct wg_warp *w, const struct wg_inst *i, unsigned l, struct wg_block *of, uint64_t at,
                          uint32_t bytes)
{
    if (wg_outside(at, 8, 0, of->shared_bytes) || (at & 7)) {
        wg_async_bad(w, i, l, at, "shared", "access to an mbarrier", 8, wg_outside(at, 8, 0, of->shared_bytes));
        return false;
    }
    uint64_t v;
    memcpy(&v, of->shared + at, 8);
    struct wg_mbarrier b = wg_mbarrier_unpack(v);
    b.tx -= (int32_t)bytes;
    wg_mbarrier_settle(&b);
    v = wg_mbarrier_pack(&b);
    memcpy(of->shared + at, &v, 8);
    if (of == w->blk)
        tell_object(w, i, l, of->shared + at, &b, WG_OBJECT_ARRIVE);
    if (of->cluster)
        wg_cluster_tell(w, i, 1u << l, key_of(of, of->shared + at), true);
    w->wk->changes++;
    return true;
}
static const struct wg_inst *misuse(struct wg_warp *w, const struct wg_inst *i, unsigned l, uint64_t addr, const char *what)
{
    return wg_fault(w, i, WG_KERNEL_FAULT, "invalid-barrier", (int)l, addr, "mbarrier at 0x%llx: %s",
                    (unsigned long long)addr, what);
}

/* Announces that the lanes of on touch their mbarriers; returns those that may. */
static uint32_t observe_bar(struct wg_warp *w, const struct wg_inst *i, const struct wg_lane_addr *a, unsigned kind,
                            const uint64_t *addr, uint32_t on)
{
    static const uint64_t zero; /* what an object holds is nobody's business */
    const struct wg_seen s = {.kind = (uint8_t)kind, .space = WG_SITE_SHARED, .elem = 8, .n = 1,
                              .strong = kind != WG_ACCESS_STORE, .acquire = kind != WG_ACCESS_STORE,
                              .release = kind == WG_ACCESS_ATOM};
    uint64_t at[WG_LANES];
    const char *data[WG_LANES];
    uint32_t remote = 0;
    if (!wg_is_observed(w))
        return on;
    for (unsigned l = 0; l < WG_LANES; l++) {
        at[l] = wg_shared_at(a, addr[l]);
        data[l] = (const char *)&zero;
        remote |= (uint32_t)(a->cluster && at[l] != UINT64_MAX && at[l] >> WG_CLUSTER_SHIFT) << l;
    }
    return wg_observe_lanes(w, i, &s, at, on & ~remote, data) | (on & remote);
}

H(mbarrier)
{
    const struct wg_async_desc *d = i->p;
    uint32_t on = WG_ON;
    if (!on)
        return i + 1;
    if (d->op == WG_OP_MBARRIER_PENDING) {
        for (uint32_t m = on; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            if (d->d)
                WG_VEC(uint32_t, d->d)[l] = wg_mbarrier_unpack(WG_VEC(uint64_t, d->state)[l]).pending;
        }
        return i + 1;
    }
    uint64_t addr[WG_LANES];
    wg_lane_addresses(&d->at[0], R, addr);
    if (d->op == WG_OP_CP_ASYNC_MBARRIER && w->async) { /* the lanes' copies land, then they arrive */
        uint32_t all[WG_LANES];
        memset(all, 0xff, sizeof all);
        land_groups(w, on, all, WG_ASYNC_LANDED);
    }
    on = observe_bar(w, i, &d->at[0], d->op == WG_OP_MBARRIER_INIT || d->op == WG_OP_MBARRIER_INVAL ? WG_ACCESS_STORE
                                                                                                   : WG_ACCESS_ATOM, addr, on);
    w->wk->changes++;
    for (uint32_t m = on; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        struct wg_block *of;
        char *p = wg_mbarrier_object(w, i, &d->at[0], l, addr[l], &of);
        if (!p)
            return NULL;
        uint64_t was;
        uint32_t x = d->x ? WG_VEC(uint32_t, d->x)[l] : 1, n = d->expect ? 1 : x;
        memcpy(&was, p, 8);
        struct wg_mbarrier b = wg_mbarrier_unpack(was);
        switch (d->op) {
        case WG_OP_MBARRIER_INIT:
            if (x == 0 || x > WG_MBARRIER_COUNT_MAX)
                return misuse(w, i, l, addr[l], "the count of arrivals must be from 1 to 1048575");
            b = (struct wg_mbarrier){x, x, 0, false};
            break;
        case WG_OP_MBARRIER_INVAL:
            b = (struct wg_mbarrier){0};
            break;
        case WG_OP_MBARRIER_EXPECT_TX:
            b.tx += (int32_t)x;
            break;
        case WG_OP_MBARRIER_COMPLETE_TX:
            b.tx -= (int32_t)x;
            wg_mbarrier_settle(&b);
            break;
        default:
            if (d->op == WG_OP_CP_ASYNC_MBARRIER && !d->noinc) /* one more is pending, and it arrives */
                break;
            if (!b.expected && !b.pending)
                return misuse(w, i, l, addr[l], "it is not initialised");
            if (n > b.pending)
                return misuse(w, i, l, addr[l], "more threads arrive than the phase expects");
            if (d->expect)
                b.tx += (int32_t)x;
            if (d->drop)
                b.expected -= n < b.expected ? n : b.expected;
            b.pending -= n;
            wg_mbarrier_settle(&b);
            if (d->d)
                WG_VEC(uint64_t, d->d)[l] = was;
        }
        was = wg_mbarrier_pack(&b);
        memcpy(p, &was, 8);
        if (of == w->blk)
            tell_object(w, i, l, p, &b, d->op == WG_OP_MBARRIER_INIT    ? WG_OBJECT_INIT
                                        : d->op == WG_OP_MBARRIER_INVAL ? WG_OBJECT_INVAL
                                                                        : WG_OBJECT_ARRIVE);
        if (of->cluster)
            wg_cluster_tell(w, i, 1u << l, key_of(of, p), true);
    }
    return i + 1;
}

/* d: predicate. A try_wait whose phase is not complete gives the other warps a turn. */
H(mbarrier_wait)
{
    const struct wg_async_desc *d = i->p;
    uint32_t on = WG_ON, yes = 0;
    if (!on)
        return i + 1;
    uint64_t addr[WG_LANES];
    wg_lane_addresses(&d->at[0], R, addr);
    uint32_t may = observe_bar(w, i, &d->at[0], WG_ACCESS_LOAD, addr, on);
    yes = on & ~may; /* a check has told: do not wait there for ever */
    for (uint32_t m = may; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        struct wg_block *of;
        char *p = wg_mbarrier_object(w, i, &d->at[0], l, addr[l], &of);
        if (!p)
            return NULL;
        uint64_t v;
        memcpy(&v, p, 8);
        struct wg_mbarrier b = wg_mbarrier_unpack(v);
        bool old = d->parity ? WG_VEC(uint32_t, d->x)[l] & 1 : WG_VEC(uint64_t, d->state)[l] >> 63;
        yes |= (uint32_t)(b.phase != old) << l;
        if (of == w->blk)
            tell_object(w, i, l, p, &b, b.phase != old ? WG_OBJECT_PASSED : WG_OBJECT_NOT_YET);
        if (b.phase != old && of->cluster)
            wg_cluster_tell(w, i, 1u << l, key_of(of, p), false);
    }
    if (d->d)
        WG_P(d->d) = (WG_P(d->d) & ~on) | yes;
    if (yes == on)
        return i + 1;
    w->spun = true;
    w->fuel -= 16;
    if (d->op != WG_OP_MBARRIER_TRY_WAIT)
        return i + 1;
    if (w->wide)
        w->splits[w->cur].pc = i + 1;
    w->pc = i + 1;
    w->state = WG_WARP_YIELD;
    w->fuel = -1;
    return NULL;
}
