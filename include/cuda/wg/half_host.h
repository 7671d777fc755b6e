/* wg/half_host.h - rounding to half and bfloat16 in plain integer code, for the host side. */
#ifndef WG_CUDA_HALF_HOST_H
#define WG_CUDA_HALF_HOST_H
enum wg_half_round { wg_half_rn, wg_half_rz, wg_half_rd, wg_half_ru };
#ifndef __CUDA_ARCH__

/* Round d to a 16-bit float with `fraction` fraction bits and the exponent bias `bias`. */
static __inline__ __host__ __device__ unsigned short wg_round16(double d, int fraction, int bias, wg_half_round mode)
{
    unsigned long long bits;
    __builtin_memcpy(&bits, &d, 8);
    const unsigned int sign = (unsigned int)(bits >> 63) << 15;
    const unsigned int infinity = (unsigned int)(2 * bias + 1) << fraction;
    int e = (int)(bits >> 52 & 0x7ff) - 1023;
    unsigned long long m = bits & 0xfffffffffffffULL;
    if (e == 1024)
        return (unsigned short)(m ? 0x7fff : sign | infinity);
    if (e == -1023 && !m)
        return (unsigned short)sign;
    m |= e == -1023 ? 0 : 1ULL << 52;
    int drop = 52 - fraction; /* bits below the last that stays */
    if (e < 1 - bias)
        drop += 1 - bias - e;
    if (drop > 60)
        drop = 60;
    const unsigned long long rest = m & ((1ULL << drop) - 1), half = 1ULL << (drop - 1);
    unsigned long long kept = m >> drop;
    const bool up = mode == wg_half_rn ? rest > half || (rest == half && (kept & 1))
                                       : rest && mode == (sign ? wg_half_rd : wg_half_ru);
    kept += up;
    if (e >= 1 - bias)
        kept += (unsigned long long)(e + bias - 1) << fraction; /* the hidden bit adds the last one */
    if (kept >= infinity) /* overflow: infinity, or the largest number when rounding towards zero */
        kept = mode == wg_half_rn || mode == (sign ? wg_half_rd : wg_half_ru) ? infinity : infinity - 1;
    return (unsigned short)(sign | kept);
}
static __inline__ __host__ __device__ float wg_half_to_float(unsigned short h)
{
    const unsigned int sign = (unsigned int)(h & 0x8000) << 16, e = h >> 10 & 31, m = h & 0x3ff;
    unsigned int bits;
    float f;
    if (e == 0) {
        f = (float)m * 0x1p-24f;
        return sign ? -f : f;
    }
    if (e == 31 && m)
        return __builtin_bit_cast(float, 0x7fffffffu);
    bits = sign | (e == 31 ? 0x7f800000u : (e + 112) << 23) | m << 13;
    __builtin_memcpy(&f, &bits, 4);
    return f;
}
#endif
#endif
