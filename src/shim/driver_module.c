/* driver_module.c - the driver API: modules and libraries loaded by hand, linking, functions, launches, occupancy. */
#include "shim/driver.h"
#include "shim/graph.h"
#include "shim/join.h"
#include "ptx/fatbin.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- loading ------------------------------------------------------------------------------------------------------
 */

static enum cudaError load_image(struct wg_shim *s, struct wg_binary **out, const void *data)
{
    uint32_t magic;
    if (!out || !data)
        return cudaErrorInvalidValue;
    memcpy(&magic, data, sizeof magic);
    struct wg_binary *im = calloc(1, sizeof *im);
    if (!im)
        return cudaErrorMemoryAllocation;
    im->by_hand = true;
    im->data = data;
    if (magic == WG_WRAPPER_MAGIC)
        im->data = ((const struct wg_fatbin_wrapper *)data)->data;
    if (memcmp(data, "\177ELF", 4) == 0) {
        free(im);
        wg_shim_say("cuModuleLoad: the image is machine code; load PTX, or a fat binary that has it (nvcc -ptx, "
                    "-fatbin -arch=compute_NN)");
        return cudaErrorNoKernelImageForDevice;
    }
    im->next = s->images;
    s->images = im;
    enum cudaError e = wg_image_load(s, im);
    im->data = NULL; /* the program may free it now */
    if (e != cudaSuccess) {
        wg_image_drop(s, im);
        return e;
    }
    *out = im;
    return cudaSuccess;
}

static enum cudaError load_file(struct wg_shim *s, struct wg_binary **out, const char *path)
{
    if (!out || !path)
        return cudaErrorInvalidValue;
    FILE *f = fopen(path, "rbe");
    if (!f)
        return (enum cudaError)CUDA_ERROR_FILE_NOT_FOUND;
    char *text = NULL;
    size_t n = 0, cap = 0, k = 1;
    while (k) {
        if (n + 4097 > cap) {
            char *more = realloc(text, cap = cap ? 2 * cap : 65536);
            if (!more)
                break;
            text = more;
        }
        n += k = fread(text + n, 1, 4096, f);
    }
    fclose(f);
    enum cudaError e = cudaErrorInvalidKernelImage;
    if (text && n >= 8) {
        memset(text + n, 0, 1);
        uint32_t magic;
        memcpy(&magic, text, 4);
        /* a fat binary says how long it is: not longer than the file, then */
        if (magic != WG_FATBIN_MAGIC || wg_fatbin_size(text, n))
            e = load_image(s, out, text);
    }
    free(text);
    return e;
}

static struct wg_binary *by_hand(struct wg_shim *s, const void *handle)
{
    for (struct wg_binary *im = s->images; im; im = im->next)
        if (im == handle && im->by_hand)
            return im;
    return NULL;
}

WG_DRIVER(cuModuleLoadData, CONTEXT, (struct wg_binary * *out, const void *data), (out, data))
{
    return load_image(s, out, data);
}
/* The options tune a compiler that is not here; logs stay empty. */
WG_DRIVER(cuModuleLoadDataEx, CONTEXT,
          (struct wg_binary * *out, const void *data, unsigned n, int *options, void **values),
          (out, data, n, options, values))
{
    enum { LOG = 3, LOG_SIZE = 4, ERROR_LOG = 5, ERROR_SIZE = 6 };
    for (unsigned i = 0; options && values && i < n; i++) {
        if ((options[i] == LOG || options[i] == ERROR_LOG) && values[i])
            *(char *)values[i] = 0;
        if (options[i] == LOG_SIZE || options[i] == ERROR_SIZE)
            values[i] = NULL;
    }
    return load_image(s, out, data);
}
WG_DRIVER(cuModuleLoadFatBinary, CONTEXT, (struct wg_binary * *out, const void *data), (out, data))
{
    return load_image(s, out, data);
}
WG_DRIVER(cuModuleLoad, CONTEXT, (struct wg_binary * *out, const char *path), (out, path))
{
    return load_file(s, out, path);
}
WG_DRIVER(cuModuleUnload, CONTEXT, (void *handle), (handle))
{
    struct wg_binary *im = by_hand(s, handle);
    if (!im)
        return cudaErrorInvalidResourceHandle;
    wg_image_drop(s, im);
    return cudaSuccess;
}

