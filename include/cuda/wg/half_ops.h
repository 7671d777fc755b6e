/* wg/half_ops.h - arithmetic, comparison and mathematics that half and bfloat16 share. Included once for each, with
 *   WG_H, WG_H2 the types; WG_N, WG_N2 their names inside function names; WG_P the PTX type; WG_NATIVE 1 where the
 *   target has add, sub, mul and set for the type (else they are made of fma and floats); WG_ONE, WG_MZERO 1.0 and -0.0. */
#define WG_HD static __inline__ __host__ __device__ __attribute__((always_inline))
#define WG_D static __inline__ __device__ __attribute__((always_inline))
#define WG_CAT_(a, b, c) a##b##c
#define WG_CAT(a, b, c) WG_CAT_(a, b, c)
#define WG_TO_FLOAT WG_CAT(__, WG_N, 2float)
#define WG_FROM_FLOAT WG_CAT(__float2, WG_N, _rn)
#define WG_PAIR WG_CAT(__halves2, WG_N2, )
#define WG_LOW WG_CAT(__low2, WG_N, )
#define WG_HIGH WG_CAT(__high2, WG_N, )
#define WG_BOTH2(f, a) WG_PAIR(f(WG_LOW(a)), f(WG_HIGH(a)))
#define WG_BOTH22(f, a, b) WG_PAIR(f(WG_LOW(a), WG_LOW(b)), f(WG_HIGH(a), WG_HIGH(b)))

/* ---- arithmetic ---- */
#if defined(__CUDA_ARCH__)
#define WG_BIN(name, ptx, emulated, host)                                                                              \
    WG_HD WG_H name(const WG_H a, const WG_H b)                                                                        \
    {                                                                                                                  \
        WG_H r;                                                                                                        \
        if (WG_NATIVE)                                                                                                 \
            asm(ptx "." WG_P " %0, %1, %2;" : "=h"(r.__x) : "h"(a.__x), "h"(b.__x));                                   \
        else                                                                                                           \
            r = emulated;                                                                                              \
        return r;                                                                                                      \
    }                                                                                                                  \
    WG_HD WG_H2 name##2(const WG_H2 a, const WG_H2 b)                                                                  \
    {                                                                                                                  \
        WG_H2 r;                                                                                                       \
        if (WG_NATIVE)                                                                                                 \
            asm(ptx "." WG_P "x2 %0, %1, %2;" : "=r"(wg_word(r)) : "r"(wg_word(a)), "r"(wg_word(b)));                  \
        else                                                                                                           \
            r = WG_BOTH22(name, a, b);                                                                                 \
        return r;                                                                                                      \
    }
#else
#define WG_BIN(name, ptx, emulated, host)                                                                              \
    WG_HD WG_H name(const WG_H a, const WG_H b)                                                                        \
    {                                                                                                                  \
        const float x = WG_TO_FLOAT(a), y = WG_TO_FLOAT(b);                                                            \
        return WG_FROM_FLOAT(host);                                                                                    \
    }                                                                                                                  \
    WG_HD WG_H2 name##2(const WG_H2 a, const WG_H2 b) { return WG_BOTH22(name, a, b); }
#endif

#if defined(__CUDA_ARCH__)
#define WG_FMA(name, ptx, host)                                                                                        \
    WG_HD WG_H name(const WG_H a, const WG_H b, const WG_H c)                                                          \
    {                                                                                                                  \
        WG_H r;                                                                                                        \
        asm(ptx WG_P " %0, %1, %2, %3;" : "=h"(r.__x) : "h"(a.__x), "h"(b.__x), "h"(c.__x));                           \
        return r;                                                                                                      \
    }                                                                                                                  \
    WG_HD WG_H2 name##2(const WG_H2 a, const WG_H2 b, const WG_H2 c)                                                   \
    {                                                                                                                  \
        WG_H2 r;                                                                                                       \
        asm(ptx WG_P "x2 %0, %1, %2, %3;" : "=r"(wg_word(r)) : "r"(wg_word(a)), "r"(wg_word(b)), "r"(wg_word(c)));     \
        return r;                                                                                                      \
    }
