/* trace.c - storage of warps' traces, and making them coarser. */
#include "model/trace.h"
#include "base/arena.h"
#include <stdlib.h>
#include <string.h>

struct wg_trace_block *wg_trace_block_new(uint32_t nwarps)
{
    struct wg_trace_block *b = wg_calloc(1, sizeof *b + nwarps * sizeof *b->warp);
    if (b)
        b->nwarps = nwarps;
    return b;
}

void wg_trace_block_free(struct wg_trace_block *b)
{
    for (uint32_t k = 0; b && k < b->nwarps; k++)
        free(b->warp[k].v);
    free(b);
}

uint64_t *wg_trace_room(struct wg_trace_block *b, struct wg_warp_trace *w, uint32_t n)
{
    if (w->n + n > w->cap) {
        uint32_t cap = w->cap ? w->cap * 2 : 64;
        uint64_t *v = wg_realloc(w->v, cap * sizeof *v);
        if (!v) {
            b->failed = true;
            return NULL;
        }
        w->v = v;
        w->cap = cap;
    }
    return w->v + w->n;
}

void wg_trace_thin(struct wg_trace_block *b, uint32_t level)
{
    uint32_t mask = (1u << level) - 1;
    if (level <= b->level)
        return;
    b->level = level;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct wg_warp_trace *w = &b->warp[k];
        uint32_t to = 0;
        uint64_t slots = 0, alone = 0, skipped = 0;
        for (uint32_t at = 0; at < w->n;) {
            uint64_t a = w->v[at], c = w->v[at + 1];
            uint32_t head = to, kept = 0, n = wg_trace_recorded(a);
            slots += wg_trace_slots(c);
            alone += wg_trace_alone(c);
            skipped += wg_trace_skipped(c);
            at += 2;
            to += 2;
            for (uint32_t l = 0; l < n; l++) {
                uint64_t line = w->v[at++], words = line & 256 ? w->v[at++] : 0;
                if (wg_trace_hash(line >> 16) & mask)
                    continue;
                kept++;
                w->v[to++] = line;
                if (line & 256)
                    w->v[to++] = words;
            }
            bool memory = wg_trace_kind_of(a) != WG_TRACE_BARRIER && wg_trace_kind_of(a) != WG_TRACE_COMPUTE;
            if (memory && !kept && slots < WG_TRACE_SLOTS_MAX / 2 && alone < WG_TRACE_ALONE_MAX / 2 &&
                skipped < WG_TRACE_SKIPPED_MAX / 2) { /* the next event carries what it cost */
                skipped++;
                to = head;
                continue;
            }
            w->v[head] = (a & ~(63ull << 8)) | (uint64_t)kept << 8;
            w->v[head + 1] = wg_trace_word1((uint32_t)slots, (uint32_t)alone, (uint32_t)skipped);
            slots = alone = skipped = 0;
        }
        w->n = to;
        w->slots += (uint32_t)slots;
        w->alone += (uint32_t)alone;
        w->skipped += (uint32_t)skipped;
    }
}
