/* print.c - writes a module as PTX again: the partner of the parser in round-trip tests, and what dumps show. Scopes
 * are flattened; names that then collide get a suffix. */
#include "ptx/module.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct set { const char **s; size_t n, cap; }; /* open addressing, power of two */
struct out {
    char *s;
    size_t n, cap;
    bool failed, inlined;
    const struct wg_ptx_module *m;
    const struct wg_function *f;
    struct wg_arena tmp; /* names of the current function */
    struct set module_names, names;
    const char **regs, **locals, **params, **rets;
};

static void put(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct out *o, const char *fmt, ...)
{
    for (int pass = 0; pass < 2 && !o->failed; pass++) {
        va_list ap;
        va_start(ap, fmt);
        int k = vsnprintf(o->s ? o->s + o->n : NULL, o->cap - o->n, fmt, ap);
        va_end(ap);
        if (k >= 0 && (size_t)k < o->cap - o->n) {
            o->n += (size_t)k;
            return;
        }
        size_t cap = (o->cap + (size_t)(k < 0 ? 0 : k) + 4096) * 2;
        char *q = k < 0 ? NULL : wg_realloc(o->s, cap);
        if (!q)
            o->failed = true;
        else
            o->s = q, o->cap = cap;
    }
}

/* ---- names ----------------------------------------------------------------------------------------------------- */

static size_t slot(const struct set *t, const char *s)
{
    uint32_t h = 2166136261u;
    for (const char *c = s; *c; c++)
        h = (h ^ (unsigned char)*c) * 16777619u;
    size_t k = (h ^ h >> 15) & (t->cap - 1);
    while (t->s[k] && strcmp(t->s[k], s) != 0)
        k = (k + 1) & (t->cap - 1);
    return k;
}

static bool has(const struct set *t, const char *s) { return t->cap && t->s[slot(t, s)]; }

static void add(struct out *o, struct set *t, const char *s)
{
    if (t->n * 2 >= t->cap) {
        struct set u = {.n = t->n, .cap = t->cap ? t->cap * 2 : 64};
        u.s = wg_calloc(u.cap, sizeof *u.s);
        if (!u.s) {
            o->failed = true;
            return;
        }
        for (size_t i = 0; i < t->cap; i++)
            if (t->s[i])
                u.s[slot(&u, t->s[i])] = t->s[i];
        free(t->s);
        *t = u;
    }
    size_t k = slot(t, s);
    t->n += !t->s[k];
    t->s[k] = s;
}

/* $L_12, $Lt_12 and $Lp_12 are the labels that this file makes. */
static bool is_our_label(const char *s)
{
    if (s[0] != '$' || s[1] != 'L')
        return false;
    s += s[2] == 't' || s[2] == 'p' ? 3 : 2;
    return s[0] == '_' && s[1] && s[1 + strspn(s + 1, "0123456789")] == 0;
}

/* A name for something in the current function that nothing else there has. */
static const char *unique(struct out *o, const char *name, size_t index)
{
    if (strcmp(name, "_") == 0)
        return name;
    const char *s = name;
    for (unsigned k = 0; s && (has(&o->names, s) || has(&o->module_names, s) || is_our_label(s)); k++)
        s = wg_arena_printf(&o->tmp, "%s$%zu$%u", name, index, k);
    if (!s) {
        o->failed = true;
        return name;
    }
    add(o, &o->names, s);
    return s;
}

static const char **name_list(struct out *o, size_t n)
{
    const char **l = wg_arena_alloc(&o->tmp, (n + 1) * sizeof *l);
    o->failed |= !l;
    return l;
}

static void name_all(struct out *o, const struct wg_function *f)
{
    wg_arena_free(&o->tmp);
    free(o->names.s);
    o->names = (struct set){0};
    o->f = f;
    o->rets = name_list(o, f->nrets);
    o->params = name_list(o, f->nparams);
    o->regs = name_list(o, f->nregs);
    o->locals = name_list(o, f->nlocals);
    if (o->failed)
        return;
    for (uint32_t i = 0; i < f->nregs; i++)
        o->regs[i] = unique(o, f->regs[i].name, i);
    for (uint32_t i = 0; i < f->nrets; i++)
        o->rets[i] = f->reg_rets && f->reg_rets[i] >= 0 ? o->regs[f->reg_rets[i]] : unique(o, f->rets[i].name, i);
    for (uint32_t i = 0; i < f->nparams; i++)
        o->params[i] = f->reg_params && f->reg_params[i] >= 0 ? o->regs[f->reg_params[i]]
                                                              : unique(o, f->params[i].name, i);
    for (uint32_t i = 0; i < f->nlocals; i++)
        o->locals[i] = unique(o, f->locals[i]->name, i);
}

