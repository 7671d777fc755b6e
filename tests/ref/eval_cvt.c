/* eval_cvt.c - conversions: integers, floats, narrow packed formats. */
#include "eval.h"
#include <string.h>

static uint64_t clamp_int(enum wg_type t, wide v)
{
    unsigned n = wg_type_bytes(t) * 8;
    wide lo = type_signed(t) ? -((wide)1 << (n - 1)) : 0;
    wide hi = type_signed(t) ? ((wide)1 << (n - 1)) - 1 : ((wide)1 << n) - 1;
    v = v < lo ? lo : v > hi ? hi : v;
    return (uint64_t)v & mask_bits(n);
}

/* An 8-bit result fills its wider register: sign- or zero-extended. */
static uint64_t widen(enum wg_type t, uint64_t v)
{
    return wg_type_bytes(t) != 1 ? v : type_signed(t) ? (uint64_t)sext(v, 8) & 0xffffffff : v & 0xff;
}

static uint64_t float_to_int(const struct ref_inst *in, enum wg_type to, enum wg_type from, uint64_t a)
{
    const struct fmt *f = ref_fmt(from);
    unsigned n = wg_type_bytes(to) * 8;
    if (ref_has(in, "ftz"))
        a = num_flush(f, a);
    if (num_isnan(f, a)) /* documented: zero, but the middle of the range for 64-bit results and double sources */
        return from == WG_T_F64 || n == 64 ? 1ull << (n - 1) : 0;
    if (num_isinf(f, a))
        return clamp_int(to, num_sign(f, a) ? -((wide)1 << 100) : (wide)1 << 100);
    mpfr_t x;
    mpfr_init(x);
    num_get(x, f, a);
    switch (num_rounding(in, 'z')) {
    case 'n':
        mpfr_rint(x, x, MPFR_RNDN);
        break;
    case 'z':
        mpfr_rint_trunc(x, x, MPFR_RNDN);
        break;
    case 'm':
        mpfr_rint_floor(x, x, MPFR_RNDN);
        break;
    default:
        mpfr_rint_ceil(x, x, MPFR_RNDN);
        break;
    }
    wide v;
    if (!mpfr_zero_p(x) && mpfr_get_exp(x) > 66) {
        v = (wide)1 << 100;
    } else { /* two halves, for MPFR has no 128-bit integers */
        mpfr_t hi;
        mpfr_init2(hi, 200);
        mpfr_abs(hi, x, MPFR_RNDN);
        mpfr_div_2ui(hi, hi, 40, MPFR_RNDN);
        mpfr_floor(hi, hi);
        v = (wide)mpfr_get_ui(hi, MPFR_RNDZ) << 40;
        mpfr_mul_2ui(hi, hi, 40, MPFR_RNDN);
        mpfr_t rest;
        mpfr_init2(rest, 200);
        mpfr_abs(rest, x, MPFR_RNDN);
        mpfr_sub(rest, rest, hi, MPFR_RNDN);
        v += (wide)mpfr_get_ui(rest, MPFR_RNDZ);
        mpfr_clears(hi, rest, (mpfr_ptr)0);
    }
    if (mpfr_signbit(x))
        v = -v;
    mpfr_clear(x);
    return clamp_int(to, v);
}

/* .sat, .relu and .satfinite on a result of format f */
static uint64_t limit(const struct ref_inst *in, const struct fmt *f, uint64_t v)
{
    if (ref_has(in, "satfinite") && num_isinf(f, v))
        v = num_max(f, num_sign(f, v));
    if (ref_has(in, "relu") && !num_isnan(f, v) && num_sign(f, v))
        return 0;
    if (ref_has(in, "sat")) {
        uint64_t one = mask_bits(f->exp - 1) << f->man;
        return num_isnan(f, v) || num_sign(f, v) ? 0 : v > one ? one : v;
    }
    return v;
}

static uint64_t int_to_float(const struct ref_inst *in, const struct fmt *f, enum wg_type from, uint64_t a)
{
    wide v = int_value(from, a);
    bool neg = v < 0;
    unsigned __int128 u = (unsigned __int128)(neg ? -v : v);
    mpfr_t x;
    mpfr_init2(x, 64);
    mpfr_set_ui(x, (unsigned long)u, MPFR_RNDN); /* at most 64 bits: exact */
    mpfr_setsign(x, x, neg, MPFR_RNDN);
    uint64_t d = 0;
    if (v) {
        mpfr_t wide_x; /* a precision that is no format's, so that num_round rounds once */
        mpfr_init2(wide_x, 80);
        mpfr_set(wide_x, x, MPFR_RNDN);
        d = num_round(f, wide_x, 0, num_rounding(in, 'n'));
        mpfr_clear(wide_x);
    }
    mpfr_clear(x);
    return limit(in, f, d);
}

