/* lower.c - from PTX to what takes registers in machine code: folds, constants, uniform values, operands fetched. */
#include "model/lower.h"
#include "ptx/address.h"
#include <string.h>

enum { TOO_LARGE = 1 << 18, NOBODY = -1, MANY = -2, SKIPPED = -2, FETCHES = 16, MOST_GUARDED = 8 };
enum kind { PLAIN, CONSTANT, PARAMETER, UNIFORM, FOLDED };

struct lowering {
    const struct wg_function *f;
    unsigned sm;
    struct wg_arena *tmp;
    struct wg_lowered *out;
    int32_t *def;            /* the only instruction that writes a register, NOBODY or MANY */
    uint32_t *first, *users; /* instructions that read register r: users[first[r] .. first[r + 1]) */
    uint8_t *loops, *kept;   /* per instruction: it lies in a loop; per register: a loop keeps it in vector registers */
    uint8_t *kind, *needed, *diverges; /* per register; per instruction: somebody needs it; it may run for a part of a warp */
    uint32_t *block_of;
    int32_t *under;          /* per instruction: the predicate of a short branch that ptxas makes into guards; -1: none */
    size_t cap_ops, cap_reads, cap_writes, cap_targets, nreads, nwrites, ntargets, cap_values;
    /* operands fetched in the block at hand */
    struct { int32_t reg; uint32_t value; } fetched[FETCHES];
    uint32_t nfetched;
    bool failed;
};

struct regs { int32_t w[WG_ADDRESS_REGS], r[WG_ADDRESS_REGS]; uint32_t nw, nr; };

static void regs_of(const struct wg_instr *in, struct regs *v)
{
    if (!wg_address_regs(in, v->w, &v->nw, v->r, &v->nr))
        v->nw = v->nr = 0;
}

static bool is_float(enum wg_type t) { return wg_type_infos[t].kind == 'F'; }
static enum wg_type type_of(const struct wg_instr *in) { return in->ntypes ? (enum wg_type)in->type[0] : WG_T_NONE; }
static unsigned bytes_of(const struct wg_instr *in) { return wg_type_bytes(type_of(in)); }
static bool is_int(const struct wg_instr *in, unsigned bytes) { return !is_float(type_of(in)) && bytes_of(in) == bytes; }
static enum wg_group group_of(const struct wg_instr *in)
{
    return in->op == WG_OP_UNKNOWN ? WG_GROUP_SYNC : wg_op_infos[in->op].group;
}
static bool is_memory(const struct wg_instr *in)
{
    enum wg_group g = group_of(in);
    return g == WG_GROUP_MEM || g == WG_GROUP_ATOM || g == WG_GROUP_ASYNC || g == WG_GROUP_TENSOR;
}
static bool ends_block(const struct wg_instr *i)
{
    return i->op == WG_OP_BRA || i->op == WG_OP_BRX || i->op == WG_OP_BRX_IDX || i->op == WG_OP_RET ||
           i->op == WG_OP_EXIT || i->op == WG_OP_TRAP;
}
static bool only_computes(const struct wg_instr *in)
{
    enum wg_group g = group_of(in);
    return g == WG_GROUP_ALU || g == WG_GROUP_CVT || (g == WG_GROUP_MOV && in->op != WG_OP_ALLOCA) ||
           ((in->op == WG_OP_LD || in->op == WG_OP_LDU) && in->order <= WG_ORDER_WEAK);
}

/* ---- who defines and reads what -------------------------------------------------------------------------------- */

static bool find_users(struct lowering *l)
{
    const struct wg_function *f = l->f;
    struct regs v;
    uint32_t n = f->nregs;
    l->def = wg_arena_alloc(l->tmp, (n + 1) * sizeof *l->def);
    l->first = wg_arena_alloc(l->tmp, (n + 2) * sizeof *l->first);
    uint32_t *fill = wg_arena_alloc(l->tmp, (n + 1) * sizeof *fill);
    if (l->tmp->failed)
        return false;
    for (uint32_t r = 0; r < n; r++)
        l->def[r] = NOBODY;
    for (uint32_t i = 0; i < f->ninstrs; i++) {
        regs_of(&f->instrs[i], &v);
        for (uint32_t k = 0; k < v.nw; k++)
            l->def[v.w[k]] = l->def[v.w[k]] == NOBODY ? (int32_t)i : MANY;
        for (uint32_t k = 0; k < v.nr; k++)
            l->first[v.r[k] + 1]++;
    }
    for (uint32_t r = 0; r < n; r++)
        l->first[r + 1] += l->first[r];
    l->users = wg_arena_alloc(l->tmp, (l->first[n] + 1) * sizeof *l->users);
    if (!l->users)
        return false;
    for (uint32_t i = 0; i < f->ninstrs; i++) {
        regs_of(&f->instrs[i], &v);
        for (uint32_t k = 0; k < v.nr; k++)
            l->users[l->first[v.r[k]] + fill[v.r[k]]++] = i;
    }
    return true;
}

/* From what has an effect, backwards to a fixed point. */
static bool find_needed(struct lowering *l)
{
    const struct wg_function *f = l->f;
    uint8_t *wanted = wg_arena_alloc(l->tmp, f->nregs + 1);
    l->needed = wg_arena_alloc(l->tmp, f->ninstrs + 1);
    struct regs v;
    if (l->tmp->failed)
        return false;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = f->ninstrs; i-- > 0;) {
            if (l->needed[i])
                continue;
            regs_of(&f->instrs[i], &v);
            bool need = !only_computes(&f->instrs[i]);
            for (uint32_t k = 0; k < v.nw; k++)
                need |= wanted[v.w[k]];
            if (!need)
                continue;
            l->needed[i] = 1;
            changed = true;
            for (uint32_t k = 0; k < v.nr; k++)
                wanted[v.r[k]] = 1;
        }
    }
    return true;
}

