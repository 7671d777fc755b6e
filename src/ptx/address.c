/* address.c - value numbering of address arithmetic: registers as root + constant, with known alignment. */
#include "ptx/address.h"
#include <string.h>

enum { MAX_ARGS = 4, NO_LIMIT = 63 };
#define PHI_BIT 0x80000000u /* root of a variable register: unknown since the entry of block (root & ~PHI_BIT) */

/* A root is an operation on values; equal keys are equal roots. */
struct root {
    const void *op; /* interned mnemonic, symbol or one of the tags below */
    struct wg_address arg[MAX_ARGS];
    uint32_t next; /* of the hash bucket */
    uint8_t tz;
};
static const char tag_phi, tag_sreg, tag_param, tag_unique, tag_add, tag_sub, tag_scale;

struct wg_address_state {
    const struct wg_ptx_module *m;
    const struct wg_function *f;
    struct wg_arena *a;
    struct root *roots;
    size_t nroots, cap_roots;
    uint32_t *buckets;
    size_t nbuckets;
    uint8_t *ndefs;  /* per register: 0, 1, 2 (more) */
    uint8_t *tz;     /* per register, whatever the flow */
    struct wg_address *val; /* per register: now */
    uint32_t *variable;     /* registers with several definitions */
    uint32_t nvariable;
    struct wg_address **exits; /* per block: values of the variable registers; NULL: not kept */
    bool keep_exits, too_large;
    uint32_t block, nblocks;
    uint32_t unique;
    uint64_t *shared; /* offsets: module variables, then locals of the function */
};

/* ---- operands -------------------------------------------------------------------------------------------------- */

static bool put_reg(int32_t r, int32_t *list, uint32_t *n, uint32_t cap)
{
    if (r < 0)
        return true;
    if (*n >= cap)
        return false;
    list[(*n)++] = r;
    return true;
}

static bool put_operand(const struct wg_operand *o, int32_t *list, uint32_t *n, uint32_t cap)
{
    bool ok = o->kind == WG_OPERAND_LABEL || (put_reg(o->reg, list, n, cap) && put_reg(o->pair, list, n, cap));
    for (uint32_t i = 0; ok && i < o->nelems && o->kind != WG_OPERAND_LABEL; i++)
        ok = put_operand(&o->elems[i], list, n, cap);
    return ok;
}

bool wg_address_regs(const struct wg_instr *in, int32_t *writes, uint32_t *nwrites, int32_t *reads, uint32_t *nreads)
{
    const uint32_t cap = WG_ADDRESS_REGS;
    const char *shape = wg_op_infos[in->op].shape;
    bool unknown = in->op == WG_OP_UNKNOWN, ok = true;
    *nwrites = *nreads = 0;
    bool dest = (shape[0] == 'd' || shape[0] == 'p') && in->nops && in->ops[0].kind != WG_OPERAND_MEM;
    for (uint32_t i = 0; ok && i < in->nops; i++) {
        if (unknown || (i == 0 && dest))
            ok = put_operand(&in->ops[i], writes, nwrites, cap);
        if (unknown || i > 0 || !dest || in->op == WG_OP_WGMMA)
            ok = ok && put_operand(&in->ops[i], reads, nreads, cap);
    }
    for (uint32_t i = 0; ok && i < in->nret; i++)
        ok = put_operand(&in->ret[i], writes, nwrites, cap);
    for (uint32_t i = 0; ok && i < in->narg; i++)
        ok = put_operand(&in->arg[i], reads, nreads, cap);
    return ok && put_reg(in->guard, reads, nreads, cap);
}

static unsigned ctz(int64_t v) { return v ? (unsigned)__builtin_ctzll((uint64_t)v) : NO_LIMIT; }
static unsigned min2(unsigned a, unsigned b) { return a < b ? a : b; }

static unsigned symbol_tz(const struct wg_symbol *s)
{
    unsigned t = ctz(s->align ? s->align : 1);
    /* ptxas gives the stack of a thread at least this much */
    return s->space == WG_SPACE_LOCAL && t < 3 ? 3 : t;
}

/* ---- shared memory as ptxas places it -------------------------------------------------------------------------- */

