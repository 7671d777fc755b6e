/* runs.c - merges the findings of several runs and tells where what they stored parts. */
#include "cli/runs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *keep(struct wg_runs *r, void *p)
{
    void **v = p ? realloc(r->memory, (r->n + 1) * sizeof *v) : NULL;
    if (!v) {
        free(p);
        return NULL;
    }
    r->memory = v;
    return v[r->n++] = p;
}

static const char *path(const struct wg_profile *p, uint32_t source)
{
    return source < p->nsources ? p->sources[source].path : "";
}

static bool same(const struct wg_profile *p, const struct wg_finding *a, const struct wg_profile *q,
                 const struct wg_finding *b)
{
    return !strcmp(a->id, b->id) && a->line == b->line && a->other_line == b->other_line &&
           !strcmp(path(p, a->source), path(q, b->source)) && !strcmp(path(p, a->other_source), path(q, b->other_source)) &&
           (a->line || !strcmp(a->message, b->message));
}

/* The source of q under p's number; one more when p lacks it. */
static uint32_t source(struct wg_runs *r, struct wg_profile *p, const struct wg_profile *q, uint32_t of)
{
    if (of >= q->nsources)
        return UINT32_MAX;
    for (size_t k = 0; k < p->nsources; k++)
        if (!strcmp(p->sources[k].path, q->sources[of].path))
            return (uint32_t)k;
    struct wg_source *v = keep(r, malloc((p->nsources + 1) * sizeof *v));
    if (!v)
        return UINT32_MAX;
    memcpy(v, p->sources, p->nsources * sizeof *v);
    v[p->nsources] = q->sources[of];
    p->sources = v;
    return (uint32_t)p->nsources++;
}

static bool add(struct wg_runs *r, struct wg_finding **v, size_t *n, const struct wg_finding *f)
{
    struct wg_finding *w = keep(r, malloc((*n + 1) * sizeof *w));
    if (!w)
        return false;
    if (*n)
        memcpy(w, *v, *n * sizeof *w);
    w[(*n)++] = *f;
    *v = w;
    return true;
}

static bool merge(struct wg_runs *r, struct wg_profile *p, struct wg_finding **v, size_t *n, const struct wg_profile *q,
                  const struct wg_finding *w, size_t m)
{
    for (size_t k = 0; k < m; k++) {
        size_t i = 0;
        while (i < *n && !same(p, &(*v)[i], q, &w[k]))
            i++;
        if (i < *n)
            continue;
        struct wg_finding f = w[k];
        f.source = source(r, p, q, f.source);
        f.other_source = source(r, p, q, f.other_source);
        if (!add(r, v, n, &f))
            return false;
    }
    return true;
}

/* One finding a launch: the first instruction, as the PTX has them, that stored other values or elsewhere. */
static bool parting(struct wg_runs *r, struct wg_launch_result *l, const struct wg_launch_result *m, const char *how_l,
                    const char *how_m)
{
    static const char id[] = "nondeterministic";
    for (size_t k = 0; k < l->nfindings; k++)
        if (!strcmp(l->findings[k].id, id))
            return true;
    for (size_t k = 0; k < l->nsites; k++) {
        const struct wg_site *s = &l->sites[k];
        if (s->stored == m->sites[k].stored || strcmp(s->text, m->sites[k].text))
            continue;
        char *text = NULL;
        if (asprintf(&text,
                     "Values differ between schedules\nThis is the first line of the kernel that stores other values, or to "
                     "other places, under %s than under %s\nIf the result matters, make it independent of the order of "
                     "threads: synchronise, or combine in a fixed order",
                     how_m, how_l) < 0)
            return false;
        struct wg_finding f = {.id = id, .tool = "racecheck", .severity = WG_SEVERITY_WARNING, .source = s->source,
                               .line = s->line, .other_source = UINT32_MAX, .count = 1, .message = keep(r, text)};
        return f.message && add(r, &l->findings, &l->nfindings, &f);
    }
    return true;
}

bool wg_runs_merge(struct wg_runs *r, struct wg_profile *into, const struct wg_profile *other, const char *how_into,
                   const char *how_other)
{
    bool ok = merge(r, into, &into->host_findings, &into->nhost_findings, other, other->host_findings, other->nhost_findings);
    for (size_t k = 0; ok && k < into->nlaunches && k < other->nlaunches; k++) {
        struct wg_launch_result *l = &into->launches[k];
        const struct wg_launch_result *m = &other->launches[k];
        if (strcmp(l->mangled, m->mangled))
            break; /* the program itself went another way: nothing to compare from here on */
        ok = merge(r, into, &l->findings, &l->nfindings, other, m->findings, m->nfindings);
        if (ok && l->nsites == m->nsites && l->status == WG_OK && m->status == WG_OK)
            ok = parting(r, l, m, how_into, how_other);
    }
    return ok;
}

void wg_runs_free(struct wg_runs *r)
{
    for (size_t k = 0; k < r->n; k++)
        free(r->memory[k]);
    free(r->memory);
    *r = (struct wg_runs){0};
}
