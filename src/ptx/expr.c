/* expr.c - constant expressions and initialisers of variables. */
#include "ptx/parse.h"
#include <limits.h>
#include <string.h>

static bool binary(struct wg_parser *p, struct wg_const *v, int min, unsigned depth);

static double as_double(const struct wg_const *v)
{
    return v->is_float ? v->f : v->is_unsigned ? (double)(uint64_t)v->i : (double)v->i;
}

static bool primary(struct wg_parser *p, struct wg_const *v, unsigned depth)
{
    const struct wg_token *t = &p->lex.t;
    if (depth > WG_PTX_MAX_EXPR)
        return wg_parse_error(p, t->s, "this expression is nested more than %d deep", WG_PTX_MAX_EXPR);
    *v = (struct wg_const){0};
    if (t->kind == WG_TOK_INT) {
        v->i = (int64_t)t->bits;
        v->is_unsigned = t->is_unsigned;
    } else if (t->kind == WG_TOK_FLOAT) {
        v->is_float = true;
        memcpy(&v->f, &t->bits, 8);
    } else if (t->kind == WG_TOK_IDENT && wg_parse_text_is(p, "WARP_SZ")) {
        v->i = 32;
    } else if (t->kind == '-' || t->kind == '+' || t->kind == '~' || t->kind == '!') {
        int op = t->kind;
        const char *at = t->s;
        wg_parse_next(p);
        if (!primary(p, v, depth + 1))
            return false;
        if (v->is_float && (op == '~' || op == '!'))
            return wg_parse_error(p, at, "'%c' needs an integer", op);
        if (v->is_float)
            v->f = op == '-' ? -v->f : v->f;
        else
            v->i = op == '-' ? (int64_t)(0 - (uint64_t)v->i) : op == '~' ? ~v->i : op == '!' ? !v->i : v->i;
        return true;
    } else if (t->kind == '(') {
        wg_parse_next(p);
        bool cast = wg_parse_is(p, WG_TOK_DIR), to_unsigned = wg_parse_text_is(p, ".u64");
        if (cast) {
            if (!to_unsigned && !wg_parse_text_is(p, ".s64"))
                return wg_parse_error(p, t->s, "a cast in an expression is .s64 or .u64");
            wg_parse_next(p);
        } else if (!binary(p, v, 0, depth + 1)) {
            return false;
        }
        if (!wg_parse_expect(p, ')', "')'"))
            return false;
        if (!cast)
            return true;
        if (!primary(p, v, depth + 1))
            return false;
        if (v->is_float) /* values outside the type's range become the smallest one, as x86 conversions give */
            v->i = v->f > -9.2e18 && v->f < 9.2e18         ? (int64_t)v->f
                   : to_unsigned && v->f > 0 && v->f < 1.8e19 ? (int64_t)(uint64_t)v->f
                                                              : INT64_MIN;
        v->is_float = false;
        v->is_unsigned = to_unsigned;
        return true;
    } else {
        return t->kind == WG_TOK_BAD ? wg_parse_error(p, t->s, "%s", p->lex.error)
                                     : wg_parse_error(p, t->s, "a constant is expected here");
    }
    wg_parse_next(p);
    return true;
}

enum { OP_NONE, OP_LT, OP_LE, OP_GT, OP_GE, OP_EQ, OP_NE, OP_SHL, OP_SHR, OP_ANDAND, OP_OROR, OP_CHAR };

/* Operator at the current token: its precedence (0: none), code, and whether it takes a second character. */
static int operator_at(const struct wg_parser *p, int *op, bool *two)
{
    char c = p->lex.t.n == 1 ? *p->lex.t.s : 0, d = c ? p->lex.t.s[1] : 0;
    *two = true;
    *op = OP_CHAR;
    if (c == '|' && d == '|')
        return *op = OP_OROR, 1;
    if (c == '&' && d == '&')
        return *op = OP_ANDAND, 2;
    if (c == '=' && d == '=')
        return *op = OP_EQ, 6;
    if (c == '!' && d == '=')
        return *op = OP_NE, 6;
    if (c == '<' && d == '<')
        return *op = OP_SHL, 8;
    if (c == '>' && d == '>')
        return *op = OP_SHR, 8;
    if (c == '<' && d == '=')
        return *op = OP_LE, 7;
    if (c == '>' && d == '=')
        return *op = OP_GE, 7;
    *two = false;
    switch (c) {
    case '|': return 3;
    case '^': return 4;
    case '&': return 5;
    case '<': return *op = OP_LT, 7;
    case '>': return *op = OP_GT, 7;
    case '+': case '-': return 9;
    case '*': case '/': case '%': return 10;
    default: return 0;
    }
}

