/* matrix.c - matrix products as tensor cores round them; see matrix.h for what is known about that. */
#include "exec/matrix.h"
#include "exec/half.h"
#include "model/banks.h"
#include "model/coalesce.h"
#include <math.h>

typedef int32_t v8 __attribute__((vector_size(32), aligned(32)));
typedef uint32_t v8u __attribute__((vector_size(32), aligned(32)));

#define NOTHING (-20000) /* exponent of a zero */
enum { FINITE, INFINITE, NOT_A_NUMBER };

/* sig * 2^(exp - fraction bits of the type); sig carries the sign */
struct part { int32_t sig, exp; uint8_t special; };

static unsigned fraction_of(unsigned type) /* of the decoded form */
{
    return type == WG_T_BF16 ? 7 : 10;
}
static struct part decode(uint32_t v, unsigned bits, unsigned ebits, unsigned mbits)
{
    uint32_t mask = (1u << ebits) - 1, e = v >> mbits & mask, m = v & ((1u << mbits) - 1);
    struct part p = {0, NOTHING, FINITE};
    if (e == mask) {
        p.special = m ? NOT_A_NUMBER : INFINITE;
        p.sig = v >> (bits - 1) ? -1 : 1;
        return p;
    }
    if (e)
        m |= 1u << mbits;
    if (m) {
        p.sig = v >> (bits - 1) ? -(int32_t)m : (int32_t)m;
        p.exp = (int32_t)(e ? e : 1) - (int32_t)(mask >> 1);
    }
    return p;
}
static uint16_t e4m3_to_f16(uint32_t v)
{
    uint32_t s = (v & 0x80) << 8, e = v >> 3 & 15, m = v & 7;
    if (e == 15 && m == 7)
        return 0x7fff;
    if (e)
        return (uint16_t)(s | (e + 8) << 10 | m << 7);
    return (uint16_t)(s | wg_f32_to_f16((float)m * 0x1p-9f));
}
static struct part input(uint32_t v, unsigned type)
{
    switch (type) {
    case WG_T_BF16: return decode(v, 16, 8, 7);
    case WG_T_TF32: return decode(v >> 13, 19, 8, 10); /* the low 13 bits are not looked at */
    case WG_T_E4M3: return decode(e4m3_to_f16(v), 16, 5, 10);
    case WG_T_E5M2: return decode(v << 8, 16, 5, 10);
    default: return decode(v, 16, 5, 10);
    }
}
static struct part accumulator(uint32_t v, bool half)
{
    struct part p = half ? decode(v, 16, 5, 10) : decode(v, 32, 8, 23);
    if (half && !p.special)
        p.sig *= 1 << 13; /* both have 23 fraction bits now */
    return p;
}

/* v * 2^unit, cut to f32 */
static uint32_t cut(int64_t v, int unit)
{
    uint32_t s = v < 0 ? 0x80000000u : 0;
    uint64_t m = v < 0 ? (uint64_t)-v : (uint64_t)v;
    if (!m)
        return 0;
    int e = unit + 63 - __builtin_clzll(m);
    if (e < -126)
        e = -126;
    int sh = unit - (e - 23);
    m = sh >= 0 ? m << sh : sh > -64 ? m >> -sh : 0;
    if (e > 127)
        return s | 0x7f800000u;
    return m < 1u << 23 ? s | (uint32_t)m : s | (uint32_t)(e + 127) << 23 | ((uint32_t)m & 0x7fffff);
}

struct wg_matrix_rule wg_matrix_rule_of(unsigned cc, unsigned ta, unsigned tb, unsigned tc, unsigned td, bool sat)
{
    struct wg_matrix_rule r = {.ta = (uint8_t)ta, .tb = (uint8_t)tb, .tc = (uint8_t)tc, .td = (uint8_t)td, .sat = sat};
    r.fraction = cc >= 90 ? 25 : cc >= 80 ? 24 : 23;
    r.run = cc >= 90 ? 16 : cc >= 80 ? 8 : 4;
    if (ta == WG_T_TF32)
        r.run /= 2;
    r.fp8 = ta == WG_T_E4M3 || ta == WG_T_E5M2;
    return r;
}

