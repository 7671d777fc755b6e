/* slots.c - vector registers whose lifetimes do not meet share one slot, so that a warp's frame stays in the host's
 * caches. */
#include "exec/slots.h"
#include <stdlib.h>
#include <string.h>

struct lifetimes { uint32_t *first, *last; /* instructions; first > last: never live */ };
struct span { uint32_t first, last; };

static void extend(const struct lifetimes *t, uint32_t reg, uint32_t at)
{
    t->first[reg] = at < t->first[reg] ? at : t->first[reg];
    t->last[reg] = at > t->last[reg] ? at : t->last[reg];
}

static void extend_set(const struct lifetimes *t, const uint64_t *set, uint32_t words, uint32_t at)
{
    for (uint32_t k = 0; k < words; k++)
        for (uint64_t m = set[k]; m; m &= m - 1)
            extend(t, k * 64 + (uint32_t)__builtin_ctzll(m), at);
}

struct visit { const struct lifetimes *t; uint32_t at; };
static void visit(void *ctx, int32_t reg, bool write)
{
    const struct visit *v = ctx;
    (void)write;
    extend(v->t, (uint32_t)reg, v->at);
}

static void live_ranges(const struct wg_function *f, const struct wg_cfg *g, const struct lifetimes *t)
{
    for (uint32_t b = 0; b < g->nbb; b++) {
        const struct wg_bb *x = &g->bbs[b];
        extend_set(t, x->live_in, g->words, x->first);
        for (uint32_t k = 0; k < x->nsucc; k++)
            extend_set(t, g->bbs[x->succ[k]].live_in, g->words, x->end - 1);
        for (uint32_t i = x->first; i < x->end; i++)
            wg_instr_regs(&f->instrs[i], visit, &(struct visit){t, i});
    }
}

static int by_first(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Where lanes of a warp may be at different places: from a branch that splits it to where its ways meet. Sorted, apart
 * from each other; returns their number. */
static uint32_t split_spans(const struct wg_cfg *g, const struct wg_classes *c, struct span *out, uint8_t *mark,
                            uint32_t *work)
{
    uint32_t n = 0, kept = 0;
    for (uint32_t b = 0; b < g->nbb; b++) {
        if (!c->diverges[b])
            continue;
        struct span s = {g->bbs[b].end - 1, g->bbs[b].end - 1};
        wg_cfg_region(g, b, mark, work);
        for (uint32_t k = 0; k < g->nbb; k++)
            if (mark[k]) {
                s.first = g->bbs[k].first < s.first ? g->bbs[k].first : s.first;
                s.last = g->bbs[k].end - 1 > s.last ? g->bbs[k].end - 1 : s.last;
            }
        out[n++] = s;
    }
    qsort(out, n, sizeof *out, by_first);
    for (uint32_t k = 0; k < n; k++) {
        if (kept && out[k].first <= out[kept - 1].last)
            out[kept - 1].last = out[k].last > out[kept - 1].last ? out[k].last : out[kept - 1].last;
        else
            out[kept++] = out[k];
    }
    return kept;
}

/* Code between the ways' parting and their meeting writes all lanes of a register that no waiting lane needs, so there
 * nothing may share with anything. */
static void widen_over_splits(const struct lifetimes *t, uint32_t nregs, const struct span *s, uint32_t n)
{
    for (uint32_t r = 0; r < nregs; r++)
        for (uint32_t k = 0; k < n && t->first[r] <= t->last[r]; k++)
            if (t->first[r] <= s[k].last && t->last[r] >= s[k].first) {
                extend(t, r, s[k].first);
                extend(t, r, s[k].last);
            }
}

struct order { uint32_t first, reg; };
static int by_order(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : x->reg < y->reg ? -1 : x->reg > y->reg;
}

bool wg_share_slots(const struct wg_function *f, const struct wg_cfg *g, const struct wg_classes *c, struct wg_arena *a,
                    uint32_t *like)
{
    const struct lifetimes t = {wg_arena_alloc(a, (f->nregs + 1) * 4), wg_arena_alloc(a, (f->nregs + 1) * 4)};
    struct span *splits = wg_arena_alloc(a, (g->nbb + 1) * sizeof *splits);
    uint8_t *mark = wg_arena_alloc(a, g->nbb + 1);
    uint32_t *work = wg_arena_alloc(a, (g->nbb + 1) * 4), n = 0, nholders = 0;
    struct order *order = wg_arena_alloc(a, (f->nregs + 1) * sizeof *order);
    uint32_t *holders = wg_arena_alloc(a, (f->nregs + 1) * 4), *busy = wg_arena_alloc(a, (f->nregs + 1) * 4);
    if (a->failed)
        return false;
    memset(t.first, 0xff, (f->nregs + 1) * 4);
    live_ranges(f, g, &t);
    widen_over_splits(&t, f->nregs, splits, split_spans(g, c, splits, mark, work));
    for (uint32_t r = 0; r < f->nregs; r++) {
        like[r] = r;
        if (f->regs[r].type != WG_T_PRED && c->cls[r] == WG_CLASS_V && t.first[r] <= t.last[r])
            order[n++] = (struct order){t.first[r], r};
    }
    qsort(order, n, sizeof *order, by_order);
    /* Linear scan: the first slot of the same width whose last reader lies strictly before takes the register. The
     * number of slots tried is bounded, for kernels of tens of thousands of registers. */
    enum { TRIES = 256 };
    for (uint32_t k = 0; k < n; k++) {
        uint32_t r = order[k].reg, h = nholders > TRIES ? nholders - TRIES : 0;
        while (h < nholders && (busy[h] >= t.first[r] || wg_type_bytes((enum wg_type)f->regs[holders[h]].type) !=
                                                             wg_type_bytes((enum wg_type)f->regs[r].type)))
            h++;
        if (h == nholders)
            holders[nholders++] = r;
        like[r] = holders[h];
        busy[h] = t.last[r];
    }
    return true;
}
