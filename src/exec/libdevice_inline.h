/* libdevice_inline.h - the meanings in libdevice.def that vectorise: branch-free, no libm, no trap on any bits. */
#ifndef WG_EXEC_LIBDEVICE_INLINE_H
#define WG_EXEC_LIBDEVICE_INLINE_H
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include "exec/approx.h"

#define WG_LOG2E   0x1.71547652b82fep+0
#define WG_LOG2_10 0x1.a934f0979a371p+1
#define WG_LN2     0x1.62e42fefa39efp-1
#define WG_LOG10_2 0x1.34413509f79ffp-2
#define WG_1_PI    0x1.45f306dc9c883p-2
#define WG_1_2PI   0x1.45f306dc9c883p-3
/* pi in two parts; the first has 33 bits, so that an integer below 2^20 (or a half) times it is exact */
#define WG_PI_HI 0x1.921fb54400000p+1
#define WG_PI_LO 0x1.0b4611a626331p-33

/* log2(a) * scale, with log's special values */
WG_APPROX_FN float wg_nv_logf(float a, double scale)
{
    float r = (float)(wg_log2_core((double)a) * scale);
    r = a == 0.0f ? -__builtin_inff() : r;
    r = a == __builtin_inff() ? a : r;
    return a >= 0.0f ? r : __builtin_nanf("");
}

/* beyond this the two-part pi is too short; also true of infinities and NaN */
WG_APPROX_FN bool wg_nv_trig_slow(float a)
{
    return !(__builtin_fabsf(a) < 0x1p20f);
}

/* sin(a) = (-1)^k sin(a - k pi), k the integer nearest a/pi */
WG_APPROX_FN float wg_nv_sinf(float a)
{
    double x = (double)a, m = x * WG_1_PI + WG_ROUND_MAGIC_, k = m - WG_ROUND_MAGIC_;
    double r = (x - k * WG_PI_HI) - k * WG_PI_LO;
    uint64_t odd = wg_f64_bits(m) << 63;
    return (float)wg_bits_f64(wg_f64_bits(wg_sin2pi_core(r * WG_1_2PI)) ^ odd);
}

/* cos(a) = -(-1)^k sin(a - (k + 1/2) pi) */
WG_APPROX_FN float wg_nv_cosf(float a)
{
    double x = (double)a, m = (x * WG_1_PI - 0.5) + WG_ROUND_MAGIC_, h = (m - WG_ROUND_MAGIC_) + 0.5;
    double r = (x - h * WG_PI_HI) - h * WG_PI_LO;
    uint64_t even = ~wg_f64_bits(m) << 63;
    return (float)wg_bits_f64(wg_f64_bits(wg_sin2pi_core(r * WG_1_2PI)) ^ even);
}

/* whatever 2^(b log2 a) does not cover: base not positive and finite, exponent not finite */
WG_APPROX_FN bool wg_nv_powf_slow(float a, float b)
{
    return !(a > 0.0f && a < __builtin_inff() && b - b == 0.0f);
}

/* a signalling NaN made quiet, as arithmetic does; compilers' open-coded rounding may let one through */
WG_APPROX_FN double wg_nv_quiet(double a)
{
    return a == a ? a : wg_bits_f64(wg_f64_bits(a) | 0x0008000000000000u);
}

/* The smaller (larger) number; a NaN (the second) only if both are; -0 is below +0. */
WG_APPROX_FN float wg_nv_fminf(float a, float b)
{
    float r = a < b || (a == b && (wg_f32_bits(a) >> 31)) ? a : b;
    r = b != b ? a : r;
    return a != a ? b : r;
}

WG_APPROX_FN float wg_nv_fmaxf(float a, float b)
{
    float r = a > b || (a == b && !(wg_f32_bits(a) >> 31)) ? a : b;
    r = b != b ? a : r;
    return a != a ? b : r;
}

WG_APPROX_FN double wg_nv_fmin(double a, double b)
{
    double r = a < b || (a == b && (wg_f64_bits(a) >> 63)) ? a : b;
    r = b != b ? a : r;
    return wg_nv_quiet(a != a ? b : r);
}

WG_APPROX_FN double wg_nv_fmax(double a, double b)
{
    double r = a > b || (a == b && !(wg_f64_bits(a) >> 63)) ? a : b;
    r = b != b ? a : r;
    return wg_nv_quiet(a != a ? b : r);
}

