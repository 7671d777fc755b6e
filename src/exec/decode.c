/* decode.c - lays out the register file of each function and emits its fast and wide code. */
#include "exec/demangle.h"
#include "exec/emit.h"
#include <stdlib.h>
#include <string.h>

enum { CONST_TRUE, CONST_SCRATCH, CONST_FIRST };

/* ---- shared memory layout ---- */
uint32_t wg_shared_offset(struct wg_decoder *d, const struct wg_symbol *s)
{
    for (uint32_t k = 0; k < d->nshared; k++)
        if (d->shared_syms[k] == s)
            return d->shared_offs[k];
    return 0;
}

static void add_shared(struct wg_decoder *d, const struct wg_symbol *s)
{
    for (uint32_t k = 0; k < d->nshared; k++)
        if (d->shared_syms[k] == s)
            return;
    d->shared_syms = wg_arena_grow(&d->scratch, d->shared_syms, d->nshared + 1, &d->shared_cap, sizeof *d->shared_syms);
    d->shared_offs = wg_arena_grow(&d->scratch, d->shared_offs, d->nshared + 1, &d->offs_cap, sizeof *d->shared_offs);
    if (d->scratch.failed)
        return;
    uint32_t align = s->align ? s->align : 1;
    d->shared_syms[d->nshared] = s;
    if (s->bytes == 0) { /* dynamic: placed behind everything else, see place_dynamic */
        d->uses_dynamic = true;
        if (align > d->dynamic_align)
            d->dynamic_align = align;
        d->shared_offs[d->nshared++] = UINT32_MAX;
        return;
    }
    d->shared_top = (d->shared_top + align - 1) / align * align;
    d->shared_offs[d->nshared++] = d->shared_top;
    d->shared_top += (uint32_t)s->bytes;
}

static void note_shared(struct wg_decoder *d, const struct wg_operand *o)
{
    if (o->sym && o->sym->kind == WG_SYMBOL_VAR && o->sym->space == WG_SPACE_SHARED)
        add_shared(d, o->sym);
    for (uint32_t k = 0; k < o->nelems; k++)
        note_shared(d, &o->elems[k]);
}

/* ---- functions ---- */
static void used_reg(void *ctx, int32_t reg, bool write)
{
    (void)write;
    ((uint8_t *)ctx)[reg] = 1;
}

static bool is_call_var(const struct wg_symbol *s) { return s->space == WG_SPACE_PARAM && s->kind != WG_SYMBOL_FUNC; }

/* Slots of registers. Order: constants | parameters, results and .param variables of calls (words) | predicates, S and A |
 * V | temporaries | wide-only V. The first two must come first: callers copy into them knowing only const_bytes. */
