// mbarrier.cu - phases that end and one that cannot; copies that their thread leaves behind.
// sound: bytes<true>, turns, leaves<true>
#include "common.h"
#include <cstdint>
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ unsigned look(const void *bar, unsigned parity)
{
    unsigned done;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" // ?mbarrier-incomplete
                 : "=r"(done) : "r"(at(bar)), "r"(parity) : "memory"); // ?mbarrier-incomplete
    return done;
}

// Bytes are expected and come, but nobody arrives: the phase needs both.
template <bool ARRIVE> __global__ void bytes(const int *x, int *o)
{
    __shared__ __align__(16) int s[64];
    __shared__ __align__(8) uint64_t bar;
    int t = threadIdx.x;
    if (t == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&bar)) : "memory");
    __syncthreads();
    if (t == 0) {
        if (ARRIVE)
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(at(&bar)) : "memory");
        else
            asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 256;" ::"r"(at(&bar)) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" // ?mbarrier-incomplete
                     ::"r"(at(s)), "l"(x), "r"(at(&bar)) : "memory"); // ?mbarrier-incomplete
    }
    unsigned done = 0;
    for (int k = 0; k < 100 && !done; k++)
        done = look(&bar, 0); // ?mbarrier-incomplete
    o[t] = done ? s[t] : -1;
}

// Two warps take turns; at the end nobody waits for the phase that has begun.
__global__ void turns(int *o)
{
    __shared__ __align__(8) uint64_t bar;
    __shared__ int box[32];
    int t = threadIdx.x, l = t % 32;
    if (t == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(at(&bar)) : "memory");
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        if (t / 32 == k % 2)
            box[l] = k * l;
        uint64_t token;
        asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(token) : "r"(at(&bar)) : "memory");
        while (!look(&bar, k & 1))
            ;
        o[t] = box[31 - l];
        __syncthreads();
    }
}

template <bool WAIT> __global__ void leaves(const int *x, int *o)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at(&s[t])), "l"(x + t) : "memory"); // !async-not-awaited
    asm volatile("cp.async.commit_group;" ::: "memory");
    if (WAIT) {
        asm volatile("cp.async.wait_group 0;" ::: "memory");
        o[t] = s[t];
    }
}

int main()
{
    int *x = filled<int>(64), *o = zeros<int>(64);
    bytes<false><<<1, 64>>>(x, o);
    bytes<true><<<1, 64>>>(x, o);
    turns<<<1, 64>>>(o);
    leaves<false><<<1, 32>>>(x, o);
    leaves<true><<<1, 32>>>(x, o);
    return cudaDeviceSynchronize() != cudaSuccess;
}
