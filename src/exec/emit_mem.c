/* emit_mem.c - decoding of loads, stores, atomics, parameter accesses and cross-lane operations. */
#include "exec/async.h"
#include "exec/emit.h"
#include "model/banks.h"
#include "model/trace.h"
#include "ptx/merge.h"
#include <string.h>

static bool is_int32(int64_t v) { return v >= INT32_MIN && v <= INT32_MAX; }

/* Address of a memory operand: class, slot and displacement. */
static bool address(struct wg_emit *e, const struct wg_operand *o, uint8_t space, struct wg_mem_desc *d, uint32_t *a,
                    int32_t *disp)
{
    bool shared = space == WG_SITE_SHARED;
    struct wg_val v = {0};
    int64_t imm = o->imm;
    if (o->sym && o->reg < 0) {
        struct wg_operand s = *o;
        s.kind = WG_OPERAND_SYMBOL;
        v = wg_emit_get(e, &s, shared ? WG_T_U32 : WG_T_U64);
        imm = 0;
    } else if (o->reg >= 0) {
        struct wg_operand r = {.kind = WG_OPERAND_REG, .reg = o->reg, .pair = -1};
        v = wg_emit_get(e, &r, WG_T_U64);
        if (o->sym) { /* [sym + reg]: add the symbol's address by hand */
            wg_emit_refuse(e, "a symbol plus a register as address");
            return false;
        }
    } else {
        v = (struct wg_val){wg_emit_const(e, (uint64_t)imm), WG_CLASS_S, 8, -1};
        imm = 0;
    }
    if (!is_int32(imm)) {
        wg_emit_refuse(e, "an address offset beyond 32 bits");
        return false;
    }
    if (v.cls == WG_CLASS_V) {
        if (v.bytes == 4 && !shared && space != WG_SITE_LOCAL)
            v = wg_emit_natural(e, v, WG_T_U64);
        if (v.bytes == 8 && shared)
            v = wg_emit_natural(e, v, WG_T_U32);
        d->acls = v.bytes == 4 ? WG_ADDR_V32 : WG_ADDR_V64;
    } else {
        d->acls = v.cls == WG_CLASS_A ? WG_ADDR_A : WG_ADDR_S;
    }
    *a = v.off;
    *disp = (int32_t)imm;
    return true;
}

static uint8_t site_space(unsigned space)
{
    switch (space) {
    case WG_SPACE_GLOBAL: return WG_SITE_GLOBAL;
    case WG_SPACE_SHARED: return WG_SITE_SHARED;
    case WG_SPACE_SHARED_CLUSTER: return WG_SITE_SHARED;
    case WG_SPACE_LOCAL: return WG_SITE_LOCAL;
    case WG_SPACE_CONST: case WG_SPACE_PARAM: return WG_SITE_CONST;
    default: return WG_SITE_GENERIC;
    }
}

/* May an address of this space be in shared memory of another block of the cluster? */
static bool may_be_remote(unsigned space) { return space == WG_SPACE_SHARED_CLUSTER || space == WG_SPACE_NONE; }

/* The same for other files: space is enum wg_space. */
bool wg_emit_address(struct wg_emit *e, const struct wg_operand *o, unsigned space, struct wg_lane_addr *out)
{
    struct wg_mem_desc d = {0};
    out->space = site_space(space);
    out->cluster = may_be_remote(space);
    if (!address(e, o, out->space, &d, &out->off, &out->disp))
        return false;
    out->acls = d.acls;
    return true;
}

static uint32_t elements(const struct wg_operand *o) { return o->kind == WG_OPERAND_VEC ? o->nelems : 1; }
static const struct wg_operand *element(const struct wg_operand *o, uint32_t k)
{
    return o->kind == WG_OPERAND_VEC ? &o->elems[k] : o;
}

