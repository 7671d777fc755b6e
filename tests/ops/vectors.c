/* vectors.c - reads a compressed file of hardware results. */
#include "vectors.h"
#include <stdlib.h>
#include <string.h>

static bool bytes(FILE *f, void *p, size_t n)
{
    return fread(p, 1, n, f) == n;
}
static bool word(FILE *f, uint32_t *x)
{
    return bytes(f, x, 4);
}
static char *text(FILE *f)
{
    uint32_t n;
    if (!word(f, &n) || n > 1000)
        return NULL;
    char *s = calloc(1, n + 1);
    return s && bytes(f, s, n) ? s : NULL;
}

static bool one(FILE *f, const struct vectors *all, struct vector *v)
{
    v->name = text(f);
    if (!v->name || !word(f, &v->status) || !word(f, &v->nsrc) || v->nsrc > REF_MAX)
        return false;
    for (uint32_t k = 0; k < v->nsrc; k++)
        if (!word(f, &v->src[k]) || v->src[k] >= all->npools)
            return false;
    if (!word(f, &v->ndst) || v->ndst > REF_MAX)
        return false;
    for (uint32_t k = 0; k < v->ndst; k++) {
        if (!word(f, &v->bytes[k]) || v->bytes[k] > 8)
            return false;
        v->dst[k] = calloc(all->sets, 8);
        for (uint32_t i = 0; !v->status && i < all->sets; i++)
            if (!bytes(f, &v->dst[k][i], v->bytes[k]))
                return false;
    }
    return true;
}

static bool whole(FILE *f, struct vectors *all)
{
    char magic[4];
    if (!bytes(f, magic, 4) || memcmp(magic, "WGR1", 4) || !word(f, &all->sets) || all->sets > 4096)
        return false;
    all->device = text(f);
    if (!all->device || !word(f, &all->driver) || !word(f, &all->npools) || all->npools > 100000)
        return false;
    all->pools = calloc(all->npools, sizeof *all->pools);
    for (uint32_t i = 0; i < all->npools; i++) {
        all->pools[i] = calloc(all->sets, 8);
        if (!bytes(f, all->pools[i], all->sets * 8ull))
            return false;
    }
    if (!word(f, &all->n) || all->n > 100000)
        return false;
    all->v = calloc(all->n, sizeof *all->v);
    for (uint32_t i = 0; i < all->n; i++)
        if (!one(f, all, &all->v[i]))
            return false;
    return true;
}

struct vectors *vectors_read(const char *path)
{
    char cmd[4200];
    snprintf(cmd, sizeof cmd, "gzip -dc '%s'", path);
    FILE *f = popen(cmd, "r");
    struct vectors *all = calloc(1, sizeof *all);
    bool ok = f && all && whole(f, all);
    if (f && pclose(f) != 0)
        ok = false;
    if (!ok)
        fprintf(stderr, "%s: not readable as hardware vectors\n", path);
    return ok ? all : NULL;
}
