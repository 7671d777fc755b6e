/* ci_text.c - JUnit XML, GitHub's workflow commands, and a Markdown summary. */
#include "report/ci.h"
#include "report/escape.h"
#include "report/kernel_name.h"
#include "report/markup.h"
#include <inttypes.h>
#include <string.h>

static const char *path_of(const struct wg_ci *c, uint32_t source, uint32_t line)
{
    const struct wg_profile *p = c->view->p;
    return line && source < p->nsources ? wg_markup_path(p->sources[source].path, c->root) : NULL;
}

static bool gates(const struct wg_issue *i)
{
    return i->kind == WG_ISSUE_GATE || i->kind == WG_ISSUE_BASELINE;
}

/* ---- JUnit ---------------------------------------------------------------------------------------------------- */
static void xml_issue(const struct wg_ci *c, const struct wg_issue *i, FILE *out)
{
    const char *path = path_of(c, i->source, i->line);
    if (path) {
        wg_markup(out, WG_MARKUP_HTML, path);
        fprintf(out, ":%" PRIu32 ": ", i->line);
    }
    wg_markup(out, WG_MARKUP_HTML, i->message);
    if (*i->remedy) {
        fputc('\n', out);
        wg_markup(out, WG_MARKUP_HTML, i->remedy);
    }
    if (gates(i) && *i->kernel) {
        fputs("\nin ", out);
        wg_markup(out, WG_MARKUP_HTML, i->kernel);
    }
    fputc('\n', out);
}

/* Which issues belong to a test case; they fail it when `failing`. */
struct test {
    const char *group, *name;
    bool (*mine)(const struct wg_issue *i, const char *key);
    const char *key;
};

static bool of_kernel(const struct wg_issue *i, const char *key)
{
    return !gates(i) && !strcmp(i->kernel, key);
}
static bool of_rule(const struct wg_issue *i, const char *key)
{
    return i->kind == WG_ISSUE_GATE && !strcmp(i->title, key);
}
static bool of_baseline(const struct wg_issue *i, const char *key)
{
    (void)key;
    return i->kind == WG_ISSUE_BASELINE;
}

static size_t failures(const struct wg_ci *c, const struct test *t)
{
    size_t n = 0;
    for (size_t i = 0; i < c->issues->n; i++)
        n += c->issues->v[i].severity >= WG_SEVERITY_ERROR && t->mine(&c->issues->v[i], t->key);
    return n;
}

static void test_case(const struct wg_ci *c, const struct test *t, FILE *out)
{
    fputs("  <testcase classname=\"warpgrind.", out);
    fputs(t->group, out);
    fputs("\" name=\"", out);
    wg_markup(out, WG_MARKUP_HTML, t->name);
    fputs("\">\n", out);
    size_t failed = failures(c, t), others = 0;
    if (failed) {
        fprintf(out, "   <failure type=\"%s\" message=\"%zu failed\">", t->group, failed);
        for (size_t i = 0; i < c->issues->n; i++)
            if (t->mine(&c->issues->v[i], t->key) && c->issues->v[i].severity >= WG_SEVERITY_ERROR)
                xml_issue(c, &c->issues->v[i], out);
        fputs("</failure>\n", out);
    }
    for (size_t i = 0; i < c->issues->n; i++) {
        const struct wg_issue *x = &c->issues->v[i];
        if (!t->mine(x, t->key) || x->severity >= WG_SEVERITY_ERROR)
            continue;
        if (!others++)
            fputs("   <system-out>", out);
        xml_issue(c, x, out);
    }
    fputs(others ? "</system-out>\n  </testcase>\n" : "  </testcase>\n", out);
}

static bool seen_before(const struct wg_view *v, size_t k)
{
    for (size_t i = 0; i < k; i++)
        if (!strcmp(v->groups[i].first->kernel, v->groups[k].first->kernel))
            return true;
    return false;
}

