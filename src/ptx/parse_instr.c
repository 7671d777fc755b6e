/* parse_instr.c - one statement of a function body: labels, guards, mnemonics, operands, calls. */
#include "ptx/parse.h"
#include <stdio.h>
#include <string.h>

/* ---- mnemonics ------------------------------------------------------------------------------------------------- */

/* Hints that change where data is kept, never what a program computes. */
static bool is_cache_hint(const char *s, size_t n)
{
    return n > 4 && s[0] == 'L' && (s[1] == '1' || s[1] == '2') && s[2] == ':' && s[3] == ':';
}

/* Put a value into its field. False when the field is taken and the second value means something. */
static bool set_field(struct wg_instr *in, enum wg_field f, int value)
{
    uint8_t v = (uint8_t)value, *at = NULL;
    switch (f) {
    case WG_FIELD_SPACE: at = &in->space; break;
    case WG_FIELD_VEC: at = &in->vec; break;
    case WG_FIELD_ROUND: at = &in->round; break;
    case WG_FIELD_CMP: at = &in->cmp; break;
    case WG_FIELD_BOOL: at = &in->boolop; break;
    case WG_FIELD_HALF: at = &in->half; break;
    case WG_FIELD_ATOM: at = &in->atom; break;
    case WG_FIELD_SCOPE: at = &in->scope; break;
    case WG_FIELD_ORDER: at = &in->order; break;
    case WG_FIELD_SHFL: at = &in->shfl; break;
    case WG_FIELD_VOTE: at = &in->vote; break;
    case WG_FIELD_DIR: at = &in->dir; break;
    case WG_FIELD_SHIFT: at = &in->shift; break;
    case WG_FIELD_PRMT: at = &in->prmt; break;
    case WG_FIELD_TESTP: at = &in->testp; break;
    case WG_FIELD_SHAPE: at = &in->shape; break;
    case WG_FIELD_COUNT: at = &in->count; break;
    case WG_FIELD_LAYOUT: at = in->layout[0] ? &in->layout[1] : &in->layout[0]; break;
    case WG_FIELD_FLAG: in->flags |= 1ull << value; return true;
    case WG_FIELDS: return false;
    }
    if (*at == 0) {
        *at = v;
        return true;
    }
    /* What the first value already says: cp.async reads global memory; a 1-bit product always counts bits. */
    return (f == WG_FIELD_SPACE && in->op == WG_OP_CP_ASYNC && v == WG_SPACE_GLOBAL) ||
           (f == WG_FIELD_BOOL && (in->op == WG_OP_MMA || in->op == WG_OP_WMMA_MMA || in->op == WG_OP_WGMMA) && v == WG_BOOL_POPC);
}

static bool take_modifier(struct wg_instr *in, const char *s, size_t n)
{
    enum wg_type type = wg_isa_type(s, n);
    if (type != WG_T_NONE) {
        if (in->ntypes >= 4)
            return false;
        in->type[in->ntypes++] = (uint8_t)type;
        return true;
    }
    if (is_cache_hint(s, n) || (in->op == WG_OP_PREFETCHU || in->op == WG_OP_PREFETCH ? n == 2 && s[0] == 'L' : false))
        return true;
    enum wg_field f;
    int value;
    uint32_t fields = wg_op_infos[in->op].fields;
    if (wg_isa_mod(s, n, fields, &f, &value) || wg_isa_mod(s, n, 1u << WG_FIELD_FLAG, &f, &value))
        return set_field(in, f, value);
    return false;
}

/* Decode a mnemonic once per module; instructions copy the result. */
static const struct wg_instr *decode(struct wg_parser *p, struct wg_ptx_name *name)
{
    if (name->decoded)
        return name->decoded;
    struct wg_instr *in = wg_arena_alloc(&p->tmp, sizeof *in);
    char *extra = wg_arena_alloc(&p->m->arena, name->n + 1);
    if (!in || !extra) {
        wg_parse_oom(p);
        return NULL;
    }
    size_t used, k = 0;
    in->op = (uint16_t)wg_isa_op(name->s, name->n, &used);
    in->guard = -1;
    in->mnemonic = name->s;
    if (in->op == WG_OP_UNKNOWN) {
        const char *dot = memchr(name->s, '.', name->n);
        used = dot ? (size_t)(dot - name->s) : name->n;
    }
    for (const char *s = name->s + used, *end = name->s + name->n; s < end;) {
        const char *e = memchr(s + 1, '.', (size_t)(end - s - 1));
        size_t n = (size_t)((e ? e : end) - s);
        if (!take_modifier(in, s + 1, n - 1)) {
            memcpy(extra + k, s + (k == 0), n - (k == 0));
            k += n - (k == 0);
        }
        s += n;
    }
    if (k)
        in->extra = extra;
    name->decoded = in;
    return in;
}

