/* cuda_fp16.h - __half and __half2. */
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__
#include "cuda_runtime.h"
#ifdef __cplusplus
#include "wg/half_host.h"
WG_CALLERS_LINES

/* bits of the half nearest to f or d */
#ifdef __CUDA_ARCH__
#define WG_CVT(ptx, con, v)                                                                                            \
    switch (mode) {                                                                                                    \
    case wg_half_rn: asm("cvt.rn.f16." ptx " %0, %1;" : "=h"(h) : con(v)); break;                                      \
    case wg_half_rz: asm("cvt.rz.f16." ptx " %0, %1;" : "=h"(h) : con(v)); break;                                      \
    case wg_half_rd: asm("cvt.rm.f16." ptx " %0, %1;" : "=h"(h) : con(v)); break;                                      \
    default: asm("cvt.rp.f16." ptx " %0, %1;" : "=h"(h) : con(v)); break;                                              \
    }
static __inline__ __host__ __device__ __attribute__((always_inline)) unsigned short wg_half_from(float f,
                                                                                                 wg_half_round mode)
{
    unsigned short h;
    WG_CVT("f32", "f", f)
    return h;
}
static __inline__ __host__ __device__ __attribute__((always_inline)) unsigned short wg_half_from(double d,
                                                                                                 wg_half_round mode)
{
    unsigned short h;
    WG_CVT("f64", "d", d)
    return h;
}
#undef WG_CVT
static __inline__ __host__ __device__ __attribute__((always_inline)) float wg_half_to_float(unsigned short h)
{
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
    return f;
}
#else
static __inline__ __host__ __device__ unsigned short wg_half_from(double d, wg_half_round mode)
{
    return wg_round16(d, 10, 15, mode);
}
#endif
/* values beyond 2^53 are beyond a half too, so that going through double rounds once */
static __inline__ __host__ __device__ unsigned short wg_half_from_int(long long v)
{
    return wg_half_from((double)v, wg_half_rn);
}
static __inline__ __host__ __device__ unsigned short wg_half_from_int(unsigned long long v)
{
    return wg_half_from((double)v, wg_half_rn);
}

#define WG_H __half
#define WG_H2 __half2
#define WG_RAW __half_raw
#define WG_RAW2 __half2_raw
#define WG_N half
#define WG_N2 half2
#define WG_P "f16"
#define WG_NATIVE 1
#define WG_ONE __ushort_as_half(0x3c00)
#define WG_MZERO __ushort_as_half(0x8000)
#define WG_INF 0x7c00
#ifdef __CUDA_NO_HALF_CONVERSIONS__
#define WG_NO_CONVERSIONS
#endif
#if defined(__CUDA_NO_HALF_OPERATORS__) || defined(__CUDA_NO_HALF2_OPERATORS__)
#define WG_NO_OPERATORS
#endif
#include "wg/half_type.h"
#include "wg/half_ops.h"
#undef WG_H
#undef WG_H2
#undef WG_RAW
#undef WG_RAW2
#undef WG_N
#undef WG_N2
#undef WG_P
#undef WG_NATIVE
#undef WG_ONE
#undef WG_MZERO
#undef WG_INF
#undef WG_NO_CONVERSIONS
#undef WG_NO_OPERATORS

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)

#ifndef CUDA_NO_HALF
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
#endif
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;
WG_OWN_LINES
#endif
#endif
