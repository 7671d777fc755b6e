/* libdevice_ref.c - what each __nv_* function should return, from MPFR or exact integer arithmetic. */
#include "libdevice_ref.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_BITS 4400 /* holds any sum of a double and a product of two */
#define VALUE_BITS 200

static mpfr_t A, B, C, D, T, U; /* operands and scratch; set up once */

static void setup(void)
{
    static bool done;
    if (done)
        return;
    done = true;
    mpfr_inits2(64, A, B, C, D, (mpfr_ptr)0);
    mpfr_inits2(EXACT_BITS, T, U, (mpfr_ptr)0);
}

static float as_float(uint64_t b)
{
    uint32_t u = (uint32_t)b;
    float f;
    memcpy(&f, &u, 4);
    return f;
}

static double as_double(uint64_t b)
{
    double d;
    memcpy(&d, &b, 8);
    return d;
}

static void load_operand(mpfr_t m, char type, uint64_t bits)
{
    switch (type) {
    case 'f':
        mpfr_set_flt(m, as_float(bits), MPFR_RNDN);
        break;
    case 'd':
        mpfr_set_d(m, as_double(bits), MPFR_RNDN);
        break;
    case 'i':
        mpfr_set_sj(m, (int32_t)bits, MPFR_RNDN);
        break;
    case 'u':
        mpfr_set_uj(m, (uint32_t)bits, MPFR_RNDN);
        break;
    case 'l':
        mpfr_set_sj(m, (int64_t)bits, MPFR_RNDN);
        break;
    case 'm':
        mpfr_set_uj(m, bits, MPFR_RNDN);
        break;
    default:
        mpfr_set_zero(m, 1);
    }
}

