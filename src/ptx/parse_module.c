/* parse_module.c - directives: module header, variables, functions. */
#include "ptx/parse.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What precedes a variable or parameter name. */
struct decl {
    uint8_t space, type, vec;
    bool is_reg, is_ptr, is_extern, is_visible, is_weak;
    uint32_t align;
    const char *texmode;
};

/* Skip "(...)" of a directive's argument. */
static bool skip_parens(struct wg_parser *p)
{
    size_t depth = 0;
    do {
        if (wg_parse_is(p, '('))
            depth++;
        else if (wg_parse_is(p, ')'))
            depth--;
        else if (wg_parse_is(p, WG_TOK_EOF) || wg_parse_is(p, WG_TOK_BAD))
            return wg_parse_unexpected(p, "')'");
        wg_parse_next(p);
    } while (depth);
    return true;
}

static int space_of(const struct wg_parser *p)
{
    static const struct { const char *text; int space; } spaces[] = {
        {".global", WG_SPACE_GLOBAL}, {".shared", WG_SPACE_SHARED}, {".local", WG_SPACE_LOCAL},
        {".const", WG_SPACE_CONST},   {".param", WG_SPACE_PARAM},   {".tex", WG_SPACE_GLOBAL},
    };
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (wg_parse_text_is(p, spaces[i].text))
            return spaces[i].space;
    return -1;
}

/* Dotted words up to the name: space, alignment, type, .ptr and its properties. */
static bool decl_words(struct wg_parser *p, struct decl *d)
{
    for (; wg_parse_is(p, WG_TOK_DIR); ) {
        const struct wg_token t = p->lex.t;
        enum wg_field f;
        int v, space = space_of(p);
        enum wg_type type = wg_isa_type(t.s + 1, t.n - 1);
        bool tex = wg_parse_text_is(p, ".tex");
        wg_parse_next(p);
        if (space >= 0) {
            if (!d->is_ptr)
                d->space = (uint8_t)space;
            if (tex)
                d->texmode = "texref";
            if (space == WG_SPACE_CONST && wg_parse_accept(p, '[')) { /* a bank of old PTX */
                uint64_t bank;
                if (!wg_parse_int(p, 10, "a bank number", &bank) || !wg_parse_expect(p, ']', "']'"))
                    return false;
            }
        } else if (type != WG_T_NONE) {
            d->type = (uint8_t)type;
        } else if (t.n == 4 && memcmp(t.s, ".reg", 4) == 0) {
            d->is_reg = true;
        } else if (t.n == 4 && memcmp(t.s, ".ptr", 4) == 0) {
            d->is_ptr = true;
        } else if (t.n == 6 && memcmp(t.s, ".align", 6) == 0) {
            uint64_t a;
            const char *at = p->lex.t.s;
            if (!wg_parse_int(p, 1u << 30, "an alignment", &a))
                return false;
            if (a == 0 || (a & (a - 1)))
                return wg_parse_error(p, at, "an alignment is a power of two");
            if (!d->is_ptr)
                d->align = (uint32_t)a;
        } else if (t.n == 7 && memcmp(t.s, ".texref", 7) == 0) {
            d->texmode = "texref";
        } else if (t.n == 11 && memcmp(t.s, ".samplerref", 11) == 0) {
            d->texmode = "samplerref";
        } else if (t.n == 8 && memcmp(t.s, ".surfref", 8) == 0) {
            d->texmode = "surfref";
        } else if (t.n == 10 && memcmp(t.s, ".attribute", 10) == 0) {
            if (!skip_parens(p))
                return false;
        } else if (wg_isa_mod(t.s + 1, t.n - 1, 1u << WG_FIELD_VEC, &f, &v)) {
            d->vec = (uint8_t)v;
        } else {
            return wg_parse_error(p, t.s, "'%.*s' is no part of a declaration", (int)(t.n < 100 ? t.n : 100), t.s);
        }
    }
    if (d->texmode && d->type == WG_T_NONE)
        d->type = WG_T_B64;
    return true;
}

