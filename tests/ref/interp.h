/* interp.h - runs a parsed kernel one thread at a time: the slow, obvious machine that the engine is compared with. */
#ifndef REF_INTERP_H
#define REF_INTERP_H
#include "ptx/module.h"
#include "ref.h"

/* Memory that a kernel may touch: device address, size in bytes, where it lies. */
struct ref_region {
    uint64_t addr, bytes;
    uint8_t *host;
};
struct ref_launch {
    unsigned grid[3], block[3];
    uint64_t shared_bytes; /* dynamic */
    const uint8_t *params; /* parameter block, param_bytes of the entry */
    const struct ref_region *regions;
    unsigned nregions;
    bool *two_nans;     /* set when a double operation met several NaNs: which one it passes on is not promised */
    uint64_t max_steps; /* per thread, against endless loops */
};
/* Threads run in order of their number, each until a barrier, a cross-lane operation or its end. What it covers: group
 * ALU, CVT, VIDEO, mov, ld and st of all spaces and vector widths, red and atom, shfl, vote, match, redux, activemask
 * and elect (all lanes that have not ended take part), bar.sync and barrier.sync of the whole block, bra, brx.idx, call
 * of a known function, ret, exit, cvta. False after a message in err: outside that, or the kernel went wrong. */
bool ref_interp(const struct wg_ptx_module *m, const struct wg_function *entry, const struct ref_launch *l, char *err,
                size_t n);
#endif
