/* vector_functions.h - make_int2() and its like. */
#ifndef __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__
#include "vector_types.h"

#define WG_MAKE(T, N)                                                                                                  \
    static __inline__ __host__ __device__ N##1 make_##N##1(T x) { N##1 r; r.x = x; return r; }                         \
    static __inline__ __host__ __device__ N##2 make_##N##2(T x, T y) { N##2 r; r.x = x; r.y = y; return r; }           \
    static __inline__ __host__ __device__ N##3 make_##N##3(T x, T y, T z)                                              \
    {                                                                                                                  \
        N##3 r;                                                                                                        \
        r.x = x; r.y = y; r.z = z;                                                                                     \
        return r;                                                                                                      \
    }                                                                                                                  \
    WG_MAKE4(T, N##4)
#define WG_MAKE4(T, N)                                                                                                 \
    static __inline__ __host__ __device__ N make_##N(T x, T y, T z, T w)                                               \
    {                                                                                                                  \
        N r;                                                                                                           \
        r.x = x; r.y = y; r.z = z; r.w = w;                                                                            \
        return r;                                                                                                      \
    }
WG_MAKE(signed char, char)
WG_MAKE(unsigned char, uchar)
WG_MAKE(short, short)
WG_MAKE(unsigned short, ushort)
WG_MAKE(int, int)
WG_MAKE(unsigned int, uint)
WG_MAKE(long int, long)
WG_MAKE(unsigned long int, ulong)
WG_MAKE(long long int, longlong)
WG_MAKE(unsigned long long int, ulonglong)
WG_MAKE(float, float)
WG_MAKE(double, double)
WG_MAKE4(long int, long4_16a)
WG_MAKE4(long int, long4_32a)
WG_MAKE4(unsigned long int, ulong4_16a)
WG_MAKE4(unsigned long int, ulong4_32a)
WG_MAKE4(long long int, longlong4_16a)
WG_MAKE4(long long int, longlong4_32a)
WG_MAKE4(unsigned long long int, ulonglong4_16a)
WG_MAKE4(unsigned long long int, ulonglong4_32a)
WG_MAKE4(double, double4_16a)
WG_MAKE4(double, double4_32a)
#undef WG_MAKE
#undef WG_MAKE4
#endif
