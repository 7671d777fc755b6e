/* chart.c - occupancy curves and the roofline. */
#include "model/occupancy.h"
#include "model/registers.h"
#include "report/kernel_name.h"
#include "report/markup.h"
#include "report/svg.h"
#include "report/svg_parts.h"
#include "report/timing.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const wg_svg_axis_names[] = {"block-size", "registers", "shared-memory"};

bool wg_svg_query(const struct wg_group *v, const struct wg_gpu **gpu, struct wg_occupancy_query *q)
{
    const struct wg_launch_result *l = v->first;
    const struct wg_gpu *g = v->gpu;
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    if (!g || !l->registers || !threads || threads > g->cc->threads_per_block)
        return false;
    *gpu = g;
    *q = (struct wg_occupancy_query){.threads = (unsigned)threads,
                                     .static_shared = l->static_shared,
                                     .regs = wg_registers_at_launch(g->cc->major * 10 + g->cc->minor, l->registers),
                                     .dynamic_shared = l->dynamic_shared,
                                     .carveout = -1,
                                     .barriers = 1};
    return true;
}

/* ---- occupancy ------------------------------------------------------------------------------------------------ */
enum { OW = 352, OH = 190, OL = 40, OR = 18, OT = 14, OB = 38 };
struct axis {
    const char *title;
    uint64_t from, to, step, tick;
};

static unsigned warps_at(const struct wg_cc *cc, struct wg_occupancy_query q, enum wg_svg_axis a, uint64_t v)
{
    struct wg_occupancy o;
    if (a == WG_SVG_BLOCK)
        q.threads = (unsigned)v;
    else if (a == WG_SVG_REGISTERS)
        q.regs = (unsigned)v;
    else {
        q.static_shared = v;
        q.dynamic_shared = 0;
    }
    wg_occupancy(cc, &q, &o);
    return o.warps;
}

bool wg_svg_occupancy(FILE *out, const struct wg_group *of, enum wg_svg_axis a, bool standalone)
{
    const struct wg_gpu *g;
    struct wg_occupancy_query q;
    if (!wg_svg_query(of, &g, &q))
        return false;
    const struct wg_cc *cc = g->cc;
    const struct axis axes[] = {{"threads a block", 32, cc->threads_per_block, 32, 256},
                                {"registers a thread", 1, 255, 1, 64},
                                {"shared memory a block, KiB", 0,
                                 cc->smem_per_block_optin ? cc->smem_per_block_optin : cc->smem_per_block, 256, 65536}};
    const struct axis *x = &axes[a];
    uint64_t now = a == WG_SVG_BLOCK ? q.threads : a == WG_SVG_REGISTERS ? q.regs : q.static_shared + q.dynamic_shared;
    unsigned most = cc->warps_per_sm, here = warps_at(cc, q, a, now);
    double sx = (double)(OW - OL - OR) / (double)(x->to - x->from), sy = (double)(OH - OT - OB) / most;
    char title[96], text[160];
    snprintf(title, sizeof title, "resident warps over %s", x->title);
    snprintf(text, sizeof text, "this launch: %" PRIu64 "%s give%s %u of %u warps",
             a == WG_SVG_SHARED ? now / 1024 : now, a == WG_SVG_SHARED ? " KiB" : "", now == 1 ? "s" : "", here, most);
    wg_svg_open(out, OW, OH, title, text, standalone);
    for (unsigned k = 0; k <= 4; k++) {
        double y = OH - OB - sy * most * k / 4;
        fprintf(out,
                "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/><text class=\"e\" x=\"%d\" "
                "y=\"%.1f\">%u</text>",
                OL, y, OW - OR, y, OL - 5, y + 4, most * k / 4);
    }
    for (uint64_t v = 0; v <= x->to; v += x->tick)
        if (v >= x->from || !v)
            fprintf(out, "<text class=\"c\" x=\"%.1f\" y=\"%d\">%" PRIu64 "</text>",
                    OL + sx * (double)(v > x->from ? v - x->from : 0), OH - OB + 14,
                    a == WG_SVG_SHARED ? v / 1024
                    : v > x->from      ? v
                                       : x->from);
    fprintf(out, "<text class=\"c\" x=\"%d\" y=\"%d\">%s</text><path class=\"curve\" d=\"", (OL + OW - OR) / 2, OH - 6,
            x->title);
    unsigned last = UINT32_MAX;
    double px = OL;
    for (uint64_t v = x->from; v <= x->to; v += x->step) {
        unsigned w = warps_at(cc, q, a, v);
        double at = OL + sx * (double)(v - x->from);
        if (a == WG_SVG_BLOCK) /* each block size is a point of its own */
            fprintf(out, "%c%.1f %.1f", v == x->from ? 'M' : 'L', at, OH - OB - sy * w);
        else if (last == UINT32_MAX)
            fprintf(out, "M%.1f %.1f", at, OH - OB - sy * w);
        else if (w != last)
            fprintf(out, "H%.1fV%.1f", px, OH - OB - sy * w);
        last = w;
        px = at;
    }
    if (a != WG_SVG_BLOCK)
        fprintf(out, "H%d", OW - OR);
    double mx = OL + sx * (double)(now > x->to     ? x->to - x->from
                                   : now > x->from ? now - x->from
                                                   : 0),
           my = OH - OB - sy * here;
    fprintf(out,
            "\"/><line class=\"mark\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%d\"/><circle class=\"dot\" cx=\"%.1f\" "
            "cy=\"%.1f\" r=\"4.5\"/>",
            mx, my, mx, OH - OB, mx, my);
    fprintf(out, "<text class=\"b %s\" x=\"%.1f\" y=\"%.1f\">%u</text></svg>", mx > OW - 60 ? "e" : "s",
            mx > OW - 60 ? mx - 8 : mx + 8, my < 24 ? my + 16 : my - 6, here);
    return true;
}

