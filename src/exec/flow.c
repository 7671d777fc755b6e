/* flow.c - branches, reconvergence, exits, calls and barriers as handlers. Scheduling of diverged lanes is in wide.c. */
#include "exec/async.h"
#include "exec/engine.h"
#include "exec/handlers.h"
#include "exec/lanes.h"
#include <string.h>

/* target is relative to i. */
#define TARGET(i) ((i) + (int32_t)(i)->target)

/* imm: index of the basic block */
static inline void count_block(struct wg_warp *w, const struct wg_inst *i)
{
    struct wg_bb_count *c = &w->bb[i->imm];
    c->exec++;
    c->lanes += (uint32_t)__builtin_popcount(w->mask);
}

H(count)
{
    count_block(w, i);
    WG_NEXT;
}
H(count_guard)
{
    w->site[i->site].on += (uint32_t)__builtin_popcount(WG_ON);
    WG_NEXT;
}
H(nop) { WG_NEXT; }
H(spin)
{
    w->spun = true;
    w->fuel -= 16;
    WG_NEXT;
}

/* ---- fast code: stack of waiting lanes ---- */
static bool push(struct wg_warp *w, const struct wg_inst *rpc, const struct wg_inst *pc, uint32_t mask, char *R)
{
    if (w->sp == w->stack_cap) {
        uint32_t cap = w->stack_cap ? w->stack_cap * 2 : 16;
        struct wg_stack_entry *s = wg_realloc(w->stack, cap * sizeof *s);
        if (!s)
            return false;
        w->stack = s;
        w->stack_cap = cap;
    }
    w->stack[w->sp++] = (struct wg_stack_entry){rpc, pc, mask, R};
    return true;
}

/* The lanes that run have reached rpc (or exited: rpc NULL): run the other side if it waits, else meet. */
static const struct wg_inst *meet(struct wg_warp *w, const struct wg_inst *at)
{
    while (w->sp) {
        struct wg_stack_entry *t = &w->stack[w->sp - 1];
        if (w->mask && (t->rpc != at || t->R != w->R))
            return at;
        uint32_t mask = t->mask & w->live;
        const struct wg_inst *pc = t->pc ? t->pc : t->rpc;
        w->sp--;
        if (!mask || (!t->pc && !t->rpc))
            continue; /* all of them have exited: look further down */
        w->mask = mask;
        w->R = t->R;
        if (t->pc)
            return pc;
        at = t->rpc; /* met; an outer branch may meet here too */
    }
    return w->mask ? at : NULL;
}

/* imm: basic block, or -1 when nothing is counted. Lanes meet here. */
H(join)
{
    if (__builtin_expect(w->sp && w->stack[w->sp - 1].rpc == i && w->stack[w->sp - 1].R == R, 0)) {
        const struct wg_inst *n = meet(w, i);
        R = w->R;
        if (n != i)
            WG_GOTO(n);
    }
    if (i->imm >= 0)
        count_block(w, i);
    WG_NEXT;
}

#define TAKE_BACK(to)                                                                                                  \
    do {                                                                                                               \
        const struct wg_inst *t_ = (to);                                                                               \
        if (__builtin_expect(--w->fuel < 0, 0)) {                                                                      \
            w->pc = t_;                                                                                                \
            w->state = WG_WARP_YIELD;                                                                                  \
            return NULL;                                                                                               \
        }                                                                                                              \
        WG_GOTO(t_);                                                                                                   \
    } while (0)

H(bra)
{
    if (i->k2)
        w->site[i->site].uniform++;
    WG_GOTO(TARGET(i));
}
H(bra_back)
{
    if (i->k2)
        w->site[i->site].uniform++;
    TAKE_BACK(TARGET(i));
}
/* The predicate is the same in all lanes that run. k1: backward; k2: counted. */
H(bra_uni)
{
    if (i->k2)
        w->site[i->site].uniform++;
    if (!(WG_P(i->pred) ^ i->predx))
        WG_NEXT;
    if (i->k1)
        TAKE_BACK(TARGET(i));
    WG_GOTO(TARGET(i));
}

