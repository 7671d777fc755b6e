/* worst.c - the copy that worst.h decides on. */
#include "exec/worst.h"
#include <string.h>

void wg_worst_keep(struct wg_warp *w, uint32_t site, uint64_t key, const uint64_t *at, uint32_t mask, unsigned bytes,
                   bool shared, uint32_t cost, uint32_t ideal)
{
    struct wg_worst *x = &w->wk->worst[site];
    uint64_t low = UINT64_MAX;
    for (uint32_t m = mask; m; m &= m - 1)
        low = at[__builtin_ctz(m)] < low ? at[__builtin_ctz(m)] : low;
    low = shared ? 0 : low & ~127ull; /* where the memory lies differs from run to run; its lines do not */
    w->site[site].worst = key;
    *x = (struct wg_worst){.block = w->blk->linear,
                           .warp = w->index,
                           .mask = mask,
                           .cost = cost,
                           .ideal = ideal,
                           .bytes = (uint16_t)bytes,
                           .shared = shared};
    for (unsigned l = 0; l < 32; l++)
        x->offset[l] = mask >> l & 1 ? at[l] - low : 0;
}
