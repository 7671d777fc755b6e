/* image.c - registration of fat binaries, kernels and variables; loading at first use. */
#include "shim/image.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

WG_EXPORT void **__cudaRegisterFatBinary(void *wrapper);
WG_EXPORT void __cudaRegisterFatBinaryEnd(void **handle);
WG_EXPORT void __cudaUnregisterFatBinary(void **handle);
WG_EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int thread_limit,
                                      void *tid, void *bid, struct wg_dim3 *block, struct wg_dim3 *grid, int *warp);
WG_EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t bytes,
                                 int constant, int global);
WG_EXPORT void __cudaRegisterManagedVar(void **handle, void **slot, char *device, const char *name, int ext,
                                        size_t bytes, int constant, int global);
WG_EXPORT void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name, int dim,
                                     int norm, int ext);
WG_EXPORT char __cudaInitModule(void **handle);

void **__cudaRegisterFatBinary(void *wrapper)
{
    const struct wg_fatbin_wrapper *w = wrapper;
    struct wg_binary *im = calloc(1, sizeof *im);
    if (!im || !w)
        return (void **)im;
    if (w->magic == WG_WRAPPER_MAGIC) {
        im->data = w->data;
        if (w->version >= 2)
            im->prelinked = w->prelinked;
    } else {
        im->failed = cudaErrorInvalidKernelImage;
    }
    struct wg_shim *s = wg_shim_lock();
    im->next = s->images;
    s->images = im;
    wg_shim_unlock(s);
    return (void **)im;
}

void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

static struct wg_binary *known_image(struct wg_shim *s, void **handle)
{
    for (struct wg_binary *im = s->images; im; im = im->next)
        if ((void **)im == handle)
            return im;
    return NULL;
}

static void drop_names(struct wg_shim *s, const struct wg_binary *im)
{
    struct wg_func *f, *fn;
    struct wg_var *v, *vn;
    HASH_ITER(hh, s->funcs, f, fn)
        if (f->image == im) {
            HASH_DEL(s->funcs, f);
            free(f->name);
            free(f);
        }
    HASH_ITER(hh, s->vars, v, vn)
        if (v->image == im) {
            HASH_DEL(s->vars, v);
            free(v->name);
            free(v);
        }
}

void wg_image_drop(struct wg_shim *s, struct wg_binary *im)
{
    for (struct wg_binary **p = &s->images; *p; p = &(*p)->next)
        if (*p == im) {
            *p = im->next;
            break;
        }
    drop_names(s, im);
    if (im->module && s->g)
        wg_module_unload(im->module);
    free(im);
}

void __cudaUnregisterFatBinary(void **handle)
{
    struct wg_shim *s = wg_shim_lock();
    struct wg_binary *im = known_image(s, handle);
    if (im)
        wg_image_drop(s, im);
    wg_shim_unlock(s);
}

struct wg_func *wg_image_add_func(struct wg_shim *s, struct wg_binary *im, const void *host, const char *name)
{
    struct wg_func *f = calloc(1, sizeof *f);
    if (!f || !(f->name = strdup(name))) {
        free(f);
        return NULL;
    }
    f->host = host ? host : f;
    f->image = im;
    f->max_dynamic_shared = f->carveout = -1;
    HASH_ADD_PTR(s->funcs, host, f);
    return f;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int thread_limit,
                            void *tid, void *bid, struct wg_dim3 *block, struct wg_dim3 *grid, int *warp)
{
    (void)device, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    struct wg_shim *s = wg_shim_lock();
    struct wg_binary *im = known_image(s, handle);
    struct wg_func *f = NULL;
    const void *key = host;
    HASH_FIND_PTR(s->funcs, &key, f);
    /* A template instantiated in two files has one stub and two images with the same code: the first one stays. */
    if (im && !f && name)
        wg_image_add_func(s, im, host, name);
    wg_shim_unlock(s);
}

/* like: what else is known of it. */
static void add_var(void **handle, const void *host, void **slot, const char *name, size_t bytes, struct wg_var like)
{
    struct wg_shim *s = wg_shim_lock();
    struct wg_binary *im = known_image(s, handle);
    struct wg_var *v = NULL;
    HASH_FIND_PTR(s->vars, &host, v);
    if (im && !v && name && (v = calloc(1, sizeof *v))) {
        *v = like;
        v->host = host;
        v->image = im;
        v->name = strdup(name);
        v->bytes = bytes;
        v->managed = slot != NULL;
        v->managed_slot = slot;
        if (v->name)
            HASH_ADD_PTR(s->vars, host, v);
        else
            free(v);
    }
    wg_shim_unlock(s);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t bytes, int constant,
                       int global)
{
    (void)device, (void)ext, (void)global;
    add_var(handle, host, NULL, name, bytes, (struct wg_var){.constant = constant != 0});
}

void __cudaRegisterManagedVar(void **handle, void **slot, char *device, const char *name, int ext, size_t bytes,
                              int constant, int global)
{
    (void)device, (void)ext, (void)global;
    add_var(handle, slot, slot, name, bytes, (struct wg_var){.constant = constant != 0});
}

