/* parse.h - state shared by the files of the PTX parser; private to src/ptx. */
#ifndef WG_PTX_PARSE_H
#define WG_PTX_PARSE_H
#include "ptx/lex.h"
#include "ptx/module.h"

enum {
    WG_PTX_MAX_SCOPES = 256, /* nested { } */
    WG_PTX_MAX_EXPR = 64,    /* nested parentheses and initialiser braces */
    WG_PTX_MAX_FILE = 1 << 20,
    WG_PTX_MAX_INIT = 1 << 28, /* bytes of one initialised variable */
};

enum wg_binding_kind { WG_BIND_REG, WG_BIND_SYMBOL, WG_BIND_LABEL, WG_BIND_LABELS, WG_BIND_PROTO };
/* What a name means in one scope. */
struct wg_binding {
    struct wg_binding *outer;   /* same name, enclosing scope */
    struct wg_binding *sibling; /* another name of the same scope */
    struct wg_ptx_name *name;
    uint16_t depth;
    uint8_t kind;
    uint32_t number; /* REG: register; LABEL: instruction index */
    void *ptr;       /* SYMBOL, PROTO; LABELS: struct wg_operand with elems */
};
/* ".reg .b32 %r<5>": registers come into being when first used, so that a huge count costs nothing. */
struct wg_range {
    struct wg_range *outer, *sibling;
    struct wg_ptx_name *name;
    uint16_t depth;
    uint8_t type;
    uint64_t count;
};
struct wg_ptx_name {
    const char *s; /* in the module's arena, NUL-terminated */
    uint32_t n, hash;
    struct wg_binding *bind;
    struct wg_range *range;
    struct wg_instr *decoded; /* as a mnemonic */
    int16_t sreg;             /* -2: not looked up yet */
};
struct wg_name_scope { struct wg_binding *bindings; struct wg_range *ranges; size_t pending; };
/* A label or call prototype that was used and may be defined later. */
struct wg_pending {
    struct wg_operand *operand; /* label; NULL: prototype of instruction `instr` */
    uint32_t instr;
    struct wg_ptx_name *name;
    const char *at;
};
/* Where a .loc that was inlined came from in the end. */
/* call: the chain of calls that led to code at this place; from: the chain that starts with this place as a call. */
struct wg_loc_root { uint32_t file, line, col, root_file, root_line, call, from; bool used; };

struct wg_parser {
    struct wg_lexer lex;
    struct wg_ptx_module *m;
    struct wg_arena tmp; /* dies with the parser */
    struct wg_diag *d;
    size_t nnames, cap_names; /* open addressing, power of two */
    struct wg_ptx_name **names;
    unsigned depth; /* 0: module scope */
    struct wg_name_scope scopes[WG_PTX_MAX_SCOPES];
    unsigned inner_ranges; /* live ranges declared deeper than the function's own scope */
    size_t nlocs, cap_locs;
    struct wg_loc_root *locs;
    /* growing arrays, wg_realloc'd; those of the current function are copied to the module at its end */
    struct wg_pending *pending;
    size_t npending, cap_pending;
    struct wg_instr *instrs;
    size_t ninstrs, cap_instrs;
    struct wg_reg *regs;
    size_t nregs, cap_regs;
    struct wg_symbol **locals, **vars;
    size_t nlocals, cap_locals, nvars, cap_vars;
    struct wg_function **funcs;
    size_t nfuncs, cap_funcs;
    struct wg_operand *stack; /* operands being collected */
    size_t nstack, cap_stack;
    char *buf; /* scratch text */
    size_t cap_buf;
    size_t cap_files;
    struct wg_function *fn; /* current; NULL at module scope */
    uint32_t used_bytes; /* of the next instruction */
    uint32_t loc_file, loc_line, loc_col, loc_root_file, loc_root_line, loc_call;
    size_t cap_calls;
};

/* All return false (or NULL) after an error, which then is in p->d. */
bool wg_parse_error(struct wg_parser *p, const char *at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
bool wg_parse_oom(struct wg_parser *p);
/* Room for one more element of a growing array. */
bool wg_parse_room(struct wg_parser *p, void *array, size_t n, size_t *cap, size_t elem);
static inline void wg_parse_next(struct wg_parser *p) { wg_lex_next(&p->lex); }
static inline bool wg_parse_is(const struct wg_parser *p, int kind) { return p->lex.t.kind == kind; }
bool wg_parse_text_is(const struct wg_parser *p, const char *text); /* current token's text */
bool wg_parse_accept(struct wg_parser *p, int kind);
bool wg_parse_expect(struct wg_parser *p, int kind, const char *what);
bool wg_parse_unexpected(struct wg_parser *p, const char *wanted); /* error at the current token */
bool wg_parse_small(struct wg_parser *p, uint64_t max, const char *what, uint32_t *v);
bool wg_parse_int(struct wg_parser *p, uint64_t max, const char *what, uint64_t *v); /* constant expression */

/* names.c */
struct wg_ptx_name *wg_names_intern(struct wg_parser *p, const char *s, size_t n);
bool wg_names_open(struct wg_parser *p);
bool wg_names_close(struct wg_parser *p); /* resolves what the scope's labels resolve */
struct wg_binding *wg_names_bind(struct wg_parser *p, struct wg_ptx_name *n, enum wg_binding_kind kind, uint32_t number,
                                 void *ptr, const char *at);
bool wg_names_bind_range(struct wg_parser *p, struct wg_ptx_name *n, uint8_t type, uint64_t count, const char *at);
/* The binding in sight, creating a register of a range on first use. *out NULL: not declared. */
bool wg_names_find(struct wg_parser *p, struct wg_ptx_name *n, struct wg_binding **out);
bool wg_names_new_reg(struct wg_parser *p, struct wg_ptx_name *n, uint8_t type, uint32_t *number);
bool wg_names_pend(struct wg_parser *p, struct wg_operand *o, uint32_t instr, struct wg_ptx_name *n, const char *at);
void wg_names_free(struct wg_parser *p);

/* expr.c: constants */
struct wg_const { bool is_float, is_unsigned; int64_t i; double f; };
bool wg_expr_parse(struct wg_parser *p, struct wg_const *v);
bool wg_expr_unary(struct wg_parser *p, struct wg_const *v); /* without binary operators outside parentheses */
/* "= {...}" of v, current token after '='. dims: of the declaration, vector width last; dims[0] 0: from the list. */
bool wg_expr_init(struct wg_parser *p, struct wg_symbol *v, uint64_t *dims, unsigned ndims);

/* parse_instr.c */
bool wg_parse_statement(struct wg_parser *p); /* label or instruction; current token starts it */
bool wg_parse_call_lists(struct wg_parser *p, struct wg_instr *in);
/* parse_module.c */
bool wg_parse_module(struct wg_parser *p);
bool wg_parse_labelled(struct wg_parser *p, struct wg_ptx_name *label, const char *at); /* .branchtargets and kin */
/* parse_debug.c: .file, .loc, .section and .pragma; *done tells whether it was one of them */
bool wg_parse_common(struct wg_parser *p, bool *done);
bool wg_parse_skip_statement(struct wg_parser *p); /* to behind the next ';' */
/* verify.c */
bool wg_verify(struct wg_parser *p);
#endif
