/* ptx_fatbin.c - the container of PTX images: what we write is read back, and damage is refused. */
#include "ptx_util.h"
#include "ptx/fatbin.h"

static void *wrap(const char *text, const char *target, enum wg_fatbin_coding c, size_t *n)
{
    void *p;
    struct wg_diag d = {0};
    if (wg_fatbin_write(text, strlen(text), target, 85, c, &p, n, &d) != WG_OK)
        fail_msg("%s", d.text);
    return p;
}

static void each_coding_gives_the_text_back(void **state)
{
    (void)state;
    for (int c = WG_FATBIN_RAW; c <= WG_FATBIN_ZSTD; c++) {
        struct wg_fatbin_image i;
        struct wg_diag d = {0};
        size_t n, at = 0, len;
        char *text, *p = wrap(PTX_HEAD, "sm_90a", (enum wg_fatbin_coding)c, &n);
        assert_int_equal(wg_fatbin_size(p, n), n);
        assert_int_equal(wg_fatbin_size(p, SIZE_MAX), n);
        assert_int_equal(wg_fatbin_next(p, n, &at, &i, &d), WG_OK);
        assert_int_equal(i.kind, WG_FATBIN_PTX);
        assert_int_equal(i.coding, c);
        assert_int_equal(i.arch, 90);
        assert_int_equal(i.variant, 'a');
        assert_int_equal(i.version, 85);
        assert_int_equal(wg_fatbin_load(&i, &text, &len, &d), WG_OK);
        assert_int_equal(len, strlen(PTX_HEAD));
        assert_string_equal(text, PTX_HEAD);
        assert_int_equal(wg_fatbin_next(p, n, &at, &i, &d), WG_NOT_FOUND);
        free(text);
        free(p);
    }
}

/* One container of several PTX images, made by hand from single ones. */
static uint8_t *join(const char *const *targets, size_t count, size_t *n)
{
    uint8_t *all = calloc(1, 4096);
    assert_non_null(all);
    *n = WG_FATBIN_HEADER;
    for (size_t i = 0; i < count; i++) {
        size_t k;
        uint8_t *one = wrap(targets[i], targets[i], WG_FATBIN_RAW, &k);
        memcpy(all, one, WG_FATBIN_HEADER);
        memcpy(all + *n, one + WG_FATBIN_HEADER, k - WG_FATBIN_HEADER);
        *n += k - WG_FATBIN_HEADER;
        free(one);
    }
    uint64_t body = *n - WG_FATBIN_HEADER;
    memcpy(all + 8, &body, 8);
    return all;
}

static void the_newest_image_that_the_device_can_run_is_chosen(void **state)
{
    (void)state;
    static const char *const targets[] = {"sm_75", "sm_90", "sm_90a", "sm_80", "sm_100f"};
    static const struct { unsigned cc; const char *want; } rows[] = {
        {75, "sm_75"}, {86, "sm_80"}, {89, "sm_80"}, {90, "sm_90a"}, {103, "sm_100f"}, {120, "sm_90"}};
    size_t n;
    uint8_t *p = join(targets, 5, &n);
    struct wg_fatbin_image i;
    struct wg_diag d = {0};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        assert_int_equal(wg_fatbin_choose(p, n, rows[k].cc, &i, &d), WG_OK);
        assert_string_equal(i.data, rows[k].want);
    }
    assert_int_equal(wg_fatbin_choose(p, n, 70, &i, &d), WG_NO_PTX);
    assert_non_null(strstr(d.text, "PTX sm_75, PTX sm_90, PTX sm_90a"));
    free(p);
}