static const struct wg_instr *maker(const struct lowering *l, int32_t r)
{
    return r >= 0 && l->def[r] >= 0 ? &l->f->instrs[l->def[r]] : NULL;
}

static bool all_users(const struct lowering *l, int32_t r, bool (*what)(const struct lowering *l, const struct wg_instr *in, int32_t r))
{
    for (uint32_t k = l->first[r]; k < l->first[r + 1]; k++)
        if (l->needed[l->users[k]] && !what(l, &l->f->instrs[l->users[k]], r))
            return false;
    return true;
}

static uint32_t count_users(const struct lowering *l, int32_t r)
{
    uint32_t n = 0;
    for (uint32_t k = l->first[r]; k < l->first[r + 1]; k++)
        n += l->needed[l->users[k]];
    return n;
}

/* Sources of the instruction keep their values until every reader of its result: each is written once, or lives in the
 * same block and is not written in between. */
static bool stable(const struct lowering *l, uint32_t at, int32_t result)
{
    struct regs v;
    regs_of(&l->f->instrs[at], &v);
    for (uint32_t k = 0; k < v.nr; k++) {
        if (l->def[v.r[k]] != MANY)
            continue;
        for (uint32_t u = l->first[result]; u < l->first[result + 1]; u++) {
            uint32_t to = l->users[u];
            if (l->block_of[to] != l->block_of[at] || to < at)
                return false;
            for (uint32_t i = at + 1; i < to; i++) {
                struct regs x;
                regs_of(&l->f->instrs[i], &x);
                for (uint32_t j = 0; j < x.nw; j++)
                    if (x.w[j] == v.r[k])
                        return false;
            }
        }
    }
    return true;
}

/* ---- what takes no register ------------------------------------------------------------------------------------ */

static bool adds_wide(const struct lowering *l, const struct wg_instr *in, int32_t r)
{
    (void)l, (void)r;
    return (in->op == WG_OP_ADD || in->op == WG_OP_SUB) && is_int(in, 8);
}
static bool scales_wide(const struct lowering *l, const struct wg_instr *in, int32_t r)
{
    return adds_wide(l, in, r) || (is_int(in, 8) && (in->op == WG_OP_SHL || in->op == WG_OP_MUL || in->op == WG_OP_MAD));
}
static bool adds(const struct lowering *l, const struct wg_instr *in, int32_t r)
{
    (void)l, (void)r;
    return (in->op == WG_OP_ADD || in->op == WG_OP_SUB) && is_int(in, 4);
}
static bool is_logic(const struct lowering *l, const struct wg_instr *in, int32_t r)
{
    (void)l, (void)r;
    return in->op == WG_OP_AND || in->op == WG_OP_OR || in->op == WG_OP_XOR || in->op == WG_OP_NOT || in->op == WG_OP_LOP3;
}
static bool takes_sign(const struct lowering *l, const struct wg_instr *in, int32_t r)
{
    (void)l, (void)r;
    return is_float(type_of(in)) && (in->op == WG_OP_ADD || in->op == WG_OP_SUB || in->op == WG_OP_MUL || in->op == WG_OP_FMA ||
                                     in->op == WG_OP_SETP || in->op == WG_OP_MIN || in->op == WG_OP_MAX);
}
static bool is_address(const struct lowering *l, const struct wg_instr *in, int32_t r)
{
    (void)l;
    if (!is_memory(in) || in->guard == r)
        return false;
    for (uint32_t k = 0; k < in->nops; k++) {
        if (in->ops[k].kind == WG_OPERAND_REG && in->ops[k].reg == r)
            return false;
        for (uint32_t x = 0; x < in->ops[k].nelems; x++)
            if (in->ops[k].elems[x].kind == WG_OPERAND_REG && in->ops[k].elems[x].reg == r)
                return false;
    }
    return true;
}
enum { WINDOW_CHANGES = 6 };

/* An address, or what only changes its window on the way to one. */
static bool leads_on(const struct lowering *l, const struct wg_instr *in, int32_t r, unsigned depth)
{
    if (is_address(l, in, r))
        return true;
    bool passes = in->op == WG_OP_CVTA || (in->op == WG_OP_MOV && in->nops == 2) ||
                  (in->op == WG_OP_CVT && in->ntypes == 2 && !is_float(in->type[0]) && !is_float(in->type[1]) &&
                   wg_type_bytes(in->type[0]) <= wg_type_bytes(in->type[1]));
    int32_t to = passes && in->guard < 0 && in->ops[0].kind == WG_OPERAND_REG ? in->ops[0].reg : -1;
    if (to < 0 || l->def[to] < 0 || in->ops[1].kind != WG_OPERAND_REG || in->ops[1].reg != r || depth >= WINDOW_CHANGES)
        return false;
    for (uint32_t k = l->first[to]; k < l->first[to + 1]; k++)
        if (l->needed[l->users[k]] && !leads_on(l, &l->f->instrs[l->users[k]], to, depth + 1))
            return false;
    return true;
}
static bool leads_to_address(const struct lowering *l, const struct wg_instr *in, int32_t r) { return leads_on(l, in, r, 0); }
static bool shortens(const struct lowering *l, const struct wg_instr *in, int32_t r)
{
    (void)l, (void)r;
    return in->op == WG_OP_CVT && in->ntypes == 2 && !is_float(in->type[0]) && !is_float(in->type[1]) &&
           wg_type_bytes(in->type[0]) <= 4;
}

static bool uniform_sreg(int32_t s)
{
    return s >= WG_SREG_NTID_X && s != WG_SREG_LANEID && s != WG_SREG_WARPID &&
           (strncmp(wg_isa_sreg_text((enum wg_sreg)s), "%ntid", 5) == 0 || strncmp(wg_isa_sreg_text((enum wg_sreg)s), "%ctaid", 6) == 0 ||
            strncmp(wg_isa_sreg_text((enum wg_sreg)s), "%nctaid", 7) == 0 || strncmp(wg_isa_sreg_text((enum wg_sreg)s), "%cluster", 8) == 0);
}