/* ---- functions of one real operand ---- */
static void f_rsqrt(mpfr_t r, const mpfr_t x)
{
    mpfr_rec_sqrt(r, x, MPFR_RNDN);
    if (mpfr_zero_p(x) && mpfr_signbit(x)) /* MPFR says +Inf; PTX and IEEE's rSqrt say -Inf */
        mpfr_set_inf(r, -1);
}
static void f_rcbrt(mpfr_t r, const mpfr_t x)
{
    mpfr_cbrt(r, x, MPFR_RNDN);
    mpfr_ui_div(r, 1, r, MPFR_RNDN);
}
static void f_round(mpfr_t r, const mpfr_t x)
{
    mpfr_round(r, x);
}
static void f_ceil(mpfr_t r, const mpfr_t x)
{
    mpfr_ceil(r, x);
}
static void f_floor(mpfr_t r, const mpfr_t x)
{
    mpfr_floor(r, x);
}
static void f_trunc(mpfr_t r, const mpfr_t x)
{
    mpfr_trunc(r, x);
}
static void f_rint(mpfr_t r, const mpfr_t x)
{
    mpfr_rint(r, x, MPFR_RNDN);
}
static void f_sinpi(mpfr_t r, const mpfr_t x)
{
    mpfr_sinpi(r, x, MPFR_RNDN);
    if (mpfr_integer_p(x))
        mpfr_setsign(r, r, mpfr_signbit(x), MPFR_RNDN);
}
static void f_lgamma(mpfr_t r, const mpfr_t x)
{
    int sign;
    mpfr_lgamma(r, &sign, x, MPFR_RNDN);
}
static void f_normcdf(mpfr_t r, const mpfr_t x)
{
    mpfr_t s;
    mpfr_init2(s, mpfr_get_prec(r) + 64);
    mpfr_sqrt_ui(s, 2, MPFR_RNDN);
    mpfr_div(s, x, s, MPFR_RNDN);
    mpfr_neg(s, s, MPFR_RNDN);
    mpfr_erfc(r, s, MPFR_RNDN);
    mpfr_div_2ui(r, r, 1, MPFR_RNDN);
    mpfr_clear(s);
}
static void f_erfcx(mpfr_t r, const mpfr_t x)
{
    if (mpfr_inf_p(x)) {
        mpfr_sgn(x) < 0 ? mpfr_set_inf(r, 1) : mpfr_set_zero(r, 1);
        return;
    }
    mpfr_t s;
    mpfr_init2(s, mpfr_get_prec(r) + 128);
    if (mpfr_cmp_ui(x, 20000) > 0) { /* 1/(x sqrt pi) (1 - 1/2x^2): the next term is below 2^-57 */
        mpfr_const_pi(s, MPFR_RNDN);
        mpfr_sqrt(s, s, MPFR_RNDN);
        mpfr_mul(s, s, x, MPFR_RNDN);
        mpfr_ui_div(r, 1, s, MPFR_RNDN);
        mpfr_mul(s, x, x, MPFR_RNDN);
        mpfr_mul_2ui(s, s, 1, MPFR_RNDN);
        mpfr_ui_div(s, 1, s, MPFR_RNDN);
        mpfr_mul(s, s, r, MPFR_RNDN);
        mpfr_sub(r, r, s, MPFR_RNDN);
    } else {
        mpfr_mul(s, x, x, MPFR_RNDN);
        mpfr_exp(s, s, MPFR_RNDN);
        mpfr_erfc(r, x, MPFR_RNDN);
        mpfr_mul(r, r, s, MPFR_RNDN);
    }
    mpfr_clear(s);
}
/* I_n by its power series, all of whose terms are positive */
static void bessel_i(mpfr_t r, const mpfr_t x, unsigned n)
{
    if (mpfr_nan_p(x) || mpfr_inf_p(x) || mpfr_cmpabs_ui(x, 800) > 0) {
        if (mpfr_nan_p(x))
            mpfr_set_nan(r);
        else
            mpfr_set_inf(r, n ? mpfr_sgn(x) : 1);
        return;
    }
    mpfr_t q, t;
    mpfr_inits2(mpfr_get_prec(r) + 32, q, t, (mpfr_ptr)0);
    mpfr_mul(q, x, x, MPFR_RNDN);
    mpfr_div_2ui(q, q, 2, MPFR_RNDN);
    n ? mpfr_div_2ui(t, x, 1, MPFR_RNDN) : mpfr_set_ui(t, 1, MPFR_RNDN);
    mpfr_set(r, t, MPFR_RNDN);
    for (unsigned long k = 1; k < 3000 && !mpfr_zero_p(t); k++) {
        mpfr_mul(t, t, q, MPFR_RNDN);
        mpfr_div_ui(t, t, k * (k + n), MPFR_RNDN);
        mpfr_add(r, r, t, MPFR_RNDN);
        if (mpfr_zero_p(t) || mpfr_get_exp(t) < mpfr_get_exp(r) - 260)
            break;
    }
    mpfr_clears(q, t, (mpfr_ptr)0);
}
static void f_i0(mpfr_t r, const mpfr_t x)
{
    bessel_i(r, x, 0);
}
static void f_i1(mpfr_t r, const mpfr_t x)
{
    bessel_i(r, x, 1);
}
static void f_erf(mpfr_t r, const mpfr_t x)
{
    mpfr_erf(r, x, MPFR_RNDN);
}
static void f_erfc(mpfr_t r, const mpfr_t x)
{
    mpfr_erfc(r, x, MPFR_RNDN);
}
static void f_rcp64h(mpfr_t r, const mpfr_t x)
{
    mpfr_ui_div(r, 1, x, MPFR_RNDN);
    double d = mpfr_get_d(x, MPFR_RNDN), y = mpfr_get_d(r, MPFR_RNDN);
    if (fpclassify(d) == FP_SUBNORMAL)
        mpfr_set_inf(r, signbit(d) ? -1 : 1);
    if (fpclassify(y) == FP_SUBNORMAL) /* flushed */
        mpfr_set_zero(r, signbit(y) ? -1 : 1);
}
static void f_saturate(mpfr_t r, const mpfr_t x)
{
    mpfr_set(r, x, MPFR_RNDN);
    if (mpfr_nan_p(x) || mpfr_sgn(x) <= 0)
        mpfr_set_zero(r, 1);
    else if (mpfr_cmp_ui(x, 1) > 0)
        mpfr_set_ui(r, 1, MPFR_RNDN);
}
static void f_logb(mpfr_t r, const mpfr_t x)
{
    if (mpfr_zero_p(x))
        mpfr_set_inf(r, -1);
    else if (!mpfr_number_p(x))
        mpfr_abs(r, x, MPFR_RNDN);
    else
        mpfr_set_si(r, mpfr_get_exp(x) - 1, MPFR_RNDN);
}
/* the fast intrinsics whose error grows with their own composition: composed here, each step rounded to float */
static void f_fast_tan(mpfr_t r, const mpfr_t x)
{
    mpfr_t s, c;
    mpfr_inits2(24, s, c, (mpfr_ptr)0);
    mpfr_sin_cos(s, c, x, MPFR_RNDN);
    mpfr_div(r, s, c, MPFR_RNDN);
    mpfr_clears(s, c, (mpfr_ptr)0);
}

#define MPFR1(name, fn)                                                                                                \
    static void f_##name(mpfr_t r, const mpfr_t x)                                                                     \
    {                                                                                                                  \
        fn(r, x, MPFR_RNDN);                                                                                           \
    }
MPFR1(exp, mpfr_exp)
MPFR1(exp2, mpfr_exp2)
MPFR1(exp10, mpfr_exp10)
MPFR1(expm1, mpfr_expm1)
MPFR1(log, mpfr_log)
MPFR1(log2, mpfr_log2)
MPFR1(log10, mpfr_log10)
MPFR1(log1p, mpfr_log1p)
MPFR1(sin, mpfr_sin)
MPFR1(cos, mpfr_cos)
MPFR1(tan, mpfr_tan)
MPFR1(asin, mpfr_asin)
MPFR1(acos, mpfr_acos)
MPFR1(atan, mpfr_atan)
MPFR1(sinh, mpfr_sinh)
MPFR1(cosh, mpfr_cosh)
MPFR1(tanh, mpfr_tanh)
MPFR1(asinh, mpfr_asinh)
MPFR1(acosh, mpfr_acosh)
MPFR1(atanh, mpfr_atanh)
MPFR1(sqrt, mpfr_sqrt)
MPFR1(cbrt, mpfr_cbrt)
MPFR1(cospi, mpfr_cospi)
MPFR1(tgamma, mpfr_gamma)
MPFR1(j0, mpfr_j0)
MPFR1(j1, mpfr_j1)
MPFR1(y0, mpfr_y0)
MPFR1(y1, mpfr_y1)
MPFR1(fabs, mpfr_abs)

