/* check.c - the observer: hands events to the checks that are on, keeps blocks and findings. */
#include "check/internal.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct { const char *name, *tool, *remedy; uint8_t severity; } rows[WG_FOUND_COUNT] = {
#define TOOL_MEMCHECK "memcheck"
#define TOOL_RACECHECK "racecheck"
#define TOOL_INITCHECK "initcheck"
#define TOOL_SYNCCHECK "synccheck"
#define WG_FINDING(id, name, tool, severity, title, remedy) {name, TOOL_##tool, remedy, WG_SEVERITY_##severity},
#include "check/findings.def"
#undef WG_FINDING
};

/* ---- small things ---- */
bool wg_bits_all(const uint8_t *bits, uint64_t at, uint64_t n)
{
    if (n <= 8 && (at & 7) + n <= 8) {
        uint8_t m = (uint8_t)(((1u << n) - 1) << (at & 7));
        return (bits[at >> 3] & m) == m;
    }
    for (uint64_t x; n >= 64 && !(at & 7); at += 64, n -= 64) {
        memcpy(&x, bits + (at >> 3), 8);
        if (x != ~0ull)
            return false;
    }
    for (; n; at++, n--)
        if (!(bits[at >> 3] >> (at & 7) & 1))
            return false;
    return true;
}
bool wg_bits_none(const uint8_t *bits, uint64_t at, uint64_t n)
{
    for (; n; at++, n--)
        if (bits[at >> 3] >> (at & 7) & 1)
            return false;
    return true;
}
void wg_bits_set(uint8_t *bits, uint64_t at, uint64_t n, bool on)
{
    if (n <= 8 && (at & 7) + n <= 8) {
        uint8_t m = (uint8_t)(((1u << n) - 1) << (at & 7));
        bits[at >> 3] = (uint8_t)(on ? bits[at >> 3] | m : bits[at >> 3] & ~m);
        return;
    }
    for (; n && (at & 7); at++, n--)
        bits[at >> 3] = (uint8_t)(on ? bits[at >> 3] | 1 << (at & 7) : bits[at >> 3] & ~(1 << (at & 7)));
    memset(bits + (at >> 3), on ? 0xff : 0, n >> 3);
    at += n & ~7ull;
    for (n &= 7; n; at++, n--)
        bits[at >> 3] = (uint8_t)(on ? bits[at >> 3] | 1 << (at & 7) : bits[at >> 3] & ~(1 << (at & 7)));
}

void wg_thread_of(const struct wg_check *c, uint32_t warp, uint32_t lane, uint32_t tid[3])
{
    uint32_t t = warp * LANES + lane;
    const uint32_t *b = c->launch.block;
    tid[0] = t % b[0];
    tid[1] = t / b[0] % b[1];
    tid[2] = t / b[0] / b[1];
}

const char *wg_space_name(unsigned space)
{
    return space == WG_SITE_SHARED ? "shared" : space == WG_SITE_LOCAL ? "local" : space == WG_SITE_CONST ? "const"
                                                                                                          : "global";
}

const struct wg_array *wg_array_at(const struct wg_check *c, uint64_t off)
{
    const struct wg_array *best = NULL;
    for (uint32_t k = 0; k < c->launch.narrays; k++) {
        const struct wg_array *a = &c->launch.arrays[k];
        if (off >= a->offset && (a->dynamic || off - a->offset < a->bytes))
            best = a;
    }
    return best;
}

/* ---- findings ---- */
static bool grow(struct wg_check *c, struct wg_found_entry **v, size_t n, size_t *cap)
{
    if (n < *cap)
        return true;
    size_t want = *cap ? *cap * 2 : 16;
    struct wg_found_entry *p = wg_realloc(*v, want * sizeof *p);
    if (!p) {
        c->no_memory = true;
        return false;
    }
    *v = p;
    *cap = want;
    return true;
}