enum { MAX_DIMS = 16 };

/* "[4][5]" after a name; dims of the declaration with the vector width last. */
static bool decl_dims(struct wg_parser *p, const struct decl *d, struct wg_symbol *v, uint64_t *dims, unsigned *ndims)
{
    const char *at = p->lex.t.s;
    unsigned n = 0;
    uint64_t bytes = wg_type_bytes(d->type);
    while (wg_parse_accept(p, '[')) {
        const char *here = p->lex.t.s;
        if (n == MAX_DIMS - 1)
            return wg_parse_error(p, here, "an array has at most %d dimensions", MAX_DIMS - 1);
        uint64_t k = 0;
        if (!wg_parse_is(p, ']') && !wg_parse_int(p, INT64_MAX, "an array size", &k))
            return false;
        if (k == 0 && n)
            return wg_parse_error(p, here, "only the first dimension of an array may be empty");
        dims[n++] = k;
        if (!wg_parse_expect(p, ']', "']'"))
            return false;
    }
    v->is_array = n > 0;
    if (d->vec)
        dims[n++] = wg_vec_width(d->vec);
    for (unsigned i = 0; i < n; i++)
        if (__builtin_mul_overflow(bytes, dims[i], &bytes) || bytes > INT64_MAX)
            return wg_parse_error(p, at, "the array is too large");
    v->bytes = bytes;
    v->type = d->type;
    v->space = d->space;
    v->align = d->align ? d->align : wg_type_bytes(d->type) * (d->vec ? wg_vec_width(d->vec) : 1);
    v->texmode = d->texmode;
    *ndims = n;
    return true;
}

static bool add_variable(struct wg_parser *p, struct wg_symbol *v)
{
    bool inside = p->fn != NULL;
    struct wg_symbol ***list = inside ? &p->locals : &p->vars;
    size_t *n = inside ? &p->nlocals : &p->nvars, *cap = inside ? &p->cap_locals : &p->cap_vars;
    if (!wg_parse_room(p, list, *n, cap, sizeof **list))
        return false;
    v->index = (uint32_t)*n;
    (*list)[(*n)++] = v;
    return true;
}

/* Current token is the first dotted word. One or several names, each with its initialiser, and ';'. */
static bool variable(struct wg_parser *p, struct decl d)
{
    const char *at = p->lex.t.s;
    if (!decl_words(p, &d))
        return false;
    if (d.type == WG_T_NONE)
        return wg_parse_error(p, at, "this declaration has no type");
    if (d.type == WG_T_PRED)
        return wg_parse_error(p, at, "a predicate lives in a register only");
    do {
        uint64_t dims[MAX_DIMS];
        unsigned ndims;
        const char *name_at = p->lex.t.s;
        if (!wg_parse_is(p, WG_TOK_IDENT))
            return wg_parse_unexpected(p, "a name");
        struct wg_ptx_name *n = wg_names_intern(p, name_at, p->lex.t.n);
        struct wg_symbol now = {.kind = d.texmode ? WG_SYMBOL_TEX : WG_SYMBOL_VAR, .ptx_line = p->lex.t.line,
                                .is_extern = d.is_extern, .is_visible = d.is_visible, .is_weak = d.is_weak};
        if (!n)
            return false;
        now.name = n->s;
        wg_parse_next(p);
        if (!decl_dims(p, &d, &now, dims, &ndims))
            return false;
        struct wg_symbol *v = NULL;
        if (n->bind && n->bind->depth == p->depth && n->bind->kind == WG_BIND_SYMBOL) {
            struct wg_symbol *old = n->bind->ptr;
            if (old->kind == now.kind && old->space == now.space && (old->is_extern || now.is_extern))
                v = old; /* declared and defined: one symbol */
        }
        if (v) {
            bool take = v->is_extern && !now.is_extern;
            now.index = v->index;
            now.is_visible |= v->is_visible;
            now.is_weak |= v->is_weak;
            if (take)
                *v = now;
        } else {
            v = wg_arena_dup(&p->m->arena, &now, sizeof now);
            if (!v)
                return wg_parse_oom(p);
            if (!wg_names_bind(p, n, WG_BIND_SYMBOL, 0, v, name_at) || !add_variable(p, v))
                return false;
        }
        if (wg_parse_accept(p, '=')) {
            if (d.texmode && wg_parse_is(p, '{'))
                wg_lex_skip_block(&p->lex);
            else if (!wg_expr_init(p, v, dims, ndims))
                return false;
        }
    } while (wg_parse_accept(p, ','));
    return wg_parse_expect(p, ';', "';'");
}

