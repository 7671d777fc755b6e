/* mem_row.c - loads and stores that an observer watches, as far as whole warps take rows of memory that it has nothing
 * against: announcement and access in one instruction, which goes on behind both. Whatever else one turns out to be goes to
 * the next instruction, which announces the lanes' accesses one by one and is followed by the access itself. */
#include "exec/lanes.h"
#include "exec/handlers.h"
#include <warpgrind/observer.h>

/* May all lanes do it between base and end, as far as the observer knows? asks: ranges are not all it cares for. */
#define ROW_OR_NEXT(asks, end, stride)                                                                                 \
    const struct wg_access_site *s = ((const struct wg_mem_desc *)i->p)->from;                                         \
    if (__builtin_expect(!(ok && base >= s->lo && (end) <= s->hi) ||                                                   \
                             (asks && w->row && !w->row(w->observed, w->index, s, base, stride)), 0))                  \
        WG_NEXT;
#define ROW_A(name, T, is_shared, counted, store, asks)                                                                \
    WG_HANDLER(name)                                                                                                   \
    {                                                                                                                  \
        const uint32_t total = 32 * sizeof(T);                                                                         \
        uint64_t base = *(const uint64_t *)(R + i->a) + (uint64_t)(int64_t)(int32_t)i->f;                              \
        bool ok = WG_ON == ~0u && *(const int64_t *)(R + i->a + 8) == (int64_t)sizeof(T);                              \
        ok = ok && !(base & (is_shared ? sizeof(T) - 1 : 127));                                                        \
        ok = ok && (is_shared ? base + total <= w->shared_bytes : base >= w->lo && base <= w->hi - total);             \
        ROW_OR_NEXT(asks, base + total, (int64_t)sizeof(T))                                                            \
        char *m = is_shared ? w->shared + base : (char *)(uintptr_t)base;                                              \
        if (counted)                                                                                                   \
            w->site[i->site].full++;                                                                                   \
        if (store) {                                                                                                   \
            memcpy(m, WG_VEC(T, i->d), 32 * sizeof(T));                                                                \
            w->wk->changes++;                                                                                          \
        } else {                                                                                                       \
            memcpy(WG_VEC(T, i->d), m, 32 * sizeof(T));                                                                \
        }                                                                                                              \
        WG_GOTO(i + 3);                                                                                                \
    }
#define ROW_S(name, is_shared, counted, asks)                                                                          \
    WG_HANDLER(name)                                                                                                   \
    {                                                                                                                  \
        uint64_t base = *(const uint64_t *)(R + i->a) + (uint64_t)(int64_t)(int32_t)i->f;                              \
        bool ok = WG_ON == ~0u && !(base & 3);                                                                         \
        ok = ok && (is_shared ? base + 4 <= w->shared_bytes : base >= w->lo && base <= w->hi - 4);                     \
        ROW_OR_NEXT(asks, base + 4, 0)                                                                                 \
        if (counted)                                                                                                   \
            w->site[i->site].same++;                                                                                   \
        *(uint64_t *)(R + i->d) = *(const uint32_t *)(is_shared ? w->shared + base : (char *)(uintptr_t)base);         \
        WG_GOTO(i + 3);                                                                                                \
    }
#define BOTH_A(name, T, is_shared, counted, store)                                                                     \
    ROW_A(safe_##name, T, is_shared, counted, store, false)                                                            \
    ROW_A(row_##name, T, is_shared, counted, store, true)
#define BOTH_S(name, is_shared, counted)                                                                               \
    ROW_S(safe_##name, is_shared, counted, false)                                                                      \
    ROW_S(row_##name, is_shared, counted, true)
BOTH_A(ld_g4, uint32_t, false, false, false)
BOTH_A(ld_g4c, uint32_t, false, true, false)
BOTH_A(ld_g8, uint64_t, false, false, false)
BOTH_A(ld_g8c, uint64_t, false, true, false)
BOTH_A(ld_s4, uint32_t, true, false, false)
BOTH_A(ld_s4c, uint32_t, true, true, false)
BOTH_A(st_g4, uint32_t, false, false, true)
BOTH_A(st_g4c, uint32_t, false, true, true)
BOTH_A(st_g8, uint64_t, false, false, true)
BOTH_A(st_g8c, uint64_t, false, true, true)
BOTH_A(st_s4, uint32_t, true, false, true)
BOTH_A(st_s4c, uint32_t, true, true, true)
BOTH_S(s_g4, false, false)
BOTH_S(s_g4c, false, true)
BOTH_S(s_s4, true, false)
BOTH_S(s_s4c, true, true)

/* [store][shared][8 bytes][counted]; 64-bit shared accesses take two passes and have none */
#define ROWS(kind)                                                                                                     \
    {{{{kind##_ld_g4, kind##_ld_g4c}, {kind##_ld_g8, kind##_ld_g8c}}, {{kind##_ld_s4, kind##_ld_s4c}, {NULL, NULL}}},   \
     {{{kind##_st_g4, kind##_st_g4c}, {kind##_st_g8, kind##_st_g8c}}, {{kind##_st_s4, kind##_st_s4c}, {NULL, NULL}}}}
#define SAME(kind) {{kind##_s_g4, kind##_s_g4c}, {kind##_s_s4, kind##_s_s4c}} /* [shared][counted] */
static const wg_handler affine[2][2][2][2][2] = {ROWS(row), ROWS(safe)};
static const wg_handler same[2][2][2] = {SAME(row), SAME(safe)};

/* The instruction to put before the announcement of an access. safe: ranges are all that the observer cares for. NULL: none
 * for this kind of access. */
wg_handler WG_ISA_NAME(wg_mem_select_row)(const struct wg_mem_desc *d, bool safe);
wg_handler WG_ISA_NAME(wg_mem_select_row)(const struct wg_mem_desc *d, bool safe)
{
    bool shared = d->space == WG_SITE_SHARED, counted = d->counted && d->space != WG_SITE_CONST;
    if (d->space == WG_SITE_LOCAL || d->space == WG_SITE_GENERIC || d->atom || d->n != 1 || d->elem != d->cont || d->wide ||
        !d->val[0] || (d->from->strong && !safe))
        return NULL;
    if (d->scalar)
        return d->elem == 4 && !d->sign ? same[safe][shared][counted] : NULL;
    return d->elem >= 4 && d->acls == WG_ADDR_A ? affine[safe][d->store][shared][d->elem == 8][counted] : NULL;
}
