// transpose.cu - three ways to transpose a matrix: straight (its stores are 32 rows apart), through a shared tile (its
// column reads all meet one bank), through a padded tile (neither).
// usage: transpose [n] [naive|shared|padded]      all three without the second argument
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

const int Tile = 32, Rows = 8;

__global__ void transpose_naive(const float *in, float *out, int n)
{
    const int x = blockIdx.x * Tile + threadIdx.x;
    for (int y = blockIdx.y * Tile + threadIdx.y; y < (blockIdx.y + 1) * Tile; y += Rows)
        if (x < n && y < n)
            out[x * n + y] = in[y * n + x];
}

template <int Pad> __device__ void through_tile(float (*tile)[Tile + Pad], const float *in, float *out, int n)
{
    int x = blockIdx.x * Tile + threadIdx.x, y = blockIdx.y * Tile + threadIdx.y;
    for (int i = 0; i < Tile; i += Rows)
        if (x < n && y + i < n)
            tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * n + x];
    __syncthreads();
    x = blockIdx.y * Tile + threadIdx.x;
    y = blockIdx.x * Tile + threadIdx.y;
    for (int i = 0; i < Tile; i += Rows)
        if (x < n && y + i < n)
            out[(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}
__global__ void transpose_shared(const float *in, float *out, int n)
{
    __shared__ float tile[Tile][Tile]; // a column is one bank
    through_tile<0>(tile, in, out, n);
}
__global__ void transpose_padded(const float *in, float *out, int n)
{
    __shared__ float tile[Tile][Tile + 1]; // a column is all banks
    through_tile<1>(tile, in, out, n);
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 512;
    const char *const only = argc > 2 ? argv[2] : nullptr;
    const struct {
        const char *name;
        void (*kernel)(const float *, float *, int);
    } ways[] = {{"naive", transpose_naive}, {"shared", transpose_shared}, {"padded", transpose_padded}};
    bool known = !only;
    for (const auto &way : ways)
        known = known || std::strcmp(only, way.name) == 0;
    if (n < 1 || n > 16384 || !known) {
        std::fprintf(stderr, "usage: transpose [n] [naive|shared|padded], n from 1 to 16384\n");
        return 2;
    }
    std::vector<float> in((size_t)n * n), out(in.size());
    for (size_t i = 0; i < in.size(); i++)
        in[i] = (float)(i % 1000003);
    float *din, *dout;
    const size_t bytes = in.size() * sizeof(float);
    CHECK(cudaMalloc(&din, bytes));
    CHECK(cudaMalloc(&dout, bytes));
    CHECK(cudaMemcpy(din, in.data(), bytes, cudaMemcpyHostToDevice));
    const int tiles = (n + Tile - 1) / Tile;
    int failed = 0;
    for (const auto &way : ways) {
        if (only && std::strcmp(only, way.name) != 0)
            continue;
        CHECK(cudaMemset(dout, 0xff, bytes));
        way.kernel<<<dim3(tiles, tiles), dim3(Tile, Rows)>>>(din, dout, n);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(out.data(), dout, bytes, cudaMemcpyDeviceToHost));
        size_t wrong = 0;
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                wrong += out[(size_t)x * n + y] != in[(size_t)y * n + x];
        std::printf("transpose %s n=%d: %s\n", way.name, n, wrong ? "FAIL" : "PASS");
        failed |= wrong != 0;
    }
    CHECK(cudaFree(din));
    CHECK(cudaFree(dout));
    return failed;
}
