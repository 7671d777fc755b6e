/* ncu_details.c - the details page: the metrics of each section in a table, then what the guided rules say to it. */
#include "report/escape.h"
#include "report/ncu_page.h"
#include "report/rules.h"
#include <string.h>

#define BY_NAME "Command line profiler metrics" /* the section of metrics that were asked for by name */
enum { TEXT_WIDTH = 110 };

struct cell {
    const char *name, *fidelity;
    struct wg_unit unit;
    char value[WG_VALUE_TEXT_BYTES];
};

static const char *section_name(int section)
{
    return section < 0 ? BY_NAME : wg_section_infos[section].name;
}

static struct cell evaluate(struct wg_ncu *g, const struct wg_ncu_launch *x, const struct wg_shown *s,
                            struct wg_arena *a, bool grouped)
{
    struct cell c = {.name = wg_ncu_name(s, g->style->label, a), .fidelity = ""};
    double v;
    bool known = wg_metric_ref_value(s->ref, &x->of, &v);
    c.unit = wg_unit_for(wg_metric_ref_unit(s->ref), known ? v : 0, g->style->base_units);
    if (!known) {
        c.unit.name[0] = 0;
        strcpy(c.value, "n/a");
        return c;
    }
    c.fidelity = wg_ncu_fidelity(s->ref, x->l);
    wg_value_text(c.value, v / c.unit.factor, grouped);
    return c;
}

static void rule_line(FILE *out, const size_t w[4])
{
    fputs("    ", out);
    for (unsigned i = 0; i < 4; i++) {
        for (size_t k = 0; k < w[i]; k++)
            fputc('-', out);
        fputc(i < 3 ? ' ' : '\n', out);
    }
}

static void table(struct wg_ncu *g, const struct cell *v, size_t n, int section)
{
    static const char *const heads[] = {"Metric Name", "Metric Unit", "Metric Value", "Fidelity"};
    size_t w[4];
    for (unsigned i = 0; i < 4; i++)
        w[i] = strlen(heads[i]);
    for (size_t i = 0; i < n; i++) {
        const size_t own[] = {strlen(v[i].name), strlen(v[i].unit.name), strlen(v[i].value), strlen(v[i].fidelity)};
        for (unsigned k = 0; k < 4; k++)
            w[k] = own[k] > w[k] ? own[k] : w[k];
    }
    fprintf(g->out, "    Section: %s\n", section_name(section));
    rule_line(g->out, w);
    fprintf(g->out, "    %-*s %*s %*s %s\n", (int)w[0], heads[0], (int)w[1], heads[1], (int)w[2], heads[2], heads[3]);
    rule_line(g->out, w);
    for (size_t i = 0; i < n; i++) {
        fprintf(g->out, "    %-*s %*s %*s", (int)w[0], v[i].name, (int)w[1], v[i].unit.name, (int)w[2], v[i].value);
        fprintf(g->out, *v[i].fidelity ? " %s\n" : "\n", v[i].fidelity);
    }
    rule_line(g->out, w);
    fputc('\n', g->out);
}

/* "    OPT   Est. Speedup: 55.81%" and the text below it, wrapped. */
static void advice_text(struct wg_ncu *g, const struct wg_advice_row *r)
{
    const char *s = r->text;
    fprintf(g->out, "    %-5s ", r->type);
    if (r->gain >= 0)
        fprintf(g->out, "Est. %sSpeedup: %.4g%% (%s)\n          ", r->local ? "Local " : "", r->gain, r->fidelity);
    while (*s) {
        size_t n = strlen(s), room = TEXT_WIDTH - 10;
        if (n > room)
            for (n = room; n && s[n] != ' ';)
                n--;
        n = n ? n : room;
        wg_escape(g->out, s, n, 0);
        s += n;
        s += strspn(s, " ");
        fputs(*s ? "\n          " : "\n", g->out);
    }
    fputc('\n', g->out);
}