/* Measured: a double's NaN keeps its sign and the high bits of its payload, and a NaN that becomes double is extended;
 * what is no more than a move leaves it alone; all else gives the format's one NaN. */
static uint64_t convert_nan(const struct ref_inst *in, const struct fmt *to, const struct fmt *from, uint64_t a)
{
    bool plain = !num_rounding(in, 0) && !ref_has(in, "ftz") && !ref_has(in, "sat");
    if (to == from && (to == &fmt_f64 || to == &fmt_f32))
        return plain ? a : num_quiet(to, a);
    if (to == &fmt_f32 && from == &fmt_bf16 && plain)
        return a << 16;
    if (to != &fmt_f64 && from != &fmt_f64)
        return to->nan;
    if (ref_has(in, "ftz") && from == &fmt_f32)
        a = fmt_f32.nan;
    uint64_t payload = a & mask_bits(from->man);
    payload = to->man > from->man ? payload << (to->man - from->man) : payload >> (from->man - to->man);
    return num_inf(to, num_sign(from, a)) | payload | 1ull << (to->man - 1);
}

/* From one float format to another, or to an integral value of the same one. */
static uint64_t float_to_float(const struct ref_inst *in, const struct fmt *to, const struct fmt *from, uint64_t a)
{
    bool ftz = ref_has(in, "ftz");
    if (ftz && from == &fmt_f32 && to != &fmt_f16) /* measured: to half, subnormal sources count */
        a = num_flush(from, a);
    if (num_isnan(from, a))
        return limit(in, to, convert_nan(in, to, from, a));
    mpfr_t x;
    mpfr_init(x);
    num_get(x, from, a);
    char rnd = num_rounding(in, 0);
    if (to == from && rnd) {
        mpfr_t r;
        mpfr_init2(r, from->man + 1);
        mpfr_rint(r, x, num_mode(rnd));
        mpfr_set(x, r, MPFR_RNDN);
        mpfr_setsign(x, x, num_sign(from, a), MPFR_RNDN);
        mpfr_clear(r);
    }
    mpfr_t w;
    mpfr_init2(w, 80);
    mpfr_set(w, x, MPFR_RNDN);
    uint64_t d = num_round_ftz(to, w, 0, rnd ? rnd : 'n', ftz && to == &fmt_f32);
    mpfr_clears(x, w, (mpfr_ptr)0);
    return limit(in, to, d);
}

/* tf32 keeps 10 bits of a float's mantissa. .rna rounds ties away, and as measured is nothing but that integer
 * addition, for infinities and NaNs too, without reaching the sign; satfinite then steps down once. */
static uint64_t to_tf32(const struct ref_inst *in, uint64_t a)
{
    if (!ref_has(in, "rna"))
        return float_to_float(in, &fmt_tf32, &fmt_f32, a) << 13;
    uint64_t d = a & 0x7fffffff;
    d = (d > 0x7fffffff - 0x1000 ? 0x7fffffff : d + 0x1000) & 0xffffe000;
    d |= a & 0x80000000;
    if (ref_has(in, "satfinite") && (d & 0x7f800000) == 0x7f800000)
        d -= 0x2000;
    return d;
}

/* 8-bit floats, always satfinite: e4m3 has no infinity and its largest number is 448; e5m2 is cut from half. */
static const struct fmt fmt_e5m2 = {8, 2, 5, 0x7f}, fmt_e4m3 = {8, 3, 4, 0x7f};

static uint64_t to_fp8(const struct ref_inst *in, bool e4m3, const struct fmt *from, uint64_t a)
{
    if (num_isnan(from, a))
        return 0x7f;
    bool neg = num_sign(from, a);
    if (neg && ref_has(in, "relu"))
        return 0;
    uint64_t sign = neg ? 0x80 : 0, most = e4m3 ? 0x7e : 0x7b;
    if (num_isinf(from, a))
        return sign | most;
    mpfr_t x, w;
    mpfr_init(x);
    mpfr_init2(w, 80);
    num_get(x, from, a);
    mpfr_abs(w, x, MPFR_RNDN);
    uint64_t d;
    if (e4m3 && mpfr_cmp_ui(w, 256) >= 0) { /* the top binade, which IEEE formats give to infinity: steps of 32 */
        mpfr_div_ui(w, w, 32, MPFR_RNDN);
        mpfr_rint(w, w, MPFR_RNDN);
        d = mpfr_cmp_ui(w, 14) >= 0 ? most : 0x70 + mpfr_get_ui(w, MPFR_RNDN);
    } else {
        d = num_round(e4m3 ? &fmt_e4m3 : &fmt_e5m2, w, 0, 'n');
        if (!e4m3 && d > most)
            d = most;
    }
    mpfr_clears(x, w, (mpfr_ptr)0);
    return sign | d;
}

