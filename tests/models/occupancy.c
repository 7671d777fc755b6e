/* occupancy.c - blocks per SM against NVIDIA's calculator, the inverse questions, and the device tables and files. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "model/occupancy.h"

/* Every 20th row of a table that NVIDIA's cuda_occupancy.h (CUDA 13.0) answered; the whole of it agrees too. */
static void calculator_rows_are_equal(void **state)
{
    (void)state;
    char path[4096], line[256];
    const char *dir = getenv("WG_TEST_DATA");
    snprintf(path, sizeof path, "%s/occupancy.csv", dir ? dir : "tests/models/data");
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    unsigned rows = 0;
    while (fgets(line, sizeof line, f)) {
        unsigned major, minor, blocks, mask;
        int regs, shared, warps, slots;
        long long stat, dyn;
        double occ;
        struct wg_occupancy_query q = {0};
        struct wg_occupancy o;
        assert_int_equal(sscanf(line, "%u.%u,%u,%u,%lld,%lld,%d,%u,%u,%d,%d,%d,%d,%lf,%u", &major, &minor, &q.threads,
                                &q.regs, &stat, &dyn, &q.carveout, &q.barriers, &blocks, &regs, &shared, &warps, &slots,
                                &occ, &mask),
                         15);
        q.static_shared = (uint64_t)stat;
        q.dynamic_shared = (uint64_t)dyn;
        wg_occupancy(wg_cc_find(major, minor), &q, &o);
        if (o.blocks != blocks || o.reported != mask || (int)o.limit[WG_LIMIT_REGISTERS] != regs ||
            (int)o.limit[WG_LIMIT_SHARED] != shared || (int)o.limit[WG_LIMIT_WARPS] != warps ||
            (int)o.limit[WG_LIMIT_BLOCKS] != slots || o.occupancy - occ > 1e-6 || occ - o.occupancy > 1e-6)
            fail_msg("%s gave %u blocks, mask %u", line, o.blocks, o.reported);
        assert_int_equal(o.reported, o.limiting); /* the table has one barrier a block */
        rows++;
    }
    fclose(f);
    assert_int_equal(rows, 1460);
}

static struct wg_occupancy ask(unsigned cc10, unsigned threads, unsigned regs, unsigned stat, unsigned dyn)
{
    struct wg_occupancy_query q = {.threads = threads, .regs = regs, .static_shared = stat, .dynamic_shared = dyn,
                                   .carveout = -1, .barriers = 1};
    struct wg_occupancy o;
    wg_occupancy(wg_cc_find(cc10 / 10, cc10 % 10), &q, &o);
    return o;
}

/* Limits printed by running cuda_occupancy.h: bits 1 warps, 2 registers, 4 shared memory. */
static void golden_vectors(void **state)
{
    (void)state;
    static const unsigned v[][7] = {/* cc, threads, registers, static, dynamic, blocks, limiting */
        {61, 256, 32, 0, 0, 8, 3},      {61, 256, 40, 0, 0, 6, 2},     {61, 128, 168, 0, 40000, 2, 4},
        {70, 1024, 37, 8192, 0, 1, 2},  {75, 256, 32, 0, 0, 4, 1},     {75, 1024, 37, 8192, 0, 1, 3},
        {75, 96, 64, 4096, 0, 10, 3},   {90, 128, 168, 0, 40000, 3, 2}, {80, 192, 33, 10000, 0, 8, 2},
        {86, 256, 32, 0, 0, 6, 1},      {89, 256, 40, 0, 0, 6, 3},     {86, 128, 168, 0, 40000, 2, 4},
        {89, 192, 33, 10000, 0, 8, 3},  {53, 1024, 37, 8192, 0, 0, 2}, {62, 192, 33, 10000, 0, 6, 4},
        {80, 224, 92, 0, 0, 2, 2},      {90, 224, 92, 0, 0, 2, 2},     {86, 224, 92, 0, 0, 2, 2},
        {80, 256, 41, 0, 0, 5, 2},      {80, 256, 43, 0, 0, 5, 2},     {80, 700, 16, 0, 0, 2, 1},
        {89, 700, 16, 0, 0, 2, 1}};
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        struct wg_occupancy o = ask(v[i][0], v[i][1], v[i][2], v[i][3], v[i][4]);
        if (o.blocks != v[i][5] || o.limiting != v[i][6])
            fail_msg("row %zu: %u blocks, limits %u", i, o.blocks, o.limiting);
    }
    assert_true(ask(60, 700, 88, 0, 0).blocks == 0); /* two partitions would hold it, but not four */
    assert_true(ask(60, 700, 80, 0, 0).blocks == 1);
    assert_true(ask(80, 700, 16, 0, 0).occupancy == 0.6875);
}

