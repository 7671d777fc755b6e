// matmul_half.cu - C = A*B in half precision on the tensor cores, sums in float. wmma: the warp-wide fragments of the
// CUDA headers, fed from padded tiles. mma: ldmatrix and mma.sync by hand, tiles swizzled instead of padded, four
// buffers filled by asynchronous copies; a warp computes 64x64. unswizzled: mma with its tiles as they come.
// The bug: the wait lets one group too many be under way.
// usage: matmul_half [n] [wmma|unswizzled|mma|bug-wait-short]... [--seed N] [--time REPEATS]
#include "common.h"
#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>
#include <mma.h>

__global__ __launch_bounds__(128) void matmul_wmma(const __half *a, const __half *b, __half *c, int n)
{
    using namespace nvcuda;
    const int Side = 64, Deep = 32, Pad = 8; // 8 halves: rows stay aligned for 16 bytes
    __shared__ __align__(32) __half as[Side][Deep + Pad], bs[Deep][Side + Pad];
    __shared__ __align__(32) float out[Side][Side];
    const int t = threadIdx.x, row = t / 64 * 32, col = t / 32 % 2 * 32; // a warp computes 32x32
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 4; i++)
        wmma::fill_fragment(sum[i / 2][i % 2], 0.0f);
    for (int at = 0; at < n; at += Deep) {
        for (int i = t; i < Side * Deep / 8; i += 128) { // 8 halves at a time
            const int a_row = i / 4, a_k = i % 4 * 8, b_k = i / 8, b_col = i % 8 * 8;
            *(uint4 *)&as[a_row][a_k] = *(const uint4 *)&a[(size_t)(blockIdx.y * Side + a_row) * n + at + a_k];
            *(uint4 *)&bs[b_k][b_col] = *(const uint4 *)&b[(size_t)(at + b_k) * n + blockIdx.x * Side + b_col];
        }
        __syncthreads();
        for (int k = 0; k < Deep; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> y[2];
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(x[i], &as[row + 16 * i][k], Deep + Pad);
                wmma::load_matrix_sync(y[i], &bs[k][col + 16 * i], Side + Pad);
            }
            for (int i = 0; i < 4; i++)
                wmma::mma_sync(sum[i / 2][i % 2], x[i / 2], y[i % 2], sum[i / 2][i % 2]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        wmma::store_matrix_sync(&out[row + i / 2 * 16][col + i % 2 * 16], sum[i / 2][i % 2], Side, wmma::mem_row_major);
    __syncthreads();
    for (int i = t; i < Side * Side / 2; i += 128) {
        const int r = i / 32, k = i % 32 * 2;
        *(__half2 *)&c[(size_t)(blockIdx.y * Side + r) * n + blockIdx.x * Side + k] =
            __floats2half2_rn(out[r][k], out[r][k + 1]);
    }
}

// Four 8x8 matrices; lane l gives the address of row l % 8 of matrix l / 8.
__device__ void load_matrices(unsigned (&r)[4], const __half *row)
{
    const unsigned at = (unsigned)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}
__device__ void load_transposed(unsigned (&r)[4], const __half *row)
{
    const unsigned at = (unsigned)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}
__device__ void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

const int Rows = 128, Columns = 256, Deep = 32, Stages = 4;
const int Buffer = (Rows + Columns) * Deep; // halves: a tile of A, then one of B

// Where 8 halves of a tile are. The 16-byte units of a row change places from row to row so that 8 units below each
// other lie in different banks: a row of A is half a line of banks, one of B four.
template <bool Swizzle> __device__ int in_a(int row, int unit)
{
    return row * Deep + (Swizzle ? unit ^ row / 2 % 4 : unit) * 8;
}
template <bool Swizzle> __device__ int in_b(int k, int unit)
{
    return k * Columns + (Swizzle ? unit ^ k % 8 : unit) * 8;
}

template <int Late, bool Swizzle>
__global__ __launch_bounds__(256, 1) void matmul_mma(const __half *a, const __half *b, __half *c, int n)
{
    extern __shared__ __align__(128) __half tiles[];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    const int row = warp / 4 * 64, col = warp % 4 * 64;
    a += (size_t)blockIdx.x * Rows * n;
    b += blockIdx.y * Columns;
    const auto send = [&](int tile) {
        if (tile < n / Deep) {
            __half *const as = tiles + tile % Stages * Buffer, *const bs = as + Rows * Deep;
#pragma unroll
            for (int i = t; i < Rows * Deep / 8; i += 256)
                __pipeline_memcpy_async(as + in_a<Swizzle>(i / 4, i % 4),
                                        a + (size_t)(i / 4) * n + tile * Deep + i % 4 * 8, 16);
#pragma unroll
            for (int i = t; i < Deep * Columns / 8; i += 256)
                __pipeline_memcpy_async(bs + in_b<Swizzle>(i / 32, i % 32),
                                        b + (size_t)(tile * Deep + i / 32) * n + i % 32 * 8, 16);
        }
        __pipeline_commit();
    };
    float sum[4][8][4] = {};
    for (int tile = 0; tile < Stages - 1; tile++)
        send(tile);
    for (int tile = 0; tile < n / Deep; tile++) {
        __pipeline_wait_prior(Stages - 2 + Late);
        __syncthreads();
        send(tile + Stages - 1);
        const __half *const as = tiles + tile % Stages * Buffer, *const bs = as + Rows * Deep;
#pragma unroll
        for (int k = 0; k < Deep; k += 16) {
            unsigned x[4][4], y[4][4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                load_matrices(x[i], as + in_a<Swizzle>(row + 16 * i + lane % 16, k / 8 + lane / 16));
                load_transposed(y[i], bs + in_b<Swizzle>(k + lane % 16, (col + 16 * i) / 8 + lane / 16));
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    multiply_add(sum[i][j], x[i], y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]);
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const int r = blockIdx.x * Rows + row + 16 * i + lane / 4;
            __half *const to = c + (size_t)r * n + blockIdx.y * Columns + col + 8 * j + lane % 4 * 2;
            *(__half2 *)to = __floats2half2_rn(sum[i][j][0], sum[i][j][1]);
            *(__half2 *)(to + (size_t)8 * n) = __floats2half2_rn(sum[i][j][2], sum[i][j][3]);
        }
}

int main(int argc, char **argv)
{
    Example e("matmul_half", {"wmma", "unswizzled", "mma", "bug-wait-short"}, argc, argv, 256, 256, 16384, 256);
    const int n = e.n, mma_bytes = Stages * Buffer * (int)sizeof(__half);
    const dim3 wmma_blocks(n / 64, n / 64), mma_blocks(n / Rows, n / Columns);
    const struct {
        void (*kernel)(const __half *, const __half *, __half *, int);
        dim3 blocks;
        int threads, bytes;
    } ways[] = {{matmul_wmma, wmma_blocks, 128, 0},
                {matmul_mma<0, false>, mma_blocks, 256, mma_bytes},
                {matmul_mma<0, true>, mma_blocks, 256, mma_bytes},
                {matmul_mma<1, true>, mma_blocks, 256, mma_bytes}};
    const auto fa = random_floats((size_t)n * n, 2 * e.seed), fb = random_floats(fa.size(), 2 * e.seed + 1);
    const std::vector<__half> a(fa.begin(), fa.end()), b(fb.begin(), fb.end());
    __half *const da = to_device(a), *const db = to_device(b), *const dc = on_device<__half>(a.size());
    for (size_t w = 0; w < e.ways.size(); w++) {
        if (!e.wants(e.ways[w]))
            continue;
        CHECK(cudaMemset(dc, 0xff, a.size() * sizeof(__half)));
        CHECK(cudaFuncSetAttribute(ways[w].kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, ways[w].bytes));
        const double ms =
            e.run([&] { ways[w].kernel<<<ways[w].blocks, ways[w].threads, ways[w].bytes>>>(da, db, dc, n); });
        e.report(e.ways[w], product_error(a, b, to_host(dc, a.size()), n, 50.0), 1e-5, ms);
    }
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    return e.failed;
}
