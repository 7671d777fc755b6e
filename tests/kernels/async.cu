// async.cu - cp.async groups, zero fill and pipelines, mbarrier phases, bulk copies, ldmatrix and stmatrix, wmma and mma
// against sums computed in double.
#include "check.h"
#include <cstdint>
#include <mma.h>
using namespace nvcuda;
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
#define COPY(n, to, from) asm volatile("cp.async.ca.shared.global [%0], [%1], " #n ";" ::"r"(at(to)), "l"(from) : "memory")
#define COPY16(to, from, size)                                                                                         \
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at(to)), "l"(from), "r"(size) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group " #n ";" ::: "memory")
#define WAIT_ALL() asm volatile("cp.async.wait_all;" ::: "memory")

// what is copied shows after the wait for its group, not before: Early looks before, which is a race on purpose
template <bool Early> __global__ void groups(const int *in, int *out)
{
    __shared__ __align__(16) int s[3][32];
    __shared__ __align__(16) int z[32 * 4];
    int t = threadIdx.x;
    for (int k = 0; k < 3; k++)
        s[k][t] = -1;
    for (int k = 0; k < 4; k++)
        z[4 * t + k] = -1;
    __syncwarp();
    for (int k = 0; k < 3; k++) {
        COPY(4, &s[k][t], in + 32 * k + t);
        COMMIT();
    }
    WAIT(2);
    out[t] = s[0][t], out[32 + t] = Early ? s[1][t] : -1;
    WAIT(1);
    out[64 + t] = s[1][t], out[96 + t] = Early ? s[2][t] : -1;
    WAIT_ALL();
    out[128 + t] = s[2][t];
    COPY16(&z[4 * t], in + 4 * t, t % 5 * 4 > 16 ? 16 : t % 5 * 4); // 0, 4, 8, 12 or 16 bytes, then zeros
    COMMIT();
    WAIT(0);
    for (int k = 0; k < 4; k++)
        out[160 + 4 * t + k] = z[4 * t + k];
}

// y[i] = sum of x over windows, through a pipeline of stages
template <int Stages> __global__ void pipeline(const float *x, float *y, int tiles)
{
    __shared__ __align__(16) float s[Stages][128];
    int t = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < Stages - 1; k++) {
        if (k < tiles && t < 32)
            COPY16(&s[k][4 * t], x + 128 * k + 4 * t, 16);
        COMMIT();
    }
    for (int k = 0; k < tiles; k++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(Stages - 2) : "memory");
        __syncthreads();
        int n = k + Stages - 1;
        if (n < tiles && t < 32)
            COPY16(&s[n % Stages][4 * t], x + 128 * n + 4 * t, 16);
        COMMIT();
        sum += s[k % Stages][t] * (float)(k + 1);
    }
    y[t] = sum;
}

// producer and consumer warps meet at mbarriers
__global__ void phases(const int *in, int *out, int rounds)
{
    __shared__ __align__(8) uint64_t full, empty;
    __shared__ __align__(16) int buf[32];
    int t = threadIdx.x, warp = t / 32, l = t % 32;
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(at(&full)) : "memory");
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(at(&empty)) : "memory");
    }
    __syncthreads();
    int sum = 0;
    for (int r = 0; r < rounds; r++) {
        uint64_t *wait_for = warp ? &full : &empty;
        unsigned parity = warp ? r & 1 : (r & 1) ^ 1;
        asm volatile("{\n.reg .pred p;\nL%=:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra L%=;\n}" ::"r"(
                         at(wait_for)),
                     "r"(parity)
                     : "memory");
        if (warp)
            sum += buf[l ^ 1];
        else
            buf[l] = in[r * 32 + l];
        uint64_t state;
        unsigned left;
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at(warp ? &empty : &full)) : "memory");
        asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(left) : "l"(state));
        if (left < 1 || left > 32)
            sum = -1;
    }
    if (warp)
        out[l] = sum;
}

// one thread asks for a bulk copy, everyone waits for its bytes; the result goes back in bulk
__global__ void bulk(const int *in, int *out)
{
    __shared__ __align__(8) uint64_t bar;
    __shared__ __align__(16) int buf[256];
    int t = threadIdx.x;
    if (t == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&bar)) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&bar)), "r"(1024) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(buf)),
                     "l"(in), "r"(1024), "r"(at(&bar))
                     : "memory");
    }
    __syncthreads();
    asm volatile("{\n.reg .pred p;\nL%=:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra L%=;\n}" ::"r"(at(&bar))
                 : "memory");
    buf[t] = buf[t] * 3 + 1;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out), "r"(at(buf)), "r"(1024) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