static size_t slot_of(const struct wg_check *c, enum wg_found id, uint32_t site, uint32_t other)
{
    uint64_t h = ((uint64_t)site * 0x9e3779b97f4a7c15ull) ^ ((uint64_t)other * 0xc2b2ae3d27d4eb4full) ^ (uint64_t)id * 77;
    size_t k = (size_t)(h ^ h >> 29) & (c->hash_cap - 1);
    while (c->hash[k]) {
        const struct wg_found_entry *f = &c->found[c->hash[k] - 1];
        if (f->id == id && f->o.site == site && f->o.other_site == other)
            break;
        k = (k + 1) & (c->hash_cap - 1);
    }
    return k;
}

static bool room(struct wg_check *c)
{
    if (c->nfound * 2 < c->hash_cap)
        return true;
    size_t cap = c->hash_cap ? c->hash_cap * 2 : 64;
    uint32_t *h = wg_calloc(cap, sizeof *h);
    if (!h) {
        c->no_memory = true;
        return false;
    }
    free(c->hash);
    c->hash = h;
    c->hash_cap = cap;
    for (size_t k = 0; k < c->nfound; k++)
        h[slot_of(c, c->found[k].id, c->found[k].o.site, c->found[k].o.other_site)] = (uint32_t)k + 1;
    return true;
}

static void place(const struct wg_check *c, struct wg_who w, uint32_t thread[3], uint32_t block[3])
{
    if (!w.ctaid)
        return;
    wg_thread_of(c, w.warp, w.lane, thread);
    memcpy(block, w.ctaid, 3 * sizeof *block);
}

static char *text_of(enum wg_found id, const char *place, const char *fmt, va_list ap)
{
    char *text = NULL, *all = NULL;
    if (vasprintf(&text, fmt, ap) < 0)
        return NULL;
    if (asprintf(&all, "%s\n%s%s%s", text, rows[id].remedy, place ? "\nCalled by\n" : "", place ? place : "") < 0)
        all = NULL;
    free(text);
    return all;
}

bool wg_found(struct wg_check *c, enum wg_found id, uint32_t site, uint32_t other, struct wg_who who, struct wg_who prev,
              uint64_t addr, enum wg_severity s, const char *fmt, ...)
{
    if (!room(c) || !grow(c, &c->found, c->nfound, &c->found_cap))
        return false;
    size_t k = slot_of(c, id, site, other);
    if (c->hash[k]) {
        struct wg_found_entry *f = &c->found[c->hash[k] - 1];
        f->o.f.count++;
        return false;
    }
    va_list ap;
    va_start(ap, fmt);
    char *text = text_of(id, c->place, fmt, ap);
    va_end(ap);
    struct wg_found_entry *f = &c->found[c->nfound++];
    *f = (struct wg_found_entry){.id = id, .message = text, .o = {.site = site, .other_site = other}};
    if (c->now && c->now->stack) {
        uint32_t deep = sizeof f->o.calls / sizeof *f->o.calls, n = c->now->stack(c->now, f->o.calls, deep);
        f->o.ncalls = n < deep ? n : deep;
        f->o.calls_other = c->now->site != site;
    }
    f->o.f = (struct wg_finding){.id = rows[id].name, .tool = rows[id].tool, .severity = (uint8_t)s, .count = 1,
                                 .address = addr, .source = UINT32_MAX, .other_source = UINT32_MAX};
    place(c, who, f->o.f.thread, f->o.f.block);
    place(c, prev, f->o.f.other_thread, f->o.f.other_block);
    c->hash[k] = (uint32_t)c->nfound;
    return true;
}

void wg_found_host(struct wg_check *c, enum wg_found id, uint64_t addr, const char *place, const char *fmt, ...)
{
    if (!grow(c, &c->host, c->nhost, &c->host_cap))
        return;
    va_list ap;
    va_start(ap, fmt);
    char *text = text_of(id, place, fmt, ap);
    va_end(ap);
    for (size_t k = 0; text && k < c->nhost; k++)
        if (c->host[k].id == id && c->host[k].message && strcmp(c->host[k].message, text) == 0) {
            c->host[k].o.f.count++;
            free(text);
            return;
        }
    struct wg_found_entry *f = &c->host[c->nhost++];
    *f = (struct wg_found_entry){.id = id, .message = text, .o = {.site = NO_SITE, .other_site = NO_SITE}};
    f->o.f = (struct wg_finding){.id = rows[id].name, .tool = rows[id].tool, .severity = rows[id].severity, .count = 1,
                                 .address = addr, .source = UINT32_MAX, .other_source = UINT32_MAX};
}

