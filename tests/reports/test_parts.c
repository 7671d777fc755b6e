/* test_parts.c - the small parts of the pages in Nsight Compute's form: kernel names, units, numbers, expressions. */
#include "report/kernel_name.h"
#include "report/pattern.h"
#include "report/units.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

static void a_kernels_own_name(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"saxpy", "saxpy"},
        {"saxpy(float*, int)", "saxpy"},
        {"void k<int>(int*)", "k"},
        {"void ns::k<(int)3, (bool)1>(float*)", "k"},
        {"(anonymous namespace)::k(int)", "k"},
        {"void a<int>::b<float>::k<c<int>, d>(void (*)(int), c<int>)", "k"},
        {"k(int) [clone .1]", "k"},
        {"void k<&(f(int))>(int)", "k"},
        {"", ""},
        {"(((", "((("},
        {")", ""},
        {">", ""},
    };
    char buf[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(wg_kernel_function(buf, sizeof buf, names[i][0]), names[i][1]);
}

static void kernels_are_labelled_without_result_and_parameters(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"void n::k<4, (B)0>(float*, int)", "n::k<4, (B)0>"}, {"k(int*)", "k"}, {"k", "k"},
                                           {"voided(int)", "voided"}, {"", ""}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n;
        const char *s = wg_kernel_label(names[i][0], &n);
        assert_int_equal(n, strlen(names[i][1]));
        assert_memory_equal(s, names[i][1], n);
    }
}

static void units_grow_by_a_thousand(void **state)
{
    (void)state;
    static const struct {
        const char *unit;
        double most;
        const char *name;
        double factor;
    } told[] = {
        {"byte", 999, "byte", 1},
        {"byte", 1000, "Kbyte", 1e3},
        {"byte", 65536, "Kbyte", 1e3},
        {"byte/block", 4096, "Kbyte/block", 1e3},
        {"byte/s", 3.2e12, "Tbyte/s", 1e12},
        {"byte", 1e30, "Tbyte", 1e12},
        {"ns", 983680, "us", 1e3},
        {"ns", 2.5e9, "s", 1e9},
        {"hz", 1.98e9, "Ghz", 1e9},
        {"byte/sector", 3200, "byte/sector", 1},
        {"inst", 1e9, "inst", 1},
        {"", 5e6, "", 1},
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        struct wg_unit u = wg_unit_for(told[i].unit, told[i].most, false),
                       base = wg_unit_for(told[i].unit, told[i].most, true);
        assert_string_equal(u.name, told[i].name);
        assert_true(u.factor == told[i].factor);
        assert_string_equal(base.name, told[i].unit);
        assert_true(base.factor == 1);
    }
}

static void numbers(void **state)
{
    (void)state;
    char buf[WG_VALUE_TEXT_BYTES];
    assert_string_equal(wg_value_text(buf, 0, true), "0");
    assert_string_equal(wg_value_text(buf, 999, true), "999");
    assert_string_equal(wg_value_text(buf, 1234567, true), "1,234,567");
    assert_string_equal(wg_value_text(buf, 1234567, false), "1234567");
    assert_string_equal(wg_value_text(buf, -1234.5, true), "-1,234.50");
    assert_string_equal(wg_value_text(buf, 0.126, true), "0.13");
    assert_string_equal(wg_value_text(buf, -100, true), "-100");
    assert_true(strlen(wg_value_text(buf, 1e300, true)) < WG_VALUE_TEXT_BYTES);
    assert_true(strlen(wg_value_text(buf, -1e300, true)) < WG_VALUE_TEXT_BYTES);
}

static bool finds(const char *pattern, const char *text)
{
    regex_t re;
    struct wg_diag d = {0};
    assert_int_equal(wg_pattern(pattern, &re, &d), WG_OK);
    bool yes = !regexec(&re, text, 0, NULL, 0);
    regfree(&re);
    return yes;
}

static void expressions(void **state)
{
    (void)state;
    assert_true(finds("mem_(shared|local)", "l1_mem_local_x"));
    assert_true(finds("^k\\d+$", "k12"));
    assert_false(finds("^k\\D+$", "k12"));
    assert_true(finds("^k[a\\d]+$", "ka1"));
    assert_true(finds("(?:a|b)c", "bc"));
    assert_true(finds("a\\(b", "a(b"));
    static const char *const broken[] = {"", "(", "[a", "*{", "a\\"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        regex_t re;
        struct wg_diag d = {0};
        assert_int_equal(wg_pattern(broken[i], &re, &d), WG_INVALID);
        assert_non_null(strstr(d.text, "is no regular expression"));
    }
    char longest[3000];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = 0;
    regex_t re;
    struct wg_diag d = {0};
    assert_int_equal(wg_pattern(longest, &re, &d), WG_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernels_own_name),
        cmocka_unit_test(kernels_are_labelled_without_result_and_parameters),
        cmocka_unit_test(units_grow_by_a_thousand),
        cmocka_unit_test(numbers),
        cmocka_unit_test(expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
