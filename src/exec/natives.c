/* natives.c - functions that PTX declares and the engine provides: printf, malloc, free, assert, and the math library. */
#include "exec/engine.h"
#include "exec/handlers.h"
#include "exec/libdevice.h"
#include "exec/printf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t arg64(const uint32_t *const *arg, unsigned k, unsigned l)
{
    return arg[k][l] | (uint64_t)arg[k][32 + l] << 32;
}
static void put64(uint32_t *ret, unsigned l, uint64_t v)
{
    ret[l] = (uint32_t)v;
    ret[32 + l] = (uint32_t)(v >> 32);
}

/* Host address of n bytes at a generic address as lane l sees it; NULL when some byte lies nowhere. Local memory is
 * interleaved, so it goes through buf. */
static char *resolve(struct wg_warp *w, uint64_t a, unsigned n, bool *local)
{
    *local = false;
    if (a - WG_SHARED_WINDOW < WG_WINDOW_BYTES) {
        uint64_t o = a - WG_SHARED_WINDOW;
        return o + n <= w->blk->shared_bytes ? w->blk->shared + o : NULL;
    }
    if (a - WG_LOCAL_WINDOW < WG_WINDOW_BYTES) {
        *local = true;
        return a - WG_LOCAL_WINDOW + n <= w->local_bytes ? w->local : NULL;
    }
    return a >= w->wk->lo && a <= w->wk->hi - n ? (char *)a : NULL;
}
static char *local_byte(const struct wg_warp *w, uint64_t off, unsigned l)
{
    return w->local + (off >> 2) * 128 + l * 4 + (off & 3);
}
static bool read_bytes(struct wg_warp *w, unsigned l, uint64_t a, void *out, unsigned n)
{
    bool local;
    char *p = resolve(w, a, n, &local);
    if (!p)
        return false;
    if (!local)
        memcpy(out, p, n);
    else
        for (unsigned k = 0; k < n; k++)
            ((char *)out)[k] = *local_byte(w, a - WG_LOCAL_WINDOW + k, l);
    return true;
}
static void tell_write(struct wg_warp *w, unsigned l, uint64_t a, unsigned n)
{
    const struct wg_observer *o = &w->wk->run->g->observer;
    if (!w->wk->run->kc->observed)
        return;
    bool sh = a - WG_SHARED_WINDOW < WG_WINDOW_BYTES, lo = a - WG_LOCAL_WINDOW < WG_WINDOW_BYTES;
    o->native_write(o->ctx, w->blk->observed, w->index, l, sh ? WG_SITE_SHARED : lo ? WG_SITE_LOCAL : WG_SITE_GLOBAL,
                    a - (sh ? WG_SHARED_WINDOW : lo ? WG_LOCAL_WINDOW : 0), n);
}
static bool write_bytes(struct wg_warp *w, unsigned l, uint64_t a, const void *in, unsigned n)
{
    bool local;
    char *p = resolve(w, a, n, &local);
    if (!p)
        return false;
    tell_write(w, l, a, n);
    if (!local)
        memcpy(p, in, n);
    else
        for (unsigned k = 0; k < n; k++)
            *local_byte(w, a - WG_LOCAL_WINDOW + k, l) = ((const char *)in)[k];
    return true;
}

/* ---- math ---- */
struct access { struct wg_warp *w; const struct wg_inst *i; bool failed; };
static bool math_access(struct access *x, bool ok, unsigned lane, uint64_t addr, unsigned n, const char *what)
{
    if (!ok && !x->failed) {
        x->failed = true;
        wg_fault(x->w, x->i, WG_KERNEL_FAULT, "out-of-bounds", (int)lane, addr,
                 "Invalid %s of size %u bytes by a math function: address 0x%llx is out of bounds", what, n,
                 (unsigned long long)addr);
    }
    return ok;
}
static bool math_store(void *owner, unsigned lane, uint64_t addr, const void *bytes, unsigned n)
{
    struct access *x = owner;
    return math_access(x, write_bytes(x->w, lane, addr, bytes, n), lane, addr, n, "write");
}
static bool math_load(void *owner, unsigned lane, uint64_t addr, void *bytes, unsigned n)
{
    struct access *x = owner;
    return math_access(x, read_bytes(x->w, lane, addr, bytes, n), lane, addr, n, "read");
}
static bool n_math(struct wg_warp *w, const struct wg_inst *i, const struct wg_call_desc *d, uint32_t mask, uint32_t *ret,
                   const uint32_t *const *arg)
{
    const struct wg_libdevice *f = d->native_data;
    struct access x = {w, i, false};
    struct wg_libdevice_ctx ctx = {&x, math_store, math_load};
    f->fn(&ctx, mask, ret, arg);
    return !x.failed;
}

/* ---- printf ---- */
static size_t read_string(struct wg_warp *w, unsigned l, uint64_t a, char *out, size_t cap)
{
    size_t n = 0;
    while (n + 1 < cap && read_bytes(w, l, a + n, out + n, 1) && out[n])
        n++;
    out[n] = 0;
    return n;
}
struct printer { struct wg_warp *w; unsigned lane; };
static size_t string_arg(void *ctx, uint64_t addr, char *out, size_t cap)
{
    struct printer *p = ctx;
    char first;
    return read_bytes(p->w, p->lane, addr, &first, 1) ? read_string(p->w, p->lane, addr, out, cap) : SIZE_MAX;
}
/* The device string at a, however long it is; in buf when that holds it, else on the heap. NULL: out of memory. */
static char *whole_string(struct wg_warp *w, unsigned l, uint64_t a, char *buf, size_t cap)
{
    char *s = buf;
    while (read_string(w, l, a, s, cap) + 1 == cap) {
        cap *= 2;
        char *more = realloc(s == buf ? NULL : s, cap);
        if (!more) {
            free(s == buf ? NULL : s);
            return NULL;
        }
        s = more;
    }
    return s;
}

