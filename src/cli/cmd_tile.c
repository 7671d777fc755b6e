/* cmd_tile.c - `warpgrind tile`: what tiles of a matrix product save, and which fit a device. */
#include "cli/calc.h"
#include "model/tiling.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CMD "tile"

static void usage(void)
{
    puts("Usage: warpgrind tile --gemm MxNxK [--tile N | BMxBN] [--rect CxR] | --device D [options]\n"
         "The arithmetic of a tiled matrix product; with a device, the tiles that fit it, best bound first.\n\n"
         "  --gemm MxNxK       C (MxN) = A (MxK) x B (KxN)\n"
         "  --type f32         f32 (default), f64, f16 or bf16 (stored so, multiplied as f32)\n"
         "  --tile N | BMxBN   the tile of C that a block makes\n"
         "  --rect CxR         the rectangle of C that a thread keeps in registers\n"
         "  --device D         searches tiles, rectangles and stages for this device\n"
         "  --occupancy PCT    only those that reach this occupancy\n"
         "  --stages A..B      buffers in the pipeline; default 1..3\n"
         "  --top N            rows shown; default 8\n"
         "  --explain          the steps, with the numbers put in");
}

struct ask {
    struct wg_gemm g;
    struct wg_tile t;
    bool have_tile, have_rect, explain;
    const struct wg_gpu *gpu;
    struct wg_arena arena;
    double occupancy;
    unsigned from, to, top;
};

/* ---- arithmetic of one tile
 * ------------------------------------------------------------------------------------------ */
static void say_tile(const struct ask *a)
{
    struct wg_calc_text t = {0};
    const struct wg_gemm *g = &a->g;
    double naive = wg_gemm_reads_naive(g), tiled = wg_gemm_reads_tiled(g, &a->t),
           per = wg_tile_bytes_per_flop(g, &a->t);
    unsigned bm = a->t.bm, bn = a->t.bn;
    printf("tiles of %ux%u: %s reads, %s bytes; %.4g times fewer; %.6g flop/byte\n", bm, bn,
           wg_calc_grouped(&t, (uint64_t)tiled), wg_calc_grouped(&t, (uint64_t)tiled * g->bytes), naive / tiled,
           wg_gemm_flops(g) / (tiled * g->bytes));
    if (bm == bn)
        printf(
            "  %u/%u = %.6g bytes a flop; two %ux%u tiles take %s bytes of shared memory, four times as much at %u\n",
            g->bytes, bm, per, bm, bm, wg_calc_grouped(&t, 2ull * bm * bm * g->bytes), 2 * bm);
    else
        printf("  %.6g bytes a flop\n", per);
    if (a->explain) {
        printf("  1. a step of one along K brings %u + %u values to shared memory: %u bytes\n", bm, bn,
               (bm + bn) * g->bytes);
        printf("  2. they serve %u x %u multiply-adds: %u flops\n", bm, bn, 2 * bm * bn);
        printf("  3. %u / %u = %.6g bytes a flop\n", (bm + bn) * g->bytes, 2 * bm * bn, per);
    }
}

static void say_rect(const struct ask *a)
{
    unsigned c = a->t.tm, r = a->t.tn;
    printf("a %ux%u rectangle in registers: %u reads of shared memory for %u multiply-adds: %.6g bytes each\n", c, r,
           c + r, c * r, wg_tile_shared_bytes_per_madd(&a->g, &a->t));
    if (a->explain)
        printf("  %u x (%u + %u) / (%u x %u) = %.6g\n", a->g.bytes, c, r, c, r,
               wg_tile_shared_bytes_per_madd(&a->g, &a->t));
}

static int arithmetic(const struct ask *a)
{
    struct wg_calc_text t = {0};
    const struct wg_gemm *g = &a->g;
    if (g->m) {
        double naive = wg_gemm_reads_naive(g);
        printf("%llux%llux%llu, %u-byte values: %s flops, a multiply-add counted as two\n", (unsigned long long)g->m,
               (unsigned long long)g->n, (unsigned long long)g->k, g->bytes,
               wg_calc_grouped(&t, (uint64_t)wg_gemm_flops(g)));
        printf("naive: %s reads, %s bytes; %.6g flop/byte\n", wg_calc_grouped(&t, (uint64_t)naive),
               wg_calc_grouped(&t, (uint64_t)naive * g->bytes), 1.0 / g->bytes);
        if (a->explain)
            printf("  each multiply-add reads one value of A and one of B: 2 flops for %u bytes\n", 2 * g->bytes);
        if (a->have_tile)
            say_tile(a);
    }
    if (a->have_rect)
        say_rect(a);
    return 0;
}

