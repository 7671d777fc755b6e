/* crt/sm_70_rt.hpp - __match_any_sync and __match_all_sync by type; clang's intrinsics header includes this name. */
#ifndef WG_CUDA_SM_70_RT_HPP
#define WG_CUDA_SM_70_RT_HPP
#define WG_MATCH(T, bits, U, as)                                                                                       \
    static __device__ __forceinline__ unsigned int __match_any_sync(unsigned int mask, T value)                        \
    {                                                                                                                  \
        return __match##bits##_any_sync(mask, as(U, value));                                                           \
    }                                                                                                                  \
    static __device__ __forceinline__ unsigned int __match_all_sync(unsigned int mask, T value, int *pred)             \
    {                                                                                                                  \
        return __match##bits##_all_sync(mask, as(U, value), pred);                                                     \
    }
#define WG_CAST(U, v) (U)(v)
#define WG_BITS(U, v) __builtin_bit_cast(U, v)
WG_MATCH(unsigned int, 32, unsigned int, WG_CAST)
WG_MATCH(int, 32, unsigned int, WG_CAST)
WG_MATCH(unsigned long, 64, unsigned long long, WG_CAST)
WG_MATCH(long, 64, unsigned long long, WG_CAST)
WG_MATCH(unsigned long long, 64, unsigned long long, WG_CAST)
WG_MATCH(long long, 64, unsigned long long, WG_CAST)
WG_MATCH(float, 32, unsigned int, WG_BITS)
WG_MATCH(double, 64, unsigned long long, WG_BITS)
#undef WG_MATCH
#undef WG_CAST
#undef WG_BITS
#endif
