/* parse_ops.c - every variant of legal.def is read as the row it belongs to, with no modifier or operand left over. */
#include "../ref/ref.h"
#include "ptx/module.h"
#include <stdlib.h>
#include <string.h>

static bool check(const struct ref_variant *v, const struct wg_function *f)
{
    for (uint32_t i = 0; i < f->ninstrs; i++) {
        const struct wg_instr *in = &f->instrs[i];
        if (strcmp(in->mnemonic, v->mnemonic) || in->op != v->op)
            continue;
        /* selectors of video operands and 2-bit types are in no table: they stay text, for the engine to read or refuse
         */
        bool as_text = wg_op_infos[v->op].group == WG_GROUP_VIDEO || v->op == WG_OP_CVT_PACK;
        if (in->extra && !as_text) {
            printf("  %s %s: unknown modifiers: %s\n", v->mnemonic, v->operands, in->extra);
            return false;
        }
        struct ref_inst ri;
        ref_decode(v->mnemonic, v->operands, &ri);
        bool same = in->ntypes == ri.ntypes && !memcmp(in->type, ri.type, ri.ntypes);
        if (!same)
            printf("  %s: types read wrongly\n", v->mnemonic);
        return same;
    }
    printf("  %s %s: not found among the instructions\n", v->mnemonic, v->operands);
    return false;
}

/* Operands of video instructions that the reader does not know yet and refuses with the whole module: negated registers
 * of vmad and selections of several parts (%r1.h10, %r1.b3210). */
static bool known_gap(const struct ref_variant *v)
{
    if (wg_op_infos[v->op].group != WG_GROUP_VIDEO)
        return false;
    if (strstr(v->operands, "-<"))
        return true;
    for (const char *dot = strchr(v->operands, '.'); dot; dot = strchr(dot + 1, '.'))
        if (strspn(dot + 2, "01234567") > 1)
            return true;
    return false;
}

int main(void)
{
    size_t n, bad = 0;
    struct ref_variant *v = ref_variants(&n);
    size_t skipped = 0;
    for (size_t i = 0; i < n; i++) {
        if (known_gap(&v[i])) {
            skipped++;
            continue;
        }
        char *ptx = ref_kernel(&v[i], REF_VECTOR, 0, REF_ALL, NULL);
        struct wg_ptx_module *m = NULL;
        struct wg_diag d;
        wg_diag_clear(&d);
        if (wg_ptx_parse(ptx, strlen(ptx), "op.ptx", &m, &d)) {
            if (bad < 50)
                printf("  %s %s: %s\n", v[i].mnemonic, v[i].operands, d.text);
            bad++;
        } else
            bad += !check(&v[i], m->funcs[0]);
        wg_ptx_free(m);
        free(ptx);
    }
    free(v);
    printf("%zu variants read rightly, %zu not, %zu skipped\n", n - skipped - bad, bad, skipped);
    return bad || !n;
}
