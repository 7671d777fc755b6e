/* gpu.h - what the runtime library says about the modelled device, from the tables of src/model. */
#ifndef WG_SHIM_GPU_H
#define WG_SHIM_GPU_H
#include "base/arena.h"
#include "model/gpus.h"

struct wg_device {
    char name[128]; /* as a driver spells it: "NVIDIA H200" */
    const struct wg_gpu *gpu;
    const struct wg_cc *cc;
    /* What programs ask for and the tables have in other units, or not at all (see gpu.c). */
    int clock_khz, memory_clock_khz, persisting_l2_bytes, fp32_to_fp64, async_engines;
    uint64_t memory; /* bytes */
};

/* Fill *out for a name or the path of a device file (NULL: the default device); what it points to lives in a. WG_OK or
 * a located message in d. */
enum wg_status wg_device_open(const char *name, struct wg_arena *a, struct wg_device *out, struct wg_diag *d);
/* Blocks of one SM that can be resident together for a kernel; 0: not even one. */
int wg_device_blocks(const struct wg_device *d, unsigned threads, unsigned registers, size_t static_shared,
                     size_t dynamic_shared);
/* Clusters of that many blocks resident on the whole device: estimated, see wg_occupancy_clusters. */
int wg_device_clusters(const struct wg_device *d, unsigned threads, unsigned registers, size_t static_shared,
                       size_t dynamic_shared, unsigned cluster);
#endif
