/* wg/cg_warp.h - groups inside a warp: tiles of fixed size, the coalesced threads, partitions. */
#ifndef WG_CUDA_CG_WARP_H
#define WG_CUDA_CG_WARP_H
#include "cg_basic.h"

namespace cooperative_groups {
/* ---- any set of lanes ---- */
class coalesced_group {
    unsigned int mask, meta_rank, meta_size;

  public:
    WG_M explicit coalesced_group(unsigned int m, unsigned int rank = 0, unsigned int n = 1)
        : mask(m), meta_rank(rank), meta_size(n)
    {
    }
    WG_M unsigned int wg_mask() const { return mask; }
    WG_M void sync() const { __syncwarp(mask); }
    WG_M unsigned int size() const { return (unsigned int)__popc((int)mask); }
    WG_M unsigned int num_threads() const { return size(); }
    WG_M unsigned int thread_rank() const { return (unsigned int)__popc((int)(mask & wg::lanes_below())); }
    WG_M unsigned int meta_group_rank() const { return meta_rank; }
    WG_M unsigned int meta_group_size() const { return meta_size; }
    WG_M bool is_valid() const { return true; }
    template <class T> WG_M T shfl(T v, int rank) const
    {
        const int lane = (int)wg::lane_of_rank(mask, (unsigned int)rank);
        const unsigned int m = mask;
        return wg::each_word(v, [=](unsigned int w) { return __shfl_sync(m, w, lane); });
    }
    template <class T> WG_M T shfl_down(T v, unsigned int by) const
    {
        const unsigned int rank = thread_rank() + by;
        return shfl(v, (int)(rank < size() ? rank : thread_rank()));
    }
    template <class T> WG_M T shfl_up(T v, unsigned int by) const
    {
        const unsigned int rank = thread_rank();
        return shfl(v, (int)(rank >= by ? rank - by : rank));
    }
    WG_M int any(int pred) const { return (__ballot_sync(mask, pred) & mask) != 0; }
    WG_M int all(int pred) const { return (__ballot_sync(mask, pred) & mask) == mask; }
    WG_M unsigned int ballot(int pred) const { return wg::pack(__ballot_sync(mask, pred) & mask, mask); }
    template <class T> WG_M unsigned int match_any(T v) const { return wg::pack(__match_any_sync(mask, v) & mask, mask); }
    template <class T> WG_M unsigned int match_all(T v, int &pred) const
    {
        return wg::pack(__match_all_sync(mask, v, &pred) & mask, mask);
    }
    WG_M operator thread_group() const;
};
WG_CG coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

/* ---- 2^k neighbouring threads of a block ---- */
template <unsigned int Size> class wg_tile {
    static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                  "thread_block_tile: only powers of two up to 32 are supported");

  public:
    static WG_M unsigned int wg_mask()
    {
        return Size == 32 ? 0xffffffffu : ((1u << (Size & 31)) - 1) << (wg::lane() & ~(Size - 1) & 31);
    }
    static WG_M void sync() { __syncwarp(wg_mask()); }
    static WG_M constexpr unsigned int size() { return Size; }
    static WG_M constexpr unsigned int num_threads() { return Size; }
    static WG_M unsigned int thread_rank() { return wg::lane() & (Size - 1); }
    static WG_M bool is_valid() { return true; }
    template <class T> WG_M T shfl(T v, int rank) const
    {
        const unsigned int m = wg_mask();
        return wg::each_word(v, [=](unsigned int w) { return __shfl_sync(m, w, rank, (int)Size); });
    }
    template <class T> WG_M T shfl_down(T v, unsigned int by) const
    {
        const unsigned int m = wg_mask();
        return wg::each_word(v, [=](unsigned int w) { return __shfl_down_sync(m, w, by, (int)Size); });
    }
    template <class T> WG_M T shfl_up(T v, unsigned int by) const
    {
        const unsigned int m = wg_mask();
        return wg::each_word(v, [=](unsigned int w) { return __shfl_up_sync(m, w, by, (int)Size); });
    }
    template <class T> WG_M T shfl_xor(T v, unsigned int by) const
    {
        const unsigned int m = wg_mask();
        return wg::each_word(v, [=](unsigned int w) { return __shfl_xor_sync(m, w, (int)by, (int)Size); });
    }
    WG_M int any(int pred) const
    {
        return Size == 32 ? __any_sync(wg_mask(), pred) : (__ballot_sync(wg_mask(), pred) & wg_mask()) != 0;
    }
    WG_M int all(int pred) const
    {
        return Size == 32 ? __all_sync(wg_mask(), pred) : (__ballot_sync(wg_mask(), pred) & wg_mask()) == wg_mask();
    }
    WG_M unsigned int ballot(int pred) const { return first(__ballot_sync(wg_mask(), pred)); }
    template <class T> WG_M unsigned int match_any(T v) const { return first(__match_any_sync(wg_mask(), v)); }
    template <class T> WG_M unsigned int match_all(T v, int &pred) const
    {
        return first(__match_all_sync(wg_mask(), v, &pred));
    }
    WG_M operator thread_group() const;
    WG_M operator coalesced_group() const { return coalesced_group(wg_mask()); }