#else
#define WG_FMA(name, ptx, host)                                                                                        \
    WG_HD WG_H name(const WG_H a, const WG_H b, const WG_H c)                                                          \
    { /* the product of two such numbers is exact in double */                                                         \
        const double r = (double)WG_TO_FLOAT(a) * WG_TO_FLOAT(b) + WG_TO_FLOAT(c);                                     \
        return WG_CAT(__double2, WG_N, )(host);                                                                        \
    }                                                                                                                  \
    WG_HD WG_H2 name##2(const WG_H2 a, const WG_H2 b, const WG_H2 c)                                                   \
    {                                                                                                                  \
        return WG_PAIR(name(WG_LOW(a), WG_LOW(b), WG_LOW(c)), name(WG_HIGH(a), WG_HIGH(b), WG_HIGH(c)));               \
    }
#endif
WG_FMA(__hfma, "fma.rn.", r)
WG_FMA(__hfma_relu, "fma.rn.relu.", r > 0.0 ? r : 0.0)
WG_BIN(__hadd, "add", __hfma(a, WG_ONE, b), x + y)
WG_BIN(__hsub, "sub", __hfma(b, WG_CAT(__ushort_as_, WG_N, )((unsigned short)(WG_ONE.__x | 0x8000)), a), x - y)
WG_BIN(__hmul, "mul", __hfma(a, b, WG_MZERO), x * y)
WG_BIN(__hadd_rn, "add.rn", __hadd(a, b), x + y)
WG_BIN(__hsub_rn, "sub.rn", __hsub(a, b), x - y)
WG_BIN(__hmul_rn, "mul.rn", __hmul(a, b), x * y)
#undef WG_BIN
#undef WG_FMA

WG_HD WG_H __hdiv(const WG_H a, const WG_H b) { return WG_FROM_FLOAT(WG_TO_FLOAT(a) / WG_TO_FLOAT(b)); }
WG_HD WG_H2 __h2div(const WG_H2 a, const WG_H2 b) { return WG_BOTH22(__hdiv, a, b); }
WG_HD WG_H wg_saturate(const WG_H a)
{
    const float f = WG_TO_FLOAT(a);
    return WG_FROM_FLOAT(f > 0.0f ? f < 1.0f ? f : 1.0f : 0.0f);
}
WG_HD WG_H2 wg_saturate(const WG_H2 a) { return WG_BOTH2(wg_saturate, a); }
#define WG_SAT(name)                                                                                                   \
    WG_HD WG_H name##_sat(const WG_H a, const WG_H b) { return wg_saturate(name(a, b)); }                              \
    WG_HD WG_H2 name##2_sat(const WG_H2 a, const WG_H2 b) { return wg_saturate(name##2(a, b)); }
WG_SAT(__hadd)
WG_SAT(__hsub)
WG_SAT(__hmul)
#undef WG_SAT
WG_HD WG_H __hfma_sat(const WG_H a, const WG_H b, const WG_H c) { return wg_saturate(__hfma(a, b, c)); }
WG_HD WG_H2 __hfma2_sat(const WG_H2 a, const WG_H2 b, const WG_H2 c) { return wg_saturate(__hfma2(a, b, c)); }
WG_HD WG_H __hneg(const WG_H a) { return WG_CAT(__ushort_as_, WG_N, )((unsigned short)(a.__x ^ 0x8000)); }
WG_HD WG_H __habs(const WG_H a) { return WG_CAT(__ushort_as_, WG_N, )((unsigned short)(a.__x & 0x7fff)); }
WG_HD WG_H2 __hneg2(const WG_H2 a) { return WG_BOTH2(__hneg, a); }
WG_HD WG_H2 __habs2(const WG_H2 a) { return WG_BOTH2(__habs, a); }
/* complex multiply and add: a*b + c with (real, imaginary) in (x, y) */
WG_HD WG_H2 __hcmadd(const WG_H2 a, const WG_H2 b, const WG_H2 c)
{
    const WG_H re = __hfma(__hneg(WG_HIGH(a)), WG_HIGH(b), __hfma(WG_LOW(a), WG_LOW(b), WG_LOW(c)));
    const WG_H im = __hfma(WG_HIGH(a), WG_LOW(b), __hfma(WG_LOW(a), WG_HIGH(b), WG_HIGH(c)));
    return WG_PAIR(re, im);
}

/* ---- comparison: ordered, and with a trailing u true when an operand is a NaN ---- */
#if defined(__CUDA_ARCH__)
#define WG_CMP(name, ptx, host)                                                                                        \
    WG_HD bool name(const WG_H a, const WG_H b)                                                                        \
    {                                                                                                                  \
        const float x = WG_TO_FLOAT(a), y = WG_TO_FLOAT(b);                                                            \
        unsigned short r;                                                                                              \
        if (!WG_NATIVE)                                                                                                \
            return host;                                                                                               \
        asm("{ .reg .pred p; setp." ptx "." WG_P " p, %1, %2; selp.u16 %0, 1, 0, p; }"                                 \
            : "=h"(r) : "h"(a.__x), "h"(b.__x));                                                                       \
        return r != 0;                                                                                                 \
    }
