/* launch.h - tests/ops/launch.h on a real GPU: the same tests of PTX through the driver API. run.sh includes it first. */
#ifndef TESTS_OPS_LAUNCH_H
#define TESTS_OPS_LAUNCH_H
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum wg_status { WG_OK, WG_INVALID, WG_UNSUPPORTED, WG_KERNEL_FAULT };
struct wg { int unused; };
enum { WG_TOOL_MEMCHECK = 1, WG_TOOL_RACECHECK = 2, WG_TOOL_INITCHECK = 4, WG_TOOL_SYNCCHECK = 8 };
#define WARPGRIND_WARPGRIND_H /* all that the tests need of it is above */

static void must(CUresult r, const char *what)
{
    const char *s = "?";
    if (r == CUDA_SUCCESS)
        return;
    cuGetErrorString(r, &s);
    printf("%s: %s\n", what, s);
    exit(1);
}
static struct wg *open_device(unsigned tools)
{
    static struct wg g;
    CUdevice d;
    CUcontext c;
    (void)tools;
    must(cuInit(0), "cuInit");
    must(cuDeviceGet(&d, 0), "cuDeviceGet");
    must(cuDevicePrimaryCtxRetain(&c, d), "context");
    must(cuCtxSetCurrent(c), "context");
    return &g;
}
static uint64_t buffer(struct wg *g, size_t bytes)
{
    CUdeviceptr p;
    (void)g;
    must(cuMemAllocManaged(&p, bytes, CU_MEM_ATTACH_GLOBAL), "memory");
    memset((void *)p, 0, bytes);
    return p;
}
static enum wg_status run_ptx(struct wg *g, const char *name, const char *ptx, unsigned grid, unsigned block,
                              unsigned cluster, size_t shared, uint64_t *args, unsigned nargs, enum wg_status want)
{
    CUmodule m;
    CUfunction f;
    void *p[16];
    CUlaunchAttribute a = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    CUlaunchConfig c = {.gridDimX = grid, .gridDimY = 1, .gridDimZ = 1, .blockDimX = block, .blockDimY = 1,
                        .blockDimZ = 1, .sharedMemBytes = (unsigned)shared, .attrs = &a, .numAttrs = cluster != 0};
    (void)g;
    (void)want;
    a.value.clusterDim.x = cluster;
    a.value.clusterDim.y = a.value.clusterDim.z = 1;
    for (unsigned k = 0; k < nargs; k++)
        p[k] = &args[k];
    must(cuModuleLoadData(&m, ptx), name);
    must(cuModuleGetFunction(&f, m, "k"), name);
    if (shared > 48 << 10)
        must(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared), name);
    must(cuLaunchKernelEx(&c, f, p, NULL), name);
    must(cuCtxSynchronize(), name);
    must(cuModuleUnload(m), name);
    return WG_OK;
}
static inline unsigned findings(struct wg *g) { return g == NULL; }
static inline void wg_host_writes(struct wg *g, uint64_t addr, size_t bytes) { (void)g, (void)addr, (void)bytes; }
static inline void wg_close(struct wg *g) { (void)g; }
static inline uint32_t draw(uint64_t *s) /* as in tests/ops/launch.h */
{
    uint64_t z = *s += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (uint32_t)(z >> 33);
}

/* ---- tensor maps by the driver ---- */
#include <warpgrind/tensormap.h>
static inline unsigned wg_tensormap_type_bytes_gpu(unsigned type)
{
    static const uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return type < sizeof bytes ? bytes[type] : 0;
}
static struct wg_tensormap_tiled last_map;
static inline enum wg_status encode_gpu(void *map, const struct wg_tensormap_tiled *t, const char **why)
{
    static CUtensorMap m;
    CUresult r = cuTensorMapEncodeTiled(
        &m, (CUtensorMapDataType)t->type, t->rank, (void *)t->address, t->dim, t->stride, t->box, t->step,
        (CUtensorMapInterleave)t->interleave, (CUtensorMapSwizzle)t->swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        (CUtensorMapFloatOOBfill)t->oob_nan);
    if (why)
        *why = r ? "the driver refuses it" : NULL;
    if (r)
        return WG_INVALID;
    memcpy(map, &m, sizeof m);
    last_map = *t;
    return WG_OK;
}
static inline bool decode_gpu(const void *map, struct wg_tensormap_tiled *out)
{
    *out = last_map;
    return *(const uint64_t *)map != 0;
}
#define wg_tensormap_type_bytes wg_tensormap_type_bytes_gpu
#define wg_tensormap_encode_tiled encode_gpu
#define wg_tensormap_decode decode_gpu
#endif
