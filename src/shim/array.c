/* array.c - CUDA arrays and mipmapped arrays: memory with a shape and a format, and the copies that go to and from it.
 * A GPU stores them in an order of its own; here rows follow each other, so that a copy is a copy. */
#include "shim/state.h"
#include <stdlib.h>
#include <string.h>

struct wg_array *wg_array_find(struct wg_shim *s, const void *handle)
{
    struct wg_array *a = NULL;
    HASH_FIND_PTR(s->arrays, &handle, a);
    return a;
}

static size_t rows_of(const struct wg_array *a)
{
    return a->extent.height ? a->extent.height : 1;
}
static size_t planes_of(const struct wg_array *a)
{
    return a->extent.depth ? a->extent.depth : 1;
}

uint64_t wg_array_element(const struct wg_array *a, size_t x, size_t y, size_t z)
{
    return a->base + ((z * rows_of(a) + y) * a->extent.width + x) * a->element;
}

static void forget(struct wg_shim *s, struct wg_array *a)
{
    for (unsigned i = 0; i < a->levels; i++)
        if (a->level[i]) {
            HASH_DEL(s->arrays, a->level[i]);
            free(a->level[i]);
        }
    free(a->level);
    HASH_DEL(s->arrays, a);
    free(a);
}

void wg_array_free_all(struct wg_shim *s)
{
    struct wg_array *a;
    for (bool more = true; more;) { /* a mipmap takes its levels along */
        more = false;
        for (a = s->arrays; a && a->parent; a = a->hh.next)
            ;
        if (a) {
            wg_free(s->g, a->base);
            forget(s, a);
            more = true;
        }
    }
}

/* ---- formats -------------------------------------------------------------------------------------------------- */

WG_EXPORT struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int f);
struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int f)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}

/* Bytes of an element, or 0: one, two or four channels of one width, 8, 16 or 32 bits; floats have no 8. */
static unsigned element_of(const struct cudaChannelFormatDesc *f)
{
    const int c[4] = {f->x, f->y, f->z, f->w};
    int n = 0;
    while (n < 4 && c[n])
        n++;
    for (int i = 0; i < 4; i++)
        if (c[i] != (i < n ? c[0] : 0))
            return 0;
    const bool width = c[0] == 8 || c[0] == 16 || c[0] == 32;
    if (n == 0 || n == 3 || !width || f->f < 0 || f->f > cudaChannelFormatKindFloat ||
        (f->f == cudaChannelFormatKindFloat && c[0] == 8))
        return 0;
    return (unsigned)(n * c[0] / 8);
}

/* ---- allocation ----------------------------------------------------------------------------------------------- */

static struct wg_array *new_array(struct wg_shim *s, const struct cudaChannelFormatDesc *f, struct cudaExtent e,
                                  unsigned flags)
{
    struct wg_array *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    *a = (struct wg_array){.handle = a, .format = *f, .extent = e, .flags = flags, .element = element_of(f)};
    HASH_ADD_PTR(s->arrays, handle, a);
    return a;
}

static size_t bytes_of(const struct wg_array *a)
{
    return a->extent.width * rows_of(a) * planes_of(a) * a->element;
}

/* What the flags ask of the shape (Programming Guide, layered and cubemap textures). */
static enum cudaError check_shape(const struct cudaChannelFormatDesc *f, struct cudaExtent e, unsigned flags)
{
    const unsigned known = cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
    if (!f || !element_of(f) || e.width == 0 || (flags & ~known))
        return cudaErrorInvalidValue;
    if (flags & cudaArrayCubemap)
        return e.width == e.height && (flags & cudaArrayLayered ? e.depth && e.depth % 6 == 0 : e.depth == 6)
                   ? cudaSuccess
                   : cudaErrorInvalidValue;
    if (flags & cudaArrayLayered)
        return e.depth ? cudaSuccess : cudaErrorInvalidValue;
    if ((e.depth && !e.height) || ((flags & cudaArrayTextureGather) && (!e.height || e.depth)))
        return cudaErrorInvalidValue;
    return e.width < 1u << 30 && e.height < 1u << 30 && e.depth < 1u << 20 ? cudaSuccess : cudaErrorInvalidValue;
}

