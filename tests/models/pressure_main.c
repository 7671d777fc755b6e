/* pressure_main.c - prints the register pressure of every kernel of PTX files; tools/calibrate_registers.py reads it.
 */
#include "base/arena.h"
#include "model/pressure.h"
#include <stdio.h>
#include <stdlib.h>

static int one(const char *path, unsigned sm)
{
    FILE *f = fopen(path, "rb");
    size_t cap = 1u << 26, n;
    char *text = f ? malloc(cap) : NULL;
    struct wg_ptx_module *m = NULL;
    struct wg_diag d = {0};
    int bad = 1;
    if (text && (n = fread(text, 1, cap, f)) < cap && wg_ptx_parse(text, n, path, &m, &d) == WG_OK) {
        bad = 0;
        for (uint32_t i = 0; i < m->nfuncs; i++) {
            const struct wg_function *k = m->funcs[i];
            struct wg_pressure p;
            if (k->is_entry && !k->is_declaration && wg_pressure(k, sm, &p) == WG_OK)
                printf("%s\t%s\t%u\t%u\t%u\t%d\t%u\n", path, k->name, p.live, p.tight, p.plain, p.calls, p.instructions);
        }
    } else {
        fprintf(stderr, "%s: %s\n", path, f ? d.text : "cannot be read");
    }
    wg_ptx_free(m);
    free(text);
    if (f)
        fclose(f);
    return bad;
}

int main(int argc, char **argv)
{
    int bad = 0;
    for (int i = 1; i < argc; i++)
        bad |= one(argv[i], 90);
    return bad;
}
