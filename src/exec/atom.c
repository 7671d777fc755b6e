/* atom.c - atomics and reductions: lane after lane in ascending order, atomically against other workers. */
#include "exec/bulk.h"
#include "exec/cluster.h"
#include "exec/mem.h"
#include "exec/patterns.h"
#include "exec/worst.h"
#include "exec/lanes.h"
#include "exec/half.h"
#include "model/banks.h"
#include "model/coalesce.h"

static float f32_of(uint32_t v)
{
    float f;
    memcpy(&f, &v, 4);
    return f;
}
static uint32_t u32_of(float f)
{
    uint32_t v;
    memcpy(&v, &f, 4);
    return v;
}
static double f64_of(uint64_t v)
{
    double f;
    memcpy(&f, &v, 8);
    return f;
}
static uint64_t u64_of(double f)
{
    uint64_t v;
    memcpy(&v, &f, 8);
    return v;
}
static uint32_t flush(uint32_t v) { return (v & 0x7f800000u) ? v : v & 0x80000000u; }

/* NaN as the hardware makes it */
static uint32_t sum32(uint32_t a, uint32_t b)
{
    float r = f32_of(a) + f32_of(b);
    return r != r ? 0x7fffffffu : u32_of(r);
}

static uint64_t sum64(uint64_t a, uint64_t b)
{
    const uint64_t quiet = 1ull << 51;
    return f64_of(a) != f64_of(a) ? a | quiet : f64_of(b) != f64_of(b) ? b | quiet : u64_of(f64_of(a) + f64_of(b));
}

static uint64_t half_op(unsigned op, unsigned type, uint16_t a, uint16_t b)
{
    bool bf = type == WG_T_BF16 || type == WG_T_BF16X2;
    float x = bf ? wg_bf16_to_f32(a) : wg_f16_to_f32(a), y = bf ? wg_bf16_to_f32(b) : wg_f16_to_f32(b), r;
    if (op == WG_ATOM_ADD)
        r = x + y;
    else if (x != x || y != y)
        r = x != x ? y : x;
    else if (op == WG_ATOM_MIN)
        r = x < y || (x == y && (a & 0x8000)) ? x : y;
    else
        r = x > y || (x == y && !(a & 0x8000)) ? x : y;
    return bf ? wg_f32_to_bf16(r) : wg_f32_to_f16(r);
}

/* The new value of a place that holds old. */
static uint64_t apply(unsigned op, unsigned type, bool global, uint64_t old, uint64_t b, uint64_t c)
{
    switch (type) {
    case WG_T_F32:
        if (op == WG_ATOM_ADD) /* global f32 atomics flush denormals, shared ones do not: PTX ISA, atom */
            return global ? flush(sum32(flush((uint32_t)old), flush((uint32_t)b))) : sum32((uint32_t)old, (uint32_t)b);
        if (op == WG_ATOM_MIN || op == WG_ATOM_MAX) {
            float x = f32_of((uint32_t)old), y = f32_of((uint32_t)b);
            if (x != x || y != y)
                return x != x ? b : old;
            return (op == WG_ATOM_MIN ? x < y : x > y) ? old : b;
        }
        break;
    case WG_T_F64:
        if (op == WG_ATOM_ADD)
            /* the L2 passes a NaN on as it is, the incoming one first; an SM's adder quiets it */
            return !global                  ? sum64(old, b)
                   : f64_of(b) != f64_of(b) ? b
                   : f64_of(old) != f64_of(old) ? old
                                                : u64_of(f64_of(old) + f64_of(b));
        break;
    case WG_T_F16: case WG_T_BF16:
        if (op == WG_ATOM_ADD || op == WG_ATOM_MIN || op == WG_ATOM_MAX)
            return half_op(op, type, (uint16_t)old, (uint16_t)b);
        break;
    case WG_T_F16X2: case WG_T_BF16X2:
        if (op == WG_ATOM_ADD || op == WG_ATOM_MIN || op == WG_ATOM_MAX)
            return half_op(op, type, (uint16_t)old, (uint16_t)b) |
                   half_op(op, type, (uint16_t)(old >> 16), (uint16_t)(b >> 16)) << 16;
        break;
    default:
        break;
    }
    bool wide = wg_type_bytes((enum wg_type)type) == 8, sign = wg_type_infos[type].kind == 'S';
    bool less = sign ? (wide ? (int64_t)old < (int64_t)b : (int32_t)old < (int32_t)b)
                     : (wide ? old < b : (uint32_t)old < (uint32_t)b);
    switch (op) {
    case WG_ATOM_ADD: return old + b;
    case WG_ATOM_MIN: return less ? old : b;
    case WG_ATOM_MAX: return less ? b : old;
    case WG_ATOM_INC: return (uint32_t)old >= (uint32_t)b ? 0 : old + 1;
    case WG_ATOM_DEC: return (uint32_t)old == 0 || (uint32_t)old > (uint32_t)b ? b : old - 1;
    case WG_ATOM_AND: return old & b;
    case WG_ATOM_OR: return old | b;
    case WG_ATOM_XOR: return old ^ b;
    case WG_ATOM_CAS: return old == b ? c : old;
    default: return b;
    }
}

