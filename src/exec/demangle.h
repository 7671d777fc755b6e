/* demangle.h - readable names of C++ kernels. */
#ifndef WG_EXEC_DEMANGLE_H
#define WG_EXEC_DEMANGLE_H
#include "base/arena.h"
/* Itanium ABI names as c++filt prints them; the name itself when it is not mangled or uses what we do not read. */
const char *wg_demangle(struct wg_arena *a, const char *name);
#endif
