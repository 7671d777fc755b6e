// hw_time.cuh - what both parts of the measurement share: checks, buffers, one CSV row.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#define CK(x)                                                                                                          \
    do {                                                                                                               \
        cudaError_t e_ = (x);                                                                                          \
        if (e_ != cudaSuccess) {                                                                                       \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_));                                 \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
static long long *times; // managed: start and end of each warp
static unsigned *sink;   // device
static void row(const char *what, const char *label, double a, double b, double value, const char *unit)
{
    printf("%s,%s,%g,%g,%.6g,%s\n", what, label, a, b, value, unit);
    fflush(stdout);
}
