/* grid.c - blocks to workers, warps to their turn, and what to say when nothing moves any more. */
#include "exec/async.h"
#include "exec/cluster.h"
#include "exec/engine.h"
#include "exec/handlers.h"
#include "exec/patterns.h"
#include "exec/traffic.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- facts about the launch ---- */
uint32_t wg_run_sms(const struct wg_run *r) { return r->g->gpu->sms > 0 ? (uint32_t)r->g->gpu->sms : 1; }
unsigned wg_run_cc(const struct wg_run *r) { return r->g->gpu->cc->major * 10 + r->g->gpu->cc->minor; }
uint64_t wg_run_grid_id(const struct wg_run *r) { return r->g->nlaunches + 1; }
/* Cycles move with the backward branches and turns taken; enough for a clock that rises and is repeatable. */
uint64_t wg_run_clock(const struct wg_warp *w)
{
    struct wg_warp *x = (struct wg_warp *)w;
    x->insts += 16;
    return w->wk->run->g->clock + w->insts + 4ull * (uint64_t)(w->turns * (int64_t)WG_FUEL + (WG_FUEL - w->fuel));
}
uint64_t wg_run_timer(const struct wg_warp *w)
{
    double mhz = w->wk->run->g->gpu->base_clock_mhz;
    return 1000000000000ull + (uint64_t)((double)wg_run_clock(w) * 1000.0 / (mhz > 0 ? mhz : 1000.0));
}
uint64_t wg_run_workspace(const struct wg_run *r) { return r->g->workspace; }
uint64_t wg_run_param_bytes(const struct wg_run *r) { return r->kc->codes[0]->fn->param_bytes; }
bool wg_run_is_const(const struct wg_run *r, uint64_t addr)
{
    return addr >= r->kc->owner->const_lo && addr < r->kc->owner->const_hi;
}
uint64_t wg_run_cluster_sreg(const struct wg_block *b, unsigned sreg)
{
    const struct wg_run *r = b->wk->run;
    const uint32_t *c = r->cluster;
    switch (sreg) {
    case WG_SREG_CLUSTERID_X: return b->ctaid[0] / c[0];
    case WG_SREG_CLUSTERID_Y: return b->ctaid[1] / c[1];
    case WG_SREG_CLUSTERID_Z: return b->ctaid[2] / c[2];
    case WG_SREG_NCLUSTERID_X: return r->grid[0] / c[0];
    case WG_SREG_NCLUSTERID_Y: return r->grid[1] / c[1];
    case WG_SREG_NCLUSTERID_Z: return r->grid[2] / c[2];
    case WG_SREG_CLUSTER_CTAID_X: return b->ctaid[0] % c[0];
    case WG_SREG_CLUSTER_CTAID_Y: return b->ctaid[1] % c[1];
    case WG_SREG_CLUSTER_CTAID_Z: return b->ctaid[2] % c[2];
    case WG_SREG_CLUSTER_NCTAID_X: return c[0];
    case WG_SREG_CLUSTER_NCTAID_Y: return c[1];
    case WG_SREG_CLUSTER_NCTAID_Z: return c[2];
    case WG_SREG_CLUSTER_CTARANK: return b->cluster_rank;
    case WG_SREG_CLUSTER_NCTARANK: return (uint64_t)c[0] * c[1] * c[2];
    case WG_SREG_IS_EXPLICIT_CLUSTER: return (uint64_t)c[0] * c[1] * c[2] > 1 ? UINT32_MAX : 0;
    default: return 0; /* the reserved_smem offsets: nothing is reserved here */
    }
}

/* ---- faults ---- */
uint32_t wg_ptx_index(const struct wg_warp *w, const struct wg_inst *i)
{
    const struct wg_code *c = wg_code_of(w);
    if (i >= c->fast && i < c->fast + c->nfast)
        return c->fast_ptx[i - c->fast];
    return c->wide_ptx[i - c->wide];
}

