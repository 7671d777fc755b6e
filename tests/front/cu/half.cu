// wants: add.f16 
// wants: mul.f16x2
// wants: fma.rn.f16x2
// wants: setp.gt.f16
// wants: max.f16 
// wants: cvt.rn.f16.f32
// wants: cvt.f32.f16
// wants: add.bf16 
// wants: fma.rn.bf16x2
// wants: cvt.rn.bf16.f32
// wants: atom.add.noftz.f16x2
// wants: shfl.sync.bfly.b32
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void h(half *a, half2 *b, float *f)
{
    half x = a[0] + a[1];
    half2 y = b[0] * b[1];
    y = __hfma2(y, b[2], b[3]);
    if (x > __low2half(y))
        x = __hmax(x, __float2half(f[0]));
    x = __shfl_xor_sync(0xffffffffu, x, 1);
    atomicAdd(b + 4, y);
    a[2] = hexp(x) + hsqrt(a[3]) - half(3) / a[4];
    f[1] = __half2float(x) + (float)y.y + __half22float2(y).x;
    a[5] = __int2half_rn((int)f[2]);
    f[3] = (float)__half2int_rz(a[6]) + (__hisnan(a[7]) ? 1.0f : 0.0f) + (__hbgt2(y, b[5]) ? 1.0f : 0.0f);
    b[6] = __floats2half2_rn(f[4], f[5]);
    b[7] = h2exp(-b[7]) + __half2half2(x);
    x += __ushort_as_half(7);
    a[8] = ++x;
}
__global__ void b(__nv_bfloat16 *a, __nv_bfloat162 *b, float *f)
{
    a[0] = a[1] + __float2bfloat16(f[0]);
    b[0] = __hfma2(b[1], b[2], b[3]);
    f[1] = __bfloat162float(a[2]) + __low2float(b[4]);
    b[5] = __float22bfloat162_rn(make_float2(f[2], f[3]));
    a[3] = __hdiv(a[4], a[5]);
    a[6] = __nv_bfloat16(3.0);
    f[4] = a[7] < a[8] ? 1.0f : 0.0f;
}
int main()
{
    const half x = 0.1f, y = __float2half(2.5f);
    const __nv_bfloat16 z = 1.0f;
    return (float)(x * y) + (float)z > 1.2f ? 0 : 1;
}
