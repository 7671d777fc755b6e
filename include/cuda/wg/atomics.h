/* wg/atomics.h - atomicAdd and its like in their three scopes, over clang's typed builtins. */
#ifndef WG_CUDA_ATOMICS_H
#define WG_CUDA_ATOMICS_H
#define WG_ATOM static __device__ __forceinline__
typedef unsigned long long wg_ull;

/* One function: name, scope suffix, type, the builtin and the type that it works on. */
#define WG_ATOM2(name, s, T, builtin, B)                                                                               \
    WG_ATOM T name##s(T *p, T v) { return (T)builtin((B *)p, (B)v); }
#define WG_ATOM_INT(s, scope)                                                                                          \
    WG_ATOM2(atomicAdd, s, int, __nvvm_atom_##scope##add_gen_i, int)                                                   \
    WG_ATOM2(atomicAdd, s, unsigned int, __nvvm_atom_##scope##add_gen_i, int)                                          \
    WG_ATOM2(atomicAdd, s, wg_ull, __nvvm_atom_##scope##add_gen_ll, long long)                                         \
    WG_ATOM2(atomicAdd, s, float, __nvvm_atom_##scope##add_gen_f, float)                                               \
    WG_ATOM2(atomicAdd, s, double, __nvvm_atom_##scope##add_gen_d, double)                                             \
    WG_ATOM int atomicSub##s(int *p, int v) { return __nvvm_atom_##scope##add_gen_i(p, -v); }                          \
    WG_ATOM unsigned int atomicSub##s(unsigned int *p, unsigned int v)                                                 \
    {                                                                                                                  \
        return (unsigned int)__nvvm_atom_##scope##add_gen_i((int *)p, (int)(0u - v));                                  \
    }                                                                                                                  \
    WG_ATOM2(atomicExch, s, int, __nvvm_atom_##scope##xchg_gen_i, int)                                                 \
    WG_ATOM2(atomicExch, s, unsigned int, __nvvm_atom_##scope##xchg_gen_i, int)                                        \
    WG_ATOM2(atomicExch, s, wg_ull, __nvvm_atom_##scope##xchg_gen_ll, long long)                                       \
    WG_ATOM float atomicExch##s(float *p, float v)                                                                     \
    {                                                                                                                  \
        return __builtin_bit_cast(float, __nvvm_atom_##scope##xchg_gen_i((int *)p, __builtin_bit_cast(int, v)));       \
    }                                                                                                                  \
    WG_ATOM2(atomicMax, s, int, __nvvm_atom_##scope##max_gen_i, int)                                                   \
    WG_ATOM2(atomicMax, s, unsigned int, __nvvm_atom_##scope##max_gen_ui, unsigned int)                                \
    WG_ATOM2(atomicMax, s, long long, __nvvm_atom_##scope##max_gen_ll, long long)                                      \
    WG_ATOM2(atomicMax, s, wg_ull, __nvvm_atom_##scope##max_gen_ull, wg_ull)                                           \
    WG_ATOM2(atomicMin, s, int, __nvvm_atom_##scope##min_gen_i, int)                                                   \
    WG_ATOM2(atomicMin, s, unsigned int, __nvvm_atom_##scope##min_gen_ui, unsigned int)                                \
    WG_ATOM2(atomicMin, s, long long, __nvvm_atom_##scope##min_gen_ll, long long)                                      \
    WG_ATOM2(atomicMin, s, wg_ull, __nvvm_atom_##scope##min_gen_ull, wg_ull)                                           \
    WG_ATOM2(atomicInc, s, unsigned int, __nvvm_atom_##scope##inc_gen_ui, unsigned int)                                \
    WG_ATOM2(atomicDec, s, unsigned int, __nvvm_atom_##scope##dec_gen_ui, unsigned int)                                \
    WG_ATOM_BITS(and, atomicAnd, s, scope)                                                                             \
    WG_ATOM_BITS(or, atomicOr, s, scope)                                                                               \
    WG_ATOM_BITS(xor, atomicXor, s, scope)                                                                             \
    WG_ATOM int atomicCAS##s(int *p, int c, int v) { return __nvvm_atom_##scope##cas_gen_i(p, c, v); }                 \
    WG_ATOM unsigned int atomicCAS##s(unsigned int *p, unsigned int c, unsigned int v)                                 \
    {                                                                                                                  \
        return (unsigned int)__nvvm_atom_##scope##cas_gen_i((int *)p, (int)c, (int)v);                                 \
    }                                                                                                                  \
    WG_ATOM wg_ull atomicCAS##s(wg_ull *p, wg_ull c, wg_ull v)                                                         \
    {                                                                                                                  \
        return (wg_ull)__nvvm_atom_##scope##cas_gen_ll((long long *)p, (long long)c, (long long)v);                    \
    }
#define WG_ATOM_BITS(op, name, s, scope)                                                                               \
    WG_ATOM2(name, s, int, __nvvm_atom_##scope##op##_gen_i, int)                                                       \
    WG_ATOM2(name, s, unsigned int, __nvvm_atom_##scope##op##_gen_i, int)                                              \
    WG_ATOM2(name, s, wg_ull, __nvvm_atom_##scope##op##_gen_ll, long long)
WG_ATOM_INT(, )
WG_ATOM_INT(_block, cta_)
WG_ATOM_INT(_system, sys_)

/* 16-bit compare and swap: no builtin */
#define WG_ATOM_CAS16(s, scope)                                                                                        \
    WG_ATOM unsigned short atomicCAS##s(unsigned short *p, unsigned short c, unsigned short v)                         \
    {                                                                                                                  \
        unsigned short old;                                                                                            \
        asm volatile("atom" scope ".cas.b16 %0, [%1], %2, %3;" : "=h"(old) : "l"(p), "h"(c), "h"(v) : "memory");       \
        return old;                                                                                                    \
    }
WG_ATOM_CAS16(, "")
WG_ATOM_CAS16(_block, ".cta")
WG_ATOM_CAS16(_system, ".sys")

#undef WG_ATOM_CAS16
#undef WG_ATOM_BITS
#undef WG_ATOM_INT
#undef WG_ATOM2
#undef WG_ATOM
#endif
