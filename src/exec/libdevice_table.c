/* libdevice_table.c - libdevice.def turned into one function a row, and the table of them. Built once per host level:
 * WG_LIBDEVICE_TABLE is the table's name. */
#include "exec/libdevice.h"
#include <math.h>
#include <string.h>
#include "exec/libdevice_inline.h"
#include "exec/libdevice_math.h"
#include "exec/libdevice_table.h"

#define FN(name)                                                                                                       \
    static void nv_##name(const struct wg_libdevice_ctx *ctx, uint32_t mask, uint32_t *ret, const uint32_t *const *arg)

/* Copies the words of the lanes in mask; the others keep theirs. */
static void commit(uint32_t *ret, const uint32_t *out, uint32_t mask, unsigned words)
{
    if (mask == ~0u) {
        memcpy(ret, out, words * 32 * sizeof *ret);
        return;
    }
    for (unsigned k = 0; k < words; k++)
        for (unsigned l = 0; l < 32; l++)
            ret[k * 32 + l] = mask >> l & 1 ? out[k * 32 + l] : ret[k * 32 + l];
}

#define OPERANDS1(A) WG_UNUSED_ const wg_nvt_##A a = WG_NVG_##A(arg[0], l)
#define OPERANDS2(A, B)                                                                                                \
    OPERANDS1(A);                                                                                                      \
    WG_UNUSED_ const wg_nvt_##B b = WG_NVG_##B(arg[1], l)
#define OPERANDS3(A, B, C)                                                                                             \
    OPERANDS2(A, B);                                                                                                   \
    WG_UNUSED_ const wg_nvt_##C c = WG_NVG_##C(arg[2], l)
#define OPERANDS4(A, B, C, D)                                                                                          \
    OPERANDS3(A, B, C);                                                                                                \
    WG_UNUSED_ const wg_nvt_##D d = WG_NVG_##D(arg[3], l)
#define WG_UNUSED_ __attribute__((unused))
#define WORDS(R)   (sizeof(wg_nvt_##R) > 4 ? 2 : 1)

#define ROWV_(name, R, expr, ...)                                                                                      \
    FN(name)                                                                                                           \
    {                                                                                                                  \
        (void)ctx;                                                                                                     \
        uint32_t out[64] __attribute__((aligned(64)));                                                                 \
        for (unsigned l = 0; l < 32; l++) {                                                                            \
            __VA_ARGS__;                                                                                               \
            WG_NVW_##R(out, l, expr);                                                                                  \
        }                                                                                                              \
        commit(ret, out, mask, WORDS(R));                                                                              \
    }
#define ROWS_(name, R, expr, slow, other, ...)                                                                         \
    FN(name)                                                                                                           \
    {                                                                                                                  \
        (void)ctx;                                                                                                     \
        uint32_t out[64] __attribute__((aligned(64)));                                                                 \
        uint32_t rare = 0;                                                                                             \
        for (unsigned l = 0; l < 32; l++) {                                                                            \
            __VA_ARGS__;                                                                                               \
            WG_NVW_##R(out, l, expr);                                                                                  \
            rare |= (slow);                                                                                            \
        }                                                                                                              \
        for (uint32_t todo = rare ? mask : 0; todo; todo &= todo - 1) {                                                \
            unsigned l = (unsigned)__builtin_ctz(todo);                                                                \
            __VA_ARGS__;                                                                                               \
            if (slow)                                                                                                  \
                WG_NVW_##R(out, l, other);                                                                             \
        }                                                                                                              \
        commit(ret, out, mask, WORDS(R));                                                                              \
    }
#define ROW_(name, R, expr, ...)                                                                                       \
    FN(name)                                                                                                           \
    {                                                                                                                  \
        (void)ctx;                                                                                                     \
        for (; mask; mask &= mask - 1) {                                                                               \
            unsigned l = (unsigned)__builtin_ctz(mask);                                                                \
            __VA_ARGS__;                                                                                               \
            WG_NVW_##R(ret, l, expr);                                                                                  \
        }                                                                                                              \
    }
#define ROWP_(name, R, stmt, ...)                                                                                      \
    FN(name)                                                                                                           \
    {                                                                                                                  \
        (void)ret;                                                                                                     \
        for (; mask; mask &= mask - 1) {                                                                               \
            unsigned l = (unsigned)__builtin_ctz(mask);                                                                \
            __VA_ARGS__;                                                                                               \
            wg_nvt_##R result = 0;                                                                                     \
            stmt;                                                                                                      \
            WG_NVW_##R(ret, l, result);                                                                                \
        }                                                                                                              \
    }
