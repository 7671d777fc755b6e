/* lanes.h - 32 lanes on the host's vector unit: the only place that knows host instruction sets.
 *
 * Handler files are compiled once per level (v2, v3, v4 of x86-64, or plain); each copy's external names carry the
 * level's suffix through WG_ISA_NAME. A handler file gives what it offers as one member of struct wg_lanes_table, which
 * lanes_table.c fills per level; wg_lanes_best() picks the level. Loops over lanes are plain C that gcc and clang
 * vectorise: only what they cannot see (a comparison's mask) is written with intrinsics. */
#ifndef WG_EXEC_LANES_H
#define WG_EXEC_LANES_H
#include "exec/exec.h"
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
typedef float f32;
typedef double f64;

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "slots are little-endian");

#define WG_CAT_(a, b) a##b
#define WG_CAT(a, b) WG_CAT_(a, b)
#ifdef WG_ISA_SUFFIX
#define WG_ISA_NAME(x) WG_CAT(x, WG_ISA_SUFFIX)
#endif

/* What one copy of the handlers offers. A new handler file adds a member here and a line in lanes_table.c. */
struct wg_alu_tables;
struct wg_handler_set;
struct wg_lanes_table {
    const char *level; /* "v3" */
    const struct wg_alu_tables *alu;
    const struct wg_handler_set *handlers;
};
/* The widest level that this host runs, or the one that the environment variable WARPGRIND_ISA names (v2, v3, v4) when
 * the host can run it; an unknown or unsupported name is ignored, wg_lanes_named says so. Never NULL. */
const struct wg_lanes_table *wg_lanes_best(void);
/* The level of this name if the host can run it; NULL if there is none. */
const struct wg_lanes_table *wg_lanes_named(const char *level);

#define WG_INLINE static inline __attribute__((always_inline, unused))

/* for (l = 0; l < 32; l++) whose iterations touch only their own lane of every array. */
#if defined(__clang__) /* unrolled before it is vectorised, the loop would stay scalar */
#define WG_LANES_LOOP(l)                                                                                               \
    _Pragma("clang loop vectorize(assume_safety) unroll(disable)") for (int l = 0; l < WG_LANES; l++)
#else
#define WG_LANES_LOOP(l) _Pragma("GCC ivdep") for (int l = 0; l < WG_LANES; l++)
#endif

/* In a loop's condition, keeps the compiler from unrolling and vectorising it; true. */
WG_INLINE bool wg_lanes_opaque(int *l)
{
    __asm__ volatile("" : "+r"(*l));
    return true;
}

/* r[l] = get(l) for all lanes of 4 or 8 bytes, put together in registers: a vector load right behind 32 stores of single
 * lanes would wait until they had reached the cache. */
#define WG_LANES_GATHER4(r, get)                                                                                       \
    for (int l_ = 0; l_ < WG_LANES; l_ += 8) {                                                                         \
        typedef uint32_t v_ __attribute__((vector_size(32)));                                                          \
        const v_ x_ = {get(l_), get(l_ + 1), get(l_ + 2), get(l_ + 3), get(l_ + 4), get(l_ + 5), get(l_ + 6), get(l_ + 7)};\
        memcpy((uint32_t *)(r) + l_, &x_, sizeof x_);                                                                  \
    }
#define WG_LANES_GATHER8(r, get)                                                                                       \
    for (int l_ = 0; l_ < WG_LANES; l_ += 4) {                                                                         \
        typedef uint64_t v_ __attribute__((vector_size(32)));                                                          \
        const v_ x_ = {get(l_), get(l_ + 1), get(l_ + 2), get(l_ + 3)};                                                \
        memcpy((uint64_t *)(r) + l_, &x_, sizeof x_);                                                                  \
    }

#define WG_BITS8_(f, n) f(n), f(n + 1), f(n + 2), f(n + 3), f(n + 4), f(n + 5), f(n + 6), f(n + 7)
#define WG_BITS32_(f) WG_BITS8_(f, 0), WG_BITS8_(f, 8), WG_BITS8_(f, 16), WG_BITS8_(f, 24)
#define WG_BIT_(n) 1u << (n)
/* One bit per lane, in the two lane widths, so that a mask test vectorises without widening. */
static const uint32_t wg_lanes_bit32[WG_LANES] __attribute__((aligned(64), unused)) = {WG_BITS32_(WG_BIT_)};
static const uint64_t wg_lanes_bit64[WG_LANES] __attribute__((aligned(64), unused)) = {WG_BITS32_(WG_BIT_)};
/* Whether lane l is in m; bytes is the width of the lanes that the answer selects, a constant. */
#define WG_LANES_IN(m, l, bytes) ((bytes) == 8 ? ((m) & wg_lanes_bit64[l]) != 0 : ((m) & wg_lanes_bit32[l]) != 0)

/* Mask of the lanes whose word is ~0u; every word is 0 or ~0u. */
WG_INLINE uint32_t wg_lanes_mask(const uint32_t *t)
{
#if defined(__AVX512DQ__)
    uint32_t lo = _mm512_movepi32_mask(_mm512_load_si512(t)), hi = _mm512_movepi32_mask(_mm512_load_si512(t + 16));
    return lo | hi << 16;
#elif defined(__AVX__)
    uint32_t r = 0;
    for (int q = 0; q < 4; q++)
        r |= (uint32_t)_mm256_movemask_ps(_mm256_load_ps((const float *)t + 8 * q)) << 8 * q;
    return r;
#elif defined(__SSE2__)
    uint32_t r = 0;
    for (int q = 0; q < 8; q++)
        r |= (uint32_t)_mm_movemask_ps(_mm_load_ps((const float *)t + 4 * q)) << 4 * q;
    return r;
#else
    uint32_t r = 0;
    for (int l = 0; l < WG_LANES; l++)
        r |= t[l] & wg_lanes_bit32[l];
    return r;
#endif
}
#endif
