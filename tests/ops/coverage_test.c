/* coverage_test.c - fails when a row of ops.def that computes something has no case. */
#include "../ref/ref.h"
#include <stdlib.h>

/* Rows whose results are addresses; special_ops.c has a kernel for each. */
static const enum wg_op special[] = {
#define SPECIAL(op) WG_OP_##op,
#include "special.def"
#undef SPECIAL
};

int main(void)
{
    size_t n;
    struct ref_variant *v = ref_variants(&n);
    int cases[WG_OP_COUNT] = {0}, missing = 0, rows = 0;
    for (size_t i = 0; i < n; i++)
        cases[v[i].op]++;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        cases[special[i]]++;
    for (int op = 0; op < WG_OP_COUNT; op++) {
        enum wg_group g = wg_op_infos[op].group;
        if (g != WG_GROUP_ALU && g != WG_GROUP_CVT && g != WG_GROUP_MOV && g != WG_GROUP_VIDEO && g != WG_GROUP_WARP &&
            g != WG_GROUP_ATOM)
            continue;
        rows++;
        if (!cases[op]) {
            printf("%s has no case in tests/ref/legal.def or tests/ops/special.def\n", wg_op_infos[op].text);
            missing++;
        }
    }
    printf("%d rows, %d without a case, %zu variants\n", rows, missing, n);
    free(v);
    return missing != 0 || rows == 0;
}
