/* cache.c - L1, the shared path to the L2, the L2's two parts and memory, as cache.h tells. */
#include "model/cache.h"
#include "base/arena.h"
#include <stdlib.h>
#include <string.h>

enum {
    L1_SETS = 64, L1_WAYS = 32, /* up to 256 KiB; smaller ones use fewer ways */
    L2_WAYS = 16,
    PATH_SLOTS = 512,
    SAMPLE_SETS = 1 << (WG_TRACE_LEVELS - 1), /* a number of sets is a multiple of this */
};

struct l1_set {
    uint32_t tag[L1_WAYS], stamp[L1_WAYS]; /* tag 0: empty */
    uint8_t valid[L1_WAYS];
    uint32_t epoch, clock;
};
struct l2_set {
    uint32_t tag[L2_WAYS], stamp[L2_WAYS];
    uint32_t words[L2_WAYS];               /* 4-byte words written since the fill, of sectors that are not valid */
    uint8_t valid[L2_WAYS], dirty[L2_WAYS]; /* bit k: sector k */
    uint32_t epoch, clock;
};
struct pending { uint32_t tag, sectors, sharers; uint64_t ready; }; /* a read on its way for the SMs of one path */

struct wg_caches {
    unsigned sms, npaths, parts, l1_ways;
    uint32_t l2_sets;         /* of one part */
    uint32_t l1_epoch, l2_epoch;
    struct l1_set *l1;        /* [sm][set] */
    struct l2_set *l2;        /* [part][set] */
    struct pending *path;     /* [group][slot] */
};

/* SMs are numbered in the order in which they get the first blocks: GPC by GPC. The SMs of one GPC share a path to the L2,
 * on which one read serves at most four of them: tools/hw_time/data/pairs.ncu.csv, where any two SMs of a GPC needed one
 * read, and 2, 4, 8 and 16 of them 1, 1, 2 and 4. */
enum { SHARERS = 4 };
unsigned wg_cache_paths(const struct wg_gpu *gpu)
{
    unsigned sms = gpu->sms > 0 ? (unsigned)gpu->sms : 1, gpcs = gpu->gpcs > 0 ? (unsigned)gpu->gpcs : (sms + 15) / 16;
    return gpcs < sms ? gpcs : sms;
}
static unsigned path_of(const struct wg_caches *c, unsigned sm) { return sm * c->npaths / c->sms; }
static unsigned part_of(const struct wg_caches *c, unsigned sm) { return c->parts > 1 ? path_of(c, sm) & 1 : 0; }

struct wg_caches *wg_caches_open(const struct wg_gpu *gpu)
{
    struct wg_caches *c = wg_calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->sms = gpu->sms > 0 ? (unsigned)gpu->sms : 1;
    c->npaths = wg_cache_paths(gpu);
    c->parts = gpu->l2_partitions > 1 ? 2 : 1;
    double bytes = gpu->l2_bytes > 0 ? gpu->l2_bytes : 4 << 20;
    c->l2_sets = (uint32_t)(bytes / c->parts / (128.0 * L2_WAYS)) / SAMPLE_SETS * SAMPLE_SETS;
    c->l2_sets = c->l2_sets ? c->l2_sets : SAMPLE_SETS;
    c->l1 = wg_calloc((size_t)c->sms * L1_SETS, sizeof *c->l1);
    c->l2 = wg_calloc((size_t)c->parts * c->l2_sets, sizeof *c->l2);
    c->path = wg_calloc((size_t)c->npaths * PATH_SLOTS, sizeof *c->path);
    if (!c->l1 || !c->l2 || !c->path) {
        wg_caches_close(c);
        return NULL;
    }
    c->l1_ways = 1;
    return c;
}

void wg_caches_close(struct wg_caches *c)
{
    if (!c)
        return;
    free(c->l1);
    free(c->l2);
    free(c->path);
    free(c);
}