static void barriers_limit_from_hopper_on(void **state)
{
    (void)state;
    struct wg_occupancy_query q = {.threads = 32, .regs = 16, .carveout = -1, .barriers = 16};
    struct wg_occupancy o;
    wg_occupancy(wg_cc_find(9, 0), &q, &o);
    assert_int_equal(o.blocks, 4);
    assert_int_equal(o.limiting, 1u << WG_LIMIT_BARRIERS);
    assert_int_equal(o.reported, 1u << WG_LIMIT_BARRIERS | 1u << WG_LIMIT_BLOCKS); /* as the calculator prints it */
    wg_occupancy(wg_cc_find(8, 0), &q, &o);
    assert_int_equal(o.blocks, 32);
    assert_int_equal(o.limit[WG_LIMIT_BARRIERS], WG_NO_LIMIT);
}

static void a_block_that_cannot_run_says_why(void **state)
{
    (void)state;
    char text[256];
    struct { struct wg_occupancy_query q; enum wg_occupancy_never never; const char *number;
    } v[] = {
        {{.threads = 1025, .regs = 16}, WG_NEVER_THREADS, "1025"},
        {{.threads = 32, .regs = 300}, WG_NEVER_REGS_THREAD, "300"},
        {{.threads = 1024, .regs = 100}, WG_NEVER_REGS_BLOCK, "65536"},
        {{.threads = 32, .regs = 16, .dynamic_shared = 300000}, WG_NEVER_SHARED, "232448"},
        {{.threads = 32, .regs = 16, .static_shared = 256, .dynamic_shared = 49152, .no_optin = true},
         WG_NEVER_SHARED,
         "49152"},
        {{.threads = 32, .regs = 16, .dynamic_shared = 60000, .dynamic_allowed = 50000}, WG_NEVER_DYNAMIC, "50000"},
        {{.threads = 32, .regs = 16, .barriers = 65}, WG_NEVER_BARRIERS, "65"}};
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        struct wg_occupancy o;
        v[i].q.carveout = -1;
        wg_occupancy(wg_cc_find(9, 0), &v[i].q, &o);
        assert_int_equal(o.blocks, 0);
        assert_int_equal(o.never, v[i].never);
        wg_occupancy_never_text(wg_cc_find(9, 0), &v[i].q, o.never, text, sizeof text);
        assert_non_null(strstr(text, v[i].number));
    }
    struct wg_occupancy o;
    struct wg_occupancy_query fits = {
        .threads = 32, .regs = 16, .static_shared = 256, .dynamic_shared = 48896, .no_optin = true, .carveout = -1};
    wg_occupancy(wg_cc_find(9, 0), &fits, &o);
    assert_int_equal(o.never, WG_FITS);
    assert_int_equal(o.blocks, 4);
}

