/* launch.c - call configurations and kernel launches, and what a launch does to the context's health. */
#include "shim/graph.h"
#include "shim/image.h"
#include "shim/place.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct config { struct wg_dim3 grid, block; size_t shared; void *stream; char *place; };
enum { CONFIG_DEPTH = 32, ARGS_BYTES = 32768, ARGS_MAX = 4096 };
/* <<<...>>> pushes before the arguments are evaluated, and an argument may itself launch: a stack per host thread. */
static _Thread_local struct {
    int depth;
    struct config at[CONFIG_DEPTH];
} configs;
static _Thread_local struct {
    bool open;
    struct config cfg;
    size_t bytes;
    unsigned char *args;
} old_style; /* cudaConfigureCall ... cudaLaunch */

WG_EXPORT unsigned __cudaPushCallConfiguration(struct wg_dim3 grid, struct wg_dim3 block, size_t shared, void *stream);
WG_EXPORT int __cudaPopCallConfiguration(struct wg_dim3 *grid, struct wg_dim3 *block, size_t *shared, void *stream);

unsigned __cudaPushCallConfiguration(struct wg_dim3 grid, struct wg_dim3 block, size_t shared, void *stream)
{
    if (configs.depth >= CONFIG_DEPTH)
        return 1; /* the stub skips the launch */
    char place[4096] = ""; /* here, since the launch itself is called by what the compiler makes of the kernel */
    if (wg_shim_wants_places())
        wg_place_here(place, sizeof place);
    configs.at[configs.depth++] = (struct config){grid, block, shared, stream, *place ? strdup(place) : NULL};
    return 0;
}

int __cudaPopCallConfiguration(struct wg_dim3 *grid, struct wg_dim3 *block, size_t *shared, void *stream)
{
    if (configs.depth == 0) {
        wg_shim_set_last_error(cudaErrorMissingConfiguration);
        return cudaErrorMissingConfiguration;
    }
    const struct config c = configs.at[--configs.depth];
    wg_shim_next_place(c.place);
    *grid = c.grid;
    *block = c.block;
    *shared = c.shared;
    *(void **)stream = c.stream;
    return cudaSuccess;
}

struct fault { const char *finding; enum cudaError error; };
/* What the driver would report for the first thing that stops a kernel. Findings that are not here end a kernel as an
 * unspecified launch failure. */
static const struct fault faults[] = {
#define WG_FAULT(finding, error) {finding, error},
#include "shim/faults.def"
#undef WG_FAULT
};

static enum cudaError fault_error(struct wg_shim *s)
{
    const struct wg_profile *p = wg_get_profile(s->g);
    if (!p || p->nlaunches == 0)
        return cudaErrorLaunchFailure;
    const struct wg_launch_result *r = &p->launches[p->nlaunches - 1];
    for (size_t i = 0; i < r->nfindings; i++)
        for (size_t k = 0; k < sizeof faults / sizeof *faults; k++)
            if (strcmp(r->findings[i].id, faults[k].finding) == 0)
                return faults[k].error;
    return cudaErrorLaunchFailure;
}

/* Copies between pinned host memory and its shadow on the device, around a launch that may use either. */
static enum cudaError sync_pinned(struct wg_shim *s, bool to_device)
{
    struct wg_pinned *p, *pn;
    HASH_ITER(hh, s->pinned, p, pn) {
        void *shadow = (void *)(uintptr_t)p->shadow, *host = (void *)(uintptr_t)p->base;
        if (!p->shadow)
            continue;
        enum wg_status st = to_device ? wg_copy(s->g, shadow, host, p->bytes) : wg_copy(s->g, host, shadow, p->bytes);
        if (st != WG_OK)
            return wg_shim_error(st);
    }
    return cudaSuccess;
}

static uint64_t volume(const unsigned d[3]) { return (uint64_t)d[0] * d[1] * d[2]; }

