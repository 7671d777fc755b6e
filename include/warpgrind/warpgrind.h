/* warpgrind.h - run CUDA kernels (PTX) on the CPU and read what they did to the memory hierarchy.
 *
 * Reading order: open, load, allocate, launch, profile, close. See examples/api/run_ptx.c for one page that does all.
 *
 * Ownership: every object belongs to the `struct wg` it was made from and dies with wg_close() at the latest.
 * Threads: one struct wg may be used from one thread at a time; different ones are independent.
 * Errors: every function that can fail returns enum wg_status; wg_error() then gives the located message.
 */
#ifndef WARPGRIND_WARPGRIND_H
#define WARPGRIND_WARPGRIND_H
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#ifdef __cplusplus
extern "C" {
#endif

/* The caller's problem, never the kernel's: what a kernel does wrong is a finding in the profile. */
enum wg_status {
#define WG_STATUS(id, text) WG_##id,
#include <warpgrind/status.def>
#undef WG_STATUS
    WG_STATUS_COUNT
};
const char *wg_status_text(enum wg_status s);

struct wg;        /* one simulated device and everything on it */
struct wg_module; /* one loaded PTX translation unit */
struct wg_kernel; /* one .entry of a module */
struct wg_profile;

/* How warps are interleaved; all are legal. */
enum wg_schedule { WG_SCHEDULE_ROUND_ROBIN, WG_SCHEDULE_RANDOM, WG_SCHEDULE_ADVERSARIAL };

/* Zero is the default of every field but size, which must be sizeof(struct wg_options). */
struct wg_options {
    size_t size;
    const char *device;    /* name from gpus.def, case-insensitive; NULL: "H200" */
    const char *sm_target; /* reserved for choosing an image: "sm_90"; NULL: the device's own */
    unsigned jobs;         /* worker threads; 0: one per processor */
    bool no_counters;      /* correctness only: nothing is counted */
    bool host_addresses;   /* kernels may touch any host address (ptx_run mode); no bounds are known */
    bool as_written;       /* count the PTX as it stands, without the model of what ptxas joins */
    bool models;           /* caches, traffic and time are modelled; needs counters, leaves out launches with tools */
    bool keep_caches;      /* a launch finds the L2 as the one before left it; else empty, as profilers make it */
    unsigned sample_level; /* 0: as each launch suggests; k + 1: one 128-byte line in 2^k is followed, k <= 6 */
    bool any_block_order;  /* do not fall back to one worker where a result may depend on block order */
    const char *ptxas;     /* asked once per module for registers and code: a path, or "auto": one found; NULL: none */
    unsigned tools;        /* bit set of enum wg_tool: which checks run */
    enum wg_schedule schedule;
    bool stored;           /* digest what each site stores, for comparing runs; needs a tool */
    uint64_t seed;         /* of WG_SCHEDULE_RANDOM */
    uint64_t memory;       /* bytes of device memory; 0: the device's own */
    void (*printf_sink)(void *ctx, const char *text, size_t n); /* device printf; NULL: stdout */
    void (*progress)(void *ctx, uint64_t done_blocks, uint64_t all_blocks, uint64_t warp_insts);
    void *ctx;                  /* passed to the two callbacks */
    const volatile int *cancel; /* set non-zero (e.g. in a signal handler) to stop the launch; may be NULL */
};
enum wg_tool { WG_TOOL_MEMCHECK = 1, WG_TOOL_RACECHECK = 2, WG_TOOL_INITCHECK = 4, WG_TOOL_SYNCCHECK = 8 };

/* Open a device. On failure *out is NULL and err (may be NULL; n bytes) holds the message. */
enum wg_status wg_open(const struct wg_options *opt, struct wg **out, char *err, size_t n);
void wg_close(struct wg *g); /* NULL is fine */
/* The located message of the last failed call on g: one line, or several with source line and caret. Valid until the
 * next call on g. */
const char *wg_error(const struct wg *g);

/* ---- modules -------------------------------------------------------------------------------------------------- */
/* Parse PTX text (need not end in NUL). name is used in messages and in the profile. compiler: what made it, or NULL. */
enum wg_status wg_module_load(struct wg *g, const char *ptx, size_t n, const char *name, const char *compiler,
                              struct wg_module **out);
void wg_module_unload(struct wg_module *m);
struct wg_kernel *wg_module_kernel(struct wg_module *m, const char *mangled); /* NULL: no such entry */
size_t wg_module_kernel_count(const struct wg_module *m);
struct wg_kernel *wg_module_kernel_at(struct wg_module *m, size_t i);
/* Address and size in bytes of a .global or .const variable. */
enum wg_status wg_module_symbol(struct wg_module *m, const char *name, uint64_t *addr, size_t *bytes);

struct wg_param_info { size_t offset, bytes; const char *type; /* "u64", "b8" for structs */ };
struct wg_kernel_info {
    const char *name;
    size_t nparams;
    const struct wg_param_info *params;
    size_t param_bytes;
    size_t static_shared, local_bytes, const_bytes; /* bytes; local per thread */
    unsigned max_threads;      /* per block: .maxntid/.reqntid, else the device's limit */
    unsigned registers;        /* per thread; see registers_exact; 0: not known */
    bool registers_exact;      /* from ptxas; false: an estimate from liveness, in the range that follows */
    unsigned registers_low, registers_high;
    unsigned ptx_version, sm;  /* 90, 90 */
};
enum wg_status wg_kernel_get_info(const struct wg_kernel *k, struct wg_kernel_info *info);

/* ---- device memory --------------------------------------------------------------------------------------------
 * Device addresses are addresses of this process inside one reserved range, so the host may read and write them
 * directly; a kernel can reach nothing outside the range (unless host_addresses is set). Fresh memory reads as zero. */
enum wg_status wg_alloc(struct wg *g, size_t bytes, size_t align, uint64_t *addr);
enum wg_status wg_free(struct wg *g, uint64_t addr);
/* The live allocation that holds addr: its base and size. WG_NOT_FOUND if none. */
enum wg_status wg_find_alloc(struct wg *g, uint64_t addr, uint64_t *base, size_t *bytes);
void wg_memory_info(const struct wg *g, uint64_t *free_bytes, uint64_t *total_bytes);
/* Checked copies and fills: both ends are verified against live allocations when they lie on the device. */
enum wg_status wg_copy(struct wg *g, void *dst, const void *src, size_t bytes);
enum wg_status wg_fill(struct wg *g, uint64_t dst, int byte, size_t bytes);
/* Tells the checks that the host has written, or may at any time write, these bytes without wg_copy or wg_fill. */
void wg_host_writes(struct wg *g, uint64_t addr, size_t bytes);
/* For the findings of memcheck: where in the host program the next calls are made, one line or several, copied; NULL: not
 * known. A call of the host program that failed, a whole sentence. Allocations that are still live become findings. */
void wg_host_place(struct wg *g, const char *place);
void wg_host_error(struct wg *g, const char *text);
void wg_find_leaks(struct wg *g);
bool wg_is_device_address(const struct wg *g, uint64_t addr);

/* ---- launches ------------------------------------------------------------------------------------------------- */
struct wg_launch {
    size_t size; /* sizeof(struct wg_launch) */
    unsigned grid[3], block[3], cluster[3]; /* cluster 0: none */
    size_t shared_bytes;                    /* dynamic */
    void **args;                            /* args[i] points at params[i].bytes bytes */
    bool cooperative;
};
/* Runs the kernel to its end. WG_KERNEL_FAULT: it did something a GPU would stop for; the finding is in the profile.
 * WG_HANG: it cannot finish. WG_CANCELLED: options.cancel was set. In each case what was counted stays. */
enum wg_status wg_launch(struct wg *g, struct wg_kernel *k, const struct wg_launch *cfg);

/* The results so far; owned by g, grows with each launch. See warpgrind/profile.h. */
struct wg_profile *wg_get_profile(struct wg *g);

/* One call for embedders, as tinygrad's CI makes into libgpuocelot: run the first .entry of ptx on host pointers.
 * args[i] is the i-th 8-byte argument value. Returns 0, or non-zero after printing the message to stderr. */
int ptx_run(const char *ptx, int n_args, void **args, int block_x, int block_y, int block_z, int grid_x, int grid_y,
            int grid_z, int shared_bytes);

#ifdef __cplusplus
}
#endif
#endif
