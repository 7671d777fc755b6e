/* emit_alu.c - decoding of arithmetic, conversions and moves: operand classes, containers, affine forms. */
#include "exec/alu.h"
#include "exec/emit.h"
#include <string.h>

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
    case WG_OP_CVT_PACK:
        return WG_T_B32;
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

/* setp of an affine 32-bit value and a uniform one: true if it was that, and is done. */
static bool setp_affine(struct wg_emit *e, const struct wg_val *to, bool masked)
{
    const struct wg_instr *in = e->in;
    const enum wg_type t = in->ntypes ? (enum wg_type)in->type[0] : WG_T_B32;
    if (in->op != WG_OP_SETP || e->wide || in->nops != 3 || in->boolop || to->cls != WG_CLASS_P ||
        in->ops[0].pair >= 0 || wg_type_bytes(t) != 4 || strchr("FP", wg_type_infos[t].kind))
        return false;
    struct wg_val v[2];
    for (unsigned k = 0; k < 2; k++) {
        const struct wg_operand *o = &in->ops[k + 1];
        if (o->neg || (o->kind != WG_OPERAND_REG && o->kind != WG_OPERAND_IMM && o->kind != WG_OPERAND_SREG))
            return false;
        v[k] = wg_emit_get(e, o, t);
        if (v[k].bytes != 4)
            return false;
    }
    const bool swap = v[0].cls == WG_CLASS_S;
    if (v[swap].cls != WG_CLASS_A || v[!swap].cls != WG_CLASS_S)
        return false;
    const unsigned of = wg_alu_relations(wg_alu_plain_cmp((enum wg_cmp)in->cmp));
    struct wg_inst *i = wg_emit_h(e, WG_H_A_SETP);
    if (!i)
        return true;
    wg_emit_guard(e, i);
    i->d = to->off;
    i->a = v[swap].off;
    i->b = v[!swap].off;
    i->k1 = (uint8_t)((of & WG_REL_EQ) | (of & WG_REL_LT ? (swap ? WG_REL_GT : WG_REL_LT) : 0) |
                      (of & WG_REL_GT ? (swap ? WG_REL_LT : WG_REL_GT) : 0));
    i->k2 = (uint8_t)((wg_type_infos[t].kind == 'S' && !(in->cmp >= WG_CMP_LO && in->cmp <= WG_CMP_HS)) | masked << 1);
    return true;
}

/* Anything behind wg_alu_select. */
void wg_emit_alu(struct wg_emit *e)
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
    if (setp_affine(e, &to, wg_emit_masked(e, to.reg) || in->guard >= 0))
        return;
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
        struct wg_operand plain = *o;
        plain.neg = false; /* the handler inverts by itself */
        struct wg_val v = wg_emit_get(e, &plain, t);
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

/* mov.b128 between registers, or to and from two halves. */
static void move128(struct wg_emit *e)
{
    const struct wg_operand *d = &e->in->ops[0], *s = &e->in->ops[1];
    if ((d->kind == WG_OPERAND_VEC && d->nelems != 2) || (s->kind == WG_OPERAND_VEC && s->nelems != 2) ||
        (s->kind != WG_OPERAND_VEC && s->kind != WG_OPERAND_REG)) {
        wg_emit_refuse(e, "this move of 128 bits");
        return;
    }
    struct wg_val from[2]; /* both are read before one is written */
    for (unsigned k = 0; k < 2; k++)
        from[k] = s->kind == WG_OPERAND_VEC
                      ? wg_emit_vec(e, wg_emit_natural(e, wg_emit_get(e, &s->elems[k], WG_T_B64), WG_T_B64))
                      : wg_emit_half(wg_emit_get(e, s, WG_T_B128), k);
    for (unsigned k = 0; k < 2; k++) {
        const struct wg_operand *o = d->kind == WG_OPERAND_VEC ? &d->elems[k] : d;
        if (o->kind == WG_OPERAND_SINK)
            continue;
        struct wg_val to = d->kind == WG_OPERAND_VEC ? wg_emit_dest(e, o, WG_T_B64)
                                                     : wg_emit_half(wg_emit_dest(e, o, WG_T_B128), k);
        wg_emit_move(e, to, from[k], wg_emit_masked(e, o->reg));
    }
}

/* mov with a {vector} on one side, or of a special register, an address or an immediate. */
void wg_emit_mov(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    const struct wg_operand *d = &in->ops[0], *s = &in->ops[1];
    enum wg_type t = (enum wg_type)in->type[0];
    if (t == WG_T_B128) {
        move128(e);
        return;
    }
    if (d->kind == WG_OPERAND_VEC || s->kind == WG_OPERAND_VEC) {
        const struct wg_operand *list = d->kind == WG_OPERAND_VEC ? d : s;
        struct wg_pack_desc *p = wg_arena_alloc(e->dec->a, sizeof *p);
        bool unpack = d->kind == WG_OPERAND_VEC, scalar = !e->wide;
        if (!p || list->nelems > 8) {
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
    if (s->kind == WG_OPERAND_REG) {
        wg_emit_alu(e);
        return;
    }
    struct wg_val to = wg_emit_dest(e, d, t), v = wg_emit_get(e, s, t);
    if (v.cls != WG_CLASS_A || to.cls != WG_CLASS_A)
        if (v.cls != WG_CLASS_P && v.bytes != to.bytes)
            v = wg_emit_natural(e, v, to.bytes == 8 ? WG_T_B64 : to.bytes == 4 ? WG_T_B32 : WG_T_B16);
    wg_emit_move(e, to, v, wg_emit_masked(e, to.reg));
}

void wg_emit_cvta(struct wg_emit *e)
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

void wg_emit_isspacep(struct wg_emit *e)
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


/* Registers of one size, lane by lane: what a thread takes is its own. */
void wg_emit_stack(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    bool restore = in->op == WG_OP_STACKRESTORE;
    enum wg_type t = in->ntypes ? (enum wg_type)in->type[0] : WG_T_U64;
    struct wg_val to = {0}, a = {0};
    int64_t align = 8; /* PTX ISA, alloca */
    if (in->nops > 2)
        align = in->ops[2].kind == WG_OPERAND_IMM ? in->ops[2].imm : 0;
    if (!restore)
        to = wg_emit_dest(e, &in->ops[0], t);
    if (in->op != WG_OP_STACKSAVE)
        a = wg_emit_vec(e, wg_emit_natural(e, wg_emit_get(e, &in->ops[restore ? 0 : 1], t), t));
    if (in->extra || align <= 0 || align & (align - 1) || align > 1 << 20 ||
        (!restore && (to.bytes != wg_container(t) || to.cls != WG_CLASS_V)) || wg_container(t) < 4) {
        wg_emit_refuse(e, in->extra ? in->extra : "this form of stack operation");
        return;
    }
    struct wg_inst *i = wg_emit_guarded(e, restore                       ? WG_H_STACKRESTORE
                                           : in->op == WG_OP_STACKSAVE ? WG_H_STACKSAVE
                                                                       : WG_H_ALLOCA);
    if (!i)
        return;
    i->d = to.off;
    i->a = a.off;
    i->bytes = (uint8_t)wg_container(t);
    i->imm = align;
}
