/* cfg.c - control-flow graph, post-dominators (iterative, reverse post-order) and live registers. */
#include "exec/cfg.h"
#include <string.h>

bool wg_ends_block(const struct wg_instr *in)
{
    switch (in->op) {
    case WG_OP_BRA: case WG_OP_BRX: case WG_OP_BRX_IDX: case WG_OP_RET: case WG_OP_EXIT: case WG_OP_TRAP:
        return true;
    default:
        return false;
    }
}

static void visit_operand(const struct wg_operand *o, wg_reg_visit fn, void *ctx, bool write)
{
    switch (o->kind) {
    case WG_OPERAND_REG:
        fn(ctx, o->reg, write);
        if (o->pair >= 0)
            fn(ctx, o->pair, write);
        break;
    case WG_OPERAND_SINK: /* "_|p" */
        if (o->pair >= 0)
            fn(ctx, o->pair, write);
        break;
    case WG_OPERAND_MEM:
        if (o->reg >= 0)
            fn(ctx, o->reg, false);
        for (uint32_t k = 0; k < o->nelems; k++)
            visit_operand(&o->elems[k], fn, ctx, false);
        break;
    case WG_OPERAND_VEC:
        for (uint32_t k = 0; k < o->nelems; k++)
            visit_operand(&o->elems[k], fn, ctx, write);
        break;
    default:
        break;
    }
}

/* Whether the first operand is written. mma's and wgmma's accumulators come first and are also read. */
static bool first_is_dest(const struct wg_instr *in)
{
    const char *s = wg_op_infos[in->op].shape;
    if (s[0] == 'p')
        return true;
    if (s[0] != 'd')
        return false;
    if (s[1] == '?') /* mbarrier.arrive with or without a state: a memory operand first means without */
        return in->nops && in->ops[0].kind != WG_OPERAND_MEM;
    return true;
}

void wg_instr_regs(const struct wg_instr *in, wg_reg_visit fn, void *ctx)
{
    if (in->guard >= 0)
        fn(ctx, in->guard, false);
    if (in->op == WG_OP_CALL) {
        for (uint32_t k = 0; k < in->nops; k++)
            visit_operand(&in->ops[k], fn, ctx, false);
        for (uint32_t k = 0; k < in->narg; k++)
            visit_operand(&in->arg[k], fn, ctx, false);
        for (uint32_t k = 0; k < in->nret; k++)
            visit_operand(&in->ret[k], fn, ctx, true);
        return;
    }
    bool dest = in->op != WG_OP_UNKNOWN && first_is_dest(in);
    for (uint32_t k = dest; k < in->nops; k++)
        visit_operand(&in->ops[k], fn, ctx, false);
    if (dest && in->nops) {
        if (in->op == WG_OP_WGMMA)
            visit_operand(&in->ops[0], fn, ctx, false);
        visit_operand(&in->ops[0], fn, ctx, true);
    }
}

static bool guarded(const struct wg_instr *in) { return in->guard >= 0; }

static bool find_blocks(const struct wg_function *f, struct wg_arena *a, struct wg_cfg *g)
{
    uint32_t n = f->ninstrs;
    uint8_t *lead = wg_arena_alloc(a, n + 1);
    g->bb_of = wg_arena_alloc(a, (n + 1) * sizeof *g->bb_of);
    if (!lead || !g->bb_of)
        return false;
    lead[0] = 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct wg_instr *in = &f->instrs[i];
        if (wg_ends_block(in))
            lead[i + 1] = 1;
        for (uint32_t k = 0; k < in->nops; k++) {
            const struct wg_operand *o = &in->ops[k];
            if (o->kind != WG_OPERAND_LABEL)
                continue;
            if (o->nelems == 0 && o->target <= n)
                lead[o->target] = 1;
            for (uint32_t e = 0; e < o->nelems; e++)
                lead[o->elems[e].target] = 1;
        }
    }
    g->nbb = 0;
    for (uint32_t i = 0; i < n; i++)
        g->nbb += lead[i];
    g->bbs = wg_arena_alloc(a, (g->nbb + 1) * sizeof *g->bbs);
    if (!g->bbs)
        return false;
    uint32_t b = (uint32_t)-1;
    for (uint32_t i = 0; i < n; i++) {
        if (lead[i]) {
            b++;
            g->bbs[b].first = i;
        }
        g->bb_of[i] = b;
        g->bbs[b].end = i + 1;
    }
    g->bb_of[n] = g->nbb; /* falling off the end */
    return true;
}

