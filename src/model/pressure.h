/* pressure.h - registers a kernel needs, estimated from what is live in its PTX, for when no ptxas is at hand. */
#ifndef WG_MODEL_PRESSURE_H
#define WG_MODEL_PRESSURE_H
#include "ptx/module.h"

struct wg_pressure {
    uint32_t live;   /* most 32-bit registers live at once; values that can be made again for nothing (constants, parameters,
                        addresses of variables) and predicates are not counted */
    uint32_t all;    /* the same with those values */
    uint32_t instructions;
};
/* WG_NO_MEMORY, or WG_UNSUPPORTED for a function too large to look at (2^20 instructions or registers). */
enum wg_status wg_pressure(const struct wg_function *f, struct wg_pressure *out);

/* Registers a thread occupies at launch; ptxas gave 9 of 10 kernels something from low to high. */
struct wg_register_estimate { unsigned likely, low, high; };
/* From the pressure, for a compute capability (90 for 9.0), within what .maxnreg, .maxntid and .minnctapersm allow. Rough: half
 * of the kernels not used to fit it lie within 17 % of likely, a third within 10 % (tests/models/data/registers.csv); what ptxas
 * unrolls and reorders is not followed. */
void wg_register_estimate(const struct wg_function *f, const struct wg_pressure *p, unsigned sm,
                          struct wg_register_estimate *out);
#endif