/* .reg .b32 %r<5>, %x; */
static bool registers(struct wg_parser *p)
{
    struct decl d = {0};
    const char *at = p->lex.t.s;
    if (!decl_words(p, &d))
        return false;
    if (d.type == WG_T_NONE)
        return wg_parse_error(p, at, "registers need a type");
    if (d.vec)
        return wg_parse_error(p, at, "vector registers of old PTX are not supported: declare scalars");
    do {
        if (!wg_parse_is(p, WG_TOK_IDENT))
            return wg_parse_unexpected(p, "a register name");
        at = p->lex.t.s;
        struct wg_ptx_name *n = wg_names_intern(p, at, p->lex.t.n);
        if (!n)
            return false;
        wg_parse_next(p);
        if (wg_parse_accept(p, '<')) {
            uint64_t count;
            if (!wg_parse_is(p, WG_TOK_INT))
                return wg_parse_unexpected(p, "the number of registers");
            count = p->lex.t.bits;
            wg_parse_next(p);
            if (!wg_names_bind_range(p, n, d.type, count, at) || !wg_parse_expect(p, '>', "'>'"))
                return false;
        } else {
            uint32_t number;
            if (!wg_names_new_reg(p, n, d.type, &number) || !wg_names_bind(p, n, WG_BIND_REG, number, NULL, at))
                return false;
        }
    } while (wg_parse_accept(p, ','));
    return wg_parse_expect(p, ';', "';'");
}

/* ---- functions ------------------------------------------------------------------------------------------------- */

struct params {
    struct wg_symbol *v;
    int32_t *reg;
    size_t n, cap, cap_reg;
    bool any_reg;
};

/* "( .param .b64 a, .reg .b32 b )", current token '('. Names are not bound yet. */
static bool param_list(struct wg_parser *p, struct params *l, bool entry)
{
    wg_parse_next(p);
    while (!wg_parse_is(p, ')')) {
        struct decl d = {0};
        uint64_t dims[MAX_DIMS];
        unsigned ndims;
        const char *at = p->lex.t.s;
        if (!wg_parse_is(p, WG_TOK_DIR))
            return wg_parse_unexpected(p, "a parameter or ')'");
        if (!decl_words(p, &d))
            return false;
        if (d.type == WG_T_NONE || (d.space != WG_SPACE_PARAM && !d.is_reg))
            return wg_parse_error(p, at, "a parameter is .param or .reg, and a type");
        if ((entry && d.is_reg) || (d.type == WG_T_PRED && !d.is_reg))
            return wg_parse_error(p, at, "this cannot be a parameter here");
        if (!wg_parse_is(p, WG_TOK_IDENT))
            return wg_parse_unexpected(p, "the name of the parameter");
        struct wg_ptx_name *n = wg_names_intern(p, p->lex.t.s, p->lex.t.n);
        struct wg_symbol s = {.kind = WG_SYMBOL_PARAM, .index = (uint32_t)l->n, .ptx_line = p->lex.t.line};
        if (!n)
            return false;
        s.name = n->s;
        wg_parse_next(p);
        if (!decl_dims(p, &d, &s, dims, &ndims))
            return false;
        struct wg_symbol *v = wg_arena_grow(&p->tmp, l->v, l->n + 1, &l->cap, sizeof *v);
        int32_t *r = wg_arena_grow(&p->tmp, l->reg, l->n + 1, &l->cap_reg, sizeof *r);
        if (!v || !r)
            return wg_parse_oom(p);
        l->v = v;
        l->reg = r;
        v[l->n] = s;
        r[l->n++] = d.is_reg ? 0 : -1;
        l->any_reg |= d.is_reg;
        if (!wg_parse_is(p, ')') && !wg_parse_expect(p, ',', "',' or ')'"))
            return false;
    }
    wg_parse_next(p);
    return true;
}

