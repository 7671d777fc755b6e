/* video.c - scalar and SIMD video instructions, lane by lane: few programs have them. */
#include "exec/alu_rows.h"
#include "exec/video.h"

/* Shifts and products of 32-bit values, and sums of those. */
__extension__ typedef __int128 wide;

static wide clamp(wide v, bool is_signed, int bits)
{
    const i64 hi = is_signed ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1, lo = is_signed ? -hi - 1 : 0;
    return v < lo ? lo : v > hi ? hi : v;
}

/* Element n of v, bits wide. */
static i64 element(u32 v, int n, int bits, bool is_signed)
{
    const u64 x = (u64)v << (64 - bits - n * bits);
    return is_signed ? (i64)x >> (64 - bits) : (i64)(x >> (64 - bits));
}

/* The part of an operand, or all of it. */
static i64 part(u32 v, int which, bool is_signed)
{
    return which > 4 ? element(v, which - 5, 16, is_signed) : which ? element(v, which - 1, 8, is_signed)
                                                                    : element(v, 0, 32, is_signed);
}

static wide one(i64 k, i64 a, i64 b)
{
    switch (WG_VIDEO_OP(k)) {
    case WG_VIDEO_ADD:
        return a + b;
    case WG_VIDEO_SUB:
        return a - b;
    case WG_VIDEO_ABSDIFF:
        return a < b ? b - a : a - b;
    case WG_VIDEO_MIN:
        return a < b ? a : b;
    case WG_VIDEO_MAX:
        return a > b ? a : b;
    case WG_VIDEO_AVRG:
        return (a + b + (a + b >= 0)) >> 1;
    case WG_VIDEO_SHL:
    case WG_VIDEO_SHR: {
        const unsigned n = k & WG_VIDEO_WRAP ? (unsigned)b & 31 : (u32)b > 32 ? 32 : (unsigned)b;
        return WG_VIDEO_OP(k) == WG_VIDEO_SHL ? (wide)a * ((wide)1 << n) : a >> n;
    }
    default:
        return (WG_VIDEO_REL(k) & (a < b ? WG_REL_LT : a > b ? WG_REL_GT : WG_REL_EQ)) != 0;
    }
}

__attribute__((noinline)) static u32 multiply_add(i64 k, u32 a, u32 b, u32 c)
{
    const bool as = k & WG_VIDEO_A_SIGNED, bs = k & WG_VIDEO_B_SIGNED;
    const bool s = as || bs || k & (WG_VIDEO_NEG_PRODUCT | WG_VIDEO_NEG_C);
    wide p = (wide)part(a, WG_VIDEO_PART(k, 1), as) * part(b, WG_VIDEO_PART(k, 2), bs);
    if (k & WG_VIDEO_NEG_PRODUCT)
        p = -p;
    wide r = p + (k & WG_VIDEO_NEG_C ? 1 + element(~c, 0, 32, s) : element(c, 0, 32, s)) + ((k & WG_VIDEO_PLUS_ONE) != 0);
    r >>= WG_VIDEO_SHIFT(k);
    if (k & WG_VIDEO_SAT) {
        const wide lo = s ? INT32_MIN : 0, hi = s ? INT32_MAX : UINT32_MAX;
        r = r < lo ? lo : r > hi ? hi : r;
    }
    return (u32)r;
}

__attribute__((noinline)) static u32 video(i64 k, u32 a, u32 b, u32 c)
{
    if (WG_VIDEO_OP(k) == WG_VIDEO_MAD)
        return multiply_add(k, a, b, c);
    const int count = (int)WG_VIDEO_COUNT(k), bits = 32 / count, to = count == 1 ? WG_VIDEO_PART(k, 0) : 0;
    const int room = to > 4 ? 16 : to ? 8 : bits; /* of one result */
    const bool ds = k & WG_VIDEO_D_SIGNED, as = k & WG_VIDEO_A_SIGNED, bs = k & WG_VIDEO_B_SIGNED;
    u32 sum = c, word = 0;
    for (int n = 0; n < count; n++) {
        i64 x, y;
        if (count == 1) {
            x = part(a, WG_VIDEO_PART(k, 1), as);
            y = part(b, WG_VIDEO_PART(k, 2), bs);
        } else { /* from the parts of both words */
            const int p = WG_VIDEO_CHOICE(k, 1, n), q = WG_VIDEO_CHOICE(k, 2, n);
            x = element(p < count ? a : b, p % count, bits, as);
            y = element(q < count ? a : b, q % count, bits, bs);
        }
        wide t = one(k, x, y);
        if (k & WG_VIDEO_SAT)
            t = clamp(t, ds, room);
        if (count > 1 && !WG_VIDEO_WANTED(k, n)) {
            word |= (u32)(element(c, n, bits, false)) << n * bits;
            continue;
        }
        sum += (u32)t;
        word |= (u32)((u64)t & (~0ull >> (64 - bits))) << n * bits;
    }
    if (to) { /* the rest of the word comes from c */
        const int at = to > 4 ? 16 * (to - 5) : 8 * (to - 1);
        const u32 m = (room == 16 ? 0xffffu : 0xffu) << at;
        return (c & ~m) | (word << at & m);
    }
    switch (WG_VIDEO_SECOND(k)) {
    case WG_VIDEO_PLUS:
        return sum;
    case WG_VIDEO_LEAST:
        return ds ? (u32)((i32)word < (i32)c ? (i32)word : (i32)c) : word < c ? word : c;
    case WG_VIDEO_MOST:
        return ds ? (u32)((i32)word > (i32)c ? (i32)word : (i32)c) : word > c ? word : c;
    default:
        return word;
    }
}

#define VIDEO_FORMS(sfx, on)                                                                                           \
    WG_HANDLER(video_v##sfx)                                                                                           \
    {                                                                                                                  \
        u32 *d = WG_VEC(u32, i->d);                                                                                    \
        const u32 m = (on);                                                                                            \
        WG_DECL_V(u32, a) WG_DECL_V(u32, b) WG_DECL_V(u32, c)                                                          \
        for (int l = 0; l < WG_LANES; l++)                                                                             \
            if (m >> l & 1)                                                                                            \
                d[l] = video(i->imm, a_[l], b_[l], c_[l]);                                                             \
        WG_NEXT;                                                                                                       \
    }                                                                                                                  \
    WG_HANDLER(video_s##sfx)                                                                                           \
    {                                                                                                                  \
        if (on)                                                                                                        \
            *WG_AS(u64, i->d) = video(i->imm, *WG_AS(u32, i->a), *WG_AS(u32, i->b), *WG_AS(u32, i->c));                \
        WG_NEXT;                                                                                                       \
    }
VIDEO_FORMS(, ~0u)
VIDEO_FORMS(_m, WG_ON)

extern const struct wg_alu_rare WG_ISA_NAME(wg_alu_video);
const struct wg_alu_rare WG_ISA_NAME(wg_alu_video) = {.v = {video_v, video_v_m}, .s = {video_s, video_s_m}};