/* ---- operands -------------------------------------------------------------------------------------------------- */

/* Whether a name may be a label: never, when it is nothing else, always. */
enum label { LABEL_NO, LABEL_ELSE, LABEL_YES };
static bool operand(struct wg_parser *p, struct wg_instr *in, struct wg_operand *o, enum label label, unsigned depth);

static bool add_extra(struct wg_parser *p, struct wg_instr *in, const char *s, size_t n)
{
    if (in->extra && strlen(in->extra) > 200) /* one reason to refuse it is enough */
        return true;
    in->extra = in->extra ? wg_arena_printf(&p->m->arena, "%s.%.*s", in->extra, (int)n, s)
                          : wg_arena_str(&p->m->arena, s, n);
    return in->extra || wg_parse_oom(p);
}

static bool push(struct wg_parser *p, const struct wg_operand *o)
{
    if (!wg_parse_room(p, &p->stack, p->nstack, &p->cap_stack, sizeof *p->stack))
        return false;
    p->stack[p->nstack++] = *o;
    return true;
}

/* Move the operands above `base` from the stack to the module. */
static bool pop_all(struct wg_parser *p, size_t base, struct wg_operand **out, uint32_t *n)
{
    *n = (uint32_t)(p->nstack - base);
    *out = NULL;
    if (*n) {
        *out = wg_arena_dup(&p->m->arena, p->stack + base, *n * sizeof **out);
        if (!*out)
            return wg_parse_oom(p);
    }
    p->nstack = base;
    return true;
}

/* Which byte or half of a register a video instruction's operand %r1.b0 takes: as wg_operand.sreg, or -1. */
static int register_part(const struct wg_instr *in, const char *s, size_t n)
{
    if (in->op != WG_OP_UNKNOWN && wg_op_infos[in->op].group != WG_GROUP_VIDEO)
        return -1;
    for (int k = 0; k < 6; k++)
        if (n == 2 && memcmp(s, wg_ptx_parts[k], 2) == 0)
            return k;
    /* a choice of parts of a SIMD video instruction, .h10 or .b3210 */
    bool digits = n > 2 && n < 6 && (*s == 'h' || *s == 'b');
    int choice = WG_PTX_CHOICE | (*s == 'b' ? WG_PTX_CHOICE_BYTES : 0) | (int)(n - 1) << 12, numbers = 0;
    for (size_t k = 1; digits && k < n; k++) {
        digits = s[k] >= '0' && s[k] <= '7';
        numbers = numbers << 3 | (s[k] - '0');
    }
    return digits ? choice | numbers : -1;
}

/* The name at the current token as register, special register or symbol. A name that means nothing becomes a label
 * operand when that is allowed, else an error. Consumes the token. */
static bool name_operand(struct wg_parser *p, struct wg_instr *in, struct wg_operand *o, enum label label)
{
    const struct wg_token t = p->lex.t;
    struct wg_binding *b;
    struct wg_ptx_name *n = wg_names_intern(p, t.s, t.n);
    if (!n || !wg_names_find(p, n, &b))
        return false;
    wg_parse_next(p);
    const char *dot = b ? NULL : memchr(t.s, '.', t.n);
    if (!b && n->sreg == -2)
        n->sreg = (int16_t)wg_isa_sreg(n->s, n->n);
    if (!b && n->sreg >= 0) {
        o->kind = WG_OPERAND_SREG;
        o->sreg = n->sreg;
        return true;
    }
    int part = dot ? register_part(in, dot + 1, t.n - (size_t)(dot + 1 - t.s)) : -1;
    if (part >= 0) {
        n = wg_names_intern(p, t.s, (size_t)(dot - t.s));
        if (!n || !wg_names_find(p, n, &b))
            return false;
        if (b && b->kind != WG_BIND_REG)
            b = NULL;
        o->sreg = part;
        if (b && !add_extra(p, in, dot + 1, t.n - (size_t)(dot + 1 - t.s)))
            return false;
    }
    if (b && b->kind == WG_BIND_REG) {
        o->kind = WG_OPERAND_REG;
        o->reg = (int32_t)b->number;
    } else if (b && b->kind == WG_BIND_SYMBOL && label != LABEL_YES) {
        o->kind = WG_OPERAND_SYMBOL;
        o->sym = b->ptr;
    } else if (label != LABEL_NO) {
        o->kind = WG_OPERAND_LABEL;
        o->elems = (struct wg_operand *)n; /* until finish() */
        o->imm = t.s - p->m->text;
    } else {
        return wg_parse_error(p, t.s, "'%.*s' is not declared", (int)(t.n < 200 ? t.n : 200), t.s);
    }
    return true;
}

