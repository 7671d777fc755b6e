/* ncu_page.h - what the pages in Nsight Compute's form share. */
#ifndef WG_REPORT_NCU_PAGE_H
#define WG_REPORT_NCU_PAGE_H
#include "report/device.h"
#include "report/fold.h"
#include "report/ncu.h"
#include "report/units.h"

struct wg_ncu {
    FILE *out;
    const struct wg_profile *p;
    const struct wg_ncu_style *style;
    const struct wg_selection *selection; /* never empty */
    struct wg_arena *arena;
    struct wg_devices devices;
};
/* One launch: its device and all its sites. The group and lines are those of fold.h, made when asked for. */
struct wg_ncu_launch {
    const struct wg_launch_result *l;
    const struct wg_gpu *gpu;
    struct wg_metric_of of;
    struct wg_group *group;
    struct wg_line *lines;
    size_t nlines;
};
/* Everything lives in `a`, which the caller frees after the launch. */
enum wg_status wg_ncu_open(struct wg_ncu *g, size_t launch, bool lines, struct wg_arena *a, struct wg_ncu_launch *out);
const char *wg_ncu_kernel(const struct wg_ncu *g, const struct wg_launch_result *l, struct wg_arena *a);
/* "k(int) (64, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 9.0" and a newline. */
void wg_ncu_title(struct wg_ncu *g, const struct wg_ncu_launch *x, struct wg_arena *a);
void wg_ncu_program(struct wg_ncu *g); /* "[0] app@127.0.0.1" */
/* "", "estimated", ...: how far a value of this launch can be trusted. */
const char *wg_ncu_fidelity(struct wg_metric_ref r, const struct wg_launch_result *l);
const char *wg_ncu_name(const struct wg_shown *s, enum wg_ncu_label label, struct wg_arena *a); /* never NULL */

/* CSV: every cell in quotes, quotes within doubled, control characters escaped. */
void wg_csv_cell(FILE *out, bool first, const char *s, size_t n);
void wg_csv_text(FILE *out, bool first, const char *s);
/* "ID" to "CC", without a newline: their names, nothing (the line of units), or those of a launch. */
void wg_csv_launch_names(FILE *out);
void wg_csv_launch_empty(FILE *out);
void wg_csv_launch(struct wg_ncu *g, const struct wg_ncu_launch *x, struct wg_arena *a);

enum wg_status wg_ncu_details(struct wg_ncu *g);
enum wg_status wg_ncu_raw(struct wg_ncu *g);
enum wg_status wg_ncu_source(struct wg_ncu *g);
#endif
