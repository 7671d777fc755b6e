/* emit_bulk.c - decoding of bulk copies, tensor copies, their reductions, and asynchronous stores. */
#include "exec/bulk.h"
#include "exec/emit.h"
#include <string.h>

static uint32_t vec(struct wg_emit *e, const struct wg_operand *o, enum wg_type t)
{
    return wg_emit_vec(e, wg_emit_natural(e, wg_emit_get(e, o, t), t)).off;
}
/* Is word one of the dotted words of the modifiers that no table knows? */
static bool has(const struct wg_instr *in, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = in->extra; p && *p;) {
        size_t len = strcspn(p, ".");
        if (len == n && !memcmp(p, word, n))
            return true;
        p += len + (p[len] == '.');
    }
    return false;
}
/* Are all of them among these, separated by spaces? */
static bool only(const struct wg_instr *in, const char *words)
{
    for (const char *p = in->extra; p && *p;) {
        size_t len = strcspn(p, ".");
        const char *q = words;
        while (*q && !(strcspn(q, " ") == len && !memcmp(p, q, len)))
            q += strcspn(q, " "), q += *q == ' ';
        if (!*q)
            return false;
        p += len + (p[len] == '.');
    }
    return true;
}
static struct wg_bulk_desc *begin(struct wg_emit *e)
{
    struct wg_bulk_desc *d = wg_arena_alloc(e->dec->a, sizeof *d);
    if (!d) {
        e->failed = true;
        return NULL;
    }
    d->counted = e->dec->o->counters;
    return d;
}
static void finish(struct wg_emit *e, struct wg_bulk_desc *d, enum wg_handler_id h)
{
    struct wg_inst *i = wg_emit_guarded(e, h);
    if (i)
        i->p = d;
}
/* The operations that reductions have, on types that atomics of the engine know. */
static bool reduction_ok(unsigned op, unsigned t)
{
    bool f = wg_type_infos[t].kind == 'F';
    if (wg_type_bytes((enum wg_type)t) < 2 || wg_type_bytes((enum wg_type)t) > 8)
        return false;
    switch (op) {
    case WG_ATOM_ADD:
    case WG_ATOM_MIN:
    case WG_ATOM_MAX:
        return true;
    case WG_ATOM_INC:
    case WG_ATOM_DEC:
        return t == WG_T_U32;
    case WG_ATOM_AND:
    case WG_ATOM_OR:
    case WG_ATOM_XOR:
        return !f;
    default:
        return false;
    }
}
static uint32_t operands(const struct wg_instr *in)
{
    return in->nops - (strstr(in->mnemonic, "L2::cache_hint") != NULL);
}

/* cp.async.bulk and cp.reduce.async.bulk */
static void copy(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    struct wg_bulk_desc *d = begin(e);
    uint32_t n = operands(in);
    if (!d)
        return;
    bool group = has(in, "bulk_group"), cast = has(in, "multicast::cluster"), reduce = in->op == WG_OP_CP_REDUCE_BULK;
    unsigned from = has(in, "global") ? WG_SPACE_GLOBAL : WG_SPACE_SHARED;
    d->has_bar = has(in, "mbarrier::complete_tx::bytes");
    d->to_shared = in->space != WG_SPACE_GLOBAL;
    d->from_shared = from == WG_SPACE_SHARED;
    if (!only(in, "global shared::cta bulk_group multicast::cluster mbarrier::complete_tx::bytes") ||
        group == d->has_bar || group == d->to_shared || (group && !d->from_shared) ||
        (cast && (d->from_shared || reduce)) || n != (group ? 3u : 4u) + cast || (reduce && !d->from_shared)) {
        wg_emit_refuse(e, "this form of bulk copy");
        return;
    }
    if (reduce) {
        d->atom = in->atom;
        d->type = in->ntypes ? in->type[0] : WG_T_NONE;
        if (!reduction_ok(d->atom, d->type)) {
            wg_emit_refuse(e, "this bulk reduction");
            return;
        }
    }
    if (!wg_emit_address(e, &in->ops[0], in->space, &d->to) || !wg_emit_address(e, &in->ops[1], from, &d->from) ||
        (d->has_bar && !wg_emit_address(e, &in->ops[3], in->space, &d->bar)))
        return;
    d->size = vec(e, &in->ops[2], WG_T_U32);
    if (cast)
        d->mask = vec(e, &in->ops[4], WG_T_U32);
    finish(e, d, WG_H_CP_BULK);
}