static enum cudaError get_function(struct wg_shim *s, const void **out, void *handle, const char *name)
{
    struct wg_binary *im = by_hand(s, handle);
    struct wg_func *f, *fn;
    if (!out || !name)
        return cudaErrorInvalidValue;
    if (!im)
        return cudaErrorInvalidResourceHandle;
    HASH_ITER(hh, s->funcs, f, fn)
    if (f->image == im && strcmp(f->name, name) == 0) {
        *out = f->host;
        return cudaSuccess;
    }
    if (!im->module || !wg_module_kernel(im->module, name))
        return cudaErrorInvalidDeviceFunction;
    f = wg_image_add_func(s, im, NULL, name);
    if (!f)
        return cudaErrorMemoryAllocation;
    *out = f->host;
    return wg_image_func(s, f->host, &fn);
}

static enum cudaError get_global(struct wg_shim *s, uint64_t *addr, size_t *bytes, void *handle, const char *name)
{
    struct wg_binary *im = by_hand(s, handle);
    uint64_t a;
    size_t n;
    if (!name || (!addr && !bytes))
        return cudaErrorInvalidValue;
    if (!im || !im->module)
        return cudaErrorInvalidResourceHandle;
    if (wg_module_symbol(im->module, name, &a, &n) != WG_OK)
        return cudaErrorInvalidSymbol;
    if (addr)
        *addr = a;
    if (bytes)
        *bytes = n;
    return cudaSuccess;
}

WG_DRIVER(cuModuleGetFunction, CONTEXT, (const void **out, void *module, const char *name), (out, module, name))
{
    return get_function(s, out, module, name);
}
WG_DRIVER(cuModuleGetGlobal_v2, CONTEXT, (uint64_t *addr, size_t *bytes, void *module, const char *name),
          (addr, bytes, module, name))
{
    return get_global(s, addr, bytes, module, name);
}
WG_DRIVER(cuModuleGetFunctionCount, CONTEXT, (unsigned *out, void *module), (out, module))
{
    const struct wg_binary *im = by_hand(s, module);
    if (!out || !im || !im->module)
        return cudaErrorInvalidValue;
    *out = (unsigned)wg_module_kernel_count(im->module);
    return cudaSuccess;
}

/* ---- libraries: modules under another name, in both APIs ------------------------------------------------------------
 */

#define LOAD_ARGS unsigned njit, void *options, void **values, unsigned n
WG_DRIVER(cuLibraryLoadData, INIT, (struct wg_binary * *out, const void *code, void *jit, void **jit_values, LOAD_ARGS),
          (out, code, jit, jit_values, njit, options, values, n))
{
    (void)jit, (void)jit_values, (void)njit, (void)options, (void)values, (void)n;
    return load_image(s, out, code);
}
WG_DRIVER(cuLibraryLoadFromFile, INIT,
          (struct wg_binary * *out, const char *path, void *jit, void **jit_values, LOAD_ARGS),
          (out, path, jit, jit_values, njit, options, values, n))
{
    (void)jit, (void)jit_values, (void)njit, (void)options, (void)values, (void)n;
    return load_file(s, out, path);
}
WG_SAME(cuLibraryUnload, CONTEXT, (void *library), cuModuleUnload(library))
WG_SAME(cuLibraryGetKernel, CONTEXT, (const void **out, void *library, const char *name),
        cuModuleGetFunction(out, library, name))
WG_SAME(cuLibraryGetGlobal, CONTEXT, (uint64_t *addr, size_t *bytes, void *library, const char *name),
        cuModuleGetGlobal_v2(addr, bytes, library, name))
WG_SAME(cuLibraryGetKernelCount, CONTEXT, (unsigned *out, void *library), cuModuleGetFunctionCount(out, library))
WG_DRIVER(cuLibraryGetModule, CONTEXT, (void **out, void *library), (out, library))
{
    if (!out || !by_hand(s, library))
        return cudaErrorInvalidValue;
    *out = library;
    return cudaSuccess;
}
WG_DRIVER(cuKernelGetFunction, CONTEXT, (const void **out, const void *kernel), (out, kernel))
{
    struct wg_func *f;
    if (!out)
        return cudaErrorInvalidValue;
    *out = kernel;
    return wg_image_func(s, kernel, &f);
}

