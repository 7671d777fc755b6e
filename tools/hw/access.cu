// One warp, one memory instruction, lane offsets from a list of patterns: what the hardware counts for each pair. The
// launches come in a fixed order, so that a row of counters needs no more than its number.
//   build: nvcc -arch=sm_90 -O3 -cudart shared access.cu -o access     run: tools/hw/measure (H200), tools/hw/compare (here)
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

// Where each lane goes, in bytes; negative: it takes no part. `other` is the shared side of an asynchronous copy.
struct lanes { int at[32], other[32]; };
__constant__ lanes where;

#define BYTES 16896
// Every kernel has one access that is executed. `never` keeps results alive through a store that does not happen.
#define ACCESS(name, ...)                                                                                             \
    extern "C" __global__ void name(char *memory, int never)                                                          \
    {                                                                                                                 \
        __shared__ __align__(128) char block[BYTES];                                                                  \
        int o = where.at[threadIdx.x], p = where.other[threadIdx.x];                                                  \
        unsigned x = 0, y = 1, z = 2, w = 3;                                                                          \
        unsigned long long d = 4;                                                                                     \
        char *g = memory + o;                                                                                         \
        unsigned s = (unsigned)__cvta_generic_to_shared(block) + (unsigned)o;                                         \
        unsigned t = (unsigned)__cvta_generic_to_shared(block) + (unsigned)p;                                         \
        (void)g, (void)s, (void)t;                                                                                    \
        if (o >= 0)                                                                                                   \
            asm volatile(__VA_ARGS__                                                                                  \
                         : "+r"(x), "+r"(y), "+r"(z), "+r"(w), "+l"(d) : "l"(g), "r"(s), "r"(t) : "memory");          \
        if (x + y + z + w + (unsigned)d == (unsigned)never)                                                           \
            block[x & 31] = memory[x & 31] = (char)never;                                                             \
    }
