/* compare.c - matches the kernels and source lines of two profiles and measures what changed. */
#include "report/compare.h"
#include "report/markup.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines of text -------------------------------------------------------------------------------------------- */
enum { TABLE_LIMIT = 1 << 24 }; /* cells of the longest-common-subsequence table, a byte each */

struct text {
    size_t n;
    uint64_t *hash;
}; /* of each line, without its indentation and trailing blanks */

static bool split(struct wg_arena *a, const char *s, struct text *t)
{
    size_t n = 1;
    for (const char *p = s; *p; p++)
        n += *p == '\n';
    t->hash = wg_arena_alloc(a, n * sizeof *t->hash);
    t->n = 0;
    if (!t->hash)
        return false;
    for (const char *p = s; *p;) {
        size_t len = strcspn(p, "\n"), from = 0, to = len;
        while (from < to && strchr(" \t\r", p[from]))
            from++;
        while (to > from && strchr(" \t\r", p[to - 1]))
            to--;
        uint64_t h = 1469598103934665603u;
        for (size_t i = from; i < to; i++)
            h = (h ^ (unsigned char)p[i]) * 1099511628211u;
        t->hash[t->n++] = h;
        p += len + (p[len] == '\n');
    }
    return true;
}

/* The longest common subsequence of x[0..n) and y[0..m), by table; map[j] = i + 1 for matched lines, numbered from 0.
 */
static bool by_table(const uint64_t *x, size_t n, const uint64_t *y, size_t m, uint32_t first, uint32_t *map)
{
    enum { SKIP_X, SKIP_Y, BOTH };
    uint8_t *way = wg_calloc(n + 1, m + 1);
    uint32_t *row = wg_calloc(m + 1, sizeof *row);
    bool ok = way && row;
    for (size_t i = n; ok && i-- > 0;) {
        uint32_t diagonal = 0; /* length at (i + 1, j + 1) */
        for (size_t j = m; j-- > 0;) {
            uint32_t below = row[j], best = below;
            uint8_t w = SKIP_X;
            if (row[j + 1] > best) {
                best = row[j + 1];
                w = SKIP_Y;
            }
            if (x[i] == y[j] && diagonal + 1 >= best) {
                best = diagonal + 1;
                w = BOTH;
            }
            diagonal = below;
            row[j] = best;
            way[i * (m + 1) + j] = w;
        }
    }
    for (size_t i = 0, j = 0; ok && i < n && j < m;) {
        uint8_t w = way[i * (m + 1) + j];
        if (w == BOTH)
            map[j] = first + (uint32_t)i + 1;
        i += w != SKIP_Y;
        j += w != SKIP_X;
    }
    free(way);
    free(row);
    return ok;
}

/* Where the table would be too large: in order, each line of y the next equal one of x, if that is near. */
static void by_order(const uint64_t *x, size_t n, const uint64_t *y, size_t m, uint32_t first, uint32_t *map)
{
    enum { NEAR = 2000 };
    for (size_t i = 0, j = 0; j < m; j++)
        for (size_t k = i; k < n && k < i + NEAR; k++)
            if (x[k] == y[j]) {
                map[j] = first + (uint32_t)k + 1;
                i = k + 1;
                break;
            }
}

/* Between matched neighbours as many lines were as are: they were changed, not moved. */
static void pair_changed(uint32_t *map, size_t m, size_t n)
{
    for (size_t j = 0; j < m;) {
        size_t end = j;
        while (end < m && !map[end])
            end++;
        size_t from = j ? map[j - 1] : 0, to = end < m ? map[end] - 1 : n;
        if (end > j && to > from && to - from == end - j)
            for (size_t k = j; k < end; k++)
                map[k] = (uint32_t)(from + (k - j) + 1);
        j = end + 1;
    }
}

enum wg_status wg_compare_text(const char *before, const char *after, struct wg_arena *arena, uint32_t **out,
                               size_t *count)
{
    struct text x, y;
    *count = 0;
    if (!split(arena, before, &x) || !split(arena, after, &y))
        return WG_NO_MEMORY;
    uint32_t *map = wg_arena_alloc(arena, (y.n + 1) * sizeof *map);
    if (!map)
        return WG_NO_MEMORY;
    size_t head = 0, tail = 0;
    while (head < x.n && head < y.n && x.hash[head] == y.hash[head]) {
        map[head] = (uint32_t)head + 1;
        head++;
    }
    while (tail < x.n - head && tail < y.n - head && x.hash[x.n - 1 - tail] == y.hash[y.n - 1 - tail]) {
        map[y.n - 1 - tail] = (uint32_t)(x.n - tail);
        tail++;
    }
    size_t n = x.n - head - tail, m = y.n - head - tail;
    if (n && m && (m + 1) > TABLE_LIMIT / (n + 1))
        by_order(x.hash + head, n, y.hash + head, m, (uint32_t)head, map + head);
    else if (n && m && !by_table(x.hash + head, n, y.hash + head, m, (uint32_t)head, map + head))
        return WG_NO_MEMORY;
    pair_changed(map, y.n, x.n);
    memmove(map + 1, map, y.n * sizeof *map); /* from line numbers that begin at 0 */
    map[0] = 0;
    *out = map;
    *count = y.n;
    return WG_OK;
}

