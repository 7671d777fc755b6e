/* wgmma.c - matrix products of four warps with operands in shared memory. Each warp forms its sixteen rows when it
 * comes to the instruction, so that fences, groups and waits have nothing to do.
 *
 * A descriptor gives, in units of 16 bytes, the start (bits 0 to 13), the leading and the stride offset (16 to 29, 32
 * to 45), and the swizzle (62, 63): PTX ISA, "Matrix Descriptor Format". Where k runs along the rows, eight rows of a
 * swizzle's width make a block and blocks are the stride offset apart; without a swizzle the second 16 bytes of a row
 * are the leading offset away. Where m or n runs along, a row is one k: PTX ISA, "Strides" and "Canonical Layouts". The
 * swizzle xors address bits 4.. with bits 7.. as in tma.c. */
#include "exec/wgmma.h"
#include "exec/async.h"
#include "exec/engine.h"
#include "exec/matrix.h"

struct layout {
    uint64_t start, leading, stride;
    unsigned width; /* of a row, in 16 bytes: 1, 2, 4, 8 */
};

static struct layout layout_of(uint64_t desc)
{
    static const uint8_t width[] = {1, 8, 4, 2};
    return (struct layout){(desc & 0x3fff) << 4, (desc >> 16 & 0x3fff) << 4, (desc >> 32 & 0x3fff) << 4,
                           width[desc >> 62]};
}
/* Offset of the 16 bytes that hold chunk c of line x: k major, line: row or column, chunk: of k; else line: k, chunk:
 * of rows or columns. */
static uint64_t chunk_at(const struct layout *m, bool trans, unsigned x, unsigned c)
{
    uint64_t a = m->start;
    if (!trans)
        a += x % 8 * 16 * m->width + x / 8 * m->stride + (m->width > 1 ? c * 16 : c * m->leading);
    else if (m->width == 1)
        a += c * m->stride + x % 8 * 16 + x / 8 * m->leading;
    else
        a += c % m->width * 16 + c / m->width * m->leading + x % 8 * 16 * m->width + x / 8 * m->stride;
    return a ^ ((a >> 7 & (m->width - 1)) << 4);
}

static unsigned bits_of(unsigned type)
{
    return type == WG_T_B1 ? 1 : 8 * wg_type_bytes((enum wg_type)type);
}
static uint32_t negate(uint32_t v, unsigned type, bool neg)
{
    return !neg ? v : v ^ (type == WG_T_TF32 ? 0x80000000u : wg_type_bytes((enum wg_type)type) == 2 ? 0x8000u : 0x80u);
}

/* Rows (or columns) first.. of an operand in shared memory, k elements each; false after a fault. */
static bool fetch(struct wg_warp *w, const struct wg_inst *i, uint64_t desc, bool trans, unsigned first, unsigned lines,
                  unsigned k, unsigned type, bool neg, struct wg_matrix_raw *out)
{
    struct layout m = layout_of(desc);
    unsigned bits = bits_of(type), e = bits < 8 ? 32 : bits, per = 128 / e, depth = k * bits / e;
    unsigned nx = trans ? depth : lines, x0 = trans ? 0 : first, c0 = trans ? first / per : 0,
             nc = (trans ? lines : depth) / per;
    if (desc >> 49 & 7) {
        wg_fault(w, i, WG_UNSUPPORTED, "unsupported", 0, 0, "not supported: a matrix descriptor with a base offset");
        return false;
    }
    for (unsigned x = 0; x < nx; x++)
        for (unsigned c = 0; c < nc; c++) {
            uint64_t at = chunk_at(&m, trans, x + x0, c + c0);
            if (at + 16 > w->blk->shared_bytes) {
                wg_fault(w, i, WG_KERNEL_FAULT, "out-of-bounds", 0, at,
                         "Invalid __shared__ read of a matrix: address 0x%llx is out of bounds",
                         (unsigned long long)at);
                return false;
            }
            for (unsigned j = 0; j < per; j++) {
                uint32_t v = 0;
                memcpy(&v, w->blk->shared + at + j * e / 8, e / 8);
                v = negate(v, type, neg);
                if (trans)
                    out->v[c * per + j][x] = v;
                else
                    out->v[x][c * per + j] = v;
            }
        }
    return true;
}
/* The sixteen rows of a warp from registers: see tensor.c. */
static void registers(const struct wg_wgmma_desc *t, const char *R, struct wg_matrix_raw *out)
{
    unsigned bits = bits_of(t->ta), e = bits < 8 ? 32 : bits, per = 32 / e;
    for (unsigned r = 0; r < 4; r++)
        for (unsigned l = 0; l < WG_LANES; l++)
            for (unsigned j = 0; j < per; j++) {
                uint32_t v = ((const uint32_t *)(R + t->a[r]))[l];
                v = e == 32 ? v : v >> e * j & ((1u << e) - 1);
                out->v[l / 4 + 8 * (r & 1)][(r >> 1) * 4 * per + l % 4 * per + j] = negate(v, t->ta, t->a_neg);
            }
}

