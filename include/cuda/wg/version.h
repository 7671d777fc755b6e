/* wg/version.h - the CUDA release whose API these headers offer. */
#ifndef WG_CUDA_VERSION_H
#define WG_CUDA_VERSION_H
#define CUDART_VERSION 13000
#define __CUDART_API_VERSION CUDART_VERSION
#ifndef CUDA_VERSION
#define CUDA_VERSION 13000
#endif
#ifdef __CUDA__
#ifndef __CUDACC__
#define __CUDACC__
#endif
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#ifndef __CUDACC_EXTENDED_LAMBDA__
#define __CUDACC_EXTENDED_LAMBDA__ 1 /* clang accepts __device__ and __host__ __device__ lambdas without a flag */
#endif
#endif
/* Around functions of these headers: what they do is shown at the line of the program that called them. clang 19 writes
 * no call sites into PTX, so a function with lines of its own would hide its caller's. */
#if defined(__CUDA__) && defined(__clang__)
#define WG_CALLERS_LINES _Pragma("clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))")
#define WG_OWN_LINES     _Pragma("clang attribute pop")
#else
#define WG_CALLERS_LINES
#define WG_OWN_LINES
#endif
/* Set by headers that are not the toolkit's, so that a program can tell. */
#define __WARPGRIND_HEADERS__ 1
#endif
