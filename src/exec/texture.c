/* texture.c - texture objects: their table, addressing, filtering (CUDA C++ Programming Guide, "Texture Fetching").
 *
 * A linear filter weighs with fractions of 8 bits: the coordinate, less one half, is rounded to 1/256 of a texel. Where
 * the guide is silent: the level of detail of a mipmap without one given is 0, and a gradient's is the logarithm of the
 * longer of its two steps in texels. */
#include "exec/engine.h"
#include "exec/half.h"
#include "exec/texture.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */
enum { SLOT_BITS = 24 };

static const char *bad_image(const struct wg *g, const struct wg_image *m)
{
    unsigned texel = m->channels * m->bits / 8u;
    if (m->shape > WG_IMAGE_CUBE || m->kind > WG_TEXEL_FLOAT)
        return "the image has no known shape or kind";
    if ((m->channels != 1 && m->channels != 2 && m->channels != 4) ||
        (m->bits != 8 && m->bits != 16 && m->bits != 32) || (m->kind == WG_TEXEL_FLOAT && m->bits == 8))
        return "a texel has 1, 2 or 4 channels of 8, 16 or 32 bits";
    if (m->nlevels < 1 || m->nlevels > WG_IMAGE_LEVELS || m->layers < 1 || (m->shape == WG_IMAGE_CUBE && m->layers % 6))
        return "the image needs 1 to 16 levels and a layer; a cube six faces";
    for (uint32_t k = 0; k < m->nlevels; k++) {
        const struct wg_image_level *v = &m->level[k];
        if (!v->width || !v->height || !v->depth)
            return "a level of the image is empty";
        uint64_t end = (m->layers - 1) * v->layer_bytes + (v->depth - 1) * v->slice_bytes +
                       (v->height - 1) * v->row_bytes + (uint64_t)v->width * texel;
        if (!g->opt.host_addresses && (v->address < g->lo || v->address > g->end || end > g->end - v->address))
            return "the texels are not in device memory";
    }
    return NULL;
}

static enum wg_status add(struct wg *g, const struct wg_texture *t, bool surface, uint64_t *handle)
{
    uint32_t k = 0;
    wg_diag_clear(&g->diag);
    *handle = 0;
    const char *why = bad_image(g, &t->image);
    if (!why && t->filter == WG_FILTER_LINEAR && t->image.kind != WG_TEXEL_FLOAT && !t->normalized_float)
        why = "linear filtering needs texels that read as floats";
    if (!why && t->normalized_float && t->image.bits == 32 && t->image.kind != WG_TEXEL_FLOAT)
        why = "32-bit integers do not read as normalised floats";
    if (why)
        return wg_diag_set(&g->diag, WG_INVALID, "%s", why);
    while (k < g->ntextures && g->textures[k].live)
        k++;
    if (k == g->ntextures) {
        struct wg_texture_slot *p = wg_realloc(g->textures, (k + 1) * sizeof *p);
        if (!p)
            return wg_diag_set(&g->diag, WG_NO_MEMORY, "out of host memory");
        g->textures = p;
        p[k] = (struct wg_texture_slot){.generation = 0};
        g->ntextures++;
    }
    struct wg_texture_slot *s = &g->textures[k];
    *s = (struct wg_texture_slot){.t = *t, .generation = s->generation + 1, .live = true, .surface = surface};
    *handle = (uint64_t)s->generation << SLOT_BITS | (k + 1);
    return WG_OK;
}
enum wg_status wg_texture_create(struct wg *g, const struct wg_texture *t, uint64_t *handle)
{
    return add(g, t, false, handle);
}
enum wg_status wg_surface_create(struct wg *g, const struct wg_image *image, uint64_t *handle)
{
    struct wg_texture t = {.image = *image};
    return add(g, &t, true, handle);
}
static struct wg_texture_slot *slot_of(const struct wg *g, uint64_t handle)
{
    uint64_t k = handle & ((1u << SLOT_BITS) - 1);
    if (!k || k > g->ntextures)
        return NULL;
    struct wg_texture_slot *s = &g->textures[k - 1];
    return s->live && s->generation == handle >> SLOT_BITS ? s : NULL;
}
enum wg_status wg_texture_destroy(struct wg *g, uint64_t handle)
{
    wg_diag_clear(&g->diag);
    struct wg_texture_slot *s = slot_of(g, handle);
    if (!s)
        return wg_diag_set(&g->diag, WG_INVALID, "0x%llx is no live texture or surface object",
                           (unsigned long long)handle);
    s->live = false;
    return WG_OK;
}
const struct wg_texture *wg_texture_get(const struct wg *g, uint64_t handle)
{
    const struct wg_texture_slot *s = slot_of(g, handle);
    return s ? &s->t : NULL;
}
const struct wg_texture *wg_texture_of(const struct wg *g, uint64_t handle, bool surface)
{
    if (handle >= g->lo && handle < g->end && handle + 8 <= g->end) /* a reference: its cell holds the handle */
        memcpy(&handle, (const void *)handle, 8);
    const struct wg_texture_slot *s = slot_of(g, handle);
    return s && s->surface == surface ? &s->t : NULL;
}
enum wg_status wg_module_bind(struct wg_module *m, const char *name, uint64_t handle)
{
    wg_diag_clear(&m->g->diag);
    for (uint32_t k = 0; k < m->ptx->nvars; k++)
        if (m->ptx->vars[k]->kind == WG_SYMBOL_TEX && strcmp(m->ptx->vars[k]->name, name) == 0) {
            memcpy((void *)m->var_addr[k], &handle, 8);
            return WG_OK;
        }
    return wg_diag_set(&m->g->diag, WG_NOT_FOUND, "%s: no texture or surface reference %s", m->name, name);
}

