/* libdevice_test.c - every row of libdevice.def against MPFR or integer arithmetic, in every build of the table.
 *
 * WG_TEST_SAMPLES sets the random operands per row (default 300); edge values are always used. Prints the largest error
 * of each inexact row with -v. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "exec/libdevice.h"
#include "exec/libdevice_inline.h"
#include "libdevice_ref.h"

/* ---- the bounds, as written in the table ---- */
struct limit {
    double ulp, abs;
};
#define ULP(n) ((struct limit){(n), 0})
#define OWN(n) ((struct limit){(n), 0})
#define ABS(e) ((struct limit){0, (e)})
typedef struct limit (*bound_fn)(double a, double b);
#define BOUND(name, bound)                                                                                             \
    static struct limit bound_##name(double a, double b)                                                               \
    {                                                                                                                  \
        (void)a, (void)b;                                                                                              \
        return bound;                                                                                                  \
    }
#define WG_NVV1(name, R, A, bound, ...)         BOUND(name, bound)
#define WG_NVV2(name, R, A, B, bound, ...)      BOUND(name, bound)
#define WG_NVV3(name, R, A, B, C, bound, ...)   BOUND(name, bound)
#define WG_NVS1                                 WG_NVV1
#define WG_NVS2                                 WG_NVV2
#define WG_NV1                                  WG_NVV1
#define WG_NV2                                  WG_NVV2
#define WG_NV3                                  WG_NVV3
#define WG_NV4(name, R, A, B, C, D, bound, ...) BOUND(name, bound)
#define WG_NVR1(name, R, A, ...)                BOUND(name, ULP(0))
#define WG_NVR2(name, R, A, B, ...)             BOUND(name, ULP(0))
#define WG_NVR3(name, R, A, B, C, ...)          BOUND(name, ULP(0))
#define WG_NVP1                                 WG_NVV1
#define WG_NVP2                                 WG_NVV2
#define WG_NVP3                                 WG_NVV3
#include "exec/libdevice.def"
#include "exec/libdevice_undef.h"
#define ENTRY(name, ...) bound_##name,
#define WG_NVV1          ENTRY
#define WG_NVV2          ENTRY
#define WG_NVV3          ENTRY
#define WG_NVS1          ENTRY
#define WG_NVS2          ENTRY
#define WG_NV1           ENTRY
#define WG_NV2           ENTRY
#define WG_NV3           ENTRY
#define WG_NV4           ENTRY
#define WG_NVR1          ENTRY
#define WG_NVR2          ENTRY
#define WG_NVR3          ENTRY
#define WG_NVP1          ENTRY
#define WG_NVP2          ENTRY
#define WG_NVP3          ENTRY
static const bound_fn bounds[] = {
#include "exec/libdevice.def"
};

/* ---- operands ---- */
static uint64_t seed = 0x9e3779b97f4a7c15u;
static uint64_t rnd(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed * 0x2545f4914f6cdd1du;
}
static double uniform(double lo, double hi)
{
    return lo + (hi - lo) * (double)(rnd() >> 11) * 0x1p-53;
}

