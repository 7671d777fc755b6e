/* memory.c - allocation, pinning and pointer queries. Host allocations come from the device range too, so that kernels
 * can reach them at the address that the host uses. */
#include "shim/graph.h"
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 256, PITCH_ALIGN = 512 }; /* what cudaMalloc and cudaMallocPitch give on every device so far */

static struct wg_mem *mem_at(struct wg_shim *s, uint64_t base)
{
    struct wg_mem *m = NULL;
    HASH_FIND(hh, s->mems, &base, sizeof base, m);
    return m;
}

struct wg_mem *wg_mem_find(struct wg_shim *s, uint64_t addr)
{
    uint64_t base;
    size_t bytes;
    if (wg_find_alloc(s->g, addr, &base, &bytes) != WG_OK)
        return NULL;
    return mem_at(s, base);
}

static enum cudaError allocate(struct wg_shim *s, void **out, size_t bytes, enum wg_mem_kind kind, unsigned flags)
{
    uint64_t addr;
    struct wg_mem *m = calloc(1, sizeof *m);
    if (!m)
        return cudaErrorMemoryAllocation;
    enum wg_status st = wg_alloc(s->g, bytes, ALIGN, &addr);
    if (st != WG_OK) {
        free(m);
        return st == WG_NO_DEVICE_MEMORY || st == WG_NO_MEMORY ? cudaErrorMemoryAllocation : wg_shim_error(st);
    }
    m->base = addr;
    m->bytes = bytes;
    m->kind = kind;
    m->flags = flags;
    if (kind == WG_MEM_HOST || kind == WG_MEM_MANAGED)
        wg_host_writes(s->g, addr, bytes); /* by plain stores, unseen */
    HASH_ADD(hh, s->mems, base, sizeof m->base, m);
    *out = (void *)(uintptr_t)addr;
    return cudaSuccess;
}

static enum cudaError release(struct wg_shim *s, struct wg_mem *m)
{
    enum wg_status st = wg_free(s->g, m->base);
    HASH_DEL(s->mems, m);
    free(m);
    return wg_shim_error(st);
}

void wg_mem_release(struct wg_shim *s, struct wg_mem *m) { release(s, m); }

enum cudaError wg_mem_for_graph(struct wg_shim *s, void **out, size_t bytes, struct wg_mem **m)
{
    enum cudaError e = allocate(s, out, bytes, WG_MEM_POOL, 0);
    if (e != cudaSuccess)
        return e;
    *m = mem_at(s, (uint64_t)(uintptr_t)*out);
    (*m)->graph = true;
    return cudaSuccess;
}

void wg_mem_free_all(struct wg_shim *s)
{
    struct wg_mem *m, *mn;
    HASH_ITER(hh, s->mems, m, mn)
        release(s, m);
    struct wg_pinned *p, *pn;
    HASH_ITER(hh, s->pinned, p, pn) {
        if (p->shadow)
            wg_free(s->g, p->shadow);
        HASH_DEL(s->pinned, p);
        free(p);
    }
}

/* ---- device and managed memory -------------------------------------------------------------------------------- */

WG_API(cudaMalloc, ENGINE, (void **out, size_t bytes), (out, bytes))
{
    if (!out)
        return cudaErrorInvalidValue;
    if (bytes == 0) {
        *out = NULL;
        return cudaSuccess;
    }
    enum cudaError e = wg_shim_health(s);
    return e == cudaSuccess ? allocate(s, out, bytes, WG_MEM_DEVICE, 0) : e;
}

