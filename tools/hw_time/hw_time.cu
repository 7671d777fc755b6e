// Measures what the time model needs of one GPU. `hw_time cycles`: rows of latencies and rates, no profiler.
// `hw_time launches`, `hw_time pairs`: labels of launches whose durations and traffic a profiler reads (run.sh).
#include "cycles.cuh"
#include "launches.cuh"
#include <algorithm>
#include <vector>

static char *big; // 1 GiB
static const size_t BIG = 1ull << 30;
static int sms;

static void do_cycles()
{
    cudaDeviceProp d;
    CK(cudaGetDeviceProperties(&d, 0));
    int khz = 0;
    CK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
    row("device", "sms", 0, 0, d.multiProcessorCount, "SM");
    row("device", "clock", 0, 0, khz / 1e3, "MHz");
    row("device", "l2", 0, 0, d.l2CacheSize, "byte");
    for (int k = 0; k < 200; k++) // warm up the clock
        unit<fma_f32, 4><<<sms, 1024>>>(times, sink, 1, 2, 256);
    CK(cudaDeviceSynchronize());
#define U(o) rows_unit<o>();
    U(fma_f32) U(add_f32) U(mul_f32) U(add_xor_s32) U(mad_s32) U(mul_hi_u32) U(mul_wide_u32) U(shf_b32) U(prmt_b32)
    U(max_s32) U(setp_selp) U(popc_b32) U(clz_b32) U(brev_b32) U(cvt_f32_s32) U(cvt_s32_f32) U(ex2_f32) U(lg2_f32)
    U(sin_f32) U(rcp_f32) U(rsqrt_f32) U(div_rn_f32) U(sqrt_rn_f32) U(fma_f16x2) U(shfl_bfly) U(vote_ballot)
    U(redux_add) U(div_u32) U(fma_f64) U(add_f64) U(add_s64) U(mad_s64)
    rows_shared<SH_LD32>("ld32", true);
    rows_shared<SH_LD64>("ld64", true);
    rows_shared<SH_LD128>("ld128", true);
    rows_shared<SH_ST32>("st32", false);
    rows_shared<SH_ST64>("st64", false);
    rows_shared<SH_ST128>("st128", false);
    rows_shared<SH_ATOM>("atom", true);
    rows_shared<SH_RED>("red", false);
    // chases: footprint in KiB, stride in bytes
    struct { int kb, stride, cg; } ch[] = {{16, 128, 0}, {128, 128, 0}, {192, 128, 0}, {240, 128, 0}, {320, 128, 0}, {16, 128, 1},
                                          {1024, 128, 1}, {8192, 128, 1}, {16384, 128, 1}, {32768, 256, 1}, {65536, 512, 1},
                                          {131072, 1024, 1}, {262144, 2048, 1}, {524288, 4096, 1}, {1048576, 8192, 1}};
    for (auto c : ch) {
        unsigned words = c.kb * 256u, stride = c.stride / 4, n = words / stride;
        unsigned pow2 = 1;
        while (pow2 * 2 <= n)
            pow2 *= 2;
        words = pow2 * stride;
        fill_chase<<<sms, 256>>>((unsigned *)big, words, stride, (pow2 / 3) | 1);
        CK(cudaDeviceSynchronize());
        int steps = pow2 > 8192 ? 8192 : pow2;
        for (int k = 0; k < 2; k++) {
            if (c.cg)
                chase<1><<<1, 1>>>((unsigned *)big, times, sink, pow2 < 300000 ? pow2 : 0, steps);
            else
                chase<0><<<1, 1>>>((unsigned *)big, times, sink, pow2, steps);
            CK(cudaDeviceSynchronize());
        }
        row("chase", c.cg ? "cg" : "ca", pow2 * (double)c.stride, c.stride, span(times, 1) / steps, "cycle");
    }
    // latency of single lines in the L2: near and far
    for (int atom = 0; atom < 2; atom++) {
        unsigned short *cyc;
        const int lines = 1024;
        CK(cudaMallocManaged(&cyc, lines * 2));
        each_line<<<1, 1>>>((unsigned *)big, cyc, sink, lines, atom);
        CK(cudaDeviceSynchronize());
        std::vector<unsigned short> v(cyc, cyc + lines);
        std::sort(v.begin(), v.end());
        for (int q : {1, 10, 25, 40, 50, 60, 75, 90, 99})
            row(atom ? "l2_atomic" : "l2_load", "percentile", q, 0, v[(size_t)q * lines / 100], "cycle");
        CK(cudaFree(cyc));
    }
    for (int mul : {0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33}) {
        for (int k = 0; k < 2; k++)
            l1_shape<1><<<1, 1024>>>((unsigned *)big, times, sink, mul, 32);
        CK(cudaDeviceSynchronize());
        row("l1_cost", "ld32", 32, mul, span(times, 32) / (32.0 * 16 * 32), "cycle/warp inst/SM");
        for (int k = 0; k < 2; k++)
            l1_shape<2><<<1, 1024>>>((unsigned *)big, times, sink, mul, 32);
        CK(cudaDeviceSynchronize());
        row("l1_cost", "ld64", 32, mul, span(times, 32) / (32.0 * 16 * 32), "cycle/warp inst/SM");
        for (int k = 0; k < 2; k++)
            l1_shape<4><<<1, 1024>>>((unsigned *)big, times, sink, mul, 32);
        CK(cudaDeviceSynchronize());
        row("l1_cost", "ld128", 32, mul, span(times, 32) / (32.0 * 16 * 32), "cycle/warp inst/SM");
    }
    for (int w : {1, 2, 4, 8, 16, 32}) {
        for (int k = 0; k < 2; k++)
            barriers<<<1, w * 32>>>(times, sink, 64);
        CK(cudaDeviceSynchronize());
        row("barrier", "bar.sync", w, 0, span(times, w) / 256.0, "cycle");
        for (int dv = 0; dv < 2; dv++) {
            for (int k = 0; k < 2; k++)
                loop_branch<<<1, w * 32>>>(times, sink, 1024, dv);
            CK(cudaDeviceSynchronize());
            row("loop", dv ? "divergent" : "uniform", w, 0, span(times, w) / 1024.0, "cycle/iteration");
        }
    }
    // which SM gets which block, in order of the block's index; two blocks of 1024 threads fit one
    std::vector<unsigned> at(sms * 4);
    for (int threads : {1024, 256}) {
        t_where<<<sms * 4, threads>>>(sink, 200000);
        CK(cudaDeviceSynchronize());
        CK(cudaMemcpy(at.data(), sink, sms * 16, cudaMemcpyDeviceToHost));
        for (int b = 0; b < sms * 4; b++)
            row("placement", threads == 1024 ? "1024" : "256", b, 0, at[b], "smid");
    }
}