/* Which NaN a double operation passes on: the first of two in the order given (the GPU's, measured on an H200; x86 has
 * another, and compilers swap operands), quieted; where there was none, the one that both make. */
WG_APPROX_FN double wg_nv_nan(double r, double first, double second)
{
    double n = first != first ? first : second != second ? second : wg_bits_f64(0xfff8000000000000u);
    return r == r ? r : wg_nv_quiet(n);
}

/* to [+0, 1]; NaN to +0 */
WG_APPROX_FN float wg_nv_saturatef(float a)
{
    float r = a > 0.0f ? a : 0.0f;
    return r < 1.0f ? r : 1.0f;
}

/* e^a below 0.9 ulp: a = k ln2 + r, e^r = 1 + r + r^2 P(r), times 2^k in two steps so that subnormal results work */
WG_APPROX_FN double wg_nv_exp(double a)
{
    double x = a > 710.0 ? 710.0 : a;
    x = x < -746.0 ? -746.0 : x;
    double k = (x * WG_LOG2E + WG_ROUND_MAGIC_) - WG_ROUND_MAGIC_;
    double hi = x - k * 0x1.62e42fee00000p-1, lo = k * 0x1.a39ef35793c76p-33; /* ln2 in 32 bits and the rest */
    double r = hi - lo, c = (hi - r) - lo;
    /* (e^r - 1 - r)/r^2 on +-ln2/2, 2^-59.3 */
    double p = 0x1.1f730349868cep-29;
    p = p * r + 0x1.af4de97ca4194p-26;
    p = p * r + 0x1.27e4db646b17ep-22;
    p = p * r + 0x1.71de0231960ebp-19;
    p = p * r + 0x1.a01a01a6d889cp-16;
    p = p * r + 0x1.a01a01abe7fe1p-13;
    p = p * r + 0x1.6c16c16c162d4p-10;
    p = p * r + 0x1.11111111100dcp-7;
    p = p * r + 0x1.5555555555556p-5;
    p = p * r + 0x1.5555555555557p-3;
    p = p * r + 0.5;
    double e = 1.0 + (r + (r * r * p + c));
    double m1 = k * 0.5 + WG_ROUND_MAGIC_, k1 = m1 - WG_ROUND_MAGIC_, m2 = (k - k1) + WG_ROUND_MAGIC_;
    double s1 = wg_bits_f64((wg_f64_bits(m1) + 1023) << 52), s2 = wg_bits_f64((wg_f64_bits(m2) + 1023) << 52);
    return a == a ? e * s1 * s2 : a;
}

