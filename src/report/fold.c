/* fold.c - joins launches, findings and sites into what a report shows. */
#include "report/fold.h"
#include "model/metrics.h"
#include <stdlib.h>
#include <string.h>

bool wg_fold_class(const struct wg_site *s, enum wg_where *where, enum wg_how *how)
{
    switch (s->kind) {
    case WG_SITE_LOAD:
    case WG_SITE_MATRIX: /* ldmatrix; matrix products have no space */
    case WG_SITE_ASYNC:
        *how = WG_HOW_LOAD;
        break;
    case WG_SITE_STORE:
        *how = WG_HOW_STORE;
        break;
    case WG_SITE_ATOM:
    case WG_SITE_RED:
        *how = WG_HOW_ATOM;
        break;
    default:
        return false;
    }
    if (s->kind == WG_SITE_ASYNC) {
        *where = WG_WHERE_ASYNC;
        return s->c[WG_C_ACCESS] != 0;
    }
    switch (s->space) {
    case WG_SITE_GLOBAL:
        *where = WG_WHERE_GLOBAL;
        return true;
    case WG_SITE_SHARED:
        *where = WG_WHERE_SHARED;
        return true;
    case WG_SITE_LOCAL:
        *where = WG_WHERE_LOCAL;
        return true;
    case WG_SITE_GENERIC:
        *where = s->c[WG_C_SECTORS] && s->c[WG_C_WAVEFRONTS] ? WG_WHERE_GENERIC
                 : s->c[WG_C_WAVEFRONTS]                     ? WG_WHERE_SHARED
                                                             : WG_WHERE_GLOBAL;
        return s->c[WG_C_SECTORS] || s->c[WG_C_WAVEFRONTS];
    default:
        return false;
    }
}

static uint64_t above(uint64_t v, uint64_t ideal) { return v > ideal ? v - ideal : 0; }

void wg_fold_add(struct wg_traffic *t, const struct wg_site *s)
{
    t->requests += s->c[WG_C_ACCESS];
    t->sectors += s->c[WG_C_SECTORS];
    t->sectors_ideal += s->c[WG_C_SECTORS_IDEAL];
    t->sectors_extra += above(s->c[WG_C_SECTORS], s->c[WG_C_SECTORS_IDEAL]);
    t->tags += s->c[WG_C_TAGS];
    t->wavefronts += s->c[WG_C_WAVEFRONTS];
    t->wavefronts_ideal += s->c[WG_C_WAVEFRONTS_IDEAL];
    t->wavefronts_extra += above(s->c[WG_C_WAVEFRONTS], s->c[WG_C_WAVEFRONTS_IDEAL]);
    t->bytes_used += s->c[WG_C_BYTES_USED];
}

/* ---- launches ------------------------------------------------------------------------------------------------- */
static bool same_code(const struct wg_launch_result *a, const struct wg_launch_result *b)
{
    if (a->nsites != b->nsites)
        return false;
    for (size_t i = 0; a->sites != b->sites && i < a->nsites; i++) {
        const struct wg_site *x = &a->sites[i], *y = &b->sites[i];
        if (x->source != y->source || x->line != y->line || x->ptx_line != y->ptx_line || x->kind != y->kind ||
            x->space != y->space || (x->text != y->text && strcmp(x->text, y->text)))
            return false;
    }
    return true;
}

static bool same_launch(const struct wg_launch_result *a, const struct wg_launch_result *b)
{
    return a->status == WG_OK && b->status == WG_OK && !memcmp(a->grid, b->grid, sizeof a->grid) &&
           !memcmp(a->block, b->block, sizeof a->block) && !memcmp(a->cluster, b->cluster, sizeof a->cluster) &&
           a->static_shared == b->static_shared && a->dynamic_shared == b->dynamic_shared &&
           a->local_bytes == b->local_bytes && a->registers == b->registers &&
           a->registers_exact == b->registers_exact && !strcmp(a->mangled, b->mangled) &&
           !strcmp(a->kernel, b->kernel) && !strcmp(a->module, b->module) && !strcmp(a->device, b->device) &&
           !strcmp(a->compiler, b->compiler) && same_code(a, b);
}

static bool same_finding(const struct wg_finding *a, const struct wg_finding *b)
{
    return a->severity == b->severity && a->source == b->source && a->line == b->line &&
           a->other_source == b->other_source && a->other_line == b->other_line && !strcmp(a->id, b->id) &&
           !strcmp(a->tool, b->tool) && !strcmp(a->message, b->message);
}

struct wg_finding *wg_fold_findings(struct wg_arena *a, const struct wg_finding *const *v, size_t count, size_t *n)
{
    *n = 0;
    if (!count)
        return NULL;
    struct wg_finding *all = wg_arena_alloc(a, count * sizeof *all), *out = wg_arena_alloc(a, count * sizeof *out);
    if (!all || !out)
        return NULL;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < kept && !same_finding(&all[k], v[i]))
            k++;
        if (k == kept)
            all[kept++] = *v[i];
        else
            all[k].count += v[i]->count;
    }
    for (int s = 255; s >= 0; s--)
        for (size_t i = 0; i < kept; i++)
            if (all[i].severity == s)
                out[(*n)++] = all[i];
    return out;
}

