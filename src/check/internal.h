/* internal.h - what the checks share: the state of a launch, of a block and of a warp, and the list of findings. */
#ifndef WG_CHECK_INTERNAL_H
#define WG_CHECK_INTERNAL_H
#include "base/arena.h"
#include "check/check.h"

enum { LANES = 32, WARPS = 32, BARRIERS = 16, RING = 8 };
enum { PAGE_SHIFT = 12, PAGE_BYTES = 1 << PAGE_SHIFT, ROW_SHIFT = 7, ROW_WORDS = 32, PAGE_ROWS = 32, CHUNK_PAGES = 512, CHUNK_SHIFT = 21, MADE = 32, INIT_SPARE = 24 };
#define NO_SITE UINT32_MAX

enum wg_found {
#define WG_FINDING(id, name, tool, severity, title, remedy) WG_FOUND_##id,
#include "check/findings.def"
#undef WG_FINDING
    WG_FOUND_COUNT
};

/* ---- what is remembered about memory (shadow.c) ----
 * An access of a warp, its time and its instruction are an event, one for all lanes; a mark is the event's number and a
 * lane: 4 bytes. Each word has three, its last write and two reads. 32 words are a row. While accesses take rows as a
 * whole, a row has only three marks: those of its first word, and word k was accessed k >> event.wide lanes further on.
 * A row is split, each word with marks of its own, when an access takes part of it. */
struct wg_event {
    uint32_t block, ts;
    union {
        struct {
            uint32_t site : 24, bytes : 4 /* of the word's four */, flags : 4;
            uint8_t warp, wide, shared;
        };
        uint64_t what; /* all of these */
    };
};
enum wg_mark_flag { MARK_ATOMIC = 1, MARK_STRONG = 2, MARK_SCOPE = 4 /* beyond the block */, MARK_FLYING = 8 /* cp.async */ };
enum { LAST_WRITE, FIRST_READ, SECOND_READ, MARKS };
#define MARK(id, lane) ((uint32_t)(id) << 5 | (lane))
#define EVENTS_MAX (1u << 27) /* numbers of events */
/* Event `first + k` is v[k]; marks of lower numbers say nothing any more. */
struct wg_events { struct wg_event *v; uint32_t first, n, cap; };
struct wg_row {
    uint32_t mark[MARKS]; /* of a split row: mark[0] is the highest number of an event in it */
    uint64_t settled; /* a block's stamp, and the warps of the two reads in its low bytes: see racecheck.c */
};
struct wg_page {
    uint8_t *init; /* a bit per byte that was written; NULL: none; WG_ALL_WRITTEN */
    uint32_t (*word)[MARKS][ROW_WORDS]; /* of split rows; NULL: there were none yet */
    uint32_t launch; /* the marks' */
    uint32_t split;  /* bit per row */
    struct wg_row row[PAGE_ROWS];
};
struct wg_chunk { struct wg_page *page[CHUNK_PAGES]; };
extern uint8_t wg_all_written[];
#define WG_ALL_WRITTEN wg_all_written

/* An access for the reports: who, and when. */
struct wg_mark {
    uint32_t ts, block, site;
    uint16_t thread; /* warp * 32 + lane */
    uint8_t bytes, flags;
};

/* What a warp knows. Times are per warp and move at every synchronisation; vc[v]: what warp v did before that time has
 * happened before now; conv: the same between all lanes of this warp; lane (NULL until needed): between two of them. */
struct wg_cwarp {
    uint32_t clk, conv;
    uint64_t acq; /* releases of other blocks up to this time are known */
    uint32_t vc[WARPS];
    uint32_t (*lane)[LANES];
    uint32_t exited, exit_site;
    uint32_t *local; /* initcheck: of each byte, the lanes that wrote it */
    uint32_t local_cap;
    struct wg_made { uint64_t what; uint32_t ts, id; } made[MADE]; /* events of this warp that may be used again; id 0: none */
};

struct wg_cbarrier {
    uint32_t vc[WARPS], waiting, arrived, site[WARPS], lanes[WARPS], count;
    uint64_t acq;
    bool used, split;
    uint32_t split_site;
};

/* An mbarrier: the last of those who asked in vain for the end of its current phase. polls 0: nobody does. */
struct wg_cobject {
    uint64_t addr;
    uint32_t polls, warp, lane, site, arrive_site, pending;
    int32_t bytes;
    bool phase;
};

struct wg_cflight { struct wg_bulk_copy copy; uint32_t warp, lane; };

struct wg_syncvar { uint64_t key, time; uint32_t warp, vc[WARPS]; }; /* key 0: free */
struct wg_vars { struct wg_syncvar *v; size_t n, cap; };

