/* compare_print.c - the difference of two profiles as text and as Markdown. */
#include "report/compare.h"
#include "report/escape.h"
#include "report/markup.h"
#include <inttypes.h>
#include <string.h>

static const char *base(const char *path)
{
    const char *s = strrchr(path, '/');
    return s && s[1] ? s + 1 : path;
}

static const char *word(enum wg_change c)
{
    static const char *const words[] = {"", "better", "worse", ""};
    return words[c];
}

/* Lines show what they cost, not what follows from that. */
static bool of_lines(enum wg_headline h)
{
    return wg_headlines[h].how == WG_HEADLINE_SUM;
}

static bool changed_line(const struct wg_pair *p, const struct wg_line_pair *l)
{
    for (int h = 0; h < WG_HEADLINE_COUNT; h++) {
        struct wg_delta d = wg_compare_line_figure(p, l, (enum wg_headline)h);
        if (of_lines((enum wg_headline)h) && (d.a.has || d.b.has) && d.a.value != d.b.value)
            return true;
    }
    return false;
}

static const struct wg_source *source_of(const struct wg_compare *c, const struct wg_line_pair *l, uint32_t *line)
{
    const struct wg_line *x = l->b ? l->b : l->a;
    const struct wg_profile *p = l->b ? c->b->p : c->a->p;
    *line = x->line;
    return x->source < p->nsources ? &p->sources[x->source] : NULL;
}

/* "transpose.cu:14 (was 12)" */
static void place(const struct wg_compare *c, const struct wg_line_pair *l, enum wg_markup m, FILE *out)
{
    uint32_t line;
    const struct wg_source *s = source_of(c, l, &line);
    wg_markup(out, m, s ? base(s->path) : "PTX line");
    fprintf(out, s ? ":%" PRIu32 : " %" PRIu32, line);
    if (!l->a)
        fputs(" (new)", out);
    else if (!l->b)
        fputs(" (gone)", out);
    else if (l->a->line != l->b->line)
        fprintf(out, " (was %" PRIu32 ")", l->a->line);
}

static void source_text(const struct wg_compare *c, const struct wg_line_pair *l, enum wg_markup m, FILE *out)
{
    uint32_t line;
    size_t n;
    const struct wg_source *s = source_of(c, l, &line);
    const char *t = s ? wg_source_line(s, line, &n) : NULL;
    if (!t)
        return;
    size_t skip = 0;
    while (skip < n && strchr(" \t", t[skip]))
        skip++;
    wg_markup_n(out, m, t + skip, n - skip);
}

/* ---- text ----------------------------------------------------------------------------------------------------- */
static void ink(FILE *out, bool color, enum wg_change c)
{
    if (color && (c == WG_CHANGE_WORSE || c == WG_CHANGE_BETTER))
        fputs(c == WG_CHANGE_WORSE ? "\033[1;31m" : "\033[32m", out);
}

static void row(FILE *out, bool color, const char *label, unsigned width, const struct wg_delta *d, enum wg_headline h)
{
    char x[WG_VALUE_BYTES] = "-", y[WG_VALUE_BYTES] = "-", by[32];
    const char *unit = wg_metric_infos[wg_headlines[h].metric].unit;
    if (d->a.has)
        wg_view_value_unit(x, d->a.value, unit);
    if (d->b.has)
        wg_view_value_unit(y, d->b.value, unit);
    fprintf(out, "%-*s %18s  ->%18s  ", (int)width, label, x, y);
    ink(out, color, d->change);
    fprintf(out, "%12s  %-6s", wg_compare_text_of(by, d), word(d->change));
    if (color)
        fputs("\033[0m", out);
    fprintf(out, "  %s\n", wg_fidelity_name(d->b.has ? d->b.fidelity : d->a.fidelity));
}

static void name(FILE *out, bool color, const struct wg_pair *p)
{
    const struct wg_launch_result *l = p->b ? p->b->first : p->a->first;
    char shape[128];
    fputs(color ? "\n\033[1m" : "\n", out);
    wg_markup(out, WG_MARKUP_PLAIN, *l->kernel ? l->kernel : l->mangled);
    fprintf(out, "  %s%s", wg_view_shape(shape, l), color ? "\033[0m" : "");
    if (p->a && p->b && p->reshaped)
        fprintf(out, ", was %s", wg_view_shape(shape, p->a->first));
    fputs(!p->a ? "  only after\n" : !p->b ? "  only before\n" : "\n", out);
    if (p->a && p->b && p->a->nlaunches != p->b->nlaunches)
        fprintf(out, "  launches: %zu -> %zu; figures are of one launch, on average\n", p->a->nlaunches,
                p->b->nlaunches);
}

static void findings(const struct wg_compare *c, const struct wg_pair *p, FILE *out)
{
    for (size_t i = 0; p->a && p->b && i < p->b->nfindings; i++) {
        const struct wg_finding *f = &p->b->findings[i];
        if (wg_compare_finding(c, p, f))
            continue;
        fputs("  new finding: ", out);
        wg_escape(out, f->message, strlen(f->message), 0);
        if (f->line && f->source < c->b->p->nsources) {
            fputs(", ", out);
            wg_markup(out, WG_MARKUP_PLAIN, base(c->b->p->sources[f->source].path));
            fprintf(out, ":%" PRIu32, f->line);
        }
        fputc('\n', out);
    }
    if (p->a && p->b && p->a->nfindings != p->b->nfindings)
        fprintf(out, "  findings: %zu -> %zu\n", p->a->nfindings, p->b->nfindings);
}