/* ld.param of an entry's own parameter, or of a call's result. */
static void load_param(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    const struct wg_operand *m = &in->ops[1];
    enum wg_type t = (enum wg_type)in->type[0];
    unsigned bytes = wg_type_bytes(t);
    uint32_t var = wg_emit_var(e, m->sym);
    for (uint32_t k = 0; k < elements(&in->ops[0]); k++) {
        const struct wg_operand *o = element(&in->ops[0], k);
        if (o->kind == WG_OPERAND_SINK)
            continue;
        struct wg_val to = wg_emit_dest(e, o, t);
        int64_t at = m->imm + (int64_t)(k * bytes);
        if (!var) {
            struct wg_val v = {to.off, WG_CLASS_S, to.bytes, -1};
            bool direct = to.cls == WG_CLASS_S;
            if (!direct)
                v.off = wg_emit_temp(e, 8);
            struct wg_inst *i = direct ? wg_emit_guarded(e, WG_H_LD_KPARAM) : wg_emit_h(e, WG_H_LD_KPARAM);
            if (!i)
                return;
            i->d = v.off;
            i->imm = (int64_t)m->sym->offset + at;
            i->bytes = to.cls == WG_CLASS_P ? 4 : to.bytes;
            i->k2 = (uint8_t)bytes;
            i->k1 = wg_type_infos[t].kind == 'S';
            if (!direct)
                wg_emit_move(e, to, v, wg_emit_masked(e, o->reg));
            continue;
        }
        struct wg_inst *i = wg_emit_guarded(e, WG_H_LD_PARAM);
        if (!i)
            return;
        i->d = to.off;
        i->a = var;
        i->imm = at;
        i->bytes = to.bytes;
        i->k2 = (uint8_t)bytes;
        i->k1 = wg_type_infos[t].kind == 'S';
    }
}

static void store_param(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    const struct wg_operand *m = &in->ops[0];
    enum wg_type t = (enum wg_type)in->type[0];
    uint32_t var = wg_emit_var(e, m->sym);
    if (!var || m->reg >= 0) {
        wg_emit_refuse(e, "a store to this parameter");
        return;
    }
    for (uint32_t k = 0; k < elements(&in->ops[1]); k++) {
        const struct wg_operand *o = element(&in->ops[1], k);
        struct wg_val v = wg_emit_vec(e, wg_emit_get(e, o, t));
        struct wg_inst *i = wg_emit_guarded(e, WG_H_ST_PARAM);
        if (!i)
            return;
        i->d = var;
        i->a = v.off;
        i->imm = m->imm + (int64_t)(k * wg_type_bytes(t));
        i->bytes = v.bytes;
        i->k2 = (uint8_t)wg_type_bytes(t);
    }
}

/* ---- parameters whose address is taken ---- */
bool wg_takes_param_address(const struct wg_function *f)
{
    for (uint32_t i = 0; i < f->ninstrs; i++)
        for (uint32_t k = 0; k < f->instrs[i].nops; k++) {
            const struct wg_operand *o = &f->instrs[i].ops[k];
            if (f->instrs[i].op != WG_OP_CALL && o->kind == WG_OPERAND_SYMBOL && o->sym->kind == WG_SYMBOL_PARAM)
                return true;
        }
    return false;
}

/* Local offset of the home of parameter s: behind the function's own variables. */
uint64_t wg_param_home(const struct wg_function *f, const struct wg_symbol *s)
{
    uint64_t off = 0;
    for (uint32_t k = 0; k < f->nlocals; k++)
        if (f->locals[k]->space == WG_SPACE_LOCAL) {
            uint32_t al = f->locals[k]->align ? f->locals[k]->align : 1;
            off = (off + al - 1) / al * al + f->locals[k]->bytes;
        }
    for (uint32_t k = 0; k < f->nparams; k++) {
        off = (off + 15) & ~15ull;
        if (&f->params[k] == s)
            break;
        off += f->params[k].bytes;
    }
    return off;
}

/* At the function's start: parameters whose address is taken go home. */
void wg_emit_param_homes(struct wg_emit *e)
{
    const struct wg_function *f = e->fn;
    if (f->is_entry || !wg_takes_param_address(f))
        return;
    for (uint32_t k = 0; k < f->nparams; k++) {
        struct wg_inst *i = wg_emit_h(e, WG_H_PARAM_HOME);
        if (!i)
            return;
        i->a = wg_emit_var(e, &f->params[k]);
        i->imm = (int64_t)wg_param_home(f, &f->params[k]);
        i->c = (uint32_t)((f->params[k].bytes + 3) / 4);
        struct wg_inst *o = e->dec->o->observed ? wg_emit_h(e, WG_H_OBSERVE_HOME) : NULL;
        if (o) {
            o->imm = (int64_t)wg_param_home(f, &f->params[k]);
            o->c = (uint32_t)f->params[k].bytes;
        }
    }
}