enum wg_status wg_ci_junit(const struct wg_ci *c, FILE *out)
{
    const struct wg_view *v = c->view;
    struct test *t = wg_arena_alloc(c->issues->arena, (v->n + c->nrules + 2) * sizeof *t);
    size_t n = 0, failed = 0;
    if (!t)
        return WG_NO_MEMORY;
    for (size_t k = 0; k < v->n; k++)
        if (!seen_before(v, k))
            t[n++] = (struct test){"kernels", v->groups[k].first->kernel, of_kernel, v->groups[k].first->kernel};
    t[n++] = (struct test){"program", "the program's use of CUDA", of_kernel, ""};
    for (size_t i = 0; i < c->nrules; i++)
        t[n++] = (struct test){"gate", c->rules[i].text, of_rule, c->rules[i].text};
    if (c->baseline)
        t[n++] = (struct test){"gate", "baseline", of_baseline, ""};
    for (size_t i = 0; i < n; i++)
        failed += failures(c, &t[i]) != 0;
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n"
            " <testsuite name=\"warpgrind\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"0\">\n",
            n, failed, n, failed);
    for (size_t i = 0; i < n; i++)
        test_case(c, &t[i], out);
    fputs(" </testsuite>\n</testsuites>\n", out);
    return ferror(out) ? WG_IO : WG_OK;
}

/* ---- GitHub --------------------------------------------------------------------------------------------------- */
/* Values of properties also escape what separates them. */
static void command_text(FILE *out, struct wg_arena *a, const char *s, bool property)
{
    for (const char *p = wg_markup_string(a, WG_MARKUP_PLAIN, s); *p; p++)
        if (*p == '%' || *p == '\r' || *p == '\n' || (property && (*p == ':' || *p == ',')))
            fprintf(out, "%%%02X", *p);
        else
            fputc(*p, out);
}

enum wg_status wg_ci_github(const struct wg_ci *c, FILE *out)
{
    static const char *const levels[] = {"notice", "warning", "error"};
    struct wg_arena *a = c->issues->arena;
    for (size_t i = 0; i < c->issues->n; i++) {
        const struct wg_issue *x = &c->issues->v[i];
        const char *path = path_of(c, x->source, x->line);
        fprintf(out, "::%s ", levels[x->severity <= WG_SEVERITY_ERROR ? x->severity : WG_SEVERITY_ERROR]);
        if (path) {
            fputs("file=", out);
            command_text(out, a, path, true);
            fprintf(out, ",line=%" PRIu32 ",", x->line);
        }
        fputs("title=", out);
        command_text(out, a, x->title, true);
        fputs("::", out);
        command_text(out, a, x->message, false);
        if (*x->remedy) {
            fputs("%0A", out);
            command_text(out, a, x->remedy, false);
        }
        if (*x->kernel) {
            fputs("%0Ain ", out);
            command_text(out, a, x->kernel, false);
        }
        fputc('\n', out);
    }
    return a->failed ? WG_NO_MEMORY : ferror(out) ? WG_IO : WG_OK;
}

/* ---- Markdown ------------------------------------------------------------------------------------------------- */
static void kernel_name(FILE *out, const char *readable)
{
    size_t n;
    const char *s = wg_kernel_label(readable, &n);
    wg_markup_n(out, WG_MARKUP_MARKDOWN, s, n);
}

static void md_issues(const struct wg_ci *c, const char *title, bool (*wanted)(const struct wg_issue *), FILE *out)
{
    static const char *const severities[] = {"note", "warning", "**error**"};
    enum { MOST = 50 };
    size_t n = 0;
    for (size_t i = 0; i < c->issues->n; i++) {
        const struct wg_issue *x = &c->issues->v[i];
        const char *path = path_of(c, x->source, x->line);
        if (!wanted(x))
            continue;
        if (n++ >= MOST)
            continue;
        if (n == 1)
            fprintf(out, "\n### %s\n\n| | where | what |\n|---|---|---|\n", title);
        fprintf(out, "| %s | ", severities[x->severity <= WG_SEVERITY_ERROR ? x->severity : WG_SEVERITY_ERROR]);
        if (path) {
            wg_markup(out, WG_MARKUP_MARKDOWN, path);
            fprintf(out, ":%" PRIu32 " ", x->line);
        }
        kernel_name(out, x->kernel);
        fputs(" | ", out);
        wg_markup(out, WG_MARKUP_MARKDOWN, x->message);
        if (*x->remedy) {
            fputs("<br>", out);
            wg_markup(out, WG_MARKUP_MARKDOWN, x->remedy);
        }
        fputs(" |\n", out);
    }
    if (n > MOST)
        fprintf(out, "\n%zu more.\n", n - MOST);
}

