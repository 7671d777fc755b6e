/* alu.h - how rows of alu.def become handlers and how wg_alu_select finds them.
 *
 * A row names an operation by a key (operation, types and modifiers, normalised by alu.c), gives the C types of a lane
 * and one C expression over a, b, c. The macros below make from it one handler per mix of vector and scalar sources,
 * each also masked. */
#ifndef WG_EXEC_ALU_H
#define WG_EXEC_ALU_H
#include "exec/lanes.h"

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

/* A key: the parts of an instruction that choose its handler, each in its own bits. */
#define WG_KEY_OP(x) ((uint64_t)WG_OP_##x)
#define WG_KEY_T0(x) ((uint64_t)WG_T_##x << 8)
#define WG_KEY_T1(x) ((uint64_t)WG_T_##x << 14)
#define WG_KEY_T2(x) ((uint64_t)WG_T_##x << 20)
#define WG_KEY_ROUND(x) ((uint64_t)WG_ROUND_##x << 26)
#define WG_KEY_CMP(x) ((uint64_t)WG_CMP_##x << 30)
#define WG_KEY_HALF(x) ((uint64_t)WG_HALF_##x << 35)
#define WG_KEY_SUB(x) ((uint64_t)(x) << 37) /* dir, shift, prmt or testp; 4 bits */
#define WG_KEY_NSRC(x) ((uint64_t)(x) << 41) /* sources, where an operation has several shapes; 3 bits */
enum {
    WG_KF_FTZ = 1, WG_KF_SAT = 2, WG_KF_SATFINITE = 4, WG_KF_RELU = 8, WG_KF_NAN = 16, WG_KF_XORSIGN = 32,
    WG_KF_ABS = 64, WG_KF_APPROX = 128, WG_KF_FULL = 256, WG_KF_CC = 512, WG_KF_SHIFTAMT = 1024,
};
#define WG_KEY_FLAG(x) ((uint64_t)WG_KF_##x << 44)

struct wg_alu_row {
    uint64_t key;
    /* Bit s: there is a handler for src_scalar == s with a vector result. h[0], h[1]: all scalar, plain and masked; then
     * a pair for each set bit in rising order. */
    uint32_t mixes;
    const wg_handler *h;
};
struct wg_alu_table {
    const struct wg_alu_row *rows;
    uint32_t n;
};

/* k1 of setp and set: the combination with the boolean operand g and the second result e. */
enum { WG_ALU_BOOL = 3, WG_ALU_BOOL_NEG = 4, WG_ALU_PAIR = 8 };
#endif
