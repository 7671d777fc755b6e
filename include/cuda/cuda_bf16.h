/* cuda_bf16.h - __nv_bfloat16 and __nv_bfloat162. */
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__
#include "cuda_runtime.h"
#ifdef __cplusplus
#include "wg/half_host.h"
WG_CALLERS_LINES

static __inline__ __host__ __device__ __attribute__((always_inline)) float wg_bfloat16_to_float(unsigned short h)
{
    return __builtin_bit_cast(float, (unsigned int)h << 16);
}
#ifdef __CUDA_ARCH__
static __inline__ __host__ __device__ __attribute__((always_inline)) unsigned short wg_bfloat16_from(float f,
                                                                                                     wg_half_round mode)
{
    const unsigned int bits = __builtin_bit_cast(unsigned int, f);
    unsigned short h;
    if (mode == wg_half_rn) {
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(f));
        return h;
    }
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return 0x7fff;
    /* the top half is the number rounded towards zero; away from it is the next one */
    h = (unsigned short)(bits >> 16);
    if ((bits & 0xffff) && mode == (bits >> 31 ? wg_half_rd : wg_half_ru))
        h++;
    return h;
}
/* Round to float so that the second rounding cannot go wrong: to odd. */
static __inline__ __host__ __device__ __attribute__((always_inline)) unsigned short wg_bfloat16_from(double d,
                                                                                                     wg_half_round mode)
{
    float f = __double2float_rz(d);
    if ((double)f != d && d == d)
        f = __builtin_bit_cast(float, __builtin_bit_cast(unsigned int, f) | 1u);
    return wg_bfloat16_from(f, mode);
}
#else
static __inline__ __host__ __device__ unsigned short wg_bfloat16_from(double d, wg_half_round mode)
{
    return wg_round16(d, 7, 127, mode);
}
#endif
/* integers beyond 2^53 keep a sticky bit for the same reason */
static __inline__ __host__ __device__ unsigned short wg_bfloat16_from_int(unsigned long long v)
{
    const unsigned long long sticky = (v & 0xffff) != 0;
    return wg_bfloat16_from(v >> 53 ? (double)((v >> 16 | sticky)) * 65536.0 : (double)v, wg_half_rn);
}
static __inline__ __host__ __device__ unsigned short wg_bfloat16_from_int(long long v)
{
    const unsigned short h = wg_bfloat16_from_int(v < 0 ? 0ULL - (unsigned long long)v : (unsigned long long)v);
    return (unsigned short)(v < 0 ? h | 0x8000 : h);
}

#define WG_H __nv_bfloat16
#define WG_H2 __nv_bfloat162
#define WG_RAW __nv_bfloat16_raw
#define WG_RAW2 __nv_bfloat162_raw
#define WG_N bfloat16
#define WG_N2 bfloat162
#define WG_P "bf16"
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define WG_NATIVE 1
#else
#define WG_NATIVE 0
#endif
#define WG_ONE __ushort_as_bfloat16(0x3f80)
#define WG_MZERO __ushort_as_bfloat16(0x8000)
#define WG_INF 0x7f80
#ifdef __CUDA_NO_BFLOAT16_CONVERSIONS__
#define WG_NO_CONVERSIONS
#endif
#if defined(__CUDA_NO_BFLOAT16_OPERATORS__) || defined(__CUDA_NO_BFLOAT162_OPERATORS__)
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

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000U)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)

#ifndef CUDA_NO_BFLOAT16
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#endif
WG_OWN_LINES
#endif
#endif
