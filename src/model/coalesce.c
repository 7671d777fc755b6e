/* coalesce.c - counts distinct sectors and lines of a warp access; the hot path of the counters. */
#include "model/coalesce.h"
#include "model/clones.h"
#include <assert.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
typedef uint64_t v4 __attribute__((vector_size(32), aligned(8), may_alias));

INLINE uint64_t fold_or(v4 x) { return (x[0] | x[1]) | (x[2] | x[3]); }
INLINE uint64_t fold_add(v4 x) { return (x[0] + x[1]) + (x[2] + x[3]); }

/* Distinct sectors, lines and addresses of accesses in no order: a small hash of lines. x: address less a line-aligned
 * origin. */
INLINE void distinct_any(const uint64_t x[32], unsigned shift, struct wg_coalesce *out)
{
    uint32_t tag[256], ns = 0, nl = 0, nu = 0, per = WG_SECTOR_BYTES >> shift;
    uint64_t seen[256][2];
    memset(tag, 0xff, sizeof tag);
    for (unsigned i = 0; i < 32; i++) {
        uint32_t line = (uint32_t)(x[i] >> 7), h = line * 0x9e3779b1u >> 24, at = (uint32_t)(x[i] & 127) >> shift;
        while (tag[h] != line && tag[h] != UINT32_MAX)
            h = (h + 1) & 255;
        if (tag[h] != line) {
            tag[h] = line;
            seen[h][0] = seen[h][1] = 0;
            nl++;
        }
        uint64_t *word = &seen[h][at >> 6], bit = (uint64_t)1 << (at & 63);
        uint64_t sector = (((uint64_t)1 << per) - 1) << (at & 63 & ~(per - 1)); /* bits of all that shares its sector */
        ns += !(*word & sector);
        nu += !(*word & bit);
        *word |= bit;
    }
    out->sectors = ns;
    out->lines = nl;
    out->unique = nu << shift;
}

/* The first n of a where they never fall; the other lanes repeat them row by row, as in a block n threads wide. */
INLINE bool distinct_row(const uint64_t *a, unsigned n, unsigned bytes, struct wg_coalesce *out)
{
    uint64_t fell = 0;
    uint32_t unique = 1, sectors = 1, lines = 1;
    for (unsigned i = 1; i < n; i++) {
        uint64_t change = a[i] ^ a[i - 1];
        fell |= a[i] - a[i - 1];
        unique += change != 0;
        sectors += change >> 5 != 0;
        lines += change >> 7 != 0;
    }
    out->unique = unique * bytes;
    out->sectors = sectors;
    out->lines = lines;
    return !(fell >> 63);
}

enum { RUNS = 4 };

/* The same where x (byte offsets, of lanes `bytes` wide) is a few rising runs, as the rows of a narrow block give: merges
 * them. false: more runs than that. */
INLINE bool distinct_runs(const uint64_t x[32], unsigned bytes, struct wg_coalesce *out)
{
    unsigned at[RUNS], end[RUNS], n = 1;
    at[0] = 0;
    for (unsigned i = 1; i < 32; i++)
        if (x[i] < x[i - 1]) {
            if (n == RUNS)
                return false;
            end[n - 1] = i;
            at[n++] = i;
        }
    end[n - 1] = 32;
    while (n > 1 && end[n - 1] - at[n - 1] == end[n - 2] - at[n - 2] &&
           !memcmp(x + at[n - 1], x + at[n - 2], (end[n - 1] - at[n - 1]) * sizeof *x))
        n--; /* a row that repeats the one before */
    uint32_t unique = 0, sectors = 0, lines = 0;
    for (uint64_t last = UINT64_MAX;;) {
        uint64_t least = UINT64_MAX;
        for (unsigned r = 0; r < n; r++)
            if (at[r] < end[r] && x[at[r]] < least)
                least = x[at[r]];
        if (least == UINT64_MAX)
            break;
        unique++;
        sectors += last == UINT64_MAX || least >> 5 != last >> 5;
        lines += last == UINT64_MAX || least >> 7 != last >> 7;
        last = least;
        for (unsigned r = 0; r < n; r++)
            while (at[r] < end[r] && x[at[r]] == least)
                at[r]++;
    }
    out->unique = unique * bytes;
    out->sectors = sectors;
    out->lines = lines;
    return true;
}

