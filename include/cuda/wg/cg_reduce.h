/* wg/cg_reduce.h - reductions and scans over groups inside a warp. */
#ifndef WG_CUDA_CG_REDUCE_H
#define WG_CUDA_CG_REDUCE_H
#include "cg_warp.h"
WG_CALLERS_LINES

namespace cooperative_groups {
#define WG_OPERATION(name, expr)                                                                                       \
    template <class T = void> struct name {                                                                            \
        WG_M T operator()(const T &a, const T &b) const { return expr; }                                               \
    };                                                                                                                 \
    template <> struct name<void> {                                                                                    \
        template <class T> WG_M T operator()(const T &a, const T &b) const { return expr; }                            \
    };
WG_OPERATION(plus, a + b)
WG_OPERATION(less, b < a ? b : a)
WG_OPERATION(greater, a < b ? b : a)
WG_OPERATION(bit_and, a & b)
WG_OPERATION(bit_or, a | b)
WG_OPERATION(bit_xor, a ^ b)
#undef WG_OPERATION

namespace wg {
template <class A, class B> struct same { static const bool value = false; };
template <class A> struct same<A, A> { static const bool value = true; };
template <class T> struct bare { typedef T type; };
template <class T> struct bare<T &> { typedef T type; };
template <class T> struct bare<const T> { typedef T type; };
template <class T> struct bare<const T &> { typedef T type; };
template <class T> struct bare<T &&> { typedef T type; };

/* Which redux instruction computes Op on T, or none. */
enum redux { redux_none, redux_add, redux_min, redux_max, redux_and, redux_or, redux_xor };
template <class T, class Op> struct redux_of {
    static const bool word = same<T, int>::value || same<T, unsigned int>::value;
    static const redux value = !word                                                                       ? redux_none
                               : same<Op, plus<T>>::value || same<Op, plus<void>>::value       ? redux_add
                               : same<Op, less<T>>::value || same<Op, less<void>>::value       ? redux_min
                               : same<Op, greater<T>>::value || same<Op, greater<void>>::value ? redux_max
                               : same<Op, bit_and<T>>::value || same<Op, bit_and<void>>::value ? redux_and
                               : same<Op, bit_or<T>>::value || same<Op, bit_or<void>>::value   ? redux_or
                               : same<Op, bit_xor<T>>::value || same<Op, bit_xor<void>>::value ? redux_xor
                                                                                               : redux_none;
};
template <redux R> struct redux_tag {};
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
template <class T> WG_CG T warp_redux(redux_tag<redux_add>, unsigned int m, T v)
{
    return (T)__reduce_add_sync(m, (unsigned int)v);
}
template <class T> WG_CG T warp_redux(redux_tag<redux_min>, unsigned int m, T v) { return __reduce_min_sync(m, v); }
template <class T> WG_CG T warp_redux(redux_tag<redux_max>, unsigned int m, T v) { return __reduce_max_sync(m, v); }
template <class T> WG_CG T warp_redux(redux_tag<redux_and>, unsigned int m, T v)
{
    return (T)__reduce_and_sync(m, (unsigned int)v);
}
template <class T> WG_CG T warp_redux(redux_tag<redux_or>, unsigned int m, T v)
{
    return (T)__reduce_or_sync(m, (unsigned int)v);
}
template <class T> WG_CG T warp_redux(redux_tag<redux_xor>, unsigned int m, T v)
{
    return (T)__reduce_xor_sync(m, (unsigned int)v);
}
template <class G, class T, redux R> WG_CG T fast(redux_tag<R> tag, const G &g, T v) { return warp_redux(tag, g.wg_mask(), v); }
template <class T, class Op> struct use_redux { static const redux value = redux_of<T, Op>::value; };
#else
template <class T, class Op> struct use_redux { static const redux value = redux_none; };
template <class G, class T, redux R> WG_CG T fast(redux_tag<R>, const G &, T v) { return v; }
#endif

template <unsigned int N, class P, class T, class Op>
WG_CG T fold(const thread_block_tile<N, P> &g, T v, Op op)
{
#pragma unroll
    for (unsigned int by = N / 2; by; by /= 2)
        v = op(v, g.shfl_xor(v, by));
    return v;
}
/* any set of lanes: halve the ranks, then hand the result of rank 0 to all */
template <class G, class T, class Op> WG_CG T fold(const G &g, T v, Op op)
{
    unsigned int n = (unsigned int)g.size();
    const unsigned int rank = (unsigned int)g.thread_rank();
    while (n > 1) {
        const unsigned int half = (n + 1) / 2;
        const T other = g.shfl_down(v, half);
        if (rank + half < n)
            v = op(v, other);
        n = half;
    }
    return g.shfl(v, 0);
}
template <class G, class T, class Op> WG_CG T reduce_by(redux_tag<redux_none>, const G &g, T v, Op op) { return fold(g, v, op); }
template <class G, class T, class Op, redux R> WG_CG T reduce_by(redux_tag<R> tag, const G &g, T v, Op)
{
    return fast(tag, g, v);
}
}

template <class G, class T, class Op>
WG_CG typename wg::bare<T>::type reduce(const G &group, T &&value, Op &&op)
{
    typedef typename wg::bare<T>::type V;
    typedef typename wg::bare<Op>::type O;
    return wg::reduce_by(wg::redux_tag<wg::use_redux<V, O>::value>(), group, (V)value, O(op));
}
template <class G, class T, class V> WG_CG void reduce_update_async(const G &group, T *out, V &&value)
{
    const typename wg::bare<V>::type sum = reduce(group, value, plus<typename wg::bare<V>::type>());
    if (group.thread_rank() == 0)
        atomicAdd(out, sum);
}

template <class G, class T, class Op>
WG_CG typename wg::bare<T>::type inclusive_scan(const G &group, T &&value, Op &&op)
{
    typename wg::bare<T>::type v = value;
    const unsigned int rank = (unsigned int)group.thread_rank(), n = (unsigned int)group.size();
    for (unsigned int by = 1; by < n; by *= 2) {
        const typename wg::bare<T>::type left = group.shfl_up(v, by);
        if (rank >= by)
            v = op(left, v);
    }
    return v;
}
template <class G, class T> WG_CG typename wg::bare<T>::type inclusive_scan(const G &group, T &&value)
{
    return inclusive_scan(group, value, plus<typename wg::bare<T>::type>());
}
template <class G, class T, class Op>
WG_CG typename wg::bare<T>::type exclusive_scan(const G &group, T &&value, Op &&op)
{
    typedef typename wg::bare<T>::type V;
    const V all = inclusive_scan(group, value, op);
    const V left = group.shfl_up(all, 1);
    return group.thread_rank() == 0 ? V() : left;
}
template <class G, class T> WG_CG typename wg::bare<T>::type exclusive_scan(const G &group, T &&value)
{
    return exclusive_scan(group, value, plus<typename wg::bare<T>::type>());
}
}
WG_OWN_LINES
#endif
