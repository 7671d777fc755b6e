/* replay.c - simulated time for the recorded warps of a launch, as replay.h tells. */
#include "model/replay.h"
#include "base/arena.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEP = 512,           /* cycles one path runs before the next takes its turn */
    SCHEDULERS = 4,
    OUTSTANDING = 16,      /* loads of one warp that are told apart */
    BUCKET = 64,          /* cycles of one entry of the memory's calendar */
    BUCKETS = 1 << 14,
    TARGET_WORDS = 16 << 20, /* trace words of a launch that sampling aims at */
    FIX = 16,             /* fractional bits of rates */
};
#define NEVER UINT64_MAX

struct outstanding { uint64_t ready, deadline; };
struct rwarp {
    uint64_t t, began;   /* free to go on at */
    uint64_t issued;     /* slots since its start */
    const uint64_t *v;
    uint32_t at, n;
    uint32_t next;       /* in the calendar's list */
    uint16_t block;      /* of the SM's resident ones */
    uint8_t scheduler, nout;
    bool waits, done, came; /* came: to its next event */
    struct outstanding out[OUTSTANDING];
};
struct rblock {
    struct wg_trace_block *trace; /* NULL: this place is free */
    unsigned live, arrived;
    uint64_t barrier_t, end, wavefronts; /* wavefronts: shared passes per slot, fixed point */
};
struct rsm {
    uint64_t scheduler[SCHEDULERS], lsu, port; /* free at; port in fixed point */
    struct rblock *block;
    struct rwarp *warp;
    unsigned resident;
    uint64_t active_since, active;
};

struct wg_replay {
    struct wg_replay_launch l;
    struct wg_caches *c;
    struct wg_trace_block **queue; /* by block index; taken ones are NULL again */
    uint64_t next, ended, put;
    bool finishing, started;
    unsigned level;
    struct rsm *sm;
    unsigned nsm, per_path, npaths;
    uint64_t now;
    /* constants in cycles of the SM clock */
    uint64_t l1_lat, l2_lat, far_lat, dram_lat, smem_lat;
    uint64_t port_cost; /* per sector, fixed point */
    uint32_t bucket_bytes;
    uint32_t *bucket;   /* bytes given away; ring */
    uint64_t bucket_base; /* index of the oldest bucket */
    uint32_t head[STEP];
    uint64_t map[STEP / 64];
    struct rwarp **by_id;
    struct wg_replay_result res;
    double loads, stalls; /* sampled loads and what they waited: for the ones left out */
    uint64_t last_end, dispatched; /* dispatched: when the last block started, fixed point */
};

static double or_else(double v, double d) { return v > 0 ? v : d; }

struct wg_replay *wg_replay_open(struct wg_caches *c, const struct wg_replay_launch *l)
{
    struct wg_replay *r = wg_calloc(1, sizeof *r);
    if (!r)
        return NULL;
    const struct wg_gpu *g = l->gpu;
    r->l = *l;
    r->c = c;
    r->nsm = g->sms > 0 ? (unsigned)g->sms : 1;
    r->npaths = wg_cache_paths(g);
    r->per_path = (r->nsm + r->npaths - 1) / r->npaths;
    double mhz = or_else(l->clock_mhz, 1500), scale = mhz / or_else(g->latency_clock_mhz, mhz);
    r->l1_lat = (uint64_t)or_else(g->l1_latency, 33);
    r->smem_lat = (uint64_t)or_else(g->smem_latency, 29);
    r->l2_lat = (uint64_t)(or_else(g->l2_latency, 250) * scale);
    r->far_lat = (uint64_t)(or_else(g->l2_far_latency, or_else(g->l2_latency, 250)) * scale);
    r->dram_lat = (uint64_t)(or_else(g->dram_latency, 600) * scale);
    if (r->far_lat < r->l2_lat)
        r->far_lat = r->l2_lat;
    if (g->l2_partitions > 1) /* the figure is a mean over both parts of the L2 */
        r->dram_lat -= (r->far_lat - r->l2_lat) / 2;
    r->port_cost = (uint64_t)(32.0 / or_else(g->l2_bytes_per_clk, 32) * (1 << FIX));
    double bytes = or_else(g->dram_read_gbs, or_else(g->dram_gbs, 500) * 0.9) * 1e3 / mhz; /* a cycle */
    r->bucket_bytes = (uint32_t)(bytes * BUCKET);
    r->queue = wg_calloc(l->nblocks, sizeof *r->queue);
    r->sm = wg_calloc(r->nsm, sizeof *r->sm);
    r->bucket = wg_calloc(BUCKETS, sizeof *r->bucket);
    r->by_id = wg_calloc((size_t)r->per_path * l->blocks_per_sm * l->nwarps + 1, sizeof *r->by_id);
    r->res.site = wg_calloc(l->nsites + 1, sizeof *r->res.site);
    bool ok = r->queue && r->sm && r->bucket && r->by_id && r->res.site;
    for (unsigned s = 0; ok && s < r->nsm; s++) {
        r->sm[s].block = wg_calloc(l->blocks_per_sm, sizeof *r->sm[s].block);
        r->sm[s].warp = wg_calloc((size_t)l->blocks_per_sm * l->nwarps, sizeof *r->sm[s].warp);
        ok = r->sm[s].block && r->sm[s].warp;
    }
    if (!ok) {
        wg_replay_close(r);
        return NULL;
    }
    wg_caches_begin(c, l->l1_bytes, l->keep_l2);
    return r;
}

