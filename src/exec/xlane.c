/* xlane.c - operations across the lanes of a warp: shuffles, votes, match, redux. */
#include "exec/async.h"
#include "exec/handlers.h"
#include "exec/lanes.h"

/* Every lane that some lane of `on` names. */
WG_INLINE uint32_t all_members(const uint32_t *members, uint32_t on)
{
    uint32_t all = 0;
    for (; on; on &= on - 1)
        all |= members[__builtin_ctz(on)];
    return all;
}

/* Lanes named in a .sync mask must be here before anyone goes on. The mask is a (V32), or S when flag. */
#define SYNC_LANES(slot, is_scalar)                                                                                    \
    do {                                                                                                               \
        uint32_t members_ = is_scalar ? *(uint32_t *)(R + (slot)) : all_members(WG_VEC(uint32_t, slot), on);           \
        WG_TOGETHER(members_);                                                                                         \
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

/* The lanes of `left` that name the same members as the lowest of them. */
static uint32_t same_members(const uint32_t *members, uint32_t left, uint32_t *who)
{
    uint32_t m = members[__builtin_ctz(left)], group = 0;
    for (uint32_t k = left; k; k &= k - 1)
        if (members[__builtin_ctz(k)] == m)
            group |= 1u << __builtin_ctz(k);
    *who = m;
    return group;
}

static uint32_t vote_of(unsigned kind, uint32_t p, uint32_t who)
{
    switch (kind) {
    case WG_VOTE_ALL: return p == who ? ~0u : 0;
    case WG_VOTE_ANY: return p ? ~0u : 0;
    case WG_VOTE_UNI: return p == 0 || p == who ? ~0u : 0;
    default: return p;
    }
}

/* A vote whose lanes name different members: each group votes by itself. */
static const struct wg_inst *vote_groups(struct wg_warp *w, const struct wg_inst *i, char *R, uint32_t on)
{
    uint32_t mv[WG_LANES]; /* d may be the masks */
    memcpy(mv, WG_VEC(uint32_t, i->b), sizeof mv);
    uint32_t truth = WG_P(i->a) ^ (uint32_t)i->imm, r = 0;
    for (uint32_t left = on; left;) {
        uint32_t who, group = same_members(mv, left, &who), v;
        who &= w->mask;
        v = vote_of(i->k1, truth & who, who);
        for (uint32_t k = group; k; k &= k - 1) {
            unsigned l = (unsigned)__builtin_ctz(k);
            if (i->k1 == WG_VOTE_BALLOT)
                WG_VEC(uint32_t, i->d)[l] = v;
            else
                r |= v & 1u << l;
        }
        left &= ~group;
    }
    if (i->k1 != WG_VOTE_BALLOT)
        WG_P(i->d) = (WG_P(i->d) & ~on) | (r & on);
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
        if (i->k2 & MASK_SCALAR)
            members = *(uint32_t *)(R + i->b);
        else
            return vote_groups(w, i, R, on);
    }
    uint32_t who = w->mask & members, r = vote_of(i->k1, (WG_P(i->a) ^ (uint32_t)i->imm) & who, who), p = r;
    if (i->k1 == WG_VOTE_BALLOT) {
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
    uint32_t all = 0, out[WG_LANES]; /* d may be a */
    for (uint32_t l = 0; l < 32; l++) {
        if (!(on >> l & 1))
            continue;
        uint32_t who = w->mask & (i->k2 & MASK_SCALAR ? *(uint32_t *)(R + i->b) : WG_VEC(uint32_t, i->b)[l]), same = 0;
        for (uint32_t k = 0; k < 32; k++)
            same |= (uint32_t)(i->bytes == 8 ? WG_VEC(uint64_t, i->a)[k] == WG_VEC(uint64_t, i->a)[l]
                                             : WG_VEC(uint32_t, i->a)[k] == WG_VEC(uint32_t, i->a)[l])
                    << k;
        same &= who;
        bool is_all = same == who;
        all |= (uint32_t)is_all << l;
        out[l] = i->k1 == WG_VOTE_ALL ? (is_all ? who : 0) : same;
    }
    for (uint32_t m = i->d ? on : 0; m; m &= m - 1)
        WG_VEC(uint32_t, i->d)[__builtin_ctz(m)] = out[__builtin_ctz(m)];
    if (i->e)
        WG_P(i->e) = (WG_P(i->e) & ~on) | (all & on);
    WG_NEXT;
}

static uint32_t reduce(unsigned op, bool is_signed, const uint32_t *a, uint32_t who)
{
    uint32_t r = a[__builtin_ctz(who)];
    for (uint32_t m = who & (who - 1); m; m &= m - 1) {
        uint32_t v = a[__builtin_ctz(m)];
        switch (op) {
        case WG_ATOM_ADD: r += v; break;
        case WG_ATOM_AND: r &= v; break;
        case WG_ATOM_OR: r |= v; break;
        case WG_ATOM_XOR: r ^= v; break;
        case WG_ATOM_MIN: r = is_signed ? ((int32_t)v < (int32_t)r ? v : r) : v < r ? v : r; break;
        default: r = is_signed ? ((int32_t)v > (int32_t)r ? v : r) : v > r ? v : r; break;
        }
    }
    return r;
}
/* d = redux.k1 a (V32), mask b; bytes: enum wg_type; n: d is V32 */
H(redux)
{
    uint32_t on = WG_ON;
    if (!on)
        WG_NEXT;
    SYNC_LANES(i->b, i->k2 & MASK_SCALAR);
    uint32_t a[WG_LANES]; /* d may be a */
    memcpy(a, WG_VEC(uint32_t, i->a), sizeof a);
    for (uint32_t left = on; left;) {
        uint32_t who = *(uint32_t *)(R + i->b), group = left;
        if (!(i->k2 & MASK_SCALAR))
            group = same_members(WG_VEC(uint32_t, i->b), left, &who);
        left &= ~group;
        who &= w->mask;
        if (!who)
            continue; /* names nobody who is here: no result */
        uint32_t r = reduce(i->k1, i->bytes == WG_T_S32, a, who);
        if (!i->n)
            *(uint64_t *)(R + i->d) = r;
        else
            for (uint32_t k = group; k; k &= k - 1)
                WG_VEC(uint32_t, i->d)[__builtin_ctz(k)] = r;
    }
    WG_NEXT;
}
H(activemask)
{
    uint32_t on = WG_ON;
    if (i->n) {
        uint32_t *d = WG_VEC(uint32_t, i->d);
        for (uint32_t l = 0; l < 32; l++)
            d[l] = (on >> l & 1) ? on : d[l];
    } else if (on) {
        *(uint64_t *)(R + i->d) = on;
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
