/* html_kernel.c - one kernel on the page: what is wrong, the figures, what limits it, its worst accesses drawn. */
#include "model/occupancy.h"
#include "report/advice.h"
#include "report/escape.h"
#include "report/html.h"
#include "report/markup.h"
#include "report/svg.h"
#include "report/timing.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FINDINGS = 50, MAX_PICTURES = 4 };
static const char *const severities[] = {"note", "warning", "error"};
static const char *severity(uint8_t s)
{
    return severities[s <= WG_SEVERITY_ERROR ? s : WG_SEVERITY_ERROR];
}

static bool any(const uint32_t t[3])
{
    return t[0] || t[1] || t[2];
}

static void who(FILE *out, const uint32_t t[3], const uint32_t b[3])
{
    fprintf(out, "thread (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ") of block (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")", t[0],
            t[1], t[2], b[0], b[1], b[2]);
}

static void finding(struct wg_html *h, size_t k, const struct wg_finding *f)
{
    char buf[WG_NUMBER_BYTES];
    fprintf(h->out, "<li class=\"%s\"><b>%s</b> <span class=\"pre\">", severity(f->severity), severity(f->severity));
    wg_html_text(h, f->message);
    fputs("</span>", h->out);
    if (f->count > 1)
        fprintf(h->out, " (%s times)", wg_format_count(buf, f->count));
    fputs("<br>", h->out);
    if (f->line) {
        wg_html_place(h, k, f->source, f->line);
        fputs(", ", h->out);
    }
    who(h->out, f->thread, f->block);
    if (f->other_line || any(f->other_thread) || any(f->other_block)) {
        fputs("<br>and ", h->out);
        if (f->other_line) {
            wg_html_place(h, k, f->other_source, f->other_line);
            fputs(", ", h->out);
        }
        who(h->out, f->other_thread, f->other_block);
    }
    if (f->address)
        fprintf(h->out, "<br>address 0x%" PRIx64, f->address);
    fputs("</li>\n", h->out);
}

static void problems(struct wg_html *h, size_t k)
{
    const struct wg_group *g = &h->v->groups[k];
    const struct wg_launch_result *l = g->first;
    struct wg_advice adv[WG_ADVICE_MAX];
    char x[WG_NUMBER_BYTES], y[WG_NUMBER_BYTES], z[WG_NUMBER_BYTES];
    size_t n = g->total[WG_C_INST] ? wg_judge(g, h->v->lines[k].v, h->v->lines[k].n, adv) : 0;
    fputs("<ul class=\"findings\">", h->out);
    if (l->status != WG_OK) {
        uint64_t all = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
        fputs("<li class=\"error\"><b>stopped</b> ", h->out);
        wg_html_text(h, *l->status_text ? l->status_text : wg_status_text(l->status));
        fprintf(h->out, "; %s of %s blocks were done</li>\n", wg_format_count(x, l->blocks_done),
                wg_format_count(y, all));
    }
    for (size_t i = 0; i < g->nfindings && i < MAX_FINDINGS; i++)
        finding(h, k, &g->findings[i]);
    if (g->nfindings > MAX_FINDINGS)
        fprintf(h->out, "<li>%zu more; <code>warpgrind findings</code> lists them all</li>",
                g->nfindings - MAX_FINDINGS);
    for (size_t i = 0; i < n; i++) {
        bool lanes = !strcmp(adv[i].unit, "lanes");
        fprintf(h->out, "<li class=\"warning\"><b>to fix</b> %s: %s of the %s are %s (%s of %s%s)", adv[i].title,
                wg_format_percent(z, adv[i].part, adv[i].whole), adv[i].unit, adv[i].waste,
                wg_format_count(x, adv[i].part), wg_format_count(y, adv[i].whole),
                g->merged_sites && !lanes ? wg_html_mark(WG_FIDELITY_MODELLED) : ", exact");
        if (adv[i].line && adv[i].line->source != UINT32_MAX) {
            fputs("; most in ", h->out);
            wg_html_place(h, k, adv[i].line->source, adv[i].line->line);
        }
        if (adv[i].tried)
            fprintf(h->out, "<br>%s; of its worst access, %" PRIu32 " %s become %" PRIu32 "%s</li>\n",
                    adv[i].trial.text, adv[i].trial.before, adv[i].unit, adv[i].trial.after,
                    wg_html_mark(WG_FIDELITY_MODELLED));
        else
            fprintf(h->out, "<br>%s</li>\n", *adv[i].trial.text ? adv[i].trial.text : adv[i].remedy);
    }
    if (!n && !g->nfindings && l->status == WG_OK)
        fputs("<li class=\"good\">no findings, nothing to fix</li>", h->out);
    fputs("</ul>\n", h->out);
}