void wg_replay_close(struct wg_replay *r)
{
    if (!r)
        return;
    for (uint64_t b = 0; r->queue && b < r->l.nblocks; b++)
        wg_trace_block_free(r->queue[b]);
    for (unsigned s = 0; r->sm && s < r->nsm; s++) {
        for (unsigned b = 0; r->sm[s].block && b < r->l.blocks_per_sm; b++)
            wg_trace_block_free(r->sm[s].block[b].trace);
        free(r->sm[s].block);
        free(r->sm[s].warp);
    }
    free(r->queue);
    free(r->sm);
    free(r->bucket);
    free(r->by_id);
    free(r->res.site);
    free(r);
}

/* ---- memory: a calendar of what each stretch of time can still move, so that requests need not come in order ---- */
static uint64_t dram(struct wg_replay *r, uint64_t t, uint64_t bytes)
{
    uint64_t b = t / BUCKET;
    b = b < r->bucket_base ? r->bucket_base : b;
    while (b >= r->bucket_base + BUCKETS) /* far ahead: the oldest leave */
        r->bucket[r->bucket_base++ % BUCKETS] = 0;
    r->res.busy_dram += (double)bytes;
    for (;; b++) {
        if (b >= r->bucket_base + BUCKETS) {
            r->bucket[r->bucket_base % BUCKETS] = 0;
            r->bucket_base++;
        }
        uint32_t *u = &r->bucket[b % BUCKETS], room = r->bucket_bytes - *u;
        if (bytes <= room) {
            *u += (uint32_t)bytes;
            break;
        }
        bytes -= room;
        *u = r->bucket_bytes;
    }
    return b * BUCKET > t ? b * BUCKET : t;
}

/* ---- one event of a warp ---- */
static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* The instructions up to the next event. Returns when they are through. */
static uint64_t run_segment(struct wg_replay *r, struct rsm *s, struct rwarp *w, uint64_t word1)
{
    uint32_t slots = wg_trace_slots(word1), skipped = wg_trace_skipped(word1);
    uint64_t t = w->t, alone = t + wg_trace_alone(word1);
    uint64_t *q = &s->scheduler[w->scheduler];
    *q = later(*q, t) + slots;
    uint64_t end = later(alone, *q);
    uint64_t passes = slots * s->block[w->block].wavefronts >> FIX;
    if (passes || skipped) {
        s->lsu = later(s->lsu, t) + passes + skipped;
        end = later(end, s->lsu);
        r->res.busy_lsu += (double)(passes + skipped);
    }
    r->res.slots += slots;
    r->res.stall_pipe += (double)(end - alone);
    w->issued += slots;
    uint64_t data = end;
    for (unsigned k = 0; k < w->nout;) {
        if (w->out[k].deadline <= w->issued) {
            data = later(data, w->out[k].ready);
            w->out[k] = w->out[--w->nout];
        } else {
            k++;
        }
    }
    if (skipped && r->loads > 0)
        data += (uint64_t)(skipped * r->stalls / r->loads);
    else
        r->stalls += (double)(data - end);
    r->res.stall_memory += (double)(data - end);
    return data;
}

