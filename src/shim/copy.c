/* copy.c - copies and fills of every shape, with the checks that CUDA makes on pointers, directions and sizes. */
#include "shim/graph.h"
#include "shim/image.h"
#include <stdlib.h>
#include <string.h>

/* What is known of one end of a copy. Pageable host memory has no bounds here. */
struct end {
    bool cuda;     /* the runtime knows it: device, managed or pinned memory */
    bool bounded;  /* room is known */
    uint64_t room; /* bytes from the address to the end of its allocation */
};

static struct end look(struct wg_shim *s, const void *p)
{
    const uint64_t a = (uint64_t)(uintptr_t)p;
    uint64_t base;
    size_t bytes;
    if (!wg_is_device_address(s->g, a))
        return (struct end){.cuda = wg_mem_pinned(s, a)};
    if (wg_find_alloc(s->g, a, &base, &bytes) != WG_OK)
        return (struct end){.bounded = true}; /* inside the device's range but nobody's: no copy can be right */
    const struct wg_mem *m = wg_mem_find(s, a);
    struct end e = {.cuda = true, .bounded = true, .room = base + bytes - a};
    if (m) { /* the engine may round sizes up; the program's own size is what counts */
        const uint64_t asked = m->base + m->bytes;
        e.room = asked > a ? asked - a : 0;
    }
    return e;
}

/* Bytes from the first to one past the last byte touched; false when that overflows. */
static bool extent_of(size_t width, size_t rows, size_t planes, size_t pitch, size_t plane, uint64_t *out)
{
    unsigned __int128 n = (unsigned __int128)(planes - 1) * plane + (unsigned __int128)(rows - 1) * pitch + width;
    *out = (uint64_t)n;
    return n <= UINT64_MAX / 2;
}

/* With one address space for host and device, CUDA takes any memory for "host", and anything but pageable memory for
 * "device" (read from an H200: tests/shim/truth). */
static enum cudaError check_end(struct wg_shim *s, const void *p, uint64_t bytes, bool want_device, const char *end)
{
    const struct end e = p ? look(s, p) : (struct end){0};
    if (!p)
        wg_shim_detail(s, "The %s is a null pointer", end);
    else if (want_device && !e.cuda)
        wg_shim_detail(s, "The %s %p is no device memory, but the direction of the copy says so", end, p);
    else if (e.bounded && bytes > e.room && e.cuda)
        wg_shim_detail(s, "The %s of %llu bytes at %p reaches %llu bytes past its allocation", end, (unsigned long long)bytes,
                       p, (unsigned long long)(bytes - e.room));
    else if (e.bounded && bytes > e.room)
        wg_shim_detail(s, "The %s %p lies in no live allocation", end, p);
    else
        return cudaSuccess;
    return cudaErrorInvalidValue;
}

enum cudaError wg_copy_box(struct wg_shim *s, const struct wg_box *b, int kind, void *stream)
{
    if (b->width == 0 || b->rows == 0 || b->planes == 0)
        return cudaSuccess;
    enum cudaError e = wg_shim_health(s);
    if (e != cudaSuccess)
        return e;
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (!wg_stream_known(s, stream))
        return cudaErrorInvalidResourceHandle;
    uint64_t dbytes, sbytes;
    if (!extent_of(b->width, b->rows, b->planes, b->dpitch, b->dplane, &dbytes) ||
        !extent_of(b->width, b->rows, b->planes, b->spitch, b->splane, &sbytes))
        return cudaErrorInvalidValue;
    const bool to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    e = check_end(s, b->dst, dbytes, to, "destination");
    if (e == cudaSuccess)
        e = check_end(s, b->src, sbytes, from, "source");
    if (e != cudaSuccess)
        return e;
    struct wg_node *n = wg_capture_node(s, stream, WG_NODE_MEMCPY, &e);
    if (n) { /* strides as a pitched volume's; one line has none */
        const size_t dp = b->dpitch ? b->dpitch : b->width, sp = b->spitch ? b->spitch : b->width;
        n->copy = (struct cudaMemcpy3DParms){.dstPtr = {b->dst, dp, dp, b->dplane / dp}, .kind = kind,
                                             .srcPtr = {(void *)(uintptr_t)b->src, sp, sp, b->splane / sp},
                                             .extent = {b->width, b->rows, b->planes}};
    }
    if (n || e != cudaSuccess)
        return e;
    for (size_t z = 0; z < b->planes; z++) {
        char *d = b->dst + z * b->dplane;
        const char *r = b->src + z * b->splane;
        const bool whole = b->dpitch == b->width && b->spitch == b->width;
        const size_t rows = whole ? 1 : b->rows, bytes = whole ? b->width * b->rows : b->width;
        for (size_t y = 0; y < rows; y++, d += b->dpitch, r += b->spitch) {
            enum wg_status st = wg_copy(s->g, d, r, bytes);
            if (st != WG_OK)
                return wg_shim_error(st);
        }
    }
    return cudaSuccess;
}

