/* compiler.h - which CUDA compiler there is, and nvcc's options in clang's words. */
#ifndef WG_CLI_COMPILER_H
#define WG_CLI_COMPILER_H
#include "cli/proc.h"
#include <warpgrind/warpgrind.h>

enum wg_compiler_kind { WG_COMPILER_CLANG, WG_COMPILER_NVCC };
struct wg_compiler {
    enum wg_compiler_kind kind;
    unsigned major;
    char path[4096];
    char version[64]; /* "clang 19.1.7", "nvcc 13.0" */
};
/* wanted: "clang", "nvcc", a path or name of either; NULL or "": nvcc if there is one, else clang. nvcc is looked for in
 * PATH, $CUDA_HOME/bin and /usr/local/cuda/bin; clang as clang++-19 down to -16, then clang++. NOT_FOUND: none. */
enum wg_status wg_compiler_find(const char *wanted, struct wg_compiler *out, char *err, size_t n);
/* The PTX ISA that this clang can write (85), and the newest architecture up to `sm` ("sm_100") that it knows; the
 * answer lies in buf (16 bytes). */
unsigned wg_compiler_ptx(const struct wg_compiler *c);
const char *wg_compiler_arch(const struct wg_compiler *c, const char *sm, char *buf);

/* A command line as given, sorted by where clang wants it. */
struct wg_clang_options {
    struct wg_args both, device, host, link;
    char sm[16];      /* asked for with -arch and its like; "": not asked */
    bool rdc;         /* -rdc=true was given */
    const char *bad;  /* an option that cannot work here, or NULL */
};
/* args: options only. Free with wg_clang_options_free. */
void wg_clang_options_sort(struct wg_clang_options *o, const char *const *args, size_t n);
void wg_clang_options_free(struct wg_clang_options *o);
/* Does the argument choose an architecture for nvcc? */
bool wg_is_arch_option(const char *arg);
#endif