static void advice_csv(struct wg_ncu *g, const struct wg_ncu_launch *x, const struct wg_advice_row *r,
                       struct wg_arena *a)
{
    char gain[32] = "";
    if (r->gain >= 0)
        snprintf(gain, sizeof gain, "%.4g", r->gain);
    const char *cells[] = {
        wg_section_infos[wg_rule_infos[r->rule].section].id, "",  "", "", wg_rule_infos[r->rule].id, r->type, r->text,
        r->gain < 0 ? "" : r->local ? "local" : "global",    gain};
    wg_csv_launch(g, x, a);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        wg_csv_text(g->out, false, cells[i]);
    fputc('\n', g->out);
}

/* Metrics [from, to) of the selection, which are one section. */
static enum wg_status section(struct wg_ncu *g, const struct wg_ncu_launch *x, size_t from, size_t to,
                              const struct wg_advice_row *rows, size_t nrows, bool rules, struct wg_arena *a)
{
    const struct wg_shown *v = g->selection->v;
    int id = v[from].section;
    struct cell *cells = wg_arena_alloc(a, (to - from) * sizeof *cells);
    if (!cells)
        return WG_NO_MEMORY;
    for (size_t i = from; i < to; i++)
        cells[i - from] = evaluate(g, x, &v[i], a, !g->style->csv);
    if (a->failed)
        return WG_NO_MEMORY;
    if (!g->style->csv)
        table(g, cells, to - from, id);
    for (size_t i = 0; g->style->csv && i < to - from; i++) {
        wg_csv_launch(g, x, a);
        const char *own[] = {section_name(id), cells[i].name, cells[i].unit.name, cells[i].value};
        for (unsigned k = 0; k < 4; k++)
            wg_csv_text(g->out, false, own[k]);
        fputs(rules ? ",\"\",\"\",\"\",\"\",\"\"\n" : "\n", g->out);
    }
    for (size_t i = 0; i < nrows; i++)
        if ((int)wg_rule_infos[rows[i].rule].section == id && rules) {
            if (g->style->csv)
                advice_csv(g, x, &rows[i], a);
            else
                advice_text(g, &rows[i]);
        }
    return WG_OK;
}

static enum wg_status launch(struct wg_ncu *g, size_t index, bool rules)
{
    struct wg_arena a = {0};
    struct wg_ncu_launch x;
    struct wg_advice_row *rows = NULL;
    size_t nrows = 0;
    enum wg_status s = wg_ncu_open(g, index, rules, &a, &x);
    if (s == WG_OK && rules)
        s = wg_rules(g->p, &x.of, x.lines, x.nlines, &a, &rows, &nrows);
    if (s == WG_OK && !g->style->csv)
        wg_ncu_title(g, &x, &a);
    for (size_t i = 0, k; s == WG_OK && i < g->selection->n; i = k) {
        for (k = i + 1; k < g->selection->n && g->selection->v[k].section == g->selection->v[i].section;)
            k++;
        s = section(g, &x, i, k, rows, nrows, rules, &a);
    }
    wg_arena_free(&a);
    return s;
}

enum wg_status wg_ncu_details(struct wg_ncu *g)
{
    enum wg_status s = WG_OK;
    bool rules = false; /* only metrics by name: the profiler applies no rules, and prints no columns for them */
    for (size_t i = 0; i < g->selection->n; i++)
        rules |= g->selection->v[i].section >= 0;
    if (g->style->csv) {
        wg_csv_launch_names(g->out);
        fputs(",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"", g->out);
        fputs(
            rules
                ? ",\"Rule Name\",\"Rule Type\",\"Rule Description\",\"Estimated Speedup Type\",\"Estimated Speedup\"\n"
                : "\n",
            g->out);
    } else {
        wg_ncu_program(g);
    }
    for (size_t i = 0; i < g->p->nlaunches && s == WG_OK; i++)
        s = launch(g, i, rules);
    return s;
}