static bool ordered(const struct wg_instr *in)
{
    return in->order != WG_ORDER_NONE && in->order != WG_ORDER_WEAK;
}

static struct wg_mem_desc *new_desc(struct wg_emit *e)
{
    struct wg_mem_desc *d = wg_arena_alloc(e->dec->a, sizeof *d);
    if (!d)
        e->failed = true;
    return d;
}

/* ---- announcing accesses ---- */
uint8_t wg_access_scope_of(unsigned scope)
{
    switch (scope) {
    case WG_SCOPE_CTA: return WG_ACCESS_CTA;
    case WG_SCOPE_CLUSTER: return WG_ACCESS_CLUSTER;
    case WG_SCOPE_SYS: return WG_ACCESS_SYSTEM;
    default: return WG_ACCESS_GPU;
    }
}

/* An address without the copies and added constants between it and where it comes from. */
struct origin { int32_t reg; const struct wg_symbol *sym; int64_t off; };
static struct origin origin(const struct wg_function *f, const struct wg_operand *m)
{
    struct origin o = {m->reg, m->sym, m->imm};
    for (int step = 0; step < 8 && o.reg >= 0; step++) {
        const struct wg_instr *def = NULL;
        uint32_t n = 0;
        for (uint32_t i = 0; i < f->ninstrs && n < 2; i++) {
            const struct wg_instr *x = &f->instrs[i];
            if (x->nops && x->ops[0].kind == WG_OPERAND_REG && x->ops[0].reg == o.reg && x->op != WG_OP_ST && x->op != WG_OP_RED) {
                def = x;
                n++;
            }
        }
        if (n != 1 || def->guard >= 0)
            break;
        const struct wg_operand *a = def->nops > 1 ? &def->ops[1] : NULL, *b = def->nops > 2 ? &def->ops[2] : NULL;
        bool copy = (def->op == WG_OP_MOV || def->op == WG_OP_CVTA) && a;
        bool plus = def->op == WG_OP_ADD && b && b->kind == WG_OPERAND_IMM;
        if ((!copy && !plus) || (a->kind != WG_OPERAND_REG && a->kind != WG_OPERAND_SYMBOL))
            break;
        o = (struct origin){a->kind == WG_OPERAND_REG ? a->reg : -1, a->kind == WG_OPERAND_REG ? NULL : a->sym,
                            o.off + (plus ? b->imm : 0) + (a->kind == WG_OPERAND_REG ? 0 : a->imm)};
    }
    return o;
}

/* A compare-and-swap of the same place decides whether the value that a plain load took counts. */
static bool guesses(const struct wg_emit *e, const struct wg_operand *m)
{
    for (uint32_t i = 0; i < e->fn->ninstrs; i++) {
        const struct wg_instr *x = &e->fn->instrs[i];
        if (x->op != WG_OP_ATOM || x->atom != WG_ATOM_CAS)
            continue;
        const struct origin a = origin(e->fn, &x->ops[1]), b = origin(e->fn, m);
        if (a.reg == b.reg && a.sym == b.sym && a.off == b.off)
            return true;
    }
    return false;
}

/* Emits the announcement of the access d at a + disp, whose operand is m. Returns where it leaves the lanes that may go
 * on: the guard of the access itself. Call before its handler is chosen. */
