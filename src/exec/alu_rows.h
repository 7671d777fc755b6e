/* alu_rows.h - the macros that expand one row into handlers: WG_ALU1/2/3 for values, WG_ALU_CMP for masks.
 *
 * Each row becomes f_NAME, the lane expression, and one handler per form. V reads lane l of a vector, S a scalar. */
#ifndef WG_EXEC_ALU_ROWS_H
#define WG_EXEC_ALU_ROWS_H
#include "exec/alu.h"
#if __has_include("exec/warp.h")
#include "exec/warp.h"
#else
struct wg_warp {
    uint32_t mask; /* the first member of the full definition */
};
#endif

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
#define WG_KEEP(m, TD, x)                                                                                              \
    do {                                                                                                               \
        const TD x_ = (x);                                                                                             \
        if (sizeof(TD) == 8) {                                                                                         \
            uint64_t n_, o_;                                                                                           \
            memcpy(&n_, &x_, sizeof(TD));                                                                              \
            memcpy(&o_, &d[l], sizeof(TD));                                                                            \
            o_ ^= (o_ ^ n_) & (0 - (uint64_t)(((m) & wg_lanes_bit64[l]) != 0));                                        \
            memcpy(&d[l], &o_, sizeof(TD));                                                                            \
        } else if (sizeof(TD) == 4) {                                                                                  \
            uint32_t n_, o_;                                                                                           \
            memcpy(&n_, &x_, sizeof(TD));                                                                              \
            memcpy(&o_, &d[l], sizeof(TD));                                                                            \
            o_ ^= (o_ ^ n_) & (0 - (uint32_t)(((m) & wg_lanes_bit32[l]) != 0));                                        \
            memcpy(&d[l], &o_, sizeof(TD));                                                                            \
        } else {                                                                                                       \
            uint16_t n_, o_;                                                                                           \
            memcpy(&n_, &x_, sizeof(TD));                                                                              \
            memcpy(&o_, &d[l], sizeof(TD));                                                                            \
            o_ ^= (uint16_t)((o_ ^ n_) & (0 - (uint32_t)(((m) & wg_lanes_bit32[l]) != 0)));                            \
            memcpy(&d[l], &o_, sizeof(TD));                                                                            \
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
    WG_HANDLER(name)                                                                                                   \
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

#define WG_FORM1(name, TD, TA, A) WG_PAIR_V(name##_##A, TD, WG_DECL_##A(TA, a), f_##name(WG_GET_##A(a)))
#define WG_FORM2(name, TD, TA, TB, A, B)                                                                               \
    WG_PAIR_V(name##_##A##B, TD, WG_DECL_##A(TA, a) WG_DECL_##B(TB, b), f_##name(WG_GET_##A(a), WG_GET_##B(b)))
#define WG_FORM3(name, TD, TA, TB, TC, A, B, C)                                                                        \
    WG_PAIR_V(name##_##A##B##C, TD, WG_DECL_##A(TA, a) WG_DECL_##B(TB, b) WG_DECL_##C(TC, c),                          \
              f_##name(WG_GET_##A(a), WG_GET_##B(b), WG_GET_##C(c)))
#define WG_SCALAR1(name, TD, TA) WG_PAIR_S(name##_s, TD, WG_DECL_S(TA, a), f_##name(a_))
#define WG_SCALAR2(name, TD, TA, TB) WG_PAIR_S(name##_s, TD, WG_DECL_S(TA, a) WG_DECL_S(TB, b), f_##name(a_, b_))
#define WG_SCALAR3(name, TD, TA, TB, TC)                                                                               \
    WG_PAIR_S(name##_s, TD, WG_DECL_S(TA, a) WG_DECL_S(TB, b) WG_DECL_S(TC, c), f_##name(a_, b_, c_))
#define WG_H(name, form) name##_##form, name##_##form##_m

/* Unary; MOV rows also broadcast a scalar. */
#define WG_ALU1(name, key, TD, TA, ...)                                                                                \
    WG_INLINE TD f_##name(TA a) { return (TD)(__VA_ARGS__); }                                                          \
    WG_FORM1(name, TD, TA, V)                                                                                          \
    WG_SCALAR1(name, TD, TA)                                                                                           \
    static const wg_handler h_##name[] = {WG_H(name, s), WG_H(name, V)};
#define WG_ALU1_HOT(name, key, TD, TA, ...)                                                                            \
    WG_INLINE TD f_##name(TA a) { return (TD)(__VA_ARGS__); }                                                          \
    WG_FORM1(name, TD, TA, V)                                                                                          \
    WG_FORM1(name, TD, TA, S)                                                                                          \
    WG_SCALAR1(name, TD, TA)                                                                                           \
    static const wg_handler h_##name[] = {WG_H(name, s), WG_H(name, V), WG_H(name, S)};
/* Binary; the hot ones also with one scalar source. */
#define WG_ALU2(name, key, TD, TA, TB, ...)                                                                            \
    WG_INLINE TD f_##name(TA a, TB b) { return (TD)(__VA_ARGS__); }                                                    \
    WG_FORM2(name, TD, TA, TB, V, V)                                                                                   \
    WG_SCALAR2(name, TD, TA, TB)                                                                                       \
    static const wg_handler h_##name[] = {WG_H(name, s), WG_H(name, VV)};
#define WG_ALU2_HOT(name, key, TD, TA, TB, ...)                                                                        \
    WG_INLINE TD f_##name(TA a, TB b) { return (TD)(__VA_ARGS__); }                                                    \
    WG_FORM2(name, TD, TA, TB, V, V)                                                                                   \
    WG_FORM2(name, TD, TA, TB, S, V)                                                                                   \
    WG_FORM2(name, TD, TA, TB, V, S)                                                                                   \
    WG_SCALAR2(name, TD, TA, TB)                                                                                       \
    static const wg_handler h_##name[] = {WG_H(name, s), WG_H(name, VV), WG_H(name, SV), WG_H(name, VS)};
/* Ternary; the hot ones in every mix with at least one vector. */
#define WG_ALU3(name, key, TD, TA, TB, TC, ...)                                                                        \
    WG_INLINE TD f_##name(TA a, TB b, TC c) { return (TD)(__VA_ARGS__); }                                              \
    WG_FORM3(name, TD, TA, TB, TC, V, V, V)                                                                            \
    WG_SCALAR3(name, TD, TA, TB, TC)                                                                                   \
    static const wg_handler h_##name[] = {WG_H(name, s), WG_H(name, VVV)};
#define WG_ALU3_HOT(name, key, TD, TA, TB, TC, ...)                                                                    \
    WG_INLINE TD f_##name(TA a, TB b, TC c) { return (TD)(__VA_ARGS__); }                                              \
    WG_FORM3(name, TD, TA, TB, TC, V, V, V)                                                                            \
    WG_FORM3(name, TD, TA, TB, TC, S, V, V)                                                                            \
    WG_FORM3(name, TD, TA, TB, TC, V, S, V)                                                                            \
    WG_FORM3(name, TD, TA, TB, TC, S, S, V)                                                                            \
    WG_FORM3(name, TD, TA, TB, TC, V, V, S)                                                                            \
    WG_FORM3(name, TD, TA, TB, TC, S, V, S)                                                                            \
    WG_FORM3(name, TD, TA, TB, TC, V, S, S)                                                                            \
    WG_SCALAR3(name, TD, TA, TB, TC)                                                                                   \
    static const wg_handler h_##name[] = {WG_H(name, s),   WG_H(name, VVV), WG_H(name, SVV), WG_H(name, VSV),          \
                                          WG_H(name, SSV), WG_H(name, VVS), WG_H(name, SVS), WG_H(name, VSS)};

/* Comparisons: the result is a mask. t is the comparison alone; setp may combine it with a predicate and give two. */
#define WG_SETP(on)                                                                                                    \
    do {                                                                                                               \
        if (__builtin_expect(i->k1, 0)) {                                                                              \
            const uint32_t g_ = WG_P(i->g) ^ (i->k1 & WG_ALU_BOOL_NEG ? ~0u : 0);                                      \
            if (i->k1 & WG_ALU_PAIR)                                                                                   \
                WG_P(i->e) = (WG_P(i->e) & ~(on)) | (wg_alu_bool(~t_, g_, i->k1) & (on));                              \
            t_ = wg_alu_bool(t_, g_, i->k1);                                                                           \
        }                                                                                                              \
        WG_P(i->d) = (WG_P(i->d) & ~(on)) | (t_ & (on));                                                               \
    } while (0)
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
#define WG_FORM_CMP(name, TA, TB, A, B)                                                                                \
    WG_HANDLER(name##_##A##B)                                                                                          \
    {                                                                                                                  \
        uint32_t w_[WG_LANES] __attribute__((aligned(64)));                                                            \
        WG_DECL_##A(TA, a) WG_DECL_##B(TB, b)                                                                          \
        WG_LANES_LOOP(l) w_[l] = f_##name(WG_GET_##A(a), WG_GET_##B(b)) ? ~0u : 0;                                     \
        uint32_t t_ = wg_lanes_mask(w_);                                                                               \
        WG_SETP(~0u);                                                                                                  \
        WG_NEXT;                                                                                                       \
    }                                                                                                                  \
    WG_HANDLER(name##_##A##B##_m)                                                                                      \
    {                                                                                                                  \
        uint32_t w_[WG_LANES] __attribute__((aligned(64)));                                                            \
        WG_DECL_##A(TA, a) WG_DECL_##B(TB, b)                                                                          \
        WG_LANES_LOOP(l) w_[l] = f_##name(WG_GET_##A(a), WG_GET_##B(b)) ? ~0u : 0;                                     \
        uint32_t t_ = wg_lanes_mask(w_);                                                                               \
        const uint32_t m = WG_ON;                                                                                      \
        WG_SETP(m);                                                                                                    \
        WG_NEXT;                                                                                                       \
    }
#define WG_SCALAR_CMP(name, TA, TB)                                                                                    \
    WG_HANDLER(name##_s)                                                                                               \
    {                                                                                                                  \
        uint32_t t_ = f_##name(*WG_AS(TA, i->a), *WG_AS(TB, i->b)) ? ~0u : 0;                                          \
        WG_SETP(~0u);                                                                                                  \
        WG_NEXT;                                                                                                       \
    }                                                                                                                  \
    WG_HANDLER(name##_s_m)                                                                                             \
    {                                                                                                                  \
        uint32_t t_ = f_##name(*WG_AS(TA, i->a), *WG_AS(TB, i->b)) ? ~0u : 0;                                          \
        const uint32_t m = WG_ON ? ~0u : 0;                                                                            \
        WG_SETP(m);                                                                                                    \
        WG_NEXT;                                                                                                       \
    }
#define WG_ALU_CMP(name, key, TA, TB, ...)                                                                             \
    WG_INLINE bool f_##name(TA a, TB b) { return (__VA_ARGS__); }                                                      \
    WG_FORM_CMP(name, TA, TB, V, V)                                                                                    \
    WG_FORM_CMP(name, TA, TB, S, V)                                                                                    \
    WG_FORM_CMP(name, TA, TB, V, S)                                                                                    \
    WG_SCALAR_CMP(name, TA, TB)                                                                                        \
    static const wg_handler h_##name[] = {WG_H(name, s), WG_H(name, VV), WG_H(name, SV), WG_H(name, VS)};
#endif
