/* patterns.c - the tables of patterns.h. */
#include "exec/patterns.h"
#include "base/arena.h"
#include <stdlib.h>
#include <string.h>

static bool same(const struct wg_pattern *p, const struct wg_pattern *q)
{
    return p->mask == q->mask && p->bytes == q->bytes && !memcmp(p->offset, q->offset, sizeof p->offset);
}

static uint32_t hash(const struct wg_pattern *p)
{
    uint32_t h = p->mask * 2654435761u + p->bytes;
    for (unsigned l = 0; l < 32; l++)
        h = (h ^ p->offset[l]) * 2246822519u + (h >> 15);
    return h ^ h >> 13;
}

static void add(struct wg_pattern_table *t, const struct wg_pattern *p)
{
    uint32_t s = hash(p) % WG_PATTERN_SLOTS;
    for (; t->slot[s]; s = (s + 1) % WG_PATTERN_SLOTS)
        if (same(&t->v[t->slot[s] - 1], p)) {
            t->v[t->slot[s] - 1].count++;
            return;
        }
    if (t->of.n == WG_PATTERNS_MAX) {
        t->of.left_out++;
        return;
    }
    if (t->of.n == t->cap) {
        uint32_t cap = t->cap ? t->cap * 2 : 4;
        struct wg_pattern *v = wg_realloc(t->v, cap * sizeof *v);
        if (!v) {
            t->of.left_out++;
            return;
        }
        t->of.v = t->v = v;
        t->cap = cap;
    }
    t->v[t->of.n] = *p;
    t->v[t->of.n].count = 1;
    t->slot[s] = (uint8_t)++t->of.n;
}

void wg_patterns_keep(struct wg_warp *w, uint32_t site, const uint32_t *at, uint32_t mask, unsigned bytes, uint32_t cost)
{
    struct wg_pattern_table **t = &w->wk->patterns[site];
    struct wg_pattern p = {.mask = mask, .bytes = (uint16_t)bytes, .cost = cost};
    if (!*t)
        *t = wg_calloc(1, sizeof **t);
    if (!*t || !mask)
        return;
    for (uint32_t m = mask; m; m &= m - 1)
        p.offset[__builtin_ctz(m)] = at[__builtin_ctz(m)];
    add(*t, &p);
}

void wg_patterns_keep_affine(struct wg_warp *w, uint32_t site, uint32_t base, int32_t stride, uint32_t mask, unsigned bytes,
                             uint32_t cost)
{
    uint32_t at[32];
    for (uint32_t l = 0; l < 32; l++)
        at[l] = base + (uint32_t)stride * l;
    wg_patterns_keep(w, site, at, mask, bytes, cost);
}

void wg_patterns_free(struct wg_pattern_table **v, uint32_t nsites)
{
    for (uint32_t s = 0; v && s < nsites; s++)
        if (v[s]) {
            free(v[s]->v);
            free(v[s]);
        }
    free(v);
}
