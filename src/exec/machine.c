/* machine.c - an estimate of the machine instructions behind each PTX instruction; its rules are listed in machine.h. */
#include "exec/machine.h"
#include <string.h>

enum { NOBODY = -1, MANY = -2 };

struct estimator {
    const struct wg_function *f;
    const struct wg_cfg *g;
    const struct wg_classes *c;
    const struct wg_merge *merge;
    unsigned sm;
    uint16_t *count, *extra; /* of the instruction itself; of others that cannot take them */
    int32_t *with;
    uint8_t *loop; /* per block: it lies in a loop */
    /* per register */
    int32_t *def, *user; /* the only instruction that writes, reads it; NOBODY, MANY */
    uint32_t *uses;
    uint32_t *first_reader, *readers; /* of register r: readers[first_reader[r] .. first_reader[r + 1]) */
    /* per instruction */
    uint8_t *absorbed;   /* how many producers it has taken in */
    uint8_t *sreg_seen;
    const struct wg_ptxas_kernel *told; /* what ptxas made of this function; NULL: not known */
    bool shared_base, factor;
    uint32_t shared_block;
};

/* ---- who writes and reads what --------------------------------------------------------------------------------- */

struct visit { struct estimator *e; int32_t at; uint32_t *fill; };

static void note(void *ctx, int32_t reg, bool write)
{
    struct visit *v = ctx;
    int32_t *who = write ? v->e->def : v->e->user;
    if (who[reg] == NOBODY)
        who[reg] = v->at;
    else if (who[reg] != v->at || write)
        who[reg] = MANY;
    v->e->uses[reg] += !write;
}

static void list(void *ctx, int32_t reg, bool write)
{
    struct visit *v = ctx;
    if (!write)
        v->e->readers[v->fill[reg]++] = (uint32_t)v->at;
}

static bool find_readers(struct estimator *e, struct wg_arena *tmp)
{
    const struct wg_function *f = e->f;
    uint32_t n = 0, *fill = wg_arena_alloc(tmp, (f->nregs + 1) * sizeof *fill);
    e->first_reader = wg_arena_alloc(tmp, (f->nregs + 1) * sizeof *e->first_reader);
    if (!fill || !e->first_reader)
        return false;
    for (uint32_t i = 0; i < f->ninstrs; i++)
        wg_instr_regs(&f->instrs[i], note, &(struct visit){e, (int32_t)i, NULL});
    for (uint32_t r = 0; r < f->nregs; r++) {
        fill[r] = e->first_reader[r] = n;
        n += e->uses[r];
    }
    e->first_reader[f->nregs] = n;
    e->readers = wg_arena_alloc(tmp, (n + 1) * sizeof *e->readers);
    if (!e->readers)
        return false;
    for (uint32_t i = 0; i < f->ninstrs; i++)
        wg_instr_regs(&f->instrs[i], list, &(struct visit){e, (int32_t)i, fill});
    return true;
}

static int32_t dest(const struct wg_instr *in)
{
    return in->nops && in->ops[0].kind == WG_OPERAND_REG ? in->ops[0].reg : -1;
}

static int32_t source(const struct wg_instr *in, uint32_t k)
{
    return k < in->nops && in->ops[k].kind == WG_OPERAND_REG ? in->ops[k].reg : -1;
}

/* The instruction that alone defines register r; NULL if there is none or several. */
static const struct wg_instr *maker(const struct estimator *e, int32_t r)
{
    return r >= 0 && e->def[r] >= 0 ? &e->f->instrs[e->def[r]] : NULL;
}

static bool is_float(enum wg_type t) { return wg_type_infos[t].kind == 'F'; }
static enum wg_type type_of(const struct wg_instr *in) { return in->ntypes ? (enum wg_type)in->type[0] : WG_T_NONE; }
static bool is_wide(const struct wg_instr *in) { return !is_float(type_of(in)) && wg_type_bytes(type_of(in)) == 8; }
static bool is_logic(const struct wg_instr *in)
{
    return (in->op == WG_OP_AND || in->op == WG_OP_OR || in->op == WG_OP_XOR || in->op == WG_OP_NOT ||
            in->op == WG_OP_LOP3) && type_of(in) != WG_T_PRED;
}
static bool is_sum(const struct wg_instr *in)
{
    return (in->op == WG_OP_ADD || in->op == WG_OP_SUB) && !is_float(type_of(in)) && !(in->flags & WG_FLAG(CC));
}
static bool is_float_op(const struct wg_instr *in)
{
    return is_float(type_of(in)) && (in->op == WG_OP_ADD || in->op == WG_OP_SUB || in->op == WG_OP_MUL ||
                                     in->op == WG_OP_FMA || in->op == WG_OP_SETP || in->op == WG_OP_MIN || in->op == WG_OP_MAX);
}
static bool is_const(const struct estimator *e, const struct wg_operand *o)
{
    if (o->kind == WG_OPERAND_IMM)
        return true;
    const struct wg_instr *m = o->kind == WG_OPERAND_REG ? maker(e, o->reg) : NULL;
    return m && m->op == WG_OP_MOV && m->nops == 2 && m->ops[1].kind == WG_OPERAND_IMM;
}
static bool is_zero(const struct estimator *e, const struct wg_operand *o)
{
    if (o->kind == WG_OPERAND_IMM)
        return o->imm == 0;
    return is_const(e, o) && maker(e, o->reg)->ops[1].imm == 0;
}