static void wait_for(struct wg_replay *r, struct rwarp *w, uint64_t ready, unsigned use)
{
    (void)r;
    if (w->nout == OUTSTANDING) { /* the oldest is waited for now */
        unsigned k = 0;
        for (unsigned x = 1; x < OUTSTANDING; x++)
            k = w->out[x].ready < w->out[k].ready ? x : k;
        w->t = later(w->t, w->out[k].ready);
        w->out[k] = w->out[--w->nout];
    }
    w->out[w->nout++] = (struct outstanding){ready, w->issued + use};
}

static void access(struct wg_replay *r, unsigned sm, unsigned slot, struct rwarp *w, uint64_t word0)
{
    struct rsm *s = &r->sm[sm];
    unsigned kind = wg_trace_kind_of(word0), flags = wg_trace_flags(word0), n = wg_trace_recorded(word0);
    unsigned cost = wg_trace_cost(word0), sectors = wg_trace_sectors(word0);
    uint32_t site = wg_trace_site(word0);
    struct wg_traffic *t = &r->res.site[site < r->l.nsites ? site : r->l.nsites];
    s->lsu = later(s->lsu, w->t) + cost;
    r->res.busy_lsu += (double)cost;
    uint64_t at = s->lsu, ready = at;
    unsigned touched = 0;
    for (unsigned k = 0; k < n; k++) {
        uint64_t word = w->v[w->at++], line = word >> 16, ok = 0;
        uint32_t words = word & 256 ? (uint32_t)w->v[w->at++] : 0;
        unsigned sec = word & 15, whole = word >> 4 & 15;
        touched += (unsigned)__builtin_popcount(sec);
        if (flags & WG_TRACE_LOCAL)
            line = wg_cache_local_line(sm, slot, line);
        uint64_t before = t->l2_read + t->l2_write + t->l2_atom + t->l2_red, mem = t->dram_read + t->dram_write;
        enum wg_cache_level level = WG_CACHE_L1;
        if (kind == WG_TRACE_LOAD)
            level = wg_cache_load(r->c, sm, at, line, sec, flags, t, &ok);
        else if (kind == WG_TRACE_STORE)
            wg_cache_store(r->c, sm, line, sec, whole, words, flags, t);
        else
            level = wg_cache_atomic(r->c, sm, line, sec, kind == WG_TRACE_ATOM, t);
        uint64_t moved = (t->l2_read + t->l2_write + t->l2_atom + t->l2_red - before) << r->level;
        uint64_t bytes = (t->dram_read + t->dram_write - mem) << r->level, arrive = at + r->l1_lat;
        if (moved) {
            s->port = later(s->port, at << FIX) + moved * r->port_cost;
            r->res.busy_port += (double)moved;
        }
        uint64_t port = s->port >> FIX;
        if (bytes)
            arrive = dram(r, at, bytes) + r->dram_lat + (level == WG_CACHE_DRAM_FAR ? r->far_lat - r->l2_lat : 0);
        else if (level == WG_CACHE_L2)
            arrive = at + r->l2_lat;
        else if (level >= WG_CACHE_L2_FAR)
            arrive = at + r->far_lat;
        if (moved)
            arrive = later(arrive, port);
        if (ok) /* on its way for a neighbour */
            arrive = later(ok, at + r->l1_lat);
        else if (level != WG_CACHE_L1 && kind == WG_TRACE_LOAD)
            wg_cache_fetched(r->c, sm, line, arrive);
        ready = later(ready, arrive);
    }
    if (kind >= WG_TRACE_ATOM && (flags & WG_TRACE_WHOLE) && sectors > touched) { /* the same sectors once more */
        *(kind == WG_TRACE_ATOM ? &t->l2_atom : &t->l2_red) += sectors - touched;
        t->l2_atomic_hit += sectors - touched;
        s->port += (uint64_t)(sectors - touched) * r->port_cost << r->level;
    }
    if (kind == WG_TRACE_LOAD || kind == WG_TRACE_ATOM) {
        r->loads++;
        wait_for(r, w, n ? ready : at + r->l1_lat, wg_trace_use(word0));
    } else { /* stores wait only when the queue to the L2 is long */
        uint64_t port = s->port >> FIX;
        if (port > w->t + 1000)
            w->t = port - 1000;
    }
}

