/* replay.h - plays the traces of a launch's blocks on a model of the whole device, in simulated time: which block runs
 * where and when, which access hits where, how long it all takes.
 *
 * The model, and its order, which is fixed: results do not depend on how many threads recorded the traces.
 *   blocks    start in order of their index, one on each SM in turn until none has room, then wherever one ends
 *   warps     of a block are dealt to the SM's schedulers in turn; a warp runs the instructions between two events at the
 *             pace its scheduler has left (slots), but no faster than their own latencies allow (alone); it waits for a
 *             loaded value where that is first used
 *   units     the load/store unit and its data stage (shared with shared memory), the SM's port to the L2 and memory are
 *             queues with a rate
 *   time      advances in steps of 512 cycles; within a step the SMs of one path to the L2 go first to last event, one
 *             path after the other */
#ifndef WG_MODEL_REPLAY_H
#define WG_MODEL_REPLAY_H
#include "model/cache.h"

struct wg_replay_launch {
    const struct wg_gpu *gpu;
    uint64_t nblocks;
    unsigned nwarps;        /* a block */
    unsigned blocks_per_sm; /* resident; at least 1 */
    uint64_t l1_bytes;
    uint32_t nsites;
    bool keep_l2;           /* caches as the launch before left them */
    int sample;             /* enum wg_trace level to use; -1: as the first block suggests */
    double clock_mhz;       /* of the SMs */
};

struct wg_replay_result {
    unsigned level;           /* one line in 1 << level was followed */
    uint64_t missing_blocks;  /* whose traces were not whole */
    double cycles;            /* from the first block's start to the last one's end */
    double sm_active_cycles;  /* mean over all SMs of the time with a block on them */
    double warp_cycles;       /* warps resident, summed over cycles and SMs */
    double slots;             /* issue slots of all warps */
    double stall_memory, stall_barrier, stall_pipe; /* warp cycles that waited for loads, barriers, and for units */
    double busy_issue, busy_lsu, busy_port, busy_dram; /* of each unit's capacity while SMs were active, 0..1 */
    struct wg_traffic total;  /* scaled */
    struct wg_traffic *site;  /* of nsites; scaled; owned by the replay */
};

struct wg_replay;
struct wg_replay *wg_replay_open(struct wg_caches *c, const struct wg_replay_launch *l); /* NULL: no memory */
/* Takes over a block's trace. Blocks may come in any order, one caller at a time. */
void wg_replay_put(struct wg_replay *r, struct wg_trace_block *b);
/* Plays on until a block is needed that has not come, or all have ended. */
void wg_replay_advance(struct wg_replay *r);
/* How finely lines are followed, once the first block has come; false before. */
bool wg_replay_level(const struct wg_replay *r, uint32_t *level);
/* No more blocks come: plays to the end, leaving out what is missing. */
void wg_replay_finish(struct wg_replay *r, struct wg_replay_result *out);
void wg_replay_close(struct wg_replay *r); /* NULL is fine */
#endif