static bool fill(struct wg_group *g, const struct wg_profile *p, struct wg_arena *a)
{
    const struct wg_launch_result *f = g->first;
    size_t count = 0, k = 0;
    for (size_t i = 0; i < g->nlaunches; i++)
        count += p->launches[g->launches[i]].nfindings;
    const struct wg_finding **all = wg_arena_alloc(a, (count + 1) * sizeof *all);
    g->sites = wg_arena_dup(a, f->sites, f->nsites * sizeof *f->sites);
    if (!all || !g->sites)
        return false;
    g->min_inst = UINT64_MAX;
    for (size_t i = 0; i < g->nlaunches; i++) {
        const struct wg_launch_result *l = &p->launches[g->launches[i]];
        for (size_t s = 0; i && s < f->nsites; s++) {
            const struct wg_worst *was = g->sites[s].worst, *is = l->sites[s].worst;
            for (unsigned c = 0; c < WG_C_COUNT; c++)
                g->sites[s].c[c] += l->sites[s].c[c];
            if (is && (!was || above(is->cost, is->ideal) > above(was->cost, was->ideal)))
                g->sites[s].worst = is;
        }
        for (unsigned c = 0; c < WG_C_COUNT; c++)
            g->total[c] += l->total[c];
        uint64_t inst = l->total[WG_C_INST];
        g->min_inst = inst < g->min_inst ? inst : g->min_inst;
        g->max_inst = inst > g->max_inst ? inst : g->max_inst;
        g->host_seconds += l->host_seconds;
        g->one_worker |= l->one_worker;
        g->merged_sites = l->merged_sites > g->merged_sites ? l->merged_sites : g->merged_sites;
        for (size_t j = 0; j < l->nfindings; j++)
            all[k++] = &l->findings[j];
    }
    for (size_t s = 0; s < f->nsites; s++) {
        enum wg_where where;
        enum wg_how how;
        if (wg_fold_class(&g->sites[s], &where, &how))
            wg_fold_add(&g->traffic[where][how], &g->sites[s]);
        g->lanes += wg_metric_lanes(&g->sites[s]);
        if (g->sites[s].kind == WG_SITE_BARRIER)
            g->barriers += g->sites[s].c[WG_C_INST];
    }
    g->findings = wg_fold_findings(a, all, count, &g->nfindings);
    return !a->failed;
}

enum wg_status wg_fold(const struct wg_profile *p, bool fold, struct wg_arena *a, struct wg_group **out, size_t *n)
{
    struct wg_group *v = NULL;
    size_t cap = 0, count = 0;
    size_t *cap_of = wg_arena_alloc(a, (p->nlaunches + 1) * sizeof *cap_of);
    *out = NULL;
    *n = 0;
    for (size_t i = 0; i < p->nlaunches && !a->failed; i++) {
        size_t k = count;
        for (k = 0; fold && k < count; k++)
            if (same_launch(v[k].first, &p->launches[i]))
                break;
        if (!fold || k == count) {
            v = wg_arena_grow(a, v, count + 1, &cap, sizeof *v);
            if (!v)
                return WG_NO_MEMORY;
            k = count++;
            v[k] = (struct wg_group){.first = &p->launches[i]};
        }
        v[k].launches = wg_arena_grow(a, v[k].launches, v[k].nlaunches + 1, &cap_of[k], sizeof *v[k].launches);
        if (v[k].launches)
            v[k].launches[v[k].nlaunches++] = i;
    }
    for (size_t k = 0; k < count && !a->failed; k++)
        fill(&v[k], p, a);
    if (a->failed)
        return WG_NO_MEMORY;
    *out = v;
    *n = count;
    return WG_OK;
}

/* ---- lines ---------------------------------------------------------------------------------------------------- */
/* Headers of the compiler, of CUDA and of warpgrind: a reader wants the line of the program that used them. */
static bool is_system(const struct wg_profile *p, uint32_t source)
{
    static const char *const parts[] = {"/include/cuda/", "/lib/clang/", "/usr/include/", "/usr/lib/", "/usr/local/cuda",
                                        "/targets/x86_64-linux/include/"};
    if (source >= p->nsources)
        return false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(p->sources[source].path, parts[i]))
            return true;
    return false;
}

static void place(const struct wg_profile *p, const struct wg_site *s, uint32_t *source, uint32_t *line)
{
    bool outer = s->inlined_line && s->inlined_source < p->nsources &&
                 (s->source >= p->nsources || !s->line || is_system(p, s->source));
    *source = outer ? s->inlined_source : s->source;
    *line = outer ? s->inlined_line : s->line;
    if (!*line || *source >= p->nsources) {
        *source = UINT32_MAX;
        *line = 0;
    }
}

