/* mem.c - loads and stores of a warp: addresses, bounds, counters, data. One core, specialised by space, address class
 * and size; whatever is rare takes the general handler. */
#include "exec/async.h"
#include "exec/cluster.h"
#include "exec/lanes.h"
#include "exec/mem.h"
#include "exec/memo.h"
#include "exec/patterns.h"
#include "exec/worst.h"

struct acc { uint64_t addr[WG_LANES]; };

/* ---- counting ---- */
WG_INLINE void count_coalesced(struct wg_site_count *c, const struct wg_coalesce *x)
{
    c->access++;
    c->tags += x->lines;
    c->sectors += x->sectors;
    c->sectors_ideal += x->ideal;
    c->bytes += x->bytes;
}
WG_INLINE void count_shared(struct wg_site_count *c, const struct wg_banks *x, uint32_t on, unsigned bytes)
{
    c->access++;
    c->wavefronts += x->wavefronts;
    c->wavefronts_ideal += x->ideal;
    c->bytes += (uint32_t)__builtin_popcount(on) * bytes;
}
/* Whatever hands out the address of a local stays out of line, so that handlers can end in tail calls. */
static __attribute__((noinline)) void count_global_model(struct wg_warp *w, const struct wg_inst *i, uint64_t base,
                                                         int64_t stride, uint32_t on, unsigned bytes)
{
    struct wg_coalesce x;
    wg_coalesce_affine(base, stride, on, bytes, &x);
    count_coalesced(&w->site[i->site], &x);
    wg_worst_see_affine(w, i->site, base, stride, on, bytes, false, x.sectors, x.ideal);
}
static __attribute__((noinline)) void count_shared_model(struct wg_warp *w, const struct wg_inst *i, uint32_t base,
                                                         int32_t stride, uint32_t on, unsigned bytes, bool store)
{
    struct wg_banks x;
    wg_banks_affine_of(store ? WG_BANKS_STORE : WG_BANKS_LOAD, base, stride, on, bytes, &x);
    count_shared(&w->site[i->site], &x, on, bytes);
    wg_worst_see_affine(w, i->site, base, stride, on, bytes, true, x.wavefronts, x.ideal);
    if (wg_patterns_wanted(w))
        wg_patterns_keep_affine(w, i->site, base, stride, on, bytes, x.wavefronts);
}
static __attribute__((noinline, cold)) void count_shifted(struct wg_warp *w, const struct wg_inst *i, uint64_t base,
                                                          unsigned bytes)
{
    wg_worst_see_affine(w, i->site, base, bytes, ~0u, bytes, false, bytes + 1, bytes);
}
WG_INLINE void count_global_affine(struct wg_warp *w, const struct wg_inst *i, uint64_t base, int64_t stride,
                                   uint32_t on, unsigned bytes)
{
    struct wg_site_count *c = &w->site[i->site];
    if (on == ~0u && stride == (int64_t)bytes) { /* the common case by formula */
        uint64_t end = base + 32 * bytes - 1;
        c->access++;
        c->tags += (end >> 7) - (base >> 7) + 1;
        c->sectors += (end >> 5) - (base >> 5) + 1;
        c->sectors_ideal += bytes;
        c->bytes += 32 * bytes;
        if (__builtin_expect((base & (WG_SECTOR_BYTES - 1)) && c->worst < wg_worst_key(w, 1, 0), 0)) /* a sector more */
            count_shifted(w, i, base, bytes);
    } else if (stride == 0 && bytes <= WG_SECTOR_BYTES) { /* aligned, so one sector */
        c->access++;
        c->tags++;
        c->sectors++;
        c->sectors_ideal++;
        c->bytes += (uint32_t)__builtin_popcount(on) * bytes;
    } else {
        count_global_model(w, i, base, stride, on, bytes);
    }
}
WG_INLINE void count_shared_affine(struct wg_warp *w, const struct wg_inst *i, uint32_t base, int32_t stride, uint32_t on,
                                   unsigned bytes, bool store)
{
    struct wg_site_count *c = &w->site[i->site];
    if (bytes == 4 && (stride == 4 || stride == 0)) {
        c->access++;
        c->wavefronts++;
        c->wavefronts_ideal++;
        c->bytes += (uint32_t)__builtin_popcount(on) * 4u;
        if (wg_patterns_wanted(w))
            wg_patterns_keep_affine(w, i->site, base, stride, on, bytes, 1);
    } else {
        count_shared_model(w, i, base, stride, on, bytes, store);
    }
}

