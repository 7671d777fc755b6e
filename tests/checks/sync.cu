// sync.cu - barriers and shuffles that not everybody reaches.
// sound: tail<false>, whole, named
#include "common.h"

__global__ void split(int *x)
{
    if (threadIdx.x % 2 == 0) {
        x[threadIdx.x] = 1;
        __syncthreads(); // !barrier-divergent
        x[threadIdx.x] += 2;
    } else {
        x[threadIdx.x] = 3;
        __syncthreads(); // !barrier-divergent
        x[threadIdx.x] *= 4;
    }
}
template <bool EARLY> __global__ void tail(const int *x, int *o, int n)
{
    __shared__ int s[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    if (EARLY && i >= n)
        return; // ?barrier-exited
    if (i < n)
        s[threadIdx.x] = x[i];
    __syncthreads(); // !barrier-exited
    if (i < n)
        o[i] = s[threadIdx.x];
} // ?barrier-exited
__global__ void sum(const int *x, int *o)
{
    int v = x[threadIdx.x];
    for (int k = 16; k; k /= 2)
        v += __shfl_down_sync(0xffffffffu, v, k); // !shuffle-source
    if (threadIdx.x % 32 == 0)
        o[threadIdx.x / 32] = v;
}
__global__ void whole(const int *x, int *o)
{
    int v = x[threadIdx.x];
    for (int k = 16; k; k /= 2)
        v += __shfl_down_sync(0xffffffffu, v, k);
    if (threadIdx.x % 32 == 0)
        o[threadIdx.x / 32] = v;
}
__global__ void outsider(int *o)
{
    if (threadIdx.x <= 16) {
        __syncwarp(0xffffu); // !mask-caller
        o[threadIdx.x] = 1;
    }
}
// Warps take different ways round a barrier of their own: sound.
__global__ void named(int *o)
{
    if (threadIdx.x < 64)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("bar.sync 2, 64;" ::: "memory");
    o[threadIdx.x] = 1;
}

int main()
{
    int *x = filled<int>(256), *o = zeros<int>(256);
    split<<<1, 64>>>(o);
    tail<true><<<2, 128>>>(x, o, 200);
    tail<false><<<2, 128>>>(x, o, 200);
    sum<<<1, 48>>>(x, o);
    whole<<<1, 64>>>(x, o);
    named<<<1, 128>>>(o);
    outsider<<<1, 32>>>(o);
    return cudaDeviceSynchronize() != cudaSuccess;
}
