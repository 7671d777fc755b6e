/* tensor.c - matrix instructions of a warp: ldmatrix, stmatrix, movmatrix, mma, mma.sp, wmma.
 *
 * Fragment layouts are those of the PTX ISA for mma. wmma's are open there; ours are those an H200 uses, so that programs
 * which know them find what they expect. One rule gives them all: a 16-row operand keeps, in register r of a tile, row
 * lane/4 + 8 (r & 1) and k from (r >> 1) 4e + (lane % 4) e, where e elements share a register; an 8-column one column
 * lane/4 and k from r 4e + (lane % 4) e; an accumulator rows lane/4 and lane/4 + 8, columns 2 (lane % 4) and the next. */
#include "exec/async.h"
#include "exec/lanes.h"
#include "exec/matrix.h"
#include "exec/half.h"
#include "model/banks.h"
#include "model/coalesce.h"
#include "exec/engine.h"

/* Stores a part of a matrix, and tells the observer, who is not told of whole matrices. */
static void matrix_store(const struct wg_warp *w, unsigned lane, char *p, const void *v, unsigned bytes, bool shared)
{
    const struct wg_observer *o = &w->wk->run->g->observer;
    if (w->wk->run->kc->observed)
        o->native_write(o->ctx, w->blk->observed, w->index, lane, shared ? WG_SITE_SHARED : WG_SITE_GLOBAL,
                        shared ? (uint64_t)(p - w->blk->shared) : (uint64_t)p, bytes);
    memcpy(p, v, bytes);
}

/* ---- addresses ---- */
/* Offsets in shared memory for the lanes of *need, less those that an observer forbids; false after a fault. rows: what
 * is stored there, or NULL. */
static bool shared_rows(struct wg_warp *w, const struct wg_inst *i, const struct wg_tensor_desc *t, const char *R,
                        uint32_t *may, uint32_t *off, const char *const *rows)
{
    uint64_t addr[WG_LANES];
    wg_lane_addresses(&t->at, R, addr);
    if (wg_is_observed(w)) {
        const struct wg_seen s = {.kind = rows ? WG_ACCESS_STORE : WG_ACCESS_LOAD, .space = WG_SITE_SHARED, .elem = 2, .n = 8};
        uint64_t at[WG_LANES];
        for (uint32_t l = 0; l < 32; l++)
            at[l] = t->at.space == WG_SITE_SHARED ? (uint32_t)addr[l] : addr[l] - WG_SHARED_WINDOW;
        *may = wg_observe_lanes(w, i, &s, at, *may, rows);
    }
    uint32_t need = *may;
    for (uint32_t l = 0; l < 32; l++) {
        uint64_t a = addr[l];
        off[l] = (uint32_t)a;
        if (!(need >> l & 1))
            continue;
        if (t->at.space != WG_SITE_SHARED)
            a -= WG_SHARED_WINDOW;
        else
            a = (uint32_t)a;
        off[l] = (uint32_t)a;
        bool out = a > w->blk->shared_bytes || a + 16 > w->blk->shared_bytes;
        if (out || (a & 15)) {
            wg_fault(w, i, WG_KERNEL_FAULT, out ? "out-of-bounds" : "misaligned", (int)l, addr[l],
                     "Invalid __shared__ %s of a matrix row of 16 bytes: address 0x%llx is %s",
                     t->op == WG_OP_STMATRIX ? "write" : "read", (unsigned long long)addr[l],
                     out ? "out of bounds" : "misaligned");
            return false;
        }
    }
    return true;
}
static void count_rows(struct wg_warp *w, const struct wg_inst *i, const uint32_t *off, unsigned n)
{
    struct wg_site_count *c = &w->site[i->site];
    struct wg_banks x;
    wg_banks_matrix(off, n, &x);
    c->access++;
    c->bytes += n * 128u;
    c->wavefronts += x.wavefronts;
    c->wavefronts_ideal += x.ideal;
}
/* Lane l's word of an 8x8 matrix of 16-bit elements whose rows are given. */
static uint32_t row_word(const char *const *row, unsigned l, bool trans)
{
    uint32_t v;
    if (!trans) {
        memcpy(&v, row[l / 4] + 4 * (l % 4), 4);
        return v;
    }
    uint16_t lo, hi;
    memcpy(&lo, row[2 * (l % 4)] + 2 * (l / 4), 2);
    memcpy(&hi, row[2 * (l % 4) + 1] + 2 * (l / 4), 2);
    return lo | (uint32_t)hi << 16;
}

