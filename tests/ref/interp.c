/* interp.c - the scalar interpreter: plain state per thread, memory as bytes, arithmetic from the evaluator. */
#include "interp.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Windows of the generic address space; global addresses are what they are. */
#define SHARED_WINDOW 0x7100000000000000ull
#define LOCAL_WINDOW  0x7200000000000000ull
#define WINDOW_MASK   0xff00000000000000ull
enum { LOCAL_BYTES = 4096, FRAMES = 8 };

enum state { RUN, WARP, BARRIER, ENDED, BROKEN };

struct frame {
    const struct wg_function *f;
    const struct ref_inst *code; /* decoded mnemonics of f */
    uint64_t *regs;
    uint8_t *params;  /* .param variables: of the call that made it, then its own locals */
    uint64_t *offset; /* of the n-th local variable in its space */
    uint32_t pc;
};
struct thread {
    struct machine *m;
    unsigned id, tid[3], lane;
    struct frame frame[FRAMES];
    int depth;
    enum state state;
    uint64_t cf, steps;
    uint8_t local[LOCAL_BYTES];
    uint64_t local_used;
};
struct machine {
    const struct wg_ptx_module *mod;
    const struct ref_launch *l;
    unsigned ctaid[3], nthreads;
    struct thread *t;
    uint8_t *shared;
    uint64_t shared_bytes;
    struct ref_inst **code; /* per function */
    char *err;
    size_t errn;
    bool broken;
};

__attribute__((format(printf, 3, 4))) static void broken(struct thread *t, const struct wg_instr *in, const char *fmt,
                                                         ...)
{
    struct machine *m = t->m;
    t->state = BROKEN;
    if (m->broken)
        return;
    m->broken = true;
    char what[300];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    snprintf(m->err, m->errn, "line %u, thread %u: %s: %.*s", in->ptx_line, t->id, what, (int)in->text_len, in->text);
}

static uint64_t ones(unsigned bits)
{
    return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}
static struct frame *top(struct thread *t)
{
    return &t->frame[t->depth];
}

/* ---- memory ---- */
static uint8_t *in_region(const struct machine *m, uint64_t a, uint64_t n)
{
    for (unsigned i = 0; i < m->l->nregions; i++) {
        const struct ref_region *r = &m->l->regions[i];
        if (a >= r->addr && n <= r->bytes && a - r->addr <= r->bytes - n)
            return r->host + (a - r->addr);
    }
    return NULL;
}

static uint8_t *within(uint8_t *base, uint64_t size, uint64_t a, uint64_t n)
{
    return n <= size && a <= size - n ? base + a : NULL;
}

static uint8_t *at(struct thread *t, enum wg_space space, uint64_t a, uint64_t n)
{
    if (space == WG_SPACE_NONE) {
        uint64_t w = a & WINDOW_MASK;
        space = w == SHARED_WINDOW ? WG_SPACE_SHARED : w == LOCAL_WINDOW ? WG_SPACE_LOCAL : WG_SPACE_GLOBAL;
        if (space != WG_SPACE_GLOBAL)
            a &= ~WINDOW_MASK;
    }
    switch (space) {
    case WG_SPACE_SHARED:
        return within(t->m->shared, t->m->shared_bytes, a, n);
    case WG_SPACE_LOCAL:
        return within(t->local, LOCAL_BYTES, a, n);
    case WG_SPACE_PARAM:
        return top(t)->params + a;
    default:
        return in_region(t->m, a, n);
    }
}

static uint64_t symbol_address(struct thread *t, const struct wg_symbol *s)
{
    const struct frame *f = top(t);
    for (uint32_t i = 0; i < f->f->nlocals; i++)
        if (f->f->locals[i] == s)
            return f->offset[i];
    if (f->f->is_entry)
        return s->offset;
    for (uint32_t i = 0; i < f->f->nparams; i++)
        if (&f->f->params[i] == s)
            return i * 16;
    return 128; /* the return value */
}

