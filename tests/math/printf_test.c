/* printf_test.c - device printf: against the C library's printf on every combination, and hostile formats. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "exec/printf.h"

/* device strings live at small addresses: the index into this, plus 1 */
static const char heap[] =
    "hello\0\0a much longer string: 0123456789012345678901234567890123456789012345678901234567890123"
    "4567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
    "4567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789";
static size_t read_heap(void *owner, uint64_t addr, char *out, size_t cap)
{
    (void)owner;
    if (addr - 1 >= sizeof heap)
        return SIZE_MAX;
    size_t n = strnlen(heap + addr - 1, cap - 1);
    memcpy(out, heap + addr - 1, n);
    out[n] = 0;
    return n;
}

struct pack {
    uint8_t bytes[512];
    size_t n;
};
static void add(struct pack *p, const void *v, size_t size)
{
    p->n = (p->n + size - 1) / size * size;
    memcpy(p->bytes + p->n, v, size);
    p->n += size;
}
static void add_int(struct pack *p, int v)
{
    add(p, &v, 4);
}
static void add_long(struct pack *p, long long v)
{
    add(p, &v, 8);
}
static void add_double(struct pack *p, double v)
{
    add(p, &v, 8);
}

static size_t run(char *out, size_t cap, const char *fmt, const struct pack *p, int *count)
{
    return wg_printf_format(out, cap, fmt, p->bytes, p->n, read_heap, NULL, count);
}

static const char *const flag_sets[] = {"", "-", "+", " ", "#", "0", "-0", "+0", " 0", "#0", "-#", "+ ", "-+ #0"};
static const char *const widths[] = {"", "1", "5", "12", "40"};
static const char *const precisions[] = {"", ".", ".0", ".1", ".5", ".17", ".30"};

/* each pair of compared texts is of one conversion with one argument */
static void same(const char *fmt, const struct pack *p, const char *want)
{
    char got[4096];
    int count;
    size_t n = run(got, sizeof got, fmt, p, &count);
    if (strcmp(got, want) || n != strlen(want))
        fail_msg("\"%s\": got \"%s\" (%zu), want \"%s\"", fmt, got, n, want);
    assert_int_equal(count, 1);
    assert_int_equal(wg_printf_arg_bytes(fmt), p->n);
}

#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-truncation"
static void matches_c_for_every_flag_width_and_precision(void **state)
{
    (void)state;
    static const long long ints[] = {
        0, 1, -1, 7, 255, 65536, -128, 2147483647, -2147483648ll, 9223372036854775807ll, -9223372036854775807ll - 1};
    static const double reals[] = {0.0,         -0.0,  1.0,      -1.5,     0.1,       1e-5,
                                   123456789.0, 1e300, 4.9e-324, INFINITY, -INFINITY, NAN};
    char fmt[64], want[4096];
    for (size_t f = 0; f < sizeof flag_sets / sizeof *flag_sets; f++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
            for (size_t p = 0; p < sizeof precisions / sizeof *precisions; p++) {
                static const char *const sizes[] = {"hh", "h", "", "l", "ll", "z"};
                for (const char *c = "diouxX"; *c; c++)
                    for (size_t s = 0; s < 6; s++)
                        for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) {
                            struct pack a = {0};
                            snprintf(fmt, sizeof fmt, "%%%s%s%s%s%c", flag_sets[f], widths[w], precisions[p], sizes[s],
                                     *c);
                            if (s < 3) {
                                add_int(&a, (int)ints[i]);
                                snprintf(want, sizeof want, fmt, (int)ints[i]);
                            } else {
                                add_long(&a, ints[i]);
                                snprintf(want, sizeof want, fmt, ints[i]);
                            }
                            same(fmt, &a, want);
                        }
                for (const char *c = "eEfFgGaA"; *c; c++)
                    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
                        struct pack a = {0};
                        snprintf(fmt, sizeof fmt, "%%%s%s%s%c", flag_sets[f], widths[w], precisions[p], *c);
                        add_double(&a, reals[i]);
                        snprintf(want, sizeof want, fmt, reals[i]);
                        same(fmt, &a, want);
                    }
                struct pack a = {0};
                snprintf(fmt, sizeof fmt, "%%%s%s%ss", flag_sets[f], widths[w], precisions[p]);
                add_long(&a, 1);
                snprintf(want, sizeof want, fmt, "hello");
                same(fmt, &a, want);
            }
}

static void very_long_precisions_match_c(void **state)
{
    (void)state;
    static const char *const formats[] = {"%.2000f", "%.1500e",     "%#.1200g", "%.1200g",
                                          "%.1100a", "%3000.1500E", "%-3000.2f"};
    static const double reals[] = {0.1, 1e300, 4.9e-324, -1.0, INFINITY};
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
        for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
            char want[4096];
            struct pack a = {0};
            add_double(&a, reals[i]);
            snprintf(want, sizeof want, formats[f], reals[i]);
            same(formats[f], &a, want);
        }
}

