/* texture_test.c - texture and surface instructions on random images and coordinates, against the formulas of the
 * programming guide in double precision: point fetches must be equal, filtered ones within the 8 bits of their weights.
 */
#include "launch.h"
#include <math.h>
#include <warpgrind/texture.h>

enum { THREADS = 256, W = 13, H = 9, D = 6 };
static char text[4096];

/* Each thread has four words of coordinates (x, y, z or layer first, as the instruction wants) and gives four words. */
static const char *kernel(const char *op, const char *geometry, const char *types, const char *coords, const char *tail,
                          int ref)
{
    snprintf(text, sizeof text,
             ".version 8.3\n.target sm_90\n.address_size 64\n.global .texref tex;\n"
             ".visible .entry k(.param .u64 handle, .param .u64 at, .param .u64 out)\n{\n"
             "    .reg .b64 %%h, %%i, %%o, %%a;\n    .reg .b32 %%t, %%x<4>, %%d<4>, %%z;\n"
             "    ld.param.u64 %%h, [handle];\n    ld.param.u64 %%i, [at];\n    ld.param.u64 %%o, [out];\n"
             "    mov.u32 %%t, %%tid.x;\n    mul.wide.u32 %%a, %%t, 16;\n    add.u64 %%i, %%i, %%a;\n    add.u64 %%o, "
             "%%o, %%a;\n"
             "    ld.global.v4.u32 {%%x0, %%x1, %%x2, %%x3}, [%%i];\n    mov.u32 %%z, 0;\n"
             "    %s.%s.v4.%s {%%d0, %%d1, %%d2, %%d3}, [%s, {%s}]%s;\n"
             "    st.global.v4.u32 [%%o], {%%d0, %%d1, %%d2, %%d3};\n    ret;\n}\n",
             op, geometry, types, ref ? "tex" : "%h", coords, tail);
    return text;
}

struct image {
    struct wg_image m;
    uint8_t *p;
};
static struct image image(struct wg *g, unsigned shape, unsigned kind, unsigned channels, unsigned bits, bool layered,
                          uint64_t *s)
{
    unsigned w = shape == WG_IMAGE_CUBE ? 8 : W,
             h = shape == WG_IMAGE_CUBE ? 8
                 : shape >= WG_IMAGE_2D ? H
                                        : 1,
             d = shape == WG_IMAGE_3D ? D : 1, texel = channels * bits / 8,
             layers = shape == WG_IMAGE_CUBE ? 6
                      : layered              ? 4
                                             : 1;
    struct image r = {.m = {.shape = (uint8_t)shape,
                            .kind = (uint8_t)kind,
                            .channels = (uint8_t)channels,
                            .bits = (uint8_t)bits,
                            .layered = layered,
                            .layers = layers,
                            .nlevels = 1}};
    uint64_t row = w * texel + 12, slice = row * h, layer = slice * d;
    r.m.level[0] = (struct wg_image_level){buffer(g, layer * layers), w, h, d, row, slice, layer};
    r.p = (uint8_t *)r.m.level[0].address;
    for (uint64_t k = 0; k < layer * layers; k++)
        r.p[k] = (uint8_t)draw(s);
    for (unsigned l = 0; l < layers; l++) /* floats of moderate size */
        for (unsigned z = 0; z < d; z++)
            for (unsigned y = 0; y < h; y++)
                for (unsigned x = 0; x < w * channels && kind == WG_TEXEL_FLOAT; x++) {
                    uint8_t *q = r.p + l * layer + z * slice + y * row + x * bits / 8;
                    float f = (float)(int)(draw(s) % 2001) / 1000 - 1;
                    uint16_t half = (uint16_t)(0x3000 + draw(s) % 0xc00);
                    memcpy(q, bits == 16 ? (void *)&half : (void *)&f, bits / 8);
                }
    return r;
}