static void machine_code_alone_names_the_option_to_change(void **state)
{
    (void)state;
    size_t n;
    uint8_t *p = wrap("x", "sm_80", WG_FATBIN_RAW, &n);
    struct wg_fatbin_image i;
    struct wg_diag d = {0};
    p[WG_FATBIN_HEADER] = WG_FATBIN_ELF;
    assert_int_equal(wg_fatbin_choose(p, n, 90, &i, &d), WG_NO_PTX);
    assert_non_null(strstr(d.text, "machine code sm_80"));
    assert_non_null(strstr(d.text, "-arch=sm_90"));
    free(p);
}

static void containers_are_found_in_a_section(void **state)
{
    (void)state;
    size_t n;
    uint8_t *p = wrap("x", "sm_80", WG_FATBIN_RAW, &n), *s = calloc(1, 2 * n + 64);
    assert_non_null(s);
    memcpy(s + 16, p, n);
    memcpy(s + 16 + n + 8, p, n);
    size_t total = 2 * n + 24, at = wg_fatbin_find(s, total, 0);
    assert_int_equal(at, 16);
    at = wg_fatbin_find(s, total, at + wg_fatbin_size(s + at, total - at));
    assert_int_equal(at, 24 + n);
    assert_int_equal(wg_fatbin_find(s, total, at + n), total);
    free(p);
    free(s);
}

/* Cut or changed anywhere, a container gives a status, never a crash; run under the address sanitiser. */
static void damage_is_refused(void **state)
{
    (void)state;
    for (int c = WG_FATBIN_RAW; c <= WG_FATBIN_ZSTD; c++) {
        size_t n;
        uint8_t *p = wrap(PTX_HEAD "// a text that is long enough to be worth packing packing packing packing", "sm_80",
                          (enum wg_fatbin_coding)c, &n);
        for (size_t k = 0; k < n; k++)
            for (int bit = -1; bit < 8; bit++) {
                size_t m = bit < 0 ? k : n;
                uint8_t *q = malloc(m ? m : 1);
                assert_non_null(q);
                memcpy(q, p, m);
                if (bit >= 0)
                    q[k] ^= (uint8_t)(1 << bit);
                struct wg_fatbin_image i;
                struct wg_diag d = {0};
                size_t at = 0;
                enum wg_status s = wg_fatbin_next(q, m, &at, &i, &d);
                assert_true(s == WG_OK || s == WG_CORRUPT);
                assert_true(bit >= 0 || s == WG_CORRUPT);
                if (s == WG_OK && i.raw < 1 << 20) {
                    char *text = NULL;
                    size_t len;
                    s = wg_fatbin_load(&i, &text, &len, &d);
                    assert_true((s == WG_OK) == (text != NULL));
                    free(text);
                }
                free(q);
            }
        free(p);
    }
}

static void failing_allocation_is_reported(void **state)
{
    (void)state;
    size_t n, at = 0, len;
    struct wg_diag d = {0};
    struct wg_fatbin_image i;
    char *text;
    void *p = wrap(PTX_HEAD, "sm_80", WG_FATBIN_ZSTD, &n), *q;
    assert_int_equal(wg_fatbin_next(p, n, &at, &i, &d), WG_OK);
    wg_alloc_fail_after(1);
    assert_int_equal(wg_fatbin_load(&i, &text, &len, &d), WG_NO_MEMORY);
    for (long k = 1; k <= 2; k++) {
        wg_diag_clear(&d);
        wg_alloc_fail_after(k);
        assert_int_equal(wg_fatbin_write(PTX_HEAD, 5, "sm_80", 85, WG_FATBIN_RAW, &q, &n, &d), WG_NO_MEMORY);
    }
    wg_alloc_fail_after(0);
    assert_int_equal(wg_fatbin_write(PTX_HEAD, 5, "gfx", 85, WG_FATBIN_RAW, &q, &n, NULL), WG_INVALID);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_coding_gives_the_text_back),
        cmocka_unit_test(the_newest_image_that_the_device_can_run_is_chosen),
        cmocka_unit_test(machine_code_alone_names_the_option_to_change),
        cmocka_unit_test(containers_are_found_in_a_section),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
