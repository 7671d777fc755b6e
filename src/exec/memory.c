/* memory.c - device memory: one reserved range of host addresses, first fit; and the device heap inside it. */
#include "exec/engine.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, ALIGN = 256, ZONE = 4096 };
#define QUARANTINE (256ull << 20) /* bytes of freed blocks that are held back when memory is checked */
#define GIB (1ull << 30)

enum wg_status wg_memory_open(struct wg *g)
{
    uint64_t want = g->opt.memory ? g->opt.memory : (uint64_t)g->gpu->memory_bytes;
    if (want < 16u << 20)
        want = 16u << 20;
    g->top = want;
    want += 64u << 20; /* for the library's own blocks and the gaps of alignment */
    void *p = MAP_FAILED;
    for (; want >= 64u << 20; want /= 2) {
        p = mmap(NULL, want, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p != MAP_FAILED)
            break;
    }
    if (p == MAP_FAILED)
        return wg_diag_set(&g->diag, WG_NO_MEMORY, "cannot reserve address space for device memory");
    g->lo = (uint64_t)p;
    g->end = g->lo + want;
    g->hi = g->lo;
    if (g->top > want)
        g->top = want;
    pthread_mutex_init(&g->heap_lock, NULL);
    return WG_OK;
}

void wg_memory_close(struct wg *g)
{
    if (!g->lo)
        return;
    munmap((void *)g->lo, g->end - g->lo);
    free(g->allocs);
    pthread_mutex_destroy(&g->heap_lock);
}

void wg_tell_memory(struct wg *g, enum wg_memory_event what, uint64_t addr, uint64_t bytes, uint64_t other)
{
    if (g->check)
        g->observer.memory(g->observer.ctx, what, addr, bytes, other);
}

/* Index of the first allocation whose base is above addr. */
static size_t above(const struct wg *g, uint64_t addr)
{
    size_t lo = 0, hi = g->nallocs;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (g->allocs[mid].base > addr)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

enum wg_status wg_memory_alloc(struct wg *g, size_t bytes, size_t align, bool internal, uint64_t *addr)
{
    *addr = 0;
    if (align < ALIGN)
        align = ALIGN;
    if (align & (align - 1))
        return wg_diag_set(&g->diag, WG_INVALID, "alignment %zu is no power of two", align);
    if (bytes > g->top || (!internal && g->used + bytes > g->top))
        return wg_diag_set(&g->diag, WG_NO_DEVICE_MEMORY, "out of device memory: %zu bytes asked, %llu free", bytes,
                           (unsigned long long)(g->top - g->used));
    size_t need = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1), at;
    if (need == 0)
        need = ALIGN;
    if (g->opt.tools & WG_TOOL_MEMCHECK) /* red zone: an index that is a block of threads too high meets nobody */
        need += ZONE;
    uint64_t base = g->lo;
    for (at = 0; at <= g->nallocs; at++) {
        base = (base + align - 1) & ~(uint64_t)(align - 1);
        uint64_t limit = at < g->nallocs ? g->allocs[at].base : g->end;
        if (base + need <= limit && base + need > base)
            break;
        if (at < g->nallocs)
            base = g->allocs[at].base + g->allocs[at].reserved;
    }
    if (at > g->nallocs)
        return wg_diag_set(&g->diag, WG_NO_DEVICE_MEMORY, "out of device memory: no gap of %zu bytes", bytes);
    if (g->nallocs == g->cap_allocs) {
        size_t cap = g->cap_allocs ? g->cap_allocs * 2 : 64;
        struct wg_alloc_entry *p = wg_realloc(g->allocs, cap * sizeof *p);
        if (!p)
            return wg_diag_set(&g->diag, WG_NO_MEMORY, "out of host memory");
        g->allocs = p;
        g->cap_allocs = cap;
    }
    memmove(g->allocs + at + 1, g->allocs + at, (g->nallocs - at) * sizeof *g->allocs);
    g->allocs[at] = (struct wg_alloc_entry){base, bytes, need, internal};
    g->nallocs++;
    if (!internal)
        g->used += bytes;
    if (base + need > g->hi)
        g->hi = base + need;
    *addr = base;
    wg_tell_memory(g, internal ? WG_MEMORY_INTERNAL : WG_MEMORY_ALLOC, base, bytes, 0);
    return WG_OK;
}

