// one.cu - one line of variants.inc as an object: -DNAME=name
#include "kernel.cuh"
#include <cuda_runtime.h>

namespace shapes
{
#define VARIANT(name, ...) using name = Shape<__VA_ARGS__>;
#include "variants.inc"
#undef VARIANT
} // namespace shapes

extern "C" cudaError_t NAME(const float *a, const float *b, float *c, int n)
{
    using S = shapes::NAME;
    const cudaError_t e = cudaFuncSetAttribute(sgemm<S>, cudaFuncAttributeMaxDynamicSharedMemorySize, S::Bytes);
    if (e != cudaSuccess)
        return e;
    sgemm<S><<<dim3(n / S::BN, n / S::BM), S::Threads, S::Bytes>>>(a, b, c, n);
    return cudaGetLastError();
}
