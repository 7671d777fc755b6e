/* html.h - a profile as one page for a browser: complete, readable without scripts, nothing loaded from anywhere. */
#ifndef WG_REPORT_HTML_H
#define WG_REPORT_HTML_H
#include "report/compare.h"

/* The page of a view that is folded. compare: what changed since another profile, shown at the head; or NULL.
 * WG_NO_MEMORY, or WG_IO when out is in error. */
enum wg_status wg_html_page(const struct wg_view *v, const struct wg_compare *compare, FILE *out);
/* Only what changed. */
enum wg_status wg_html_diff(const struct wg_compare *c, FILE *out);

/* ---- parts, each in the file of its name ---------------------------------------------------------------------- */
struct wg_html {
    const struct wg_view *v;
    FILE *out;
};
enum wg_html_detail {
    WG_HTML_FIGURES, /* what is wrong, and tables */
    WG_HTML_CHARTS,  /* also pictures, and the lines that waste */
    WG_HTML_ALL,     /* also all source and PTX */
};
void wg_html_kernel(struct wg_html *h, size_t k, enum wg_html_detail detail);
void wg_html_source(struct wg_html *h, size_t k, enum wg_html_detail detail);
void wg_html_compare(struct wg_html *h, const struct wg_compare *c);
/* The end of a table cell's figure: nothing for exact, else a mark that the page's legend explains. */
const char *wg_html_mark(enum wg_fidelity f);
void wg_html_text(struct wg_html *h, const char *s); /* escaped */
/* "file.cu:12" as a link to the line on the page when it is shown there. */
void wg_html_place(struct wg_html *h, size_t k, uint32_t source, uint32_t line);
const char *wg_html_base(const char *path);

extern const char wg_html_style[], wg_html_script[], wg_html_script_hash[];
#endif
