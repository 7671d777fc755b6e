// pairs.cu - pairs of kernels: `bad_` wastes something in one way, `good_` is the same with what `warpgrind advise` says
// applied. Without arguments each runs once and the pairs' results are compared; `time` measures them, as CSV.
// usage: pairs [log2 of the elements, 18..24] [a pair's name]... [time]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

struct Point { float x, y, z, w; };
const int T = 32, Half = 16;

#define HERE (blockIdx.x * blockDim.x + threadIdx.x)

// ---- global memory
__global__ void bad_arrays(const Point *p, float *o) { o[HERE] = p[HERE].y; }
__global__ void good_arrays(const float *y, float *o) { o[HERE] = y[HERE]; }

// Rows of a small table, again and again, from caches: they begin 12 bytes into a sector, and at a line.
__device__ float rows(const float *p)
{
    float s = 0;
    for (int k = 0; k < 64; k++)
        s += p[threadIdx.x + 256 * (k & 31)];
    return s;
}
__global__ void bad_align(const float *p, float *o) { o[HERE] = rows(p + 3); }
__global__ void good_align(const float *p, float *o) { o[HERE] = rows(p + 32); }

// The sums of the rows of a matrix, and of the columns of its transpose.
const int Row = 256;
__global__ void bad_swap(const float *p, float *o)
{
    float s = 0;
    for (int c = 0; c < Row; c++)
        s += p[(size_t)HERE * Row + c];
    o[HERE] = s;
}
__global__ void good_swap(const float *p, float *o)
{
    float s = 0;
    for (int c = 0; c < Row; c++)
        s += p[(size_t)c * gridDim.x * blockDim.x + HERE];
    o[HERE] = s;
}

// The same kernel in blocks of 4 x 64 and of 32 x 8.
__device__ void add(const float *p, float *o, int w)
{
    size_t at = (size_t)(blockIdx.y * blockDim.y + threadIdx.y) * w + blockIdx.x * blockDim.x + threadIdx.x;
    o[at] = p[at] + 1;
}
__global__ void bad_widen(const float *p, float *o, int w) { add(p, o, w); }
__global__ void good_widen(const float *p, float *o, int w) { add(p, o, w); }

// Four neighbours of a small table a thread, one by one and at once.
__global__ void bad_vector(const float *p, float *o)
{
    float s = 0;
    for (int k = 0; k < 32; k++) {
        const float *q = p + 4 * (threadIdx.x + 256 * (k & 7));
        float a = q[0], b = q[1], c = q[2], d = q[3];
        s += a * b + c * d;
    }
    o[HERE] = s;
}
__global__ void good_vector(const float *p, float *o)
{
    float s = 0;
    for (int k = 0; k < 32; k++) {
        const float4 q = ((const float4 *)p)[threadIdx.x + 256 * (k & 7)];
        s += q.x * q.y + q.z * q.w;
    }
    o[HERE] = s;
}