struct wg_cblock {
    struct wg_check *c;
    uint64_t linear;
    uint32_t ctaid[3];
    uint64_t stamp; /* of what its warps know, unlike any other block's or time's; low 16 bits 0 */
    bool quiet;     /* since all warps met, none has learnt of another */
    bool broken; /* a barrier error: order within the block is undefined from here on */
    struct wg_cwarp w[WARPS];
    struct wg_cbarrier bar[BARRIERS];
    uint32_t fenced_cta[WARPS], fenced_gpu[WARPS];
    bool any_cta, any_gpu;
    struct wg_vars vars;
    struct wg_cobject *objects;
    size_t nobjects, objects_cap;
    struct wg_cflight *flights; /* bulk copies on their way */
    size_t nflights, flights_cap;
    bool ended;
    uint8_t *init;           /* of shared memory, a bit a byte */
    struct wg_page *pages;   /* its marks; their init is not used */
    struct wg_events events; /* in shared memory */
    uint32_t since;          /* warps that made an event since their last arrival at a barrier */
    uint32_t acted;          /* warps that made one whose marks count */
    uint32_t flying;         /* words that a cp.async is on its way to */
    struct wg_cblock *next, *all;
};

/* Releases of a block towards other blocks. */
struct wg_ring { uint64_t n, time[RING]; uint32_t pub[RING][WARPS]; };

struct wg_area { uint64_t base, bytes; bool freed, internal; char *place; }; /* place: where it was made, or NULL */
struct wg_areas { struct wg_area *v; size_t n, cap; };

struct wg_found_entry {
    struct wg_observed o;
    enum wg_found id;
    char *message;
};

struct wg_check {
    unsigned tools;
    uint64_t lo, end;
    struct wg_launch_event launch;
    uint32_t serial; /* of the launch, from 1 */
    struct wg_arena names;  /* of one launch */
    struct wg_cblock *blocks, *free_blocks;
    struct wg_found_entry *found, *host;
    size_t nfound, found_cap, nhost, host_cap;
    uint32_t *hash; /* index + 1 into found */
    size_t hash_cap;
    bool no_memory;
    struct wg_areas areas, heap;
    uint64_t heap_lo, heap_hi;
    const struct wg_access *now; /* the access that is being looked at; NULL: another event */
    char *place;            /* of the host's calls now, or NULL */
    uint64_t *stored;       /* per site of the launch: digest of what it stored; NULL: not asked for */
    uint32_t nstored;
    bool want_stored;
    struct wg_chunk **chunks; /* of device memory, from lo on */
    uint64_t nchunks, npages, time, stamps;
    struct wg_events events;  /* in device memory, of this launch */
    struct wg_access_site **known; /* those with a range */
    size_t nknown, known_cap;
    struct wg_shadow shadow;
    struct wg_vars vars;
    struct wg_ring **rings; /* per block of the launch */
};

/* check.c */
/* Adds to a finding, or starts one: then the caller's text, made by fmt, is its message. */
struct wg_who { uint32_t warp, lane; const uint32_t *ctaid; }; /* ctaid NULL: nobody */
bool wg_found(struct wg_check *c, enum wg_found id, uint32_t site, uint32_t other, struct wg_who who, struct wg_who prev,
              uint64_t addr, enum wg_severity s, const char *fmt, ...) __attribute__((format(printf, 9, 10)));