WG_API(cudaLibraryLoadData, CONTEXT,
       (struct wg_binary * *out, const void *code, void *jit, void **jit_values, LOAD_ARGS),
       (out, code, jit, jit_values, njit, options, values, n))
{
    (void)jit, (void)jit_values, (void)njit, (void)options, (void)values, (void)n;
    return load_image(s, out, code);
}
WG_API(cudaLibraryLoadFromFile, CONTEXT,
       (struct wg_binary * *out, const char *path, void *jit, void **jit_values, LOAD_ARGS),
       (out, path, jit, jit_values, njit, options, values, n))
{
    (void)jit, (void)jit_values, (void)njit, (void)options, (void)values, (void)n;
    const int e = load_file(s, out, path);
    return e == CUDA_ERROR_FILE_NOT_FOUND ? cudaErrorFileNotFound : (enum cudaError)e;
}
WG_API(cudaLibraryUnload, CONTEXT, (void *library), (library))
{
    return cuModuleUnload_locked(s, library);
}
WG_API(cudaLibraryGetKernel, CONTEXT, (const void **out, void *library, const char *name), (out, library, name))
{
    return get_function(s, out, library, name);
}
WG_API(cudaLibraryGetGlobal, CONTEXT, (uint64_t *addr, size_t *bytes, void *library, const char *name),
       (addr, bytes, library, name))
{
    return get_global(s, addr, bytes, library, name);
}
WG_API(cudaLibraryGetKernelCount, CONTEXT, (unsigned *out, void *library), (out, library))
{
    return cuModuleGetFunctionCount_locked(s, out, library);
}

/* ---- linking: the PTX of all inputs joined, as for -rdc=true
 * --------------------------------------------------------- */

struct linking {
    struct wg_join_unit *units;
    size_t n;
    char *whole;
};

static enum cudaError add_unit(struct wg_shim *s, struct linking *l, const void *data)
{
    const struct wg_binary im = {.data = data};
    struct wg_join_unit *more = realloc(l->units, (l->n + 1) * sizeof *more);
    char *text;
    size_t n;
    if (!more)
        return cudaErrorMemoryAllocation;
    l->units = more;
    if (memcmp(data, "\177ELF", 4) == 0)
        return wg_shim_refuse("cuLinkAddData", "machine code: add PTX, or a fat binary that has it");
    enum cudaError e = wg_image_ptx(s, &im, &text, &n);
    if (e == cudaSuccess)
        l->units[l->n++] = (struct wg_join_unit){.text = text, .n = n};
    return e;
}

WG_DRIVER(cuLinkCreate_v2, CONTEXT, (unsigned n, void *options, void **values, struct linking **out),
          (n, options, values, out))
{
    (void)n, (void)options, (void)values;
    if (!out)
        return cudaErrorInvalidValue;
    *out = calloc(1, sizeof **out);
    return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}
