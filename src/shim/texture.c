/* texture.c - texture and surface objects: the runtime's descriptions put into the engine's words. */
#include "shim/state.h"
#include <warpgrind/texture.h>
#include <stdlib.h>
#include <string.h>

static uint8_t kind_of(int f)
{
    return f == cudaChannelFormatKindFloat    ? WG_TEXEL_FLOAT
           : f == cudaChannelFormatKindSigned ? WG_TEXEL_SIGNED
                                              : WG_TEXEL_UNSIGNED;
}

/* Channels of a format, or 0 when a texture cannot have it. */
static uint8_t channels_of(const struct cudaChannelFormatDesc *f)
{
    const int c[4] = {f->x, f->y, f->z, f->w};
    uint8_t n = 0;
    while (n < 4 && c[n] == c[0] && c[n])
        n++;
    const bool rest = (n < 4 && c[n]) || n == 3 || n == 0;
    return rest || (c[0] != 8 && c[0] != 16 && c[0] != 32) ? 0 : n;
}

static bool set_format(struct wg_image *im, const struct cudaChannelFormatDesc *f)
{
    im->channels = channels_of(f);
    im->bits = (uint8_t)f->x;
    im->kind = kind_of(f->f);
    return im->channels != 0;
}

static struct wg_image_level level_of(const struct wg_array *a, bool layers)
{
    const uint32_t h = a->extent.height ? (uint32_t)a->extent.height : 1;
    const uint64_t row = (uint64_t)a->extent.width * a->element;
    return (struct wg_image_level){.address = a->base,
                                   .width = (uint32_t)a->extent.width,
                                   .height = h,
                                   .depth = layers || !a->extent.depth ? 1 : (uint32_t)a->extent.depth,
                                   .row_bytes = row,
                                   .slice_bytes = row * h,
                                   .layer_bytes = row * h};
}

static enum cudaError of_array(struct wg_shim *s, const void *handle, bool mipmap, struct wg_image *im)
{
    const struct wg_array *a = wg_array_find(s, handle);
    if (!a || mipmap != (a->levels != 0))
        return cudaErrorInvalidResourceHandle;
    const bool cube = a->flags & cudaArrayCubemap, layers = cube || (a->flags & cudaArrayLayered);
    if (!set_format(im, &a->format))
        return cudaErrorInvalidChannelDescriptor;
    im->shape = cube                         ? WG_IMAGE_CUBE
                : a->extent.depth && !layers ? WG_IMAGE_3D
                : a->extent.height           ? WG_IMAGE_2D
                                             : WG_IMAGE_1D;
    im->layered = (a->flags & cudaArrayLayered) != 0;
    im->layers = layers ? (uint32_t)a->extent.depth : 1;
    im->nlevels = mipmap ? (a->levels < WG_IMAGE_LEVELS ? a->levels : WG_IMAGE_LEVELS) : 1;
    for (unsigned i = 0; i < im->nlevels; i++)
        im->level[i] = level_of(mipmap ? a->level[i] : a, layers);
    return cudaSuccess;
}

