/* decode.c - lays out the register file of each function and emits its fast and wide code. */
#include "exec/barriers.h"
#include "exec/demangle.h"
#include "exec/emit.h"
#include "exec/machine.h"
#include "exec/extent.h"
#include "exec/slots.h"
#include "ptx/merge.h"
#include <stdlib.h>
#include <string.h>

/* ---- shared memory layout ---- */
uint32_t wg_shared_offset(struct wg_decoder *d, const struct wg_symbol *s)
{
    for (uint32_t k = 0; k < d->shared.n; k++)
        if (d->shared.v[k].sym == s)
            return (uint32_t)d->shared.v[k].offset;
    return 0;
}

/* ---- functions ---- */
/* See wg_emit.used. */
static void used_reg(void *ctx, int32_t reg, bool write)
{
    uint8_t *used = (uint8_t *)ctx + reg;
    *used = (uint8_t)((*used ? *used : 1) + (!write && *used < 4));
}

static bool is_call_var(const struct wg_symbol *s) { return s->space == WG_SPACE_PARAM && s->kind != WG_SYMBOL_FUNC; }

/* Slots of registers. Order: constants | parameters, results and .param variables of calls (words) | predicates, S and A |
 * V | temporaries | wide-only V. The first two must come first: callers copy into them knowing only const_bytes. */
static uint32_t lay_out(struct wg_emit *e, uint32_t temp_bytes, const uint8_t *used, const uint32_t *like)
{
    const struct wg_function *f = e->fn;
    struct wg_code *c = e->code;
    uint32_t off = c->const_bytes;
    e->nvars = 0;
    if (!f->is_entry)
        for (uint32_t k = 0; k < f->nparams + f->nrets; k++) {
            const struct wg_symbol *s = k < f->nparams ? &f->params[k] : &f->rets[k - f->nparams];
            e->vars[e->nvars++] = (struct wg_var_slot){s, off};
            off += (uint32_t)((s->bytes + 3) / 4) * 128;
        }
    for (uint32_t k = 0; k < f->nlocals; k++)
        if (is_call_var(f->locals[k])) {
            e->vars[e->nvars++] = (struct wg_var_slot){f->locals[k], off};
            off += (uint32_t)((f->locals[k]->bytes + 3) / 4) * 128;
        }
    for (uint32_t r = 0; r < f->nregs; r++) {
        struct wg_slot *s = &c->slots[r];
        bool pred = f->regs[r].type == WG_T_PRED;
        s->bytes = (uint8_t)(pred ? 4 : wg_container((enum wg_type)f->regs[r].type));
        s->cls = pred ? WG_CLASS_P : e->u->cls.cls[r];
        if (!used[r] || s->cls == WG_CLASS_V)
            continue;
        s->fast = off;
        off += s->cls == WG_CLASS_A ? 16 : 8;
    }
    c->slots[f->nregs] = (struct wg_slot){off, off, WG_CLASS_P, 4}; /* the carry flag of .cc */
    off = (off + 8 + 63) & ~63u;
    if (c->top_slot) {
        c->top_slot = off;
        off += 4 * WG_LANES;
    }
    for (uint32_t r = 0; r < f->nregs; r++) {
        struct wg_slot *s = &c->slots[r];
        if (used[r] && s->cls == WG_CLASS_V && like[r] == r) {
            s->fast = s->wide = off;
            off += (s->bytes * 32u + 63) & ~63u;
        }
    }
    for (uint32_t r = 0; r < f->nregs; r++)
        if (used[r] && c->slots[r].cls == WG_CLASS_V)
            c->slots[r].fast = c->slots[r].wide = c->slots[like[r]].fast;
    e->temp0 = off;
    off = (off + temp_bytes + 63) & ~63u;
    for (uint32_t r = 0; r < f->nregs; r++) {
        struct wg_slot *s = &c->slots[r];
        if (used[r] && (s->cls == WG_CLASS_S || s->cls == WG_CLASS_A)) {
            s->wide = off;
            off += (s->bytes * 32u + 63) & ~63u;
        }
    }
    return off;
}

