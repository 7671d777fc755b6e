// race_global.cu - what blocks tell each other through global memory: with fence and atomic it is sound, else a race.
// sound: last_block<true>, sound, fill, use
#include "common.h"

// The last block adds up what all blocks have left.
template <bool FENCE> __global__ void last_block(const int *x, int *part, unsigned *count, int *out)
{
    __shared__ bool last;
    __shared__ int s;
    if (threadIdx.x == 0)
        s = 0;
    __syncthreads();
    atomicAdd(&s, x[blockIdx.x * 64 + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        part[blockIdx.x] = s; // !race-global
        if (FENCE)
            __threadfence();
        last = atomicAdd(count, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x)
        atomicAdd(out, part[threadIdx.x]); // !race-global
}

__global__ void scope(int *own, int *all_block, int *all)
{
    atomicAdd_block(&own[blockIdx.x], 1);
    atomicAdd_block(all_block, 1); // !atomic-scope
    atomicAdd(all, 1);
}

// Every block adds without an atomic; every block writes the same; each thread has its own cell.
__global__ void plain(int *sum, int *flag, int *own)
{
    if (threadIdx.x == 0)
        *sum += 1; // !race-global
    if (threadIdx.x == 32)
        *flag = 1; // !race-same-value
    own[blockIdx.x * 64 + threadIdx.x] += 1;
}

// An atomic made from compare-and-swap, and a lock with fences.
__global__ void sound(unsigned long long *d, int *lock, int *guarded)
{
    unsigned long long old = *d, was;
    do {
        was = old;
        old = atomicCAS(d, was, was + 2);
    } while (old != was);
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1))
            ;
        __threadfence();
        *guarded += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

// A reader that checks first without an atomic.
__global__ void guard(const int *x, int *most)
{
    int v = x[blockIdx.x * 64 + threadIdx.x];
    if (v > *most) // !race-global
        atomicMax(most, v); // !race-global
}

__global__ void fill(int *a) { a[threadIdx.x] = threadIdx.x; }
__global__ void use(const int *a, int *o) { o[threadIdx.x] = a[63 - threadIdx.x]; }

int main()
{
    int *x = filled<int>(1024), *o = zeros<int>(1024), *part = zeros<int>(64), *z = zeros<int>(64);
    last_block<true><<<8, 64>>>(x, part, (unsigned *)z, o);
    last_block<false><<<8, 64>>>(x, part, (unsigned *)z + 1, o);
    scope<<<8, 64>>>(o, z + 2, z + 3);
    plain<<<4, 64>>>(z + 4, z + 5, o);
    sound<<<4, 64>>>((unsigned long long *)(z + 8), z + 10, z + 11);
    guard<<<4, 64>>>(x, z + 12);
    fill<<<1, 64>>>(o);
    use<<<1, 64>>>(o, part);
    return cudaDeviceSynchronize() != cudaSuccess;
}
