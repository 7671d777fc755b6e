/* html_compare.c - what changed between two profiles, as a part of the page. */
#include "report/escape.h"
#include "report/html.h"
#include "report/markup.h"
#include <inttypes.h>
#include <string.h>

static void row(struct wg_html *h, const char *label, const struct wg_delta *d, enum wg_headline k)
{
    static const char *const classes[] = {"", "good", "error", ""};
    char x[WG_VALUE_BYTES] = "", y[WG_VALUE_BYTES] = "", by[32];
    const char *unit = wg_metric_infos[wg_headlines[k].metric].unit;
    if (d->a.has)
        wg_view_value_unit(x, d->a.value, unit);
    if (d->b.has)
        wg_view_value_unit(y, d->b.value, unit);
    fprintf(h->out,
            "<td class=\"l\">%s</td><td>%s</td><td>%s</td><td class=\"%s\">%s%s</td><td class=\"l dim\">%s</td></tr>\n",
            label, x, y, classes[d->change], wg_compare_text_of(by, d),
            d->change == WG_CHANGE_WORSE    ? ", worse"
            : d->change == WG_CHANGE_BETTER ? ", better"
                                            : "",
            wg_fidelity_name(d->b.has ? d->b.fidelity : d->a.fidelity));
}

static void place(struct wg_html *h, const struct wg_compare *c, const struct wg_line_pair *l)
{
    const struct wg_line *x = l->b ? l->b : l->a;
    const struct wg_profile *p = l->b ? c->b->p : c->a->p;
    size_t n = 0;
    if (x->source < p->nsources) {
        wg_html_text(h, wg_html_base(p->sources[x->source].path));
        fprintf(h->out, ":%" PRIu32, x->line);
    } else {
        fprintf(h->out, "PTX line %" PRIu32, x->line);
    }
    if (!l->a || !l->b)
        fputs(l->b ? " (new)" : " (gone)", h->out);
    else if (l->a->line != l->b->line)
        fprintf(h->out, " (was %" PRIu32 ")", l->a->line);
    const char *t = x->source < p->nsources ? wg_source_line(&p->sources[x->source], x->line, &n) : NULL;
    size_t skip = t ? strspn(t, " \t") : 0;
    if (t && skip < n) {
        fputs("<br><code>", h->out);
        size_t show = n - skip > 200 ? 200 : n - skip;
        while (show && show < n - skip && ((unsigned char)t[skip + show] & 0xc0) == 0x80)
            show--;
        wg_markup_n(h->out, WG_MARKUP_HTML, t + skip, show);
        fputs("</code>", h->out);
    }
}

static bool pair(struct wg_html *h, const struct wg_compare *c, const struct wg_pair *p)
{
    const struct wg_launch_result *l = p->b ? p->b->first : p->a->first;
    char shape[128];
    bool head = false;
    for (size_t k = 0; k <= (p->a && p->b ? p->nlines : 0); k++) {
        const struct wg_line_pair *at = k ? &p->lines[k - 1] : NULL;
        bool named = false;
        for (int i = 0; i < WG_HEADLINE_COUNT; i++) {
            enum wg_headline x = (enum wg_headline)i;
            struct wg_delta d = at ? wg_compare_line_figure(p, at, x) : wg_compare_figure(p, x);
            if ((at && wg_headlines[i].how != WG_HEADLINE_SUM) || (!d.a.has && !d.b.has) || d.a.value == d.b.value)
                continue;
            if (!head) {
                fputs("<table class=\"data\"><caption>", h->out);
                wg_html_text(h, *l->kernel ? l->kernel : l->mangled);
                fputc(' ', h->out);
                wg_html_text(h, wg_view_shape(shape, l));
                fputs(!p->a ? ", only after" : !p->b ? ", only before" : "", h->out);
                fputs("</caption><thead><tr><th scope=\"col\">where</th><th scope=\"col\">figure</th><th "
                      "scope=\"col\">before</th><th scope=\"col\">"
                      "after</th><th scope=\"col\">change</th><th></th></tr></thead><tbody>\n",
                      h->out);
                head = true;
            }
            fputs("<tr><th scope=\"row\">", h->out);
            if (at && !named)
                place(h, c, at);
            else if (!at && !named)
                fputs("kernel", h->out);
            named = true;
            fputs("</th>", h->out);
            row(h, wg_headlines[i].label, &d, x);
        }
    }
    if (head)
        fputs("</tbody></table>\n", h->out);
    for (size_t i = 0; p->a && p->b && i < p->b->nfindings; i++)
        if (!wg_compare_finding(c, p, &p->b->findings[i])) {
            fputs("<p class=\"error pre\">new finding: ", h->out);
            wg_html_text(h, p->b->findings[i].message);
            fputs("</p>\n", h->out);
            head = true;
        }
    return head;
}

void wg_html_compare(struct wg_html *h, const struct wg_compare *c)
{
    size_t same = 0;
    fputs("<section id=\"changes\"><h2>What changed</h2>\n", h->out);
    for (size_t i = 0; i < c->n; i++)
        same += !pair(h, c, &c->v[i]);
    if (same)
        fprintf(h->out, "<p class=\"dim\">%zu kernel%s the same.</p>\n", same, same == 1 ? " is" : "s are");
    fputs("</section>\n", h->out);
}