static const char *symbol_name(const struct out *o, const struct wg_symbol *s)
{
    const struct wg_function *f = o->f;
    if (f && s->kind == WG_SYMBOL_PARAM) {
        if (s->index < f->nparams && s == &f->params[s->index])
            return o->params[s->index];
        if (s->index < f->nrets && s == &f->rets[s->index])
            return o->rets[s->index];
    } else if (f && s->kind != WG_SYMBOL_FUNC && s->index < f->nlocals && f->locals[s->index] == s) {
        return o->locals[s->index];
    }
    return s->name;
}

/* ---- declarations ---------------------------------------------------------------------------------------------- */

/* Type, alignment and name of a variable or parameter, without its space. */
static void declare(struct out *o, const struct wg_symbol *s, const char *name)
{
    unsigned elem = wg_type_bytes(s->type), width = 1;
    if (s->texmode) {
        put(o, " .%s %s", s->texmode, name);
        return;
    }
    if (!s->is_array && elem)
        width = (unsigned)(s->bytes / elem);
    if (s->align != elem * width)
        put(o, " .align %" PRIu32, s->align);
    if (width > 1)
        put(o, " .v%u", width);
    put(o, " .%s %s", wg_type_infos[s->type].text, name);
    if (s->is_array && s->bytes)
        put(o, "[%" PRIu64 "]", s->bytes / elem);
    else if (s->is_array)
        put(o, "[]");
}

static void put_ref(struct out *o, const struct wg_reloc *r)
{
    put(o, r->generic ? "generic(%s)" : "%s", symbol_name(o, r->sym));
    if (r->addend)
        put(o, "+%" PRId64, r->addend);
}

static void put_value(struct out *o, const struct wg_symbol *s, uint64_t at, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes && i < 8; i++)
        v |= (uint64_t)s->init[at + i] << 8 * i;
    if (s->type == WG_T_F32)
        put(o, "0f%08" PRIX64, v);
    else if (s->type == WG_T_F64)
        put(o, "0d%016" PRIX64, v);
    else
        put(o, "%" PRIu64, v);
}

/* Elements up to the last that is not zero, each as number, address, or masked part of an address. */
static void put_init(struct out *o, const struct wg_symbol *s)
{
    unsigned elem = wg_type_bytes(s->type);
    uint64_t used = s->bytes;
    uint32_t r = 0;
    while (used > elem && !s->init[used - 1])
        used--;
    if (s->nrelocs && s->relocs[s->nrelocs - 1].at + s->relocs[s->nrelocs - 1].bytes > used)
        used = s->relocs[s->nrelocs - 1].at + s->relocs[s->nrelocs - 1].bytes;
    bool list = s->is_array || s->bytes > elem;
    put(o, list ? " = {" : " = ");
    for (uint64_t at = 0; at < used; at += elem) {
        if (at)
            put(o, ", ");
        while (r < s->nrelocs && s->relocs[r].at + s->relocs[r].bytes <= at)
            r++;
        const struct wg_reloc *q = r < s->nrelocs && s->relocs[r].at <= at ? &s->relocs[r] : NULL;
        if (!q) {
            put_value(o, s, at, elem);
            continue;
        }
        unsigned done = (unsigned)(at - q->at), part = q->bytes - done < elem ? q->bytes - done : elem;
        unsigned shift = q->shift + 8 * done;
        if (shift == 0 && part == (elem < 8 ? elem : 8) && part == q->bytes) {
            put_ref(o, q);
        } else {
            put(o, "0x%" PRIX64 "(", (uint64_t)((part >= 8 ? UINT64_MAX : (1ull << 8 * part) - 1) << shift));
            put_ref(o, q);
            put(o, ")");
        }
    }
    put(o, list ? "}" : "");
}

static void put_variable(struct out *o, const struct wg_symbol *s, const char *name)
{
    put(o, "%s%s%s.%s", s->is_extern ? ".extern " : "", s->is_visible ? ".visible " : "", s->is_weak ? ".weak " : "",
        wg_isa_mod_text(WG_FIELD_SPACE, s->space));
    declare(o, s, name);
    if (s->init)
        put_init(o, s);
    put(o, ";\n");
}

static void put_params(struct out *o, const struct wg_symbol *v, uint32_t n, const char **names, const int32_t *regs)
{
    put(o, "(");
    for (uint32_t i = 0; i < n; i++) {
        put(o, i ? ", .%s" : ".%s", regs && regs[i] >= 0 ? "reg" : "param");
        declare(o, &v[i], names ? names[i] : v[i].name);
    }
    put(o, ")");
}