/* The runtimes of CUDA 13 answer with the driver's code here, the older ones with their own (tests/shim/truth). */
static const enum cudaError bad_shape = WG_CUDART_MAJOR >= 13 ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration;

static enum cudaError check(struct wg_shim *s, const struct wg_func *f, const struct wg_launch *l)
{
    static const unsigned max_block[3] = {1024, 1024, 64}, max_grid[3] = {2147483647u, 65535, 65535};
    for (int i = 0; i < 3; i++)
        if (l->grid[i] == 0 || l->grid[i] > max_grid[i] || l->block[i] == 0 || l->block[i] > max_block[i])
            return bad_shape;
    const uint64_t threads = volume(l->block);
    if (threads > 1024) {
        wg_shim_detail(s, "%llu threads a block; a block has at most 1024", (unsigned long long)threads);
        return bad_shape;
    }
    if (threads > f->info.max_threads) {
        wg_shim_detail(s, "%llu threads a block; the kernel is built for at most %u", (unsigned long long)threads,
                       f->info.max_threads);
        return cudaErrorInvalidValue;
    }
    if (l->shared_bytes > wg_func_dynamic_limit(s, f)) {
        wg_shim_detail(s, "%zu bytes of dynamic shared memory beside %zu static ones; this kernel may have %zu dynamic ones",
                       l->shared_bytes, f->info.static_shared, (size_t)wg_func_dynamic_limit(s, f));
        return cudaErrorInvalidValue;
    }
    for (int i = 0; i < 3; i++)
        if (l->cluster[0] && (l->cluster[i] == 0 || l->grid[i] % l->cluster[i] != 0))
            return cudaErrorInvalidClusterSize;
    if (l->cluster[0] && (!s->gpu.cc->cluster_max || volume(l->cluster) > (f->nonportable_cluster ? 16 : 8)))
        return cudaErrorInvalidClusterSize;
    /* an estimate of the registers refuses only what its lower end refuses */
    if (!wg_device_blocks(&s->gpu, (unsigned)threads, f->info.registers_low, f->info.static_shared, l->shared_bytes))
        return cudaErrorLaunchOutOfResources;
    const int fit = wg_device_blocks(&s->gpu, (unsigned)threads, f->info.registers, f->info.static_shared,
                                     l->shared_bytes);
    const uint64_t most = (uint64_t)fit * (uint64_t)s->gpu.gpu->sms;
    if (l->cooperative && volume(l->grid) > most) {
        wg_shim_detail(s, "A cooperative launch of %llu blocks; %llu fit on the device at once (%d on each of %.0f SMs)",
                       (unsigned long long)volume(l->grid), (unsigned long long)most, fit, s->gpu.gpu->sms);
        return cudaErrorCooperativeLaunchTooLarge;
    }
    return cudaSuccess;
}