static bool apply_float(struct wg_parser *p, const char *at, int op, char c, struct wg_const *a, double y)
{
    double x = as_double(a);
    a->is_float = false;
    switch (op) {
    case OP_LT: a->i = x < y; return true;
    case OP_LE: a->i = x <= y; return true;
    case OP_GT: a->i = x > y; return true;
    case OP_GE: a->i = x >= y; return true;
    case OP_EQ: a->i = x == y; return true;
    case OP_NE: a->i = x != y; return true;
    default: break;
    }
    a->is_float = true;
    switch (op == OP_CHAR ? c : 0) {
    case '+': a->f = x + y; return true;
    case '-': a->f = x - y; return true;
    case '*': a->f = x * y; return true;
    case '/': a->f = x / y; return true;
    default: return wg_parse_error(p, at, "this operator needs integers");
    }
}

static bool apply(struct wg_parser *p, const char *at, int op, char c, struct wg_const *a, const struct wg_const *b)
{
    if (a->is_float || b->is_float)
        return apply_float(p, at, op, c, a, as_double(b));
    uint64_t x = (uint64_t)a->i, y = (uint64_t)b->i, r = 0;
    bool u = a->is_unsigned || b->is_unsigned;
    if (op == OP_CHAR && (c == '/' || c == '%') && y == 0)
        return wg_parse_error(p, at, "division by zero in a constant expression");
    switch (op) {
    case OP_LT: r = u ? x < y : a->i < b->i; break;
    case OP_LE: r = u ? x <= y : a->i <= b->i; break;
    case OP_GT: r = u ? x > y : a->i > b->i; break;
    case OP_GE: r = u ? x >= y : a->i >= b->i; break;
    case OP_EQ: r = x == y; break;
    case OP_NE: r = x != y; break;
    case OP_SHL: r = y < 64 ? x << y : 0; u = a->is_unsigned; break;
    case OP_SHR:
        u = a->is_unsigned;
        r = u ? (y < 64 ? x >> y : 0) : (uint64_t)(a->i >> (y < 64 ? y : 63));
        break;
    case OP_ANDAND: r = x && y; break;
    case OP_OROR: r = x || y; break;
    default:
        switch (c) {
        case '|': r = x | y; break;
        case '^': r = x ^ y; break;
        case '&': r = x & y; break;
        case '+': r = x + y; break;
        case '-': r = x - y; break;
        case '*': r = x * y; break;
        case '/': r = u ? x / y : b->i == -1 ? 0 - x : (uint64_t)(a->i / b->i); break;
        case '%': r = u ? x % y : b->i == -1 ? 0 : (uint64_t)(a->i % b->i); break;
        default: break;
        }
    }
    a->i = (int64_t)r;
    a->is_unsigned = u;
    return true;
}

static bool binary(struct wg_parser *p, struct wg_const *v, int min, unsigned depth)
{
    if (!primary(p, v, depth))
        return false;
    int op, prec;
    bool two;
    while ((prec = operator_at(p, &op, &two)) > min) {
        const char *at = p->lex.t.s;
        struct wg_const r;
        wg_parse_next(p);
        if (two)
            wg_parse_next(p);
        if (!binary(p, &r, prec, depth + 1) || !apply(p, at, op, *at, v, &r))
            return false;
    }
    if (min == 0 && wg_parse_is(p, '?')) {
        struct wg_const a, b;
        wg_parse_next(p);
        if (!binary(p, &a, 0, depth + 1) || !wg_parse_expect(p, ':', "':'") || !binary(p, &b, 0, depth + 1))
            return false;
        *v = (v->is_float ? v->f != 0 : v->i != 0) ? a : b;
    }
    return true;
}

bool wg_expr_parse(struct wg_parser *p, struct wg_const *v) { return binary(p, v, 0, 0); }

bool wg_expr_unary(struct wg_parser *p, struct wg_const *v) { return primary(p, v, 0); }

/* ---- initialisers ---------------------------------------------------------------------------------------------- */

struct init {
    struct wg_symbol *v;
    const uint64_t *dims;
    unsigned ndims;
    size_t used;      /* bytes of p->buf written so far; the rest is zero */
    struct wg_reloc *relocs;
    size_t nrelocs, cap_relocs;
};