/* Byte offsets as the driver packs them; returns the size of the block. */
static uint64_t lay_out(struct params *l)
{
    uint64_t at = 0;
    for (size_t i = 0; i < l->n; i++) {
        uint64_t a = l->v[i].align ? l->v[i].align : 1;
        at = (at + a - 1) / a * a;
        l->v[i].offset = at;
        at += l->v[i].bytes;
    }
    return at;
}

/* Move a list to the module and bind its names in the function's scope. */
static bool keep_params(struct wg_parser *p, struct params *l, struct wg_symbol **out, uint32_t *n, int32_t **regs,
                        const char *at)
{
    *n = (uint32_t)l->n;
    if (!l->n)
        return true;
    *out = wg_arena_dup(&p->m->arena, l->v, l->n * sizeof **out);
    if (!*out)
        return wg_parse_oom(p);
    for (size_t i = 0; regs && i < l->n; i++) {
        struct wg_ptx_name *name = wg_names_intern(p, l->v[i].name, strlen(l->v[i].name));
        uint32_t r = 0;
        if (!name)
            return false;
        bool is_reg = l->reg[i] >= 0;
        if (is_reg && !wg_names_new_reg(p, name, l->v[i].type, &r))
            return false;
        if (is_reg)
            l->reg[i] = (int32_t)r;
        if (strcmp(name->s, "_") == 0)
            continue;
        if (!wg_names_bind(p, name, is_reg ? WG_BIND_REG : WG_BIND_SYMBOL, r, is_reg ? NULL : &(*out)[i], at))
            return false;
    }
    if (regs && l->any_reg) {
        *regs = wg_arena_dup(&p->m->arena, l->reg, l->n * sizeof **regs);
        if (!*regs)
            return wg_parse_oom(p);
    }
    return true;
}

static bool three(struct wg_parser *p, uint32_t v[3])
{
    v[0] = v[1] = v[2] = 1;
    for (int i = 0; i < 3; i++) {
        if (!wg_parse_small(p, UINT32_MAX, "a number", &v[i]))
            return false;
        if (i < 2 && !wg_parse_accept(p, ','))
            break;
    }
    return true;
}

/* .maxntid and kin, between the parameters and the body. */
static bool attributes(struct wg_parser *p, struct wg_function *f)
{
    while (wg_parse_is(p, WG_TOK_DIR)) {
        bool ok = true;
        if (wg_parse_text_is(p, ".maxntid"))
            ok = (wg_parse_next(p), three(p, f->maxntid));
        else if (wg_parse_text_is(p, ".reqntid"))
            ok = (wg_parse_next(p), three(p, f->reqntid));
        else if (wg_parse_text_is(p, ".reqnctapercluster"))
            ok = (wg_parse_next(p), three(p, f->reqcluster));
        else if (wg_parse_text_is(p, ".minnctapersm"))
            ok = (wg_parse_next(p), wg_parse_small(p, UINT32_MAX, "a number", &f->minnctapersm));
        else if (wg_parse_text_is(p, ".maxnreg"))
            ok = (wg_parse_next(p), wg_parse_small(p, UINT32_MAX, "a number", &f->maxnreg));
        else if (wg_parse_text_is(p, ".noreturn"))
            wg_parse_next(p), f->noreturn = true;
        else if (wg_parse_text_is(p, ".pragma"))
            ok = wg_parse_skip_statement(p);
        else if (wg_parse_text_is(p, ".attribute"))
            ok = (wg_parse_next(p), skip_parens(p));
        else { /* .explicitcluster, .maxclusterrank 8, .abi_preserve 16, ...: no effect on what is modelled */
            struct wg_token t = p->lex.t;
            wg_parse_next(p);
            if (wg_isa_type(t.s + 1, t.n - 1) != WG_T_NONE || space_of(p) >= 0)
                return wg_parse_error(p, t.s, "'{' or ';' is expected here");
            while (wg_parse_is(p, WG_TOK_INT) || wg_parse_is(p, ','))
                wg_parse_next(p);
        }
        if (!ok)
            return false;
    }
    return true;
}