static void hand_over(struct wg_found_entry *v, size_t n, wg_observed_fn put, void *sink)
{
    for (size_t k = 0; k < n; k++) {
        v[k].o.f.message = v[k].message ? v[k].message : "";
        put(sink, &v[k].o);
        free(v[k].message);
    }
}

/* ---- events ---- */
/* Sites learn their ranges again: memory is no longer what it was, or they are about to go. */
static void forget_ranges(struct wg_check *c)
{
    for (size_t k = 0; k < c->nknown; k++)
        c->known[k]->lo = c->known[k]->hi = 0;
    c->nknown = 0;
}

static void memory(void *ctx, enum wg_memory_event what, uint64_t addr, uint64_t bytes, uint64_t other)
{
    struct wg_check *c = ctx;
    wg_memcheck_memory(c, what, addr, bytes);
    if (what == WG_MEMORY_FREE || what == WG_MEMORY_FORGET || what == WG_MEMORY_HEAP_FREE)
        forget_ranges(c);
    if (c->tools & WG_TOOL_INITCHECK)
        wg_initcheck_memory(c, what, addr, bytes, other);
}

static void place_of(void *ctx, const char *text)
{
    struct wg_check *c = ctx;
    free(c->place);
    c->place = text ? strdup(text) : NULL;
}

static void host_error(void *ctx, const char *text)
{
    struct wg_check *c = ctx;
    if (c->tools & WG_TOOL_MEMCHECK)
        wg_found_host(c, WG_FOUND_API_ERROR, 0, c->place, "%s", text);
}

static void leaks(void *ctx)
{
    wg_memcheck_leaks(ctx);
}

/* ---- what sites store ---- */
static uint64_t stir(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}
static void digest(struct wg_check *c, const struct wg_access *a, uint32_t mask)
{
    if (a->site >= c->nstored) {
        uint32_t n = a->site + a->site / 2 + 64;
        uint64_t *v = wg_realloc(c->stored, n * sizeof *v);
        if (!v) {
            c->no_memory = true;
            return;
        }
        memset(v + c->nstored, 0, (n - c->nstored) * sizeof *v);
        c->stored = v;
        c->nstored = n;
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        for (uint32_t k = 0; k < a->n; k++)
            c->stored[a->site] += stir(stir(a->addr[l] - c->lo + k * a->elem) + a->value(a, l, k));
    }
}
static uint64_t stored(void *ctx, uint32_t site)
{
    const struct wg_check *c = ctx;
    uint64_t v = site < c->nstored ? c->stored[site] : 0;
    return v ? (v & 0xffffffffffffull) | 1 : 0;
}

static void launch_begin(void *ctx, const struct wg_launch_event *e)
{
    struct wg_check *c = ctx;
    c->launch = *e;
    if (c->nstored)
        memset(c->stored, 0, c->nstored * sizeof *c->stored);
    c->serial++; /* pages with marks of another launch start anew */
    c->npages = 0;
    c->events.first = 1;
    c->events.n = 0;
}

static void free_block(struct wg_cblock *b)
{
    struct wg_check *c = b->c;
    uint32_t npages = (c->launch.shared_bytes >> PAGE_SHIFT) + 1;
    for (uint32_t k = 0; b->pages && k < npages; k++)
        wg_shadow_free(c, b->pages[k].word, PAGE_ROWS * sizeof *b->pages[k].word);
    wg_shadow_free(c, b->pages, npages * sizeof *b->pages);
    wg_shadow_free(c, b->init, c->launch.shared_bytes / 8 + INIT_SPARE);
    c->shadow.now -= b->events.cap * sizeof *b->events.v;
    free(b->events.v);
    for (uint32_t k = 0; k < WARPS; k++) {
        free(b->w[k].lane);
        free(b->w[k].local);
    }
    free(b->vars.v);
    free(b->objects);
    free(b->flights);
    free(b);
}

