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
/* Whether bytes bytes at a[l] + disp lie in [lo, hi) and are aligned, for the lanes of `on`, which is not empty. */
WG_INLINE bool wg_range_v64(const uint64_t *a, uint32_t on, int64_t disp, uint64_t lo, uint64_t hi, unsigned bytes)
{
    uint64_t first = a[__builtin_ctz(on)], bad_ = hi < bytes;
    WG_LANES_LOOP(l)
    {
        uint64_t x = (WG_LANES_IN(on, l, 8) ? a[l] : first) + (uint64_t)disp;
        bad_ |= (x < lo ? 1u : 0u) | (x > hi - bytes ? 1u : 0u) | (x & (bytes - 1));
    }
    return bad_ == 0;
}
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