static void driver_carveouts_are_equal(void **state)
{
    (void)state;
    char path[4096], line[256];
    const char *dir = getenv("WG_TEST_DATA");
    snprintf(path, sizeof path, "%s/carveout.csv", dir ? dir : "tests/models/data");
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    unsigned rows = 0;
    while (fgets(line, sizeof line, f)) {
        unsigned stat, dyn, size, limit;
        struct wg_occupancy_query q = {.carveout = -1};
        struct wg_occupancy o;
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%u,%u,%u,%u,%u,%u", &q.threads, &q.regs, &stat, &dyn, &size, &limit), 6);
        q.static_shared = stat;
        q.dynamic_shared = dyn;
        unsigned got = wg_occupancy_driver_carveout(wg_cc_find(9, 0), &q);
        if (got != size)
            fail_msg("%s: %u", line, got);
        wg_occupancy(wg_cc_find(9, 0), &q, &o);
        assert_int_equal(size / o.smem_per_block, limit); /* that is what the profiler calls the limit */
        rows++;
    }
    fclose(f);
    assert_int_equal(rows, 57);
}

static void inverse_answers_are_tight(void **state)
{
    (void)state;
    for (size_t c = 0; c < wg_cc_count(); c++)
        for (unsigned threads = 32; threads <= 1024; threads += 96)
            for (unsigned warps = 4; warps <= wg_cc_at(c)->warps_per_sm; warps += 7) {
                const struct wg_cc *cc = wg_cc_at(c);
                struct wg_occupancy_query q = {.threads = threads, .regs = 24, .dynamic_shared = 4000, .carveout = -1};
                struct wg_occupancy o;
                uint64_t v;
                if (wg_occupancy_most_regs(cc, q, warps, &v) == WG_OK) {
                    q.regs = (unsigned)v;
                    wg_occupancy(cc, &q, &o);
                    assert_true(o.warps >= warps);
                    q.regs++;
                    wg_occupancy(cc, &q, &o);
                    assert_true(o.warps < warps || q.regs > 255);
                }
                q.regs = 24;
                if (wg_occupancy_most_shared(cc, q, warps, &v) == WG_OK) {
                    q.dynamic_shared = v;
                    wg_occupancy(cc, &q, &o);
                    assert_true(o.warps >= warps);
                    q.dynamic_shared++;
                    wg_occupancy(cc, &q, &o);
                    assert_true(o.warps < warps);
                }
            }
}

static void devices_are_found_by_any_spelling(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"h200", "H200"}, {"RTX 4090", "RTX 4090"}, {"rtx4090", "RTX 4090"},
        {"4090", "RTX 4090"}, {"a100-80gb", "A100"}, {"A100 40GB", "A100-40GB"}, {"h100_pcie", "H100-PCIe"},
        {"jetson orin", "Orin"}, {"geforce-rtx-3090", "RTX 3090"}, {"Tesla T4", "T4"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct wg_gpu *g = wg_gpu_find(names[i][0]);
        assert_non_null(g);
        assert_string_equal(g->name, names[i][1]);
    }
    struct wg_diag d = {0};
    assert_null(wg_gpu_find_or_say("H201", &d));
    assert_int_equal(d.status, WG_NOT_FOUND);
    assert_non_null(strstr(d.text, "did you mean H200"));
    for (size_t i = 0; i < wg_gpu_count(); i++) {
        const struct wg_gpu *g = wg_gpu_at(i);
        assert_ptr_equal(wg_gpu_find(g->name), g); /* no name hides another */
        assert_true(g->sms > 0 && g->clock_mhz > 0 && g->dram_gbs > 0 && g->l2_bytes > 0 && g->memory_bytes > 0 &&
                    *g->source);
        /* the bandwidth is what the memory's clock and bus give, within what data sheets round */
        double peak = 2 * g->memory_clock_mhz * g->bus_bits / 8 / 1000;
        assert_true(peak > g->dram_gbs * 0.98 && peak < g->dram_gbs * 1.02);
    }
    /* peak TFLOP/s of the data sheets */
    assert_true(wg_gpu_fp32_flops(wg_gpu_find("T4")) > 8.1e12 && wg_gpu_fp32_flops(wg_gpu_find("T4")) < 8.2e12);
    assert_true(wg_gpu_fp32_flops(wg_gpu_find("H200")) > 66.8e12 && wg_gpu_fp32_flops(wg_gpu_find("H200")) < 67e12);
    assert_true(wg_gpu_fp64_flops(wg_gpu_find("A100")) > 9.7e12 && wg_gpu_fp64_flops(wg_gpu_find("A100")) < 9.8e12);
}