static void launch_end(void *ctx, wg_observed_fn put, void *sink)
{
    struct wg_check *c = ctx;
    for (struct wg_cblock *b = c->blocks; b; b = b->all)
        if (!b->ended)
            wg_synccheck_end(c, b);
    hand_over(c->found, c->nfound, put, sink);
    c->nfound = 0;
    if (c->hash)
        memset(c->hash, 0, c->hash_cap * sizeof *c->hash);
    for (struct wg_cblock *b = c->blocks, *n; b; b = n) {
        n = b->all;
        free_block(b);
    }
    c->blocks = c->free_blocks = NULL;
    wg_racecheck_end(c);
    forget_ranges(c);
}

static void host_findings(void *ctx, wg_observed_fn put, void *sink)
{
    struct wg_check *c = ctx;
    hand_over(c->host, c->nhost, put, sink);
    c->nhost = 0;
}

static struct wg_cblock *new_block(struct wg_check *c)
{
    uint32_t bytes = c->launch.shared_bytes;
    struct wg_cblock *b = wg_calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->c = c;
    b->events.first = 1;
    b->pages = c->tools & WG_TOOL_RACECHECK ? wg_shadow_alloc(c, ((bytes >> PAGE_SHIFT) + 1) * sizeof *b->pages) : NULL;
    b->init = c->tools & WG_TOOL_INITCHECK ? wg_shadow_alloc(c, bytes / 8 + INIT_SPARE) : NULL;
    if ((c->tools & WG_TOOL_RACECHECK && !b->pages) || (c->tools & WG_TOOL_INITCHECK && !b->init)) {
        free_block(b);
        return NULL;
    }
    b->all = c->blocks;
    c->blocks = b;
    return b;
}

static void *block_begin(void *ctx, const struct wg_block_event *e)
{
    struct wg_check *c = ctx;
    struct wg_cblock *b = c->free_blocks;
    if (b)
        c->free_blocks = b->next;
    else
        b = new_block(c);
    if (!b) {
        c->no_memory = true;
        return NULL;
    }
    b->linear = e->linear;
    memcpy(b->ctaid, e->ctaid, sizeof b->ctaid);
    b->broken = b->any_cta = b->any_gpu = b->ended = false;
    b->nobjects = b->nflights = 0;
    b->events.first += b->events.n; /* the marks of the block before say nothing of this one */
    wg_racecheck_stamp(b, true);
    b->events.n = b->since = b->acted = b->flying = 0;
    for (uint32_t k = 0; k < WARPS; k++) {
        struct wg_cwarp *w = &b->w[k];
        w->clk = w->conv = 0;
        w->acq = 0;
        memset(w->vc, 0, sizeof w->vc);
        if (w->lane)
            memset(w->lane, 0, LANES * sizeof *w->lane);
        if (w->local)
            memset(w->local, 0, w->local_cap * sizeof *w->local);
        memset(w->made, 0, sizeof w->made);
        w->exited = 0;
        w->exit_site = NO_SITE;
    }
    memset(b->bar, 0, sizeof b->bar);
    memset(b->fenced_cta, 0, sizeof b->fenced_cta);
    memset(b->fenced_gpu, 0, sizeof b->fenced_gpu);
    if (b->vars.v)
        memset(b->vars.v, 0, b->vars.cap * sizeof *b->vars.v);
    b->vars.n = 0;
    if (b->init)
        memset(b->init, 0, c->launch.shared_bytes / 8 + INIT_SPARE);
    return b;
}

static void block_end(void *ctx, void *block)
{
    struct wg_check *c = ctx;
    struct wg_cblock *b = block;
    if (!b)
        return;
    wg_synccheck_end(c, b);
    b->ended = true;
    b->next = c->free_blocks;
    c->free_blocks = b;
}

