/* machine_main.c - prints the machine instructions that machine.c expects of each PTX instruction of a file, for
 * tools/machine_check.py: kernel, line of the PTX, instructions, whether a branch before it became its guard. */
#include "exec/machine.h"
#include <stdio.h>
#include <stdlib.h>

static bool one(const struct wg_ptx_module *m, const struct wg_function *f, const struct wg_ptxas_info *info, unsigned sm)
{
    struct wg_arena a = {0};
    struct wg_cfg g;
    struct wg_classes c;
    const struct wg_merge *merge;
    struct wg_machine machine;
    bool ok = wg_cfg_build(f, &a, &g) && wg_classify(f, &g, true, true, &a, &c) &&
              wg_merge_analyse(m, f, &a, &merge) == WG_OK && wg_machine_estimate(f, &g, &c, merge, info ? wg_ptxas_kernel(info, f->name) : NULL, sm, &a, &machine);
    for (uint32_t i = 0; ok && i < f->ninstrs; i++)
        printf("%s\t%u\t%g\t%d\n", f->name, f->instrs[i].ptx_line, machine.hundredths[i] / 100.0,
               machine.with[g.bb_of[i]] >= 0);
    wg_arena_free(&a);
    return ok;
}

int main(int argc, char **argv)
{
    enum { CAP = 1 << 26 };
    FILE *f = argc >= 3 ? fopen(argv[1], "rb") : NULL;
    char *text = f ? malloc(CAP) : NULL;
    struct wg_ptx_module *m = NULL;
    struct wg_diag d = {0};
    size_t n = text ? fread(text, 1, CAP, f) : 0;
    struct wg_arena a = {0};
    const struct wg_ptxas_info *info = NULL;
    bool ok = n && n < CAP && wg_ptx_parse(text, n, argv[1], &m, &d) == WG_OK;
    if (!ok)
        fprintf(stderr, "usage: test_machine FILE.ptx SM [ptxas]\n%s\n", d.text);
    if (ok && argc > 3) /* with what ptxas tells */
        ok = wg_ptxas_info(NULL, text, n, (unsigned)atoi(argv[2]), &a, &info, &d) == WG_OK;
    for (uint32_t i = 0; ok && i < m->nfuncs; i++)
        if (m->funcs[i]->is_entry && !m->funcs[i]->is_declaration)
            ok = one(m, m->funcs[i], info, (unsigned)atoi(argv[2]));
    wg_arena_free(&a);
    wg_ptx_free(m);
    free(text);
    if (f)
        fclose(f);
    return !ok;
}