/* ---- sources -------------------------------------------------------------------------------------------------- */
static const char *base(const char *path)
{
    const char *s = strrchr(path, '/');
    return s ? s + 1 : path;
}

/* For each source of `after` the one of `before` that it was, and where its lines were. */
struct wg_moved {
    uint32_t source;
    bool by_number;
    uint32_t *map;
    size_t n;
};

static enum wg_status sources(const struct wg_profile *a, const struct wg_profile *b, struct wg_arena *arena,
                              struct wg_moved **out)
{
    struct wg_moved *v = wg_arena_alloc(arena, (b->nsources + 1) * sizeof *v);
    if (!v)
        return WG_NO_MEMORY;
    for (size_t i = 0; i < b->nsources; i++) {
        v[i].source = UINT32_MAX;
        for (size_t k = 0; k < a->nsources; k++)
            if (!strcmp(a->sources[k].path, b->sources[i].path))
                v[i].source = (uint32_t)k;
        for (size_t k = 0; v[i].source == UINT32_MAX && k < a->nsources; k++)
            if (!strcmp(base(a->sources[k].path), base(b->sources[i].path)))
                v[i].source = (uint32_t)k;
        if (v[i].source == UINT32_MAX)
            continue;
        const char *x = a->sources[v[i].source].text, *y = b->sources[i].text;
        v[i].by_number = !x || !y;
        if (x && y && wg_compare_text(x, y, arena, &v[i].map, &v[i].n) != WG_OK)
            return WG_NO_MEMORY;
    }
    *out = v;
    return WG_OK;
}

static bool place_before(const struct wg_moved *w, size_t nsources, uint32_t *source, uint32_t *line)
{
    if (*source == UINT32_MAX)
        return true;
    if (*source >= nsources || w[*source].source == UINT32_MAX)
        return false;
    const struct wg_moved *at = &w[*source];
    if (!at->by_number)
        *line = *line <= at->n ? at->map[*line] : 0;
    *source = at->source;
    return *line != 0;
}

static const struct wg_line *line_before(const struct wg_line *l, const struct wg_moved *w, size_t nsources,
                                         const struct wg_lines *a)
{
    uint32_t source = l->source, line = l->line;
    if (!place_before(w, nsources, &source, &line))
        return NULL;
    for (size_t i = 0; i < a->n; i++)
        if (a->v[i].source == source && a->v[i].line == line)
            return &a->v[i];
    return NULL;
}

static bool match_lines(struct wg_pair *p, const struct wg_moved *w, size_t nsources, struct wg_arena *arena)
{
    static const struct wg_lines none = {0};
    const struct wg_lines *x = p->alines ? p->alines : &none, *y = p->blines ? p->blines : &none;
    p->lines = wg_arena_alloc(arena, (x->n + y->n + 1) * sizeof *p->lines);
    bool *taken = wg_arena_alloc(arena, x->n + 1);
    if (!p->lines || !taken)
        return false;
    for (size_t i = 0; i < y->n; i++) {
        const struct wg_line *old = line_before(&y->v[i], w, nsources, x);
        if (old && taken[old - x->v])
            old = NULL;
        if (old)
            taken[old - x->v] = true;
        p->lines[p->nlines++] = (struct wg_line_pair){old, &y->v[i]};
    }
    for (size_t i = 0; i < x->n; i++)
        if (!taken[i])
            p->lines[p->nlines++] = (struct wg_line_pair){&x->v[i], NULL};
    return true;
}

/* ---- kernels -------------------------------------------------------------------------------------------------- */
static bool same_shape(const struct wg_launch_result *x, const struct wg_launch_result *y)
{
    return !memcmp(x->grid, y->grid, sizeof x->grid) && !memcmp(x->block, y->block, sizeof x->block) &&
           x->dynamic_shared == y->dynamic_shared && !strcmp(x->device, y->device);
}

/* 2: the same function; 1: one of that name, its parameters changed. */
static int same_kernel(const struct wg_launch_result *x, const struct wg_launch_result *y)
{
    if (!strcmp(x->mangled, y->mangled))
        return 2;
    size_t n = wg_markup_short_kernel(x->kernel);
    return n && n == wg_markup_short_kernel(y->kernel) && !strncmp(x->kernel, y->kernel, n);
}

