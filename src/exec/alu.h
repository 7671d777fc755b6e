/* alu.h - how rows of alu.def become handlers and how wg_alu_select finds them.
 *
 * A row names an operation by a key (operation, types and modifiers, normalised by alu.c), gives the C types of a lane
 * and one C expression over a, b, c. The macros below make from it one handler per mix of vector and scalar sources,
 * each also masked. */
#ifndef WG_EXEC_ALU_H
#define WG_EXEC_ALU_H
#include "exec/lanes.h"

/* A key: the parts of an instruction that choose its handler, each in its own bits. */
#define WG_KEY_OP(x) ((uint64_t)WG_OP_##x)
#define WG_KEY_T0(x) ((uint64_t)WG_T_##x << 8)
#define WG_KEY_T1(x) ((uint64_t)WG_T_##x << 14)
#define WG_KEY_ROUND(x) ((uint64_t)WG_ROUND_##x << 20)
#define WG_KEY_CMP(x) ((uint64_t)WG_CMP_##x << 24)
#define WG_KEY_HALF(x) ((uint64_t)WG_HALF_##x << 29)
#define WG_KEY_SUB(x) ((uint64_t)(x) << 31)  /* dir and shift, prmt, testp: 4 bits */
#define WG_KEY_NSRC(x) ((uint64_t)(x) << 35) /* sources, where an operation takes 2 or 3: 3 bits */
#define WG_KEY_FLAGS(x) ((uint64_t)(x) << 38)
#define WG_KEY_SHF(dir, shift) ((unsigned)WG_DIR_##dir << 2 | WG_SHIFT_##shift)
enum {
    WG_KF_FTZ = 1,
    WG_KF_SAT = 2,
    WG_KF_SATFINITE = 4,
    WG_KF_RELU = 8,
    WG_KF_NAN = 16,
    WG_KF_XORSIGN = 32, /* .xorsign.abs */
    WG_KF_APPROX = 64,
    WG_KF_FULL = 128,
    WG_KF_CC = 256,
    WG_KF_SHIFTAMT = 512,
    WG_KF_OOB = 1024,
    WG_KF_BOOL = 2048, /* lop3 with a boolean operand */
    WG_KF_ANY = 4096,  /* a row for any combination of flags (in k1) or of comparisons (in imm) */
};

/* What a rare row has instead of handlers: it computes all lanes, or the scalar. bytes: of a result lane. */
typedef void (*wg_alu_body)(const struct wg_inst *i, char *R);
struct wg_alu_bodies {
    wg_alu_body v, s;
    uint8_t bytes;
};
/* The handlers that run them, plain and masked. */
struct wg_alu_rare {
    wg_handler v[2], s[2];
};
struct wg_alu_row {
    uint64_t key;
    /* Bit s: there is a handler for src_scalar == s with a vector result. h[0], h[1]: all scalar, plain and masked;
     * then a pair for each set bit in rising order. 0: a rare row. */
    uint32_t mixes;
    const wg_handler *h;
    const struct wg_alu_bodies *rare;
};
struct wg_alu_table {
    const struct wg_alu_row *rows;
    uint32_t n;
};

/* All rows of one level; alu_rare.c. */
enum { WG_ALU_TABLES = 5 };
struct wg_alu_tables {
    const struct wg_alu_table *table[WG_ALU_TABLES];
    struct wg_alu_rare rare;
    const struct wg_alu_rare *video;
};

/* Relations, see WG_ALU_REL. */
enum { WG_REL_LT = 1, WG_REL_GT = 2, WG_REL_EQ = 4, WG_REL_UN = 8 };
/* Which of them make the comparison true; c is none of lo, ls, hi, hs. */
unsigned wg_alu_relations(enum wg_cmp c);
/* lo, ls, hi, hs are lt, le, gt, ge of unsigned integers. */
enum wg_cmp wg_alu_plain_cmp(enum wg_cmp c);
/* k1 of setp, set and lop3: the combination with the boolean operand g and the second result e. */
enum { WG_ALU_BOOL = 3, WG_ALU_BOOL_NEG = 4, WG_ALU_PAIR = 8, WG_ALU_MASKED = 16 };
#endif