// copies that arrive at an mbarrier by themselves
__global__ void copy_arrives(const int *in, int *out)
{
    __shared__ __align__(8) uint64_t bar;
    __shared__ __align__(16) int s[64];
    int t = threadIdx.x;
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at(&bar)) : "memory");
    __syncthreads();
    COPY(4, &s[t], in + t);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at(&bar)) : "memory");
    int done = 0;
    while (!done)
        asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.parity.shared.b64 p, [%1], 0;\nselp.s32 %0, 1, 0, p;\n}"
                     : "=r"(done) : "r"(at(&bar)) : "memory");
    out[t] = s[63 - t];
}

__global__ void matrices(unsigned *out)
{
    __shared__ __align__(16) unsigned short s[4][8][8], back[8][8];
    int t = threadIdx.x;
    for (int k = t; k < 256; k += 32)
        (&s[0][0][0])[k] = (unsigned short)k;
    __syncwarp();
    unsigned a[4], b[2], c;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(at(&s[t / 8][t % 8])) : "memory");
    asm volatile("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%0,%1}, [%2];"
                 : "=r"(b[0]), "=r"(b[1]) : "r"(at(&s[t / 8 % 2][t % 8])) : "memory");
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(c) : "r"(a[0]));
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(at(&back[t % 8])), "r"(a[1]) : "memory");
    __syncwarp();
    for (int k = 0; k < 4; k++)
        out[32 * k + t] = a[k];
    out[128 + t] = b[0], out[160 + t] = b[1], out[192 + t] = c;
    out[224 + t] = ((unsigned *)back)[t];
}

template <int M, int N, class LA, class LB> __global__ void product(const __half *a, const __half *b, float *c, int k)
{
    wmma::fragment<wmma::matrix_a, M, N, 16, __half, LA> fa;
    wmma::fragment<wmma::matrix_b, M, N, 16, __half, LB> fb;
    wmma::fragment<wmma::accumulator, M, N, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    bool acol = sizeof(LA *) && __is_same(LA, wmma::col_major), bcol = __is_same(LB, wmma::col_major);
    for (int x = 0; x < k; x += 16) {
        wmma::load_matrix_sync(fa, acol ? a + x * M : a + x, acol ? M : k);
        wmma::load_matrix_sync(fb, bcol ? b + x : b + x * N, bcol ? k : N);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    for (int x = 0; x < fc.num_elements; x++)
        fc.x[x] = fc.x[x] * 2 + 1;
    wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
}
template <int M, int N, class LA, class LB> static void try_product(const char *name)
{
    const int k = 48;
    static __half a[M * k], b[N * k];
    static float c[M * N];
    for (int x = 0; x < M * k; x++)
        a[x] = __float2half((float)(x * 37 % 101) / 64 - 0.7f);
    for (int x = 0; x < N * k; x++)
        b[x] = __float2half((float)(x * 53 % 97) / 64 - 0.6f);
    __half *da = device<__half>(M * k), *db = device<__half>(N * k);
    float *dc = device<float>(M * N);
    CK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
    product<M, N, LA, LB><<<1, 32>>>(da, db, dc, k);
    CK(cudaGetLastError());
    fetch(c, dc, M * N);
    bool acol = __is_same(LA, wmma::col_major), bcol = __is_same(LB, wmma::col_major);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int x = 0; x < k; x++)
                s += (double)__half2float(acol ? a[x * M + i] : a[i * k + x]) *
                     (double)__half2float(bcol ? b[j * k + x] : b[x * N + j]);
            s = s * 2 + 1;
            EXPECT(c[i * N + j] > s - 1e-4 && c[i * N + j] < s + 1e-4, "%s (%d,%d): %g, not %g", name, i, j, c[i * N + j], s);
        }
}

