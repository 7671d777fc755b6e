/* pressure.h - registers a kernel needs, estimated from its PTX, for when no ptxas is at hand. */
#ifndef WG_MODEL_PRESSURE_H
#define WG_MODEL_PRESSURE_H
#include "ptx/module.h"

/* 32-bit registers live at once at most, of what lower.h leaves, with the operations put in order: */
struct wg_pressure {
    uint32_t live;   /* to hide latency within the 32 registers at which occupancy is full */
    uint32_t tight;  /* within 24 */
    uint32_t plain;  /* as the text has them */
    uint32_t instructions; /* of the PTX */
    bool calls;      /* a function is called by the usual convention, printf among them */
};
/* sm: compute capability, 90 for 9.0. WG_NO_MEMORY, or WG_UNSUPPORTED for a function too large to look at. */
enum wg_status wg_pressure(const struct wg_function *f, unsigned sm, struct wg_pressure *out);

/* Registers a thread occupies at launch; ptxas gave nine of ten kernels something from low to high. */
struct wg_register_estimate { unsigned likely, low, high; };
/* From the pressure, within what .maxnreg, .maxntid and .minnctapersm allow. Rough: how many of the kernels not used to fit
 * it lie within 10 % of likely, and how many in the range, is in docs/fidelity.md (tests/models/data/registers.csv). */
void wg_register_estimate(const struct wg_function *f, const struct wg_pressure *p, unsigned sm,
                          struct wg_register_estimate *out);
#endif