static uint32_t lay_out(struct wg_emit *e, uint32_t temp_bytes, const uint8_t *used)
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
    for (uint32_t r = 0; r < f->nregs; r++) {
        struct wg_slot *s = &c->slots[r];
        if (used[r] && s->cls == WG_CLASS_V) {
            s->fast = s->wide = off;
            off += (s->bytes * 32u + 63) & ~63u;
        }
    }
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
static bool emit_affine(struct wg_emit *e, struct wg_val to)
{
    const struct wg_instr *in = e->in;
    enum wg_type t = (enum wg_type)in->type[0];
    enum wg_handler_id id;
    uint8_t k2 = 0, bytes = to.bytes;
    uint32_t nsrc = in->nops - 1;
    enum wg_type ta = t;
    switch (in->op) {
    case WG_OP_ADD: id = WG_H_A_ADD; break;
    case WG_OP_SUB: id = WG_H_A_SUB; break;
    case WG_OP_NEG: id = WG_H_A_NEG; break;
    case WG_OP_SHL: id = WG_H_A_SHL; break;
    case WG_OP_SELP: id = WG_H_A_SELP; break;
    case WG_OP_MOV: case WG_OP_CVTA: id = WG_H_A_MOV; break;
    case WG_OP_MUL: case WG_OP_MAD:
        id = in->op == WG_OP_MUL ? WG_H_A_MUL : WG_H_A_MAD;
        if (in->half == WG_HALF_WIDE) {
            id = WG_H_A_MULW;
            k2 = (uint8_t)((wg_type_infos[t].kind == 'S' ? 1 : 0) | (in->op == WG_OP_MAD ? 2 : 0));
        }
        break;
    case WG_OP_CVT:
        ta = (enum wg_type)in->type[1];
        if (wg_type_bytes(ta) == 4 && to.bytes == 8) {
            id = WG_H_A_WIDEN;
            k2 = wg_type_infos[ta].kind == 'S';
        } else {
            id = WG_H_A_MOV;
        }
        break;
    default: return false;
    }
    struct wg_val v[3] = {{0}};
    for (uint32_t k = 0; k < nsrc && k < 3; k++)
        v[k] = wg_emit_get(e, &in->ops[k + 1], id == WG_H_A_SHL && k == 1 ? WG_T_U32 : ta);
    struct wg_inst *i = wg_emit_h(e, id);
    if (!i)
        return true;
    i->d = to.off;
    i->a = v[0].off;
    i->b = v[1].off;
    i->c = v[2].off;
    for (uint32_t k = 0; k < 3; k++)
        i->k1 |= (uint8_t)((v[k].cls == WG_CLASS_A) << k);
    i->k2 = k2;
    i->bytes = bytes;
    if (in->op == WG_OP_CVTA) {
        int64_t win = in->space == WG_SPACE_SHARED || in->space == WG_SPACE_SHARED_CLUSTER ? (int64_t)WG_SHARED_WINDOW
                      : in->space == WG_SPACE_LOCAL                                        ? (int64_t)WG_LOCAL_WINDOW
                                                                                           : 0;
        i->imm = in->flags & WG_FLAG(TO) ? -win : win;
    }
    return true;
}

/* Type of the k-th source operand, for immediates and containers. */
static enum wg_type source_type(const struct wg_instr *in, uint32_t k)
{
    enum wg_type t = in->ntypes ? (enum wg_type)in->type[0] : WG_T_B32;
    switch (in->op) {
    case WG_OP_SHL: case WG_OP_SHR:
        return k == 1 ? WG_T_U32 : t;
    case WG_OP_SETP: case WG_OP_TESTP:
        return k == 2 ? WG_T_PRED : t;
    case WG_OP_SET:
        return k == 2 ? WG_T_PRED : in->ntypes > 1 ? (enum wg_type)in->type[1] : t;
    case WG_OP_SELP:
        return k == 2 ? WG_T_PRED : t;
    case WG_OP_SLCT:
        return k == 2 ? (enum wg_type)in->type[1] : t;
    case WG_OP_CVT: case WG_OP_CVT_PACK:
        return in->ntypes > 1 ? (enum wg_type)in->type[in->op == WG_OP_CVT_PACK && k == 2 ? in->ntypes - 1 : 1] : t;
    case WG_OP_BFE:
        return k ? WG_T_U32 : t;
    case WG_OP_BFI:
        return k >= 2 ? WG_T_U32 : t;
    case WG_OP_MAD: case WG_OP_MADC: case WG_OP_MAD24:
        if (in->half == WG_HALF_WIDE && k == 2)
            return wg_type_bytes(t) == 4 ? (wg_type_infos[t].kind == 'S' ? WG_T_S64 : WG_T_U64)
                                         : (wg_type_infos[t].kind == 'S' ? WG_T_S32 : WG_T_U32);
        return t;
    case WG_OP_LOP3:
        return k == 4 ? WG_T_PRED : t;
    case WG_OP_DP4A: case WG_OP_DP2A:
        return k == 2 ? WG_T_U32 : WG_T_U32;
    case WG_OP_FMA:
        return t;
    default:
        return t;
    }
}

static enum wg_type dest_type(const struct wg_instr *in)
{
    enum wg_type t = in->ntypes ? (enum wg_type)in->type[0] : WG_T_B32;
    switch (in->op) {
    case WG_OP_MUL: case WG_OP_MAD:
        if (in->half == WG_HALF_WIDE)
            return wg_type_bytes(t) == 4 ? (wg_type_infos[t].kind == 'S' ? WG_T_S64 : WG_T_U64)
                                         : (wg_type_infos[t].kind == 'S' ? WG_T_S32 : WG_T_U32);
        return t;
    case WG_OP_SETP: case WG_OP_TESTP:
        return WG_T_PRED;
    case WG_OP_POPC: case WG_OP_CLZ: case WG_OP_BFIND:
        return WG_T_U32;
    default:
        return t;
    }
}