H(ldmatrix)
{
    const struct wg_tensor_desc *t = i->p;
    static const char none[16];
    uint32_t on = WG_ON, off[WG_LANES];
    if (!on)
        return i + 1;
    WG_TOGETHER(~0u);
    uint32_t need = on & (t->nd == 4 ? ~0u : (1u << 8 * t->nd) - 1);
    if (!shared_rows(w, i, t, R, &need, off, NULL))
        return NULL;
    if (t->counted)
        count_rows(w, i, off, t->nd);
    for (unsigned m = 0; m < t->nd; m++) {
        const char *row[8];
        for (unsigned r = 0; r < 8; r++)
            row[r] = need >> (8 * m + r) & 1 ? w->blk->shared + off[8 * m + r] : none;
        if (!t->d[m])
            continue;
        uint32_t *d = WG_VEC(uint32_t, t->d[m]), v[WG_LANES];
        for (unsigned l = 0; l < 32; l++)
            v[l] = row_word(row, l, t->trans);
        for (unsigned l = 0; l < 32; l++)
            d[l] = on >> l & 1 ? v[l] : d[l];
    }
    return i + 1;
}
H(stmatrix)
{
    const struct wg_tensor_desc *t = i->p;
    uint32_t on = WG_ON, off[WG_LANES];
    if (!on)
        return i + 1;
    WG_TOGETHER(~0u);
    uint32_t need = on & (t->na == 4 ? ~0u : (1u << 8 * t->na) - 1);
    char image[WG_LANES][16] = {{0}};
    const char *rows[WG_LANES];
    for (unsigned m = 0; m < t->na; m++) {
        const uint32_t *a = WG_VEC(uint32_t, t->a[m]);
        for (unsigned l = 0; l < 32; l++)
            for (unsigned h = 0; h < 2; h++) {
                unsigned row = t->trans ? 2 * (l % 4) + h : l / 4, col = t->trans ? l / 4 : 2 * (l % 4) + h;
                uint16_t v = (uint16_t)(a[l] >> 16 * h);
                memcpy(image[8 * m + row] + 2 * col, &v, 2);
            }
    }
    for (unsigned l = 0; l < 32; l++)
        rows[l] = image[l];
    if (!shared_rows(w, i, t, R, &need, off, rows))
        return NULL;
    if (t->counted)
        count_rows(w, i, off, t->na);
    w->wk->changes++;
    for (uint32_t m = need; m; m &= m - 1)
        memcpy(w->blk->shared + off[__builtin_ctz(m)], image[__builtin_ctz(m)], 16);
    return i + 1;
}
H(movmatrix)
{
    const struct wg_tensor_desc *t = i->p;
    uint32_t on = WG_ON, v[WG_LANES];
    if (!on)
        return i + 1;
    WG_TOGETHER(~0u);
    const char *row[8];
    char copy[128];
    memcpy(copy, R + t->a[0], 128);
    for (unsigned r = 0; r < 8; r++)
        row[r] = copy + 16 * r;
    for (unsigned l = 0; l < 32; l++)
        v[l] = row_word(row, l, true);
    uint32_t *d = WG_VEC(uint32_t, t->d[0]);
    for (unsigned l = 0; l < 32; l++)
        d[l] = on >> l & 1 ? v[l] : d[l];
    return i + 1;
}

