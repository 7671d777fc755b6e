/* eval_float.c - floating-point arithmetic, exactly rounded by MPFR, and the documented bounds of approximations. */
#include "eval.h"
#include <math.h>
#include <string.h>

/* What .sat and .relu make of a result. */
static uint64_t finish(const struct ref_inst *in, const struct fmt *f, uint64_t v)
{
    if (ref_has(in, "sat")) {
        uint64_t one = mask_bits(f->exp - 1) << f->man;
        if (num_isnan(f, v) || num_sign(f, v))
            return 0;
        return v > one ? one : v;
    }
    if (ref_has(in, "relu") && !num_isnan(f, v) && num_sign(f, v))
        return 0;
    return v;
}

/* The first NaN in the order in which GPUs look at operands (measured; PTX promises nothing about payloads). */
static bool pass_nan(const struct fmt *f, uint64_t first, uint64_t second, uint64_t third, uint64_t *out)
{
    uint64_t v = num_isnan(f, first) ? first : num_isnan(f, second) ? second : third;
    *out = num_quiet(f, v);
    return num_isnan(f, v);
}

static uint64_t binary(enum wg_op op, const struct fmt *f, uint64_t a, uint64_t b, char rnd, bool ftz)
{
    uint64_t nan;
    if (op == WG_OP_DIV ? pass_nan(f, a, b, a, &nan) : pass_nan(f, b, a, a, &nan))
        return nan;
    mpfr_t x, y, r;
    mpfr_inits2(f->man + 1, x, y, r, (mpfr_ptr)0);
    num_get(x, f, a);
    num_get(y, f, b);
    mpfr_rnd_t m = num_mode(rnd);
    int t = op == WG_OP_ADD   ? mpfr_add(r, x, y, m)
            : op == WG_OP_SUB ? mpfr_sub(r, x, y, m)
            : op == WG_OP_MUL ? mpfr_mul(r, x, y, m)
                              : mpfr_div(r, x, y, m);
    uint64_t d = num_round_ftz(f, r, t, rnd, ftz);
    mpfr_clears(x, y, r, (mpfr_ptr)0);
    return d;
}

static uint64_t fused(const struct fmt *f, uint64_t a, uint64_t b, uint64_t c, char rnd, bool ftz)
{
    uint64_t nan;
    if (pass_nan(f, b, c, a, &nan))
        return nan;
    mpfr_t x, y, z, r;
    mpfr_inits2(f->man + 1, x, y, z, r, (mpfr_ptr)0);
    num_get(x, f, a);
    num_get(y, f, b);
    num_get(z, f, c);
    int t = mpfr_fma(r, x, y, z, num_mode(rnd));
    uint64_t d = num_round_ftz(f, r, t, rnd, ftz);
    mpfr_clears(x, y, z, r, (mpfr_ptr)0);
    return d;
}

static int unary_mpfr(enum wg_op op, mpfr_t r, const mpfr_t x, mpfr_rnd_t m)
{
    switch (op) {
    case WG_OP_RCP:
        return mpfr_ui_div(r, 1, x, m);
    case WG_OP_SQRT:
        return mpfr_sqrt(r, x, m);
    case WG_OP_RSQRT:
        if (mpfr_zero_p(x)) { /* of -0: -inf, unlike MPFR */
            mpfr_set_inf(r, mpfr_signbit(x) ? -1 : 1);
            return 0;
        }
        return mpfr_rec_sqrt(r, x, m);
    case WG_OP_SIN:
        return mpfr_sin(r, x, m);
    case WG_OP_COS:
        return mpfr_cos(r, x, m);
    case WG_OP_LG2:
        return mpfr_log2(r, x, m);
    case WG_OP_EX2:
        return mpfr_exp2(r, x, m);
    default:
        return mpfr_tanh(r, x, m);
    }
}

static uint64_t unary(enum wg_op op, const struct fmt *f, uint64_t a, char rnd, bool ftz)
{
    if (num_isnan(f, a))
        return num_quiet(f, a);
    mpfr_t x, r;
    mpfr_inits2(f->man + 1, x, r, (mpfr_ptr)0);
    num_get(x, f, a);
    int t = unary_mpfr(op, r, x, num_mode(rnd));
    uint64_t d = num_round_ftz(f, r, t, rnd, ftz);
    mpfr_clears(x, r, (mpfr_ptr)0);
    return d;
}

uint64_t num_add(const struct fmt *f, uint64_t a, uint64_t b, bool ftz)
{
    if (ftz)
        return binary(WG_OP_ADD, f, num_flush(f, a), num_flush(f, b), 'n', true);
    return binary(WG_OP_ADD, f, a, b, 'n', false);
}

/* Order of two numbers, -0 below +0; neither is NaN. */
static bool below(const struct fmt *f, uint64_t a, uint64_t b)
{
    bool sa = num_sign(f, a), sb = num_sign(f, b);
    if (sa != sb)
        return sa;
    return sa ? a > b : a < b;
}