/* ---- roofline ------------------------------------------------------------------------------------------------- */
static double metric(enum wg_metric m, const struct wg_group *g)
{
    double sum = 0, v;
    const struct wg_site **s = wg_calloc(g->first->nsites + 1, sizeof *s);
    for (size_t i = 0; s && i < g->first->nsites; i++)
        s[i] = &g->sites[i];
    struct wg_metric_of of = {.launch = g->first, .sites = s, .nsites = g->first->nsites, .gpu = g->gpu};
    if (s && wg_metric_value(m, &of, &v))
        sum = v / (double)g->nlaunches;
    free(s);
    return sum;
}

bool wg_svg_roof(const struct wg_group *g, struct wg_roof *r)
{
    const struct wg_gpu *d = g->gpu;
    double f32 = 2 * metric(WG_M_FFMA, g) + metric(WG_M_FADD, g) + metric(WG_M_FMUL, g);
    double f64 = 2 * metric(WG_M_DFMA, g) + metric(WG_M_DADD, g) + metric(WG_M_DMUL, g);
    *r = (struct wg_roof){.flops = f32 + f64, .bytes = metric(WG_M_L2_SECTORS, g) * 32, .is_double = f64 > f32};
    if (!d || r->flops <= 0 || r->bytes <= 0)
        return false;
    r->peak = r->is_double ? wg_gpu_fp64_flops(d) : wg_gpu_fp32_flops(d);
    r->bandwidth = d->dram_gbs * 1e9;
    r->intensity = r->flops / r->bytes;
    r->ridge = r->bandwidth > 0 ? r->peak / r->bandwidth : 0;
    r->bound = fmin(r->peak, r->intensity * r->bandwidth);
    if (wg_timing_known(g->first) && g->first->modelled[WG_MODELLED_DURATION] > 0)
        r->reached = r->flops / g->first->modelled[WG_MODELLED_DURATION] * 1e9;
    return r->peak > 0 && r->bandwidth > 0;
}

enum { RW = 736, RH = 330, RL = 78, RR = 16, RT = 14, RB = 44 };
enum { MAX_NAMES = 16 }; /* kernels whose names are written */
struct scale {
    double x0, x1, y0, y1;
}; /* logarithms to base ten */

static double rx(const struct scale *s, double v)
{
    return RL + (log10(v) - s->x0) / (s->x1 - s->x0) * (RW - RL - RR);
}
static double ry(const struct scale *s, double v)
{
    return RH - RB - (log10(v) - s->y0) / (s->y1 - s->y0) * (RH - RT - RB);
}

/* Where its dot stands. */
static double height(const struct wg_roof *r)
{
    return r->reached > 0 ? r->reached : r->bound;
}

static void rate(char buf[16], double exponent)
{
    static const char *const units[] = {"", "k", "M", "G", "T", "P", "E"};
    int e = (int)exponent, k = e / 3;
    snprintf(buf, 16, "%.0f %sflop/s", pow(10, e % 3), units[k < 0 ? 0 : k > 6 ? 6 : k]);
}

static void roof_grid(FILE *out, const struct scale *s)
{
    char label[16];
    for (double e = s->x0; e <= s->x1; e++)
        fprintf(out,
                "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/><text class=\"c\" x=\"%.1f\" "
                "y=\"%d\">%g</text>",
                rx(s, pow(10, e)), RT, rx(s, pow(10, e)), RH - RB, rx(s, pow(10, e)), RH - RB + 15, pow(10, e));
    for (double e = s->y0; e <= s->y1; e++) {
        rate(label, e);
        fprintf(out,
                "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/><text class=\"e\" x=\"%d\" "
                "y=\"%.1f\">%s</text>",
                RL, ry(s, pow(10, e)), RW - RR, ry(s, pow(10, e)), RL - 5, ry(s, pow(10, e)) + 4, label);
    }
    fprintf(out, "<text class=\"c\" x=\"%d\" y=\"%d\">flop per byte that global accesses ask of the L2</text>",
            (RL + RW) / 2, RH - 8);
}

/* Where a kernel stands, under its roof when the time is known, with its name where there is room for it. */
struct label {
    double x0, x1, y;
};

