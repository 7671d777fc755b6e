// probe.cu - what the CUDA runtime answers to right and wrong calls, one line each: "group | call | answer".
// Built by nvcc 13 (and linked with older runtimes by -DOLD). On a GPU with NVIDIA's runtime it gives the truth that truth_h200.txt holds; with our library it must
// give the same lines. Each group runs in a process of its own, since some end the context.
#include <cooperative_groups.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <assert.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

static const char *group = "";
#define P(call) printf("%s | %s | %s\n", group, #call, cudaGetErrorName((cudaError_t)(call)))
#ifdef OLD // linked with a runtime of CUDA 11, which lacks these calls
#define N(call)
#else
#define N(call) P(call)
#endif
#define V(what, ...) (printf("%s | %s | ", group, what), printf(__VA_ARGS__), printf("\n"))

extern "C" {
__global__ void fine(int *p) { if (p) p[threadIdx.x] = 1; }
__global__ void none() {}
__global__ void __launch_bounds__(128) bound128(int *p) { if (p) *p = 1; }
__global__ void static4k(int *p) { __shared__ int t[1024]; t[threadIdx.x] = 1; __syncthreads(); if (p) *p = t[0]; }
__global__ void many_registers(float *p)
{
    float v[160];
#pragma unroll
    for (int i = 0; i < 160; i++) v[i] = p[i * 1024 + threadIdx.x];
    for (int k = 0; k < 100; k++)
#pragma unroll
        for (int i = 0; i < 160; i++) v[i] = v[i] * v[(i + 7) % 160] + 1.0f;
#pragma unroll
    for (int i = 0; i < 160; i++) p[i * 1024 + threadIdx.x] = v[i];
}
__global__ void fault_address(int *p) { *(volatile int *)((uintptr_t)p | 0x10) = 1; }
__global__ void fault_misaligned(char *p) { *(volatile int *)(p + 1) = 1; }
__global__ void fault_assert(int v) { assert(v == 1); }
__global__ void fault_trap() { asm volatile("trap;"); }
}
__device__ int var_device[16];
__constant__ int var_constant[16];
__managed__ int var_managed = 3;

static void last_error()
{
    P(cudaGetLastError());
    P(cudaSetDevice(99));
    P(cudaPeekAtLastError());
    P(cudaDeviceSynchronize());
    P(cudaGetLastError());
    P(cudaGetLastError());
    none<<<0, 1>>>();
    P(cudaDeviceSynchronize());
    P(cudaPeekAtLastError());
    P(cudaGetLastError());
    none<<<1, 1>>>();
    P(cudaGetLastError());
    P(cudaDeviceSynchronize());
    void *p = nullptr;
    P(cudaMalloc(&p, (size_t)1 << 50));
    none<<<1, 1>>>();
    P(cudaGetLastError());
}

static void memory()
{
    char *d, *p, *m, *q, mine[64];
    size_t a, b;
    P(cudaMalloc((void **)nullptr, 8));
    P(cudaMalloc(&d, 0));
    V("malloc 0 pointer", "%s", d ? "something" : "null");
    P(cudaMalloc(&d, (size_t)1 << 50));
    P(cudaMalloc(&d, 100));
    V("malloc alignment mod 256", "%d", (int)((uintptr_t)d % 256));
    P(cudaMallocHost((void **)&p, 100));
    P(cudaMallocManaged(&m, 100));
    P(cudaMallocManaged(&q, 0));
    P(cudaMallocManaged(&q, 8, 0));
    P(cudaMallocManaged(&q, 8, 4));
    P(cudaMallocHost((void **)&q, 0));
    V("mallochost 0 pointer", "%s", q ? "something" : "null");
    P(cudaHostAlloc((void **)&q, 8, 16));
    P(cudaHostAlloc((void **)nullptr, 8, 0));
    P(cudaFree(nullptr));
    P(cudaFreeHost(nullptr));
    P(cudaFree(d + 4));
    P(cudaFree(mine));
    P(cudaFree(p));
    P(cudaFreeHost(d));
    P(cudaFreeHost(mine));
    P(cudaFreeHost(p + 4));
    P(cudaFreeHost(m));
    P(cudaMemGetInfo(&a, &b));
    P(cudaMemGetInfo(nullptr, &b));
    P(cudaMemGetInfo(&a, nullptr));
    P(cudaMallocPitch((void **)&q, &a, 10, 6));
    V("pitch of 10", "%zu", a);
    P(cudaFree(q));
    P(cudaMallocPitch((void **)&q, &a, 513, 6));
    V("pitch of 513", "%zu", a);
    P(cudaFree(q));
    P(cudaMallocPitch((void **)&q, &a, 0, 6));
    V("pitch of 0", "%zu %s", a, q ? "something" : "null");
    P(cudaMallocPitch((void **)&q, nullptr, 10, 6));
    cudaPitchedPtr pp;
    P(cudaMalloc3D(&pp, make_cudaExtent(10, 4, 3)));
    V("malloc3D", "pitch %zu xsize %zu ysize %zu", pp.pitch, pp.xsize, pp.ysize);
    P(cudaFree(pp.ptr));
    P(cudaFree(d));
    P(cudaFree(d));
    P(cudaFree(m));
    P(cudaFreeHost(p));
    P(cudaFreeHost(p));
    P(cudaGetLastError());
}