/* Do all readers of register r satisfy `what`? */
static bool all_readers(const struct estimator *e, int32_t r, bool (*what)(const struct wg_instr *in, int32_t reg))
{
    for (uint32_t k = e->first_reader[r]; k < e->first_reader[r + 1]; k++)
        if (!what(&e->f->instrs[e->readers[k]], r))
            return false;
    return true;
}
static bool adds_it(const struct wg_instr *in, int32_t reg)
{
    /* not when the other operand is a constant: then nothing is scaled and added */
    return is_sum(in) && in->nops == 3 && !(in->op == WG_OP_SUB && in->ops[1].kind == WG_OPERAND_REG && in->ops[1].reg == reg);
}
static bool addresses_with_it(const struct wg_instr *in, int32_t reg)
{
    enum wg_group g = wg_op_infos[in->op].group;
    if (g != WG_GROUP_MEM && g != WG_GROUP_ATOM)
        return false;
    for (uint32_t k = 0; k < in->nops; k++) {
        if (in->ops[k].kind == WG_OPERAND_REG && in->ops[k].reg == reg)
            return false;
        for (uint32_t x = 0; x < in->ops[k].nelems; x++)
            if (in->ops[k].elems[x].kind == WG_OPERAND_REG && in->ops[k].elems[x].reg == reg)
                return false;
    }
    return true;
}
static bool takes_sign(const struct wg_instr *in, int32_t reg)
{
    (void)reg;
    return is_float_op(in);
}
static bool extends(const struct wg_instr *in, int32_t reg)
{
    (void)reg;
    return in->op == WG_OP_SHL || (in->op == WG_OP_MUL && is_wide(in)) || (in->op == WG_OP_MAD && is_wide(in));
}

/* Extra instructions are charged to one that is no memory access, whose own number others want to know. */
static bool is_plain(const struct wg_instr *in)
{
    return in->op != WG_OP_UNKNOWN && wg_op_infos[in->op].group != WG_GROUP_ATOM &&
           (wg_op_infos[in->op].group != WG_GROUP_MEM || in->space == WG_SPACE_PARAM);
}

static uint32_t plain_before(const struct estimator *e, uint32_t i)
{
    while (i > 0 && !is_plain(&e->f->instrs[i - 1]))
        i--;
    return i ? i - 1 : 0;
}

/* n more for instruction i, at a plain one before it. */
static void charge(struct estimator *e, uint32_t i, unsigned n)
{
    uint32_t at = plain_before(e, i);
    e->extra[at] = (uint16_t)(e->extra[at] + n);
}

/* ---- one instruction by itself --------------------------------------------------------------------------------- */

static unsigned table(enum wg_op op, enum wg_type t)
{
    static const struct { uint16_t op; uint8_t n[5]; } rows[] = {
#define WG_MACHINE(op, half, word, wide, single, twice) {WG_OP_##op, {half, word, wide, single, twice}},
#include "exec/machine.def"
#undef WG_MACHINE
    };
    static const uint8_t usual[5] = {1, 1, 2, 1, 1};
    unsigned bytes = wg_type_bytes(t), k = is_float(t) ? (bytes == 8 ? 4 : 3) : bytes == 8 ? 2 : bytes && bytes <= 2 ? 0 : 1;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        if (rows[r].op == op)
            return rows[r].n[k];
    return usual[k];
}

static void find_loops(struct estimator *e)
{
    for (uint32_t b = 0; b < e->g->nbb; b++)
        for (uint32_t k = 0; k < e->g->bbs[b].nsucc; k++)
            for (uint32_t x = e->g->bbs[b].succ[k]; x <= b && !(e->loop[b] && e->loop[x] && x == b); x++)
                e->loop[x] = 1;
}

/* A special register read: once per kernel, the first time. */
static unsigned read_sreg(struct estimator *e, int32_t s)
{
    if (s < 0 || e->sreg_seen[s])
        return 0;
    e->sreg_seen[s] = 1;
    bool operand = s == WG_SREG_NTID_X || s == WG_SREG_NTID_Y || s == WG_SREG_NTID_Z || s == WG_SREG_NCTAID_X ||
                   s == WG_SREG_NCTAID_Y || s == WG_SREG_NCTAID_Z;
    return operand && e->sm < 90 ? 0 : 1;
}

static unsigned address_of(struct estimator *e, const struct wg_symbol *s, uint32_t block)
{
    if (s->space == WG_SPACE_SHARED) {
        if (e->sm < 90)
            return 0;
        bool again = e->shared_base && e->shared_block == block;
        e->shared_base = true;
        e->shared_block = block;
        return again ? 2 : 3; /* window of the block in its cluster, offset, sum */
    }
    return s->space == WG_SPACE_LOCAL || s->kind == WG_SYMBOL_PARAM ? 0 : 1;
}

