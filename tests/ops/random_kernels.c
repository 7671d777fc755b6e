/* random_kernels.c - runs random kernels on the engine and on the thread-by-thread interpreter and compares memory.
 * random_kernels [--first SEED] [--count N] [--emit SEED] [--reference-only] [--integers]
 * [--avoid WORDS]
 * With --file PATH, the kernel of seed --first is replaced by that text (tests/ops/reduce.py shrinks it so). */
#include "../ref/interp.h"
#include "random_ptx.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <warpgrind/warpgrind.h>

struct args { /* as laid out in the parameter block */
    uint64_t in, out, sums;
    uint32_t a, b;
    uint64_t c;
};
struct memory {
    uint8_t in[RANDOM_IN], sums[RANDOM_SUMS], *out;
    size_t out_bytes;
};

static bool fill(struct memory *m, uint64_t seed, const struct random_kernel *k)
{
    m->out_bytes = (size_t)k->grid[0] * k->grid[1] * k->block[0] * k->block[1] * k->block[2] * RANDOM_OUT;
    m->out = calloc(1, m->out_bytes);
    memset(m->sums, 0, sizeof m->sums);
    for (unsigned i = 0; i < RANDOM_IN / 4; i++) {
        uint32_t x = (uint32_t)ref_pool(i % 3 ? WG_T_B32 : WG_T_F32, "", 0, (i + (unsigned)seed * 7) % 400);
        memcpy(m->in + i * 4, &x, 4);
    }
    return m->out != NULL;
}

static bool reference(const struct random_kernel *k, struct args a, struct memory *m, bool *two_nans, char *err,
                      size_t n)
{
    struct wg_diag d;
    struct wg_ptx_module *mod = NULL;
    wg_diag_clear(&d);
    if (wg_ptx_parse(k->ptx, strlen(k->ptx), "random.ptx", &mod, &d)) {
        snprintf(err, n, "%.1000s", d.text);
        return false;
    }
    struct ref_region r[] = {{a.in, RANDOM_IN, m->in}, {a.out, m->out_bytes, m->out}, {a.sums, RANDOM_SUMS, m->sums}};
    struct ref_launch l = {.grid = {k->grid[0], k->grid[1], 1},
                           .block = {k->block[0], k->block[1], k->block[2]},
                           .params = (const uint8_t *)&a,
                           .regions = r,
                           .nregions = 3,
                           .two_nans = two_nans,
                           .max_steps = 200000};
    bool ok = ref_interp(mod, wg_ptx_function(mod, "k"), &l, err, n);
    wg_ptx_free(mod);
    return ok;
}

static bool engine(const struct random_kernel *k, uint64_t seed, struct args *a, struct memory *m, char *err, size_t n)
{
    struct wg_options o = {.size = sizeof o,
                           .jobs = 1 + seed % 2,
                           .no_counters = seed % 3 == 0,
                           .schedule = (enum wg_schedule)(seed / 2 % 3),
                           .seed = seed,
                           .any_block_order = true};
    struct wg *g = NULL;
    struct wg_module *mod = NULL;
    if (wg_open(&o, &g, err, n))
        return false;
    enum wg_status st;
    (void)((st = wg_alloc(g, RANDOM_IN, 256, &a->in)) || (st = wg_alloc(g, m->out_bytes, 256, &a->out)) ||
           (st = wg_alloc(g, RANDOM_SUMS, 256, &a->sums)) ||
           (st = wg_copy(g, (void *)(uintptr_t)a->in, m->in, RANDOM_IN)) ||
           (st = wg_module_load(g, k->ptx, strlen(k->ptx), "random.ptx", NULL, &mod)));
    if (!st) {
        void *args[] = {&a->in, &a->out, &a->sums, &a->a, &a->b, &a->c};
        struct wg_launch l = {.size = sizeof l,
                              .grid = {k->grid[0], k->grid[1], 1},
                              .block = {k->block[0], k->block[1], k->block[2]},
                              .args = args};
        st = wg_launch(g, wg_module_kernel(mod, "k"), &l);
    }
    if (!st) {
        memcpy(m->out, (const void *)(uintptr_t)a->out, m->out_bytes);
        memcpy(m->sums, (const void *)(uintptr_t)a->sums, RANDOM_SUMS);
    } else
        snprintf(err, n, "%s: %s", wg_status_text(st), wg_error(g));
    wg_close(g);
    return !st;
}

