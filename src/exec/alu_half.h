/* alu_half.h - lane functions of the 16-bit and 8-bit float formats; values travel as their bits. */
#ifndef WG_EXEC_ALU_HALF_H
#define WG_EXEC_ALU_HALF_H
#include "exec/alu_float.h"

/* ---- f32 to f16 and bf16 in a rounding mode, a constant ---- */
WG_INLINE bool away(u32 sign, int mode) { return mode == WG_ROUND_RM ? sign != 0 : mode == WG_ROUND_RP && !sign; }
WG_INLINE u16 round_f16(f32 x, int mode)
{
    if (mode == WG_ROUND_RN)
        return wg_f32_to_f16(x);
    const u32 u = wg_f32_bits(x), sign = u >> 16 & 0x8000u, mag = u & 0x7fffffffu;
    const bool up = away(sign, mode);
    const u32 norm = (mag - 0x38000000u + (up ? 0x1fffu : 0)) >> 13, top = up ? 0x7c00u : 0x7bffu;
    /* below 2^-14: adding 0.5 leaves the half's fraction in the low bits, to nearest; put that right by comparing */
    const f32 m = wg_bits_f32(mag), near = m + 0.5f;
    const u32 n = wg_f32_bits(near) - 0x3f000000u, sub = up ? n + (near - 0.5f < m) : n - (near - 0.5f > m);
    const u32 r = mag < 0x38800000u ? sub : norm > top ? top : norm;
    return (u16)(mag > 0x7f800000u ? 0x7fff : sign | (mag == 0x7f800000u ? 0x7c00u : r));
}
WG_INLINE u16 round_bf16(f32 x, int mode)
{
    if (mode == WG_ROUND_RN)
        return wg_f32_to_bf16(x);
    const u32 u = wg_f32_bits(x), mag = u & 0x7fffffffu;
    const u32 r = u + (away(u >> 31, mode) && mag < 0x7f800000u ? 0xffffu : 0);
    return (u16)(mag > 0x7f800000u ? 0x7fff : r >> 16);
}

/* ---- arithmetic. A sum or product of two f16 in f32 and then in f16 is rounded right: 24 bits are enough. bf16 has
 * the range of f32, so its products go through double. ---- */
#define H2F wg_f16_to_f32
#define F2H wg_f32_to_f16
#define B2F wg_bf16_to_f32
#define F2B wg_f32_to_bf16
WG_INLINE u16 ftz_f16(u16 a) { return a & 0x7c00 ? a : a & 0x8000; }
WG_INLINE u16 add_f16(u16 a, u16 b) { return F2H(H2F(a) + H2F(b)); }
WG_INLINE u16 sub_f16(u16 a, u16 b) { return F2H(H2F(a) - H2F(b)); }
WG_INLINE u16 mul_f16(u16 a, u16 b) { return F2H(H2F(a) * H2F(b)); }
WG_INLINE f32 fma_odd(f32 a, f32 b, f32 c) { return odd_f32(odd_sum((f64)a * b, c)); }
/* The same for values of f16: their product is exact in f32, and 24 bits rounded to odd are enough. */
WG_INLINE f32 fma_odd_f16(f32 a, f32 b, f32 c)
{
    const f32 p = a * b, s = p + c, t = s - p, e = (p - (s - t)) + (c - t);
    const u32 inexact = __builtin_islessgreater(e, 0.0f) ? 1 : 0, back = (wg_f32_bits(s) ^ wg_f32_bits(e)) >> 31;
    return wg_bits_f32((wg_f32_bits(s) - (back & inexact)) | inexact);
}
WG_INLINE u16 fma_f16(u16 a, u16 b, u16 c) { return F2H(fma_odd_f16(H2F(a), H2F(b), H2F(c))); }
WG_INLINE u16 add_bf16(u16 a, u16 b) { return F2B(B2F(a) + B2F(b)); }
WG_INLINE u16 sub_bf16(u16 a, u16 b) { return F2B(B2F(a) - B2F(b)); }
WG_INLINE u16 mul_bf16(u16 a, u16 b) { return F2B(odd_f32((f64)B2F(a) * B2F(b))); }
WG_INLINE u16 fma_bf16(u16 a, u16 b, u16 c) { return F2B(fma_odd(B2F(a), B2F(b), B2F(c))); }
/* Clamp to [0, 1]; NaN gives +0. */
WG_INLINE u16 sat_f16(u16 a) { return (a & 0x7fff) > 0x7c00 || (a & 0x8000) ? 0 : a > 0x3c00 ? 0x3c00 : a; }
/* Negative to +0; NaN to the canonical one. inf: the format's infinity. */
WG_INLINE u16 relu(u16 a, u16 inf) { return (a & 0x7fff) > inf ? 0x7fff : a & 0x8000 ? 0 : a; }
#define RELU_H(x) relu(x, 0x7c00)
#define RELU_B(x) relu(x, 0x7f80)
/* Infinity to the largest finite value of the sign. */
WG_INLINE u16 finite16(u16 a, u16 inf) { return (a & 0x7fff) == inf ? (u16)(a - 1) : a; }

