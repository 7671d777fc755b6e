// common.h - buffers for the kernels of the checks' tests.
#pragma once
#include <cstdio>
#include <cuda_runtime.h>

template <class T> T *zeros(size_t n)
{
    T *p;
    cudaMalloc(&p, n * sizeof(T));
    cudaMemset(p, 0, n * sizeof(T));
    return p;
}
template <class T> T *filled(size_t n)
{
    T *p = zeros<T>(n), *h = new T[n];
    for (size_t k = 0; k < n; k++)
        h[k] = (T)(k % 23);
    cudaMemcpy(p, h, n * sizeof(T), cudaMemcpyHostToDevice);
    delete[] h;
    return p;
}
