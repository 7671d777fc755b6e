/* libdevice.c - looking up __nv_* functions, in the build of the table that suits the host. */
#include "exec/libdevice.h"
#include <string.h>
#include "exec/libdevice_table.h"

static const struct wg_libdevice *table(unsigned level)
{
    if (level == 0)
        return wg_libdevice_portable;
#ifdef WG_LIBDEVICE_V3
    if (level == 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        return wg_libdevice_v3;
#endif
    return NULL;
}

const struct wg_libdevice *wg_libdevice_row(unsigned level, size_t i)
{
    const struct wg_libdevice *t = table(level);
    if (!t)
        return NULL;
    for (size_t k = 0; k < i && t->name; k++)
        t++;
    return t->name ? t : NULL;
}

const struct wg_libdevice *wg_libdevice_find(const char *name, size_t n)
{
    if (n < 5 || memcmp(name, "__nv_", 5))
        return NULL;
    const struct wg_libdevice *t = table(1);
    /* some 430 names, asked once a call site: a scan is quick enough */
    for (t = t ? t : table(0); t->name; t++)
        if (strlen(t->name) == n && !memcmp(t->name, name, n))
            return t;
    return NULL;
}
