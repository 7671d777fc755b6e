/* xlane.c - operations across the lanes of a warp: shuffles, votes, match, redux. */
#include "exec/handlers.h"
#include "exec/lanes.h"

/* Lanes named in a .sync mask must be here before anyone goes on. The mask is a (V32), or S when flag. */
#define SYNC_LANES(slot, is_scalar)                                                                                    \
    do {                                                                                                               \
        uint32_t need_ = is_scalar ? *(uint32_t *)(R + (slot)) : WG_VEC(uint32_t, slot)[__builtin_ctz(on)];            \
        if (__builtin_expect(need_ & w->live & ~w->mask, 0)) {                                                         \
            const struct wg_inst *next_;                                                                               \
            if (!w->wide)                                                                                              \
                return wg_deopt(w, i);                                                                                 \
            if (!wg_wide_wait(w, i, need_, false, &next_))                                                             \
                return next_;                                                                                          \
            on = WG_ON;                                                                                                \
        }                                                                                                              \
    } while (0)

/* Which form the slots of a handler have: bits of i->k2. */
enum { B_SCALAR = 1, C_SCALAR = 2, MASK_SCALAR = 4, NO_SYNC = 8 };

/* d|e = shfl.k1 a (V32), b lane, c clamp, f mask */
static void shuffle(const struct wg_warp *w, const struct wg_inst *i, char *R, uint32_t on)
{
    const uint32_t *a = WG_VEC(uint32_t, i->a), *bv = WG_VEC(uint32_t, i->b), *cv = WG_VEC(uint32_t, i->c);
    uint32_t bs = *(uint32_t *)(R + i->b), cs = *(uint32_t *)(R + i->c), out[32], in_range = 0, from_on = w->mask;
    for (uint32_t l = 0; l < 32; l++) {
        uint32_t b = i->k2 & B_SCALAR ? bs : bv[l], c = i->k2 & C_SCALAR ? cs : cv[l];
        uint32_t seg = c >> 8 & 31, clamp = c & 31, max = (l & seg) | (clamp & ~seg), min = l & seg, j;
        bool p;
        b &= 31;
        switch (i->k1) {
        case WG_SHFL_UP:
            j = l - b;
            p = (int32_t)j >= (int32_t)max;
            break;
        case WG_SHFL_DOWN:
            j = l + b;
            p = j <= max;
            break;
        case WG_SHFL_BFLY:
            j = l ^ b;
            p = j <= max;
            break;
        default:
            j = min | (b & ~seg);
            p = j <= max;
            break;
        }
        if (!p)
            j = l;
        /* a lane that does not take part has no defined value: hardware returns the reader's own */
        out[l] = a[(from_on >> (j & 31) & 1) ? j & 31 : l];
        in_range |= (uint32_t)p << l;
    }
    if (i->d) {
        uint32_t *d = WG_VEC(uint32_t, i->d);
        for (uint32_t l = 0; l < 32; l++)
            d[l] = (on >> l & 1) ? out[l] : d[l];
    }
    if (i->e)
        WG_P(i->e) = (WG_P(i->e) & ~on) | (in_range & on);
}
H(shfl)
{
    uint32_t on = WG_ON;
    if (!on)
        WG_NEXT;
    if (!(i->k2 & NO_SYNC))
        SYNC_LANES(i->f, i->k2 & MASK_SCALAR);
    shuffle(w, i, R, on);
    return i + 1;
}

/* d = vote.k1 predicate a (inverted where imm is ~0), mask b. n: d is V32 (ballot). */
H(vote)
{
    uint32_t on = WG_ON, members = ~0u;
    if (!on)
        WG_NEXT;
    if (!(i->k2 & NO_SYNC)) {
        SYNC_LANES(i->b, i->k2 & MASK_SCALAR);
        members = i->k2 & MASK_SCALAR ? *(uint32_t *)(R + i->b) : WG_VEC(uint32_t, i->b)[__builtin_ctz(on)];
    }
    uint32_t who = w->mask & members, p = (WG_P(i->a) ^ (uint32_t)i->imm) & who, r = 0;
    switch (i->k1) {
    case WG_VOTE_ALL: r = p == who ? ~0u : 0; break;
    case WG_VOTE_ANY: r = p ? ~0u : 0; break;
    case WG_VOTE_UNI: r = p == 0 || p == who ? ~0u : 0; break;
    default:
        if (i->n) {
            uint32_t *d = WG_VEC(uint32_t, i->d);
            for (uint32_t l = 0; l < 32; l++)
                d[l] = (on >> l & 1) ? p : d[l];
        } else {
            *(uint64_t *)(R + i->d) = p;
        }
        WG_NEXT;
    }
    on = WG_ON_P;
    WG_P(i->d) = (WG_P(i->d) & ~on) | (r & on);
    WG_NEXT;
}

