// matmul_pipeline.cu - C = A*B with the next tiles on their way while this one is multiplied: a double buffer filled
// through registers, then asynchronous copies (cp.async) with 2, 3 and 4 buffers. wide is registers with 16x8 elements
// a thread instead of 8x8: fewer reads from shared memory for each multiply-add, and half as many warps; wide-2 and
// wide-3 are that with 2 and 3 buffers. both is the fastest shape that tools/sgemm found: 16x8 elements a thread, tiles
// twice as deep and twice as wide as high, so that the smaller one, of A, is turned on its way through registers, and
// the larger one, of B, is copied past them. The bugs: the wait lets one group too many be under way, the only barrier
// left out. usage: matmul_pipeline [n]
// [registers|wide|2|3|4|wide-2|wide-3|both|bug-wait-short|bug-no-barrier|bug-both-no-wait]...
//                        [--seed N] [--time REPEATS]
#include "common.h"
#include <cuda_pipeline_primitives.h>

const int Deep = 8, Columns = 128; // of a tile of B; a tile of A has 64 G rows and is kept transposed

// Where a thread works: a warp computes 16 G x 64 as 4x8 lanes, each G times 4 rows and twice 4 columns.
template <int G> struct Place {
    int row, col;
    __device__ explicit Place(int warps_across)
    {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        row = warp / warps_across * 16 * G + lane / 8 * 4;
        col = warp % warps_across * 64 + lane % 8 * 4;
    }
};

template <int G, int Depth, int PitchA, int PitchB>
__device__ __forceinline__ void multiply(float (&sum)[4 * G][8], const float (&as)[Depth][PitchA],
                                         const float (&bs)[Depth][PitchB], Place<G> at)
{
#pragma unroll
    for (int k = 0; k < Depth; k++) {
        float x[4 * G], y[8];
#pragma unroll
        for (int g = 0; g < G; g++)
            *(float4 *)&x[4 * g] = *(const float4 *)&as[k][at.row + 16 * g];
        *(float4 *)&y[0] = *(const float4 *)&bs[k][at.col];
        *(float4 *)&y[4] = *(const float4 *)&bs[k][at.col + 32];
#pragma unroll
        for (int i = 0; i < 4 * G; i++)
#pragma unroll
            for (int j = 0; j < 8; j++) { // to and fro: the operand at a turn is still at hand
                const int to = i % 2 == 0 ? j : 7 - j;
                sum[i][to] += x[i] * y[to];
            }
    }
}

template <int G> // to the block's corner of C
__device__ __forceinline__ void store(float *c, int n, const float (&sum)[4 * G][8], Place<G> at)
{
    c += (size_t)at.row * n + at.col;
#pragma unroll
    for (int i = 0; i < 4 * G; i++) {
        float *const to = c + (size_t)(i % 4 + i / 4 * 16) * n;
        *(float4 *)to = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
        *(float4 *)(to + 32) = make_float4(sum[i][4], sum[i][5], sum[i][6], sum[i][7]);
    }
}

template <int G>
__global__ __launch_bounds__(256, 4 / G) void matmul_double(const float *a, const float *b, float *c, int n)
{
    __shared__ __align__(16) float as[2][Deep][64 * G + 4], bs[2][Deep][Columns];
    const int t = threadIdx.x, a_row = t / 2, a_k = t % 2 * 4, b_k = t / 32, b_col = t % 32 * 4;
    const Place<G> at(2);
    a += (size_t)(blockIdx.y * 64 * G + a_row) * n + a_k;
    b += (size_t)b_k * n + blockIdx.x * Columns + b_col;
    float sum[4 * G][8] = {};
    float4 next_a[G / 2], next_b;
    for (int at_k = -Deep; at_k < n; at_k += Deep) { // the first time round there is nothing to multiply yet
        const int now = at_k / Deep & 1;
        if (at_k + Deep < n) {
#pragma unroll
            for (int g = 0; g < G / 2; g++)
                next_a[g] = *(const float4 *)(a + (size_t)128 * g * n + at_k + Deep);
            next_b = *(const float4 *)(b + (size_t)(at_k + Deep) * n);
        }
        if (at_k >= 0)
            multiply(sum, as[now], bs[now], at);
        if (at_k + Deep < n) {
#pragma unroll
            for (int g = 0; g < G / 2; g++) {
                as[now ^ 1][a_k][a_row + 128 * g] = next_a[g].x;
                as[now ^ 1][a_k + 1][a_row + 128 * g] = next_a[g].y;
                as[now ^ 1][a_k + 2][a_row + 128 * g] = next_a[g].z;
                as[now ^ 1][a_k + 3][a_row + 128 * g] = next_a[g].w;
            }
            *(float4 *)&bs[now ^ 1][b_k][b_col] = next_b;
        }
        __syncthreads();
    }
    store<G>(c + (size_t)(blockIdx.y * 64 * G) * n + blockIdx.x * Columns, n, sum, at);
}

