/* advise.c - the page of advice: every wasteful line of each kernel with the fix that was tried on it. */
#include "model/occupancy.h"
#include "report/escape.h"
#include "report/page.h"
#include "report/view.h"
#include <inttypes.h>
#include <stdlib.h>

/* To rank lines only, never printed: a wavefront takes a cycle of the SM's shared memory, a sector about half a cycle of
 * what the L2 can send to one SM. */
static const double cycles_a_wavefront = 1, cycles_a_sector = 0.5;

struct item { const struct wg_line *line; const struct wg_site *site; bool shared; uint64_t extra, all; double cycles; };

static int dearest(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    return x->cycles != y->cycles ? (x->cycles < y->cycles ? 1 : -1) : x->line < y->line ? -1 : x->line > y->line;
}

/* What the sites of one kind in a line would cost if each access were helped as its worst one is. */
static uint64_t after(const struct wg_line *l, bool shared, uint64_t all)
{
    for (size_t i = 0; i < l->nsites; i++) {
        const struct wg_worst *w = l->sites[i]->worst;
        struct wg_trial t;
        if (!w || w->shared != shared || w->cost <= w->ideal)
            continue;
        wg_advice_try(w, &t);
        uint64_t extra = wg_advice_extra(l->sites[i]);
        uint64_t saved = (uint64_t)((double)extra * (t.before - t.after) / (w->cost - w->ideal));
        all -= saved < extra ? saved : extra;
    }
    return all;
}

static void print_item(FILE *out, const struct wg_view *v, size_t number, const struct item *it, const char *exact)
{
    char x[WG_NUMBER_BYTES], y[WG_NUMBER_BYTES];
    const char *unit = it->shared ? "wavefronts" : "sectors";
    struct wg_page page = {.out = out, .p = v->p};
    struct wg_trial t;
    fprintf(out, "  %zu. ", number);
    if (it->line->source < v->p->nsources)
        fprintf(out, "%s:%" PRIu32 "  ", wg_page_base(v->p->sources[it->line->source].path), it->line->line);
    wg_page_text(&page, it->site->text, 0);
    fprintf(out, "\n     %s of the line's %s %s are above the ideal (%s)\n", wg_format_count(x, it->extra),
            wg_format_count(y, it->all), unit, exact);
    wg_advice_try(it->site->worst, &t);
    fprintf(out, "     %s\n", t.text);
    if (t.fix != WG_FIX_NONE)
        fprintf(out, "     tried on its worst access: %" PRIu32 " %s become %" PRIu32 "; the line's %s would be %s (modelled)\n",
                t.before, unit, t.after, wg_format_count(x, it->all), wg_format_count(y, after(it->line, it->shared, it->all)));
}

/* Fewer registers, where they are what keeps blocks off the SM. */
static bool registers(FILE *out, const struct wg_group *g)
{
    const struct wg_launch_result *l = g->first;
    const struct wg_gpu *d = g->gpu;
    struct wg_occupancy_query q = {.threads = l->block[0] * l->block[1] * l->block[2], .regs = l->registers, .carveout = -1,
                                   .static_shared = l->static_shared, .dynamic_shared = l->dynamic_shared};
    struct wg_occupancy now, then;
    uint64_t regs;
    if (!d || !l->registers || !q.threads)
        return false;
    wg_occupancy(d->cc, &q, &now);
    if (!now.blocks || !(now.limiting >> WG_LIMIT_REGISTERS & 1) ||
        wg_occupancy_most_regs(d->cc, q, now.warps + now.warps_per_block, &regs) != WG_OK || regs < 16 || regs >= q.regs)
        return false;
    q.regs = (unsigned)regs;
    wg_occupancy(d->cc, &q, &then);
    fprintf(out, "  registers: %u a thread keep %.4g %% of the warps resident; %u would keep %.4g %%: "
                 "__launch_bounds__(%u, %u)%s\n     worth trying where latency holds the kernel back; fewer registers may spill\n",
            l->registers, 100 * now.occupancy, q.regs, 100 * then.occupancy, q.threads, then.blocks,
            l->registers_exact ? " (exact)" : " (estimated: the registers are)");
    return true;
}

static enum wg_status advise_kernel(const struct wg_view *v, size_t k, FILE *out)
{
    const struct wg_group *g = &v->groups[k];
    const struct wg_lines *lines = &v->lines[k];
    struct item *items = wg_arena_alloc(v->arena, (2 * lines->n + 1) * sizeof *items);
    struct wg_page page = {.out = out, .p = v->p};
    char shape[128];
    size_t n = 0, shown = 0;
    if (!items)
        return WG_NO_MEMORY;
    wg_page_text(&page, g->first->kernel, 0);
    fprintf(out, "  %s\n", wg_view_shape(shape, g->first));
    for (size_t i = 0; i < lines->n; i++)
        for (int shared = 0; shared < 2; shared++) {
            const struct wg_line *l = &lines->v[i];
            struct item it = {l, wg_advice_site(l->sites, l->nsites, shared), shared, shared ? l->wavefronts_extra : l->sectors_extra,
                              shared ? l->wavefronts : l->sectors, 0};
            it.cycles = (double)it.extra * (shared ? cycles_a_wavefront : cycles_a_sector);
            if (it.site && it.extra && wg_judge_line(g, l))
                items[n++] = it;
        }
    qsort(items, n, sizeof *items, dearest);
    for (; shown < n; shown++)
        print_item(out, v, shown + 1, &items[shown], g->merged_sites ? "modelled" : "exact");
    if (!(registers(out, g) | (n > 0)))
        fputs("  nothing to change that was seen\n", out);
    return WG_OK;
}

enum wg_status wg_advise(const struct wg_view *v, FILE *out)
{
    for (size_t k = 0; k < v->n; k++) {
        if (k)
            fputc('\n', out);
        if (advise_kernel(v, k, out) != WG_OK)
            return WG_NO_MEMORY;
    }
    return ferror(out) ? WG_IO : WG_OK;
}
