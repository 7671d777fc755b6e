/* wide.c - diverged lanes as independently scheduled splits, and the way from fast code into wide code. */
#include "exec/engine.h"
#include "exec/handlers.h"
#include "exec/lanes.h"
#include <stdlib.h>
#include <string.h>

/* Turns a ready split may be passed over before it runs, and turns it then keeps. */
enum { AGE_MAX = 256, LEASE = 64 };

const struct wg_handler_set *wg_handlers_best(void) { return wg_lanes_best()->handlers; }

const struct wg_code *wg_code_of(const struct wg_warp *w) { return wg_frame_of(w->R)->code; }

static void remove_split(struct wg_warp *w, uint32_t k)
{
    uint32_t last = --w->nsplits;
    w->splits[k] = w->splits[last];
    if (w->cur == last)
        w->cur = k;
}

static void release(struct wg_warp *w, struct wg_frame *f)
{
    while (f && --f->refs == 0 && f->caller) {
        struct wg_frame *up = f->caller;
        wg_frame_drop(w, f);
        f = up;
    }
}

/* The current split stands at i: splits that wait there too join it. A merge inside a basic block takes one execution
 * off the rest of the block, which both had counted when they entered it. */
void wg_wide_merge_at(struct wg_warp *w, const struct wg_inst *i)
{
    for (uint32_t k = 0; k < w->nsplits; k++) {
        struct wg_split *s = &w->splits[k];
        if (k == w->cur || s->pc != i || s->R != w->R || s->state == WG_SPLIT_BARRIER)
            continue;
        w->splits[w->cur].mask |= s->mask;
        w->splits[w->cur].wait |= s->wait;
        w->mask |= s->mask;
        wg_frame_of(w->R)->refs--;
        if (i->site != UINT32_MAX)
            w->site[i->site].exec_adj--;
        remove_split(w, k--);
    }
}

static bool lower(const struct wg_split *a, const struct wg_split *b)
{
    uint32_t da = wg_frame_of(a->R)->depth, db = wg_frame_of(b->R)->depth;
    return da != db ? da > db : a->pc < b->pc;
}

/* The site of a wide instruction. */
static uint32_t site_of(const struct wg_split *s)
{
    const struct wg_code *c = wg_frame_of(s->R)->code;
    return c->site0 + c->wide_ptx[s->pc - c->wide];
}
static void tell_missing(const struct wg_warp *w, const struct wg_split *s)
{
    const struct wg_observer *o = &w->wk->run->g->observer;
    if (w->wk->run->kc->observed)
        o->missing(o->ctx, w->blk->observed, w->index, site_of(s), s->mask, s->wait, w->live);
}
/* Lanes have met at bar.warp.sync. */
static void tell_met(const struct wg_warp *w, const struct wg_split *s, uint32_t lanes)
{
    const struct wg_observer *o = &w->wk->run->g->observer;
    uint32_t member[WG_LANES];
    for (uint32_t l = 0; l < WG_LANES; l++)
        member[l] = s->wait;
    struct wg_exchange e = {.site = site_of(s), .lanes = lanes, .live = w->live, .member = member, .memory = true,
                            .name = "bar.warp.sync"};
    o->exchange(o->ctx, w->blk->observed, w->index, &e);
}