static void copies()
{
    char *d, *d2, *p, *m, host[256], host2[256];
    memset(host, 1, sizeof host);
    cudaMalloc(&d, 100);
    cudaMalloc(&d2, 100);
    cudaMallocHost((void **)&p, 200);
    cudaMallocManaged(&m, 200);
    char *ends[4] = {host, d, p, m}, *ends2[4] = {host2, d2, p + 100, m + 100};
    static const char *const names[4] = {"host", "device", "pinned", "managed"};
    for (int kind = 0; kind < 5; kind++)
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 4; k++) {
                cudaError_t e = cudaMemcpy(ends[i], ends2[k], 8, (cudaMemcpyKind)kind);
                printf("%s | memcpy kind %d to %s from %s | %s\n", group, kind, names[i], names[k], cudaGetErrorName(e));
                cudaGetLastError();
            }
    P(cudaMemcpy(d, host, 100, cudaMemcpyHostToDevice));
    P(cudaMemcpy(d + 50, host, 51, cudaMemcpyHostToDevice));
    P(cudaMemcpy(d, host, 1 << 30, cudaMemcpyHostToDevice));
    P(cudaMemcpy(host, d + 99, 2, cudaMemcpyDeviceToHost));
    P(cudaMemcpy(d, d2, 101, cudaMemcpyDeviceToDevice));
    P(cudaMemcpy(d, host, 4, (cudaMemcpyKind)5));
    P(cudaMemcpy(d, host, 4, (cudaMemcpyKind)-1));
    P(cudaMemcpy(d, host, 0, (cudaMemcpyKind)9));
    P(cudaMemcpy(d, nullptr, 4, cudaMemcpyHostToDevice));
    P(cudaMemcpy(nullptr, host, 4, cudaMemcpyHostToDevice));
    P(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
    P(cudaMemcpy(host, host2, 0, cudaMemcpyHostToDevice));
    P(cudaMemcpyAsync(d, host, 4, cudaMemcpyHostToDevice, 0));
    P(cudaMemcpyAsync(d + 99, host, 4, cudaMemcpyHostToDevice, 0));
    P(cudaMemcpy2D(d, 20, host, 10, 10, 5, cudaMemcpyHostToDevice));
    P(cudaMemcpy2D(d, 20, host, 10, 10, 6, cudaMemcpyHostToDevice));
    P(cudaMemcpy2D(d, 9, host, 10, 10, 5, cudaMemcpyHostToDevice));
    P(cudaMemcpy2D(d, 10, host, 9, 10, 5, cudaMemcpyHostToDevice));
    P(cudaMemcpy2D(d, 9, host, 9, 10, 1, cudaMemcpyHostToDevice));
    P(cudaMemcpy2D(d, 20, host, 10, 0, 5, cudaMemcpyHostToDevice));
    P(cudaMemcpy2D(d, 20, host, 10, 10, 0, cudaMemcpyHostToDevice));
    P(cudaMemcpy2D(d, 20, host, 10, 10, 5, (cudaMemcpyKind)7));
    P(cudaMemcpy2D(host, 20, host2, 10, 10, 5, cudaMemcpyHostToDevice));
    P(cudaMemset(d, 0, 100));
    P(cudaMemset(d, 0, 101));
    P(cudaMemset(d + 60, 0, 41));
    P(cudaMemset(d, 0, 0));
    P(cudaMemset(nullptr, 0, 0));
    P(cudaMemset(nullptr, 0, 4));
    P(cudaMemset(host, 0, 4));
    P(cudaMemset(p, 0, 4));
    P(cudaMemset(m, 0, 4));
    P(cudaMemset2D(d, 20, 0, 10, 5));
    P(cudaMemset2D(d, 20, 0, 10, 6));
    P(cudaMemset2D(d, 9, 0, 10, 5));
    P(cudaMemset2D(d, 9, 0, 10, 1));
    P(cudaMemset2D(d, 20, 0, 0, 5));
    int v[32] = {0};
    void *at;
    size_t n;
    P(cudaMemcpyToSymbol(var_device, v, 64));
    P(cudaMemcpyToSymbol(var_device, v, 65));
    P(cudaMemcpyToSymbol(var_device, v, 4, 61));
    P(cudaMemcpyToSymbol(var_device, v, 4, 0, cudaMemcpyDeviceToHost));
    P(cudaMemcpyToSymbol(var_device, v, 4, 0, cudaMemcpyHostToHost));
    P(cudaMemcpyToSymbol(var_device, v, 4, 0, cudaMemcpyDefault));
    P(cudaMemcpyToSymbol(var_constant, v, 4));
    P(cudaMemcpyFromSymbol(v, var_constant, 64));
    P(cudaMemcpyFromSymbol(v, var_constant, 68));
    P(cudaMemcpyFromSymbol(v, var_constant, 4, 0, cudaMemcpyHostToDevice));
    P(cudaMemcpyToSymbol((const void *)v, v, 4));
    P(cudaMemcpyToSymbol((const void *)nullptr, v, 4));
    P(cudaGetSymbolAddress(&at, var_device));
    P(cudaGetSymbolAddress(&at, (const void *)v));
    P(cudaGetSymbolSize(&n, var_device));
    V("symbol size", "%zu", n);
    P(cudaGetSymbolSize(&n, (const void *)v));
    cudaMemcpy3DParms c = {};
    P(cudaMemcpy3D(&c));
    c.srcPtr = make_cudaPitchedPtr(host, 10, 10, 2);
    c.dstPtr = make_cudaPitchedPtr(d, 20, 10, 2);
    c.extent = make_cudaExtent(10, 2, 2);
    c.kind = cudaMemcpyHostToDevice;
    P(cudaMemcpy3D(&c));
    c.extent = make_cudaExtent(11, 2, 2);
    P(cudaMemcpy3D(&c));
    c.extent = make_cudaExtent(10, 3, 2);
    P(cudaMemcpy3D(&c));
    c.extent = make_cudaExtent(10, 2, 3);
    P(cudaMemcpy3D(&c));
    c.extent = make_cudaExtent(10, 0, 2);
    P(cudaMemcpy3D(&c));
    P(cudaMemcpyPeer(d, 0, d2, 0, 8));
    P(cudaMemcpyPeer(d, 1, d2, 0, 8));
    P(cudaFree(d));
    P(cudaMemcpy(d, host, 4, cudaMemcpyHostToDevice));
    P(cudaMemcpy(host, d, 4, cudaMemcpyDeviceToHost));
    P(cudaMemset(d, 0, 4));
}

