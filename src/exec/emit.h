/* emit.h - shared by the files of the decoder: operands, slots, constants and instruction emission. */
#ifndef WG_EXEC_EMIT_H
#define WG_EXEC_EMIT_H
#include "exec/classes.h"
#include "exec/decode.h"
#include "exec/handlers.h"
#include "exec/mix.h"

enum { CONST_TRUE, CONST_SCRATCH, CONST_FIRST }; /* slots of every frame: true, a scratch predicate, then constants */

/* A value an instruction can read: an offset into the register file and its class. */
struct wg_val { uint32_t off; uint8_t cls, bytes; int32_t reg; };

struct wg_var_slot { const struct wg_symbol *sym; uint32_t off; }; /* .param variables of calls: words in the frame */

struct wg_unit { /* one function being decoded */
    struct wg_decoder *dec;
    struct wg_code *code;
    const struct wg_function *fn;
    struct wg_cfg cfg;
    struct wg_classes cls;
    const struct wg_merge *merge; /* what ptxas joins, per instruction; NULL: count the PTX as written */
    struct wg_unit *next;
};

struct wg_decoder {
    const struct wg_ptx_module *m;
    const struct wg_decode_options *o;
    uint64_t (*symbol)(void *ctx, const struct wg_symbol *s);
    void *ctx;
    struct wg_kernel_code *kc;
    struct wg_arena *a; /* kc's */
    struct wg_arena scratch;
    struct wg_diag *diag;
    const struct wg_handler_set *h;
    struct wg_unit *units, **tail;
    struct wg_ptx_shared_layout shared;
};

struct wg_emit { /* emission of one function in one mode */
    struct wg_decoder *dec;
    struct wg_unit *u;
    const struct wg_function *fn;
    struct wg_code *code;
    const struct wg_handler_set *h;
    bool wide;
    struct wg_inst *insts;
    uint32_t n, cap, *at, *body, *ptx;
    size_t ptx_cap;
    uint32_t cur;              /* PTX instruction being emitted */
    const struct wg_instr *in;
    /* constants */
    uint64_t *consts;
    uint32_t nconsts;
    size_t consts_cap;
    uint32_t const_limit;      /* bytes reserved at the start of the register file */
    /* temporaries of one PTX instruction */
    uint32_t temp0, temp, temp_end, temp_max;
    struct wg_var_slot *vars;
    uint32_t nvars;
    uint8_t *shadow;           /* per register: its wide slot holds its expansion since this point of the block */
    struct wg_mix *mix;        /* per basic block, traced code only */
    const uint8_t *used;       /* per register: 0, or 1 and the number of instructions that read it, 4 for more */
    uint8_t *use;              /* per instruction, traced code only: see mix.h */
    int32_t *array;            /* per register: the shared array it points into, -1: not known; NULL: not observed */
    bool failed;
};

/* emit.c */
struct wg_inst *wg_emit(struct wg_emit *e, wg_handler fn);              /* unguarded */
struct wg_inst *wg_emit_h(struct wg_emit *e, enum wg_handler_id id);
struct wg_inst *wg_emit_guarded(struct wg_emit *e, enum wg_handler_id id); /* with the PTX instruction's guard */
void wg_emit_guard(struct wg_emit *e, struct wg_inst *i);
uint32_t wg_emit_const(struct wg_emit *e, uint64_t bits);
uint32_t wg_emit_temp(struct wg_emit *e, uint32_t bytes);                /* bytes > 16: a V slot */
struct wg_val wg_emit_get(struct wg_emit *e, const struct wg_operand *o, enum wg_type t);
struct wg_val wg_emit_natural(struct wg_emit *e, struct wg_val v, enum wg_type t);
struct wg_val wg_emit_vec(struct wg_emit *e, struct wg_val v);           /* as V */
struct wg_val wg_emit_dest(struct wg_emit *e, const struct wg_operand *o, enum wg_type t); /* off 0: sink */
void wg_emit_move(struct wg_emit *e, struct wg_val to, struct wg_val from, bool masked);
bool wg_emit_masked(const struct wg_emit *e, int32_t reg);
bool wg_emit_uniform_pred(const struct wg_emit *e, int32_t reg); /* written as one truth for the warp */
uint32_t wg_emit_var(struct wg_emit *e, const struct wg_symbol *s);      /* slot of a call's .param variable, 0: none */
void wg_emit_refuse(struct wg_emit *e, const char *why);
struct wg_val wg_emit_half(struct wg_val v, unsigned k); /* a 128-bit register is two 64-bit ones: the k-th */
unsigned wg_container(enum wg_type t);
uint64_t wg_imm_bits(const struct wg_operand *o, enum wg_type t);
uint64_t wg_symbol_value(struct wg_emit *e, const struct wg_symbol *s, bool *is_local, uint64_t *local_off);
/* emit_mem.c, emit_flow.c */
void wg_emit_memory(struct wg_emit *e);
void wg_emit_cross_lane(struct wg_emit *e);
struct wg_lane_addr;
bool wg_emit_address(struct wg_emit *e, const struct wg_operand *o, unsigned space, struct wg_lane_addr *out);
void wg_emit_tensor(struct wg_emit *e); /* emit_tensor.c */
void wg_emit_async(struct wg_emit *e);  /* emit_async.c */
void wg_emit_bulk(struct wg_emit *e);   /* emit_bulk.c */
void wg_emit_wgmma(struct wg_emit *e);  /* emit_wgmma.c */
void wg_emit_texture(struct wg_emit *e); /* emit_texture.c */
bool wg_emit_flow(struct wg_emit *e);  /* false: not a flow or sync operation */
struct wg_unit *wg_decode_function(struct wg_decoder *d, const struct wg_function *f);
bool wg_takes_param_address(const struct wg_function *f);
void wg_emit_param_homes(struct wg_emit *e); /* at a function's start */
void wg_emit_alu(struct wg_emit *e);
void wg_emit_mov(struct wg_emit *e);
void wg_emit_cvta(struct wg_emit *e);
void wg_emit_stack(struct wg_emit *e);   /* alloca, stacksave, stackrestore */
void wg_emit_cluster(struct wg_emit *e); /* emit_cluster.c: mapa, getctarank, barrier.cluster */
void wg_emit_isspacep(struct wg_emit *e);
uint64_t wg_param_home(const struct wg_function *f, const struct wg_symbol *s);
/* provenance.c: per register (in scratch memory), and of an address */
int32_t *wg_provenance(struct wg_decoder *d, const struct wg_function *f);
int32_t wg_provenance_of(const struct wg_decoder *d, const struct wg_operand *m, const int32_t *reg);
uint8_t wg_access_scope_of(unsigned scope); /* enum wg_access_scope of a PTX scope; none given: the device */
uint32_t wg_shared_offset(struct wg_decoder *d, const struct wg_symbol *s);
#endif
