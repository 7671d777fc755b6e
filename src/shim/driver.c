/* driver.c - the driver API: initialising, devices, contexts, errors, streams and events, looking up calls by name. */
#include "shim/driver.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Contexts are names for the one there is: memory and modules belong to the device. */
struct context {
    unsigned id, flags;
    bool primary, live;
};
enum { CONTEXTS = 64, DEPTH = 32 };
static struct {
    bool init;
    struct context all[CONTEXTS]; /* [0]: the primary one */
    unsigned used;                /* besides the primary one */
    unsigned retained;
} driver; /* guarded by the shim's lock */
static _Thread_local struct context *stack[DEPTH];
static _Thread_local int depth;

static struct context *primary(void)
{
    driver.all[0].primary = driver.all[0].live = true;
    return &driver.all[0];
}

/* The runtime API makes the primary context current in every thread that has none; a program that makes contexts of
 * its own is held to them. */
static struct context *current(const struct wg_shim *s)
{
    return depth ? stack[depth - 1] : s->active && !driver.used ? primary() : NULL;
}

int wg_driver_ready(enum wg_driver_need need, enum cudaError *last)
{
    struct wg_shim *s = wg_shim_lock();
    const bool init = driver.init || s->active, context = current(s) != NULL;
    *last = wg_shim_last_error(false);
    wg_shim_unlock(s);
    if (need >= WG_DRIVER_INIT && !init)
        return CUDA_ERROR_NOT_INITIALIZED;
    return need == WG_DRIVER_CONTEXT && !context ? CUDA_ERROR_INVALID_CONTEXT : 0;
}

/* From 100 on the numbers are the same; below, the runtime has names for what the driver calls an invalid value. */
int wg_driver_result(int e, enum cudaError last)
{
    wg_shim_set_last_error(last);
    switch (e) {
    case cudaErrorInvalidSymbol:
    case cudaErrorInvalidDeviceFunction:
        return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidChannelDescriptor:
    case cudaErrorInvalidFilterSetting:
    case cudaErrorInvalidNormSetting:
    case cudaErrorInvalidTexture:
        return cudaErrorInvalidValue;
    default:
        return e;
    }
}

/* ---- initialising, versions, errors ----------------------------------------------------------------------------- */

WG_EXPORT int cuInit(unsigned flags);
int cuInit(unsigned flags)
{
    struct wg_shim *s;
    if (flags)
        return cudaErrorInvalidValue;
    const enum cudaError last = wg_shim_last_error(false);
    enum cudaError e = wg_shim_enter(&s, WG_NEED_GPU);
    driver.init |= e == cudaSuccess;
    wg_shim_leave(s, e, "cuInit");
    return wg_driver_result(e, last);
}

WG_EXPORT int cudaDriverGetVersion(int *);
WG_SAME(cuDriverGetVersion, NOTHING, (int *v), cudaDriverGetVersion(v))

struct text {
    int code;
    const char *name;
};
static const struct text texts[] = {
#define WG_DRIVER_ERROR(code, name) {code, #name},
#include "shim/driver_errors.def"
#undef WG_DRIVER_ERROR
};

static const struct text *find(int code)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].code == code)
            return &texts[i];
    return NULL;
}

WG_EXPORT const char *cudaGetErrorString(int);
#define TEXT_CALL(call, what)                                                                                          \
    WG_EXPORT int call(int code, const char **out);                                                                    \
    int call(int code, const char **out)                                                                               \
    {                                                                                                                  \
        const struct text *t = find(code);                                                                             \
        if (!out)                                                                                                      \
            return cudaErrorInvalidValue;                                                                              \
        *out = t ? what : NULL;                                                                                        \
        return t ? cudaSuccess : cudaErrorInvalidValue;                                                                \
    }
TEXT_CALL(cuGetErrorName, t->name)
TEXT_CALL(cuGetErrorString, cudaGetErrorString(code))

