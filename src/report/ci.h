/* ci.h - what was found and what failed, in the forms that other programs read. */
#ifndef WG_REPORT_CI_H
#define WG_REPORT_CI_H
#include "report/issues.h"

struct wg_ci {
    const struct wg_view *view;      /* folded */
    const struct wg_issues *issues;
    size_t nrules;                   /* of --fail-if, met or not */
    const struct wg_gate_rule *rules;
    bool baseline;                   /* a baseline was compared with */
    const char *root;                /* paths below it are written relative to it; NULL: all as they are */
};
/* Each returns WG_NO_MEMORY, or WG_IO when out is in error. */
enum wg_status wg_ci_sarif(const struct wg_ci *c, FILE *out);    /* SARIF 2.1.0 */
enum wg_status wg_ci_gitlab(const struct wg_ci *c, FILE *out);   /* GitLab code quality, JSON */
enum wg_status wg_ci_junit(const struct wg_ci *c, FILE *out);    /* JUnit XML: a case per kernel and per condition */
enum wg_status wg_ci_github(const struct wg_ci *c, FILE *out);   /* GitHub workflow commands that annotate lines */
enum wg_status wg_ci_markdown(const struct wg_ci *c, FILE *out); /* a summary for a job's page */
#endif