static const struct unary {
    const char *name;
    void (*f)(mpfr_t, const mpfr_t);
    unsigned prec;
} unaries[] = {
    {"exp", f_exp, 0},
    {"exp2", f_exp2, 0},
    {"exp10", f_exp10, 0},
    {"expm1", f_expm1, 0},
    {"log", f_log, 0},
    {"log2", f_log2, 0},
    {"log10", f_log10, 0},
    {"log1p", f_log1p, 0},
    {"sin", f_sin, 0},
    {"cos", f_cos, 0},
    {"tan", f_tan, 0},
    {"asin", f_asin, 0},
    {"acos", f_acos, 0},
    {"atan", f_atan, 0},
    {"sinh", f_sinh, 0},
    {"cosh", f_cosh, 0},
    {"tanh", f_tanh, 0},
    {"asinh", f_asinh, 0},
    {"acosh", f_acosh, 0},
    {"atanh", f_atanh, 0},
    {"sqrt", f_sqrt, 0},
    {"rsqrt", f_rsqrt, 0},
    {"cbrt", f_cbrt, 0},
    {"rcbrt", f_rcbrt, 0},
    {"sinpi", f_sinpi, 0},
    {"cospi", f_cospi, 0},
    {"tgamma", f_tgamma, 0},
    {"lgamma", f_lgamma, 0},
    {"j0", f_j0, 0},
    {"j1", f_j1, 0},
    {"y0", f_y0, 0},
    {"y1", f_y1, 0},
    {"cyl_bessel_i0", f_i0, 0},
    {"cyl_bessel_i1", f_i1, 0},
    {"erf", f_erf, 0},
    {"erfc", f_erfc, 0},
    {"erfcx", f_erfcx, 0},
    {"normcdf", f_normcdf, 0},
    {"fabs", f_fabs, 0},
    {"ceil", f_ceil, 0},
    {"floor", f_floor, 0},
    {"trunc", f_trunc, 0},
    {"rint", f_rint, 0},
    {"nearbyint", f_rint, 0},
    {"round", f_round, 0},
    {"logb", f_logb, 0},
    {"saturate", f_saturate, 0},
    {"rcp64h", f_rcp64h, 0},
    {"frsqrt_rn", f_rsqrt, 0},
    {"fast_cos", f_cos, 0},
    {"fast_sin", f_sin, 0},
    {"fast_exp10", f_exp10, 0},
    {"fast_exp", f_exp, 0},
    {"fast_log10", f_log10, 0},
    {"fast_log2", f_log2, 0},
    {"fast_log", f_log, 0},
    {"fast_tan", f_fast_tan, 0},
};

/* name equals base, or base followed by f */
static bool is(const char *name, const char *base)
{
    size_t n = strlen(base);
    return !strncmp(name, base, n) && (!name[n] || (name[n] == 'f' && !name[n + 1]));
}

static bool unary(const char *name, const char *sig, struct expect *e)
{
    for (size_t i = 0; i < sizeof unaries / sizeof *unaries; i++)
        if (is(name, unaries[i].name)) {
            if (mpfr_nan_p(A) && strcmp(name, "saturatef"))
                mpfr_set_nan(e->v);
            else
                unaries[i].f(e->v, A);
            e->kind = EXPECT_VALUE;
            return true;
        }
    (void)sig;
    return false;
}

/* inverses are checked through the function they invert */
static bool inverse(const char *name, struct expect *e)
{
    bool inv = is(name, "erfinv"), cinv = is(name, "erfcinv"), ninv = is(name, "normcdfinv");
    if (!inv && !cinv && !ninv)
        return false;
    mpfr_set(e->v, A, MPFR_RNDN);
    e->f = inv ? f_erf : cinv ? f_erfc : f_normcdf;
    e->rising = !cinv;
    e->kind = EXPECT_INVERSE;
    long lo = inv ? -1 : 0, hi = cinv ? 2 : 1;
    bool out = mpfr_nan_p(A) || mpfr_cmp_si(A, lo) < 0 || mpfr_cmp_si(A, hi) > 0;
    if (out || !mpfr_cmp_si(A, lo) || !mpfr_cmp_si(A, hi)) {
        e->kind = EXPECT_VALUE;
        out ? mpfr_set_nan(e->v) : mpfr_set_inf(e->v, (mpfr_cmp_si(A, lo) == 0) == cinv ? 1 : -1);
    } else if (inv && mpfr_zero_p(A)) {
        e->kind = EXPECT_VALUE;
    }
    return true;
}

/* ---- lengths ---- */
static void length(mpfr_t r, mpfr_t *v, int n, bool reciprocal)
{
    bool inf = false;
    mpfr_set_zero(T, 1);
    for (int i = 0; i < n; i++) {
        inf |= mpfr_inf_p(v[i]);
        mpfr_sqr(U, v[i], MPFR_RNDN);
        mpfr_add(T, T, U, MPFR_RNDN);
    }
    if (inf)
        mpfr_set_inf(T, 1);
    mpfr_sqrt(r, T, MPFR_RNDN);
    if (reciprocal)
        mpfr_ui_div(r, 1, r, MPFR_RNDN);
}