enum wg_status wg_compare_print(const struct wg_compare *c, bool color, bool verbose, FILE *out)
{
    size_t same = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct wg_pair *p = &c->v[i];
        bool any = !p->a || !p->b || p->nlines == 0;
        for (int h = 0; h < WG_HEADLINE_COUNT && !any; h++) {
            struct wg_delta d = wg_compare_figure(p, (enum wg_headline)h);
            any = d.change != WG_CHANGE_NONE || d.a.has != d.b.has;
        }
        for (size_t k = 0; k < p->nlines && !any; k++)
            any = changed_line(p, &p->lines[k]);
        for (size_t k = 0; p->b && k < p->b->nfindings && !any; k++)
            any = !wg_compare_finding(c, p, &p->b->findings[k]);
        any |= p->a && p->b && p->a->nfindings != p->b->nfindings;
        same += !any;
        if (!any && !verbose)
            continue;
        name(out, color, p);
        findings(c, p, out);
        for (int h = 0; h < WG_HEADLINE_COUNT; h++) {
            struct wg_delta d = wg_compare_figure(p, (enum wg_headline)h);
            if ((d.a.has || d.b.has) && (verbose || d.change != WG_CHANGE_NONE || d.a.has != d.b.has)) {
                fputs("  ", out);
                row(out, color, wg_headlines[h].label, 50, &d, (enum wg_headline)h);
            }
        }
        for (size_t k = 0; p->a && p->b && k < p->nlines; k++) {
            if (!changed_line(p, &p->lines[k]))
                continue;
            fputs("  ", out);
            place(c, &p->lines[k], WG_MARKUP_PLAIN, out);
            fputs("   ", out);
            source_text(c, &p->lines[k], WG_MARKUP_PLAIN, out);
            fputc('\n', out);
            for (int h = 0; h < WG_HEADLINE_COUNT; h++) {
                struct wg_delta d = wg_compare_line_figure(p, &p->lines[k], (enum wg_headline)h);
                if (!of_lines((enum wg_headline)h) || (d.a.value == d.b.value))
                    continue;
                fputs("    ", out);
                row(out, color, wg_headlines[h].label, 48, &d, (enum wg_headline)h);
            }
        }
    }
    if (same)
        fprintf(out, "\n%zu kernel%s the same\n", same, same == 1 ? " is" : "s are");
    if (!c->n)
        fputs("no launches in either profile\n", out);
    return ferror(out) ? WG_IO : WG_OK;
}

/* ---- Markdown ------------------------------------------------------------------------------------------------- */
static void md_row(FILE *out, const struct wg_delta *d, enum wg_headline h)
{
    char x[WG_VALUE_BYTES] = "", y[WG_VALUE_BYTES] = "", by[32];
    const char *unit = wg_metric_infos[wg_headlines[h].metric].unit;
    if (d->a.has)
        wg_view_value_unit(x, d->a.value, unit);
    if (d->b.has)
        wg_view_value_unit(y, d->b.value, unit);
    fprintf(out, " %s | %s | %s | %s%s%s | %s |\n", wg_headlines[h].label, x, y, wg_compare_text_of(by, d),
            d->change == WG_CHANGE_WORSE || d->change == WG_CHANGE_BETTER ? ", " : "",
            d->change == WG_CHANGE_WORSE ? "**worse**" : word(d->change),
            wg_fidelity_name(d->b.has ? d->b.fidelity : d->a.fidelity));
}

enum wg_status wg_compare_markdown(const struct wg_compare *c, FILE *out)
{
    size_t same = 0, shown = 0;
    char shape[128];
    for (size_t i = 0; i < c->n; i++) {
        const struct wg_pair *p = &c->v[i];
        const struct wg_launch_result *l = p->b ? p->b->first : p->a->first;
        bool head = false;
        for (size_t k = 0; k <= (p->a && p->b ? p->nlines : 0); k++)
            for (int h = 0; h < WG_HEADLINE_COUNT; h++) {
                const struct wg_line_pair *at = k ? &p->lines[k - 1] : NULL;
                struct wg_delta d =
                    at ? wg_compare_line_figure(p, at, (enum wg_headline)h) : wg_compare_figure(p, (enum wg_headline)h);
                if ((at && !of_lines((enum wg_headline)h)) || (!d.a.has && !d.b.has) || d.a.value == d.b.value)
                    continue;
                if (!head) {
                    fputs(shown++ ? "\n### " : "### ", out);
                    wg_markup(out, WG_MARKUP_MARKDOWN, *l->kernel ? l->kernel : l->mangled);
                    fputc(' ', out);
                    wg_markup(out, WG_MARKUP_MARKDOWN, wg_view_shape(shape, l));
                    fputs(!p->a ? ", only after" : !p->b ? ", only before" : "", out);
                    fputs("\n\n| where | figure | before | after | change | |\n|---|---|---:|---:|---|---|\n", out);
                    head = true;
                }
                fputs("| ", out);
                if (at)
                    place(c, at, WG_MARKUP_MARKDOWN, out);
                else
                    fputs("kernel", out);
                fputs(" |", out);
                md_row(out, &d, (enum wg_headline)h);
            }
        same += !head;
    }
    if (same)
        fprintf(out, "%s%zu kernel%s the same.\n", shown ? "\n" : "", same, same == 1 ? " is" : "s are");
    return ferror(out) ? WG_IO : WG_OK;
}