static unsigned cost_of_mov(struct estimator *e, const struct wg_instr *in, uint32_t block)
{
    int32_t d = dest(in);
    unsigned words = is_wide(in) || type_of(in) == WG_T_F64 ? 2 : 1;
    const struct wg_operand *o = &in->ops[in->nops - 1];
    bool joins = d >= 0 && e->def[d] == MANY;
    switch (o->kind) {
    case WG_OPERAND_SREG: return read_sreg(e, o->sreg);
    case WG_OPERAND_SYMBOL: return address_of(e, o->sym, block);
    case WG_OPERAND_IMM: return joins && type_of(in) != WG_T_PRED ? words : 0;
    case WG_OPERAND_REG:
        return joins && o->reg >= 0 && e->g->bbs[block].nsucc && wg_live(e->g->bbs[e->g->bbs[block].succ[0]].live_in, o->reg)
                   ? words : 0;
    case WG_OPERAND_VEC: return wg_type_bytes(type_of(in)) == 4 ? 1 : 0; /* two halves packed */
    default: return 0;
    }
}

static unsigned cost_of_cvt(const struct estimator *e, const struct wg_instr *in)
{
    if (in->ntypes < 2)
        return 1;
    enum wg_type to = (enum wg_type)in->type[0], from = (enum wg_type)in->type[1];
    unsigned tb = wg_type_bytes(to), fb = wg_type_bytes(from);
    if (is_float(to) || is_float(from))
        return to == from && (in->flags & WG_FLAG(SAT)) && maker(e, source(in, 1)) && is_float_op(maker(e, source(in, 1))) ? 0
               : tb == 1 && fb > 1 ? 2 : 1;
    if (in->flags & WG_FLAG(SAT))
        return 2;
    const struct wg_instr *m = maker(e, source(in, 1));
    bool loaded = m && m->op == WG_OP_LD && type_of(m) == from;
    if (tb <= fb)
        return 0;
    bool sign = wg_type_infos[from].kind == 'S';
    if (fb == 4)
        return sign && !(dest(in) >= 0 && all_readers(e, dest(in), extends)) ? 1 : 0;
    return loaded ? tb == 8 && sign : 1u + (tb == 8 && sign);
}

/* What a vector store wants lies in neighbouring registers: constants (in a loop, before it) and what is stored twice are
 * copied there. */
static unsigned gathered(const struct estimator *e, const struct wg_instr *in, bool loop)
{
    const struct wg_operand *v = in->op == WG_OP_ST && in->nops > 1 ? &in->ops[1] : NULL;
    unsigned n = v && !v->nelems && !loop && is_const(e, v) && !is_zero(e, v);
    for (uint32_t k = 0; v && k < v->nelems; k++) {
        bool copy = !loop && is_const(e, &v->elems[k]);
        for (uint32_t j = 0; j < k; j++)
            copy |= v->elems[k].kind == WG_OPERAND_REG && v->elems[j].kind == WG_OPERAND_REG && v->elems[j].reg == v->elems[k].reg;
        n += copy;
    }
    return n;
}

static unsigned cost_of_memory(struct estimator *e, uint32_t i, uint32_t block)
{
    const struct wg_instr *in = &e->f->instrs[i];
    if (in->space == WG_SPACE_PARAM) {
        if (!e->f->is_entry || in->op != WG_OP_LD)
            return 1;
        if (e->sm >= 90)
            return 1;
        /* an operand of other instructions, but an address must lie in registers */
        int32_t d = dest(in);
        const struct wg_instr *cvta = d >= 0 && e->user[d] >= 0 ? &e->f->instrs[e->user[d]] : NULL;
        if (cvta && cvta->op == WG_OP_CVTA)
            d = dest(cvta);
        return d >= 0 && all_readers(e, d, addresses_with_it) ? 2 : 0;
    }
    for (uint32_t k = 0; k < in->nops; k++)
        if (in->ops[k].kind == WG_OPERAND_MEM && in->ops[k].sym && in->ops[k].sym->space == WG_SPACE_SHARED &&
            !(e->shared_base && e->shared_block == block))
            charge(e, i, address_of(e, in->ops[k].sym, block));
    charge(e, i, gathered(e, in, e->loop[block]));
    if (!e->merge || (in->op != WG_OP_LD && in->op != WG_OP_ST && in->op != WG_OP_LDU))
        return 1;
    const struct wg_merge *m = &e->merge[i];
    return m->dead || m->leader != i ? 0 : m->again ? 2 : 1;
}

static unsigned cost_of_flow(const struct estimator *e, uint32_t i)
{
    const struct wg_instr *in = &e->f->instrs[i];
    if (in->op != WG_OP_BRA)
        return 1;
    return in->guard < 0 && in->ops[0].target == i + 1 ? 0 : 1;
}