WG_DRIVER(cuLinkAddData_v2, CONTEXT,
          (struct linking * l, int type, const void *data, size_t size, const char *name, unsigned n, void *options,
           void **values),
          (l, type, data, size, name, n, options, values))
{
    (void)type, (void)name, (void)n, (void)options, (void)values;
    if (!l || !data || size < 4)
        return cudaErrorInvalidValue;
    char *copy = calloc(1, size + 1); /* PTX text need not end in NUL */
    if (!copy)
        return cudaErrorMemoryAllocation;
    memcpy(copy, data, size);
    enum cudaError e = add_unit(s, l, copy);
    free(copy);
    return e;
}
WG_DRIVER(cuLinkComplete, CONTEXT, (struct linking * l, void **image, size_t *size), (l, image, size))
{
    char err[512];
    if (!l || !image || !l->n || l->whole)
        return cudaErrorInvalidValue;
    if (wg_join(l->units, l->n, &l->whole, err, sizeof err) != WG_OK) {
        wg_shim_say("cuLinkComplete: %s", err);
        return cudaErrorInvalidPtx;
    }
    *image = l->whole;
    if (size)
        *size = strlen(l->whole) + 1;
    return cudaSuccess;
}
WG_DRIVER(cuLinkDestroy, CONTEXT, (struct linking * l), (l))
{
    for (size_t i = 0; l && i < l->n; i++)
        free((char *)l->units[i].text);
    if (l) {
        free(l->units);
        free(l->whole);
    }
    free(l);
    return l ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- functions ----------------------------------------------------------------------------------------------------
 */

WG_EXPORT int cudaFuncGetAttributes(struct cudaFuncAttributes *, const void *);
WG_EXPORT int cudaFuncSetAttribute(const void *, int, int);
WG_EXPORT int cudaFuncSetCacheConfig(const void *, int);
WG_EXPORT int cudaFuncSetSharedMemConfig(const void *, int);
WG_EXPORT int cudaFuncGetName(const char **, const void *);
WG_EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t);
WG_EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *, const void *, int, size_t, unsigned);
WG_EXPORT int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *, const void *, int, int);
WG_SAME(cuFuncSetAttribute, CONTEXT, (const void *f, int attr, int v), cudaFuncSetAttribute(f, attr, v))
WG_SAME(cuFuncSetCacheConfig, CONTEXT, (const void *f, int v), cudaFuncSetCacheConfig(f, v))
WG_SAME(cuFuncSetSharedMemConfig, CONTEXT, (const void *f, int v), cudaFuncSetSharedMemConfig(f, v))
WG_SAME(cuFuncGetName, CONTEXT, (const char **out, const void *f), cudaFuncGetName(out, f))
WG_SAME(cuOccupancyMaxActiveBlocksPerMultiprocessor, CONTEXT, (int *n, const void *f, int threads, size_t shared),
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(n, f, threads, shared))
WG_SAME(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, CONTEXT,
        (int *n, const void *f, int threads, size_t shared, unsigned flags),
        cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(n, f, threads, shared, flags))
WG_SAME(cuOccupancyAvailableDynamicSMemPerBlock, CONTEXT, (size_t *out, const void *f, int blocks, int threads),
        cudaOccupancyAvailableDynamicSMemPerBlock(out, f, blocks, threads))

static int get_attribute(int *out, int attr, const void *f)
{
    struct cudaFuncAttributes a;
    if (!out)
        return cudaErrorInvalidValue;
    const int e = cudaFuncGetAttributes(&a, f);
    if (e != cudaSuccess)
        return e == cudaErrorInvalidDeviceFunction ? CUDA_ERROR_INVALID_HANDLE : e;
    const int v[] = {a.maxThreadsPerBlock,
                     (int)a.sharedSizeBytes,
                     (int)a.constSizeBytes,
                     (int)a.localSizeBytes,
                     a.numRegs,
                     a.ptxVersion,
                     a.binaryVersion,
                     a.cacheModeCA,
                     a.maxDynamicSharedSizeBytes,
                     a.preferredShmemCarveout,
#if WG_CUDART_MAJOR >= 12
                     a.clusterDimMustBeSet,
                     a.requiredClusterWidth,
                     a.requiredClusterHeight,
                     a.requiredClusterDepth,
                     a.nonPortableClusterSizeAllowed,
                     a.clusterSchedulingPolicyPreference
#endif
    };
    if (attr < 0 || attr >= (int)(sizeof v / sizeof *v))
        return cudaErrorInvalidValue;
    *out = v[attr];
    return cudaSuccess;
}
WG_SAME(cuFuncGetAttribute, CONTEXT, (int *out, int attr, const void *f), get_attribute(out, attr, f))

WG_DRIVER(cuFuncGetModule, CONTEXT, (void **out, const void *func), (out, func))
{
    struct wg_func *f;
    enum cudaError e = out ? wg_image_func(s, func, &f) : cudaErrorInvalidValue;
    if (e == cudaSuccess)
        *out = f->image;
    return e;
}

