// matmul_hopper.cu - C = A*B in half precision the way of sm_90a: one thread fetches whole tiles with the tensor memory
// accelerator (TMA), two warpgroups multiply them with wgmma, straight from shared memory, and mbarriers pass the
// buffers to and fro. Blocks stay and take one tile of C after the other. multicast pairs blocks in a cluster: each
// fetches half of the tile of B that both need, for both.
// The bug: only one of the warpgroups gives its buffers back, so that from n = 512 on nobody fills them again: on a GPU
// the kernel never ends.
// usage: matmul_hopper [n] [tma|multicast|bug-lost-arrival]... [--seed N] [--time REPEATS]
// Build with nvcc's -gencode=arch=compute_90a,code=sm_90a, CUDA 12.5 or newer.
#include "common.h"
#include <cuda.h>
#include <cuda_fp16.h>

const int Rows = 128, Columns = 256, Deep = 64, Stages = 4, Threads = 384; // warpgroup 0 fetches, 1 and 2 multiply
const int BytesA = Rows * Deep * 2, BytesB = Columns * Deep * 2;           // A: 128 rows of k. B: 4 times 64 rows of n.
const int BytesB64 = BytesB / (Columns / 64);                              // a box may hold several of them

__device__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ void barrier_init(unsigned long long *bar, unsigned count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count) : "memory");
}
__device__ void barrier_wait(unsigned long long *bar, unsigned parity)
{
    unsigned done;
    do
        asm volatile("{\n.reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(shared_address(bar)), "r"(parity)
                     : "memory");
    while (!done);
}
__device__ void barrier_expect(unsigned long long *bar, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes)
                 : "memory");
}
__device__ void barrier_arrive(unsigned long long *bar, unsigned block) // the barrier of that block of the cluster
{
    asm volatile("{\n.reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n}" ::"r"(shared_address(bar)),
                 "r"(block)
                 : "memory");
}
__device__ void cluster_sync()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The same lane for all of the warp, chosen by the hardware.
__device__ bool elected()
{
    unsigned yes;
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(yes));
    return yes;
}

// A box of the matrix from row y and 64-column group x on, to this block or, with a mask, to the same place in several.
__device__ void fetch(void *to, const CUtensorMap *map, int y, int x, unsigned long long *bar)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
                 "[%1, {0, %2, %3}], [%4];" ::"r"(shared_address(to)),
                 "l"(map), "r"(y), "r"(x), "r"(shared_address(bar))
                 : "memory");
}
__device__ void fetch_for(unsigned short blocks, void *to, const CUtensorMap *map, int y, int x,
                          unsigned long long *bar)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {0, %2, %3}], [%4], %5;" ::"r"(shared_address(to)),
                 "l"(map), "r"(y), "r"(x), "r"(shared_address(bar)), "h"(blocks)
                 : "memory");
}

// What wgmma is told of a tile with the 128-byte swizzle: where it is, and how far on the next 8 rows (`eight`) and the
// next 64 columns (`wide`, where rows run along n) are, in bytes.
__device__ unsigned long long descriptor(const void *tile, unsigned eight, unsigned wide)
{
    return (unsigned long long)((shared_address(tile) & 0x3ffff) >> 4) | (unsigned long long)(wide >> 4) << 16 |
           (unsigned long long)(eight >> 4) << 32 | 1ull << 62;
}

#define FOUR(i)    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)
__device__ __forceinline__ void multiply_add(float (&d)[128], unsigned long long a, unsigned long long b)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
                 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
                 "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
                 "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
                 "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
                 "%128, %129, p, 1, 1, 0, 1;\n}" // B's rows run along n: transposed
                 : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48), SIXTEEN(64), SIXTEEN(80), SIXTEEN(96),
                   SIXTEEN(112)
                 : "l"(a), "l"(b));
}
template <int Left> __device__ void multiplications_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Left) : "memory");
}

// The corner of tile number `tile` of C: down 16 tiles, then one to the right, so that tiles under way share A and B.
__device__ void corner(int tile, int n, int *row, int *col)
{
    const int rows = n / Rows, band = tile / (16 * (n / Columns)), at = tile % (16 * (n / Columns));
    const int high = rows - 16 * band < 16 ? rows - 16 * band : 16;
    *row = (16 * band + at % high) * Rows;
    *col = at / high * Columns;
}

