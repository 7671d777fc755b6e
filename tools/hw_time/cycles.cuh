// cycles.cuh - kernels timed by the SM's own clock: latencies and rates of single units, one CSV row each.
#pragma once
#include "hw_time.cuh"

// One warp instruction on x with operands y, z; `n` is how many machine instructions the row counts as one.
struct Regs { unsigned x, y, z; unsigned long long w, v; };
#define OP(name, text, ...)                                                                                            \
    struct name {                                                                                                      \
        static constexpr const char *label = #name;                                                                    \
        __device__ static __forceinline__ void step(Regs &r) { asm volatile(text : __VA_ARGS__); }                     \
    };
#define X3 "+r"(r.x) : "r"(r.y), "r"(r.z)
#define W2 "+l"(r.w) : "l"(r.v), "r"(r.y)
OP(fma_f32, "fma.rn.f32 %0, %0, %1, %2;", X3)
OP(add_f32, "add.rn.f32 %0, %0, %1;", X3)
OP(mul_f32, "mul.rn.f32 %0, %0, %1;", X3)
OP(add_xor_s32, "{.reg .u32 t; add.s32 t, %0, %1; xor.b32 %0, t, %2;}", X3)
OP(mad_s32, "mad.lo.s32 %0, %0, %1, %2;", X3)
OP(mul_hi_u32, "mul.hi.u32 %0, %0, %1;", X3)
OP(mul_wide_u32, "{.reg .u64 t; mul.wide.u32 t, %0, %1; cvt.u32.u64 %0, t; }", X3)
OP(shf_b32, "shf.l.wrap.b32 %0, %0, %1, %2;", X3)
OP(prmt_b32, "prmt.b32 %0, %0, %1, %2;", X3)
OP(max_s32, "{.reg .s32 t; max.s32 t, %0, %1; min.s32 %0, t, %2;}", X3)
OP(setp_selp, "{.reg .pred p; setp.lt.s32 p, %0, %1; selp.b32 %0, %1, %2, p;}", X3)
OP(popc_b32, "popc.b32 %0, %0;", X3)
OP(clz_b32, "clz.b32 %0, %0;", X3)
OP(brev_b32, "brev.b32 %0, %0;", X3)
OP(cvt_f32_s32, "cvt.rn.f32.s32 %0, %0;", X3)
OP(cvt_s32_f32, "cvt.rzi.s32.f32 %0, %0;", X3)
OP(ex2_f32, "ex2.approx.ftz.f32 %0, %0;", X3)
OP(lg2_f32, "lg2.approx.ftz.f32 %0, %0;", X3)
OP(sin_f32, "sin.approx.ftz.f32 %0, %0;", X3)
OP(rcp_f32, "rcp.approx.ftz.f32 %0, %0;", X3)
OP(rsqrt_f32, "rsqrt.approx.ftz.f32 %0, %0;", X3)
OP(div_rn_f32, "div.rn.f32 %0, %1, %0;", X3)
OP(sqrt_rn_f32, "sqrt.rn.f32 %0, %0;", X3)
OP(fma_f16x2, "fma.rn.f16x2 %0, %0, %1, %2;", X3)
OP(shfl_bfly, "shfl.sync.bfly.b32 %0, %0, %1, 31, -1;", X3)
OP(vote_ballot, "{.reg .pred p; setp.ne.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, -1;}", X3)
OP(redux_add, "redux.sync.add.u32 %0, %0, -1;", X3)
OP(div_u32, "div.u32 %0, %1, %0;", X3)
OP(fma_f64, "{.reg .f64 a, b; mov.b64 a, %0; mov.b64 b, %1; fma.rn.f64 a, a, b, b; mov.b64 %0, a;}", W2)
OP(add_f64, "{.reg .f64 a, b; mov.b64 a, %0; mov.b64 b, %1; add.rn.f64 a, a, b; mov.b64 %0, a;}", W2)
OP(add_s64, "add.s64 %0, %0, %1;", W2)
OP(mad_s64, "mad.lo.s64 %0, %0, %1, %1;", W2)

template <class O, int ILP> __global__ void __launch_bounds__(1024) unit(long long *t, unsigned *sink, unsigned y, unsigned z, int n)
{
    Regs r[ILP];
    for (int k = 0; k < ILP; k++)
        r[k] = {threadIdx.x * 3 + k + 1, y, z, threadIdx.x + k + 1ull, y};
    __syncthreads();
    long long t0 = clock64();
    for (int i = 0; i < n; i++) {
#pragma unroll
        for (int u = 0; u < 32; u++)
#pragma unroll
            for (int k = 0; k < ILP; k++)
                O::step(r[k]);
    }
    long long t1 = clock64();
    unsigned s = 0;
    for (int k = 0; k < ILP; k++)
        s += r[k].x + (unsigned)r[k].w;
    sink[threadIdx.x] = s;
    if (threadIdx.x % 32 == 0) {
        t[threadIdx.x / 32 * 2] = t0;
        t[threadIdx.x / 32 * 2 + 1] = t1;
    }
}