/* ---- fragments ---- */
struct pos { uint16_t row, col; };
static unsigned bits_of(unsigned type)
{
    return type == WG_T_B1 ? 1 : type == WG_T_S4 || type == WG_T_U4 ? 4 : 8 * wg_type_bytes((enum wg_type)type);
}
/* wmma's 8x32x16 is computed as its transpose: b takes the 16-row tiles. */
static bool swapped(const struct wg_tensor_desc *t) { return t->m == 8 && t->n == 32; }
/* (row, k) of element x of a lane in a 16-row operand of tiles; 8: 8-row tiles. e elements a register, depth k. */
static struct pos in16(unsigned l, unsigned x, unsigned e, unsigned k)
{
    unsigned r = x / e, per = 2 * k / (4 * e), tile = r / per;
    r %= per;
    return (struct pos){(uint16_t)(16 * tile + l / 4 + 8 * (r & 1)), (uint16_t)((r >> 1) * 4 * e + l % 4 * e + x % e)};
}
static struct pos in8(unsigned l, unsigned x, unsigned e, unsigned k)
{
    unsigned r = x / e, per = k / (4 * e), tile = r / per;
    return (struct pos){(uint16_t)(8 * tile + l / 4), (uint16_t)(r % per * 4 * e + l % 4 * e + x % e)};
}
/* (row, column) of element x of an accumulator */
static struct pos acc(const struct wg_tensor_desc *t, unsigned l, unsigned x)
{
    unsigned r = l / 4, c = 2 * (l % 4) + (x & 1), tile = x / 4;
    if (t->m == 8 && t->n == 8)
        return (struct pos){(uint16_t)r, (uint16_t)c};
    r += 8 * (x >> 1 & 1);
    if (swapped(t))
        return (struct pos){(uint16_t)c, (uint16_t)(16 * tile + r)};
    return t->m == 32 ? (struct pos){(uint16_t)(16 * tile + r), (uint16_t)c}
                      : (struct pos){(uint16_t)r, (uint16_t)(8 * tile + c)};
}
static struct pos operand(const struct wg_tensor_desc *t, bool b, unsigned l, unsigned x, unsigned e)
{
    bool tall = b ? swapped(t) : !swapped(t) && t->m >= 16;
    return tall ? in16(l, x, e, t->k) : in8(l, x, e, t->k);
}

static uint32_t field(const char *R, uint32_t slot, unsigned l, unsigned bits, unsigned k)
{
    uint32_t w = ((const uint32_t *)(R + slot))[l];
    return bits == 32 ? w : w >> bits * k & ((1u << bits) - 1);
}
/* An operand as raw elements [row or column][k]. Elements that a fragment holds more than once come from the first. */
static void gather(const struct wg_tensor_desc *t, const char *R, bool b, unsigned depth, struct wg_matrix_raw *out)
{
    unsigned type = b ? t->tb : t->ta, bits = bits_of(type), n = b ? t->nb : t->na, rows = b ? t->n : t->m;
    const uint32_t *slot = b ? t->b : t->a;
    if (bits == 1)
        bits = 32, depth /= 32; /* words of bits */
    unsigned e = 32 / bits;
    struct wg_tensor_desc s = *t;
    s.k = (uint16_t)depth;
    unsigned most = rows * depth / (32 * e);
    for (unsigned r = 0; r < n && r < most; r++)
        for (unsigned l = 0; l < 32; l++)
            for (unsigned k = 0; k < e; k++) {
                struct pos p = operand(&s, b, l, r * e + k, e);
                out->v[p.row][p.col] = field(R, slot[r], l, bits, k);
            }
}
static void gather_acc(const struct wg_tensor_desc *t, const char *R, struct wg_matrix_acc *c)
{
    unsigned e = t->tc == WG_T_F16 ? 2 : 1;
    for (unsigned r = 0; r < t->nc; r++)
        for (unsigned l = 0; l < 32; l++)
            for (unsigned k = 0; k < e; k++) {
                struct pos p = acc(t, l, r * e + k);
                c->v[p.row][p.col] = field(R, t->c[r], l, 32 / e, k);
            }
}
static void scatter_acc(const struct wg_tensor_desc *t, char *R, const struct wg_matrix_acc *d, uint32_t on)
{
    bool half = t->td == WG_T_F16;
    for (unsigned r = 0; r < t->nd; r++) {
        if (!t->d[r])
            continue;
        uint32_t *to = (uint32_t *)(R + t->d[r]);
        for (unsigned l = 0; l < 32; l++) {
            if (!(on >> l & 1))
                continue;
            struct pos p = acc(t, l, half ? 2 * r : r), q = acc(t, l, 2 * r + 1);
            to[l] = half ? d->v[p.row][p.col] | d->v[q.row][q.col] << 16 : d->v[p.row][p.col];
        }
    }
}

