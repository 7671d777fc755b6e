/* wg/intrinsics.h - device intrinsics that clang's headers lack: cached loads and stores, dot products, old votes and
 * shuffles, sleeping, fused min/max, alloca. */
#ifndef WG_CUDA_INTRINSICS_H
#define WG_CUDA_INTRINSICS_H
#define WG_D static __device__ __forceinline__

WG_D void __nanosleep(unsigned int ns) { __nvvm_nanosleep(ns); }
WG_D unsigned long long globaltimer(void) { return __nvvm_read_ptx_sreg_globaltimer(); }
WG_D void __pm(int event) { (void)event; }

/* ---- the forms without a mask: the lanes that are here now take part ---- */
WG_D int __all(int pred) { return __nvvm_vote_all_sync(__activemask(), pred); }
WG_D int __any(int pred) { return __nvvm_vote_any_sync(__activemask(), pred); }
WG_D unsigned int __ballot(int pred) { return __nvvm_vote_ballot_sync(__activemask(), pred); }
#define WG_SHFL(name, L)                                                                                               \
    template <class T> WG_D T name(T value, L lane, int width = 32)                                                    \
    {                                                                                                                  \
        return name##_sync(__activemask(), value, lane, width);                                                        \
    }
WG_SHFL(__shfl, int)
WG_SHFL(__shfl_up, unsigned int)
WG_SHFL(__shfl_down, unsigned int)
WG_SHFL(__shfl_xor, int)
#undef WG_SHFL

/* ---- reductions over the lanes of a mask ---- */
#if __CUDA_ARCH__ >= 800
#define WG_REDUX(T, name, builtin)                                                                                     \
    WG_D T name(unsigned int mask, T value) { return (T)builtin((int)value, (int)mask); }
WG_REDUX(unsigned int, __reduce_add_sync, __nvvm_redux_sync_add)
WG_REDUX(int, __reduce_add_sync, __nvvm_redux_sync_add)
WG_REDUX(unsigned int, __reduce_min_sync, __nvvm_redux_sync_umin)
WG_REDUX(int, __reduce_min_sync, __nvvm_redux_sync_min)
WG_REDUX(unsigned int, __reduce_max_sync, __nvvm_redux_sync_umax)
WG_REDUX(int, __reduce_max_sync, __nvvm_redux_sync_max)
WG_REDUX(unsigned int, __reduce_and_sync, __nvvm_redux_sync_and)
WG_REDUX(unsigned int, __reduce_or_sync, __nvvm_redux_sync_or)
WG_REDUX(unsigned int, __reduce_xor_sync, __nvvm_redux_sync_xor)
#undef WG_REDUX
#endif

