/* handlers.c - the named handlers of this ISA level as one table; compiled once per level. */
#include "exec/handlers.h"
#include "exec/lanes.h"
#include "exec/mem.h"

#define WG_HANDLER_ROW(id, fn)                                                                                         \
    const struct wg_inst *WG_ISA_NAME(wg_h_##fn)(struct wg_warp * w, const struct wg_inst *i, char *R);
#include "exec/handlers.def"
#undef WG_HANDLER_ROW
wg_handler WG_ISA_NAME(wg_mem_select)(const struct wg_mem_desc *d);
wg_handler WG_ISA_NAME(wg_mem_select_row)(const struct wg_mem_desc *d, bool safe);
bool WG_ISA_NAME(wg_barrier_recheck)(struct wg_block *b);
extern const struct wg_handler_set WG_ISA_NAME(wg_handler_set);

const struct wg_handler_set WG_ISA_NAME(wg_handler_set) = {
    .basic = {
#define WG_HANDLER_ROW(id, fn) [WG_H_##id] = WG_ISA_NAME(wg_h_##fn),
#include "exec/handlers.def"
#undef WG_HANDLER_ROW
    },
    .mem = WG_ISA_NAME(wg_mem_select),
    .fuse = WG_ISA_NAME(wg_mem_fuse),
    .mem_row = WG_ISA_NAME(wg_mem_select_row),
    .barrier_recheck = WG_ISA_NAME(wg_barrier_recheck),
};
