/* cuda_fp8.h - the 8-bit floating-point types e4m3 and e5m2, their pairs and their fours. */
#ifndef __CUDA_FP8_H__
#define __CUDA_FP8_H__
#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short int __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

#ifdef __cplusplus
WG_CALLERS_LINES
#define WG_F8 static __inline__ __host__ __device__ __attribute__((always_inline))

/* The nearest number of the format, ties to even. Above its largest one: that, or infinity, which e4m3 lacks (NaN). */
WG_F8 __nv_fp8_storage_t __nv_cvt_double_to_fp8(const double d, const __nv_saturation_t saturate,
                                                const __nv_fp8_interpretation_t kind)
{
    const bool wide = kind == __NV_E5M2;
    const int mantissa = wide ? 2 : 3, bias = wide ? 15 : 7;
    const unsigned long long bits = __builtin_bit_cast(unsigned long long, d);
    const unsigned int sign = (unsigned int)(bits >> 63) << 7, largest = wide ? 0x7b : 0x7e;
    const unsigned long long size = bits & 0x7fffffffffffffffULL;
    if (size > 0x7ff0000000000000ULL)
        return (__nv_fp8_storage_t)(sign | (wide ? 0x7e : 0x7f));
    const int exponent = (int)(size >> 52) - 1023;
    if (exponent < -bias - mantissa) /* less than half of the smallest */
        return (__nv_fp8_storage_t)sign;
    unsigned int value = largest + 1; /* too large */
    if (exponent <= 15) {
        /* where the last kept bit is; numbers below the least normal one keep fewer bits */
        const int cut = 52 - mantissa + (exponent < 1 - bias ? 1 - bias - exponent : 0);
        const unsigned long long whole = (size & 0xfffffffffffffULL) | 1ULL << 52;
        unsigned long long kept = whole >> cut;
        const unsigned long long rest = whole & ((1ULL << cut) - 1), half = 1ULL << (cut - 1);
        kept += rest > half || (rest == half && (kept & 1));
        /* a carry out of the mantissa counts up the exponent, which is what it should do */
        value = exponent < 1 - bias ? (unsigned int)kept
                                    : (unsigned int)kept + ((unsigned int)(exponent + bias - 1) << mantissa);
    }
    if (value > largest)
        value = saturate == __NV_SATFINITE ? largest : wide ? 0x7c : 0x7f;
    return (__nv_fp8_storage_t)(sign | value);
}
WG_F8 __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(const float2 f, const __nv_saturation_t saturate,
                                                    const __nv_fp8_interpretation_t kind)
{
#if __CUDA_ARCH__ >= 890
    unsigned short pair;
    if (saturate == __NV_SATFINITE) {
        if (kind == __NV_E5M2)
            asm("cvt.rn.satfinite.e5m2x2.f32 %0, %2, %1;" : "=h"(pair) : "f"(f.x), "f"(f.y));
        else
            asm("cvt.rn.satfinite.e4m3x2.f32 %0, %2, %1;" : "=h"(pair) : "f"(f.x), "f"(f.y));
        return pair;
    }
#endif
    return (__nv_fp8x2_storage_t)((f.x == f.x ? __nv_cvt_double_to_fp8(f.x, saturate, kind) : 0x7f) |
                                  (f.y == f.y ? __nv_cvt_double_to_fp8(f.y, saturate, kind) : 0x7f) << 8);
}
WG_F8 __nv_fp8_storage_t __nv_cvt_float_to_fp8(const float f, const __nv_saturation_t saturate,
                                               const __nv_fp8_interpretation_t kind)
{
    return (__nv_fp8_storage_t)__nv_cvt_float2_to_fp8x2(make_float2(f, 0.0f), saturate, kind);
}
WG_F8 __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(const double2 d, const __nv_saturation_t saturate,
                                                     const __nv_fp8_interpretation_t kind)
{
    return (__nv_fp8x2_storage_t)(__nv_cvt_double_to_fp8(d.x, saturate, kind) |
                                  __nv_cvt_double_to_fp8(d.y, saturate, kind) << 8);
}
WG_F8 __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(const __half_raw h, const __nv_saturation_t saturate,
                                                 const __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float_to_fp8(wg_half_to_float(h.x), saturate, kind);
}
WG_F8 __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(const __half2_raw h, const __nv_saturation_t saturate,
                                                      const __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float2_to_fp8x2(make_float2(wg_half_to_float(h.x), wg_half_to_float(h.y)), saturate, kind);
}
WG_F8 __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(const __nv_bfloat16_raw b, const __nv_saturation_t saturate,
                                                     const __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float_to_fp8(wg_bfloat16_to_float(b.x), saturate, kind);
}
WG_F8 __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(const __nv_bfloat162_raw b, const __nv_saturation_t saturate,
                                                          const __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float2_to_fp8x2(make_float2(wg_bfloat16_to_float(b.x), wg_bfloat16_to_float(b.y)), saturate, kind);
}

