// wants: ld.global.nc.f32
// wants: ld.global.nc.v4.f32
// wants: ld.global.cg.s32
// wants: ld.global.cs.v2.f32
// wants: st.global.cs.f32
// wants: st.global.wt.v4.s32
// wants: isspacep.shared
// wants: ld.global.v[24]
// never: _Znwm
// never: _ZdlPv
// wants: .extern .shared
// wants: vprintf
// wants: malloc
// wants: __assertfail
// wants: .maxntid 128
#include <cassert>
#include <cstdio>
struct big { int a[5]; float4 v; };
__constant__ int table[4] = {1, 2, 3, 4};
__device__ double counter;
__global__ void __launch_bounds__(128, 2) k(const float *in, const float4 *in4, float *out, int *i, const big b, int **keep)
{
    extern __shared__ float s[];
    s[threadIdx.x] = __ldg(in + threadIdx.x);
    const float4 v = __ldg(in4), w = in4[1];
    i[0] = __ldcg(i + 1);
    const float2 p = __ldcs((const float2 *)in);
    __stcs(out, v.x + w.y + p.x);
    __stwt((int4 *)i, make_int4(1, 2, 3, 4));
    i[9] = (int)__isShared(s + i[4]) + (int)__cvta_generic_to_shared(s + i[5]) + b.a[i[6]] + table[i[7] & 3];
    counter += 1.0;
    if (i[8] == 5)
        printf("%d\n", i[0]);
    assert(i[3] != 7);
    keep[0] = new int[4];
    keep[0][i[2] & 3] = 1;
    delete[] keep[1];
    ((float4 *)out)[1] = w;
    dim3 t = threadIdx, g = gridDim;
    out[2] = (float)(t.x + g.y);
}
int main() {}