static uint64_t from_fp8(const struct ref_inst *in, bool e4m3, uint64_t a)
{
    bool nan = e4m3 ? (a & 0x7f) == 0x7f : (a & 0x7f) > 0x7c;
    uint64_t h;
    if (nan)
        return fmt_f16.nan;
    if (!e4m3) {
        h = a << 8; /* the same exponent */
    } else {
        unsigned e = a >> 3 & 15, m = a & 7;
        mpfr_t x;
        mpfr_init2(x, 80);
        mpfr_set_ui_2exp(x, e ? 8 + m : m, (e ? (int)e : 1) - 7 - 3, MPFR_RNDN);
        h = num_round(&fmt_f16, x, 0, 'n') | (a & 0x80) << 8;
        mpfr_clear(x);
    }
    return ref_has(in, "relu") && h >> 15 ? 0 : h;
}

static enum ref_kind fp8(const struct ref_inst *in, enum wg_type to, enum wg_type from, const uint64_t *s,
                         uint64_t *dst)
{
    bool back = from == WG_T_E4M3X2 || from == WG_T_E5M2X2;
    bool e4m3 = (back ? from : to) == WG_T_E4M3X2;
    if (back)
        dst[0] = from_fp8(in, e4m3, s[0] & 0xff) | from_fp8(in, e4m3, s[0] >> 8 & 0xff) << 16;
    else if (from == WG_T_F32)
        dst[0] = to_fp8(in, e4m3, &fmt_f32, s[0]) << 8 | to_fp8(in, e4m3, &fmt_f32, s[1]);
    else
        dst[0] = to_fp8(in, e4m3, &fmt_f16, s[0] >> 16 & 0xffff) << 8 | to_fp8(in, e4m3, &fmt_f16, s[0] & 0xffff);
    return REF_EXACT;
}

/* cvt.pack.sat.T.s32[.b32]: saturate a and b to T, put b lowest, then a, then c's low bits above. */
static enum ref_kind pack(const struct ref_inst *in, const uint64_t *s, uint64_t *dst)
{
    static const char names[][4] = {"u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"};
    static const unsigned sizes[] = {16, 16, 8, 8, 4, 4, 2, 2};
    int at = -1;
    for (int i = 0; i < 8; i++)
        if (ref_has(in, names[i]) || (in->ntypes && !strcmp(wg_type_infos[in->type[0]].text, names[i])))
            at = i;
    if (at < 0)
        return REF_UNKNOWN;
    unsigned n = sizes[at];
    bool sg = names[at][0] == 's';
    int64_t lo = sg ? -(1ll << (n - 1)) : 0, hi = sg ? (1ll << (n - 1)) - 1 : (1ll << n) - 1;
    uint64_t d = n == 16 ? 0 : s[2] << (2 * n);
    for (int i = 0; i < 2; i++) {
        int64_t v = sext(s[1 - i], 32);
        v = v < lo ? lo : v > hi ? hi : v;
        d |= ((uint64_t)v & mask_bits(n)) << (n * (unsigned)i);
    }
    dst[0] = d & 0xffffffff;
    return REF_EXACT;
}

enum ref_kind eval_cvt(const struct ref_inst *in, const uint64_t *s, uint64_t *dst)
{
    if (in->op == WG_OP_CVT_PACK)
        return pack(in, s, dst);
    if (in->ntypes < 2)
        return REF_UNKNOWN;
    enum wg_type to = (enum wg_type)in->type[0], from = (enum wg_type)in->type[1];
    const struct fmt *ft = ref_fmt(to), *ff = ref_fmt(from);
    if (to == WG_T_E4M3X2 || to == WG_T_E5M2X2 || from == WG_T_E4M3X2 || from == WG_T_E5M2X2)
        return fp8(in, to, from, s, dst);
    if (to == WG_T_TF32)
        dst[0] = to_tf32(in, s[0]);
    else if (to == WG_T_F16X2 || to == WG_T_BF16X2)
        dst[0] = float_to_float(in, ft, ff, s[0]) << 16 | float_to_float(in, ft, ff, s[1]);
    else if (ft && ff)
        dst[0] = float_to_float(in, ft, ff, s[0]);
    else if (ft)
        dst[0] = int_to_float(in, ft, from, s[0]);
    else if (ff)
        dst[0] = widen(to, float_to_int(in, to, from, s[0]));
    else {
        wide v = int_value(from, s[0]);
        unsigned n = wg_type_bytes(to) * 8;
        dst[0] = widen(to, ref_has(in, "sat") ? clamp_int(to, v) : (uint64_t)v & mask_bits(n));
    }
    return REF_EXACT;
}
