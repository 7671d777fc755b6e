/* metrics.c - metrics of launches and lines against what Nsight Compute printed for the same. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model/metrics.h"

static double value(const char *name, const struct wg_launch_result *l)
{
    double v;
    int m = wg_metric_find(name);
    if (m < 0)
        fail_msg("no metric %s", name);
    if (!wg_metric_launch((enum wg_metric)m, l, NULL, &v))
        return NAN;
    return v;
}

static void launch_facts_equal_the_profiler(void **state)
{
    (void)state;
    char path[4096], line[512], *names[16];
    const char *dir = getenv("WG_TEST_DATA");
    snprintf(path, sizeof path, "%s/launches.csv", dir ? dir : "tests/models/data");
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    assert_non_null(fgets(line, sizeof line, f));
    char *header = strdup(line), *p = header;
    header[strcspn(header, "\n")] = 0;
    size_t n = 0;
    while (p && n < 16)
        names[n++] = strsep(&p, ",");
    assert_int_equal(n, 13);
    unsigned rows = 0;
    while (fgets(line, sizeof line, f)) {
        struct wg_launch_result l = {.device = "H200", .registers_exact = true};
        char *q = line, *field[16];
        for (size_t i = 0; i < n; i++)
            field[i] = strsep(&q, ",");
        assert_int_equal(sscanf(field[0], "%u %u %u", &l.grid[0], &l.grid[1], &l.grid[2]), 3);
        assert_int_equal(sscanf(field[1], "%u %u %u", &l.block[0], &l.block[1], &l.block[2]), 3);
        l.registers = (unsigned)atoi(field[2]);
        l.static_shared = (uint64_t)atoll(field[3]);
        l.dynamic_shared = (uint64_t)atoll(field[4]);
        for (size_t i = 2; i < n; i++) {
            double got = value(names[i], &l), want = atof(field[i]), slack = strchr(field[i], '.') ? 0.00501 : 1e-9;
            if (!(fabs(got - want) <= slack))
                fail_msg("row %u, %s: %g, told %g", rows, names[i], got, want);
        }
        rows++;
    }
    free(header);
    fclose(f);
    assert_int_equal(rows, 28);
}

/* matmul_tiled32 on 1000 x 1000 as it was counted, one site per machine instruction of the PTX's shape. */
static struct wg_site tiled[6];
static struct wg_launch_result tiled_launch(void)
{
    struct wg_site *s = tiled;
    memset(tiled, 0, sizeof tiled);
    for (unsigned i = 0; i < 2; i++) {
        s[i] = (struct wg_site){
            .kind = WG_SITE_LOAD, .space = WG_SITE_GLOBAL, .access_bytes = 4, .opcode = "ld.global.f32"};
        s[i].c[WG_C_INST] = 1048576, s[i].c[WG_C_ACCESS] = 1024000, s[i].c[WG_C_TAGS] = 1768000;
        s[i].c[WG_C_SECTORS] = s[i].c[WG_C_SECTORS_IDEAL] = 4000000;
    }
    s[2] =
        (struct wg_site){.kind = WG_SITE_STORE, .space = WG_SITE_GLOBAL, .access_bytes = 4, .opcode = "st.global.f32"};
    s[2].c[WG_C_INST] = s[2].c[WG_C_ACCESS] = 32000, s[2].c[WG_C_TAGS] = 55250;
    s[2].c[WG_C_SECTORS] = s[2].c[WG_C_SECTORS_IDEAL] = 125000;
    s[3] = (struct wg_site){
        .kind = WG_SITE_LOAD, .space = WG_SITE_SHARED, .access_bytes = 16, .opcode = "ld.shared.v4.f32"};
    s[3].c[WG_C_INST] = s[3].c[WG_C_ACCESS] = 1048576,
    s[3].c[WG_C_WAVEFRONTS] = s[3].c[WG_C_WAVEFRONTS_IDEAL] = 2097152;
    s[4] = (struct wg_site){.kind = WG_SITE_OTHER, .opcode = "fma.rn.f32"};
    s[4].c[WG_C_INST] = 33554432, s[4].c[WG_C_THREAD_INST] = s[4].c[WG_C_THREAD_INST_ON] = 1073741824;
    s[5] = (struct wg_site){.kind = WG_SITE_BRANCH, .opcode = "bra"};
    s[5].c[WG_C_INST] = 4, s[5].c[WG_C_BRANCH_UNIFORM] = 3, s[5].c[WG_C_BRANCH_DIVERGENT] = 1;
    return (struct wg_launch_result){
        .device = "H200", .grid = {32, 32, 1}, .block = {32, 32, 1}, .sites = tiled, .nsites = 6};
}