/* ---- functions of two and more real operands ---- */
static void nextafter_ref(mpfr_t r, bool single)
{
    double a = mpfr_get_d(A, MPFR_RNDN), b = mpfr_get_d(B, MPFR_RNDN);
    if (a == b || a != a || b != b) {
        mpfr_set(r, b != b ? B : a != a ? A : B, MPFR_RNDN);
        return;
    }
    /* an ulp downwards is half as far below a power of two: go by the spacing on the side of travel */
    int p = single ? 24 : 53, emin = single ? -148 : -1073, e;
    if (mpfr_inf_p(A)) {
        mpfr_set_ui_2exp(r, 1, single ? 128 : 1024, MPFR_RNDN);
        mpfr_set_ui_2exp(T, 1, single ? 104 : 971, MPFR_RNDN);
        mpfr_sub(r, r, T, MPFR_RNDN);
        mpfr_setsign(r, r, a < 0, MPFR_RNDN);
        return;
    }
    mpfr_set_prec(T, EXACT_BITS);
    bool inward = a != 0 && ((a > 0) != (b > a));
    e = a == 0 ? -2000 : (int)mpfr_get_exp(A);
    mpfr_set_ui_2exp(U, 1, e - 1, MPFR_RNDN);
    if (inward && !mpfr_cmpabs(A, U))
        e--;
    int exp = e - p > emin - 1 ? e - p : emin - 1;
    mpfr_set_si_2exp(T, b > a ? 1 : -1, exp, MPFR_RNDN);
    mpfr_add(r, A, T, MPFR_RNDN);
    if (mpfr_zero_p(r))
        mpfr_setsign(r, r, a < 0, MPFR_RNDN);
}

static bool several(const char *name, const char *sig, struct expect *e)
{
    mpfr_ptr r = e->v;
    mpfr_t *v = (mpfr_t[4]){{*A}, {*B}, {*C}, {*D}};
    bool single = e->type == 'f' || e->type == 'r';
    e->kind = EXPECT_VALUE;
    if (is(name, "atan2"))
        mpfr_atan2(r, A, B, MPFR_RNDN);
    else if (is(name, "pow") || is(name, "powi"))
        mpfr_pow(r, A, B, MPFR_RNDN);
    else if (is(name, "fmod")) {
        mpfr_fmod(r, A, B, MPFR_RNDN);
    } else if (is(name, "remainder"))
        mpfr_remainder(r, A, B, MPFR_RNDN);
    else if (is(name, "hypot") || is(name, "rhypot"))
        length(r, v, 2, *name == 'r');
    else if (is(name, "norm3d") || is(name, "rnorm3d"))
        length(r, v, 3, *name == 'r');
    else if (is(name, "norm4d") || is(name, "rnorm4d"))
        length(r, v, 4, *name == 'r');
    else if (is(name, "fdim")) {
        if (mpfr_nan_p(A) || mpfr_nan_p(B))
            mpfr_set_nan(r);
        else if (mpfr_lessequal_p(A, B))
            mpfr_set_zero(r, 1);
        else
            mpfr_sub(r, A, B, MPFR_RNDN);
    } else if (is(name, "fmin"))
        mpfr_min(r, A, B, MPFR_RNDN);
    else if (is(name, "fmax"))
        mpfr_max(r, A, B, MPFR_RNDN);
    else if (is(name, "fma"))
        mpfr_fma(r, A, B, C, MPFR_RNDN);
    else if (is(name, "ldexp") || is(name, "scalbn"))
        mpfr_mul_2si(r, A, mpfr_get_si(B, MPFR_RNDN), MPFR_RNDN);
    else if (is(name, "jn") || is(name, "yn")) {
        long n = mpfr_get_si(A, MPFR_RNDN);
        if (n < 0)
            mpfr_set_nan(r);
        else
            (*name == 'j' ? mpfr_jn : mpfr_yn)(r, n, B, MPFR_RNDN);
    } else if (is(name, "nextafter"))
        nextafter_ref(r, single);
    else if (!strcmp(name, "fast_fdividef")) {
        mpfr_div(r, A, B, MPFR_RNDN);
        mpfr_set_ui_2exp(T, 1, 126, MPFR_RNDN);
        if (!mpfr_nan_p(B) && mpfr_cmpabs(B, T) > 0) { /* documented: the reciprocal counts as zero */
            mpfr_set_zero(T, mpfr_signbit(B) ? -1 : 1);
            mpfr_mul(r, A, T, MPFR_RNDN);
        }
    } else if (!strcmp(name, "fast_powf")) {
        /* exp2f(y * __log2f(x)), each step rounded to float */
        float l, y = mpfr_get_flt(B, MPFR_RNDN);
        mpfr_log2(T, A, MPFR_RNDN);
        l = mpfr_get_flt(T, MPFR_RNDN);
        mpfr_set_flt(T, y * l, MPFR_RNDN);
        mpfr_exp2(r, T, MPFR_RNDN);
    } else {
        e->kind = EXPECT_NONE;
        return false;
    }
    (void)sig;
    return true;
}

/* ---- rounding modes ---- */
static mpfr_rnd_t mode_of(const char *suffix)
{
    return !strcmp(suffix, "rn")   ? MPFR_RNDN
           : !strcmp(suffix, "rd") ? MPFR_RNDD
           : !strcmp(suffix, "ru") ? MPFR_RNDU
                                   : MPFR_RNDZ;
}

/* A double's NaN: of two, an H200 passes on the second operand's (of fma: the second's, third's, first's); of a
 * division, which is software, the first's. */
