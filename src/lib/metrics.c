/* metrics.c - metrics.def and headline.def for users of the library. */
#include <warpgrind/metrics.h>
#include "model/metrics.h"
#include <string.h>

static const struct {
    const char *name, *text;
    enum wg_metric metric;
} brief[] = {
#define WG_HEADLINE(metric, name, label, how, column) {name, label, WG_M_##metric},
#include "report/headline.def"
#undef WG_HEADLINE
};
enum { NBRIEF = sizeof brief / sizeof *brief };

size_t wg_metrics_count(void)
{
    return NBRIEF + WG_METRIC_COUNT;
}

const char *wg_metrics_name(size_t i)
{
    return i < NBRIEF ? brief[i].name : i < wg_metrics_count() ? wg_metric_infos[i - NBRIEF].name : NULL;
}

const char *wg_metrics_meaning(size_t i)
{
    return i < NBRIEF ? brief[i].text : i < wg_metrics_count() ? wg_metric_infos[i - NBRIEF].text : NULL;
}

enum wg_status wg_metrics_launch(const struct wg_profile *p, size_t launch, const char *name, double *value,
                                 const char **unit, const char **fidelity)
{
    int m = wg_metric_find(name);
    for (size_t i = 0; i < NBRIEF; i++)
        if (!strcmp(brief[i].name, name))
            m = (int)brief[i].metric;
    *value = 0;
    if (m < 0 || launch >= p->nlaunches)
        return WG_NOT_FOUND;
    const struct wg_launch_result *l = &p->launches[launch];
    enum wg_fidelity f = wg_metric_fidelity((enum wg_metric)m, l);
    if (unit)
        *unit = wg_metric_infos[m].unit;
    if (fidelity)
        *fidelity = wg_fidelity_name(f);
    if (!l->total[WG_C_INST] && !wg_metric_infos[m].of_launch)
        return WG_UNSUPPORTED;
    struct wg_arena a = {0};
    const struct wg_gpu *gpu = wg_gpu_of(l->device, p->device_file, &a);
    bool has = wg_metric_launch((enum wg_metric)m, l, gpu, value);
    wg_arena_free(&a);
    return has ? WG_OK : WG_UNSUPPORTED;
}
