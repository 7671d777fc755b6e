/* frames.h - names the host's call sites in findings: FILE+0xOFFSET becomes function, source file and line. */
#ifndef WG_CLI_FRAMES_H
#define WG_CLI_FRAMES_H
#include <warpgrind/profile.h>

/* What the names are kept in: zero to begin with, freed after the profile's last use. */
struct wg_frames { char **strings; size_t nstrings; struct wg_source *sources; };

/* Asks addr2line, where there is one, about every "Host Frame: [FILE+0xOFFSET]" in p's messages and writes the answer
 * in the bracket's place; a finding of the host gets the innermost place known as its own. Without an answer the text stays. */
void wg_frames_name(struct wg_frames *f, struct wg_profile *p);
void wg_frames_free(struct wg_frames *f);
#endif
