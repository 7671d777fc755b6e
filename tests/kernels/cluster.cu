// cluster.cu - thread block clusters through cooperative groups: identities, the cluster's barrier with early exits, sums
// and histograms in distributed shared memory, bulk copies between blocks, mbarriers of other blocks.
#include "check.h"
#include <cooperative_groups.h>
#include <cstdint>
namespace cg = cooperative_groups;

template <class... E, class... A>
static void launch(void (*k)(E...), dim3 grid, dim3 block, dim3 cluster, A... args)
{
    cudaLaunchConfig_t c = {};
    cudaLaunchAttribute a[1] = {};
    a[0].id = cudaLaunchAttributeClusterDimension;
    a[0].val.clusterDim.x = cluster.x;
    a[0].val.clusterDim.y = cluster.y;
    a[0].val.clusterDim.z = cluster.z;
    c.gridDim = grid;
    c.blockDim = block;
    c.attrs = a;
    c.numAttrs = 1;
    CK(cudaLaunchKernelEx(&c, k, args...));
}

// who is who
__global__ void identity(unsigned *out)
{
    cg::cluster_group c = cg::this_cluster();
    if (threadIdx.x == 0) {
        unsigned b = blockIdx.x + gridDim.x * blockIdx.y;
        dim3 r = c.block_index(), d = c.dim_blocks();
        unsigned *o = out + 6 * b;
        o[0] = c.block_rank(), o[1] = c.num_blocks(), o[2] = r.x, o[3] = r.y, o[4] = d.x, o[5] = d.y;
    }
}

// every block sums its part, the blocks of a cluster add up what they find in each other's shared memory
__global__ void sums(const int *in, int *out, int n)
{
    __shared__ int part;
    cg::cluster_group c = cg::this_cluster();
    if (threadIdx.x == 0)
        part = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&part, in[i]);
    c.sync();
    int sum = 0;
    for (unsigned r = 0; r < c.num_blocks(); r++)
        sum += *c.map_shared_rank(&part, r);
    c.sync(); // nobody leaves while others look
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

// bins lie spread over the blocks of the cluster
__global__ void histogram(const unsigned char *in, int n, unsigned *out)
{
    __shared__ unsigned bins[64];
    cg::cluster_group c = cg::this_cluster();
    bins[threadIdx.x] = 0;
    c.sync();
    for (int i = c.thread_rank(); i < n; i += c.num_threads()) {
        unsigned v = in[i] % (64 * c.num_blocks());
        atomicAdd(c.map_shared_rank(bins, v / 64) + v % 64, 1u);
    }
    c.sync();
    out[64 * c.block_rank() + threadIdx.x] = bins[threadIdx.x];
}

// a barrier that some threads never reach because they have exited; arrival apart from the wait
__global__ void leavers(int *out)
{
    __shared__ int seen;
    cg::cluster_group c = cg::this_cluster();
    if (threadIdx.x == 0)
        seen = 100 + c.block_rank();
    if (threadIdx.x % 3 == 1)
        return;
    c.barrier_arrive();
    int mine = threadIdx.x * 2;
    c.barrier_wait();
    int other = *c.map_shared_rank(&seen, c.block_rank() ^ 1);
    c.sync();
    out[blockIdx.x * blockDim.x + threadIdx.x] = other + mine;
}

__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
// a ring: each block sends 256 bytes to the next one's shared memory and signals its mbarrier
__global__ void ring(const int *in, int *out, int rounds)
{
    __shared__ __align__(16) int from[64], to[64];
    __shared__ __align__(8) uint64_t bar;
    cg::cluster_group c = cg::this_cluster();
    unsigned next = (c.block_rank() + 1) % c.num_blocks(), to_next, bar_next;
    from[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to_next) : "r"(at(to)), "r"(next));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(bar_next) : "r"(at(&bar)), "r"(next));
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&bar)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    c.sync();
    for (int r = 0; r < rounds; r++) {
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(at(&bar)) : "memory");
            asm volatile("fence.proxy.async;" ::: "memory");
            asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(
                             to_next), "r"(at(from)), "r"(bar_next)
                         : "memory");
        }
        unsigned done = 0;
        while (!done)
            asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
                         : "=r"(done) : "r"(at(&bar)), "r"(r & 1) : "memory");
        c.sync();
        from[threadIdx.x] = to[threadIdx.x] + 1;
        c.sync();
    }
    out[blockIdx.x * 64 + threadIdx.x] = from[threadIdx.x];
}