static const double edges[] = {0.0,
                               -0.0,
                               1.0,
                               -1.0,
                               0.5,
                               -0.5,
                               2.0,
                               -2.0,
                               1.5,
                               -1.5,
                               2.5,
                               -2.5,
                               3.0,
                               -3.0,
                               0.25,
                               0.75,
                               10.0,
                               100.0,
                               1000.0,
                               -10.0,
                               -100.0,
                               88.72283,
                               88.72284,
                               -87.33655,
                               -103.9721,
                               -104.0,
                               127.99999,
                               128.0,
                               -126.0,
                               -149.0,
                               -150.0,
                               709.782712893384,
                               709.782712893385,
                               -745.1332191019412,
                               -745.13321910194122,
                               1024.0,
                               -1074.0,
                               -1075.0,
                               3.14159265358979,
                               1.5707963267948966,
                               0.7853981633974483,
                               2.404825557695773,
                               5.520078110286311,
                               3.831705970207512,
                               7.015586669815619,
                               0.8935769662791675,
                               3.957678419314858,
                               7.086051060301773,
                               2.197141326031017,
                               5.429681040794135,
                               0x1p-149,
                               -0x1p-149,
                               0x1p-126,
                               0x1.fffffcp-127,
                               0x1.fffffep127,
                               -0x1.fffffep127,
                               0x1p-1074,
                               0x1p-1022,
                               0x1.fffffffffffffp1023,
                               16777216.0,
                               16777217.0,
                               8388607.5,
                               8388608.5,
                               2147483647.0,
                               2147483648.0,
                               -2147483648.0,
                               -2147483649.0,
                               4294967295.0,
                               4294967295.5,
                               4294967296.0,
                               9223372036854775807.0,
                               9223371487098961920.0,
                               -9223372036854775808.0,
                               18446744073709551615.0,
                               1e10,
                               1e20,
                               1e30,
                               1e300,
                               1e-10,
                               1e-30,
                               1e-300,
                               0x1p20,
                               0x1p53,
                               65504.0,
                               65520.0,
                               65519.99,
                               0x1p-14,
                               0x1p-24,
                               0x1p-25,
                               0x1.000002p0,
                               0x1.fffffep-1,
                               0x1.0000000000001p0,
                               0x1.fffffffffffffp-1,
                               0.1,
                               -0.1,
                               -5.0,
                               -2.7,
                               -10.5,
                               33.0,
                               171.6,
                               35.0,
                               26.5,
                               50.0,
                               5.0,
                               INFINITY,
                               -INFINITY,
                               NAN};
static const uint64_t int_edges[] = {0,
                                     1,
                                     2,
                                     3,
                                     7,
                                     0x7f,
                                     0x80,
                                     0xff,
                                     0x100,
                                     0x7fff,
                                     0x8000,
                                     0xffff,
                                     0x10000,
                                     0x7fffff,
                                     0x800000,
                                     0xffffff,
                                     0x1000000,
                                     0x7fffffff,
                                     0x80000000,
                                     0xfffffffe,
                                     0xffffffff,
                                     0x100000000,
                                     0x7fffffffffffffff,
                                     0x8000000000000000,
                                     0xffffffffffffffff,
                                     0x80008000,
                                     0x7f7f7f7f,
                                     0x80808080,
                                     0x7fff7fff,
                                     0x76543210,
                                     0x0123};
enum { NEDGES = sizeof edges / sizeof *edges, NINTS = sizeof int_edges / sizeof *int_edges };

static uint64_t bits_of(char type, double v)
{
    return type == 'f' ? wg_f32_bits((float)v) : wg_f64_bits(v);
}

/* i-th operand of this type: edges first, then random ones of several distributions */
static uint64_t operand(char type, const char *name, unsigned i, bool edge)
{
    bool small = type == 'i' && (strstr(name, "jn") || strstr(name, "yn"));
    if (small)
        return edge && i < 4 ? (uint64_t[]){0, 1, (uint64_t)-1, 2}[i] : rnd() % 130;
    if (type == 'i' && strstr(name, "norm"))
        return edge && !i ? (uint64_t)-1 : rnd() % 33;
    if (strchr("ld", type) == NULL && !strchr("fd", type) && edge && type != 'h')
        return int_edges[i % NINTS];
    switch (type) {
    case 'f':
    case 'd':
        if (edge)
            return bits_of(type, edges[i % NEDGES]);
        switch (rnd() % 8) {
        case 0:
            if (rnd() % 8 == 0) /* NaNs of every kind */
                return type == 'f' ? (uint32_t)rnd() | 0x7f800000u : rnd() | 0x7ff0000000000000u;
            return type == 'f' ? (uint32_t)rnd() : rnd();
        case 1:
            return type == 'f' ? (uint32_t)rnd() : rnd();
        case 2:
            return bits_of(type, uniform(-1, 1));
        case 3:
            return bits_of(type, uniform(0, 1));
        case 4:
            return bits_of(type, uniform(-150, 150));
        case 5:
            return bits_of(type, copysign(exp2(uniform(-40, 40)), uniform(-1, 1)));
        case 6:
            if (rnd() & 1) /* beside a listed value, zeros of Bessel functions among them */
                return bits_of(type, edges[rnd() % NEDGES] * (1 + ldexp(uniform(-1, 1), -(int)(rnd() % 54))));
            return bits_of(type, rint(uniform(-30, 30)) / 2);
        default:
            return bits_of(type, uniform(-10, 10));
        }
    case 'h':
        return rnd() & 0xffff;
    default:
        if (edge)
            return int_edges[i % NINTS];
        return rnd() % 3 ? rnd() : (uint64_t)(int64_t)((int)(rnd() % 2001) - 1000);
    }
}

