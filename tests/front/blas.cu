/* The part of cuBLAS that is computed on the host, against sums written out here in the order of their definition. */
#include <cmath>
#include <cstdio>
#include <cublas_v2.h>
#include <vector>

static int failures;
static void check(const char *what, bool right)
{
    if (!right)
        std::printf("wrong: %s\n", what);
    failures += !right;
}
static float draw()
{
    static unsigned s = 1;
    s = s * 1664525u + 1013904223u;
    return (float)(s >> 8) / (1 << 23) - 1;
}
template <class T> static T *device(const std::vector<T> &v)
{
    T *p;
    cudaMalloc(&p, v.size() * sizeof(T));
    cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
    return p;
}
template <class T> static std::vector<T> host(const T *p, size_t n)
{
    std::vector<T> v(n);
    cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
    return v;
}
static std::vector<float> some(size_t n)
{
    std::vector<float> v(n);
    for (float &x : v)
        x = draw();
    return v;
}
static float at(const std::vector<float> &m, int ld, int op, int row, int col)
{
    return op == CUBLAS_OP_N ? m[col * ld + row] : m[row * ld + col];
}

static void products(cublasHandle_t h)
{
    const int m = 5, n = 7, k = 9, ld = 11;
    const float alpha = 1.5f, beta = -0.5f;
    const auto a = some(ld * 11 * 2), b = some(ld * 11 * 2), c = some(ld * n * 2);
    float *da = device(a), *db = device(b);
    std::vector<__half> ha(a.begin(), a.end()), hb(b.begin(), b.end());
    __half *xa = device(ha), *xb = device(hb);
    for (int ops = 0; ops < 4; ops++) {
        const cublasOperation_t ta = (cublasOperation_t)(ops & 1), tb = (cublasOperation_t)(ops >> 1);
        float *dc = device(c), *dd = device(c), *de = device(c);
        check("gemm", !cublasSgemm(h, ta, tb, m, n, k, &alpha, da, ld, db, ld, &beta, dc, ld));
        check("gemmStridedBatched", !cublasSgemmStridedBatched(h, ta, tb, m, n, k, &alpha, da, ld, 3, db, ld, 5, &beta,
                                                               dd, ld, ld * n, 2));
        check("gemmEx", !cublasGemmEx(h, ta, tb, m, n, k, &alpha, xa, CUDA_R_16F, ld, xb, CUDA_R_16F, ld, &beta, de,
                                      CUDA_R_32F, ld, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
        const auto one = host(dc, c.size()), two = host(dd, c.size()), three = host(de, c.size());
        bool right = true;
        for (int j = 0; j < n; j++)
            for (int i = 0; i < ld; i++) {
                double x = 0, y = 0, z = 0;
                for (int l = 0; i < m && l < k; l++) {
                    x += (double)at(a, ld, ta, i, l) * at(b, ld, tb, l, j);
                    y += (double)at({a.begin() + 3, a.end()}, ld, ta, i, l) * at({b.begin() + 5, b.end()}, ld, tb, l, j);
                    z += (double)__half2float(__float2half(at(a, ld, ta, i, l))) *
                         __half2float(__float2half(at(b, ld, tb, l, j)));
                }
                const float was = c[j * ld + i], later = c[ld * n + j * ld + i];
                right &= i >= m ? one[j * ld + i] == was : std::fabs(one[j * ld + i] - (alpha * x + beta * was)) < 1e-5;
                right &= i >= m || std::fabs(two[ld * n + j * ld + i] - (alpha * y + beta * later)) < 1e-5;
                right &= i >= m || std::fabs(three[j * ld + i] - (alpha * z + beta * was)) < 1e-5;
            }
        check("values of products", right);
    }
    check("too small a result", cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 999, n, k, &alpha, da, 999, db, ld, &beta, da, 999));
    check("a short row", cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, da, m - 1, db, ld, &beta, da, m) ==
                             CUBLAS_STATUS_INVALID_VALUE);
}

static void vectors(cublasHandle_t h)
{
    const int n = 6;
    const auto x = some(2 * n), y = some(n), a = some(n * n);
    float *dx = device(x), *dy = device(y), *da = device(a), dot, norm, two = 2, one = 1, *result;
    int largest;
    double want = 0, square = 0;
    int best = 0;
    for (int i = 0; i < n; i++) {
        want += (double)x[2 * i] * y[i];
        square += (double)x[2 * i] * x[2 * i];
        best = std::fabs(x[2 * i]) > std::fabs(x[2 * best]) ? i : best;
    }
    check("dot", !cublasSdot(h, n, dx, 2, dy, 1, &dot) && std::fabs(dot - want) < 1e-6);
    check("nrm2", !cublasSnrm2(h, n, dx, 2, &norm) && std::fabs(norm - std::sqrt(square)) < 1e-6);
    check("amax", !cublasIsamax(h, n, dx, 2, &largest) && largest == best + 1);
    cudaMalloc(&result, sizeof *result);
    cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
    check("dot to the device", !cublasSdot(h, n, dx, 2, dy, 1, result) && host(result, 1)[0] == dot);
    cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
    check("gemv", !cublasSgemv(h, CUBLAS_OP_T, n, n, &two, da, n, dx, 2, &one, dy, -1));
    auto got = host(dy, n);
    bool right = true;
    for (int i = 0; i < n; i++) { /* the increment -1 counts from the end */
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += (double)a[i * n + j] * x[2 * j];
        right &= std::fabs(got[n - 1 - i] - (2 * sum + y[n - 1 - i])) < 1e-5;
    }
    check("values of gemv", right);
    check("axpy", !cublasSaxpy(h, n, &two, dx, 2, dx + 1, 2) && !cublasSscal(h, n, &two, dx, 2));
    got = host(dx, 2 * n);
    for (int i = 0; i < n; i++)
        right &= got[2 * i] == 2 * x[2 * i] && std::fabs(got[2 * i + 1] - (2 * x[2 * i] + x[2 * i + 1])) < 1e-6;
    check("values of axpy and scal", right);
}

int main()
{
    cublasHandle_t h;
    check("create", !cublasCreate(&h));
    products(h);
    vectors(h);
    check("destroy", !cublasDestroy(h));
    check("no handle", cublasSscal(nullptr, 1, nullptr, nullptr, 1) != CUBLAS_STATUS_SUCCESS);
    std::printf("%s\n", failures ? "FAIL" : "PASS");
    return failures != 0;
}
