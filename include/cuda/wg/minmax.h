/* wg/minmax.h - min, max and a few math functions that CUDA offers in the global namespace on both sides. */
#ifndef WG_CUDA_MINMAX_H
#define WG_CUDA_MINMAX_H

#define WG_MINMAX(attr, T, A, B)                                                                                       \
    static __inline__ attr __attribute__((always_inline)) T max(const A a, const B b)                                  \
    {                                                                                                                  \
        return (T)a > (T)b ? (T)a : (T)b;                                                                              \
    }                                                                                                                  \
    static __inline__ attr __attribute__((always_inline)) T min(const A a, const B b)                                  \
    {                                                                                                                  \
        return (T)a < (T)b ? (T)a : (T)b;                                                                              \
    }
WG_MINMAX(__host__, int, int, int) /* the device has these from clang's math header */
#define WG_PAIR(S, U)                                                                                                  \
    WG_MINMAX(__host__ __device__, U, U, U)                                                                            \
    WG_MINMAX(__host__ __device__, U, S, U)                                                                            \
    WG_MINMAX(__host__ __device__, U, U, S)
WG_PAIR(int, unsigned int)
WG_MINMAX(__host__ __device__, long, long, long)
WG_PAIR(long, unsigned long)
WG_MINMAX(__host__ __device__, long long, long long, long long)
WG_PAIR(long long, unsigned long long)
#undef WG_PAIR
#undef WG_MINMAX

/* on floats a NaN loses, as in fmin and fmax */
#define WG_FMINMAX(T, A, B, f)                                                                                         \
    static __inline__ __host__ __device__ __attribute__((always_inline)) T max(const A a, const B b)                   \
    {                                                                                                                  \
        return __builtin_fmax##f((T)a, (T)b);                                                                          \
    }                                                                                                                  \
    static __inline__ __host__ __device__ __attribute__((always_inline)) T min(const A a, const B b)                   \
    {                                                                                                                  \
        return __builtin_fmin##f((T)a, (T)b);                                                                          \
    }
WG_FMINMAX(float, float, float, f)
WG_FMINMAX(double, double, double, )
WG_FMINMAX(double, float, double, )
WG_FMINMAX(double, double, float, )
#undef WG_FMINMAX

static __inline__ __host__ unsigned int umax(unsigned int a, unsigned int b) { return a > b ? a : b; }
static __inline__ __host__ unsigned int umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
static __inline__ __host__ long long llmax(long long a, long long b) { return a > b ? a : b; }
static __inline__ __host__ long long llmin(long long a, long long b) { return a < b ? a : b; }
static __inline__ __host__ unsigned long long ullmax(unsigned long long a, unsigned long long b)
{
    return a > b ? a : b;
}
static __inline__ __host__ unsigned long long ullmin(unsigned long long a, unsigned long long b)
{
    return a < b ? a : b;
}

/* host versions of what only CUDA's math library has */
static __inline__ __host__ float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
static __inline__ __host__ double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
static __inline__ __host__ float rcbrtf(float x) { return 1.0f / __builtin_cbrtf(x); }
static __inline__ __host__ double rcbrt(double x) { return 1.0 / __builtin_cbrt(x); }
static __inline__ __host__ float fdividef(float a, float b) { return a / b; }
static __inline__ __host__ double fdivide(double a, double b) { return a / b; }
static __inline__ __host__ double sinpi(double x) { return __builtin_sin(x * 3.14159265358979323846); }
static __inline__ __host__ float sinpif(float x) { return (float)sinpi((double)x); }
static __inline__ __host__ double cospi(double x) { return __builtin_cos(x * 3.14159265358979323846); }
static __inline__ __host__ float cospif(float x) { return (float)cospi((double)x); }
static __inline__ __host__ void sincospi(double x, double *s, double *c) { *s = sinpi(x); *c = cospi(x); }
static __inline__ __host__ void sincospif(float x, float *s, float *c) { *s = sinpif(x); *c = cospif(x); }
static __inline__ __host__ double normcdf(double x) { return 0.5 * __builtin_erfc(-x * 0.70710678118654752440); }
static __inline__ __host__ float normcdff(float x) { return (float)normcdf((double)x); }
static __inline__ __host__ float rhypotf(float a, float b) { return 1.0f / __builtin_hypotf(a, b); }
static __inline__ __host__ double rhypot(double a, double b) { return 1.0 / __builtin_hypot(a, b); }
static __inline__ __host__ double norm3d(double a, double b, double c)
{
    return __builtin_hypot(__builtin_hypot(a, b), c);
}
static __inline__ __host__ float norm3df(float a, float b, float c) { return (float)norm3d(a, b, c); }
static __inline__ __host__ double norm4d(double a, double b, double c, double d)
{
    return __builtin_hypot(norm3d(a, b, c), d);
}
static __inline__ __host__ float norm4df(float a, float b, float c, float d) { return (float)norm4d(a, b, c, d); }

/* the float overloads of CUDA's own names, on both sides */
#define WG_FLOAT1(name) static __inline__ __host__ __device__ float name(float x) { return name##f(x); }
WG_FLOAT1(rsqrt)
WG_FLOAT1(rcbrt)
WG_FLOAT1(sinpi)
WG_FLOAT1(cospi)
WG_FLOAT1(normcdf)
#undef WG_FLOAT1
static __inline__ __host__ __device__ void sincospi(float x, float *s, float *c) { sincospif(x, s, c); }
#define WG_FLOAT1(name) static __inline__ __device__ float name(float x) { return name##f(x); }
WG_FLOAT1(normcdfinv)
WG_FLOAT1(erfinv)
WG_FLOAT1(erfcinv)
WG_FLOAT1(erfcx)
WG_FLOAT1(j0)
WG_FLOAT1(j1)
WG_FLOAT1(y0)
WG_FLOAT1(y1)
WG_FLOAT1(exp10)
WG_FLOAT1(cyl_bessel_i0)
WG_FLOAT1(cyl_bessel_i1)
#undef WG_FLOAT1
static __inline__ __device__ void sincos(float x, float *s, float *c) { sincosf(x, s, c); }
#endif