/* ---- calls by name ------------------------------------------------------------------------------------------------
 */

/* Assembler names, since the calls have their types elsewhere. */
#define WG_CALL(name, names, state, note) extern char wg_entry_##name[] __asm__(#name);
#include "shim/driver.def"
#undef WG_CALL
static const struct {
    const char *name;
    char *at;
} entries[] = {
#define WG_CALL(name, names, state, note) {#name, wg_entry_##name},
#include "shim/driver.def"
#undef WG_CALL
};

/* The newest form of a call: cuMemAlloc is cuMemAlloc_v2. */
static void *newest(const char *name)
{
    void *best = NULL;
    const size_t n = strlen(name);
    int best_version = 0;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        const char *rest = entries[i].name + n;
        int version = 1;
        if (strncmp(entries[i].name, name, n) != 0 || (*rest && sscanf(rest, "_v%d", &version) != 1))
            continue;
        if (version > best_version) {
            best_version = version;
            best = entries[i].at;
        }
    }
    return best;
}

static int look_up(const char *name, void **out, int *status)
{
    if (!name || !out)
        return cudaErrorInvalidValue;
    *out = newest(name);
    if (status)
        *status = *out ? 0 : 1; /* CU_GET_PROC_ADDRESS_SUCCESS, SYMBOL_NOT_FOUND */
    return *out ? cudaSuccess : CUDA_ERROR_NOT_FOUND;
}

WG_EXPORT int cuGetProcAddress(const char *name, void **out, int version, uint64_t flags);
int cuGetProcAddress(const char *name, void **out, int version, uint64_t flags)
{
    (void)version, (void)flags; /* every version that a program may ask for has this form or takes it */
    return look_up(name, out, NULL);
}
WG_EXPORT int cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags, int *status);
int cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags, int *status)
{
    (void)version, (void)flags;
    return look_up(name, out, status);
}

WG_API(cudaGetDriverEntryPoint, GPU, (const char *name, void **out, unsigned long long flags, int *status),
       (name, out, flags, status))
{
    (void)flags;
    const int e = look_up(name, out, status);
    driver.init = true;
    return e == CUDA_ERROR_NOT_FOUND ? status ? cudaSuccess : cudaErrorSymbolNotFound : (enum cudaError)e;
}
WG_PTSZ(cudaGetDriverEntryPoint, (const char *, void **, unsigned long long, int *));
WG_API(cudaGetDriverEntryPointByVersion, GPU,
       (const char *name, void **out, unsigned version, unsigned long long flags, int *status),
       (name, out, version, flags, status))
{
    (void)version;
    return cudaGetDriverEntryPoint_locked(s, name, out, flags, status);
}
WG_PTSZ(cudaGetDriverEntryPointByVersion, (const char *, void **, unsigned, unsigned long long, int *));

/* ---- devices ------------------------------------------------------------------------------------------------------
 */

WG_EXPORT int cudaGetDeviceCount(int *);
WG_EXPORT int cudaDeviceGetAttribute(int *, int, int);
WG_EXPORT int cudaDeviceGetPCIBusId(char *, int, int);
WG_EXPORT int cudaDeviceGetByPCIBusId(int *, const char *);
WG_EXPORT int cudaDeviceCanAccessPeer(int *, int, int);
WG_EXPORT int cudaDeviceGetP2PAttribute(int *, int, int, int);
WG_EXPORT int cudaDeviceGetDefaultMemPool(void **, int);
WG_SAME(cuDeviceGetCount, INIT, (int *n), cudaGetDeviceCount(n))
WG_SAME(cuDeviceGetAttribute, INIT, (int *v, int attr, int device), cudaDeviceGetAttribute(v, attr, device))
WG_SAME(cuDeviceGetPCIBusId, INIT, (char *out, int n, int device), cudaDeviceGetPCIBusId(out, n, device))
WG_SAME(cuDeviceGetByPCIBusId, INIT, (int *device, const char *id), cudaDeviceGetByPCIBusId(device, id))
WG_SAME(cuDeviceCanAccessPeer, INIT, (int *can, int a, int b), cudaDeviceCanAccessPeer(can, a, b))
WG_SAME(cuDeviceGetP2PAttribute, INIT, (int *v, int attr, int a, int b), cudaDeviceGetP2PAttribute(v, attr, a, b))
WG_SAME(cuDeviceGetDefaultMemPool, INIT, (void **pool, int device), cudaDeviceGetDefaultMemPool(pool, device))

