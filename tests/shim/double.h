/* double.h - what the test double of the engine recorded, and how to make its launches fail. */
#ifndef WG_TESTS_DOUBLE_H
#define WG_TESTS_DOUBLE_H
#include <warpgrind/profile.h>
#include <warpgrind/texture.h>

struct wg_double_launch {
    char kernel[128];
    struct wg_launch cfg;       /* args is not kept */
    unsigned char params[4096]; /* laid out as in the parameter block */
    size_t param_bytes;
};
extern struct wg_double {
    unsigned launches;
    struct wg_double_launch last;
    enum wg_status next_status;  /* what the next launch returns; then WG_OK again */
    const char *next_finding;    /* id of the finding that it leaves, or NULL */
    void (*during)(void *);      /* runs inside the next launches; NULL: nothing */
    void *during_ctx;
    unsigned registers;          /* a thread, of every kernel */
    unsigned opened, modules, unloaded;
    struct wg_texture texture;   /* the last object made */
    unsigned objects;            /* alive */
    uint64_t bound;              /* handle last bound to a texture reference; there is one, "reference" */
} wg_double;
#endif