/* Lanes whose access stays where marks exist: without memcheck the engine stops at the others. */
static uint32_t inside(const struct wg_check *c, const struct wg_access *a, uint32_t mask)
{
    uint64_t lo = a->space == WG_SITE_GLOBAL || a->space == WG_SITE_CONST ? c->lo : 0, bytes = (uint64_t)a->elem * a->n;
    uint64_t hi = a->space == WG_SITE_SHARED ? c->launch.shared_bytes : a->space == WG_SITE_LOCAL ? a->local_bytes : c->end;
    uint32_t ok = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t x = a->addr[__builtin_ctz(m)];
        if (x >= lo && x <= hi && hi - x >= bytes && !(x & (bytes - 1)))
            ok |= m & -m;
    }
    return ok;
}

/* What this access has shown about its instruction's next ones. */
static void learn(struct wg_check *c, const struct wg_access *a, uint32_t good)
{
    struct wg_access_site *s = a->from;
    if (c->want_stored || (s->space == WG_SITE_GENERIC && a->space != WG_SITE_GLOBAL))
        return;
    if (!s->hi && c->nknown == c->known_cap) {
        size_t cap = c->known_cap ? c->known_cap * 2 : 64;
        struct wg_access_site **p = wg_realloc(c->known, cap * sizeof *p);
        if (!p)
            return;
        c->known = p;
        c->known_cap = cap;
    }
    if (!s->hi)
        c->known[c->nknown++] = s;
    if (c->tools & WG_TOOL_MEMCHECK) {
        wg_memcheck_range(c, a, (uint32_t)__builtin_ctz(good), &s->lo, &s->hi);
    } else {
        s->lo = a->space == WG_SITE_SHARED ? 0 : c->lo;
        s->hi = a->space == WG_SITE_SHARED ? c->launch.shared_bytes : c->end;
    }
}

/* Rows, as the tools need them. */
static bool race_row(void *block, uint32_t warp, const struct wg_access_site *s, uint64_t base, int64_t stride)
{
    const struct wg_cblock *b = block;
    return s->space == WG_SITE_CONST || b->broken || wg_racecheck_row(block, warp, s, base, stride);
}
static bool init_row(void *block, uint32_t warp, const struct wg_access_site *s, uint64_t base, int64_t stride)
{
    (void)warp;
    return wg_initcheck_row(block, s, base, stride);
}
static bool both_row(void *block, uint32_t warp, const struct wg_access_site *s, uint64_t base, int64_t stride)
{
    const struct wg_cblock *b = block;
    if (s->space == WG_SITE_SHARED && s->kind == WG_ACCESS_LOAD && s->elem == 4 && s->n == 1 && !b->broken) {
        const uint8_t *at = b->init + (base >> 3);
        uint64_t x[2];
        memcpy(x, at, sizeof x); /* there is room behind the last */
        if (stride == 4 ? !(base & 7) && (x[0] & x[1]) == ~0ull : !stride && (x[0] >> (base & 4) & 15) == 15)
            return wg_racecheck_row(block, warp, s, base, stride);
    }
    return wg_initcheck_row(block, s, base, stride) && race_row(block, warp, s, base, stride);
}

static bool in_range(const struct wg_access_site *s, const uint64_t *addr, uint32_t mask)
{
    uint64_t bytes = (uint64_t)s->elem * s->n, room = s->hi - s->lo, first = addr[__builtin_ctz(mask)], bad = 0;
    if (room < bytes)
        return false;
    room -= bytes;
    for (uint32_t l = 0; l < LANES; l++) {
        uint64_t x = mask >> l & 1 ? addr[l] : first;
        bad |= (x - s->lo > room) | (x & (bytes - 1));
    }
    return !bad;
}