static bool has_carry(const struct wg_instr *in)
{
    return in->flags & WG_FLAG(CC) || in->op == WG_OP_ADDC || in->op == WG_OP_SUBC || in->op == WG_OP_MADC;
}

static void put_source(struct wg_inst *i, uint32_t k, uint32_t off)
{
    uint32_t *const where[4] = {&i->a, &i->b, &i->c, &i->f};
    *where[k] = off;
}

static bool uniform_pred(const struct wg_emit *e, const struct wg_operand *o)
{
    return o->kind != WG_OPERAND_REG || (!e->wide && e->u->cls.cls[o->reg] == WG_CLASS_S);
}

/* Anything behind wg_alu_select. */
static void emit_alu(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    if (in->extra && wg_op_infos[in->op].group != WG_GROUP_VIDEO) {
        wg_emit_refuse(e, in->extra);
        return;
    }
    enum wg_type td = dest_type(in);
    struct wg_val to = wg_emit_dest(e, &in->ops[0], td);
    if (!e->wide && to.cls == WG_CLASS_A) {
        if (!emit_affine(e, to))
            wg_emit_refuse(e, "an affine form of this operation");
        return;
    }
    struct wg_val src[5] = {{0}};
    uint32_t nsrc = in->nops - 1, nval = 0, bool_slot = WG_SLOT_TRUE;
    bool all_scalar = true;
    int64_t lut = 0;
    for (uint32_t k = 0; k < nsrc && k < 5; k++) {
        const struct wg_operand *o = &in->ops[k + 1];
        enum wg_type t = source_type(in, k);
        if (in->op == WG_OP_LOP3 && k == 3 && o->kind == WG_OPERAND_IMM) {
            lut = o->imm;
            continue;
        }
        struct wg_val v = wg_emit_get(e, o, t);
        if (t == WG_T_PRED && ((in->op == WG_OP_SETP || in->op == WG_OP_SET) || in->op == WG_OP_LOP3)) {
            bool_slot = v.off;
            all_scalar &= uniform_pred(e, o);
            continue;
        }
        if (v.cls == WG_CLASS_P) {
            all_scalar &= uniform_pred(e, o);
        } else {
            v = wg_emit_natural(e, v, t);
            if (v.cls == WG_CLASS_A)
                v = wg_emit_vec(e, v);
            all_scalar &= v.cls == WG_CLASS_S;
        }
        src[nval++] = v;
    }
    bool pred = to.cls == WG_CLASS_P, masked = wg_emit_masked(e, to.reg) || (pred && e->in->guard >= 0);
    masked |= in->ops[0].kind == WG_OPERAND_REG && in->ops[0].pair >= 0 && e->u->cls.merge[in->ops[0].pair];
    /* result in its natural container, converted afterwards where the register is wider */
    struct wg_val res = to;
    unsigned natural = td == WG_T_PRED ? 4 : wg_container(td);
    const struct wg_operand *od = &in->ops[0];
    bool scalar, through = false;
    if (pred) { /* one truth for the warp: the predicate register must be uniform too */
        scalar = all_scalar && !e->wide && (to.reg < 0 || e->u->cls.cls[to.reg] == WG_CLASS_S) &&
                 (od->kind != WG_OPERAND_REG || od->pair < 0 || e->u->cls.cls[od->pair] == WG_CLASS_S);
    } else {
        scalar = all_scalar && !has_carry(in);
        through = natural != to.bytes || (scalar && to.cls == WG_CLASS_V); /* convert or spread afterwards */
    }
    if (through) {
        res.cls = scalar ? WG_CLASS_S : WG_CLASS_V;
        res.bytes = (uint8_t)natural;
        res.reg = -1;
        res.off = wg_emit_temp(e, scalar ? 8 : natural * 32);
    }
    struct wg_alu_form form = {.dst_scalar = scalar, .masked = masked && !through};
    struct wg_inst proto = {0};
    for (uint32_t k = 0; k < nval; k++)
        if (src[k].cls == WG_CLASS_S)
            form.src_scalar |= (uint8_t)(1u << k);
    wg_handler fn = wg_alu_select(in, form, &proto);
    if (!fn && form.src_scalar && !scalar) {
        for (uint32_t k = 0; k < nval; k++)
            src[k] = wg_emit_vec(e, src[k]);
        form.src_scalar = 0;
        proto = (struct wg_inst){0};
        fn = wg_alu_select(in, form, &proto);
    }
    if (!fn) {
        wg_emit_refuse(e, "this operation");
        return;
    }
    struct wg_inst *i = wg_emit(e, fn);
    if (!i)
        return;
    i->imm = in->op == WG_OP_LOP3 ? lut : proto.imm;
    i->k1 = proto.k1;
    i->k2 = proto.k2;
    if (!through)
        wg_emit_guard(e, i);
    i->d = res.off;
    for (uint32_t k = 0; k < nval && k < 4; k++)
        put_source(i, k, src[k].off);
    i->g = bool_slot;
    i->e = CONST_SCRATCH * 8;
    if (has_carry(in))
        i->e = e->code->slots[e->fn->nregs].fast;
    else if (in->ops[0].kind == WG_OPERAND_REG && in->ops[0].pair >= 0)
        i->e = e->code->slots[in->ops[0].pair].fast;
    if (through) {
        if (res.bytes != to.bytes && to.cls != WG_CLASS_P) {
            struct wg_val wide = {to.off, res.cls, to.bytes, -1};
            bool direct = res.cls == to.cls;
            if (!direct)
                wide.off = wg_emit_temp(e, res.cls == WG_CLASS_S ? 8 : to.bytes * 32u);
            struct wg_inst *r = direct ? wg_emit_guarded(e, res.cls == WG_CLASS_S ? WG_H_RESIZE_S : WG_H_RESIZE)
                                       : wg_emit_h(e, res.cls == WG_CLASS_S ? WG_H_RESIZE_S : WG_H_RESIZE);
            if (!r)
                return;
            r->d = wide.off;
            r->a = res.off;
            r->bytes = to.bytes;
            r->k2 = res.bytes;
            r->k1 = (uint8_t)(wg_type_bytes(td) < to.bytes ? wg_type_bytes(td) : to.bytes);
            r->n = wg_type_infos[td].kind == 'S';
            if (direct)
                return;
            res = wide;
        }
        wg_emit_move(e, to, res, masked);
    }
}

