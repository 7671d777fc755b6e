// library.cu - what NVIDIA's own libraries need for the work of the examples: the yardsticks of bench/gpu.
// usage: library [n] [sgemm|hgemm|cub-sum|copy]... [--seed N] [--time REPEATS]      copy and cub-sum take n words
#include "../examples/common.h"
#include <cub/device/device_reduce.cuh>
#include <cublas_v2.h>
#include <cuda_fp16.h>

static void check(cublasStatus_t status, const char *what)
{
    if (status == CUBLAS_STATUS_SUCCESS)
        return;
    std::fprintf(stderr, "%s: %s\n", what, cublasGetStatusString(status));
    std::exit(2);
}

// cuBLAS counts columns first: our row-major C = A*B is its C' = B'*A'.
static void sgemm(Example &e)
{
    const int n = e.n;
    const auto a = random_floats((size_t)n * n, 2 * e.seed), b = random_floats(a.size(), 2 * e.seed + 1);
    float *const da = to_device(a), *const db = to_device(b), *const dc = on_device<float>(a.size());
    const float one = 1.0f, zero = 0.0f;
    cublasHandle_t blas;
    check(cublasCreate(&blas), "cublasCreate");
    check(cublasSetMathMode(blas, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode"); // no tensor cores, no TF32
    const double ms = e.run([&] {
        check(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, db, n, da, n, &zero, dc, n), "cublasSgemm");
    });
    e.report("sgemm", product_error(a, b, to_host(dc, a.size()), n), 1e-6, ms);
    check(cublasDestroy(blas), "cublasDestroy");
}

static void hgemm(Example &e)
{
    const int n = e.n;
    const auto fa = random_floats((size_t)n * n, 2 * e.seed), fb = random_floats(fa.size(), 2 * e.seed + 1);
    const std::vector<__half> a(fa.begin(), fa.end()), b(fb.begin(), fb.end());
    __half *const da = to_device(a), *const db = to_device(b), *const dc = on_device<__half>(a.size());
    const float one = 1.0f, zero = 0.0f;
    cublasHandle_t blas;
    check(cublasCreate(&blas), "cublasCreate");
    const double ms = e.run([&] {
        check(cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, db, CUDA_R_16F, n, da, CUDA_R_16F, n, &zero,
                           dc, CUDA_R_16F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
              "cublasGemmEx");
    });
    e.report("hgemm", product_error(a, b, to_host(dc, a.size()), n, 50.0), 1e-5, ms);
    check(cublasDestroy(blas), "cublasDestroy");
}

static void cub_sum(Example &e)
{
    const auto in = random_floats(e.n, e.seed);
    double expect = 0.0, size = 0.0;
    for (const float v : in) {
        expect += v;
        size += std::fabs(v);
    }
    float *const din = to_device(in), *const dout = on_device<float>(1);
    size_t bytes = 0;
    CHECK(cub::DeviceReduce::Sum(nullptr, bytes, din, dout, e.n));
    char *const room = on_device<char>(bytes);
    const double ms = e.run([&] { CHECK(cub::DeviceReduce::Sum(room, bytes, din, dout, e.n)); });
    e.report("cub-sum", std::fabs(to_host(dout, 1)[0] - expect) / size, 1e-6 / std::sqrt(e.n), ms);
}

static void copy(Example &e)
{
    const auto in = random_floats(e.n, e.seed);
    float *const din = to_device(in), *const dout = on_device<float>(e.n);
    const double ms =
        e.run([&] { CHECK(cudaMemcpyAsync(dout, din, in.size() * sizeof(float), cudaMemcpyDeviceToDevice)); });
    const auto out = to_host(dout, e.n);
    e.report("copy", std::memcmp(in.data(), out.data(), in.size() * sizeof(float)) != 0, 0.0, ms);
}

int main(int argc, char **argv)
{
    Example e("library", {"sgemm", "hgemm", "cub-sum", "copy"}, argc, argv, 4096, 1, 1 << 30);
    if (e.wants("sgemm"))
        sgemm(e);
    if (e.wants("hgemm"))
        hgemm(e);
    if (e.wants("cub-sum"))
        cub_sum(e);
    if (e.wants("copy"))
        copy(e);
    return e.failed;
}