/* Memory of the program's own: it must be device memory that holds the whole. */
static enum cudaError of_memory(struct wg_shim *s, const struct cudaResourceDesc *r, struct wg_image *im)
{
    const bool linear = r->resType == cudaResourceTypeLinear;
    const struct cudaChannelFormatDesc *f = linear ? &r->res.linear.desc : &r->res.pitch2D.desc;
    const uint64_t at = (uint64_t)(uintptr_t)(linear ? r->res.linear.devPtr : r->res.pitch2D.devPtr);
    uint64_t base;
    size_t bytes;
    if (!set_format(im, f))
        return cudaErrorInvalidChannelDescriptor;
    const uint64_t element = (uint64_t)im->channels * im->bits / 8;
    const size_t width = linear ? r->res.linear.sizeInBytes / element : r->res.pitch2D.width;
    const size_t height = linear ? 1 : r->res.pitch2D.height,
                 pitch = linear ? width * element : r->res.pitch2D.pitchInBytes;
    if (!at || wg_find_alloc(s->g, at, &base, &bytes) != WG_OK || width == 0 || height == 0 || width > UINT32_MAX ||
        height > UINT32_MAX || pitch < width * element || (height - 1) * pitch + width * element > base + bytes - at)
        return cudaErrorInvalidValue;
    im->shape = linear ? WG_IMAGE_LINEAR : WG_IMAGE_2D;
    im->layers = im->nlevels = 1;
    im->level[0] = (struct wg_image_level){.address = at,
                                           .width = (uint32_t)width,
                                           .height = (uint32_t)height,
                                           .depth = 1,
                                           .row_bytes = pitch,
                                           .slice_bytes = pitch * height,
                                           .layer_bytes = pitch * height};
    return cudaSuccess;
}

static enum cudaError image_of(struct wg_shim *s, const struct cudaResourceDesc *r, struct wg_image *im)
{
    switch (r->resType) {
    case cudaResourceTypeArray:
        return of_array(s, r->res.array.array, false, im);
    case cudaResourceTypeMipmappedArray:
        return of_array(s, r->res.mipmap.mipmap, true, im);
    case cudaResourceTypeLinear:
    case cudaResourceTypePitch2D:
        return of_memory(s, r, im);
    default:
        return cudaErrorInvalidValue;
    }
}

/* A view may leave out levels and layers at either end; another format or size over the same memory is not done. */
static enum cudaError narrow(struct wg_image *im, const struct cudaResourceViewDesc *v)
{
    enum { RES_VIEW_FORMATS = 0x22 };
    if (v->format < 0 || v->format > RES_VIEW_FORMATS || v->firstMipmapLevel > v->lastMipmapLevel ||
        v->firstLayer > v->lastLayer || v->firstMipmapLevel >= im->nlevels ||
        (v->lastLayer && v->lastLayer >= im->layers))
        return cudaErrorInvalidValue;
    const unsigned last = v->lastMipmapLevel < im->nlevels ? v->lastMipmapLevel : im->nlevels - 1;
    /* formats 1 to 20 count channels 1, 2, 4 within kinds u8 s8 u16 s16 u32 s32 f16 f32: three to a kind */
    const int kind = (v->format - 1) / 3, channels = (v->format - 1) % 3;
    static const struct {
        uint8_t kind, bits;
    } kinds[] = {{WG_TEXEL_UNSIGNED, 8},  {WG_TEXEL_SIGNED, 8},  {WG_TEXEL_UNSIGNED, 16}, {WG_TEXEL_SIGNED, 16},
                 {WG_TEXEL_UNSIGNED, 32}, {WG_TEXEL_SIGNED, 32}, {WG_TEXEL_FLOAT, 16},    {WG_TEXEL_FLOAT, 32}};
    if (v->format &&
        (kind >= (int)(sizeof kinds / sizeof *kinds) || kinds[kind].bits != im->bits || im->channels != 1u << channels))
        return wg_shim_refuse("cudaCreateTextureObject", "a view in a format of another size, or compressed");
    if (v->format)
        im->kind = kinds[kind].kind;
    memmove(im->level, im->level + v->firstMipmapLevel, (last - v->firstMipmapLevel + 1) * sizeof *im->level);
    im->nlevels = last - v->firstMipmapLevel + 1;
    if (v->lastLayer) {
        for (unsigned i = 0; i < im->nlevels; i++)
            im->level[i].address += v->firstLayer * im->level[i].layer_bytes;
        im->layers = v->lastLayer - v->firstLayer + 1;
    }
    return cudaSuccess;
}

static enum cudaError keep(struct wg_shim *s, uint64_t handle, const struct wg_object *from)
{
    struct wg_object *o = malloc(sizeof *o);
    if (!o) {
        wg_texture_destroy(s->g, handle);
        return cudaErrorMemoryAllocation;
    }
    *o = *from;
    o->handle = handle;
    HASH_ADD(hh, s->objects, handle, sizeof o->handle, o);
    return cudaSuccess;
}

