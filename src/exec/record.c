/* record.c - instructions that write a warp's accesses, barriers and work into its trace. Only decoded when the models
 * of caches and time are asked for. */
#include "exec/handlers.h"
#include "exec/record.h"
#include "model/coalesce.h"
#include <string.h>

struct line { uint64_t number; uint32_t words; }; /* words: 4-byte words touched */

static uint64_t *event(struct wg_warp *w, unsigned kind, unsigned flags, unsigned nrecorded, unsigned cost,
                       unsigned sectors, unsigned use, uint32_t site, uint32_t more)
{
    struct wg_warp_trace *t = w->trace;
    uint64_t *v = wg_trace_room(w->blk->trace, t, 2 + more);
    if (!v)
        return NULL;
    v[0] = wg_trace_word0(kind, flags, nrecorded, cost, sectors, use, site);
    v[1] = wg_trace_word1(t->slots, t->alone, t->skipped);
    t->n += 2 + more;
    t->slots = t->alone = t->skipped = 0;
    return v + 2;
}

/* Lines of a sample only. asked: sectors that the access asks for, when they are more than those touched; 0: as many. */
static void put(struct wg_warp *w, uint32_t site, unsigned kind, unsigned flags, unsigned use, const struct line *l,
                unsigned n, bool bytes_known, unsigned asked)
{
    uint32_t mask = (1u << w->blk->trace->level) - 1;
    unsigned sectors = 0, kept = 0, extra = 0, passes = 0;
    uint8_t bank[16] = {0};
    /* lines count from the start of device memory: where the host put that may differ from run to run */
    uint64_t origin = flags & WG_TRACE_LOCAL ? 0 : w->lo >> 7;
    uint64_t out[2 * 64];
    for (unsigned k = 0; k < n; k++) {
        unsigned sec = 0, whole = 0;
        for (unsigned s = 0; s < 4; s++) {
            uint32_t x = l[k].words >> 8 * s & 255;
            sec |= (x != 0) << s;
            whole |= (x == 255) << s;
        }
        sectors += (unsigned)__builtin_popcount(sec);
        /* the L1 gives 8 bytes of each of 16 banks a cycle: RRZE gpu-benches, gpu-strides, on A100 and H200 */
        uint32_t pair = (l[k].words | l[k].words >> 1) & 0x55555555;
        for (; n > 1 && pair; pair &= pair - 1) {
            unsigned b = (unsigned)__builtin_ctz(pair) / 2;
            passes = ++bank[b] > passes ? bank[b] : passes;
        }
        uint64_t number = l[k].number - origin;
        if (mask && (wg_trace_hash(number) & mask))
            continue;
        bool partly = kind == WG_TRACE_STORE && bytes_known && whole != sec;
        out[kept + extra] = wg_trace_line(number, sec, whole, partly);
        if (partly)
            out[kept + ++extra] = l[k].words;
        kept++;
    }
    struct wg_warp_trace *t = w->trace;
    if (n && !kept && t->skipped < WG_TRACE_SKIPPED_MAX) {
        t->skipped++;
        return;
    }
    uint64_t *v = event(w, kind, flags | (kept == n ? WG_TRACE_WHOLE : 0u), kept, passes > n / 4 + 1 ? passes : n / 4 + 1,
                        asked ? asked : sectors, use, site, kept + extra);
    if (v)
        memcpy(v, out, (kept + extra) * sizeof *out);
}

/* Marks the words of [a, a + bytes) in the lines of l; lines are looked up from the latest. */
static inline unsigned touch(struct line *l, unsigned n, uint64_t a, unsigned bytes)
{
    for (uint64_t end = a + bytes; a < end;) {
        uint64_t number = a >> 7, stop = (number + 1) << 7;
        stop = stop < end ? stop : end;
        unsigned first = (unsigned)(a >> 2) & 31, last = (unsigned)((stop - 1) >> 2) & 31;
        uint32_t words = (last == 31 ? ~0u : (1u << (last + 1)) - 1) & ~((1u << first) - 1);
        unsigned k = n;
        if (!n || number <= l[n - 1].number) /* rising addresses need no search */
            for (k = n; k > 0 && l[k - 1].number != number; k--)
                ;
        else
            k = 0;
        if (k) {
            l[k - 1].words |= words;
        } else if (n < 64) {
            /* kept as they come, but for the last, which is the highest: what the test above relies on */
            if (n && number < l[n - 1].number) {
                l[n] = l[n - 1];
                l[n - 1] = (struct line){number, words};
            } else {
                l[n] = (struct line){number, words};
            }
            n++;
        }
        a = stop;
    }
    return n;
}

