/* launch.h - what tests of single instructions share: a device, buffers, and launches of PTX text. */
#ifndef TESTS_OPS_LAUNCH_H
#define TESTS_OPS_LAUNCH_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <warpgrind/profile.h>

static struct wg *open_device(unsigned tools)
{
    char err[500] = "";
    struct wg *g = NULL;
    struct wg_options o = {.size = sizeof o, .jobs = 1, .tools = tools};
    if (wg_open(&o, &g, err, sizeof err)) {
        printf("%s\n", err);
        exit(1);
    }
    return g;
}
static uint64_t buffer(struct wg *g, size_t bytes)
{
    uint64_t a = 0;
    if (wg_alloc(g, bytes, 256, &a)) {
        printf("%s\n", wg_error(g));
        exit(1);
    }
    return a;
}
/* Runs the first entry; args are 8-byte values. Returns the status, after saying what is wrong unless want is that. */
static enum wg_status run_ptx(struct wg *g, const char *name, const char *ptx, unsigned grid, unsigned block,
                              unsigned cluster, size_t shared, uint64_t *args, unsigned nargs, enum wg_status want)
{
    struct wg_module *m = NULL;
    void *p[16];
    for (unsigned k = 0; k < nargs; k++)
        p[k] = &args[k];
    enum wg_status st = wg_module_load(g, ptx, strlen(ptx), name, NULL, &m);
    if (!st) {
        struct wg_launch l = {.size = sizeof l,
                              .grid = {grid, 1, 1},
                              .block = {block, 1, 1},
                              .shared_bytes = shared,
                              .cluster = {cluster, cluster != 0, cluster != 0},
                              .args = p};
        st = wg_launch(g, wg_module_kernel_at(m, 0), &l);
    }
    if (st != want)
        printf("%s: %s: %s\n", name, wg_status_text(st), wg_error(g));
    wg_module_unload(m);
    return st;
}
/* What the checks have found in all launches, said. */
static inline unsigned findings(struct wg *g)
{
    const struct wg_profile *p = wg_get_profile(g);
    unsigned n = 0;
    for (size_t l = 0; l < p->nlaunches; l++)
        for (size_t k = 0; k < p->launches[l].nfindings; k++)
            if (!n++)
                printf("%s: %s: %s\n", p->launches[l].module, p->launches[l].findings[k].id,
                       p->launches[l].findings[k].message);
    return n;
}
static inline uint32_t draw(uint64_t *s) /* splitmix64 */
{
    uint64_t z = *s += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (uint32_t)(z >> 33);
}
#endif