/* ---- dot products of bytes and halves ---- */
#define WG_DP(name, ptx, R, A, B)                                                                                      \
    WG_D R name(A a, B b, R c)                                                                                         \
    {                                                                                                                  \
        R d;                                                                                                           \
        asm(ptx " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));                                                \
        return d;                                                                                                      \
    }
WG_DP(__dp4a, "dp4a.s32.s32", int, int, int)
WG_DP(__dp4a, "dp4a.u32.u32", unsigned int, unsigned int, unsigned int)
WG_DP(__dp2a_lo, "dp2a.lo.s32.s32", int, int, int)
WG_DP(__dp2a_lo, "dp2a.lo.u32.u32", unsigned int, unsigned int, unsigned int)
WG_DP(__dp2a_hi, "dp2a.hi.s32.s32", int, int, int)
WG_DP(__dp2a_hi, "dp2a.hi.u32.u32", unsigned int, unsigned int, unsigned int)
#undef WG_DP
WG_D int __dp4a(char4 a, char4 b, int c)
{
    return __dp4a(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c);
}
WG_D unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c)
{
    return __dp4a(__builtin_bit_cast(unsigned int, a), __builtin_bit_cast(unsigned int, b), c);
}
WG_D int __dp2a_lo(short2 a, char4 b, int c)
{
    return __dp2a_lo(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c);
}
WG_D int __dp2a_hi(short2 a, char4 b, int c)
{
    return __dp2a_hi(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c);
}

/* ---- loads and stores with a cache operator ---- */
#define WG_LD1(name, op, T, ptx, reg, R)                                                                               \
    WG_D T name(const T *p)                                                                                            \
    {                                                                                                                  \
        R r;                                                                                                           \
        asm volatile("ld." op "." ptx " %0, [%1];" : "=" reg(r) : "l"(p) : "memory");                                  \
        return (T)r;                                                                                                   \
    }
#define WG_LD2(name, op, T, ptx, reg, R)                                                                               \
    WG_D T name(const T *p)                                                                                            \
    {                                                                                                                  \
        R x, y;                                                                                                        \
        asm volatile("ld." op ".v2." ptx " {%0, %1}, [%2];" : "=" reg(x), "=" reg(y) : "l"(p) : "memory");             \
        T r;                                                                                                           \
        r.x = x; r.y = y;                                                                                              \
        return r;                                                                                                      \
    }
#define WG_LD4(name, op, T, ptx, reg, R)                                                                               \
    WG_D T name(const T *p)                                                                                            \
    {                                                                                                                  \
        R x, y, z, w;                                                                                                  \
        asm volatile("ld." op ".v4." ptx " {%0, %1, %2, %3}, [%4];"                                                    \
                     : "=" reg(x), "=" reg(y), "=" reg(z), "=" reg(w) : "l"(p) : "memory");                            \
        T r;                                                                                                           \
        r.x = x; r.y = y; r.z = z; r.w = w;                                                                            \
        return r;                                                                                                      \
    }
#define WG_ST1(name, op, T, ptx, reg, R)                                                                               \
    WG_D void name(T *p, T v) { asm volatile("st." op "." ptx " [%0], %1;" ::"l"(p), reg((R)v) : "memory"); }
#define WG_ST2(name, op, T, ptx, reg, R)                                                                               \
    WG_D void name(T *p, T v)                                                                                          \
    {                                                                                                                  \
        asm volatile("st." op ".v2." ptx " [%0], {%1, %2};" ::"l"(p), reg((R)v.x), reg((R)v.y) : "memory");            \
    }
#define WG_ST4(name, op, T, ptx, reg, R)                                                                               \
    WG_D void name(T *p, T v)                                                                                          \
    {                                                                                                                  \
        asm volatile("st." op ".v4." ptx " [%0], {%1, %2, %3, %4};" ::"l"(p), reg((R)v.x), reg((R)v.y), reg((R)v.z),   \
                     reg((R)v.w)                                                                                       \
                     : "memory");                                                                                      \
    }
/* every element type: macro of one element, of two, of four, name, operator */
#define WG_ALL(M1, M2, M4, name, op)                                                                                   \
    M1(name, op, char, "s8", "r", int) M1(name, op, signed char, "s8", "r", int)                                       \
    M1(name, op, unsigned char, "u8", "r", unsigned int) M1(name, op, short, "s16", "h", short)                        \
    M1(name, op, unsigned short, "u16", "h", unsigned short) M1(name, op, int, "s32", "r", int)                        \
    M1(name, op, unsigned int, "u32", "r", unsigned int) M1(name, op, long, "s64", "l", long)                          \
    M1(name, op, unsigned long, "u64", "l", unsigned long) M1(name, op, long long, "s64", "l", long long)              \
    M1(name, op, unsigned long long, "u64", "l", unsigned long long) M1(name, op, float, "f32", "f", float)            \
    M1(name, op, double, "f64", "d", double)                                                                           \
    M2(name, op, char2, "s8", "r", int) M2(name, op, uchar2, "u8", "r", unsigned int)                                  \
    M2(name, op, short2, "s16", "h", short) M2(name, op, ushort2, "u16", "h", unsigned short)                          \
    M2(name, op, int2, "s32", "r", int) M2(name, op, uint2, "u32", "r", unsigned int)                                  \
    M2(name, op, longlong2, "s64", "l", long long) M2(name, op, ulonglong2, "u64", "l", unsigned long long)            \
    M2(name, op, float2, "f32", "f", float) M2(name, op, double2, "f64", "d", double)                                  \
    M4(name, op, char4, "s8", "r", int) M4(name, op, uchar4, "u8", "r", unsigned int)                                  \
    M4(name, op, short4, "s16", "h", short) M4(name, op, ushort4, "u16", "h", unsigned short)                          \
    M4(name, op, int4, "s32", "r", int) M4(name, op, uint4, "u32", "r", unsigned int)                                  \
    M4(name, op, float4, "f32", "f", float)
WG_ALL(WG_LD1, WG_LD2, WG_LD4, __ldcg, "global.cg")
WG_ALL(WG_LD1, WG_LD2, WG_LD4, __ldca, "global.ca")
WG_ALL(WG_LD1, WG_LD2, WG_LD4, __ldcs, "global.cs")
WG_ALL(WG_LD1, WG_LD2, WG_LD4, __ldlu, "global.lu")
WG_ALL(WG_LD1, WG_LD2, WG_LD4, __ldcv, "global.cv")
WG_ALL(WG_ST1, WG_ST2, WG_ST4, __stwb, "global.wb")
WG_ALL(WG_ST1, WG_ST2, WG_ST4, __stcg, "global.cg")
WG_ALL(WG_ST1, WG_ST2, WG_ST4, __stcs, "global.cs")
WG_ALL(WG_ST1, WG_ST2, WG_ST4, __stwt, "global.wt")
#undef WG_ALL
#undef WG_LD1
#undef WG_LD2
#undef WG_LD4
#undef WG_ST1
#undef WG_ST2
#undef WG_ST4

/* ---- three-operand and clamped min/max: one DPX step each, here plain instructions ---- */
WG_D int __vimax3_s32(int a, int b, int c) { return max(max(a, b), c); }
WG_D int __vimin3_s32(int a, int b, int c) { return min(min(a, b), c); }
WG_D unsigned int __vimax3_u32(unsigned int a, unsigned int b, unsigned int c) { return umax(umax(a, b), c); }
WG_D unsigned int __vimin3_u32(unsigned int a, unsigned int b, unsigned int c) { return umin(umin(a, b), c); }
WG_D int __vimax_s32_relu(int a, int b) { return max(max(a, b), 0); }
WG_D int __vimin_s32_relu(int a, int b) { return max(min(a, b), 0); }
WG_D int __vimax3_s32_relu(int a, int b, int c) { return max(__vimax3_s32(a, b, c), 0); }
WG_D int __vimin3_s32_relu(int a, int b, int c) { return max(__vimin3_s32(a, b, c), 0); }
WG_D int __viaddmax_s32(int a, int b, int c) { return max((int)((unsigned int)a + (unsigned int)b), c); }
WG_D int __viaddmin_s32(int a, int b, int c) { return min((int)((unsigned int)a + (unsigned int)b), c); }
WG_D unsigned int __viaddmax_u32(unsigned int a, unsigned int b, unsigned int c) { return umax(a + b, c); }
WG_D unsigned int __viaddmin_u32(unsigned int a, unsigned int b, unsigned int c) { return umin(a + b, c); }
WG_D int __viaddmax_s32_relu(int a, int b, int c) { return max(__viaddmax_s32(a, b, c), 0); }
WG_D int __viaddmin_s32_relu(int a, int b, int c) { return max(__viaddmin_s32(a, b, c), 0); }

/* ---- hints ---- */
#define __nv_is_extended_device_lambda_closure_type(T) false
#define __nv_is_extended_host_device_lambda_closure_type(T) false
#undef WG_D
#endif