struct wg_matrix_rule wg_matrix_rule_wgmma(unsigned cc, unsigned ta, unsigned tb, unsigned td, bool sat)
{
    struct wg_matrix_rule r = wg_matrix_rule_of(cc, ta, tb, td, td, sat);
    if (r.fp8) {
        r.fp8 = false;
        r.fraction = 13;
        r.run = 32;
    }
    return r;
}

struct decoded { /* of b: [k][column], of a: [row][k] */
    v8 bsig[64][4], bexp[64][4];
    int32_t asig[32][64], aexp[32][64];
    uint8_t aspecial[32][64], bspecial[32][64]; /* b: [column][k] */
    bool special;
};

/* One element where infinities or NaNs may take part: true and *r if they do. */
static bool special(const struct decoded *x, const uint8_t *sel, unsigned row, unsigned col, unsigned k0, unsigned k1,
                    struct part c, uint32_t *r)
{
    bool nan = c.special == NOT_A_NUMBER, plus = c.special == INFINITE && c.sig > 0,
         minus = c.special == INFINITE && c.sig < 0;
    for (unsigned k = k0; k < k1; k++) {
        unsigned bk = sel ? sel[k] : k;
        unsigned p = x->aspecial[row][k], q = x->bspecial[col][bk];
        int32_t s = x->asig[row][k], u = x->bsig[bk][col / 8][col % 8];
        if (p == FINITE && q == FINITE)
            continue;
        if (p == NOT_A_NUMBER || q == NOT_A_NUMBER || s == 0 || u == 0)
            nan = true;
        else if ((s < 0) == (u < 0))
            plus = true;
        else
            minus = true;
    }
    if (nan || (plus && minus))
        *r = 0x7fffffff;
    else if (plus || minus)
        *r = plus ? 0x7f800000 : 0xff800000;
    return nan || plus || minus;
}

/* Eight columns of one row over one run of k: acc in and out as f32 bits (c: decoded). */
static void run8(const struct decoded *x, const uint8_t *sel, unsigned row, unsigned tile, unsigned k0, unsigned k1,
                 const struct part *c, int up, unsigned fraction, uint32_t *out)
{
    v8 csig, cexp, top, low = {0}, high = {0}, limit = {31, 31, 31, 31, 31, 31, 31, 31};
    uint32_t sig[8], exp[8]; /* element by element into a vector confuses gcc's warnings at AVX-512 */
    for (unsigned j = 0; j < 8; j++) {
        sig[j] = (uint32_t)(c[j].special ? 0 : c[j].sig);
        exp[j] = (uint32_t)(c[j].special ? NOTHING : c[j].exp);
    }
    memcpy(&csig, sig, sizeof csig);
    memcpy(&cexp, exp, sizeof cexp);
    top = cexp;
    for (unsigned k = k0; k < k1; k++) {
        v8 e = x->bexp[sel ? sel[k] : k][tile] + x->aexp[row][k];
        v8 m = e > top;
        top = (e & m) | (top & ~m);
    }
    for (unsigned k = k0; k < k1; k++) {
        unsigned bk = sel ? sel[k] : k;
        v8 p = x->bsig[bk][tile] * x->asig[row][k], s = p >> 31, d = top - (x->bexp[bk][tile] + x->aexp[row][k]);
        v8 far = d > limit;
        d = (limit & far) | (d & ~far);
        v8u mag = (v8u)((p ^ s) - s);
        mag = up < 0 ? mag >> (unsigned)-up : mag << (unsigned)up; /* what goes at the right is zero */
        mag >>= (v8u)d;
        v8 v = ((v8)mag ^ s) - s;
        if (k - k0 < 8) /* eight products of less than 2^27 fit */
            low += v;
        else
            high += v;
    }
    for (unsigned j = 0; j < 8; j++) {
        int d = top[j] - cexp[j];
        uint32_t mag = (uint32_t)(csig[j] < 0 ? -csig[j] : csig[j]);
        mag = fraction < 23 ? mag >> (23 - fraction) : mag << (fraction - 23);
        mag = d > 31 ? 0 : mag >> d;
        int64_t sum = (int64_t)low[j] + high[j] + (csig[j] < 0 ? -(int64_t)mag : (int64_t)mag);
        out[j] = cut(sum, top[j] - (int)fraction);
    }
}