static bool find_edges(const struct wg_function *f, struct wg_arena *a, struct wg_cfg *g)
{
    for (uint32_t b = 0; b < g->nbb; b++) {
        struct wg_bb *bb = &g->bbs[b];
        const struct wg_instr *in = &f->instrs[bb->end - 1];
        uint32_t max = 2;
        for (uint32_t k = 0; k < in->nops; k++)
            if (in->ops[k].kind == WG_OPERAND_LABEL)
                max += in->ops[k].nelems;
        bb->succ = wg_arena_alloc(a, max * sizeof *bb->succ);
        if (!bb->succ)
            return false;
        bool falls = true;
        if (wg_ends_block(in)) {
            falls = guarded(in);
            for (uint32_t k = 0; k < in->nops; k++) {
                const struct wg_operand *o = &in->ops[k];
                if (o->kind != WG_OPERAND_LABEL)
                    continue;
                if (o->nelems == 0)
                    bb->succ[bb->nsucc++] = g->bb_of[o->target];
                for (uint32_t e = 0; e < o->nelems; e++)
                    bb->succ[bb->nsucc++] = g->bb_of[o->elems[e].target];
            }
            if (in->op == WG_OP_RET || in->op == WG_OP_EXIT || in->op == WG_OP_TRAP)
                bb->succ[bb->nsucc++] = g->nbb;
        }
        if (falls)
            bb->succ[bb->nsucc++] = g->bb_of[bb->end];
    }
    return true;
}

/* Cooper, Harvey and Kennedy's iteration on the reversed graph, rooted in the virtual exit. */
static bool find_ipdoms(struct wg_arena *a, struct wg_cfg *g)
{
    uint32_t n = g->nbb + 1, root = g->nbb;
    uint32_t *npred = wg_arena_alloc(a, n * 4), *order = wg_arena_alloc(a, n * 4), *num = wg_arena_alloc(a, n * 4),
             *stack = wg_arena_alloc(a, n * 4), *at = wg_arena_alloc(a, n * 4), *first = wg_arena_alloc(a, (n + 1) * 4);
    uint32_t edges = 0;
    for (uint32_t b = 0; b < g->nbb; b++)
        edges += g->bbs[b].nsucc;
    uint32_t *pred = wg_arena_alloc(a, (edges + 1) * 4);
    if (a->failed)
        return false;
    for (uint32_t b = 0; b < g->nbb; b++)
        for (uint32_t k = 0; k < g->bbs[b].nsucc; k++)
            npred[g->bbs[b].succ[k]]++;
    for (uint32_t b = 0; b < n; b++)
        first[b + 1] = first[b] + npred[b];
    memset(npred, 0, n * 4);
    for (uint32_t b = 0; b < g->nbb; b++)
        for (uint32_t k = 0; k < g->bbs[b].nsucc; k++) {
            uint32_t s = g->bbs[b].succ[k];
            pred[first[s] + npred[s]++] = b;
        }
    /* post-order of the reversed graph */
    const uint32_t none = UINT32_MAX;
    for (uint32_t b = 0; b < n; b++)
        num[b] = none;
    uint32_t sp = 0, count = 0;
    stack[sp++] = root;
    num[root] = 0;
    while (sp) {
        uint32_t b = stack[sp - 1];
        if (at[b] < npred[b]) {
            uint32_t p = pred[first[b] + at[b]++];
            if (num[p] == none) {
                num[p] = 0;
                stack[sp++] = p;
            }
        } else {
            num[b] = count;
            order[count++] = b;
            sp--;
        }
    }
    for (uint32_t b = 0; b < g->nbb; b++)
        g->bbs[b].ipdom = none;
    g->bbs[root].ipdom = root;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = count - 1; k-- > 0;) {
            uint32_t b = order[k], best = none;
            for (uint32_t s = 0; s < g->bbs[b].nsucc; s++) {
                uint32_t x = g->bbs[b].succ[s];
                if (num[x] == none || g->bbs[x].ipdom == none)
                    continue;
                if (best == none) {
                    best = x;
                    continue;
                }
                while (best != x) {
                    while (num[best] < num[x])
                        best = g->bbs[best].ipdom;
                    while (num[x] < num[best])
                        x = g->bbs[x].ipdom;
                }
            }
            if (best != g->bbs[b].ipdom) {
                g->bbs[b].ipdom = best;
                changed = true;
            }
        }
    }
    for (uint32_t b = 0; b < g->nbb; b++) /* blocks that never reach the exit: endless loops */
        if (g->bbs[b].ipdom == none)
            g->bbs[b].ipdom = root;
    return true;
}