enum wg_status wg_compare(const struct wg_view *a, const struct wg_view *b, struct wg_arena *arena,
                          struct wg_compare *out)
{
    struct wg_moved *w;
    *out = (struct wg_compare){.a = a, .b = b};
    enum wg_status s = sources(a->p, b->p, arena, &w);
    size_t *of = wg_arena_alloc(arena, (b->n + 1) * sizeof *of); /* index + 1 in a */
    bool *taken = wg_arena_alloc(arena, a->n + 1);
    out->v = wg_arena_alloc(arena, (a->n + b->n + 1) * sizeof *out->v);
    if (s != WG_OK || !of || !taken || !out->v)
        return WG_NO_MEMORY;
    for (int pass = 0; pass < 4; pass++) /* the surest first */
        for (size_t i = 0; i < b->n; i++)
            for (size_t k = 0; !of[i] && k < a->n; k++)
                if (!taken[k] && same_kernel(a->groups[k].first, b->groups[i].first) >= (pass < 2 ? 2 : 1) &&
                    (pass % 2 || same_shape(a->groups[k].first, b->groups[i].first))) {
                    of[i] = k + 1;
                    taken[k] = true;
                }
    for (size_t i = 0; i < b->n; i++) {
        struct wg_pair p = {.b = &b->groups[i], .blines = &b->lines[i]};
        if (of[i]) {
            p.a = &a->groups[of[i] - 1];
            p.alines = &a->lines[of[i] - 1];
            p.reshaped = !same_shape(p.a->first, p.b->first);
        }
        out->v[out->n++] = p;
    }
    for (size_t k = 0; k < a->n; k++)
        if (!taken[k])
            out->v[out->n++] = (struct wg_pair){.a = &a->groups[k], .alines = &a->lines[k]};
    out->where = w;
    for (size_t i = 0; i < out->n; i++)
        if (!match_lines(&out->v[i], w, b->p->nsources, arena))
            return WG_NO_MEMORY;
    return WG_OK;
}

const struct wg_finding *wg_compare_finding(const struct wg_compare *c, const struct wg_pair *p,
                                            const struct wg_finding *f)
{
    uint32_t source = f->line ? f->source : UINT32_MAX, line = f->line;
    if (!p->a || !place_before(c->where, c->b->p->nsources, &source, &line))
        return NULL;
    for (size_t i = 0; i < p->a->nfindings; i++) {
        const struct wg_finding *x = &p->a->findings[i];
        if (!strcmp(x->id, f->id) && (line ? x->line == line && x->source == source : !x->line))
            return x;
    }
    return NULL;
}

/* ---- figures -------------------------------------------------------------------------------------------------- */
static struct wg_delta delta(struct wg_figure a, struct wg_figure b, enum wg_headline h)
{
    struct wg_delta d = {.has = a.has && b.has, .a = a, .b = b};
    if (!d.has || a.value == b.value)
        return d;
    d.relative = a.value != 0 ? (b.value - a.value) / fabs(a.value) : b.value > 0 ? INFINITY : -INFINITY;
    enum wg_better better = wg_metric_infos[wg_headlines[h].metric].better;
    d.change = better == WG_BETTER_NEITHER                          ? WG_CHANGE_OTHER
               : (b.value < a.value) == (better == WG_BETTER_LOWER) ? WG_CHANGE_BETTER
                                                                    : WG_CHANGE_WORSE;
    return d;
}

struct wg_delta wg_compare_figure(const struct wg_pair *p, enum wg_headline h)
{
    struct wg_figure none = {0};
    return delta(p->a ? wg_view_figure(p->a, h) : none, p->b ? wg_view_figure(p->b, h) : none, h);
}

struct wg_delta wg_compare_line_figure(const struct wg_pair *p, const struct wg_line_pair *l, enum wg_headline h)
{
    struct wg_figure none = {0};
    return delta(l->a ? wg_view_line_figure(p->a, l->a, h) : none, l->b ? wg_view_line_figure(p->b, l->b, h) : none, h);
}

const char *wg_compare_text_of(char buf[32], const struct wg_delta *d)
{
    double p = 100 * d->relative;
    if (!d->has)
        snprintf(buf, 32, "%s", d->a.has ? "gone" : d->b.has ? "new" : "");
    else if (d->a.value == d->b.value)
        snprintf(buf, 32, "same");
    else if (isinf(d->relative))
        snprintf(buf, 32, "from 0");
    else if (fabs(p) < 0.05)
        snprintf(buf, 32, "%s0.05 %%", p > 0 ? "under +" : "under -");
    else if (p >= 1e6)
        snprintf(buf, 32, "x %.3g", d->relative + 1);
    else
        snprintf(buf, 32, fabs(p) < 10 ? "%+.1f %%" : "%+.0f %%", p);
    return buf;
}