/* Where element x of lane l lies in the warp's sixteen rows. */
static unsigned row_of(unsigned l, unsigned x)
{
    return l / 4 + 8 * (x >> 1 & 1);
}
static unsigned col_of(unsigned l, unsigned x)
{
    return 8 * (x >> 2) + 2 * (l % 4) + (x & 1);
}

/* Columns n0.. of the accumulator, from registers or zero; and back. */
static void accumulator(const struct wg_wgmma_desc *t, const char *R, bool add, unsigned n0, unsigned cols,
                        struct wg_matrix_acc *c)
{
    unsigned e = t->td == WG_T_F16 ? 2 : 1, first = n0 / 2 / e, n = cols / 2 / e;
    for (unsigned r = first; r < first + n; r++)
        for (unsigned l = 0; l < WG_LANES; l++) {
            uint32_t v = add && t->d[r] ? ((const uint32_t *)(R + t->d[r]))[l] : 0;
            for (unsigned j = 0; j < e; j++)
                c->v[row_of(l, r * e + j)][col_of(l, r * e + j) - n0] = e == 2 ? v >> 16 * j & 0xffff : v;
        }
}
static void result(const struct wg_wgmma_desc *t, char *R, unsigned n0, unsigned cols, const struct wg_matrix_acc *c)
{
    unsigned e = t->td == WG_T_F16 ? 2 : 1, first = n0 / 2 / e, n = cols / 2 / e;
    for (unsigned r = first; r < first + n; r++)
        for (unsigned l = 0; t->d[r] && l < WG_LANES; l++) {
            uint32_t v = 0;
            for (unsigned j = 0; j < e; j++)
                v |= c->v[row_of(l, r * e + j)][col_of(l, r * e + j) - n0] << 16 * j;
            ((uint32_t *)(R + t->d[r]))[l] = v;
        }
}

H(wgmma)
{
    const struct wg_wgmma_desc *t = i->p;
    uint32_t on = WG_ON;
    if (!on)
        return i + 1;
    WG_TOGETHER(~0u);
    unsigned l = (unsigned)__builtin_ctz(on), words = t->k / 32;
    bool add = WG_P(t->add) >> l & 1;
    struct wg_matrix_raw a, b;
    struct wg_matrix_acc c;
    struct wg_matrix_rule rule = wg_matrix_rule_wgmma(wg_run_cc(w->wk->run), t->ta, t->tb, t->td, t->sat);
    if (t->a_regs)
        registers(t, R, &a);
    else if (!fetch(w, i, WG_VEC(uint64_t, t->a[0])[l], t->a_trans, 16 * (w->index & 3), 16, t->k, t->ta, t->a_neg, &a))
        return NULL;
    for (unsigned n0 = 0; n0 < t->n; n0 += 32) {
        unsigned cols = t->n - n0 < 32 ? t->n - n0 : 32;
        if (!fetch(w, i, WG_VEC(uint64_t, t->b)[l], t->b_trans, n0, cols, t->k, t->tb, t->b_neg, &b))
            return NULL;
        accumulator(t, R, add, n0, cols, &c);
        if (t->ta == WG_T_B1)
            wg_matrix_bits(&c, &a, &b, &c, 16, cols, words, true);
        else if (wg_type_infos[t->ta].kind == 'F')
            wg_matrix_float(&c, &a, &b, NULL, &c, 16, cols, t->k, t->k, &rule);
        else
            wg_matrix_int(&c, &a, &b, NULL, &c, 16, cols, t->k, t->k, &rule);
        result(t, R, n0, cols, &c);
    }
    return i + 1;
}