static bool is_shared(const struct wg_symbol *v)
{
    return v && v->kind == WG_SYMBOL_VAR && v->space == WG_SPACE_SHARED;
}

static uint64_t *shared_slot(const struct wg_address_state *s, const struct wg_symbol *v)
{
    bool local = v->index < s->f->nlocals && s->f->locals[v->index] == v;
    return &s->shared[local ? s->m->nvars + v->index : v->index];
}

static bool lay_out_shared(struct wg_address_state *s)
{
    struct wg_ptx_shared_layout l;
    if (wg_ptx_shared_layout(s->m, s->f, s->a, &l) != WG_OK)
        return false;
    for (uint32_t i = 0; i < l.n; i++) {
        const struct wg_symbol *v = l.v[i].sym;
        bool local = v->index < s->f->nlocals && s->f->locals[v->index] == v;
        if (local || (v->index < s->m->nvars && s->m->vars[v->index] == v)) /* else of a called function */
            *shared_slot(s, v) = l.v[i].offset;
    }
    return true;
}

/* ---- alignment of the result of one operation from that of its sources ----------------------------------------- */

static unsigned shifted(unsigned t, int64_t by)
{
    return by < 0 || by > 62 ? NO_LIMIT : min2(t + (unsigned)by, NO_LIMIT);
}

static unsigned result_tz(const struct wg_instr *in, const unsigned t[MAX_ARGS])
{
    const struct wg_operand *b = in->nops > 2 ? &in->ops[2] : NULL;
    bool imm = b && b->kind == WG_OPERAND_IMM && !b->is_float;
    switch (in->op) {
    case WG_OP_MOV: case WG_OP_CVTA: case WG_OP_NEG: return t[0];
    case WG_OP_CVT:
        return in->ntypes == 2 && strchr("USB", wg_type_infos[in->type[0]].kind) &&
               strchr("USB", wg_type_infos[in->type[1]].kind) ? t[0] : 0;
    case WG_OP_ADD: case WG_OP_SUB: case WG_OP_OR: case WG_OP_XOR: case WG_OP_MIN: case WG_OP_MAX: case WG_OP_SELP:
        return in->ntypes && strchr("FP", wg_type_infos[in->type[0]].kind) ? 0 : min2(t[0], t[1]);
    case WG_OP_AND: return t[0] > t[1] ? t[0] : t[1];
    case WG_OP_SHL: return imm ? shifted(t[0], b->imm) : t[0];
    case WG_OP_SHR: return imm && b->imm >= 0 && (unsigned)b->imm < t[0] ? t[0] - (unsigned)b->imm : 0;
    case WG_OP_MUL: return in->half == WG_HALF_LO || in->half == WG_HALF_WIDE ? min2(t[0] + t[1], NO_LIMIT) : 0;
    case WG_OP_MAD: return in->half == WG_HALF_LO || in->half == WG_HALF_WIDE ? min2(t[0] + t[1], t[2]) : 0;
    default: return 0;
    }
}

static bool is_pure(const struct wg_instr *in)
{
    enum wg_group g = wg_op_infos[in->op].group;
    bool carry = in->flags & WG_FLAG(CC) || in->op == WG_OP_ADDC || in->op == WG_OP_SUBC || in->op == WG_OP_MADC;
    return in->guard < 0 && !in->extra && !carry &&
           (g == WG_GROUP_ALU || g == WG_GROUP_CVT || in->op == WG_OP_MOV || in->op == WG_OP_CVTA) &&
           in->nops >= 2 && in->nops <= MAX_ARGS + 1 && in->ops[0].kind == WG_OPERAND_REG && in->ops[0].pair < 0;
}

static unsigned operand_tz(const struct wg_address_state *s, const struct wg_operand *o)
{
    switch (o->kind) {
    case WG_OPERAND_REG: return s->tz[o->reg];
    case WG_OPERAND_IMM: return o->is_float ? 0 : ctz(o->imm);
    case WG_OPERAND_SYMBOL:
        return is_shared(o->sym) ? ctz((int64_t)*shared_slot(s, o->sym) + o->imm)
                                 : min2(symbol_tz(o->sym), ctz(o->imm));
    default: return 0;
    }
}