/* mov with a {vector} on one side, or of a special register, an address or an immediate. */
static void emit_mov(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    const struct wg_operand *d = &in->ops[0], *s = &in->ops[1];
    enum wg_type t = (enum wg_type)in->type[0];
    if (d->kind == WG_OPERAND_VEC || s->kind == WG_OPERAND_VEC) {
        const struct wg_operand *list = d->kind == WG_OPERAND_VEC ? d : s;
        struct wg_pack_desc *p = wg_arena_alloc(e->dec->a, sizeof *p);
        bool unpack = d->kind == WG_OPERAND_VEC, scalar = !e->wide;
        if (!p || list->nelems > 8 || wg_type_bytes(t) > 8) {
            wg_emit_refuse(e, "this move");
            return;
        }
        p->n = (uint8_t)list->nelems;
        p->eb = (uint8_t)(wg_type_bytes(t) / list->nelems);
        enum wg_type et = p->eb == 1 ? WG_T_B8 : p->eb == 2 ? WG_T_B16 : WG_T_B32;
        struct wg_val v[8], one = unpack ? wg_emit_get(e, s, t) : wg_emit_dest(e, d, t), el[8];
        for (uint32_t k = 0; k < list->nelems; k++) {
            const struct wg_operand *o = &list->elems[k];
            el[k] = v[k] = unpack ? wg_emit_dest(e, o, et) : wg_emit_get(e, o, et);
            if (!unpack)
                v[k] = wg_emit_natural(e, v[k], et);
            if (o->kind != WG_OPERAND_SINK)
                scalar &= v[k].cls == WG_CLASS_S;
        }
        scalar &= one.cls == WG_CLASS_S;
        if (unpack)
            one = wg_emit_natural(e, one, t);
        if (!scalar && unpack)
            one = wg_emit_vec(e, one);
        for (uint32_t k = 0; k < list->nelems; k++) {
            if (!unpack && !scalar)
                v[k] = wg_emit_vec(e, v[k]);
            if (unpack && v[k].off && (v[k].bytes != wg_container(et) || (!scalar && v[k].cls != WG_CLASS_V))) {
                v[k].cls = scalar ? WG_CLASS_S : WG_CLASS_V;
                v[k].bytes = (uint8_t)wg_container(et);
                v[k].off = wg_emit_temp(e, scalar ? 8 : v[k].bytes * 32u);
            }
            p->off[k] = v[k].off;
        }
        struct wg_inst *i = wg_emit_guarded(e, unpack ? (scalar ? WG_H_UNPACK_S : WG_H_UNPACK) : scalar ? WG_H_PACK_S : WG_H_PACK);
        if (!i)
            return;
        i->p = p;
        i->bytes = one.bytes;
        if (unpack)
            i->a = one.off;
        else
            i->d = one.off;
        for (uint32_t k = 0; unpack && k < list->nelems; k++)
            if (v[k].off != el[k].off)
                wg_emit_move(e, el[k], v[k], true);
        return;
    }
    if (s->kind == WG_OPERAND_REG && t != WG_T_B128) {
        emit_alu(e);
        return;
    }
    if (wg_type_bytes(t) > 8) {
        wg_emit_refuse(e, "a 128-bit register");
        return;
    }
    struct wg_val to = wg_emit_dest(e, d, t), v = wg_emit_get(e, s, t);
    if (v.cls != WG_CLASS_A || to.cls != WG_CLASS_A)
        if (v.cls != WG_CLASS_P && v.bytes != to.bytes)
            v = wg_emit_natural(e, v, to.bytes == 8 ? WG_T_B64 : to.bytes == 4 ? WG_T_B32 : WG_T_B16);
    wg_emit_move(e, to, v, wg_emit_masked(e, to.reg));
}