static unsigned add_distinct(uint64_t *set, unsigned n, uint64_t v)
{
    for (unsigned i = 0; i < n; i++)
        if (set[i] == v)
            return n;
    set[n] = v;
    return n + 1;
}

/* Misaligned lanes, or ones further apart than 32-bit line numbers reach: every sector, one by one. */
static void coalesce_slow(const uint64_t *a, unsigned n, unsigned bytes, struct wg_coalesce *out)
{
    uint64_t sectors[32 * 5], lines[32 * 2], starts[32];
    unsigned ns = 0, nl = 0, nu = 0;
    for (unsigned i = 0; i < n; i++) {
        uint64_t last = (a[i] + bytes - 1) >> 5;
        nu = add_distinct(starts, nu, a[i]);
        for (uint64_t s = a[i] >> 5; s != ((last + 1) & (UINT64_MAX >> 5)); s = (s + 1) & (UINT64_MAX >> 5)) {
            ns = add_distinct(sectors, ns, s);
            nl = add_distinct(lines, nl, s >> 2);
        }
    }
    out->sectors = ns;
    out->lines = nl;
    out->unique = nu * bytes;
}

INLINE void finish(struct wg_coalesce *out, unsigned lanes, unsigned bytes)
{
    out->bytes = lanes * bytes;
    uint32_t packed = (out->bytes + WG_SECTOR_BYTES - 1) / WG_SECTOR_BYTES;
    out->ideal = packed < out->sectors ? packed : out->sectors;
}

WG_CLONES void wg_coalesce(const uint64_t addr[32], uint32_t mask, unsigned bytes, struct wg_coalesce *out)
{
    assert(bytes >= 1 && bytes <= 128);
    uint64_t packed[32];
    const uint64_t *a = addr;
    unsigned lanes = 32;
    if (mask != UINT32_MAX) {
        *out = (struct wg_coalesce){0};
        if (!mask)
            return;
        lanes = 0;
        for (uint32_t m = mask; m; m &= m - 1)
            packed[lanes++] = addr[__builtin_ctz(m)];
        for (unsigned i = lanes; i < 32; i++)
            packed[i] = packed[lanes - 1]; /* keeps the order, adds nothing */
        a = packed;
    }
    const v4 zero = {0};
    v4 up = {0}, down = {0}, da = {0}, ds = {0}, dl = {0}, odd = {0}, before = zero + a[0];
    for (unsigned i = 0; i < 32; i += 4) {
        v4 x = *(const v4 *)(a + i), previous = __builtin_shufflevector(before, x, 3, 4, 5, 6), change = x ^ previous;
        odd |= x & (bytes - 1);
        up |= x - previous;
        down |= previous - x;
        da -= (v4)(change != 0);
        ds -= (v4)(change >> 5 != 0);
        dl -= (v4)(change >> 7 != 0);
        before = x;
    }
    bool in_order = !(fold_or(up) >> 63) || !(fold_or(down) >> 63);
    if (fold_or(odd) || bytes > WG_SECTOR_BYTES || bytes & (bytes - 1)) {
        coalesce_slow(a, lanes, bytes, out);
    } else if (in_order) { /* never falls, or never rises: each change is a new value */
        out->unique = ((uint32_t)fold_add(da) + 1) * bytes;
        out->sectors = (uint32_t)fold_add(ds) + 1;
        out->lines = (uint32_t)fold_add(dl) + 1;
    } else if (!memcmp(a, a + 16, 16 * sizeof *a) &&
               (distinct_row(a, 16, bytes, out) || (!memcmp(a, a + 8, 8 * sizeof *a) && distinct_row(a, 8, bytes, out)))) {
        /* counted */
    } else {
        uint64_t origin = (a[0] & ~(uint64_t)127) - (1ull << 37), far = 0, x[32];
        for (unsigned i = 0; i < 32; i++) {
            x[i] = a[i] - origin;
            far |= x[i];
        }
        if (far >> 38)
            coalesce_slow(a, lanes, bytes, out);
        else if (!distinct_runs(x, bytes, out))
            distinct_any(x, (unsigned)__builtin_ctz(bytes), out);
    }
    finish(out, lanes, bytes);
}

