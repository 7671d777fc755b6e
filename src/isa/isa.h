/* isa.h - the PTX instruction set as tables: operations, types, modifiers, special registers. */
#ifndef WG_ISA_ISA_H
#define WG_ISA_ISA_H
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

enum wg_type {
#define WG_TYPE(id, text, kind, bytes) WG_T_##id,
#include "isa/types.def"
#undef WG_TYPE
    WG_T_COUNT
};
enum wg_field { WG_FIELD_SPACE, WG_FIELD_VEC, WG_FIELD_ROUND, WG_FIELD_CMP, WG_FIELD_BOOL, WG_FIELD_HALF, WG_FIELD_ATOM,
                WG_FIELD_SCOPE, WG_FIELD_ORDER, WG_FIELD_SHFL, WG_FIELD_VOTE, WG_FIELD_DIR, WG_FIELD_SHIFT, WG_FIELD_PRMT,
                WG_FIELD_TESTP, WG_FIELD_LAYOUT, WG_FIELD_SHAPE, WG_FIELD_COUNT, WG_FIELD_FLAG, WG_FIELDS };
/* Values of each field; 0 means absent. Aliases of one id expand to one enumerator only, hence the hand-kept lists. */
enum wg_space { WG_SPACE_NONE, WG_SPACE_GLOBAL, WG_SPACE_SHARED, WG_SPACE_SHARED_CLUSTER, WG_SPACE_LOCAL, WG_SPACE_CONST,
                WG_SPACE_PARAM };  /* NONE on ld/st/atom: generic */
enum wg_vec { WG_VEC_NONE, WG_VEC_V2, WG_VEC_V4, WG_VEC_V8 };
enum wg_round { WG_ROUND_NONE, WG_ROUND_RN, WG_ROUND_RZ, WG_ROUND_RM, WG_ROUND_RP, WG_ROUND_RNA, WG_ROUND_RNI,
                WG_ROUND_RZI, WG_ROUND_RMI, WG_ROUND_RPI };
enum wg_cmp { WG_CMP_NONE, WG_CMP_EQ, WG_CMP_NE, WG_CMP_LT, WG_CMP_LE, WG_CMP_GT, WG_CMP_GE, WG_CMP_LO, WG_CMP_LS,
              WG_CMP_HI, WG_CMP_HS, WG_CMP_EQU, WG_CMP_NEU, WG_CMP_LTU, WG_CMP_LEU, WG_CMP_GTU, WG_CMP_GEU, WG_CMP_NUM,
              WG_CMP_NAN };
enum wg_bool { WG_BOOL_NONE, WG_BOOL_AND, WG_BOOL_OR, WG_BOOL_XOR, WG_BOOL_POPC };
enum wg_half { WG_HALF_NONE, WG_HALF_LO, WG_HALF_HI, WG_HALF_WIDE };
enum wg_atom { WG_ATOM_NONE, WG_ATOM_ADD, WG_ATOM_MIN, WG_ATOM_MAX, WG_ATOM_INC, WG_ATOM_DEC, WG_ATOM_AND, WG_ATOM_OR,
               WG_ATOM_XOR, WG_ATOM_CAS, WG_ATOM_EXCH };
enum wg_scope { WG_SCOPE_NONE, WG_SCOPE_CTA, WG_SCOPE_CLUSTER, WG_SCOPE_GPU, WG_SCOPE_SYS };
enum wg_order { WG_ORDER_NONE, WG_ORDER_WEAK, WG_ORDER_RELAXED, WG_ORDER_ACQUIRE, WG_ORDER_RELEASE, WG_ORDER_ACQ_REL,
                WG_ORDER_SC, WG_ORDER_VOLATILE, WG_ORDER_MMIO };
enum wg_shfl { WG_SHFL_NONE, WG_SHFL_UP, WG_SHFL_DOWN, WG_SHFL_BFLY, WG_SHFL_IDX };
enum wg_vote { WG_VOTE_NONE, WG_VOTE_ALL, WG_VOTE_ANY, WG_VOTE_UNI, WG_VOTE_BALLOT };
enum wg_dir { WG_DIR_NONE, WG_DIR_L, WG_DIR_R };
enum wg_shift { WG_SHIFT_NONE, WG_SHIFT_CLAMP, WG_SHIFT_WRAP };
enum wg_prmt { WG_PRMT_NONE, WG_PRMT_F4E, WG_PRMT_B4E, WG_PRMT_RC8, WG_PRMT_ECL, WG_PRMT_ECR, WG_PRMT_RC16 };
enum wg_testp { WG_TESTP_NONE, WG_TESTP_FINITE, WG_TESTP_INFINITE, WG_TESTP_NUMBER, WG_TESTP_NOTANUMBER,
                WG_TESTP_NORMAL, WG_TESTP_SUBNORMAL };