const struct wg_inst *wg_wide_pick(struct wg_warp *w)
{
    uint32_t best = UINT32_MAX, old = UINT32_MAX;
    bool cur_ready = w->cur < w->nsplits && w->splits[w->cur].state == WG_SPLIT_READY;
    if (w->lease && cur_ready) {
        w->lease--;
        return w->splits[w->cur].pc;
    }
    for (uint32_t k = 0; k < w->nsplits; k++) {
        struct wg_split *s = &w->splits[k];
        if (s->state != WG_SPLIT_READY)
            continue;
        if (best == UINT32_MAX || lower(s, &w->splits[best]))
            best = k;
        if (++s->age > AGE_MAX && (old == UINT32_MAX || s->age > w->splits[old].age))
            old = k;
    }
    if (best == UINT32_MAX) {
        /* Nobody can run: lanes wait for each other at different places, or all are at barriers. Lanes that wait for
         * others of their warp go on without them, as the hardware lets them; the checks report it. */
        bool barrier = false;
        for (uint32_t k = 0; k < w->nsplits; k++)
            barrier |= w->splits[k].state == WG_SPLIT_BARRIER;
        if (!barrier)
            for (uint32_t k = 0; k < w->nsplits; k++)
                if (w->splits[k].state == WG_SPLIT_SYNC) {
                    tell_missing(w, &w->splits[k]);
                    w->splits[k].state = WG_SPLIT_READY;
                    w->splits[k].forced = true;
                    best = k;
                    break;
                }
        if (best == UINT32_MAX) {
            w->state = w->nsplits ? WG_WARP_BARRIER : WG_WARP_DONE;
            w->barrier = WG_BARRIERS;
            return NULL;
        }
    }
    if (old != UINT32_MAX && old != best) {
        best = old;
        w->lease = LEASE;
    }
    w->cur = best;
    w->splits[best].age = 0;
    w->mask = w->splits[best].mask;
    w->R = w->splits[best].R;
    return w->splits[best].pc;
}

static void wake_sync(struct wg_warp *w)
{
    for (uint32_t k = 0; k < w->nsplits; k++) {
        struct wg_split *s = &w->splits[k];
        if (s->state != WG_SPLIT_SYNC)
            continue;
        uint32_t here = 0;
        for (uint32_t j = 0; j < w->nsplits; j++) {
            const struct wg_split *t = &w->splits[j];
            if (t->state == WG_SPLIT_SYNC && t->R == s->R && (t->pc == s->pc || (t->any_pc && s->any_pc)))
                here |= t->mask;
        }
        if (s->wait & w->live & ~here)
            continue;
        bool any = s->any_pc;
        if (any && w->wk->run->kc->observed)
            tell_met(w, s, here & s->wait);
        const struct wg_inst *pc = s->pc;
        char *R = s->R;
        for (uint32_t j = 0; j < w->nsplits; j++) {
            struct wg_split *t = &w->splits[j];
            if (t->state == WG_SPLIT_SYNC && t->R == R && (t->pc == pc || (t->any_pc && any))) {
                t->state = WG_SPLIT_READY;
                if (any) { /* bar.warp.sync is done when all have arrived: on with the next PTX instruction */
                    const struct wg_code *c = wg_frame_of(t->R)->code;
                    t->pc = c->wide + c->wide_at[c->wide_ptx[t->pc - c->wide] + 1] - 1;
                    t->wait = 0;
                }
            }
        }
    }
}

const struct wg_inst *wg_inst_start(const struct wg_warp *w, const struct wg_inst *i)
{
    const struct wg_code *c = wg_code_of(w);
    return w->wide ? c->wide + c->wide_body[c->wide_ptx[i - c->wide]] : c->fast + c->fast_body[c->fast_ptx[i - c->fast]];
}

bool wg_wide_wait(struct wg_warp *w, const struct wg_inst *i, uint32_t need, bool any_pc, const struct wg_inst **next)
{
    struct wg_split *s = &w->splits[w->cur];
    i = wg_inst_start(w, i);
    s->pc = i;
    if (s->forced) { /* the others cannot come */
        s->forced = false;
        s->wait = 0;
        return true;
    }
    s->wait = need;
    s->any_pc = any_pc;
    if (!any_pc) {
        wg_wide_merge_at(w, i);
        s = &w->splits[w->cur];
        if (!(s->wait & w->live & ~s->mask)) {
            s->state = WG_SPLIT_READY;
            s->wait = 0;
            *next = i;
            return false;
        }
    }
    s->state = WG_SPLIT_SYNC;
    w->lease = 0;
    wake_sync(w);
    *next = wg_wide_pick(w);
    return false;
}

