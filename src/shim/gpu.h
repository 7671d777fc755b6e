/* gpu.h - what the runtime library says about the modelled device. */
#ifndef WG_SHIM_GPU_H
#define WG_SHIM_GPU_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wg_gpu {
    char name[128]; /* as the driver spells it: "NVIDIA H200" */
    int major, minor, sms;
    int clock_khz, memory_clock_khz, bus_bits;
    int l2_bytes, persisting_l2_bytes;
    uint64_t memory; /* bytes */
    int threads_per_sm, blocks_per_sm, warps_per_sm;
    int regs_per_sm, regs_per_block;
    int shared_per_sm, shared_per_block, shared_optin, shared_reserved; /* bytes */
    int fp32_to_fp64; /* ratio of peak rates */
    int async_engines;
    bool cluster; /* thread block clusters exist */
};

/* Fill *gpu for a name (case-insensitive; NULL: the default). false: no such device. */
bool wg_gpu_find(const char *name, struct wg_gpu *gpu);
/* Blocks of one SM that can be resident together for a kernel; 0: not even one. */
int wg_gpu_blocks_per_sm(const struct wg_gpu *gpu, unsigned threads, unsigned registers, size_t shared);
#endif