/* ptxas adds up what the lanes of a warp add to one place, in 6 or 7 instructions before the one access. */
static unsigned cost_of_atomic(struct estimator *e, uint32_t i)
{
    const struct wg_instr *in = &e->f->instrs[i];
    const struct wg_operand *m = in->op == WG_OP_RED ? &in->ops[0] : &in->ops[1];
    bool used = in->op == WG_OP_ATOM && dest(in) >= 0 && e->uses[dest(in)];
    bool uniform = m->kind == WG_OPERAND_MEM && (m->reg < 0 || e->c->cls[m->reg] == WG_CLASS_S);
    const struct wg_operand *value = &in->ops[in->op == WG_OP_RED ? 1 : 2];
    if (in->atom == WG_ATOM_ADD && !is_float(type_of(in)) && uniform && !used)
        charge(e, i, in->space == WG_SPACE_SHARED ? 5 : 7);
    else if (is_const(e, value) && !is_zero(e, value))
        charge(e, i, 1);
    return 1;
}

static unsigned cost_of_alu(const struct wg_instr *in)
{
    bool fast = in->flags & WG_FLAG(APPROX), flush = in->flags & WG_FLAG(FTZ);
    enum wg_type t = type_of(in);
    if (in->op == WG_OP_MUL || in->op == WG_OP_MAD) {
        if (in->half == WG_HALF_WIDE)
            return 1;
        if (in->half == WG_HALF_HI && wg_type_bytes(t) == 8)
            return wg_type_infos[t].kind == 'S' ? 17 : 7;
        if (in->half == WG_HALF_HI)
            return in->op == WG_OP_MAD ? 2 : 1;
    }
    if (t == WG_T_F32 && in->op == WG_OP_DIV && (fast || (in->flags & WG_FLAG(FULL))))
        return fast ? (flush ? 2 : 5) : flush ? 5 : 8;
    if (is_float(t) && fast && (in->op == WG_OP_EX2 || in->op == WG_OP_LG2 || in->op == WG_OP_RSQRT || in->op == WG_OP_SQRT ||
                                in->op == WG_OP_RCP))
        return flush || t != WG_T_F32 ? 1 : in->op == WG_OP_RCP ? 8 : 4;
    if (t == WG_T_PRED)
        return in->op == WG_OP_NOT ? 0 : 1;
    return table((enum wg_op)in->op, t);
}

static unsigned alone(struct estimator *e, uint32_t i, uint32_t block)
{
    const struct wg_instr *in = &e->f->instrs[i];
    if (in->op == WG_OP_UNKNOWN)
        return 1;
    switch (wg_op_infos[in->op].group) {
    case WG_GROUP_MOV: return in->op == WG_OP_MOV && in->nops ? cost_of_mov(e, in, block) : 0;
    case WG_GROUP_CVT: return cost_of_cvt(e, in);
    case WG_GROUP_MEM: return cost_of_memory(e, i, block);
    case WG_GROUP_ATOM: return cost_of_atomic(e, i);
    case WG_GROUP_FLOW: return cost_of_flow(e, i);
    case WG_GROUP_ALU: return cost_of_alu(in);
    default: return table((enum wg_op)in->op, WG_T_U32);
    }
}

/* ---- two become one -------------------------------------------------------------------------------------------- */

static bool only_computes(const struct wg_instr *in)
{
    enum wg_group g = in->op == WG_OP_UNKNOWN ? WG_GROUP_FLOW : wg_op_infos[in->op].group;
    return g == WG_GROUP_ALU || g == WG_GROUP_CVT || g == WG_GROUP_MOV || (g == WG_GROUP_MEM && in->op == WG_OP_LD && in->space == WG_SPACE_PARAM);
}