static enum cudaError copy_line(struct wg_shim *s, void *dst, const void *src, size_t n, int kind, void *stream)
{
    return wg_copy_box(s, &(struct wg_box){.dst = dst, .src = src, .width = n, .rows = 1, .planes = 1}, kind, stream);
}

static enum cudaError copy_rows(struct wg_shim *s, void *dst, size_t dpitch, const void *src, size_t spitch,
                                size_t width, size_t height, int kind, void *stream)
{
    if (width > dpitch || width > spitch)
        return height == 1 ? cudaErrorInvalidValue : cudaErrorInvalidPitchValue;
    return wg_copy_box(s, &(struct wg_box){dst, src, width, height, 1, dpitch, spitch, 0, 0}, kind, stream);
}

WG_API(cudaMemcpy, ENGINE, (void *dst, const void *src, size_t n, int kind), (dst, src, n, kind))
{
    return copy_line(s, dst, src, n, kind, NULL);
}
WG_PTDS(cudaMemcpy, (void *, const void *, size_t, int));

WG_API(cudaMemcpyAsync, ENGINE, (void *dst, const void *src, size_t n, int kind, void *stream),
       (dst, src, n, kind, stream))
{
    return copy_line(s, dst, src, n, kind, stream);
}
WG_PTSZ(cudaMemcpyAsync, (void *, const void *, size_t, int, void *));

WG_API(cudaMemcpyPeer, ENGINE, (void *dst, int dd, const void *src, int sd, size_t n), (dst, dd, src, sd, n))
{
    return dd || sd ? cudaErrorInvalidDevice : copy_line(s, dst, src, n, cudaMemcpyDeviceToDevice, NULL);
}

WG_API(cudaMemcpyPeerAsync, ENGINE, (void *dst, int dd, const void *src, int sd, size_t n, void *stream),
       (dst, dd, src, sd, n, stream))
{
    return dd || sd ? cudaErrorInvalidDevice : copy_line(s, dst, src, n, cudaMemcpyDeviceToDevice, stream);
}

WG_API(cudaMemcpy2D, ENGINE,
       (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, int kind),
       (dst, dpitch, src, spitch, width, height, kind))
{
    return copy_rows(s, dst, dpitch, src, spitch, width, height, kind, NULL);
}
WG_PTDS(cudaMemcpy2D, (void *, size_t, const void *, size_t, size_t, size_t, int));

WG_API(cudaMemcpy2DAsync, ENGINE,
       (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, int kind, void *stream),
       (dst, dpitch, src, spitch, width, height, kind, stream))
{
    return copy_rows(s, dst, dpitch, src, spitch, width, height, kind, stream);
}
WG_PTSZ(cudaMemcpy2DAsync, (void *, size_t, const void *, size_t, size_t, size_t, int, void *));

static char *place(const struct cudaPitchedPtr *p, const struct cudaPos *at)
{
    return (char *)p->ptr + at->z * p->pitch * p->ysize + at->y * p->pitch + at->x;
}

enum cudaError wg_copy_volume(struct wg_shim *s, const struct cudaMemcpy3DParms *p, void *stream)
{
    if (!p)
        return cudaErrorInvalidValue;
    if (p->extent.width == 0 || p->extent.height == 0 || p->extent.depth == 0)
        return cudaSuccess;
    if (p->srcArray || p->dstArray)
        return wg_array_copy3d(s, p, stream);
    if (!p->srcPtr.ptr || !p->dstPtr.ptr)
        return cudaErrorInvalidValue;
    if (p->extent.width + p->srcPos.x > p->srcPtr.pitch || p->extent.width + p->dstPos.x > p->dstPtr.pitch)
        return cudaErrorInvalidPitchValue;
    if (p->extent.depth > 1 && (p->extent.height + p->srcPos.y > p->srcPtr.ysize ||
                                p->extent.height + p->dstPos.y > p->dstPtr.ysize))
        return cudaErrorInvalidPitchValue;
    const struct wg_box b = {.dst = place(&p->dstPtr, &p->dstPos), .src = place(&p->srcPtr, &p->srcPos),
                             .width = p->extent.width, .rows = p->extent.height, .planes = p->extent.depth,
                             .dpitch = p->dstPtr.pitch, .spitch = p->srcPtr.pitch,
                             .dplane = p->dstPtr.pitch * p->dstPtr.ysize, .splane = p->srcPtr.pitch * p->srcPtr.ysize};
    return wg_copy_box(s, &b, p->kind, stream);
}

