/* view.c - folds a profile once for all who show it and evaluates the leading figures. */
#include "report/view.h"
#include "report/escape.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct wg_headline_info wg_headlines[WG_HEADLINE_COUNT] = {
#define WG_HEADLINE(metric_, name_, label_, how_, column_) {WG_M_##metric_, name_, label_, column_, WG_HEADLINE_##how_},
#include "report/headline.def"
#undef WG_HEADLINE
};

enum wg_status wg_view_open(const struct wg_profile *p, bool fold, struct wg_arena *a, struct wg_view *out)
{
    *out = (struct wg_view){.p = p, .arena = a};
    enum wg_status s = wg_fold(p, fold, a, &out->groups, &out->n);
    if (s != WG_OK)
        return s;
    out->lines = wg_arena_alloc(a, (out->n + 1) * sizeof *out->lines);
    const struct wg_finding **hosts = wg_arena_alloc(a, (p->nhost_findings + 1) * sizeof *hosts);
    if (!out->lines || !hosts)
        return WG_NO_MEMORY;
    for (size_t i = 0; i < out->n; i++) {
        const struct wg_group *before = i ? &out->groups[i - 1] : NULL;
        const char *name = out->groups[i].first->device;
        out->groups[i].gpu = before && !strcmp(before->first->device, name) ? before->gpu : wg_gpu_of(name, p->device_file, a);
    }
    for (size_t i = 0; s == WG_OK && i < out->n; i++)
        s = wg_fold_lines(p, &out->groups[i], a, &out->lines[i].v, &out->lines[i].n);
    for (size_t i = 0; i < p->nhost_findings; i++)
        hosts[i] = &p->host_findings[i];
    out->host = wg_fold_findings(a, hosts, p->nhost_findings, &out->nhost);
    return a->failed ? WG_NO_MEMORY : s;
}

enum wg_fidelity wg_view_fidelity(enum wg_metric m, const struct wg_launch_result *l)
{
    return wg_metric_fidelity(m, l);
}

static struct wg_figure figure(const struct wg_group *g, const struct wg_site *const *sites, size_t n, bool line,
                               enum wg_headline h)
{
    const struct wg_headline_info *info = &wg_headlines[h];
    struct wg_metric_of of = {
        .launch = g->first, .sites = sites, .nsites = n, .line = line, .gpu = g->gpu};
    struct wg_figure f = {.fidelity = wg_view_fidelity(info->metric, g->first)};
    if (line && info->how == WG_HEADLINE_LAUNCH)
        return f;
    f.has = wg_metric_value(info->metric, &of, &f.value);
    if (f.has && info->how == WG_HEADLINE_SUM)
        f.value /= (double)g->nlaunches;
    return f;
}

struct wg_figure wg_view_figure(const struct wg_group *g, enum wg_headline h)
{
    size_t n = g->total[WG_C_INST] ? g->first->nsites : 0; /* nothing was counted: that is not zero */
    const struct wg_site **v = n ? wg_calloc(n, sizeof *v) : NULL;
    struct wg_figure none = {.fidelity = wg_view_fidelity(wg_headlines[h].metric, g->first)};
    if (!v && (n || wg_headlines[h].how != WG_HEADLINE_LAUNCH))
        return none;
    for (size_t i = 0; i < n; i++)
        v[i] = &g->sites[i];
    struct wg_figure f = figure(g, v, n, false, h);
    free(v);
    return f;
}

struct wg_figure wg_view_line_figure(const struct wg_group *g, const struct wg_line *l, enum wg_headline h)
{
    return figure(g, l->sites, l->nsites, true, h);
}

enum wg_fidelity wg_view_traffic_fidelity(enum wg_where where, enum wg_how how, const struct wg_launch_result *l)
{
    static const enum wg_metric of[WG_WHERE_COUNT] = {[WG_WHERE_GLOBAL] = WG_M_GLOBAL_LD_PER_REQUEST,
                                                      [WG_WHERE_SHARED] = WG_M_WAVEFRONTS,
                                                      [WG_WHERE_LOCAL] = WG_M_L2_SECTORS_LOCAL,
                                                      [WG_WHERE_GENERIC] = WG_M_L2_SECTORS,
                                                      [WG_WHERE_ASYNC] = WG_M_L2_SECTORS};
    bool stores = where == WG_WHERE_GLOBAL && how == WG_HOW_STORE;
    return wg_metric_fidelity(stores ? WG_M_GLOBAL_ST_PER_REQUEST : of[where], l);
}

const char *wg_view_value(char buf[WG_VALUE_BYTES], double v)
{
    char digits[WG_NUMBER_BYTES];
    if (v >= 0 && v < 1e18 && v == floor(v))
        snprintf(buf, WG_VALUE_BYTES, "%s", wg_format_count(digits, (uint64_t)v));
    else if (fabs(v) >= 100 && fabs(v) < 1e15)
        snprintf(buf, WG_VALUE_BYTES, "%s%s", v < 0 ? "-" : "", wg_format_ratio(digits, fabs(v)));
    else
        snprintf(buf, WG_VALUE_BYTES, "%.3g", v);
    return buf;
}

const char *wg_view_value_unit(char buf[WG_VALUE_BYTES], double v, const char *unit)
{
    static const char *const times[] = {"ns", "us", "ms", "s"};
    char number[WG_VALUE_BYTES];
    if (!strcmp(unit, "ns")) {
        unsigned k = 0;
        while (v >= 1000 && k < 3) {
            v /= 1000;
            k++;
        }
        snprintf(buf, WG_VALUE_BYTES, "%.3g %s", v, times[k]);
        return buf;
    }
    wg_view_value(number, v);
    bool say = !strcmp(unit, "%") || !strncmp(unit, "byte", 4);
    snprintf(buf, WG_VALUE_BYTES, "%.30s%s%s", number, say ? " " : "",
             !say           ? ""
             : *unit == '%' ? "%"
             : v == 1       ? "byte"
                            : "bytes");
    return buf;
}

static size_t dims(char *buf, size_t n, const uint32_t d[3])
{
    int k = d[2] > 1   ? snprintf(buf, n, "(%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")", d[0], d[1], d[2])
            : d[1] > 1 ? snprintf(buf, n, "(%" PRIu32 ",%" PRIu32 ")", d[0], d[1])
                       : snprintf(buf, n, "%" PRIu32, d[0]);
    return (size_t)k;
}

const char *wg_view_shape(char buf[128], const struct wg_launch_result *l)
{
    size_t n = (size_t)snprintf(buf, 128, "<<<");
    n += dims(buf + n, 128 - n, l->grid);
    n += (size_t)snprintf(buf + n, 128 - n, ", ");
    n += dims(buf + n, 128 - n, l->block);
    if (l->dynamic_shared)
        n += (size_t)snprintf(buf + n, 128 - n, ", %" PRIu64, l->dynamic_shared);
    snprintf(buf + n, 128 - n, ">>>");
    return buf;
}
