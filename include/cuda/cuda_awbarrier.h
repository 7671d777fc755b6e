/* cuda_awbarrier.h - the primitives as a class. */
#pragma once
#include "cuda_awbarrier_primitives.h"
#if defined(__CUDA__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)
WG_CALLERS_LINES
namespace nvcuda {
namespace experimental {
class awbarrier {
    __mbarrier_t b;

  public:
    typedef __mbarrier_token_t arrival_token;
    awbarrier() = default;
    friend __device__ __forceinline__ void init(awbarrier *a, unsigned int expected) { __mbarrier_init(&a->b, expected); }
    __device__ __forceinline__ arrival_token arrive() { return __mbarrier_arrive(&b); }
    __device__ __forceinline__ void wait(arrival_token t)
    {
        while (!__mbarrier_test_wait(&b, t)) {}
    }
    __device__ __forceinline__ void arrive_and_wait() { wait(arrive()); }
    __device__ __forceinline__ void arrive_and_drop() { __mbarrier_arrive_and_drop(&b); }
};
}
}
WG_OWN_LINES
#endif
