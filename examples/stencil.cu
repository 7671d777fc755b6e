// stencil.cu - each element becomes the weighted sum of itself and three neighbours on each side. global: seven loads
// an element, which the caches must serve. shared: a block loads its elements and a halo of three on each side once.
// The bugs: the halo is never loaded; the barrier is left out; the halo at the end of the array is read past it.
// usage: stencil [n] [global|shared|bug-no-halo|bug-no-barrier|bug-edge]... [--seed N] [--time REPEATS]
// bench: 4194304 67108864
#include "common.h"

const int Radius = 3, Block = 256;
__constant__ float weights[2 * Radius + 1];

__global__ void stencil_global(const float *in, float *out, int n)
{
    const int i = blockIdx.x * Block + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int k = -Radius; k <= Radius; k++)
        if (i + k >= 0 && i + k < n)
            sum += weights[k + Radius] * in[i + k];
    out[i] = sum;
}

enum Bug { None, NoHalo, NoBarrier, NoGuard };

template <Bug Wrong> __global__ void stencil_shared(const float *in, float *out, int n)
{
    __shared__ float part[Block + 2 * Radius];
    const int t = threadIdx.x, i = blockIdx.x * Block + t;
    part[t + Radius] = i < n ? in[i] : 0.0f;
    if (Wrong != NoHalo && t < Radius) {
        const int before = i - Radius, after = i + Block;
        part[t] = before >= 0 ? in[before] : 0.0f;
        part[t + Radius + Block] = Wrong == NoGuard || after < n ? in[after] : 0.0f;
    }
    if (Wrong != NoBarrier)
        __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k <= 2 * Radius; k++)
        sum += weights[k] * part[t + k];
    if (i < n)
        out[i] = sum;
}

int main(int argc, char **argv)
{
    Example e("stencil", {"global", "shared", "bug-no-halo", "bug-no-barrier", "bug-edge"}, argc, argv, 1 << 20, 1,
              1 << 28);
    void (*const kernels[])(const float *, float *, int) = {stencil_global, stencil_shared<None>,
                                                            stencil_shared<NoHalo>, stencil_shared<NoBarrier>,
                                                            stencil_shared<NoGuard>};
    const int n = e.n;
    const auto in = random_floats(n, e.seed);
    const float w7[] = {0.0625f, 0.125f, 0.1875f, 0.25f, 0.1875f, 0.125f, 0.0625f};
    CHECK(cudaMemcpyToSymbol(weights, w7, sizeof w7));
    float *const din = to_device(in), *const dout = on_device<float>(n);
    for (size_t w = 0; w < e.ways.size(); w++) {
        if (!e.wants(e.ways[w]))
            continue;
        CHECK(cudaMemset(dout, 0xff, n * sizeof(float)));
        const double ms = e.run([&] { kernels[w]<<<(n + Block - 1) / Block, Block>>>(din, dout, n); });
        const auto out = to_host(dout, n);
        double worst = 0.0;
        for (int i = 0; i < n; i++) {
            double sum = 0.0;
            for (int k = std::max(-Radius, -i); k <= Radius && i + k < n; k++)
                sum += (double)w7[k + Radius] * in[i + k];
            worst = worse(worst, std::fabs(out[i] - sum)); // of sizes up to 1
        }
        e.report(e.ways[w], worst, 1e-6, ms);
    }
    CHECK(cudaFree(din));
    CHECK(cudaFree(dout));
    return e.failed;
}