/* The access that ptxas makes of this one and its neighbours. */
static __attribute__((noinline)) void count_joined(struct wg_warp *w, const struct wg_inst *i, uint64_t a,
                                                   int64_t stride, uint32_t on, bool shared)
{
    const struct wg_mem_desc *d = i->p;
    for (unsigned k = 0; k <= (d->again != 0); k++) {
        uint64_t at = a - (uint64_t)(int64_t)d->position + k * d->again;
        if (shared)
            count_shared_model(w, i, (uint32_t)at, (int32_t)stride, on, d->wide, d->store);
        else
            count_global_model(w, i, at, stride, on, d->wide);
    }
}
/* Vectors of addresses; disp is added to each. */
static __attribute__((noinline)) void count_v64(struct wg_warp *w, const struct wg_inst *i, const uint64_t *a,
                                                uint32_t on, int64_t disp)
{
    const struct wg_mem_desc *d = i->p;
    uint64_t at[WG_LANES] __attribute__((aligned(64)));
    for (unsigned k = 0; k <= (d->again != 0); k++) {
        uint64_t add = (uint64_t)disp - (uint64_t)(int64_t)d->position + k * d->again;
        struct wg_coalesce x;
        for (unsigned l = 0; l < 32; l++)
            at[l] = a[l] + add;
        unsigned bytes = d->wide ? d->wide : d->elem * d->n;
        wg_memo_coalesce(w, i->site, at, on, bytes, &x);
        count_coalesced(&w->site[i->site], &x);
        wg_worst_see(w, i->site, at, on, bytes, false, x.sectors, x.ideal);
    }
}
static __attribute__((noinline)) void count_v32(struct wg_warp *w, const struct wg_inst *i, const uint32_t *a,
                                                uint32_t on, uint32_t disp)
{
    const struct wg_mem_desc *d = i->p;
    unsigned bytes = d->wide ? d->wide : d->elem * d->n;
    uint32_t at[WG_LANES] __attribute__((aligned(64)));
    for (unsigned k = 0; k <= (d->again != 0); k++) {
        uint32_t add = disp - (uint32_t)d->position + k * d->again;
        struct wg_banks x;
        for (unsigned l = 0; l < 32; l++)
            at[l] = a[l] + add;
        wg_memo_banks(w, i->site, at, on, bytes, d->store, &x);
        count_shared(&w->site[i->site], &x, on, bytes);
        wg_worst_see32(w, i->site, at, on, bytes, x.wavefronts, x.ideal);
        if (wg_patterns_wanted(w))
            wg_patterns_keep(w, i->site, at, on, bytes, x.wavefronts);
    }
}

/* ---- faults ---- */
static __attribute__((noinline, cold)) const struct wg_inst *bad(struct wg_warp *w, const struct wg_inst *i,
                                                                 const uint64_t *addr, uint32_t on, uint64_t lo,
                                                                 uint64_t hi, unsigned bytes, const char *space,
                                                                 const char *what)
{
    unsigned l = (unsigned)__builtin_ctz(on);
    bool mis = false;
    for (uint32_t m = on; m; m &= m - 1) {
        unsigned k = (unsigned)__builtin_ctz(m);
        if (addr[k] < lo || addr[k] + bytes > hi || addr[k] + bytes < addr[k]) {
            l = k;
            mis = false;
            break;
        }
        if ((addr[k] & (bytes - 1)) && !mis) {
            l = k;
            mis = true;
        }
    }
    return wg_fault(w, i, WG_KERNEL_FAULT, mis ? "misaligned" : "out-of-bounds", (int)l, addr[l],
                    "Invalid __%s__ %s of size %u bytes: address 0x%llx is %s", space, what, bytes,
                    (unsigned long long)addr[l], mis ? "misaligned" : "out of bounds");
}
static void fill(uint64_t *addr, const struct wg_inst *i, const char *R, unsigned acls)
{
    int64_t disp = (int32_t)i->f;
    for (unsigned l = 0; l < 32; l++)
        switch (acls) {
        case WG_ADDR_S: addr[l] = *(const uint64_t *)(R + i->a) + (uint64_t)disp; break;
        case WG_ADDR_A:
            addr[l] = *(const uint64_t *)(R + i->a) + *(const uint64_t *)(R + i->a + 8) * l + (uint64_t)disp;
            break;
        case WG_ADDR_V32: addr[l] = (uint32_t)(((const uint32_t *)(R + i->a))[l] + (uint32_t)disp); break;
        default: addr[l] = ((const uint64_t *)(R + i->a))[l] + (uint64_t)disp; break;
        }
}

