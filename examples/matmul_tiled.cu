// matmul_tiled.cu - C = A*B through square tiles in shared memory: each value is read from global memory n/tile times
// instead of n. The guards fill the tiles with zeros past the edge, so that n need not be a multiple of the tile.
// column keeps the tile of A transposed, as later steps want it, and stores it down one bank; padded has a spare word a
// row, which moves each row of the tile on by a bank.
// The bugs: each of the two barriers left out, and no guard at the edge.
// usage: matmul_tiled [n] [16|32|column|padded|bug-no-first-barrier|bug-no-second-barrier|bug-edge]... [--seed N]
//                     [--time REPEATS]
#include "common.h"

enum Bug { None, NoFirstBarrier, NoSecondBarrier, NoGuard };

template <int Tile, Bug Wrong = None> __global__ void matmul_tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[Tile][Tile], bs[Tile][Tile];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * Tile + ty, col = blockIdx.x * Tile + tx;
    const int rows = Wrong == NoGuard ? n + Tile : n; // where the guards believe the matrix to end
    float sum = 0.0f;
    for (int at = 0; at < n; at += Tile) {
        as[ty][tx] = row < rows && at + tx < rows ? a[row * n + at + tx] : 0.0f;
        bs[ty][tx] = at + ty < rows && col < rows ? b[(at + ty) * n + col] : 0.0f;
        if (Wrong != NoFirstBarrier)
            __syncthreads(); // the tile is complete
        for (int k = 0; k < Tile; k++)
            sum += as[ty][k] * bs[k][tx];
        if (Wrong != NoSecondBarrier)
            __syncthreads(); // nobody reads it any more
    }
    if (row < n && col < n)
        c[row * n + col] = sum;
}

template <int Pad> __global__ void matmul_column(const float *a, const float *b, float *c, int n)
{
    const int Tile = 32;
    __shared__ float as[Tile][Tile + Pad], bs[Tile][Tile];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * Tile + ty, col = blockIdx.x * Tile + tx;
    float sum = 0.0f;
    for (int at = 0; at < n; at += Tile) {
        as[tx][ty] = row < n && at + tx < n ? a[row * n + at + tx] : 0.0f;
        bs[ty][tx] = at + ty < n && col < n ? b[(at + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < Tile; k++)
            sum += as[k][ty] * bs[k][tx];
        __syncthreads();
    }
    if (row < n && col < n)
        c[row * n + col] = sum;
}

int main(int argc, char **argv)
{
    Example e("matmul_tiled",
              {"16", "32", "column", "padded", "bug-no-first-barrier", "bug-no-second-barrier", "bug-edge"}, argc, argv,
              256, 1, 16384);
    const struct {
        void (*kernel)(const float *, const float *, float *, int);
        int tile;
    } ways[] = {{matmul_tiled<16>, 16},
                {matmul_tiled<32>, 32},
                {matmul_column<0>, 32},
                {matmul_column<1>, 32},
                {matmul_tiled<32, NoFirstBarrier>, 32},
                {matmul_tiled<32, NoSecondBarrier>, 32},
                {matmul_tiled<32, NoGuard>, 32}};
    const int n = e.n;
    const auto a = random_floats((size_t)n * n, 2 * e.seed), b = random_floats(a.size(), 2 * e.seed + 1);
    float *const da = to_device(a), *const db = to_device(b), *const dc = on_device<float>(a.size());
    for (size_t w = 0; w < e.ways.size(); w++) {
        if (!e.wants(e.ways[w]))
            continue;
        const int tile = ways[w].tile, blocks = (n + tile - 1) / tile;
        CHECK(cudaMemset(dc, 0xff, a.size() * sizeof(float)));
        const double ms = e.run([&] { ways[w].kernel<<<dim3(blocks, blocks), dim3(tile, tile)>>>(da, db, dc, n); });
        e.report(e.ways[w], product_error(a, b, to_host(dc, a.size()), n), 1e-6, ms);
    }
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    return e.failed;
}
