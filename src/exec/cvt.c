/* cvt.c - handlers of the conversions. */
#define WG_MODS wg_cvt_mods
#include "exec/alu_rows.h"
#include "exec/cvt.h"
#include "exec/cvt.def"
#include "exec/alu_table.h"

static const struct wg_alu_row rows[] = {
#include "exec/cvt.def"
};
extern const struct wg_alu_table WG_ISA_NAME(wg_alu_cvt);
const struct wg_alu_table WG_ISA_NAME(wg_alu_cvt) = {rows, sizeof rows / sizeof *rows};
