/* internal.h - what the checks share: the state of a launch, of a block and of a warp, and the list of findings. */
#ifndef WG_CHECK_INTERNAL_H
#define WG_CHECK_INTERNAL_H
#include "base/arena.h"
#include "check/check.h"

enum { LANES = 32, WARPS = 32, BARRIERS = 16, REGION_SHIFT = 20, RING = 8 };
#define NO_SITE UINT32_MAX

enum wg_found {
#define WG_FINDING(id, name, tool, severity, title, remedy) WG_FOUND_##id,
#include "check/findings.def"
#undef WG_FINDING
    WG_FOUND_COUNT
};

/* Who did the last access to a word, and when: 16 bytes. */
struct wg_mark {
    uint32_t ts, block;
    uint32_t site : 24, launch : 8; /* launch 0: never */
    uint16_t thread;                /* warp * 32 + lane */
    uint8_t bytes;                  /* which of the word's four */
    uint8_t flags;                  /* enum wg_mark_flag, scope above */
};
enum wg_mark_flag { MARK_ATOMIC = 1, MARK_STRONG = 2, MARK_SCOPE = 2 /* shift */, MARK_FLYING = 8 /* cp.async */ };
struct wg_cell { struct wg_mark w, r[2]; };

/* What a warp knows. Times are per warp and move at every synchronisation; vc[v]: what warp v did before that time has
 * happened before now; conv: the same between all lanes of this warp; lane (NULL until needed): between two of them. */
struct wg_cwarp {
    uint32_t clk, conv;
    uint64_t acq; /* releases of other blocks up to this time are known */
    uint32_t vc[WARPS];
    uint32_t (*lane)[LANES];
    uint32_t exited, exit_site;
    uint8_t *local; /* initcheck: written bytes, a bit each, [lane][local_cap / 8] */
    uint32_t local_cap;
};

struct wg_cbarrier {
    uint32_t vc[WARPS], waiting, site[WARPS], lanes[WARPS], count;
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
    uint64_t linear;
    uint32_t ctaid[3];
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
    struct wg_cell *cells; /* shared memory */
    uint8_t *init;         /* of shared memory, a bit a byte */
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
    uint8_t serial; /* of the launch, 1 to 255 */
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
    uint8_t **init;         /* per region: written bytes, a bit each */
    struct wg_cell **cells; /* per region */
    uint64_t nregions, time;
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

/* memcheck.c */
const struct wg_area *wg_area_at(const struct wg_check *c, uint64_t addr); /* the live allocation that holds it, or NULL */
uint32_t wg_memcheck_access(struct wg_check *c, struct wg_cblock *b, uint32_t warp, const struct wg_access *a);
void wg_memcheck_memory(struct wg_check *c, enum wg_memory_event what, uint64_t addr, uint64_t bytes);
void wg_memcheck_leaks(struct wg_check *c);
void wg_memcheck_close(struct wg_check *c);
/* racecheck.c */
void wg_racecheck_access(struct wg_check *c, struct wg_cblock *b, uint32_t warp, const struct wg_access *a, uint32_t mask);
void wg_racecheck_arrive(struct wg_cblock *b, uint32_t warp, uint32_t id, bool waits);
void wg_racecheck_release(struct wg_cblock *b, uint32_t id);
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