static uint32_t observe(struct wg_emit *e, struct wg_mem_desc *d, const struct wg_operand *m, uint32_t a, int32_t disp,
                        enum wg_access_kind kind)
{
    const struct wg_instr *in = e->in;
    if (!e->dec->o->observed)
        return 0;
    uint32_t slot = wg_emit_temp(e, 8);
    struct wg_inst *i = wg_emit_guarded(e, WG_H_OBSERVE);
    d->guarded = 1;
    if (!i)
        return slot;
    bool vol = in->order == WG_ORDER_VOLATILE, atom = kind >= WG_ACCESS_ATOM;
    d->scope = vol ? WG_ACCESS_SYSTEM : wg_access_scope_of(in->scope);
    i->p = d;
    i->a = a;
    i->f = (uint32_t)disp;
    i->d = slot;
    i->e = (uint32_t)wg_provenance_of(e->dec, m, e->array);
    i->k1 = kind;
    i->k2 = (uint8_t)((atom || ordered(in) ? WG_OBSERVE_STRONG : 0) | (vol ? WG_OBSERVE_VOLATILE : 0) |
                      (in->order == WG_ORDER_ACQUIRE || in->order == WG_ORDER_ACQ_REL ? WG_OBSERVE_ACQUIRE : 0) |
                      (in->order == WG_ORDER_RELEASE || in->order == WG_ORDER_ACQ_REL ? WG_OBSERVE_RELEASE : 0) |
                      (kind == WG_ACCESS_LOAD && guesses(e, m) ? WG_OBSERVE_GUESS : 0));
    return slot;
}
static void observed(struct wg_inst *i, uint32_t slot)
{
    if (slot) {
        i->pred = slot;
        i->predx = 0;
    }
}

/* What the machine code will access in place of this instruction: nothing, more, or just this. */
static void merge(struct wg_emit *e, struct wg_mem_desc *d)
{
    const struct wg_merge *m = e->u->merge ? &e->u->merge[e->cur] : NULL;
    if (!m || !d->counted || d->space == WG_SITE_CONST)
        return;
    if (m->leader != e->cur || m->dead) {
        d->counted = 0;
        if (!e->wide)
            e->dec->kc->merged++;
    } else if (m->bytes && m->bytes != d->elem * d->n) {
        d->wide = m->bytes;
        d->position = m->position;
        d->again = m->again;
        if (d->scalar && d->space == WG_SITE_SHARED) {
            struct wg_banks x;
            wg_banks_affine_of(WG_BANKS_LOAD, 0, 0, UINT32_MAX, d->wide, &x);
            d->same = (uint8_t)((x.wavefronts == x.ideal ? x.wavefronts : 0) << (d->again != 0));
        }
    }
}

/* Emits what writes the access d into the trace. Call when d says what the machine code accesses. */
static void record(struct wg_emit *e, const struct wg_mem_desc *d, uint32_t a, int32_t disp, enum wg_trace_kind kind)
{
    const struct wg_instr *in = e->in;
    if (!e->use || !d->counted || d->space == WG_SITE_SHARED || d->space == WG_SITE_CONST)
        return;
    struct wg_inst *i = wg_emit_guarded(e, WG_H_RECORD);
    if (!i)
        return;
    bool past = ordered(in) || (in->flags & (WG_FLAG(CG) | WG_FLAG(CV)));
    i->p = d;
    i->a = a;
    i->f = (uint32_t)disp;
    i->k1 = (uint8_t)kind;
    i->k2 = kind == WG_TRACE_LOAD && past ? WG_TRACE_BYPASS : 0;
    i->e = e->use[e->cur];
}