static bool list_operand(struct wg_parser *p, struct wg_instr *in, struct wg_operand *o, int close, unsigned depth)
{
    size_t base = p->nstack;
    while (!wg_parse_is(p, close)) {
        struct wg_operand e;
        if (!operand(p, in, &e, LABEL_NO, depth + 1) || !push(p, &e))
            return false;
        if (!wg_parse_is(p, close) && !wg_parse_expect(p, ',', close == '}' ? "',' or '}'" : "',' or ']'"))
            return false;
    }
    wg_parse_next(p);
    return pop_all(p, base, &o->elems, &o->nelems);
}

/* + or - constant, and + register after a symbol (or symbol after a register). */
static bool offsets(struct wg_parser *p, struct wg_operand *o, bool regs)
{
    while (wg_parse_is(p, '+') || wg_parse_is(p, '-')) {
        bool minus = wg_parse_is(p, '-');
        wg_parse_next(p);
        const char *at = p->lex.t.s;
        if (regs && !minus && wg_parse_is(p, WG_TOK_IDENT) && !wg_parse_text_is(p, "WARP_SZ")) {
            struct wg_operand r = {.reg = -1, .sreg = -1};
            struct wg_instr none = {0};
            if (!name_operand(p, &none, &r, LABEL_NO))
                return false;
            if (r.kind == WG_OPERAND_REG && o->reg < 0)
                o->reg = r.reg;
            else if (r.kind == WG_OPERAND_SYMBOL && !o->sym)
                o->sym = r.sym;
            else
                return wg_parse_error(p, at, "an address is one register or variable, and a constant");
            continue;
        }
        struct wg_const c;
        if (!wg_expr_unary(p, &c))
            return false;
        if (c.is_float)
            return wg_parse_error(p, at, "an address offset is an integer");
        o->imm = (int64_t)((uint64_t)o->imm + (minus ? 0 - (uint64_t)c.i : (uint64_t)c.i));
    }
    return true;
}

/* array[constant] after the array's name: the element's address, or in a memory access the element itself. The index
 * counts elements (ptxas 13.0: `mov.u64 %rd, a[3]` of .b64 adds 24). */
static bool element(struct wg_parser *p, const struct wg_instr *in, struct wg_operand *o)
{
    if (!wg_parse_is(p, '['))
        return true;
    wg_parse_next(p);
    const char *at = p->lex.t.s;
    struct wg_const c;
    if (wg_parse_is(p, WG_TOK_IDENT) && !wg_parse_text_is(p, "WARP_SZ"))
        return wg_parse_error(p, at, "an array's index is a constant here; index with a register by [address]");
    if (!wg_expr_parse(p, &c))
        return false;
    if (c.is_float)
        return wg_parse_error(p, at, "an array's index is an integer");
    o->imm = (int64_t)((uint64_t)o->imm + (uint64_t)c.i * wg_type_bytes(o->sym->type));
    if (in->op == WG_OP_LD || in->op == WG_OP_ST || in->op == WG_OP_ATOM || in->op == WG_OP_RED)
        o->kind = WG_OPERAND_MEM;
    return wg_parse_expect(p, ']', "']'");
}