WG_API(cudaMallocManaged, CONTEXT, (void **out, size_t bytes, unsigned flags), (out, bytes, flags))
{
    if (!out || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
        return cudaErrorInvalidValue;
    if (bytes == 0) {
        *out = NULL;
        return cudaSuccess;
    }
    return allocate(s, out, bytes, WG_MEM_MANAGED, flags);
}

WG_API(cudaFree, CONTEXT, (void *p), (p))
{
    if (!p)
        return cudaSuccess;
    struct wg_mem *m = mem_at(s, (uint64_t)(uintptr_t)p);
    if (!m || m->kind == WG_MEM_HOST) {
        wg_shim_detail(s, m ? "%p is host memory: cudaFreeHost frees it" : "%p is not the start of a live allocation", p);
        return cudaErrorInvalidValue;
    }
    if (m->graph)
        return cudaSuccess;
    if (m->pool)
        m->pool->used -= m->bytes;
    return release(s, m);
}

static enum cudaError pitched(struct wg_shim *s, void **out, size_t *pitch, size_t width, size_t rows)
{
    if (width > SIZE_MAX - PITCH_ALIGN)
        return cudaErrorMemoryAllocation;
    *pitch = (width + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN;
    if (*pitch == 0 || rows == 0) {
        *out = NULL;
        return cudaSuccess;
    }
    if (rows > SIZE_MAX / *pitch)
        return cudaErrorMemoryAllocation;
    return allocate(s, out, *pitch * rows, WG_MEM_DEVICE, 0);
}

WG_API(cudaMallocPitch, CONTEXT, (void **out, size_t *pitch, size_t width, size_t height), (out, pitch, width, height))
{
    if (!out || !pitch)
        return cudaErrorInvalidValue;
    return pitched(s, out, pitch, width, height);
}

WG_API(cudaMalloc3D, CONTEXT, (struct cudaPitchedPtr *out, struct cudaExtent e), (out, e))
{
    if (!out)
        return cudaErrorInvalidValue;
    if (e.depth && e.height > SIZE_MAX / e.depth)
        return cudaErrorMemoryAllocation;
    out->xsize = e.width;
    out->ysize = e.height;
    return pitched(s, &out->ptr, &out->pitch, e.width, e.height * e.depth);
}

WG_API(cudaMemGetInfo, CONTEXT, (size_t *available, size_t *total), (available, total))
{
    uint64_t a, t;
    wg_memory_info(s->g, &a, &t);
    if (available)
        *available = (size_t)a;
    if (total)
        *total = (size_t)t;
    return cudaSuccess;
}

/* ---- host memory ---------------------------------------------------------------------------------------------- */

static enum cudaError host_alloc(struct wg_shim *s, void **out, size_t bytes, unsigned flags)
{
    if (!out || (flags & ~(unsigned)(cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined)))
        return cudaErrorInvalidValue;
    if (bytes == 0) {
        *out = NULL;
        return cudaSuccess;
    }
    return allocate(s, out, bytes, WG_MEM_HOST, flags);
}

WG_API(cudaMallocHost, CONTEXT, (void **out, size_t bytes), (out, bytes)) { return host_alloc(s, out, bytes, 0); }

WG_API(cudaHostAlloc, CONTEXT, (void **out, size_t bytes, unsigned flags), (out, bytes, flags))
{
    return host_alloc(s, out, bytes, flags);
}

WG_API(cudaFreeHost, CONTEXT, (void *p), (p))
{
    if (!p)
        return cudaSuccess;
    struct wg_mem *m = mem_at(s, (uint64_t)(uintptr_t)p);
    if (!m || m->kind != WG_MEM_HOST)
        return cudaErrorInvalidValue;
    return release(s, m);
}

static struct wg_pinned *pinned_holding(struct wg_shim *s, uint64_t addr)
{
    struct wg_pinned *p, *pn;
    HASH_ITER(hh, s->pinned, p, pn)
        if (addr - p->base < p->bytes)
            return p;
    return NULL;
}

bool wg_mem_pinned(struct wg_shim *s, uint64_t addr) { return pinned_holding(s, addr) != NULL; }

WG_API(cudaHostRegister, CONTEXT, (void *ptr, size_t bytes, unsigned flags), (ptr, bytes, flags))
{
    const uint64_t a = (uint64_t)(uintptr_t)ptr;
    if (!ptr || bytes == 0 || (flags & ~15u) || a + bytes < a)
        return cudaErrorInvalidValue;
    struct wg_pinned *p, *pn;
    HASH_ITER(hh, s->pinned, p, pn)
        if (a < p->base + p->bytes && p->base < a + bytes)
            return cudaErrorHostMemoryAlreadyRegistered;
    if (wg_mem_find(s, a))
        return cudaErrorInvalidValue;
    if (!(p = calloc(1, sizeof *p)))
        return cudaErrorMemoryAllocation;
    p->base = a;
    p->bytes = bytes;
    p->flags = flags;
    HASH_ADD(hh, s->pinned, base, sizeof p->base, p);
    return cudaSuccess;
}

WG_API(cudaHostUnregister, CONTEXT, (void *ptr), (ptr))
{
    const uint64_t a = (uint64_t)(uintptr_t)ptr;
    struct wg_pinned *p = NULL;
    if (!ptr)
        return cudaErrorInvalidValue;
    HASH_FIND(hh, s->pinned, &a, sizeof a, p);
    if (!p) /* nobody's, or the middle of something */
        return wg_mem_find(s, a) || pinned_holding(s, a) ? cudaErrorInvalidValue : cudaErrorHostMemoryNotRegistered;
    if (p->shadow)
        wg_free(s->g, p->shadow);
    HASH_DEL(s->pinned, p);
    free(p);
    return cudaSuccess;
}

static enum cudaError make_shadow(struct wg_shim *s, struct wg_pinned *p)
{
    if (p->shadow)
        return cudaSuccess;
    enum wg_status st = wg_alloc(s->g, p->bytes, ALIGN, &p->shadow);
    if (st != WG_OK)
        p->shadow = 0;
    return wg_shim_error(st);
}

WG_API(cudaHostGetDevicePointer, CONTEXT, (void **out, void *ptr, unsigned flags), (out, ptr, flags))
{
    const uint64_t a = (uint64_t)(uintptr_t)ptr;
    if (!out || !ptr || flags)
        return cudaErrorInvalidValue;
    struct wg_mem *m = wg_mem_find(s, a);
    if (m && m->kind == WG_MEM_HOST) {
        *out = ptr;
        return cudaSuccess;
    }
    struct wg_pinned *p = pinned_holding(s, a);
    if (!p)
        return cudaErrorInvalidValue;
    enum cudaError e = make_shadow(s, p);
    if (e == cudaSuccess)
        *out = (void *)(uintptr_t)(p->shadow + (a - p->base));
    return e;
}

WG_API(cudaHostGetFlags, CONTEXT, (unsigned *flags, void *ptr), (flags, ptr))
{
    const uint64_t a = (uint64_t)(uintptr_t)ptr;
    if (!flags || !ptr)
        return cudaErrorInvalidValue;
    struct wg_mem *m = wg_mem_find(s, a);
    struct wg_pinned *p = m ? NULL : pinned_holding(s, a);
    if (m && m->kind == WG_MEM_HOST)
        *flags = m->flags | cudaHostAllocMapped; /* with one address space every pinned page is mapped */
    else if (p)
        *flags = p->flags | cudaHostRegisterMapped;
    else
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

/* ---- queries and advice --------------------------------------------------------------------------------------- */

WG_API(cudaPointerGetAttributes, ENGINE, (struct cudaPointerAttributes *out, const void *ptr), (out, ptr))
{
    static const int types[] = {[WG_MEM_DEVICE] = cudaMemoryTypeDevice, [WG_MEM_MANAGED] = cudaMemoryTypeManaged,
                                [WG_MEM_HOST] = cudaMemoryTypeHost, [WG_MEM_POOL] = cudaMemoryTypeDevice};
    const uint64_t a = (uint64_t)(uintptr_t)ptr;
    if (!out)
        return cudaErrorInvalidValue;
    *out = (struct cudaPointerAttributes){.type = cudaMemoryTypeUnregistered, .device = -2,
                                          .hostPointer = (void *)(uintptr_t)ptr};
    struct wg_mem *m = wg_mem_find(s, a);
    struct wg_pinned *p = m ? NULL : pinned_holding(s, a);
    uint64_t base;
    size_t bytes;
    if (m) {
        out->type = types[m->kind];
        out->device = 0;
        out->devicePointer = (void *)(uintptr_t)ptr;
        if (out->type == cudaMemoryTypeDevice)
            out->hostPointer = NULL;
    } else if (p) {
        out->type = cudaMemoryTypeHost;
        out->device = 0;
        if (make_shadow(s, p) == cudaSuccess)
            out->devicePointer = (void *)(uintptr_t)(p->shadow + (a - p->base));
    } else if (wg_find_alloc(s->g, a, &base, &bytes) == WG_OK) { /* a module's variable, or a pinned page's shadow */
        out->type = cudaMemoryTypeDevice;
        out->device = 0;
        out->devicePointer = (void *)(uintptr_t)ptr;
        out->hostPointer = NULL;
    }
    return cudaSuccess;
}

/* Advice and prefetching move pages between memories; there is one memory here, so only the arguments are checked. */
static enum cudaError check_managed(struct wg_shim *s, const void *ptr, size_t bytes)
{
    const uint64_t a = (uint64_t)(uintptr_t)ptr;
    struct wg_mem *m = ptr ? wg_mem_find(s, a) : NULL;
    if (bytes == 0 || !m || m->kind != WG_MEM_MANAGED || bytes > m->bytes - (size_t)(a - m->base))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

static enum cudaError check_location(struct cudaMemLocation l)
{
    if (l.type == cudaMemLocationTypeDevice)
        return l.id == 0 ? cudaSuccess : cudaErrorInvalidDevice;
    return l.type >= cudaMemLocationTypeHost && l.type <= cudaMemLocationTypeHostNumaCurrent ? cudaSuccess
                                                                                              : cudaErrorInvalidValue;
}

static enum cudaError prefetch(struct wg_shim *s, const void *ptr, size_t bytes, enum cudaError place, void *stream)
{
    enum cudaError e = bytes ? place : cudaErrorInvalidValue;
    if (e == cudaSuccess)
        e = check_managed(s, ptr, bytes);
    return e == cudaSuccess && !wg_stream_known(s, stream) ? cudaErrorInvalidResourceHandle : e;
}

static enum cudaError advise(struct wg_shim *s, const void *ptr, size_t bytes, int advice, enum cudaError place)
{
    enum cudaError e = check_managed(s, ptr, bytes);
    if (e == cudaSuccess && (advice < 1 || advice > 6))
        e = cudaErrorInvalidValue;
    /* Only "preferred location" and "accessed by" look at the place. */
    return e == cudaSuccess && advice >= 3 && advice != 4 ? place : e;
}

WG_API(cudaMemPrefetchAsync_v2, CONTEXT,
       (const void *ptr, size_t bytes, struct cudaMemLocation l, unsigned flags, void *stream),
       (ptr, bytes, l, flags, stream))
{
    return flags ? cudaErrorInvalidValue : prefetch(s, ptr, bytes, check_location(l), stream);
}
WG_PTSZ(cudaMemPrefetchAsync_v2, (const void *, size_t, struct cudaMemLocation, unsigned, void *));

WG_API(cudaMemAdvise_v2, CONTEXT, (const void *ptr, size_t bytes, int advice, struct cudaMemLocation l),
       (ptr, bytes, advice, l))
{
    return advise(s, ptr, bytes, advice, check_location(l));
}

#if WG_CUDART_MAJOR >= 13 /* the new form took over the old name */
WG_ALIAS(cudaMemPrefetchAsync, cudaMemPrefetchAsync_v2,
         (const void *, size_t, struct cudaMemLocation, unsigned, void *));
WG_ALIAS(cudaMemPrefetchAsync_ptsz, cudaMemPrefetchAsync_v2,
         (const void *, size_t, struct cudaMemLocation, unsigned, void *));
WG_ALIAS(cudaMemAdvise, cudaMemAdvise_v2, (const void *, size_t, int, struct cudaMemLocation));
#else
static enum cudaError check_place(int device)
{
    return device == 0 || device == -1 ? cudaSuccess : cudaErrorInvalidDevice;
}

WG_API(cudaMemPrefetchAsync, CONTEXT, (const void *ptr, size_t bytes, int device, void *stream),
       (ptr, bytes, device, stream))
{
    return prefetch(s, ptr, bytes, check_place(device), stream);
}
WG_PTSZ(cudaMemPrefetchAsync, (const void *, size_t, int, void *));

WG_API(cudaMemAdvise, CONTEXT, (const void *ptr, size_t bytes, int advice, int device), (ptr, bytes, advice, device))
{
    return advise(s, ptr, bytes, advice, check_place(device));
}
#endif

WG_API(cudaStreamAttachMemAsync, CONTEXT, (void *stream, void *ptr, size_t length, unsigned flags),
       (stream, ptr, length, flags))
{
    struct wg_mem *m = ptr ? wg_mem_find(s, (uint64_t)(uintptr_t)ptr) : NULL;
    if (!wg_stream_known(s, stream))
        return cudaErrorInvalidResourceHandle;
    if (!m || m->kind != WG_MEM_MANAGED || m->base != (uint64_t)(uintptr_t)ptr || (length && length != m->bytes) ||
        (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle))
        return cudaErrorInvalidValue;
    m->flags = flags;
    return cudaSuccess;
}
WG_PTSZ(cudaStreamAttachMemAsync, (void *, void *, size_t, unsigned));

/* ---- stream-ordered allocation: in issue order, so allocating and freeing at once is what a stream would show -----
 */

static bool same_pool(struct wg_shim *s, struct wg_pool *p)
{
    struct wg_pool *q = NULL;
    HASH_FIND_PTR(s->pools, &p, q);
    return q != NULL;
}

static struct wg_pool *new_pool(struct wg_shim *s, const struct cudaMemPoolProps *props)
{
    struct wg_pool *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->handle = p;
    p->props = *props;
    p->reuse[0] = p->reuse[1] = p->reuse[2] = 1;
    HASH_ADD_PTR(s->pools, handle, p);
    return p;
}

static struct wg_pool *default_pool(struct wg_shim *s)
{
    struct wg_pool *p, *pn;
    HASH_ITER(hh, s->pools, p, pn)
        if (p->is_default)
            return p;
    p = new_pool(s, &(struct cudaMemPoolProps){.allocType = cudaMemAllocationTypePinned,
                                               .location = {cudaMemLocationTypeDevice, 0}});
    if (p)
        p->is_default = true;
    return p;
}

void wg_pool_free_all(struct wg_shim *s)
{
    struct wg_pool *p, *pn;
    HASH_ITER(hh, s->pools, p, pn) {
        HASH_DEL(s->pools, p);
        free(p);
    }
    s->current_pool = NULL;
}

static enum cudaError pool_alloc(struct wg_shim *s, void **out, size_t bytes, struct wg_pool *p, void *stream)
{
    if (!out)
        return cudaErrorInvalidValue;
    if (!wg_stream_known(s, stream))
        return cudaErrorInvalidResourceHandle;
    if (!p)
        return cudaErrorMemoryAllocation;
    if (bytes == 0) {
        *out = NULL;
        return cudaSuccess;
    }
    enum cudaError e;
    struct wg_node *n = wg_capture_node(s, stream, WG_NODE_ALLOC, &e);
    if (n) {
        n->memory.bytes = bytes;
        e = wg_mem_for_graph(s, &n->memory.at, bytes, &n->memory.mem);
        *out = n->memory.at;
    }
    if (n || e != cudaSuccess)
        return e;
    e = allocate(s, out, bytes, WG_MEM_POOL, 0);
    if (e != cudaSuccess)
        return e;
    mem_at(s, (uint64_t)(uintptr_t)*out)->pool = p;
    p->used += bytes;
    if (p->used > p->used_high)
        p->used_high = p->used;
    return cudaSuccess;
}

WG_API(cudaMallocAsync, CONTEXT, (void **out, size_t bytes, void *stream), (out, bytes, stream))
{
    return pool_alloc(s, out, bytes, s->current_pool ? s->current_pool : default_pool(s), stream);
}
WG_PTSZ(cudaMallocAsync, (void **, size_t, void *));

WG_API(cudaMallocFromPoolAsync, CONTEXT, (void **out, size_t bytes, struct wg_pool *p, void *stream),
       (out, bytes, p, stream))
{
    return same_pool(s, p) ? pool_alloc(s, out, bytes, p, stream) : cudaErrorInvalidValue;
}
WG_PTSZ(cudaMallocFromPoolAsync, (void **, size_t, struct wg_pool *, void *));

WG_API(cudaFreeAsync, CONTEXT, (void *p, void *stream), (p, stream))
{
    if (!wg_stream_known(s, stream))
        return cudaErrorInvalidResourceHandle;
    if (!p)
        return cudaSuccess;
    struct wg_mem *m = mem_at(s, (uint64_t)(uintptr_t)p);
    if (!m || m->kind == WG_MEM_HOST || m->kind == WG_MEM_MANAGED)
        return cudaErrorInvalidValue;
    enum cudaError e;
    struct wg_node *n = wg_capture_node(s, stream, WG_NODE_FREE, &e);
    if (n)
        n->memory.at = p;
    if (n || e != cudaSuccess || m->graph)
        return e;
    if (m->pool)
        m->pool->used -= m->bytes;
    return release(s, m);
}
WG_PTSZ(cudaFreeAsync, (void *, void *));

WG_API(cudaMemPoolCreate, CONTEXT, (struct wg_pool **out, const struct cudaMemPoolProps *props), (out, props))
{
    if (!out || !props || props->allocType == 0 || props->location.type == cudaMemLocationTypeInvalid)
        return cudaErrorInvalidValue;
    if (props->handleTypes || props->allocType != cudaMemAllocationTypePinned ||
        props->location.type != cudaMemLocationTypeDevice)
        return wg_shim_refuse("cudaMemPoolCreate", "a pool that is shared, managed or on the host");
    if (props->location.id != 0)
        return cudaErrorInvalidDevice;
    *out = new_pool(s, props);
    return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}

WG_API(cudaMemPoolDestroy, CONTEXT, (struct wg_pool *p), (p))
{
    if (!same_pool(s, p) || p->is_default)
        return cudaErrorInvalidValue;
    struct wg_mem *m, *mn;
    HASH_ITER(hh, s->mems, m, mn)
        if (m->pool == p)
            m->pool = NULL; /* still usable until freed */
    if (s->current_pool == p)
        s->current_pool = NULL;
    HASH_DEL(s->pools, p);
    free(p);
    return cudaSuccess;
}

WG_API(cudaMemPoolTrimTo, CONTEXT, (struct wg_pool *p, size_t keep), (p, keep))
{
    (void)keep; /* nothing is held back */
    return same_pool(s, p) ? cudaSuccess : cudaErrorInvalidValue;
}

WG_API(cudaMemPoolSetAttribute, CONTEXT, (struct wg_pool *p, int attr, void *value), (p, attr, value))
{
    if (!same_pool(s, p) || !value)
        return cudaErrorInvalidValue;
    switch (attr) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        p->reuse[attr - 1] = *(int *)value != 0;
        return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold:
        p->release_threshold = *(uint64_t *)value;
        return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
        if (*(uint64_t *)value != 0)
            return cudaErrorInvalidValue;
        p->used_high = p->used;
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

/* A driver takes memory for a pool in pieces of 32 MiB. */
static uint64_t reserved(uint64_t used) { return (used + (32u << 20) - 1) >> 25 << 25; }

WG_API(cudaMemPoolGetAttribute, CONTEXT, (struct wg_pool *p, int attr, void *value), (p, attr, value))
{
    if (!same_pool(s, p) || !value)
        return cudaErrorInvalidValue;
    switch (attr) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        *(int *)value = p->reuse[attr - 1];
        return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold:
        *(uint64_t *)value = p->release_threshold;
        return cudaSuccess;
    case cudaMemPoolAttrReservedMemCurrent:
        *(uint64_t *)value = reserved(p->used);
        return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
        *(uint64_t *)value = reserved(p->used_high);
        return cudaSuccess;
    case cudaMemPoolAttrUsedMemCurrent:
        *(uint64_t *)value = p->used;
        return cudaSuccess;
    case cudaMemPoolAttrUsedMemHigh:
        *(uint64_t *)value = p->used_high;
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

WG_API(cudaMemPoolSetAccess, CONTEXT, (struct wg_pool *p, const struct cudaMemAccessDesc *d, size_t n), (p, d, n))
{
    if (!same_pool(s, p) || (n && !d))
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < n; i++)
        if (d[i].location.type != cudaMemLocationTypeDevice || d[i].location.id != 0)
            return cudaErrorInvalidDevice;
        else if (d[i].flags != 3)
            return cudaErrorInvalidValue; /* the owner's access cannot be taken away */
    return cudaSuccess;
}

WG_API(cudaMemPoolGetAccess, CONTEXT, (int *flags, struct wg_pool *p, struct cudaMemLocation *l), (flags, p, l))
{
    if (!same_pool(s, p) || !flags || !l)
        return cudaErrorInvalidValue;
    if (l->type != cudaMemLocationTypeDevice || l->id != 0)
        return cudaErrorInvalidDevice;
    *flags = 3;
    return cudaSuccess;
}

WG_API(cudaDeviceGetDefaultMemPool, CONTEXT, (struct wg_pool **out, int device), (out, device))
{
    if (!out)
        return cudaErrorInvalidValue;
    if (device != 0)
        return cudaErrorInvalidDevice;
    *out = default_pool(s);
    return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}

WG_API(cudaDeviceGetMemPool, CONTEXT, (struct wg_pool **out, int device), (out, device))
{
    if (!out)
        return cudaErrorInvalidValue;
    if (device != 0)
        return cudaErrorInvalidDevice;
    *out = s->current_pool ? s->current_pool : default_pool(s);
    return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}

WG_API(cudaDeviceSetMemPool, CONTEXT, (int device, struct wg_pool *p), (device, p))
{
    if (device != 0)
        return cudaErrorInvalidDevice;
    if (!same_pool(s, p))
        return cudaErrorInvalidValue;
    s->current_pool = p;
    return cudaSuccess;
}