/* ---- operands ---- */
static uint64_t sreg(const struct thread *t, int s)
{
    const struct ref_launch *l = t->m->l;
    uint64_t below = (1ull << t->lane) - 1;
    switch (s) {
    case WG_SREG_TID_X:
    case WG_SREG_TID_Y:
    case WG_SREG_TID_Z:
        return t->tid[s - WG_SREG_TID_X];
    case WG_SREG_NTID_X:
    case WG_SREG_NTID_Y:
    case WG_SREG_NTID_Z:
        return l->block[s - WG_SREG_NTID_X];
    case WG_SREG_CTAID_X:
    case WG_SREG_CTAID_Y:
    case WG_SREG_CTAID_Z:
        return t->m->ctaid[s - WG_SREG_CTAID_X];
    case WG_SREG_NCTAID_X:
    case WG_SREG_NCTAID_Y:
    case WG_SREG_NCTAID_Z:
        return l->grid[s - WG_SREG_NCTAID_X];
    case WG_SREG_LANEID:
        return t->lane;
    case WG_SREG_WARPID:
        return t->id / REF_WARP;
    case WG_SREG_LANEMASK_EQ:
        return 1ull << t->lane;
    case WG_SREG_LANEMASK_LT:
        return below;
    case WG_SREG_LANEMASK_LE:
        return below | 1ull << t->lane;
    case WG_SREG_LANEMASK_GT:
        return ~(below | 1ull << t->lane) & 0xffffffff;
    case WG_SREG_LANEMASK_GE:
        return ~below & 0xffffffff;
    default:
        return 0;
    }
}

/* Value of a source whose instruction type is ty. */
static uint64_t value(struct thread *t, const struct wg_instr *in, const struct wg_operand *o, enum wg_type ty)
{
    const struct frame *f = top(t);
    switch (o->kind) {
    case WG_OPERAND_REG:
        return f->regs[o->reg] ^ (o->neg ? 1 : 0);
    case WG_OPERAND_IMM: {
        if (!o->is_float || ty != WG_T_F32)
            return (uint64_t)o->imm & ones(ty == WG_T_PRED ? 1 : wg_type_bytes(ty) * 8);
        double d;
        memcpy(&d, &o->imm, 8);
        float x = (float)d;
        uint32_t b;
        memcpy(&b, &x, 4);
        return b;
    }
    case WG_OPERAND_SREG:
        return sreg(t, o->sreg);
    case WG_OPERAND_SYMBOL:
        return symbol_address(t, o->sym) + (uint64_t)o->imm;
    case WG_OPERAND_VEC: { /* elements end to end */
        uint64_t v = 0;
        unsigned w = ref_width(ty) / o->nelems;
        for (uint32_t i = 0; i < o->nelems; i++)
            v |= (value(t, in, &o->elems[i], ty) & ones(w)) << (i * w);
        return v;
    }
    default:
        broken(t, in, "operand kind %d", o->kind);
        return 0;
    }
}

static void set_reg(struct thread *t, int32_t reg, uint64_t v)
{
    struct frame *f = top(t);
    f->regs[reg] = v & ones(ref_width((enum wg_type)f->f->regs[reg].type));
}

static void assign(struct thread *t, const struct wg_operand *o, uint64_t v, enum wg_type ty)
{
    if (o->kind == WG_OPERAND_REG)
        set_reg(t, o->reg, v);
    else if (o->kind == WG_OPERAND_VEC)
        for (uint32_t i = 0; i < o->nelems; i++)
            assign(t, &o->elems[i], v >> (i * (ref_width(ty) / o->nelems)), ty);
}

static uint64_t address(struct thread *t, const struct wg_operand *o)
{
    uint64_t a = (uint64_t)o->imm;
    if (o->reg >= 0)
        a += top(t)->regs[o->reg];
    if (o->sym)
        a += symbol_address(t, o->sym);
    return a;
}

