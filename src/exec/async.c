/* async.c - cp.async with its groups, mbarrier objects, bulk copies.
 *
 * A cp.async reads its source at once and keeps the bytes with the warp; they reach shared memory only when the lane
 * that asked waits for their group, so that a wait for one group too few shows stale data as it may on hardware. Bulk
 * copies complete at once. An mbarrier's 8 bytes hold: pending arrivals (20 bits), arrivals expected of the next phase
 * (20), bytes still to come (23, signed), parity of the phase (1). */
#include "exec/async.h"
#include "exec/worst.h"
#include "exec/engine.h"
#include "exec/lanes.h"
#include "model/banks.h"
#include "model/coalesce.h"

/* ---- telling the observer ---- */
static void tell_copy(const struct wg_warp *w, unsigned l, uint32_t site, uint64_t at, uint32_t bytes, bool landed)
{
    const struct wg_observer *o = &w->wk->run->g->observer;
    if (w->wk->run->kc->observed)
        o->async_write(o->ctx, w->blk->observed, w->index, l, site, at, bytes, landed);
}
static void tell_object(const struct wg_warp *w, unsigned l, const char *p, bool arrives)
{
    const struct wg_observer *o = &w->wk->run->g->observer;
    if (w->wk->run->kc->observed)
        o->object(o->ctx, w->blk->observed, w->index, l, (uint64_t)(p - w->blk->shared), arrives);
}
static void tell_bulk(const struct wg_warp *w, unsigned l, bool shared, uint64_t at, uint32_t bytes)
{
    const struct wg_observer *o = &w->wk->run->g->observer;
    if (w->wk->run->kc->observed)
        o->native_write(o->ctx, w->blk->observed, w->index, l, shared ? WG_SITE_SHARED : WG_SITE_GLOBAL, at, bytes);
}

