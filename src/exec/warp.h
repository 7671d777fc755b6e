/* warp.h - state of running warps, blocks and workers, and decoded code. Internal to exec. */
#ifndef WG_EXEC_WARP_H
#define WG_EXEC_WARP_H
#include "exec/exec.h"
#include <warpgrind/observer.h>
#include <pthread.h>

/* Generic addresses of shared and local memory: above any user-space address, so that nothing real collides. */
#define WG_SHARED_WINDOW 0x0000800000000000ull
#define WG_LOCAL_WINDOW  0x0000900000000000ull
#define WG_CODE_WINDOW   0x0000a00000000000ull /* function addresses */
#define WG_WINDOW_BYTES  0x0000010000000000ull
#define WG_CLUSTER_SHIFT 24 /* shared::cluster: rank of the block in bits 24 and up of the window offset */

#ifdef WG_HOSTILE
#define WG_FUEL 3
#else
#define WG_FUEL 4096 /* backward branches a warp may take before its neighbours get a turn */
#endif
#define WG_STACK_MAX 4096
#define WG_BARRIERS 16

struct wg_block;
struct wg_cluster;
struct wg_worker;
struct wg_warp_trace;
struct wg_trace_block;
struct wg_code;

/* Reconvergence stack of fast code. */
struct wg_stack_entry {
    const struct wg_inst *rpc; /* the JOIN instruction where lanes meet; NULL: at their exit */
    const struct wg_inst *pc;  /* ELSE: where these lanes start; NULL marks the JOIN entry itself */
    uint32_t mask;
    char *R;
};

/* Diverged lanes of wide code. */
enum wg_split_state { WG_SPLIT_READY, WG_SPLIT_SYNC, WG_SPLIT_BARRIER };
struct wg_split {
    uint32_t mask, wait; /* wait: lanes that must arrive (SYNC) */
    uint32_t age;        /* scheduling turns it has been passed over */
    const struct wg_inst *pc;
    char *R;
    uint8_t state, barrier;
    bool any_pc; /* SYNC at bar.warp.sync: met at any address */
    bool forced; /* goes on without the lanes it waited for */
};

/* A call frame: header, then the register file R. */
struct wg_frame {
    struct wg_frame *caller;     /* frame to return to */
    const struct wg_inst *ret;   /* instruction after the call, in the caller's code */
    const struct wg_code *code;  /* whose register file this is */
    uint32_t local_base;         /* bytes of local memory below this frame */
    uint32_t mask;               /* lanes that entered */
    uint32_t bytes;
    int32_t refs;                /* wide code: splits inside, plus one per frame called from here */
    uint32_t depth;
    struct wg_frame *next_free;
    struct wg_frame *all;        /* every frame of the warp */
    char *arg, *retv;            /* caller's slots of parameter and result words, for natives */
} __attribute__((aligned(64)));
static inline struct wg_frame *wg_frame_of(char *R) { return (struct wg_frame *)R - 1; }
static inline char *wg_frame_regs(struct wg_frame *f) { return (char *)(f + 1); }
uint32_t wg_frame_local(const struct wg_frame *f); /* bytes of local memory up to the end of this frame's */

struct wg_access_site;
struct wg_warp {
    uint32_t mask; /* lanes that execute now; FIRST member: handlers of the ALU know it */
    uint32_t live; /* lanes that have not exited */
    int32_t fuel;
    uint32_t index;           /* in the block */
    struct wg_block *blk;
    struct wg_worker *wk;
    const struct wg_inst *pc; /* where to resume */
    char *R;
    struct wg_bb_count *bb;   /* this worker's block counters */
    char *shared;             /* copies of the block's and the worker's: what every access needs */
    uint64_t shared_bytes, lo, hi;
    struct wg_site_count *site;
    uint8_t state, barrier;
    bool wide;
    bool spun;                /* executed an atomic or a volatile access since the last yield */
    uint32_t sp;
    uint32_t barrier_lanes;   /* lanes waiting at `barrier` */
    uint32_t full;            /* lanes that exist */
    uint32_t stack_cap;
    struct wg_stack_entry *stack;
    uint32_t lease;           /* wide code: turns the chosen split keeps although others stand lower */
    uint32_t nsplits, cur;    /* wide code: splits[cur] runs; its mask is w->mask */
    struct wg_split splits[WG_LANES];
    struct wg_frame *frames, *free_frames;
    char *local;              /* [word][lane], local_bytes per lane */
    uint64_t local_bytes;
    uint32_t tid0[3];         /* of lane 0; enough where the block's x is a multiple of 32 or the block is flat */
    uint32_t cluster_parity;  /* per lane: of the phase in which it arrived at the cluster's barrier */
    struct wg_async *async;   /* cp.async copies on their way; NULL: none so far */
    uint64_t insts, turns;    /* what clock() is made of */
    struct wg_warp_trace *trace; /* of traced code */
    struct wg_frame *root;    /* the kernel's own frame */
    uint16_t *tid[3];         /* per lane, general block shapes */
    void *observed;           /* the block's */
    bool (*row)(void *block, uint32_t warp, const struct wg_access_site *s, uint64_t base, int64_t stride); /* observer.h */
} __attribute__((aligned(64)));

