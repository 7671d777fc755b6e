// wgmma.cu - products of two warpgroups as Hopper's kernels form them: bulk copies bring swizzled tiles to a ring of two
// stages, mbarriers say when they are full and empty, a producer warp gives its registers away; then the transposed, the
// negated and the register forms on small tiles.
#include "check.h"
#include <cstdint>
#include <cuda_bf16.h>
#include <vector>

enum { M = 128, N = 64, TILE_K = 64, TILES = 5 };
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ uint64_t desc(const void *p, unsigned leading, unsigned stride) // rows of 128 bytes, swizzled
{
    return (uint64_t)(at(p) >> 4) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | 1ull << 62;
}
__device__ void wait(const void *bar, unsigned parity)
{
    unsigned done = 0;
    while (!done)
        asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done) : "r"(at(bar)), "r"(parity) : "memory");
}
#define D8(k) "+f"(d[k]), "+f"(d[k + 1]), "+f"(d[k + 2]), "+f"(d[k + 3]), "+f"(d[k + 4]), "+f"(d[k + 5]), "+f"(d[k + 6]), "+f"(d[k + 7])
#define D32                                                                                                            \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "  \
    "%24, %25, %26, %27, %28, %29, %30, %31}"
template <int NegA, int TransB> __device__ void product(float d[32], uint64_t a, uint64_t b, int add)
{
    asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, %34, 0;\n"
                 " wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " D32 ", %32, %33, p, %35, 1, 0, %36;\n}"
                 : D8(0), D8(8), D8(16), D8(24) : "l"(a), "l"(b), "r"(add), "n"(NegA), "n"(TransB));
}
__device__ void product_registers(float d[32], const uint32_t a[4], uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " D32 ", {%32, %33, %34, %35}, %36, 1, 1, 1, 0;"
                 : D8(0), D8(8), D8(16), D8(24) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ void begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void end()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}
__device__ void store(float *c, const float d[32], int row0)
{
    int t = threadIdx.x % 128, row = row0 + t / 32 * 16 + t % 32 / 4, col = t % 4 * 2;
    for (int x = 0; x < 32; x++)
        c[(row + x / 2 % 2 * 8) * N + x / 4 * 8 + col + x % 2] = d[x];
}

// a: tiles of M rows, b: tiles of N rows, of TILE_K values each, swizzled in memory as they shall lie
__global__ void multiply(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c)
{
    extern __shared__ __align__(1024) char memory[];
    __shared__ __align__(8) uint64_t full[2], empty[2];
    const unsigned a_bytes = M * TILE_K * 2, b_bytes = N * TILE_K * 2;
    char *sa = memory, *sb = memory + 2 * a_bytes;
    int group = threadIdx.x / 128;
    if (threadIdx.x == 0)
        for (int s = 0; s < 2; s++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full[s])) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(at(&empty[s])) : "memory");
        }
    __syncthreads();
    if (group == 2) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (threadIdx.x == 256)
            for (int k = 0; k < TILES; k++) {
                int s = k % 2;
                if (k >= 2)
                    wait(&empty[s], (k / 2 - 1) & 1);
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&full[s])), "r"(a_bytes + b_bytes) : "memory");
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                                 at(sa + s * a_bytes)), "l"((const char *)a + k * a_bytes), "r"(a_bytes), "r"(at(&full[s])) : "memory");
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                                 at(sb + s * b_bytes)), "l"((const char *)b + k * b_bytes), "r"(b_bytes), "r"(at(&full[s])) : "memory");
            }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 160;");
    float d[32] = {};
    for (int k = 0; k < TILES; k++) {
        int s = k % 2;
        wait(&full[s], k / 2 & 1);
        begin();
        for (int j = 0; j < TILE_K / 16; j++)
            product<1, 0>(d, desc(sa + s * a_bytes + group * 64 * 128, 0, 1024) + 2 * j, desc(sb + s * b_bytes, 0, 1024) + 2 * j, 1);
        end();
        if (threadIdx.x % 128 == 0)
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(&empty[s])) : "memory");
    }
    store(c, d, group * 64);
}

