// advice.cu - pairs of kernels: `bad_` wastes traffic in one way, `good_` is the same with what the advice says applied.
#include <cstdio>

const int N = 4096, W = 256, T = 32;
struct Point { float x, y, z, w; };

__global__ void bad_arrays(const Point *p, float *o) { int i = blockIdx.x * blockDim.x + threadIdx.x; o[i] = p[i].y; }
__global__ void good_arrays(const float *y, float *o) { int i = blockIdx.x * blockDim.x + threadIdx.x; o[i] = y[i]; }

__global__ void bad_align(const float *p, float *o) { int i = blockIdx.x * blockDim.x + threadIdx.x; o[i] = p[i + 3]; }
__global__ void good_align(const float *p, float *o) { int i = blockIdx.x * blockDim.x + threadIdx.x; o[i] = p[i + 8]; }

__global__ void bad_swap(const float *p, float *o)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    o[x] = p[x * W];
}
__global__ void good_swap(const float *p, float *o)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    o[x] = p[x];
}

// The same kernel in blocks of 4 x 32 and of 32 x 4.
__device__ void copy(const float *p, float *o)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float v = p[y * W + x];
    if (v < 0)
        o[y * W + x] = v;
}
__global__ void bad_widen(const float *p, float *o) { copy(p, o); }
__global__ void good_widen(const float *p, float *o) { copy(p, o); }

template <int Pad> __device__ float column(const float *p)
{
    __shared__ float t[T][T + Pad];
    t[threadIdx.y][threadIdx.x] = p[threadIdx.y * T + threadIdx.x];
    __syncthreads();
    return t[threadIdx.x][threadIdx.y];
}
__global__ void bad_pad(const float *p, float *o) { o[threadIdx.y * T + threadIdx.x] = column<0>(p); }
__global__ void good_pad(const float *p, float *o) { o[threadIdx.y * T + threadIdx.x] = column<1>(p); }

// Nothing to advise: addresses out of a table.
__global__ void bad_none(const int *at, const float *p, float *o)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    o[i] = p[at[i]];
}

int main()
{
    float *p, *o;
    int *at, host[N];
    cudaMalloc(&p, N * W * sizeof *p);
    cudaMalloc(&o, N * W * sizeof *o);
    cudaMalloc(&at, sizeof host);
    cudaMemset(p, 0, N * W * sizeof *p);
    for (int i = 0; i < N; i++)
        host[i] = (int)(i * 2654435761u % (N * W));
    cudaMemcpy(at, host, sizeof host, cudaMemcpyHostToDevice);
    bad_arrays<<<N / 256, 256>>>((Point *)p, o);
    good_arrays<<<N / 256, 256>>>(p, o);
    bad_align<<<N / 256, 256>>>(p, o);
    good_align<<<N / 256, 256>>>(p, o);
    bad_swap<<<N / 256, 256>>>(p, o);
    good_swap<<<N / 256, 256>>>(p, o);
    bad_widen<<<dim3(W / 4, N / 32), dim3(4, 32)>>>(p, o);
    good_widen<<<dim3(W / 32, N / 4), dim3(32, 4)>>>(p, o);
    bad_pad<<<1, dim3(T, T)>>>(p, o);
    good_pad<<<1, dim3(T, T)>>>(p, o);
    bad_none<<<N / 256, 256>>>(at, p, o);
    bool ok = cudaDeviceSynchronize() == cudaSuccess;
    printf("%s\n", ok ? "PASS" : "FAIL");
    return !ok;
}
