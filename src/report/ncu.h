/* ncu.h - a profile in the forms of Nsight Compute's command line: the details, raw and source pages, as text or CSV.
 */
#ifndef WG_REPORT_NCU_H
#define WG_REPORT_NCU_H
#include <warpgrind/profile.h>
#include "report/sections.h"
#include <stdio.h>

enum wg_ncu_page { WG_NCU_DETAILS, WG_NCU_RAW, WG_NCU_SOURCE, WG_NCU_PAGES };
enum wg_ncu_label { WG_NCU_LABEL, WG_NCU_NAME, WG_NCU_LABEL_NAME, WG_NCU_LABELS };
enum wg_ncu_base { WG_NCU_DEMANGLED, WG_NCU_FUNCTION, WG_NCU_MANGLED, WG_NCU_BASES };
extern const char *const wg_ncu_pages[WG_NCU_PAGES],
    *const wg_ncu_labels[WG_NCU_LABELS], *const wg_ncu_bases[WG_NCU_BASES]; /* the words of the command line */

/* Zero-initialise, then set what differs. */
struct wg_ncu_style {
    enum wg_ncu_page page;
    enum wg_ncu_label label; /* of metrics on the details page; on the source page, columns have names unless given */
    bool has_label;
    enum wg_ncu_base kernel; /* how kernels are named */
    bool csv, base_units;
    const struct wg_selection *selection; /* NULL or empty: the page's own choice */
};
/* WG_NO_MEMORY, or WG_IO when out is in error. */
enum wg_status wg_report_ncu(const struct wg_profile *p, const struct wg_ncu_style *style, FILE *out);

/* What --query-metrics, --list-sections, --list-sets and --list-rules print. selection: only those metrics, or NULL. */
void wg_list_metrics(FILE *out, const struct wg_selection *selection, bool csv);
void wg_list_sections(FILE *out);
void wg_list_sets(FILE *out);
void wg_list_rules(FILE *out);
#endif
