/* alu_rows.h - the macros that expand one row into handlers: WG_ALU1 to 4 for values, WG_ALU_CMP and others for masks.
 *
 * A row of value kind is (name, key, result type, source types..., expression over a, b, c, f). It becomes f_NAME, the
 * lane expression, and one handler per form and mask. V reads lane l of a vector, S a scalar. Rows named _K see also k,
 * the instruction's imm. After the handlers, alu_table.h turns the same rows into the list that wg_alu_select reads. */
#ifndef WG_EXEC_ALU_ROWS_H
#define WG_EXEC_ALU_ROWS_H
#include "exec/alu.h"
#include "exec/approx.h"
#include "exec/warp.h"

/* Short names for keys in the .def files. */
#define K(op, type) WG_KEY_OP(op) | WG_KEY_T0(type)
#define KT(type) | WG_KEY_T1(type)
#define KR(round) | WG_KEY_ROUND(round)
#define KC(cmp) | WG_KEY_CMP(cmp)
#define KH(half) | WG_KEY_HALF(half)
#define KS(sub) | WG_KEY_SUB(sub)
#define KN(nsrc) | WG_KEY_NSRC(nsrc)
#define KF(flags) | WG_KEY_FLAGS(flags)

/* A masked handler hands over to the plain one when all lanes are on; the hostile build always blends. */
#ifdef WG_HOSTILE
#define WG_ALU_FULL(m) false
#else
#define WG_ALU_FULL(m) __builtin_expect((m) == ~0u, 1)
#endif

#if defined(__clang__) && defined(WG_TAIL_CALLS)
#define WG_INSTEAD(name) __attribute__((musttail)) return name(w, i, R)
#else
#define WG_INSTEAD(name) return name(w, i, R)
#endif

#define WG_DECL_V(T, x) const T *x##_ = WG_VEC(T, i->x);
#define WG_DECL_S(T, x) const T x##_ = *WG_AS(T, i->x);
#define WG_GET_V(x) x##_[l]
#define WG_GET_S(x) x##_
/* d[l] = x where lane l is in m. Selecting by bits keeps the compiler from computing x under a condition. */
#define WG_LESS(x, y) ((x) < (y) ? (x) : (y))
#define WG_KEEP(m, TD, x)                                                                                              \
    do {                                                                                                               \
        const TD x_ = (x);                                                                                             \
        if (sizeof(TD) == 8) {                                                                                         \
            uint64_t n_ = 0, o_ = 0;                                                                                   \
            memcpy(&n_, &x_, WG_LESS(sizeof(TD), sizeof n_));                                                          \
            memcpy(&o_, &d[l], WG_LESS(sizeof(TD), sizeof n_));                                                        \
            o_ ^= (uint64_t)((o_ ^ n_) & (0 - (uint64_t)(((m) & wg_lanes_bit64[l]) != 0)));                            \
            memcpy(&d[l], &o_, WG_LESS(sizeof(TD), sizeof n_));                                                        \
        } else if (sizeof(TD) == 4) {                                                                                  \
            uint32_t n_ = 0, o_ = 0;                                                                                   \
            memcpy(&n_, &x_, WG_LESS(sizeof(TD), sizeof n_));                                                          \
            memcpy(&o_, &d[l], WG_LESS(sizeof(TD), sizeof n_));                                                        \
            o_ ^= (uint32_t)((o_ ^ n_) & (0 - (uint32_t)(((m) & wg_lanes_bit32[l]) != 0)));                            \
            memcpy(&d[l], &o_, WG_LESS(sizeof(TD), sizeof n_));                                                        \
        } else {                                                                                                       \
            uint16_t n_ = 0, o_ = 0;                                                                                   \
            memcpy(&n_, &x_, WG_LESS(sizeof(TD), sizeof n_));                                                          \
            memcpy(&o_, &d[l], WG_LESS(sizeof(TD), sizeof n_));                                                        \
            o_ ^= (uint16_t)((o_ ^ n_) & (0 - (uint32_t)(((m) & wg_lanes_bit32[l]) != 0)));                            \
            memcpy(&d[l], &o_, WG_LESS(sizeof(TD), sizeof n_));                                                        \
        }                                                                                                              \
    } while (0)

/* Scalar results are zero-extended to their 8-byte slot. */
#define WG_PUT_S(TD, x)                                                                                                \
    do {                                                                                                               \
        const TD r_ = (x);                                                                                             \
        uint64_t z_ = 0;                                                                                               \
        memcpy(&z_, &r_, sizeof r_);                                                                                   \
        *WG_AS(uint64_t, i->d) = z_;                                                                                   \
    } while (0)

