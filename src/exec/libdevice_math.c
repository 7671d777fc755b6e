/* libdevice_math.c - CUDA math functions that the C library lacks, in long double (64-bit fractions) and rounded once.
 */
#include "exec/libdevice_math.h"
#include <math.h>

#define PI_L      3.14159265358979323846264338327950288L
#define SQRT2_L   1.41421356237309504880168872420969808L
#define SQRT_PI_L 1.77245385090551602729816748334114518L

/* ---- circular functions of multiples of pi ---- */
double wg_libdevice_sinpi(double x)
{
    if (!isfinite(x))
        return x - x;
    if (x == trunc(x))
        return copysign(0.0, x);
    double r = x - 2.0 * rint(0.5 * x); /* exact, in [-1, 1] */
    if (fabs(r) > 0.5)
        r = copysign(1.0, r) - r;
    return (double)sinl(PI_L * r);
}

double wg_libdevice_cospi(double x)
{
    if (!isfinite(x))
        return x - x;
    double r = fabs(x) - 2.0 * rint(0.5 * fabs(x));
    return (double)sinl(PI_L * (0.5 - (long double)fabs(r)));
}

/* ---- lengths: a long double holds any double squared ---- */
static bool any_inf(double a, double b, double c, double d)
{
    return isinf(a) || isinf(b) || isinf(c) || isinf(d);
}

static long double norm4(double a, double b, double c, double d)
{
    return sqrtl((long double)a * a + (long double)b * b + ((long double)c * c + (long double)d * d));
}

double wg_libdevice_norm4(double a, double b, double c, double d)
{
    return any_inf(a, b, c, d) ? INFINITY : (double)norm4(a, b, c, d);
}

double wg_libdevice_rnorm4(double a, double b, double c, double d)
{
    return any_inf(a, b, c, d) ? 0.0 : (double)(1.0L / norm4(a, b, c, d));
}

/* Sum of squares in *sum (an infinity wins over NaN); false when a load was refused. */
static bool sum_squares(const struct wg_libdevice_ctx *ctx, unsigned lane, int dim, uint64_t p, unsigned size,
                        long double *sum)
{
    bool inf = false;
    *sum = 0;
    for (int i = 0; i < dim; i++) {
        float f;
        double d;
        if (!ctx->load(ctx->owner, lane, p + (uint64_t)i * size, size == 4 ? (void *)&f : (void *)&d, size))
            return false;
        d = size == 4 ? (double)f : d;
        inf |= isinf(d);
        *sum += (long double)d * d;
    }
    if (inf)
        *sum = INFINITY;
    return true;
}

float wg_libdevice_normf(const struct wg_libdevice_ctx *ctx, unsigned lane, int dim, uint64_t p, bool reciprocal)
{
    long double s;
    if (!sum_squares(ctx, lane, dim, p, 4, &s))
        return NAN;
    return (float)(reciprocal ? 1.0L / sqrtl(s) : sqrtl(s));
}

double wg_libdevice_norm(const struct wg_libdevice_ctx *ctx, unsigned lane, int dim, uint64_t p, bool reciprocal)
{
    long double s;
    if (!sum_squares(ctx, lane, dim, p, 8, &s))
        return NAN;
    return (double)(reciprocal ? 1.0L / sqrtl(s) : sqrtl(s));
}

/* ---- the error function's family ---- */
double wg_libdevice_erfcx(double x)
{
    if (x < -30.0)
        return INFINITY;
    if (x < 50.0) {
        double hi = x * x, lo = fma(x, x, -hi); /* exp magnifies the error of its argument: give it x^2 exactly */
        return (double)(expl((long double)hi) * (1.0L + lo) * erfcl((long double)x));
    }
    if (isnan(x))
        return x;
    /* 1/(x sqrt(pi)) (1 - 1/(2x^2) + 1*3/(2x^2)^2 - ...): eight terms reach 2^-64 well below x = 50 */
    long double q = 0.5L / ((long double)x * x), t = 1, s = 1;
    for (int k = 1; k <= 8; k++) {
        t *= -q * (2 * k - 1);
        s += t;
    }
    return (double)(s / (SQRT_PI_L * x));
}

/* erf^-1(y) for |y| <= 1/2: two terms of the series, then Halley's iteration, which triples the digits. */
static long double erfinv_central(long double y)
{
    if (y == 0)
        return y;
    long double x = 0.5L * SQRT_PI_L * y * (1 + y * y * (PI_L / 12 + y * y * (7 * PI_L * PI_L / 480)));
    for (int i = 0; i < 3; i++) {
        long double err = erfl(x) - y;
        x -= err / (2 / SQRT_PI_L * expl(-x * x) + x * err);
    }
    return x;
}

