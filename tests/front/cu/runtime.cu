// The host side: typed forms, older argument lists, removed calls, the driver API beside it.
// wants: .entry
#include <cuComplex.h>
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <vector>
__constant__ int c[4];
__device__ float v;
template <class T> __global__ void k(T *p, int n) { p[n] = (T)c[1] + (T)v + (T)cuCabsf(make_cuFloatComplex(1, 2)); }
int main()
{
    float *f, *g;
    int n, size, grid;
    size_t pitch;
    cudaStream_t s;
    cudaEvent_t a, b;
    cudaDeviceProp prop;
    cudaFuncAttributes attr;
    cudaMalloc(&f, 4);
    cudaMallocManaged(&g, 4);
    cudaMallocHost(&g, 4);
    cudaHostAlloc(&g, 4, cudaHostAllocMapped);
    cudaMallocPitch(&f, &pitch, 3, 3);
    cudaStreamCreate(&s);
    cudaEventCreate(&a);
    cudaEventCreate(&b, cudaEventDisableTiming);
    cudaMemcpyAsync(f, g, 4, cudaMemcpyDefault, s);
    cudaMemcpyToSymbol(c, &n, 4);
    cudaMemcpyFromSymbol(&f, v, 4);
    cudaGetSymbolAddress((void **)&f, v);
    cudaGetDeviceProperties(&prop, 0);
    cudaMemPrefetchAsync(g, 4, 0, s);
    cudaMemAdvise(g, 4, cudaMemAdviseSetReadMostly, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, k<float>, 256, 0);
    cudaOccupancyMaxPotentialBlockSize(&grid, &size, k<int>);
    cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &size, k<int>, [](int t) { return t * 4; });
    cudaFuncGetAttributes(&attr, k<float>);
    cudaFuncSetAttribute(k<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
    k<<<dim3(1, 2), 32, 0, s>>>(f, 1);
    k<float><<<1, 1>>>(f, 0);
    void *args[] = {&f, &n};
    cudaLaunchKernel(k<float>, dim3(1), dim3(1), args, 0, s);
    cudaLaunchCooperativeKernel((void *)k<float>, 1, 1, args);
    cudaLaunchConfig_t config = {};
    cudaLaunchKernelEx(&config, k<float>, f, 3);
    cudaThreadSynchronize();
    cudaProfilerStop();
    CUdevice device;
    CUcontext context;
    cuInit(0);
    cuDeviceGet(&device, 0);
    cuCtxCreate(&context, 0, device);
    std::vector<float> host(10);
    return cudaGetLastError() == cudaSuccess && prop.clockRate > 0 && attr.numRegs ? EXIT_SUCCESS : EXIT_FAILURE;
}
