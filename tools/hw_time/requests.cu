// requests.cu - rates of requests of one to four sectors by how many SMs make them, chases through memory, and loops that
// hit the L1: nvcc -arch=sm_90 -O3 requests.cu && ./a.out > data/requests.csv (a few seconds on a machine of its own).
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#define CK(x)                                                                                                          \
    do {                                                                                                               \
        cudaError_t e = (x);                                                                                           \
        if (e != cudaSuccess) {                                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e));                                 \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static double clock_mhz;
static unsigned *big, *sink;
static const size_t BIG = (size_t)8 << 30;

// Every lane of a warp touches one word; lanes go to `lines` lines, 32 / lines lanes each, spread over `sectors` sectors.
// kind 0: load past the L1, 1: store, 2: reduction, 3: whole sectors stored by vectors of 4 (sectors of 8 lanes: 2 each)
template <int KIND> __global__ void requests(unsigned *p, unsigned *o, int lines, int sectors, int rounds, unsigned mask)
{
    unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, nw = gridDim.x * blockDim.x / 32;
    unsigned per = 32 / lines, line = lane / per, word = lane % per, s = 0;
    unsigned at = sectors == 1 ? word % 8 : (word % sectors) * 8 + word / sectors;
    for (int r = 0; r < rounds; r++) {
        unsigned i = ((((unsigned)r * nw + warp) * lines + line) & mask) * 32 + at;
        if (KIND == 0)
            s ^= __ldcg(p + i);
        else if (KIND == 1)
            p[i] = s;
        else if (KIND == 2)
            asm volatile("red.global.add.u32 [%0], 1;" ::"l"(p + i) : "memory");
        else
            reinterpret_cast<uint4 *>(p)[(i / 32) * 8 + lane % 8] = make_uint4(s, s, s, s);
    }
    if (s == 0x12345)
        o[0] = s;
}
// Random lines of a large range.
template <int KIND> __global__ void scattered(unsigned *p, unsigned *o, int rounds, unsigned mask)
{
    unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u, s = 0;
    for (int r = 0; r < rounds; r++) {
        x = x * 1664525u + 1013904223u;
        size_t i = (size_t)((x ^ x >> 15) & mask) * 32;
        if (KIND == 0)
            s ^= __ldcg(p + i);
        else
            p[i] = s;
    }
    if (s == 0x12345)
        o[0] = s;
}
__global__ void fill(unsigned *p, size_t lines) // full-period walk through `lines` (a power of two) in a scattered order
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < lines; i += (size_t)gridDim.x * blockDim.x)
        p[i * 32] = (unsigned)((i * 1103515245u + 12345u) & (lines - 1));
}
__global__ void chase(const unsigned *p, long long *t, unsigned *o, int n)
{
    unsigned x = 0;
    long long t0 = clock64();
    for (int i = 0; i < n; i++)
        x = __ldcg(p + (size_t)x * 32);
    t[0] = clock64() - t0;
    o[0] = x;
}
template <int UNROLL> __global__ void l1_loop(const unsigned *p, long long *t, unsigned *o, int words, int rounds)
{
    unsigned s = 0;
    for (int i = threadIdx.x; i < words; i += blockDim.x)
        s ^= __ldca(p + i);
    __syncthreads();
    long long t0 = clock64();
    for (int r = 0; r < rounds; r++) {
#pragma unroll UNROLL
        for (int i = threadIdx.x; i < words; i += blockDim.x)
            s ^= __ldca(p + i);
    }
    __syncthreads();
    t[blockIdx.x] = clock64() - t0;
    if (s == 0x12345)
        o[0] = s;
}

template <typename F> static double microseconds(F f)
{
    cudaEvent_t a, b;
    CK(cudaEventCreate(&a));
    CK(cudaEventCreate(&b));
    f();
    float best = 1e30f;
    for (int k = 0; k < 3; k++) {
        CK(cudaEventRecord(a));
        f();
        CK(cudaEventRecord(b));
        CK(cudaEventSynchronize(b));
        float ms;
        CK(cudaEventElapsedTime(&ms, a, b));
        best = ms < best ? ms : best;
    }
    CK(cudaGetLastError());
    return best * 1e3;
}

