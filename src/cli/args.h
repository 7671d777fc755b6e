/* args.h - kernel arguments described on the command line: scalars, structures and buffers. */
#ifndef WG_CLI_ARGS_H
#define WG_CLI_ARGS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum wg_arg_type { WG_ARG_U8, WG_ARG_U16, WG_ARG_U32, WG_ARG_U64, WG_ARG_S8, WG_ARG_S16, WG_ARG_S32, WG_ARG_S64, WG_ARG_B8,
                   WG_ARG_B16, WG_ARG_B32, WG_ARG_B64, WG_ARG_F32, WG_ARG_F64, WG_ARG_TYPES };
struct wg_arg {
    bool is_buffer;
    enum wg_arg_type type;
    size_t bytes;  /* of data */
    uint8_t *data; /* malloc'd; the value, or the buffer's first contents; NULL for a buffer of zeros */
};
/* Parses a SPEC as `warpgrind help arguments` describes it. On failure false, with a message in err that names the spec.
 * wg_arg_free frees the data and is fine after a failure. */
bool wg_arg_parse(const char *spec, struct wg_arg *a, char *err, size_t n);
void wg_arg_free(struct wg_arg *a);
/* Prints elements one a line, integers in decimal (b types in hexadecimal), floats so that they read back equal. */
void wg_arg_print(FILE *out, enum wg_arg_type type, const void *data, size_t bytes);
size_t wg_arg_type_bytes(enum wg_arg_type t);
/* "64", "64x2", "64x2x1" (also with commas): three numbers from 1. */
bool wg_arg_dims(const char *s, unsigned out[3]);
#endif
