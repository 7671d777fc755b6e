/* record.c - instructions that write a warp's accesses, barriers and work into its trace. Only decoded when the models
 * of caches and time are asked for. */
#include "exec/handlers.h"
#include "exec/record.h"
#include "exec/traffic.h"
#include "model/coalesce.h"
#include <string.h>

struct line { uint64_t number; uint32_t words; }; /* words: 4-byte words touched */

static uint64_t *event(struct wg_warp *w, unsigned kind, unsigned flags, unsigned nrecorded, unsigned cost,
                       unsigned sectors, unsigned use, uint32_t site, uint32_t more)
{
    return wg_trace_event(w->blk->trace, w->trace, wg_trace_word0(kind, flags, nrecorded, cost, sectors, use, site), more);
}

/* An access none of whose lines is followed, and the cycles it takes the L1. */
WG_INLINE void leave_out(struct wg_warp_trace *t, unsigned passes)
{
    t->skipped++;
    t->passes += passes;
}

/* Lines of a sample only. asked: sectors that the access asks for, when they are more than those touched; 0: as many.
 * cost: cycles of the L1 if l is not all that the access touches; 0: it is. */
static void put(struct wg_warp *w, uint32_t site, unsigned kind, unsigned flags, unsigned use, const struct line *l,
                unsigned n, bool bytes_known, unsigned asked, unsigned cost)
{
    uint32_t mask = kind == WG_TRACE_ATOM || kind == WG_TRACE_RED ? 0 : w->trace->mask; /* where lanes meet is never left out */
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
    bool whole = kept == n && !cost;
    cost = cost ? cost : passes > n / 4 + 1 ? passes : n / 4 + 1;
    w->blk->trace->l1_passes[site] = (uint8_t)cost;
    if (n && !kept && !(w->trace->timed && kind == WG_TRACE_LOAD) && w->trace->skipped < WG_TRACE_SKIPPED_MAX && w->trace->passes < WG_TRACE_PASSES_MAX - 64) {
        leave_out(w->trace, cost);
        return;
    }
    uint64_t *v = event(w, kind, flags | (whole ? WG_TRACE_WHOLE : 0u), kept, cost, asked ? asked : sectors, use, site,
                        kept + extra);
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

/* Lanes of `on` whose line is followed; ~on's are not looked at. Lanes reach into the next line only when unaligned, which
 * none does whose size is a power of two. */
WG_INLINE uint32_t followed(const uint64_t *addr, uint32_t on, uint64_t origin, uint32_t mask)
{
    uint32_t fold[WG_LANES] __attribute__((aligned(64)));
    for (int k = 0; k < WG_LANES; k++) {
        uint64_t x = (addr[k] >> 7) - origin;
        fold[k] = (uint32_t)(x ^ x >> 6 ^ x >> 12 ^ x >> 18 ^ x >> 24) & mask;
    }
    uint32_t hit = 0;
    for (int k = 0; k < WG_LANES; k++)
        hit |= (uint32_t)(fold[k] == 0) << k;
    return hit & on;
}

/* Of every 16 accesses of a site, one is worked out whole: the others take the L1 as long as that one. */
enum { WORKED_OUT = 16 };

static __attribute__((noinline)) void record_lanes(struct wg_warp *w, uint32_t site, unsigned kind, unsigned flags,
                                                   unsigned use, const uint64_t *addr, uint32_t on, unsigned bytes)
{
    struct line l[64];
    unsigned n = 0, cost = 0;
    bool atomic = kind == WG_TRACE_ATOM || kind == WG_TRACE_RED; /* lanes that share an address go one by one */
    uint32_t some = on;
    cost = w->blk->trace->l1_passes[site];
    if (!w->trace->mask || atomic || (bytes & (bytes - 1))) {
        cost = 0;
    } else if (cost) {
        some = followed(addr, on, w->lo >> 7, w->trace->mask);
        if (!some && w->trace->timed && kind == WG_TRACE_LOAD) {
            event(w, kind, flags, 0, cost, 0, use, site, 0);
            return;
        }
        if (!some && w->trace->skipped % WORKED_OUT && w->trace->skipped < WG_TRACE_SKIPPED_MAX / 2 &&
            w->trace->passes < WG_TRACE_PASSES_MAX / 2) {
            leave_out(w->trace, cost);
            return;
        }
        if (!w->trace->timed && w->trace->skipped % WORKED_OUT == 0)
            some = on, cost = 0;
    }
    for (uint32_t m = some; m; m &= m - 1)
        n = touch(l, n, addr[__builtin_ctz(m)], bytes);
    put(w, site, kind, flags, use, l, n, bytes >= 4, atomic ? wg_coalesce_atomic_sectors(addr, on, bytes) : 0, cost);
}

void WG_ISA_NAME(wg_record_lanes)(struct wg_warp *w, uint32_t site, unsigned kind, unsigned flags, unsigned use,
                                  const uint64_t *addr, uint32_t on, unsigned bytes)
{
    if (on && w->trace)
        record_lanes(w, site, kind, flags, use, addr, on, bytes);
}

/* Local memory lies interleaved: word k of all lanes is line k of the warp. */
static void record_local(struct wg_warp *w, const struct wg_inst *i, const uint64_t *addr, uint32_t on, unsigned bytes)
{
    struct line l[64];
    unsigned n = 0;
    uint64_t apart = 0;
    for (uint32_t m = on; m; m &= m - 1)
        apart |= addr[__builtin_ctz(m)] ^ addr[__builtin_ctz(on)];
    for (unsigned b = 0; b < bytes; b += 4) {
        uint64_t word = addr[__builtin_ctz(on)] + b;
        if (!apart) {
            l[n++] = (struct line){word >> 2, on};
            continue;
        }
        for (uint32_t m = on; m; m &= m - 1) {
            unsigned lane = (unsigned)__builtin_ctz(m);
            n = touch(l, n, ((addr[lane] + b) >> 2) * 128 + lane * 4, 4);
        }
    }
    put(w, i->site, i->k1, i->k2 | WG_TRACE_LOCAL, i->e, l, n, true, 0, 0);
}

/* One run of bytes, by all lanes together. */
static __attribute__((noinline)) void record_run(struct wg_warp *w, const struct wg_inst *i, uint64_t base, unsigned span,
                                                 unsigned bytes)
{
    struct line l[64];
    unsigned n = touch(l, 0, base, span);
    put(w, i->site, i->k1, i->k2, i->e, l, n, bytes >= 4, 0, 0);
}

static __attribute__((noinline)) void record_any(struct wg_warp *w, const struct wg_inst *i, const char *R,
                                                 uint32_t on)
{
    const struct wg_mem_desc *d = i->p;
    uint64_t addr[WG_LANES] __attribute__((aligned(64)));
    int64_t disp = (int64_t)(int32_t)i->f - d->position;
    unsigned bytes = d->wide ? d->wide : d->elem * d->n;
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
        record_lanes(w, i->site, i->k1, i->k2, i->e, addr, gl, bytes);
        for (unsigned l = 0; l < 32; l++)
            addr[l] += d->again;
    }
}

