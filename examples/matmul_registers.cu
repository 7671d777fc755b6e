// matmul_registers.cu - C = A*B where each thread keeps a rectangle of C in registers, so that a value read from shared
// memory is used several times: 4(c+r)/(c r) bytes of shared traffic for each multiply-add, 4 at 2x2, 1 at 8x8.
// unpadded has four words an access: the tile of A is transposed, so that the rows of a thread lie side by side, and
// the 8x8 is four 4x4, so that the lanes of a warp together read whole lines of shared memory.
// vector is the same with four spare words a row, which keep the transposed stores off each other's banks.
// bug-no-second-barrier lets the next tile overwrite this one.
// usage: matmul_registers [n] [2x2|4x4|8x8|unpadded|vector|bug-no-second-barrier]... [--seed N] [--time REPEATS]
#include "common.h"

// A block of 16x16 threads computes a square of 16*R; the rectangles' elements lie 16 apart, so that neighbouring
// threads read neighbouring words.
template <int R>
__global__ __launch_bounds__(256) void matmul_registers(const float *a, const float *b, float *c, int n)
{
    const int Side = 16 * R, Deep = 8;
    __shared__ float as[Side][Deep], bs[Deep][Side];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int row = blockIdx.y * Side, col = blockIdx.x * Side;
    float sum[R][R] = {};
    for (int at = 0; at < n; at += Deep) {
        for (int i = threadIdx.x; i < Side * Deep; i += 256) {
            as[i / Deep][i % Deep] = a[(size_t)(row + i / Deep) * n + at + i % Deep];
            bs[i / Side][i % Side] = b[(size_t)(at + i / Side) * n + col + i % Side];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < Deep; k++) {
            float x[R], y[R];
#pragma unroll
            for (int i = 0; i < R; i++) {
                x[i] = as[ty + 16 * i][k];
                y[i] = bs[k][tx + 16 * i];
            }
#pragma unroll
            for (int i = 0; i < R; i++)
#pragma unroll
                for (int j = 0; j < R; j++)
                    sum[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < R; i++)
#pragma unroll
        for (int j = 0; j < R; j++)
            c[(size_t)(row + ty + 16 * i) * n + col + tx + 16 * j] = sum[i][j];
}

// A warp computes 32x64 of the block's 128x128, as 4x8 lanes of twice 4 rows and twice 4 columns.
template <int Pad, bool Second>
__global__ __launch_bounds__(256, 2) void matmul_vector(const float *a, const float *b, float *c, int n)
{
    const int Side = 128, Deep = 8;
    __shared__ __align__(16) float as[Deep][Side + Pad], bs[Deep][Side];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    const int row = warp / 2 * 32 + lane / 8 * 4, col = warp % 2 * 64 + lane % 8 * 4;
    const int a_row = t / 2, a_k = t % 2 * 4, b_k = t / 32, b_col = t % 32 * 4;
    a += (size_t)(blockIdx.y * Side + a_row) * n + a_k;
    b += (size_t)b_k * n + blockIdx.x * Side + b_col;
    float sum[8][8] = {};
    for (int at = 0; at < n; at += Deep) {
        const float4 va = *(const float4 *)a;
        as[a_k][a_row] = va.x;
        as[a_k + 1][a_row] = va.y;
        as[a_k + 2][a_row] = va.z;
        as[a_k + 3][a_row] = va.w;
        *(float4 *)&bs[b_k][b_col] = *(const float4 *)b;
        a += Deep;
        b += (size_t)Deep * n;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < Deep; k++) {
            float x[8], y[8];
            *(float4 *)&x[0] = *(const float4 *)&as[k][row];
            *(float4 *)&x[4] = *(const float4 *)&as[k][row + 16];
            *(float4 *)&y[0] = *(const float4 *)&bs[k][col];
            *(float4 *)&y[4] = *(const float4 *)&bs[k][col + 32];
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    sum[i][j] += x[i] * y[j];
        }
        if (Second)
            __syncthreads();
    }
    c += (size_t)(blockIdx.y * Side + row) * n + blockIdx.x * Side + col;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        float *const to = c + (size_t)(i % 4 + i / 4 * 16) * n;
        *(float4 *)to = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
        *(float4 *)(to + 32) = make_float4(sum[i][4], sum[i][5], sum[i][6], sum[i][7]);
    }
}

int main(int argc, char **argv)
{
    Example e("matmul_registers", {"2x2", "4x4", "8x8", "unpadded", "vector", "bug-no-second-barrier"}, argc, argv, 256,
              128, 16384, 128);
    const struct {
        void (*kernel)(const float *, const float *, float *, int);
        int side;
    } ways[] = {{matmul_registers<2>, 32},     {matmul_registers<4>, 64},     {matmul_registers<8>, 128},
                {matmul_vector<0, true>, 128}, {matmul_vector<4, true>, 128}, {matmul_vector<4, false>, 128}};
    const int n = e.n;
    const auto a = random_floats((size_t)n * n, 2 * e.seed), b = random_floats(a.size(), 2 * e.seed + 1);
    float *const da = to_device(a), *const db = to_device(b), *const dc = on_device<float>(a.size());
    for (size_t w = 0; w < e.ways.size(); w++) {
        if (!e.wants(e.ways[w]))
            continue;
        const int blocks = n / ways[w].side;
        CHECK(cudaMemset(dc, 0xff, a.size() * sizeof(float)));
        const double ms = e.run([&] { ways[w].kernel<<<dim3(blocks, blocks), 256>>>(da, db, dc, n); });
        e.report(e.ways[w], product_error(a, b, to_host(dc, a.size()), n), 1e-6, ms);
    }
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    return e.failed;
}
