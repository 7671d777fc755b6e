/* crt/host_defines.h - the CUDA qualifiers as attributes of clang; nothing at all for a plain C or C++ compiler. */
#ifndef WG_CUDA_HOST_DEFINES_H
#define WG_CUDA_HOST_DEFINES_H

#ifdef __CUDA__
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__ __attribute__((grid_constant))
/* clang has no such thing; saying so at the place of use beats a hundred errors further down. */
#define __managed__                                                                                                    \
    _Pragma("GCC error \"__managed__ variables cannot be compiled by clang: use cudaMallocManaged, or build with nvcc\"")
#define __cluster_dims__(...)                                                                                          \
    _Pragma("GCC error \"__cluster_dims__ cannot be compiled by clang: give the cluster size to cudaLaunchKernelEx, or build with nvcc\"")
/* hints for ptxas, without a meaning that PTX text could carry */
#define __maxnreg__(n)
#define __nv_pure__ __attribute__((pure))
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define __grid_constant__
#define __cluster_dims__(...)
#define __maxnreg__(n)
#define __nv_pure__
#endif

#define __forceinline__ __inline__ __attribute__((always_inline))
#ifndef __noinline__
#define __noinline__ __attribute__((noinline))
#endif
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __thread__ __thread
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __import__
#define __export__
#define __annotate__(a) __attribute__((a))
#define __location__(a) __annotate__(a)
#define CUDARTAPI
#define CUDARTAPI_CDECL
#define CUDART_CB
#define CUDART_DEVICE

#endif