int main(int argc, char **argv) // with any argument: nothing that a check may accuse
{
    (void)argv;
    int *in = device<int>(4096), *out = device<int>(4096), h[4096], x[4096];
    for (int k = 0; k < 4096; k++)
        x[k] = k * 7 + 3;
    CK(cudaMemcpy(in, x, sizeof x, cudaMemcpyHostToDevice));
    if (argc > 1)
        groups<false><<<1, 32>>>(in, out);
    else
        groups<true><<<1, 32>>>(in, out);
    fetch(h, out, 288);
    for (int t = 0; t < 32; t++) {
        EXPECT(h[t] == x[t] && h[64 + t] == x[32 + t] && h[128 + t] == x[64 + t], "thread %d: a group that was waited for", t);
        EXPECT(h[32 + t] == -1 && h[96 + t] == -1, "thread %d: a group shows before it is waited for", t);
        for (int k = 0; k < 4; k++)
            EXPECT(h[160 + 4 * t + k] == (k < t % 5 ? x[4 * t + k] : 0), "thread %d word %d: %d", t, k, h[160 + 4 * t + k]);
    }
    float *fx = device<float>(128 * 9), *fy = device<float>(128), hx[128 * 9], hy[128];
    for (int k = 0; k < 128 * 9; k++)
        hx[k] = (float)(k % 31);
    CK(cudaMemcpy(fx, hx, sizeof hx, cudaMemcpyHostToDevice));
    for (int stages = 2; stages <= 4; stages++) {
        CK(cudaMemset(fy, 0, sizeof hy));
        if (stages == 2)
            pipeline<2><<<1, 128>>>(fx, fy, 9);
        else if (stages == 3)
            pipeline<3><<<1, 128>>>(fx, fy, 9);
        else
            pipeline<4><<<1, 128>>>(fx, fy, 9);
        fetch(hy, fy, 128);
        for (int t = 0; t < 128; t++) {
            float s = 0;
            for (int k = 0; k < 9; k++)
                s += hx[128 * k + t] * (float)(k + 1);
            EXPECT(hy[t] == s, "%d stages, thread %d: %g, not %g", stages, t, hy[t], s);
        }
    }
    phases<<<1, 64>>>(in, out, 20);
    fetch(h, out, 32);
    for (int t = 0; t < 32; t++) {
        int s = 0;
        for (int r = 0; r < 20; r++)
            s += x[32 * r + (t ^ 1)];
        EXPECT(h[t] == s, "consumer %d: %d, not %d", t, h[t], s);
    }
    bulk<<<1, 256>>>(in, out);
    fetch(h, out, 256);
    for (int t = 0; t < 256; t++)
        EXPECT(h[t] == x[t] * 3 + 1, "bulk copy, word %d: %d", t, h[t]);
    copy_arrives<<<1, 64>>>(in, out);
    fetch(h, out, 64);
    for (int t = 0; t < 64; t++)
        EXPECT(h[t] == x[63 - t], "word %d: %d", t, h[t]);
    matrices<<<1, 32>>>((unsigned *)out);
    fetch(h, out, 256);
    for (int t = 0; t < 32; t++) {
        auto pair = [](int m, int r0, int c0, int r1, int c1) { return 64 * m + 8 * r0 + c0 | (64 * m + 8 * r1 + c1) << 16; };
        int r = t / 4, c = t % 4 * 2;
        for (int m = 0; m < 4; m++)
            EXPECT(h[32 * m + t] == pair(m, r, c, r, c + 1), "ldmatrix %d, lane %d: %x", m, t, h[32 * m + t]);
        for (int m = 0; m < 2; m++)
            EXPECT(h[128 + 32 * m + t] == pair(m, c, r, c + 1, r), "ldmatrix.trans %d, lane %d: %x", m, t, h[128 + 32 * m + t]);
        EXPECT(h[192 + t] == pair(0, c, r, c + 1, r), "movmatrix, lane %d: %x", t, h[192 + t]);
        EXPECT(h[224 + t] == pair(1, c, r, c + 1, r), "stmatrix.trans, word %d: %x", t, h[224 + t]);
    }
    try_product<16, 16, wmma::row_major, wmma::col_major>("16x16 row col");
    try_product<16, 16, wmma::col_major, wmma::row_major>("16x16 col row");
    try_product<32, 8, wmma::row_major, wmma::row_major>("32x8 row row");
    try_product<8, 32, wmma::col_major, wmma::col_major>("8x32 col col");
    return verdict("async");
}
