/* initcheck.c - which bytes of global, shared and local memory were ever written, and who reads the others.
 *
 * An element of which only a part was written is not reported: that is what copying a structure with padding looks like. */
#include "check/internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = PAGE_BYTES / 8 }; /* bytes of a page's bits */

static void whole(struct wg_check *c, struct wg_page *p, bool on)
{
    if (p->init != WG_ALL_WRITTEN)
        wg_shadow_free(c, p->init, p->init ? BITS : 0);
    p->init = on ? WG_ALL_WRITTEN : NULL;
}

/* A page with bits, or one that needs none for what is to be set; NULL: nothing to do, or no memory. */
static uint8_t *bits_for(struct wg_check *c, struct wg_page *p, bool on)
{
    if (p->init == (on ? WG_ALL_WRITTEN : NULL))
        return NULL;
    if (p->init && p->init != WG_ALL_WRITTEN)
        return p->init;
    uint8_t *bits = wg_shadow_alloc(c, BITS);
    if (bits && p->init)
        memset(bits, 0xff, BITS);
    return bits ? p->init = bits : NULL;
}

static void set(struct wg_check *c, uint64_t addr, uint64_t bytes, bool on)
{
    for (uint64_t at = addr, end = addr + bytes; at < end && end <= c->end;) {
        uint64_t in = (at - c->lo) & (PAGE_BYTES - 1), n = PAGE_BYTES - in < end - at ? PAGE_BYTES - in : end - at;
        struct wg_page *p = on ? wg_shadow_page(c, at) : wg_shadow_find(c, at);
        if (p && n == PAGE_BYTES) {
            whole(c, p, on);
        } else if (p) {
            uint8_t *bits = bits_for(c, p, on);
            if (bits)
                wg_bits_set(bits, in, n, on);
            if (bits && on && in + n == PAGE_BYTES && wg_bits_all(bits, 0, PAGE_BYTES)) /* most are written upwards */
                whole(c, p, true);
        }
        at += n;
    }
}

static bool none(const struct wg_check *c, uint64_t addr, uint64_t bytes)
{
    const struct wg_page *p = wg_shadow_find(c, addr); /* aligned to its size, so within one page */
    return !p || !p->init || (p->init != WG_ALL_WRITTEN && wg_bits_none(p->init, (addr - c->lo) & (PAGE_BYTES - 1), bytes));
}

/* Bytes in whole aligned words that nobody wrote. */
static uint64_t unwritten(const struct wg_check *c, uint64_t addr, uint64_t bytes, uint64_t *first)
{
    uint64_t n = 0;
    for (uint64_t a = (addr + 3) & ~3ull; a + 4 <= addr + bytes; a += 4)
        if (none(c, a, 4)) {
            if (!n)
                *first = a;
            n += 4;
        }
    return n;
}

/* Device to device: the copy is as unwritten as its source. Piece by piece, from the end that keeps an overlap right. */
static void carry(struct wg_check *c, uint64_t to, uint64_t from, uint64_t bytes)
{
    for (uint64_t done = 0, n; done < bytes; done += n) {
        uint64_t left = bytes - done, at = to > from ? from + left - 1 : from + done, in = (at - c->lo) & (PAGE_BYTES - 1);
        n = to > from ? in + 1 : PAGE_BYTES - in;
        n = n < left ? n : left;
        uint64_t x = to > from ? left - n : done;
        const struct wg_page *p = wg_shadow_find(c, at);
        if (!p || !p->init || p->init == WG_ALL_WRITTEN) {
            set(c, to + x, n, p && p->init);
            continue;
        }
        for (uint64_t k = 0; k < n; k++) {
            uint64_t y = x + (to > from ? n - 1 - k : k);
            set(c, to + y, 1, !none(c, from + y, 1));
        }
    }
}

void wg_initcheck_memory(struct wg_check *c, enum wg_memory_event what, uint64_t addr, uint64_t bytes, uint64_t other)
{
    uint64_t first = addr, n;
    switch (what) {
    case WG_MEMORY_ALLOC: case WG_MEMORY_HEAP_ALLOC:
        set(c, addr, bytes, false);
        break;
    case WG_MEMORY_INTERNAL: case WG_MEMORY_HOST_WRITE:
        set(c, addr, bytes, true);
        break;
    case WG_MEMORY_COPY:
        carry(c, addr, other, bytes);
        break;
    case WG_MEMORY_HOST_READ:
        n = unwritten(c, addr, bytes, &first);
        if (n)
            wg_found_host(c, WG_FOUND_UNINITIALIZED_COPY, first, c->place,
                          "Host API uninitialized memory access: %llu of %llu bytes copied from 0x%llx were never written",
                          (unsigned long long)n, (unsigned long long)bytes, (unsigned long long)addr);
        break;
    default: break;
    }
}

/* Per byte of local memory up to `upto`, the lanes that wrote it. */
static uint32_t *local_lanes(struct wg_check *c, struct wg_cwarp *w, uint64_t upto)
{
    if (upto > w->local_cap) {
        uint32_t cap = (uint32_t)((upto + 255) & ~255ull), *p = wg_realloc(w->local, cap * sizeof *p);
        if (!p) {
            c->no_memory = true;
            return NULL;
        }
        memset(p + w->local_cap, 0, (cap - w->local_cap) * sizeof *p);
        w->local = p;
        w->local_cap = cap;
    }
    return w->local;
}

static uint32_t wrote_any(const uint32_t *lanes, uint64_t at, uint32_t bytes)
{
    uint32_t any = 0;
    for (uint32_t k = 0; k < bytes; k++)
        any |= lanes[at + k];
    return any;
}

