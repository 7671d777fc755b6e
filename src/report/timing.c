/* timing.c - breaks a predicted time down: how busy the units were and what warps waited for, in words and as bars. */
#include "report/timing.h"
#include "report/svg_parts.h"
#include <string.h>

enum { LATENCY = -1 }; /* what the rows of modelled.def leave over */
static const struct part {
    int row;
    const char *label, *bound;
} units[WG_TIMING_UNITS] =
    {
        {WG_MODELLED_DRAM_BUSY, "device memory", "memory bandwidth"},
        {WG_MODELLED_PORT_BUSY, "ways to the L2", "the way to the L2"},
        {WG_MODELLED_LSU_BUSY, "load/store units", "the load/store units, shared memory included"},
        {WG_MODELLED_ISSUE_BUSY, "instruction issue", "instruction issue"},
},
  waits[WG_TIMING_WAITS] = {
      {WG_MODELLED_STALL_MEMORY, "waiting for loads", "the latency of loads"},
      {WG_MODELLED_STALL_BARRIER, "waiting at barriers", "barriers"},
      {WG_MODELLED_STALL_PIPE, "waiting for a busy scheduler or unit", "busy units"},
      {LATENCY, "issuing, and waiting for arithmetic", "the latency of instructions"},
};
static const char launch_bound[] = "the launch itself";

bool wg_timing_known(const struct wg_launch_result *l)
{
    return l->has_model && l->modelled[WG_MODELLED_CLOCK] > 0;
}

static double share(const double *m, int row)
{
    if (row != LATENCY)
        return m[row];
    double rest = 1;
    for (unsigned k = 0; k < WG_TIMING_WAITS; k++)
        rest -= waits[k].row == LATENCY ? 0 : m[waits[k].row];
    return rest > 0 ? rest : 0;
}

static const struct part *most(const double *m, const struct part *v, unsigned n)
{
    const struct part *best = v;
    for (unsigned k = 1; k < n; k++)
        if (v[k].row != LATENCY && m[v[k].row] > m[best->row])
            best = &v[k];
    return best;
}

const char *wg_timing_bound(const struct wg_launch_result *l)
{
    const double *m = l->modelled;
    const struct part *unit = most(m, units, WG_TIMING_UNITS), *wait = most(m, waits, WG_TIMING_WAITS);
    if (m[WG_MODELLED_DURATION] > 2 * m[WG_MODELLED_CYCLES] * 1e3 / m[WG_MODELLED_CLOCK])
        return launch_bound;
    if (m[unit->row] > 0.6)
        return unit->bound;
    return m[wait->row] > 0.3 ? wait->bound : waits[WG_TIMING_WAITS - 1].bound;
}

static void parts(const struct wg_launch_result *l, const struct part *v, unsigned n, struct wg_timing_part *out)
{
    const char *bound = wg_timing_bound(l);
    for (unsigned k = 0; k < n; k++) {
        struct wg_timing_part p = {v[k].label, share(l->modelled, v[k].row), !strcmp(bound, v[k].bound)};
        unsigned at = k;
        for (; at && out[at - 1].share < p.share; at--)
            out[at] = out[at - 1];
        out[at] = p;
    }
}

void wg_timing_units(const struct wg_launch_result *l, struct wg_timing_part out[WG_TIMING_UNITS])
{
    parts(l, units, WG_TIMING_UNITS, out);
}

void wg_timing_waits(const struct wg_launch_result *l, struct wg_timing_part out[WG_TIMING_WAITS])
{
    parts(l, waits, WG_TIMING_WAITS, out);
}

/* ---- as bars -------------------------------------------------------------------------------------------------- */
enum { W = 560, LABEL = 214, BAR = 280, ROW = 20, HEAD = 24, GAP = 12 };

static unsigned bars(FILE *out, unsigned y, const char *title, const struct wg_timing_part *v, unsigned n)
{
    fprintf(out, "<text class=\"b\" x=\"0\" y=\"%u\">%s</text>", y + 14, title);
    y += HEAD;
    for (unsigned k = 0; k < n; k++, y += ROW) {
        double s = v[k].share < 0 ? 0 : v[k].share > 1 ? 1 : v[k].share;
        fprintf(out,
                "<text class=\"e%s\" x=\"%d\" y=\"%u\">%s</text><rect class=\"room\" x=\"%d\" y=\"%u\" width=\"%d\" "
                "height=\"%d\"/>"
                "<rect class=\"bar\" x=\"%d\" y=\"%u\" width=\"%.1f\" height=\"%d\"/><text%s x=\"%d\" y=\"%u\">%.1f %%</text>",
                v[k].bound ? " b" : "", LABEL - 8, y + 13, v[k].label, LABEL, y + 2, BAR, ROW - 5, LABEL, y + 2, s * BAR,
                ROW - 5, v[k].bound ? " class=\"b\"" : "", LABEL + BAR + 8, y + 13, 100 * v[k].share);
    }
    return y;
}

bool wg_svg_timing(FILE *out, const struct wg_launch_result *l, bool standalone)
{
    struct wg_timing_part u[WG_TIMING_UNITS], w[WG_TIMING_WAITS];
    if (!wg_timing_known(l))
        return false;
    wg_timing_units(l, u);
    wg_timing_waits(l, w);
    wg_svg_open(out, W, 2 * HEAD + GAP + ROW * (WG_TIMING_UNITS + WG_TIMING_WAITS), "predicted time broken down",
                "how busy the units were and what warps waited for, estimated", standalone);
    unsigned y = bars(out, 0, "how busy the units were", u, WG_TIMING_UNITS);
    bars(out, y + GAP, "what the warps' time went into", w, WG_TIMING_WAITS);
    fputs("</svg>", out);
    return true;
}
