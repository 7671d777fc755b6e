/* replay.c - simulated time for the recorded warps of a launch, as replay.h tells. */
#include "model/replay.h"
#include "base/arena.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEP = 512,           /* cycles one path runs before the next takes its turn, of a launch followed whole */
    STEP_MOST = 4096,     /* of a sampled one: less is lost there when paths see each other late */
    SCHEDULERS = 4,
    BARRIER_LATENCY = 13, BARRIER_WARP = 2, /* and so much more for each warp: tools/hw_time/data/cycles.csv, barrier */
    STORES_AHEAD = 1000,   /* cycles of work in the queues before what writes waits for them */
    OUTSTANDING = 16,      /* loads of one warp that are told apart */
    BUCKET = 64,          /* cycles of one entry of the memory's calendar */
    BUCKETS = 1 << 14,
    LEAST_LINES = 1 << 17,   /* lines, and loads, of a launch that are never too many */
    SLOTS_A_LINE = 40,       /* and otherwise one for so many slots: the replay then takes about as long as the run */
    MOST_LINES = 1 << 23,    /* whatever the work: memory */
    MOST_TIMED = 6, LEAST_TIMED = 32, /* one block in 64 is timed; but as many as this */
    PACE_SLOTS = 1 << 14,
    L2_UNIT = 1 << 16,
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
    bool timed;
    struct outstanding out[OUTSTANDING];
};
struct rblock {
    struct wg_trace_block *trace; /* NULL: this place is free */
    unsigned live, arrived;
    uint64_t barrier_t, end, wavefronts; /* wavefronts: shared passes per slot, fixed point */
};
struct rsm {
    uint64_t scheduler[SCHEDULERS], lsu, port, barrier; /* free at; port in fixed point */
    struct rblock *block;
    struct rwarp *warp;
    uint64_t *due;       /* per warp: when it goes on; NEVER: not by itself */
    uint64_t soonest;    /* of these */
    unsigned resident;
    uint64_t active_since, active;
};

