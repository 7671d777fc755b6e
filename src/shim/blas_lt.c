/* blas_lt.c - libcublasLt: the handle alone. A call that is not here ends the program with its name, from the loader. */
#include <stdlib.h>

#define WG_EXPORT __attribute__((visibility("default")))
WG_EXPORT int cublasLtCreate(void **out);
WG_EXPORT int cublasLtDestroy(void *h);

int cublasLtCreate(void **out)
{
    enum { ALLOC_FAILED = 3, INVALID_VALUE = 7 };
    if (!out)
        return INVALID_VALUE;
    *out = malloc(1);
    return *out ? 0 : ALLOC_FAILED;
}

int cublasLtDestroy(void *h)
{
    free(h);
    return 0;
}
