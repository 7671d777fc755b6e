/* half.h - scalar conversions between f32 and the 16-bit float formats, round to nearest even. */
#ifndef WG_EXEC_HALF_H
#define WG_EXEC_HALF_H
#include <stdint.h>
#include <string.h>

static inline float wg_bf16_to_f32(uint16_t h)
{
    uint32_t v = (uint32_t)h << 16;
    float f;
    memcpy(&f, &v, 4);
    return f;
}
static inline uint16_t wg_f32_to_bf16(float f)
{
    uint32_t v;
    memcpy(&v, &f, 4);
    if (f != f)
        return 0x7fff;
    return (uint16_t)((v + 0x7fff + (v >> 16 & 1)) >> 16);
}
static inline float wg_f16_to_f32(uint16_t h)
{
    uint32_t s = (uint32_t)(h & 0x8000) << 16, e = h >> 10 & 31, m = h & 0x3ff, v;
    float f;
    if (e == 31) {
        v = s | 0x7f800000u | m << 13;
    } else if (e) {
        v = s | (e + 112) << 23 | m << 13;
    } else { /* zero or subnormal: m * 2^-24 is exact */
        f = (float)m * 0x1p-24f;
        memcpy(&v, &f, 4);
        v |= s;
    }
    memcpy(&f, &v, 4);
    return f;
}
static inline uint16_t wg_f32_to_f16(float f)
{
    uint32_t v;
    memcpy(&v, &f, 4);
    uint32_t s = v >> 16 & 0x8000, a = v & 0x7fffffffu;
    if (a > 0x7f800000u)
        return 0x7fff;
    if (a >= 0x477ff000u) /* rounds to 65536 or more */
        return (uint16_t)(s | 0x7c00);
    if (a < 0x38800000u) { /* subnormal: let the float adder round at 2^-24 */
        float x;
        memcpy(&x, &a, 4);
        x += 0.5f;
        memcpy(&a, &x, 4);
        return (uint16_t)(s | (a - 0x3f000000u));
    }
    a += 0xfff + (a >> 13 & 1);
    return (uint16_t)(s | (a - 0x38000000u) >> 13);
}
#endif