/* ---- memory of the functions with pointers: operand k of lane l points at l * 4096 + k * 256 ---- */
struct memory {
    uint8_t bytes[32 * 4096];
    bool refuse;
    unsigned loads, stores;
};
static bool mem_store(void *owner, unsigned lane, uint64_t addr, const void *bytes, unsigned n)
{
    struct memory *m = owner;
    m->stores++;
    if (m->refuse)
        return false;
    if (addr / 4096 != lane || addr + n > sizeof m->bytes)
        abort();
    memcpy(m->bytes + addr, bytes, n);
    return true;
}
static bool mem_load(void *owner, unsigned lane, uint64_t addr, void *bytes, unsigned n)
{
    struct memory *m = owner;
    m->loads++;
    if (m->refuse)
        return false;
    if (addr / 4096 != lane || addr + n > sizeof m->bytes)
        abort();
    memcpy(bytes, m->bytes + addr, n);
    return true;
}
static struct memory memory;
static const struct wg_libdevice_ctx ctx = {&memory, mem_store, mem_load};

/* ---- comparison ---- */
static int failures;
struct worst {
    double ulp;
    double at[4];
};

static double value_of(char type, uint64_t bits)
{
    return type == 'f' || type == 'r' ? (double)wg_bits_f32((uint32_t)bits) : wg_bits_f64(bits);
}

static void complain(const char *name, unsigned level, const struct operands *x, const char *sig, uint64_t got,
                     const struct expect *e, const char *what, double err)
{
    if (++failures > 40)
        return;
    printf("FAIL %s (level %u)(", name, level);
    for (size_t k = 1; sig[k]; k++)
        if (strchr("fd", sig[k]))
            printf("%s%a", k > 1 ? ", " : "", value_of(sig[k], x->bits[k - 1]));
        else
            printf("%s0x%llx", k > 1 ? ", " : "", (unsigned long long)x->bits[k - 1]);
    printf(") = 0x%llx", (unsigned long long)got);
    if (strchr("fdr", e->type))
        printf(" %a", value_of(e->type, got));
    if (e->kind == EXPECT_BITS)
        printf(", want 0x%llx", (unsigned long long)e->bits);
    else
        mpfr_printf(", want %.22Ra", e->v);
    printf(": %s", what);
    if (err > 0)
        printf(" %g", err);
    printf("\n");
}

/* exponent of one ulp of t in this format */
static long ulp_exp(char type, const mpfr_t t)
{
    bool f = type == 'f' || type == 'r';
    long e = (mpfr_zero_p(t) ? -5000 : (long)mpfr_get_exp(t)) - (f ? 24 : 53), least = f ? -149 : -1074,
         most = f ? 104 : 971;
    return e < least ? least : e > most ? most : e;
}

