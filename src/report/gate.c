/* gate.c - conditions on metrics and comparison with a baseline, for continuous integration. */
#include "report/escape.h"
#include "report/issues.h"
#include "report/kernel_name.h"
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the language --------------------------------------------------------------------------------------------- */
static const char *const severities[] = {"findings", "warnings", "errors"}; /* of at least info, warning, error */

static char *trimmed(struct wg_arena *a, const char *s, size_t n)
{
    while (n && isspace((unsigned char)*s)) {
        s++;
        n--;
    }
    while (n && isspace((unsigned char)s[n - 1]))
        n--;
    return wg_arena_str(a, s, n);
}

static bool parse_metric(const char *name, int *metric, char *err, size_t n)
{
    for (int i = 0; i < 3; i++)
        if (!strcmp(name, severities[i])) {
            *metric = -1 - i;
            return true;
        }
    for (int h = 0; h < WG_HEADLINE_COUNT; h++)
        if (!strcmp(name, wg_headlines[h].name)) {
            *metric = (int)wg_headlines[h].metric;
            return true;
        }
    *metric = wg_metric_find(name);
    if (*metric >= 0)
        return true;
    char near[512];
    wg_metric_nearest(name, near, sizeof near);
    snprintf(err, n, "no metric is named \"%s\"%s%s%s", name, *near ? "; did you mean " : "; see `warpgrind help gate`",
             near, *near ? "?" : "");
    return false;
}

static bool parse_lines(const char *s, struct wg_gate_rule *r)
{
    char *end;
    if (!strcmp(s, "*")) {
        r->from = 1;
        r->to = UINT32_MAX;
        return true;
    }
    if (!isdigit((unsigned char)*s))
        return false;
    errno = 0;
    unsigned long a = strtoul(s, &end, 10), b = a;
    if (*end == '-' && isdigit((unsigned char)end[1]))
        b = strtoul(end + 1, &end, 10);
    if (*end || errno || !a || a > b || b > UINT32_MAX)
        return false;
    r->from = (uint32_t)a;
    r->to = (uint32_t)b;
    return true;
}

static bool parse_where(char *s, struct wg_gate_rule *r, char *err, size_t n)
{
    if (!strncmp(s, "kernel:", 7) && s[7]) {
        r->kernel = s + 7;
        return true;
    }
    char *colon = strrchr(s, ':');
    if (colon && colon != s && parse_lines(colon + 1, r)) {
        *colon = 0;
        r->file = s;
        return true;
    }
    snprintf(err, n, "\"%s\" is no place: it is kernel:GLOB, FILE:LINE, FILE:FROM-TO or FILE:*", s);
    return false;
}

bool wg_gate_parse(const char *text, struct wg_arena *a, struct wg_gate_rule *r, char *err, size_t n)
{
    *r = (struct wg_gate_rule){.text = wg_arena_str(a, text, strlen(text))};
    size_t at = strlen(text);
    while (at && !strchr("<>=!", text[at - 1])) /* the last one: names of kernels may hold < and > */
        at--;
    size_t op = at;
    while (op && strchr("<>=!", text[op - 1]) && at - op < 2)
        op--;
    static const char *const ops[] = {">=", "<=", "==", "!=", ">", "<"};
    for (size_t i = 0; at && i < sizeof ops / sizeof *ops && !*r->op; i++)
        if (strlen(ops[i]) == at - op && !strncmp(ops[i], text + op, at - op))
            memcpy(r->op, ops[i], strlen(ops[i]));
    if (!*r->op) {
        snprintf(err, n, "\"%s\" is no condition: it is [WHERE:]METRIC OP VALUE, OP one of > >= < <= == !=", text);
        return false;
    }
    char *end, *value = trimmed(a, text + at, strlen(text + at));
    size_t from = op;
    while (from && text[from - 1] != ':')
        from--;
    char *metric = trimmed(a, text + from, op - from), *where = from ? trimmed(a, text, from - 1) : NULL;
    if (a->failed) {
        snprintf(err, n, "out of memory");
        return false;
    }
    r->value = strtod(value, &end);
    if (end != value && *end == ' ')
        end++;
    if (end == value || (*end && strcmp(end, "%")) || !isfinite(r->value)) {
        snprintf(err, n, "\"%s\" is no number in \"%s\"", value, text);
        return false;
    }
    return parse_metric(metric, &r->metric, err, n) && (!where || parse_where(where, r, err, n));
}

