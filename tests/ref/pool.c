/* pool.c - operand values: edge cases of every type, arranged so that they meet each other, then pseudo-random bits. */
#include "ref.h"
#include <string.h>

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

static const uint32_t edge_f32[] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
                                    0x7f800001, 0xffc12345, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x80800000,
                                    0x7f7fffff, 0xff7fffff, 0x3f7fffff, 0x3f800001, 0x3f000000, 0x4b000001, 0x4effffff,
                                    0x4f000000, 0x4f800000, 0xc0490fdb, 0x5f000000, 0x33800000, 0x3fc00000, 0x7fffffff};
/* {a, b, c} that must meet: ties, cancellation, overflow and underflow by a hair, products at the edge of subnormal. */
static const uint32_t triple_f32[][3] = {
    {0x3f7fffff, 0x00800000, 0x00000000}, /* (1-2^-24) 2^-126: halfway between subnormal and normal */
    {0x3f800001, 0x007fffff, 0x80000000}, /* tiny before, normal after rounding */
    {0x00800000, 0x3f000000, 0x00000001},
    {0x7f7fffff, 0x3f800001, 0x00000000},
    {0x7f7fffff, 0x73000000, 0x72ffffff},
    {0x4b800000, 0x3f800000, 0xcb800000},
    {0x3f800001, 0x3f800001, 0xbf800002},
    {0x7f800000, 0x00000000, 0x3f800000},
    {0x7f800000, 0xff800000, 0x7f800000},
    {0x40490fdb, 0x402df854, 0xc1084ce0},
    {0x34000000, 0x3f800000, 0x33800000},
    {0x80800001, 0x00800000, 0x00000001},
    {0x1a000001, 0x25000000, 0x80000001},
    {0x3f7ffffe, 0x00800001, 0x00000000}, /* tiny before, least normal after rounding to any exponent */
    {0xbf7ffffe, 0x00800001, 0x80000000}};
static const uint64_t edge_f64[] = {0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
                                    0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001,
                                    0xfff8000000012345, 0x0000000000000001, 0x800fffffffffffff, 0x0010000000000000,
                                    0x7fefffffffffffff, 0xffefffffffffffff, 0x3ff0000000000001, 0x3fefffffffffffff,
                                    0x3fe0000000000000, 0x41dfffffffc00000, 0x41e0000000000000, 0xc1e0000000200000,
                                    0x43e0000000000000, 0x43f0000000000000, 0x47efffffe0000000, 0x47effffff0000000,
                                    0x3810000000000000, 0x36a0000000000000, 0x3690000000000001};
static const uint64_t triple_f64[][3] = {
    {0x3fefffffffffffff, 0x0010000000000000, 0x0000000000000000},
    {0x3ff0000000000001, 0x000fffffffffffff, 0x8000000000000000},
    {0x3ff0000000000001, 0x3ff0000000000001, 0xbff0000000000002},
    {0x7fefffffffffffff, 0x3ff0000000000001, 0x0000000000000000},
    {0x7fefffffffffffff, 0x7c90000000000000, 0x7c8fffffffffffff},
    {0x4340000000000000, 0x3ff0000000000000, 0xc340000000000000},
    {0x7ff0000000000000, 0x0000000000000000, 0x3ff0000000000000},
    {0x7ff0000000000000, 0xfff0000000000000, 0x7ff0000000000000},
    {0x7ff8000000000abc, 0x7ff8000000000def, 0xfff8000000000123},
    {0x3ff0000010000000, 0x3f10200000000000, 0x4004000000000000}, /* a: tie to f32 */
    {0x3ff0000030000000, 0x40effe0000000000, 0xc0dfffe000000000}, /* a: tie to f32, odd */
    {0x380fffffe0000000, 0x3e70000000000000, 0x3e60000000000001},
    {0x3cb0000000000000, 0x3ff0000000000000, 0x3ca0000000000000},
    {0x380fffffffffffff, 0x7ff8000000000077, 0x7ff0000000000055}, /* a: tiny as f32, before rounding */
    {0x7ff4000000000099, 0x3ff0000000000000, 0xfff8000000000088},
    {0x7ff0000000000033, 0xfff4000000000044, 0x4000000000000000},
    {0x3f0fffffffffffff, 0x3f0fffffc0000000, 0x3e6fffffffffffff}};
static const uint16_t edge_f16[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xfe12,
                                    0x0001, 0x8001, 0x03ff, 0x0400, 0x8400, 0x7bff, 0xfbff, 0x3bff, 0x3c01,
                                    0x3800, 0x6401, 0x4248, 0xc4d1, 0x5bff, 0x3e00, 0x1400, 0x0200};