// ---- shared memory
template <int Pad> __device__ void columns(const float *p, float *o, int w)
{
    __shared__ float t[T][T + Pad];
    int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    for (int j = 0; j < T; j += 8)
        t[threadIdx.y + j][threadIdx.x] = p[(size_t)(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * T + threadIdx.x;
    y = blockIdx.x * T + threadIdx.y;
    for (int j = 0; j < T; j += 8)
        o[(size_t)(y + j) * w + x] = t[threadIdx.x][threadIdx.y + j];
}
__global__ void bad_pad(const float *p, float *o, int w) { columns<0>(p, o, w); }
__global__ void good_pad(const float *p, float *o, int w) { columns<1>(p, o, w); }

// Tiles of 16 x 16: no padding of a row suits both the store and the load.
template <bool Swizzle> __device__ void small(const float *p, float *o, int w)
{
    __shared__ float t[Half][Half];
    const int x = threadIdx.x, y = threadIdx.y, mask = Swizzle ? Half - 1 : 0;
    t[y][x ^ (y & mask)] = p[(size_t)(blockIdx.y * Half + y) * w + blockIdx.x * Half + x];
    __syncthreads();
    o[(size_t)(blockIdx.x * Half + y) * w + blockIdx.y * Half + x] = t[x][y ^ (x & mask)];
}
__global__ void bad_swizzle(const float *p, float *o, int w) { small<false>(p, o, w); }
__global__ void good_swizzle(const float *p, float *o, int w) { small<true>(p, o, w); }

// ---- occupancy: chains of dependent loads, one for each warp, which only other warps can hide
__device__ float chase(const unsigned *next, unsigned at, int steps)
{
    for (int k = 0; k < steps; k++)
        at = next[at];
    return (float)at;
}
// A path that is seldom taken wants many registers.
__device__ float rare(const float *p, float v)
{
    float m[80], s = 0;
#pragma unroll
    for (int k = 0; k < 80; k++)
        m[k] = p[k] * v;
    for (int r = 0; r < 4; r++) {
#pragma unroll
        for (int k = 0; k < 80; k++)
            m[k] = m[k] * m[(k * 7 + 3) % 80] + v;
    }
#pragma unroll
    for (int k = 0; k < 80; k++)
        s += m[k];
    return s;
}
__global__ __launch_bounds__(256) void bad_bounds(const unsigned *next, const float *p, float *o, int wanted)
{
    float v = chase(next, HERE / 32, 8);
    o[HERE] = wanted ? rare(p, v) : v;
}
__global__ __launch_bounds__(256, 8) void good_bounds(const unsigned *next, const float *p, float *o, int wanted)
{
    float v = chase(next, HERE / 32, 8);
    o[HERE] = wanted ? rare(p, v) : v;
}

// The same kernel in blocks of one warp and of eight.
__global__ void bad_block(const unsigned *next, float *o) { o[HERE] = chase(next, HERE / 32, 8); }
__global__ void good_block(const unsigned *next, float *o) { o[HERE] = chase(next, HERE / 32, 8); }

// A tile that is larger than it must be keeps other blocks off the SM: 24,576 and 6,144 words for 256 threads.
template <int Words> __device__ void staged(const unsigned *next, const float *p, float *o)
{
    extern __shared__ float tile[];
    for (int at = threadIdx.x; at < Words; at += blockDim.x)
        tile[at] = p[(size_t)blockIdx.x * Words + at];
    __syncthreads();
    for (int at = threadIdx.x; at < Words; at += blockDim.x)
        o[(size_t)blockIdx.x * Words + at] = tile[at ^ 1] + chase(next, (blockIdx.x * Words + at) / 32, 4);
}
__global__ void bad_smaller(const unsigned *next, const float *p, float *o) { staged<24576>(next, p, o); }
__global__ void good_smaller(const unsigned *next, const float *p, float *o) { staged<6144>(next, p, o); }

// ---- reuse: a product of matrices, one value of C a thread and a rectangle of 4 x 4
__global__ void bad_larger(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[T][T], bs[T][T];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0;
    for (int k = 0; k < n; k += T) {
        as[y][x] = a[(size_t)row * n + k + x];
        bs[y][x] = b[(size_t)(k + y) * n + col];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < T; i++)
            sum += as[y][i] * bs[i][x];
        __syncthreads();
    }
    c[(size_t)row * n + col] = sum;
}
// 256 threads make 64 x 64 of C; a thread the rows y, y + 16, ... and the columns x, x + 16, ...
__global__ void good_larger(const float *a, const float *b, float *c, int n)
{
    const int S = 4, Side = Half * S;
    __shared__ float as[Side][T + 1], bs[T][Side];
    int x = threadIdx.x, y = threadIdx.y, t = y * Half + x, row = blockIdx.y * Side, col = blockIdx.x * Side;
    float sum[S][S] = {};
    for (int k = 0; k < n; k += T) {
        for (int i = t; i < Side * T; i += 256) {
            as[i / T][i % T] = a[(size_t)(row + i / T) * n + k + i % T];
            bs[i / Side][i % Side] = b[(size_t)(k + i / Side) * n + col + i % Side];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < T; i++)
#pragma unroll
            for (int r = 0; r < S; r++)
#pragma unroll
                for (int s = 0; s < S; s++)
                    sum[r][s] += as[y + Half * r][i] * bs[i][x + Half * s];
        __syncthreads();
    }
    for (int r = 0; r < S; r++)
        for (int s = 0; s < S; s++)
            c[(size_t)(row + y + Half * r) * n + col + x + Half * s] = sum[r][s];
}

// ---- divergence: which way a lane goes is in the data; good_sort gets it sorted
__device__ float work(float v, float w)
{
    if (w < 0.5f)
        for (int k = 0; k < 64; k++)
            v = v * v + 0.25f;
    else
        for (int k = 0; k < 64; k++)
            v = v * (v - 0.5f) + 0.125f;
    return v;
}
__global__ void bad_sort(const float *w, const float *p, float *o) { o[HERE] = work(p[HERE], w[HERE]); }
__global__ void good_sort(const float *w, const float *p, float *o) { o[HERE] = work(p[HERE], w[HERE]); }

// ---- barriers: nothing is shared between the first and the second
template <bool Spare> __device__ void rounds(const float *p, float *o)
{
    __shared__ float t[256];
    float v = p[HERE];
    for (int k = 0; k < 32; k++) {
        t[threadIdx.x] = v;
        __syncthreads();
        float w = t[threadIdx.x ^ 33];
        __syncthreads();
        v = 0.5f * (v + w);
        if (Spare)
            __syncthreads();
    }
    o[HERE] = v;
}
__global__ void bad_barrier(const float *p, float *o) { rounds<true>(p, o); }
__global__ void good_barrier(const float *p, float *o) { rounds<false>(p, o); }

// ---- a pipeline: each step's tile is waited for, or is on its way while the one before is worked on. One block of an
// SM, so that no other hides the wait.
const int Tile = 1024, Steps = 32;
__device__ float chew(const float *t)
{
    float s = 0;
    for (int k = 0; k < 64; k++)
        s = s * 0.75f + t[(threadIdx.x + 32 * k) % Tile];
    return s;
}
__global__ void bad_stages(const float *p, float *o)
{
    extern __shared__ float t[];
    const float *from = p + (size_t)blockIdx.x * Tile * Steps;
    float s = 0;
    for (int k = 0; k < Steps; k++) {
        for (int i = threadIdx.x; i < Tile; i += 256)
            t[i] = from[k * Tile + i];
        __syncthreads();
        s += chew(t);
        __syncthreads();
    }
    o[HERE] = s;
}
__device__ void copy(float *to, const float *from)
{
    for (int i = threadIdx.x; i < Tile; i += 256)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to + i)), "l"(from + i));
    asm volatile("cp.async.commit_group;");
}
__global__ void good_stages(const float *p, float *o)
{
    extern __shared__ float t[];
    const float *from = p + (size_t)blockIdx.x * Tile * Steps;
    float s = 0;
    copy(t, from);
    for (int k = 0; k < Steps; k++) {
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads(); // the tile is here, and nobody reads the other buffer any more
        if (k + 1 < Steps)
            copy(t + (k + 1) % 2 * Tile, from + (k + 1) * Tile);
        s += chew(t + k % 2 * Tile);
    }
    o[HERE] = s;
}

