/* cvt.h - lane functions of cvt. A value goes through double: exactly, or for 64-bit integers rounded to odd, and is
 * then rounded once to the destination. */
#ifndef WG_EXEC_CVT_H
#define WG_EXEC_CVT_H
#include "exec/alu_half.h"
#include "exec/alu_int.h"

/* ---- sources to double ---- */
/* Beyond 53 bits: what is cut off sets the lowest bit that stays. */
WG_INLINE f64 odd_u64(u64 x) { return (f64)(x >> 53 ? (x & ~0x7ffull) | (x & 0x7ff ? 0x800 : 0) : x); }
WG_INLINE f64 from_u8(u16 a) { return (f64)(a & 255); }
WG_INLINE f64 from_s8(u16 a) { return (f64)(i8)a; }
WG_INLINE f64 from_u16(u16 a) { return (f64)a; }
WG_INLINE f64 from_s16(i16 a) { return (f64)a; }
WG_INLINE f64 from_u32(u32 a) { return u32_to_f64(a); }
WG_INLINE f64 from_s32(i32 a) { return (f64)a; }
WG_INLINE f64 from_u64(u64 a) { return odd_u64(a); }
WG_INLINE f64 from_s64(i64 a) { return a < 0 ? -odd_u64(0 - (u64)a) : odd_u64((u64)a); }
WG_INLINE f64 from_f16(u16 a) { return H2F(a); }
WG_INLINE f64 from_bf16(u16 a) { return B2F(a); }

/* ---- double to floats, rounding and clamping as z says ---- */
/* Correction of the bits of a nearest value y to x: towards zero, down or up. sign: of y's bits. */
WG_INLINE u32 correction(f64 x, f64 y, u32 sign, struct wg_alu_mods z)
{
    const f64 ax = __builtin_fabs(x), ay = __builtin_fabs(y);
    return ((ay > ax ? ~0u : 0) & z.zero) + ((y > x ? 2 * sign - 1 : 0) & z.down) + ((y < x ? 1 - 2 * sign : 0) & z.up);
}
WG_INLINE f32 cvt_f32(f64 x, struct wg_alu_mods z)
{
    const f32 f = (f32)x;
    const u32 u = wg_f32_bits(f), r = wg_f32_bits(canon32(wg_bits_f32(u + correction(x, f, u >> 31, z))));
    const bool away = (z.up && x > 0) || (z.down && x < 0);
    return any_sat_f32(wg_bits_f32(flushed(r, tiny_f32(x, z.near, away), z)), z);
}
WG_INLINE u16 clamp16(u16 r, u16 inf, struct wg_alu_mods z)
{
    return any_relu((u16)(r - ((r & 0x7fff) == inf ? z.satfinite & 1 : 0)), inf, z);
}
WG_INLINE u16 cvt_f16(f64 x, struct wg_alu_mods z)
{
    const f32 f = odd_f32(x);
    const u16 r = F2H(f), q = (u16)(r + correction(f, H2F(r), r >> 15, z));
    return clamp16((u16)(q ^ ((q ^ sat_f16(q)) & z.sat)), 0x7c00, z);
}
WG_INLINE u16 cvt_bf16(f64 x, struct wg_alu_mods z)
{
    const f32 f = odd_f32(x);
    const u16 r = F2B(f);
    return clamp16((u16)(r + correction(f, B2F(r), r >> 15, z)), 0x7f80, z);
}
WG_INLINE f64 cvt_f64(f64 x, struct wg_alu_mods z)
{
    const u64 u = wg_f64_bits(x), s = wg_f64_bits(sat_f64(x));
    return wg_bits_f64(u ^ ((u ^ s) & (u64)(i64)(i32)z.sat));
}
/* ---- NaN from and to double keeps its sign and what fits of its payload (measured); else it becomes the format's one.
 * C's conversions between f32 and f64 do that on their own. ---- */
