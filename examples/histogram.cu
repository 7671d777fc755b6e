// histogram.cu - counts bytes into 256 bins, with atomics in global memory, or in a histogram of each block in shared
// memory that is added up at the end: atomics on one address queue up, and shared memory is nearer.
// bug-no-barrier adds a block's histogram up before all of it is counted; bug-plain counts without atomics.
// usage: histogram [n] [global|shared|bug-no-barrier|bug-plain]... [--seed N] [--time REPEATS]
// bench: 8388608 134217728
#include "common.h"

const int Bins = 256;

__global__ void histogram_global(const unsigned char *in, unsigned int *bins, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i]], 1u);
}

template <bool Barrier, bool Atomic>
__global__ void histogram_shared(const unsigned char *in, unsigned int *bins, int n)
{
    __shared__ unsigned int mine[Bins];
    for (int b = threadIdx.x; b < Bins; b += blockDim.x)
        mine[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (Atomic)
            atomicAdd(&mine[in[i]], 1u);
        else
            mine[in[i]]++;
    if (Barrier)
        __syncthreads();
    for (int b = threadIdx.x; b < Bins; b += blockDim.x)
        if (mine[b])
            atomicAdd(&bins[b], mine[b]);
}

int main(int argc, char **argv)
{
    Example e("histogram", {"global", "shared", "bug-no-barrier", "bug-plain"}, argc, argv, 1 << 19, 1, 1 << 30);
    void (*const kernels[])(const unsigned char *, unsigned int *, int) = {
        histogram_global, histogram_shared<true, true>, histogram_shared<false, true>, histogram_shared<true, false>};
    Random bits(e.seed);
    std::vector<unsigned char> in(e.n);
    std::vector<unsigned int> expect(Bins);
    for (unsigned char &v : in) {
        const unsigned int x = (unsigned int)bits();
        v = (unsigned char)(x >> 24 & x >> 16); // low values are the common ones
        expect[v]++;
    }
    unsigned char *const din = to_device(in);
    unsigned int *const dbins = on_device<unsigned int>(Bins);
    const int blocks = std::min(1024, (e.n + 16383) / 16384);
    for (size_t w = 0; w < e.ways.size(); w++) {
        if (!e.wants(e.ways[w]))
            continue;
        const double ms = e.run([&] {
            CHECK(cudaMemsetAsync(dbins, 0, Bins * sizeof(unsigned int)));
            kernels[w]<<<blocks, 256>>>(din, dbins, e.n);
        });
        const auto bins = to_host(dbins, Bins);
        int wrong = 0;
        for (int b = 0; b < Bins; b++)
            wrong += bins[b] != expect[b];
        e.report(e.ways[w], wrong, 0.0, ms);
    }
    CHECK(cudaFree(din));
    CHECK(cudaFree(dbins));
    return e.failed;
}
