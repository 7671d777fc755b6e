/* extent.h - element size and dimensions of a shared array, read from its declaration in the program's source text. */
#ifndef WG_EXEC_EXTENT_H
#define WG_EXEC_EXTENT_H
#include "ptx/module.h"
#include <stdbool.h>
#include <stdint.h>

enum { WG_EXTENT_DIMS = 4 };
struct wg_extent { uint32_t elem, ndims, dim[WG_EXTENT_DIMS]; }; /* elem 0: of a type that is not known */

/* The array `name` of `bytes` bytes (0: as many as the launch gives) that is declared __shared__ nearest to a line (0: the
 * first). A dimension may be an expression of numbers, of names that the text defines as such, and of one name that it does
 * not, such as a template's parameter: the array's size tells its value. False: no such declaration, or its size is another. */
bool wg_extent_find(const char *text, size_t n, const char *name, uint64_t bytes, uint32_t line, struct wg_extent *out);

/* The same in the files that a module's .file directives name; c, zero at first, keeps what was read, in the arena. */
struct wg_extent_text { const char *text; size_t n; bool tried; };
struct wg_extent_texts { struct wg_extent_text *v; };
bool wg_extent_of(struct wg_extent_texts *c, struct wg_arena *a, const struct wg_ptx_module *m, const struct wg_function *f,
                 const char *name, uint64_t bytes, struct wg_extent *out);
#endif
