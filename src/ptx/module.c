/* module.c - look-ups in a parsed module, and its end. */
#include "ptx/module.h"
#include <stdlib.h>
#include <string.h>

const char wg_ptx_parts[6][3] = {"b0", "b1", "b2", "b3", "h0", "h1"};

void wg_ptx_free(struct wg_ptx_module *m)
{
    if (!m)
        return;
    struct wg_arena a = m->arena;
    free(m);
    wg_arena_free(&a);
}

struct wg_function *wg_ptx_function(const struct wg_ptx_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->nfuncs; i++)
        if (strcmp(m->funcs[i]->name, name) == 0)
            return m->funcs[i]->sym->func; /* the definition when there is one */
    return NULL;
}
