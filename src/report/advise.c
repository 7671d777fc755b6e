/* advise.c - the page of advice: what to change in each kernel, what was tried, and how sure it is. */
#include "report/escape.h"
#include "report/items.h"
#include "report/page.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {
#define WG_ADVICE(id, word, text) word,
#include "report/advice.def"
#undef WG_ADVICE
};

struct wg_item *wg_items_add(struct wg_items *x, enum wg_advice_kind kind, enum wg_sure sure)
{
    struct wg_item *v = wg_arena_grow(x->arena, x->v, x->n + 1, &x->cap, sizeof *v);
    if (!v)
        return NULL;
    x->v = v;
    v[x->n] = (struct wg_item){.kind = kind, .sure = sure, .faster = {1, 1}};
    return &v[x->n++];
}

const char *wg_items_place(const struct wg_items *x, const struct wg_line *l, char buf[128])
{
    const struct wg_profile *p = x->view->p;
    buf[0] = 0;
    if (l && l->source < p->nsources)
        snprintf(buf, 128, "%s:%" PRIu32, wg_page_base(p->sources[l->source].path), l->line);
    else if (l && l->line)
        snprintf(buf, 128, "PTX:%" PRIu32, l->line);
    return buf;
}

const struct wg_line *wg_items_line(const struct wg_items *x, const struct wg_site *s)
{
    for (size_t i = 0; i < x->lines->n; i++)
        for (size_t k = 0; k < x->lines->v[i].nsites; k++)
            if (x->lines->v[i].sites[k] == s)
                return &x->lines->v[i];
    return NULL;
}

const char *wg_items_exact(const struct wg_items *x) { return x->g->merged_sites ? "modelled" : "exact"; }

/* Surest gain first: the middle of its range, then what it can be at most. */
static int dearest(const void *a, const void *b)
{
    const struct wg_item *x = a, *y = b;
    double p = x->faster.low + x->faster.high, q = y->faster.low + y->faster.high;
    return p != q ? (p < q ? 1 : -1) : x->sure != y->sure ? (int)x->sure - (int)y->sure : (int)x->kind - (int)y->kind;
}

/* The source line itself, or the instruction where the profile has no text. */
static void print_code(FILE *out, const struct wg_items *x, const struct wg_item *it)
{
    struct wg_page page = {.out = out, .p = x->view->p};
    size_t n = 0;
    const char *text = it->line && it->line->source < x->view->p->nsources
                           ? wg_source_line(&x->view->p->sources[it->line->source], it->line->line, &n) : NULL;
    while (n && (*text == ' ' || *text == '\t'))
        text++, n--;
    char line[101];
    snprintf(line, sizeof line, "%.*s", (int)(n < 100 ? n : 100), text ? text : "");
    const char *shown = *line ? line : it->text ? it->text : "";
    if (*shown)
        fputs("  ", out);
    wg_page_text(&page, shown, 0);
}

static void print_item(FILE *out, const struct wg_items *x, size_t number, const struct wg_item *it)
{
    static const char *const sure[] = {"certain", "likely", "worth a try"};
    char place[128];
    struct wg_page page = {.out = out, .p = x->view->p};
    fprintf(out, "  %zu. %s", number, words[it->kind]);
    if (*wg_items_place(x, it->line, place)) {
        fputs("  ", out);
        wg_page_text(&page, place, 0);
    }
    print_code(out, x, it);
    const char *const labels[] = {"found", "do", "proof"}, *const texts[] = {it->found, it->fix, it->proof};
    for (int k = 0; k < 3; k++) {
        fprintf(out, "\n     %-6s ", labels[k]);
        wg_page_text(&page, texts[k], 0);
    }
    fprintf(out, "\n     gain   ");
    if (x->gain.timed && it->faster.low < 1.015)
        fprintf(out, "the kernel up to %.3g times as fast (estimated)", it->faster.high);
    else if (x->gain.timed)
        fprintf(out, "the kernel %.3g to %.3g times as fast (estimated)", it->faster.low, it->faster.high);
    else if (it->faster.high > 1.005)
        fprintf(out, "the kernel at most %.3g times as fast (estimated; a profile made with --model tells more)", it->faster.high);
    else
        fputs("not known without a profile made with --model", out);
    fprintf(out, "; %s\n", sure[it->sure]);
}

static enum wg_status advise_kernel(const struct wg_view *v, size_t k, FILE *out)
{
    struct wg_items x = {.view = v, .g = &v->groups[k], .lines = &v->lines[k], .gpu = v->groups[k].gpu, .arena = v->arena};
    struct wg_page page = {.out = out, .p = v->p};
    char shape[128];
    size_t shown = 0;
    x.open = wg_gain_open(x.g, x.gpu, &x.gain);
    if (!wg_flow_open(x.g->sites, x.g->first->nsites, v->arena, &x.flow))
        return WG_NO_MEMORY;
    wg_advice_memory(&x);
    wg_advice_kernel(&x);
    wg_advice_occupancy(&x);
    if (x.n)
        qsort(x.v, x.n, sizeof *x.v, dearest);
    wg_page_text(&page, x.g->first->kernel, 0);
    fprintf(out, "  %s\n", wg_view_shape(shape, x.g->first));
    for (size_t i = 0; i < x.n; i++)
        if (!x.gain.timed || x.v[i].faster.high >= 1.02 || x.v[i].kind == WG_ADVICE_BARRIER)
            print_item(out, &x, ++shown, &x.v[i]);
    for (size_t i = 0; i < x.nunfixed; i++) {
        fputs("  no fix found for ", out);
        wg_page_text(&page, x.unfixed[i], 0);
        fputc('\n', out);
    }
    if (!shown && !x.nunfixed)
        fputs("  nothing to change that was seen\n", out);
    return WG_OK;
}

enum wg_status wg_advise(const struct wg_view *v, FILE *out)
{
    bool timed = false;
    for (size_t k = 0; k < v->n; k++) {
        if (k)
            fputc('\n', out);
        if (advise_kernel(v, k, out) != WG_OK)
            return WG_NO_MEMORY;
        timed |= v->groups[k].first->has_model;
    }
    if (v->n && !timed)
        fputs("\nOccupancy and pipelines are not judged: that takes times, from a profile made with --model.\n", out);
    return ferror(out) ? WG_IO : WG_OK;
}
