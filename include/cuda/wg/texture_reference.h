/* wg/texture_reference.h - texture<>, which CUDA 12 dropped: the variables, fetches from them, and their C++ calls.
 * clang makes of such a variable a .texref that holds the handle of the object bound to it; every fetch is one of
 * wg/texture.h from that object. */
#ifndef WG_CUDA_TEXTURE_REFERENCE_H
#define WG_CUDA_TEXTURE_REFERENCE_H

template <class T, int kind = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : public textureReference {
    texture(int norm = 0, cudaTextureFilterMode filter = cudaFilterModePoint,
            cudaTextureAddressMode address = cudaAddressModeClamp)
        : texture(norm, filter, address, cudaCreateChannelDesc<T>()) {}
    texture(int norm, cudaTextureFilterMode filter, cudaTextureAddressMode address, cudaChannelFormatDesc format)
        : textureReference()
    {
        normalized = norm;
        filterMode = filter;
        addressMode[0] = addressMode[1] = addressMode[2] = address;
        channelDesc = format;
    }
};

/* ---- fetches: what a read of T answers in each of the two modes ---- */
template <class T, cudaTextureReadMode mode> struct wg_read { typedef T type; };
template <class T> struct wg_read<T, cudaReadModeNormalizedFloat> { typedef float type; };
#define WG_READ(N)                                                                                                     \
    template <> struct wg_read<N##1, cudaReadModeNormalizedFloat> { typedef float1 type; };                            \
    template <> struct wg_read<N##2, cudaReadModeNormalizedFloat> { typedef float2 type; };                            \
    template <> struct wg_read<N##4, cudaReadModeNormalizedFloat> { typedef float4 type; };
WG_READ(char)
WG_READ(uchar)
WG_READ(short)
WG_READ(ushort)
#undef WG_READ

#define WG_REFERENCE(name, params, args)                                                                               \
    template <class T, int kind, cudaTextureReadMode mode>                                                             \
    static __device__ __forceinline__ typename wg_read<T, mode>::type name(texture<T, kind, mode> t,                   \
                                                                           WG_UNWRAP params)                           \
    {                                                                                                                  \
        cudaTextureObject_t object; /* on the device that is all there is of t */                                      \
        __builtin_memcpy(&object, &t, sizeof object);                                                                  \
        return name<typename wg_read<T, mode>::type>(object, WG_UNWRAP args);                                          \
    }
#define WG_UNWRAP(...) __VA_ARGS__
WG_REFERENCE(tex1Dfetch, (int x), (x))
WG_REFERENCE(tex1D, (float x), (x))
WG_REFERENCE(tex2D, (float x, float y), (x, y))
WG_REFERENCE(tex3D, (float x, float y, float z), (x, y, z))
WG_REFERENCE(texCubemap, (float x, float y, float z), (x, y, z))
WG_REFERENCE(tex1DLayered, (float x, int layer), (x, layer))
WG_REFERENCE(tex2DLayered, (float x, float y, int layer), (x, y, layer))
WG_REFERENCE(texCubemapLayered, (float x, float y, float z, int layer), (x, y, z, layer))
WG_REFERENCE(tex1DLod, (float x, float level), (x, level))
WG_REFERENCE(tex2DLod, (float x, float y, float level), (x, y, level))
WG_REFERENCE(tex3DLod, (float x, float y, float z, float level), (x, y, z, level))
#undef WG_UNWRAP
#undef WG_REFERENCE

/* ---- calls; the largest size means all there is behind the pointer ---- */
extern "C" {
cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *t, const void *p,
                            const struct cudaChannelFormatDesc *format, size_t bytes);
cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *t, const void *p,
                              const struct cudaChannelFormatDesc *format, size_t width, size_t height, size_t pitch);
cudaError_t cudaBindTextureToArray(const struct textureReference *t, cudaArray_const_t array,
                                   const struct cudaChannelFormatDesc *format);
cudaError_t cudaBindTextureToMipmappedArray(const struct textureReference *t, cudaMipmappedArray_const_t array,
                                            const struct cudaChannelFormatDesc *format);
cudaError_t cudaUnbindTexture(const struct textureReference *t);
cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *t);
cudaError_t cudaGetTextureReference(const struct textureReference **out, const void *symbol);
}
#define WG_T template <class T, int kind, cudaTextureReadMode mode> static __inline__ __host__ cudaError_t
WG_T cudaBindTexture(size_t *offset, const texture<T, kind, mode> &t, const void *p,
                     const struct cudaChannelFormatDesc &format, size_t bytes = 0xffffffffu)
{
    return cudaBindTexture(offset, &t, p, &format, bytes);
}
WG_T cudaBindTexture(size_t *offset, const texture<T, kind, mode> &t, const void *p, size_t bytes = 0xffffffffu)
{
    return cudaBindTexture(offset, &t, p, &t.channelDesc, bytes);
}
WG_T cudaBindTexture2D(size_t *offset, const texture<T, kind, mode> &t, const void *p,
                       const struct cudaChannelFormatDesc &format, size_t width, size_t height, size_t pitch)
{
    return cudaBindTexture2D(offset, &t, p, &format, width, height, pitch);
}
WG_T cudaBindTexture2D(size_t *offset, const texture<T, kind, mode> &t, const void *p, size_t width, size_t height,
                       size_t pitch)
{
    return cudaBindTexture2D(offset, &t, p, &t.channelDesc, width, height, pitch);
}
WG_T cudaBindTextureToArray(const texture<T, kind, mode> &t, cudaArray_const_t array,
                            const struct cudaChannelFormatDesc &format)
{
    return cudaBindTextureToArray(&t, array, &format);
}
WG_T cudaBindTextureToArray(const texture<T, kind, mode> &t, cudaArray_const_t array)
{
    return cudaBindTextureToArray(&t, array, &t.channelDesc);
}
WG_T cudaBindTextureToMipmappedArray(const texture<T, kind, mode> &t, cudaMipmappedArray_const_t array)
{
    return cudaBindTextureToMipmappedArray(&t, array, &t.channelDesc);
}
WG_T cudaUnbindTexture(const texture<T, kind, mode> &t) { return cudaUnbindTexture(&t); }
WG_T cudaGetTextureAlignmentOffset(size_t *offset, const texture<T, kind, mode> &t)
{
    return cudaGetTextureAlignmentOffset(offset, &t);
}
#undef WG_T
#endif