static void double_nan(const char *name, const struct operands *x, struct expect *e)
{
    static const char *const orders[][2] = {{"fma", "bca"}, {"ddiv", "ab"}, {"drcp", "a"}, {"dsqrt", "a"}, {"d", "ba"}};
    size_t i = 0;
    while (strncmp(name, orders[i][0], strlen(orders[i][0])))
        i++;
    e->kind = EXPECT_BITS;
    e->bits = 0xfff8000000000000u;
    for (const char *o = orders[i][1]; *o; o++)
        if (isnan(as_double(x->bits[*o - 'a']))) {
            e->bits = x->bits[*o - 'a'] | 0x0008000000000000u;
            return;
        }
}

static bool directed(const char *name, const char *sig, const struct operands *x, struct expect *e)
{
    const char *dash = strrchr(name, '_');
    if (!dash || strlen(dash) != 3 || dash[1] != 'r')
        return false;
    mpfr_rnd_t m = mode_of(dash + 1);
    mpfr_ptr r = e->v;
    size_t n = (size_t)(dash - name);
    e->round = m;
    e->kind = EXPECT_VALUE;
#define BASE(s) (n == sizeof s - 1 && !strncmp(name, s, n))
    if (BASE("fadd") || BASE("dadd"))
        mpfr_add(r, A, B, m);
    else if (BASE("fsub") || BASE("dsub"))
        mpfr_sub(r, A, B, m);
    else if (BASE("fmul") || BASE("dmul"))
        mpfr_mul(r, A, B, m);
    else if (BASE("fdiv") || BASE("ddiv"))
        mpfr_div(r, A, B, m);
    else if (BASE("frcp") || BASE("drcp"))
        mpfr_ui_div(r, 1, A, m);
    else if (BASE("fsqrt") || BASE("dsqrt"))
        mpfr_sqrt(r, A, m);
    else if (BASE("fmaf") || BASE("fmaf_ieee") || BASE("fma"))
        mpfr_fma(r, A, B, C, m);
    else if (BASE("double2float") || BASE("int2float") || BASE("uint2float") || BASE("ll2float") || BASE("ull2float") ||
             BASE("int2double") || BASE("uint2double") || BASE("ll2double") || BASE("ull2double"))
        mpfr_set(r, A, m);
    else {
        e->kind = EXPECT_NONE;
        return false;
    }
    if (sig[0] == 'd' && mpfr_nan_p(r))
        double_nan(name, x, e);
    return true;
}

/* floating to integer: "float2uint_rd", "llround" */
static bool to_integer(const char *name, const char *sig, struct expect *e)
{
    bool llround_ = is(name, "llround"), llrint_ = is(name, "llrint");
    const char *dash = strrchr(name, '_');
    bool conv = strchr("iulm", sig[0]) && strchr("fd", sig[1]) && dash &&
                (!strncmp(name, "float2", 6) || !strncmp(name, "double2", 7));
    if (!conv && !llround_ && !llrint_)
        return false;
    bool wide = sig[0] == 'l' || sig[0] == 'm', uns = sig[0] == 'u' || sig[0] == 'm';
    int width = wide ? 64 : 32;
    e->kind = EXPECT_BITS;
    if (mpfr_nan_p(A)) {
        e->bits = wide || sig[1] == 'd' ? (uint64_t)1 << (width - 1) : 0;
        return true;
    }
    if (mpfr_inf_p(A))
        mpfr_set(T, A, MPFR_RNDN);
    else if (llround_)
        mpfr_round(T, A);
    else
        mpfr_rint(T, A, llrint_ ? MPFR_RNDN : mode_of(dash + 1));
    mpfr_t lo, hi;
    mpfr_inits2(80, lo, hi, (mpfr_ptr)0);
    mpfr_set_ui_2exp(hi, 1, uns ? width : width - 1, MPFR_RNDN);
    mpfr_sub_ui(hi, hi, 1, MPFR_RNDN);
    mpfr_set_zero(lo, 1);
    if (!uns)
        mpfr_set_si_2exp(lo, -1, width - 1, MPFR_RNDN);
    if (mpfr_cmp(T, hi) > 0)
        mpfr_set(T, hi, MPFR_RNDN);
    if (mpfr_cmp(T, lo) < 0)
        mpfr_set(T, lo, MPFR_RNDN);
    e->bits = uns ? mpfr_get_uj(T, MPFR_RNDN) : (uint64_t)mpfr_get_sj(T, MPFR_RNDN);
    e->bits = wide ? e->bits : (uint32_t)e->bits;
    mpfr_clears(lo, hi, (mpfr_ptr)0);
    return true;
}

/* ---- bits and integers ---- */
typedef __int128 wide_t;