WG_API(cudaMemcpy3D, ENGINE, (const struct cudaMemcpy3DParms *p), (p)) { return wg_copy_volume(s, p, NULL); }
WG_PTDS(cudaMemcpy3D, (const struct cudaMemcpy3DParms *));

WG_API(cudaMemcpy3DAsync, ENGINE, (const struct cudaMemcpy3DParms *p, void *stream), (p, stream))
{
    return wg_copy_volume(s, p, stream);
}
WG_PTSZ(cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *, void *));

static enum cudaError copy_peer_volume(struct wg_shim *s, const struct cudaMemcpy3DPeerParms *p, void *stream)
{
    if (!p)
        return cudaErrorInvalidValue;
    if (p->srcDevice || p->dstDevice)
        return cudaErrorInvalidDevice;
    const struct cudaMemcpy3DParms q = {p->srcArray, p->srcPos, p->srcPtr, p->dstArray, p->dstPos, p->dstPtr, p->extent,
                                        cudaMemcpyDeviceToDevice};
    return wg_copy_volume(s, &q, stream);
}

WG_API(cudaMemcpy3DPeer, ENGINE, (const struct cudaMemcpy3DPeerParms *p), (p)) { return copy_peer_volume(s, p, NULL); }
WG_PTDS(cudaMemcpy3DPeer, (const struct cudaMemcpy3DPeerParms *));

WG_API(cudaMemcpy3DPeerAsync, ENGINE, (const struct cudaMemcpy3DPeerParms *p, void *stream), (p, stream))
{
    return copy_peer_volume(s, p, stream);
}
WG_PTSZ(cudaMemcpy3DPeerAsync, (const struct cudaMemcpy3DPeerParms *, void *));

/* Batches: each copy as if issued alone, in order. The attributes only say when a source may be read and where it lies;
 * all of them are true of copies done at once. CUDA 12 has one parameter more, where a failure's index goes. */
static enum cudaError copy_batch(struct wg_shim *s, void *const *dsts, const void *const *srcs, const size_t *sizes,
                                 size_t count, size_t *failed, void *stream)
{
    if (!dsts || !srcs || !sizes || count == 0)
        return cudaErrorInvalidValue;
    if (!stream || stream == WG_STREAM_LEGACY || stream == WG_STREAM_PER_THREAD)
        return cudaErrorInvalidValue; /* documented: the default streams take no batches */
    for (size_t i = 0; i < count; i++) {
        enum cudaError e = sizes[i] ? copy_line(s, dsts[i], srcs[i], sizes[i], cudaMemcpyDefault, stream)
                                    : cudaErrorInvalidValue;
        if (e != cudaSuccess) {
            if (failed)
                *failed = i;
            return e;
        }
    }
    return cudaSuccess;
}

#if WG_CUDART_MAJOR >= 13
WG_API(cudaMemcpyBatchAsync, CONTEXT,
       (void *const *dsts, const void *const *srcs, const size_t *sizes, size_t count, void *attrs, size_t *first,
        size_t nattrs, void *stream),
       (dsts, srcs, sizes, count, attrs, first, nattrs, stream))
{
    return !attrs || !first || !nattrs ? cudaErrorInvalidValue
                                       : copy_batch(s, dsts, srcs, sizes, count, NULL, stream);
}
WG_PTSZ(cudaMemcpyBatchAsync,
        (void *const *, const void *const *, const size_t *, size_t, void *, size_t *, size_t, void *));
#else
WG_API(cudaMemcpyBatchAsync, CONTEXT,
       (void **dsts, void **srcs, size_t *sizes, size_t count, void *attrs, size_t *first, size_t nattrs,
        size_t *failed, void *stream),
       (dsts, srcs, sizes, count, attrs, first, nattrs, failed, stream))
{
    return !attrs || !first || !nattrs
               ? cudaErrorInvalidValue
               : copy_batch(s, dsts, (const void *const *)srcs, sizes, count, failed, stream);
}
WG_PTSZ(cudaMemcpyBatchAsync, (void **, void **, size_t *, size_t, void *, size_t *, size_t, size_t *, void *));
#endif

