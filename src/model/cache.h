/* cache.h - the caches of a device: which sectors hit, and what goes to the L2 and to memory.
 *
 * What is modelled, and where it was seen (an H200, Nsight Compute 2025.3; tests/models/data/traffic.csv):
 *   L1    one per SM: unified memory less the carve-out, 128-byte lines of four 32-byte sectors, least recently used; a
 *         load that misses fetches its missing sectors; stores write through, update a line that is there, fetch nothing;
 *         local memory too, but what is written there stays
 *   path  SMs that share a path to the L2 share a read that is on its way: one request goes on for all of them
 *   L2    one part per memory partition: a line has a home part by a hash of its address; the other part keeps a copy of
 *         what its own SMs read; write-back; stores to it fetch nothing until a partly written sector is evicted;
 *         atomics and reductions execute at the home part
 *   DRAM  is read and filled in pairs of sectors, 64 bytes; compressed memory is not modelled
 * Sets are indexed by a hash whose low bits are those that traces are sampled by, so that a sample sees whole sets. */
#ifndef WG_MODEL_CACHE_H
#define WG_MODEL_CACHE_H
#include "model/gpus.h"
#include "model/trace.h"

enum wg_cache_level { WG_CACHE_L1, WG_CACHE_L2, WG_CACHE_L2_FAR, WG_CACHE_DRAM, WG_CACHE_DRAM_FAR };

/* Sectors, except where said otherwise. Counts of sampled traces are scaled up by the caller. */
struct wg_traffic {
    uint64_t l1_ld, l1_ld_hit, l1_st, l1_st_hit; /* lookups of loads and stores in the L1, bypassing ones included */
    uint64_t l1_local_ld, l1_local_ld_hit, l1_local_st, l1_local_st_hit;
    uint64_t l2_read, l2_read_hit;    /* from SMs, after sharing on the path */
    uint64_t l2_write, l2_write_hit;
    uint64_t l2_atom, l2_red;
    uint64_t l2_atomic_hit;
    uint64_t fabric_read, fabric_write, fabric_atom; /* between the L2's parts, at the part that is asked */
    uint64_t dram_read, dram_write;   /* bytes */
};

struct wg_caches;
unsigned wg_cache_paths(const struct wg_gpu *gpu); /* to the L2; SM s is on path s * paths / SMs */
struct wg_caches *wg_caches_open(const struct wg_gpu *gpu); /* NULL: no memory */
void wg_caches_close(struct wg_caches *c);                  /* NULL is fine */
/* A launch begins: L1s of l1_bytes, empty; the L2 empty too unless keep. */
void wg_caches_begin(struct wg_caches *c, uint64_t l1_bytes, bool keep);

/* One line of one warp's access from an SM at a time (cycles; need not rise between SMs). t gets what moved; the result
 * is how deep the slowest sector came from. line: of the device's address space; for local memory see
 * wg_cache_local_line. sectors, whole, words: as in trace.h. */
enum wg_cache_level wg_cache_load(struct wg_caches *c, unsigned sm, uint64_t time, uint64_t line, unsigned sectors,
                                  unsigned flags, struct wg_traffic *t, uint64_t *ready);
void wg_cache_store(struct wg_caches *c, unsigned sm, uint64_t line, unsigned sectors, unsigned whole, uint32_t words,
                    unsigned flags, struct wg_traffic *t);
enum wg_cache_level wg_cache_atomic(struct wg_caches *c, unsigned sm, uint64_t line, unsigned sectors, bool result,
                                    struct wg_traffic *t);
/* A read that missed arrives at this time: until then the SMs of its path share it. */
void wg_cache_fetched(struct wg_caches *c, unsigned sm, uint64_t line, uint64_t ready);
/* The line of the device that line k of the local memory of warp slot `slot` of an SM lies in. */
uint64_t wg_cache_local_line(unsigned sm, unsigned slot, uint64_t k);
#endif
