/* issues.c - turns the findings and advice of a profile into one list. */
#include "report/issues.h"
#include "report/escape.h"
#include "report/markup.h"
#include <ctype.h>
#include <string.h>

bool wg_issues_add(struct wg_issues *out, const struct wg_issue *i)
{
    struct wg_issue *v = wg_arena_grow(out->arena, out->v, out->n + 1, &out->cap, sizeof *v);
    if (!v)
        return false;
    out->v = v;
    v[out->n++] = *i;
    return true;
}

/* What the checks call it and advise, from their table. */
struct row {
    const char *name, *title, *remedy;
};
static const struct row rows[] = {
#define WG_FINDING(id, name, tool, severity, title, remedy) {name, title, remedy},
#include "check/findings.def"
#undef WG_FINDING
};

static bool add_finding(struct wg_issues *out, const struct wg_finding *f, const char *kernel)
{
    struct wg_issue i = {.kind = WG_ISSUE_FINDING,
                         .severity = f->severity,
                         .rule = *f->id ? wg_markup_string(out->arena, WG_MARKUP_PLAIN, f->id) : "finding",
                         .title = "finding",
                         .message = f->message,
                         .remedy = "",
                         .kernel = kernel,
                         .source = f->source,
                         .line = f->line,
                         .other_source = f->other_source,
                         .other_line = f->other_line};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (!strcmp(rows[k].name, f->id)) {
            i.title = rows[k].title;
            i.remedy = rows[k].remedy;
        }
    return wg_issues_add(out, &i);
}

/* "uncoalesced global memory" -> "uncoalesced-global-memory" */
static const char *slug(struct wg_arena *a, const char *title)
{
    char *s = wg_arena_str(a, title, strlen(title));
    for (char *p = s; p && *p; p++)
        *p = isalnum((unsigned char)*p) ? *p : '-';
    return s ? s : "advice";
}

static bool add_advice(struct wg_issues *out, const struct wg_view *view, size_t k)
{
    struct wg_advice v[WG_ADVICE_MAX];
    const struct wg_group *g = &view->groups[k];
    size_t n = g->total[WG_C_INST] ? wg_judge(g, view->lines[k].v, view->lines[k].n, v) : 0;
    char x[WG_NUMBER_BYTES], y[WG_NUMBER_BYTES], z[WG_NUMBER_BYTES];
    for (size_t i = 0; i < n; i++) {
        bool counted = strcmp(v[i].unit, "lanes") && g->merged_sites;
        const char *text = wg_arena_printf(out->arena, "%s: %s of the %s are %s (%s of %s, %s)", v[i].title,
                                           wg_format_percent(z, v[i].part, v[i].whole), v[i].unit, v[i].waste,
                                           wg_format_count(x, v[i].part), wg_format_count(y, v[i].whole),
                                           counted ? "modelled" : "exact");
        struct wg_issue one = {.kind = WG_ISSUE_ADVICE,
                               .severity = WG_SEVERITY_WARNING,
                               .rule = slug(out->arena, v[i].title),
                               .title = v[i].title,
                               .message = text ? text : v[i].title,
                               .remedy = v[i].remedy,
                               .kernel = g->first->kernel,
                               .source = UINT32_MAX,
                               .other_source = UINT32_MAX};
        if (v[i].line && v[i].line->source != UINT32_MAX) {
            one.source = v[i].line->source;
            one.line = v[i].line->line;
        }
        if (!wg_issues_add(out, &one))
            return false;
    }
    return true;
}

bool wg_issues_collect(struct wg_issues *out, const struct wg_view *view)
{
    for (size_t i = 0; i < view->nhost; i++)
        if (!add_finding(out, &view->host[i], ""))
            return false;
    for (size_t k = 0; k < view->n; k++) {
        const struct wg_group *g = &view->groups[k];
        const struct wg_launch_result *l = g->first;
        struct wg_issue stop = {.kind = WG_ISSUE_STOPPED,
                                .severity = WG_SEVERITY_ERROR,
                                .rule = "stopped",
                                .title = "launch did not finish",
                                .remedy = "",
                                .kernel = l->kernel,
                                .source = UINT32_MAX,
                                .other_source = UINT32_MAX,
                                .message = *l->status_text ? l->status_text : wg_status_text(l->status)};
        for (size_t i = 0; i < g->nfindings; i++)
            if (!add_finding(out, &g->findings[i], l->kernel))
                return false;
        if (l->status != WG_OK && !g->nfindings && !wg_issues_add(out, &stop))
            return false;
        if (!add_advice(out, view, k))
            return false;
    }
    return true;
}