/* ---- variables of the program ----------------------------------------------------------------------------------- */

static enum cudaError symbol_at(struct wg_shim *s, const void *symbol, size_t n, size_t offset, char **out)
{
    struct wg_var *v;
    uint64_t addr;
    size_t bytes;
    enum cudaError e = wg_image_var(s, symbol, &v, &addr, &bytes);
    if (e != cudaSuccess)
        return e;
    if (offset > bytes || n > bytes - offset)
        return cudaErrorInvalidValue;
    *out = (char *)(uintptr_t)addr + offset;
    return cudaSuccess;
}

static enum cudaError to_symbol(struct wg_shim *s, const void *symbol, const void *src, size_t n, size_t offset,
                                int kind, void *stream)
{
    char *at;
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    enum cudaError e = symbol_at(s, symbol, n, offset, &at);
    return e == cudaSuccess ? copy_line(s, at, src, n, kind, stream) : e;
}

static enum cudaError from_symbol(struct wg_shim *s, void *dst, const void *symbol, size_t n, size_t offset, int kind,
                                  void *stream)
{
    char *at;
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    enum cudaError e = symbol_at(s, symbol, n, offset, &at);
    return e == cudaSuccess ? copy_line(s, dst, at, n, kind, stream) : e;
}

WG_API(cudaMemcpyToSymbol, CONTEXT, (const void *symbol, const void *src, size_t n, size_t offset, int kind),
       (symbol, src, n, offset, kind))
{
    return to_symbol(s, symbol, src, n, offset, kind, NULL);
}
WG_PTDS(cudaMemcpyToSymbol, (const void *, const void *, size_t, size_t, int));

WG_API(cudaMemcpyToSymbolAsync, CONTEXT,
       (const void *symbol, const void *src, size_t n, size_t offset, int kind, void *stream),
       (symbol, src, n, offset, kind, stream))
{
    return to_symbol(s, symbol, src, n, offset, kind, stream);
}
WG_PTSZ(cudaMemcpyToSymbolAsync, (const void *, const void *, size_t, size_t, int, void *));

WG_API(cudaMemcpyFromSymbol, CONTEXT, (void *dst, const void *symbol, size_t n, size_t offset, int kind),
       (dst, symbol, n, offset, kind))
{
    return from_symbol(s, dst, symbol, n, offset, kind, NULL);
}
WG_PTDS(cudaMemcpyFromSymbol, (void *, const void *, size_t, size_t, int));

WG_API(cudaMemcpyFromSymbolAsync, CONTEXT,
       (void *dst, const void *symbol, size_t n, size_t offset, int kind, void *stream),
       (dst, symbol, n, offset, kind, stream))
{
    return from_symbol(s, dst, symbol, n, offset, kind, stream);
}
WG_PTSZ(cudaMemcpyFromSymbolAsync, (void *, const void *, size_t, size_t, int, void *));

WG_API(cudaGetSymbolAddress, CONTEXT, (void **out, const void *symbol), (out, symbol))
{
    struct wg_var *v;
    uint64_t addr;
    size_t bytes;
    if (!out)
        return cudaErrorInvalidValue;
    enum cudaError e = wg_image_var(s, symbol, &v, &addr, &bytes);
    if (e == cudaSuccess)
        *out = (void *)(uintptr_t)addr;
    return e;
}

WG_API(cudaGetSymbolSize, CONTEXT, (size_t *out, const void *symbol), (out, symbol))
{
    struct wg_var *v;
    uint64_t addr;
    if (!out)
        return cudaErrorInvalidValue;
    return wg_image_var(s, symbol, &v, &addr, out);
}

/* ---- fills ----------------------------------------------------------------------------------------------------- */

