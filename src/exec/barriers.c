/* barriers.c - what lies between a function's barriers: see barriers.h. */
#include "exec/barriers.h"
#include <string.h>

enum touch { SHARED_READ = 1, SHARED_WRITE = 2, GLOBAL_READ = 4, GLOBAL_WRITE = 8, EVERYTHING = 15 };

static unsigned in_space(uint8_t space, unsigned shared, unsigned global)
{
    switch (space) {
    case WG_SPACE_PARAM: case WG_SPACE_CONST: case WG_SPACE_LOCAL: return 0;
    case WG_SPACE_SHARED: return shared;
    case WG_SPACE_GLOBAL: return global;
    default: return shared | global;
    }
}

static unsigned touches(const struct wg_instr *in)
{
    switch (in->op) {
    case WG_OP_LD: return in->flags & WG_FLAG(NC) ? 0 : in_space(in->space, SHARED_READ, GLOBAL_READ);
    case WG_OP_ST: return in_space(in->space, SHARED_WRITE, GLOBAL_WRITE);
    case WG_OP_ATOM: case WG_OP_RED:
        return in_space(in->space, SHARED_READ | SHARED_WRITE, GLOBAL_READ | GLOBAL_WRITE);
    case WG_OP_CALL: return EVERYTHING;
    case WG_OP_MMA: case WG_OP_WMMA_MMA: return 0;
    default: break;
    }
    if (in->op == WG_OP_UNKNOWN)
        return EVERYTHING;
    const enum wg_group g = wg_op_infos[in->op].group;
    return g == WG_GROUP_MEM || g == WG_GROUP_ATOM || g == WG_GROUP_ASYNC || g == WG_GROUP_TENSOR || g == WG_GROUP_TEX ? EVERYTHING
                                                                                                                    : 0;
}

/* bar.sync 0 by all threads of the block, whatever its spelling. */
static bool whole(const struct wg_instr *in)
{
    return (in->op == WG_OP_BAR_SYNC || in->op == WG_OP_BAR_CTA_SYNC || in->op == WG_OP_BARRIER_SYNC ||
            in->op == WG_OP_BARRIER_CTA_SYNC) &&
           in->nops == 1 && in->ops[0].kind == WG_OPERAND_IMM && in->ops[0].imm == 0 && in->guard < 0;
}

static bool other_barrier(const struct wg_instr *in)
{
    const char *m = in->mnemonic;
    return (!strncmp(m, "bar.", 4) || !strncmp(m, "barrier.", 8)) && in->op != WG_OP_BAR_WARP_SYNC && !whole(in);
}

struct walk {
    const struct wg_function *f;
    const struct wg_cfg *g;
    const uint8_t *idle; /* barriers that are as good as gone */
    uint8_t *seen;       /* per block */
    uint32_t *stack, *first_pred, *pred;
};

/* Adds what instructions [i, end), or back from i - 1 to begin, touch; true when a barrier ends the way. */
static bool forward(const struct walk *w, uint32_t i, uint32_t end, unsigned *set)
{
    for (; i < end; i++) {
        if (whole(&w->f->instrs[i]) && !w->idle[i])
            return true;
        *set |= touches(&w->f->instrs[i]);
    }
    return false;
}

static bool backward(const struct walk *w, uint32_t i, uint32_t begin, unsigned *set)
{
    while (i-- > begin) {
        if (whole(&w->f->instrs[i]) && !w->idle[i])
            return true;
        *set |= touches(&w->f->instrs[i]);
    }
    return false;
}

/* What can be touched between instruction at and the next barrier, or the one before. */
static unsigned reach(const struct walk *w, uint32_t at, bool ahead)
{
    uint32_t n = 0, b = w->g->bb_of[at];
    unsigned set = 0;
    memset(w->seen, 0, w->g->nbb);
    bool stop = ahead ? forward(w, at + 1, w->g->bbs[b].end, &set) : backward(w, at, w->g->bbs[b].first, &set);
    for (;; stop = ahead ? forward(w, w->g->bbs[b].first, w->g->bbs[b].end, &set)
                         : backward(w, w->g->bbs[b].end, w->g->bbs[b].first, &set)) {
        uint32_t many = ahead ? w->g->bbs[b].nsucc : w->first_pred[b + 1] - w->first_pred[b];
        const uint32_t *next = ahead ? w->g->bbs[b].succ : w->pred + w->first_pred[b];
        for (uint32_t k = 0; !stop && k < many; k++)
            if (next[k] < w->g->nbb && !w->seen[next[k]]) {
                w->seen[next[k]] = 1;
                w->stack[n++] = next[k];
            }
        if (!n)
            return set;
        b = w->stack[--n];
    }
}

static bool meet(unsigned before, unsigned after)
{
    for (unsigned k = 0; k < 2; k++, before >>= 2, after >>= 2)
        if (((before & SHARED_WRITE) && (after & 3)) || ((before & SHARED_READ) && (after & SHARED_WRITE)))
            return true;
    return false;
}

static bool turn(struct walk *w, struct wg_arena *a)
{
    uint32_t n = w->g->nbb, edges = 0;
    for (uint32_t b = 0; b < n; b++)
        edges += w->g->bbs[b].nsucc;
    w->first_pred = wg_arena_alloc(a, (n + 2) * sizeof *w->first_pred);
    w->pred = wg_arena_alloc(a, (edges + 1) * sizeof *w->pred);
    w->stack = wg_arena_alloc(a, (n + 1) * sizeof *w->stack);
    w->seen = wg_arena_alloc(a, n + 1);
    if (!w->first_pred || !w->pred || !w->stack || !w->seen)
        return false;
    memset(w->first_pred, 0, (n + 2) * sizeof *w->first_pred);
    for (uint32_t b = 0; b < n; b++)
        for (uint32_t k = 0; k < w->g->bbs[b].nsucc; k++)
            if (w->g->bbs[b].succ[k] < n)
                w->first_pred[w->g->bbs[b].succ[k] + 2]++;
    for (uint32_t b = 2; b < n + 2; b++)
        w->first_pred[b] += w->first_pred[b - 1];
    for (uint32_t b = 0; b < n; b++)
        for (uint32_t k = 0; k < w->g->bbs[b].nsucc; k++)
            if (w->g->bbs[b].succ[k] < n)
                w->pred[w->first_pred[w->g->bbs[b].succ[k] + 1]++] = b;
    return true;
}

uint8_t *wg_barriers_idle(const struct wg_function *f, const struct wg_cfg *g, struct wg_arena *a)
{
    uint32_t barriers = 0, idle = 0;
    for (uint32_t i = 0; i < f->ninstrs; i++) {
        barriers += whole(&f->instrs[i]);
        if (f->instrs[i].op == WG_OP_CALL || other_barrier(&f->instrs[i]))
            return NULL;
    }
    uint8_t *mark = barriers && f->is_entry ? wg_arena_alloc(a, f->ninstrs) : NULL;
    struct walk w = {f, g, mark, NULL, NULL, NULL, NULL};
    if (!mark || !turn(&w, a))
        return NULL;
    memset(mark, 0, f->ninstrs);
    for (uint32_t i = f->ninstrs; i-- > 0;) /* of two in a row the later one goes */
        if (whole(&f->instrs[i]) && !meet(reach(&w, i, false), reach(&w, i, true)))
            mark[i] = 1, idle++;
    return idle ? mark : NULL;
}