/* Operations of the uniform pipe. */
static bool uniform_op(const struct wg_instr *in)
{
    if (is_float(type_of(in)) || (in->ntypes > 1 && is_float(in->type[1])))
        return false;
    switch (in->op) {
    case WG_OP_ADD: case WG_OP_SUB: case WG_OP_MUL: case WG_OP_MAD: case WG_OP_SHL: case WG_OP_SHR: case WG_OP_AND: case WG_OP_OR:
    case WG_OP_XOR: case WG_OP_NOT: case WG_OP_LOP3: case WG_OP_NEG: case WG_OP_SETP: case WG_OP_SELP: case WG_OP_MOV:
    case WG_OP_CVT: case WG_OP_CVTA: case WG_OP_BFE: return true;
    default: return false;
    }
}

static bool reads_only_uniform(const struct lowering *l, const struct wg_instr *in)
{
    struct regs v;
    regs_of(in, &v);
    for (uint32_t k = 0; k < v.nr; k++)
        if (l->kind[v.r[k]] == PLAIN || l->kind[v.r[k]] == FOLDED)
            return false;
    for (uint32_t k = 0; k < in->nops; k++)
        if (in->ops[k].kind == WG_OPERAND_SREG && !uniform_sreg(in->ops[k].sreg))
            return false;
    return true;
}

/* Marks what runs for a part of a warp only: behind a branch whose condition differs between lanes, up to its target. An
 * early exit splits nothing that matters. */
static void mark_divergent(struct lowering *l)
{
    const struct wg_function *f = l->f;
    memset(l->diverges, 0, f->ninstrs);
    for (uint32_t i = 0; i < f->ninstrs; i++) {
        const struct wg_instr *in = &f->instrs[i];
        if (in->op != WG_OP_BRA || in->guard < 0 || l->kind[in->guard] == UNIFORM || l->kind[in->guard] == CONSTANT)
            continue;
        uint32_t to = in->ops[0].target;
        if (to >= f->ninstrs || f->instrs[to].op == WG_OP_RET || f->instrs[to].op == WG_OP_EXIT)
            continue;
        for (uint32_t x = to < i ? to : i + 1; x < (to < i ? i + 1 : to); x++)
            l->diverges[x] = 1;
    }
}

/* Optimistic: everything that could be uniform is, until a definition says otherwise. */
static void find_uniform(struct lowering *l)
{
    const struct wg_function *f = l->f;
    struct regs v;
    for (uint32_t r = 0; r < f->nregs; r++)
        l->kind[r] = l->def[r] == NOBODY ? PLAIN : UNIFORM;
    for (bool changed = true; changed;) {
        changed = false;
        mark_divergent(l);
        for (uint32_t i = 0; i < f->ninstrs; i++) {
            const struct wg_instr *in = &f->instrs[i];
            bool param = in->op == WG_OP_LD && in->space == WG_SPACE_PARAM && f->is_entry;
            bool ok = (param || uniform_op(in)) && reads_only_uniform(l, in);
            regs_of(in, &v);
            for (uint32_t k = 0; k < v.nw; k++)
                if (l->kind[v.w[k]] == UNIFORM && (!ok || (l->def[v.w[k]] == MANY && (l->diverges[i] || l->sm < 80)))) {
                    l->kind[v.w[k]] = PLAIN;
                    changed = true;
                }
        }
    }
}

static void find_constants(struct lowering *l)
{
    const struct wg_function *f = l->f;
    struct regs v;
    for (uint32_t i = 0; i < f->ninstrs; i++) {
        const struct wg_instr *in = &f->instrs[i];
        regs_of(in, &v);
        bool param = in->op == WG_OP_LD && in->space == WG_SPACE_PARAM && f->is_entry && v.nr == 0;
        bool move = (in->op == WG_OP_MOV || in->op == WG_OP_CVTA) && in->nops == 2;
        const struct wg_operand *o = move ? &in->ops[1] : NULL;
        int kind = PLAIN;
        if (param)
            kind = PARAMETER;
        else if (move && (o->kind == WG_OPERAND_IMM || o->kind == WG_OPERAND_SYMBOL))
            kind = CONSTANT;
        else if (move && o->kind == WG_OPERAND_REG && o->reg >= 0 && (l->kind[o->reg] == CONSTANT || l->kind[o->reg] == PARAMETER))
            kind = l->kind[o->reg];
        else if (in->op == WG_OP_MOV && o && o->kind == WG_OPERAND_SREG &&
                 (strncmp(wg_isa_sreg_text((enum wg_sreg)o->sreg), "%ntid", 5) == 0 ||
                  strncmp(wg_isa_sreg_text((enum wg_sreg)o->sreg), "%nctaid", 7) == 0))
            kind = PARAMETER;
        for (uint32_t k = 0; kind != PLAIN && k < v.nw; k++)
            if (l->def[v.w[k]] >= 0)
                l->kind[v.w[k]] = (uint8_t)kind;
    }
    /* before the uniform pipe, what is computed of constants takes registers */
    for (uint32_t r = 0; r < f->nregs && l->sm < 75; r++)
        if (l->kind[r] == UNIFORM)
            l->kind[r] = PLAIN;
}

static bool is_reg(const struct wg_instr *in, uint32_t k) { return k < in->nops && in->ops[k].kind == WG_OPERAND_REG && in->ops[k].reg >= 0; }

static bool is_const_operand(const struct lowering *l, const struct wg_instr *in, uint32_t k)
{
    return k < in->nops && (in->ops[k].kind == WG_OPERAND_IMM || (is_reg(in, k) && l->kind[in->ops[k].reg] == CONSTANT));
}

