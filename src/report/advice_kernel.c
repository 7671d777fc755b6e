/* advice_kernel.c - advice on what a kernel does as a whole: divergence, barriers, reuse of shared memory, pipelines. */
#include "model/occupancy.h"
#include "report/escape.h"
#include "report/items.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static double machine(const struct wg_launch_result *l, const struct wg_site *s) { return l->machine ? s->machine / 100.0 : 1; }

/* ---- divergence ---- */
/* Warp instructions that a site would take if its lanes came in full warps. */
static uint64_t packed(const struct wg_site *s)
{
    uint64_t full = (s->c[WG_C_THREAD_INST] + 31) / 32;
    return full < s->c[WG_C_INST] ? full : s->c[WG_C_INST];
}

static void divergence(struct wg_items *x)
{
    const struct wg_launch_result *l = x->g->first;
    uint64_t by_data = 0, by_thread = 0, before = 0, after = 0;
    const struct wg_site *worst = NULL;
    double saved = 0;
    uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    if (threads % 32)
        return; /* lanes that are not there are no divergence */
    for (size_t i = 0; i < l->nsites; i++) {
        const struct wg_site *s = &x->g->sites[i];
        before += s->c[WG_C_INST];
        after += packed(s);
        saved += (double)(s->c[WG_C_INST] - packed(s)) * machine(l, s);
        uint64_t split = s->c[WG_C_BRANCH_DIVERGENT];
        if (!split || x->flow.site[i].guard == UINT32_MAX)
            continue;
        uint8_t from = x->flow.origin[x->flow.site[i].guard];
        *(from & WG_FROM_DATA ? &by_data : &by_thread) += split;
        if (!worst || split > worst->c[WG_C_BRANCH_DIVERGENT])
            worst = s;
    }
    if (!worst || (before - after) * 10 < before)
        return;
    bool data = by_data >= by_thread;
    struct wg_work w = x->gain.work;
    w.instructions -= saved / (double)x->g->nlaunches;
    struct wg_faster f = x->open ? wg_gain_work(&x->gain, &w) : (struct wg_faster){1, 1};
    if (x->open && f.high < 1.05)
        return;
    struct wg_item *it = wg_items_add(x, data ? WG_ADVICE_SORT : WG_ADVICE_NEIGHBOURS, WG_SURE_MAYBE);
    char b[WG_NUMBER_BYTES], c[WG_NUMBER_BYTES];
    if (!it)
        return;
    it->line = wg_items_line(x, worst);
    it->text = worst->text;
    uint64_t all = worst->c[WG_C_BRANCH_DIVERGENT] + worst->c[WG_C_BRANCH_UNIFORM];
    snprintf(it->found, sizeof it->found, "this branch splits %s of the %s warps that reach it, %s", wg_format_count(b, worst->c[WG_C_BRANCH_DIVERGENT]),
             wg_format_count(c, all), data ? "by what the data say" : "by the number of the thread");
    snprintf(it->fix, sizeof it->fix, "%s", data ? "sort the data by the branch they will take, or give each path a kernel and a list of its elements"
                                                 : "number the threads so that those that take one path are neighbours: "
                                                   "whole warps then work, and whole warps have nothing to do");
    snprintf(it->proof, sizeof it->proof, "lanes of one path in full warps: warp instructions %s -> %s at best (modelled)", wg_format_count(b, before),
             wg_format_count(c, after));
    it->faster = f;
}

