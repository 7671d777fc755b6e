/* ptx_run.c - the one call that embedders of libgpuocelot make: PTX text in, host pointers as arguments, done. */
#include <warpgrind/warpgrind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(struct wg *g, const char *text)
{
    fprintf(stderr, "warpgrind: %s\n", text);
    wg_close(g);
    return 1;
}

/* Each call opens and closes a device: the caller keeps no handle, and its buffers are its own memory. */
__attribute__((visibility("default"))) int ptx_run(const char *ptx, int n_args, void **args, int block_x, int block_y,
                                                   int block_z, int grid_x, int grid_y, int grid_z, int shared_bytes)
{
    const struct wg_options o = {.size = sizeof o, .host_addresses = true, .no_counters = true};
    struct wg *g = NULL;
    struct wg_module *m;
    struct wg_kernel_info info;
    char err[1024] = "";
    if (!ptx || n_args < 0 || (n_args && !args))
        return fail(NULL, "ptx_run: no PTX, or no arguments where some were announced");
    if (block_x < 1 || block_y < 1 || block_z < 1 || grid_x < 1 || grid_y < 1 || grid_z < 1 || shared_bytes < 0)
        return fail(NULL, "ptx_run: grid, block and shared size must be positive");
    if (wg_open(&o, &g, err, sizeof err) != WG_OK)
        return fail(NULL, err);
    if (wg_module_load(g, ptx, strlen(ptx), "ptx_run", NULL, &m) != WG_OK)
        return fail(g, wg_error(g));
    struct wg_kernel *k = wg_module_kernel_at(m, 0);
    if (!k)
        return fail(g, "ptx_run: the PTX has no .entry");
    if (wg_kernel_get_info(k, &info) != WG_OK)
        return fail(g, wg_error(g));
    if (info.nparams != (size_t)n_args) {
        snprintf(err, sizeof err, "ptx_run: kernel %s takes %zu arguments, %d were given", info.name, info.nparams,
                 n_args);
        return fail(g, err);
    }
    for (size_t i = 0; i < info.nparams; i++)
        if (info.params[i].bytes > sizeof *args) {
            snprintf(err, sizeof err, "ptx_run: argument %zu of kernel %s has %zu bytes; 8 is the most here", i,
                     info.name, info.params[i].bytes);
            return fail(g, err);
        }
    void **values = calloc(n_args ? (size_t)n_args : 1, sizeof *values);
    if (!values)
        return fail(g, "ptx_run: out of memory");
    for (int i = 0; i < n_args; i++)
        values[i] = &args[i]; /* an argument's value is the 8 bytes of args[i] themselves; smaller ones are its first */
    const struct wg_launch l = {.size = sizeof l, .grid = {(unsigned)grid_x, (unsigned)grid_y, (unsigned)grid_z},
                                .block = {(unsigned)block_x, (unsigned)block_y, (unsigned)block_z},
                                .shared_bytes = (size_t)shared_bytes, .args = values};
    const enum wg_status st = wg_launch(g, k, &l);
    free(values);
    if (st != WG_OK)
        return fail(g, wg_error(g));
    wg_close(g);
    return 0;
}