/* ---- search
 * ------------------------------------------------------------------------------------------------------------- */
struct found {
    struct wg_tile t;
    struct wg_tile_fit f;
    unsigned class; /* tenths that the bound lies above the best */
};

/* Lowest bound first, to a tenth, which is all such bounds can tell; then least pressure on everything; then most
 * warps. */
static int better(const void *x, const void *y)
{
    const struct found *a = x, *b = y;
    double pa = 0, pb = 0;
    for (unsigned i = 0; i < WG_TILE_BOUNDS; i++)
        pa += a->f.seconds[i], pb += b->f.seconds[i];
    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    if (pa != pb)
        return pa < pb ? -1 : 1;
    if (a->f.occupancy.warps != b->f.occupancy.warps)
        return a->f.occupancy.warps > b->f.occupancy.warps ? -1 : 1;
    if (a->f.shared != b->f.shared)
        return a->f.shared < b->f.shared ? -1 : 1;
    return memcmp(&a->t, &b->t, sizeof a->t);
}

/* What keeps a candidate out, to say so when all are. */
enum out { IN, OUT_THREADS, OUT_REGISTERS, OUT_SHARED, OUT_OCCUPANCY, OUTS };

static enum out consider(const struct ask *a, const struct wg_tile *t, struct wg_tile_fit *f)
{
    if (t->bm % t->tm || t->bn % t->tn || t->tm > t->bm || t->tn > t->bn)
        return OUT_THREADS;
    unsigned threads = wg_tile_threads(t);
    if (threads < 64 || threads > a->gpu->cc->threads_per_block || threads % 32)
        return OUT_THREADS;
    wg_tile_evaluate(a->gpu, &a->g, t, f);
    if (f->registers > 255 || f->occupancy.never == WG_NEVER_REGS_BLOCK)
        return OUT_REGISTERS;
    if (f->occupancy.never)
        return OUT_SHARED;
    return f->occupancy.occupancy * 100 + 1e-9 < a->occupancy ? OUT_OCCUPANCY : IN;
}

static void show(const struct ask *a, const struct found *v, size_t n)
{
    struct wg_calc_text t = {0};
    printf("%-11s %-5s %-4s %-6s %7s %5s %9s %6s %10s %10s %9s  %s\n", "tile", "step", "rect", "stages", "threads",
           "regs", "shared, B", "occ, %", "B/flop L2", "B/madd sh", "bound, ms", "held by");
    for (size_t i = 0; i < n && i < a->top; i++) {
        char tile[24], rect[16];
        snprintf(tile, sizeof tile, "%ux%u", v[i].t.bm, v[i].t.bn);
        snprintf(rect, sizeof rect, "%ux%u", v[i].t.tm, v[i].t.tn);
        printf("%-11s %-5u %-4s %-6u %7u %5u %9s %6.1f %10.4f %10.4g %9.4f  %s%s\n", tile, v[i].t.bk, rect,
               v[i].t.stages, v[i].f.threads, v[i].f.registers, wg_calc_grouped(&t, v[i].f.shared),
               v[i].f.occupancy.occupancy * 100, wg_tile_bytes_per_flop(&a->g, &v[i].t),
               wg_tile_shared_bytes_per_madd(&a->g, &v[i].t), v[i].f.bound * 1e3, wg_tile_bound_name(v[i].f.holds),
               v[i].f.tail > 1.05 ? ", last wave" : "");
    }
    puts("Registers are estimated; bounds are the least time that arithmetic, shared memory, L2 or DRAM allow at the\n"
         "highest clock, times the last wave's loss. They rank; a kernel will take longer.");
    if (!a->explain || !n)
        return;
    const struct wg_tile_fit *f = &v[0].f;
    printf("The first row: %s flops; ", wg_calc_grouped(&t, (uint64_t)wg_gemm_flops(&a->g)));
    for (unsigned i = 0; i < WG_TILE_BOUNDS; i++)
        printf("%s %.4f ms%s", wg_tile_bound_name((enum wg_tile_bound)i), f->seconds[i] * 1e3,
               i + 1 < WG_TILE_BOUNDS ? ", " : "; the largest");
    printf(" x %.3f for the last wave = %.4f ms\n", f->tail, f->bound * 1e3);
}

