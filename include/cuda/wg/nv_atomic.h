/* wg/nv_atomic.h - the __nv_atomic_* functions, CUDA 12.8's counterparts of GCC's __atomic_*, as inline PTX. */
#ifndef WG_CUDA_NV_ATOMIC_H
#define WG_CUDA_NV_ATOMIC_H

/* nvcc takes them as constants of the language; values and names are the C++ programming guide's */
enum {
    __NV_ATOMIC_RELAXED, __NV_ATOMIC_CONSUME, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELEASE, __NV_ATOMIC_ACQ_REL,
    __NV_ATOMIC_SEQ_CST
};
enum {
    __NV_THREAD_SCOPE_THREAD, __NV_THREAD_SCOPE_BLOCK, __NV_THREAD_SCOPE_CLUSTER, __NV_THREAD_SCOPE_DEVICE,
    __NV_THREAD_SCOPE_SYSTEM
};

namespace wg_nv {
#define WG_NVA static __device__ __forceinline__
template <int n> struct word;
template <> struct word<1> { typedef unsigned char type; };
template <> struct word<2> { typedef unsigned short type; };
template <> struct word<4> { typedef unsigned int type; };
template <> struct word<8> { typedef unsigned long long type; };
template <class T> struct plain { typedef T type; };
template <class T> struct plain<const T> { typedef T type; };
template <class T> struct plain<volatile T> { typedef T type; };
template <class T> struct plain<const volatile T> { typedef T type; };

/* One statement of PTX in the five scopes; a thread is served by its block's. The switch is on a constant. */
#define WG_NVA_SCOPES(scope, before, after, ...)                                                                       \
    switch (scope) {                                                                                                   \
    case __NV_THREAD_SCOPE_SYSTEM: asm volatile(before ".sys" after __VA_ARGS__); break;                               \
    case __NV_THREAD_SCOPE_DEVICE: asm volatile(before ".gpu" after __VA_ARGS__); break;                               \
    case __NV_THREAD_SCOPE_CLUSTER: asm volatile(before WG_NVA_CLUSTER after __VA_ARGS__); break;                      \
    default: asm volatile(before ".cta" after __VA_ARGS__); break;                                                     \
    }
#if __CUDA_ARCH__ >= 900
#define WG_NVA_CLUSTER ".cluster"
#else
#define WG_NVA_CLUSTER ".cta"
#endif

WG_NVA void fence(int order, int scope)
{
    if (order == __NV_ATOMIC_RELAXED)
        return;
    if (order == __NV_ATOMIC_SEQ_CST)
        WG_NVA_SCOPES(scope, "fence.sc", ";", :: : "memory")
    else
        WG_NVA_SCOPES(scope, "fence.acq_rel", ";", :: : "memory")
}

/* An operation that reads and writes. A sequentially consistent one is fence.sc and then an acquiring one. */
#define WG_NVA_ORDERS(order, scope, rest, ...)                                                                         \
    if ((order) == __NV_ATOMIC_SEQ_CST)                                                                                \
        fence(order, scope);                                                                                           \
    switch (order) {                                                                                                   \
    case __NV_ATOMIC_RELAXED: WG_NVA_SCOPES(scope, "atom.relaxed", rest, __VA_ARGS__) break;                           \
    case __NV_ATOMIC_RELEASE: WG_NVA_SCOPES(scope, "atom.release", rest, __VA_ARGS__) break;                           \
    case __NV_ATOMIC_ACQ_REL: WG_NVA_SCOPES(scope, "atom.acq_rel", rest, __VA_ARGS__) break;                           \
    default: WG_NVA_SCOPES(scope, "atom.acquire", rest, __VA_ARGS__) break;                                            \
    }

#define WG_NVA_WORD(bits, c, W)                                                                                        \
    WG_NVA W load(const volatile void *p, int order, int scope, W)                                                     \
    {                                                                                                                  \
        W v;                                                                                                           \
        if (order == __NV_ATOMIC_SEQ_CST)                                                                              \
            fence(order, scope);                                                                                       \
        if (order == __NV_ATOMIC_RELAXED)                                                                              \
            WG_NVA_SCOPES(scope, "ld.relaxed", ".u" #bits " %0, [%1];", : "=" c(v) : "l"(p) : "memory")                \
        else                                                                                                           \
            WG_NVA_SCOPES(scope, "ld.acquire", ".u" #bits " %0, [%1];", : "=" c(v) : "l"(p) : "memory")                \
        return v;                                                                                                      \
    }                                                                                                                  \
    WG_NVA void store(volatile void *p, W v, int order, int scope)                                                     \
    {                                                                                                                  \
        if (order == __NV_ATOMIC_SEQ_CST)                                                                              \
            fence(order, scope);                                                                                       \
        if (order == __NV_ATOMIC_RELEASE)                                                                              \
            WG_NVA_SCOPES(scope, "st.release", ".u" #bits " [%0], %1;", : : "l"(p), c(v) : "memory")                   \
        else                                                                                                           \
            WG_NVA_SCOPES(scope, "st.relaxed", ".u" #bits " [%0], %1;", : : "l"(p), c(v) : "memory")                   \
    }
WG_NVA_WORD(16, "h", unsigned short)
WG_NVA_WORD(32, "r", unsigned int)
WG_NVA_WORD(64, "l", unsigned long long)
/* a byte travels in a 16-bit register */
WG_NVA unsigned char load(const volatile void *p, int order, int scope, unsigned char)
{
    unsigned short v;
    if (order == __NV_ATOMIC_SEQ_CST)
        fence(order, scope);
    if (order == __NV_ATOMIC_RELAXED)
        WG_NVA_SCOPES(scope, "ld.relaxed", ".u8 %0, [%1];", : "=h"(v) : "l"(p) : "memory")
    else
        WG_NVA_SCOPES(scope, "ld.acquire", ".u8 %0, [%1];", : "=h"(v) : "l"(p) : "memory")
    return (unsigned char)v;
}
WG_NVA void store(volatile void *p, unsigned char v, int order, int scope)
{
    if (order == __NV_ATOMIC_SEQ_CST)
        fence(order, scope);
    if (order == __NV_ATOMIC_RELEASE)
        WG_NVA_SCOPES(scope, "st.release", ".u8 [%0], %1;", : : "l"(p), "h"((unsigned short)v) : "memory")
    else
        WG_NVA_SCOPES(scope, "st.relaxed", ".u8 [%0], %1;", : : "l"(p), "h"((unsigned short)v) : "memory")
}

#define WG_NVA_RMW(name, op, type, c, T)                                                                               \
    WG_NVA T name(volatile void *p, T v, int order, int scope)                                                         \
    {                                                                                                                  \
        T old;                                                                                                         \
        WG_NVA_ORDERS(order, scope, "." #op "." #type " %0, [%1], %2;", : "=" c(old) : "l"(p), c(v) : "memory")        \
        return old;                                                                                                    \
    }
WG_NVA_RMW(exchange, exch, b32, "r", unsigned int)
WG_NVA_RMW(exchange, exch, b64, "l", unsigned long long)
WG_NVA_RMW(add, add, u32, "r", unsigned int)
WG_NVA_RMW(add, add, u64, "l", unsigned long long)
WG_NVA_RMW(add, add, f32, "f", float)
WG_NVA_RMW(add, add, f64, "d", double)
WG_NVA_RMW(bits_and, and, b32, "r", unsigned int)
WG_NVA_RMW(bits_and, and, b64, "l", unsigned long long)
WG_NVA_RMW(bits_or, or, b32, "r", unsigned int)
WG_NVA_RMW(bits_or, or, b64, "l", unsigned long long)
WG_NVA_RMW(bits_xor, xor, b32, "r", unsigned int)
WG_NVA_RMW(bits_xor, xor, b64, "l", unsigned long long)
WG_NVA_RMW(smallest, min, s32, "r", int)
WG_NVA_RMW(smallest, min, u32, "r", unsigned int)
WG_NVA_RMW(smallest, min, s64, "l", long long)
WG_NVA_RMW(smallest, min, u64, "l", unsigned long long)
WG_NVA_RMW(largest, max, s32, "r", int)
WG_NVA_RMW(largest, max, u32, "r", unsigned int)
WG_NVA_RMW(largest, max, s64, "l", long long)
WG_NVA_RMW(largest, max, u64, "l", unsigned long long)
#define WG_NVA_CAS(bits, c, T)                                                                                         \
    WG_NVA T swap_if(volatile void *p, T expected, T v, int order, int scope)                                          \
    {                                                                                                                  \
        T old;                                                                                                         \
        WG_NVA_ORDERS(order, scope, ".cas.b" #bits " %0, [%1], %2, %3;",                                               \
                      : "=" c(old) : "l"(p), c(expected), c(v) : "memory")                                             \
        return old;                                                                                                    \
    }
WG_NVA_CAS(16, "h", unsigned short)
WG_NVA_CAS(32, "r", unsigned int)
WG_NVA_CAS(64, "l", unsigned long long)

/* The type that an operation on T is done in: its own kind, of one of the two widths. */
template <class T> struct number { typedef typename word<sizeof(T)>::type type; };
template <> struct number<float> { typedef float type; };
template <> struct number<double> { typedef double type; };
template <> struct number<int> { typedef int type; };
template <> struct number<long long> { typedef long long type; };
template <> struct number<long> { typedef long long type; };
template <class T> struct integer { typedef typename word<sizeof(T)>::type type; };
template <class T> struct adds { typedef typename word<sizeof(T)>::type type; };
template <> struct adds<float> { typedef float type; };
template <> struct adds<double> { typedef double type; };

/* Same bits, other type. */
template <class To, class From> WG_NVA To bits(const From &v)
{
    static_assert(sizeof(To) == sizeof(From), "sizes differ");
    To to;
    __builtin_memcpy(&to, &v, sizeof to);
    return to;
}
} /* namespace wg_nv */

#define WG_NVA_T typename wg_nv::plain<T>::type
#define WG_NVA_W typename wg_nv::word<sizeof(T)>::type
template <class T> WG_NVA WG_NVA_T __nv_atomic_load_n(T *p, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    return wg_nv::bits<WG_NVA_T>(wg_nv::load(p, order, scope, WG_NVA_W()));
}
template <class T> WG_NVA void __nv_atomic_load(T *p, WG_NVA_T *to, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    *to = __nv_atomic_load_n(p, order, scope);
}
template <class T>
WG_NVA void __nv_atomic_store_n(T *p, WG_NVA_T v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    wg_nv::store(p, wg_nv::bits<WG_NVA_W>(v), order, scope);
}
template <class T> WG_NVA void __nv_atomic_store(T *p, WG_NVA_T *v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    __nv_atomic_store_n(p, *v, order, scope);
}
template <class T>
WG_NVA WG_NVA_T __nv_atomic_exchange_n(T *p, WG_NVA_T v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    return wg_nv::bits<WG_NVA_T>(wg_nv::exchange(p, wg_nv::bits<WG_NVA_W>(v), order, scope));
}
template <class T>
WG_NVA void __nv_atomic_exchange(T *p, WG_NVA_T *v, WG_NVA_T *old, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    *old = __nv_atomic_exchange_n(p, *v, order, scope);
}
/* The order on failure is never stronger than the one on success, which is taken for both. */
template <class T>
WG_NVA bool __nv_atomic_compare_exchange_n(T *p, WG_NVA_T *expected, WG_NVA_T v, bool, int order, int,
                                           int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    const WG_NVA_W want = wg_nv::bits<WG_NVA_W>(*expected),
                   old = wg_nv::swap_if(p, want, wg_nv::bits<WG_NVA_W>(v), order, scope);
    if (old == want)
        return true;
    *expected = wg_nv::bits<WG_NVA_T>(old);
    return false;
}
template <class T>
WG_NVA bool __nv_atomic_compare_exchange(T *p, WG_NVA_T *expected, WG_NVA_T *v, bool weak, int order, int failed,
                                         int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    return __nv_atomic_compare_exchange_n(p, expected, *v, weak, order, failed, scope);
}

/* As __nv_atomic_fetch_NAME, which returns what was there, and as __nv_atomic_NAME, which does not. */
#define WG_NVA_FETCH(name, function, kind)                                                                             \
    template <class T>                                                                                                 \
    WG_NVA WG_NVA_T __nv_atomic_fetch_##name(T *p, WG_NVA_T v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)        \
    {                                                                                                                  \
        typedef typename wg_nv::kind<WG_NVA_T>::type K;                                                                \
        return wg_nv::bits<WG_NVA_T>(wg_nv::function(p, wg_nv::bits<K>(v), order, scope));                             \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    WG_NVA void __nv_atomic_##name(T *p, WG_NVA_T v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)                  \
    {                                                                                                                  \
        __nv_atomic_fetch_##name(p, v, order, scope);                                                                  \
    }
WG_NVA_FETCH(add, add, adds)
WG_NVA_FETCH(and, bits_and, integer)
WG_NVA_FETCH(or, bits_or, integer)
WG_NVA_FETCH(xor, bits_xor, integer)
WG_NVA_FETCH(min, smallest, number)
WG_NVA_FETCH(max, largest, number)
template <class T>
WG_NVA WG_NVA_T __nv_atomic_fetch_sub(T *p, WG_NVA_T v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    return __nv_atomic_fetch_add(p, (WG_NVA_T)(0 - v), order, scope);
}
template <class T> WG_NVA void __nv_atomic_sub(T *p, WG_NVA_T v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    __nv_atomic_fetch_sub(p, v, order, scope);
}
static __device__ __forceinline__ void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    wg_nv::fence(order, scope);
}

#undef WG_NVA_FETCH
#undef WG_NVA_W
#undef WG_NVA_T
#undef WG_NVA_CAS
#undef WG_NVA_RMW
#undef WG_NVA_WORD
#undef WG_NVA_ORDERS
#undef WG_NVA_CLUSTER
#undef WG_NVA_SCOPES
#undef WG_NVA
#endif