int main()
{
    cudaDeviceProp prop;
    CK(cudaGetDeviceProperties(&prop, 0));
    int khz;
    CK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
    clock_mhz = khz * 1e-3;
    CK(cudaMalloc(&big, BIG));
    CK(cudaMalloc(&sink, 1 << 20));
    CK(cudaMemset(big, 0, BIG));
    long long *t;
    CK(cudaMallocManaged(&t, 4096 * sizeof *t));
    printf("what,sms,lines,sectors,footprint,requests,value,unit\n");
    printf("clock,%d,0,0,0,0,%g,MHz\n", prop.multiProcessorCount, clock_mhz);
    static const int sms[] = {1, 4, 16, 33, 66, 132};
    static const int shape[][2] = {{1, 4}, {8, 4}, {8, 1}, {32, 1}, {16, 2}};
    for (int s : sms)
        for (auto &q : shape)
            for (int kind = 0; kind < 4; kind++) {
                if (kind == 3 && q[0] != 8)
                    continue;
                int rounds = 200, blocks = s;
                unsigned mask = (8u << 20) / 128 - 1;
                auto f = [&] {
                    if (kind == 0)
                        requests<0><<<blocks, 1024>>>(big, sink, q[0], q[1], rounds, mask);
                    else if (kind == 1)
                        requests<1><<<blocks, 1024>>>(big, sink, q[0], q[1], rounds, mask);
                    else if (kind == 2)
                        requests<2><<<blocks, 1024>>>(big, sink, q[0], q[1], rounds, mask);
                    else
                        requests<3><<<blocks, 1024>>>(big, sink, 4, 4, rounds, mask);
                };
                double us = microseconds(f);
                static const char *const names[] = {"load", "store", "red", "store_vector"};
                printf("%s,%d,%d,%d,%u,%d,%g,us\n", names[kind], s, kind == 3 ? 4 : q[0], q[1], 8u << 20, rounds * 32, us);
            }
    for (int mb = 32; mb <= 4096; mb *= 4)
        for (int kind = 0; kind < 2; kind++) {
            unsigned mask = (unsigned)(((size_t)mb << 20) / 128 - 1);
            double us = microseconds([&] {
                if (kind)
                    scattered<1><<<264, 1024>>>(big, sink, 16, mask);
                else
                    scattered<0><<<264, 1024>>>(big, sink, 16, mask);
            });
            printf("%s,132,32,1,%zu,%d,%g,us\n", kind ? "scattered_store" : "scattered_load", (size_t)mb << 20, 264 * 32 * 16, us);
        }
    for (size_t mb = 1; mb <= 4096; mb *= 4)
        for (int warm = 0; warm < 2; warm++) { // warm: the walk just before it went through the same pages
            size_t lines = (mb << 20) / 128;
            fill<<<1024, 256>>>(big, lines);
            CK(cudaDeviceSynchronize());
            int n = lines < 2000 ? (int)lines : 2000;
            if (!warm) // other pages, and lines that fill the L2
                CK(cudaMemset(big + (BIG / 4) / 2, 1, BIG / 2));
            else {
                chase<<<1, 1>>>(big, t, sink, n);
                CK(cudaDeviceSynchronize());
            }
            chase<<<1, 1>>>(big, t, sink, n);
            CK(cudaDeviceSynchronize());
            printf("%s,1,1,1,%zu,%d,%g,cycle\n", warm ? "chase_again" : "chase_cold", mb << 20, n, (double)t[0] / n);
        }
    static const int threads[] = {32, 128, 256, 512, 1024};
    for (int th : threads)
        for (int u = 0; u < 2; u++) {
            auto f = u ? l1_loop<4> : l1_loop<1>;
            int words = th * 16, rounds = 50;
            f<<<1, th>>>(big, t, sink, words, rounds);
            CK(cudaDeviceSynchronize());
            printf("%s,1,%d,4,%d,%d,%g,cycle\n", u ? "l1_loop_unrolled" : "l1_loop", th, words * 4, rounds * 16,
                   (double)t[0] / (rounds * 16));
        }
    return 0;
}