static const uint16_t triple_f16[][3] = {{0x3bff, 0x0400, 0x0000}, {0x3c01, 0x03ff, 0x8000}, {0x7bff, 0x3c01, 0x0000},
                                         {0x7bff, 0x3c00, 0x4c00}, {0x6800, 0x3c00, 0xe800}, {0x3c01, 0x3c01, 0xbc02},
                                         {0x7c00, 0x0000, 0x3c00}, {0x7c00, 0xfc00, 0x7c00}, {0x1400, 0x3c00, 0x1000},
                                         {0x8401, 0x0400, 0x0001}, {0x0c01, 0x2000, 0x8001}, {0x7e01, 0x7d55, 0xfe77},
                                         {0x7ffe, 0x3c00, 0x4000}, {0x3c00, 0xfffe, 0x4000}, {0x7fff, 0x3c00, 0x4000},
                                         {0x3bfe, 0x0401, 0x0000}, {0xbbfe, 0x0401, 0x8000}};
static const uint16_t edge_bf16[] = {0x0000, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0, 0x7f81, 0xffd2,
                                     0x0001, 0x8001, 0x007f, 0x0080, 0x8080, 0x7f7f, 0xff7f, 0x3f7f, 0x3f81,
                                     0x3f00, 0x4f00, 0x4eff, 0x4f80, 0x4049, 0xc02e, 0x3fc0, 0x5f00};
static const uint16_t triple_bf16[][3] = {{0x3f7f, 0x0080, 0x0000}, {0x3f81, 0x007f, 0x8000}, {0x7f7f, 0x3f81, 0x0000},
                                          {0x7f7f, 0x3f80, 0x7b00}, {0x4380, 0x3f80, 0xc380}, {0x3f81, 0x3f81, 0xbf82},
                                          {0x7f80, 0x0000, 0x3f80}, {0x7f80, 0xff80, 0x7f80}, {0x3c00, 0x3f80, 0x3b80},
                                          {0x8081, 0x0080, 0x0001}, {0x1a01, 0x2500, 0x8001}, {0x7fc1, 0x7fa5, 0xffc7},
                                          {0x7ffe, 0x3f80, 0x4000}, {0x3f80, 0xfffe, 0x4000}, {0x7fff, 0x3f80, 0x4000}};
/* of an n-bit integer, as offsets to be masked */
static const int64_t edge_int[] = {0, 1, -1, 2, -2, 3, 7, 8, 10, -10, 100, -100, 127, -128, 128, 255, 256, 0x7f80, 24};

static uint64_t ones(unsigned bits)
{
    return bits == 64 ? ~0ull : (1ull << bits) - 1;
}

static uint64_t int_edge(unsigned bits, unsigned i)
{
    enum { N = sizeof edge_int / sizeof *edge_int };
    uint64_t top = 1ull << (bits - 1);
    if (i < N)
        return (uint64_t)edge_int[i];
    switch (i - N) {
    case 0:
        return top;
    case 1:
        return top - 1;
    case 2:
        return top + 1;
    case 3:
        return ones(bits / 2);
    case 4:
        return 1ull << (bits / 2);
    case 5:
        return ones(bits) << (bits / 2);
    case 6:
        return 0x5555555555555555ull;
    default:
        return 0xcccccccccccccccdull;
    }
}

static uint64_t integer(unsigned bits, unsigned pos, unsigned i)
{
    enum { N = sizeof edge_int / sizeof *edge_int + 8 };
    uint64_t r = mix(((uint64_t)bits << 32) + pos * 977 + i);
    if (i < 40)
        return int_edge(bits, pos == 0 ? i % N : (i * (2 * pos + 3) + i / N + pos) % N);
    if (i < 44) /* dividend minimum, divisor -1 and 0 */
        return pos == 0 ? 1ull << (bits - 1) : pos == 1 ? (i & 1 ? ~0ull : 0) : i;
    if (i < 52) /* small operands */
        return (r >> 20 & 0x1ff) - 0xff;
    return i % 3 ? r : r >> (r & 31);
}

