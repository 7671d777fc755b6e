/* affine.c - handlers on base + stride * lane values, and the changes of class between S, A and V. */
#include "exec/alu.h"
#include "exec/cluster.h"
#include "exec/handlers.h"
#include "exec/lanes.h"
#include <string.h>

/* i->k1 bit k: source k is an A slot (else S); i->bytes: 4 or 8. 32-bit results are kept sign-extended. */
#define BASE(off)        (*(const int64_t *)(R + (off)))
#define STRIDE(bit, off) (i->k1 & (bit) ? *(const int64_t *)(R + (off) + 8) : 0)

static inline void put(char *R, const struct wg_inst *i, uint64_t base, uint64_t stride)
{
    int64_t *d = (int64_t *)(R + i->d);
    if (i->bytes == 4) {
        d[0] = (int32_t)base;
        d[1] = (int32_t)stride;
    } else {
        d[0] = (int64_t)base;
        d[1] = (int64_t)stride;
    }
}

H(a_mov) { put(R, i, (uint64_t)(BASE(i->a) + i->imm), (uint64_t)STRIDE(1, i->a)); WG_NEXT; }
H(a_add)
{
    put(R, i, (uint64_t)BASE(i->a) + (uint64_t)BASE(i->b), (uint64_t)STRIDE(1, i->a) + (uint64_t)STRIDE(2, i->b));
    WG_NEXT;
}
H(a_sub)
{
    put(R, i, (uint64_t)BASE(i->a) - (uint64_t)BASE(i->b), (uint64_t)STRIDE(1, i->a) - (uint64_t)STRIDE(2, i->b));
    WG_NEXT;
}
H(a_neg) { put(R, i, 0 - (uint64_t)BASE(i->a), 0 - (uint64_t)STRIDE(1, i->a)); WG_NEXT; }

/* One factor has stride 0. Modular arithmetic makes the low half right whatever wraps. */
H(a_mul)
{
    uint64_t a = (uint64_t)BASE(i->a), b = (uint64_t)BASE(i->b);
    put(R, i, a * b, (uint64_t)STRIDE(1, i->a) * b + (uint64_t)STRIDE(2, i->b) * a);
    WG_NEXT;
}
H(a_mad)
{
    uint64_t a = (uint64_t)BASE(i->a), b = (uint64_t)BASE(i->b);
    put(R, i, a * b + (uint64_t)BASE(i->c),
        (uint64_t)STRIDE(1, i->a) * b + (uint64_t)STRIDE(2, i->b) * a + (uint64_t)STRIDE(4, i->c));
    WG_NEXT;
}
H(a_shl)
{
    uint32_t n = *(const uint32_t *)(R + i->b), width = i->bytes * 8u;
    if (n >= width)
        put(R, i, 0, 0);
    else
        put(R, i, (uint64_t)BASE(i->a) << n, (uint64_t)STRIDE(1, i->a) << n);
    WG_NEXT;
}
H(a_selp)
{
    bool p = WG_P(i->c) != 0;
    put(R, i, (uint64_t)(p ? BASE(i->a) : BASE(i->b)), (uint64_t)(p ? STRIDE(1, i->a) : STRIDE(2, i->b)));
    WG_NEXT;
}

/* Extends a 32-bit affine value to 64 bits: true if no lane wraps, so that base and stride extend each by itself. */
static inline bool widen(int64_t *base, int64_t *stride, bool is_signed)
{
    int64_t s = (int32_t)*stride, b = is_signed ? (int64_t)(int32_t)*base : (int64_t)(uint32_t)*base, e = b + 31 * s;
    *base = b;
    *stride = s;
    return is_signed ? e >= INT32_MIN && e <= INT32_MAX : e >= 0 && e <= UINT32_MAX;
}

/* mul.wide and mad.wide: k2 bit 0 signed, bit 1 has an addend. */
H(a_mulw)
{
    int64_t ab = BASE(i->a), as = STRIDE(1, i->a), bb = BASE(i->b), bs = STRIDE(2, i->b);
    if (!widen(&ab, &as, i->k2 & 1) || !widen(&bb, &bs, i->k2 & 1))
        return wg_deopt(w, i);
    uint64_t base = (uint64_t)ab * (uint64_t)bb, stride = (uint64_t)as * (uint64_t)bb + (uint64_t)bs * (uint64_t)ab;
    if (i->k2 & 2) {
        base += (uint64_t)BASE(i->c);
        stride += (uint64_t)STRIDE(4, i->c);
    }
    int64_t *d = (int64_t *)(R + i->d);
    d[0] = (int64_t)base;
    d[1] = (int64_t)stride;
    WG_NEXT;
}
/* How 32-bit affine a compares with uniform b; k1: which WG_REL_* hold, k2 bit 0 signed, bit 1 masked. Mostly one answer
 * for the whole warp, or a place where it changes. */
