/* approx_test.c - the approximate PTX instructions against the C library in long double, within the PTX ISA's bounds
 * and nearly correctly rounded; their special values; the 16-bit forms exhaustively. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "exec/approx.h"

static uint64_t seed = 88172645463325252u;
static uint32_t rnd(void)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (uint32_t)(seed >> 16);
}

static double ulps(float got, long double want)
{
    int e;
    frexpl(want, &e);
    e = e < -125 ? -125 : e > 128 ? 128 : e;
    return (double)(fabsl((isinf(got) ? copysignl(0x1p128L, got) : (long double)got) - want) / ldexpl(1, e - 24));
}

static long double t_rcp(long double x)
{
    return 1 / x;
}
static long double t_rsqrt(long double x)
{
    return 1 / sqrtl(x);
}

static void near(const char *name, float x, float got, long double want)
{
    if (isnan(want)                       ? wg_f32_bits(got) != 0x7fffffffu
        : isinf((float)want) || want == 0 ? got != (float)want
                                          : ulps(got, want) > 0.5001)
        fail_msg("%s(%a) = %a, want %La (%g ulp)", name, (double)x, (double)got, want, ulps(got, want));
}

static void f32_results_are_nearly_correctly_rounded(void **state)
{
    (void)state;
    for (int i = 0; i < 200000; i++) {
        uint32_t u = rnd();
        float x = i & 1 ? wg_bits_f32(u) : (float)((int32_t)u * 0x1p-24);
        near("rcp", x, wg_rcp_approx(x), t_rcp(x));
        near("sqrt", x, wg_sqrt_approx(x), sqrtl(x));
        near("rsqrt", x, wg_rsqrt_approx(x), t_rsqrt(x));
        near("ex2", x, wg_ex2_approx(x), exp2l(x));
        near("lg2", x, wg_lg2_approx(x), log2l(x));
        near("tanh", x, wg_tanh_approx(x), tanhl(x));
    }
}

static void sine_and_cosine_are_within_the_bound_on_their_range(void **state)
{
    (void)state;
    for (int i = 0; i < 200000; i++) {
        float x = (float)((int32_t)rnd() * 0x1p-31 * 100 * M_PI); /* PTX: 2^-14.7 here, 2^-20.5 within 2 pi */
        assert_true(fabsl(wg_sin_approx(x) - sinl(x)) <= 0x1p-25 + 0x1p-44);
        assert_true(fabsl(wg_cos_approx(x) - cosl(x)) <= 0x1p-25 + 0x1p-44);
        float any = wg_bits_f32(rnd());
        assert_true(isfinite(any) ? fabsf(wg_sin_approx(any)) <= 1 : isnan(wg_sin_approx(any)));
        assert_true(isfinite(any) ? fabsf(wg_cos_approx(any)) <= 1 : isnan(wg_cos_approx(any)));
    }
}

