/* join.h - one PTX text out of several translation units that refer to each other, as -rdc=true leaves them. */
#ifndef WG_SHIM_JOIN_H
#define WG_SHIM_JOIN_H
#include <stddef.h>
#include <warpgrind/warpgrind.h>

struct wg_join_unit { const char *text; size_t n; };
/* Joins n units. Names without linkage are kept apart, declarations of what another unit defines are dropped, of equal
 * weak definitions the first stays, .file numbers are shifted. *out is malloc'd. WG_INVALID (message in err): a symbol
 * defined twice; WG_PARSE: a unit that ends inside a statement; WG_NO_MEMORY. */
enum wg_status wg_join(const struct wg_join_unit *units, size_t n, char **out, char *err, size_t err_size);
#endif