#define FLOAT_POOL(name, type, bits, expbits)                                                                          \
    static uint64_t name(unsigned pos, unsigned i)                                                                     \
    {                                                                                                                  \
        enum { N = sizeof edge_##name / sizeof *edge_##name, T = sizeof triple_##name / sizeof *triple_##name };       \
        uint64_t r = mix(((uint64_t)(bits * 7 + expbits) << 32) + pos * 977 + i);                                      \
        if (i < 36)                                                                                                    \
            return edge_##name[pos == 0 ? i % N : (i * (2 * pos + 3) + i / N * 5 + pos * 2) % N];                      \
        if (i < 36 + T)                                                                                                \
            return triple_##name[i - 36][pos % 3];                                                                     \
        type v = (type)r;                                                                                              \
        if (i & 1) { /* keep exponents close: cancellation and rounding rather than absorption */                      \
            const unsigned man = bits - 1 - expbits;                                                                   \
            type bias = (type)((1u << (expbits - 1)) - 4 + (r >> 59 & 7));                                             \
            v = (type)((v & ~((type)ones(expbits) << man)) | (type)(bias << man));                                     \
        }                                                                                                              \
        return v;                                                                                                      \
    }
FLOAT_POOL(f32, uint32_t, 32, 8)
FLOAT_POOL(f64, uint64_t, 64, 11)
FLOAT_POOL(f16, uint16_t, 16, 5)
FLOAT_POOL(bf16, uint16_t, 16, 8)

/* angles and exponents of a useful size, and magnitudes that narrow formats can hold */
static uint64_t fine(unsigned pos, unsigned i, int emin, int emax)
{
    if (i < 24)
        return f32(pos, i);
    uint64_t r = mix(0xf1e5u + pos * 7919 + i);
    uint32_t e = (uint32_t)(127 + emin) + (uint32_t)(r >> 32) % (uint32_t)(emax - emin + 1);
    uint32_t m = (uint32_t)r & 0x7fffff;
    if (i % 4 == 1)
        m &= 0x7c0000; /* ties in narrow formats */
    if (i % 4 == 2)
        m = (m & 0x7e0000) | 0x20000;
    return ((uint32_t)(r >> 63) << 31) | e << 23 | m;
}

static uint64_t hinted(enum wg_type t, const char *hint, unsigned pos, unsigned i)
{
    uint64_t r = mix((uint64_t)t * 131 + pos * 977 + i + ((uint64_t)hint[0] << 40) + ((uint64_t)hint[1] << 48));
    if (!strcmp(hint, "lane")) /* fns takes a signed count in its third operand */
        return t == WG_T_S32 ? (uint64_t)((int64_t)(r % 13) - 6) : r % 32;
    if (!strcmp(hint, "few"))
        return i / 32 ? 5 : r % 4;
    if (!strcmp(hint, "shift"))
        return i % 8 == 7 ? r : i < 48 ? (i * (pos ? 5 : 3)) % 71 : r % 33;
    if (!strcmp(hint, "pos"))
        return i % 16 == 15 ? r : pos & 1 ? (i * 5) % 68 : (i * 3) % 67;
    if (!strcmp(hint, "perm"))
        return i < 8 ? i : i < 16 ? 0x3210 + i * 0x1111 : r;
    if (!strcmp(hint, "fine"))
        return fine(pos, i, -14, 8);
    if (!strcmp(hint, "small"))
        return t == WG_T_F32 ? fine(pos, i, -19, 17)
               : i < 20      ? (uint64_t)edge_int[(i + pos * 3) % 19]
                             : (r & 0x1ffff) >> (r >> 40) % 16 ^ (uint64_t)-(int64_t)(r >> 63);
    return 0;
}

uint64_t ref_pool(enum wg_type t, const char *hint, unsigned pos, unsigned i)
{
    unsigned bits = ref_width(t);
    if (*hint)
        return hinted(t, hint, pos, i) & ones(bits);
    switch (t) {
    case WG_T_PRED:
        return (pos & 1 ? i / 2 : i) % 3 == 0 || i % 7 == pos;
    case WG_T_F32:
        return f32(pos, i);
    case WG_T_F64:
        return f64(pos, i);
    case WG_T_F16:
        return f16(pos, i);
    case WG_T_BF16:
        return bf16(pos, i);
    case WG_T_F16X2:
        return f16(pos, i) | f16(pos, (i + 11) % 64 + i / 64 * 64) << 16;
    case WG_T_BF16X2:
        return bf16(pos, i) | bf16(pos, (i + 11) % 64 + i / 64 * 64) << 16;
    case WG_T_U16X2:
    case WG_T_S16X2:
        return (integer(16, pos, i) & 0xffff) | (integer(16, pos, i + 9) & 0xffff) << 16;
    case WG_T_U8:
    case WG_T_S8:
        return (integer(8, pos, i) & 0xff) | (mix(i + 5) & 0xffffff00); /* high bits must not matter */
    default:
        return integer(bits, pos, i) & ones(bits);
    }
}
