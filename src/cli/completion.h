/* completion.h - completion scripts for shells. */
#ifndef WG_CLI_COMPLETION_H
#define WG_CLI_COMPLETION_H
#include <stdbool.h>

extern const char *const wg_completion_shells[]; /* ends with NULL */
/* Writes the script of that shell to stdout; false when there is none. */
bool wg_completion(const char *shell);
#endif