/* Each number of both formats is a half; e5m2 is the upper byte of one. */
WG_F8 __half_raw wg_fp8_to_half(const __nv_fp8_storage_t v, const __nv_fp8_interpretation_t kind)
{
    __half_raw h;
    const unsigned int sign = (v & 0x80u) << 8, exponent = v >> 3 & 15, mantissa = v & 7;
    if (kind == __NV_E5M2)
        h.x = (unsigned short)((v & 0x7f) > 0x7c ? 0x7fff : v << 8);
    else if ((v & 0x7f) == 0x7f)
        h.x = 0x7fff;
    else if (exponent)
        h.x = (unsigned short)(sign | (exponent + 8) << 10 | mantissa << 7);
    else if (!mantissa)
        h.x = (unsigned short)sign;
    else { /* mantissa * 2^-9 is a normal half: its top bit becomes the implied one */
        const unsigned int top = mantissa >= 4 ? 2 : mantissa >= 2 ? 1 : 0;
        h.x = (unsigned short)(sign | (top + 6) << 10 | ((mantissa << (10 - top)) & 0x3ff));
    }
    return h;
}
WG_F8 __half2_raw __nv_cvt_fp8x2_to_halfraw2(const __nv_fp8x2_storage_t v, const __nv_fp8_interpretation_t kind)
{
    __half2_raw h;
#if __CUDA_ARCH__ >= 890
    unsigned int word;
    if (kind == __NV_E5M2)
        asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(word) : "h"(v));
    else
        asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(word) : "h"(v));
    h.x = (unsigned short)word;
    h.y = (unsigned short)(word >> 16);
#else
    h.x = wg_fp8_to_half((__nv_fp8_storage_t)v, kind).x;
    h.y = wg_fp8_to_half((__nv_fp8_storage_t)(v >> 8), kind).x;
#endif
    return h;
}
WG_F8 __half_raw __nv_cvt_fp8_to_halfraw(const __nv_fp8_storage_t v, const __nv_fp8_interpretation_t kind)
{
    __half_raw h;
    h.x = __nv_cvt_fp8x2_to_halfraw2(v, kind).x;
    return h;
}

/* ---- the types: one text for both formats ---- */
#define WG_F8_FROM(T, value)                                                                                           \
    explicit __host__ __device__ WG_F8_NAME(const T v) : __x(__nv_cvt_float_to_fp8((float)(value), WG_F8_SAT)) {}
#define WG_F8_TO(T)                                                                                                    \
    explicit __host__ __device__ operator T() const { return (T)(float)*this; }
#define WG_F8_NAME __nv_fp8_e4m3
#define WG_F8_NAME2 __nv_fp8x2_e4m3
#define WG_F8_NAME4 __nv_fp8x4_e4m3
#define WG_F8_KIND __NV_E4M3
#include "wg/fp8_type.h"
#undef WG_F8_NAME
#undef WG_F8_NAME2
#undef WG_F8_NAME4
#undef WG_F8_KIND
#define WG_F8_NAME __nv_fp8_e5m2
#define WG_F8_NAME2 __nv_fp8x2_e5m2
#define WG_F8_NAME4 __nv_fp8x4_e5m2
#define WG_F8_KIND __NV_E5M2
#include "wg/fp8_type.h"
#undef WG_F8_NAME
#undef WG_F8_NAME2
#undef WG_F8_NAME4
#undef WG_F8_KIND
#undef WG_F8_FROM
#undef WG_F8_TO
#undef WG_F8
WG_OWN_LINES
#endif
#endif
