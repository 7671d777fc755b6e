// mma_bits.cu - bits of matrix products over pseudo-random registers. For each instruction and kind of data one hash of
// all result registers; the wanted hashes were measured on an H200 (mma_bits.inc). Volta's m8n8k4 runs, unchecked: an
// H200 emulates it.
#include <cstdint>
#include <cstring>
#include <cstdio>
#include "check.h"
typedef uint32_t u32;
typedef uint64_t u64;
__host__ __device__ inline u32 mix(u32 x)
{
    x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu;
    return x ^ x >> 16;
}
enum Kind { RAW, F16, BF16, TF32, F32, F64, E4M3, E5M2, META4, METAT };
// near: exponents within three of 1; far: within the whole finite range; any: every bit pattern
__device__ u32 part(u32 r, int bits, int ebits, int mbits, int cat)
{
    u32 emask = (1u << ebits) - 1, e = r >> mbits & emask, bias = emask >> 1;
    if (cat == 0)
        e = bias - 3 + e % 7;
    else if (cat == 1)
        e = e == emask ? emask - 1 : e;
    else if (cat == 2) // small numbers
        e = e % 4;
    return (r & ~(emask << mbits) & (u32)((1ull << bits) - 1)) | e << mbits;
}
__device__ u32 word(int kind, int cat, u32 seed)
{
    u32 r = mix(seed * 2654435761u + 12345u);
    switch (kind) {
    case F16: return part(r & 0xffff, 16, 5, 10, cat) | part(r >> 16, 16, 5, 10, cat) << 16;
    case BF16: // products stay finite: exponents around 1 in all but `any`
        if (cat == 1)
            return (r & 0x807f807fu) | (100 + (r >> 7 & 0xff) % 56) << 7 | (100 + (r >> 23 & 0xff) % 56) << 23;
        return part(r & 0xffff, 16, 8, 7, cat) | part(r >> 16, 16, 8, 7, cat) << 16;
    case TF32: case F32:
        if (cat == 1)
            return (r & 0x807fffffu) | (100 + (r >> 23 & 0xff) % 56) << 23;
        return part(r, 32, 8, 23, cat);
    case E4M3: case E5M2: {
        u32 v = 0;
        for (int k = 0; k < 4; k++)
            v |= part(r >> 8 * k & 0xff, 8, kind == E4M3 ? 4 : 5, kind == E4M3 ? 3 : 2, cat) << 8 * k;
        return v;
    }
    case META4: { // pairs of different ascending positions of four
        u32 v = 0;
        const u32 ok[6] = {4, 8, 12, 9, 13, 14};
        for (int k = 0; k < 8; k++)
            v |= ok[(r >> 4 * k & 15) % 6] << 4 * k;
        return v;
    }
    case METAT: { // 1:2 for tf32: 4 or 14
        u32 v = 0;
        for (int k = 0; k < 8; k++)
            v |= (r >> k & 1 ? 4u : 14u) << 4 * k;
        return v;
    }
    }
    return r;
}
__device__ double dbl(int cat, u32 seed)
{
    u64 r = (u64)mix(seed) << 32 | mix(seed ^ 0x5bd1e995u);
    u32 e = (u32)(r >> 52) & 0x7ff;
    if (cat == 0)
        e = 1020 + e % 7;
    else if (cat == 1)
        e = 800 + e % 400;
    else if (cat == 2)
        e = e % 4;
    r = (r & 0x800fffffffffffffull) | (u64)e << 52;
    return __longlong_as_double((long long)r);
}
#define CASES 32
#define IN(n, kind, salt) word(kind, cat, ((c * 8 + salt) * 64 + n) * 32 + l)
// D registers, A registers, B registers; ka, kb, kc: kinds
#define MMA(name, inst, nd, na, nb, ka, kb, kc, dlist, alist, blist, clist)                                           \
    __global__ void name(u32 *out, int cat)                                                                            \
    {                                                                                                                  \
        u32 l = threadIdx.x;                                                                                           \
        for (u32 c = 0; c < CASES; c++) {                                                                              \
            u32 d[8] = {0}, a[8], b[8], x[8];                                                                          \
            for (u32 k = 0; k < 8; k++)                                                                                \
                a[k] = IN(k, ka, 0), b[k] = IN(k, kb, 1), x[k] = IN(k, kc, 2);                                         \
            asm volatile(inst " " dlist ", " alist ", " blist ", " clist ";"                                           \
                         : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]), "=r"(d[4]), "=r"(d[5]), "=r"(d[6]),         \
                           "=r"(d[7])                                                                                  \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),     \
                           "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]), "r"(x[6]), "r"(x[7]));    \
            for (u32 k = 0; k < nd; k++)                                                                               \
                out[(c * nd + k) * 32 + l] = d[k];                                                                     \
        }                                                                                                              \
    }
