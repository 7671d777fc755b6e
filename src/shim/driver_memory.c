/* driver_memory.c - the driver API: memory, copies, fills, arrays, textures and tensor maps. */
#include "shim/driver.h"
#include <string.h>

static void *at(uint64_t p)
{
    return (void *)(uintptr_t)p;
}

/* ---- allocation -----------------------------------------------------------------------------------------------------
 */

WG_EXPORT int cudaMalloc(void **, size_t);
WG_EXPORT int cudaMallocPitch(void **, size_t *, size_t, size_t);
WG_EXPORT int cudaMallocManaged(void **, size_t, unsigned);
WG_EXPORT int cudaMallocHost(void **, size_t);
WG_EXPORT int cudaHostAlloc(void **, size_t, unsigned);
WG_EXPORT int cudaHostGetDevicePointer(void **, void *, unsigned);
WG_EXPORT int cudaHostGetFlags(unsigned *, void *);
WG_EXPORT int cudaHostRegister(void *, size_t, unsigned);
WG_EXPORT int cudaHostUnregister(void *);
WG_EXPORT int cudaFree(void *);
WG_EXPORT int cudaFreeHost(void *);
WG_EXPORT int cudaMemGetInfo(size_t *, size_t *);
WG_EXPORT int cudaMallocAsync(void **, size_t, void *);
WG_EXPORT int cudaMallocFromPoolAsync(void **, size_t, void *, void *);
WG_EXPORT int cudaFreeAsync(void *, void *);
WG_EXPORT int cudaMemPrefetchAsync_v2(const void *, size_t, struct cudaMemLocation, unsigned, void *);
WG_EXPORT int cudaMemAdvise_v2(const void *, size_t, int, struct cudaMemLocation);

/* The driver takes no size of zero, where the runtime gives a null pointer. */
#define SOME(bytes, call) ((bytes) ? (call) : (int)cudaErrorInvalidValue)
WG_SAME(cuMemAlloc_v2, CONTEXT, (uint64_t *out, size_t n), SOME(n, cudaMalloc((void **)out, n)))
WG_SAME(cuMemAllocPitch_v2, CONTEXT, (uint64_t *out, size_t *pitch, size_t width, size_t height, unsigned element),
        element == 4 || element == 8 || element == 16
            ? SOME(width && height, cudaMallocPitch((void **)out, pitch, width, height))
            : (int)cudaErrorInvalidValue)
WG_SAME(cuMemAllocManaged, CONTEXT, (uint64_t *out, size_t n, unsigned flags),
        SOME(n, cudaMallocManaged((void **)out, n, flags)))
WG_SAME(cuMemFree_v2, CONTEXT, (uint64_t p), cudaFree(at(p)))
WG_SAME(cuMemAllocHost_v2, CONTEXT, (void **out, size_t n), SOME(n, cudaMallocHost(out, n)))
WG_SAME(cuMemHostAlloc, CONTEXT, (void **out, size_t n, unsigned flags), SOME(n, cudaHostAlloc(out, n, flags)))
WG_SAME(cuMemFreeHost, CONTEXT, (void *p), cudaFreeHost(p))
WG_SAME(cuMemHostGetDevicePointer_v2, CONTEXT, (uint64_t *out, void *p, unsigned flags),
        cudaHostGetDevicePointer((void **)out, p, flags))
WG_SAME(cuMemHostGetFlags, CONTEXT, (unsigned *out, void *p), cudaHostGetFlags(out, p))
WG_SAME(cuMemHostRegister_v2, CONTEXT, (void *p, size_t n, unsigned flags), cudaHostRegister(p, n, flags))
WG_SAME(cuMemHostUnregister, CONTEXT, (void *p), cudaHostUnregister(p))
WG_SAME(cuMemGetInfo_v2, CONTEXT, (size_t *a, size_t *t), cudaMemGetInfo(a, t))
WG_SAME(cuMemAllocAsync, CONTEXT, (uint64_t *out, size_t n, void *t), SOME(n, cudaMallocAsync((void **)out, n, t)))
WG_DRIVER_PTSZ(cuMemAllocAsync, (uint64_t *, size_t, void *));
WG_SAME(cuMemAllocFromPoolAsync, CONTEXT, (uint64_t *out, size_t n, void *pool, void *t),
        SOME(n, cudaMallocFromPoolAsync((void **)out, n, pool, t)))
