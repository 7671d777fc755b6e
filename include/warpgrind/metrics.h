/* metrics.h - figures of a launch by name: Nsight Compute's names, or the short ones of the leading figures. */
#ifndef WARPGRIND_METRICS_H
#define WARPGRIND_METRICS_H
#include <warpgrind/profile.h>
#ifdef __cplusplus
extern "C" {
#endif

/* The names that wg_metrics_launch knows, "smsp__inst_executed.sum" and "bank_conflicts" among them; i < wg_metrics_count(). */
size_t wg_metrics_count(void);
const char *wg_metrics_name(size_t i);
const char *wg_metrics_meaning(size_t i);

/* One figure of launch `launch` (position in p->launches). WG_NOT_FOUND: no such metric or launch. WG_UNSUPPORTED: it has
 * no value there: nothing was counted, its divisor is zero, the device or the registers are not known. unit and fidelity
 * ("exact", "modelled", "estimated") may be NULL; what they are set to lives for ever. */
enum wg_status wg_metrics_launch(const struct wg_profile *p, size_t launch, const char *name, double *value, const char **unit,
                                 const char **fidelity);

#ifdef __cplusplus
}
#endif
#endif