// ---- nothing to advise: addresses out of a table, and a plain copy
__global__ void bad_none(const unsigned *at, const float *p, float *o) { o[HERE] = p[at[HERE]]; }
__global__ void good_none(const float *p, float *o) { o[HERE] = p[HERE]; }

struct Data { int n, side; float *p, *q, *a, *o; unsigned *next, *local; float *mixed, *sorted; };

struct Pair { const char *name; bool same; void (*run)(const Data &, bool good); };
#define DO(name, n, threads, ...) (good ? good_##name<<<(n) / (threads), threads>>>(__VA_ARGS__) : bad_##name<<<(n) / (threads), threads>>>(__VA_ARGS__))
const Pair pairs[] = {
    {"arrays", true, [](const Data &d, bool good) {
         good ? good_arrays<<<d.n / 256, 256>>>(d.q, d.o) : bad_arrays<<<d.n / 256, 256>>>((Point *)d.p, d.o);
     }},
    {"align", false, [](const Data &d, bool good) { DO(align, d.n, 256, d.p, d.o); }},
    {"swap", false, [](const Data &d, bool good) { DO(swap, d.n * 4 / Row, 256, d.p, d.o); }},
    {"widen", true, [](const Data &d, bool good) {
         good ? good_widen<<<dim3(d.side / 32, d.side / 8), dim3(32, 8)>>>(d.p, d.o, d.side)
              : bad_widen<<<dim3(d.side / 4, d.side / 64), dim3(4, 64)>>>(d.p, d.o, d.side);
     }},
    {"vector", true, [](const Data &d, bool good) { DO(vector, d.n, 256, d.p, d.o); }},
    {"pad", true, [](const Data &d, bool good) {
         dim3 g(d.side / T, d.side / T), b(T, 8);
         good ? good_pad<<<g, b>>>(d.p, d.o, d.side) : bad_pad<<<g, b>>>(d.p, d.o, d.side);
     }},
    {"swizzle", true, [](const Data &d, bool good) {
         dim3 g(d.side / Half, d.side / Half), b(Half, Half);
         good ? good_swizzle<<<g, b>>>(d.p, d.o, d.side) : bad_swizzle<<<g, b>>>(d.p, d.o, d.side);
     }},
    {"bounds", true, [](const Data &d, bool good) { DO(bounds, d.n, 256, d.next, d.p, d.o, 0); }},
    {"block", true, [](const Data &d, bool good) {
         good ? good_block<<<d.n / 256, 256>>>(d.next, d.o) : bad_block<<<d.n / 32, 32>>>(d.next, d.o);
     }},
    {"smaller", true, [](const Data &d, bool good) {
         int blocks = d.n / 24576;
         good ? good_smaller<<<4 * blocks, 256, 24576>>>(d.next, d.p, d.o) : bad_smaller<<<blocks, 256, 98304>>>(d.next, d.p, d.o);
     }},
    {"larger", true, [](const Data &d, bool good) {
         int n = d.side / 2;
         good ? good_larger<<<dim3(n / 64, n / 64), dim3(Half, Half)>>>(d.p, d.p + n, d.o, n)
              : bad_larger<<<dim3(n / T, n / T), dim3(T, T)>>>(d.p, d.p + n, d.o, n);
     }},
    {"sort", false, [](const Data &d, bool good) { DO(sort, d.n, 256, good ? d.sorted : d.mixed, d.p, d.o); }},
    {"barrier", true, [](const Data &d, bool good) { DO(barrier, d.n / 4, 256, d.p, d.o); }},
    {"stages", true, [](const Data &d, bool good) {
         // 132 blocks: one for each SM of an H200
         good ? good_stages<<<std::min(d.n / Tile / Steps, 132), 256, 2 * Tile * 4>>>(d.p, d.o)
              : bad_stages<<<std::min(d.n / Tile / Steps, 132), 256, Tile * 4>>>(d.p, d.o);
     }},
    {"none", false, [](const Data &d, bool good) {
         good ? good_none<<<d.n / 256, 256>>>(d.p, d.o) : bad_none<<<d.n / 256, 256>>>(d.next, d.p, d.o);
     }},
};

