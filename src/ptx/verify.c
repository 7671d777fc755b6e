/* verify.c - checks operands against the instruction tables. Where a mnemonic is fully known and its operands cannot
 * be right, the module is refused; where our knowledge may be incomplete, the instruction is marked instead
 * (wg_instr.extra) and refused when it is about to run. */
#include "ptx/parse.h"
#include <stdio.h>
#include <string.h>

struct check {
    struct wg_parser *p;
    const struct wg_function *f;
    struct wg_instr *in;
};

static unsigned reg_type(const struct check *c, int32_t reg) { return c->f->regs[reg].type; }

static bool is_pred(const struct check *c, const struct wg_operand *o)
{
    return o->kind == WG_OPERAND_REG && reg_type(c, o->reg) == WG_T_PRED;
}

static bool vector_ok(const struct wg_operand *o)
{
    if (o->nelems == 0)
        return false;
    for (uint32_t i = 0; i < o->nelems; i++)
        if (o->elems[i].kind != WG_OPERAND_REG && o->elems[i].kind != WG_OPERAND_IMM &&
            o->elems[i].kind != WG_OPERAND_SINK)
            return false;
    return true;
}

/* Can operand o stand where the shape has letter k? */
static bool fits(const struct check *c, const struct wg_operand *o, char k)
{
    switch (k) {
    case 'd':
        return (o->kind == WG_OPERAND_REG && !o->neg && (o->pair < 0 || c->in->op == WG_OP_LOP3)) ||
               (o->kind == WG_OPERAND_SINK && o->pair < 0) || (o->kind == WG_OPERAND_VEC && vector_ok(o));
    case 'p': return (o->kind == WG_OPERAND_REG && !o->neg) || o->kind == WG_OPERAND_SINK;
    case 'a':
        return (o->kind == WG_OPERAND_REG && o->pair < 0 && (!o->neg || is_pred(c, o) || c->in->op == WG_OP_VMAD)) || o->kind == WG_OPERAND_IMM ||
               o->kind == WG_OPERAND_SREG || o->kind == WG_OPERAND_SYMBOL ||
               (o->kind == WG_OPERAND_VEC && vector_ok(o));
    case 'q': return (is_pred(c, o) && o->pair < 0) || o->kind == WG_OPERAND_IMM;
    case 'm': return o->kind == WG_OPERAND_MEM;
    case 'l': return o->kind == WG_OPERAND_LABEL;
    default: return false;
    }
}

/* Operands i.. against the rest of a shape; optional letters may be left out. *reached is the furthest operand
 * tried. */
static bool match(const struct check *c, const char *shape, uint32_t i, uint32_t *reached)
{
    const struct wg_instr *in = c->in;
    if (i > *reached)
        *reached = i;
    if (!*shape)
        return i == in->nops ||
               (i + 1 == in->nops && strstr(in->mnemonic, "L2::cache_hint") && fits(c, &in->ops[i], 'a'));
    bool optional = shape[1] == '?';
    if (i < in->nops && fits(c, &in->ops[i], *shape) && match(c, shape + 1 + optional, i + 1, reached))
        return true;
    return optional && match(c, shape + 2, i, reached);
}

static bool register_fits(const struct check *c, const struct wg_operand *o, unsigned type)
{
    if (o->kind != WG_OPERAND_REG)
        return true;
    unsigned r = reg_type(c, o->reg);
    return (r == WG_T_PRED) == (type == WG_T_PRED) &&
           wg_type_bytes((enum wg_type)r) >= wg_type_bytes((enum wg_type)type);
}

/* The first operand whose register is too small for the instruction's type, or no predicate where one is needed (or the
 * reverse). -1: none. Operands whose type follows other rules (shift counts, wide products) are left alone. */
static int misfit(const struct check *c)
{
    const struct wg_instr *in = c->in;
    unsigned first = in->ntypes ? in->type[0] : WG_T_NONE, last = in->ntypes ? in->type[in->ntypes - 1] : WG_T_NONE;
    if (in->ntypes == 0 || in->nops < 2)
        return -1;
    switch (in->op) {
    case WG_OP_POPC: case WG_OP_CLZ: case WG_OP_BFIND: case WG_OP_FNS: /* 32-bit result of any source */
        return register_fits(c, &in->ops[1], last) ? -1 : 1;
    case WG_OP_SETP: case WG_OP_TESTP:
        if (!register_fits(c, &in->ops[0], WG_T_PRED))
            return 0;
        return register_fits(c, &in->ops[1], last) ? -1 : 1;
    case WG_OP_CVT: case WG_OP_MOV: case WG_OP_ABS: case WG_OP_NEG: case WG_OP_NOT: case WG_OP_ADD: case WG_OP_SUB:
    case WG_OP_AND: case WG_OP_OR: case WG_OP_XOR: case WG_OP_FMA: case WG_OP_DIV: case WG_OP_REM: case WG_OP_MIN:
    case WG_OP_MAX: case WG_OP_SHL: case WG_OP_SHR: case WG_OP_SELP: case WG_OP_LD: case WG_OP_MUL: case WG_OP_MAD:
        if (!register_fits(c, &in->ops[0], first))
            return 0;
        return in->op == WG_OP_LD || register_fits(c, &in->ops[1], last) ? -1 : 1;
    case WG_OP_ST: return register_fits(c, &in->ops[1], first) ? -1 : 1;
    default: return -1;
    }
}