struct live_ctx { uint64_t *use, *def; bool kills; };

static void live_visit(void *ctx, int32_t reg, bool write)
{
    struct live_ctx *c = ctx;
    uint64_t bit = 1ull << (reg & 63);
    if (!write) {
        if (!(c->def[reg >> 6] & bit))
            c->use[reg >> 6] |= bit;
    } else if (c->kills) {
        c->def[reg >> 6] |= bit;
    }
}

static bool find_live(const struct wg_function *f, struct wg_arena *a, struct wg_cfg *g)
{
    uint32_t w = g->words = (f->nregs + 63) / 64 + 1;
    uint64_t *def = wg_arena_alloc(a, (size_t)w * (g->nbb + 1) * 8);
    uint64_t *live = wg_arena_alloc(a, (size_t)w * (g->nbb + 1) * 8);
    if (a->failed)
        return false;
    for (uint32_t b = 0; b <= g->nbb; b++)
        g->bbs[b].live_in = live + (size_t)w * b;
    for (uint32_t b = 0; b < g->nbb; b++) {
        struct live_ctx c = {.use = g->bbs[b].live_in, .def = def + (size_t)w * b};
        for (uint32_t i = g->bbs[b].first; i < g->bbs[b].end; i++) {
            c.kills = !guarded(&f->instrs[i]);
            wg_instr_regs(&f->instrs[i], live_visit, &c);
        }
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = g->nbb; b-- > 0;) {
            uint64_t *in = g->bbs[b].live_in;
            for (uint32_t s = 0; s < g->bbs[b].nsucc; s++) {
                const uint64_t *out = g->bbs[g->bbs[b].succ[s]].live_in;
                for (uint32_t k = 0; k < w; k++) {
                    uint64_t v = in[k] | (out[k] & ~def[(size_t)w * b + k]);
                    changed |= v != in[k];
                    in[k] = v;
                }
            }
        }
    }
    return true;
}

bool wg_cfg_build(const struct wg_function *f, struct wg_arena *a, struct wg_cfg *g)
{
    *g = (struct wg_cfg){0};
    return find_blocks(f, a, g) && find_edges(f, a, g) && find_ipdoms(a, g) && find_live(f, a, g);
}

void wg_cfg_region(const struct wg_cfg *g, uint32_t b, uint8_t *mark, uint32_t *work)
{
    memset(mark, 0, g->nbb + 1);
    uint32_t stop = g->bbs[b].ipdom, n = 0;
    for (uint32_t k = 0; k < g->bbs[b].nsucc; k++) {
        uint32_t s = g->bbs[b].succ[k];
        if (s != stop && s != g->nbb && !mark[s]) {
            mark[s] = 1;
            work[n++] = s;
        }
    }
    while (n) {
        const struct wg_bb *x = &g->bbs[work[--n]];
        for (uint32_t k = 0; k < x->nsucc; k++) {
            uint32_t s = x->succ[k];
            if (s != stop && s != g->nbb && !mark[s]) {
                mark[s] = 1;
                work[n++] = s;
            }
        }
    }
}
