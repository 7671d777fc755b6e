/* sections.c - the tables of sections.def, and the choice of metrics that a command line makes from them. */
#include "report/sections.h"
#include "report/pattern.h"
#include <string.h>

#define BASIC    WG_SET_BASIC
#define DETAILED WG_SET_DETAILED
#define FULL     WG_SET_FULL
#define ROOFLINE WG_SET_ROOFLINE
const char *const wg_set_names[4] = {"basic", "detailed", "full", "roofline"};

#define WG_SECTION(id_, name_, sets_) {#id_, name_, sets_},
#define WG_SECTION_ROW(section, metric, rollup, label)
#define WG_GROUP_ROW(group, metric)
#define WG_SOURCE_COLUMN(metric, label)
const struct wg_section_info wg_section_infos[WG_SECTION_COUNT] = {
#include "report/sections.def"
};
#undef WG_SECTION
#undef WG_SECTION_ROW
#define WG_SECTION(id, name, sets)
#define WG_SECTION_ROW(section_, metric_, rollup_, label_)                                                             \
    {{WG_M_##metric_, WG_ROLLUP_##rollup_, 0}, label_, WG_S_##section_},
const struct wg_shown wg_section_rows[] = {
#include "report/sections.def"
};
#undef WG_SECTION_ROW
#undef WG_GROUP_ROW
#define WG_SECTION_ROW(section, metric, rollup, label)
#define WG_GROUP_ROW(group_, metric_) {group_, WG_M_##metric_},
const struct wg_group_row wg_group_rows[] = {
#include "report/sections.def"
};
#undef WG_GROUP_ROW
#undef WG_SOURCE_COLUMN
#define WG_GROUP_ROW(group, metric)
#define WG_SOURCE_COLUMN(metric_, label_) {{WG_M_##metric_, WG_ROLLUP_ROW, 0}, label_, -1},
const struct wg_shown wg_source_columns[] = {
#include "report/sections.def"
};
const size_t wg_section_row_count = sizeof wg_section_rows / sizeof *wg_section_rows;
const size_t wg_group_row_count = sizeof wg_group_rows / sizeof *wg_group_rows;
const size_t wg_source_column_count = sizeof wg_source_columns / sizeof *wg_source_columns;

struct choice {
    struct wg_arena *a;
    struct wg_selection *s;
    size_t cap;
    struct wg_diag *d;
};

static bool same(struct wg_metric_ref a, struct wg_metric_ref b)
{
    return a.metric == b.metric && a.rollup == b.rollup && a.rate == b.rate;
}

static enum wg_status add(struct choice *c, struct wg_metric_ref r, const char *label, int section)
{
    struct wg_selection *s = c->s;
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].section == section && same(s->v[i].ref, r))
            return WG_OK;
    struct wg_shown *v = wg_arena_grow(c->a, s->v, s->n + 1, &c->cap, sizeof *v);
    if (!v)
        return wg_diag_set(c->d, WG_NO_MEMORY, "out of memory");
    s->v = v;
    if (!label || !*label) {
        char buf[WG_METRIC_NAME_BYTES];
        const char *name = wg_metric_ref_name(r, buf);
        label = name == buf ? wg_arena_str(c->a, buf, strlen(buf)) : name;
    }
    v[s->n++] = (struct wg_shown){r, label ? label : "", section};
    return WG_OK;
}