/* ---- mma ---- */
static void mma_f64(const struct wg_tensor_desc *t, char *R, uint32_t on)
{
    double a[16][16], b[8][16], d[16][8];
    unsigned per = t->m / 8;
    for (unsigned l = 0; l < 32; l++) {
        for (unsigned r = 0; r < t->na; r++) {
            struct pos p = per == 2 ? in16(l, r, 1, t->k) : in8(l, r, 1, t->k);
            a[p.row][p.col] = ((const double *)(R + t->a[r]))[l];
        }
        for (unsigned r = 0; r < t->nb; r++) {
            struct pos p = in8(l, r, 1, t->k);
            b[p.row][p.col] = ((const double *)(R + t->b[r]))[l];
        }
        for (unsigned r = 0; r < t->nc; r++) {
            struct pos p = acc(t, l, r);
            d[p.row][p.col] = ((const double *)(R + t->c[r]))[l];
        }
    }
    wg_matrix_f64(&d[0][0], &a[0][0], &b[0][0], t->m, t->k);
    for (unsigned r = 0; r < t->nd; r++)
        for (unsigned l = 0; l < 32; l++)
            if (t->d[r] && (on >> l & 1)) {
                struct pos p = acc(t, l, r);
                ((double *)(R + t->d[r]))[l] = d[p.row][p.col];
            }
}

/* Volta's m8n8k4: four products at once, one per pair of quads (lanes 4q..4q+3 and 16+4q..). */
static void mma_quads(const struct wg_tensor_desc *t, char *R, uint32_t on, const struct wg_matrix_rule *rule)
{
    struct wg_matrix_raw a, b;
    struct wg_matrix_acc c, d;
    for (unsigned q = 0; q < 4; q++) {
        for (unsigned x = 0; x < 8; x++) {
            unsigned l = x / 4 * 16 + 4 * q + x % 4;
            for (unsigned k = 0; k < 4; k++) {
                uint32_t va = field(R, t->a[k / 2], l, 16, k % 2), vb = field(R, t->b[k / 2], l, 16, k % 2);
                if (t->a_col)
                    a.v[k + x / 4 * 4][x % 4] = va;
                else
                    a.v[x][k] = va;
                if (t->b_row)
                    b.v[k + x / 4 * 4][x % 4] = vb;
                else
                    b.v[x][k] = vb;
            }
            for (unsigned k = 0; k < 8; k++) {
                if (t->tc == WG_T_F16)
                    c.v[x][k] = field(R, t->c[k / 2], l, 16, k % 2);
                else
                    c.v[x / 4 * 4 + (x & 1) + (k & 2)][(k & 4) + (x & 2) + (k & 1)] = field(R, t->c[k], l, 32, 0);
            }
        }
        wg_matrix_float(&d, &a, &b, NULL, &c, 8, 8, 4, 4, rule);
        for (unsigned x = 0; x < 8; x++) {
            unsigned l = x / 4 * 16 + 4 * q + x % 4;
            if (!(on >> l & 1))
                continue;
            for (unsigned k = 0; k < t->nd; k++)
                if (t->d[k])
                    ((uint32_t *)(R + t->d[k]))[l] = t->td == WG_T_F16
                        ? d.v[x][2 * k] | d.v[x][2 * k + 1] << 16
                        : d.v[x / 4 * 4 + (x & 1) + (k & 2)][(k & 4) + (x & 2) + (k & 1)];
        }
    }
}

