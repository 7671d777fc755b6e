/* judge.c - rules that turn counts into advice. */
#include "report/judge.h"
#include <stdbool.h>
#include <string.h>

static bool much(uint64_t part, uint64_t whole) { return part && (double)part >= WG_JUDGE_SHARE * (double)whole; }

static void sum(const struct wg_traffic t[WG_HOW_COUNT], struct wg_traffic *out)
{
    for (int h = 0; h < WG_HOW_COUNT; h++) {
        out->requests += t[h].requests;
        out->sectors += t[h].sectors;
        out->sectors_extra += t[h].sectors_extra;
        out->wavefronts += t[h].wavefronts;
        out->wavefronts_extra += t[h].wavefronts_extra;
    }
}

/* The memories whose sectors are the programmer's to place: local memory is laid out by the compiler. */
static void sum_all(const struct wg_traffic t[WG_WHERE_COUNT][WG_HOW_COUNT], struct wg_traffic *out)
{
    *out = (struct wg_traffic){0};
    for (int w = 0; w < WG_WHERE_COUNT; w++)
        if (w != WG_WHERE_LOCAL)
            sum(t[w], out);
}

static uint64_t idle_lanes(uint64_t inst, uint64_t lanes) { return inst * 32 > lanes ? inst * 32 - lanes : 0; }

enum measure { SECTORS, WAVEFRONTS, LOCAL, LANES };
static uint64_t waste(const struct wg_line *l, enum measure m)
{
    struct wg_traffic t;
    switch (m) {
    case SECTORS:
        sum_all(l->traffic, &t);
        return t.sectors_extra;
    case WAVEFRONTS:
        return l->wavefronts_extra;
    case LOCAL:
        t = (struct wg_traffic){0};
        sum(l->traffic[WG_WHERE_LOCAL], &t);
        return t.sectors;
    default:
        return idle_lanes(l->total[WG_C_INST], l->lanes);
    }
}

static const struct wg_line *worst(const struct wg_line *lines, size_t n, enum measure m)
{
    const struct wg_line *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (waste(&lines[i], m) && (!best || waste(&lines[i], m) > waste(best, m)))
            best = &lines[i];
    return best;
}

static void try_fix(struct wg_advice *a)
{
    bool shared = !strcmp(a->unit, "wavefronts");
    const struct wg_site *s = a->line ? wg_advice_site(a->line->sites, a->line->nsites, shared) : NULL;
    if (!s || strcmp(a->waste, "extra"))
        return;
    wg_advice_try(s->worst, &a->trial);
    a->tried = a->trial.fix != WG_FIX_NONE;
}

size_t wg_judge(const struct wg_group *g, const struct wg_line *lines, size_t nlines, struct wg_advice v[WG_ADVICE_MAX])
{
    size_t n = 0;
    struct wg_traffic t, local = {0};
    sum_all(g->traffic, &t);
    sum(g->traffic[WG_WHERE_LOCAL], &local);
    if (much(t.wavefronts_extra, t.wavefronts))
        v[n++] = (struct wg_advice){"shared-memory bank conflicts", "wavefronts", "extra", t.wavefronts_extra, t.wavefronts,
                                    "lanes of a warp should meet different banks: pad the rows of the shared array by "
                                    "one element, or swizzle the column index",
                                    worst(lines, nlines, WAVEFRONTS), {0}, false};
    if (much(t.sectors_extra, t.sectors))
        v[n++] = (struct wg_advice){"uncoalesced global memory", "sectors", "extra", t.sectors_extra, t.sectors,
                                    "neighbouring lanes should touch neighbouring addresses: let threadIdx.x run along "
                                    "the contiguous index, or go through shared memory",
                                    worst(lines, nlines, SECTORS), {0}, false};
    if (much(local.sectors, t.sectors + local.sectors))
        v[n++] = (struct wg_advice){"local memory", "sectors", "its own", local.sectors, t.sectors + local.sectors,
                                    "a thread's array is indexed at run time, or its address is taken: index with "
                                    "constants (unroll) or keep it in shared memory",
                                    worst(lines, nlines, LOCAL), {0}, false};
    const uint64_t *c = g->total;
    const uint32_t *b = g->first->block;
    uint64_t threads = (uint64_t)b[0] * b[1] * b[2], warps = (threads + 31) / 32;
    if ((double)g->lanes < WG_JUDGE_LANES * (double)c[WG_C_INST]) {
        bool few = warps * 32 * 3 > threads * 4; /* the block itself leaves more than a quarter of the lanes empty */
        v[n++] = (struct wg_advice){few ? "warps that are not full" : "divergence", "lanes", "idle", idle_lanes(c[WG_C_INST], g->lanes),
                                    c[WG_C_INST] * 32,
                                    few ? "make the threads of a block a multiple of 32"
                                        : "give the lanes of a warp the same path: branch on the warp, not on the lane",
                                    few ? NULL : worst(lines, nlines, LANES), {0}, false};
    }
    for (size_t i = 0; i < n; i++)
        try_fix(&v[i]);
    for (size_t i = 1; i < n; i++) /* at most four: insertion sort, stable */
        for (size_t k = i; k && (double)v[k].part / (double)v[k].whole > (double)v[k - 1].part / (double)v[k - 1].whole; k--) {
            struct wg_advice x = v[k];
            v[k] = v[k - 1];
            v[k - 1] = x;
        }
    return n;
}

bool wg_judge_line(const struct wg_group *g, const struct wg_line *l)
{
    struct wg_traffic all, own;
    sum_all(g->traffic, &all);
    sum_all(l->traffic, &own);
    return (much(own.sectors_extra, own.sectors) && own.sectors_extra * 100 >= all.sectors) ||
           (much(l->wavefronts_extra, l->wavefronts) && l->wavefronts_extra * 100 >= all.wavefronts);
}
