/* names.c - interned names, nested scopes, and the labels that wait for their definition. */
#include "ptx/parse.h"
#include <stdlib.h>
#include <string.h>

static uint32_t hash_text(const char *s, size_t n)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * 16777619u;
    return h ^ h >> 15;
}

static bool grow_names(struct wg_parser *p)
{
    size_t cap = p->cap_names ? p->cap_names * 2 : 256;
    struct wg_ptx_name **t = wg_calloc(cap, sizeof *t);
    if (!t)
        return wg_parse_oom(p);
    for (size_t i = 0; i < p->cap_names; i++) {
        struct wg_ptx_name *n = p->names[i];
        if (!n)
            continue;
        size_t k = n->hash & (cap - 1);
        while (t[k])
            k = (k + 1) & (cap - 1);
        t[k] = n;
    }
    free(p->names);
    p->names = t;
    p->cap_names = cap;
    return true;
}

struct wg_ptx_name *wg_names_intern(struct wg_parser *p, const char *s, size_t n)
{
    if (p->nnames * 2 >= p->cap_names && !grow_names(p))
        return NULL;
    uint32_t h = hash_text(s, n);
    size_t k = h & (p->cap_names - 1);
    for (; p->names[k]; k = (k + 1) & (p->cap_names - 1))
        if (p->names[k]->hash == h && p->names[k]->n == n && memcmp(p->names[k]->s, s, n) == 0)
            return p->names[k];
    struct wg_ptx_name *e = wg_arena_alloc(&p->tmp, sizeof *e);
    if (e)
        e->s = wg_arena_str(&p->m->arena, s, n);
    if (!e || !e->s) {
        wg_parse_oom(p);
        return NULL;
    }
    e->n = (uint32_t)n;
    e->hash = h;
    e->sreg = -2;
    p->names[k] = e;
    p->nnames++;
    return e;
}

void wg_names_free(struct wg_parser *p)
{
    free(p->names);
    p->names = NULL;
}

bool wg_names_open(struct wg_parser *p)
{
    if (p->depth + 1 >= WG_PTX_MAX_SCOPES)
        return wg_parse_error(p, p->lex.t.s, "blocks are nested more than %d deep", WG_PTX_MAX_SCOPES);
    p->scopes[++p->depth] = (struct wg_name_scope){.pending = p->npending};
    return true;
}

/* True when the label or prototype that u waits for is a name of the innermost scope. */
static bool resolve(struct wg_parser *p, const struct wg_pending *u)
{
    const struct wg_binding *b = u->name->bind;
    if (!b || b->depth != p->depth)
        return false;
    if (!u->operand) {
        if (b->kind != WG_BIND_PROTO)
            return false;
        p->instrs[u->instr].proto = b->ptr;
    } else if (b->kind == WG_BIND_LABEL) {
        u->operand->target = b->number;
    } else if (b->kind == WG_BIND_LABELS) {
        const struct wg_operand *list = b->ptr;
        u->operand->elems = list->elems;
        u->operand->nelems = list->nelems;
    } else {
        return false;
    }
    return true;
}

bool wg_names_close(struct wg_parser *p)
{
    struct wg_name_scope *s = &p->scopes[p->depth];
    size_t kept = s->pending;
    for (size_t i = s->pending; i < p->npending; i++) {
        if (resolve(p, &p->pending[i]))
            continue;
        if (p->depth == 1)
            return wg_parse_error(p, p->pending[i].at, "%s '%s' is not defined in this function",
                                  p->pending[i].operand ? "label" : "call prototype", p->pending[i].name->s);
        p->pending[kept++] = p->pending[i];
    }
    p->npending = kept;
    for (struct wg_binding *b = s->bindings; b; b = b->sibling)
        b->name->bind = b->outer;
    for (struct wg_range *r = s->ranges; r; r = r->sibling) {
        r->name->range = r->outer;
        p->inner_ranges -= r->depth > 1;
    }
    p->depth--;
    return true;
}