static bool mem_operand(struct wg_parser *p, struct wg_instr *in, struct wg_operand *o, unsigned depth)
{
    const char *open = p->lex.t.s;
    struct wg_operand first = {.reg = -1, .pair = -1, .sreg = -1};
    wg_parse_next(p);
    if (!operand(p, in, &first, LABEL_NO, depth + 1))
        return false;
    if (first.kind == WG_OPERAND_REG && !offsets(p, &first, true))
        return false;
    if (first.kind == WG_OPERAND_SYMBOL && !offsets(p, &first, true))
        return false;
    if ((first.kind != WG_OPERAND_REG && first.kind != WG_OPERAND_SYMBOL && first.kind != WG_OPERAND_IMM) ||
        first.neg || first.pair >= 0 || first.is_float || first.sreg >= 0)
        return wg_parse_error(p, open, "an address is a register, a variable or a number, and an offset");
    o->reg = first.reg;
    o->sym = first.sym;
    o->imm = first.imm;
    if (wg_parse_accept(p, ',')) {
        size_t base = p->nstack;
        uint32_t n;
        if (!push(p, &first) || !list_operand(p, in, o, ']', depth))
            return false;
        n = o->nelems;
        for (uint32_t i = 0; i < n; i++)
            if (!push(p, &o->elems[i]))
                return false;
        if (!pop_all(p, base, &o->elems, &o->nelems))
            return false;
    } else if (!wg_parse_expect(p, ']', "']'")) {
        return false;
    }
    o->kind = WG_OPERAND_MEM;
    return true;
}

static bool constant(struct wg_parser *p, struct wg_operand *o)
{
    struct wg_const c;
    if (!wg_expr_parse(p, &c))
        return false;
    o->kind = WG_OPERAND_IMM;
    o->is_float = c.is_float;
    if (c.is_float)
        memcpy(&o->imm, &c.f, 8);
    else
        o->imm = c.i;
    return true;
}

/* "d|p" after d */
static bool pair(struct wg_parser *p, struct wg_instr *in, struct wg_operand *o)
{
    if (!wg_parse_accept(p, '|'))
        return true;
    const char *at = p->lex.t.s;
    struct wg_operand second = {.reg = -1, .sreg = -1};
    if (wg_parse_is(p, WG_TOK_IDENT) && wg_parse_text_is(p, "_")) {
        wg_parse_next(p);
        return true;
    }
    if (!wg_parse_is(p, WG_TOK_IDENT) || !name_operand(p, in, &second, LABEL_NO) || second.kind != WG_OPERAND_REG ||
        second.sreg >= 0)
        return wg_parse_error(p, at, "a predicate register is expected after '|'");
    o->pair = second.reg;
    return true;
}

static bool operand(struct wg_parser *p, struct wg_instr *in, struct wg_operand *o, enum label label, unsigned depth)
{
    const struct wg_token *t = &p->lex.t;
    *o = (struct wg_operand){.reg = -1, .pair = -1, .sreg = -1};
    if (depth > 4)
        return wg_parse_error(p, t->s, "operands are nested too deep");
    switch (t->kind) {
    case '[': return mem_operand(p, in, o, depth);
    case '{':
        wg_parse_next(p);
        o->kind = WG_OPERAND_VEC;
        return list_operand(p, in, o, '}', depth);
    case '!': {
        const char *at = t->s;
        wg_parse_next(p);
        if (!wg_parse_is(p, WG_TOK_IDENT)) {
            p->lex.p = at; /* !constant */
            wg_lex_next(&p->lex);
            return constant(p, o);
        }
        o->neg = true;
        if (!name_operand(p, in, o, LABEL_NO))
            return false;
        return o->kind == WG_OPERAND_REG || wg_parse_error(p, at, "'!' needs a predicate register");
    }
    case '-': { /* -%r: of vmad; everything else negates constants */
        const char *at = t->s;
        wg_parse_next(p);
        if (in->op == WG_OP_VMAD && wg_parse_is(p, WG_TOK_IDENT) && !wg_parse_text_is(p, "WARP_SZ")) {
            o->neg = true;
            if (!name_operand(p, in, o, LABEL_NO))
                return false;
            return o->kind == WG_OPERAND_REG || wg_parse_error(p, at, "'-' needs a register or a number");
        }
        p->lex.p = at;
        wg_lex_next(&p->lex);
        return constant(p, o);
    }
    case WG_TOK_IDENT:
        if (wg_parse_text_is(p, "WARP_SZ"))
            return constant(p, o);
        if (wg_parse_text_is(p, "_")) {
            wg_parse_next(p);
            o->kind = WG_OPERAND_SINK;
            return pair(p, in, o);
        }
        if (!name_operand(p, in, o, label))
            return false;
        if (o->kind == WG_OPERAND_REG)
            return pair(p, in, o);
        return o->kind != WG_OPERAND_SYMBOL || depth || (element(p, in, o) && offsets(p, o, false));
    case WG_TOK_DIR: case ',': case ';': case ')': case ']': case '}': case WG_TOK_EOF:
        return wg_parse_error(p, t->s, "an operand is expected here");
    default: return constant(p, o);
    }
}

