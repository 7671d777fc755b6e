/* banks.c - counts shared-memory passes of a warp access; the hot path of the counters. */
#include "model/banks.h"
#include "model/clones.h"
#include <assert.h>
#include <stdbool.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
typedef uint32_t v8 __attribute__((vector_size(32), aligned(4), may_alias));

/* Folding through 64-bit halves keeps compilers from extracting eight elements one by one. */
INLINE uint32_t fold_or(v8 x)
{
    union { v8 v; uint64_t q[4]; } u = {.v = x};
    uint64_t q = (u.q[0] | u.q[1]) | (u.q[2] | u.q[3]);
    return (uint32_t)q | (uint32_t)(q >> 32);
}
INLINE uint32_t fold_add(v8 x)
{
    union { v8 v; uint64_t q[4]; } u = {.v = x};
    uint64_t q = (u.q[0] + u.q[1]) + (u.q[2] + u.q[3]); /* each half stays far below 2^32 */
    return (uint32_t)q + (uint32_t)(q >> 32);
}

/* Full adder on 32 one-bit columns: *sum + x + y leaves the low bits in *sum and returns the carries. */
INLINE uint32_t add3(uint32_t *sum, uint32_t x, uint32_t y)
{
    uint32_t t = *sum ^ x, carry = (*sum & x) | (t & y);
    *sum = t ^ y;
    return carry;
}

/* The largest number of b[0..n-1] that have one and the same bit set; n is 8, 16 or 32. Counts all 32 columns at once.
 */
INLINE uint32_t most_in_a_column(const uint32_t *b, unsigned n)
{
    uint32_t ones = 0, twos = 0, fours = 0, eights = 0, sixteens = 0, thirtytwos = 0;
    for (unsigned i = 0; i < n; i += 8) {
        uint32_t x = add3(&ones, b[i], b[i + 1]), y = add3(&ones, b[i + 2], b[i + 3]), f = add3(&twos, x, y);
        x = add3(&ones, b[i + 4], b[i + 5]), y = add3(&ones, b[i + 6], b[i + 7]);
        uint32_t e = add3(&fours, f, add3(&twos, x, y)), s = eights & e;
        eights ^= e;
        thirtytwos |= sixteens & s;
        sixteens ^= s;
    }
    const uint32_t plane[6] = {thirtytwos, sixteens, eights, fours, twos, ones};
    uint32_t among = UINT32_MAX, most = 0;
    for (unsigned p = 0; p < 6; p++) {
        uint32_t t = among & plane[p];
        among = t ? t : among;
        most = most * 2 + (t != 0);
    }
    return most;
}

/* Most distinct units (words, or whole accesses of 8 and 16 bytes, which span as many banks) in one of `banks` banks.
 * u[0..n-1] are the lanes' units, n 8, 16 or 32; lanes that repeat a unit change nothing. */
static uint32_t worst_bank_16(const uint32_t *u, uint32_t banks);
static uint32_t worst_bank_8(const uint32_t *u, uint32_t banks);
INLINE uint32_t worst_bank(const uint32_t *u, unsigned n, uint32_t banks)
{
    v8 used = {0}, changes = {0}, fell = {0}, one = used + 1;
    uint32_t b[32];
    for (unsigned i = 0; i < n; i += 8) {
        v8 x = *(const v8 *)(u + i), y = one << (x & (banks - 1));
        used |= y;
        *(v8 *)(b + i) = y;
        v8 before = __builtin_shufflevector(x, x, 0, 0, 1, 2, 3, 4, 5, 6);
        if (i)
            before = *(const v8 *)(u + i - 1);
        changes -= (v8)(before != x);
        fell |= (v8)(before > x);
    }
    uint32_t falls = fold_or(fell), steps = fold_add(changes), in_use = (uint32_t)__builtin_popcount(fold_or(used));
    if (in_use == n || steps + 1 == in_use) /* no more values than banks in use: one each */
        return 1;
    if (!falls) {
        if (in_use == 1)
            return steps + 1;
        for (unsigned i = n; --i > 0;)
            b[i] = u[i] == u[i - 1] ? 0 : b[i];
    } else if (n > 8 && memcmp(u, u + n / 2, n / 2 * sizeof *u) == 0) { /* rows of a narrow block repeat each other */
        return n == 32 ? worst_bank_16(u, banks) : worst_bank_8(u, banks);
    } else {
        /* a lane adds nothing if an earlier one has its unit: each against all before it, eight at a time */
        uint32_t after[64];
        memset(after, 0xff, 32 * sizeof *after); /* a unit number has its top bits clear */
        memcpy(after + 32, u, n * sizeof *u);
        for (unsigned i = 0; i < n; i += 8) {
            v8 x = *(const v8 *)(u + i), again = {0};
            for (unsigned k = 1; k < i + 8; k++)
                again |= (v8)(x == *(const v8 *)(after + 32 + i - k));
            *(v8 *)(b + i) &= ~again;
        }
    }
    return most_in_a_column(b, n);
}