/* Has it taken in another instruction already? */
static bool is_taken(const struct lowering *l, const struct wg_instr *in)
{
    for (uint32_t k = 1; k < in->nops; k++)
        if (is_reg(in, k) && l->kind[in->ops[k].reg] == FOLDED)
            return true;
    return false;
}

/* May the instruction that makes register r be a part of all its readers? */
static bool folds(const struct lowering *l, const struct wg_instr *in, int32_t r)
{
    uint32_t n = count_users(l, r);
    switch (in->op) {
    case WG_OP_MUL:
        if (in->half == WG_HALF_WIDE || is_int(in, 8))
            return is_const_operand(l, in, 2) && all_users(l, r, adds_wide);
        return is_int(in, 4) && n == 1 && all_users(l, r, adds);
    case WG_OP_SHL:
        if (is_int(in, 8))
            return is_const_operand(l, in, 2) && all_users(l, r, adds_wide);
        return is_int(in, 4) && n <= 2 && is_const_operand(l, in, 2) && all_users(l, r, adds);
    case WG_OP_ADD:
        if (is_const_operand(l, in, 2) && all_users(l, r, leads_to_address))
            return !is_float(type_of(in));
        return is_int(in, 4) && n == 1 && !is_taken(l, in) && all_users(l, r, adds);
    case WG_OP_CVT: {
        if (in->ntypes < 2 || is_float(in->type[0]) || is_float(in->type[1]) || (in->flags & WG_FLAG(SAT)))
            return false;
        unsigned to = wg_type_bytes(in->type[0]), from = wg_type_bytes(in->type[1]);
        if (to <= from)
            return true;
        if (to == 8 && from == 4)
            return wg_type_infos[in->type[1]].kind != 'S' || all_users(l, r, scales_wide);
        const struct wg_instr *m = is_reg(in, 1) ? maker(l, in->ops[1].reg) : NULL;
        return m && m->op == WG_OP_LD;
    }
    case WG_OP_NEG: case WG_OP_ABS: return is_float(type_of(in)) && all_users(l, r, takes_sign);
    case WG_OP_AND: case WG_OP_OR: case WG_OP_XOR: case WG_OP_NOT: 
        return is_int(in, 4) && n == 1 && !is_taken(l, in) && all_users(l, r, is_logic);
    case WG_OP_MOV: {
        const struct wg_operand *d = &in->ops[0], *s = &in->ops[in->nops - 1];
        if (d->kind == WG_OPERAND_VEC)
            return true;
        return s->kind == WG_OPERAND_VEC ? bytes_of(in) >= 8 : s->kind == WG_OPERAND_REG && !l->kept[r];
    }
    case WG_OP_CVTA: return !l->kept[r];
    default: return false;
    }
}

static void find_folds(struct lowering *l)
{
    const struct wg_function *f = l->f;
    struct regs v;
    for (uint32_t i = 0; i < f->ninstrs; i++) {
        const struct wg_instr *in = &f->instrs[i];
        if (!l->needed[i] || in->guard >= 0)
            continue;
        regs_of(in, &v);
        for (uint32_t k = 0; k < v.nw; k++)
            if (l->def[v.w[k]] >= 0 && l->kind[v.w[k]] == PLAIN && f->regs[v.w[k]].type != WG_T_PRED && folds(l, in, v.w[k]) &&
                stable(l, i, v.w[k]))
                l->kind[v.w[k]] = FOLDED;
    }
}

static unsigned weight_of(const struct wg_reg *r)
{
    unsigned bytes = wg_type_bytes((enum wg_type)r->type);
    return r->type == WG_T_PRED ? 0 : bytes <= 4 ? 1 : bytes / 4;
}

/* Is register r wanted in vector registers by this instruction, though it lies in the constant bank or is uniform? */
static bool wants_vector(const struct lowering *l, const struct wg_instr *in, int32_t r)
{
    if (is_memory(in) && in->space != WG_SPACE_PARAM && in->guard != r)
        return weight_of(&l->f->regs[r]) == 2 || in->op == WG_OP_ATOM || in->op == WG_OP_RED || !is_address(l, in, r);
    if (l->kind[r] != PARAMETER || l->sm < 90 || !adds_wide(l, in, r))
        return false;
    /* beside a product or a scaled 32-bit index it is the third operand of a multiply-add of pairs */
    for (uint32_t k = 1; k < in->nops; k++) {
        const struct wg_instr *m = is_reg(in, k) && in->ops[k].reg != r ? maker(l, in->ops[k].reg) : NULL;
        if (m && m->op == WG_OP_SHL && is_reg(m, 1))
            m = maker(l, m->ops[1].reg);
        if (m && ((m->op == WG_OP_MUL && m->half == WG_HALF_WIDE) ||
                  (m->op == WG_OP_CVT && m->ntypes == 2 && wg_type_bytes(m->type[1]) == 4)))
            return true;
    }
    return false;
}

/* Loops: blocks between the target of a jump back and the jump. */
static bool find_loops(struct lowering *l)
{
    const struct wg_function *f = l->f;
    l->loops = wg_arena_alloc(l->tmp, f->ninstrs + 1);
    for (uint32_t i = 0; l->loops && i < f->ninstrs; i++)
        for (uint32_t k = 0; f->instrs[i].op == WG_OP_BRA && k < f->instrs[i].nops; k++)
            for (uint32_t x = f->instrs[i].ops[k].target; f->instrs[i].ops[k].kind == WG_OPERAND_LABEL && x <= i; x++)
                l->loops[x] = 1;
    return l->loops != NULL;
}

/* What a loop wants in vector registers is fetched before it and stays there. */
static void keep_for_loops(struct lowering *l)
{
    const struct wg_function *f = l->f;
    struct regs v;
    for (uint32_t i = 0; i < f->ninstrs; i++) {
        if (!l->needed[i] || !l->loops[i])
            continue;
        regs_of(&f->instrs[i], &v);
        for (uint32_t k = 0; k < v.nr; k++)
            if ((l->kind[v.r[k]] == PARAMETER || l->kind[v.r[k]] == UNIFORM) && wants_vector(l, &f->instrs[i], v.r[k]))
                l->kept[v.r[k]] = 1;
    }
    for (uint32_t r = 0; r < f->nregs; r++)
        if (l->kept[r])
            l->kind[r] = PLAIN;
}