const struct wg_inst *wg_lanes_exit(struct wg_warp *w, const struct wg_inst *i, uint32_t gone)
{
    struct wg_split *s = &w->splits[w->cur];
    s->mask &= ~gone;
    w->mask = s->mask;
    s->pc = i + 1;
    if (!s->mask) {
        release(w, wg_frame_of(s->R));
        remove_split(w, w->cur);
        w->cur = 0;
        w->lease = 0;
    }
    if (!w->live || !w->nsplits) {
        w->state = WG_WARP_DONE;
        return NULL;
    }
    wake_sync(w);
    return wg_wide_pick(w);
}

/* ---- from fast to wide ---- */
static const struct wg_inst *to_wide(const struct wg_code *c, const struct wg_inst *fast)
{
    uint32_t k = (uint32_t)(fast - c->fast), p = c->fast_ptx[k];
    return c->wide + (k < c->fast_body[p] ? c->wide_at[p] : c->wide_body[p]);
}

static void widen_frame(const struct wg_frame *f)
{
    const struct wg_code *c = f->code;
    char *R = wg_frame_regs((struct wg_frame *)f);
    for (uint32_t k = 0; k < c->nslots; k++) {
        const struct wg_slot *s = &c->slots[k];
        if (s->cls == WG_CLASS_V || s->cls == WG_CLASS_P || !s->wide)
            continue;
        uint64_t base = *(uint64_t *)(R + s->fast), stride = s->cls == WG_CLASS_A ? *(uint64_t *)(R + s->fast + 8) : 0;
        for (uint32_t l = 0; l < WG_LANES; l++, base += stride) {
            if (s->bytes == 8)
                ((uint64_t *)(R + s->wide))[l] = base;
            else if (s->bytes == 4)
                ((uint32_t *)(R + s->wide))[l] = (uint32_t)base;
            else
                ((uint16_t *)(R + s->wide))[l] = (uint16_t)base;
        }
    }
}

/* The call instruction of the wide code that stands for the fast one before ret. */
static const struct wg_inst *wide_return(const struct wg_code *c, const struct wg_inst *ret)
{
    uint32_t p = c->fast_ptx[ret - 1 - c->fast];
    const struct wg_handler_set *h = c->kernel->handlers;
    const struct wg_inst *x = c->wide + c->wide_at[p];
    while (x->fn != h->basic[WG_H_CALL] && x->fn != h->basic[WG_H_ICALL])
        x++;
    return x + 1;
}

static void add_split(struct wg_warp *w, uint32_t mask, const struct wg_inst *pc, char *R)
{
    if (!mask)
        return;
    struct wg_split *s = &w->splits[w->nsplits++];
    *s = (struct wg_split){.mask = mask, .pc = pc, .R = R, .state = WG_SPLIT_READY};
    wg_frame_of(R)->refs++;
}

const struct wg_inst *wg_deopt(struct wg_warp *w, const struct wg_inst *i)
{
    for (struct wg_frame *f = wg_frame_of(w->R); f; f = f->caller) {
        widen_frame(f);
        f->refs = 0;
        if (f->caller)
            f->ret = wide_return(f->caller->code, f->ret);
    }
    for (struct wg_frame *f = wg_frame_of(w->R); f->caller; f = f->caller)
        f->caller->refs = 1;
    const struct wg_inst *pc = to_wide(wg_code_of(w), i);
    w->wide = true;
    w->nsplits = 0;
    w->lease = 0;
    uint32_t taken = w->mask;
    add_split(w, w->mask, pc, w->R);
    while (w->sp) {
        const struct wg_stack_entry *t = &w->stack[--w->sp];
        uint32_t mask = t->mask & w->live & ~taken;
        const struct wg_inst *at = t->pc ? t->pc : t->rpc;
        if (mask && at)
            add_split(w, mask, to_wide(wg_frame_of(t->R)->code, at), t->R);
        taken |= mask;
    }
    w->cur = 0;
    return pc;
}