static bool put(struct wg_parser *p, struct init *s, uint64_t at, uint64_t bits, unsigned bytes)
{
    if (at + bytes > s->used) {
        size_t need = at + bytes, old = s->used;
        if (need > WG_PTX_MAX_INIT)
            return wg_parse_error(p, p->lex.t.s, "an initialiser of more than %d bytes", WG_PTX_MAX_INIT);
        if (need > p->cap_buf) {
            size_t cap = p->cap_buf * 2 > need ? p->cap_buf * 2 : need + 256;
            char *q = wg_realloc(p->buf, cap);
            if (!q)
                return wg_parse_oom(p);
            p->buf = q;
            p->cap_buf = cap;
        }
        memset(p->buf + old, 0, need - old);
        s->used = need;
    }
    for (unsigned i = 0; i < bytes; i++)
        p->buf[at + i] = (char)(i < 8 ? bits >> 8 * i : 0);
    return true;
}

/* sym, sym+4, generic(sym)+4 */
static bool symbol_ref(struct wg_parser *p, struct wg_reloc *r)
{
    const char *at = p->lex.t.s;
    if (wg_parse_text_is(p, "generic")) {
        wg_parse_next(p);
        r->generic = true;
        if (!wg_parse_expect(p, '(', "'(' after generic"))
            return false;
    }
    at = p->lex.t.s;
    if (!wg_parse_is(p, WG_TOK_IDENT))
        return wg_parse_error(p, at, "the name of a variable or function is expected here");
    struct wg_ptx_name *n = wg_names_intern(p, at, p->lex.t.n);
    struct wg_binding *b;
    if (!n || !wg_names_find(p, n, &b))
        return false;
    if (!b || b->kind != WG_BIND_SYMBOL)
        return wg_parse_error(p, at, "'%s' is no declared variable or function", n->s);
    r->sym = b->ptr;
    wg_parse_next(p);
    if (r->generic && !wg_parse_expect(p, ')', "')'"))
        return false;
    while (wg_parse_is(p, '+') || wg_parse_is(p, '-')) {
        bool minus = wg_parse_is(p, '-');
        struct wg_const c;
        wg_parse_next(p);
        at = p->lex.t.s;
        if (!wg_expr_unary(p, &c))
            return false;
        if (c.is_float)
            return wg_parse_error(p, at, "an address offset is an integer");
        r->addend = (int64_t)((uint64_t)r->addend + (minus ? 0 - (uint64_t)c.i : (uint64_t)c.i));
    }
    return true;
}

static bool add_reloc(struct wg_parser *p, struct init *s, struct wg_reloc r)
{
    struct wg_reloc *last = s->nrelocs ? &s->relocs[s->nrelocs - 1] : NULL;
    /* {0xff(x), 0xff00(x), ...}: the bytes of one address, joined again */
    if (r.shift && last && last->sym == r.sym && last->addend == r.addend && last->generic == r.generic &&
        last->at + last->bytes == r.at && last->shift + 8u * last->bytes == r.shift && last->bytes + r.bytes <= 8) {
        last->bytes = (uint8_t)(last->bytes + r.bytes);
        return true;
    }
    struct wg_reloc *q = wg_arena_grow(&p->tmp, s->relocs, s->nrelocs + 1, &s->cap_relocs, sizeof *q);
    if (!q)
        return wg_parse_oom(p);
    s->relocs = q;
    q[s->nrelocs++] = r;
    return true;
}

/* 0xff00(sym): the mask picks whole neighbouring bytes of the address. */
static bool masked_ref(struct wg_parser *p, uint64_t mask, const char *at, struct wg_reloc *r, unsigned bytes)
{
    if (mask == 0)
        return wg_parse_error(p, at, "a mask of an address selects whole bytes");
    r->shift = (uint8_t)(__builtin_ctzll(mask) & ~7);
    uint64_t low = mask >> r->shift;
    unsigned n = (unsigned)(64 - __builtin_clzll(low) + 7) / 8;
    if (low != (n == 8 ? UINT64_MAX : (1ull << 8 * n) - 1) || n > bytes)
        return wg_parse_error(p, at, "a mask of an address selects whole bytes");
    r->bytes = (uint8_t)n;
    wg_parse_next(p);
    return symbol_ref(p, r) && wg_parse_expect(p, ')', "')'");
}

