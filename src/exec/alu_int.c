/* alu_int.c - handlers of the integer rows. */
#include "exec/alu_rows.h"
#include "exec/alu_int.h"
#include "exec/alu_int.def"

/* lop3 with a boolean operand: e = (d != 0) combined with g. */
#define LOP3_BOOL(sfx, on)                                                                                             \
    WG_HANDLER(lop3_bool_V##sfx)                                                                                       \
    {                                                                                                                  \
        u32 *d = WG_VEC(u32, i->d);                                                                                    \
        const u32 m = (on), lut = (u32)i->imm, g = WG_P(i->g) ^ WG_NEGATED(WG_ALU_BOOL_NEG);                           \
        WG_DECL_V(u32, a) WG_DECL_V(u32, b) WG_DECL_V(u32, c)                                                          \
        WG_MASK_OF(t, lop3(a_[l], b_[l], c_[l], lut) != 0);                                                            \
        WG_LANES_LOOP(l) WG_KEEP(m, u32, lop3(a_[l], b_[l], c_[l], lut));                                              \
        if (i->k1 & WG_ALU_PAIR)                                                                                       \
            WG_PUT_P(i->e, wg_alu_bool(t, g, i->k1), m);                                                               \
        WG_NEXT;                                                                                                       \
    }                                                                                                                  \
    WG_HANDLER(lop3_bool_s##sfx)                                                                                       \
    {                                                                                                                  \
        if (on) {                                                                                                      \
            const u32 g = WG_P(i->g) ^ WG_NEGATED(WG_ALU_BOOL_NEG);                                                    \
            const u32 r = lop3(*WG_AS(u32, i->a), *WG_AS(u32, i->b), *WG_AS(u32, i->c), (u32)i->imm);                  \
            *WG_AS(u64, i->d) = r;                                                                                     \
            if (i->k1 & WG_ALU_PAIR)                                                                                   \
                WG_P(i->e) = wg_alu_bool(r ? ~0u : 0, g, i->k1);                                                       \
        }                                                                                                              \
        WG_NEXT;                                                                                                       \
    }
LOP3_BOOL(, ~0u)
LOP3_BOOL(_m, WG_ON)
static const wg_handler h_lop3_bool[] = {lop3_bool_s, lop3_bool_s_m, lop3_bool_V, lop3_bool_V_m};

#include "exec/alu_table.h"
static const struct wg_alu_row rows[] = {
#include "exec/alu_int.def"
    {K(LOP3, B32) KF(WG_KF_BOOL), 0x1, h_lop3_bool, NULL},
};
extern const struct wg_alu_table WG_ISA_NAME(wg_alu_int);
const struct wg_alu_table WG_ISA_NAME(wg_alu_int) = {rows, sizeof rows / sizeof *rows};