static bool holds(const struct wg_gate_rule *r, double v)
{
    switch (r->op[0]) {
    case '>':
        return r->op[1] ? v >= r->value : v > r->value;
    case '<':
        return r->op[1] ? v <= r->value : v < r->value;
    case '=':
        return v == r->value;
    default:
        return v != r->value;
    }
}

/* ---- judging -------------------------------------------------------------------------------------------------- */
static bool kernel_matches(const struct wg_gate_rule *r, const struct wg_launch_result *l)
{
    char name[1024], function[1024];
    size_t n;
    if (!r->kernel)
        return true;
    const char *label = wg_kernel_label(l->kernel, &n);
    snprintf(name, sizeof name, "%.*s", (int)n, label);
    wg_kernel_function(function, sizeof function, l->kernel);
    return !fnmatch(r->kernel, name, 0) || !fnmatch(r->kernel, function, 0) || !fnmatch(r->kernel, l->kernel, 0) || !fnmatch(r->kernel, l->mangled, 0) ||
           !strcmp(r->kernel, l->kernel);
}

static bool file_matches(const struct wg_gate_rule *r, const struct wg_profile *p, const struct wg_line *l)
{
    if (l->source >= p->nsources || l->line < r->from || l->line > r->to)
        return false;
    const char *path = p->sources[l->source].path, *base = strrchr(path, '/');
    return !fnmatch(r->file, path, 0) || (base && !fnmatch(r->file, base + 1, 0)) ||
           (strlen(path) > strlen(r->file) && path[strlen(path) - strlen(r->file) - 1] == '/' &&
            !strcmp(path + strlen(path) - strlen(r->file), r->file));
}

/* What one kernel, or one line of it, did over its launches: the value furthest on the wrong side. */
struct hit {
    const char *kernel;
    uint32_t source, line;
    double value;
    enum wg_fidelity fidelity;
    size_t launches;
    uint32_t launch;
};
struct hits {
    struct wg_arena *a;
    struct hit *v;
    size_t n, cap;
    bool matched, valued;
};

static bool further(const struct wg_gate_rule *r, double v, double than)
{
    return r->op[0] == '<' ? v < than : v > than;
}

static void add_hit(struct hits *h, const struct wg_gate_rule *r, const struct hit *x)
{
    for (size_t i = 0; i < h->n; i++) {
        struct hit *y = &h->v[i];
        if (strcmp(y->kernel, x->kernel) || y->source != x->source || y->line != x->line)
            continue;
        y->launches++;
        if (further(r, x->value, y->value)) {
            y->value = x->value;
            y->launch = x->launch;
        }
        return;
    }
    struct hit *v = wg_arena_grow(h->a, h->v, h->n + 1, &h->cap, sizeof *v);
    if (v) {
        h->v = v;
        v[h->n++] = *x;
    }
}

static uint64_t count_findings(const struct wg_finding *v, size_t n, int severity, const struct wg_gate_rule *r,
                               const struct wg_profile *p)
{
    uint64_t count = 0;
    for (size_t i = 0; i < n; i++) {
        struct wg_line at = {.source = v[i].source, .line = v[i].line};
        count += v[i].severity >= severity && (!r->file || file_matches(r, p, &at));
    }
    return count;
}

/* The line where the metric is largest, as the place of a whole kernel's figure. */
static void worst_line(const struct wg_gate_rule *r, const struct wg_group *g, const struct wg_lines *lines,
                       struct hit *x)
{
    double best = 0, v;
    for (size_t i = 0; r->metric >= 0 && r->op[0] == '>' && i < lines->n; i++) {
        struct wg_metric_of of = {
            .launch = g->first, .sites = lines->v[i].sites, .nsites = lines->v[i].nsites, .line = true, .gpu = g->gpu};
        if (lines->v[i].source != UINT32_MAX && wg_metric_value((enum wg_metric)r->metric, &of, &v) && v > best) {
            best = v;
            x->source = lines->v[i].source;
            x->line = lines->v[i].line;
        }
    }
}

