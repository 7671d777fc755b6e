/* merge.h - which memory accesses of the PTX ptxas turns into one wider access, or drops.
 *
 * A model, found by giving small kernels to ptxas 13.0 (sm_80, sm_90) and reading the width bits of its loads and
 * stores. Execution stays one PTX instruction at a time; counters charge the leader with the whole access and skip
 * the others.
 *
 * Loads (shared, local, generic): plain loads of 4- or 8-byte elements (scalar or vector) whose addresses are the
 * same base plus constants fall into naturally aligned 16-byte groups (8 when no more of the base's alignment is
 * known). In one group three or four words become one 128-bit access in shared memory, even if one word is not asked
 * for; an aligned pair becomes 64-bit. In local and generic memory only what is asked for is read. The first load
 * must dominate the others with no loop header and nothing that could change the memory on the way: a store or
 * atomic to that space or a generic address, a barrier, a fence, nanosleep, an asynchronous copy, a call. Branches
 * do not matter.
 * The same location read twice under those rules is read once, in global memory too; global loads are never widened.
 * Vector elements that nobody reads narrow a load, or split it in two when two remain that are no aligned pair; but
 * three of four that a used_bytes_mask pragma announces are one access that nothing joins. A 64-bit load of which
 * only low bytes are converted on or stored reads only those. A load that nobody reads is dropped.
 * Stores (shared, local): consecutive stores of one width into one group, in one block, with no load or other store
 * of that space between; all of the group or an aligned pair.
 * Guarded, volatile and ordered accesses keep to themselves (a guarded load may repeat an earlier unguarded one).
 *
 * Not modelled: loops that ptxas unrolls (joins across their iterations), invariant loads that it hoists, two 16-bit
 * loads packed into one register. */
#ifndef WG_PTX_MERGE_H
#define WG_PTX_MERGE_H
#include "ptx/module.h"

/* One per instruction. For anything but ld and st: leader is the instruction itself and bytes 0. */
struct wg_merge {
    uint32_t leader; /* instruction whose access this one is part of; its own index: it leads, or is alone */
    uint8_t bytes;   /* per lane, of the whole access */
    int8_t position; /* the access begins at this instruction's own address minus position */
    uint8_t again;   /* a second access of the same width begins this many bytes after the first; 0: none */
    bool dead;       /* dropped: nobody uses what it loads */
};
/* The model for function f of m: an array of f->ninstrs in arena a. NO_MEMORY is the only error; *out is NULL then. */
enum wg_status wg_merge_analyse(const struct wg_ptx_module *m, const struct wg_function *f, struct wg_arena *a,
                                const struct wg_merge **out);
#endif