static enum cudaError fill_box(struct wg_shim *s, char *dst, size_t pitch, size_t plane, int byte, size_t width,
                               size_t rows, size_t planes, void *stream)
{
    uint64_t bytes;
    if (!wg_stream_known(s, stream))
        return cudaErrorInvalidResourceHandle;
    if (width == 0 || rows == 0 || planes == 0)
        return cudaSuccess;
    if (!dst || !extent_of(width, rows, planes, pitch, plane, &bytes))
        return cudaErrorInvalidValue;
    const struct end e = look(s, dst);
    if (!e.bounded || bytes > e.room)
        return cudaErrorInvalidValue;
    enum cudaError err;
    struct wg_node *n = wg_capture_node(s, stream, WG_NODE_MEMSET, &err);
    if (n && planes > 1)
        return wg_shim_refuse("cudaMemset3DAsync", "into a stream that is being captured");
    if (n)
        n->set = (struct cudaMemsetParams){dst, pitch ? pitch : width, (unsigned char)byte, 1, width, rows};
    if (n || err != cudaSuccess)
        return err;
    for (size_t z = 0; z < planes; z++)
        for (size_t y = 0; y < rows; y++) {
            const bool whole = pitch == width;
            enum wg_status st = wg_fill(s->g, (uint64_t)(uintptr_t)(dst + z * plane + y * pitch), byte,
                                        whole ? width * rows : width);
            if (st != WG_OK)
                return wg_shim_error(st);
            if (whole)
                break;
        }
    return cudaSuccess;
}

/* What wg_fill takes is a byte; wider values are put in place by a copy from a row of them. */
enum cudaError wg_fill_elements(struct wg_shim *s, void *dst, size_t pitch, unsigned value, unsigned element,
                                size_t width, size_t height, void *stream)
{
    const unsigned char byte = (unsigned char)value;
    if (width > SIZE_MAX / 4 || (pitch < width * element && height > 1))
        return cudaErrorInvalidValue;
    if (element == 1 || (element == 2 && (uint16_t)value == byte * 0x101u) || value == byte * 0x1010101u)
        return fill_box(s, dst, pitch, 0, byte, width * element, height, 1, stream);
    unsigned char *row = malloc(width * element + 4);
    if (!row)
        return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < width; i++)
        memcpy(row + i * element, &value, element);
    enum cudaError e = wg_copy_box(s, &(struct wg_box){dst, (char *)row, width * element, height, 1, pitch, 0, 0, 0},
                                   cudaMemcpyHostToDevice, stream);
    free(row);
    return e;
}

WG_API(cudaMemset, CONTEXT, (void *dst, int byte, size_t n), (dst, byte, n))
{
    return fill_box(s, dst, 0, 0, byte, n, 1, 1, NULL);
}
WG_PTDS(cudaMemset, (void *, int, size_t));

WG_API(cudaMemsetAsync, CONTEXT, (void *dst, int byte, size_t n, void *stream), (dst, byte, n, stream))
{
    return fill_box(s, dst, 0, 0, byte, n, 1, 1, stream);
}
WG_PTSZ(cudaMemsetAsync, (void *, int, size_t, void *));

WG_API(cudaMemset2D, CONTEXT, (void *dst, size_t pitch, int byte, size_t width, size_t height),
       (dst, pitch, byte, width, height))
{
    return width > pitch && height > 1 ? cudaErrorInvalidValue
                                       : fill_box(s, dst, pitch, 0, byte, width, height, 1, NULL);
}
WG_PTDS(cudaMemset2D, (void *, size_t, int, size_t, size_t));

WG_API(cudaMemset2DAsync, CONTEXT, (void *dst, size_t pitch, int byte, size_t width, size_t height, void *stream),
       (dst, pitch, byte, width, height, stream))
{
    return width > pitch && height > 1 ? cudaErrorInvalidValue
                                       : fill_box(s, dst, pitch, 0, byte, width, height, 1, stream);
}
WG_PTSZ(cudaMemset2DAsync, (void *, size_t, int, size_t, size_t, void *));

WG_API(cudaMemset3D, CONTEXT, (struct cudaPitchedPtr p, int byte, struct cudaExtent e), (p, byte, e))
{
    return e.width > p.pitch || (e.depth > 1 && e.height > p.ysize)
               ? cudaErrorInvalidValue
               : fill_box(s, p.ptr, p.pitch, p.pitch * p.ysize, byte, e.width, e.height, e.depth, NULL);
}
WG_PTDS(cudaMemset3D, (struct cudaPitchedPtr, int, struct cudaExtent));

WG_API(cudaMemset3DAsync, CONTEXT, (struct cudaPitchedPtr p, int byte, struct cudaExtent e, void *stream),
       (p, byte, e, stream))
{
    return e.width > p.pitch || (e.depth > 1 && e.height > p.ysize)
               ? cudaErrorInvalidValue
               : fill_box(s, p.ptr, p.pitch, p.pitch * p.ysize, byte, e.width, e.height, e.depth, stream);
}
WG_PTSZ(cudaMemset3DAsync, (struct cudaPitchedPtr, int, struct cudaExtent, void *));
