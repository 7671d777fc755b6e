/* view.h - a profile ready to be shown: its launches folded, their lines, and the figures that lead every page. */
#ifndef WG_REPORT_VIEW_H
#define WG_REPORT_VIEW_H
#include "model/metrics.h"
#include "report/fold.h"
#include "report/judge.h"

enum wg_headline {
#define WG_HEADLINE(metric, name, label, how, column) WG_H_##metric,
#include "report/headline.def"
#undef WG_HEADLINE
    WG_HEADLINE_COUNT
};
enum wg_headline_how { WG_HEADLINE_SUM, WG_HEADLINE_RATIO, WG_HEADLINE_LAUNCH };
struct wg_headline_info {
    enum wg_metric metric;
    const char *name, *label, *column;
    enum wg_headline_how how;
};
extern const struct wg_headline_info wg_headlines[WG_HEADLINE_COUNT];

struct wg_lines {
    struct wg_line *v;
    size_t n;
};
struct wg_view {
    const struct wg_profile *p;
    struct wg_arena *arena;
    size_t n; /* groups of launches alike */
    struct wg_group *groups;
    struct wg_lines *lines; /* of each group */
    size_t nhost;
    struct wg_finding *host; /* of the program, equal ones joined */
};
/* fold false: one group per launch. WG_NO_MEMORY is the only error. Everything lives in the arena. */
enum wg_status wg_view_open(const struct wg_profile *p, bool fold, struct wg_arena *a, struct wg_view *out);

struct wg_figure {
    bool has;
    double value;
    enum wg_fidelity fidelity;
};
/* Of one launch: sums are the mean of the group's launches. */
struct wg_figure wg_view_figure(const struct wg_group *g, enum wg_headline h);
/* Of one line of it; sums likewise. Nothing where `how` is LAUNCH. */
struct wg_figure wg_view_line_figure(const struct wg_group *g, const struct wg_line *l, enum wg_headline h);
/* What a metric that is exact for the PTX is worth when the model of ptxas joined accesses: modelled. */
enum wg_fidelity wg_view_fidelity(enum wg_metric m, const struct wg_launch_result *l);

/* How far to trust the counts of one kind of access: what the metrics of that kind say. */
enum wg_fidelity wg_view_traffic_fidelity(enum wg_where where, enum wg_how how, const struct wg_launch_result *l);

/* "4,063,232", "31.5", "0.031": whole numbers in full, others with three digits or one decimal. */
#define WG_VALUE_BYTES 48
const char *wg_view_value(char buf[WG_VALUE_BYTES], double v);
/* The same with the unit where it is worth saying: "75 %", "12.5 us", "8,192 byte". */
const char *wg_view_value_unit(char buf[WG_VALUE_BYTES], double v, const char *unit);

/* "kernel<<<(64,64), 256>>>" without the name: "(64,64) x (32,8)". */
const char *wg_view_shape(char buf[128], const struct wg_launch_result *l);
#endif