H(a_setp)
{
    int64_t base = BASE(i->a), s = *(const int64_t *)(R + i->a + 8);
    const bool is_signed = i->k2 & 1, whole = widen(&base, &s, is_signed);
    const uint32_t raw = *(const uint32_t *)(R + i->b);
    const int64_t b = is_signed ? (int64_t)(int32_t)raw : (int64_t)raw, last = base + 31 * s;
    uint32_t lt = 0, eq = 0;
    if (whole && base < b && last < b) {
        lt = ~0u;
    } else if (!whole || base <= b || last <= b) {
        for (unsigned l = 0; l < 32; l++) {
            uint32_t x = (uint32_t)((uint64_t)base + (uint64_t)s * l);
            lt |= (uint32_t)(is_signed ? (int32_t)x < (int32_t)raw : x < raw) << l;
            eq |= (uint32_t)(x == raw) << l;
        }
    }
    const uint32_t t = (i->k1 & WG_REL_LT ? lt : 0) | (i->k1 & WG_REL_EQ ? eq : 0) | (i->k1 & WG_REL_GT ? ~(lt | eq) : 0);
    const uint32_t on = i->k2 & 2 ? WG_ON : ~0u;
    WG_P(i->d) = (WG_P(i->d) & ~on) | (t & on);
    WG_NEXT;
}
H(a_widen)
{
    int64_t b = BASE(i->a), s = STRIDE(1, i->a);
    if (!widen(&b, &s, i->k2 & 1))
        return wg_deopt(w, i);
    int64_t *d = (int64_t *)(R + i->d);
    d[0] = b;
    d[1] = s;
    WG_NEXT;
}

