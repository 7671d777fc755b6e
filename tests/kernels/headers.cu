// headers.cu - what our CUDA headers mean: intrinsics, half, bfloat16, cooperative groups, wmma, asynchronous copies.
// Every check computes the same thing on the host in another way. Builds with our front end and with nvcc.
#include <cmath>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <cstring>
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <mma.h>
namespace cg = cooperative_groups;
using namespace nvcuda;

static int failed;
static void check(const char *what, bool ok)
{
    std::printf("%s: %s\n", what, ok ? "PASS" : "FAIL");
    failed |= !ok;
}
template <class T> static T *device(size_t n)
{
    T *p = nullptr;
    if (cudaMalloc(&p, n * sizeof(T)) != cudaSuccess || cudaMemset(p, 0, n * sizeof(T)) != cudaSuccess)
        std::printf("no device memory\n");
    return p;
}
template <class T> static void fetch(T *to, const T *from, size_t n)
{
    const cudaError_t e = cudaMemcpy(to, from, n * sizeof(T), cudaMemcpyDeviceToHost);
    if (e != cudaSuccess) {
        std::printf("%s\n", cudaGetErrorString(e));
        failed = 1;
    }
}

// ---- integers: the same formulas, bit by bit, on the host
__global__ void bits(const unsigned *in, int *out)
{
    const unsigned a = in[threadIdx.x], b = in[threadIdx.x + 1];
    int *const o = out + 16 * threadIdx.x;
    o[0] = __popc(a);
    o[1] = __clz((int)a);
    o[2] = __ffs((int)a);
    o[3] = (int)__brev(a);
    o[4] = __mulhi((int)a, (int)b);
    o[5] = (int)__umulhi(a, b);
    o[6] = (int)__byte_perm(a, b, 0x4f16u);
    o[7] = __mul24((int)a, (int)b);
    o[8] = (int)__usad(a, b, 7u);
    o[9] = __hadd((int)a, (int)b);
    o[10] = __rhadd((int)a, (int)b);
    o[11] = __clzll((long long)a << 7) + 100 * __ffsll((long long)a << 9);
    o[12] = (int)__funnelshift_r(a, b, 37);
    o[13] = __double2hiint(__hiloint2double((int)a, (int)b)) ^ __double2loint(__hiloint2double((int)a, (int)b));
    o[14] = __dp4a((int)a, (int)b, 11);
    o[15] = (int)min(a, b) ^ max((int)a, (int)b);
}
static int leading(unsigned long long v, int width)
{
    int n = 0;
    while (n < width && !(v >> (width - 1 - n) & 1))
        n++;
    return n;
}
static int first(unsigned long long v)
{
    int n = 0;
    if (!v)
        return 0;
    while (!(v >> n & 1))
        n++;
    return n + 1;
}
static void test_bits()
{
    const unsigned in[] = {0, 1, 0x80000000u, 0xffffffffu, 0x12345678u, 0xdeadbeefu, 0x00ff00ffu, 7, 0x7fffffffu};
    const int n = 8;
    unsigned *din = device<unsigned>(9);
    int *dout = device<int>(16 * n), out[16 * n];
    cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice);
    bits<<<1, n>>>(din, dout);
    fetch(out, dout, 16 * n);
    bool ok = true;
    for (int t = 0; t < n; t++) {
        const unsigned a = in[t], b = in[t + 1];
        const int sa = (int)a, sb = (int)b, *o = out + 16 * t;
        int pop = 0, dot = 11;
        unsigned reversed = 0;
        for (int i = 0; i < 32; i++) {
            pop += a >> i & 1;
            reversed |= (a >> i & 1) << (31 - i);
        }
        for (int i = 0; i < 4; i++)
            dot += (int)(signed char)(a >> 8 * i) * (int)(signed char)(b >> 8 * i);
        const unsigned long long pair = (unsigned long long)b << 32 | a;
        unsigned perm = 0;
        const int selector[] = {6, 1, 7, 4}; // of 0x4f16, three bits each
        for (int i = 0; i < 4; i++)
            perm |= (unsigned)(pair >> 8 * selector[i] & 0xff) << 8 * i;
        const int a24 = (int)(a << 8) >> 8, b24 = (int)(b << 8) >> 8;
        ok = ok && o[0] == pop && o[1] == leading(a, 32) && o[2] == first(a) && o[3] == (int)reversed;
        ok = ok && o[4] == (int)((long long)sa * sb >> 32) && o[5] == (int)((unsigned long long)a * b >> 32);
        ok = ok && o[6] == (int)perm && o[7] == (int)((unsigned)a24 * (unsigned)b24);
        ok = ok && o[8] == (int)((a > b ? a - b : b - a) + 7);
        ok = ok && o[9] == (int)(((long long)sa + sb) >> 1) && o[10] == (int)(((long long)sa + sb + 1) >> 1);
        ok = ok && o[11] == leading((unsigned long long)a << 7, 64) + 100 * first((unsigned long long)a << 9);
        ok = ok && o[12] == (int)(pair >> 5) && o[13] == (sa ^ sb) && o[14] == dot;
        ok = ok && o[15] == ((int)(a < b ? a : b) ^ (sa > sb ? sa : sb));
    }
    check("integer intrinsics", ok);
}

