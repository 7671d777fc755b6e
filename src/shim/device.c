/* device.c - device queries and settings: one device, the modelled one. */
#include "shim/props.h"
#include "shim/state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool attribute(const struct wg_device *gpu, int attr, int *value)
{
    switch (attr) {
#define WG_ATTR(number, name, v)                                                                                       \
    case number:                                                                                                       \
        *value = v;                                                                                                    \
        return true;
#include "shim/attrs.def"
#undef WG_ATTR
    default:
        return false;
    }
}

WG_API(cudaGetDeviceCount, GPU, (int *count), (count))
{
    if (!count)
        return cudaErrorInvalidValue;
    *count = 1;
    return cudaSuccess;
}

WG_API(cudaGetDevice, GPU, (int *device), (device))
{
    if (!device)
        return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
}

WG_API(cudaSetDevice, GPU, (int device), (device)) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }

WG_API(cudaInitDevice, CONTEXT, (int device, unsigned device_flags, unsigned flags), (device, device_flags, flags))
{
    if (device != 0)
        return cudaErrorInvalidDevice;
    flags &= 1; /* the rest is ignored */
    if (flags && (device_flags & ~(unsigned)cudaDeviceMask))
        return cudaErrorInvalidValue;
    if (flags)
        s->device_flags = device_flags;
    return cudaSuccess;
}

WG_API(cudaSetValidDevices, GPU, (int *devices, int n), (devices, n))
{
    if (n < 0 || (n && !devices))
        return cudaErrorInvalidValue;
    for (int i = 0; i < n; i++)
        if (devices[i] != 0)
            return cudaErrorInvalidDevice;
    return cudaSuccess;
}

WG_API(cudaDeviceGetAttribute, GPU, (int *value, int attr, int device), (value, attr, device))
{
    if (!value)
        return cudaErrorInvalidValue;
    if (device != 0)
        return cudaErrorInvalidDevice;
    return attribute(&s->gpu, attr, value) ? cudaSuccess : cudaErrorInvalidValue;
}

static int attr_value(const struct wg_device *gpu, int attr)
{
    int v = 0;
    attribute(gpu, attr, &v);
    return v;
}

void wg_device_identify(const struct wg_device *gpu, char name[256], unsigned char uuid[16])
{
    snprintf(name, 256, "%s", gpu->name);
    memset(uuid, 0, 16); /* no board: the name, so that programs can tell two models apart */
    memcpy(uuid, "wg", 2);
    memcpy(uuid + 2, gpu->name, strnlen(gpu->name, 14));
}

#define WG_PROP(type, field, attr)        p->field = (type)attr_value(gpu, attr);
#define WG_PROP2(type, field, a, b)       p->field[0] = attr_value(gpu, a), p->field[1] = attr_value(gpu, b);
#define WG_PROP3(type, field, a, b, c)                                                                                 \
    p->field[0] = attr_value(gpu, a), p->field[1] = attr_value(gpu, b), p->field[2] = attr_value(gpu, c);
#define WG_PROP_RAW(type, field, dims, code) code;

static void fill_old(const struct wg_device *gpu, struct wg_props_old *p)
{
    memset(p, 0, sizeof *p);
    wg_device_identify(gpu, p->name, p->uuid);
#define WG_IN_OLD(x) x
#define WG_IN_TAIL(x)
#define WG_IN_NEW(x)
#include "shim/props.def"
#undef WG_IN_OLD
#undef WG_IN_TAIL
#undef WG_IN_NEW
}

static void fill_v2(const struct wg_device *gpu, struct wg_props_v2 *p)
{
    memset(p, 0, sizeof *p);
    wg_device_identify(gpu, p->name, p->uuid);
#define WG_IN_OLD(x) x
#define WG_IN_TAIL(x) x
#define WG_IN_NEW(x)
#include "shim/props.def"
#undef WG_IN_OLD
#undef WG_IN_TAIL
#undef WG_IN_NEW
}

static void fill_13(const struct wg_device *gpu, struct wg_props_13 *p)
{
    memset(p, 0, sizeof *p);
    wg_device_identify(gpu, p->name, p->uuid);
#define WG_IN_OLD(x)
#define WG_IN_TAIL(x) x
#define WG_IN_NEW(x) x
#include "shim/props.def"
#undef WG_IN_OLD
#undef WG_IN_TAIL
#undef WG_IN_NEW
}
#undef WG_PROP
#undef WG_PROP2
#undef WG_PROP3
#undef WG_PROP_RAW

