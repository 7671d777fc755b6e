// saxpy.cu - y = a*x + y, one element a thread: the access pattern that costs nothing extra.
// usage: saxpy [n]
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

__global__ void saxpy(int n, float a, const float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 1 << 20;
    if (n < 1) {
        std::fprintf(stderr, "usage: saxpy [n]\n");
        return 2;
    }
    const float a = 2.0f;
    std::vector<float> x(n), y(n), out(n);
    for (int i = 0; i < n; i++) {
        x[i] = (float)(i % 1000);
        y[i] = (float)(i % 77);
    }
    float *dx, *dy;
    const size_t bytes = n * sizeof(float);
    CHECK(cudaMalloc(&dx, bytes));
    CHECK(cudaMalloc(&dy, bytes));
    CHECK(cudaMemcpy(dx, x.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dy, y.data(), bytes, cudaMemcpyHostToDevice));
    saxpy<<<(n + 255) / 256, 256>>>(n, a, dx, dy);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out.data(), dy, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(dx));
    CHECK(cudaFree(dy));

    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += out[i] != a * x[i] + y[i]; // small integers: exact
    std::printf("saxpy n=%d: %s\n", n, wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
