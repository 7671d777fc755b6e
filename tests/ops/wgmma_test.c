/* wgmma_test.c [--bits] - wgmma of every type, layout and swizzle on small integers, whose sums are exact in every
 * type, against sums of ordinary integers; operands are laid out as tensor copies leave them. --bits: says what
 * products of random values are, bit by bit, to be compared with a GPU's (tools/hopper). */
#include "launch.h"

enum { SHARED = 65536, M = 64, N = 64, KS = 4 }; /* KS steps of K each along a row of operands */
struct type {
    const char *name, *acc;
    unsigned bits, k;
    int lo, hi;
};
static const struct type types[] = {
    {"f16", "f32", 16, 16, -3, 3}, {"f16", "f16", 16, 16, -3, 3},   {"bf16", "f32", 16, 16, -3, 3},
    {"tf32", "f32", 32, 8, -3, 3}, {"e4m3", "f32", 8, 32, -3, 3},   {"e5m2", "f32", 8, 32, -3, 3},
    {"e4m3", "f16", 8, 32, -3, 3}, {"s8", "s32", 8, 32, -128, 127}, {"u8", "s32", 8, 32, 0, 255}};
static char text[65536];

/* The bits of a small integer. */
static uint32_t encode(const char *t, int v)
{
    float f = (float)v;
    uint32_t u;
    memcpy(&u, &f, 4);
    uint32_t sign = u >> 31, e = (u >> 23) & 255, m = u & 0x7fffff;
    if (!strcmp(t, "s8") || !strcmp(t, "u8"))
        return (uint8_t)v;
    if (!strcmp(t, "tf32"))
        return u;
    if (!strcmp(t, "bf16"))
        return u >> 16;
    if (!v)
        return 0;
    if (!strcmp(t, "f16"))
        return sign << 15 | (e - 112) << 10 | m >> 13;
    if (!strcmp(t, "e4m3"))
        return sign << 7 | (e - 120) << 3 | m >> 20;
    return sign << 7 | (e - 112) << 2 | m >> 21; /* e5m2 */
}

/* Byte offset of element (x, k) of an operand whose rows run along k: rows of `span` bytes as a tensor copy with that
 * swizzle leaves them (16: none, in core matrices of 8 rows by 16 bytes). Transposed: rows run along x. */
