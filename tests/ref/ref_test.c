/* ref_test.c - the reference evaluator against the host's own arithmetic and against examples from the PTX ISA text. */
#include "ref.h"
#include <fenv.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int checks, failures;
static const uint64_t NAN_RESULT = 0xfff8000000000000; /* any NaN, of a double */

static uint64_t run(const char *mnemonic, const char *operands, const uint64_t *src)
{
    struct ref_inst in;
    uint64_t s[REF_MAX] = {0}, d[REF_MAX] = {0};
    memcpy(s, src, 5 * sizeof *s);
    if (!ref_decode(mnemonic, operands, &in) || ref_eval(&in, s, d) == REF_UNKNOWN)
        return 0xdead0000dead0000;
    return d[0];
}

static void expect(const char *mnemonic, const uint64_t *src, uint64_t want)
{
    uint64_t got = run(mnemonic, "", src);
    checks++;
    if (strstr(mnemonic, "f64") && want == NAN_RESULT && (got & INT64_MAX) > 0x7ff0000000000000)
        return; /* payloads are compared with hardware */
    if (got != want && failures++ < 40)
        printf("%s %" PRIx64 " %" PRIx64 " %" PRIx64 ": %" PRIx64 ", expected %" PRIx64 "\n", mnemonic, src[0], src[1],
               src[2], got, want);
}

static float as_f(uint64_t v)
{
    uint32_t b = (uint32_t)v;
    float f;
    memcpy(&f, &b, 4);
    return f;
}
static double as_d(uint64_t v)
{
    double d;
    memcpy(&d, &v, 8);
    return d;
}
static uint64_t f_bits(float f)
{
    uint32_t b;
    memcpy(&b, &f, 4);
    return isnan(f) ? 0x7fffffff : b;
}
static uint64_t d_bits(double d)
{
    uint64_t b;
    memcpy(&b, &d, 8);
    return isnan(d) ? NAN_RESULT : b;
}