/* Rows whose name the expression is found in; of a row .sum that is not, its .avg, .max and .min. */
static enum wg_status add_matching(struct choice *c, const char *word)
{
    regex_t re;
    size_t before = c->s->n;
    enum wg_status s = wg_pattern(word + 6, &re, c->d);
    if (s != WG_OK)
        return s;
    for (unsigned m = 0; m < WG_METRIC_COUNT && s == WG_OK; m++) {
        struct wg_metric_ref r = {.metric = (enum wg_metric)m};
        const char *name = wg_metric_infos[m].name;
        size_t n = strlen(name);
        if (!regexec(&re, name, 0, NULL, 0)) {
            s = add(c, r, NULL, -1);
        } else if (n > 4 && !strcmp(name + n - 4, ".sum")) {
            for (unsigned k = WG_ROLLUP_AVG; k <= WG_ROLLUP_MIN && s == WG_OK; k++) {
                char buf[WG_METRIC_NAME_BYTES];
                r.rollup = (enum wg_rollup)k;
                if (!regexec(&re, wg_metric_ref_name(r, buf), 0, NULL, 0))
                    s = add(c, r, NULL, -1);
            }
        }
    }
    regfree(&re);
    if (s == WG_OK && c->s->n == before)
        s = wg_diag_set(c->d, WG_NOT_FOUND, "no metric's name matches '%s'; --query-metrics lists them", word);
    return s;
}

static enum wg_status add_group(struct choice *c, const char *word)
{
    const char *names[64], *name = word + 6;
    size_t n = 0, before = c->s->n;
    char near[256];
    for (size_t i = 0; i < wg_group_row_count; i++) {
        if (!strcmp(wg_group_rows[i].group, name)) {
            enum wg_status s = add(c, (struct wg_metric_ref){.metric = wg_group_rows[i].metric}, NULL, -1);
            if (s != WG_OK)
                return s;
        }
        if ((!n || strcmp(names[n - 1], wg_group_rows[i].group)) && n < 64)
            names[n++] = wg_group_rows[i].group;
    }
    if (c->s->n > before)
        return WG_OK;
    wg_gpu_nearest(name, names, n, 3, near, sizeof near);
    return wg_diag_set(c->d, WG_NOT_FOUND, "unknown group '%s'%s%s; --query-metrics lists them", name,
                       *near ? "; did you mean " : "", near);
}

/* "l1tex__t_sectors": every row whose name is that and a suffix, and what else there is of a row .sum. */
static enum wg_status add_base(struct choice *c, const char *word)
{
    size_t n = strlen(word);
    enum wg_status s = WG_OK;
    for (unsigned m = 0; m < WG_METRIC_COUNT && s == WG_OK; m++) {
        struct wg_metric_ref r = {.metric = (enum wg_metric)m};
        const char *name = wg_metric_infos[m].name;
        if (strncmp(name, word, n) || name[n] != '.')
            continue;
        bool sum = !strcmp(name + n, ".sum");
        for (unsigned k = 1; sum && k <= 3 && s == WG_OK; k++) { /* ncu's order: avg, max, min, sum */
            r.rollup = (enum wg_rollup)k;
            s = add(c, r, NULL, -1);
        }
        r.rollup = WG_ROLLUP_ROW;
        s = s == WG_OK ? add(c, r, NULL, -1) : s;
    }
    return s;
}

static enum wg_status add_metric(struct choice *c, const char *word)
{
    struct wg_metric_ref r;
    char near[512];
    if (!strncmp(word, "regex:", 6))
        return add_matching(c, word);
    if (!strncmp(word, "group:", 6))
        return add_group(c, word);
    if (!strncmp(word, "breakdown:", 10))
        return wg_diag_set(c->d, WG_NOT_FOUND, "'%s': what a throughput is made of needs a model of time", word);
    if (wg_metric_parse(word, &r))
        return add(c, r, NULL, -1);
    size_t before = c->s->n;
    enum wg_status s = add_base(c, word);
    if (s != WG_OK || c->s->n > before)
        return s;
    wg_metric_nearest(word, near, sizeof near);
    return wg_diag_set(c->d, WG_NOT_FOUND, "unknown metric '%s'%s%s; --query-metrics lists them", word,
                       *near ? "; did you mean " : "", near);
}

static enum wg_status add_section(struct choice *c, unsigned section)
{
    enum wg_status s = WG_OK;
    c->s->sections[section] = true;
    for (size_t i = 0; i < wg_section_row_count && s == WG_OK; i++)
        if (wg_section_rows[i].section == (int)section)
            s = add(c, wg_section_rows[i].ref, wg_section_rows[i].label, (int)section);
    return s;
}

