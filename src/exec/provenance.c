/* provenance.c - which shared array each address register of a function is computed from, without following control
 * flow: one pass over all definitions until nothing changes. */
#include "exec/emit.h"

enum { UNSET = -3, MANY = -2, NONE = -1 };

static int32_t symbol_index(const struct wg_decoder *d, const struct wg_symbol *s)
{
    for (uint32_t k = 0; s && k < d->shared.n; k++)
        if (d->shared.v[k].sym == s)
            return (int32_t)k;
    return NONE;
}

/* Of two values that are added: an offset changes nothing. */
static int32_t sum(int32_t a, int32_t b)
{
    if (a == MANY || b == MANY || (a >= 0 && b >= 0 && a != b))
        return MANY;
    if (a >= 0 || b >= 0)
        return a >= 0 ? a : b;
    return a == UNSET || b == UNSET ? UNSET : NONE;
}
/* Of two values that one register takes in turn. */
static int32_t either(int32_t a, int32_t b) { return a == UNSET ? b : b == UNSET || a == b ? a : MANY; }

static int32_t of_operand(const struct wg_decoder *d, const struct wg_operand *o, const int32_t *reg)
{
    return o->kind == WG_OPERAND_REG ? reg[o->reg] : o->kind == WG_OPERAND_SYMBOL ? symbol_index(d, o->sym) : NONE;
}

static int32_t of_instr(const struct wg_decoder *d, const struct wg_instr *in, const int32_t *reg)
{
    switch (in->op) {
    case WG_OP_MOV: case WG_OP_CVTA: case WG_OP_CVT:
        return of_operand(d, &in->ops[1], reg);
    case WG_OP_ADD: case WG_OP_SUB: case WG_OP_OR:
        return sum(of_operand(d, &in->ops[1], reg), of_operand(d, &in->ops[2], reg));
    case WG_OP_SELP:
        return either(of_operand(d, &in->ops[1], reg), of_operand(d, &in->ops[2], reg));
    case WG_OP_MAD: case WG_OP_MAD24:
        return of_operand(d, &in->ops[3], reg);
    default:
        return NONE;
    }
}

struct defs { int32_t *reg, value; bool changed; };
static void define(void *ctx, int32_t reg, bool write)
{
    struct defs *x = ctx;
    if (!write)
        return;
    int32_t v = either(x->reg[reg], x->value);
    if (v != x->reg[reg]) {
        x->reg[reg] = v;
        x->changed = true;
    }
}

int32_t *wg_provenance(struct wg_decoder *d, const struct wg_function *f)
{
    struct defs x = {wg_arena_alloc(&d->scratch, (f->nregs + 1) * sizeof *x.reg), 0, true};
    if (!x.reg)
        return NULL;
    for (uint32_t r = 0; r < f->nregs; r++)
        x.reg[r] = UNSET;
    while (x.changed) {
        x.changed = false;
        for (uint32_t i = 0; i < f->ninstrs; i++) {
            x.value = of_instr(d, &f->instrs[i], x.reg);
            wg_instr_regs(&f->instrs[i], define, &x);
        }
    }
    for (uint32_t r = 0; r < f->nregs; r++)
        x.reg[r] = x.reg[r] >= 0 ? x.reg[r] : -1;
    return x.reg;
}

int32_t wg_provenance_of(const struct wg_decoder *d, const struct wg_operand *m, const int32_t *reg)
{
    if (m->sym && m->reg < 0)
        return symbol_index(d, m->sym);
    return m->reg >= 0 && reg ? reg[m->reg] : -1;
}
