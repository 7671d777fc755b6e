/* module.h - a parsed PTX translation unit: symbols, functions, instructions. Plain data in one arena; read-only after
 * wg_ptx_parse. Nothing here knows how instructions are executed. */
#ifndef WG_PTX_MODULE_H
#define WG_PTX_MODULE_H
#include "base/arena.h"
#include "base/diag.h"
#include "isa/isa.h"

enum wg_operand_kind {
    WG_OPERAND_NONE,
    WG_OPERAND_REG,    /* reg; neg: !p; pair: second register of d|p, or -1 */
    WG_OPERAND_IMM,    /* imm: integer bits sign-extended, or the bits of a double when is_float (0f/0d/decimal) */
    WG_OPERAND_SREG,   /* sreg */
    WG_OPERAND_SYMBOL, /* address of sym plus imm; sym may be a variable, a parameter or a function */
    WG_OPERAND_MEM,    /* [base + imm]: base is reg >= 0, or sym, or neither (absolute); elems hold more, see below */
    WG_OPERAND_VEC,    /* {elems} of kind REG, IMM or SINK */
    WG_OPERAND_LABEL,  /* target: instruction index (ninstrs: the end); of a .branchtargets list: elems */
    WG_OPERAND_SINK,   /* _ */
};
/* For tex/suld and tensor copies the bracket holds several parts, [tex, smp, {x, y}]: then elems has all of them. */
struct wg_operand {
    uint8_t kind;
    bool neg, is_float;
    int32_t reg, pair; /* register numbers of the function, -1: none */
    /* SREG; and for REG of a video instruction the part .b0 .. .h1 (wg_ptx_parts) that is meant, or several of them, see
     * WG_PTX_CHOICE; -1: all of it */
    int32_t sreg;
    uint32_t target;
    int64_t imm;
    const struct wg_symbol *sym;
    uint32_t nelems;
    struct wg_operand *elems;
};

struct wg_instr {
    uint16_t op; /* enum wg_op */
    uint8_t ntypes;
    uint8_t type[4]; /* enum wg_type, in textual order: cvt.rn.f32.s32 has F32, S32; mma has d, a, b, c */
    uint8_t space, vec, round, cmp, boolop, half, atom, scope, order, shfl, vote, dir, shift, prmt, testp, shape, count;
    uint8_t layout[2];
    uint64_t flags; /* WG_FLAG(x) set */
    int32_t guard;  /* predicate register, -1: none */
    bool guard_neg;
    uint32_t nops;
    struct wg_operand *ops; /* in textual order; an absent optional operand is not there */
    /* calls: ops[0] is the callee (SYMBOL, or REG when indirect); params are .param variables of the function */
    uint32_t nret, narg;
    struct wg_operand *ret, *arg;
    const struct wg_prototype *proto; /* of an indirect call; NULL otherwise */
    uint32_t file, line, col;         /* of the last .loc; line 0: none. file indexes module files */
    uint32_t inl_file, inl_line;      /* outermost call site from inlined_at; line 0: not inlined */
    uint32_t call;                    /* inlined: index in the module's calls of the one it was inlined at; 0: not */
    uint32_t ptx_line;                /* 1-based */
    const char *text, *mnemonic;      /* the statement without trailing ';' and guard spaces; "ld.global.f32" */
    uint32_t text_len;
    uint32_t used_bytes;              /* .pragma "used_bytes_mask N" right before a load (nvcc 13); 0: not given */
    const char *extra;                /* modifiers that no table knows, dot separated, or NULL: refuse when executed */
};

struct wg_reg { const char *name; uint8_t type; };

enum wg_symbol_kind { WG_SYMBOL_VAR, WG_SYMBOL_PARAM, WG_SYMBOL_FUNC, WG_SYMBOL_TEX };
/* A variable in .global, .const, .shared, .local or .param, or a function. */
struct wg_symbol {
    const char *name;
    uint8_t kind, space; /* space of a variable: enum wg_space */
    uint8_t type;        /* element type */
    uint32_t align;      /* bytes */
    uint64_t bytes;      /* whole; 0 for extern unsized arrays: dynamic shared memory */
    bool is_extern, is_visible, is_weak, is_array;
    uint8_t *init;       /* bytes of initial value, or NULL: zero */
    uint32_t nrelocs;
    struct wg_reloc *relocs;
    struct wg_function *func; /* kind FUNC */
    uint32_t index;           /* parameters: position; variables: position in the module or function list */
    uint64_t offset;          /* parameters: byte offset in the parameter block of an entry */
    uint32_t ptx_line;
    const char *texmode;      /* "texref", "samplerref", "surfref" or NULL */
};
/* Store the low `bytes` bytes of (address + addend) >> shift at `at`. shift is 0 but for odd uses of 0xff00(sym). */
struct wg_reloc {
    uint64_t at;
    const struct wg_symbol *sym;
    int64_t addend;
    uint8_t bytes;
    bool generic;
    uint8_t shift;
};
struct wg_prototype { const char *name; uint32_t nret, narg; struct wg_symbol *ret, *arg; };

