/* alu.c - from an instruction to the handler of its row: normalises types and modifiers into a key. */
#include "exec/alu.h"

/* Types that an operation does not tell apart become one: B for bits, so add.u32 and add.s32 share a row. */
static enum wg_type bits_of(enum wg_type t)
{
    switch (t) {
    case WG_T_U16:
    case WG_T_S16:
        return WG_T_B16;
    case WG_T_U32:
    case WG_T_S32:
        return WG_T_B32;
    case WG_T_U64:
    case WG_T_S64:
        return WG_T_B64;
    default:
        return t;
    }
}

static uint64_t key_of(const struct wg_instr *in, struct wg_inst *i)
{
    enum wg_type t = in->type[0];
    uint64_t k = in->op;
    unsigned round = in->round;
    const bool is_float = wg_type_infos[t].kind == 'F';
    switch (in->op) {
    case WG_OP_MOV:
        t = t == WG_T_F32 ? WG_T_B32 : bits_of(t);
        break;
    case WG_OP_ADD:
    case WG_OP_MUL:
    case WG_OP_MAD:
    case WG_OP_FMA:
        if (is_float && !round)
            round = WG_ROUND_RN;
        t = bits_of(t);
        break;
    case WG_OP_SETP:
        if (in->cmp == WG_CMP_EQ || in->cmp == WG_CMP_NE)
            t = bits_of(t);
        i->k1 = (uint8_t)(in->boolop | (in->nops > 3 && in->ops[3].neg ? WG_ALU_BOOL_NEG : 0) |
                          (in->ops[0].pair >= 0 ? WG_ALU_PAIR : 0));
        break;
    default:
        return 0;
    }
    return k | (uint64_t)t << 8 | (uint64_t)round << 26 | (uint64_t)in->cmp << 30 | (uint64_t)in->half << 35;
}

wg_handler wg_alu_select(const struct wg_instr *in, struct wg_alu_form form, struct wg_inst *i)
{
    const struct wg_lanes_table *t = wg_lanes_best();
    const uint64_t key = key_of(in, i);
    for (int k = 0; k < WG_LANES_ALU_TABLES; k++)
        for (uint32_t r = 0; r < t->alu[k]->n; r++) {
            const struct wg_alu_row *row = &t->alu[k]->rows[r];
            if (row->key != key)
                continue;
            if (form.dst_scalar)
                return row->h[form.masked];
            if (!(row->mixes >> form.src_scalar & 1))
                return NULL;
            const unsigned rank = (unsigned)__builtin_popcount(row->mixes & ((1u << form.src_scalar) - 1));
            return row->h[2 + 2 * rank + form.masked];
        }
    return NULL;
}
