/* cuda_pipeline_primitives.h - __pipeline_memcpy_async and its like over cp.async. */
#ifndef WG_CUDA_PIPELINE_PRIMITIVES_H
#define WG_CUDA_PIPELINE_PRIMITIVES_H
#include "cuda_runtime.h"
#ifdef __CUDA__
WG_CALLERS_LINES
typedef unsigned long long __mbarrier_t;
typedef unsigned long long __mbarrier_token_t;

/* size is 4, 8 or 16; the last zfill bytes are written as zeros instead of read */
static __device__ __forceinline__ void __pipeline_memcpy_async(void *dst, const void *src, size_t size, size_t zfill = 0)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const unsigned int to = (unsigned int)__cvta_generic_to_shared(dst), n = (unsigned int)(size - zfill);
    const size_t from = __cvta_generic_to_global(src);
    switch (size) {
    case 4:
        if (zfill)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(n) : "memory");
        else
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
        return;
    case 8:
        if (zfill)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(n) : "memory");
        else
            asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from) : "memory");
        return;
    case 16:
        if (zfill)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(n) : "memory");
        else
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
        return;
    default: return;
    }
#else
    char *const d = (char *)dst;
    const char *const s = (const char *)src;
    for (size_t i = 0; i < size; i++)
        d[i] = i < size - zfill ? s[i] : (char)0;
#endif
}
static __device__ __forceinline__ void __pipeline_commit()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
static __device__ __forceinline__ void __pipeline_wait_prior(size_t n)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    switch (n) { /* the count is part of the instruction */
    case 0: asm volatile("cp.async.wait_all;" ::: "memory"); return;
    case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); return;
    case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); return;
    case 3: asm volatile("cp.async.wait_group 3;" ::: "memory"); return;
    case 4: asm volatile("cp.async.wait_group 4;" ::: "memory"); return;
    case 5: asm volatile("cp.async.wait_group 5;" ::: "memory"); return;
    case 6: asm volatile("cp.async.wait_group 6;" ::: "memory"); return;
    case 7: asm volatile("cp.async.wait_group 7;" ::: "memory"); return;
    default: asm volatile("cp.async.wait_group 8;" ::: "memory"); return;
    }
#else
    (void)n;
#endif
}
static __device__ __forceinline__ void __pipeline_arrive_on(__mbarrier_t *barrier)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"((unsigned int)__cvta_generic_to_shared(barrier))
                 : "memory");
#else
    (void)barrier;
#endif
}
WG_OWN_LINES
#endif
#endif
