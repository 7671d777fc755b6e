/* advice_memory.c - advice on single lines and arrays: bank conflicts, and sectors that nobody asked for. */
#include "model/coalesce.h"
#include "model/occupancy.h"
#include "report/escape.h"
#include "report/items.h"
#include "report/layout.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- shared arrays ---- */
static void occupancy_cost(const struct wg_items *x, uint64_t more, char *buf, size_t n)
{
    const struct wg_launch_result *l = x->g->first;
    struct wg_occupancy_query q = {.threads = l->block[0] * l->block[1] * l->block[2], .regs = l->registers, .carveout = -1,
                                   .static_shared = l->static_shared, .dynamic_shared = l->dynamic_shared};
    struct wg_occupancy a, b;
    buf[0] = 0;
    if (!x->gpu || !q.threads)
        return;
    wg_occupancy(x->gpu->cc, &q, &a);
    q.static_shared += more;
    wg_occupancy(x->gpu->cc, &q, &b);
    if (b.blocks != a.blocks)
        snprintf(buf, n, ", occupancy %.4g %% instead of %.4g %%", 100 * b.occupancy, 100 * a.occupancy);
}

static unsigned smallest(const struct wg_items *x, const struct wg_shared_array *a)
{
    unsigned least = 16;
    for (size_t i = 0; i < x->g->first->nsites; i++) {
        const struct wg_site *s = &x->g->sites[i];
        if (wg_layout_array_of(x->g->first, s) == a && s->access_bytes && s->access_bytes < least)
            least = s->access_bytes;
    }
    return least;
}

static void say_layout(struct wg_items *x, const struct wg_line *line, const struct wg_shared_array *a, const struct wg_layout *y,
                       const struct wg_layout_result *r, unsigned tried, const char *dims, uint64_t declared)
{
    const struct wg_launch_result *l = x->g->first;
    uint64_t more = y->pad ? wg_layout_bytes(l, a) / y->row * y->pad : 0;
    struct wg_item *it = wg_items_add(x, y->pad ? WG_ADVICE_PAD : WG_ADVICE_SWIZZLE, declared ? WG_SURE_CERTAIN : WG_SURE_LIKELY);
    char b[WG_NUMBER_BYTES], c[WG_NUMBER_BYTES], price[128];
    if (!it)
        return;
    it->line = line;
    snprintf(it->found, sizeof it->found, "lanes of a warp meet in banks of %s%s: %s wavefronts where %s would do", a->name, dims,
             wg_format_count(b, r->before), wg_format_count(c, r->ideal));
    occupancy_cost(x, more, price, sizeof price);
    if (y->pad)
        snprintf(it->fix, sizeof it->fix, "pad rows of %s, %" PRIu64 " bytes long, by %u bytes: costs %s bytes a block%s", a->name,
                 y->row, y->pad, wg_format_count(b, more), price);
    else
        snprintf(it->fix, sizeof it->fix, "in every access to %s, exclusive-or the column, counted in %u bytes, with (row & %u), rows being "
                 "%" PRIu64 " bytes long: costs no memory", a->name, y->unit, y->mask, y->row);
    snprintf(it->proof, sizeof it->proof, "tried %u layouts on every access of %s: wavefronts of %s %s -> %s (%s)", tried,
             r->exact ? "the launch" : "block 0", a->name, wg_format_count(b, r->before), wg_format_count(c, r->after),
             r->exact ? "exact" : r->alike ? "modelled: block 0 stands for the others, which count the same"
                                           : "modelled: block 0 stands for the others, which differ");
    if (!r->alike)
        it->sure = WG_SURE_LIKELY;
    struct wg_work w = x->gain.work;
    w.wavefronts -= (double)(r->before - r->after) / (double)x->g->nlaunches;
    it->faster = x->open ? wg_gain_work(&x->gain, &w) : (struct wg_faster){1, 1};
}

/* A line that wastes half of its traffic and much of the kernel's, though nothing is known to help. */
static void unfixed(struct wg_items *x, const struct wg_line *line, uint64_t extra, uint64_t own, uint64_t all, const char *why)
{
    char place[128];
    if (extra * 2 >= own && extra * 5 >= all && x->nunfixed < 8 && *wg_items_place(x, line, place))
        snprintf(x->unfixed[x->nunfixed++], sizeof *x->unfixed, "%s: %s", place, why);
}