/* ---- instructions ---- */
static void emit_one(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    if (in->op == WG_OP_UNKNOWN) {
        wg_emit_refuse(e, "this operation");
        return;
    }
    if (wg_emit_flow(e))
        return;
    switch (wg_op_infos[in->op].group) {
    case WG_GROUP_ALU: case WG_GROUP_CVT: case WG_GROUP_VIDEO:
        wg_emit_alu(e);
        return;
    case WG_GROUP_MEM: case WG_GROUP_ATOM:
        wg_emit_memory(e);
        return;
    case WG_GROUP_WARP:
        wg_emit_cross_lane(e);
        return;
    case WG_GROUP_TENSOR:
        wg_emit_tensor(e);
        return;
    case WG_GROUP_ASYNC:
        wg_emit_async(e);
        return;
    case WG_GROUP_TEX:
        wg_emit_texture(e);
        return;
    case WG_GROUP_MOV:
        if (in->op == WG_OP_MOV)
            wg_emit_mov(e);
        else if (in->op == WG_OP_CVTA)
            wg_emit_cvta(e);
        else if (in->op == WG_OP_ISSPACEP)
            wg_emit_isspacep(e);
        else if (in->op == WG_OP_MAPA || in->op == WG_OP_GETCTARANK)
            wg_emit_cluster(e);
        else if (in->op == WG_OP_ALLOCA || in->op == WG_OP_STACKSAVE || in->op == WG_OP_STACKRESTORE)
            wg_emit_stack(e);
        else
            wg_emit_refuse(e, "this operation");
        return;
    default:
        wg_emit_refuse(e, "this operation");
    }
}

static void count_use(void *ctx, int32_t reg, bool write)
{
    if (!write)
        ((uint32_t *)ctx)[reg]++;
}

static void forget_def(void *ctx, int32_t reg, bool write)
{
    if (write)
        ((uint8_t *)ctx)[reg] = 0;
}

/* Guards of branches, exits and calls are their own business; the rest counts lanes that are on. */
static bool counts_guard(const struct wg_emit *e)
{
    return e->dec->o->counters && e->in->guard >= 0;
}

static void emit_all(struct wg_emit *e, const uint8_t *joins)
{
    const struct wg_function *f = e->fn;
    const struct wg_cfg *g = &e->u->cfg;
    e->n = 0;
    for (uint32_t p = 0; p <= f->ninstrs && !e->failed; p++) {
        e->cur = p;
        e->at[p] = e->body[p] = e->n;
        e->temp = e->temp0;
        bool starts = p == f->ninstrs || p == 0 || g->bb_of[p] != g->bb_of[p - 1];
        if (starts) {
            uint32_t bb = p == f->ninstrs ? g->nbb : g->bb_of[p];
            memset(e->shadow, 0, f->nregs + 1);
            bool count = e->dec->o->counters && p < f->ninstrs;
            enum wg_handler_id id = e->wide ? WG_H_WJOIN : joins[bb] ? WG_H_JOIN : WG_H_COUNT;
            if (e->wide || joins[bb] || count) {
                struct wg_inst *i = wg_emit_h(e, id);
                if (i) {
                    i->imm = count ? (int64_t)(e->code->bb0 + bb) : -1;
                    if (e->wide)
                        i->site = UINT32_MAX; /* splits that meet here have not counted the block yet */
                }
            }
            if (e->mix && p < f->ninstrs && e->mix[bb].slots) {
                struct wg_inst *i = wg_emit_h(e, WG_H_RECORD_BLOCK);
                if (i) {
                    i->b = e->mix[bb].slots;
                    i->c = e->mix[bb].alone;
                }
            }
        }
        if (p == f->ninstrs) {
            e->body[p] = e->n;
            if (f->is_entry && e->dec->o->observed) {
                struct wg_inst *o = wg_emit_h(e, WG_H_OBSERVE_EXIT);
                if (o)
                    o->site = e->code->site0 + (p ? p - 1 : 0);
            }
            struct wg_inst *i = wg_emit_h(e, f->is_entry ? WG_H_EXIT : e->wide ? WG_H_WRET : WG_H_RET);
            if (i)
                i->site = e->code->site0 + (p ? p - 1 : 0);
            break;
        }
        e->in = &f->instrs[p];
        if (p == 0)
            wg_emit_param_homes(e);
        if (counts_guard(e))
            wg_emit_guarded(e, WG_H_COUNT_GUARD);
        e->body[p] = e->n;
        emit_one(e);
        wg_instr_regs(e->in, forget_def, e->shadow);
        if (e->body[p] == e->n) /* every PTX instruction has a place to continue at */
            wg_emit_h(e, WG_H_NOP);
    }
}