/* ---- figures -------------------------------------------------------------------------------------------------- */
static void figures(struct wg_html *h, const struct wg_group *g)
{
    char buf[WG_VALUE_BYTES];
    fputs("<table class=\"data key\"><caption>Figures that matter</caption><tbody>", h->out);
    for (int c = 0; c < WG_HEADLINE_COUNT; c++) {
        const struct wg_metric_info *m = &wg_metric_infos[wg_headlines[c].metric];
        struct wg_figure f = wg_view_figure(g, (enum wg_headline)c);
        if (f.has)
            fprintf(h->out,
                    "<tr title=\"%s\"><th scope=\"row\">%s</th><td data-m=\"%s\" data-v=\"%.17g\">%s</td><td class=\"l "
                    "dim\">%s</td></tr>\n",
                    m->name, wg_headlines[c].label, wg_headlines[c].name, f.value,
                    wg_view_value_unit(buf, f.value, m->unit), wg_fidelity_name(f.fidelity));
    }
    fputs("</tbody></table>\n", h->out);
}

static const char *ratio(char buf[WG_NUMBER_BYTES], uint64_t a, uint64_t b)
{
    if (!b)
        return "";
    return wg_format_ratio(buf, (double)a / (double)b);
}

static void traffic(struct wg_html *h, const struct wg_group *g)
{
    static const char *const where[] = {"global", "shared", "local", "generic", "async"};
    static const char *const how[] = {"loads", "stores", "atomics"};
    char a[WG_NUMBER_BYTES], b[WG_NUMBER_BYTES], c[WG_NUMBER_BYTES], d[WG_NUMBER_BYTES], e[WG_NUMBER_BYTES];
    size_t rows = 0;
    bool sectors = false, wavefronts = false;
    for (int w = 0; w < WG_WHERE_COUNT; w++)
        for (int i = 0; i < WG_HOW_COUNT; i++) {
            sectors |= g->traffic[w][i].sectors > 0;
            wavefronts |= g->traffic[w][i].wavefronts > 0;
        }
    for (int w = 0; w < WG_WHERE_COUNT; w++)
        for (int i = 0; i < WG_HOW_COUNT; i++) {
            const struct wg_traffic *t = &g->traffic[w][i];
            if (!t->requests)
                continue;
            if (!rows++)
                fprintf(h->out,
                        "<table class=\"data\"><caption>Memory accesses</caption><thead><tr><th></th><th "
                        "scope=\"col\">requests</th>%s%s<th></th></tr></thead><tbody>",
                        sectors ? "<th scope=\"col\">sectors each</th><th scope=\"col\">ideal</th>" : "",
                        wavefronts ? "<th scope=\"col\">wavefronts each</th><th scope=\"col\">ideal</th>" : "");
            fprintf(h->out, "<tr><th scope=\"row\">%s %s</th><td>%s</td>", where[w], w == WG_WHERE_ASYNC ? "copies" : how[i],
                    wg_format_count(a, t->requests));
            if (sectors)
                fprintf(h->out, "<td>%s</td><td>%s</td>", t->sectors ? ratio(b, t->sectors, t->requests) : "",
                        t->sectors ? ratio(c, t->sectors_ideal, t->requests) : "");
            if (wavefronts)
                fprintf(h->out, "<td>%s</td><td>%s</td>", t->wavefronts ? ratio(d, t->wavefronts, t->requests) : "",
                        t->wavefronts ? ratio(e, t->wavefronts_ideal, t->requests) : "");
            fprintf(h->out, "<td class=\"l dim\">%s</td></tr>\n",
                    wg_fidelity_name(wg_view_traffic_fidelity((enum wg_where)w, (enum wg_how)i, g->first)));
        }
    if (rows)
        fputs("</tbody></table>\n", h->out);
}

