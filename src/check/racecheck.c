/* racecheck.c - pairs of accesses that nothing orders, by happens-before with a fixed amount of state per word.
 *
 * Order within a warp: __syncwarp and the .sync operations between the lanes of their masks. Between warps: barriers, and
 * fence, atomic, look in shared or global memory. Between blocks: fence by the writer, then an atomic or other strong
 * access that the reader looks at first; the end of the launch. What warp v of a block did before its time t is written
 * (v, t). Times of releases towards other blocks are of the whole grid, so that what a block knows of all others is one
 * number (wg_cwarp.acq); this can hide a race behind an unrelated release, and never invents one.
 *
 * Each word keeps its last write and two reads, of different warps if there are any. A read replaces one that happened
 * before it, since whatever is ordered after it is ordered after that one too. How words are kept: see internal.h. */
#include "check/internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t max32(uint32_t a, uint32_t b) { return a > b ? a : b; }
static uint32_t min32(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* ---- synchronisation ---- */
/* What a warp of the block knows of others has changed; quiet: they all know the same now. */
void wg_racecheck_stamp(struct wg_cblock *b, bool quiet)
{
    b->stamp = ++b->c->stamps << 16;
    b->quiet = quiet;
}

void wg_racecheck_arrive(struct wg_cblock *b, uint32_t warp, uint32_t id, bool waits)
{
    struct wg_cbarrier *x = &b->bar[id & (BARRIERS - 1)];
    struct wg_cwarp *w = &b->w[warp];
    w->clk++;
    for (uint32_t v = 0; v < WARPS; v++)
        x->vc[v] = max32(x->vc[v], w->vc[v]);
    x->vc[warp] = max32(x->vc[warp], w->clk);
    x->acq = w->acq > x->acq ? w->acq : x->acq;
    x->arrived |= 1u << warp;
    b->since &= ~(1u << warp);
    if (waits)
        x->waiting |= 1u << warp;
    else
        wg_racecheck_stamp(b, false);
}

/* Every warp that can still access anything waits at x, and has done nothing since it came. */
static bool all_meet(const struct wg_cblock *b, const struct wg_cbarrier *x, uint32_t running)
{
    uint32_t moved = 0;
    for (uint32_t m = running; m; m &= m - 1)
        moved |= x->vc[__builtin_ctz(m)] ^ b->w[__builtin_ctz(m)].clk;
    return x->waiting == running && !moved;
}

void wg_racecheck_release(struct wg_cblock *b, uint32_t id, const uint32_t *live)
{
    struct wg_cbarrier *x = &b->bar[id & (BARRIERS - 1)];
    uint32_t running = 0;
    for (uint32_t v = 0; v < WARPS; v++)
        running |= live[v] ? 1u << v : 0;
    bool meet = all_meet(b, x, running);
    wg_racecheck_stamp(b, meet);
    if (meet && !(b->since & b->acted) && !(b->acted & ~running) && !b->flying) {
        b->events.first += b->events.n; /* no mark in shared memory can take part in a race any more */
        b->events.n = 0;
        b->acted = 0;
    }
    for (uint32_t m = x->waiting; m; m &= m - 1) {
        struct wg_cwarp *w = &b->w[__builtin_ctz(m)];
        for (uint32_t v = 0; v < WARPS; v++)
            w->vc[v] = max32(w->vc[v], x->vc[v]);
        w->conv = max32(w->conv, x->vc[__builtin_ctz(m)]);
        w->acq = w->acq > x->acq ? w->acq : x->acq;
    }
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
    wg_racecheck_stamp(b, false);
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
    wg_racecheck_stamp(b, false);
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
    wg_racecheck_stamp(b, false);
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
    if (!c->rings) /* the first release of the launch */
        c->rings = wg_calloc(c->launch.nblocks, sizeof *c->rings);
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
static bool between_blocks(const struct wg_check *c, const struct wg_event *p, uint64_t acq)
{
    const struct wg_ring *r = c->rings && p->block < c->launch.nblocks ? c->rings[p->block] : NULL;
    if (!r)
        return false;
    uint64_t n = r->n < RING ? r->n : RING;
    for (uint64_t k = 0; k < n; k++)
        if (r->time[k] <= acq && r->pub[k][p->warp] > p->ts)
            return true;
    return r->n > RING && r->time[r->n % RING] > acq; /* older releases are forgotten: benefit of the doubt */
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

/* ---- one access on its way through the marks ---- */
#define WG_ALWAYS static inline __attribute__((always_inline))
struct walk {
    struct wg_check *c;
    struct wg_cblock *b;
    struct wg_cwarp *w;
    struct wg_events *e;
    uint32_t warp, site;
    uint8_t flags, wide;
    bool shared;
    uint16_t made;   /* which of id are set */
    uint32_t id[16]; /* of the event, per set of bytes */
};

WG_ALWAYS const struct wg_event *event(const struct walk *x, uint32_t mark) { return &x->e->v[(mark >> 5) - x->e->first]; }
WG_ALWAYS bool counts(const struct walk *x, uint32_t mark) { return mark >> 5 >= x->e->first; }

WG_ALWAYS void start(struct walk *x, struct wg_check *c, struct wg_cblock *b, uint32_t warp, uint32_t site, bool shared)
{
    x->c = c;
    x->b = b;
    x->w = &b->w[warp];
    x->e = shared ? &b->events : &c->events;
    x->warp = warp;
    x->site = site & 0xffffffu;
    x->flags = x->wide = 0;
    x->shared = shared;
    x->made = 0;
    x->id[15] = 0;
}

/* The number of an event. Room for it was made before. */
WG_ALWAYS uint32_t make_event(struct wg_cblock *b, struct wg_events *e, struct wg_cwarp *w, uint32_t warp, uint32_t site,
                              unsigned bytes, unsigned flags, unsigned wide, bool shared)
{
    struct wg_event n = {.block = (uint32_t)b->linear, .ts = w->clk};
    n.what = site | bytes << 24 | flags << 28 | (uint64_t)(warp | wide << 8 | (uint32_t)shared << 16) << 32;
    struct wg_made *m = &w->made[(site + bytes) % MADE];
    if (m->id >= e->first && m->what == n.what && m->ts == n.ts)
        return m->id;
    uint32_t id = e->first + e->n;
    e->v[e->n++] = n;
    if (shared) {
        b->acted |= 1u << warp;
        b->since |= 1u << warp;
    }
    *m = (struct wg_made){n.what, n.ts, id};
    return id;
}
static inline uint32_t number(struct walk *x, unsigned bytes)
{
    if (!(x->made >> bytes & 1)) {
        x->made |= (uint16_t)(1u << bytes);
        x->id[bytes] = make_event(x->b, x->e, x->w, x->warp, x->site, bytes, x->flags, x->wide, x->shared);
    }
    return x->id[bytes];
}

static __attribute__((noinline)) struct wg_page *new_page(struct wg_check *c, uint64_t addr)
{
    struct wg_page *p = wg_shadow_page(c, addr);
    if (p && p->launch != c->serial) {
        p->launch = c->serial;
        p->split = 0;
        memset(p->row, 0, sizeof p->row);
        c->npages++;
    }
    return p;
}
WG_ALWAYS struct wg_page *page_of(const struct walk *x, bool shared, uint64_t addr)
{
    if (shared)
        return &x->b->pages[addr >> PAGE_SHIFT];
    struct wg_page *p = wg_shadow_find(x->c, addr);
    return __builtin_expect(p && p->launch == x->c->serial, 1) ? p : new_page(x->c, addr);
}

/* Had the event's lane done it before the warp's lane came here? Flying copies have not: see the callers. */
WG_ALWAYS bool before(const struct walk *x, const struct wg_event *e, bool same_lane, uint32_t lane, uint32_t its_lane)
{
    if (e->block != (uint32_t)x->b->linear)
        return x->c->time && between_blocks(x->c, e, x->w->acq);
    if (e->warp != x->warp)
        return x->w->vc[e->warp] > e->ts;
    return same_lane || x->w->conv > e->ts || (x->w->lane && x->w->lane[lane][its_lane] > e->ts);
}

/* ---- word by word ---- */
WG_ALWAYS uint32_t (*words_of(const struct walk *x, struct wg_page *p, unsigned row))[ROW_WORDS]
{
    return p->split >> row & 1 ? p->word[row] : wg_shadow_split(x->c, x->e, p, row);
}

static struct wg_mark mark_of(const struct walk *x, uint32_t mark)
{
    const struct wg_event *e = event(x, mark);
    return (struct wg_mark){e->ts, e->block, e->site, (uint16_t)(e->warp * LANES + (mark & 31)), e->bytes, e->flags};
}

WG_ALWAYS bool rivals(const struct walk *x, uint32_t mark, uint32_t lane, unsigned bytes)
{
    if (!counts(x, mark))
        return false;
    const struct wg_event *e = event(x, mark);
    if (!(e->bytes & bytes))
        return false;
    if (e->flags & x->flags & MARK_STRONG && (e->block == (uint32_t)x->b->linear || e->flags & x->flags & MARK_SCOPE))
        return false;
    return e->flags & MARK_FLYING || !before(x, e, (mark & 31) == lane, lane, mark & 31);
}

static void accuse(const struct walk *x, const struct wg_access *a, uint32_t lane, uint32_t word, unsigned bytes, uint32_t mark,
                   bool p_write, bool n_write)
{
    struct hit h = {x->c, x->b, a, x->warp, lane, word};
    struct wg_mark p = mark_of(x, mark),
                   n = {x->w->clk, (uint32_t)x->b->linear, x->site, (uint16_t)(x->warp * LANES + lane), (uint8_t)bytes, x->flags};
    report(&h, &p, &n, p_write, n_write);
}

WG_ALWAYS void note_read(struct walk *x, struct wg_page *p, unsigned row, unsigned k, uint32_t lane, unsigned bytes)
{
    uint32_t (*w)[ROW_WORDS] = p->word[row], mark = 0;
    const struct wg_event *e[2] = {NULL, NULL};
    int to = 0;
    for (int n = 0; n < 2 && !to; n++) {
        mark = w[FIRST_READ + n][k];
        e[n] = counts(x, mark) ? event(x, mark) : NULL;
        if (!e[n] || ((bytes & e[n]->bytes) == e[n]->bytes && before(x, e[n], (mark & 31) == lane, lane, mark & 31)))
            to = FIRST_READ + n;
    }
    if (!to && e[0]->block == e[1]->block && e[0]->warp == e[1]->warp)
        to = SECOND_READ; /* a reader of another warp says more */
    if (!to)
        return;
    uint32_t id = number(x, bytes);
    w[to][k] = MARK(id, lane);
    if (id > p->row[row].mark[0])
        p->row[row].mark[0] = id;
}

WG_ALWAYS void note_write(struct walk *x, struct wg_page *p, unsigned row, unsigned k, uint32_t lane, unsigned bytes)
{
    uint32_t (*w)[ROW_WORDS] = p->word[row], id = number(x, bytes), old = w[LAST_WRITE][k];
    if (x->b->flying && x->shared && counts(x, old) && event(x, old)->flags & MARK_FLYING)
        x->b->flying--;
    w[LAST_WRITE][k] = MARK(id, lane);
    w[FIRST_READ][k] = w[SECOND_READ][k] = 0;
    if (id > p->row[row].mark[0])
        p->row[row].mark[0] = id;
}

/* Tests the access of lane's word at addr and notes it. False: no memory. */
WG_ALWAYS bool word(struct walk *x, const struct wg_access *a, uint32_t lane, uint32_t off, uint64_t addr, unsigned bytes,
                    bool shared, bool write)
{
    struct wg_page *p = page_of(x, shared, addr);
    unsigned row = addr >> ROW_SHIFT & (PAGE_ROWS - 1), k = addr >> 2 & (ROW_WORDS - 1);
    uint32_t (*w)[ROW_WORDS] = p ? words_of(x, p, row) : NULL;
    if (!w)
        return false;
    if (rivals(x, w[LAST_WRITE][k], lane, bytes))
        accuse(x, a, lane, off, bytes, w[LAST_WRITE][k], true, write);
    for (int m = FIRST_READ; write && m <= SECOND_READ; m++)
        if (rivals(x, w[m][k], lane, bytes))
            accuse(x, a, lane, off, bytes, w[m][k], false, true);
    if (write)
        note_write(x, p, row, k, lane, bytes);
    else
        note_read(x, p, row, k, lane, bytes);
    return true;
}

/* All words of all lanes. */
WG_ALWAYS bool words(struct walk *x, const struct wg_access *a, uint32_t mask, bool shared, bool write)
{
    uint32_t bytes = (uint32_t)a->elem * a->n;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t at = a->addr[lane];
        if (bytes <= 4) {
            if (!word(x, a, lane, 0, at & ~3ull, bytes == 4 ? 15 : ((1u << bytes) - 1) << (at & 3), shared, write))
                return false;
            continue;
        }
        for (uint32_t off = 0; off < bytes; off += 4)
            if (!word(x, a, lane, off, at + off, 15, shared, write))
                return false;
    }
    return true;
}

/* The lanes of one whole word each whose word nothing is known of, or only atomics like this one: most of those that do
 * not take rows. Returns the others. */
WG_ALWAYS uint32_t calm_words(struct walk *x, const uint64_t *addr, uint32_t mask, bool shared, bool write)
{
    const uint32_t none = MARK(x->e->first, 0), id = number(x, 15), flags = x->flags & (MARK_STRONG | MARK_SCOPE);
    const uint32_t block = (uint32_t)x->b->linear;
    uint32_t left = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t at = addr[lane];
        struct wg_page *p = page_of(x, shared, at);
        unsigned row = at >> ROW_SHIFT & (PAGE_ROWS - 1);
        if (!p || !(p->split >> row & 1)) {
            left |= 1u << lane;
            continue;
        }
        uint32_t *w = &p->word[row][LAST_WRITE][at >> 2 & (ROW_WORDS - 1)];
        bool ok = w[FIRST_READ * ROW_WORDS] < none && w[SECOND_READ * ROW_WORDS] < none;
        if (*w >= none) {
            const struct wg_event *e = event(x, *w);
            ok = ok && e->flags & flags & MARK_STRONG && !(e->flags & MARK_FLYING) &&
                 (e->block == block || e->flags & flags & MARK_SCOPE) && write;
        }
        if (!ok) {
            left |= 1u << lane;
            continue;
        }
        w[write ? 0 : FIRST_READ * ROW_WORDS] = MARK(id, lane);
        if (id > p->row[row].mark[0])
            p->row[row].mark[0] = id;
    }
    return left;
}

/* ---- rows as a whole: by lane k the words from k << wide on ---- */
enum order { BEFORE, BESIDE, UNCLEAR /* differs between lanes */ };
WG_ALWAYS enum order row_order(const struct walk *x, uint32_t mark, uint32_t tag)
{
    if (!counts(x, mark))
        return BEFORE;
    const struct wg_event *e = event(x, mark);
    if (e->flags & MARK_FLYING)
        return UNCLEAR;
    bool ours = e->block == (uint32_t)x->b->linear && e->warp == x->warp;
    bool same = e->wide == x->wide && (mark & 31) == tag;
    if (ours && !same && x->w->conv <= e->ts && x->w->lane)
        return UNCLEAR;
    return before(x, e, same, 0, 0) ? BEFORE : BESIDE;
}

/* A write that is beside another access, or unclear: let the lanes say. */
WG_ALWAYS bool row_write(struct walk *x, struct wg_page *p, unsigned row, uint32_t tag)
{
    struct wg_row *r = &p->row[row];
    uint32_t bit = 1u << row;
    if (p->split & bit) {
        if (r->mark[0] >= x->e->first) {
            const uint32_t *w = &p->word[row][0][0];
            for (unsigned k = 0, last = 0; k < MARKS * ROW_WORDS; k++) {
                if (w[k] >> 5 == last || !counts(x, w[k]))
                    continue;
                if (event(x, w[k])->warp == x->warp || row_order(x, w[k], tag) != BEFORE)
                    return false;
                last = w[k] >> 5;
            }
        }
        p->split &= ~bit;
    } else {
        for (unsigned k = 0; k < MARKS; k++)
            if (row_order(x, r->mark[k], tag) != BEFORE)
                return false;
    }
    r->mark[LAST_WRITE] = MARK(make_event(x->b, x->e, x->w, x->warp, x->site, 15, 0, x->wide, x->shared), tag);
    r->mark[FIRST_READ] = r->mark[SECOND_READ] = 0;
    r->settled = 0;
    return true;
}

static __attribute__((noinline)) bool words_read(struct walk *x, struct wg_page *p, unsigned row, uint32_t tag)
{
    const uint32_t *w = p->word[row][LAST_WRITE];
    for (unsigned k = 0; k < ROW_WORDS; k++)
        if (rivals(x, w[k], (tag + (k >> x->wide)) & 31, 15))
            return false;
    for (unsigned k = 0; k < ROW_WORDS; k++)
        note_read(x, p, row, k, (tag + (k >> x->wide)) & 31, 15);
    return true;
}

WG_ALWAYS uint32_t reader(const struct walk *x, const struct wg_event *e)
{
    return e->block == (uint32_t)x->b->linear ? e->warp : 255;
}

/* A row is settled where the two reads that it keeps are of two warps and beside what any third warp of this block does, and
 * nobody wrote to it. As long as no warp learns of another, there is nothing to do for a third one's read. */
WG_ALWAYS bool row_read(struct walk *x, struct wg_page *p, unsigned row, uint32_t tag)
{
    struct wg_row *r = &p->row[row];
    uint32_t bit = 1u << row;
    if (p->split & bit) {
        if (r->mark[0] >= x->e->first)
            return words_read(x, p, row, tag);
        p->split &= ~bit;
        *r = (struct wg_row){{0}};
    }
    uint64_t settled = r->settled ^ x->b->stamp;
    if (settled < 1 << 16 && (settled >> 8) != x->warp && (settled & 255) != x->warp)
        return true;
    if (row_order(x, r->mark[LAST_WRITE], tag) != BEFORE)
        return false;
    enum order o[2] = {row_order(x, r->mark[FIRST_READ], tag), row_order(x, r->mark[SECOND_READ], tag)};
    if (o[0] == UNCLEAR || o[1] == UNCLEAR)
        return false;
    int k = o[0] == BEFORE ? FIRST_READ : o[1] == BEFORE ? SECOND_READ : 0;
    if (!k) {
        const struct wg_event *a = event(x, r->mark[FIRST_READ]), *b = event(x, r->mark[SECOND_READ]);
        if (a->block != b->block || a->warp != b->warp) {
            if (x->b->quiet && !x->c->time && !counts(x, r->mark[LAST_WRITE]))
                r->settled = x->b->stamp | reader(x, a) << 8 | reader(x, b);
            return true;
        }
        k = SECOND_READ;
    }
    r->mark[k] = MARK(make_event(x->b, x->e, x->w, x->warp, x->site, 15, 0, x->wide, x->shared), tag);
    return true;
}

/* All lanes read one place. The first and the last lane stand for all: whoever races with one of the others races with
 * one of these. */
WG_ALWAYS bool same_read(struct walk *x, uint64_t at, unsigned bytes)
{
    struct wg_page *p = page_of(x, x->shared, at);
    unsigned row = at >> ROW_SHIFT & (PAGE_ROWS - 1), k = at >> 2 & (ROW_WORDS - 1);
    uint32_t (*w)[ROW_WORDS] = p ? words_of(x, p, row) : NULL;
    if (!w)
        return false;
    for (unsigned end = k + bytes / 4; k < end; k++) {
        uint32_t m = w[LAST_WRITE][k];
        if (counts(x, m)) {
            const struct wg_event *e = event(x, m);
            if (e->flags & MARK_FLYING || !before(x, e, false, 0, m & 31) || (x->w->lane && e->warp == x->warp))
                return false;
        }
        if (counts(x, w[FIRST_READ][k]) || counts(x, w[SECOND_READ][k])) {
            note_read(x, p, row, k, 0, 15);
            note_read(x, p, row, k, LANES - 1, 15);
            continue;
        }
        uint32_t id = make_event(x->b, x->e, x->w, x->warp, x->site, 15, 0, 0, x->shared);
        w[FIRST_READ][k] = MARK(id, 0);
        w[SECOND_READ][k] = MARK(id, LANES - 1);
        if (id > p->row[row].mark[0])
            p->row[row].mark[0] = id;
    }
    return true;
}

WG_ALWAYS bool any_row(struct wg_check *c, struct wg_cblock *b, uint32_t warp, const struct wg_access_site *s, uint64_t base,
                       int64_t stride, bool shared)
{
    unsigned bytes = s->elem * s->n;
    struct walk x;
    start(&x, c, b, warp, s->site, shared);
    if (!wg_shadow_has_room(x.e, 4) && !wg_shadow_room(c, b, shared, 4))
        return false;
    if (!stride)
        return bytes >= 4 && s->kind == WG_ACCESS_LOAD && same_read(&x, base, bytes);
    if (stride != bytes || bytes < 4 || base & ((1u << ROW_SHIFT) - 1))
        return false;
    x.wide = bytes == 4 ? 0 : bytes == 8 ? 1 : bytes == 16 ? 2 : 3;
    for (unsigned n = 0; n < bytes / 4; n++) {
        uint64_t at = base + n * (1u << ROW_SHIFT);
        struct wg_page *p = page_of(&x, x.shared, at);
        unsigned row = at >> ROW_SHIFT & (PAGE_ROWS - 1), tag = n * ROW_WORDS >> x.wide;
        if (!p || !(s->kind == WG_ACCESS_LOAD ? row_read(&x, p, row, tag) : row_write(&x, p, row, tag)))
            return false;
    }
    return true;
}
static __attribute__((noinline)) bool shared_row(struct wg_cblock *b, uint32_t warp, const struct wg_access_site *s, uint64_t base,
                                                 int64_t stride)
{
    return any_row(b->c, b, warp, s, base, stride, true);
}
static __attribute__((noinline)) bool global_row(struct wg_cblock *b, uint32_t warp, const struct wg_access_site *s, uint64_t base,
                                                 int64_t stride)
{
    return any_row(b->c, b, warp, s, base, stride, false);
}

/* All lanes read a word in a split row: at once if nobody else has touched it since all met. */
static __attribute__((noinline)) bool fresh_word(struct wg_cblock *b, uint32_t warp, const struct wg_access_site *s, uint64_t base)
{
    struct wg_page *p = &b->pages[base >> PAGE_SHIFT];
    unsigned row = base >> ROW_SHIFT & (PAGE_ROWS - 1);
    uint32_t *w = &p->word[row][LAST_WRITE][base >> 2 & (ROW_WORDS - 1)], none = MARK(b->events.first, 0);
    if (w[0] >= none || w[FIRST_READ * ROW_WORDS] >= none || w[SECOND_READ * ROW_WORDS] >= none ||
        !wg_shadow_has_room(&b->events, 1))
        return shared_row(b, warp, s, base, 0);
    uint32_t id = make_event(b, &b->events, &b->w[warp], warp, s->site & 0xffffffu, 15, 0, 0, true);
    w[FIRST_READ * ROW_WORDS] = MARK(id, 0);
    w[SECOND_READ * ROW_WORDS] = MARK(id, LANES - 1);
    if (id > p->row[row].mark[0])
        p->row[row].mark[0] = id;
    return true;
}

/* First what inner loops do to shared memory, reading a settled row or a word that nobody else has touched since all met. */
bool wg_racecheck_row(struct wg_cblock *b, uint32_t warp, const struct wg_access_site *s, uint64_t base, int64_t stride)
{
    if (s->space != WG_SITE_SHARED)
        return global_row(b, warp, s, base, stride);
    if (s->kind != WG_ACCESS_LOAD || s->elem * s->n != 4)
        return shared_row(b, warp, s, base, stride);
    struct wg_page *p = &b->pages[base >> PAGE_SHIFT];
    unsigned row = base >> ROW_SHIFT & (PAGE_ROWS - 1);
    bool split = p->split >> row & 1;
    if (stride == 4 && !split && !(base & ((1 << ROW_SHIFT) - 1))) {
        uint64_t settled = p->row[row].settled ^ b->stamp;
        if (settled < 1 << 16 && settled >> 8 != warp && (settled & 255) != warp)
            return true;
    } else if (!stride && split) {
        return fresh_word(b, warp, s, base);
    }
    return shared_row(b, warp, s, base, stride);
}

static bool in_a_row(const uint64_t *addr, uint64_t bytes)
{
    uint64_t off = 0;
    for (uint32_t l = 0; l < LANES; l++)
        off |= addr[l] ^ (addr[0] + l * bytes);
    return !off;
}

void wg_racecheck_access(struct wg_check *c, struct wg_cblock *b, uint32_t warp, const struct wg_access *a, uint32_t mask)
{
    if (a->space != WG_SITE_GLOBAL && a->space != WG_SITE_SHARED)
        return;
    bool write = a->kind != WG_ACCESS_LOAD, atomic = a->kind >= WG_ACCESS_ATOM;
    bool strong = a->guess || (a->strong && !(a->is_volatile && a->space == WG_SITE_SHARED));
    if (a->strong && (a->kind == WG_ACCESS_LOAD || a->kind == WG_ACCESS_ATOM))
        acquire(c, b, warp, a, mask);
    uint32_t bytes = (uint32_t)a->elem * a->n, all = mask;
    if (a->from && !a->from->strong && mask == ~0u && bytes >= 4 && in_a_row(a->addr, bytes)) {
        struct wg_access_site s = {.site = a->site, .kind = a->kind, .space = a->space, .elem = a->elem, .n = a->n};
        if (wg_racecheck_row(b, warp, &s, a->addr[0], bytes))
            return;
    }
    struct walk x;
    start(&x, c, b, warp, a->site, a->space == WG_SITE_SHARED);
    x.flags = (uint8_t)((atomic ? MARK_ATOMIC : 0) | (strong ? MARK_STRONG : 0) |
                        (a->guess || a->scope != WG_ACCESS_CTA ? MARK_SCOPE : 0));
    if (!wg_shadow_room(c, b, x.shared, 8))
        return;
    if (bytes == 4)
        mask = x.shared ? (write ? calm_words(&x, a->addr, mask, true, true) : calm_words(&x, a->addr, mask, true, false))
                        : (write ? calm_words(&x, a->addr, mask, false, true) : calm_words(&x, a->addr, mask, false, false));
    bool done = x.shared ? (write ? words(&x, a, mask, true, true) : words(&x, a, mask, true, false))
                         : (write ? words(&x, a, mask, false, true) : words(&x, a, mask, false, false));
    if (!done)
        return;
    if (a->strong && write)
        release(c, b, warp, a, all);
}

/* The copy of a mark, written when it was issued, as one that has arrived. 0: no room. */
static uint32_t seen_event(struct walk *x, uint32_t mark)
{
    if (!wg_shadow_has_room(x->e, 1))
        return 0;
    struct wg_event e = *event(x, mark);
    e.flags = 0;
    x->e->v[x->e->n] = e;
    x->b->acted |= 1u << e.warp;
    x->b->since |= 1u << e.warp;
    return x->e->first + x->e->n++;
}

/* A copy is a write from its issue until it has been waited for: whoever touches the word in between races with it. */
void wg_racecheck_async(struct wg_check *c, struct wg_cblock *b, uint32_t warp, uint32_t lane, uint32_t site, uint64_t addr,
                        uint32_t bytes, enum wg_async_event what)
{
    if (what == WG_ASYNC_LEFT)
        return; /* it lands some time: in flight for everybody else */
    struct walk x;
    start(&x, c, b, warp, site, true);
    if (!wg_shadow_room(c, b, true, 2))
        return;
    x.flags = what == WG_ASYNC_ISSUED ? MARK_FLYING : 0;
    uint64_t lanes[LANES] = {0};
    lanes[lane] = addr;
    struct wg_access a = {.site = site, .kind = WG_ACCESS_RED, .space = WG_SITE_SHARED, .elem = 4, .n = 1, .addr = lanes};
    uint32_t flew = 0, landed = 0;
    for (uint32_t off = 0; off < bytes; off += 4) {
        uint64_t at = addr + off;
        struct wg_page *p = page_of(&x, x.shared, at);
        unsigned row = at >> ROW_SHIFT & (PAGE_ROWS - 1), k = at >> 2 & (ROW_WORDS - 1);
        uint32_t (*w)[ROW_WORDS] = words_of(&x, p, row), mark;
        if (!w)
            return;
        mark = w[LAST_WRITE][k];
        if (what == WG_ASYNC_LANDED || what == WG_ASYNC_SEEN) {
            if (counts(&x, mark) && event(&x, mark)->flags & MARK_FLYING && event(&x, mark)->warp == warp &&
                (mark & 31) == lane) {
                if (mark >> 5 != flew) {
                    flew = mark >> 5;
                    landed = what == WG_ASYNC_SEEN ? seen_event(&x, mark) : number(&x, 15);
                }
                if (!landed)
                    return;
                w[LAST_WRITE][k] = MARK(landed, lane);
                p->row[row].mark[0] = landed > p->row[row].mark[0] ? landed : p->row[row].mark[0];
                b->flying--;
            }
            continue;
        }
        if (!word(&x, &a, lane, off, at, 15, true, true))
            return;
        b->flying++;
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