  private:
    /* this tile's bits of a warp's, from bit 0 on */
    static WG_M unsigned int first(unsigned int bits)
    {
        return (bits & wg_mask()) >> (wg::lane() & ~(Size - 1) & 31);
    }
};
template <unsigned int Size, class Parent = void> class thread_block_tile;
/* threads of a parent that is a tile; 0: it is the block */
template <class Parent> struct wg_width { static const unsigned int value = 0; };
template <unsigned int N, class P> struct wg_width<thread_block_tile<N, P> > { static const unsigned int value = N; };
template <unsigned int Size, class Parent> class thread_block_tile : public wg_tile<Size> {
  public:
    WG_M thread_block_tile() {}
    template <class P> WG_M thread_block_tile(const thread_block_tile<Size, P> &) {}
    /* which tile of its parent this is, and how many there are */
    static WG_M unsigned int meta_group_rank()
    {
        return wg_width<Parent>::value ? (wg::lane() & (wg_width<Parent>::value - 1)) / Size
                                       : wg::thread_in_block() / Size;
    }
    static WG_M unsigned int meta_group_size()
    {
        return wg_width<Parent>::value ? wg_width<Parent>::value / Size : (wg::threads_of_block() + Size - 1) / Size;
    }
};

template <unsigned int Size, class Parent>
WG_CG thread_block_tile<Size, Parent> tiled_partition(const Parent &)
{
    return thread_block_tile<Size, Parent>();
}
template <unsigned int Size> struct block_tile_memory {};
template <unsigned int Size> WG_CG thread_block this_thread_block(block_tile_memory<Size> &) { return thread_block(); }

/* ---- conversions to the base, which only keeps the lanes ---- */
class wg_lanes : public thread_group {
  public:
    WG_M explicit wg_lanes(unsigned int m) : thread_group(lanes, m) {}
};
WG_M coalesced_group::operator thread_group() const { return wg_lanes(mask); }
template <unsigned int Size> WG_M wg_tile<Size>::operator thread_group() const { return wg_lanes(wg_mask()); }

/* ---- partitions whose size is known at run time only ---- */
WG_M thread_group tiled_partition(const thread_group &parent, unsigned int tile)
{
    if (parent.kind == thread_group::whole_block) {
        const unsigned int lanes = tile >= 32 ? 0xffffffffu : (1u << tile) - 1;
        return wg_lanes(lanes << (wg::lane() / tile * tile));
    }
    unsigned int left = parent.mask, mine = 0, rank = 0;
    const unsigned int me = (unsigned int)parent.thread_rank() / tile;
    for (; left; left &= left - 1, rank++)
        if (rank / tile == me)
            mine |= left & (0u - left);
    return wg_lanes(mine);
}
WG_CG coalesced_group tiled_partition(const coalesced_group &parent, unsigned int tile)
{
    unsigned int left = parent.wg_mask(), mine = 0, rank = 0;
    const unsigned int me = parent.thread_rank() / tile;
    for (; left; left &= left - 1, rank++)
        if (rank / tile == me)
            mine |= left & (0u - left);
    return coalesced_group(mine, me, (parent.size() + tile - 1) / tile);
}
template <class G, class L> WG_CG coalesced_group labeled_partition(const G &group, L label)
{
    const unsigned int all = group.wg_mask(), same = __match_any_sync(all, label) & all;
    /* groups are numbered by the label's first lane */
    const unsigned int firsts = __ballot_sync(all, (same & wg::lanes_below()) == 0) & all;
    const unsigned int first = same & (0u - same);
    return coalesced_group(same, (unsigned int)__popc((int)(firsts & (first - 1))), (unsigned int)__popc((int)firsts));
}
template <class G> WG_CG coalesced_group binary_partition(const G &group, bool pred)
{
    const unsigned int all = group.wg_mask(), yes = __ballot_sync(all, pred) & all;
    return pred ? coalesced_group(yes, 0, 2) : coalesced_group(all & ~yes, 1, 2);
}

/* ---- the same as free functions ---- */
template <class G> WG_CG void sync(const G &g) { g.sync(); }
template <class G> WG_CG unsigned long long group_size(const G &g) { return g.size(); }
template <class G> WG_CG unsigned long long thread_rank(const G &g) { return g.thread_rank(); }
template <class G, class F, class... A> WG_CG void invoke_one(const G &g, F &&f, A &&...args)
{
    if (g.thread_rank() == 0)
        f(static_cast<A &&>(args)...);
}
template <class G, class F, class... A>
WG_CG auto invoke_one_broadcast(const G &g, F &&f, A &&...args) -> decltype(f(static_cast<A &&>(args)...))
{
    decltype(f(static_cast<A &&>(args)...)) r = {};
    if (g.thread_rank() == 0)
        r = f(static_cast<A &&>(args)...);
    return g.shfl(r, 0);
}
}
#endif
