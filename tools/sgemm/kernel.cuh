// kernel.cuh - C = A*B in single precision with everything that could matter as a parameter: one object for each set.
// A block computes BM x BN with tiles BK deep, a warp WM x WN of it, a thread TM x TN.
#pragma once
#include <cuda_pipeline_primitives.h>

// How a tile of A comes to shared memory. Along: rows as they are, padded to an odd number of 16-byte chunks, copied
// 16 bytes at a time; a thread reads four k of one row. Words: transposed by asynchronous copies of 4 bytes each.
// Turned: transposed through registers. A thread reads four rows of one k of the last two.
enum { Along, Words, Turned };
// Lanes as rows and columns of a warp: Plain as one counts, Paired so that lanes 2i and 2i+1 share a column and i and
// i^2 a row, which lets the hardware serve 16 lanes of a 128-bit load at once.
enum { Plain, Paired };

template <int BM_, int BN_, int BK_, int WM_, int WN_, int TM_, int TN_, int Stages_, int Blocks_, int How_, int Lanes_,
          int Group_, int Ahead_>
struct Shape {
    static constexpr int BM = BM_, BN = BN_, BK = BK_, WM = WM_, WN = WN_, TM = TM_, TN = TN_, Stages = Stages_,
                         Blocks = Blocks_, How = How_, Lanes = Lanes_, Group = Group_, Ahead = Ahead_;
    static constexpr int Threads = BM / WM * (BN / WN) * 32, LM = WM / TM, LN = WN / TN;
    static constexpr int A_row = How == Along ? BK + (BK / 4 % 2 ? 8 : 4) : BM + 4;
    static constexpr int A_words = How == Along ? BM * A_row : BK * A_row, B_words = BK * BN;
    static constexpr int Bytes = Stages * (A_words + B_words) * 4;
    static_assert(LM * LN == 32 && BM % WM == 0 && BN % WN == 0, "lanes");
    static_assert(BM * BK / 4 % Threads == 0 && BN * BK / 4 % Threads == 0, "copies");
};