enum cudaError wg_launch_kernel(struct wg_shim *s, const void *func, struct wg_launch *l, void *stream)
{
    struct wg_func *f;
    if (!wg_stream_known(s, stream))
        return cudaErrorInvalidResourceHandle;
    enum cudaError e = wg_image_func(s, func, &f);
    if (e != cudaSuccess)
        return e;
    if (!l->args && f->info.nparams)
        return cudaErrorInvalidValue;
    if (!l->cluster[0] && f->cluster[0])
        for (int i = 0; i < 3; i++)
            l->cluster[i] = f->cluster[i] ? (unsigned)f->cluster[i] : 1;
    e = check(s, f, l);
    if (e != cudaSuccess)
        return e;
    struct wg_node *n = wg_capture_node(s, stream, WG_NODE_KERNEL, &e);
    if (n) {
        n->kernel.l = *l;
        return wg_node_kernel(s, n, &(struct cudaKernelNodeParams){
            .func = func, .gridDim = {l->grid[0], l->grid[1], l->grid[2]},
            .blockDim = {l->block[0], l->block[1], l->block[2]}, .sharedMemBytes = (unsigned)l->shared_bytes,
            .kernelParams = l->args});
    }
    if (e == cudaSuccess)
        e = sync_pinned(s, true);
    if (e != cudaSuccess)
        return e;
    l->size = sizeof *l;
    enum wg_status st = wg_launch(s->g, f->kernel, l);
    char why[2048] = ""; /* before another call on the engine drops it */
    if (st != WG_OK)
        snprintf(why, sizeof why, "%s", wg_error(s->g));
    e = sync_pinned(s, false);
    switch (st) {
    case WG_OK:
        return e;
    case WG_KERNEL_FAULT:
        s->sticky = fault_error(s);
        break;
    case WG_HANG:
        s->sticky = cudaErrorLaunchTimeout;
        break;
    case WG_CANCELLED:
        s->sticky = cudaErrorLaunchFailure;
        return s->sticky;
    default:
        /* Not what a GPU would do: our own limit. Said at once, and the context is not used further, since the
         * kernel may have stopped half way. */
        wg_shim_say("%s", why);
        if (st == WG_UNSUPPORTED)
            s->sticky = cudaErrorNotSupported;
        return wg_shim_error(st);
    }
    /* A kernel's fault comes to light at a later call, as on a GPU. */
    return s->blocking ? s->sticky : cudaSuccess;
}

static struct wg_launch shape(struct wg_dim3 g, struct wg_dim3 b, void **args, size_t shared)
{
    return (struct wg_launch){.grid = {g.x, g.y, g.z}, .block = {b.x, b.y, b.z}, .shared_bytes = shared, .args = args};
}

WG_API(cudaLaunchKernel, CONTEXT,
       (const void *func, struct wg_dim3 grid, struct wg_dim3 block, void **args, size_t shared, void *stream),
       (func, grid, block, args, shared, stream))
{
    struct wg_launch l = shape(grid, block, args, shared);
    return wg_launch_kernel(s, func, &l, stream);
}
WG_PTSZ(cudaLaunchKernel, (const void *, struct wg_dim3, struct wg_dim3, void **, size_t, void *));

/* Handles of kernels (cudaKernel_t, cudaFunction_t) are the address of the program's stub, as cudaLaunchKernel takes.
 */
WG_API(__cudaLaunchKernel, CONTEXT,
       (const void *func, struct wg_dim3 grid, struct wg_dim3 block, void **args, size_t shared, void *stream),
       (func, grid, block, args, shared, stream))
{
    struct wg_launch l = shape(grid, block, args, shared);
    return wg_launch_kernel(s, func, &l, stream);
}
WG_PTSZ(__cudaLaunchKernel, (const void *, struct wg_dim3, struct wg_dim3, void **, size_t, void *));

