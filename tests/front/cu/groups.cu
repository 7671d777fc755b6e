// wants: barrier.sync
// wants: bar.warp.sync
// wants: redux.sync.add.s32
// wants: shfl.sync.bfly.b32
// wants: %envreg1
// wants: atom.add.release.gpu.u32
// wants: barrier.cluster.arrive
// wants: cp.async.cg.shared.global
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
__device__ int sum(cg::thread_group g, int *tmp, int v)
{
    const int lane = (int)g.thread_rank();
    for (int i = (int)g.size() / 2; i > 0; i /= 2) {
        tmp[lane] = v;
        g.sync();
        if (lane < i)
            v += tmp[lane + i];
        g.sync();
    }
    return v;
}
__global__ void k(int *p, double *d)
{
    extern __shared__ int s[];
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    cg::thread_block_tile<4> four = cg::tiled_partition<4>(warp);
    cg::thread_block_tile<8, cg::thread_block> eight = cg::tiled_partition<8>(block);
    p[0] = sum(block, s, p[1]) + sum(cg::tiled_partition(block, 16), s, p[2]) + sum(warp, s, 1);
    p[3] = cg::reduce(warp, p[4], cg::plus<int>()) + (int)cg::reduce(four, (float)p[5], cg::less<float>());
    d[0] = cg::reduce(warp, d[1], [](double a, double b) { return a * b; });
    if (p[6] & 1) {
        cg::coalesced_group c = cg::coalesced_threads();
        p[7] = c.shfl(p[8], 0) + (int)c.size() + c.any(p[9]) + (int)c.ballot(p[10]) + cg::inclusive_scan(c, p[11]);
    }
    p[12] = warp.shfl_down(p[13], 1) + (int)eight.meta_group_rank() + (int)four.meta_group_size() + warp.all(p[14]);
    p[15] = (int)cg::binary_partition(warp, p[16] > 0).size() + (int)cg::labeled_partition(warp, p[17]).thread_rank();
    cg::memcpy_async(block, s, p, sizeof(int) * 256);
    cg::wait(block);
    cg::sync(block);
    cg::this_cluster().sync();
    cg::this_grid().sync();
    p[18] = (int)cg::this_grid().thread_rank() + (int)cg::this_grid().num_blocks() + s[3];
}
int main() {}