static void judge_launch(const struct wg_gate_rule *r, const struct wg_view *view, size_t k, struct hits *h)
{
    const struct wg_group *g = &view->groups[k];
    const struct wg_launch_result *l = g->first;
    struct hit x = {.kernel = l->kernel, .source = UINT32_MAX, .launches = 1, .launch = l->index};
    if (r->metric < 0) {
        h->matched = h->valued = true;
        x.value = (double)count_findings(l->findings, l->nfindings, -1 - r->metric, r, view->p);
        if (holds(r, x.value))
            add_hit(h, r, &x);
        return;
    }
    x.fidelity = wg_view_fidelity((enum wg_metric)r->metric, l);
    if (!g->total[WG_C_INST])
        return; /* nothing was counted: a zero would be no count */
    if (!r->file) {
        h->matched = true;
        if (wg_metric_launch((enum wg_metric)r->metric, l, g->gpu, &x.value)) {
            h->valued = true;
            if (holds(r, x.value)) {
                worst_line(r, g, &view->lines[k], &x);
                add_hit(h, r, &x);
            }
        }
        return;
    }
    for (size_t i = 0; i < view->lines[k].n; i++) {
        const struct wg_line *line = &view->lines[k].v[i];
        struct wg_metric_of of = {.launch = l, .sites = line->sites, .nsites = line->nsites, .line = true, .gpu = g->gpu};
        if (!file_matches(r, view->p, line))
            continue;
        h->matched = true;
        if (!wg_metric_value((enum wg_metric)r->metric, &of, &x.value))
            continue;
        h->valued = true;
        x.source = line->source;
        x.line = line->line;
        if (holds(r, x.value))
            add_hit(h, r, &x);
    }
}

static bool judge_all(const struct wg_gate_rule *r, const struct wg_view *view, struct hits *h)
{
    const struct wg_profile *p = view->p;
    for (size_t k = 0; k < view->n; k++)
        if (kernel_matches(r, view->groups[k].first))
            judge_launch(r, view, k, h);
    if (r->metric < 0 && !r->kernel) {
        struct hit x = {.kernel = "", .source = UINT32_MAX, .launches = 1};
        x.value = (double)count_findings(p->host_findings, p->nhost_findings, -1 - r->metric, r, p);
        h->matched = h->valued = true;
        if (x.value > 0 && holds(r, x.value))
            add_hit(h, r, &x);
    }
    return !h->a->failed;
}

static bool add_issue(const struct wg_gate_rule *r, const struct hit *x, struct wg_issues *out)
{
    char v[WG_VALUE_BYTES], few[96] = "";
    const char *name = r->metric >= 0 ? wg_metric_infos[r->metric].name : severities[-1 - r->metric];
    const char *unit = r->metric >= 0 ? wg_metric_infos[r->metric].unit : "";
    if (x->launches > 1)
        snprintf(few, sizeof few, "; worst of %zu launches, number %" PRIu32, x->launches, x->launch);
    struct wg_issue i = {.kind = WG_ISSUE_GATE,
                         .severity = WG_SEVERITY_ERROR,
                         .rule = "gate",
                         .title = r->text,
                         .remedy = "",
                         .kernel = x->kernel,
                         .source = x->source,
                         .line = x->line,
                         .other_source = UINT32_MAX};
    i.message =
        wg_arena_printf(out->arena, "%s is %s%s%s%s: --fail-if '%s'%s", name, wg_view_value_unit(v, x->value, unit),
                        r->metric >= 0 ? " (" : "", r->metric >= 0 ? wg_fidelity_name(x->fidelity) : "",
                        r->metric >= 0 ? ")" : "", r->text, few);
    return i.message && wg_issues_add(out, &i);
}

