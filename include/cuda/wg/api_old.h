/* wg/api_old.h - calls that CUDA has removed but programs still make, in terms of today's. */
static __inline__ __host__ cudaError_t cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
static __inline__ __host__ cudaError_t cudaThreadExit(void) { return cudaDeviceReset(); }
static __inline__ __host__ cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value)
{
    return cudaDeviceSetLimit(limit, value);
}
static __inline__ __host__ cudaError_t cudaThreadGetLimit(size_t *value, enum cudaLimit limit)
{
    return cudaDeviceGetLimit(value, limit);
}
static __inline__ __host__ cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache *config)
{
    return cudaDeviceGetCacheConfig(config);
}
static __inline__ __host__ cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config)
{
    return cudaDeviceSetCacheConfig(config);
}
