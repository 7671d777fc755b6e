/* annotate.c - the source of a kernel with what each line counted beside it, and the worst lines marked and explained. */
#include "report/escape.h"
#include "report/page.h"
#include "model/metrics.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINES = 40, MAX_EXPLAINED = 5 };

static const char *const where_names[] = {"global", "shared", "local", "generic", "asynchronous"};
static const char *const how_names[WG_HOW_COUNT] = {"loads", "stores", "atomics"};

/* Which columns a listing has, and where the source text begins. */
struct table {
    bool sectors, wavefronts, lanes;
    unsigned text; /* column */
    unsigned indent; /* columns of indentation that all lines share */
};

static double average_lanes(const struct wg_line *l)
{
    return l->total[WG_C_INST] ? (double)l->lanes / (double)l->total[WG_C_INST] : 32;
}

/* All sources of a kernel share one table, so that their columns line up. */
static struct table columns(const struct wg_line *l, size_t n)
{
    struct table t = {0};
    for (size_t i = 0; i < n; i++) {
        t.sectors |= l[i].sectors > 0;
        t.wavefronts |= l[i].wavefronts > 0;
        t.lanes |= average_lanes(&l[i]) < 31.95;
    }
    t.text = 8 + 14 + (t.sectors ? 9 : 0) + (t.wavefronts ? 12 : 0) + (t.lanes ? 7 : 0) + 5;
    return t;
}

static void heading(struct wg_page *g, const struct table *t, const char *what)
{
    wg_page_ink(g, WG_INK_DIM);
    fprintf(g->out, "%22s%s%s%s\n", "warp", t->sectors ? "  sectors" : "", t->wavefronts ? "  wavefronts" : "",
            t->lanes ? "  lanes" : "");
    fprintf(g->out, "%8s%14s%s%s%s\n", what, "instructions", t->sectors ? "     /req" : "",
            t->wavefronts ? "        /req" : "", t->lanes ? "     on" : "");
    wg_page_ink(g, WG_INK_PLAIN);
}

static void ratio(struct wg_page *g, int width, uint64_t a, uint64_t b)
{
    char buf[WG_NUMBER_BYTES];
    fprintf(g->out, "%*s", width, a && b ? wg_format_ratio(buf, (double)a / (double)b) : "");
}

/* The counts of one row; `mark` is how bad it is, 0 to 2. */
static void counts(struct wg_page *g, const struct table *t, const struct wg_line *l, int mark)
{
    char buf[WG_NUMBER_BYTES];
    fprintf(g->out, "%14s", wg_format_count(buf, l->total[WG_C_INST]));
    if (t->sectors)
        ratio(g, 9, l->sectors, l->sector_requests);
    if (t->wavefronts)
        ratio(g, 12, l->wavefronts, l->wavefront_requests);
    if (t->lanes)
        fprintf(g->out, "%7.1f", average_lanes(l));
    wg_page_ink(g, mark ? WG_INK_BAD : WG_INK_PLAIN);
    fprintf(g->out, " %-2s  ", mark == 2 ? "!!" : mark ? "!" : "");
    wg_page_ink(g, WG_INK_PLAIN);
}

static int how_bad(const struct wg_group *group, const struct wg_line *l)
{
    if (!wg_judge_line(group, l))
        return 0;
    return l->sectors_extra * 2 >= l->sectors && l->sectors_extra ? 2
           : l->wavefronts_extra * 2 >= l->wavefronts && l->wavefronts_extra ? 2
                                                                             : 1;
}

/* "shared loads, 4 bytes a lane: 32.0 wavefronts a request, 1.0 without conflicts: 4,063,232 extra" */
static void explain(struct wg_page *g, const struct wg_line *l, enum wg_where w, enum wg_how h)
{
    const struct wg_traffic *t = &l->traffic[w][h];
    unsigned low = UINT16_MAX, high = 0;
    for (size_t i = 0; i < l->nsites; i++) {
        enum wg_where where;
        enum wg_how how;
        if (wg_fold_class(l->sites[i], &where, &how) && where == w && how == h && l->sites[i]->c[WG_C_ACCESS]) {
            low = l->sites[i]->access_bytes < low ? l->sites[i]->access_bytes : low;
            high = l->sites[i]->access_bytes > high ? l->sites[i]->access_bytes : high;
        }
    }
    char a[WG_NUMBER_BYTES], b[WG_NUMBER_BYTES], c[WG_NUMBER_BYTES], size[48] = "";
    if (high && low == high)
        snprintf(size, sizeof size, ", %u byte%s a lane", low, low == 1 ? "" : "s");
    else if (high)
        snprintf(size, sizeof size, ", %u to %u bytes a lane", low, high);
    double r = (double)t->requests;
    for (int pass = 0; pass < 2; pass++) {
        uint64_t extra = pass ? t->wavefronts_extra : t->sectors_extra, all = pass ? t->wavefronts : t->sectors;
        if (!extra || (double)extra < WG_JUDGE_SHARE * (double)all || !t->requests || (!pass && w == WG_WHERE_LOCAL))
            continue;
        fprintf(g->out, "%10s", "");
        wg_page_ink(g, WG_INK_WARN);
        fprintf(g->out, "%s %s%s: %s %s a request, %s %s: %s extra", where_names[w],
                w == WG_WHERE_ASYNC ? "copies" : how_names[h], size, wg_format_ratio(a, (double)all / r),
                pass ? "wavefronts" : "sectors",
                wg_format_ratio(b, (double)(pass ? t->wavefronts_ideal : t->sectors_ideal) / r),
                pass ? "without conflicts" : "were the lanes side by side", wg_format_count(c, extra));
        wg_page_ink(g, WG_INK_PLAIN);
        fputc('\n', g->out);
    }
}