#else
#define WG_CMP(name, ptx, host)                                                                                        \
    WG_HD bool name(const WG_H a, const WG_H b)                                                                        \
    {                                                                                                                  \
        const float x = WG_TO_FLOAT(a), y = WG_TO_FLOAT(b);                                                            \
        return host;                                                                                                   \
    }
#endif
#define WG_CMP_ALL(name, ptx, host)                                                                                    \
    WG_CMP(__h##name, ptx, host)                                                                                       \
    WG_HD WG_H2 __h##name##2(const WG_H2 a, const WG_H2 b)                                                             \
    {                                                                                                                  \
        const WG_H zero = {};                                                                                          \
        return WG_PAIR(__h##name(WG_LOW(a), WG_LOW(b)) ? WG_ONE : zero,                                                \
                       __h##name(WG_HIGH(a), WG_HIGH(b)) ? WG_ONE : zero);                                             \
    }                                                                                                                  \
    WG_HD bool __hb##name##2(const WG_H2 a, const WG_H2 b)                                                             \
    {                                                                                                                  \
        return __h##name(WG_LOW(a), WG_LOW(b)) && __h##name(WG_HIGH(a), WG_HIGH(b));                                   \
    }                                                                                                                  \
    WG_HD unsigned int __h##name##2_mask(const WG_H2 a, const WG_H2 b)                                                 \
    {                                                                                                                  \
        return (__h##name(WG_LOW(a), WG_LOW(b)) ? 0xffffu : 0u) |                                                      \
               (__h##name(WG_HIGH(a), WG_HIGH(b)) ? 0xffff0000u : 0u);                                                 \
    }
WG_CMP_ALL(eq, "eq", x == y)
WG_CMP_ALL(ne, "ne", x < y || x > y)
WG_CMP_ALL(lt, "lt", x < y)
WG_CMP_ALL(le, "le", x <= y)
WG_CMP_ALL(gt, "gt", x > y)
WG_CMP_ALL(ge, "ge", x >= y)
WG_CMP_ALL(equ, "equ", !(x < y || x > y))
WG_CMP_ALL(neu, "neu", x != y)
WG_CMP_ALL(ltu, "ltu", !(x >= y))
WG_CMP_ALL(leu, "leu", !(x > y))
WG_CMP_ALL(gtu, "gtu", !(x <= y))
WG_CMP_ALL(geu, "geu", !(x < y))
#undef WG_CMP_ALL
#undef WG_CMP
WG_HD bool __hisnan(const WG_H a) { return (a.__x & 0x7fff) > (WG_INF & 0x7fff); }
WG_HD int __hisinf(const WG_H a) { return a.__x == WG_INF ? 1 : a.__x == (WG_INF | 0x8000) ? -1 : 0; }
WG_HD WG_H2 __hisnan2(const WG_H2 a) { return __hneu2(a, a); }

#if defined(__CUDA_ARCH__)
#define WG_MINMAX(name, ptx, host)                                                                                     \
    WG_HD WG_H name(const WG_H a, const WG_H b)                                                                        \
    {                                                                                                                  \
        WG_H r;                                                                                                        \
        asm(ptx WG_P " %0, %1, %2;" : "=h"(r.__x) : "h"(a.__x), "h"(b.__x));                                           \
        return r;                                                                                                      \
    }
#define WG_MINMAX2(name, name2, ptx)                                                                                   \
    WG_HD WG_H2 name2(const WG_H2 a, const WG_H2 b)                                                                    \
    {                                                                                                                  \
        WG_H2 r;                                                                                                       \
        asm(ptx WG_P "x2 %0, %1, %2;" : "=r"(wg_word(r)) : "r"(wg_word(a)), "r"(wg_word(b)));                          \
        return r;                                                                                                      \
    }
#else
#define WG_MINMAX(name, ptx, host)                                                                                     \
    WG_HD WG_H name(const WG_H a, const WG_H b)                                                                        \
    {                                                                                                                  \
        const float x = WG_TO_FLOAT(a), y = WG_TO_FLOAT(b);                                                            \
        return WG_FROM_FLOAT(host);                                                                                    \
    }
#define WG_MINMAX2(name, name2, ptx)                                                                                   \
    WG_HD WG_H2 name2(const WG_H2 a, const WG_H2 b) { return WG_BOTH22(name, a, b); }
#endif
WG_MINMAX(__hmax, "max.", __builtin_fmaxf(x, y))
WG_MINMAX(__hmin, "min.", __builtin_fminf(x, y))
WG_MINMAX(__hmax_nan, "max.NaN.", x != x || y != y ? x + y : __builtin_fmaxf(x, y))
WG_MINMAX(__hmin_nan, "min.NaN.", x != x || y != y ? x + y : __builtin_fminf(x, y))
WG_MINMAX2(__hmax, __hmax2, "max.")
WG_MINMAX2(__hmin, __hmin2, "min.")
WG_MINMAX2(__hmax_nan, __hmax2_nan, "max.NaN.")
WG_MINMAX2(__hmin_nan, __hmin2_nan, "min.NaN.")
#undef WG_MINMAX
#undef WG_MINMAX2

/* ---- mathematics, in float with one rounding at the end ---- */
#define WG_MATH(name, expr)                                                                                            \
    WG_D WG_H h##name(const WG_H a)                                                                                    \
    {                                                                                                                  \
        const float x = WG_TO_FLOAT(a);                                                                                \
        return WG_FROM_FLOAT(expr);                                                                                    \
    }                                                                                                                  \
    WG_D WG_H2 h2##name(const WG_H2 a) { return WG_BOTH2(h##name, a); }
#ifdef __CUDA__
WG_MATH(sqrt, __nvvm_sqrt_approx_ftz_f(x))
WG_MATH(rsqrt, __nvvm_rsqrt_approx_ftz_f(x))
WG_MATH(rcp, __nvvm_rcp_approx_ftz_f(x))
WG_MATH(exp, __nvvm_ex2_approx_ftz_f(x * 1.44269504f))
WG_MATH(exp2, __nvvm_ex2_approx_ftz_f(x))
WG_MATH(exp10, __nvvm_ex2_approx_ftz_f(x * 3.32192809f))
WG_MATH(log, __nvvm_lg2_approx_ftz_f(x) * 0.693147181f)
WG_MATH(log2, __nvvm_lg2_approx_ftz_f(x))
WG_MATH(log10, __nvvm_lg2_approx_ftz_f(x) * 0.301029996f)
WG_MATH(sin, sinf(x))
WG_MATH(cos, cosf(x))
WG_MATH(tanh, tanhf(x))
WG_MATH(ceil, __builtin_ceilf(x))
WG_MATH(floor, __builtin_floorf(x))
WG_MATH(trunc, __builtin_truncf(x))
WG_MATH(rint, __builtin_rintf(x))
WG_D WG_H htanh_approx(const WG_H a)
{
    WG_H r;
    asm("tanh.approx." WG_P " %0, %1;" : "=h"(r.__x) : "h"(a.__x));
    return r;
}
WG_D WG_H2 h2tanh_approx(const WG_H2 a)
{
    WG_H2 r;
    asm("tanh.approx." WG_P "x2 %0, %1;" : "=r"(wg_word(r)) : "r"(wg_word(a)));
    return r;
}
#endif
#undef WG_MATH

/* ---- operators ---- */
#ifndef WG_NO_OPERATORS
#define WG_OP(op, f)                                                                                                   \
    WG_HD WG_H operator op(const WG_H &a, const WG_H &b) { return f(a, b); }                                           \
    WG_HD WG_H &operator op##=(WG_H &a, const WG_H &b) { return a = f(a, b); }
#define WG_OP2(op, f)                                                                                                  \
    WG_HD WG_H2 operator op(const WG_H2 &a, const WG_H2 &b) { return f(a, b); }                                        \
    WG_HD WG_H2 &operator op##=(WG_H2 &a, const WG_H2 &b) { return a = f(a, b); }
WG_OP(+, __hadd)
WG_OP(-, __hsub)
WG_OP(*, __hmul)
WG_OP(/, __hdiv)
WG_OP2(+, __hadd2)
WG_OP2(-, __hsub2)
WG_OP2(*, __hmul2)
WG_OP2(/, __h2div)
WG_HD WG_H operator+(const WG_H &a) { return a; }
WG_HD WG_H operator-(const WG_H &a) { return __hneg(a); }
WG_HD WG_H2 operator+(const WG_H2 &a) { return a; }
WG_HD WG_H2 operator-(const WG_H2 &a) { return __hneg2(a); }
WG_HD WG_H &operator++(WG_H &a) { return a = __hadd(a, WG_ONE); }
WG_HD WG_H &operator--(WG_H &a) { return a = __hsub(a, WG_ONE); }
WG_HD WG_H operator++(WG_H &a, int) { const WG_H old = a; ++a; return old; }
WG_HD WG_H operator--(WG_H &a, int) { const WG_H old = a; --a; return old; }
WG_HD WG_H2 &operator++(WG_H2 &a) { return a = __hadd2(a, WG_PAIR(WG_ONE, WG_ONE)); }
WG_HD WG_H2 &operator--(WG_H2 &a) { return a = __hsub2(a, WG_PAIR(WG_ONE, WG_ONE)); }
#undef WG_OP
#undef WG_OP2
#define WG_OP(op, f, f2)                                                                                               \
    WG_HD bool operator op(const WG_H &a, const WG_H &b) { return f(a, b); }                                           \
    WG_HD bool operator op(const WG_H2 &a, const WG_H2 &b) { return f2(a, b); }
WG_OP(==, __heq, __hbeq2)
WG_OP(!=, __hneu, __hbneu2)
WG_OP(<, __hlt, __hblt2)
WG_OP(<=, __hle, __hble2)
WG_OP(>, __hgt, __hbgt2)
WG_OP(>=, __hge, __hbge2)
#undef WG_OP
#endif

/* ---- warps and memory ---- */
#ifdef __CUDA__
#define WG_SHFL(name, L)                                                                                               \
    WG_D WG_H name(unsigned int mask, const WG_H v, const L lane, int width = 32)                                      \
    {                                                                                                                  \
        return WG_CAT(__ushort_as_, WG_N, )((unsigned short)name(mask, (unsigned int)v.__x, lane, width));             \
    }                                                                                                                  \
    WG_D WG_H2 name(unsigned int mask, const WG_H2 v, const L lane, int width = 32)                                    \
    {                                                                                                                  \
        WG_H2 r;                                                                                                       \
        wg_word(r) = name(mask, wg_word(v), lane, width);                                                              \
        return r;                                                                                                      \
    }
WG_SHFL(__shfl_sync, int)
WG_SHFL(__shfl_up_sync, unsigned int)
WG_SHFL(__shfl_down_sync, unsigned int)
WG_SHFL(__shfl_xor_sync, int)
#undef WG_SHFL
#define WG_LOAD(name)                                                                                                  \
    WG_D WG_H name(const WG_H *p) { return WG_CAT(__ushort_as_, WG_N, )(name((const unsigned short *)p)); }            \
    WG_D WG_H2 name(const WG_H2 *p)                                                                                    \
    {                                                                                                                  \
        WG_H2 r;                                                                                                       \
        wg_word(r) = name((const unsigned int *)p);                                                                    \
        return r;                                                                                                      \
    }
WG_LOAD(__ldg)
WG_LOAD(__ldcg)
WG_LOAD(__ldca)
WG_LOAD(__ldcs)
WG_LOAD(__ldlu)
WG_LOAD(__ldcv)
#undef WG_LOAD
#define WG_STORE(name)                                                                                                 \
    WG_D void name(WG_H *p, const WG_H v) { name((unsigned short *)p, v.__x); }                                        \
    WG_D void name(WG_H2 *p, const WG_H2 v) { name((unsigned int *)p, wg_word(v)); }
WG_STORE(__stwb)
WG_STORE(__stcg)
WG_STORE(__stcs)
WG_STORE(__stwt)
#undef WG_STORE
WG_D WG_H atomicAdd(WG_H *p, const WG_H v)
{
    WG_H r;
    asm volatile("atom.add.noftz." WG_P " %0, [%1], %2;" : "=h"(r.__x) : "l"(p), "h"(v.__x) : "memory");
    return r;
}
WG_D WG_H2 atomicAdd(WG_H2 *p, const WG_H2 v)
{
    WG_H2 r;
    asm volatile("atom.add.noftz." WG_P "x2 %0, [%1], %2;" : "=r"(wg_word(r)) : "l"(p), "r"(wg_word(v)) : "memory");
    return r;
}
#endif

#undef WG_HD
#undef WG_D
#undef WG_CAT
#undef WG_CAT_
#undef WG_TO_FLOAT
#undef WG_FROM_FLOAT
#undef WG_PAIR
#undef WG_LOW
#undef WG_HIGH
#undef WG_BOTH2
#undef WG_BOTH22
