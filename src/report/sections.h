/* sections.h - Nsight Compute's sections, sets and groups, and what of them a command line asked to see. */
#ifndef WG_REPORT_SECTIONS_H
#define WG_REPORT_SECTIONS_H
#include "base/arena.h"
#include "base/diag.h"
#include "model/metrics.h"

enum wg_section {
#define WG_SECTION(id, name, sets) WG_S_##id,
#define WG_SECTION_ROW(section, metric, rollup, label)
#define WG_GROUP_ROW(group, metric)
#define WG_SOURCE_COLUMN(metric, label)
#include "report/sections.def"
#undef WG_SECTION
#undef WG_SECTION_ROW
#undef WG_GROUP_ROW
#undef WG_SOURCE_COLUMN
    WG_SECTION_COUNT
};
enum wg_set { WG_SET_BASIC = 1, WG_SET_DETAILED = 2, WG_SET_FULL = 4, WG_SET_ROOFLINE = 8 };
extern const char *const wg_set_names[4]; /* by bit */
struct wg_section_info {
    const char *id, *name;
    unsigned sets;
};
extern const struct wg_section_info wg_section_infos[WG_SECTION_COUNT];

/* A metric to show, under which label in which section. */
struct wg_shown {
    struct wg_metric_ref ref;
    const char *label; /* the profiler's; the metric's name where it has none */
    int section;       /* enum wg_section; -1: asked for by name */
};
extern const struct wg_shown wg_section_rows[], wg_source_columns[];
extern const size_t wg_section_row_count, wg_source_column_count;
extern const size_t wg_group_row_count;
struct wg_group_row {
    const char *group;
    enum wg_metric metric;
};
extern const struct wg_group_row wg_group_rows[];

/* What --metrics, --section and --set say; each value may be a list with commas. */
struct wg_select_request {
    size_t nmetrics, nsections, nsets;
    const char *const *metrics, *const *sections, *const *sets;
};
struct wg_selection {
    size_t n;
    struct wg_shown *v;              /* what was asked for by name first, then section by section */
    bool sections[WG_SECTION_COUNT]; /* those asked for */
    bool any;                        /* something was asked for */
};
/* Metrics are names (also without .sum and the like: all that there are), regex:RE (found anywhere in a name) or
 * group:NAME; sections are identifiers or regex:RE. A word that means nothing: WG_NOT_FOUND, with the nearest names.
 * A broken expression: WG_INVALID. */
enum wg_status wg_select(const struct wg_select_request *rq, struct wg_arena *a, struct wg_selection *out,
                         struct wg_diag *d);
/* Adds the sections of a set. */
enum wg_status wg_select_set(struct wg_selection *s, enum wg_set set, struct wg_arena *a);
#endif