static bool halves(const char *name, const struct operands *x, struct expect *e)
{
    uint16_t h = (uint16_t)x->bits[0];
    if (!strcmp(name, "half2float")) {
        int exp = h >> 10 & 31, frac = h & 1023;
        e->kind = EXPECT_VALUE;
        if (exp == 31)
            frac ? mpfr_set_nan(e->v) : mpfr_set_inf(e->v, 1);
        else if (exp)
            mpfr_set_ui_2exp(e->v, (unsigned)frac + 1024, exp - 25, MPFR_RNDN);
        else
            mpfr_set_ui_2exp(e->v, (unsigned)frac, -24, MPFR_RNDN);
        mpfr_setsign(e->v, e->v, h >> 15, MPFR_RNDN);
        return true;
    }
    if (strcmp(name, "float2half_rn"))
        return false;
    /* round to the grid of halves: multiples of 2^max(exp - 11, -24) */
    e->kind = EXPECT_BITS;
    uint64_t sign = x->bits[0] >> 16 & 0x8000;
    if (mpfr_nan_p(A)) {
        e->bits = 0x7fff;
        return true;
    }
    mpfr_abs(T, A, MPFR_RNDN);
    if (mpfr_inf_p(T) || mpfr_cmp_ui(T, 65520) >= 0) {
        e->bits = sign | 0x7c00;
        return true;
    }
    long q = mpfr_zero_p(T) ? -24 : (long)mpfr_get_exp(T) - 11;
    q = q < -24 ? -24 : q;
    mpfr_mul_2si(T, T, -q, MPFR_RNDN);
    mpfr_rint(T, T, MPFR_RNDN);
    unsigned long units = mpfr_get_ui(T, MPFR_RNDN); /* up to 2048 */
    e->bits = sign | (units < 1024 ? units : (uint64_t)(q + 24) * 1024 + units);
    return true;
}

static bool float_bits(const char *name, const struct operands *x, struct expect *e)
{
    uint64_t a = x->bits[0], b = x->bits[1];
    double v = mpfr_get_d(A, MPFR_RNDN);
    e->kind = EXPECT_BITS;
    if (!strcmp(name, "float_as_int") || !strcmp(name, "float_as_uint") || !strcmp(name, "int_as_float") ||
        !strcmp(name, "uint_as_float") || !strcmp(name, "double_as_longlong") || !strcmp(name, "longlong_as_double"))
        e->bits = a;
    else if (!strcmp(name, "double2hiint"))
        e->bits = a / 4294967296u;
    else if (!strcmp(name, "double2loint"))
        e->bits = a % 4294967296u;
    else if (!strcmp(name, "hiloint2double"))
        e->bits = a % 4294967296u * 4294967296u + b % 4294967296u;
    else if (is(name, "copysign")) { /* in bits: a NaN has a sign too */
        uint64_t sign = name[8] == 'f' ? 0x80000000u : (uint64_t)1 << 63;
        e->bits = (a & ~sign) | (b & sign);
    } else if (!strcmp(name, "finitef") || !strcmp(name, "isfinited"))
        e->bits = isfinite(v) != 0;
    else if (!strcmp(name, "isinff") || !strcmp(name, "isinfd"))
        e->bits = isinf(v) != 0;
    else if (!strcmp(name, "isnanf") || !strcmp(name, "isnand"))
        e->bits = isnan(v) != 0;
    else if (!strcmp(name, "signbitf") || !strcmp(name, "signbitd"))
        e->bits = name[7] == 'f' ? signbit(as_float(a)) != 0 : signbit(as_double(a)) != 0;
    else if (is(name, "ilogb"))
        e->bits = (uint32_t)(mpfr_nan_p(A) || mpfr_zero_p(A) ? INT_MIN
                             : mpfr_inf_p(A)                 ? INT_MAX
                                                             : (int)mpfr_get_exp(A) - 1);
    else
        return false;
    return true;
}

static bool integer(const char *name, const char *sig, const struct operands *x, struct expect *e)
{
    bool s64 = strchr("l", sig[1]), u64 = sig[1] == 'm';
    bool uns = sig[1] == 'u' || u64;
    int width = s64 || u64 ? 64 : 32;
    wide_t v[4];
    for (int k = 0; k < 4; k++)
        v[k] = width == 64 ? (uns ? (wide_t)x->bits[k] : (wide_t)(int64_t)x->bits[k])
                           : (uns ? (wide_t)(uint32_t)x->bits[k] : (wide_t)(int32_t)x->bits[k]);
    wide_t a = v[0], b = v[1], r = 0;
    uint64_t bits = width == 64 ? x->bits[0] : (uint32_t)x->bits[0];
#define N(s) (!strcmp(name, s))
    if (N("abs") || N("llabs"))
        r = a < 0 ? -a : a;
    else if (N("max") || N("umax") || N("llmax") || N("ullmax"))
        r = a > b ? a : b;
    else if (N("min") || N("umin") || N("llmin") || N("ullmin"))
        r = a < b ? a : b;
    else if (N("brev") || N("brevll")) {
        for (int k = 0; k < width; k++)
            r = r * 2 + (wide_t)(bits >> k & 1);
    } else if (N("clz") || N("clzll")) {
        for (r = 0; r < width && !(bits >> (width - 1 - (int)r) & 1); r++) {
        }
    } else if (N("ffs") || N("ffsll")) {
        for (r = 1; r <= width && !(bits >> ((int)r - 1) & 1); r++) {
        }
        r = r > width ? 0 : r;
    } else if (N("popc") || N("popcll")) {
        for (int k = 0; k < width; k++)
            r += (wide_t)(bits >> k & 1);
    } else if (N("byte_perm")) {
        uint8_t bytes[8];
        for (int k = 0; k < 8; k++)
            bytes[k] = (uint8_t)(x->bits[k / 4] >> 8 * (k % 4));
        for (int k = 3; k >= 0; k--)
            r = r * 256 + bytes[x->bits[2] >> 4 * k & 7];
    } else if (N("mul24") || N("umul24")) {
        wide_t p = a & 0xffffff, q = b & 0xffffff;
        p = !uns && p >= 1 << 23 ? p - (1 << 24) : p;
        q = !uns && q >= 1 << 23 ? q - (1 << 24) : q;
        r = p * q;
    } else if (N("mulhi") || N("umulhi"))
        r = (a * b) >> 32;
    else if (N("mul64hi") || N("umul64hi")) { /* by halves: a * b does not fit in 128 signed bits */
        uint64_t p = x->bits[0], q = x->bits[1], p0 = p & 0xffffffffu, p1 = p >> 32, q0 = q & 0xffffffffu, q1 = q >> 32;
        uint64_t mid = (p0 * q0 >> 32) + (p1 * q0 & 0xffffffffu) + (p0 * q1 & 0xffffffffu);
        uint64_t hi = p1 * q1 + (p1 * q0 >> 32) + (p0 * q1 >> 32) + (mid >> 32);
        if (!uns)
            hi -= ((int64_t)p < 0 ? q : 0) + ((int64_t)q < 0 ? p : 0);
        r = (wide_t)hi;
    } else if (N("sad") || N("usad"))
        r = (a > b ? a - b : b - a) + (uint32_t)x->bits[2];
    else if (N("hadd") || N("uhadd"))
        r = (a + b - ((a + b) & 1)) / 2;
    else if (N("rhadd") || N("urhadd"))
        r = (a + b + ((a + b) & 1)) / 2;
    else
        return false;
    e->kind = EXPECT_BITS;
    e->bits = strchr("lmd", sig[0]) ? (uint64_t)r : (uint32_t)r;
    return true;
}