/* Splits w into `taken` and the rest at a divergent branch whose lanes meet at p->rpc. */
static const struct wg_inst *diverge(struct wg_warp *w, const struct wg_inst *i, uint32_t taken)
{
    const struct wg_inst *rpc = i->e ? i + (int32_t)i->e : NULL, *to = TARGET(i), *fall = i + 1;
    uint32_t rest = w->mask & ~taken;
    char *R = w->R;
    if (i->k2)
        w->site[i->site].divergent++;
    /* one waiting entry per meeting point is enough */
    struct wg_stack_entry *t = w->sp ? &w->stack[w->sp - 1] : NULL;
    bool ok = true;
    if (!(t && !t->pc && t->rpc == rpc && t->R == R && (w->mask & ~t->mask) == 0))
        ok = push(w, rpc, NULL, w->mask, R);
    if (ok && to == rpc) {
        w->mask = rest;
        return fall;
    }
    if (ok && fall == rpc) {
        w->mask = taken;
        return to;
    }
    if (to > fall) { /* lower address first */
        ok = ok && push(w, rpc, to, taken, R);
        w->mask = rest;
        to = fall;
    } else {
        ok = ok && push(w, rpc, fall, rest, R);
        w->mask = taken;
    }
    if (!ok)
        return wg_fault(w, i, WG_NO_MEMORY, "host-memory", -1, 0, "out of host memory for diverged lanes");
    return to;
}

/* e: distance to the JOIN where the lanes meet, 0: at their exit. k1: backward */
H(bra_div)
{
    uint32_t taken = WG_ON;
    if (__builtin_expect(taken == w->mask, 1)) {
        if (i->k2)
            w->site[i->site].uniform++;
        if (i->k1)
            goto back;
        WG_GOTO(TARGET(i));
    }
    if (!taken) {
        if (i->k2)
            w->site[i->site].uniform++;
        WG_NEXT;
    }
    {
        const struct wg_inst *n = diverge(w, i, taken);
        if (n != TARGET(i) || !i->k1)
            return n;
    }
back:
    if (__builtin_expect(--w->fuel < 0, 0)) {
        if (w->sp && w->spun) { /* perhaps these lanes wait for the ones that wait at the join */
            return wg_deopt(w, TARGET(i));
        }
        w->pc = TARGET(i);
        w->state = WG_WARP_YIELD;
        return NULL;
    }
    WG_GOTO(TARGET(i));
}

/* ---- wide code ---- */
/* Block start: k1 set when other splits may stand here too. */
H(wjoin)
{
    if (w->nsplits > 1) {
        wg_wide_merge_at(w, i);
        w->splits[w->cur].pc = i;
        const struct wg_inst *n = wg_wide_pick(w);
        if (n != i)
            return n;
        R = w->R; /* another split may stand at this very instruction in another frame */
    }
    if (i->imm >= 0)
        count_block(w, i);
    WG_NEXT;
}
static const struct wg_inst *wide_go(struct wg_warp *w, const struct wg_inst *to, bool back)
{
    w->splits[w->cur].pc = to;
    if (back && --w->fuel < 0) {
        w->pc = to;
        w->state = WG_WARP_YIELD;
        return NULL;
    }
    return w->nsplits > 1 ? wg_wide_pick(w) : to;
}
/* The lanes of `mask` leave the current split and go to pc. */
static void wide_split(struct wg_warp *w, const struct wg_inst *pc, uint32_t mask)
{
    struct wg_split *s = &w->splits[w->nsplits++];
    *s = w->splits[w->cur];
    s->mask = mask;
    s->pc = pc;
    s->age = 0;
    wg_frame_of(w->R)->refs++;
    w->splits[w->cur].mask = w->mask = w->mask & ~mask;
}
H(wbra)
{
    (void)R;
    if (i->k2)
        w->site[i->site].uniform++;
    return wide_go(w, TARGET(i), i->k1);
}
H(wbra_p)
{
    uint32_t taken = WG_ON;
    if (taken == 0 || taken == w->mask) {
        if (i->k2)
            w->site[i->site].uniform++;
        return taken ? wide_go(w, TARGET(i), i->k1) : wide_go(w, i + 1, false);
    }
    if (i->k2)
        w->site[i->site].divergent++;
    wide_split(w, i + 1, w->mask & ~taken);
    return wide_go(w, TARGET(i), i->k1);
}
/* Indexed branch: a is the index (V32, or S when n), p a table of distances, c their number. All targets are found before
 * any lane leaves: the index register may not survive what the first of them run. */