/* Channel c of a texel, by definition: a number, or for integers the number they are. */
static double value(const struct image *r, bool norm, long x, long y, long z, long layer, unsigned c)
{
    const struct wg_image *m = &r->m;
    const uint8_t *q = r->p + layer * (long)m->level[0].layer_bytes + z * (long)m->level[0].slice_bytes +
                       y * (long)m->level[0].row_bytes + x * m->channels * m->bits / 8 + c * m->bits / 8;
    if (c >= m->channels)
        return 0;
    if (m->kind == WG_TEXEL_FLOAT && m->bits == 32) {
        float f;
        memcpy(&f, q, 4);
        return (double)f;
    }
    if (m->kind == WG_TEXEL_FLOAT) {
        uint16_t h;
        memcpy(&h, q, 2);
        return ldexp(1 + (h & 1023) / 1024.0, (h >> 10 & 31) - 15);
    }
    double v = 0, top = ldexp(1, m->bits - (m->kind == WG_TEXEL_SIGNED)) - 1;
    uint32_t u = 0;
    memcpy(&u, q, m->bits / 8);
    v = m->kind == WG_TEXEL_SIGNED ? (double)((int32_t)(u << (32 - m->bits)) >> (32 - m->bits)) : (double)u;
    return !norm ? v : v / top < -1 ? -1 : v / top;
}

/* The guide's address modes on coordinates: x in texels; false: the border. */
static bool addressed(const struct wg_texture *t, unsigned dim, double x, double n, double *out)
{
    unsigned mode = t->address[dim];
    if (!t->normalized && (mode == WG_ADDRESS_WRAP || mode == WG_ADDRESS_MIRROR))
        mode = WG_ADDRESS_CLAMP;
    double u = x / n, f = u - floor(u);
    if (mode == WG_ADDRESS_WRAP)
        x = f * n;
    else if (mode == WG_ADDRESS_MIRROR)
        x = (fmod(floor(u), 2) == 0 ? f : 1 - f) * n;
    else if (mode == WG_ADDRESS_BORDER && (x < 0 || x >= n))
        return false;
    *out = x < 0 ? 0 : x > n - 0.5 ? n - 0.5 : x;
    return true;
}
static double texel(const struct image *r, const struct wg_texture *t, const double x[3], long layer, unsigned c)
{
    double n[3] = {r->m.level[0].width, r->m.level[0].height, r->m.level[0].depth}, at[3];
    for (unsigned k = 0; k < 3; k++)
        if (!addressed(t, k, x[k], n[k], &at[k]))
            return (double)t->border[c];
    return value(r, t->normalized_float, (long)floor(at[0]), (long)floor(at[1]), (long)floor(at[2]), layer, c);
}
static double filtered(const struct image *r, const struct wg_texture *t, const double x[3], unsigned dims, long layer,
                       unsigned c, double *range)
{
    double sum = 0, lo = 1e30, hi = -1e30;
    for (unsigned corner = 0; corner < 1u << dims; corner++) {
        double w = 1, at[3] = {0.5, 0.5, 0.5};
        for (unsigned k = 0; k < dims; k++) {
            double b = floor(x[k] - 0.5), f = x[k] - 0.5 - b;
            at[k] = b + (corner >> k & 1) + 0.5;
            w *= corner >> k & 1 ? f : 1 - f;
        }
        double v = texel(r, t, at, layer, c);
        lo = v < lo ? v : lo;
        hi = v > hi ? v : hi;
        sum += w * v;
    }
    *range = hi - lo;
    return sum;
}

static double number(const struct wg_texture *t, uint32_t v)
{
    float f;
    memcpy(&f, &v, 4);
    if (t->image.kind == WG_TEXEL_FLOAT || t->normalized_float)
        return (double)f;
    return t->image.kind == WG_TEXEL_SIGNED ? (double)(int32_t)v : (double)v;
}

struct how {
    const char *geometry, *coords;
    unsigned shape, dims;
    bool layered;
};
static const struct how hows[] = {{"1d", "%x0", WG_IMAGE_1D, 1, false},
                                  {"2d", "%x0, %x1", WG_IMAGE_2D, 2, false},
                                  {"3d", "%x0, %x1, %x2, %z", WG_IMAGE_3D, 3, false},
                                  {"a1d", "%x3, %x0", WG_IMAGE_1D, 1, true},
                                  {"a2d", "%x3, %x0, %x1, %z", WG_IMAGE_2D, 2, true}};