static void check_value(const char *name, unsigned level, const char *sig, const struct operands *x, uint64_t got,
                        struct expect *e, struct limit bound, struct worst *worst)
{
    static mpfr_t d, g;
    static bool ready;
    if (!ready) {
        mpfr_inits2(4400, d, g, (mpfr_ptr)0);
        ready = true;
    }
    bool f = e->type == 'f' || e->type == 'r';
    double v = value_of(e->type, got);
    if (mpfr_nan_p(e->v)) {
        if (!isnan(v))
            complain(name, level, x, sig, got, e, "not a NaN", 0);
        else if (e->type == 'f' && got != 0x7fffffffu)
            complain(name, level, x, sig, got, e, "not the canonical NaN", 0);
        return;
    }
    if (isnan(v)) {
        complain(name, level, x, sig, got, e, "NaN", 0);
        return;
    }
    double nearest = f ? (double)mpfr_get_flt(e->v, e->round) : mpfr_get_d(e->v, e->round);
    bool signed_zero = mpfr_zero_p(e->v) && (v != 0 || signbit(v) != mpfr_signbit(e->v));
    if (mpfr_inf_p(e->v) || signed_zero || (bound.ulp == 0 && bound.abs == 0)) {
        bool same = f ? wg_f32_bits((float)v) == wg_f32_bits((float)nearest) : wg_f64_bits(v) == wg_f64_bits(nearest);
        if (!same && !(bound.abs > 0 && fabs(v - nearest) <= bound.abs))
            complain(name, level, x, sig, got, e, "not exact", 0);
        return;
    }
    /* an infinity is as far as the next value would be, were there one; so is a true value beyond that */
    mpfr_set_ui_2exp(g, 1, f ? 128 : 1024, MPFR_RNDN);
    if (mpfr_cmpabs(e->v, g) > 0)
        mpfr_setsign(e->v, g, mpfr_signbit(e->v), MPFR_RNDN);
    if (isinf(v))
        mpfr_set_si_2exp(g, v < 0 ? -1 : 1, f ? 128 : 1024, MPFR_RNDN);
    else
        mpfr_set_d(g, v, MPFR_RNDN);
    mpfr_sub(d, g, e->v, MPFR_RNDN);
    mpfr_abs(d, d, MPFR_RNDN);
    double absolute = mpfr_get_d(d, MPFR_RNDU);
    mpfr_mul_2si(d, d, -ulp_exp(e->type, e->v), MPFR_RNDN);
    double ulp = mpfr_get_d(d, MPFR_RNDU);
    if (bound.ulp > 0 && ulp > worst->ulp) {
        worst->ulp = ulp;
        for (size_t k = 1; sig[k]; k++)
            worst->at[k - 1] =
                strchr("fd", sig[k]) ? value_of(sig[k], x->bits[k - 1]) : (double)(int64_t)x->bits[k - 1];
    }
    if (bound.abs > 0 ? absolute > bound.abs : ulp > bound.ulp)
        complain(name, level, x, sig, got, e, bound.abs > 0 ? "absolute error" : "ulp error",
                 bound.abs > 0 ? absolute : ulp);
}

/* got must be within the bound of the x with f(x) = v: f at the ends of that interval brackets v */
static void check_inverse(const char *name, unsigned level, const char *sig, const struct operands *x, uint64_t got,
                          struct expect *e, struct limit bound)
{
    double v = value_of(e->type, got);
    if (!isfinite(v)) {
        complain(name, level, x, sig, got, e, "not finite", 0);
        return;
    }
    mpfr_t g, lo, hi;
    mpfr_inits2(300, g, lo, hi, (mpfr_ptr)0);
    mpfr_set_d(g, v, MPFR_RNDN);
    mpfr_set_d(hi, bound.ulp, MPFR_RNDN);
    mpfr_mul_2si(hi, hi, ulp_exp(e->type, g), MPFR_RNDN);
    mpfr_sub(lo, g, hi, MPFR_RNDN);
    mpfr_add(hi, g, hi, MPFR_RNDN);
    e->f(g, lo);
    mpfr_swap(lo, g);
    e->f(g, hi);
    mpfr_swap(hi, g);
    if (!e->rising)
        mpfr_swap(lo, hi);
    if (mpfr_greater_p(lo, e->v) || mpfr_less_p(hi, e->v))
        complain(name, level, x, sig, got, e, "outside the bound in ulp:", bound.ulp);
    mpfr_clears(g, lo, hi, (mpfr_ptr)0);
}

static void check(const struct wg_libdevice *row, unsigned level, const struct operands *x, uint64_t got,
                  struct expect *e, struct limit bound, struct worst *worst)
{
    const char *name = row->name + 5;
    if (e->kind == EXPECT_BITS) {
        uint64_t want = e->bits;
        if (!strncmp(name, "remquo", 6)) { /* promised: the sign and the low three bits */
            int g = (int)got, w = (int)want;
            got = (g < 0 && (g & 7) ? 8u : 0) | (unsigned)(abs(g) & 7);
            want = (w < 0 ? 8u : 0) | (unsigned)(abs(w) & 7);
        }
        if (got != want)
            complain(name, level, x, row->sig, got, e, "differs", 0);
    } else if (e->kind == EXPECT_VALUE) {
        check_value(name, level, row->sig, x, got, e, bound, worst);
    } else if (e->kind == EXPECT_INVERSE) {
        check_inverse(name, level, row->sig, x, got, e, bound);
    }
}

/* operand as the number that the bound's condition sees */
static double number(char type, uint64_t bits)
{
    return type == 'f' ? (double)wg_bits_f32((uint32_t)bits) : type == 'd' ? wg_bits_f64(bits) : (double)(int32_t)bits;
}

