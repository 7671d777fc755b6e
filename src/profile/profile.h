/* profile.h - builds a profile: what the engine calls while a program runs. The result is the plain data of
 * warpgrind/profile.h, owned by the builder. One thread at a time. */
#ifndef WG_PROFILE_PROFILE_H
#define WG_PROFILE_PROFILE_H
#include <warpgrind/profile.h>
#include "base/arena.h"

#define WG_PROFILE_VERSION 1               /* of the file format */
#define WG_PROFILE_SOURCE_LIMIT (4u << 20) /* bytes; the text of a longer source file is not kept */

/* Zero-initialise, then wg_profile_builder_init. Only `profile` is for reading; the rest is the builder's own. */
struct wg_profile_builder {
    struct wg_profile profile;
    struct wg_arena arena;
    const char **strings; /* hash table of every string kept, open addressing */
    size_t nstrings, cap_strings;
    size_t cap_sources, cap_launches, cap_findings, cap_host_findings, sources_tried;
    struct wg_site *scratch; /* sites of the open launch */
    size_t cap_scratch;
    bool open;
};
enum wg_status wg_profile_builder_init(struct wg_profile_builder *b, const char *program);
void wg_profile_builder_free(struct wg_profile_builder *b);

/* A copy that lives as long as the builder; equal strings give one pointer. Bytes that are not UTF-8 become U+FFFD.
 * s NULL: "". Never NULL: "" when memory is out, which wg_profile_end_launch then reports. */
const char *wg_profile_string(struct wg_profile_builder *b, const char *s);
/* Index of a source file in profile->sources, added when it is new. Its text is read by wg_profile_load_sources. */
uint32_t wg_profile_add_source(struct wg_profile_builder *b, const char *path);

/* One launch: begin, fill in the fields of the result and of its `nsites` zeroed sites, add findings, end. Strings that
 * the caller sets need to live until end, which copies them; a NULL string becomes "". end computes total[] from the
 * sites. A launch whose sites are equal to those of the last launch of that kernel shares them. */
struct wg_launch_result *wg_profile_begin_launch(struct wg_profile_builder *b, size_t nsites); /* NULL: no memory */
enum wg_status wg_profile_end_launch(struct wg_profile_builder *b);
/* Copies f: into the open launch if there is one, else into the host's findings. */
enum wg_status wg_profile_add_finding(struct wg_profile_builder *b, const struct wg_finding *f);

/* Read the text of each source file not tried before. Call before the profile is shown or written; never fails: a
 * file that cannot be read, or is too long, has no text. */
void wg_profile_load_sources(struct wg_profile_builder *b);

/* ---- shared with profile_json.c ------------------------------------------------------------------------------- */
/* dst[] must hold 3 * n + 1 bytes. Invalid bytes and NULs of s[0..n) become U+FFFD. Returns the new length. */
size_t wg_profile_utf8(char *dst, const char *s, size_t n);
void wg_profile_sum(struct wg_launch_result *l); /* total[] from sites */
extern const char *const wg_profile_machines[WG_MACHINE_PTXAS + 1];         /* "estimated", ... */
extern const char *const wg_profile_site_kinds[WG_SITE_MATRIX + 1];   /* "load", ... */
extern const char *const wg_profile_site_spaces[WG_SITE_GENERIC + 1]; /* "global", ... */
#endif