/* Does instruction i vanish into its only reader (or into all of them)? */
static void fold(struct estimator *e, uint32_t i)
{
    const struct wg_instr *in = &e->f->instrs[i];
    int32_t d = dest(in);
    if (d < 0 || e->def[d] != (int32_t)i || in->guard >= 0 || !only_computes(in))
        return;
    if (e->user[d] == NOBODY) {
        e->count[i] = 0;
        return;
    }
    const struct wg_instr *user = e->user[d] >= 0 ? &e->f->instrs[e->user[d]] : NULL;
    uint8_t *room = user ? &e->absorbed[e->user[d]] : NULL;
    bool once = user && e->uses[d] == 1;
    bool product = in->op == WG_OP_MUL && !is_float(type_of(in));
    if (product && in->half == WG_HALF_WIDE && all_readers(e, d, adds_it)) {
        /* where the base is a constant operand, the factor cannot be: it is put in a register once */
        e->count[i] = e->sm < 90 && !e->factor && is_const(e, &in->ops[2]);
        e->factor |= e->count[i] > 0;
        return;
    }
    if (in->op == WG_OP_SHL && !is_wide(in) && in->ops[2].kind == WG_OPERAND_IMM && all_readers(e, d, adds_it)) {
        e->count[i] = 0;
        return;
    }
    if (is_sum(in) && is_const(e, &in->ops[2]) && all_readers(e, d, addresses_with_it)) {
        e->count[i] = 0;
        return;
    }
    if ((in->op == WG_OP_NEG || in->op == WG_OP_ABS) && is_float(type_of(in))) {
        e->count[i] = all_readers(e, d, takes_sign) ? 0 : 1;
        return;
    }
    if (in->op == WG_OP_SHR && is_wide(in) && in->ops[2].kind == WG_OPERAND_IMM && in->ops[2].imm == 32) {
        e->count[i] = 0;
        return;
    }
    if (!once || *room)
        return;
    bool sum = is_sum(user), same = type_of(user) == type_of(in) || wg_type_bytes(type_of(user)) == wg_type_bytes(type_of(in));
    bool one = (sum && same && (product || (in->op == WG_OP_SHL && in->ops[2].kind == WG_OPERAND_IMM))) ||
               (sum && same && (is_sum(in) || (in->op == WG_OP_NEG && !is_float(type_of(in)))) && !is_wide(in)) ||
               (is_logic(in) && is_logic(user) && same) ||
               ((in->op == WG_OP_SHR || in->op == WG_OP_SHL) && user->op == WG_OP_OR && !is_wide(in)) ||
               (type_of(in) != WG_T_PRED && in->op == WG_OP_SETP && wg_type_bytes(type_of(in)) < 8 && user->nops > 1 &&
                type_of(user) == WG_T_PRED && (user->op == WG_OP_AND || user->op == WG_OP_OR || user->op == WG_OP_XOR));
    if (!one)
        return;
    *room = 1;
    if (type_of(user) == WG_T_PRED) /* the comparison takes the other truth in: the logic goes, not the comparison */
        e->count[e->user[d]] = 0;
    else if (product && is_wide(in))
        e->count[e->user[d]] = 0;
    else
        e->count[i] = 0;
}

/* A 64-bit sum with a widened product is one; a comparison of a logical result with zero comes with it; constants. */
static void adjust(struct estimator *e, uint32_t i)
{
    const struct wg_instr *in = &e->f->instrs[i];
    unsigned constants = 0;
    if (in->op == WG_OP_ADD && is_wide(in))
        for (uint32_t k = 1; k < 3 && k < in->nops; k++) {
            const struct wg_instr *m = maker(e, source(in, k));
            if (m && m->op == WG_OP_MUL && m->half == WG_HALF_WIDE && e->count[i] > 1 && all_readers(e, dest(m), adds_it))
                e->count[i] = 1;
        }
    if (in->op == WG_OP_SETP && in->nops >= 3 && (in->cmp == WG_CMP_EQ || in->cmp == WG_CMP_NE)) {
        const struct wg_instr *m = maker(e, source(in, 1));
        if (m && is_zero(e, &in->ops[2]) && is_logic(m) && !is_wide(m) && e->g->bb_of[m - e->f->instrs] == e->g->bb_of[i])
            e->count[i] = 0;
    }
    if (!is_float_op(in) && in->op != WG_OP_SELP)
        return;
    for (uint32_t k = 1; k < in->nops && type_of(in) != WG_T_PRED; k++)
        constants += is_const(e, &in->ops[k]) && !is_zero(e, &in->ops[k]);
    if (e->loop[e->g->bb_of[i]]) /* they stay in registers */
        return;
    if (type_of(in) == WG_T_F64)
        charge(e, i, 2 * constants);
    else if (constants > 1)
        charge(e, i, constants - 1);
}

/* ---- loops that are unrolled ----------------------------------------------------------------------------------- */

/* .pragma "nounroll" stands between the statement before a loop and its first. */
static bool kept_rolled(const struct wg_function *f, uint32_t first)
{
    const char *to = f->instrs[first].text, *from = first ? f->instrs[first - 1].text + f->instrs[first - 1].text_len : NULL;
    return from && to > from && memmem(from, (size_t)(to - from), "nounroll", 8);
}

/* x = x + constant, and nobody else writes x. */
static bool steps(const struct estimator *e, uint32_t i)
{
    const struct wg_instr *in = &e->f->instrs[i];
    int32_t d = dest(in);
    return in->op == WG_OP_ADD && is_sum(in) && d >= 0 && source(in, 1) == d && in->nops == 3 && in->ops[2].kind == WG_OPERAND_IMM;
}