// cycles from the first start to the last end of the block's warps
static double span(const long long *t, int warps)
{
    long long lo = t[0], hi = t[1];
    for (int w = 1; w < warps; w++) {
        lo = t[2 * w] < lo ? t[2 * w] : lo;
        hi = t[2 * w + 1] > hi ? t[2 * w + 1] : hi;
    }
    return (double)(hi - lo);
}

template <class O> static void rows_unit()
{
    unsigned y = 0x3f800001, z = 0x3f000000;
    const int n = 64;
    for (int k = 0; k < 2; k++)
        unit<O, 1><<<1, 32>>>(times, sink, y, z, n);
    CK(cudaDeviceSynchronize());
    row("latency", O::label, 1, 1, span(times, 1) / (32.0 * n), "cycle");
    for (int k = 0; k < 2; k++)
        unit<O, 4><<<1, 1024>>>(times, sink, y, z, n);
    CK(cudaDeviceSynchronize());
    row("rate", O::label, 32, 4, 32.0 * 32 * n * 4 / span(times, 32), "warp inst/cycle/SM");
    for (int k = 0; k < 2; k++)
        unit<O, 4><<<1, 32>>>(times, sink, y, z, n);
    CK(cudaDeviceSynchronize());
    row("rate", O::label, 1, 4, 32.0 * n * 4 / span(times, 1), "warp inst/cycle/SM");
}

// ---- shared memory ----
enum { SH_LD32, SH_LD64, SH_LD128, SH_ST32, SH_ST64, SH_ST128, SH_ATOM, SH_RED };
template <int KIND> __global__ void __launch_bounds__(1024) shared_unit(long long *t, unsigned *sink, int mul, int n, int chain)
{
    extern __shared__ __align__(16) unsigned s[];
    for (unsigned i = threadIdx.x; i < 8192; i += blockDim.x)
        s[i] = 0;
    __syncthreads();
    unsigned width = KIND == SH_LD64 || KIND == SH_ST64 ? 8 : KIND == SH_LD128 || KIND == SH_ST128 ? 16 : 4;
    unsigned at = (unsigned)__cvta_generic_to_shared(s) + (threadIdx.x % 32 * mul * width) % 32768, x = 0, v = threadIdx.x;
    long long t0 = clock64();
    for (int i = 0; i < n; i++) {
#pragma unroll
        for (int u = 0; u < 16; u++) {
            unsigned a = at + (chain ? x : 0), b, c, d, e;
            if (KIND == SH_LD32) { asm volatile("ld.shared.u32 %0, [%1];" : "=r"(b) : "r"(a)); x ^= b; }
            if (KIND == SH_LD64) { asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];" : "=r"(b), "=r"(c) : "r"(a)); x ^= b | c; }
            if (KIND == SH_LD128) { asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(b), "=r"(c), "=r"(d), "=r"(e) : "r"(a)); x ^= b | c | d | e; }
            if (KIND == SH_ST32) asm volatile("st.shared.u32 [%0], %1;" :: "r"(a), "r"(v));
            if (KIND == SH_ST64) asm volatile("st.shared.v2.u32 [%0], {%1,%1};" :: "r"(a), "r"(v));
            if (KIND == SH_ST128) asm volatile("st.shared.v4.u32 [%0], {%1,%1,%1,%1};" :: "r"(a), "r"(v));
            if (KIND == SH_ATOM) { asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(b) : "r"(a), "r"(chain ? 0u : v)); x ^= b; }
            if (KIND == SH_RED) asm volatile("red.shared.add.u32 [%0], %1;" :: "r"(a), "r"(v));
        }
    }
    long long t1 = clock64();
    sink[threadIdx.x] = x;
    if (threadIdx.x % 32 == 0) {
        t[threadIdx.x / 32 * 2] = t0;
        t[threadIdx.x / 32 * 2 + 1] = t1;
    }
}
template <int KIND> static void rows_shared(const char *label, bool chain)
{
    for (int mul : {0, 1, 2, 4, 8, 16, 32}) {
        int n = 16;
        for (int k = 0; k < 2 && chain; k++)
            shared_unit<KIND><<<1, 32, 32768>>>(times, sink, mul, n, 1);
        CK(cudaDeviceSynchronize());
        if (chain)
            row("shared_latency", label, 1, mul, span(times, 1) / (16.0 * n), "cycle");
        for (int k = 0; k < 2; k++)
            shared_unit<KIND><<<1, 1024, 32768>>>(times, sink, mul, n, 0);
        CK(cudaDeviceSynchronize());
        row("shared_cost", label, 32, mul, span(times, 32) / (32.0 * 16 * n), "cycle/warp inst/SM");
    }
}