static unsigned place(unsigned x, unsigned k, unsigned kall, unsigned xall, unsigned bits, unsigned span, int trans)
{
    unsigned row = trans ? k : x, at = (trans ? x : k) * bits / 8, rows = trans ? kall : xall;
    unsigned slab = at / span, o;
    if (span == 16) /* cores of eight rows, one after the other, then the next 16 bytes of all rows */
        return slab * rows * 16 + row / 8 * 128 + row % 8 * 16 + at % 16;
    o = row * span + at % span;
    unsigned unit = span / 16, p = o / 16 % unit;
    return slab * rows * span + o - p * 16 + (p ^ o / 128 % unit) * 16;
}
/* The descriptor of the part from k0 on. */
static uint64_t descriptor(unsigned base, unsigned k0, unsigned kall, unsigned xall, unsigned bits, unsigned span,
                           int trans)
{
    static const unsigned codes[] = {[1] = 0, [8] = 1, [4] = 2, [2] = 3};
    unsigned rows = trans ? kall : xall, lead, stride, start;
    if (!trans) {
        unsigned at = k0 * bits / 8;
        start = base + (span == 16 ? at / 16 * rows * 16 : at / span * rows * span + at % span);
        lead = span == 16 ? rows * 16 : 0;
        stride = 8 * span;
    } else { /* k0 is a multiple of 8 rows */
        start = base + k0 / 8 * (span == 16 ? 128 : 8 * span);
        lead = span == 16 ? 128 : rows * span;
        stride = span == 16 ? rows * 16 : 8 * span;
    }
    return start >> 4 | (uint64_t)(lead >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | (uint64_t)codes[span / 16] << 62;
}

/* Fills shared memory from in, multiplies KS times, writes the accumulators. a_regs: a comes from registers. */
static const char *kernel(const struct type *t, int ta, int tb, int a_regs, int neg)
{
    unsigned half = !strcmp(t->acc, "f16"), nd = half ? N / 4 : N / 2;
    int fl = t->acc[0] == 'f', is16 = t->bits == 16;
    int n = snprintf(text, sizeof text,
                     ".version 8.3\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 sh[];\n"
                     ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 descs, .param .u64 regs)\n{\n"
                     "    .reg .b64 %%i, %%o, %%s, %%g, %%a<8>, %%da, %%db;\n    .reg .b32 %%t, %%r<10>, %%d<%u>, "
                     "%%x<4>;\n    .reg .pred %%p, %%add;\n"
                     "    ld.param.u64 %%i, [in];\n    ld.param.u64 %%o, [out];\n    ld.param.u64 %%s, [descs];\n    "
                     "ld.param.u64 %%g, [regs];\n"
                     "    mov.u32 %%t, %%tid.x;\n    mov.u32 %%r3, sh;\n    shl.b32 %%r5, %%t, 2;\n"
                     "copy:\n    setp.ge.u32 %%p, %%r5, %u;\n    @%%p bra done;\n    add.u32 %%r7, %%r3, %%r5;\n    "
                     "cvt.u64.u32 %%a0, %%r5;\n"
                     "    add.u64 %%a1, %%i, %%a0;\n    ld.global.u32 %%r8, [%%a1];\n    st.shared.u32 [%%r7], %%r8;\n "
                     "   add.u32 %%r5, %%r5, 512;\n    bra copy;\n"
                     "done:\n    fence.proxy.async;\n    bar.sync 0;\n    wgmma.fence.sync.aligned;\n    mul.wide.u32 "
                     "%%a2, %%t, 16;\n    add.u64 %%g, %%g, %%a2;\n",
                     nd, SHARED);
    for (int k = 0; k < KS; k++) {
        n += snprintf(
            text + n, sizeof text - (size_t)n,
            "    setp.ne.u32 %%add, %d, 0;\n    ld.global.u64 %%da, [%%s+%d];\n    ld.global.u64 %%db, [%%s+%d];\n"
            "    shr.u32 %%r9, %%r3, 4;\n    cvt.u64.u32 %%a4, %%r9;\n    add.u64 %%da, %%da, %%a4;\n    add.u64 %%db, %%db, %%a4;\n"
            "    ld.global.v4.u32 {%%x0, %%x1, %%x2, %%x3}, [%%g+%d];\n    "
            "wgmma.mma_async.sync.aligned.m64n%dk%u.%s.%s.%s {",
            k, 16 * k, 16 * k + 8, 2048 * k, N, t->k, t->acc, t->name, t->name);
        for (unsigned x = 0; x < nd; x++)
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%%d%u", x ? ", " : "", x);
        n += snprintf(text + n, sizeof text - (size_t)n, "}, %s, %%db, %%add", a_regs ? "{%x0, %x1, %x2, %x3}" : "%da");
        if (fl)
            n += snprintf(text + n, sizeof text - (size_t)n, ", %d, %d", neg ? -1 : 1, 1);
        if (is16 && !a_regs)
            n += snprintf(text + n, sizeof text - (size_t)n, ", %d", ta);
        if (is16)
            n += snprintf(text + n, sizeof text - (size_t)n, ", %d", tb);
        n += snprintf(text + n, sizeof text - (size_t)n, ";\n");
    }
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 0;\n    mul.wide.u32 %%a3, "
                  "%%t, %u;\n    add.u64 %%o, %%o, %%a3;\n",
                  nd * 4);
    for (unsigned x = 0; x < nd; x++)
        n += snprintf(text + n, sizeof text - (size_t)n, "    st.global.u32 [%%o+%u], %%d%u;\n", 4 * x, x);
    snprintf(text + n, sizeof text - (size_t)n, "    ret;\n}\n");
    return text;
}

