// scan.cu - running sums (inclusive), block by block, then the sums of the blocks, then those added to each block.
// doubling   each thread adds the element 1, 2, 4, ... before its own: short, but n log n additions
// tree       sums up a binary tree and down again: 2n additions, and strides that meet ever fewer banks
// shuffle    each warp in registers, then the 8 sums of the warps: three barriers in all
// The bugs: doubling in one buffer without the barrier between reading and writing; tree one element too far.
// usage: scan [n] [doubling|tree|shuffle|bug-no-barrier|bug-edge]... [--seed N] [--time REPEATS]
// bench: 4194304 67108864
#include "common.h"

const int Block = 256; // elements

template <bool Between> __global__ void scan_doubling(const int *in, int *out, int *sums, int n)
{
    __shared__ int part[Block];
    const int t = threadIdx.x, i = blockIdx.x * Block + t;
    part[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int by = 1; by < Block; by *= 2) {
        const int before = t >= by ? part[t - by] : 0;
        if (Between)
            __syncthreads(); // all have read what the others now change
        part[t] += before;
        __syncthreads();
    }
    if (i < n)
        out[i] = part[t];
    if (t == Block - 1)
        sums[blockIdx.x] = part[t];
}

template <int Off> __global__ void scan_tree(const int *in, int *out, int *sums, int n)
{
    __shared__ int part[Block];
    const int t = threadIdx.x, base = blockIdx.x * Block; // half as many threads as elements
    int own[2];
    for (int k = 0; k < 2; k++) {
        const int i = base + t + k * Block / 2;
        part[t + k * Block / 2] = own[k] = i < n + Off ? in[i] : 0;
    }
    for (int s = 1; s < Block; s *= 2) {
        __syncthreads();
        const int at = 2 * s * (t + 1) - 1;
        if (at < Block)
            part[at] += part[at - s];
    }
    __syncthreads();
    if (t == 0) {
        sums[blockIdx.x] = part[Block - 1];
        part[Block - 1] = 0;
    }
    for (int s = Block / 2; s > 0; s /= 2) {
        __syncthreads();
        const int at = 2 * s * (t + 1) - 1;
        if (at < Block) {
            const int left = part[at - s];
            part[at - s] = part[at];
            part[at] += left;
        }
    }
    __syncthreads();
    for (int k = 0; k < 2; k++) { // the tree gives the sum before an element
        const int i = base + t + k * Block / 2;
        if (i < n)
            out[i] = part[t + k * Block / 2] + own[k];
    }
}

__device__ int warp_scan(int v)
{
    for (int by = 1; by < 32; by *= 2) {
        const int before = __shfl_up_sync(0xffffffffu, v, by);
        if (threadIdx.x % 32 >= by)
            v += before;
    }
    return v;
}
__global__ void scan_shuffle(const int *in, int *out, int *sums, int n)
{
    __shared__ int warps[Block / 32];
    const int t = threadIdx.x, i = blockIdx.x * Block + t, warp = t / 32;
    int v = warp_scan(i < n ? in[i] : 0);
    if (t % 32 == 31)
        warps[warp] = v;
    __syncthreads();
    if (warp == 0) {
        const int sum = warp_scan(t < Block / 32 ? warps[t] : 0);
        if (t < Block / 32)
            warps[t] = sum;
    }
    __syncthreads();
    if (warp > 0)
        v += warps[warp - 1];
    if (i < n)
        out[i] = v;
    if (t == Block - 1)
        sums[blockIdx.x] = v;
}

__global__ void add_sums(int *out, const int *sums, int n)
{
    const int i = blockIdx.x * Block + threadIdx.x;
    if (blockIdx.x > 0 && i < n)
        out[i] += sums[blockIdx.x - 1];
}

using Kernel = void (*)(const int *, int *, int *, int);

// `room` holds what the levels above need: the sums of the blocks, their running sums, and so on up.
static void scan(Kernel kernel, int threads, const int *in, int *out, int *room, int n)
{
    const int blocks = (n + Block - 1) / Block;
    int *const sums = room, *const running = room + blocks;
    kernel<<<blocks, threads>>>(in, out, sums, n);
    if (blocks > 1) {
        scan(kernel, threads, sums, running, running + blocks, blocks);
        add_sums<<<blocks, Block>>>(out, running, n);
    }
}

int main(int argc, char **argv)
{
    Example e("scan", {"doubling", "tree", "shuffle", "bug-no-barrier", "bug-edge"}, argc, argv, 1 << 18, 1, 1 << 28);
    const struct {
        Kernel kernel;
        int threads;
    } ways[] = {{scan_doubling<true>, Block},
                {scan_tree<0>, Block / 2},
                {scan_shuffle, Block},
                {scan_doubling<false>, Block},
                {scan_tree<1>, Block / 2}};
    Random bits(e.seed);
    std::vector<int> in(e.n), expect(e.n);
    unsigned sum = 0; // wraps around as the GPU's does
    for (int i = 0; i < e.n; i++) {
        in[i] = (int)(bits() % 2001) - 1000;
        expect[i] = (int)(sum += (unsigned)in[i]);
    }
    int *const din = to_device(in), *const dout = on_device<int>(e.n), *const room = on_device<int>(e.n / 64 + 64);
    for (size_t w = 0; w < e.ways.size(); w++) {
        if (!e.wants(e.ways[w]))
            continue;
        const double ms = e.run([&] { scan(ways[w].kernel, ways[w].threads, din, dout, room, e.n); });
        const auto out = to_host(dout, e.n);
        size_t wrong = 0;
        for (int i = 0; i < e.n; i++)
            wrong += out[i] != expect[i];
        e.report(e.ways[w], (double)wrong, 0.0, ms);
    }
    CHECK(cudaFree(din));
    CHECK(cudaFree(dout));
    CHECK(cudaFree(room));
    return e.failed;
}
