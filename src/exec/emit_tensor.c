/* emit_tensor.c - decoding of matrix instructions: shapes, types, fragments. */
#include "exec/async.h"
#include "exec/emit.h"
#include <string.h>

static uint32_t count_of(const struct wg_operand *o) { return o->kind == WG_OPERAND_VEC ? o->nelems : 1; }
static const struct wg_operand *element(const struct wg_operand *o, uint32_t k)
{
    return o->kind == WG_OPERAND_VEC ? &o->elems[k] : o;
}

/* Slots of the registers of a source, as vectors of `bytes` a lane. */
static uint32_t *sources(struct wg_emit *e, const struct wg_operand *o, unsigned bytes, uint8_t *n)
{
    enum wg_type t = bytes == 8 ? WG_T_B64 : WG_T_B32;
    *n = (uint8_t)count_of(o);
    uint32_t *s = wg_arena_alloc(e->dec->a, (*n + 1u) * sizeof *s);
    for (uint32_t k = 0; s && k < *n; k++)
        s[k] = wg_emit_vec(e, wg_emit_natural(e, wg_emit_get(e, element(o, k), t), t)).off;
    return s;
}
/* Slots of the registers of a destination; 0: not wanted. NULL after a refusal. */
static uint32_t *dests(struct wg_emit *e, const struct wg_operand *o, unsigned bytes, uint8_t *n)
{
    *n = (uint8_t)count_of(o);
    uint32_t *s = wg_arena_alloc(e->dec->a, (*n + 1u) * sizeof *s);
    for (uint32_t k = 0; s && k < *n; k++) {
        const struct wg_operand *x = element(o, k);
        if (x->kind == WG_OPERAND_SINK)
            continue;
        struct wg_val v = wg_emit_dest(e, x, bytes == 8 ? WG_T_B64 : WG_T_B32);
        if (v.bytes != bytes) {
            wg_emit_refuse(e, "a register of this size in a fragment");
            return NULL;
        }
        s[k] = v.off;
    }
    return s;
}

static bool sizes(struct wg_tensor_desc *t, unsigned shape)
{
    static const struct { uint8_t shape; uint16_t m, n, k; } all[] = {
        {WG_SHAPE_M8N8K4, 8, 8, 4}, {WG_SHAPE_M8N8K16, 8, 8, 16}, {WG_SHAPE_M8N8K32, 8, 8, 32},
        {WG_SHAPE_M8N8K128, 8, 8, 128}, {WG_SHAPE_M16N8K4, 16, 8, 4}, {WG_SHAPE_M16N8K8, 16, 8, 8},
        {WG_SHAPE_M16N8K16, 16, 8, 16}, {WG_SHAPE_M16N8K32, 16, 8, 32}, {WG_SHAPE_M16N8K64, 16, 8, 64},
        {WG_SHAPE_M16N8K128, 16, 8, 128}, {WG_SHAPE_M16N8K256, 16, 8, 256}, {WG_SHAPE_M16N16K16, 16, 16, 16},
        {WG_SHAPE_M32N8K16, 32, 8, 16}, {WG_SHAPE_M8N32K16, 8, 32, 16}, {WG_SHAPE_M16N16K8, 16, 16, 8}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k].shape == shape) {
            t->m = all[k].m;
            t->n = all[k].n;
            t->k = all[k].k;
            return true;
        }
    return false;
}
static unsigned bits_of(unsigned type)
{
    return type == WG_T_B1 ? 1 : type == WG_T_S4 || type == WG_T_U4 ? 4 : 8 * wg_type_bytes((enum wg_type)type);
}
/* The types that mma and wmma.mma multiply and add. */
static bool types_ok(const struct wg_tensor_desc *t)
{
    bool ints = t->td == WG_T_S32 && t->tc == WG_T_S32, floats = t->td == WG_T_F32 && t->tc == WG_T_F32;
    switch (t->ta) {
    case WG_T_F16:
        return t->tb == WG_T_F16 && (t->td == WG_T_F16 || t->td == WG_T_F32) && (t->tc == WG_T_F16 || t->tc == WG_T_F32);
    case WG_T_BF16: case WG_T_TF32: return t->tb == t->ta && floats;
    case WG_T_F64: return t->tb == WG_T_F64 && t->td == WG_T_F64 && t->tc == WG_T_F64 && t->n == 8;
    case WG_T_E4M3: case WG_T_E5M2:
        return (t->tb == WG_T_E4M3 || t->tb == WG_T_E5M2) && (t->td == WG_T_F16 || t->td == WG_T_F32) && t->tc == t->td;
    case WG_T_S8: case WG_T_U8: return (t->tb == WG_T_S8 || t->tb == WG_T_U8) && ints;
    case WG_T_S4: case WG_T_U4: return (t->tb == WG_T_S4 || t->tb == WG_T_U4) && ints;
    case WG_T_B1: return t->tb == WG_T_B1 && ints;
    default: return false;
    }
}
/* Registers of a fragment of rows by cols elements: accumulators, then operands. */
static unsigned regs_acc(unsigned rows, unsigned cols, unsigned type)
{
    unsigned bits = bits_of(type);
    return rows * cols * bits / (32 * (bits == 64 ? 64 : 32));
}
static unsigned regs_in(const struct wg_tensor_desc *t, unsigned rows, unsigned cols, unsigned type)
{
    if (type == WG_T_F16 && (t->op == WG_OP_WMMA_MMA || t->op == WG_OP_WMMA_LOAD_A || t->op == WG_OP_WMMA_LOAD_B))
        return 8; /* wmma's f16 operands fill 8 registers whatever their size */
    return regs_acc(rows, cols, type);
}