/* ---- barriers ---- */
static void barriers(struct wg_items *x)
{
    const struct wg_launch_result *l = x->g->first;
    uint64_t all = 0;
    for (size_t i = 0; i < l->nsites; i++)
        all += x->g->sites[i].kind == WG_SITE_BARRIER ? x->g->sites[i].c[WG_C_INST] : 0;
    for (size_t i = 0; i < x->lines->n; i++) {
        const struct wg_line *line = &x->lines->v[i];
        uint64_t here = 0, idle = 0;
        for (size_t k = 0; k < line->nsites; k++) {
            uint64_t n = line->sites[k]->kind == WG_SITE_BARRIER ? line->sites[k]->c[WG_C_INST] : 0;
            here += n;
            idle += line->sites[k]->idle ? n : 0;
        }
        /* one line may be many barriers, loops being unrolled: the last of a loop alone is not worth a word */
        if (!idle || idle * 10 < here * 9)
            continue;
        /* A barrier ends what its warps do at once. Where one comes every 16 instructions the time goes with their number:
         * an H200 took 1.4 times as long for three in a round as for two (tools/advice_hw, pair barrier). */
        double share = (double)idle / (double)all, often = 16.0 * (double)all / (double)x->g->total[WG_C_INST];
        struct wg_faster f = {1, 1 / (1 - 0.95 * share * (often < 1 ? often : 1))};
        struct wg_item *it = wg_items_add(x, WG_ADVICE_BARRIER, WG_SURE_CERTAIN);
        char b[WG_NUMBER_BYTES], c[WG_NUMBER_BYTES];
        if (!it)
            return;
        it->line = line;
        snprintf(it->found, sizeof it->found, "this barrier orders nothing: on no path do threads share shared or global memory across it");
        snprintf(it->fix, sizeof it->fix, "leave it out");
        snprintf(it->proof, sizeof it->proof, "read off the code between barriers, for any data; %s of the %s barriers that warps execute go (%s)",
                 wg_format_count(b, idle), wg_format_count(c, all), wg_items_exact(x));
        it->faster = f;
    }
}

/* ---- reuse: multiply-adds whose two factors come from shared memory ---- */
static bool from_shared(const struct wg_items *x, uint32_t reg)
{
    uint32_t at = wg_flow_def(&x->flow, reg);
    return at != UINT32_MAX && x->g->sites[at].space == WG_SITE_SHARED && x->g->sites[at].kind == WG_SITE_LOAD;
}

static void rectangle(struct wg_items *x)
{
    const struct wg_launch_result *l = x->g->first;
    uint64_t products = 0, waves = 0, loads = 0, extra = 0;
    const struct wg_site *where = NULL;
    unsigned bytes = 4;
    for (size_t i = 0; i < l->nsites; i++) {
        const struct wg_site *s = &x->g->sites[i];
        const struct wg_flow_site *f = &x->flow.site[i];
        if (s->space == WG_SITE_SHARED && s->kind == WG_SITE_LOAD) {
            waves += s->c[WG_C_WAVEFRONTS];
            extra += s->c[WG_C_WAVEFRONTS] - s->c[WG_C_WAVEFRONTS_IDEAL];
            loads += s->c[WG_C_THREAD_INST_ON];
        }
        if (strncmp(s->opcode, "fma.", 4) || f->nin < 3 || !from_shared(x, f->in[0]) || !from_shared(x, f->in[1]))
            continue;
        products += s->c[WG_C_INST];
        bytes = strstr(s->opcode, "f64") ? 8 : 4;
        where = !where || s->c[WG_C_INST] > where->c[WG_C_INST] ? s : where;
    }
    uint64_t lanes = products * 32, warps = (l->block[0] * l->block[1] * l->block[2] + 31) / 32;
    if (!where || products * 20 < x->g->total[WG_C_INST] || loads < lanes || extra * 10 > waves || !x->open ||
        wg_gain_unit(&x->gain) == WG_UNIT_DRAM)
        return;
    /* The largest square of results that leaves every SM a few warps. */
    unsigned side = 4;
    double words = (double)loads / (double)lanes, all = (double)l->grid[0] * l->grid[1] * l->grid[2] * (double)warps;
    while (side > 1 && all / (side * side) < 12 * x->gpu->sms)
        side /= 2;
    double then = 2.0 / side; /* side + side values for side x side products */
    if (words < 1.5 || side < 2)
        return;
    struct wg_work w = x->gain.work;
    double less = (double)waves * (1 - then / words) / (double)x->g->nlaunches;
    w.wavefronts -= less;
    w.instructions -= less * 0.5; /* some of the loads are joined */
    struct wg_faster f = wg_gain_work(&x->gain, &w);
    f.low = 1 + (f.low - 1) * 0.4; /* fewer warps hide less */
    struct wg_item *it = f.high >= 1.1 ? wg_items_add(x, WG_ADVICE_LARGER, WG_SURE_LIKELY) : NULL;
    char b[WG_NUMBER_BYTES], c[WG_NUMBER_BYTES];
    if (!it)
        return;
    it->line = wg_items_line(x, where);
    snprintf(it->found, sizeof it->found, "each multiply-add reads %.3g values of shared memory: %.3g bytes for 2 flops", words, words * bytes);
    snprintf(it->fix, sizeof it->fix, "let a thread make %u x %u results in registers, from a tile as much larger: %u values then serve %u "
             "multiply-adds (`warpgrind tile --rect %ux%u`), and the tile reads less global memory", side, side, 2 * side, side * side, side, side);
    snprintf(it->proof, sizeof it->proof, "arithmetic of %u x %u: wavefronts of shared loads %s -> %s (modelled)", side, side, wg_format_count(b, waves),
             wg_format_count(c, (uint64_t)((double)waves * then / words)));
    it->faster = f;
}