/* Is block b a loop of its own whose count of rounds is the warp's and known before it starts? */
static bool unrolls(const struct estimator *e, uint32_t b)
{
    const struct wg_bb *B = &e->g->bbs[b];
    const struct wg_instr *last = &e->f->instrs[B->end - 1];
    bool itself = B->nsucc == 2 && (B->succ[0] == b || B->succ[1] == b), counted = false;
    unsigned n = 0, loads = 0, stores = 0, shared = 0;
    if (!itself || last->op != WG_OP_BRA || last->guard < 0 || e->c->diverges[b] || kept_rolled(e->f, B->first))
        return false;
    for (uint32_t i = B->first; i < B->end; i++) {
        const struct wg_instr *in = &e->f->instrs[i];
        enum wg_group g = in->op == WG_OP_UNKNOWN ? WG_GROUP_SYNC : wg_op_infos[in->op].group;
        if (g != WG_GROUP_ALU && g != WG_GROUP_CVT && g != WG_GROUP_MOV && g != WG_GROUP_MEM && i + 1 < B->end)
            return false;
        stores += in->op == WG_OP_ST;
        shared += in->op == WG_OP_LD && in->space == WG_SPACE_SHARED;
        loads += in->op == WG_OP_LD && in->space != WG_SPACE_SHARED;
        n += e->count[i];
        for (uint32_t k = B->first; in->op == WG_OP_SETP && dest(in) == last->guard && k < B->end; k++)
            counted |= steps(e, k) && source(in, 1) == dest(&e->f->instrs[k]);
    }
    return counted && loads <= 12 && stores <= 8 && !(loads && shared) && n <= WG_MACHINE_UNROLLED_MOST;
}

/* Of four rounds one steps, compares and jumps; addresses in between are constants away. */
static void unroll(const struct estimator *e, uint32_t b, uint32_t *hundredths)
{
    const struct wg_bb *B = &e->g->bbs[b];
    for (uint32_t i = B->first; i < B->end; i++) {
        const struct wg_instr *in = &e->f->instrs[i];
        if (steps(e, i) || in->op == WG_OP_BRA || (in->op == WG_OP_SETP && dest(in) == e->f->instrs[B->end - 1].guard))
            hundredths[i] /= WG_MACHINE_UNROLLED;
    }
}

/* ---- what ptxas made, where it was asked ----------------------------------------------------------------------- */

/* Its rows for a line of the PTX. */
static const struct wg_cubin_line *told_of(const struct estimator *e, uint32_t line, size_t *n)
{
    const struct wg_cubin_line *v = e->told->lines;
    size_t lo = 0, hi = e->told->nlines;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (v[mid].line < line)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (*n = 0; lo + *n < e->told->nlines && v[lo + *n].line == line; ++*n)
        ;
    return v + lo;
}

/* Instructions of a line at this depth of loops or deeper. */
static unsigned told_count(const struct estimator *e, uint32_t line, unsigned depth)
{
    size_t n;
    const struct wg_cubin_line *v = told_of(e, line, &n);
    unsigned sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i].depth >= depth ? v[i].instructions : 0;
    return sum;
}

static bool told_branches(const struct estimator *e, uint32_t line)
{
    size_t n;
    const struct wg_cubin_line *v = told_of(e, line, &n);
    for (size_t i = 0; i < n; i++)
        if (v[i].branches)
            return true;
    return false;
}

/* Instructions that become one and stay where they are tell where a block went and how often it was copied. */
static bool is_marker(const struct estimator *e, uint32_t i)
{
    const struct wg_instr *in = &e->f->instrs[i];
    enum wg_group g = in->op == WG_OP_UNKNOWN ? WG_GROUP_MOV : wg_op_infos[in->op].group;
    return e->count[i] == 1 && g != WG_GROUP_MOV && g != WG_GROUP_FLOW && in->space != WG_SPACE_PARAM;
}

/* The depth that most markers of block b have, and how many of each there are: ptxas copies blocks where it unrolls. */
static unsigned find_block(const struct estimator *e, uint32_t b, unsigned *copies)
{
    enum { DEEP = 16, OFTEN = 65 };
    unsigned at[DEEP] = {0}, often[OFTEN] = {0}, depth = 0, markers = 0, seen = 0;
    for (uint32_t i = e->g->bbs[b].first; i < e->g->bbs[b].end; i++) {
        size_t n;
        const struct wg_cubin_line *v = told_of(e, e->f->instrs[i].ptx_line, &n);
        for (size_t k = 0; k < n && is_marker(e, i); k++)
            at[v[k].depth < DEEP ? v[k].depth : DEEP - 1] += v[k].instructions > 0;
    }
    for (unsigned d = 1; d < DEEP; d++)
        depth = at[d] > at[depth] ? d : depth;
    for (uint32_t i = e->g->bbs[b].first; i < e->g->bbs[b].end; i++) {
        unsigned n = is_marker(e, i) ? told_count(e, e->f->instrs[i].ptx_line, depth) : 0;
        if (n)
            often[n < OFTEN ? n : OFTEN - 1]++, markers++;
    }
    *copies = 1;
    for (unsigned n = 1; n < OFTEN && 2 * seen < markers && e->loop[b]; n++) {
        seen += often[n];
        *copies = n;
    }
    return depth;
}

