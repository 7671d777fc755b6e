/* func.c - kernel attributes and occupancy queries. */
#include "shim/image.h"
#include <string.h>

size_t wg_func_dynamic_limit(const struct wg_shim *s, const struct wg_func *f)
{
    const size_t room = s->gpu.cc->smem_per_block, fixed = f->info.static_shared;
    return f->max_dynamic_shared >= 0 ? (size_t)f->max_dynamic_shared : fixed < room ? room - fixed : 0;
}

static enum cudaError get_attributes(struct wg_shim *s, struct cudaFuncAttributes *a, const void *func)
{
    struct wg_func *f;
    if (!a)
        return cudaErrorInvalidValue;
    enum cudaError e = wg_image_func(s, func, &f);
    if (e != cudaSuccess)
        return e;
    memset(a, 0, sizeof *a);
    a->sharedSizeBytes = f->info.static_shared;
    a->constSizeBytes = f->info.const_bytes;
    a->localSizeBytes = f->info.local_bytes;
    a->numRegs = (int)f->info.registers;
    a->ptxVersion = (int)f->info.sm;
    a->binaryVersion = s->gpu.cc->major * 10 + s->gpu.cc->minor;
    a->preferredShmemCarveout = f->carveout;
    a->maxDynamicSharedSizeBytes = (int)wg_func_dynamic_limit(s, f);
    /* The largest block that the launch bounds and the register file allow. */
    int threads = (int)f->info.max_threads;
    while (threads > 32 && wg_device_blocks(&s->gpu, (unsigned)threads, f->info.registers, 0, 0) == 0)
        threads = (threads - 1) / 32 * 32;
    a->maxThreadsPerBlock = threads;
#if WG_CUDART_MAJOR >= 12
    a->requiredClusterWidth = f->cluster[0];
    a->requiredClusterHeight = f->cluster[1];
    a->requiredClusterDepth = f->cluster[2];
    a->clusterDimMustBeSet = 0;
    a->clusterSchedulingPolicyPreference = f->cluster_policy;
    a->nonPortableClusterSizeAllowed = f->nonportable_cluster;
#endif
    return cudaSuccess;
}

WG_API(cudaFuncGetAttributes, CONTEXT, (struct cudaFuncAttributes *a, const void *func), (a, func))
{
    return get_attributes(s, a, func);
}

static enum cudaError set_attribute(struct wg_shim *s, const void *func, int attr, int value)
{
    struct wg_func *f;
    enum cudaError e = wg_image_func(s, func, &f);
    if (e != cudaSuccess)
        return e;
    switch (attr) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0 || f->info.static_shared + (size_t)value > (size_t)s->gpu.cc->smem_per_block_optin)
            return cudaErrorInvalidValue;
        f->max_dynamic_shared = value;
        return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
        if (value < -1 || value > 100)
            return cudaErrorInvalidValue;
        f->carveout = value;
        return cudaSuccess;
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
        if (value < 0 || !s->gpu.cc->cluster_max)
            return cudaErrorInvalidValue;
        f->cluster[attr - cudaFuncAttributeRequiredClusterWidth] = value;
        return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
        f->nonportable_cluster = value != 0;
        return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
        if (value < 0 || value > 2)
            return cudaErrorInvalidValue;
        f->cluster_policy = value;
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

WG_API(cudaFuncSetAttribute, CONTEXT, (const void *func, int attr, int value), (func, attr, value))
{
    return set_attribute(s, func, attr, value);
}

WG_API(cudaKernelSetAttributeForDevice, CONTEXT, (const void *func, int attr, int value, int device),
       (func, attr, value, device))
{
    return device != 0 ? cudaErrorInvalidDevice : set_attribute(s, func, attr, value);
}

WG_API(cudaFuncSetCacheConfig, CONTEXT, (const void *func, int config), (func, config))
{
    struct wg_func *f;
    if (config < 0 || config > 3)
        return cudaErrorInvalidValue;
    enum cudaError e = wg_image_func(s, func, &f);
    if (e == cudaSuccess)
        f->cache_config = config;
    return e;
}

WG_API(cudaFuncSetSharedMemConfig, CONTEXT, (const void *func, int config), (func, config))
{
    struct wg_func *f;
    return config < 0 || config > 2 ? cudaErrorInvalidValue : wg_image_func(s, func, &f);
}

WG_API(cudaFuncGetName, CONTEXT, (const char **name, const void *func), (name, func))
{
    struct wg_func *f;
    if (!name)
        return cudaErrorInvalidValue;
    enum cudaError e = wg_image_func(s, func, &f);
    if (e == cudaSuccess)
        *name = f->name;
    return e;
}

WG_API(cudaFuncGetParamInfo, CONTEXT, (const void *func, size_t i, size_t *offset, size_t *bytes),
       (func, i, offset, bytes))
{
    struct wg_func *f;
    if (!offset)
        return cudaErrorInvalidValue;
    enum cudaError e = wg_image_func(s, func, &f);
    if (e != cudaSuccess)
        return e;
    if (i >= f->info.nparams)
        return cudaErrorInvalidValue;
    *offset = f->info.params[i].offset;
    if (bytes)
        *bytes = f->info.params[i].bytes;
    return cudaSuccess;
}