static unsigned trial(struct wg *g, const struct how *h, unsigned kind, unsigned channels, unsigned nbits,
                      struct wg_texture t, uint64_t *s, uint64_t at, uint64_t out, int ref)
{
    struct image r = image(g, h->shape, kind, channels, nbits, h->layered, s);
    uint64_t handle;
    float *x = (float *)at;
    unsigned bad = 0;
    t.image = r.m;
    bool is_float = kind == WG_TEXEL_FLOAT || t.normalized_float, lin = t.filter == WG_FILTER_LINEAR;
    double n[3] = {r.m.level[0].width, r.m.level[0].height, r.m.level[0].depth};
    for (unsigned k = 0; k < THREADS; k++) {
        for (unsigned d = 0; d < 3; d++) {
            double v = ((double)(draw(s) % 4000) - 1000) / 1000 * n[d] / 1.5;
            if (!lin) /* clear of the texels' edges, where rounding decides */
                v = floor(v) + 0.25 + (draw(s) % 512) / 1024.0;
            x[4 * k + d] = (float)(t.normalized ? v / n[d] : v);
        }
        uint32_t layer = h->layered ? draw(s) % 4 : 0;
        memcpy(&x[4 * k + 3], &layer, 4);
    }
    if (wg_texture_create(g, &t, &handle)) {
        printf("%s\n", wg_error(g));
        return 1;
    }
    const char *types = is_float ? "f32.f32" : kind == WG_TEXEL_SIGNED ? "s32.f32" : "u32.f32";
    const char *ptx = kernel("tex", h->geometry, types, h->coords, "", ref);
    uint64_t args[3] = {ref ? 0 : handle, at, out};
    struct wg_module *m = NULL;
    void *p[3] = {&args[0], &args[1], &args[2]};
    struct wg_launch l = {.size = sizeof l, .grid = {1, 1, 1}, .block = {THREADS, 1, 1}, .args = p};
    if (wg_module_load(g, ptx, strlen(ptx), "texture", NULL, &m) || (ref && wg_module_bind(m, "tex", handle)) ||
        wg_launch(g, wg_module_kernel_at(m, 0), &l)) {
        printf("%s: %s\n", h->geometry, wg_error(g));
        return 1;
    }
    wg_module_unload(m);
    for (unsigned k = 0; k < THREADS && bad < 3; k++) {
        double c[3] = {0.5, 0.5, 0.5}, range = 0;
        uint32_t layer;
        memcpy(&layer, &x[4 * k + 3], 4);
        for (unsigned d = 0; d < h->dims; d++)
            c[d] = (double)x[4 * k + d] * (t.normalized ? n[d] : 1);
        for (unsigned ch = 0; ch < channels; ch++) {
            double want =
                lin && is_float ? filtered(&r, &t, c, h->dims, layer, ch, &range) : texel(&r, &t, c, layer, ch);
            double got = number(&t, ((uint32_t *)out)[4 * k + ch]);
            double most = lin ? range * h->dims / 512 + fabs(want) * 1e-6 + 1e-5 * range : fabs(want) * 6e-8;
            if (fabs(got - want) > most && bad++ < 3)
                printf("%s kind %u of %u x %u bits, modes %u filter %u%s at (%g,%g,%g): %g, not %g\n", h->geometry,
                       kind, channels, nbits, t.address[0], t.filter, t.normalized ? " normalised" : "", c[0], c[1],
                       c[2], got, want);
        }
    }
    wg_texture_destroy(g, handle);
    wg_free(g, r.m.level[0].address);
    return bad != 0;
}

static unsigned fetches(struct wg *g, uint64_t at, uint64_t out)
{
    static const struct {
        unsigned kind, channels, bits;
        bool norm;
    } formats[] = {{WG_TEXEL_FLOAT, 4, 32, false},   {WG_TEXEL_FLOAT, 1, 32, false},   {WG_TEXEL_FLOAT, 2, 16, false},
                   {WG_TEXEL_UNSIGNED, 4, 8, true},  {WG_TEXEL_SIGNED, 1, 8, true},    {WG_TEXEL_SIGNED, 2, 16, true},
                   {WG_TEXEL_UNSIGNED, 1, 16, true}, {WG_TEXEL_UNSIGNED, 4, 8, false}, {WG_TEXEL_SIGNED, 1, 16, false},
                   {WG_TEXEL_UNSIGNED, 2, 32, false}};
    uint64_t s = 11;
    unsigned failed = 0;
    for (unsigned h = 0; h < sizeof hows / sizeof *hows; h++)
        for (unsigned f = 0; f < sizeof formats / sizeof *formats; f++)
            for (unsigned mode = 0; mode < 4; mode++)
                for (unsigned v = 0; v < 4; v++) {
                    bool is_float = formats[f].kind == WG_TEXEL_FLOAT || formats[f].norm;
                    struct wg_texture t = {.address = {(uint8_t)mode, (uint8_t)((mode + v) % 4), (uint8_t)mode},
                                           .filter = v & 1,
                                           .normalized = v >> 1,
                                           .normalized_float = formats[f].norm,
                                           .border = {0.5f, -2, 3, 0.25f}};
                    if ((t.filter && !is_float) ||
                        (!is_float && (t.address[0] == WG_ADDRESS_BORDER || t.address[1] == WG_ADDRESS_BORDER)))
                        continue;
                    failed += trial(g, &hows[h], formats[f].kind, formats[f].channels, formats[f].bits, t, &s, at, out,
                                    f == 1 && v == 3);
                }
    return failed;
}

