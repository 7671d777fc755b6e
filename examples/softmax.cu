// softmax.cu - exp(x - max) / sum over each row of 1024.
// thread     a thread a row, three passes: its neighbours are a row away
// block      a block a row, three passes, sums through shared memory
// online     a block a row, one pass finds maximum and sum together, a second one writes
// registers  a warp a row, the row read once and kept in registers, no barrier at all
// bug-no-barrier: the second sum overwrites the first while slow warps still read it.
// usage: softmax [n] [thread|block|online|registers|bug-no-barrier]... [--seed N] [--time REPEATS]      n rows
// bench: 4096 65536
#include "common.h"

const int Width = 1024, Block = 256;

__global__ void softmax_thread(const float *in, float *out, int n)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n)
        return;
    in += (size_t)row * Width;
    out += (size_t)row * Width;
    float top = -INFINITY, sum = 0.0f;
    for (int i = 0; i < Width; i++)
        top = fmaxf(top, in[i]);
    for (int i = 0; i < Width; i++)
        sum += expf(in[i] - top);
    for (int i = 0; i < Width; i++)
        out[i] = expf(in[i] - top) / sum;
}

__device__ float add(float a, float b)
{
    return a + b;
}
__device__ float larger(float a, float b)
{
    return fmaxf(a, b);
}

template <float (*F)(float, float)> __device__ float over_warp(float v)
{
    for (int by = 16; by > 0; by /= 2)
        v = F(v, __shfl_xor_sync(0xffffffffu, v, by));
    return v;
}
// One value of all threads of the block, given to all of them.
template <float (*F)(float, float), bool Barrier> __device__ float over_block(float v, float *warps)
{
    v = over_warp<F>(v);
    if (Barrier)
        __syncthreads(); // nobody reads the last result any more
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = v;
    __syncthreads();
    v = warps[0];
    for (int i = 1; i < Block / 32; i++)
        v = F(v, warps[i]);
    return v;
}

template <bool Barrier> __global__ void softmax_block(const float *in, float *out, int)
{
    __shared__ float warps[Block / 32];
    in += (size_t)blockIdx.x * Width;
    out += (size_t)blockIdx.x * Width;
    float top = -INFINITY, sum = 0.0f;
    for (int i = threadIdx.x; i < Width; i += Block)
        top = fmaxf(top, in[i]);
    top = over_block<larger, Barrier>(top, warps);
    for (int i = threadIdx.x; i < Width; i += Block)
        sum += expf(in[i] - top);
    sum = over_block<add, Barrier>(sum, warps);
    for (int i = threadIdx.x; i < Width; i += Block)
        out[i] = expf(in[i] - top) / sum;
}

__global__ void softmax_online(const float *in, float *out, int)
{
    __shared__ float warps[Block / 32];
    in += (size_t)blockIdx.x * Width;
    out += (size_t)blockIdx.x * Width;
    float top = in[threadIdx.x], sum = 1.0f;
    for (int i = threadIdx.x + Block; i < Width; i += Block) {
        const float x = in[i], higher = fmaxf(top, x);
        sum = sum * expf(top - higher) + expf(x - higher); // what is summed so far, relative to the new maximum
        top = higher;
    }
    const float highest = over_block<larger, true>(top, warps);
    sum = over_block<add, true>(sum * expf(top - highest), warps);
    for (int i = threadIdx.x; i < Width; i += Block)
        out[i] = expf(in[i] - highest) / sum;
}

__global__ void softmax_registers(const float *in, float *out, int n)
{
    const int row = blockIdx.x * (Block / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= n)
        return;
    const float4 *const from = (const float4 *)(in + (size_t)row * Width);
    float4 *const to = (float4 *)(out + (size_t)row * Width);
    float4 v[Width / 128];
    float top = -INFINITY, sum = 0.0f;
#pragma unroll
    for (int i = 0; i < Width / 128; i++) {
        v[i] = from[i * 32 + lane];
        top = fmaxf(top, fmaxf(fmaxf(v[i].x, v[i].y), fmaxf(v[i].z, v[i].w)));
    }
    top = over_warp<larger>(top);
#pragma unroll
    for (int i = 0; i < Width / 128; i++) {
        v[i] = make_float4(expf(v[i].x - top), expf(v[i].y - top), expf(v[i].z - top), expf(v[i].w - top));
        sum += (v[i].x + v[i].y) + (v[i].z + v[i].w);
    }
    const float part = 1.0f / over_warp<add>(sum);
#pragma unroll
    for (int i = 0; i < Width / 128; i++)
        to[i * 32 + lane] = make_float4(v[i].x * part, v[i].y * part, v[i].z * part, v[i].w * part);
}

int main(int argc, char **argv)
{
    Example e("softmax", {"thread", "block", "online", "registers", "bug-no-barrier"}, argc, argv, 256, 1, 1 << 18);
    const int n = e.n;
    const struct {
        void (*kernel)(const float *, float *, int);
        int blocks, threads;
    } ways[] = {{softmax_thread, (n + 63) / 64, 64},
                {softmax_block<true>, n, Block},
                {softmax_online, n, Block},
                {softmax_registers, (n + Block / 32 - 1) / (Block / 32), Block},
                {softmax_block<false>, n, Block}};
    auto in = random_floats((size_t)n * Width, e.seed);
    for (float &x : in)
        x *= 10.0f;
    float *const din = to_device(in), *const dout = on_device<float>(in.size());
    for (size_t w = 0; w < e.ways.size(); w++) {
        if (!e.wants(e.ways[w]))
            continue;
        CHECK(cudaMemset(dout, 0xff, in.size() * sizeof(float)));
        const double ms = e.run([&] { ways[w].kernel<<<ways[w].blocks, ways[w].threads>>>(din, dout, n); });
        const auto out = to_host(dout, in.size());
        double worst = 0.0;
        for (int row = 0; row < n; row++) {
            const float *const x = &in[(size_t)row * Width], *const y = &out[(size_t)row * Width];
            const double top = *std::max_element(x, x + Width);
            double sum = 0.0;
            for (int i = 0; i < Width; i++)
                sum += std::exp(x[i] - top);
            for (int i = 0; i < Width; i++) {
                const double expect = std::exp(x[i] - top) / sum;
                worst = worse(worst, std::fabs(y[i] - expect) / expect);
            }
        }
        e.report(e.ways[w], worst, 1e-5, ms);
    }
    CHECK(cudaFree(din));
    CHECK(cudaFree(dout));
    return e.failed;
}