/* ---- predicted time ------------------------------------------------------------------------------------------- */
static void caches(struct wg_html *h, const struct wg_group *g)
{
    static const struct {
        enum wg_metric metric;
        const char *label;
    } rows[] = {{WG_M_L1_LD_HIT_RATE, "L1: loaded sectors that it held"},
                {WG_M_L1_LOCAL_LD_HIT_RATE, "L1: the same of local memory"},
                {WG_M_L2_LOOKUPS, "L2: sectors asked for"},
                {WG_M_L2_HIT_RATE, "L2: sectors that it held"},
                {WG_M_DRAM_READ, "device memory: read"},
                {WG_M_DRAM_WRITE, "device memory: written"},
                {WG_M_WARPS_ACTIVE, "warps on an SM, of its most"}};
    char buf[WG_VALUE_BYTES];
    fputs("<table class=\"data\"><caption>Caches and memory</caption><tbody>", h->out);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct wg_metric_info *m = &wg_metric_infos[rows[i].metric];
        double v;
        if (wg_metric_launch(rows[i].metric, g->first, g->gpu, &v))
            fprintf(h->out,
                    "<tr title=\"%s: %s\"><th scope=\"row\">%s</th><td data-m=\"%s\" data-v=\"%.17g\">%s</td><td "
                    "class=\"l dim\">%s</td></tr>\n",
                    m->name, m->text, rows[i].label, m->name, v, wg_view_value_unit(buf, v, m->unit),
                    wg_fidelity_name(wg_metric_fidelity(rows[i].metric, g->first)));
    }
    fputs("</tbody></table>\n", h->out);
}

static void predicted(struct wg_html *h, const struct wg_group *g, bool charts)
{
    const struct wg_launch_result *l = g->first;
    const double *m = l->modelled;
    char at[WG_VALUE_BYTES], low[WG_VALUE_BYTES], high[WG_VALUE_BYTES], cycles[WG_NUMBER_BYTES];
    fputs("<h3>Predicted time</h3>\n", h->out);
    if (!wg_timing_known(l)) {
        fputs("<p class=\"dim\">None: caches and time are modelled only with <code>--model</code>.</p>\n", h->out);
        return;
    }
    fprintf(h->out, "<p><b>%s</b>, from %s to %s (estimated); held back by <b>%s</b>.",
            wg_view_value_unit(at, m[WG_MODELLED_DURATION], "ns"), wg_view_value_unit(low, m[WG_MODELLED_DURATION_LOW], "ns"),
            wg_view_value_unit(high, m[WG_MODELLED_DURATION_HIGH], "ns"), wg_timing_bound(l));
    if (m[WG_MODELLED_CYCLES] > 0)
        fprintf(h->out, " Its blocks ran for %s cycles at %.0f MHz; the mean SM had one for %.0f %% of them.",
                wg_format_count(cycles, (uint64_t)m[WG_MODELLED_CYCLES]), m[WG_MODELLED_CLOCK],
                100 * m[WG_MODELLED_SM_ACTIVE] / m[WG_MODELLED_CYCLES]);
    if (g->nlaunches > 1)
        fprintf(h->out, " This is launch %" PRIu32 ", the first of those alike.", l->index);
    if (m[WG_MODELLED_FOLLOWED] < 1 && m[WG_MODELLED_FOLLOWED] > 0)
        fprintf(h->out, " The models followed one line of memory in %.0f.", 1 / m[WG_MODELLED_FOLLOWED]);
    fputs("</p>\n<div class=\"cols\">", h->out);
    if (charts) {
        fputs("<figure>", h->out);
        wg_svg_timing(h->out, l, false);
        fputs("<figcaption>Shares of the time in which SMs had a block, device memory of all of it; estimated. Bold: what "
              "holds it back.</figcaption></figure>\n",
              h->out);
    }
    caches(h, g);
    fputs("</div>\n", h->out);
}

