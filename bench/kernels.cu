// kernels.cu - the kernels that bench/engine times: matrix multiply (two ways), transpose, reduction, histogram, and
// one whose lanes diverge. Each has a twin of the same name and shape in kernels.cl.

// C = A B, one thread per element; block 32 x 8, n a multiple of 32.
extern "C" __global__ void sgemm_naive(const float *A, const float *B, float *C, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += A[y * n + k] * B[k * n + x];
    C[y * n + x] = sum;
}

// The same through tiles in shared memory; block 32 x 32.
extern "C" __global__ void sgemm_tiled(const float *A, const float *B, float *C, int n)
{
    __shared__ float a[32][32], b[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
    float sum = 0;
    for (int t = 0; t < n; t += 32) {
        a[ty][tx] = A[y * n + t + tx];
        b[ty][tx] = B[(t + ty) * n + x];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 32; k++)
            sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    C[y * n + x] = sum;
}

// out = in transposed, n x n, through a padded tile; block 32 x 8.
extern "C" __global__ void transpose(const float *in, float *out, int n)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

// out[block] = sum of the block's 512 elements, sequential addressing; block 256.
extern "C" __global__ void reduce(const float *in, float *out)
{
    __shared__ float s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * 512 + t;
    s[t] = in[i] + in[i + 256];
    __syncthreads();
    for (unsigned d = 128; d > 0; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// counts[value % 256] over 16 elements a thread, first in shared memory; block 256.
extern "C" __global__ void histogram(const unsigned *in, unsigned *counts)
{
    __shared__ unsigned s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * 4096 + t;
    s[t] = 0;
    __syncthreads();
    for (int k = 0; k < 16; k++)
        atomicAdd(&s[in[i + k * 256] & 255], 1u);
    __syncthreads();
    atomicAdd(&counts[t], s[t]);
}

// Steps of the Collatz sequence from each element down to 1: lanes leave the loop one by one; block 256.
extern "C" __global__ void divergent(const unsigned *in, unsigned *steps)
{
    unsigned i = blockIdx.x * 256 + threadIdx.x, v = in[i], n = 0;
    while (v > 1) {
        if (v & 1)
            v = 3 * v + 1;
        else
            v >>= 1;
        n++;
    }
    steps[i] = n;
}
