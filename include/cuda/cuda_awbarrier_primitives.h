/* cuda_awbarrier_primitives.h - __mbarrier_init and its like: split arrive/wait barriers in shared memory. */
#ifndef WG_CUDA_AWBARRIER_PRIMITIVES_H
#define WG_CUDA_AWBARRIER_PRIMITIVES_H
#include "cuda_pipeline_primitives.h"
#if defined(__CUDA__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)
WG_CALLERS_LINES
#define WG_BARRIER(b) ((unsigned int)__cvta_generic_to_shared(b))
static __device__ __forceinline__ unsigned int __mbarrier_maximum_count() { return (1u << 20) - 1; }
static __device__ __forceinline__ void __mbarrier_init(__mbarrier_t *b, unsigned int expected)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(WG_BARRIER(b)), "r"(expected) : "memory");
}
static __device__ __forceinline__ void __mbarrier_inval(__mbarrier_t *b)
{
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(WG_BARRIER(b)) : "memory");
}
static __device__ __forceinline__ __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *b)
{
    __mbarrier_token_t t;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(t) : "r"(WG_BARRIER(b)) : "memory");
    return t;
}
static __device__ __forceinline__ __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t *b)
{
    __mbarrier_token_t t;
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(t) : "r"(WG_BARRIER(b)) : "memory");
    return t;
}
static __device__ __forceinline__ bool __mbarrier_test_wait(__mbarrier_t *b, __mbarrier_token_t token)
{
    unsigned int done;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(WG_BARRIER(b)), "l"(token) : "memory");
    return done != 0;
}
static __device__ __forceinline__ unsigned int __mbarrier_token_pending_count(__mbarrier_token_t token)
{
    unsigned int n;
    asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(token));
    return n;
}
static __device__ __forceinline__ bool __mbarrier_test_wait_parity(__mbarrier_t *b, bool parity)
{
    unsigned int done;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(WG_BARRIER(b)), "r"((unsigned int)parity) : "memory");
    return done != 0;
}
static __device__ __forceinline__ bool __mbarrier_try_wait(__mbarrier_t *b, __mbarrier_token_t token, unsigned int ns)
{
    unsigned int done;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.shared.b64 p, [%1], %2, %3; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(WG_BARRIER(b)), "l"(token), "r"(ns) : "memory");
    return done != 0;
}
#undef WG_BARRIER
WG_OWN_LINES
#endif
#endif
