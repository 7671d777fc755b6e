/* wg/half_type.h - the types themselves and their conversions, for half and bfloat16. Included once for each, with the
 * names of wg/half_ops.h, WG_RAW, WG_RAW2 and, before it, the four wg_..._from() and wg_..._to_float() of the type. */
#define WG_HD static __inline__ __host__ __device__ __attribute__((always_inline))
#define WG_CAT_(a, b, c) a##b##c
#define WG_CAT(a, b, c) WG_CAT_(a, b, c)
#define WG_FROM WG_CAT(wg_, WG_N, _from)
#define WG_TO WG_CAT(wg_, WG_N, _to_float)
#define WG_FROM_INT WG_CAT(wg_, WG_N, _from_int)

typedef struct __align__(2) { unsigned short x; } WG_RAW;
typedef struct __align__(4) { unsigned short x, y; } WG_RAW2;

struct __align__(2) WG_H {
    unsigned short __x;
    WG_H() = default;
    __host__ __device__ WG_H(const WG_RAW &r) : __x(r.x) {}
    __host__ __device__ WG_H &operator=(const WG_RAW &r) { __x = r.x; return *this; }
    __host__ __device__ operator WG_RAW() const { WG_RAW r; r.x = __x; return r; }
#ifndef WG_NO_CONVERSIONS
    __host__ __device__ WG_H(const float f) : __x(WG_FROM(f, wg_half_rn)) {}
    __host__ __device__ WG_H(const double d) : __x(WG_FROM(d, wg_half_rn)) {}
    __host__ __device__ WG_H(const short v) : __x(WG_FROM((float)v, wg_half_rn)) {}
    __host__ __device__ WG_H(const unsigned short v) : __x(WG_FROM((float)v, wg_half_rn)) {}
    __host__ __device__ WG_H(const int v) : __x(WG_FROM((double)v, wg_half_rn)) {}
    __host__ __device__ WG_H(const unsigned int v) : __x(WG_FROM((double)v, wg_half_rn)) {}
    __host__ __device__ WG_H(const long v) : __x(WG_FROM_INT((long long)v)) {}
    __host__ __device__ WG_H(const unsigned long v) : __x(WG_FROM_INT((unsigned long long)v)) {}
    __host__ __device__ WG_H(const long long v) : __x(WG_FROM_INT(v)) {}
    __host__ __device__ WG_H(const unsigned long long v) : __x(WG_FROM_INT(v)) {}
    __host__ __device__ WG_H &operator=(const float f) { return *this = WG_H(f); }
    __host__ __device__ WG_H &operator=(const double d) { return *this = WG_H(d); }
    __host__ __device__ WG_H &operator=(const int v) { return *this = WG_H(v); }
    __host__ __device__ WG_H &operator=(const unsigned int v) { return *this = WG_H(v); }
    __host__ __device__ WG_H &operator=(const short v) { return *this = WG_H(v); }
    __host__ __device__ WG_H &operator=(const unsigned short v) { return *this = WG_H(v); }
    __host__ __device__ WG_H &operator=(const long long v) { return *this = WG_H(v); }
    __host__ __device__ WG_H &operator=(const unsigned long long v) { return *this = WG_H(v); }
    __host__ __device__ operator float() const { return WG_TO(__x); }
    __host__ __device__ operator bool() const { return (__x & 0x7fff) != 0; }
    __host__ __device__ operator signed char() const { return (signed char)WG_TO(__x); }
    __host__ __device__ operator unsigned char() const { return (unsigned char)WG_TO(__x); }
    __host__ __device__ operator char() const { return (char)WG_TO(__x); }
    __host__ __device__ operator short() const { return (short)WG_TO(__x); }
    __host__ __device__ operator unsigned short() const { return (unsigned short)WG_TO(__x); }
    __host__ __device__ operator int() const { return (int)WG_TO(__x); }
    __host__ __device__ operator unsigned int() const { return (unsigned int)WG_TO(__x); }
    __host__ __device__ operator long() const { return (long)WG_TO(__x); }
    __host__ __device__ operator unsigned long() const { return (unsigned long)WG_TO(__x); }
    __host__ __device__ operator long long() const { return (long long)WG_TO(__x); }
    __host__ __device__ operator unsigned long long() const { return (unsigned long long)WG_TO(__x); }
#endif
};
struct __align__(4) WG_H2 {
    WG_H x, y;
    WG_H2() = default;
    __host__ __device__ WG_H2(const WG_H &a, const WG_H &b) : x(a), y(b) {}
    __host__ __device__ WG_H2(const WG_RAW2 &r)
    {
        x.__x = r.x;
        y.__x = r.y;
    }
    __host__ __device__ operator WG_RAW2() const { WG_RAW2 r; r.x = x.__x; r.y = y.__x; return r; }
};
/* both halves as the one register that PTX holds them in */
WG_HD unsigned int &wg_word(WG_H2 &v) { return *(unsigned int *)(void *)&v; }
WG_HD const unsigned int &wg_word(const WG_H2 &v) { return *(const unsigned int *)(const void *)&v; }

WG_HD WG_H WG_CAT(__ushort_as_, WG_N, )(const unsigned short v) { WG_H h; h.__x = v; return h; }
WG_HD WG_H WG_CAT(__short_as_, WG_N, )(const short v) { WG_H h; h.__x = (unsigned short)v; return h; }
WG_HD unsigned short WG_CAT(__, WG_N, _as_ushort)(const WG_H h) { return h.__x; }
WG_HD short WG_CAT(__, WG_N, _as_short)(const WG_H h) { return (short)h.__x; }