// Tile k + Stages - 1 is sent for while tile k is multiplied. A is transposed on the way, a word a copy.
template <int G, int Stages, int Late = 0, bool Barrier = true>
__global__ __launch_bounds__(256, 4 / G) void matmul_async(const float *a, const float *b, float *c, int n)
{
    __shared__ __align__(16) float as[Stages][Deep][64 * G + 4], bs[Stages][Deep][Columns];
    const int t = threadIdx.x, a_row = t / Deep, a_k = t % Deep, b_k = t / 32, b_col = t % 32 * 4;
    const Place<G> at(2);
    a += (size_t)(blockIdx.y * 64 * G + a_row) * n + a_k;
    b += (size_t)b_k * n + blockIdx.x * Columns + b_col;
    const int tiles = n / Deep;
    const auto send = [&](int tile, int to) {
        if (tile < tiles) {
#pragma unroll
            for (int i = 0; i < 2 * G; i++)
                __pipeline_memcpy_async(&as[to][a_k][a_row + 32 * i], a + (size_t)32 * i * n + tile * Deep, 4);
            __pipeline_memcpy_async(&bs[to][b_k][b_col], b + (size_t)tile * Deep * n, 16);
        }
        __pipeline_commit(); // an empty group when there is no tile left, so that the count below stays right
    };
    float sum[4 * G][8] = {};
    for (int tile = 0; tile < Stages - 1; tile++)
        send(tile, tile);
    for (int tile = 0, now = 0; tile < tiles; tile++) {
        __pipeline_wait_prior(Stages - 2 + Late); // my copies of this tile are here
        if (Barrier)
            __syncthreads(); // everybody's are, and nobody reads the buffer that is filled next
        send(tile + Stages - 1, now == 0 ? Stages - 1 : now - 1);
        multiply(sum, as[now], bs[now], at);
        now = now == Stages - 1 ? 0 : now + 1;
    }
    store<G>(c + (size_t)(blockIdx.y * 64 * G) * n + blockIdx.x * Columns, n, sum, at);
}

// 128 rows and 256 columns of C in tiles of 16 k. Two buffers of each do not fit into 48 KiB: the room is asked for.
struct Buffers {
    float as[2][16][128 + 4], bs[2][16][256];
};
template <bool Wait>
__global__ __launch_bounds__(256, 1) void matmul_both(const float *a, const float *b, float *c, int n)
{
    extern __shared__ __align__(16) unsigned char room[];
    Buffers &tiles = *(Buffers *)room;
    const int t = threadIdx.x, a_row = t / 4, a_k = t % 4 * 4, b_k = t / 64, b_col = t % 64 * 4;
    const Place<4> at(4);
    a += (size_t)(blockIdx.y * 128 + a_row) * n + a_k;
    b += (size_t)b_k * n + blockIdx.x * 256 + b_col;
    float4 next_a[2];
    const auto send = [&](int to) { // for the next tile
#pragma unroll
        for (int i = 0; i < 2; i++)
            next_a[i] = *(const float4 *)(a + (size_t)(64 * i) * n);
#pragma unroll
        for (int i = 0; i < 4; i++)
            __pipeline_memcpy_async(&tiles.bs[to][b_k + 4 * i][b_col], b + (size_t)(4 * i) * n, 16);
        __pipeline_commit();
        a += 16;
        b += (size_t)16 * n;
    };
    const auto put = [&](int to) { // what the registers hold of it
#pragma unroll
        for (int i = 0; i < 2; i++) {
            tiles.as[to][a_k][a_row + 64 * i] = next_a[i].x;
            tiles.as[to][a_k + 1][a_row + 64 * i] = next_a[i].y;
            tiles.as[to][a_k + 2][a_row + 64 * i] = next_a[i].z;
            tiles.as[to][a_k + 3][a_row + 64 * i] = next_a[i].w;
        }
    };
    float sum[16][8] = {};
    send(0);
    put(0);
    for (int left = n / 16, now = 0; left > 0; left--, now ^= 1) {
        if (Wait)
            __pipeline_wait_prior(0);
        __syncthreads();
        if (left > 1)
            send(now ^ 1);
        multiply(sum, tiles.as[now], tiles.bs[now], at);
        if (left > 1)
            put(now ^ 1);
    }
    store<4>(c + (size_t)(blockIdx.y * 128) * n + blockIdx.x * 256, n, sum, at);
}

int main(int argc, char **argv)
{
    Example e("matmul_pipeline",
              {"registers", "wide", "2", "3", "4", "wide-2", "wide-3", "both", "bug-wait-short", "bug-no-barrier",
               "bug-both-no-wait"},
              argc, argv, 256, 256, 16384, 256);
    const struct {
        void (*kernel)(const float *, const float *, float *, int);
        int rows, columns, shared;
    } ways[] = {{matmul_double<2>, 128, 128, 0},
                {matmul_double<4>, 256, 128, 0},
                {matmul_async<2, 2>, 128, 128, 0},
                {matmul_async<2, 3>, 128, 128, 0},
                {matmul_async<2, 4>, 128, 128, 0},
                {matmul_async<4, 2>, 256, 128, 0},
                {matmul_async<4, 3>, 256, 128, 0},
                {matmul_both<true>, 128, 256, sizeof(Buffers)},
                {matmul_async<2, 3, 1>, 128, 128, 0},
                {matmul_async<2, 3, 0, false>, 128, 128, 0},
                {matmul_both<false>, 128, 256, sizeof(Buffers)}};
    const int n = e.n;
    const auto a = random_floats((size_t)n * n, 2 * e.seed), b = random_floats(a.size(), 2 * e.seed + 1);
    float *const da = to_device(a), *const db = to_device(b), *const dc = on_device<float>(a.size());
    for (size_t w = 0; w < e.ways.size(); w++) {
        if (!e.wants(e.ways[w]))
            continue;
        const int shared = ways[w].shared;
        const dim3 blocks(n / ways[w].columns, n / ways[w].rows);
        if (shared > 0) // more than a kernel has without asking
            CHECK(cudaFuncSetAttribute(ways[w].kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
        CHECK(cudaMemset(dc, 0xff, a.size() * sizeof(float)));
        const double ms = e.run([&] { ways[w].kernel<<<blocks, 256, shared>>>(da, db, dc, n); });
        e.report(e.ways[w], product_error(a, b, to_host(dc, a.size()), n), 1e-6, ms);
    }
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    return e.failed;
}
