// reduce.cu - a sum, in seven steps of one change each. A block leaves one partial sum, and a last block adds them up.
// interleaved   a thread in every 2s works: most lanes of every warp idle
// strided       the first threads work, on words 2s apart: bank conflicts instead
// sequential    the first threads work, on neighbouring words: neither
// first-add     half as many blocks, each adds two words as it loads them
// unrolled      the last warp goes on without barriers of the block
// shuffle       the last warp goes on in registers
// multiple      a fixed number of blocks, each adds as many words as it takes
// vector        four words an access, several under way, a shuffle in each warp, one atomic a block
// The bugs: unrolled with 32 threads (reads past its array) and with 96 (adds elements twice); a missing barrier.
// usage: reduce [n] [a step|bug-block-32|bug-block-96|bug-no-barrier]... [--seed N] [--time REPEATS]
#include "common.h"

enum Step { Interleaved, Strided, Sequential, FirstAdd, Unrolled, Shuffle, Multiple, Vector };

__device__ float warp_sum(float v)
{
    for (int by = 16; by > 0; by /= 2)
        v += __shfl_down_sync(0xffffffffu, v, by);
    return v;
}

template <Step S, int Block, bool Barrier = true> __global__ void reduce(const float *in, float *out, int n)
{
    __shared__ float part[Block];
    const int t = threadIdx.x;
    float sum = 0.0f;
    if (S < FirstAdd) {
        const int i = blockIdx.x * Block + t;
        sum = i < n ? in[i] : 0.0f;
    } else if (S < Multiple) {
        const int i = blockIdx.x * 2 * Block + t;
        sum = (i < n ? in[i] : 0.0f) + (i + Block < n ? in[i + Block] : 0.0f);
    } else {
        for (int i = blockIdx.x * Block + t; i < n; i += gridDim.x * Block)
            sum += in[i];
    }
    part[t] = sum;
    if (Barrier)
        __syncthreads();
    if (S == Interleaved) {
        for (int s = 1; s < Block; s *= 2) {
            if (t % (2 * s) == 0)
                part[t] += part[t + s];
            __syncthreads();
        }
    } else if (S == Strided) {
        for (int s = 1; s < Block; s *= 2) {
            const int i = 2 * s * t;
            if (i < Block)
                part[i] += part[i + s];
            __syncthreads();
        }
    } else {
        for (int s = Block / 2; s > (S < Unrolled ? 0 : 32); s /= 2) {
            if (t < s)
                part[t] += part[t + s];
            __syncthreads();
        }
    }
    if (S == Unrolled && t < 32) {
        float v = part[t];
        for (int s = 32; s > 0; s /= 2) { // read, all read, write, all written
            v += part[t + s];
            __syncwarp();
            part[t] = v;
            __syncwarp();
        }
    }
    if (S >= Shuffle && t < 32) {
        const float v = warp_sum(part[t] + part[t + 32]);
        if (t == 0)
            out[blockIdx.x] = v;
    } else if (S < Shuffle && t == 0)
        out[blockIdx.x] = part[0];
}

// Each thread has four accesses of four words under way at a time.
template <int Block> __global__ __launch_bounds__(Block) void reduce_vector(const float *in, float *out, int n)
{
    __shared__ float part[Block / 32];
    const int t = threadIdx.x;
    const float4 *const in4 = (const float4 *)in;
    const size_t fours = n / 4, step = (size_t)gridDim.x * Block;
    float sum[4] = {};
    size_t i = (size_t)blockIdx.x * Block + t;
    for (; i + 3 * step < fours; i += 4 * step) {
        float4 v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = in4[i + k * step];
#pragma unroll
        for (int k = 0; k < 4; k++)
            sum[k] += (v[k].x + v[k].y) + (v[k].z + v[k].w);
    }
    for (; i < fours; i += step)
        sum[0] += (in4[i].x + in4[i].y) + (in4[i].z + in4[i].w);
    if (blockIdx.x == 0 && t < n % 4)
        sum[0] += in[n - 1 - t];
    const float mine = warp_sum((sum[0] + sum[1]) + (sum[2] + sum[3]));
    if (t % 32 == 0)
        part[t / 32] = mine;
    __syncthreads();
    if (t < 32) {
        const float v = warp_sum(t < Block / 32 ? part[t] : 0.0f);
        if (t == 0)
            atomicAdd(out, v);
    }
}

// Launches reduce until one value is left, in `b`, then in `a`, ...; where it is.
template <Step S, int Block, bool Barrier = true> const float *reduce_all(const float *in, float *a, float *b, int n)
{
    for (;;) {
        const int each = S < FirstAdd ? Block : 2 * Block, whole = (n + each - 1) / each;
        const int blocks = S == Multiple && whole > 1024 ? 1024 : whole;
        reduce<S, Block, Barrier><<<blocks, Block>>>(in, a, n);
        if (blocks == 1)
            return a;
        in = a;
        n = blocks;
        std::swap(a, b);
    }
}
const float *reduce_by_vector(const float *in, float *a, float *, int n)
{
    CHECK(cudaMemsetAsync(a, 0, sizeof(float)));
    const int whole = (n / 4 + 511) / 512, most = 132 * 4;
    reduce_vector<512><<<whole<1 ? 1 : whole> most ? most : whole, 512>>>(in, a, n);
    return a;
}

int main(int argc, char **argv)
{
    Example e("reduce",
              {"interleaved", "strided", "sequential", "first-add", "unrolled", "shuffle", "multiple", "vector",
               "bug-block-32", "bug-block-96", "bug-no-barrier"},
              argc, argv, 1 << 20, 1, 1 << 30);
    const float *(*const ways[])(const float *, float *, float *,
                                 int) = {reduce_all<Interleaved, 256>,      reduce_all<Strided, 256>,
                                         reduce_all<Sequential, 256>,       reduce_all<FirstAdd, 256>,
                                         reduce_all<Unrolled, 256>,         reduce_all<Shuffle, 256>,
                                         reduce_all<Multiple, 256>,         reduce_by_vector,
                                         reduce_all<Unrolled, 32>,          reduce_all<Unrolled, 96>,
                                         reduce_all<Sequential, 256, false>};
    const auto in = random_floats(e.n, e.seed);
    double expect = 0.0, size = 0.0;
    for (const float v : in) {
        expect += v;
        size += std::fabs(v);
    }
    float *const din = to_device(in), *const da = on_device<float>(e.n / 32 + 2);
    float *const db = on_device<float>(e.n / 32 + 2);
    for (size_t w = 0; w < e.ways.size(); w++) {
        if (!e.wants(e.ways[w]))
            continue;
        const float *sum = nullptr;
        const double ms = e.run([&] { sum = ways[w](din, da, db, e.n); });
        e.report(e.ways[w], std::fabs(to_host(sum, 1)[0] - expect) / size, 1e-6 / std::sqrt(e.n), ms);
    }
    CHECK(cudaFree(din));
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    return e.failed;
}