static const struct wg_inst *brx_diverge(struct wg_warp *w, const struct wg_inst *i, const uint32_t *x)
{
    const int32_t *tab = i->p;
    const struct wg_inst *rpc = i->e ? i + (int32_t)i->e : NULL, *to[WG_LANES];
    uint32_t mask[WG_LANES], n = 0;
    for (uint32_t left = w->mask; left; left &= ~mask[n++]) {
        uint32_t v = x[__builtin_ctz(left)];
        mask[n] = 0;
        for (uint32_t k = left; k; k &= k - 1)
            if (tab[x[__builtin_ctz(k)]] == tab[v])
                mask[n] |= 1u << __builtin_ctz(k);
        to[n] = i + tab[v];
    }
    if (w->wide) {
        for (uint32_t k = 1; k < n; k++)
            wide_split(w, to[k], mask[k]);
        return wide_go(w, to[0], to[0] <= i);
    }
    struct wg_stack_entry *t = w->sp ? &w->stack[w->sp - 1] : NULL;
    bool ok = true;
    if (!(t && !t->pc && t->rpc == rpc && t->R == w->R && (w->mask & ~t->mask) == 0))
        ok = push(w, rpc, NULL, w->mask, w->R);
    for (uint32_t k = 1; k < n && ok; k++)
        if (to[k] != rpc)
            ok = push(w, rpc, to[k], mask[k], w->R);
    if (!ok)
        return wg_fault(w, i, WG_NO_MEMORY, "host-memory", -1, 0, "out of host memory for diverged lanes");
    w->mask = mask[0];
    return to[0] == rpc ? meet(w, rpc) : to[0];
}
H(brx)
{
    const int32_t *tab = i->p;
    uint32_t on = w->mask, first = (uint32_t)__builtin_ctz(on), one[WG_LANES], same = 0;
    const uint32_t *x = WG_VEC(uint32_t, i->a);
    if (i->n) {
        for (uint32_t l = 0; l < WG_LANES; l++)
            one[l] = *(uint32_t *)(R + i->a);
        x = one;
    }
    for (uint32_t k = on; k; k &= k - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(k);
        same |= (uint32_t)(x[l] == x[first]) << l;
        if (x[l] >= i->c)
            return wg_fault(w, i, WG_KERNEL_FAULT, "invalid-branch", (int)l, x[l],
                            "Indexed branch beyond its list: index %u of %u targets", x[l], i->c);
    }
    if (i->k2) {
        w->site[i->site].uniform += same == on;
        w->site[i->site].divergent += same != on;
    }
    if (same != on)
        return brx_diverge(w, i, x);
    const struct wg_inst *to = i + tab[x[first]];
    if (w->wide)
        return wide_go(w, to, to <= i);
    if (to <= i && --w->fuel < 0) {
        w->pc = to;
        w->state = WG_WARP_YIELD;
        return NULL;
    }
    return to;
}

/* ---- exits ---- */
H(exit)
{
    (void)R;
    uint32_t gone = WG_ON;
    if (!gone)
        WG_NEXT;
    w->blk->live_lanes -= (uint32_t)__builtin_popcount(w->live & gone);
    w->live &= ~gone;
    w->mask &= ~gone;
    w->wk->changes++;
    if (w->async && w->async->n)
        wg_async_exit(w, gone);
    if (w->wide)
        return wg_lanes_exit(w, i, gone);
    if (w->mask)
        return i + 1;
    if (!w->live) {
        w->sp = 0;
        w->state = WG_WARP_DONE;
        return NULL;
    }
    const struct wg_inst *n = meet(w, NULL);
    if (!n) {
        w->state = WG_WARP_DONE;
        return NULL;
    }
    return n;
}
H(trap)
{
    uint32_t on = WG_ON;
    if (!on)
        WG_NEXT;
    return wg_fault(w, i, WG_KERNEL_FAULT, "trap", __builtin_ctz(on), 0, "The kernel executed trap");
}
H(refuse)
{
    uint32_t on = WG_ON;
    if (!on)
        WG_NEXT;
    return wg_fault(w, i, WG_UNSUPPORTED, "unsupported", __builtin_ctz(on), 0, "%s", (const char *)i->p);
}
H(yield)
{
    (void)R;
    w->spun = true;
    if (w->wide)
        w->splits[w->cur].pc = i + 1;
    w->pc = i + 1;
    w->state = WG_WARP_YIELD;
    w->fuel = -1;
    return NULL;
}

