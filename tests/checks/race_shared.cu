// race_shared.cu - races between warps of a block; each faulty kernel has a sound twin. A line
// that is marked must be in a finding of that kind, and no other line may be.
// sound: rounds<true>, sound
#include "common.h"

template <bool FIX> __global__ void rounds(const int *x, int *out, int n)
{
    __shared__ int s[128];
    for (int r = 0; r < n; r++) {
        s[threadIdx.x] = x[r * 128 + threadIdx.x]; // !race-shared
        __syncthreads();
        if (threadIdx.x == 0) {
            int a = 0;
            for (int k = 0; k < 128; k++)
                a += s[k]; // !race-shared
            out[r] = a;
        }
        if (FIX)
            __syncthreads();
    }
}

// A tiled product without its first barrier, without its second, and whole.
template <int WHICH> __global__ void tiled(const float *a, const float *b, float *c)
{
    __shared__ float s[16][16], t[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (int k = 0; k < 32; k += 16) {
        s[y][x] = a[y * 32 + k + x]; // !race-warp: a warp has two rows
        t[y][x] = b[(k + y) * 16 + x]; // !race-shared
        if (WHICH != 1)
            __syncthreads();
        for (int q = 0; q < 16; q++)
            sum += s[y][q] * t[q][x]; // !race-shared !race-warp
        if (WHICH != 2)
            __syncthreads();
    }
    c[y * 16 + x] = sum;
}

// A named barrier that orders two of four warps, and a flag passed through shared memory with fences.
__global__ void sound(int *out)
{
    __shared__ int s[64], flag, box;
    int t = threadIdx.x;
    if (t == 0)
        flag = 0;
    __syncthreads();
    if (t < 64) {
        s[t] = t;
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = s[63 - t];
    } else if (t == 64) {
        box = 7;
        __threadfence_block();
        atomicExch(&flag, 1);
    } else if (t == 96) {
        while (!atomicAdd(&flag, 0))
            ;
        __threadfence_block();
        out[64] = box;
    }
}

int main()
{
    int *x = filled<int>(1024), *out = zeros<int>(1024);
    rounds<false><<<1, 128>>>(x, out, 4);
    rounds<true><<<1, 128>>>(x, out, 4);
    tiled<0><<<1, dim3(16, 16)>>>((float *)x, (float *)x, (float *)out);
    tiled<1><<<1, dim3(16, 16)>>>((float *)x, (float *)x, (float *)out);
    tiled<2><<<1, dim3(16, 16)>>>((float *)x, (float *)x, (float *)out);
    sound<<<1, 128>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