WG_DRIVER_PTSZ(cuMemAllocFromPoolAsync, (uint64_t *, size_t, void *, void *));
WG_SAME(cuMemFreeAsync, CONTEXT, (uint64_t p, void *t), cudaFreeAsync(at(p), t))
WG_DRIVER_PTSZ(cuMemFreeAsync, (uint64_t, void *));
WG_SAME(cuMemAdvise_v2, CONTEXT, (uint64_t p, size_t n, int advice, struct cudaMemLocation l),
        cudaMemAdvise_v2(at(p), n, advice, l))
WG_SAME(cuMemPrefetchAsync_v2, CONTEXT, (uint64_t p, size_t n, struct cudaMemLocation l, unsigned flags, void *t),
        cudaMemPrefetchAsync_v2(at(p), n, l, flags, t))
WG_DRIVER_PTSZ(cuMemPrefetchAsync_v2, (uint64_t, size_t, struct cudaMemLocation, unsigned, void *));

WG_DRIVER(cuMemGetAddressRange_v2, CONTEXT, (uint64_t *base, size_t *bytes, uint64_t p), (base, bytes, p))
{
    const struct wg_mem *m = wg_mem_find(s, p);
    uint64_t b = m ? m->base : 0;
    size_t n = m ? m->bytes : 0;
    if (!m && wg_find_alloc(s->g, p, &b, &n) != WG_OK) /* a variable */
        return cudaErrorInvalidSymbol;                 /* CUDA_ERROR_NOT_FOUND */
    if (base)
        *base = b;
    if (bytes)
        *bytes = n;
    return cudaSuccess;
}

/* enum CUpointer_attribute */
enum {
    PTR_CONTEXT = 1,
    PTR_MEMORY_TYPE = 2,
    PTR_DEVICE_POINTER = 3,
    PTR_HOST_POINTER = 4,
    PTR_IS_MANAGED = 8,
    PTR_ORDINAL = 9,
    PTR_RANGE_START = 11,
    PTR_RANGE_SIZE = 12,
    PTR_MAPPED = 13
};
WG_DRIVER(cuPointerGetAttribute, CONTEXT, (void *out, int attr, uint64_t p), (out, attr, p))
{
    const struct wg_mem *m = wg_mem_find(s, p);
    uint64_t base = m ? m->base : 0;
    size_t bytes = m ? m->bytes : 0;
    if (!out || (!m && wg_find_alloc(s->g, p, &base, &bytes) != WG_OK))
        return cudaErrorInvalidValue;
    switch (attr) {
    case PTR_MEMORY_TYPE:
        *(unsigned *)out = m && m->kind == WG_MEM_HOST ? 1 : 2;
        break; /* host, device */
    case PTR_DEVICE_POINTER:
        *(uint64_t *)out = p;
        break;
    case PTR_HOST_POINTER:
        if (!m || (m->kind != WG_MEM_HOST && m->kind != WG_MEM_MANAGED))
            return cudaErrorInvalidValue;
        *(void **)out = at(p);
        break;
    case PTR_IS_MANAGED:
        *(unsigned *)out = m && m->kind == WG_MEM_MANAGED;
        break;
    case PTR_ORDINAL:
        *(int *)out = 0;
        break;
    case PTR_RANGE_START:
        *(uint64_t *)out = base;
        break;
    case PTR_RANGE_SIZE:
        *(size_t *)out = bytes;
        break;
    case PTR_MAPPED:
        *(unsigned *)out = 1;
        break;
    default:
        return wg_shim_refuse("cuPointerGetAttribute", "an attribute other than type, range and addresses");
    }
    return cudaSuccess;
}

/* ---- copies ---------------------------------------------------------------------------------------------------------
 */

WG_EXPORT int cudaMemcpy(void *, const void *, size_t, int);
WG_EXPORT int cudaMemcpyAsync(void *, const void *, size_t, int, void *);
#define LINE(name, params, dst, src, kind)                                                                             \
    WG_SAME(name, CONTEXT, params, cudaMemcpy(dst, src, n, kind))                                                      \
    WG_DRIVER_PTDS(name, params)
