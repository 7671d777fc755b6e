/* tma.c - cp.async.bulk.tensor and cp.reduce.async.bulk.tensor: boxes of tiled tensors between global and shared
 * memory.
 *
 * In shared memory a box lies dense, dimension 0 innermost; with a swizzle its rows are as wide as that, and in the
 * address of each 16 bytes the bits from 4 up are xored with those from 7 up: one bit of a 32-byte swizzle, two of 64,
 * three of 128 (CUDA C++ Programming Guide, "Tensor Memory Access", swizzle modes). What lies outside the tensor reads as
 * zero and is not written; the mbarrier is told of the whole box. */
#include "exec/bulk.h"
#include "exec/engine.h"
#include "exec/mbarrier.h"
#include <warpgrind/tensormap.h>

enum { CHUNK = 16, ALIGN = 128 };

struct box {
    struct wg_tensormap_tiled t;
    unsigned bytes;                /* of an element */
    uint32_t n[WG_TENSORMAP_DIMS]; /* elements taken */
    uint32_t row;                  /* bytes of a row of elements */
    uint64_t rows;
    int64_t at[WG_TENSORMAP_DIMS]; /* first coordinate */
};

static uint64_t swizzled(const struct box *b, uint64_t a)
{
    uint64_t bits = (1u << b->t.swizzle) - 1; /* 0, 1, 3, 7 */
    return a ^ ((a >> 7 & bits) << 4);
}

static void measure(struct box *b)
{
    b->bytes = wg_tensormap_type_bytes(b->t.type);
    b->rows = 1;
    for (unsigned k = 0; k < b->t.rank; k++) {
        unsigned step = k ? b->t.step[k] : 1; /* that of the innermost is ignored without interleaving */
        b->n[k] = (b->t.box[k] + step - 1) / step;
        b->rows *= k ? b->n[k] : 1;
    }
    b->row = b->n[0] * b->bytes;
}

/* Global address of the start of a row; false: its outer coordinates lie outside. */
static bool row_at(const struct box *b, uint64_t row, int64_t *at)
{
    *at = (int64_t)b->t.address + b->at[0] * (int64_t)b->bytes;
    for (unsigned k = 1; k < b->t.rank; k++) {
        int64_t c = b->at[k] + (int64_t)(row % b->n[k]) * b->t.step[k];
        row /= b->n[k];
        if (c < 0 || c >= (int64_t)b->t.dim[k])
            return false;
        *at += c * (int64_t)b->t.stride[k - 1];
    }
    return true;
}
/* Elements [*lo, *hi) of a row that lie inside. */
static void inside(const struct box *b, int64_t *lo, int64_t *hi)
{
    *lo = b->at[0] < 0 ? -b->at[0] : 0;
    *hi = (int64_t)b->t.dim[0] - b->at[0];
    *hi = *hi > b->n[0] ? b->n[0] : *hi;
    if (*lo >= *hi)
        *lo = *hi = 0;
}

/* Flushes or checks what a load of some types changes; false: not known how hardware rounds it. */
static bool convert(unsigned type, char *p, uint32_t n)
{
    if (type != WG_TENSORMAP_F32_FTZ && type != WG_TENSORMAP_TF32 && type != WG_TENSORMAP_TF32_FTZ)
        return true;
    for (uint32_t k = 0; k < n; k += 4) {
        uint32_t v;
        memcpy(&v, p + k, 4);
        if (type != WG_TENSORMAP_F32_FTZ && v & 0x1fff)
            return false;
        if (type != WG_TENSORMAP_TF32 && !(v & 0x7f800000u))
            v &= 0x80000000u;
        memcpy(p + k, &v, 4);
    }
    return true;
}

static void count(struct wg_warp *w, const struct wg_inst *i, const struct box *b)
{
    struct wg_site_count *c = &w->site[i->site];
    int64_t lo, hi, at;
    c->access++;
    inside(b, &lo, &hi);
    for (uint64_t r = 0; lo < hi && r < b->rows; r++) {
        if (!row_at(b, r, &at))
            continue;
        uint64_t first = (uint64_t)(at + lo * b->bytes), last = (uint64_t)(at + hi * b->bytes) - 1,
                 n = last - first + 1;
        c->tags += (last >> 7) - (first >> 7) + 1;
        c->sectors += (last >> 5) - (first >> 5) + 1;
        c->sectors_ideal += (n + 31) / 32;
        c->bytes += n;
    }
}