/* ---- limits --------------------------------------------------------------------------------------------------- */
static void limits(struct wg_html *h, const struct wg_group *g, bool charts)
{
    const struct wg_gpu *d;
    struct wg_occupancy_query q;
    struct wg_occupancy o;
    char why[160], a[WG_NUMBER_BYTES], b[WG_NUMBER_BYTES];
    if (!wg_svg_query(g, &d, &q))
        return;
    const char *fidelity = g->first->registers_exact ? "exact" : "estimated";
    wg_occupancy(d->cc, &q, &o);
    fputs("<h3>Occupancy</h3>\n", h->out);
    if (!o.blocks) {
        wg_occupancy_never_text(d->cc, &q, o.never, why, sizeof why);
        fputs("<p class=\"error\">None: ", h->out);
        wg_html_text(h, why);
        fputs("</p>\n", h->out);
        return;
    }
    uint64_t blocks = (uint64_t)g->first->grid[0] * g->first->grid[1] * g->first->grid[2];
    if (!g->first->registers_exact && g->first->registers_low && g->first->registers_high) {
        struct wg_occupancy most, least;
        q.regs = g->first->registers_low;
        wg_occupancy(d->cc, &q, &most);
        q.regs = g->first->registers_high;
        wg_occupancy(d->cc, &q, &least);
        if (most.blocks != least.blocks)
            fprintf(h->out,
                    "<p>No ptxas was asked: registers are between %" PRIu32 " and %" PRIu32
                    " a thread, so an SM holds %u to %u blocks, "
                    "%.0f to %.0f %% of its warps (estimated). What follows is for %" PRIu32 ".</p>\n",
                    g->first->registers_low, g->first->registers_high, least.blocks, most.blocks, 100 * least.occupancy,
                    100 * most.occupancy, g->first->registers);
    }
    wg_occupancy_limits_text(o.limiting, why, sizeof why);
    fprintf(h->out, "<p>An SM holds %u block%s, %u of %u warps (%.0f %%, %s); what limits: <b>%s</b>.", o.blocks,
            o.blocks == 1 ? "" : "s", o.warps, d->cc->warps_per_sm, 100 * o.occupancy, fidelity, why);
    if (d->sms > 0 && (double)blocks < d->sms)
        fprintf(h->out, " The grid has %s blocks for %.0f SMs: %.0f of them get none.", wg_format_count(a, blocks),
                d->sms, d->sms - (double)blocks);
    else if (d->sms > 0)
        fprintf(h->out, " The grid has %s blocks: %.1f waves of %s.", wg_format_count(a, blocks),
                wg_occupancy_waves(d, &o, blocks), wg_format_count(b, (uint64_t)d->sms * o.blocks));
    fputs("</p>\n<div class=\"cols\"><table class=\"data\"><thead><tr><th scope=\"col\">limit</th><th scope=\"col\">blocks an "
          "SM</th></tr></thead><tbody>",
          h->out);
    for (int i = 0; i < WG_LIMIT_COUNT; i++)
        if (o.limit[i] != WG_NO_LIMIT)
            fprintf(h->out, "<tr%s><th scope=\"row\">%s</th><td>%u</td></tr>",
                    o.limiting >> i & 1 ? " class=\"mark\"" : "", wg_limit_name((enum wg_limit)i), o.limit[i]);
    fputs("</tbody></table>\n", h->out);
    if (!charts) {
        fputs("</div>\n", h->out);
        return;
    }
    fputs("<div class=\"charts\">", h->out);
    for (int i = 0; i < WG_SVG_AXIS_COUNT; i++) {
        fputs("<figure>", h->out);
        wg_svg_occupancy(h->out, g, (enum wg_svg_axis)i, false);
        fputs("</figure>", h->out);
    }
    fprintf(h->out,
            "</div></div><p class=\"dim\">Resident warps if one quantity changed and the others stayed; dot: this launch "
            "(%s).</p>\n",
            fidelity);
}

/* ---- worst accesses ------------------------------------------------------------------------------------------- */
struct site {
    const struct wg_site *s;
    uint64_t extra;
    const struct wg_line *line;
};

static int wasteful(const void *a, const void *b)
{
    const struct site *x = a, *y = b;
    return x->extra != y->extra ? (x->extra < y->extra ? 1 : -1) : x->s < y->s ? -1 : x->s > y->s;
}