/* Integer coordinates of linear memory: what lies outside is zero. */
static unsigned linear(struct wg *g, uint64_t at, uint64_t out)
{
    uint64_t s = 5, handle, args[3];
    struct image r = image(g, WG_IMAGE_1D, WG_TEXEL_SIGNED, 2, 32, false, &s);
    struct wg_texture t = {.image = r.m};
    t.image.shape = WG_IMAGE_LINEAR;
    if (wg_texture_create(g, &t, &handle))
        return printf("%s\n", wg_error(g)), 1;
    for (int k = 0; k < THREADS; k++)
        ((int32_t *)at)[4 * k] = k - 20;
    args[0] = handle, args[1] = at, args[2] = out;
    if (run_ptx(g, "tex1Dfetch", kernel("tex", "1d", "s32.s32", "%x0", "", 0), 1, THREADS, 0, 0, args, 3, WG_OK))
        return 1;
    for (int k = 0; k < THREADS; k++)
        for (unsigned c = 0; c < 2; c++) {
            int x = k - 20;
            double want = x < 0 || x >= W ? 0 : value(&r, false, x, 0, 0, 0, c);
            if ((double)((int32_t *)out)[4 * k + (int)c] != want)
                return printf("tex1Dfetch at %d: %d, not %g\n", x, ((int32_t *)out)[4 * k + (int)c], want), 1;
        }
    wg_texture_destroy(g, handle);
    args[0] = handle; /* gone */
    return run_ptx(g, "a destroyed object", kernel("tex", "1d", "s32.s32", "%x0", "", 0), 1, THREADS, 0, 0, args, 3,
                   WG_KERNEL_FAULT) != WG_KERNEL_FAULT;
}

/* A cube's faces, each of one value; and the four texels of a gather. */
static unsigned cube_and_gather(struct wg *g, uint64_t at, uint64_t out)
{
    static const float dirs[6][3] = {{2, .3f, -.4f}, {-2, .3f, .4f}, {.3f, 2, .4f},
                                     {.3f, -2, .4f}, {.3f, .4f, 2},  {.3f, .4f, -2}};
    uint64_t s = 9, handle, args[3];
    unsigned failed = 0;
    struct image r = image(g, WG_IMAGE_CUBE, WG_TEXEL_FLOAT, 1, 32, false, &s);
    struct wg_texture t = {.image = r.m, .normalized = true, .filter = WG_FILTER_POINT, .seamless = true};
    for (unsigned f = 0; f < 6; f++)
        for (unsigned k = 0; k < 8; k++)
            for (unsigned x = 0; x < 8; x++)
                memcpy(r.p + f * r.m.level[0].layer_bytes + k * r.m.level[0].row_bytes + 4 * x,
                       &(float){(float)(100 * f + 10 * k + x)}, 4);
    wg_texture_create(g, &t, &handle);
    for (unsigned k = 0; k < 6; k++)
        memcpy((float *)at + 4 * k, dirs[k], 12);
    args[0] = handle, args[1] = at, args[2] = out;
    if (run_ptx(g, "cube", kernel("tex", "cube", "f32.f32", "%x0, %x1, %x2, %z", "", 0), 1, 6, 0, 0, args, 3, WG_OK))
        return 1;
    for (unsigned k = 0; k < 6; k++) { /* the guide's table: m, s, t of each face */
        const float *d = dirs[k];
        float st[6][2] = {{-d[2], -d[1]}, {d[2], -d[1]}, {d[0], d[2]}, {d[0], -d[2]}, {d[0], -d[1]}, {-d[0], -d[1]}};
        unsigned x = (unsigned)((st[k][0] / 2 + 1) / 2 * 8), y = (unsigned)((st[k][1] / 2 + 1) / 2 * 8);
        float got = ((float *)out)[4 * k];
        if (got != (float)(100 * k + 10 * y + x))
            printf("cube face %u: %g, not %u\n", k, (double)got, 100 * k + 10 * y + x), failed++;
    }
    wg_texture_destroy(g, handle);
    r = image(g, WG_IMAGE_2D, WG_TEXEL_FLOAT, 2, 32, false, &s);
    t = (struct wg_texture){.image = r.m, .address = {1, 1, 1}};
    wg_texture_create(g, &t, &handle);
    for (unsigned k = 0; k < THREADS; k++)
        for (unsigned d = 0; d < 2; d++)
            ((float *)at)[4 * k + d] = (float)(draw(&s) % 8) + 0.75f + (float)(draw(&s) % 100) / 200;
    args[0] = handle;
    if (run_ptx(g, "gather", kernel("tld4.g", "2d", "f32.f32", "%x0, %x1", "", 0), 1, THREADS, 0, 0, args, 3, WG_OK))
        return failed + 1;
    for (unsigned k = 0; k < THREADS; k++) {
        static const int order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
        for (unsigned c = 0; c < 4; c++) {
            double x[3] = {floor((double)((float *)at)[4 * k] - 0.5) + order[c][0] + 0.5,
                           floor((double)((float *)at)[4 * k + 1] - 0.5) + order[c][1] + 0.5, 0.5};
            if ((double)((float *)out)[4 * k + c] != texel(&r, &t, x, 0, 1) && failed++ < 3)
                printf("gather %u.%u: %g\n", k, c, (double)((float *)out)[4 * k + c]);
        }
    }
    wg_texture_destroy(g, handle);
    return failed;
}