/* ---- cp.async ---- */
static void land(struct wg_warp *w, struct wg_async_copy *c, uint32_t lanes)
{
    for (uint32_t m = c->mask & lanes; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        memcpy(w->blk->shared + c->to[l], c->data[l], c->bytes);
        tell_copy(w, l, 0, c->to[l], c->bytes, true);
    }
    if (c->mask & lanes)
        w->wk->changes++;
    c->mask &= ~lanes;
}
/* Lets copies land whose group is below limit[lane], for the lanes of on. */
static void land_groups(struct wg_warp *w, uint32_t on, const uint32_t *limit)
{
    struct wg_async *a = w->async;
    uint32_t left = 0;
    for (uint32_t k = 0; a && k < a->n; k++) {
        struct wg_async_copy *c = &a->v[k];
        uint32_t lanes = 0;
        for (unsigned l = 0; l < WG_LANES; l++)
            lanes |= (uint32_t)(c->group[l] < limit[l]) << l;
        land(w, c, lanes & on);
        if (c->mask) {
            if (left != k)
                a->v[left] = *c;
            left++;
        }
    }
    if (a)
        a->n = left;
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
/* Offset in shared memory of a shared or generic address; UINT64_MAX: it is elsewhere. */
static uint64_t shared_offset(const struct wg_lane_addr *a, uint64_t addr)
{
    if (a->space == WG_SITE_SHARED)
        return (uint32_t)addr;
    return addr - WG_SHARED_WINDOW < WG_WINDOW_BYTES ? addr - WG_SHARED_WINDOW : UINT64_MAX;
}
static const struct wg_inst *bad(struct wg_warp *w, const struct wg_inst *i, unsigned l, uint64_t addr, const char *space,
                                 const char *what, uint64_t bytes, bool out)
{
    return wg_fault(w, i, WG_KERNEL_FAULT, out ? "out-of-bounds" : "misaligned", (int)l, addr,
                    "Invalid __%s__ %s of size %llu bytes: address 0x%llx is %s", space, what, (unsigned long long)bytes,
                    (unsigned long long)addr, out ? "out of bounds" : "misaligned");
}
static bool outside(uint64_t a, uint64_t bytes, uint64_t lo, uint64_t hi)
{
    return a < lo || a > hi || hi - a < bytes;
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
        at[l] = shared_offset(&d->at[0], to[l]);
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
    for (uint32_t m = on; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t at = shared_offset(&d->at[0], to[l]);
        uint32_t size = sizes[l];
        if (outside(at, d->bytes, 0, w->blk->shared_bytes) || (at & (d->bytes - 1u)))
            return bad(w, i, l, to[l], "shared", "write", d->bytes, outside(at, d->bytes, 0, w->blk->shared_bytes));
        if (size) {
            if (outside(from[l], size, w->wk->lo, w->wk->hi) || (from[l] & (d->bytes - 1u)))
                return bad(w, i, l, from[l], "global", "read", size, outside(from[l], size, w->wk->lo, w->wk->hi));
            reads |= 1u << l;
        }
        c->to[l] = (uint32_t)at;
        c->group[l] = a->committed[l];
        memset(c->data[l], 0, sizeof c->data[l]);
        memcpy(c->data[l], (const char *)from[l], size);
        tell_copy(w, l, i->site, at, d->bytes, false);
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
    land_groups(w, on, limit);
    return i + 1;
}

/* ---- mbarrier ---- */
#define COUNT_MAX 0xfffffu
struct bar { uint32_t pending, expected; int32_t tx; bool phase; };
static struct bar unpack(uint64_t v)
{
    return (struct bar){(uint32_t)v & COUNT_MAX, (uint32_t)(v >> 20) & COUNT_MAX, (int32_t)((int64_t)(v << 1) >> 41), v >> 63};
}
static uint64_t pack(const struct bar *b)
{
    return (b->pending & COUNT_MAX) | (uint64_t)(b->expected & COUNT_MAX) << 20 |
           ((uint64_t)(uint32_t)b->tx & 0x7fffff) << 40 | (uint64_t)b->phase << 63;
}
static void settle(struct bar *b)
{
    if (b->pending == 0 && b->tx == 0) {
        b->phase = !b->phase;
        b->pending = b->expected;
    }
}
/* The object at an address, or NULL after a fault. */
static char *object(struct wg_warp *w, const struct wg_inst *i, const struct wg_lane_addr *a, unsigned l, uint64_t addr)
{
    uint64_t at = shared_offset(a, addr);
    bool out = outside(at, 8, 0, w->blk->shared_bytes);
    if (out || (at & 7)) {
        bad(w, i, l, addr, "shared", "access to an mbarrier", 8, out);
        return NULL;
    }
    return w->blk->shared + at;
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
    if (!wg_is_observed(w))
        return on;
    for (unsigned l = 0; l < WG_LANES; l++) {
        at[l] = shared_offset(a, addr[l]);
        data[l] = (const char *)&zero;
    }
    return wg_observe_lanes(w, i, &s, at, on, data);
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
                WG_VEC(uint32_t, d->d)[l] = unpack(WG_VEC(uint64_t, d->state)[l]).pending;
        }
        return i + 1;
    }
    uint64_t addr[WG_LANES];
    wg_lane_addresses(&d->at[0], R, addr);
    if (d->op == WG_OP_CP_ASYNC_MBARRIER && w->async) { /* the lanes' copies land, then they arrive */
        uint32_t all[WG_LANES];
        memset(all, 0xff, sizeof all);
        land_groups(w, on, all);
    }
    on = observe_bar(w, i, &d->at[0], d->op == WG_OP_MBARRIER_INIT || d->op == WG_OP_MBARRIER_INVAL ? WG_ACCESS_STORE
                                                                                                   : WG_ACCESS_ATOM, addr, on);
    w->wk->changes++;
    for (uint32_t m = on; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        char *p = object(w, i, &d->at[0], l, addr[l]);
        if (!p)
            return NULL;
        uint64_t was;
        uint32_t x = d->x ? WG_VEC(uint32_t, d->x)[l] : 1, n = d->expect ? 1 : x;
        memcpy(&was, p, 8);
        struct bar b = unpack(was);
        switch (d->op) {
        case WG_OP_MBARRIER_INIT:
            if (x == 0 || x > COUNT_MAX)
                return misuse(w, i, l, addr[l], "the count of arrivals must be from 1 to 1048575");
            b = (struct bar){x, x, 0, false};
            break;
        case WG_OP_MBARRIER_INVAL:
            b = (struct bar){0};
            break;
        case WG_OP_MBARRIER_EXPECT_TX:
            b.tx += (int32_t)x;
            break;
        case WG_OP_MBARRIER_COMPLETE_TX:
            b.tx -= (int32_t)x;
            settle(&b);
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
            settle(&b);
            if (d->d)
                WG_VEC(uint64_t, d->d)[l] = was;
        }
        was = pack(&b);
        memcpy(p, &was, 8);
        tell_object(w, l, p, true);
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
        char *p = object(w, i, &d->at[0], l, addr[l]);
        if (!p)
            return NULL;
        uint64_t v;
        memcpy(&v, p, 8);
        struct bar b = unpack(v);
        bool old = d->parity ? WG_VEC(uint32_t, d->x)[l] & 1 : WG_VEC(uint64_t, d->state)[l] >> 63;
        yes |= (uint32_t)(b.phase != old) << l;
        if (b.phase != old)
            tell_object(w, l, p, false);
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

/* ---- bulk copies: lane after lane ---- */
H(cp_bulk)
{
    const struct wg_async_desc *d = i->p;
    uint32_t on = WG_ON;
    if (!on)
        return i + 1;
    uint64_t to[WG_LANES], from[WG_LANES], bar[WG_LANES];
    wg_lane_addresses(&d->at[0], R, to);
    wg_lane_addresses(&d->at[1], R, from);
    if (d->at[2].off)
        wg_lane_addresses(&d->at[2], R, bar);
    for (uint32_t m = on; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t size = WG_VEC(uint32_t, d->x)[l];
        char *p[2];
        uint64_t global = 0;
        for (int k = 0; k < 2; k++) {
            uint64_t x = k ? from[l] : to[l];
            bool sh = d->at[k].space != WG_SITE_GLOBAL;
            uint64_t at = sh ? shared_offset(&d->at[k], x) : x;
            bool out = sh ? outside(at, size, 0, w->blk->shared_bytes) : outside(at, size, w->wk->lo, w->wk->hi);
            if (out || ((at | size) & 15))
                return bad(w, i, l, x, sh ? "shared" : "global", k ? "bulk read" : "bulk write", size, out);
            p[k] = sh ? w->blk->shared + at : (char *)at;
            if (k == 0 && wg_is_observed(w))
                wg_observe_write(w, l, sh ? WG_SITE_SHARED : WG_SITE_GLOBAL, at, size);
            global = sh ? global : at;
        }
        memmove(p[0], p[1], size);
        bool in_shared = d->at[0].space != WG_SITE_GLOBAL;
        tell_bulk(w, l, in_shared, in_shared ? (uint64_t)(p[0] - w->blk->shared) : (uint64_t)p[0], size);
        w->wk->changes++;
        if (d->counted && size) {
            struct wg_site_count *c = &w->site[i->site];
            c->access++;
            c->bytes += size;
            if (global) {
                c->tags += ((global + size - 1) >> 7) - (global >> 7) + 1;
                c->sectors += ((global + size - 1) >> 5) - (global >> 5) + 1;
                c->sectors_ideal += (size + 31) / 32;
            }
        }
        if (!d->at[2].off)
            continue;
        char *o = observe_bar(w, i, &d->at[2], WG_ACCESS_ATOM, bar, 1u << l) ? object(w, i, &d->at[2], l, bar[l]) : NULL;
        if (!o && w->state == WG_WARP_FAULT)
            return NULL;
        if (!o)
            continue;
        uint64_t v;
        memcpy(&v, o, 8);
        struct bar b = unpack(v);
        b.tx -= (int32_t)size;
        settle(&b);
        v = pack(&b);
        memcpy(o, &v, 8);
    }
    return i + 1;
}