/* ---- texels ---- */
static bool reads_float(const struct wg_texture *t)
{
    return t->image.kind == WG_TEXEL_FLOAT || t->normalized_float;
}
static uint32_t bits_of_float(float f)
{
    uint32_t v;
    memcpy(&v, &f, 4);
    return v;
}
static float float_of_bits(uint32_t v)
{
    float f;
    memcpy(&f, &v, 4);
    return f;
}
static float from_srgb(float c)
{
    return c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f);
}

static uint32_t channel(const struct wg_texture *t, const char *p, unsigned k)
{
    const struct wg_image *m = &t->image;
    uint32_t v = 0;
    memcpy(&v, p + k * m->bits / 8, m->bits / 8);
    if (m->kind == WG_TEXEL_FLOAT)
        return m->bits == 16 ? bits_of_float(wg_f16_to_f32((uint16_t)v)) : v;
    int32_t s = (int32_t)(v << (32 - m->bits)) >> (32 - m->bits);
    if (!t->normalized_float)
        return m->kind == WG_TEXEL_SIGNED ? (uint32_t)s : v;
    float most = (float)((1u << (m->bits - (m->kind == WG_TEXEL_SIGNED))) - 1);
    float f = (m->kind == WG_TEXEL_SIGNED ? (float)s : (float)v) / most;
    f = f < -1 ? -1 : f;
    return bits_of_float(t->srgb && m->bits == 8 && m->kind == WG_TEXEL_UNSIGNED && k < 3 ? from_srgb(f) : f);
}

/* One texel of layer k, all coordinates inside. */
static void read_texel(const struct wg_texture *t, uint32_t level, const int64_t x[3], uint32_t layer, uint32_t out[4])
{
    const struct wg_image_level *v = &t->image.level[level];
    unsigned texel = t->image.channels * t->image.bits / 8u;
    const char *p = (const char *)(v->address + layer * v->layer_bytes + (uint64_t)x[2] * v->slice_bytes +
                                   (uint64_t)x[1] * v->row_bytes + (uint64_t)x[0] * texel);
    for (unsigned k = 0; k < 4; k++)
        out[k] = k < t->image.channels ? channel(t, p, k) : 0;
}

static int64_t modulo(int64_t i, int64_t n)
{
    return (i % n + n) % n;
}
/* Brings a texel number into 0..n-1; false: the border. */
static bool address(const struct wg_texture *t, unsigned dim, int64_t *i, int64_t n)
{
    unsigned mode = t->address[dim];
    if (*i >= 0 && *i < n)
        return true;
    if (!t->normalized && (mode == WG_ADDRESS_WRAP || mode == WG_ADDRESS_MIRROR))
        mode = WG_ADDRESS_CLAMP;
    switch (mode) {
    case WG_ADDRESS_WRAP:
        *i = modulo(*i, n);
        return true;
    case WG_ADDRESS_MIRROR:
        *i = modulo(*i, 2 * n);
        *i = *i < n ? *i : 2 * n - 1 - *i;
        return true;
    case WG_ADDRESS_BORDER:
        return false;
    default:
        *i = *i < 0 ? 0 : n - 1;
        return true;
    }
}