struct wg_barrier {
    uint32_t arrived, expected; /* threads; expected 0: nobody waits */
    uint32_t red_and, red_or, red_popc, result;
    bool explicit_count;
};

struct wg_block {
    struct wg_warp *warps;
    uint32_t nwarps, live_warps, live_lanes;
    uint32_t ctaid[3];
    uint64_t linear;
    char *shared;
    uint32_t shared_bytes;
    struct wg_barrier bar[WG_BARRIERS];
    struct wg_worker *wk;
    bool any_exit, gone; /* gone: exited, but its cluster has not */
    uint32_t cluster_rank;
    struct wg_cluster *cluster; /* NULL: the kernel knows of none */
    void *observed; /* the observer's own */
    struct wg_trace_block *trace; /* of traced code */
    uint64_t passes0; /* shared-memory passes the worker had counted when the block began */
    struct wg_block *next;
};

struct wg_bb_count { uint64_t exec, lanes; };
struct wg_site_count {
    uint64_t on;       /* guarded instructions: lanes on, summed */
    uint64_t access, tags, sectors, sectors_ideal, wavefronts, wavefronts_ideal, bytes;
    uint64_t atom_sectors; /* sectors of atomics, lanes that share an address one by one */
    uint64_t uniform, divergent;
    uint64_t full;     /* accesses by all 32 lanes to neighbouring elements from an aligned start: all else follows */
    uint64_t same;     /* accesses by all 32 lanes to one aligned 4-byte word */
    int64_t exec_adj;  /* correction of executions from here to the end of the basic block */
    uint64_t spaces;   /* bit set of enum wg_site_space seen by a generic access */
    uint64_t worst;    /* rank of the access kept in wg_worker.worst; 0: none */
};

/* Why a launch stopped. Filled by the first worker that hits it (lowest block wins in the end). */
struct wg_fault {
    bool set;
    enum wg_status status;
    const char *id; /* finding row */
    uint64_t block;
    uint32_t ctaid[3], tid[3];
    uint32_t site;
    uint64_t address;
    const struct wg_code *code;
    char text[1024];
};

struct wg_run;
struct wg_worker {
    struct wg_run *run;
    unsigned index;
    pthread_t thread;
    struct wg_block *blocks; /* resident ones */
    struct wg_block *free_blocks;
    uint32_t nresident;
    struct wg_bb_count *bb;
    struct wg_site_count *site;
    struct wg_memo **memo; /* per site, made when it first counts an access by vector addresses */
    struct wg_worst *worst;   /* of each site, see worst.h */
    struct wg_pattern_table **patterns; /* of each site, see patterns.h */
    struct wg_fault fault;
    uint64_t changes; /* stores and atomics that changed memory, barriers, exits: progress */
    uint64_t blocks_done, seen_done;
    uint64_t random;  /* state of schedule random */
    uint64_t lo, hi;  /* global memory bounds, copied for the handlers */
    uint64_t last[16]; /* where coalesced loads last began, by site: see mem.c */
    const uint8_t *params;
};

/* One function decoded for one block shape. */
struct wg_native;
struct wg_code {
    const struct wg_function *fn;
    struct wg_kernel_code *kernel;
    uint64_t address;          /* what a pointer to it holds */
    uint32_t site0;            /* index of the function's first instruction in the kernel's site list */
    uint32_t bb0, nbb;         /* its basic blocks in the kernel's block counters */
    uint32_t *bb_first;        /* first PTX instruction of each block */
    struct wg_inst *fast, *wide;
    uint32_t nfast, nwide;
    uint32_t *fast_at, *wide_at; /* PTX instruction -> first decoded one, with what counts and joins */
    uint32_t *fast_body, *wide_body; /* PTX instruction -> first decoded one that does its work */
    uint32_t nconsts;
    uint32_t *fast_ptx;          /* decoded fast instruction -> PTX instruction */
    uint32_t *wide_ptx;
    uint32_t frame_bytes, const_bytes;
    uint8_t *consts;           /* initial bytes of the register file */
    struct wg_slot { uint32_t fast, wide; uint8_t cls, bytes; } *slots; /* per PTX register */
    uint32_t nslots;
    uint32_t local_bytes;      /* of this function's own .local variables */
    uint32_t top_slot;         /* V32: bytes that alloca has taken, per lane; 0: no alloca here */
    uint32_t ret_at_fast, ret_at_wide; /* RET instruction */
    const uint32_t *machine;   /* per PTX instruction: hundredths of machine instructions; NULL: not modelled */
    const int32_t *with;       /* per block: the one whose executions are its own, or WG_MACHINE_OWN (machine.h) */
    const uint8_t *idle;       /* per PTX instruction: a barrier that orders nothing; NULL: none */
};
enum wg_class { WG_CLASS_S, WG_CLASS_A, WG_CLASS_V, WG_CLASS_P };

