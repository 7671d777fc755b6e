/* engine.h - the simulated device: its memory, its modules, its results. Internal to exec. */
#ifndef WG_EXEC_ENGINE_H
#define WG_EXEC_ENGINE_H
#include "check/check.h"
#include "exec/decode.h"
#include "exec/texture.h"
#include "model/cache.h"
#include "model/gpus.h"
#include "model/registers.h"
#include "profile/profile.h"
#include <warpgrind/warpgrind.h>

struct wg_alloc_entry { uint64_t base; size_t bytes, reserved; bool internal, freed; };

struct wg_param_block { size_t n; };

/* Registers a thread; an estimate is a range. likely 0: not known. */
struct wg_registers { bool exact; unsigned likely, low, high; uint64_t spill_stores, spill_loads; };

struct wg_kernel {
    struct wg_module *module;
    const struct wg_function *fn;
    struct wg_param_info *params;
    struct wg_registers registers; /* once asked */
    struct wg_kernel_code *codes; /* decoded forms, by shape and options */
};

struct wg_module {
    struct wg *g;
    struct wg_module *next;
    struct wg_ptx_module *ptx;
    const char *name, *compiler;
    struct wg_arena arena;
    uint32_t nkernels;
    struct wg_kernel *kernels;
    uint64_t *var_addr;  /* per module variable; 0: none */
    uint64_t const_lo, const_hi; /* where .const variables lie */
    uint64_t *blocks;    /* allocations to free with the module */
    uint32_t nblocks;
    bool asked;
    const struct wg_ptxas_info *ptxas; /* once asked; NULL: nothing known */
};

struct wg_heap_block { uint64_t bytes; uint64_t free; };

struct wg {
    struct wg_options opt;
    struct wg_arena arena;
    struct wg_diag diag;
    const struct wg_gpu *gpu;
    unsigned jobs;
    /* memory: one reserved range */
    uint64_t lo, hi, end, top; /* hi: above the highest allocation ever; top: bytes of the modelled device */
    uint64_t used;
    struct wg_alloc_entry *allocs; /* by address */
    size_t nallocs, cap_allocs;
    uint64_t params, workspace;    /* kernel parameters; the grid barrier's memory */
    uint64_t heap, heap_bytes;     /* device malloc */
    pthread_mutex_t heap_lock;
    struct wg_module *modules;
    struct wg_profile_builder profile;
    uint32_t nlaunches;
    struct wg_check *check;        /* NULL: no tools */
    struct wg_observer observer;   /* the check's; observer.ctx NULL: none */
    uint64_t quarantined;          /* bytes of freed blocks whose addresses are held back */
    struct wg_caches *caches;      /* NULL until a launch models them */
    uint64_t clock;                /* simulated cycles of finished launches */
    struct wg_texture_slot *textures; /* by slot of the handle */
    uint32_t ntextures;
};

/* memory.c */
enum wg_status wg_memory_open(struct wg *g);
void wg_memory_close(struct wg *g);
enum wg_status wg_memory_alloc(struct wg *g, size_t bytes, size_t align, bool internal, uint64_t *addr);
void wg_tell_memory(struct wg *g, enum wg_memory_event what, uint64_t addr, uint64_t bytes, uint64_t other);
uint64_t wg_heap_malloc(struct wg *g, uint64_t bytes); /* 0: none left */
bool wg_heap_free(struct wg *g, uint64_t addr);        /* false: not a live block */

/* ptxas.c: what it said of the module, asked once; NULL: nothing. */
const struct wg_ptxas_info *wg_module_ptxas(struct wg_module *m);
/* Returns what ptxas said of the module when the registers are its own, else NULL. */
const struct wg_ptxas_info *wg_kernel_registers(struct wg_kernel *k, struct wg_registers *out);
/* grid.c: runs every block; faults and hangs end up in *f. */
enum wg_status wg_run_grid(struct wg_run *r, struct wg_fault *f);
/* results.c: from counters to the profile; findings of host calls. */
void wg_results_host(struct wg *g);
enum wg_status wg_results_add(struct wg_run *r, struct wg_kernel *k, const struct wg_fault *f, enum wg_status s,
                              double seconds, bool one_worker);
#endif