static struct wg_tensor_desc *begin(struct wg_emit *e)
{
    struct wg_tensor_desc *t = wg_arena_alloc(e->dec->a, sizeof *t);
    if (!t) {
        e->failed = true;
        return NULL;
    }
    t->op = (uint8_t)(e->in->op == WG_OP_MMA_SPO ? WG_OP_MMA_SP : e->in->op);
    t->counted = e->dec->o->counters;
    t->sat = e->in->flags & WG_FLAG(SATFINITE);
    t->use_and = e->in->boolop == WG_BOOL_AND;
    return t;
}
static void finish(struct wg_emit *e, struct wg_tensor_desc *t, enum wg_handler_id h)
{
    struct wg_inst *i = wg_emit_guarded(e, h);
    if (i)
        i->p = t;
}

static void matrix8(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    struct wg_tensor_desc *t = begin(e);
    if (!t)
        return;
    bool load = in->op == WG_OP_LDMATRIX;
    if (in->extra || in->shape != WG_SHAPE_M8N8 || !in->ntypes || in->type[0] != WG_T_B16 ||
        in->space == WG_SPACE_SHARED_CLUSTER) {
        wg_emit_refuse(e, in->extra ? in->extra : "this form of matrix load or store");
        return;
    }
    t->trans = in->flags & WG_FLAG(TRANS);
    if (in->op == WG_OP_MOVMATRIX) {
        t->a = sources(e, &in->ops[1], 4, &t->na);
        t->d = dests(e, &in->ops[0], 4, &t->nd);
        if (!t->a || !t->d)
            return;
        if (t->na != 1 || t->nd != 1 || !t->trans || !t->d[0])
            wg_emit_refuse(e, "this form of movmatrix");
        else
            finish(e, t, WG_H_MOVMATRIX);
        return;
    }
    if (!wg_emit_address(e, &in->ops[load], in->space, &t->at))
        return;
    unsigned want = in->count == WG_COUNT_X4 ? 4 : in->count == WG_COUNT_X2 ? 2 : 1;
    if (load)
        t->d = dests(e, &in->ops[0], 4, &t->nd);
    else
        t->a = sources(e, &in->ops[1], 4, &t->na);
    if (load ? !t->d : !t->a)
        return;
    if ((load ? t->nd : t->na) != want)
        wg_emit_refuse(e, "this number of registers for the matrices");
    else
        finish(e, t, load ? WG_H_LDMATRIX : WG_H_STMATRIX);
}