void wg_caches_begin(struct wg_caches *c, uint64_t l1_bytes, bool keep)
{
    uint64_t ways = l1_bytes / (128 * L1_SETS);
    c->l1_ways = ways > L1_WAYS ? L1_WAYS : ways ? (unsigned)ways : 1;
    c->l1_epoch++;
    if (!keep || !c->l2_epoch)
        c->l2_epoch++;
    memset(c->path, 0, (size_t)c->npaths * PATH_SLOTS * sizeof *c->path);
}

uint64_t wg_cache_local_line(unsigned sm, unsigned slot, uint64_t k)
{
    /* far above any device address; the low bits of the hash stay those of k, which the trace was sampled by */
    return 1ull << 44 | (uint64_t)(sm * 64 + slot) << 26 | (k & ((1u << 26) - 1));
}

/* Hash of a line: its low bits are the sample's. */
static uint32_t hash_of(uint64_t line)
{
    if (line >> 44) {
        uint32_t slot = (uint32_t)(line >> 26) & 0x3ffff;
        return wg_trace_hash(line & ((1u << 26) - 1)) ^ (slot * 0x9e3779b1u & ~(uint32_t)(SAMPLE_SETS - 1));
    }
    return wg_trace_hash(line);
}
/* Tags are the low 32 bits of line + 1 (lines of 512 GiB are told apart); local lines are mixed in above. */
static uint32_t tag_of(uint64_t line)
{
    uint32_t t = (uint32_t)(line >> 44 ? (line >> 26 & 0x3ffff) * 0x85ebca6bu + (uint32_t)line + 0x80000001u : line + 1);
    return t ? t : 1;
}

static struct l1_set *l1_set(struct wg_caches *c, unsigned sm, uint32_t h)
{
    struct l1_set *s = &c->l1[(size_t)sm * L1_SETS + h % L1_SETS];
    if (s->epoch != c->l1_epoch) {
        memset(s, 0, sizeof *s);
        s->epoch = c->l1_epoch;
    }
    return s;
}
static int find(const uint32_t *tag, unsigned ways, uint32_t t)
{
    for (unsigned w = 0; w < ways; w++)
        if (tag[w] == t)
            return (int)w;
    return -1;
}
static unsigned oldest(const uint32_t *stamp, unsigned ways)
{
    unsigned v = 0;
    for (unsigned w = 1; w < ways; w++)
        v = stamp[w] < stamp[v] ? w : v;
    return v;
}

static struct l2_set *l2_set(struct wg_caches *c, unsigned part, uint32_t h)
{
    /* two hash bits below those that choose the part stay out of the index */
    struct l2_set *s = &c->l2[(size_t)part * c->l2_sets + (h & 0x3fffffffu) % c->l2_sets];
    if (s->epoch != c->l2_epoch) {
        memset(s, 0, sizeof *s);
        s->epoch = c->l2_epoch;
    }
    return s;
}
static unsigned home_of(const struct wg_caches *c, uint32_t h) { return c->parts > 1 ? h >> 31 : 0; }

static unsigned pairs(unsigned sectors) { return ((sectors & 3) ? 3u : 0) | ((sectors & 12) ? 12u : 0); }
static unsigned bits(unsigned m) { return (unsigned)__builtin_popcount(m); }

/* The way that holds the line, made if need be; what it held before is written back. */
static unsigned l2_way(struct l2_set *s, uint32_t tag, struct wg_traffic *t)
{
    int w = find(s->tag, L2_WAYS, tag);
    if (w < 0) {
        w = (int)oldest(s->stamp, L2_WAYS);
        if (s->tag[w] && s->dirty[w]) {
            unsigned partly = 0; /* sectors of which only some words were written: the rest comes from memory first */
            for (unsigned k = 0; k < 4; k++)
                if ((s->dirty[w] >> k & 1) && !(s->valid[w] >> k & 1))
                    partly |= 1u << k;
            t->dram_read += 32ull * bits(partly);
            t->dram_write += 32ull * bits(s->dirty[w]);
        }
        s->tag[w] = tag;
        s->valid[w] = s->dirty[w] = 0;
        s->words[w] = 0;
    }
    s->stamp[w] = ++s->clock;
    return (unsigned)w;
}

