/* svg.h - charts as SVG: the lanes of one access, occupancy curves, the roofline. Inline in a page, or files of their
 * own. */
#ifndef WG_REPORT_SVG_H
#define WG_REPORT_SVG_H
#include "model/gpus.h"
#include "report/view.h"
#include <stdio.h>

/* Standalone: with a namespace and its own colours, for a file; else for a page whose style sheet has them. */
/* 32 lanes and the sectors they touch, or the banks they meet. */
void wg_svg_lanes(FILE *out, const struct wg_worst *w, bool standalone);
/* The same in words: "32 lanes of 4 bytes touch 32 sectors in 32 lines (ideal 4): 128 of 1,024 bytes moved are asked
 * for". */
void wg_svg_lanes_text(char *buf, size_t n, const struct wg_worst *w);

/* Resident warps over one quantity, the others as they are in the launch; the launch marked. False: nothing is known.
 */
enum wg_svg_axis { WG_SVG_BLOCK, WG_SVG_REGISTERS, WG_SVG_SHARED, WG_SVG_AXIS_COUNT };
extern const char *const wg_svg_axis_names[WG_SVG_AXIS_COUNT]; /* "block-size", ... */
bool wg_svg_occupancy(FILE *out, const struct wg_group *v, enum wg_svg_axis axis, bool standalone);

/* Every kernel of the view under the roofs of its device. False: none has both arithmetic and traffic. */
bool wg_svg_roofline(FILE *out, const struct wg_view *v, bool standalone);

/* What a kernel is on the roofline. bytes: asked of L2, an upper bound of what memory moves. False: no such point. */
struct wg_roof {
    double flops, bytes, intensity, peak, bandwidth, ridge, bound;
    double reached; /* flop/s in the predicted time; 0: that is not known */
    bool is_double;
};
bool wg_svg_roof(const struct wg_group *g, struct wg_roof *out);
/* The occupancy that the launch has, by the rule the metrics use. False: device or registers are not known. */
struct wg_occupancy;
struct wg_occupancy_query;
bool wg_svg_query(const struct wg_group *v, const struct wg_gpu **gpu, struct wg_occupancy_query *q);
#endif
