/* num.c - floating-point formats and correct rounding, by way of MPFR. */
#include "eval.h"
#include <stdlib.h>
#include <string.h>

const struct fmt fmt_f16 = {16, 10, 5, 0x7fff}, fmt_bf16 = {16, 7, 8, 0x7fff}, fmt_f32 = {32, 23, 8, 0x7fffffff},
                 fmt_f64 = {64, 52, 11, 0xfff8000000000000}, fmt_tf32 = {19, 10, 8, 0x3ffff};

const struct fmt *ref_fmt(enum wg_type t)
{
    switch (t) {
    case WG_T_F16:
    case WG_T_F16X2:
        return &fmt_f16;
    case WG_T_BF16:
    case WG_T_BF16X2:
        return &fmt_bf16;
    case WG_T_F32:
        return &fmt_f32;
    case WG_T_F64:
        return &fmt_f64;
    default:
        return NULL;
    }
}

static uint64_t exp_field(const struct fmt *f, uint64_t v)
{
    return v >> f->man & mask_bits(f->exp);
}
static uint64_t man_field(const struct fmt *f, uint64_t v)
{
    return v & mask_bits(f->man);
}

bool num_isnan(const struct fmt *f, uint64_t v)
{
    return exp_field(f, v) == mask_bits(f->exp) && man_field(f, v) != 0;
}
bool num_isinf(const struct fmt *f, uint64_t v)
{
    return exp_field(f, v) == mask_bits(f->exp) && man_field(f, v) == 0;
}
bool num_issub(const struct fmt *f, uint64_t v)
{
    return exp_field(f, v) == 0 && man_field(f, v) != 0;
}
uint64_t num_zero(const struct fmt *f, bool neg)
{
    return (uint64_t)neg << (f->bits - 1);
}
uint64_t num_inf(const struct fmt *f, bool neg)
{
    return num_zero(f, neg) | mask_bits(f->exp) << f->man;
}
uint64_t num_max(const struct fmt *f, bool neg)
{
    return num_inf(f, neg) - 1;
}
uint64_t num_flush(const struct fmt *f, uint64_t v)
{
    return num_issub(f, v) ? num_zero(f, num_sign(f, v)) : v;
}

void num_get(mpfr_t out, const struct fmt *f, uint64_t v)
{
    mpfr_set_prec(out, f->man + 1);
    long bias = (1l << (f->exp - 1)) - 1, e = (long)exp_field(f, v);
    uint64_t m = man_field(f, v);
    if (num_isnan(f, v)) {
        mpfr_set_nan(out);
    } else if (num_isinf(f, v)) {
        mpfr_set_inf(out, 1);
    } else {
        if (e)
            m |= 1ull << f->man;
        else
            e = 1;
        mpfr_set_ui_2exp(out, m, e - bias - (long)f->man, MPFR_RNDN);
    }
    mpfr_setsign(out, out, num_sign(f, v), MPFR_RNDN);
}

mpfr_rnd_t num_mode(char rnd)
{
    return rnd == 'z' ? MPFR_RNDZ : rnd == 'm' ? MPFR_RNDD : rnd == 'p' ? MPFR_RNDU : MPFR_RNDN;
}

uint64_t num_quiet(const struct fmt *f, uint64_t nan)
{
    return f == &fmt_f64 ? nan | 1ull << (f->man - 1) : f->nan;
}

uint64_t num_round(const struct fmt *f, mpfr_t x, int t, char rnd)
{
    return num_round_ftz(f, x, t, rnd, false);
}

uint64_t num_round_ftz(const struct fmt *f, mpfr_t x, int t, char rnd, bool ftz)
{
    bool neg = mpfr_signbit(x) != 0;
    if (mpfr_nan_p(x))
        return f->nan;
    long bias = (1l << (f->exp - 1)) - 1;
    if (mpfr_inf_p(x) && t == 0)
        return num_inf(f, neg);
    mpfr_t r;
    mpfr_init2(r, f->man + 1);
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    if (mpfr_get_prec(x) == (mpfr_prec_t)f->man + 1)
        mpfr_set(r, x, MPFR_RNDN); /* rounded already, with ternary t */
    else {
        if (t)
            abort(); /* an inexact value of another precision cannot be rounded again */
        t = mpfr_set(r, x, num_mode(rnd));
    }
    /* r has all the bits but any exponent: what is below the least normal number now goes (measured) */
    if (ftz && mpfr_regular_p(r) && mpfr_get_exp(r) - 1 < 1 - bias) {
        mpfr_clear(r);
        return num_zero(f, neg);
    }
    mpfr_set_emin(2 - bias - (long)f->man);
    mpfr_set_emax(bias + 1);
    t = mpfr_check_range(r, t, num_mode(rnd));
    mpfr_subnormalize(r, t, num_mode(rnd));
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    uint64_t out;
    if (mpfr_zero_p(r)) {
        out = num_zero(f, neg);
    } else if (mpfr_inf_p(r)) {
        out = num_inf(f, neg);
    } else {
        long e = mpfr_get_exp(r) - 1, low = 1 - bias; /* value in [2^e, 2^(e+1)) */
        if (e < low)
            e = low;
        mpfr_abs(r, r, MPFR_RNDN);
        mpfr_mul_2si(r, r, (long)f->man - e, MPFR_RNDN);
        uint64_t m = mpfr_get_ui(r, MPFR_RNDZ);
        bool normal = m >> f->man & 1;
        out = num_zero(f, neg) | (normal ? (uint64_t)(e + bias) << f->man : 0) | (m & mask_bits(f->man));
    }
    mpfr_clear(r);
    return out;
}

char num_rounding(const struct ref_inst *in, char otherwise)
{
    for (int i = 0; i < in->nmods; i++) {
        const char *m = in->mod[i];
        if (m[0] == 'r' && strchr("nzmp", m[1]) && m[1] && (!m[2] || (m[2] == 'i' && !m[3])))
            return m[1];
    }
    return otherwise;
}
