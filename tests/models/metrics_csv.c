/* metrics_csv.c - every metric of a saved profile as CSV, for the scripts of tools/ that compare with hardware.
 *
 * usage: metrics_csv PROFILE [lines]. The second row is how far each can be trusted. One row a launch, or a launch and source line; n/a where there is no value. A line
 * has what stands on it and what was inlined into it from other files, as Nsight Compute's source page has. */
#include "model/metrics.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void head(bool lines)
{
    printf("launch,kernel");
    if (lines)
        printf(",line");
    for (int m = 0; m < WG_METRIC_COUNT; m++)
        printf(",%s", wg_metric_infos[m].name);
    putchar('\n');
    printf("-,-%s", lines ? ",-" : "");
    for (int m = 0; m < WG_METRIC_COUNT; m++)
        printf(",%s", wg_fidelity_name(wg_metric_infos[m].fidelity));
    putchar('\n');
}

static void row(const struct wg_metric_of *of, const char *place)
{
    printf("%u,%s", of->launch->index, of->launch->mangled);
    if (place)
        printf(",%s", place);
    for (int m = 0; m < WG_METRIC_COUNT; m++) {
        double v;
        if (wg_metric_value((enum wg_metric)m, of, &v))
            printf(",%.15g", v);
        else
            printf(",n/a");
    }
    putchar('\n');
}

static bool on(const struct wg_site *s, uint32_t source, uint32_t line)
{
    return (s->source == source && s->line == line) ||
           (s->inlined_line && s->inlined_source == source && s->inlined_line == line && s->source != source);
}

static void lines_of(const struct wg_profile *p, const struct wg_launch_result *l, const struct wg_site **some)
{
    for (uint32_t f = 0; f < p->nsources; f++) {
        uint32_t last = 0, next;
        for (;;) {
            struct wg_metric_of of = {.launch = l, .sites = some, .line = true};
            char place[4096];
            next = UINT32_MAX;
            for (size_t i = 0; i < l->nsites; i++) {
                const struct wg_site *s = &l->sites[i];
                if (s->source == f && s->line > last && s->line < next)
                    next = s->line;
                if (s->inlined_line > last && s->inlined_source == f && s->inlined_line < next)
                    next = s->inlined_line;
            }
            if (next == UINT32_MAX)
                break;
            for (size_t i = 0; i < l->nsites; i++)
                if (on(&l->sites[i], f, next))
                    some[of.nsites++] = &l->sites[i];
            const char *base = strrchr(p->sources[f].path, '/');
            snprintf(place, sizeof place, "%s:%u", base ? base + 1 : p->sources[f].path, next);
            row(&of, place);
            last = next;
        }
    }
}

int main(int argc, char **argv)
{
    struct wg_profile *p;
    char err[1024];
    bool lines = argc == 3 && strcmp(argv[2], "lines") == 0;
    if (argc != 2 && !lines) {
        fprintf(stderr, "usage: metrics_csv PROFILE [lines]\n");
        return 2;
    }
    if (wg_profile_read(argv[1], &p, err, sizeof err) != WG_OK) {
        fprintf(stderr, "metrics_csv: %s\n", err);
        return 1;
    }
    head(lines);
    for (size_t i = 0; i < p->nlaunches; i++) {
        const struct wg_launch_result *l = &p->launches[i];
        const struct wg_site **some = calloc(l->nsites + 1, sizeof *some);
        if (!some)
            return 1;
        for (size_t k = 0; k < l->nsites; k++)
            some[k] = &l->sites[k];
        if (lines)
            lines_of(p, l, some);
        else
            row(&(struct wg_metric_of){.launch = l, .sites = some, .nsites = l->nsites}, NULL);
        free(some);
    }
    wg_profile_free(p);
    return 0;
}