/* Branch targets become distances. */
static void link(struct wg_emit *e)
{
    const struct wg_handler_set *h = e->h;
    for (uint32_t k = 0; k < e->n; k++) {
        struct wg_inst *i = &e->insts[k];
        bool bra = i->fn == h->basic[WG_H_BRA] || i->fn == h->basic[WG_H_BRA_BACK] || i->fn == h->basic[WG_H_BRA_UNI] ||
                   i->fn == h->basic[WG_H_BRA_DIV] || i->fn == h->basic[WG_H_WBRA] || i->fn == h->basic[WG_H_WBRA_P];
        if (bra)
            i->target = (uint32_t)((int32_t)e->at[i->target] - (int32_t)k);
        if (i->fn == h->basic[WG_H_BRX]) {
            int32_t *tab = wg_arena_alloc(e->dec->a, (i->c + 1) * sizeof *tab);
            const int32_t *old = i->p;
            for (uint32_t t = 0; tab && t < i->c; t++)
                tab[t] = (int32_t)e->at[old[t]] - (int32_t)k;
            if (!tab)
                e->failed = true;
            i->p = tab;
        }
        if ((i->fn == h->basic[WG_H_BRA_DIV] || i->fn == h->basic[WG_H_BRX]) && i->e)
            i->e = (uint32_t)((int32_t)e->at[i->e - 1] - (int32_t)k);
    }
    h->fuse(e->insts, e->n);
}

static bool emit_function(struct wg_decoder *d, struct wg_unit *u)
{
    const struct wg_function *f = u->fn;
    struct wg_code *c = u->code;
    struct wg_emit e = {.dec = d, .u = u, .fn = f, .code = c, .h = d->h};
    uint8_t *used = wg_arena_alloc(&d->scratch, f->nregs + 2), *joins = wg_arena_alloc(&d->scratch, u->cfg.nbb + 2);
    uint32_t *like = wg_arena_alloc(&d->scratch, (f->nregs + 1) * sizeof *like);
    e.shadow = wg_arena_alloc(&d->scratch, f->nregs + 2);
    if (d->o->observed)
        e.array = wg_provenance(d, f);
    if (d->o->traced) {
        e.mix = wg_arena_alloc(&d->scratch, (u->cfg.nbb + 1) * sizeof *e.mix);
        e.use = wg_arena_alloc(&d->scratch, f->ninstrs + 1);
        if (!e.mix || !e.use || !wg_mix_analyse(f, &u->cfg, u->merge, &d->scratch, e.mix, e.use))
            return false;
    }
    e.used = used;
    e.vars = wg_arena_alloc(&d->scratch, (f->nparams + f->nrets + f->nlocals + 1) * sizeof *e.vars);
    e.consts = wg_arena_grow(&d->scratch, NULL, CONST_FIRST, &e.consts_cap, sizeof *e.consts);
    if (d->scratch.failed || !wg_share_slots(f, &u->cfg, &u->cls, &d->scratch, like))
        return false;
    for (uint32_t i = 0; i < f->ninstrs; i++)
        wg_instr_regs(&f->instrs[i], used_reg, used);
    for (uint32_t b = 0; b < u->cfg.nbb; b++)
        if (u->cls.diverges[b])
            joins[u->cfg.bbs[b].ipdom] = 1;
    if (!f->is_entry)
        joins[u->cfg.nbb] = 1;
    /* The size of the temporary area comes from a first pass. */
    uint32_t temp_bytes = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int wide = 0; wide < 2; wide++) {
            e.wide = wide;
            e.at = wg_arena_alloc(d->a, (f->ninstrs + 2) * 4);
            e.body = wg_arena_alloc(d->a, (f->ninstrs + 2) * 4);
            c->frame_bytes = lay_out(&e, temp_bytes, used, like);
            e.temp_max = e.temp0;
            e.insts = NULL;
            e.cap = 0;
            e.ptx = NULL;
            e.ptx_cap = 0;
            if (d->a->failed || d->scratch.failed)
                return false;
            if (!wide)
                e.nconsts = CONST_FIRST;
            emit_all(&e, joins);
            if (e.temp_max - e.temp0 > temp_bytes)
                temp_bytes = e.temp_max - e.temp0;
            if (pass == 0 || e.failed) {
                free(e.insts);
            } else {
                link(&e);
                uint32_t *ptx = wg_arena_dup(d->a, e.ptx, e.n * 4);
                if (wide) {
                    c->wide = e.insts, c->nwide = e.n, c->wide_at = e.at, c->wide_body = e.body, c->wide_ptx = ptx;
                } else {
                    c->fast = e.insts, c->nfast = e.n, c->fast_at = e.at, c->fast_body = e.body, c->fast_ptx = ptx;
                }
            }
            if (e.failed || d->a->failed || d->scratch.failed)
                return false;
        }
    }
    c->consts = wg_arena_dup(d->a, e.consts, (size_t)e.nconsts * 8);
    if (!c->consts)
        return false;
    c->nconsts = e.nconsts;
    ((uint64_t *)c->consts)[CONST_TRUE] = UINT32_MAX;
    ((uint64_t *)c->consts)[CONST_SCRATCH] = 0;
    return true;
}

