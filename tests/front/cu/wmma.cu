// wants: wmma.load.a.sync.aligned.row.m16n16k16.f16
// wants: wmma.load.b.sync.aligned.col.m16n16k16.f16
// wants: wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32
// wants: wmma.store.d.sync.aligned.row.m16n16k16.f32
// wants: wmma.mma.sync.aligned.row.col.m8n32k16.s32.s8.s8.s32
// wants: wmma.mma.sync.aligned.row.col.m32n8k16.f32.bf16.bf16.f32
// wants: wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32
// wants: wmma.mma.sync.aligned.row.col.m8n8k4.(rn.)?f64
// wants: cvt.rna.tf32.f32
#include <mma.h>
using namespace nvcuda;
template <int M, int N, int K, class T, class S, class A> __global__ void k(const S *a, const S *b, A *c)
{
    wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, M, N, K, A> fc;
    wmma::fill_fragment(fc, (A)0);
    wmma::load_matrix_sync(fa, a, 32);
    wmma::load_matrix_sync(fb, b, 32);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; i++)
        fc.x[i] = fc.x[i] * (A)2;
    wmma::store_matrix_sync(c, fc, 32, wmma::mem_row_major);
}
template __global__ void k<16, 16, 16, half, half, float>(const half *, const half *, float *);
template __global__ void k<8, 32, 16, signed char, signed char, int>(const signed char *, const signed char *, int *);
template __global__ void k<32, 8, 16, __nv_bfloat16, __nv_bfloat16, float>(const __nv_bfloat16 *, const __nv_bfloat16 *,
                                                                           float *);
template __global__ void k<16, 16, 8, wmma::precision::tf32, float, float>(const float *, const float *, float *);
template __global__ void k<8, 8, 4, double, double, double>(const double *, const double *, double *);
__global__ void t(float *f) { f[0] = wmma::__float_to_tf32(f[1]); }
int main() {}