/* Levels of a mipmap, each of one value: between them by the fraction of the level. */
static unsigned levels(struct wg *g, uint64_t at, uint64_t out)
{
    struct wg_image m = {
        .shape = WG_IMAGE_2D, .kind = WG_TEXEL_FLOAT, .channels = 1, .bits = 32, .layers = 1, .nlevels = 4};
    uint64_t handle, args[3];
    unsigned failed = 0;
    for (unsigned k = 0; k < 4; k++) {
        uint32_t n = 16u >> k;
        m.level[k] = (struct wg_image_level){buffer(g, 4 * n * n), n, n, 1, 4 * n, 4 * n * n, 4 * n * n};
        for (unsigned x = 0; x < n * n; x++)
            ((float *)m.level[k].address)[x] = (float)(k * k);
    }
    for (unsigned mip = 0; mip < 2; mip++) {
        struct wg_texture t = {.image = m,
                               .normalized = true,
                               .filter = WG_FILTER_LINEAR,
                               .mip_filter = (uint8_t)mip,
                               .mip_min = 0.25f,
                               .mip_max = 2.75f,
                               .mip_bias = 0.5f};
        wg_texture_create(g, &t, &handle);
        for (unsigned k = 0; k < THREADS; k++) {
            ((float *)at)[4 * k] = ((float *)at)[4 * k + 1] = 0.4f;
            ((float *)at)[4 * k + 2] = (float)k / 64 - 0.5f + 1.0f / 128;
        }
        args[0] = handle, args[1] = at, args[2] = out;
        if (run_ptx(g, "level", kernel("tex.level", "2d", "f32.f32", "%x0, %x1", ", %x2", 0), 1, THREADS, 0, 0, args, 3,
                    WG_OK))
            return failed + 1;
        for (unsigned k = 0; k < THREADS; k++) {
            double l = (double)((float *)at)[4 * k + 2] + 0.5;
            l = l < 0.25 ? 0.25 : l > 2.75 ? 2.75 : l;
            double b = floor(l), f = l - b,
                   want = mip ? (1 - f) * b * b + f * (b + 1) * (b + 1) : floor(l + 0.5) * floor(l + 0.5);
            if (fabs((double)((float *)out)[4 * k] - want) > (mip ? 5.0 / 256 : 0) && failed++ < 3)
                printf("level %g: %g, not %g\n", l, (double)((float *)out)[4 * k], want);
        }
        wg_texture_destroy(g, handle);
    }
    return failed;
}

