/* inspect.h - looks into an executable before it is run: which CUDA runtime it uses, whether it holds PTX, and so how
 * our library can take the runtime's place, or what to change in the build. */
#ifndef WG_SHIM_INSPECT_H
#define WG_SHIM_INSPECT_H
#include <warpgrind/warpgrind.h>

enum wg_way {
    WG_WAY_NONE,     /* it cannot be run: see wg_inspect_advice */
    WG_WAY_SHARED,   /* preload our libcudart of its version: inspect.runtime */
    WG_WAY_REDIRECT, /* the runtime is linked in: preload libwarpgrind-preload.so */
    WG_WAY_PLAIN,    /* no CUDA in it: nothing will be seen, except in libraries that it loads */
};

struct wg_inspect {
    enum wg_way way;
    bool elf, executable, has_interpreter, damaged;
    bool stripped;           /* no symbol table */
    bool runtime_inside;     /* the CUDA runtime is linked in, as far as its symbols or its sections tell */
    bool driver_api;         /* needs libcuda.so.1 */
    char library[32];        /* the first of NVIDIA's own libraries that it needs, which cannot work here; "" */
    char runtime[32];        /* file name of the shared runtime it needs, or of ours that fits the one inside; "" */
    bool has_code;           /* device code of any kind */
    unsigned nptx, nmachine; /* images of each kind */
    unsigned newest_ptx, oldest_ptx, newest_machine; /* compute capabilities, 90 for sm_90; 0: none */
    const char *wrong;       /* why way is WG_WAY_NONE: a sentence; NULL otherwise */
};

/* WG_OK also for a file that cannot be run (way WG_WAY_NONE). WG_IO, WG_NO_MEMORY with a message in err. */
enum wg_status wg_inspect_file(const char *path, struct wg_inspect *out, char *err, size_t n);
/* What to tell the user when way is WG_WAY_NONE: what was found, and the build option to change. "" otherwise. */
void wg_inspect_advice(const struct wg_inspect *i, const char *path, char *buf, size_t n);
#endif