static uint32_t on_access(void *ctx, void *block, uint32_t warp, const struct wg_access *a)
{
    struct wg_check *c = ctx;
    struct wg_cblock *b = block;
    if (!b)
        return a->mask;
    uint32_t keep = a->mask, see;
    c->now = a;
    if (a->from && in_range(a->from, a->addr, a->mask)) {
        see = a->mask;
    } else {
        if (c->tools & WG_TOOL_MEMCHECK)
            keep = wg_memcheck_access(c, b, warp, a);
        see = inside(c, a, keep);
        if (a->from && see)
            learn(c, a, see);
    }
    if (c->want_stored && a->kind != WG_ACCESS_LOAD && a->space == WG_SITE_GLOBAL)
        digest(c, a, see);
    if (c->tools & WG_TOOL_INITCHECK && see)
        wg_initcheck_access(c, b, warp, a, see);
    if (c->tools & WG_TOOL_RACECHECK && see && !b->broken)
        wg_racecheck_access(c, b, warp, a, see);
    c->now = NULL;
    return keep;
}

static void native_write(void *ctx, void *block, uint32_t warp, uint32_t lane, uint8_t space, uint64_t addr, uint32_t bytes)
{
    struct wg_check *c = ctx;
    if (block && c->tools & WG_TOOL_INITCHECK)
        wg_initcheck_write(c, block, warp, lane, space, addr, bytes);
}

static void async_write(void *ctx, void *block, uint32_t warp, uint32_t lane, uint32_t site, uint64_t addr, uint32_t bytes,
                        enum wg_async_event what)
{
    struct wg_check *c = ctx;
    struct wg_cblock *b = block;
    if (!b || addr + bytes > c->launch.shared_bytes)
        return;
    if (c->tools & WG_TOOL_SYNCCHECK && what == WG_ASYNC_LEFT)
        wg_synccheck_left(c, b, warp, lane, site);
    if (c->tools & WG_TOOL_INITCHECK && what == WG_ASYNC_ISSUED)
        wg_initcheck_write(c, b, warp, lane, WG_SITE_SHARED, addr, bytes);
    if (c->tools & WG_TOOL_RACECHECK && !b->broken)
        wg_racecheck_async(c, b, warp, lane, site, addr, bytes, what);
}

static void bulk_copy(void *ctx, void *block, uint32_t warp, uint32_t lane, const struct wg_bulk_copy *x)
{
    struct wg_check *c = ctx;
    struct wg_cblock *b = block;
    if (!b || x->to + x->bytes > c->launch.shared_bytes)
        return;
    if (c->tools & WG_TOOL_INITCHECK)
        wg_initcheck_write(c, b, warp, lane, WG_SITE_SHARED, x->to, x->bytes);
    if (c->tools & WG_TOOL_RACECHECK && !b->broken)
        wg_flight_begin(c, b, warp, lane, x);
}

static void object(void *ctx, void *block, uint32_t warp, uint32_t lane, const struct wg_object *o)
{
    struct wg_check *c = ctx;
    if (!block)
        return;
    if (o->what == WG_OBJECT_PASSED)
        wg_flight_seen(c, block, o);
    if (c->tools & WG_TOOL_RACECHECK)
        wg_racecheck_object(c, block, warp, lane, o);
    if (c->tools & WG_TOOL_SYNCCHECK)
        wg_synccheck_object(c, block, warp, lane, o);
}

static void barrier_arrive(void *ctx, void *block, uint32_t warp, const struct wg_barrier_event *e)
{
    struct wg_check *c = ctx;
    if (!block)
        return;
    if (c->tools & WG_TOOL_SYNCCHECK)
        wg_synccheck_arrive(c, block, warp, e);
    if (c->tools & WG_TOOL_RACECHECK)
        wg_racecheck_arrive(block, warp, e->id, e->waits);
}

static void barrier_release(void *ctx, void *block, uint32_t id, const uint32_t *live)
{
    struct wg_check *c = ctx;
    if (!block)
        return;
    if (c->tools & WG_TOOL_SYNCCHECK)
        wg_synccheck_release(c, block, id, live);
    if (c->tools & WG_TOOL_RACECHECK)
        wg_racecheck_release(block, id, live);
    memset(&((struct wg_cblock *)block)->bar[id & (BARRIERS - 1)], 0, sizeof(struct wg_cbarrier));
}

