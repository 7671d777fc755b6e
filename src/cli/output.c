/* output.c - gates on a profile (--fail-if, --baseline) and the files of --write. */
#include "cli/cli.h"
#include "report/ci.h"
#include "report/escape.h"
#include "report/html.h"
#include "report/report.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOLERANCE 2.0 /* percent, unless --tolerance says otherwise */

static enum wg_status text(const struct wg_ci *c, FILE *out)
{
    struct wg_text_style style = {0};
    return wg_report_text(c->view->p, &style, out);
}

static enum wg_status html(const struct wg_ci *c, FILE *out)
{
    return wg_html_page(c->view, NULL, out);
}

static const struct format {
    const char *name;
    enum wg_status (*write)(const struct wg_ci *c, FILE *out);
} formats[] = {
    {"github", wg_ci_github},     {"gitlab", wg_ci_gitlab}, {"html", html}, {"junit", wg_ci_junit},
    {"markdown", wg_ci_markdown}, {"sarif", wg_ci_sarif},   {"text", text},
};
enum { NFORMATS = sizeof formats / sizeof *formats };

/* "sarif=x.sarif" */
static const struct format *format_of(const char *spec, const char **path)
{
    const char *eq = strchr(spec, '=');
    for (size_t i = 0; eq && eq[1] && i < NFORMATS; i++)
        if (strlen(formats[i].name) == (size_t)(eq - spec) && !strncmp(formats[i].name, spec, (size_t)(eq - spec))) {
            *path = eq + 1;
            return &formats[i];
        }
    return NULL;
}

static bool tolerance(const struct wg_cli *o, double *out)
{
    char *end;
    *out = TOLERANCE / 100;
    if (!o->tolerance)
        return true;
    double v = strtod(o->tolerance, &end);
    if (end == o->tolerance || (*end && strcmp(end, "%")) || !(v >= 0 && v <= 1e6))
        return false;
    *out = v / 100;
    return true;
}

bool wg_cli_gate_check(const struct wg_cli *o)
{
    struct wg_arena a = {0};
    struct wg_gate_rule r;
    char err[1024] = "";
    double t;
    const char *path;
    bool ok = true;
    for (size_t i = 0; ok && i < o->fail_if.n; i++)
        ok = wg_gate_parse(o->fail_if.v[i], &a, &r, err, sizeof err);
    wg_arena_free(&a);
    if (!ok)
        wg_cli_error(0, "--fail-if: %s", err);
    else if (!(ok = tolerance(o, &t)))
        wg_cli_error(0, "--tolerance is a number of percent, not \"%s\"", o->tolerance);
    for (size_t i = 0; ok && i < o->write.n; i++)
        if (!(ok = format_of(o->write.v[i], &path) != NULL)) {
            char list[128] = "";
            for (size_t k = 0; k < NFORMATS; k++)
                snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s",
                         k + 1 == NFORMATS ? " or "
                         : k               ? ", "
                                           : "",
                         formats[k].name);
            wg_cli_error(0, "--write takes FORMAT=FILE, not \"%s\"; FORMAT is %s", o->write.v[i], list);
        }
    return ok;
}

char *wg_cli_numbered(const char *pattern, long process, bool first)
{
    const char *at = strstr(pattern, "%p");
    char *path = NULL;
    int k = at      ? asprintf(&path, "%.*s%ld%s", (int)(at - pattern), pattern, process, at + 2)
            : first ? asprintf(&path, "%s", pattern)
                    : asprintf(&path, "%s.%ld", pattern, process);
    return k < 0 ? NULL : path;
}

static int write_one(const struct wg_ci *c, const char *spec, long process, bool first)
{
    const char *pattern = NULL;
    const struct format *f = format_of(spec, &pattern);
    char *path = wg_cli_numbered(pattern, process, first);
    if (!path)
        return wg_cli_error(WG_EXIT_OUTPUT, "out of memory");
    bool out = !strcmp(path, "-");
    /* a job's summary page is one file that steps add to */
    const char *page = getenv("GITHUB_STEP_SUMMARY");
    bool append = page && *page && !strcmp(page, path);
    FILE *file = out ? stdout : fopen(path, append ? "ae" : "we");
    enum wg_status s = file ? f->write(c, file) : WG_IO;
    int e = errno;
    if (file && (out ? fflush(file) : fclose(file)) && s == WG_OK) {
        e = errno;
        s = WG_IO;
    }
    int code = s == WG_OK          ? WG_EXIT_OK
               : s == WG_NO_MEMORY ? wg_cli_error(WG_EXIT_OUTPUT, "out of memory")
                                   : wg_cli_error(WG_EXIT_OUTPUT, "cannot write %s: %s", path, strerror(e ? e : EIO));
    free(path);
    return code;
}

