/* wg/texture.h - tex1D<T>() and its like for texture objects, each one tex or tld4 instruction. */
#ifndef WG_CUDA_TEXTURE_H
#define WG_CUDA_TEXTURE_H

/* What a fetch fills: four 32-bit registers of the kind of T's element; T takes the first of them. */
template <class R> struct wg_quad { R x, y, z, w; };
template <class T> struct wg_texel;
#define WG_TEXEL(S, N, R)                                                                                              \
    template <> struct wg_texel<S> {                                                                                   \
        typedef R reg;                                                                                                 \
        static __device__ __forceinline__ S make(const wg_quad<R> &q) { return (S)q.x; }                               \
    };                                                                                                                 \
    WG_TEXEL_V(N, R)
#define WG_TEXEL_V(N, R)                                                                                               \
    template <> struct wg_texel<N##1> {                                                                                \
        typedef R reg;                                                                                                 \
        static __device__ __forceinline__ N##1 make(const wg_quad<R> &q) { return make_##N##1(q.x); }                  \
    };                                                                                                                 \
    template <> struct wg_texel<N##2> {                                                                                \
        typedef R reg;                                                                                                 \
        static __device__ __forceinline__ N##2 make(const wg_quad<R> &q) { return make_##N##2(q.x, q.y); }             \
    };                                                                                                                 \
    template <> struct wg_texel<N##4> {                                                                                \
        typedef R reg;                                                                                                 \
        static __device__ __forceinline__ N##4 make(const wg_quad<R> &q) { return make_##N##4(q.x, q.y, q.z, q.w); }   \
    };
WG_TEXEL(signed char, char, int)
WG_TEXEL(unsigned char, uchar, unsigned int)
WG_TEXEL(short, short, int)
WG_TEXEL(unsigned short, ushort, unsigned int)
WG_TEXEL(int, int, int)
WG_TEXEL(unsigned int, uint, unsigned int)
WG_TEXEL(float, float, float)
template <> struct wg_texel<char> {
    typedef int reg;
    static __device__ __forceinline__ char make(const wg_quad<int> &q) { return (char)q.x; }
};
#undef WG_TEXEL
#undef WG_TEXEL_V

/* WG_TEX(name, parameters, arguments passed on, PTX before the type, after it, operands): an overload per register kind,
 * the function that the program calls, and the older form that stores through a pointer. */
#define WG_UNWRAP(...) __VA_ARGS__
#define WG_TEX_1(name, params, op, R, ptx, con, tail, ins)                                                             \
    static __device__ __forceinline__ wg_quad<R> wg_##name(R *, cudaTextureObject_t t, WG_UNWRAP params)               \
    {                                                                                                                  \
        wg_quad<R> q;                                                                                                  \
        asm volatile(op ".v4." ptx "." tail : "=" con(q.x), "=" con(q.y), "=" con(q.z), "=" con(q.w)                   \
                     : "l"(t), WG_UNWRAP ins);                                                                         \
        return q;                                                                                                      \
    }
#define WG_TEX(name, params, args, op, tail, ins)                                                                      \
    WG_TEX_1(name, params, op, float, "f32", "f", tail, ins)                                                           \
    WG_TEX_1(name, params, op, int, "s32", "r", tail, ins)                                                             \
    WG_TEX_1(name, params, op, unsigned int, "u32", "r", tail, ins)                                                    \
    template <class T> static __device__ __forceinline__ T name(cudaTextureObject_t t, WG_UNWRAP params)               \
    {                                                                                                                  \
        return wg_texel<T>::make(wg_##name((typename wg_texel<T>::reg *)0, t, WG_UNWRAP args));                        \
    }                                                                                                                  \
    template <class T> static __device__ __forceinline__ void name(T *out, cudaTextureObject_t t, WG_UNWRAP params)    \
    {                                                                                                                  \
        *out = name<T>(t, WG_UNWRAP args);                                                                             \
    }
WG_TEX(tex1Dfetch, (int x), (x), "tex.1d", "s32 {%0, %1, %2, %3}, [%4, {%5}];", ("r"(x)))
WG_TEX(tex1D, (float x), (x), "tex.1d", "f32 {%0, %1, %2, %3}, [%4, {%5}];", ("f"(x)))
WG_TEX(tex2D, (float x, float y), (x, y), "tex.2d", "f32 {%0, %1, %2, %3}, [%4, {%5, %6}];", ("f"(x), "f"(y)))
WG_TEX(tex3D, (float x, float y, float z), (x, y, z), "tex.3d",
       "f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];", ("f"(x), "f"(y), "f"(z)))
WG_TEX(texCubemap, (float x, float y, float z), (x, y, z), "tex.cube",
       "f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];", ("f"(x), "f"(y), "f"(z)))
WG_TEX(tex1DLayered, (float x, int layer), (x, layer), "tex.a1d",
       "f32 {%0, %1, %2, %3}, [%4, {%5, %6}];", ("r"(layer), "f"(x)))
WG_TEX(tex2DLayered, (float x, float y, int layer), (x, y, layer), "tex.a2d",
       "f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];", ("r"(layer), "f"(x), "f"(y)))
WG_TEX(texCubemapLayered, (float x, float y, float z, int layer), (x, y, z, layer), "tex.acube",
       "f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %8}];", ("r"(layer), "f"(x), "f"(y), "f"(z)))
WG_TEX(tex1DLod, (float x, float level), (x, level), "tex.level.1d",
       "f32 {%0, %1, %2, %3}, [%4, {%5}], %6;", ("f"(x), "f"(level)))
WG_TEX(tex2DLod, (float x, float y, float level), (x, y, level), "tex.level.2d",
       "f32 {%0, %1, %2, %3}, [%4, {%5, %6}], %7;", ("f"(x), "f"(y), "f"(level)))
WG_TEX(tex3DLod, (float x, float y, float z, float level), (x, y, z, level), "tex.level.3d",
       "f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}], %8;", ("f"(x), "f"(y), "f"(z), "f"(level)))
WG_TEX(tex2DGrad, (float x, float y, float2 dx, float2 dy), (x, y, dx, dy), "tex.grad.2d",
       "f32 {%0, %1, %2, %3}, [%4, {%5, %6}], {%7, %8}, {%9, %10};",
       ("f"(x), "f"(y), "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y)))
#define WG_GATHER(c)                                                                                                   \
    WG_TEX(tex2Dgather_##c, (float x, float y), (x, y), "tld4." #c ".2d", "f32 {%0, %1, %2, %3}, [%4, {%5, %6}];",     \
           ("f"(x), "f"(y)))
WG_GATHER(r)
WG_GATHER(g)
WG_GATHER(b)
WG_GATHER(a)
template <class T>
static __device__ __forceinline__ T tex2Dgather(cudaTextureObject_t t, float x, float y, int component = 0)
{
    switch (component) {
    case 1: return tex2Dgather_g<T>(t, x, y);
    case 2: return tex2Dgather_b<T>(t, x, y);
    case 3: return tex2Dgather_a<T>(t, x, y);
    default: return tex2Dgather_r<T>(t, x, y);
    }
}
#undef WG_GATHER
#undef WG_TEX
#undef WG_TEX_1
#undef WG_UNWRAP

/* Surface references were removed in CUDA 12; say so where one is declared. */
template <class T, int kind = cudaSurfaceType1D> struct surface {
    static_assert(sizeof(T) == 0, "surface references were removed in CUDA 12: use cudaCreateSurfaceObject");
};
#endif
