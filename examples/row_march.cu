// row_march.cu - sums of 256 numbers each, a thread a sum. bad: a thread goes along a row, so that the 32 threads of a
// warp are in 32 rows and touch 32 sectors an access. good: the matrix is stored by columns; 4 sectors.
// bug-edge: the guard lets one row too many through.
// usage: row_march [n] [bad|good|bug-edge]... [--seed N] [--time REPEATS]      n rows
// bench: 65536 1048576
#include "common.h"

const int Columns = 256;

__global__ void row_march_bad(const float *m, float *sum, int rows)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float s = 0.0f;
    for (int c = 0; c < Columns; c++)
        s += m[(size_t)row * Columns + c];
    sum[row] = s;
}

template <int Off> __global__ void row_march_good(const float *m, float *sum, int rows)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows + Off)
        return;
    float s = 0.0f;
    for (int c = 0; c < Columns; c++)
        s += m[(size_t)c * rows + row];
    sum[row] = s;
}

int main(int argc, char **argv)
{
    Example e("row_march", {"bad", "good", "bug-edge"}, argc, argv, 2048, 1, 1 << 22);
    void (*const kernels[])(const float *, float *, int) = {row_march_bad, row_march_good<0>, row_march_good<1>};
    const int n = e.n;
    const auto m = random_floats((size_t)n * Columns, e.seed);
    float *const dm = to_device(m), *const dsum = on_device<float>(n);
    for (size_t w = 0; w < e.ways.size(); w++) {
        if (!e.wants(e.ways[w]))
            continue;
        const double ms = e.run([&] { kernels[w]<<<(n + 127) / 128, 128>>>(dm, dsum, n); });
        const auto sum = to_host(dsum, n);
        double worst = 0.0;
        for (int r = 0; r < n; r++) {
            double expect = 0.0, size = 0.0;
            for (int c = 0; c < Columns; c++) {
                const double x = m[kernels[w] == row_march_bad ? (size_t)r * Columns + c : (size_t)c * n + r];
                expect += x;
                size += std::fabs(x);
            }
            worst = worse(worst, std::fabs(sum[r] - expect) / size);
        }
        e.report(e.ways[w], worst, 1e-6, ms);
    }
    CHECK(cudaFree(dm));
    CHECK(cudaFree(dsum));
    return e.failed;
}
