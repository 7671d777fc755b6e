/* mem.h - what the files of loads and stores share, per ISA level. */
#ifndef WG_EXEC_MEM_H
#define WG_EXEC_MEM_H
#include "exec/handlers.h"
#include "exec/lanes.h"

/* mem.c: the handlers that take whatever comes. */
extern const wg_handler WG_ISA_NAME(wg_mem_affine)[2][2][2][2]; /* [store][shared][8 bytes][counted] */
extern const wg_handler WG_ISA_NAME(wg_mem_same)[2][2];         /* [shared][counted] */

/* mem_full.c: the handler for d if d is of the commonest kind, or NULL. */
wg_handler WG_ISA_NAME(wg_mem_full)(const struct wg_mem_desc *d);
/* Joins loads with the instruction behind them that uses what they load, in n decoded instructions. */
void WG_ISA_NAME(wg_mem_fuse)(struct wg_inst *insts, uint32_t n);

/* alu_float.c: d = a * b + c in single precision, one factor uniform: [which factor]. */
extern const wg_handler WG_ISA_NAME(wg_alu_fma_by_one)[2];
/* A shared load that the machine code joins to others, by lanes that all load the same place: see wg_mem_desc.same. */
WG_INLINE void wg_count_same(struct wg_warp *w, const struct wg_inst *i)
{
    const struct wg_mem_desc *d = i->p;
    struct wg_site_count *c = &w->site[i->site];
    unsigned n = 1 + (d->again != 0);
    c->access += n;
    c->wavefronts += d->same;
    c->wavefronts_ideal += d->same;
    c->bytes += 32u * d->wide * n;
}
#endif
