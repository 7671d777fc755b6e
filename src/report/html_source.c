/* html_source.c - source and PTX side by side, each row with what it cost, the costly ones coloured. */
#include "report/escape.h"
#include "report/html.h"
#include "report/markup.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXT = 2, MAX_TEXT = 400 }; /* lines around those that ran; bytes shown of a line */

/* The most that one row costs, by column: what heat is measured against. */
struct most {
    uint64_t inst, sectors, wavefronts;
};
struct columns {
    bool sectors, wavefronts, lanes;
};

void wg_html_place(struct wg_html *h, size_t k, uint32_t source, uint32_t line)
{
    if (!line || source >= h->v->p->nsources)
        return;
    bool shown = false;
    for (size_t i = 0; i < h->v->lines[k].n && !shown; i++)
        shown = h->v->lines[k].v[i].source == source && h->v->lines[k].v[i].line == line &&
                h->v->lines[k].v[i].total[WG_C_INST];
    shown = shown && h->v->groups[k].total[WG_C_INST];
    fputs(shown ? "<a href=\"#k" : "<span class=\"at\">", h->out);
    if (shown)
        fprintf(h->out, "%zus%" PRIu32 "l%" PRIu32 "\">", k, source, line);
    wg_html_text(h, wg_html_base(h->v->p->sources[source].path));
    fprintf(h->out, ":%" PRIu32 "%s", line, shown ? "</a>" : "</span>");
}

static unsigned heat(uint64_t part, uint64_t most)
{
    if (!most || part * 50 < most)
        return 0;
    unsigned n = (unsigned)((double)part / (double)most * 9 + 0.5);
    return n < 1 ? 1 : n > 9 ? 9 : n;
}

static void cell(FILE *out, unsigned hot, const char *text)
{
    if (hot)
        fprintf(out, "<td class=\"h%u\">%s", hot, text);
    else
        fprintf(out, "<td>%s", text);
}

static const char *each(char buf[WG_NUMBER_BYTES], uint64_t a, uint64_t b)
{
    if (!a || !b)
        return "";
    return wg_format_ratio(buf, (double)a / (double)b);
}

static void line_text(FILE *out, const char *s, size_t n)
{
    size_t show = n > MAX_TEXT ? MAX_TEXT : n;
    while (show && show < n && ((unsigned char)s[show] & 0xc0) == 0x80)
        show--;
    wg_markup_n(out, WG_MARKUP_HTML, s, show);
    if (show < n)
        fputs("...", out);
}

/* Cells of what a line, or one instruction, counted. */
static void counts(FILE *out, const struct columns *c, const struct most *m, const struct wg_line *l)
{
    char buf[WG_NUMBER_BYTES];
    cell(out, heat(l->total[WG_C_INST], m->inst), l->total[WG_C_INST] ? wg_format_count(buf, l->total[WG_C_INST]) : "");
    if (c->sectors)
        cell(out, heat(l->sectors_extra, m->sectors), each(buf, l->sectors, l->sector_requests));
    if (c->wavefronts)
        cell(out, heat(l->wavefronts_extra, m->wavefronts), each(buf, l->wavefronts, l->wavefront_requests));
    if (c->lanes)
        cell(out, 0, each(buf, l->lanes, l->total[WG_C_INST]));
}

static void heads(FILE *out, const struct columns *c, const char *first, const char *last)
{
    fprintf(out, "<thead><tr><th scope=\"col\">%s</th><th scope=\"col\">warp inst.</th>", first);
    if (c->sectors)
        fputs("<th scope=\"col\" title=\"sectors a request; colour: those above the ideal\">sectors</th>", out);
    if (c->wavefronts)
        fputs("<th scope=\"col\" title=\"wavefronts a request; colour: those above the ideal\">wavefr.</th>", out);
    if (c->lanes)
        fputs("<th scope=\"col\" title=\"lanes at work, of 32\">lanes</th>", out);
    fprintf(out, "<th scope=\"col\" class=\"l\">%s</th></tr></thead>\n<tbody>", last);
}

/* ---- source --------------------------------------------------------------------------------------------------- */
struct pane {
    struct wg_html *h;
    size_t k;
    struct columns c;
    struct most m;
    bool full;
};

static void plain_row(const struct pane *p, uint32_t line, const char *s, size_t n)
{
    unsigned empty = 1u + p->c.sectors + p->c.wavefronts + p->c.lanes;
    fprintf(p->h->out, "<tr class=\"p\"><th>%" PRIu32 "<td colspan=\"%u\"><td class=\"s\">", line, empty);
    line_text(p->h->out, s, n);
    fputc('\n', p->h->out);
}

