/* alu_soft64.c - f64 arithmetic in integers, for the rounding modes that the host's default does not give. */
#include "exec/alu_float.h"

struct parts { /* m * 2^e, m not 0 */
    u64 m;
    int e;
    bool neg;
};

static struct parts unpack(f64 x)
{
    const u64 u = wg_f64_bits(x), f = u & 0xfffffffffffffu;
    const int e = (int)(u >> 52 & 0x7ff);
    return (struct parts){e ? f | 1ull << 52 : f, e ? e - 1075 : -1074, u >> 63};
}

static int bits_of(u128 m)
{
    const u64 hi = (u64)(m >> 64), lo = (u64)m;
    return hi ? 128 - __builtin_clzll(hi) : lo ? 64 - __builtin_clzll(lo) : 0;
}

/* m * 2^e as a double in the mode; m is not 0. A remainder that was cut off before shows as an odd m, which must then
 * have more than 54 bits. */
static f64 pack(bool neg, u128 m, int e, int mode)
{
    int shift = bits_of(m) - 53;
    if (e + shift < -1074)
        shift = -1074 - e;
    u64 q;
    bool more = false, half = false;
    if (shift <= 0) {
        q = (u64)m << -shift;
    } else if (shift > 127) {
        q = 0;
        more = true;
    } else {
        const u128 rest = m & (((u128)1 << shift) - 1), mid = (u128)1 << (shift - 1);
        q = (u64)(m >> shift);
        half = rest >= mid;
        more = rest != 0 && rest != mid;
    }
    const bool up = mode == WG_ROUND_RN ? half && (more || (q & 1))
                    : mode == WG_ROUND_RM ? neg && (half || more)
                    : mode == WG_ROUND_RP ? !neg && (half || more)
                                          : false;
    q += up;
    e += shift;
    if (q >> 53) {
        q >>= 1;
        e++;
    }
    const u64 sign = (u64)neg << 63;
    if (e + 52 > 1023) {
        const bool away = mode == WG_ROUND_RN || (mode == WG_ROUND_RM && neg) || (mode == WG_ROUND_RP && !neg);
        return wg_bits_f64(sign | (away ? 0x7ff0000000000000u : 0x7fefffffffffffffu));
    }
    if (!(q >> 52))
        return wg_bits_f64(sign | q); /* subnormal: e is -1074 */
    return wg_bits_f64(sign | (u64)(e + 1075) << 52 | (q & 0xfffffffffffffu));
}

static u128 shift_sticky(u128 m, int n)
{
    if (n == 0)
        return m;
    if (n > 127)
        return 1;
    return m >> n | ((m & (((u128)1 << n) - 1)) != 0);
}

static bool is_finite(f64 x) { return (wg_f64_bits(x) >> 52 & 0x7ff) != 0x7ff; }
static bool is_negative(f64 x) { return wg_f64_bits(x) >> 63; }
static f64 zero(bool neg) { return neg ? -0.0 : 0.0; }

f64 soft_fma_f64(f64 a, f64 b, f64 c, int mode)
{
    if (!is_finite(a) || !is_finite(b) || !is_finite(c))
        return nan64(__builtin_fma(a, b, c), b != b ? b : c, a); /* infinite or NaN: exact in any mode */
    const bool neg = is_negative(a) != is_negative(b);
    if (a == 0 || b == 0) {
        if (c != 0)
            return c;
        return zero(neg == is_negative(c) ? neg : mode == WG_ROUND_RM);
    }
    const struct parts x = unpack(a), y = unpack(b);
    u128 p = (u128)x.m * y.m;
    int pe = x.e + y.e;
    if (c == 0)
        return pack(neg, p, pe, mode);
    const struct parts z = unpack(c);
    u128 q = z.m;
    int qe = z.e;
    /* both with their top bit at 125, so that what an alignment drops is far below the result's last bit */
    int n = 126 - bits_of(p);
    p <<= n;
    pe -= n;
    n = 126 - bits_of(q);
    q <<= n;
    qe -= n;
    if (pe >= qe) {
        q = shift_sticky(q, pe - qe);
        qe = pe;
    } else {
        p = shift_sticky(p, qe - pe);
    }
    if (neg == z.neg)
        return pack(neg, p + q, qe, mode);
    if (p == q)
        return zero(mode == WG_ROUND_RM);
    return p > q ? pack(neg, p - q, qe, mode) : pack(z.neg, q - p, qe, mode);
}

f64 soft_add_f64(f64 a, f64 b, int mode)
{
    return is_finite(a) && is_finite(b) ? soft_fma_f64(a, 1.0, b, mode) : nan64(a + b, b, a);
}

f64 soft_sub_f64(f64 a, f64 b, int mode)
{
    return is_finite(a) && is_finite(b) ? soft_fma_f64(a, 1.0, -b, mode) : nan64(a - b, b, a);
}

f64 soft_mul_f64(f64 a, f64 b, int mode)
{
    if (!is_finite(a) || !is_finite(b) || a == 0 || b == 0)
        return nan64(a * b, b, a);
    const struct parts x = unpack(a), y = unpack(b);
    return pack(x.neg != y.neg, (u128)x.m * y.m, x.e + y.e, mode);
}

f64 soft_div_f64(f64 a, f64 b, int mode)
{
    if (!is_finite(a) || !is_finite(b) || a == 0 || b == 0)
        return nan64(a / b, a, b);
    const struct parts x = unpack(a), y = unpack(b);
    const int nx = 54 - bits_of(x.m), ny = 54 - bits_of(y.m);
    const u128 n = (u128)(x.m << nx) << 66;
    const u64 d = y.m << ny;
    return pack(x.neg != y.neg, n / d | (n % d != 0), x.e - nx - (y.e - ny) - 66, mode);
}

f64 soft_sqrt_f64(f64 a, int mode)
{
    const f64 s = nan64(__builtin_sqrt(a), a, a);
    if (!is_finite(a) || a == 0 || is_negative(a) || mode == WG_ROUND_RN)
        return s;
    /* compare the square of the nearest root with a, exactly; roots are never subnormal */
    const struct parts x = unpack(a), r = unpack(s);
    const u128 square = (u128)r.m * r.m, m = (u128)x.m << (x.e - 2 * r.e);
    const u64 u = wg_f64_bits(s);
    if (mode == WG_ROUND_RP)
        return wg_bits_f64(square < m ? u + 1 : u);
    return wg_bits_f64(square > m ? u - 1 : u);
}

f64 soft_from_u64(u64 magnitude, bool neg, int mode) { return magnitude ? pack(neg, magnitude, 0, mode) : 0.0; }
