/* barriers.h - finds the block's barriers that order nothing. */
#ifndef WG_EXEC_BARRIERS_H
#define WG_EXEC_BARRIERS_H
#include "exec/cfg.h"

/* One byte per instruction of f: 1 at a bar.sync of the whole block across which no two accesses can meet: whatever is
 * done since the barrier before it and until the one after it, in no order of paths, holds no pair of accesses to one
 * memory of which one writes. Accesses count as one memory each for all of shared, all of global; loads that the PTX calls
 * read-only (.nc) and constants meet nobody. In a function that others call, or that calls, every barrier is needed. NULL:
 * there is none, or no memory. Lives in a. */
uint8_t *wg_barriers_idle(const struct wg_function *f, const struct wg_cfg *g, struct wg_arena *a);
#endif