static enum wg_status mark_section(struct choice *c, const char *word)
{
    bool found = false, is_regex = !strncmp(word, "regex:", 6);
    const char *names[WG_SECTION_COUNT];
    char near[256];
    regex_t re;
    if (is_regex && wg_pattern(word + 6, &re, c->d) != WG_OK)
        return c->d->status;
    for (unsigned i = 0; i < WG_SECTION_COUNT; i++) {
        names[i] = wg_section_infos[i].id;
        if (is_regex ? !regexec(&re, names[i], 0, NULL, 0) : !strcmp(names[i], word))
            c->s->sections[i] = found = true;
    }
    if (is_regex)
        regfree(&re);
    if (found)
        return WG_OK;
    wg_gpu_nearest(word, names, WG_SECTION_COUNT, 3, near, sizeof near);
    return wg_diag_set(c->d, WG_NOT_FOUND, "unknown section '%s'%s%s; --list-sections lists them", word,
                       *near ? "; did you mean " : "", near);
}

static enum wg_status mark_set(struct choice *c, const char *word)
{
    char near[64];
    for (unsigned b = 0; b < 4; b++)
        if (!strcmp(word, wg_set_names[b])) {
            for (unsigned i = 0; i < WG_SECTION_COUNT; i++)
                c->s->sections[i] |= wg_section_infos[i].sets >> b & 1;
            return WG_OK;
        }
    wg_gpu_nearest(word, wg_set_names, 4, 2, near, sizeof near);
    return wg_diag_set(c->d, WG_NOT_FOUND, "unknown set '%s'%s%s; --list-sets lists them", word,
                       *near ? "; did you mean " : "", near);
}

/* Calls f for each word of lists with commas. Inside regex: a comma within {} or () or [] is the expression's. */
static enum wg_status each(struct choice *c, size_t n, const char *const *lists,
                           enum wg_status (*f)(struct choice *, const char *))
{
    enum wg_status s = WG_OK;
    for (size_t i = 0; i < n && s == WG_OK; i++)
        for (const char *p = lists[i]; *p && s == WG_OK;) {
            size_t k = 0;
            int depth = 0;
            bool is_regex = !strncmp(p, "regex:", 6);
            for (; p[k] && (p[k] != ',' || depth > 0); k++)
                depth += !is_regex ? 0 : strchr("{([", p[k]) ? 1 : strchr("})]", p[k]) ? -1 : 0;
            char *word = wg_arena_str(c->a, p, k);
            if (!word)
                return wg_diag_set(c->d, WG_NO_MEMORY, "out of memory");
            if (k)
                s = f(c, word);
            p += k + (p[k] == ',');
        }
    return s;
}

enum wg_status wg_select(const struct wg_select_request *rq, struct wg_arena *a, struct wg_selection *out,
                         struct wg_diag *d)
{
    *out = (struct wg_selection){.any = rq->nmetrics || rq->nsections || rq->nsets};
    struct choice c = {a, out, 0, d};
    enum wg_status s = each(&c, rq->nmetrics, rq->metrics, add_metric);
    s = s == WG_OK ? each(&c, rq->nsets, rq->sets, mark_set) : s;
    s = s == WG_OK ? each(&c, rq->nsections, rq->sections, mark_section) : s;
    for (unsigned i = 0; i < WG_SECTION_COUNT && s == WG_OK; i++)
        if (out->sections[i])
            s = add_section(&c, i);
    if (s == WG_OK && out->any && !out->n)
        s = wg_diag_set(d, WG_INVALID, "an empty list of metrics, sections or sets");
    return s;
}

enum wg_status wg_select_set(struct wg_selection *out, enum wg_set set, struct wg_arena *a)
{
    struct wg_diag d = {0};
    struct choice c = {a, out, out->n, &d};
    enum wg_status s = WG_OK;
    for (unsigned i = 0; i < WG_SECTION_COUNT && s == WG_OK; i++)
        if (wg_section_infos[i].sets & set)
            s = add_section(&c, i);
    return s;
}
