/* device.c - finds a launch's device in the table, or in the device file that the profile holds. */
#include "report/device.h"
#include <string.h>

static const struct wg_gpu *look(struct wg_arena *a, const struct wg_profile *p, const char *name)
{
    const struct wg_gpu *g = wg_gpu_find(name);
    struct wg_diag d = {0};
    if (!g && !strncmp(name, "NVIDIA ", 7)) /* as a driver calls it */
        g = wg_gpu_find(name + 7);
    if (!g && p->device_file && *p->device_file &&
        wg_gpu_read(name, p->device_file, strlen(p->device_file), a, &g, &d) != WG_OK)
        g = NULL;
    return g;
}

const struct wg_gpu *wg_device_of(struct wg_devices *d, const struct wg_profile *p, const struct wg_launch_result *l)
{
    if (!d->name || (d->name != l->device && strcmp(d->name, l->device))) {
        d->gpu = look(&d->arena, p, l->device);
        d->name = l->device;
    }
    return d->gpu;
}