static void report(const struct random_kernel *k, uint64_t seed, const struct memory *want, const struct memory *got,
                   bool keep)
{
    char name[64];
    snprintf(name, sizeof name, "random-%" PRIu64 ".ptx", seed);
    FILE *f = keep ? fopen(name, "w") : NULL;
    if (f) {
        fputs(k->ptx, f);
        fclose(f);
    }
    unsigned shown = 0;
    for (size_t i = 0; i < want->out_bytes && shown < 6; i++)
        if (want->out[i] != got->out[i]) {
            size_t t = i / RANDOM_OUT, at = i % RANDOM_OUT;
            printf("  seed %" PRIu64 " (%s, grid %ux%u, block %ux%ux%u): thread %zu byte %zu: engine %02x, reference "
                   "%02x\n",
                   seed, name, k->grid[0], k->grid[1], k->block[0], k->block[1], k->block[2], t, at, got->out[i],
                   want->out[i]);
            shown++;
            i |= 7;
        }
    for (unsigned i = 0; i < RANDOM_SUMS && shown < 6; i += 8)
        if (memcmp(want->sums + i, got->sums + i, 8)) {
            printf("  seed %" PRIu64 " (%s): sum %u differs\n", seed, name, i / 8);
            shown++;
        }
}

static bool read_text(const char *path, char **text)
{
    FILE *f = fopen(path, "r");
    free(*text);
    *text = calloc(1, 1 << 20);
    bool ok = f && *text && fread(*text, 1, (1 << 20) - 1, f) > 0;
    if (f)
        fclose(f);
    if (!ok)
        perror(path);
    return ok;
}

int main(int argc, char **argv)
{
    uint64_t first = 1, count = 100;
    const char *file = NULL, *avoid = NULL;
    bool reference_only = false, emit = false, integers = false;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--first") && i + 1 < argc)
            first = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--count") && i + 1 < argc)
            count = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--emit") && i + 1 < argc)
            emit = true, first = strtoull(argv[++i], NULL, 10), count = 1;
        else if (!strcmp(argv[i], "--reference-only"))
            reference_only = true;
        else if (!strcmp(argv[i], "--file") && i + 1 < argc)
            file = argv[++i];
        else if (!strcmp(argv[i], "--avoid") && i + 1 < argc)
            avoid = argv[++i];
        else if (!strcmp(argv[i], "--integers"))
            integers = true;
        else
            return fprintf(stderr, "usage: random_kernels [--first N] [--count N] [--emit SEED] [--reference-only] "
                                   "[--integers] [--avoid WORDS] [--file PATH]\n"),
                   2;
    size_t n;
    struct ref_variant *v = ref_variants(&n);
    unsigned bad = 0, open = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct random_kernel k = random_ptx(seed, v, n, integers, avoid);
        if (file && !read_text(file, &k.ptx))
            return 2;
        if (emit) {
            fputs(k.ptx, stdout);
            free(k.ptx);
            break;
        }
        struct memory want, got;
        struct args a = {0x500000000,         0x600000000,       0x700000000, (uint32_t)seed * 37 % 100,
                         (uint32_t)seed * 11, seed * 0x100000001};
        char err[2200] = "";
        bool two_nans = false;
        bool ok = fill(&want, seed, &k) && fill(&got, seed, &k);
        if (ok && !reference(&k, a, &want, &two_nans, err, sizeof err)) {
            printf("  seed %" PRIu64 ": reference: %s\n", seed, err);
            ok = false;
        }
        if (ok && !reference_only && !engine(&k, seed, &a, &got, err, sizeof err)) {
            printf("  seed %" PRIu64 ": engine: %s\n", seed, err);
            ok = false;
        }
        if (ok && !reference_only &&
            (memcmp(want.out, got.out, want.out_bytes) || memcmp(want.sums, got.sums, RANDOM_SUMS))) {
            if (two_nans)
                open++;
            else {
                report(&k, seed, &want, &got, !file);
                ok = false;
            }
        }
        bad += !ok;
        free(want.out);
        free(got.out);
        free(k.ptx);
    }
    free(v);
    if (!emit)
        printf("%" PRIu64 " random kernels, %u wrong, %u open for NaN payloads\n", count, bad, open);
    return bad != 0;
}
