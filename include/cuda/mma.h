/* mma.h - nvcuda::wmma: fragments of matrices spread over a warp, over the wmma instructions. */
#ifndef __CUDA_MMA_H__
#define __CUDA_MMA_H__
#include "cuda_fp16.h"
#include "cuda_bf16.h"
#if defined(__CUDA__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700)
WG_CALLERS_LINES

namespace nvcuda {
namespace wmma {
struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
struct u4;
struct s4;
struct b1;
}
static __device__ __forceinline__ float __float_to_tf32(float f)
{
    unsigned int r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(f));
    return __builtin_bit_cast(float, r);
}
/* what is stored for an element type */
template <class T> struct wg_storage { typedef T type; };
template <> struct wg_storage<precision::tf32> { typedef float type; };

template <class T, int Size> struct wg_frag_base {
    enum { num_elements = Size, num_storage_elements = Size };
    typedef T element_type;
    typedef T storage_element_type;
    T x[Size];
};
template <class Use, int m, int n, int k, class T, class Layout = void> class fragment;

template <class F> struct wg_element;
template <class Use, int m, int n, int k, class T, class Layout> struct wg_element<fragment<Use, m, n, k, T, Layout> > {
    typedef typename wg_storage<T>::type type;
};
template <class Use, int m, int n, int k, class T, class Layout>
static __device__ __forceinline__ void fill_fragment(fragment<Use, m, n, k, T, Layout> &f,
                                                     const typename wg_storage<T>::type &v)
{
#pragma unroll
    for (int i = 0; i < f.num_elements; i++)
        f.x[i] = v;
}

/* ---- declaration of one fragment type, and its load ---- */
#define WG_D static __device__ __forceinline__
#define WG_FRAGMENT(Use, M, N, K, T, Layout, size)                                                                     \
    template <> class fragment<Use, M, N, K, T, Layout> : public wg_frag_base<wg_storage<T>::type, size> {};
/* layout: 0 by rows, 1 by columns; R is the type of the builtin's registers */
#define WG_LOAD(Use, M, N, K, T, Layout, layout, load, R)                                                              \
    WG_D void load_matrix_sync(fragment<Use, M, N, K, T, Layout> &f, const wg_storage<T>::type *p, unsigned int ldm)   \
    {                                                                                                                  \
        load((R *)(void *)f.x, (const R *)(const void *)p, ldm, layout);                                               \
    }
#define WG_INPUTS(M, N, K, T, loadA, loadB, R, nA, nB)                                                                 \
    WG_FRAGMENT(matrix_a, M, N, K, T, row_major, nA)                                                                   \
    WG_FRAGMENT(matrix_a, M, N, K, T, col_major, nA)                                                                   \
    WG_FRAGMENT(matrix_b, M, N, K, T, row_major, nB)                                                                   \
    WG_FRAGMENT(matrix_b, M, N, K, T, col_major, nB)                                                                   \
    WG_LOAD(matrix_a, M, N, K, T, row_major, 0, loadA, R)                                                              \
    WG_LOAD(matrix_a, M, N, K, T, col_major, 1, loadA, R)                                                              \
    WG_LOAD(matrix_b, M, N, K, T, row_major, 0, loadB, R)                                                              \
    WG_LOAD(matrix_b, M, N, K, T, col_major, 1, loadB, R)
#define WG_ACCUMULATOR(M, N, K, T, load, store, R, size)                                                               \
    template <> class fragment<accumulator, M, N, K, T> : public wg_frag_base<T, size> {};                             \
    WG_D void load_matrix_sync(fragment<accumulator, M, N, K, T> &f, const T *p, unsigned int ldm, layout_t layout)    \
    {                                                                                                                  \
        if (layout == mem_row_major)                                                                                   \
            load((R *)(void *)f.x, (const R *)(const void *)p, ldm, 0);                                                \
        else                                                                                                           \
            load((R *)(void *)f.x, (const R *)(const void *)p, ldm, 1);                                                \
    }                                                                                                                  \
    WG_D void store_matrix_sync(T *p, const fragment<accumulator, M, N, K, T> &f, unsigned int ldm, layout_t layout)   \
    {                                                                                                                  \
        if (layout == mem_row_major)                                                                                   \
            store((R *)(void *)p, (const R *)(const void *)f.x, ldm, 0);                                               \
        else                                                                                                           \
            store((R *)(void *)p, (const R *)(const void *)f.x, ldm, 1);                                               \
    }
/* one product for the four layouts of its inputs; the builtin numbers them row/row, row/col, col/row, col/col */
#define WG_MMA1(M, N, K, T, LA, LB, layouts, D, C, mma, RD, RI, RC, saturates)                                               \
    WG_D void mma_sync(fragment<accumulator, M, N, K, D> &d, const fragment<matrix_a, M, N, K, T, LA> &a,              \
                       const fragment<matrix_b, M, N, K, T, LB> &b, const fragment<accumulator, M, N, K, C> &c,        \
                       bool satf = false)                                                                              \
    {                                                                                                                  \
        const RI *const x = (const RI *)(const void *)a.x, *const y = (const RI *)(const void *)b.x;                   \
        if (satf && saturates)                                                                                         \
            mma((RD *)(void *)d.x, x, y, (const RC *)(const void *)c.x, layouts, saturates);                           \
        else                                                                                                           \
            mma((RD *)(void *)d.x, x, y, (const RC *)(const void *)c.x, layouts, 0);                                   \
    }
