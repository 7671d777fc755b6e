// divergence.cu - four kinds of elements, each with a loop of its own. mixed: the kinds lie at random, so that a warp
// walks through all four loops with a quarter of its lanes. sorted: the same kernel, the elements ordered by kind.
// usage: divergence [n] [mixed|sorted]... [--seed N] [--time REPEATS]
// bench: 4194304 16777216
#include "common.h"

const int Steps = 32;

__global__ void by_kind(const unsigned char *kind, const float *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i];
    if (kind[i] == 0) {
        for (int k = 0; k < Steps; k++)
            x = x * 0.75f + 0.125f;
    } else if (kind[i] == 1) {
        for (int k = 0; k < Steps; k++)
            x = 0.5f * x * x - 0.25f;
    } else if (kind[i] == 2) {
        for (int k = 0; k < Steps; k++)
            x = fabsf(x) * 0.875f - 0.0625f;
    } else {
        for (int k = 0; k < Steps; k++)
            x = 0.25f - 0.5f * x;
    }
    out[i] = x;
}

static double by_kind_reference(int kind, double x)
{
    for (int k = 0; k < Steps; k++)
        x = kind == 0   ? x * 0.75 + 0.125
            : kind == 1 ? 0.5 * x * x - 0.25
            : kind == 2 ? std::fabs(x) * 0.875 - 0.0625
                        : 0.25 - 0.5 * x;
    return x;
}

int main(int argc, char **argv)
{
    Example e("divergence", {"mixed", "sorted"}, argc, argv, 1 << 18, 1, 1 << 28);
    const int n = e.n;
    const auto in = random_floats(n, e.seed);
    Random bits(e.seed + 1);
    std::vector<unsigned char> kind(n);
    for (unsigned char &k : kind)
        k = (unsigned char)(bits() >> 30);
    float *const din = to_device(in), *const dout = on_device<float>(n);
    for (size_t w = 0; w < e.ways.size(); w++) {
        if (!e.wants(e.ways[w]))
            continue;
        if (w == 1)
            std::sort(kind.begin(), kind.end());
        unsigned char *const dkind = to_device(kind);
        CHECK(cudaMemset(dout, 0xff, n * sizeof(float)));
        const double ms = e.run([&] { by_kind<<<(n + 255) / 256, 256>>>(dkind, din, dout, n); });
        const auto out = to_host(dout, n);
        double worst = 0.0;
        for (int i = 0; i < n; i++)
            worst = worse(worst, std::fabs(out[i] - by_kind_reference(kind[i], in[i]))); // of sizes up to 1
        e.report(e.ways[w], worst, 1e-6, ms);
        CHECK(cudaFree(dkind));
    }
    CHECK(cudaFree(din));
    CHECK(cudaFree(dout));
    return e.failed;
}