static void do_launches()
{
    uint4 *p = (uint4 *)big;
    for (int r = 0; r < 3; r++)
        LAUNCH("empty", 1, 32, t_empty, 1, 32, 0);
    for (int b : {1, 132, 1056, 4224, 16896, 67584})
        for (int t : {32, 256, 1024})
            LAUNCH("empty", b, t, t_empty, b, t, 0);
    for (int kb : {16, 32, 48})
        LAUNCH("empty_shared", kb, 4224, t_shared_empty<0>, 4224, 256, kb << 10, sink);
    for (int n : {0, 256, 1024, 4096})
        LAUNCH("spin", n, 132, t_spin, 132, 32, 0, sink, n, 0);
    for (int n : {1024, 4096})
        LAUNCH("spin_uneven", n, 1056, t_spin, 1056, 1024, 0, sink, n, n);
    // reads: threads an SM and loads in flight; from memory, then from the L2
    size_t n64 = (64u << 20) / 16, n256 = (256u << 20) / 16, n8 = (8u << 20) / 16;
    for (int t : {32, 64, 128, 256, 512, 1024}) {
        LAUNCH("dram_read_1", t, 64 << 20, (t_read<1, 1>), sms, t, 0, p, sink, n64);
        LAUNCH("dram_read_2", t, 64 << 20, (t_read<2, 1>), sms, t, 0, p, sink, n64);
        LAUNCH("dram_read_4", t, 64 << 20, (t_read<4, 1>), sms, t, 0, p, sink, n64);
    }
    LAUNCH("dram_read_1_2048", 2048, 256 << 20, (t_read<1, 1>), sms * 2, 1024, 0, p, sink, n256);
    LAUNCH("dram_read_4_2048", 2048, 256 << 20, (t_read<4, 1>), sms * 2, 1024, 0, p, sink, n256);
    LAUNCH("dram_read_4_ca", 2048, 256 << 20, (t_read<4, 0>), sms * 2, 1024, 0, p, sink, n256);
    for (int mb : {1, 2, 4, 8, 16, 32, 64, 128, 512})
        LAUNCH("dram_read_size", 2048, mb << 20, (t_read<1, 1>), sms * 2, 1024, 0, p, sink, ((size_t)mb << 20) / 16);
    for (int t : {32, 64, 128, 256, 512, 1024}) {
        LAUNCH("l2_read_1", t, 16 * 8, t_again<1>, sms, t, 0, p, sink, n8, 16);
        LAUNCH("l2_read_4", t, 16 * 8, t_again<4>, sms, t, 0, p, sink, n8, 16);
    }
    for (int s : {1, 2, 4, 8, 16, 33, 66, 99})
        LAUNCH("l2_read_sms", s, 4 * 8, t_again<4>, s, 1024, 0, p, sink, n8, 4);
    for (int mb : {4, 16, 24, 32, 40, 48, 56, 64})
        LAUNCH("l2_keep", mb, 4, t_again<4>, sms, 1024, 0, p, sink, ((size_t)mb << 20) / 16, 4);
    for (int mb : {1, 4, 16, 32, 64, 128, 256})
        LAUNCH("write", mb, 2048, t_write, sms * 2, 1024, 0, p, ((size_t)mb << 20) / 16);
    for (int mb : {1, 4, 8, 16, 32, 64, 128})
        LAUNCH("copy", mb, 2048, t_copy, sms * 2, 1024, 0, p, p + BIG / 32, ((size_t)mb << 20) / 16);
    for (int mb : {4, 16, 32, 64, 128})
        LAUNCH("read_write", mb, 2048, t_read_write, sms * 2, 1024, 0, p, ((size_t)mb << 20) / 16);
    for (int s : {1, 2, 4, 8, 16, 32, 64}) {
        LAUNCH("read32", s, 1 << 20, t_read32, sms * 2, 1024, 0, (unsigned *)p, sink, (size_t)1 << 20, s);
        LAUNCH("write32", s, 1 << 20, t_write32, sms * 2, 1024, 0, (unsigned *)p, (size_t)1 << 20, s);
    }
    for (int s : {0, 1, 4})
        LAUNCH("store_load", s, 0, t_store_load, 64, 256, 0, (unsigned *)p, sink, s);
    LAUNCH("load_store_load", 0, 0, t_load_store_load, 64, 256, 0, (unsigned *)p, sink);
    for (int ret = 0; ret < 2; ret++)
        for (unsigned m : {0u, 1u, 7u, 31u, 255u, 4095u, 65535u, 1048575u}) {
            LAUNCH(ret ? "atom" : "red", m, 132 * 8, t_atomic, sms, 256, 0, (unsigned *)p, sink, m, 16, ret);
            LAUNCH(ret ? "atom_one_block" : "red_one_block", m, 8, t_atomic, 1, 256, 0, (unsigned *)p, sink, m, 16, ret);
        }
    for (int st : {1, 8, 32})
        LAUNCH("red_f32_step", st, 1048575, t_atomic_f32, sms, 256, 0, (float *)p, 1048575u, 16, st);
    for (int kb : {64, 128, 160, 192, 200, 208, 216, 224, 232, 240, 256})
        LAUNCH("l1_walk", kb, 4, t_l1_walk, sms, 256, 0, (unsigned *)p, sink, kb * 256, 4);
    LAUNCH("local", 64, 1000, t_local, sms * 2, 256, 0, sink, 1000);
}