static bool element(struct wg_parser *p, struct init *s, uint64_t offset)
{
    unsigned bytes = wg_type_bytes(s->v->type);
    const char *at = p->lex.t.s;
    struct wg_reloc r = {.at = offset, .bytes = (uint8_t)(bytes < 8 ? bytes : 8)};
    if (wg_parse_is(p, WG_TOK_IDENT) && !wg_parse_text_is(p, "WARP_SZ"))
        return symbol_ref(p, &r) && put(p, s, offset, 0, bytes) && add_reloc(p, s, r);
    if (wg_parse_is(p, WG_TOK_INT)) {
        struct wg_lexer mark = p->lex;
        wg_parse_next(p);
        if (wg_parse_is(p, '('))
            return masked_ref(p, mark.t.bits, at, &r, bytes) && put(p, s, offset, 0, bytes) && add_reloc(p, s, r);
        p->lex = mark;
    }
    struct wg_const c;
    if (!wg_expr_parse(p, &c))
        return false;
    bool to_float = s->v->type == WG_T_F32 || s->v->type == WG_T_F64;
    if (c.is_float && !to_float)
        return wg_parse_error(p, at, "a variable of type .%s cannot be initialised with a floating-point constant",
                              wg_type_infos[s->v->type].text);
    uint64_t bits = (uint64_t)c.i;
    if (to_float) {
        double d = as_double(&c);
        memcpy(&bits, &d, 8);
        if (s->v->type == WG_T_F32 && d == d) {
            float f = (float)d;
            uint32_t w;
            memcpy(&w, &f, 4);
            bits = w;
        } else if (s->v->type == WG_T_F32) { /* keep the payload */
            bits = (bits >> 32 & 0x80000000u) | 0x7f800000u | (bits >> 29 & 0x7fffffu);
        }
    }
    return put(p, s, offset, bits, bytes);
}

static bool list(struct wg_parser *p, struct init *s, unsigned level, uint64_t offset, uint64_t stride, uint64_t *count)
{
    const char *open = p->lex.t.s;
    if (!wg_parse_expect(p, '{', "'{'"))
        return false;
    uint64_t n = 0, inner = level + 1 < s->ndims && s->dims[level + 1] ? stride / s->dims[level + 1] : 0;
    while (!wg_parse_is(p, '}')) {
        if (s->dims[level] && n >= s->dims[level])
            return wg_parse_error(p, p->lex.t.s, "more than %llu values here", (unsigned long long)s->dims[level]);
        if (n >= WG_PTX_MAX_INIT || (n && offset + n * stride > WG_PTX_MAX_INIT))
            return wg_parse_error(p, open, "an initialiser of more than %d bytes", WG_PTX_MAX_INIT);
        uint64_t unused;
        if (level + 1 < s->ndims ? !list(p, s, level + 1, offset + n * stride, inner, &unused)
                                 : !element(p, s, offset + n * stride))
            return false;
        n++;
        if (!wg_parse_is(p, '}') && !wg_parse_expect(p, ',', "',' or '}'"))
            return false;
    }
    wg_parse_next(p);
    *count = n;
    return true;
}

bool wg_expr_init(struct wg_parser *p, struct wg_symbol *v, uint64_t *dims, unsigned ndims)
{
    struct init s = {.v = v, .dims = dims, .ndims = ndims};
    const char *at = p->lex.t.s;
    uint64_t stride = wg_type_bytes(v->type), n = 0, zero = 0;
    bool ok;
    if (stride == 0 || v->type == WG_T_PRED)
        return wg_parse_error(p, at, "a variable of type .%s has no initialiser", wg_type_infos[v->type].text);
    for (unsigned i = 1; i < ndims; i++)
        if (__builtin_mul_overflow(stride, dims[i], &stride))
            return wg_parse_error(p, at, "the array is too large");
    if (v->bytes > WG_PTX_MAX_INIT)
        return wg_parse_error(p, at, "an initialised variable of more than %d bytes", WG_PTX_MAX_INIT);
    if (ndims == 0 && wg_parse_is(p, '{')) {
        s.dims = &zero;
        s.ndims = 1;
        ok = list(p, &s, 0, 0, stride, &n);
        if (ok && n > 1)
            return wg_parse_error(p, at, "one variable cannot hold %llu values", (unsigned long long)n);
    } else {
        ok = ndims == 0 ? element(p, &s, 0) : list(p, &s, 0, 0, stride, &n);
    }
    if (!ok)
        return false;
    if (ndims && dims[0] == 0) {
        dims[0] = n;
        if (__builtin_mul_overflow(n, stride, &v->bytes) || v->bytes > WG_PTX_MAX_INIT)
            return wg_parse_error(p, at, "an initialised variable of more than %d bytes", WG_PTX_MAX_INIT);
    }
    v->init = wg_arena_alloc(&p->m->arena, v->bytes);
    v->relocs = s.nrelocs ? wg_arena_dup(&p->m->arena, s.relocs, s.nrelocs * sizeof *s.relocs) : NULL;
    if (!v->init || (s.nrelocs && !v->relocs))
        return wg_parse_oom(p);
    if (s.used)
        memcpy(v->init, p->buf, s.used < v->bytes ? s.used : v->bytes);
    v->nrelocs = (uint32_t)s.nrelocs;
    return true;
}