#define D1 "{%0}"
#define D2 "{%0,%1}"
#define D4 "{%0,%1,%2,%3}"
#define D8 "{%0,%1,%2,%3,%4,%5,%6,%7}"
#define A1 "{%8}"
#define A2 "{%8,%9}"
#define A4 "{%8,%9,%10,%11}"
#define B1 "{%12}"
#define B2 "{%12,%13}"
#define B4 "{%12,%13,%14,%15}"
#define C2 "{%16,%17}"
#define C4 "{%16,%17,%18,%19}"
#define C8 "{%16,%17,%18,%19,%20,%21,%22,%23}"
#define LIST                                                                                                           \
    X(f16_k16_f32, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2, F16, F16, F32, D4, A4, B2, C4)        \
    X(f16_k8_f32, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, F16, F16, F32, D4, A2, B1, C4)          \
    X(f16_k16_f16, "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 2, 4, 2, F16, F16, F16, D2, A4, B2, C2)        \
    X(f16_k8_f16, "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 2, 2, 1, F16, F16, F16, D2, A2, B1, C2)          \
    X(bf16_k16, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 4, 4, 2, BF16, BF16, F32, D4, A4, B2, C4)       \
    X(bf16_k8, "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 4, 2, 1, BF16, BF16, F32, D4, A2, B1, C4)         \
    X(tf32_k4, "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, 1, TF32, TF32, F32, D4, A2, B1, C4)         \
    X(tf32_k8, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, 4, 2, TF32, TF32, F32, D4, A4, B2, C4)         \
    X(s8_k16, "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", 4, 2, 1, RAW, RAW, RAW, D4, A2, B1, C4)               \
    X(s8_k32, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 4, 4, 2, RAW, RAW, RAW, D4, A4, B2, C4)               \
    X(u8s8_k32_sat, "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32", 4, 4, 2, RAW, RAW, RAW, D4, A4, B2, C4) \
    X(s8_m8, "mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32", 2, 1, 1, RAW, RAW, RAW, D2, A1, B1, C2)                 \
    X(s4_k32, "mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32", 4, 2, 1, RAW, RAW, RAW, D4, A2, B1, C4)               \
    X(u4s4_k64, "mma.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32", 4, 4, 2, RAW, RAW, RAW, D4, A4, B2, C4)             \
    X(s4_m8, "mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32", 2, 1, 1, RAW, RAW, RAW, D2, A1, B1, C2)                 \
    X(b1_k128_xor, "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc", 4, 2, 1, RAW, RAW, RAW, D4, A2, B1, C4) \
    X(b1_k256_and, "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", 4, 4, 2, RAW, RAW, RAW, D4, A4, B2, C4) \
    X(b1_m8, "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 2, 1, 1, RAW, RAW, RAW, D2, A1, B1, C2)       \
    X(e4m3, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 4, 2, E4M3, E4M3, F32, D4, A4, B2, C4)           \
    X(e5m2, "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32", 4, 4, 2, E5M2, E5M2, F32, D4, A4, B2, C4)           \
    X(e4m3e5m2, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", 4, 4, 2, E4M3, E5M2, F32, D4, A4, B2, C4)       \
    X(volta_rc_f32, "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", 8, 2, 2, F16, F16, F32, D8, A2, B2, C8)         \
    X(volta_cr_f32, "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32", 8, 2, 2, F16, F16, F32, D8, A2, B2, C8)         \
    X(volta_rr_f16, "mma.sync.aligned.m8n8k4.row.row.f16.f16.f16.f16", 4, 2, 2, F16, F16, F16, D4, A2, B2, C4)         \
    X(volta_cc_f16f32, "mma.sync.aligned.m8n8k4.col.col.f32.f16.f16.f16", 8, 2, 2, F16, F16, F16, D8, A2, B2, C4)