static void load(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    const struct wg_operand *m = &in->ops[1];
    enum wg_type t = (enum wg_type)in->type[0];
    bool quad = t == WG_T_B128 && in->ops[0].kind == WG_OPERAND_REG; /* as two 64-bit halves */
    uint32_t n = quad ? 2 : elements(&in->ops[0]);
    struct wg_mem_desc *d = new_desc(e);
    uint32_t a;
    t = quad ? WG_T_B64 : t;
    int32_t disp;
    if (!d)
        return;
    d->space = site_space(in->space);
    d->cluster = may_be_remote(in->space);
    if (in->space == WG_SPACE_PARAM && !e->fn->is_entry) /* through a pointer: see wg_param_home */
        d->space = WG_SITE_LOCAL;
    d->elem = (uint8_t)wg_type_bytes(t);
    d->n = (uint8_t)n;
    d->sign = wg_type_infos[t].kind == 'S';
    d->counted = e->dec->o->counters;
    d->guarded = in->guard >= 0;
    if (d->elem > 8 || !address(e, m, d->space, d, &a, &disp)) {
        if (d->elem > 8)
            wg_emit_refuse(e, "a 128-bit register");
        return;
    }
    if (ordered(in))
        wg_emit_h(e, WG_H_SPIN);
    struct wg_val to[8];
    bool scalar = d->acls == WG_ADDR_S && d->space != WG_SITE_LOCAL && d->space != WG_SITE_GENERIC;
    unsigned cont = 0;
    bool uneven = false;
    for (uint32_t k = 0; k < n; k++) {
        to[k] = quad ? wg_emit_half(wg_emit_dest(e, &in->ops[0], WG_T_B128), k)
                     : wg_emit_dest(e, element(&in->ops[0], k), t);
        if (to[k].off) {
            uneven |= cont && cont != to[k].bytes;
            cont = to[k].bytes;
        }
    }
    d->cont = (uint8_t)(cont ? cont : wg_container(t));
    d->scalar = scalar;
    merge(e, d);
    bool direct = !uneven;
    for (uint32_t k = 0; k < n; k++)
        direct &= !to[k].off || to[k].cls == (scalar ? WG_CLASS_S : WG_CLASS_V);
    struct wg_val from[8];
    for (uint32_t k = 0; k < n; k++) {
        from[k] = to[k];
        if (!direct) {
            from[k].cls = scalar ? WG_CLASS_S : WG_CLASS_V;
            from[k].bytes = d->cont;
            from[k].off = wg_emit_temp(e, scalar ? 8 : d->cont * 32u);
        }
        d->val[k] = to[k].off ? from[k].off : 0;
    }
    record(e, d, a, disp, WG_TRACE_LOAD);
    uint32_t may = observe(e, d, m, a, disp, WG_ACCESS_LOAD);
    struct wg_inst *i = wg_emit(e, e->h->mem(d));
    if (!i)
        return;
    wg_emit_guard(e, i);
    observed(i, may);
    i->p = d;
    i->a = a;
    i->f = (uint32_t)disp;
    i->d = d->val[0];
    i->e = direct && n == 1 && element(&in->ops[0], 0)->reg >= 0 && e->used[element(&in->ops[0], 0)->reg] == 2;
    if (!direct)
        for (uint32_t k = 0; k < n; k++)
            if (to[k].off)
                wg_emit_move(e, to[k], from[k], wg_emit_masked(e, element(&in->ops[0], k)->reg));
}

static void store(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    enum wg_type t = (enum wg_type)in->type[0];
    bool quad = t == WG_T_B128 && in->ops[1].kind == WG_OPERAND_REG;
    uint32_t n = quad ? 2 : elements(&in->ops[1]);
    struct wg_mem_desc *d = new_desc(e);
    uint32_t a;
    t = quad ? WG_T_B64 : t;
    int32_t disp;
    if (!d)
        return;
    d->space = site_space(in->space);
    d->cluster = may_be_remote(in->space);
    d->elem = (uint8_t)wg_type_bytes(t);
    d->n = (uint8_t)n;
    d->store = 1;
    d->counted = e->dec->o->counters;
    d->guarded = in->guard >= 0;
    if (d->elem > 8) {
        wg_emit_refuse(e, "a 128-bit register");
        return;
    }
    if (!address(e, &in->ops[0], d->space, d, &a, &disp))
        return;
    struct wg_val v[8];
    for (uint32_t k = 0; k < n; k++) {
        v[k] = quad ? wg_emit_half(wg_emit_get(e, &in->ops[1], WG_T_B128), k)
                    : wg_emit_get(e, element(&in->ops[1], k), t);
        if (v[k].bytes < d->elem)
            v[k] = wg_emit_natural(e, v[k], t);
        v[k] = wg_emit_vec(e, v[k]);
        if (k && v[k].bytes != v[0].bytes)
            v[k] = wg_emit_natural(e, v[k], t);
        d->val[k] = v[k].off;
    }
    for (uint32_t k = 0; k < n; k++)
        if (v[k].bytes != v[n - 1].bytes) {
            v[k] = wg_emit_natural(e, v[k], t);
            d->val[k] = v[k].off;
        }
    d->cont = v[0].bytes;
    merge(e, d);
    record(e, d, a, disp, WG_TRACE_STORE);
    uint32_t may = observe(e, d, &in->ops[0], a, disp, WG_ACCESS_STORE);
    struct wg_inst *i = wg_emit(e, e->h->mem(d));
    if (!i)
        return;
    wg_emit_guard(e, i);
    observed(i, may);
    i->p = d;
    i->a = a;
    i->f = (uint32_t)disp;
    i->d = d->val[0];
}