/* d|e = match.k1 a (V32 or V64 by bytes), mask b */
H(match)
{
    uint32_t on = WG_ON;
    if (!on)
        WG_NEXT;
    SYNC_LANES(i->b, i->k2 & MASK_SCALAR);
    uint32_t members = i->k2 & MASK_SCALAR ? *(uint32_t *)(R + i->b) : WG_VEC(uint32_t, i->b)[__builtin_ctz(on)];
    uint32_t who = w->mask & members, *d = i->d ? WG_VEC(uint32_t, i->d) : NULL, all = 0;
    for (uint32_t l = 0; l < 32; l++) {
        if (!(on >> l & 1))
            continue;
        uint32_t same = 0;
        for (uint32_t k = 0; k < 32; k++)
            same |= (uint32_t)(i->bytes == 8 ? WG_VEC(uint64_t, i->a)[k] == WG_VEC(uint64_t, i->a)[l]
                                             : WG_VEC(uint32_t, i->a)[k] == WG_VEC(uint32_t, i->a)[l])
                    << k;
        same &= who;
        bool is_all = same == who;
        all |= (uint32_t)is_all << l;
        if (d)
            d[l] = i->k1 == WG_VOTE_ALL ? (is_all ? who : 0) : same;
    }
    if (i->e)
        WG_P(i->e) = (WG_P(i->e) & ~on) | (all & on);
    WG_NEXT;
}

/* d = redux.k1 a (V32), mask b; bytes: enum wg_type; n: d is V32 */
H(redux)
{
    uint32_t on = WG_ON;
    if (!on)
        WG_NEXT;
    SYNC_LANES(i->b, i->k2 & MASK_SCALAR);
    uint32_t members = i->k2 & MASK_SCALAR ? *(uint32_t *)(R + i->b) : WG_VEC(uint32_t, i->b)[__builtin_ctz(on)];
    const uint32_t *a = WG_VEC(uint32_t, i->a);
    uint32_t who = w->mask & members, r = 0;
    bool first = true, is_signed = i->bytes == WG_T_S32;
    for (uint32_t m = who; m; m &= m - 1) {
        uint32_t v = a[__builtin_ctz(m)];
        if (first) {
            r = v;
            first = false;
            continue;
        }
        switch (i->k1) {
        case WG_ATOM_ADD: r += v; break;
        case WG_ATOM_AND: r &= v; break;
        case WG_ATOM_OR: r |= v; break;
        case WG_ATOM_XOR: r ^= v; break;
        case WG_ATOM_MIN: r = is_signed ? ((int32_t)v < (int32_t)r ? v : r) : v < r ? v : r; break;
        default: r = is_signed ? ((int32_t)v > (int32_t)r ? v : r) : v > r ? v : r; break;
        }
    }
    if (i->n) {
        uint32_t *d = WG_VEC(uint32_t, i->d);
        for (uint32_t l = 0; l < 32; l++)
            d[l] = (on >> l & 1) ? r : d[l];
    } else {
        *(uint64_t *)(R + i->d) = r;
    }
    WG_NEXT;
}
H(activemask)
{
    uint32_t on = WG_ON;
    if (i->n) {
        uint32_t *d = WG_VEC(uint32_t, i->d);
        for (uint32_t l = 0; l < 32; l++)
            d[l] = (on >> l & 1) ? w->mask : d[l];
    } else if (on) {
        *(uint64_t *)(R + i->d) = w->mask;
    }
    WG_NEXT;
}
/* d|e = elect.sync mask a: the lowest member */
H(elect)
{
    uint32_t on = WG_ON;
    if (!on)
        WG_NEXT;
    SYNC_LANES(i->b, i->k2 & MASK_SCALAR);
    uint32_t members = i->k2 & MASK_SCALAR ? *(uint32_t *)(R + i->b) : WG_VEC(uint32_t, i->b)[__builtin_ctz(on)];
    uint32_t who = w->mask & members, leader = who ? (uint32_t)__builtin_ctz(who) : 0;
    if (i->d) {
        uint32_t *d = WG_VEC(uint32_t, i->d);
        for (uint32_t l = 0; l < 32; l++)
            d[l] = (on >> l & 1) ? leader : d[l];
    }
    if (i->e)
        WG_P(i->e) = (WG_P(i->e) & ~on) | ((1u << leader) & on);
    WG_NEXT;
}
