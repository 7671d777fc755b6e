// host.cu - calls of the host program that cannot be right, and their sound neighbours.
#include "common.h"
#include <cooperative_groups.h>

__global__ void both(int *o)
{
    __shared__ int fixed[64];
    extern __shared__ int d[];
    fixed[threadIdx.x] = d[threadIdx.x] = threadIdx.x;
    __syncthreads();
    o[threadIdx.x] = fixed[63 - threadIdx.x] + d[threadIdx.x ^ 1];
}
__global__ void two_steps(int *a, int *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    a[i] = i;
    cooperative_groups::this_grid().sync();
    b[i] = a[n - 1 - i];
}

int main()
{
    int *p = zeros<int>(64), *q = zeros<int>(64), *a = zeros<int>(2048), *b = zeros<int>(2048), h[128] = {0};
    cudaMemcpy(h, p, 256, cudaMemcpyDeviceToHost);
    cudaMemcpy(h, p, 512, cudaMemcpyDeviceToHost); // !api-error: past the end
    cudaMemcpy(p, h, 256, cudaMemcpyHostToDevice);
    cudaMemcpy(p, h, 256, cudaMemcpyDeviceToDevice); // !api-error: no device memory
    cudaMemset(p + 60, 0, 16);
    cudaMemset(p + 61, 0, 16); // !api-error: past the end
    cudaFree(q);
    cudaFree(q); // !api-error: twice
    cudaFree(p + 1); // !api-error: no start of a block
    cudaFree(nullptr);
    both<<<1, 64, 49152 - 256>>>(p);
    both<<<1, 64, 49152>>>(p); // !api-error: with 256 static bytes that is over the limit
    cudaFuncSetAttribute(both, cudaFuncAttributeMaxDynamicSharedMemorySize, 49152);
    both<<<1, 64, 49152>>>(p);
    both<<<1, 1025, 256>>>(p); // !api-error: too many threads
    void *args[] = {&a, &b};
    cudaLaunchCooperativeKernel((void *)two_steps, dim3(2), dim3(1024), args, 0, 0);
    cudaLaunchCooperativeKernel((void *)two_steps, dim3(100000), dim3(1024), args, 0, 0); // !api-error: do not fit
    cudaGetLastError();
    int *huge;
    if (cudaMalloc(&huge, (size_t)1 << 50) == cudaSuccess) // a question, no mistake
        return 1;
    cudaFree(a);
    cudaFree(p);
    return cudaDeviceSynchronize() != cudaSuccess; // b is leaked
}