/* ---- cubes ---- */
/* Face and coordinates in it, 0 to 1, of a direction; NaN goes to face 0. */
static uint32_t face_of(const float v[3], double st[2])
{
    double x = (double)v[0], y = (double)v[1], z = (double)v[2], ax = fabs(x), ay = fabs(y), az = fabs(z), m, s, q;
    uint32_t face;
    if (ax >= ay && ax >= az)
        face = x < 0, m = ax, s = x < 0 ? z : -z, q = -y;
    else if (ay >= az)
        face = 2 + (y < 0), m = ay, s = x, q = y < 0 ? -z : z;
    else
        face = 4 + (z < 0), m = az, s = z < 0 ? -x : x, q = -y;
    st[0] = m > 0 ? (s / m + 1) / 2 : 0.5;
    st[1] = m > 0 ? (q / m + 1) / 2 : 0.5;
    return face;
}
/* The direction of a place in a face, which may lie beyond its edge. */
static void direction(uint32_t face, double s, double q, float v[3])
{
    s = 2 * s - 1;
    q = 2 * q - 1;
    const double d[6][3] = {{1, -q, -s}, {-1, -q, s}, {s, 1, q}, {s, -1, -q}, {s, -q, 1}, {-s, -q, -1}};
    for (int k = 0; k < 3; k++)
        v[k] = (float)d[face][k];
}

/* A texel by number, with the mode of each dimension; in a cube x and y may step over an edge. */
static void get_texel(const struct wg_texture *t, uint32_t level, const int64_t at[3], uint32_t layer, uint32_t out[4])
{
    const struct wg_image_level *v = &t->image.level[level];
    int64_t x[3] = {at[0], at[1], at[2]}, n[3] = {v->width, v->height, v->depth};
    if (t->image.shape == WG_IMAGE_LINEAR && (x[0] < 0 || x[0] >= n[0])) {
        memset(out, 0, 16);
        return;
    }
    if (t->image.shape == WG_IMAGE_CUBE) {
        bool over = x[0] < 0 || x[0] >= n[0] || x[1] < 0 || x[1] >= n[1];
        if (over && t->seamless) {
            float d[3];
            double st[2];
            direction(layer % 6, ((double)x[0] + 0.5) / (double)n[0], ((double)x[1] + 0.5) / (double)n[1], d);
            layer = layer / 6 * 6 + face_of(d, st);
            for (int k = 0; k < 2; k++)
                x[k] = (int64_t)floor(st[k] * (double)n[k]);
        }
        for (int k = 0; k < 2; k++)
            x[k] = x[k] < 0 ? 0 : x[k] >= n[k] ? n[k] - 1 : x[k];
    } else {
        for (unsigned k = 0; k < 3; k++)
            if (!address(t, k, &x[k], n[k])) {
                for (unsigned c = 0; c < 4; c++)
                    out[c] = bits_of_float(t->border[c]);
                return;
            }
    }
    read_texel(t, level, x, layer, out);
}

/* ---- sampling ---- */
static unsigned dims_of(unsigned geometry)
{
    switch (geometry) {
    case WG_GEOMETRY_1D:
    case WG_GEOMETRY_A1D:
        return 1;
    case WG_GEOMETRY_3D:
        return 3;
    default:
        return 2; /* a cube's faces too */
    }
}

/* A coordinate in texels. */
static double in_texels(const struct wg_texture *t, unsigned dim, double c, double n)
{
    if (!(c > -1e9 && c < 1e9))
        c = c >= 1e9 ? 1e9 : c <= -1e9 ? -1e9 : 0;
    if (!t->normalized)
        return c;
    if (t->address[dim] == WG_ADDRESS_WRAP)
        c -= floor(c);
    else if (t->address[dim] == WG_ADDRESS_MIRROR)
        c -= 2 * floor(c / 2);
    return c * n;
}

/* Texel number and weight of the next one, in 1/256. */
static int64_t lower(double x, unsigned *weight)
{
    int64_t f = (int64_t)floor((x - 0.5) * 256 + 0.5);
    *weight = (unsigned)(f & 255);
    return f >> 8;
}

static unsigned linear(const struct wg_texture *t, const struct wg_fetch *f, uint32_t level, const double x[3],
                       unsigned dims, uint32_t layer, double out[4])
{
    int64_t i[3] = {0, 0, 0};
    unsigned w[3] = {0, 0, 0}, texels = 0;
    for (unsigned k = 0; k < dims; k++)
        i[k] = lower(x[k], &w[k]) + f->offset[k];
    memset(out, 0, 4 * sizeof *out);
    for (unsigned corner = 0; corner < 1u << dims; corner++) {
        int64_t at[3] = {i[0] + (corner & 1), i[1] + (corner >> 1 & 1), i[2] + (corner >> 2 & 1)};
        double weight = 1;
        uint32_t v[4];
        for (unsigned k = 0; k < dims; k++)
            weight *= (corner >> k & 1 ? w[k] : 256 - w[k]) / 256.0;
        if (weight == 0)
            continue;
        get_texel(t, level, at, layer, v);
        texels++;
        for (unsigned k = 0; k < 4; k++)
            out[k] += weight * (double)float_of_bits(v[k]);
    }
    return texels;
}

