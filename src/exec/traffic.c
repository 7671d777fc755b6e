/* traffic.c - traces of finished blocks to the replay: workers drop them in a box, and whoever finds nobody at it plays
 * them. */
#include "exec/traffic.h"
#include "model/occupancy.h"
#include "model/registers.h"
#include <stdlib.h>

struct wg_traffic_run {
    struct wg_replay *replay;
    struct wg_replay_result result;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    struct wg_trace_block **box; /* of cap */
    size_t n, cap, room;
    bool busy, known, failed;    /* known: the first block has come */
    uint8_t *shared;             /* per site: its plain counts are shared-memory passes */
    uint32_t level;
};

static void find_shared(const struct wg_kernel_code *kc, uint8_t *shared)
{
    for (uint32_t c = 0; c < kc->ncodes; c++)
        for (uint32_t i = 0; i < kc->codes[c]->fn->ninstrs; i++) {
            const struct wg_instr *in = &kc->codes[c]->fn->instrs[i];
            shared[kc->codes[c]->site0 + i] = in->space == WG_SPACE_SHARED &&
                (wg_op_infos[in->op].group == WG_GROUP_MEM || wg_op_infos[in->op].group == WG_GROUP_ATOM);
        }
}

static unsigned registers_of(const struct wg_run *r, struct wg_kernel *k)
{
    struct wg_registers regs;
    wg_kernel_registers(k, &regs);
    return wg_registers_at_launch(wg_run_cc(r), regs.likely ? regs.likely : 32);
}

bool wg_traffic_open(struct wg_run *r, struct wg_kernel *k)
{
    struct wg *g = r->g;
    if (!r->kc->traced)
        return true;
    if (!g->caches)
        g->caches = wg_caches_open(g->gpu);
    struct wg_traffic_run *t = wg_calloc(1, sizeof *t);
    if (!t || !g->caches) {
        free(t);
        return false;
    }
    r->traffic = t;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->moved, NULL);
    const struct wg_cc *cc = g->gpu->cc;
    struct wg_occupancy_query q = {.threads = r->threads, .regs = registers_of(r, k),
                                   .static_shared = r->kc->static_shared_exact, .dynamic_shared = r->dynamic_shared,
                                   .carveout = -1, .barriers = 1};
    struct wg_occupancy o;
    wg_occupancy(cc, &q, &o);
    uint64_t unified = (uint64_t)(cc->unified_kb ? cc->unified_kb : cc->l1_kb) << 10, carve = wg_occupancy_driver_carveout(cc, &q);
    struct wg_replay_launch l = {.gpu = g->gpu, .nblocks = r->nblocks, .nwarps = r->nwarps,
                                 .blocks_per_sm = o.blocks ? o.blocks : 1,
                                 .l1_bytes = !cc->unified_kb ? unified : unified > carve ? unified - carve : 32 << 10, .nsites = r->kc->nsites,
                                 .keep_l2 = g->opt.keep_caches, .sample = g->opt.sample_level ? (int)g->opt.sample_level - 1 : -1,
                                 .clock_mhz = g->gpu->clock_mhz};
    t->room = 2 * (size_t)l.blocks_per_sm * wg_run_sms(r) + 64;
    t->replay = wg_replay_open(g->caches, &l);
    t->shared = wg_calloc(r->kc->nsites + 1, 1);
    if (!t->replay || !t->shared)
        return false;
    find_shared(r->kc, t->shared);
    return true;
}

static uint64_t passes(const struct wg_worker *k)
{
    const uint8_t *shared = k->run->traffic->shared;
    uint64_t n = 0;
    for (uint32_t s = 0; s < k->run->kc->nsites; s++)
        n += k->site[s].wavefronts + (shared[s] ? k->site[s].full + k->site[s].same : 0);
    return n;
}

bool wg_traffic_begin(struct wg_block *b)
{
    struct wg_run *r = b->wk->run;
    if (!r->traffic)
        return true;
    b->trace = wg_trace_block_new(b->nwarps);
    if (!b->trace)
        return false;
    b->trace->linear = b->linear;
    b->trace->level = __atomic_load_n(&r->traffic->level, __ATOMIC_ACQUIRE);
    for (uint32_t k = 0; k < b->nwarps; k++)
        b->warps[k].trace = &b->trace->warp[k];
    b->passes0 = passes(b->wk);
    return true;
}

void wg_traffic_end(struct wg_block *b)
{
    struct wg_traffic_run *t = b->wk->run->traffic;
    struct wg_trace_block *x = b->trace;
    if (!t)
        return;
    x->shared_wavefronts = passes(b->wk) - b->passes0;
    b->trace = NULL;
    pthread_mutex_lock(&t->lock);
    while (t->busy && t->n >= t->room) /* the replay is behind: let it catch up */
        pthread_cond_wait(&t->moved, &t->lock);
    if (t->n == t->cap) {
        struct wg_trace_block **v = wg_realloc(t->box, (t->cap ? t->cap * 2 : 64) * sizeof *v);
        if (!v) {
            t->failed = true;
            pthread_mutex_unlock(&t->lock);
            wg_trace_block_free(x);
            return;
        }
        t->box = v;
        t->cap = t->cap ? t->cap * 2 : 64;
    }
    t->box[t->n++] = x;
    if (t->busy) {
        pthread_mutex_unlock(&t->lock);
        return;
    }
    t->busy = true;
    while (t->n) {
        struct wg_trace_block **v = t->box;
        size_t n = t->n;
        t->box = NULL;
        t->n = t->cap = 0;
        pthread_mutex_unlock(&t->lock);
        for (size_t k = 0; k < n; k++)
            wg_replay_put(t->replay, v[k]);
        free(v);
        wg_replay_advance(t->replay);
        pthread_mutex_lock(&t->lock);
        uint32_t level;
        if (wg_replay_level(t->replay, &level)) {
            __atomic_store_n(&t->level, level, __ATOMIC_RELEASE);
            t->known = true;
        }
        pthread_cond_broadcast(&t->moved);
    }
    t->busy = false;
    pthread_mutex_unlock(&t->lock);
}

void wg_traffic_wait(struct wg_run *r)
{
    struct wg_traffic_run *t = r->traffic;
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    while (!t->known && !__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 20000000;
        if (until.tv_nsec >= 1000000000)
            until.tv_sec++, until.tv_nsec -= 1000000000;
        pthread_cond_timedwait(&t->moved, &t->lock, &until); /* looks at `stop` now and then */
    }
    pthread_mutex_unlock(&t->lock);
}

const struct wg_replay_result *wg_traffic_finish(struct wg_run *r)
{
    struct wg_traffic_run *t = r->traffic;
    if (!t)
        return NULL;
    wg_replay_finish(t->replay, &t->result);
    return &t->result;
}

void wg_traffic_close(struct wg_run *r)
{
    struct wg_traffic_run *t = r->traffic;
    if (!t)
        return;
    for (size_t k = 0; k < t->n; k++)
        wg_trace_block_free(t->box[k]);
    free(t->box);
    wg_replay_close(t->replay);
    free(t->shared);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->moved);
    free(t);
    r->traffic = NULL;
}