/* ---- occupancy -------------------------------------------------------------------------------------------------- */

static enum cudaError blocks_per_sm(struct wg_shim *s, int *out, const void *func, int threads, size_t shared)
{
    struct wg_func *f;
    if (!out || threads <= 0)
        return cudaErrorInvalidValue;
    enum cudaError e = wg_image_func(s, func, &f);
    if (e != cudaSuccess)
        return e;
    /* As CUDA does: launch bounds do not count here, the limit on dynamic shared memory does. */
    *out = shared > wg_func_dynamic_limit(s, f)
               ? 0
               : wg_device_blocks(&s->gpu, (unsigned)threads, f->info.registers, f->info.static_shared, shared);
    return cudaSuccess;
}

WG_API(cudaOccupancyMaxActiveBlocksPerMultiprocessor, CONTEXT, (int *out, const void *func, int threads, size_t shared),
       (out, func, threads, shared))
{
    return blocks_per_sm(s, out, func, threads, shared);
}

WG_API(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, CONTEXT,
       (int *out, const void *func, int threads, size_t shared, unsigned flags), (out, func, threads, shared, flags))
{
    return flags > 1 ? cudaErrorInvalidValue : blocks_per_sm(s, out, func, threads, shared);
}

WG_API(cudaOccupancyAvailableDynamicSMemPerBlock, CONTEXT, (size_t *out, const void *func, int blocks, int threads),
       (out, func, blocks, threads))
{
    struct wg_func *f;
    if (!out || blocks <= 0 || threads <= 0)
        return cudaErrorInvalidValue;
    enum cudaError e = wg_image_func(s, func, &f);
    if (e != cudaSuccess)
        return e;
    /* The most for which that many blocks still fit; fitting falls as the size grows, so halve the interval. */
    size_t low = 0, high = wg_func_dynamic_limit(s, f) + 1;
    if (wg_device_blocks(&s->gpu, (unsigned)threads, f->info.registers, f->info.static_shared, 0) < blocks)
        return cudaErrorInvalidValue;
    while (high - low > 1) {
        const size_t mid = low + (high - low) / 2;
        if (wg_device_blocks(&s->gpu, (unsigned)threads, f->info.registers, f->info.static_shared, mid) >= blocks)
            low = mid;
        else
            high = mid;
    }
    *out = low;
    return cudaSuccess;
}

static enum cudaError shape_of(struct wg_shim *s, const void *func, const struct cudaLaunchConfig *c,
                               struct wg_func **f, unsigned *cluster)
{
    const uint64_t threads = (uint64_t)c->blockDim.x * c->blockDim.y * c->blockDim.z;
    enum cudaError e = wg_image_func(s, func, f);
    if (e != cudaSuccess)
        return e;
    *cluster = 1;
    for (unsigned i = 0; c->attrs && i < c->numAttrs; i++)
        if (c->attrs[i].id == cudaLaunchAttributeClusterDimension)
            *cluster = c->attrs[i].val.clusterDim.x * c->attrs[i].val.clusterDim.y * c->attrs[i].val.clusterDim.z;
    return threads == 0 || threads > s->gpu.cc->threads_per_block ? cudaErrorInvalidConfiguration : cudaSuccess;
}

static int clusters(struct wg_shim *s, const struct wg_func *f, const struct cudaLaunchConfig *c, unsigned cluster)
{
    if (c->dynamicSmemBytes > wg_func_dynamic_limit(s, f))
        return 0;
    return wg_device_clusters(&s->gpu, c->blockDim.x * c->blockDim.y * c->blockDim.z, f->info.registers,
                              f->info.static_shared, c->dynamicSmemBytes, cluster);
}

WG_API(cudaOccupancyMaxPotentialClusterSize, CONTEXT, (int *out, const void *func, const struct cudaLaunchConfig *c),
       (out, func, c))
{
    struct wg_func *f;
    unsigned asked;
    if (!out || !c)
        return cudaErrorInvalidValue;
    if (!s->gpu.cc->cluster_max)
        return cudaErrorNotSupported;
    enum cudaError e = shape_of(s, func, c, &f, &asked);
    if (e != cudaSuccess)
        return e;
    unsigned n = f->nonportable_cluster ? s->gpu.cc->cluster_max : s->gpu.cc->cluster_portable;
    while (n > 1 && clusters(s, f, c, n) == 0)
        n--;
    *out = (int)n;
    return cudaSuccess;
}

WG_API(cudaOccupancyMaxActiveClusters, CONTEXT, (int *out, const void *func, const struct cudaLaunchConfig *c),
       (out, func, c))
{
    struct wg_func *f;
    unsigned cluster;
    if (!out || !c)
        return cudaErrorInvalidValue;
    if (!s->gpu.cc->cluster_max)
        return cudaErrorNotSupported;
    enum cudaError e = shape_of(s, func, c, &f, &cluster);
    if (e != cudaSuccess)
        return e;
    if (cluster == 0 || cluster > (f->nonportable_cluster ? s->gpu.cc->cluster_max : s->gpu.cc->cluster_portable))
        return cudaErrorInvalidClusterSize;
    *out = clusters(s, f, c, cluster);
    return cudaSuccess;
}
