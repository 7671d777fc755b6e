/* lanes_table.c - what the handlers of this level offer; compiled once per level. */
#include "exec/alu.h"
#include "exec/handlers.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
extern const struct wg_alu_tables WG_ISA_NAME(wg_alu_tables);

extern const struct wg_handler_set WG_ISA_NAME(wg_handler_set);

extern const struct wg_lanes_table WG_ISA_NAME(wg_lanes_table);
const struct wg_lanes_table WG_ISA_NAME(wg_lanes_table) = {
    .level = &TEXT(WG_ISA_SUFFIX)[1],
    .alu = &WG_ISA_NAME(wg_alu_tables),
    .handlers = &WG_ISA_NAME(wg_handler_set),
};