static struct wg_object *object_at(struct wg_shim *s, uint64_t handle, bool surface)
{
    struct wg_object *o = NULL;
    HASH_FIND(hh, s->objects, &handle, sizeof handle, o);
    return o && o->surface == surface ? o : NULL;
}

void wg_object_free_all(struct wg_shim *s)
{
    struct wg_object *o, *on;
    HASH_ITER(hh, s->objects, o, on)
    {
        wg_texture_destroy(s->g, o->handle);
        HASH_DEL(s->objects, o);
        free(o);
    }
}

/* seamless: the descriptor's layout has that field. */
enum cudaError wg_object_create(struct wg_shim *s, uint64_t *out, const struct cudaResourceDesc *r,
                                const struct cudaTextureDesc *t, const struct cudaResourceViewDesc *v, bool seamless)
{
    struct wg_texture x = {.seamless = seamless && t && t->seamlessCubemap};
    if (!out || !r || !t)
        return cudaErrorInvalidValue;
    enum cudaError e = image_of(s, r, &x.image);
    if (e == cudaSuccess && v && (r->resType == cudaResourceTypeLinear || r->resType == cudaResourceTypePitch2D))
        e = cudaErrorInvalidValue; /* documented: views are of arrays */
    if (e == cudaSuccess && v)
        e = narrow(&x.image, v);
    if (e != cudaSuccess)
        return e;
    for (int i = 0; i < 3; i++) {
        if (t->addressMode[i] < 0 || t->addressMode[i] > WG_ADDRESS_BORDER)
            return cudaErrorInvalidValue;
        x.address[i] = (uint8_t)t->addressMode[i];
    }
    const bool integers = x.image.kind != WG_TEXEL_FLOAT;
    if (t->readMode < 0 || t->readMode > 1 || t->filterMode < 0 || t->filterMode > 1 ||
        (t->readMode && integers && x.image.bits == 32))
        return cudaErrorInvalidNormSetting;
    if (t->filterMode == WG_FILTER_LINEAR && integers && !t->readMode)
        return cudaErrorInvalidFilterSetting;
    x.filter = (uint8_t)t->filterMode;
    x.mip_filter = t->mipmapFilterMode != 0;
    x.normalized = t->normalizedCoords != 0;
    x.normalized_float = t->readMode != 0 && integers;
    x.srgb = t->sRGB != 0 && x.normalized_float && x.image.kind == WG_TEXEL_UNSIGNED && x.image.bits == 8;
    memcpy(x.border, t->borderColor, sizeof x.border);
    x.mip_bias = t->mipmapLevelBias;
    x.mip_min = t->minMipmapLevelClamp;
    x.mip_max = t->maxMipmapLevelClamp;
    x.anisotropy = t->maxAnisotropy;
    uint64_t handle;
    enum wg_status st = wg_texture_create(s->g, &x, &handle);
    if (st != WG_OK)
        return wg_shim_error(st);
    struct wg_object o = {.resource = *r, .view = v ? *v : (struct cudaResourceViewDesc){0}};
    memcpy(&o.texture, t, seamless ? sizeof *t : offsetof(struct cudaTextureDesc, seamlessCubemap));
    e = keep(s, handle, &o);
    if (e == cudaSuccess)
        *out = handle;
    return e;
}

WG_API(cudaCreateTextureObject, CONTEXT,
       (uint64_t *out, const struct cudaResourceDesc *r, const struct cudaTextureDesc *t,
        const struct cudaResourceViewDesc *v),
       (out, r, t, v))
{
    return wg_object_create(s, out, r, t, v, WG_CUDART_MAJOR >= 12);
}