/* ---- pipelines: tiles that are waited for ---- */
static void stages(struct wg_items *x)
{
    const struct wg_launch_result *l = x->g->first;
    const uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2] * x->g->nlaunches;
    uint64_t staged = 0, warps = (l->block[0] * l->block[1] * l->block[2] + 31) / 32;
    const struct wg_site *where = NULL;
    for (size_t i = 0; i < l->nsites; i++) {
        const struct wg_site *s = &x->g->sites[i];
        if (s->kind == WG_SITE_ASYNC)
            return; /* it has one */
        if (s->space != WG_SITE_SHARED || s->kind != WG_SITE_STORE || !x->flow.site[i].nin)
            continue;
        uint32_t at = wg_flow_def(&x->flow, x->flow.site[i].in[x->flow.site[i].nin - 1]);
        if (at == UINT32_MAX || x->g->sites[at].space != WG_SITE_GLOBAL || x->g->sites[at].kind != WG_SITE_LOAD)
            continue;
        staged += s->c[WG_C_INST];
        where = !where || s->c[WG_C_INST] > where->c[WG_C_INST] ? s : where;
    }
    /* tiles one after another: several stores a warp, with two barriers for each */
    if (!where || !x->open || !x->gain.timed || !blocks || x->g->barriers < 8 * warps * blocks || staged < 4 * warps * blocks ||
        x->gpu->cc->major < 8)
        return;
    /* Each tile costs its block a trip to memory that only other blocks of the SM can hide. */
    struct wg_occupancy_query q = {.threads = l->block[0] * l->block[1] * l->block[2], .regs = l->registers, .carveout = -1,
                                   .static_shared = l->static_shared, .dynamic_shared = l->dynamic_shared};
    struct wg_occupancy o;
    wg_occupancy(x->gpu->cc, &q, &o);
    double each = (double)l->grid[0] * l->grid[1] * l->grid[2] / x->gain.sms, at_once = o.blocks < each ? o.blocks : each;
    double tiles = (double)x->g->barriers / 2 / (double)(warps * blocks), trip = x->gpu->l2_latency > 0 ? x->gpu->l2_latency : 250;
    if (l->modelled[WG_MODELLED_DRAM_READ] > 0.2 * 32 * l->modelled[WG_MODELLED_L2_READ])
        trip = x->gpu->dram_latency > 0 ? x->gpu->dram_latency : 600;
    double wait = o.blocks ? tiles * trip * each / at_once / (at_once * x->gain.cycles) : 0;
    struct wg_faster f = wg_gain_waiting(&x->gain, wait);
    struct wg_item *it = wait >= 0.2 && f.high >= 1.15 ? wg_items_add(x, WG_ADVICE_STAGES, WG_SURE_MAYBE) : NULL;
    if (!it)
        return;
    it->line = wg_items_line(x, where);
    it->text = where->text;
    char c[WG_NUMBER_BYTES];
    snprintf(it->found, sizeof it->found, "each of %.0f tiles is loaded, waited for and then worked on: %.0f %% of the time, with %.3g blocks an SM to hide it "
             "(estimated)", tiles, 100 * wait, at_once);
    snprintf(it->fix, sizeof it->fix, "copy the next tile (cp.async, cuda::memcpy_async) into a second buffer while this one is worked on: costs "
             "%s bytes of shared memory a block more", wg_format_count(c, l->static_shared + l->dynamic_shared));
    snprintf(it->proof, sizeof it->proof, "at best the waiting goes; the units leave room for it (estimated)");
    it->faster = f;
}

void wg_advice_kernel(struct wg_items *x)
{
    divergence(x);
    barriers(x);
    rectangle(x);
    stages(x);
}