void WG_ISA_NAME(wg_record_lanes)(struct wg_warp *w, uint32_t site, unsigned kind, unsigned flags, unsigned use,
                                  const uint64_t *addr, uint32_t on, unsigned bytes)
{
    struct line l[64];
    unsigned n = 0;
    if (!on || !w->trace)
        return;
    for (uint32_t m = on; m; m &= m - 1)
        n = touch(l, n, addr[__builtin_ctz(m)], bytes);
    bool atomic = kind == WG_TRACE_ATOM || kind == WG_TRACE_RED; /* lanes that share an address go one by one */
    put(w, site, kind, flags, use, l, n, bytes >= 4, atomic ? wg_coalesce_atomic_sectors(addr, on, bytes) : 0);
}

/* Local memory lies interleaved: word k of all lanes is line k of the warp. */
static void record_local(struct wg_warp *w, const struct wg_inst *i, const uint64_t *addr, uint32_t on, unsigned bytes)
{
    struct line l[64];
    unsigned n = 0;
    for (unsigned b = 0; b < bytes; b += 4)
        for (uint32_t m = on; m; m &= m - 1) {
            unsigned lane = (unsigned)__builtin_ctz(m);
            n = touch(l, n, ((addr[lane] + b) >> 2) * 128 + lane * 4, 4);
        }
    put(w, i->site, i->k1, i->k2 | WG_TRACE_LOCAL, i->e, l, n, true, 0);
}

/* p: the access, a and f: its address, k1: enum wg_trace_kind, k2: enum wg_trace_flag, e: slots until its value is used */
H(record)
{
    const struct wg_mem_desc *d = i->p;
    uint32_t on = WG_ON;
    if (!on)
        return i + 1;
    uint64_t addr[WG_LANES];
    int64_t disp = (int64_t)(int32_t)i->f - d->position;
    unsigned bytes = d->wide ? d->wide : d->elem * d->n;
    if (d->space == WG_SITE_GLOBAL && d->acls <= WG_ADDR_A && !d->again && d->atom == WG_ATOM_NONE) {
        uint64_t base = *(const uint64_t *)(R + i->a) + (uint64_t)disp;
        int64_t stride = d->acls == WG_ADDR_A ? *(const int64_t *)(R + i->a + 8) : 0;
        struct line l[64];
        unsigned n = 0;
        if (stride == 0)
            n = touch(l, 0, base, bytes);
        else if (on == ~0u && stride == (int64_t)bytes)
            n = touch(l, 0, base, 32 * bytes);
        if (n) {
            put(w, i->site, i->k1, i->k2, i->e, l, n, bytes >= 4, 0);
            return i + 1;
        }
    }
    for (unsigned l = 0; l < 32; l++)
        addr[l] = (d->acls == WG_ADDR_S   ? *(const uint64_t *)(R + i->a)
                   : d->acls == WG_ADDR_A ? *(const uint64_t *)(R + i->a) + *(const uint64_t *)(R + i->a + 8) * l
                   : d->acls == WG_ADDR_V32 ? ((const uint32_t *)(R + i->a))[l]
                                            : ((const uint64_t *)(R + i->a))[l]) +
                  (uint64_t)disp;
    uint32_t sh = 0, lo = d->space == WG_SITE_LOCAL ? on : 0;
    if (d->space == WG_SITE_GENERIC)
        for (unsigned l = 0; l < 32; l++) {
            if (addr[l] - WG_SHARED_WINDOW < WG_WINDOW_BYTES)
                sh |= 1u << l;
            else if (addr[l] - WG_LOCAL_WINDOW < WG_WINDOW_BYTES)
                lo |= 1u << l, addr[l] -= WG_LOCAL_WINDOW;
        }
    lo &= on;
    uint32_t gl = on & ~sh & ~lo;
    if (d->atom != WG_ATOM_NONE && d->acls == WG_ADDR_S && !d->result && d->joined && gl)
        gl &= -gl; /* ptxas lets one lane go for all that add to one place */
    if (lo)
        record_local(w, i, addr, lo, bytes);
    for (unsigned k = 0; gl && k <= (d->again != 0); k++) {
        WG_ISA_NAME(wg_record_lanes)(w, i->site, i->k1, i->k2, i->e, addr, gl, bytes);
        for (unsigned l = 0; l < 32; l++)
            addr[l] += d->again;
    }
    return i + 1;
}

H(record_barrier)
{
    if (WG_ON == w->live) /* lanes that come apart meet here: the last ones do not find the others */
        event(w, WG_TRACE_BARRIER, 0, 0, 0, 0, 0, i->site, 0);
    return i + 1;
}

/* b: slots, c: cycles alone of the basic block that starts here */
H(record_block)
{
    struct wg_warp_trace *t = w->trace;
    t->slots += i->b;
    t->alone += i->c;
    w->blk->trace->slots += i->b;
    if (__builtin_expect(t->slots > WG_TRACE_SLOTS_MAX / 16 || t->alone > WG_TRACE_ALONE_MAX / 16, 0))
        event(w, WG_TRACE_COMPUTE, 0, 0, 0, 0, 0, 0, 0);
    WG_NEXT;
}