static void one_array(struct wg_items *x, const struct wg_line *line, const struct wg_shared_array *a)
{
    const struct wg_launch_result *l = x->g->first;
    char dims[64] = "";
    uint64_t row = wg_layout_declared(x->view->p, l, a, smallest(x, a), dims);
    struct wg_layout_best best;
    wg_layout_best(l, x->g->sites, a, row ? &row : NULL, row != 0, &best);
    uint64_t before = best.padded.before;
    bool pad = best.padded.state == WG_LAYOUT_TRIED && best.pad.row && best.padded.after * 10 <= before * 9,
         xor = best.swizzled.state == WG_LAYOUT_TRIED && best.swizzle.row && best.swizzled.after * 10 <= before * 9;
    char price[128] = "";
    if (pad)
        occupancy_cost(x, wg_layout_bytes(l, a) / best.pad.row * best.pad.pad, price, sizeof price);
    if (xor && (!pad || best.swizzled.after < best.padded.after || (*price && best.swizzled.after == best.padded.after)))
        say_layout(x, line, a, &best.swizzle, &best.swizzled, best.tried, dims, row);
    else if (pad)
        say_layout(x, line, a, &best.pad, &best.padded, best.tried, dims, row);
    else
        unfixed(x, line, line->wavefronts_extra, line->wavefronts, x->g->total[WG_C_WAVEFRONTS],
                 best.padded.state == WG_LAYOUT_TRIED ? "no padding or swizzle of the array helps its bank conflicts"
                : best.padded.state == WG_LAYOUT_UNSEEN
                    ? "bank conflicts, but other instructions use shared memory whose lanes are not recorded (ldmatrix and the like)"
                    : "bank conflicts, but the accesses are too many kinds to try layouts on");
}

static void shared_arrays(struct wg_items *x)
{
    const struct wg_launch_result *l = x->g->first;
    for (size_t k = 0; k < l->narrays; k++) {
        const struct wg_line *worst = NULL;
        uint64_t most = 0;
        for (size_t i = 0; i < x->lines->n; i++) {
            const struct wg_line *line = &x->lines->v[i];
            uint64_t extra = 0;
            for (size_t s = 0; s < line->nsites; s++)
                if (line->sites[s]->patterns && wg_layout_array_of(l, line->sites[s]) == &l->arrays[k] &&
                    line->sites[s]->c[WG_C_WAVEFRONTS] > line->sites[s]->c[WG_C_WAVEFRONTS_IDEAL])
                    extra += line->sites[s]->c[WG_C_WAVEFRONTS] - line->sites[s]->c[WG_C_WAVEFRONTS_IDEAL];
            if (extra > most && wg_judge_line(x->g, line))
                most = extra, worst = line;
        }
        if (worst)
            one_array(x, worst, &l->arrays[k]);
    }
}

/* Where no array is known, as in a profile of an earlier version: what padding does to the worst access alone. */
static void one_access(struct wg_items *x, const struct wg_line *line)
{
    const struct wg_site *s = wg_advice_site(line->sites, line->nsites, true);
    struct wg_trial t;
    if (!s || !wg_judge_line(x->g, line) || wg_layout_array_of(x->g->first, s))
        return;
    wg_advice_try(s->worst, &t);
    if (t.fix != WG_FIX_PAD) {
        unfixed(x, line, line->wavefronts_extra, line->wavefronts, x->g->total[WG_C_WAVEFRONTS], t.text);
        return;
    }
    struct wg_item *it = wg_items_add(x, WG_ADVICE_PAD, WG_SURE_MAYBE);
    const char *colon = strchr(t.text, ':');
    if (!it || !colon)
        return;
    it->line = line;
    it->text = s->text;
    uint64_t saved = (uint64_t)((double)wg_advice_extra(s) * (t.before - t.after) / (s->worst->cost - s->worst->ideal));
    snprintf(it->found, sizeof it->found, "%.*s", (int)(colon - t.text), t.text);
    snprintf(it->fix, sizeof it->fix, "%s", colon + 2);
    snprintf(it->proof, sizeof it->proof, "tried on its worst access alone: %" PRIu32 " wavefronts -> %" PRIu32 " (modelled)", t.before, t.after);
    struct wg_work w = x->gain.work;
    w.wavefronts -= (double)saved / (double)x->g->nlaunches;
    it->faster = x->open ? wg_gain_work(&x->gain, &w) : (struct wg_faster){1, 1};
}

