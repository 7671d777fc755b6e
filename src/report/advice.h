/* advice.h - what would remove the waste of an access, tried on the addresses that a warp really used. */
#ifndef WG_REPORT_ADVICE_H
#define WG_REPORT_ADVICE_H
#include "report/fold.h"
#include <stdio.h>

enum wg_fix {
    WG_FIX_PAD,     /* longer rows of a shared array */
    WG_FIX_ALIGN,   /* rows that start at a sector */
    WG_FIX_ARRAYS,  /* one array per member instead of an array of structures */
    WG_FIX_SWAP,    /* another index for threadIdx.x, or a tile turned in shared memory */
    WG_FIX_WIDEN,   /* blocks wide enough that a warp is one row */
    WG_FIX_NONE,    /* no pattern to work on */
};
struct wg_trial {
    enum wg_fix fix;
    uint32_t before, after; /* sectors, or wavefronts, of the one access; equal for WG_FIX_NONE */
    char text[256];         /* what the addresses show and what to do, one sentence without its full stop */
};
/* Tries the fixes that fit the pattern of w on its addresses and keeps the cheapest that is best. What holds for this
 * access is modelled for the others of its instruction. */
void wg_advice_try(const struct wg_worst *w, struct wg_trial *out);

/* Sectors or wavefronts above the ideal, summed over the executions of a site. */
uint64_t wg_advice_extra(const struct wg_site *s);
/* The site among these whose recorded access belongs to most waste; NULL when none was recorded. */
const struct wg_site *wg_advice_site(const struct wg_site *const *sites, size_t n, bool shared);

/* Prints, kernel by kernel, each line that wastes traffic, the dearest first, with what was tried on it; then what fewer
 * registers would do for occupancy. WG_NO_MEMORY or WG_IO. */
struct wg_view;
enum wg_status wg_advise(const struct wg_view *v, FILE *out);
#endif
