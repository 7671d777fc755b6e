/* emit_wgmma.c - decoding of wgmma.mma_async: shapes, types, scales and transpositions. */
#include "exec/emit.h"
#include "exec/wgmma.h"
#include <stdio.h>
#include <string.h>

static bool types_ok(const struct wg_wgmma_desc *t)
{
    bool fp8 = (t->ta == WG_T_E4M3 || t->ta == WG_T_E5M2) && (t->tb == WG_T_E4M3 || t->tb == WG_T_E5M2);
    switch (t->ta) {
    case WG_T_F16:
        return t->tb == t->ta && (t->td == WG_T_F16 || t->td == WG_T_F32) && t->k == 16;
    case WG_T_BF16:
        return t->tb == t->ta && t->td == WG_T_F32 && t->k == 16;
    case WG_T_TF32:
        return t->tb == t->ta && t->td == WG_T_F32 && t->k == 8;
    case WG_T_E4M3:
    case WG_T_E5M2:
        return fp8 && (t->td == WG_T_F16 || t->td == WG_T_F32) && t->k == 32;
    case WG_T_S8:
    case WG_T_U8:
        return (t->tb == WG_T_S8 || t->tb == WG_T_U8) && t->td == WG_T_S32 && t->k == 32;
    case WG_T_B1:
        return t->tb == t->ta && t->td == WG_T_S32 && t->k == 256;
    default:
        return false;
    }
}

/* An immediate that must be one of two values; *second: it is the second. */
static bool choice(const struct wg_operand *o, int64_t first, int64_t second, bool *is_second)
{
    *is_second = o->imm == second;
    return o->kind == WG_OPERAND_IMM && (o->imm == first || o->imm == second);
}

/* What follows the accumulator, or why it cannot be. */
static const char *operands(struct wg_emit *e, struct wg_wgmma_desc *t)
{
    const struct wg_instr *in = e->in;
    const struct wg_operand *a = &in->ops[1];
    bool is_float = wg_type_infos[t->ta].kind == 'F', is16 = t->ta == WG_T_F16 || t->ta == WG_T_BF16;
    t->a_regs = a->kind == WG_OPERAND_VEC;
    uint32_t trans = is16 ? (t->a_regs ? 1 : 2) : 0, want = 4 + (is_float ? 2 : 0) + trans;
    if (in->nops != want || (t->a_regs && a->nelems != 4))
        return "this number of operands of wgmma";
    if (is_float && (!choice(&in->ops[4], 1, -1, &t->a_neg) || !choice(&in->ops[5], 1, -1, &t->b_neg)))
        return "this scale of wgmma";
    if (trans == 2 && !choice(&in->ops[6], 0, 1, &t->a_trans))
        return "this transposition of wgmma";
    if (trans && !choice(&in->ops[5 + trans], 0, 1, &t->b_trans))
        return "this transposition of wgmma";
    for (unsigned k = 0; k < (t->a_regs ? 4 : 1); k++) {
        enum wg_type ty = t->a_regs ? WG_T_B32 : WG_T_B64;
        const struct wg_operand *o = t->a_regs ? &a->elems[k] : a;
        t->a[k] = wg_emit_vec(e, wg_emit_natural(e, wg_emit_get(e, o, ty), ty)).off;
    }
    t->b = wg_emit_vec(e, wg_emit_natural(e, wg_emit_get(e, &in->ops[2], WG_T_B64), WG_T_B64)).off;
    struct wg_val p = wg_emit_get(e, &in->ops[3], WG_T_PRED);
    t->add = p.off;
    return p.cls == WG_CLASS_P ? NULL : "a scale of wgmma's accumulator that is no predicate";
}

void wg_emit_wgmma(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    unsigned m, n, k;
    char more;
    struct wg_wgmma_desc *t = wg_arena_alloc(e->dec->a, sizeof *t);
    if (!t) {
        e->failed = true;
        return;
    }
    if (!in->extra || sscanf(in->extra, "m%un%uk%u%c", &m, &n, &k, &more) != 3 || in->ntypes != 3 || m != 64 || n < 8 ||
        n > 256 || n % 8) {
        wg_emit_refuse(e, in->extra ? in->extra : "this form of wgmma");
        return;
    }
    t->td = in->type[0];
    t->ta = in->type[1];
    t->tb = in->type[2];
    t->n = (uint16_t)n;
    t->k = (uint16_t)k;
    t->nd = (uint16_t)(t->td == WG_T_F16 ? n / 4 : n / 2);
    t->sat = in->flags & WG_FLAG(SATFINITE);
    const struct wg_operand *d = &in->ops[0];
    if (!types_ok(t) || d->kind != WG_OPERAND_VEC || d->nelems != t->nd ||
        (t->ta == WG_T_B1 && in->boolop != WG_BOOL_AND)) {
        wg_emit_refuse(e, "this form of wgmma");
        return;
    }
    for (unsigned x = 0; x < t->nd; x++) {
        if (d->elems[x].kind == WG_OPERAND_SINK)
            continue;
        struct wg_val v = wg_emit_dest(e, &d->elems[x], WG_T_B32);
        if (v.bytes != 4 || v.cls != WG_CLASS_V) {
            wg_emit_refuse(e, "a register of this size in a fragment");
            return;
        }
        t->d[x] = v.off;
    }
    const char *why = operands(e, t);
    if (why) {
        wg_emit_refuse(e, why);
        return;
    }
    struct wg_inst *i = wg_emit_guarded(e, WG_H_WGMMA);
    if (i)
        i->p = t;
}
