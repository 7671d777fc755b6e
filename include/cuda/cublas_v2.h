/* cublas_v2.h - the part of cuBLAS that is computed on the host (src/shim/blas.c): what samples check themselves with. */
#ifndef WG_CUDA_CUBLAS_V2_H
#define WG_CUDA_CUBLAS_V2_H
#include "cuComplex.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"
#include "library_types.h"

#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 0
#define CUBLAS_VERSION 130000

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1, CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_ARCH_MISMATCH = 8, CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13, CUBLAS_STATUS_INTERNAL_ERROR = 14, CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum {
    CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2, CUBLAS_OP_HERMITAN = 2, CUBLAS_OP_CONJG = 3
} cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;
typedef enum {
    CUBLAS_DEFAULT_MATH = 0, CUBLAS_TENSOR_OP_MATH = 1, CUBLAS_PEDANTIC_MATH = 2, CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum {
    CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_16F_PEDANTIC = 65, CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69, CUBLAS_COMPUTE_32F_FAST_16F = 74, CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77, CUBLAS_COMPUTE_64F = 70, CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72, CUBLAS_COMPUTE_32I_PEDANTIC = 73
} cublasComputeType_t;
/* how cuBLAS would do it: of no account here */
typedef enum { CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_ALGO0 = 0,
               CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99, CUBLAS_GEMM_DFALT_TENSOR_OP = 99 } cublasGemmAlgo_t;
typedef cudaDataType cublasDataType_t;
typedef struct cublasContext *cublasHandle_t;

#ifdef __cplusplus
extern "C" {
#endif
#define cublasCreate cublasCreate_v2
#define cublasDestroy cublasDestroy_v2
#define cublasSetStream cublasSetStream_v2
#define cublasGetStream cublasGetStream_v2
#define cublasSetPointerMode cublasSetPointerMode_v2
#define cublasGetPointerMode cublasGetPointerMode_v2
#define cublasSetWorkspace cublasSetWorkspace_v2
#define cublasGetVersion cublasGetVersion_v2
cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t *stream);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t *mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t *mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int *version);
const char *cublasGetStatusName(cublasStatus_t status);
const char *cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasSetMatrix(int rows, int cols, int size, const void *a, int lda, void *b, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int cols, int size, const void *a, int lda, void *b, int ldb);
cublasStatus_t cublasSetVector(int n, int size, const void *x, int incx, void *y, int incy);
cublasStatus_t cublasGetVector(int n, int size, const void *x, int incx, void *y, int incy);

#define WG_H cublasHandle_t handle
#define WG_OPS cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k
#define WG_BLAS_VECTORS(s, T)                                                                                          \
    cublasStatus_t cublas##s##nrm2_v2(WG_H, int n, const T *x, int incx, T *result);                                   \
    cublasStatus_t cublas##s##asum_v2(WG_H, int n, const T *x, int incx, T *result);                                   \
    cublasStatus_t cublas##s##dot_v2(WG_H, int n, const T *x, int incx, const T *y, int incy, T *result);              \
    cublasStatus_t cublas##s##axpy_v2(WG_H, int n, const T *alpha, const T *x, int incx, T *y, int incy);              \
    cublasStatus_t cublas##s##scal_v2(WG_H, int n, const T *alpha, T *x, int incx);                                    \
    cublasStatus_t cublas##s##copy_v2(WG_H, int n, const T *x, int incx, T *y, int incy);                              \
    cublasStatus_t cublas##s##swap_v2(WG_H, int n, T *x, int incx, T *y, int incy);                                    \
    cublasStatus_t cublas##s##gemv_v2(WG_H, cublasOperation_t t, int m, int n, const T *alpha, const T *a, int lda,    \
                                      const T *x, int incx, const T *beta, T *y, int incy);                            \
    cublasStatus_t cublas##s##geam(WG_H, cublasOperation_t ta, cublasOperation_t tb, int m, int n, const T *alpha,     \
                                   const T *a, int lda, const T *beta, const T *b, int ldb, T *c, int ldc);
#define WG_BLAS_MATRICES(s, gemm, T)                                                                                   \
    cublasStatus_t gemm(WG_H, WG_OPS, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c,   \
                        int ldc);                                                                                      \
    cublasStatus_t cublas##s##gemmStridedBatched(WG_H, WG_OPS, const T *alpha, const T *a, int lda, long long stride_a,\
                                                 const T *b, int ldb, long long stride_b, const T *beta, T *c,         \
                                                 int ldc, long long stride_c, int count);                              \
    cublasStatus_t cublas##s##gemmBatched(WG_H, WG_OPS, const T *alpha, const T *const a[], int lda,                   \
                                          const T *const b[], int ldb, const T *beta, T *const c[], int ldc,           \
                                          int count);