/* What comes after i in its block, up to the next instruction that records: b slots, c cycles alone. */
static __attribute__((noinline, cold)) void record_compute(struct wg_warp *w) { event(w, WG_TRACE_COMPUTE, 0, 0, 0, 0, 0, 0, 0); }
WG_INLINE void record_work(struct wg_warp *w, const struct wg_inst *i)
{
    struct wg_warp_trace *t = w->trace;
    t->slots += i->b;
    t->alone += i->c;
    if (__builtin_expect((t->slots > WG_TRACE_SLOTS_MAX / 4) | (t->alone > WG_TRACE_ALONE_MAX / 4), 0))
        record_compute(w);
}

/* p: the access, a and f: its address, k1: enum wg_trace_kind, k2: enum wg_trace_flag, e: slots until its value is used */
H(record)
{
    const struct wg_mem_desc *d = i->p;
    uint32_t on = WG_ON;
    struct wg_warp_trace *t = w->trace;
    if (d->space != WG_SITE_GLOBAL || d->acls > WG_ADDR_A || d->again || d->atom != WG_ATOM_NONE) {
        if (on)
            record_any(w, i, R, on);
        record_work(w, i);
        WG_NEXT;
    }
    unsigned bytes = d->wide ? d->wide : d->elem * d->n;
    uint64_t base = *(const uint64_t *)(R + i->a) + (uint64_t)((int64_t)(int32_t)i->f - d->position);
    int64_t stride = d->acls == WG_ADDR_A ? *(const int64_t *)(R + i->a + 8) : 0;
    unsigned span = stride == 0 ? bytes : on == ~0u && stride == (int64_t)bytes ? 32 * bytes : 0;
    if (!on) {
    } else if (!span) {
        record_any(w, i, R, on);
    } else {
        uint64_t first = base >> 7, n = ((base + span - 1) >> 7) - first + 1;
        bool any = !t->mask || t->skipped >= WG_TRACE_SKIPPED_MAX;
        for (uint64_t k = 0; k < n && !any; k++)
            any |= !(wg_trace_fold(first + k - (w->lo >> 7)) & t->mask);
        if (any)
            record_run(w, i, base, span, bytes);
        else if (t->timed && i->k1 == WG_TRACE_LOAD)
            event(w, WG_TRACE_LOAD, i->k2, 0, (unsigned)n / 4 + 1, 0, i->e, i->site, 0);
        else
            leave_out(t, (unsigned)n / 4 + 1);
    }
    record_work(w, i);
    WG_NEXT;
}

H(record_barrier)
{
    if (WG_ON == w->live) { /* lanes that come apart meet here: the last ones do not find the others */
        wg_traffic_shared(w);
        event(w, WG_TRACE_BARRIER, 0, 0, 0, 0, 0, i->site, 0);
    }
    record_work(w, i);
    return i + 1;
}

/* A basic block starts here. */
H(record_block)
{
    record_work(w, i);
    WG_NEXT;
}