static const char *const tags[] = {"",
                                   "0",
                                   "1",
                                   "12345",
                                   "017",
                                   "08",
                                   "0x",
                                   "0x1F",
                                   "0xabcdef",
                                   "0xg",
                                   "99999999999999999999",
                                   "x",
                                   "-1",
                                   "0x7ffffffffffff",
                                   "4194304",
                                   "1e5"};

static uint64_t get(const uint32_t *w, char type, unsigned l)
{
    return strchr("dlmp", type) ? (uint64_t)w[32 + l] << 32 | w[l] : w[l];
}

struct batch {
    struct operands x[32];
    uint32_t words[4][64];
    const uint32_t *arg[4];
};

static void fill(struct batch *b, const struct wg_libdevice *row, unsigned first, bool edge)
{
    const char *name = row->name + 5;
    unsigned n = row->nargs;
    for (unsigned l = 0; l < 32; l++)
        for (unsigned k = 0; k < n; k++) {
            unsigned i = first + l;
            /* edges: all of one operand; pairs and more walk the product with strides prime to the list's length */
            unsigned pick = !edge ? 0 : n == 1 ? i : k == 0 ? i / 7 : k == 1 ? i * 31 + i / 97 : i * (47 + 12 * k);
            uint64_t v = row->sig[k + 1] == 'p' ? l * 4096 + k * 256 : operand(row->sig[k + 1], name, pick, edge);
            if (k && row->sig[k + 1] == row->sig[1] && strchr("fd", row->sig[1]) && !edge && rnd() % 16 == 0)
                v = b->x[l].bits[0]; /* equal operands */
            if (row->arg_size[k] < 8)
                v &= row->arg_size[k] == 2 ? 0xffffu : 0xffffffffu;
            b->x[l].bits[k] = v;
            b->words[k][l] = (uint32_t)v;
            b->words[k][32 + l] = (uint32_t)(v >> 32);
            if (row->arg_size[k] == 2)
                b->words[k][l] |= (uint32_t)rnd() << 16; /* the upper half is not ours to read */
        }
    for (unsigned l = 0; l < 32; l++)
        for (unsigned i = 0; i < 32; i++) { /* what pointers address: floats, doubles or a string */
            unsigned k = row->sig[1] == 'p' ? 0 : 1;
            uint8_t *cell = memory.bytes + l * 4096 + k * 256;
            double v = value_of('d', operand('d', name, 0, false));
            v = rnd() % 200 ? v : rnd() % 2 ? NAN : INFINITY;
            if (row->sig[1] == 'p')
                snprintf((char *)cell, 256, "%s", tags[(first + l) % (sizeof tags / sizeof *tags)]);
            else if (row->sig[0] == 'f')
                memcpy(cell + 4 * i, &(float){(float)v}, 4);
            else
                memcpy(cell + 8 * i, &v, 8);
        }
}

