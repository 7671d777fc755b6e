/* expr.h - integer expressions and array accesses as one writes them in CUDA C, evaluated for one lane at a time. */
#ifndef WG_CLI_EXPR_H
#define WG_CLI_EXPR_H
#include "base/diag.h"

struct wg_expr_var { const char *name; int64_t value; };
/* + - * / % << >> & | ^ ~ ! < <= > >= == != && || ?: and parentheses, with C's precedence; numbers decimal or
 * hexadecimal; the names of vars. 64-bit, wrapping. WG_INVALID with a caret under the place when it is malformed or
 * divides by 0. */
enum wg_status wg_expr_eval(const char *text, const struct wg_expr_var *vars, size_t nvars, int64_t *out,
                            struct wg_diag *d);

#define WG_ARRAY_DIMS 4
struct wg_array {
    char name[64];
    unsigned element;          /* bytes */
    unsigned parts;            /* of a vector type: 4 for float4; else 1 */
    unsigned ndims;
    uint64_t dim[WG_ARRAY_DIMS];
};
/* "float tile[32][33]", "__shared__ double2 a[64];". Types: CUDA's scalars and built-in vectors, and pointers to none.
 */
enum wg_status wg_array_parse(const char *text, struct wg_array *out, struct wg_diag *d);
/* Bytes of a type name, and how many parts it has; 0 if it is none. */
unsigned wg_array_type_bytes(const char *name, size_t n, unsigned *parts);

/* "tile[t][2 * t + 1]" or "v[t].y": its indices for these variables. member: byte offset of .x .y .z .w (0: none),
 * *bytes the size of what is accessed. An index outside its dimension is WG_INVALID, with a caret. */
enum wg_status wg_access_eval(const char *text, const struct wg_array *a, const struct wg_expr_var *vars, size_t nvars,
                              int64_t index[WG_ARRAY_DIMS], unsigned *member, unsigned *bytes, struct wg_diag *d);
#endif