WG_INLINE u16 any_ftz_f16(u16 a, struct wg_alu_mods z)
{
    return (u16)(a & ((a & 0x7c00 ? 0xffffu : 0x8000u) | ~z.ftz));
}
WG_INLINE u16 any_relu(u16 a, u16 inf, struct wg_alu_mods z) { return (u16)(a ^ ((a ^ relu(a, inf)) & z.relu)); }
/* A result of f16: x, exact or rounded to odd. .ftz as of f32: what 11 bits of any exponent leave below 2^-14. */
WG_INLINE u16 any_f16(f32 x, struct wg_alu_mods z)
{
    const u16 r = F2H(x), y = (u16)(r & ~(z.ftz & 0x7fff & (__builtin_fabsf(x) < 0x1.ffep-15f ? ~0u : 0)));
    return any_relu((u16)(y ^ ((y ^ sat_f16(y)) & z.sat)), 0x7c00, z);
}
WG_INLINE u16 canon16(u16 a, u16 inf) { return (a & 0x7fff) > inf ? 0x7fff : a; }

/* ---- minimum and maximum, as of f32 ---- */
/* A number's place in the order, -0 before +0. */
WG_INLINE i16 order16(u16 a) { return (i16)(a & 0x8000 ? (u16)~a | 0x8000 : a); }
WG_INLINE u16 minmax16(u16 a, u16 b, u16 inf, bool max, struct wg_alu_mods z)
{
    const u16 mag = (u16)~(z.xorsign & 0x8000), x = a & mag, y = b & mag, s = (u16)((a ^ b) & 0x8000 & z.xorsign);
    const bool nx = (a & 0x7fff) > inf, ny = (b & 0x7fff) > inf;
    const u16 m = (order16(x) < order16(y)) != max ? x : y, r = (u16)((nx ? y : ny ? x : m) ^ s);
    return (nx && ny) || ((nx || ny ? ~0u : 0) & z.nan) ? 0x7fff : r;
}

/* ---- 8-bit formats: e4m3 (bias 7, no infinity, largest 448) and e5m2 (bias 15, largest 57344) ---- */
/* To nearest even; beyond the largest gives the largest; NaN gives 0x7f. */
WG_INLINE u32 f32_to_e4m3(f32 x)
{
    const u32 u = wg_f32_bits(x), mag = u & 0x7fffffffu, s = u >> 24 & 0x80;
    const u32 norm = (mag - (120u << 23) + 0x7ffffu + (mag >> 20 & 1)) >> 20;
    const u32 sub = wg_f32_bits(wg_bits_f32(mag) + 0x1p14f) - wg_f32_bits(0x1p14f);
    const u32 r = mag < 0x3c800000u ? sub : mag >= 0x43e00000u || norm > 0x7e ? 0x7e : norm;
    return mag > 0x7f800000u ? 0x7f : s | r;
}
WG_INLINE u32 f32_to_e5m2(f32 x)
{
    const u32 u = wg_f32_bits(x), mag = u & 0x7fffffffu, s = u >> 24 & 0x80;
    const u32 norm = (mag - (112u << 23) + 0xfffffu + (mag >> 21 & 1)) >> 21;
    const u32 sub = wg_f32_bits(wg_bits_f32(mag) + 0x1p7f) - wg_f32_bits(0x1p7f);
    const u32 r = mag < 0x38800000u ? sub : mag >= 0x47600000u || norm > 0x7b ? 0x7b : norm;
    return mag > 0x7f800000u ? 0x7f : s | r;
}
WG_INLINE u32 relu8(u32 a) { return (a & 0x7f) != 0x7f && (a & 0x80) ? 0 : a; }
/* e4m3 fits f16: move the fields, fix the bias by a multiply that also normalises subnormals. */
WG_INLINE u16 e4m3_to_f16(u32 a)
{
    const u32 mag = a & 0x7f, s = (a & 0x80) << 8;
    const u16 r = F2H(wg_bits_f32(mag << 20) * 0x1p120f);
    return (u16)(mag == 0x7f ? 0x7fff : s | r);
}
WG_INLINE u16 e5m2_to_f16(u32 a) { return (u16)((a & 0x7f) > 0x7c ? 0x7fff : a << 8); }
WG_INLINE u16 relu_f16(u16 a) { return RELU_H(a); }

/* Both halves of a word. */
#define LO(x) ((u16)(x))
#define HI(x) ((u16)((x) >> 16))
#define PACK(lo, hi) ((u32)(u16)(lo) | (u32)(u16)(hi) << 16)
#endif