/* Lowers s->tz to what all definitions agree on. True when it settles within the passes allowed. */
static bool settle(struct wg_address_state *s, bool variable_are_zero)
{
    const struct wg_function *f = s->f;
    int32_t w[WG_ADDRESS_REGS], r[WG_ADDRESS_REGS];
    uint32_t nw, nr;
    for (int pass = 0; pass < 16; pass++) {
        bool changed = false;
        for (uint32_t i = 0; i < f->ninstrs; i++) {
            const struct wg_instr *in = &f->instrs[i];
            unsigned t[MAX_ARGS] = {0}, to = 0;
            if (is_pure(in)) {
                for (uint32_t k = 1; k < in->nops; k++)
                    t[k - 1] = operand_tz(s, &in->ops[k]);
                to = result_tz(in, t);
            }
            wg_address_regs(in, w, &nw, r, &nr);
            for (uint32_t k = 0; k < nw; k++) {
                unsigned now = variable_are_zero && s->ndefs[w[k]] > 1 ? 0 : to;
                if (now < s->tz[w[k]]) {
                    s->tz[w[k]] = (uint8_t)now;
                    changed = true;
                }
            }
        }
        if (!changed)
            return true;
    }
    return false;
}

/* ---- roots ----------------------------------------------------------------------------------------------------- */

static size_t bucket_of(const struct wg_address_state *s, const struct root *k)
{
    uint64_t h = (uintptr_t)k->op;
    for (int i = 0; i < MAX_ARGS; i++)
        h = (h ^ k->arg[i].root ^ (uint64_t)k->arg[i].off << 20) * 0x9e3779b97f4a7c15ull;
    return (h ^ h >> 32) & (s->nbuckets - 1);
}

static bool intern(struct wg_address_state *s, struct root k, unsigned tz, uint32_t *id)
{
    size_t b = bucket_of(s, &k);
    for (uint32_t i = s->buckets[b]; i; i = s->roots[i].next)
        if (s->roots[i].op == k.op && memcmp(s->roots[i].arg, k.arg, sizeof k.arg) == 0) {
            *id = i;
            return true;
        }
    struct root *q = wg_arena_grow(s->a, s->roots, s->nroots + 1, &s->cap_roots, sizeof *q);
    if (!q)
        return false;
    s->roots = q;
    k.tz = (uint8_t)tz;
    k.next = s->buckets[b];
    q[s->nroots] = k;
    *id = s->buckets[b] = (uint32_t)s->nroots++;
    return true;
}

bool wg_address_usable(const struct wg_address_state *s) { return !s->too_large; }

unsigned wg_address_align(const struct wg_address_state *s, uint32_t root) { return s->roots[root].tz; }

static unsigned value_tz(const struct wg_address_state *s, struct wg_address v)
{
    return min2(s->roots[v.root].tz, ctz(v.off));
}

static struct wg_address pair_value(uint32_t root, int64_t off)
{
    return (struct wg_address){.root = root, .off = off};
}

static bool register_value(struct wg_address_state *s, int32_t reg, struct wg_address *v)
{
    *v = s->val[reg];
    if (!(v->root & PHI_BIT))
        return true;
    struct root k = {.op = &tag_phi, .arg = {{.root = v->root & ~PHI_BIT, .off = reg}}};
    if (!intern(s, k, s->tz[reg], &v->root))
        return false;
    v->off = 0;
    s->val[reg] = *v;
    return true;
}

static bool symbol_value(struct wg_address_state *s, const struct wg_symbol *sym, int64_t imm, struct wg_address *v)
{
    if (is_shared(sym)) {
        *v = pair_value(WG_ROOT_SHARED, (int64_t)(*shared_slot(s, sym) + (uint64_t)imm));
        return true;
    }
    v->off = imm;
    return intern(s, (struct root){.op = sym}, symbol_tz(sym), &v->root);
}

static bool plus(struct wg_address_state *s, struct wg_address x, struct wg_address y, struct wg_address *v)
{
    int64_t off = (int64_t)((uint64_t)x.off + (uint64_t)y.off);
    if (x.root == WG_ROOT_ZERO || y.root == WG_ROOT_ZERO) {
        *v = pair_value(x.root ? x.root : y.root, off);
        return true;
    }
    uint32_t lo = x.root < y.root ? x.root : y.root, hi = x.root < y.root ? y.root : x.root;
    v->off = off;
    return intern(s, (struct root){.op = &tag_add, .arg = {{lo, 0}, {hi, 0}}},
                  min2(s->roots[lo].tz, s->roots[hi].tz), &v->root);
}