const struct wg_inst *wg_fault(struct wg_warp *w, const struct wg_inst *i, enum wg_status s, const char *id, int lane,
                               uint64_t address, const char *fmt, ...)
{
    struct wg_worker *k = w->wk;
    struct wg_fault *f = &k->fault;
    w->state = WG_WARP_FAULT;
    if (f->set)
        return NULL;
    *f = (struct wg_fault){.set = true, .status = s, .id = id, .block = w->blk->linear, .address = address,
                           .code = wg_code_of(w)};
    uint32_t p = wg_ptx_index(w, i);
    f->site = p < f->code->fn->ninstrs ? f->code->site0 + p : UINT32_MAX;
    memcpy(f->ctaid, w->blk->ctaid, sizeof f->ctaid);
    if (lane >= 0)
        for (int d = 0; d < 3; d++)
            f->tid[d] = w->tid[d][lane];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->text, sizeof f->text, fmt, ap);
    va_end(ap);
    __atomic_store_n(&k->run->stop, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* ---- frames ---- */
static void init_frame(struct wg_frame *f, const struct wg_code *c)
{
    f->code = c;
    memcpy(wg_frame_regs(f), c->consts, (size_t)c->nconsts * 8);
}

/* Nothing taken by alloca yet. */
static void clear_top(struct wg_frame *f)
{
    if (f->code->top_slot)
        memset(wg_frame_regs(f) + f->code->top_slot, 0, 4 * WG_LANES);
}

uint32_t wg_frame_local(const struct wg_frame *f)
{
    uint32_t most = 0;
    if (!f->code->top_slot)
        return f->local_base + f->code->local_bytes;
    const uint32_t *top = (const uint32_t *)((const char *)(f + 1) + f->code->top_slot);
    for (unsigned l = 0; l < WG_LANES; l++)
        most = top[l] > most ? top[l] : most;
    return f->local_base + ((f->code->local_bytes + 15u) & ~15u) + most;
}

struct wg_frame *wg_frame_new(struct wg_warp *w, const struct wg_code *code)
{
    for (struct wg_frame **p = &w->free_frames; *p; p = &(*p)->next_free)
        if ((*p)->code == code) {
            struct wg_frame *f = *p;
            *p = f->next_free;
            f->caller = NULL;
            f->refs = 0;
            clear_top(f);
            return f;
        }
    struct wg_frame *f = wg_aligned(64, sizeof *f + code->frame_bytes);
    if (!f)
        return NULL;
    init_frame(f, code);
    clear_top(f);
    f->all = w->frames;
    w->frames = f;
    return f;
}

void wg_frame_drop(struct wg_warp *w, struct wg_frame *f)
{
    f->next_free = w->free_frames;
    w->free_frames = f;
}

#define LOCAL_MAX (512u << 10) /* bytes a thread: CUDA C++ Programming Guide, technical specifications */

char *wg_local_reserve(struct wg_warp *w, uint64_t bytes)
{
    static const char none[1]; /* what nobody may touch, as no bytes were asked for */
    if (bytes <= w->local_bytes)
        return w->local ? w->local : (char *)none;
    if (bytes > LOCAL_MAX)
        return NULL;
    uint64_t want = (bytes + bytes / 2 + 63) & ~63ull;
    char *p = wg_realloc(w->local, want * WG_LANES);
    if (!p)
        return NULL;
    memset(p + w->local_bytes * WG_LANES, 0, (want - w->local_bytes) * WG_LANES);
    w->local = p;
    w->local_bytes = want;
    return p;
}

/* ---- blocks ---- */
static void free_block(struct wg_block *b)
{
    if (!b)
        return;
    for (uint32_t k = 0; b->warps && k < b->nwarps; k++) {
        struct wg_warp *w = &b->warps[k];
        for (struct wg_frame *f = w->frames, *n; f; f = n) {
            n = f->all;
            free(f);
        }
        free(w->stack);
        if (w->async)
            free(w->async->v);
        free(w->async);
        free(w->local);
        free(w->tid[0]);
    }
    wg_trace_block_free(b->trace);
    free(b->warps);
    free(b->shared);
    free(b);
}

static struct wg_block *new_block(struct wg_worker *k)
{
    const struct wg_run *r = k->run;
    struct wg_block *b = wg_calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->wk = k;
    b->nwarps = r->nwarps;
    b->shared_bytes = r->shared_bytes;
    b->warps = wg_aligned(64, r->nwarps * sizeof *b->warps);
    b->shared = wg_aligned(64, (size_t)r->shared_bytes + 64);
    if (!b->warps || !b->shared) {
        b->nwarps = 0;
        free_block(b);
        return NULL;
    }
    for (uint32_t x = 0; x < r->nwarps; x++) {
        struct wg_warp *w = &b->warps[x];
        w->index = x;
        w->blk = b;
        w->wk = k;
        w->bb = k->bb;
        w->site = k->site;
        w->shared = b->shared;
        w->shared_bytes = b->shared_bytes;
        w->lo = k->lo;
        w->hi = k->hi;
        uint32_t left = r->threads - x * WG_LANES;
        w->full = left >= WG_LANES ? UINT32_MAX : (1u << left) - 1;
        w->tid[0] = wg_calloc(3 * WG_LANES, sizeof *w->tid[0]);
        struct wg_frame *f = wg_frame_new(w, r->kc->codes[0]);
        if (!w->tid[0] || !f || !wg_local_reserve(w, r->kc->codes[0]->local_bytes)) {
            free_block(b);
            return NULL;
        }
        w->tid[1] = w->tid[0] + WG_LANES;
        w->tid[2] = w->tid[1] + WG_LANES;
        for (uint32_t l = 0; l < WG_LANES; l++) {
            uint32_t t = x * WG_LANES + l;
            w->tid[0][l] = (uint16_t)(t % r->block[0]);
            w->tid[1][l] = (uint16_t)(t / r->block[0] % r->block[1]);
            w->tid[2][l] = (uint16_t)(t / r->block[0] / r->block[1]);
        }
        for (int d = 0; d < 3; d++)
            w->tid0[d] = w->tid[d][0];
        w->root = f;
    }
    return b;
}

/* false: no memory. */
static bool start_block(struct wg_block *b, uint64_t linear)
{
    const struct wg_run *r = b->wk->run;
    b->linear = linear;
    b->gone = false;
    b->cluster = NULL;
    b->ctaid[0] = (uint32_t)(linear % r->grid[0]);
    b->ctaid[1] = (uint32_t)(linear / r->grid[0] % r->grid[1]);
    b->ctaid[2] = (uint32_t)(linear / r->grid[0] / r->grid[1]);
    const uint32_t *c = r->cluster;
    b->cluster_rank = b->ctaid[0] % c[0] + c[0] * (b->ctaid[1] % c[1] + c[1] * (b->ctaid[2] % c[2]));
    b->live_warps = b->nwarps;
    b->live_lanes = 0;
    memset(b->bar, 0, sizeof b->bar);
    memset(b->shared, 0, b->shared_bytes);
    if (r->kc->observed) {
        const struct wg_observer *o = &r->g->observer;
        struct wg_block_event e = {.linear = linear};
        memcpy(e.ctaid, b->ctaid, sizeof e.ctaid);
        b->observed = o->block_begin(o->ctx, &e);
    }
    if (!wg_traffic_begin(b))
        return false;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct wg_warp *w = &b->warps[k];
        w->mask = w->live = w->full;
        b->live_lanes += (uint32_t)__builtin_popcount(w->full);
        /* no room: the handlers that count no addresses leave block 0 to those that do */
        w->shared_bytes = linear == 0 && r->kc->counters ? 0 : b->shared_bytes;
        w->state = WG_WARP_READY;
        w->observed = b->observed;
        w->row = b->observed ? r->g->observer.row : NULL;
        w->wide = false;
        w->sp = w->nsplits = w->lease = 0;
        w->R = wg_frame_regs(w->root);
        w->pc = r->kc->codes[0]->fast;
        w->turns = 0;
        w->insts = 0;
        if (w->async) {
            w->async->n = 0;
            memset(w->async->committed, 0, sizeof w->async->committed);
        }
        w->free_frames = NULL;
        for (struct wg_frame *f = w->frames; f; f = f->all)
            if (f != w->root)
                wg_frame_drop(w, f);
        w->root->refs = 0;
        clear_top(w->root);
        w->cluster_parity = 0;
#ifdef WG_HOSTILE
        if ((k + linear) % 2) /* half of the warps never see fast code */
            w->pc = wg_deopt(w, w->pc);
#endif
    }
    return true;
}

