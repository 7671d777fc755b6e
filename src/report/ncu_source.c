/* ncu_source.c - the source page: what each line of source counted, launch by launch. */
#include "report/escape.h"
#include "report/ncu_page.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const column_labels[] = {"Address Space", "Access Operation", "Access Size"};

/* The file of a line; of code without lines the PTX module. */
static const char *file_of(const struct wg_ncu *g, const struct wg_ncu_launch *x, const struct wg_line *l)
{
    return l->source < g->p->nsources ? g->p->sources[l->source].path : x->l->module;
}

static const char *source_text(const struct wg_ncu *g, const struct wg_line *l, size_t *n)
{
    *n = l->text ? strlen(l->text) : 0;
    if (l->text || l->source >= g->p->nsources)
        return l->text ? l->text : "";
    const char *s = wg_source_line(&g->p->sources[l->source], l->line, n);
    return s ? s : "";
}

static int by_place(const void *x, const void *y)
{
    const struct wg_line *const *a = x, *const *b = y;
    if ((*a)->source != (*b)->source)
        return (*a)->source < (*b)->source ? -1 : 1;
    return (*a)->line<(*b)->line ? -1 : (*a)->line>(*b)->line;
}

static struct wg_metric_of of_line(const struct wg_ncu_launch *x, const struct wg_line *l)
{
    return (struct wg_metric_of){.launch = x->l, .sites = l->sites, .nsites = l->nsites, .line = true, .gpu = x->gpu};
}