/* ---- calls ----------------------------------------------------------------------------------------------------- */

static bool call_list(struct wg_parser *p, struct wg_instr *in, struct wg_operand **out, uint32_t *n)
{
    size_t base = p->nstack;
    wg_parse_next(p);
    while (!wg_parse_is(p, ')')) {
        struct wg_operand o;
        if (!operand(p, in, &o, LABEL_NO, 0) || !push(p, &o))
            return false;
        if (!wg_parse_is(p, ')') && !wg_parse_expect(p, ',', "',' or ')'"))
            return false;
    }
    wg_parse_next(p);
    return pop_all(p, base, out, n);
}

/* [(ret),] callee [, (args)] [, prototype or target list] */
static bool call(struct wg_parser *p, struct wg_instr *in)
{
    struct wg_operand o = {.reg = -1, .pair = -1, .sreg = -1};
    if (wg_parse_is(p, '(') && (!call_list(p, in, &in->ret, &in->nret) || !wg_parse_expect(p, ',', "','")))
        return false;
    const char *at = p->lex.t.s;
    if (!wg_parse_is(p, WG_TOK_IDENT))
        return wg_parse_error(p, at, "the function to call is expected here");
    if (!name_operand(p, in, &o, LABEL_NO) || !push(p, &o))
        return false;
    if (o.kind != WG_OPERAND_REG && !(o.kind == WG_OPERAND_SYMBOL && o.sym->kind == WG_SYMBOL_FUNC))
        return wg_parse_error(p, at, "this is neither a function nor a register");
    if (!wg_parse_accept(p, ','))
        return true;
    if (wg_parse_is(p, '(')) {
        if (!call_list(p, in, &in->arg, &in->narg))
            return false;
        if (!wg_parse_accept(p, ','))
            return true;
    }
    if (!wg_parse_is(p, WG_TOK_IDENT))
        return wg_parse_error(p, p->lex.t.s, "argument list or call prototype expected");
    struct wg_ptx_name *n = wg_names_intern(p, p->lex.t.s, p->lex.t.n);
    if (!n)
        return false;
    if (n->bind && n->bind->kind == WG_BIND_PROTO)
        in->proto = n->bind->ptr;
    else if (!wg_names_pend(p, NULL, (uint32_t)p->ninstrs, n, p->lex.t.s))
        return false;
    wg_parse_next(p);
    return true;
}

/* ---- statements ------------------------------------------------------------------------------------------------ */

static bool guard(struct wg_parser *p, int32_t *reg, bool *neg)
{
    wg_parse_next(p);
    *neg = wg_parse_accept(p, '!');
    const char *at = p->lex.t.s;
    struct wg_operand o = {.reg = -1, .sreg = -1};
    struct wg_instr none = {0}; /* WG_OP 0 is add: no parts of registers */
    if (!wg_parse_is(p, WG_TOK_IDENT))
        return wg_parse_error(p, at, "a predicate register is expected after '@'");
    if (!name_operand(p, &none, &o, LABEL_NO))
        return false;
    if (o.kind != WG_OPERAND_REG || p->regs[o.reg].type != WG_T_PRED || none.extra)
        return wg_parse_error(p, at, "a guard must be a predicate register");
    *reg = o.reg;
    return true;
}

