// matmul_naive.cu - C = A*B, each thread reads a whole row of A and a whole column of B from global memory.
// usage: matmul_naive [n]
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        const cudaError_t e = (call);                                                                                  \
        if (e != cudaSuccess) {                                                                                        \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e));                 \
            return 2;                                                                                                  \
        }                                                                                                              \
    } while (0)

__global__ void matmul_naive(const float *a, const float *b, float *c, int n)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || col >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + col]; // two loads for one multiply-add: 0.25 flop a byte requested
    c[row * n + col] = sum;
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 256;
    if (n < 1 || n > 4096) {
        std::fprintf(stderr, "usage: matmul_naive [n], n from 1 to 4096\n");
        return 2;
    }
    std::vector<float> a((size_t)n * n), b(a.size()), c(a.size()), expect(a.size());
    for (size_t i = 0; i < a.size(); i++) {
        a[i] = (float)(i % 7) - 3.0f;
        b[i] = (float)(i % 5) - 2.0f;
    }
    float *da, *db, *dc;
    const size_t bytes = a.size() * sizeof(float);
    CHECK(cudaMalloc(&da, bytes));
    CHECK(cudaMalloc(&db, bytes));
    CHECK(cudaMalloc(&dc, bytes));
    CHECK(cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice));
    const dim3 block(32, 8), grid((n + 31) / 32, (n + 7) / 8);
    matmul_naive<<<grid, block>>>(da, db, dc, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));

    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                expect[(size_t)i * n + j] += a[(size_t)i * n + k] * b[(size_t)k * n + j];
    int wrong = 0;
    for (size_t i = 0; i < c.size(); i++)
        wrong += c[i] != expect[i]; // sums of small integers: exact
    std::printf("matmul_naive n=%d: %s\n", n, wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
