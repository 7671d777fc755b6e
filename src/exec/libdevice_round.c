/* libdevice_round.c - the rows of libdevice.def that round down, up or to zero: the host's rounding mode is set around
 * the lanes' loop and put back. Built with -frounding-math and without vectorisation: the operands are read and the
 * results written between the two calls, through memory that the compiler must assume fesetround() to see. */
#include <fenv.h>
#include "exec/libdevice_inline.h"
#include "exec/libdevice_table.h"
#ifdef __clang__
#pragma STDC FENV_ACCESS ON
#endif

#define ROWR_(name, R, mode, expr, ...)                                                                                \
    void wg_libdevice_nvr_##name(const struct wg_libdevice_ctx *ctx, uint32_t mask, uint32_t *ret,                     \
                                 const uint32_t *const *arg)                                                           \
    {                                                                                                                  \
        (void)ctx;                                                                                                     \
        const int before = fegetround();                                                                               \
        fesetround(mode);                                                                                              \
        for (; mask; mask &= mask - 1) {                                                                               \
            unsigned l = (unsigned)__builtin_ctz(mask);                                                                \
            __VA_ARGS__;                                                                                               \
            WG_NVW_##R(ret, l, expr);                                                                                  \
        }                                                                                                              \
        fesetround(before);                                                                                            \
    }
#define A_(A) const wg_nvt_##A a = WG_NVG_##A(arg[0], l)
#define B_(B) const wg_nvt_##B b = WG_NVG_##B(arg[1], l)
#define C_(C) const wg_nvt_##C c = WG_NVG_##C(arg[2], l)
#define WG_NVV1(...)
#define WG_NVV2(...)
#define WG_NVV3(...)
#define WG_NVS1(...)
#define WG_NVS2(...)
#define WG_NV1(...)
#define WG_NV2(...)
#define WG_NV3(...)
#define WG_NV4(...)
#define WG_NVR1(name, R, A, mode, expr)       ROWR_(name, R, mode, expr, A_(A))
#define WG_NVR2(name, R, A, B, mode, expr)    ROWR_(name, R, mode, expr, A_(A); B_(B))
#define WG_NVR3(name, R, A, B, C, mode, expr) ROWR_(name, R, mode, expr, A_(A); B_(B); C_(C))
#define WG_NVP1(...)
#define WG_NVP2(...)
#define WG_NVP3(...)
#include "exec/libdevice.def"
