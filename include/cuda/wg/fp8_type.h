/* wg/fp8_type.h - an 8-bit float, a pair and four of them; included once for each format by cuda_fp8.h. */
#define WG_F8_SAT __NV_SATFINITE, WG_F8_KIND
struct __align__(1) WG_F8_NAME {
    __nv_fp8_storage_t __x;
    WG_F8_NAME() = default;
    explicit __host__ __device__ WG_F8_NAME(const double v) : __x(__nv_cvt_double_to_fp8(v, WG_F8_SAT)) {}
    WG_F8_FROM(float, v)
    WG_F8_FROM(__half, wg_half_to_float(((__half_raw)v).x))
    WG_F8_FROM(__nv_bfloat16, wg_bfloat16_to_float(((__nv_bfloat16_raw)v).x))
    WG_F8_FROM(short, v)
    WG_F8_FROM(unsigned short, v)
    WG_F8_FROM(int, v)
    WG_F8_FROM(unsigned int, v)
    WG_F8_FROM(long, v)
    WG_F8_FROM(unsigned long, v)
    WG_F8_FROM(long long, v)
    WG_F8_FROM(unsigned long long, v)
    explicit __host__ __device__ operator float() const
    {
        return wg_half_to_float(__nv_cvt_fp8_to_halfraw(__x, WG_F8_KIND).x);
    }
    explicit __host__ __device__ operator __half() const { return __half(__nv_cvt_fp8_to_halfraw(__x, WG_F8_KIND)); }
    explicit __host__ __device__ operator __nv_bfloat16() const { return __float2bfloat16((float)*this); }
    explicit __host__ __device__ operator bool() const { return (__x & 0x7f) != 0; }
    WG_F8_TO(double)
    WG_F8_TO(char)
    WG_F8_TO(signed char)
    WG_F8_TO(unsigned char)
    WG_F8_TO(short)
    WG_F8_TO(unsigned short)
    WG_F8_TO(int)
    WG_F8_TO(unsigned int)
    WG_F8_TO(long)
    WG_F8_TO(unsigned long)
    WG_F8_TO(long long)
    WG_F8_TO(unsigned long long)
};
struct __align__(2) WG_F8_NAME2 {
    __nv_fp8x2_storage_t __x;
    WG_F8_NAME2() = default;
    explicit __host__ __device__ WG_F8_NAME2(const __half2 v) : __x(__nv_cvt_halfraw2_to_fp8x2(v, WG_F8_SAT)) {}
    explicit __host__ __device__ WG_F8_NAME2(const __nv_bfloat162 v)
        : __x(__nv_cvt_bfloat16raw2_to_fp8x2(v, WG_F8_SAT)) {}
    explicit __host__ __device__ WG_F8_NAME2(const float2 v) : __x(__nv_cvt_float2_to_fp8x2(v, WG_F8_SAT)) {}
    explicit __host__ __device__ WG_F8_NAME2(const double2 v) : __x(__nv_cvt_double2_to_fp8x2(v, WG_F8_SAT)) {}
    explicit __host__ __device__ operator __half2() const
    {
        return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, WG_F8_KIND));
    }
    explicit __host__ __device__ operator float2() const { return __half22float2((__half2)*this); }
};
struct __align__(4) WG_F8_NAME4 {
    __nv_fp8x4_storage_t __x;
    WG_F8_NAME4() = default;
    explicit __host__ __device__ WG_F8_NAME4(const __half2 low, const __half2 high)
        : __x(__nv_cvt_halfraw2_to_fp8x2(low, WG_F8_SAT) |
              (unsigned int)__nv_cvt_halfraw2_to_fp8x2(high, WG_F8_SAT) << 16) {}
    explicit __host__ __device__ WG_F8_NAME4(const __nv_bfloat162 low, const __nv_bfloat162 high)
        : __x(__nv_cvt_bfloat16raw2_to_fp8x2(low, WG_F8_SAT) |
              (unsigned int)__nv_cvt_bfloat16raw2_to_fp8x2(high, WG_F8_SAT) << 16) {}
    explicit __host__ __device__ WG_F8_NAME4(const float4 v)
        : __x(__nv_cvt_float2_to_fp8x2(make_float2(v.x, v.y), WG_F8_SAT) |
              (unsigned int)__nv_cvt_float2_to_fp8x2(make_float2(v.z, v.w), WG_F8_SAT) << 16) {}
    explicit __host__ __device__ WG_F8_NAME4(const double4 v)
        : __x(__nv_cvt_double2_to_fp8x2(make_double2(v.x, v.y), WG_F8_SAT) |
              (unsigned int)__nv_cvt_double2_to_fp8x2(make_double2(v.z, v.w), WG_F8_SAT) << 16) {}
    explicit __host__ __device__ operator float4() const
    {
        const float2 low = __half22float2(__half2(__nv_cvt_fp8x2_to_halfraw2((unsigned short)__x, WG_F8_KIND)));
        const float2 high = __half22float2(__half2(__nv_cvt_fp8x2_to_halfraw2((unsigned short)(__x >> 16), WG_F8_KIND)));
        return make_float4(low.x, low.y, high.x, high.y);
    }
};
#undef WG_F8_SAT
