/* alu_float.h - lane functions of f32 and f64: rounding modes without touching the host's rounding mode, .ftz, .sat.
 *
 * f32 in a directed mode is computed in double, "rounded to odd" (an inexact result gets an odd last bit), and then
 * rounded by hand: 53 bits rounded to odd give the right 24 in any mode. f64 in a directed mode is done in integers. */
#ifndef WG_EXEC_ALU_FLOAT_H
#define WG_EXEC_ALU_FLOAT_H
#include "exec/approx.h"
#include "exec/alu_rows.h"

__extension__ typedef unsigned __int128 u128;

/* What double-precision units make of NaN: the payload and sign of an operand's NaN pass, quieted; a new one is
 * 0xfff8000000000000. */
WG_INLINE f64 quiet64(f64 x) { return wg_bits_f64(wg_f64_bits(x) | 1ull << 51); }
WG_INLINE f64 nan64(f64 r, f64 first, f64 second)
{
    /* spelt out: which of two NaNs an x86 instruction passes depends on how the compiler ordered its operands */
    const f64 made = first != first ? quiet64(first) : second != second ? quiet64(second) : wg_bits_f64(0xfff8000000000000u);
    return r == r ? r : made;
}
/* All that the approximate f64 instructions look at. */
WG_INLINE f64 high_word(f64 x) { return wg_bits_f64(wg_f64_bits(x) & 0xffffffff00000000u); }
#define canon32 wg_canon_f32
/* Clamp to [0, 1]; NaN and -0 give +0. */
WG_INLINE f32 sat_f32(f32 x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
WG_INLINE f64 sat_f64(f64 x) { return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0; }
#define FZ wg_ftz_f32

/* ---- to odd ---- */
/* s is a nearest double to a value that differs from it by something of the sign of e (0: equal). */
WG_INLINE f64 to_odd(f64 s, f64 e)
{
    /* towards zero, then the lowest bit set; NaN in e means that s is infinite or NaN */
    const u64 inexact = __builtin_islessgreater(e, 0.0) ? 1 : 0, back = (wg_f64_bits(s) ^ wg_f64_bits(e)) >> 63;
    return wg_bits_f64((wg_f64_bits(s) - (back & inexact)) | inexact);
}
/* Doubles here are sums and products of floats: far from overflow and underflow. */
WG_INLINE f64 odd_sum(f64 p, f64 c)
{
    const f64 s = p + c, t = s - p;
    return to_odd(s, (p - (s - t)) + (c - t));
}
WG_INLINE f64 odd_div(f64 a, f64 b)
{
    const f64 q = a / b, r = __builtin_fma(-q, b, a);
    return to_odd(q, b < 0 ? -r : r);
}
WG_INLINE f64 odd_sqrt(f64 a)
{
    const f64 s = __builtin_sqrt(a);
    return to_odd(s, __builtin_fma(-s, s, a));
}
/* An exact zero sum of a and b is -0 when rounding down, unless both are +0. */
WG_INLINE f64 zero_down(f64 s, f64 a, f64 b)
{
    const u64 sign = (wg_f64_bits(a) | wg_f64_bits(b)) & 0x8000000000000000u;
    return s == 0 ? wg_bits_f64(sign) : s;
}

/* ---- double to f32 in a rounding mode: an enum wg_round, a constant ---- */
WG_INLINE f32 round_f32(f64 x, int mode)
{
    const f32 f = (f32)x;
    const u32 u = wg_f32_bits(f), s = u >> 31;
    const f64 y = f, ax = __builtin_fabs(x), ay = __builtin_fabs(y);
    switch (mode) {
    case WG_ROUND_RZ:
        return wg_bits_f32(ay > ax ? u - 1 : u);
    case WG_ROUND_RM:
        return wg_bits_f32(y > x ? u - 1 + 2 * s : u);
    case WG_ROUND_RP:
        return wg_bits_f32(y < x ? u + 1 - 2 * s : u);
    default:
        return f;
    }
}
/* The same with an odd last bit where inexact, for a later rounding to fewer bits. */
WG_INLINE f32 odd_f32(f64 x)
{
    const f32 f = (f32)x;
    const u32 u = wg_f32_bits(f);
    const f64 y = f, ax = __builtin_fabs(x), ay = __builtin_fabs(y);
    return wg_bits_f32(ay > ax ? (u - 1) | 1 : ay < ax ? u | 1 : u);
}

WG_INLINE f64 sum_f64(f64 a, f64 b, int mode)
{
    const f64 s = odd_sum(a, b);
    return mode == WG_ROUND_RM ? zero_down(s, a, b) : s;
}
WG_INLINE f64 fma_f64(f32 a, f32 b, f32 c, int mode) { return sum_f64((f64)a * b, c, mode); }

/* ---- minimum and maximum: -0 < +0; a NaN yields to a number unless nan; both NaN give the canonical NaN ---- */
WG_INLINE f32 min_f32(f32 a, f32 b)
{
    const u32 ua = wg_f32_bits(a), ub = wg_f32_bits(b);
    const f32 m = a < b ? a : b < a ? b : wg_bits_f32(ua | ub);
    return a != a ? canon32(b) : b != b ? a : m;
}
WG_INLINE f32 max_f32(f32 a, f32 b)
{
    const u32 ua = wg_f32_bits(a), ub = wg_f32_bits(b);
    const f32 m = a > b ? a : b > a ? b : wg_bits_f32(ua & ub);
    return a != a ? canon32(b) : b != b ? a : m;
}
WG_INLINE f32 abs_f32(f32 a) { return wg_bits_f32(wg_f32_bits(a) & 0x7fffffffu); }
/* .NaN: a NaN operand gives NaN. .xorsign.abs: of the magnitudes, with the exclusive or of the signs. */
WG_INLINE f32 minmax_any_f32(f32 a, f32 b, bool max, struct wg_alu_mods z)
{
    const u32 ua = wg_f32_bits(a), ub = wg_f32_bits(b), mag = ~(z.xorsign & 0x80000000u);
    const f32 x = wg_bits_f32(ua & mag), y = wg_bits_f32(ub & mag), m = max ? max_f32(x, y) : min_f32(x, y);
    const u32 r = wg_f32_bits(m) ^ ((ua ^ ub) & 0x80000000u & z.xorsign & (m == m ? ~0u : 0));
    return wg_bits_f32((a != a || b != b ? ~0u : 0) & z.nan ? 0x7fffffff : r);
}
/* .ftz and .sat where an instruction may have them. */
WG_INLINE f32 any_ftz_f32(f32 x, struct wg_alu_mods z)
{
    const u32 u = wg_f32_bits(x);
    return wg_bits_f32(u & ((u & 0x7f800000u ? ~0u : 0x80000000u) | ~z.ftz));
}
WG_INLINE f32 any_sat_f32(f32 x, struct wg_alu_mods z)
{
    const u32 u = wg_f32_bits(x), s = wg_f32_bits(sat_f32(x));
    return wg_bits_f32(u ^ ((u ^ s) & z.sat));
}
/* .ftz flushes a result that is below the least normal number after rounding to 24 bits of any exponent (measured on an
 * H200). x: the result, exact or rounded to odd; near: to nearest even; away: away from zero. */
WG_INLINE u32 tiny_f32(f64 x, bool near, bool away)
{
    return __builtin_fabs(x) < (near ? 0x1.ffffffp-127 : away ? 0x1.fffffe0000001p-127 : 0x1p-126) ? ~0u : 0;
}
WG_INLINE u32 flushed(u32 u, u32 tiny, struct wg_alu_mods z) { return u & ~(z.ftz & 0x7fffffffu & tiny); }
/* A result: x, exact or rounded to odd, in a rounding mode. */
WG_INLINE f32 any_f32(f64 x, int mode, struct wg_alu_mods z)
{
    const bool away = mode == WG_ROUND_RP ? x > 0 : mode == WG_ROUND_RM && x < 0;
    const u32 tiny = tiny_f32(x, mode != WG_ROUND_RZ && mode != WG_ROUND_RP && mode != WG_ROUND_RM, away);
    return any_sat_f32(wg_bits_f32(flushed(wg_f32_bits(canon32(round_f32(x, mode))), tiny, z)), z);
}
WG_INLINE f32 nearest_ftz_f32(f64 x) { return canon32(tiny_f32(x, true, false) ? (f32)__builtin_copysign(0.0, x) : (f32)x); }
WG_INLINE f32 fma_ftz_f32(f32 a, f32 b, f32 c) { return nearest_ftz_f32(fma_f64(FZ(a), FZ(b), FZ(c), WG_ROUND_RN)); }
WG_INLINE f32 mul_ftz_f32(f32 a, f32 b) { return nearest_ftz_f32((f64)FZ(a) * FZ(b)); }
WG_INLINE f64 min_f64(f64 a, f64 b)
{
    const f64 m = a < b ? a : b < a ? b : wg_bits_f64(wg_f64_bits(a) | wg_f64_bits(b));
    return a != a ? (b != b ? quiet64(b) : b) : b != b ? a : m;
}
WG_INLINE f64 max_f64(f64 a, f64 b)
{
    const f64 m = a > b ? a : b > a ? b : wg_bits_f64(wg_f64_bits(a) & wg_f64_bits(b));
    return a != a ? (b != b ? quiet64(b) : b) : b != b ? a : m;
}

/* ---- f64 in a directed mode; alu_soft64.c ---- */
#define soft_add_f64 WG_ISA_NAME(wg_alu_soft_add)
#define soft_sub_f64 WG_ISA_NAME(wg_alu_soft_sub)
#define soft_fma_f64 WG_ISA_NAME(wg_alu_soft_fma)
#define soft_mul_f64 WG_ISA_NAME(wg_alu_soft_mul)
#define soft_div_f64 WG_ISA_NAME(wg_alu_soft_div)
#define soft_sqrt_f64 WG_ISA_NAME(wg_alu_soft_sqrt)
#define soft_from_u64 WG_ISA_NAME(wg_alu_soft_from)
double soft_mul_f64(double a, double b, int mode) __attribute__((const));
double soft_add_f64(double a, double b, int mode) __attribute__((const));
double soft_sub_f64(double a, double b, int mode) __attribute__((const));
double soft_fma_f64(double a, double b, double c, int mode) __attribute__((const));
double soft_div_f64(double a, double b, int mode) __attribute__((const));
double soft_sqrt_f64(double a, int mode) __attribute__((const));
double soft_from_u64(uint64_t magnitude, bool negative, int mode) __attribute__((const));
#endif