#define LINE_ASYNC(name, params, dst, src, kind)                                                                       \
    WG_SAME(name, CONTEXT, params, cudaMemcpyAsync(dst, src, n, kind, t))                                              \
    WG_DRIVER_PTSZ(name, params)
LINE(cuMemcpy, (uint64_t d, uint64_t r, size_t n), at(d), at(r), cudaMemcpyDefault);
LINE(cuMemcpyHtoD_v2, (uint64_t d, const void *r, size_t n), at(d), r, cudaMemcpyHostToDevice);
LINE(cuMemcpyDtoH_v2, (void *d, uint64_t r, size_t n), d, at(r), cudaMemcpyDeviceToHost);
LINE(cuMemcpyDtoD_v2, (uint64_t d, uint64_t r, size_t n), at(d), at(r), cudaMemcpyDeviceToDevice);
LINE(cuMemcpyPeer, (uint64_t d, void *dc, uint64_t r, void *rc, size_t n), at(d), ((void)dc, (void)rc, at(r)),
     cudaMemcpyDeviceToDevice);
LINE_ASYNC(cuMemcpyAsync, (uint64_t d, uint64_t r, size_t n, void *t), at(d), at(r), cudaMemcpyDefault);
LINE_ASYNC(cuMemcpyHtoDAsync_v2, (uint64_t d, const void *r, size_t n, void *t), at(d), r, cudaMemcpyHostToDevice);
LINE_ASYNC(cuMemcpyDtoHAsync_v2, (void *d, uint64_t r, size_t n, void *t), d, at(r), cudaMemcpyDeviceToHost);
LINE_ASYNC(cuMemcpyDtoDAsync_v2, (uint64_t d, uint64_t r, size_t n, void *t), at(d), at(r), cudaMemcpyDeviceToDevice);

/* One end of a shaped copy: enum CUmemorytype HOST, DEVICE, ARRAY, UNIFIED. */
struct end {
    size_t x, y, z;
    unsigned type;
    const void *host;
    uint64_t device;
    void *array;
    size_t pitch, height;
};

static enum cudaError place(struct wg_shim *s, const struct end *e, size_t width, size_t rows, size_t planes, char **p,
                            size_t *pitch, size_t *plane)
{
    if (e->type == 3) {
        const struct wg_array *a = wg_array_find(s, e->array);
        const size_t h = a && a->extent.height ? a->extent.height : 1, d = a && a->extent.depth ? a->extent.depth : 1;
        if (!a || a->levels)
            return cudaErrorInvalidResourceHandle;
        if (e->x % a->element || e->x + width > a->extent.width * a->element || e->y + rows > h || e->z + planes > d)
            return cudaErrorInvalidValue;
        *p = at(wg_array_element(a, e->x / a->element, e->y, e->z));
        *pitch = a->extent.width * a->element;
        *plane = *pitch * h;
        return cudaSuccess;
    }
    if (e->type != 1 && e->type != 2 && e->type != 4)
        return cudaErrorInvalidValue;
    *pitch = e->pitch ? e->pitch : width; /* documented: 0 means packed where there is one row */
    *plane = *pitch * (e->height ? e->height : rows);
    *p = (e->type == 1 ? (char *)(uintptr_t)e->host : (char *)at(e->device)) + e->z * *plane + e->y * *pitch + e->x;
    return *pitch < e->x + width && rows > 1 ? cudaErrorInvalidValue : cudaSuccess;
}

static enum cudaError shaped(struct wg_shim *s, const struct end *d, const struct end *r, size_t width, size_t rows,
                             size_t planes, void *stream)
{
    struct wg_box b = {.width = width, .rows = rows, .planes = planes};
    char *src;
    enum cudaError e = place(s, d, width, rows, planes, &b.dst, &b.dpitch, &b.dplane);
    if (e == cudaSuccess)
        e = place(s, r, width, rows, planes, &src, &b.spitch, &b.splane);
    if (e != cudaSuccess)
        return e;
    b.src = src;
    return wg_copy_box(s, &b, cudaMemcpyDefault, stream);
}

