/* issues.h - everything in a profile that a person or a gate may object to, as one flat list: findings, advice, gates.
 */
#ifndef WG_REPORT_ISSUES_H
#define WG_REPORT_ISSUES_H
#include "report/compare.h"

enum wg_issue_kind { WG_ISSUE_FINDING, WG_ISSUE_ADVICE, WG_ISSUE_STOPPED, WG_ISSUE_GATE, WG_ISSUE_BASELINE };
struct wg_issue {
    enum wg_issue_kind kind;
    uint8_t severity;                                /* enum wg_severity */
    const char *rule;                                /* "race-shared", "shared-memory-bank-conflicts", "gate" */
    const char *title;                               /* of the rule, a few words */
    const char *message;                             /* one or more lines */
    const char *remedy;                              /* or "" */
    const char *kernel;                              /* or "" for the host program */
    uint32_t source, line, other_source, other_line; /* as in wg_finding; line 0: none */
};
struct wg_issues {
    size_t n, cap;
    struct wg_issue *v;
    struct wg_arena *arena;
};

/* The findings and the advice of a view. False when memory is out. */
bool wg_issues_collect(struct wg_issues *out, const struct wg_view *view);
bool wg_issues_add(struct wg_issues *out, const struct wg_issue *i);

/* ---- gate.c: conditions on metrics ---------------------------------------------------------------------------- */
/* [WHERE:]METRIC OP VALUE. WHERE: `kernel:GLOB` (name with or without parameter types, or mangled), or FILE:LINE,
 * FILE:FROM-TO, FILE:* with FILE a glob over paths or base names; every line by itself. Without it: every launch.
 * METRIC: a name of metrics.def or headline.def, or errors, warnings, findings. OP: > >= < <= == !=. */
struct wg_gate_rule {
    const char *text, *kernel, *file; /* globs; NULL: any */
    uint32_t from, to;                /* lines; only with file */
    int metric;                       /* enum wg_metric, or -1 - enum wg_severity: at least that severity */
    char op[3];
    double value;
};
/* False with a message in err when text is no rule. Strings live in the arena. */
bool wg_gate_parse(const char *text, struct wg_arena *a, struct wg_gate_rule *out, char *err, size_t n);
/* Checks a rule against every launch of a view that is not folded and adds an issue of kind GATE for every kernel or
 * line that meets it. False with a message in err when that could not be judged: nothing matched WHERE, or the metric
 * has no value there. */
bool wg_gate_check(const struct wg_gate_rule *r, const struct wg_view *launches, struct wg_issues *out, char *err,
                   size_t n);
/* Adds an issue of kind BASELINE for every leading metric that is more than `tolerance` (0.02: 2 %) worse, and for
 * every error that is new. *matched is the number of kernels that were compared. False when memory is out. */
bool wg_gate_baseline(const struct wg_compare *c, double tolerance, struct wg_issues *out, size_t *matched);
#endif