// ---- half and bfloat16: each result against the host's arithmetic of the same header
__global__ void halves(const float *in, float *out)
{
    const __half a = __float2half(in[threadIdx.x]), b = __float2half(in[threadIdx.x + 1]);
    float *const o = out + 12 * threadIdx.x;
    o[0] = __half2float(a + b);
    o[1] = __half2float(a - b);
    o[2] = __half2float(a * b);
    o[3] = __half2float(a / b);
    o[4] = __half2float(__hfma(a, b, a));
    o[5] = (float)(a < b) + 2 * (float)(a == b) + 4 * (float)__hgeu(a, b);
    o[6] = __half2float(__hmax(a, b));
    const __half2 v = __hmul2(__halves2half2(a, b), __half2half2(b));
    o[7] = __low2float(v);
    o[8] = __high2float(v);
    o[9] = (float)__half2int_rn(a);
    o[10] = __half2float(__int2half_rn((int)in[threadIdx.x]));
    o[11] = __half2float(__float2half_rz(in[threadIdx.x] / 3.0f));
}
__global__ void bfloats(const float *in, float *out)
{
    const __nv_bfloat16 a = __float2bfloat16(in[threadIdx.x]), b = __float2bfloat16(in[threadIdx.x + 1]);
    float *const o = out + 12 * threadIdx.x;
    o[0] = __bfloat162float(a + b);
    o[1] = __bfloat162float(a - b);
    o[2] = __bfloat162float(a * b);
    o[3] = __bfloat162float(a / b);
    o[4] = __bfloat162float(__hfma(a, b, a));
    o[5] = (float)(a < b) + 2 * (float)(a == b) + 4 * (float)__hgeu(a, b);
    o[6] = __bfloat162float(__hmax(a, b));
    const __nv_bfloat162 v = __hmul2(__halves2bfloat162(a, b), __bfloat162bfloat162(b));
    o[7] = __low2float(v);
    o[8] = __high2float(v);
    o[9] = (float)__bfloat162int_rn(a);
    o[10] = __bfloat162float(__int2bfloat16_rn((int)in[threadIdx.x]));
    o[11] = __bfloat162float(__float2bfloat16_rz(in[threadIdx.x] / 3.0f));
}
// round a double to `fraction` bits, ties to even, or towards zero: another way than the headers'
static float to_bits(double d, int fraction, int lowest, bool zero)
{
    if (d == 0.0 || std::isnan(d) || std::isinf(d))
        return (float)d;
    int e;
    std::frexp(d, &e);
    const int last = (e - 1 < lowest ? lowest : e - 1) - fraction;
    const double scaled = std::ldexp(d, -last);
    return (float)std::ldexp(zero ? std::trunc(scaled) : std::nearbyint(scaled), last);
}
static bool small_ok(const float *in, const float *o, int fraction, int lowest)
{
    const double a = to_bits(in[0], fraction, lowest, false), b = to_bits(in[1], fraction, lowest, false);
    auto r = [=](double d) { return to_bits(d, fraction, lowest, false); };
    return o[0] == r(a + b) && o[1] == r(a - b) && o[2] == r(a * b) && o[3] == r(a / b) && o[4] == r(a * b + a) &&
           o[5] == (float)(a < b) + 2 * (float)(a == b) + 4 * (float)(a >= b) && o[6] == (float)(a > b ? a : b) &&
           o[7] == r(a * b) && o[8] == r(b * b) && o[9] == (float)std::nearbyint(a) && o[10] == r((int)in[0]) &&
           o[11] == to_bits(in[0] / 3.0f, fraction, lowest, true);
}
static void test_small()
{
    const float in[] = {1.0f, 0.333f, -2.5f, 100.7f, 0.01f, -0.0625f, 7.0f, 3.14159f, -55.5f};
    const int n = 8;
    float *din = device<float>(9), *dout = device<float>(12 * n), out[12 * n];
    cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice);
    halves<<<1, n>>>(din, dout);
    fetch(out, dout, 12 * n);
    bool ok = true;
    for (int t = 0; t < n; t++)
        ok = ok && small_ok(in + t, out + 12 * t, 10, -14);
    check("half", ok);
    bfloats<<<1, n>>>(din, dout);
    fetch(out, dout, 12 * n);
    ok = true;
    for (int t = 0; t < n; t++)
        ok = ok && small_ok(in + t, out + 12 * t, 7, -126);
    check("bfloat16", ok);
    ok = true;
    for (int bitsOf = 0; bitsOf < 65536; bitsOf++) { // on the host every half goes to float and back unchanged
        const __half h = __ushort_as_half((unsigned short)bitsOf);
        const float f = __half2float(h);
        ok = ok && (f != f || __half_as_ushort(__float2half(f)) == bitsOf);
        ok = ok && (f != f || std::isinf(f) || f == to_bits(f, 10, -14, false));
    }
    check("half on the host", ok);
}

