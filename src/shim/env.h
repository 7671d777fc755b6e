/* env.h - how the warpgrind command tells the runtime library inside the program what to do.
 *
 * One environment variable, WARPGRIND_OPTIONS: items "key=value" separated by the unit separator (byte 0x1f), so that
 * paths and names need no quoting. Keys and their types are the rows of env.def. Without the variable the program
 * runs as on a GPU and nothing is reported. An unknown key or an unreadable value is an error, never skipped. */
#ifndef WG_SHIM_ENV_H
#define WG_SHIM_ENV_H
#include <warpgrind/warpgrind.h>

#define WG_ENV_NAME "WARPGRIND_OPTIONS"
#define WG_ENV_SEPARATOR '\x1f'

struct wg_env {
#define WG_ENV_TEXT(key, meaning) char *key;
#define WG_ENV_NUMBER(key, meaning) uint64_t key;
#define WG_ENV_FLAG(key, meaning) bool key;
#include "shim/env.def"
#undef WG_ENV_TEXT
#undef WG_ENV_NUMBER
#undef WG_ENV_FLAG
};

/* Fill *e from the variable's text; NULL text: all defaults. WG_INVALID with a message in err, WG_NO_MEMORY. What *e
 * points to is malloc'd; wg_env_free frees it and is fine on a zeroed or failed one. */
enum wg_status wg_env_read(const char *text, struct wg_env *e, char *err, size_t n);
void wg_env_free(struct wg_env *e);
/* The variable's text for *e, malloc'd; only what differs from the default is in it. NULL: out of memory. */
char *wg_env_write(const struct wg_env *e);
/* The options for wg_open that *e asks for; strings are shared with *e. WG_INVALID: a name in it is unknown. */
enum wg_status wg_env_options(const struct wg_env *e, struct wg_options *o, char *err, size_t n);
#endif
