/* approx.h - PTX's approximate instructions, one lane each, written so that a loop over 32 lanes vectorises.
 *
 * Every f32 function here computes in double with plain multiplies and adds (no FMA, no libm call, no branch) and
 * rounds once, so that it is within 0.5001 ulp of the true value and gives the same bits on every host. A GPU's special
 * function unit has the error the PTX ISA allows (quoted at each function, from the PTX ISA's floating-point
 * instruction pages); it differs from these values in the last bits, and between GPU generations.
 *
 * Conventions: NaN results are PTX's canonical NaN (0x7fffffff, 0x7fff for the 16-bit types). Subnormal inputs and
 * results are kept; for ".ftz" apply wg_ftz_f32 to the inputs and to the result. Polynomials are near-minimax
 * (Chebyshev fits); their own relative error stands beside them. */
#ifndef WG_EXEC_APPROX_H
#define WG_EXEC_APPROX_H
#include <stdint.h>

#define WG_APPROX_FN static inline __attribute__((always_inline, const, unused))

/* ---- bits ---- */
WG_APPROX_FN uint32_t wg_f32_bits(float x)
{
    uint32_t u;
    __builtin_memcpy(&u, &x, 4);
    return u;
}

WG_APPROX_FN float wg_bits_f32(uint32_t u)
{
    float x;
    __builtin_memcpy(&x, &u, 4);
    return x;
}

WG_APPROX_FN uint64_t wg_f64_bits(double x)
{
    uint64_t u;
    __builtin_memcpy(&u, &x, 8);
    return u;
}

WG_APPROX_FN double wg_bits_f64(uint64_t u)
{
    double x;
    __builtin_memcpy(&x, &u, 8);
    return x;
}

/* x, with PTX's canonical NaN for any NaN. */
WG_APPROX_FN float wg_canon_f32(float x)
{
    return x == x ? x : wg_bits_f32(0x7fffffffu);
}

/* x, with a zero of the same sign for a subnormal: what .ftz does to inputs and results. */
WG_APPROX_FN float wg_ftz_f32(float x)
{
    uint32_t u = wg_f32_bits(x);
    return wg_bits_f32((u & 0x7f800000u) ? u : u & 0x80000000u);
}

WG_APPROX_FN double wg_ftz_f64(double x)
{
    uint64_t u = wg_f64_bits(x);
    return wg_bits_f64((u & 0x7ff0000000000000u) ? u : u & 0x8000000000000000u);
}

/* ---- the 16-bit formats ---- */
/* binary16 to float; exact. NaN becomes the canonical f32 NaN. */
WG_APPROX_FN float wg_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, mag = h & 0x7fffu;
    /* as a float with 13 more fraction bits and the bias off by 112: one exact multiply puts that right */
    float r = wg_bits_f32(mag << 13) * 0x1p112f;
    uint32_t u = mag == 0x7c00u ? 0x7f800000u : wg_f32_bits(r);
    u = mag > 0x7c00u ? 0x7fffffffu : u | sign;
    return wg_bits_f32(u);
}

/* float to binary16, to nearest even; overflow to infinity; NaN to 0x7fff. */
WG_APPROX_FN uint16_t wg_f32_to_f16(float x)
{
    uint32_t u = wg_f32_bits(x), sign = (u >> 16) & 0x8000u, mag = u & 0x7fffffffu;
    uint32_t norm = (mag - 0x38000000u + 0xfffu + ((mag >> 13) & 1)) >> 13;
    /* below 2^-14 adding 0.5 leaves the half's subnormal fraction, rounded, in the low bits */
    uint32_t sub = wg_f32_bits(wg_bits_f32(mag) + 0.5f) - 0x3f000000u;
    uint32_t r = mag < 0x38800000u ? sub : norm;
    r = mag >= 0x477ff000u ? 0x7c00u : r;
    return (uint16_t)(mag > 0x7f800000u ? 0x7fffu : r | sign);
}