static int device_get(int *out, int ordinal)
{
    if (!out)
        return cudaErrorInvalidValue;
    *out = 0;
    return ordinal == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}
WG_SAME(cuDeviceGet, INIT, (int *out, int ordinal), device_get(out, ordinal))

WG_DRIVER(cuDeviceGetName, INIT, (char *out, int n, int device), (out, n, device))
{
    if (device != 0)
        return cudaErrorInvalidDevice;
    if (!out || n <= 0)
        return cudaErrorInvalidValue;
    snprintf(out, (size_t)n, "%s", s->gpu.name);
    return cudaSuccess;
}
WG_DRIVER(cuDeviceTotalMem_v2, INIT, (size_t *out, int device), (out, device))
{
    if (!out || device != 0)
        return out ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    *out = (size_t)s->gpu.memory;
    return cudaSuccess;
}
WG_DRIVER(cuDeviceComputeCapability, INIT, (int *major, int *minor, int device), (major, minor, device))
{
    if (!major || !minor || device != 0)
        return major && minor ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    *major = (int)s->gpu.cc->major;
    *minor = (int)s->gpu.cc->minor;
    return cudaSuccess;
}
WG_DRIVER(cuDeviceGetUuid_v2, INIT, (unsigned char out[16], int device), (out, device))
{
    char name[256];
    if (!out || device != 0)
        return out ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    wg_device_identify(&s->gpu, name, out);
    return cudaSuccess;
}
WG_ALIAS(cuDeviceGetUuid, cuDeviceGetUuid_v2, (unsigned char[16], int));

/* ---- contexts -----------------------------------------------------------------------------------------------------
 */

static struct context *known(const void *handle)
{
    for (unsigned i = 0; i < CONTEXTS; i++)
        if (handle == &driver.all[i] && driver.all[i].live)
            return &driver.all[i];
    return NULL;
}

static enum cudaError push(struct context *c)
{
    if (depth == DEPTH)
        return cudaErrorMemoryAllocation;
    stack[depth++] = c;
    return cudaSuccess;
}

static enum cudaError make(struct context **out, unsigned flags, int device)
{
    if (!out || device != 0)
        return out ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    for (unsigned i = 1; i < CONTEXTS; i++)
        if (!driver.all[i].live) {
            driver.all[i] = (struct context){.id = ++driver.used, .flags = flags, .live = true};
            *out = &driver.all[i];
            return push(*out);
        }
    return cudaErrorMemoryAllocation;
}
WG_DRIVER(cuCtxCreate_v2, INIT, (struct context * *out, unsigned flags, int device), (out, flags, device))
{
    return make(out, flags, device);
}
WG_DRIVER(cuCtxCreate_v4, INIT, (struct context * *out, const void *params, unsigned flags, int device),
          (out, params, flags, device))
{
    return params ? wg_shim_refuse("cuCtxCreate", "execution affinity") : make(out, flags, device);
}
WG_DRIVER(cuCtxDestroy_v2, INIT, (void *handle), (handle))
{
    struct context *c = known(handle);
    if (!c || c->primary)
        return cudaErrorDeviceUninitialized; /* CUDA_ERROR_INVALID_CONTEXT */
    c->live = false;
    if (depth && stack[depth - 1] == c)
        depth--;
    return cudaSuccess;
}
WG_DRIVER(cuCtxPushCurrent_v2, INIT, (void *handle), (handle))
{
    return known(handle) ? push(handle) : cudaErrorDeviceUninitialized;
}
WG_DRIVER(cuCtxPopCurrent_v2, INIT, (void **out), (out))
{
    if (!depth)
        return cudaErrorDeviceUninitialized;
    depth--;
    if (out)
        *out = stack[depth];
    return cudaSuccess;
}
WG_DRIVER(cuCtxSetCurrent, INIT, (void *handle), (handle))
{
    if (handle && !known(handle))
        return cudaErrorDeviceUninitialized;
    if (depth)
        depth--;
    return handle ? push(handle) : cudaSuccess;
}

