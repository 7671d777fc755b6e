/* alu_float.c - handlers of the f32 and f64 rows. */
#include "exec/alu_rows.h"

/* NVIDIA's single-precision units give one NaN, 0x7fffffff, whatever NaN went in. */
WG_INLINE f32 canon32(f32 x)
{
    const u32 nan = 0x7fffffff;
    f32 n;
    memcpy(&n, &nan, sizeof n);
    return x == x ? x : n;
}

WG_INLINE f32 fma32(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }

#include "exec/alu_float.def"
#include "exec/alu_table.h"

static const struct wg_alu_row rows[] = {
#include "exec/alu_float.def"
};
extern const struct wg_alu_table WG_ISA_NAME(wg_alu_float);
const struct wg_alu_table WG_ISA_NAME(wg_alu_float) = {rows, sizeof rows / sizeof *rows};