static void arguments_are_packed_as_a_struct(void **state)
{
    (void)state;
    struct pack a = {0};
    char out[1024], want[1024];
    int count;
    add_int(&a, 'x');
    add_double(&a, 2.5); /* at 8, after 4 bytes of padding */
    add_int(&a, 3);
    add_int(&a, 4);
    add_long(&a, 8);
    add_int(&a, 5);
    const char *fmt = "%c %g %d%%%d [%s] %i\n";
    assert_int_equal(wg_printf_arg_bytes(fmt), a.n);
    run(out, sizeof out, fmt, &a, &count);
    snprintf(want, sizeof want, fmt, 'x', 2.5, 3, 4, heap + 7, 5);
    assert_string_equal(out, want);
    assert_int_equal(count, 6);
}

static void stars_take_arguments(void **state)
{
    (void)state;
    struct pack a = {0};
    char out[64];
    int count;
    add_int(&a, -8);
    add_int(&a, 2);
    add_double(&a, 3.14159);
    add_int(&a, 4);
    add_int(&a, -1);
    add_int(&a, 7);
    run(out, sizeof out, "%*.*f|%*.*d|", &a, &count);
    assert_string_equal(out, "3.14    |   7|");
    assert_int_equal(count, 6);
}

static void what_printf_returns(void **state)
{
    (void)state;
    char out[64];
    int count;
    struct pack none = {0};
    assert_int_equal(run(out, sizeof out, "plain 100%%\n", &none, &count), 11);
    assert_int_equal(count, 0);
    assert_string_equal(out, "plain 100%\n");
    assert_int_equal(run(out, sizeof out, NULL, &none, &count), 0);
    assert_int_equal(count, -1);
    assert_string_equal(out, "");
}

static void missing_arguments_leave_the_conversion(void **state)
{
    (void)state;
    struct pack a = {0};
    char out[64];
    int count;
    add_int(&a, 1);
    run(out, sizeof out, "%d %d %s %*d", &a, &count);
    assert_string_equal(out, "1 %d %s %*d");
    assert_int_equal(count, 1);
}

static void only_32_arguments(void **state)
{
    (void)state;
    struct pack a = {0};
    char fmt[256] = "", out[256];
    int count;
    for (int i = 0; i < 34; i++) {
        add_int(&a, i % 10);
        strcat(fmt, "%d");
    }
    run(out, sizeof out, fmt, &a, &count);
    assert_string_equal(out, "01234567890123456789012345678901%d%d");
    assert_int_equal(count, 32);
}

static void odd_strings_pointers_and_conversions(void **state)
{
    (void)state;
    struct pack a = {0};
    char out[256];
    int count;
    add_long(&a, 0);
    add_long(&a, 0x123456789);
    add_long(&a, 0xdead0000);
    add_long(&a, 0);
    add_long(&a, 99); /* of %n */
    add_int(&a, 42);
    run(out, sizeof out, "%s %p %s %p %n %d %y %", &a, &count);
    assert_string_equal(out, "(null) 0x123456789 (unreadable 0xdead0000) (nil) %n 42 %y %");
    assert_int_equal(count, 6);
    a = (struct pack){0};
    add_int(&a, 0);
    assert_int_equal(run(out, sizeof out, "a%cb", &a, &count), 3);
    assert_memory_equal(out, "a\0b", 4);
}

static void output_is_cut_to_the_buffer(void **state)
{
    (void)state;
    struct pack a = {0};
    char out[8] = "zzzzzzz";
    add_long(&a, 1);
    assert_int_equal(run(out, 4, "[%s]", &a, NULL), 7);
    assert_memory_equal(out, "[he\0zzz", 8);
    assert_int_equal(run(NULL, 0, "[%s]", &a, NULL), 7);
    add_int(&a, 5);
    assert_int_equal(run(out, 8, "%s%999999999999d", &a, NULL), 5 + WG_PRINTF_MAX_WIDTH);
    assert_string_equal(out, "hello  ");
}

static void random_formats_do_not_crash(void **state)
{
    (void)state;
    static const char letters[] = "%%%%%%diouxXcspneEfFgGaA0123456789.*-+ #hlLjztyQ\n\x80\xff'";
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 60000; i++) {
        char fmt[24], out[64];
        struct pack a = {0};
        size_t n = 0;
        for (; n < sizeof fmt - 1; n++) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            fmt[n] = letters[seed % (sizeof letters - 1)];
            if (seed >> 60 == 0)
                break;
        }
        fmt[n] = 0;
        for (size_t k = 0; k < sizeof a.bytes; k++) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            a.bytes[k] = seed % 3 ? (uint8_t)(seed >> 40) : 0;
        }
        a.n = (seed >> 8) % 80;
        int count;
        size_t len = run(out, sizeof out, fmt, &a, &count);
        assert_true(count >= 0 && count <= 24);
        assert_true(len < sizeof out ? out[len] == 0 : out[sizeof out - 1] == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_c_for_every_flag_width_and_precision),
        cmocka_unit_test(very_long_precisions_match_c),
        cmocka_unit_test(arguments_are_packed_as_a_struct),
        cmocka_unit_test(stars_take_arguments),
        cmocka_unit_test(what_printf_returns),
        cmocka_unit_test(missing_arguments_leave_the_conversion),
        cmocka_unit_test(only_32_arguments),
        cmocka_unit_test(odd_strings_pointers_and_conversions),
        cmocka_unit_test(output_is_cut_to_the_buffer),
        cmocka_unit_test(random_formats_do_not_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
