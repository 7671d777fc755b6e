// order.cu - what is stored depends on which thread comes first, or does not.
#include "common.h"
__global__ void places(int *count, int *list, float *sum)
{
    int at = atomicAdd(count, 1);
    list[at] = threadIdx.x; // !nondeterministic
    atomicAdd(sum, 1.0f);
}
__global__ void sorted(int *list, int *sum)
{
    list[threadIdx.x] = threadIdx.x;
    atomicAdd(sum, threadIdx.x);
}
int main()
{
    int *x = zeros<int>(512);
    places<<<1, 128>>>(x, x + 64, (float *)x + 1);
    sorted<<<1, 128>>>(x + 256, x + 2);
    return cudaDeviceSynchronize() != cudaSuccess;
}