/* One lane's line; false: out of memory. */
static bool print_lane(struct wg_warp *w, unsigned l, uint64_t format, uint64_t values, int *count)
{
    struct wg *g = w->wk->run->g;
    char fmt_buf[1024], out_buf[2048], *out = out_buf, *fmt = whole_string(w, l, format, fmt_buf, sizeof fmt_buf);
    uint8_t args[1024]; /* 32 arguments of at most 16 bytes are CUDA's limit */
    size_t have = 0, want = fmt && values ? wg_printf_arg_bytes(fmt) : 0;
    struct printer p = {w, l};
    if (!fmt)
        return false;
    while (have < want && have < sizeof args && read_bytes(w, l, values + have, args + have, 1))
        have++;
    size_t n = wg_printf_format(out, sizeof out_buf, fmt, args, have, string_arg, &p, count);
    if (n >= sizeof out_buf) {
        out = malloc(n + 1);
        size_t again = out ? wg_printf_format(out, n + 1, fmt, args, have, string_arg, &p, count) : 0;
        n = again < n ? again : n; /* another block may have changed a string meanwhile */
    }
    if (out) {
        pthread_mutex_lock(&g->heap_lock); /* lines of different workers do not mix */
        if (g->opt.printf_sink)
            g->opt.printf_sink(g->opt.ctx, out, n);
        else
            fwrite(out, 1, n, stdout);
        pthread_mutex_unlock(&g->heap_lock);
    }
    bool ok = out != NULL;
    if (fmt != fmt_buf)
        free(fmt);
    if (out != out_buf)
        free(out);
    return ok;
}

static bool n_vprintf(struct wg_warp *w, const struct wg_inst *i, const struct wg_call_desc *d, uint32_t mask,
                      uint32_t *ret, const uint32_t *const *arg)
{
    if (d->narg < 2)
        return true;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        int count = 0;
        if (!print_lane(w, l, arg64(arg, 0, l), arg64(arg, 1, l), &count)) {
            wg_fault(w, i, WG_NO_MEMORY, "host-memory", (int)l, 0, "no host memory for the text of a printf");
            return false;
        }
        if (ret)
            ret[l] = (uint32_t)count;
    }
    return true;
}

/* ---- heap, assert ---- */
static bool n_malloc(struct wg_warp *w, const struct wg_inst *i, const struct wg_call_desc *d, uint32_t mask, uint32_t *ret,
                     const uint32_t *const *arg)
{
    (void)i;
    (void)d;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t p = wg_heap_malloc(w->wk->run->g, arg64(arg, 0, l));
        if (p)
            wg_tell_memory(w->wk->run->g, WG_MEMORY_HEAP_ALLOC, p, arg64(arg, 0, l), 0);
        if (ret)
            put64(ret, l, p);
    }
    return true;
}
static bool n_free(struct wg_warp *w, const struct wg_inst *i, const struct wg_call_desc *d, uint32_t mask, uint32_t *ret,
                   const uint32_t *const *arg)
{
    (void)ret;
    (void)d;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t a = arg64(arg, 0, l);
        if (a)
            wg_tell_memory(w->wk->run->g, WG_MEMORY_HEAP_FREE, a, 0, 0);
        if (!wg_heap_free(w->wk->run->g, a)) {
            wg_fault(w, i, WG_KERNEL_FAULT, "invalid-free", (int)l, a,
                     "Malloc/Free error: 0x%llx is not a live block of the device heap", (unsigned long long)a);
            return false;
        }
    }
    return true;
}
static bool n_assert(struct wg_warp *w, const struct wg_inst *i, const struct wg_call_desc *d, uint32_t mask, uint32_t *ret,
                     const uint32_t *const *arg)
{
    char what[256], file[256], func[256];
    unsigned l = (unsigned)__builtin_ctz(mask);
    (void)ret;
    if (d->narg < 4)
        return true;
    read_string(w, l, arg64(arg, 0, l), what, sizeof what);
    read_string(w, l, arg64(arg, 1, l), file, sizeof file);
    read_string(w, l, arg64(arg, 3, l), func, sizeof func);
    fflush(stdout);
    fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file, arg[2][l], func,
            w->blk->ctaid[0], w->blk->ctaid[1], w->blk->ctaid[2], w->tid[0][l], w->tid[1][l], w->tid[2][l], what);
    wg_fault(w, i, WG_KERNEL_FAULT, "assert", (int)l, 0, "Assertion `%s` failed at %s:%u in %s", what, file, arg[2][l],
             func);
    return false;
}

static const struct wg_native natives[] = {
    {"vprintf", n_vprintf}, {"malloc", n_malloc}, {"free", n_free}, {"__assertfail", n_assert}, {"__nv_", n_math},
};

const struct wg_native *wg_native_find(const char *name, const void **data)
{
    *data = wg_libdevice_find(name, strlen(name));
    if (*data)
        return &natives[4];
    for (int k = 0; k < 4; k++)
        if (strcmp(natives[k].name, name) == 0)
            return &natives[k];
    return NULL;
}