static void run_row(const struct wg_libdevice *const *rows, unsigned levels, bound_fn bound, unsigned samples,
                    bool verbose)
{
    const struct wg_libdevice *row = rows[0];
    const char *name = row->name + 5;
    static struct batch b;
    static struct expect e[OUTS];
    static bool ready;
    struct worst worst = {0};
    if (!ready)
        for (int k = 0; k < OUTS; k++)
            mpfr_init2(e[k].v, 200);
    ready = true;
    unsigned nedges = row->nargs == 1 ? NEDGES : 4 * NEDGES;
    bool slow = strstr(name, "jn") || strstr(name, "yn");
    samples = slow ? samples / 4 : samples;
    for (unsigned i = 0; i < nedges + samples; i += 32) {
        fill(&b, row, i, i < nedges);
        for (unsigned k = 0; k < 4; k++)
            b.arg[k] = b.words[k];
        static struct memory before, after;
        uint32_t ret[2][64], part[64], untouched[64];
        before = memory;
        for (unsigned v = 0; v < levels; v++) {
            memory = before;
            memset(ret[v], 0xa5, sizeof ret[v]);
            rows[v]->fn(&ctx, ~0u, ret[v], b.arg);
            after = memory;
            /* lanes that are off keep their words and store nothing */
            uint32_t mask = (uint32_t)rnd();
            memory = before;
            memset(part, 0x5a, sizeof part);
            memcpy(untouched, part, sizeof part);
            rows[v]->fn(&ctx, mask, part, b.arg);
            for (unsigned l = 0; l < 32; l++) {
                bool on = mask >> l & 1;
                uint64_t want = get(on ? ret[v] : untouched, row->sig[0], l);
                if (row->ret_size && get(part, row->sig[0], l) != want && ++failures < 40)
                    printf("FAIL %s (level %u): lane %u under mask %08x\n", name, v, l, mask);
                if (memcmp(memory.bytes + l * 4096, (on ? after : before).bytes + l * 4096, 4096) && ++failures < 40)
                    printf("FAIL %s (level %u): stores of lane %u under mask %08x\n", name, v, l, mask);
            }
            memory = after;
        }
        if (levels == 2 && row->ret_size && memcmp(ret[0], ret[1], row->ret_size > 4 ? 256 : 128) && ++failures < 40)
            printf("FAIL %s: the portable and the v3 table differ\n", name);
        for (unsigned l = 0; l < 32; l++) {
            const void *cells = before.bytes + l * 4096 + (row->sig[1] == 'p' ? 0 : 256);
            const struct operands *x = &b.x[l];
            if (!libdevice_reference(name, row->sig, x, cells, e)) {
                printf("FAIL %s: no reference\n", name);
                failures++;
                return;
            }
            double in[2] = {number(row->sig[1], x->bits[0]), row->nargs > 1 ? number(row->sig[2], x->bits[1]) : 0};
            struct limit bd = bound(in[0], in[1]);
            if (row->ret_size)
                check(row, 0, x, get(ret[0], row->sig[0], l), &e[0], bd, &worst);
            for (unsigned k = 1, p = 0; k <= row->nargs && p < 2; k++)
                if (row->sig[k] == 'p') { /* p-th pointer: the value stored there */
                    uint64_t got = 0;
                    p++;
                    memcpy(&got, memory.bytes + l * 4096 + (k - 1) * 256, e[p].type == 'd' ? 8 : 4);
                    check(row, 0, x, got, &e[p], bd, &worst);
                }
        }
    }
    if (verbose && worst.ulp > 0)
        printf("%-16s %-46s worst %.4f ulp at %a, %a\n", name, row->bound, worst.ulp, worst.at[0], worst.at[1]);
}

int main(int argc, char **argv)
{
    const char *env = getenv("WG_TEST_SAMPLES");
    unsigned samples = env ? (unsigned)atoi(env) : 300, n = 0;
    bool verbose = argc > 1 && !strcmp(argv[1], "-v");
    const char *only = argc > 2 ? argv[2] : NULL;
    for (const struct wg_libdevice *row; (row = wg_libdevice_row(0, n)); n++) {
        const struct wg_libdevice *rows[2] = {row, wg_libdevice_row(1, n)};
        if (only && strcmp(only, row->name + 5))
            continue;
        const struct wg_libdevice *found = wg_libdevice_find(row->name, strlen(row->name));
        if (found != rows[1] && found != rows[0]) {
            printf("FAIL %s: found another row under its name\n", row->name);
            failures++;
        }
        run_row(rows, rows[1] ? 2 : 1, bounds[n], samples, verbose);
    }
    if (n != sizeof bounds / sizeof *bounds || wg_libdevice_find("__nv_expf", 7) || wg_libdevice_find("__nv_", 5) ||
        wg_libdevice_find("__nv_nosuch", 11) || wg_libdevice_find("expf", 4)) {
        printf("FAIL look-up\n");
        failures++;
    }
    /* refused accesses: no crash, one load at most a lane */
    memory.refuse = true;
    uint32_t zero[64] = {0}, ret[64];
    for (unsigned l = 0; l < 32; l++)
        zero[l] = 5;
    const uint32_t *arg[4] = {zero, zero, zero, zero};
    const char *const ptr[] = {"__nv_norm", "__nv_nan", "__nv_normf", "__nv_sincosf", "__nv_modf"};
    for (size_t i = 0; i < sizeof ptr / sizeof *ptr; i++) {
        memory.loads = 0;
        wg_libdevice_find(ptr[i], strlen(ptr[i]))->fn(&ctx, 0xffff, ret, arg);
        if (memory.loads > 16) {
            printf("FAIL %s: loads went on after a refusal\n", ptr[i]);
            failures++;
        }
    }
    printf("%u functions, %d failures\n", n, failures);
    return failures != 0;
}