/* ---- floats ---- */
WG_HD float WG_CAT(__, WG_N, 2float)(const WG_H h) { return WG_TO(h.__x); }
#define WG_FLOAT(suffix, mode)                                                                                         \
    WG_HD WG_H WG_CAT(__float2, WG_N, suffix)(const float f)                                                           \
    {                                                                                                                  \
        return WG_CAT(__ushort_as_, WG_N, )(WG_FROM(f, mode));                                                         \
    }
WG_FLOAT(, wg_half_rn)
WG_FLOAT(_rn, wg_half_rn)
WG_FLOAT(_rz, wg_half_rz)
WG_FLOAT(_rd, wg_half_rd)
WG_FLOAT(_ru, wg_half_ru)
#undef WG_FLOAT
WG_HD WG_H WG_CAT(__double2, WG_N, )(const double d) { return WG_CAT(__ushort_as_, WG_N, )(WG_FROM(d, wg_half_rn)); }

/* ---- pairs ---- */
WG_HD WG_H2 WG_CAT(__halves2, WG_N2, )(const WG_H a, const WG_H b) { return WG_H2(a, b); }
WG_HD WG_H2 WG_CAT(make_, WG_N2, )(const WG_H a, const WG_H b) { return WG_H2(a, b); }
WG_HD WG_H2 WG_CAT(__, WG_N, WG_CAT(2, WG_N2, ))(const WG_H a) { return WG_H2(a, a); }
WG_HD WG_H WG_CAT(__low2, WG_N, )(const WG_H2 a) { return a.x; }
WG_HD WG_H WG_CAT(__high2, WG_N, )(const WG_H2 a) { return a.y; }
WG_HD WG_H2 WG_CAT(__low2, WG_N2, )(const WG_H2 a) { return WG_H2(a.x, a.x); }
WG_HD WG_H2 WG_CAT(__high2, WG_N2, )(const WG_H2 a) { return WG_H2(a.y, a.y); }
WG_HD WG_H2 WG_CAT(__lows2, WG_N2, )(const WG_H2 a, const WG_H2 b) { return WG_H2(a.x, b.x); }
WG_HD WG_H2 WG_CAT(__highs2, WG_N2, )(const WG_H2 a, const WG_H2 b) { return WG_H2(a.y, b.y); }
WG_HD WG_H2 __lowhigh2highlow(const WG_H2 a) { return WG_H2(a.y, a.x); }
WG_HD float __low2float(const WG_H2 a) { return WG_TO(a.x.__x); }
WG_HD float __high2float(const WG_H2 a) { return WG_TO(a.y.__x); }
WG_HD float2 WG_CAT(__, WG_N2, 2float2)(const WG_H2 a) { return make_float2(WG_TO(a.x.__x), WG_TO(a.y.__x)); }
WG_HD WG_H2 WG_CAT(__floats2, WG_N2, _rn)(const float a, const float b)
{
    return WG_H2(WG_CAT(__float2, WG_N, )(a), WG_CAT(__float2, WG_N, )(b));
}
WG_HD WG_H2 WG_CAT(__float22, WG_N2, _rn)(const float2 a) { return WG_CAT(__floats2, WG_N2, _rn)(a.x, a.y); }
WG_HD WG_H2 WG_CAT(__float2, WG_N2, _rn)(const float a) { return WG_CAT(__floats2, WG_N2, _rn)(a, a); }

/* ---- integers, each way and rounding ---- */
#define WG_INT(T, name, wide, mode, rint)                                                                              \
    WG_HD WG_H WG_CAT(__##name##2, WG_N, _##mode)(const T v)                                                           \
    {                                                                                                                  \
        return WG_CAT(__ushort_as_, WG_N, )(WG_FROM((wide)v, wg_half_##mode));                                         \
    }                                                                                                                  \
    WG_HD T WG_CAT(__, WG_N, 2##name##_##mode)(const WG_H h) { return (T)rint(WG_TO(h.__x)); }
#define WG_INT_ALL(T, name, wide)                                                                                      \
    WG_INT(T, name, wide, rn, __builtin_rintf)                                                                         \
    WG_INT(T, name, wide, rz, __builtin_truncf)                                                                        \
    WG_INT(T, name, wide, rd, __builtin_floorf)                                                                        \
    WG_INT(T, name, wide, ru, __builtin_ceilf)
WG_INT_ALL(short, short, float)
WG_INT_ALL(unsigned short, ushort, float)
WG_INT_ALL(int, int, double)
WG_INT_ALL(unsigned int, uint, double)
WG_INT_ALL(long long, ll, double)
WG_INT_ALL(unsigned long long, ull, double)
#undef WG_INT_ALL
#undef WG_INT
WG_HD signed char WG_CAT(__, WG_N, 2char_rz)(const WG_H h) { return (signed char)WG_TO(h.__x); }
WG_HD unsigned char WG_CAT(__, WG_N, 2uchar_rz)(const WG_H h) { return (unsigned char)WG_TO(h.__x); }

#undef WG_HD
#undef WG_CAT
#undef WG_CAT_
#undef WG_FROM
#undef WG_TO
#undef WG_FROM_INT
