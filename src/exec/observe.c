/* observe.c - instructions that tell the observer what the next one is about to do. Only decoded when there is one. */
#include "exec/async.h"
#include "exec/mbarrier.h"
#include "exec/handlers.h"
#include "exec/lanes.h"
#include "exec/engine.h"

static uint64_t value_of(const struct wg_access *a, unsigned lane, unsigned k)
{
    const struct wg_mem_desc *d = a->impl;
    const char *s = (const char *)a->regs + (d->store ? d->val[k] : d->n > 1 ? d->vb[k] : d->b);
    uint64_t v = d->cont == 2 ? ((const uint16_t *)s)[lane] : d->cont == 4 ? ((const uint32_t *)s)[lane]
                                                                           : ((const uint64_t *)s)[lane];
    return d->elem < 8 ? v & ((1ull << 8 * d->elem) - 1) : v;
}

static uint32_t frame_local(const struct wg_warp *w)
{
    return wg_frame_local(wg_frame_of(w->R));
}

static uint32_t stack_of(const struct wg_access *a, uint32_t *sites, uint32_t n)
{
    uint32_t k = 0;
    for (const struct wg_frame *f = wg_frame_of((char *)(uintptr_t)a->regs); f->caller; f = f->caller, k++)
        if (k < n)
            sites[k] = f->ret[-1].site;
    return k;
}

/* Whether all lanes access a row that the observer has nothing against. */
WG_INLINE bool row(const struct wg_warp *w, const struct wg_inst *i, const char *R)
{
    const struct wg_mem_desc *m = i->p;
    const struct wg_access_site *s = m->from;
    if (!s || (s->strong && w->row) || m->acls > WG_ADDR_A)
        return false;
    uint64_t base = *(const uint64_t *)(R + i->a) + (uint64_t)(int64_t)(int32_t)i->f, size = m->elem * m->n;
    int64_t stride = m->acls == WG_ADDR_A ? *(const int64_t *)(R + i->a + 8) : 0;
    return stride >= 0 && stride < (1ll << 40) && base >= s->lo && base < s->hi && base + 31 * (uint64_t)stride + size <= s->hi &&
           !((base | (uint64_t)stride) & (size - 1)) && (!w->row || w->row(w->observed, w->index, s, base, stride));
}

/* The same of any addresses, where nothing but the range matters. */
static bool within(const struct wg_mem_desc *m, const uint64_t *addr, uint32_t on)
{
    uint64_t first = addr[__builtin_ctz(on)], size = m->elem * m->n, lo = m->from->lo, last = m->from->hi - size, out = 0;
    if (m->from->hi - lo < size)
        return false;
    WG_LANES_LOOP(l)
    {
        uint64_t x = WG_LANES_IN(on, l, 8) ? addr[l] : first;
        out |= (x < lo ? 1u : 0u) | (x > last ? 1u : 0u) | (x & (size - 1));
    }
    return !out;
}

/* p: the access, a and f: its address, k1: its kind, k2: bits of enum wg_observe_bit, e: shared array; d: predicate of
 * the lanes that may do it */
