/* fatbin.h - the container in which nvcc (and our own front end) puts PTX into programs.
 *
 * Layout, decoded from what nvcc 13.0 writes (little endian). Container: u32 magic, u16 version 1, u16 header size
 * 16, u64 bytes that follow. Then entries: u16 kind, u16 version 0x101, u32 header size, u64 payload size (padded to
 * 8), u32 stored size (0: not compressed), u32 offset of options, u16 minor, u16 major of the PTX version, u32
 * architecture, u32 offset and u32 length of a name, u64 flags, u64 zero, u64 size before compression. */
#ifndef WG_PTX_FATBIN_H
#define WG_PTX_FATBIN_H
#include "base/diag.h"
#include <stddef.h>
#include <stdint.h>

#define WG_FATBIN_MAGIC 0xBA55ED50u
enum { WG_FATBIN_HEADER = 16 };

enum wg_fatbin_kind { WG_FATBIN_PTX = 1, WG_FATBIN_ELF = 2, WG_FATBIN_LTO = 8 };
enum wg_fatbin_coding { WG_FATBIN_RAW, WG_FATBIN_LZ4, WG_FATBIN_ZSTD };
struct wg_fatbin_image {
    uint16_t kind;               /* enum wg_fatbin_kind, or another number */
    uint8_t coding;              /* enum wg_fatbin_coding */
    char variant;                /* 'a': this architecture only (sm_90a); 'f': its family; 0: any later one */
    unsigned arch;               /* 90 for sm_90 */
    unsigned version;            /* PTX version, 85 for 8.5; kind PTX only */
    uint64_t flags;
    const void *data;            /* in the container */
    size_t stored, raw;          /* bytes at data; bytes when decompressed */
    const char *name, *options;  /* in the container, NUL-terminated; NULL: none */
};

/* Bytes of the container at p, header included; 0 if there is none. Reads at most n bytes. A container in the memory
 * of a running program has no known size: pass SIZE_MAX (16 bytes must be readable), then use the answer as n below. */
size_t wg_fatbin_size(const void *p, size_t n);
/* Offset of the first container at or after `from` in a section, at 8-byte steps; n if there is none. */
size_t wg_fatbin_find(const void *section, size_t n, size_t from);
/* Next image of the container. *at is 0 at first. NOT_FOUND after the last; CORRUPT (message in d) when an entry does
 * not fit. d may be NULL. */
enum wg_status wg_fatbin_next(const void *p, size_t n, size_t *at, struct wg_fatbin_image *out, struct wg_diag *d);
/* The decompressed image, malloc'd with a NUL behind it; *len is without the NULs that pad PTX. */
enum wg_status wg_fatbin_load(const struct wg_fatbin_image *i, char **out, size_t *len, struct wg_diag *d);
/* The PTX image that a device of compute capability cc (90) would take: the newest architecture that is not newer than
 * the device, its own "a" variant first. NO_PTX: none fits; the message says what is inside and what to do. */
enum wg_status wg_fatbin_choose(const void *p, size_t n, unsigned cc, struct wg_fatbin_image *out, struct wg_diag *d);
/* A container that holds one PTX text; *out is malloc'd. target: the .target, "sm_90a". version: 85. */
enum wg_status wg_fatbin_write(const char *ptx, size_t len, const char *target, unsigned version,
                               enum wg_fatbin_coding coding, void **out, size_t *out_len, struct wg_diag *d);
#endif
