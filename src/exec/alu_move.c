/* alu_move.c - handlers of the moves, selections and integer comparisons. */
#include "exec/alu_rows.h"
#include "exec/alu_move.def"
#include "exec/alu_table.h"

static const struct wg_alu_row rows[] = {
#include "exec/alu_move.def"
};
extern const struct wg_alu_table WG_ISA_NAME(wg_alu_move);
const struct wg_alu_table WG_ISA_NAME(wg_alu_move) = {rows, sizeof rows / sizeof *rows};