/* ---- operands -------------------------------------------------------------------------------------------------- */

static void put_offset(struct out *o, int64_t imm)
{
    if (imm)
        put(o, "+%" PRId64, imm);
}

/* As 0f when that is exact and the instruction has no double, else as 0d. */
static void put_float(struct out *o, const struct wg_instr *in, int64_t imm)
{
    uint64_t u = (uint64_t)imm;
    double d;
    memcpy(&d, &u, 8);
    bool wide = false, nan = d != d;
    for (unsigned i = 0; i < in->ntypes; i++)
        wide |= in->type[i] == WG_T_F64;
    float f = 0;
    uint32_t w = (uint32_t)(u >> 63) << 31 | 0x7f800000u | (uint32_t)(u >> 29 & 0x7fffffu);
    bool exact = nan ? (u & 0x1fffffffu) == 0 : !(d > 3.5e38 || d < -3.5e38) || d - d != 0;
    if (exact && !nan) {
        f = (float)d;
        memcpy(&w, &f, 4);
        exact = (double)f == d;
    }
    if (exact && !wide)
        put(o, "0f%08" PRIX32, w);
    else
        put(o, "0d%016" PRIX64, u);
}

static void put_operand(struct out *o, const struct wg_instr *in, const struct wg_operand *a, size_t index)
{
    switch (a->kind) {
    case WG_OPERAND_REG:
        put(o, !a->neg ? "%s" : in->op == WG_OP_VMAD ? "-%s" : "!%s", o->regs[a->reg]);
        if (a->sreg >= WG_PTX_CHOICE) {
            put(o, a->sreg & WG_PTX_CHOICE_BYTES ? ".b" : ".h");
            for (int k = (a->sreg >> 12 & 7) - 1; k >= 0; k--)
                put(o, "%d", a->sreg >> 3 * k & 7);
        } else if (a->sreg >= 0) {
            put(o, ".%s", wg_ptx_parts[a->sreg]);
        }
        if (a->pair >= 0)
            put(o, "|%s", o->regs[a->pair]);
        put_offset(o, a->imm);
        break;
    case WG_OPERAND_IMM:
        if (a->is_float)
            put_float(o, in, a->imm);
        else
            put(o, "%" PRId64, a->imm);
        break;
    case WG_OPERAND_SREG: put(o, "%s", wg_isa_sreg_text((enum wg_sreg)a->sreg)); break;
    case WG_OPERAND_SYMBOL:
        put(o, "%s", symbol_name(o, a->sym));
        put_offset(o, a->imm);
        break;
    case WG_OPERAND_MEM:
        put(o, "[");
        if (a->nelems) {
            for (uint32_t i = 0; i < a->nelems; i++) {
                put(o, i ? ", " : "");
                put_operand(o, in, &a->elems[i], index);
            }
        } else {
            if (a->sym)
                put(o, "%s", symbol_name(o, a->sym));
            if (a->reg >= 0)
                put(o, a->sym ? "+%s" : "%s", o->regs[a->reg]);
            if (!a->sym && a->reg < 0)
                put(o, "%" PRId64, a->imm);
            else
                put_offset(o, a->imm);
        }
        put(o, "]");
        break;
    case WG_OPERAND_VEC:
        put(o, "{");
        for (uint32_t i = 0; i < a->nelems; i++) {
            put(o, i ? ", " : "");
            put_operand(o, in, &a->elems[i], index);
        }
        put(o, "}");
        break;
    case WG_OPERAND_LABEL:
        if (a->nelems)
            put(o, "$Lt_%zu", index);
        else
            put(o, "$L_%" PRIu32, a->target);
        break;
    case WG_OPERAND_SINK:
        put(o, "_");
        if (a->pair >= 0)
            put(o, "|%s", o->regs[a->pair]);
        break;
    default: break;
    }
}

static void put_call(struct out *o, const struct wg_instr *in, size_t index)
{
    for (int side = 0; side < 2; side++) {
        uint32_t n = side ? in->narg : in->nret;
        const struct wg_operand *v = side ? in->arg : in->ret;
        if (side) {
            if (!n && !in->proto)
                break;
            put(o, ", ");
        }
        if (n || side) {
            put(o, "(");
            for (uint32_t i = 0; i < n; i++) {
                put(o, i ? ", " : "");
                put_operand(o, in, &v[i], index);
            }
            put(o, side ? ")" : "), ");
        }
        if (!side)
            put_operand(o, in, &in->ops[0], index);
    }
    if (in->proto)
        put(o, ", $Lp_%zu", index);
}