static void counters_come_under_the_profilers_names(void **state)
{
    (void)state;
    struct wg_launch_result l = tiled_launch();
    static const struct { const char *name; double want; } told[] = {
        {"smsp__inst_executed_op_global_ld.sum", 2097152},
        {"smsp__inst_executed_op_global_st.sum", 32000},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 2048000},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 8000000},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 32000},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 125000},
        {"memory_l1_tag_requests_global", 3591250},
        {"memory_l2_theoretical_sectors_global", 8125000},
        {"memory_l2_theoretical_sectors_global_ideal", 8125000},
        {"derived__memory_l2_theoretical_sectors_global_excessive", 0},
        {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 1073741824},
        {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 0},
        {"memory_l1_wavefronts_shared", 2097152},
        {"derived__memory_l1_conflicts_shared_nway", 2},
        {"smsp__sass_branch_targets_threads_divergent.sum", 1},
        {"smsp__sass_average_branch_targets_threads_uniform.pct", 75},
        {"launch__thread_count", 1048576},
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        double got = value(told[i].name, &l);
        if (got != told[i].want)
            fail_msg("%s: %g, told %g", told[i].name, got, told[i].want);
    }
    assert_true(fabs(value("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", &l) - 3.90625) <
                1e-12);
}

static void what_is_not_known_has_no_value(void **state)
{
    (void)state;
    struct wg_launch_result l = tiled_launch();
    assert_true(isnan(value("gpu__time_duration.sum", &l)));
    assert_true(isnan(value("launch__occupancy_limit_registers", &l))); /* no registers given */
    assert_true(value("launch__occupancy_limit_warps", &l) == 2);
    l.registers = 32;
    assert_true(value("launch__occupancy_limit_registers", &l) == 2);
    assert_int_equal(wg_metric_fidelity(WG_M_LIMIT_REGISTERS, &l), WG_FIDELITY_ESTIMATED);
    l.registers_exact = true;
    assert_int_equal(wg_metric_fidelity(WG_M_LIMIT_REGISTERS, &l), WG_FIDELITY_EXACT);
    l.device = "a card of my own";
    assert_true(isnan(value("launch__occupancy_limit_warps", &l)));
    assert_true(value("launch__block_size", &l) == 1024);
    l.nsites = 0;
    assert_true(isnan(value("smsp__thread_inst_executed_per_inst_executed.ratio", &l))); /* 0 / 0 */
    assert_true(value("smsp__inst_executed.sum", &l) == 0);
    const struct wg_site *sites[1] = {&tiled[0]};
    struct wg_metric_of line = {.launch = &l, .sites = sites, .nsites = 1, .line = true};
    double v;
    assert_false(wg_metric_value(WG_M_GRID_SIZE, &line, &v)); /* no line has a grid */
    assert_true(wg_metric_value(WG_M_L2_SECTORS, &line, &v) && v == 4000000);
}

