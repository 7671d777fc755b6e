/* image_ptx.c - finds the PTX in what the program registered, and says what to change when there is none. */
#include "shim/image.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTAINER_MAGIC 0xBA55ED50u

struct container { uint32_t magic; uint16_t version, header; uint64_t bytes; };
/* The fields of an entry's header that matter here; the header's own size is in it. */
struct entry {
    uint16_t kind, version;
    uint32_t header;
    uint64_t payload;
    uint32_t compressed, options;
    uint16_t minor, major;
    uint32_t arch, name_at, name_bytes;
    uint64_t flags, zero, raw;
};
enum { KIND_PTX = 1, KIND_ELF = 2 };

static enum cudaError copy_out(const char *p, size_t n, char **text, size_t *len)
{
    char *q = malloc(n + 1);
    if (!q)
        return cudaErrorMemoryAllocation;
    memcpy(q, p, n);
    q[n] = 0;
    *text = q;
    *len = n;
    return cudaSuccess;
}

/* PTX embedded as text has no size and, from some compilers, no NUL: it ends at the first byte that is no text. */
static size_t text_length(const char *p)
{
    size_t n = 0;
    while ((unsigned char)p[n] >= 32 || p[n] == '\n' || p[n] == '\r' || p[n] == '\t')
        n++;
    return n;
}

enum cudaError wg_image_ptx(struct wg_shim *s, const struct wg_image *im, char **text, size_t *n)
{
    const char *p = im->data;
    struct container c;
    if (!p)
        return cudaErrorInvalidKernelImage;
    memcpy(&c, p, sizeof c.magic);
    if (c.magic != CONTAINER_MAGIC) {
        size_t len = text_length(p);
        if (len < 8 || !memmem(p, len, ".version", 8))
            return cudaErrorInvalidKernelImage;
        return copy_out(p, len, text, n);
    }
    memcpy(&c, p, sizeof c);
    const unsigned sm = (unsigned)(s->gpu.major * 10 + s->gpu.minor);
    const char *end = p + c.header + c.bytes, *best = NULL;
    struct entry b = {0};
    unsigned newest = 0, machine = 0;
    for (p += c.header; p + sizeof(struct entry) <= end;) {
        struct entry e;
        memcpy(&e, p, sizeof e);
        if (e.header < sizeof e || e.payload > (uint64_t)(end - p) || e.header > (uint64_t)(end - p) - e.payload)
            return cudaErrorInvalidKernelImage;
        if (e.kind == KIND_PTX) {
            newest = e.arch > newest ? e.arch : newest;
            if (e.arch <= sm && e.arch >= b.arch) {
                best = p;
                b = e;
            }
        } else if (e.kind == KIND_ELF) {
            machine = e.arch;
        }
        p += e.header + e.payload;
    }
    if (!best) {
        if (newest)
            wg_shim_say("%s holds PTX for sm_%u, newer than the modelled sm_%u: choose another --device",
                        program_invocation_short_name, newest, sm);
        else
            wg_shim_say("%s holds machine code for sm_%u but no PTX: build it with -gencode "
                        "arch=compute_%u,code=[sm_%u,compute_%u], or simply -arch=sm_%u",
                        program_invocation_short_name, machine, machine, machine, machine, machine);
        return cudaErrorNoKernelImageForDevice;
    }
    if (b.compressed) {
        wg_shim_say("%s holds compressed PTX, which is not read yet: build it with -Xfatbin --compress=false",
                    program_invocation_short_name);
        return cudaErrorNotSupported;
    }
    size_t len = b.raw ? (size_t)b.raw : (size_t)b.payload;
    len = len > b.payload ? (size_t)b.payload : len;
    return copy_out(best + b.header, strnlen(best + b.header, len), text, n);
}
