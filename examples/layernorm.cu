// layernorm.cu - each row of 1024 minus its mean, divided by its deviation, scaled and shifted.
// passes     a block a row: mean, then variance, then the result, three reads of the row
// moments    sum and sum of squares in one pass: two reads, and digits lost where the mean is large
// registers  a warp a row, read once and kept: mean and variance of what is in registers, no barrier
// bug-no-barrier: the second sum overwrites the first while slow warps still read it.
// usage: layernorm [n] [passes|moments|registers|bug-no-barrier]... [--seed N] [--time REPEATS]      n rows
// bench: 4096 65536
#include "common.h"

const int Width = 1024, Block = 256;
const float Epsilon = 1e-5f;

__device__ float warp_sum(float v)
{
    for (int by = 16; by > 0; by /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, by);
    return v;
}
template <bool Barrier> __device__ float block_sum(float v, float *warps)
{
    v = warp_sum(v);
    if (Barrier)
        __syncthreads(); // nobody reads the last result any more
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0.0f;
    for (int i = 0; i < Block / 32; i++)
        v += warps[i];
    return v;
}

template <bool Barrier>
__global__ void layernorm_passes(const float *in, const float *scale, const float *shift, float *out, int)
{
    __shared__ float warps[Block / 32];
    in += (size_t)blockIdx.x * Width;
    out += (size_t)blockIdx.x * Width;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < Width; i += Block)
        sum += in[i];
    const float mean = block_sum<Barrier>(sum, warps) / Width;
    for (int i = threadIdx.x; i < Width; i += Block)
        squares += (in[i] - mean) * (in[i] - mean);
    const float per = rsqrtf(block_sum<Barrier>(squares, warps) / Width + Epsilon);
    for (int i = threadIdx.x; i < Width; i += Block)
        out[i] = (in[i] - mean) * per * scale[i] + shift[i];
}

__global__ void layernorm_moments(const float *in, const float *scale, const float *shift, float *out, int)
{
    __shared__ float warps[Block / 32];
    in += (size_t)blockIdx.x * Width;
    out += (size_t)blockIdx.x * Width;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < Width; i += Block) {
        const float x = in[i];
        sum += x;
        squares += x * x;
    }
    const float mean = block_sum<true>(sum, warps) / Width;
    const float per = rsqrtf(block_sum<true>(squares, warps) / Width - mean * mean + Epsilon);
    for (int i = threadIdx.x; i < Width; i += Block)
        out[i] = (in[i] - mean) * per * scale[i] + shift[i];
}

__global__ void layernorm_registers(const float *in, const float *scale, const float *shift, float *out, int n)
{
    const int row = blockIdx.x * (Block / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= n)
        return;
    const float4 *const from = (const float4 *)(in + (size_t)row * Width);
    float4 *const to = (float4 *)(out + (size_t)row * Width);
    float4 v[Width / 128];
    float sum = 0.0f, squares = 0.0f;
#pragma unroll
    for (int i = 0; i < Width / 128; i++) {
        v[i] = from[i * 32 + lane];
        sum += (v[i].x + v[i].y) + (v[i].z + v[i].w);
    }
    const float mean = warp_sum(sum) / Width;
#pragma unroll
    for (int i = 0; i < Width / 128; i++) {
        v[i] = make_float4(v[i].x - mean, v[i].y - mean, v[i].z - mean, v[i].w - mean);
        squares += (v[i].x * v[i].x + v[i].y * v[i].y) + (v[i].z * v[i].z + v[i].w * v[i].w);
    }
    const float per = rsqrtf(warp_sum(squares) / Width + Epsilon);
#pragma unroll
    for (int i = 0; i < Width / 128; i++) {
        const float4 a = ((const float4 *)scale)[i * 32 + lane], b = ((const float4 *)shift)[i * 32 + lane];
        to[i * 32 + lane] = make_float4(v[i].x * per * a.x + b.x, v[i].y * per * a.y + b.y, v[i].z * per * a.z + b.z,
                                        v[i].w * per * a.w + b.w);
    }
}

int main(int argc, char **argv)
{
    Example e("layernorm", {"passes", "moments", "registers", "bug-no-barrier"}, argc, argv, 256, 1, 1 << 18);
    const int n = e.n, eight = (n + Block / 32 - 1) / (Block / 32);
    const struct {
        void (*kernel)(const float *, const float *, const float *, float *, int);
        int blocks;
    } ways[] = {{layernorm_passes<true>, n},
                {layernorm_moments, n},
                {layernorm_registers, eight},
                {layernorm_passes<false>, n}};
    const auto in = random_floats((size_t)n * Width, e.seed), scale = random_floats(Width, e.seed + 1),
               shift = random_floats(Width, e.seed + 2);
    float *const din = to_device(in), *const dscale = to_device(scale), *const dshift = to_device(shift);
    float *const dout = on_device<float>(in.size());
    for (size_t w = 0; w < e.ways.size(); w++) {
        if (!e.wants(e.ways[w]))
            continue;
        CHECK(cudaMemset(dout, 0xff, in.size() * sizeof(float)));
        const double ms = e.run([&] { ways[w].kernel<<<ways[w].blocks, Block>>>(din, dscale, dshift, dout, n); });
        const auto out = to_host(dout, in.size());
        double worst = 0.0;
        for (int row = 0; row < n; row++) {
            const float *const x = &in[(size_t)row * Width], *const y = &out[(size_t)row * Width];
            double mean = 0.0, squares = 0.0;
            for (int i = 0; i < Width; i++)
                mean += x[i] / (double)Width;
            for (int i = 0; i < Width; i++)
                squares += (x[i] - mean) * (x[i] - mean);
            const double per = 1.0 / std::sqrt(squares / Width + Epsilon);
            for (int i = 0; i < Width; i++)
                worst = worse(worst, std::fabs(y[i] - ((x[i] - mean) * per * scale[i] + shift[i]))); // of sizes near 1
        }
        e.report(e.ways[w], worst, 1e-5, ms);
    }
    CHECK(cudaFree(din));
    CHECK(cudaFree(dscale));
    CHECK(cudaFree(dshift));
    CHECK(cudaFree(dout));
    return e.failed;
}