static uint32_t worst_bank_16(const uint32_t *u, uint32_t banks) { return worst_bank(u, 16, banks); }
static uint32_t worst_bank_8(const uint32_t *u, uint32_t banks) { return worst_bank(u, 8, banks); }

/* Most lanes, repeats and all, in one bank: what atomics cost. */
INLINE uint32_t busiest_bank(const uint32_t *u, uint32_t mask, uint32_t banks)
{
    uint8_t count[WG_BANKS] = {0}, most = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint8_t c = ++count[u[__builtin_ctz(m)] & (banks - 1)];
        most = c > most ? c : most;
    }
    return most;
}

/* worst_bank of the lanes of mask, which lie inside the n (8, 16 or 32) lanes from lo on; 0 for no lanes. */
INLINE uint32_t group_cost(const uint32_t unit[32], uint32_t mask, unsigned lo, unsigned n, uint32_t banks)
{
    uint32_t all = (uint32_t)(((uint64_t)1 << n) - 1) << lo, lanes[32];
    const uint32_t *u = unit + lo;
    if (!(mask & all))
        return 0;
    if ((mask & all) != all) { /* idle lanes repeat a neighbour: the order stays, nothing is added */
        uint32_t last = unit[__builtin_ctz(mask & all)];
        for (unsigned i = 0; i < n; i++)
            lanes[i] = last = mask >> (lo + i) & 1 ? unit[lo + i] : last;
        u = lanes;
    }
    return n == 8 ? worst_bank(u, 8, banks) : n == 16 ? worst_bank(u, 16, banks) : worst_bank(u, 32, banks);
}

/* Whether each lane of mask finds lane i^1 at its address, or each finds lane i^2 so. An inactive neighbour agrees,
 * unless strict. */
static bool paired(const uint32_t *u, uint32_t mask, bool strict)
{
    uint32_t apart1 = 0, apart2 = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned i = (unsigned)__builtin_ctz(m);
        apart1 |= mask >> (i ^ 1) & 1 ? u[i] ^ u[i ^ 1] : strict;
        apart2 |= mask >> (i ^ 2) & 1 ? u[i] ^ u[i ^ 2] : strict;
    }
    return !apart1 || !apart2;
}

INLINE bool paired_full(const uint32_t *u, unsigned n)
{
    v8 one = {0}, two = {0};
    for (unsigned i = 0; i < n; i += 8) {
        v8 x = *(const v8 *)(u + i);
        one |= x ^ __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6);
        two |= x ^ __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5);
    }
    return !fold_or(one) || !fold_or(two);
}

/* Whether the two quarters of the half-warp at lo may share a pass. The upper half follows the published rule; the
 * lower one was seen to want both lanes of each pair active, unless the upper half is idle or has the same lanes
 * active. A missing last lane lets the upper half through. */
static bool quarters_merge(const uint32_t *u, uint32_t mask, unsigned lo)
{
    uint32_t half = mask & 0xffffu << lo;
    if (half == 0xffffu << lo && mask >> 31)
        return paired_full(u + lo, 16);
    if (lo == 0)
        return mask >> 16 == 0 || paired(u, half, mask >> 16 != (mask & 0xffff));
    return !(mask >> 31) || paired(u, half, false);
}

static bool uniform(const uint32_t *u, uint32_t mask)
{
    uint32_t apart = 0, first = u[__builtin_ctz(mask)];
    for (uint32_t m = mask; m; m &= m - 1)
        apart |= u[__builtin_ctz(m)] ^ first;
    return !apart;
}

INLINE void add(struct wg_banks *out, uint32_t cost)
{
    out->wavefronts += cost;
    out->ways = cost > out->ways ? cost : out->ways;
}

INLINE void load_64(const uint32_t *u, uint32_t mask, struct wg_banks *out)
{
    if ((mask == UINT32_MAX ? paired_full(u, 32) : paired(u, mask, false)) && group_cost(u, mask, 0, 32, 16) == 1) {
        add(out, 1);
        return;
    }
    add(out, group_cost(u, mask, 0, 16, 16));
    add(out, group_cost(u, mask, 16, 16, 16));
}