static bool minus(struct wg_address_state *s, struct wg_address x, struct wg_address y, struct wg_address *v)
{
    int64_t off = (int64_t)((uint64_t)x.off - (uint64_t)y.off);
    if (y.root == WG_ROOT_ZERO || x.root == y.root) {
        *v = pair_value(y.root == WG_ROOT_ZERO ? x.root : WG_ROOT_ZERO, off);
        return true;
    }
    v->off = off;
    return intern(s, (struct root){.op = &tag_sub, .arg = {{x.root, 0}, {y.root, 0}}},
                  min2(s->roots[x.root].tz, s->roots[y.root].tz), &v->root);
}

static bool scale(struct wg_address_state *s, struct wg_address x, int64_t by, struct wg_address *v)
{
    v->off = (int64_t)((uint64_t)x.off * (uint64_t)by);
    v->root = WG_ROOT_ZERO;
    if (x.root == WG_ROOT_ZERO || by == 0)
        return true;
    if (by == 1) {
        v->root = x.root;
        return true;
    }
    return intern(s, (struct root){.op = &tag_scale, .arg = {{x.root, by}}},
                  min2(s->roots[x.root].tz + ctz(by), NO_LIMIT), &v->root);
}

bool wg_address_of(struct wg_address_state *s, const struct wg_operand *o, struct wg_address *v)
{
    switch (o->kind) {
    case WG_OPERAND_REG: return register_value(s, o->reg, v);
    case WG_OPERAND_IMM: *v = pair_value(WG_ROOT_ZERO, o->imm); return true;
    case WG_OPERAND_SYMBOL: return symbol_value(s, o->sym, o->imm, v);
    case WG_OPERAND_SREG:
        v->off = 0;
        return intern(s, (struct root){.op = &tag_sreg, .arg = {{0, o->sreg}}}, 0, &v->root);
    case WG_OPERAND_MEM: {
        struct wg_address x = pair_value(WG_ROOT_ZERO, 0), y = x;
        if ((o->sym && !symbol_value(s, o->sym, 0, &x)) || (o->reg >= 0 && !register_value(s, o->reg, &y)) ||
            !plus(s, x, y, v))
            return false;
        v->off = (int64_t)((uint64_t)v->off + (uint64_t)o->imm);
        return true;
    }
    default:
        v->off = 0;
        return intern(s, (struct root){.op = &tag_unique, .arg = {{0, ++s->unique}}}, 0, &v->root);
    }
}

/* ---- operations ------------------------------------------------------------------------------------------------ */

static bool is_integer(const struct wg_instr *in)
{
    return in->ntypes && strchr("USB", wg_type_infos[in->type[0]].kind) && !(in->flags & WG_FLAG(SAT));
}

/* Values of a pure integer operation that keep the form root + constant. *done: it was one. */
static bool linear(struct wg_address_state *s, const struct wg_instr *in, const struct wg_address *x, bool *done,
                   struct wg_address *v)
{
    bool imm = in->nops > 2 && x[1].root == WG_ROOT_ZERO;
    struct wg_address t;
    *done = true;
    switch (in->op) {
    case WG_OP_MOV: case WG_OP_CVTA: *v = x[0]; return true;
    case WG_OP_CVT:
        /* to as many bits or fewer; more bits of a number or of a shared address, which do not wrap */
        if (in->ntypes == 2 && strchr("USB", wg_type_infos[in->type[0]].kind) &&
            strchr("USB", wg_type_infos[in->type[1]].kind) && wg_type_bytes(in->type[0]) >= 4 &&
            (wg_type_bytes(in->type[0]) <= wg_type_bytes(in->type[1]) || x[0].root <= WG_ROOT_SHARED)) {
            *v = x[0];
            return true;
        }
        break;
    case WG_OP_ADD: return plus(s, x[0], x[1], v);
    case WG_OP_SUB: return minus(s, x[0], x[1], v);
    case WG_OP_OR: /* bits that are known to be clear */
        if (imm && x[1].off >= 0 && x[1].off < (int64_t)1 << min2(value_tz(s, x[0]), 62))
            return plus(s, x[0], x[1], v);
        break;
    case WG_OP_SHL:
        if (imm && x[1].off >= 0 && x[1].off < 32)
            return scale(s, x[0], (int64_t)1 << x[1].off, v);
        break;
    case WG_OP_MUL: case WG_OP_MAD:
        if (in->half != WG_HALF_LO || (!imm && x[0].root != WG_ROOT_ZERO))
            break;
        if (!(imm ? scale(s, x[0], x[1].off, &t) : scale(s, x[1], x[0].off, &t)))
            return false;
        if (in->op == WG_OP_MAD)
            return plus(s, t, x[2], v);
        *v = t;
        return true;
    default: break;
    }
    *done = false;
    return true;
}