static enum cudaError check_device(const void *out, int device)
{
    return !out ? cudaErrorInvalidValue : device != 0 ? cudaErrorInvalidDevice : cudaSuccess;
}

/* One name, three layouts: through CUDA 12.0 the plain name fills the old one; 12 adds _v2 with more fields at the end;
 * 13 gives the plain name to a layout with some fields gone. All three are always compiled, so that they are tested. */
WG_API(cudaGetDeviceProperties, GPU, (void *out, int device), (out, device))
{
    enum cudaError e = check_device(out, device);
    if (e != cudaSuccess)
        return e;
    if (WG_CUDART_MAJOR >= 13)
        fill_13(&s->gpu, out);
    else
        fill_old(&s->gpu, out);
    return cudaSuccess;
}

WG_API(cudaGetDeviceProperties_v2, GPU, (void *out, int device), (out, device))
{
    enum cudaError e = check_device(out, device);
    if (e == cudaSuccess)
        fill_v2(&s->gpu, out);
    return e;
}

WG_API(cudaChooseDevice, GPU, (int *device, const void *prop), (device, prop))
{
    if (!device || !prop)
        return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
}

static const char bus_id[] = "0000:01:00.0";

WG_API(cudaDeviceGetPCIBusId, GPU, (char *out, int n, int device), (out, n, device))
{
    if (device != 0)
        return cudaErrorInvalidDevice;
    if (!out || n < (int)sizeof bus_id)
        return cudaErrorInvalidValue;
    memcpy(out, bus_id, sizeof bus_id);
    return cudaSuccess;
}

WG_API(cudaDeviceGetByPCIBusId, GPU, (int *device, const char *id), (device, id))
{
    unsigned domain = 0, bus, slot, fn;
    if (!device || !id)
        return cudaErrorInvalidValue;
    if (sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &fn) != 4) {
        domain = 0;
        if (sscanf(id, "%x:%x.%x", &bus, &slot, &fn) != 3)
            return cudaErrorInvalidValue;
    }
    if (domain != 0 || bus != 1 || slot != 0 || fn != 0)
        return cudaErrorInvalidDevice;
    *device = 0;
    return cudaSuccess;
}

WG_API0(cudaDeviceReset, GPU)
{
    wg_shim_reset(s);
    return cudaSuccess;
}

WG_API(cudaSetDeviceFlags, GPU, (unsigned flags), (flags))
{
    const unsigned how = flags & cudaDeviceScheduleMask;
    if ((flags & ~(unsigned)cudaDeviceMask) || (how & (how - 1)))
        return cudaErrorInvalidValue;
    s->device_flags = flags;
    return cudaSuccess;
}

WG_API(cudaGetDeviceFlags, GPU, (unsigned *flags), (flags))
{
    if (!flags)
        return cudaErrorInvalidValue;
    *flags = s->device_flags | cudaDeviceMapHost;
    return cudaSuccess;
}

/* ---- limits and preferences: kept and given back ---------------------------------------------------------------- */

static enum cudaError set_limit(struct wg_shim *s, int limit, size_t value)
{
    enum { STACK_MOST = 512 << 10, HEAP_LEAST = 4 << 20 };
    if (limit < 0 || limit >= WG_CUDA_LIMIT_SHARED || (limit == cudaLimitStackSize && value > STACK_MOST))
        return cudaErrorInvalidValue;
    if (limit == cudaLimitDevRuntimeSyncDepth && s->gpu.cc->major >= 9)
        return cudaErrorUnsupportedLimit;
    s->limits[limit] = limit == cudaLimitMallocHeapSize && value < HEAP_LEAST ? HEAP_LEAST : value;
    return cudaSuccess;
}

static enum cudaError get_limit(struct wg_shim *s, size_t *value, int limit)
{
    if (!value || limit < 0 || limit >= WG_CUDA_LIMIT_COUNT)
        return cudaErrorInvalidValue;
    if (limit == cudaLimitDevRuntimeSyncDepth && s->gpu.cc->major >= 9)
        return cudaErrorUnsupportedLimit;
    *value = s->limits[limit];
    return cudaSuccess;
}

static enum cudaError set_cache(struct wg_shim *s, int config)
{
    if (config < 0 || config > 3)
        return cudaErrorInvalidValue;
    s->cache_config = config;
    return cudaSuccess;
}

static enum cudaError get_cache(struct wg_shim *s, int *config)
{
    if (!config)
        return cudaErrorInvalidValue;
    *config = s->cache_config;
    return cudaSuccess;
}

