// race_warp.cu - lanes of one warp that rely on running in step, and lanes that synchronise.
// sound: last_warp<true>
#include "common.h"

template <bool SYNC> __global__ void last_warp(const float *x, float *o)
{
    __shared__ float s0[64];
    volatile float *s = s0;
    int t = threadIdx.x;
    s[t] = x[t];
    s[t + 32] = x[t];
    __syncthreads();
    float v = s[t] + s[t + 32];
    if (SYNC)
        __syncwarp();
    s[t] = v; // !race-warp
    if (SYNC)
        __syncwarp();
    if (t < 16)
        v = s[t] + s[t + 16]; // !race-warp
    if (t == 0)
        *o = v;
}

// Halves of a warp synchronise among themselves, through a shuffle mask and through __syncwarp.
__global__ void halves(int *o)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    unsigned half = t < 16 ? 0xffffu : 0xffff0000u;
    s[t] = t;
    __syncwarp(half);
    int v = s[t ^ 15];
    v += __shfl_xor_sync(half, v, 1);
    s[t ^ 1] = v;
    __syncwarp();
    o[t] = s[31 - t];
}

__global__ void crossing(int *o)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    unsigned half = t < 16 ? 0xffffu : 0xffff0000u;
    s[t] = t; // !race-warp
    __syncwarp(half);
    o[t] = s[31 - t]; // !race-warp
}

int main()
{
    float *x = filled<float>(64), *o = zeros<float>(64);
    last_warp<false><<<1, 32>>>(x, o);
    last_warp<true><<<1, 32>>>(x, o);
    halves<<<1, 32>>>((int *)o);
    crossing<<<1, 32>>>((int *)o);
    return cudaDeviceSynchronize() != cudaSuccess;
}
