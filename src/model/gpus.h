/* gpus.h - what is known of each compute capability and device, by name or from a file the user wrote. */
#ifndef WG_MODEL_GPUS_H
#define WG_MODEL_GPUS_H
#include "base/arena.h"
#include "base/diag.h"

#define WG_CARVEOUT_MAX 12

/* Limits of one compute capability. Field meanings and units: cc_fields.def. */
struct wg_cc {
    unsigned major, minor;
    const char *arch, *chips, *source;
    unsigned ncarveouts;
    unsigned carveout_kb[WG_CARVEOUT_MAX]; /* shared-memory sizes an SM can be set to, rising; none: fixed */
#define WG_CC_FIELD(member, unit, text) unsigned member;
#include "model/cc_fields.def"
#undef WG_CC_FIELD
};

/* One device. Field meanings and units: gpu_fields.def; 0 is unknown. */
struct wg_gpu {
    const char *name, *aliases, *chip, *memory, *source; /* aliases: comma-separated */
    const struct wg_cc *cc;
    const char *file; /* text of the device file it was read from; NULL: a built-in one */
#define WG_GPU_FIELD(member, unit, text) double member;
#include "model/gpu_fields.def"
#undef WG_GPU_FIELD
};

/* Description of a field of either struct, for printing and reading. */
struct wg_gpu_field {
    const char *name, *unit, *text;
    size_t offset;
};
extern const struct wg_gpu_field wg_cc_field_infos[], wg_gpu_field_infos[]; /* ends with a NULL name */

size_t wg_cc_count(void);
const struct wg_cc *wg_cc_at(size_t i); /* rising compute capability */
const struct wg_cc *wg_cc_find(unsigned major, unsigned minor); /* NULL: not known */
/* "9.0", "90", "sm_90", "sm_90a", "compute_90". NULL with the known ones named in d (may be NULL) otherwise. */
const struct wg_cc *wg_cc_parse(const char *text, struct wg_diag *d);

size_t wg_gpu_count(void);
const struct wg_gpu *wg_gpu_at(size_t i);
/* By name or other name; case, spaces, dashes and underscores do not matter. NULL: none. */
const struct wg_gpu *wg_gpu_find(const char *name);
/* The same, with the nearest names in d when there is none. */
const struct wg_gpu *wg_gpu_find_or_say(const char *name, struct wg_diag *d);
/* A device described in a text file of `key = value` lines ('#' starts a comment). `base = H200` takes another device's
 * values first, `cc = 9.0` the limits of a compute capability; one of the two must come before other keys. `name`,
 * `chip`, `memory`, `source` are text, every field of gpu_fields.def and cc_fields.def a number, `carveouts = 0, 8, 16`
 * a list in KiB. The result lives in a. Errors: WG_IO, WG_INVALID with line and caret, WG_NO_MEMORY. */
enum wg_status wg_gpu_load(const char *path, struct wg_arena *a, const struct wg_gpu **out, struct wg_diag *d);
/* The same from the n bytes of such a file; path names it in messages, and gives the device a name if the text does not. */
enum wg_status wg_gpu_read(const char *path, const char *text, size_t n, struct wg_arena *a, const struct wg_gpu **out,
                           struct wg_diag *d);
/* The device that a profile names: from the table, with or without its maker's name, or else from the text of the device
 * file that the profile holds (NULL or empty: none), then living in a. NULL: neither knows it. */
const struct wg_gpu *wg_gpu_of(const char *name, const char *device_file, struct wg_arena *a);
/* What --device takes: a name, or a path to such a file (it has a '/' or ends in ".gpu"). */
enum wg_status wg_gpu_open(const char *name_or_path, struct wg_arena *a, const struct wg_gpu **out, struct wg_diag *d);

double wg_gpu_fp32_flops(const struct wg_gpu *g); /* peak flop/s at the highest clock; a fused multiply-add is two */
double wg_gpu_fp64_flops(const struct wg_gpu *g);

/* Up to n of the count candidates nearest to word by spelling, joined as "a, b or c" into buf; "" when none is near. */
void wg_gpu_nearest(const char *word, const char *const *candidates, size_t count, unsigned n, char *buf, size_t size);
#endif