static uint64_t load(const char *p, unsigned bytes)
{
    return bytes == 2   ? __atomic_load_n((const uint16_t *)p, __ATOMIC_RELAXED)
           : bytes == 4 ? __atomic_load_n((const uint32_t *)p, __ATOMIC_RELAXED)
                        : __atomic_load_n((const uint64_t *)p, __ATOMIC_RELAXED);
}
static void store(char *p, unsigned bytes, uint64_t v)
{
    if (bytes == 2)
        __atomic_store_n((uint16_t *)p, (uint16_t)v, __ATOMIC_RELAXED);
    else if (bytes == 4)
        __atomic_store_n((uint32_t *)p, (uint32_t)v, __ATOMIC_RELAXED);
    else
        __atomic_store_n((uint64_t *)p, v, __ATOMIC_RELAXED);
}
static bool cas(char *p, unsigned bytes, uint64_t *old, uint64_t v)
{
#define CAS(T)                                                                                                         \
    do {                                                                                                               \
        T e = (T)*old;                                                                                                 \
        bool ok = __atomic_compare_exchange_n((T *)p, &e, (T)v, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);            \
        *old = e;                                                                                                      \
        return ok;                                                                                                     \
    } while (0)
    if (bytes == 2)
        CAS(uint16_t);
    if (bytes == 4)
        CAS(uint32_t);
    CAS(uint64_t);
#undef CAS
}

/* Returns the old value. shared: only this worker sees the place. */
static uint64_t one(struct wg_warp *w, const struct wg_mem_desc *d, char *p, bool shared, uint64_t b, uint64_t c)
{
    unsigned bytes = d->elem;
    if (shared || w->wk->run->nworkers == 1) {
        uint64_t old = load(p, bytes), v = apply(d->atom, d->type, !shared, old, b, c);
        if (bytes < 8)
            v &= (1ull << 8 * bytes) - 1;
        w->wk->changes += v != old;
        store(p, bytes, v);
        return old;
    }
    if (d->atom == WG_ATOM_ADD && wg_type_infos[d->type].kind != 'F') {
        w->wk->changes += b != 0;
        return bytes == 4 ? __atomic_fetch_add((uint32_t *)p, (uint32_t)b, __ATOMIC_ACQ_REL)
                          : __atomic_fetch_add((uint64_t *)p, b, __ATOMIC_ACQ_REL);
    }
    uint64_t old = load(p, bytes), v;
    do {
        v = apply(d->atom, d->type, true, old, b, c);
        if (bytes < 8)
            v &= (1ull << 8 * bytes) - 1;
    } while (!cas(p, bytes, &old, v));
    w->wk->changes += v != old;
    return old;
}

