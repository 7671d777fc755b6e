/* pattern.h - regular expressions as Nsight Compute's options take them. */
#ifndef WG_REPORT_PATTERN_H
#define WG_REPORT_PATTERN_H
#include <regex.h>
#include "base/diag.h"

/* Compiles what follows "regex:". POSIX extended syntax, and \d \D (?: of the syntax ncu documents. Free with regfree.
 * WG_INVALID with a message otherwise. */
enum wg_status wg_pattern(const char *text, regex_t *out, struct wg_diag *d);
#endif
