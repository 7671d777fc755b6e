/* cubin.h - which machine instructions ptxas made of each line of PTX, read from the object it wrote.
 *
 * ptxas -lineinfo leaves a line program in .nv_debug_line_sass whose lines are those of the PTX. Instructions are 16 bytes
 * (compute capability 7.0 up), the operation in the low 12 bits: BRA 0x947, EXIT 0x94d, RET 0x950, CALL 0x944. Found by
 * looking at objects of ptxas 13.0 for sm_80 and sm_90; an object that looks different gives nothing. */
#ifndef WG_MODEL_CUBIN_H
#define WG_MODEL_CUBIN_H
#include "base/arena.h"
#include <warpgrind/warpgrind.h>

/* What became of one line of PTX at one depth of loops of the machine code. */
struct wg_cubin_line {
    uint32_t line;
    uint16_t depth;        /* loops around, by backward branches */
    uint16_t instructions; /* up to the last exit of the function: behind it stand subroutines for rare operands */
    uint16_t branches;     /* those of them that branch or exit */
};
struct wg_cubin_code { const char *name; size_t n; struct wg_cubin_line *lines; }; /* by line, then depth */

/* Every function of an ELF object of n bytes; sm: 90 for 9.0. Everything lives in a. WG_CORRUPT: it is none that can be
 * read; WG_NO_MEMORY. */
enum wg_status wg_cubin_read(const void *object, size_t n, unsigned sm, struct wg_arena *a, struct wg_cubin_code **out,
                             size_t *count);
#endif