static int get_current(void **out)
{
    if (!out)
        return cudaErrorInvalidValue;
    struct wg_shim *s = wg_shim_lock();
    *out = current(s);
    wg_shim_unlock(s);
    return cudaSuccess;
}
WG_SAME(cuCtxGetCurrent, INIT, (void **out), get_current(out))

WG_DRIVER(cuCtxGetDevice, CONTEXT, (int *out), (out))
{
    if (!out)
        return cudaErrorInvalidValue;
    *out = 0;
    return cudaSuccess;
}
WG_DRIVER(cuCtxGetFlags, CONTEXT, (unsigned *out), (out))
{
    if (!out)
        return cudaErrorInvalidValue;
    *out = current(s)->primary ? s->device_flags : current(s)->flags;
    return cudaSuccess;
}
WG_DRIVER(cuCtxGetApiVersion, INIT, (void *handle, unsigned *out), (handle, out))
{
    if (!out || (handle && !known(handle)))
        return cudaErrorInvalidValue;
    *out = 3020; /* what drivers have answered since CUDA 3.2 */
    return cudaSuccess;
}

WG_DRIVER(cuDevicePrimaryCtxRetain, INIT, (void **out, int device), (out, device))
{
    if (!out || device != 0)
        return out ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    driver.retained++;
    *out = primary();
    return cudaSuccess;
}
WG_DRIVER(cuDevicePrimaryCtxRelease_v2, INIT, (int device), (device))
{
    if (device != 0)
        return cudaErrorInvalidDevice;
    if (driver.retained)
        driver.retained--;
    return cudaSuccess;
}
WG_DRIVER(cuDevicePrimaryCtxReset_v2, INIT, (int device), (device))
{
    if (device != 0)
        return cudaErrorInvalidDevice;
    wg_shim_reset(s);
    return cudaSuccess;
}
WG_DRIVER(cuDevicePrimaryCtxSetFlags_v2, INIT, (int device, unsigned flags), (device, flags))
{
    if (device != 0)
        return cudaErrorInvalidDevice;
    s->device_flags = flags;
    return cudaSuccess;
}
WG_DRIVER(cuDevicePrimaryCtxGetState, INIT, (int device, unsigned *flags, int *active), (device, flags, active))
{
    if (device != 0 || !flags || !active)
        return device ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    *flags = s->device_flags;
    *active = driver.retained != 0 || s->active;
    return cudaSuccess;
}

WG_EXPORT int cudaDeviceSynchronize(void);
WG_EXPORT int cudaDeviceSetLimit(int, size_t);
WG_EXPORT int cudaDeviceGetLimit(size_t *, int);
WG_EXPORT int cudaDeviceGetCacheConfig(int *);
WG_EXPORT int cudaDeviceSetCacheConfig(int);
WG_EXPORT int cudaDeviceGetStreamPriorityRange(int *, int *);
WG_EXPORT int cudaProfilerStart(void);
WG_EXPORT int cudaProfilerStop(void);
WG_SAME(cuCtxSynchronize, CONTEXT, (void), cudaDeviceSynchronize())
WG_SAME(cuCtxSetLimit, CONTEXT, (int limit, size_t v), cudaDeviceSetLimit(limit, v))
WG_SAME(cuCtxGetLimit, CONTEXT, (size_t *v, int limit), cudaDeviceGetLimit(v, limit))
WG_SAME(cuCtxGetCacheConfig, CONTEXT, (int *v), cudaDeviceGetCacheConfig(v))
WG_SAME(cuCtxSetCacheConfig, CONTEXT, (int v), cudaDeviceSetCacheConfig(v))
WG_SAME(cuCtxGetStreamPriorityRange, CONTEXT, (int *least, int *greatest),
        cudaDeviceGetStreamPriorityRange(least, greatest))