static bool atom_known(const struct wg_instr *in, enum wg_type t)
{
    char k = wg_type_infos[t].kind;
    bool f = k == 'F';
    switch (in->atom) {
    case WG_ATOM_NONE: return false;
    case WG_ATOM_CAS: case WG_ATOM_EXCH: return !f || t == WG_T_F32 || t == WG_T_F64;
    case WG_ATOM_AND: case WG_ATOM_OR: case WG_ATOM_XOR: return !f;
    case WG_ATOM_INC: case WG_ATOM_DEC: return t == WG_T_U32;
    default: return wg_type_bytes(t) <= 8;
    }
}

static void atomic(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    bool red = in->op == WG_OP_RED;
    enum wg_type t = in->ntypes ? (enum wg_type)in->type[0] : WG_T_NONE;
    const struct wg_operand *m = &in->ops[red ? 0 : 1], *b = &in->ops[red ? 1 : 2];
    struct wg_mem_desc *d = new_desc(e);
    uint32_t a;
    int32_t disp;
    if (!d)
        return;
    if (!atom_known(in, t) || in->extra || wg_type_bytes(t) > 8) {
        wg_emit_refuse(e, "this atomic operation");
        return;
    }
    d->space = site_space(in->space);
    d->cluster = may_be_remote(in->space);
    d->elem = (uint8_t)wg_type_bytes(t);
    d->atom = in->atom;
    d->type = (uint8_t)t;
    d->counted = e->dec->o->counters;
    d->guarded = in->guard >= 0;
    d->n = (uint8_t)elements(b);
    if (!address(e, m, d->space, d, &a, &disp))
        return;
    if (d->acls == WG_ADDR_A) { /* lanes are served one by one anyway */
        struct wg_operand r = {.kind = WG_OPERAND_REG, .reg = m->reg, .pair = -1};
        struct wg_val v = wg_emit_vec(e, wg_emit_get(e, &r, WG_T_U64));
        a = v.off;
        d->acls = v.bytes == 4 ? WG_ADDR_V32 : WG_ADDR_V64;
    }
    wg_emit_h(e, WG_H_SPIN);
    struct wg_val v = {0};
    for (uint32_t k = 0; k < d->n; k++) {
        v = wg_emit_vec(e, wg_emit_natural(e, wg_emit_get(e, element(b, k), t), t));
        d->vb[k] = v.off;
    }
    d->b = d->vb[0];
    d->cont = v.bytes;
    if (in->atom == WG_ATOM_CAS)
        d->c = wg_emit_vec(e, wg_emit_natural(e, wg_emit_get(e, &in->ops[3], t), t)).off;
    struct wg_val to[8] = {{0}};
    struct wg_val tmp[8];
    for (uint32_t k = 0; k < d->n && !red; k++) {
        const struct wg_operand *o = element(&in->ops[0], k);
        if (o->kind != WG_OPERAND_REG || !e->u->cls.uses[o->reg])
            continue; /* nobody reads the result: a reduction */
        to[k] = wg_emit_dest(e, o, t);
        tmp[k] = to[k];
        if (to[k].bytes != d->cont) {
            tmp[k].bytes = d->cont;
            tmp[k].off = wg_emit_temp(e, d->cont * 32u);
        }
        d->val[k] = tmp[k].off;
        d->result = 1;
    }
    d->joined = !e->dec->o->as_written;
    d->ones = !d->result && in->atom == WG_ATOM_ADD && d->n == 1 && b->kind == WG_OPERAND_IMM && !b->is_float && b->imm == 1;
    record(e, d, a, disp, d->result ? WG_TRACE_ATOM : WG_TRACE_RED);
    uint32_t may = observe(e, d, m, a, disp, d->result ? WG_ACCESS_ATOM : WG_ACCESS_RED);
    struct wg_inst *i = wg_emit_guarded(e, WG_H_ATOM);
    if (!i)
        return;
    observed(i, may);
    i->p = d;
    i->a = a;
    i->f = (uint32_t)disp;
    for (uint32_t k = 0; k < d->n; k++)
        if (d->val[k] && tmp[k].off != to[k].off)
            wg_emit_move(e, to[k], tmp[k], true);
}

