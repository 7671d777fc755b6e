/* place.h - where in the program a CUDA call is made. */
#ifndef WG_SHIM_PLACE_H
#define WG_SHIM_PLACE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the callers outside this library, innermost first, a line each: "Host Frame: [FILE+0xOFFSET]". The offset counts
 * from where FILE is loaded, as addr2line wants it of a position-independent file. Empty when nothing is known. */
void wg_place_here(char *out, size_t n);
#endif