/* ---- data ---- */
WG_INLINE uint64_t get(const void *p, unsigned elem, bool sign)
{
    switch (elem) {
    case 1: return sign ? (uint64_t)(int64_t) * (const int8_t *)p : *(const uint8_t *)p;
    case 2: {
        uint16_t v;
        memcpy(&v, p, 2);
        return sign ? (uint64_t)(int64_t)(int16_t)v : v;
    }
    case 4: {
        uint32_t v;
        memcpy(&v, p, 4);
        return sign ? (uint64_t)(int64_t)(int32_t)v : v;
    }
    default: {
        uint64_t v;
        memcpy(&v, p, 8);
        return v;
    }
    }
}
WG_INLINE void put_lane(char *slot, unsigned cont, unsigned l, uint64_t v)
{
    if (cont == 4)
        ((uint32_t *)slot)[l] = (uint32_t)v;
    else if (cont == 8)
        ((uint64_t *)slot)[l] = v;
    else
        ((uint16_t *)slot)[l] = (uint16_t)v;
}
WG_INLINE uint64_t get_lane(const char *slot, unsigned cont, unsigned l)
{
    return cont == 4 ? ((const uint32_t *)slot)[l] : cont == 8 ? ((const uint64_t *)slot)[l] : ((const uint16_t *)slot)[l];
}

/* One lane of one access at host address p. */
WG_INLINE void move_lane(const struct wg_mem_desc *d, char *R, char *p, unsigned l)
{
    for (unsigned k = 0; k < d->n; k++) {
        if (d->store) {
            uint64_t v = get_lane(R + d->val[k], d->cont, l);
            memcpy(p + k * d->elem, &v, d->elem);
        } else if (d->val[k]) {
            put_lane(R + d->val[k], d->cont, l, get(p + k * d->elem, d->elem, d->sign));
        }
    }
}