/* v<op>[s|u][2|4]: elements of a word, one at a time */
static bool simd(const char *name, const struct operands *x, struct expect *e)
{
    size_t n = strlen(name);
    if (name[0] != 'v' || (name[n - 1] != '2' && name[n - 1] != '4'))
        return false;
    char op[16] = {0};
    memcpy(op, name + 1, n - 2 < 15 ? n - 2 : 15);
    int count = name[n - 1] - '0', width = 32 / count;
    size_t m = strlen(op);
    char s = op[m - 1];
    bool uns = s == 'u' || !strcmp(op, "addus") || !strcmp(op, "subus") || !strcmp(op, "cmpeq") ||
               !strcmp(op, "cmpne") || !strcmp(op, "seteq") || !strcmp(op, "setne");
    uint64_t word = 0, sum = 0;
    for (int k = 0; k < count; k++) {
        long top = 1l << width, a = (long)(x->bits[0] >> k * width) & (top - 1),
             b = (long)(x->bits[1] >> k * width) & (top - 1);
        if (!uns && a >= top / 2)
            a -= top;
        if (!uns && b >= top / 2)
            b -= top;
        long lo = uns ? 0 : -top / 2, hi = uns ? top - 1 : top / 2 - 1, r;
        bool sat = false;
        long diff = a > b ? a - b : b - a;
        int order = a < b ? -1 : a > b;
        const char *rel = op + 3;
        if (!strcmp(op, "abs") || !strcmp(op, "absss"))
            r = labs(a), sat = m == 5;
        else if (!strcmp(op, "neg") || !strcmp(op, "negss"))
            r = -a, sat = m == 5;
        else if (!strncmp(op, "absdiff", 7))
            r = diff;
        else if (!strncmp(op, "add", 3))
            r = a + b, sat = m == 5;
        else if (!strncmp(op, "sub", 3))
            r = a - b, sat = m == 5;
        else if (!strcmp(op, "avgs"))
            r = lround((a + b) / 2.0);
        else if (!strcmp(op, "avgu"))
            r = (long)ceil((a + b) / 2.0);
        else if (!strcmp(op, "haddu"))
            r = (long)floor((a + b) / 2.0);
        else if (!strncmp(op, "max", 3))
            r = a > b ? a : b;
        else if (!strncmp(op, "min", 3))
            r = a > b ? b : a;
        else if (!strncmp(op, "sad", 3))
            r = 0, sum += (uint64_t)diff;
        else if (!strncmp(op, "cmp", 3) || !strncmp(op, "set", 3)) {
            bool yes = !strncmp(rel, "eq", 2)   ? order == 0
                       : !strncmp(rel, "ne", 2) ? order != 0
                       : !strncmp(rel, "ge", 2) ? order >= 0
                       : !strncmp(rel, "gt", 2) ? order > 0
                       : !strncmp(rel, "le", 2) ? order <= 0
                                                : order < 0;
            r = yes ? (op[0] == 'c' ? top - 1 : 1) : 0;
        } else
            return false;
        if (sat)
            r = r < lo ? lo : r > hi ? hi : r;
        word |= (uint64_t)(r & (top - 1)) << k * width;
    }
    e->kind = EXPECT_BITS;
    e->bits = !strncmp(op, "sad", 3) ? sum : word;
    return true;
}