/* ---- hangs ---- */
static size_t describe_waits(const struct wg_block *b, char *buf, size_t n)
{
    size_t len = 0;
    unsigned shown = 0;
    buf[0] = 0;
    for (uint32_t k = 0; k < b->nwarps && shown < 4; k++) {
        const struct wg_warp *w = &b->warps[k];
        if (w->state == WG_WARP_DONE)
            continue;
        const struct wg_inst *pc = w->wide && w->nsplits ? w->splits[0].pc : w->pc;
        char *R = w->wide && w->nsplits ? w->splits[0].R : w->R;
        struct wg_warp t = *w;
        t.R = R;
        uint32_t p = wg_ptx_index(&t, pc ? pc - (w->state == WG_WARP_BARRIER) : pc);
        const struct wg_function *f = wg_code_of(&t)->fn;
        const struct wg_instr *in = p < f->ninstrs ? &f->instrs[p] : NULL;
        const struct wg_ptx_module *m = b->wk->run->kc->module;
        const char *file = in && in->line && in->file < m->nfiles && m->files[in->file] ? m->files[in->file] : m->name;
        int add = snprintf(buf + len, n - len, "%s\n    warp %u waits at %s:%u (%.*s)", shown ? "" : "", k, file,
                           in ? (in->line ? in->line : in->ptx_line) : 0, in ? (int)in->text_len : 1,
                           in ? in->text : "?");
        if (add < 0 || (size_t)add >= n - len)
            break;
        len += (size_t)add;
        shown++;
    }
    return len;
}