/* ---- calls ---- */
static void copy_words(char *to, const char *from, const struct wg_call_copy *c, uint32_t n, uint32_t mask)
{
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t x = 0; x < c[k].words; x++) {
            uint32_t *d = (uint32_t *)(to + c[k].to) + 32 * x;
            const uint32_t *s = (const uint32_t *)(from + c[k].from) + 32 * x;
            for (uint32_t l = 0; l < 32; l++)
                d[l] = (mask >> l & 1) ? s[l] : d[l];
        }
}
static const struct wg_inst *enter(struct wg_warp *w, const struct wg_inst *i, const struct wg_code *code,
                                   const struct wg_call_copy *arg, uint32_t narg)
{
    struct wg_frame *f = wg_frame_new(w, code);
    if (!f)
        return wg_fault(w, i, WG_NO_MEMORY, "host-memory", -1, 0, "out of host memory for a call frame");
    struct wg_frame *up = wg_frame_of(w->R);
    f->caller = up;
    f->ret = i + 1;
    f->mask = w->mask;
    f->local_base = (wg_frame_local(up) + 15u) & ~15u;
    if (!wg_local_reserve(w, (uint64_t)f->local_base + code->local_bytes)) {
        wg_frame_drop(w, f);
        return wg_fault(w, i, WG_KERNEL_FAULT, "stack-overflow", __builtin_ctz(w->mask), 0,
                        "Stack overflow: calls nest too deep for local memory");
    }
    copy_words(wg_frame_regs(f), w->R, arg, narg, w->mask);
    w->R = wg_frame_regs(f);
    f->refs = 1;
    f->depth = up->depth + 1;
    if (w->wide) { /* the split's hold on the caller's frame becomes the callee's */
        w->splits[w->cur].R = w->R;
        return w->splits[w->cur].pc = code->wide;
    }
    return code->fast;
}
H(call)
{
    const struct wg_call_desc *d = i->p;
    uint32_t on = WG_ON;
    if (!on)
        WG_NEXT;
    if (on != w->mask) { /* guarded: the others step over the call by themselves */
        if (!w->wide)
            return wg_deopt(w, i);
        wide_split(w, i + 1, w->mask & ~on);
    }
    return enter(w, i, d->code, d->arg, d->narg);
}
/* a: V64 function addresses */
H(icall)
{
    const struct wg_call_desc *d = i->p;
    const uint64_t *fp = WG_VEC(uint64_t, i->a);
    if (!w->mask)
        WG_NEXT;
    uint32_t first = (uint32_t)__builtin_ctz(w->mask), same = 0;
    for (uint32_t l = 0; l < 32; l++)
        same |= (uint32_t)(fp[l] == fp[first]) << l;
    same &= w->mask;
    const struct wg_code *code = NULL;
    uint32_t k;
    for (k = 0; k < d->ncandidates; k++)
        if (d->candidates[k]->address == fp[first]) {
            code = d->candidates[k];
            break;
        }
    if (!code)
        return wg_fault(w, i, WG_KERNEL_FAULT, "invalid-call", (int)first, fp[first],
                        "Call through a pointer that is no function of this module");
    if (same != w->mask) {
        if (!w->wide)
            return wg_deopt(w, i);
        wide_split(w, wg_inst_start(w, i), w->mask & ~same);
    }
    return enter(w, i, code, d->cand_arg[k], d->narg);
}
/* Results are described by the caller's call instruction, which is the one before the return address. */
static void leave(struct wg_warp *w, struct wg_frame *f)
{
    const struct wg_call_desc *d = f->ret[-1].p;
    const struct wg_call_copy *ret = d->ret;
    if (!d->code)
        for (uint32_t k = 0; k < d->ncandidates; k++)
            if (d->candidates[k] == f->code)
                ret = d->cand_ret[k];
    copy_words(wg_frame_regs(f->caller), wg_frame_regs(f), ret, d->nret, w->mask);
    w->R = wg_frame_regs(f->caller);
}
H(ret)
{
    struct wg_frame *f = wg_frame_of(R);
    const struct wg_inst *n = f->ret;
    leave(w, f);
    wg_frame_drop(w, f);
    R = w->R;
    WG_GOTO(n);
}
H(wret)
{
    struct wg_frame *f = wg_frame_of(R);
    const struct wg_inst *n = f->ret;
    leave(w, f);
    if (--f->refs == 0)
        wg_frame_drop(w, f); /* its hold on the caller's frame becomes this split's */
    else
        f->caller->refs++;
    w->splits[w->cur].R = w->R;
    w->splits[w->cur].pc = n;
    return w->nsplits > 1 ? wg_wide_pick(w) : n;
}
H(native)
{
    const struct wg_call_desc *d = i->p;
    uint32_t on = WG_ON;
    if (!on)
        WG_NEXT;
    const uint32_t *arg[16];
    for (uint32_t k = 0; k < d->narg; k++)
        arg[k] = (const uint32_t *)(R + d->arg[k].from);
    w->pc = i;
    if (!d->native->fn(w, i, d, on, d->nret ? (uint32_t *)(R + d->ret[0].to) : NULL, arg))
        return NULL;
    return i + 1;
}

