/* machine.c - the estimate of machine instructions against what ptxas made of the same kernels. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "exec/machine.h"

/* Counted in the cubin that ptxas 13.0 made of machine.ptx for sm_90: instructions up to the last exit, and how many of its
 * branches over a block it made into guards. */
static const struct { const char *kernel; unsigned instructions, guards; } truth[] = {
    {"axpy", 19, 0},  {"fold", 23, 0},   {"lanes_8", 18, 1}, {"lanes_12", 25, 0},
    {"warp_6", 17, 1}, {"warp_8", 20, 0}, {"atomic", 14, 0},
};
enum { KERNELS = sizeof truth / sizeof *truth };

static struct wg_ptx_module *load(void)
{
    static char text[1 << 16];
    char path[4096];
    const char *dir = getenv("WG_TEST_DATA");
    snprintf(path, sizeof path, "%s/machine.ptx", dir ? dir : "tests/models/data");
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    struct wg_ptx_module *m;
    struct wg_diag d = {0};
    assert_int_equal(wg_ptx_parse(text, n, path, &m, &d), WG_OK);
    return m;
}

static void estimate(const struct wg_ptx_module *m, const char *kernel, unsigned sm, double *instructions, unsigned *guards)
{
    const struct wg_function *f = wg_ptx_function(m, kernel);
    struct wg_arena a = {0};
    struct wg_cfg g;
    struct wg_classes c;
    const struct wg_merge *merge;
    struct wg_machine machine;
    assert_non_null(f);
    assert_true(wg_cfg_build(f, &a, &g) && wg_classify(f, &g, true, true, &a, &c));
    assert_int_equal(wg_merge_analyse(m, f, &a, &merge), WG_OK);
    assert_true(wg_machine_estimate(f, &g, &c, merge, NULL, sm, &a, &machine));
    *instructions = 0;
    *guards = 0;
    for (uint32_t i = 0; i < f->ninstrs; i++)
        *instructions += machine.hundredths[i] / 100.0;
    for (uint32_t b = 0; b < g.nbb; b++)
        *guards += machine.with[b] >= 0;
    wg_arena_free(&a);
}

static void counts_are_those_of_ptxas(void **state)
{
    (void)state;
    struct wg_ptx_module *m = load();
    for (size_t i = 0; i < KERNELS; i++) {
        double n;
        unsigned guards;
        estimate(m, truth[i].kernel, 90, &n, &guards);
        if (n != truth[i].instructions || guards != truth[i].guards)
            fail_msg("%s: %g instructions, %u guards; ptxas %u and %u", truth[i].kernel, n, guards, truth[i].instructions,
                     truth[i].guards);
    }
    wg_ptx_free(m);
}

/* Before 9.0 parameters and block sizes are operands of other instructions: ptxas made these of the same for sm_80. */
static void older_code_reads_constants_in_place(void **state)
{
    (void)state;
    struct wg_ptx_module *m = load();
    static const struct { const char *kernel; unsigned instructions; } older[] = {
        {"axpy", 15}, {"fold", 24}, {"lanes_8", 18}, {"lanes_12", 25}, {"atomic", 14}};
    for (size_t i = 0; i < sizeof older / sizeof *older; i++) {
        double n;
        unsigned guards;
        estimate(m, older[i].kernel, 80, &n, &guards);
        assert_int_equal((int)n, older[i].instructions);
    }
    wg_ptx_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_ptxas),
        cmocka_unit_test(older_code_reads_constants_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
