/* profile_json.h - names that the writer and the reader of .wgprof files share. */
#ifndef WG_PROFILE_PROFILE_JSON_H
#define WG_PROFILE_PROFILE_JSON_H
#include <warpgrind/profile.h>

#define WG_PROFILE_FORMAT "warpgrind-profile"
#define WG_PROFILE_MAX_SITES (16u << 20) /* in one file after expansion, about 2.5 GB: more is refused */

extern const char *const wg_profile_status_ids[WG_STATUS_COUNT]; /* "OK", "INVALID", ... */
extern const char *const wg_profile_severities[WG_SEVERITY_ERROR + 1];
#endif
