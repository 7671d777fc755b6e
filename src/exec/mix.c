/* mix.c - slots and latencies of basic blocks, as mix.h tells. */
#include "exec/mix.h"
#include <string.h>

enum unit { UNIT_NONE, UNIT_FMA, UNIT_ALU, UNIT_IMAD, UNIT_FP64, UNIT_XU, UNIT_LSU, UNIT_CBU, UNIT_TENSOR, UNITS };
/* cycles a warp occupies the unit of one scheduler: 32 lanes over its width */
static const uint8_t unit_cycles[UNITS] = {0, 1, 2, 2, 2, 8, 1, 2, 16};
enum cost_id {
#define WG_COST(id, unit, n, latency) COST_##id,
#include "exec/costs.def"
#undef WG_COST
    COSTS
};
static const struct cost { uint8_t unit, n, latency; } costs[COSTS] = {
#define WG_COST(id, unit, n, latency) {UNIT_##unit, n, latency},
#include "exec/costs.def"
#undef WG_COST
};

static enum cost_id memory_cost(const struct wg_instr *in)
{
    bool load = in->op == WG_OP_LD || in->op == WG_OP_LDU;
    switch (in->space) {
    case WG_SPACE_PARAM: return COST_FREE;
    case WG_SPACE_CONST: return load ? COST_CONST : COST_STORE;
    case WG_SPACE_SHARED: case WG_SPACE_SHARED_CLUSTER: return load ? COST_SHARED : COST_STORE;
    default: return load ? COST_GLOBAL : COST_STORE;
    }
}

static enum cost_id arithmetic_cost(const struct wg_instr *in)
{
    enum wg_type t = in->ntypes ? (enum wg_type)in->type[0] : WG_T_B32;
    bool f = wg_type_infos[t].kind == 'F', wide = wg_type_bytes(t) == 8, approx = in->flags & WG_FLAG(APPROX);
    switch (in->op) {
    case WG_OP_MUL: case WG_OP_MAD: case WG_OP_MADC: case WG_OP_MUL24: case WG_OP_MAD24: case WG_OP_DP4A: case WG_OP_DP2A:
        if (f)
            break;
        return wide && in->half != WG_HALF_WIDE ? COST_IMAD64 : COST_IMAD;
    case WG_OP_DIV: case WG_OP_REM:
        return !f ? COST_DIVINT : wide ? COST_DIV64 : approx ? COST_MUFU2 : COST_DIV32;
    case WG_OP_RCP: case WG_OP_SQRT: case WG_OP_RSQRT:
        return wide ? COST_DIV64 : approx ? COST_MUFU : COST_DIV32;
    case WG_OP_SIN: case WG_OP_COS: return COST_MUFU2;
    case WG_OP_LG2: case WG_OP_EX2: case WG_OP_TANH: return COST_MUFU;
    case WG_OP_POPC: case WG_OP_CLZ: case WG_OP_BFIND: case WG_OP_BREV: case WG_OP_FNS: return COST_BITS;
    case WG_OP_SETP: case WG_OP_SET: case WG_OP_SELP: case WG_OP_SLCT: case WG_OP_MIN: case WG_OP_MAX:
        return f && wide ? COST_FP64 : wide ? COST_INT64 : COST_INT;
    default: break;
    }
    if (f)
        return wide ? COST_FP64 : wg_type_bytes(t) == 2 || t == WG_T_F16X2 || t == WG_T_BF16X2 ? COST_FP16 : COST_FP32;
    return wide ? COST_INT64 : COST_INT;
}

static enum cost_id cost_of(const struct wg_instr *in)
{
    switch (wg_op_infos[in->op].group) {
    case WG_GROUP_MEM: return in->op == WG_OP_LD || in->op == WG_OP_LDU || in->op == WG_OP_ST ? memory_cost(in) : COST_OTHER;
    case WG_GROUP_ATOM:
        return in->space == WG_SPACE_SHARED ? (in->op == WG_OP_RED ? COST_STORE : COST_SHARED) : COST_GLOBAL;
    case WG_GROUP_MOV:
        return in->op == WG_OP_MOV && in->nops > 1 && in->ops[1].kind == WG_OPERAND_SREG ? COST_SREG : COST_FREE;
    case WG_GROUP_CVT: {
        if (in->ntypes < 2)
            return COST_INT;
        char to = wg_type_infos[in->type[0]].kind, from = wg_type_infos[in->type[1]].kind;
        unsigned tb = wg_type_bytes((enum wg_type)in->type[0]), fb = wg_type_bytes((enum wg_type)in->type[1]);
        if (to != 'F' && from != 'F') /* widening an unsigned number, or keeping its low half, takes no instruction */
            return from == 'S' && tb > fb ? COST_INT : COST_FREE;
        return tb == 8 || fb == 8 ? COST_BITS : to == 'F' && from == 'F' ? COST_FP32 : COST_BITS;
    }
    case WG_GROUP_WARP: return in->op == WG_OP_SHFL ? COST_SHFL : COST_VOTE;
    case WG_GROUP_FLOW:
        return in->op == WG_OP_CALL ? COST_CALL : COST_BRANCH;
    case WG_GROUP_SYNC: return COST_BARRIER;
    case WG_GROUP_ASYNC: return COST_STORE;
    case WG_GROUP_TENSOR: return in->op == WG_OP_LDMATRIX ? COST_SHARED : COST_TENSOR;
    case WG_GROUP_TEX: return COST_GLOBAL;
    case WG_GROUP_VIDEO: return COST_OTHER;
    default: return arithmetic_cost(in);
    }
}

