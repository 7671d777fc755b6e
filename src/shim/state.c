/* state.c - the process-wide context: opening the engine, the lock, error state, cudaDeviceReset. */
#include "shim/state.h"
#include "shim/image.h"
#include "shim/place.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct wg_shim shim = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Thread_local enum cudaError last_error;
static _Thread_local char *next_place;

bool wg_shim_wants_places(void) { return shim.env.tools != NULL; }

void wg_shim_next_place(char *place)
{
    free(next_place);
    next_place = place;
}

void wg_shim_say(const char *fmt, ...)
{
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fprintf(stderr, "warpgrind: %s\n", text);
}

enum cudaError wg_shim_refuse(const char *call, const char *why)
{
    struct said { struct said *next; const char *call, *why; };
    static struct said *said; /* guarded by the shim's lock */
    struct said *p = said;
    while (p && (strcmp(p->call, call) != 0 || strcmp(p->why, why) != 0))
        p = p->next;
    if (!p) {
        if ((p = malloc(sizeof *p))) {
            *p = (struct said){said, call, why};
            said = p;
        }
        wg_shim_say("%s is not supported%s%s", call, *why ? ": " : "", why);
    }
    return cudaErrorNotSupported;
}

enum cudaError wg_shim_error(enum wg_status st)
{
    switch (st) {
    case WG_OK: return cudaSuccess;
    case WG_INVALID: case WG_NOT_FOUND: return cudaErrorInvalidValue;
    case WG_NO_MEMORY: case WG_NO_DEVICE_MEMORY: return cudaErrorMemoryAllocation;
    case WG_PARSE: case WG_CORRUPT: return cudaErrorInvalidPtx;
    case WG_VERSION: return cudaErrorUnsupportedPtxVersion;
    case WG_NO_PTX: return cudaErrorNoKernelImageForDevice;
    case WG_UNSUPPORTED: return cudaErrorNotSupported;
    case WG_LIMIT: return cudaErrorInvalidConfiguration;
    default: return cudaErrorUnknown;
    }
}

/* Reads the environment and finds the device. Failure is final: the answer to everything from then on. */
static enum cudaError know_gpu(struct wg_shim *s)
{
    if (s->gpu_known || s->broken)
        return s->broken;
    char err[2048] = "out of memory";
    s->owner = getpid();
    struct wg_diag d = {0};
    enum wg_status st = wg_env_read(getenv(WG_ENV_NAME), &s->env, err, sizeof err);
    if (st == WG_OK && (st = wg_device_open(s->env.device, &s->arena, &s->gpu, &d)) != WG_OK)
        snprintf(err, sizeof err, "%s", d.text);
    if (st != WG_OK) {
        wg_shim_say("%s", err);
        return s->broken = cudaErrorInitializationError;
    }
    if (s->env.memory)
        s->gpu.memory = s->env.memory;
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    s->blocking = blocking && strcmp(blocking, "1") == 0;
    s->gpu_known = true;
    return cudaSuccess;
}

static void show_progress(void *ctx, uint64_t done, uint64_t all, uint64_t warp_insts)
{
    (void)ctx;
    fprintf(stderr, "\rwarpgrind: %llu of %llu blocks, %llu million warp instructions ", (unsigned long long)done,
            (unsigned long long)all, (unsigned long long)(warp_insts / 1000000));
    if (done == all)
        fputc('\n', stderr);
}

static enum cudaError open_engine(struct wg_shim *s)
{
    enum cudaError e = know_gpu(s);
    if (e != cudaSuccess || s->g)
        return e;
    struct wg_options o;
    char err[1024] = "";
    enum wg_status st = wg_env_options(&s->env, &o, err, sizeof err);
    o.cancel = (const volatile int *)&s->cancel;
    if (s->env.progress)
        o.progress = show_progress;
    if (st == WG_OK)
        st = wg_open(&o, &s->g, err, sizeof err);
    if (st != WG_OK) {
        wg_shim_say("%s", err);
        return s->broken = st == WG_NO_MEMORY ? cudaErrorMemoryAllocation : cudaErrorInitializationError;
    }
    if (s->env.profile)
        wg_shim_watch_exit(s);
    return cudaSuccess;
}

