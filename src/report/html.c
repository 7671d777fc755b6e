/* html.c - the page: head, what was run, the table of launches, the roofline, then a section per kernel. */
#include "report/html.h"
#include "report/escape.h"
#include "report/kernel_name.h"
#include "report/markup.h"
#include "report/svg.h"
#include "report/svg_parts.h"
#include "report/timing.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SITE_BYTES = 60 /* at least, of an instruction's row */, PAGE_BYTES = 1800000 /* of all kernels' sections */ };

const char *wg_html_base(const char *path)
{
    const char *s = strrchr(path, '/');
    return s && s[1] ? s + 1 : path;
}

void wg_html_text(struct wg_html *h, const char *s)
{
    wg_markup(h->out, WG_MARKUP_HTML, s);
}

const char *wg_html_mark(enum wg_fidelity f)
{
    return f == WG_FIDELITY_MODELLED    ? "<sup title=\"modelled\">m</sup>"
           : f == WG_FIDELITY_ESTIMATED ? "<sup title=\"estimated\">e</sup>"
                                        : "";
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void head(struct wg_html *h, const char *title)
{
    fprintf(h->out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
            "script-src '%s'\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
            wg_html_script_hash);
    wg_html_text(h, title);
    fprintf(h->out,
            "</title>\n<style>\n%s%s</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">to the content</a>\n",
            wg_html_style, wg_svg_style);
}

static void foot(struct wg_html *h)
{
    fprintf(h->out,
            "<footer><p><b>How far to trust a figure.</b> No mark, or <i>exact</i>: counted, as a GPU's own counters "
            "would for this "
            "PTX. <sup>m</sup> <i>modelled</i>: counted, but a model had a say. <sup>e</sup> <i>estimated</i>: no "
            "measurement behind "
            "it.</p></footer>\n<script type=\"module\">%s</script>\n</body>\n</html>\n",
            wg_html_script);
}

/* ---- summary -------------------------------------------------------------------------------------------------- */
static void tally(struct wg_html *h, const struct wg_finding *v, size_t n, bool always)
{
    static const char *const names[] = {"note", "warning", "error"};
    size_t count[3] = {0}, said = 0;
    for (size_t i = 0; i < n; i++)
        count[v[i].severity <= WG_SEVERITY_ERROR ? v[i].severity : WG_SEVERITY_ERROR]++;
    for (int s = WG_SEVERITY_ERROR; s >= 0; s--)
        if (count[s])
            fprintf(h->out, "%s<span class=\"%s\">%zu %s%s</span>", said++ ? ", " : "", names[s], count[s], names[s],
                    plural(count[s]));
    if (!said && always)
        fputs("no findings", h->out);
}

static void findings_of_program(struct wg_html *h)
{
    const struct wg_view *v = h->v;
    if (!v->nhost)
        return;
    fputs("<section id=\"program\"><h2>The program's use of CUDA</h2><ul class=\"findings\">", h->out);
    for (size_t i = 0; i < v->nhost; i++) {
        static const char *const names[] = {"note", "warning", "error"};
        const struct wg_finding *f = &v->host[i];
        fprintf(h->out, "<li class=\"%s\"><b>%s</b> <span class=\"pre\">", names[f->severity % 3],
                names[f->severity % 3]);
        wg_html_text(h, f->message);
        fputs("</span></li>", h->out);
    }
    fputs("</ul></section>\n", h->out);
}

static void summary(struct wg_html *h)
{
    const struct wg_view *v = h->v;
    const struct wg_profile *p = v->p;
    size_t kernels = 0, errors = 0, all = v->nhost, fixes = 0;
    char a[WG_NUMBER_BYTES];
    struct wg_advice adv[WG_ADVICE_MAX];
    for (size_t i = 0; i < v->n; i++) {
        size_t k = 0;
        while (k < i && strcmp(v->groups[k].first->mangled, v->groups[i].first->mangled))
            k++;
        kernels += k == i;
        all += v->groups[i].nfindings;
        for (size_t f = 0; f < v->groups[i].nfindings; f++)
            errors += v->groups[i].findings[f].severity >= WG_SEVERITY_ERROR;
        if (v->groups[i].total[WG_C_INST])
            fixes += wg_judge(&v->groups[i], v->lines[i].v, v->lines[i].n, adv);
    }
    for (size_t f = 0; f < v->nhost; f++)
        errors += v->host[f].severity >= WG_SEVERITY_ERROR;
    fputs("<header><h1>", h->out);
    wg_html_text(h, *p->program ? p->program : "profile");
    fprintf(h->out, "</h1><p>%zu kernel%s, %s launch%s, <span class=\"%s\">%zu error%s</span>", kernels,
            plural(kernels), wg_format_count(a, p->nlaunches), p->nlaunches == 1 ? "" : "es", errors ? "error" : "good",
            errors, plural(errors));
    if (all > errors)
        fprintf(h->out, ", %zu other finding%s", all - errors, plural(all - errors));
    fprintf(h->out, ", <span class=\"%s\">%zu thing%s to fix</span>", fixes ? "warning" : "good", fixes, plural(fixes));
    if (p->nlaunches && *p->launches[0].device) {
        fputs("; a model of ", h->out);
        wg_html_text(h, p->launches[0].device);
    }
    fputs("</p><p class=\"dim\">", h->out);
    wg_html_text(h, p->tool_version);
    fputs("</p></header>\n", h->out);
}

/* ---- launches ------------------------------------------------------------------------------------------------- */
/* Columns of the table of launches that some row fills. */
struct filled {
    bool several, findings, fixes, figure[WG_HEADLINE_COUNT];
};

static void launch_row(struct wg_html *h, size_t k, const struct filled *c)
{
    const struct wg_group *g = &h->v->groups[k];
    char shape[128], buf[WG_VALUE_BYTES];
    struct wg_advice adv[WG_ADVICE_MAX];
    size_t n = g->total[WG_C_INST] ? wg_judge(g, h->v->lines[k].v, h->v->lines[k].n, adv) : 0;
    fprintf(h->out, "<tr data-k=\"%zu\"><th scope=\"row\"><a href=\"#k%zu\">", k, k);
    size_t len;
    const char *name = wg_kernel_label(*g->first->kernel ? g->first->kernel : g->first->mangled, &len);
    wg_markup_n(h->out, WG_MARKUP_HTML, name, len);
    fputs("</a></th><td class=\"l shape\">", h->out);
    wg_html_text(h, wg_view_shape(shape, g->first));
    fputs("</td>", h->out);
    if (c->several)
        fprintf(h->out, "<td data-v=\"%zu\">%zu</td>", g->nlaunches, g->nlaunches);
    if (c->findings) {
        fputs("<td class=\"l\">", h->out);
        if (g->first->status != WG_OK)
            fputs("<span class=\"error\">stopped</span> ", h->out);
        tally(h, g->findings, g->nfindings, false);
        fputs("</td>", h->out);
    }
    if (c->fixes)
        fputs("<td class=\"l fix\">", h->out);
    for (size_t i = 0; i < n; i++)
        fprintf(h->out, "%s%s", i ? ", " : "", adv[i].title);
    if (c->fixes)
        fputs("</td>", h->out);
    for (int m = 0; m < WG_HEADLINE_COUNT; m++) {
        struct wg_figure f = wg_view_figure(g, (enum wg_headline)m);
        if (!c->figure[m])
            continue;
        if (f.has)
            fprintf(h->out, "<td data-v=\"%.17g\">%s%s</td>", f.value,
                    wg_view_value_unit(buf, f.value, wg_metric_infos[wg_headlines[m].metric].unit),
                    wg_html_mark(f.fidelity));
        else
            fputs("<td></td>", h->out);
    }
    fputs("</tr>\n", h->out);
}

static void launches(struct wg_html *h)
{
    const struct wg_view *v = h->v;
    struct filled c = {0};
    struct wg_advice adv[WG_ADVICE_MAX];
    for (size_t k = 0; k < v->n; k++) {
        const struct wg_group *g = &v->groups[k];
        c.several |= g->nlaunches > 1;
        c.findings |= g->nfindings || g->first->status != WG_OK;
        c.fixes |= g->total[WG_C_INST] && wg_judge(g, v->lines[k].v, v->lines[k].n, adv);
        for (int m = 0; m < WG_HEADLINE_COUNT; m++)
            c.figure[m] |= *wg_headlines[m].column && wg_view_figure(g, (enum wg_headline)m).has;
    }
    fprintf(h->out,
            "<section id=\"launches\"><h2>Launches</h2><div class=\"wide\" tabindex=\"0\" role=\"region\" "
            "aria-label=\"launches\"><table class=\"data launches\" data-tools><thead><tr><th scope=\"col\">kernel</th>"
            "<th scope=\"col\" class=\"l\">shape</th>%s%s%s",
            c.several ? "<th scope=\"col\">launches</th>" : "",
            c.findings ? "<th scope=\"col\" class=\"l\">findings</th>" : "",
            c.fixes ? "<th scope=\"col\" class=\"l\">to fix</th>" : "");
    for (int m = 0; m < WG_HEADLINE_COUNT; m++)
        if (c.figure[m])
            fprintf(h->out, "<th scope=\"col\" title=\"%s: %s\">%s</th>", wg_metric_infos[wg_headlines[m].metric].name,
                    wg_headlines[m].label, wg_headlines[m].column);
    fputs("</tr></thead><tbody>\n", h->out);
    for (size_t k = 0; k < v->n; k++)
        launch_row(h, k, &c);
    fputs("</tbody></table></div>", h->out);
    if (c.several)
        fputs("<p class=\"dim\">Launches of one kernel and shape are one row; figures are the mean of a launch.</p>",
              h->out);
    if (!v->n)
        fputs("<p>No kernel was launched.</p>", h->out);
    fputs("</section>\n", h->out);
}

static void roofline(struct wg_html *h)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        return;
    bool any = wg_svg_roofline(f, h->v, false);
    if (!fclose(f) && any) {
        bool timed = false;
        for (size_t k = 0; k < h->v->n; k++)
            timed |= wg_timing_known(h->v->groups[k].first);
        fputs("<section id=\"roofline\"><h2>Roofline</h2><figure>", h->out);
        fwrite(text, 1, n, h->out);
        fprintf(h->out,
                "<figcaption>%s (estimated: bytes are those that global accesses ask of the L2, as if nothing were found in a "
                "cache twice; arithmetic is counted in PTX).</figcaption></figure></section>\n",
                timed ? "Each kernel in its predicted time (full dot) and the most it can reach for the arithmetic it does per "
                        "byte (ring)"
                      : "The most each kernel can reach for the arithmetic it does per byte");
    }
    free(text);
}