/* ---- barriers: a: S slot of the barrier's number; b: S slot of the thread count, 0: all; k1: 1 reduction with
 * predicate c; p: the message for a bad operand ---- */
/* wg_barrier.result, of the last phase, for warps may be slow to read it while others arrive for the next: the count, and
 * what red.and and red.or give. */
#define RESULT_AND 0x40000000u
#define RESULT_OR 0x80000000u
static bool barrier_ready(const struct wg_block *b, const struct wg_barrier *x)
{
    return x->arrived >= (x->explicit_count ? x->expected : b->live_lanes);
}
static void barrier_add(struct wg_warp *w, struct wg_barrier *x, const struct wg_inst *i, char *R, uint32_t lanes)
{
    if (!x->arrived) {
        x->red_and = ~0u;
        x->red_or = x->red_popc = 0;
    }
    uint32_t count = i->b ? *(uint32_t *)(R + i->b) : 0;
    x->explicit_count = count != 0;
    x->expected = count;
    /* with a count, a warp whose lanes all arrive stands for 32 threads */
    x->arrived += count && lanes == w->live ? 32u : (uint32_t)__builtin_popcount(lanes);
    if (i->k1) {
        uint32_t p = WG_P(i->c) & lanes;
        if (p != lanes)
            x->red_and = 0;
        if (p)
            x->red_or = ~0u;
        x->red_popc += (uint32_t)__builtin_popcount(p);
    }
}
static void tell_arrival(struct wg_warp *w, const struct wg_inst *i, char *R, uint32_t lanes, bool waits)
{
    const struct wg_observer *o = &w->wk->run->g->observer;
    struct wg_barrier_event e = {.site = i->site, .id = *(uint32_t *)(R + i->a), .lanes = lanes, .live = w->live,
                                 .count = i->b ? *(uint32_t *)(R + i->b) : 0, .waits = waits,
                                 .aligned = i->k2 & WG_BAR_ALIGNED};
    o->barrier_arrive(o->ctx, w->blk->observed, w->index, &e);
}
static void tell_release(struct wg_block *b, uint32_t id)
{
    const struct wg_observer *o = &b->wk->run->g->observer;
    uint32_t live[WG_LANES] = {0};
    for (uint32_t k = 0; k < b->nwarps && k < WG_LANES; k++)
        live[k] = b->warps[k].live;
    o->barrier_release(o->ctx, b->observed, id, live);
}
static void barrier_release(struct wg_block *b, struct wg_barrier *x, uint32_t id)
{
    if (b->wk->run->kc->observed)
        tell_release(b, id);
    x->result = x->red_popc | (x->red_and & RESULT_AND) | (x->red_or & RESULT_OR);
    x->arrived = 0;
    b->wk->changes++;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct wg_warp *o = &b->warps[k];
        if (!o->wide) {
            if (o->state == WG_WARP_BARRIER && o->barrier == id)
                o->state = WG_WARP_READY;
            continue;
        }
        for (uint32_t s = 0; s < o->nsplits; s++)
            if (o->splits[s].state == WG_SPLIT_BARRIER && o->splits[s].barrier == id) {
                o->splits[s].state = WG_SPLIT_READY;
                if (o->state == WG_WARP_BARRIER)
                    o->state = WG_WARP_READY;
            }
    }
}
bool WG_ISA_NAME(wg_barrier_recheck)(struct wg_block *b);
bool WG_ISA_NAME(wg_barrier_recheck)(struct wg_block *b)
{
    bool any = false;
    for (uint32_t id = 0; id < WG_BARRIERS; id++)
        if (b->bar[id].arrived && barrier_ready(b, &b->bar[id])) {
            barrier_release(b, &b->bar[id], id);
            any = true;
        }
    return any;
}
H(bar)
{
    struct wg_block *b = w->blk;
    if (i->pred != WG_SLOT_TRUE && !WG_ON)
        WG_NEXT;
    uint32_t id = *(uint32_t *)(R + i->a);
    if (id >= WG_BARRIERS)
        return wg_fault(w, i, WG_KERNEL_FAULT, "invalid-barrier", __builtin_ctz(w->mask), id,
                        "Barrier %u: a block has 16, numbered 0 to 15", id);
    if (!w->wide && w->mask != w->live)
        return wg_deopt(w, i); /* lanes arrive by themselves */
    struct wg_barrier *x = &b->bar[id];
    if (i->k2)
        tell_arrival(w, i, R, w->mask, true);
    barrier_add(w, x, i, R, w->mask);
    if (barrier_ready(b, x)) {
        barrier_release(b, x, id);
        return i + 1;
    }
    if (w->wide) {
        struct wg_split *s = &w->splits[w->cur];
        s->pc = i + 1;
        s->state = WG_SPLIT_BARRIER;
        s->barrier = (uint8_t)id;
        return wg_wide_pick(w);
    }
    w->state = WG_WARP_BARRIER;
    w->barrier = (uint8_t)id;
    w->pc = i + 1;
    return NULL;
}
H(bar_arrive)
{
    struct wg_block *b = w->blk;
    uint32_t id = *(uint32_t *)(R + i->a), on = WG_ON;
    if (!on)
        WG_NEXT;
    if (id >= WG_BARRIERS)
        return wg_fault(w, i, WG_KERNEL_FAULT, "invalid-barrier", __builtin_ctz(w->mask), id,
                        "Barrier %u: a block has 16, numbered 0 to 15", id);
    if (i->k2)
        tell_arrival(w, i, R, on, false);
    barrier_add(w, &b->bar[id], i, R, on);
    if (barrier_ready(b, &b->bar[id]))
        barrier_release(b, &b->bar[id], id);
    WG_NEXT;
}
/* k1: enum wg_bool; d: predicate, or S32 of the count; a: barrier */
H(bar_result)
{
    const uint32_t result = w->blk->bar[*(uint32_t *)(R + i->a) & (WG_BARRIERS - 1)].result;
    const uint32_t count = result & ~(RESULT_AND | RESULT_OR);
    uint32_t m = WG_ON;
    if (i->k1 == WG_BOOL_POPC) {
        if (i->n) {
            uint32_t *d = WG_VEC(uint32_t, i->d);
            for (uint32_t l = 0; l < 32; l++)
                d[l] = (m >> l & 1) ? count : d[l];
        } else {
            *(uint64_t *)(R + i->d) = count;
        }
    } else {
        uint32_t r = result & (i->k1 == WG_BOOL_AND ? RESULT_AND : RESULT_OR) ? ~0u : 0;
        m = WG_ON_P;
        WG_P(i->d) = (WG_P(i->d) & ~m) | (r & m);
    }
    WG_NEXT;
}
/* a: member mask (S, or V32 when n) */
H(bar_warp)
{
    uint32_t on = WG_ON;
    if (!on)
        WG_NEXT;
    uint32_t need = i->n ? WG_VEC(uint32_t, i->a)[__builtin_ctz(on)] : *(uint32_t *)(R + i->a);
    if (need & w->live & ~w->mask) {
        const struct wg_inst *next;
        if (!w->wide)
            return wg_deopt(w, i);
        if (!wg_wide_wait(w, i, need, true, &next))
            return next;
    }
    WG_NEXT;
}