static enum cudaError allocate(struct wg_shim *s, void **out, const struct cudaChannelFormatDesc *f,
                               struct cudaExtent e, unsigned levels, unsigned flags)
{
    enum { ALIGN = 512 };
    if (!out)
        return cudaErrorInvalidValue;
    if (flags & (cudaArraySparse | cudaArrayDeferredMapping))
        return wg_shim_refuse("cudaMallocArray", "sparse arrays and arrays mapped later");
    enum cudaError err = check_shape(f, e, flags);
    struct wg_array *a = err == cudaSuccess ? new_array(s, f, e, flags) : NULL;
    if (err != cudaSuccess || !a)
        return a ? err : err == cudaSuccess ? cudaErrorMemoryAllocation : err;
    unsigned most = 1;
    for (size_t n = e.width > e.height ? e.width : e.height; n > 1; n /= 2)
        most++;
    size_t bytes = bytes_of(a);
    if (levels) {
        a->levels = levels > most ? most : levels;
        a->level = calloc(a->levels, sizeof(struct wg_array *));
        bytes = 0;
        for (unsigned i = 0; a->level && i < a->levels; i++) {
            const bool layers = flags & (cudaArrayLayered | cudaArrayCubemap);
            const struct cudaExtent at = {e.width >> i ? e.width >> i : 1,
                                          e.height ? e.height >> i ? e.height >> i : 1 : 0,
                                          layers || !e.depth ? e.depth
                                          : e.depth >> i     ? e.depth >> i
                                                             : 1};
            if (!(a->level[i] = new_array(s, f, at, flags)))
                break;
            a->level[i]->parent = a;
            a->level[i]->base = bytes; /* an offset until the memory is there */
            bytes += (bytes_of(a->level[i]) + ALIGN - 1) / ALIGN * ALIGN;
        }
    }
    if (levels && (!a->level || !a->level[a->levels - 1])) {
        forget(s, a);
        return cudaErrorMemoryAllocation;
    }
    enum wg_status st = wg_alloc(s->g, bytes, ALIGN, &a->base);
    if (st != WG_OK) {
        forget(s, a);
        return st == WG_NO_DEVICE_MEMORY || st == WG_NO_MEMORY ? cudaErrorMemoryAllocation : wg_shim_error(st);
    }
    wg_host_writes(s->g, a->base, bytes); /* through surfaces and copies: nothing is said about unwritten texels */
    for (unsigned i = 0; i < a->levels; i++)
        a->level[i]->base += a->base;
    *out = a->handle;
    return cudaSuccess;
}

WG_API(cudaMallocArray, CONTEXT,
       (void **out, const struct cudaChannelFormatDesc *f, size_t width, size_t height, unsigned flags),
       (out, f, width, height, flags))
{
    return allocate(s, out, f, (struct cudaExtent){width, height, 0}, 0, flags);
}

WG_API(cudaMalloc3DArray, CONTEXT,
       (void **out, const struct cudaChannelFormatDesc *f, struct cudaExtent e, unsigned flags), (out, f, e, flags))
{
    return allocate(s, out, f, e, 0, flags);
}

WG_API(cudaMallocMipmappedArray, CONTEXT,
       (void **out, const struct cudaChannelFormatDesc *f, struct cudaExtent e, unsigned levels, unsigned flags),
       (out, f, e, levels, flags))
{
    return levels ? allocate(s, out, f, e, levels, flags) : cudaErrorInvalidValue;
}

WG_API(cudaGetMipmappedArrayLevel, CONTEXT, (void **out, const void *mip, unsigned level), (out, mip, level))
{
    struct wg_array *a = wg_array_find(s, mip);
    if (!out || !a || level >= a->levels)
        return cudaErrorInvalidValue;
    *out = a->level[level]->handle;
    return cudaSuccess;
}