/* Place of a key in a table of 64, twice as many as there can be keys; 0 marks a free one. */
static unsigned place_of(uint64_t *keys, uint64_t key)
{
    unsigned at = (unsigned)(key * 0x9e3779b97f4a7c15ull >> 58);
    while (keys[at] && keys[at] != key)
        at = (at + 1) & 63;
    keys[at] = key;
    return at;
}

uint32_t wg_coalesce_atomic_sectors(const uint64_t addr[32], uint32_t mask, unsigned bytes)
{
    uint64_t places[64] = {0}, sectors[64] = {0};
    uint8_t count[64] = {0}, most[64] = {0};
    uint32_t total = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t a = addr[__builtin_ctz(m)];
        unsigned sector = place_of(sectors, a / WG_SECTOR_BYTES + 1), n = ++count[place_of(places, a / bytes + 1)];
        if (n > most[sector]) {
            most[sector] = (uint8_t)n;
            total++;
        }
    }
    return total;
}

/* Blocks of `unit` bytes touched by n lanes of `bytes` each, `stride` apart (positive), when no gap exceeds a unit. */
static uint32_t span(uint64_t low, uint64_t stride, unsigned n, unsigned bytes, unsigned unit)
{
    uint64_t high = low + stride * (n - 1) + bytes - 1;
    return (uint32_t)(high / unit - low / unit + 1);
}

void wg_coalesce_affine(uint64_t base, int64_t stride, uint32_t mask, unsigned bytes, struct wg_coalesce *out)
{
    assert(bytes >= 1 && bytes <= 128);
    *out = (struct wg_coalesce){0};
    if (!mask)
        return;
    unsigned first = (unsigned)__builtin_ctz(mask), n = (unsigned)__builtin_popcount(mask);
    uint32_t run = mask >> first;
    uint64_t step = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
    uint64_t a = base + (uint64_t)stride * first, b = a + (uint64_t)stride * (n - 1);
    uint64_t low = stride < 0 ? b : a;
    bool fits = step < 1ull << 40 && low <= UINT64_MAX - step * 32 - 256; /* no wrap inside the warp */
    if (fits && (step == 0 || (run & (run + 1)) == 0)) { /* neighbouring lanes, or all alike */
        bool aligned = (low & (bytes - 1)) == 0 && (step & (bytes - 1)) == 0 && (bytes & (bytes - 1)) == 0 &&
                       bytes <= WG_SECTOR_BYTES;
        if (step <= WG_SECTOR_BYTES)
            out->sectors = span(low, step, n, bytes, WG_SECTOR_BYTES);
        else if (aligned)
            out->sectors = n;
        if (step <= WG_LINE_BYTES)
            out->lines = span(low, step, n, bytes, WG_LINE_BYTES);
        else if (aligned)
            out->lines = n;
        out->unique = (step ? n : 1) * bytes;
        if (out->sectors && out->lines && (step == 0 || step >= bytes)) {
            finish(out, n, bytes);
            return;
        }
    }
    uint64_t addr[32];
    for (unsigned i = 0; i < 32; i++)
        addr[i] = base + (uint64_t)stride * i;
    wg_coalesce(addr, mask, bytes, out);
}

double wg_coalesce_efficiency(const struct wg_coalesce *c)
{
    return c->sectors ? (double)c->bytes / ((double)c->sectors * WG_SECTOR_BYTES) : 0.0;
}