static void barrier(struct wg_replay *r, struct rsm *s, struct rwarp *w);
static void end_warp(struct wg_replay *r, unsigned sm, struct rwarp *w);

static void step_warp(struct wg_replay *r, unsigned sm, struct rwarp *w)
{
    struct rsm *s = &r->sm[sm];
    if (w->at >= w->n) {
        end_warp(r, sm, w);
        return;
    }
    uint64_t a = w->v[w->at], b = w->v[w->at + 1], from = w->t;
    unsigned kind = wg_trace_kind_of(a);
    if (!w->came) { /* what comes before the event; the event itself when its time has come, so that queues stay in order */
        w->t = run_segment(r, s, w, b);
        w->came = true;
        if (w->t > from && kind != WG_TRACE_COMPUTE)
            return;
    }
    w->came = false;
    w->at += 2;
    if (kind == WG_TRACE_BARRIER)
        barrier(r, s, w);
    else if (kind != WG_TRACE_COMPUTE)
        access(r, sm, (unsigned)(w - s->warp), w, a);
}

static void release(struct wg_replay *r, struct rsm *s, unsigned block)
{
    struct rblock *b = &s->block[block];
    if (!b->live || b->arrived < b->live)
        return;
    for (unsigned k = 0; k < r->l.nwarps; k++) {
        struct rwarp *o = &s->warp[block * r->l.nwarps + k];
        if (o->waits) {
            r->res.stall_barrier += (double)(b->barrier_t - o->t);
            o->t = b->barrier_t + 8;
            o->waits = false;
        }
    }
    b->arrived = 0;
    b->barrier_t = 0;
}

/* Opens every barrier there is. False: nobody waits. */
static bool release_all(struct wg_replay *r)
{
    bool any = false;
    for (unsigned s = 0; s < r->nsm; s++)
        for (unsigned b = 0; b < r->l.blocks_per_sm; b++)
            if (r->sm[s].block[b].trace && r->sm[s].block[b].arrived) {
                r->sm[s].block[b].arrived = r->sm[s].block[b].live;
                release(r, &r->sm[s], b);
                any = true;
            }
    return any;
}

static void barrier(struct wg_replay *r, struct rsm *s, struct rwarp *w)
{
    struct rblock *b = &s->block[w->block];
    b->arrived++;
    b->barrier_t = later(b->barrier_t, w->t);
    w->waits = true;
    release(r, s, w->block);
}

static void end_warp(struct wg_replay *r, unsigned sm, struct rwarp *w)
{
    struct rsm *s = &r->sm[sm];
    struct rblock *b = &s->block[w->block];
    for (unsigned k = 0; k < w->nout; k++) /* nobody exits with a load on its way */
        w->t = later(w->t, w->out[k].ready);
    w->nout = 0;
    w->done = true;
    r->res.warp_cycles += (double)(w->t - w->began);
    b->live--;
    b->end = later(b->end, w->t);
    if (b->live) {
        release(r, s, w->block);
        return;
    }
    r->last_end = later(r->last_end, b->end);
    wg_trace_block_free(b->trace);
    b->trace = NULL;
    r->ended++;
    if (!--s->resident)
        s->active += b->end - s->active_since;
}

/* ---- blocks ---- */
static void start_block(struct wg_replay *r, unsigned sm, unsigned place, uint64_t t)
{
    struct rsm *s = &r->sm[sm];
    struct rblock *b = &s->block[place];
    struct wg_trace_block *x = r->queue[r->next];
    r->queue[r->next++] = NULL;
    if (!x || x->failed)
        r->res.missing_blocks++;
    if (!x) {
        r->ended++;
        return;
    }
    /* the device starts a block every 1.2 cycles: empty grids of 4,224 to 67,584 blocks, tools/hw_time/data/launches.ncu.csv */
    r->dispatched = later(r->dispatched, t << FIX) + (uint64_t)(1.2 * (1 << FIX));
    t = later(t, r->dispatched >> FIX);
    *b = (struct rblock){.trace = x, .live = x->nwarps, .end = t};
    b->wavefronts = x->slots ? (x->shared_wavefronts << FIX) / x->slots : 0;
    if (!s->resident++)
        s->active_since = t;
    for (unsigned k = 0; k < x->nwarps; k++) {
        struct wg_warp_trace *from = &x->warp[k];
        struct rwarp *w = &s->warp[place * r->l.nwarps + k];
        *w = (struct rwarp){.t = t, .began = t, .v = from->v, .n = from->n, .block = (uint16_t)place,
                            .scheduler = (uint8_t)((place * r->l.nwarps + k) % SCHEDULERS)};
    }
}