/* Checks and announces the global side of a box. False after a fault; *may: the observer lets it happen. */
static bool check(struct wg_warp *w, const struct wg_inst *i, const struct box *b, unsigned lane, bool store, bool *may)
{
    struct wg_seen s = {.kind = store ? WG_ACCESS_STORE : WG_ACCESS_LOAD, .space = WG_SITE_GLOBAL, .n = 1};
    uint64_t addr[WG_LANES] = {0};
    int64_t lo, hi, at;
    s.elem = (uint8_t)b->bytes;
    *may = true;
    inside(b, &lo, &hi);
    for (uint64_t r = 0; lo < hi && r < b->rows; r++) {
        if (!row_at(b, r, &at))
            continue;
        uint64_t first = (uint64_t)(at + lo * b->bytes), n = (uint64_t)(hi - lo) * b->bytes;
        if (wg_outside(first, n, w->wk->lo, w->wk->hi)) {
            wg_async_bad(w, i, lane, first, "global", store ? "tensor write" : "tensor read", n, true);
            return false;
        }
        for (uint64_t k = 0; wg_is_observed(w) && *may && k < n; k += b->bytes) {
            addr[lane] = first + k;
            *may = wg_observe_lanes(w, i, &s, addr, 1u << lane, NULL);
        }
    }
    return true;
}

/* Brings a box to `shared`, where it starts at offset `to`. */
static bool bring(const struct box *b, char *shared, uint64_t to)
{
    int64_t lo, hi, at;
    inside(b, &lo, &hi);
    for (uint64_t r = 0; r < b->rows; r++) {
        bool in = row_at(b, r, &at);
        for (uint32_t k = 0; k < b->row; k += CHUNK) {
            char *p = shared + swizzled(b, to + r * b->row + k);
            int64_t first = k / b->bytes, last = (k + CHUNK) / b->bytes;
            if (in && first >= lo && last <= hi) {
                memcpy(p, (const char *)(at + k), CHUNK);
            } else {
                memset(p, 0, CHUNK);
                for (int64_t e = first; in && e < last; e++)
                    if (e >= lo && e < hi)
                        memcpy(p + (e - first) * b->bytes, (const char *)(at + e * b->bytes), b->bytes);
            }
            if (!convert(b->t.type, p, CHUNK))
                return false;
        }
    }
    return true;
}
/* The other way; op: a reduction of the type. */
static void take(const struct box *b, const char *shared, uint64_t from, unsigned op, unsigned type, bool others)
{
    int64_t lo, hi, at;
    inside(b, &lo, &hi);
    for (uint64_t r = 0; r < b->rows; r++) {
        if (!row_at(b, r, &at))
            continue;
        for (int64_t e = lo; e < hi;) {
            int64_t end = (e * b->bytes / CHUNK + 1) * CHUNK / b->bytes;
            end = end < hi ? end : hi;
            const char *p = shared + swizzled(b, from + r * b->row + (uint64_t)e * b->bytes);
            uint32_t n = (uint32_t)(end - e) * b->bytes;
            if (op)
                wg_bulk_reduce((char *)(at + e * b->bytes), p, n, op, type, true, others);
            else
                memcpy((char *)(at + e * b->bytes), p, n);
            e = end;
        }
    }
}

static unsigned reduce_type(unsigned type)
{
    static const uint8_t types[] = {
        [WG_TENSORMAP_U32] = WG_T_U32, [WG_TENSORMAP_S32] = WG_T_S32,   [WG_TENSORMAP_U64] = WG_T_U64,
        [WG_TENSORMAP_S64] = WG_T_S64, [WG_TENSORMAP_F16] = WG_T_F16,   [WG_TENSORMAP_F32] = WG_T_F32,
        [WG_TENSORMAP_F64] = WG_T_F64, [WG_TENSORMAP_BF16] = WG_T_BF16, [WG_TENSORMAP_F32_FTZ] = WG_T_F32};
    return type < sizeof types ? types[type] : 0;
}

static bool load(struct wg_warp *w, const struct wg_inst *i, const struct box *b, const char *R, unsigned l,
                 uint64_t at, struct wg_block *of, uint64_t bar, struct wg_block *bar_of)
{
    const struct wg_bulk_desc *d = i->p;
    uint64_t span = b->rows * b->row, size = b->rows * b->row;
    uint32_t mask = d->mask ? ((const uint32_t *)(R + d->mask))[l] & 0xffff : 1;
    for (; mask; mask &= mask - 1) {
        uint32_t r = (uint32_t)__builtin_ctz(mask), n = w->blk->cluster ? w->blk->cluster->n : 1;
        struct wg_block *t = of, *tb = bar_of;
        if (d->mask)
            t = tb = r >= n ? NULL : w->blk->cluster ? w->blk->cluster->block[r] : w->blk;
        if (!t || t->gone)
            return wg_cluster_fault(w, i, l, wg_cluster_offset(w->blk, at, r)) != NULL;
        if (wg_outside(at, span, 0, t->shared_bytes) || at & (ALIGN - 1))
            return wg_async_bad(w, i, l, at, "shared", "tensor write", span,
                                wg_outside(at, span, 0, t->shared_bytes)) != NULL;
        if (!bring(b, t->shared, at))
            return wg_fault(w, i, WG_UNSUPPORTED, "unsupported", (int)l, 0,
                            "not supported: a tensor map of TFLOAT32 over values that are none (how they are rounded "
                            "is not known)") != NULL;
        if (wg_is_observed(w)) {
            if (t != w->blk)
                wg_observe_remote(w, t, l, at, (uint32_t)span);
            else if (tb == w->blk && !wg_outside(bar, 8, 0, tb->shared_bytes))
                wg_observe_bulk(w, i, l, at, (uint32_t)span, bar);
            else
                wg_observe_write(w, l, WG_SITE_SHARED, at, (uint32_t)span);
        }
        if (!wg_mbarrier_complete(w, i, l, tb, bar, (uint32_t)size))
            return false;
    }
    return true;
}