/* Lists and prototypes that an instruction names are declared right before it. */
static void put_lists(struct out *o, const struct wg_instr *in, size_t index)
{
    for (uint32_t i = 0; i < in->nops; i++) {
        const struct wg_operand *a = &in->ops[i];
        if (a->kind != WG_OPERAND_LABEL || !a->nelems)
            continue;
        put(o, "$Lt_%zu: .branchtargets ", index);
        for (uint32_t k = 0; k < a->nelems; k++)
            put(o, k ? ", $L_%" PRIu32 : "$L_%" PRIu32, a->elems[k].target);
        put(o, ";\n");
    }
    if (in->proto) {
        put(o, "$Lp_%zu: .callprototype ", index);
        if (in->proto->nret)
            put_params(o, in->proto->ret, in->proto->nret, NULL, NULL);
        put(o, " _ ");
        put_params(o, in->proto->arg, in->proto->narg, NULL, NULL);
        put(o, ";\n");
    }
}

static void put_loc(struct out *o, const struct wg_instr *in)
{
    if (in->inl_line) {
        o->inlined = true;
        /* a plain .loc first ends the chain at this place when the text is read again */
        put(o, "\t.loc %" PRIu32 " %" PRIu32 " 0\n", in->inl_file, in->inl_line);
        put(o, "\t.loc %" PRIu32 " %" PRIu32 " %" PRIu32 ", function_name $L_inlined, inlined_at %" PRIu32 " %" PRIu32
               " 0\n", in->file, in->line, in->col, in->inl_file, in->inl_line);
    } else {
        put(o, "\t.loc %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", in->file, in->line, in->col);
    }
}

/* ---- functions ------------------------------------------------------------------------------------------------- */

static void mark_targets(const struct wg_operand *v, uint32_t n, uint8_t *used)
{
    for (uint32_t i = 0; i < n; i++) {
        if (v[i].kind != WG_OPERAND_LABEL)
            continue;
        if (v[i].nelems)
            mark_targets(v[i].elems, v[i].nelems, used);
        else
            used[v[i].target] = 1;
    }
}

static void put_registers(struct out *o, const struct wg_function *f)
{
    uint8_t *param = wg_arena_alloc(&o->tmp, f->nregs + 1);
    unsigned run = 0;
    if (!param) {
        o->failed = true;
        return;
    }
    for (uint32_t i = 0; f->reg_params && i < f->nparams; i++)
        if (f->reg_params[i] >= 0)
            param[f->reg_params[i]] = 1;
    for (uint32_t i = 0; f->reg_rets && i < f->nrets; i++)
        if (f->reg_rets[i] >= 0)
            param[f->reg_rets[i]] = 1;
    for (uint32_t i = 0; i < f->nregs; i++) {
        if (param[i])
            continue;
        bool more = i + 1 < f->nregs && !param[i + 1] && f->regs[i + 1].type == f->regs[i].type && run < 15;
        if (run == 0)
            put(o, "\t.reg .%s ", wg_type_infos[f->regs[i].type].text);
        put(o, more ? "%s, " : "%s;\n", o->regs[i]);
        run = more ? run + 1 : 0;
    }
}

static void put_body(struct out *o, const struct wg_function *f)
{
    uint8_t *used = wg_arena_alloc(&o->tmp, (size_t)f->ninstrs + 1);
    struct wg_instr loc = {0};
    if (!used) {
        o->failed = true;
        return;
    }
    put(o, "\n{\n");
    put_registers(o, f);
    for (uint32_t i = 0; i < f->nlocals; i++) {
        put(o, "\t");
        put_variable(o, f->locals[i], o->locals[i]);
    }
    for (uint32_t i = 0; i < f->ninstrs; i++)
        mark_targets(f->instrs[i].ops, f->instrs[i].nops, used);
    for (uint32_t i = 0; i < f->ninstrs && !o->failed; i++) {
        const struct wg_instr *in = &f->instrs[i];
        if (used[i])
            put(o, "$L_%" PRIu32 ":\n", i);
        if (in->file != loc.file || in->line != loc.line || in->col != loc.col || in->inl_file != loc.inl_file ||
            in->inl_line != loc.inl_line)
            put_loc(o, in);
        loc = *in;
        put_lists(o, in, i);
        if (in->used_bytes)
            put(o, "\t.pragma \"used_bytes_mask %" PRIu32 "\";\n", in->used_bytes);
        put(o, "\t");
        if (in->guard >= 0)
            put(o, in->guard_neg ? "@!%s " : "@%s ", o->regs[in->guard]);
        put(o, in->nops ? "%s " : "%s", in->mnemonic);
        if (wg_op_infos[in->op].shape[0] == '*') {
            put_call(o, in, i);
        } else {
            for (uint32_t k = 0; k < in->nops; k++) {
                put(o, k ? ", " : "");
                put_operand(o, in, &in->ops[k], i);
            }
        }
        put(o, ";\n");
    }
    if (used[f->ninstrs])
        put(o, "$L_%" PRIu32 ":\n", f->ninstrs);
    put(o, "}\n");
}

