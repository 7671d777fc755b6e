/* machine.c - the estimate of machine instructions against what ptxas made of the same kernels. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
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

/* Where a ptxas is installed: what is read out of its object, and that a damaged object is only refused. */
static void objects_are_read(void **state)
{
    (void)state;
    static char object[1 << 20];
    char tool[4096], command[9000], dir[] = "/tmp/warpgrind-test-XXXXXX", path[64];
    const char *data = getenv("WG_TEST_DATA");
    if (wg_ptxas_find(tool, sizeof tool) != WG_OK || !mkdtemp(dir))
        skip();
    snprintf(path, sizeof path, "%s/o", dir);
    snprintf(command, sizeof command, "'%s' -lineinfo -arch=sm_90 '%s/machine.ptx' -o %s", tool,
             data ? data : "tests/models/data", path);
    int ran = system(command);
    FILE *f = ran ? NULL : fopen(path, "rb");
    size_t n = f ? fread(object, 1, sizeof object, f) : 0, count;
    if (f)
        fclose(f);
    unlink(path);
    rmdir(dir);
    if (!n)
        skip(); /* too old for sm_90 */
    struct wg_arena a = {0};
    struct wg_cubin_code *code;
    assert_int_equal(wg_cubin_read(object, n, 90, &a, &code, &count), WG_OK);
    assert_int_equal(count, KERNELS);
    for (size_t i = 0; i < count; i++) {
        unsigned sum = 0;
        for (size_t k = 0; k < code[i].n; k++)
            sum += code[i].lines[k].instructions;
        assert_in_range(sum, 10, 40); /* another ptxas may differ by a few */
    }
    wg_arena_free(&a);
    unsigned state_of = 1;
    for (int round = 0; round < 2000; round++) {
        char *copy = malloc(n); /* of its exact size, so that a checker sees reads beyond */
        assert_non_null(copy);
        memcpy(copy, object, n);
        size_t len = n;
        for (int k = 0; k < 8; k++) {
            state_of = state_of * 1664525u + 1013904223u;
            copy[(round % 2 ? state_of >> 4 : (state_of >> 4) % 64) % n] = (char)(state_of >> 24);
        }
        if (round % 3 == 0)
            len = (state_of >> 8) % n;
        enum wg_status e = wg_cubin_read(copy, len, 90, &a, &code, &count);
        assert_true(e == WG_OK || e == WG_CORRUPT);
        wg_arena_free(&a);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_ptxas),
        cmocka_unit_test(older_code_reads_constants_in_place),
        cmocka_unit_test(objects_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
