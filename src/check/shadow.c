/* shadow.c - what the checks remember about memory: pages as they are touched, events, and rows that are split. */
#include "check/internal.h"
#include <stdlib.h>
#include <string.h>

enum { EVENTS_FEW = 1024, PAGE_EVENTS = 48 /* how many a page of marks pays for */ };
_Static_assert(1ull << CHUNK_SHIFT == (uint64_t)CHUNK_PAGES * PAGE_BYTES, "a chunk is 512 pages");

uint8_t wg_all_written[1]; /* only its address means something */

static void count(struct wg_check *c, uint64_t more, uint64_t less)
{
    c->shadow.now += more - less;
    if (c->shadow.now > c->shadow.peak)
        c->shadow.peak = c->shadow.now;
}

struct wg_shadow wg_check_shadow(const struct wg_check *c) { return c->shadow; }

void *wg_shadow_alloc(struct wg_check *c, size_t bytes)
{
    void *p = wg_calloc(1, bytes);
    if (p)
        count(c, bytes, 0);
    else
        c->no_memory = true;
    return p;
}

void wg_shadow_free(struct wg_check *c, void *p, size_t bytes)
{
    if (p)
        count(c, 0, bytes);
    free(p);
}

/* ---- pages ---- */
struct wg_page *wg_shadow_page(struct wg_check *c, uint64_t addr)
{
    struct wg_chunk **k = &c->chunks[(addr - c->lo) >> CHUNK_SHIFT];
    if (!*k && !(*k = wg_shadow_alloc(c, sizeof **k)))
        return NULL;
    struct wg_page **p = &(*k)->page[(addr - c->lo) >> PAGE_SHIFT & (CHUNK_PAGES - 1)];
    if (!*p) /* the marks at its end only if races are looked for */
        *p = wg_shadow_alloc(c, c->tools & WG_TOOL_RACECHECK ? sizeof **p : offsetof(struct wg_page, row));
    return *p;
}

void wg_shadow_close(struct wg_check *c)
{
    for (uint64_t k = 0; c->chunks && k < c->nchunks; k++) {
        for (unsigned n = 0; c->chunks[k] && n < CHUNK_PAGES; n++) {
            struct wg_page *p = c->chunks[k]->page[n];
            if (p && p->init != WG_ALL_WRITTEN)
                free(p->init);
            if (p)
                free(p->word);
            free(p);
        }
        free(c->chunks[k]);
    }
    free(c->chunks);
    free(c->events.v);
}

/* ---- rows ---- */
uint32_t (*wg_shadow_split(struct wg_check *c, const struct wg_events *e, struct wg_page *p, unsigned row))[ROW_WORDS]
{
    if (!p->word && !(p->word = wg_shadow_alloc(c, PAGE_ROWS * sizeof *p->word)))
        return NULL;
    uint32_t (*w)[ROW_WORDS] = p->word[row], newest = 0;
    if (p->split >> row & 1)
        return w;
    for (unsigned k = 0; k < MARKS; k++) {
        uint32_t m = p->row[row].mark[k], id = m >> 5;
        if (id < e->first || !id) {
            memset(w[k], 0, sizeof w[k]);
            continue;
        }
        unsigned wide = e->v[id - e->first].wide;
        for (unsigned n = 0; n < ROW_WORDS; n++)
            w[k][n] = MARK(id, ((m & 31) + (n >> wide)) & 31);
        newest = id > newest ? id : newest;
    }
    p->row[row].mark[0] = newest;
    p->split |= 1u << row;
    return w;
}

/* ---- events ---- */
/* Marks a page's events in `to` (first pass, all zero before), or replaces them by what `to` says. */
static void renumber(struct wg_page *p, uint32_t first, uint32_t *to, bool replace)
{
    for (unsigned r = 0; r < PAGE_ROWS; r++) {
        bool split = p->split >> r & 1;
        uint32_t *m = split ? &p->word[r][0][0] : p->row[r].mark, newest = 0;
        for (unsigned k = 0; k < (split ? MARKS * ROW_WORDS : MARKS); k++) {
            uint32_t id = m[k] >> 5;
            if (!replace) {
                if (id >= first)
                    to[id - first] = 1;
                continue;
            }
            id = id >= first ? to[id - first] : 0;
            m[k] = id ? MARK(id, m[k] & 31) : 0;
            newest = id > newest ? id : newest;
        }
        if (replace && split)
            p->row[r].mark[0] = newest;
    }
}

static void all_pages(struct wg_check *c, struct wg_cblock *b, uint32_t *to, bool replace)
{
    if (b) {
        for (uint32_t k = 0; k <= c->launch.shared_bytes >> PAGE_SHIFT; k++)
            renumber(&b->pages[k], b->events.first, to, replace);
        return;
    }
    for (uint64_t k = 0; k < c->nchunks; k++)
        for (unsigned n = 0; c->chunks[k] && n < CHUNK_PAGES; n++)
            if (c->chunks[k]->page[n] && c->chunks[k]->page[n]->launch == c->serial)
                renumber(c->chunks[k]->page[n], c->events.first, to, replace);
}

/* Keeps the events that a mark still names, numbered from 1. b: those in its shared memory; NULL: in device memory. */
static void sweep(struct wg_check *c, struct wg_cblock *b)
{
    struct wg_events *e = b ? &b->events : &c->events;
    uint32_t *to = wg_calloc(e->n + 1, sizeof *to), n = 0;
    if (!to) {
        c->no_memory = true;
        return;
    }
    all_pages(c, b, to, false);
    for (uint32_t k = 0; k < e->n; k++)
        if (to[k]) {
            e->v[n] = e->v[k];
            to[k] = ++n;
        }
    all_pages(c, b, to, true);
    free(to);
    e->first = 1;
    e->n = n;
    for (struct wg_cblock *x = b ? b : c->blocks; x; x = b ? NULL : x->all)
        for (unsigned k = 0; k < WARPS; k++)
            memset(x->w[k].made, 0, sizeof x->w[k].made);
}

bool wg_shadow_room(struct wg_check *c, struct wg_cblock *b, bool shared, uint32_t n)
{
    struct wg_events *e = shared ? &b->events : &c->events;
    if (wg_shadow_has_room(e, n))
        return true;
    uint64_t most = shared ? EVENTS_FEW : EVENTS_FEW + c->npages * PAGE_EVENTS;
    if (e->cap >= most || e->first + e->cap >= EVENTS_MAX / 2)
        sweep(c, shared ? b : NULL);
    if (e->n + n <= e->cap - e->cap / 4)
        return true;
    uint32_t cap = e->cap ? e->cap * 2 : EVENTS_FEW / 4;
    struct wg_event *v = cap < EVENTS_MAX / 4 ? wg_realloc(e->v, cap * sizeof *v) : NULL;
    if (!v) {
        c->no_memory = true;
        return e->n + n <= e->cap;
    }
    count(c, (cap - e->cap) * sizeof *v, 0);
    e->v = v;
    e->cap = cap;
    return true;
}