/* ---- operations ------------------------------------------------------------------------------------------------ */

static uint32_t new_value(struct lowering *l, unsigned weight)
{
    struct wg_lowered *o = l->out;
    size_t cap = l->cap_values;
    o->weight = wg_arena_grow(l->tmp, o->weight, o->nvalues + 1, &cap, 1);
    l->cap_values = cap;
    if (!o->weight) {
        l->failed = true;
        return 0;
    }
    o->weight[o->nvalues] = (uint8_t)weight;
    return o->nvalues++;
}

static struct wg_lower_op *new_op(struct lowering *l, uint32_t instr)
{
    struct wg_lowered *o = l->out;
    o->ops = wg_arena_grow(l->tmp, o->ops, o->nops + 1, &l->cap_ops, sizeof *o->ops);
    if (!o->ops) {
        l->failed = true;
        return NULL;
    }
    o->ops[o->nops] = (struct wg_lower_op){.instr = instr, .read = (uint32_t)l->nreads, .write = (uint32_t)l->nwrites, .latency = 4,
                                              .base = -1};
    return &o->ops[o->nops++];
}

static void put(struct lowering *l, uint32_t **list, size_t *n, size_t *cap, uint32_t v)
{
    *list = wg_arena_grow(l->tmp, *list, *n + 1, cap, sizeof **list);
    if (*list)
        (*list)[(*n)++] = v;
    else
        l->failed = true;
}

static void put_read(struct lowering *l, uint32_t first, uint32_t v)
{
    for (size_t k = first; k < l->nreads; k++)
        if (l->out->reads[k] == v)
            return;
    put(l, &l->out->reads, &l->nreads, &l->cap_reads, v);
}

/* The value of a parameter or uniform register in vector registers, fetched once a block; written before its readers. */
static uint32_t fetch(struct lowering *l, int32_t reg, unsigned weight)
{
    for (uint32_t k = 0; k < l->nfetched; k++)
        if (l->fetched[k].reg == reg)
            return l->fetched[k].value;
    uint32_t v = new_value(l, weight);
    struct wg_lower_op *op = new_op(l, UINT32_MAX);
    if (!op)
        return v;
    op->latency = l->kind[reg] == UNIFORM ? 6 : 20;
    put(l, &l->out->writes, &l->nwrites, &l->cap_writes, v);
    op->nwrites = 1;
    if (l->nfetched < FETCHES) {
        l->fetched[l->nfetched].reg = reg;
        l->fetched[l->nfetched++].value = v;
    }
    return v;
}

static void reads_of(struct lowering *l, const struct wg_instr *in, uint32_t first, unsigned depth, bool fetches)
{
    struct regs v;
    regs_of(in, &v);
    for (uint32_t k = 0; k < v.nr; k++) {
        int32_t r = v.r[k];
        switch (l->kind[r]) {
        case FOLDED:
            if (depth < 6)
                reads_of(l, maker(l, r), first, depth + 1, fetches);
            break;
        case PLAIN:
            if (!fetches)
                put_read(l, first, (uint32_t)r);
            break;
        case CONSTANT: break;
        default:
            if (wants_vector(l, in, r)) {
                uint32_t value = fetch(l, r, weight_of(&l->f->regs[r]));
                if (!fetches)
                    put_read(l, first, value);
            }
        }
    }
}

/* Where an access lies: a register that is not folded and what is added to it. */
static void find_base(const struct lowering *l, const struct wg_instr *in, struct wg_lower_op *op)
{
    uint32_t at = in->op == WG_OP_LD;
    op->base = -1;
    if ((in->op != WG_OP_LD && in->op != WG_OP_ST) || in->nops <= at)
        return;
    const struct wg_operand *o = &in->ops[at];
    if (o->kind != WG_OPERAND_MEM || o->reg < 0)
        return;
    int32_t r = o->reg;
    op->offset = o->imm;
    op->bytes = (uint8_t)(bytes_of(in) * wg_vec_width((enum wg_vec)in->vec));
    for (int k = 0; k < 8 && l->kind[r] == FOLDED; k++) {
        const struct wg_instr *m = maker(l, r);
        if (m->op != WG_OP_ADD || !is_reg(m, 1) || m->ops[2].kind != WG_OPERAND_IMM)
            return;
        op->offset += m->ops[2].imm;
        r = m->ops[1].reg;
    }
    op->base = r;
}

static void place(const struct wg_instr *in, struct wg_lower_op *op)
{
    enum wg_group g = group_of(in);
    op->where = in->space == WG_SPACE_GLOBAL ? WG_LOWER_GLOBAL : in->space == WG_SPACE_SHARED ? WG_LOWER_SHARED
                : in->space == WG_SPACE_LOCAL ? WG_LOWER_LOCAL : WG_LOWER_ANYWHERE;
    if (in->op == WG_OP_LD || in->op == WG_OP_LDU) {
        bool fixed = in->space == WG_SPACE_PARAM || in->space == WG_SPACE_CONST || (in->flags & WG_FLAG(NC));
        op->memory = in->order > WG_ORDER_WEAK ? WG_LOWER_FENCE : fixed ? WG_LOWER_LOAD_CONSTANT : WG_LOWER_LOAD;
    } else if (g == WG_GROUP_TEX) {
        op->memory = WG_LOWER_LOAD_CONSTANT;
    } else if (in->op == WG_OP_LDMATRIX) {
        op->memory = WG_LOWER_LOAD;
        op->where = WG_LOWER_SHARED;
    } else if (in->op == WG_OP_ST || g == WG_GROUP_ATOM) {
        op->memory = WG_LOWER_STORE;
    } else if (g == WG_GROUP_SYNC || g == WG_GROUP_ASYNC || g == WG_GROUP_WARP || in->op == WG_OP_CALL) {
        op->memory = g == WG_GROUP_WARP ? WG_LOWER_NO_MEMORY : WG_LOWER_FENCE;
    }
}

