/* memo.h - what the last accesses of a site cost, so that one of the same shape need not be worked out again.
 *
 * Sectors and lines stay the same when all lanes move by a multiple of 128 bytes, bank conflicts when they move by a
 * multiple of the access size: a loop that walks through memory repeats its costs. The shape is the lanes' distances
 * from the first one. Each worker has its own. */
#ifndef WG_EXEC_MEMO_H
#define WG_EXEC_MEMO_H
#include "base/arena.h"
#include "exec/lanes.h"
#include "model/banks.h"
#include "model/coalesce.h"

enum { WG_MEMO_WAYS = 4 }; /* shapes kept of a site: the four sectors that a line can start in */
struct wg_memo {
    struct wg_memo_shape {
        uint32_t rel[WG_LANES]; /* bytes from the first lane; off lanes: 0 */
        uint32_t mask, phase;   /* mask 0: empty */
        struct wg_coalesce global;
        struct wg_banks shared;
    } way[WG_MEMO_WAYS] __attribute__((aligned(64)));
    int32_t score; /* hits less misses, within bounds: a site of random addresses stops asking */
};
enum { WG_MEMO_HOPELESS = -64, WG_MEMO_BEST = 64 };

/* The site's memo; NULL when it has none: out of memory (then nothing is remembered), or hopeless. */
static inline struct wg_memo *wg_memo_of(struct wg_warp *w, uint32_t site)
{
    struct wg_memo **m = &w->wk->memo[site];
    if (!*m)
        *m = wg_aligned(64, sizeof **m);
    return *m && (*m)->score > WG_MEMO_HOPELESS ? *m : NULL;
}

/* Fills rel with the shape of addr and says whether way s holds it. */
WG_INLINE bool wg_memo_same(const struct wg_memo_shape *s, const uint32_t *rel, uint32_t on, uint32_t phase)
{
    uint32_t apart = (s->mask ^ on) | (s->phase ^ phase);
    for (int l = 0; l < WG_LANES; l++)
        apart |= s->rel[l] ^ rel[l];
    return !apart;
}
WG_INLINE void wg_memo_keep(struct wg_memo_shape *s, const uint32_t *rel, uint32_t on, uint32_t phase)
{
    memcpy(s->rel, rel, sizeof s->rel);
    s->mask = on;
    s->phase = phase;
}
WG_INLINE void wg_memo_score(struct wg_memo *m, bool hit)
{
    m->score += hit ? m->score < WG_MEMO_BEST : -1;
}

/* As wg_coalesce, for a site's access. */
WG_INLINE void wg_memo_coalesce(struct wg_warp *w, uint32_t site, const uint64_t *addr, uint32_t on, unsigned bytes,
                                struct wg_coalesce *out)
{
    struct wg_memo *m = wg_memo_of(w, site);
    if (!m) {
        wg_coalesce(addr, on, bytes, out);
        return;
    }
    uint32_t rel[WG_LANES] __attribute__((aligned(64)));
    uint64_t first = addr[__builtin_ctz(on)], far = 0;
    for (int l = 0; l < WG_LANES; l++) {
        uint64_t x = WG_LANES_IN(on, l, 8) ? addr[l] - first : 0;
        rel[l] = (uint32_t)x;
        far |= (x + (1ull << 31)) >> 32;
    }
    uint32_t phase = first & 127;
    struct wg_memo_shape *s = &m->way[phase >> 5];
    bool hit = !far && wg_memo_same(s, rel, on, phase);
    wg_memo_score(m, hit);
    if (!hit) {
        wg_coalesce(addr, on, bytes, &s->global);
        wg_memo_keep(s, rel, far ? 0 : on, phase);
    }
    *out = s->global;
}

/* As wg_banks_of, for a load or store of a site. */
WG_INLINE void wg_memo_banks(struct wg_warp *w, uint32_t site, const uint32_t *addr, uint32_t on, unsigned bytes,
                             bool store, struct wg_banks *out)
{
    struct wg_memo *m = wg_memo_of(w, site);
    const enum wg_banks_op op = store ? WG_BANKS_STORE : WG_BANKS_LOAD;
    if (!m) {
        wg_banks_of(op, addr, on, bytes, out);
        return;
    }
    uint32_t rel[WG_LANES] __attribute__((aligned(64))), first = addr[__builtin_ctz(on)];
    for (int l = 0; l < WG_LANES; l++)
        rel[l] = WG_LANES_IN(on, l, 4) ? addr[l] - first : 0;
    uint32_t phase = first & ((bytes < 4 ? 4 : bytes) - 1);
    struct wg_memo_shape *s = &m->way[0];
    bool hit = wg_memo_same(s, rel, on, phase);
    wg_memo_score(m, hit);
    if (!hit) {
        wg_banks_of(op, addr, on, bytes, &s->shared);
        wg_memo_keep(s, rel, on, phase);
    }
    *out = s->shared;
}
#endif
