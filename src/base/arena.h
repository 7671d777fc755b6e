/* arena.h - memory with one lifetime: allocate freely, free all at once. Not thread safe. */
#ifndef WG_BASE_ARENA_H
#define WG_BASE_ARENA_H
#include <stddef.h>
#include <stdarg.h>

struct wg_arena_chunk;
/* Zero-initialise to start; wg_arena_free returns it to that state. Every function returns NULL when memory is out and
 * then sets `failed`, so that a caller may allocate many things and test once. */
struct wg_arena {
    struct wg_arena_chunk *head;
    size_t used, cap;
    int failed;
};
void *wg_arena_alloc(struct wg_arena *a, size_t bytes);               /* zeroed, 16-byte aligned */
void *wg_arena_dup(struct wg_arena *a, const void *p, size_t bytes);
char *wg_arena_str(struct wg_arena *a, const char *s, size_t n);      /* copy of n bytes, NUL added */
char *wg_arena_printf(struct wg_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Grow an array held in the arena: returns storage for at least n elements, contents kept. *cap is in elements,
 * and 0 after a failure. */
void *wg_arena_grow(struct wg_arena *a, void *old, size_t n, size_t *cap, size_t elem);
void wg_arena_free(struct wg_arena *a);

/* Test hook: the n-th allocation from now (malloc inside arenas and wg_xalloc) fails; 0 turns it off. Per thread. */
void wg_alloc_fail_after(long n);
void *wg_calloc(size_t n, size_t size);            /* calloc that honours the hook */
void *wg_realloc(void *p, size_t size);
void *wg_aligned(size_t align, size_t size);       /* zeroed; free with free() */
#endif
