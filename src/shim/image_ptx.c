/* image_ptx.c - finds the PTX in what the program registered, and says what to change when there is none. */
#include "shim/image.h"
#include "shim/join.h"
#include "ptx/fatbin.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* PTX embedded as text has no size and, from some compilers, no NUL: it ends at the first byte that is no text. */
static size_t text_length(const char *p)
{
    size_t n = 0;
    while ((unsigned char)p[n] >= 32 || p[n] == '\n' || p[n] == '\r' || p[n] == '\t')
        n++;
    return n;
}

static enum cudaError plain_text(const char *p, char **text, size_t *n)
{
    *n = text_length(p);
    if (*n < 8 || !memmem(p, *n, ".version", 8))
        return cudaErrorInvalidKernelImage;
    *text = strndup(p, *n);
    return *text ? cudaSuccess : cudaErrorMemoryAllocation;
}

/* The PTX of one container or text. quiet: no PTX in it is no news. */
static enum cudaError one(struct wg_shim *s, const void *data, bool quiet, char **text, size_t *n)
{
    uint32_t magic;
    struct wg_fatbin_image best;
    struct wg_diag d = {0};
    if (!data)
        return cudaErrorInvalidKernelImage;
    memcpy(&magic, data, sizeof magic);
    if (magic != WG_FATBIN_MAGIC)
        return plain_text(data, text, n);
    const size_t bytes = wg_fatbin_size(data, SIZE_MAX);
    if (!bytes)
        return cudaErrorInvalidKernelImage;
    enum wg_status st = wg_fatbin_choose(data, bytes, s->gpu.cc->major * 10 + s->gpu.cc->minor, &best, &d);
    if (st == WG_OK)
        st = wg_fatbin_load(&best, text, n, &d);
    if (st != WG_OK && !(quiet && st == WG_NO_PTX))
        wg_shim_say("%s: %s", program_invocation_short_name, d.text);
    return st == WG_CORRUPT ? cudaErrorInvalidKernelImage : wg_shim_error(st);
}

/* -rdc=true: the linked image has machine code only; the PTX is in the units it was linked from. */
static enum cudaError joined(struct wg_shim *s, const void *const *list, char **text, size_t *n)
{
    enum { MOST = 4096 };
    struct wg_join_unit *u = calloc(MOST, sizeof *u);
    enum cudaError e = u ? cudaSuccess : cudaErrorMemoryAllocation;
    size_t k = 0;
    char err[512];
    for (; e == cudaSuccess && list[k] && k < MOST; k++) {
        char *unit = NULL;
        e = one(s, list[k], false, &unit, &u[k].n);
        u[k].text = unit;
    }
    if (e == cudaSuccess) {
        enum wg_status st = wg_join(u, k, text, err, sizeof err);
        if (st != WG_OK)
            wg_shim_say("%s: joining the %zu units of -rdc=true: %s", program_invocation_short_name, k, err);
        *n = st == WG_OK ? strlen(*text) : 0;
        e = wg_shim_error(st);
    }
    for (size_t i = 0; u && i < k; i++)
        free((char *)u[i].text);
    free(u);
    return e;
}

enum cudaError wg_image_ptx(struct wg_shim *s, const struct wg_binary *im, char **text, size_t *n)
{
    const bool units = im->prelinked && im->prelinked[0];
    enum cudaError e = one(s, im->data, units, text, n);
    return e == cudaErrorNoKernelImageForDevice && units ? joined(s, im->prelinked, text, n) : e;
}