/* State of one block's walk. */
struct walk {
    const struct wg_function *f;
    uint64_t *ready;      /* per register: cycle at which it can be read */
    uint32_t *load;       /* per register: 1 + the load that wrote it and was not used yet */
    uint32_t *loaded_at;  /* per register: slots issued when it did */
    uint32_t *product;    /* per register: 1 + the widening product that wrote it in this block */
    uint64_t *taint;      /* per register: loads of this block that its value comes from */
    uint8_t *use;
    uint64_t from;        /* the same of the instruction being looked at */
    struct { uint32_t instr, slot, fence; uint64_t address; bool constant; } loads[64]; /* of the last walk */
    uint32_t nloads, fences;
    uint64_t now;
    uint32_t slots, units[UNITS], cur;
    uint64_t need;        /* of the instruction being looked at */
    int32_t written;
    bool takes_product;
};

static void look(void *ctx, int32_t reg, bool write)
{
    struct walk *k = ctx;
    if (write)
        return;
    k->need = k->ready[reg] > k->need ? k->ready[reg] : k->need;
    k->from |= k->taint[reg];
    if (k->product[reg])
        k->takes_product = true;
    if (k->load[reg]) {
        uint32_t d = k->slots - k->loaded_at[reg];
        uint8_t *u = &k->use[k->load[reg] - 1];
        *u = d < *u ? (uint8_t)d : *u;
        k->load[reg] = 0;
    }
}
static void set(void *ctx, int32_t reg, bool write)
{
    struct walk *k = ctx;
    if (!write)
        return;
    const struct wg_instr *in = &k->f->instrs[k->cur];
    k->ready[reg] = k->need;
    bool global = cost_of(in) == COST_GLOBAL;
    bool known = global && k->nloads && k->loads[k->nloads - 1].instr == k->cur;
    k->taint[reg] = known ? 1ull << (k->nloads - 1) : k->from;
    k->load[reg] = global ? k->cur + 1 : 0;
    k->loaded_at[reg] = k->slots;
    bool wide = (in->op == WG_OP_MUL && in->half == WG_HALF_WIDE) || (in->op == WG_OP_SHL && wg_type_bytes((enum wg_type)in->type[0]) == 8);
    k->product[reg] = wide ? k->cur + 1 : 0;
}

/* Does only the loop's own bookkeeping: i += constant, the test at its end, the branch. */
static bool bookkeeping(const struct wg_instr *in)
{
    if (in->op == WG_OP_BRA)
        return true;
    if (in->op == WG_OP_SETP)
        return in->nops > 2 && wg_type_infos[in->type[0]].kind != 'F';
    return in->op == WG_OP_ADD && wg_type_infos[in->type[0]].kind != 'F' && in->nops == 3 &&
           in->ops[0].kind == WG_OPERAND_REG && in->ops[1].kind == WG_OPERAND_REG && in->ops[1].reg == in->ops[0].reg &&
           in->ops[2].kind == WG_OPERAND_IMM;
}

/* ptxas unrolls a small loop of one block four times: its counter, test and branch are then there once for four rounds.
 * Seen in the instruction counts of an H200 for loops of 4 to 30 instructions (nvcc 13.0). */