struct CUDA_MEMCPY2D {
    size_t sx, sy;
    unsigned stype;
    const void *shost;
    uint64_t sdevice;
    void *sarray;
    size_t spitch, dx, dy;
    unsigned dtype;
    void *dhost;
    uint64_t ddevice;
    void *darray;
    size_t dpitch, width, height;
};
static enum cudaError copy2d(struct wg_shim *s, const struct CUDA_MEMCPY2D *c, void *stream)
{
    return !c ? cudaErrorInvalidValue
              : shaped(s, &(struct end){c->dx, c->dy, 0, c->dtype, c->dhost, c->ddevice, c->darray, c->dpitch, 0},
                       &(struct end){c->sx, c->sy, 0, c->stype, c->shost, c->sdevice, c->sarray, c->spitch, 0},
                       c->width, c->height, 1, stream);
}
WG_DRIVER(cuMemcpy2D_v2, CONTEXT, (const struct CUDA_MEMCPY2D *c), (c))
{
    return copy2d(s, c, NULL);
}
WG_DRIVER_PTDS(cuMemcpy2D_v2, (const struct CUDA_MEMCPY2D *));
WG_ALIAS(cuMemcpy2DUnaligned_v2, cuMemcpy2D_v2, (const struct CUDA_MEMCPY2D *));
WG_ALIAS(cuMemcpy2DUnaligned_v2_ptds, cuMemcpy2D_v2, (const struct CUDA_MEMCPY2D *));
WG_DRIVER(cuMemcpy2DAsync_v2, CONTEXT, (const struct CUDA_MEMCPY2D *c, void *stream), (c, stream))
{
    return copy2d(s, c, stream);
}
WG_DRIVER_PTSZ(cuMemcpy2DAsync_v2, (const struct CUDA_MEMCPY2D *, void *));

struct CUDA_MEMCPY3D {
    size_t sx, sy, sz, slod;
    unsigned stype;
    const void *shost;
    uint64_t sdevice;
    void *sarray, *reserved0;
    size_t spitch, sheight, dx, dy, dz, dlod;
    unsigned dtype;
    void *dhost;
    uint64_t ddevice;
    void *darray, *reserved1;
    size_t dpitch, dheight, width, height, depth;
};
static enum cudaError copy3d(struct wg_shim *s, const struct CUDA_MEMCPY3D *c, void *stream)
{
    return !c || c->slod || c->dlod ? cudaErrorInvalidValue
                                    : shaped(s,
                                             &(struct end){c->dx, c->dy, c->dz, c->dtype, c->dhost, c->ddevice,
                                                           c->darray, c->dpitch, c->dheight},
                                             &(struct end){c->sx, c->sy, c->sz, c->stype, c->shost, c->sdevice,
                                                           c->sarray, c->spitch, c->sheight},
                                             c->width, c->height, c->depth, stream);
}
WG_DRIVER(cuMemcpy3D_v2, CONTEXT, (const struct CUDA_MEMCPY3D *c), (c))
{
    return copy3d(s, c, NULL);
}
WG_DRIVER_PTDS(cuMemcpy3D_v2, (const struct CUDA_MEMCPY3D *));
WG_DRIVER(cuMemcpy3DAsync_v2, CONTEXT, (const struct CUDA_MEMCPY3D *c, void *stream), (c, stream))
{
    return copy3d(s, c, stream);
}
WG_DRIVER_PTSZ(cuMemcpy3DAsync_v2, (const struct CUDA_MEMCPY3D *, void *));

/* Bytes of an array's first row onwards. */
static enum cudaError array_line(struct wg_shim *s, void *array, size_t offset, void *other, size_t n, bool to)
{
    const struct wg_array *a = wg_array_find(s, array);
    if (!a || a->levels || !other ||
        offset + n > a->extent.width * a->element * (a->extent.height ? a->extent.height : 1))
        return a ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    char *p = (char *)at(a->base) + offset;
    const struct wg_box b = {.dst = to ? p : other, .src = to ? other : p, .width = n, .rows = 1, .planes = 1};
    return wg_copy_box(s, &b, cudaMemcpyDefault, NULL);
}
WG_DRIVER(cuMemcpyHtoA_v2, CONTEXT, (void *a, size_t o, const void *p, size_t n), (a, o, p, n))
{
    return array_line(s, a, o, (void *)(uintptr_t)p, n, true);
}
WG_DRIVER(cuMemcpyAtoH_v2, CONTEXT, (void *p, void *a, size_t o, size_t n), (p, a, o, n))
{
    return array_line(s, a, o, p, n, false);
}
WG_DRIVER(cuMemcpyDtoA_v2, CONTEXT, (void *a, size_t o, uint64_t p, size_t n), (a, o, p, n))
{
    return array_line(s, a, o, at(p), n, true);
}
WG_DRIVER(cuMemcpyAtoD_v2, CONTEXT, (uint64_t p, void *a, size_t o, size_t n), (p, a, o, n))
{
    return array_line(s, a, o, at(p), n, false);
}