static enum cudaError release(struct wg_shim *s, void *handle, bool mipmap)
{
    struct wg_array *a = wg_array_find(s, handle);
    if (!handle)
        return cudaSuccess;
    if (!a || a->parent || mipmap != (a->levels != 0))
        return cudaErrorInvalidResourceHandle;
    enum wg_status st = wg_free(s->g, a->base);
    forget(s, a);
    return wg_shim_error(st);
}

WG_API(cudaFreeArray, CONTEXT, (void *array), (array))
{
    return release(s, array, false);
}
WG_API(cudaFreeMipmappedArray, CONTEXT, (void *array), (array))
{
    return release(s, array, true);
}

WG_API(cudaArrayGetInfo, CONTEXT,
       (struct cudaChannelFormatDesc * f, struct cudaExtent *e, unsigned *flags, const void *array),
       (f, e, flags, array))
{
    const struct wg_array *a = wg_array_find(s, array);
    if (!a)
        return cudaErrorInvalidResourceHandle;
    if (f)
        *f = a->format;
    if (e)
        *e = a->extent;
    if (flags)
        *flags = a->flags;
    return cudaSuccess;
}

WG_API(cudaGetChannelDesc, CONTEXT, (struct cudaChannelFormatDesc * f, const void *array), (f, array))
{
    const struct wg_array *a = wg_array_find(s, array);
    if (!f || !a)
        return !f ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    *f = a->format;
    return cudaSuccess;
}

/* ---- copies --------------------------------------------------------------------------------------------------- */

/* One end of a copy: an array and a place in it (elements), or plain memory. */
struct end {
    struct wg_array *array;
    char *at;
    size_t pitch, plane; /* bytes */
};

static bool array_end(struct wg_array *a, struct cudaPos at, struct cudaExtent e, struct end *out)
{
    if (!a || a->levels || at.x + e.width > a->extent.width || at.y + e.height > rows_of(a) ||
        at.z + e.depth > planes_of(a))
        return false;
    *out = (struct end){a, (char *)(uintptr_t)wg_array_element(a, at.x, at.y, at.z), a->extent.width * a->element,
                        a->extent.width * a->element * rows_of(a)};
    return true;
}

/* The direction says where plain memory lies; an array is always on the device. */
static enum cudaError copy(struct wg_shim *s, const struct end *dst, const struct end *src, size_t width, size_t rows,
                           size_t planes, int kind, void *stream)
{
    if ((dst->array && kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice &&
         kind != cudaMemcpyDefault) ||
        (src->array && kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault))
        return cudaErrorInvalidMemcpyDirection;
    return wg_copy_box(
        s, &(struct wg_box){dst->at, src->at, width, rows, planes, dst->pitch, src->pitch, dst->plane, src->plane},
        kind, stream);
}

enum cudaError wg_array_copy3d(struct wg_shim *s, const struct cudaMemcpy3DParms *p, void *stream)
{
    struct wg_array *da = wg_array_find(s, p->dstArray), *sa = wg_array_find(s, p->srcArray);
    struct end d, r;
    if ((p->dstArray && !da) || (p->srcArray && !sa))
        return cudaErrorInvalidResourceHandle;
    if ((p->dstArray && p->dstPtr.ptr) || (p->srcArray && p->srcPtr.ptr))
        return cudaErrorInvalidValue;
    const unsigned element = da ? da->element : sa->element; /* the extent counts these */
    if (da && sa && da->element != sa->element)
        return cudaErrorInvalidValue;
    if (da && !array_end(da, p->dstPos, p->extent, &d))
        return cudaErrorInvalidValue;
    if (sa && !array_end(sa, p->srcPos, p->extent, &r))
        return cudaErrorInvalidValue;
    const struct cudaPitchedPtr *plain[2] = {&p->dstPtr, &p->srcPtr};
    const struct cudaPos *at[2] = {&p->dstPos, &p->srcPos};
    for (int i = 0; i < 2; i++) {
        struct end *e = i ? &r : &d;
        if (i ? sa != NULL : da != NULL)
            continue;
        const struct cudaPitchedPtr *q = plain[i];
        if (!q->ptr)
            return cudaErrorInvalidValue;
        if (p->extent.width * element + at[i]->x > q->pitch && (p->extent.height > 1 || p->extent.depth > 1))
            return cudaErrorInvalidPitchValue;
        *e = (struct end){NULL, (char *)q->ptr + at[i]->z * q->pitch * q->ysize + at[i]->y * q->pitch + at[i]->x,
                          q->pitch, q->pitch * q->ysize};
    }
    return copy(s, &d, &r, p->extent.width * element, p->extent.height, p->extent.depth, p->kind, stream);
}