/* IEEE operations in the four directions, on the processor. */
static void host_floats(void)
{
    static const struct {
        const char *name;
        int mode;
    } dir[] = {{"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
    for (unsigned i = 0; i < 600; i++)
        for (int r = 0; r < 4; r++) {
            uint64_t s[5], e[5];
            for (unsigned k = 0; k < 5; k++) {
                s[k] = ref_pool(WG_T_F32, "", k, i);
                e[k] = ref_pool(WG_T_F64, "", k, i);
            }
            volatile float x = as_f(s[0]), y = as_f(s[1]), z = as_f(s[2]), f[6];
            volatile double a = as_d(e[0]), b = as_d(e[1]), c = as_d(e[2]), d[6], wide;
            volatile float narrow;
            fesetround(dir[r].mode);
            f[0] = x + y, f[1] = x - y, f[2] = x * y, f[3] = x / y, f[4] = fmaf(x, y, z), f[5] = sqrtf(x);
            d[0] = a + b, d[1] = a - b, d[2] = a * b, d[3] = a / b, d[4] = fma(a, b, c), d[5] = sqrt(a);
            narrow = (float)a;
            wide = rint(a);
            fesetround(FE_TONEAREST);
            static const char *const op[] = {"add", "sub", "mul", "div", "fma", "sqrt"};
            for (int o = 0; o < 6; o++) {
                char name[40];
                snprintf(name, sizeof name, "%s.%s.f32", op[o], dir[r].name);
                expect(name, s, f_bits(f[o]));
                snprintf(name, sizeof name, "%s.%s.f64", op[o], dir[r].name);
                expect(name, e, d_bits(d[o]));
            }
            char name[40];
            snprintf(name, sizeof name, "cvt.%s.f32.f64", dir[r].name);
            if (!isnan(narrow))
                expect(name, e, f_bits(narrow));
            if (!isnan(wide)) {
                snprintf(name, sizeof name, "cvt.%si.f64.f64", dir[r].name);
                expect(name, e, d_bits(wide));
            }
        }
}

static void host_integers(void)
{
    for (unsigned i = 0; i < 600; i++) {
        uint64_t s[5];
        for (unsigned k = 0; k < 5; k++)
            s[k] = ref_pool(WG_T_B64, "", k, i);
        uint32_t a = (uint32_t)s[0], b = (uint32_t)s[1], c = (uint32_t)s[2];
        int32_t sa = (int32_t)a, sb = (int32_t)b;
        expect("add.u32", s, a + b);
        expect("sub.u64", s, s[0] - s[1]);
        expect("mul.lo.s32", s, a * b);
        expect("mul.hi.u32", s, (uint64_t)a * b >> 32);
        expect("mul.hi.s32", s, (uint32_t)((int64_t)sa * sb >> 32));
        expect("mul.wide.s16", s, (uint32_t)((int16_t)s[0] * (int16_t)s[1]));
        expect("mad.lo.u32", s, a * b + c);
        expect("popc.b64", s, (uint64_t)__builtin_popcountll(s[0]));
        expect("clz.b32", s, a ? (uint64_t)__builtin_clz(a) : 32);
        if (b && !(a == 0x80000000 && b == ~0u)) {
            expect("div.s32", s, (uint32_t)(sa / sb));
            expect("rem.s32", s, (uint32_t)(sa % sb));
        }
        expect("and.b32", s, a & b);
        expect("xor.b64", s, s[0] ^ s[1]);
        expect("not.b16", s, (uint16_t)~a);
        expect("cvt.s64.s32", s, (uint64_t)(int64_t)sa);
        expect("cvt.rn.f32.s32", s, f_bits((float)sa));
        expect("cvt.rn.f64.u64", s, d_bits((double)s[0]));
        expect("min.s32", s, (uint32_t)(sa < sb ? sa : sb));
        uint64_t h[5] = {ref_pool(WG_T_F16, "", 0, i)};
        _Float16 half;
        memcpy(&half, h, 2);
        expect("cvt.f32.f16", h, f_bits((float)half));
    }
}

/* Values worked out by hand or printed in the ISA text. */
static void examples(void)
{
    static const struct {
        const char *name;
        uint64_t s[5], want;
    } t[] = {{"fns.b32", {0xaaaaaaaa, 3, 1}, 3},
             {"fns.b32", {0xaaaaaaaa, 3, 0xffffffff}, 3},
             {"fns.b32", {0xaaaaaaaa, 2, 1}, 3},
             {"fns.b32", {0xaaaaaaaa, 2, 0xffffffff}, 1},
             {"bmsk.wrap.b32", {1, 2}, 6},
             {"szext.wrap.u32", {0xffffffff, 0}, 0},
             {"bmsk.clamp.b32", {4, 40}, 0xfffffff0},
             {"bfe.s32", {0x80000000, 31, 5}, 0xffffffff},
             {"bfe.u32", {0xabcd1234, 8, 8}, 0x12},
             {"bfi.b32", {0xff, 0, 28, 8}, 0xf0000000},
             {"div.u32", {7, 0}, 0xffffffff},
             {"rem.u32", {7, 0}, 0xffffffff},
             {"div.s32", {0x80000000, 0xffffffff}, 0x80000000},
             {"prmt.b32", {0x33221100, 0x77665544, 0x7531}, 0x77553311},
             {"prmt.b32", {0x80, 0, 0x8888}, 0xffffffff},
             {"shf.l.clamp.b32", {0x1, 0x2, 32}, 1},
             {"shf.l.wrap.b32", {0x1, 0x2, 32}, 2},
             {"shl.b32", {1, 32}, 0},
             {"shr.s32", {0x80000000, 99}, 0xffffffff},
             {"add.sat.s32", {0x7fffffff, 1}, 0x7fffffff},
             {"lop3.b32", {0xf0, 0xcc, 0xaa, 0x1a}, 0x1a},
             {"dp4a.s32.s32", {0xff, 0x02, 10}, 8},
             {"min.f32", {0x80000000, 0}, 0x80000000},
             {"max.f32", {0x7fc00000, 0x3f800000}, 0x3f800000},
             {"min.NaN.f32", {0x7fc00000, 0x3f800000}, 0x7fffffff},
             {"add.sat.f32", {0x7fc00000, 0}, 0},
             {"add.ftz.f32", {0x80000001, 0x80000000}, 0x80000000},
             {"cvt.rzi.s32.f32", {0x7fc00000}, 0},
             {"cvt.rzi.u8.f32", {0x43960000}, 255},
             {"cvt.rzi.s8.f32", {0xc3960000}, 0xffffff80},
             {"cvt.rn.f16.f32", {0x477ff000}, 0x7c00},
             {"cvt.rz.f16.f32", {0x477ff000}, 0x7bff},
             {"cvt.rn.satfinite.f16.f32", {0x7f800000}, 0x7bff},
             {"cvt.rn.bf16.f32", {0x3f808000}, 0x3f80},
             {"cvt.rn.bf16.f32", {0x3f818000}, 0x3f82},
             {"cvt.rna.tf32.f32", {0x3f801000}, 0x3f802000},
             {"cvt.rn.tf32.f32", {0x3f801000}, 0x3f800000},
             {"cvt.rn.satfinite.e4m3x2.f32", {0x43e00000, 0x447a0000}, 0x7e7e},
             {"cvt.rn.satfinite.e5m2x2.f32", {0x3f800000, 0xc7c35000}, 0x3cfb},
             {"cvt.rn.f16x2.e4m3x2", {0x38b8}, 0x3c00bc00},
             {"cvt.pack.sat.s8.s32.b32", {1000, 0xfffffc18, 0x1234}, 0x12347f80},
             {"set.lt.f32.s32", {0xffffffff, 0}, 0x3f800000},
             {"set.lt.u32.u32", {0xffffffff, 0}, 0},
             {"slct.b32.f32", {1, 2, 0x80000000}, 1},
             {"slct.b32.f32", {1, 2, 0x7fc00000}, 2},
             {"testp.normal.f32", {0}, 1},
             {"copysign.f32", {0x80000000, 0x3f800000}, 0xbf800000}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        expect(t[i].name, t[i].s, t[i].want);
}

/* A reference that knows nothing of some variant would make other tests pass for nothing. */
static void every_variant(void)
{
    size_t n;
    struct ref_variant *v = ref_variants(&n);
    for (size_t i = 0; i < n; i++) {
        uint64_t src[REF_WARP][REF_MAX] = {{0}}, dst[REF_WARP][REF_MAX] = {{0}};
        enum ref_kind kind[REF_WARP];
        for (unsigned l = 0; l < REF_WARP; l++)
            for (unsigned k = 0; k < v[i].nsrc; k++)
                src[l][k] = ref_pool((enum wg_type)v[i].src[k], v[i].hint[k], k, l);
        checks++;
        if (ref_run_warp(&v[i], ~0u, (const uint64_t(*)[REF_MAX])src, dst, kind) == REF_UNKNOWN && failures++ < 40)
            printf("%s %s: the evaluator does not know it\n", v[i].mnemonic, v[i].operands);
        for (unsigned l = 0; l < REF_WARP; l++)
            for (unsigned k = 0; k < v[i].ndst; k++) {
                unsigned w = ref_width((enum wg_type)v[i].dst[k]);
                if (w < 64 && dst[l][k] >> w && failures++ < 40)
                    printf("%s %s: result %" PRIx64 " is wider than its register\n", v[i].mnemonic, v[i].operands,
                           dst[l][k]);
            }
    }
    free(v);
}

int main(void)
{
    host_floats();
    host_integers();
    examples();
    every_variant();
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
