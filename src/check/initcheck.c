/* initcheck.c - which bytes of global, shared and local memory were ever written, and who reads the others.
 *
 * An element of which only a part was written is not reported: that is what copying a structure with padding looks like. */
#include "check/internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *region(struct wg_check *c, uint64_t r)
{
    if (!c->init[r] && !(c->init[r] = wg_calloc((1u << REGION_SHIFT) / 8, 1)))
        c->no_memory = true;
    return c->init[r];
}

static void set(struct wg_check *c, uint64_t addr, uint64_t bytes, bool on)
{
    for (uint64_t at = addr - c->lo, end = at + bytes; at < end && end <= c->end - c->lo;) {
        uint64_t r = at >> REGION_SHIFT, stop = (r + 1) << REGION_SHIFT, n = (stop < end ? stop : end) - at;
        uint8_t *bits = on || c->init[r] ? region(c, r) : NULL;
        if (bits)
            wg_bits_set(bits, at & ((1u << REGION_SHIFT) - 1), n, on);
        at += n;
    }
}

static bool none(const struct wg_check *c, uint64_t addr, uint64_t bytes)
{
    uint64_t at = addr - c->lo; /* aligned to its size, so within one region */
    const uint8_t *bits = c->init[at >> REGION_SHIFT];
    return !bits || wg_bits_none(bits, at & ((1u << REGION_SHIFT) - 1), bytes);
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

/* Device to device: the copy is as unwritten as its source. */
static void carry(struct wg_check *c, uint64_t to, uint64_t from, uint64_t bytes)
{
    bool up = to > from;
    for (uint64_t k = 0; k < bytes; k++) {
        uint64_t x = up ? bytes - 1 - k : k;
        set(c, to + x, 1, !none(c, from + x, 1));
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

static uint8_t *local_bits(struct wg_check *c, struct wg_cwarp *w, uint32_t lane, uint64_t upto)
{
    if (upto > w->local_cap) {
        uint32_t cap = (uint32_t)((upto + 255) & ~255ull);
        uint8_t *p = wg_calloc(LANES, cap / 8);
        if (!p) {
            c->no_memory = true;
            return NULL;
        }
        for (uint32_t l = 0; w->local && l < LANES; l++)
            memcpy(p + l * (cap / 8), w->local + l * (w->local_cap / 8), w->local_cap / 8);
        free(w->local);
        w->local = p;
        w->local_cap = cap;
    }
    return w->local + lane * (w->local_cap / 8);
}

void wg_initcheck_write(struct wg_check *c, struct wg_cblock *b, uint32_t warp, uint32_t lane, uint8_t space, uint64_t addr,
                        uint32_t bytes)
{
    if (space == WG_SITE_SHARED) {
        if (addr + bytes <= c->launch.shared_bytes)
            wg_bits_set(b->init, addr, bytes, true);
    } else if (space == WG_SITE_LOCAL) {
        uint8_t *bits = local_bits(c, &b->w[warp], lane, addr + bytes);
        if (bits)
            wg_bits_set(bits, addr, bytes, true);
    } else if (addr >= c->lo && addr + bytes <= c->end) {
        set(c, addr, bytes, true);
    }
}

void wg_initcheck_access(struct wg_check *c, struct wg_cblock *b, uint32_t warp, const struct wg_access *a, uint32_t mask)
{
    uint32_t bytes = (uint32_t)a->elem * a->n;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        uint64_t x = a->addr[l];
        if (a->kind == WG_ACCESS_STORE) {
            wg_initcheck_write(c, b, warp, l, a->space, x, bytes);
            continue;
        }
        uint8_t *local = a->space == WG_SITE_LOCAL ? local_bits(c, &b->w[warp], l, x + bytes) : NULL;
        for (uint32_t k = 0; k < a->n; k++) {
            uint64_t at = x + k * a->elem;
            bool bad = a->space == WG_SITE_SHARED  ? wg_bits_none(b->init, at, a->elem)
                       : a->space == WG_SITE_LOCAL ? local && wg_bits_none(local, at, a->elem)
                                                   : none(c, at, a->elem);
            if (!bad)
                continue;
            char place[192];
            if (a->space == WG_SITE_SHARED)
                wg_name_shared(c, at, a->elem, place, sizeof place);
            else if (a->space == WG_SITE_LOCAL)
                snprintf(place, sizeof place, "0x%llx", (unsigned long long)at);
            else
                wg_name_global(c, at, a->elem, place, sizeof place);
            const char *made = a->space == WG_SITE_GLOBAL ? wg_name_place(c, at) : NULL;
            struct wg_who who = {warp, l, b->ctaid};
            wg_found(c, WG_FOUND_UNINITIALIZED, a->site, NO_SITE, who, (struct wg_who){0}, at, WG_SEVERITY_ERROR,
                     "Uninitialized __%s__ memory read of size %u bytes\nAddress %s was never written%s%s",
                     wg_space_name(a->space), a->elem, place, made ? "\nAllocated by\n" : "", made ? made : "");
        }
        if (a->kind != WG_ACCESS_LOAD)
            wg_initcheck_write(c, b, warp, l, a->space, x, bytes);
    }
}
