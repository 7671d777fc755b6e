/* wg/device.h - everything a kernel can use without naming a header, built on the headers that clang ships. Order
 * matters: clang's pieces expect what the CUDA toolkit's headers would have defined before them. */
#ifndef WG_CUDA_DEVICE_H
#define WG_CUDA_DEVICE_H

/* The host pass parses device code too; clang's own wrapper shows it the widest set, and so do we. */
#pragma push_macro("__CUDA_ARCH__")
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 9999
#endif

WG_CALLERS_LINES
#include <__clang_cuda_builtin_vars.h>

extern "C" {
__device__ int vprintf(const char *format, const char *args);
__device__ void free(void *p) __attribute__((nothrow));
__device__ void *malloc(size_t n) __attribute__((nothrow)) __attribute__((malloc));
__device__ void __assertfail(const char *message, const char *file, unsigned int line, const char *function, size_t n);
__device__ static __inline__ void __assert_fail(const char *message, const char *file, unsigned int line,
                                                const char *function)
{
    __assertfail(message, file, line, function, sizeof(char));
}
__device__ int printf(const char *format, ...); /* clang turns it into vprintf */
}
namespace std {
__device__ static __inline__ void free(void *p) { ::free(p); }
__device__ static __inline__ void *malloc(size_t n) { return ::malloc(n); }
}

#include <new> /* clang's wrapper of it: new and delete in kernels, over malloc and free */

#define WG_BUILTIN(name, w)                                                                                            \
    __device__ inline __cuda_builtin_##name##_t::operator dim3() const { return dim3(x, y, z); }                       \
    __device__ inline __cuda_builtin_##name##_t::operator uint3() const { return {x, y, z}; }
WG_BUILTIN(threadIdx, )
WG_BUILTIN(blockIdx, )
WG_BUILTIN(blockDim, )
WG_BUILTIN(gridDim, )
#undef WG_BUILTIN

#pragma push_macro("__host__")
#undef __host__
#define __host__ /* the declarations below must be for the device only */
#include <__clang_cuda_libdevice_declares.h>
#pragma pop_macro("__host__")
#include "libdevice_inline.h"

/* The votes and shuffles without a mask are gone from the hardware; below they are made of today's. */
#define __all wg_clang_all
#define __any wg_clang_any
#define __ballot wg_clang_ballot
#include <__clang_cuda_device_functions.h>
#undef __all
#undef __any
#undef __ballot
#include <__clang_cuda_math.h>

#include "atomics.h"
#include "nv_atomic.h"
#include "address_space.h"

typedef unsigned int cuuint32_t; /* a type of the driver API that the next header uses */
#define __shfl wg_clang_shfl
#define __shfl_up wg_clang_shfl_up
#define __shfl_down wg_clang_shfl_down
#define __shfl_xor wg_clang_shfl_xor
/* clang 19 hands redux its operands in the wrong order; ours are in intrinsics.h */
#define __reduce_add_sync wg_clang_reduce_add_sync
#define __reduce_min_sync wg_clang_reduce_min_sync
#define __reduce_max_sync wg_clang_reduce_max_sync
#define __reduce_and_sync wg_clang_reduce_and_sync
#define __reduce_or_sync wg_clang_reduce_or_sync
#define __reduce_xor_sync wg_clang_reduce_xor_sync
#include <__clang_cuda_intrinsics.h>
#undef __shfl
#undef __shfl_up
#undef __shfl_down
#undef __shfl_xor
#undef __reduce_add_sync
#undef __reduce_min_sync
#undef __reduce_max_sync
#undef __reduce_and_sync
#undef __reduce_or_sync
#undef __reduce_xor_sync
#include <__clang_cuda_cmath.h>
#include <__clang_cuda_complex_builtins.h>
#include "intrinsics.h"
#include "minmax.h"
#if __cplusplus >= 201103L
#include "texture.h"
#include "texture_reference.h"
#include "surface.h"
#endif

WG_OWN_LINES
#pragma pop_macro("__CUDA_ARCH__")
#endif
