/* mem_full.c - the commonest loads and stores of all: unguarded, every lane on, neighbours or one place, aligned.
 * Whatever else one turns out to be goes to its handler in mem.c. One counter tells it all: see wg_site_count. A load
 * that a multiply-add behind it uses does that too. */
#include "exec/approx.h"
#include "exec/lanes.h"
#include "exec/mem.h"

/* Asks for what the next warp will load here, if it lies as far from this as this from the last one's. Warps run one
 * after the other, so the distance is often a matrix's row, which the host's own prefetcher does not follow. */
WG_INLINE void ahead(struct wg_worker *k, const struct wg_inst *i, uint64_t base, unsigned total)
{
    uint64_t *last = &k->last[i->site % (sizeof k->last / sizeof *k->last)], next = 2 * base - *last;
    *last = base;
    for (unsigned at = 0; at < total; at += 64)
        __builtin_prefetch((const char *)(uintptr_t)(next + at));
}
#define FULL_A(name, T, is_shared, counted, store)                                                                     \
    WG_HANDLER(name)                                                                                                   \
    {                                                                                                                  \
        const uint32_t total = 32 * sizeof(T);                                                                         \
        uint64_t base = *(const uint64_t *)(R + i->a) + (uint64_t)(int64_t)(int32_t)i->f;                              \
        bool ok = w->mask == ~0u && *(const int64_t *)(R + i->a + 8) == (int64_t)sizeof(T);                            \
        char *m;                                                                                                       \
        if (is_shared) {                                                                                               \
            ok = ok && base + total <= w->shared_bytes && !(base & (sizeof(T) - 1));                                   \
            m = w->shared + base;                                                                                      \
        } else {                                                                                                       \
            ok = ok && base >= w->lo && base <= w->hi - total && !(base & 127);                                        \
            m = (char *)base;                                                                                          \
        }                                                                                                              \
        if (__builtin_expect(!ok, 0))                                                                                  \
            return WG_ISA_NAME(wg_mem_affine)[store][is_shared][sizeof(T) == 8][counted](w, i, R);                     \
        if (counted)                                                                                                   \
            w->site[i->site].full++;                                                                                   \
        if (!(is_shared) && !(store))                                                                                  \
            ahead(w->wk, i, base, total);                                                                              \
        if (store) {                                                                                                   \
            memcpy(m, WG_VEC(T, i->d), 32 * sizeof(T));                                                                \
            w->wk->changes++;                                                                                          \
        } else {                                                                                                       \
            memcpy(WG_VEC(T, i->d), m, 32 * sizeof(T));                                                                \
        }                                                                                                              \
        WG_NEXT;                                                                                                       \
    }
#define FULL_S(name, is_shared, counted)                                                                               \
    WG_HANDLER(name)                                                                                                   \
    {                                                                                                                  \
        uint64_t a = *(const uint64_t *)(R + i->a) + (uint64_t)(int64_t)(int32_t)i->f;                                 \
        bool ok = w->mask == ~0u && !(a & 3);                                                                          \
        const char *m;                                                                                                 \
        if (is_shared) {                                                                                               \
            ok = ok && a + 4 <= w->shared_bytes;                                                                       \
            m = w->shared + a;                                                                                         \
        } else {                                                                                                       \
            ok = ok && a >= w->lo && a <= w->hi - 4;                                                                   \
            m = (const char *)a;                                                                                       \
        }                                                                                                              \
        if (__builtin_expect(!ok, 0))                                                                                  \
            return WG_ISA_NAME(wg_mem_same)[is_shared][counted](w, i, R);                                              \
        if (counted)                                                                                                   \
            w->site[i->site].same++;                                                                                   \
        *(uint64_t *)(R + i->d) = *(const uint32_t *)m;                                                                \
        WG_NEXT;                                                                                                       \
    }