/* width counts bytes and must be whole elements; so does the x of a place. */
static bool plane_end(struct wg_shim *s, const void *handle, size_t x, size_t y, size_t width, size_t height,
                      struct end *out)
{
    struct wg_array *a = wg_array_find(s, handle);
    return a && x % a->element == 0 && width % a->element == 0 &&
           array_end(a, (struct cudaPos){x / a->element, y, 0}, (struct cudaExtent){width / a->element, height, 1},
                     out);
}

static enum cudaError to_array(struct wg_shim *s, void *dst, size_t x, size_t y, const void *src, size_t pitch,
                               size_t width, size_t height, int kind, void *stream)
{
    struct end d, r = {NULL, (char *)(uintptr_t)src, pitch, 0};
    if (!plane_end(s, dst, x, y, width, height, &d) || !src)
        return wg_array_find(s, dst) ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    if (width > pitch && height > 1)
        return cudaErrorInvalidPitchValue;
    return copy(s, &d, &r, width, height, 1, kind, stream);
}

static enum cudaError from_array(struct wg_shim *s, void *dst, size_t pitch, const void *src, size_t x, size_t y,
                                 size_t width, size_t height, int kind, void *stream)
{
    struct end r, d = {NULL, dst, pitch, 0};
    if (!plane_end(s, src, x, y, width, height, &r) || !dst)
        return wg_array_find(s, src) ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    if (width > pitch && height > 1)
        return cudaErrorInvalidPitchValue;
    return copy(s, &d, &r, width, height, 1, kind, stream);
}

WG_API(cudaMemcpy2DToArray, CONTEXT,
       (void *dst, size_t x, size_t y, const void *src, size_t pitch, size_t width, size_t height, int kind),
       (dst, x, y, src, pitch, width, height, kind))
{
    return to_array(s, dst, x, y, src, pitch, width, height, kind, NULL);
}
WG_PTDS(cudaMemcpy2DToArray, (void *, size_t, size_t, const void *, size_t, size_t, size_t, int));

WG_API(cudaMemcpy2DToArrayAsync, CONTEXT,
       (void *dst, size_t x, size_t y, const void *src, size_t pitch, size_t width, size_t height, int kind,
        void *stream),
       (dst, x, y, src, pitch, width, height, kind, stream))
{
    return to_array(s, dst, x, y, src, pitch, width, height, kind, stream);
}
WG_PTSZ(cudaMemcpy2DToArrayAsync, (void *, size_t, size_t, const void *, size_t, size_t, size_t, int, void *));

WG_API(cudaMemcpy2DFromArray, CONTEXT,
       (void *dst, size_t pitch, const void *src, size_t x, size_t y, size_t width, size_t height, int kind),
       (dst, pitch, src, x, y, width, height, kind))
{
    return from_array(s, dst, pitch, src, x, y, width, height, kind, NULL);
}
WG_PTDS(cudaMemcpy2DFromArray, (void *, size_t, const void *, size_t, size_t, size_t, size_t, int));

WG_API(cudaMemcpy2DFromArrayAsync, CONTEXT,
       (void *dst, size_t pitch, const void *src, size_t x, size_t y, size_t width, size_t height, int kind,
        void *stream),
       (dst, pitch, src, x, y, width, height, kind, stream))
{
    return from_array(s, dst, pitch, src, x, y, width, height, kind, stream);
}
WG_PTSZ(cudaMemcpy2DFromArrayAsync, (void *, size_t, const void *, size_t, size_t, size_t, size_t, int, void *));

