/* emit_flow.c - decoding of branches, exits, calls, barriers and fences. Targets are PTX indices until decode.c links. */
#include "exec/emit.h"
#include <string.h>

static bool varying(const struct wg_emit *e) { return e->in->guard >= 0 && e->u->cls.cls[e->in->guard] == WG_CLASS_V; }

/* Where the lanes of a divergent branch meet: PTX index + 1, which may be the RET behind the last instruction; 0: at
 * their exit. */
static uint32_t meeting_point(const struct wg_emit *e)
{
    const struct wg_cfg *g = &e->u->cfg;
    uint32_t r = g->bbs[g->bb_of[e->cur]].ipdom;
    return r < g->nbb ? g->bbs[r].first + 1 : e->fn->is_entry ? 0 : e->fn->ninstrs + 1;
}

static void emit_branch(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    uint32_t to = in->ops[0].target;
    bool back = to <= e->cur, counters = e->dec->o->counters;
    struct wg_inst *i;
    if (e->wide)
        i = wg_emit_guarded(e, in->guard >= 0 ? WG_H_WBRA_P : WG_H_WBRA);
    else if (in->guard < 0)
        i = wg_emit_h(e, back ? WG_H_BRA_BACK : WG_H_BRA);
    else
        i = wg_emit_guarded(e, varying(e) ? WG_H_BRA_DIV : WG_H_BRA_UNI);
    if (!i)
        return;
    i->target = to;
    i->k1 = back;
    i->k2 = counters && in->guard >= 0;
    if (!e->wide && varying(e)) {
        i->e = meeting_point(e);
    }
}

static void emit_brx(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    const struct wg_operand *list = &in->ops[1];
    int32_t *tab = wg_arena_alloc(e->dec->a, (list->nelems + 1) * sizeof *tab);
    struct wg_val v = wg_emit_natural(e, wg_emit_get(e, &in->ops[0], WG_T_U32), WG_T_U32);
    if (v.cls == WG_CLASS_A)
        v = wg_emit_vec(e, v);
    if (!tab || in->guard >= 0) {
        if (tab)
            wg_emit_refuse(e, "a guarded indexed branch");
        return;
    }
    for (uint32_t k = 0; k < list->nelems; k++)
        tab[k] = (int32_t)list->elems[k].target;
    struct wg_inst *i = wg_emit_h(e, WG_H_BRX);
    if (!i)
        return;
    i->a = v.off;
    i->n = v.cls == WG_CLASS_S;
    i->p = tab;
    i->c = list->nelems;
    i->k2 = e->dec->o->counters;
    i->e = meeting_point(e);
}

/* Returns of a function other than an entry meet at its end. */
static void emit_ret(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    if (e->fn->is_entry) {
        if (e->dec->o->observed)
            wg_emit_guarded(e, WG_H_OBSERVE_EXIT);
        wg_emit_guarded(e, WG_H_EXIT);
        return;
    }
    struct wg_inst *i;
    if (e->wide)
        i = wg_emit_guarded(e, in->guard >= 0 ? WG_H_WBRA_P : WG_H_WBRA);
    else if (in->guard < 0)
        i = wg_emit_h(e, WG_H_BRA);
    else
        i = wg_emit_guarded(e, varying(e) ? WG_H_BRA_DIV : WG_H_BRA_UNI);
    if (!i)
        return;
    i->target = e->fn->ninstrs; /* the RET behind the last instruction */
    if (!e->wide && varying(e))
        i->e = meeting_point(e);
}

/* Wide code: splits may meet behind an instruction they waited in. */
static void rejoin(struct wg_emit *e)
{
    if (!e->wide)
        return;
    struct wg_inst *i = wg_emit_h(e, WG_H_WJOIN);
    if (!i)
        return;
    const struct wg_cfg *g = &e->u->cfg;
    i->imm = -1;
    /* what they both counted on entering the block ends here */
    i->site = g->bb_of[e->cur] == g->bb_of[e->cur + 1] ? e->code->site0 + e->cur + 1 : UINT32_MAX;
}

/* ---- calls ---- */
static bool copies(struct wg_emit *e, const struct wg_operand *ops, uint32_t n, const struct wg_symbol *formal,
                   uint32_t nformal, struct wg_call_copy **out)
{
    *out = wg_arena_alloc(e->dec->a, (n + 1) * sizeof **out);
    if (!*out)
        return false;
    for (uint32_t k = 0; k < n; k++) {
        if (ops[k].kind != WG_OPERAND_SYMBOL && ops[k].kind != WG_OPERAND_REG)
            return false;
        uint64_t bytes = ops[k].kind == WG_OPERAND_SYMBOL ? ops[k].sym->bytes : e->code->slots[ops[k].reg].bytes;
        if (formal && k < nformal && formal[k].bytes < bytes)
            bytes = formal[k].bytes;
        (*out)[k].words = (uint32_t)((bytes + 3) / 4);
    }
    return true;
}