static float as_f32(uint32_t v)
{
    float f;
    memcpy(&f, &v, 4);
    return f;
}
static uint32_t word(float f)
{
    uint32_t v;
    memcpy(&v, &f, 4);
    return f != f ? 0x7fffffff : v;
}

/* The k that comes k-th in the order of the sums. */
static unsigned in_order(const struct wg_matrix_rule *r, unsigned k, unsigned depth)
{
    if (!r->fp8)
        return k;
    unsigned h = depth / 2, second = k >= h;
    k -= second ? h : 0;
    return k / 2 * 4 + k % 2 + 2 * second;
}

void wg_matrix_float(struct wg_matrix_acc *d, const struct wg_matrix_raw *a, const struct wg_matrix_raw *b,
                     const uint8_t (*sel)[64], const struct wg_matrix_acc *c, unsigned m, unsigned n, unsigned k,
                     unsigned depth, const struct wg_matrix_rule *r)
{
    struct decoded x;
    int up = (int)r->fraction - 2 * (int)fraction_of(r->ta);
    x.special = false;
    for (unsigned row = 0; row < m; row++)
        for (unsigned s = 0; s < depth; s++) {
            struct part p = input(a->v[row][in_order(r, s, depth)], r->ta);
            x.asig[row][s] = p.sig;
            x.aexp[row][s] = p.exp;
            x.aspecial[row][s] = p.special;
            x.special |= p.special;
        }
    for (unsigned col = 0; col < n; col++)
        for (unsigned s = 0; s < k; s++) {
            struct part p = input(b->v[col][in_order(r, s, k)], r->tb);
            x.bsig[s][col / 8][col % 8] = p.sig;
            x.bexp[s][col / 8][col % 8] = p.exp;
            x.bspecial[col][s] = p.special;
            x.special |= p.special;
        }
    for (unsigned row = 0; row < m; row++)
        for (unsigned tile = 0; tile < n / 8; tile++) {
            struct part acc[8];
            uint32_t now[8];
            for (unsigned j = 0; j < 8; j++) /* fp8 sums start from nothing */
                acc[j] = r->fp8 ? (struct part){0, NOTHING, FINITE} : accumulator(c->v[row][8 * tile + j], r->tc == WG_T_F16);
            for (unsigned k0 = 0; k0 < depth; k0 += r->run) {
                unsigned k1 = k0 + r->run < depth ? k0 + r->run : depth;
                const uint8_t *s = sel ? sel[row] : NULL;
                run8(&x, s, row, tile, k0, k1, acc, up, r->fraction, now);
                for (unsigned j = 0; j < 8; j++) {
                    if (x.special || acc[j].special)
                        special(&x, s, row, 8 * tile + j, k0, k1, acc[j], &now[j]);
                    if (k1 < depth)
                        acc[j] = accumulator(now[j], false);
                }
            }
            for (unsigned j = 0; j < 8; j++) {
                uint32_t was = c->v[row][8 * tile + j];
                if (r->fp8)
                    now[j] = word(as_f32(now[j]) + (r->tc == WG_T_F16 ? wg_f16_to_f32((uint16_t)was) : as_f32(was)));
                if (r->td != WG_T_F16 && r->fraction < 23 && (now[j] & 0x7f800000) != 0x7f800000)
                    now[j] &= UINT32_MAX << (23 - r->fraction);
                if (r->td == WG_T_F16) {
                    now[j] = wg_f32_to_f16(as_f32(now[j]));
                    now[j] = now[j] == 0x8000 ? 0 : now[j]; /* what rounds to nothing is positive */
                }
                d->v[row][8 * tile + j] = now[j];
            }
        }
}

