/* cluster.h - the blocks of a thread block cluster: their barrier, and how one addresses another's shared memory.
 *
 * An address of shared::cluster is an offset in a block's shared memory with the block's rank plus one in bits 24 and
 * up; 0 there is the block that uses it, so that every address of shared::cta is one of shared::cluster too. */
#ifndef WG_EXEC_CLUSTER_H
#define WG_EXEC_CLUSTER_H
#include "exec/warp.h"

enum { WG_CLUSTER_MAX = 16 }; /* blocks: CUDA C++ Programming Guide, non-portable size of 9.0 */

struct wg_cluster {
    uint32_t n, done;  /* blocks; those that have exited */
    uint32_t arrived;  /* threads at the barrier's present phase */
    uint32_t phase;
    struct wg_block *block[WG_CLUSTER_MAX]; /* by rank */
};

/* Where threads that arrive at an mbarrier of another block, or at the cluster's barrier, leave word for the checks. */
enum { WG_CLUSTER_SYNCS = 1024, WG_CLUSTER_SYNC_AT = 256 };

/* The block that an offset of shared::cluster means, *at then being the offset there. NULL: none, or it has exited. */
static inline struct wg_block *wg_cluster_block(struct wg_block *b, uint64_t *at)
{
    uint64_t r = *at >> WG_CLUSTER_SHIFT;
    if (!r)
        return b;
    if (!b->cluster || r > b->cluster->n)
        return NULL;
    struct wg_block *t = b->cluster->block[r - 1];
    *at &= (1u << WG_CLUSTER_SHIFT) - 1;
    return t->gone ? NULL : t;
}
static inline uint32_t wg_cluster_rank_of(const struct wg_block *b, uint64_t at)
{
    uint32_t r = (uint32_t)(at >> WG_CLUSTER_SHIFT) & 0xff;
    return r ? r - 1 : b->cluster_rank;
}
static inline uint64_t wg_cluster_offset(const struct wg_block *b, uint64_t at, uint32_t rank)
{
    at &= (1u << WG_CLUSTER_SHIFT) - 1;
    return rank == b->cluster_rank ? at : at | (uint64_t)(rank + 1) << WG_CLUSTER_SHIFT;
}
/* Stops the launch: what `addr` means is no block of the cluster, or one that has exited. */
const struct wg_inst *wg_cluster_fault(struct wg_warp *w, const struct wg_inst *i, unsigned lane, uint64_t addr);
/* Starts the phase after the present one if all threads that are left have arrived. */
void wg_cluster_settle(struct wg_worker *k, struct wg_cluster *c);
#ifdef WG_ISA_SUFFIX
#include "exec/lanes.h"
#define wg_cluster_tell WG_ISA_NAME(wg_cluster_tell)
/* Tells the observer that lanes leave word at key, or look there. */
void wg_cluster_tell(struct wg_warp *w, const struct wg_inst *i, uint32_t lanes, uint32_t key, bool arrives);
#endif
#endif
