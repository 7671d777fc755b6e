/* classes.c - divergence analysis: a fixpoint over register classes and divergent branches.
 *
 * A register is uniform when every definition is, and no lane that waits (at the other side of a divergent branch or at
 * its post-dominator) can observe a definition made without it. Fast code runs the sides of a branch one after the other
 * and meets at the immediate post-dominator, so the registers in danger are exactly those defined on one side and live
 * into another side or into the meeting point; they become masked vectors. */
#include "exec/classes.h"
#include <string.h>

struct ctx {
    const struct wg_function *f;
    const struct wg_cfg *g;
    struct wg_classes *o;
    bool entry, affine_tid, changed;
    uint8_t *done, *mark;
    uint32_t *work;
};

enum wg_class wg_sreg_class(enum wg_sreg s, bool affine_tid)
{
    switch (s) {
    case WG_SREG_TID_X: return affine_tid ? WG_CLASS_A : WG_CLASS_V;
    case WG_SREG_TID_Y: case WG_SREG_TID_Z: return affine_tid ? WG_CLASS_S : WG_CLASS_V;
    case WG_SREG_LANEID: return WG_CLASS_A;
    case WG_SREG_LANEMASK_EQ: case WG_SREG_LANEMASK_LT: case WG_SREG_LANEMASK_LE: case WG_SREG_LANEMASK_GT:
    case WG_SREG_LANEMASK_GE: return WG_CLASS_V;
    default: return WG_CLASS_S;
    }
}

static bool int_3264(unsigned t)
{
    return wg_type_infos[t].bytes >= 4 && wg_type_infos[t].bytes <= 8 &&
           (wg_type_infos[t].kind == 'U' || wg_type_infos[t].kind == 'S' || wg_type_infos[t].kind == 'B') &&
           t != WG_T_U16X2 && t != WG_T_S16X2;
}

bool wg_affine_op(const struct wg_instr *in)
{
    if (in->flags & (WG_FLAG(SAT) | WG_FLAG(CC)) || in->extra || !in->ntypes)
        return false;
    switch (in->op) {
    case WG_OP_ADD: case WG_OP_SUB: case WG_OP_NEG: case WG_OP_SHL: case WG_OP_SELP:
        return int_3264(in->type[0]);
    case WG_OP_MOV:
        return int_3264(in->type[0]) && in->nops == 2 && in->ops[0].kind == WG_OPERAND_REG &&
               in->ops[1].kind != WG_OPERAND_VEC;
    case WG_OP_CVTA:
        return !in->extra && in->type[0] == WG_T_U64;
    case WG_OP_MUL: case WG_OP_MAD:
        return (in->half == WG_HALF_LO && int_3264(in->type[0])) ||
               (in->half == WG_HALF_WIDE && wg_type_infos[in->type[0]].bytes == 4);
    case WG_OP_CVT:
        return in->ntypes == 2 && int_3264(in->type[0]) && int_3264(in->type[1]);
    default:
        return false;
    }
}

static enum wg_class of(const struct ctx *c, const struct wg_operand *o)
{
    enum wg_class k = WG_CLASS_S;
    switch (o->kind) {
    case WG_OPERAND_REG:
        k = c->o->cls[o->reg];
        if (o->pair >= 0 && c->o->cls[o->pair] > k)
            k = c->o->cls[o->pair];
        return k;
    case WG_OPERAND_SREG:
        return wg_sreg_class((enum wg_sreg)o->sreg, c->affine_tid);
    case WG_OPERAND_MEM:
    case WG_OPERAND_VEC:
        if (o->kind == WG_OPERAND_MEM && o->reg >= 0)
            k = c->o->cls[o->reg];
        for (uint32_t e = 0; e < o->nelems; e++) {
            enum wg_class x = of(c, &o->elems[e]);
            if (x > k)
                k = x;
        }
        return o->kind == WG_OPERAND_VEC && k == WG_CLASS_A ? WG_CLASS_V : k;
    default:
        return WG_CLASS_S;
    }
}

static enum wg_class product(enum wg_class a, enum wg_class b)
{
    if (a == WG_CLASS_V || b == WG_CLASS_V || (a == WG_CLASS_A && b == WG_CLASS_A))
        return WG_CLASS_V;
    return a > b ? a : b;
}

