/* device.h - the device of a launch, also one that the profile describes itself. */
#ifndef WG_REPORT_DEVICE_H
#define WG_REPORT_DEVICE_H
#include <warpgrind/profile.h>
#include "base/arena.h"
#include "model/gpus.h"

/* NULL: a name no table knows, and the profile does not describe it. Zero-initialise; one look-up per profile is kept.
 */
struct wg_devices {
    struct wg_arena arena; /* free with wg_arena_free */
    const char *name;      /* the last one asked for */
    const struct wg_gpu *gpu;
};
const struct wg_gpu *wg_device_of(struct wg_devices *d, const struct wg_profile *p, const struct wg_launch_result *l);
#endif