/* A kernel with every function it can reach, decoded for one shape. */
struct wg_kernel_code {
    struct wg_arena arena;
    const struct wg_ptx_module *module;
    struct wg_module *owner;
    uint32_t ncodes, nsites, nbb;
    struct wg_code **codes; /* codes[0]: the entry */
    uint32_t static_shared; /* bytes, offset where dynamic shared memory starts */
    uint64_t static_shared_exact;
    uint64_t local_bytes;   /* upper bound per thread without recursion */
    uint64_t merged;         /* accesses that ptxas joins into others or drops */
    struct wg_array *arrays; /* shared memory */
    uint32_t narrays;
    bool observed; /* tells an observer */
    bool traced;   /* fills traces */
    bool affine_tid, counters, order_matters, uses_barrier, has_calls, uses_cluster;
    const struct wg_handler_set *handlers;
    struct wg_kernel_code *next;
};

/* One launch in flight. */
struct wg_run {
    struct wg *g;
    struct wg_kernel_code *kc;
    const struct wg_launch *cfg;
    uint32_t grid[3], block[3], cluster[3];
    uint64_t nblocks, nunits; /* units: what a worker takes at once, a block or a cluster of them */
    uint32_t unit_blocks;
    uint32_t threads, nwarps, shared_bytes, dynamic_shared;
    uint64_t next_unit;      /* atomic */
    int stop;                /* atomic: a fault, hang or cancel */
    uint64_t blocks_done;    /* atomic */
    uint32_t max_resident;   /* blocks at once on one worker */
    uint64_t param_addr;     /* parameters in device memory */
    uint32_t nworkers;
    struct wg_worker *workers;
    struct wg_traffic_run *traffic; /* NULL: caches are not modelled */
    bool ran; /* the workers had their counters and ran */
    double last_progress;
    uint32_t *bb_len;        /* PTX instructions of each basic block */
};
void wg_run_close(struct wg_run *r);

/* ---- between handler files ---- */
/* Record what a lane did wrong at i and stop the launch. Returns NULL. lane < 0: the whole warp. */
const struct wg_inst *wg_fault(struct wg_warp *w, const struct wg_inst *i, enum wg_status s, const char *id, int lane,
                               uint64_t address, const char *fmt, ...) __attribute__((format(printf, 7, 8)));
/* Leave fast code before executing i: every register becomes a vector, waiting lanes become splits. Returns the wide
 * instruction that stands for i (w->R may change nothing; same frame). */
const struct wg_inst *wg_deopt(struct wg_warp *w, const struct wg_inst *i);
/* Wide code: choose the next split; NULL when none is ready. */
const struct wg_inst *wg_wide_pick(struct wg_warp *w);
/* Lanes of `gone` exit. Returns where to go on, or NULL with w->state DONE or blocked. i: the exit instruction. */
const struct wg_inst *wg_lanes_exit(struct wg_warp *w, const struct wg_inst *i, uint32_t gone);
/* Wide code: the current split needs the lanes of `need` at i (any_pc: at any bar.warp.sync). True: go on now, w->mask may
 * have grown. False: return *next. */
bool wg_wide_wait(struct wg_warp *w, const struct wg_inst *i, uint32_t need, bool any_pc, const struct wg_inst **next);
/* Where the PTX instruction of i starts its work: lanes that come back later make its temporaries anew. */
const struct wg_inst *wg_inst_start(const struct wg_warp *w, const struct wg_inst *i);
void wg_wide_merge_at(struct wg_warp *w, const struct wg_inst *i);
struct wg_frame *wg_frame_new(struct wg_warp *w, const struct wg_code *code);
void wg_frame_drop(struct wg_warp *w, struct wg_frame *f);
const struct wg_code *wg_code_of(const struct wg_warp *w);
char *wg_local_reserve(struct wg_warp *w, uint64_t bytes); /* NULL: no memory */
uint32_t wg_ptx_index(const struct wg_warp *w, const struct wg_inst *i);

/* What a pointer to the function of this name holds; 0: the module does not define it. */
uint64_t wg_function_address(const struct wg_ptx_module *m, const char *name);

/* ---- facts about the launch (grid.c) ---- */
uint32_t wg_run_sms(const struct wg_run *r);
unsigned wg_run_cc(const struct wg_run *r); /* compute capability: 90 for 9.0 */
uint64_t wg_run_grid_id(const struct wg_run *r);
uint64_t wg_run_clock(const struct wg_warp *w); /* simulated SM cycles: moves with the warp's instructions */
uint64_t wg_run_timer(const struct wg_warp *w); /* simulated nanoseconds */
uint64_t wg_run_workspace(const struct wg_run *r); /* what %envreg1:%envreg2 point at: the grid barrier's memory */
uint64_t wg_run_cluster_sreg(const struct wg_block *b, unsigned sreg);
bool wg_run_is_const(const struct wg_run *r, uint64_t addr);
uint64_t wg_run_param_bytes(const struct wg_run *r);
#endif
