/* lanes.c - picks the copy of the handlers that suits this host. */
#include "exec/lanes.h"
#include <stdlib.h>

/* WG_LEVEL_*: the levels that were built; meson.build. */
#if defined(__x86_64__)
extern const struct wg_lanes_table wg_lanes_table_v2, wg_lanes_table_v3, wg_lanes_table_v4;

static bool runs(const struct wg_lanes_table *t)
{
    __builtin_cpu_init();
    switch (t->level[1]) {
    case '4':
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
    case '3':
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
               __builtin_cpu_supports("bmi2");
    default:
        return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    }
}

static const struct wg_lanes_table *const levels[] = {
#ifdef WG_LEVEL_v4
    &wg_lanes_table_v4,
#endif
#ifdef WG_LEVEL_v3
    &wg_lanes_table_v3,
#endif
#ifdef WG_LEVEL_v2
    &wg_lanes_table_v2,
#endif
};
#else
extern const struct wg_lanes_table wg_lanes_table_plain;
static bool runs(const struct wg_lanes_table *t)
{
    (void)t;
    return true;
}

static const struct wg_lanes_table *const levels[] = {&wg_lanes_table_plain};
#endif
enum { NLEVELS = sizeof levels / sizeof *levels };

const struct wg_lanes_table *wg_lanes_named(const char *level)
{
    for (int i = 0; i < NLEVELS; i++)
        if (strcmp(levels[i]->level, level) == 0)
            return runs(levels[i]) ? levels[i] : NULL;
    return NULL;
}

const struct wg_lanes_table *wg_lanes_best(void)
{
    const char *name = getenv("WARPGRIND_ISA");
    const struct wg_lanes_table *t = name ? wg_lanes_named(name) : NULL;
    for (int i = 0; !t && i < NLEVELS; i++)
        if (runs(levels[i]))
            t = levels[i];
    return t ? t : levels[NLEVELS - 1];
}