static void emit_cvta(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    struct wg_val to = wg_emit_dest(e, &in->ops[0], WG_T_U64);
    bool shared = in->space == WG_SPACE_SHARED || in->space == WG_SPACE_SHARED_CLUSTER, local = in->space == WG_SPACE_LOCAL;
    if (!e->wide && to.cls == WG_CLASS_A) {
        emit_affine(e, to);
        return;
    }
    struct wg_val v = wg_emit_get(e, &in->ops[1], WG_T_U64);
    v = wg_emit_natural(e, v, WG_T_U64);
    if (!shared && !local) {
        wg_emit_move(e, to, v, wg_emit_masked(e, to.reg));
        return;
    }
    uint64_t win = shared ? WG_SHARED_WINDOW : WG_LOCAL_WINDOW;
    if (in->flags & WG_FLAG(TO))
        win = 0 - win;
    struct wg_instr add = {.op = WG_OP_ADD, .ntypes = 1, .type = {WG_T_U64}, .guard = -1};
    bool scalar = v.cls == WG_CLASS_S && to.cls == WG_CLASS_S;
    if (!scalar)
        v = wg_emit_vec(e, v);
    struct wg_val w = {wg_emit_const(e, win), WG_CLASS_S, 8, -1};
    struct wg_alu_form form = {.dst_scalar = scalar, .src_scalar = scalar ? 3 : 2, .masked = wg_emit_masked(e, to.reg)};
    struct wg_inst proto = {0};
    wg_handler fn = wg_alu_select(&add, form, &proto);
    if (!fn) {
        w = wg_emit_vec(e, w);
        form.src_scalar = 0;
        fn = wg_alu_select(&add, form, &proto);
    }
    struct wg_inst *i = fn ? wg_emit(e, fn) : NULL;
    if (!i)
        return;
    wg_emit_guard(e, i);
    i->imm = proto.imm;
    i->d = to.off;
    i->a = v.off;
    i->b = w.off;
    i->e = CONST_SCRATCH * 8;
}