static float half_value(uint32_t h)
{
    int e = h >> 10 & 31, m = h & 1023;
    float f = e ? (float)(1024 + m) : (float)m;
    for (int k = e ? e : 1; k < 25; k++)
        f /= 2;
    for (int k = 25; k < e; k++)
        f *= 2;
    return h & 0x8000 ? -f : f;
}

static unsigned trial(struct wg *g, const uint64_t *mem, const struct type *t, unsigned sa, unsigned sb, int ta, int tb,
                      int a_regs, int neg)
{
    static int a[M][KS * 32], b[N][KS * 32];
    uint64_t seed = 3 + (uint64_t)sa * 5 + sb * 11 + (unsigned)ta * 17 + (unsigned)tb * 23 + t->bits;
    unsigned kall = KS * t->k, half = !strcmp(t->acc, "f16"), nd = half ? N / 4 : N / 2, bad = 0, bytes = t->bits / 8;
    uint8_t *in = (uint8_t *)mem[0];
    uint64_t *descs = (uint64_t *)mem[2];
    unsigned base_b = 32768;
    memset(in, 0, SHARED);
    for (unsigned k = 0; k < kall; k++) {
        for (unsigned x = 0; x < M; x++) {
            a[x][k] = t->lo + (int)(draw(&seed) % (unsigned)(t->hi - t->lo + 1));
            uint32_t v = encode(t->name, a[x][k]);
            memcpy(in + place(x, k, kall, M, t->bits, sa, ta), &v, bytes);
        }
        for (unsigned x = 0; x < N; x++) {
            b[x][k] = t->lo + (int)(draw(&seed) % (unsigned)(t->hi - t->lo + 1));
            uint32_t v = encode(t->name, b[x][k]);
            memcpy(in + base_b + place(x, k, kall, N, t->bits, sb, tb), &v, bytes);
        }
    }
    for (unsigned k = 0; k < KS; k++) {
        descs[2 * k] = descriptor(0, k * t->k, kall, M, t->bits, sa, ta);
        descs[2 * k + 1] = descriptor(base_b, k * t->k, kall, N, t->bits, sb, tb);
        for (unsigned th = 0; th < 128; th++) /* PTX ISA, fragment of a in registers */
            for (unsigned r = 0; r < 4; r++) {
                uint32_t v = 0;
                for (unsigned j = 0; j < 4 / bytes; j++) {
                    unsigned row = th / 32 * 16 + th % 32 / 4 + 8 * (r & 1), per = 4 / bytes;
                    unsigned col = r / 2 * 4 * per + th % 4 * per + j;
                    v |= encode(t->name, a[row][k * t->k + col]) << t->bits * j * (t->bits < 32);
                }
                ((uint32_t *)mem[3])[k * 512 + th * 4 + r] = v;
            }
    }
    uint64_t args[4] = {mem[0], mem[1], mem[2], mem[3]};
    if (run_ptx(g, "wgmma", kernel(t, ta, tb, a_regs, neg), 1, 128, 0, SHARED, args, 4, WG_OK))
        return 1;
    for (unsigned th = 0; th < 128; th++)
        for (unsigned x = 0; x < N / 2; x++) {
            unsigned row = th / 32 * 16 + th % 32 / 4 + 8 * (x / 2 % 2), col = x / 4 * 8 + th % 4 * 2 + x % 2;
            uint32_t v = ((uint32_t *)mem[1])[th * nd + (half ? x / 2 : x)];
            int64_t want = 0;
            double got;
            float f;
            for (unsigned k = 0; k < kall; k++)
                want += a[row][k] * b[col][k];
            want = neg ? -want : want;
            memcpy(&f, &v, 4);
            got = half               ? (double)half_value(v >> 16 * (x & 1) & 0xffff)
                  : t->acc[0] == 's' ? (double)(int32_t)v
                                     : (double)f;
            if (got != (double)want && !bad++)
                printf("%s.%s, swizzles %u %u, transposed %d %d%s: (%u,%u) is %g, not %lld\n", t->acc, t->name, sa, sb,
                       ta, tb, a_regs ? ", a in registers" : "", row, col, got, (long long)want);
        }
    return bad != 0;
}