/* Sectors that SMs of part `part` read. */
static enum wg_cache_level l2_read(struct wg_caches *c, unsigned part, uint32_t h, uint32_t tag, unsigned sectors,
                                   struct wg_traffic *t)
{
    unsigned home = home_of(c, h);
    struct l2_set *s = l2_set(c, part, h);
    unsigned w = l2_way(s, tag, t), miss = sectors & ~s->valid[w];
    enum wg_cache_level level = WG_CACHE_L2;
    t->l2_read += bits(sectors);
    if (!miss) {
        t->l2_read_hit += bits(sectors);
        return level;
    }
    unsigned want = pairs(miss);
    if (home != part) {
        struct l2_set *hs = l2_set(c, home, h);
        unsigned hw = l2_way(hs, tag, t), hmiss = want & ~hs->valid[hw];
        t->fabric_read += bits(want);
        t->l2_read_hit += bits(sectors & ~hmiss);
        level = hmiss ? WG_CACHE_DRAM_FAR : WG_CACHE_L2_FAR;
        t->dram_read += 32ull * bits(hmiss);
        hs->valid[hw] |= (uint8_t)want;
    } else {
        t->l2_read_hit += bits(sectors & ~miss);
        want &= ~s->valid[w];
        t->dram_read += 32ull * bits(want);
        level = WG_CACHE_DRAM;
    }
    s->valid[w] |= (uint8_t)want;
    return level;
}

/* The way that holds the line in an L1, made if need be. */
static unsigned l1_way(struct wg_caches *c, struct l1_set *s, uint32_t tag)
{
    int w = find(s->tag, c->l1_ways, tag);
    if (w < 0) {
        w = (int)oldest(s->stamp, c->l1_ways);
        s->tag[w] = tag;
        s->valid[w] = 0;
    }
    s->stamp[w] = ++s->clock;
    return (unsigned)w;
}

enum wg_cache_level wg_cache_load(struct wg_caches *c, unsigned sm, uint64_t time, uint64_t line, unsigned sectors,
                                  unsigned flags, struct wg_traffic *t, uint64_t *ready)
{
    uint32_t h = hash_of(line), tag = tag_of(line);
    unsigned miss = sectors, n = bits(sectors);
    *ready = 0;
    if (!(flags & WG_TRACE_BYPASS)) {
        struct l1_set *s = l1_set(c, sm, h);
        unsigned w = l1_way(c, s, tag);
        miss = sectors & ~s->valid[w];
        s->valid[w] |= (uint8_t)sectors;
    }
    if (flags & WG_TRACE_LOCAL) {
        t->l1_local_ld += n;
        t->l1_local_ld_hit += n - bits(miss);
    } else {
        t->l1_ld += n;
        t->l1_ld_hit += n - bits(miss);
    }
    if (!miss)
        return WG_CACHE_L1;
    struct pending *p = &c->path[(size_t)path_of(c, sm) * PATH_SLOTS + (h >> 6) % PATH_SLOTS];
    bool shared = p->tag == tag && time < p->ready && p->sharers < SHARERS;
    if (shared) {
        p->sharers++;
        if (!(miss & ~p->sectors)) {
            *ready = p->ready;
            return WG_CACHE_L2;
        }
        miss &= ~p->sectors;
    }
    enum wg_cache_level level = l2_read(c, part_of(c, sm), h, tag, miss, t);
    if (shared)
        p->sectors |= miss;
    else
        *p = (struct pending){tag, miss, 1, 0};
    return level;
}

void wg_cache_fetched(struct wg_caches *c, unsigned sm, uint64_t line, uint64_t ready)
{
    uint32_t h = hash_of(line);
    struct pending *p = &c->path[(size_t)path_of(c, sm) * PATH_SLOTS + (h >> 6) % PATH_SLOTS];
    if (p->tag == tag_of(line) && ready > p->ready)
        p->ready = ready;
}

