/* registers.h - registers, spills and static shared memory of kernels: exact, from NVIDIA's ptxas where one is at hand.
 */
#ifndef WG_MODEL_REGISTERS_H
#define WG_MODEL_REGISTERS_H
#include "base/arena.h"
#include "base/diag.h"
#include "model/cubin.h"

/* One entry function as ptxas compiled it. */
struct wg_ptxas_kernel {
    const char *name;         /* as in the PTX */
    unsigned registers;       /* a thread; what a launch occupies: wg_registers_at_launch */
    unsigned barriers;
    uint64_t spill_stores, spill_loads; /* bytes a thread, each counted once where it stands in the code */
    uint64_t stack;           /* bytes a thread, of the deepest chain of calls that ptxas knows */
    uint64_t shared;          /* bytes a block, static, without what the driver reserves */
    size_t nlines;            /* what became of each line of the PTX; 0: its object could not be read */
    const struct wg_cubin_line *lines;
};
struct wg_ptxas_info {
    const char *tool, *version; /* path, and "V13.0.88" or "" */
    char arch[16];              /* "sm_90", "sm_90a" */
    bool cached;
    size_t n;
    struct wg_ptxas_kernel *kernels;
};

/* Path of a ptxas: $WARPGRIND_PTXAS, then PATH, $CUDA_HOME/bin, $CUDA_PATH/bin, the usual toolkit folder, and the
 * places where pip puts the nvidia-cuda-nvcc and triton wheels. WG_NOT_FOUND if there is none; path is at least 4096
 * bytes. */
enum wg_status wg_ptxas_find(char *path, size_t n);

enum { WG_PTXAS_SECONDS = 15 }; /* after which it is stopped */

/* With the program `given` (NULL: wg_ptxas_find's), compiles PTX (n bytes, no NUL needed) for compute capability sm (90 for 9.0) and tells what became of each entry.
 * Answers are kept in $XDG_CACHE_HOME/warpgrind (~/.cache/warpgrind), by contents, architecture and tool. The result
 * lives in a. WG_NOT_FOUND: no ptxas. WG_UNSUPPORTED: this ptxas does not know the architecture. WG_PARSE: it refused
 * the PTX; its words are in d. WG_IO: could not run it or use a temporary folder. WG_CANCELLED: it took too long; the
 * next answer is then one with no kernels. WG_NO_MEMORY. */
enum wg_status wg_ptxas_info(const char *given, const char *ptx, size_t n, unsigned sm, struct wg_arena *a,
                             const struct wg_ptxas_info **out, struct wg_diag *d);
/* The entry of that name; NULL if there is none. */
const struct wg_ptxas_kernel *wg_ptxas_kernel(const struct wg_ptxas_info *info, const char *name);
/* Reads what `ptxas -v` prints into kernels of a; *n is their count. For tests and other ways of running it. */
enum wg_status wg_ptxas_parse(const char *text, size_t len, struct wg_arena *a, struct wg_ptxas_kernel **out,
                              size_t *n);

/* Registers a thread occupies when launched: at least 16 (an H200 told 16 for kernels of 4 to 15; taken for all from
 * compute capability 7.0 on). */
unsigned wg_registers_at_launch(unsigned sm, unsigned registers);
#endif
