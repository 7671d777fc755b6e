/* engine.c - times the engine: each kernel and size without and with counters, on one worker and on several, in paired
 * rounds; prints medians with their spread.
 *
 * usage: bench_engine [-r rounds] [-j workers] [-k kernel]... [-n size]... [-c] [-t] kernels.ptx
 *   -c: what each check costs instead, on one worker, beside counters alone
 *   -t: one line a run, "kernel n counters workers cpu-ns wall-ns", for bench/peers; with -c, for bench/checks,
 *       "kernel n check cpu-ns G-lane-instructions/s" */
#include <warpgrind/profile.h>
#include <warpgrind/warpgrind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "work.h"

enum { CONFIGS = 4, CHECKS = 6, MAX_ROUNDS = 99, MAX_PICK = 16 };
static const char *const all_kernels[] = {"sgemm_naive", "sgemm_tiled", "transpose",
                                          "reduce",      "histogram",   "divergent"};

/* One device per configuration, all alive at once, so that rounds can interleave them. */
struct config {
    const char *name;
    bool counters;
    unsigned jobs, tools;
    struct wg *g;
    struct wg_module *m;
    double cpu[MAX_ROUNDS], wall[MAX_ROUNDS]; /* seconds */
    double lane_insts;
};

static char *read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    *n = 0;
    for (size_t cap = 1 << 16; f; cap *= 2) {
        char *more = realloc(text, cap);
        if (!more)
            break;
        text = more;
        *n += fread(text + *n, 1, cap - *n, f);
        if (*n < cap)
            break;
    }
    if (f)
        fclose(f);
    return text;
}

static bool fail(const struct config *c, const char *what)
{
    fprintf(stderr, "bench_engine: %s: %s: %s\n", c->name, what, c->g ? wg_error(c->g) : "no device");
    return false;
}

static bool open_config(struct config *c, const char *ptx, size_t n, const char *path)
{
    struct wg_options opt = {.size = sizeof opt, .jobs = c->jobs, .no_counters = !c->counters, .tools = c->tools};
    char err[512];
    if (wg_open(&opt, &c->g, err, sizeof err) != WG_OK) {
        fprintf(stderr, "bench_engine: %s\n", err);
        return false;
    }
    return wg_module_load(c->g, ptx, n, path, NULL, &c->m) == WG_OK || fail(c, "load");
}

/* Runs w once on c; the time of the launch alone. The result goes to w->host[w->output] when `fetch`. */
static bool run(struct config *c, struct work *w, struct work_time *t, bool fetch)
{
    uint64_t addr[WORK_BUFFERS] = {0};
    void *args[WORK_BUFFERS + 1];
    unsigned nargs = 0;
    int n = (int)w->n;
    bool ok = true;
    struct wg_kernel *k = wg_module_kernel(c->m, w->kernel);
    if (!k)
        return fail(c, "no such kernel in the PTX");
    for (unsigned b = 0; ok && b < WORK_BUFFERS; b++) {
        if (!w->bytes[b])
            continue;
        ok = wg_alloc(c->g, w->bytes[b], 256, &addr[b]) == WG_OK;
        if (ok && b != w->output)
            ok = wg_copy(c->g, (void *)(uintptr_t)addr[b], w->host[b], w->bytes[b]) == WG_OK;
        else if (ok)
            ok = wg_fill(c->g, addr[b], 0, w->bytes[b]) == WG_OK;
        args[nargs++] = &addr[b];
    }
    args[nargs] = &n;
    struct wg_launch l = {
        .size = sizeof l, .grid = {w->grid[0], w->grid[1], 1}, .block = {w->block[0], w->block[1], 1}, .args = args};
    struct work_time start = work_now();
    ok = ok && wg_launch(c->g, k, &l) == WG_OK;
    *t = work_since(start);
    if (ok && fetch)
        ok = wg_copy(c->g, w->host[w->output], (void *)(uintptr_t)addr[w->output], w->bytes[w->output]) == WG_OK;
    if (!ok)
        fail(c, w->kernel);
    for (unsigned b = 0; b < WORK_BUFFERS; b++)
        if (addr[b])
            wg_free(c->g, addr[b]);
    return ok;
}

