// launches.cuh - launches to be read with a profiler: durations against bytes in flight, traffic of the caches, and
// which SMs share a path to the L2. Each prints one label, in launch order, for joining with the profiler's rows.
#pragma once
#include "hw_time.cuh"

static int nlaunch;
#define LAUNCH(label, a, b, kernel, grid, block, shared, ...)                                                          \
    do {                                                                                                               \
        printf("%d,%s,%g,%g\n", nlaunch++, label, (double)(a), (double)(b));                                           \
        kernel<<<grid, block, shared>>>(__VA_ARGS__);                                                                  \
        CK(cudaGetLastError());                                                                                        \
        CK(cudaDeviceSynchronize());                                                                                   \
    } while (0)

__device__ static __forceinline__ unsigned smid()
{
    unsigned s;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(s));
    return s;
}

__global__ void t_empty() {}
template <int N> __global__ void __launch_bounds__(1024) t_shared_empty(unsigned *o)
{
    extern __shared__ unsigned s[];
    if (blockDim.x == 77)
        o[0] = s[threadIdx.x];
}
// n loads of 16 bytes a thread, U of them in flight at once; grid-stride, so that neighbours read neighbours
template <int U, int CG> __global__ void __launch_bounds__(1024) t_read(const uint4 *p, unsigned *o, size_t n)
{
    size_t step = (size_t)gridDim.x * blockDim.x, i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    unsigned s = 0;
    for (; i + (U - 1) * step < n; i += U * step) {
        uint4 v[U];
#pragma unroll
        for (int u = 0; u < U; u++)
            v[u] = CG ? __ldcg(p + i + u * step) : p[i + u * step];
#pragma unroll
        for (int u = 0; u < U; u++)
            s ^= v[u].x ^ v[u].y ^ v[u].z ^ v[u].w;
    }
    if (s == 0x12345)
        o[0] = s;
}
// the same region again and again, from the L2
template <int U> __global__ void __launch_bounds__(1024) t_again(const uint4 *p, unsigned *o, size_t n, int rounds)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    unsigned s = 0;
    for (int r = 0; r < rounds; r++)
        for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i + (U - 1) * step < n; i += U * step) {
            uint4 v[U];
#pragma unroll
            for (int u = 0; u < U; u++)
                v[u] = __ldcg(p + i + u * step);
#pragma unroll
            for (int u = 0; u < U; u++)
                s ^= v[u].x ^ v[u].y ^ v[u].z ^ v[u].w;
        }
    if (s == 0x12345)
        o[0] = s;
}
__global__ void __launch_bounds__(1024) t_write(uint4 *p, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        p[i] = make_uint4(1, 2, 3, 4);
}
__global__ void __launch_bounds__(1024) t_write32(unsigned *p, size_t n, int stride) // one word of every `stride`
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        p[i * stride] = 1;
}
__global__ void __launch_bounds__(1024) t_read32(const unsigned *p, unsigned *o, size_t n, int stride)
{
    unsigned s = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        s ^= p[i * stride];
    if (s == 0x12345)
        o[0] = s;
}
__global__ void __launch_bounds__(1024) t_copy(const uint4 *a, uint4 *p, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        p[i] = a[i];
}
__global__ void __launch_bounds__(1024) t_read_write(uint4 *p, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        uint4 v = p[i];
        v.x += 1;
        p[i] = v;
    }
}
// what a store leaves in the L1: store, wait, load the same or the neighbouring sector
__global__ void t_store_load(unsigned *p, unsigned *o, int shift)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    ((volatile unsigned *)o)[i] = 0;
    p[i * 8 + 0] = i;
    __syncthreads();
    __threadfence_block();
    o[i] = __ldca(p + ((i * 8 + shift * 8) & 0xfffff));
}
__global__ void t_load_store_load(unsigned *p, unsigned *o)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = __ldca(p + i);
    __syncthreads();
    p[i] = v + 1;
    __syncthreads();
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(p + i));
    o[i] = v;
}
__global__ void t_atomic(unsigned *p, unsigned *o, unsigned mask, int n, int ret) // mask: distinct addresses - 1
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    for (int k = 0; k < n; k++) {
        unsigned *q = p + ((i + k * 1024) & mask);
        if (ret)
            s += atomicAdd(q, 1u);
        else
            asm volatile("red.global.add.u32 [%0], 1;" ::"l"(q));
    }
    if (s == 0x12345)
        o[0] = s;
}
__global__ void t_atomic_f32(float *p, unsigned mask, int n, int step)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; k++)
        atomicAdd(p + ((i * step + k * 1024) & mask), 1.f);
}
// L1 capacity: every thread block walks `words` twice
__global__ void t_l1_walk(const unsigned *p, unsigned *o, int words, int rounds)
{
    unsigned s = 0;
    for (int r = 0; r < rounds; r++)
        for (int i = threadIdx.x; i < words; i += blockDim.x)
            s ^= __ldca(p + (size_t)blockIdx.x * words + i);
    if (s == 0x12345)
        o[0] = s;
}
// Two SMs read the same lines, the second `delay` cycles later; go is a flag that starts both.
__global__ void t_pair(const unsigned *p, unsigned *o, volatile unsigned *go, unsigned a, unsigned b, int need, int delay, int lines)
{
    unsigned me = smid(), s = 0;
    if (me != a && me != b)
        return;
    if (threadIdx.x == 0) {
        atomicAdd((unsigned *)go, 1u);
        while (*go < (unsigned)need)
            ;
    }
    __syncthreads();
    if (me == b && me != a) {
        long long t = clock64();
        while (clock64() - t < delay)
            ;
    }
    for (int i = 0; i < lines; i++) // one warp, one line at a time: the delay stays what it was
        s ^= __ldcg(p + i * 32 + threadIdx.x + (s & 1) * 0);
    if (s == 0x12345)
        o[0] = s;
}
// The same with all SMs of [a, b) at once.
__global__ void t_range(const unsigned *p, unsigned *o, volatile unsigned *go, unsigned a, unsigned b, int lines)
{
    unsigned me = smid(), s = 0;
    if (me < a || me >= b)
        return;
    if (threadIdx.x == 0) {
        atomicAdd((unsigned *)go, 1u);
        while (*go < b - a)
            ;
    }
    __syncthreads();
    for (int i = 0; i < lines; i++)
        s ^= __ldcg(p + i * 32 + threadIdx.x);
    if (s == 0x12345)
        o[0] = s;
}
__global__ void __launch_bounds__(1024) t_where(unsigned *o, int spin)
{
    if (threadIdx.x == 0) {
        o[blockIdx.x] = smid();
        long long t = clock64();
        while (clock64() - t < spin)
            ;
    }
}
__global__ void __launch_bounds__(1024) t_spin(unsigned *o, int n, int work) // a known number of cycles of dependent work
{
    float x = threadIdx.x;
    for (int i = 0; i < n + (int)(blockIdx.x % 2) * work; i++)
        x = x * 1.0001f + 0.5f;
    if (x == 1.2345f)
        o[0] = 1;
}
__global__ void t_local(unsigned *o, int n) // local memory: an array that is indexed
{
    unsigned a[64];
    for (int i = 0; i < 64; i++)
        a[i] = i * n;
    unsigned s = 0;
    for (int i = 0; i < n; i++) {
        s += a[(i * 7 + threadIdx.x) & 63];
        a[(i * 5) & 63] = s;
    }
    o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
