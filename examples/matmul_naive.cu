// matmul_naive.cu - C = A*B with one thread for each element: two loads for each multiply-add, 0.25 flop a byte.
// swapped: the same, but neighbouring threads go down a column, so that each of them is in another row of A and of C.
// bug-edge: the guard lets one row and one column too many through.
// usage: matmul_naive [n] [naive|swapped|bug-edge]... [--seed N] [--time REPEATS]
#include "common.h"

template <int Off> __device__ void element(const float *a, const float *b, float *c, int n, int row, int col)
{
    if (row >= n + Off || col >= n + Off)
        return;
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}
__global__ void matmul_naive(const float *a, const float *b, float *c, int n)
{
    element<0>(a, b, c, n, blockIdx.y * blockDim.y + threadIdx.y, blockIdx.x * blockDim.x + threadIdx.x);
}
__global__ void matmul_swapped(const float *a, const float *b, float *c, int n)
{
    element<0>(a, b, c, n, blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y);
}
__global__ void matmul_edge(const float *a, const float *b, float *c, int n)
{
    element<1>(a, b, c, n, blockIdx.y * blockDim.y + threadIdx.y, blockIdx.x * blockDim.x + threadIdx.x);
}

int main(int argc, char **argv)
{
    Example e("matmul_naive", {"naive", "swapped", "bug-edge"}, argc, argv, 256, 1, 16384);
    void (*const kernels[])(const float *, const float *, float *, int) = {matmul_naive, matmul_swapped, matmul_edge};
    const int n = e.n, blocks = (n + 15) / 16;
    const auto a = random_floats((size_t)n * n, 2 * e.seed), b = random_floats(a.size(), 2 * e.seed + 1);
    float *const da = to_device(a), *const db = to_device(b), *const dc = on_device<float>(a.size());
    for (size_t w = 0; w < e.ways.size(); w++) {
        if (!e.wants(e.ways[w]))
            continue;
        CHECK(cudaMemset(dc, 0xff, a.size() * sizeof(float)));
        const double ms = e.run([&] { kernels[w]<<<dim3(blocks, blocks), dim3(16, 16)>>>(da, db, dc, n); });
        e.report(e.ways[w], product_error(a, b, to_host(dc, a.size()), n), 1e-6, ms);
    }
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    return e.failed;
}
