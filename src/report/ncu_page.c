/* ncu_page.c - the pages in Nsight Compute's form: what they share, and the choice between them. */
#include "report/ncu_page.h"
#include "report/escape.h"
#include "report/kernel_name.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const wg_ncu_pages[] = {"details", "raw", "source"},
                  *const wg_ncu_labels[] = {"label", "name", "label-name"},
                  *const wg_ncu_bases[] = {"demangled", "function", "mangled"};

/* A simulated program has one context and one device, and launches run one after another: what ncu calls the default
 * stream. Processes have no number that would mean anything. */
#define PROCESS "0"
#define HOST    "127.0.0.1"
#define CONTEXT "1"
#define STREAM  "7"
#define DEVICE  "0"

static void program_name(const struct wg_profile *p, const char **s, size_t *n)
{
    const char *text = p->program ? p->program : "";
    *n = strcspn(text, " ");
    *s = text;
    for (size_t i = 0; i < *n; i++)
        if (text[i] == '/' && i + 1 < *n) {
            *s = text + i + 1;
        }
    *n -= (size_t)(*s - text);
}

const char *wg_ncu_kernel(const struct wg_ncu *g, const struct wg_launch_result *l, struct wg_arena *a)
{
    const char *readable = *l->kernel ? l->kernel : l->mangled;
    if (g->style->kernel == WG_NCU_MANGLED)
        return l->mangled;
    if (g->style->kernel == WG_NCU_DEMANGLED)
        return readable;
    size_t n = strlen(readable) + 1;
    char *buf = wg_arena_alloc(a, n);
    return buf ? wg_kernel_function(buf, n, readable) : "";
}

enum wg_status wg_ncu_open(struct wg_ncu *g, size_t launch, bool lines, struct wg_arena *a, struct wg_ncu_launch *x)
{
    const struct wg_launch_result *l = &g->p->launches[launch];
    const struct wg_site **sites = wg_arena_alloc(a, (l->nsites + 1) * sizeof *sites);
    if (!sites)
        return WG_NO_MEMORY;
    for (size_t i = 0; i < l->nsites; i++)
        sites[i] = &l->sites[i];
    *x = (struct wg_ncu_launch){.l = l, .gpu = wg_device_of(&g->devices, g->p, l)};
    x->of = (struct wg_metric_of){.launch = l, .sites = sites, .nsites = l->nsites, .gpu = x->gpu};
    if (!lines)
        return WG_OK;
    struct wg_profile one = *g->p;
    size_t n;
    one.launches = (struct wg_launch_result *)l;
    one.nlaunches = 1;
    enum wg_status s = wg_fold(&one, false, a, &x->group, &n);
    return s == WG_OK ? wg_fold_lines(g->p, x->group, a, &x->lines, &x->nlines) : s;
}

const char *wg_ncu_fidelity(struct wg_metric_ref r, const struct wg_launch_result *l)
{
    return wg_fidelity_name(wg_metric_fidelity(r.metric, l));
}

const char *wg_ncu_name(const struct wg_shown *s, enum wg_ncu_label label, struct wg_arena *a)
{
    char buf[WG_METRIC_NAME_BYTES];
    const char *name = wg_metric_ref_name(s->ref, buf);
    if (label == WG_NCU_LABEL)
        return s->label;
    if (label == WG_NCU_LABEL_NAME && strcmp(name, s->label))
        name = wg_arena_printf(a, "%s %s", s->label, name);
    else if (name == buf)
        name = wg_arena_str(a, buf, strlen(buf));
    return name ? name : ""; /* the arena says that it failed */
}

/* ---- text -------------------------------------------------------------------------------------------------------- */
void wg_ncu_program(struct wg_ncu *g)
{
    const char *s;
    size_t n;
    program_name(g->p, &s, &n);
    fputs("[" PROCESS "] ", g->out);
    wg_escape(g->out, s, n, 0);
    fputs("@" HOST "\n", g->out);
}