#define SPLIST                                                                                                         \
    X(sp_f16_k16, "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, A2, B2, "0x1", F16, F32, META4)           \
    X(sp_f16_k32, "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", 4, A4, B4, "0x1", F16, F32, META4)           \
    X(sp_tf32_k8, "mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, A2, B2, "0x1", TF32, F32, METAT)         \
    X(sp_tf32_k16, "mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", 4, A4, B4, "0x1", TF32, F32, METAT)       \
    X(sp_s8_k32, "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 4, A2, B2, "0x1", RAW, RAW, META4)              \
    X(sp_s8_k64, "mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.u8.s32", 4, A4, B4, "0x0", RAW, RAW, META4)
#define X(name, inst, nd, na, nb, ka, kb, kc, d, a, b, c) MMA(name, inst, nd, na, nb, ka, kb, kc, d, a, b, c)
LIST
#undef X
#define X(name, inst, nd, a_, b_, sel, kab, kc, km)                                                                    \
    __global__ void name(u32 *out, int cat)                                                                            \
    {                                                                                                                  \
        u32 l = threadIdx.x;                                                                                           \
        for (u32 c = 0; c < CASES; c++) {                                                                              \
            u32 d[4], a[4], b[4], x[4], e = IN(0, km, 3);                                                              \
            for (u32 k = 0; k < 4; k++)                                                                                \
                a[k] = IN(k, kab, 0), b[k] = IN(k, kab, 1), x[k] = IN(k, kc, 2);                                       \
            asm volatile(inst " {%0,%1,%2,%3}, " a_ ", " b_ ", {%16,%17,%18,%19}, %20, " sel ";"                       \
                         : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]), "=r"(a[0]), "=r"(a[1]), "=r"(a[2]),         \
                           "=r"(a[3])                                                                                  \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),     \
                           "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(e));                                        \
            for (u32 k = 0; k < nd; k++)                                                                               \
                out[(c * nd + k) * 32 + l] = d[k];                                                                     \
        }                                                                                                              \
    }
SPLIST
#undef X
#define DIN(n, salt) dbl(cat, ((c * 8 + salt) * 64 + n) * 32 + l)
__global__ void f64_m8(u32 *out, int cat)
{
    u32 l = threadIdx.x;
    for (u32 c = 0; c < CASES; c++) {
        double d0, d1;
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%4,%5};"
                     : "=d"(d0), "=d"(d1) : "d"(DIN(0, 0)), "d"(DIN(0, 1)), "d"(DIN(0, 2)), "d"(DIN(1, 2)));
        u64 x = __double_as_longlong(d0), y = __double_as_longlong(d1);
        u32 *o = out + c * 128 + l;
        o[0] = (u32)x, o[32] = (u32)(x >> 32), o[64] = (u32)y, o[96] = (u32)(y >> 32);
    }
}
__global__ void f64_k16(u32 *out, int cat)
{
    u32 l = threadIdx.x;
    for (u32 c = 0; c < CASES; c++) {
        double d0, d1, d2, d3;
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, "
                     "{%12,%13,%14,%15}, {%16,%17,%18,%19};"
                     : "=d"(d0), "=d"(d1), "=d"(d2), "=d"(d3)
                     : "d"(DIN(0, 0)), "d"(DIN(1, 0)), "d"(DIN(2, 0)), "d"(DIN(3, 0)), "d"(DIN(4, 0)), "d"(DIN(5, 0)),
                       "d"(DIN(6, 0)), "d"(DIN(7, 0)), "d"(DIN(0, 1)), "d"(DIN(1, 1)), "d"(DIN(2, 1)), "d"(DIN(3, 1)),
                       "d"(DIN(0, 2)), "d"(DIN(1, 2)), "d"(DIN(2, 2)), "d"(DIN(3, 2)));
        u64 v[4] = {(u64)__double_as_longlong(d0), (u64)__double_as_longlong(d1), (u64)__double_as_longlong(d2),
                    (u64)__double_as_longlong(d3)};
        for (int k = 0; k < 4; k++)
            out[(c * 8 + 2 * k) * 32 + l] = (u32)v[k], out[(c * 8 + 2 * k + 1) * 32 + l] = (u32)(v[k] >> 32);
    }
}
struct Case { const char *name; void (*fn)(u32 *, int); int words; };
static const Case cases[] = {
#define X(name, inst, nd, na, nb, ka, kb, kc, d, a, b, c) {#name, name, nd},
    LIST
#undef X
#define X(name, inst, nd, a_, b_, sel, kab, kc, km) {#name, name, nd},
    SPLIST
#undef X
    {"f64_m8", f64_m8, 4}, {"f64_k16", f64_k16, 8}};
static const struct { const char *name; int cat; u64 hash; } want[] = {
#include "mma_bits.inc"
};
int main(int argc, char **argv)
{
    bool print = argc > 1; // on a GPU: the rows of mma_bits.inc
    u32 *d = device<u32>(CASES * 8 * 32), *h = (u32 *)malloc(CASES * 8 * 32 * 4);
    unsigned found = 0;
    for (const Case &c : cases)
        for (int cat = 0; cat < 4; cat++) {
            size_t n = (size_t)CASES * c.words * 32;
            CK(cudaMemset(d, 0, n * 4));
            c.fn<<<1, 32>>>(d, cat);
            CK(cudaGetLastError());
            fetch(h, d, n);
            u64 s = 0xcbf29ce484222325ull;
            for (size_t k = 0; k < n; k++)
                s = (s ^ h[k]) * 0x100000001b3ull;
            if (print)
                printf("{\"%s\", %d, 0x%016llxull},\n", c.name, cat, (unsigned long long)s);
            for (auto &w : want)
                if (!strcmp(w.name, c.name) && w.cat == cat) {
                    found++;
                    EXPECT(s == w.hash, "%s, data %d: the bits differ from those of an H200", c.name, cat);
                }
        }
    EXPECT(found == sizeof want / sizeof *want, "%u rows compared", found);
    return verdict("mma_bits");
}