/* ---- the general handler ---- */
static const struct wg_inst *general_global(struct wg_warp *w, const struct wg_inst *i, char *R, const uint64_t *addr,
                                            uint32_t on, bool counted)
{
    const struct wg_mem_desc *d = i->p;
    unsigned bytes = d->elem * d->n;
    uint64_t lo = w->wk->lo, hi = w->wk->hi;
    for (uint32_t m = on; m; m &= m - 1) {
        uint64_t a = addr[__builtin_ctz(m)];
        if (a < lo || a > hi - bytes || (a & (bytes - 1)))
            return bad(w, i, addr, on, lo, hi, bytes, d->space == WG_SITE_CONST ? "const" : "global",
                       d->store ? "write" : "read");
    }
    if (counted)
        count_v64(w, i, addr, on, 0);
    w->wk->changes += d->store;
    for (uint32_t m = on; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        move_lane(d, R, (char *)addr[l], l);
    }
    return i + 1;
}
static const struct wg_inst *general_shared(struct wg_warp *w, const struct wg_inst *i, char *R, uint64_t *addr,
                                            uint32_t on, bool counted, const struct wg_block *of)
{
    const struct wg_mem_desc *d = i->p;
    unsigned bytes = d->elem * d->n;
    uint64_t hi = of->shared_bytes;
    for (uint32_t m = on; m; m &= m - 1) {
        uint64_t a = addr[__builtin_ctz(m)] &= UINT32_MAX; /* offsets are 32 bits wide */
        if (a + bytes > hi || a > hi || (a & (bytes - 1)))
            return bad(w, i, addr, on, 0, hi, bytes, "shared", d->store ? "write" : "read");
    }
    if (counted) {
        uint32_t a32[WG_LANES];
        for (unsigned l = 0; l < 32; l++)
            a32[l] = (uint32_t)addr[l];
        count_v32(w, i, a32, on, 0);
    }
    w->wk->changes += d->store;
    for (uint32_t m = on; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        move_lane(d, R, of->shared + addr[l], l);
        if (d->store && of != w->blk && wg_is_observed(w))
            wg_observe_remote(w, of, l, addr[l], bytes);
    }
    return i + 1;
}
/* Shared memory of any block of the cluster, block by block. */
static const struct wg_inst *cluster_shared(struct wg_warp *w, const struct wg_inst *i, char *R, uint64_t *addr,
                                            uint32_t on, bool counted)
{
    while (on) {
        unsigned l = (unsigned)__builtin_ctz(on);
        uint64_t rank = addr[l] >> WG_CLUSTER_SHIFT & 0xff, at = addr[l] & UINT32_MAX;
        struct wg_block *of = wg_cluster_block(w->blk, &at);
        uint32_t group = 0;
        if (!of)
            return wg_cluster_fault(w, i, l, addr[l]);
        for (uint32_t m = on; m; m &= m - 1) {
            unsigned k = (unsigned)__builtin_ctz(m);
            if ((addr[k] >> WG_CLUSTER_SHIFT & 0xff) != rank)
                continue;
            group |= 1u << k;
            addr[k] &= (1u << WG_CLUSTER_SHIFT) - 1;
        }
        if (!general_shared(w, i, R, addr, group, counted, of))
            return NULL;
        on &= ~group;
    }
    return i + 1;
}
static const struct wg_inst *any_shared(struct wg_warp *w, const struct wg_inst *i, char *R, uint64_t *addr, uint32_t on,
                                        bool counted)
{
    const struct wg_mem_desc *d = i->p;
    return d->cluster && w->blk->cluster ? cluster_shared(w, i, R, addr, on, counted)
                                         : general_shared(w, i, R, addr, on, counted, w->blk);
}
/* Local memory is interleaved by word: word k of lane l is at (k * 32 + l) * 4, as the hardware lays it out. */
static const struct wg_inst *general_local(struct wg_warp *w, const struct wg_inst *i, char *R, const uint64_t *addr,
                                           uint32_t on, bool counted)
{
    const struct wg_mem_desc *d = i->p;
    unsigned bytes = d->elem * d->n;
    uint64_t hi = w->local_bytes;
    for (uint32_t m = on; m; m &= m - 1) {
        uint64_t a = addr[__builtin_ctz(m)];
        if (a + bytes > hi || a > hi || (a & (bytes - 1)))
            return bad(w, i, addr, on, 0, hi, bytes, "local", d->store ? "write" : "read");
    }
    if (counted) {
        struct wg_site_count *c = &w->site[i->site];
        uint64_t at[WG_LANES];
        c->access++;
        c->bytes += (uint32_t)__builtin_popcount(on) * bytes;
        for (unsigned k = 0; k < (d->wide ? d->wide : bytes); k += 4) { /* word by word: each word of a warp is its own line */
            struct wg_coalesce x;
            for (unsigned l = 0; l < 32; l++)
                at[l] = ((addr[l] - (uint64_t)(int64_t)d->position + k) & ~3ull) * 32 + l * 4;
            wg_coalesce(at, on, 4, &x);
            c->tags += x.lines;
            c->sectors += x.sectors;
            c->sectors_ideal += x.ideal;
        }
    }
    for (uint32_t m = on; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        char buf[32];
        for (unsigned k = 0; k < bytes && !d->store; k += bytes < 4 ? bytes : 4)
            memcpy(buf + k, w->local + ((addr[l] + k) >> 2) * 128 + l * 4 + (addr[l] & 3), bytes < 4 ? bytes : 4);
        move_lane(d, R, buf, l);
        for (unsigned k = 0; k < bytes && d->store; k += bytes < 4 ? bytes : 4)
            memcpy(w->local + ((addr[l] + k) >> 2) * 128 + l * 4 + (addr[l] & 3), buf + k, bytes < 4 ? bytes : 4);
    }
    return i + 1;
}
static const struct wg_inst *h_general(struct wg_warp *w, const struct wg_inst *i, char *R)
{
    const struct wg_mem_desc *d = i->p;
    uint32_t on = WG_ON;
    if (!on)
        return i + 1;
    uint64_t addr[WG_LANES];
    fill(addr, i, R, d->acls);
    switch (d->space) {
    case WG_SITE_SHARED: return any_shared(w, i, R, addr, on, d->counted);
    case WG_SITE_LOCAL: return general_local(w, i, R, addr, on, d->counted);
    case WG_SITE_GLOBAL: return general_global(w, i, R, addr, on, d->counted);
    case WG_SITE_CONST: return general_global(w, i, R, addr, on, false);
    default: break;
    }
    uint32_t sh = 0, lo = 0;
    for (unsigned l = 0; l < 32; l++) {
        if (addr[l] - WG_SHARED_WINDOW < WG_WINDOW_BYTES)
            sh |= 1u << l, addr[l] -= WG_SHARED_WINDOW;
        else if (addr[l] - WG_LOCAL_WINDOW < WG_WINDOW_BYTES)
            lo |= 1u << l, addr[l] -= WG_LOCAL_WINDOW;
    }
    const struct wg_inst *n = i + 1;
    uint32_t gl = on & ~sh & ~lo;
    if (d->counted)
        w->site[i->site].spaces |= (gl ? 1u << WG_SITE_GLOBAL : 0) | (on & sh ? 1u << WG_SITE_SHARED : 0) |
                                   (on & lo ? 1u << WG_SITE_LOCAL : 0);
    if (gl)
        n = general_global(w, i, R, addr, gl, d->counted);
    if (n && (on & sh))
        n = any_shared(w, i, R, addr, on & sh, d->counted);
    if (n && (on & lo))
        n = general_local(w, i, R, addr, on & lo, d->counted);
    return n;
}
static __attribute__((noinline)) const struct wg_inst *slow(struct wg_warp *w, const struct wg_inst *i, char *R)
{
    return h_general(w, i, R);
}