void wg_emit_memory(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    switch (in->op) {
    case WG_OP_LD: case WG_OP_LDU: {
        const struct wg_operand *m = &in->ops[1];
        if (in->extra) {
            wg_emit_refuse(e, in->extra);
        } else if (in->space == WG_SPACE_PARAM && m->reg < 0 && m->sym &&
                   (wg_emit_var(e, m->sym) || (e->fn->is_entry && m->sym->kind == WG_SYMBOL_PARAM))) {
            load_param(e);
        } else {
            load(e);
        }
        return;
    }
    case WG_OP_ST:
        if (in->extra)
            wg_emit_refuse(e, in->extra);
        else if (in->space == WG_SPACE_PARAM)
            store_param(e);
        else
            store(e);
        return;
    case WG_OP_ATOM: case WG_OP_RED:
        atomic(e);
        return;
    case WG_OP_PREFETCH: case WG_OP_PREFETCHU: case WG_OP_APPLYPRIORITY: case WG_OP_DISCARD:
        return; /* hints: nothing to execute; discard leaves contents undefined */
    default:
        wg_emit_refuse(e, "this operation");
    }
}

/* ---- cross-lane ---- */
enum { B_SCALAR = 1, C_SCALAR = 2, MASK_SCALAR = 4, NO_SYNC = 8 };

static void cross_dest(struct wg_emit *e, struct wg_inst *i, const struct wg_operand *o)
{
    i->d = o->kind == WG_OPERAND_REG ? wg_emit_dest(e, o, WG_T_U32).off : 0;
    if (o->pair >= 0)
        i->e = e->code->slots[o->pair].fast;
}
static uint32_t member_mask(struct wg_emit *e, const struct wg_operand *o, uint8_t *k2)
{
    struct wg_val v = wg_emit_get(e, o, WG_T_U32);
    if (v.cls == WG_CLASS_A)
        v = wg_emit_vec(e, v);
    if (v.cls == WG_CLASS_S)
        *k2 |= MASK_SCALAR;
    return v.off;
}
static struct wg_val scalar_or_vec(struct wg_emit *e, const struct wg_operand *o, enum wg_type t)
{
    struct wg_val v = wg_emit_natural(e, wg_emit_get(e, o, t), t);
    return v.cls == WG_CLASS_A ? wg_emit_vec(e, v) : v;
}

/* Before an instruction with a member mask at `mask`; shuffle: the operands that say who reads whom. */
static void observe_sync(struct wg_emit *e, uint32_t mask, uint8_t k2, const struct wg_inst *shuffle)
{
    if (!e->dec->o->observed || k2 & NO_SYNC)
        return;
    struct wg_inst *i = wg_emit_guarded(e, WG_H_OBSERVE_SYNC);
    if (!i)
        return;
    i->f = mask;
    i->k2 = k2 & MASK_SCALAR;
    i->p = wg_op_infos[e->in->op].text;
    if (shuffle) {
        i->n = 1;
        i->b = shuffle->b;
        i->c = shuffle->c;
        i->k1 = shuffle->k1;
        i->k2 = shuffle->k2;
    }
}