static void exchange(void *ctx, void *block, uint32_t warp, const struct wg_exchange *e)
{
    struct wg_check *c = ctx;
    if (!block)
        return;
    if (c->tools & WG_TOOL_SYNCCHECK)
        wg_synccheck_exchange(c, block, warp, e);
    if (!(c->tools & WG_TOOL_RACECHECK))
        return;
    for (uint32_t left = e->lanes; left;) { /* each group of lanes with one mask */
        uint32_t mask = e->member[__builtin_ctz(left)], group = 0;
        for (uint32_t m = left; m; m &= m - 1)
            if (e->member[__builtin_ctz(m)] == mask)
                group |= m & -m;
        wg_racecheck_warp(block, warp, group & (mask | (group & -group)), e->live);
        left &= ~group;
    }
}

static void missing(void *ctx, void *block, uint32_t warp, uint32_t site, uint32_t there, uint32_t need, uint32_t live)
{
    struct wg_check *c = ctx;
    if (block && c->tools & WG_TOOL_SYNCCHECK)
        wg_synccheck_missing(c, block, warp, site, there, need, live);
}

static void on_fence(void *ctx, void *block, uint32_t warp, uint32_t lanes, uint8_t scope)
{
    const struct wg_check *c = ctx;
    (void)lanes;
    if (block && c->tools & WG_TOOL_RACECHECK)
        wg_racecheck_fence(block, warp, scope);
}

static void lanes_exit(void *ctx, void *block, uint32_t warp, uint32_t site, uint32_t lanes)
{
    struct wg_cblock *b = block;
    (void)ctx;
    if (!b)
        return;
    b->w[warp].exited |= lanes;
    b->w[warp].exit_site = site;
}

struct wg_check *wg_check_open(unsigned tools, bool want_stored, uint64_t lo, uint64_t end, struct wg_observer *o)
{
    struct wg_check *c = wg_calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->tools = tools;
    c->want_stored = want_stored;
    c->lo = lo;
    c->end = end;
    c->nchunks = ((end - lo) >> PAGE_SHIFT) / CHUNK_PAGES + 2;
    c->chunks = tools & (WG_TOOL_INITCHECK | WG_TOOL_RACECHECK) ? wg_calloc(c->nchunks, sizeof *c->chunks) : NULL;
    if (tools & (WG_TOOL_INITCHECK | WG_TOOL_RACECHECK) && !c->chunks) {
        wg_check_close(c);
        return NULL;
    }
    *o = (struct wg_observer){
        .ctx = c, .memory = memory, .launch_begin = launch_begin, .launch_end = launch_end, .host_findings = host_findings,
        .place = place_of, .host_error = host_error, .leaks = leaks, .stored = stored,
        .block_begin = block_begin, .block_end = block_end, .access = tools & ~WG_TOOL_SYNCCHECK || want_stored ? on_access : NULL,
        .row = !(tools & WG_TOOL_RACECHECK) ? (tools & WG_TOOL_INITCHECK ? init_row : NULL) : tools & WG_TOOL_INITCHECK ? both_row : race_row,
        .native_write = native_write, .async_write = async_write, .bulk_copy = bulk_copy,
        .object = object,
        .barrier_arrive = barrier_arrive, .barrier_release = barrier_release, .exchange = exchange, .missing = missing,
        .fence = on_fence, .lanes_exit = lanes_exit};
    return c;
}

void wg_check_close(struct wg_check *c)
{
    if (!c)
        return;
    for (struct wg_cblock *b = c->blocks, *n; b; b = n) {
        n = b->all;
        free_block(b);
    }
    wg_racecheck_end(c);
    for (size_t k = 0; k < c->nfound; k++)
        free(c->found[k].message);
    for (size_t k = 0; k < c->nhost; k++)
        free(c->host[k].message);
    wg_shadow_close(c);
    free(c->known);
    free(c->found);
    free(c->host);
    free(c->hash);
    free(c->place);
    free(c->stored);
    wg_memcheck_close(c);
    free(c);
}