static bool body_directive(struct wg_parser *p)
{
    bool done;
    if (wg_parse_text_is(p, ".reg"))
        return wg_parse_next(p), registers(p);
    if (space_of(p) >= 0)
        return variable(p, (struct decl){0});
    if (wg_parse_text_is(p, ".extern"))
        return wg_parse_next(p), variable(p, (struct decl){.is_extern = true});
    if (!wg_parse_common(p, &done))
        return false;
    struct wg_token t = p->lex.t;
    return done || wg_parse_error(p, t.s, "directive '%.*s' is not known in a function body",
                                  (int)(t.n < 100 ? t.n : 100), t.s);
}

static bool body(struct wg_parser *p)
{
    const char *open = p->lex.t.s;
    unsigned base = p->depth;
    wg_parse_next(p);
    for (;;) {
        const struct wg_token *t = &p->lex.t;
        bool ok = true;
        switch (t->kind) {
        case '{': ok = wg_names_open(p); wg_parse_next(p); break;
        case '}':
            if (!wg_names_close(p))
                return false;
            wg_parse_next(p);
            if (p->depth < base)
                return true;
            break;
        case ';': wg_parse_next(p); break;
        case WG_TOK_DIR: ok = body_directive(p); break;
        case WG_TOK_EOF: return wg_parse_error(p, open, "this block has no closing '}'");
        case WG_TOK_BAD: return wg_parse_error(p, t->s, "%s", p->lex.error);
        default: ok = wg_parse_statement(p);
        }
        if (!ok)
            return false;
    }
}

/* Copies what was collected for the body into the module. */
static bool keep_body(struct wg_parser *p, struct wg_function *f)
{
    struct wg_arena *a = &p->m->arena;
    f->ninstrs = (uint32_t)p->ninstrs;
    f->nregs = (uint32_t)p->nregs;
    f->nlocals = (uint32_t)p->nlocals;
    if (p->ninstrs)
        f->instrs = wg_arena_dup(a, p->instrs, p->ninstrs * sizeof *p->instrs);
    if (p->nregs)
        f->regs = wg_arena_dup(a, p->regs, p->nregs * sizeof *p->regs);
    if (p->nlocals)
        f->locals = wg_arena_dup(a, p->locals, p->nlocals * sizeof *p->locals);
    return !a->failed || wg_parse_oom(p);
}

static struct wg_symbol *function_symbol(struct wg_parser *p, struct wg_ptx_name *n, const char *at)
{
    if (n->bind && n->bind->kind == WG_BIND_SYMBOL && ((struct wg_symbol *)n->bind->ptr)->kind == WG_SYMBOL_FUNC)
        return n->bind->ptr;
    struct wg_symbol *s = wg_arena_alloc(&p->m->arena, sizeof *s);
    if (!s) {
        wg_parse_oom(p);
        return NULL;
    }
    s->name = n->s;
    s->kind = WG_SYMBOL_FUNC;
    return wg_names_bind(p, n, WG_BIND_SYMBOL, 0, s, at) ? s : NULL;
}