WG_API(cudaCreateTextureObject_v2, CONTEXT,
       (uint64_t *out, const struct cudaResourceDesc *r, const struct cudaTextureDesc *t,
        const struct cudaResourceViewDesc *v),
       (out, r, t, v))
{
    return wg_object_create(s, out, r, t, v, true);
}

WG_API(cudaCreateSurfaceObject, CONTEXT, (uint64_t *out, const struct cudaResourceDesc *r), (out, r))
{
    struct wg_image im = {0};
    uint64_t handle;
    if (!out || !r)
        return cudaErrorInvalidValue;
    if (r->resType != cudaResourceTypeArray) /* documented: nothing else can be a surface */
        return cudaErrorInvalidValue;
    enum cudaError e = of_array(s, r->res.array.array, false, &im);
    if (e != cudaSuccess)
        return e;
    if (!(wg_array_find(s, r->res.array.array)->flags & cudaArraySurfaceLoadStore))
        return cudaErrorInvalidValue;
    enum wg_status st = wg_surface_create(s->g, &im, &handle);
    if (st != WG_OK)
        return wg_shim_error(st);
    e = keep(s, handle, &(struct wg_object){.surface = true, .resource = *r});
    if (e == cudaSuccess)
        *out = handle;
    return e;
}

enum cudaError wg_object_destroy(struct wg_shim *s, uint64_t handle, bool surface)
{
    struct wg_object *o = object_at(s, handle, surface);
    if (!handle)
        return cudaSuccess;
    if (!o)
        return cudaErrorInvalidValue;
    enum wg_status st = wg_texture_destroy(s->g, handle);
    HASH_DEL(s->objects, o);
    free(o);
    return wg_shim_error(st);
}

WG_API(cudaDestroyTextureObject, CONTEXT, (uint64_t handle), (handle))
{
    return wg_object_destroy(s, handle, false);
}
WG_API(cudaDestroySurfaceObject, CONTEXT, (uint64_t handle), (handle))
{
    return wg_object_destroy(s, handle, true);
}

/* WG_GIVE(call, kind of object, type, member): answers with what the object was made from. */
#define WG_GIVE(call, surface, type, member)                                                                           \
    WG_API(call, CONTEXT, (struct type * out, uint64_t handle), (out, handle))                                         \
    {                                                                                                                  \
        const struct wg_object *o = object_at(s, handle, surface);                                                     \
        if (!out || !o)                                                                                                \
            return cudaErrorInvalidValue;                                                                              \
        *out = o->member;                                                                                              \
        return cudaSuccess;                                                                                            \
    }
WG_GIVE(cudaGetTextureObjectResourceDesc, false, cudaResourceDesc, resource)
WG_GIVE(cudaGetTextureObjectResourceViewDesc, false, cudaResourceViewDesc, view)
WG_GIVE(cudaGetTextureObjectTextureDesc_v2, false, cudaTextureDesc, texture)
WG_GIVE(cudaGetSurfaceObjectResourceDesc, true, cudaResourceDesc, resource)

WG_API(cudaGetTextureObjectTextureDesc, CONTEXT, (struct cudaTextureDesc * out, uint64_t handle), (out, handle))
{
    const struct wg_object *o = object_at(s, handle, false);
    if (!out || !o)
        return cudaErrorInvalidValue;
    memcpy(out, &o->texture, WG_CUDART_MAJOR >= 12 ? sizeof *out : offsetof(struct cudaTextureDesc, seamlessCubemap));
    return cudaSuccess;
}

WG_API(cudaDeviceGetTexture1DLinearMaxWidth, GPU, (size_t *out, const struct cudaChannelFormatDesc *f, int device),
       (out, f, device))
{
    if (!out || !f || !channels_of(f))
        return cudaErrorInvalidValue;
    if (device != 0)
        return cudaErrorInvalidDevice;
    *out = (size_t)1 << 28; /* elements: the device attribute's value, which is that of elements up to 16 bytes */
    return cudaSuccess;
}
