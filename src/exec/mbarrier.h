/* mbarrier.h - the 8 bytes of an mbarrier object: pending arrivals (20 bits), arrivals expected of the next phase (20),
 * bytes still to come (23, signed), parity of the phase (1). */
#ifndef WG_EXEC_MBARRIER_H
#define WG_EXEC_MBARRIER_H
#include "exec/async.h"
#include "exec/cluster.h"

#define WG_MBARRIER_COUNT_MAX 0xfffffu
struct wg_mbarrier { uint32_t pending, expected; int32_t tx; bool phase; };

static inline struct wg_mbarrier wg_mbarrier_unpack(uint64_t v)
{
    return (struct wg_mbarrier){(uint32_t)v & WG_MBARRIER_COUNT_MAX, (uint32_t)(v >> 20) & WG_MBARRIER_COUNT_MAX,
                                (int32_t)((int64_t)(v << 1) >> 41), v >> 63};
}
static inline uint64_t wg_mbarrier_pack(const struct wg_mbarrier *b)
{
    return (b->pending & WG_MBARRIER_COUNT_MAX) | (uint64_t)(b->expected & WG_MBARRIER_COUNT_MAX) << 20 |
           ((uint64_t)(uint32_t)b->tx & 0x7fffff) << 40 | (uint64_t)b->phase << 63;
}
static inline void wg_mbarrier_settle(struct wg_mbarrier *b)
{
    if (b->pending == 0 && b->tx == 0) {
        b->phase = !b->phase;
        b->pending = b->expected;
    }
}
#ifdef WG_ISA_SUFFIX
/* Offset in shared memory of a shared or generic address, with the rank of another block; UINT64_MAX: elsewhere. */
static inline uint64_t wg_shared_at(const struct wg_lane_addr *a, uint64_t addr)
{
    if (a->space == WG_SITE_SHARED)
        return (uint32_t)addr;
    return addr - WG_SHARED_WINDOW < WG_WINDOW_BYTES ? addr - WG_SHARED_WINDOW : UINT64_MAX;
}
#define wg_mbarrier_object WG_ISA_NAME(wg_mbarrier_object)
#define wg_mbarrier_complete WG_ISA_NAME(wg_mbarrier_complete)
/* The object at an address and the block it is of, or NULL after a fault. */
char *wg_mbarrier_object(struct wg_warp *w, const struct wg_inst *i, const struct wg_lane_addr *a, unsigned lane,
                         uint64_t addr, struct wg_block **of);
/* `bytes` have arrived for the object at offset `at` of block `of`; false after a fault. */
bool wg_mbarrier_complete(struct wg_warp *w, const struct wg_inst *i, unsigned lane, struct wg_block *of, uint64_t at,
                          uint32_t bytes);
#define wg_async_bad WG_ISA_NAME(wg_async_bad)
const struct wg_inst *wg_async_bad(struct wg_warp *w, const struct wg_inst *i, unsigned lane, uint64_t addr,
                                   const char *space, const char *what, uint64_t bytes, bool out);
static inline bool wg_outside(uint64_t a, uint64_t bytes, uint64_t lo, uint64_t hi)
{
    return a < lo || a > hi || hi - a < bytes;
}
#endif
#endif