static void show(const char *what, const void *p)
{
    cudaPointerAttributes a;
    memset(&a, 0x55, sizeof a);
    cudaError_t e = cudaPointerGetAttributes(&a, p);
    V(what, "%s type %d device %d devicePointer %s hostPointer %s", cudaGetErrorName(e), (int)a.type, a.device,
      a.devicePointer == p ? "same" : a.devicePointer ? "other" : "null",
      a.hostPointer == p ? "same" : a.hostPointer ? "other" : "null");
}

static void pointers()
{
    char *d, *p, *m, *q;
    static char mine[16384];
    unsigned f;
    cudaMalloc(&d, 100);
    cudaHostAlloc((void **)&p, 100, cudaHostAllocDefault);
    cudaMallocManaged(&m, 100);
    show("device", d);
    show("device inside", d + 99);
    show("pinned", p);
    show("pinned inside", p + 50);
    show("managed", m);
    show("pageable", mine);
    show("null", nullptr);
    void *at;
    cudaGetSymbolAddress(&at, var_device);
    show("variable", at);
    P(cudaPointerGetAttributes(nullptr, d));
    P(cudaHostGetFlags(&f, p));
    V("flags default", "%u", f);
    P(cudaHostGetFlags(&f, d));
    P(cudaHostGetFlags(&f, mine));
    cudaHostAlloc((void **)&q, 100, cudaHostAllocWriteCombined | cudaHostAllocPortable);
    P(cudaHostGetFlags(&f, q));
    V("flags write-combined portable", "%u", f);
    P(cudaHostGetDevicePointer(&at, p, 0));
    V("device pointer of pinned", "%s", at == p ? "same" : "other");
    P(cudaHostGetDevicePointer(&at, p, 1));
    P(cudaHostGetDevicePointer(&at, mine, 0));
    P(cudaHostGetDevicePointer(&at, d, 0));
    P(cudaHostGetDevicePointer(&at, m, 0));
    P(cudaHostRegister(nullptr, 8, 0));
    P(cudaHostRegister(mine, 0, 0));
    P(cudaHostRegister(mine, 8192, 64));
    P(cudaHostRegister(mine, 8192, 0));
    P(cudaHostRegister(mine, 8192, 0));
    P(cudaHostRegister(mine + 4096, 8192, 0));
    P(cudaHostRegister(p, 50, 0));
    show("registered", mine);
    P(cudaHostGetFlags(&f, mine));
    V("flags registered", "%u", f);
    P(cudaHostUnregister(mine + 8));
    P(cudaHostUnregister(mine));
    P(cudaHostUnregister(mine));
    P(cudaHostUnregister(nullptr));
    P(cudaHostUnregister(p));
    show("unregistered again", mine);
    cudaFree(d);
    show("freed", d);
    cudaMemLocation here = {cudaMemLocationTypeDevice, 0}, there = {cudaMemLocationTypeDevice, 3};
    P(cudaMemPrefetchAsync(m, 100, here, 0, 0));
    P(cudaMemPrefetchAsync(m, 101, here, 0, 0));
    P(cudaMemPrefetchAsync(m, 0, here, 0, 0));
    P(cudaMemPrefetchAsync(m, 100, there, 0, 0));
    P(cudaMemPrefetchAsync(p, 100, here, 0, 0));
    P(cudaMemAdvise(m, 100, cudaMemAdviseSetReadMostly, here));
    P(cudaMemAdvise(m, 100, (cudaMemoryAdvise)9, here));
    P(cudaMemAdvise(p, 100, cudaMemAdviseSetReadMostly, here));
    P(cudaStreamAttachMemAsync(0, m, 0, cudaMemAttachGlobal));
    P(cudaStreamAttachMemAsync(0, p, 0, cudaMemAttachGlobal));
    P(cudaStreamAttachMemAsync(0, m, 50, cudaMemAttachGlobal));
}