/* Finds lines of one source in ascending order without starting over. */
struct cursor { const char *at; uint32_t line; };
static const char *text_of(struct cursor *c, const struct wg_source *s, uint32_t line, size_t *n)
{
    if (!c->at) {
        c->at = s->text;
        c->line = 1;
    }
    while (c->at && c->line < line) {
        c->at = strchr(c->at, '\n');
        if (c->at)
            c->at++;
        c->line++;
    }
    *n = c->at ? strcspn(c->at, "\n") : 0;
    return c->at;
}

static unsigned indentation(const char *s, size_t n)
{
    unsigned col = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\t')
            col += 4 - col % 4;
        else if (s[i] == ' ')
            col++;
        else
            return col;
    }
    return UINT32_MAX; /* blank */
}

/* Where the source has no text: what the line does in PTX. */
static void opcodes(struct wg_page *g, const struct wg_line *l, unsigned room)
{
    unsigned used = 0;
    for (size_t i = 0; i < l->nsites; i++) {
        unsigned w = wg_escape_width(l->sites[i]->opcode, strlen(l->sites[i]->opcode));
        if (!l->sites[i]->c[WG_C_ACCESS] || (used && used + w + 2 > room))
            continue;
        if (used)
            fputs(", ", g->out);
        used += wg_page_text(g, l->sites[i]->opcode, room) + 2;
    }
}

/* The source text of a row. `whole`: nothing is cut; what does not fit goes on below. */
static void text(struct wg_page *g, const struct table *t, const struct wg_line *l, struct cursor *cur, bool whole)
{
    unsigned room = g->width - t->text;
    size_t n, skip = 0;
    if (l->source == UINT32_MAX) {
        wg_page_text(g, l->text ? l->text : "(instructions that the compiler gave no line)", whole ? 0 : room);
        return;
    }
    const char *s = text_of(cur, &g->p->sources[l->source], l->line, &n);
    if (!s) {
        opcodes(g, l, room);
        return;
    }
    while (skip < n && (s[skip] == ' ' || s[skip] == '\t'))
        skip++;
    unsigned in = indentation(s, n), keep = in == UINT32_MAX || in < t->indent ? 0 : in - t->indent;
    keep = keep > room / 3 ? room / 3 : keep;
    s += skip;
    n -= skip;
    wg_page_pad(g, 0, keep);
    while (whole && wg_escape_width(s, n) > room - keep) {
        size_t k = wg_escape_fit(s, n, room - keep), blank = k;
        while (blank > k / 2 && s[blank] != ' ')
            blank--;
        k = blank > k / 2 ? blank + 1 : k;
        wg_escape(g->out, s, k, 0);
        s += k;
        n -= k;
        keep = room > 60 ? 8 : 4;
        fputc('\n', g->out);
        wg_page_pad(g, 0, t->text + keep);
    }
    wg_escape(g->out, s, n, whole ? 0 : room - keep);
}

static void sites(struct wg_page *g, const struct table *t, const struct wg_line *l)
{
    for (size_t i = 0; i < l->nsites; i++) {
        const struct wg_site *s = l->sites[i];
        struct wg_line one = {0};
        enum wg_where where;
        enum wg_how how;
        memcpy(one.total, s->c, sizeof one.total);
        one.lanes = wg_metric_lanes(s);
        if (wg_fold_class(s, &where, &how)) {
            bool sh = where == WG_WHERE_SHARED;
            one.sectors = sh ? 0 : s->c[WG_C_SECTORS];
            one.sector_requests = one.wavefront_requests = s->c[WG_C_ACCESS];
            one.wavefronts = where == WG_WHERE_GLOBAL || where == WG_WHERE_LOCAL ? 0 : s->c[WG_C_WAVEFRONTS];
        }
        wg_page_ink(g, WG_INK_DIM);
        fprintf(g->out, "%8s", "ptx");
        counts(g, t, &one, 0);
        wg_page_ink(g, WG_INK_DIM);
        fputs("  ", g->out);
        wg_page_text(g, s->text, 0);
        wg_page_ink(g, WG_INK_PLAIN);
        fputc('\n', g->out);
    }
}

