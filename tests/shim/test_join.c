/* test_join.c - several PTX units become one: what is dropped, renamed, moved and refused. */
#include "api.h"
#include "shim/join.h"

static const char first[] = "//\n.version 8.0\n.target sm_80\n.address_size 64\n\t.file\t1 \"a.cu\"\n"
    ".extern .func (.param .b32 r) helper (.param .b32 x);\n.extern .global .align 4 .u32 shared_var;\n"
    ".global .align 8 .u64 list[2] = {generic(shared_var), 0};\n.global .u64 one = shared_var;\n"
    ".global .align 1 .b8 $str[3] = {72, 105, 0};\n.weak .func tmpl() { ret; }\n"
    ".visible .entry k()\n{\n\t.loc 1 10 3\n\tmov.u64 %rd1, $str;\n\tcall (r), helper, (x);\n\tret; // $str\n}\n";
static const char second[] = ".version 8.3\n.target sm_80\n.address_size 64\n.file 1 \"b;{.cu\"\n.file 2 \"c.cu\"\n"
                             ".visible .global .align 4 .u32 shared_var = 5;\n.global .align 1 .b8 $str[2] = {65, 0};\n"
                             ".weak .func tmpl() { ret; }\n.func inner() { ret; }\n"
                             ".visible .func (.param .b32 r) helper (.param .b32 x)\n{\n\t.loc\t2 7 1, function_name "
                             "$L__info, inlined_at 1 5 1\n"
                             "\tmov.u64 %rd1, $str;\n\tcall inner;\n\tret;\n}\n\t.section .debug_str\n{\n.b8 1\n}\n";

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;
    for (const char *p = text; (p = strstr(p, what)); p++)
        n++;
    return n;
}

static void units_become_one(void **state)
{
    (void)state;
    char *out, err[200];
    const struct wg_join_unit u[2] = {{first, sizeof first - 1}, {second, sizeof second - 1}};
    assert_int_equal(wg_join(u, 2, &out, err, sizeof err), WG_OK);
    assert_int_equal(count(out, ".version 8.3"), 1);
    assert_int_equal(count(out, ".version"), 1);
    assert_int_equal(count(out, ".extern"), 0);       /* both are defined by the other unit */
    assert_int_equal(count(out, ".b8 $str[3]"), 1);   /* names without linkage are kept apart */
    assert_int_equal(count(out, ".b8 $str__unit1[2]"), 1);
    assert_int_equal(count(out, "mov.u64 %rd1, $str__unit1;"), 1);
    assert_int_equal(count(out, "mov.u64 %rd1, $str;"), 1);
    assert_int_equal(count(out, "call inner;"), 1); /* no other unit has one: the host may ask for it by name */
    assert_int_equal(count(out, ".weak .func tmpl() { ret; }"), 1);
    assert_int_equal(count(out, "2 \"b;{.cu\""), 1);  /* files are numbered on */
    assert_int_equal(count(out, "3 \"c.cu\""), 1);
    assert_int_equal(count(out, ".loc\t3 7 1, function_name $L__info, inlined_at 2 5 1"), 1);
    assert_int_equal(count(out, ".loc 1 10 3"), 1);
    assert_int_equal(count(out, ".section"), 0);
    assert_true(strstr(out, "helper (.param .b32 x)") < strstr(out, "call (r), helper")); /* known before it is used */
    assert_true(strstr(out, "shared_var") < strstr(out, ".entry k()"));
    assert_true(strstr(out, "shared_var = 5") < strstr(out, "list[2]"));
    assert_true(strstr(out, "shared_var = 5") < strstr(out, "one = shared_var"));
    free(out);
}

static void statics_that_the_host_reads_are_found(void **state)
{
    (void)state;
    static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n.extern .global .u32 mine;\n"
                               ".visible .global .u32 mine__static__12ab = 7;\n"
                               ".visible .entry k() { ld.global.u32 %r1, [mine]; ret; }\n";
    char *out, err[200];
    const struct wg_join_unit u[2] = {{first, sizeof first - 1}, {text, sizeof text - 1}};
    struct wg_join_unit only[2] = {u[1], {".version 8.0\n", 13}};
    assert_int_equal(wg_join(only, 2, &out, err, sizeof err), WG_OK);
    assert_int_equal(count(out, "[mine__static__12ab]"), 1);
    assert_int_equal(count(out, ".extern"), 0);
    free(out);
    assert_int_equal(wg_join(u, 2, &out, err, sizeof err), WG_INVALID); /* both have a kernel k */
}

static void two_definitions_are_refused_by_name(void **state)
{
    (void)state;
    char *out, err[200];
    const struct wg_join_unit u[2] = {{second, sizeof second - 1}, {second, sizeof second - 1}};
    assert_int_equal(wg_join(u, 2, &out, err, sizeof err), WG_INVALID);
    assert_non_null(strstr(err, "shared_var is defined in two units"));
}

static void broken_units_are_an_error(void **state)
{
    (void)state;
    char err[200];
    for (size_t n = 0; n < sizeof first; n++) { /* cut anywhere: an error or a shorter program, never a crash */
        char *out, *cut = malloc(n + 1);
        memcpy(cut, first, n);
        const struct wg_join_unit u[1] = {{cut, n}};
        const enum wg_status s = wg_join(u, 1, &out, err, sizeof err);
        assert_true(s == WG_OK || s == WG_PARSE);
        free(out);
        free(cut);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_become_one),
        cmocka_unit_test(statics_that_the_host_reads_are_found), cmocka_unit_test(two_definitions_are_refused_by_name),
        cmocka_unit_test(broken_units_are_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