/* Cycles until the result, roughly what a compiler assumes; and registers of its own. */
static void cost(const struct wg_instr *in, struct wg_lower_op *op)
{
    static const struct { uint16_t op; uint8_t word, wide, single, twice; } temps[] = {
#define WG_TEMPS(op, word, wide, single, twice) {WG_OP_##op, word, wide, single, twice},
#include "model/temps.def"
#undef WG_TEMPS
    };
    enum wg_group g = group_of(in);
    enum wg_type t = type_of(in);
    bool wide = bytes_of(in) == 8;
    bool fast = in->flags & (WG_FLAG(APPROX) | WG_FLAG(FULL));
    for (size_t k = 0; k < sizeof temps / sizeof *temps; k++)
        if (temps[k].op == in->op)
            op->temps = is_float(t) ? (wide ? temps[k].twice : fast ? 1 : temps[k].single) : wide ? temps[k].wide : temps[k].word;
    op->latency = 4;
    if (op->memory == WG_LOWER_LOAD || op->memory == WG_LOWER_LOAD_CONSTANT || g == WG_GROUP_ATOM)
        op->latency = op->where == WG_LOWER_SHARED ? 24 : 200;
    else if (g == WG_GROUP_WARP || g == WG_GROUP_TENSOR)
        op->latency = 24;
    else if (op->temps)
        op->latency = 60;
    else if (is_float(t) && wide)
        op->latency = 8;
    else if (g == WG_GROUP_CVT || in->op == WG_OP_RCP || in->op == WG_OP_EX2 || in->op == WG_OP_SIN || in->op == WG_OP_COS)
        op->latency = 16;
}

static bool is_free(const struct lowering *l, const struct wg_instr *in, const struct regs *v)
{
    if (!only_computes(in))
        return false;
    for (uint32_t k = 0; k < v->nw; k++)
        if (l->kind[v->w[k]] == PLAIN)
            return false;
    return v->nw > 0;
}

static void lower(struct lowering *l, uint32_t i)
{
    const struct wg_instr *in = &l->f->instrs[i];
    struct regs v;
    regs_of(in, &v);
    if (!l->needed[i] || is_free(l, in, &v) || l->under[i] == SKIPPED)
        return;
    reads_of(l, in, 0, 0, true); /* operands fetched come first */
    struct wg_lower_op *op = new_op(l, i);
    if (!op)
        return;
    uint32_t at = l->out->nops - 1;
    reads_of(l, in, op->read, 0, false);
    op = &l->out->ops[at];
    if (l->under[i] >= 0 && l->kind[l->under[i]] == PLAIN)
        put_read(l, op->read, (uint32_t)l->under[i]);
    op->nreads = (uint32_t)l->nreads - op->read;
    for (uint32_t k = 0; k < v.nw; k++)
        if (l->kind[v.w[k]] == PLAIN)
            put(l, &l->out->writes, &l->nwrites, &l->cap_writes, (uint32_t)v.w[k]);
    op->nwrites = (uint32_t)l->nwrites - op->write;
    op->guarded = false; /* a guarded write keeps the old value where there is one */
    for (uint32_t k = 0; k < v.nw && (in->guard >= 0 || l->under[i] >= 0); k++)
        op->guarded |= l->def[v.w[k]] == MANY;
    op->last = ends_block(in);
    op->call = in->op == WG_OP_CALL;
    l->out->calls_abi |= op->call;
    find_base(l, in, op);
    place(in, op);
    cost(in, op);
}

/* ---- blocks ---------------------------------------------------------------------------------------------------- */

/* A forward branch over a few instructions that nobody else jumps into, or to whose end: they run under a guard. */
static bool becomes_guard(const struct lowering *l, uint32_t i, const uint32_t *aims)
{
    const struct wg_instr *in = &l->f->instrs[i];
    uint32_t to = in->ops[0].target, n = 0, most = MOST_GUARDED;
    if (in->op != WG_OP_BRA || in->guard < 0 || to <= i + 1 || to >= l->f->ninstrs || to - i > 40 || aims[to] != 1 ||
        l->f->instrs[to].op == WG_OP_RET || l->f->instrs[to].op == WG_OP_EXIT)
        return false;
    for (uint32_t k = i + 1; k < to; k++) {
        const struct wg_instr *x = &l->f->instrs[k];
        enum wg_group g = group_of(x);
        if (aims[k] || (g != WG_GROUP_ALU && g != WG_GROUP_CVT && g != WG_GROUP_MOV && g != WG_GROUP_MEM) ||
            x->op == WG_OP_DIV || x->op == WG_OP_REM || x->op == WG_OP_SQRT || x->guard >= 0)
            return false;
        n += g != WG_GROUP_MOV && g != WG_GROUP_CVT;
        most += x->op == WG_OP_LD ? 2 : 0;
    }
    return n <= most;
}