enum { UNROLL = 4, UNROLL_MAX = 64 };
static bool unrolled(const struct wg_function *f, const struct wg_cfg *g, uint32_t bb)
{
    const struct wg_bb *b = &g->bbs[bb];
    bool self = false, counts = false;
    for (uint32_t p = b->first; p < b->end; p++) /* its step is a constant */
        counts |= f->instrs[p].op == WG_OP_ADD && bookkeeping(&f->instrs[p]);
    for (uint32_t s = 0; s < b->nsucc && counts; s++)
        self |= b->succ[s] == bb;
    for (uint32_t p = b->first; p < b->end && self; p++) {
        enum wg_group group = wg_op_infos[f->instrs[p].op].group;
        self = group != WG_GROUP_SYNC && f->instrs[p].op != WG_OP_CALL;
    }
    return self && b->end - b->first <= UNROLL_MAX;
}
static void walk_block(struct walk *k, const struct wg_bb *b, const struct wg_merge *merge, bool small_loop)
{
    uint32_t book = 0;
    for (uint32_t p = b->first; p < b->end; p++) {
        const struct wg_instr *in = &k->f->instrs[p];
        struct cost c = costs[cost_of(in)];
        if (merge && (merge[p].leader != p || merge[p].dead)) /* part of another access */
            c.n = 0;
        if (small_loop && bookkeeping(in) && c.n) {
            c.latency = c.unit == UNIT_CBU ? (uint8_t)(c.latency / UNROLL) : c.latency;
            book += c.n;
            c.n = book % UNROLL == 1;
        }
        k->cur = p;
        k->need = k->now;
        k->takes_product = false;
        k->from = 0;
        wg_instr_regs(in, look, k);
        enum cost_id id = cost_of(in);
        if (id == COST_GLOBAL && in->op != WG_OP_ATOM && k->nloads < 64 && c.n) {
            k->loads[k->nloads].instr = p;
            k->loads[k->nloads].slot = k->slots;
            k->loads[k->nloads].fence = k->fences;
            k->loads[k->nloads].address = k->from;
            k->loads[k->nloads++].constant = in->flags & WG_FLAG(NC);
        }
        k->fences += id == COST_BARRIER || in->op == WG_OP_ATOM || in->op == WG_OP_RED || in->op == WG_OP_CALL ||
                     (in->op == WG_OP_ST && in->space != WG_SPACE_SHARED && in->space != WG_SPACE_PARAM) ||
                     in->order > WG_ORDER_WEAK;
        if (in->op == WG_OP_ADD && k->takes_product && in->ntypes && wg_type_bytes((enum wg_type)in->type[0]) == 8)
            c = costs[COST_FREE]; /* one multiply-add with its product */
        if (c.n) {
            k->now = k->need + c.n;
            k->slots += c.n;
            k->units[c.unit] += (uint32_t)c.n * unit_cycles[c.unit];
        }
        k->need += c.latency ? c.latency : c.n;
        wg_instr_regs(in, set, k);
        if (c.unit == UNIT_CBU)
            k->now += c.latency;
    }
}

/* ptxas starts the loads of a block together, as far as their addresses are known: a value is then first waited for when
 * the last of them has gone. rounds: of an unrolled loop that follow each other so. */
static void hoist(struct walk *k, uint32_t slots, unsigned rounds)
{
    bool fenced = k->fences != 0;
    for (uint32_t j = 0; j < k->nloads; j++) {
        uint32_t d = 0;
        for (uint32_t x = j + 1; x < k->nloads; x++)
            if (!(k->loads[x].address >> j & 1) && (k->loads[x].fence == k->loads[j].fence || k->loads[x].constant))
                d = k->loads[x].slot - k->loads[j].slot + 1;
        if (!k->loads[j].address && (!fenced || k->loads[j].constant))
            d += (rounds - 1) * slots;
        uint8_t *u = &k->use[k->loads[j].instr];
        d = d > 254 ? 254 : d;
        *u = d > *u ? (uint8_t)d : *u;
    }
}

bool wg_mix_analyse(const struct wg_function *f, const struct wg_cfg *g, const struct wg_merge *merge, struct wg_arena *a,
                    struct wg_mix *mix, uint8_t *use)
{
    struct walk k = {.f = f, .use = use};
    uint32_t n = f->nregs + 1;
    k.ready = wg_arena_alloc(a, n * sizeof *k.ready);
    k.load = wg_arena_alloc(a, n * sizeof *k.load);
    k.loaded_at = wg_arena_alloc(a, n * sizeof *k.loaded_at);
    k.product = wg_arena_alloc(a, n * sizeof *k.product);
    k.taint = wg_arena_alloc(a, n * sizeof *k.taint);
    if (!k.taint || !k.ready || !k.load || !k.loaded_at || !k.product)
        return false;
    memset(use, 255, f->ninstrs);
    for (uint32_t b = 0; b < g->nbb; b++) {
        memset(k.ready, 0, n * sizeof *k.ready);
        memset(k.load, 0, n * sizeof *k.load);
        memset(k.product, 0, n * sizeof *k.product);
        memset(k.units, 0, sizeof k.units);
        memset(k.taint, 0, n * sizeof *k.taint);
        k.nloads = k.fences = 0;
        bool loop = unrolled(f, g, b);
        k.now = k.slots = 0;
        walk_block(&k, &g->bbs[b], merge, loop);
        uint64_t first = k.now;
        uint32_t slots = k.slots;
        /* what the block leaves unfinished holds up the next one, most often itself again */
        k.nloads = k.fences = 0;
        walk_block(&k, &g->bbs[b], merge, loop);
        hoist(&k, slots, loop ? UNROLL : 1);
        for (unsigned u = 0; u < UNITS; u++) /* of both walks */
            slots = k.units[u] / 2 > slots ? k.units[u] / 2 : slots;
        mix[b] = (struct wg_mix){slots, (uint32_t)(k.now - first)};
    }
    return true;
}