static void do_pairs()
{
    unsigned *go;
    CK(cudaMalloc(&go, 256));
    const unsigned *p = (const unsigned *)big;
    const int lines = 512;
#define PAIR(label, a, b, x, y, delay)                                                                                 \
    do {                                                                                                               \
        CK(cudaMemset(go, 0, 256));                                                                                    \
        LAUNCH(label, a, b, t_pair, sms, 32, 200 << 10, p, sink, go, x, y, (x) == (y) ? 1 : 2, delay, lines);          \
    } while (0)
    CK(cudaFuncSetAttribute(t_pair, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
    CK(cudaFuncSetAttribute(t_range, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
    PAIR("alone", 0, 0, 0, 0, 0);
    for (int b = 1; b < sms; b++)
        PAIR("pair", 0, b, 0, b, 0);
    for (int b : {1, 2, 3, 4, 6, 8, 16})
        for (int d : {100, 200, 300, 400, 600, 800, 1000, 1500, 2000, 4000})
            PAIR("delay", b, d, 0, b, d);
    for (int b : {2, 4, 6, 8, 16, 18, 32, 66, 132})
        if (b <= sms) {
            CK(cudaMemset(go, 0, 256));
            LAUNCH("range", 0, b, t_range, sms, 32, 200 << 10, p, sink, go, 0, b, lines);
        }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    CK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CK(cudaMalloc(&big, BIG));
    CK(cudaMemset(big, 0, BIG));
    CK(cudaMallocManaged(&times, 4096));
    CK(cudaMalloc(&sink, 16 << 20));
    CK(cudaMemset(sink, 0, 16 << 20));
    if (strcmp(mode, "cycles") == 0)
        do_cycles();
    else if (strcmp(mode, "launches") == 0)
        do_launches();
    else if (strcmp(mode, "pairs") == 0)
        do_pairs();
    else {
        fprintf(stderr, "usage: hw_time cycles|launches|pairs\n");
        return 2;
    }
    CK(cudaDeviceSynchronize());
    return 0;
}