static bool find_guards(struct lowering *l, uint8_t *leader)
{
    const struct wg_function *f = l->f;
    uint32_t *aims = wg_arena_alloc(l->tmp, (f->ninstrs + 2) * sizeof *aims);
    l->under = wg_arena_alloc(l->tmp, (f->ninstrs + 2) * sizeof *l->under);
    if (l->tmp->failed)
        return false;
    for (uint32_t i = 0; i < f->ninstrs; i++)
        for (uint32_t k = 0; k < f->instrs[i].nops; k++) {
            const struct wg_operand *o = &f->instrs[i].ops[k];
            if (o->kind == WG_OPERAND_LABEL && !o->nelems)
                aims[o->target]++;
            for (uint32_t e = 0; o->kind == WG_OPERAND_LABEL && e < o->nelems; e++)
                aims[o->elems[e].target] += 2;
        }
    for (uint32_t i = 0; i < f->ninstrs; i++)
        l->under[i] = NOBODY;
    for (uint32_t i = 0; i < f->ninstrs; i++) {
        const struct wg_instr *in = &f->instrs[i];
        if (in->op != WG_OP_BRA || !becomes_guard(l, i, aims))
            continue;
        leader[i + 1] = leader[in->ops[0].target] = 0;
        l->under[i] = SKIPPED;
        for (uint32_t k = i + 1; k < in->ops[0].target; k++)
            l->under[k] = in->guard;
    }
    return true;
}

static bool find_blocks(struct lowering *l)
{
    const struct wg_function *f = l->f;
    uint8_t *leader = wg_arena_alloc(l->tmp, f->ninstrs + 2);
    l->block_of = wg_arena_alloc(l->tmp, (f->ninstrs + 2) * sizeof *l->block_of);
    if (l->tmp->failed)
        return false;
    leader[0] = 1;
    for (uint32_t i = 0; i < f->ninstrs; i++) {
        const struct wg_instr *in = &f->instrs[i];
        for (uint32_t k = 0; k < in->nops; k++) {
            const struct wg_operand *o = &in->ops[k];
            if (o->kind == WG_OPERAND_LABEL && !o->nelems)
                leader[o->target] = 1;
            for (uint32_t e = 0; o->kind == WG_OPERAND_LABEL && e < o->nelems; e++)
                leader[o->elems[e].target] = 1;
        }
        if (ends_block(in))
            leader[i + 1] = 1;
    }
    if (!find_guards(l, leader))
        return false;
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->ninstrs; i++)
        l->block_of[i] = (n += leader[i]) - 1;
    l->block_of[f->ninstrs] = n;
    l->out->nblocks = n;
    l->out->blocks = wg_arena_alloc(l->tmp, (n + 1) * sizeof *l->out->blocks);
    return l->out->blocks != NULL;
}

static void follow(struct lowering *l, struct wg_lower_block *b, uint32_t last)
{
    const struct wg_instr *in = &l->f->instrs[last];
    b->more = (uint32_t)l->ntargets;
    for (uint32_t k = 0; k < in->nops && ends_block(in); k++) {
        const struct wg_operand *o = &in->ops[k];
        if (o->kind == WG_OPERAND_LABEL && !o->nelems)
            put(l, &l->out->targets, &l->ntargets, &l->cap_targets, l->block_of[o->target]);
        for (uint32_t e = 0; o->kind == WG_OPERAND_LABEL && e < o->nelems; e++)
            put(l, &l->out->targets, &l->ntargets, &l->cap_targets, l->block_of[o->elems[e].target]);
    }
    if (!ends_block(in) || in->guard >= 0)
        put(l, &l->out->targets, &l->ntargets, &l->cap_targets, l->block_of[last + 1]);
    b->nmore = (uint32_t)l->ntargets - b->more;
}

/* wmma.load of a and b in 16 bits names each element twice; the machine's fragment holds it once. */
static void halve_fragments(struct lowering *l)
{
    for (uint32_t i = 0; i < l->f->ninstrs; i++) {
        const struct wg_instr *in = &l->f->instrs[i];
        bool load = (in->op == WG_OP_WMMA_LOAD_A || in->op == WG_OP_WMMA_LOAD_B) && in->nops &&
                    in->ops[0].kind == WG_OPERAND_VEC && in->ops[0].nelems == 8;
        for (uint32_t k = 4; load && k < 8; k++)
            if (in->ops[0].elems[k].kind == WG_OPERAND_REG)
                l->out->weight[in->ops[0].elems[k].reg] = 0;
    }
}

/* ---- loops ----------------------------------------------------------------------------------------------------- */

enum { ROUNDS = 4, MOST_UNROLLED = 40 };

/* .pragma "nounroll" stands between the statement before a loop and its first. */
static bool kept_rolled(const struct wg_function *f, uint32_t first)
{
    const char *to = f->instrs[first].text, *from = first ? f->instrs[first - 1].text + f->instrs[first - 1].text_len : NULL;
    return from && to > from && memmem(from, (size_t)(to - from), "nounroll", 8);
}

/* The constant that is added to a register in each round of a loop, to it or to what it is copied from; 0: none. */
static int64_t step_of(const struct lowering *l, int32_t r, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i <= last; i++) {
        const struct wg_instr *in = &l->f->instrs[i];
        if ((in->op != WG_OP_ADD && in->op != WG_OP_SUB) || is_float(type_of(in)) || !is_reg(in, 0) || !is_reg(in, 1) ||
            in->nops < 3 || in->ops[2].kind != WG_OPERAND_IMM || l->def[in->ops[1].reg] != MANY)
            continue;
        int32_t to = in->ops[0].reg, from = in->ops[1].reg;
        bool back = to == from;
        for (uint32_t k = i + 1; k <= last && !back; k++)
            back = l->f->instrs[k].op == WG_OP_MOV && is_reg(&l->f->instrs[k], 0) && l->f->instrs[k].ops[0].reg == from &&
                   is_reg(&l->f->instrs[k], 1) && l->f->instrs[k].ops[1].reg == to;
        if (back && (r == from || r == to))
            return in->op == WG_OP_ADD ? in->ops[2].imm : -in->ops[2].imm;
    }
    return 0;
}

