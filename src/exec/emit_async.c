/* emit_async.c - decoding of cp.async and mbarrier. */
#include "exec/async.h"
#include "exec/emit.h"
#include <string.h>

static uint32_t vec(struct wg_emit *e, const struct wg_operand *o, enum wg_type t)
{
    return wg_emit_vec(e, wg_emit_natural(e, wg_emit_get(e, o, t), t)).off;
}
static struct wg_async_desc *begin(struct wg_emit *e)
{
    struct wg_async_desc *d = wg_arena_alloc(e->dec->a, sizeof *d);
    if (!d) {
        e->failed = true;
        return NULL;
    }
    d->op = e->in->op;
    d->counted = e->dec->o->counters;
    return d;
}
static void finish(struct wg_emit *e, struct wg_async_desc *d, enum wg_handler_id h)
{
    struct wg_inst *i = wg_emit_guarded(e, h);
    if (i)
        i->p = d;
}

static bool is_pred(const struct wg_emit *e, const struct wg_operand *o)
{
    return o->kind == WG_OPERAND_REG && e->fn->regs[o->reg].type == WG_T_PRED;
}

static void cp_async(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    struct wg_async_desc *d = begin(e);
    if (!d)
        return;
    uint32_t n = in->nops - (strstr(in->mnemonic, "L2::cache_hint") != NULL);
    const struct wg_operand *size = &in->ops[2];
    bool ok = !in->extra && n >= 3 && n <= 4 && size->kind == WG_OPERAND_IMM &&
              (size->imm == 4 || size->imm == 8 || size->imm == 16) && in->space == WG_SPACE_SHARED;
    if (!ok) {
        wg_emit_refuse(e, in->extra ? in->extra : "this form of cp.async");
        return;
    }
    d->bytes = (uint8_t)size->imm;
    if (!wg_emit_address(e, &in->ops[0], WG_SPACE_SHARED, &d->at[0]) ||
        !wg_emit_address(e, &in->ops[1], WG_SPACE_GLOBAL, &d->at[1]))
        return;
    if (n == 4 && is_pred(e, &in->ops[3]))
        d->ignore = wg_emit_get(e, &in->ops[3], WG_T_PRED).off;
    else if (n == 4)
        d->x = vec(e, &in->ops[3], WG_T_U32);
    finish(e, d, WG_H_CP_ASYNC);
}

static void mbarrier(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    struct wg_async_desc *d = begin(e);
    const struct wg_operand *o = in->ops;
    uint32_t n = in->nops;
    if (!d)
        return;
    d->noinc = in->flags & WG_FLAG(NOINC);
    d->parity = in->flags & WG_FLAG(PARITY);
    d->drop = in->op == WG_OP_MBARRIER_ARRIVE_DROP;
    d->expect = in->op == WG_OP_MBARRIER_ARRIVE_TX;
    const char *extra = in->extra;
    if (extra && d->drop && !strcmp(extra, "expect_tx")) {
        d->expect = true;
        extra = NULL;
    }
    if (extra || in->space == WG_SPACE_GLOBAL) {
        wg_emit_refuse(e, extra ? extra : "an mbarrier in global memory");
        return;
    }
    if (in->op == WG_OP_MBARRIER_PENDING) {
        d->d = wg_emit_dest(e, &o[0], WG_T_B32).off;
        d->state = vec(e, &o[1], WG_T_B64);
        finish(e, d, WG_H_MBARRIER);
        return;
    }
    bool waits = in->op == WG_OP_MBARRIER_TEST_WAIT || in->op == WG_OP_MBARRIER_TRY_WAIT;
    if (waits) {
        d->d = wg_emit_dest(e, &o[0], WG_T_PRED).off;
        o++, n--;
    } else if (n && o[0].kind != WG_OPERAND_MEM) {
        d->d = o[0].kind == WG_OPERAND_SINK ? 0 : wg_emit_dest(e, &o[0], WG_T_B64).off;
        o++, n--;
    }
    if (!n || !wg_emit_address(e, &o[0], in->space, &d->at[0]))
        return;
    if (waits && !d->parity)
        d->state = vec(e, &o[1], WG_T_B64);
    else if (n > 1)
        d->x = vec(e, &o[1], WG_T_U32);
    if (waits)
        finish(e, d, WG_H_MBARRIER_WAIT);
    else
        finish(e, d, WG_H_MBARRIER);
}

void wg_emit_async(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    struct wg_inst *i;
    switch (in->op) {
    case WG_OP_CP_ASYNC: cp_async(e); return;
    case WG_OP_CP_ASYNC_COMMIT: wg_emit_guarded(e, WG_H_CP_COMMIT); return;
    case WG_OP_CP_ASYNC_WAIT:
        if (in->ops[0].kind != WG_OPERAND_IMM) {
            wg_emit_refuse(e, "a number of groups that is no constant");
            return;
        }
        i = wg_emit_guarded(e, WG_H_CP_WAIT);
        if (i)
            i->imm = in->ops[0].imm;
        return;
    case WG_OP_CP_ASYNC_WAIT_ALL:
        i = wg_emit_guarded(e, WG_H_CP_WAIT);
        if (i)
            i->imm = -1;
        return;
    case WG_OP_CP_BULK: case WG_OP_CP_BULK_TENSOR: case WG_OP_CP_REDUCE_BULK: case WG_OP_CP_REDUCE_TENSOR:
    case WG_OP_CP_BULK_COMMIT: case WG_OP_CP_BULK_WAIT: case WG_OP_CP_BULK_PREFETCH: case WG_OP_ST_ASYNC:
    case WG_OP_RED_ASYNC:
        wg_emit_bulk(e);
        return;
    default: mbarrier(e); return;
    }
}
