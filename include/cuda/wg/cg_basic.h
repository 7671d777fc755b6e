/* wg/cg_basic.h - shuffles of any type and the common parts of cooperative groups. */
#ifndef WG_CUDA_CG_BASIC_H
#define WG_CUDA_CG_BASIC_H
#include "../cuda_runtime.h"

#define WG_CG static __device__ __forceinline__
#define WG_M __device__ __forceinline__

namespace cooperative_groups {
typedef unsigned int thread_id_t;
enum class thread_scope { thread, block, device, system };

namespace wg {
/* A value of any size goes through the warp as 32-bit words. */
template <class T> struct words {
    static const int n = (int)((sizeof(T) + 3) / 4);
    unsigned int w[n];
};
template <class T, class F> WG_CG T each_word(T value, F move)
{
    words<T> in = {};
    __builtin_memcpy(&in, &value, sizeof(T));
#pragma unroll
    for (int i = 0; i < words<T>::n; i++)
        in.w[i] = move(in.w[i]);
    __builtin_memcpy(&value, &in, sizeof(T));
    return value;
}
WG_CG unsigned int lane() { return __nvvm_read_ptx_sreg_laneid(); }
WG_CG unsigned int lanes_below() { return __nvvm_read_ptx_sreg_lanemask_lt(); }
WG_CG unsigned int thread_in_block()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
WG_CG unsigned int threads_of_block() { return blockDim.x * blockDim.y * blockDim.z; }
/* the n-th set bit of mask, n from 0 */
WG_CG unsigned int lane_of_rank(unsigned int mask, unsigned int n)
{
    return mask == 0xffffffffu ? n : __fns(mask, 0, (int)n + 1);
}
/* the bits of value at the set bits of mask, moved together */
WG_CG unsigned int pack(unsigned int value, unsigned int mask)
{
    unsigned int out = 0;
    for (unsigned int at = 0; mask; mask &= mask - 1, at++)
        out |= (value >> (__ffs((int)mask) - 1) & 1u) << at;
    return out;
}
}

/* ---- one thread, and the base that functions take for "any group" ---- */
class thread_group {
  protected:
    enum kind_t { whole_block, whole_grid, lanes, whole_cluster };
    unsigned int kind, mask; /* mask: of a group inside a warp */
    WG_M thread_group(kind_t k, unsigned int m) : kind(k), mask(m) {}
    friend class thread_block;

  public:
    WG_M void sync() const;
    WG_M unsigned long long size() const;
    WG_M unsigned long long num_threads() const { return size(); }
    WG_M unsigned long long thread_rank() const;
    WG_M bool is_valid() const { return true; }
    WG_M unsigned int wg_mask() const { return mask; }
    WG_M bool wg_is_block() const { return kind == whole_block; }
    friend WG_M thread_group tiled_partition(const thread_group &parent, unsigned int tile);
};

/* ---- a block ---- */
class thread_block : public thread_group {
  public:
    WG_M thread_block() : thread_group(whole_block, 0) {}
    static WG_M void sync() { __barrier_sync(0); }
    static WG_M unsigned int size() { return wg::threads_of_block(); }
    static WG_M unsigned int num_threads() { return wg::threads_of_block(); }
    static WG_M unsigned int thread_rank() { return wg::thread_in_block(); }
    static WG_M dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static WG_M dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static WG_M dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    static WG_M dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    struct arrival_token {};
    static WG_M arrival_token barrier_arrive()
    {
        asm volatile("barrier.cta.arrive 0, %0;" ::"r"((wg::threads_of_block() + 31) / 32 * 32) : "memory");
        return arrival_token();
    }
    static WG_M void barrier_wait(arrival_token &&) { sync(); }
};
WG_CG thread_block this_thread_block() { return thread_block(); }

WG_M void thread_group::sync() const
{
    if (kind == whole_block)
        thread_block::sync();
    else
        __syncwarp(mask);
}
WG_M unsigned long long thread_group::size() const
{
    return kind == whole_block ? wg::threads_of_block() : (unsigned int)__popc((int)mask);
}
WG_M unsigned long long thread_group::thread_rank() const
{
    return kind == whole_block ? wg::thread_in_block() : (unsigned int)__popc((int)(mask & wg::lanes_below()));
}

/* ---- a grid: its barrier is a counter in a workspace whose address the launch leaves in %envreg1 and 2 ---- */
class grid_group {
    static WG_M unsigned int *counter()
    {
        unsigned int high, low;
        asm("mov.u32 %0, %%envreg1;" : "=r"(high));
        asm("mov.u32 %0, %%envreg2;" : "=r"(low));
        const unsigned long long at = (unsigned long long)high << 32 | low;
        return at ? (unsigned int *)(at + 4) : 0;
    }

