/* module.c - look-ups in a parsed module, the layout of shared memory, and the module's end. */
#include "ptx/module.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char wg_ptx_parts[6][3] = {"b0", "b1", "b2", "b3", "h0", "h1"};

void wg_ptx_free(struct wg_ptx_module *m)
{
    if (!m)
        return;
    struct wg_arena a = m->arena;
    free(m);
    wg_arena_free(&a);
}

struct wg_function *wg_ptx_function(const struct wg_ptx_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->nfuncs; i++)
        if (strcmp(m->funcs[i]->name, name) == 0)
            return m->funcs[i]->sym->func; /* the definition when there is one */
    return NULL;
}

/* ---- shared memory --------------------------------------------------------------------------------------------- */

struct reach {
    const struct wg_function **order; /* the kernel, then what it calls, as found */
    const struct wg_function **known; /* open addressing */
    size_t n, cap;
    const struct wg_symbol **used; /* open addressing */
    size_t nused, cap_used;
    struct wg_arena *tmp;
};

static size_t slot_of(const void *const *table, size_t cap, const void *p)
{
    size_t k = ((uintptr_t)p >> 4) * 0x9e3779b97f4a7c15ull >> 20 & (cap - 1);
    while (table[k] && table[k] != p)
        k = (k + 1) & (cap - 1);
    return k;
}

/* Enters p into a set that grows. False: out of memory. *fresh: it was not there. */
static bool enter(struct wg_arena *tmp, const void ***table, size_t *n, size_t *cap, const void *p, bool *fresh)
{
    if (*n * 2 >= *cap) {
        size_t c = *cap ? *cap * 2 : 64;
        const void **t = wg_arena_alloc(tmp, c * sizeof *t);
        if (!t)
            return false;
        for (size_t i = 0; i < *cap; i++)
            if ((*table)[i])
                t[slot_of(t, c, (*table)[i])] = (*table)[i];
        *table = t;
        *cap = c;
    }
    size_t k = slot_of(*table, *cap, p);
    *fresh = !(*table)[k];
    (*table)[k] = p;
    *n += *fresh;
    return true;
}

static bool see_operand(struct reach *r, const struct wg_operand *o)
{
    bool fresh;
    const struct wg_symbol *s = o->sym;
    if (s && s->kind == WG_SYMBOL_VAR && s->space == WG_SPACE_SHARED &&
        !enter(r->tmp, (const void ***)&r->used, &r->nused, &r->cap_used, s, &fresh))
        return false;
    if (s && s->kind == WG_SYMBOL_FUNC && s->func && !s->func->is_declaration) {
        size_t n = r->n;
        if (!enter(r->tmp, (const void ***)&r->known, &r->n, &r->cap, s->func, &fresh))
            return false;
        if (fresh)
            r->order[n] = s->func;
    }
    for (uint32_t i = 0; i < o->nelems && o->kind != WG_OPERAND_LABEL; i++)
        if (!see_operand(r, &o->elems[i]))
            return false;
    return true;
}

static bool see_function(struct reach *r, const struct wg_function *f)
{
    for (uint32_t i = 0; i < f->ninstrs; i++) {
        const struct wg_instr *in = &f->instrs[i];
        for (uint32_t k = 0; k < in->nops; k++)
            if (!see_operand(r, &in->ops[k]))
                return false;
        for (uint32_t k = 0; k < in->narg; k++)
            if (!see_operand(r, &in->arg[k]))
                return false;
    }
    return true;
}

/* One pass over a list of declarations: static variables get their places, or dynamic ones are counted or placed. */
static void place(struct reach *r, struct wg_symbol *const *v, uint32_t n, bool dynamic, uint64_t *align,
                  struct wg_ptx_shared_layout *out)
{
    for (uint32_t i = 0; i < n && r->cap_used; i++) {
        const struct wg_symbol *s = v[i];
        uint64_t a = s->align ? s->align : 1;
        if ((s->bytes == 0) != dynamic || !r->used[slot_of((const void *const *)r->used, r->cap_used, s)])
            continue;
        if (dynamic) {
            out->uses_dynamic = true;
            *align = a > *align ? a : *align;
        } else {
            out->static_bytes = (out->static_bytes + a - 1) / a * a;
        }
        out->v[out->n++] = (struct wg_ptx_shared){.sym = s, .offset = out->static_bytes};
        if (!dynamic)
            out->static_bytes += s->bytes;
    }
}

enum wg_status wg_ptx_shared_layout(const struct wg_ptx_module *m, const struct wg_function *f, struct wg_arena *a,
                                    struct wg_ptx_shared_layout *out)
{
    struct wg_arena tmp = {0};
    struct reach r = {.tmp = &tmp};
    bool fresh, ok;
    uint64_t align = 16;
    *out = (struct wg_ptx_shared_layout){0};
    r.order = wg_arena_alloc(&tmp, ((size_t)m->nfuncs + 2) * sizeof *r.order);
    ok = r.order && enter(&tmp, (const void ***)&r.known, &r.n, &r.cap, f, &fresh);
    if (ok)
        r.order[0] = f;
    for (size_t i = 0; ok && i < r.n; i++)
        ok = see_function(&r, r.order[i]);
    out->v = ok ? wg_arena_alloc(a, (r.nused + 1) * sizeof *out->v) : NULL;
    if (!out->v) {
        wg_arena_free(&tmp);
        return WG_NO_MEMORY;
    }
    for (int dynamic = 0; dynamic < 2; dynamic++) {
        uint32_t first = out->n;
        place(&r, f->locals, f->nlocals, dynamic, &align, out);
        place(&r, m->vars, m->nvars, dynamic, &align, out);
        for (size_t i = 1; i < r.n; i++)
            place(&r, r.order[i]->locals, r.order[i]->nlocals, dynamic, &align, out);
        out->dynamic_offset = (out->static_bytes + align - 1) / align * align;
        for (uint32_t i = first; dynamic && i < out->n; i++)
            out->v[i].offset = out->dynamic_offset;
    }
    wg_arena_free(&tmp);
    return WG_OK;
}