/* bfloat16 to float; exact. */
WG_APPROX_FN float wg_bf16_to_f32(uint16_t h)
{
    return wg_canon_f32(wg_bits_f32((uint32_t)h << 16));
}

/* float to bfloat16, to nearest even; NaN to 0x7fff. */
WG_APPROX_FN uint16_t wg_f32_to_bf16(float x)
{
    uint32_t u = wg_f32_bits(x);
    uint32_t r = (u + 0x7fffu + ((u >> 16) & 1)) >> 16;
    return (uint16_t)((u & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : r);
}

/* ---- double-precision cores, shared with libdevice_f32.c; not for use by handlers ---- */
#define WG_ROUND_MAGIC_ 0x1.8p52 /* x + this - this rounds |x| < 2^51 to an integer, to nearest even */

/* 2^x for any double, relative error below 2^-50; results beyond 2^+-1020 saturate there; NaN stays NaN. */
WG_APPROX_FN double wg_exp2_core(double x)
{
    x = x > 1020.0 ? 1020.0 : x;
    x = x < -1020.0 ? -1020.0 : x;
    double m = x + WG_ROUND_MAGIC_;
    double r = x - (m - WG_ROUND_MAGIC_);
    double scale = wg_bits_f64((wg_f64_bits(m) + 1023) << 52);
    /* [-0.5, 0.5], 2^-52.0 */
    double p = 0x1.e6063f7217bc6p-28;
    p = p * r + 0x1.b675bca4eeebbp-24;
    p = p * r + 0x1.62bfd47773353p-20;
    p = p * r + 0x1.ffcb54062e698p-17;
    p = p * r + 0x1.430913096fd9fp-13;
    p = p * r + 0x1.5d87fe9d7a584p-10;
    p = p * r + 0x1.3b2ab6fba1ddap-7;
    p = p * r + 0x1.c6b08d703ce49p-5;
    p = p * r + 0x1.ebfbdff82c598p-3;
    p = p * r + 0x1.62e42fefa3a19p-1;
    p = p * r + 1.0;
    return p * scale;
}

/* log2 of a positive, finite, normal double; relative error below 2^-48, also beside 1. Else meaningless, never a trap.
 */
WG_APPROX_FN double wg_log2_core(double x)
{
    /* x = 2^e m with m in [sqrt(1/2), sqrt(2)): the constant is the bits of sqrt(1/2) */
    uint64_t u = wg_f64_bits(x) - 0x3fe6a09e667f3bcdu;
    /* e as a double without a 64-bit integer conversion, which AVX2 lacks: put it, biased, under the exponent of 2^52
     */
    double e = wg_bits_f64(((u >> 52) ^ 0x800u) | 0x4330000000000000u) - 0x1.00000000008p52;
    double m = wg_bits_f64((u & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu);
    double s = (m - 1.0) / (m + 1.0), z = s * s;
    /* log2((1+s)/(1-s))/s in z, [0, 0.0295], 2^-50.8 */
    double p = 0x1.f1899b6e50851p-3;
    p = p * z + 0x1.0bb79231dc1b5p-2;
    p = p * z + 0x1.484fad35f02acp-2;
    p = p * z + 0x1.a61756744e358p-2;
    p = p * z + 0x1.2776c516aa820p-1;
    p = p * z + 0x1.ec709dc39c9e6p-1;
    p = p * z + 0x1.71547652b82ffp+1;
    return e + p * s;
}

/* sin(2 pi f) for |f| <= 1/4, relative error below 2^-49. */
WG_APPROX_FN double wg_sin2pi_core(double f)
{
    double z = f * f;
    /* sin(2 pi f)/f in z, [0, 1/16], 2^-50.3 */
    double p = -0x1.62903d02bb153p-1;
    p = p * z + 0x1.e89f6fe44fe7bp+1;
    p = p * z - 0x1.e30631bdf732dp+3;
    p = p * z + 0x1.5078327046959p+5;
    p = p * z - 0x1.32d2cce1ea145p+6;
    p = p * z + 0x1.466bc677522bdp+6;
    p = p * z - 0x1.4abbce625bd83p+5;
    p = p * z + 0x1.921fb54442d17p+2;
    return p * f;
}

/* t minus the nearest integer, exactly; 0 where |t| >= 2^51 and for a NaN. */
WG_APPROX_FN double wg_frac_core(double t)
{
    t = __builtin_fabs(t) < 0x1p51 ? t : 0.0;
    return t - ((t + WG_ROUND_MAGIC_) - WG_ROUND_MAGIC_);
}

/* ---- the instructions ---- */
/* rcp.approx.f32: PTX allows 1 ulp over the full range. +-0 -> +-Inf, +-Inf -> +-0. Here: correctly rounded. */
WG_APPROX_FN float wg_rcp_approx(float x)
{
    return wg_canon_f32(1.0f / x);
}

/* sqrt.approx.f32: PTX allows a relative error of 2^-23. -0 -> -0, negative -> NaN, +Inf -> +Inf. Here: correctly
 * rounded. */
WG_APPROX_FN float wg_sqrt_approx(float x)
{
    return wg_canon_f32(__builtin_sqrtf(x));
}

/* rsqrt.approx.f32: PTX allows a relative error of 2^-22.9. +-0 -> +-Inf, negative -> NaN, +Inf -> +0. */
WG_APPROX_FN float wg_rsqrt_approx(float x)
{
    return wg_canon_f32((float)(1.0 / __builtin_sqrt((double)x)));
}

/* ex2.approx.f32: PTX allows 2 ulp (until ISA 8: 2^-22.5 relative). -Inf -> +0, +-0 and subnormals -> 1, +Inf -> +Inf.
 */
WG_APPROX_FN float wg_ex2_approx(float x)
{
    return wg_canon_f32((float)wg_exp2_core((double)x));
}

/* lg2.approx.f32: PTX allows 2^-22, absolute for inputs in (0.5, 2), relative outside. +-0 -> -Inf, negative -> NaN,
 * +Inf -> +Inf. Here within 0.5001 ulp, also beside 1. */
WG_APPROX_FN float wg_lg2_approx(float x)
{
    float r = (float)wg_log2_core((double)x);
    r = x == 0.0f ? -__builtin_inff() : r;
    r = x == __builtin_inff() ? x : r;
    return x >= 0.0f ? r : wg_bits_f32(0x7fffffffu);
}

/* sin.approx.f32: PTX allows an absolute error of 2^-20.5 in [-2 pi, 2 pi] and 2^-14.7 in [-100 pi, 100 pi], and
 * promises nothing beyond. +-0 -> +-0, +-Inf -> NaN. As on the hardware the argument is scaled to turns first (here in
 * double), so that precision falls with size: absolute error below 2^-53 |x| + half an ulp of the result; 0 from 2^53
 * on. */
WG_APPROX_FN float wg_sin_approx(float x)
{
    double f = wg_frac_core((double)x * 0x1.45f306dc9c883p-3);
    double half = f < 0.0 ? -0.5 : 0.5;
    f = __builtin_fabs(f) > 0.25 ? half - f : f;
    float r = (float)wg_sin2pi_core(f);
    r = x == 0.0f ? x : r;
    return x - x == 0.0f ? r : wg_bits_f32(0x7fffffffu);
}

/* cos.approx.f32: as sin.approx; +-0 -> 1, +-Inf -> NaN. */
WG_APPROX_FN float wg_cos_approx(float x)
{
    double f = wg_frac_core((double)x * 0x1.45f306dc9c883p-3);
    float r = (float)wg_sin2pi_core(0.25 - __builtin_fabs(f));
    return x - x == 0.0f ? r : wg_bits_f32(0x7fffffffu);
}

/* tanh.approx.f32: PTX allows a relative error of 2^-11; subnormals are supported; +-0 -> +-0, +-Inf -> +-1. */
WG_APPROX_FN float wg_tanh_approx(float x)
{
    double a = __builtin_fabs((double)x);
    double big = 1.0 - 2.0 / (wg_exp2_core(a * 0x1.71547652b82fep+1) + 1.0);
    double tiny = a - a * a * a * (1.0 / 3.0); /* below 2^-12 the next term is 2^-51 of the result */
    float r = (float)(a < 0x1p-12 ? tiny : big);
    return wg_canon_f32(wg_bits_f32(wg_f32_bits(r) | (wg_f32_bits(x) & 0x80000000u)));
}

/* div.approx.f32 = a * (1/b): PTX allows 2 ulp for 2^-126 <= |b| <= 2^126; beyond, 1/b counts as zero: the result is a
 * zero with the quotient's sign, or NaN for an infinite a. Here correctly rounded within that range and below it. */
WG_APPROX_FN float wg_div_approx(float a, float b)
{
    uint32_t sign = wg_f32_bits(b) & 0x80000000u;
    float big = a * wg_bits_f32(sign);
    float r = a / b;
    return wg_canon_f32(__builtin_fabsf(b) > 0x1p126f ? big : r);
}

/* div.full.f32: PTX allows 2 ulp over the full range. Here: correctly rounded. */
WG_APPROX_FN float wg_div_full(float a, float b)
{
    return wg_canon_f32(a / b);
}

/* rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 see only the upper 32 bits of the operand (20 fraction bits) and answer
 * with the lower 32 bits zero; subnormal operands and results count as zeros. PTX gives no bound beyond the 20 bits;
 * here the fraction is the true one rounded to nearest at 20 bits. NaN results are 0x7fffffff00000000. */
WG_APPROX_FN double wg_high_word_(double r)
{
    uint64_t u = (wg_f64_bits(r) + 0x80000000u) & 0xffffffff00000000u;
    return r == r ? wg_ftz_f64(wg_bits_f64(u)) : wg_bits_f64(0x7fffffff00000000u);
}

WG_APPROX_FN double wg_rcp_approx_ftz_f64(double x)
{
    uint64_t u = wg_f64_bits(x) & 0xffffffff00000000u;
    double hi = wg_ftz_f64(wg_bits_f64(u));
    return wg_high_word_(x == x ? 1.0 / hi : x);
}

WG_APPROX_FN double wg_rsqrt_approx_ftz_f64(double x)
{
    uint64_t u = wg_f64_bits(x) & 0xffffffff00000000u;
    double hi = wg_ftz_f64(wg_bits_f64(u));
    return wg_high_word_(x == x ? 1.0 / __builtin_sqrt(hi) : x);
}

/* rsqrt.approx.f64: +-0 -> +-Inf, negative -> NaN, +Inf -> +0. Two roundings here: below 1.5 ulp. */
WG_APPROX_FN double wg_rsqrt_approx_f64(double x)
{
    return 1.0 / __builtin_sqrt(x);
}

/* 16-bit forms; x and results are bit patterns. ex2.approx.f16: 2^-9.9 relative; ex2.approx.ftz.bf16: 2^-7 relative
 * (subnormal bf16 inputs and results flushed); tanh.approx.f16: 2^-10.987 absolute; tanh.approx.bf16: 2^-8 absolute.
 * Here: the f32 value rounded once more. */
WG_APPROX_FN uint16_t wg_ex2_approx_f16(uint16_t x)
{
    return wg_f32_to_f16(wg_ex2_approx(wg_f16_to_f32(x)));
}
WG_APPROX_FN uint16_t wg_tanh_approx_f16(uint16_t x)
{
    return wg_f32_to_f16(wg_tanh_approx(wg_f16_to_f32(x)));
}
WG_APPROX_FN uint16_t wg_tanh_approx_bf16(uint16_t x)
{
    return wg_f32_to_bf16(wg_tanh_approx(wg_bf16_to_f32(x)));
}
WG_APPROX_FN uint16_t wg_ex2_approx_ftz_bf16(uint16_t x)
{
    uint16_t r = wg_f32_to_bf16(wg_ex2_approx(wg_ftz_f32(wg_bf16_to_f32(x))));
    return (r & 0x7f80u) ? r : 0;
}
#endif
