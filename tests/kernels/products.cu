// products.cu - sums of products of one value for all lanes and neighbouring values, as in the inner loop of a matrix
// product, in every way a warp can come by: full and partial warps, split ones, lines that are not whole, factors that are
// used again, NaN. Exact: the host's own fused multiply-adds must give the same bits.
#include "check.h"
#include <cmath>
#include <cstring>
#include <vector>

const int K = 24, N = 256;

struct Way {
    int shift; // elements by which the neighbours' row begins off a line
    int block, split, again;
};

// out[t] = sum over k of one[k] * row[k * N + t + shift], in this order; again adds the last factors themselves.
__global__ void through_global(const float *one, const float *row, float *out, Way w)
{
    int t = threadIdx.x;
    float sum = 0.0f, kept = 0.0f;
    if (w.split && t % 3 == 1) {
        out[t] = -1.0f;
        return;
    }
#pragma unroll 4
    for (int k = 0; k < K; k++) {
        float x = row[k * N + t + w.shift], y = one[k];
        sum = fmaf(y, x, sum);
        if (w.again)
            kept = x + y;
    }
    out[t] = sum + kept;
}

__global__ void through_shared(const float *one, const float *row, float *out, Way w)
{
    __shared__ float so[K], sr[K][64 + 8];
    int t = threadIdx.x;
    for (int k = t; k < K; k += blockDim.x)
        so[k] = one[k];
    for (int k = 0; k < K; k++) {
        sr[k][t] = row[k * N + t];
        if (t < 8)
            sr[k][blockDim.x + t] = row[k * N + blockDim.x + t];
    }
    __syncthreads();
    float sum = 0.0f, kept = 0.0f;
    if (w.split && t % 3 == 1) {
        out[t] = -1.0f;
        return;
    }
#pragma unroll 8
    for (int k = 0; k < K; k++) {
        float x = sr[k][t + w.shift], y = so[k];
        sum = fmaf(y, x, sum);
        if (w.again)
            kept = x + y;
    }
    out[t] = sum + kept;
}

static int differs(const float *a, const float *b, int n)
{
    for (int i = 0; i < n; i++)
        if (memcmp(a + i, b + i, 4) && !(std::isnan(a[i]) && std::isnan(b[i])))
            return i + 1;
    return 0;
}

int main()
{
    std::vector<float> one(K), row(K * N), want(N), got(N);
    for (int k = 0; k < K; k++)
        one[k] = 1.0f / (k + 3);
    for (int i = 0; i < K * N; i++)
        row[i] = sinf(float(i));
    row[5 * N + 7] = NAN;
    row[9 * N + 11] = INFINITY;
    row[10 * N + 11] = -INFINITY; // a NaN made on the way
    float *done, *drow, *dout;
    CK(cudaMalloc(&done, K * 4));
    CK(cudaMalloc(&drow, K * N * 4));
    CK(cudaMalloc(&dout, N * 4));
    CK(cudaMemcpy(done, one.data(), K * 4, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(drow, row.data(), K * N * 4, cudaMemcpyHostToDevice));
    static const int blocks[] = {64, 32, 20, 33};
    for (int where = 0; where < 2; where++)
        for (int b = 0; b < 4; b++)
            for (int rest = 0; rest < 12; rest++) {
                Way w = {rest % 3, blocks[b], rest / 3 % 2, rest / 6};
                for (int t = 0; t < w.block; t++) {
                    float sum = 0.0f;
                    for (int k = 0; k < K; k++)
                        sum = fmaf(one[k], row[k * N + t + w.shift], sum);
                    float last = row[(K - 1) * N + t + w.shift] + one[K - 1];
                    want[t] = w.split && t % 3 == 1 ? -1.0f : sum + (w.again ? last : 0.0f);
                }
                if (where)
                    through_shared<<<1, w.block>>>(done, drow, dout, w);
                else
                    through_global<<<1, w.block>>>(done, drow, dout, w);
                CK(cudaMemcpy(got.data(), dout, N * 4, cudaMemcpyDeviceToHost));
                int bad = differs(got.data(), want.data(), w.block);
                if (bad) {
                    printf("%s, block %d, shift %d, split %d, again %d: thread %d has %g, not %g\n",
                           where ? "shared" : "global", w.block, w.shift, w.split, w.again, bad - 1, got[bad - 1],
                           want[bad - 1]);
                    return 1;
                }
            }
    printf("PASS\n");
    return 0;
}