/* Median of the ratios a/b of paired rounds, with the lowest and the highest. */
static void print_ratio(const char *what, const double *a, const double *b, unsigned rounds)
{
    double r[MAX_ROUNDS];
    for (unsigned i = 0; i < rounds; i++)
        r[i] = a[i] / b[i];
    double m = work_median(r, rounds);
    printf("    %-38s %6.2f  (%.2f to %.2f)\n", what, m, r[0], r[rounds - 1]);
}

static void print_times(const struct config *c, const struct work *w, unsigned rounds, double insts)
{
    double cpu[MAX_ROUNDS], wall[MAX_ROUNDS], ns = 1e9 / w->units;
    memcpy(cpu, c->cpu, sizeof cpu);
    memcpy(wall, c->wall, sizeof wall);
    double mc = work_median(cpu, rounds), mw = work_median(wall, rounds);
    printf("    %-24s %9.4f  (%.4f to %.4f) %12.4f  (%.4f to %.4f) %9.2f\n", c->name, mc * ns, cpu[0] * ns,
           cpu[rounds - 1] * ns, mw * ns, wall[0] * ns, wall[rounds - 1] * ns, insts / mc * 1e-9);
}

static void print_checks(const struct config *c, const struct work *w, unsigned size, unsigned rounds)
{
    double insts = c[0].lane_insts;
    printf("%s, n = %u: %.2f lane instructions per %s\n    %-14s %-30s %-14s %s\n", w->kernel, size, insts / w->units, w->unit,
           "", "CPU ns a unit", "G lane/CPU s", "times counters only");
    for (unsigned i = 0; i < CHECKS; i++) {
        double cpu[MAX_ROUNDS], ratio[MAX_ROUNDS], ns = 1e9 / w->units;
        for (unsigned r = 0; r < rounds; r++) {
            cpu[r] = c[i].cpu[r];
            ratio[r] = c[i].cpu[r] / c[0].cpu[r];
        }
        double m = work_median(cpu, rounds), x = work_median(ratio, rounds);
        printf("    %-14s %9.4f  (%.4f to %.4f) %9.2f       %6.2f  (%.2f to %.2f)\n", c[i].name, m * ns, cpu[0] * ns,
               cpu[rounds - 1] * ns, insts / m * 1e-9, x, ratio[0], ratio[rounds - 1]);
    }
    printf("\n");
    fflush(stdout);
}

static bool measure(struct config *c, unsigned nconfigs, const char *kernel, unsigned size, unsigned rounds, bool terse)
{
    const bool checks = c[1].tools;
    struct work w;
    if (!work_init(&w, kernel, size)) {
        fprintf(stderr, "bench_engine: cannot set up %s at size %u\n", kernel, size);
        return false;
    }
    bool ok = true;
    for (unsigned i = 0; ok && i < nconfigs; i++) { /* warm up, and see that it computes the right thing */
        struct work_time t;
        ok = run(&c[i], &w, &t, true);
        if (ok && !work_check(&w)) {
            fprintf(stderr, "bench_engine: %s: wrong result of %s at size %u\n", c[i].name, kernel, size);
            ok = false;
        }
        const struct wg_profile *p = wg_get_profile(c[i].g);
        const struct wg_launch_result *l = p && p->nlaunches ? &p->launches[p->nlaunches - 1] : NULL;
        if (ok && l && l->nfindings) {
            fprintf(stderr, "bench_engine: %s: %s: %s\n", c[i].name, kernel, l->findings[0].message);
            ok = false;
        }
        if (ok && c[i].counters && l)
            c[i].lane_insts = (double)l->total[WG_C_THREAD_INST];
    }
    for (unsigned r = 0; ok && r < rounds; r++)
        for (unsigned k = 0; ok && k < nconfigs; k++) { /* a different one first each round */
            unsigned i = (k + r) % nconfigs;
            struct work_time t;
            ok = run(&c[i], &w, &t, false);
            c[i].cpu[r] = t.cpu;
            c[i].wall[r] = t.wall;
            if (ok && terse && checks)
                printf("%s %u %s %.6g %.6g\n", kernel, size, c[i].name, t.cpu * 1e9 / w.units, c[0].lane_insts / t.cpu * 1e-9);
            else if (ok && terse)
                printf("%s %u %d %u %.6g %.6g\n", kernel, size, c[i].counters, c[i].jobs, t.cpu * 1e9 / w.units,
                       t.wall * 1e9 / w.units);
        }
    if (ok && !terse && checks) {
        print_checks(c, &w, size, rounds);
    } else if (ok && !terse) {
        double insts = c[1].lane_insts;
        printf("%s, n = %u: %.2f lane instructions per %s\n    %-24s %-30s %-31s %s\n", kernel, size, insts / w.units,
               w.unit, "", "CPU ns a unit", "   wall ns a unit", "G lane/CPU s");
        for (unsigned i = 0; i < nconfigs; i++)
            print_times(&c[i], &w, rounds, insts);
        print_ratio("CPU time with counters / without", c[1].cpu, c[0].cpu, rounds);
        if (nconfigs == CONFIGS)
            print_ratio("wall time of one worker / of all", c[1].wall, c[3].wall, rounds);
        printf("\n");
        fflush(stdout);
    }
    work_free(&w);
    return ok;
}