/* Lane l's copy; false after a fault. */
static bool one(struct wg_warp *w, const struct wg_inst *i, const char *R, unsigned l, uint64_t map, uint64_t shared,
                uint64_t bar)
{
    const struct wg_bulk_desc *d = i->p;
    struct box b;
    bool may;
    if (wg_outside(map, WG_TENSORMAP_BYTES, w->wk->lo, w->wk->hi) || map & 63)
        return wg_async_bad(w, i, l, map, "global", "read of a tensor map", WG_TENSORMAP_BYTES,
                            wg_outside(map, WG_TENSORMAP_BYTES, w->wk->lo, w->wk->hi)) != NULL;
    if (!wg_tensormap_decode((const void *)map, &b.t) || b.t.rank != d->rank)
        return wg_fault(w, i, WG_KERNEL_FAULT, "invalid-tensormap", (int)l, map,
                        "0x%llx holds no tensor map of %u dimensions", (unsigned long long)map, d->rank) != NULL;
    measure(&b);
    if (b.t.swizzle && b.row != 16u << b.t.swizzle)
        return wg_fault(w, i, WG_UNSUPPORTED, "unsupported", (int)l, map,
                        "not supported: a tensor map whose rows of %u bytes are narrower than its swizzle (where they lie "
                        "then is not known)",
                        b.row) != NULL;
    for (unsigned k = 0; k < b.t.rank; k++)
        b.at[k] = ((const int32_t *)(R + d->coord[k]))[l];
    const struct wg_lane_addr *a = d->to_shared ? &d->to : &d->from;
    struct wg_block *of = w->blk, *bar_of = w->blk;
    uint64_t at = wg_shared_at(a, shared), object = d->has_bar ? wg_shared_at(&d->bar, bar) : 0;
    if ((a->cluster && at != UINT64_MAX && !(of = wg_cluster_block(w->blk, &at))) ||
        (d->has_bar && d->bar.cluster && object != UINT64_MAX && !(bar_of = wg_cluster_block(w->blk, &object))))
        return wg_cluster_fault(w, i, l, of ? bar : shared) != NULL;
    if (!check(w, i, &b, l, !d->to_shared, &may))
        return false;
    if (!may)
        return true;
    if (d->counted)
        count(w, i, &b);
    w->wk->changes++;
    if (d->to_shared)
        return load(w, i, &b, R, l, at, of, object, bar_of);
    uint64_t span = b.rows * b.row;
    if (wg_outside(at, span, 0, w->blk->shared_bytes) || at & (ALIGN - 1))
        return wg_async_bad(w, i, l, shared, "shared", "tensor read", span,
                            wg_outside(at, span, 0, w->blk->shared_bytes)) != NULL;
    unsigned type = d->atom ? reduce_type(b.t.type) : 0;
    if (d->atom && !type)
        return wg_fault(w, i, WG_UNSUPPORTED, "unsupported", (int)l, 0,
                        "not supported: a tensor reduction of elements of this type") != NULL;
    take(&b, w->blk->shared, at, d->atom, type, w->wk->run->nworkers > 1);
    return true;
}

H(cp_tensor)
{
    const struct wg_bulk_desc *d = i->p;
    uint64_t to[WG_LANES], from[WG_LANES], bar[WG_LANES] = {0};
    uint32_t on = WG_ON;
    if (!on)
        return i + 1;
    wg_lane_addresses(&d->to, R, to);
    wg_lane_addresses(&d->from, R, from);
    if (d->has_bar)
        wg_lane_addresses(&d->bar, R, bar);
    for (uint32_t m = on; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        if (!one(w, i, R, l, d->to_shared ? from[l] : to[l], d->to_shared ? to[l] : from[l], bar[l]))
            return NULL;
    }
    return i + 1;
}
