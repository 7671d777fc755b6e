/* rules.h - Nsight Compute's guided rules that rest on counts: when they speak, what they say (in our words), and the
 * gain they estimate. A rule whose figures have no value for a launch is silent. */
#ifndef WG_REPORT_RULES_H
#define WG_REPORT_RULES_H
#include "report/fold.h"
#include "report/sections.h"

/* The profiler's thresholds. */
#define WG_RULE_OCCUPANCY 80.0 /* % of theoretical occupancy below which it is called a limit */
#define WG_RULE_ACHIEVED  10.0 /* points that the achieved occupancy stays below the theoretical one */
#define WG_RULE_CONFLICTS 10.0 /* % of wavefronts that are conflicts */
#define WG_RULE_LANES     24.0 /* active lanes of 32 */
#define WG_RULE_TAIL      20.0 /* % of estimated gain from which a partial last wave is worth a word */
#define WG_RULE_SECTOR    32.0 /* bytes of a sector that are used */

enum wg_rule {
#define WG_RULE(id, name, section, title) WG_R_##id,
#define WG_RULE_ABSENT(name, section, title, why)
#include "report/rules.def"
#undef WG_RULE
#undef WG_RULE_ABSENT
    WG_RULE_COUNT
};
struct wg_rule_info {
    const char *id, *title, *why;
    enum wg_section section;
};                                                /* why: NULL, or it never speaks */
extern const struct wg_rule_info wg_rule_infos[]; /* the first WG_RULE_COUNT speak */
extern const size_t wg_rule_info_count;

/* What a rule says of one launch. */
struct wg_advice_row {
    enum wg_rule rule;
    const char *type;     /* "OPT", "INF" */
    const char *title;    /* a few words: "block size", "tail effect" */
    const char *text;     /* whole sentences */
    const char *fidelity; /* of the figures it rests on: "exact", ... */
    double gain;          /* percent; below 0: it estimates none */
    bool local;           /* the gain is of what the section measures, not of the run time */
};
/* In the order of rules.def. of: all sites of the launch. lines may be NULL; they name the worst places. On
 * WG_NO_MEMORY nothing is there. */
enum wg_status wg_rules(const struct wg_profile *p, const struct wg_metric_of *of, const struct wg_line *lines,
                        size_t nlines, struct wg_arena *a, struct wg_advice_row **out, size_t *n);
#endif