static enum cudaError handle_of(struct wg_shim *s, const void **out, const void *func)
{
    struct wg_func *f = NULL;
    if (!out)
        return cudaErrorInvalidValue;
    HASH_FIND_PTR(s->funcs, &func, f); /* its code is loaded when it is launched, and what is wrong with it said then */
    *out = func;
    return f ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

WG_API(__cudaGetKernel, NOTHING, (const void **out, const void *func), (out, func)) { return handle_of(s, out, func); }
WG_API(cudaGetKernel, CONTEXT, (const void **out, const void *func), (out, func)) { return handle_of(s, out, func); }
WG_API(cudaGetFuncBySymbol, CONTEXT, (const void **out, const void *func), (out, func))
{
    return handle_of(s, out, func);
}

WG_API(cudaLaunchCooperativeKernel, CONTEXT,
       (const void *func, struct wg_dim3 grid, struct wg_dim3 block, void **args, size_t shared, void *stream),
       (func, grid, block, args, shared, stream))
{
    struct wg_launch l = shape(grid, block, args, shared);
    l.cooperative = true;
    return wg_launch_kernel(s, func, &l, stream);
}
WG_PTSZ(cudaLaunchCooperativeKernel, (const void *, struct wg_dim3, struct wg_dim3, void **, size_t, void *));

/* Attributes that only steer scheduling or caching have no effect on what a launch computes or on what is counted. */
enum cudaError wg_launch_attribute(struct wg_launch *l, const struct cudaLaunchAttribute *a)
{
    switch (a->id) {
    case cudaLaunchAttributeCooperative:
        l->cooperative = a->val.value != 0;
        return cudaSuccess;
    case cudaLaunchAttributeClusterDimension:
        if (!a->val.clusterDim.x || !a->val.clusterDim.y || !a->val.clusterDim.z)
            return cudaErrorInvalidClusterSize;
        l->cluster[0] = a->val.clusterDim.x;
        l->cluster[1] = a->val.clusterDim.y;
        l->cluster[2] = a->val.clusterDim.z;
        return cudaSuccess;
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributeProgrammaticStreamSerialization:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributePreferredClusterDimension:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
        return cudaSuccess;
    default:
        if (a->id < 0 || a->id > cudaLaunchAttributeLast)
            return cudaErrorInvalidValue;
        return wg_shim_refuse("cudaLaunchKernelExC", "a launch attribute other than cooperative, cluster dimension, "
                                                     "priority and the scheduling hints");
    }
}

WG_API(cudaLaunchKernelExC, CONTEXT, (const struct cudaLaunchConfig *c, const void *func, void **args), (c, func, args))
{
    if (!c || (c->numAttrs && !c->attrs))
        return cudaErrorInvalidValue;
    struct wg_launch l = shape(c->gridDim, c->blockDim, args, c->dynamicSmemBytes);
    for (unsigned i = 0; i < c->numAttrs; i++) {
        enum cudaError e = wg_launch_attribute(&l, &c->attrs[i]);
        if (e != cudaSuccess)
            return e;
    }
    return wg_launch_kernel(s, func, &l, c->stream);
}
WG_PTSZ(cudaLaunchKernelExC, (const struct cudaLaunchConfig *, const void *, void **));

/* ---- the calls that compilers emitted before CUDA 9.2, and clang still emits without a stated SDK version ------- */

WG_API(cudaConfigureCall, NOTHING, (struct wg_dim3 grid, struct wg_dim3 block, size_t shared, void *stream),
       (grid, block, shared, stream))
{
    if (!old_style.args && !(old_style.args = malloc(ARGS_BYTES)))
        return cudaErrorMemoryAllocation;
    memset(old_style.args, 0, ARGS_BYTES);
    old_style.cfg = (struct config){grid, block, shared, stream, NULL};
    old_style.bytes = 0;
    old_style.open = true;
    return cudaSuccess;
}

WG_API(cudaSetupArgument, NOTHING, (const void *arg, size_t bytes, size_t offset), (arg, bytes, offset))
{
    if (!old_style.open)
        return cudaErrorMissingConfiguration;
    if (!arg || offset > ARGS_BYTES || bytes > ARGS_BYTES - offset)
        return cudaErrorInvalidValue;
    memcpy(old_style.args + offset, arg, bytes);
    if (offset + bytes > old_style.bytes)
        old_style.bytes = offset + bytes;
    return cudaSuccess;
}

WG_API(cudaLaunch, CONTEXT, (const void *func), (func))
{
    if (!old_style.open)
        return cudaErrorMissingConfiguration;
    old_style.open = false;
    struct wg_func *f;
    enum cudaError e = wg_image_func(s, func, &f);
    if (e != cudaSuccess)
        return e;
    void *args[ARGS_MAX];
    const size_t n = f->info.nparams;
    if (n > ARGS_MAX || f->info.param_bytes > ARGS_BYTES)
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < n; i++)
        args[i] = old_style.args + f->info.params[i].offset;
    const struct config c = old_style.cfg;
    struct wg_launch l = shape(c.grid, c.block, args, c.shared);
    return wg_launch_kernel(s, func, &l, c.stream);
}
