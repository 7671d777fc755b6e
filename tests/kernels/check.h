// check.h - what the kernel tests share: error checks and a verdict.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#define CK(x)                                                                                                          \
    do {                                                                                                               \
        cudaError_t e_ = (x);                                                                                          \
        if (e_ != cudaSuccess) {                                                                                       \
            printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e_));                                         \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
static int failures;
#define EXPECT(cond, ...)                                                                                              \
    do {                                                                                                               \
        if (!(cond) && ++failures <= 10) {                                                                             \
            printf("%s:%d: %s: ", __FILE__, __LINE__, #cond);                                                          \
            printf(__VA_ARGS__);                                                                                       \
            printf("\n");                                                                                              \
        }                                                                                                              \
    } while (0)
template <class T> static T *device(size_t n)
{
    T *p;
    CK(cudaMalloc((void **)&p, n * sizeof(T)));
    CK(cudaMemset(p, 0, n * sizeof(T)));
    return p;
}
template <class T> static void fetch(T *to, const T *from, size_t n)
{
    CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(to, from, n * sizeof(T), cudaMemcpyDeviceToHost));
}
static int verdict(const char *name)
{
    printf("%s: %s\n", name, failures ? "FAIL" : "PASS");
    return failures != 0;
}
