/* alu_float.c - handlers of the f32 and f64 rows. */
#include "exec/alu_rows.h"
#include "exec/alu_float.h"
#include "exec/alu_float.def"
#include "exec/alu_table.h"

static const struct wg_alu_row rows[] = {
#include "exec/alu_float.def"
};
extern const struct wg_alu_table WG_ISA_NAME(wg_alu_float);
const struct wg_alu_table WG_ISA_NAME(wg_alu_float) = {rows, sizeof rows / sizeof *rows};