/* The same for the host's doings; place: where, or NULL. */
void wg_found_host(struct wg_check *c, enum wg_found id, uint64_t addr, const char *place, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
void wg_thread_of(const struct wg_check *c, uint32_t warp, uint32_t lane, uint32_t tid[3]);
const char *wg_space_name(unsigned space);
const struct wg_array *wg_array_at(const struct wg_check *c, uint64_t off);
bool wg_bits_all(const uint8_t *bits, uint64_t at, uint64_t n);  /* all set */
bool wg_bits_none(const uint8_t *bits, uint64_t at, uint64_t n);
void wg_bits_set(uint8_t *bits, uint64_t at, uint64_t n, bool on);

/* name.c: how a report calls an address of an access of elem bytes; where its allocation was made, or NULL. */
void wg_name_shared(const struct wg_check *c, uint64_t at, uint32_t elem, char *s, size_t n);
void wg_name_global(const struct wg_check *c, uint64_t at, uint32_t elem, char *s, size_t n);
const char *wg_name_place(const struct wg_check *c, uint64_t at);

/* shadow.c */
void *wg_shadow_alloc(struct wg_check *c, size_t bytes); /* zeroed and counted; NULL: c->no_memory */
void wg_shadow_free(struct wg_check *c, void *p, size_t bytes);
struct wg_page *wg_shadow_page(struct wg_check *c, uint64_t addr); /* made if need be; NULL: no memory */
static inline struct wg_page *wg_shadow_find(const struct wg_check *c, uint64_t addr) /* NULL: there is none */
{
    const struct wg_chunk *k = c->chunks[(addr - c->lo) >> CHUNK_SHIFT];
    return k ? k->page[(addr - c->lo) >> PAGE_SHIFT & (CHUNK_PAGES - 1)] : NULL;
}
/* Room for n more events; may number all of them anew, so call before looking at marks. */
bool wg_shadow_room(struct wg_check *c, struct wg_cblock *b, bool shared, uint32_t n);
static inline bool wg_shadow_has_room(const struct wg_events *e, uint32_t n)
{
    return e->n + n <= e->cap && e->first + e->cap < EVENTS_MAX;
}
/* The marks of a row's words, each its own from now on; NULL: no memory. */
uint32_t (*wg_shadow_split(struct wg_check *c, const struct wg_events *e, struct wg_page *p, unsigned row))[ROW_WORDS];
void wg_shadow_close(struct wg_check *c);

/* memcheck.c */
/* The bounds within which accesses like a's by lane l are right, for a->from. */
void wg_memcheck_range(const struct wg_check *c, const struct wg_access *a, uint32_t lane, uint64_t *lo, uint64_t *hi);
const struct wg_area *wg_area_at(const struct wg_check *c, uint64_t addr); /* the live allocation that holds it, or NULL */
uint32_t wg_memcheck_access(struct wg_check *c, struct wg_cblock *b, uint32_t warp, const struct wg_access *a);
void wg_memcheck_memory(struct wg_check *c, enum wg_memory_event what, uint64_t addr, uint64_t bytes);
void wg_memcheck_leaks(struct wg_check *c);
void wg_memcheck_close(struct wg_check *c);
/* racecheck.c */
void wg_racecheck_access(struct wg_check *c, struct wg_cblock *b, uint32_t warp, const struct wg_access *a, uint32_t mask);
void wg_racecheck_arrive(struct wg_cblock *b, uint32_t warp, uint32_t id, bool waits);
void wg_racecheck_release(struct wg_cblock *b, uint32_t id, const uint32_t *live);
void wg_racecheck_stamp(struct wg_cblock *b, bool quiet);
bool wg_racecheck_row(struct wg_cblock *b, uint32_t warp, const struct wg_access_site *s, uint64_t base, int64_t stride);
void wg_racecheck_warp(struct wg_cblock *b, uint32_t warp, uint32_t lanes, uint32_t live);
void wg_racecheck_async(struct wg_check *c, struct wg_cblock *b, uint32_t warp, uint32_t lane, uint32_t site, uint64_t addr,
                        uint32_t bytes, enum wg_async_event what);
void wg_racecheck_object(struct wg_check *c, struct wg_cblock *b, uint32_t warp, uint32_t lane, const struct wg_object *o);
void wg_racecheck_fence(struct wg_cblock *b, uint32_t warp, uint8_t scope);
void wg_racecheck_end(struct wg_check *c);
/* flight.c */
void wg_flight_begin(struct wg_check *c, struct wg_cblock *b, uint32_t warp, uint32_t lane, const struct wg_bulk_copy *x);
void wg_flight_seen(struct wg_check *c, struct wg_cblock *b, const struct wg_object *o); /* a lane saw its phase end */
/* initcheck.c */
void wg_initcheck_access(struct wg_check *c, struct wg_cblock *b, uint32_t warp, const struct wg_access *a, uint32_t mask);
bool wg_initcheck_row(struct wg_cblock *b, const struct wg_access_site *s, uint64_t base, int64_t stride);
void wg_initcheck_write(struct wg_check *c, struct wg_cblock *b, uint32_t warp, uint32_t lane, uint8_t space,
                        uint64_t addr, uint32_t bytes);
void wg_initcheck_memory(struct wg_check *c, enum wg_memory_event what, uint64_t addr, uint64_t bytes, uint64_t other);
/* synccheck.c */
void wg_synccheck_arrive(struct wg_check *c, struct wg_cblock *b, uint32_t warp, const struct wg_barrier_event *e);
void wg_synccheck_release(struct wg_check *c, struct wg_cblock *b, uint32_t id, const uint32_t *live);
void wg_synccheck_exchange(struct wg_check *c, struct wg_cblock *b, uint32_t warp, const struct wg_exchange *e);
void wg_synccheck_missing(struct wg_check *c, struct wg_cblock *b, uint32_t warp, uint32_t site, uint32_t there,
                          uint32_t need, uint32_t live);
void wg_synccheck_object(struct wg_check *c, struct wg_cblock *b, uint32_t warp, uint32_t lane, const struct wg_object *o);
void wg_synccheck_left(struct wg_check *c, struct wg_cblock *b, uint32_t warp, uint32_t lane, uint32_t site);
void wg_synccheck_end(struct wg_check *c, struct wg_cblock *b); /* of the block, or of the launch that stopped in it */
#endif
