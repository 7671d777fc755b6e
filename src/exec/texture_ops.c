/* texture_ops.c - tex, tld4, suld, sust, sured, txq and suq, lane by lane. */
#include "exec/bulk.h"
#include "exec/engine.h"
#include "exec/half.h"
#include "exec/texture.h"

static const struct wg_inst *no_object(struct wg_warp *w, const struct wg_inst *i, unsigned l, uint64_t h, bool surface)
{
    return wg_fault(w, i, WG_KERNEL_FAULT, "invalid-texture", (int)l, h, "0x%llx is no live %s object",
                    (unsigned long long)h, surface ? "surface" : "texture");
}
static const struct wg_inst *other_shape(struct wg_warp *w, const struct wg_inst *i, unsigned l, uint64_t h)
{
    return wg_fault(w, i, WG_KERNEL_FAULT, "invalid-texture", (int)l, h,
                    "Object 0x%llx has another shape than the instruction names", (unsigned long long)h);
}
static void count(struct wg_warp *w, const struct wg_inst *i, uint64_t bytes)
{
    w->site[i->site].access++;
    w->site[i->site].bytes += bytes;
}
static uint32_t word(const char *R, uint32_t slot, unsigned l)
{
    return slot ? ((const uint32_t *)(R + slot))[l] : 0;
}
static float real(const char *R, uint32_t slot, unsigned l)
{
    float f = 0;
    if (slot)
        memcpy(&f, R + slot + 4 * l, 4);
    return f;
}
static void put(const struct wg_texture_desc *d, char *R, unsigned k, unsigned l, uint64_t v)
{
    if (!d->data[k])
        return;
    if (d->data_bytes[k] == 8)
        ((uint64_t *)(R + d->data[k]))[l] = v;
    else if (d->data_bytes[k] == 4)
        ((uint32_t *)(R + d->data[k]))[l] = (uint32_t)v;
    else
        ((uint16_t *)(R + d->data[k]))[l] = (uint16_t)v;
}

H(texture)
{
    const struct wg_texture_desc *d = i->p;
    uint32_t on = WG_ON;
    uint64_t bytes = 0;
    if (!on)
        return i + 1;
    for (uint32_t m = on; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t h = WG_VEC(uint64_t, d->handle)[l];
        const struct wg_texture *t = wg_texture_of(w->wk->run->g, h, false);
        if (!t)
            return no_object(w, i, l, h, false);
        if (!wg_texture_has(&t->image, d->geometry))
            return other_shape(w, i, l, h);
        struct wg_fetch f = {.geometry = d->geometry,
                             .integer = d->integer,
                             .has_level = d->has_level,
                             .has_gradient = d->has_gradient,
                             .gather = d->op == WG_OP_TLD4,
                             .component = d->component,
                             .layer = word(R, d->layer, l),
                             .level = real(R, d->level, l)};
        for (unsigned k = 0; k < 3; k++) {
            f.i[k] = (int32_t)word(R, d->coord[k], l);
            f.c[k] = real(R, d->coord[k], l);
            f.dx[k] = real(R, d->dx[k], l);
            f.dy[k] = real(R, d->dy[k], l);
            f.offset[k] = (int32_t)word(R, d->offset[k], l);
        }
        uint32_t out[4];
        bytes += wg_texture_fetch(t, &f, out) * t->image.channels * t->image.bits / 8u;
        for (unsigned k = 0; k < d->n; k++)
            put(d, R, k, l,
                !d->packed ? out[k]
                           : wg_f32_to_f16(((union {
                                               uint32_t u;
                                               float f;
                                           }){out[2 * k]})
                                               .f) |
                                 (uint32_t)wg_f32_to_f16(((union {
                                                             uint32_t u;
                                                             float f;
                                                         }){out[2 * k + 1]})
                                                             .f)
                                     << 16);
    }
    if (d->there)
        WG_P(d->there) |= on;
    if (d->counted)
        count(w, i, bytes);
    return i + 1;
}