static void emit_shfl(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    uint8_t k2 = 0;
    struct wg_val a = wg_emit_vec(e, wg_emit_natural(e, wg_emit_get(e, &in->ops[1], WG_T_B32), WG_T_B32));
    struct wg_val b = scalar_or_vec(e, &in->ops[2], WG_T_U32), c = scalar_or_vec(e, &in->ops[3], WG_T_U32);
    uint32_t mask = 0;
    if (b.cls == WG_CLASS_S)
        k2 |= B_SCALAR;
    if (c.cls == WG_CLASS_S)
        k2 |= C_SCALAR;
    if (in->nops > 4)
        mask = member_mask(e, &in->ops[4], &k2);
    else
        k2 |= NO_SYNC;
    observe_sync(e, mask, k2, &(struct wg_inst){.b = b.off, .c = c.off, .k1 = in->shfl, .k2 = k2});
    struct wg_inst *i = wg_emit_guarded(e, WG_H_SHFL);
    if (!i)
        return;
    i->a = a.off;
    i->b = b.off;
    i->c = c.off;
    i->f = mask;
    i->k1 = in->shfl;
    i->k2 = k2;
    cross_dest(e, i, &in->ops[0]);
}

void wg_emit_cross_lane(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    uint8_t k2 = 0;
    struct wg_inst *i;
    if (in->extra) {
        wg_emit_refuse(e, in->extra);
        return;
    }
    switch (in->op) {
    case WG_OP_SHFL:
        emit_shfl(e);
        return;
    case WG_OP_VOTE: {
        struct wg_val p = wg_emit_get(e, &in->ops[1], WG_T_PRED);
        uint32_t mask = in->nops > 2 ? member_mask(e, &in->ops[2], &k2) : 0;
        if (in->nops <= 2)
            k2 |= NO_SYNC;
        struct wg_val to = wg_emit_dest(e, &in->ops[0], in->vote == WG_VOTE_BALLOT ? WG_T_B32 : WG_T_PRED);
        observe_sync(e, mask, k2, NULL);
        i = wg_emit_guarded(e, WG_H_VOTE);
        if (!i)
            return;
        i->d = to.off;
        i->a = p.off;
        i->b = mask;
        i->k1 = in->vote;
        i->k2 = k2;
        i->n = to.cls == WG_CLASS_V;
        i->g = wg_emit_uniform_pred(e, to.reg);
        return;
    }
    case WG_OP_MATCH: case WG_OP_ELECT: {
        bool elect = in->op == WG_OP_ELECT;
        struct wg_val a = {0};
        enum wg_type t = in->ntypes ? (enum wg_type)in->type[0] : WG_T_B32;
        if (!elect)
            a = wg_emit_vec(e, wg_emit_natural(e, wg_emit_get(e, &in->ops[1], t), t));
        uint32_t mask = member_mask(e, &in->ops[elect ? 1 : 2], &k2);
        observe_sync(e, mask, k2, NULL);
        i = wg_emit_guarded(e, elect ? WG_H_ELECT : WG_H_MATCH);
        if (!i)
            return;
        i->a = a.off;
        i->b = mask;
        i->bytes = a.bytes;
        i->k1 = in->vote;
        i->k2 = k2;
        cross_dest(e, i, &in->ops[0]);
        return;
    }
    case WG_OP_REDUX: {
        struct wg_val a = wg_emit_vec(e, wg_emit_get(e, &in->ops[1], WG_T_B32));
        uint32_t mask = member_mask(e, &in->ops[2], &k2);
        struct wg_val to = wg_emit_dest(e, &in->ops[0], WG_T_B32);
        if (wg_type_infos[in->type[0]].kind == 'F') {
            wg_emit_refuse(e, "redux of floats");
            return;
        }
        observe_sync(e, mask, k2, NULL);
        i = wg_emit_guarded(e, WG_H_REDUX);
        if (!i)
            return;
        i->d = to.off;
        i->a = a.off;
        i->b = mask;
        i->k1 = in->atom;
        i->k2 = k2;
        i->bytes = in->type[0];
        i->n = to.cls == WG_CLASS_V;
        return;
    }
    case WG_OP_ACTIVEMASK: {
        struct wg_val to = wg_emit_dest(e, &in->ops[0], WG_T_B32);
        i = wg_emit_guarded(e, WG_H_ACTIVEMASK);
        if (i) {
            i->d = to.off;
            i->n = to.cls == WG_CLASS_V;
        }
        return;
    }
    default:
        wg_emit_refuse(e, "this operation");
    }
}