/* Word slots of the actual arguments: .param variables have them, register arguments are stored into temporaries. */
static uint32_t actual(struct wg_emit *e, const struct wg_operand *o, bool result)
{
    if (o->kind == WG_OPERAND_SYMBOL)
        return wg_emit_var(e, o->sym);
    struct wg_val v = wg_emit_get(e, o, WG_T_B32);
    uint32_t t = wg_emit_temp(e, 256);
    if (!result) {
        v = wg_emit_vec(e, v);
        struct wg_inst *i = wg_emit_h(e, WG_H_ST_PARAM);
        if (i) {
            i->d = t;
            i->a = v.off;
            i->bytes = v.bytes;
            i->k2 = v.bytes;
        }
    }
    return t;
}

/* Where the callee keeps its parameters and results: the first word slots of its frame, see decode.c. */
static void formal_offsets(const struct wg_function *f, struct wg_call_copy *arg, struct wg_call_copy *ret, uint32_t first)
{
    uint32_t off = first;
    for (uint32_t k = 0; k < f->nparams; k++) {
        if (arg)
            arg[k].to = off;
        off += (uint32_t)((f->params[k].bytes + 3) / 4) * 128;
    }
    for (uint32_t k = 0; k < f->nrets; k++) {
        if (ret)
            ret[k].from = off;
        off += (uint32_t)((f->rets[k].bytes + 3) / 4) * 128;
    }
}

static void after_call(struct wg_emit *e, const struct wg_call_desc *d)
{
    const struct wg_instr *in = e->in;
    for (uint32_t k = 0; k < in->nret; k++)
        if (in->ret[k].kind == WG_OPERAND_REG) {
            struct wg_val to = wg_emit_dest(e, &in->ret[k], WG_T_B32);
            uint32_t from = d->ncandidates ? d->cand_ret[0][k].to : d->ret[k].to;
            struct wg_inst *i = wg_emit_guarded(e, WG_H_LD_PARAM);
            if (i) {
                i->d = to.off;
                i->a = from;
                i->bytes = to.bytes;
                i->k2 = to.bytes;
            }
        }
    rejoin(e);
}

static void emit_native(struct wg_emit *e, struct wg_call_desc *d, const struct wg_native *n, const void *data)
{
    const struct wg_instr *in = e->in;
    d->native = n;
    d->native_data = data;
    if (in->narg > 16) {
        wg_emit_refuse(e, "a call with this many arguments");
        return;
    }
    for (uint32_t k = 0; k < in->narg; k++)
        d->arg[k].from = actual(e, &in->arg[k], false);
    for (uint32_t k = 0; k < in->nret; k++)
        d->ret[k].to = actual(e, &in->ret[k], true);
    struct wg_inst *i = wg_emit_guarded(e, WG_H_NATIVE);
    if (!i)
        return;
    i->p = d;
    if (e->in->nret && e->in->ret[0].kind == WG_OPERAND_REG)
        after_call(e, d);
}

static void emit_indirect(struct wg_emit *e, struct wg_call_desc *d)
{
    const struct wg_instr *in = e->in;
    const struct wg_ptx_module *m = e->dec->m;
    d->candidates = wg_arena_alloc(e->dec->a, m->nfuncs * sizeof *d->candidates);
    d->cand_arg = wg_arena_alloc(e->dec->a, m->nfuncs * sizeof *d->cand_arg);
    d->cand_ret = wg_arena_alloc(e->dec->a, m->nfuncs * sizeof *d->cand_ret);
    struct wg_val fp = wg_emit_vec(e, wg_emit_get(e, &in->ops[0], WG_T_U64));
    uint32_t *from = wg_arena_alloc(&e->dec->scratch, (in->narg + 1) * 4), *to = wg_arena_alloc(&e->dec->scratch, (in->nret + 1) * 4);
    if (!d->candidates || !d->cand_arg || !d->cand_ret || !from || !to)
        return;
    for (uint32_t k = 0; k < in->narg; k++)
        from[k] = actual(e, &in->arg[k], false);
    for (uint32_t k = 0; k < in->nret; k++)
        to[k] = actual(e, &in->ret[k], true);
    for (uint32_t f = 0; f < m->nfuncs; f++) {
        const struct wg_function *fn = m->funcs[f];
        if (fn->is_entry || fn->is_declaration || fn->nparams != in->narg || fn->nrets != in->nret)
            continue;
        struct wg_unit *u = wg_decode_function(e->dec, fn);
        uint32_t k = d->ncandidates;
        if (!u || !copies(e, in->arg, in->narg, fn->params, fn->nparams, &d->cand_arg[k]) ||
            !copies(e, in->ret, in->nret, fn->rets, fn->nrets, &d->cand_ret[k]))
            continue;
        d->candidates[k] = u->code;
        formal_offsets(fn, d->cand_arg[k], d->cand_ret[k], u->code->const_bytes);
        for (uint32_t x = 0; x < in->narg; x++)
            d->cand_arg[k][x].from = from[x];
        for (uint32_t x = 0; x < in->nret; x++)
            d->cand_ret[k][x].to = to[x];
        d->ncandidates++;
    }
    struct wg_inst *i = wg_emit_guarded(e, WG_H_ICALL);
    if (!i)
        return;
    i->p = d;
    i->a = fp.off;
    if (d->ncandidates)
        after_call(e, d);
}