/* mad.wide is a product that may wrap, plus a sum that keeps the form. */
static bool mad_wide(struct wg_address_state *s, const struct wg_instr *in, const struct wg_address *x,
                     struct wg_address *v)
{
    struct root k = {.op = &tag_scale, .arg = {x[0], x[1], {in->type[0], 0}}};
    struct wg_address t = {0};
    return intern(s, k, min2(value_tz(s, x[0]) + value_tz(s, x[1]), NO_LIMIT), &t.root) && plus(s, t, x[2], v);
}

static bool pure_value(struct wg_address_state *s, const struct wg_instr *in, struct wg_address *v)
{
    struct wg_address x[MAX_ARGS] = {{0}};
    unsigned t[MAX_ARGS] = {0};
    bool done = false;
    for (uint32_t k = 1; k < in->nops; k++) {
        if (!wg_address_of(s, &in->ops[k], &x[k - 1]))
            return false;
        t[k - 1] = value_tz(s, x[k - 1]);
    }
    if (in->half == WG_HALF_WIDE && is_integer(in)) {
        if (in->op == WG_OP_MAD)
            return mad_wide(s, in, x, v);
        struct wg_address zero = {0};
        struct wg_address y[3] = {x[0], x[1], zero};
        if (in->op == WG_OP_MUL)
            return mad_wide(s, in, y, v);
    }
    if (in->op == WG_OP_MOV || in->op == WG_OP_CVTA || is_integer(in))
        if (!linear(s, in, x, &done, v) || done)
            return done;
    struct root k = {.op = in->mnemonic};
    memcpy(k.arg, x, sizeof k.arg);
    v->off = 0;
    return intern(s, k, result_tz(in, t), &v->root);
}

bool wg_address_step(struct wg_address_state *s, const struct wg_instr *in)
{
    int32_t w[WG_ADDRESS_REGS], r[WG_ADDRESS_REGS];
    uint32_t nw, nr;
    struct wg_address v;
    if (is_pure(in) && in->ops[1].kind != WG_OPERAND_VEC) {
        if (!pure_value(s, in, &v))
            return false;
        s->val[in->ops[0].reg] = v;
        return true;
    }
    if (in->op == WG_OP_LD && in->space == WG_SPACE_PARAM && in->guard < 0 && in->ops[0].kind == WG_OPERAND_REG &&
        in->ops[1].sym && in->ops[1].sym->kind == WG_SYMBOL_PARAM && s->f->is_entry) {
        struct root k = {.op = &tag_param, .arg = {{in->ops[1].sym->index, in->ops[1].imm}, {in->type[0], 0}}};
        v.off = 0; /* parameters of a kernel never change */
        if (!intern(s, k, 0, &v.root))
            return false;
        s->val[in->ops[0].reg] = v;
        return true;
    }
    wg_address_regs(in, w, &nw, r, &nr);
    for (uint32_t k = 0; k < nw; k++) {
        v = pair_value(0, 0);
        struct root u = {.op = &tag_unique, .arg = {{0, ++s->unique}}};
        if (!intern(s, u, s->tz[w[k]], &v.root))
            return false;
        s->val[w[k]] = v;
    }
    return true;
}

/* ---- blocks ---------------------------------------------------------------------------------------------------- */