/* ---- global memory ---- */
/* Sites that read (or write) one structure: the same register, the same distance between lanes. */
struct members { size_t n; const struct wg_site *v[64]; int64_t low, high; uint64_t used; };

static bool even(const struct wg_worst *w, int64_t *stride)
{
    unsigned seen = 0, last = 0;
    for (unsigned i = 0; i < 32; i++) {
        if (!(w->mask >> i & 1))
            continue;
        if (seen++) {
            int64_t d = (int64_t)(w->offset[i] - w->offset[last]);
            if (i != last + 1 || (seen > 2 && d != *stride))
                return false;
            *stride = d;
        }
        last = i;
    }
    return seen > 1;
}

static bool is_global(const struct wg_site *s) { return s->space == WG_SITE_GLOBAL && s->worst && !s->worst->shared; }

static void find_members(const struct wg_items *x, size_t at, int64_t size, struct members *m)
{
    const struct wg_flow_site *f = x->flow.site;
    const struct wg_site *s = x->g->sites;
    int64_t stride = 0, start = f[at].offset;
    /* where the structure begins: addresses tell when its size divides a line; else the lowest of its members does */
    if (128 % size == 0)
        start -= (int64_t)(s[at].worst->offset[__builtin_ctz(s[at].worst->mask)] % (uint64_t)size);
    else
        for (size_t i = 0; i < x->g->first->nsites; i++)
            if (s[i].kind == s[at].kind && is_global(&s[i]) && f[i].base == f[at].base && f[i].offset < start &&
                f[i].offset > f[at].offset - size)
                start = f[i].offset;
    *m = (struct members){.low = INT64_MAX, .high = INT64_MIN};
    for (size_t i = 0; i < x->g->first->nsites && m->n < 64; i++)
        if (s[i].kind == s[at].kind && is_global(&s[i]) && f[i].base == f[at].base && f[i].offset >= start &&
            f[i].offset < start + size && s[i].c[WG_C_INST] == s[at].c[WG_C_INST] &&
            even(s[i].worst, &stride) && stride == size) {
            m->v[m->n++] = &s[i];
            m->low = f[i].offset < m->low ? f[i].offset : m->low;
            m->high = f[i].offset + s[i].worst->bytes > m->high ? f[i].offset + s[i].worst->bytes : m->high;
        }
    if (m->n && m->high - m->low <= 64)
        for (size_t k = 0; k < m->n; k++)
            m->used |= ((m->v[k]->worst->bytes < 64 ? (uint64_t)1 << m->v[k]->worst->bytes : 0) - 1)
                       << (f[m->v[k] - s].offset - m->low);
}

static uint32_t sectors_of(const struct wg_worst *w, unsigned bytes, int64_t from)
{
    uint64_t addr[32];
    struct wg_coalesce c;
    for (unsigned i = 0; i < 32; i++)
        addr[i] = w->offset[i] + (uint64_t)from + 4096;
    wg_coalesce(addr, w->mask, bytes, &c);
    return c.sectors;
}

/* What wide accesses would save, over the structures of a line. */
struct wide { uint64_t before, after, fewer, tags; size_t members; unsigned bytes, wide; int64_t span; };

/* All bytes of neighbouring members are used: wide accesses. False where that does not fit. */
static bool add_wide(const struct wg_items *x, const struct members *m, int64_t size, struct wide *out)
{
    const struct wg_flow_site *f = x->flow.site;
    int64_t span = m->high - m->low;
    unsigned wide = 16;
    if (m->n < 2 || span > 64 || m->used != (span < 64 ? ((uint64_t)1 << span) - 1 : UINT64_MAX))
        return false;
    const struct wg_site *first = m->v[0];
    for (size_t k = 1; k < m->n; k++)
        if (f[m->v[k] - x->g->sites].offset < f[first - x->g->sites].offset)
            first = m->v[k];
    const struct wg_worst *w = first->worst;
    while (wide > w->bytes && (size % wide || span % wide || w->offset[__builtin_ctz(w->mask)] % wide))
        wide /= 2;
    if (wide <= w->bytes)
        return false;
    uint64_t requests = 0;
    for (size_t k = 0; k < m->n; k++)
        out->before += m->v[k]->c[WG_C_SECTORS], requests += m->v[k]->c[WG_C_ACCESS], out->tags += m->v[k]->c[WG_C_TAGS];
    for (int64_t k = 0; k < span; k += wide)
        out->after += (uint64_t)sectors_of(w, wide, k) * first->c[WG_C_ACCESS];
    out->fewer += requests - (uint64_t)(span / wide) * first->c[WG_C_ACCESS];
    out->members = m->n;
    out->bytes = w->bytes;
    out->wide = wide;
    out->span = span;
    return true;
}