static void take_told(const struct estimator *e, uint32_t *hundredths)
{
    const struct wg_function *f = e->f;
    for (uint32_t b = 0; b < e->g->nbb; b++) {
        unsigned copies, depth = find_block(e, b, &copies);
        if (copies > 1) { /* rounds of the unrolled loop and those left over cannot be told apart: the estimate stays */
            unroll(e, b, hundredths);
            continue;
        }
        for (uint32_t i = e->g->bbs[b].first; i < e->g->bbs[b].end; i++) {
            const struct wg_instr *in = &f->instrs[i];
            enum wg_group g = in->op == WG_OP_UNKNOWN ? WG_GROUP_FLOW : wg_op_infos[in->op].group;
            bool access = (g == WG_GROUP_MEM || g == WG_GROUP_ATOM) && in->space != WG_SPACE_PARAM;
            bool again = i && f->instrs[i - 1].ptx_line == in->ptx_line;
            unsigned n = again ? 0 : 100 * told_count(e, in->ptx_line, depth);
            uint32_t at = plain_before(e, i);
            hundredths[i] = access ? 100 * e->count[i] : n;
            /* accesses are counted by the rules of merge.h; what else stands on their line goes to the one before */
            if (access && n > hundredths[i] && at < i && e->g->bb_of[at] == b)
                hundredths[at] += n - hundredths[i];
        }
    }
    for (size_t k = 0; k < e->told->nlines && f->ninstrs && e->told->lines[k].line < f->instrs[0].ptx_line; k++)
        hundredths[0] += 100u * e->told->lines[k].instructions;
}

/* ---- branches -------------------------------------------------------------------------------------------------- */

static bool is_end(const struct estimator *e, uint32_t b)
{
    return b == e->g->nbb || (e->g->bbs[b].end == e->g->bbs[b].first + 1 && e->f->is_entry &&
                              (e->f->instrs[e->g->bbs[b].first].op == WG_OP_RET ||
                               e->f->instrs[e->g->bbs[b].first].op == WG_OP_EXIT) && e->f->instrs[e->g->bbs[b].first].guard < 0);
}

/* May block b run under a guard? Its length in machine instructions; -1: it may not. */
static int guardable(const struct estimator *e, uint32_t b)
{
    unsigned n = 0, loads = 0;
    for (uint32_t i = e->g->bbs[b].first; i < e->g->bbs[b].end; i++) {
        const struct wg_instr *in = &e->f->instrs[i];
        enum wg_group g = in->op == WG_OP_UNKNOWN ? WG_GROUP_SYNC : wg_op_infos[in->op].group;
        bool jump = in->op == WG_OP_BRA && in->guard < 0;
        if (g != WG_GROUP_ALU && g != WG_GROUP_CVT && g != WG_GROUP_MOV && g != WG_GROUP_MEM && !jump)
            return -1;
        if (in->op == WG_OP_DIV || in->op == WG_OP_REM || (e->count[i] > 6 && g == WG_GROUP_ALU))
            return -1; /* a call of its own */
        loads += in->op == WG_OP_LD && in->space == WG_SPACE_GLOBAL;
        n += jump ? 0 : e->count[i];
    }
    /* what waits for a load from global memory is hoisted beside it and costs no branch more */
    return (int)(n > 2 * loads ? n - 2 * loads : 0);
}


/* The branch at the end of b jumps over one block, or chooses between two: do they run under guards? */
static bool becomes_guards(struct estimator *e, uint32_t b, const uint32_t *npred)
{
    const struct wg_bb *B = &e->g->bbs[b];
    if (B->nsucc != 2)
        return false;
    uint32_t s[2] = {B->succ[0], B->succ[1]}, join = B->ipdom;
    int limit = e->c->diverges[b] ? WG_MACHINE_GUARD_DIVERGENT : WG_MACHINE_GUARD_UNIFORM;
    if (join == e->g->nbb || is_end(e, join) || join <= b)
        return false;
    int total = 0;
    for (int k = 0; k < 2; k++) {
        if (s[k] == join)
            continue;
        if (s[k] <= b || s[k] >= e->g->nbb || e->g->bbs[s[k]].nsucc != 1 || e->g->bbs[s[k]].succ[0] != join || npred[s[k]] != 1)
            return false;
        int n = guardable(e, s[k]);
        if (n < 0)
            return false;
        total += n;
    }
    if (e->told ? told_branches(e, e->f->instrs[B->end - 1].ptx_line) : total > limit)
        return false;
    for (int k = 0; k < 2; k++)
        if (s[k] != join) {
            const struct wg_bb *S = &e->g->bbs[s[k]];
            e->with[s[k]] = (int32_t)b;
            if (e->f->instrs[S->end - 1].op == WG_OP_BRA)
                e->count[S->end - 1] = 0;
        }
    e->count[B->end - 1] = 0;
    if (e->with[b] == WG_MACHINE_OWN)
        e->with[b] = WG_MACHINE_NO_BRANCH;
    return true;
}

/* Where lanes that split come together again, one instruction remembers the place before and one waits there. */
static void meeting(struct estimator *e, uint32_t b, uint8_t *opened)
{
    const struct wg_bb *B = &e->g->bbs[b];
    uint32_t join = B->ipdom;
    const struct wg_instr *last = &e->f->instrs[B->end - 1];
    if (last->op != WG_OP_BRA || last->guard < 0 || !e->c->diverges[b] || join >= e->g->nbb || is_end(e, join) || opened[join])
        return;
    opened[join] = 1;
    uint32_t at = B->end - 1, target = last->ops[0].target;
    if (target <= B->first) /* a loop: before it is entered */
        at = plain_before(e, target);
    e->extra[at] = (uint16_t)(e->extra[at] + 2);
}