/* Can the result depend on the order of blocks? Atomics on global memory whose old value is used or whose sum rounds,
 * and accesses that wait for other blocks. */
static void note_order(struct wg_decoder *d, const struct wg_function *f)
{
    uint32_t *uses = wg_arena_alloc(&d->scratch, (f->nregs + 1) * sizeof *uses);
    if (!uses)
        return;
    for (uint32_t i = 0; i < f->ninstrs; i++)
        wg_instr_regs(&f->instrs[i], count_use, uses);
    for (uint32_t i = 0; i < f->ninstrs; i++) {
        const struct wg_instr *in = &f->instrs[i];
        bool shared = in->space == WG_SPACE_SHARED || in->space == WG_SPACE_SHARED_CLUSTER || in->space == WG_SPACE_LOCAL ||
                      in->space == WG_SPACE_PARAM;
        bool ordered = in->order != WG_ORDER_NONE && in->order != WG_ORDER_WEAK;
        if (shared)
            continue;
        if ((in->op == WG_OP_LD && ordered))
            d->kc->order_matters = true;
        if (in->op == WG_OP_CP_REDUCE_TENSOR || /* its type is in the map */
            (in->op == WG_OP_CP_REDUCE_BULK && in->ntypes && wg_type_infos[in->type[0]].kind == 'F'))
            d->kc->order_matters = true;
        if (in->op == WG_OP_ATOM || in->op == WG_OP_RED) {
            bool used = in->op == WG_OP_ATOM && in->ops[0].kind != WG_OPERAND_SINK &&
                        !(in->ops[0].kind == WG_OPERAND_REG && !uses[in->ops[0].reg]);
            if (used || in->atom == WG_ATOM_EXCH || in->atom == WG_ATOM_CAS || in->atom == WG_ATOM_INC ||
                in->atom == WG_ATOM_DEC || (in->ntypes && wg_type_infos[in->type[0]].kind == 'F'))
                d->kc->order_matters = true;
        }
    }
}