static void say_wide(struct wg_items *x, const struct wg_line *line, const struct wide *v)
{
    struct wg_item *it = wg_items_add(x, WG_ADVICE_VECTOR, WG_SURE_CERTAIN);
    if (!it)
        return;
    char b[WG_NUMBER_BYTES], c[WG_NUMBER_BYTES];
    it->line = line;
    snprintf(it->found, sizeof it->found, "%zu accesses of %u bytes together use %" PRId64 " neighbouring bytes of each lane, all of them",
             v->members, v->bytes, v->span);
    snprintf(it->fix, sizeof it->fix, "make them %s of %u bytes (%s, or a structure with __align__(%u)): the addresses allow it",
             v->span == v->wide ? "one access" : "accesses", v->wide, v->wide == 16 ? "float4" : "float2", v->wide);
    snprintf(it->proof, sizeof it->proof, "tried on their worst accesses: the line's %s sectors would be %s (modelled); device memory moves the same",
             wg_format_count(b, v->before), wg_format_count(c, v->after));
    double n = (double)x->g->nlaunches;
    struct wg_work w = x->gain.work;
    w.instructions -= (double)v->fewer / n;
    w.lines -= ((double)v->tags - (double)v->after / 4) / n;
    if (!x->gain.timed)
        w.l2 -= (double)(v->before - v->after) / n;
    it->faster = x->open ? wg_gain_work(&x->gain, &w) : (struct wg_faster){1, 1};
}

static const enum wg_advice_kind kind_of[] = {[WG_FIX_ALIGN] = WG_ADVICE_ALIGN, [WG_FIX_ARRAYS] = WG_ADVICE_ARRAYS,
                                              [WG_FIX_SWAP] = WG_ADVICE_SWAP, [WG_FIX_WIDEN] = WG_ADVICE_WIDEN};

/* Of the sectors that a memory moves beyond what was asked for, those that `saved` of the extra ones are to blame for. */
static double spared(const struct wg_items *x, uint64_t saved, double moved)
{
    uint64_t extra = 0, used = 0;
    for (size_t i = 0; i < x->g->first->nsites; i++) {
        const uint64_t *c = x->g->sites[i].c;
        extra += c[WG_C_SECTORS] > c[WG_C_SECTORS_IDEAL] ? c[WG_C_SECTORS] - c[WG_C_SECTORS_IDEAL] : 0;
        used += c[WG_C_SECTORS_IDEAL];
    }
    double waste = moved - (double)used / (double)x->g->nlaunches;
    return waste > 0 && extra ? waste * (double)saved / (double)extra : 0;
}