static void what_stands_beside_a_sum(void **state)
{
    (void)state;
    struct wg_launch_result l = tiled_launch();
    const struct wg_site *sites[6];
    for (unsigned i = 0; i < 6; i++)
        sites[i] = &tiled[i];
    struct wg_metric_of of = {.launch = &l, .sites = sites, .nsites = 6};
    struct wg_metric_ref r;
    char buf[WG_METRIC_NAME_BYTES];
    double v;
    static const struct { const char *name; double want; } told[] = { /* an H200 has 132 SMs of 4 schedulers */
        {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.avg", 2048000.0 / 132},
        {"smsp__sass_branch_targets_threads_divergent.avg", 1.0 / 528},
        {"smsp__inst_executed_op_global_st.sum", 32000},
    };
    for (unsigned i = 0; i < 3; i++) {
        assert_true(wg_metric_parse(told[i].name, &r));
        assert_string_equal(wg_metric_ref_name(r, buf), told[i].name);
        assert_null(wg_metric_ref_why(r));
        assert_true(wg_metric_ref_value(r, &of, &v) && fabs(v - told[i].want) < 1e-9);
    }
    static const char *const known[] = {"smsp__inst_executed.max", "smsp__inst_executed.min", "smsp__inst_executed.sum.per_second",
                                        "smsp__inst_executed.avg.pct_of_peak_sustained_active", "lts__t_sectors.avg.per_second"};
    for (unsigned i = 0; i < 5; i++) {
        assert_true(wg_metric_parse(known[i], &r));
        assert_string_equal(wg_metric_ref_name(r, buf), known[i]);
        assert_non_null(wg_metric_ref_why(r));
        assert_false(wg_metric_ref_value(r, &of, &v));
    }
    static const char *const wrong[] = {"smsp__inst_executed", "smsp__inst_executed.", "smsp__inst_executed.summ",
                                        "smsp__inst_executed.avg.per_hour", "launch__grid_size.avg", "", ".sum"};
    for (unsigned i = 0; i < 7; i++)
        assert_false(wg_metric_parse(wrong[i], &r));
    assert_true(wg_metric_parse("smsp__inst_executed.avg", &r));
    of.line = true;
    assert_false(wg_metric_ref_value(r, &of, &v)); /* lines are not averaged */
    of.line = false;
    l.uncounted = 1u << WG_C_INST; /* an older profile */
    assert_false(wg_metric_ref_value(r, &of, &v));
    assert_int_equal(wg_metric_fidelity(WG_M_WAVEFRONTS, &l), WG_FIDELITY_EXACT);
    l.merged_sites = 1;
    assert_int_equal(wg_metric_fidelity(WG_M_WAVEFRONTS, &l), WG_FIDELITY_MODELLED);
    assert_int_equal(wg_metric_fidelity(WG_M_GRID_SIZE, &l), WG_FIDELITY_EXACT);
}

static void names_are_unique_and_wrong_ones_are_helped(void **state)
{
    (void)state;
    char near[512];
    for (int i = 0; i < WG_METRIC_COUNT; i++) {
        assert_int_equal(wg_metric_find(wg_metric_infos[i].name), i);
        assert_true(*wg_metric_infos[i].text);
    }
    assert_int_equal(wg_metric_find("smsp__inst_executed"), -1);
    wg_metric_nearest("smsp__inst_executd.sum", near, sizeof near);
    assert_non_null(strstr(near, "smsp__inst_executed.sum"));
}

static void text_columns_read_as_on_the_source_page(void **state)
{
    (void)state;
    struct wg_site s[4] = {{.kind = WG_SITE_LOAD, .space = WG_SITE_GLOBAL, .access_bytes = 4},
                           {.kind = WG_SITE_LOAD, .space = WG_SITE_SHARED, .access_bytes = 4},
                           {.kind = WG_SITE_RED, .space = WG_SITE_SHARED, .access_bytes = 4},
                           {.kind = WG_SITE_RED, .space = WG_SITE_GLOBAL, .access_bytes = 4}};
    const struct wg_site *p[4] = {&s[0], &s[1], &s[2], &s[3]};
    char buf[64];
    wg_metric_column(WG_COLUMN_MEMORY_TYPE, p, 4, buf, sizeof buf); /* as the profiler prints a line of s_atom_hist */
    assert_string_equal(buf, "Global(2),Shared(2)");
    wg_metric_column(WG_COLUMN_ACCESS_TYPE, p, 4, buf, sizeof buf);
    assert_string_equal(buf, "Load(2),Atomic");
    wg_metric_column(WG_COLUMN_ACCESS_SIZE, p, 4, buf, sizeof buf);
    assert_string_equal(buf, "32(4)");
    s[1].access_bytes = 16;
    wg_metric_column(WG_COLUMN_ACCESS_SIZE, p, 2, buf, sizeof buf);
    assert_string_equal(buf, "32,128");
    wg_metric_column(WG_COLUMN_MEMORY_TYPE, p, 0, buf, sizeof buf);
    assert_string_equal(buf, "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launch_facts_equal_the_profiler),
        cmocka_unit_test(counters_come_under_the_profilers_names),
        cmocka_unit_test(what_is_not_known_has_no_value),
        cmocka_unit_test(what_stands_beside_a_sum),
        cmocka_unit_test(names_are_unique_and_wrong_ones_are_helped),
        cmocka_unit_test(text_columns_read_as_on_the_source_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
