/* build.h - from .cu files to a program that meets our runtime library. */
#ifndef WG_CLI_BUILD_H
#define WG_CLI_BUILD_H
#include <warpgrind/warpgrind.h>
#include <stdio.h>

/* Zero is the default of every field that does not say otherwise. */
struct wg_build_options {
    size_t size;                 /* sizeof(struct wg_build_options) */
    const char *compiler;        /* as in wg_compiler_find */
    const char *const *sources;  /* .cu, .cpp, .cc, .cxx, .c; objects and libraries are linked; at least one */
    size_t nsources;
    const char *const *args;     /* options for the compiler: -I -D -std -O -l ..., also in nvcc's words */
    size_t nargs;
    const char *include;         /* folder of our CUDA headers; needed for clang */
    const char *library;         /* path of our libcudart, linked into what clang builds; needed for clang */
    const char *sm;              /* target unless args name one: "sm_90" */
    const char *temporary;       /* folder to build in; NULL: $TMPDIR, else /tmp */
    FILE *messages;              /* what the compiler says goes here unchanged; NULL: stderr */
};
struct wg_built {
    char *program;      /* path of the executable */
    char *dir;          /* its folder: removed by wg_build_remove */
    char compiler[64];  /* "clang 19.1.7" or "nvcc 13.0" */
    char sm[16];        /* what the device code was made for: "sm_90" */
    double seconds;     /* wall time of the whole build */
};
/* Build. The program lies alone in a fresh folder; nothing else is left behind, also on failure and when a signal ends
 * the build. INVALID: the options; NOT_FOUND: no compiler or a source is missing; PARSE: the compiler refused (its own
 * message is in `messages`); UNSUPPORTED: needs the other compiler; IO: the temporary folder. err (n bytes) says why. */
enum wg_status wg_build(const struct wg_build_options *o, struct wg_built *out, char *err, size_t n);
void wg_build_remove(struct wg_built *b); /* deletes the program and its folder; a zeroed or removed one is fine */
#endif
