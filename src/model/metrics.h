/* metrics.h - values of Nsight Compute's metrics for a launch, or for one source line of it, from a profile. */
#ifndef WG_MODEL_METRICS_H
#define WG_MODEL_METRICS_H
#include <warpgrind/profile.h>
#include "model/gpus.h"

enum wg_metric {
#define WG_METRIC(id, name, unit, fidelity, better, expression, text) WG_M_##id,
#define WG_METRIC_ABSENT(id, name, unit, why) WG_M_##id,
#include "model/metrics.def"
#undef WG_METRIC
#undef WG_METRIC_ABSENT
    WG_METRIC_COUNT
};
enum wg_fidelity { WG_FIDELITY_EXACT, WG_FIDELITY_MODELLED, WG_FIDELITY_ESTIMATED, WG_FIDELITY_REGISTERS,
                   WG_FIDELITY_PTX, WG_FIDELITY_ABSENT };
enum wg_better { WG_BETTER_NEITHER, WG_BETTER_LOWER, WG_BETTER_HIGHER };

struct wg_metric_info {
    const char *name, *unit; /* as Nsight Compute prints them with --print-units base */
    const char *text;        /* what it means; for ABSENT, why there is no value */
    enum wg_fidelity fidelity;
    enum wg_better better;
    bool of_launch;          /* from the launch, not from counters: no value for a source line */
};
extern const struct wg_metric_info wg_metric_infos[WG_METRIC_COUNT];

/* What is asked: the sites of a whole launch, or those of one line. gpu NULL: looked up by launch->device; a launch on
 * a device that is not known has no value for metrics that need one. */
struct wg_metric_of {
    const struct wg_launch_result *launch;
    const struct wg_site *const *sites;
    size_t nsites;
    bool line; /* the sites are those of one source line */
    const struct wg_gpu *gpu;
};
/* False: there is no value (n/a): unknown registers or device, nothing to divide by, a counter that was not counted,
 * ABSENT, or a launch metric for a line. */
bool wg_metric_value(enum wg_metric m, const struct wg_metric_of *of, double *value);
/* The same for a whole launch. */
bool wg_metric_launch(enum wg_metric m, const struct wg_launch_result *launch, const struct wg_gpu *gpu, double *value);
/* EXACT, MODELLED, ESTIMATED or ABSENT for this launch: REGISTERS is decided by launch->registers_exact. */
enum wg_fidelity wg_metric_fidelity(enum wg_metric m, const struct wg_launch_result *launch);
/* Lanes that took part, summed over the site's instructions: those whose guard is true; at a branch all active ones, for
 * there the guard only says where they go. */
uint64_t wg_metric_lanes(const struct wg_site *s);
const char *wg_fidelity_name(enum wg_fidelity f); /* "exact", ... */

/* Index of the metric of that name; -1 if there is none. */
int wg_metric_find(const char *name);

/* A row of the table, or what else the profiler offers of a row "base.sum": .avg over the units of the device (idle ones
 * included), .max and .min of one unit, and rates of any of the four. Of these only .avg has a value. */
enum wg_rollup { WG_ROLLUP_ROW, WG_ROLLUP_AVG, WG_ROLLUP_MAX, WG_ROLLUP_MIN, WG_ROLLUP_RATE };
struct wg_metric_ref {
    enum wg_metric metric;
    enum wg_rollup rollup;
    unsigned char rate; /* which, of WG_ROLLUP_RATE; 0 otherwise */
};
enum { WG_METRIC_NAME_BYTES = 128 };
bool wg_metric_parse(const char *name, struct wg_metric_ref *out);
const char *wg_metric_ref_name(struct wg_metric_ref r, char buf[WG_METRIC_NAME_BYTES]); /* returns buf or a constant */
bool wg_metric_ref_value(struct wg_metric_ref r, const struct wg_metric_of *of, double *value);
/* Why it never has a value; NULL where it can have one. */
const char *wg_metric_ref_why(struct wg_metric_ref r);
const char *wg_metric_ref_unit(struct wg_metric_ref r);

/* The names nearest to a wrong one, joined as "a, b or c"; "" if none is near. */
void wg_metric_nearest(const char *name, char *buf, size_t n);

/* Text columns of the source page. */
enum wg_metric_column { WG_COLUMN_MEMORY_TYPE, WG_COLUMN_ACCESS_TYPE, WG_COLUMN_ACCESS_SIZE };
extern const char *const wg_metric_columns[3]; /* "memory_type", "memory_access_type", "memory_access_size_type" */
/* "Global(2),Shared", "Load,Store", "32(3)": how many of the line's instructions are of each kind; "-" for none. */
void wg_metric_column(enum wg_metric_column c, const struct wg_site *const *sites, size_t n, char *buf, size_t size);
#endif