static unsigned sample(const struct wg_texture *t, const struct wg_fetch *f, uint32_t level, uint32_t layer,
                       uint32_t out[4])
{
    const struct wg_image_level *v = &t->image.level[level];
    unsigned dims = dims_of(f->geometry);
    double n[3] = {v->width, v->height, v->depth}, x[3] = {0, 0, 0}, sum[4];
    if (t->image.shape == WG_IMAGE_CUBE) {
        double st[2];
        layer = layer * 6 + face_of(f->c, st);
        x[0] = st[0] * n[0];
        x[1] = st[1] * n[1];
    } else {
        for (unsigned k = 0; k < dims; k++)
            x[k] = in_texels(t, k, (double)f->c[k], n[k]);
    }
    if (f->gather) { /* counter-clockwise from the lower left: PTX ISA, tld4 */
        static const uint8_t order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
        unsigned w;
        int64_t i = lower(x[0], &w) + f->offset[0], j = lower(x[1], &w) + f->offset[1];
        for (unsigned k = 0; k < 4; k++) {
            uint32_t c[4];
            get_texel(t, level, (int64_t[3]){i + order[k][0], j + order[k][1], 0}, layer, c);
            out[k] = c[f->component & 3];
        }
        return 4;
    }
    if (t->filter == WG_FILTER_LINEAR && reads_float(t)) {
        unsigned texels = linear(t, f, level, x, dims, layer, sum);
        for (unsigned k = 0; k < 4; k++)
            out[k] = bits_of_float((float)sum[k]);
        return texels;
    }
    int64_t at[3] = {0, 0, 0};
    for (unsigned k = 0; k < dims; k++)
        at[k] = (int64_t)floor(x[k]) + f->offset[k];
    if (t->image.shape == WG_IMAGE_CUBE) /* the far edge belongs to the face */
        for (unsigned k = 0; k < 2; k++)
            at[k] = at[k] >= (int64_t)n[k] ? (int64_t)n[k] - 1 : at[k];
    get_texel(t, level, at, layer, out);
    return 1;
}

static double level_of(const struct wg_texture *t, const struct wg_fetch *f)
{
    double l = 0, last = t->image.nlevels - 1;
    if (f->has_level)
        l = (double)f->level;
    if (f->has_gradient) {
        const struct wg_image_level *v = &t->image.level[0];
        double n[3] = {v->width, v->height, v->depth}, a = 0, b = 0;
        for (unsigned k = 0; k < dims_of(f->geometry); k++) {
            double s = t->normalized ? n[k] : 1;
            a += (double)f->dx[k] * s * (double)f->dx[k] * s;
            b += (double)f->dy[k] * s * (double)f->dy[k] * s;
        }
        a = a > b ? a : b;
        l = a > 0 ? log2(a) / 2 : 0;
    }
    if (t->image.nlevels > 1) {
        l += (double)t->mip_bias;
        l = l < (double)t->mip_min ? (double)t->mip_min : l;
        l = l > (double)t->mip_max ? (double)t->mip_max : l;
    }
    return !(l > 0) ? 0 : l > last ? last : l;
}

unsigned wg_texture_fetch(const struct wg_texture *t, const struct wg_fetch *f, uint32_t out[4])
{
    const struct wg_image *m = &t->image;
    bool cube = m->shape == WG_IMAGE_CUBE;
    uint32_t most = cube ? m->layers / 6 : m->layers, layer = f->layer;
    if ((int32_t)layer < 0)
        layer = 0;
    layer = layer < most ? layer : most - 1;
    double l = level_of(t, f);
    if (f->integer) {
        int64_t at[3] = {0, 0, 0};
        for (unsigned k = 0; k < dims_of(f->geometry); k++)
            at[k] = (int64_t)f->i[k] + f->offset[k];
        get_texel(t, (uint32_t)l, at, layer, out);
        return 1;
    }
    if (t->mip_filter != WG_FILTER_LINEAR || !reads_float(t) || m->nlevels == 1 || f->gather)
        return sample(t, f, (uint32_t)floor(l + 0.5), layer, out);
    unsigned fixed = (unsigned)floor(l * 256 + 0.5), low = fixed >> 8;
    uint32_t a[4], b[4];
    unsigned n = sample(t, f, low, layer, a);
    if (!(fixed & 255)) {
        memcpy(out, a, sizeof a);
        return n;
    }
    n += sample(t, f, low + 1, layer, b);
    for (unsigned k = 0; k < 4; k++) {
        double w = (fixed & 255) / 256.0;
        out[k] = bits_of_float((float)((1 - w) * (double)float_of_bits(a[k]) + w * (double)float_of_bits(b[k])));
    }
    return n;
}

