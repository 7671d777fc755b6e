/* svg_parts.h - what svg.c and chart.c share. */
#ifndef WG_REPORT_SVG_PARTS_H
#define WG_REPORT_SVG_PARTS_H
#include <stdbool.h>
#include <stdio.h>

/* The start of a picture of width x height; title and text are our own words. The caller writes "</svg>". */
void wg_svg_open(FILE *out, unsigned width, unsigned height, const char *title, const char *text, bool standalone);
extern const char wg_svg_style[]; /* the rules of assets/chart.css, by the build */
#endif