WG_SAME(cuProfilerStart, CONTEXT, (void), cudaProfilerStart())
WG_SAME(cuProfilerStop, CONTEXT, (void), cudaProfilerStop())

/* ---- streams and events: the runtime's own ------------------------------------------------------------------------
 */

WG_EXPORT int cudaStreamCreateWithFlags(void **, unsigned);
WG_EXPORT int cudaStreamCreateWithPriority(void **, unsigned, int);
WG_EXPORT int cudaStreamGetPriority(void *, int *);
WG_EXPORT int cudaStreamGetFlags(void *, unsigned *);
WG_EXPORT int cudaStreamWaitEvent(void *, void *, unsigned);
WG_EXPORT int cudaStreamAddCallback(void *, void (*)(void *, int, void *), void *, unsigned);
WG_EXPORT int cudaStreamAttachMemAsync(void *, void *, size_t, unsigned);
WG_EXPORT int cudaStreamQuery(void *);
WG_EXPORT int cudaStreamSynchronize(void *);
WG_EXPORT int cudaStreamDestroy(void *);
WG_EXPORT int cudaStreamBeginCapture(void *, int);
WG_EXPORT int cudaStreamEndCapture(void *, void **);
WG_EXPORT int cudaStreamIsCapturing(void *, int *);
WG_EXPORT int cudaEventCreateWithFlags(void **, unsigned);
WG_EXPORT int cudaEventRecord(void *, void *);
WG_EXPORT int cudaEventQuery(void *);
WG_EXPORT int cudaEventSynchronize(void *);
WG_EXPORT int cudaEventDestroy(void *);
WG_EXPORT int cudaEventElapsedTime(float *, void *, void *);
WG_EXPORT int cudaLaunchHostFunc(void *, void (*)(void *), void *);
WG_SAME(cuStreamCreate, CONTEXT, (void **out, unsigned flags), cudaStreamCreateWithFlags(out, flags))
WG_SAME(cuStreamCreateWithPriority, CONTEXT, (void **out, unsigned flags, int p),
        cudaStreamCreateWithPriority(out, flags, p))
WG_SAME(cuStreamGetPriority, CONTEXT, (void *t, int *p), cudaStreamGetPriority(t, p))
WG_DRIVER_PTSZ(cuStreamGetPriority, (void *, int *));
WG_SAME(cuStreamGetFlags, CONTEXT, (void *t, unsigned *f), cudaStreamGetFlags(t, f))
WG_DRIVER_PTSZ(cuStreamGetFlags, (void *, unsigned *));
WG_SAME(cuStreamWaitEvent, CONTEXT, (void *t, void *e, unsigned f), cudaStreamWaitEvent(t, e, f))
WG_DRIVER_PTSZ(cuStreamWaitEvent, (void *, void *, unsigned));
WG_SAME(cuStreamAddCallback, CONTEXT, (void *t, void (*fn)(void *, int, void *), void *data, unsigned f),
        cudaStreamAddCallback(t, fn, data, f))
WG_DRIVER_PTSZ(cuStreamAddCallback, (void *, void (*)(void *, int, void *), void *, unsigned));
WG_SAME(cuStreamAttachMemAsync, CONTEXT, (void *t, uint64_t p, size_t n, unsigned f),
        cudaStreamAttachMemAsync(t, (void *)(uintptr_t)p, n, f))