/* ---- specialised: one element of 4 or 8 bytes, register of the same width ---- */
#define T_4 uint32_t
#define T_8 uint64_t
/* uniform address, scalar result; elem any size */
WG_INLINE const struct wg_inst *ld_s(struct wg_warp *w, const struct wg_inst *i, char *R, bool shared, bool counted,
                                     unsigned elem, unsigned n)
{
    const struct wg_mem_desc *d = i->p;
    uint32_t on = WG_ON;
    if (!on)
        return i + 1;
    unsigned bytes = elem * n;
    uint64_t a = *(const uint64_t *)(R + i->a) + (uint64_t)(int64_t)(int32_t)i->f;
    const char *p;
    if (shared) {
        a = (uint32_t)a;
        if (__builtin_expect(a + bytes > w->blk->shared_bytes || (a & (bytes - 1)), 0))
            return slow(w, i, R);
        p = w->blk->shared + a;
        if (counted && d->same && on == ~0u && !wg_patterns_wanted(w))
            wg_count_same(w, i);
        else if (counted && d->wide)
            count_joined(w, i, a, 0, on, true);
        else if (counted)
            count_shared_affine(w, i, (uint32_t)a, 0, on, bytes, false);
    } else {
        if (__builtin_expect(a < w->wk->lo || a > w->wk->hi - bytes || (a & (bytes - 1)), 0))
            return slow(w, i, R);
        p = (const char *)a;
        if (counted && d->wide)
            count_joined(w, i, a, 0, on, false);
        else if (counted)
            count_global_affine(w, i, a, 0, on, bytes);
    }
    for (unsigned k = 0; k < n; k++) {
        uint64_t v = get(p + k * elem, elem, d->sign);
        if (d->val[k])
            *(uint64_t *)(R + d->val[k]) = d->cont == 4 ? (uint32_t)v : d->cont == 2 ? (uint16_t)v : v;
    }
    return i + 1;
}
#define LD_S(name, shared, counted, elem, n)                                                                           \
    WG_HANDLER(name)                                                                                                   \
    {                                                                                                                  \
        const struct wg_inst *next = ld_s(w, i, R, shared, counted, elem, n);                                          \
        if (__builtin_expect(!next, 0))                                                                                \
            return NULL;                                                                                               \
        WG_NEXT;                                                                                                       \
    }
LD_S(ld_s_g, false, false, ((const struct wg_mem_desc *)i->p)->elem, ((const struct wg_mem_desc *)i->p)->n)
LD_S(ld_s_gc, false, true, ((const struct wg_mem_desc *)i->p)->elem, ((const struct wg_mem_desc *)i->p)->n)
LD_S(ld_s_s, true, false, ((const struct wg_mem_desc *)i->p)->elem, ((const struct wg_mem_desc *)i->p)->n)
LD_S(ld_s_sc, true, true, ((const struct wg_mem_desc *)i->p)->elem, ((const struct wg_mem_desc *)i->p)->n)
LD_S(ld_s_g4, false, false, 4, 1)
LD_S(ld_s_g4c, false, true, 4, 1)
LD_S(ld_s_s4, true, false, 4, 1)
LD_S(ld_s_s4c, true, true, 4, 1)

