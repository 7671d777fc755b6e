/* wg/surface.h - surf2Dread<T>() and its like for surface objects, each one suld or sust instruction. */
#ifndef WG_CUDA_SURFACE_H
#define WG_CUDA_SURFACE_H

/* Bytes travel as 1, 2, 4 or 8 of them in one, two or four registers; T is only a way to look at them. */
template <int bytes> struct wg_bits;
template <> struct wg_bits<1> { unsigned short v[1]; };
template <> struct wg_bits<2> { unsigned short v[1]; };
template <> struct wg_bits<4> { unsigned int v[1]; };
template <> struct wg_bits<8> { unsigned int v[2]; };
template <> struct wg_bits<16> { unsigned int v[4]; };
template <class T> static __device__ __forceinline__ T wg_from_bits(const wg_bits<sizeof(T)> &b)
{
    T t;
    __builtin_memcpy(&t, &b, sizeof(T));
    return t;
}
template <class T> static __device__ __forceinline__ wg_bits<sizeof(T)> wg_to_bits(const T &t)
{
    wg_bits<sizeof(T)> b = {};
    __builtin_memcpy(&b, &t, sizeof(T));
    return b;
}
#define WG_UNWRAP(...) __VA_ARGS__
/* where: the coordinate vector with operands numbered from %1 (load of one register) upwards is built per width below */
#define WG_SURF_MODES(call)                                                                                            \
    switch (mode) {                                                                                                    \
    case cudaBoundaryModeClamp: call("clamp"); break;                                                                  \
    case cudaBoundaryModeZero: call("zero"); break;                                                                    \
    default: call("trap"); break;                                                                                      \
    }
#define WG_LD_1(m) asm volatile("suld.b." WG_GEOM ".b8." m " {%0}, [%1, " WG_AT1 "];" : "=h"(b.v[0]) : "l"(s), WG_IN : "memory")
#define WG_LD_2(m) asm volatile("suld.b." WG_GEOM ".b16." m " {%0}, [%1, " WG_AT1 "];" : "=h"(b.v[0]) : "l"(s), WG_IN : "memory")
#define WG_LD_4(m) asm volatile("suld.b." WG_GEOM ".b32." m " {%0}, [%1, " WG_AT1 "];" : "=r"(b.v[0]) : "l"(s), WG_IN : "memory")
#define WG_LD_8(m)                                                                                                     \
    asm volatile("suld.b." WG_GEOM ".v2.b32." m " {%0, %1}, [%2, " WG_AT2 "];"                                         \
                 : "=r"(b.v[0]), "=r"(b.v[1]) : "l"(s), WG_IN : "memory")
#define WG_LD_16(m)                                                                                                    \
    asm volatile("suld.b." WG_GEOM ".v4.b32." m " {%0, %1, %2, %3}, [%4, " WG_AT4 "];"                                 \
                 : "=r"(b.v[0]), "=r"(b.v[1]), "=r"(b.v[2]), "=r"(b.v[3]) : "l"(s), WG_IN : "memory")
#define WG_ST_1(m) asm volatile("sust.b." WG_GEOM ".b8." m " [%1, " WG_AT1 "], {%0};" ::"h"(b.v[0]), "l"(s), WG_IN : "memory")
#define WG_ST_2(m) asm volatile("sust.b." WG_GEOM ".b16." m " [%1, " WG_AT1 "], {%0};" ::"h"(b.v[0]), "l"(s), WG_IN : "memory")
#define WG_ST_4(m) asm volatile("sust.b." WG_GEOM ".b32." m " [%1, " WG_AT1 "], {%0};" ::"r"(b.v[0]), "l"(s), WG_IN : "memory")
#define WG_ST_8(m)                                                                                                     \
    asm volatile("sust.b." WG_GEOM ".v2.b32." m " [%2, " WG_AT2 "], {%0, %1};" ::"r"(b.v[0]), "r"(b.v[1]), "l"(s),     \
                 WG_IN : "memory")
#define WG_ST_16(m)                                                                                                    \
    asm volatile("sust.b." WG_GEOM ".v4.b32." m " [%4, " WG_AT4 "], {%0, %1, %2, %3};" ::"r"(b.v[0]), "r"(b.v[1]),     \
                 "r"(b.v[2]), "r"(b.v[3]), "l"(s), WG_IN : "memory")