FULL_A(full_ld_g4, uint32_t, false, false, false)
FULL_A(full_ld_g4c, uint32_t, false, true, false)
FULL_A(full_ld_g8, uint64_t, false, false, false)
FULL_A(full_ld_g8c, uint64_t, false, true, false)
FULL_A(full_ld_s4, uint32_t, true, false, false)
FULL_A(full_ld_s4c, uint32_t, true, true, false)
FULL_A(full_st_g4, uint32_t, false, false, true)
FULL_A(full_st_g4c, uint32_t, false, true, true)
FULL_A(full_st_g8, uint64_t, false, false, true)
FULL_A(full_st_g8c, uint64_t, false, true, true)
FULL_A(full_st_s4, uint32_t, true, false, true)
FULL_A(full_st_s4c, uint32_t, true, true, true)
FULL_S(full_s_g4, false, false)
FULL_S(full_s_g4c, false, true)
FULL_S(full_s_s4, true, false)
FULL_S(full_s_s4c, true, true)

/* [store][shared][8 bytes][counted]; 64-bit shared accesses take two passes and are not of this kind */
static const wg_handler full[2][2][2][2] = {
    {{{full_ld_g4, full_ld_g4c}, {full_ld_g8, full_ld_g8c}}, {{full_ld_s4, full_ld_s4c}, {NULL, NULL}}},
    {{{full_st_g4, full_st_g4c}, {full_st_g8, full_st_g8c}}, {{full_st_s4, full_st_s4c}, {NULL, NULL}}},
};
static const wg_handler same[2][2] = {{full_s_g4, full_s_g4c}, {full_s_s4, full_s_s4c}};

wg_handler WG_ISA_NAME(wg_mem_full)(const struct wg_mem_desc *d)
{
    bool shared = d->space == WG_SITE_SHARED, counted = d->counted && d->space != WG_SITE_CONST;
    if (d->guarded || d->wide || d->n != 1 || !d->val[0] || d->elem != d->cont || d->elem < 4)
        return NULL;
    if (d->scalar)
        return d->elem == 4 && !d->sign ? same[shared][counted] : NULL;
    return d->acls == WG_ADDR_A ? full[d->store][shared][d->elem == 8][counted] : NULL;
}

/* ---- a coalesced load and the multiply-add behind it, and perhaps a uniform load between the two for the other
 * factor: most of what a matrix product's inner loop does. The later instructions stay where they are, for those who
 * come to them otherwise. ---- */
WG_INLINE const char *place(const struct wg_warp *w, uint64_t a, bool is_shared)
{
    return is_shared ? w->shared + a : (const char *)(uintptr_t)a;
}
/* Whether bytes bytes from a on are there, in lines that every warp's accesses share. */
WG_INLINE bool is_there(const struct wg_warp *w, uint64_t a, bool is_shared, unsigned bytes)
{
    return is_shared ? a + bytes <= w->shared_bytes && !(a & 3)
                     : a >= w->lo && a <= w->hi - bytes && !(a & (bytes - 1));
}
/* How the uniform load counts, in k1 of the first instruction: not, by the rules of full_s_*, or as one that the
 * machine code joins to others. */