static void source_row(const struct pane *p, const struct wg_line *l, const char *s, size_t n)
{
    bool marked = wg_judge_line(&p->h->v->groups[p->k], l);
    fprintf(p->h->out, "<tr%s id=\"k%zus%" PRIu32 "l%" PRIu32 "\" data-g=\"%" PRIu32 "-%" PRIu32 "\"><th>%" PRIu32,
            marked ? " class=\"mark\"" : "", p->k, l->source, l->line, l->source, l->line, l->line);
    counts(p->h->out, &p->c, &p->m, l);
    fputs("<td class=\"s\">", p->h->out);
    if (s)
        line_text(p->h->out, s, n);
    else
        for (size_t i = 0, used = 0; i < l->nsites && used < 6; i++)
            if (l->sites[i]->c[WG_C_ACCESS]) {
                fputs(used++ ? ", " : "", p->h->out);
                wg_html_text(p->h, l->sites[i]->opcode);
            }
    fputc('\n', p->h->out);
}

static void gap(const struct pane *p)
{
    fprintf(p->h->out, "<tr class=\"gap\"><td colspan=\"%u\">...\n", 3u + p->c.sectors + p->c.wavefronts + p->c.lanes);
}

/* Lines v[0..n) of one source, ascending, with the lines around them. */
static void one_source(const struct pane *p, const struct wg_line *v, size_t n)
{
    const struct wg_source *s = &p->h->v->p->sources[v->source];
    const char *at = s->text;
    uint32_t line = 1, shown = 0; /* shown: the last line that is on the page */
    fputs("<h4>", p->h->out);
    wg_html_text(p->h, s->path);
    fputs(s->text ? "</h4>" : "</h4><p class=\"dim\">its text was not readable</p>", p->h->out);
    fputs("<table class=\"code\">", p->h->out);
    heads(p->h->out, &p->c, "line", "source");
    for (size_t i = 0; i < n; i++) {
        if (!v[i].total[WG_C_INST] || (!p->full && !wg_judge_line(&p->h->v->groups[p->k], &v[i])))
            continue;
        uint32_t from = v[i].line > CONTEXT ? v[i].line - CONTEXT : 1;
        size_t next = i + 1;
        while (next < n && !v[next].total[WG_C_INST])
            next++;
        uint32_t to = v[i].line + CONTEXT;
        to = next < n && v[next].line <= to ? v[next].line - 1 : to;
        from = from <= shown ? shown + 1 : from;
        if (from > shown + 1 && shown)
            gap(p);
        for (; at && *at && line <= to; line++) {
            size_t len = strcspn(at, "\n");
            if (line == v[i].line)
                source_row(p, &v[i], at, len);
            else if (line >= from)
                plain_row(p, line, at, len);
            at += len + (at[len] == '\n');
        }
        if (line <= v[i].line) /* beyond the text */
            source_row(p, &v[i], NULL, 0);
        shown = to;
    }
    fputs("</tbody></table>\n", p->h->out);
}

/* ---- PTX ------------------------------------------------------------------------------------------------------ */
static struct wg_line as_line(const struct wg_site *s)
{
    struct wg_line l = {.lanes = wg_metric_lanes(s)};
    struct wg_traffic t = {0};
    enum wg_where where;
    enum wg_how how;
    memcpy(l.total, s->c, sizeof l.total);
    if (!wg_fold_class(s, &where, &how))
        return l;
    wg_fold_add(&t, s);
    if (where != WG_WHERE_SHARED) {
        l.sectors = t.sectors;
        l.sectors_extra = t.sectors_extra;
    }
    if (where != WG_WHERE_GLOBAL && where != WG_WHERE_LOCAL) {
        l.wavefronts = t.wavefronts;
        l.wavefronts_extra = t.wavefronts_extra;
    }
    l.sector_requests = l.wavefront_requests = t.requests;
    return l;
}