/* Gives free places to blocks that are there. False: one is needed that has not come. */
static bool fill(struct wg_replay *r)
{
    if (!r->started) {
        r->started = true;
        for (unsigned place = 0; place < r->l.blocks_per_sm; place++)
            for (unsigned s = 0; s < r->nsm && r->next < r->l.nblocks; s++) {
                if (!r->queue[r->next] && !r->finishing) { /* come back when it is there */
                    r->started = false;
                    goto wait;
                }
                if (!r->sm[s].block[place].trace)
                    start_block(r, s, place, 0);
            }
        return true;
    wait:
        return false;
    }
    /* blocks that end in one step are followed SM by SM, as in the beginning: two of one SM do not get neighbours */
    for (unsigned p = 0; p < r->l.blocks_per_sm; p++)
        for (unsigned s = 0; s < r->nsm && r->next < r->l.nblocks; s++)
            if (!r->sm[s].block[p].trace) {
                if (!r->queue[r->next] && !r->finishing)
                    return false;
                start_block(r, s, p, later(r->sm[s].block[p].end, 0));
            }
    return true;
}

/* ---- the calendar of one path during one step ---- */
static void insert(struct wg_replay *r, uint32_t id, uint64_t t, uint64_t begin)
{
    uint64_t k = t > begin ? t - begin : 0;
    r->by_id[id]->next = r->head[k];
    r->head[k] = id + 1;
    r->map[k / 64] |= 1ull << (k % 64);
}

static bool place_if_due(struct wg_replay *r, uint32_t id, uint64_t begin)
{
    struct rwarp *w = r->by_id[id];
    if (w->done || w->waits || w->t >= begin + STEP)
        return false;
    insert(r, id, w->t, begin);
    return true;
}

static void run_path(struct wg_replay *r, unsigned path, uint64_t begin)
{
    unsigned per_sm = r->l.blocks_per_sm * r->l.nwarps, count = 0;
    unsigned first = (path * r->nsm + r->npaths - 1) / r->npaths, end = ((path + 1) * r->nsm + r->npaths - 1) / r->npaths;
    memset(r->head, 0, sizeof r->head);
    memset(r->map, 0, sizeof r->map);
    for (unsigned x = 0; first + x < end; x++) {
        struct rsm *s = &r->sm[first + x];
        for (unsigned k = 0; k < per_sm; k++) {
            uint32_t id = x * per_sm + k;
            r->by_id[id] = &s->warp[k];
            if (s->block[k / r->l.nwarps].trace)
                count += place_if_due(r, id, begin);
        }
    }
    for (unsigned m = 0; count && m < STEP / 64;) {
        if (!r->map[m]) {
            m++;
            continue;
        }
        unsigned bit = m * 64 + (unsigned)__builtin_ctzll(r->map[m]);
        uint32_t id = r->head[bit] - 1;
        struct rwarp *w = r->by_id[id];
        r->head[bit] = w->next;
        if (!r->head[bit])
            r->map[m] &= r->map[m] - 1;
        unsigned sm = first + id / per_sm;
        unsigned block = w->block;
        bool had = r->sm[sm].block[block].arrived != 0;
        step_warp(r, sm, w);
        place_if_due(r, id, begin);
        if (had && r->sm[sm].block[block].trace && !r->sm[sm].block[block].arrived) /* a barrier opened: its other warps */
            for (unsigned k = 0; k < r->l.nwarps; k++) {
                uint32_t o = (id / per_sm) * per_sm + block * r->l.nwarps + k;
                if (o != id)
                    place_if_due(r, o, begin);
            }
    }
}