static bool branches(struct estimator *e, struct wg_arena *tmp)
{
    uint32_t n = e->g->nbb;
    uint32_t *npred = wg_arena_alloc(tmp, (n + 1) * sizeof *npred);
    uint8_t *opened = wg_arena_alloc(tmp, n + 1);
    if (!npred || !opened)
        return false;
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t k = 0; k < e->g->bbs[p].nsucc; k++)
            if (e->g->bbs[p].succ[k] < n)
                npred[e->g->bbs[p].succ[k]]++;
    for (uint32_t b = 0; b < n; b++) {
        const struct wg_instr *last = &e->f->instrs[e->g->bbs[b].end - 1];
        if (last->op != WG_OP_BRA || last->guard < 0 || becomes_guards(e, b, npred))
            continue;
        uint32_t target = last->ops[0].target;
        if (is_end(e, target < e->f->ninstrs ? e->g->bb_of[target] : n) && e->with[b] == WG_MACHINE_OWN)
            e->with[b] = WG_MACHINE_NO_BRANCH; /* a guarded exit */
        meeting(e, b, opened);
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- */

static void prologue(struct estimator *e)
{
    bool global = false;
    for (uint32_t i = 0; i < e->f->ninstrs; i++) {
        const struct wg_instr *in = &e->f->instrs[i];
        enum wg_group g = in->op == WG_OP_UNKNOWN ? WG_GROUP_FLOW : wg_op_infos[in->op].group;
        global |= (g == WG_GROUP_MEM || g == WG_GROUP_ATOM || g == WG_GROUP_ASYNC) &&
                  (in->space == WG_SPACE_GLOBAL || in->space == WG_SPACE_NONE);
    }
    /* the stack pointer, and from 8.0 on the descriptor that global accesses want */
    uint32_t at = 0;
    while (at < e->f->ninstrs && !is_plain(&e->f->instrs[at]))
        at++;
    if (e->f->is_entry && at < e->f->ninstrs)
        e->extra[at] = (uint16_t)(e->extra[at] + 1 + (global && e->sm >= 80));
}

bool wg_machine_estimate(const struct wg_function *f, const struct wg_cfg *g, const struct wg_classes *c,
                         const struct wg_merge *merge, const struct wg_ptxas_kernel *told, unsigned sm, struct wg_arena *a,
                         struct wg_machine *out)
{
    struct wg_arena tmp = {0};
    struct estimator e = {.f = f, .g = g, .c = c, .merge = merge, .sm = sm,
                          .told = told && told->nlines ? told : NULL};
    e.count = wg_arena_alloc(&tmp, (f->ninstrs + 1) * sizeof *e.count);
    out->hundredths = wg_arena_alloc(a, (f->ninstrs + 1) * sizeof *out->hundredths);
    e.extra = wg_arena_alloc(&tmp, (f->ninstrs + 1) * sizeof *e.extra);
    e.loop = wg_arena_alloc(&tmp, g->nbb + 1);
    e.with = out->with = wg_arena_alloc(a, (g->nbb + 1) * sizeof *e.with);
    e.def = wg_arena_alloc(&tmp, (f->nregs + 1) * sizeof *e.def);
    e.user = wg_arena_alloc(&tmp, (f->nregs + 1) * sizeof *e.user);
    e.uses = wg_arena_alloc(&tmp, (f->nregs + 1) * sizeof *e.uses);
    e.absorbed = wg_arena_alloc(&tmp, f->ninstrs + 1);
    e.sreg_seen = wg_arena_alloc(&tmp, WG_SREG_COUNT);
    bool ok = !a->failed && !tmp.failed;
    for (uint32_t r = 0; ok && r < f->nregs; r++)
        e.def[r] = e.user[r] = NOBODY;
    ok = ok && find_readers(&e, &tmp);
    if (ok)
        find_loops(&e);
    for (uint32_t b = 0; ok && b < g->nbb; b++) {
        e.with[b] = WG_MACHINE_OWN;
        for (uint32_t i = g->bbs[b].first; i < g->bbs[b].end; i++)
            e.count[i] = (uint16_t)alone(&e, i, b);
    }
    for (uint32_t i = 0; ok && i < f->ninstrs; i++)
        fold(&e, i);
    for (uint32_t i = 0; ok && i < f->ninstrs; i++)
        adjust(&e, i);
    ok = ok && branches(&e, &tmp);
    if (ok)
        prologue(&e);
    for (uint32_t i = 0; ok && i < f->ninstrs; i++)
        out->hundredths[i] = 100u * (e.count[i] + e.extra[i]);
    for (uint32_t b = 0; ok && b < g->nbb && !e.told; b++)
        if (unrolls(&e, b))
            unroll(&e, b, out->hundredths);
    if (ok && e.told)
        take_told(&e, out->hundredths);
    wg_arena_free(&tmp);
    return ok;
}