/* Current token is the one after .entry or .func. */
static bool function(struct wg_parser *p, bool entry, const struct decl *link)
{
    struct params rets = {0}, params = {0};
    struct wg_function *f = wg_arena_alloc(&p->m->arena, sizeof *f);
    if (!f)
        return wg_parse_oom(p);
    f->is_entry = entry;
    f->ptx_line = p->lex.t.line;
    while (wg_parse_is(p, WG_TOK_DIR) && wg_parse_text_is(p, ".attribute"))
        if (wg_parse_next(p), !skip_parens(p))
            return false;
    if (!entry && wg_parse_is(p, '(') && !param_list(p, &rets, false))
        return false;
    const char *at = p->lex.t.s;
    if (!wg_parse_is(p, WG_TOK_IDENT))
        return wg_parse_unexpected(p, "the name of the function");
    struct wg_ptx_name *n = wg_names_intern(p, at, p->lex.t.n);
    if (!n || !(f->sym = function_symbol(p, n, at)))
        return false;
    f->name = n->s;
    wg_parse_next(p);
    if (wg_parse_is(p, '(') && !param_list(p, &params, entry))
        return false;
    f->param_bytes = lay_out(&params);
    lay_out(&rets);
    p->nregs = p->ninstrs = p->nlocals = p->npending = 0;
    p->loc_file = p->loc_line = p->loc_col = p->loc_root_file = p->loc_root_line = p->loc_call = p->used_bytes = 0;
    if (!wg_names_open(p) || !keep_params(p, &rets, &f->rets, &f->nrets, &f->reg_rets, at) ||
        !keep_params(p, &params, &f->params, &f->nparams, &f->reg_params, at) || !attributes(p, f))
        return false;
    struct wg_symbol *s = f->sym;
    if (!s->func)
        s->ptx_line = f->ptx_line;
    s->is_extern |= link->is_extern;
    s->is_visible |= link->is_visible;
    s->is_weak |= link->is_weak;
    if (!wg_parse_room(p, &p->funcs, p->nfuncs, &p->cap_funcs, sizeof *p->funcs))
        return false;
    p->funcs[p->nfuncs++] = f;
    if (wg_parse_is(p, '{')) {
        if (s->func && !s->func->is_declaration)
            return wg_parse_error(p, at, "'%s' has a body already", f->name);
        s->func = f;
        p->fn = f;
        bool ok = body(p) && keep_body(p, f);
        p->fn = NULL;
        return ok;
    }
    f->is_declaration = true;
    if (!s->func)
        s->func = f;
    return wg_names_close(p) && wg_parse_expect(p, ';', "'{' or ';'") && keep_body(p, f);
}

/* ---- labelled directives --------------------------------------------------------------------------------------- */

static bool branch_targets(struct wg_parser *p, struct wg_ptx_name *label, const char *at)
{
    struct wg_operand *list = wg_arena_alloc(&p->tmp, sizeof *list), *e = NULL;
    struct wg_ptx_name **names = NULL;
    size_t n = 0, cap = 0;
    const char *first = p->lex.t.s;
    if (!list)
        return wg_parse_oom(p);
    do {
        if (!wg_parse_is(p, WG_TOK_IDENT))
            return wg_parse_unexpected(p, "a label");
        names = wg_arena_grow(&p->tmp, names, n + 1, &cap, sizeof *names);
        if (!names)
            return wg_parse_oom(p);
        if (!(names[n++] = wg_names_intern(p, p->lex.t.s, p->lex.t.n)))
            return false;
        wg_parse_next(p);
    } while (wg_parse_accept(p, ','));
    if (!(e = wg_arena_alloc(&p->m->arena, n * sizeof *e)))
        return wg_parse_oom(p);
    for (size_t i = 0; i < n; i++) {
        e[i] = (struct wg_operand){.kind = WG_OPERAND_LABEL, .reg = -1, .pair = -1, .sreg = -1};
        if (!wg_names_pend(p, &e[i], 0, names[i], first))
            return false;
    }
    list->elems = e;
    list->nelems = (uint32_t)n;
    return wg_names_bind(p, label, WG_BIND_LABELS, 0, list, at) && wg_parse_expect(p, ';', "',' or ';'");
}

