/* test_args.c - kernel arguments given as text: values, buffers, and everything that must be refused. */
#include "cli/args.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void scalars_have_the_bits_of_their_type(void **state)
{
    (void)state;
    static const struct { const char *spec; size_t bytes; uint64_t bits; } rows[] = {
        {"u32:5", 4, 5}, {"u8:255", 1, 255}, {"s8:-128", 1, 0x80}, {"s8:127", 1, 0x7f}, {"s64:-1", 8, UINT64_MAX},
        {"u64:0xffffffffffffffff", 8, UINT64_MAX}, {"s64:-9223372036854775808", 8, UINT64_C(1) << 63},
        {"f32:1.5", 4, 0x3fc00000}, {"f32:-0", 4, 0x80000000}, {"f32:inf", 4, 0x7f800000}, {"f64:0x1p-3", 8, 0x3fc0000000000000},
        {"b32:0x3f800000", 4, 0x3f800000}, {"u16:+7", 2, 7},
    };
    char err[256];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wg_arg a;
        if (!wg_arg_parse(rows[i].spec, &a, err, sizeof err))
            fail_msg("%s", err);
        uint64_t bits = 0;
        memcpy(&bits, a.data, a.bytes);
        assert_false(a.is_buffer);
        assert_int_equal(a.bytes, rows[i].bytes);
        assert_true(bits == rows[i].bits);
        wg_arg_free(&a);
    }
}

static void buffers_are_filled(void **state)
{
    (void)state;
    struct wg_arg a, b;
    char err[256], path[] = "/tmp/wg_args_XXXXXX", spec[64];
    assert_true(wg_arg_parse("zeros:f64:1000000000", &a, err, sizeof err)); /* nothing is allocated for it */
    assert_true(a.is_buffer && !a.data);
    assert_int_equal(a.bytes, 8000000000);
    assert_true(wg_arg_parse("iota:u16:3", &a, err, sizeof err));
    assert_memory_equal(a.data, ((uint16_t[]){0, 1, 2}), 6);
    wg_arg_free(&a);
    assert_true(wg_arg_parse("iota:f32:3", &a, err, sizeof err));
    assert_memory_equal(a.data, ((float[]){0, 1, 2}), 12);
    wg_arg_free(&a);
    assert_true(wg_arg_parse("fill:s32:2:-7", &a, err, sizeof err));
    assert_memory_equal(a.data, ((int32_t[]){-7, -7}), 8);
    wg_arg_free(&a);
    assert_true(wg_arg_parse("bytes:00fF10", &a, err, sizeof err));
    assert_memory_equal(a.data, "\x00\xff\x10", 3);
    wg_arg_free(&a);
    assert_true(wg_arg_parse("random:f32:1000", &a, err, sizeof err));
    assert_true(wg_arg_parse("random:f32:1000:2", &b, err, sizeof err));
    assert_memory_not_equal(a.data, b.data, 4000); /* another seed, other values */
    double sum = 0;
    for (int i = 0; i < 1000; i++) {
        float f;
        memcpy(&f, a.data + 4 * i, 4);
        assert_true(f >= 0 && f < 1);
        sum += (double)f;
    }
    assert_true(sum > 450 && sum < 550); /* five standard deviations are 46 */
    wg_arg_free(&a);
    wg_arg_free(&b);
    assert_true(wg_arg_parse("random:u32:1000:1:7", &a, err, sizeof err));
    for (int i = 0; i < 1000; i++) {
        uint32_t u;
        memcpy(&u, a.data + 4 * i, 4);
        assert_true(u < 7);
    }
    wg_arg_free(&a);
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "abcdefgh", 8), 8);
    close(fd);
    snprintf(spec, sizeof spec, "file:u32:%s", path);
    assert_true(wg_arg_parse(spec, &a, err, sizeof err));
    assert_int_equal(a.bytes, 8);
    assert_memory_equal(a.data, "abcdefgh", 8);
    wg_arg_free(&a);
    assert_int_equal(truncate(path, 6), 0);
    assert_false(wg_arg_parse(spec, &a, err, sizeof err));
    assert_non_null(strstr(err, "6 bytes"));
    unlink(path);
    assert_false(wg_arg_parse(spec, &a, err, sizeof err));
    assert_non_null(strstr(err, "No such file"));
}

static void what_is_wrong_is_refused_by_name(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "", ":", "u32", "u32:", "u32:-1", "u32:4294967296", "s8:128", "s8:-129", "u32:1x", "u32:1.5", "u32: 1", "f32:abc",
        "f32:1e39", "f64:1e999", "f32:1.5f", "u7:1", "zeros", "zeros:f32", "zeros:f32:0", "zeros:f32:-4", "zeros:f32:4:4",
        "zeros:q:4", "zeros:f64:999999999999999", "fill:f32:4", "fill:f32:4:x", "random:f32:4:1:2", "random:u32:4:x",
        "random:u32:4:1:0", "random:u32:4:1:2:3", "bytes:", "bytes:0", "bytes:zz", "file:f32:", "pi:f32:3", "u64:18446744073709551616",
    };
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct wg_arg a;
        char err[256] = "";
        if (wg_arg_parse(specs[i], &a, err, sizeof err))
            fail_msg("\"%s\" was taken", specs[i]);
        assert_non_null(strstr(err, specs[i]));
        assert_null(a.data);
    }
}

static void values_print_so_that_they_read_back(void **state)
{
    (void)state;
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    wg_arg_print(f, WG_ARG_S8, "\xff\x01", 2);
    wg_arg_print(f, WG_ARG_B16, "\x34\x12", 2);
    wg_arg_print(f, WG_ARG_F32, &(float){0.1f}, 4);
    wg_arg_print(f, WG_ARG_U64, &(uint64_t){UINT64_MAX}, 8);
    fclose(f);
    assert_string_equal(text, "-1\n1\n0x1234\n0.100000001\n18446744073709551615\n");
    free(text);
}

static void dimensions(void **state)
{
    (void)state;
    unsigned d[3];
    assert_true(wg_arg_dims("64", d) && d[0] == 64 && d[1] == 1 && d[2] == 1);
    assert_true(wg_arg_dims("64x2x3", d) && d[0] == 64 && d[1] == 2 && d[2] == 3);
    assert_true(wg_arg_dims("16,16", d) && d[1] == 16);
    static const char *const bad[] = {"", "0", "x", "4x", "4x0", "-4", "1x2x3x4", "4294967296", "4 x 4", "4.5"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(wg_arg_dims(bad[i], d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_have_the_bits_of_their_type), cmocka_unit_test(buffers_are_filled),
        cmocka_unit_test(what_is_wrong_is_refused_by_name),    cmocka_unit_test(values_print_so_that_they_read_back),
        cmocka_unit_test(dimensions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
