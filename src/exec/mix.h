/* mix.h - what a basic block costs an SM: slots of its scheduler, and cycles when nothing else runs. Estimated from PTX.
 *
 * machine.h says how many instructions there are; which units they take is told by the PTX, and rules stand in for ptxas: parameters, moves and address conversions are free, a
 * product that an addition takes up is one instruction, 64-bit integer work is two, divisions and roots are short
 * sequences. Rates and latencies are the unit's in costs.def. */
#ifndef WG_EXEC_MIX_H
#define WG_EXEC_MIX_H
#include "exec/cfg.h"
#include "exec/machine.h"
#include "ptx/merge.h"

struct wg_mix {
    uint32_t slots;  /* of one scheduler: its instructions, or the cycles of its busiest unit if these are more */
    uint32_t alone;  /* cycles of a warp that has the scheduler to itself, device memory answering at once */
};
/* Blocks of f: mix[g->nbb]; at[f->ninstrs]: the part of its block's cost that comes before an instruction;
 * use[f->ninstrs]: slots between a load or atomic and the first use of its value (255: later than that). merge: may be NULL; machine: how many machine instructions there
 * are, and which blocks become guarded parts of others; its arrays may be NULL. false: no memory. */
bool wg_mix_analyse(const struct wg_function *f, const struct wg_cfg *g, const struct wg_merge *merge, struct wg_arena *a,
                    const struct wg_machine *machine, struct wg_mix *mix, struct wg_mix *at, uint8_t *use);
#endif
