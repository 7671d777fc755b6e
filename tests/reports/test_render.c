/* test_render.c - whatever profile can be read can be shown: mutated files, every style, failing allocations. */
#include "base/arena.h"
#include "report/advice.h"
#include "report/html.h"
#include "report/ncu.h"
#include "report/report.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *sample;

static struct wg_profile *mutated(const char *text, size_t n, unsigned k, const char *path)
{
    char *s = malloc(n + 1);
    memcpy(s, text, n);
    uint64_t x = 0x9e3779b97f4a7c15u * (k + 1);
    for (unsigned i = 0; i < k % 5; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        size_t at = x % n;
        /* Digits become other digits: such files still load, and their numbers mean nothing. */
        if (s[at] >= '0' && s[at] <= '9')
            s[at] = (char)('0' + (x >> 40) % 10);
        else if (k % 7 == 0)
            s[at] = "xyz,\"0-"[(x >> 40) % 7];
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(s, 1, n, f), n);
    fclose(f);
    free(s);
    char err[256];
    struct wg_profile *p;
    return wg_profile_read(path, &p, err, sizeof err) == WG_OK ? p : NULL;
}

/* Every page in Nsight Compute's form takes its turn. Its choice of metrics is everything. */
static const struct wg_ncu_style *page(unsigned k, struct wg_ncu_style *style, const struct wg_selection *all)
{
    *style = (struct wg_ncu_style){.page = (enum wg_ncu_page)(k % WG_NCU_PAGES), .csv = k & 1, .base_units = k & 2,
                                   .label = (enum wg_ncu_label)(k % WG_NCU_LABELS), .has_label = k & 4,
                                   .kernel = (enum wg_ncu_base)(k % WG_NCU_BASES), .selection = k & 8 ? all : NULL};
    return style;
}

static enum wg_status choose(struct wg_arena *a, struct wg_selection *s)
{
    static const char *const metrics[] = {"regex:."}, *const sets[] = {"full"};
    struct wg_diag d = {0};
    const struct wg_select_request rq = {.nmetrics = 1, .metrics = metrics, .nsets = 1, .sets = sets};
    return wg_select(&rq, a, s, &d);
}

/* The page for a browser, of launches that models described in any way. */
static enum wg_status browsed(struct wg_profile *p, unsigned k, FILE *out)
{
    struct wg_arena a = {0};
    struct wg_view v;
    for (size_t i = 0; i < p->nlaunches; i++) {
        p->launches[i].has_model = k & 1;
        for (unsigned m = 0; m < WG_MODELLED_COUNT; m++)
            p->launches[i].modelled[m] = (k >> m % 7 & 1) * (k % 3 ? 0.7 : 1e15) * m;
    }
    enum wg_status s = wg_view_open(p, true, &a, &v);
    if (s == WG_OK)
        s = wg_html_page(&v, NULL, out);
    if (s == WG_OK)
        s = wg_advise(&v, out);
    wg_arena_free(&a);
    return s;
}

static void everything_that_loads_can_be_shown(void **state)
{
    (void)state;
    char path[] = "/tmp/wg_render_XXXXXX", *text = NULL;
    close(mkstemp(path));
    FILE *f = fopen(sample, "r");
    assert_non_null(f);
    size_t cap = 0;
    ssize_t n = getdelim(&text, &cap, 0, f);
    fclose(f);
    assert_true(n > 0);
    /* Without the totals a changed number is no contradiction. */
    char *total = strstr(text, "\"total\"");
    assert_non_null(total);
    memcpy(total, "\"t_tal\"", 7);
    unsigned shown = 0;
    struct wg_arena a = {0};
    struct wg_selection all;
    struct wg_ncu_style ncu;
    assert_int_equal(choose(&a, &all), WG_OK);
    for (unsigned k = 0; k < 1500; k++) {
        struct wg_profile *p = mutated(text, (size_t)n, k, path);
        if (!p)
            continue;
        char *out = NULL;
        size_t len;
        FILE *o = open_memstream(&out, &len);
        const struct wg_text_style style = {.width = k % 300, .color = k & 1, .verbose = k & 2};
        assert_int_equal(wg_report_text(p, &style, o), WG_OK);
        fclose(o);
        assert_true(len > 100);
        free(out);
        o = open_memstream(&out, &len);
        assert_int_equal(wg_report_ncu(p, page(k / 7, &ncu, &all), o), WG_OK);
        fclose(o);
        assert_true(len > 40);
        free(out);
        if (k % 4 == 0) {
            o = open_memstream(&out, &len);
            assert_int_equal(browsed(p, k / 4, o), WG_OK);
            fclose(o);
            assert_true(len > 1000);
            free(out);
        }
        wg_profile_free(p);
        shown++;
    }
    assert_true(shown > 300);
    wg_arena_free(&a);
    unlink(path);
    free(text);
}

static void memory_that_runs_out_is_a_status(void **state)
{
    (void)state;
    struct wg_profile *p;
    char err[256];
    assert_int_equal(wg_profile_read(sample, &p, err, sizeof err), WG_OK);
    FILE *null = fopen("/dev/null", "w");
    bool done = false;
    for (long n = 1; !done && n < 200; n++) {
        const struct wg_text_style style = {0};
        wg_alloc_fail_after(n);
        enum wg_status s = wg_report_text(p, &style, null);
        wg_alloc_fail_after(0);
        assert_true(s == WG_OK || s == WG_NO_MEMORY);
        done = s == WG_OK;
    }
    assert_true(done);
    done = false;
    for (long n = 1; !done && n < 400; n++) {
        wg_alloc_fail_after(n);
        enum wg_status s = browsed(p, 1, null);
        wg_alloc_fail_after(0);
        assert_true(s == WG_OK || s == WG_NO_MEMORY);
        done = s == WG_OK;
    }
    assert_true(done);
    for (unsigned k = 0; k < 12; k++) {
        done = false;
        for (long n = 1; !done && n < 400; n++) {
            struct wg_arena a = {0};
            struct wg_selection all = {0};
            struct wg_ncu_style ncu;
            wg_alloc_fail_after(n);
            enum wg_status s = k & 8 ? choose(&a, &all) : WG_OK;
            if (s == WG_OK)
                s = wg_report_ncu(p, page(k, &ncu, &all), null);
            wg_alloc_fail_after(0);
            assert_true(s == WG_OK || s == WG_NO_MEMORY);
            done = s == WG_OK;
            wg_arena_free(&a);
        }
        assert_true(done);
    }
    fclose(null);
    FILE *full = fopen("/dev/full", "w");
    setvbuf(full, NULL, _IONBF, 0);
    const struct wg_text_style style = {0};
    assert_int_equal(wg_report_text(p, &style, full), WG_IO);
    fclose(full);
    wg_profile_free(p);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    sample = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_that_loads_can_be_shown),
        cmocka_unit_test(memory_that_runs_out_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