WG_API(cudaMemcpy2DArrayToArray, CONTEXT,
       (void *dst, size_t dx, size_t dy, const void *src, size_t sx, size_t sy, size_t width, size_t height, int kind),
       (dst, dx, dy, src, sx, sy, width, height, kind))
{
    struct end d, r;
    if (!plane_end(s, dst, dx, dy, width, height, &d) || !plane_end(s, src, sx, sy, width, height, &r) ||
        d.array->element != r.array->element)
        return cudaErrorInvalidValue;
    return copy(s, &d, &r, width, height, 1, kind, NULL);
}
WG_PTDS(cudaMemcpy2DArrayToArray, (void *, size_t, size_t, const void *, size_t, size_t, size_t, size_t, int));

/* The old forms count bytes from a place on, over the ends of rows. */
static char *stretch(struct wg_shim *s, const void *handle, size_t x, size_t y, size_t bytes)
{
    struct wg_array *a = wg_array_find(s, handle);
    if (!a || a->levels || x % a->element || y >= rows_of(a) || x > a->extent.width * a->element)
        return NULL;
    const size_t from = y * a->extent.width * a->element + x, all = bytes_of(a) / planes_of(a);
    return bytes <= all - from ? (char *)(uintptr_t)(a->base + from) : NULL;
}

static enum cudaError copy_stretch(struct wg_shim *s, char *dst, const char *src, size_t n, int kind, void *stream)
{
    if (!dst || !src)
        return cudaErrorInvalidValue;
    return wg_copy_box(s, &(struct wg_box){.dst = dst, .src = src, .width = n, .rows = 1, .planes = 1}, kind, stream);
}

WG_API(cudaMemcpyToArray, CONTEXT, (void *dst, size_t x, size_t y, const void *src, size_t n, int kind),
       (dst, x, y, src, n, kind))
{
    return copy_stretch(s, stretch(s, dst, x, y, n), src, n, kind, NULL);
}
WG_PTDS(cudaMemcpyToArray, (void *, size_t, size_t, const void *, size_t, int));

WG_API(cudaMemcpyToArrayAsync, CONTEXT,
       (void *dst, size_t x, size_t y, const void *src, size_t n, int kind, void *stream),
       (dst, x, y, src, n, kind, stream))
{
    return copy_stretch(s, stretch(s, dst, x, y, n), src, n, kind, stream);
}
WG_PTSZ(cudaMemcpyToArrayAsync, (void *, size_t, size_t, const void *, size_t, int, void *));

WG_API(cudaMemcpyFromArray, CONTEXT, (void *dst, const void *src, size_t x, size_t y, size_t n, int kind),
       (dst, src, x, y, n, kind))
{
    return copy_stretch(s, dst, stretch(s, src, x, y, n), n, kind, NULL);
}
WG_PTDS(cudaMemcpyFromArray, (void *, const void *, size_t, size_t, size_t, int));

WG_API(cudaMemcpyFromArrayAsync, CONTEXT,
       (void *dst, const void *src, size_t x, size_t y, size_t n, int kind, void *stream),
       (dst, src, x, y, n, kind, stream))
{
    return copy_stretch(s, dst, stretch(s, src, x, y, n), n, kind, stream);
}
WG_PTSZ(cudaMemcpyFromArrayAsync, (void *, const void *, size_t, size_t, size_t, int, void *));

WG_API(cudaMemcpyArrayToArray, CONTEXT,
       (void *dst, size_t dx, size_t dy, const void *src, size_t sx, size_t sy, size_t n, int kind),
       (dst, dx, dy, src, sx, sy, n, kind))
{
    return copy_stretch(s, stretch(s, dst, dx, dy, n), stretch(s, src, sx, sy, n), n, kind, NULL);
}
WG_PTDS(cudaMemcpyArrayToArray, (void *, size_t, size_t, const void *, size_t, size_t, size_t, int));
