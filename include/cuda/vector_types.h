/* vector_types.h - char1 to double4 and dim3: plain structs with the alignment that one vector access needs. */
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__
#include "crt/host_defines.h"

/* type, prefix, alignment of the two- and the four-element vector; one and three elements align as their element. */
#define WG_VECTOR(T, N, A2, A4)                                                                                        \
    struct N##1 { T x; };                                                                                              \
    struct __align__(A2) N##2 { T x, y; };                                                                             \
    struct N##3 { T x, y, z; };                                                                                        \
    struct __align__(A4) N##4 { T x, y, z, w; };                                                                       \
    typedef struct N##1 N##1;                                                                                          \
    typedef struct N##2 N##2;                                                                                          \
    typedef struct N##3 N##3;                                                                                          \
    typedef struct N##4 N##4;
WG_VECTOR(signed char, char, 2, 4)
WG_VECTOR(unsigned char, uchar, 2, 4)
WG_VECTOR(short, short, 4, 8)
WG_VECTOR(unsigned short, ushort, 4, 8)
WG_VECTOR(int, int, 8, 16)
WG_VECTOR(unsigned int, uint, 8, 16)
WG_VECTOR(long int, long, 16, 16)
WG_VECTOR(unsigned long int, ulong, 16, 16)
WG_VECTOR(long long int, longlong, 16, 16)
WG_VECTOR(unsigned long long int, ulonglong, 16, 16)
WG_VECTOR(float, float, 8, 16)
WG_VECTOR(double, double, 16, 16)
#undef WG_VECTOR

/* CUDA 13 spells the alignment of the four wide types out; the plain names stay 16-byte aligned. */
#define WG_VECTOR4(T, N, A) typedef struct __align__(A) N##4_##A##a { T x, y, z, w; } N##4_##A##a;
WG_VECTOR4(long int, long, 16)
WG_VECTOR4(long int, long, 32)
WG_VECTOR4(unsigned long int, ulong, 16)
WG_VECTOR4(unsigned long int, ulong, 32)
WG_VECTOR4(long long int, longlong, 16)
WG_VECTOR4(long long int, longlong, 32)
WG_VECTOR4(unsigned long long int, ulonglong, 16)
WG_VECTOR4(unsigned long long int, ulonglong, 32)
WG_VECTOR4(double, double, 16)
WG_VECTOR4(double, double, 32)
#undef WG_VECTOR4

struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
#if __cplusplus >= 201103L
    __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
        : x(vx), y(vy), z(vz) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3(void) const { return uint3{x, y, z}; }
#else
    __host__ __device__ dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
    __host__ __device__ dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ operator uint3(void) const { uint3 t; t.x = x; t.y = y; t.z = z; return t; }
#endif
#endif
};
typedef struct dim3 dim3;
#endif
