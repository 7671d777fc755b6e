/* racecheck.c - pairs of accesses that nothing orders, by happens-before with a fixed amount of state per word.
 *
 * Order within a warp: __syncwarp and the .sync operations between the lanes of their masks. Between warps: barriers, and
 * fence, atomic, look in shared or global memory. Between blocks: fence by the writer, then an atomic or other strong
 * access that the reader looks at first; the end of the launch. What warp v of a block did before its time t is written
 * (v, t). Times of releases towards other blocks are of the whole grid, so that what a block knows of all others is one
 * number (wg_cwarp.acq); this can hide a race behind an unrelated release, and never invents one.
 *
 * Each word keeps its last write and two reads, of different warps if there are any. A read replaces one that happened
 * before it, since whatever is ordered after it is ordered after that one too. */
#include "check/internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t max32(uint32_t a, uint32_t b) { return a > b ? a : b; }
static uint32_t min32(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* ---- synchronisation ---- */
void wg_racecheck_arrive(struct wg_cblock *b, uint32_t warp, uint32_t id, bool waits)
{
    struct wg_cbarrier *x = &b->bar[id & (BARRIERS - 1)];
    struct wg_cwarp *w = &b->w[warp];
    w->clk++;
    for (uint32_t v = 0; v < WARPS; v++)
        x->vc[v] = max32(x->vc[v], w->vc[v]);
    x->vc[warp] = max32(x->vc[warp], w->clk);
    x->acq = w->acq > x->acq ? w->acq : x->acq;
    if (waits)
        x->waiting |= 1u << warp;
}

void wg_racecheck_release(struct wg_cblock *b, uint32_t id)
{
    struct wg_cbarrier *x = &b->bar[id & (BARRIERS - 1)];
    for (uint32_t m = x->waiting; m; m &= m - 1) {
        struct wg_cwarp *w = &b->w[__builtin_ctz(m)];
        for (uint32_t v = 0; v < WARPS; v++)
            w->vc[v] = max32(w->vc[v], x->vc[v]);
        w->conv = max32(w->conv, x->vc[__builtin_ctz(m)]);
        w->acq = w->acq > x->acq ? w->acq : x->acq;
    }
    memset(x, 0, sizeof *x);
}

static bool lanes_known(struct wg_cwarp *w)
{
    if (!w->lane)
        w->lane = wg_calloc(LANES, sizeof *w->lane);
    return w->lane;
}

void wg_racecheck_warp(struct wg_cblock *b, uint32_t warp, uint32_t lanes, uint32_t live)
{
    struct wg_cwarp *w = &b->w[warp];
    w->clk++;
    if (!(live & ~lanes) || !lanes_known(w)) {
        w->conv = w->clk;
        return;
    }
    uint32_t row[LANES] = {0};
    for (uint32_t m = lanes; m; m &= m - 1)
        for (uint32_t k = 0; k < LANES; k++)
            row[k] = max32(row[k], w->lane[__builtin_ctz(m)][k]);
    for (uint32_t m = lanes; m; m &= m - 1)
        row[__builtin_ctz(m)] = w->clk;
    for (uint32_t m = lanes; m; m &= m - 1)
        memcpy(w->lane[__builtin_ctz(m)], row, sizeof row);
}

/* What warp w knows of warp v, itself included. */
static uint32_t known(const struct wg_cblock *b, uint32_t w, uint32_t v) { return v == w ? b->w[w].clk : b->w[w].vc[v]; }

void wg_racecheck_fence(struct wg_cblock *b, uint32_t warp, uint8_t scope)
{
    b->w[warp].clk++;
    for (uint32_t v = 0; v < WARPS; v++) {
        uint32_t k = known(b, warp, v);
        b->fenced_cta[v] = max32(b->fenced_cta[v], k);
        if (scope >= WG_ACCESS_GPU)
            b->fenced_gpu[v] = max32(b->fenced_gpu[v], k);
    }
    b->any_cta = true;
    b->any_gpu |= scope >= WG_ACCESS_GPU;
}

static struct wg_syncvar *find(struct wg_vars *t, uint64_t key)
{
    size_t k = (size_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & (t->cap - 1);
    while (t->v[k].key && t->v[k].key != key)
        k = (k + 1) & (t->cap - 1);
    return &t->v[k];
}
static struct wg_syncvar *look(struct wg_vars *t, uint64_t key)
{
    if (!t->n)
        return NULL;
    struct wg_syncvar *v = find(t, key);
    return v->key ? v : NULL;
}
static struct wg_syncvar *make(struct wg_vars *t, uint64_t key)
{
    if (t->n * 2 >= t->cap) {
        struct wg_vars n = {wg_calloc(t->cap ? t->cap * 2 : 16, sizeof *n.v), t->n, t->cap ? t->cap * 2 : 16};
        if (!n.v)
            return NULL;
        for (size_t k = 0; k < t->cap; k++)
            if (t->v[k].key)
                *find(&n, t->v[k].key) = t->v[k];
        free(t->v);
        *t = n;
    }
    struct wg_syncvar *v = find(t, key);
    if (!v->key) {
        v->key = key;
        t->n++;
    }
    return v;
}

static uint64_t key_of(const struct wg_access *a, uint32_t lane)
{
    return a->addr[lane] >> 2 << 2 | 1 | (a->space == WG_SITE_SHARED ? 2 : 0);
}

/* The warp has looked at a synchronisation variable. */
static void acquire(struct wg_check *c, struct wg_cblock *b, uint32_t warp, const struct wg_access *a, uint32_t mask)
{
    struct wg_cwarp *w = &b->w[warp];
    if (!b->vars.n && !c->vars.n)
        return;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        const struct wg_syncvar *v = look(&b->vars, key_of(a, l));
        if (v) {
            for (uint32_t k = 0; k < WARPS; k++)
                w->vc[k] = max32(w->vc[k], v->vc[k]);
            if (v->vc[warp] && lanes_known(w)) /* released by a lane of this warp */
                for (uint32_t k = 0; k < LANES; k++)
                    w->lane[l][k] = max32(w->lane[l][k], v->vc[warp]);
        }
        v = a->space == WG_SITE_GLOBAL && a->scope != WG_ACCESS_CTA ? look(&c->vars, key_of(a, l)) : NULL;
        if (v && v->time > w->acq)
            w->acq = v->time;
    }
}

static void publish(struct wg_check *c, struct wg_cblock *b, const uint32_t *pub)
{
    struct wg_ring **p = c->rings ? &c->rings[b->linear] : NULL;
    if (!p || (!*p && !(*p = wg_calloc(1, sizeof **p))))
        return;
    struct wg_ring *r = *p;
    if (r->n && !memcmp(r->pub[(r->n - 1) % RING], pub, sizeof *r->pub))
        return; /* nothing new since the last one */
    r->time[r->n % RING] = c->time;
    memcpy(r->pub[r->n % RING], pub, sizeof *r->pub);
    r->n++;
}

/* The warp has written a synchronisation variable: what was fenced before becomes known to whoever looks at it. */
static void release(struct wg_check *c, struct wg_cblock *b, uint32_t warp, const struct wg_access *a, uint32_t mask)
{
    if (a->release)
        wg_racecheck_fence(b, warp, a->scope);
    if (!b->any_cta)
        return;
    bool wide = a->space == WG_SITE_GLOBAL && a->scope != WG_ACCESS_CTA && b->any_gpu;
    uint32_t cta[WARPS], gpu[WARPS];
    for (uint32_t v = 0; v < WARPS; v++) {
        cta[v] = min32(b->fenced_cta[v], known(b, warp, v));
        gpu[v] = min32(b->fenced_gpu[v], known(b, warp, v));
    }
    if (wide) {
        c->time++;
        publish(c, b, gpu);
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t key = key_of(a, (uint32_t)__builtin_ctz(m));
        struct wg_syncvar *v = make(&b->vars, key);
        for (uint32_t k = 0; v && k < WARPS; k++)
            v->vc[k] = max32(v->vc[k], cta[k]);
        v = wide ? make(&c->vars, key) : NULL;
        if (v)
            v->time = c->time;
    }
}

/* ---- order of two accesses ---- */
static bool between_blocks(const struct wg_check *c, const struct wg_mark *p, uint64_t acq)
{
    const struct wg_ring *r = c->rings && p->block < c->launch.nblocks ? c->rings[p->block] : NULL;
    if (!r)
        return false;
    uint64_t n = r->n < RING ? r->n : RING;
    for (uint64_t k = 0; k < n; k++)
        if (r->time[k] <= acq && r->pub[k][p->thread / LANES] > p->ts)
            return true;
    return r->n > RING && r->time[r->n % RING] > acq; /* older releases are forgotten: benefit of the doubt */
}

static bool ordered(const struct wg_check *c, const struct wg_cblock *b, uint32_t warp, uint32_t lane,
                    const struct wg_mark *p)
{
    if (p->launch != c->serial)
        return true;
    const struct wg_cwarp *w = &b->w[warp];
    if (p->block != (uint32_t)b->linear)
        return between_blocks(c, p, w->acq);
    uint32_t pw = p->thread / LANES, pl = p->thread % LANES;
    if (pw != warp)
        return w->vc[pw] > p->ts;
    return pl == lane || w->conv > p->ts || (w->lane && w->lane[lane][pl] > p->ts);
}

/* Both are of the kind that the hardware keeps apart. */
static bool both_strong(const struct wg_mark *p, const struct wg_mark *n) { return p->flags & n->flags & MARK_STRONG; }

struct hit {
    struct wg_check *c;
    struct wg_cblock *b;
    const struct wg_access *a;
    uint32_t warp, lane, word; /* word: offset in the lane's access, bytes */
};

static uint64_t word_of(const struct hit *h) { return (h->a->addr[h->lane] & ~3ull) + h->word; }

/* What a lane is about to store to the word, and what it holds now; only the bytes that are set in `bytes`. */
static uint32_t incoming(const struct hit *h, uint32_t lane, uint8_t bytes)
{
    const struct wg_access *a = h->a;
    uint32_t v = 0;
    for (uint32_t k = 0; k < 4; k++) {
        uint64_t off = word_of(h) + k - a->addr[lane];
        if (bytes >> k & 1 && off < (uint64_t)a->elem * a->n)
            v |= (uint32_t)(a->value(a, lane, (unsigned)(off / a->elem)) >> 8 * (off % a->elem) & 0xff) << 8 * k;
    }
    return v;
}
static uint32_t current(const struct hit *h, uint8_t bytes)
{
    uint32_t v = 0;
    for (uint32_t k = 0; k < 4; k++)
        if (bytes >> k & 1)
            v |= (uint32_t)(h->a->space == WG_SITE_SHARED ? (uint8_t)h->a->shared[word_of(h) + k]
                                                          : *(const uint8_t *)(word_of(h) + k))
                 << 8 * k;
    return v;
}

/* Is what a lane is about to store to the word what it, or the lane before it, has put there already? */
static bool same_value(const struct hit *h, const struct wg_mark *p, const struct wg_mark *n)
{
    if (h->a->kind != WG_ACCESS_STORE || p->flags & MARK_ATOMIC)
        return false;
    bool step = p->site == n->site && p->thread / LANES == n->thread / LANES && p->ts == n->ts && p->block == n->block;
    uint8_t both = n->bytes & p->bytes;
    return incoming(h, h->lane, both) == (step ? incoming(h, p->thread % LANES, both) : current(h, both));
}

static void block_of(const struct wg_check *c, uint64_t linear, uint32_t ctaid[3])
{
    ctaid[0] = (uint32_t)(linear % c->launch.grid[0]);
    ctaid[1] = (uint32_t)(linear / c->launch.grid[0] % c->launch.grid[1]);
    ctaid[2] = (uint32_t)(linear / c->launch.grid[0] / c->launch.grid[1]);
}

static __attribute__((noinline, cold)) void report(const struct hit *h, const struct wg_mark *p, const struct wg_mark *n,
                                                   bool p_write, bool n_write)
{
    struct wg_check *c = h->c;
    static const char *const access[2] = {"Read", "Write"};
    bool shared = h->a->space == WG_SITE_SHARED, same_warp = p->block == n->block && p->thread / LANES == n->thread / LANES;
    uint64_t addr = word_of(h);
    enum wg_found id = shared ? WG_FOUND_RACE_SHARED : WG_FOUND_RACE_GLOBAL;
    enum wg_severity s = WG_SEVERITY_ERROR;
    if (both_strong(p, n)) {
        id = WG_FOUND_ATOMIC_SCOPE;
    } else if (p_write && n_write && same_value(h, p, n)) {
        id = WG_FOUND_RACE_SAME_VALUE;
        s = WG_SEVERITY_INFO;
    } else if (same_warp) {
        id = WG_FOUND_RACE_WARP;
        s = WG_SEVERITY_WARNING;
    }
    bool flying = (p->flags | n->flags) & MARK_FLYING;
    if (flying) {
        id = WG_FOUND_RACE_SHARED;
        s = WG_SEVERITY_ERROR;
    }
    const char *kind = !n_write ? "RAW" : p_write ? "WAW" : "WAR";
    uint32_t other[3];
    block_of(c, p->block, other);
    struct wg_who wp = {p->thread / LANES, p->thread % LANES, other}, wn = {h->warp, h->lane, h->b->ctaid};
    bool swap = (p_write && !n_write) || (p_write == n_write && p->site < n->site); /* the write, or the lower, first */
    uint32_t s1 = swap ? p->site : n->site, s2 = swap ? n->site : p->site;
    char place[192], values[80] = "";
    if (n_write && h->a->kind == WG_ACCESS_STORE && h->a->value)
        snprintf(values, sizeof values, "\nCurrent Value : 0x%x, Incoming Value : 0x%x", current(h, n->bytes),
                 incoming(h, h->lane, n->bytes));
    (shared ? wg_name_shared : wg_name_global)(c, addr, h->a->elem, place, sizeof place);
    const char *made = shared ? NULL : wg_name_place(c, addr);
    wg_found(c, id, s1, s2, swap ? wp : wn, swap ? wn : wp, addr, s,
             "Race reported between %s access and %s access to __%s__ %s%s\n%s: the %s came second%s%s%s%s",
             access[swap ? p_write : n_write], access[swap ? n_write : p_write], shared ? "shared" : "global", place,
             id == WG_FOUND_ATOMIC_SCOPE     ? ", atomic only within each block"
             : id == WG_FOUND_RACE_SAME_VALUE ? ", of the same value"
                                              : "",
             kind, n_write ? "write" : "read",
             p->flags & MARK_FLYING  ? "; the asynchronous copy had not been waited for"
             : same_warp             ? "; both by one warp, without __syncwarp between"
             : p->block == n->block ? "; by different warps of one block"
                                    : "; by different blocks",
             values, made ? "\nAllocated by\n" : "", made ? made : "");
}

static void test(const struct hit *h, const struct wg_mark *p, const struct wg_mark *n, bool p_write, bool n_write)
{
    if (p->launch != h->c->serial || !(p->bytes & n->bytes))
        return;
    if (h->a->space == WG_SITE_SHARED && p->block != n->block)
        return; /* another block had this memory before */
    if (both_strong(p, n) && (p->block == n->block || ((p->flags >> MARK_SCOPE) && (n->flags >> MARK_SCOPE))))
        return;
    if (p->flags & MARK_FLYING || !ordered(h->c, h->b, h->warp, h->lane, p))
        report(h, p, n, p_write, n_write);
}

static void note_read(const struct hit *h, struct wg_cell *cell, const struct wg_mark *n)
{
    bool fresh[2];
    for (int k = 0; k < 2; k++) {
        const struct wg_mark *r = &cell->r[k];
        fresh[k] = r->launch != h->c->serial || (h->a->space == WG_SITE_SHARED && r->block != n->block) ||
                   (ordered(h->c, h->b, h->warp, h->lane, r) && (n->bytes & r->bytes) == r->bytes);
    }
    if (fresh[0])
        cell->r[0] = *n;
    else if (fresh[1])
        cell->r[1] = *n;
    else if (cell->r[0].block == cell->r[1].block && cell->r[0].thread / LANES == cell->r[1].thread / LANES)
        cell->r[1] = *n; /* a reader of another warp says more */
}

static struct wg_cell *cell_at(const struct hit *h, uint64_t addr)
{
    struct wg_check *c = h->c;
    if (h->a->space == WG_SITE_SHARED)
        return &h->b->cells[addr >> 2];
    uint64_t at = addr - c->lo, r = at >> REGION_SHIFT;
    if (!c->cells[r] && !(c->cells[r] = wg_calloc((1u << REGION_SHIFT) / 4, sizeof **c->cells))) {
        c->no_memory = true;
        return NULL;
    }
    return &c->cells[r][(at & ((1u << REGION_SHIFT) - 1)) >> 2];
}

void wg_racecheck_access(struct wg_check *c, struct wg_cblock *b, uint32_t warp, const struct wg_access *a, uint32_t mask)
{
    if (a->space != WG_SITE_GLOBAL && a->space != WG_SITE_SHARED)
        return;
    bool write = a->kind != WG_ACCESS_LOAD, atomic = a->kind >= WG_ACCESS_ATOM;
    bool strong = a->guess || (a->strong && !(a->is_volatile && a->space == WG_SITE_SHARED));
    if (a->strong && (a->kind == WG_ACCESS_LOAD || a->kind == WG_ACCESS_ATOM))
        acquire(c, b, warp, a, mask);
    uint32_t bytes = (uint32_t)a->elem * a->n;
    struct wg_mark n = {.ts = b->w[warp].clk, .block = (uint32_t)b->linear, .site = a->site & 0xffffffu, .launch = c->serial};
    n.flags = (uint8_t)((atomic ? MARK_ATOMIC : 0) | (strong ? MARK_STRONG : 0) |
                        (a->guess || a->scope != WG_ACCESS_CTA ? 1 << MARK_SCOPE : 0));
    for (uint32_t m = mask; m; m &= m - 1) {
        struct hit h = {c, b, a, warp, (uint32_t)__builtin_ctz(m), 0};
        uint64_t x = a->addr[h.lane];
        n.thread = (uint16_t)(warp * LANES + h.lane);
        for (uint64_t at = x & ~3ull; at < x + bytes; at += 4, h.word += 4) {
            struct wg_cell *cell = cell_at(&h, at);
            if (!cell)
                return;
            n.bytes = bytes >= 4 ? 15 : (uint8_t)(((1u << bytes) - 1) << (x & 3));
            test(&h, &cell->w, &n, true, write);
            if (!write) {
                note_read(&h, cell, &n);
                continue;
            }
            test(&h, &cell->r[0], &n, false, true);
            test(&h, &cell->r[1], &n, false, true);
            cell->w = n;
            cell->r[0].launch = cell->r[1].launch = 0;
        }
    }
    if (a->strong && write)
        release(c, b, warp, a, mask);
}

/* A copy is a write from its issue until it has been waited for: whoever touches the word in between races with it. */
void wg_racecheck_async(struct wg_check *c, struct wg_cblock *b, uint32_t warp, uint32_t lane, uint32_t site, uint64_t addr,
                        uint32_t bytes, enum wg_async_event what)
{
    if (what == WG_ASYNC_LEFT)
        return; /* it lands some time: in flight for everybody else */
    struct wg_mark n = {.ts = b->w[warp].clk, .block = (uint32_t)b->linear, .site = site & 0xffffffu, .launch = c->serial,
                        .thread = (uint16_t)(warp * LANES + lane), .bytes = 15, .flags = MARK_FLYING};
    uint64_t lanes[LANES] = {0};
    lanes[lane] = addr;
    struct wg_access a = {.site = site, .kind = WG_ACCESS_RED, .space = WG_SITE_SHARED, .elem = 4, .n = 1, .addr = lanes};
    struct hit h = {c, b, &a, warp, lane, 0};
    for (; h.word < bytes; h.word += 4) {
        struct wg_cell *cell = &b->cells[(addr + h.word) >> 2];
        if (what == WG_ASYNC_LANDED || what == WG_ASYNC_SEEN) {
            if (cell->w.flags & MARK_FLYING && cell->w.thread == n.thread && cell->w.block == n.block) {
                cell->w.flags = 0;
                cell->w.ts = what == WG_ASYNC_SEEN ? cell->w.ts : n.ts;
            }
            continue;
        }
        test(&h, &cell->w, &n, true, true);
        test(&h, &cell->r[0], &n, false, true);
        test(&h, &cell->r[1], &n, false, true);
        cell->w = n;
        cell->r[0].launch = cell->r[1].launch = 0;
    }
}

/* An mbarrier hands on what its arrivals have done to those who wait for its phase. */
void wg_racecheck_object(struct wg_check *c, struct wg_cblock *b, uint32_t warp, uint32_t lane, const struct wg_object *o)
{
    uint64_t lanes[LANES] = {0};
    lanes[lane] = o->addr;
    struct wg_access a = {.space = WG_SITE_SHARED, .addr = lanes, .release = true, .scope = WG_ACCESS_CTA};
    if (o->what == WG_OBJECT_PASSED)
        acquire(c, b, warp, &a, 1u << lane);
    else if (o->what != WG_OBJECT_NOT_YET)
        release(c, b, warp, &a, 1u << lane);
}

void wg_racecheck_end(struct wg_check *c)
{
    for (uint64_t k = 0; c->rings && k < c->launch.nblocks; k++)
        free(c->rings[k]);
    free(c->rings);
    c->rings = NULL;
    free(c->vars.v);
    c->vars = (struct wg_vars){0};
    c->time = 0;
}
