/* pressure.c - liveness of a PTX function over its instructions, and what registers that usually becomes. */
#include "model/pressure.h"
#include "ptx/address.h"
#include <stdlib.h>
#include <string.h>

enum { TOO_LARGE = 1 << 20 };

/* 32-bit registers a value takes. */
static unsigned weight(const struct wg_reg *r)
{
    unsigned bytes = wg_type_bytes((enum wg_type)r->type);
    return r->type == WG_T_PRED ? 0 : bytes <= 4 ? 1 : bytes / 4;
}

struct flow {
    const struct wg_function *f;
    size_t words;            /* of a set of registers */
    uint32_t nblocks, *start; /* first instruction of each block, and the end */
    uint32_t *block_of;      /* per instruction */
    uint64_t *in;            /* live at the start of each block */
    uint8_t *cheap;          /* per register: can be made again for nothing */
};

static bool ends_block(const struct wg_instr *i)
{
    return i->op == WG_OP_BRA || i->op == WG_OP_BRX || i->op == WG_OP_BRX_IDX || i->op == WG_OP_RET || i->op == WG_OP_EXIT ||
           i->op == WG_OP_TRAP;
}

static void mark_targets(const struct wg_instr *i, uint32_t n, uint8_t *leader)
{
    for (uint32_t k = 0; k < i->nops; k++) {
        const struct wg_operand *o = &i->ops[k];
        if (o->kind != WG_OPERAND_LABEL)
            continue;
        if (o->target < n && !o->nelems)
            leader[o->target] = 1;
        for (uint32_t e = 0; e < o->nelems; e++)
            if (o->elems[e].target < n)
                leader[o->elems[e].target] = 1;
    }
}

static bool build(struct flow *w)
{
    const struct wg_function *f = w->f;
    uint32_t n = f->ninstrs;
    uint8_t *leader = wg_calloc(n + 1, 1);
    w->start = wg_calloc(n + 2, sizeof *w->start);
    w->block_of = wg_calloc(n + 1, sizeof *w->block_of);
    if (leader && w->start && w->block_of) {
        leader[0] = 1;
        for (uint32_t i = 0; i < n; i++) {
            mark_targets(&f->instrs[i], n, leader);
            if (ends_block(&f->instrs[i]))
                leader[i + 1] = 1;
        }
        for (uint32_t i = 0; i < n; i++) {
            if (leader[i])
                w->start[w->nblocks++] = i;
            w->block_of[i] = w->nblocks - 1;
        }
        w->start[w->nblocks] = n;
        w->in = wg_calloc((size_t)w->nblocks + 1, w->words * sizeof *w->in);
    }
    free(leader);
    return w->in != NULL;
}

/* Values that a compiler makes again at each use rather than keep: constants, parameters, addresses of variables. */
static void find_cheap(struct flow *w)
{
    const struct wg_function *f = w->f;
    int32_t writes[WG_ADDRESS_REGS], reads[WG_ADDRESS_REGS];
    uint32_t nw, nr;
    for (int round = 0; round < 3; round++) /* cvta of a parameter, mov of that */
        for (uint32_t i = 0; i < f->ninstrs; i++) {
            const struct wg_instr *in = &f->instrs[i];
            if (!wg_address_regs(in, writes, &nw, reads, &nr))
                continue;
            bool cheap = (in->op == WG_OP_LD && in->space == WG_SPACE_PARAM && f->is_entry && nr == 0) ||
                         ((in->op == WG_OP_MOV || in->op == WG_OP_CVTA) && in->nops == 2 &&
                          (in->ops[1].kind == WG_OPERAND_IMM || in->ops[1].kind == WG_OPERAND_SYMBOL ||
                           (in->ops[1].kind == WG_OPERAND_REG && in->ops[1].reg >= 0 && w->cheap[in->ops[1].reg] == 1)));
            for (uint32_t k = 0; k < nw; k++) {
                uint8_t *c = &w->cheap[writes[k]];
                if (!cheap)
                    *c = 2; /* some definition is not */
                else if (*c == 0)
                    *c = 1;
            }
        }
}

static void step(const struct wg_instr *in, uint64_t *live)
{
    int32_t writes[WG_ADDRESS_REGS], reads[WG_ADDRESS_REGS];
    uint32_t nw, nr;
    if (!wg_address_regs(in, writes, &nw, reads, &nr))
        return;
    for (uint32_t k = 0; k < nw && in->guard < 0; k++)
        live[writes[k] / 64] &= ~((uint64_t)1 << (writes[k] % 64));
    for (uint32_t k = 0; k < nr; k++)
        live[reads[k] / 64] |= (uint64_t)1 << (reads[k] % 64);
}

static void join(const struct flow *w, uint64_t *live, uint32_t target)
{
    if (target < w->f->ninstrs)
        for (size_t k = 0; k < w->words; k++)
            live[k] |= w->in[w->block_of[target] * w->words + k];
}

