/* alu_int.h - integer lane functions that are too long for a row. */
#ifndef WG_EXEC_ALU_INT_H
#define WG_EXEC_ALU_INT_H
#include "exec/approx.h"
#include "exec/lanes.h"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

WG_INLINE i32 sat32(i64 x) { return (i32)(x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x); }

/* ---- division. By zero the hardware gives all ones (quotient and remainder), and nothing traps. ---- */
WG_INLINE f64 u32_to_f64(u32 a) { return wg_bits_f64(0x4330000000000000u | a) - 0x1p52; }
/* The double quotient of 32-bit integers is never rounded up to an integer, so its floor is right. */
WG_INLINE u32 div_u32(u32 a, u32 b)
{
    const f64 x = u32_to_f64(a) / u32_to_f64(b), t = x + 0x1p52;
    const u32 q = (u32)wg_f64_bits(t) - (t - 0x1p52 > x);
    return b ? q : ~0u;
}
WG_INLINE u32 rem_u32(u32 a, u32 b) { return b ? a - div_u32(a, b) * b : ~0u; }
WG_INLINE u32 mag_s32(u32 a) { return (a ^ (0u - (a >> 31))) + (a >> 31); }
WG_INLINE u32 div_s32(u32 a, u32 b)
{
    const u32 q = div_u32(mag_s32(a), mag_s32(b)), s = 0u - ((a ^ b) >> 31);
    return b ? (q ^ s) - s : ~0u;
}
WG_INLINE u32 rem_s32(u32 a, u32 b) { return b ? a - div_s32(a, b) * b : ~0u; }
WG_INLINE u64 div_u64(u64 a, u64 b) { return b ? a / b : ~0ull; }
WG_INLINE u64 rem_u64(u64 a, u64 b) { return b ? a % b : ~0ull; }
WG_INLINE u64 div_s64(i64 a, i64 b) { return !b ? ~0ull : b == -1 ? 0 - (u64)a : (u64)(a / b); }
WG_INLINE u64 rem_s64(i64 a, i64 b) { return !b ? ~0ull : b == -1 ? 0 : (u64)(a % b); }