static bool vector_width_ok(const struct check *c)
{
    const struct wg_instr *in = c->in;
    if (in->op == WG_OP_LD || in->op == WG_OP_ST || in->op == WG_OP_LDU) {
        const struct wg_operand *v = &in->ops[in->op == WG_OP_ST];
        uint32_t n = v->kind == WG_OPERAND_VEC ? v->nelems : 1;
        for (uint32_t i = 0; v->kind == WG_OPERAND_VEC && i < n; i++)
            if (!register_fits(c, &v->elems[i], in->type[0]))
                return false;
        return n == wg_vec_width(in->vec) || (v->kind == WG_OPERAND_SINK);
    }
    if (in->op != WG_OP_MOV)
        return true;
    for (int k = 0; k < 2; k++) {
        const struct wg_operand *v = &in->ops[k];
        unsigned bytes = 0;
        if (v->kind != WG_OPERAND_VEC)
            continue;
        unsigned each = wg_type_bytes(in->type[0]) / v->nelems;
        for (uint32_t i = 0; i < v->nelems; i++) {
            const struct wg_operand *e = &v->elems[i];
            bytes += e->kind == WG_OPERAND_REG ? wg_type_bytes((enum wg_type)reg_type(c, e->reg)) : each;
        }
        if (bytes != wg_type_bytes(in->type[0]) || in->ops[!k].kind == WG_OPERAND_VEC)
            return false;
    }
    return true;
}

/* What the mnemonic lacks, or NULL. */
static const char *missing(const struct wg_instr *in)
{
    enum wg_group g = wg_op_infos[in->op].group;
    bool integer = in->ntypes && strchr("US", wg_type_infos[in->type[0]].kind);
    switch (in->op) {
    case WG_OP_SETP: case WG_OP_SET:
        if (!in->cmp)
            return "a comparison, as in setp.lt";
        break;
    case WG_OP_ATOM: case WG_OP_RED:
        if (!in->atom)
            return "an operation, as in atom.add";
        break;
    case WG_OP_SHFL:
        if (!in->shfl)
            return "a mode, as in shfl.sync.down";
        break;
    case WG_OP_VOTE:
        if (!in->vote)
            return "a mode, as in vote.sync.ballot";
        break;
    case WG_OP_MUL: case WG_OP_MAD: case WG_OP_MUL24: case WG_OP_MAD24:
        if (integer && !in->half)
            return ".lo, .hi or .wide";
        break;
    default: break;
    }
    if (in->op == WG_OP_CVT && in->ntypes < 2)
        return "two types, as in cvt.f32.s32";
    bool typed = g == WG_GROUP_ALU || in->op == WG_OP_MOV || in->op == WG_OP_LD || in->op == WG_OP_ST ||
                 g == WG_GROUP_ATOM;
    return typed && in->ntypes == 0 ? "a type" : NULL;
}

static bool bad_address(const struct check *c, const struct wg_operand *o)
{
    unsigned t = o->kind == WG_OPERAND_MEM && o->reg >= 0 ? reg_type(c, o->reg) : WG_T_NONE;
    return t != WG_T_NONE && (t == WG_T_PRED || wg_type_bytes((enum wg_type)t) < 4);
}

static bool refuse(struct check *c, const char *fmt, unsigned number)
{
    const struct wg_instr *in = c->in;
    switch (wg_op_infos[in->op].group) {
    case WG_GROUP_ASYNC: case WG_GROUP_TENSOR: case WG_GROUP_TEX: case WG_GROUP_VIDEO: case WG_GROUP_SYNC: break;
    default:
        if (!in->extra) {
            char text[160];
            snprintf(text, sizeof text, fmt, number);
            return wg_parse_error(c->p, in->text, "%.60s: %s", in->mnemonic, text);
        }
    }
    struct wg_arena *a = &c->p->m->arena;
    c->in->extra = in->extra ? wg_arena_printf(a, "%s.operands", in->extra) : "operands";
    return c->in->extra || wg_parse_oom(c->p);
}

static bool instruction(struct check *c)
{
    struct wg_instr *in = c->in;
    const struct wg_op_info *info = &wg_op_infos[in->op];
    uint32_t reached = 0;
    if (in->op == WG_OP_UNKNOWN || in->op == WG_OP_CALL || info->group == WG_GROUP_TEX)
        return true;
    const char *lacks = in->extra ? NULL : missing(in);
    if (lacks)
        return wg_parse_error(c->p, in->text, "%.60s needs %s", in->mnemonic, lacks);
    if (!match(c, info->shape, 0, &reached))
        return reached >= in->nops ? refuse(c, "operands are missing after the first %u", in->nops)
                                   : refuse(c, "operand %u cannot stand there", reached + 1);
    for (uint32_t i = 0; i < in->nops; i++)
        if (bad_address(c, &in->ops[i]))
            return refuse(c, "the address in operand %u is no 32- or 64-bit register", i + 1);
    if (in->extra)
        return true;
    int bad = misfit(c);
    if (bad >= 0)
        return refuse(c, "the register in operand %u does not fit the instruction's type", (unsigned)bad + 1);
    return vector_width_ok(c) || refuse(c, "the {vector} does not match the type and .v%u", wg_vec_width(in->vec));
}

bool wg_verify(struct wg_parser *p)
{
    for (size_t i = 0; i < p->nfuncs; i++) {
        struct check c = {.p = p, .f = p->funcs[i]};
        for (uint32_t k = 0; k < c.f->ninstrs; k++) {
            c.in = &c.f->instrs[k];
            if (!instruction(&c))
                return false;
        }
    }
    return true;
}
