/* registers.c - reading ptxas's words of several versions, finding it, the answers kept on disk, and a real one if
 * there. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "model/pressure.h"
#include "model/registers.h"

static char scratch[] = "/tmp/wg-registers-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return !mkdtemp(scratch) || setenv("XDG_CACHE_HOME", scratch, 1);
}

static int tear_down(void **state)
{
    (void)state;
    char cmd[64];
    snprintf(cmd, sizeof cmd, "rm -rf %s", scratch);
    return system(cmd);
}

static void words_of_several_versions_are_read(void **state)
{
    (void)state;
    static const char new[] =
        "ptxas info    : 0 bytes gmem\n"
        "ptxas info    : Compiling entry function 'heavy' for 'sm_90'\n"
        "ptxas info    : Function properties for heavy\n"
        "    880 bytes stack frame, 1192 bytes spill stores, 1216 bytes spill loads\n"
        "ptxas info    : Used 32 registers, used 2 barriers, 888 bytes cumulative stack size, 400 bytes smem\n"
        "ptxas info    : Function properties for helper\n"
        "    16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\n"
        "ptxas info    : Compiling entry function '_Z5smallPf' for 'sm_90'\n"
        "ptxas info    : Function properties for _Z5smallPf\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 10 registers, used 1 barriers\n";
    static const char old[] =
        "ptxas info    : 0 bytes gmem, 8 bytes cmem[4]\n"
        "ptxas info    : Compiling entry function 'k' for 'sm_35'\r\n"
        "ptxas info    : Function properties for k\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 21 registers, 2048 bytes smem, 360 bytes cmem[0]\n";
    struct wg_arena a = {0};
    struct wg_ptxas_kernel *k;
    size_t n;
    assert_int_equal(wg_ptxas_parse(new, sizeof new - 1, &a, &k, &n), WG_OK);
    assert_int_equal(n, 2);
    assert_string_equal(k[0].name, "heavy");
    assert_true(k[0].registers == 32 && k[0].barriers == 2 && k[0].spill_stores == 1192 && k[0].spill_loads == 1216);
    assert_true(k[0].stack == 888 && k[0].shared == 400);
    assert_string_equal(k[1].name, "_Z5smallPf");
    assert_true(k[1].registers == 10 && k[1].barriers == 1 && k[1].spill_stores == 0 && k[1].stack == 0 &&
                k[1].shared == 0);
    assert_int_equal(wg_ptxas_parse(old, sizeof old - 1, &a, &k, &n), WG_OK);
    assert_int_equal(n, 1);
    assert_true(k[0].registers == 21 && k[0].shared == 2048);
    for (size_t cut = 0; cut < sizeof new; cut++) /* truncated anywhere: no crash, no kernel invented */
        assert_true(wg_ptxas_parse(new, cut, &a, &k, &n) == WG_OK && n <= 2);
    wg_arena_free(&a);
}

static void write_tool(const char *path, const char *script)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(script, f);
    fclose(f);
    assert_int_equal(chmod(path, 0755), 0);
}