struct wg_function {
    const char *name;
    struct wg_symbol *sym;
    bool is_entry, is_declaration, noreturn;
    uint32_t nparams, nrets;
    struct wg_symbol *params, *rets; /* kind PARAM; .reg parameters of old PTX become registers, see reg_params */
    int32_t *reg_params, *reg_rets;  /* register number per param/ret, -1 when it is a .param; NULL when all are -1 */
    uint64_t param_bytes;
    uint32_t nregs;
    struct wg_reg *regs;
    uint32_t ninstrs;
    struct wg_instr *instrs;
    uint32_t nlocals;
    struct wg_symbol **locals; /* variables declared inside: .local, .shared, .param of call sequences */
    uint32_t maxntid[3], reqntid[3]; /* 0: not given */
    uint32_t minnctapersm, maxnreg, reqcluster[3];
    uint32_t file, line, ptx_line;
};

/* A call that was inlined, and the one around it. */
struct wg_ptx_call { uint32_t file, line, up; }; /* up: index, 0: none */

struct wg_ptx_module {
    struct wg_arena arena; /* owns everything below and the copy of the text */
    const char *name, *text;
    size_t text_len;
    unsigned version; /* 85 for .version 8.5 */
    unsigned sm;      /* 90 for sm_90 and sm_90a */
    const char *target;
    unsigned address_bits;
    uint32_t nfiles;
    const char **files; /* indexed by .file number; unset entries are NULL */
    uint32_t ncalls;
    struct wg_ptx_call *calls; /* from index 1 on */
    uint32_t nvars;
    struct wg_symbol **vars; /* module scope */
    uint32_t nfuncs;
    struct wg_function **funcs; /* entries, functions, declarations, in textual order */
};

/* Parse and verify. text needs no NUL at its end. On failure *out is NULL and d holds a located message (PARSE or
 * NO_MEMORY). An unknown operation or modifier is no failure: see WG_OP_UNKNOWN and wg_instr.extra. */
enum wg_status wg_ptx_parse(const char *text, size_t n, const char *name, struct wg_ptx_module **out,
                            struct wg_diag *d);
/* Several parts, .h32 or .b7610: bit 16 set, bit 17 for bytes, their number from bit 12, their numbers in three bits each,
 * the last one lowest. */
#define WG_PTX_CHOICE 0x10000
#define WG_PTX_CHOICE_BYTES 0x20000
extern const char wg_ptx_parts[6][3]; /* "b0" "b1" "b2" "b3" "h0" "h1" */
void wg_ptx_free(struct wg_ptx_module *m); /* NULL is fine */
struct wg_function *wg_ptx_function(const struct wg_ptx_module *m, const char *name); /* NULL: none */
/* Shared memory of a kernel as ptxas 13.0 places it (found by assembling small kernels): the variables that the
 * kernel and the functions it calls use, in order of declaration and each at its alignment: the kernel's own, the
 * module's, those of called functions; dynamic memory behind them at 16 bytes or its own alignment if that is more. */
struct wg_ptx_shared { const struct wg_symbol *sym; uint64_t offset; };
struct wg_ptx_shared_layout {
    uint32_t n;
    struct wg_ptx_shared *v;  /* in arena a; dynamic variables last, all at dynamic_offset */
    uint64_t static_bytes, dynamic_offset;
    bool uses_dynamic;
};
enum wg_status wg_ptx_shared_layout(const struct wg_ptx_module *m, const struct wg_function *f, struct wg_arena *a,
                                    struct wg_ptx_shared_layout *out); /* NO_MEMORY only */
/* Write the module as PTX again; parsing that gives an equal module. Returned string is malloc'd; NULL: out of
 * memory. */
char *wg_ptx_print(const struct wg_ptx_module *m);
#endif
