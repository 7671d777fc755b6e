/* gpu.c - the modelled device as a driver would describe it, and how many blocks of a kernel fit. */
#include "shim/gpu.h"
#include "model/occupancy.h"
#include <stdio.h>
#include <string.h>

enum wg_status wg_device_open(const char *name, struct wg_arena *a, struct wg_device *out, struct wg_diag *d)
{
    const struct wg_gpu *g;
    enum wg_status st = wg_gpu_open(name ? name : "H200", a, &g, d);
    if (st != WG_OK)
        return st;
    const struct wg_cc *cc = g->cc;
    *out = (struct wg_device){.gpu = g, .cc = cc, .memory = (uint64_t)g->memory_bytes,
                              .clock_khz = (int)(g->clock_mhz * 1000),
                              .memory_clock_khz = (int)(g->memory_clock_mhz * 1000)};
    snprintf(out->name, sizeof out->name, "%s%s", strstr(g->name, "NVIDIA") ? "" : "NVIDIA ", g->name);
    /* The driver sets aside at most five eighths of the L2 for persisting lines on 9.0, three quarters on 8.x
     * (read from devices); there is none before 8.0. */
    if (cc->major >= 8)
        out->persisting_l2_bytes = (int)(g->l2_bytes * (cc->major >= 9 ? 0.625 : 0.75));
    out->fp32_to_fp64 = cc->fp64_lanes ? (int)(cc->fp32_lanes / cc->fp64_lanes) : 32;
    out->async_engines = cc->major * 10 + cc->minor == 86 || cc->major * 10 + cc->minor == 89 ? 2 : 3;
    return WG_OK;
}

static struct wg_occupancy ask(const struct wg_device *d, unsigned threads, unsigned registers, size_t static_shared,
                               size_t dynamic_shared)
{
    struct wg_occupancy o = {0};
    if (threads && threads <= d->cc->threads_per_block)
        wg_occupancy(d->cc, &(struct wg_occupancy_query){.threads = threads, .regs = registers,
                                                         .static_shared = static_shared,
                                                         .dynamic_shared = dynamic_shared, .carveout = -1}, &o);
    return o;
}

int wg_device_blocks(const struct wg_device *d, unsigned threads, unsigned registers, size_t static_shared,
                     size_t dynamic_shared)
{
    return (int)ask(d, threads, registers, static_shared, dynamic_shared).blocks;
}

int wg_device_clusters(const struct wg_device *d, unsigned threads, unsigned registers, size_t static_shared,
                       size_t dynamic_shared, unsigned cluster)
{
    const struct wg_occupancy o = ask(d, threads, registers, static_shared, dynamic_shared);
    return (int)wg_occupancy_clusters(d->gpu, &o, cluster);
}