struct wg_unit *wg_decode_function(struct wg_decoder *d, const struct wg_function *f)
{
    for (struct wg_unit *u = d->units; u; u = u->next)
        if (u->fn == f)
            return u;
    struct wg_unit *u = wg_arena_alloc(&d->scratch, sizeof *u);
    struct wg_code *c = wg_arena_alloc(d->a, sizeof *c);
    if (!u || !c)
        return NULL;
    u->dec = d;
    u->fn = f;
    u->code = c;
    c->fn = f;
    c->kernel = d->kc;
    c->address = wg_function_address(d->m, f->name);
    c->site0 = d->kc->nsites;
    d->kc->nsites += f->ninstrs;
    if (!wg_cfg_build(f, d->a, &u->cfg) ||
        !wg_classify(f, &u->cfg, f->is_entry, d->o->affine_tid, &d->scratch, &u->cls))
        return NULL;
    c->idle = d->o->counters ? wg_barriers_idle(f, &u->cfg, d->a) : NULL;
    c->bb0 = d->kc->nbb;
    c->nbb = u->cfg.nbb;
    d->kc->nbb += c->nbb + 1;
    c->bb_first = wg_arena_alloc(d->a, (c->nbb + 1) * 4);
    c->slots = wg_arena_alloc(d->a, (f->nregs + 2) * sizeof *c->slots);
    c->nslots = f->nregs;
    if (!c->bb_first || !c->slots)
        return NULL;
    note_order(d, f);
    if (!d->o->as_written && wg_merge_analyse(d->m, f, d->a, &u->merge) != WG_OK)
        return NULL;
    struct wg_machine machine = {0};
    if (!d->o->as_written && !wg_machine_estimate(f, &u->cfg, &u->cls, u->merge, d->o->ptxas ? wg_ptxas_kernel(d->o->ptxas, f->name) : NULL,
                                                  d->o->sm, d->a, &machine))
        return NULL;
    c->machine = machine.hundredths;
    c->with = machine.with;
    uint64_t local = 0;
    for (uint32_t k = 0; k < f->nlocals; k++)
        if (f->locals[k]->space == WG_SPACE_LOCAL) {
            uint32_t al = f->locals[k]->align ? f->locals[k]->align : 1;
            local = (local + al - 1) / al * al + f->locals[k]->bytes;
        }
    c->local_bytes = (uint32_t)local;
    if (!f->is_entry && wg_takes_param_address(f)) /* such parameters get a home in local memory too */
        for (uint32_t k = 0; k < f->nparams; k++)
            c->local_bytes = (uint32_t)((c->local_bytes + 15) & ~15u) + (uint32_t)f->params[k].bytes;
    for (uint32_t b = 0; b < c->nbb; b++)
        c->bb_first[b] = u->cfg.bbs[b].first;
    c->bb_first[c->nbb] = f->ninstrs;
    /* room for every constant: one per immediate or address operand and a few of the decoder's own */
    uint32_t n = CONST_FIRST + 8;
    for (uint32_t i = 0; i < f->ninstrs; i++) {
        const struct wg_instr *in = &f->instrs[i];
        for (uint32_t k = 0; k < in->nops; k++) {
            const struct wg_operand *o = &in->ops[k];
            n += o->kind != WG_OPERAND_REG && o->kind != WG_OPERAND_LABEL;
            for (uint32_t x = 0; x < o->nelems; x++)
                n += o->elems[x].kind == WG_OPERAND_IMM;
        }
        if (in->op == WG_OP_CVTA)
            n++;
        if (in->op == WG_OP_ALLOCA || in->op == WG_OP_STACKSAVE || in->op == WG_OP_STACKRESTORE)
            c->top_slot = 1; /* lay_out says where */
        if (in->op == WG_OP_BARRIER_CLUSTER_ARRIVE || in->op == WG_OP_BARRIER_CLUSTER_WAIT || in->op == WG_OP_MAPA)
            d->kc->uses_cluster = true;
    }
    c->const_bytes = (n * 8 + 63) & ~63u;
    *d->tail = u;
    d->tail = &u->next;
    d->kc->ncodes++;
    return u;
}

/* Finds every function that f can reach before anything is emitted: shared memory is laid out over all of them. */
static bool discover(struct wg_decoder *d)
{
    for (struct wg_unit *u = d->units; u; u = u->next)
        for (uint32_t i = 0; i < u->fn->ninstrs; i++) {
            const struct wg_instr *in = &u->fn->instrs[i];
            if (in->op != WG_OP_CALL)
                continue;
            d->kc->has_calls = true;
            if (in->ops[0].kind == WG_OPERAND_SYMBOL) {
                const struct wg_function *f = in->ops[0].sym->func;
                if (f && f->is_declaration)
                    f = wg_ptx_function(d->m, f->name);
                if (f && !f->is_declaration && !wg_decode_function(d, f))
                    return false;
                continue;
            }
            for (uint32_t k = 0; k < d->m->nfuncs; k++) {
                const struct wg_function *f = d->m->funcs[k];
                if (!f->is_entry && !f->is_declaration && f->nparams == in->narg && f->nrets == in->nret &&
                    !wg_decode_function(d, f))
                    return false;
            }
        }
    return true;
}