#define RET(value)      (result = (value))
#define CANON_float(v)  wg_canon_f32(v)
#define CANON_double(v) (v)
#define CANON_int(v)    (v)
#define STORE(type, address, value)                                                                                    \
    do {                                                                                                               \
        type v_ = CANON_##type(value);                                                                                 \
        ctx->store(ctx->owner, l, address, &v_, sizeof v_);                                                            \
    } while (0)

/* first expansion: the functions */
#define WG_NVV1(name, R, A, bound, expr)                 ROWV_(name, R, expr, OPERANDS1(A))
#define WG_NVV2(name, R, A, B, bound, expr)              ROWV_(name, R, expr, OPERANDS2(A, B))
#define WG_NVV3(name, R, A, B, C, bound, expr)           ROWV_(name, R, expr, OPERANDS3(A, B, C))
#define WG_NVS1(name, R, A, bound, expr, slow, other)    ROWS_(name, R, expr, slow, other, OPERANDS1(A))
#define WG_NVS2(name, R, A, B, bound, expr, slow, other) ROWS_(name, R, expr, slow, other, OPERANDS2(A, B))
#define WG_NV1(name, R, A, bound, expr)                  ROW_(name, R, expr, OPERANDS1(A))
#define WG_NV2(name, R, A, B, bound, expr)               ROW_(name, R, expr, OPERANDS2(A, B))
#define WG_NV3(name, R, A, B, C, bound, expr)            ROW_(name, R, expr, OPERANDS3(A, B, C))
#define WG_NV4(name, R, A, B, C, D, bound, expr)         ROW_(name, R, expr, OPERANDS4(A, B, C, D))
#define WG_NVR1(name, R, A, mode, expr)
#define WG_NVR2(name, R, A, B, mode, expr)
#define WG_NVR3(name, R, A, B, C, mode, expr)
#define WG_NVP1(name, R, A, bound, stmt)       ROWP_(name, R, stmt, OPERANDS1(A))
#define WG_NVP2(name, R, A, B, bound, stmt)    ROWP_(name, R, stmt, OPERANDS2(A, B))
#define WG_NVP3(name, R, A, B, C, bound, stmt) ROWP_(name, R, stmt, OPERANDS3(A, B, C))
#include "exec/libdevice.def"
#include "exec/libdevice_undef.h"

/* second expansion: the table */
#define NAME(name)                   "__nv_" #name
#define T1(name, R, A, bound, fn)    {NAME(name), #R #A, bound, fn, 1, WG_NVN_##R, {WG_NVN_##A}},
#define T2(name, R, A, B, bound, fn) {NAME(name), #R #A #B, bound, fn, 2, WG_NVN_##R, {WG_NVN_##A, WG_NVN_##B}},
#define T3(name, R, A, B, C, bound, fn)                                                                                \
    {NAME(name), #R #A #B #C, bound, fn, 3, WG_NVN_##R, {WG_NVN_##A, WG_NVN_##B, WG_NVN_##C}},
#define T4(name, R, A, B, C, D, bound, fn)                                                                             \
    {NAME(name), #R #A #B #C #D, bound, fn, 4, WG_NVN_##R, {WG_NVN_##A, WG_NVN_##B, WG_NVN_##C, WG_NVN_##D}},
#define WG_NVV1(name, R, A, bound, ...)         T1(name, R, A, #bound, nv_##name)
#define WG_NVV2(name, R, A, B, bound, ...)      T2(name, R, A, B, #bound, nv_##name)
#define WG_NVV3(name, R, A, B, C, bound, ...)   T3(name, R, A, B, C, #bound, nv_##name)
#define WG_NVS1                                 WG_NVV1
#define WG_NVS2                                 WG_NVV2
#define WG_NV1                                  WG_NVV1
#define WG_NV2                                  WG_NVV2
#define WG_NV3                                  WG_NVV3
#define WG_NV4(name, R, A, B, C, D, bound, ...) T4(name, R, A, B, C, D, #bound, nv_##name)
#define WG_NVR1(name, R, A, mode, ...)          T1(name, R, A, "ULP(0)", wg_libdevice_nvr_##name)
#define WG_NVR2(name, R, A, B, mode, ...)       T2(name, R, A, B, "ULP(0)", wg_libdevice_nvr_##name)
#define WG_NVR3(name, R, A, B, C, mode, ...)    T3(name, R, A, B, C, "ULP(0)", wg_libdevice_nvr_##name)
#define WG_NVP1                                 WG_NVV1
#define WG_NVP2                                 WG_NVV2
#define WG_NVP3                                 WG_NVV3
const struct wg_libdevice WG_LIBDEVICE_TABLE[] = {
#include "exec/libdevice.def"
    {0}};