static void product(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    struct wg_tensor_desc *t = begin(e);
    if (!t)
        return;
    bool sparse = t->op == WG_OP_MMA_SP, wmma = in->op == WG_OP_WMMA_MMA;
    const char *extra = in->extra;
    if (in->ntypes == 4) {
        t->td = in->type[0];
        t->ta = in->type[1];
        t->tb = in->type[2];
        t->tc = in->type[3];
    } else if (wmma && in->ntypes == 2) {
        t->td = in->type[0];
        t->ta = t->tb = WG_T_F16;
        t->tc = in->type[1];
    }
    bool one_bit = t->ta == WG_T_B1;
    if (extra || !sizes(t, in->shape) || !types_ok(t) || in->nops < (sparse ? 6 : 4) ||
        (one_bit && in->boolop != WG_BOOL_AND && in->boolop != WG_BOOL_XOR && in->boolop != WG_BOOL_POPC) ||
        (in->round != WG_ROUND_NONE && in->round != WG_ROUND_RN)) {
        wg_emit_refuse(e, extra ? extra : "this matrix product");
        return;
    }
    unsigned bytes = t->ta == WG_T_F64 ? 8 : 4;
    t->a_col = in->layout[0] == WG_LAYOUT_COL;
    t->b_row = in->layout[1] == WG_LAYOUT_ROW;
    t->a = sources(e, &in->ops[1], bytes, &t->na);
    t->b = sources(e, &in->ops[2], bytes, &t->nb);
    t->c = sources(e, &in->ops[3], bytes, &t->nc);
    t->d = dests(e, &in->ops[0], bytes, &t->nd);
    if (!t->a || !t->b || !t->c || !t->d)
        return;
    bool volta = in->op == WG_OP_MMA && t->m == 8 && t->ta == WG_T_F16;
    unsigned stored = sparse ? t->k / 2 : t->k, depth_bits = t->k * bits_of(t->ta);
    bool fits = t->na == regs_in(t, t->m, stored, t->ta) && t->nb == regs_in(t, t->k, t->n, t->tb) &&
                t->nc == regs_acc(t->m, t->n, t->tc) && t->nd == regs_acc(t->m, t->n, t->td);
    if (volta) /* four products at once */
        fits = t->na == 2 && t->nb == 2 && t->nc == (t->tc == WG_T_F16 ? 4 : 8) && t->nd == (t->td == WG_T_F16 ? 4 : 8);
    else if (!wmma && (t->a_col || t->b_row))
        fits = false;
    if (!volta && t->ta != WG_T_F64 && (stored * bits_of(t->ta)) % 128)
        fits = false;
    if (depth_bits > 1024 || (t->ta != WG_T_B1 && t->k > 64))
        fits = false;
    if (sparse) {
        unsigned b = bits_of(t->ta);
        fits &= b == 8 || b == 16 || t->ta == WG_T_TF32;
        fits &= in->ops[5].kind == WG_OPERAND_IMM && (uint64_t)in->ops[5].imm < 4;
        t->selector = (uint8_t)in->ops[5].imm;
        t->meta = wg_emit_vec(e, wg_emit_get(e, &in->ops[4], WG_T_B32)).off;
        unsigned lanes = stored * (t->ta == WG_T_TF32 ? 4 : 2) / 16;
        fits &= lanes == 1 || (lanes == 2 && t->selector < 2) || (lanes == 4 && t->selector == 0);
    }
    if (!fits)
        wg_emit_refuse(e, "this matrix product");
    else
        finish(e, t, WG_H_MMA);
}

static void wmma_memory(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    struct wg_tensor_desc *t = begin(e);
    if (!t)
        return;
    bool store = in->op == WG_OP_WMMA_STORE, accum = store || in->op == WG_OP_WMMA_LOAD_C;
    const struct wg_operand *m = &in->ops[store ? 0 : 1], *r = &in->ops[store ? 1 : 0];
    if (in->extra || !in->ntypes || !sizes(t, in->shape) || in->space == WG_SPACE_SHARED_CLUSTER) {
        wg_emit_refuse(e, in->extra ? in->extra : "this form of matrix load or store");
        return;
    }
    t->ta = t->tb = in->type[0];
    t->a_col = in->layout[0] == WG_LAYOUT_COL;
    if (!wg_emit_address(e, m, in->space, &t->at))
        return;
    if (in->nops > 2) {
        struct wg_val v = wg_emit_natural(e, wg_emit_get(e, &in->ops[2], WG_T_U32), WG_T_U32);
        if (v.cls == WG_CLASS_A)
            v = wg_emit_vec(e, v);
        t->stride = v.off;
        t->stride_vec = v.cls == WG_CLASS_V;
    }
    unsigned bytes = t->ta == WG_T_F64 ? 8 : 4;
    if (store)
        t->a = sources(e, r, bytes, &t->na);
    else
        t->d = dests(e, r, bytes, &t->nd);
    if (store ? !t->a : !t->d)
        return;
    unsigned rows = in->op == WG_OP_WMMA_LOAD_B ? t->k : t->m, cols = in->op == WG_OP_WMMA_LOAD_A ? t->k : t->n;
    unsigned want = accum ? regs_acc(rows, cols, t->ta) : regs_in(t, rows, cols, t->ta);
    if (accum && t->ta != WG_T_F16 && t->ta != WG_T_F32 && t->ta != WG_T_S32 && t->ta != WG_T_F64)
        want = 0;
    if ((store ? t->na : t->nd) != want)
        wg_emit_refuse(e, "this form of matrix load or store");
    else
        finish(e, t, WG_H_WMMA_MEMORY);
}

void wg_emit_tensor(struct wg_emit *e)
{
    switch (e->in->op) {
    case WG_OP_LDMATRIX: case WG_OP_STMATRIX: case WG_OP_MOVMATRIX: matrix8(e); return;
    case WG_OP_MMA: case WG_OP_MMA_SP: case WG_OP_MMA_SPO: case WG_OP_WMMA_MMA: product(e); return;
    case WG_OP_WMMA_LOAD_A: case WG_OP_WMMA_LOAD_B: case WG_OP_WMMA_LOAD_C: case WG_OP_WMMA_STORE:
        wmma_memory(e);
        return;
    case WG_OP_WGMMA: wg_emit_wgmma(e); return;
    case WG_OP_WGMMA_FENCE: case WG_OP_WGMMA_COMMIT: case WG_OP_WGMMA_WAIT: return; /* products are done at once */
    default: wg_emit_refuse(e, "this operation");
    }
}