/* ---- A and S to V ---- */
H(expand32)
{
    uint32_t b = (uint32_t)BASE(i->a), s = *(const uint32_t *)(R + i->a + 8), *d = WG_VEC(uint32_t, i->d);
    for (uint32_t l = 0; l < 32; l++)
        d[l] = b + s * l;
    WG_NEXT;
}
H(expand64)
{
    uint64_t b = (uint64_t)BASE(i->a), s = *(const uint64_t *)(R + i->a + 8), *d = WG_VEC(uint64_t, i->d);
    uint64_t v = b;
    for (uint32_t l = 0; l < 32; l++, v += s)
        d[l] = v;
    WG_NEXT;
}
#define BCAST(T, bits)                                                                                                 \
    H(bcast##bits)                                                                                                     \
    {                                                                                                                  \
        T v = *(const T *)(R + i->a), *d = WG_VEC(T, i->d);                                                            \
        for (int l = 0; l < 32; l++)                                                                                   \
            d[l] = v;                                                                                                  \
        WG_NEXT;                                                                                                       \
    }                                                                                                                  \
    H(bcastm##bits)                                                                                                    \
    {                                                                                                                  \
        T v = *(const T *)(R + i->a), *d = WG_VEC(T, i->d);                                                            \
        uint32_t m = WG_ON;                                                                                            \
        for (uint32_t l = 0; l < 32; l++)                                                                              \
            d[l] = (m >> l & 1) ? v : d[l];                                                                            \
        WG_NEXT;                                                                                                       \
    }
BCAST(uint16_t, 16)
BCAST(uint32_t, 32)
BCAST(uint64_t, 64)

/* Changes the container: low k1 bytes of a k2-byte lane, extended (n: 1 signed, 0 unsigned), to `bytes` wide lanes. */
static inline uint64_t extend(uint64_t v, unsigned bytes, bool is_signed)
{
    if (bytes >= 8)
        return v;
    unsigned sh = 64 - bytes * 8;
    return is_signed ? (uint64_t)((int64_t)(v << sh) >> sh) : v << sh >> sh;
}
static inline uint64_t lane_get(const char *p, unsigned bytes, unsigned l)
{
    return bytes == 2 ? ((const uint16_t *)p)[l] : bytes == 4 ? ((const uint32_t *)p)[l] : ((const uint64_t *)p)[l];
}
static inline void lane_put(char *p, unsigned bytes, unsigned l, uint64_t v)
{
    if (bytes == 2)
        ((uint16_t *)p)[l] = (uint16_t)v;
    else if (bytes == 4)
        ((uint32_t *)p)[l] = (uint32_t)v;
    else
        ((uint64_t *)p)[l] = v;
}
H(resize)
{
    uint32_t m = WG_ON;
    for (unsigned l = 0; l < 32; l++)
        if (m >> l & 1)
            lane_put(R + i->d, i->bytes, l, extend(lane_get(R + i->a, i->k2, l), i->k1, i->n));
    WG_NEXT;
}
H(resize_s)
{
    if (WG_ON) {
        uint64_t v = extend(*(const uint64_t *)(R + i->a), i->k1, i->n);
        *(uint64_t *)(R + i->d) = extend(v, i->bytes, false);
    }
    WG_NEXT;
}
H(pnot) { WG_P(i->d) = ~WG_P(i->a); WG_NEXT; }
H(pmov)
{
    uint32_t m = WG_ON_P;
    WG_P(i->d) = (WG_P(i->d) & ~m) | ((WG_P(i->a) ^ (uint32_t)i->imm) & m);
    WG_NEXT;
}

/* ---- mov with a vector on one side ---- */
H(pack)
{
    const struct wg_pack_desc *p = i->p;
    uint32_t m = WG_ON;
    for (unsigned l = 0; l < 32; l++) {
        uint64_t v = 0;
        for (unsigned k = 0; k < p->n; k++)
            v |= extend(lane_get(R + p->off[k], p->eb < 2 ? 2 : p->eb, l), p->eb, false) << (8 * p->eb * k);
        if (m >> l & 1)
            lane_put(R + i->d, i->bytes, l, v);
    }
    WG_NEXT;
}
H(pack_s)
{
    const struct wg_pack_desc *p = i->p;
    uint64_t v = 0;
    for (unsigned k = 0; k < p->n; k++)
        v |= extend(*(const uint64_t *)(R + p->off[k]), p->eb, false) << (8 * p->eb * k);
    if (WG_ON)
        *(uint64_t *)(R + i->d) = v;
    WG_NEXT;
}
H(unpack)
{
    const struct wg_pack_desc *p = i->p;
    uint32_t m = WG_ON;
    for (unsigned l = 0; l < 32; l++) {
        if (!(m >> l & 1))
            continue;
        uint64_t v = lane_get(R + i->a, i->bytes, l);
        for (unsigned k = 0; k < p->n; k++)
            if (p->off[k])
                lane_put(R + p->off[k], p->eb < 2 ? 2 : p->eb, l, extend(v >> (8 * p->eb * k), p->eb, false));
    }
    WG_NEXT;
}
H(unpack_s)
{
    const struct wg_pack_desc *p = i->p;
    uint64_t v = *(const uint64_t *)(R + i->a);
    if (WG_ON)
        for (unsigned k = 0; k < p->n; k++)
            if (p->off[k])
                *(uint64_t *)(R + p->off[k]) = extend(v >> (8 * p->eb * k), p->eb, false);
    WG_NEXT;
}

/* ---- special registers: k1 names it ---- */
static uint64_t sreg_scalar(struct wg_warp *w, unsigned s)
{
    const struct wg_block *b = w->blk;
    const struct wg_run *r = w->wk->run;
    switch (s) {
    case WG_SREG_TID_X: return w->tid0[0];
    case WG_SREG_TID_Y: return w->tid0[1];
    case WG_SREG_TID_Z: return w->tid0[2];
    case WG_SREG_NTID_X: return r->block[0];
    case WG_SREG_NTID_Y: return r->block[1];
    case WG_SREG_NTID_Z: return r->block[2];
    case WG_SREG_CTAID_X: return b->ctaid[0];
    case WG_SREG_CTAID_Y: return b->ctaid[1];
    case WG_SREG_CTAID_Z: return b->ctaid[2];
    case WG_SREG_NCTAID_X: return r->grid[0];
    case WG_SREG_NCTAID_Y: return r->grid[1];
    case WG_SREG_NCTAID_Z: return r->grid[2];
    case WG_SREG_WARPID: return w->index;
    case WG_SREG_NWARPID: return r->nwarps;
    case WG_SREG_SMID: return b->linear % wg_run_sms(r);
    case WG_SREG_NSMID: return wg_run_sms(r);
    case WG_SREG_GRIDID: return wg_run_grid_id(r);
    case WG_SREG_CLOCK: return (uint32_t)wg_run_clock(w);
    case WG_SREG_CLOCK_HI: return wg_run_clock(w) >> 32;
    case WG_SREG_CLOCK64: return wg_run_clock(w);
    case WG_SREG_GLOBALTIMER: return wg_run_timer(w);
    case WG_SREG_GLOBALTIMER_LO: return (uint32_t)wg_run_timer(w);
    case WG_SREG_GLOBALTIMER_HI: return wg_run_timer(w) >> 32;
    case WG_SREG_DYNAMIC_SMEM: return r->dynamic_shared;
    case WG_SREG_TOTAL_SMEM: case WG_SREG_AGGR_SMEM: return r->shared_bytes;
    case WG_SREG_ENVREG1: return (uint32_t)(wg_run_workspace(r) >> 32);
    case WG_SREG_ENVREG2: return (uint32_t)wg_run_workspace(r);
    default: return wg_run_cluster_sreg(b, s);
    }
}
H(sreg_s) { *(uint64_t *)(R + i->d) = sreg_scalar(w, i->k1); WG_NEXT; }
H(sreg_a)
{
    int64_t *d = (int64_t *)(R + i->d);
    d[0] = i->k1 == WG_SREG_TID_X ? w->tid0[0] : 0;
    d[1] = 1;
    WG_NEXT;
}
H(sreg_v)
{
    uint32_t m = WG_ON, v[32];
    for (uint32_t l = 0; l < 32; l++) {
        switch (i->k1) {
        case WG_SREG_TID_X: v[l] = w->tid[0][l]; break;
        case WG_SREG_TID_Y: v[l] = w->tid[1][l]; break;
        case WG_SREG_TID_Z: v[l] = w->tid[2][l]; break;
        case WG_SREG_LANEID: v[l] = l; break;
        case WG_SREG_LANEMASK_EQ: v[l] = 1u << l; break;
        case WG_SREG_LANEMASK_LT: v[l] = (1u << l) - 1; break;
        case WG_SREG_LANEMASK_LE: v[l] = (2u << l) - 1; break;
        case WG_SREG_LANEMASK_GT: v[l] = ~((2u << l) - 1); break;
        case WG_SREG_LANEMASK_GE: v[l] = ~((1u << l) - 1); break;
        default: v[l] = 0; break;
        }
    }
    if (i->bytes == 8) {
        uint64_t *d = WG_VEC(uint64_t, i->d);
        for (uint32_t l = 0; l < 32; l++)
            d[l] = (m >> l & 1) ? v[l] : d[l];
    } else {
        uint32_t *d = WG_VEC(uint32_t, i->d);
        for (uint32_t l = 0; l < 32; l++)
            d[l] = (m >> l & 1) ? v[l] : d[l];
    }
    WG_NEXT;
}
/* Address of a .local variable of this frame: imm is its offset in the function's own local memory. */
H(local_addr)
{
    *(uint64_t *)(R + i->d) = (uint64_t)i->imm + wg_frame_of(R)->local_base;
    WG_NEXT;
}

/* isspacep: k1 is the space; a is V64, or S when k2. */
static inline bool in_space(const struct wg_warp *w, uint64_t a, unsigned space)
{
    bool sh = a - WG_SHARED_WINDOW < WG_WINDOW_BYTES, lo = a - WG_LOCAL_WINDOW < WG_WINDOW_BYTES;
    switch (space) {
    case WG_SPACE_SHARED:
        return sh && wg_cluster_rank_of(w->blk, a) == w->blk->cluster_rank;
    case WG_SPACE_SHARED_CLUSTER:
        return sh;
    case WG_SPACE_LOCAL:
        return lo;
    case WG_SPACE_CONST:
        return wg_run_is_const(w->wk->run, a);
    case WG_SPACE_PARAM:
        return a >= w->wk->run->param_addr && a < w->wk->run->param_addr + wg_run_param_bytes(w->wk->run);
    default:
        return !sh && !lo && !wg_run_is_const(w->wk->run, a);
    }
}
H(isspacep)
{
    uint32_t m = WG_ON_P, r = 0;
    if (i->k2)
        r = in_space(w, *(const uint64_t *)(R + i->a), i->k1) ? ~0u : 0;
    else
        for (unsigned l = 0; l < 32; l++)
            r |= (uint32_t)in_space(w, ((const uint64_t *)(R + i->a))[l], i->k1) << l;
    WG_P(i->d) = (WG_P(i->d) & ~m) | (r & m);
    WG_NEXT;
}