static void add_site(struct wg_line *l, const struct wg_site *s)
{
    enum wg_where where;
    enum wg_how how;
    l->sites[l->nsites++] = s;
    for (unsigned c = 0; c < WG_C_COUNT; c++)
        l->total[c] += s->c[c];
    l->lanes += wg_metric_lanes(s);
    l->barrier |= s->kind == WG_SITE_BARRIER && s->c[WG_C_INST];
    if (!wg_fold_class(s, &where, &how))
        return;
    wg_fold_add(&l->traffic[where][how], s);
    if (where != WG_WHERE_SHARED) {
        l->sectors += s->c[WG_C_SECTORS];
        l->sector_requests += s->c[WG_C_ACCESS];
        l->sectors_extra += above(s->c[WG_C_SECTORS], s->c[WG_C_SECTORS_IDEAL]);
    }
    if (where == WG_WHERE_SHARED || where == WG_WHERE_GENERIC || where == WG_WHERE_ASYNC) {
        l->wavefronts += s->c[WG_C_WAVEFRONTS];
        l->wavefront_requests += s->c[WG_C_ACCESS];
        l->wavefronts_extra += above(s->c[WG_C_WAVEFRONTS], s->c[WG_C_WAVEFRONTS_IDEAL]);
    }
}

struct order { uint32_t source, line; size_t site; uint64_t weight; };

/* A place for every site, in PTX order. */
static void places(const struct wg_profile *p, const struct wg_group *g, struct order *v, size_t n)
{
    size_t last = SIZE_MAX;
    bool lines = false;
    for (size_t i = 0; i < n; i++) {
        v[i].site = i;
        place(p, &g->sites[i], &v[i].source, &v[i].line);
        lines |= v[i].source != UINT32_MAX;
        if (v[i].source == UINT32_MAX)
            continue;
        if (!is_system(p, v[i].source)) {
            /* headers before the first line of the program belong to that */
            for (size_t k = last == SIZE_MAX ? 0 : i; k < i; k++)
                if (v[k].source != UINT32_MAX) {
                    v[k].source = v[i].source;
                    v[k].line = v[i].line;
                }
            last = i;
        } else if (last != SIZE_MAX) {
            v[i].source = v[last].source;
            v[i].line = v[last].line;
        }
    }
    for (size_t i = 0; !lines && i < n; i++)
        v[i].line = g->sites[i].ptx_line;
}

static int by_place(const void *x, const void *y)
{
    const struct order *a = x, *b = y;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return a->site < b->site ? -1 : a->site > b->site;
}

enum wg_status wg_fold_lines(const struct wg_profile *p, const struct wg_group *g, struct wg_arena *a,
                             struct wg_line **out, size_t *n)
{
    size_t count = g->first->nsites, lines = 0;
    struct order *v = wg_arena_alloc(a, (count + 1) * sizeof *v);
    uint64_t *weight = wg_arena_alloc(a, (p->nsources + 1) * sizeof *weight);
    const struct wg_site **ptrs = wg_arena_alloc(a, (count + 1) * sizeof *ptrs);
    *out = NULL;
    *n = 0;
    if (!v || !weight || !ptrs)
        return WG_NO_MEMORY;
    places(p, g, v, count);
    for (size_t i = 0; i < count; i++)
        if (v[i].source != UINT32_MAX)
            weight[v[i].source] += g->sites[i].c[WG_C_INST];
    for (size_t i = 0; i < count; i++) /* what has no line comes last */
        v[i].weight = v[i].source == UINT32_MAX ? 0 : weight[v[i].source];
    qsort(v, count, sizeof *v, by_place);
    struct wg_line *l = wg_arena_alloc(a, (count + 1) * sizeof *l);
    if (!l)
        return WG_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const struct wg_site *s = &g->sites[v[i].site];
        struct wg_line *last = lines ? &l[lines - 1] : NULL;
        bool ptx = v[i].source == UINT32_MAX && v[i].line;
        if (!last || last->source != v[i].source || last->line != v[i].line || ptx) {
            last = &l[lines++];
            last->source = v[i].source;
            last->line = v[i].line;
            last->sites = ptrs + i;
            last->text = ptx ? s->text : NULL;
        }
        add_site(last, s);
    }
    *out = l;
    *n = lines;
    return WG_OK;
}

const char *wg_source_line(const struct wg_source *s, uint32_t line, size_t *n)
{
    const char *t = s->text;
    *n = 0;
    if (!t || !line)
        return NULL;
    for (uint32_t i = 1; i < line; i++) {
        t = strchr(t, '\n');
        if (!t)
            return NULL;
        t++;
    }
    *n = strcspn(t, "\n");
    return t;
}
