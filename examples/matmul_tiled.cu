// matmul_tiled.cu - C = A*B through 32x32 tiles in shared memory: each value is read from global memory n/32 times
// instead of n. The tile of B has a spare word a row, so that no stride through it meets one bank; n need not be a
// multiple of 32.
// usage: matmul_tiled [n]
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        const cudaError_t e = (call);                                                                                  \
        if (e != cudaSuccess) {                                                                                        \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e));                 \
            return 2;                                                                                                  \
        }                                                                                                              \
    } while (0)

const int Tile = 32;

__global__ void matmul_tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[Tile][Tile + 1], bs[Tile][Tile + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * Tile + ty, col = blockIdx.x * Tile + tx;
    float sum = 0.0f;
    for (int at = 0; at < n; at += Tile) {
        as[ty][tx] = row < n && at + tx < n ? a[row * n + at + tx] : 0.0f;
        bs[ty][tx] = at + ty < n && col < n ? b[(at + ty) * n + col] : 0.0f;
        __syncthreads(); // the tile is complete
        for (int k = 0; k < Tile; k++)
            sum += as[ty][k] * bs[k][tx];
        __syncthreads(); // nobody reads it any more
    }
    if (row < n && col < n)
        c[row * n + col] = sum;
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 256;
    if (n < 1 || n > 4096) {
        std::fprintf(stderr, "usage: matmul_tiled [n], n from 1 to 4096\n");
        return 2;
    }
    std::vector<float> a((size_t)n * n), b(a.size()), c(a.size()), expect(a.size());
    for (size_t i = 0; i < a.size(); i++) {
        a[i] = (float)(i % 7) - 3.0f;
        b[i] = (float)(i % 5) - 2.0f;
    }
    float *da, *db, *dc;
    const size_t bytes = a.size() * sizeof(float);
    CHECK(cudaMalloc(&da, bytes));
    CHECK(cudaMalloc(&db, bytes));
    CHECK(cudaMalloc(&dc, bytes));
    CHECK(cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice));
    const int tiles = (n + Tile - 1) / Tile;
    matmul_tiled<<<dim3(tiles, tiles), dim3(Tile, Tile)>>>(da, db, dc, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));

    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                expect[(size_t)i * n + j] += a[(size_t)i * n + k] * b[(size_t)k * n + j];
    int wrong = 0;
    for (size_t i = 0; i < c.size(); i++)
        wrong += c[i] != expect[i]; // sums of small integers: exact
    std::printf("matmul_tiled n=%d: %s\n", n, wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