static void it_is_found_and_its_answer_kept(void **state)
{
    (void)state;
    char dir[128], tool[160], path[4096], log[160];
    struct wg_arena a = {0};
    struct wg_diag d = {0};
    const struct wg_ptxas_info *info;
    snprintf(dir, sizeof dir, "%s/bin", scratch);
    mkdir(dir, 0755);
    snprintf(tool, sizeof tool, "%s/ptxas", dir);
    snprintf(log, sizeof log, "%s/log", scratch);
    setenv("WG_TEST_LOG", log, 1);
    write_tool(
        tool,
        "#!/bin/sh\n[ \"$1\" = --version ] && { echo 'release 99.1, V99.1.7'; exit 0; }\n"
        "echo \"$@\" >>\"$WG_TEST_LOG\"\n"
        "grep -q broken \"$3\" && { echo 'ptxas fatal: syntax error' >&2; exit 1; }\n"
        "echo \"ptxas info : Compiling entry function 'k' for 'sm_90'\"; echo 'ptxas info : Used 40 registers' >&2\n");
    char *old = strdup(getenv("PATH"));
    char with[8192];
    snprintf(with, sizeof with, "%s:%s", dir, old);
    setenv("PATH", with, 1);
    assert_int_equal(wg_ptxas_find(path, sizeof path), WG_OK);
    assert_string_equal(path, tool);
    static const char ptx[] = ".version 8.0\n.target sm_90a\n";
    for (int again = 0; again < 2; again++) {
        assert_int_equal(wg_ptxas_info(NULL, ptx, sizeof ptx - 1, 90, &a, &info, &d), WG_OK);
        assert_int_equal(info->n, 1);
        assert_int_equal(wg_ptxas_kernel(info, "k")->registers, 40);
        assert_null(wg_ptxas_kernel(info, "other"));
        assert_string_equal(info->version, "V99.1.7");
        assert_string_equal(info->arch, "sm_90a");
        assert_int_equal(info->cached, again);
    }
    assert_int_equal(wg_ptxas_info(NULL, ptx, sizeof ptx - 1, 100, &a, &info, &d),
                     WG_OK); /* another architecture: asked again */
    assert_false(info->cached);
    assert_string_equal(info->arch, "sm_100");
    assert_int_equal(wg_ptxas_info(NULL, "broken", 6, 90, &a, &info, &d), WG_PARSE);
    assert_non_null(strstr(d.text, "syntax error"));
    /* a damaged answer is thrown away */
    char cmd[512];
    snprintf(cmd, sizeof cmd, "for f in %s/warpgrind/*; do head -c 30 $f >$f.x; mv $f.x $f; done", scratch);
    assert_int_equal(system(cmd), 0);
    wg_diag_clear(&d);
    assert_int_equal(wg_ptxas_info(NULL, ptx, sizeof ptx - 1, 90, &a, &info, &d), WG_OK);
    assert_false(info->cached);
    setenv("WARPGRIND_PTXAS", "/nowhere/ptxas", 1);
    assert_int_equal(wg_ptxas_info(NULL, ptx, sizeof ptx - 1, 90, &a, &info, &d), WG_NOT_FOUND);
    unsetenv("WARPGRIND_PTXAS");
    setenv("PATH", old, 1);
    free(old);
    wg_arena_free(&a);
}

static void a_real_one_agrees_with_what_it_says(void **state)
{
    (void)state;
    static const char ptx[] =
        ".version 7.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry tile(.param .u64 p)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<3>;\n.shared .align 4 .b8 s[4096];\n"
        "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\nmov.u32 %r3, s;\nadd.s32 %r2, %r2, %r3;\n"
        "st.shared.u32 [%r2], %r1;\nbar.sync 0;\nld.shared.u32 %r1, [s];\nst.global.u32 [%rd1], %r1;\nret;\n}\n";
    struct wg_arena a = {0};
    struct wg_diag d = {0};
    const struct wg_ptxas_info *info;
    char path[4096];
    if (wg_ptxas_find(path, sizeof path))
        skip(); /* no ptxas on this machine */
    assert_int_equal(wg_ptxas_info(NULL, ptx, sizeof ptx - 1, 80, &a, &info, &d), WG_OK);
    const struct wg_ptxas_kernel *k = wg_ptxas_kernel(info, "tile");
    assert_non_null(k);
    assert_true(k->shared == 4096 && k->barriers == 1 && k->spill_loads == 0 && k->registers >= 4 &&
                k->registers <= 16);
    assert_int_equal(wg_ptxas_info(NULL, ptx, sizeof ptx - 1, 9999, &a, &info, &d), WG_UNSUPPORTED);
    wg_diag_clear(&d);
    assert_int_equal(wg_ptxas_info(NULL, "nonsense", 8, 80, &a, &info, &d), WG_PARSE);
    wg_arena_free(&a);
}

static void a_launch_occupies_at_least_16(void **state)
{
    (void)state;
    assert_int_equal(wg_registers_at_launch(90, 8), 16);
    assert_int_equal(wg_registers_at_launch(90, 22), 22);
    assert_int_equal(wg_registers_at_launch(60, 8), 8);
}