/* ---- pages ---------------------------------------------------------------------------------------------------- */
static int heavier(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] < y[0] ? 1 : -1) : x[1] < y[1] ? -1 : x[1] > y[1];
}

struct section {
    char *text;
    size_t n;
};

static bool render(struct wg_html *h, size_t k, enum wg_html_detail detail, struct section *s)
{
    struct wg_html to = {.v = h->v};
    *s = (struct section){NULL, 0};
    to.out = open_memstream(&s->text, &s->n);
    if (!to.out)
        return false;
    wg_html_kernel(&to, k, detail);
    return !fclose(to.out) && s->text;
}

/* A section per kernel in as much detail as the page's size allows, the heaviest kernels first. */
static bool kernels(struct wg_html *h)
{
    const struct wg_view *v = h->v;
    uint64_t(*order)[2] = wg_arena_alloc(v->arena, (v->n + 1) * sizeof *order);
    struct section *s = wg_calloc(v->n + 1, sizeof *s);
    size_t bytes = 0;
    bool ok = order && s;
    for (size_t k = 0; ok && k < v->n; k++) {
        order[k][0] = v->groups[k].total[WG_C_INST];
        order[k][1] = k;
        ok = render(h, k, WG_HTML_FIGURES, &s[k]);
        bytes += s[k].n;
    }
    if (ok)
        qsort(order, v->n, sizeof *order, heavier);
    for (size_t i = 0; ok && i < v->n; i++)
        for (int d = WG_HTML_ALL; ok && d > WG_HTML_FIGURES; d--) {
            size_t k = (size_t)order[i][1];
            struct section more;
            if (d == WG_HTML_ALL && bytes + v->groups[k].first->nsites * SITE_BYTES > PAGE_BYTES)
                continue; /* it would not fit: no need to try */
            ok = render(h, k, (enum wg_html_detail)d, &more);
            bool fits = ok && bytes - s[k].n + more.n <= PAGE_BYTES;
            if (fits) {
                bytes += more.n - s[k].n;
                free(s[k].text);
                s[k] = more;
                break;
            }
            free(more.text);
        }
    for (size_t k = 0; ok && k < v->n; k++)
        fwrite(s[k].text, 1, s[k].n, h->out);
    for (size_t k = 0; s && k < v->n; k++)
        free(s[k].text);
    free(s);
    return ok;
}