/* The mnemonic may be broken by white space: "ld.global .f32". Token `t` is its first part; current is what follows. */
static struct wg_ptx_name *mnemonic(struct wg_parser *p, const struct wg_token *t)
{
    if (!wg_parse_is(p, WG_TOK_DIR))
        return wg_names_intern(p, t->s, t->n);
    char *s = wg_arena_str(&p->tmp, t->s, t->n);
    size_t n = t->n;
    for (; s && wg_parse_is(p, WG_TOK_DIR); wg_parse_next(p)) {
        if (n > 4096) {
            wg_parse_error(p, p->lex.t.s, "this mnemonic is too long");
            return NULL;
        }
        s = wg_arena_printf(&p->tmp, "%s%.*s", s, (int)(p->lex.t.n < 4096 ? p->lex.t.n : 4096), p->lex.t.s);
        n = s ? strlen(s) : 0;
    }
    if (!s)
        wg_parse_oom(p);
    return s ? wg_names_intern(p, s, n) : NULL;
}

/* Operand list up to ';'. A label is allowed where the operation has one, anywhere if the operation is unknown. */
static bool operands(struct wg_parser *p, struct wg_instr *in)
{
    const char *shape = wg_op_infos[in->op].shape;
    if (*shape == '*')
        return call(p, in);
    while (!wg_parse_is(p, ';')) {
        struct wg_operand o;
        enum label label = *shape == 'l' ? LABEL_YES : in->op == WG_OP_UNKNOWN ? LABEL_ELSE : LABEL_NO;
        if (!operand(p, in, &o, label, 0) || !push(p, &o))
            return false;
        if (*shape)
            shape += shape[1] == '?' ? 2 : 1;
        if (wg_parse_is(p, ';'))
            break;
        if (!wg_parse_expect(p, ',', "',' or ';'"))
            return false;
    }
    return true;
}

static bool finish(struct wg_parser *p, struct wg_instr *in, const char *start)
{
    const char *end = p->lex.t.s;
    if (!wg_parse_expect(p, ';', "';'"))
        return false;
    while (end > start && (unsigned char)end[-1] <= ' ')
        end--;
    in->text = start;
    in->text_len = (uint32_t)(end - start);
    if (!pop_all(p, 0, &in->ops, &in->nops))
        return false;
    for (uint32_t i = 0; i < in->nops; i++) {
        struct wg_operand *o = &in->ops[i];
        if (o->kind != WG_OPERAND_LABEL)
            continue;
        struct wg_ptx_name *n = (struct wg_ptx_name *)o->elems;
        const char *at = p->m->text + o->imm;
        o->elems = NULL;
        o->imm = 0;
        if (!wg_names_pend(p, o, 0, n, at))
            return false;
    }
    p->instrs[p->ninstrs++] = *in;
    return true;
}

bool wg_parse_statement(struct wg_parser *p)
{
    const char *start = p->lex.t.s;
    uint32_t line = p->lex.t.line;
    int32_t pred = -1;
    bool neg = false;
    p->nstack = 0;
    if (wg_parse_is(p, '@') && !guard(p, &pred, &neg))
        return false;
    struct wg_token t = p->lex.t;
    if (t.kind != WG_TOK_IDENT)
        return wg_parse_error(p, t.s, "an instruction is expected here");
    wg_parse_next(p);
    if (wg_parse_is(p, ':') && pred < 0) {
        struct wg_ptx_name *n = wg_names_intern(p, t.s, t.n);
        if (!n)
            return false;
        wg_parse_next(p);
        if (wg_parse_text_is(p, ".branchtargets") || wg_parse_text_is(p, ".calltargets") ||
            wg_parse_text_is(p, ".callprototype"))
            return wg_parse_labelled(p, n, t.s);
        return wg_names_bind(p, n, WG_BIND_LABEL, (uint32_t)p->ninstrs, NULL, t.s) != NULL;
    }
    if (p->ninstrs >= INT32_MAX || !wg_parse_room(p, &p->instrs, p->ninstrs, &p->cap_instrs, sizeof *p->instrs))
        return false;
    struct wg_ptx_name *n = mnemonic(p, &t);
    const struct wg_instr *d = n ? decode(p, n) : NULL;
    if (!d)
        return false;
    struct wg_instr in = *d;
    in.guard = pred;
    in.guard_neg = neg;
    in.ptx_line = line;
    in.file = p->loc_file;
    in.line = p->loc_line;
    in.col = p->loc_col;
    in.inl_file = p->loc_root_file;
    in.inl_line = p->loc_root_line;
    in.call = p->loc_call;
    in.used_bytes = p->used_bytes;
    p->used_bytes = 0;
    return operands(p, &in) && finish(p, &in, start);
}