// ---- groups
__global__ void groups(int *out)
{
    const int t = threadIdx.x;
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto eight = cg::tiled_partition<8>(warp);
    int *const o = out + 16 * t;
    o[0] = cg::reduce(warp, t, cg::plus<int>());
    o[1] = cg::reduce(eight, t, cg::greater<int>());
    o[2] = cg::inclusive_scan(eight, t, cg::plus<int>());
    o[3] = cg::exclusive_scan(warp, 1);
    o[4] = (int)eight.ballot(t % 3 == 0);
    o[5] = eight.shfl(t, 5);
    o[6] = warp.shfl_xor(t, 3);
    if (t % 5 < 2) {
        auto c = cg::coalesced_threads();
        o[7] = (int)c.size();
        o[8] = (int)c.thread_rank();
        o[9] = c.shfl(t, 1);
        o[10] = cg::reduce(c, t, cg::plus<int>());
        o[11] = (int)c.ballot(t % 2);
        o[12] = c.shfl_down(t, 1);
    }
    auto part = cg::labeled_partition(warp, t % 4);
    o[13] = (int)part.size() * 100 + (int)part.thread_rank();
    o[14] = (int)cg::reduce(eight, (double)t * 0.5, cg::plus<double>());
    o[15] = (int)eight.meta_group_rank() * 100 + (int)warp.meta_group_rank();
}
static void test_groups()
{
    const int n = 64;
    int *dout = device<int>(16 * n), out[16 * n];
    groups<<<1, n>>>(dout);
    fetch(out, dout, 16 * n);
    bool ok = true;
    for (int t = 0; t < n; t++) {
        const int *o = out + 16 * t, w = t / 32 * 32, e = t / 8 * 8;
        int sum = 0, scan = 0, votes = 0, halfSum = 0, members[32], m = 0, rank = 0, odd = 0, together = 0, part = 0;
        for (int i = w; i < w + 32; i++) {
            sum += i;
            part += i % 4 == t % 4 && i < t;
            if (i % 5 < 2) {
                rank = i == t ? m : rank;
                odd |= (i % 2) << m;
                together += i;
                members[m++] = i;
            }
        }
        for (int i = e; i < e + 8; i++) {
            scan += i <= t ? i : 0;
            votes |= (i % 3 == 0) << (i - e);
            halfSum += i;
        }
        ok = ok && o[0] == sum && o[1] == e + 7 && o[2] == scan && o[3] == t - w && o[4] == votes && o[5] == e + 5;
        ok = ok && o[6] == (t ^ 3) && o[13] == 800 + part && o[14] == halfSum / 2;
        ok = ok && o[15] == (e - w) / 8 * 100 + t / 32;
        if (t % 5 < 2)
            ok = ok && o[7] == m && o[8] == rank && o[9] == members[1] && o[10] == together && o[11] == odd &&
                 o[12] == (rank + 1 < m ? members[rank + 1] : t);
    }
    check("groups in a warp", ok);
}
__global__ void whole_grid(int *data, int *out)
{
    cg::grid_group grid = cg::this_grid();
    const int i = (int)grid.thread_rank(), n = (int)grid.size();
    for (int round = 0; round < 3; round++) {
        data[i] = data[i] + i + round;
        grid.sync();
        const int other = data[n - 1 - i];
        grid.sync();
        data[i] += other;
        grid.sync();
    }
    out[i] = data[i];
}
static void test_grid()
{
    const int blocks = 4, threads = 64, n = blocks * threads;
    int *data = device<int>(n), *dout = device<int>(n), out[n], expect[n] = {}, old[n];
    void *args[] = {&data, &dout};
    const cudaError_t e = cudaLaunchCooperativeKernel(whole_grid, dim3(blocks), dim3(threads), args);
    fetch(out, dout, n);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < n; i++)
            expect[i] += i + round;
        std::memcpy(old, expect, sizeof old);
        for (int i = 0; i < n; i++)
            expect[i] += old[n - 1 - i];
    }
    check("grid barrier", e == cudaSuccess && std::memcmp(out, expect, sizeof out) == 0);
}