void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name, int dim, int norm,
                           int ext)
{
    (void)device, (void)dim, (void)ext;
    add_var(handle, host, NULL, name, 8, (struct wg_var){.texture = true, .normalized_float = norm != 0});
}

/* "nvcc 13.0" from the comments that compilers put at the head of their PTX; "" when they say nothing. */
static void compiler_of(const char *ptx, size_t n, char *out, size_t nout)
{
    static const char release[] = "Cuda compilation tools, release ";
    size_t head = n < 1024 ? n : 1024;
    const char *p = memmem(ptx, head, release, sizeof release - 1);
    *out = 0;
    if (p) {
        p += sizeof release - 1;
        size_t len = 0;
        while (p + len < ptx + head && ((p[len] >= '0' && p[len] <= '9') || p[len] == '.'))
            len++;
        snprintf(out, nout, "nvcc %.*s", (int)len, p);
    } else if (memmem(ptx, head, "Generated by LLVM NVPTX", 23)) {
        snprintf(out, nout, "clang");
    }
}

enum cudaError wg_image_load(struct wg_shim *s, struct wg_binary *im)
{
    if (im->module || im->failed)
        return im->failed;
    char *text = NULL, compiler[64];
    size_t n = 0;
    enum cudaError e = wg_image_ptx(s, im, &text, &n);
    if (e != cudaSuccess)
        return im->failed = e;
    compiler_of(text, n, compiler, sizeof compiler);
    const char *made_by = s->env.compiler ? s->env.compiler : *compiler ? compiler : NULL;
    enum wg_status st = wg_module_load(s->g, text, n, program_invocation_short_name, made_by, &im->module);
    free(text);
    if (st != WG_OK) {
        im->module = NULL;
        wg_shim_say("%s", wg_error(s->g));
        return im->failed = wg_shim_error(st);
    }
    struct wg_var *v, *vn;
    HASH_ITER(hh, s->vars, v, vn)
        if (v->image == im && v->managed_slot) {
            uint64_t addr;
            size_t bytes;
            if (wg_module_symbol(im->module, v->name, &addr, &bytes) == WG_OK)
                *v->managed_slot = (void *)(uintptr_t)addr;
        }
    return cudaSuccess;
}

char __cudaInitModule(void **handle)
{
    struct wg_shim *s;
    enum cudaError e = wg_shim_enter(&s, WG_NEED_CONTEXT);
    struct wg_binary *im = known_image(s, handle);
    if (e == cudaSuccess)
        e = im ? wg_image_load(s, im) : cudaErrorInvalidValue;
    wg_shim_leave(s, e, "__cudaInitModule");
    return e == cudaSuccess;
}

enum cudaError wg_image_func(struct wg_shim *s, const void *host, struct wg_func **out)
{
    struct wg_func *f = NULL;
    HASH_FIND_PTR(s->funcs, &host, f);
    if (!f)
        return cudaErrorInvalidDeviceFunction;
    *out = f;
    if (f->kernel)
        return cudaSuccess;
    enum cudaError e = wg_image_load(s, f->image);
    if (e != cudaSuccess)
        return e;
    struct wg_kernel *k = wg_module_kernel(f->image->module, f->name);
    if (!k || wg_kernel_get_info(k, &f->info) != WG_OK)
        return cudaErrorInvalidDeviceFunction;
    /* an estimate of the registers must not keep a program from a block that it may launch */
    while (!f->info.registers_exact && f->info.registers > f->info.registers_low &&
           !wg_device_blocks(&s->gpu, f->info.max_threads, f->info.registers, 0, 0))
        f->info.registers--;
    f->kernel = k;
    return cudaSuccess;
}

enum cudaError wg_image_var(struct wg_shim *s, const void *host, struct wg_var **out, uint64_t *addr, size_t *bytes)
{
    struct wg_var *v = NULL;
    HASH_FIND_PTR(s->vars, &host, v);
    if (!v)
        return cudaErrorInvalidSymbol;
    *out = v;
    enum cudaError e = wg_image_load(s, v->image);
    if (e != cudaSuccess)
        return e;
    return wg_module_symbol(v->image->module, v->name, addr, bytes) == WG_OK ? cudaSuccess : cudaErrorInvalidSymbol;
}

enum cudaError wg_image_reference(struct wg_shim *s, const void *host, struct wg_var **out)
{
    HASH_FIND_PTR(s->vars, &host, *out);
    return *out && (*out)->texture ? wg_image_load(s, (*out)->image) : cudaErrorInvalidSymbol;
}

void wg_image_unload_all(struct wg_shim *s)
{
    struct wg_func *f, *fn;
    HASH_ITER(hh, s->funcs, f, fn)
        f->kernel = NULL;
    struct wg_binary *next;
    for (struct wg_binary *im = s->images; im; im = next) {
        next = im->next;
        if (im->by_hand) {
            wg_image_drop(s, im);
        } else if (im->module) {
            wg_module_unload(im->module);
            im->module = NULL;
        }
    }
}
