/* gen.c - command line of the variant generator: list names, write PTX for checking, or the package the GPU runs. */
#include "ref.h"
#include <stdlib.h>
#include <string.h>

static void put32(FILE *f, uint32_t x)
{
    fwrite(&x, 4, 1, f);
}
static void put_text(FILE *f, const char *s)
{
    put32(f, (uint32_t)strlen(s));
    fwrite(s, 1, strlen(s), f);
}

/* "WGV1", count; then per variant: name, PTX, ndst, bytes of each, nsrc, sources as [k][set] of 8 bytes. Host order. */
static int package(const struct ref_variant *v, size_t n, const char *path)
{
    FILE *f = fopen(path, "wb");
    if (!f)
        return perror(path), 1;
    fwrite("WGV1", 1, 4, f);
    put32(f, (uint32_t)n);
    put32(f, REF_SETS);
    for (size_t i = 0; i < n; i++) {
        char name[200], *ptx = ref_kernel(&v[i], REF_VECTOR, 0, REF_ALL, NULL);
        snprintf(name, sizeof name, "%s %s", v[i].mnemonic, v[i].operands);
        put_text(f, name);
        put_text(f, ptx);
        put32(f, v[i].ndst);
        for (unsigned k = 0; k < v[i].ndst; k++)
            put32(f, ref_dst_bytes(&v[i], k));
        put32(f, v[i].nsrc);
        for (unsigned k = 0; k < v[i].nsrc; k++)
            for (unsigned s = 0; s < REF_SETS; s++) {
                uint64_t x = ref_pool((enum wg_type)v[i].src[k], v[i].hint[k], k, s);
                fwrite(&x, 8, 1, f);
            }
        free(ptx);
    }
    return fclose(f) ? (perror(path), 1) : 0;
}

/* One module with every variant from..to-1 as its own entry, each preceded by a comment with its number. */
static void one_module(const struct ref_variant *v, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        char *ptx = ref_kernel(&v[i], REF_VECTOR, 0, REF_ALL, NULL);
        char *entry = strstr(ptx, ".visible"), *open = strchr(entry, '(');
        if (i == from)
            fwrite(ptx, 1, (size_t)(entry - ptx), stdout);
        printf("// %zu %s %s\n.visible .entry k%zu%s", i, v[i].mnemonic, v[i].operands, i, open);
        free(ptx);
    }
}

int main(int argc, char **argv)
{
    size_t n;
    struct ref_variant *v = ref_variants(&n);
    int rc = 0;
    if (argc == 2 && !strcmp(argv[1], "list")) {
        for (size_t i = 0; i < n; i++)
            printf("%s %s\n", v[i].mnemonic, v[i].operands);
    } else if (argc == 2 && !strcmp(argv[1], "count")) {
        printf("%zu\n", n);
    } else if (argc == 3 && !strcmp(argv[1], "package")) {
        rc = package(v, n, argv[2]);
    } else if (argc == 4 && !strcmp(argv[1], "module")) {
        size_t from = strtoul(argv[2], NULL, 10), to = strtoul(argv[3], NULL, 10);
        one_module(v, from < n ? from : n, to < n ? to : n);
    } else if (argc == 3 && !strcmp(argv[1], "kernel")) {
        size_t i = strtoul(argv[2], NULL, 10);
        char *ptx = i < n ? ref_kernel(&v[i], REF_VECTOR, 0, REF_ALL, NULL) : NULL;
        fputs(ptx ? ptx : "", stdout);
        free(ptx);
    } else {
        fprintf(stderr, "usage: gen list | count | package FILE | module FROM TO | kernel N\n");
        rc = 2;
    }
    free(v);
    return rc;
}