static uint64_t min_max(const struct ref_inst *in, const struct fmt *f, uint64_t a, uint64_t b)
{
    uint64_t top = num_zero(f, true), flip = 0;
    if (ref_has(in, "xorsign")) {
        flip = (a ^ b) & top;
        a &= ~top;
        b &= ~top;
    }
    bool na = num_isnan(f, a), nb = num_isnan(f, b);
    uint64_t r;
    if ((na && nb) || ((na || nb) && ref_has(in, "NaN")))
        return num_quiet(f, b);
    if (na || nb)
        r = na ? b : a;
    else
        r = below(f, a, b) == (in->op == WG_OP_MIN) ? a : b;
    return r | flip;
}

static bool test(const struct ref_inst *in, const struct fmt *f, uint64_t a)
{
    bool nan = num_isnan(f, a), inf = num_isinf(f, a), sub = num_issub(f, a);
    if (ref_has(in, "finite"))
        return !nan && !inf;
    if (ref_has(in, "infinite"))
        return inf;
    if (ref_has(in, "number"))
        return !nan;
    if (ref_has(in, "notanumber"))
        return nan;
    if (ref_has(in, "subnormal"))
        return sub;
    return !nan && !inf && !sub; /* normal; zero counts */
}

static uint64_t one_element(const struct ref_inst *in, const struct fmt *f, uint64_t a, uint64_t b, uint64_t c)
{
    char rnd = num_rounding(in, 'n');
    bool ftz = ref_has(in, "ftz");
    uint64_t top = num_zero(f, true), d;
    if (ftz) {
        a = num_flush(f, a);
        b = num_flush(f, b);
        c = num_flush(f, c);
    }
    switch (in->op) {
    case WG_OP_ADD:
    case WG_OP_SUB:
    case WG_OP_MUL:
    case WG_OP_DIV:
        d = binary(in->op, f, a, b, rnd, ftz);
        break;
    case WG_OP_MAD:
    case WG_OP_FMA:
        d = fused(f, a, b, c, rnd, ftz);
        break;
    case WG_OP_ABS:
        return num_isnan(f, a) ? num_quiet(f, a) : a & ~top;
    case WG_OP_NEG:
        return num_isnan(f, a) ? num_quiet(f, a) : a ^ top;
    case WG_OP_MIN:
    case WG_OP_MAX:
        return min_max(in, f, a, b);
    default:
        d = unary(in->op, f, a, rnd, ftz);
        break;
    }
    return finish(in, f, d);
}

enum ref_kind eval_float(const struct ref_inst *in, const uint64_t *s, uint64_t *dst)
{
    enum wg_type t = (enum wg_type)in->type[in->ntypes - 1];
    const struct fmt *f = ref_fmt(t);
    if (!f)
        return REF_UNKNOWN;
    uint64_t top = num_zero(f, true);
    if (in->op == WG_OP_COPYSIGN) {
        dst[0] = (s[0] & top) | (s[1] & ~top);
        return REF_EXACT;
    }
    if (in->op == WG_OP_TESTP) {
        dst[0] = test(in, f, s[0]);
        return REF_EXACT;
    }
    dst[0] = 0;
    for (unsigned h = 0; h < wg_type_bytes(t) * 8; h += f->bits) {
        uint64_t m = mask_bits(f->bits);
        dst[0] |= one_element(in, f, s[0] >> h & m, s[1] >> h & m, s[2] >> h & m) << h;
    }
    return ref_has(in, "approx") || ref_has(in, "full") ? REF_APPROX : REF_EXACT;
}

/* ---- bounds of approximate instructions, from the PTX ISA pages of each ---- */

/* Distance between got and the exact value, in relative terms (ulp: in units of got's format at the exact value). */
static double error_of(const struct ref_inst *in, const struct fmt *f, const uint64_t *s, uint64_t got, char how)
{
    mpfr_t x, y, exact, g, d;
    mpfr_inits2(300, x, y, exact, g, d, (mpfr_ptr)0);
    num_get(x, f, s[0]);
    if (in->op == WG_OP_DIV) {
        num_get(y, f, s[1]);
        mpfr_div(exact, x, y, MPFR_RNDN);
    } else
        unary_mpfr(in->op, exact, x, MPFR_RNDN);
    num_get(g, f, got);
    mpfr_sub(d, g, exact, MPFR_RNDN);
    mpfr_abs(d, d, MPFR_RNDN);
    if (how == 'r' && !mpfr_zero_p(exact)) {
        mpfr_abs(exact, exact, MPFR_RNDN);
        mpfr_div(d, d, exact, MPFR_RNDN);
    } else if (how == 'u' && !mpfr_zero_p(exact)) {
        long e = mpfr_get_exp(exact) - 1, low = 2 - (1l << (f->exp - 1));
        mpfr_mul_2si(d, d, (long)f->man - (e < low ? low : e), MPFR_RNDN);
    }
    double r = mpfr_get_d(d, MPFR_RNDU);
    mpfr_clears(x, y, exact, g, d, (mpfr_ptr)0);
    return r;
}

struct bound {
    char how;
    double max;
}; /* 'a' absolute, 'r' relative, 'u' units in the last place */