static enum wg_class affine_result(const struct ctx *c, const struct wg_instr *in)
{
    enum wg_class a = of(c, &in->ops[1]), b = in->nops > 2 ? of(c, &in->ops[2]) : WG_CLASS_S;
    switch (in->op) {
    case WG_OP_MUL:
        return product(a, b);
    case WG_OP_MAD:
        a = product(a, b);
        b = of(c, &in->ops[3]);
        return a > b ? a : b;
    case WG_OP_SHL:
        return b == WG_CLASS_S ? a : WG_CLASS_V;
    case WG_OP_SELP:
        if (of(c, &in->ops[3]) != WG_CLASS_S)
            return WG_CLASS_V;
        return a > b ? a : b;
    default:
        return a > b ? a : b;
    }
}

static enum wg_class load_result(const struct ctx *c, const struct wg_instr *in)
{
    const struct wg_operand *m = &in->ops[1];
    enum wg_class a = of(c, m);
    if (in->space == WG_SPACE_PARAM) {
        bool own = m->sym && m->sym->kind == WG_SYMBOL_PARAM && c->entry;
        return (own || (m->reg >= 0 && c->entry)) && a == WG_CLASS_S ? WG_CLASS_S : WG_CLASS_V;
    }
    if (in->space == WG_SPACE_LOCAL)
        return WG_CLASS_V;
    if (in->space == WG_SPACE_NONE) /* generic: may be local memory, where one address is 32 places */
        return WG_CLASS_V;
    return a == WG_CLASS_S ? WG_CLASS_S : WG_CLASS_V;
}

static enum wg_class result(const struct ctx *c, const struct wg_instr *in)
{
    switch (in->op) {
    case WG_OP_LD: case WG_OP_LDU:
        return load_result(c, in);
    case WG_OP_VOTE: case WG_OP_REDUX: /* groups of lanes may vote apart */
        return in->nops > 2 ? (of(c, &in->ops[2]) == WG_CLASS_S ? WG_CLASS_S : WG_CLASS_V) : WG_CLASS_S;
    case WG_OP_ALLOCA: case WG_OP_STACKSAVE: case WG_OP_MAPA: case WG_OP_GETCTARANK: /* decoded lane by lane */
        return WG_CLASS_V;
    case WG_OP_ACTIVEMASK: case WG_OP_BAR_RED: case WG_OP_BARRIER_RED:
    case WG_OP_BAR_CTA_RED: case WG_OP_BARRIER_CTA_RED:
        return WG_CLASS_S;
    default:
        break;
    }
    switch (wg_op_infos[in->op].group) {
    case WG_GROUP_ALU: case WG_GROUP_CVT: case WG_GROUP_MOV: case WG_GROUP_VIDEO:
        break;
    default:
        return WG_CLASS_V;
    }
    if (in->op == WG_OP_UNKNOWN || in->flags & WG_FLAG(CC) || in->op == WG_OP_ADDC || in->op == WG_OP_SUBC ||
        in->op == WG_OP_MADC) /* the carry is a lane's own */
        return WG_CLASS_V;
    if (wg_affine_op(in) && in->nops >= 2 && in->ops[0].kind == WG_OPERAND_REG)
        return affine_result(c, in);
    for (uint32_t k = 1; k < in->nops; k++)
        if (of(c, &in->ops[k]) != WG_CLASS_S)
            return WG_CLASS_V;
    return WG_CLASS_S;
}

struct def_ctx { struct ctx *c; enum wg_class k; bool merge, affine; /* can write base and stride */ const uint64_t *live; };

static void raise(struct ctx *c, int32_t reg, enum wg_class k)
{
    if (k == WG_CLASS_A && c->f->regs[reg].type == WG_T_PRED)
        k = WG_CLASS_V;
    if (c->o->cls[reg] < k) {
        c->o->cls[reg] = (uint8_t)k;
        c->changed = true;
    }
}

static void visit_def(void *p, int32_t reg, bool write)
{
    struct def_ctx *d = p;
    if (!write)
        return;
    raise(d->c, reg, d->k);
    if (!d->affine && d->c->o->cls[reg] == WG_CLASS_A)
        raise(d->c, reg, WG_CLASS_V);
    if (d->merge)
        d->c->o->merge[reg] = 1;
}

static void visit_merge(void *p, int32_t reg, bool write)
{
    struct def_ctx *d = p;
    if (!write || !wg_live(d->live, reg))
        return;
    raise(d->c, reg, WG_CLASS_V);
    d->c->o->merge[reg] = 1;
}