static void pools()
{
    cudaMemPool_t pool, own;
    char *a, *d;
    uint64_t v = 1;
    int i = -1;
    P(cudaDeviceGetDefaultMemPool(&pool, 0));
    P(cudaDeviceGetDefaultMemPool(&pool, 1));
    P(cudaMallocAsync(&a, 100, 0));
    P(cudaStreamSynchronize(0));
    P(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseFollowEventDependencies, &i));
    V("reuse", "%d", i);
    P(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &v));
    V("threshold", "%llu", (unsigned long long)v);
    P(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &v));
    V("used of 100", "%llu", (unsigned long long)v);
    P(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &v));
    V("reserved of 100", "%llu", (unsigned long long)v);
    show("async", a);
    P(cudaFreeAsync(a, 0));
    P(cudaFreeAsync(a, 0));
    P(cudaFreeAsync(nullptr, 0));
    P(cudaMalloc(&d, 100));
    P(cudaFreeAsync(d, 0));
    P(cudaDeviceSynchronize());
    P(cudaMallocAsync(&a, 100, 0));
    P(cudaFree(a));
    P(cudaMallocAsync(&a, 0, 0));
    V("mallocasync 0 pointer", "%s", a ? "something" : "null");
    P(cudaMemPoolDestroy(pool));
    P(cudaMemPoolTrimTo(pool, 0));
    v = 5;
    P(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &v));
    P(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &v));
    P(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &v));
    P(cudaMemPoolGetAttribute(pool, (cudaMemPoolAttr)77, &v));
    cudaMemPoolProps props = {};
    P(cudaMemPoolCreate(&own, &props));
    props.allocType = cudaMemAllocationTypePinned;
    props.location = {cudaMemLocationTypeDevice, 0};
    P(cudaMemPoolCreate(&own, &props));
    P(cudaMallocFromPoolAsync((void **)&a, 100, own, 0));
    P(cudaFreeAsync(a, 0));
    P(cudaMemPoolDestroy(own));
}