enum wg_layout { WG_LAYOUT_NONE, WG_LAYOUT_ROW, WG_LAYOUT_COL };
enum wg_shape { WG_SHAPE_NONE, WG_SHAPE_M8N8K4, WG_SHAPE_M8N8K16, WG_SHAPE_M8N8K32, WG_SHAPE_M8N8K128, WG_SHAPE_M16N8K4,
                WG_SHAPE_M16N8K8, WG_SHAPE_M16N8K16, WG_SHAPE_M16N8K32, WG_SHAPE_M16N8K64, WG_SHAPE_M16N8K128,
                WG_SHAPE_M16N8K256, WG_SHAPE_M16N16K16, WG_SHAPE_M32N8K16, WG_SHAPE_M8N32K16, WG_SHAPE_M16N16K8,
                WG_SHAPE_M8N8 };
enum wg_count { WG_COUNT_NONE, WG_COUNT_X1, WG_COUNT_X2, WG_COUNT_X4 };
enum wg_flag_bit { WG_FLAGBIT_FTZ, WG_FLAGBIT_SAT, WG_FLAGBIT_SATFINITE, WG_FLAGBIT_RELU, WG_FLAGBIT_NAN,
                   WG_FLAGBIT_XORSIGN, WG_FLAGBIT_ABS, WG_FLAGBIT_APPROX, WG_FLAGBIT_FULL, WG_FLAGBIT_CC, WG_FLAGBIT_UNI,
                   WG_FLAGBIT_SYNC, WG_FLAGBIT_ALIGNED, WG_FLAGBIT_TO, WG_FLAGBIT_NC, WG_FLAGBIT_CA, WG_FLAGBIT_CG,
                   WG_FLAGBIT_CS, WG_FLAGBIT_LU, WG_FLAGBIT_CV, WG_FLAGBIT_WB, WG_FLAGBIT_WT, WG_FLAGBIT_TRANS,
                   WG_FLAGBIT_NOFTZ, WG_FLAGBIT_OOB, WG_FLAGBIT_PARITY, WG_FLAGBIT_NOINC, WG_FLAGBIT_NOCOMPLETE,
                   WG_FLAGBIT_READ, WG_FLAGBIT_SHIFTAMT, WG_FLAGBIT_B4X };
#define WG_FLAG(x) (1ull << WG_FLAGBIT_##x)

enum wg_group { WG_GROUP_ALU, WG_GROUP_CVT, WG_GROUP_MOV, WG_GROUP_MEM, WG_GROUP_ATOM, WG_GROUP_WARP, WG_GROUP_FLOW,
                WG_GROUP_SYNC, WG_GROUP_ASYNC, WG_GROUP_TENSOR, WG_GROUP_TEX, WG_GROUP_VIDEO };
enum wg_op {
#define WG_OP(id, text, shape, fields, group) WG_OP_##id,
#include "isa/ops.def"
#undef WG_OP
    WG_OP_UNKNOWN, /* parsed, but no row: refused when it would be executed */
    WG_OP_COUNT = WG_OP_UNKNOWN
};
enum wg_sreg {
#define WG_SREG(id, text, type) WG_SREG_##id,
#include "isa/sregs.def"
#undef WG_SREG
    WG_SREG_COUNT
};

struct wg_op_info { const char *text, *shape; uint32_t fields; enum wg_group group; };
struct wg_type_info { const char *text; char kind; unsigned char bytes; };
extern const struct wg_op_info wg_op_infos[WG_OP_COUNT + 1];
extern const struct wg_type_info wg_type_infos[WG_T_COUNT];

/* Longest row whose text is a prefix of mnemonic at a dot boundary; *used is the prefix length. WG_OP_UNKNOWN if none. */
enum wg_op wg_isa_op(const char *mnemonic, size_t n, size_t *used);
enum wg_type wg_isa_type(const char *text, size_t n); /* WG_T_NONE if it is no type */
/* Value of a modifier text (without dot) in one of the fields of the set; false if there is none. */
bool wg_isa_mod(const char *text, size_t n, uint32_t fields, enum wg_field *field, int *value);
int wg_isa_sreg(const char *text, size_t n); /* "%tid.x"; -1 if it is none */
const char *wg_isa_sreg_text(enum wg_sreg s);
enum wg_type wg_isa_sreg_type(enum wg_sreg s);
const char *wg_isa_mod_text(enum wg_field field, int value); /* flags: the bit number; "" for 0 */
static inline unsigned wg_type_bytes(enum wg_type t) { return wg_type_infos[t].bytes; }
static inline unsigned wg_vec_width(enum wg_vec v) { return 1u << (unsigned)v; }
#endif
