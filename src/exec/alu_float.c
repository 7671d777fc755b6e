/* alu_float.c - handlers of the f32 and f64 rows. */
#include "exec/alu_rows.h"
#include "exec/alu_float.h"
#include "exec/mem.h"

/* mul.ftz and fma.ftz. Where the rounded result is tiny but not zero, or the least normal number, its exact value
 * decides whether it becomes zero, and a slow handler looks at it; else nothing is flushed. strides: bit k set when the
 * k-th source is a vector. */
#define WG_FTZ_SLOW(name, n, C)                                                                                        \
    __attribute__((noinline, cold)) static void slow_##name(const struct wg_inst *i, char *R, uint32_t m, int strides) \
    {                                                                                                                  \
        f32 *d = WG_VEC(f32, i->d);                                                                                    \
        const f32 *a = WG_AS(f32, i->a), *b = WG_AS(f32, i->b), *c = WG_AS(f32, n == 3 ? i->c : i->b);                 \
        const int sa = strides & 1, sb = strides >> 1 & 1, sc = strides >> 2 & 1;                                      \
        (void)c, (void)sc;                                                                                             \
        WG_LOOP_C(l)                                                                                                   \
            if (m >> l & 1)                                                                                            \
                d[l] = name(a[l * sa], b[l * sb] C);                                                                   \
    }
#define WG_FTZ_FORM(name, form, decls, x, strides)                                                                     \
    WG_HANDLER(name##_##form)                                                                                          \
    {                                                                                                                  \
        f32 r_[WG_LANES] __attribute__((aligned(64)));                                                                 \
        decls WG_LANES_LOOP(l) r_[l] = (x);                                                                            \
        WG_MASK_OF(t, 2 * wg_f32_bits(r_[l]) - 2 <= 0x00fffffe);                                                       \
        if (__builtin_expect(t, 0)) {                                                                                  \
            slow_##name(i, R, ~0u, strides);                                                                           \
            WG_NEXT;                                                                                                   \
        }                                                                                                              \
        f32 *d = WG_VEC(f32, i->d);                                                                                    \
        WG_LANES_LOOP(l) d[l] = r_[l];                                                                                 \
        WG_NEXT;                                                                                                       \
    }                                                                                                                  \
    WG_HANDLER(name##_##form##_m)                                                                                      \
    {                                                                                                                  \
        f32 r_[WG_LANES] __attribute__((aligned(64)));                                                                 \
        const uint32_t m = WG_ON;                                                                                      \
        decls WG_LANES_LOOP(l) r_[l] = (x);                                                                            \
        WG_MASK_OF(t, 2 * wg_f32_bits(r_[l]) - 2 <= 0x00fffffe);                                                       \
        if (__builtin_expect(t & m, 0)) {                                                                              \
            slow_##name(i, R, m, strides);                                                                             \
            WG_NEXT;                                                                                                   \
        }                                                                                                              \
        f32 *d = WG_VEC(f32, i->d);                                                                                    \
        WG_LANES_LOOP(l) WG_KEEP(m, f32, r_[l]);                                                                       \
        WG_NEXT;                                                                                                       \
    }
#define WG_FTZ_FORM2(name, A, B, strides)                                                                              \
    WG_FTZ_FORM(name, A##B, WG_DECL_##A(f32, a) WG_DECL_##B(f32, b), f_##name(WG_GET_##A(a), WG_GET_##B(b)), strides)
#define WG_FTZ_FORM3(name, A, B, C, strides)                                                                           \
    WG_FTZ_FORM(name, A##B##C, WG_DECL_##A(f32, a) WG_DECL_##B(f32, b) WG_DECL_##C(f32, c),                            \
                f_##name(WG_GET_##A(a), WG_GET_##B(b), WG_GET_##C(c)), strides)
#define WG_ALU_FTZ2(name, key, ...)                                                                                    \
    WG_INLINE f32 f_##name(f32 a, f32 b) { return (__VA_ARGS__); }                                                     \
    WG_FTZ_SLOW(name, 2, )                                                                                             \
    WG_FTZ_FORM2(name, V, V, 3)                                                                                        \
    WG_FTZ_FORM2(name, S, V, 2)                                                                                        \
    WG_FTZ_FORM2(name, V, S, 1)                                                                                        \
    WG_PAIR_S(name##_s, f32, WG_DECL_S(f32, a) WG_DECL_S(f32, b), name(a_, b_))                                        \
    static const wg_handler h_##name[] = {WG_H(name, s), WG_H(name, VV), WG_H(name, SV), WG_H(name, VS)};
#define WG_THIRD , c[l * sc]
#define WG_ALU_FTZ3(name, key, ...)                                                                                    \
    WG_INLINE f32 f_##name(f32 a, f32 b, f32 c) { return (__VA_ARGS__); }                                              \
    WG_FTZ_SLOW(name, 3, WG_THIRD)                                                                                     \
    WG_FTZ_FORM3(name, V, V, V, 7)                                                                                     \
    WG_FTZ_FORM3(name, S, V, V, 6)                                                                                     \
    WG_FTZ_FORM3(name, V, S, V, 5)                                                                                     \
    WG_FTZ_FORM3(name, S, S, V, 4)                                                                                     \
    WG_FTZ_FORM3(name, V, V, S, 3)                                                                                     \
    WG_FTZ_FORM3(name, S, V, S, 2)                                                                                     \
    WG_FTZ_FORM3(name, V, S, S, 1)                                                                                     \
    WG_PAIR_S(name##_s, f32, WG_DECL_S(f32, a) WG_DECL_S(f32, b) WG_DECL_S(f32, c), name(a_, b_, c_))                  \
    static const wg_handler h_##name[] = {WG_H(name, s),   WG_H(name, VVV), WG_H(name, SVV), WG_H(name, VSV),          \
                                          WG_H(name, SSV), WG_H(name, VVS), WG_H(name, SVS), WG_H(name, VSS)};

#include "exec/alu_float.def"
#include "exec/alu_table.h"
#undef WG_ALU_FTZ2
#undef WG_ALU_FTZ3
#define WG_ALU_FTZ2(name, key, ...) {key, 0x7, h_##name, NULL},
#define WG_ALU_FTZ3(name, key, ...) {key, 0x7f, h_##name, NULL},

static const struct wg_alu_row rows[] = {
#include "exec/alu_float.def"
};
const wg_handler WG_ISA_NAME(wg_alu_fma_by_one)[2] = {fma_f32_SVV, fma_f32_VSV};
extern const struct wg_alu_table WG_ISA_NAME(wg_alu_float);
const struct wg_alu_table WG_ISA_NAME(wg_alu_float) = {rows, sizeof rows / sizeof *rows};