#define SUB "{.reg .b16 h; .reg .b64 l; .reg .f32 f; .reg .f64 e; "
ACCESS(ld_shared_8, "ld.shared.u8 %0, [%6];")
ACCESS(ld_shared_16, SUB "ld.shared.u16 h, [%6]; cvt.u32.u16 %0, h;}")
ACCESS(ld_shared_32, "ld.shared.u32 %0, [%6];")
ACCESS(ld_shared_64, "ld.shared.u64 %4, [%6];")
ACCESS(ld_shared_v2, "ld.shared.v2.u32 {%0, %1}, [%6];")
ACCESS(ld_shared_128, "ld.shared.v4.u32 {%0, %1, %2, %3}, [%6];")
ACCESS(st_shared_8, "st.shared.u8 [%6], %0;")
ACCESS(st_shared_16, SUB "cvt.u16.u32 h, %0; st.shared.u16 [%6], h;}")
ACCESS(st_shared_32, "st.shared.u32 [%6], %0;")
ACCESS(st_shared_64, "st.shared.u64 [%6], %4;")
ACCESS(st_shared_128, "st.shared.v4.u32 [%6], {%0, %1, %2, %3};")
ACCESS(atom_shared_add_32, "atom.shared.add.u32 %0, [%6], %1;")
ACCESS(red_shared_add_32, "red.shared.add.u32 [%6], %1;")
ACCESS(red_shared_one_32, "red.shared.add.u32 [%6], 1;")
ACCESS(atom_shared_add_64, "atom.shared.add.u64 %4, [%6], %4;")
ACCESS(atom_shared_cas_32, "atom.shared.cas.b32 %0, [%6], %1, %2;")
ACCESS(atom_shared_cas_64, SUB "mov.b64 l, {%0, %1}; atom.shared.cas.b64 %4, [%6], l, %4;}")
ACCESS(atom_shared_exch_32, "atom.shared.exch.b32 %0, [%6], %1;")
ACCESS(atom_shared_min_32, "atom.shared.min.s32 %0, [%6], %1;")
ACCESS(red_shared_add_f32, SUB "mov.b32 f, %0; red.shared.add.f32 [%6], f;}")
ACCESS(ld_global_8, "ld.global.u8 %0, [%5];")
ACCESS(ld_global_16, SUB "ld.global.u16 h, [%5]; cvt.u32.u16 %0, h;}")
ACCESS(ld_global_32, "ld.global.u32 %0, [%5];")
ACCESS(ld_global_64, "ld.global.u64 %4, [%5];")
ACCESS(ld_global_128, "ld.global.v4.u32 {%0, %1, %2, %3}, [%5];")
ACCESS(st_global_8, "st.global.u8 [%5], %0;")
ACCESS(st_global_16, SUB "cvt.u16.u32 h, %0; st.global.u16 [%5], h;}")
ACCESS(st_global_32, "st.global.u32 [%5], %0;")
ACCESS(st_global_64, "st.global.u64 [%5], %4;")
ACCESS(st_global_128, "st.global.v4.u32 [%5], {%0, %1, %2, %3};")
ACCESS(red_global_add_32, "red.global.add.u32 [%5], %1;")
ACCESS(red_global_add_f32, SUB "mov.b32 f, %0; red.global.add.f32 [%5], f;}")
ACCESS(red_global_add_64, "red.global.add.u64 [%5], %4;")
ACCESS(red_global_add_f64, SUB "mov.b64 e, %4; red.global.add.f64 [%5], e;}")
ACCESS(atom_global_add_32, "atom.global.add.u32 %0, [%5], %1;")
ACCESS(atom_global_add_f32, SUB "mov.b32 f, %0; atom.global.add.f32 f, [%5], f; mov.b32 %0, f;}")
ACCESS(atom_global_add_64, "atom.global.add.u64 %4, [%5], %4;")
ACCESS(atom_global_cas_32, "atom.global.cas.b32 %0, [%5], %1, %2;")
ACCESS(atom_global_exch_32, "atom.global.exch.b32 %0, [%5], %1;")
ACCESS(cp_async_ca_4, "cp.async.ca.shared.global [%7], [%5], 4; cp.async.wait_all;")
ACCESS(cp_async_ca_8, "cp.async.ca.shared.global [%7], [%5], 8; cp.async.wait_all;")
ACCESS(cp_async_ca_16, "cp.async.ca.shared.global [%7], [%5], 16; cp.async.wait_all;")
ACCESS(cp_async_cg_16, "cp.async.cg.shared.global [%7], [%5], 16; cp.async.wait_all;")
// a guard that is false in some lanes, or in all of them (o is never that large)
ACCESS(guarded_ld_global, "{.reg .pred q; and.b32 %1, %6, 64; setp.ne.u32 q, %1, 0; @q ld.global.u32 %0, [%5];}")
ACCESS(guarded_st_shared, "{.reg .pred q; and.b32 %1, %6, 64; setp.ne.u32 q, %1, 0; @q st.shared.u32 [%6], %0;}")
ACCESS(off_ld_global, "{.reg .pred q; setp.eq.u32 q, %6, 0x7fffffff; @q ld.global.u32 %0, [%5];}")
ACCESS(off_ld_shared, "{.reg .pred q; setp.eq.u32 q, %6, 0x7fffffff; @q ld.shared.u32 %0, [%6];}")
ACCESS(off_st_shared, "{.reg .pred q; setp.eq.u32 q, %6, 0x7fffffff; @q st.shared.u32 [%6], %0;}")

// All lanes take part: the matrix instructions read addresses of the first 8, 16 or 32.
#define MATRIX(name, ...)                                                                                             \
    extern "C" __global__ void name(char *memory, int never)                                                          \
    {                                                                                                                 \
        __shared__ __align__(128) char block[BYTES];                                                                  \
        int o = where.at[threadIdx.x];                                                                                \
        unsigned x = 0, y = 1, z = 2, w = 3, s = (unsigned)__cvta_generic_to_shared(block) + (o < 0 ? 0u : (unsigned)o); \
        asm volatile(__VA_ARGS__ : "+r"(x), "+r"(y), "+r"(z), "+r"(w) : "r"(s) : "memory");                           \
        if (x + y + z + w == (unsigned)never)                                                                         \
            block[x & 31] = memory[x & 31] = (char)never;                                                             \
    }
MATRIX(ldmatrix_x1, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%4];")
MATRIX(ldmatrix_x2, "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%4];")
MATRIX(ldmatrix_x4, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];")
MATRIX(ldmatrix_x4_trans, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];")
MATRIX(stmatrix_x1, "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%4], {%0};")
MATRIX(stmatrix_x4, "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%4], {%0, %1, %2, %3};")

// Local memory: one store and one load at an offset of the lane's own.
#define LOCAL(name, type, member)                                                                                     \
    extern "C" __global__ void name(char *memory, int never)                                                          \
    {                                                                                                                 \
        volatile type a[BYTES / sizeof(type)];                                                                        \
        int o = where.at[threadIdx.x];                                                                                \
        if (o >= 0) {                                                                                                 \
            a[o / (int)sizeof(type)] = (type)threadIdx.x;                                                             \
            if (a[o / (int)sizeof(type)] == (type)never)                                                              \
                memory[0] = 1;                                                                                        \
        }                                                                                                             \
    }