/* cp.async.bulk.tensor and cp.reduce.async.bulk.tensor */
static void tensor(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    struct wg_bulk_desc *d = begin(e);
    uint32_t n = operands(in);
    if (!d)
        return;
    bool store = in->space == WG_SPACE_GLOBAL, cast = has(in, "multicast::cluster"),
         reduce = in->op == WG_OP_CP_REDUCE_TENSOR;
    for (const char *p = "1d2d3d4d5d"; *p; p += 2) {
        char word[3] = {p[0], p[1], 0};
        if (has(in, word))
            d->rank = (uint8_t)(*p - '0');
    }
    if (!only(in,
              "1d 2d 3d 4d 5d tile global shared::cta bulk_group multicast::cluster mbarrier::complete_tx::bytes") ||
        !d->rank || n != (store ? 2u : 3u) + cast || (store && !has(in, "bulk_group")) || (reduce && !store)) {
        wg_emit_refuse(e, in->extra && strstr(in->extra, "im2col") ? "tensor copies in im2col mode"
                                                                   : "this form of tensor copy");
        return;
    }
    const struct wg_operand *map = &in->ops[!store], *shared = &in->ops[store];
    const struct wg_operand *c = map->nelems == 2 ? &map->elems[1] : NULL;
    if (!c || c->kind != WG_OPERAND_VEC || c->nelems != d->rank) {
        wg_emit_refuse(e, "these coordinates of a tensor copy");
        return;
    }
    d->to_shared = !store;
    d->from_shared = store;
    d->has_bar = !store;
    if (reduce) {
        d->atom = in->atom;
        if (!reduction_ok(d->atom, WG_T_U32)) {
            wg_emit_refuse(e, "this tensor reduction");
            return;
        }
    }
    if (!wg_emit_address(e, map, WG_SPACE_GLOBAL, store ? &d->to : &d->from) ||
        !wg_emit_address(e, shared, store ? WG_SPACE_SHARED : in->space, store ? &d->from : &d->to) ||
        (d->has_bar && !wg_emit_address(e, &in->ops[2], in->space, &d->bar)))
        return;
    for (unsigned k = 0; k < d->rank; k++)
        d->coord[k] = vec(e, &c->elems[k], WG_T_S32);
    if (cast)
        d->mask = vec(e, &in->ops[3], WG_T_U32);
    finish(e, d, WG_H_CP_TENSOR);
}

/* st.async and red.async */
static void store_async(struct wg_emit *e)
{
    const struct wg_instr *in = e->in;
    struct wg_bulk_desc *d = begin(e);
    const struct wg_operand *v = &in->ops[1];
    enum wg_type t = in->ntypes ? (enum wg_type)in->type[0] : WG_T_NONE;
    if (!d)
        return;
    unsigned n = v->kind == WG_OPERAND_VEC ? v->nelems : 1;
    bool red = in->op == WG_OP_RED_ASYNC;
    if (!only(in, "mbarrier::complete_tx::bytes") || !in->extra || n > 4 || n * wg_type_bytes(t) > 16 ||
        wg_type_bytes(t) < 4 || in->space != WG_SPACE_SHARED_CLUSTER ||
        (red && (n > 1 || !reduction_ok(in->atom, t)))) {
        wg_emit_refuse(e, "this form of asynchronous store");
        return;
    }
    if (!wg_emit_address(e, &in->ops[0], in->space, &d->to) || !wg_emit_address(e, &in->ops[2], in->space, &d->bar))
        return;
    d->has_bar = d->to_shared = true;
    d->atom = red ? in->atom : 0;
    d->type = (uint8_t)t;
    d->nvalues = (uint8_t)n;
    d->value_bytes = (uint8_t)wg_type_bytes(t);
    for (unsigned k = 0; k < n; k++)
        d->value[k] = vec(e, v->kind == WG_OPERAND_VEC ? &v->elems[k] : v, t);
    finish(e, d, WG_H_ST_ASYNC);
}

void wg_emit_bulk(struct wg_emit *e)
{
    switch (e->in->op) {
    case WG_OP_CP_BULK:
    case WG_OP_CP_REDUCE_BULK:
        copy(e);
        return;
    case WG_OP_CP_BULK_TENSOR:
    case WG_OP_CP_REDUCE_TENSOR:
        tensor(e);
        return;
    case WG_OP_ST_ASYNC:
    case WG_OP_RED_ASYNC:
        store_async(e);
        return;
    default:
        return; /* commit, wait and prefetch: such copies are done at once */
    }
}