bool wg_gate_check(const struct wg_gate_rule *r, const struct wg_view *launches, struct wg_issues *out, char *err,
                   size_t n)
{
    struct hits h = {.a = out->arena};
    *err = 0;
    if (r->metric >= 0 && wg_metric_infos[r->metric].fidelity == WG_FIDELITY_ABSENT)
        snprintf(err, n, "%s has no value yet: %s", wg_metric_infos[r->metric].name, wg_metric_infos[r->metric].text);
    else if (r->metric >= 0 && r->file && wg_metric_infos[r->metric].of_launch)
        snprintf(err, n, "%s is a figure of a launch: it has no value for a line", wg_metric_infos[r->metric].name);
    else if (!judge_all(r, launches, &h))
        snprintf(err, n, "out of memory");
    else if (!h.matched)
        snprintf(err, n, "nothing in the profile is %s%s",
                 r->kernel ? "a kernel named "
                 : r->file ? "a counted line of "
                           : "counted",
                 r->kernel ? r->kernel
                 : r->file ? r->file
                           : "");
    else if (!h.valued && wg_metric_infos[r->metric].of_launch)
        snprintf(err, n, "%s has no value: the device or the registers are not known", wg_metric_infos[r->metric].name);
    for (size_t i = 0; !*err && i < h.n; i++)
        if (!add_issue(r, &h.v[i], out))
            snprintf(err, n, "out of memory");
    return !*err;
}

/* ---- baseline ------------------------------------------------------------------------------------------------- */
static void widest_line(const struct wg_pair *p, enum wg_headline h, struct wg_issue *i)
{
    double most = 0;
    for (size_t k = 0; k < p->nlines; k++) {
        const struct wg_line *b = p->lines[k].b;
        struct wg_delta d = wg_compare_line_figure(p, &p->lines[k], h);
        double grown = d.b.value - d.a.value;
        if (b && b->source != UINT32_MAX && d.b.has && wg_headlines[h].how == WG_HEADLINE_SUM && grown > most) {
            most = grown;
            i->source = b->source;
            i->line = b->line;
        }
    }
}

static bool regression(const struct wg_pair *p, enum wg_headline h, double tolerance, struct wg_issues *out)
{
    struct wg_delta d = wg_compare_figure(p, h);
    char x[WG_VALUE_BYTES], y[WG_VALUE_BYTES], by[32], shape[128];
    if (d.change != WG_CHANGE_WORSE || !(fabs(d.relative) > tolerance))
        return true;
    const char *unit = wg_metric_infos[wg_headlines[h].metric].unit;
    struct wg_issue i = {.kind = WG_ISSUE_BASELINE,
                         .severity = WG_SEVERITY_ERROR,
                         .rule = "baseline",
                         .remedy = "",
                         .title = "worse than the baseline",
                         .kernel = p->b->first->kernel,
                         .source = UINT32_MAX,
                         .other_source = UINT32_MAX};
    widest_line(p, h, &i);
    i.message =
        wg_arena_printf(out->arena, "%s (%s): %s -> %s, %s worse (%s); tolerance %.3g %%; %s", wg_headlines[h].label,
                        wg_metric_infos[wg_headlines[h].metric].name, wg_view_value_unit(x, d.a.value, unit),
                        wg_view_value_unit(y, d.b.value, unit), wg_compare_text_of(by, &d),
                        wg_fidelity_name(d.b.fidelity), 100 * tolerance, wg_view_shape(shape, p->b->first));
    return i.message && wg_issues_add(out, &i);
}

bool wg_gate_baseline(const struct wg_compare *c, double tolerance, struct wg_issues *out, size_t *matched)
{
    *matched = 0;
    for (size_t k = 0; k < c->n; k++) {
        const struct wg_pair *p = &c->v[k];
        if (!p->b)
            continue;
        for (size_t f = 0; f < p->b->nfindings; f++) {
            const struct wg_finding *x = &p->b->findings[f];
            if (x->severity < WG_SEVERITY_ERROR || wg_compare_finding(c, p, x))
                continue;
            struct wg_issue i = {.kind = WG_ISSUE_BASELINE,
                                 .severity = WG_SEVERITY_ERROR,
                                 .rule = "baseline",
                                 .remedy = "",
                                 .title = "error that the baseline does not have",
                                 .kernel = p->b->first->kernel,
                                 .source = x->source,
                                 .line = x->line,
                                 .other_source = UINT32_MAX,
                                 .message = x->message};
            if (!wg_issues_add(out, &i))
                return false;
        }
        if (!p->a)
            continue;
        ++*matched;
        for (int h = 0; h < WG_HEADLINE_COUNT; h++)
            if (!regression(p, (enum wg_headline)h, tolerance, out))
                return false;
    }
    return true;
}
