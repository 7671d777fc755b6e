/* image_ptx.c - finds the PTX in what the program registered, and says what to change when there is none. */
#include "shim/image.h"
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

enum cudaError wg_image_ptx(struct wg_shim *s, const struct wg_image *im, char **text, size_t *n)
{
    uint32_t magic;
    struct wg_fatbin_image best;
    struct wg_diag d = {0};
    if (!im->data)
        return cudaErrorInvalidKernelImage;
    memcpy(&magic, im->data, sizeof magic);
    if (magic != WG_FATBIN_MAGIC)
        return plain_text(im->data, text, n);
    const size_t bytes = wg_fatbin_size(im->data, SIZE_MAX);
    if (!bytes)
        return cudaErrorInvalidKernelImage;
    enum wg_status st = wg_fatbin_choose(im->data, bytes, s->gpu.cc->major * 10 + s->gpu.cc->minor, &best, &d);
    if (st == WG_OK)
        st = wg_fatbin_load(&best, text, n, &d);
    if (st != WG_OK)
        wg_shim_say("%s: %s", program_invocation_short_name, d.text);
    return st == WG_CORRUPT ? cudaErrorInvalidKernelImage : wg_shim_error(st);
}
