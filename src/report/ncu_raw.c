/* ncu_raw.c - the raw page: every metric of every launch; as CSV one row a launch under a line of names and one of
 * units. */
#include "report/ncu_page.h"
#include <math.h>
#include <string.h>

static enum wg_status
each(struct wg_ncu *g, enum wg_status (*f)(struct wg_ncu *, const struct wg_ncu_launch *, struct wg_arena *, void *),
     void *ctx)
{
    enum wg_status s = WG_OK;
    for (size_t i = 0; i < g->p->nlaunches && s == WG_OK; i++) {
        struct wg_arena a = {0};
        struct wg_ncu_launch x;
        s = wg_ncu_open(g, i, false, &a, &x);
        s = s == WG_OK ? f(g, &x, &a, ctx) : s;
        wg_arena_free(&a);
    }
    return s;
}

/* A column has one unit: the largest value chooses it. */
static enum wg_status largest(struct wg_ncu *g, const struct wg_ncu_launch *x, struct wg_arena *a, void *ctx)
{
    double *most = ctx, v;
    (void)a;
    for (size_t i = 0; i < g->selection->n; i++)
        if (wg_metric_ref_value(g->selection->v[i].ref, &x->of, &v) && fabs(v) > most[i])
            most[i] = fabs(v);
    return WG_OK;
}

static enum wg_status row(struct wg_ncu *g, const struct wg_ncu_launch *x, struct wg_arena *a, void *ctx)
{
    const struct wg_unit *units = ctx;
    char buf[WG_VALUE_TEXT_BYTES];
    wg_csv_launch(g, x, a);
    for (size_t i = 0; i < g->selection->n; i++) {
        double v;
        bool known = wg_metric_ref_value(g->selection->v[i].ref, &x->of, &v);
        wg_csv_text(g->out, false, known ? wg_value_text(buf, v / units[i].factor, false) : "n/a");
    }
    fputc('\n', g->out);
    return WG_OK;
}

static enum wg_status csv(struct wg_ncu *g)
{
    size_t n = g->selection->n;
    double *most = wg_arena_alloc(g->arena, n * sizeof *most);
    struct wg_unit *units = wg_arena_alloc(g->arena, n * sizeof *units);
    if (!most || !units)
        return WG_NO_MEMORY;
    enum wg_status s = g->style->base_units ? WG_OK : each(g, largest, most);
    wg_csv_launch_names(g->out);
    for (size_t i = 0; i < n; i++) {
        char buf[WG_METRIC_NAME_BYTES];
        units[i] = wg_unit_for(wg_metric_ref_unit(g->selection->v[i].ref), most[i], g->style->base_units);
        wg_csv_text(g->out, false, wg_metric_ref_name(g->selection->v[i].ref, buf));
    }
    fputc('\n', g->out);
    wg_csv_launch_empty(g->out);
    for (size_t i = 0; i < n; i++)
        wg_csv_text(g->out, false, units[i].name);
    fputc('\n', g->out);
    return s == WG_OK ? each(g, row, units) : s;
}

static enum wg_status text(struct wg_ncu *g, const struct wg_ncu_launch *x, struct wg_arena *a, void *ctx)
{
    size_t n = g->selection->n, wide = 0;
    (void)ctx;
    wg_ncu_title(g, x, a);
    for (size_t i = 0; i < n; i++) {
        char buf[WG_METRIC_NAME_BYTES];
        size_t k = strlen(wg_metric_ref_name(g->selection->v[i].ref, buf));
        wide = k > wide ? k : wide;
    }
    for (size_t i = 0; i < n; i++) {
        struct wg_metric_ref r = g->selection->v[i].ref;
        char name[WG_METRIC_NAME_BYTES], buf[WG_VALUE_TEXT_BYTES];
        double v;
        bool known = wg_metric_ref_value(r, &x->of, &v);
        struct wg_unit u = wg_unit_for(wg_metric_ref_unit(r), known ? v : 0, g->style->base_units);
        if (known)
            fprintf(g->out, "    %-*s %15s %20s %s\n", (int)wide, wg_metric_ref_name(r, name), u.name,
                    wg_value_text(buf, v / u.factor, true), wg_ncu_fidelity(r, x->l));
        else
            fprintf(g->out, "    %-*s %15s %20s\n", (int)wide, wg_metric_ref_name(r, name), u.name, "n/a");
    }
    fputc('\n', g->out);
    return a->failed ? WG_NO_MEMORY : WG_OK;
}

enum wg_status wg_ncu_raw(struct wg_ncu *g)
{
    if (g->style->csv)
        return csv(g);
    wg_ncu_program(g);
    return each(g, text, NULL);
}
