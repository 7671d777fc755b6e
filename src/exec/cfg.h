/* cfg.h - basic blocks, immediate post-dominators and liveness of one PTX function. */
#ifndef WG_EXEC_CFG_H
#define WG_EXEC_CFG_H
#include "ptx/module.h"

struct wg_bb {
    uint32_t first, end;  /* instructions [first, end) */
    uint32_t nsucc, *succ;
    uint32_t ipdom;       /* block index; nbb: the virtual exit */
    uint64_t *live_in;    /* bit set over registers */
};
struct wg_cfg {
    uint32_t nbb, *bb_of; /* bb_of: instruction -> block */
    struct wg_bb *bbs;
    uint32_t words;       /* of a live set */
};
/* Everything lives in a. false: out of memory. */
bool wg_cfg_build(const struct wg_function *f, struct wg_arena *a, struct wg_cfg *out);
/* Marks (one byte per block) what is reachable from the successors of b before its immediate post-dominator. */
void wg_cfg_region(const struct wg_cfg *g, uint32_t b, uint8_t *mark, uint32_t *work);

/* Calls fn for each register an instruction reads or writes (guards, pairs, vectors, addresses, call lists included). */
typedef void (*wg_reg_visit)(void *ctx, int32_t reg, bool write);
void wg_instr_regs(const struct wg_instr *in, wg_reg_visit fn, void *ctx);
static inline bool wg_live(const uint64_t *set, int32_t reg) { return set[reg >> 6] >> (reg & 63) & 1; }
/* bra, brx, ret, exit, trap: ends a block. */
bool wg_ends_block(const struct wg_instr *in);
#endif