// ---- global memory: a chase by one lane ----
__global__ void fill_chase(unsigned *p, unsigned words, unsigned stride, unsigned step)
{
    unsigned n = words / stride; // power of two; an odd step visits all
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i * stride] = (i + step) % n * stride;
}
template <int CG> __global__ void chase(const unsigned *p, long long *t, unsigned *sink, int warm, int n)
{
    unsigned x = 0;
    for (int i = 0; i < warm; i++)
        x = CG ? __ldcg(p + x) : __ldca(p + x);
    long long t0 = clock64();
    for (int i = 0; i < n; i++)
        x = CG ? __ldcg(p + x) : __ldca(p + x);
    t[1] = clock64();
    t[0] = t0;
    sink[0] = x;
}
__global__ void each_line(const unsigned *p, unsigned short *cycles, unsigned *sink, int lines, int atom)
{
    unsigned s = 0;
    for (int r = 0; r < 3; r++) // the last round is kept
        for (int i = 0; i < lines; i++) {
            long long t0 = clock64();
            unsigned v;
            if (atom)
                v = atomicAdd((unsigned *)p + i * 32, 0u + (s >> 31));
            else
                v = __ldcg(p + i * 32 + (s >> 31));
            s += v & 1;
            asm volatile("" ::"r"(s));
            long long t1 = clock64() + (s >> 31);
            cycles[i] = (unsigned short)(t1 - t0);
        }
    sink[0] = s;
}

// ---- L1: cost of a request that hits, by shape ----
template <int W> __global__ void __launch_bounds__(1024) l1_shape(const unsigned *p, long long *t, unsigned *sink, int mul, int n)
{
    const unsigned *q = p + (threadIdx.x % 32 * mul * W) % 16384;
    unsigned x = 0;
    for (int i = 0; i < 4; i++)
        x += __ldca(q);
    __syncthreads();
    long long t0 = clock64();
    for (int i = 0; i < n; i++) {
#pragma unroll
        for (int u = 0; u < 16; u++) {
            unsigned b, c, d, e;
            if (W == 1) { asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(b) : "l"(q)); x ^= b; }
            if (W == 2) { asm volatile("ld.global.ca.v2.u32 {%0,%1}, [%2];" : "=r"(b), "=r"(c) : "l"(q)); x ^= b | c; }
            if (W == 4) { asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(b), "=r"(c), "=r"(d), "=r"(e) : "l"(q)); x ^= b | c | d | e; }
        }
    }
    long long t1 = clock64();
    sink[threadIdx.x] = x;
    if (threadIdx.x % 32 == 0) {
        t[threadIdx.x / 32 * 2] = t0;
        t[threadIdx.x / 32 * 2 + 1] = t1;
    }
}

// ---- control ----
__global__ void __launch_bounds__(1024) barriers(long long *t, unsigned *sink, int n)
{
    long long t0 = clock64();
    for (int i = 0; i < n; i++) {
        __syncthreads();
        __syncthreads();
        __syncthreads();
        __syncthreads();
    }
    long long t1 = clock64();
    if (threadIdx.x % 32 == 0) {
        t[threadIdx.x / 32 * 2] = t0;
        t[threadIdx.x / 32 * 2 + 1] = t1;
    }
    sink[threadIdx.x] = n;
}
__global__ void __launch_bounds__(1024) loop_branch(long long *t, unsigned *sink, int n, int diverge)
{
    unsigned x = threadIdx.x;
    long long t0 = clock64();
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        if (diverge && (threadIdx.x + i) % 2)
            asm volatile("{.reg .pred p; setp.eq.u32 p, %0, 77; @p bra past; mad.lo.u32 %0, %0, %0, 3; past: }" : "+r"(x));
        else
            asm volatile("mad.lo.u32 %0, %0, %0, 1;" : "+r"(x));
    }
    long long t1 = clock64();
    if (threadIdx.x % 32 == 0) {
        t[threadIdx.x / 32 * 2] = t0;
        t[threadIdx.x / 32 * 2 + 1] = t1;
    }
    sink[threadIdx.x] = x;
}