static void emit_call(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    struct wg_call_desc *d = wg_arena_alloc(e->dec->a, sizeof *d);
    if (!d)
        return;
    d->narg = in->narg;
    d->nret = in->nret;
    d->wide = e->wide;
    if (in->ops[0].kind != WG_OPERAND_SYMBOL) {
        emit_indirect(e, d);
        return;
    }
    const struct wg_symbol *s = in->ops[0].sym;
    d->name = s->name;
    const struct wg_function *f = s->func;
    if (f && f->is_declaration) { /* a definition elsewhere in the module wins */
        const struct wg_function *def = wg_ptx_function(e->dec->m, s->name);
        if (def && !def->is_declaration)
            f = def;
    }
    if (!copies(e, in->arg, in->narg, f ? f->params : NULL, f ? f->nparams : 0, &d->arg) ||
        !copies(e, in->ret, in->nret, f ? f->rets : NULL, f ? f->nrets : 0, &d->ret)) {
        wg_emit_refuse(e, "this form of call");
        return;
    }
    if (!f || f->is_declaration) {
        const void *data = NULL;
        const struct wg_native *n = wg_native_find(s->name, &data);
        if (n)
            emit_native(e, d, n, data);
        else
            wg_emit_refuse(e, "a call to a function that no loaded module defines");
        return;
    }
    if (in->narg != f->nparams || in->nret != f->nrets) {
        wg_emit_refuse(e, "a call whose arguments do not fit its callee");
        return;
    }
    struct wg_unit *u = wg_decode_function(e->dec, f);
    if (!u)
        return;
    d->code = u->code;
    formal_offsets(f, d->arg, d->ret, u->code->const_bytes);
    for (uint32_t k = 0; k < in->narg; k++)
        d->arg[k].from = actual(e, &in->arg[k], false);
    for (uint32_t k = 0; k < in->nret; k++)
        d->ret[k].to = actual(e, &in->ret[k], true);
    struct wg_inst *i = wg_emit_guarded(e, WG_H_CALL);
    if (!i)
        return;
    i->p = d;
    after_call(e, d);
}

/* ---- barriers ---- */
static uint32_t scalar_slot(struct wg_emit *e, const struct wg_operand *o, bool *ok)
{
    struct wg_val v = wg_emit_get(e, o, WG_T_U32);
    if (v.cls != WG_CLASS_S) {
        /* a warp agrees on its barrier; take the first lane's word for it in wide code */
        if (e->wide && v.cls == WG_CLASS_V)
            return v.off;
        *ok = false;
    }
    return v.off;
}

/* bar is barrier.aligned by another name. */
static bool aligned(const struct wg_instr *in)
{
    return (in->flags & WG_FLAG(ALIGNED)) || strncmp(in->mnemonic, "bar.", 4) == 0;
}