static void must(cudaError_t e, const char *what)
{
    if (e != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
        exit(1);
    }
}

// The median of many, in microseconds, each time from caches that hold something else.
static double measure(const Pair &p, const Data &d, bool good, char *wipe, size_t wipe_bytes)
{
    cudaEvent_t from, to;
    std::vector<float> t;
    must(cudaEventCreate(&from), "event");
    must(cudaEventCreate(&to), "event");
    for (int k = 0; k < 25; k++) {
        float ms;
        must(cudaMemsetAsync(wipe, k, wipe_bytes), "wipe");
        must(cudaEventRecord(from), "event");
        p.run(d, good);
        must(cudaEventRecord(to), "event");
        must(cudaEventSynchronize(to), p.name);
        must(cudaEventElapsedTime(&ms, from, to), "time");
        t.push_back(ms * 1000);
    }
    std::sort(t.begin() + 5, t.end()); // the first are to warm up
    return t[5 + 10];
}

int main(int argc, char **argv)
{
    const bool time = argc > 1 && !strcmp(argv[argc - 1], "time");
    const int bits = argc > 1 + time ? atoi(argv[1]) : 18, names = argc - 2 - time;
    if (bits < 18 || bits > 24) {
        fprintf(stderr, "usage: pairs [log2 of the elements, 18..24] [a pair's name]... [time]\n");
        return 2;
    }
    Data d = {};
    d.n = 1 << bits;
    d.side = 1 << bits / 2;
    const size_t many = 4 * (size_t)d.n, wipe_bytes = 256 << 20;
    std::vector<float> p(many), q(d.n), mixed(d.n), sorted(d.n), one(d.n), two(d.n);
    std::vector<unsigned> next(d.n);
    unsigned seed = 12345;
    for (size_t i = 0; i < many; i++)
        p[i] = (seed = seed * 1664525 + 1013904223) * 0x1p-32f;
    for (int i = 0; i < d.n; i++) {
        q[i] = p[4 * (size_t)i + 1];
        mixed[i] = (seed = seed * 1664525 + 1013904223) * 0x1p-32f;
        next[i] = (unsigned)i;
    }
    sorted = mixed;
    std::sort(sorted.begin(), sorted.end());
    for (int i = d.n - 1; i > 0; i--)
        std::swap(next[i], next[((seed = seed * 1664525 + 1013904223) >> 4) % (unsigned)(i + 1)]);
    must(cudaMalloc(&d.p, (many + 64) * 4), "memory");
    must(cudaMalloc(&d.q, d.n * 4), "memory");
    must(cudaMalloc(&d.o, d.n * 4), "memory");
    must(cudaMalloc(&d.next, d.n * 4), "memory");
    must(cudaMalloc(&d.mixed, d.n * 4), "memory");
    must(cudaMalloc(&d.sorted, d.n * 4), "memory");
    must(cudaMemset(d.p, 0, (many + 64) * 4), "fill");
    must(cudaMemcpy(d.p, p.data(), many * 4, cudaMemcpyHostToDevice), "copy");
    must(cudaMemcpy(d.q, q.data(), d.n * 4, cudaMemcpyHostToDevice), "copy");
    must(cudaMemcpy(d.next, next.data(), d.n * 4, cudaMemcpyHostToDevice), "copy");
    must(cudaMemcpy(d.mixed, mixed.data(), d.n * 4, cudaMemcpyHostToDevice), "copy");
    must(cudaMemcpy(d.sorted, sorted.data(), d.n * 4, cudaMemcpyHostToDevice), "copy");
    must(cudaFuncSetAttribute(bad_smaller, cudaFuncAttributeMaxDynamicSharedMemorySize, 98304), "shared memory");
    char *wipe = NULL;
    if (time) {
        must(cudaMalloc(&wipe, wipe_bytes), "memory");
        puts("pair,elements,bad_us,good_us");
    }
    for (const Pair &x : pairs) {
        bool wanted = names <= 0;
        for (int k = 0; k < names; k++)
            wanted |= !strcmp(argv[2 + k], x.name);
        if (!wanted)
            continue;
        for (int good = 0; good < 2; good++) {
            must(cudaMemset(d.o, 0, d.n * 4), "fill");
            x.run(d, good);
            must(cudaGetLastError(), x.name);
            must(cudaMemcpy((good ? two : one).data(), d.o, d.n * 4, cudaMemcpyDeviceToHost), x.name);
        }
        for (int i = 0; x.same && i < d.n; i++)
            if (!(std::abs(one[i] - two[i]) <= 1e-4f * std::abs(one[i]))) {
                fprintf(stderr, "%s: element %d is %g and %g\n", x.name, i, one[i], two[i]);
                return 1;
            }
        if (time) {
            const double bad = measure(x, d, false, wipe, wipe_bytes), good = measure(x, d, true, wipe, wipe_bytes);
            printf("%s,%d,%.2f,%.2f\n", x.name, d.n, bad, good);
        }
    }
    if (!time)
        puts("PASS");
    return 0;
}
