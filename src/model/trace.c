/* trace.c - storage of warps' traces, and making them coarser. */
#include "model/trace.h"
#include "base/arena.h"
#include <stdlib.h>
#include <string.h>

enum { WORDS_MOST = 1 << 20 }; /* of a warp, before the launch's first block is looked at less finely */

struct wg_trace_block *wg_trace_block_new(uint32_t nwarps, uint32_t nsites)
{
    struct wg_trace_block *b = wg_calloc(1, sizeof *b + nwarps * sizeof *b->warp + nsites + 1);
    if (b) {
        b->nwarps = nwarps;
        b->l1_passes = (uint8_t *)&b->warp[nwarps];
    }
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

uint64_t *wg_trace_event(struct wg_trace_block *b, struct wg_warp_trace *w, uint64_t word0, uint32_t n)
{
    if (b->linear == 0 && !b->level_known && w->cap >= WORDS_MOST && w->n + n + 2 > w->cap && b->level < WG_TRACE_LEVELS - 1)
        wg_trace_thin(b, b->level + 1);
    uint64_t *v = w->n + n + 2 <= w->cap ? w->v + w->n : wg_trace_room(b, w, n + 2);
    if (!v)
        return NULL;
    v[0] = word0;
    v[1] = wg_trace_word1(w->slots, w->alone, w->skipped, w->passes);
    b->slots += w->slots;
    w->n += n + 2;
    w->slots = w->alone = w->skipped = w->passes = 0;
    return v + 2;
}

void wg_trace_close(struct wg_trace_block *b)
{
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct wg_warp_trace *w = &b->warp[k];
        if (w->slots | w->skipped | w->alone)
            wg_trace_event(b, w, wg_trace_word0(WG_TRACE_COMPUTE, 0, 0, 0, 0, 0, 0), 0);
    }
}

void wg_trace_thin(struct wg_trace_block *b, uint32_t level)
{
    uint32_t mask = (1u << level) - 1;
    if (level <= b->level)
        return;
    b->level = level;
    b->slots = 0;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct wg_warp_trace *w = &b->warp[k];
        uint32_t to = 0;
        uint64_t slots = 0, alone = 0, skipped = 0, passes = 0;
        for (uint32_t at = 0; at < w->n;) {
            uint64_t a = w->v[at], c = w->v[at + 1];
            uint32_t head = to, kept = 0, n = wg_trace_recorded(a);
            bool atomic = wg_trace_kind_of(a) == WG_TRACE_ATOM || wg_trace_kind_of(a) == WG_TRACE_RED;
            slots += wg_trace_slots(c);
            b->slots += wg_trace_slots(c);
            alone += wg_trace_alone(c);
            skipped += wg_trace_skipped(c);
            passes += wg_trace_passes(c);
            at += 2;
            to += 2;
            for (uint32_t l = 0; l < n; l++) {
                uint64_t line = w->v[at++], words = line & 256 ? w->v[at++] : 0;
                if (!atomic && (wg_trace_fold(line >> 16) & mask))
                    continue;
                kept++;
                w->v[to++] = line;
                if (line & 256)
                    w->v[to++] = words;
            }
            bool memory = wg_trace_kind_of(a) != WG_TRACE_BARRIER && wg_trace_kind_of(a) != WG_TRACE_COMPUTE;
            if (memory && !kept && !(b->timed && wg_trace_kind_of(a) == WG_TRACE_LOAD) && slots < WG_TRACE_SLOTS_MAX / 2 && alone < WG_TRACE_ALONE_MAX / 2 &&
                skipped < WG_TRACE_SKIPPED_MAX / 2 && passes < WG_TRACE_PASSES_MAX / 2) { /* the next event carries what it cost */
                skipped++;
                passes += wg_trace_cost(a);
                to = head;
                continue;
            }
            w->v[head] = (a & ~(127ull << 8)) | (uint64_t)kept << 8;
            w->v[head + 1] = wg_trace_word1(slots, alone, skipped, passes);
            slots = alone = skipped = passes = 0;
        }
        w->n = to;
        w->slots += (uint32_t)slots;
        w->alone += (uint32_t)alone;
        w->skipped += (uint32_t)skipped;
        w->passes += (uint32_t)passes;
        w->mask = mask;
    }
}