/* ---- judging -------------------------------------------------------------------------------------------------- */
struct gate {
    const struct wg_cli *o;
    const struct wg_profile *p;
    bool first;
    struct wg_arena arena;
    struct wg_view view;
    struct wg_issues issues;
    struct wg_gate_rule *rules;
    struct wg_profile *before;
};

static int conditions(struct gate *g)
{
    struct wg_view launches;
    char err[1024] = "";
    int code = WG_EXIT_OK;
    g->rules = wg_arena_alloc(&g->arena, (g->o->fail_if.n + 1) * sizeof *g->rules);
    if (!g->rules || (g->o->fail_if.n && wg_view_open(g->p, false, &g->arena, &launches) != WG_OK))
        return wg_cli_error(WG_EXIT_OUTPUT, "out of memory");
    for (size_t i = 0; i < g->o->fail_if.n; i++) {
        bool ok = wg_gate_parse(g->o->fail_if.v[i], &g->arena, &g->rules[i], err, sizeof err) &&
                  wg_gate_check(&g->rules[i], &launches, &g->issues, err, sizeof err);
        if (!ok && g->first) /* a program that the first one starts may have other kernels */
            code = wg_cli_error(WG_EXIT_INPUT, "--fail-if '%s' cannot be judged: %s", g->o->fail_if.v[i], err);
    }
    return code;
}

static int baseline(struct gate *g)
{
    char err[512];
    struct wg_view old;
    struct wg_compare c;
    size_t matched = 0;
    double most;
    if (!g->o->baseline || !g->first)
        return WG_EXIT_OK;
    if (wg_profile_read(g->o->baseline, &g->before, err, sizeof err) != WG_OK)
        return wg_cli_error(WG_EXIT_INPUT, "%s", err);
    tolerance(g->o, &most);
    if (wg_view_open(g->before, true, &g->arena, &old) != WG_OK || wg_compare(&old, &g->view, &g->arena, &c) != WG_OK ||
        !wg_gate_baseline(&c, most, &g->issues, &matched))
        return wg_cli_error(WG_EXIT_OUTPUT, "out of memory");
    if (!matched)
        return wg_cli_error(WG_EXIT_INPUT, "--baseline %s has none of these kernels: nothing was compared",
                            g->o->baseline);
    for (size_t k = 0; k < c.n; k++)
        if (!c.v[k].a || !c.v[k].b)
            wg_cli_error(0, "baseline: %s is only in the %s profile", (c.v[k].b ? c.v[k].b : c.v[k].a)->first->kernel,
                         c.v[k].b ? "new" : "old");
    return WG_EXIT_OK;
}

static int say(const struct gate *g)
{
    size_t n = 0;
    for (size_t i = 0; i < g->issues.n; i++) {
        const struct wg_issue *x = &g->issues.v[i];
        char where[512] = "";
        if (x->kind != WG_ISSUE_GATE && x->kind != WG_ISSUE_BASELINE)
            continue;
        n++;
        if (x->line && x->source < g->p->nsources)
            snprintf(where, sizeof where, "%s:%" PRIu32 ": ", g->p->sources[x->source].path, x->line);
        wg_cli_error(0, "%s: %s%s%s%s", x->kind == WG_ISSUE_GATE ? "gate" : "baseline", where, x->kernel,
                     *x->kernel ? ": " : "", x->message);
    }
    return n ? WG_EXIT_GATE : WG_EXIT_OK;
}

int wg_cli_gate(const struct wg_cli *o, const struct wg_profile *p, long process, bool first)
{
    if (!o->fail_if.n && !o->baseline && !o->write.n)
        return WG_EXIT_OK;
    struct wg_launch_result *v = calloc(p->nlaunches + 1, sizeof *v);
    struct wg_profile q = v ? wg_cli_select(o, p, v) : *p;
    struct gate g = {.o = o, .p = &q, .first = first};
    char root[4096];
    g.issues.arena = &g.arena;
    int code = v ? WG_EXIT_OK : wg_cli_error(WG_EXIT_OUTPUT, "out of memory");
    if (!code && (wg_view_open(&q, true, &g.arena, &g.view) != WG_OK || !wg_issues_collect(&g.issues, &g.view)))
        code = wg_cli_error(WG_EXIT_OUTPUT, "out of memory");
    if (!code) {
        int a = conditions(&g), b = baseline(&g), c = say(&g);
        struct wg_ci ci = {.view = &g.view,
                           .issues = &g.issues,
                           .nrules = o->fail_if.n,
                           .rules = g.rules,
                           .baseline = o->baseline != NULL,
                           .root = getcwd(root, sizeof root)};
        code = a ? a : b ? b : c;
        for (size_t i = 0; i < o->write.n && g.rules; i++) {
            int w = write_one(&ci, o->write.v[i], process, first);
            code = w && (!code || code == WG_EXIT_GATE) ? w : code;
        }
    }
    wg_profile_free(g.before);
    wg_arena_free(&g.arena);
    free(v);
    return code;
}
