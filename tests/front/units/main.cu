/* Two units of device code that use each other's variables and functions, and have statics of the same names. */
#include <cstdio>
extern __device__ int counter;
extern __constant__ float scale[2];
__device__ float twice(float x);
static __device__ int mine = 5;
static __global__ void own(int *o) { *o = mine; }
__global__ void k(float *o)
{
    o[threadIdx.x] = twice(threadIdx.x) * scale[1];
    atomicAdd(&counter, 1);
}
void other(float *o);
int main()
{
    const float s[2] = {1, 10};
    float *o;
    int c = 0, *d;
    cudaMallocManaged(&o, 256);
    cudaMallocManaged(&d, sizeof *d);
    cudaMemcpyToSymbol(scale, s, sizeof s);
    k<<<1, 32>>>(o);
    other(o);
    cudaMemcpyFromSymbol(&c, counter, sizeof c);
    own<<<1, 1>>>(d);
    /* 2 * 3 * 10; 100 + 32 + the other unit's static, which the host set to 50; 100 + 32; this unit's static */
    const bool right = cudaDeviceSynchronize() == cudaSuccess && o[3] == 60 && o[40] == 182 && c == 132 && *d == 5;
    std::printf("%g %g %d %d: %s\n", o[3], o[40], c, *d, right ? "PASS" : "FAIL");
    return !right;
}