/* affine address */
#define STRIDE_4(l) *(const uint32_t *)(at + stride * (l))
#define STRIDE_8(l) *(const uint64_t *)(at + stride * (l))
#define ACCESS_A(name, T, is_shared, counted, store)                                                                   \
    WG_HANDLER(name)                                                                                                   \
    {                                                                                                                  \
        uint32_t on = WG_ON;                                                                                           \
        if (!on)                                                                                                       \
            WG_NEXT;                                                                                                   \
        const unsigned bytes = sizeof(T);                                                                              \
        int64_t stride = *(const int64_t *)(R + i->a + 8);                                                             \
        uint64_t base = *(const uint64_t *)(R + i->a) + (uint64_t)(int64_t)(int32_t)i->f;                              \
        unsigned f = (unsigned)__builtin_ctz(on), e = 31 - (unsigned)__builtin_clz(on);                                \
        uint64_t a0 = base + (uint64_t)stride * f, a1 = base + (uint64_t)stride * e;                                   \
        uint64_t lo = a0 < a1 ? a0 : a1, hi = a0 < a1 ? a1 : a0;                                                       \
        uint64_t mem;                                                                                                  \
        if (is_shared) {                                                                                               \
            if (__builtin_expect(hi + bytes > w->blk->shared_bytes || ((a0 | (uint64_t)stride) & (bytes - 1)) ||       \
                                     hi > UINT32_MAX, 0))                                                              \
                return slow(w, i, R);                                                                                  \
            if (counted && ((const struct wg_mem_desc *)i->p)->wide)                                                   \
                count_joined(w, i, base, stride, on, true);                                                            \
            else if (counted)                                                                                          \
                count_shared_affine(w, i, (uint32_t)base, (int32_t)stride, on, bytes, store);                          \
            mem = (uintptr_t)w->blk->shared;                                                                           \
        } else {                                                                                                       \
            if (__builtin_expect(lo < w->wk->lo || hi > w->wk->hi - bytes ||                                           \
                                     ((a0 | (uint64_t)stride) & (bytes - 1)), 0))                                      \
                return slow(w, i, R);                                                                                  \
            if (counted && ((const struct wg_mem_desc *)i->p)->wide)                                                   \
                count_joined(w, i, base, stride, on, false);                                                           \
            else if (counted)                                                                                          \
                count_global_affine(w, i, base, stride, on, bytes);                                                    \
            mem = 0;                                                                                                   \
        }                                                                                                              \
        T *r = WG_VEC(T, i->d);                                                                                        \
        if (store)                                                                                                     \
            w->wk->changes++;                                                                                          \
        if (stride == (int64_t)bytes && on == ~0u) {                                                                   \
            T *m = (T *)(mem + base);                                                                                  \
            if (store)                                                                                                 \
                memcpy(m, r, 32 * sizeof(T));                                                                          \
            else                                                                                                       \
                memcpy(r, m, 32 * sizeof(T));                                                                          \
            WG_NEXT;                                                                                                   \
        }                                                                                                              \
        if (on == ~0u) {                                                                                               \
            const char *at = (const char *)(uintptr_t)(mem + base);                                                    \
            if (store) {                                                                                               \
                for (int l = 0; l < 32; l++)                                                                           \
                    *(T *)(uintptr_t)(mem + base + (uint64_t)stride * (unsigned)l) = r[l];                             \
            } else if (sizeof(T) == 4) {                                                                               \
                WG_LANES_GATHER4(r, STRIDE_4)                                                                          \
            } else {                                                                                                   \
                WG_LANES_GATHER8(r, STRIDE_8)                                                                          \
            }                                                                                                          \
            WG_NEXT;                                                                                                   \
        }                                                                                                              \
        for (uint32_t m = on; m; m &= m - 1) {                                                                         \
            unsigned l = (unsigned)__builtin_ctz(m);                                                                   \
            T *p = (T *)(mem + base + (uint64_t)stride * l);                                                           \
            if (store)                                                                                                 \
                *p = r[l];                                                                                             \
            else                                                                                                       \
                r[l] = *p;                                                                                             \
        }                                                                                                              \
        WG_NEXT;                                                                                                       \
    }
ACCESS_A(ld_a_g4, uint32_t, false, false, false)
ACCESS_A(ld_a_g4c, uint32_t, false, true, false)
ACCESS_A(ld_a_g8, uint64_t, false, false, false)
ACCESS_A(ld_a_g8c, uint64_t, false, true, false)
ACCESS_A(ld_a_s4, uint32_t, true, false, false)
ACCESS_A(ld_a_s4c, uint32_t, true, true, false)
ACCESS_A(ld_a_s8, uint64_t, true, false, false)
ACCESS_A(ld_a_s8c, uint64_t, true, true, false)
ACCESS_A(st_a_g4, uint32_t, false, false, true)
ACCESS_A(st_a_g4c, uint32_t, false, true, true)
ACCESS_A(st_a_g8, uint64_t, false, false, true)
ACCESS_A(st_a_g8c, uint64_t, false, true, true)
ACCESS_A(st_a_s4, uint32_t, true, false, true)
ACCESS_A(st_a_s4c, uint32_t, true, true, true)
ACCESS_A(st_a_s8, uint64_t, true, false, true)
ACCESS_A(st_a_s8c, uint64_t, true, true, true)