// A lane holds two neighbouring columns in every 8 of its row; a lane and its three neighbours trade them, so that each
// has all 8 columns of one group and stores 16 bytes.
__device__ __forceinline__ void store(__half *to, int n, const float (&d)[128])
{
    const int q = threadIdx.x % 4;
#pragma unroll
    for (int half = 0; half < 2; half++, to += (size_t)8 * n)
#pragma unroll
        for (int at = 0; at < Columns; at += 32) {
            unsigned w[4];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const __half2 h = __floats2half2_rn(d[at / 2 + 4 * j + 2 * half], d[at / 2 + 4 * j + 2 * half + 1]);
                w[j] = *(const unsigned *)&h;
            }
#pragma unroll
            for (int by = 1; by <= 2; by *= 2)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    if (!(j & by)) {
                        const unsigned got = __shfl_xor_sync(0xffffffffu, q & by ? w[j] : w[j | by], by);
                        if (q & by)
                            w[j] = got;
                        else
                            w[j | by] = got;
                    }
            *(uint4 *)(to + at) = make_uint4(w[0], w[1], w[2], w[3]);
        }
}

template <int Blocks, bool Both>
__device__ void matmul(const CUtensorMap *map_a, const CUtensorMap *map_b, __half *c, int n)
{
    extern __shared__ unsigned char room[];
    __shared__ unsigned long long full[Stages], empty[Stages];
    unsigned char *const tiles = room + (1024 - shared_address(room) % 1024) % 1024; // the swizzle repeats every 1024
    const int t = threadIdx.x, warp = __shfl_sync(0xffffffffu, t / 32, 0), group = warp / 4,
              all = n / Rows * (n / Columns);
    unsigned me = 0;
    if (Blocks > 1)
        asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(me));
    if (t == 0) {
        for (int s = 0; s < Stages; s++) {
            barrier_init(&full[s], 1);
            barrier_init(&empty[s], 2 * Blocks);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if (Blocks > 1)
        cluster_sync();
    else
        __syncthreads();
    unsigned turn = 0; // of all tiles of A and B so far
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        for (int tile = blockIdx.x; warp == 0 && tile < all; tile += gridDim.x) { // all lanes, to stay uniform
            int row, col;
            corner(tile, n, &row, &col);
            for (int k = 0; k < n; k += Deep, turn++) {
                const int s = turn % Stages;
                unsigned char *const as = tiles + s * (BytesA + BytesB), *const bs = as + BytesA;
                barrier_wait(&empty[s], (turn / Stages & 1) ^ 1);
                if (elected()) {
                    barrier_expect(&full[s], BytesA + BytesB);
                    fetch(as, map_a, row, k / 64, &full[s]);
                    if (Blocks > 1)
                        fetch_for((1 << Blocks) - 1, bs + me * (BytesB / Blocks), map_b, k,
                                  col / 64 + me * (Columns / 64 / Blocks), &full[s]);
                    else
                        fetch(bs, map_b, k, col / 64, &full[s]);
                }
                __syncwarp();
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        const auto release = [&](unsigned of) { // one thread for the warpgroup, at every block that fills this buffer
            if (t % 128 < Blocks && (Both || group == 1))
                barrier_arrive(&empty[of % Stages], t % 128);
        };
        for (int tile = blockIdx.x; tile < all; tile += gridDim.x) {
            int row, col;
            corner(tile, n, &row, &col);
            float d[128] = {};
            for (int k = 0; k < n; k += Deep, turn++) {
                const int s = turn % Stages;
                const unsigned char *const as = tiles + s * (BytesA + BytesB) + (group - 1) * 64 * Deep * 2;
                const unsigned char *const bs = tiles + s * (BytesA + BytesB) + BytesA;
                barrier_wait(&full[s], turn / Stages & 1);
                asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
                for (int i = 0; i < Deep; i += 16)
                    multiply_add(d, descriptor(as + i * 2, 8 * 128, 16), descriptor(bs + i * 128, 8 * 128, BytesB64));
                asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
                multiplications_wait<1>(); // those of the buffer before are done, so that it can be filled again
                if (k > 0)
                    release(turn - 1);
            }
            multiplications_wait<0>();
            release(turn - 1);
            store(c + (size_t)(row + (warp - 4) * 16 + t % 32 / 4) * n + col + t % 4 * 8, n, d);
        }
    }
    __syncwarp();
    if (Blocks > 1)
        cluster_sync(); // nobody leaves while the other may still signal it
}

// The maps are in global memory: a kernel's parameter would do (__grid_constant__), but not with every compiler.
template <int Blocks, bool Both>
__global__ __launch_bounds__(Threads, 1) void matmul_tma(const CUtensorMap *a, const CUtensorMap *b, __half *c, int n)
{
    matmul<Blocks, Both>(a, b, c, n);
}

// n x n halves as groups of 64 columns, fetched in boxes of `rows` rows of `groups` groups, swizzled.
static CUtensorMap map_of(__half *p, int n, int rows, int groups)
{
    CUtensorMap map;
    const cuuint64_t size[3] = {64, (cuuint64_t)n, (cuuint64_t)n / 64}, pitch[2] = {n * sizeof(__half), 128};
    const cuuint32_t box[3] = {64, (cuuint32_t)rows, (cuuint32_t)groups}, step[3] = {1, 1, 1};
    void *encode; // of the driver, which the program is then not linked with
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found));
    const CUresult r = ((decltype(&cuTensorMapEncodeTiled))encode)(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, p, size, pitch, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (r != CUDA_SUCCESS) {
        std::fprintf(stderr, "cuTensorMapEncodeTiled: error %d\n", (int)r);
        std::exit(2);
    }
    return map;
}

int main(int argc, char **argv)
{
    Example e("matmul_hopper", {"tma", "multicast", "bug-lost-arrival"}, argc, argv, 256, 256, 16384, 256);
    const struct {
        void (*kernel)(const CUtensorMap *, const CUtensorMap *, __half *, int);
        unsigned cluster;
    } ways[] = {{matmul_tma<1, true>, 1}, {matmul_tma<2, true>, 2}, {matmul_tma<1, false>, 1}};
    const int n = e.n, bytes = Stages * (BytesA + BytesB) + 1024;
    const auto fa = random_floats((size_t)n * n, 2 * e.seed), fb = random_floats(fa.size(), 2 * e.seed + 1);
    const std::vector<__half> a(fa.begin(), fa.end()), b(fb.begin(), fb.end());
    __half *const da = to_device(a), *const db = to_device(b), *const dc = on_device<__half>(a.size());
    CUtensorMap *const map_a = to_device(std::vector<CUtensorMap>{map_of(da, n, Rows, 1)});
    cudaDeviceProp gpu;
    CHECK(cudaGetDeviceProperties(&gpu, 0));
    const int tiles = n / Rows * (n / Columns), blocks = std::min(tiles, gpu.multiProcessorCount) / 2 * 2;
    for (size_t w = 0; w < e.ways.size(); w++) {
        if (!e.wants(e.ways[w]))
            continue;
        CHECK(cudaMemset(dc, 0xff, a.size() * sizeof(__half)));
        CHECK(cudaFuncSetAttribute(ways[w].kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
        CUtensorMap *const map_b = // each block of a cluster fetches its part for all
            to_device(std::vector<CUtensorMap>{map_of(db, n, Deep, Columns / 64 / ways[w].cluster)});
        cudaLaunchAttribute cluster;
        cluster.id = cudaLaunchAttributeClusterDimension;
        cluster.val.clusterDim = {ways[w].cluster, 1, 1};
        cudaLaunchConfig_t config = {};
        config.gridDim = dim3(blocks);
        config.blockDim = dim3(Threads);
        config.dynamicSmemBytes = bytes;
        config.attrs = &cluster;
        config.numAttrs = 1;
        const double ms = e.run([&] {
            CHECK(cudaLaunchKernelEx(&config, ways[w].kernel, (const CUtensorMap *)map_a, (const CUtensorMap *)map_b,
                                     dc, n));
        });
        CHECK(cudaFree(map_b));
        e.report(e.ways[w], product_error(a, b, to_host(dc, a.size()), n, 50.0), 1e-5, ms);
    }
    CHECK(cudaFree(map_a));
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    return e.failed;
}