WG_INLINE f64 f64_of_f16(u16 a)
{
    const u64 nan = (u64)(a & 0x8000) << 48 | 0x7ff8ull << 48 | (u64)(a & 0x3ff) << 42;
    return (a & 0x7fff) > 0x7c00 ? wg_bits_f64(nan) : H2F(a);
}
WG_INLINE f64 f64_of_bf16(u16 a) { return wg_bits_f32((u32)a << 16); }
WG_INLINE u16 nan16_of_f64(u16 r, f64 x, u16 inf, int man, struct wg_alu_mods z)
{
    const u64 u = wg_f64_bits(x);
    const u16 n = (u16)((u >> 48 & 0x8000) | inf | (u64)1 << (man - 1) | (u >> (52 - man) & ((1u << man) - 1)));
    return x == x || z.sat ? r : n;
}
WG_INLINE f32 f32_of_f64(f64 x, struct wg_alu_mods z) { return x == x || z.sat ? cvt_f32(x, z) : (f32)x; }
/* f32 to f32 and bf16 to f32 with no modifier at all move the bits. */
WG_INLINE f32 or_moved(f32 r, f32 x, struct wg_alu_mods z)
{
    const bool plain = !(z.ftz | z.sat | z.near | z.zero | z.down | z.up);
    return plain ? x : r;
}
/* ---- double to an integral double ---- */
WG_INLINE f64 integral(f64 x, struct wg_alu_mods z)
{
    const f64 n = __builtin_nearbyint(x), t = __builtin_trunc(x), d = __builtin_floor(x), u = __builtin_ceil(x);
    return z.near ? n : z.zero ? t : z.down ? d : z.up ? u : x;
}
/* ---- double to integers: out of range gives the nearest end. NaN gives 0, or where f64 or 64 bits take part the top
 * bit alone (nan; measured) ---- */
WG_INLINE u32 to_int32(f64 x, f64 lo, f64 hi, u32 nan, struct wg_alu_mods z)
{
    const f64 r = integral(x, z), c = r > lo ? (r < hi ? r : hi) : lo;
    return x == x ? (u32)wg_f64_bits(c + 0x1.8p52) : nan;
}
WG_INLINE u64 to_s64(f64 x, struct wg_alu_mods z)
{
    const f64 r = integral(x, z);
    if (!(r >= -0x1p63))
        return 0x8000000000000000u;
    return r >= 0x1p63 ? 0x7fffffffffffffffu : (u64)(i64)r;
}
WG_INLINE u64 to_u64(f64 x, struct wg_alu_mods z)
{
    const f64 r = integral(x, z);
    if (r != r)
        return 0x8000000000000000u;
    return r >= 0x1p64 ? ~0ull : r < 1 ? 0 : r >= 0x1p63 ? (u64)(i64)(r - 0x1p63) | 1ull << 63 : (u64)(i64)r;
}
WG_INLINE i32 rzi_s32(f32 a)
{
    const bool big = a >= 0x1p31f;
    const i32 r = (i32)(big || a != a ? 0 : a > -0x1p31f ? a : -0x1p31f);
    return big ? INT32_MAX : r;
}
/* ---- integers, saturating: v is the source's value ---- */
WG_INLINE i64 clamp_s(i64 v, i64 lo, i64 hi) { return v < lo ? lo : v > hi ? hi : v; }
WG_INLINE u64 clamp_u(u64 v, u64 hi) { return v > hi ? hi : v; }
/* ---- tf32: 10 bits of fraction ---- */
/* Ties away from zero (.rna) is a mere addition to the magnitude, also of NaN and infinity; it saturates (measured). */
WG_INLINE u32 cvt_tf32(f32 x, struct wg_alu_mods z)
{
    const u32 u = wg_f32_bits(x), mag = u & 0x7fffffffu;
    if (!(z.near | z.zero)) {
        const u32 m = mag + 0x1000, r = (m > 0x7fffffffu ? 0x7fffe000u : m & 0xffffe000u) | (u ^ mag);
        return (r & 0x7f800000u) == 0x7f800000u ? r - (z.satfinite & 0x2000) : r;
    }
    const u32 r = (u + (z.near ? 0xfff + (u >> 13 & 1) : 0)) & 0xffffe000u;
    const u32 f = (r & 0x7fffffffu) == 0x7f800000u ? r - (z.satfinite & 0x2000) : r;
    return mag > 0x7f800000u ? 0x7fffe000 : f >> 31 ? f & ~z.relu : f;
}
WG_INLINE u32 cvt_e4m3(f32 x, struct wg_alu_mods z) { return z.relu ? relu8(f32_to_e4m3(x)) : f32_to_e4m3(x); }
WG_INLINE u32 cvt_e5m2(f32 x, struct wg_alu_mods z) { return z.relu ? relu8(f32_to_e5m2(x)) : f32_to_e5m2(x); }
#endif