static void capabilities_parse_in_all_forms(void **state)
{
    (void)state;
    static const char *const good[] = {"9.0", "90", "sm_90", "sm_90a", "compute_90", "SM_90"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_ptr_equal(wg_cc_parse(good[i], NULL), wg_cc_find(9, 0));
    assert_ptr_equal(wg_cc_parse("12.0", NULL), wg_cc_parse("sm_120", NULL));
    assert_ptr_equal(wg_cc_parse("10.3", NULL), wg_cc_find(10, 3));
    static const char *const bad[] = {"", "9", "9.", "9.9", "ninety", "9.0x", "sm_", "-9.0", "9.0.0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct wg_diag d = {0};
        assert_null(wg_cc_parse(bad[i], &d));
        assert_int_equal(d.status, WG_NOT_FOUND);
    }
}

static enum wg_status load(const char *text, struct wg_arena *a, const struct wg_gpu **g, struct wg_diag *d)
{
    char path[] = "/tmp/wg-device-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    wg_diag_clear(d);
    enum wg_status s = wg_gpu_load(path, a, g, d);
    unlink(path);
    return s;
}

static void device_files_define_another_device(void **state)
{
    (void)state;
    struct wg_arena a = {0};
    struct wg_diag d = {0};
    const struct wg_gpu *g;
    assert_int_equal(load("# half an H200\nbase = H200\nname = half\nsms = 66 # not 132\nregs_per_sm=32768\n"
                          "carveouts = 0, 16, 64\n", &a, &g, &d), WG_OK);
    assert_string_equal(g->name, "half");
    assert_true(g->sms == 66 && g->clock_mhz == 1980);
    assert_int_equal(g->cc->regs_per_sm, 32768);
    assert_int_equal(g->cc->ncarveouts, 3);
    assert_int_equal(g->cc->carveout_kb[2], 64);
    assert_int_equal(wg_gpu_find("H200")->cc->regs_per_sm, 65536); /* the table is untouched */
    static const char *const bad[][2] = {{"sms = 4\n", "must come first"},
                                         {"base = H999\n", "unknown device"},
                                         {"cc = 9.0\nsmz = 4\n", "did you mean sms"},
                                         {"cc = 9.0\nsms = many\n", "not a number"},
                                         {"cc = 9.0\nsms\n", "key = value"},
                                         {"cc = 9.0\n", "must be above 0"},
                                         {"", "no `base"},
                                         {"cc = 9.0\ncarveouts = 8, 4\n", "rising"},
                                         {"cc = 9.0\nsms = 1\nreg_unit = 0\n", "must be above 0"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(load(bad[i][0], &a, &g, &d), WG_INVALID);
        assert_null(g);
        if (!strstr(d.text, bad[i][1]))
            fail_msg("'%s' said: %s", bad[i][0], d.text);
    }
    wg_diag_clear(&d);
    assert_int_equal(wg_gpu_open("/nowhere/x.gpu", &a, &g, &d), WG_IO);
    wg_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calculator_rows_are_equal),
        cmocka_unit_test(golden_vectors),
        cmocka_unit_test(barriers_limit_from_hopper_on),
        cmocka_unit_test(a_block_that_cannot_run_says_why),
        cmocka_unit_test(driver_carveouts_are_equal),
        cmocka_unit_test(inverse_answers_are_tight),
        cmocka_unit_test(devices_are_found_by_any_spelling),
        cmocka_unit_test(capabilities_parse_in_all_forms),
        cmocka_unit_test(device_files_define_another_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