/* Which row of b each stored element of a meets. Per row and four (tf32: two) of k, two bits an element (tf32: four). */
static void metadata(const struct wg_tensor_desc *t, const char *R, uint8_t sel[16][64])
{
    unsigned stored = t->k / 2, tf = t->ta == WG_T_TF32, chunk = tf ? 4 : 8, lanes = stored / chunk;
    const uint32_t *meta = (const uint32_t *)(R + t->meta);
    for (unsigned row = 0; row < 16; row++)
        for (unsigned s = 0; s < stored; s++) {
            unsigned part = s / chunk, l, shift;
            if (wg_type_bytes((enum wg_type)t->ta) == 1) { /* a lane holds 16 elements of one row */
                part = s / 16;
                l = row % 8 * 4 + (lanes == 2 ? 2 * t->selector + row / 8 : part * 2 + row / 8);
                shift = 2 * (s % 16);
            } else { /* a lane holds 8 (tf32: 4) elements of two rows */
                l = row % 8 * 4 + (lanes == 2 ? 2 * t->selector + part : t->selector);
                shift = 16 * (row / 8) + (tf ? 4 : 2) * (s % chunk);
            }
            uint32_t x = meta[l] >> shift;
            sel[row][s] = (uint8_t)(tf ? 2 * s + ((x & 15) == 14) : s / 2 * 4 + (x & 3));
        }
}

static const struct wg_inst *product(struct wg_warp *w, const struct wg_inst *i, char *R, uint32_t on)
{
    const struct wg_tensor_desc *t = i->p;
    struct wg_matrix_raw a, b;
    struct wg_matrix_acc c, d;
    uint8_t sel[16][64];
    bool sparse = t->op == WG_OP_MMA_SP;
    if (t->ta == WG_T_F64) {
        mma_f64(t, R, on);
        return i + 1;
    }
    struct wg_matrix_rule rule = wg_matrix_rule_of(wg_run_cc(w->wk->run), t->ta, t->tb, t->tc, t->td, t->sat);
    if (t->op == WG_OP_MMA && t->m == 8 && t->ta == WG_T_F16) {
        mma_quads(t, R, on, &rule);
        return i + 1;
    }
    unsigned depth = sparse ? t->k / 2 : t->k;
    gather(t, R, false, depth, &a);
    gather(t, R, true, t->k, &b);
    gather_acc(t, R, &c);
    if (sparse)
        metadata(t, R, sel);
    if (t->ta == WG_T_B1)
        wg_matrix_bits(&d, &a, &b, &c, t->m, t->n, t->k / 32, t->use_and);
    else if (wg_type_infos[t->ta].kind == 'F')
        wg_matrix_float(&d, &a, &b, sparse ? &sel[0] : NULL, &c, t->m, t->n, t->k, depth, &rule);
    else
        wg_matrix_int(&d, &a, &b, sparse ? &sel[0] : NULL, &c, t->m, t->n, t->k, depth, &rule);
    scatter_acc(t, R, &d, on);
    return i + 1;
}
H(mma)
{
    uint32_t on = WG_ON;
    if (!on)
        return i + 1;
    WG_TOGETHER(~0u);
    return product(w, i, R, on);
}

/* ---- wmma loads and stores ---- */
/* Where element x of lane l lies from the matrix's start, in elements. */
static uint64_t element_at(const struct wg_tensor_desc *t, unsigned l, unsigned x, uint32_t ld, unsigned unique, unsigned e)
{
    struct pos p;
    bool by_col = t->a_col; /* of the matrix in memory */
    x %= unique;
    if (t->op == WG_OP_WMMA_LOAD_C || t->op == WG_OP_WMMA_STORE) {
        p = acc(t, l, x);
    } else if (t->op == WG_OP_WMMA_LOAD_A) {
        p = operand(t, false, l, x, e);
    } else {
        p = operand(t, true, l, x, e);
        p = (struct pos){p.col, p.row}; /* b is k by n */
    }
    return by_col ? (uint64_t)p.col * ld + p.row : (uint64_t)p.row * ld + p.col;
}