/* ---- bits ---- */
WG_INLINE u32 popc32(u32 x)
{
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    return ((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}
WG_INLINE u32 popc64(u64 x) { return popc32((u32)x) + popc32((u32)(x >> 32)); }
WG_INLINE u32 clz32(u32 x) { return x ? (u32)__builtin_clz(x) : 32; }
WG_INLINE u32 clz64(u64 x) { return x ? (u32)__builtin_clzll(x) : 64; }
WG_INLINE u32 brev32(u32 x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
WG_INLINE u64 brev64(u64 x) { return (u64)brev32((u32)x) << 32 | brev32((u32)(x >> 32)); }
WG_INLINE u32 fns32(u32 mask, u32 base, i32 offset)
{
    if (base > 31)
        return ~0u;
    if (!offset)
        return mask >> base & 1 ? base : ~0u;
    i32 pos = (i32)base, step = offset > 0 ? 1 : -1;
    for (u32 left = offset > 0 ? (u32)offset : 0u - (u32)offset; pos >= 0 && pos < 32; pos += step)
        if ((mask >> pos & 1) && --left == 0)
            return (u32)pos;
    return ~0u;
}
WG_INLINE u32 shl32(u32 a, u32 n) { return n > 31 ? 0 : a << (n & 31); }
WG_INLINE u64 shl64(u64 a, u32 n) { return n > 63 ? 0 : a << (n & 63); }
WG_INLINE u32 shr32(u32 a, u32 n) { return n > 31 ? 0 : a >> (n & 31); }
WG_INLINE u64 shr64(u64 a, u32 n) { return n > 63 ? 0 : a >> (n & 63); }
WG_INLINE u32 sar32(u32 a, u32 n) { return (u32)((i32)a >> (n > 31 ? 31 : n)); }
WG_INLINE u64 sar64(u64 a, u32 n) { return (u64)((i64)a >> (n > 63 ? 63 : n)); }
/* The low n bits set, n clamped to the width. */
WG_INLINE u32 ones32(u32 n) { return n > 31 ? ~0u : (1u << (n & 31)) - 1; }
WG_INLINE u64 ones64(u32 n) { return n > 63 ? ~0ull : (1ull << (n & 63)) - 1; }
WG_INLINE u32 bfe_u32(u32 a, u32 b, u32 c) { return shr32(a, b & 255) & ones32(c & 255); }
WG_INLINE u64 bfe_u64(u64 a, u32 b, u32 c) { return shr64(a, b & 255) & ones64(c & 255); }
/* Sign-extend the low n bits of x; n = 0 gives 0. */
WG_INLINE u32 bfe_s32(u32 a, u32 b, u32 c)
{
    const u32 x = sar32(a, b & 255), n = (c & 255) > 31 ? 0 : 32 - (c & 255);
    return c & 255 ? (u32)((i32)(x << (n & 31)) >> (n & 31)) : 0;
}
WG_INLINE u64 bfe_s64(u64 a, u32 b, u32 c)
{
    const u64 x = sar64(a, b & 255);
    const u32 n = (c & 255) > 63 ? 0 : 64 - (c & 255);
    return c & 255 ? (u64)((i64)(x << (n & 63)) >> (n & 63)) : 0;
}
WG_INLINE u32 bfi32(u32 a, u32 b, u32 c, u32 f)
{
    const u32 m = shl32(ones32(f & 255), c & 255);
    return (b & ~m) | (shl32(a, c & 255) & m);
}
WG_INLINE u64 bfi64(u64 a, u64 b, u32 c, u32 f)
{
    const u64 m = shl64(ones64(f & 255), c & 255);
    return (b & ~m) | (shl64(a, c & 255) & m);
}
WG_INLINE u32 bmsk32(u32 a, u32 b, bool clamp)
{
    const u32 sum = (a & 31) + (b & 31);
    const u32 from = clamp && a > 31 ? 0 : ~0u << (a & 31);
    const u32 beyond = sum > 31 || (clamp && b > 31) ? 0 : ~0u << (sum & 31);
    return from & ~beyond;
}
WG_INLINE u32 szext32(u32 a, u32 b, bool clamp, bool is_signed)
{
    const u32 n = b & 31, m = clamp && b > 31 ? 0 : ~0u << n;
    const bool negative = is_signed && n && m && (a >> ((n - 1) & 31) & 1);
    return (a & ~m) | (negative ? m : 0);
}
/* Any function of three bits: lut bit 4a + 2b + c is the result. */
WG_INLINE u32 lop3(u32 a, u32 b, u32 c, u32 lut)
{
#define L(n) (0u - (lut >> (n) & 1))
    const u32 p0 = L(0) ^ (c & (L(0) ^ L(1))), p1 = L(2) ^ (c & (L(2) ^ L(3)));
    const u32 p2 = L(4) ^ (c & (L(4) ^ L(5))), p3 = L(6) ^ (c & (L(6) ^ L(7)));
#undef L
    const u32 q0 = p0 ^ (b & (p0 ^ p1)), q1 = p2 ^ (b & (p2 ^ p3));
    return q0 ^ (a & (q0 ^ q1));
}
/* Bytes of b:a picked by the nibbles of s; a nibble's top bit replicates the byte's sign. */
WG_INLINE u32 prmt(u32 a, u32 b, u32 s)
{
    const u64 x = (u64)b << 32 | a;
    u32 r = 0;
    for (int k = 0; k < 4; k++) {
        const u32 n = s >> 4 * k, y = (u32)(x >> 8 * (n & 7)) & 255;
        r |= (n & 8 ? (0u - (y >> 7)) & 255 : y) << 8 * k;
    }
    return r;
}
/* Selectors of the named modes, 16 bits for each value of the two low bits of c. */
WG_INLINE u32 prmt_mode(u32 a, u32 b, u32 c, u64 selectors)
{
    return prmt(a, b, (u32)(selectors >> 16 * (c & 3)) & 0xffff);
}
WG_INLINE u32 shf32(u32 a, u32 b, u32 n, bool left)
{
    const u64 x = (u64)b << 32 | a;
    return left ? (u32)(x << n >> 32) : (u32)(x >> n);
}

/* ---- small dot products ---- */
WG_INLINE i32 byte_of(u32 x, int n, bool s) { return s ? (i8)(x >> 8 * n) : (i32)(x >> 8 * n & 255); }
WG_INLINE u32 dp4a(u32 a, u32 b, u32 c, bool as, bool bs)
{
    for (int k = 0; k < 4; k++)
        c += (u32)(byte_of(a, k, as) * byte_of(b, k, bs));
    return c;
}
WG_INLINE u32 dp2a(u32 a, u32 b, u32 c, bool as, bool bs, int first)
{
    const i32 a0 = as ? (i16)a : (i32)(a & 0xffff), a1 = as ? (i16)(a >> 16) : (i32)(a >> 16);
    return c + (u32)(a0 * byte_of(b, first, bs)) + (u32)(a1 * byte_of(b, first + 1, bs));
}
/* The middle of a 24-bit product: bits 47 to 16; the low 32 bits come from lo. */
WG_INLINE i32 s24(u32 a) { return (i32)(a << 8) >> 8; }
WG_INLINE u32 mul24_hi_u(u32 a, u32 b) { return (u32)((u64)(a & 0xffffff) * (b & 0xffffff) >> 16); }
WG_INLINE u32 mul24_hi_s(u32 a, u32 b) { return (u32)((i64)s24(a) * s24(b) >> 16); }
/* Both halves of a word by the same function of 16-bit lanes. */
#define X2(f, a, b) ((u32)(u16)f((u16)(a), (u16)(b)) | (u32)(u16)f((u16)((a) >> 16), (u16)((b) >> 16)) << 16)
WG_INLINE u16 add16(u16 a, u16 b) { return (u16)(a + b); }
WG_INLINE u16 min_u16(u16 a, u16 b) { return a < b ? a : b; }
WG_INLINE u16 max_u16(u16 a, u16 b) { return a > b ? a : b; }
WG_INLINE u16 min_s16(u16 a, u16 b) { return (i16)a < (i16)b ? a : b; }
WG_INLINE u16 max_s16(u16 a, u16 b) { return (i16)a > (i16)b ? a : b; }
WG_INLINE u16 relu16(u16 a) { return a & 0x8000 ? 0 : a; }
WG_INLINE u16 min_relu_s16(u16 a, u16 b) { return relu16(min_s16(a, b)); }
WG_INLINE u16 max_relu_s16(u16 a, u16 b) { return relu16(max_s16(a, b)); }
#endif