static void ptx(struct pane *p)
{
    const struct wg_group *g = &p->h->v->groups[p->k];
    const struct wg_lines *lines = &p->h->v->lines[p->k];
    size_t n = g->first->nsites;
    const struct wg_line **of = wg_arena_alloc(p->h->v->arena, (n + 1) * sizeof *of);
    if (!of)
        return;
    for (size_t i = 0; i < lines->n; i++)
        for (size_t s = 0; s < lines->v[i].nsites; s++)
            of[lines->v[i].sites[s] - g->sites] = &lines->v[i];
    fputs(
        "<div class=\"pane\" tabindex=\"0\" role=\"region\" aria-label=\"PTX\"><h4>PTX</h4><table class=\"code ptx\">",
        p->h->out);
    heads(p->h->out, &p->c, "line", "instruction");
    for (size_t i = 0; i < n; i++) {
        struct wg_line l = as_line(&g->sites[i]);
        bool linked = of[i] && of[i]->source != UINT32_MAX;
        if (linked)
            fprintf(p->h->out, "<tr data-g=\"%" PRIu32 "-%" PRIu32 "\"><th>", of[i]->source, of[i]->line);
        else
            fputs("<tr><th>", p->h->out);
        if (linked && of[i]->total[WG_C_INST] && (!i || of[i] != of[i - 1]))
            fprintf(p->h->out, "<a href=\"#k%zus%" PRIu32 "l%" PRIu32 "\">%" PRIu32 "</a>", p->k, of[i]->source,
                    of[i]->line, of[i]->line);
        counts(p->h->out, &p->c, &p->m, &l);
        fputs("<td class=\"s\">", p->h->out);
        line_text(p->h->out, g->sites[i].text, strlen(g->sites[i].text));
        fputc('\n', p->h->out);
    }
    fputs("</tbody></table></div>\n", p->h->out);
}

void wg_html_source(struct wg_html *h, size_t k, enum wg_html_detail detail)
{
    bool full = detail == WG_HTML_ALL;
    const struct wg_lines *lines = &h->v->lines[k];
    struct pane p = {.h = h, .k = k, .full = full};
    bool any = false, sourced = false;
    for (size_t i = 0; i < lines->n; i++) {
        const struct wg_line *l = &lines->v[i];
        p.c.sectors |= l->sectors > 0;
        p.c.wavefronts |= l->wavefronts > 0;
        p.c.lanes |= l->total[WG_C_INST] && (double)l->lanes < 31.95 * (double)l->total[WG_C_INST];
        p.m.inst = l->total[WG_C_INST] > p.m.inst ? l->total[WG_C_INST] : p.m.inst;
        p.m.sectors = l->sectors_extra > p.m.sectors ? l->sectors_extra : p.m.sectors;
        p.m.wavefronts = l->wavefronts_extra > p.m.wavefronts ? l->wavefronts_extra : p.m.wavefronts;
        any |= full || wg_judge_line(&h->v->groups[k], l);
        sourced |= l->source != UINT32_MAX;
    }
    if (!any)
        return;
    if (detail == WG_HTML_FIGURES) {
        fputs("<p class=\"dim\">Charts and source are left out: the page would be too large. "
              "<code>warpgrind html -k NAME</code> shows fewer kernels.</p>\n",
              h->out);
        return;
    }
    const struct wg_group *g = &h->v->groups[k];
    fprintf(h->out,
            "<h3>Source%s</h3>\n%s<p class=\"dim\">Counts of %s, %s; sectors and wavefronts a request. Colour: the "
            "share of the worst "
            "line, of what is above the ideal where there is one.</p>\n",
            full ? " and PTX" : "",
            full ? ""
                 : "<p class=\"dim\">Only lines that waste: the page would be too large; <code>-k NAME</code> shows "
                   "fewer kernels.</p>\n",
            g->nlaunches > 1 ? "all launches" : "the launch", g->merged_sites ? "modelled" : "exact for this PTX");
    fputs(full ? "<div class=\"sides\">" : "<div>", h->out);
    if (sourced) {
        fputs("<div class=\"pane\" tabindex=\"0\" role=\"region\" aria-label=\"source\">", h->out);
        for (size_t i = 0, e; i < lines->n; i = e) {
            for (e = i + 1; e < lines->n && lines->v[e].source == lines->v[i].source;)
                e++;
            bool ran = false;
            for (size_t j = i; j < e; j++)
                ran |= lines->v[j].total[WG_C_INST] && (full || wg_judge_line(&h->v->groups[k], &lines->v[j]));
            if (lines->v[i].source != UINT32_MAX && ran)
                one_source(&p, &lines->v[i], e - i);
        }
        fputs("</div>\n", h->out);
    }
    if (full)
        ptx(&p);
    fputs("</div>\n", h->out);
}