static __attribute__((noinline)) bool some_bits(uint8_t *bits, uint64_t at, uint64_t n, bool store)
{
    if (!store)
        return wg_bits_all(bits, at, n);
    wg_bits_set(bits, at, n, true);
    return true;
}

/* Are the lanes' elements, one behind the other or all one, written? Or marks them so. False: look at each. */
bool wg_initcheck_row(struct wg_cblock *b, const struct wg_access_site *s, uint64_t base, int64_t stride)
{
    const struct wg_check *c = b->c;
    uint64_t bytes = s->elem * s->n, in = base, x[2];
    bool store = s->kind == WG_ACCESS_STORE;
    if (stride && stride != (int64_t)bytes)
        return false;
    uint8_t *bits = b->init;
    bytes = stride ? bytes * LANES : bytes;
    if (s->space != WG_SITE_SHARED) {
        const struct wg_page *p = wg_shadow_find(c, base);
        in = (base - c->lo) & (PAGE_BYTES - 1);
        if (!p || !p->init || in + bytes > PAGE_BYTES)
            return false;
        if (p->init == WG_ALL_WRITTEN)
            return true;
        if (store && in + bytes == PAGE_BYTES)
            return false; /* the page may be all written now */
        bits = p->init;
    }
    uint8_t *at = bits + (in >> 3);
    if (bytes == 4) {
        uint8_t m = (uint8_t)(15 << (in & 4));
        if (store)
            *at |= m;
        return (*at & m) == m;
    }
    if (bytes == 128 && !(in & 7)) {
        if (store)
            memset(at, 0xff, sizeof x);
        memcpy(x, at, sizeof x);
        return (x[0] & x[1]) == ~0ull;
    }
    return some_bits(bits, in, bytes, store);
}

void wg_initcheck_write(struct wg_check *c, struct wg_cblock *b, uint32_t warp, uint32_t lane, uint8_t space, uint64_t addr,
                        uint32_t bytes)
{
    if (space == WG_SITE_SHARED) {
        if (addr + bytes <= c->launch.shared_bytes)
            wg_bits_set(b->init, addr, bytes, true);
    } else if (space == WG_SITE_LOCAL) {
        uint32_t *lanes = local_lanes(c, &b->w[warp], addr + bytes);
        for (uint32_t k = 0; lanes && k < bytes; k++)
            lanes[addr + k] |= 1u << lane;
    } else if (addr >= c->lo && addr + bytes <= c->end) {
        set(c, addr, bytes, true);
    }
}

static __attribute__((noinline)) void unwritten_read(struct wg_check *c, const struct wg_cblock *b, uint32_t warp, uint32_t lane,
                                                     const struct wg_access *a, uint64_t at)
{
    char place[192];
    if (a->space == WG_SITE_SHARED)
        wg_name_shared(c, at, a->elem, place, sizeof place);
    else if (a->space == WG_SITE_LOCAL)
        snprintf(place, sizeof place, "0x%llx", (unsigned long long)at);
    else
        wg_name_global(c, at, a->elem, place, sizeof place);
    const char *made = a->space == WG_SITE_GLOBAL ? wg_name_place(c, at) : NULL;
    struct wg_who who = {warp, lane, b->ctaid};
    wg_found(c, WG_FOUND_UNINITIALIZED, a->site, NO_SITE, who, (struct wg_who){0}, at, WG_SEVERITY_ERROR,
             "Uninitialized __%s__ memory read of size %u bytes\nAddress %s was never written%s%s", wg_space_name(a->space),
             a->elem, place, made ? "\nAllocated by\n" : "", made ? made : "");
}

/* One element of up to 8 bytes in each lane, whose bits lie in one byte. */
static inline __attribute__((always_inline)) void shared_elements(struct wg_check *c, struct wg_cblock *b, uint32_t warp,
                                                                  const struct wg_access *a, uint32_t mask, bool reads,
                                                                  bool writes)
{
    const uint32_t part = (1u << a->elem) - 1;
    uint8_t *init = b->init;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m), at = (uint32_t)a->addr[l], bits = part << (at & 7);
        if (reads && __builtin_expect(!(init[at >> 3] & bits), 0))
            unwritten_read(c, b, warp, l, a, at);
        if (writes)
            init[at >> 3] |= (uint8_t)bits;
    }
}

void wg_initcheck_access(struct wg_check *c, struct wg_cblock *b, uint32_t warp, const struct wg_access *a, uint32_t mask)
{
    uint32_t bytes = (uint32_t)a->elem * a->n;
    if (a->space == WG_SITE_SHARED && a->n == 1 && a->elem <= 8) {
        if (a->kind == WG_ACCESS_LOAD)
            shared_elements(c, b, warp, a, mask, true, false);
        else if (a->kind == WG_ACCESS_STORE)
            shared_elements(c, b, warp, a, mask, false, true);
        else
            shared_elements(c, b, warp, a, mask, true, true);
        return;
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        uint64_t x = a->addr[l];
        if (a->kind == WG_ACCESS_STORE) {
            wg_initcheck_write(c, b, warp, l, a->space, x, bytes);
            continue;
        }
        const uint32_t *local = a->space == WG_SITE_LOCAL ? local_lanes(c, &b->w[warp], x + bytes) : NULL;
        for (uint32_t k = 0; k < a->n; k++) {
            uint64_t at = x + k * a->elem;
            bool bad = a->space == WG_SITE_SHARED  ? wg_bits_none(b->init, at, a->elem)
                       : a->space == WG_SITE_LOCAL ? local && !(wrote_any(local, at, a->elem) >> l & 1)
                                                   : none(c, at, a->elem);
            if (bad)
                unwritten_read(c, b, warp, l, a, at);
        }
        if (a->kind != WG_ACCESS_LOAD)
            wg_initcheck_write(c, b, warp, l, a->space, x, bytes);
    }
}
