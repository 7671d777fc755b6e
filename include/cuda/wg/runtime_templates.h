/* wg/runtime_templates.h - the C++ forms of the runtime API: typed pointers, kernels and symbols as arguments, and the
 * shorter argument lists of older CUDA releases. */
#ifndef WG_CUDA_RUNTIME_TEMPLATES_H
#define WG_CUDA_RUNTIME_TEMPLATES_H
#define WG_T template <class T> static __inline__ __host__ cudaError_t

/* ---- typed pointers ---- */
template <class T> static __inline__ __host__ __device__ cudaError_t cudaMalloc(T **p, size_t size)
{
    return cudaMalloc((void **)(void *)p, size);
}
WG_T cudaMallocHost(T **p, size_t size, unsigned int flags = 0)
{
    return cudaHostAlloc((void **)(void *)p, size, flags);
}
static __inline__ __host__ cudaError_t cudaMallocHost(void **p, size_t size, unsigned int flags)
{
    return cudaHostAlloc(p, size, flags);
}
WG_T cudaHostAlloc(T **p, size_t size, unsigned int flags) { return cudaHostAlloc((void **)(void *)p, size, flags); }
WG_T cudaHostGetDevicePointer(T **p, void *host, unsigned int flags)
{
    return cudaHostGetDevicePointer((void **)(void *)p, host, flags);
}
WG_T cudaMallocManaged(T **p, size_t size, unsigned int flags = cudaMemAttachGlobal)
{
    return cudaMallocManaged((void **)(void *)p, size, flags);
}
WG_T cudaMallocPitch(T **p, size_t *pitch, size_t width, size_t height)
{
    return cudaMallocPitch((void **)(void *)p, pitch, width, height);
}
WG_T cudaMallocAsync(T **p, size_t size, cudaStream_t stream)
{
    return cudaMallocAsync((void **)(void *)p, size, stream);
}
WG_T cudaMallocFromPoolAsync(T **p, size_t size, cudaMemPool_t pool, cudaStream_t stream)
{
    return cudaMallocFromPoolAsync((void **)(void *)p, size, pool, stream);
}
static __inline__ __host__ cudaError_t cudaMallocAsync(void **p, size_t size, cudaMemPool_t pool, cudaStream_t stream)
{
    return cudaMallocFromPoolAsync(p, size, pool, stream);
}
WG_T cudaMallocAsync(T **p, size_t size, cudaMemPool_t pool, cudaStream_t stream)
{
    return cudaMallocFromPoolAsync((void **)(void *)p, size, pool, stream);
}
WG_T cudaStreamAttachMemAsync(cudaStream_t stream, T *p, size_t length = 0, unsigned int flags = cudaMemAttachSingle)
{
    return cudaStreamAttachMemAsync(stream, (void *)p, length, flags);
}

/* ---- symbols ---- */
WG_T cudaMemcpyToSymbol(const T &symbol, const void *src, size_t count, size_t offset = 0,
                        cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return cudaMemcpyToSymbol((const void *)&symbol, src, count, offset, kind);
}
WG_T cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t count, size_t offset = 0,
                             cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0)
{
    return cudaMemcpyToSymbolAsync((const void *)&symbol, src, count, offset, kind, stream);
}
WG_T cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t count, size_t offset = 0,
                          cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return cudaMemcpyFromSymbol(dst, (const void *)&symbol, count, offset, kind);
}
WG_T cudaMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t count, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = 0)
{
    return cudaMemcpyFromSymbolAsync(dst, (const void *)&symbol, count, offset, kind, stream);
}
WG_T cudaGetSymbolAddress(void **p, const T &symbol) { return cudaGetSymbolAddress(p, (const void *)&symbol); }
template <class P, class T> static __inline__ __host__ cudaError_t cudaGetSymbolAddress(P **p, const T &symbol)
{
    return cudaGetSymbolAddress((void **)(void *)p, (const void *)&symbol);
}
WG_T cudaGetSymbolSize(size_t *size, const T &symbol) { return cudaGetSymbolSize(size, (const void *)&symbol); }

/* ---- kernels ---- */
WG_T cudaLaunchKernel(T *func, dim3 grid, dim3 block, void **args, size_t shared = 0, cudaStream_t stream = 0)
{
    return cudaLaunchKernel((const void *)func, grid, block, args, shared, stream);
}
WG_T cudaLaunchCooperativeKernel(T *func, dim3 grid, dim3 block, void **args, size_t shared = 0,
                                 cudaStream_t stream = 0)
{
    return cudaLaunchCooperativeKernel((const void *)func, grid, block, args, shared, stream);
}
static __inline__ __host__ cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, const void *func,
                                                          void **args)
{
    return cudaLaunchKernelExC(config, func, args);
}
#if __cplusplus >= 201103L
template <class... E, class... A>
static __inline__ __host__ cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(E...),
                                                          A &&...args)
{
    return [&](E... converted) {
        void *list[] = {(void *)&converted..., nullptr};
        return cudaLaunchKernelExC(config, (const void *)kernel, list);
    }(static_cast<A &&>(args)...);
}
#endif
WG_T cudaFuncSetCacheConfig(T *func, cudaFuncCache config) { return cudaFuncSetCacheConfig((const void *)func, config); }
WG_T cudaFuncSetSharedMemConfig(T *func, cudaSharedMemConfig config)
{
    return cudaFuncSetSharedMemConfig((const void *)func, config);
}
WG_T cudaFuncGetAttributes(cudaFuncAttributes *attr, T *func)
{
    return cudaFuncGetAttributes(attr, (const void *)func);
}
WG_T cudaFuncSetAttribute(T *func, cudaFuncAttribute attr, int value)
{
    return cudaFuncSetAttribute((const void *)func, attr, value);
}
WG_T cudaFuncGetName(const char **name, T *func) { return cudaFuncGetName(name, (const void *)func); }
WG_T cudaGetKernel(cudaKernel_t *kernel, T *func) { return cudaGetKernel(kernel, (const void *)func); }
WG_T cudaGetFuncBySymbol(cudaFunction_t *function, T *func)
{
    return cudaGetFuncBySymbol(function, (const void *)func);
}