static void forget(struct wg *g, size_t k)
{
    wg_tell_memory(g, WG_MEMORY_FORGET, g->allocs[k].base, g->allocs[k].bytes, 0);
    g->quarantined -= g->allocs[k].reserved;
    memmove(g->allocs + k, g->allocs + k + 1, (g->nallocs - k - 1) * sizeof *g->allocs);
    g->nallocs--;
}

/* Holds a freed block's addresses back, so that a late access to it is seen as one. */
static void quarantine(struct wg *g, size_t k)
{
    g->allocs[k].freed = true;
    g->quarantined += g->allocs[k].reserved;
    for (size_t x = 0; g->quarantined > QUARANTINE && x < g->nallocs;)
        if (g->allocs[x].freed)
            forget(g, x);
        else
            x++;
}

enum wg_status wg_alloc(struct wg *g, size_t bytes, size_t align, uint64_t *addr)
{
    wg_diag_clear(&g->diag);
    return wg_memory_alloc(g, bytes, align, false, addr);
}

enum wg_status wg_free(struct wg *g, uint64_t addr)
{
    wg_diag_clear(&g->diag);
    size_t k = above(g, addr);
    if (k == 0 || g->allocs[k - 1].base != addr || g->allocs[k - 1].freed)
        return wg_diag_set(&g->diag, WG_INVALID, "0x%llx is not the start of a live allocation",
                           (unsigned long long)addr);
    struct wg_alloc_entry *a = &g->allocs[k - 1];
    if (!a->internal)
        g->used -= a->bytes;
    uint64_t b = (a->base + PAGE - 1) & ~(uint64_t)(PAGE - 1), e = (a->base + a->reserved) & ~(uint64_t)(PAGE - 1);
    if (e > b) /* whole pages go back to the host and read as zero again */
        madvise((void *)b, e - b, MADV_DONTNEED);
    else
        b = e = a->base + a->reserved;
    memset((void *)a->base, 0, (b < a->base + a->reserved ? b : a->base + a->reserved) - a->base);
    if (e < a->base + a->reserved)
        memset((void *)e, 0, a->base + a->reserved - e);
    wg_tell_memory(g, WG_MEMORY_FREE, a->base, a->bytes, 0);
    if (g->opt.tools & WG_TOOL_MEMCHECK) {
        quarantine(g, k - 1);
        return WG_OK;
    }
    memmove(a, a + 1, (g->nallocs - k) * sizeof *a);
    g->nallocs--;
    return WG_OK;
}

static const struct wg_alloc_entry *find(const struct wg *g, uint64_t addr)
{
    size_t k = above(g, addr);
    if (k == 0)
        return NULL;
    const struct wg_alloc_entry *a = &g->allocs[k - 1];
    return !a->freed && addr - a->base < (a->bytes ? a->bytes : 1) ? a : NULL;
}

enum wg_status wg_find_alloc(struct wg *g, uint64_t addr, uint64_t *base, size_t *bytes)
{
    wg_diag_clear(&g->diag);
    const struct wg_alloc_entry *a = find(g, addr);
    if (!a)
        return wg_diag_set(&g->diag, WG_NOT_FOUND, "0x%llx lies in no live allocation", (unsigned long long)addr);
    if (base)
        *base = a->base;
    if (bytes)
        *bytes = a->bytes;
    return WG_OK;
}

void wg_memory_info(const struct wg *g, uint64_t *free_bytes, uint64_t *total_bytes)
{
    if (free_bytes)
        *free_bytes = g->top - g->used;
    if (total_bytes)
        *total_bytes = g->top;
}

bool wg_is_device_address(const struct wg *g, uint64_t addr) { return addr >= g->lo && addr < g->end; }

void wg_host_place(struct wg *g, const char *place)
{
    if (g->check)
        g->observer.place(g->observer.ctx, place);
}

void wg_host_error(struct wg *g, const char *text)
{
    if (g->check)
        g->observer.host_error(g->observer.ctx, text);
}

void wg_find_leaks(struct wg *g)
{
    if (g->check)
        g->observer.leaks(g->observer.ctx);
}

void wg_host_writes(struct wg *g, uint64_t addr, size_t bytes)
{
    wg_tell_memory(g, WG_MEMORY_HOST_WRITE, addr, bytes, 0);
}