#define BITS(f, x, want) assert_int_equal(wg_f32_bits(f(x)), wg_f32_bits(want))
static void special_values(void **state)
{
    (void)state;
    const float inf = INFINITY, nan = wg_bits_f32(0x7fffffffu), tiny = 0x1p-149f;
    BITS(wg_rcp_approx, -inf, -0.0f);
    BITS(wg_rcp_approx, -0.0f, -inf);
    BITS(wg_rcp_approx, 0.0f, inf);
    BITS(wg_rcp_approx, inf, 0.0f);
    BITS(wg_rcp_approx, -NAN, nan);
    BITS(wg_sqrt_approx, -inf, nan);
    BITS(wg_sqrt_approx, -1.0f, nan);
    BITS(wg_sqrt_approx, -0.0f, -0.0f);
    BITS(wg_sqrt_approx, inf, inf);
    BITS(wg_rsqrt_approx, -inf, nan);
    BITS(wg_rsqrt_approx, -1.0f, nan);
    BITS(wg_rsqrt_approx, -0.0f, -inf);
    BITS(wg_rsqrt_approx, 0.0f, inf);
    BITS(wg_rsqrt_approx, inf, 0.0f);
    BITS(wg_ex2_approx, -inf, 0.0f);
    BITS(wg_ex2_approx, -0.0f, 1.0f);
    BITS(wg_ex2_approx, tiny, 1.0f);
    BITS(wg_ex2_approx, inf, inf);
    BITS(wg_ex2_approx, 128.0f, inf);
    BITS(wg_ex2_approx, -149.0f, tiny);
    BITS(wg_ex2_approx, NAN, nan);
    for (int i = -126; i < 128; i++)
        BITS(wg_ex2_approx, (float)i, ldexpf(1, i));
    BITS(wg_lg2_approx, -inf, nan);
    BITS(wg_lg2_approx, -1.0f, nan);
    BITS(wg_lg2_approx, -0.0f, -inf);
    BITS(wg_lg2_approx, 0.0f, -inf);
    BITS(wg_lg2_approx, inf, inf);
    BITS(wg_lg2_approx, NAN, nan);
    for (int i = -149; i < 128; i++)
        BITS(wg_lg2_approx, ldexpf(1, i), (float)i);
    BITS(wg_sin_approx, -0.0f, -0.0f);
    BITS(wg_sin_approx, inf, nan);
    BITS(wg_sin_approx, -tiny, -tiny);
    BITS(wg_cos_approx, -0.0f, 1.0f);
    BITS(wg_cos_approx, -inf, nan);
    BITS(wg_tanh_approx, -0.0f, -0.0f);
    BITS(wg_tanh_approx, -inf, -1.0f);
    BITS(wg_tanh_approx, inf, 1.0f);
    BITS(wg_tanh_approx, tiny, tiny);
    BITS(wg_tanh_approx, NAN, nan);
    BITS(wg_ftz_f32, -tiny, -0.0f);
    BITS(wg_ftz_f32, 0x1p-126f, 0x1p-126f);
}

static void divisions(void **state)
{
    (void)state;
    for (int i = 0; i < 200000; i++) {
        float a = wg_bits_f32(rnd()), b = wg_bits_f32(rnd());
        float q = wg_canon_f32(a / b);
        assert_int_equal(wg_f32_bits(wg_div_full(a, b)), wg_f32_bits(q));
        if (fabsf(b) <= 0x1p126f)
            assert_int_equal(wg_f32_bits(wg_div_approx(a, b)), wg_f32_bits(q));
        else if (!isnan(b))
            assert_true(isfinite(a)
                            ? wg_div_approx(a, b) == 0 && !signbit(wg_div_approx(a, b)) == (!signbit(a) == !signbit(b))
                            : isnan(wg_div_approx(a, b)));
    }
}

static void rcp_and_rsqrt_of_the_high_word(void **state)
{
    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t u = (uint64_t)rnd() << 32 | rnd();
        double x = wg_bits_f64(u), hi = wg_bits_f64(u & 0xffffffff00000000u), r = wg_rcp_approx_ftz_f64(x),
               s = wg_rsqrt_approx_ftz_f64(fabs(x));
        if (!isnormal(x))
            continue;
        assert_int_equal(wg_f64_bits(r) & 0xffffffffu, 0);
        assert_int_equal(wg_f64_bits(s) & 0xffffffffu, 0);
        assert_true(isnormal(1 / hi) ? fabs(r * hi - 1) <= 0x1p-20 : r == 0 || fabs(r) == 0x1p-1022);
        assert_true(fabs(s * s * fabs(hi) - 1) <= 0x1p-19);
    }
    assert_true(wg_rcp_approx_ftz_f64(0x1p-1040) == INFINITY && wg_rcp_approx_ftz_f64(-0x1p-1040) == -INFINITY);
    assert_true(wg_rcp_approx_ftz_f64(INFINITY) == 0 && wg_rsqrt_approx_ftz_f64(-0.0) == -INFINITY);
    assert_true(isnan(wg_rsqrt_approx_ftz_f64(-1)) && isnan(wg_rcp_approx_ftz_f64(NAN)));
}

