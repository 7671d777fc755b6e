/* cuda_device_runtime_api.h - what kernels may call: the __host__ __device__ calls of cuda_runtime_api.h and these. */
#ifndef WG_CUDA_DEVICE_RUNTIME_API_H
#define WG_CUDA_DEVICE_RUNTIME_API_H
#include "driver_types.h"
#if defined(__CUDA__) && defined(__cplusplus)
#define cudaStreamTailLaunch ((cudaStream_t)0x3)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)
#define cudaStreamGraphTailLaunch ((cudaStream_t)0x0100000000000000)
#define cudaStreamGraphFireAndForget ((cudaStream_t)0x0200000000000000)
#define cudaStreamGraphFireAndForgetAsSibling ((cudaStream_t)0x0300000000000000)
static __inline__ __device__ void cudaTriggerProgrammaticLaunchCompletion(void)
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
static __inline__ __device__ void cudaGridDependencySynchronize(void)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}
#endif
#endif
