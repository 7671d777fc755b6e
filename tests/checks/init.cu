// init.cu - reads of memory that nobody wrote, and copies of padding that nobody minds.
// sound: halo<true>
#include "common.h"

struct Padded { char c; int i; };

template <bool FIX> __global__ void halo(const float *a, float *o, int n)
{
    __shared__ float s[11];
    int t = threadIdx.x, g = blockIdx.x * 8 + t;
    if (g < n)
        s[t] = a[g];
    else if (FIX)
        s[t] = 0;
    if (t < 3) {
        if (g + 8 < n)
            s[t + 8] = a[g + 8];
        else if (FIX)
            s[t + 8] = 0;
    }
    __syncthreads();
    if (g < n) {
        float acc = 0;
        for (int j = 0; j < 4; j++)
            acc += s[t + j]; // !uninitialized
        o[g] = acc;
    }
}
__global__ void read(const int *p, int *o) { o[threadIdx.x] = p[threadIdx.x]; } // !uninitialized
__global__ void write(int *p) { p[threadIdx.x] = threadIdx.x; }
__global__ void read_written(const int *p, int *o) { o[threadIdx.x] = p[threadIdx.x]; }
__global__ void structs(const Padded *p, Padded *q) { q[threadIdx.x] = p[threadIdx.x]; }
__global__ void make(Padded *p)
{
    p[threadIdx.x].c = 'x';
    p[threadIdx.x].i = 4;
}
__device__ int variable[32]; // zero, says the language
__global__ void global(int *o) { o[threadIdx.x] = variable[threadIdx.x]; }
__global__ void local(int *o, int n)
{
    int v[8];
    for (int k = 0; k < 8; k++)
        v[(k * n) & 7] = k;
    o[threadIdx.x] = v[threadIdx.x & 7];
}

int main()
{
    float *a = filled<float>(64), *of = zeros<float>(64);
    int *o = (int *)of, *fresh, *copy;
    Padded *p, *q;
    cudaMalloc(&fresh, 256);
    cudaMalloc(&copy, 256);
    cudaMalloc(&p, 32 * sizeof *p);
    cudaMalloc(&q, 32 * sizeof *q);
    halo<false><<<2, 8>>>(a, of, 15);
    halo<true><<<2, 8>>>(a, of, 15);
    read<<<1, 32>>>(fresh, o);
    write<<<1, 32>>>(fresh);
    cudaMemcpy(copy, fresh, 128, cudaMemcpyDeviceToDevice);
    read_written<<<1, 32>>>(copy, o);
    make<<<1, 32>>>(p);
    structs<<<1, 32>>>(p, q);
    global<<<1, 32>>>(o);
    local<<<1, 32>>>(o, 3);
    return cudaDeviceSynchronize() != cudaSuccess;
}