#define WG_MMA(M, N, K, T, D, C, mma, RD, RI, RC, saturates)                                                                 \
    WG_MMA1(M, N, K, T, row_major, row_major, 0, D, C, mma, RD, RI, RC, saturates)                                 \
    WG_MMA1(M, N, K, T, row_major, col_major, 1, D, C, mma, RD, RI, RC, saturates)                                 \
    WG_MMA1(M, N, K, T, col_major, row_major, 2, D, C, mma, RD, RI, RC, saturates)                                 \
    WG_MMA1(M, N, K, T, col_major, col_major, 3, D, C, mma, RD, RI, RC, saturates)

/* ---- half ---- */
#define WG_HALF(M, N, K, s)                                                                                            \
    WG_INPUTS(M, N, K, __half, __hmma_##s##_ld_a, __hmma_##s##_ld_b, int, 16, 16)                                      \
    WG_ACCUMULATOR(M, N, K, __half, __hmma_##s##_ld_c_f16, __hmma_##s##_st_c_f16, int, 8)                              \
    WG_ACCUMULATOR(M, N, K, float, __hmma_##s##_ld_c_f32, __hmma_##s##_st_c_f32, float, 8)                             \
    WG_MMA(M, N, K, __half, __half, __half, __hmma_##s##_mma_f16f16, int, int, int, 1)                                 \
    WG_MMA(M, N, K, __half, __half, float, __hmma_##s##_mma_f16f32, int, int, float, 1)                                \
    WG_MMA(M, N, K, __half, float, __half, __hmma_##s##_mma_f32f16, float, int, int, 1)                                \
    WG_MMA(M, N, K, __half, float, float, __hmma_##s##_mma_f32f32, float, int, float, 1)
WG_HALF(16, 16, 16, m16n16k16)
WG_HALF(32, 8, 16, m32n8k16)
WG_HALF(8, 32, 16, m8n32k16)
#undef WG_HALF

/* ---- bytes ---- */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 720
#define WG_BYTE(M, N, K, s, nA, nB)                                                                                    \
    WG_INPUTS(M, N, K, signed char, __imma_##s##_ld_a_s8, __imma_##s##_ld_b_s8, int, nA, nB)                           \
    WG_INPUTS(M, N, K, unsigned char, __imma_##s##_ld_a_u8, __imma_##s##_ld_b_u8, int, nA, nB)                         \
    WG_ACCUMULATOR(M, N, K, int, __imma_##s##_ld_c, __imma_##s##_st_c_i32, int, 8)                                     \
    WG_MMA(M, N, K, signed char, int, int, __imma_##s##_mma_s8, int, int, int, 1)                                                              \
    WG_MMA(M, N, K, unsigned char, int, int, __imma_##s##_mma_u8, int, int, int, 1)
WG_BYTE(16, 16, 16, m16n16k16, 8, 8)
WG_BYTE(32, 8, 16, m32n8k16, 16, 4)
WG_BYTE(8, 32, 16, m8n32k16, 4, 16)
#undef WG_BYTE
#endif

/* ---- bfloat16, tf32, double ---- */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define WG_BF16(M, N, K, s, nA, nB)                                                                                    \
    WG_INPUTS(M, N, K, __nv_bfloat16, __mma_bf16_##s##_ld_a, __mma_bf16_##s##_ld_b, int, nA, nB)                       \
    WG_MMA(M, N, K, __nv_bfloat16, float, float, __mma_bf16_##s##_mma_f32, float, int, float, 0)
WG_BF16(16, 16, 16, m16n16k16, 8, 8)
WG_BF16(32, 8, 16, m32n8k16, 16, 4)
WG_BF16(8, 32, 16, m8n32k16, 4, 16)
#undef WG_BF16
WG_INPUTS(16, 16, 8, precision::tf32, __mma_tf32_m16n16k8_ld_a, __mma_tf32_m16n16k8_ld_b, int, 4, 4)
WG_ACCUMULATOR(16, 16, 8, float, __mma_tf32_m16n16k8_ld_c, __mma_m16n16k8_st_c_f32, float, 8)
WG_MMA(16, 16, 8, precision::tf32, float, float, __mma_tf32_m16n16k8_mma_f32, float, int, float, 0)
WG_INPUTS(8, 8, 4, double, __dmma_m8n8k4_ld_a, __dmma_m8n8k4_ld_b, double, 1, 1)
WG_ACCUMULATOR(8, 8, 4, double, __dmma_m8n8k4_ld_c, __dmma_m8n8k4_st_c_f64, double, 2)
WG_MMA(8, 8, 4, double, double, double, __dmma_m8n8k4_mma_f64, double, double, double, 0)
#endif

#undef WG_D
#undef WG_FRAGMENT
#undef WG_LOAD
#undef WG_INPUTS
#undef WG_ACCUMULATOR
#undef WG_MMA
#undef WG_MMA1
}
}
WG_OWN_LINES
#endif
#endif