/* vector address: shared memory by 32-bit offsets, global by 64-bit addresses */
WG_INLINE bool range_v32(const uint32_t *a, uint32_t on, uint32_t disp, uint32_t hi, unsigned bytes)
{
    uint32_t first = a[__builtin_ctz(on)], bad_ = 0;
    if (hi < bytes)
        return false;
    WG_LANES_LOOP(l)
    {
        uint32_t x = (WG_LANES_IN(on, l, 4) ? a[l] : first) + disp;
        bad_ |= (x > hi - bytes ? 1u : 0u) | (x & (bytes - 1));
    }
    return bad_ == 0;
}
#define AT_LANE(l) ((uintptr_t)(mem + (in_shared ? (uint64_t)(a32[l] + (uint32_t)disp) : a64[l])))
#define LANE_4(l) *(const uint32_t *)AT_LANE(l)
#define LANE_8(l) *(const uint64_t *)AT_LANE(l)
#define ACCESS_V(name, T, is_shared, counted, store)                                                                   \
    WG_HANDLER(name)                                                                                                   \
    {                                                                                                                  \
        uint32_t on = WG_ON;                                                                                           \
        if (!on)                                                                                                       \
            WG_NEXT;                                                                                                   \
        const unsigned bytes = sizeof(T);                                                                              \
        const bool in_shared = is_shared;                                                                              \
        int64_t disp = (int32_t)i->f;                                                                                  \
        T *r = WG_VEC(T, i->d);                                                                                        \
        uint64_t mem;                                                                                                  \
        const uint64_t *a64 = WG_VEC(uint64_t, i->a);                                                                  \
        const uint32_t *a32 = WG_VEC(uint32_t, i->a);                                                                  \
        if (is_shared) {                                                                                               \
            if (__builtin_expect(!range_v32(a32, on, (uint32_t)disp, w->blk->shared_bytes, bytes), 0))                 \
                return slow(w, i, R);                                                                                  \
            if (counted)                                                                                               \
                count_v32(w, i, a32, on, (uint32_t)disp);                                                              \
            mem = (uintptr_t)w->blk->shared;                                                                           \
        } else {                                                                                                       \
            if (__builtin_expect(!wg_range_v64(a64, on, disp, w->wk->lo, w->wk->hi, bytes), 0))                           \
                return slow(w, i, R);                                                                                  \
            if (counted)                                                                                               \
                count_v64(w, i, a64, on, disp);                                                                        \
            mem = (uint64_t)disp;                                                                                      \
        }                                                                                                              \
        if (store)                                                                                                     \
            w->wk->changes++;                                                                                          \
        if (on == ~0u) {                                                                                               \
            if (store) {                                                                                               \
                for (int l = 0; l < 32; l++)                                                                           \
                    *(T *)AT_LANE(l) = r[l];                                                                           \
            } else if (sizeof(T) == 4) {                                                                               \
                WG_LANES_GATHER4(r, LANE_4)                                                                            \
            } else {                                                                                                   \
                WG_LANES_GATHER8(r, LANE_8)                                                                            \
            }                                                                                                          \
            WG_NEXT;                                                                                                   \
        }                                                                                                              \
        for (uint32_t m = on; m; m &= m - 1) {                                                                         \
            unsigned l = (unsigned)__builtin_ctz(m);                                                                   \
            T *p = (T *)AT_LANE(l);                                                                                    \
            if (store)                                                                                                 \
                *p = r[l];                                                                                             \
            else                                                                                                       \
                r[l] = *p;                                                                                             \
        }                                                                                                              \
        WG_NEXT;                                                                                                       \
    }
ACCESS_V(ld_v_g4, uint32_t, false, false, false)
ACCESS_V(ld_v_g4c, uint32_t, false, true, false)
ACCESS_V(ld_v_g8, uint64_t, false, false, false)
ACCESS_V(ld_v_g8c, uint64_t, false, true, false)
ACCESS_V(ld_v_s4, uint32_t, true, false, false)
ACCESS_V(ld_v_s4c, uint32_t, true, true, false)
ACCESS_V(ld_v_s8, uint64_t, true, false, false)
ACCESS_V(ld_v_s8c, uint64_t, true, true, false)
ACCESS_V(st_v_g4, uint32_t, false, false, true)
ACCESS_V(st_v_g4c, uint32_t, false, true, true)
ACCESS_V(st_v_g8, uint64_t, false, false, true)
ACCESS_V(st_v_g8c, uint64_t, false, true, true)
ACCESS_V(st_v_s4, uint32_t, true, false, true)
ACCESS_V(st_v_s4c, uint32_t, true, true, true)
ACCESS_V(st_v_s8, uint64_t, true, false, true)
ACCESS_V(st_v_s8c, uint64_t, true, true, true)