static bool place_shared(struct wg_decoder *d, const struct wg_function *entry)
{
    if (wg_ptx_shared_layout(d->m, entry, d->a, &d->shared) != WG_OK)
        return false;
    d->kc->static_shared_exact = d->shared.static_bytes;
    d->kc->static_shared = (uint32_t)(d->shared.uses_dynamic ? d->shared.dynamic_offset : d->shared.static_bytes);
    struct wg_extent_texts texts = {0};
    d->kc->arrays = wg_arena_alloc(d->a, (d->shared.n + 1) * sizeof *d->kc->arrays);
    for (uint32_t k = 0; d->kc->arrays && k < d->shared.n; k++) {
        const struct wg_symbol *s = d->shared.v[k].sym;
        const char *name = wg_demangle(d->a, s->name), *tail = name ? name : "?";
        for (const char *c = tail; (c = strstr(c, "::"));)
            tail = c += 2;
        struct wg_array *x = &d->kc->arrays[d->kc->narrays++];
        struct wg_extent shape;
        *x = (struct wg_array){.name = tail, .offset = d->shared.v[k].offset, .bytes = s->bytes, .dynamic = s->bytes == 0};
        if (d->o->observed && wg_extent_of(&texts, d->a, d->m, entry, tail, s->bytes, &shape)) {
            x->elem = shape.elem;
            x->ndims = shape.ndims;
            memcpy(x->dim, shape.dim, sizeof x->dim);
        }
    }
    return d->kc->arrays != NULL;
}

enum wg_status wg_decode_kernel(const struct wg_ptx_module *m, const struct wg_function *entry,
                                const struct wg_decode_options *o,
                                uint64_t (*symbol)(void *ctx, const struct wg_symbol *s), void *ctx,
                                struct wg_kernel_code **out, struct wg_diag *diag)
{
    struct wg_kernel_code *kc = wg_calloc(1, sizeof *kc);
    *out = NULL;
    if (!kc)
        return wg_diag_set(diag, WG_NO_MEMORY, "out of host memory");
    struct wg_decoder d = {.m = m, .o = o, .symbol = symbol, .ctx = ctx, .kc = kc, .a = &kc->arena, .diag = diag};
    d.tail = &d.units;
    d.h = wg_handlers_best();
    kc->module = m;
    kc->handlers = d.h;
    kc->affine_tid = o->affine_tid;
    kc->counters = o->counters;
    kc->observed = o->observed;
    kc->traced = o->traced;
    bool ok = wg_decode_function(&d, entry) && discover(&d) && place_shared(&d, entry);
    for (struct wg_unit *u = d.units; ok && u; u = u->next)
        ok = emit_function(&d, u);
    kc->codes = ok ? wg_arena_alloc(&kc->arena, kc->ncodes * sizeof *kc->codes) : NULL;
    uint32_t n = 0;
    for (struct wg_unit *u = d.units; kc->codes && u; u = u->next) {
        kc->codes[n++] = u->code;
        kc->local_bytes += (u->code->local_bytes + 15u) & ~15u;
    }
    ok = kc->codes != NULL;
    if (!ok && d.units) /* the emitted arrays are not in the arena */
        for (struct wg_unit *u = d.units; u; u = u->next) {
            free(u->code->fast);
            free(u->code->wide);
        }
    wg_arena_free(&d.scratch);
    if (!ok) {
        wg_arena_free(&kc->arena);
        free(kc);
        return wg_diag_set(diag, WG_NO_MEMORY, "out of host memory while decoding %s", entry->name);
    }
    *out = kc;
    return WG_OK;
}

void wg_kernel_code_free(struct wg_kernel_code *k)
{
    if (!k)
        return;
    for (uint32_t c = 0; c < k->ncodes; c++) {
        free(k->codes[c]->fast);
        free(k->codes[c]->wide);
    }
    wg_arena_free(&k->arena);
    free(k);
}
