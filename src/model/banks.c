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

/* Whether lanes i and i^1, or failing that i and i^2, agree for every pair of which both are active. */
INLINE bool paired(const uint32_t *addr, uint32_t mask)
{
    if (mask == UINT32_MAX) {
        v8 one = {0}, two = {0};
        for (unsigned i = 0; i < 32; i += 8) {
            v8 x = *(const v8 *)(addr + i);
            one |= x ^ __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6);
            two |= x ^ __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5);
        }
        return !fold_or(one) || !fold_or(two);
    }
    for (unsigned k = 1; k <= 2; k++) {
        bool differ = false;
        for (unsigned i = 0; i < 32 && !differ; i++)
            differ = (mask >> i & 1) && (mask >> (i ^ k) & 1) && addr[i] != addr[i ^ k];
        if (!differ)
            return true;
    }
    return false;
}

/* Inlined into wg_banks and its clones. */
INLINE unsigned groups(const uint32_t addr[32], uint32_t mask, unsigned bytes, uint32_t group[4])
{
    unsigned parts = bytes <= 4 ? 1 : bytes == 8 ? 2 : 4, width, n = 0;
    if (parts > 1 && paired(addr, mask))
        parts /= 2;
    width = 32 / parts;
    for (unsigned p = 0; p < parts; p++) {
        uint32_t m = mask & ((width == 32 ? UINT32_MAX : (1u << width) - 1) << (p * width));
        if (m)
            group[n++] = m;
    }
    return n;
}

unsigned wg_banks_groups(const uint32_t addr[32], uint32_t mask, unsigned bytes, uint32_t group[4])
{
    return groups(addr, mask, bytes, group);
}

/* Full adder on 32 one-bit columns: *sum + x + y leaves the low bits in *sum and returns the carries. */
INLINE uint32_t add3(uint32_t *sum, uint32_t x, uint32_t y)
{
    uint32_t t = *sum ^ x, carry = (*sum & x) | (t & y);
    *sum = t ^ y;
    return carry;
}

/* The largest number of b[0..n-1] that have one and the same bit set; n is 8, 16 or 32. Counts all 32 columns at once. */
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
    } else {
        uint32_t tag[256], slots = n * 8, shift = n == 32 ? 24 : n == 16 ? 25 : 26; /* a small hash of the units seen */
        memset(tag, 0xff, slots * sizeof *tag);
        for (unsigned i = 0; i < n; i++) {
            uint32_t h = u[i] * 0x9e3779b1u >> shift;
            while (tag[h] != u[i] && tag[h] != UINT32_MAX) /* a unit number has its top bits clear */
                h = (h + 1) & (slots - 1);
            b[i] = tag[h] == u[i] ? 0 : b[i];
            tag[h] = u[i];
        }
    }
    return most_in_a_column(b, n);
}

WG_CLONES void wg_banks(const uint32_t addr[32], uint32_t mask, unsigned bytes, struct wg_banks *out)
{
    assert(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16);
    unsigned shift = bytes <= 4 ? 2 : bytes == 8 ? 3 : 4;
    uint32_t unit[32], group[4] = {0};
    for (unsigned i = 0; i < 32; i++)
        unit[i] = addr[i] >> shift;
    if (mask == UINT32_MAX && bytes <= 4) {
        out->wavefronts = out->ways = worst_bank(unit, 32, WG_BANKS);
        out->ideal = 1;
        return;
    }
    *out = (struct wg_banks){0};
    out->ideal = groups(unit, mask, bytes, group);
    for (unsigned g = 0; g < out->ideal; g++) {
        unsigned lo = (unsigned)__builtin_ctz(group[g]) & ~7u, n = 8;
        if (group[g] >> lo > 0xff)
            lo &= ~15u, n = 16;
        if (group[g] >> lo > 0xffff)
            lo = 0, n = 32;
        uint32_t lanes[32], banks = (WG_BANKS * WG_BANK_BYTES) >> shift;
        const uint32_t *u = unit + lo;
        if (group[g] != (uint32_t)(((uint64_t)1 << n) - 1) << lo) { /* idle lanes repeat a neighbour */
            uint32_t last = unit[__builtin_ctz(group[g])];
            for (unsigned i = 0; i < n; i++)
                lanes[i] = last = group[g] >> (lo + i) & 1 ? unit[lo + i] : last;
            u = lanes;
        }
        uint32_t w = n == 8 ? worst_bank(u, 8, banks) : n == 16 ? worst_bank(u, 16, banks) : worst_bank(u, 32, banks);
        out->wavefronts += w;
        out->ways = w > out->ways ? w : out->ways;
    }
}

static uint32_t low_bit_at_most(uint32_t v, uint32_t most)
{
    uint32_t b = v & (0 - v);
    return b < most && b ? b : most;
}

void wg_banks_affine(uint32_t base, int32_t stride, uint32_t mask, unsigned bytes, struct wg_banks *out)
{
    assert(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16);
    uint32_t step = stride < 0 ? 0 - (uint32_t)stride : (uint32_t)stride;
    unsigned unit = bytes < 4 ? 4 : bytes;
    if (mask == UINT32_MAX) {
        if (!step) {
            out->wavefronts = out->ideal = bytes == 16 ? 2 : 1;
            out->ways = 1;
            return;
        }
        uint32_t low = stride < 0 ? base - 31 * step : base;
        if (step <= 4 && bytes <= 4 && low % 4 + 31 * step + bytes <= 128) { /* inside 32 neighbouring words */
            *out = (struct wg_banks){1, 1, 1};
            return;
        }
        if (step % unit == 0 && step < 1u << 26) {
            /* n lanes over n unit-wide banks, all units distinct: gcd(units per step, n) lanes meet in each used bank */
            unsigned groups = unit / 4, n = 32 / groups;
            out->ways = low_bit_at_most(step / unit, n);
            out->ideal = groups;
            out->wavefronts = groups * out->ways;
            return;
        }
    }
    uint32_t addr[32];
    for (unsigned i = 0; i < 32; i++)
        addr[i] = base + (uint32_t)stride * i;
    wg_banks(addr, mask, bytes, out);
}
