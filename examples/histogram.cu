// histogram.cu - counts of 256 byte values, with one global histogram (every lane of a warp may wait for the same
// address of the L2 cache) and with one in the shared memory of each block that is added up at the end.
// usage: histogram [n] [global|shared]      both without the second argument
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

const int Bins = 256;

__global__ void histogram_global(const unsigned char *in, unsigned int *bins, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i]], 1u);
}
__global__ void histogram_shared(const unsigned char *in, unsigned int *bins, int n)
{
    __shared__ unsigned int mine[Bins];
    for (int b = threadIdx.x; b < Bins; b += blockDim.x)
        mine[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[in[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < Bins; b += blockDim.x)
        if (mine[b])
            atomicAdd(&bins[b], mine[b]);
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 1 << 19;
    const char *const only = argc > 2 ? argv[2] : nullptr;
    if (n < 1 || (only && std::strcmp(only, "global") != 0 && std::strcmp(only, "shared") != 0)) {
        std::fprintf(stderr, "usage: histogram [n] [global|shared]\n");
        return 2;
    }
    std::vector<unsigned char> in(n);
    std::vector<unsigned int> bins(Bins), expect(Bins);
    unsigned int state = 12345;
    for (int i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        in[i] = (unsigned char)((state >> 24) & (state >> 16)); // low values are the common ones
        expect[in[i]]++;
    }
    unsigned char *din;
    unsigned int *dbins;
    CHECK(cudaMalloc(&din, n));
    CHECK(cudaMalloc(&dbins, Bins * sizeof(unsigned int)));
    CHECK(cudaMemcpy(din, in.data(), n, cudaMemcpyHostToDevice));
    int failed = 0;
    for (int shared = 0; shared < 2; shared++) {
        const char *const name = shared ? "shared" : "global";
        if (only && std::strcmp(only, name) != 0)
            continue;
        CHECK(cudaMemset(dbins, 0, Bins * sizeof(unsigned int)));
        if (shared)
            histogram_shared<<<32, 256>>>(din, dbins, n);
        else
            histogram_global<<<32, 256>>>(din, dbins, n);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(bins.data(), dbins, Bins * sizeof(unsigned int), cudaMemcpyDeviceToHost));
        std::printf("histogram %s n=%d: %s\n", name, n, bins == expect ? "PASS" : "FAIL");
        failed |= bins != expect;
    }
    CHECK(cudaFree(din));
    CHECK(cudaFree(dbins));
    return failed;
}