static void emit_barrier(struct wg_emit *e, bool arrive, bool red)
{
    const struct wg_instr *in = e->in;
    uint32_t base = red ? 1 : 0, last = in->nops - (red ? 1 : 0);
    bool ok = true;
    uint32_t id = scalar_slot(e, &in->ops[base], &ok), count = 0;
    if (last > base + 1)
        count = scalar_slot(e, &in->ops[base + 1], &ok);
    uint32_t pred = red ? wg_emit_get(e, &in->ops[in->nops - 1], WG_T_PRED).off : 0;
    if (!ok) {
        wg_emit_refuse(e, "a barrier number that differs between the lanes of a warp");
        return;
    }
    if (e->use && !arrive && e->in->op != WG_OP_BAR_WARP_SYNC)
        wg_emit_guarded(e, WG_H_RECORD_BARRIER);
    struct wg_inst *i = wg_emit_guarded(e, arrive ? WG_H_BAR_ARRIVE : WG_H_BAR);
    if (!i)
        return;
    i->a = id;
    i->b = count;
    i->c = pred;
    i->k1 = red;
    i->k2 = e->dec->o->observed ? WG_BAR_OBSERVED | (aligned(in) ? WG_BAR_ALIGNED : 0) : 0;
    if (red) {
        struct wg_val to = wg_emit_dest(e, &in->ops[0], in->boolop == WG_BOOL_POPC ? WG_T_U32 : WG_T_PRED);
        i = wg_emit_guarded(e, WG_H_BAR_RESULT);
        if (!i)
            return;
        i->d = to.off;
        i->a = id;
        i->k1 = in->boolop;
        i->n = to.cls == WG_CLASS_V;
        i->g = wg_emit_uniform_pred(e, to.reg);
    }
    rejoin(e);
}

static void emit_bar_warp(struct wg_emit *e)
{
    struct wg_val v = wg_emit_get(e, &e->in->ops[0], WG_T_B32);
    if (v.cls == WG_CLASS_A)
        v = wg_emit_vec(e, v);
    if (e->dec->o->observed) {
        struct wg_inst *o = wg_emit_guarded(e, WG_H_OBSERVE_SYNC);
        if (o) {
            o->f = v.off;
            o->k2 = (v.cls == WG_CLASS_V ? 0 : 4) | 8;
            o->p = "bar.warp.sync";
        }
    }
    struct wg_inst *i = wg_emit_guarded(e, WG_H_BAR_WARP);
    if (i) {
        i->a = v.off;
        i->n = v.cls == WG_CLASS_V;
    }
    rejoin(e);
}

bool wg_emit_flow(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    switch (in->op) {
    case WG_OP_BRA: emit_branch(e); return true;
    case WG_OP_BRX: case WG_OP_BRX_IDX: emit_brx(e); return true;
    case WG_OP_RET: emit_ret(e); return true;
    case WG_OP_EXIT:
        if (e->dec->o->observed)
            wg_emit_guarded(e, WG_H_OBSERVE_EXIT);
        wg_emit_guarded(e, WG_H_EXIT);
        return true;
    case WG_OP_TRAP: wg_emit_guarded(e, WG_H_TRAP); return true;
    case WG_OP_BRKPT: case WG_OP_PMEVENT: return true; /* for debuggers and profilers */
    case WG_OP_NANOSLEEP: wg_emit_h(e, WG_H_YIELD); return true;
    case WG_OP_CALL: emit_call(e); return true;
    case WG_OP_BAR_SYNC: case WG_OP_BAR_CTA_SYNC: case WG_OP_BARRIER_SYNC: case WG_OP_BARRIER_CTA_SYNC:
        emit_barrier(e, false, false);
        return true;
    case WG_OP_BAR_ARRIVE: case WG_OP_BAR_CTA_ARRIVE: case WG_OP_BARRIER_ARRIVE: case WG_OP_BARRIER_CTA_ARRIVE:
        emit_barrier(e, true, false);
        return true;
    case WG_OP_BAR_RED: case WG_OP_BAR_CTA_RED: case WG_OP_BARRIER_RED: case WG_OP_BARRIER_CTA_RED:
        emit_barrier(e, false, true);
        return true;
    case WG_OP_BAR_WARP_SYNC: emit_bar_warp(e); return true;
    case WG_OP_BARRIER_CLUSTER_ARRIVE: case WG_OP_BARRIER_CLUSTER_WAIT: wg_emit_cluster(e); return true;
    case WG_OP_MEMBAR: case WG_OP_FENCE: case WG_OP_FENCE_PROXY: case WG_OP_FENCE_MBARRIER_INIT:
        if (e->dec->o->observed) {
            struct wg_inst *i = wg_emit_guarded(e, WG_H_OBSERVE_FENCE);
            if (i)
                i->k1 = wg_access_scope_of(in->scope);
        }
        wg_emit_h(e, WG_H_NOP); /* memory is sequentially consistent within a worker; atomics order across workers */
        return true;
    case WG_OP_GRIDDEPCONTROL: case WG_OP_SETMAXNREG:
        return true; /* grids run one after the other; registers are not shared between warps */
    default: return false;
    }
}