static void report_hang(struct wg_worker *k, struct wg_block *b, const char *why)
{
    struct wg_fault *f = &k->fault;
    if (!f->set) {
        *f = (struct wg_fault){.set = true, .status = WG_HANG, .id = "hang", .block = b->linear, .site = UINT32_MAX};
        memcpy(f->ctaid, b->ctaid, sizeof f->ctaid);
        int n = snprintf(f->text, sizeof f->text, "The launch cannot finish: %s in block (%u,%u,%u)", why, b->ctaid[0],
                         b->ctaid[1], b->ctaid[2]);
        describe_waits(b, f->text + n, sizeof f->text - (size_t)n);
    }
    __atomic_store_n(&k->run->stop, 1, __ATOMIC_RELEASE);
}

/* ---- running ---- */
enum turn { TURN_DONE, TURN_MOVED, TURN_SPUN, TURN_FAULT };

static void run_warp(struct wg_warp *w, int32_t turn)
{
    w->fuel = turn;
    w->state = WG_WARP_READY;
    w->turns++;
    w->spun = false;
    const struct wg_inst *i = w->pc;
    if (w->wide) {
        i = wg_wide_pick(w);
        if (!i)
            return;
    }
    while (i)
        i = i->fn(w, i, w->R);
}

static uint32_t draw(struct wg_worker *k) /* splitmix64 */
{
    uint64_t z = k->random += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (uint32_t)(z >> 33);
}

