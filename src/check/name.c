/* name.c - how a report calls an address: array and element of shared memory, place in an allocation of global memory. */
#include "check/internal.h"
#include <stdio.h>
#include <string.h>

/* Appends [i][j]... of an element, by dimensions where they are known. */
static void element(const struct wg_array *a, uint64_t index, char *s, size_t n)
{
    uint64_t at[4], left = index;
    for (uint32_t d = a->ndims; d > 1; d--) {
        at[d - 1] = left % a->dim[d - 1];
        left /= a->dim[d - 1];
    }
    at[0] = left;
    for (uint32_t d = 0; d < (a->ndims ? a->ndims : 1) && n > 1; d++) {
        int k = snprintf(s, n, "[%llu]", (unsigned long long)at[d]);
        if (k < 0 || (size_t)k >= n)
            return;
        s += k;
        n -= (size_t)k;
    }
}

void wg_name_shared(const struct wg_check *c, uint64_t at, uint32_t elem, char *s, size_t n)
{
    const struct wg_array *a = wg_array_at(c, at);
    if (!a) {
        snprintf(s, n, "0x%llx", (unsigned long long)at);
        return;
    }
    uint32_t bytes = a->elem ? a->elem : elem;
    uint64_t off = at - a->offset;
    snprintf(s, n, "%.64s", a->name);
    if (!bytes || (a->bytes == bytes && !a->ndims)) { /* a single variable */
        if (off)
            snprintf(s + strlen(s), n - strlen(s), " + %llu bytes", (unsigned long long)off);
        return;
    }
    element(a, off / bytes, s + strlen(s), n - strlen(s));
    if (off % bytes)
        snprintf(s + strlen(s), n - strlen(s), " + %llu bytes", (unsigned long long)(off % bytes));
}

void wg_name_global(const struct wg_check *c, uint64_t at, uint32_t elem, char *s, size_t n)
{
    const struct wg_area *a = wg_area_at(c, at);
    snprintf(s, n, "0x%llx", (unsigned long long)at);
    if (!a || a->internal)
        return;
    bool whole = elem && (at - a->base) % elem == 0;
    snprintf(s + strlen(s), n - strlen(s), ", %s %llu of the allocation of %llu bytes at 0x%llx", whole ? "element" : "byte",
             (unsigned long long)(whole ? (at - a->base) / elem : at - a->base), (unsigned long long)a->bytes,
             (unsigned long long)a->base);
}

const char *wg_name_place(const struct wg_check *c, uint64_t at)
{
    const struct wg_area *a = wg_area_at(c, at);
    return a && !a->internal ? a->place : NULL;
}