static const char *value_of(const struct wg_ncu *g, size_t column, const struct wg_metric_of *of, bool grouped,
                            char buf[WG_VALUE_TEXT_BYTES])
{
    double v;
    return wg_metric_ref_value(g->selection->v[column].ref, of, &v) ? wg_value_text(buf, v, grouped) : "n/a";
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */
static void head(struct wg_ncu *g)
{
    enum wg_ncu_label label = g->style->has_label ? g->style->label : WG_NCU_NAME;
    static const char *const names[] = {"File", "Line", "ID", "Kernel Name", "Source"};
    for (unsigned i = 0; i < 5; i++)
        wg_csv_text(g->out, i == 0, names[i]);
    for (size_t i = 0; i < g->selection->n; i++) {
        wg_csv_text(g->out, false, wg_ncu_name(&g->selection->v[i], label, g->arena));
        if (i == 6 && !g->selection->any)
            for (unsigned c = 0; c < 3; c++)
                wg_csv_text(g->out, false, label == WG_NCU_NAME ? wg_metric_columns[c] : column_labels[c]);
    }
    fputc('\n', g->out);
}

static void row(struct wg_ncu *g, const struct wg_ncu_launch *x, const struct wg_line *l, struct wg_arena *a)
{
    const struct wg_metric_of of = of_line(x, l);
    char buf[256];
    size_t n;
    const char *text = source_text(g, l, &n);
    wg_csv_text(g->out, true, file_of(g, x, l));
    fprintf(g->out, ",\"%" PRIu32 "\",\"%" PRIu32 "\"", l->line, x->l->index);
    wg_csv_text(g->out, false, wg_ncu_kernel(g, x->l, a));
    wg_csv_cell(g->out, false, text, n);
    for (size_t i = 0; i < g->selection->n; i++) {
        wg_csv_text(g->out, false, value_of(g, i, &of, false, buf));
        if (i == 6 && !g->selection->any) /* after the divergent branches, as the profiler has them */
            for (int c = 0; c < 3; c++) {
                wg_metric_column((enum wg_metric_column)c, l->sites, l->nsites, buf, sizeof buf);
                wg_csv_text(g->out, false, buf);
            }
    }
    fputc('\n', g->out);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */
static size_t longest_word(const char *s)
{
    size_t most = 0;
    for (; *s; s += strspn(s, " ")) {
        size_t n = strcspn(s, " ");
        most = n > most ? n : most;
        s += n;
    }
    return most;
}

/* Columns that have anything to say of this launch, and how wide they are. */
static size_t *widths(struct wg_ncu *g, const struct wg_ncu_launch *x, const struct wg_line *const *v,
                      const char **names, struct wg_arena *a)
{
    size_t *w = wg_arena_alloc(a, (g->selection->n + 1) * sizeof *w);
    enum wg_ncu_label label = g->style->has_label ? g->style->label : WG_NCU_LABEL;
    for (size_t i = 0; w && i < g->selection->n; i++) {
        bool any = g->selection->any;
        size_t wide = 0;
        names[i] = wg_ncu_name(&g->selection->v[i], label, a);
        for (size_t k = 0; k < x->nlines; k++) {
            const struct wg_metric_of of = of_line(x, v[k]);
            char buf[WG_VALUE_TEXT_BYTES];
            const char *s = value_of(g, i, &of, true, buf);
            any |= strcmp(s, "0") && strcmp(s, "n/a");
            wide = strlen(s) > wide ? strlen(s) : wide;
        }
        size_t word = longest_word(names[i]);
        word = word > 16 ? 16 : word; /* a metric's name is one word: it is cut */
        w[i] = !any ? 0 : wide > word ? wide : word;
    }
    return w;
}

/* Names are long: they are wrapped at words within the width of their column. Prints the next part of each; false when
 * nothing is left. */
static bool head_line(struct wg_ncu *g, const char **left, const size_t *w)
{
    bool more = false;
    fprintf(g->out, "    %6s", "");
    for (size_t i = 0; i < g->selection->n; i++) {
        if (!w[i])
            continue;
        size_t n = strlen(left[i]), k = 0;
        if (n <= w[i]) {
            k = n;
        } else {
            for (size_t j = 1; j <= w[i]; j++)
                if (left[i][j] == ' ' || left[i][j - 1] == '_')
                    k = j;
            k = k ? k : w[i];
        }
        fprintf(g->out, "  %*.*s", (int)w[i], (int)k, left[i]);
        left[i] += k;
        left[i] += strspn(left[i], " ");
        more |= *left[i] != 0;
    }
    fputc('\n', g->out);
    return more;
}

static enum wg_status table(struct wg_ncu *g, const struct wg_ncu_launch *x, const struct wg_line *const *v,
                            struct wg_arena *a)
{
    const char **names = wg_arena_alloc(a, (g->selection->n + 1) * sizeof *names);
    size_t *w = names ? widths(g, x, v, names, a) : NULL;
    if (!w || a->failed)
        return WG_NO_MEMORY;
    wg_ncu_title(g, x, a);
    for (size_t k = 0; k < x->nlines; k++) {
        if (!k || v[k]->source != v[k - 1]->source) {
            const char *file = file_of(g, x, v[k]);
            fputs(k ? "\n    " : "    ", g->out);
            wg_escape(g->out, file, strlen(file), 0);
            fputc('\n', g->out);
            const char **left = wg_arena_dup(a, names, g->selection->n * sizeof *names);
            if (!left)
                return WG_NO_MEMORY;
            while (head_line(g, left, w))
                ;
        }
        const struct wg_metric_of of = of_line(x, v[k]);
        size_t n;
        const char *text = source_text(g, v[k], &n);
        fprintf(g->out, "    %6" PRIu32, v[k]->line);
        for (size_t i = 0; i < g->selection->n; i++) {
            char buf[WG_VALUE_TEXT_BYTES];
            if (w[i])
                fprintf(g->out, "  %*s", (int)w[i], value_of(g, i, &of, true, buf));
        }
        fputs("  ", g->out);
        wg_escape(g->out, text, n, 0);
        fputc('\n', g->out);
    }
    fputs("\n    Sectors and wavefronts are exact, instructions estimated (machine code differs from PTX); "
          "--query-metrics "
          "says more.\n\n",
          g->out);
    return WG_OK;
}

static enum wg_status launch(struct wg_ncu *g, size_t index)
{
    struct wg_arena a = {0};
    struct wg_ncu_launch x;
    enum wg_status s = wg_ncu_open(g, index, true, &a, &x);
    const struct wg_line **v = s == WG_OK ? wg_arena_alloc(&a, (x.nlines + 1) * sizeof *v) : NULL;
    if (s == WG_OK && !v)
        s = WG_NO_MEMORY;
    for (size_t i = 0; s == WG_OK && i < x.nlines; i++)
        v[i] = &x.lines[i];
    if (s == WG_OK)
        qsort(v, x.nlines, sizeof *v, by_place);
    if (s == WG_OK && !g->style->csv)
        s = table(g, &x, v, &a);
    for (size_t i = 0; s == WG_OK && g->style->csv && i < x.nlines; i++)
        row(g, &x, v[i], &a);
    s = s == WG_OK && a.failed ? WG_NO_MEMORY : s;
    wg_arena_free(&a);
    return s;
}

enum wg_status wg_ncu_source(struct wg_ncu *g)
{
    enum wg_status s = WG_OK;
    if (g->style->csv)
        head(g);
    else
        wg_ncu_program(g);
    for (size_t i = 0; i < g->p->nlaunches && s == WG_OK; i++)
        s = launch(g, i);
    return s == WG_OK && g->arena->failed ? WG_NO_MEMORY : s;
}