static void launches()
{
    int *d;
    float *big;
    cudaFuncAttributes a;
    cudaMalloc(&d, 4096);
    cudaMalloc(&big, 160 * 1024 * 4);
#define L(...) (none<<<__VA_ARGS__>>>(), printf("%s | none<<<%s>>> | %s\n", group, #__VA_ARGS__, cudaGetErrorName(cudaGetLastError())))
    L(1, 1);
    L(0, 1);
    L(1, 0);
    L(1, 1024);
    L(1, 1025);
    L(1, dim3(1, 1024));
    L(1, dim3(1, 1025));
    L(1, dim3(1, 1, 64));
    L(1, dim3(1, 1, 65));
    L(1, dim3(32, 33));
    L(dim3(1, 65535), 1);
    L(dim3(1, 65536), 1);
    L(dim3(1, 1, 65536), 1);
    L(2147483648u, 1);
    L(1, 1, 49152);
    L(1, 1, 49153);
    L(1, 1, 300000);
#define M(k, arg, ...) (k<<<__VA_ARGS__>>>(arg), printf("%s | %s<<<%s>>> | %s\n", group, #k, #__VA_ARGS__, cudaGetErrorName(cudaGetLastError())))
    M(bound128, d, 1, 128);
    M(bound128, d, 1, 129);
    M(bound128, d, 1, 1025);
    M(static4k, d, 1, 32, 49152 - 4096);
    M(static4k, d, 1, 32, 49152 - 4095);
    M(static4k, d, 1, 32, 49152);
    M(many_registers, big, 1, 32);
    M(many_registers, big, 1, 1024);
    P(cudaDeviceSynchronize());
    P(cudaFuncSetAttribute(static4k, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    M(static4k, d, 1, 32, 100000);
    M(static4k, d, 1, 32, 100001);
    P(cudaFuncSetAttribute(static4k, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448 - 4096));
    M(static4k, d, 1, 32, 232448 - 4096);
    P(cudaFuncSetAttribute(static4k, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448 - 4095));
    P(cudaFuncSetAttribute(static4k, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449));
    P(cudaFuncSetAttribute(static4k, cudaFuncAttributeMaxDynamicSharedMemorySize, 1000));
    M(static4k, d, 1, 32, 1001);
    M(static4k, d, 1, 32, 30000);
    P(cudaFuncSetAttribute(static4k, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
    P(cudaFuncSetAttribute(static4k, cudaFuncAttributeMaxDynamicSharedMemorySize, 0));
    P(cudaFuncSetAttribute(none, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    P(cudaFuncSetAttribute(none, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
    P(cudaFuncSetAttribute(none, cudaFuncAttributePreferredSharedMemoryCarveout, -2));
    P(cudaFuncSetAttribute(none, (cudaFuncAttribute)99, 1));
    P(cudaFuncSetAttribute(none, (cudaFuncAttribute)7, 1));
    P(cudaFuncSetAttribute((const void *)nullptr, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
    P(cudaFuncSetCacheConfig(none, (cudaFuncCache)7));
    P(cudaFuncGetAttributes(nullptr, none));
    P(cudaFuncGetAttributes(&a, (const void *)nullptr));
    P(cudaFuncGetAttributes(&a, static4k));
    V("static4k", "shared %zu maxDynamic %d carveout %d cacheModeCA %d", a.sharedSizeBytes, a.maxDynamicSharedSizeBytes,
      a.preferredShmemCarveout, a.cacheModeCA);
    P(cudaFuncGetAttributes(&a, none));
    V("none", "threads %d maxDynamic %d carveout %d ptx %d binary %d", a.maxThreadsPerBlock, a.maxDynamicSharedSizeBytes,
      a.preferredShmemCarveout, a.ptxVersion, a.binaryVersion);
    P(cudaFuncGetAttributes(&a, bound128));
    V("bound128", "threads %d", a.maxThreadsPerBlock);
    P(cudaFuncGetAttributes(&a, many_registers));
    V("many_registers", "threads below 1024: %d", a.maxThreadsPerBlock < 1024);
    void *args[1] = {&d};
    static char alien;
    P(cudaLaunchKernel((const void *)&alien, 1, 1, args, 0, 0));
    P(cudaLaunchKernel((const void *)nullptr, 1, 1, args, 0, 0));
    P(cudaLaunchCooperativeKernel((const void *)fine, 1, 32, args, 0, 0));
    P(cudaLaunchCooperativeKernel((const void *)fine, 132 * 32, 32, args, 0, 0));
    P(cudaLaunchCooperativeKernel((const void *)fine, 132 * 32 + 1, 32, args, 0, 0));
    P(cudaLaunchCooperativeKernel((const void *)fine, 0, 32, args, 0, 0));
    cudaLaunchAttribute at[2] = {};
    at[0].id = cudaLaunchAttributeClusterDimension;
    at[0].val.clusterDim.x = 2;
    at[0].val.clusterDim.y = at[0].val.clusterDim.z = 1;
    cudaLaunchConfig_t c = {};
    c.gridDim = 4;
    c.blockDim = 32;
    c.attrs = at;
    c.numAttrs = 1;
    P(cudaLaunchKernelExC(&c, (const void *)fine, args));
    c.gridDim = 3;
    P(cudaLaunchKernelExC(&c, (const void *)fine, args));
    at[0].val.clusterDim.x = 16;
    c.gridDim = 16;
    P(cudaLaunchKernelExC(&c, (const void *)fine, args));
    at[0].val.clusterDim.x = 0;
    P(cudaLaunchKernelExC(&c, (const void *)fine, args));
    P(cudaFuncSetAttribute(fine, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    at[0].val.clusterDim.x = 16;
    P(cudaLaunchKernelExC(&c, (const void *)fine, args));
    at[0].id = (cudaLaunchAttributeID)200;
    P(cudaLaunchKernelExC(&c, (const void *)fine, args));
    P(cudaDeviceSynchronize());
    int n = -1;
    size_t s = 0;
    P(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, none, 256, 0));
    V("blocks 256", "%d", n);
    P(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, none, 0, 0));
    P(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, none, -1, 0));
    P(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, none, 1025, 0));
    V("blocks 1025", "%d", n);
    P(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, none, 32, 49153));
    V("blocks 49153 shared", "%d", n);
    P(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, none, 32, 232449));
    V("blocks 232449 shared", "%d", n);
    P(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, bound128, 256, 0));
    V("blocks bound128 256", "%d", n);
    P(cudaOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, none, 256, 0));
    P(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)&alien, 256, 0));
    P(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, none, 256, 0, 2));
    P(cudaOccupancyAvailableDynamicSMemPerBlock(&s, none, 2, 256));
    V("available 2", "%zu", s);
    P(cudaOccupancyAvailableDynamicSMemPerBlock(&s, none, 1, 256));
    V("available 1", "%zu", s);
    P(cudaOccupancyAvailableDynamicSMemPerBlock(&s, static4k, 3, 256));
    V("available static4k 3", "%zu", s);
    P(cudaOccupancyAvailableDynamicSMemPerBlock(&s, none, 9, 256));
    V("available 9", "%zu", s);
    P(cudaOccupancyAvailableDynamicSMemPerBlock(&s, none, 0, 256));
    c.attrs = nullptr;
    c.numAttrs = 0;
    c.gridDim = 64;
    c.blockDim = 128;
    P(cudaOccupancyMaxPotentialClusterSize(&n, none, &c));
    V("cluster size", "%d", n);
    at[0].id = cudaLaunchAttributeClusterDimension;
    at[0].val.clusterDim.x = 2;
    c.attrs = at;
    c.numAttrs = 1;
    P(cudaOccupancyMaxActiveClusters(&n, none, &c));
    const char *name = nullptr;
    N(cudaFuncGetName(&name, (const void *)none));
    V("name", "%s", name ? name : "(null)");
    N(cudaFuncGetParamInfo((const void *)fine, 0, &s, &s));
    N(cudaFuncGetParamInfo((const void *)fine, 1, &s, &s));
}

static void streams()
{
    cudaStream_t s, t;
    cudaEvent_t a, b, c;
    int lo = 9, hi = 9, p;
    unsigned f;
    unsigned long long id;
    float ms;
    P(cudaDeviceGetStreamPriorityRange(&lo, &hi));
    V("range", "%d %d", lo, hi);
    P(cudaDeviceGetStreamPriorityRange(nullptr, nullptr));
    P(cudaStreamCreate(&s));
    P(cudaStreamCreateWithPriority(&t, cudaStreamNonBlocking, -99));
    P(cudaStreamGetPriority(t, &p));
    V("clamped", "%d", p);
    P(cudaStreamGetFlags(t, &f));
    V("flags", "%u", f);
    P(cudaStreamGetFlags(0, &f));
    V("flags default", "%u", f);
    P(cudaStreamGetFlags(cudaStreamPerThread, &f));
    V("flags per thread", "%u", f);
    P(cudaStreamGetPriority(0, &p));
    V("priority default", "%d", p);
    N(cudaStreamGetId(cudaStreamLegacy, &id));
    V("id legacy", "%llu", id);
    N(cudaStreamGetId(cudaStreamPerThread, &id));
    V("id per thread", "%llu", id);
    P(cudaStreamCreate(nullptr));
    P(cudaStreamCreateWithFlags(&t, 2));
    P(cudaStreamGetPriority(s, nullptr));
    P(cudaStreamDestroy(0));
    P(cudaStreamDestroy(cudaStreamLegacy));
    P(cudaStreamDestroy(cudaStreamPerThread));
    P(cudaStreamQuery(s));
    P(cudaStreamQuery(0));
    P(cudaStreamSynchronize(cudaStreamPerThread));
    P(cudaEventCreate(&a));
    P(cudaEventCreate(&b));
    P(cudaEventCreate(nullptr));
    P(cudaEventCreateWithFlags(&c, 64));
    P(cudaEventCreateWithFlags(&c, cudaEventInterprocess));
    P(cudaEventCreateWithFlags(&c, cudaEventDisableTiming));
    P(cudaEventQuery(a));
    P(cudaEventSynchronize(a));
    P(cudaEventElapsedTime(&ms, a, b));
    P(cudaEventRecord(a, s));
    P(cudaEventElapsedTime(&ms, a, b));
    P(cudaEventRecord(b, s));
    P(cudaEventSynchronize(b));
    P(cudaEventElapsedTime(&ms, a, b));
    P(cudaEventElapsedTime(nullptr, a, b));
    P(cudaEventRecord(c, s));
    P(cudaStreamSynchronize(s));
    P(cudaEventElapsedTime(&ms, a, c));
    P(cudaEventRecordWithFlags(a, s, 2));
    P(cudaEventRecord(nullptr, s));
    P(cudaEventQuery(nullptr));
    P(cudaEventDestroy(nullptr));
    P(cudaStreamWaitEvent(s, nullptr, 0));
    P(cudaStreamWaitEvent(s, a, 0));
    P(cudaStreamWaitEvent(s, a, 2));
    P(cudaStreamAddCallback(s, nullptr, nullptr, 0));
    P(cudaLaunchHostFunc(s, nullptr, nullptr));
    cudaStreamCaptureStatus cs;
    P(cudaStreamIsCapturing(s, &cs));
    V("capturing", "%d", (int)cs);
    P(cudaEventDestroy(a));
    P(cudaStreamDestroy(s));
}

static void devices()
{
    int n = -1, v = -1;
    unsigned f = 99;
    char bus[32];
    size_t z;
    P(cudaGetDeviceCount(&n));
    P(cudaGetDeviceCount(nullptr));
    P(cudaGetDeviceFlags(&f));
    V("flags", "%u", f);
    P(cudaSetDevice(-1));
    P(cudaSetDevice(n));
    P(cudaGetDevice(nullptr));
    cudaDeviceProp p;
    P(cudaGetDeviceProperties(&p, n));
    P(cudaGetDeviceProperties(nullptr, 0));
    P(cudaGetDeviceProperties(&p, 0));
    V("name", "%s", p.name);
    P(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, n));
    P(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
    for (int i = 0; i < 160; i++) {
        v = -777;
        cudaError_t e = cudaDeviceGetAttribute(&v, (cudaDeviceAttr)i, 0);
        char what[40];
        snprintf(what, sizeof what, "attribute %d", i);
        V(what, "%s %d", cudaGetErrorName(e), v);
    }
    V("properties", "canMap %d l2 %d persisting %d window %d pools %d handles %u rdma %d unified %d numa %d %d %d", p.canMapHostMemory,
      p.l2CacheSize, p.persistingL2CacheMaxSize, p.accessPolicyMaxWindowSize, p.memoryPoolsSupported,
      p.memoryPoolSupportedHandleTypes, p.gpuDirectRDMASupported, p.unifiedFunctionPointers, p.deviceNumaConfig,
      p.deviceNumaId, p.hostNumaId);
    for (int i = 0; i < 8; i++) {
        char what[40];
        z = 12345;
        snprintf(what, sizeof what, "limit %d", i);
        cudaError_t e = cudaDeviceGetLimit(&z, (cudaLimit)i);
        V(what, "%s %zu", cudaGetErrorName(e), z);
    }
    P(cudaDeviceGetLimit(nullptr, cudaLimitStackSize));
    P(cudaDeviceSetLimit((cudaLimit)99, 1));
    P(cudaDeviceSetLimit(cudaLimitStackSize, 2000));
    cudaDeviceGetLimit(&z, cudaLimitStackSize);
    V("stack after 2000", "%zu", z);
    P(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 26));
    cudaDeviceGetLimit(&z, cudaLimitMallocHeapSize);
    V("heap after 64 MiB", "%zu", z);
    P(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1000));
    cudaDeviceGetLimit(&z, cudaLimitMallocHeapSize);
    V("heap after 1000", "%zu", z);
    P(cudaDeviceSetLimit(cudaLimitStackSize, (size_t)1 << 40));
    P(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20));
    P(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 100));
    cudaFuncCache fc = (cudaFuncCache)9;
    P(cudaDeviceGetCacheConfig(&fc));
    V("cache", "%d", (int)fc);
    P(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    cudaDeviceGetCacheConfig(&fc);
    V("cache after", "%d", (int)fc);
    P(cudaDeviceSetCacheConfig((cudaFuncCache)9));
    cudaSharedMemConfig sc = (cudaSharedMemConfig)9;
    P(cudaDeviceGetSharedMemConfig(&sc));
    V("banks", "%d", (int)sc);
    P(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
    P(cudaDeviceSetSharedMemConfig((cudaSharedMemConfig)9));
    P(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    cudaGetDeviceFlags(&f);
    V("flags after", "%u", f);
    P(cudaSetDeviceFlags(0x1000));
    P(cudaSetDeviceFlags(3));
    P(cudaDeviceCanAccessPeer(&v, 0, 0));
    V("peer", "%d", v);
    P(cudaDeviceCanAccessPeer(&v, 0, n));
    P(cudaDeviceEnablePeerAccess(0, 0));
    P(cudaDeviceEnablePeerAccess(n, 0));
    P(cudaDeviceEnablePeerAccess(0, 1));
    P(cudaDeviceDisablePeerAccess(0));
    P(cudaDeviceDisablePeerAccess(n));
    P(cudaDeviceGetP2PAttribute(&v, cudaDevP2PAttrAccessSupported, 0, 0));
    P(cudaDeviceGetPCIBusId(bus, 32, n));
    P(cudaDeviceGetPCIBusId(bus, 12, 0));
    P(cudaDeviceGetPCIBusId(bus, 13, 0));
    V("bus id length", "%zu", strlen(bus));
    P(cudaDeviceGetPCIBusId(nullptr, 13, 0));
    P(cudaDeviceGetByPCIBusId(&v, "nonsense"));
    P(cudaDeviceGetByPCIBusId(&v, "0000:7f:1f.0"));
    P(cudaDeviceGetByPCIBusId(nullptr, bus));
    P(cudaRuntimeGetVersion(nullptr));
    P(cudaRuntimeGetVersion(&v));
    V("runtime", "%d", v);
    P(cudaDriverGetVersion(&v));
    V("driver", "%d", v);
    P(cudaChooseDevice(&v, &p));
    P(cudaSetValidDevices(&v, 1));
    P(cudaSetValidDevices(nullptr, 1));
    N(cudaInitDevice(0, 0, 0));
    N(cudaInitDevice(n, 0, 0));
    N(cudaInitDevice(0, 0, 8));
    P(cudaProfilerStart());
    P(cudaCtxResetPersistingL2Cache());
    char *d;
    cudaMalloc(&d, 10);
    P(cudaDeviceReset());
    P(cudaFree(d));
    P(cudaGetLastError());
    P(cudaMemset(d, 0, 1));
    none<<<1, 1>>>();
    P(cudaDeviceSynchronize());
}

static void after_fault()
{
    void *p;
    int n;
    cudaStream_t s;
    cudaEvent_t e;
    cudaFuncAttributes a;
    cudaPointerAttributes pa;
    cudaDeviceProp prop;
    P(cudaGetLastError());
    P(cudaPeekAtLastError());
    P(cudaDeviceSynchronize());
    P(cudaPeekAtLastError());
    P(cudaGetLastError());
    P(cudaGetLastError());
    P(cudaMalloc(&p, 8));
    P(cudaMalloc(&p, 0));
    P(cudaFree(nullptr));
    P(cudaGetLastError());
    P(cudaGetLastError());
    P(cudaGetDevice(&n));
    P(cudaGetDeviceCount(&n));
    P(cudaSetDevice(0));
    P(cudaSetDevice(99));
    P(cudaGetDeviceProperties(&prop, 0));
    P(cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 0));
    P(cudaRuntimeGetVersion(&n));
    P(cudaFuncGetAttributes(&a, none));
    P(cudaPointerGetAttributes(&pa, &n));
    P(cudaMallocHost(&p, 8));
    P(cudaStreamCreate(&s));
    P(cudaEventCreate(&e));
    P(cudaStreamQuery(0));
    P(cudaStreamSynchronize(0));
    none<<<1, 1>>>();
    P(cudaGetLastError());
    none<<<0, 1>>>();
    P(cudaGetLastError());
    P(cudaMemcpy(&n, &n, 0, cudaMemcpyHostToDevice));
    P(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, none, 256, 0));
    P(cudaDeviceGetLimit((size_t *)&p, cudaLimitStackSize));
    P(cudaDeviceReset());
    P(cudaGetLastError());
    P(cudaMalloc(&p, 8));
    P(cudaDeviceSynchronize());
    P(cudaGetLastError());
}
// The pause lets a GPU finish before the next call, as our library always has.
#define FAULT(name, k, ...)                                                                                            \
    static void name()                                                                                                 \
    {                                                                                                                  \
        char *d;                                                                                                       \
        cudaMalloc(&d, 256);                                                                                           \
        cudaDeviceSynchronize();                                                                                       \
        k<<<1, 1>>>(__VA_ARGS__);                                                                                      \
        usleep(300000);                                                                                                \
        after_fault();                                                                                                 \
    }
