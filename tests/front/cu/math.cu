// Functions that are one instruction, and some that are calls which the engine runs natively.
// never: __nv_(abs|max|min|fma|fmaf|fabs|fabsf|popc|clz|brev|sqrtf|sqrt|rsqrtf|ceil|floor|trunc|rint|round|mulhi|sad|byte_perm)
// never: __nv_(fadd|fmul|fdiv|frcp|fsqrt|float2int|double2|int2float|fast|float_as|int_as|saturatef|hadd|copysign|isnan)
// wants: abs.s32
// wants: min.s32
// wants: max.u32
// wants: max.f32
// wants: min.f64
// wants: fma.rn.f32
// wants: fma.rn.f64
// wants: popc.b32
// wants: clz.b64
// wants: brev.b32
// wants: bfind.shiftamt.u32
// wants: mul.hi.s32
// wants: mul.hi.u64
// wants: mul24.lo.s32
// wants: sad.u32
// wants: prmt.b32
// wants: sqrt.rn.f32
// wants: sqrt.rn.f64
// wants: rsqrt.approx.f32
// wants: sqrt.rm.f32
// wants: rcp.rp.f32
// wants: div.rz.f32
// wants: add.rm.f32
// wants: mul.rz.f64
// wants: fma.rp.f32
// wants: cvt.rpi.f32.f32
// wants: cvt.rmi.f32.f32
// wants: cvt.rzi.f64.f64
// wants: cvt.rni.f32.f32
// wants: cvt.sat.f32.f32
// wants: cvt.rni.s32.f32
// wants: cvt.rpi.u64.f64
// wants: cvt.rm.f32.s32
// wants: ex2.approx.f32
// wants: lg2.approx.f32
// wants: sin.approx.f32
// wants: div.approx.f32
// wants: div.rn.f32
// wants: __nv_expf
// wants: __nv_sin
// wants: __nv_powf
// wants: shf.l.wrap.b32
#include <cuda_runtime.h>
#include <math_constants.h>

__global__ void ints(int *o, int a, int b, int c, unsigned u, unsigned long long w)
{
    o[0] = abs(a);
    o[1] = min(a, b);
    o[2] = (int)max(u, 7u);
    o[3] = __popc(u) + __clzll((long long)w) + (int)__brev(u) + __ffs(a);
    o[4] = __mulhi(a, b);
    o[5] = (int)__umul64hi(w, w + 1);
    o[6] = __mul24(a, b);
    o[7] = (int)__usad(u, (unsigned)b, (unsigned)c);
    o[8] = (int)__byte_perm(u, (unsigned)b, (unsigned)c);
    o[9] = __hadd(a, b) + __rhadd(b, c);
    o[10] = (int)__funnelshift_l(u, (unsigned)a, (unsigned)b);
    o[11] = (int)min(5ull, w) + (int)max(3u, 4) + (int)min(2l, 3l);
}
__global__ void floats(float *o, float a, float b, float c)
{
    o[0] = fmaxf(a, b);
    o[1] = fmaf(a, b, c);
    o[2] = sqrtf(a) + rsqrtf(b);
    o[3] = __fsqrt_rd(a) + __frcp_ru(b) + __fdiv_rz(a, b);
    o[4] = __fadd_rd(a, b) + __fmaf_ru(a, b, c);
    o[5] = ceilf(a) + floorf(b) + rintf(c) + roundf(a);
    o[6] = __saturatef(a);
    o[7] = (float)__float2int_rn(a) + __int2float_rd((int)b);
    o[8] = __expf(a) + __logf(b) + __sinf(c) + __fdividef(a, b);
    o[9] = a / b;
    o[10] = expf(a) + powf(b, c);
    o[11] = copysignf(a, b) + (float)isnan(c) + (float)signbit(a) + CUDART_PI_F;
    o[12] = __int_as_float(__float_as_int(a) + 1);
    o[13] = fabsf(a) + fdimf(b, c) + rsqrt(a) + sinpi(b);
}
__global__ void doubles(double *o, double a, double b, double c)
{
    o[0] = fmin(a, b);
    o[1] = fma(a, b, c);
    o[2] = sqrt(a) + trunc(b) + __dmul_rz(a, b);
    o[3] = (double)__double2ull_ru(a) + __hiloint2double(__double2hiint(a), __double2loint(b));
    o[4] = sin(a) + std::fabs(b) + max(a, c);
}
int main() { return (int)rsqrtf(4.0f) + min(3, 4) + max(2u, 1) + (int)max(1.0f, 2.0); }