  public:
    WG_M bool is_valid() const { return counter() != 0; }
    WG_M void sync() const
    {
        unsigned int *const c = counter();
        if (!c)
            __trap(); /* not a cooperative launch */
        __barrier_sync(0);
        if (wg::thread_in_block() == 0) {
            /* each block adds 1, the first one what is missing to 2^31: the top bit flips when all have come */
            const bool first = blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0;
            const unsigned int add = first ? 0x80000000u - ((unsigned int)num_blocks() - 1) : 1u;
            unsigned int before, now;
            asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(before) : "l"(c), "r"(add) : "memory");
            do
                asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(c) : "memory");
            while (((now ^ before) & 0x80000000u) == 0);
        }
        __barrier_sync(0);
    }
    static WG_M unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    static WG_M unsigned long long block_rank()
    {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static WG_M unsigned long long size() { return num_blocks() * wg::threads_of_block(); }
    static WG_M unsigned long long num_threads() { return size(); }
    static WG_M unsigned long long thread_rank()
    {
        return block_rank() * wg::threads_of_block() + wg::thread_in_block();
    }
    static WG_M dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    static WG_M dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    static WG_M dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    static WG_M dim3 cluster_index() { return __clusterIdx(); }
    static WG_M dim3 dim_clusters() { return __clusterGridDimInClusters(); }
    static WG_M unsigned long long num_clusters()
    {
        const dim3 d = dim_clusters();
        return (unsigned long long)d.x * d.y * d.z;
    }
    static WG_M unsigned long long cluster_rank()
    {
        const dim3 d = dim_clusters(), i = cluster_index();
        return ((unsigned long long)i.z * d.y + i.y) * d.x + i.x;
    }
#endif
};
WG_CG grid_group this_grid() { return grid_group(); }

/* ---- a cluster of blocks ---- */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
class cluster_group {
  public:
    struct arrival_token {};
    static WG_M arrival_token barrier_arrive() { __cluster_barrier_arrive(); return arrival_token(); }
    static WG_M void barrier_wait() { __cluster_barrier_wait(); }
    static WG_M void barrier_wait(arrival_token &&) { __cluster_barrier_wait(); }
    static WG_M void sync() { __cluster_barrier_arrive(); __cluster_barrier_wait(); }
    static WG_M unsigned int query_shared_rank(const void *p) { return __cluster_query_shared_rank(p); }
    template <class T> static WG_M T *map_shared_rank(T *p, int rank)
    {
        return (T *)__cluster_map_shared_rank((const void *)p, (unsigned int)rank);
    }
    static WG_M dim3 block_index() { return __clusterRelativeBlockIdx(); }
    static WG_M unsigned int block_rank() { return __clusterRelativeBlockRank(); }
    static WG_M dim3 dim_blocks() { return __clusterDim(); }
    static WG_M unsigned int num_blocks() { return __clusterSizeInBlocks(); }
    static WG_M unsigned int thread_rank() { return block_rank() * wg::threads_of_block() + wg::thread_in_block(); }
    static WG_M unsigned int num_threads() { return num_blocks() * wg::threads_of_block(); }
    static WG_M unsigned int size() { return num_threads(); }
    static WG_M dim3 thread_index()
    {
        const dim3 b = block_index();
        return dim3(b.x * blockDim.x + threadIdx.x, b.y * blockDim.y + threadIdx.y, b.z * blockDim.z + threadIdx.z);
    }
    static WG_M dim3 dim_threads()
    {
        const dim3 d = dim_blocks();
        return dim3(d.x * blockDim.x, d.y * blockDim.y, d.z * blockDim.z);
    }
};
WG_CG cluster_group this_cluster() { return cluster_group(); }
#endif
}
#endif