static struct bound bound_of(const struct ref_inst *in, const struct fmt *f, double x)
{
    bool half = f == &fmt_f16, brain = f == &fmt_bf16, single = f == &fmt_f32;
    switch (in->op) {
    case WG_OP_DIV:
        return (struct bound){'u', 2};
    case WG_OP_RCP:
        return single ? (struct bound){'u', 1} : (struct bound){'r', ldexp(1, -19)};
    case WG_OP_SQRT:
        return (struct bound){'r', ldexp(1, -23)};
    case WG_OP_RSQRT:
        return single ? (struct bound){'r', exp2(-22.9)} : (struct bound){'r', ldexp(1, -19)};
    case WG_OP_SIN:
    case WG_OP_COS:
        return (struct bound){'a', fabs(x) <= 2 * M_PI ? exp2(-20.5) : exp2(-14.7)};
    case WG_OP_LG2:
        return x > 0.5 && x < 2 ? (struct bound){'a', ldexp(1, -22)} : (struct bound){'r', ldexp(1, -22)};
    case WG_OP_EX2:
        return half    ? (struct bound){'r', exp2(-9.9)}
               : brain ? (struct bound){'r', ldexp(1, -7)}
                       : (struct bound){'u', 2};
    default: /* tanh */
        return half    ? (struct bound){'a', exp2(-10.987)}
               : brain ? (struct bound){'a', ldexp(1, -8)}
                       : (struct bound){'r', ldexp(1, -11)};
    }
}

static double to_double(const struct fmt *f, uint64_t v)
{
    mpfr_t x;
    mpfr_init(x);
    num_get(x, f, v);
    double d = mpfr_get_d(x, MPFR_RNDN);
    mpfr_clear(x);
    return d;
}

static bool accept_element(const struct ref_inst *in, const struct fmt *f, const uint64_t *src, uint64_t want,
                           uint64_t got)
{
    uint64_t s[2] = {src[0], src[1]};
    bool ftz = ref_has(in, "ftz");
    if (ftz) {
        s[0] = num_flush(f, s[0]);
        s[1] = num_flush(f, s[1]);
    }
    if (ftz && f == &fmt_f64)
        s[0] &= 0xffffffff00000000; /* only the high word is looked at */
    double x = to_double(f, s[0]), y = to_double(f, s[1]);
    if (in->op == WG_OP_DIV && ref_has(in, "approx") && fabs(y) > 0x1p126 && isfinite(y)) /* documented exception */
        return isinf(x) ? num_isnan(f, got) : isnan(x) ? num_isnan(f, got) : (got & ~num_zero(f, true)) == 0;
    if (ftz && f == &fmt_f64 && num_isnan(f, src[0]) && num_isinf(f, s[0]))
        return got == 0; /* a NaN that is an infinity in its high word */
    if (num_isnan(f, want) || num_isnan(f, got))
        return num_isnan(f, want) && num_isnan(f, got);
    if ((in->op == WG_OP_SIN || in->op == WG_OP_COS) && fabs(x) > 100 * M_PI)
        return fabs(to_double(f, got)) <= 1; /* no bound is documented */
    if (got == want || (ftz && num_flush(f, got) == num_flush(f, want)))
        return true;
    struct bound b = bound_of(in, f, x);
    if (num_isinf(f, want) || num_isinf(f, got)) { /* one side of the overflow threshold, within the bound */
        uint64_t other = num_isinf(f, want) ? got : want;
        return num_sign(f, got) == num_sign(f, want) && b.how != 'a' &&
               (other & ~num_zero(f, true)) >= num_inf(f, 0) - 2 && fabs(x) != 0 && isfinite(x);
    }
    double extra = b.how == 'r' && f != &fmt_f64 ? ldexp(1, -(int)f->man - 1) : 0; /* the result's own rounding */
    if (b.how == 'a')
        extra = fabs(to_double(f, want)) * ldexp(1, -(int)f->man - 1);
    if (b.how != 'a' && (num_issub(f, want) || num_issub(f, got) ||
                         (ftz && (got & ~num_zero(f, true)) == 0))) /* bounds hold where results are normal */
        return error_of(in, f, s, got, 'a') <=
               (ftz ? ldexp(1, 2 - (1 << (f->exp - 1))) : ldexp(4, 2 - (1 << (f->exp - 1)) - (int)f->man));
    return error_of(in, f, s, got, b.how) <= b.max + extra;
}

bool approx_accept(const struct ref_inst *in, const uint64_t *src, uint64_t want, uint64_t got)
{
    enum wg_type t = (enum wg_type)in->type[0];
    const struct fmt *f = ref_fmt(t);
    if (f == &fmt_f64 && (got & 0xffffffff) && ref_has(in, "ftz"))
        return false; /* the low word of these results is zero */
    for (unsigned h = 0; h < wg_type_bytes(t) * 8; h += f->bits) {
        uint64_t m = mask_bits(f->bits), s[2] = {src[0] >> h & m, src[1] >> h & m};
        if (!accept_element(in, f, s, want >> h & m, got >> h & m))
            return false;
    }
    return true;
}
