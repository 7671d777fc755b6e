/* memcheck.c - is there memory at this address: allocations, shared arrays, the frames' local memory, the device heap. */
#include "check/internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Index of the first area whose base is above addr. */
static size_t above(const struct wg_areas *v, uint64_t addr)
{
    size_t lo = 0, hi = v->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (v->v[mid].base > addr)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

const struct wg_area *wg_area_at(const struct wg_check *c, uint64_t addr)
{
    const struct wg_areas *v = addr >= c->heap_lo && addr < c->heap_hi ? &c->heap : &c->areas;
    size_t k = above(v, addr);
    const struct wg_area *a = k ? &v->v[k - 1] : NULL;
    return a && !a->freed && addr - a->base < a->bytes ? a : NULL;
}

static void add(struct wg_check *c, struct wg_areas *v, uint64_t base, uint64_t bytes, bool internal)
{
    size_t k = above(v, base);
    char *place = v == &c->areas && !internal && c->place ? strdup(c->place) : NULL;
    if (k && v->v[k - 1].base == base) { /* its predecessor at this address was freed */
        free(v->v[k - 1].place);
        v->v[k - 1] = (struct wg_area){base, bytes, false, internal, place};
        return;
    }
    if (v->n == v->cap) {
        size_t cap = v->cap ? v->cap * 2 : 64;
        struct wg_area *p = wg_realloc(v->v, cap * sizeof *p);
        if (!p) {
            free(place);
            c->no_memory = true;
            return;
        }
        v->v = p;
        v->cap = cap;
    }
    memmove(v->v + k + 1, v->v + k, (v->n - k) * sizeof *v->v);
    v->v[k] = (struct wg_area){base, bytes, false, internal, place};
    v->n++;
}

static void drop(struct wg_areas *v, uint64_t base, bool forget)
{
    size_t k = above(v, base);
    if (!k || v->v[k - 1].base != base)
        return;
    if (!forget) {
        v->v[k - 1].freed = true;
        return;
    }
    free(v->v[k - 1].place);
    memmove(v->v + k - 1, v->v + k, (v->n - k) * sizeof *v->v);
    v->n--;
}

void wg_memcheck_close(struct wg_check *c)
{
    for (size_t k = 0; k < c->areas.n; k++)
        free(c->areas.v[k].place);
    free(c->areas.v);
    free(c->heap.v);
}

void wg_memcheck_leaks(struct wg_check *c)
{
    static const char *const what[2] = {"", " on the device heap"};
    for (int h = 0; h < 2; h++)
        for (size_t k = 0; k < (h ? &c->heap : &c->areas)->n; k++) {
            const struct wg_area *a = &(h ? &c->heap : &c->areas)->v[k];
            if (!a->freed && !a->internal)
                wg_found_host(c, WG_FOUND_LEAK, a->base, a->place, "Leaked %llu bytes at 0x%llx%s", (unsigned long long)a->bytes,
                              (unsigned long long)a->base, what[h]);
        }
}

void wg_memcheck_memory(struct wg_check *c, enum wg_memory_event what, uint64_t addr, uint64_t bytes)
{
    switch (what) {
    case WG_MEMORY_ALLOC: add(c, &c->areas, addr, bytes, false); break;
    case WG_MEMORY_INTERNAL: add(c, &c->areas, addr, bytes, true); break;
    case WG_MEMORY_FREE: drop(&c->areas, addr, !(c->tools & WG_TOOL_MEMCHECK)); break;
    case WG_MEMORY_FORGET: drop(&c->areas, addr, true); break;
    case WG_MEMORY_HEAP:
        c->heap_lo = addr;
        c->heap_hi = addr + bytes;
        break;
    case WG_MEMORY_HEAP_ALLOC: add(c, &c->heap, addr, bytes, false); break;
    case WG_MEMORY_HEAP_FREE: drop(&c->heap, addr, false); break;
    default: break;
    }
}

static const char *verb(const struct wg_access *a)
{
    return a->kind == WG_ACCESS_LOAD ? "read" : a->kind == WG_ACCESS_STORE ? "write" : "atomic";
}

struct bad { enum wg_found id; const struct wg_area *area; char text[256]; };

/* Where addr lies relative to the nearest allocation. */
static const struct wg_area *nearest(const struct wg_areas *v, uint64_t addr, uint64_t bytes, char *text, size_t n)
{
    size_t k = above(v, addr);
    const struct wg_area *before = NULL, *after = NULL;
    for (size_t x = k; x && !before; x--)
        if (!v->v[x - 1].freed && !v->v[x - 1].internal)
            before = &v->v[x - 1];
    for (size_t x = k; x < v->n && !after; x++)
        if (!v->v[x].freed && !v->v[x].internal)
            after = &v->v[x];
    (void)bytes;
    if (before && after && after->base - addr < addr - (before->base + before->bytes))
        before = NULL;
    if (before)
        snprintf(text, n, "is out of bounds\nand is %llu bytes after the nearest allocation at 0x%llx of size %llu bytes",
                 (unsigned long long)(addr + bytes - (before->base + before->bytes) - (bytes - 1)),
                 (unsigned long long)before->base, (unsigned long long)before->bytes);
    else if (after)
        snprintf(text, n, "is out of bounds\nand is %llu bytes before the nearest allocation at 0x%llx of size %llu bytes",
                 (unsigned long long)(after->base - addr), (unsigned long long)after->base, (unsigned long long)after->bytes);
    else
        snprintf(text, n, "is out of bounds\nand there is no allocation");
    return before ? before : after;
}

static bool global_bad(const struct wg_check *c, uint64_t a, uint64_t bytes, struct bad *x)
{
    const struct wg_areas *v = a >= c->heap_lo && a < c->heap_hi ? &c->heap : &c->areas;
    size_t k = above(v, a);
    const struct wg_area *p = k ? &v->v[k - 1] : NULL;
    bool starts = p && !p->freed && a - p->base < p->bytes;
    if (starts && !(a & (bytes - 1)) && bytes <= p->bytes - (a - p->base))
        return false;
    if (starts && a & (bytes - 1)) { /* that comes first on a device, wherever the access ends */
        x->id = WG_FOUND_MISALIGNED;
        x->area = p;
        snprintf(x->text, sizeof x->text, "is misaligned\nand is inside the nearest allocation at 0x%llx of size %llu bytes",
                 (unsigned long long)p->base, (unsigned long long)p->bytes);
        return true;
    }
    if (p && p->freed && a - p->base < p->bytes) {
        x->id = WG_FOUND_USE_AFTER_FREE;
        x->area = p;
        snprintf(x->text, sizeof x->text, "is in memory that was freed\nand is %llu bytes inside the freed allocation at "
                                          "0x%llx of size %llu bytes",
                 (unsigned long long)(a - p->base), (unsigned long long)p->base, (unsigned long long)p->bytes);
    } else if (a < 65536) {
        x->id = WG_FOUND_NULL_POINTER;
        snprintf(x->text, sizeof x->text, "is out of bounds\nand is %llu bytes from a null pointer", (unsigned long long)a);
    } else if (a < c->lo || a >= c->end) {
        x->id = WG_FOUND_HOST_POINTER;
        snprintf(x->text, sizeof x->text, "is out of bounds\nand is no address of device memory");
    } else {
        x->id = WG_FOUND_OUT_OF_BOUNDS;
        x->area = nearest(v, a, bytes, x->text, sizeof x->text);
    }
    return true;
}

static bool shared_bad(const struct wg_check *c, const struct wg_access *acc, uint64_t a, uint64_t bytes, struct bad *x)
{
    uint64_t lo = 0, hi = c->launch.shared_bytes;
    const struct wg_array *arr = acc->array >= 0 && (uint32_t)acc->array < c->launch.narrays ? &c->launch.arrays[acc->array]
                                                                                             : NULL;
    if (arr) {
        lo = arr->offset;
        hi = arr->dynamic ? hi : arr->offset + arr->bytes;
    }
    if (a >= lo && a <= hi && bytes <= hi - a) {
        x->id = WG_FOUND_MISALIGNED;
        snprintf(x->text, sizeof x->text, "is misaligned");
        return a & (bytes - 1);
    }
    x->id = WG_FOUND_OUT_OF_BOUNDS;
    if (!arr)
        snprintf(x->text, sizeof x->text, "is out of bounds\nand the block has %llu bytes of shared memory",
                 (unsigned long long)hi);
    else if (a < lo)
        snprintf(x->text, sizeof x->text, "is out of bounds\nand is %llu bytes before the shared array %.64s of size %llu bytes",
                 (unsigned long long)(lo - a), arr->name, (unsigned long long)(hi - lo));
    else
        snprintf(x->text, sizeof x->text, "is out of bounds\nand is %llu bytes after the shared array %.64s of size %llu bytes",
                 (unsigned long long)(a >= hi ? a - hi + 1 : 1), arr->name, (unsigned long long)(hi - lo));
    return true;
}

static bool local_bad(const struct wg_access *acc, uint64_t a, uint64_t bytes, struct bad *x)
{
    if (a <= acc->local_bytes && bytes <= acc->local_bytes - a) {
        x->id = WG_FOUND_MISALIGNED;
        snprintf(x->text, sizeof x->text, "is misaligned");
        return a & (bytes - 1);
    }
    x->id = WG_FOUND_OUT_OF_BOUNDS;
    snprintf(x->text, sizeof x->text, "is out of bounds\nand the thread uses %u bytes of local memory", acc->local_bytes);
    return true;
}

void wg_memcheck_range(const struct wg_check *c, const struct wg_access *a, uint32_t lane, uint64_t *lo, uint64_t *hi)
{
    *lo = 0;
    *hi = c->launch.shared_bytes;
    if (a->space == WG_SITE_SHARED) {
        const struct wg_array *arr = a->array >= 0 && (uint32_t)a->array < c->launch.narrays ? &c->launch.arrays[a->array] : NULL;
        if (arr) {
            *lo = arr->offset;
            *hi = arr->dynamic ? *hi : arr->offset + arr->bytes;
        }
        return;
    }
    uint64_t at = a->addr[lane];
    const struct wg_areas *v = at >= c->heap_lo && at < c->heap_hi ? &c->heap : &c->areas;
    size_t k = above(v, at);
    bool live = k && !v->v[k - 1].freed && at - v->v[k - 1].base < v->v[k - 1].bytes;
    *lo = live ? v->v[k - 1].base : 0;
    *hi = live ? *lo + v->v[k - 1].bytes : 0;
}

uint32_t wg_memcheck_access(struct wg_check *c, struct wg_cblock *b, uint32_t warp, const struct wg_access *a)
{
    uint64_t bytes = (uint64_t)a->elem * a->n;
    uint32_t keep = 0;
    for (uint32_t m = a->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        uint64_t x = a->addr[l];
        struct bad bad = {.area = NULL};
        bool wrong = a->space == WG_SITE_SHARED  ? shared_bad(c, a, x, bytes, &bad)
                     : a->space == WG_SITE_LOCAL ? local_bad(a, x, bytes, &bad)
                                                 : global_bad(c, x, bytes, &bad);
        if (!wrong) {
            keep |= m & -m;
            continue;
        }
        struct wg_who who = {warp, l, b->ctaid};
        wg_found(c, bad.id, a->site, NO_SITE, who, (struct wg_who){0}, x, WG_SEVERITY_ERROR,
                 "Invalid __%s__ %s of size %llu bytes\nAddress 0x%llx %s%s%s", wg_space_name(a->space), verb(a),
                 (unsigned long long)bytes, (unsigned long long)x, bad.text,
                 bad.area && bad.area->place ? "\nAllocated by\n" : "",
                 bad.area && bad.area->place ? bad.area->place : "");
    }
    return keep;
}