// ---- matrices: small integers, so that every product is exact
__global__ void product(const __half *a, const __half *b, float *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 1.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; i++)
        fc.x[i] *= 2.0f;
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_col_major);
}
static void test_matrix()
{
    __half a[256], b[256];
    float c[256];
    for (int i = 0; i < 256; i++) {
        a[i] = __float2half((float)(i % 7 - 3));
        b[i] = __float2half((float)(i % 5 - 2));
    }
    __half *da = device<__half>(256), *db = device<__half>(256);
    float *dc = device<float>(256);
    cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
    product<<<1, 32>>>(da, db, dc);
    fetch(c, dc, 256);
    bool ok = true;
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
            float sum = 1.0f;
            for (int k = 0; k < 16; k++)
                sum += __half2float(a[i * 16 + k]) * __half2float(b[j * 16 + k]);
            ok = ok && c[j * 16 + i] == 2.0f * sum;
        }
    check("wmma", ok);
}

// ---- asynchronous copies, in two stages and by a group
__global__ void copies(const int *in, int *out)
{
    __shared__ int4 s[2][32];
    __shared__ int whole[100];
    const int t = threadIdx.x;
    for (int stage = 0; stage < 2; stage++) {
        __pipeline_memcpy_async(&s[stage][t], in + 128 * stage + 4 * t, 16);
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    out[t] = s[0][31 - t].y;
    __pipeline_wait_prior(0);
    __syncthreads();
    out[32 + t] = s[1][31 - t].w;
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, whole, in + 1, sizeof(int) * 99);
    cg::wait(block);
    out[64 + t] = whole[3 * t];
    __pipeline_memcpy_async(&s[0][t], in + 4 * t, 16, 8); // the last eight bytes become zeros
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[96 + t] = s[0][t].x + s[0][t].w;
}
static void test_copies()
{
    int in[256], out[128];
    for (int i = 0; i < 256; i++)
        in[i] = i * i + 1;
    int *din = device<int>(256), *dout = device<int>(128);
    cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice);
    copies<<<1, 32>>>(din, dout);
    fetch(out, dout, 128);
    bool ok = true;
    for (int t = 0; t < 32; t++)
        ok = ok && out[t] == in[4 * (31 - t) + 1] && out[32 + t] == in[128 + 4 * (31 - t) + 3] &&
             out[64 + t] == in[1 + 3 * t] && out[96 + t] == in[4 * t];
    check("asynchronous copies", ok);
}