FAULT(fault_of_address, fault_address, nullptr)
FAULT(fault_of_alignment, fault_misaligned, d)
FAULT(fault_of_assert, fault_assert, 0)
FAULT(fault_of_trap, fault_trap, )

static void blocking()
{
    int *d = nullptr;
    void *args[1] = {&d};
    cudaFree(0);
    P(cudaLaunchKernel((const void *)fault_address, 1, 1, args, 0, 0));
    P(cudaGetLastError());
    P(cudaGetLastError());
    P(cudaDeviceSynchronize());
}

struct item { const char *name; void (*run)(); };
static const item items[] = {{"last", last_error}, {"memory", memory}, {"copies", copies}, {"pointers", pointers},
                             {"pools", pools}, {"launches", launches}, {"streams", streams}, {"devices", devices},
                             {"address", fault_of_address}, {"alignment", fault_of_alignment},
                             {"assert", fault_of_assert}, {"trap", fault_of_trap}, {"blocking", blocking}};

int main(int argc, char **argv)
{
    setvbuf(stdout, nullptr, _IOLBF, 0);
    for (const item &i : items) {
        if (argc > 1 && strcmp(argv[1], i.name) != 0)
            continue;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            group = i.name;
            if (strcmp(i.name, "blocking") == 0)
                setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
            i.run();
            fflush(stdout);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (status)
            printf("%s | ended | signal %d exit %d\n", i.name, WTERMSIG(status), WEXITSTATUS(status));
    }
    return 0;
}
