/* emit_texture.c - decoding of texture and surface instructions: geometry, coordinates, modes. */
#include "exec/async.h"
#include "exec/emit.h"
#include "exec/texture.h"
#include <string.h>

static uint32_t vec(struct wg_emit *e, const struct wg_operand *o, enum wg_type t)
{
    return wg_emit_vec(e, wg_emit_natural(e, wg_emit_get(e, o, t), t)).off;
}

static unsigned find(const char *const *list, unsigned n, const char *p, size_t len)
{
    for (unsigned k = 0; k < n; k++)
        if (list[k] && strlen(list[k]) == len && !memcmp(list[k], p, len))
            return k;
    return n;
}
static const char *const geometries[] = {NULL, "1d", "2d", "3d", "cube", "a1d", "a2d", "acube"};
static const char *const clamps[] = {"trap", "clamp", "zero"};
static const char *const queries[WG_QUERY_COUNT] = {"width",         "height",
                                                    "depth",         "channel_data_type",
                                                    "channel_order", "normalized_coords",
                                                    "array_size",    "num_mipmap_levels",
                                                    "num_samples",   "filter_mode",
                                                    "addr_mode_0",   "addr_mode_1",
                                                    "addr_mode_2",   "force_unnormalized_coords",
                                                    "memory_layout"};
enum { N_GEOMETRIES = sizeof geometries / sizeof *geometries };

/* Reads the modifiers; false: one of them is not known. */
static bool read_words(const struct wg_instr *in, struct wg_texture_desc *d, unsigned *width)
{
    static const char *const atoms[] = {[WG_ATOM_ADD] = "add",
                                        [WG_ATOM_MIN] = "min",
                                        [WG_ATOM_MAX] = "max",
                                        [WG_ATOM_AND] = "and",
                                        [WG_ATOM_OR] = "or"};
    static const char *const comps[] = {"r", "g", "b", "a"};
    static const char *const widths[] = {NULL, NULL, "v2", NULL, "v4"};
    enum { N_ATOMS = sizeof atoms / sizeof *atoms };
    bool surface = in->op == WG_OP_SULD || in->op == WG_OP_SUST || in->op == WG_OP_SURED, has_kind = false;
    *width = 1;
    d->query = WG_QUERY_COUNT;
    for (const char *p = in->extra; p && *p;) {
        size_t len = strcspn(p, ".");
        unsigned k;
        if (surface && len == 1 && (*p == 'b' || *p == 'p') && !has_kind)
            d->raw = *p == 'b', has_kind = true;
        else if ((k = find(geometries, N_GEOMETRIES, p, len)) < N_GEOMETRIES)
            d->geometry = (uint8_t)k;
        else if (in->op == WG_OP_TLD4 && (k = find(comps, 4, p, len)) < 4)
            d->component = (uint8_t)k;
        else if ((k = find(widths, 5, p, len)) < 5)
            *width = k;
        else if (surface && (k = find(clamps, 3, p, len)) < 3)
            d->clamp = (uint8_t)k;
        else if (in->op == WG_OP_SURED && (k = find(atoms, N_ATOMS, p, len)) < N_ATOMS)
            d->atom = (uint8_t)k;
        else if ((in->op == WG_OP_TXQ || in->op == WG_OP_SUQ) &&
                 (k = find(queries, WG_QUERY_COUNT, p, len)) < WG_QUERY_COUNT)
            d->query = (uint8_t)k;
        else if (len == 5 && !memcmp(p, "level", 5))
            d->has_level = true;
        else if (len == 4 && !memcmp(p, "grad", 4))
            d->has_gradient = true;
        else if (len == 4 && !memcmp(p, "base", 4))
            ; /* level 0 */
        else
            return false;
        p += len + (p[len] == '.');
    }
    return !surface || has_kind;
}

