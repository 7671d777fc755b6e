// race_bulk.cu - bulk copies: read before anyone has waited, waited for one stage too few, and sent back too early.
// sound: stages<4>, send<true>
#include "common.h"
#include <cstdint>
// one statement, one line: compilers differ in which of several they name
#define FETCH "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];"
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(void *bar, unsigned n)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(bar)), "r"(n) : "memory");
}
__device__ void fetch(void *to, const void *from, void *bar)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(at(bar)) : "memory");
    asm volatile(FETCH ::"r"(at(to)), "l"(from), "r"(at(bar)) : "memory"); // !race-shared
}
__device__ void wait(void *bar, unsigned parity)
{
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at(bar)), "r"(parity) : "memory");
}

// Four tiles through two stages: all threads wait for a stage, read it, meet, and the stage is filled again.
template <int WAITS> __global__ void stages(const int *x, int *o)
{
    __shared__ __align__(128) int s[2][32];
    __shared__ __align__(8) uint64_t bar[2];
    int t = threadIdx.x, sum = 0;
    if (t == 0) {
        init(&bar[0], 1);
        init(&bar[1], 1);
    }
    __syncthreads();
    for (int k = 0; k < 2 && t == 0; k++)
        fetch(s[k], x + 32 * k, &bar[k]);
    for (int k = 0; k < 4; k++) {
        if (k < WAITS)
            wait(&bar[k % 2], k / 2);
        sum += s[k % 2][31 - t % 32]; // !race-shared
        __syncthreads();
        if (t == 0 && k < 2)
            fetch(s[k], x + 32 * (k + 2), &bar[k]);
    }
    o[t] = sum;
}

// One thread waits and the others learn it from a barrier; then the tile is written, and sent back.
template <bool FIX> __global__ void send(const int *x, int *o)
{
    __shared__ __align__(128) int s[32];
    __shared__ __align__(8) uint64_t bar;
    int t = threadIdx.x;
    if (t == 0) {
        init(&bar, 1);
        fetch(s, x, &bar);
        wait(&bar, 0);
    }
    __syncthreads();
    if (t >= 32)
        s[t - 32] += 1; // !race-shared
    if (FIX)
        __syncthreads();
    if (t == 0) {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;" ::"l"(o), "r"(at(s)) : "memory"); // !race-shared
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}

int main()
{
    int *x = filled<int>(128), *o = zeros<int>(64);
    stages<4><<<1, 64>>>(x, o);
    stages<3><<<1, 64>>>(x, o);
    stages<0><<<1, 64>>>(x, o);
    send<true><<<1, 64>>>(x, o);
    send<false><<<1, 64>>>(x, o);
    return cudaDeviceSynchronize() != cudaSuccess;
}