static void roof_name(FILE *out, const struct wg_group *g, double x, double y, struct label *taken, size_t *n)
{
    size_t len;
    const char *name = wg_kernel_label(*g->first->kernel ? g->first->kernel : g->first->mangled, &len);
    for (size_t most = 36; len > most; len = most)
        while (most && ((unsigned char)name[most] & 0xc0) == 0x80)
            most--;
    double wide = 6.2 * (double)len, from = x + 8 + wide > RW - RR ? x - 8 - wide : x + 8;
    struct label l = {from, from + wide, y + 13};
    for (size_t k = 0; k < *n; k++)
        if (taken[k].x0 < l.x1 && l.x0 < taken[k].x1 && fabs(taken[k].y - l.y) < 12) {
            l.y = taken[k].y + 12; /* below it, and again past all others */
            k = (size_t)-1;
        }
    if (l.y > RH - RB - 3)
        return;
    taken[(*n)++] = l;
    fprintf(out, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">", l.x0, l.y);
    wg_markup_n(out, WG_MARKUP_HTML, name, len);
    fputs("</text>", out);
}

static void roof_kernel(FILE *out, const struct wg_view *v, size_t k, const struct wg_roof *r, const struct scale *s,
                        bool standalone)
{
    const struct wg_launch_result *l = v->groups[k].first;
    double x = rx(s, r->intensity), top = ry(s, r->bound);
    fputs(standalone ? "<g>" : "<a href=\"#k", out);
    if (!standalone)
        fprintf(out, "%zu\">", k);
    if (r->reached > 0)
        fprintf(out, "<line class=\"mark\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>", x, top, x,
                ry(s, r->reached));
    fprintf(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"><title>", r->reached > 0 ? "most" : "dot", x, top);
    wg_markup(out, WG_MARKUP_HTML, l->kernel);
    fprintf(out, ": %.3g flop/byte, at most %.3g flop/s</title></circle>", r->intensity, r->bound);
    if (r->reached > 0) {
        fprintf(out, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"><title>", x, ry(s, r->reached));
        wg_markup(out, WG_MARKUP_HTML, l->kernel);
        fprintf(out, ": %.3g flop/s in the predicted time</title></circle>", r->reached);
    }
    fputs(standalone ? "</g>" : "</a>", out);
}

bool wg_svg_roofline(FILE *out, const struct wg_view *v, bool standalone)
{
    struct wg_roof *r = wg_calloc(v->n + 1, sizeof *r);
    bool *on = wg_calloc(v->n + 1, sizeof *on);
    size_t n = 0;
    double low = INFINITY, high = 0, floor_ = INFINITY, top = 0;
    bool kinds[2] = {false, false};
    const struct wg_roof *of[2] = {NULL, NULL};
    for (size_t k = 0; r && on && k < v->n; k++) {
        if (!(on[k] = wg_svg_roof(&v->groups[k], &r[k])))
            continue;
        n++;
        kinds[r[k].is_double] = true;
        of[r[k].is_double] = &r[k];
        low = fmin(low, fmin(r[k].intensity, r[k].ridge));
        high = fmax(high, fmax(r[k].intensity, r[k].ridge));
        floor_ = fmin(floor_, height(&r[k]));
        top = fmax(top, fmax(r[k].peak, height(&r[k])));
    }
    if (n) {
        struct scale s = {floor(log10(low) - 0.3), ceil(log10(high) + 0.3), floor(log10(floor_) - 0.3),
                          ceil(log10(top) + 0.05)};
        wg_svg_open(out, RW, RH, "roofline",
                    "what each kernel can reach at most, by the arithmetic it does for each byte", standalone);
        roof_grid(out, &s);
        for (int d = 0; d < 2; d++) {
            if (!kinds[d])
                continue;
            double from = pow(10, s.x0), to = pow(10, s.x1), y0 = fmax(from * of[d]->bandwidth, pow(10, s.y0));
            fprintf(out,
                    "<path class=\"curve\" d=\"M%.1f %.1fL%.1f %.1fH%.1f\"/><text class=\"e\" x=\"%d\" y=\"%.1f\">%s "
                    "precision</text>",
                    rx(&s, y0 / of[d]->bandwidth), ry(&s, y0), rx(&s, of[d]->ridge), ry(&s, of[d]->peak), rx(&s, to),
                    RW - RR - 4, ry(&s, of[d]->peak) - 5, d ? "double" : "single");
        }
        for (size_t k = 0; k < v->n; k++) {
            if (!on[k])
                continue;
            roof_kernel(out, v, k, &r[k], &s, standalone);
        }
        struct label taken[MAX_NAMES];
        size_t names = 0;
        for (size_t k = 0; n <= MAX_NAMES && k < v->n; k++)
            if (on[k])
                roof_name(out, &v->groups[k], rx(&s, r[k].intensity), ry(&s, height(&r[k])), taken, &names);
        fputs("</svg>", out);
    }
    free(r);
    free(on);
    return n != 0;
}
