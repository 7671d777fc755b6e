// hang.cu - launches that cannot finish are reported, not run for ever: argument 0 a barrier that some warps never
// reach, 1 a spin on a flag that nobody sets.
#include "check.h"
__global__ void barrier()
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;");
    else
        asm volatile("bar.sync 2, 64;");
}
__device__ int flag;
__global__ void spin()
{
    while (*(volatile int *)&flag == 0)
        ;
}
int main(int argc, char **argv)
{
    if (argc > 1 && atoi(argv[1]))
        spin<<<1, 64>>>();
    else
        barrier<<<1, 64>>>();
    cudaError_t e = cudaDeviceSynchronize();
    EXPECT(e == cudaErrorLaunchTimeout, "%s", cudaGetErrorString(e));
    return verdict("hang");
}