static int search(const struct ask *a)
{
    static const unsigned sides[] = {16, 32, 64, 128, 256}, steps[] = {8, 16, 32}, rects[] = {1, 2, 4, 8, 16};
    size_t n = 0, cap = 5 * 5 * 3 * 5 * 5 * (size_t)(a->to - a->from + 1);
    unsigned why[OUTS] = {0};
    struct found *v = wg_calloc(cap, sizeof *v);
    if (!v)
        return wg_calc_fail(CMD, "out of memory");
    for (size_t i = 0; i < cap; i++) {
        size_t k = i;
        struct wg_tile t = {.stages = a->from + (unsigned)(k % (a->to - a->from + 1))};
        k /= a->to - a->from + 1;
        t.bm = sides[k % 5], k /= 5;
        t.bn = sides[k % 5], k /= 5;
        t.bk = steps[k % 3], k /= 3;
        t.tm = rects[k % 5], k /= 5;
        t.tn = rects[k];
        if ((a->have_tile && (t.bm != a->t.bm || t.bn != a->t.bn)) ||
            (a->have_rect && (t.tm != a->t.tm || t.tn != a->t.tn)))
            continue;
        enum out o = consider(a, &t, &v[n].f);
        why[o]++;
        if (o == IN)
            v[n++].t = t;
    }
    int r = 0;
    if (n) {
        printf("%s: %zu tiles fit", a->gpu->name, n);
        if (a->occupancy > 0)
            printf(" and reach %.4g %% occupancy", a->occupancy);
        putchar('\n');
        double best = v[0].f.bound;
        for (size_t i = 1; i < n; i++)
            best = v[i].f.bound < best ? v[i].f.bound : best;
        for (size_t i = 0; i < n; i++)
            v[i].class = (unsigned)((v[i].f.bound / best - 1) * 10);
        qsort(v, n, sizeof *v, better);
        show(a, v, n);
    } else {
        r = wg_calc_fail(
            CMD, "no tile fits: of those tried, registers stop %u, shared memory %u, the occupancy asked for %u",
            why[OUT_REGISTERS], why[OUT_SHARED], why[OUT_OCCUPANCY]);
    }
    free(v);
    return r;
}

/* ---- options
 * -------------------------------------------------------------------------------------------------------------- */
static bool shape(const char *name, const char *text, unsigned least, unsigned *a, unsigned *b)
{
    int n = 0;
    if (sscanf(text, "%ux%u%n", a, b, &n) != 2 || !n || text[n]) {
        n = 0;
        if (least > 1 || sscanf(text, "%u%n", a, &n) != 1 || !n || text[n])
            n = -1;
        *b = *a;
    }
    if (n > 0 && *a >= 1 && *b >= 1 && *a <= 4096 && *b <= 4096)
        return true;
    wg_calc_fail(CMD, "%s takes sizes from 1 to 4096 such as 8x8, not '%s'", name, text);
    return false;
}

static bool gemm(struct ask *a, const char *text)
{
    unsigned long long m, n, k;
    int end = 0;
    if (sscanf(text, "%llux%llux%llu%n", &m, &n, &k, &end) != 3 || !end || text[end] || strchr(text, '-') || !m || !n ||
        !k || m > 1 << 20 || n > 1 << 20 || k > 1 << 20) {
        wg_calc_fail(CMD, "--gemm takes MxNxK, each from 1 to 1048576, not '%s'", text);
        return false;
    }
    a->g.m = m, a->g.n = n, a->g.k = k;
    return true;
}

