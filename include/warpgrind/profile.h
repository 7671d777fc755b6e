/* profile.h - the results of a run as plain data. Built by the engine or read from a .wgprof file; every report is a
 * function of it. Strings are UTF-8, never NULL unless said so, owned by the profile. */
#ifndef WARPGRIND_PROFILE_H
#define WARPGRIND_PROFILE_H
#include <warpgrind/warpgrind.h>
#ifdef __cplusplus
extern "C" {
#endif

enum wg_counter {
#define WG_COUNTER(id, name, unit, text) WG_C_##id,
#include <warpgrind/counters.def>
#undef WG_COUNTER
    WG_C_COUNT
};

enum wg_modelled {
#define WG_MODELLED(id, name, unit, text) WG_MODELLED_##id,
#include <warpgrind/modelled.def>
#undef WG_MODELLED
    WG_MODELLED_COUNT
};

enum wg_site_kind { WG_SITE_OTHER, WG_SITE_LOAD, WG_SITE_STORE, WG_SITE_ATOM, WG_SITE_RED, WG_SITE_BRANCH,
                    WG_SITE_BARRIER, WG_SITE_ASYNC, WG_SITE_MATRIX };
enum wg_site_space { WG_SITE_NONE, WG_SITE_GLOBAL, WG_SITE_SHARED, WG_SITE_LOCAL, WG_SITE_CONST, WG_SITE_PARAM,
                     WG_SITE_GENERIC };

/* The access of a site that wasted most, as the first warp of the lowest block made it. */
struct wg_worst {
    uint64_t block;       /* linear index in the grid */
    uint32_t warp, mask;  /* in the block; lanes that took part */
    uint32_t cost, ideal; /* sectors, or wavefronts when shared */
    uint16_t bytes;       /* a lane */
    bool shared;
    uint64_t offset[32];  /* of each lane in `mask`: in the block's shared memory, or from the start of the 128-byte line
                             that holds the lowest address */
};

/* Accesses of a site to shared memory that were alike, in block 0. */
struct wg_pattern {
    uint64_t count;
    uint32_t mask, cost;  /* lanes; wavefronts */
    uint16_t bytes;       /* a lane; more than the instruction's where ptxas would join several */
    uint32_t offset[32];  /* of each lane in mask, in the block's shared memory; others 0 */
};
struct wg_patterns {
    size_t n;
    const struct wg_pattern *v;
    uint64_t left_out;    /* accesses of block 0 that are in none of them */
};
struct wg_shared_array { const char *name; uint64_t offset, bytes; bool dynamic; }; /* dynamic: bytes 0 */

/* One PTX instruction. */
struct wg_site {
    uint32_t source;   /* index into profile->sources, or UINT32_MAX where the PTX carries no line */
    uint32_t line;     /* 1-based in that source; 0: unknown */
    uint32_t inlined_source, inlined_line; /* outermost call site when inlined; line 0: not inlined */
    uint32_t ptx_line; /* 1-based line of the PTX text */
    uint8_t kind, space; /* enum wg_site_kind, enum wg_site_space (GENERIC: resolved at run time) */
    uint16_t access_bytes; /* per lane; 0: not a memory access */
    uint32_t machine;  /* machine instructions that it becomes, times 100; see wg_launch_result.machine */
    const char *text;  /* the instruction as PTX */
    const char *opcode; /* "ld.global.f32" */
    uint64_t c[WG_C_COUNT];
    const struct wg_worst *worst; /* NULL: no access cost more than its ideal, or it was not recorded */
    const struct wg_patterns *patterns; /* NULL: no access to shared memory was recorded */
    bool idle;           /* a barrier that orders nothing: no thread shares anything across it */
    uint64_t stored;     /* wg_options.stored: digest of addresses and values stored, in any order; 0: nothing */
};

/* Machine instructions of a site: not known (each counts as one), by the model of ptxas, read from what ptxas made. */
enum wg_machine_source { WG_MACHINE_NONE, WG_MACHINE_ESTIMATED, WG_MACHINE_PTXAS };

enum wg_severity { WG_SEVERITY_INFO, WG_SEVERITY_WARNING, WG_SEVERITY_ERROR };
/* Something the kernel (or the host program) did wrong. id is a row of findings.def. */
struct wg_finding {
    const char *id, *tool;
    uint8_t severity;
    uint32_t source, line, other_source, other_line; /* as in wg_site; line 0: none */
    uint64_t count;
    uint32_t thread[3], block[3], other_thread[3], other_block[3];
    uint64_t address;
    const char *message; /* one or more lines, the first a whole sentence */
};

struct wg_launch_result {
    uint32_t index;                /* launch order from 0 */
    const char *kernel, *mangled;  /* demangled with parameter types; as in the PTX */
    const char *module, *compiler; /* compiler: "clang 19.1.7", "nvcc 13.0", or "" */
    const char *device;
    uint32_t grid[3], block[3], cluster[3];
    uint64_t static_shared, dynamic_shared, local_bytes;
    uint32_t registers;            /* a thread; 0: not known */
    bool registers_exact;          /* from ptxas; else an estimate between registers_low and registers_high */
    uint32_t registers_low, registers_high;
    uint64_t spill_stores, spill_loads; /* bytes a thread, as ptxas tells; 0 without it */
    const char *ptxas;             /* version of the ptxas that was asked, or "" */
    uint64_t blocks_done;          /* less than the grid when it was stopped */
    enum wg_status status;
    const char *status_text;       /* why, when status is not WG_OK; else "" */
    double host_seconds;           /* wall time of the simulation itself */
    bool one_worker;               /* block order could matter, so one worker ran it in reference order */
    uint8_t machine;               /* enum wg_machine_source: where the sites' machine comes from */
    uint64_t merged_sites;         /* accesses joined by the ptxas model */
    uint64_t uncounted;            /* bit c: counter c was not counted (an older file); its zeros mean nothing */
    size_t nsites;
    struct wg_site *sites;         /* in PTX order */
    uint64_t total[WG_C_COUNT];    /* sum over sites */
    size_t nfindings;
    struct wg_finding *findings;
    size_t narrays;                /* arrays in shared memory */
    const struct wg_shared_array *arrays;
    bool has_model;                /* the models of caches and time ran */
    double modelled[WG_MODELLED_COUNT];
};

struct wg_source { const char *path; const char *text; /* file contents at run time, or NULL */ };

struct wg_profile {
    uint32_t version;              /* of the file format */
    const char *program;           /* command line, or "" */
    const char *tool_version;      /* "warpgrind 0.1" */
    const char *device_file;       /* text of the device file that described launches[].device; "": a built-in one */
    size_t nsources;
    struct wg_source *sources;
    size_t nlaunches;
    struct wg_launch_result *launches;
    size_t nhost_findings;         /* API misuse, leaks */
    struct wg_finding *host_findings;
};

/* Read or write a .wgprof file (docs/profile-format.md). Writing goes to a temporary beside path, then renames. */
enum wg_status wg_profile_write(const struct wg_profile *p, const char *path, char *err, size_t n);
enum wg_status wg_profile_read(const char *path, struct wg_profile **out, char *err, size_t n);
void wg_profile_free(struct wg_profile *p); /* only for profiles that wg_profile_read made; NULL is fine */

const char *wg_counter_name(enum wg_counter c);
const char *wg_counter_unit(enum wg_counter c);
const char *wg_modelled_name(enum wg_modelled m);
const char *wg_modelled_unit(enum wg_modelled m);

#ifdef __cplusplus
}
#endif
#endif
