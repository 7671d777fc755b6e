/* trace.h - what a warp did, written down for the models of caches and time: memory accesses, barriers, and the cost of
 * the instructions between them. Recorded by the engine, read by replay.c.
 *
 * A warp's trace is an array of 64-bit words. Each event is two words and one more per recorded line:
 *   word 0   kind, flags, recorded lines, cycles of the L1, sectors, slots until the loaded value is used, site
 *   word 1   cost of the instructions since the event before: slots, cycles alone, accesses left out
 *   line     sectors touched, sectors written whole, 128-byte line number; for a store that leaves a sector partly
 *            written, a word more with the 4-byte words it writes
 * Lines are sampled by a hash of their number (wg_trace_hash): at level k only those whose low k bits are 0 are recorded,
 * so that one cache set in 2^k is seen whole and the others not at all. */
#ifndef WG_MODEL_TRACE_H
#define WG_MODEL_TRACE_H
#include <stdbool.h>
#include <stdint.h>

enum wg_trace_kind { WG_TRACE_COMPUTE, WG_TRACE_LOAD, WG_TRACE_STORE, WG_TRACE_ATOM, WG_TRACE_RED, WG_TRACE_BARRIER };
enum wg_trace_flag {
    WG_TRACE_BYPASS = 1, /* does not look into the L1: ld.cg, ld.cv, volatile, ordered */
    WG_TRACE_LOCAL = 2,  /* local memory: line numbers count from the warp's own first line */
    WG_TRACE_WHOLE = 4,  /* every line of the access is recorded */
};
#define WG_TRACE_LEVELS 7 /* 0: every line; 6: one in 64 */
#define WG_TRACE_SLOTS_MAX 0xfffffu
#define WG_TRACE_ALONE_MAX 0xffffffu
#define WG_TRACE_SKIPPED_MAX 0xfffffu

static inline uint64_t wg_trace_word0(unsigned kind, unsigned flags, unsigned nrecorded, unsigned cost, unsigned sectors,
                                      unsigned use, uint32_t site)
{
    return kind | flags << 4 | nrecorded << 8 | (cost > 63 ? 63 : cost) << 14 | (uint64_t)sectors << 20 | (uint64_t)use << 32 |
           (uint64_t)site << 40;
}
static inline unsigned wg_trace_kind_of(uint64_t w) { return w & 15; }
static inline unsigned wg_trace_flags(uint64_t w) { return w >> 4 & 15; }
static inline unsigned wg_trace_recorded(uint64_t w) { return w >> 8 & 63; }
static inline unsigned wg_trace_cost(uint64_t w) { return w >> 14 & 63; }
static inline unsigned wg_trace_sectors(uint64_t w) { return w >> 20 & 4095; }
static inline unsigned wg_trace_use(uint64_t w) { return w >> 32 & 255; } /* 255: far */
static inline uint32_t wg_trace_site(uint64_t w) { return (uint32_t)(w >> 40); }

static inline uint64_t wg_trace_word1(uint32_t slots, uint32_t alone, uint32_t skipped)
{
    return slots | (uint64_t)alone << 20 | (uint64_t)skipped << 44;
}
static inline uint32_t wg_trace_slots(uint64_t w) { return w & WG_TRACE_SLOTS_MAX; }
static inline uint32_t wg_trace_alone(uint64_t w) { return w >> 20 & WG_TRACE_ALONE_MAX; }
static inline uint32_t wg_trace_skipped(uint64_t w) { return (uint32_t)(w >> 44); }

/* A line word: bits 0-3 sectors, 4-7 of these the ones written whole, 8: a word of 4-byte words follows, 16..: line. */
static inline uint64_t wg_trace_line(uint64_t line, unsigned sectors, unsigned whole, bool words)
{
    return sectors | whole << 4 | (words ? 256u : 0u) | line << 16;
}

static inline uint32_t wg_trace_hash(uint64_t line)
{
    /* the low six bits are folded, so that 64 neighbours go to 64 sets, as they do on an H200: an L1 holds a walk as long
     * as itself (tests/models/data/traffic.csv, l1_reuse) */
    uint64_t h = (line ^ line >> 23) * 0x9e3779b97f4a7c15ull;
    return (((uint32_t)(h >> 32) ^ (uint32_t)(h >> 51)) & ~63u) | ((line ^ line >> 6 ^ line >> 12 ^ line >> 18 ^ line >> 24) & 63u);
}

struct wg_warp_trace {
    uint64_t *v;
    uint32_t n, cap;
    uint32_t slots, alone, skipped; /* since the last event, while recording */
};
/* The traces of one block, in malloc memory; wg_trace_block_free. */
struct wg_trace_block {
    uint64_t linear;
    uint32_t nwarps, level;
    uint64_t shared_wavefronts; /* passes of all its shared-memory accesses */
    uint64_t slots;             /* of all its warps */
    bool failed;                /* host memory ran out: the trace is not whole */
    struct wg_warp_trace warp[];
};
struct wg_trace_block *wg_trace_block_new(uint32_t nwarps); /* NULL: no memory */
void wg_trace_block_free(struct wg_trace_block *b);         /* NULL is fine */
/* Room for n more words; NULL and `failed` when memory is out. */
uint64_t *wg_trace_room(struct wg_trace_block *b, struct wg_warp_trace *w, uint32_t n);
/* Drops every line that level k does not record. */
void wg_trace_thin(struct wg_trace_block *b, uint32_t level);
#endif
