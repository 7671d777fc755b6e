/* observer.h - what the engine tells a check while a kernel runs: plain events and a table of functions.
 *
 * With an observer every memory access, synchronisation and exit of a warp is announced before it happens; without one
 * none of this costs anything, because the announcing instructions are not decoded. Launches with an observer run on one
 * worker, so that events come from one thread, in an order that repeats. Events live only during the call. */
#ifndef WARPGRIND_OBSERVER_H
#define WARPGRIND_OBSERVER_H
#include <warpgrind/profile.h>
#ifdef __cplusplus
extern "C" {
#endif

enum wg_access_kind { WG_ACCESS_LOAD, WG_ACCESS_STORE, WG_ACCESS_ATOM, WG_ACCESS_RED }; /* ATOM: the old value is used */
enum wg_access_scope { WG_ACCESS_CTA, WG_ACCESS_CLUSTER, WG_ACCESS_GPU, WG_ACCESS_SYSTEM };

/* What stays the same of all accesses of one instruction. The observer owns lo and hi, which start as 0: while the launch
 * lasts, an access by whole warps within [lo, hi) and aligned to its size is in order as far as memory goes. */
struct wg_access_site {
    uint64_t lo, hi; /* device addresses, or offsets in shared or local memory */
    uint32_t site;
    uint8_t kind, space; /* space: as written, so GENERIC too */
    bool strong;         /* or otherwise special: never a row */
    uint8_t elem, n;
};

/* One memory instruction of one warp in one space (a generic instruction that meets several gives several events). */
struct wg_access {
    uint32_t site;
    uint8_t kind, space;   /* enum wg_access_kind; enum wg_site_space: GLOBAL, SHARED, LOCAL or CONST */
    uint8_t scope;         /* enum wg_access_scope, of a strong access */
    bool strong;           /* relaxed or stronger, volatile, or atomic: exempt from races with other strong accesses */
    bool is_volatile;      /* strong only because it is volatile */
    bool acquire, release; /* by its own qualifier */
    bool guess;            /* a plain load of what a compare-and-swap of the same function then verifies */
    uint8_t elem, n;       /* bytes of an element, elements */
    uint32_t mask;         /* lanes */
    const uint64_t *addr;  /* of 32 lanes: device address; offset in the block's shared or the lane's local memory */
    int32_t array;         /* which shared array the address is computed from; -1: not known */
    uint32_t local_bytes;  /* of the lane's local memory that its frames use */
    char *shared;          /* host address of the block's shared memory */
    uint64_t (*value)(const struct wg_access *a, unsigned lane, unsigned k); /* of a store or swap: what is written */
    /* The sites of the calls that led here, innermost first; how many there are, at most n of them set. */
    uint32_t (*stack)(const struct wg_access *a, uint32_t *sites, uint32_t n);
    const void *impl, *regs;
    struct wg_access_site *from; /* where rows are possible; else NULL */
};

/* A barrier of the block as one warp reaches it. */
struct wg_barrier_event {
    uint32_t site, id, lanes, live; /* lanes that arrive now; lanes of the warp that have not exited */
    uint32_t count;                 /* threads, when the instruction gives a number; else 0 */
    bool waits;                     /* false: bar.arrive */
    bool aligned;
};

/* An instruction that names lanes with a mask, when all that can come are there. */
struct wg_exchange {
    uint32_t site, lanes;   /* lanes that execute it */
    uint32_t live;          /* lanes of the warp that have not exited */
    const uint32_t *member; /* of 32 lanes: the mask that each of `lanes` gave */
    const uint8_t *source;  /* shuffles: lane that each of `lanes` reads from; else NULL */
    bool memory;            /* orders memory between its lanes (__syncwarp) */
    const char *name;       /* "shfl.sync" */
};

/* A cp.async of one lane. LEFT: the lane exits without having waited for it; the bytes land all the same. SEEN is never
 * sent: a bulk copy that landed, as the checks tell each other. */
enum wg_async_event { WG_ASYNC_ISSUED, WG_ASYNC_LANDED, WG_ASYNC_LEFT, WG_ASYNC_SEEN };

/* A bulk copy to shared memory of the block that its mbarrier is in too: whoever has not seen the end of that phase may not
 * touch the bytes. The bytes are there at once. */
struct wg_bulk_copy {
    uint32_t site, bytes;
    uint64_t to, bar; /* offsets in shared memory */
    bool phase;       /* parity of the mbarrier's phase before the copy */
};

/* What a lane does to an mbarrier in the block's shared memory, and how the object stands after it. */
enum wg_object_event {
    WG_OBJECT_INIT,
    WG_OBJECT_INVAL,
    WG_OBJECT_ARRIVE, /* arrivals, or bytes expected or come */
    WG_OBJECT_PASSED, /* the lane has seen the phase end that it asked for */
    WG_OBJECT_NOT_YET /* it asked, and the phase has not ended */
};
struct wg_object {
    uint32_t site;
    uint32_t pending; /* arrivals that the phase still needs */
    int32_t bytes;    /* that are still to come */
    bool phase;       /* parity of the current phase */
    uint8_t what;     /* enum wg_object_event */
    uint64_t addr;    /* offset in shared memory */
};

/* Of shared memory. elem: bytes, 0 where not known; dim: of C's array, of the first one 0 where the launch gives its size. */
struct wg_array { const char *name; uint64_t offset, bytes; bool dynamic; uint32_t elem, ndims, dim[4]; };
struct wg_launch_event {
    const char *kernel;
    uint32_t grid[3], block[3];
    uint64_t nblocks;
    uint32_t threads, nwarps, shared_bytes;
    uint32_t narrays;
    const struct wg_array *arrays;
};
/* What the checks remember about memory, in bytes of the host's: now, and at most so far. */
struct wg_shadow { uint64_t now, peak; };
struct wg_block_event { uint64_t linear; uint32_t ctaid[3]; };

/* A finding by sites; the engine turns them into source lines. */
struct wg_observed {
    struct wg_finding f; /* its sources and lines are not set */
    uint32_t site, other_site; /* UINT32_MAX: none */
    uint32_t ncalls, calls[8]; /* the calls that led to the access seen last, innermost first */
    bool calls_other;          /* that is other_site's */
};
typedef void (*wg_observed_fn)(void *sink, const struct wg_observed *o);

enum wg_memory_event {
    WG_MEMORY_ALLOC,      /* by the program */
    WG_MEMORY_INTERNAL,   /* module variables, parameters: never unwritten */
    WG_MEMORY_FREE,
    WG_MEMORY_FORGET,     /* a freed block leaves quarantine: its addresses may come again */
    WG_MEMORY_HOST_WRITE, /* a copy, a fill, or memory that the host may write by itself */
    WG_MEMORY_HOST_READ,
    WG_MEMORY_COPY,       /* device to device: other is the source */
    WG_MEMORY_HEAP,       /* the range that malloc in kernels draws from */
    WG_MEMORY_HEAP_ALLOC,
    WG_MEMORY_HEAP_FREE,
};

struct wg_observer {
    void *ctx;
    /* host side; may report nothing but through `finish` */
    void (*memory)(void *ctx, enum wg_memory_event what, uint64_t addr, uint64_t bytes, uint64_t other);
    void (*place)(void *ctx, const char *text);      /* of the host's next calls; NULL: not known */
    void (*host_error)(void *ctx, const char *text); /* a call that failed */
    void (*leaks)(void *ctx);
    uint64_t (*stored)(void *ctx, uint32_t site);    /* digest of what it stored in this launch, in any order; 48 bits */
    /* one launch */
    void (*launch_begin)(void *ctx, const struct wg_launch_event *e);
    void (*launch_end)(void *ctx, wg_observed_fn put, void *sink);
    void (*host_findings)(void *ctx, wg_observed_fn put, void *sink); /* those of host calls since the last time */
    void *(*block_begin)(void *ctx, const struct wg_block_event *e); /* NULL: no memory; events go on with NULL */
    void (*block_end)(void *ctx, void *block);
    /* warps; `block` is what block_begin returned, warp its index in the block */
    uint32_t (*access)(void *ctx, void *block, uint32_t warp, const struct wg_access *a); /* lanes that may do it; NULL: not
                                                                                           * asked for */
    /* Most accesses: all 32 lanes, at base, base + stride, ..., inside [s->lo, s->hi) and aligned. True: seen, all may do
     * it. False: nothing was done, the access event follows. NULL: that range is all there is to know. */
    bool (*row)(void *block, uint32_t warp, const struct wg_access_site *s, uint64_t base, int64_t stride);
    void (*native_write)(void *ctx, void *block, uint32_t warp, uint32_t lane, uint8_t space, uint64_t addr, uint32_t bytes);
    /* cp.async to shared memory at addr; site: of the copy itself, whatever happens to it */
    void (*async_write)(void *ctx, void *block, uint32_t warp, uint32_t lane, uint32_t site, uint64_t addr, uint32_t bytes,
                        enum wg_async_event what);
    void (*bulk_copy)(void *ctx, void *block, uint32_t warp, uint32_t lane, const struct wg_bulk_copy *c);
    void (*object)(void *ctx, void *block, uint32_t warp, uint32_t lane, const struct wg_object *o);
    void (*barrier_arrive)(void *ctx, void *block, uint32_t warp, const struct wg_barrier_event *e);
    void (*barrier_release)(void *ctx, void *block, uint32_t id, const uint32_t *live); /* live lanes of every warp */
    void (*exchange)(void *ctx, void *block, uint32_t warp, const struct wg_exchange *e);
    void (*missing)(void *ctx, void *block, uint32_t warp, uint32_t site, uint32_t there, uint32_t need, uint32_t live);
    void (*fence)(void *ctx, void *block, uint32_t warp, uint32_t lanes, uint8_t scope);
    void (*lanes_exit)(void *ctx, void *block, uint32_t warp, uint32_t site, uint32_t lanes);
};

#ifdef __cplusplus
}
#endif
#endif
