/* runs.h - several runs of one program under different schedules become one profile. */
#ifndef WG_CLI_RUNS_H
#define WG_CLI_RUNS_H
#include <warpgrind/profile.h>

/* What merged findings are kept in: zero to begin with, freed after the last use of the profile that was merged into. */
struct wg_runs { void **memory; size_t n; };

/* Adds to `into` the findings of `other` that it lacks, and for each launch of both one finding where the first
 * instruction stored something else; how: the schedules, for the text. `other` must outlive `into`. False: no memory. */
bool wg_runs_merge(struct wg_runs *r, struct wg_profile *into, const struct wg_profile *other, const char *how_into,
                   const char *how_other);
void wg_runs_free(struct wg_runs *r);
#endif