/* erfc^-1(p) for 0 < p <= 1/2: a rational approximation of the normal quantile good to 4.5e-4 (Abramowitz and Stegun,
 * 26.2.23), then Halley's iteration. */
static long double erfcinv_tail(long double p)
{
    long double t = sqrtl(-2 * logl(p / 2));
    long double x =
        t - (2.515517L + t * (0.802853L + t * 0.010328L)) / (1 + t * (1.432788L + t * (0.189269L + t * 0.001308L)));
    x /= SQRT2_L;
    for (int i = 0; i < 3; i++) {
        long double err = erfcl(x) - p;
        x += err / (2 / SQRT_PI_L * expl(-x * x) - x * err);
    }
    return x;
}

double wg_libdevice_erfinv(double y)
{
    double a = fabs(y);
    if (!(a < 1.0))
        return a == 1.0 ? copysign(INFINITY, y) : NAN;
    if (a <= 0.5)
        return (double)erfinv_central(y);
    return copysign((double)erfcinv_tail(1.0L - a), y);
}

double wg_libdevice_erfcinv(double y)
{
    if (!(y >= 0.0 && y <= 2.0))
        return NAN;
    if (y == 0.0 || y == 2.0)
        return y == 0.0 ? INFINITY : -INFINITY;
    if (y < 0.5)
        return (double)erfcinv_tail(y);
    return y <= 1.5 ? (double)erfinv_central(1.0L - y) : -(double)erfcinv_tail(2.0L - y);
}

double wg_libdevice_normcdf(double x)
{
    return (double)(0.5L * erfcl(-(long double)x / SQRT2_L));
}

double wg_libdevice_normcdfinv(double p)
{
    if (!(p >= 0.0 && p <= 1.0))
        return NAN;
    if (p == 0.0 || p == 1.0)
        return p == 0.0 ? -INFINITY : INFINITY;
    if (p < 0.25)
        return -(double)(SQRT2_L * erfcinv_tail(2.0L * p));
    if (p <= 0.75)
        return (double)(SQRT2_L * erfinv_central(2.0L * p - 1.0L));
    return (double)(SQRT2_L * erfcinv_tail(2.0L * (1.0L - p)));
}

/* ---- Bessel functions ---- */
/* I_n(x), n 0 or 1, for x >= 0 and finite. Below 30 the power series, all terms positive; above, the asymptotic one,
 * whose smallest term is e^-2x. */
static long double bessel_i(int n, long double x)
{
    long double t, s;
    if (x > 720)
        return INFINITY;
    if (x < 30) {
        long double q = x * x / 4;
        s = t = n ? x / 2 : 1;
        for (int k = 1; k < 120 && t > s * 0x1p-70L; k++) {
            t *= q / ((long double)k * (k + n));
            s += t;
        }
        return s;
    }
    s = t = 1;
    for (int k = 1; k < 60 && fabsl(t) > 0x1p-70L; k++) {
        t *= ((2 * k - 1) * (2 * k - 1) - 4 * n) / (8 * k * x);
        s += t;
    }
    return s * expl(x) / sqrtl(2 * PI_L * x);
}

double wg_libdevice_i0(double x)
{
    return isnan(x) ? x : (double)bessel_i(0, fabsl((long double)x));
}

double wg_libdevice_i1(double x)
{
    return isnan(x) ? x : copysign((double)bessel_i(1, fabsl((long double)x)), x);
}

/* The zeros below 8, to 107 bits, and the slopes there: near them the C library's versions, whose error is absolute,
 * lose all digits, while CUDA promises ulps. Computed to 60 digits as roots of the functions. */
static const struct root {
    bool second; /* Y, not J */
    int n;
    double hi, lo;
    long double slope;
} roots[] = {
    {false, 0, 0x1.33d152e971b40p+1, -0x1.0f539d7da258ep-53, -0.5191474972894667881402026L},
    {false, 0, 0x1.6148f5b2c2e45p+2, 0x1.75054cd60a517p-54, 0.3402648065583681485649119L},
    {false, 1, 0x1.ea75575af6f09p+1, -0x1.60155a9d1b256p-53, -0.4027593957025529720960022L},
    {false, 1, 0x1.c0ff5f3b47250p+2, -0x1.b226d9d243827p-54, 0.30011575252613256320662L},
    {true, 0, 0x1.c982eb8d417eap-1, 0x1.ea9d270347f83p-56, 0.8794208024971947710548339L},
    {true, 0, 0x1.fa9534d98569cp+1, -0x1.f06ae7804384ep-54, -0.4025426717750242357219615L},
    {true, 0, 0x1.c581dc4e72103p+2, -0x1.9774a495f56cfp-54, 0.3000976149104751862252866L},
    {true, 1, 0x1.193bed4dff243p+1, -0x1.bd1e50d219bfdp-55, 0.5207864124022675111071507L},
    {true, 1, 0x1.5b7fe4e87b02ep+2, 0x1.dfe7bac228e8cp-52, -0.3403180455234405582259362L},
};

