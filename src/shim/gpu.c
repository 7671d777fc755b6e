/* gpu.c - the device's limits and how many blocks fit, for the runtime library's queries. */
#include "shim/gpu.h"
#include <string.h>
#include <strings.h>

/* NVIDIA H200: limits of compute capability 9.0 (CUDA programming guide, table of technical specifications) and what
 * its driver reports for clocks, sizes and unit counts. */
static const struct wg_gpu h200 = {
    .name = "NVIDIA H200", .major = 9, .minor = 0, .sms = 132, .clock_khz = 1980000, .memory_clock_khz = 3201000,
    .bus_bits = 6144, .l2_bytes = 62914560, .persisting_l2_bytes = 39321600, .memory = 150110011392,
    .threads_per_sm = 2048, .blocks_per_sm = 32, .warps_per_sm = 64, .regs_per_sm = 65536, .regs_per_block = 65536,
    .shared_per_sm = 233472, .shared_per_block = 49152, .shared_optin = 232448, .shared_reserved = 1024,
    .fp32_to_fp64 = 2, .async_engines = 3, .cluster = true,
};

bool wg_gpu_find(const char *name, struct wg_gpu *gpu)
{
    if (name && strcasecmp(name, "H200") != 0)
        return false;
    *gpu = h200;
    return true;
}

static unsigned up(unsigned v, unsigned unit) { return (v + unit - 1) / unit * unit; }

int wg_gpu_blocks_per_sm(const struct wg_gpu *gpu, unsigned threads, unsigned registers, size_t shared)
{
    if (threads == 0 || threads > 1024 || shared > (size_t)gpu->shared_optin)
        return 0;
    const unsigned warps = (threads + 31) / 32;
    unsigned fit = (unsigned)gpu->warps_per_sm / warps;
    if (fit > (unsigned)gpu->blocks_per_sm)
        fit = (unsigned)gpu->blocks_per_sm;
    if (registers) { /* a warp's registers come in units of 256, from one of four parts of the file */
        const unsigned per_warp = up(registers * 32, 256);
        if (per_warp * up(warps, 4) > (unsigned)gpu->regs_per_block)
            return 0;
        const unsigned by_regs = (unsigned)gpu->regs_per_sm / 4 / per_warp * 4 / warps;
        fit = by_regs < fit ? by_regs : fit;
    }
    const unsigned bytes = up((unsigned)shared + (unsigned)gpu->shared_reserved, 128);
    const unsigned by_shared = (unsigned)gpu->shared_per_sm / bytes;
    return (int)(by_shared < fit ? by_shared : fit);
}