static bool interesting(const struct wg_group *group, const struct wg_line *l)
{
    return l->total[WG_C_INST] && (l->sectors || l->wavefronts || l->barrier ||
                                   l->total[WG_C_INST] * 100 >= group->total[WG_C_INST]);
}

static int most(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* The instruction count a line must reach to be among the first `keep` of the plain lines; 0 when all fit. */
static uint64_t threshold(struct wg_page *g, const struct wg_group *group, const struct wg_line *l, size_t n, size_t keep)
{
    uint64_t *v = wg_arena_alloc(g->arena, (n + 1) * sizeof *v);
    size_t k = 0;
    for (size_t i = 0; v && i < n; i++)
        if (interesting(group, &l[i]))
            v[k++] = l[i].total[WG_C_INST];
    if (!v || k <= keep)
        return 0;
    qsort(v, k, sizeof *v, most);
    return v[keep - 1];
}

static uint64_t extra(const struct wg_line *l) { return l->sectors_extra + l->wavefronts_extra; }

/* Among the marked lines, is this one of the worst few, which are explained? */
static bool explained(const struct wg_group *group, const struct wg_line *lines, size_t n, size_t at)
{
    size_t worse = 0;
    for (size_t i = 0; i < n && worse < MAX_EXPLAINED; i++)
        if (i != at && (extra(&lines[i]) > extra(&lines[at]) || (extra(&lines[i]) == extra(&lines[at]) && i < at)))
            worse += wg_judge_line(group, &lines[i]);
    return worse < MAX_EXPLAINED;
}

static void file_heading(struct wg_page *g, const struct table *t, const struct wg_source *s)
{
    fputs("\n  ", g->out);
    if (s)
        wg_page_text(g, g->verbose ? s->path : wg_page_base(s->path), g->width - 30);
    else
        fputs("PTX without line numbers (compile with -lineinfo to see the source)", g->out);
    if (s && !s->text)
        fputs("   (its text was not readable)", g->out);
    fputc('\n', g->out);
    heading(g, t, s ? "line" : "ptx line");
}

static void one_source(struct wg_page *g, const struct wg_group *group, struct table t, const struct wg_line *l, size_t n,
                       uint64_t least, size_t *hidden)
{
    struct cursor cur = {0};
    const struct wg_source *s = l->source < g->p->nsources ? &g->p->sources[l->source] : NULL;
    size_t len;
    unsigned shown = 0;
    t.indent = UINT32_MAX;
    for (size_t i = 0; s && i < n; i++) {
        const char *x = text_of(&cur, s, l[i].line, &len);
        unsigned in = x && l[i].total[WG_C_INST] ? indentation(x, len) : UINT32_MAX;
        if (in < len && x[strspn(x, " \t")] == '}')
            continue; /* the brace that ends a function would hold all others out */
        t.indent = in < t.indent ? in : t.indent;
    }
    if (t.indent == UINT32_MAX)
        t.indent = 0;
    cur = (struct cursor){0};
    for (size_t i = 0; i < n; i++) {
        int mark = how_bad(group, &l[i]);
        if (!g->verbose && !mark && (!interesting(group, &l[i]) || l[i].total[WG_C_INST] < least)) {
            *hidden += l[i].total[WG_C_INST] != 0;
            continue;
        }
        bool lineless = !s && !l[i].text;
        if (!shown++ && !lineless)
            file_heading(g, &t, s);
        wg_page_ink(g, mark ? WG_INK_BAD : WG_INK_PLAIN);
        if (lineless)
            fprintf(g->out, "%s     -", mark ? "> " : "  ");
        else
            fprintf(g->out, "%s%6" PRIu32, mark ? "> " : "  ", l[i].line);
        wg_page_ink(g, WG_INK_PLAIN);
        counts(g, &t, &l[i], mark);
        text(g, &t, &l[i], &cur, g->verbose || mark);
        fputc('\n', g->out);
        for (int w = 0; mark && w < WG_WHERE_COUNT && explained(group, l, n, i); w++)
            for (int h = 0; h < WG_HOW_COUNT; h++)
                explain(g, &l[i], (enum wg_where)w, (enum wg_how)h);
        if (g->verbose && (s || lineless))
            sites(g, &t, &l[i]);
    }
}

void wg_page_annotate(struct wg_page *g, const struct wg_group *group, const struct wg_line *lines, size_t n)
{
    size_t hidden = 0;
    const struct table t = columns(lines, n);
    uint64_t least = g->verbose ? 0 : threshold(g, group, lines, n, MAX_LINES);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && lines[k].source == lines[i].source;)
            k++;
        one_source(g, group, t, lines + i, k - i, least, &hidden);
    }
    if (hidden) {
        wg_page_ink(g, WG_INK_DIM);
        fprintf(g->out, "\n  %zu more line%s ran with little to say; --verbose shows %s\n", hidden, hidden == 1 ? "" : "s",
                hidden == 1 ? "it" : "them");
        wg_page_ink(g, WG_INK_PLAIN);
    }
}