/* What the part that is not the line's home keeps of it is stale. */
static void forget_copy(struct wg_caches *c, uint32_t h, uint32_t tag, unsigned sectors)
{
    if (c->parts < 2)
        return;
    struct l2_set *s = l2_set(c, !home_of(c, h), h);
    int w = find(s->tag, L2_WAYS, tag);
    if (w >= 0)
        s->valid[w] &= (uint8_t)~sectors;
}

/* Sectors that are written at the L2, or atomically changed there. */
static void l2_write(struct wg_caches *c, uint32_t h, uint32_t tag, unsigned sectors, unsigned whole, uint32_t words,
                     struct wg_traffic *t)
{
    struct l2_set *s = l2_set(c, home_of(c, h), h);
    unsigned w = l2_way(s, tag, t);
    s->words[w] |= words;
    for (unsigned k = 0; k < 4; k++) /* a sector whose words were all written needs no fill */
        if ((s->words[w] >> 8 * k & 255) == 255)
            whole |= (sectors >> k & 1) << k;
    s->dirty[w] |= (uint8_t)sectors;
    s->valid[w] |= (uint8_t)whole;
}

void wg_cache_store(struct wg_caches *c, unsigned sm, uint64_t line, unsigned sectors, unsigned whole, uint32_t words,
                    unsigned flags, struct wg_traffic *t)
{
    uint32_t h = hash_of(line), tag = tag_of(line);
    struct l1_set *s = l1_set(c, sm, h);
    int w = find(s->tag, c->l1_ways, tag);
    unsigned n = bits(sectors), hit = w >= 0 ? n : 0;
    if (flags & WG_TRACE_LOCAL) { /* kept, for it is read again, and written through like any other */
        unsigned v = l1_way(c, s, tag);
        s->valid[v] |= (uint8_t)sectors;
        t->l1_local_st += n;
        t->l1_local_st_hit += hit;
    } else {
        if (w >= 0)
            s->stamp[w] = ++s->clock;
        t->l1_st += n;
        t->l1_st_hit += hit;
    }
    t->l2_write += n;
    t->l2_write_hit += n;
    unsigned part = part_of(c, sm);
    if (home_of(c, h) != part) {
        t->fabric_write += n;
        struct l2_set *near = l2_set(c, part, h);
        unsigned v = l2_way(near, tag, t);
        near->valid[v] |= (uint8_t)whole;
    } else {
        forget_copy(c, h, tag, sectors);
    }
    l2_write(c, h, tag, sectors, whole, words, t);
}

enum wg_cache_level wg_cache_atomic(struct wg_caches *c, unsigned sm, uint64_t line, unsigned sectors, bool result,
                                    struct wg_traffic *t)
{
    uint32_t h = hash_of(line), tag = tag_of(line);
    unsigned n = bits(sectors), home = home_of(c, h);
    struct l1_set *l1 = l1_set(c, sm, h); /* a copy in the L1 is stale now */
    int lw = find(l1->tag, c->l1_ways, tag);
    if (lw >= 0)
        l1->valid[lw] &= (uint8_t)~sectors;
    *(result ? &t->l2_atom : &t->l2_red) += n;
    struct l2_set *s = l2_set(c, home, h);
    unsigned w = l2_way(s, tag, t), miss = pairs(sectors & ~s->valid[w]) & ~s->valid[w];
    bool far = home != part_of(c, sm);
    if (far)
        t->fabric_atom += n;
    forget_copy(c, h, tag, sectors);
    t->l2_atomic_hit += n - bits(sectors & ~s->valid[w]);
    t->dram_read += 32ull * bits(miss);
    s->valid[w] |= (uint8_t)(miss | sectors);
    s->dirty[w] |= (uint8_t)sectors;
    return miss ? (far ? WG_CACHE_DRAM_FAR : WG_CACHE_DRAM) : far ? WG_CACHE_L2_FAR : WG_CACHE_L2;
}
