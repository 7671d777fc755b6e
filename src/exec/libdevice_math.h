/* libdevice_math.h - functions of CUDA's math library that the C library lacks or computes too roughly. */
#ifndef WG_EXEC_LIBDEVICE_MATH_H
#define WG_EXEC_LIBDEVICE_MATH_H
#include "exec/libdevice.h"

/* Special values as the CUDA Math API reference gives them; errors below 1 ulp unless libdevice.def says otherwise. */
double wg_libdevice_sinpi(double x);
double wg_libdevice_cospi(double x);
double wg_libdevice_norm4(double a, double b, double c, double d);
double wg_libdevice_rnorm4(double a, double b, double c, double d);
double wg_libdevice_erfcx(double x);
double wg_libdevice_erfinv(double y);
double wg_libdevice_erfcinv(double y);
double wg_libdevice_normcdf(double x);
double wg_libdevice_normcdfinv(double p);
double wg_libdevice_i0(double x);
double wg_libdevice_i1(double x);
double wg_libdevice_j0(double x);
double wg_libdevice_j1(double x);
double wg_libdevice_y0(double x);
double wg_libdevice_y1(double x);
double wg_libdevice_jn(int n, double x);
double wg_libdevice_yn(int n, double x);
double wg_libdevice_lgamma(double x);
/* Length of the vector of dim elements at the generic address p, or its reciprocal; NaN when a load is refused. */
float wg_libdevice_normf(const struct wg_libdevice_ctx *ctx, unsigned lane, int dim, uint64_t p, bool reciprocal);
double wg_libdevice_norm(const struct wg_libdevice_ctx *ctx, unsigned lane, int dim, uint64_t p, bool reciprocal);
/* Bits of the NaN that the string at p selects, for a format with this many payload bits (51: double, 22: float). */
uint64_t wg_libdevice_nan(const struct wg_libdevice_ctx *ctx, unsigned lane, uint64_t p, int payload_bits);
#endif
