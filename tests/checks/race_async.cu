// race_async.cu - copies to shared memory that run on while the program goes on: waited for, and one group too few.
// sound: pipeline<0>
#include "common.h"

template <int LEFT> __global__ void pipeline(const int *x, int *o)
{
    __shared__ int s[2][32];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 2; k++) {
        unsigned to = (unsigned)__cvta_generic_to_shared(&s[k][t]);
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(x + 32 * k + t) : "memory"); // !race-shared !async-not-awaited
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
    __syncthreads();
    sum += s[0][31 - t];
    sum += s[1][31 - t]; // !race-shared
    o[t] = sum;
}

int main()
{
    int *x = filled<int>(64), *o = zeros<int>(64);
    pipeline<0><<<1, 32>>>(x, o);
    pipeline<1><<<1, 32>>>(x, o);
    return cudaDeviceSynchronize() != cudaSuccess;
}