WG_BLAS_VECTORS(S, float)
WG_BLAS_VECTORS(D, double)
WG_BLAS_MATRICES(S, cublasSgemm_v2, float)
WG_BLAS_MATRICES(D, cublasDgemm_v2, double)
#ifdef __cplusplus
WG_BLAS_MATRICES(H, cublasHgemm, __half)
#endif
cublasStatus_t cublasIsamax_v2(WG_H, int n, const float *x, int incx, int *result);
cublasStatus_t cublasIdamax_v2(WG_H, int n, const double *x, int incx, int *result);
cublasStatus_t cublasIsamin_v2(WG_H, int n, const float *x, int incx, int *result);
cublasStatus_t cublasIdamin_v2(WG_H, int n, const double *x, int incx, int *result);
cublasStatus_t cublasSgemmEx(WG_H, WG_OPS, const float *alpha, const void *a, cudaDataType a_type, int lda,
                             const void *b, cudaDataType b_type, int ldb, const float *beta, void *c,
                             cudaDataType c_type, int ldc);
cublasStatus_t cublasGemmEx(WG_H, WG_OPS, const void *alpha, const void *a, cudaDataType a_type, int lda, const void *b,
                            cudaDataType b_type, int ldb, const void *beta, void *c, cudaDataType c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmStridedBatchedEx(WG_H, WG_OPS, const void *alpha, const void *a, cudaDataType a_type, int lda,
                                          long long stride_a, const void *b, cudaDataType b_type, int ldb,
                                          long long stride_b, const void *beta, void *c, cudaDataType c_type, int ldc,
                                          long long stride_c, int count, cublasComputeType_t compute,
                                          cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmBatchedEx(WG_H, WG_OPS, const void *alpha, const void *const a[], cudaDataType a_type, int lda,
                                   const void *const b[], cudaDataType b_type, int ldb, const void *beta,
                                   void *const c[], cudaDataType c_type, int ldc, int count,
                                   cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
#undef WG_BLAS_MATRICES
#undef WG_BLAS_VECTORS
#undef WG_OPS
#undef WG_H
#ifdef __cplusplus
}
/* the form before CUDA 11, which named the type of the sums */
static __inline__ cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m,
                                              int n, int k, const void *alpha, const void *a, cudaDataType a_type,
                                              int lda, const void *b, cudaDataType b_type, int ldb, const void *beta,
                                              void *c, cudaDataType c_type, int ldc, cudaDataType compute,
                                              cublasGemmAlgo_t algorithm)
{
    const cublasComputeType_t type = compute == CUDA_R_16F   ? CUBLAS_COMPUTE_16F
                                     : compute == CUDA_R_64F ? CUBLAS_COMPUTE_64F
                                     : compute == CUDA_R_32I ? CUBLAS_COMPUTE_32I
                                                             : CUBLAS_COMPUTE_32F;
    return cublasGemmEx(handle, ta, tb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, type,
                        algorithm);
}
#endif
#define cublasSnrm2 cublasSnrm2_v2
#define cublasDnrm2 cublasDnrm2_v2
#define cublasSasum cublasSasum_v2
#define cublasDasum cublasDasum_v2
#define cublasSdot cublasSdot_v2
#define cublasDdot cublasDdot_v2
#define cublasSaxpy cublasSaxpy_v2
#define cublasDaxpy cublasDaxpy_v2
#define cublasSscal cublasSscal_v2
#define cublasDscal cublasDscal_v2
#define cublasScopy cublasScopy_v2
#define cublasDcopy cublasDcopy_v2
#define cublasSswap cublasSswap_v2
#define cublasDswap cublasDswap_v2
#define cublasSgemv cublasSgemv_v2
#define cublasDgemv cublasDgemv_v2
#define cublasSgemm cublasSgemm_v2
#define cublasDgemm cublasDgemm_v2
#define cublasIsamax cublasIsamax_v2
#define cublasIdamax cublasIdamax_v2
#define cublasIsamin cublasIsamin_v2
#define cublasIdamin cublasIdamin_v2
#endif