/* [store][shared][8 bytes][counted] */
const wg_handler WG_ISA_NAME(wg_mem_affine)[2][2][2][2] = {
    {{{ld_a_g4, ld_a_g4c}, {ld_a_g8, ld_a_g8c}}, {{ld_a_s4, ld_a_s4c}, {ld_a_s8, ld_a_s8c}}},
    {{{st_a_g4, st_a_g4c}, {st_a_g8, st_a_g8c}}, {{st_a_s4, st_a_s4c}, {st_a_s8, st_a_s8c}}},
};
static const wg_handler by_vector[2][2][2][2] = {
    {{{ld_v_g4, ld_v_g4c}, {ld_v_g8, ld_v_g8c}}, {{ld_v_s4, ld_v_s4c}, {ld_v_s8, ld_v_s8c}}},
    {{{st_v_g4, st_v_g4c}, {st_v_g8, st_v_g8c}}, {{st_v_s4, st_v_s4c}, {st_v_s8, st_v_s8c}}},
};
/* [shared][counted] */
const wg_handler WG_ISA_NAME(wg_mem_same)[2][2] = {{ld_s_g4, ld_s_g4c}, {ld_s_s4, ld_s_s4c}};

wg_handler WG_ISA_NAME(wg_mem_select)(const struct wg_mem_desc *d);
wg_handler WG_ISA_NAME(wg_mem_select)(const struct wg_mem_desc *d)
{
    bool shared = d->space == WG_SITE_SHARED, counted = d->counted && d->space != WG_SITE_CONST;
    if (d->space == WG_SITE_LOCAL || d->space == WG_SITE_GENERIC)
        return h_general;
    wg_handler full = WG_ISA_NAME(wg_mem_full)(d);
    if (full)
        return full;
    if (d->scalar) {
        if (d->elem == 4 && d->n == 1)
            return WG_ISA_NAME(wg_mem_same)[shared][counted];
        return shared ? (counted ? ld_s_sc : ld_s_s) : counted ? ld_s_gc : ld_s_g;
    }
    bool plain = d->n == 1 && d->elem == d->cont && d->elem >= 4 && d->val[0];
    if (plain && d->acls == WG_ADDR_A)
        return WG_ISA_NAME(wg_mem_affine)[d->store][shared][d->elem == 8][counted];
    if (plain && d->acls == (shared ? WG_ADDR_V32 : WG_ADDR_V64))
        return by_vector[d->store][shared][d->elem == 8][counted];
    return h_general;
}

/* ---- parameters ---- */
/* Kernel parameter at byte imm into an S slot: bytes of the register, k2 of the value, k1 signed. */
H(ld_kparam)
{
    if (WG_ON) {
        uint64_t v = get(w->wk->params + i->imm, i->k2, i->k1);
        *(uint64_t *)(R + i->d) = i->bytes == 8 ? v : i->bytes == 4 ? (uint32_t)v : (uint16_t)v;
    }
    WG_NEXT;
}
H(kparam_addr)
{
    *(uint64_t *)(R + i->d) = w->wk->run->param_addr + (uint64_t)i->imm;
    WG_NEXT;
}
/* Call parameters and results: lane-interleaved words at slot a (d for stores), byte imm inside. */
H(ld_param)
{
    uint32_t on = WG_ON;
    for (unsigned l = 0; l < 32; l++) {
        if (!(on >> l & 1))
            continue;
        const uint32_t *s = WG_VEC(uint32_t, i->a) + (i->imm >> 2) * 32 + l;
        uint64_t v = i->k2 == 8 ? s[0] | (uint64_t)s[32] << 32 : (uint64_t)(s[0] >> (8 * (i->imm & 3)));
        put_lane(R + i->d, i->bytes, l, get(&v, i->k2, i->k1));
    }
    WG_NEXT;
}
H(st_param)
{
    uint32_t on = WG_ON;
    for (unsigned l = 0; l < 32; l++) {
        if (!(on >> l & 1))
            continue;
        uint32_t *s = WG_VEC(uint32_t, i->d) + (i->imm >> 2) * 32 + l;
        uint64_t v = get_lane(R + i->a, i->bytes, l);
        if (i->k2 == 8) {
            s[0] = (uint32_t)v;
            s[32] = (uint32_t)(v >> 32);
        } else {
            memcpy((char *)s + (i->imm & 3), &v, i->k2);
        }
    }
    WG_NEXT;
}
/* c words of a parameter at slot a go to local memory at byte imm of this frame's part. */
H(param_home)
{
    uint32_t m = w->mask, *to = (uint32_t *)w->local + ((uint64_t)i->imm + wg_frame_of(R)->local_base) / 4 * 32;
    const uint32_t *from = WG_VEC(uint32_t, i->a);
    for (uint32_t k = 0; k < i->c * 32; k++)
        to[k] = (m >> (k & 31) & 1) ? from[k] : to[k];
    WG_NEXT;
}
