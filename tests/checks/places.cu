// places.cu - findings whose words the test reads: elements of arrays, calls on the device, allocations.
#include "common.h"
enum { SIDE = 16 };
__device__ __noinline__ float far(const float *a, int i) { return a[i + 2000]; } // !out-of-bounds

template <int N> __global__ void element(const float *a, float *o)
{
    __shared__ float tile[N][N + 1];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = a[y * N + x]; // !race-shared
    if (x == 3 && y == 15)
        tile[2][5] = 1; // !race-shared
    __syncthreads();
    o[y * N + x] = tile[x][y];
}
__global__ void caller(const float *a, float *o)
{
    o[threadIdx.x] = far(a, threadIdx.x);
}

int main()
{
    float *a = filled<float>(SIDE * SIDE), *o = zeros<float>(SIDE * SIDE);
    element<SIDE><<<1, dim3(SIDE, SIDE)>>>(a, o);
    caller<<<1, 32>>>(a, o);
    return cudaDeviceSynchronize() != cudaSuccess;
}