/* Marks blocks reachable from `from` before `stop`. */
static void reach(struct ctx *c, uint32_t from, uint32_t stop)
{
    const struct wg_cfg *g = c->g;
    memset(c->mark, 0, g->nbb + 1);
    uint32_t n = 0;
    if (from == stop || from == g->nbb)
        return;
    c->mark[from] = 1;
    c->work[n++] = from;
    while (n) {
        const struct wg_bb *x = &g->bbs[c->work[--n]];
        for (uint32_t k = 0; k < x->nsucc; k++) {
            uint32_t s = x->succ[k];
            if (s != stop && s != g->nbb && !c->mark[s]) {
                c->mark[s] = 1;
                c->work[n++] = s;
            }
        }
    }
}

static void merge_branch(struct ctx *c, uint32_t b)
{
    const struct wg_cfg *g = c->g;
    const struct wg_bb *bb = &g->bbs[b];
    for (uint32_t s = 0; s < bb->nsucc; s++) {
        reach(c, bb->succ[s], bb->ipdom);
        for (uint32_t t = 0; t <= bb->nsucc; t++) {
            uint32_t wait = t == bb->nsucc ? bb->ipdom : bb->succ[t];
            if (wait >= g->nbb || (t < bb->nsucc && bb->succ[t] == bb->succ[s]))
                continue;
            struct def_ctx d = {.c = c, .live = g->bbs[wait].live_in};
            for (uint32_t x = 0; x < g->nbb; x++)
                if (c->mark[x])
                    for (uint32_t i = g->bbs[x].first; i < g->bbs[x].end; i++)
                        wg_instr_regs(&c->f->instrs[i], visit_merge, &d);
        }
    }
}

static void count_use(void *p, int32_t reg, bool write)
{
    if (!write)
        ((uint32_t *)p)[reg]++;
}

bool wg_classify(const struct wg_function *f, const struct wg_cfg *g, bool entry, bool affine_tid, struct wg_arena *a,
                 struct wg_classes *o)
{
    struct ctx c = {.f = f, .g = g, .o = o, .entry = entry, .affine_tid = affine_tid, .changed = true};
    o->cls = wg_arena_alloc(a, f->nregs + 1);
    o->merge = wg_arena_alloc(a, f->nregs + 1);
    o->diverges = wg_arena_alloc(a, g->nbb + 1);
    o->uses = wg_arena_alloc(a, (f->nregs + 1) * sizeof *o->uses);
    c.done = wg_arena_alloc(a, g->nbb + 1);
    c.mark = wg_arena_alloc(a, g->nbb + 1);
    c.work = wg_arena_alloc(a, (g->nbb + 1) * sizeof *c.work);
    if (a->failed)
        return false;
    for (uint32_t i = 0; i < f->ninstrs; i++)
        wg_instr_regs(&f->instrs[i], count_use, o->uses);
    if (f->reg_params)
        for (uint32_t k = 0; k < f->nparams; k++)
            if (f->reg_params[k] >= 0)
                raise(&c, f->reg_params[k], WG_CLASS_V);
    for (uint32_t r = 0; r < f->nregs; r++)
        if (f->regs[r].type == WG_T_B128)
            raise(&c, (int32_t)r, WG_CLASS_V);
    while (c.changed) {
        c.changed = false;
        for (uint32_t i = 0; i < f->ninstrs; i++) {
            const struct wg_instr *in = &f->instrs[i];
            struct def_ctx d = {.c = &c, .k = result(&c, in), .affine = wg_affine_op(in) || in->op == WG_OP_MOV || in->op == WG_OP_LD};
            if (in->guard >= 0 && o->cls[in->guard] == WG_CLASS_V) {
                d.k = WG_CLASS_V;
                d.merge = true;
            }
            if (in->op == WG_OP_CALL)
                d.k = WG_CLASS_V;
            wg_instr_regs(in, visit_def, &d);
        }
        for (uint32_t b = 0; b < g->nbb; b++) {
            const struct wg_instr *in = &f->instrs[g->bbs[b].end - 1];
            bool div = wg_ends_block(in) && in->guard >= 0 && o->cls[in->guard] == WG_CLASS_V;
            if ((in->op == WG_OP_BRX || in->op == WG_OP_BRX_IDX) && of(&c, &in->ops[0]) != WG_CLASS_S)
                div = true;
            if (div && !c.done[b]) {
                c.done[b] = 1;
                o->diverges[b] = 1;
                merge_branch(&c, b);
                c.changed = true;
            }
        }
    }
    return true;
}
