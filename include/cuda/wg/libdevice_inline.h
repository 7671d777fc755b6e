/* wg/libdevice_inline.h - the __nv_* functions that are one PTX instruction or a few. clang's headers call __nv_* for
 * everything; what is defined here turns into instructions, what is not (exp, sin, pow, ...) stays a call that the engine
 * runs natively. Meanings: NVIDIA's libdevice user's guide; the instruction chosen is the one nvcc 13 emits. */
#ifndef WG_CUDA_LIBDEVICE_INLINE_H
#define WG_CUDA_LIBDEVICE_INLINE_H

#define WG_NV extern "C" __device__ __inline__ __attribute__((always_inline))
/* R is what the function returns; some of clang's declarations differ in its sign, so the declaration decides. */
#define WG_NV1(R, name, A, expr) WG_NV decltype(__nv_##name((A)0)) __nv_##name(A a) { return (R)(expr); }
#define WG_NV2(R, name, A, B, expr)                                                                                    \
    WG_NV decltype(__nv_##name((A)0, (B)0)) __nv_##name(A a, B b) { return (R)(expr); }
#define WG_NV3(R, name, A, B, C, expr)                                                                                 \
    WG_NV decltype(__nv_##name((A)0, (B)0, (C)0)) __nv_##name(A a, B b, C c) { return (R)(expr); }

/* ---- integers ---- */
WG_NV1(int, abs, int, __builtin_abs(a))
WG_NV1(long long, llabs, long long, __builtin_llabs(a))
WG_NV2(int, max, int, int, a > b ? a : b)
WG_NV2(int, min, int, int, a < b ? a : b)
WG_NV2(unsigned int, umax, unsigned int, unsigned int, a > b ? a : b)
WG_NV2(unsigned int, umin, unsigned int, unsigned int, a < b ? a : b)
WG_NV2(long long, llmax, long long, long long, a > b ? a : b)
WG_NV2(long long, llmin, long long, long long, a < b ? a : b)
WG_NV2(unsigned long long, ullmax, unsigned long long, unsigned long long, a > b ? a : b)
WG_NV2(unsigned long long, ullmin, unsigned long long, unsigned long long, a < b ? a : b)
WG_NV1(int, popc, int, __builtin_popcount((unsigned int)a))
WG_NV1(int, popcll, long long, __builtin_popcountll((unsigned long long)a))
WG_NV1(int, clz, int, a ? __builtin_clz((unsigned int)a) : 32)
WG_NV1(int, clzll, long long, a ? __builtin_clzll((unsigned long long)a) : 64)
WG_NV1(int, brev, int, (int)__builtin_bitreverse32((unsigned int)a))
WG_NV1(long long, brevll, long long, (long long)__builtin_bitreverse64((unsigned long long)a))
WG_NV int __nv_ffs(int a)
{
    unsigned int shift; /* bfind.shiftamt of 0 is -1 */
    asm("bfind.shiftamt.u32 %0, %1;" : "=r"(shift) : "r"(__builtin_bitreverse32((unsigned int)a)));
    return (int)shift + 1;
}
WG_NV int __nv_ffsll(long long a)
{
    unsigned int shift;
    asm("bfind.shiftamt.u64 %0, %1;" : "=r"(shift) : "l"(__builtin_bitreverse64((unsigned long long)a)));
    return (int)shift + 1;
}
WG_NV2(int, mul24, int, int, __nvvm_mul24_i(a, b))
WG_NV2(unsigned int, umul24, unsigned int, unsigned int, __nvvm_mul24_ui(a, b))
WG_NV2(int, mulhi, int, int, __nvvm_mulhi_i(a, b))
WG_NV2(unsigned int, umulhi, unsigned int, unsigned int, __nvvm_mulhi_ui(a, b))
WG_NV2(long long, mul64hi, long long, long long, __nvvm_mulhi_ll(a, b))
WG_NV2(unsigned long long, umul64hi, unsigned long long, unsigned long long, __nvvm_mulhi_ull(a, b))
WG_NV3(int, sad, int, int, int, __nvvm_sad_i(a, b, c))
WG_NV3(unsigned int, usad, unsigned int, unsigned int, unsigned int, __nvvm_sad_ui(a, b, c))
WG_NV2(int, hadd, int, int, (a & b) + ((a ^ b) >> 1))
WG_NV2(int, rhadd, int, int, (a | b) - ((a ^ b) >> 1))
WG_NV2(unsigned int, uhadd, unsigned int, unsigned int, (a & b) + ((a ^ b) >> 1))
WG_NV2(unsigned int, urhadd, unsigned int, unsigned int, (a | b) - ((a ^ b) >> 1))
/* only three bits of a selector count here; prmt has a fourth */
WG_NV3(int, byte_perm, int, int, int, __nvvm_prmt(a, b, c & 0x7777))

/* ---- bits of floats ---- */
WG_NV1(int, float_as_int, float, __builtin_bit_cast(int, a))
WG_NV1(unsigned int, float_as_uint, float, __builtin_bit_cast(unsigned int, a))
WG_NV1(float, int_as_float, int, __builtin_bit_cast(float, a))
WG_NV1(float, uint_as_float, unsigned int, __builtin_bit_cast(float, a))
WG_NV1(long long, double_as_longlong, double, __builtin_bit_cast(long long, a))
WG_NV1(double, longlong_as_double, long long, __builtin_bit_cast(double, a))
WG_NV1(int, double2hiint, double, __nvvm_d2i_hi(a))
WG_NV1(int, double2loint, double, __nvvm_d2i_lo(a))
WG_NV2(double, hiloint2double, int, int, __nvvm_lohi_i2d(b, a))
WG_NV1(int, signbitf, float, (int)(__builtin_bit_cast(unsigned int, a) >> 31))
WG_NV1(int, signbitd, double, (int)(__builtin_bit_cast(unsigned long long, a) >> 63))
WG_NV1(int, isnanf, float, __builtin_isnan(a))
WG_NV1(int, isnand, double, __builtin_isnan(a))
WG_NV1(int, isinff, float, __builtin_isinf(a))
WG_NV1(int, isinfd, double, __builtin_isinf(a))
WG_NV1(int, finitef, float, __builtin_isfinite(a))
WG_NV1(int, isfinited, double, __builtin_isfinite(a))
WG_NV2(float, copysignf, float, float, __builtin_copysignf(a, b))
WG_NV2(double, copysign, double, double, __builtin_copysign(a, b))
/* the payload that the argument names is not set: all NaNs are the canonical one */
WG_NV1(float, nanf, const signed char *, ((void)a, __builtin_bit_cast(float, 0x7fc00000)))
WG_NV1(double, nan, const signed char *, ((void)a, __builtin_bit_cast(double, 0x7ff8000000000000LL)))

/* ---- float arithmetic ---- */
WG_NV1(float, fabsf, float, __builtin_fabsf(a))
WG_NV1(double, fabs, double, __builtin_fabs(a))
WG_NV2(float, fmaxf, float, float, __builtin_fmaxf(a, b))
WG_NV2(float, fminf, float, float, __builtin_fminf(a, b))
WG_NV2(double, fmax, double, double, __builtin_fmax(a, b))
WG_NV2(double, fmin, double, double, __builtin_fmin(a, b))
WG_NV3(float, fmaf, float, float, float, __builtin_fmaf(a, b, c))
WG_NV3(double, fma, double, double, double, __builtin_fma(a, b, c))
WG_NV1(float, saturatef, float, __nvvm_saturate_f(a))
WG_NV2(float, fdimf, float, float, a <= b ? 0.0f : __nvvm_add_rn_f(a, -b))
WG_NV2(double, fdim, double, double, a <= b ? 0.0 : __nvvm_add_rn_d(a, -b))
WG_NV1(float, ceilf, float, __builtin_ceilf(a))
WG_NV1(float, floorf, float, __builtin_floorf(a))
WG_NV1(float, truncf, float, __builtin_truncf(a))
WG_NV1(float, rintf, float, __builtin_rintf(a))
WG_NV1(float, nearbyintf, float, __builtin_nearbyintf(a))
WG_NV1(double, ceil, double, __builtin_ceil(a))
WG_NV1(double, floor, double, __builtin_floor(a))
WG_NV1(double, trunc, double, __builtin_trunc(a))
WG_NV1(double, rint, double, __builtin_rint(a))
WG_NV1(double, nearbyint, double, __builtin_nearbyint(a))
/* half away from zero: adding with truncation cannot round 0.49999997 up */
WG_NV1(float, roundf, float, __builtin_truncf(__nvvm_add_rz_f(a, __builtin_copysignf(0.5f, a))))
WG_NV1(double, round, double, __builtin_trunc(__nvvm_add_rz_d(a, __builtin_copysign(0.5, a))))
WG_NV1(long long, llrintf, float, __nvvm_f2ll_rn(a))
WG_NV1(long long, llrint, double, __nvvm_d2ll_rn(a))
WG_NV1(long long, llroundf, float, __nvvm_f2ll_rz(__nv_roundf(a)))
WG_NV1(long long, llround, double, __nvvm_d2ll_rz(__nv_round(a)))
#if defined(__FAST_MATH__)
WG_NV1(float, sqrtf, float, __nvvm_sqrt_approx_f(a))
#else
WG_NV1(float, sqrtf, float, __nvvm_sqrt_rn_f(a))
#endif
WG_NV1(double, sqrt, double, __nvvm_sqrt_rn_d(a))
WG_NV1(float, rsqrtf, float, __nvvm_rsqrt_approx_f(a))
WG_NV1(double, rsqrt, double, __nvvm_rsqrt_approx_d(a))
WG_NV1(float, exp2f, float, __nvvm_ex2_approx_f(a))
WG_NV1(double, rcp64h, double, __nvvm_rcp_approx_ftz_d(a))

/* ---- the fast functions behind __expf and its like ---- */
WG_NV1(float, fast_sinf, float, __nvvm_sin_approx_f(a))
WG_NV1(float, fast_cosf, float, __nvvm_cos_approx_f(a))
WG_NV1(float, fast_tanf, float, __nvvm_div_approx_f(__nvvm_sin_approx_f(a), __nvvm_cos_approx_f(a)))
WG_NV void __nv_fast_sincosf(float a, float *s, float *c)
{
    *s = __nvvm_sin_approx_f(a);
    *c = __nvvm_cos_approx_f(a);
}
WG_NV1(float, fast_expf, float, __nvvm_ex2_approx_f(a * __builtin_bit_cast(float, 0x3FB8AA3B)))   /* log2(e) */
WG_NV1(float, fast_exp10f, float, __nvvm_ex2_approx_f(a * __builtin_bit_cast(float, 0x40549A78))) /* log2(10) */
WG_NV1(float, fast_log2f, float, __nvvm_lg2_approx_f(a))
WG_NV1(float, fast_logf, float, __nvvm_lg2_approx_f(a) * __builtin_bit_cast(float, 0x3F317218))   /* ln(2) */
WG_NV1(float, fast_log10f, float, __nvvm_lg2_approx_f(a) * __builtin_bit_cast(float, 0x3E9A209B)) /* log10(2) */
WG_NV2(float, fast_powf, float, float, __nvvm_ex2_approx_f(__nvvm_lg2_approx_f(a) * b))
WG_NV2(float, fast_fdividef, float, float, __nvvm_div_approx_f(a, b))

/* ---- arithmetic with a rounding mode: rd is PTX's rm (towards minus infinity), ru is rp ---- */
#define WG_NV_ROUND(cuda, ptx)                                                                                         \
    WG_NV2(float, fadd_##cuda, float, float, __nvvm_add_##ptx##_f(a, b))                                               \
    WG_NV2(float, fsub_##cuda, float, float, __nvvm_add_##ptx##_f(a, -b))                                              \
    WG_NV2(float, fmul_##cuda, float, float, __nvvm_mul_##ptx##_f(a, b))                                               \
    WG_NV2(float, fdiv_##cuda, float, float, __nvvm_div_##ptx##_f(a, b))                                               \
    WG_NV1(float, frcp_##cuda, float, __nvvm_rcp_##ptx##_f(a))                                                         \
    WG_NV1(float, fsqrt_##cuda, float, __nvvm_sqrt_##ptx##_f(a))                                                       \
    WG_NV3(float, fmaf_##cuda, float, float, float, __nvvm_fma_##ptx##_f(a, b, c))                                     \
    WG_NV3(float, fmaf_ieee_##cuda, float, float, float, __nvvm_fma_##ptx##_f(a, b, c))                                \
    WG_NV2(double, dadd_##cuda, double, double, __nvvm_add_##ptx##_d(a, b))                                            \
    WG_NV2(double, dsub_##cuda, double, double, __nvvm_add_##ptx##_d(a, -b))                                           \
    WG_NV2(double, dmul_##cuda, double, double, __nvvm_mul_##ptx##_d(a, b))                                            \
    WG_NV2(double, ddiv_##cuda, double, double, __nvvm_div_##ptx##_d(a, b))                                            \
    WG_NV1(double, drcp_##cuda, double, __nvvm_rcp_##ptx##_d(a))                                                       \
    WG_NV1(double, dsqrt_##cuda, double, __nvvm_sqrt_##ptx##_d(a))                                                     \
    WG_NV3(double, fma_##cuda, double, double, double, __nvvm_fma_##ptx##_d(a, b, c))                                  \
    WG_NV1(int, float2int_##cuda, float, __nvvm_f2i_##ptx(a))                                                          \
    WG_NV1(unsigned int, float2uint_##cuda, float, __nvvm_f2ui_##ptx(a))                                               \
    WG_NV1(long long, float2ll_##cuda, float, __nvvm_f2ll_##ptx(a))                                                    \
    WG_NV1(unsigned long long, float2ull_##cuda, float, __nvvm_f2ull_##ptx(a))                                         \
    WG_NV1(int, double2int_##cuda, double, __nvvm_d2i_##ptx(a))                                                        \
    WG_NV1(unsigned int, double2uint_##cuda, double, __nvvm_d2ui_##ptx(a))                                             \
    WG_NV1(long long, double2ll_##cuda, double, __nvvm_d2ll_##ptx(a))                                                  \
    WG_NV1(unsigned long long, double2ull_##cuda, double, __nvvm_d2ull_##ptx(a))                                       \
    WG_NV1(float, double2float_##cuda, double, __nvvm_d2f_##ptx(a))                                                    \
    WG_NV1(float, int2float_##cuda, int, __nvvm_i2f_##ptx(a))                                                          \
    WG_NV1(float, uint2float_##cuda, unsigned int, __nvvm_ui2f_##ptx(a))                                               \
    WG_NV1(float, ll2float_##cuda, long long, __nvvm_ll2f_##ptx(a))                                                    \
    WG_NV1(float, ull2float_##cuda, unsigned long long, __nvvm_ull2f_##ptx(a))                                         \
    WG_NV1(double, ll2double_##cuda, long long, __nvvm_ll2d_##ptx(a))                                                  \
    WG_NV1(double, ull2double_##cuda, unsigned long long, __nvvm_ull2d_##ptx(a))
WG_NV_ROUND(rn, rn)
WG_NV_ROUND(rz, rz)
WG_NV_ROUND(rd, rm)
WG_NV_ROUND(ru, rp)
WG_NV1(double, int2double_rn, int, (double)a)
WG_NV1(double, uint2double_rn, unsigned int, (double)a)
WG_NV unsigned short __nv_float2half_rn(float a)
{
    unsigned short h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(a));
    return h;
}
WG_NV float __nv_half2float(unsigned short a)
{
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(a));
    return f;
}

#undef WG_NV_ROUND
#undef WG_NV1
#undef WG_NV2
#undef WG_NV3
#undef WG_NV
#endif