template <class S>
__global__ __launch_bounds__(S::Threads, S::Blocks) void sgemm(const float *a, const float *b, float *c, int n)
{
    constexpr int BM = S::BM, BN = S::BN, BK = S::BK, TM = S::TM, TN = S::TN, Threads = S::Threads, LM = S::LM,
                  LN = S::LN, Stages = S::Stages, How = S::How;
    extern __shared__ __align__(16) float room[];
    float *const as = room, *const bs = room + Stages * S::A_words;
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    const int lr = S::Lanes == Paired ? lane / (2 * LN) * 2 + lane % 2 : lane / LN;
    const int lc = S::Lanes == Paired ? lane % (2 * LN) / 2 : lane % LN;
    const int wr = warp / (BN / S::WN) * S::WM, wc = warp % (BN / S::WN) * S::WN;
    int bx = blockIdx.x, by = blockIdx.y;
    if (S::Group > 0) { // Group rows of tiles together, column by column
        const int id = blockIdx.y * gridDim.x + blockIdx.x, per = S::Group * gridDim.x;
        const int first = id / per * S::Group, rows = min((int)gridDim.y - first, S::Group);
        by = first + id % per % rows;
        bx = id % per / rows;
    }
    constexpr int A_copies = BM * BK / 4 / Threads, B_copies = BN * BK / 4 / Threads;
    constexpr int A_step = Threads / (BK / 4), B_step = Threads / (BN / 4);
    static_assert(Threads % (BN / 4) == 0 || B_copies == 0 || (BN / 4) % Threads == 0, "rows of B");
    const int a_r = t / (BK / 4), a_c = t % (BK / 4) * 4, b_r = t / (BN / 4), b_c = t % (BN / 4) * 4;
    const float *ga = a + (size_t)(by * BM + a_r) * n + a_c;
    const float *gb = b + (size_t)b_r * n + bx * BN + b_c;
    constexpr int W_step = Threads / BK; // of Words: one word a copy
    if (How == Words)
        ga = a + (size_t)(by * BM + t / BK) * n + t % BK;
    const int tiles = n / BK;
    float4 held[How == Turned ? A_copies : 1];

    const auto send = [&](int tile, int to) {
        if (tile < tiles) {
            float *const sa = as + to * S::A_words, *const sb = bs + to * S::B_words;
            if (How == Along) {
#pragma unroll
                for (int i = 0; i < A_copies; i++)
                    __pipeline_memcpy_async(sa + (a_r + i * A_step) * S::A_row + a_c, ga + (size_t)(i * A_step) * n,
                                            16);
            } else if (How == Words) {
#pragma unroll
                for (int i = 0; i < 4 * A_copies; i++)
                    __pipeline_memcpy_async(sa + t % BK * S::A_row + t / BK + i * W_step, ga + (size_t)(i * W_step) * n,
                                            4);
            } else {
#pragma unroll
                for (int i = 0; i < A_copies; i++)
                    held[i] = *(const float4 *)(ga + (size_t)(i * A_step) * n);
            }
#pragma unroll
            for (int i = 0; i < B_copies; i++)
                __pipeline_memcpy_async(sb + (b_r + i * B_step) * BN + b_c, gb + (size_t)(i * B_step) * n, 16);
            ga += BK;
            gb += (size_t)BK * n;
        }
        __pipeline_commit();
    };
    const auto put = [&](int to) { // Turned: what is held into shared memory
        if (How == Turned) {
            float *const sa = as + to * S::A_words;
#pragma unroll
            for (int i = 0; i < A_copies; i++) {
                sa[(a_c + 0) * S::A_row + a_r + i * A_step] = held[i].x;
                sa[(a_c + 1) * S::A_row + a_r + i * A_step] = held[i].y;
                sa[(a_c + 2) * S::A_row + a_r + i * A_step] = held[i].z;
                sa[(a_c + 3) * S::A_row + a_r + i * A_step] = held[i].w;
            }
        }
    };
    const int at_a = How == Along ? (wr + lr) * S::A_row : wr + lr * 4, at_b = wc + lc * 4;
    float sum[TM][TN] = {};
    const auto read_b = [&](float(&y)[TN], int stage, int k) {
        const float *const from = bs + stage * S::B_words + at_b;
#pragma unroll
        for (int j = 0; j < TN; j += 4)
            *(float4 *)&y[j] = *(const float4 *)(from + k * BN + j * LN);
    };
    const auto read_a = [&](float(&x)[TM], int stage, int k) {
        const float *const from = as + stage * S::A_words + at_a;
#pragma unroll
        for (int i = 0; i < TM; i += 4)
            *(float4 *)&x[i] = *(const float4 *)(from + k * S::A_row + i * LM);
    };
    const auto read_row = [&](float4 &x, int stage, int k, int i) {
        x = *(const float4 *)(as + stage * S::A_words + at_a + i * LM * S::A_row + k);
    };
    const auto multiply = [&](const float(&x)[TM], const float(&y)[TN]) {
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
            for (int j = 0; j < TN; j++) {
                const int s = i % 2 ? TN - 1 - j : j;
                sum[i][s] += x[i] * y[s];
            }
    };
    const auto part = [](const float4 &v, int k) { return k == 0 ? v.x : k == 1 ? v.y : k == 2 ? v.z : v.w; };

    const int early = How == Turned ? 1 : Stages - 1 - (S::Ahead && How == Along ? 1 : 0);
    static_assert(How != Turned || Stages == 2, "held for one tile");
    for (int tile = 0; tile < early; tile++)
        send(tile, tile);
    if (How == Turned)
        put(0);

    if (!S::Ahead) {
        for (int tile = 0, now = 0; tile < tiles; tile++) {
            __pipeline_wait_prior(How == Turned ? 0 : Stages - 2);
            __syncthreads();
            send(tile + early, now == 0 ? Stages - 1 : now - 1);
            if (How == Along) {
#pragma unroll
                for (int k = 0; k < BK; k += 4) {
                    float4 q[TM];
#pragma unroll
                    for (int i = 0; i < TM; i++)
                        read_row(q[i], now, k, i);
#pragma unroll
                    for (int m = 0; m < 4; m++) {
                        float x[TM], y[TN];
                        read_b(y, now, k + m);
#pragma unroll
                        for (int i = 0; i < TM; i++)
                            x[i] = part(q[i], m);
                        multiply(x, y);
                    }
                }
            } else {
#pragma unroll
                for (int k = 0; k < BK; k++) {
                    float x[TM], y[TN];
                    read_a(x, now, k);
                    read_b(y, now, k);
                    multiply(x, y);
                }
            }
            if (tile + 1 < tiles)
                put(now ^ 1);
            now = now == Stages - 1 ? 0 : now + 1;
        }
    } else if (How == Along) { // the next four k of A and the next k of B are read before this one is multiplied
        float4 q[2][TM];
        float y[2][TN];
        __pipeline_wait_prior(early - 1);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TM; i++)
            read_row(q[0][i], 0, 0, i);
        read_b(y[0], 0, 0);
        for (int tile = 0, now = 0, to = early; tile < tiles; tile++) {
            const int then = now == Stages - 1 ? 0 : now + 1;
#pragma unroll
            for (int k = 0; k < BK; k++) {
                if (k == 0) {
                    send(tile + early, to);
                    to = to == Stages - 1 ? 0 : to + 1;
                }
                if (k == BK - 4) { // the buffer before this one is filled next, which nobody reads any more
                    __pipeline_wait_prior(early - 1);
                    __syncthreads();
                }
#pragma unroll
                for (int i = k % 4 * TM / 4; i < (k % 4 + 1) * TM / 4; i++)
                    read_row(q[k / 4 + 1 & 1][i], k >= BK - 4 ? then : now, (k / 4 * 4 + 4) % BK, i);
                read_b(y[k + 1 & 1], k == BK - 1 ? then : now, (k + 1) % BK);
                float x[TM];
#pragma unroll
                for (int i = 0; i < TM; i++)
                    x[i] = part(q[k / 4 & 1][i], k % 4);
                multiply(x, y[k & 1]);
            }
            now = then;
        }
    } else { // the next k of both is read before this one is multiplied
        float x[2][TM], y[2][TN];
        __pipeline_wait_prior(How == Turned ? 0 : Stages - 2);
        __syncthreads();
        read_a(x[0], 0, 0);
        read_b(y[0], 0, 0);
        for (int tile = 0, now = 0; tile < tiles; tile++) {
            const int then = now == Stages - 1 ? 0 : now + 1, before = now == 0 ? Stages - 1 : now - 1;
#pragma unroll
            for (int k = 0; k < BK; k++) {
                if (k == 0)
                    send(tile + early, before);
                if (k == BK - 1) {
                    if (tile + 1 < tiles)
                        put(then);
                    __pipeline_wait_prior(How == Turned ? 0 : Stages - 2);
                    __syncthreads();
                }
                read_a(x[k + 1 & 1], k == BK - 1 ? then : now, (k + 1) % BK);
                read_b(y[k + 1 & 1], k == BK - 1 ? then : now, (k + 1) % BK);
                multiply(x[k & 1], y[k & 1]);
            }
            now = then;
        }
    }
    c += (size_t)(by * BM + wr) * n + bx * BN + at_b;
#pragma unroll
    for (int i = 0; i < TM; i++) {
        float *const to = c + (size_t)(How == Along ? lr + i * LM : lr * 4 + i / 4 * 4 * LM + i % 4) * n;
#pragma unroll
        for (int j = 0; j < TN; j += 4)
            *(float4 *)(to + j * LN) = make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
    }
}