/* ---- occupancy ---- */
WG_T cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T func, int blockSize, size_t shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)func, blockSize, shared);
}
WG_T cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T func, int blockSize, size_t shared,
                                                            unsigned int flags)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void *)func, blockSize, shared, flags);
}
WG_T cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, T *func, int blocks, int blockSize)
{
    return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, (const void *)func, blocks, blockSize);
}
WG_T cudaOccupancyMaxPotentialClusterSize(int *size, T *func, const cudaLaunchConfig_t *config)
{
    return cudaOccupancyMaxPotentialClusterSize(size, (const void *)func, config);
}
WG_T cudaOccupancyMaxActiveClusters(int *clusters, T *func, const cudaLaunchConfig_t *config)
{
    return cudaOccupancyMaxActiveClusters(clusters, (const void *)func, config);
}
/* The block size that keeps most threads resident on one multiprocessor, and the blocks that then fill the device.
 * shared(n): dynamic bytes that a block of n threads needs. The larger block wins a tie. */
template <class S, class T>
static __inline__ __host__ cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int *minGrid, int *blockSize, T func, S shared, int limit = 0, unsigned int flags = 0)
{
    int device, sms, warp, most, best = 0, bestBlocks = 0;
    cudaFuncAttributes attr;
    cudaError_t e;
    if (!minGrid || !blockSize || !func)
        return cudaErrorInvalidValue;
    if ((e = cudaGetDevice(&device)) != cudaSuccess ||
        (e = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device)) != cudaSuccess ||
        (e = cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device)) != cudaSuccess ||
        (e = cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerBlock, device)) != cudaSuccess ||
        (e = cudaFuncGetAttributes(&attr, (const void *)func)) != cudaSuccess)
        return e;
    if (attr.maxThreadsPerBlock < most)
        most = attr.maxThreadsPerBlock;
    if (limit > 0 && limit < most)
        most = limit;
    for (int n = (most + warp - 1) / warp * warp; n > 0; n -= warp) {
        const int size = n < most ? n : most;
        int blocks;
        e = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, (const void *)func, size,
                                                                   (size_t)shared(size), flags);
        if (e != cudaSuccess)
            return e;
        if (blocks * size > best * bestBlocks) {
            best = size;
            bestBlocks = blocks;
        }
    }
    *minGrid = bestBlocks * sms;
    *blockSize = best;
    return cudaSuccess;
}
template <class S, class T>
static __inline__ __host__ cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *minGrid, int *blockSize,
                                                                                      T func, S shared, int limit = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(minGrid, blockSize, func, shared, limit);
}
struct wg_same_shared {
    size_t bytes;
    __host__ __device__ size_t operator()(int) const { return bytes; }
};
WG_T cudaOccupancyMaxPotentialBlockSizeWithFlags(int *minGrid, int *blockSize, T func, size_t shared = 0, int limit = 0,
                                                 unsigned int flags = 0)
{
    wg_same_shared same = {shared};
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(minGrid, blockSize, func, same, limit, flags);
}
WG_T cudaOccupancyMaxPotentialBlockSize(int *minGrid, int *blockSize, T func, size_t shared = 0, int limit = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeWithFlags(minGrid, blockSize, func, shared, limit);
}

/* ---- argument lists of CUDA 12 and before ---- */
static __inline__ __host__ cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags)
{
    return cudaEventCreateWithFlags(event, flags);
}
static __inline__ __host__ cudaMemLocation wg_location_of(int device)
{
    cudaMemLocation l;
    l.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    l.id = device == cudaCpuDeviceId ? 0 : device;
    return l;
}
static __inline__ __host__ cudaError_t cudaMemPrefetchAsync(const void *p, size_t count, int device,
                                                            cudaStream_t stream = 0)
{
    return cudaMemPrefetchAsync(p, count, wg_location_of(device), 0u, stream);
}
static __inline__ __host__ cudaError_t cudaMemAdvise(const void *p, size_t count, cudaMemoryAdvise advice, int device)
{
    return cudaMemAdvise(p, count, advice, wg_location_of(device));
}
static __inline__ __host__ cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                            cudaGraphNode_t *errorNode, char *, size_t)
{
    if (errorNode)
        *errorNode = 0;
    return cudaGraphInstantiate(exec, graph, 0ull);
}
static __inline__ __host__ cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                                           cudaGraphNode_t *errorNode,
                                                           cudaGraphExecUpdateResult *result)
{
    cudaGraphExecUpdateResultInfo info = {};
    const cudaError_t e = cudaGraphExecUpdate(exec, graph, &info);
    if (errorNode)
        *errorNode = info.errorNode;
    if (result)
        *result = info.result;
    return e;
}
static __inline__ __host__ cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                                const cudaGraphNode_t *to, size_t n)
{
    return cudaGraphAddDependencies(graph, from, to, 0, n);
}
static __inline__ __host__ cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                                         size_t *n)
{
    return cudaGraphGetEdges(graph, from, to, 0, n);
}
static __inline__ __host__ cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *list,
                                                                    size_t *n)
{
    return cudaGraphNodeGetDependencies(node, list, 0, n);
}
static __inline__ __host__ cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *list,
                                                                      size_t *n)
{
    return cudaGraphNodeGetDependentNodes(node, list, 0, n);
}
#undef WG_T
#endif