int main(int argc, char **argv)
{
    unsigned rounds = 5, jobs = 2, sizes[MAX_PICK] = {512, 1024}, nsizes = 0, nkernels = 0;
    const char *kernels[MAX_PICK];
    bool terse = false, checks = false;
    for (int o; (o = getopt(argc, argv, "r:j:k:n:ct")) != -1;) {
        unsigned v = o == 't' || o == 'c' ? 1 : (unsigned)atoi(optarg);
        if (o == 'r' && v >= 1 && v <= MAX_ROUNDS)
            rounds = v;
        else if (o == 'j' && v >= 1 && v <= 256)
            jobs = v;
        else if (o == 'n' && v && nsizes < MAX_PICK)
            sizes[nsizes++] = v;
        else if (o == 'k' && nkernels < MAX_PICK)
            kernels[nkernels++] = optarg;
        else if (o == 't')
            terse = true;
        else if (o == 'c')
            checks = true;
        else
            argc = 0; /* shows the usage */
    }
    if (argc == 0 || optind + 1 != argc) {
        fprintf(stderr, "usage: bench_engine [-r rounds] [-j workers] [-k kernel]... [-n size]... [-c] [-t] kernels.ptx\n");
        return 2;
    }
    for (size_t i = 0; !nkernels && i < sizeof all_kernels / sizeof *all_kernels; i++)
        kernels[i] = all_kernels[i];
    nkernels = nkernels ? nkernels : sizeof all_kernels / sizeof *all_kernels;
    nsizes = nsizes ? nsizes : 2;
    size_t n;
    char *ptx = read_file(argv[optind], &n);
    if (!n) {
        fprintf(stderr, "bench_engine: cannot read %s\n", argv[optind]);
        return 1;
    }
    struct config plain[CONFIGS] = {{"no counters, 1 worker", false, 1, 0},
                                    {"counters, 1 worker", true, 1, 0},
                                    {"no counters, all workers", false, jobs, 0},
                                    {"counters, all workers", true, jobs, 0}};
    struct config each[CHECKS] = {{"counters", true, 1, 0},
                                  {"memcheck", true, 1, WG_TOOL_MEMCHECK},
                                  {"racecheck", true, 1, WG_TOOL_RACECHECK},
                                  {"initcheck", true, 1, WG_TOOL_INITCHECK},
                                  {"synccheck", true, 1, WG_TOOL_SYNCCHECK},
                                  {"all", true, 1, WG_TOOL_MEMCHECK | WG_TOOL_RACECHECK | WG_TOOL_INITCHECK | WG_TOOL_SYNCCHECK}};
    struct config *c = checks ? each : plain;
    unsigned nconfigs = checks ? CHECKS : jobs > 1 ? CONFIGS : 2;
    bool ok = true;
    if (!terse && checks)
        printf("%u rounds, each configuration once a round, one worker; medians with range\n\n", rounds);
    else if (!terse)
        printf("%u rounds, each configuration once a round; medians; \"all workers\" is %u\n\n", rounds, jobs);
    for (unsigned i = 0; ok && i < nconfigs; i++)
        ok = open_config(&c[i], ptx, n, argv[optind]);
    for (unsigned k = 0; ok && k < nkernels; k++)
        for (unsigned s = 0; ok && s < nsizes; s++)
            ok = measure(c, nconfigs, kernels[k], sizes[s], rounds, terse);
    for (unsigned i = 0; i < nconfigs; i++)
        wg_close(c[i].g);
    free(ptx);
    return ok ? 0 : 1;
}