static __attribute__((noinline)) void lanes(struct wg_warp *w, const struct wg_inst *i, char *R, uint32_t on)
{
    const struct wg_mem_desc *m = i->p;
    const struct wg_observer *o = &w->wk->run->g->observer;
    uint32_t keep = 0;
    uint64_t addr[WG_LANES];
    int64_t disp = (int32_t)i->f;
    for (unsigned l = 0; l < 32; l++)
        addr[l] = (m->acls == WG_ADDR_S   ? *(const uint64_t *)(R + i->a)
                   : m->acls == WG_ADDR_A ? *(const uint64_t *)(R + i->a) + *(const uint64_t *)(R + i->a + 8) * l
                   : m->acls == WG_ADDR_V32 ? ((const uint32_t *)(R + i->a))[l]
                                            : ((const uint64_t *)(R + i->a))[l]) +
                  (uint64_t)disp;
    if (!w->row && m->from && within(m, addr, on)) {
        WG_P(i->d) = on;
        return;
    }
    struct wg_access x = {.site = i->site, .kind = i->k1, .from = m->from, .scope = m->scope, .strong = i->k2 & WG_OBSERVE_STRONG,
                          .is_volatile = i->k2 & WG_OBSERVE_VOLATILE, .acquire = i->k2 & WG_OBSERVE_ACQUIRE,
                          .release = i->k2 & WG_OBSERVE_RELEASE, .guess = i->k2 & WG_OBSERVE_GUESS, .elem = m->elem,
                          .n = m->n, .addr = addr, .array = (int32_t)i->e, .local_bytes = frame_local(w),
                          .shared = w->blk->shared, .value = value_of, .stack = stack_of, .impl = m, .regs = R};
    uint32_t sh = m->space == WG_SITE_SHARED ? on : 0, lo = m->space == WG_SITE_LOCAL ? on : 0;
    if (m->space == WG_SITE_GENERIC)
        for (unsigned l = 0; l < 32; l++) {
            if (addr[l] - WG_SHARED_WINDOW < WG_WINDOW_BYTES)
                sh |= 1u << l, addr[l] -= WG_SHARED_WINDOW;
            else if (addr[l] - WG_LOCAL_WINDOW < WG_WINDOW_BYTES)
                lo |= 1u << l, addr[l] -= WG_LOCAL_WINDOW;
        }
    for (uint32_t k = sh; k; k &= k - 1) { /* offsets are 32 bits wide */
        uint64_t *a = &addr[__builtin_ctz(k)];
        *a &= UINT32_MAX;
        if (m->cluster && *a >> WG_CLUSTER_SHIFT) { /* another block's: the access itself looks after it */
            sh &= ~(k & -k);
            keep |= k & -k;
        }
    }
    sh &= on;
    lo &= on;
    x.mask = on & ~sh & ~lo & ~keep;
    x.space = m->space == WG_SITE_CONST ? WG_SITE_CONST : WG_SITE_GLOBAL;
    if (x.mask)
        keep |= o->access(o->ctx, w->blk->observed, w->index, &x);
    x.mask = sh;
    x.space = WG_SITE_SHARED;
    if (sh)
        keep |= o->access(o->ctx, w->blk->observed, w->index, &x);
    x.mask = lo;
    x.space = WG_SITE_LOCAL;
    if (lo)
        keep |= o->access(o->ctx, w->blk->observed, w->index, &x);
    WG_P(i->d) = keep & on;
}
H(observe)
{
    uint32_t on = WG_ON;
    if (!on || (on == ~0u && row(w, i, R)))
        WG_P(i->d) = on;
    else
        lanes(w, i, R, on);
    WG_NEXT;
}

H(observe_fence)
{
    const struct wg_observer *o = &w->wk->run->g->observer;
    if (WG_ON)
        o->fence(o->ctx, w->blk->observed, w->index, WG_ON, i->k1);
    return i + 1;
}

/* c bytes of local memory at imm of the frame hold a parameter now. */
H(observe_home)
{
    const struct wg_observer *o = &w->wk->run->g->observer;
    for (uint32_t m = w->mask; m; m &= m - 1)
        o->native_write(o->ctx, w->blk->observed, w->index, (uint32_t)__builtin_ctz(m), WG_SITE_LOCAL,
                        (uint64_t)i->imm + wg_frame_of(R)->local_base, i->c);
    return i + 1;
}

H(observe_exit)
{
    const struct wg_observer *o = &w->wk->run->g->observer;
    if (WG_ON)
        o->lanes_exit(o->ctx, w->blk->observed, w->index, i->site, WG_ON);
    return i + 1;
}

/* The lane that lane l of a shuffle reads; its own where the source is out of range. */
static uint8_t source_lane(const struct wg_inst *i, const char *R, uint32_t l)
{
    uint32_t b = i->k2 & 1 ? *(const uint32_t *)(R + i->b) : ((const uint32_t *)(R + i->b))[l];
    uint32_t c = i->k2 & 2 ? *(const uint32_t *)(R + i->c) : ((const uint32_t *)(R + i->c))[l];
    uint32_t seg = c >> 8 & 31, clamp = c & 31, max = (l & seg) | (clamp & ~seg), j;
    b &= 31;
    switch (i->k1) {
    case WG_SHFL_UP:
        j = l - b;
        return (uint8_t)((int32_t)j >= (int32_t)max ? j & 31 : l);
    case WG_SHFL_DOWN: j = l + b; break;
    case WG_SHFL_BFLY: j = l ^ b; break;
    default: j = (l & seg) | (b & ~seg); break;
    }
    return (uint8_t)(j <= max ? j : l);
}