enum wg_status wg_html_page(const struct wg_view *v, const struct wg_compare *compare, FILE *out)
{
    struct wg_html h = {.v = v, .out = out};
    head(&h, *v->p->program ? v->p->program : "warpgrind");
    summary(&h);
    fputs("<main id=\"main\">\n", out);
    if (compare)
        wg_html_compare(&h, compare);
    findings_of_program(&h);
    launches(&h);
    roofline(&h);
    bool ok = kernels(&h);
    fputs("</main>\n", out);
    foot(&h);
    return v->arena->failed || !ok ? WG_NO_MEMORY : ferror(out) ? WG_IO : WG_OK;
}

enum wg_status wg_html_diff(const struct wg_compare *c, FILE *out)
{
    struct wg_html h = {.v = c->b, .out = out};
    head(&h, "what changed - warpgrind");
    fputs("<header><h1>What changed</h1><p>before: ", out);
    wg_html_text(&h, c->a->p->program);
    fputs("<br>after: ", out);
    wg_html_text(&h, c->b->p->program);
    fputs("</p></header>\n<main id=\"main\">\n", out);
    wg_html_compare(&h, c);
    fputs("</main>\n", out);
    foot(&h);
    return c->b->arena->failed ? WG_NO_MEMORY : ferror(out) ? WG_IO : WG_OK;
}