static void put_function(struct out *o, const struct wg_function *f)
{
    const struct wg_symbol *s = f->sym;
    name_all(o, f);
    if (o->failed)
        return;
    put(o, "\n%s%s%s%s ", s->is_extern && f->is_declaration ? ".extern " : "", s->is_visible ? ".visible " : "",
        s->is_weak ? ".weak " : "", f->is_entry ? ".entry" : ".func");
    if (f->nrets) {
        put_params(o, f->rets, f->nrets, o->rets, f->reg_rets);
        put(o, " ");
    }
    put(o, "%s", f->name);
    if (f->nparams)
        put_params(o, f->params, f->nparams, o->params, f->reg_params);
    else
        put(o, "()");
    if (f->noreturn)
        put(o, " .noreturn");
    if (f->maxntid[0])
        put(o, "\n.maxntid %u, %u, %u", f->maxntid[0], f->maxntid[1], f->maxntid[2]);
    if (f->reqntid[0])
        put(o, "\n.reqntid %u, %u, %u", f->reqntid[0], f->reqntid[1], f->reqntid[2]);
    if (f->reqcluster[0])
        put(o, "\n.reqnctapercluster %u, %u, %u", f->reqcluster[0], f->reqcluster[1], f->reqcluster[2]);
    if (f->minnctapersm)
        put(o, "\n.minnctapersm %u", f->minnctapersm);
    if (f->maxnreg)
        put(o, "\n.maxnreg %u", f->maxnreg);
    if (f->is_declaration)
        put(o, ";\n");
    else
        put_body(o, f);
    o->f = NULL;
}

/* Variables and functions in textual order; on one line, an initialiser that names a function comes after it. */
static bool variable_first(const struct wg_symbol *v, const struct wg_function *f)
{
    if (v->ptx_line != f->ptx_line)
        return v->ptx_line < f->ptx_line;
    for (uint32_t i = 0; i < v->nrelocs; i++)
        if (v->relocs[i].sym->kind == WG_SYMBOL_FUNC)
            return false;
    return true;
}

char *wg_ptx_print(const struct wg_ptx_module *m)
{
    struct out o = {.m = m};
    put(&o, ".version %u.%u\n.target %s\n.address_size %u\n\n", m->version / 10, m->version % 10, m->target,
        m->address_bits);
    for (uint32_t i = 0; i < m->nfiles; i++)
        if (m->files[i])
            put(&o, ".file %" PRIu32 " \"%s\"\n", i, m->files[i]);
    for (uint32_t i = 0; i < m->nvars; i++)
        add(&o, &o.module_names, m->vars[i]->name);
    for (uint32_t i = 0; i < m->nfuncs && !o.failed; i++)
        add(&o, &o.module_names, m->funcs[i]->name);
    for (uint32_t v = 0, f = 0; (v < m->nvars || f < m->nfuncs) && !o.failed;) {
        if (f == m->nfuncs || (v < m->nvars && variable_first(m->vars[v], m->funcs[f])))
            put_variable(&o, m->vars[v], m->vars[v]->name), v++;
        else
            put_function(&o, m->funcs[f++]);
    }
    for (uint32_t i = 0; i < m->nfuncs; i++)
        if (m->funcs[i]->is_declaration && !m->funcs[i]->sym->func->is_declaration &&
            m->funcs[i]->sym->func->sym != m->funcs[i]->sym)
            put(&o, ".alias %s, %s;\n", m->funcs[i]->name, m->funcs[i]->sym->func->name);
    if (o.inlined) /* ptxas wants the label of the function's name to exist */
        put(&o, ".section .debug_str { $L_inlined: .b8 63, 0 }\n");
    wg_arena_free(&o.tmp);
    free(o.names.s);
    free(o.module_names.s);
    if (o.failed) {
        free(o.s);
        return NULL;
    }
    return o.s;
}