/* Pressure of PTX whose answer can be counted by hand. */
static void pressure_is_what_is_live(void **state)
{
    (void)state;
    static const char ptx[] =
        ".version 7.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p1;\n.reg .b32 %r<5>;\n.reg .b64 %rd<3>;\n"
        "ld.param.u64 %rd1, [p];\n"            /* a parameter: fetched for the sum, no longer */
        "mov.u32 %r1, %tid.x;\n"
        "mul.wide.u32 %rd2, %r1, 4;\n"         /* rd1 2, r1 1, rd2 2: 5, 3 of them to keep */
        "add.s64 %rd2, %rd1, %rd2;\n"
        "LOOP:\nld.global.u32 %r2, [%rd2];\n" /* r1, rd2, r2 */
        "ld.global.u32 %r3, [%rd2+4];\n"       /* r1, rd2, r2, r3: 5 */
        "add.u32 %r4, %r2, %r3;\n"
        "st.global.u32 [%rd2], %r4;\n"
        "add.u32 %r1, %r1, 1;\n"
        "setp.lt.u32 %p1, %r1, 100;\n"         /* a predicate takes no register */
        "@%p1 bra LOOP;\n"
        "ret;\n}\n";
    struct wg_ptx_module *m;
    struct wg_diag d = {0};
    struct wg_pressure p;
    assert_int_equal(wg_ptx_parse(ptx, sizeof ptx - 1, "k.ptx", &m, &d), WG_OK);
    struct wg_function *f = wg_ptx_function(m, "k");
    assert_non_null(f);
    assert_int_equal(wg_pressure(f, 90, &p), WG_OK);
    assert_true(p.plain == 5 && !p.calls);
    assert_int_equal(p.instructions, f->ninstrs);
    struct wg_register_estimate e;
    p.live = p.tight = p.plain = 1000;
    wg_register_estimate(f, &p, 90, &e);
    assert_true(e.low <= e.likely && e.likely <= e.high && e.high == 255);
    f->maxntid[0] = 1024, f->minnctapersm = 2; /* 65,536 / 2,048 */
    wg_register_estimate(f, &p, 90, &e);
    assert_true(e.low == 32 && e.high == 32);
    f->maxnreg = 24;
    wg_register_estimate(f, &p, 90, &e);
    assert_true(e.likely == 24);
    wg_ptx_free(m);
}

/* Kernels of public programs that were not used to fit the constants. */
static void estimates_hold_on_other_kernels(void **state)
{
    (void)state;
    char path[4096], line[256];
    const char *dir = getenv("WG_TEST_DATA");
    snprintf(path, sizeof path, "%s/registers.csv", dir ? dir : "tests/models/data");
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    unsigned held = 0, inside = 0, near = 0;
    while (fgets(line, sizeof line, f)) {
        struct wg_pressure p;
        struct wg_register_estimate e;
        const struct wg_function plain = {0};
        unsigned regs, half, calls;
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%u,%u,%u,%u,%u,%u,%u", &half, &p.live, &p.tight, &p.plain, &calls, &p.instructions,
                                &regs), 7);
        p.calls = calls;
        if (half == 0)
            continue;
        regs = wg_registers_at_launch(90, regs);
        wg_register_estimate(&plain, &p, 90, &e);
        held++;
        inside += e.low <= regs && regs <= e.high;
        near += e.likely * 100 >= regs * 90 && e.likely * 100 <= regs * 110;
    }
    fclose(f);
    assert_true(held >= 50);
    assert_true(inside * 100 >= held * 90); /* low to high holds nine of ten */
    assert_true(near * 100 >= held * 50); /* half of them within 10 % */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_several_versions_are_read),
        cmocka_unit_test(it_is_found_and_its_answer_kept),
        cmocka_unit_test(a_real_one_agrees_with_what_it_says),
        cmocka_unit_test(a_launch_occupies_at_least_16),
        cmocka_unit_test(pressure_is_what_is_live),
        cmocka_unit_test(estimates_hold_on_other_kernels),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