/* ---- fills ----------------------------------------------------------------------------------------------------------
 */

#define FILL(bits, type)                                                                                               \
    WG_DRIVER(cuMemsetD##bits##_v2, CONTEXT, (uint64_t p, type v, size_t n), (p, v, n))                                \
    {                                                                                                                  \
        return p % sizeof(type) ? cudaErrorInvalidValue : wg_fill_elements(s, at(p), 0, v, sizeof(type), n, 1, NULL);  \
    }                                                                                                                  \
    WG_DRIVER_PTDS(cuMemsetD##bits##_v2, (uint64_t, type, size_t));                                                    \
    WG_DRIVER(cuMemsetD##bits##Async, CONTEXT, (uint64_t p, type v, size_t n, void *t), (p, v, n, t))                  \
    {                                                                                                                  \
        return p % sizeof(type) ? cudaErrorInvalidValue : wg_fill_elements(s, at(p), 0, v, sizeof(type), n, 1, t);     \
    }                                                                                                                  \
    WG_DRIVER_PTSZ(cuMemsetD##bits##Async, (uint64_t, type, size_t, void *));                                          \
    WG_DRIVER(cuMemsetD2D##bits##_v2, CONTEXT, (uint64_t p, size_t pitch, type v, size_t w, size_t h),                 \
              (p, pitch, v, w, h))                                                                                     \
    {                                                                                                                  \
        return p % sizeof(type) ? cudaErrorInvalidValue                                                                \
                                : wg_fill_elements(s, at(p), pitch, v, sizeof(type), w, h, NULL);                      \
    }                                                                                                                  \
    WG_DRIVER_PTDS(cuMemsetD2D##bits##_v2, (uint64_t, size_t, type, size_t, size_t));
FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned)

/* ---- arrays and textures: the runtime's, described in the driver's words
 * --------------------------------------------- */

/* enum CUarray_format */
static bool format_of(unsigned format, unsigned channels, struct cudaChannelFormatDesc *f)
{
    static const struct {
        unsigned format;
        int bits, kind;
    } formats[] = {{1, 8, cudaChannelFormatKindUnsigned},  {2, 16, cudaChannelFormatKindUnsigned},
                   {3, 32, cudaChannelFormatKindUnsigned}, {8, 8, cudaChannelFormatKindSigned},
                   {9, 16, cudaChannelFormatKindSigned},   {10, 32, cudaChannelFormatKindSigned},
                   {16, 16, cudaChannelFormatKindFloat},   {32, 32, cudaChannelFormatKindFloat}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].format == format) {
            const int b = formats[i].bits;
            *f = (struct cudaChannelFormatDesc){b, channels > 1 ? b : 0, channels > 2 ? b : 0, channels > 3 ? b : 0,
                                                formats[i].kind};
            return channels == 1 || channels == 2 || channels == 4;
        }
    return false;
}

WG_EXPORT int cudaMalloc3DArray(void **, const struct cudaChannelFormatDesc *, struct cudaExtent, unsigned);
WG_EXPORT int cudaFreeArray(void *);
WG_EXPORT int cudaCreateTextureObject_v2(uint64_t *, const struct cudaResourceDesc *, const struct cudaTextureDesc *,
                                         const struct cudaResourceViewDesc *);
WG_EXPORT int cudaCreateSurfaceObject(uint64_t *, const struct cudaResourceDesc *);
WG_EXPORT int cudaDestroyTextureObject(uint64_t);
WG_EXPORT int cudaDestroySurfaceObject(uint64_t);

struct CUDA_ARRAY_DESCRIPTOR {
    size_t width, height;
    unsigned format, channels;
};
struct CUDA_ARRAY3D_DESCRIPTOR {
    size_t width, height, depth;
    unsigned format, channels, flags;
};

static int create_array(void **out, size_t w, size_t h, size_t d, unsigned format, unsigned channels, unsigned flags)
{
    struct cudaChannelFormatDesc f;
    return format_of(format, channels, &f) ? cudaMalloc3DArray(out, &f, (struct cudaExtent){w, h, d}, flags)
                                           : (int)cudaErrorInvalidValue;
}
WG_SAME(cuArrayCreate_v2, CONTEXT, (void **out, const struct CUDA_ARRAY_DESCRIPTOR *p),
        p ? create_array(out, p->width, p->height, 0, p->format, p->channels, 0) : (int)cudaErrorInvalidValue)
WG_SAME(cuArray3DCreate_v2, CONTEXT, (void **out, const struct CUDA_ARRAY3D_DESCRIPTOR *p),
        p ? create_array(out, p->width, p->height, p->depth, p->format, p->channels, p->flags)
          : (int)cudaErrorInvalidValue)
WG_SAME(cuArrayDestroy, CONTEXT, (void *a), cudaFreeArray(a))

static unsigned driver_format(const struct cudaChannelFormatDesc *f)
{
    const unsigned size = f->x == 8 ? 1 : f->x == 16 ? 2 : 3;
    return f->f == cudaChannelFormatKindFloat    ? f->x == 16 ? 16 : 32
           : f->f == cudaChannelFormatKindSigned ? 7 + size
                                                 : size;
}
WG_DRIVER(cuArray3DGetDescriptor_v2, CONTEXT, (struct CUDA_ARRAY3D_DESCRIPTOR * out, void *array), (out, array))
{
    const struct wg_array *a = wg_array_find(s, array);
    if (!out || !a)
        return out ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue;
    *out = (struct CUDA_ARRAY3D_DESCRIPTOR){a->extent.width,
                                            a->extent.height,
                                            a->extent.depth,
                                            driver_format(&a->format),
                                            a->element * 8 / (unsigned)a->format.x,
                                            a->flags};
    return cudaSuccess;
}
WG_DRIVER(cuArrayGetDescriptor_v2, CONTEXT, (struct CUDA_ARRAY_DESCRIPTOR * out, void *array), (out, array))
{
    struct CUDA_ARRAY3D_DESCRIPTOR d;
    enum cudaError e = out ? cuArray3DGetDescriptor_v2_locked(s, &d, array) : cudaErrorInvalidValue;
    if (e == cudaSuccess)
        *out = (struct CUDA_ARRAY_DESCRIPTOR){d.width, d.height, d.format, d.channels};
    return e;
}

struct CUDA_RESOURCE_DESC {
    int type;
    union {
        void *array;
        struct {
            uint64_t at;
            unsigned format, channels;
            size_t bytes;
        } linear;
        struct {
            uint64_t at;
            unsigned format, channels;
            size_t width, height, pitch;
        } pitch2d;
        int room[32];
    };
    unsigned flags;
};
struct CUDA_TEXTURE_DESC {
    int address[3], filter;
    unsigned flags, anisotropy;
    int mip_filter;
    float bias, least, most, border[4];
    int reserved[12];
};

static bool resource_of(const struct CUDA_RESOURCE_DESC *r, struct cudaResourceDesc *out)
{
    memset(out, 0, sizeof *out);
    out->resType = r->type;
    switch (r->type) {
    case cudaResourceTypeArray:
    case cudaResourceTypeMipmappedArray:
        out->res.array.array = r->array;
        return true;
    case cudaResourceTypeLinear:
        out->res.linear.devPtr = at(r->linear.at);
        out->res.linear.sizeInBytes = r->linear.bytes;
        return format_of(r->linear.format, r->linear.channels, &out->res.linear.desc);
    case cudaResourceTypePitch2D:
        out->res.pitch2D.devPtr = at(r->pitch2d.at);
        out->res.pitch2D.width = r->pitch2d.width;
        out->res.pitch2D.height = r->pitch2d.height;
        out->res.pitch2D.pitchInBytes = r->pitch2d.pitch;
        return format_of(r->pitch2d.format, r->pitch2d.channels, &out->res.pitch2D.desc);
    default:
        return false;
    }
}

/* In the driver's words integers read as floats unless a flag says otherwise; those of 32 bits never do. */
static int create_texture(uint64_t *out, const struct CUDA_RESOURCE_DESC *r, const struct CUDA_TEXTURE_DESC *t,
                          const struct cudaResourceViewDesc *v)
{
    enum { READ_AS_INTEGER = 1, NORMALIZED = 2, SRGB = 16, SEAMLESS = 64 };
    struct cudaResourceDesc q;
    if (!r || !t || !resource_of(r, &q))
        return cudaErrorInvalidValue;
    struct cudaTextureDesc d = {.addressMode = {t->address[0], t->address[1], t->address[2]},
                                .filterMode = t->filter,
                                .sRGB = (t->flags & SRGB) != 0,
                                .normalizedCoords = (t->flags & NORMALIZED) != 0,
                                .maxAnisotropy = t->anisotropy,
                                .mipmapFilterMode = t->mip_filter,
                                .mipmapLevelBias = t->bias,
                                .minMipmapLevelClamp = t->least,
                                .maxMipmapLevelClamp = t->most,
                                .seamlessCubemap = (t->flags & SEAMLESS) != 0};
    memcpy(d.borderColor, t->border, sizeof d.borderColor);
    d.readMode = !(t->flags & READ_AS_INTEGER);
    const int e = cudaCreateTextureObject_v2(out, &q, &d, v);
    if (e != cudaErrorInvalidNormSetting)
        return e;
    d.readMode = 0;
    return cudaCreateTextureObject_v2(out, &q, &d, v);
}
WG_SAME(cuTexObjectCreate, CONTEXT,
        (uint64_t *out, const struct CUDA_RESOURCE_DESC *r, const struct CUDA_TEXTURE_DESC *t,
         const struct cudaResourceViewDesc *v),
        create_texture(out, r, t, v))
WG_SAME(cuTexObjectDestroy, CONTEXT, (uint64_t t), cudaDestroyTextureObject(t))
static int create_surface(uint64_t *out, const struct CUDA_RESOURCE_DESC *r)
{
    struct cudaResourceDesc q;
    return r && resource_of(r, &q) ? cudaCreateSurfaceObject(out, &q) : (int)cudaErrorInvalidValue;
}
WG_SAME(cuSurfObjectCreate, CONTEXT, (uint64_t *out, const struct CUDA_RESOURCE_DESC *r), create_surface(out, r))
WG_SAME(cuSurfObjectDestroy, CONTEXT, (uint64_t t), cudaDestroySurfaceObject(t))

/* ---- tensor maps ----------------------------------------------------------------------------------------------------
 */

#include <warpgrind/tensormap.h>
static int encode(void *map, unsigned type, unsigned rank, void *address, const uint64_t *dim, const uint64_t *strides,
                  const uint32_t *box, const uint32_t *step, unsigned interleave, unsigned swizzle, unsigned promotion,
                  unsigned fill)
{
    const char *why = NULL;
    struct wg_tensormap_tiled t = {.type = type,
                                   .rank = rank,
                                   .address = (uint64_t)(uintptr_t)address,
                                   .interleave = interleave,
                                   .swizzle = swizzle,
                                   .promotion = promotion,
                                   .oob_nan = fill};
    if (!map || !dim || !box || !step || rank < 1 || rank > WG_TENSORMAP_DIMS || (rank > 1 && !strides))
        return cudaErrorInvalidValue;
    for (unsigned i = 0; i < rank; i++) {
        t.dim[i] = dim[i];
        t.box[i] = box[i];
        t.step[i] = step[i];
        if (i)
            t.stride[i - 1] = strides[i - 1];
    }
    const enum wg_status st = wg_tensormap_encode_tiled(map, &t, &why);
    if (st == WG_OK)
        return cudaSuccess;
    if (st != WG_UNSUPPORTED)
        return cudaErrorInvalidValue;
    struct wg_shim *s = wg_shim_lock();
    const enum cudaError e = wg_shim_refuse("cuTensorMapEncodeTiled", why ? why : "this form of tensor map");
    wg_shim_unlock(s);
    return (int)e;
}
WG_SAME(cuTensorMapEncodeTiled, NOTHING,
        (void *map, unsigned type, unsigned rank, void *address, const uint64_t *dim, const uint64_t *strides,
         const uint32_t *box, const uint32_t *step, unsigned interleave, unsigned swizzle, unsigned promotion,
         unsigned fill),
        encode(map, type, rank, address, dim, strides, box, step, interleave, swizzle, promotion, fill))
