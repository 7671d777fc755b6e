// reduce.cu - a sum in two launches: halving with neighbouring threads (sequential addressing) down to one warp, which
// finishes with shuffles. No bank conflicts, and no divergence until a single warp is left.
// usage: reduce [n]
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

const int Block = 256;

__global__ void reduce(const int *in, int *out, int n)
{
    __shared__ int part[Block];
    const int t = threadIdx.x;
    int sum = 0;
    for (int i = blockIdx.x * Block + t; i < n; i += gridDim.x * Block)
        sum += in[i];
    part[t] = sum;
    __syncthreads();
    for (int half = Block / 2; half >= 32; half /= 2) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();
    }
    if (t < 32) {
        sum = part[t];
        for (int by = 16; by > 0; by /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, by);
        if (t == 0)
            out[blockIdx.x] = sum;
    }
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 1 << 20;
    if (n < 1) {
        std::fprintf(stderr, "usage: reduce [n]\n");
        return 2;
    }
    std::vector<int> in(n);
    long long expect = 0;
    for (int i = 0; i < n; i++)
        expect += in[i] = i % 13 - 3;
    const int blocks = n < Block * 128 ? (n + Block - 1) / Block : 128;
    int *din, *dpart, *dsum, sum = 0;
    CHECK(cudaMalloc(&din, n * sizeof(int)));
    CHECK(cudaMalloc(&dpart, blocks * sizeof(int)));
    CHECK(cudaMalloc(&dsum, sizeof(int)));
    CHECK(cudaMemcpy(din, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    reduce<<<blocks, Block>>>(din, dpart, n);
    reduce<<<1, Block>>>(dpart, dsum, blocks);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&sum, dsum, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(din));
    CHECK(cudaFree(dpart));
    CHECK(cudaFree(dsum));
    const bool ok = sum == (int)expect;
    std::printf("reduce n=%d: %d, expected %d: %s\n", n, sum, (int)expect, ok ? "PASS" : "FAIL");
    return !ok;
}