/* A small loop of one block that counts in steps, alike for the whole warp: ptxas does four rounds at once. */
static bool unrolls(const struct lowering *l, const struct wg_lower_block *b, uint32_t first, uint32_t last)
{
    const struct wg_instr *in = &l->f->instrs[last];
    if (in->op != WG_OP_BRA || in->guard < 0 || in->ops[0].target != first || b->nops < 2 || b->nops > MOST_UNROLLED ||
        kept_rolled(l->f, first))
        return false;
    for (uint32_t i = first; i < last; i++) {
        enum wg_group g = group_of(&l->f->instrs[i]);
        if (g != WG_GROUP_ALU && g != WG_GROUP_CVT && g != WG_GROUP_MOV && g != WG_GROUP_MEM)
            return false;
    }
    const struct wg_instr *test = maker(l, in->guard);
    if (!test || test->op != WG_OP_SETP)
        return false;
    for (uint32_t k = 1; k < test->nops && k < 3; k++)
        if (is_reg(test, k) && step_of(l, test->ops[k].reg, first, last))
            return true;
    return false;
}

static void again(struct lowering *l, struct wg_lower_block *b, uint32_t first, uint32_t last)
{
    struct wg_lowered *o = l->out;
    uint32_t n = b->nops, nvalues = o->nvalues;
    uint32_t *name = wg_arena_alloc(l->tmp, (nvalues + 1) * sizeof *name);
    bool ends = o->ops[b->op + n - 1].last;
    if (!name)
        return;
    if (ends) { /* the jump goes behind the last round */
        n--;
        o->nops--;
    }
    struct wg_lower_op jump = o->ops[b->op + n];
    uint8_t *steps = wg_arena_alloc(l->tmp, n + 1);
    if (!steps)
        return;
    for (uint32_t k = 0; k < n; k++) {
        const struct wg_lower_op *op = &o->ops[b->op + k];
        steps[k] = op->nwrites == 1 && op->nreads <= 1 && o->writes[op->write] < o->nregs &&
                   step_of(l, (int32_t)o->writes[op->write], first, last) != 0;
    }
    for (int round = 1; round < ROUNDS && !l->failed; round++) {
        for (uint32_t v = 0; v < nvalues; v++)
            name[v] = v;
        for (uint32_t k = 0; k < n && !l->failed; k++) {
            struct wg_lower_op from = o->ops[b->op + k];
            if (steps[k] && round + 1 < ROUNDS)
                continue; /* the others add a constant to its value */
            struct wg_lower_op *to = new_op(l, from.instr);
            if (!to)
                return;
            uint32_t at = o->nops - 1, read = to->read, write = to->write;
            for (uint32_t r = 0; r < from.nreads; r++)
                put(l, &o->reads, &l->nreads, &l->cap_reads, name[o->reads[from.read + r]]);
            for (uint32_t w = 0; w < from.nwrites && !l->failed; w++) {
                uint32_t v = o->writes[from.write + w];
                bool own = v >= o->nregs;
                if (!own && l->def[v] >= 0) {
                    own = true;
                    for (uint32_t u = l->first[v]; u < l->first[v + 1]; u++)
                        own &= l->users[u] >= first && l->users[u] <= last && l->users[u] > (uint32_t)l->def[v];
                }
                name[v] = own ? new_value(l, o->weight[v]) : v;
                put(l, &o->writes, &l->nwrites, &l->cap_writes, name[v]);
            }
            o->ops[at] = from;
            o->ops[at].read = read;
            o->ops[at].write = write;
            if (from.base >= 0)
                o->ops[at].offset += round * step_of(l, from.base, first, last);
        }
    }
    uint32_t kept = 0;
    for (uint32_t k = 0; k < o->nops - b->op; k++)
        if (k >= n || !steps[k])
            o->ops[b->op + kept++] = o->ops[b->op + k];
    o->nops = b->op + kept;
    if (ends && !l->failed) {
        struct wg_lower_op *op = new_op(l, jump.instr);
        if (op)
            *op = jump;
    }
}

enum wg_status wg_lower(const struct wg_function *f, unsigned sm, struct wg_arena *a, struct wg_lowered *out)
{
    struct lowering l = {.f = f, .sm = sm, .tmp = a, .out = out};
    *out = (struct wg_lowered){.nregs = f->nregs, .nvalues = f->nregs};
    if (f->ninstrs > TOO_LARGE || f->nregs > TOO_LARGE)
        return WG_UNSUPPORTED;
    l.kind = wg_arena_alloc(a, f->nregs + 1);
    l.kept = wg_arena_alloc(a, f->nregs + 1);
    l.diverges = wg_arena_alloc(a, f->ninstrs + 1);
    l.cap_values = f->nregs + 64;
    out->weight = wg_arena_alloc(a, l.cap_values);
    if (a->failed || !find_blocks(&l) || !find_users(&l) || !find_needed(&l))
        return WG_NO_MEMORY;
    find_uniform(&l);
    find_constants(&l);
    if (!find_loops(&l))
        return WG_NO_MEMORY;
    keep_for_loops(&l);
    find_folds(&l);
    for (uint32_t r = 0; r < f->nregs; r++) {
        unsigned w = weight_of(&f->regs[r]);
        if (w == 2 && l.kind[r] == PLAIN && l.first[r] < l.first[r + 1] && all_users(&l, (int32_t)r, shortens))
            w = 1;
        out->weight[r] = (uint8_t)w;
    }
    halve_fragments(&l);
    for (uint32_t i = 0, first = 0; i < f->ninstrs && !l.failed; i++) {
        struct wg_lower_block *b = &out->blocks[l.block_of[i]];
        if (i == 0 || l.block_of[i] != l.block_of[i - 1]) {
            b->op = out->nops;
            first = i;
            l.nfetched = 0;
        }
        lower(&l, i);
        if (i + 1 == f->ninstrs || l.block_of[i + 1] != l.block_of[i]) {
            b->nops = out->nops - b->op;
            if (unrolls(&l, b, first, i))
                again(&l, b, first, i);
            b->nops = out->nops - b->op;
            follow(&l, b, i);
        }
    }
    return l.failed || a->failed ? WG_NO_MEMORY : WG_OK;
}
