/* wg/address_space.h - which state space a generic pointer points to, and conversions between them. */
#ifndef WG_CUDA_ADDRESS_SPACE_H
#define WG_CUDA_ADDRESS_SPACE_H
#define WG_SPACE(Name, name, ptx, n)                                                                                   \
    static __device__ __forceinline__ __attribute__((const)) unsigned int __is##Name(const void *p)                    \
    {                                                                                                                  \
        return __nvvm_isspacep_##ptx(p);                                                                               \
    }                                                                                                                  \
    static __device__ __forceinline__ size_t __cvta_generic_to_##name(const void *p)                                   \
    {                                                                                                                  \
        return (size_t)(__attribute__((address_space(n))) const void *)p;                                              \
    }                                                                                                                  \
    static __device__ __forceinline__ void *__cvta_##name##_to_generic(size_t p)                                       \
    {                                                                                                                  \
        return (void *)(__attribute__((address_space(n))) void *)p;                                                    \
    }
WG_SPACE(Global, global, global, 1)
WG_SPACE(Shared, shared, shared, 3)
WG_SPACE(Constant, constant, const, 4)
WG_SPACE(Local, local, local, 5)
#undef WG_SPACE
static __device__ __forceinline__ __attribute__((const)) unsigned int __isGridConstant(const void *p)
{
    unsigned int r;
    asm("{ .reg .pred p; isspacep.param::entry p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "l"(p));
    return r;
}
static __device__ __forceinline__ size_t __cvta_generic_to_grid_constant(const void *p)
{
    size_t r;
    asm("cvta.to.param.u64 %0, %1;" : "=l"(r) : "l"(p));
    return r;
}
#endif