/* The order in which the warps of a block get their turn: any is legal. */
static void order_warps(struct wg_worker *k, uint32_t n, uint8_t *order)
{
    enum wg_schedule s = k->run->g->opt.schedule;
    for (uint32_t x = 0; x < n; x++)
        order[x] = (uint8_t)(s == WG_SCHEDULE_ADVERSARIAL ? n - 1 - x : x);
    for (uint32_t x = n; s == WG_SCHEDULE_RANDOM && x > 1; x--) {
        uint32_t y = draw(k) % x;
        uint8_t t = order[x - 1];
        order[x - 1] = order[y];
        order[y] = t;
    }
}
/* Backward branches of one turn: other schedules than round-robin interleave more finely. */
static int32_t fuel(struct wg_worker *k)
{
    enum wg_schedule s = k->run->g->opt.schedule;
    return s == WG_SCHEDULE_RANDOM ? (int32_t)(1 + draw(k) % 64) : s == WG_SCHEDULE_ADVERSARIAL ? 1 : WG_FUEL;
}

/* One turn for every warp of the block. SPUN: all that could run only spun. */
static enum turn run_block(struct wg_block *b)
{
    struct wg_worker *k = b->wk;
    uint64_t before = k->changes;
    bool ran = false, computed = false;
    uint8_t order[WG_LANES * 2]; /* 1024 threads are 32 warps */
    if (k->run->g->opt.schedule)
        order_warps(k, b->nwarps, order);
    for (uint32_t x = 0; x < b->nwarps; x++) {
        struct wg_warp *w = &b->warps[k->run->g->opt.schedule ? order[x] : x];
        if (w->state == WG_WARP_DONE || w->state == WG_WARP_BARRIER)
            continue;
        ran = true;
        run_warp(w, fuel(k));
        if (w->state == WG_WARP_FAULT)
            return TURN_FAULT;
        if (w->state == WG_WARP_DONE) {
            b->live_warps--;
            k->changes++;
            b->any_exit = true;
        } else if (w->state == WG_WARP_YIELD && !w->spun) {
            computed = true;
        }
        if (__atomic_load_n(&k->run->stop, __ATOMIC_RELAXED))
            return TURN_FAULT;
    }
    if (!b->live_warps)
        return TURN_DONE;
    if (k->run->kc->handlers->barrier_recheck(b)) /* lanes that exited no longer hold the others up */
        return TURN_MOVED;
    if (!ran) {
        report_hang(k, b, "every warp waits at a barrier that the others will not reach,");
        return TURN_FAULT;
    }
    return computed || k->changes != before ? TURN_MOVED : TURN_SPUN;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool cancelled(const struct wg_run *r) { return r->g->opt.cancel && *r->g->opt.cancel; }

/* Takes the next unit that nobody runs; UINT64_MAX when there is none. */
static uint64_t take(struct wg_run *r)
{
    uint64_t n = __atomic_fetch_add(&r->next_unit, 1, __ATOMIC_RELAXED);
    if (n >= r->nunits)
        return UINT64_MAX;
#ifdef WG_HOSTILE
    if (!r->kc->order_matters) { /* any order is legal: reverse pairs */
        uint64_t m = n ^ 1;
        return m < r->nunits ? m : n;
    }
#endif
    return n;
}

/* ---- units: a block, or the blocks of a cluster, which run together ---- */
static struct wg_block *get_block(struct wg_worker *k)
{
    struct wg_block *b = k->free_blocks;
    if (!b)
        return new_block(k);
    k->free_blocks = b->next;
    return b;
}
static void give_block(struct wg_worker *k, struct wg_block *b)
{
    b->next = k->free_blocks;
    k->free_blocks = b;
}

/* Block `rank` of cluster `unit`, as a linear index in the grid. */
static uint64_t linear_of(const struct wg_run *r, uint64_t unit, uint32_t rank)
{
    const uint32_t *c = r->cluster, *g = r->grid;
    uint64_t nx = g[0] / c[0], ny = g[1] / c[1];
    uint64_t x = unit % nx * c[0] + rank % c[0], y = unit / nx % ny * c[1] + rank / c[0] % c[1],
             z = unit / nx / ny * c[2] + rank / c[0] / c[1];
    return x + g[0] * (y + g[1] * z);
}

/* Puts the blocks of unit n behind the resident ones; false: out of memory. */
static bool start_unit(struct wg_worker *k, uint64_t n)
{
    const struct wg_run *r = k->run;
    bool clustered = r->unit_blocks > 1 || r->kc->uses_cluster;
    struct wg_cluster *c = clustered ? wg_calloc(1, sizeof *c) : NULL;
    struct wg_block *got[WG_CLUSTER_MAX] = {NULL}, **p = &k->blocks;
    if (clustered && !c)
        return false;
    for (uint32_t x = 0; x < r->unit_blocks; x++)
        if (!(got[x] = get_block(k)) || !start_block(got[x], clustered ? linear_of(r, n, x) : n)) {
            for (uint32_t y = 0; y <= x && got[y]; y++)
                give_block(k, got[y]);
            free(c);
            return false;
        }
    while (*p)
        p = &(*p)->next;
    for (uint32_t x = 0; x < r->unit_blocks; x++) {
        got[x]->next = NULL;
        got[x]->cluster = c;
        if (c)
            c->block[c->n++] = got[x];
        *p = got[x];
        p = &got[x]->next;
    }
    k->nresident += r->unit_blocks;
    return true;
}

/* A block has ended: others of its cluster may still look at it, so that it goes with the last of them. */
static void end_block(struct wg_block *b)
{
    struct wg_worker *k = b->wk;
    struct wg_run *r = k->run;
    if (r->kc->observed)
        r->g->observer.block_end(r->g->observer.ctx, b->observed);
    wg_traffic_end(b);
    b->gone = true;
    k->nresident--;
    k->blocks_done++;
    __atomic_fetch_add(&r->blocks_done, 1, __ATOMIC_RELAXED);
    if (b->cluster)
        b->cluster->done++;
}
static bool is_done(const struct wg_block *b) { return b->gone && (!b->cluster || b->cluster->done == b->cluster->n); }
static void reap(struct wg_worker *k)
{
    for (struct wg_block **p = &k->blocks; *p;) {
        struct wg_block *b = *p;
        if (!is_done(b)) {
            p = &b->next;
            continue;
        }
        *p = b->next;
        if (b->cluster && b->cluster->block[b->cluster->n - 1] == b) /* the last of them in this list */
            free(b->cluster);
        give_block(k, b);
    }
}

void wg_cluster_settle(struct wg_worker *k, struct wg_cluster *c)
{
    uint64_t need = 0;
    if (!c->arrived)
        return;
    for (uint32_t x = 0; x < c->n; x++)
        for (uint32_t y = 0; !c->block[x]->gone && y < c->block[x]->nwarps; y++)
            need += (uint32_t)__builtin_popcount(c->block[x]->warps[y].live);
    if (c->arrived < need)
        return;
    c->arrived = 0;
    c->phase++;
    k->changes++;
}

const struct wg_inst *wg_cluster_fault(struct wg_warp *w, const struct wg_inst *i, unsigned lane, uint64_t addr)
{
    uint32_t r = wg_cluster_rank_of(w->blk, addr), n = w->blk->cluster ? w->blk->cluster->n : 1;
    return wg_fault(w, i, WG_KERNEL_FAULT, "out-of-bounds", (int)lane, addr,
                    "Invalid __shared__ access: address 0x%llx is of block %u of the cluster, which %s",
                    (unsigned long long)addr, r, r < n ? "has exited" : "has fewer blocks");
}

static void tell_progress(struct wg_worker *k)
{
    struct wg_run *r = k->run;
    if (!r->g->opt.progress || k->index)
        return;
    double t = now();
    if (t - r->last_progress < 0.1)
        return;
    r->last_progress = t;
    uint64_t insts = 0;
    for (uint32_t x = 0; x < r->kc->nbb; x++)
        insts += k->bb[x].exec * r->bb_len[x];
    r->g->opt.progress(r->g->opt.ctx, __atomic_load_n(&r->blocks_done, __ATOMIC_RELAXED), r->nblocks,
                       insts * r->nworkers);
}

/* How long everything may spin without any change of memory before it is called a hang. */
#define HANG_SECONDS 4.0
#define HANG_TURNS   2000

static struct wg_block *waiting(const struct wg_worker *k)
{
    struct wg_block *b = k->blocks;
    while (b->gone && b->next)
        b = b->next;
    return b;
}

static void *work(void *arg)
{
    struct wg_worker *k = arg;
    struct wg_run *r = k->run;
    bool more = true;
    uint64_t idle = 0;
    double since = 0;
    if (k->index)
        wg_traffic_wait(r);
    while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
        if (!k->blocks && more) {
            uint64_t n = take(r);
            if (n == UINT64_MAX)
                break;
            if (!start_unit(k, n)) {
                k->fault = (struct wg_fault){.set = true, .status = WG_NO_MEMORY, .id = "host-memory", .site = UINT32_MAX,
                                             .text = "out of host memory for a block"};
                __atomic_store_n(&r->stop, 1, __ATOMIC_RELEASE);
                break;
            }
        }
        if (!k->blocks)
            break;
        bool moved = false, ended = false;
        for (struct wg_block *b = k->blocks; b; b = b->next) {
            if (b->gone)
                continue;
            enum turn t = run_block(b);
            if (t == TURN_FAULT)
                goto out;
            moved |= t != TURN_SPUN;
            if (t == TURN_DONE) {
                end_block(b);
                ended = true;
                tell_progress(k);
            }
        }
        if (ended)
            reap(k);
        if (cancelled(r)) {
            k->fault = (struct wg_fault){.set = true, .status = WG_CANCELLED, .id = "cancelled", .site = UINT32_MAX,
                                         .text = "cancelled"};
            __atomic_store_n(&r->stop, 1, __ATOMIC_RELEASE);
            break;
        }
        if (moved) {
            idle = 0;
            continue;
        }
        /* These blocks wait for others: give one more a place, as an SM would hold several; all of a cooperative launch. */
        bool admitted = false;
        while (more && k->nresident < r->max_resident && (!admitted || r->cfg->cooperative)) {
            uint64_t n = take(r);
            if (n == UINT64_MAX) {
                more = false;
                break;
            }
            if (!start_unit(k, n))
                break;
            admitted = true;
        }
        if (admitted) {
            idle = 0;
            continue;
        }
        if (idle++ == 0)
            since = now();
        uint64_t done = __atomic_load_n(&r->blocks_done, __ATOMIC_RELAXED);
        if (done != k->seen_done) {
            k->seen_done = done;
            idle = 0;
        } else if (idle > HANG_TURNS && now() - since > HANG_SECONDS) {
            report_hang(k, waiting(k), "every warp spins and memory no longer changes,");
            break;
        }
    }
out:
    return NULL;
}