/* Surfaces: each thread adds its number to what it reads and writes it elsewhere; boundaries three ways; a reduction.
 */
static const char surface[] =
    ".version 8.3\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 s, .param .u64 t, .param .u64 out)\n{\n"
    "    .reg .b64 %s, %q, %o, %a;\n    .reg .b32 %t, %x, %y, %d<6>, %w;\n"
    "    ld.param.u64 %s, [s];\n    ld.param.u64 %q, [t];\n    ld.param.u64 %o, [out];\n    mov.u32 %t, %tid.x;\n"
    "    and.b32 %x, %t, 7;\n    shr.u32 %y, %t, 3;\n    shl.b32 %x, %x, 3;\n"
    "    suld.b.2d.v2.b32.trap {%d0, %d1}, [%s, {%x, %y}];\n    add.u32 %d0, %d0, %t;\n"
    "    sust.b.2d.v2.b32.trap [%q, {%x, %y}], {%d0, %d1};\n"
    "    add.u32 %d4, %x, 96;\n    suld.b.2d.b32.zero %d2, [%s, {%d4, %y}];\n    suld.b.2d.b32.clamp %d3, [%s, {%d4, "
    "%y}];\n"
    "    mov.u32 %w, 0;\n    sured.b.add.2d.u32.trap [%q, {64, %w}], %t;\n    sust.b.2d.b32.zero [%q, {%d4, %y}], %t;\n"
    "    mul.wide.u32 %a, %t, 16;\n    add.u64 %o, %o, %a;\n    suq.width.b32 %d5, [%s];\n"
    "    st.global.v4.u32 [%o], {%d2, %d3, %d5, %d0};\n    ret;\n}\n";
static unsigned surfaces(struct wg *g, uint64_t out)
{
    uint64_t s = 3, args[3];
    unsigned failed = 0;
    struct image a = image(g, WG_IMAGE_2D, WG_TEXEL_SIGNED, 2, 32, false, &s),
                 b = image(g, WG_IMAGE_2D, WG_TEXEL_SIGNED, 2, 32, false, &s);
    memset(b.p, 0, b.m.level[0].layer_bytes);
    if (wg_surface_create(g, &a.m, &args[0]) || wg_surface_create(g, &b.m, &args[1]))
        return printf("%s\n", wg_error(g)), 1;
    args[2] = out;
    if (run_ptx(g, "surface", surface, 1, 64, 0, 0, args, 3, WG_OK))
        return 1;
    for (unsigned t = 0; t < 64; t++) {
        const uint32_t *o = (const uint32_t *)out + 4 * t;
        uint32_t want = (uint32_t)(int64_t)value(&a, false, t & 7, t >> 3, 0, 0, 0) + t;
        uint32_t last = (uint32_t)(int64_t)value(&a, false, W - 1, t >> 3, 0, 0, 1);
        if (o[0] != ((t & 7) == 0 ? (uint32_t)(int64_t)value(&a, false, 12, t >> 3, 0, 0, 0) : 0) ||
            o[1] != ((t & 7) == 0 ? o[0] : last) || o[2] != W || o[3] != want ||
            (uint32_t)(int64_t)value(&b, false, t & 7, t >> 3, 0, 0, 0) != want)
            printf("surface thread %u: %u %u %u %u\n", t, o[0], o[1], o[2], o[3]), failed++;
    }
    if (value(&b, false, 8, 0, 0, 0, 0) != 64 * 63 / 2)
        printf("surface reduction: %g\n", value(&b, false, 8, 0, 0, 0, 0)), failed++;
    return failed;
}

int main(void)
{
    struct wg *g = open_device(0);
    uint64_t at = buffer(g, THREADS * 16), out = buffer(g, THREADS * 16);
    unsigned failed =
        fetches(g, at, out) + linear(g, at, out) + cube_and_gather(g, at, out) + levels(g, at, out) + surfaces(g, out);
    struct wg_texture t = {.image = {.shape = WG_IMAGE_2D, .channels = 3, .bits = 8, .layers = 1, .nlevels = 1}};
    uint64_t handle;
    if (wg_texture_create(g, &t, &handle) != WG_INVALID || wg_texture_destroy(g, 12345) != WG_INVALID)
        printf("a texture of three channels, or the end of one that never was\n"), failed++;

    wg_close(g);
    printf("%u failed\n", failed);
    return failed != 0;
}
