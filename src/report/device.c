/* device.c - finds a launch's device in the table, or in the device file that the profile holds. */
#include "report/device.h"
#include <string.h>

const struct wg_gpu *wg_device_of(struct wg_devices *d, const struct wg_profile *p, const struct wg_launch_result *l)
{
    if (!d->name || (d->name != l->device && strcmp(d->name, l->device))) {
        d->gpu = wg_gpu_of(l->device, p->device_file, &d->arena);
        d->name = l->device;
    }
    return d->gpu;
}