INLINE void load_128(const uint32_t *u, uint32_t mask, struct wg_banks *out)
{
    if (u[__builtin_ctz(mask)] == u[31 - __builtin_clz(mask)] && uniform(u, mask)) {
        out->wavefronts = ((unsigned)__builtin_popcount(mask) + 15) / 16;
        out->ways = 1;
        return;
    }
    for (unsigned lo = 0; lo < 32; lo += 16) {
        uint32_t half = mask & 0xffffu << lo;
        if (half && quarters_merge(u, mask, lo) && group_cost(u, half, lo, 16, 8) == 1) {
            add(out, 1);
        } else {
            add(out, group_cost(u, mask, lo, 8, 8));
            add(out, group_cost(u, mask, lo + 8, 8, 8));
        }
    }
}

/* Passes had the lanes' bytes been packed, as the profiler counts them. */
INLINE void finish(struct wg_banks *out, uint32_t mask, unsigned bytes)
{
    uint32_t packed = ((unsigned)__builtin_popcount(mask) * bytes + 127) / 128;
    out->ideal = packed < out->wavefronts ? packed : out->wavefronts;
}

WG_CLONES void wg_banks_of(enum wg_banks_op op, const uint32_t addr[32], uint32_t mask, unsigned bytes,
                           struct wg_banks *out)
{
    assert(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16);
    unsigned shift = bytes <= 4 ? 2 : bytes == 8 ? 3 : 4, n = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    uint32_t unit[32], banks = (WG_BANKS * WG_BANK_BYTES) >> shift;
    for (unsigned i = 0; i < 32; i++)
        unit[i] = addr[i] >> shift;
    *out = (struct wg_banks){0};
    if (!mask)
        return;
    if (op == WG_BANKS_ATOMIC) {
        for (unsigned lo = 0; lo < 32; lo += n)
            add(out, busiest_bank(unit, mask & (uint32_t)(((uint64_t)1 << n) - 1) << lo, banks));
    } else if (bytes <= 4) {
        add(out, group_cost(unit, mask, 0, 32, banks));
    } else if (op == WG_BANKS_STORE) {
        for (unsigned lo = 0; lo < 32; lo += n)
            add(out, n == 16 ? group_cost(unit, mask, lo, 16, banks) : group_cost(unit, mask, lo, 8, banks));
    } else if (bytes == 8) {
        load_64(unit, mask, out);
    } else {
        load_128(unit, mask, out);
    }
    finish(out, mask, bytes);
}

void wg_banks_matrix(const uint32_t *addr, unsigned n, struct wg_banks *out)
{
    assert(n == 1 || n == 2 || n == 4);
    *out = (struct wg_banks){0};
    for (unsigned m = 0; m < n; m++) {
        uint32_t unit[8];
        for (unsigned r = 0; r < 8; r++)
            unit[r] = addr[8 * m + r] >> 4;
        add(out, worst_bank(unit, 8, 8));
    }
    out->ideal = n;
}

static uint32_t low_bit_at_most(uint32_t v, uint32_t most)
{
    uint32_t b = v & (0 - v);
    return b < most && b ? b : most;
}

void wg_banks_affine_of(enum wg_banks_op op, uint32_t base, int32_t stride, uint32_t mask, unsigned bytes,
                        struct wg_banks *out)
{
    assert(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16);
    uint32_t step = stride < 0 ? 0 - (uint32_t)stride : (uint32_t)stride;
    unsigned unit = bytes < 4 ? 4 : bytes, groups = unit / 4, n = 32 / groups;
    if (mask == UINT32_MAX) {
        if (!step && op != WG_BANKS_ATOMIC) { /* a broadcast */
            out->wavefronts = op == WG_BANKS_STORE ? groups : bytes == 16 ? 2 : 1;
            out->ways = 1;
            finish(out, mask, bytes);
            return;
        }
        uint32_t low = stride < 0 ? base - 31 * step : base;
        if (op != WG_BANKS_ATOMIC && step <= 4 && bytes <= 4 && low % 4 + 31 * step + bytes <= 128) {
            *out = (struct wg_banks){1, 1, 1}; /* inside 32 neighbouring words */
            return;
        }
        if (step && step % unit == 0 && step < 1u << 26) {
            /* n lanes over n unit-wide banks, all units distinct: gcd(units per step, n) lanes meet in each used bank
             */
            out->ways = low_bit_at_most(step / unit, n);
            out->wavefronts = groups * out->ways;
            finish(out, mask, bytes);
            return;
        }
    }
    uint32_t addr[32];
    for (unsigned i = 0; i < 32; i++)
        addr[i] = base + (uint32_t)stride * i;
    wg_banks_of(op, addr, mask, bytes, out);
}
