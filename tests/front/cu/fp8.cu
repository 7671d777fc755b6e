// wants: cvt.rn.satfinite.e4m3x2.f32
// wants: cvt.rn.satfinite.e5m2x2.f32
// wants: cvt.rn.f16x2.e4m3x2
// wants: cvt.rn.f16x2.e5m2x2
#include <cuda_fp8.h>
__global__ void f8(float *f, __half *h, __nv_fp8_e4m3 *a, __nv_fp8x4_e5m2 *b, __nv_bfloat162 *c)
{
    a[0] = __nv_fp8_e4m3(f[0]);
    f[1] = (float)a[1];
    h[0] = (__half)a[2] + (__half)(int)a[3];
    b[0] = __nv_fp8x4_e5m2(make_float4(f[2], f[3], f[4], f[5]));
    const float4 v = (float4)b[1];
    f[6] = v.x + v.y + v.z + v.w;
    b[2] = __nv_fp8x4_e5m2(c[0], c[1]);
    a[4].__x = __nv_cvt_float_to_fp8(f[7], __NV_NOSAT, __NV_E4M3);
}
static __nv_fp8_storage_t e4m3(float f) { return __nv_fp8_e4m3(f).__x; }
int host()
{
    return e4m3(1.0f) == 0x38 && e4m3(-448.0f) == 0xfe && e4m3(1e9f) == 0x7e && (float)__nv_fp8_e5m2(1.25) == 1.25f;
}
