/* blas.c - libcublas: the calls with which programs check themselves, computed on the host. No kernel is simulated for
 * them and nothing of them is in a report; the first handle says so. Sums are formed in double and rounded once, which is
 * within the error bound of any order that cuBLAS may choose, but not bit for bit one of them. */
#include "shim/blas_memory.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WG_EXPORT __attribute__((visibility("default")))
enum cublasStatus {
    CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1, CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_ARCH_MISMATCH = 8, CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13, CUBLAS_STATUS_INTERNAL_ERROR = 14, CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
};
typedef int status;
enum { OP_N, OP_T, OP_C };
enum { MAGIC = 0x6c626c61 };
struct handle { unsigned magic; void *stream; int device_scalars, math, atomics; };

static struct handle *known(void *h)
{
    struct handle *x = h;
    return x && x->magic == MAGIC ? x : NULL;
}
static status failed(const char *call)
{
    fprintf(stderr, "warpgrind: %s: an operand is no device memory, or reaches past the end of its allocation\n", call);
    return CUBLAS_STATUS_EXECUTION_FAILED;
}
static status refused(const char *call, const char *what)
{
    fprintf(stderr, "warpgrind: %s: %s is not supported\n", call, what);
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

/* ---- handles ---- */
WG_EXPORT status cublasCreate_v2(void **out);
status cublasCreate_v2(void **out)
{
    static bool said;
    if (!out)
        return CUBLAS_STATUS_INVALID_VALUE;
    struct handle *h = calloc(1, sizeof *h);
    if (!h)
        return CUBLAS_STATUS_ALLOC_FAILED;
    h->magic = MAGIC;
    *out = h;
    if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        fprintf(stderr, "warpgrind: cuBLAS is computed on the host: it is in no report\n");
    return CUBLAS_STATUS_SUCCESS;
}
WG_EXPORT status cublasDestroy_v2(void *h);
status cublasDestroy_v2(void *h)
{
    struct handle *x = known(h);
    if (!x)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    x->magic = 0;
    free(x);
    return CUBLAS_STATUS_SUCCESS;
}
/* WG_FIELD(setter, getter, type, member) */
#define WG_FIELD(set, get, T, member)                                                                                  \
    WG_EXPORT status set(void *h, T v);                                                                                \
    status set(void *h, T v)                                                                                           \
    {                                                                                                                  \
        struct handle *x = known(h);                                                                                   \
        if (!x)                                                                                                        \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        x->member = v;                                                                                                 \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }                                                                                                                  \
    WG_EXPORT status get(void *h, T *v);                                                                               \
    status get(void *h, T *v)                                                                                          \
    {                                                                                                                  \
        const struct handle *x = known(h);                                                                             \
        if (!x)                                                                                                        \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        if (!v)                                                                                                        \
            return CUBLAS_STATUS_INVALID_VALUE;                                                                        \
        *v = x->member;                                                                                                \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }
WG_FIELD(cublasSetStream_v2, cublasGetStream_v2, void *, stream)
WG_FIELD(cublasSetPointerMode_v2, cublasGetPointerMode_v2, int, device_scalars)
WG_FIELD(cublasSetMathMode, cublasGetMathMode, int, math)
WG_FIELD(cublasSetAtomicsMode, cublasGetAtomicsMode, int, atomics)
WG_EXPORT status cublasSetWorkspace_v2(void *h, void *p, size_t n);
status cublasSetWorkspace_v2(void *h, void *p, size_t n)
{
    (void)p, (void)n; /* none is needed */
    return known(h) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}
WG_EXPORT status cublasGetVersion_v2(void *h, int *v);
status cublasGetVersion_v2(void *h, int *v)
{
    (void)h;
    if (!v)
        return CUBLAS_STATUS_INVALID_VALUE;
    *v = WG_CUBLAS_MAJOR * 10000;
    return CUBLAS_STATUS_SUCCESS;
}
#define WG_STATUSES(X)                                                                                                 \
    X(CUBLAS_STATUS_SUCCESS) X(CUBLAS_STATUS_NOT_INITIALIZED) X(CUBLAS_STATUS_ALLOC_FAILED)                            \
    X(CUBLAS_STATUS_INVALID_VALUE) X(CUBLAS_STATUS_ARCH_MISMATCH) X(CUBLAS_STATUS_MAPPING_ERROR)                       \
    X(CUBLAS_STATUS_EXECUTION_FAILED) X(CUBLAS_STATUS_INTERNAL_ERROR) X(CUBLAS_STATUS_NOT_SUPPORTED)                   \
    X(CUBLAS_STATUS_LICENSE_ERROR)
WG_EXPORT const char *cublasGetStatusName(status s);
const char *cublasGetStatusName(status s)
{
    switch (s) {
#define WG_NAME(x) case x: return #x;
        WG_STATUSES(WG_NAME)
#undef WG_NAME
    default: return "unknown";
    }
}
WG_EXPORT const char *cublasGetStatusString(status s);
const char *cublasGetStatusString(status s) { return cublasGetStatusName(s); }

/* ---- copies ---- */
WG_EXPORT status cublasSetMatrix(int rows, int cols, int size, const void *a, int lda, void *b, int ldb);
WG_EXPORT status cublasGetMatrix(int rows, int cols, int size, const void *a, int lda, void *b, int ldb);
WG_EXPORT status cublasSetVector(int n, int size, const void *x, int incx, void *y, int incy);
WG_EXPORT status cublasGetVector(int n, int size, const void *x, int incx, void *y, int incy);
status cublasSetMatrix(int rows, int cols, int size, const void *a, int lda, void *b, int ldb)
{
    if (rows < 0 || cols < 0 || size <= 0 || lda < rows || ldb < rows || lda <= 0 || ldb <= 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    const size_t s = (size_t)size;
    return !rows || !cols || wg_blas_copy(NULL, b, (size_t)ldb * s, a, (size_t)lda * s, (size_t)rows * s, (size_t)cols)
               ? CUBLAS_STATUS_SUCCESS
               : CUBLAS_STATUS_MAPPING_ERROR;
}
status cublasGetMatrix(int rows, int cols, int size, const void *a, int lda, void *b, int ldb)
{
    return cublasSetMatrix(rows, cols, size, a, lda, b, ldb);
}
status cublasSetVector(int n, int size, const void *x, int incx, void *y, int incy)
{
    return cublasSetMatrix(1, n, size, x, incx, y, incy);
}
status cublasGetVector(int n, int size, const void *x, int incx, void *y, int incy)
{
    return cublasSetMatrix(1, n, size, x, incx, y, incy);
}

/* ---- vectors ---- */
/* A negative increment counts from the other end, as in every BLAS. */
static bool vector(const struct handle *h, const void *x, int type, int64_t n, int64_t inc, double **out)
{
    const int64_t step = inc < 0 ? -inc : inc;
    if (n <= 0 || !(*out = malloc((size_t)n * sizeof **out)))
        return n <= 0;
    if (!wg_blas_read(h->stream, x, type, 1, n, step ? step : 1, *out))
        return false;
    for (int64_t i = 0; inc < 0 && i < n / 2; i++) {
        const double t = (*out)[i];
        (*out)[i] = (*out)[n - 1 - i];
        (*out)[n - 1 - i] = t;
    }
    return true;
}
static bool put_vector(const struct handle *h, void *x, int type, int64_t n, int64_t inc, double *v)
{
    for (int64_t i = 0; inc < 0 && i < n / 2; i++) {
        const double t = v[i];
        v[i] = v[n - 1 - i];
        v[n - 1 - i] = t;
    }
    return n <= 0 || wg_blas_write(h->stream, x, type, 1, n, inc < 0 ? -inc : inc, v);
}

enum reduce { DOT, NORM, SUM, LARGEST, SMALLEST };
static status reduce(const char *call, void *handle, enum reduce what, int type, int64_t n, const void *x, int64_t incx,
                     const void *y, int64_t incy, void *out)
{
    struct handle *h = known(handle);
    double *a = NULL, *b = NULL, r = 0;
    if (!h)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!out)
        return CUBLAS_STATUS_INVALID_VALUE;
    bool ok = vector(h, x, type, n, incx, &a) && (what != DOT || vector(h, y, type, n, incy, &b));
    int64_t at = 0;
    for (int64_t i = 0; ok && i < n; i++) {
        const double v = fabs(a[i]);
        r += what == DOT ? a[i] * b[i] : what == NORM ? v * v : v;
        at = (what == LARGEST ? v > fabs(a[at]) : v < fabs(a[at])) ? i : at;
    }
    if (what == NORM)
        r = sqrt(r);
    if (what == LARGEST || what == SMALLEST) {
        type = WG_I32; /* counted from one */
        r = n > 0 ? (double)(at + 1) : 0;
    }
    ok = ok && wg_blas_put(h->stream, h->device_scalars, out, type, r);
    free(a);
    free(b);
    return ok ? CUBLAS_STATUS_SUCCESS : failed(call);
}

enum update { AXPY, SCAL, COPY, SWAP };
static status update(const char *call, void *handle, enum update what, int type, int64_t n, const void *alpha, void *x,
                     int64_t incx, void *y, int64_t incy)
{
    struct handle *h = known(handle);
    double *a = NULL, *b = NULL, s = 1;
    if (!h)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    bool ok = !alpha || wg_blas_get(h->stream, h->device_scalars, alpha, type, &s);
    ok = ok && vector(h, x, type, n, incx, &a) && ((what != AXPY && what != SWAP) || vector(h, y, type, n, incy, &b));
    for (int64_t i = 0; ok && i < n; i++)
        if (what == AXPY)
            b[i] += s * a[i];
        else if (what == SCAL)
            a[i] *= s;
    if (what == AXPY)
        ok = ok && put_vector(h, y, type, n, incy, b);
    else if (what == SCAL)
        ok = ok && put_vector(h, x, type, n, incx, a);
    else
        ok = ok && put_vector(h, y, type, n, incy, a);
    if (what == SWAP)
        ok = ok && put_vector(h, x, type, n, incx, b);
    free(a);
    free(b);
    return ok ? CUBLAS_STATUS_SUCCESS : failed(call);
}

#define WG_REDUCE1(name, what, type, T)                                                                                \
    WG_EXPORT status name(void *h, int n, const void *x, int incx, T *out);                                            \
    status name(void *h, int n, const void *x, int incx, T *out)                                                       \
    {                                                                                                                  \
        return reduce(#name, h, what, type, n, x, incx, NULL, 0, out);                                                 \
    }
#define WG_LEVEL1(s, type, T)                                                                                          \
    WG_REDUCE1(cublas##s##nrm2_v2, NORM, type, T)                                                                      \
    WG_REDUCE1(cublas##s##asum_v2, SUM, type, T)                                                                       \
    WG_EXPORT status cublas##s##dot_v2(void *h, int n, const void *x, int incx, const void *y, int incy, T *out);      \
    status cublas##s##dot_v2(void *h, int n, const void *x, int incx, const void *y, int incy, T *out)                 \
    {                                                                                                                  \
        return reduce("cublas" #s "dot", h, DOT, type, n, x, incx, y, incy, out);                                      \
    }                                                                                                                  \
    WG_EXPORT status cublas##s##axpy_v2(void *h, int n, const T *a, void *x, int incx, void *y, int incy);             \
    status cublas##s##axpy_v2(void *h, int n, const T *a, void *x, int incx, void *y, int incy)                        \
    {                                                                                                                  \
        return a ? update("cublas" #s "axpy", h, AXPY, type, n, a, x, incx, y, incy) : CUBLAS_STATUS_INVALID_VALUE;    \
    }                                                                                                                  \
    WG_EXPORT status cublas##s##scal_v2(void *h, int n, const T *a, void *x, int incx);                                \
    status cublas##s##scal_v2(void *h, int n, const T *a, void *x, int incx)                                           \
    {                                                                                                                  \
        return a ? update("cublas" #s "scal", h, SCAL, type, n, a, x, incx, NULL, 1) : CUBLAS_STATUS_INVALID_VALUE;    \
    }                                                                                                                  \
    WG_EXPORT status cublas##s##copy_v2(void *h, int n, void *x, int incx, void *y, int incy);                         \
    status cublas##s##copy_v2(void *h, int n, void *x, int incx, void *y, int incy)                                    \
    {                                                                                                                  \
        return update("cublas" #s "copy", h, COPY, type, n, NULL, x, incx, y, incy);                                   \
    }                                                                                                                  \
    WG_EXPORT status cublas##s##swap_v2(void *h, int n, void *x, int incx, void *y, int incy);                         \
    status cublas##s##swap_v2(void *h, int n, void *x, int incx, void *y, int incy)                                    \
    {                                                                                                                  \
        return update("cublas" #s "swap", h, SWAP, type, n, NULL, x, incx, y, incy);                                   \
    }
WG_LEVEL1(S, WG_F32, float)
WG_LEVEL1(D, WG_F64, double)
WG_REDUCE1(cublasIsamax_v2, LARGEST, WG_F32, int)
WG_REDUCE1(cublasIdamax_v2, LARGEST, WG_F64, int)
WG_REDUCE1(cublasIsamin_v2, SMALLEST, WG_F32, int)
WG_REDUCE1(cublasIdamin_v2, SMALLEST, WG_F64, int)

/* ---- matrices: column by column, op 1 and 2 transposed (the numbers are real) ---- */
struct matrix { int op, type; int64_t rows, cols, ld; const void *p; }; /* rows and cols of op(matrix) */

static bool bad(const struct matrix *m)
{
    const int64_t high = m->op == OP_N ? m->rows : m->cols;
    return m->op < OP_N || m->op > OP_C || m->rows < 0 || m->cols < 0 || m->ld < (high > 1 ? high : 1);
}
/* op(m), its columns close together; malloc'd */
static double *fetch(const struct handle *h, const struct matrix *m)
{
    const size_t n = (size_t)(m->rows * m->cols);
    double *out = malloc((n ? n : 1) * sizeof *out), *raw = NULL;
    const bool flip = m->op != OP_N;
    bool ok = out && (!flip || (raw = malloc((n ? n : 1) * sizeof *raw)));
    ok = ok && wg_blas_read(h->stream, m->p, m->type, flip ? m->cols : m->rows, flip ? m->rows : m->cols, m->ld,
                            flip ? raw : out);
    for (int64_t j = 0; ok && flip && j < m->cols; j++)
        for (int64_t i = 0; i < m->rows; i++)
            out[j * m->rows + i] = raw[i * m->cols + j];
    free(raw);
    if (!ok) {
        free(out);
        return NULL;
    }
    return out;
}

/* c = alpha a b + beta c */
static status gemm(const char *call, struct handle *h, double alpha, double beta, const struct matrix *a,
                   const struct matrix *b, int c_type, void *c, int64_t ldc)
{
    const int64_t m = a->rows, n = b->cols, k = a->cols;
    const struct matrix old = {OP_N, c_type, m, n, ldc, c};
    if (bad(a) || bad(b) || bad(&old))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!m || !n)
        return CUBLAS_STATUS_SUCCESS;
    double *x = fetch(h, a), *y = fetch(h, b), *z = beta != 0 ? fetch(h, &old) : calloc((size_t)(m * n), sizeof *z);
    double *sum = malloc((size_t)m * sizeof *sum);
    bool ok = x && y && z && sum;
    for (int64_t j = 0; ok && j < n; j++) {
        for (int64_t i = 0; i < m; i++)
            sum[i] = 0;
        for (int64_t l = 0; l < k; l++) {
            const double f = y[j * k + l], *col = x + l * m;
            for (int64_t i = 0; i < m; i++)
                sum[i] += f * col[i];
        }
        for (int64_t i = 0; i < m; i++)
            z[j * m + i] = alpha * sum[i] + (beta != 0 ? beta * z[j * m + i] : 0);
    }
    ok = ok && wg_blas_write(h->stream, c, c_type, m, n, ldc, z);
    free(x);
    free(y);
    free(z);
    free(sum);
    return ok ? CUBLAS_STATUS_SUCCESS : failed(call);
}

/* The type of alpha and beta: half, float, double or int by cublasComputeType_t; -1: not served. */
static int scale_type(int compute)
{
    switch (compute) {
    case 64: case 65: return WG_F16;
    case 68: case 69: case 74: case 75: case 77: return WG_F32;
    case 70: case 71: return WG_F64;
    case 72: case 73: return WG_I32;
    default: return -1;
    }
}

/* count products; the operands of each lie stride elements behind those of the one before, or in lists of pointers */
struct batch { int64_t count, a, b, c; const void *const *as, *const *bs; void *const *cs; };

static status gemm_any(const char *call, void *handle, int ta, int tb, int64_t m, int64_t n, int64_t k,
                       const void *alpha, const void *a, int a_type, int64_t lda, const void *b, int b_type, int64_t ldb,
                       const void *beta, void *c, int c_type, int64_t ldc, int scale, const struct batch *batch)
{
    struct handle *h = known(handle);
    double s = 0, t = 0;
    status st = CUBLAS_STATUS_SUCCESS;
    if (!h)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!alpha || !beta || batch->count < 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (scale < 0 || !wg_blas_bytes(a_type) || !wg_blas_bytes(b_type) || !wg_blas_bytes(c_type))
        return refused(call, "this type of matrix or of arithmetic");
    if (!wg_blas_get(h->stream, h->device_scalars, alpha, scale, &s) ||
        !wg_blas_get(h->stream, h->device_scalars, beta, scale, &t))
        return failed(call);
    for (int64_t i = 0; i < batch->count && st == CUBLAS_STATUS_SUCCESS; i++) {
        const void *pa = (const char *)a + i * batch->a * wg_blas_bytes(a_type),
                   *pb = (const char *)b + i * batch->b * wg_blas_bytes(b_type);
        void *pc = (char *)c + i * batch->c * wg_blas_bytes(c_type);
        if (batch->as && (!wg_blas_copy(h->stream, &pa, 8, batch->as + i, 8, 8, 1) ||
                          !wg_blas_copy(h->stream, &pb, 8, batch->bs + i, 8, 8, 1) ||
                          !wg_blas_copy(h->stream, &pc, 8, batch->cs + i, 8, 8, 1)))
            return failed(call);
        st = gemm(call, h, s, t, &(struct matrix){ta, a_type, m, k, lda, pa}, &(struct matrix){tb, b_type, k, n, ldb, pb},
                  c_type, pc, ldc);
    }
    return st;
}

#define WG_GEMM(s, type)                                                                                               \
    WG_EXPORT status cublas##s(void *h, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int lda,\
                               const void *b, int ldb, const void *beta, void *c, int ldc);                            \
    status cublas##s(void *h, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int lda,          \
                     const void *b, int ldb, const void *beta, void *c, int ldc)                                       \
    {                                                                                                                  \
        return gemm_any("cublas" #s, h, ta, tb, m, n, k, alpha, a, type, lda, b, type, ldb, beta, c, type, ldc, type,  \
                        &(struct batch){.count = 1});                                                                  \
    }
#define WG_GEMM_MANY(s, type)                                                                                          \
    WG_EXPORT status cublas##s##gemmStridedBatched(                                                                    \
        void *h, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int lda, long long sa,         \
        const void *b, int ldb, long long sb, const void *beta, void *c, int ldc, long long sc, int count);            \
    status cublas##s##gemmStridedBatched(                                                                              \
        void *h, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int lda, long long sa,         \
        const void *b, int ldb, long long sb, const void *beta, void *c, int ldc, long long sc, int count)             \
    {                                                                                                                  \
        return gemm_any("cublas" #s "gemmStridedBatched", h, ta, tb, m, n, k, alpha, a, type, lda, b, type, ldb, beta, \
                        c, type, ldc, type, &(struct batch){.count = count, .a = sa, .b = sb, .c = sc});               \
    }                                                                                                                  \
    WG_EXPORT status cublas##s##gemmBatched(                                                                           \
        void *h, int ta, int tb, int m, int n, int k, const void *alpha, const void *const a[], int lda,               \
        const void *const b[], int ldb, const void *beta, void *const c[], int ldc, int count);                        \
    status cublas##s##gemmBatched(                                                                                     \
        void *h, int ta, int tb, int m, int n, int k, const void *alpha, const void *const a[], int lda,               \
        const void *const b[], int ldb, const void *beta, void *const c[], int ldc, int count)                         \
    {                                                                                                                  \
        return gemm_any("cublas" #s "gemmBatched", h, ta, tb, m, n, k, alpha, NULL, type, lda, NULL, type, ldb, beta,  \
                        NULL, type, ldc, type, &(struct batch){.count = count, .as = a, .bs = b, .cs = c});            \
    }
WG_GEMM(Sgemm_v2, WG_F32)
WG_GEMM(Dgemm_v2, WG_F64)
WG_GEMM(Hgemm, WG_F16)
WG_GEMM_MANY(S, WG_F32)
WG_GEMM_MANY(D, WG_F64)
WG_GEMM_MANY(H, WG_F16)

WG_EXPORT status cublasGemmEx(void *h, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int at,
                              int lda, const void *b, int bt, int ldb, const void *beta, void *c, int ct, int ldc,
                              int compute, int algorithm);
status cublasGemmEx(void *h, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int at, int lda,
                    const void *b, int bt, int ldb, const void *beta, void *c, int ct, int ldc, int compute,
                    int algorithm)
{
    (void)algorithm;
    return gemm_any("cublasGemmEx", h, ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc,
                    scale_type(compute), &(struct batch){.count = 1});
}
WG_EXPORT status cublasSgemmEx(void *h, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int at,
                               int lda, const void *b, int bt, int ldb, const void *beta, void *c, int ct, int ldc);
status cublasSgemmEx(void *h, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int at, int lda,
                     const void *b, int bt, int ldb, const void *beta, void *c, int ct, int ldc)
{
    return gemm_any("cublasSgemmEx", h, ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc, WG_F32,
                    &(struct batch){.count = 1});
}
WG_EXPORT status cublasGemmStridedBatchedEx(void *h, int ta, int tb, int m, int n, int k, const void *alpha,
                                            const void *a, int at, int lda, long long sa, const void *b, int bt, int ldb,
                                            long long sb, const void *beta, void *c, int ct, int ldc, long long sc,
                                            int count, int compute, int algorithm);
status cublasGemmStridedBatchedEx(void *h, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int at,
                                  int lda, long long sa, const void *b, int bt, int ldb, long long sb, const void *beta,
                                  void *c, int ct, int ldc, long long sc, int count, int compute, int algorithm)
{
    (void)algorithm;
    return gemm_any("cublasGemmStridedBatchedEx", h, ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc,
                    scale_type(compute), &(struct batch){.count = count, .a = sa, .b = sb, .c = sc});
}
WG_EXPORT status cublasGemmBatchedEx(void *h, int ta, int tb, int m, int n, int k, const void *alpha,
                                     const void *const a[], int at, int lda, const void *const b[], int bt, int ldb,
                                     const void *beta, void *const c[], int ct, int ldc, int count, int compute,
                                     int algorithm);
status cublasGemmBatchedEx(void *h, int ta, int tb, int m, int n, int k, const void *alpha, const void *const a[],
                           int at, int lda, const void *const b[], int bt, int ldb, const void *beta, void *const c[],
                           int ct, int ldc, int count, int compute, int algorithm)
{
    (void)algorithm;
    return gemm_any("cublasGemmBatchedEx", h, ta, tb, m, n, k, alpha, NULL, at, lda, NULL, bt, ldb, beta, NULL, ct, ldc,
                    scale_type(compute), &(struct batch){.count = count, .as = a, .bs = b, .cs = c});
}

/* y = alpha op(a) x + beta y: a product with matrices of one column, increments being distances of columns of one row */
static status gemv(const char *call, void *handle, int t, int64_t m, int64_t n, const void *alpha, const void *a,
                   int64_t lda, const void *x, int64_t incx, const void *beta, void *y, int64_t incy, int type)
{
    struct handle *h = known(handle);
    const int64_t rows = t == OP_N ? m : n, cols = t == OP_N ? n : m;
    double *v = NULL, *w = NULL, *z = NULL, s, f;
    if (!h)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    const struct matrix q = {t, type, rows, cols, lda, a};
    if (!alpha || !beta || !incx || !incy || bad(&q))
        return CUBLAS_STATUS_INVALID_VALUE;
    bool ok = wg_blas_get(h->stream, h->device_scalars, alpha, type, &s) &&
              wg_blas_get(h->stream, h->device_scalars, beta, type, &f) && vector(h, x, type, cols, incx, &v) &&
              vector(h, y, type, rows, incy, &w) && (z = fetch(h, &q));
    for (int64_t i = 0; ok && i < rows; i++) {
        double sum = 0;
        for (int64_t j = 0; j < cols; j++)
            sum += z[j * rows + i] * v[j];
        w[i] = s * sum + (f != 0 ? f * w[i] : 0);
    }
    ok = ok && put_vector(h, y, type, rows, incy, w);
    free(v);
    free(w);
    free(z);
    return ok ? CUBLAS_STATUS_SUCCESS : failed(call);
}
/* c = alpha op(a) + beta op(b) */
static status geam(const char *call, void *handle, int ta, int tb, int64_t m, int64_t n, const void *alpha,
                   const void *a, int64_t lda, const void *beta, const void *b, int64_t ldb, void *c, int64_t ldc,
                   int type)
{
    struct handle *h = known(handle);
    double s, t, *x = NULL, *y = NULL;
    if (!h)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    const struct matrix p = {ta, type, m, n, lda, a}, q = {tb, type, m, n, ldb, b}, r = {OP_N, type, m, n, ldc, c};
    if (!alpha || !beta || bad(&p) || bad(&q) || bad(&r))
        return CUBLAS_STATUS_INVALID_VALUE;
    bool ok = wg_blas_get(h->stream, h->device_scalars, alpha, type, &s) &&
              wg_blas_get(h->stream, h->device_scalars, beta, type, &t);
    const size_t all = (size_t)(m * n);
    if (ok) { /* an operand with the factor zero may be a null pointer */
        x = s != 0 ? fetch(h, &p) : calloc(all ? all : 1, sizeof *x);
        y = t != 0 ? fetch(h, &q) : calloc(all ? all : 1, sizeof *y);
    }
    ok = ok && x && y;
    for (size_t i = 0; ok && i < all; i++)
        x[i] = (s != 0 ? s * x[i] : 0) + (t != 0 ? t * y[i] : 0);
    ok = ok && wg_blas_write(h->stream, c, type, m, n, ldc, x);
    free(x);
    free(y);
    return ok ? CUBLAS_STATUS_SUCCESS : failed(call);
}
#define WG_LEVEL2(s, type)                                                                                             \
    WG_EXPORT status cublas##s##gemv_v2(void *h, int t, int m, int n, const void *alpha, const void *a, int lda,       \
                                        const void *x, int incx, const void *beta, void *y, int incy);                 \
    status cublas##s##gemv_v2(void *h, int t, int m, int n, const void *alpha, const void *a, int lda, const void *x,  \
                              int incx, const void *beta, void *y, int incy)                                           \
    {                                                                                                                  \
        return gemv("cublas" #s "gemv", h, t, m, n, alpha, a, lda, x, incx, beta, y, incy, type);                      \
    }                                                                                                                  \
    WG_EXPORT status cublas##s##geam(void *h, int ta, int tb, int m, int n, const void *alpha, const void *a, int lda, \
                                     const void *beta, const void *b, int ldb, void *c, int ldc);                      \
    status cublas##s##geam(void *h, int ta, int tb, int m, int n, const void *alpha, const void *a, int lda,           \
                           const void *beta, const void *b, int ldb, void *c, int ldc)                                 \
    {                                                                                                                  \
        return geam("cublas" #s "geam", h, ta, tb, m, n, alpha, a, lda, beta, b, ldb, c, ldc, type);                   \
    }
WG_LEVEL2(S, WG_F32)
WG_LEVEL2(D, WG_F64)