static bool is_finding(const struct wg_issue *i)
{
    return i->kind == WG_ISSUE_FINDING || i->kind == WG_ISSUE_STOPPED;
}
static bool is_advice(const struct wg_issue *i)
{
    return i->kind == WG_ISSUE_ADVICE;
}

/* Of a column: that of its figures, if they agree. */
static const char *fidelity(const struct wg_view *v, enum wg_headline h)
{
    const char *name = NULL;
    for (size_t k = 0; k < v->n; k++) {
        struct wg_figure f = wg_view_figure(&v->groups[k], h);
        if (f.has && name && strcmp(name, wg_fidelity_name(f.fidelity)))
            return "exact or not";
        name = f.has ? wg_fidelity_name(f.fidelity) : name;
    }
    return name ? name : "";
}

static void md_table(const struct wg_ci *c, FILE *out)
{
    enum { MOST = 30 };
    const struct wg_view *v = c->view;
    char buf[WG_VALUE_BYTES], shape[128];
    bool column[WG_HEADLINE_COUNT] = {false};
    for (int h = 0; h < WG_HEADLINE_COUNT; h++)
        for (size_t k = 0; k < v->n && *wg_headlines[h].column; k++)
            column[h] |= wg_view_figure(&v->groups[k], (enum wg_headline)h).has;
    if (!v->n)
        return;
    fputs("\n| kernel | launches |", out);
    for (int h = 0; h < WG_HEADLINE_COUNT; h++)
        if (column[h])
            fprintf(out, " %s, %s |", wg_headlines[h].column, fidelity(v, (enum wg_headline)h));
    fputs("\n|---|---:|", out);
    for (int h = 0; h < WG_HEADLINE_COUNT; h++)
        fputs(column[h] ? "---:|" : "", out);
    fputc('\n', out);
    for (size_t k = 0; k < v->n && k < MOST; k++) {
        const struct wg_group *g = &v->groups[k];
        fputs("| ", out);
        kernel_name(out, g->first->kernel);
        fputc(' ', out);
        wg_markup(out, WG_MARKUP_MARKDOWN, wg_view_shape(shape, g->first));
        fprintf(out, " | %zu |", g->nlaunches);
        for (int h = 0; h < WG_HEADLINE_COUNT; h++) {
            struct wg_figure f = wg_view_figure(g, (enum wg_headline)h);
            if (column[h])
                fprintf(out, " %s |",
                        f.has ? wg_view_value_unit(buf, f.value, wg_metric_infos[wg_headlines[h].metric].unit) : "");
        }
        fputc('\n', out);
    }
    if (v->n > MOST)
        fprintf(out, "\n%zu more.\n", v->n - MOST);
    bool launches = false;
    for (size_t k = 0; k < v->n; k++)
        launches |= v->groups[k].nlaunches > 1;
    fprintf(out, "\nFigures are of one launch%s.\n", launches ? ", the mean where there were several alike" : "");
}

enum wg_status wg_ci_markdown(const struct wg_ci *c, FILE *out)
{
    size_t errors = 0, failed = 0, warnings = 0;
    for (size_t i = 0; i < c->issues->n; i++) {
        const struct wg_issue *x = &c->issues->v[i];
        failed += gates(x);
        errors += !gates(x) && x->severity >= WG_SEVERITY_ERROR;
        warnings += is_finding(x) && x->severity == WG_SEVERITY_WARNING;
    }
    fputs("## warpgrind: ", out);
    if (failed)
        fprintf(out, "%zu gate failure%s, ", failed, failed == 1 ? "" : "s");
    else if (c->nrules || c->baseline)
        fputs("gates passed, ", out);
    fprintf(out, "%zu error%s, %zu warning%s\n\n", errors, errors == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s");
    wg_markup(out, WG_MARKUP_MARKDOWN, c->view->p->program);
    fputc('\n', out);
    md_issues(c, "Gate", gates, out);
    md_issues(c, "Findings", is_finding, out);
    md_table(c, out);
    md_issues(c, "To fix", is_advice, out);
    return ferror(out) ? WG_IO : WG_OK;
}