static double half_value(uint16_t h)
{
    int e = h >> 10 & 31;
    double f = (h & 1023) / 1024.0, v = e == 31 ? (f ? NAN : INFINITY) : e ? ldexp(1 + f, e - 15) : ldexp(f, -14);
    return h >> 15 ? -v : v;
}

static void every_half_and_bfloat16(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        double v = half_value((uint16_t)h), b = (double)wg_bits_f32(h << 16), r;
        float f = wg_f16_to_f32((uint16_t)h);
        assert_true(isnan(v) ? isnan(f) : f == (float)v && !signbit(f) == !signbit(v));
        assert_int_equal(wg_f32_to_f16(f), isnan(v) ? 0x7fff : h);
        assert_int_equal(wg_f32_to_bf16(wg_bf16_to_f32((uint16_t)h)), isnan(b) ? 0x7fff : h);
        if (isnan(v)) {
            assert_int_equal(wg_ex2_approx_f16((uint16_t)h), 0x7fff);
            assert_int_equal(wg_tanh_approx_f16((uint16_t)h), 0x7fff);
        } else {
            r = half_value(wg_ex2_approx_f16((uint16_t)h));
            assert_true(exp2(v) >= 65520 ? isinf(r) : fabs(r - exp2(v)) <= exp2(v) * 0x1p-10 + 0x1p-25);
            assert_true(fabs(half_value(wg_tanh_approx_f16((uint16_t)h)) - tanh(v)) <= 0x1p-11);
        }
        if (isnan(b)) {
            assert_int_equal(wg_ex2_approx_ftz_bf16((uint16_t)h), 0x7fff);
            assert_int_equal(wg_tanh_approx_bf16((uint16_t)h), 0x7fff);
        } else {
            r = (double)wg_bf16_to_f32(wg_ex2_approx_ftz_bf16((uint16_t)h));
            assert_true(b > 127.99 ? isinf(r)
                        : b < -126 ? r == 0 || b > -126.5
                                   : fabs(r - exp2(b)) <= exp2(b) * 0x1p-8);
            assert_true(fabs((double)wg_bf16_to_f32(wg_tanh_approx_bf16((uint16_t)h)) - tanh(b)) <= 0x1p-9);
        }
    }
}

static void floats_round_to_half_and_bfloat16_to_nearest_even(void **state)
{
    (void)state;
    for (int i = 0; i < 300000; i++) {
        uint32_t u = rnd();
        u = i % 3 ? (u & 0x8fffffffu) | 0x30000000u : u; /* mostly the halves' range */
        u = i % 5 ? u : u & 0xfffff000u;                 /* ties */
        float x = wg_bits_f32(u);
        if (isnan(x))
            continue;
        uint16_t h = wg_f32_to_f16(x), b = wg_f32_to_bf16(x);
        double v = fabs((double)x), q = ldexp(1, v < 0x1p-14 ? -24 : ilogb(v) - 10), want = nearbyint(v / q) * q;
        assert_true(half_value(h & 0x7fff) == (want >= 65536 ? INFINITY : want) && h >> 15 == u >> 31);
        q = ldexp(1, v < 0x1p-126 ? -133 : ilogb(v) - 7);
        want = isinf(x) ? INFINITY : nearbyint(v / q) * q;
        assert_true((double)wg_bits_f32((uint32_t)(b & 0x7fff) << 16) == (want >= 0x1p128 ? INFINITY : want));
        assert_int_equal(b >> 15, u >> 31);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f32_results_are_nearly_correctly_rounded),
        cmocka_unit_test(sine_and_cosine_are_within_the_bound_on_their_range),
        cmocka_unit_test(special_values),
        cmocka_unit_test(divisions),
        cmocka_unit_test(rcp_and_rsqrt_of_the_high_word),
        cmocka_unit_test(every_half_and_bfloat16),
        cmocka_unit_test(floats_round_to_half_and_bfloat16_to_nearest_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