// ---- rounding, conversions, complex numbers, memory
__global__ void rest(float *f, double *d, unsigned long long *w)
{
    const float x = f[0], y = f[1];
    f[2] = __fadd_rd(x, y);
    f[3] = __fadd_ru(x, y);
    f[4] = roundf(-2.5f + x * 0.0f) + rintf(2.5f + x * 0.0f) * 10.0f;
    f[5] = (float)__float2int_rn(2.5f + x * 0.0f) + 10.0f * (float)__float2int_ru(2.25f + x * 0.0f);
    f[6] = __saturatef(x * 1e9f) + 10.0f * __saturatef(-x);
    f[7] = cuCabsf(make_cuFloatComplex(3.0f * x, 4.0f * x));
    f[8] = fmaf(x, y, -(x * y)) != 0.0f ? 1.0f : 2.0f;
    d[0] = __dsqrt_rd(2.0) < __dsqrt_ru(2.0) ? 1.0 : 0.0;
    d[1] = atomicAdd(d + 2, 1.5) + d[2];
    w[0] = atomicMax(w + 1, 7ull) + atomicCAS(w + 2, 0ull, 9ull) + w[2];
    w[3] = __umul64hi(0xffffffffffffffffull - (unsigned long long)(x * 0.0f), 16ull);
    f[9] = __int_as_float(__float_as_int(x) ^ (int)0x80000000);
    f[10] = copysignf(3.0f, -x) + fdimf(x, y) + (float)(signbit(-x) != 0) + (float)isinf(x * __int_as_float(0x7f800000)) + (float)isnan(x - x);
}
static void test_rest()
{
    const float in[11] = {1.0f, 0x1p-30f};
    float f[11];
    double d[3];
    unsigned long long w[4];
    float *df = device<float>(11);
    double *dd = device<double>(3);
    unsigned long long *dw = device<unsigned long long>(4);
    cudaMemcpy(df, in, sizeof in, cudaMemcpyHostToDevice);
    rest<<<1, 1>>>(df, dd, dw);
    fetch(f, df, 11);
    fetch(d, dd, 3);
    fetch(w, dw, 4);
    check("rounding", f[2] == 1.0f && f[3] == std::nextafterf(1.0f, 2.0f) && f[4] == 17.0f && f[5] == 32.0f && d[0] == 1.0);
    check("floats", f[6] == 1.0f && f[7] == 5.0f && f[9] == -1.0f && f[10] == -3.0f + (1.0f - 0x1p-30f) + 1.0f + 1.0f);
    check("wide atomics", d[1] == 1.5 && d[2] == 1.5 && w[0] == 9 && w[1] == 7 && w[2] == 9 && w[3] == 15);
}

int main()
{
    test_bits();
    test_small();
    test_groups();
    test_grid();
    test_rest();
    test_copies();
    test_matrix();
    std::printf("headers: %s\n", failed ? "FAIL" : "PASS");
    return failed;
}
