// progress.cu - locks and barriers made of atomics finish: within a warp, between warps, between blocks.
#include "check.h"

__device__ int lock_word, counter, ticket_next, ticket_serving, ticket_sum;
__global__ void warp_lock(int rounds) // every lane takes the same lock
{
    for (int i = 0; i < rounds; i++) {
        bool done = false;
        while (!done) {
            if (atomicCAS(&lock_word, 0, 1) == 0) {
                counter = counter + 1;
                __threadfence();
                atomicExch(&lock_word, 0);
                done = true;
            }
        }
    }
}
__global__ void naive_lock() // the textbook form that needs independent thread scheduling
{
    while (atomicCAS(&lock_word, 0, 1) != 0)
        ;
    counter = counter + 1;
    __threadfence();
    atomicExch(&lock_word, 0);
}
__global__ void ticket_lock()
{
    int mine = atomicAdd(&ticket_next, 1);
    while (atomicAdd(&ticket_serving, 0) != mine)
        ;
    ticket_sum = ticket_sum + mine;
    __threadfence();
    atomicAdd(&ticket_serving, 1);
}
__device__ unsigned arrived;
__global__ void grid_barrier(int *data, int n) // every block must be resident
{
    data[blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&arrived, 1);
        while (*(volatile unsigned *)&arrived < gridDim.x)
            ;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        int s = 0;
        for (int i = 0; i < n; i++)
            s += ((volatile int *)data)[i];
        data[n + blockIdx.x] = s;
    }
}
// producer and consumer warps of one block through a flag in shared memory
__global__ void flags(int *out)
{
    __shared__ volatile int flag, value;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x / 32 == 0) {
        if (threadIdx.x == 0) {
            while (flag == 0)
                ;
            out[0] = value;
        }
    } else if (threadIdx.x == 32) {
        value = 42;
        __threadfence_block();
        flag = 1;
    }
}
// decoupled look-back: each block waits for the sum of its predecessor
__device__ int prefix[64], ready[64], dyn;
__global__ void lookback(int *out)
{
    __shared__ int block;
    if (threadIdx.x == 0)
        block = atomicAdd(&dyn, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        int before = 0;
        if (block > 0) {
            while (atomicAdd(&ready[block - 1], 0) == 0)
                ;
            before = *(volatile int *)&prefix[block - 1];
        }
        *(volatile int *)&prefix[block] = before + block + 1;
        __threadfence();
        atomicExch(&ready[block], 1);
        out[block] = before;
    }
}
static int symbol(const void *s)
{
    int v;
    CK(cudaMemcpyFromSymbol(&v, s, sizeof v));
    return v;
}
int main()
{
    int zero = 0;
    warp_lock<<<2, 64>>>(3);
    CK(cudaDeviceSynchronize());
    EXPECT(symbol(&counter) == 2 * 64 * 3, "%d", symbol(&counter));
    CK(cudaMemcpyToSymbol(counter, &zero, sizeof zero));
    naive_lock<<<2, 48>>>();
    CK(cudaDeviceSynchronize());
    EXPECT(symbol(&counter) == 96, "%d", symbol(&counter));
    ticket_lock<<<3, 32>>>();
    CK(cudaDeviceSynchronize());
    EXPECT(symbol(&ticket_sum) == 96 * 95 / 2, "%d", symbol(&ticket_sum));
    const int n = 20;
    int *d = device<int>(2 * n), h[2 * n];
    grid_barrier<<<n, 64>>>(d, n);
    fetch(h, d, 2 * n);
    for (int i = 0; i < n; i++)
        EXPECT(h[n + i] == n * (n + 1) / 2, "block %d: %d", i, h[n + i]);
    flags<<<1, 64>>>(d);
    fetch(h, d, 1);
    EXPECT(h[0] == 42, "%d", h[0]);
    int *o = device<int>(64), r[64];
    lookback<<<64, 32>>>(o);
    fetch(r, o, 64);
    for (int i = 0; i < 64; i++)
        EXPECT(r[i] == i * (i + 1) / 2, "block %d: %d", i, r[i]);
    return verdict("progress");
}