/* What is live behind the last instruction of block b. */
static void live_out(const struct flow *w, uint32_t b, uint64_t *live)
{
    const struct wg_instr *last = &w->f->instrs[w->start[b + 1] - 1];
    memset(live, 0, w->words * sizeof *live);
    for (uint32_t k = 0; k < last->nops && ends_block(last); k++) {
        const struct wg_operand *o = &last->ops[k];
        if (o->kind == WG_OPERAND_LABEL && !o->nelems)
            join(w, live, o->target);
        for (uint32_t e = 0; o->kind == WG_OPERAND_LABEL && e < o->nelems; e++)
            join(w, live, o->elems[e].target);
    }
    bool falls = !ends_block(last) || last->guard >= 0;
    if (falls)
        join(w, live, w->start[b + 1]);
}

static void count(const struct flow *w, const uint64_t *live, struct wg_pressure *p)
{
    uint32_t all = 0, kept = 0;
    for (size_t k = 0; k < w->words; k++)
        for (uint64_t m = live[k]; m; m &= m - 1) {
            size_t r = k * 64 + (size_t)__builtin_ctzll(m);
            unsigned n = weight(&w->f->regs[r]);
            all += n;
            kept += w->cheap[r] == 1 ? 0 : n;
        }
    p->all = all > p->all ? all : p->all;
    p->live = kept > p->live ? kept : p->live;
}

static void solve(struct flow *w, uint64_t *live, struct wg_pressure *p)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = w->nblocks; b-- > 0;) {
            live_out(w, b, live);
            for (uint32_t i = w->start[b + 1]; i-- > w->start[b];)
                step(&w->f->instrs[i], live);
            uint64_t *in = w->in + b * w->words;
            changed |= memcmp(in, live, w->words * sizeof *live) != 0;
            memcpy(in, live, w->words * sizeof *live);
        }
    }
    for (uint32_t b = 0; b < w->nblocks; b++) {
        live_out(w, b, live);
        count(w, live, p);
        for (uint32_t i = w->start[b + 1]; i-- > w->start[b];) {
            step(&w->f->instrs[i], live);
            count(w, live, p);
        }
    }
}

enum wg_status wg_pressure(const struct wg_function *f, struct wg_pressure *out)
{
    struct flow w = {.f = f, .words = (f->nregs + 63) / 64 + 1};
    *out = (struct wg_pressure){.instructions = f->ninstrs};
    if (!f->ninstrs)
        return WG_OK;
    if (f->ninstrs > TOO_LARGE || f->nregs > TOO_LARGE || (uint64_t)f->ninstrs * w.words > 1u << 28)
        return WG_UNSUPPORTED;
    w.cheap = wg_calloc(f->nregs + 1, 1);
    uint64_t *live = wg_calloc(w.words, sizeof *live);
    bool ok = w.cheap && live && build(&w);
    if (ok) {
        find_cheap(&w);
        solve(&w, live, out);
    }
    free(live);
    free(w.cheap);
    free(w.start);
    free(w.block_of);
    free(w.in);
    return ok ? WG_OK : WG_NO_MEMORY;
}

/* Fitted by tools/calibrate_registers.py; see pressure.h. */
static const double per_live = 0.42, per_all = 0.46, fixed = 5.7, low_part = 0.7, high_part = 1.6;

void wg_register_estimate(const struct wg_function *f, const struct wg_pressure *p, unsigned sm,
                          struct wg_register_estimate *out)
{
    double likely = per_live * p->live + per_all * p->all + fixed;
    double most = 255, threads = f->maxntid[0] ? f->maxntid[0] : f->reqntid[0];
    for (unsigned i = 1; i < 3; i++)
        threads *= f->maxntid[i] ? f->maxntid[i] : f->reqntid[i] ? f->reqntid[i] : 1;
    if (threads > 0) {
        /* launch bounds: so many blocks of so many threads must fit 65,536 registers, which come in eights */
        double blocks = f->minnctapersm ? f->minnctapersm : 1, fits = 65536 / (threads * blocks);
        fits -= (double)((unsigned)fits % 8) + (fits - (double)(unsigned)fits);
        most = fits < most ? fits : most;
    }
    if (f->maxnreg && f->maxnreg < most)
        most = f->maxnreg;
    double value[3] = {likely * low_part, likely, likely * high_part};
    unsigned *to[3] = {&out->low, &out->likely, &out->high};
    for (unsigned i = 0; i < 3; i++) {
        double v = value[i] < most ? value[i] : most;
        unsigned whole = (unsigned)(v + (i == 0 ? 0 : i == 1 ? 0.5 : 0.999));
        *to[i] = sm >= 70 && whole < 16 ? 16 : whole < 4 ? 4 : whole;
    }
}