bool wg_texture_has(const struct wg_image *m, unsigned geometry)
{
    bool layered = geometry >= WG_GEOMETRY_A1D;
    static const uint8_t shape[] = {
        [WG_GEOMETRY_1D] = WG_IMAGE_1D,     [WG_GEOMETRY_A1D] = WG_IMAGE_1D, [WG_GEOMETRY_2D] = WG_IMAGE_2D,
        [WG_GEOMETRY_A2D] = WG_IMAGE_2D,    [WG_GEOMETRY_3D] = WG_IMAGE_3D,  [WG_GEOMETRY_CUBE] = WG_IMAGE_CUBE,
        [WG_GEOMETRY_ACUBE] = WG_IMAGE_CUBE};
    if (m->shape == WG_IMAGE_LINEAR)
        return geometry == WG_GEOMETRY_1D;
    if (m->shape == WG_IMAGE_CUBE && geometry == WG_GEOMETRY_A2D) /* a surface sees a cube's faces as layers */
        return true;
    return shape[geometry] == m->shape && m->layered == layered;
}

uint64_t wg_surface_at(const struct wg_image *m, unsigned geometry, const int32_t x[3], uint32_t layer, unsigned bytes,
                       unsigned clamp)
{
    const struct wg_image_level *v = &m->level[0];
    int64_t at[3] = {0, 0, 0}, n[3] = {(int64_t)v->width * m->channels * m->bits / 8, v->height, v->depth};
    bool out = layer >= m->layers;
    for (unsigned k = 0; k < dims_of(geometry); k++) {
        at[k] = x[k];
        int64_t last = k ? n[k] - 1 : n[0] - bytes;
        out |= at[k] < 0 || at[k] > last;
        if (clamp == WG_SURFACE_CLAMP)
            at[k] = at[k] < 0 ? 0 : at[k] > last ? last : at[k];
    }
    if (out && clamp != WG_SURFACE_CLAMP)
        return clamp == WG_SURFACE_TRAP;
    layer = layer < m->layers ? layer : m->layers - 1;
    return v->address + layer * v->layer_bytes + (uint64_t)at[2] * v->slice_bytes + (uint64_t)at[1] * v->row_bytes +
           (uint64_t)at[0];
}

uint32_t wg_texture_query(const struct wg_texture *t, unsigned query, uint32_t level)
{
    const struct wg_image *m = &t->image;
    const struct wg_image_level *v = &m->level[level < m->nlevels ? level : m->nlevels - 1];
    switch (query) {
    case WG_QUERY_WIDTH:
        return v->width;
    case WG_QUERY_HEIGHT:
        return v->height;
    case WG_QUERY_DEPTH:
        return v->depth;
    case WG_QUERY_DATA_TYPE: /* the numbers of OpenCL's cl_channel_type, as PTX has them */
        return m->kind == WG_TEXEL_FLOAT ? (m->bits == 16 ? 0x10ddu : 0x10deu)
               : t->normalized_float     ? (m->kind == WG_TEXEL_SIGNED ? 0x10d0u : 0x10d2u) + (m->bits == 16)
                                         : (m->kind == WG_TEXEL_SIGNED ? 0x10d7u : 0x10dau) + (m->bits == 16   ? 1u
                                                                                               : m->bits == 32 ? 2u
                                                                                                               : 0u);
    case WG_QUERY_ORDER:
        return m->channels == 1 ? 0x10b0 : m->channels == 2 ? 0x10b2 : 0x10b5; /* R, RG, RGBA */
    case WG_QUERY_NORMALIZED:
        return t->normalized;
    case WG_QUERY_ARRAY_SIZE:
        return m->layered ? m->layers : 0;
    case WG_QUERY_LEVELS:
        return m->nlevels;
    case WG_QUERY_FILTER:
        return t->filter;
    case WG_QUERY_ADDRESS_0:
    case WG_QUERY_ADDRESS_1:
    case WG_QUERY_ADDRESS_2:
        return t->address[query - WG_QUERY_ADDRESS_0];
    case WG_QUERY_FORCE_UNNORMALIZED:
        return !t->normalized;
    default:
        return 0;
    }
}