struct calendar {
    uint32_t *used, capacity; /* of each stretch of BUCKET cycles; a ring */
    uint64_t base;            /* index of the oldest */
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
    uint64_t slice_cost; /* fixed point */
    uint32_t l2_sector, l2_request; /* of the L2's calendar */
    struct calendar memory, l2;     /* bytes; L2_UNIT a cycle */
    uint32_t step;           /* cycles */
    uint32_t head[STEP_MOST];
    uint64_t map[STEP_MOST / 64];
    uint64_t *slice;         /* per slice of the L2: free for atomics at; fixed point */
    unsigned nslices;
    struct wg_traffic *exact; /* of nsites + 1: what is recorded whatever the sample: atomics */
    struct wg_replay_result res;
    struct lately { uint16_t cycles[16]; uint8_t put, took; } *lately; /* per site: what its latest loads took */
    double pace_cycles, pace_slots; /* of timed warps, lately */
    unsigned timed;
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
    uint64_t sms = g->sms > 0 ? (uint64_t)g->sms : 1, most = (l->nblocks + sms - 1) / sms;
    if (r->l.blocks_per_sm > most) /* places that no block comes to */
        r->l.blocks_per_sm = (unsigned)most;
    l = &r->l;
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
    r->slice_cost = (uint64_t)(or_else(g->l2_atomic_clk, 1.45) * (1 << FIX));
    r->nslices = g->l2_slices > 0 ? (unsigned)g->l2_slices : 32;
    double l2 = or_else(g->l2_bytes_per_clk, 32) * r->nsm / 32; /* sectors a cycle, of all SMs together */
    r->l2_sector = (uint32_t)(L2_UNIT / l2);
    r->l2_request = (uint32_t)(L2_UNIT / or_else(g->l2_requests_per_clk, l2));
    r->l2.capacity = L2_UNIT * BUCKET;
    double bytes = or_else(g->dram_read_gbs, or_else(g->dram_gbs, 500) * 0.9) * 1e3 / mhz; /* a cycle */
    r->memory.capacity = (uint32_t)(bytes * BUCKET);
    r->queue = wg_calloc(l->nblocks, sizeof *r->queue);
    r->sm = wg_calloc(r->nsm, sizeof *r->sm);
    r->memory.used = wg_calloc(BUCKETS, sizeof *r->memory.used);
    r->l2.used = wg_calloc(BUCKETS, sizeof *r->l2.used);
    size_t warps = (size_t)l->blocks_per_sm * l->nwarps;
    r->res.site = wg_calloc(l->nsites + 1, sizeof *r->res.site);
    r->exact = wg_calloc(l->nsites + 1, sizeof *r->exact);
    r->lately = wg_calloc(l->nsites + 1, sizeof *r->lately);
    r->slice = wg_calloc(r->nslices, sizeof *r->slice);
    r->step = STEP;
    bool ok = r->queue && r->sm && r->memory.used && r->l2.used && r->res.site && r->exact && r->lately && r->slice;
    for (unsigned s = 0; ok && s < r->nsm; s++) {
        r->sm[s].block = wg_calloc(l->blocks_per_sm, sizeof *r->sm[s].block);
        r->sm[s].warp = wg_calloc(warps, sizeof *r->sm[s].warp);
        r->sm[s].due = wg_calloc(warps, sizeof *r->sm[s].due);
        r->sm[s].soonest = NEVER;
        ok = r->sm[s].block && r->sm[s].warp && r->sm[s].due;
        for (size_t k = 0; ok && k < warps; k++)
            r->sm[s].due[k] = NEVER;
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
        free(r->sm[s].due);
    }
    free(r->queue);
    free(r->sm);
    free(r->memory.used);
    free(r->l2.used);
    free(r->res.site);
    free(r->exact);
    free(r->lately);
    free(r->slice);
    free(r);
}

/* ---- memory and the L2: calendars of what each stretch of time can still move, so that requests need not come in order ---- */
static uint64_t reserve(struct calendar *c, uint64_t t, uint64_t amount)
{
    uint64_t b = t / BUCKET;
    b = b < c->base ? c->base : b;
    while (b >= c->base + BUCKETS) /* far ahead: the oldest leave */
        c->used[c->base++ % BUCKETS] = 0;
    for (;; b++) {
        if (b >= c->base + BUCKETS)
            c->used[c->base++ % BUCKETS] = 0;
        uint32_t *u = &c->used[b % BUCKETS], room = c->capacity - *u;
        if (amount <= room) {
            *u += (uint32_t)amount;
            break;
        }
        amount -= room;
        *u = c->capacity;
    }
    return b * BUCKET > t ? b * BUCKET : t;
}
static void forget(struct calendar *c, uint64_t now)
{
    while (c->base + BUCKETS / 2 < now / BUCKET)
        c->used[c->base++ % BUCKETS] = 0;
}