/* The functions that an indirect call may reach: their common signature is that of the first. */
static bool call_targets(struct wg_parser *p, struct wg_prototype *proto)
{
    for (bool first = true;; first = false) {
        struct wg_binding *b;
        const char *at = p->lex.t.s;
        if (!wg_parse_is(p, WG_TOK_IDENT))
            return wg_parse_unexpected(p, "a function");
        struct wg_ptx_name *n = wg_names_intern(p, at, p->lex.t.n);
        if (!n || !wg_names_find(p, n, &b))
            return false;
        const struct wg_symbol *s = b && b->kind == WG_BIND_SYMBOL ? b->ptr : NULL;
        if (!s || !s->func)
            return wg_parse_error(p, at, "'%s' is no declared function", n->s);
        if (first) {
            proto->nret = s->func->nrets;
            proto->ret = s->func->rets;
            proto->narg = s->func->nparams;
            proto->arg = s->func->params;
        }
        wg_parse_next(p);
        if (!wg_parse_accept(p, ','))
            return wg_parse_expect(p, ';', "',' or ';'");
    }
}

/* (ret) _ (params) [.noreturn] ; */
static bool call_prototype(struct wg_parser *p, struct wg_prototype *proto, const char *at)
{
    struct params rets = {0}, params = {0};
    struct wg_function unused = {0};
    if (wg_parse_is(p, '(') && !param_list(p, &rets, false))
        return false;
    if (!wg_parse_is(p, WG_TOK_IDENT))
        return wg_parse_unexpected(p, "'_'");
    wg_parse_next(p);
    if (wg_parse_is(p, '(') && !param_list(p, &params, false))
        return false;
    lay_out(&rets);
    lay_out(&params);
    return keep_params(p, &rets, &proto->ret, &proto->nret, NULL, at) &&
           keep_params(p, &params, &proto->arg, &proto->narg, NULL, at) && attributes(p, &unused) &&
           wg_parse_expect(p, ';', "';'");
}

bool wg_parse_labelled(struct wg_parser *p, struct wg_ptx_name *label, const char *at)
{
    bool branch = wg_parse_text_is(p, ".branchtargets"), calls = wg_parse_text_is(p, ".calltargets");
    wg_parse_next(p);
    if (branch)
        return branch_targets(p, label, at);
    struct wg_prototype *proto = wg_arena_alloc(&p->m->arena, sizeof *proto);
    if (!proto)
        return wg_parse_oom(p);
    proto->name = label->s;
    return (calls ? call_targets(p, proto) : call_prototype(p, proto, at)) &&
           wg_names_bind(p, label, WG_BIND_PROTO, 0, proto, at);
}

/* ---- module scope ---------------------------------------------------------------------------------------------- */

static bool version(struct wg_parser *p)
{
    const struct wg_token t = p->lex.t;
    unsigned v = 0;
    const char *dot = memchr(t.s, '.', t.n);
    if (t.kind != WG_TOK_FLOAT || t.n > 4 || !dot || dot + 2 != t.s + t.n)
        return wg_parse_unexpected(p, "a version such as 8.5");
    for (const char *c = t.s; c < t.s + t.n; c++) {
        if (c != dot && (*c < '0' || *c > '9'))
            return wg_parse_unexpected(p, "a version such as 8.5");
        v = c == dot ? v : v * 10 + (unsigned)(*c - '0');
    }
    p->m->version = v;
    wg_parse_next(p);
    return true;
}

/* A later .target only narrows what an assembler allows, so the first one counts. */
static bool target(struct wg_parser *p)
{
    const char *start = p->lex.t.s, *end;
    bool first = !p->m->target;
    do {
        const struct wg_token t = p->lex.t;
        if (t.kind != WG_TOK_IDENT)
            return wg_parse_unexpected(p, "a target such as sm_90");
        if (first && t.n > 3 && t.n < 16 && memcmp(t.s, "sm_", 3) == 0)
            p->m->sm = (unsigned)strtoul(t.s + 3, NULL, 10);
        end = t.s + t.n;
        wg_parse_next(p);
    } while (wg_parse_accept(p, ','));
    if (!first)
        return true;
    if (!p->m->sm)
        return wg_parse_error(p, start, "a target such as sm_90 is expected here");
    p->m->target = wg_arena_str(&p->m->arena, start, (size_t)(end - start));
    return p->m->target || wg_parse_oom(p);
}