/* ln(a) below 0.9 ulp: a = 2^k (1 + f), s = f/(2 + f), ln(1 + f) = f - (f^2/2 - s (f^2/2 + R(s^2))) */
WG_APPROX_FN double wg_nv_log(double a)
{
    bool tiny = a < 0x1p-1022;
    double x = tiny ? a * 0x1p54 : a;
    uint64_t u = wg_f64_bits(x) - 0x3fe6a09e667f3bcdu;
    double k = wg_bits_f64(((u >> 52) ^ 0x800u) | 0x4330000000000000u) - 0x1.00000000008p52;
    k = tiny ? k - 54.0 : k;
    double f = wg_bits_f64((u & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1.0;
    double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
    /* (ln((1+s)/(1-s)) - 2s)/s^3 in s^2, 2^-58.7 */
    double p = 0x1.0c0aff044a970p-3;
    p = p * z + 0x1.0fbde0f4ad17bp-3;
    p = p * z + 0x1.3b1c3c1c81c8fp-3;
    p = p * z + 0x1.745cf8e4bba1bp-3;
    p = p * z + 0x1.c71c7201a55d7p-3;
    p = p * z + 0x1.2492492476a1ap-2;
    p = p * z + 0x1.9999999999a39p-2;
    p = p * z + 0x1.5555555555555p-1;
    double r = k * 0x1.62e42fee00000p-1 - ((half - (s * (half + z * p) + k * 0x1.a39ef35793c76p-33)) - f);
    r = a == 0.0 ? -__builtin_inf() : r;
    r = a == __builtin_inf() ? a : r;
    return a >= 0.0 ? r : __builtin_nan("");
}

/* 1/sqrt(a), correctly rounded: the double nearest, made odd where inexact, rounds right */
WG_APPROX_FN float wg_nv_frsqrt_rn(float a)
{
    double x = (double)a, y = 1.0 / __builtin_sqrt(x);
    double h = y * y, l = __builtin_fma(y, y, -h);
    double rest = __builtin_fma(-x, l, __builtin_fma(-x, h, 1.0)); /* the sign of 1 - x y^2 */
    uint64_t u = wg_f64_bits(y);
    uint64_t v = rest > 0.0 ? u + 1 : rest < 0.0 ? u - 1 : u;
    return (float)wg_bits_f64((u & 1) ? u : v);
}

/* Integral (or for _rz any) doubles to integers as cvt does: saturating; NaN is 0 from f32 to 32 bits, else the top
 * bit. */
WG_APPROX_FN int32_t wg_nv_f2i(double v)
{
    v = v < 2147483647.0 ? v : v == v ? 2147483647.0 : 0.0;
    v = v > -2147483648.0 ? v : -2147483648.0;
    return (int32_t)v;
}

WG_APPROX_FN int32_t wg_nv_d2i(double v)
{
    v = v < 2147483647.0 ? v : v == v ? 2147483647.0 : -2147483648.0;
    v = v > -2147483648.0 ? v : -2147483648.0;
    return (int32_t)v;
}

WG_APPROX_FN uint32_t wg_nv_f2u(double v)
{
    v = v > 0.0 ? v : 0.0;
    v = v < 4294967295.0 ? __builtin_trunc(v) : 4294967295.0;
    return (uint32_t)(int32_t)(v - 2147483648.0) ^ 0x80000000u;
}

WG_APPROX_FN uint32_t wg_nv_d2u(double v)
{
    return v == v ? wg_nv_f2u(v) : 0x80000000u;
}

static inline int64_t wg_nv_d2ll(double v)
{
    if (v >= 0x1p63)
        return INT64_MAX;
    return v > -0x1p63 ? (int64_t)v : INT64_MIN; /* NaN too */
}

static inline uint64_t wg_nv_d2ull(double v)
{
    if (v >= 0x1p64)
        return UINT64_MAX;
    if (v != v)
        return (uint64_t)1 << 63;
    if (v >= 0x1p63)
        return (uint64_t)(int64_t)(v - 0x1p63) + ((uint64_t)1 << 63);
    return v > 0.0 ? (uint64_t)(int64_t)v : 0;
}

/* Unsigned to floating with one rounding in the mode in force; compilers' own sequences make -0 of 0 rounding down. */
static inline float wg_nv_ull2f(uint64_t a)
{
    return a >> 63 ? (float)(int64_t)(a >> 1 | (a & 1)) * 2.0f : (float)(int64_t)a;
}

static inline double wg_nv_ull2d(uint64_t a)
{
    return a >> 63 ? (double)(int64_t)(a >> 1 | (a & 1)) * 2.0 : (double)(int64_t)a;
}

static inline int32_t wg_nv_ilogb(double a)
{
    if (a == 0.0 || a != a)
        return INT_MIN;
    return a - a == 0.0 ? ilogb(a) : INT_MAX;
}

WG_APPROX_FN uint32_t wg_nv_brev(uint32_t x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}

/* byte n of the result is byte (sel >> 4n & 7) of b:a */
WG_APPROX_FN uint32_t wg_nv_byte_perm(uint32_t a, uint32_t b, uint32_t sel)
{
    uint64_t v = (uint64_t)b << 32 | a;
    uint32_t r = 0;
    for (int n = 0; n < 4; n++)
        r |= (uint32_t)(v >> 8 * (sel >> 4 * n & 7) & 0xff) << 8 * n;
    return r;
}

WG_APPROX_FN int32_t wg_nv_mul24(int32_t a, int32_t b)
{
    int32_t x = (int32_t)((uint32_t)a << 8) >> 8, y = (int32_t)((uint32_t)b << 8) >> 8;
    return (int32_t)((uint32_t)x * (uint32_t)y);
}

WG_APPROX_FN int wg_nv_clamp(int v, int lo, int hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}
/* half of a sum, halves away from zero */
WG_APPROX_FN int wg_nv_avg_away(int sum)
{
    return (sum + (sum > 0)) >> 1;
}
WG_APPROX_FN uint32_t wg_nv_sum2(uint32_t w)
{
    return (w & 0xffffu) + (w >> 16);
}
WG_APPROX_FN uint32_t wg_nv_sum4(uint32_t w)
{
    return (w & 0xffu) + (w >> 8 & 0xffu) + (w >> 16 & 0xffu) + (w >> 24);
}

/* expr for each element x of a (and y of b), reduced modulo the element, packed again */
#define WG_PACK1_(type, bits, n, a, expr)                                                                              \
    ({                                                                                                                 \
        uint32_t r_ = 0;                                                                                               \
        for (int k_ = 0; k_ < (n); k_++) {                                                                             \
            int x = (type)((a) >> (bits) * k_);                                                                        \
            r_ |= ((uint32_t)(expr) & ((1u << (bits)) - 1)) << (bits) * k_;                                            \
        }                                                                                                              \
        r_;                                                                                                            \
    })
#define WG_PACK2_(type, bits, n, a, b, expr)                                                                           \
    ({                                                                                                                 \
        uint32_t r_ = 0;                                                                                               \
        for (int k_ = 0; k_ < (n); k_++) {                                                                             \
            int x = (type)((a) >> (bits) * k_), y = (type)((b) >> (bits) * k_);                                        \
            r_ |= ((uint32_t)(expr) & ((1u << (bits)) - 1)) << (bits) * k_;                                            \
        }                                                                                                              \
        r_;                                                                                                            \
    })
#define HALVESS1(a, expr)    WG_PACK1_(int16_t, 16, 2, a, expr)
#define BYTESS1(a, expr)     WG_PACK1_(int8_t, 8, 4, a, expr)
#define HALVESS2(a, b, expr) WG_PACK2_(int16_t, 16, 2, a, b, expr)
#define BYTESS2(a, b, expr)  WG_PACK2_(int8_t, 8, 4, a, b, expr)
#define HALVESU2(a, b, expr) WG_PACK2_(uint16_t, 16, 2, a, b, expr)
#define BYTESU2(a, b, expr)  WG_PACK2_(uint8_t, 8, 4, a, b, expr)

/* ---- lanes: reading argument words, writing result words ---- */
typedef float wg_nvt_f, wg_nvt_r;
typedef double wg_nvt_d;
typedef int32_t wg_nvt_i;
typedef uint32_t wg_nvt_u;
typedef int64_t wg_nvt_l;
typedef uint64_t wg_nvt_m, wg_nvt_p;
typedef uint16_t wg_nvt_h;
typedef int wg_nvt_v;
enum {
    WG_NVN_v = 0,
    WG_NVN_f = 4,
    WG_NVN_r = 4,
    WG_NVN_d = 8,
    WG_NVN_i = 4,
    WG_NVN_u = 4,
    WG_NVN_l = 8,
    WG_NVN_m = 8,
    WG_NVN_p = 8,
    WG_NVN_h = 2
};

#define WG_NVG64_(w, l) ((uint64_t)(w)[32 + (l)] << 32 | (w)[l])
#define WG_NVG_f(w, l)  wg_bits_f32((w)[l])
#define WG_NVG_d(w, l)  wg_bits_f64(WG_NVG64_(w, l))
#define WG_NVG_i(w, l)  ((int32_t)(w)[l])
#define WG_NVG_u(w, l)  ((w)[l])
#define WG_NVG_l(w, l)  ((int64_t)WG_NVG64_(w, l))
#define WG_NVG_m(w, l)  WG_NVG64_(w, l)
#define WG_NVG_p(w, l)  WG_NVG64_(w, l)
#define WG_NVG_h(w, l)  ((uint16_t)(w)[l])

#define WG_NVS64_(w, l, v)                                                                                             \
    do {                                                                                                               \
        uint64_t v64_ = (v);                                                                                           \
        (w)[l] = (uint32_t)v64_, (w)[32 + (l)] = (uint32_t)(v64_ >> 32);                                               \
    } while (0)
#define WG_NVW_f(w, l, v) ((w)[l] = wg_f32_bits(wg_canon_f32(v)))
#define WG_NVW_r(w, l, v) ((w)[l] = wg_f32_bits(v))
#define WG_NVW_d(w, l, v) WG_NVS64_(w, l, wg_f64_bits(v))
#define WG_NVW_i(w, l, v) ((w)[l] = (uint32_t)(v))
#define WG_NVW_u(w, l, v) ((w)[l] = (v))
#define WG_NVW_l(w, l, v) WG_NVS64_(w, l, (uint64_t)(v))
#define WG_NVW_m(w, l, v) WG_NVS64_(w, l, (v))
#define WG_NVW_h(w, l, v) ((w)[l] = (v))
#define WG_NVW_v(w, l, v) ((void)(w), (void)(v))
#endif
