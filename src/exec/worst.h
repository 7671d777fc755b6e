/* worst.h - keeps, per site, the lanes' addresses of the access that wasted most, for pictures of it. */
#ifndef WG_EXEC_WORST_H
#define WG_EXEC_WORST_H
#include "exec/warp.h"

/* Called with an access that costs more than its ideal. Ties go to the lowest block, so that the choice does not depend
 * on which worker ran it; within a block the first. at: of 32 lanes, device addresses or offsets in shared memory. */
void wg_worst_keep(struct wg_warp *w, uint32_t site, uint64_t key, const uint64_t *at, uint32_t mask, unsigned bytes,
                   bool shared, uint32_t cost, uint32_t ideal);

static inline uint64_t wg_worst_key(const struct wg_warp *w, uint32_t cost, uint32_t ideal)
{
    return (uint64_t)(cost - ideal) << 48 | (0xffffffffffffull - (w->blk->linear & 0xffffffffffffull));
}
/* Cheap for what is no worse than what is kept: one comparison. */
static inline void wg_worst_see(struct wg_warp *w, uint32_t site, const uint64_t *at, uint32_t mask, unsigned bytes,
                                bool shared, uint32_t cost, uint32_t ideal)
{
    if (cost <= ideal)
        return;
    uint64_t key = wg_worst_key(w, cost, ideal);
    if (__builtin_expect(key > w->site[site].worst, 0))
        wg_worst_keep(w, site, key, at, mask, bytes, shared, cost, ideal);
}
/* The same for lane l at base + stride * l, and for offsets of 32 bits. */
static inline void wg_worst_see_affine(struct wg_warp *w, uint32_t site, uint64_t base, int64_t stride, uint32_t mask,
                                       unsigned bytes, bool shared, uint32_t cost, uint32_t ideal)
{
    if (cost <= ideal || wg_worst_key(w, cost, ideal) <= w->site[site].worst)
        return;
    uint64_t at[WG_LANES];
    for (unsigned l = 0; l < WG_LANES; l++)
        at[l] = shared ? (uint32_t)(base + (uint64_t)stride * l) : base + (uint64_t)stride * l;
    wg_worst_keep(w, site, wg_worst_key(w, cost, ideal), at, mask, bytes, shared, cost, ideal);
}
static inline void wg_worst_see32(struct wg_warp *w, uint32_t site, const uint32_t *off, uint32_t mask, unsigned bytes,
                                  uint32_t cost, uint32_t ideal)
{
    if (cost <= ideal || wg_worst_key(w, cost, ideal) <= w->site[site].worst)
        return;
    uint64_t at[WG_LANES];
    for (unsigned l = 0; l < WG_LANES; l++)
        at[l] = off[l];
    wg_worst_keep(w, site, wg_worst_key(w, cost, ideal), at, mask, bytes, true, cost, ideal);
}
#endif
