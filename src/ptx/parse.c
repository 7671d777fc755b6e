/* parse.c - entry point of the PTX parser and helpers of its parts. */
#include "ptx/parse.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool wg_parse_error(struct wg_parser *p, const char *at, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    wg_diag_at(p->d, WG_PARSE, p->m->name, p->m->text, p->m->text_len, at, "%s", text);
    return false;
}

bool wg_parse_oom(struct wg_parser *p)
{
    wg_diag_set(p->d, WG_NO_MEMORY, "%s: out of memory while reading PTX", p->m ? p->m->name : "PTX");
    return false;
}

bool wg_parse_room(struct wg_parser *p, void *array, size_t n, size_t *cap, size_t elem)
{
    if (n < *cap)
        return true;
    size_t c = *cap ? *cap * 2 : 64;
    void *old;
    memcpy(&old, array, sizeof old);
    void *q = c > SIZE_MAX / 2 / elem ? NULL : wg_realloc(old, c * elem);
    if (!q)
        return wg_parse_oom(p);
    memcpy(array, &q, sizeof q);
    *cap = c;
    return true;
}

bool wg_parse_text_is(const struct wg_parser *p, const char *text)
{
    size_t n = strlen(text);
    return p->lex.t.n == n && memcmp(p->lex.t.s, text, n) == 0;
}

bool wg_parse_accept(struct wg_parser *p, int kind)
{
    if (p->lex.t.kind != kind)
        return false;
    wg_parse_next(p);
    return true;
}

bool wg_parse_expect(struct wg_parser *p, int kind, const char *what)
{
    if (wg_parse_accept(p, kind))
        return true;
    if (p->lex.t.kind == WG_TOK_BAD)
        return wg_parse_error(p, p->lex.t.s, "%s", p->lex.error);
    return wg_parse_error(p, p->lex.t.s, "%s is expected here", what);
}

bool wg_parse_int(struct wg_parser *p, uint64_t max, const char *what, uint64_t *v)
{
    const char *at = p->lex.t.s;
    struct wg_const c;
    if (p->lex.t.kind == WG_TOK_DIR || p->lex.t.kind == WG_TOK_EOF)
        return wg_parse_error(p, at, "%s is expected here", what);
    if (!wg_expr_parse(p, &c))
        return false;
    if (c.is_float || (c.i < 0 && !c.is_unsigned))
        return wg_parse_error(p, at, "%s is expected here", what);
    if ((uint64_t)c.i > max)
        return wg_parse_error(p, at, "%s is at most %llu", what, (unsigned long long)max);
    *v = (uint64_t)c.i;
    return true;
}

bool wg_parse_unexpected(struct wg_parser *p, const char *what)
{
    const struct wg_token *t = &p->lex.t;
    if (t->kind == WG_TOK_BAD)
        return wg_parse_error(p, t->s, "%s", p->lex.error);
    return wg_parse_error(p, t->s, "%s is expected here", what);
}

bool wg_parse_small(struct wg_parser *p, uint64_t max, const char *what, uint32_t *v)
{
    uint64_t u;
    if (!wg_parse_int(p, max, what, &u))
        return false;
    *v = (uint32_t)u;
    return true;
}

static bool keep_lists(struct wg_parser *p)
{
    struct wg_ptx_module *m = p->m;
    m->nvars = (uint32_t)p->nvars;
    m->nfuncs = (uint32_t)p->nfuncs;
    if (p->nvars)
        m->vars = wg_arena_dup(&m->arena, p->vars, p->nvars * sizeof *p->vars);
    if (p->nfuncs)
        m->funcs = wg_arena_dup(&m->arena, p->funcs, p->nfuncs * sizeof *p->funcs);
    return !m->arena.failed || wg_parse_oom(p);
}

enum wg_status wg_ptx_parse(const char *text, size_t n, const char *name, struct wg_ptx_module **out, struct wg_diag *d)
{
    *out = NULL;
    struct wg_parser *p = wg_calloc(1, sizeof *p);
    struct wg_ptx_module *m = wg_calloc(1, sizeof *m);
    struct wg_diag own = {0};
    if (!d)
        d = &own;
    bool ok = false;
    while (n && text[n - 1] == 0) /* images in fat binaries end in NULs */
        n--;
    if (p && m) {
        p->d = d;
        p->m = m;
        m->name = wg_arena_str(&m->arena, name ? name : "ptx", name ? strlen(name) : 3);
        m->text = wg_arena_str(&m->arena, text, n);
        m->text_len = n;
        m->address_bits = 64;
        if (m->name && m->text) {
            wg_lex_start(&p->lex, m->text, n);
            ok = wg_parse_module(p) && keep_lists(p) && wg_verify(p);
        }
    }
    if (!ok)
        wg_diag_set(d, WG_NO_MEMORY, "%s: out of memory while reading PTX", name ? name : "ptx");
    if (p) {
        wg_names_free(p);
        wg_arena_free(&p->tmp);
        free(p->pending);
        free(p->instrs);
        free(p->regs);
        free(p->locals);
        free(p->vars);
        free(p->funcs);
        free(p->stack);
        free(p->buf);
        free(p);
    }
    if (!ok) {
        wg_ptx_free(m);
        return d->status;
    }
    *out = m;
    return WG_OK;
}