static int32_t integer(uint32_t v, unsigned type)
{
    switch (type) {
    case WG_T_S8: return (int8_t)v;
    case WG_T_S4: return (int32_t)(v << 28) >> 28;
    default: return (int32_t)v;
    }
}
void wg_matrix_int(struct wg_matrix_acc *d, const struct wg_matrix_raw *a, const struct wg_matrix_raw *b,
                   const uint8_t (*sel)[64], const struct wg_matrix_acc *c, unsigned m, unsigned n, unsigned k,
                   unsigned depth, const struct wg_matrix_rule *r)
{
    v8 y[64][4];
    for (unsigned col = 0; col < n; col++)
        for (unsigned s = 0; s < k; s++)
            y[s][col / 8][col % 8] = integer(b->v[col][s], r->tb);
    for (unsigned row = 0; row < m; row++)
        for (unsigned tile = 0; tile < n / 8; tile++) {
            v8 sum = {0};
            for (unsigned s = 0; s < depth; s++)
                sum += y[sel ? sel[row][s] : s][tile] * integer(a->v[row][s], r->ta);
            for (unsigned j = 0; j < 8; j++) {
                int64_t v = (int64_t)sum[j] + (int32_t)c->v[row][8 * tile + j];
                if (r->sat)
                    v = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
                d->v[row][8 * tile + j] = (uint32_t)v;
            }
        }
}
void wg_matrix_bits(struct wg_matrix_acc *d, const struct wg_matrix_raw *a, const struct wg_matrix_raw *b,
                    const struct wg_matrix_acc *c, unsigned m, unsigned n, unsigned words, bool use_and)
{
    for (unsigned row = 0; row < m; row++)
        for (unsigned col = 0; col < n; col++) {
            uint32_t sum = c->v[row][col];
            for (unsigned k = 0; k < words; k++) {
                uint32_t x = a->v[row][k], y = b->v[col][k];
                sum += (uint32_t)__builtin_popcount(use_and ? x & y : x ^ y);
            }
            d->v[row][col] = sum;
        }
}
void wg_matrix_f64(double *d, const double *a, const double *b, unsigned m, unsigned k)
{
    for (unsigned row = 0; row < m; row++)
        for (unsigned col = 0; col < 8; col++)
            for (unsigned x = 0; x < k; x++)
                d[row * 8 + col] = fma(a[row * 16 + x], b[col * 16 + x], d[row * 8 + col]);
}

void wg_matrix_count(struct wg_site_count *c, const uint64_t *addr, uint32_t on, uint32_t sh, unsigned bytes, bool store)
{
    c->access++;
    c->bytes += (uint32_t)__builtin_popcount(on) * bytes;
    c->spaces |= (on & ~sh ? 1u << WG_SITE_GLOBAL : 0) | (on & sh ? 1u << WG_SITE_SHARED : 0);
    if (on & sh) {
        uint32_t a[WG_LANES];
        struct wg_banks x;
        for (unsigned l = 0; l < 32; l++)
            a[l] = (uint32_t)addr[l];
        wg_banks_of(store ? WG_BANKS_STORE : WG_BANKS_LOAD, a, on & sh, bytes, &x);
        c->wavefronts += x.wavefronts;
        c->wavefronts_ideal += x.ideal;
    }
    if (on & ~sh) {
        struct wg_coalesce x;
        wg_coalesce(addr, on & ~sh, bytes, &x);
        c->tags += x.lines;
        c->sectors += x.sectors;
        c->sectors_ideal += x.ideal;
    }
}