/* The worst access of a few lines, one of each: accesses of one line look alike. */
static void pictures(struct wg_html *h, size_t k)
{
    const struct wg_lines *lines = &h->v->lines[k];
    struct site *v = wg_arena_alloc(h->v->arena, (h->v->groups[k].first->nsites + 1) * sizeof *v);
    size_t n = 0, shown = 0;
    char text[256], buf[WG_NUMBER_BYTES], block[WG_NUMBER_BYTES];
    for (size_t i = 0; v && i < lines->n; i++) {
        struct site best = {0};
        for (size_t s = 0; s < lines->v[i].nsites; s++) {
            struct site x = {lines->v[i].sites[s], wg_advice_extra(lines->v[i].sites[s]), &lines->v[i]};
            if (x.s->worst && (!best.s || x.extra > best.extra))
                best = x;
        }
        if (best.s)
            v[n++] = best;
    }
    if (!n)
        return;
    qsort(v, n, sizeof *v, wasteful);
    fputs("<h3>Worst accesses</h3>\n<div class=\"two\">", h->out);
    for (size_t i = 0; i < n && shown < MAX_PICTURES; i++) {
        const struct wg_worst *w = v[i].s->worst;
        if (v[i].extra * 100 < v[0].extra)
            break;
        shown++;
        wg_svg_lanes_text(text, sizeof text, w);
        fputs("<figure class=\"lanes\"><figcaption>", h->out);
        if (v[i].line->source != UINT32_MAX) {
            wg_html_place(h, k, v[i].line->source, v[i].line->line);
            fputs(" ", h->out);
        }
        fputs("<code>", h->out);
        wg_html_text(h, v[i].s->text);
        fprintf(h->out,
                "</code><br>%s; all executions: %s %s above the ideal%s. Warp %" PRIu32 " of block %s.</figcaption>",
                text, wg_format_count(buf, v[i].extra), w->shared ? "wavefronts" : "sectors",
                h->v->groups[k].merged_sites ? wg_html_mark(WG_FIDELITY_MODELLED) : "", w->warp,
                wg_format_count(block, w->block));
        struct wg_trial t;
        wg_advice_try(w, &t);
        if (t.after < t.before) {
            fputs("<p class=\"tried\"><b>tried on these addresses</b> ", h->out);
            wg_html_text(h, t.text);
            fprintf(h->out, ": %" PRIu32 " %s become %" PRIu32 " (modelled for the other executions)</p>", t.before,
                    w->shared ? "wavefronts" : "sectors", t.after);
        }
        wg_svg_lanes(h->out, w, false);
        fputs("</figure>\n", h->out);
    }
    fputs("</div>\n", h->out);
}

void wg_html_kernel(struct wg_html *h, size_t k, enum wg_html_detail detail)
{
    const struct wg_group *g = &h->v->groups[k];
    const struct wg_launch_result *l = g->first;
    char shape[128], a[WG_NUMBER_BYTES], b[WG_NUMBER_BYTES];
    fprintf(h->out, "<section class=\"kernel\" id=\"k%zu\"><h2>", k);
    wg_html_text(h, *l->kernel ? l->kernel : l->mangled);
    fputs(" <small>", h->out);
    wg_html_text(h, wg_view_shape(shape, l));
    fputs("</small> <a class=\"top\" href=\"#main\">to the top</a></h2>\n<p class=\"dim\">", h->out);
    if (g->nlaunches == 1)
        fprintf(h->out, "launch %" PRIu32 ": %s warp instructions", l->index, wg_format_count(a, g->max_inst));
    else
        fprintf(h->out, "%zu launches alike, the first is %" PRIu32 ": %s to %s warp instructions each", g->nlaunches,
                l->index, wg_format_count(a, g->min_inst), wg_format_count(b, g->max_inst));
    if (g->host_seconds > 0)
        fprintf(h->out, ", simulated in %.3g s", g->host_seconds);
    if (*l->compiler) {
        fputs(", PTX by ", h->out);
        wg_html_text(h, l->compiler);
    }
    if (g->merged_sites)
        fprintf(h->out, "; %s neighbouring accesses are counted joined, as ptxas would join them",
                wg_format_count(a, g->merged_sites));
    if (g->one_worker)
        fputs("; the result may depend on the order of blocks: they ran one after another", h->out);
    fputs("</p>\n", h->out);
    problems(h, k);
    if (g->total[WG_C_INST]) {
        fputs("<div class=\"cols\">", h->out);
        figures(h, g);
        traffic(h, g);
        fputs("</div>\n", h->out);
        if (detail >= WG_HTML_CHARTS)
            pictures(h, k);
    }
    if (g->total[WG_C_INST])
        predicted(h, g, detail >= WG_HTML_CHARTS);
    limits(h, g, detail >= WG_HTML_CHARTS);
    if (g->total[WG_C_INST])
        wg_html_source(h, k, detail);
    else
        fprintf(h->out, "<p>No counts: %s.</p>\n", l->blocks_done ? "counting was off" : "no block finished");
    fputs("</section>\n", h->out);
}
