// bare.h - what kernels written for static verifiers take for granted: their annotations (as nothing), the old warp
// shuffles, texture references (which read zeros), and launch(), which makes arguments for any kernel.
#pragma once
#include <cassert>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <vector>
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define NOTHING ((void)0)
#define __requires(...) NOTHING
#define __ensures(...) NOTHING
#define __assume(...) NOTHING
#define __assert(...) NOTHING
#define __invariant(...) NOTHING
#define __global_invariant(...) NOTHING
#define __function_wide_invariant(...) NOTHING
#define __global_assert(...) NOTHING
#define __non_temporal(x) x
#define __shfl(v, ...) __shfl_sync(0xffffffffu, v, __VA_ARGS__)
#define __shfl_up(v, ...) __shfl_up_sync(0xffffffffu, v, __VA_ARGS__)
#define __shfl_down(v, ...) __shfl_down_sync(0xffffffffu, v, __VA_ARGS__)
#define __shfl_xor(v, ...) __shfl_xor_sync(0xffffffffu, v, __VA_ARGS__)
#define __ballot(p) __ballot_sync(0xffffffffu, p)
#define __any(p) __any_sync(0xffffffffu, p)
#define __all(p) __all_sync(0xffffffffu, p)

template <class T, int D = 1, cudaTextureReadMode M = cudaReadModeElementType> struct texture_reference {};
#define texture __device__ texture_reference
template <class T, int D> __device__ T zero_of(texture_reference<T, D, cudaReadModeElementType>) { return T{}; }
template <int D> __device__ float zero_of(texture_reference<unsigned char, D, cudaReadModeNormalizedFloat>) { return 0; }
template <int D> __device__ float zero_of(texture_reference<unsigned short, D, cudaReadModeNormalizedFloat>) { return 0; }
template <int D> __device__ float4 zero_of(texture_reference<uchar4, D, cudaReadModeNormalizedFloat>) { return float4{}; }
#define TEXTURE(name) \
    template <class T, int D, cudaTextureReadMode M, class... A> __device__ auto name(texture_reference<T, D, M> t, A...) { return zero_of(t); }
TEXTURE(tex1Dfetch)
TEXTURE(tex1D)
TEXTURE(tex2D)
TEXTURE(tex3D)
TEXTURE(tex2DLayered)
TEXTURE(texCubemap)
TEXTURE(tex2DLod)

#define VECTOR2(F)                                                                                                     \
    static inline __host__ __device__ float2 operator F(float2 a, float2 b) { return {a.x F b.x, a.y F b.y}; }          \
    static inline __host__ __device__ float2 operator F(float2 a, float b) { return {a.x F b, a.y F b}; }               \
    static inline __host__ __device__ float2 operator F(float a, float2 b) { return {a F b.x, a F b.y}; }
#define VECTOR3(F)                                                                                                     \
    static inline __host__ __device__ float3 operator F(float3 a, float3 b) { return {a.x F b.x, a.y F b.y, a.z F b.z}; } \
    static inline __host__ __device__ float3 operator F(float3 a, float b) { return {a.x F b, a.y F b, a.z F b}; }      \
    static inline __host__ __device__ float3 operator F(float a, float3 b) { return {a F b.x, a F b.y, a F b.z}; }
#define VECTOR4(F)                                                                                                     \
    static inline __host__ __device__ float4 operator F(float4 a, float4 b)                                             \
    {                                                                                                                   \
        return {a.x F b.x, a.y F b.y, a.z F b.z, a.w F b.w};                                                            \
    }                                                                                                                   \
    static inline __host__ __device__ float4 operator F(float4 a, float b) { return {a.x F b, a.y F b, a.z F b, a.w F b}; } \
    static inline __host__ __device__ float4 operator F(float a, float4 b) { return {a F b.x, a F b.y, a F b.z, a F b.w}; }
#define VECTORS(F) VECTOR2(F) VECTOR3(F) VECTOR4(F)
VECTORS(+)
VECTORS(-)
VECTORS(*)
VECTORS(/)

static inline __device__ int atomicInc(int *p, unsigned n) { return (int)atomicInc((unsigned *)p, n); }

namespace bare {
enum : size_t { BYTES = 4 << 20, ROOM = 512 << 20 }; // filled, and there: an index too high meets nobody
template <class A> struct argument {
    static A make(double v) { return convert(v, (A *)nullptr); }
    template <class B> static auto convert(double v, B *) -> decltype((B)v) { return (B)v; }
    static A convert(double, ...) { return A{}; }
};
template <class A> struct argument<A *> {
    static A *make(double)
    {
        void *p = nullptr;
        cudaMalloc(&p, ROOM);
        fill((A *)p);
        return (A *)p;
    }
    // Different numbers where a buffer holds any, so that unordered writes differ; small ones where they may be indices.
    template <class B> static void fill(B *p)
    {
        using T = std::remove_cv_t<B>;
        if constexpr (std::is_arithmetic_v<T>) {
            std::vector<T> v(BYTES / sizeof(T));
            for (size_t k = 0; k < v.size(); k++)
                v[k] = (T)(std::is_integral_v<T> ? k % 3 : k % 23 + 1);
            cudaMemcpy((void *)p, v.data(), BYTES, cudaMemcpyHostToDevice);
        } else {
            cudaMemset((void *)p, 0, BYTES);
        }
    }
};
template <class... A> void launch(void (*kernel)(A...), dim3 grid, dim3 block, size_t shared, const double *v)
{
    size_t k = 0;
    (void)k;
    (void)v;
    std::tuple<A...> args{argument<A>::make(v[k++])...};
    std::apply([&](auto... a) { kernel<<<grid, block, shared>>>(a...); }, args);
    cudaError_t e = cudaDeviceSynchronize();
    if (e != cudaSuccess)
        fprintf(stderr, "%s\n", cudaGetErrorString(e));
}
}
