/* trace.h - what a warp did, written down for the models of caches and time: memory accesses, barriers, and the cost of
 * the instructions between them. Recorded by the engine, read by replay.c.
 *
 * A warp's trace is an array of 64-bit words. Each event is two words and one more per recorded line:
 *   word 0   kind, flags, recorded lines, cycles of the L1, sectors, slots until the loaded value is used, site
 *   word 1   cost of the instructions since the event before: slots, cycles alone, accesses left out, and the L1's cycles
 *            that these and accesses to shared memory took
 *   line     sectors touched, sectors written whole, 128-byte line number; for a store that leaves a sector partly
 *            written, a word more with the 4-byte words it writes
 * Lines are sampled by a hash of their number (wg_trace_hash): at level k only those whose low k bits are 0 are recorded,
 * so that one cache set in 2^k is seen whole and the others not at all. Atomics and reductions are always recorded; in
 * timed blocks each load is, be it without a line, so that it can be waited for. */
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
#define WG_TRACE_SLOTS_MAX 0x3ffffu
#define WG_TRACE_ALONE_MAX 0xfffffu
#define WG_TRACE_SKIPPED_MAX 0xfffu
#define WG_TRACE_PASSES_MAX 0x3fffu

static inline uint64_t wg_trace_word0(unsigned kind, unsigned flags, unsigned nrecorded, unsigned cost, unsigned sectors,
                                      unsigned use, uint32_t site)
{
    return kind | flags << 4 | nrecorded << 8 | (uint64_t)(cost > 31 ? 31 : cost) << 15 | (uint64_t)sectors << 20 |
           (uint64_t)use << 32 | (uint64_t)site << 40;
}
static inline unsigned wg_trace_kind_of(uint64_t w) { return w & 15; }
static inline unsigned wg_trace_flags(uint64_t w) { return w >> 4 & 15; }
static inline unsigned wg_trace_recorded(uint64_t w) { return w >> 8 & 127; }
static inline unsigned wg_trace_cost(uint64_t w) { return w >> 15 & 31; }
static inline unsigned wg_trace_sectors(uint64_t w) { return w >> 20 & 4095; }
static inline unsigned wg_trace_use(uint64_t w) { return w >> 32 & 255; } /* 255: far */
static inline uint32_t wg_trace_site(uint64_t w) { return (uint32_t)(w >> 40); }

static inline uint64_t wg_trace_word1(uint64_t slots, uint64_t alone, uint64_t skipped, uint64_t passes)
{
    slots = slots < WG_TRACE_SLOTS_MAX ? slots : WG_TRACE_SLOTS_MAX;
    alone = alone < WG_TRACE_ALONE_MAX ? alone : WG_TRACE_ALONE_MAX;
    skipped = skipped < WG_TRACE_SKIPPED_MAX ? skipped : WG_TRACE_SKIPPED_MAX;
    passes = passes < WG_TRACE_PASSES_MAX ? passes : WG_TRACE_PASSES_MAX;
    return slots | alone << 18 | skipped << 38 | passes << 50;
}
static inline uint32_t wg_trace_slots(uint64_t w) { return w & WG_TRACE_SLOTS_MAX; }
static inline uint32_t wg_trace_alone(uint64_t w) { return w >> 18 & WG_TRACE_ALONE_MAX; }
static inline uint32_t wg_trace_skipped(uint64_t w) { return w >> 38 & WG_TRACE_SKIPPED_MAX; }
static inline uint32_t wg_trace_passes(uint64_t w) { return (uint32_t)(w >> 50); }

/* A line word: bits 0-3 sectors, 4-7 of these the ones written whole, 8: a word of 4-byte words follows, 16..: line. */
static inline uint64_t wg_trace_line(uint64_t line, unsigned sectors, unsigned whole, bool words)
{
    return sectors | whole << 4 | (words ? 256u : 0u) | line << 16;
}

/* The low six bits of a line's hash are folded, so that 64 neighbours go to 64 sets, as they do on an H200: an L1 holds a
 * walk as long as itself (tests/models/data/traffic.csv, l1_reuse). */
static inline uint32_t wg_trace_fold(uint64_t line)
{
    return (uint32_t)(line ^ line >> 6 ^ line >> 12 ^ line >> 18 ^ line >> 24) & 63u;
}
static inline uint32_t wg_trace_hash(uint64_t line)
{
    uint64_t h = (line ^ line >> 23) * 0x9e3779b97f4a7c15ull;
    return (((uint32_t)(h >> 32) ^ (uint32_t)(h >> 51)) & ~63u) | wg_trace_fold(line);
}

/* Whether block `linear` is one of those, one in 2^share, whose loads are all recorded. */
static inline bool wg_trace_timed(uint64_t linear, uint32_t share)
{
    return !((uint32_t)(linear * 0x9e3779b1u >> 20) & ((1u << share) - 1));
}

struct wg_warp_trace {
    uint64_t *v;
    uint32_t n, cap;
    uint32_t slots, alone, skipped, passes; /* since the last event, while recording */
    bool timed;                             /* the block's */
    uint32_t mask;                          /* low bits of the hashes of lines that are recorded: 0 in these */
};
/* The traces of one block, in malloc memory; wg_trace_block_free. */
struct wg_trace_block {
    uint64_t linear;
    uint32_t nwarps, level;
    uint64_t shared_wavefronts; /* passes of its shared-memory accesses that no event carries */
    uint64_t slots;             /* of all its warps, up to their last events */
    uint8_t *l1_passes;         /* per site: cycles of the L1 that its latest access took; 0: not known yet */
    bool timed;                 /* false: the block only tells what it moves, and keeps the pace of the others */
    bool level_known;           /* false: of the first blocks, whose size will tell */
    bool failed;                /* host memory ran out: the trace is not whole */
    struct wg_warp_trace warp[];
};
struct wg_trace_block *wg_trace_block_new(uint32_t nwarps, uint32_t nsites); /* NULL: no memory */
void wg_trace_block_free(struct wg_trace_block *b);         /* NULL is fine */
/* Room for n more words; NULL and `failed` when memory is out. */
uint64_t *wg_trace_room(struct wg_trace_block *b, struct wg_warp_trace *w, uint32_t n);
/* Writes an event and what came before it; where its n lines go, or NULL as above. */
uint64_t *wg_trace_event(struct wg_trace_block *b, struct wg_warp_trace *w, uint64_t word0, uint32_t n);
/* What came after each warp's last event. Call when the block has ended. */
void wg_trace_close(struct wg_trace_block *b);
/* Drops every line that level k does not record. */
void wg_trace_thin(struct wg_trace_block *b, uint32_t level);
#endif
