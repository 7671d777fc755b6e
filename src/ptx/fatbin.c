/* fatbin.c - reads and writes the container that carries PTX inside programs. */
#include "ptx/fatbin.h"
#include "base/arena.h"
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
    ENTRY = 64,           /* smallest entry header */
    MAX_RAW = 1 << 30,    /* bytes of one image that we are willing to unpack */
    FLAG_BASE = 0x11,     /* what nvcc sets on each 64-bit Linux image */
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    FLAG_ARCH = 0x100000,  /* sm_90a */
    FLAG_FAMILY = 0x200000 /* sm_100f */
};

static uint64_t get(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes; i++)
        v |= (uint64_t)p[i] << 8 * i;
    return v;
}

static void set(uint8_t *p, unsigned bytes, uint64_t v)
{
    for (unsigned i = 0; i < bytes; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

static enum wg_status corrupt(struct wg_diag *d, size_t at, const char *what)
{
    if (d)
        wg_diag_set(d, WG_CORRUPT, "fat binary: %s at byte %zu", what, at);
    return WG_CORRUPT;
}

size_t wg_fatbin_size(const void *p, size_t n)
{
    if (!p || n < WG_FATBIN_HEADER || get(p, 4) != WG_FATBIN_MAGIC)
        return 0;
    uint64_t header = get((const uint8_t *)p + 6, 2), body = get((const uint8_t *)p + 8, 8);
    if (header < WG_FATBIN_HEADER || header > n || body > n - header || body > SIZE_MAX / 2)
        return 0;
    return (size_t)(header + body);
}

size_t wg_fatbin_find(const void *section, size_t n, size_t from)
{
    for (size_t at = (from + 7) & ~(size_t)7; at < n && n - at >= WG_FATBIN_HEADER; at += 8)
        if (wg_fatbin_size((const uint8_t *)section + at, n - at))
            return at;
    return n;
}

/* A string inside the entry's header, NUL-terminated there; NULL if there is none. */
static const char *header_text(const uint8_t *e, size_t header, uint64_t offset)
{
    if (offset < ENTRY || offset >= header || !memchr(e + offset, 0, header - offset) || !e[offset])
        return NULL;
    return (const char *)e + offset;
}

enum wg_status wg_fatbin_next(const void *p, size_t n, size_t *at, struct wg_fatbin_image *out, struct wg_diag *d)
{
    size_t size = wg_fatbin_size(p, n);
    const uint8_t *b = p;
    *out = (struct wg_fatbin_image){0};
    if (!size)
        return corrupt(d, 0, "no container header");
    if (*at == 0)
        *at = get(b + 6, 2);
    if (*at >= size)
        return WG_NOT_FOUND;
    if (size - *at < ENTRY)
        return corrupt(d, *at, "an entry is cut off");
    const uint8_t *e = b + *at;
    uint64_t header = get(e + 4, 4), payload = get(e + 8, 8), stored = get(e + 16, 4), options = get(e + 20, 4);
    uint64_t flags = get(e + 40, 8);
    if (header < ENTRY || header > size - *at)
        return corrupt(d, *at, "an entry's header does not fit");
    if (payload > size - *at - header || stored > payload)
        return corrupt(d, *at, "an entry's payload does not fit");
    out->kind = (uint16_t)get(e, 2);
    out->arch = (unsigned)get(e + 28, 4);
    out->version = (unsigned)(get(e + 26, 2) * 10 + get(e + 24, 2));
    out->variant = flags & FLAG_ARCH ? 'a' : flags & FLAG_FAMILY ? 'f' : 0;
    out->flags = flags;
    out->data = e + header;
    out->coding = stored == 0 ? WG_FATBIN_RAW : flags & FLAG_ZSTD ? WG_FATBIN_ZSTD : WG_FATBIN_LZ4;
    out->stored = (size_t)(stored ? stored : payload);
    out->raw = (size_t)(stored ? get(e + 56, 8) : payload);
    out->name = get(e + 36, 4) ? header_text(e, header, get(e + 32, 4)) : NULL;
    /* options: u32 offset and u32 length of their text */
    if (options >= ENTRY && options + 8 <= header && get(e + options + 4, 4))
        out->options = header_text(e, header, get(e + options, 4));
    *at += (size_t)(header + payload);
    return WG_OK;
}

enum wg_status wg_fatbin_load(const struct wg_fatbin_image *i, char **out, size_t *len, struct wg_diag *d)
{
    *out = NULL;
    *len = 0;
    if (i->raw > MAX_RAW || i->stored > INT32_MAX)
        return corrupt(d, 0, "an image is larger than 1 GiB");
    /* no format packs better than this, so a small damaged image cannot ask for a gigabyte */
    if (i->coding == WG_FATBIN_LZ4 && i->raw / 256 > i->stored)
        return corrupt(d, 0, "an LZ4 image claims to unpack to more than it can");
    char *q = wg_realloc(NULL, i->raw + 1);
    if (!q)
        return d ? wg_diag_set(d, WG_NO_MEMORY, "fat binary: out of memory for %zu bytes", i->raw) : WG_NO_MEMORY;
    size_t n = i->raw;
    bool ok = true;
    if (i->coding == WG_FATBIN_RAW)
        memcpy(q, i->data, n);
    else if (i->coding == WG_FATBIN_ZSTD)
        n = ZSTD_decompress(q, i->raw, i->data, i->stored), ok = !ZSTD_isError(n) && n == i->raw;
    else
        ok = LZ4_decompress_safe(i->data, q, (int)i->stored, (int)i->raw) == (int)i->raw;
    if (!ok) {
        free(q);
        return corrupt(d, 0, i->coding == WG_FATBIN_ZSTD ? "a zstd image cannot be unpacked"
                                                          : "an LZ4 image cannot be unpacked");
    }
    while (i->kind == WG_FATBIN_PTX && n && !q[n - 1])
        n--;
    q[n] = 0;
    *out = q;
    *len = n;
    return WG_OK;
}

/* How well a PTX image suits a device; 0: not at all. */
static unsigned rank(const struct wg_fatbin_image *i, unsigned cc)
{
    if (i->kind != WG_FATBIN_PTX || i->arch > cc || (i->variant == 'a' && i->arch != cc) ||
        (i->variant == 'f' && i->arch / 10 != cc / 10))
        return 0;
    return i->arch * 4 + (i->variant == 'a' ? 3 : i->variant == 'f' ? 2 : 1);
}

enum wg_status wg_fatbin_choose(const void *p, size_t n, unsigned cc, struct wg_fatbin_image *out, struct wg_diag *d)
{
    struct wg_fatbin_image i, best = {0};
    size_t at = 0;
    unsigned top = 0;
    char inside[256] = "";
    enum wg_status s;
    bool any_ptx = false;
    while ((s = wg_fatbin_next(p, n, &at, &i, d)) == WG_OK) {
        unsigned r = rank(&i, cc);
        if (r > top)
            top = r, best = i;
        any_ptx |= i.kind == WG_FATBIN_PTX;
        size_t k = strlen(inside);
        snprintf(inside + k, sizeof inside - k, "%s%s sm_%u%.1s", k ? ", " : "",
                 i.kind == WG_FATBIN_PTX ? "PTX" : i.kind == WG_FATBIN_ELF ? "machine code" : "other code", i.arch,
                 i.variant ? &i.variant : "");
    }
    *out = best;
    if (s != WG_NOT_FOUND)
        return s;
    if (top)
        return WG_OK;
    if (d)
        wg_diag_set(d, WG_NO_PTX,
                    any_ptx ? "no PTX for a device of sm_%u (inside: %s); choose a newer device, or build with "
                              "-arch=sm_%u"
                            : "the program carries no PTX that sm_%u can run (inside: %s); build it with -arch=sm_%u, "
                              "or with code=compute_.. in -gencode",
                    cc, inside[0] ? inside : "nothing", cc);
    return WG_NO_PTX;
}

enum wg_status wg_fatbin_write(const char *ptx, size_t len, const char *target, unsigned version,
                               enum wg_fatbin_coding coding, void **out, size_t *out_len, struct wg_diag *d)
{
    enum { HEAD = WG_FATBIN_HEADER + ENTRY };
    *out = NULL;
    *out_len = 0;
    unsigned arch = 0;
    char variant = 0;
    if (sscanf(target, "sm_%u%c", &arch, &variant) < 1 || len >= MAX_RAW)
        return d ? wg_diag_set(d, WG_INVALID, "fat binary: cannot wrap %zu bytes for target '%.40s'", len, target)
                 : WG_INVALID;
    size_t raw = len + 1; /* with its NUL, as nvcc counts */
    size_t bound = coding == WG_FATBIN_ZSTD ? ZSTD_compressBound(raw)
                   : coding == WG_FATBIN_LZ4 ? (size_t)LZ4_compressBound((int)raw) : raw;
    uint8_t *q = wg_calloc(1, HEAD + bound + 8);
    char *text = q ? wg_calloc(1, raw) : NULL;
    if (!text) {
        free(q);
        return d ? wg_diag_set(d, WG_NO_MEMORY, "fat binary: out of memory") : WG_NO_MEMORY;
    }
    memcpy(text, ptx, len);
    size_t stored = raw;
    uint64_t flags = FLAG_BASE | (variant == 'a' ? FLAG_ARCH : variant == 'f' ? FLAG_FAMILY : 0);
    if (coding == WG_FATBIN_ZSTD) {
        stored = ZSTD_compress(q + HEAD, bound, text, raw, 3);
        flags |= FLAG_ZSTD;
    } else if (coding == WG_FATBIN_LZ4) {
        stored = (size_t)LZ4_compress_default(text, (char *)q + HEAD, (int)raw, (int)bound);
        flags |= FLAG_LZ4;
    } else {
        memcpy(q + HEAD, text, raw);
    }
    free(text);
    if (stored == 0 || (coding == WG_FATBIN_ZSTD && ZSTD_isError(stored))) {
        free(q);
        return d ? wg_diag_set(d, WG_INVALID, "fat binary: the text cannot be compressed") : WG_INVALID;
    }
    size_t payload = (stored + 7) & ~(size_t)7;
    uint8_t *e = q + WG_FATBIN_HEADER;
    set(q, 4, WG_FATBIN_MAGIC);
    set(q + 4, 2, 1);
    set(q + 6, 2, WG_FATBIN_HEADER);
    set(q + 8, 8, ENTRY + payload);
    set(e, 2, WG_FATBIN_PTX);
    set(e + 2, 2, 0x101);
    set(e + 4, 4, ENTRY);
    set(e + 8, 8, payload);
    set(e + 16, 4, coding == WG_FATBIN_RAW ? 0 : stored);
    set(e + 24, 2, version % 10);
    set(e + 26, 2, version / 10);
    set(e + 28, 4, arch);
    set(e + 40, 8, flags);
    set(e + 56, 8, coding == WG_FATBIN_RAW ? 0 : raw);
    *out = q;
    *out_len = HEAD + payload;
    return WG_OK;
}
