/* alu_half.c - handlers of the f16 and bf16 rows. */
#include "exec/alu_rows.h"
#include "exec/alu_half.h"
#include "exec/alu_half.def"
#include "exec/alu_table.h"

static const struct wg_alu_row rows[] = {
#include "exec/alu_half.def"
};
extern const struct wg_alu_table WG_ISA_NAME(wg_alu_half);
const struct wg_alu_table WG_ISA_NAME(wg_alu_half) = {rows, sizeof rows / sizeof *rows};