/* The parts of [object, sampler, {coordinates}]: sets the handle; false after a refusal. */
static bool object(struct wg_emit *e, const struct wg_operand *m, struct wg_texture_desc *d,
                   const struct wg_operand **coords)
{
    struct wg_operand o = {
        .kind = m->sym ? WG_OPERAND_SYMBOL : WG_OPERAND_REG, .reg = m->reg, .sym = m->sym, .pair = -1, .sreg = -1};
    const struct wg_operand *last = m->nelems ? &m->elems[m->nelems - 1] : NULL;
    bool sampler = m->nelems == 3 || (m->nelems == 2 && !coords);
    if (m->kind != WG_OPERAND_MEM || m->imm || (m->reg < 0 && !m->sym) || sampler || (coords && m->nelems != 2)) {
        wg_emit_refuse(e, sampler ? "a texture with a sampler of its own" : "this texture operand");
        return false;
    }
    d->handle = vec(e, &o, WG_T_U64);
    if (coords)
        *coords = last;
    return true;
}

static uint32_t elements(const struct wg_operand *o)
{
    return o->kind == WG_OPERAND_VEC ? o->nelems : 1;
}
static const struct wg_operand *element(const struct wg_operand *o, uint32_t k)
{
    return o->kind == WG_OPERAND_VEC ? &o->elems[k] : o;
}
static unsigned dims(unsigned geometry)
{
    static const uint8_t n[] = {0, 1, 2, 3, 3, 1, 2, 3};
    return n[geometry];
}

/* Layer, then coordinates of type t. */
static bool coordinates(struct wg_emit *e, const struct wg_operand *c, struct wg_texture_desc *d, enum wg_type t)
{
    bool layered = d->geometry >= WG_GEOMETRY_A1D;
    uint32_t want = dims(d->geometry) + layered;
    if (!d->geometry || elements(c) < want) {
        wg_emit_refuse(e, "these texture coordinates");
        return false;
    }
    if (layered)
        d->layer = vec(e, element(c, 0), WG_T_U32);
    for (unsigned k = 0; k < dims(d->geometry); k++)
        d->coord[k] = vec(e, element(c, k + layered), t);
    return true;
}
static void components(struct wg_emit *e, const struct wg_operand *o, uint32_t *slot)
{
    for (uint32_t k = 0; k < elements(o) && k < 3; k++)
        slot[k] = vec(e, element(o, k), WG_T_F32);
}

/* Registers of the data; false after a refusal. */
static bool data(struct wg_emit *e, const struct wg_operand *o, struct wg_texture_desc *d, enum wg_type t, unsigned n,
                 bool load)
{
    d->n = (uint8_t)n;
    d->elem = (uint8_t)wg_type_bytes(t);
    if (elements(o) != n || n > 4) {
        wg_emit_refuse(e, "this number of registers for a texel");
        return false;
    }
    for (unsigned k = 0; k < n; k++) {
        const struct wg_operand *x = element(o, k);
        if (load && x->kind == WG_OPERAND_SINK)
            continue;
        struct wg_val v = load ? wg_emit_dest(e, x, t) : wg_emit_vec(e, wg_emit_get(e, x, t));
        if (v.cls != WG_CLASS_V || v.bytes < d->elem) {
            wg_emit_refuse(e, "this register for a texel");
            return false;
        }
        d->data[k] = v.off;
        d->data_bytes[k] = v.bytes;
    }
    return true;
}

