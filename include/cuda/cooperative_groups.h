/* cooperative_groups.h - groups of threads: block, grid, cluster, tiles of a warp, the coalesced threads. */
#ifndef WG_CUDA_COOPERATIVE_GROUPS_H
#define WG_CUDA_COOPERATIVE_GROUPS_H
#include "cuda_runtime.h"
#if defined(__CUDA__) && defined(__cplusplus)
WG_CALLERS_LINES
#include "wg/cg_basic.h"
#include "wg/cg_warp.h"
WG_OWN_LINES
#endif
#endif