LOCAL(local_8, unsigned char, )
LOCAL(local_32, unsigned, )
LOCAL(local_64, unsigned long long, )

typedef void (*kernel)(char *, int);
struct row { const char *name; kernel k; int bytes; };
#define R(name, bytes) {#name, name, bytes}
static const row rows[] = {
    R(ld_shared_8, 1), R(ld_shared_16, 2), R(ld_shared_32, 4), R(ld_shared_64, 8), R(ld_shared_v2, 8), R(ld_shared_128, 16),
    R(st_shared_8, 1), R(st_shared_16, 2), R(st_shared_32, 4), R(st_shared_64, 8), R(st_shared_128, 16),
    R(atom_shared_add_32, 4), R(red_shared_add_32, 4), R(red_shared_one_32, 4), R(atom_shared_add_64, 8),
    R(atom_shared_cas_32, 4), R(atom_shared_cas_64, 8), R(atom_shared_exch_32, 4), R(atom_shared_min_32, 4),
    R(red_shared_add_f32, 4), R(ld_global_8, 1), R(ld_global_16, 2), R(ld_global_32, 4), R(ld_global_64, 8),
    R(ld_global_128, 16), R(st_global_8, 1), R(st_global_16, 2), R(st_global_32, 4), R(st_global_64, 8),
    R(st_global_128, 16), R(red_global_add_32, 4), R(red_global_add_f32, 4), R(red_global_add_64, 8),
    R(red_global_add_f64, 8), R(atom_global_add_32, 4), R(atom_global_add_f32, 4), R(atom_global_add_64, 8),
    R(atom_global_cas_32, 4), R(atom_global_exch_32, 4), R(cp_async_ca_4, 4), R(cp_async_ca_8, 8), R(cp_async_ca_16, 16),
    R(cp_async_cg_16, 16), R(guarded_ld_global, 4), R(guarded_st_shared, 4), R(off_ld_global, 4), R(off_ld_shared, 4),
    R(off_st_shared, 4), R(ldmatrix_x1, 16), R(ldmatrix_x2, 16), R(ldmatrix_x4, 16), R(ldmatrix_x4_trans, 16),
    R(stmatrix_x1, 16), R(stmatrix_x4, 16), R(local_8, 1), R(local_32, 4), R(local_64, 8)};

static unsigned state = 20260101;
static unsigned draw(void) { return (state = state * 1664525u + 1013904223u) >> 8; }

enum { PATTERNS = 11 };
// Element of lane i in a pattern; -1: it takes no part.
static int element(int pattern, int i)
{
    switch (pattern) {
    case 0: return i;
    case 1: return 0;
    case 2: return i / 2;
    case 3: return i / 4;
    case 4: return (i & 1) | (i >> 2 << 1); // lanes i and i^2 share
    case 5: return i < 16 ? i / 2 : (i & 1) | (i >> 2 << 1);
    case 6: return i * 32;
    case 7: return (int)(draw() % 64);
    case 8: return (int)(draw() % 8);
    case 9: return i & 1 ? -1 : i;
    default: return draw() & 1 ? (int)(draw() % 48) : -1;
    }
}

int main(void)
{
    char *memory;
    if (cudaMalloc(&memory, 1 << 20) != cudaSuccess || cudaMemset(memory, 0, 1 << 20) != cudaSuccess)
        return fprintf(stderr, "no device\n"), 1;
    for (const row &r : rows)
        for (int p = 0; p < PATTERNS; p++) {
            lanes l;
            for (int i = 0; i < 32; i++) {
                int e = element(p, i);
                l.at[i] = e < 0 ? -1 : e * r.bytes;
                l.other[i] = p % 2 ? i * r.bytes : l.at[i] < 0 ? 0 : l.at[i]; // conflict-free, or as the global side
            }
            cudaMemcpyToSymbol(where, &l, sizeof l);
            r.k<<<1, 32>>>(memory, 0x12345678);
            if (cudaDeviceSynchronize() != cudaSuccess)
                return fprintf(stderr, "%s, pattern %d: %s\n", r.name, p, cudaGetErrorString(cudaGetLastError())), 1;
        }
    puts("done");
    return 0;
}