/* Before a .sync instruction: f: member mask, S where k2 & 4, else V32; b, c, k1: as in shfl; n: a shuffle; k2 & 8:
 * orders memory; p: its name */
H(observe_sync)
{
    const struct wg_observer *o = &w->wk->run->g->observer;
    uint32_t on = WG_ON, member[WG_LANES] = {0};
    uint8_t source[WG_LANES];
    if (!on)
        return i + 1;
    for (uint32_t m = on; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        member[l] = i->k2 & 4 ? *(uint32_t *)(R + i->f) : WG_VEC(uint32_t, i->f)[l];
    }
    if (member[__builtin_ctz(on)] & w->live & ~w->mask)
        return i + 1; /* some are still to come: this runs again when they are here */
    for (uint32_t l = 0; l < 32; l++)
        source[l] = i->n && (on >> l & 1) ? source_lane(i, R, l) : (uint8_t)l;
    struct wg_exchange e = {.site = i->site, .lanes = on, .live = w->live, .member = member,
                            .source = i->n ? source : NULL, .memory = i->k2 & 8, .name = i->p};
    o->exchange(o->ctx, w->blk->observed, w->index, &e);
    return i + 1;
}

/* ---- matrix and asynchronous instructions, which announce what they do themselves ---- */
static uint64_t bytes_of(const struct wg_access *a, unsigned lane, unsigned k)
{
    const char *const *p = a->impl;
    uint64_t v = 0;
    if (p && p[lane])
        memcpy(&v, p[lane] + k * a->elem, a->elem);
    return v;
}
uint32_t wg_observe_lanes(struct wg_warp *w, const struct wg_inst *i, const struct wg_seen *s, const uint64_t *at,
                          uint32_t mask, const char *const *data)
{
    const struct wg_observer *o = &w->wk->run->g->observer;
    struct wg_access x = {.site = i->site, .kind = s->kind, .space = s->space, .scope = s->wide_scope ? WG_ACCESS_GPU : WG_ACCESS_CTA, .strong = s->strong,
                          .acquire = s->acquire, .release = s->release, .elem = s->elem, .n = s->n, .mask = mask,
                          .addr = at, .array = -1, .local_bytes = frame_local(w), .shared = w->blk->shared,
                          .value = bytes_of, .stack = stack_of, .impl = data, .regs = w->R};
    return mask && o->access ? o->access(o->ctx, w->blk->observed, w->index, &x) & mask : mask;
}
void wg_observe_write(struct wg_warp *w, unsigned lane, unsigned space, uint64_t at, uint32_t bytes)
{
    const struct wg_observer *o = &w->wk->run->g->observer;
    o->native_write(o->ctx, w->blk->observed, w->index, lane, (uint8_t)space, at, bytes);
}
void wg_observe_bulk(struct wg_warp *w, const struct wg_inst *i, unsigned lane, uint64_t at, uint32_t bytes, uint64_t bar)
{
    const struct wg_observer *o = &w->wk->run->g->observer;
    uint64_t v;
    memcpy(&v, w->blk->shared + bar, sizeof v);
    struct wg_bulk_copy c = {.site = i->site, .bytes = bytes, .to = at, .bar = bar, .phase = wg_mbarrier_unpack(v).phase};
    o->bulk_copy(o->ctx, w->blk->observed, w->index, lane, &c);
}
void wg_observe_remote(struct wg_warp *w, const struct wg_block *of, unsigned lane, uint64_t at, uint32_t bytes)
{
    const struct wg_observer *o = &w->wk->run->g->observer;
    o->native_write(o->ctx, of->observed, w->index, lane, WG_SITE_SHARED, at, bytes);
}
