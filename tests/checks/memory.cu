// memory.cu - accesses that meet no memory, or the wrong one, and their sound neighbours.
#include "common.h"

__global__ void past(const int *x, int *o, int n) { o[threadIdx.x] = x[threadIdx.x + n]; } // !out-of-bounds
__global__ void before(int *o) { o[(int)threadIdx.x - 1] = 0; } // !out-of-bounds
__global__ void within(const int *x, int *o) { o[threadIdx.x] = x[threadIdx.x]; }

// One array runs into the next; a block smaller than the code believes.
__global__ void neighbour(int *o, int n)
{
    __shared__ int a[32], b[32];
    a[threadIdx.x] = 1;
    b[threadIdx.x] = 2;
    __syncthreads();
    o[threadIdx.x] = a[threadIdx.x + n]; // !out-of-bounds
    __syncthreads();
    o[threadIdx.x] += b[threadIdx.x];
}
__global__ void half_block(int *o)
{
    extern __shared__ int d[];
    d[threadIdx.x] = threadIdx.x;
    __syncthreads();
    o[threadIdx.x] = d[threadIdx.x + 32]; // !out-of-bounds
}

__global__ void aligned(const char *p, uint4 *o, int off)
{
    uint4 v = *(const uint4 *)(p + off); // !misaligned
    o->x = v.x ^ v.y ^ v.z ^ v.w;
}
__global__ void straddle(char *p) { *(int *)(p + 253) = 1; } // !misaligned: and it ends past the end
__global__ void late(int *p) { p[threadIdx.x] = 1; } // !use-after-free
__global__ void null(int *p) { *p = 1; } // !null-pointer
__global__ void host(const int *p, int *o) { *o = *p; } // !host-pointer
__global__ void add(int *p) { atomicAdd(p + threadIdx.x, 1); } // !out-of-bounds

int main()
{
    int *x = filled<int>(64), *o = zeros<int>(64), *gone = zeros<int>(64), *h = new int[4];
    past<<<1, 64>>>(x, o, 1);
    before<<<1, 32>>>(o);
    within<<<1, 64>>>(x, o);
    neighbour<<<1, 32>>>(o, 0);
    neighbour<<<1, 32>>>(o, 2);
    half_block<<<1, 32, 128>>>(o);
    aligned<<<1, 1>>>((const char *)x, (uint4 *)o, 16);
    aligned<<<1, 1>>>((const char *)x, (uint4 *)o, 8);
    straddle<<<1, 1>>>((char *)x);
    cudaFree(gone);
    late<<<1, 64>>>(gone);
    null<<<1, 1>>>(nullptr);
    host<<<1, 1>>>(h, o);
    add<<<1, 64>>>(x + 1);
    delete[] h;
    return cudaDeviceSynchronize() != cudaSuccess;
}