static uint64_t lane_of(const char *slot, unsigned cont, unsigned l)
{
    return cont == 2 ? ((const uint16_t *)slot)[l] : cont == 4 ? ((const uint32_t *)slot)[l] : ((const uint64_t *)slot)[l];
}

static void count(struct wg_warp *w, const struct wg_inst *i, const uint64_t *addr, uint32_t on, bool shared,
                  unsigned bytes, bool ones)
{
    struct wg_site_count *c = &w->site[i->site];
    c->access++;
    c->bytes += (uint32_t)__builtin_popcount(on) * bytes;
    if (shared) {
        uint32_t a[WG_LANES];
        for (int l = 0; l < WG_LANES; l++)
            a[l] = (uint32_t)addr[l];
        struct wg_banks x;
        wg_banks_of(ones ? WG_BANKS_COUNT : WG_BANKS_ATOMIC, a, on, bytes, &x);
        c->wavefronts += x.wavefronts;
        c->wavefronts_ideal += x.ideal;
        wg_worst_see(w, i->site, addr, on, bytes, true, x.wavefronts, x.ideal);
        if (wg_patterns_wanted(w))
            wg_patterns_keep(w, i->site, a, on, bytes, x.wavefronts);
    } else {
        struct wg_coalesce x;
        wg_coalesce(addr, on, bytes, &x);
        c->tags += x.lines;
        c->sectors += x.sectors;
        c->sectors_ideal += x.ideal;
        /* nobody shares a sector, so nobody shares an address */
        bool apart = x.sectors == (uint32_t)__builtin_popcount(on);
        c->atom_sectors += apart ? x.sectors : wg_coalesce_atomic_sectors(addr, on, bytes);
        wg_worst_see(w, i->site, addr, on, bytes, false, x.sectors, x.ideal);
    }
}

/* Lanes of `on` whose address is in the window of shared memory; their addresses become offsets. */
static uint32_t shared_lanes(const struct wg_mem_desc *d, uint64_t *addr, uint32_t on)
{
    if (d->space != WG_SITE_GENERIC && d->space != WG_SITE_SHARED)
        return 0;
    uint32_t sh = d->space == WG_SITE_SHARED ? on : 0;
    for (unsigned l = 0; d->space == WG_SITE_GENERIC && l < 32; l++)
        if (addr[l] - WG_SHARED_WINDOW < WG_WINDOW_BYTES)
            sh |= on & 1u << l;
    for (unsigned l = 0; l < 32; l++)
        addr[l] = sh >> l & 1 ? (uint32_t)addr[l] : addr[l];
    return sh;
}

/* The first lane of `on` that is out of bounds or misaligned; -1: none. */
static int bad_lane(const struct wg_warp *w, const uint64_t *addr, uint32_t on, uint32_t sh, unsigned bytes)
{
    const uint64_t hi[2] = {w->wk->hi, w->blk->shared_bytes}, lo[2] = {w->wk->lo, 0};
    for (uint32_t m = on; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m), s = sh >> l & 1;
        if (addr[l] < lo[s] || addr[l] > hi[s] || hi[s] - addr[l] < bytes || (addr[l] & (bytes - 1)))
            return (int)l;
    }
    return -1;
}

/* 32-bit integer sums, nearly all atomics that programs make. */
static void add32(struct wg_warp *w, const uint64_t *addr, uint32_t on, uint32_t sh, const uint32_t *b, uint32_t *result)
{
    bool alone = w->wk->run->nworkers == 1;
    char *shared = w->blk->shared;
    uint32_t changed = 0;
    if (sh == ~0u && !result) {
        for (unsigned l = 0; l < 32; l++) {
            *(uint32_t *)(shared + addr[l]) += b[l];
            changed |= b[l];
        }
        w->wk->changes += changed != 0;
        return;
    }
    for (uint32_t m = on; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        bool s = sh >> l & 1;
        uint32_t *p = s ? (uint32_t *)(shared + addr[l]) : (uint32_t *)(uintptr_t)addr[l], v = b[l], old;
        if (s || alone) {
            old = __atomic_load_n(p, __ATOMIC_RELAXED);
            __atomic_store_n(p, old + v, __ATOMIC_RELAXED);
        } else {
            old = __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL);
        }
        changed |= v;
        if (result)
            result[l] = old;
    }
    w->wk->changes += changed != 0;
}

