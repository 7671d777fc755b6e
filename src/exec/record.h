/* record.h - writing warps' traces: for the handlers of instructions that record what they do themselves, and for grid.c. */
#ifndef WG_EXEC_RECORD_H
#define WG_EXEC_RECORD_H
#include "exec/lanes.h"
#include "exec/warp.h"
#include "model/replay.h"

/* One global access of lanes `on` of `bytes` each; nothing when the warp has no trace. kind, flags, use: see trace.h. */
void WG_ISA_NAME(wg_record_lanes)(struct wg_warp *w, uint32_t site, unsigned kind, unsigned flags, unsigned use,
                                  const uint64_t *addr, uint32_t on, unsigned bytes);
#endif
