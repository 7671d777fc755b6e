// silent.cu - programs with nothing to find: odd, slow or wrong in their sums, but no access and no barrier is at fault.
#include "common.h"
#include <cooperative_groups.h>

// Halving a block of 96 threads, its last steps by one warp, adds elements twice: 112, on every device.
__global__ void halving(const int *x, int *o)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int h = blockDim.x / 2; h > 32; h /= 2) {
        if (t < h)
            s[t] += s[t + h];
        __syncthreads();
    }
    for (int h = 32; h && t < 32; h /= 2) {
        int v = s[t] + s[t + h];
        __syncwarp();
        s[t] = v;
        __syncwarp();
    }
    if (t == 0)
        *o = s[0];
}
// All threads meet in one bin, in shared and in global memory.
__global__ void histogram(const int *x, int *o)
{
    __shared__ int bins[32];
    if (threadIdx.x < 32)
        bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[x[threadIdx.x] & 31], 1);
    __syncthreads();
    if (threadIdx.x < 32)
        atomicAdd(o + threadIdx.x, bins[threadIdx.x]);
}
__global__ void grid(int *a, int *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (int k = 0; k < 3; k++) {
        a[i] = b[n - 1 - i] + k;
        cooperative_groups::this_grid().sync();
        b[i] = a[n - 1 - i];
        cooperative_groups::this_grid().sync();
    }
}
// Compare-and-swap decides whether a value that was read without care counts; of a member, and through either space.
struct Pair { int other[7], value; };
__global__ void swaps(Pair *g)
{
    __shared__ Pair s;
    if (threadIdx.x == 0)
        s.value = 0;
    __syncthreads();
    for (int k = 0; k < 2; k++) {
        Pair *p = k ? g : &s;
        int old = *(volatile int *)&p->value, seen;
        while ((seen = atomicCAS(&p->value, old, old + 1)) != old)
            old = seen;
    }
}
// Barriers with reductions follow each other closely: each warp must get the result of its own.
__global__ void votes(const int *x, int *o)
{
    int sum = 0, end = x[blockIdx.x];
    for (int j = threadIdx.x; __syncthreads_or(j < end); j += blockDim.x) {
        sum += __syncthreads_count(j < end);
        sum += 1000 * __syncthreads_and(j < end);
    }
    if (threadIdx.x % 32 == 0)
        atomicAdd(o, sum);
}
__global__ void parity(int *o)
{
    int v = 0;
    if (threadIdx.x & 1)
        for (int k = 0; k < 50; k++)
            v += k * threadIdx.x;
    else
        for (int k = 0; k < 50; k++)
            v ^= k + threadIdx.x;
    o[threadIdx.x] = v;
}

int main()
{
    int ones[128], *x = zeros<int>(128), *o = zeros<int>(128), *a = zeros<int>(1024), *b = zeros<int>(1024), sum;
    for (int k = 0; k < 128; k++)
        ones[k] = 1;
    cudaMemcpy(x, ones, sizeof ones, cudaMemcpyHostToDevice);
    halving<<<1, 96>>>(x, o);
    cudaMemcpy(&sum, o, sizeof sum, cudaMemcpyDeviceToHost);
    histogram<<<2, 128>>>(x, o + 1);
    void *args[] = {&a, &b};
    cudaLaunchCooperativeKernel((void *)grid, dim3(4), dim3(256), args, 0, 0);
    parity<<<1, 64>>>(o);
    swaps<<<2, 64>>>((Pair *)a);
    for (int k = 0; k < 128; k++)
        ones[k] = k;
    cudaMemcpy(x, ones, sizeof ones, cudaMemcpyHostToDevice);
    cudaMemset(o, 0, sizeof *o);
    votes<<<128, 64>>>(x, o);
    int got, want = 0;
    cudaMemcpy(&got, o, sizeof got, cudaMemcpyDeviceToHost);
    for (int k = 0; k < 128; k++) // two warps; all 64 are below the end in the first round from 64 on
        want += 2 * k + (k >= 64 ? 2000 : 0);
    return cudaDeviceSynchronize() != cudaSuccess || sum != 112 || got != want;
}