/* ---- through pointers ---- */
static bool pointers(const char *name, const char *sig, const void *cells, struct expect *out)
{
    char t = sig[1];
    if (is(name, "sincos") || is(name, "sincospi") || is(name, "fast_sincos")) {
        bool pi = is(name, "sincospi");
        out[1].kind = out[2].kind = EXPECT_VALUE;
        out[1].type = out[2].type = t;
        if (mpfr_nan_p(A)) {
            mpfr_set_nan(out[1].v);
            mpfr_set_nan(out[2].v);
            return true;
        }
        (pi ? f_sinpi : f_sin)(out[1].v, A);
        (pi ? f_cospi : f_cos)(out[2].v, A);
        return true;
    }
    if (is(name, "frexp")) {
        out[0].kind = EXPECT_VALUE;
        out[1].type = 'i';
        mpfr_set(out[0].v, A, MPFR_RNDN);
        if (mpfr_number_p(A)) {
            out[1].kind = EXPECT_BITS;
            if (!mpfr_zero_p(A)) {
                out[1].bits = (uint32_t)mpfr_get_exp(A);
                mpfr_set_exp(out[0].v, 0);
            }
        }
        return true;
    }
    if (is(name, "modf")) {
        out[0].kind = out[1].kind = EXPECT_VALUE;
        out[1].type = t;
        mpfr_trunc(out[1].v, A);
        if (mpfr_nan_p(A))
            mpfr_set_nan(out[0].v);
        else
            mpfr_frac(out[0].v, A, MPFR_RNDN);
        if (mpfr_zero_p(out[0].v))
            mpfr_setsign(out[0].v, out[0].v, mpfr_signbit(A), MPFR_RNDN);
        return true;
    }
    if (is(name, "remquo")) {
        out[0].kind = EXPECT_VALUE;
        out[1].type = 'i'; /* only the low three bits and the sign are promised: the driver compares those */
        mpfr_remainder(out[0].v, A, B, MPFR_RNDN);
        if (mpfr_number_p(A) && !mpfr_nan_p(B) && !mpfr_zero_p(B)) {
            mpfr_sub(T, A, out[0].v, MPFR_RNDN);
            mpfr_div(T, T, B, MPFR_RNDN); /* the integral quotient, exactly */
            if (mpfr_inf_p(B))
                mpfr_set_zero(T, 1);
            mpfr_set_ui(U, 8, MPFR_RNDN);
            bool minus = mpfr_sgn(T) < 0;
            mpfr_abs(T, T, MPFR_RNDN);
            mpfr_fmod(T, T, U, MPFR_RNDN);
            int q = (int)mpfr_get_si(T, MPFR_RNDN);
            out[1].kind = EXPECT_BITS;
            out[1].bits = (uint32_t)(minus ? -q : q);
        }
        return true;
    }
    if (is(name, "norm") || is(name, "rnorm")) {
        long n = mpfr_get_si(A, MPFR_RNDN);
        mpfr_t v[32];
        out[0].kind = EXPECT_VALUE;
        for (int i = 0; i < 32; i++) {
            mpfr_init2(v[i], 64);
            if (sig[0] == 'f')
                mpfr_set_flt(v[i], ((const float *)cells)[i], MPFR_RNDN);
            else
                mpfr_set_d(v[i], ((const double *)cells)[i], MPFR_RNDN);
        }
        length(out[0].v, v, (int)n, *name == 'r');
        for (int i = 0; i < 32; i++)
            mpfr_clear(v[i]);
        return true;
    }
    if (!strcmp(name, "nan") || !strcmp(name, "nanf")) {
        /* by the C library's strtoull; its limits and ours agree: overflow is all ones, junk is none */
        const char *s = cells;
        char *end;
        unsigned long long u = strtoull(s, &end, 0);
        bool f = name[3] == 'f';
        uint64_t mask = f ? 0x3fffff : 0x7ffffffffffff;
        out[0].kind = EXPECT_BITS;
        out[0].bits = (f ? 0x7fc00000 : 0x7ff8000000000000) | (*end || *s == '-' ? 0 : u & mask);
        return true;
    }
    return false;
}

bool libdevice_reference(const char *name, const char *sig, const struct operands *x, const void *cells,
                         struct expect out[OUTS])
{
    setup();
    mpfr_ptr in[4] = {A, B, C, D};
    for (size_t k = 0; k < 4; k++)
        load_operand(in[k], k + 1 < strlen(sig) ? sig[k + 1] : 'v', x->bits[k]);
    for (int k = 0; k < OUTS; k++) {
        out[k].kind = EXPECT_NONE;
        out[k].type = k ? 'v' : sig[0];
        out[k].round = MPFR_RNDN;
        out[k].f = NULL;
        out[k].bits = 0;
    }
    /* sums and products must be exact before their one rounding; the others only need to be close */
    bool exact = strchr("fd", name[0]) && (strstr(name, "add") || strstr(name, "sub") || strstr(name, "mul") ||
                                           strstr(name, "fma") || strstr(name, "fdim") || strstr(name, "fmod"));
    exact |= strstr(name, "remainder") || strstr(name, "remquo") || strstr(name, "nextafter") || strstr(name, "modf");
    mpfr_set_prec(out[0].v, exact ? EXACT_BITS : VALUE_BITS);
    if (strchr(sig, 'p'))
        return pointers(name, sig, cells, out);
    return simd(name, x, out) || halves(name, x, out) || to_integer(name, sig, out) || float_bits(name, x, out) ||
           directed(name, sig, x, out) || unary(name, sig, out) || inverse(name, out) || several(name, sig, out) ||
           integer(name, sig, x, out);
}