/* Taylor series at a root, h away: the coefficients follow from x^2 y'' + x y' + (x^2 - n^2) y = 0. For |h| < 1/64. */
static long double near_root(const struct root *z, long double h)
{
    enum { TERMS = 16 };
    long double a[TERMS + 2] = {0, z->slope}, x = z->hi, sum = 0;
    for (int k = 0; k < TERMS; k++) {
        long double s = (2 * k + 1) * (k + 1) * x * a[k + 1] + (k * k + x * x - z->n * z->n) * a[k];
        if (k >= 1)
            s += 2 * x * a[k - 1];
        if (k >= 2)
            s += a[k - 2];
        a[k + 2] = -s / (x * x * (k + 2) * (k + 1));
    }
    for (int k = TERMS + 1; k >= 1; k--)
        sum = (sum + a[k]) * h;
    return sum;
}

/* Below 8: beside a zero the series above; where the result is small the long double function; else the double one. */
static double bessel(bool second, int n, double x, double (*f)(double), long double (*fl)(long double))
{
    double r = f(x), a = fabs(x);
    if (!(a < 8.0 && fabs(r) < 0.25) || (second && !(x > 0.0)))
        return r;
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        if (roots[i].second != second || roots[i].n != n || fabs(a - roots[i].hi) >= 0x1p-6)
            continue;
        double v = (double)near_root(&roots[i], ((long double)a - roots[i].hi) - roots[i].lo);
        return n && x < 0.0 ? -v : v;
    }
    return (double)fl((long double)x);
}

double wg_libdevice_j0(double x)
{
    return bessel(false, 0, x, j0, j0l);
}
double wg_libdevice_j1(double x)
{
    return bessel(false, 1, x, j1, j1l);
}
double wg_libdevice_y0(double x)
{
    return bessel(true, 0, x, y0, y0l);
}
double wg_libdevice_y1(double x)
{
    return bessel(true, 1, x, y1, y1l);
}

double wg_libdevice_jn(int n, double x)
{
    if (n < 0)
        return NAN;
    if (n < 2)
        return n ? wg_libdevice_j1(x) : wg_libdevice_j0(x);
    return jn(n, x);
}

double wg_libdevice_yn(int n, double x)
{
    if (n < 0)
        return NAN;
    if (n < 2)
        return n ? wg_libdevice_y1(x) : wg_libdevice_y0(x);
    return yn(n, x);
}

double wg_libdevice_lgamma(double x)
{
    int sign; /* the plain function would leave it in a global */
    return (double)lgammal_r((long double)x, &sign);
}

/* ---- nan(tag) ---- */
/* Value of c as a digit of base, or -1. */
static int digit(char c, unsigned base)
{
    unsigned v = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                 : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                        : 99;
    return v < base ? (int)v : -1;
}

/* As nvcc's nan(): a decimal, 0x or octal number is the payload; too large sets every bit, not a number none. */
uint64_t wg_libdevice_nan(const struct wg_libdevice_ctx *ctx, unsigned lane, uint64_t p, int payload_bits)
{
    uint64_t mask = ((uint64_t)1 << payload_bits) - 1, value = 0;
    uint64_t quiet = payload_bits == 51 ? 0x7ff8000000000000u : 0x7fc00000u;
    bool wrong = false, over = false;
    unsigned base = 10;
    char c = 0;
    for (uint64_t i = 0; p; i++) {
        if (!ctx->load(ctx->owner, lane, p + i, &c, 1) || !c)
            break;
        if (i == 0 && c == '0') {
            base = 8;
            continue;
        }
        if (i == 1 && base == 8 && (c | 32) == 'x') {
            base = 16;
            continue;
        }
        int v = digit(c, base);
        wrong |= v < 0;
        over |= __builtin_mul_overflow(value, base, &value);
        over |= v > 0 && __builtin_add_overflow(value, (uint64_t)v, &value);
    }
    return wrong ? quiet : quiet | (over ? mask : value & mask);
}
