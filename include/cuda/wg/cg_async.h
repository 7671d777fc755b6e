/* wg/cg_async.h - cooperative_groups::memcpy_async and wait: cp.async where source, target and size allow it. */
#ifndef WG_CUDA_CG_ASYNC_H
#define WG_CUDA_CG_ASYNC_H
#include "cg_warp.h"
#include "../cuda_pipeline_primitives.h"
WG_CALLERS_LINES

namespace cooperative_groups {
namespace wg {
template <int Word> WG_CG void copy_words(char *dst, const char *src, size_t bytes, size_t rank, size_t n)
{
    for (size_t at = rank * Word; at + Word <= bytes; at += n * Word)
        __pipeline_memcpy_async(dst + at, src + at, Word);
}
/* from global to shared memory in the widest word that both addresses have */
template <class G> WG_CG void copy_async(const G &group, char *dst, const char *src, size_t bytes)
{
    const size_t rank = (size_t)group.thread_rank(), n = (size_t)group.size();
    const size_t both = (size_t)dst | (size_t)src;
    size_t done = 0;
    if (__isShared(dst) && __isGlobal(src)) {
        if (both % 16 == 0) {
            copy_words<16>(dst, src, bytes, rank, n);
            done = bytes / 16 * 16;
        } else if (both % 8 == 0) {
            copy_words<8>(dst, src, bytes, rank, n);
            done = bytes / 8 * 8;
        } else if (both % 4 == 0) {
            copy_words<4>(dst, src, bytes, rank, n);
            done = bytes / 4 * 4;
        }
    }
    for (size_t at = done + rank; at < bytes; at += n)
        dst[at] = src[at];
    __pipeline_commit();
}
}
template <class G, class T, class S>
WG_CG void memcpy_async(const G &group, T *dst, const S *src, const size_t &bytes)
{
    wg::copy_async(group, (char *)dst, (const char *)src, bytes);
}
/* layouts count elements; what fits into both is copied */
template <class G, class T>
WG_CG void memcpy_async(const G &group, T *dst, const size_t &dstCount, const T *src, const size_t &srcCount)
{
    wg::copy_async(group, (char *)dst, (const char *)src, (dstCount < srcCount ? dstCount : srcCount) * sizeof(T));
}
template <class G> WG_CG void wait(const G &group)
{
    __pipeline_wait_prior(0);
    group.sync();
}
template <unsigned int N, class G> WG_CG void wait_prior(const G &group)
{
    __pipeline_wait_prior(N);
    group.sync();
}
}
WG_OWN_LINES
#endif