// one tile: c = -a b with b as rows of k (transposed), then again with a in registers and b as rows of n
__global__ void forms(const __nv_bfloat16 *a, const __nv_bfloat16 *b, const __nv_bfloat16 *bt, float *c, float *e)
{
    __shared__ __align__(1024) char sa[64 * 128], sb[64 * 128], st[64 * 128];
    for (int i = threadIdx.x; i < 64 * 32; i += 128) {
        ((int *)sa)[i] = ((const int *)a)[i];
        ((int *)sb)[i] = ((const int *)b)[i];
        ((int *)st)[i] = ((const int *)bt)[i];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    float d[32], f[32] = {};
    begin();
    for (int j = 0; j < 4; j++)
        product<-1, 1>(d, desc(sa, 0, 1024) + 2 * j, desc(st + j * 2048, 0, 1024), j > 0); // 16 rows of k further on
    for (int j = 0; j < 4; j++) {
        uint32_t r[4];
        for (int k = 0; k < 4; k++) {
            int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + k % 2 * 8, byte = (j * 16 + k / 2 * 8 + threadIdx.x % 4 * 2) * 2;
            r[k] = *(const int *)(sa + row * 128 + ((byte / 16) ^ row % 8) * 16 + byte % 16);
        }
        product_registers(f, r, desc(sb, 0, 1024) + 2 * j);
    }
    end();
    store(c, d, 0);
    store(e, f, 0);
}

static int value(int row, int k, int seed) { return (row * 7 + k * 13 + seed + row * k % 5) % 9 - 4; }
// the place of value (row, k) in a tile whose rows are 128 bytes, in values
static int place(int row, int k) { return row * 64 + ((k / 8) ^ row % 8) * 8 + k % 8; }
static __nv_bfloat16 *upload(const std::vector<__nv_bfloat16> &v)
{
    __nv_bfloat16 *p = device<__nv_bfloat16>(v.size());
    CK(cudaMemcpy(p, v.data(), v.size() * 2, cudaMemcpyHostToDevice));
    return p;
}

int main()
{
    std::vector<__nv_bfloat16> a(M * 64 * TILES), b(N * 64 * TILES), bt(64 * 64);
    for (int t = 0; t < TILES; t++)
        for (int k = 0; k < 64; k++) {
            for (int r = 0; r < M; r++)
                a[t * M * 64 + place(r, k)] = __float2bfloat16((float)value(r, t * 64 + k, 1));
            for (int r = 0; r < N; r++)
                b[t * N * 64 + place(r, k)] = __float2bfloat16((float)value(r, t * 64 + k, 5));
        }
    for (int k = 0; k < 64; k++)
        for (int r = 0; r < N; r++)
            bt[place(k, r)] = __float2bfloat16((float)value(r, k, 5));
    __nv_bfloat16 *da = upload(a), *db = upload(b), *dt = upload(bt);
    float *dc = device<float>(M * N), *de = device<float>(M * N);
    static float c[M * N], e[M * N];
    const int bytes = 2 * (M + N) * TILE_K * 2;
    CK(cudaFuncSetAttribute(multiply, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    multiply<<<1, 288, bytes>>>(da, db, dc);
    CK(cudaGetLastError());
    fetch(c, dc, M * N);
    for (int r = 0; r < M; r++)
        for (int n = 0; n < N; n++) {
            int want = 0;
            for (int k = 0; k < 64 * TILES; k++)
                want += value(r, k, 1) * value(n, k, 5);
            EXPECT(c[r * N + n] == (float)want, "(%d,%d): %g, not %d", r, n, c[r * N + n], want);
        }
    forms<<<1, 128>>>(da, db, dt, dc, de);
    CK(cudaGetLastError());
    fetch(c, dc, 64 * N);
    fetch(e, de, 64 * N);
    for (int r = 0; r < 64; r++)
        for (int n = 0; n < N; n++) {
            int want = 0;
            for (int k = 0; k < 64; k++)
                want += value(r, k, 1) * value(n, k, 5);
            EXPECT(c[r * N + n] == (float)-want, "transposed (%d,%d): %g, not %d", r, n, c[r * N + n], -want);
            EXPECT(e[r * N + n] == (float)want, "registers (%d,%d): %g, not %d", r, n, e[r * N + n], want);
        }
    return verdict("wgmma");
}