/* Type under which source number k of an instruction is read. */
static enum wg_type source_type(const struct wg_instr *in, unsigned k)
{
    enum wg_type first = (enum wg_type)in->type[0],
                 last = in->ntypes ? (enum wg_type)in->type[in->ntypes - 1] : WG_T_B32;
    switch (in->op) {
    case WG_OP_SHL:
    case WG_OP_SHR:
        return k == 1 ? WG_T_U32 : first;
    case WG_OP_BFE:
        return k >= 1 ? WG_T_U32 : first;
    case WG_OP_BFI:
        return k >= 2 ? WG_T_U32 : first;
    case WG_OP_MAD:
        return k == 2 && in->half == WG_HALF_WIDE ? (wg_type_bytes(first) == 2 ? WG_T_B32 : WG_T_B64) : first;
    case WG_OP_SLCT:
        return k == 2 ? last : first;
    case WG_OP_SELP:
        return k == 2 ? WG_T_PRED : first;
    case WG_OP_SETP:
    case WG_OP_SET:
        return k == 2 ? WG_T_PRED : last;
    case WG_OP_LOP3:
        return k == 4 ? WG_T_PRED : WG_T_B32;
    case WG_OP_VOTE:
        return k == 0 ? WG_T_PRED : WG_T_B32;
    case WG_OP_SHFL:
        return WG_T_B32;
    case WG_OP_MATCH:
    case WG_OP_REDUX:
        return k == 0 ? first : WG_T_B32;
    case WG_OP_CVT:
        return last;
    default:
        return wg_op_infos[in->op].group == WG_GROUP_VIDEO || in->op == WG_OP_CVT_PACK ? WG_T_B32 : first;
    }
}

static unsigned sources(struct thread *t, const struct wg_instr *in, unsigned from, uint64_t *s)
{
    unsigned n = 0;
    memset(s, 0, REF_MAX * sizeof *s);
    for (uint32_t k = from; k < in->nops && n < REF_MAX; k++, n++)
        s[n] = value(t, in, &in->ops[k], source_type(in, n));
    return n;
}

static void results(struct thread *t, const struct wg_instr *in, const uint64_t *d)
{
    const struct wg_operand *o = &in->ops[0];
    enum wg_type ty = (enum wg_type)in->type[0];
    assign(t, o, d[0], ty);
    if ((o->kind == WG_OPERAND_REG || o->kind == WG_OPERAND_SINK) && o->pair >= 0)
        set_reg(t, o->pair, d[1]);
}

/* ---- instructions ---- */
static void compute(struct thread *t, const struct wg_instr *in, struct ref_inst *ri)
{
    uint64_t s[REF_MAX], d[REF_MAX] = {0};
    sources(t, in, 1, s);
    ri->cf = t->cf;
    if (in->ntypes == 1 && in->type[0] == WG_T_F64) {
        int nans = 0;
        for (int k = 0; k < 3; k++)
            nans += (s[k] & INT64_MAX) > 0x7ff0000000000000;
        if (nans > 1)
            *t->m->l->two_nans = true;
    }
    if (ref_eval(ri, s, d) == REF_UNKNOWN) {
        broken(t, in, "the evaluator does not know it");
        return;
    }
    if (ref_has(ri, "cc"))
        t->cf = d[1];
    results(t, in, d);
}

static void load_store(struct thread *t, const struct wg_instr *in)
{
    bool store = in->op == WG_OP_ST;
    const struct wg_operand *mem = &in->ops[store ? 0 : 1], *reg = &in->ops[store ? 1 : 0];
    enum wg_type ty = (enum wg_type)in->type[0];
    unsigned bytes = ty == WG_T_PRED ? 1 : wg_type_bytes(ty), n = reg->kind == WG_OPERAND_VEC ? reg->nelems : 1;
    uint64_t a = address(t, mem);
    uint8_t *p = at(t, (enum wg_space)in->space, a, (uint64_t)bytes * n);
    if (!p || a % (bytes * n)) {
        broken(t, in, "bad address %" PRIx64, a);
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        const struct wg_operand *o = reg->kind == WG_OPERAND_VEC ? &reg->elems[i] : reg;
        if (store) {
            uint64_t v = value(t, in, o, ty);
            memcpy(p + i * bytes, &v, bytes);
        } else {
            uint64_t v = 0;
            memcpy(&v, p + i * bytes, bytes);
            if (wg_type_infos[ty].kind == 'S' && bytes < 8 && v >> (bytes * 8 - 1)) /* a wider register is filled */
                v |= ~ones(bytes * 8);
            assign(t, o, v, ty);
        }
    }
}

