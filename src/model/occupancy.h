/* occupancy.h - how many blocks of a kernel an SM holds, what limits it, and what would have to change.
 *
 * The rule is the one of NVIDIA's occupancy calculator (cuda_occupancy.h, CUDA 13.0), told in our own words in
 * occupancy.c and equal to it on every row of tests/models/data/occupancy.csv. Assumes compute capability 5.2-6.2
 * devices leave partitioned global caching off, their default. */
#ifndef WG_MODEL_OCCUPANCY_H
#define WG_MODEL_OCCUPANCY_H
#include "model/gpus.h"

#define WG_NO_LIMIT UINT32_MAX

/* WG_LIMIT(id, "name", "what a block takes"). Bit 1 << id is also the bit of cuda_occupancy.h. */
#define WG_LIMITS(X)                                       \
    X(WARPS, "warps", "warps of the block")                \
    X(REGISTERS, "registers", "registers of its warps")    \
    X(SHARED, "shared memory", "shared memory")            \
    X(BLOCKS, "blocks", "one block slot")                  \
    X(BARRIERS, "barriers", "hardware barriers")           \
    X(VIRTUAL, "virtual resources", "virtual resources")
enum wg_limit {
#define WG_LIMIT_ENUM(id, name, text) WG_LIMIT_##id,
    WG_LIMITS(WG_LIMIT_ENUM)
#undef WG_LIMIT_ENUM
    WG_LIMIT_COUNT
};
const char *wg_limit_name(enum wg_limit l);

/* Why no block fits at all. */
enum wg_occupancy_never {
    WG_FITS,
    WG_NEVER_THREADS,    /* more threads than a block may have */
    WG_NEVER_REGS_THREAD, /* more registers a thread than there are names for */
    WG_NEVER_REGS_BLOCK, /* more registers than a block may take */
    WG_NEVER_SHARED,     /* more shared memory than a block may take */
    WG_NEVER_DYNAMIC,    /* more dynamic shared memory than the kernel asked to be allowed */
    WG_NEVER_BARRIERS,
    WG_NEVER_VIRTUAL,
};

struct wg_occupancy_query {
    unsigned threads;       /* a block */
    unsigned regs;          /* a thread */
    uint64_t static_shared, dynamic_shared; /* bytes a block */
    int carveout;           /* percent of the largest shared memory the user prefers; -1: no preference */
    unsigned barriers;      /* a block; 0: not counted */
    unsigned virtual_resources; /* a block; 0: not counted */
    bool no_optin;          /* the kernel has not opted in to more shared memory than smem_per_block */
    uint64_t dynamic_allowed; /* cudaFuncAttributeMaxDynamicSharedMemorySize; 0: as much as is asked for */
};

struct wg_occupancy {
    unsigned blocks, warps,
        threads; /* resident on an SM; threads counts the real ones, not the padding of a last warp */
    double occupancy;                /* warps / most warps, 0..1 */
    unsigned limit[WG_LIMIT_COUNT];  /* blocks that each resource allows; WG_NO_LIMIT: not a limit */
    unsigned limiting;               /* set of 1 << enum wg_limit: all that allow no more than `blocks` */
    unsigned reported; /* the set that cuda_occupancy.h prints: as `limiting`, but when barriers alone limit,
                          it still names what would have limited without them */
    enum wg_occupancy_never never;
    unsigned warps_per_block;
    unsigned regs_per_warp, regs_per_block; /* allocated */
    unsigned smem_per_block;         /* allocated bytes, with the driver's part */
    unsigned smem_per_sm;            /* bytes the SM is set to for this question */
    /* what no further block can use */
    unsigned left_warps, left_regs, left_smem, left_blocks;
};
/* The query's threads must be above 0. Never fails: a block that cannot run has blocks 0 and a reason in `never`. */
void wg_occupancy(const struct wg_cc *cc, const struct wg_occupancy_query *q, struct wg_occupancy *out);
/* One sentence with the numbers put in; empty for WG_FITS. */
void wg_occupancy_never_text(const struct wg_cc *cc, const struct wg_occupancy_query *q, enum wg_occupancy_never never,
                             char *buf, size_t n);

/* The names of a set of limits: "registers and warps". */
void wg_occupancy_limits_text(unsigned limits, char *buf, size_t n);

/* An SM whose units are 1 and that reserves nothing: textbook division. Limits stay as they are. */
void wg_occupancy_plain_division(struct wg_cc *cc);

/* Largest registers a thread, or shared bytes a block (static and dynamic together), for which at least `warps` warps
 * stay resident. WG_NOT_FOUND: not even 0 does. */
enum wg_status wg_occupancy_most_regs(const struct wg_cc *cc, struct wg_occupancy_query q, unsigned warps,
                                      uint64_t *regs);
enum wg_status wg_occupancy_most_shared(const struct wg_cc *cc, struct wg_occupancy_query q, unsigned warps,
                                        uint64_t *bytes);

/* Bytes of shared memory the driver sets an SM to for this kernel when the user has no preference; what is left of the
 * unified memory is L1. Modelled: a rule seen on an H200 (CUDA 13.0 driver 580, 57 of 57 kernels of
 * tests/models/data/carveout.csv), assumed for other devices whose carve-out can move. */
unsigned wg_occupancy_driver_carveout(const struct wg_cc *cc, const struct wg_occupancy_query *q);

/* Clusters of `blocks` blocks resident on the whole device. Estimated: SMs are taken as spread evenly over the GPCs, of
 * which real chips lack some. 0 when the device has no clusters or they are too large. */
unsigned wg_occupancy_clusters(const struct wg_gpu *g, const struct wg_occupancy *o, unsigned blocks);

/* Waves of a grid: blocks / (blocks an SM holds x SMs); 0 when none fits. */
double wg_occupancy_waves(const struct wg_gpu *g, const struct wg_occupancy *o, uint64_t blocks);
#endif
