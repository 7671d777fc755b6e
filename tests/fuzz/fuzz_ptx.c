/* fuzz_ptx.c - any bytes may be given to the PTX reader; what it accepts must survive a round trip through print,
 * and the model of joined accesses must name leaders that exist. */
#include "ptx/merge.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct wg_ptx_module *m, *again;
    struct wg_diag d = {0};
    if (wg_ptx_parse((const char *)data, n, "fuzz", &m, &d) != WG_OK)
        return 0;
    for (uint32_t f = 0; f < m->nfuncs; f++) {
        struct wg_arena arena = {0};
        const struct wg_merge *g;
        if (wg_merge_analyse(m, m->funcs[f], &arena, &g) != WG_OK)
            abort();
        for (uint32_t i = 0; i < m->funcs[f]->ninstrs; i++)
            if (g[i].leader >= m->funcs[f]->ninstrs || g[g[i].leader].leader != g[i].leader ||
                (g[g[i].leader].dead && g[i].leader != i))
                abort();
        wg_arena_free(&arena);
    }
    char *a = wg_ptx_print(m);
    if (!a || wg_ptx_parse(a, strlen(a), "printed", &again, &d) != WG_OK) {
        fprintf(stderr, "printed text is not accepted: %s\n%s\n", d.text, a ? a : "");
        abort();
    }
    char *b = wg_ptx_print(again);
    if (!b || strcmp(a, b) != 0) {
        fprintf(stderr, "round trip differs:\n%s\n----\n%s\n", a, b ? b : "");
        abort();
    }
    free(a);
    free(b);
    wg_ptx_free(m);
    wg_ptx_free(again);
    return 0;
}
