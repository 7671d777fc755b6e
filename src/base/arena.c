/* arena.c - chunked bump allocator with one lifetime, and the allocation-failure test hook. */
#include "base/arena.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wg_arena_chunk {
    struct wg_arena_chunk *next;
    size_t pad;
};

/* The only per-thread state in the library: a countdown that tests arm. */
static _Thread_local long fail_after;

void wg_alloc_fail_after(long n) { fail_after = n; }

static int must_fail(void) { return fail_after > 0 && --fail_after == 0; }

void *wg_calloc(size_t n, size_t size) { return must_fail() ? NULL : calloc(n ? n : 1, size ? size : 1); }

void *wg_realloc(void *p, size_t size) { return must_fail() ? NULL : realloc(p, size ? size : 1); }

void *wg_aligned(size_t align, size_t size)
{
    if (must_fail())
        return NULL;
    size = (size + align - 1) / align * align;
    void *p = aligned_alloc(align, size ? size : align);
    if (p)
        memset(p, 0, size ? size : align);
    return p;
}

void *wg_arena_alloc(struct wg_arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX / 2) {
        a->failed = 1;
        return NULL;
    }
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes == 0)
        bytes = 16;
    if (!a->head || a->used + bytes > a->cap) {
#ifdef WG_HOSTILE
        size_t cap = bytes; /* every allocation its own chunk, so that overruns are seen */
#else
        size_t cap = a->cap ? a->cap * 2 : 4096;
        if (cap > (1u << 20))
            cap = 1u << 20;
        if (cap < bytes)
            cap = bytes;
#endif
        struct wg_arena_chunk *c = wg_calloc(1, sizeof *c + cap);
        if (!c) {
            a->failed = 1;
            return NULL;
        }
        c->next = a->head;
        a->head = c;
        a->used = 0;
        a->cap = cap;
    }
    void *p = (char *)(a->head + 1) + a->used;
    a->used += bytes;
    return p;
}

void *wg_arena_dup(struct wg_arena *a, const void *p, size_t bytes)
{
    void *q = wg_arena_alloc(a, bytes);
    if (q && bytes)
        memcpy(q, p, bytes);
    return q;
}

char *wg_arena_str(struct wg_arena *a, const char *s, size_t n)
{
    char *q = wg_arena_alloc(a, n + 1);
    if (q && n)
        memcpy(q, s, n);
    return q;
}

char *wg_arena_printf(struct wg_arena *a, const char *fmt, ...)
{
    va_list ap, aq;
    va_start(ap, fmt);
    va_copy(aq, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *q = n < 0 ? NULL : wg_arena_alloc(a, (size_t)n + 1);
    if (q)
        vsnprintf(q, (size_t)n + 1, fmt, aq);
    va_end(aq);
    return q;
}

void *wg_arena_grow(struct wg_arena *a, void *old, size_t n, size_t *cap, size_t elem)
{
    if (n <= *cap)
        return old;
    size_t c = *cap ? *cap * 2 : 8;
    if (c < n)
        c = n;
    void *q = c > SIZE_MAX / 2 / elem ? NULL : wg_arena_alloc(a, c * elem);
    if (!q) {
        a->failed = 1;
        *cap = 0; /* as the NULL that the caller now holds */
        return NULL;
    }
    if (*cap)
        memcpy(q, old, *cap * elem);
    *cap = c;
    return q;
}

void wg_arena_free(struct wg_arena *a)
{
    for (struct wg_arena_chunk *c = a->head, *n; c; c = n) {
        n = c->next;
        free(c);
    }
    *a = (struct wg_arena){0};
}