static enum wg_status check_range(struct wg *g, uint64_t addr, size_t bytes, const char *what)
{
    if (!bytes || !wg_is_device_address(g, addr))
        return WG_OK;
    const struct wg_alloc_entry *a = find(g, addr);
    if (!a)
        return wg_diag_set(&g->diag, WG_INVALID, "%s 0x%llx lies in no live allocation", what, (unsigned long long)addr);
    if (bytes > a->bytes - (addr - a->base))
        return wg_diag_set(&g->diag, WG_INVALID, "%s reaches %llu bytes past the allocation of %zu bytes at 0x%llx", what,
                           (unsigned long long)(bytes - (a->bytes - (addr - a->base))), a->bytes,
                           (unsigned long long)a->base);
    return WG_OK;
}

enum wg_status wg_copy(struct wg *g, void *dst, const void *src, size_t bytes)
{
    wg_diag_clear(&g->diag);
    enum wg_status s = check_range(g, (uint64_t)dst, bytes, "destination");
    if (s == WG_OK)
        s = check_range(g, (uint64_t)src, bytes, "source");
    if (s != WG_OK || !bytes)
        return s;
    bool to = wg_is_device_address(g, (uint64_t)dst), from = wg_is_device_address(g, (uint64_t)src);
    if (to || from)
        wg_tell_memory(g, to && from ? WG_MEMORY_COPY : to ? WG_MEMORY_HOST_WRITE : WG_MEMORY_HOST_READ,
                       to ? (uint64_t)dst : (uint64_t)src, bytes, (uint64_t)src);
    memmove(dst, src, bytes);
    return s;
}

enum wg_status wg_fill(struct wg *g, uint64_t dst, int byte, size_t bytes)
{
    wg_diag_clear(&g->diag);
    if (bytes && !wg_is_device_address(g, dst))
        return wg_diag_set(&g->diag, WG_INVALID, "destination 0x%llx is not on the device", (unsigned long long)dst);
    enum wg_status s = check_range(g, dst, bytes, "destination");
    if (s == WG_OK && bytes) {
        wg_tell_memory(g, WG_MEMORY_HOST_WRITE, dst, bytes, 0);
        memset((void *)dst, byte, bytes);
    }
    return s;
}

/* ---- device heap: blocks with a header in front, first fit, neighbours joined on the way ---- */
#define HEAP_BYTES (64ull << 20)

static struct wg_heap_block *next_block(struct wg_heap_block *b)
{
    return (struct wg_heap_block *)((char *)(b + 1) + b->bytes);
}

uint64_t wg_heap_malloc(struct wg *g, uint64_t bytes)
{
    uint64_t r = 0;
    pthread_mutex_lock(&g->heap_lock);
    if (g->heap && bytes && bytes <= g->heap_bytes) {
        bytes = (bytes + 15) & ~15ull;
        char *end = (char *)(g->heap + g->heap_bytes);
        for (struct wg_heap_block *b = (void *)g->heap; (char *)b < end; b = next_block(b)) {
            if (!b->free)
                continue;
            while ((char *)next_block(b) < end && next_block(b)->free)
                b->bytes += sizeof *b + next_block(b)->bytes;
            if (b->bytes < bytes)
                continue;
            if (b->bytes >= bytes + 2 * sizeof *b) {
                uint64_t rest = b->bytes - bytes - sizeof *b;
                b->bytes = bytes;
                *next_block(b) = (struct wg_heap_block){rest, 1};
            }
            b->free = 0;
            r = (uint64_t)(b + 1);
            break;
        }
    }
    pthread_mutex_unlock(&g->heap_lock);
    return r;
}

bool wg_heap_free(struct wg *g, uint64_t addr)
{
    bool ok = addr == 0;
    pthread_mutex_lock(&g->heap_lock);
    if (g->heap && addr) {
        char *end = (char *)(g->heap + g->heap_bytes);
        for (struct wg_heap_block *b = (void *)g->heap; (char *)b < end; b = next_block(b))
            if ((uint64_t)(b + 1) == addr && !b->free) {
                b->free = 1;
                ok = true;
                break;
            }
    }
    pthread_mutex_unlock(&g->heap_lock);
    return ok;
}