/* The largest block, in steps of a warp, that brings most threads onto an SM. */
WG_DRIVER(cuOccupancyMaxPotentialBlockSize, CONTEXT,
          (int *grid, int *block, const void *func, size_t (*shared_of)(int), size_t shared, int limit),
          (grid, block, func, shared_of, shared, limit))
{
    struct wg_func *f;
    enum cudaError e = grid && block ? wg_image_func(s, func, &f) : cudaErrorInvalidValue;
    if (e != cudaSuccess)
        return e;
    int most = 0, threads = (int)f->info.max_threads;
    if (limit > 0 && limit < threads)
        threads = limit;
    for (int n = threads; n > 0; n = (n - 1) / 32 * 32) {
        const size_t bytes = shared_of ? shared_of(n) : shared;
        const int fit = bytes > wg_func_dynamic_limit(s, f)
                            ? 0
                            : wg_device_blocks(&s->gpu, (unsigned)n, f->info.registers, f->info.static_shared, bytes);
        if (fit * n > most) {
            most = fit * n;
            *block = n;
            *grid = fit * (int)s->gpu.gpu->sms;
        }
    }
    return most ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- launches -----------------------------------------------------------------------------------------------------
 */

/* The packed form of the arguments, taken apart. */
static enum cudaError launch(struct wg_shim *s, const void *func, struct wg_launch *l, void *stream, void **extra)
{
    enum { MOST = 4096 };
    struct wg_func *f;
    void *args[MOST];
    size_t bytes;
    enum cudaError e = wg_image_func(s, func, &f);
    if (e != cudaSuccess)
        return e == cudaErrorInvalidDeviceFunction ? cudaErrorInvalidResourceHandle : e;
    if (extra && l->args)
        return cudaErrorInvalidValue;
    if (extra) {
        unsigned char *p = wg_launch_buffer(extra, &bytes);
        if (!p || f->info.nparams > MOST ||
            (f->info.nparams &&
             bytes < f->info.params[f->info.nparams - 1].offset + f->info.params[f->info.nparams - 1].bytes))
            return cudaErrorInvalidValue;
        for (size_t i = 0; i < f->info.nparams; i++)
            args[i] = p + f->info.params[i].offset;
        l->args = args;
    }
    return wg_launch_kernel(s, func, l, stream);
}

#define SHAPE unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz
WG_DRIVER(cuLaunchKernel, CONTEXT, (const void *f, SHAPE, unsigned shared, void *stream, void **args, void **extra),
          (f, gx, gy, gz, bx, by, bz, shared, stream, args, extra))
{
    struct wg_launch l = {.grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared_bytes = shared, .args = args};
    return launch(s, f, &l, stream, extra);
}
WG_DRIVER_PTSZ(cuLaunchKernel, (const void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                void *, void **, void **));
WG_DRIVER(cuLaunchCooperativeKernel, CONTEXT, (const void *f, SHAPE, unsigned shared, void *stream, void **args),
          (f, gx, gy, gz, bx, by, bz, shared, stream, args))
{
    struct wg_launch l = {
        .grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared_bytes = shared, .args = args, .cooperative = true};
    return launch(s, f, &l, stream, NULL);
}
WG_DRIVER_PTSZ(cuLaunchCooperativeKernel,
               (const void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **));

struct CUlaunchConfig {
    unsigned grid[3], block[3], shared;
    void *stream;
    struct cudaLaunchAttribute *attrs;
    unsigned nattrs;
};
WG_DRIVER(cuLaunchKernelEx, CONTEXT, (const struct CUlaunchConfig *c, const void *f, void **args, void **extra),
          (c, f, args, extra))
{
    if (!c || (c->nattrs && !c->attrs))
        return cudaErrorInvalidValue;
    struct wg_launch l = {.shared_bytes = c->shared, .args = args};
    memcpy(l.grid, c->grid, sizeof l.grid);
    memcpy(l.block, c->block, sizeof l.block);
    for (unsigned i = 0; i < c->nattrs; i++) {
        enum cudaError e = wg_launch_attribute(&l, &c->attrs[i]);
        if (e != cudaSuccess)
            return e;
    }
    return launch(s, f, &l, c->stream, extra);
}
WG_DRIVER_PTSZ(cuLaunchKernelEx, (const struct CUlaunchConfig *, const void *, void **, void **));