static bool type(struct ask *a, const char *text)
{
    static const struct {
        const char *name;
        unsigned bytes;
    } types[] = {{"f32", 4}, {"f64", 8}, {"f16", 2}, {"bf16", 2}};
    for (size_t i = 0; i < 4; i++)
        if (strcmp(types[i].name, text) == 0) {
            a->g.bytes = types[i].bytes;
            return true;
        }
    wg_calc_fail(CMD, "--type takes f32, f64, f16 or bf16, not '%s'", text);
    return false;
}

static bool stages(struct ask *a, const char *text)
{
    int n = 0;
    if (sscanf(text, "%u..%u%n", &a->from, &a->to, &n) != 2 || !n) {
        n = 0;
        if (sscanf(text, "%u%n", &a->from, &n) != 1)
            n = 0;
        a->to = a->from;
    }
    if (n && !text[n] && a->from >= 1 && a->from <= a->to && a->to <= 16)
        return true;
    wg_calc_fail(CMD, "--stages takes 1 to 16, as in 2 or 2..4, not '%s'", text);
    return false;
}

enum { O_GEMM = 256, O_TYPE, O_TILE, O_RECT, O_DEVICE, O_OCCUPANCY, O_STAGES, O_TOP, O_EXPLAIN, O_HELP };
static const struct option options[] = {{"gemm", 1, 0, O_GEMM},
                                        {"type", 1, 0, O_TYPE},
                                        {"tile", 1, 0, O_TILE},
                                        {"rect", 1, 0, O_RECT},
                                        {"device", 1, 0, O_DEVICE},
                                        {"occupancy", 1, 0, O_OCCUPANCY},
                                        {"stages", 1, 0, O_STAGES},
                                        {"top", 1, 0, O_TOP},
                                        {"explain", 0, 0, O_EXPLAIN},
                                        {"help", 0, 0, O_HELP},
                                        {0, 0, 0, 0}};

static bool take(struct ask *a, int o)
{
    struct wg_diag d = {0};
    uint64_t v;
    char *percent;
    switch (o) {
    case O_GEMM: return gemm(a, optarg);
    case O_TYPE: return type(a, optarg);
    case O_TILE: a->have_tile = true; return shape("--tile", optarg, 1, &a->t.bm, &a->t.bn);
    case O_RECT: a->have_rect = true; return shape("--rect", optarg, 2, &a->t.tm, &a->t.tn);
    case O_DEVICE:
        if (wg_gpu_open(optarg, &a->arena, &a->gpu, &d))
            return wg_calc_fail(CMD, "--device: %s", d.text), false;
        return true;
    case O_OCCUPANCY:
        percent = strchr(optarg, '%');
        if (percent && !percent[1])
            *percent = 0;
        if (!wg_calc_real(CMD, "--occupancy", optarg, &a->occupancy))
            return false;
        return a->occupancy <= 100 || (wg_calc_fail(CMD, "--occupancy takes a percentage up to 100"), false);
    case O_STAGES: return stages(a, optarg);
    case O_TOP:
        if (!wg_calc_number(CMD, "--top", optarg, 10000, &v))
            return false;
        a->top = (unsigned)v;
        return true;
    case O_EXPLAIN: a->explain = true; return true;
    default: fprintf(stderr, "Try: warpgrind " CMD " --help\n"); return false;
    }
}

int wg_cmd_tile(int argc, char **argv)
{
    struct ask a = {.g = {.bytes = 4}, .t = {.stages = 1}, .from = 1, .to = 3, .top = 8};
    int r = 0;
    optind = 0;
    for (int o; !r && (o = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        if (o == O_HELP || o == 'h') {
            usage();
            return 0;
        }
        r = !take(&a, o);
    }
    if (!r && optind < argc)
        r = wg_calc_fail(CMD, "unexpected '%s'", argv[optind]);
    if (!r && !a.g.m && (a.gpu || a.have_tile || !a.have_rect))
        r = wg_calc_fail(CMD, "--gemm MxNxK is missing");
    if (!r && a.occupancy > 0 && !a.gpu)
        r = wg_calc_fail(CMD, "--occupancy needs --device");
    if (!r)
        r = a.gpu ? search(&a) : arithmetic(&a);
    wg_arena_free(&a.arena);
    return r;
}
