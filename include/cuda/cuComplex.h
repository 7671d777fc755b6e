/* cuComplex.h - complex numbers as float2 and double2. */
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_
#include "vector_types.h"
#include <math.h>
#if defined(__CUDA__) && defined(__cplusplus)
#include "cuda_runtime.h"
#endif
#define WG_C static __inline__ __host__ __device__

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

/* suffix of the names, complex type, real type, sqrt and fabs of the real type */
#define WG_COMPLEX(s, C, R, root, absolute)                                                                            \
    WG_C R cuCreal##s(C z) { return z.x; }                                                                             \
    WG_C R cuCimag##s(C z) { return z.y; }                                                                             \
    WG_C C wg_complex##s(R re, R im) { C z; z.x = re; z.y = im; return z; }                                            \
    WG_C C cuConj##s(C z) { return wg_complex##s(z.x, -z.y); }                                                         \
    WG_C C cuCadd##s(C a, C b) { return wg_complex##s(a.x + b.x, a.y + b.y); }                                         \
    WG_C C cuCsub##s(C a, C b) { return wg_complex##s(a.x - b.x, a.y - b.y); }                                         \
    WG_C C cuCmul##s(C a, C b) { return wg_complex##s(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }                 \
    WG_C C cuCfma##s(C a, C b, C c)                                                                                    \
    {                                                                                                                  \
        return wg_complex##s(a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x);                                \
    }                                                                                                                  \
    /* scaled by the divisor's size, so that its square cannot overflow */                                             \
    WG_C C cuCdiv##s(C a, C b)                                                                                         \
    {                                                                                                                  \
        const R scale = (R)1 / (absolute(b.x) + absolute(b.y));                                                        \
        const R ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;                                \
        const R inverse = (R)1 / (bx * bx + by * by);                                                                  \
        return wg_complex##s((ax * bx + ay * by) * inverse, (ay * bx - ax * by) * inverse);                            \
    }                                                                                                                  \
    WG_C R cuCabs##s(C z)                                                                                              \
    {                                                                                                                  \
        const R a = absolute(z.x), b = absolute(z.y), big = a > b ? a : b, small = a > b ? b : a;                      \
        const R t = small / big;                                                                                       \
        return big == (R)0 || big > (R)(sizeof(R) == 4 ? 3.402823466e38 : 1.79769313486231570e308)                     \
                   ? big + small                                                                                       \
                   : big * root((R)1 + t * t);                                                                         \
    }
WG_COMPLEX(f, cuFloatComplex, float, sqrtf, fabsf)
WG_COMPLEX(, cuDoubleComplex, double, sqrt, fabs)
#undef WG_COMPLEX
WG_C cuFloatComplex make_cuFloatComplex(float re, float im) { return wg_complexf(re, im); }
WG_C cuDoubleComplex make_cuDoubleComplex(double re, double im) { return wg_complex(re, im); }
WG_C cuComplex make_cuComplex(float re, float im) { return wg_complexf(re, im); }
WG_C cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return wg_complex((double)z.x, (double)z.y); }
WG_C cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) { return wg_complexf((float)z.x, (float)z.y); }
#undef WG_C
#endif