static void any_lane(struct wg_warp *w, const struct wg_mem_desc *d, char *R, char *p, unsigned l, bool s)
{
    for (unsigned k = 0; k < d->n; k++) {
        uint64_t b = lane_of(R + (d->n > 1 ? d->vb[k] : d->b), d->cont, l);
        uint64_t c = d->c ? lane_of(R + d->c, d->cont, l) : 0;
        if (d->elem < 8) {
            b &= (1ull << 8 * d->elem) - 1;
            c &= (1ull << 8 * d->elem) - 1;
        }
        uint64_t old = one(w, d, p + k * d->elem, s, b, c);
        if (!d->val[k])
            continue;
        if (d->cont == 2)
            WG_VEC(uint16_t, d->val[k])[l] = (uint16_t)old;
        else if (d->cont == 4)
            WG_VEC(uint32_t, d->val[k])[l] = (uint32_t)old;
        else
            WG_VEC(uint64_t, d->val[k])[l] = old;
    }
}

/* The same where some lanes mean other blocks of the cluster, lane after lane. */
static __attribute__((noinline)) const struct wg_inst *elsewhere(struct wg_warp *w, const struct wg_inst *i, char *R,
                                                                 const uint64_t *addr, uint32_t on, uint32_t sh)
{
    const struct wg_mem_desc *d = i->p;
    unsigned bytes = d->elem * d->n;
    struct wg_block *of[WG_LANES] = {0};
    uint64_t at[WG_LANES];
    for (uint32_t m = on; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m), s = sh >> l & 1;
        at[l] = addr[l];
        if (s && !(of[l] = wg_cluster_block(w->blk, &at[l])))
            return wg_cluster_fault(w, i, l, addr[l]);
        uint64_t lo = s ? 0 : w->wk->lo, hi = s ? of[l]->shared_bytes : w->wk->hi;
        bool out = at[l] < lo || at[l] > hi || hi - at[l] < bytes;
        if (out || (at[l] & (bytes - 1)))
            return wg_fault(w, i, WG_KERNEL_FAULT, out ? "out-of-bounds" : "misaligned", (int)l, addr[l],
                            "Invalid __%s__ atomic of size %u bytes: address 0x%llx is %s", s ? "shared" : "global",
                            bytes, (unsigned long long)addr[l], out ? "out of bounds" : "misaligned");
    }
    for (uint32_t left = d->counted ? on & sh : 0; left;) { /* block by block: each has banks of its own */
        unsigned l = (unsigned)__builtin_ctz(left);
        uint32_t group = 0;
        for (uint32_t m = left; m; m &= m - 1)
            group |= of[__builtin_ctz(m)] == of[l] ? m & -m : 0;
        count(w, i, at, group, true, bytes, d->ones);
        left &= ~group;
    }
    if (d->counted && on & ~sh)
        count(w, i, at, on & ~sh, false, bytes, d->ones);
    if (d->counted)
        w->site[i->site].spaces |= (on & ~sh ? 1u << WG_SITE_GLOBAL : 0) | (on & sh ? 1u << WG_SITE_SHARED : 0);
    for (uint32_t m = on; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        any_lane(w, d, R, of[l] ? of[l]->shared + at[l] : (char *)(uintptr_t)at[l], l, of[l] != NULL);
    }
    return i + 1;
}