static struct wg_binding *bind_at(struct wg_parser *p, struct wg_ptx_name *n, enum wg_binding_kind kind,
                                  uint32_t number, void *ptr, unsigned depth)
{
    struct wg_binding *b = wg_arena_alloc(&p->tmp, sizeof *b);
    if (!b) {
        wg_parse_oom(p);
        return NULL;
    }
    *b = (struct wg_binding){.outer = n->bind, .sibling = p->scopes[depth].bindings, .name = n,
                             .depth = (uint16_t)depth, .kind = (uint8_t)kind, .number = number, .ptr = ptr};
    p->scopes[depth].bindings = b;
    n->bind = b;
    return b;
}

struct wg_binding *wg_names_bind(struct wg_parser *p, struct wg_ptx_name *n, enum wg_binding_kind kind, uint32_t number,
                                 void *ptr, const char *at)
{
    if (n->bind && n->bind->depth == p->depth) {
        wg_parse_error(p, at, "'%s' is already declared in this scope", n->s);
        return NULL;
    }
    return bind_at(p, n, kind, number, ptr, p->depth);
}

bool wg_names_bind_range(struct wg_parser *p, struct wg_ptx_name *n, uint8_t type, uint64_t count, const char *at)
{
    if (n->range && n->range->depth == p->depth)
        return wg_parse_error(p, at, "registers '%s<...>' are already declared in this scope", n->s);
    struct wg_range *r = wg_arena_alloc(&p->tmp, sizeof *r);
    if (!r)
        return wg_parse_oom(p);
    *r = (struct wg_range){.outer = n->range, .sibling = p->scopes[p->depth].ranges, .name = n,
                           .depth = (uint16_t)p->depth, .type = type, .count = count};
    p->scopes[p->depth].ranges = r;
    n->range = r;
    p->inner_ranges += p->depth > 1;
    return true;
}

bool wg_names_new_reg(struct wg_parser *p, struct wg_ptx_name *n, uint8_t type, uint32_t *number)
{
    if (!wg_parse_room(p, &p->regs, p->nregs, &p->cap_regs, sizeof *p->regs))
        return false;
    *number = (uint32_t)p->nregs;
    p->regs[p->nregs++] = (struct wg_reg){.name = n->s, .type = type};
    return true;
}

/* The range that declares n ("%r12" by "%r<20>"), or NULL. */
static const struct wg_range *find_range(struct wg_parser *p, const struct wg_ptx_name *n, bool *ok)
{
    *ok = true;
    size_t k = n->n;
    while (k > 0 && n->s[k - 1] >= '0' && n->s[k - 1] <= '9')
        k--;
    /* "%r01" is not the register 1 of a range; a prefix may itself end in a digit, as in "%x2<4>" */
    for (size_t i = n->n; i-- > k && n->n - i <= 10;) {
        if (i == 0 || (n->s[i] == '0' && i + 1 < n->n))
            continue;
        uint64_t index = 0;
        for (size_t j = i; j < n->n; j++)
            index = index * 10 + (unsigned)(n->s[j] - '0');
        struct wg_ptx_name *prefix = wg_names_intern(p, n->s, i);
        if (!prefix) {
            *ok = false;
            return NULL;
        }
        if (prefix->range && index < prefix->range->count)
            return prefix->range;
    }
    return NULL;
}

bool wg_names_find(struct wg_parser *p, struct wg_ptx_name *n, struct wg_binding **out)
{
    *out = n->bind;
    if (n->bind && (!p->inner_ranges || n->bind->depth == p->depth))
        return true;
    bool ok;
    const struct wg_range *r = find_range(p, n, &ok);
    if (!ok)
        return false;
    if (!r || (n->bind && n->bind->depth >= r->depth))
        return true;
    uint32_t number;
    if (!wg_names_new_reg(p, n, r->type, &number))
        return false;
    *out = bind_at(p, n, WG_BIND_REG, number, NULL, r->depth);
    return *out != NULL;
}

bool wg_names_pend(struct wg_parser *p, struct wg_operand *o, uint32_t instr, struct wg_ptx_name *n, const char *at)
{
    if (!wg_parse_room(p, &p->pending, p->npending, &p->cap_pending, sizeof *p->pending))
        return false;
    p->pending[p->npending++] = (struct wg_pending){.operand = o, .instr = instr, .name = n, .at = at};
    return true;
}