enum { UNCOUNTED, ONE_WORD, JOINED };
static unsigned uniform_kind(const struct wg_mem_desc *d)
{
    return !d->counted || d->space == WG_SITE_CONST ? UNCOUNTED : d->same ? JOINED : ONE_WORD;
}
WG_INLINE void count_uniform(struct wg_warp *w, const struct wg_inst *i, unsigned kind)
{
    if (kind == ONE_WORD)
        w->site[i->site].same++;
    else if (kind == JOINED)
        wg_count_same(w, i);
}
WG_INLINE void multiply_add(const struct wg_inst *i, const struct wg_inst *u, char *R, const float *m, float s,
                            bool keep)
{
    const float *c = WG_VEC(float, u->c);
    float *v = WG_VEC(float, i->d), *d = WG_VEC(float, u->d);
    WG_LANES_LOOP(l)
    {
        float x = m[l];
        if (keep)
            v[l] = x;
        d[l] = wg_canon_f32(__builtin_fmaf(s, x, c[l]));
    }
}
/* keep: something else reads what is loaded. */
#define FUSED(name, is_shared, counted, between, keep)                                                                 \
    WG_HANDLER(name)                                                                                                   \
    {                                                                                                                  \
        const struct wg_inst *o = i + 1; /* the uniform load, if there is one */                                       \
        uint64_t a = *(const uint64_t *)(R + i->a) + (uint64_t)(int64_t)(int32_t)i->f;                                 \
        uint64_t b = between ? *(const uint64_t *)(R + o->a) + (uint64_t)(int64_t)(int32_t)o->f : 0;                   \
        bool ok = w->mask == ~0u && *(const int64_t *)(R + i->a + 8) == 4 && is_there(w, a, is_shared, 128) &&         \
                  (!(between) || is_there(w, b, is_shared, 4));                                                        \
        if (__builtin_expect(!ok, 0))                                                                                  \
            return WG_ISA_NAME(wg_mem_affine)[0][is_shared][0][counted](w, i, R);                                      \
        if (counted) {                                                                                                 \
            w->site[i->site].full++;                                                                                   \
            if (between)                                                                                               \
                count_uniform(w, o, i->k1);                                                                            \
        }                                                                                                              \
        if (!(is_shared))                                                                                              \
            ahead(w->wk, i, a, 128);                                                                                   \
        float s = *(const float *)(between ? place(w, b, is_shared) : R + i->g);                                       \
        if (between && (keep)) {                                                                                       \
            *(uint64_t *)(R + o->d) = 0;                                                                               \
            *(float *)(R + o->d) = s;                                                                                  \
        }                                                                                                              \
        multiply_add(i, between ? i + 2 : i + 1, R, (const float *)place(w, a, is_shared), s, keep);                   \
        WG_GOTO(between ? i + 3 : i + 2);                                                                              \
    }
#define FUSED_FORMS(name, between, keep)                                                                               \
    FUSED(name##_g, false, false, between, keep)                                                                       \
    FUSED(name##_gc, false, true, between, keep)                                                                       \
    FUSED(name##_s, true, false, between, keep)                                                                        \
    FUSED(name##_sc, true, true, between, keep)                                                                        \
    static const wg_handler name[2][2] = {{name##_g, name##_gc}, {name##_s, name##_sc}};
FUSED_FORMS(two, false, false)
FUSED_FORMS(two_kept, false, true)
FUSED_FORMS(three, true, false)
FUSED_FORMS(three_kept, true, true)

/* Whether d loads one word for all lanes and is counted by count_uniform. */
static bool is_uniform_word(const struct wg_inst *i, bool shared)
{
    for (unsigned counted = 0; counted < 2; counted++) {
        if (i->fn == same[shared][counted])
            return true;
        const struct wg_mem_desc *d = i->p;
        if (i->fn == WG_ISA_NAME(wg_mem_same)[shared][counted] && !d->guarded && !d->sign && d->cont == 4 &&
            d->val[0] && d->val[0] == i->d && d->same)
            return true;
    }
    return false;
}
/* The uniform factor's slot if u multiplies what i has loaded by one, or 0. */
static uint32_t other_factor(const struct wg_inst *i, const struct wg_inst *u)
{
    for (unsigned by = 0; by < 2; by++)
        if (u->fn == WG_ISA_NAME(wg_alu_fma_by_one)[by] && i->d == (by ? u->a : u->b) && i->d != u->c)
            return by ? u->b : u->a;
    return 0;
}
void WG_ISA_NAME(wg_mem_fuse)(struct wg_inst *insts, uint32_t n)
{
    for (uint32_t k = 0; k + 3 < n; k++) {
        struct wg_inst *i = &insts[k];
        for (unsigned shared = 0; shared < 2; shared++)
            for (unsigned counted = 0; counted < 2; counted++) {
                if (i->fn != full[0][shared][0][counted])
                    continue;
                uint32_t next = other_factor(i, i + 1), third = other_factor(i, i + 2);
                if (next) {
                    i->g = next;
                    i->fn = (i->e ? two : two_kept)[shared][counted];
                } else if (third && third == i[1].d && is_uniform_word(i + 1, shared) && i[1].d != i->d) {
                    i->k1 = (uint8_t)uniform_kind(i[1].p);
                    i->fn = (i->e && i[1].e ? three : three_kept)[shared][counted];
                }
                break;
            }
    }
}