WG_DRIVER_PTSZ(cuStreamAttachMemAsync, (void *, uint64_t, size_t, unsigned));
WG_SAME(cuStreamQuery, CONTEXT, (void *t), cudaStreamQuery(t))
WG_DRIVER_PTSZ(cuStreamQuery, (void *));
WG_SAME(cuStreamSynchronize, CONTEXT, (void *t), cudaStreamSynchronize(t))
WG_DRIVER_PTSZ(cuStreamSynchronize, (void *));
WG_SAME(cuStreamDestroy_v2, CONTEXT, (void *t), cudaStreamDestroy(t))
WG_SAME(cuStreamBeginCapture_v2, CONTEXT, (void *t, int mode), cudaStreamBeginCapture(t, mode))
WG_DRIVER_PTSZ(cuStreamBeginCapture_v2, (void *, int));
WG_SAME(cuStreamEndCapture, CONTEXT, (void *t, void **g), cudaStreamEndCapture(t, g))
WG_DRIVER_PTSZ(cuStreamEndCapture, (void *, void **));
WG_SAME(cuStreamIsCapturing, CONTEXT, (void *t, int *v), cudaStreamIsCapturing(t, v))
WG_DRIVER_PTSZ(cuStreamIsCapturing, (void *, int *));
WG_SAME(cuEventCreate, CONTEXT, (void **out, unsigned flags), cudaEventCreateWithFlags(out, flags))
WG_SAME(cuEventRecord, CONTEXT, (void *e, void *t), cudaEventRecord(e, t))
WG_DRIVER_PTSZ(cuEventRecord, (void *, void *));
WG_SAME(cuEventQuery, CONTEXT, (void *e), cudaEventQuery(e))
WG_SAME(cuEventSynchronize, CONTEXT, (void *e), cudaEventSynchronize(e))
WG_SAME(cuEventDestroy_v2, CONTEXT, (void *e), cudaEventDestroy(e))
WG_SAME(cuEventElapsedTime, CONTEXT, (float *ms, void *a, void *b), cudaEventElapsedTime(ms, a, b))
WG_ALIAS(cuEventElapsedTime_v2, cuEventElapsedTime, (float *, void *, void *));
WG_SAME(cuLaunchHostFunc, CONTEXT, (void *t, void (*fn)(void *), void *data), cudaLaunchHostFunc(t, fn, data))
WG_DRIVER_PTSZ(cuLaunchHostFunc, (void *, void (*)(void *), void *));

WG_DRIVER(cuStreamGetCtx, CONTEXT, (void *stream, void **out), (stream, out))
{
    if (!out)
        return cudaErrorInvalidValue;
    *out = current(s);
    return wg_stream_known(s, stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}
WG_DRIVER_PTSZ(cuStreamGetCtx, (void *, void **));

/* ---- graphs: executables are the same objects ---------------------------------------------------------------------
 */

WG_EXPORT int cudaGraphInstantiateWithFlags(void **, void *, unsigned long long);
WG_EXPORT int cudaGraphLaunch(void *, void *);
WG_EXPORT int cudaGraphExecDestroy(void *);
WG_EXPORT int cudaGraphDestroy(void *);
WG_SAME(cuGraphInstantiateWithFlags, CONTEXT, (void **x, void *g, unsigned long long f),
        cudaGraphInstantiateWithFlags(x, g, f))
WG_SAME(cuGraphLaunch, CONTEXT, (void *x, void *t), cudaGraphLaunch(x, t))
WG_DRIVER_PTSZ(cuGraphLaunch, (void *, void *));
WG_SAME(cuGraphExecDestroy, CONTEXT, (void *x), cudaGraphExecDestroy(x))
WG_SAME(cuGraphDestroy, CONTEXT, (void *g), cudaGraphDestroy(g))