static void emit_isspacep(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    struct wg_val v = wg_emit_get(e, &in->ops[1], WG_T_U64), to = wg_emit_dest(e, &in->ops[0], WG_T_PRED);
    if (v.cls == WG_CLASS_A)
        v = wg_emit_vec(e, v);
    struct wg_inst *i = wg_emit_guarded(e, WG_H_ISSPACEP);
    if (i) {
        i->d = to.off;
        i->a = v.off;
        i->k1 = in->space;
        i->k2 = v.cls == WG_CLASS_S;
        i->g = wg_emit_uniform_pred(e, to.reg);
    }
}

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
        emit_alu(e);
        return;
    case WG_GROUP_MEM: case WG_GROUP_ATOM:
        wg_emit_memory(e);
        return;
    case WG_GROUP_WARP:
        wg_emit_cross_lane(e);
        return;
    case WG_GROUP_MOV:
        if (in->op == WG_OP_MOV)
            emit_mov(e);
        else if (in->op == WG_OP_CVTA)
            emit_cvta(e);
        else if (in->op == WG_OP_ISSPACEP)
            emit_isspacep(e);
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
}

static bool emit_function(struct wg_decoder *d, struct wg_unit *u)
{
    const struct wg_function *f = u->fn;
    struct wg_code *c = u->code;
    struct wg_emit e = {.dec = d, .u = u, .fn = f, .code = c, .h = d->h};
    uint8_t *used = wg_arena_alloc(&d->scratch, f->nregs + 2), *joins = wg_arena_alloc(&d->scratch, u->cfg.nbb + 2);
    e.shadow = wg_arena_alloc(&d->scratch, f->nregs + 2);
    if (d->o->observed)
        e.array = wg_provenance(d, f);
    e.vars = wg_arena_alloc(&d->scratch, (f->nparams + f->nrets + f->nlocals + 1) * sizeof *e.vars);
    e.consts = wg_arena_grow(&d->scratch, NULL, CONST_FIRST, &e.consts_cap, sizeof *e.consts);
    if (d->scratch.failed)
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
            c->frame_bytes = lay_out(&e, temp_bytes, used);
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
            if (pass == 0) {
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
        bool shared = in->space == WG_SPACE_SHARED || in->space == WG_SPACE_LOCAL || in->space == WG_SPACE_PARAM;
        bool ordered = in->order != WG_ORDER_NONE && in->order != WG_ORDER_WEAK;
        if (shared)
            continue;
        if ((in->op == WG_OP_LD && ordered))
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
    c->bb0 = d->kc->nbb;
    c->nbb = u->cfg.nbb;
    d->kc->nbb += c->nbb + 1;
    c->bb_first = wg_arena_alloc(d->a, (c->nbb + 1) * 4);
    c->slots = wg_arena_alloc(d->a, (f->nregs + 2) * sizeof *c->slots);
    c->nslots = f->nregs;
    if (!c->bb_first || !c->slots)
        return NULL;
    note_order(d, f);
    uint64_t local = 0;
    for (uint32_t k = 0; k < f->nlocals; k++)
        if (f->locals[k]->space == WG_SPACE_LOCAL) {
            uint32_t al = f->locals[k]->align ? f->locals[k]->align : 1;
            local = (local + al - 1) / al * al + f->locals[k]->bytes;
        }
    c->local_bytes = (uint32_t)local;
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
            note_shared(d, o);
        }
        if (in->op == WG_OP_CVTA)
            n++;
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

static void place_shared(struct wg_decoder *d)
{
    uint32_t al = d->dynamic_align > 16 ? d->dynamic_align : 16;
    d->kc->static_shared_exact = d->shared_top;
    uint32_t dynamic = (d->shared_top + al - 1) / al * al;
    d->kc->static_shared = d->uses_dynamic ? dynamic : d->shared_top;
    for (uint32_t k = 0; k < d->nshared; k++)
        if (d->shared_offs[k] == UINT32_MAX)
            d->shared_offs[k] = dynamic;
    if (!d->o->observed || !(d->kc->arrays = wg_arena_alloc(d->a, (d->nshared + 1) * sizeof *d->kc->arrays)))
        return;
    for (uint32_t k = 0; k < d->nshared; k++) {
        const char *name = wg_demangle(d->a, d->shared_syms[k]->name), *tail = name ? name : "?";
        for (const char *c = tail; (c = strstr(c, "::")); )
            tail = c += 2;
        d->kc->arrays[d->kc->narrays++] = (struct wg_array){tail, d->shared_offs[k], d->shared_syms[k]->bytes,
                                                            d->shared_syms[k]->bytes == 0};
    }
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
    bool ok = wg_decode_function(&d, entry) && discover(&d);
    if (ok)
        place_shared(&d);
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