/* A formatted store: four words to the channels of one texel; false: not known how hardware converts. */
static bool format(const struct wg_image *m, const uint32_t *v, unsigned n, char *p)
{
    for (unsigned k = 0; k < m->channels && k < n; k++) {
        uint16_t h;
        memcpy(&h, &v[k], 2);
        if (m->kind == WG_TEXEL_FLOAT && m->bits == 16) {
            float f;
            memcpy(&f, &v[k], 4);
            h = wg_f32_to_f16(f);
        } else if (m->bits != 32) {
            return false;
        }
        memcpy(p + k * m->bits / 8, m->bits == 16 ? (const void *)&h : &v[k], m->bits / 8);
    }
    return true;
}

static const struct wg_inst *surface_lane(struct wg_warp *w, const struct wg_inst *i, char *R, unsigned l)
{
    const struct wg_texture_desc *d = i->p;
    uint64_t h = WG_VEC(uint64_t, d->handle)[l];
    const struct wg_texture *t = wg_texture_of(w->wk->run->g, h, true);
    bool load = d->op == WG_OP_SULD;
    if (!t)
        return no_object(w, i, l, h, true);
    if (!wg_texture_has(&t->image, d->geometry))
        return other_shape(w, i, l, h);
    unsigned texel = t->image.channels * t->image.bits / 8u, bytes = d->raw ? (unsigned)d->elem * d->n : texel;
    int32_t x[3];
    for (unsigned k = 0; k < 3; k++)
        x[k] = (int32_t)(word(R, d->coord[k], l) * (k == 0 && !d->raw ? texel : 1));
    uint64_t at = wg_surface_at(&t->image, d->geometry, x, word(R, d->layer, l), bytes, d->clamp);
    if (at == 1)
        return wg_fault(w, i, WG_KERNEL_FAULT, "out-of-bounds", (int)l, h,
                        "Invalid surface %s of size %u bytes: byte %d of a row, row %d is outside the surface",
                        load ? "read" : "write", bytes, x[0], x[1]);
    if (at && d->clamp != WG_SURFACE_CLAMP && (uint32_t)x[0] & (bytes - 1))
        return wg_fault(w, i, WG_KERNEL_FAULT, "misaligned", (int)l, at,
                        "Invalid surface access of size %u bytes: byte %d of a row is misaligned", bytes, x[0]);
    uint32_t v[4] = {0};
    for (unsigned k = 0; k < d->n; k++) {
        const char *from = R + d->data[k] + l * d->data_bytes[k];
        if (load) {
            uint64_t r = 0;
            if (at)
                memcpy(&r, (const char *)at + k * d->elem, d->elem);
            put(d, R, k, l, r);
        } else if (!d->raw && d->op == WG_OP_SUST) {
            memcpy(&v[k], from, 4);
        } else if (at && d->op == WG_OP_SUST) {
            memcpy((char *)at + k * d->elem, from, d->elem);
        } else if (at) {
            wg_bulk_reduce((char *)at, from, d->elem, d->atom, d->type, true, w->wk->run->nworkers > 1);
        }
    }
    if (!load && !d->raw && d->op == WG_OP_SUST && at && !format(&t->image, v, d->n, (char *)at))
        return wg_fault(w, i, WG_UNSUPPORTED, "unsupported", (int)l, 0,
                        "not supported: a formatted store to a surface of 8- or 16-bit integers");
    if (!load && at) {
        w->wk->changes++;
        if (wg_is_observed(w))
            wg_observe_write(w, l, WG_SITE_GLOBAL, at, bytes);
    }
    return i + 1;
}
H(surface)
{
    const struct wg_texture_desc *d = i->p;
    uint32_t on = WG_ON;
    if (!on)
        return i + 1;
    for (uint32_t m = on; m; m &= m - 1)
        if (!surface_lane(w, i, R, (unsigned)__builtin_ctz(m)))
            return NULL;
    if (d->counted)
        count(w, i, (uint64_t)__builtin_popcount(on) * d->elem * d->n);
    return i + 1;
}

H(texture_query)
{
    const struct wg_texture_desc *d = i->p;
    bool surface = d->op == WG_OP_SUQ;
    for (uint32_t m = WG_ON; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t h = WG_VEC(uint64_t, d->handle)[l];
        const struct wg_texture *t = wg_texture_of(w->wk->run->g, h, surface);
        if (!t)
            return no_object(w, i, l, h, surface);
        put(d, R, 0, l, wg_texture_query(t, d->query, word(R, d->level, l)));
    }
    return i + 1;
}
