/* cublasLt.h - the handle alone, which programs make before they know whether they need it; its products are not here. */
#ifndef WG_CUDA_CUBLASLT_H
#define WG_CUDA_CUBLASLT_H
#include "cublas_v2.h"
typedef struct cublasLtContext *cublasLtHandle_t;
#ifdef __cplusplus
extern "C" {
#endif
cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle);
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle);
#ifdef __cplusplus
}
#endif
#endif