H(wmma_memory)
{
    const struct wg_tensor_desc *t = i->p;
    bool store = t->op == WG_OP_WMMA_STORE, accum = store || t->op == WG_OP_WMMA_LOAD_C;
    uint32_t on = WG_ON;
    if (!on)
        return i + 1;
    WG_TOGETHER(~0u);
    const uint32_t *slot = store ? t->a : t->d;
    unsigned regs = store ? t->na : t->nd, bits = bits_of(t->ta), bytes = bits >= 8 ? bits / 8 : 1;
    unsigned pack = bits == 1 ? 32 : bits == 64 ? 1 : 32 / bits; /* elements of a register */
    unsigned step = bits < 8 ? pack : 1;                     /* sub-byte elements move by registers */
    struct wg_tensor_desc s = *t;
    unsigned rows = t->op == WG_OP_WMMA_LOAD_B ? t->n : t->m, cols = accum ? t->n : t->k, e = pack;
    unsigned unique = rows * cols / 32;
    uint64_t addr[WG_LANES];
    wg_lane_addresses(&t->at, R, addr);
    uint32_t ld = t->stride ? (t->stride_vec ? WG_VEC(uint32_t, t->stride)[__builtin_ctz(on)] : *(uint32_t *)(R + t->stride))
                  : t->a_col ? rows : cols;
    if (!t->stride && t->op == WG_OP_WMMA_LOAD_B)
        ld = t->a_col ? t->k : t->n;
    for (unsigned x = 0; x < regs * pack; x += step) {
        uint64_t at[WG_LANES];
        uint32_t sh = 0;
        unsigned size = bits < 8 ? 4 : bytes;
        for (unsigned l = 0; l < 32; l++) {
            uint64_t el = element_at(&s, l, x, ld, unique, e);
            at[l] = addr[l] + (bits < 8 ? el * bits / 8 : el * bytes);
            if (t->at.space == WG_SITE_SHARED)
                at[l] = (uint32_t)at[l], sh |= 1u << l;
            else if (t->at.space != WG_SITE_GLOBAL && at[l] - WG_SHARED_WINDOW < WG_WINDOW_BYTES)
                at[l] -= WG_SHARED_WINDOW, sh |= 1u << l;
        }
        uint32_t off = slot[x / pack], may = on;
        if (wg_is_observed(w)) {
            const char *data[WG_LANES];
            for (unsigned l = 0; l < 32; l++)
                data[l] = R + off + l * (bits == 64 ? 8 : 4) + (bits < 8 ? 0 : x % pack * bytes);
            struct wg_seen s2 = {.kind = store ? WG_ACCESS_STORE : WG_ACCESS_LOAD, .space = WG_SITE_SHARED,
                                 .elem = (uint8_t)size, .n = 1};
            may = wg_observe_lanes(w, i, &s2, at, on & sh, data);
            s2.space = WG_SITE_GLOBAL;
            may |= wg_observe_lanes(w, i, &s2, at, on & ~sh, data);
        }
        for (uint32_t m = may; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            bool in_shared = sh >> l & 1;
            uint64_t lo = in_shared ? 0 : w->wk->lo, hi = in_shared ? w->blk->shared_bytes : w->wk->hi;
            if (at[l] < lo || at[l] > hi || at[l] + size > hi)
                return wg_fault(w, i, WG_KERNEL_FAULT, "out-of-bounds", (int)l, at[l],
                                "Invalid __%s__ matrix %s of size %u bytes: address 0x%llx is out of bounds",
                                in_shared ? "shared" : "global", store ? "write" : "read", size,
                                (unsigned long long)at[l]);
        }
        if (t->counted && x < unique) { /* neighbours in a register and in memory move together */
            unsigned together = 1;
            while (together < pack && x + together < regs * pack && bits >= 8 &&
                   element_at(&s, 0, x + together, ld, unique, e) == element_at(&s, 0, x, ld, unique, e) + together)
                together++;
            bool first = x % pack == 0 || together == 1;
            if (x % pack && element_at(&s, 0, x, ld, unique, e) == element_at(&s, 0, x - 1, ld, unique, e) + 1 && bits >= 8)
                first = false;
            if (first)
                wg_matrix_count(&w->site[i->site], at, on, sh, size * together, store);
        }
        for (uint32_t m = may; m && off; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            char *p = sh >> l & 1 ? w->blk->shared + at[l] : (char *)at[l];
            char *r = R + off + l * (bits == 64 ? 8 : 4) + (bits < 8 ? 0 : x % pack * bytes);
            if (store)
                matrix_store(w, l, p, r, size, sh >> l & 1);
            else
                memcpy(r, p, size);
        }
    }
    w->wk->changes += store;
    return i + 1;
}
