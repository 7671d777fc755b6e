/* hw_test.c - compares the reference evaluator with what a GPU computed for every variant of legal.def. */
#include "vectors.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void show(const struct ref_variant *v, const struct vector *hw, unsigned set, const uint64_t *src,
                 const uint64_t *want)
{
    printf("  %s %s: set %u:", v->mnemonic, v->operands, set);
    for (unsigned k = 0; k < v->nsrc; k++)
        printf(" %" PRIx64, src[k]);
    printf(" -> GPU");
    for (unsigned k = 0; k < v->ndst; k++)
        printf(" %" PRIx64, hw->dst[k][set]);
    printf(", reference");
    for (unsigned k = 0; k < v->ndst; k++)
        printf(" %" PRIx64, want[k]);
    printf("\n");
}

/* Sets of this variant in which the GPU gave something else than the evaluator allows. */
static unsigned compare(const struct ref_variant *v, const struct vectors *all, const struct vector *hw, bool say)
{
    unsigned wrong = 0;
    struct ref_inst in;
    if (!ref_decode(v->mnemonic, v->operands, &in))
        return all->sets;
    for (unsigned base = 0; base < all->sets; base += REF_WARP) {
        uint64_t src[REF_WARP][REF_MAX] = {{0}}, dst[REF_WARP][REF_MAX] = {{0}};
        enum ref_kind kind[REF_WARP];
        for (unsigned l = 0; l < REF_WARP; l++)
            for (unsigned k = 0; k < v->nsrc; k++)
                src[l][k] = all->pools[hw->src[k]][base + l];
        enum ref_kind worst = ref_run_warp(v, ~0u, (const uint64_t(*)[REF_MAX])src, dst, kind);
        for (unsigned l = 0; l < REF_WARP; l++) {
            uint64_t got[REF_MAX] = {0};
            for (unsigned k = 0; k < v->ndst; k++)
                got[k] = hw->dst[k][base + l];
            if (worst == REF_UNKNOWN || !ref_accept(&in, src[l], v->ndst, dst[l], got, kind[l], true)) {
                if (wrong++ < 3 && say)
                    show(v, hw, base + l, src[l], dst[l]);
            }
        }
    }
    return wrong;
}

/* Scalar video instructions are not in the hardware any more: the assembler emulates them, and what it emulates is not
 * what its manual says for saturation, for minimum and maximum with c, for d.h1 and for scaled products. The evaluator
 * follows the manual; differences there are counted, not failed. */
static bool disputed(const struct ref_variant *v)
{
    size_t n = strlen(wg_op_infos[v->op].text);
    char last = wg_op_infos[v->op].text[n - 1];
    return wg_op_infos[v->op].group == WG_GROUP_VIDEO && last != '2' && last != '4' &&
           (strstr(v->mnemonic, ".sat") || strstr(v->mnemonic, ".min") || strstr(v->mnemonic, ".max") ||
            strstr(v->mnemonic, ".shr7") || strstr(v->mnemonic, ".shr15") || !strncmp(v->operands + 4, ".h1", 3));
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return fprintf(stderr, "usage: hw_test VECTORS.bin.gz\n"), 2;
    struct vectors *all = vectors_read(argv[1]);
    size_t n, at = 0, ran = 0, refused = 0, missing = 0, stale = 0, bad = 0, open = 0;
    struct ref_variant *v = ref_variants(&n);
    if (!all || all->sets % REF_WARP)
        return 1;
    for (size_t i = 0; i < n; i++) {
        char name[200];
        snprintf(name, sizeof name, "%s %s", v[i].mnemonic, v[i].operands);
        size_t tried = 0;
        while (tried < all->n && strcmp(all->v[at].name, name)) { /* nearly always the next one */
            at = (at + 1) % all->n;
            tried++;
        }
        if (tried == all->n) {
            printf("  %s: no vectors\n", name);
            missing++;
            continue;
        }
        const struct vector *hw = &all->v[at];
        if (hw->status) {
            refused++;
            continue;
        }
        if (hw->nsrc != v[i].nsrc || hw->ndst != v[i].ndst) {
            printf("  %s: vectors of another shape\n", name);
            stale++;
            continue;
        }
        ran++;
        if (!disputed(&v[i]))
            bad += compare(&v[i], all, hw, true) != 0;
        else if (compare(&v[i], all, hw, false))
            open++, ran--;
    }
    printf(
        "%s, driver %u: %zu variants agree, %zu do not; %zu disputed, %zu refused by the driver, %zu without vectors, "
        "%zu stale\n",
        all->device, all->driver, ran - bad, bad, open, refused, missing, stale);
    free(v);
    return bad || missing || stale || !ran;
}