bool wg_address_enter(struct wg_address_state *s, uint32_t block, const uint32_t *preds, uint32_t npreds,
                      const uint8_t *visited)
{
    bool header = npreds == 0 || !s->keep_exits;
    for (uint32_t i = 0; i < npreds; i++)
        header |= !visited[preds[i]];
    s->block = block;
    for (uint32_t k = 0; k < s->nvariable; k++) {
        uint32_t reg = s->variable[k];
        struct wg_address v = pair_value(PHI_BIT | block, 0);
        bool same = !header;
        for (uint32_t i = 1; same && i < npreds; i++)
            same = s->exits[preds[i]][k].root == s->exits[preds[0]][k].root &&
                   s->exits[preds[i]][k].off == s->exits[preds[0]][k].off;
        s->val[reg] = same ? s->exits[preds[0]][k] : v;
    }
    if (s->keep_exits && !(s->exits[block] = wg_arena_alloc(s->a, (s->nvariable + 1) * sizeof **s->exits)))
        return false;
    return true;
}

void wg_address_leave(struct wg_address_state *s, uint32_t block)
{
    if (s->keep_exits)
        for (uint32_t k = 0; k < s->nvariable; k++)
            s->exits[block][k] = s->val[s->variable[k]];
}

struct wg_address_state *wg_address_start(const struct wg_ptx_module *m, const struct wg_function *f,
                                          struct wg_arena *a, uint32_t nblocks)
{
    /* values at block ends that are kept (beyond, joins forget); values that are looked at at all */
    enum { MAX_KEPT = 1 << 21, MAX_WORK = 1 << 26 };
    struct wg_address_state *s = wg_arena_alloc(a, sizeof *s);
    if (!s)
        return NULL;
    *s = (struct wg_address_state){.m = m, .f = f, .a = a, .nblocks = nblocks, .nbuckets = 64};
    while (s->nbuckets < f->ninstrs)
        s->nbuckets *= 2;
    s->buckets = wg_arena_alloc(a, s->nbuckets * sizeof *s->buckets);
    s->ndefs = wg_arena_alloc(a, f->nregs + 1);
    s->tz = wg_arena_alloc(a, f->nregs + 1);
    s->val = wg_arena_alloc(a, (f->nregs + 1) * sizeof *s->val);
    s->variable = wg_arena_alloc(a, (f->nregs + 1) * sizeof *s->variable);
    s->shared = wg_arena_alloc(a, (m->nvars + f->nlocals + 1) * sizeof *s->shared);
    s->exits = wg_arena_alloc(a, (nblocks + 1) * sizeof *s->exits);
    s->roots = wg_arena_grow(a, NULL, WG_ROOT_FIRST, &s->cap_roots, sizeof *s->roots);
    if (a->failed)
        return NULL;
    s->nroots = WG_ROOT_FIRST;
    s->roots[WG_ROOT_ZERO].tz = s->roots[WG_ROOT_SHARED].tz = NO_LIMIT;
    memset(s->tz, NO_LIMIT, f->nregs);
    for (uint32_t i = 0; i < f->ninstrs; i++) {
        int32_t w[WG_ADDRESS_REGS], r[WG_ADDRESS_REGS];
        uint32_t nw, nr;
        wg_address_regs(&f->instrs[i], w, &nw, r, &nr);
        for (uint32_t k = 0; k < nw; k++)
            s->ndefs[w[k]] += s->ndefs[w[k]] < 2;
    }
    for (uint32_t r = 0; r < f->nregs; r++) {
        s->val[r].root = PHI_BIT | nblocks; /* before any definition */
        if (s->ndefs[r] != 1)
            s->tz[r] = s->ndefs[r] ? s->tz[r] : 0;
        if (s->ndefs[r] > 1)
            s->variable[s->nvariable++] = r;
    }
    if ((uint64_t)s->nvariable * nblocks > MAX_WORK) {
        s->too_large = true;
        return s;
    }
    if (!lay_out_shared(s))
        return NULL;
    if (!settle(s, false)) {
        memset(s->tz, NO_LIMIT, f->nregs);
        if (!settle(s, true))
            memset(s->tz, 0, f->nregs);
    }
    s->keep_exits = (uint64_t)s->nvariable * nblocks <= MAX_KEPT;
    return s;
}
