/* alu_int.c - handlers of the integer rows. */
#include "exec/alu_rows.h"
#include "exec/alu_int.def"
#include "exec/alu_table.h"

static const struct wg_alu_row rows[] = {
#include "exec/alu_int.def"
};
extern const struct wg_alu_table WG_ISA_NAME(wg_alu_int);
const struct wg_alu_table WG_ISA_NAME(wg_alu_int) = {rows, sizeof rows / sizeof *rows};
