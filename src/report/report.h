/* report.h - shows a profile as text. A report is a function of the profile and the style alone. */
#ifndef WG_REPORT_REPORT_H
#define WG_REPORT_REPORT_H
#include <warpgrind/profile.h>
#include <stdio.h>

/* Zero-initialise, then set what differs. */
struct wg_text_style {
    unsigned width; /* columns; 0: 100. At least 80 are used. */
    bool color;     /* ANSI colours */
    bool verbose;   /* every launch, every line, the PTX of each line, nothing cut */
};
/* WG_NO_MEMORY, or WG_IO when out is in error. */
enum wg_status wg_report_text(const struct wg_profile *p, const struct wg_text_style *style, FILE *out);
#endif