/* Random finite values of every size, rounding and all. */
static void bits(struct wg *g, const uint64_t *mem, const struct type *t)
{
    uint64_t seed = 77, hash = 1469598103934665603ull, args[4] = {mem[0], mem[1], mem[2], mem[3]};
    uint64_t *descs = (uint64_t *)mem[2];
    unsigned kall = KS * t->k, nd = !strcmp(t->acc, "f16") ? N / 4 : N / 2;
    for (unsigned k = 0; k < SHARED / 4; k++) {
        uint32_t v = draw(&seed) << 1 ^ draw(&seed);
        if (t->bits == 16) /* exponents near the middle */
            v = (v & 0x87ff87ff) | (!strcmp(t->name, "f16") ? 0x30003000 : 0x38003800);
        else if (t->bits == 32)
            v = (v & 0x83ffe000) | 0x38000000;
        else if (t->acc[0] == 'f') /* no NaN, no infinity */
            v &= !strcmp(t->name, "e4m3") ? 0xf7f7f7f7 : 0xbfbfbfbf;
        ((uint32_t *)mem[0])[k] = v;
    }
    for (unsigned k = 0; k < KS; k++) {
        descs[2 * k] = descriptor(0, k * t->k, kall, M, t->bits, 128, 0);
        descs[2 * k + 1] = descriptor(32768, k * t->k, kall, N, t->bits, 128, 0);
    }
    if (run_ptx(g, "wgmma", kernel(t, 0, 0, 0, 0), 1, 128, 0, SHARED, args, 4, WG_OK))
        return;
    for (unsigned k = 0; k < 128 * nd; k++)
        hash = (hash ^ ((uint32_t *)mem[1])[k]) * 1099511628211ull;
    printf("%s.%s %016llx", t->acc, t->name, (unsigned long long)hash);
    for (unsigned k = 0; k < 6; k++)
        printf(" %08x", ((uint32_t *)mem[1])[k * 17]);
    printf("\n");
}

int main(int argc, char **argv)
{
    static const unsigned spans[] = {16, 32, 64, 128};
    struct wg *g = open_device(0);
    uint64_t mem[4] = {buffer(g, SHARED), buffer(g, 128 * 128 * 4), buffer(g, 256), buffer(g, KS * 2048)};
    unsigned failed = 0, n = 0;
    if (argc > 1 && !strcmp(argv[1], "--bits")) {
        for (unsigned k = 0; k < sizeof types / sizeof *types; k++)
            bits(g, mem, &types[k]);
        wg_close(g);
        return 0;
    }
    for (unsigned k = 0; k < sizeof types / sizeof *types; k++)
        for (unsigned sa = 0; sa < 4; sa++)
            for (unsigned sb = 0; sb < 4; sb++)
                for (int tr = 0; tr < (types[k].bits == 16 && types[k].acc[1] == '3' ? 4 : 1); tr++, n++) {
                    if (sa != sb && (sa + sb + k) % 3) /* not all pairs */
                        continue;
                    failed += trial(g, mem, &types[k], spans[sa], spans[sb], tr & 1, tr >> 1, 0, 0);
                }
    for (unsigned k = 0; k < sizeof types / sizeof *types; k++, n++)
        failed += trial(g, mem, &types[k], 128, 128, 0, 0, 1, types[k].acc[0] == 'f');
    wg_close(g);
    printf("%u failed of %u\n", failed, n);
    return failed != 0;
}