static void atomic(struct thread *t, const struct wg_instr *in, const struct ref_inst *ri)
{
    bool red = in->op == WG_OP_RED;
    enum wg_type ty = (enum wg_type)in->type[0];
    const struct wg_operand *mem = &in->ops[red ? 0 : 1];
    unsigned bytes = wg_type_bytes(ty), k = red ? 1 : 2;
    uint64_t a = address(t, mem), old = 0, now;
    uint8_t *p = at(t, (enum wg_space)in->space, a, bytes);
    if (!p || a % bytes) {
        broken(t, in, "bad address %" PRIx64, a);
        return;
    }
    memcpy(&old, p, bytes);
    uint64_t b = value(t, in, &in->ops[k], ty), c = k + 1 < in->nops ? value(t, in, &in->ops[k + 1], ty) : 0;
    const char *const ops[] = {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"};
    for (int i = 0; i < 10; i++)
        if (ref_has(ri, ops[i]) && ref_atom(ops[i], ty, in->space == WG_SPACE_SHARED, old, b, c, &now) == REF_EXACT) {
            memcpy(p, &now, bytes);
            if (!red)
                assign(t, &in->ops[0], old, ty);
            return;
        }
    broken(t, in, "unknown atomic");
}

static void generic_address(struct thread *t, const struct wg_instr *in)
{
    uint64_t a = value(t, in, &in->ops[1], (enum wg_type)in->type[0]);
    uint64_t w = in->space == WG_SPACE_SHARED ? SHARED_WINDOW : in->space == WG_SPACE_LOCAL ? LOCAL_WINDOW : 0;
    if (w)
        a = in->flags & WG_FLAG(TO) ? a & ~WINDOW_MASK : a | w;
    assign(t, &in->ops[0], a, (enum wg_type)in->type[0]);
}

/* Registers and variables of one activation of f. */
static bool enter(struct thread *t, const struct wg_function *f)
{
    struct machine *m = t->m;
    if (t->depth + 1 >= FRAMES)
        return false;
    struct frame *fr = &t->frame[++t->depth];
    memset(fr, 0, sizeof *fr);
    fr->f = f;
    for (uint32_t i = 0; i < m->mod->nfuncs; i++)
        if (m->mod->funcs[i] == f)
            fr->code = m->code[i];
    fr->regs = calloc(f->nregs + 1, 8);
    fr->params = calloc(1, 4096);
    fr->offset = calloc(f->nlocals + 1, 8);
    uint64_t shared = 0, param = 256;
    for (uint32_t i = 0; i < f->nlocals; i++) {
        const struct wg_symbol *s = f->locals[i];
        uint64_t *used = s->space == WG_SPACE_SHARED ? &shared : s->space == WG_SPACE_LOCAL ? &t->local_used : &param;
        uint64_t al = s->align ? s->align : 16;
        fr->offset[i] = *used = (*used + al - 1) / al * al;
        *used += s->bytes;
    }
    return fr->regs && fr->params && fr->offset;
}

static void leave(struct thread *t)
{
    struct frame *fr = top(t);
    free(fr->regs);
    free(fr->params);
    free(fr->offset);
    if (--t->depth < 0)
        t->state = ENDED;
}

static void call(struct thread *t, const struct wg_instr *in)
{
    const struct wg_operand *o = &in->ops[0];
    if (o->kind != WG_OPERAND_SYMBOL || !o->sym->func || o->sym->func->is_declaration) {
        broken(t, in, "cannot call this");
        return;
    }
    struct frame *from = top(t);
    if (!enter(t, o->sym->func)) {
        broken(t, in, "calls nest too deep");
        return;
    }
    struct frame *to = top(t);
    t->depth--; /* addresses of the arguments are the caller's */
    for (uint32_t i = 0; i < in->narg; i++)
        memcpy(to->params + i * 16, from->params + symbol_address(t, in->arg[i].sym), 16);
    t->depth++;
}

static void give_back(struct thread *t)
{
    struct frame *fr = top(t);
    if (t->depth == 0) {
        leave(t);
        return;
    }
    uint8_t ret[16];
    memcpy(ret, fr->params + 128, 16);
    leave(t);
    fr = top(t);
    const struct wg_instr *in = &fr->f->instrs[fr->pc];
    if (in->nret)
        memcpy(fr->params + symbol_address(t, in->ret[0].sym), ret, 16);
    fr->pc++;
}

static bool is_barrier(enum wg_op op)
{
    return op == WG_OP_BAR_SYNC || op == WG_OP_BARRIER_SYNC || op == WG_OP_BAR_CTA_SYNC || op == WG_OP_BARRIER_CTA_SYNC;
}

/* One instruction; the pc has not moved yet. */
static void step(struct thread *t)
{
    struct frame *f = top(t);
    if (f->pc >= f->f->ninstrs) {
        give_back(t);
        return;
    }
    const struct wg_instr *in = &f->f->instrs[f->pc];
    struct ref_inst ri = f->code[f->pc];
    if (++t->steps > t->m->l->max_steps) {
        broken(t, in, "too many steps");
        return;
    }
    bool on = in->guard < 0 || (f->regs[in->guard] & 1) != (uint64_t)in->guard_neg;
    if (wg_op_infos[in->op].group == WG_GROUP_WARP && on) {
        t->state = WARP;
        return;
    }
    if (is_barrier(in->op) && on) {
        t->state = BARRIER;
        return;
    }
    uint32_t next = f->pc + 1;
    if (on)
        switch (in->op) {
        case WG_OP_BRA:
            next = in->ops[0].target;
            break;
        case WG_OP_RET:
            give_back(t);
            return;
        case WG_OP_EXIT:
            while (t->depth >= 0)
                leave(t);
            return;
        case WG_OP_CALL:
            call(t, in);
            return;
        case WG_OP_LD:
        case WG_OP_ST:
            load_store(t, in);
            break;
        case WG_OP_ATOM:
        case WG_OP_RED:
            atomic(t, in, &ri);
            break;
        case WG_OP_CVTA:
            generic_address(t, in);
            break;
        case WG_OP_BAR_WARP_SYNC:
        case WG_OP_MEMBAR:
        case WG_OP_FENCE:
            break;
        case WG_OP_BRX_IDX: {
            const struct wg_operand *list = &in->ops[1];
            uint64_t i = value(t, in, &in->ops[0], WG_T_U32);
            if (i >= list->nelems)
                broken(t, in, "index beyond the targets");
            else
                next = list->elems[i].target;
            break;
        }
        default:
            compute(t, in, &ri);
            break;
        }
    f->pc = next;
}

/* A cross-lane instruction that every live lane of the warp has reached. */
static void warp_step(struct machine *m, struct thread *w, unsigned n)
{
    uint64_t src[REF_WARP][REF_MAX] = {{0}}, dst[REF_WARP][REF_MAX] = {{0}};
    uint32_t active = 0;
    const struct wg_instr *in = NULL;
    struct ref_inst ri;
    for (unsigned l = 0; l < n; l++)
        if (w[l].state == WARP) {
            struct frame *f = top(&w[l]);
            if (in && in != &f->f->instrs[f->pc])
                broken(&w[l], in, "lanes of a warp wait at different cross-lane instructions");
            in = &f->f->instrs[f->pc];
            ri = f->code[f->pc];
            sources(&w[l], in, 1, src[l]);
            active |= 1u << l;
        }
    if (!in || m->broken)
        return;
    if (ref_warp(&ri, active, (const uint64_t(*)[REF_MAX])src, dst) != REF_EXACT)
        broken(&w[__builtin_ctz(active)], in, "no defined result");
    for (unsigned l = 0; l < n && !m->broken; l++)
        if (active >> l & 1) {
            results(&w[l], in, dst[l]);
            top(&w[l])->pc++;
            w[l].state = RUN;
        }
}

/* Run every thread as far as it gets; false when all have ended or wait at the block's barrier. */
static bool advance(struct machine *m)
{
    bool moved = false;
    for (unsigned i = 0; i < m->nthreads; i++)
        while (m->t[i].state == RUN) {
            step(&m->t[i]);
            moved = true;
        }
    for (unsigned base = 0; base < m->nthreads && !m->broken; base += REF_WARP) {
        unsigned n = m->nthreads - base < REF_WARP ? m->nthreads - base : REF_WARP, waiting = 0, other = 0;
        for (unsigned l = 0; l < n; l++) {
            waiting += m->t[base + l].state == WARP;
            other += m->t[base + l].state == BARRIER;
        }
        if (waiting && !other) {
            warp_step(m, &m->t[base], n);
            moved = true;
        }
    }
    return moved && !m->broken;
}

static bool run_block(struct machine *m, const struct wg_function *entry)
{
    memset(m->shared, 0, m->shared_bytes);
    for (unsigned i = 0; i < m->nthreads; i++) {
        struct thread *t = &m->t[i];
        memset(t, 0, sizeof *t);
        t->m = m;
        t->id = i;
        t->lane = i % REF_WARP;
        t->tid[0] = i % m->l->block[0];
        t->tid[1] = i / m->l->block[0] % m->l->block[1];
        t->tid[2] = i / m->l->block[0] / m->l->block[1];
        t->depth = -1;
        if (!enter(t, entry))
            return false;
        memcpy(top(t)->params, m->l->params, entry->param_bytes);
    }
    for (;;) {
        while (advance(m))
            ;
        if (m->broken)
            break;
        unsigned waiting = 0, ended = 0;
        for (unsigned i = 0; i < m->nthreads; i++) {
            waiting += m->t[i].state == BARRIER;
            ended += m->t[i].state == ENDED;
        }
        if (waiting + ended < m->nthreads) {
            snprintf(m->err, m->errn, "threads wait for each other");
            m->broken = true;
            break;
        }
        if (!waiting)
            break;
        for (unsigned i = 0; i < m->nthreads; i++)
            if (m->t[i].state == BARRIER) {
                m->t[i].state = RUN;
                top(&m->t[i])->pc++;
            }
    }
    for (unsigned i = 0; i < m->nthreads; i++)
        while (m->t[i].depth >= 0)
            leave(&m->t[i]);
    return !m->broken;
}

static struct ref_inst *decode(const struct wg_function *f)
{
    struct ref_inst *code = calloc(f->ninstrs + 1, sizeof *code);
    for (uint32_t i = 0; code && i < f->ninstrs; i++) {
        char name[128], text[256];
        const char *space = f->instrs[i].text ? strpbrk(f->instrs[i].text, " \t") : NULL;
        snprintf(name, sizeof name, "%s", f->instrs[i].mnemonic);
        snprintf(text, sizeof text, "%.*s", space ? (int)(f->instrs[i].text + f->instrs[i].text_len - space) : 0,
                 space ? space : "");
        ref_decode(name, text, &code[i]);
    }
    return code;
}

bool ref_interp(const struct wg_ptx_module *mod, const struct wg_function *entry, const struct ref_launch *l, char *err,
                size_t n)
{
    struct machine m = {.mod = mod, .l = l, .nthreads = l->block[0] * l->block[1] * l->block[2], .err = err, .errn = n};
    *err = 0;
    m.shared_bytes = 48 * 1024 + l->shared_bytes;
    m.shared = malloc(m.shared_bytes);
    m.t = calloc(m.nthreads, sizeof *m.t);
    m.code = calloc(mod->nfuncs + 1, sizeof *m.code);
    bool ok = m.shared && m.t && m.code;
    for (uint32_t i = 0; ok && i < mod->nfuncs; i++)
        ok = (m.code[i] = decode(mod->funcs[i])) != NULL;
    for (unsigned z = 0; ok && z < l->grid[2]; z++)
        for (unsigned y = 0; ok && y < l->grid[1]; y++)
            for (unsigned x = 0; ok && x < l->grid[0]; x++) {
                m.ctaid[0] = x;
                m.ctaid[1] = y;
                m.ctaid[2] = z;
                ok = run_block(&m, entry);
            }
    if (!ok && !*err)
        snprintf(err, n, "out of memory");
    for (uint32_t i = 0; m.code && i < mod->nfuncs; i++)
        free(m.code[i]);
    free(m.code);
    free(m.t);
    free(m.shared);
    return ok;
}