/* As an H200 with driver 580 answers (tests/shim/truth). */
static void defaults(struct wg_shim *s)
{
    s->limits[cudaLimitStackSize] = 1024;
    s->limits[cudaLimitPrintfFifoSize] = 8650752;
    s->limits[cudaLimitMallocHeapSize] = 8388608;
    s->limits[cudaLimitDevRuntimePendingLaunchCount] = 2048;
    s->limits[cudaLimitMaxL2FetchGranularity] = 64;
    s->limits[cudaLimitPersistingL2CacheSize] = (size_t)s->gpu.persisting_l2_bytes * 3 / 10;
    s->limits[WG_CUDA_LIMIT_SHARED] = s->gpu.cc->smem_per_block_optin;
    s->cache_config = 0;
    s->shared_config = 0;
}

struct wg_shim *wg_shim_lock(void)
{
    pthread_mutex_lock(&shim.lock);
    shim.busy = pthread_self();
    shim.is_busy = 1;
    return &shim;
}

bool wg_shim_lock_within(unsigned ms)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return pthread_mutex_timedlock(&shim.lock, &t) == 0;
}

void wg_shim_unlock(struct wg_shim *s)
{
    s->is_busy = 0;
    pthread_mutex_unlock(&s->lock);
    /* A signal is ending the process: its thread stops here, so that the program does not run on past the launch that
     * was cut short and print results from it. */
    while (s->dying)
        pause();
}

enum cudaError wg_shim_enter(struct wg_shim **out, enum wg_need need)
{
    struct wg_shim *s = *out = wg_shim_lock();
    if (need == WG_NEED_NOTHING)
        return cudaSuccess;
    if (need == WG_NEED_GPU)
        return know_gpu(s);
    enum cudaError e = open_engine(s);
    if (e != cudaSuccess)
        return e;
    if (!s->active) {
        s->active = true;
        defaults(s);
    }
    if (s->env.tools) {
        char place[4096] = "";
        if (!next_place)
            wg_place_here(place, sizeof place);
        wg_host_place(s->g, next_place ? next_place : *place ? place : NULL);
        wg_shim_next_place(NULL);
        s->detail[0] = 0;
    }
    return need == WG_NEED_CONTEXT ? wg_shim_health(s) : cudaSuccess;
}

enum cudaError wg_shim_health(const struct wg_shim *s) { return s->lost ? cudaErrorDevicesUnavailable : s->sticky; }

void wg_shim_detail(struct wg_shim *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(s->detail, sizeof s->detail, fmt, ap);
    va_end(ap);
}

/* Is it a mistake of the program? Programs ask on purpose what a device has, how much memory can be had and whether work
 * is done; and a kernel's own fault has been told. */
static bool misuse(const struct wg_shim *s, enum cudaError e, const char *call)
{
    static const char *const calls[] = {"cudaMemcpy", "cudaMemset", "cudaFree", "cudaLaunch", "__cudaLaunch"};
    if (!s->g || !s->env.tools || e == s->sticky || s->lost || e == cudaErrorNotSupported || e == cudaErrorNotReady ||
        e == cudaErrorMemoryAllocation || e == cudaErrorInitializationError)
        return false;
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
        if (strncmp(call, calls[k], strlen(calls[k])) == 0)
            return true;
    return false;
}

enum cudaError wg_shim_leave(struct wg_shim *s, enum cudaError e, const char *call)
{
    if (e != cudaSuccess && misuse(s, e, call)) {
        char text[512];
        snprintf(text, sizeof text, "Program hit %s (error %d) due to \"%s\" on CUDA API call to %s%s%s", cudaGetErrorName(e),
                 (int)e, cudaGetErrorString(e), call, *s->detail ? "\n" : "", s->detail);
        wg_host_error(s->g, text);
    }
    if (e != cudaSuccess)
        last_error = e;
    if (s->env.trace)
        wg_shim_say("%s: %d", call, (int)e);
    wg_shim_unlock(s);
    return e;
}

enum cudaError wg_shim_last_error(bool clear)
{
    enum cudaError e = last_error;
    if (clear)
        last_error = cudaSuccess;
    return e;
}

void wg_shim_set_last_error(enum cudaError e) { last_error = e; }

void wg_shim_reset(struct wg_shim *s)
{
    if (s->g) {
        wg_image_unload_all(s);
        wg_graph_free_all(s);
        wg_object_free_all(s);
        wg_array_free_all(s);
        wg_mem_free_all(s);
    }
    wg_stream_free_all(s);
    wg_pool_free_all(s);
    s->lost |= s->sticky != cudaSuccess;
    s->sticky = cudaSuccess;
    s->active = false;
}