/* a: address (S, V32 or V64), b and c in the descriptor: operands, always vectors; val[0..n): results */
H(atom)
{
    const struct wg_mem_desc *d = i->p;
    uint32_t on = WG_ON;
    if (!on)
        WG_NEXT;
    uint64_t addr[WG_LANES] __attribute__((aligned(64))), disp = (uint64_t)(int64_t)(int32_t)i->f;
    unsigned bytes = d->elem * d->n;
    if (d->acls == WG_ADDR_S)
        for (unsigned l = 0; l < 32; l++)
            addr[l] = *(const uint64_t *)(R + i->a) + disp;
    else if (d->acls == WG_ADDR_V32)
        for (unsigned l = 0; l < 32; l++)
            addr[l] = WG_VEC(uint32_t, i->a)[l] + disp;
    else
        for (unsigned l = 0; l < 32; l++)
            addr[l] = WG_VEC(uint64_t, i->a)[l] + disp;
    uint32_t sh = shared_lanes(d, addr, on);
    bool good = sh == on ? wg_range_v64(addr, on, 0, 0, w->blk->shared_bytes, bytes)
                         : !sh && wg_range_v64(addr, on, 0, w->wk->lo, w->wk->hi, bytes);
    int bad = good ? -1 : bad_lane(w, addr, on, sh, bytes);
    if (__builtin_expect(bad >= 0, 0)) {
        uint32_t remote = 0;
        for (uint32_t m = d->cluster && w->blk->cluster ? on & sh : 0; m; m &= m - 1)
            remote |= addr[__builtin_ctz(m)] >> WG_CLUSTER_SHIFT ? m & -m : 0;
        if (remote)
            return elsewhere(w, i, R, addr, on, sh);
        bool aligned = !(addr[bad] & (bytes - 1));
        return wg_fault(w, i, WG_KERNEL_FAULT, aligned ? "out-of-bounds" : "misaligned", bad, addr[bad],
                        "Invalid __%s__ atomic of size %u bytes: address 0x%llx is %s",
                        sh >> bad & 1 ? "shared" : "global", bytes, (unsigned long long)addr[bad],
                        aligned ? "out of bounds" : "misaligned");
    }
    if (d->counted) {
        /* ptxas sums lanes that all add to one place and lets one of them go */
        uint32_t go = d->acls == WG_ADDR_S && !d->result && d->n == 1 && wg_type_infos[d->type].kind != 'F' &&
                              d->atom == WG_ATOM_ADD && d->joined ? on & -on : on, gl = go & ~sh;
        w->site[i->site].spaces |= (gl ? 1u << WG_SITE_GLOBAL : 0) | (on & sh ? 1u << WG_SITE_SHARED : 0);
        if (gl)
            count(w, i, addr, gl, false, bytes, d->ones);
        if (go & sh)
            count(w, i, addr, go & sh, true, bytes, d->ones);
    }
    if (d->atom == WG_ATOM_ADD && d->elem == 4 && d->n == 1 && d->cont == 4 && (d->type == WG_T_U32 || d->type == WG_T_S32)) {
        add32(w, addr, on, sh, WG_VEC(uint32_t, d->b), d->val[0] ? WG_VEC(uint32_t, d->val[0]) : NULL);
        WG_NEXT;
    }
    for (uint32_t m = on; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        bool s = sh >> l & 1;
        any_lane(w, d, R, s ? w->blk->shared + addr[l] : (char *)(uintptr_t)addr[l], l, s);
    }
    WG_NEXT;
}

/* ---- for bulk reductions ---- */
void wg_bulk_reduce(char *to, const char *from, uint32_t n, unsigned op, unsigned type, bool global, bool others)
{
    unsigned bytes = wg_type_bytes((enum wg_type)type);
    for (uint32_t k = 0; k + bytes <= n; k += bytes) {
        uint64_t b = 0, old = 0, v;
        memcpy(&b, from + k, bytes);
        if (!others) {
            memcpy(&old, to + k, bytes);
            v = apply(op, type, global, old, b, 0);
            memcpy(to + k, &v, bytes);
            continue;
        }
        old = load(to + k, bytes);
        do {
            v = apply(op, type, global, old, b, 0);
            if (bytes < 8)
                v &= (1ull << 8 * bytes) - 1;
        } while (!cas(to + k, bytes, &old, v));
    }
}