WG_API(cudaDeviceSetLimit, CONTEXT, (int limit, size_t value), (limit, value)) { return set_limit(s, limit, value); }
WG_API(cudaDeviceGetLimit, CONTEXT, (size_t *value, int limit), (value, limit)) { return get_limit(s, value, limit); }
WG_API(cudaDeviceSetCacheConfig, CONTEXT, (int config), (config)) { return set_cache(s, config); }
WG_API(cudaDeviceGetCacheConfig, CONTEXT, (int *config), (config)) { return get_cache(s, config); }

WG_API(cudaDeviceSetSharedMemConfig, CONTEXT, (int config), (config))
{
    return config < 0 || config > 2 ? cudaErrorInvalidValue : cudaSuccess; /* banks are 4 bytes wide since Maxwell */
}

WG_API(cudaDeviceGetSharedMemConfig, CONTEXT, (int *config), (config))
{
    if (!config)
        return cudaErrorInvalidValue;
    *config = 1;
    return cudaSuccess;
}

/* Names that CUDA 13 dropped: old sources built with our own headers still use them. */
WG_API0(cudaThreadExit, GPU)
{
    wg_shim_reset(s);
    return cudaSuccess;
}
WG_API(cudaThreadSetLimit, CONTEXT, (int limit, size_t value), (limit, value)) { return set_limit(s, limit, value); }
WG_API(cudaThreadGetLimit, CONTEXT, (size_t *value, int limit), (value, limit)) { return get_limit(s, value, limit); }
WG_API(cudaThreadSetCacheConfig, CONTEXT, (int config), (config)) { return set_cache(s, config); }
WG_API(cudaThreadGetCacheConfig, CONTEXT, (int *config), (config)) { return get_cache(s, config); }
WG_API(cudaSetDoubleForDevice, NOTHING, (double *d), (d)) { return d ? cudaSuccess : cudaErrorInvalidValue; }
WG_API(cudaSetDoubleForHost, NOTHING, (double *d), (d)) { return d ? cudaSuccess : cudaErrorInvalidValue; }

WG_API0(cudaCtxResetPersistingL2Cache, CONTEXT) { return cudaSuccess; }

WG_API(cudaDeviceFlushGPUDirectRDMAWrites, CONTEXT, (int target, int scope), (target, scope))
{
    (void)target, (void)scope;
    return wg_shim_refuse("cudaDeviceFlushGPUDirectRDMAWrites", "the modelled device has no GPUDirect RDMA");
}

/* ---- other devices: there are none ------------------------------------------------------------------------------ */

WG_API(cudaDeviceCanAccessPeer, GPU, (int *can, int device, int peer), (can, device, peer))
{
    if (!can)
        return cudaErrorInvalidValue;
    if (device != 0 || peer != 0)
        return cudaErrorInvalidDevice;
    *can = 0;
    return cudaSuccess;
}

WG_API(cudaDeviceEnablePeerAccess, CONTEXT, (int peer, unsigned flags), (peer, flags))
{
    return flags ? cudaErrorInvalidValue : peer == 0 ? cudaErrorPeerAccessUnsupported : cudaErrorInvalidDevice;
}

WG_API(cudaDeviceDisablePeerAccess, CONTEXT, (int peer), (peer))
{
    return peer == 0 ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice;
}

WG_API(cudaDeviceGetP2PAttribute, GPU, (int *value, int attr, int from, int to), (value, attr, from, to))
{
    (void)from, (void)to;
    return !value || attr < 1 || attr > 5 ? cudaErrorInvalidValue : cudaErrorInvalidDevice;
}

/* ---- versions and profilers ------------------------------------------------------------------------------------- */

/* The newest minor version of each major one whose calls are in calls.def. */
static const int version = WG_CUDART_MAJOR >= 13 ? 13000 : WG_CUDART_MAJOR == 12 ? 12080 : 11080;

WG_API(cudaRuntimeGetVersion, NOTHING, (int *out), (out))
{
    if (!out)
        return cudaErrorInvalidValue;
    *out = version;
    return cudaSuccess;
}

WG_API(cudaDriverGetVersion, NOTHING, (int *out), (out))
{
    if (!out)
        return cudaErrorInvalidValue;
    *out = 13000; /* as a driver that runs every runtime we stand in for */
    return cudaSuccess;
}

WG_API0(cudaProfilerStart, CONTEXT) { return cudaSuccess; }
WG_API0(cudaProfilerStop, CONTEXT) { return cudaSuccess; }
