/* patterns.h - keeps, per site, how the lanes of block 0's accesses to shared memory lay, so that other layouts of an array
 * can be tried on them later. Other blocks pay one comparison. */
#ifndef WG_EXEC_PATTERNS_H
#define WG_EXEC_PATTERNS_H
#include "exec/warp.h"

enum { WG_PATTERNS_MAX = 128, WG_PATTERN_SLOTS = 256 };
struct wg_pattern_table {
    struct wg_patterns of;
    struct wg_pattern *v;
    uint32_t cap;
    uint8_t slot[WG_PATTERN_SLOTS]; /* index in v plus 1, by hash; 0: free */
};
static inline bool wg_patterns_wanted(const struct wg_warp *w)
{
    return __builtin_expect(w->blk->linear == 0, 0);
}
/* at: offsets in shared memory of the lanes in mask; cost: wavefronts. Out of memory: counted as left out. */
void wg_patterns_keep(struct wg_warp *w, uint32_t site, const uint32_t *at, uint32_t mask, unsigned bytes, uint32_t cost);
/* The same for lane l at base + stride * l. */
void wg_patterns_keep_affine(struct wg_warp *w, uint32_t site, uint32_t base, int32_t stride, uint32_t mask, unsigned bytes,
                             uint32_t cost);
void wg_patterns_free(struct wg_pattern_table **v, uint32_t nsites);
#endif