static void texture(struct wg_emit *e, struct wg_texture_desc *d, unsigned width)
{
    const struct wg_instr *in = e->in;
    const struct wg_operand *c;
    enum wg_type ct = in->ntypes > 1 ? (enum wg_type)in->type[1] : WG_T_F32,
                 t = in->ntypes ? (enum wg_type)in->type[0] : WG_T_NONE;
    uint32_t at = 2, want = 2 + d->has_level + 2 * d->has_gradient;
    d->integer = ct == WG_T_S32;
    d->packed = t == WG_T_F16X2;
    if (in->nops < want || in->nops > want + 1 || in->ntypes != 2 || wg_type_bytes(t) != 4 || wg_type_bytes(ct) != 4 ||
        (d->op == WG_OP_TLD4 && d->geometry != WG_GEOMETRY_2D && d->geometry != WG_GEOMETRY_A2D)) {
        wg_emit_refuse(e, "this form of texture fetch");
        return;
    }
    if (!object(e, &in->ops[1], d, &c) || !coordinates(e, c, d, ct) || !data(e, &in->ops[0], d, t, width, true))
        return;
    if (d->has_level)
        d->level = vec(e, &in->ops[at++], WG_T_F32);
    if (d->has_gradient) {
        components(e, &in->ops[at++], d->dx);
        components(e, &in->ops[at++], d->dy);
    }
    if (at < in->nops) {
        const struct wg_operand *o = &in->ops[at];
        if (o->kind != WG_OPERAND_VEC) {
            wg_emit_refuse(e, "a texture fetch that compares depths");
            return;
        }
        for (uint32_t k = 0; k < o->nelems && k < 3; k++)
            d->offset[k] = vec(e, &o->elems[k], WG_T_S32);
    }
    if (in->ops[0].pair >= 0)
        d->there = e->code->slots[in->ops[0].pair].fast;
    struct wg_inst *i = wg_emit_guarded(e, WG_H_TEXTURE);
    if (i)
        i->p = d;
}

static void surface(struct wg_emit *e, struct wg_texture_desc *d, unsigned width)
{
    const struct wg_instr *in = e->in;
    bool load = in->op == WG_OP_SULD;
    const struct wg_operand *m = &in->ops[load], *v = &in->ops[!load], *c;
    enum wg_type t = in->ntypes ? (enum wg_type)in->type[0] : WG_T_NONE;
    d->type = (uint8_t)t;
    if (in->nops != 2 || in->ntypes != 1 || d->geometry == WG_GEOMETRY_CUBE || d->geometry == WG_GEOMETRY_ACUBE ||
        (load && !d->raw) || (in->op == WG_OP_SURED && (!d->atom || width != 1 || wg_type_bytes(t) < 4)) ||
        (!d->raw && wg_type_bytes(t) != 4)) {
        wg_emit_refuse(e, "this form of surface access");
        return;
    }
    if (!object(e, m, d, &c) || !coordinates(e, c, d, WG_T_S32) || !data(e, v, d, t, width, load))
        return;
    struct wg_inst *i = wg_emit_guarded(e, WG_H_SURFACE);
    if (i)
        i->p = d;
}

static void query(struct wg_emit *e, struct wg_texture_desc *d)
{
    const struct wg_instr *in = e->in;
    if (d->query == WG_QUERY_COUNT || d->query == WG_QUERY_LAYOUT || in->nops != 2u + d->has_level) {
        wg_emit_refuse(e, "this texture query");
        return;
    }
    if (!object(e, &in->ops[1], d, NULL) || !data(e, &in->ops[0], d, WG_T_B32, 1, true))
        return;
    if (d->has_level)
        d->level = vec(e, &in->ops[2], WG_T_U32);
    struct wg_inst *i = wg_emit_guarded(e, WG_H_TEXTURE_QUERY);
    if (i)
        i->p = d;
}

void wg_emit_texture(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    unsigned width;
    struct wg_texture_desc *d = wg_arena_alloc(e->dec->a, sizeof *d);
    if (!d) {
        e->failed = true;
        return;
    }
    d->op = in->op;
    d->counted = e->dec->o->counters;
    if (in->nops < 2 || !read_words(in, d, &width)) {
        wg_emit_refuse(e, in->extra ? in->extra : "this texture operation");
        return;
    }
    switch (in->op) {
    case WG_OP_TEX:
    case WG_OP_TLD4:
        texture(e, d, width);
        return;
    case WG_OP_TXQ:
    case WG_OP_SUQ:
        query(e, d);
        return;
    default:
        surface(e, d, width);
        return;
    }
}
