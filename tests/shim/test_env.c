/* test_env.c - the options that travel in WARPGRIND_OPTIONS. */
#include "api.h"
#include "shim/env.h"

static void what_is_written_reads_back(void **state)
{
    (void)state;
    struct wg_env e = {.profile = "/tmp/a b=c\n.wgprof", .device = "H200", .jobs = 3, .seed = 18446744073709551615u,
                       .schedule = "random", .tools = "memcheck,racecheck", .no_counters = true},
                  r;
    char err[200] = "";
    char *text = wg_env_write(&e);
    assert_non_null(text);
    assert_int_equal(wg_env_read(text, &r, err, sizeof err), WG_OK);
    assert_string_equal(r.profile, e.profile);
    assert_string_equal(r.device, "H200");
    assert_int_equal(r.jobs, 3);
    assert_int_equal(r.seed, e.seed);
    assert_true(r.no_counters);
    assert_false(r.as_written);
    struct wg_options o;
    assert_int_equal(wg_env_options(&r, &o, err, sizeof err), WG_OK);
    assert_int_equal(o.tools, WG_TOOL_MEMCHECK | WG_TOOL_RACECHECK);
    assert_int_equal(o.schedule, WG_SCHEDULE_RANDOM);
    assert_int_equal(o.size, sizeof o);
    wg_env_free(&r);
    free(text);
}

static void nothing_means_defaults(void **state)
{
    (void)state;
    struct wg_env e;
    char err[200];
    assert_int_equal(wg_env_read(NULL, &e, err, sizeof err), WG_OK);
    assert_null(e.profile);
    assert_int_equal(wg_env_read("", &e, err, sizeof err), WG_OK);
    assert_int_equal(e.jobs, 0);
    wg_env_free(&e);
}

static void nonsense_is_an_error_and_named(void **state)
{
    (void)state;
    static const char *const bad[] = {"color=1", "jobs=two", "jobs=", "jobs", "no_counters=yes", "jobs=-1",
                                      "seed=99999999999999999999", "profile"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct wg_env e;
        char err[200] = "";
        assert_int_equal(wg_env_read(bad[i], &e, err, sizeof err), WG_INVALID);
        assert_non_null(strstr(err, bad[i]));
        wg_env_free(&e);
    }
    struct wg_options o;
    char err[200] = "";
    assert_int_equal(wg_env_options(&(struct wg_env){.tools = "memcheck,lint"}, &o, err, sizeof err), WG_INVALID);
    assert_non_null(strstr(err, "lint"));
    assert_int_equal(wg_env_options(&(struct wg_env){.schedule = "odd"}, &o, err, sizeof err), WG_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(nothing_means_defaults),
        cmocka_unit_test(nonsense_is_an_error_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
