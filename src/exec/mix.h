/* mix.h - what a basic block costs an SM: slots of its scheduler, and cycles when nothing else runs. Estimated from PTX.
 *
 * The machine code is not there, so rules stand in for ptxas: parameters, moves and address conversions are free, a
 * product that an addition takes up is one instruction, 64-bit integer work is two, divisions and roots are short
 * sequences. Rates and latencies are the unit's in costs.def. */
#ifndef WG_EXEC_MIX_H
#define WG_EXEC_MIX_H
#include "exec/cfg.h"
#include "ptx/merge.h"

struct wg_mix {
    uint32_t slots;  /* of one scheduler: its instructions, or the cycles of its busiest unit if these are more */
    uint32_t alone;  /* cycles of a warp that has the scheduler to itself, device memory answering at once */
};
/* Blocks of f: mix[g->nbb], use[f->ninstrs]: slots between a load or atomic and the first use of its value (255: later
 * than that). merge: may be NULL. false: no memory. */
bool wg_mix_analyse(const struct wg_function *f, const struct wg_cfg *g, const struct wg_merge *merge, struct wg_arena *a,
                    struct wg_mix *mix, uint8_t *use);
#endif
