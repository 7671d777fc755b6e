/* alu_rare.c - handlers shared by the rare rows, and the long ends of setp and set. */
#include "exec/alu_rows.h"

WG_HANDLER(rare_v)
{
    ((wg_alu_body)(uintptr_t)i->p)(i, R);
    WG_NEXT;
}
WG_HANDLER(rare_s) { return rare_v(w, i, R); }
/* Saves the destination, lets the body write all lanes, and puts back those that are off. A body may write the
 * predicate of i->e too; it does its own masking. */
#define RARE_MASKED(T)                                                                                                 \
    T old[WG_LANES] __attribute__((aligned(64)));                                                                      \
    T *d = WG_VEC(T, i->d);                                                                                            \
    WG_LANES_LOOP(l) old[l] = d[l];                                                                                    \
    ((wg_alu_body)(uintptr_t)i->p)(i, R);                                                                              \
    WG_LANES_LOOP(l) WG_KEEP(~m, T, old[l])
WG_HANDLER(rare_v_m)
{
    const uint32_t m = WG_ON;
    if (WG_ALU_FULL(m)) {
        ((wg_alu_body)(uintptr_t)i->p)(i, R);
    } else if (i->k2 == 8) {
        RARE_MASKED(uint64_t);
    } else if (i->k2 == 4) {
        RARE_MASKED(uint32_t);
    } else {
        RARE_MASKED(uint16_t);
    }
    WG_NEXT;
}
WG_HANDLER(rare_s_m)
{
    if (WG_ON)
        ((wg_alu_body)(uintptr_t)i->p)(i, R);
    WG_NEXT;
}

extern const struct wg_alu_table WG_ISA_NAME(wg_alu_int), WG_ISA_NAME(wg_alu_move), WG_ISA_NAME(wg_alu_float),
    WG_ISA_NAME(wg_alu_half), WG_ISA_NAME(wg_alu_cvt);
extern const struct wg_alu_rare WG_ISA_NAME(wg_alu_video);
extern const struct wg_alu_tables WG_ISA_NAME(wg_alu_tables);
const struct wg_alu_tables WG_ISA_NAME(wg_alu_tables) = {
    .table = {&WG_ISA_NAME(wg_alu_int), &WG_ISA_NAME(wg_alu_move), &WG_ISA_NAME(wg_alu_float),
              &WG_ISA_NAME(wg_alu_half), &WG_ISA_NAME(wg_alu_cvt)},
    .video = &WG_ISA_NAME(wg_alu_video),
    .rare = {.v = {rare_v, rare_v_m}, .s = {rare_s, rare_s_m}},
};

void WG_ISA_NAME(wg_alu_setp)(const struct wg_inst *i, char *R, uint32_t t, uint32_t u, uint32_t on)
{
    const uint32_t g = WG_P(i->g) ^ WG_NEGATED(WG_ALU_BOOL_NEG);
    if (i->k1 & WG_ALU_PAIR)
        WG_PUT_P(i->e, wg_alu_bool(u, g, i->k1), on);
    WG_PUT_P(i->d, wg_alu_bool(t, g, i->k1), on);
}

/* k2: bytes of a result lane; imm: the value for true, its low half ruled by t and its high half by u. */
void WG_ISA_NAME(wg_alu_set)(const struct wg_inst *i, char *R, uint32_t t, uint32_t u, uint32_t on)
{
    const uint32_t g = WG_P(i->g) ^ WG_NEGATED(WG_ALU_BOOL_NEG), y = (uint32_t)i->imm;
    t = wg_alu_bool(t, g, i->k1);
    u = wg_alu_bool(u, g, i->k1);
    if (i->k2 == 2) {
        uint16_t *d = WG_VEC(uint16_t, i->d);
        WG_LANES_LOOP(l) WG_KEEP(on, uint16_t, (uint16_t)(WG_LANES_IN(t, l, 4) ? y : 0));
    } else {
        uint32_t *d = WG_VEC(uint32_t, i->d);
        WG_LANES_LOOP(l)
        WG_KEEP(on, uint32_t, (WG_LANES_IN(t, l, 4) ? y & 0xffff : 0) | (WG_LANES_IN(u, l, 4) ? y & 0xffff0000 : 0));
    }
}

void WG_ISA_NAME(wg_alu_set_s)(const struct wg_inst *i, char *R, uint32_t t, uint32_t u, uint32_t on)
{
    const uint32_t g = WG_P(i->g) ^ WG_NEGATED(WG_ALU_BOOL_NEG);
    const uint32_t y = i->k2 == 2 ? (uint32_t)i->imm & 0xffff : (uint32_t)i->imm;
    if (on)
        *WG_AS(uint64_t, i->d) =
            (wg_alu_bool(t, g, i->k1) & y & 0xffff) | (wg_alu_bool(u, g, i->k1) & y & 0xffff0000);
}