#define WG_SURF_WIDTH(name, n, params)                                                                                 \
    static __device__ __forceinline__ void wg_##name##_ld(wg_bits<n> &b, cudaSurfaceObject_t s, WG_UNWRAP params,      \
                                                          cudaSurfaceBoundaryMode mode)                                \
    {                                                                                                                  \
        WG_SURF_MODES(WG_LD_##n)                                                                                       \
    }                                                                                                                  \
    static __device__ __forceinline__ void wg_##name##_st(wg_bits<n> b, cudaSurfaceObject_t s, WG_UNWRAP params,       \
                                                          cudaSurfaceBoundaryMode mode)                                \
    {                                                                                                                  \
        WG_SURF_MODES(WG_ST_##n)                                                                                       \
    }
#define WG_SURF(name, params, args)                                                                                    \
    WG_SURF_WIDTH(name, 1, params)                                                                                     \
    WG_SURF_WIDTH(name, 2, params)                                                                                     \
    WG_SURF_WIDTH(name, 4, params)                                                                                     \
    WG_SURF_WIDTH(name, 8, params)                                                                                     \
    WG_SURF_WIDTH(name, 16, params)                                                                                    \
    template <class T>                                                                                                 \
    static __device__ __forceinline__ T name##read(cudaSurfaceObject_t s, WG_UNWRAP params,                            \
                                                   cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                \
    {                                                                                                                  \
        wg_bits<sizeof(T)> b;                                                                                          \
        wg_##name##_ld(b, s, WG_UNWRAP args, mode);                                                                    \
        return wg_from_bits<T>(b);                                                                                     \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    static __device__ __forceinline__ void name##read(T *out, cudaSurfaceObject_t s, WG_UNWRAP params,                 \
                                                      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)             \
    {                                                                                                                  \
        *out = name##read<T>(s, WG_UNWRAP args, mode);                                                                 \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    static __device__ __forceinline__ void name##write(T v, cudaSurfaceObject_t s, WG_UNWRAP params,                   \
                                                       cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)            \
    {                                                                                                                  \
        wg_##name##_st(wg_to_bits(v), s, WG_UNWRAP args, mode);                                                        \
    }
#define WG_GEOM "1d"
#define WG_AT1 "{%2}"
#define WG_AT2 "{%3}"
#define WG_AT4 "{%5}"
#define WG_IN "r"(x)
WG_SURF(surf1D, (int x), (x))
#undef WG_GEOM
#undef WG_AT1
#undef WG_AT2
#undef WG_AT4
#undef WG_IN
#define WG_GEOM "2d"
#define WG_AT1 "{%2, %3}"
#define WG_AT2 "{%3, %4}"
#define WG_AT4 "{%5, %6}"
#define WG_IN "r"(x), "r"(y)
WG_SURF(surf2D, (int x, int y), (x, y))
#undef WG_GEOM
#undef WG_AT1
#undef WG_AT2
#undef WG_AT4
#undef WG_IN
#define WG_GEOM "3d"
#define WG_AT1 "{%2, %3, %4, %4}"
#define WG_AT2 "{%3, %4, %5, %5}"
#define WG_AT4 "{%5, %6, %7, %7}"
#define WG_IN "r"(x), "r"(y), "r"(z)
WG_SURF(surf3D, (int x, int y, int z), (x, y, z))
#undef WG_GEOM
#undef WG_IN
#define WG_GEOM "a2d"
#define WG_IN "r"(layer), "r"(x), "r"(y)
WG_SURF(surf2DLayered, (int x, int y, int layer), (x, y, layer))
#undef WG_GEOM
#undef WG_AT1
#undef WG_AT2
#undef WG_AT4
#undef WG_IN
#undef WG_SURF
#undef WG_SURF_WIDTH
#undef WG_SURF_MODES
#undef WG_UNWRAP
#undef WG_LD_1
#undef WG_LD_2
#undef WG_LD_4
#undef WG_LD_8
#undef WG_LD_16
#undef WG_ST_1
#undef WG_ST_2
#undef WG_ST_4
#undef WG_ST_8
#undef WG_ST_16
#endif