static bool open_worker(struct wg_run *r, struct wg_worker *k, unsigned index)
{
    k->run = r;
    k->index = index;
    k->random = r->g->opt.seed * 0x2545f4914f6cdd1dull + r->g->nlaunches + index;
    k->lo = r->g->opt.host_addresses ? 1 : r->g->lo;
    k->hi = r->g->opt.host_addresses ? WG_SHARED_WINDOW : r->g->hi;
    k->params = (const uint8_t *)r->param_addr;
    k->bb = wg_calloc(r->kc->nbb + 1, sizeof *k->bb);
    k->site = wg_calloc(r->kc->nsites + 1, sizeof *k->site);
    k->memo = wg_calloc(r->kc->nsites + 1, sizeof *k->memo);
    k->worst = wg_calloc(r->kc->nsites + 1, sizeof *k->worst);
    k->patterns = wg_calloc(r->kc->nsites + 1, sizeof *k->patterns);
    return k->bb && k->site && k->memo && k->worst && k->patterns;
}

static void close_worker(struct wg_worker *k)
{
    for (struct wg_block *b = k->blocks; b; b = b->next) /* a launch that stopped */
        if (b->cluster && b->cluster->block[b->cluster->n - 1] == b)
            free(b->cluster);
    struct wg_block *lists[2] = {k->blocks, k->free_blocks};
    for (int l = 0; l < 2; l++)
        for (struct wg_block *b = lists[l], *n; b; b = n) {
            n = b->next;
            free_block(b);
        }
    for (uint32_t s = 0; k->memo && s < k->run->kc->nsites; s++)
        free(k->memo[s]);
    free(k->memo);
    free(k->bb);
    free(k->site);
    free(k->worst);
    wg_patterns_free(k->patterns, k->run->kc->nsites);
}