/* .alias a, b; */
static bool alias(struct wg_parser *p)
{
    struct wg_symbol *s[2];
    for (int i = 0; i < 2; i++) {
        struct wg_binding *b;
        const char *at = p->lex.t.s;
        if (!wg_parse_is(p, WG_TOK_IDENT))
            return wg_parse_unexpected(p, "a function");
        struct wg_ptx_name *n = wg_names_intern(p, at, p->lex.t.n);
        if (!n || !wg_names_find(p, n, &b))
            return false;
        s[i] = b && b->kind == WG_BIND_SYMBOL ? b->ptr : NULL;
        if (!s[i] || !s[i]->func || (i == 0 && !s[i]->func->is_declaration) || (i == 1 && s[i]->func->is_declaration))
            return wg_parse_error(p, at, i ? "'%s' is no function with a body" : "'%s' is no function without a body",
                                  n->s);
        wg_parse_next(p);
        if (!wg_parse_expect(p, i ? ';' : ',', i ? "';'" : "','"))
            return false;
    }
    s[0]->func = s[1]->func;
    return true;
}

static bool module_directive(struct wg_parser *p)
{
    struct decl link = {0};
    bool done;
    for (;; wg_parse_next(p)) {
        if (wg_parse_text_is(p, ".extern"))
            link.is_extern = true;
        else if (wg_parse_text_is(p, ".visible"))
            link.is_visible = true;
        else if (wg_parse_text_is(p, ".weak") || wg_parse_text_is(p, ".common"))
            link.is_weak = true;
        else
            break;
    }
    if (wg_parse_text_is(p, ".entry") || wg_parse_text_is(p, ".func")) {
        bool entry = wg_parse_text_is(p, ".entry");
        wg_parse_next(p);
        return function(p, entry, &link);
    }
    if (space_of(p) >= 0)
        return variable(p, link);
    if (link.is_extern || link.is_visible || link.is_weak)
        return wg_parse_unexpected(p, "a variable or function");
    if (wg_parse_text_is(p, ".target"))
        return wg_parse_next(p), target(p);
    if (wg_parse_text_is(p, ".version"))
        return wg_parse_next(p), version(p);
    if (wg_parse_text_is(p, ".address_size")) {
        const char *at = (wg_parse_next(p), p->lex.t.s);
        uint64_t bits;
        if (!wg_parse_int(p, 64, "32 or 64", &bits))
            return false;
        p->m->address_bits = (unsigned)bits;
        return bits == 32 || bits == 64 || wg_parse_error(p, at, "addresses have 32 or 64 bits");
    }
    if (wg_parse_text_is(p, ".alias"))
        return wg_parse_next(p), alias(p);
    if (!wg_parse_common(p, &done))
        return false;
    struct wg_token t = p->lex.t;
    return done || wg_parse_error(p, t.s, "directive '%.*s' is not known here", (int)(t.n < 100 ? t.n : 100), t.s);
}

bool wg_parse_module(struct wg_parser *p)
{
    if (wg_parse_is(p, WG_TOK_BAD))
        return wg_parse_error(p, p->lex.t.s, "%s", p->lex.error);
    if (!wg_parse_text_is(p, ".version"))
        return wg_parse_error(p, p->lex.t.s, "a PTX module starts with .version");
    while (!wg_parse_is(p, WG_TOK_EOF)) {
        if (wg_parse_accept(p, ';'))
            continue;
        if (!wg_parse_is(p, WG_TOK_DIR))
            return wg_parse_unexpected(p, "a directive");
        if (!module_directive(p))
            return false;
    }
    return p->m->target || wg_parse_error(p, p->lex.t.s, "the module has no .target");
}