/* ---- one event of a warp ---- */
static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* The instructions up to the next event. Returns when they are through. */
static uint64_t run_segment(struct wg_replay *r, struct rsm *s, struct rwarp *w, uint64_t word1)
{
    uint32_t slots = wg_trace_slots(word1);
    uint64_t t = w->t, alone = t + wg_trace_alone(word1);
    uint64_t *q = &s->scheduler[w->scheduler];
    *q = later(*q, t) + slots;
    uint64_t end = later(alone, *q);
    uint64_t passes = (slots * s->block[w->block].wavefronts >> FIX) + wg_trace_passes(word1);
    if (passes) {
        s->lsu = later(s->lsu, t) + passes;
        end = later(end, s->lsu);
        r->res.busy_lsu += (double)passes;
    }
    r->res.slots += slots;
    w->issued += slots;
    uint64_t data = end;
    if (!w->timed) { /* as long as others would take, but no less than it would alone */
        if (r->pace_slots > 0)
            data = later(alone, t + (uint64_t)(slots * r->pace_cycles / r->pace_slots));
        return data;
    }
    r->res.stall_pipe += (double)(end - alone);
    for (unsigned k = 0; k < w->nout;) {
        if (w->out[k].deadline <= w->issued) { /* what comes after the use waits with it */
            uint64_t after = w->issued - w->out[k].deadline, cycles = wg_trace_alone(word1);
            after = slots ? cycles * (after < slots ? after : slots) / slots : 0;
            data = later(data, w->out[k].ready + after);
            w->out[k] = w->out[--w->nout];
        } else {
            k++;
        }
    }
    r->res.stall_memory += (double)(data - end);
    r->res.timed_cycles += (double)(data - t);
    r->pace_cycles += (double)(data - t);
    r->pace_slots += slots;
    if (r->pace_slots > PACE_SLOTS) { /* of late */
        r->pace_cycles /= 2;
        r->pace_slots /= 2;
    }
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

/* Cycles, in fixed point, for which one line keeps the port from an SM to the L2: a request and its sectors, a whole line
 * a little more than its sectors, a reduction by one lane the request only (tools/hw_time/data/requests.csv, few SMs). */
static uint64_t line_sent(unsigned sectors, bool whole, bool alone)
{
    return alone ? 1 << FIX : whole ? (uint64_t)(4.3 * (1 << FIX)) : (uint64_t)(1 + sectors) << FIX;
}

/* One line of an access that begins at `at`: when its data are there. sectors: of the whole atomic access, which may ask
 * for the same ones again. */
static uint64_t line_access(struct wg_replay *r, unsigned sm, unsigned slot, struct rwarp *w, uint64_t word0, uint64_t at,
                            unsigned again)
{
    struct rsm *s = &r->sm[sm];
    unsigned kind = wg_trace_kind_of(word0), flags = wg_trace_flags(word0);
    uint32_t site = wg_trace_site(word0);
    bool atomic = kind == WG_TRACE_ATOM || kind == WG_TRACE_RED;
    struct wg_traffic *t = &(atomic ? r->exact : r->res.site)[site < r->l.nsites ? site : r->l.nsites], was = *t;
    unsigned level = atomic ? 0 : r->level;
    uint64_t word = w->v[w->at++], line = word >> 16, shared = 0;
    uint32_t words = word & 256 ? (uint32_t)w->v[w->at++] : 0;
    unsigned sectors = word & 15, whole = word >> 4 & 15, n = (unsigned)__builtin_popcount(sectors);
    if (flags & WG_TRACE_LOCAL)
        line = wg_cache_local_line(sm, slot, line);
    enum wg_cache_level from = WG_CACHE_L1;
    if (kind == WG_TRACE_LOAD)
        from = wg_cache_load(r->c, sm, at, line, sectors, flags, t, &shared);
    else if (kind == WG_TRACE_STORE)
        wg_cache_store(r->c, sm, line, sectors, whole, words, flags, t);
    else
        from = wg_cache_atomic(r->c, sm, line, sectors, kind == WG_TRACE_ATOM, t);
    /* a sampled line stands for others, whose turn it is after this one: it waits for those before it only */
    uint64_t arrive = at + r->l1_lat, port = later(s->port, at << FIX), mine = 0, moved = t->l2_read - was.l2_read;
    if (kind != WG_TRACE_LOAD)
        mine = line_sent(n + again, whole == 15, kind == WG_TRACE_RED && n == 1);
    else if (moved) /* tools/hw_time/data/requests.csv: one SM alone reads a line in about a cycle */
        mine = 1 << FIX;
    if (mine) {
        s->port = port + (mine << level);
        r->res.busy_port += (double)(mine << level);
    }
    uint64_t through = (port + mine) >> FIX, memory = t->memory_time - was.memory_time;
    if (moved) {
        uint64_t need = later(moved * r->l2_sector, r->l2_request) << level;
        r->res.busy_l2 += (double)need;
        through = later(through, reserve(&r->l2, at, need));
    }
    uint64_t latency = from == WG_CACHE_L1 ? 0 : from == WG_CACHE_L2 || from == WG_CACHE_DRAM ? r->l2_lat : r->far_lat;
    if (atomic) { /* one after the other, where they all meet */
        uint64_t *q = &r->slice[wg_trace_hash(line) % r->nslices];
        *q = later(*q, through << FIX) + (n + again) * r->slice_cost;
        through = *q >> FIX;
    }
    if (memory) {
        r->res.busy_dram += (double)(memory << level);
        memory = reserve(&r->memory, at, memory << level);
    }
    if (from >= WG_CACHE_DRAM)
        arrive = memory + r->dram_lat + (from == WG_CACHE_DRAM_FAR ? r->far_lat - r->l2_lat : 0);
    else if (latency)
        arrive = at + latency;
    if (atomic)
        arrive = later(arrive, through + latency);
    else if (mine)
        arrive = later(arrive, through + latency / 2);
    if (shared) /* on its way for a neighbour */
        arrive = later(shared, at + r->l1_lat);
    else if (from != WG_CACHE_L1 && kind == WG_TRACE_LOAD)
        wg_cache_fetched(r->c, sm, line, arrive);
    if (kind == WG_TRACE_STORE) /* what stores wait for: room in the queues to the L2 and to memory */
        arrive = later(through, memory);
    return arrive;
}

static void access(struct wg_replay *r, unsigned sm, unsigned slot, struct rwarp *w, uint64_t word0)
{
    struct rsm *s = &r->sm[sm];
    unsigned kind = wg_trace_kind_of(word0), flags = wg_trace_flags(word0), n = wg_trace_recorded(word0);
    unsigned cost = wg_trace_cost(word0), sectors = wg_trace_sectors(word0), touched = 0;
    uint32_t site = wg_trace_site(word0);
    bool atomic = kind == WG_TRACE_ATOM || kind == WG_TRACE_RED;
    s->lsu = later(s->lsu, w->t) + cost;
    r->res.busy_lsu += (double)cost;
    for (unsigned k = 0, x = w->at; atomic && k < n; k++, x++)
        touched += (unsigned)__builtin_popcount(w->v[x] & 15);
    unsigned again = atomic && sectors > touched ? sectors - touched : 0;
    uint64_t at = s->lsu, ready = at;
    struct lately *l = &r->lately[site < r->l.nsites ? site : r->l.nsites];
    for (unsigned k = 0; k < n; k++) /* lanes that meet do so in any line: they are shared out */
        ready = later(ready, line_access(r, sm, slot, w, word0, at, again / n + (k < again % n)));
    if (again) {
        struct wg_traffic *t = &r->exact[site < r->l.nsites ? site : r->l.nsites];
        *(kind == WG_TRACE_ATOM ? &t->l2_atom : &t->l2_red) += again;
        t->l2_atomic_hit += again;
    }
    if (kind == WG_TRACE_LOAD || kind == WG_TRACE_ATOM) {
        if (n) {
            uint64_t took = ready - at;
            l->cycles[l->put++ % 16] = took < UINT16_MAX ? (uint16_t)took : UINT16_MAX;
        }
        /* of lines that are not followed: as long as the latest others of this place took, the slowest of many */
        for (unsigned k = 0; kind == WG_TRACE_LOAD && !(flags & WG_TRACE_WHOLE) && k < cost && w->timed; k++) {
            unsigned have = l->put < 16 ? l->put : 16;
            ready = later(ready, at + (have ? l->cycles[l->took++ % have] : r->l1_lat));
        }
        if (w->timed)
            wait_for(r, w, ready, wg_trace_use(word0));
    } else if (ready > w->t + STORES_AHEAD) { /* nobody waits for a store until the queues are full */
        r->res.stall_pipe += (double)(ready - STORES_AHEAD - w->t);
        w->t = ready - STORES_AHEAD;
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
        if (w->t > from && kind != WG_TRACE_COMPUTE) {
            if (wg_trace_recorded(a))
                wg_cache_prefetch(r->c, sm, w->v[w->at + 2] >> 16);
            return;
        }
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
            o->t = b->barrier_t + BARRIER_LATENCY;
            o->waits = false;
            s->due[o - s->warp] = o->t;
            s->soonest = o->t < s->soonest ? o->t : s->soonest;
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
    s->barrier = later(s->barrier, w->t) + BARRIER_WARP;
    b->barrier_t = later(b->barrier_t, s->barrier);
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
    s->soonest = t < s->soonest ? t : s->soonest;
    for (unsigned k = 0; k < x->nwarps; k++) {
        struct wg_warp_trace *from = &x->warp[k];
        struct rwarp *w = &s->warp[place * r->l.nwarps + k];
        *w = (struct rwarp){.t = t, .began = t, .v = from->v, .n = from->n, .block = (uint16_t)place, .timed = x->timed,
                            .scheduler = (uint8_t)((place * r->l.nwarps + k) % SCHEDULERS)};
        s->due[w - s->warp] = t;
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
static void insert(struct wg_replay *r, struct rwarp *w, uint32_t id, uint64_t t, uint64_t begin)
{
    uint64_t k = t > begin ? t - begin : 0;
    __builtin_prefetch(&w->v[w->at]); /* thousands of warps take turns: none finds its trace in the host's cache */
    w->next = r->head[k];
    r->head[k] = id + 1;
    r->map[k / 64] |= 1ull << (k % 64);
}

static void run_path(struct wg_replay *r, unsigned path, uint64_t begin)
{
    unsigned per_sm = r->l.blocks_per_sm * r->l.nwarps;
    unsigned first = (path * r->nsm + r->npaths - 1) / r->npaths, last = ((path + 1) * r->nsm + r->npaths - 1) / r->npaths;
    uint64_t end = begin + r->step;
    bool any = false;
    for (unsigned x = first; x < last; x++) {
        struct rsm *s = &r->sm[x];
        for (unsigned k = 0; s->soonest < end && k < per_sm; k++)
            if (s->due[k] < end) {
                insert(r, &s->warp[k], (x - first) * per_sm + k, s->due[k], begin);
                any = true;
            }
    }
    for (unsigned m = 0; any && m < r->step / 64;) {
        if (!r->map[m]) {
            m++;
            continue;
        }
        unsigned bit = m * 64 + (unsigned)__builtin_ctzll(r->map[m]);
        uint32_t id = r->head[bit] - 1;
        unsigned sm = first + id / per_sm, k = id % per_sm;
        struct rsm *s = &r->sm[sm];
        struct rwarp *w = &s->warp[k];
        r->head[bit] = w->next;
        if (!r->head[bit])
            r->map[m] &= r->map[m] - 1;
        unsigned block = w->block;
        bool had = s->block[block].arrived != 0;
        step_warp(r, sm, w);
        s->due[k] = w->done || w->waits ? NEVER : w->t;
        if (s->due[k] < end)
            insert(r, w, id, w->t, begin);
        if (had && s->block[block].trace && !s->block[block].arrived) /* a barrier opened: its other warps */
            for (unsigned o = block * r->l.nwarps; o < (block + 1) * r->l.nwarps; o++)
                if (o != k && s->due[o] < end)
                    insert(r, &s->warp[o], (sm - first) * per_sm + o, s->due[o], begin);
    }
    for (unsigned x = first; any && x < last; x++) {
        struct rsm *s = &r->sm[x];
        if (s->soonest >= end)
            continue;
        s->soonest = NEVER;
        for (unsigned k = 0; k < per_sm; k++)
            s->soonest = s->due[k] < s->soonest ? s->due[k] : s->soonest;
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
            soonest = r->sm[s].soonest < soonest ? r->sm[s].soonest : soonest;
        if (soonest == NEVER) { /* warps that wait for others that never come; nobody else is left */
            if (!release_all(r))
                return;
            continue;
        }
        r->now = soonest / r->step * r->step;
        forget(&r->memory, r->now);
        forget(&r->l2, r->now);
        for (unsigned p = 0; p < r->npaths; p++)
            run_path(r, p, r->now);
    }
}

/* How finely a launch is followed, by its first block. */
static void choose_level(struct wg_replay *r)
{
    const struct wg_trace_block *first = r->queue[0];
    double lines = 0, loads = 0, blocks = (double)r->l.nblocks, most = (double)first->slots * blocks / SLOTS_A_LINE;
    for (uint32_t k = 0; k < first->nwarps; k++)
        for (uint32_t at = 0; at < first->warp[k].n;) {
            uint64_t a = first->warp[k].v[at];
            at += 2;
            for (unsigned l = 0; l < wg_trace_recorded(a); l++)
                at += first->warp[k].v[at] & 256 ? 2 : 1;
            lines += (double)wg_trace_recorded(a) * (1u << first->level);
            loads += wg_trace_kind_of(a) == WG_TRACE_LOAD;
        }
    most = most > MOST_LINES ? MOST_LINES : most < LEAST_LINES ? LEAST_LINES : most;
    r->level = first->level;
    if (r->l.sample >= 0)
        r->level = (unsigned)r->l.sample;
    else
        while (r->level < WG_TRACE_LEVELS - 1 && lines * blocks / (1u << r->level) > most)
            r->level++;
    while (r->l.sample < 0 && r->timed < MOST_TIMED && loads * blocks / (1u << r->timed) > most &&
           r->l.nblocks >> (r->timed + 1) >= LEAST_TIMED)
        r->timed++;
    r->step = STEP << r->level < STEP_MOST ? STEP << r->level : STEP_MOST;
}

bool wg_replay_level(const struct wg_replay *r, uint32_t *level, uint32_t *timed)
{
    *level = r->level;
    *timed = r->timed;
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
        choose_level(r);
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
        choose_level(r);
    for (uint64_t b = r->next; b < r->l.nblocks; b++)
        if (r->queue[b])
            wg_trace_thin(r->queue[b], r->level);
    play(r);
    struct wg_replay_result *o = &r->res;
    o->level = r->level;
    o->timed = r->timed;
    o->cycles = (double)r->last_end;
    for (unsigned s = 0; s < r->nsm; s++)
        o->sm_active_cycles += (double)r->sm[s].active / r->nsm;
    uint64_t *sum = (uint64_t *)&o->total;
    memset(&o->total, 0, sizeof o->total);
    for (uint32_t k = 0; k <= r->l.nsites; k++) {
        scale(&o->site[k], r->level);
        uint64_t *v = (uint64_t *)&o->site[k];
        const uint64_t *e = (const uint64_t *)&r->exact[k];
        for (size_t x = 0; x < sizeof o->total / sizeof *v; x++) {
            v[x] += e[x];
            sum[x] += v[x];
        }
    }
    double all = o->sm_active_cycles * r->nsm;
    if (all > 0) {
        o->busy_issue = o->slots / (all * SCHEDULERS);
        o->busy_lsu /= all;
        o->busy_port = o->busy_port / (1 << FIX) / all;
        o->busy_dram = o->cycles > 0 ? o->busy_dram / ((double)r->memory.capacity / BUCKET * o->cycles) : 0;
        o->busy_l2 = o->cycles > 0 ? o->busy_l2 / ((double)L2_UNIT * o->cycles) : 0;
    }
    *out = *o;
}
