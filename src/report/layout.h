/* layout.h - other layouts of a shared array, tried on every access that block 0 made to it. */
#ifndef WG_REPORT_LAYOUT_H
#define WG_REPORT_LAYOUT_H
#include <warpgrind/profile.h>
#include "base/arena.h"

/* Rows of `row` bytes grow by `pad`; or the index of a column, counted in `unit` bytes, is exclusive-or'ed with the index of
 * its row, of which the bits of mask count. */
struct wg_layout { uint64_t row; uint32_t pad, mask, unit; };

/* Why a layout was not tried, or WG_LAYOUT_TRIED. */
enum wg_layout_state {
    WG_LAYOUT_TRIED,
    WG_LAYOUT_NOTHING,    /* no access to it was recorded */
    WG_LAYOUT_UNSEEN,     /* some accesses to shared memory are of instructions whose lanes are not recorded: `site` */
    WG_LAYOUT_TOO_MANY,   /* of `site` not all patterns were kept */
    WG_LAYOUT_ALIGNMENT,  /* lanes of `site` would access addresses that their size does not divide */
};
struct wg_layout_result {
    enum wg_layout_state state;
    const struct wg_site *site;
    uint64_t before, after, ideal; /* wavefronts of all accesses of the launch to the array */
    bool exact;                    /* one block: all was recorded. Else block 0 stands for the others */
    bool alike;                    /* the other blocks made as many accesses, of as many wavefronts in all */
};
/* sites: of the launch, or summed over launches alike. */
void wg_layout_try(const struct wg_launch_result *l, const struct wg_site *sites, const struct wg_shared_array *array,
                   const struct wg_layout *layout, struct wg_layout_result *out);
/* The array that holds a byte of shared memory; NULL: none is known there. */
const struct wg_shared_array *wg_layout_array(const struct wg_launch_result *l, uint64_t offset);
/* The array that a site accesses; NULL: not known, or several. */
const struct wg_shared_array *wg_layout_array_of(const struct wg_launch_result *l, const struct wg_site *s);
/* Bytes of an array: of a dynamic one what the launch gave. */
uint64_t wg_layout_bytes(const struct wg_launch_result *l, const struct wg_shared_array *a);

/* Paddings and swizzles that fit the lanes' distances, all tried; the cheapest that is best. pad.after == before: none
 * helps. Row lengths come from the recorded distances. rows: lengths that are known instead, or NULL. */
struct wg_layout_best {
    unsigned tried;
    struct wg_layout pad, swizzle;
    struct wg_layout_result padded, swizzled;
};
void wg_layout_best(const struct wg_launch_result *l, const struct wg_site *sites, const struct wg_shared_array *array,
                    const uint64_t *rows, size_t nrows, struct wg_layout_best *out);
/* The row length that the array's declaration in the program's text gives, in bytes; 0: it is not there, or not in plain
 * numbers that fit the array's size. dims may be NULL: as declared, "[32][33]". */
uint64_t wg_layout_declared(const struct wg_profile *p, const struct wg_launch_result *l, const struct wg_shared_array *a,
                            unsigned element, char dims[64]);
#endif