/* A plain and a masked handler: decls are the operands, x the value of lane l. */
#define WG_PAIR_V(name, TD, decls, x)                                                                                  \
    __attribute__((noinline)) WG_HANDLER(name)                                                                         \
    {                                                                                                                  \
        TD *d = WG_VEC(TD, i->d);                                                                                      \
        decls WG_LANES_LOOP(l) d[l] = (x);                                                                             \
        WG_NEXT;                                                                                                       \
    }                                                                                                                  \
    WG_HANDLER(name##_m)                                                                                               \
    {                                                                                                                  \
        const uint32_t m = WG_ON;                                                                                      \
        if (WG_ALU_FULL(m))                                                                                            \
            WG_INSTEAD(name);                                                                                          \
        TD *d = WG_VEC(TD, i->d);                                                                                      \
        decls WG_LANES_LOOP(l) WG_KEEP(m, TD, x);                                                                      \
        WG_NEXT;                                                                                                       \
    }
#define WG_PAIR_S(name, TD, decls, x)                                                                                  \
    WG_HANDLER(name)                                                                                                   \
    {                                                                                                                  \
        decls WG_PUT_S(TD, x);                                                                                         \
        WG_NEXT;                                                                                                       \
    }                                                                                                                  \
    WG_HANDLER(name##_m)                                                                                               \
    {                                                                                                                  \
        if (WG_ON) {                                                                                                   \
            decls WG_PUT_S(TD, x);                                                                                     \
        }                                                                                                              \
        WG_NEXT;                                                                                                       \
    }
#define WG_H(name, form) name##_##form, name##_##form##_m

/* Rare rows have two bodies, vector and scalar; handlers shared by all rows (alu_rare.c) call them through i->p and do
 * the masking. Cold rows (_C) are rarer still: their loop stays scalar, which keeps the library small and the build
 * quick. */
#define WG_LOOP(l) WG_LANES_LOOP(l)
#define WG_LOOP_C(l) for (int l = 0; l < WG_LANES && wg_lanes_opaque(&l); l++)
#define WG_RARE(C, name, TD, decls_v, xv, decls_s, xs)                                                                 \
    static void name##_V(const struct wg_inst *i, char *R)                                                             \
    {                                                                                                                  \
        TD *d = WG_VEC(TD, i->d);                                                                                      \
        decls_v WG_LOOP##C(l) d[l] = (xv);                                                                             \
    }                                                                                                                  \
    static void name##_S(const struct wg_inst *i, char *R)                                                             \
    {                                                                                                                  \
        decls_s WG_PUT_S(TD, xs);                                                                                      \
    }                                                                                                                  \
    static const struct wg_alu_bodies h_##name = {name##_V, name##_S, sizeof(TD)};

/* Rare rows of one to four sources. */
#define WG_RARE1(C, name, TD, TA, ...)                                                                                 \
    WG_INLINE TD f_##name(TA a) { return (TD)(__VA_ARGS__); }                                                          \
    WG_RARE(C, name, TD, WG_DECL_V(TA, a), f_##name(a_[l]), WG_DECL_S(TA, a), f_##name(a_))
#define WG_RARE2(C, name, TD, TA, TB, ...)                                                                             \
    WG_INLINE TD f_##name(TA a, TB b) { return (TD)(__VA_ARGS__); }                                                    \
    WG_RARE(C, name, TD, WG_DECL_V(TA, a) WG_DECL_V(TB, b), f_##name(a_[l], b_[l]),                                    \
            WG_DECL_S(TA, a) WG_DECL_S(TB, b), f_##name(a_, b_))
#define WG_RARE3(C, name, TD, TA, TB, TC, ...)                                                                         \
    WG_INLINE TD f_##name(TA a, TB b, TC c) { return (TD)(__VA_ARGS__); }                                              \
    WG_RARE(C, name, TD, WG_DECL_V(TA, a) WG_DECL_V(TB, b) WG_DECL_V(TC, c), f_##name(a_[l], b_[l], c_[l]),            \
            WG_DECL_S(TA, a) WG_DECL_S(TB, b) WG_DECL_S(TC, c), f_##name(a_, b_, c_))
#define WG_ALU4(name, key, TD, TA, TB, TC, TF, ...)                                                                    \
    WG_INLINE TD f_##name(TA a, TB b, TC c, TF f) { return (TD)(__VA_ARGS__); }                                        \
    WG_RARE(, name, TD, WG_DECL_V(TA, a) WG_DECL_V(TB, b) WG_DECL_V(TC, c) WG_DECL_V(TF, f),                           \
            f_##name(a_[l], b_[l], c_[l], f_[l]),                                                                      \
            WG_DECL_S(TA, a) WG_DECL_S(TB, b) WG_DECL_S(TC, c) WG_DECL_S(TF, f), f_##name(a_, b_, c_, f_))
#define WG_ALU1(name, key, ...) WG_RARE1(, name, __VA_ARGS__)
#define WG_ALU2(name, key, ...) WG_RARE2(, name, __VA_ARGS__)
#define WG_ALU3(name, key, ...) WG_RARE3(, name, __VA_ARGS__)
#define WG_ALU1_C(name, key, ...) WG_RARE1(_C, name, __VA_ARGS__)
#define WG_ALU2_C(name, key, ...) WG_RARE2(_C, name, __VA_ARGS__)
#define WG_ALU3_C(name, key, ...) WG_RARE3(_C, name, __VA_ARGS__)

/* Rare rows that serve every combination of modifiers: their expression sees z, made from k1. */
struct wg_alu_mods {
    uint32_t ftz, sat, satfinite, relu, nan, xorsign; /* each 0 or ~0 */
    uint32_t near, zero, down, up, integer;           /* of cvt: rounding, and whether to an integer */
};
WG_INLINE struct wg_alu_mods wg_alu_mods(unsigned k1)
{
    return (struct wg_alu_mods){
        .ftz = k1 & WG_KF_FTZ ? ~0u : 0,
        .sat = k1 & WG_KF_SAT ? ~0u : 0,
        .satfinite = k1 & WG_KF_SATFINITE ? ~0u : 0,
        .relu = k1 & WG_KF_RELU ? ~0u : 0,
        .nan = k1 & WG_KF_NAN ? ~0u : 0,
        .xorsign = k1 & WG_KF_XORSIGN ? ~0u : 0,
    };
}
/* cvt keeps its rounding in the upper half of k1. */
WG_INLINE struct wg_alu_mods wg_cvt_mods(unsigned k1)
{
    const unsigned r = k1 >> 4;
    struct wg_alu_mods z = wg_alu_mods(k1 & 15);
    z.near = r == WG_ROUND_RN || r == WG_ROUND_RNI ? ~0u : 0;
    z.zero = r == WG_ROUND_RZ || r == WG_ROUND_RZI ? ~0u : 0;
    z.down = r == WG_ROUND_RM || r == WG_ROUND_RMI ? ~0u : 0;
    z.up = r == WG_ROUND_RP || r == WG_ROUND_RPI ? ~0u : 0;
    z.integer = r >= WG_ROUND_RNI ? ~0u : 0;
    return z;
}
#ifndef WG_MODS
#define WG_MODS wg_alu_mods
#endif
#define WG_DECL_MODS const struct wg_alu_mods z = WG_MODS(i->k1);
#define WG_RARE1_D(C, name, TD, TA, ...)                                                                               \
    WG_INLINE TD f_##name(TA a, const struct wg_alu_mods z) { return (void)z, (TD)(__VA_ARGS__); }                     \
    WG_RARE(C, name, TD, WG_DECL_MODS WG_DECL_V(TA, a), f_##name(a_[l], z), WG_DECL_MODS WG_DECL_S(TA, a),             \
            f_##name(a_, z))
#define WG_RARE2_D(C, name, TD, TA, TB, ...)                                                                           \
    WG_INLINE TD f_##name(TA a, TB b, const struct wg_alu_mods z) { return (void)z, (TD)(__VA_ARGS__); }               \
    WG_RARE(C, name, TD, WG_DECL_MODS WG_DECL_V(TA, a) WG_DECL_V(TB, b), f_##name(a_[l], b_[l], z),                    \
            WG_DECL_MODS WG_DECL_S(TA, a) WG_DECL_S(TB, b), f_##name(a_, b_, z))
#define WG_RARE3_D(C, name, TD, TA, TB, TC, ...)                                                                       \
    WG_INLINE TD f_##name(TA a, TB b, TC c, const struct wg_alu_mods z) { return (void)z, (TD)(__VA_ARGS__); }         \
    WG_RARE(C, name, TD, WG_DECL_MODS WG_DECL_V(TA, a) WG_DECL_V(TB, b) WG_DECL_V(TC, c),                              \
            f_##name(a_[l], b_[l], c_[l], z),                                                                          \
            WG_DECL_MODS WG_DECL_S(TA, a) WG_DECL_S(TB, b) WG_DECL_S(TC, c), f_##name(a_, b_, c_, z))
#define WG_ALU1_D(name, key, ...) WG_RARE1_D(, name, __VA_ARGS__)
#define WG_ALU2_D(name, key, ...) WG_RARE2_D(, name, __VA_ARGS__)
#define WG_ALU3_D(name, key, ...) WG_RARE3_D(, name, __VA_ARGS__)
#define WG_ALU1_DC(name, key, ...) WG_RARE1_D(_C, name, __VA_ARGS__)
#define WG_ALU2_DC(name, key, ...) WG_RARE2_D(_C, name, __VA_ARGS__)
#define WG_ALU3_DC(name, key, ...) WG_RARE3_D(_C, name, __VA_ARGS__)

/* Hot rows have a handler for each mix of scalar and vector sources. Unary ones also broadcast a scalar. */
#define WG_FORM1(name, TD, TA, A) WG_PAIR_V(name##_##A, TD, WG_DECL_##A(TA, a), f_##name(WG_GET_##A(a)))
#define WG_FORM2(name, TD, TA, TB, A, B)                                                                               \
    WG_PAIR_V(name##_##A##B, TD, WG_DECL_##A(TA, a) WG_DECL_##B(TB, b), f_##name(WG_GET_##A(a), WG_GET_##B(b)))
#define WG_FORM3(name, TD, TA, TB, TC, A, B, C)                                                                        \
    WG_PAIR_V(name##_##A##B##C, TD, WG_DECL_##A(TA, a) WG_DECL_##B(TB, b) WG_DECL_##C(TC, c),                          \
              f_##name(WG_GET_##A(a), WG_GET_##B(b), WG_GET_##C(c)))
#define WG_ALU1_HOT(name, key, TD, TA, ...)                                                                            \
    WG_INLINE TD f_##name(TA a) { return (TD)(__VA_ARGS__); }                                                          \
    WG_FORM1(name, TD, TA, V)                                                                                          \
    WG_FORM1(name, TD, TA, S)                                                                                          \
    WG_PAIR_S(name##_s, TD, WG_DECL_S(TA, a), f_##name(a_))                                                            \
    static const wg_handler h_##name[] = {WG_H(name, s), WG_H(name, V), WG_H(name, S)};
#define WG_ALU2_HOT(name, key, TD, TA, TB, ...)                                                                        \
    WG_INLINE TD f_##name(TA a, TB b) { return (TD)(__VA_ARGS__); }                                                    \
    WG_FORM2(name, TD, TA, TB, V, V)                                                                                   \
    WG_FORM2(name, TD, TA, TB, S, V)                                                                                   \
    WG_FORM2(name, TD, TA, TB, V, S)                                                                                   \
    WG_PAIR_S(name##_s, TD, WG_DECL_S(TA, a) WG_DECL_S(TB, b), f_##name(a_, b_))                                       \
    static const wg_handler h_##name[] = {WG_H(name, s), WG_H(name, VV), WG_H(name, SV), WG_H(name, VS)};
#define WG_ALU3_HOT(name, key, TD, TA, TB, TC, ...)                                                                    \
    WG_INLINE TD f_##name(TA a, TB b, TC c) { return (TD)(__VA_ARGS__); }                                              \
    WG_FORM3(name, TD, TA, TB, TC, V, V, V)                                                                            \
    WG_FORM3(name, TD, TA, TB, TC, S, V, V)                                                                            \
    WG_FORM3(name, TD, TA, TB, TC, V, S, V)                                                                            \
    WG_FORM3(name, TD, TA, TB, TC, S, S, V)                                                                            \
    WG_FORM3(name, TD, TA, TB, TC, V, V, S)                                                                            \
    WG_FORM3(name, TD, TA, TB, TC, S, V, S)                                                                            \
    WG_FORM3(name, TD, TA, TB, TC, V, S, S)                                                                            \
    WG_PAIR_S(name##_s, TD, WG_DECL_S(TA, a) WG_DECL_S(TB, b) WG_DECL_S(TC, c), f_##name(a_, b_, c_))                  \
    static const wg_handler h_##name[] = {WG_H(name, s),   WG_H(name, VVV), WG_H(name, SVV), WG_H(name, VSV),          \
                                          WG_H(name, SSV), WG_H(name, VVS), WG_H(name, SVS), WG_H(name, VSS)};
/* The all-vector and all-scalar forms only. */
#define WG_ALU2_WARM(name, key, TD, TA, TB, ...)                                                                       \
    WG_INLINE TD f_##name(TA a, TB b) { return (TD)(__VA_ARGS__); }                                                    \
    WG_FORM2(name, TD, TA, TB, V, V)                                                                                   \
    WG_PAIR_S(name##_s, TD, WG_DECL_S(TA, a) WG_DECL_S(TB, b), f_##name(a_, b_))                                       \
    static const wg_handler h_##name[] = {WG_H(name, s), WG_H(name, VV)};
#define WG_ALU3_WARM(name, key, TD, TA, TB, TC, ...)                                                                   \
    WG_INLINE TD f_##name(TA a, TB b, TC c) { return (TD)(__VA_ARGS__); }                                              \
    WG_FORM3(name, TD, TA, TB, TC, V, V, V)                                                                            \
    WG_PAIR_S(name##_s, TD, WG_DECL_S(TA, a) WG_DECL_S(TB, b) WG_DECL_S(TC, c), f_##name(a_, b_, c_))                  \
    static const wg_handler h_##name[] = {WG_H(name, s), WG_H(name, VVV)};
/* A constant k from the instruction. */
#define WG_ALU3_K(name, key, TD, TA, TB, TC, ...)                                                                      \
    WG_INLINE TD f_##name(TA a, TB b, TC c, const int64_t k) { return (TD)(__VA_ARGS__); }                             \
    WG_PAIR_V(name##_VVV, TD, const int64_t k = i->imm; WG_DECL_V(TA, a) WG_DECL_V(TB, b) WG_DECL_V(TC, c),            \
              f_##name(a_[l], b_[l], c_[l], k))                                                                        \
    WG_PAIR_S(name##_s, TD, const int64_t k = i->imm; WG_DECL_S(TA, a) WG_DECL_S(TB, b) WG_DECL_S(TC, c),              \
              f_##name(a_, b_, c_, k))                                                                                 \
    static const wg_handler h_##name[] = {WG_H(name, s), WG_H(name, VVV)};

/* ---- masks ---- */
/* Write x to predicate slot off in the lanes of on. */
#define WG_PUT_P(off, x, on) WG_P(off) = (WG_P(off) & ~(on)) | ((x) & (on))
WG_INLINE uint32_t wg_alu_bool(uint32_t t, uint32_t g, unsigned k1)
{
    switch (k1 & WG_ALU_BOOL) {
    case WG_BOOL_AND:
        return t & g;
    case WG_BOOL_OR:
        return t | g;
    case WG_BOOL_XOR:
        return t ^ g;
    default:
        return t;
    }
}
#define WG_NEGATED(bit) (i->k1 & (bit) ? ~0u : 0u)
/* The rest of a setp whose comparison gave t and that combines it with g or has a second result: d = t op g,
 * e = u op g; of set: the value imm where t op g holds, else 0. Out of line (alu_rare.c): few instructions need it. */
void WG_ISA_NAME(wg_alu_setp)(const struct wg_inst *i, char *R, uint32_t t, uint32_t u, uint32_t on);
void WG_ISA_NAME(wg_alu_set)(const struct wg_inst *i, char *R, uint32_t t, uint32_t u, uint32_t on);
void WG_ISA_NAME(wg_alu_set_s)(const struct wg_inst *i, char *R, uint32_t t, uint32_t u, uint32_t on);
#define WG_SETP(t, on)                                                                                                 \
    do {                                                                                                               \
        const uint32_t t_ = (t), on_ = (on);                                                                           \
        if (__builtin_expect(i->k1, 0))                                                                                \
            WG_ISA_NAME(wg_alu_setp)(i, R, t_, ~t_, on_);                                                              \
        else                                                                                                           \
            WG_PUT_P(i->d, t_, on_);                                                                                   \
    } while (0)
/* Mask of the lanes where x holds. */
#define WG_MASK_OF(var, x)                                                                                             \
    uint32_t var##_w[WG_LANES] __attribute__((aligned(64)));                                                           \
    WG_LANES_LOOP(l) var##_w[l] = (x) ? ~0u : 0;                                                                       \
    const uint32_t var = wg_lanes_mask(var##_w)
#define WG_FORM_CMP(name, TA, TB, A, B)                                                                                \
    WG_HANDLER(name##_##A##B)                                                                                          \
    {                                                                                                                  \
        WG_DECL_##A(TA, a) WG_DECL_##B(TB, b)                                                                          \
        WG_MASK_OF(t, f_##name(WG_GET_##A(a), WG_GET_##B(b)));                                                         \
        WG_SETP(t, ~0u);                                                                                               \
        WG_NEXT;                                                                                                       \
    }                                                                                                                  \
    WG_HANDLER(name##_##A##B##_m)                                                                                      \
    {                                                                                                                  \
        WG_DECL_##A(TA, a) WG_DECL_##B(TB, b)                                                                          \
        WG_MASK_OF(t, f_##name(WG_GET_##A(a), WG_GET_##B(b)));                                                         \
        WG_SETP(t, WG_ON);                                                                                             \
        WG_NEXT;                                                                                                       \
    }
#define WG_SCALAR_CMP(name, TA, TB)                                                                                    \
    WG_HANDLER(name##_s)                                                                                               \
    {                                                                                                                  \
        WG_SETP(f_##name(*WG_AS(TA, i->a), *WG_AS(TB, i->b)) ? ~0u : 0, ~0u);                                          \
        WG_NEXT;                                                                                                       \
    }                                                                                                                  \
    WG_HANDLER(name##_s_m)                                                                                             \
    {                                                                                                                  \
        if (WG_ON)                                                                                                     \
            WG_SETP(f_##name(*WG_AS(TA, i->a), *WG_AS(TB, i->b)) ? ~0u : 0, ~0u);                                      \
        WG_NEXT;                                                                                                       \
    }
/* A comparison of setp. Its key leaves the operation out, as those of set below. */
#define WG_ALU_CMP(name, key, TA, TB, ...)                                                                             \
    WG_INLINE bool f_##name(TA a, TB b) { return (__VA_ARGS__); }                                                      \
    WG_FORM_CMP(name, TA, TB, V, V)                                                                                    \
    WG_FORM_CMP(name, TA, TB, S, V)                                                                                    \
    WG_FORM_CMP(name, TA, TB, V, S)                                                                                    \
    WG_SCALAR_CMP(name, TA, TB)                                                                                        \
    static const wg_handler h_##name[] = {WG_H(name, s), WG_H(name, VV), WG_H(name, SV), WG_H(name, VS)};
/* All comparisons of a rare type, and set of any: which of less, greater, equal, unordered hold is a set of bits,
 * WG_REL_*, in imm's upper half. value(x): what C compares; n: halves in a word of T (2: results for the low and the
 * high one). */
#define WG_REL_ONE(x, y) wg_alu_related(i->imm, (x) < (y) ? ~0u : 0, (x) > (y) ? ~0u : 0, (x) == (y) ? ~0u : 0)
WG_INLINE uint32_t wg_alu_related(int64_t imm, uint32_t lt, uint32_t gt, uint32_t eq)
{
    const uint32_t k = (uint32_t)(imm >> 32);
    return (k & WG_REL_LT ? lt : 0) | (k & WG_REL_GT ? gt : 0) | (k & WG_REL_EQ ? eq : 0) |
           (k & WG_REL_UN ? ~(lt | gt | eq) : 0);
}
#define WG_ALU_REL(name, key, T, n, value)                                                                             \
    __attribute__((noinline)) static uint32_t name##_half(const struct wg_inst *i, char *R, int h)                     \
    {                                                                                                                  \
        WG_DECL_V(T, a) WG_DECL_V(T, b)                                                                                \
        uint32_t r = 0;                                                                                                \
        WG_LOOP_C(l)                                                                                                   \
        {                                                                                                              \
            const T x = n == 1 ? a_[l] : (T)((uint64_t)a_[l] >> 16 * h);                                               \
            const T y = n == 1 ? b_[l] : (T)((uint64_t)b_[l] >> 16 * h);                                               \
            r |= (WG_REL_ONE(value(x), value(y)) & 1) << l;                                                            \
        }                                                                                                              \
        return r;                                                                                                      \
    }                                                                                                                  \
    __attribute__((noinline)) static uint32_t name##_sc(const struct wg_inst *i, char *R, int h)                       \
    {                                                                                                                  \
        const T a = *WG_AS(T, i->a), b = *WG_AS(T, i->b);                                                              \
        return h ? WG_REL_ONE(value((T)((uint64_t)a >> 16)), value((T)((uint64_t)b >> 16)))                            \
                 : WG_REL_ONE(value(a), value(b));                                                                     \
    }                                                                                                                  \
    WG_HANDLER(name##_p)                                                                                               \
    {                                                                                                                  \
        const uint32_t t = name##_half(i, R, 0), on = i->k1 & WG_ALU_MASKED ? WG_ON : ~0u;                             \
        WG_ISA_NAME(wg_alu_setp)(i, R, t, n == 1 ? ~t : name##_half(i, R, 1), on);                                     \
        WG_NEXT;                                                                                                       \
    }                                                                                                                  \
    WG_HANDLER(name##_ps)                                                                                              \
    {                                                                                                                  \
        const uint32_t t = name##_sc(i, R, 0), on = !(i->k1 & WG_ALU_MASKED) || WG_ON ? ~0u : 0;                       \
        WG_ISA_NAME(wg_alu_setp)(i, R, t, n == 1 ? ~t : name##_sc(i, R, 1), on);                                       \
        WG_NEXT;                                                                                                       \
    }                                                                                                                  \
    WG_HANDLER(name##_set)                                                                                             \
    {                                                                                                                  \
        const uint32_t t = name##_half(i, R, 0), on = i->k1 & WG_ALU_MASKED ? WG_ON : ~0u;                             \
        WG_ISA_NAME(wg_alu_set)(i, R, t, n == 1 ? t : name##_half(i, R, 1), on);                                       \
        WG_NEXT;                                                                                                       \
    }                                                                                                                  \
    WG_HANDLER(name##_sets)                                                                                            \
    {                                                                                                                  \
        const uint32_t t = name##_sc(i, R, 0), on = !(i->k1 & WG_ALU_MASKED) || WG_ON ? ~0u : 0;                       \
        WG_ISA_NAME(wg_alu_set_s)(i, R, t, n == 1 ? t : name##_sc(i, R, 1), on);                                       \
        WG_NEXT;                                                                                                       \
    }                                                                                                                  \
    static const wg_handler h_##name[] = {name##_ps, name##_ps, name##_p, name##_p};                                   \
    static const wg_handler h_##name##_set[] = {name##_sets, name##_sets, name##_set, name##_set};
/* A test of one value: testp. */
#define WG_ALU_TEST(name, key, TA, ...)                                                                                \
    WG_INLINE bool f_##name(TA a) { return (__VA_ARGS__); }                                                            \
    WG_HANDLER(name##_m)                                                                                               \
    {                                                                                                                  \
        WG_DECL_V(TA, a)                                                                                               \
        WG_MASK_OF(t, f_##name(a_[l]));                                                                                \
        const uint32_t m = WG_ON;                                                                                      \
        WG_PUT_P(i->d, t, m);                                                                                          \
        WG_NEXT;                                                                                                       \
    }                                                                                                                  \
    WG_HANDLER(name)                                                                                                   \
    {                                                                                                                  \
        WG_DECL_V(TA, a)                                                                                               \
        WG_MASK_OF(t, f_##name(a_[l]));                                                                                \
        WG_P(i->d) = t;                                                                                                \
        WG_NEXT;                                                                                                       \
    }                                                                                                                  \
    WG_HANDLER(name##_s_m)                                                                                             \
    {                                                                                                                  \
        if (WG_ON)                                                                                                     \
            WG_P(i->d) = f_##name(*WG_AS(TA, i->a)) ? ~0u : 0;                                                         \
        WG_NEXT;                                                                                                       \
    }                                                                                                                  \
    WG_HANDLER(name##_s)                                                                                               \
    {                                                                                                                  \
        WG_P(i->d) = f_##name(*WG_AS(TA, i->a)) ? ~0u : 0;                                                             \
        WG_NEXT;                                                                                                       \
    }                                                                                                                  \
    static const wg_handler h_##name[] = {WG_H(name, s), name, name##_m};
/* Logic of predicates a and b, whole masks in either class; k1 bits 0 and 1 negate them. */
#define WG_ALU_MASK(name, key, nsrc, ...)                                                                              \
    WG_INLINE uint32_t f_##name(uint32_t a, uint32_t b) { return (void)b, (__VA_ARGS__); }                             \
    WG_HANDLER(name)                                                                                                   \
    {                                                                                                                  \
        WG_P(i->d) = f_##name(WG_P(i->a) ^ WG_NEGATED(1), nsrc == 2 ? WG_P(i->b) ^ WG_NEGATED(2) : 0);                 \
        WG_NEXT;                                                                                                       \
    }                                                                                                                  \
    WG_HANDLER(name##_m)                                                                                               \
    {                                                                                                                  \
        const uint32_t m = WG_ON, r = f_##name(WG_P(i->a) ^ WG_NEGATED(1), nsrc == 2 ? WG_P(i->b) ^ WG_NEGATED(2) : 0);\
        WG_PUT_P(i->d, r, m);                                                                                          \
        WG_NEXT;                                                                                                       \
    }                                                                                                                  \
    WG_HANDLER(name##_s_m)                                                                                             \
    {                                                                                                                  \
        if (WG_ON)                                                                                                     \
            WG_P(i->d) = f_##name(WG_P(i->a) ^ WG_NEGATED(1), nsrc == 2 ? WG_P(i->b) ^ WG_NEGATED(2) : 0);             \
        WG_NEXT;                                                                                                       \
    }                                                                                                                  \
    static const wg_handler h_##name[] = {name, name##_s_m, name, name##_m};
/* selp: a where predicate c holds, else b. */
#define WG_FORM_SEL(name, T, A, B)                                                                                     \
    WG_PAIR_V(name##_##A##B, T, const uint32_t p = WG_P(i->c) ^ WG_NEGATED(1); WG_DECL_##A(T, a) WG_DECL_##B(T, b),    \
              WG_LANES_IN(p, l, sizeof(T)) ? WG_GET_##A(a) : WG_GET_##B(b))
#define WG_ALU_SEL(name, key, T)                                                                                       \
    WG_FORM_SEL(name, T, V, V)                                                                                         \
    WG_FORM_SEL(name, T, S, V)                                                                                         \
    WG_FORM_SEL(name, T, V, S)                                                                                         \
    WG_FORM_SEL(name, T, S, S)                                                                                         \
    WG_PAIR_S(name##_s, T, const uint32_t p = WG_P(i->c) ^ WG_NEGATED(1); WG_DECL_S(T, a) WG_DECL_S(T, b),             \
              p & 1 ? a_ : b_)                                                                                         \
    static const wg_handler h_##name[] = {WG_H(name, s), WG_H(name, VV), WG_H(name, SV), WG_H(name, VS),               \
                                          WG_H(name, SS)};
/* Carry chains: value and carry-out over a, b, c and the carry-in x (0 or 1). use: 1 reads e, 2 writes e, 3 both. */
#define WG_FORM_CC(name, T, nsrc, use, sfx, on)                                                                        \
    WG_HANDLER(name##_V##sfx)                                                                                          \
    {                                                                                                                  \
        T *d = WG_VEC(T, i->d);                                                                                        \
        const uint32_t m = (on), x = (use)&1 ? WG_P(i->e) : 0;                                                         \
        const T *c_ = WG_VEC(T, (nsrc) == 3 ? i->c : i->a);                                                            \
        WG_DECL_V(T, a) WG_DECL_V(T, b)                                                                                \
        if ((use)&2) {                                                                                                 \
            WG_MASK_OF(t, fc_##name(a_[l], b_[l], c_[l], WG_LANES_IN(x, l, sizeof(T))));                               \
            WG_PUT_P(i->e, t, m);                                                                                      \
        }                                                                                                              \
        WG_LANES_LOOP(l) WG_KEEP(m, T, f_##name(a_[l], b_[l], c_[l], WG_LANES_IN(x, l, sizeof(T))));                   \
        WG_NEXT;                                                                                                       \
    }                                                                                                                  \
    WG_HANDLER(name##_s##sfx)                                                                                          \
    {                                                                                                                  \
        if (on) {                                                                                                      \
            const uint32_t x = (use)&1 ? WG_P(i->e) & 1 : 0;                                                           \
            const T c_ = *WG_AS(T, (nsrc) == 3 ? i->c : i->a);                                                         \
            WG_DECL_S(T, a) WG_DECL_S(T, b)                                                                            \
            if ((use)&2)                                                                                               \
                WG_P(i->e) = fc_##name(a_, b_, c_, x) ? ~0u : 0;                                                       \
            WG_PUT_S(T, f_##name(a_, b_, c_, x));                                                                      \
        }                                                                                                              \
        WG_NEXT;                                                                                                       \
    }
#define WG_ALU_CC(name, key, T, nsrc, use, value, carry)                                                               \
    WG_INLINE T f_##name(T a, T b, T c, uint32_t x) { return (void)x, (void)c, (T)(value); }                           \
    WG_INLINE bool fc_##name(T a, T b, T c, uint32_t x) { return (void)a, (void)b, (void)x, (void)c, (carry); }        \
    WG_FORM_CC(name, T, nsrc, use, , ~0u)                                                                              \
    WG_FORM_CC(name, T, nsrc, use, _m, WG_ON)                                                                          \
    static const wg_handler h_##name[] = {WG_H(name, s), WG_H(name, V)};
#endif