// consumers in block 0 wait at their own mbarrier for arrivals of every block
__global__ void arrivals(int *out)
{
    __shared__ __align__(8) uint64_t bar;
    __shared__ int box[8];
    cg::cluster_group c = cg::this_cluster();
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(&bar)), "r"(32 * c.num_blocks()) : "memory");
    c.sync();
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at(&bar)), "r"(0));
    if (threadIdx.x == 0)
        *c.map_shared_rank(&box[c.block_rank()], 0) = 7 * (c.block_rank() + 1);
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
    if (c.block_rank() == 0) {
        unsigned done = 0;
        while (!done)
            asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0;\n selp.u32 %0, 1, 0, p;\n}"
                         : "=r"(done) : "r"(at(&bar)) : "memory");
        if (threadIdx.x < c.num_blocks())
            out[threadIdx.x] = box[threadIdx.x];
    }
    c.sync();
}

int main()
{
    static unsigned who[8 * 6 * 6];
    unsigned *d = device<unsigned>(8 * 6 * 6);
    launch(identity, dim3(8, 6), 64, dim3(4, 2), d);
    fetch(who, d, 8 * 6 * 6);
    for (unsigned y = 0; y < 6; y++)
        for (unsigned x = 0; x < 8; x++) {
            const unsigned *o = who + 6 * (x + 8 * y);
            EXPECT(o[0] == x % 4 + 4 * (y % 2) && o[1] == 8 && o[2] == x % 4 && o[3] == y % 2 && o[4] == 4 && o[5] == 2,
                   "block (%u,%u): rank %u of %u", x, y, o[0], o[1]);
        }
    const int n = 10000, blocks = 16;
    static int in[n], got[1024];
    int all = 0, *din = device<int>(n), *dout = device<int>(1024);
    for (int i = 0; i < n; i++)
        in[i] = i * 7 % 101;
    CK(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
    launch(sums, blocks, 128, 8, (const int *)din, dout, n);
    fetch(got, dout, blocks);
    for (int i = 0; i < n; i++)
        all += in[i];
    EXPECT(got[0] + got[8] == all, "%d and %d, not %d", got[0], got[8], all);
    for (int b = 0; b < blocks; b++)
        EXPECT(got[b] == got[b / 8 * 8], "block %d: %d", b, got[b]);
    static unsigned bins[256], want[256];
    unsigned char *bytes = device<unsigned char>(5000);
    static unsigned char hb[5000];
    for (int i = 0; i < 5000; i++)
        want[hb[i] = (unsigned char)(i * i % 251)]++;
    CK(cudaMemcpy(bytes, hb, sizeof hb, cudaMemcpyHostToDevice));
    unsigned *dbins = device<unsigned>(256);
    launch(histogram, 4, 64, 4, (const unsigned char *)bytes, 5000, dbins);
    fetch(bins, dbins, 256);
    for (int i = 0; i < 256; i++)
        EXPECT(bins[i] == want[i], "bin %d: %u, not %u", i, bins[i], want[i]);
    launch(leavers, 4, 96, 2, dout);
    fetch(got, dout, 4 * 96);
    for (int i = 0; i < 4 * 96; i++)
        EXPECT(i % 96 % 3 == 1 || got[i] == 100 + (i / 96 + 1) % 2 + i % 96 * 2, "thread %d: %d", i, got[i]);
    launch(ring, 8, 64, 4, (const int *)din, dout, 6);
    fetch(got, dout, 512);
    for (int i = 0; i < 512; i++) {
        int c = i / 256, b = i / 64 % 4, from = c * 4 + (b + 8 - 6) % 4;
        EXPECT(got[i] == in[from * 64 + i % 64] + 6, "word %d: %d", i, got[i]);
    }
    launch(arrivals, 8, 32, 8, dout);
    fetch(got, dout, 8);
    for (int i = 0; i < 8; i++)
        EXPECT(got[i] == 7 * (i + 1), "box %d: %d", i, got[i]);
    return verdict("cluster");
}