static void global_line(struct wg_items *x, const struct wg_line *line)
{
    uint64_t before = 0, after = 0, tags = 0;
    const struct wg_site *worst = wg_advice_site(line->sites, line->nsites, false);
    struct wg_trial best;
    if (!worst)
        return;
    wg_advice_try(worst->worst, &best);
    for (size_t i = 0; i < line->nsites; i++) {
        const struct wg_site *s = line->sites[i];
        struct wg_trial t;
        before += s->c[WG_C_SECTORS];
        uint64_t extra = s->c[WG_C_SECTORS] > s->c[WG_C_SECTORS_IDEAL] ? s->c[WG_C_SECTORS] - s->c[WG_C_SECTORS_IDEAL] : 0;
        if (!is_global(s) || s->worst->cost <= s->worst->ideal) {
            after += s->c[WG_C_SECTORS];
            continue;
        }
        wg_advice_try(s->worst, &t);
        uint64_t saved = (uint64_t)((double)extra * (t.before - t.after) / (s->worst->cost - s->worst->ideal));
        saved = saved < extra ? saved : extra;
        after += s->c[WG_C_SECTORS] - saved;
        double lines = (double)s->c[WG_C_SECTORS] - (double)saved;
        tags += (double)s->c[WG_C_TAGS] > lines / 4 ? (uint64_t)((double)s->c[WG_C_TAGS] - lines / 4) : 0;
    }
    if (best.fix == WG_FIX_NONE) {
        unfixed(x, line, line->sectors_extra, before, x->g->total[WG_C_SECTORS], best.text);
        return;
    }
    if (best.fix == WG_FIX_ALIGN && !x->gain.timed)
        return; /* worth something only where memory moves more for it, which takes the models to see */
    struct wg_item *it = wg_items_add(x, kind_of[best.fix], best.fix == WG_FIX_ALIGN || best.fix == WG_FIX_ARRAYS ? WG_SURE_CERTAIN
                                                                                                                  : WG_SURE_LIKELY);
    if (!it)
        return;
    char b[WG_NUMBER_BYTES], c[WG_NUMBER_BYTES];
    it->line = line;
    it->text = worst->text;
    const char *colon = strchr(best.text, ':');
    snprintf(it->found, sizeof it->found, "%.*s", colon ? (int)(colon - best.text) : 0, best.text);
    snprintf(it->fix, sizeof it->fix, "%s", colon ? colon + 2 : best.text);
    int64_t size = 0;
    struct members m;
    size_t at = (size_t)(worst - x->g->sites);
    if (best.fix == WG_FIX_ARRAYS && x->flow.site[at].base != UINT32_MAX && even(worst->worst, &size) && size > 0 && size <= 64) {
        find_members(x, at, size, &m);
        snprintf(it->found, sizeof it->found, "lanes take structures of %" PRId64 " bytes, of which the kernel %s %d here", size,
                 worst->kind == WG_SITE_STORE ? "writes" : "reads", __builtin_popcountll(m.used));
        snprintf(it->fix, sizeof it->fix, "keep each member that is used in an array of its own");
    }
    snprintf(it->proof, sizeof it->proof, "tried on its worst access: %" PRIu32 " sectors -> %" PRIu32 "; the line's %s would be %s (modelled)",
             best.before, best.after, wg_format_count(b, before), wg_format_count(c, after));
    struct wg_work w = x->gain.work;
    double n = (double)x->g->nlaunches;
    /* a whole request that begins off a sector costs the load/store unit nothing that an H200 shows (tools/advice_hw, pair
     * align: 2 %), and the caches keep what it shares with its neighbours */
    bool shifted = best.fix == WG_FIX_ALIGN;
    w.lines -= shifted ? 0 : (double)tags / n;
    w.l2 -= x->gain.timed ? spared(x, before - after, w.l2) : (double)(before - after) / n;
    w.dram -= 32 * spared(x, before - after, w.dram / 32);
    it->faster = x->open ? wg_gain_work(&x->gain, &w) : (struct wg_faster){1, 1};
}

/* Structures whose members the line reads one by one; marks the sites in done. */
static bool wide_line(struct wg_items *x, const struct wg_line *line, uint8_t *done)
{
    struct wide v = {0};
    for (size_t i = 0; i < line->nsites; i++) {
        const struct wg_site *s = line->sites[i];
        size_t at = (size_t)(s - x->g->sites);
        int64_t size = 0;
        struct members m;
        if (!is_global(s) || done[at] || x->flow.site[at].base == UINT32_MAX || !even(s->worst, &size) || size <= s->worst->bytes || size > 64)
            continue;
        find_members(x, at, size, &m);
        bool fits = add_wide(x, &m, size, &v);
        for (size_t k = 0; fits && k < m.n; k++)
            done[m.v[k] - x->g->sites] = 1;
    }
    if (!v.before || v.after * 10 > v.before * 9)
        return false;
    say_wide(x, line, &v);
    return true;
}

void wg_advice_memory(struct wg_items *x)
{
    uint8_t *done = wg_calloc(x->g->first->nsites + 1, 1);
    if (!done)
        return;
    shared_arrays(x);
    for (size_t i = 0; i < x->lines->n; i++) {
        const struct wg_line *line = &x->lines->v[i];
        if (line->wavefronts_extra)
            one_access(x, line);
        if (!line->sectors_extra || !wg_judge_line(x->g, line) || wide_line(x, line, done))
            continue;
        const struct wg_site *s = wg_advice_site(line->sites, line->nsites, false);
        if (s && !done[s - x->g->sites])
            global_line(x, line);
    }
    free(done);
}
