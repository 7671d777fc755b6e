/* texture_ref.c - texture references, gone since CUDA 12: a variable of the program to which an object is bound. */
#include "shim/image.h"
#include <warpgrind/texture.h>

static enum cudaError find(struct wg_shim *s, const struct textureReference *t, struct wg_var **v)
{
    enum cudaError e = t ? wg_image_reference(s, t, v) : cudaErrorInvalidTexture;
    return e == cudaErrorInvalidSymbol ? cudaErrorInvalidTexture : e;
}

/* handle 0: nothing is bound. Destroying what was bound may fail: it is gone after a reset of the device. */
static enum cudaError rebind(struct wg_shim *s, struct wg_var *v, uint64_t handle)
{
    if (wg_module_bind(v->image->module, v->name, handle) != WG_OK)
        return cudaErrorInvalidTexture;
    wg_object_destroy(s, v->bound, false);
    v->bound = handle;
    return cudaSuccess;
}

static enum cudaError bind(struct wg_shim *s, const struct textureReference *t, const struct cudaResourceDesc *r)
{
    struct wg_var *v;
    uint64_t handle;
    enum cudaError e = find(s, t, &v);
    if (e != cudaSuccess)
        return e;
    const struct cudaTextureDesc d = {.addressMode = {t->addressMode[0], t->addressMode[1], t->addressMode[2]},
                                      .filterMode = t->filterMode,
                                      .readMode = v->normalized_float,
                                      .sRGB = t->sRGB,
                                      .normalizedCoords = t->normalized,
                                      .maxAnisotropy = t->maxAnisotropy,
                                      .mipmapFilterMode = t->mipmapFilterMode,
                                      .mipmapLevelBias = t->mipmapLevelBias,
                                      .minMipmapLevelClamp = t->minMipmapLevelClamp,
                                      .maxMipmapLevelClamp = t->maxMipmapLevelClamp};
    e = wg_object_create(s, &handle, r, &d, NULL, false);
    if (e != cudaSuccess)
        return e == cudaErrorInvalidValue ? cudaErrorInvalidTexture : e;
    e = rebind(s, v, handle);
    if (e != cudaSuccess)
        wg_object_destroy(s, handle, false);
    return e;
}

WG_API(cudaBindTexture, CONTEXT,
       (size_t *offset, const struct textureReference *t, const void *p, const struct cudaChannelFormatDesc *format,
        size_t bytes),
       (offset, t, p, format, bytes))
{
    uint64_t base;
    size_t whole;
    if (!t || !format || wg_find_alloc(s->g, (uint64_t)(uintptr_t)p, &base, &whole) != WG_OK)
        return cudaErrorInvalidValue;
    const size_t rest = base + whole - (uint64_t)(uintptr_t)p; /* "all of it" is said as the largest number */
    const struct cudaResourceDesc r = {
        .resType = cudaResourceTypeLinear,
        .res.linear = {.devPtr = (void *)(uintptr_t)p, .desc = *format, .sizeInBytes = bytes < rest ? bytes : rest}};
    if (offset) /* any alignment will do here */
        *offset = 0;
    return bind(s, t, &r);
}

WG_API(cudaBindTexture2D, CONTEXT,
       (size_t *offset, const struct textureReference *t, const void *p, const struct cudaChannelFormatDesc *format,
        size_t width, size_t height, size_t pitch),
       (offset, t, p, format, width, height, pitch))
{
    if (!t || !format)
        return cudaErrorInvalidValue;
    const struct cudaResourceDesc r = {.resType = cudaResourceTypePitch2D,
                                       .res.pitch2D = {.devPtr = (void *)(uintptr_t)p,
                                                       .desc = *format,
                                                       .width = width,
                                                       .height = height,
                                                       .pitchInBytes = pitch}};
    if (offset)
        *offset = 0;
    return bind(s, t, &r);
}

WG_API(cudaBindTextureToArray, CONTEXT,
       (const struct textureReference *t, void *array, const struct cudaChannelFormatDesc *format), (t, array, format))
{
    if (!format)
        return cudaErrorInvalidValue;
    return bind(s, t, &(struct cudaResourceDesc){.resType = cudaResourceTypeArray, .res.array.array = array});
}

WG_API(cudaBindTextureToMipmappedArray, CONTEXT,
       (const struct textureReference *t, void *array, const struct cudaChannelFormatDesc *format), (t, array, format))
{
    if (!format)
        return cudaErrorInvalidValue;
    return bind(s, t,
                &(struct cudaResourceDesc){.resType = cudaResourceTypeMipmappedArray, .res.mipmap.mipmap = array});
}

WG_API(cudaUnbindTexture, CONTEXT, (const struct textureReference *t), (t))
{
    struct wg_var *v;
    enum cudaError e = find(s, t, &v);
    return e == cudaSuccess ? rebind(s, v, 0) : e;
}

WG_API(cudaGetTextureAlignmentOffset, CONTEXT, (size_t *offset, const struct textureReference *t), (offset, t))
{
    struct wg_var *v;
    enum cudaError e = offset ? find(s, t, &v) : cudaErrorInvalidValue;
    if (e == cudaSuccess && !v->bound)
        e = cudaErrorInvalidTextureBinding;
    if (e == cudaSuccess)
        *offset = 0;
    return e;
}

WG_API(cudaGetTextureReference, CONTEXT, (const struct textureReference **out, const void *symbol), (out, symbol))
{
    struct wg_var *v;
    enum cudaError e = out ? find(s, symbol, &v) : cudaErrorInvalidValue;
    if (e == cudaSuccess)
        *out = v->host;
    return e;
}