static void play(struct wg_replay *r)
{
    if (r->put == 0 || !r->queue)
        return;
    while (r->ended < r->l.nblocks) {
        if (r->next < r->l.nblocks && !fill(r))
            return;
        uint64_t soonest = NEVER;
        for (unsigned s = 0; s < r->nsm; s++)
            for (unsigned b = 0; b < r->l.blocks_per_sm; b++)
                for (unsigned k = 0; r->sm[s].block[b].trace && k < r->l.nwarps; k++) {
                    const struct rwarp *w = &r->sm[s].warp[b * r->l.nwarps + k];
                    if (!w->done && !w->waits && w->t < soonest)
                        soonest = w->t;
                }
        if (soonest == NEVER) { /* warps that wait for others that never come; nobody else is left */
            if (!release_all(r))
                return;
            continue;
        }
        r->now = soonest / STEP * STEP;
        while (r->bucket_base + BUCKETS / 2 < r->now / BUCKET)
            r->bucket[r->bucket_base++ % BUCKETS] = 0;
        for (unsigned p = 0; p < r->npaths; p++)
            run_path(r, p, r->now);
    }
}

static unsigned level_for(const struct wg_replay *r, const struct wg_trace_block *first)
{
    double words = 0;
    unsigned level = 0;
    for (uint32_t k = 0; k < first->nwarps; k++)
        words += first->warp[k].n;
    words *= (double)r->l.nblocks;
    while (level < WG_TRACE_LEVELS - 1 && words / (1u << level) > TARGET_WORDS)
        level++;
    return level;
}

bool wg_replay_level(const struct wg_replay *r, uint32_t *level)
{
    *level = r->level;
    return r->next || r->queue[0];
}

void wg_replay_put(struct wg_replay *r, struct wg_trace_block *b)
{
    assert(b->linear < r->l.nblocks && !r->queue[b->linear]);
    r->queue[b->linear] = b;
    r->put++;
}

void wg_replay_advance(struct wg_replay *r)
{
    if (!r->queue[0] && !r->started)
        return; /* the first block tells how finely to look */
    if (!r->started && !r->next)
        r->level = r->l.sample >= 0 ? (unsigned)r->l.sample : level_for(r, r->queue[0]);
    for (uint64_t b = r->next; b < r->l.nblocks && b < r->next + 4096; b++)
        if (r->queue[b])
            wg_trace_thin(r->queue[b], r->level);
    play(r);
}

static void scale(struct wg_traffic *t, unsigned level)
{
    uint64_t *v = (uint64_t *)t;
    for (size_t k = 0; k < sizeof *t / sizeof *v; k++)
        v[k] <<= level;
}

void wg_replay_finish(struct wg_replay *r, struct wg_replay_result *out)
{
    r->finishing = true;
    if (r->put && !r->started && !r->next && r->queue[0])
        r->level = r->l.sample >= 0 ? (unsigned)r->l.sample : level_for(r, r->queue[0]);
    for (uint64_t b = r->next; b < r->l.nblocks; b++)
        if (r->queue[b])
            wg_trace_thin(r->queue[b], r->level);
    play(r);
    struct wg_replay_result *o = &r->res;
    o->level = r->level;
    o->cycles = (double)r->last_end;
    for (unsigned s = 0; s < r->nsm; s++)
        o->sm_active_cycles += (double)r->sm[s].active / r->nsm;
    uint64_t *sum = (uint64_t *)&o->total;
    memset(&o->total, 0, sizeof o->total);
    for (uint32_t k = 0; k <= r->l.nsites; k++) {
        scale(&o->site[k], r->level);
        const uint64_t *v = (const uint64_t *)&o->site[k];
        for (size_t x = 0; x < sizeof o->total / sizeof *v; x++)
            sum[x] += v[x];
    }
    double all = o->sm_active_cycles * r->nsm;
    if (all > 0) {
        o->busy_issue = o->slots / (all * SCHEDULERS);
        o->busy_lsu /= all;
        o->busy_port = o->busy_port * (double)r->port_cost / (1 << FIX) / all;
        o->busy_dram = o->cycles > 0 ? o->busy_dram / ((double)r->bucket_bytes / BUCKET * o->cycles) : 0;
    }
    *out = *o;
}
