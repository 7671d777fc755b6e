// transpose.cu - a matrix transposed: naive (its stores are a column apart), through a shared tile (whose columns are
// one bank each), through a padded tile, through a swizzled tile (as good, without the spare words), and padded with
// four words an access. copy is what the memory allows: the same traffic, nothing turned.
// The bugs: the barrier left out, the guard at the edge left out.
// usage: transpose [n] [copy|naive|shared|padded|swizzled|vector|bug-no-barrier|bug-edge]... [--seed N]
//                  [--time REPEATS]
// REPEATS]
#include "common.h"

const int Tile = 32, Rows = 8; // a block of 32x8 threads, four rows each

__global__ void transpose_copy(const float *in, float *out, int n)
{
    const int x = blockIdx.x * Tile + threadIdx.x, y = blockIdx.y * Tile + threadIdx.y;
    for (int i = 0; i < Tile; i += Rows)
        if (x < n && y + i < n)
            out[(size_t)(y + i) * n + x] = in[(size_t)(y + i) * n + x];
}
__global__ void transpose_naive(const float *in, float *out, int n)
{
    const int x = blockIdx.x * Tile + threadIdx.x, y = blockIdx.y * Tile + threadIdx.y;
    for (int i = 0; i < Tile; i += Rows)
        if (x < n && y + i < n)
            out[(size_t)x * n + y + i] = in[(size_t)(y + i) * n + x];
}

enum Bug { None, NoBarrier, NoGuard };

template <int Pad, bool Swizzle, Bug Wrong = None> __device__ void through_tile(const float *in, float *out, int n)
{
    __shared__ float tile[Tile][Tile + Pad];
    const int tx = threadIdx.x, ty = threadIdx.y, rows = Wrong == NoGuard ? n + Tile : n;
    int x = blockIdx.x * Tile + tx, y = blockIdx.y * Tile + ty;
    for (int i = 0; i < Tile; i += Rows)
        if (x < rows && y + i < rows)
            tile[ty + i][Swizzle ? tx ^ (ty + i) : tx] = in[(size_t)(y + i) * n + x];
    if (Wrong != NoBarrier)
        __syncthreads();
    x = blockIdx.y * Tile + tx;
    y = blockIdx.x * Tile + ty;
    for (int i = 0; i < Tile; i += Rows)
        if (x < n && y + i < n)
            out[(size_t)(y + i) * n + x] = tile[tx][Swizzle ? (ty + i) ^ tx : ty + i];
}
__global__ void transpose_shared(const float *in, float *out, int n)
{
    through_tile<0, false>(in, out, n);
}
__global__ void transpose_padded(const float *in, float *out, int n)
{
    through_tile<1, false>(in, out, n);
}
__global__ void transpose_swizzled(const float *in, float *out, int n)
{
    through_tile<0, true>(in, out, n);
}
__global__ void transpose_no_barrier(const float *in, float *out, int n)
{
    through_tile<1, false, NoBarrier>(in, out, n);
}
__global__ void transpose_no_guard(const float *in, float *out, int n)
{
    through_tile<1, false, NoGuard>(in, out, n);
}

// A block moves 64x64: 16x16 threads, each four times four words, of rows 16 apart. Where the rows of the matrix are
// not all on 16 bytes, or the tile is cut off by the edge, word by word.
__global__ __launch_bounds__(256) void transpose_vector(const float *in, float *out, int n)
{
    const int Side = 64;
    __shared__ float tile[Side][Side + 1];
    const int tx = threadIdx.x % 16 * 4, ty = threadIdx.x / 16;
    const int bx = blockIdx.x * Side, by = blockIdx.y * Side;
    const bool whole = n % 4 == 0 && bx + Side <= n && by + Side <= n;
    float4 v[4] = {};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int x = bx + tx, y = by + ty + 16 * i;
        const float *const from = in + (size_t)y * n + x;
        if (whole)
            v[i] = *(const float4 *)from;
        else if (y < n) {
            v[i].x = x < n ? from[0] : 0.0f;
            v[i].y = x + 1 < n ? from[1] : 0.0f;
            v[i].z = x + 2 < n ? from[2] : 0.0f;
            v[i].w = x + 3 < n ? from[3] : 0.0f;
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        tile[ty + 16 * i][tx] = v[i].x;
        tile[ty + 16 * i][tx + 1] = v[i].y;
        tile[ty + 16 * i][tx + 2] = v[i].z;
        tile[ty + 16 * i][tx + 3] = v[i].w;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int x = by + tx, y = bx + ty + 16 * i, k = ty + 16 * i;
        float *const to = out + (size_t)y * n + x;
        if (whole)
            *(float4 *)to = make_float4(tile[tx][k], tile[tx + 1][k], tile[tx + 2][k], tile[tx + 3][k]);
        else if (y < n)
            for (int j = 0; j < 4 && x + j < n; j++)
                to[j] = tile[tx + j][k];
    }
}

int main(int argc, char **argv)
{
    Example e("transpose", {"copy", "naive", "shared", "padded", "swizzled", "vector", "bug-no-barrier", "bug-edge"},
              argc, argv, 512, 1, 32768);
    void (*const kernels[])(const float *, float *, int) = {transpose_copy,       transpose_naive,    transpose_shared,
                                                            transpose_padded,     transpose_swizzled, transpose_vector,
                                                            transpose_no_barrier, transpose_no_guard};
    const int n = e.n;
    const auto in = random_floats((size_t)n * n, e.seed);
    float *const din = to_device(in), *const dout = on_device<float>(in.size());
    for (size_t w = 0; w < e.ways.size(); w++) {
        if (!e.wants(e.ways[w]))
            continue;
        const bool vector = kernels[w] == transpose_vector, copy = kernels[w] == transpose_copy;
        const int side = vector ? 64 : Tile, tiles = (n + side - 1) / side;
        CHECK(cudaMemset(dout, 0xff, in.size() * sizeof(float)));
        const double ms =
            e.run([&] { kernels[w]<<<dim3(tiles, tiles), vector ? dim3(256) : dim3(Tile, Rows)>>>(din, dout, n); });
        const auto out = to_host(dout, in.size());
        size_t wrong = 0;
        for (size_t y = 0; y < (size_t)n; y++)
            for (size_t x = 0; x < (size_t)n; x++)
                wrong += !(out[copy ? y * n + x : x * n + y] == in[y * n + x]);
        e.report(e.ways[w], (double)wrong, 0.0, ms);
    }
    CHECK(cudaFree(din));
    CHECK(cudaFree(dout));
    return e.failed;
}
