/* video.c - scalar and SIMD video instructions, lane by lane: few programs have them. */
#include "exec/alu_rows.h"
#include "exec/video.h"

static i64 clamp(i64 v, bool is_signed, int bits)
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

static i64 one(i64 k, i64 a, i64 b)
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
        return WG_VIDEO_OP(k) == WG_VIDEO_SHL ? (i64)((u64)a << n) : a >> n;
    }
    default:
        return (WG_VIDEO_REL(k) & (a < b ? WG_REL_LT : a > b ? WG_REL_GT : WG_REL_EQ)) != 0;
    }
}

__attribute__((noinline)) static u32 multiply_add(i64 k, u32 a, u32 b, u32 c)
{
    const bool as = k & WG_VIDEO_A_SIGNED, bs = k & WG_VIDEO_B_SIGNED, s = as || bs;
    /* unsigned products fill 64 bits, so the sum needs more */
    __extension__ typedef __int128 wide;
    wide r = (wide)element(a, 0, 32, as) * element(b, 0, 32, bs) + element(c, 0, 32, s) + ((k & WG_VIDEO_PLUS_ONE) != 0);
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
    const int count = (int)WG_VIDEO_COUNT(k), bits = 32 / count;
    const bool ds = k & WG_VIDEO_D_SIGNED;
    u32 sum = c, word = 0;
    for (int n = 0; n < count; n++) {
        i64 t = one(k, element(a, n, bits, k & WG_VIDEO_A_SIGNED), element(b, n, bits, k & WG_VIDEO_B_SIGNED));
        if (k & WG_VIDEO_SAT)
            t = clamp(t, ds, bits);
        sum += (u32)t;
        word |= (u32)((u64)t & (~0ull >> (64 - bits))) << n * bits;
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