/* Adds the other workers' counters to the first's and keeps the fault of the lowest block. */
static void merge(struct wg_run *r, struct wg_fault *f)
{
    struct wg_worker *a = &r->workers[0];
    *f = a->fault;
    for (uint32_t k = 1; k < r->nworkers; k++) {
        const struct wg_worker *b = &r->workers[k];
        for (uint32_t x = 0; x < r->kc->nbb; x++) {
            a->bb[x].exec += b->bb[x].exec;
            a->bb[x].lanes += b->bb[x].lanes;
        }
        for (uint32_t x = 0; x < r->kc->nsites; x++) {
            if (b->patterns[x]) { /* block 0 ran on one worker */
                a->patterns[x] = b->patterns[x];
                b->patterns[x] = NULL;
            }
            uint64_t *to = (uint64_t *)&a->site[x];
            const uint64_t *from = (const uint64_t *)&b->site[x];
            uint64_t spaces = a->site[x].spaces | b->site[x].spaces, worst = a->site[x].worst;
            if (b->site[x].worst > worst) {
                worst = b->site[x].worst;
                a->worst[x] = b->worst[x];
            }
            for (size_t c = 0; c < sizeof *a->site / sizeof *to; c++)
                to[c] += from[c];
            a->site[x].spaces = spaces;
            a->site[x].worst = worst;
        }
        if (b->fault.set && (!f->set || b->fault.block < f->block))
            *f = b->fault;
    }
}

enum wg_status wg_run_grid(struct wg_run *r, struct wg_fault *f)
{
    r->workers = wg_calloc(r->nworkers, sizeof *r->workers);
    bool ok = r->workers != NULL;
    for (uint32_t k = 0; ok && k < r->nworkers; k++)
        ok = open_worker(r, &r->workers[k], k);
    *f = (struct wg_fault){.site = UINT32_MAX};
    r->ran = ok;
    if (ok) {
        uint32_t started = 1;
        for (; started < r->nworkers; started++)
            if (pthread_create(&r->workers[started].thread, NULL, work, &r->workers[started]))
                break; /* the ones that started do it all */
        work(&r->workers[0]);
        for (uint32_t k = 1; k < started; k++)
            pthread_join(r->workers[k].thread, NULL);
        merge(r, f);
    }
    if (!ok)
        return WG_NO_MEMORY;
    return f->set ? f->status : WG_OK;
}

void wg_run_close(struct wg_run *r)
{
    for (uint32_t k = 0; r->workers && k < r->nworkers; k++)
        close_worker(&r->workers[k]);
    free(r->workers);
    free(r->bb_len);
    wg_traffic_close(r);
}