void wg_ncu_title(struct wg_ncu *g, const struct wg_ncu_launch *x, struct wg_arena *a)
{
    const uint32_t *d = x->l->grid, *b = x->l->block;
    const char *name = wg_ncu_kernel(g, x->l, a);
    fputs("  ", g->out);
    wg_escape(g->out, name, strlen(name), 0);
    fprintf(g->out,
            " (%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")x(%" PRIu32 ", %" PRIu32 ", %" PRIu32 "), Context " CONTEXT
            ", Stream " STREAM ", Device " DEVICE,
            d[0], d[1], d[2], b[0], b[1], b[2]);
    if (x->gpu)
        fprintf(g->out, ", CC %u.%u", x->gpu->cc->major, x->gpu->cc->minor);
    fputc('\n', g->out);
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */
void wg_csv_cell(FILE *out, bool first, const char *s, size_t n)
{
    fputs(first ? "\"" : ",\"", out);
    for (size_t i = 0, k; i < n; i += k + 1) {
        const char *quote = memchr(s + i, '"', n - i);
        k = quote ? (size_t)(quote - s) - i : n - i;
        wg_escape(out, s + i, k, 0);
        if (quote)
            fputs("\"\"", out);
    }
    fputc('"', out);
}

void wg_csv_text(FILE *out, bool first, const char *s)
{
    wg_csv_cell(out, first, s, strlen(s));
}

static const char *const launch_names[] = {"ID",      "Process ID", "Process Name", "Host Name", "Kernel Name",
                                           "Context", "Stream",     "Block Size",   "Grid Size", "Device",
                                           "CC"};
enum { NLAUNCH = sizeof launch_names / sizeof *launch_names };

void wg_csv_launch_names(FILE *out)
{
    for (unsigned i = 0; i < NLAUNCH; i++)
        wg_csv_text(out, i == 0, launch_names[i]);
}

void wg_csv_launch_empty(FILE *out)
{
    for (unsigned i = 0; i < NLAUNCH; i++)
        wg_csv_text(out, i == 0, "");
}

static void triple(FILE *out, const uint32_t v[3])
{
    fprintf(out, ",\"(%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")\"", v[0], v[1], v[2]);
}

void wg_csv_launch(struct wg_ncu *g, const struct wg_ncu_launch *x, struct wg_arena *a)
{
    const char *s;
    size_t n;
    program_name(g->p, &s, &n);
    fprintf(g->out, "\"%" PRIu32 "\",\"" PROCESS "\"", x->l->index);
    wg_csv_cell(g->out, false, s, n);
    fputs(",\"" HOST "\"", g->out);
    wg_csv_text(g->out, false, wg_ncu_kernel(g, x->l, a));
    fputs(",\"" CONTEXT "\",\"" STREAM "\"", g->out);
    triple(g->out, x->l->block);
    triple(g->out, x->l->grid);
    fputs(",\"" DEVICE "\",\"", g->out);
    if (x->gpu)
        fprintf(g->out, "%u.%u", x->gpu->cc->major, x->gpu->cc->minor);
    fputc('"', g->out);
}

/* ---- the choice -------------------------------------------------------------------------------------------------- */
/* Nothing was asked for: a set on the details page, all metrics on the raw page, the profiler's columns of sources. */
static enum wg_status by_itself(struct wg_selection *s, enum wg_ncu_page page, struct wg_arena *a)
{
    *s = (struct wg_selection){0};
    if (page == WG_NCU_DETAILS)
        return wg_select_set(s, WG_SET_BASIC, a);
    s->n = page == WG_NCU_RAW ? WG_METRIC_COUNT : wg_source_column_count;
    s->v = wg_arena_alloc(a, s->n * sizeof *s->v);
    for (size_t i = 0; s->v && i < s->n; i++)
        s->v[i] = page == WG_NCU_SOURCE ? wg_source_columns[i]
                                        : (struct wg_shown){{.metric = (enum wg_metric)i}, wg_metric_infos[i].name, -1};
    return s->v ? WG_OK : WG_NO_MEMORY;
}

enum wg_status wg_report_ncu(const struct wg_profile *p, const struct wg_ncu_style *style, FILE *out)
{
    struct wg_arena a = {0};
    struct wg_ncu g = {.out = out, .p = p, .style = style, .selection = style->selection, .arena = &a};
    struct wg_selection own;
    enum wg_status s = WG_OK;
    if (!g.selection || !g.selection->n) {
        s = by_itself(&own, style->page, &a);
        g.selection = &own;
    }
    if (s == WG_OK)
        s = style->page == WG_NCU_RAW      ? wg_ncu_raw(&g)
            : style->page == WG_NCU_SOURCE ? wg_ncu_source(&g)
                                           : wg_ncu_details(&g);
    wg_arena_free(&g.devices.arena);
    wg_arena_free(&a);
    return s == WG_OK && ferror(out) ? WG_IO : s;
}
