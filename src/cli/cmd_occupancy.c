/* cmd_occupancy.c - `warpgrind occupancy`: blocks an SM holds, what limits them, what would have to change. */
#include "cli/calc.h"
#include "model/occupancy.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CMD "occupancy"

static void usage(void)
{
    puts("Usage: warpgrind occupancy --cc X.Y | --device NAME | --sm LIMITS  --threads N [options]\n"
         "How many blocks an SM holds, what limits them, and what would have to change.\n\n"
         "  --cc X.Y             compute capability, 5.0 to 12.1\n"
         "  --device NAME        a device or a device file (warpgrind devices lists them)\n"
         "  --sm LIMITS          an SM by hand: regs=65536,threads=2048,warps=64,blocks=32,smem=102400;\n"
         "                       what is left out does not limit\n"
         "  --granularity none|X.Y  allocation units: plain division (default with --sm), or those of a\n"
         "                       compute capability\n"
         "  --threads N          threads a block\n"
         "  --regs N             registers a thread\n"
         "  --static-smem B      shared memory a block declares, in bytes\n"
         "  --dynamic-smem B     shared memory given at launch\n"
         "  --carveout PCT       preferred shared-memory carve-out, percent; default: no preference\n"
         "  --barriers N         barriers a block uses (counted from compute capability 9.0); default 1\n"
         "  --no-optin           the kernel has not opted in to more than the default shared memory\n"
         "  --grid N             blocks of the launch: prints waves (needs --device)\n"
         "  --cluster N          blocks a cluster: prints clusters resident (needs --device, estimated)\n"
         "  --target PCT         the inverse: registers, shared memory, block sizes that reach it\n"
         "  --curve regs|smem|threads  occupancy over one of them\n"
         "  --explain            the steps, with the numbers put in\n"
         "  --csv                one line of comma-separated values under a header\n"
         "  --batch FILE         answer each row of a CSV file (- is standard input) with columns cc, threads,\n"
         "                       regs, static_smem, dynamic_smem, carveout_pct, barriers; prints CSV");
}

struct ask {
    struct wg_arena arena;
    const struct wg_gpu *gpu;
    struct wg_cc cc;
    bool have_cc, by_hand, plain;
    struct wg_occupancy_query q;
    uint64_t grid, cluster;
    double target; /* percent; 0: not asked */
    const char *curve, *batch;
    bool explain, csv;
};

static const char csv_header[] =
    "cc,threads,regs,static_smem,dynamic_smem,carveout_pct,barriers,active_blocks,limit_regs,"
    "limit_smem,limit_warps,limit_blocks,occupancy,limiting_mask";

static long long csv_limit(unsigned l) { return l == WG_NO_LIMIT ? -1 : (long long)l; }

static void csv_row(const struct wg_cc *cc, const struct wg_occupancy_query *q)
{
    struct wg_occupancy o;
    wg_occupancy(cc, q, &o);
    printf("%u.%u,%u,%u,%llu,%llu,%d,%u,%u,%lld,%lld,%lld,%lld,%.6f,%u\n", cc->major, cc->minor, q->threads, q->regs,
           (unsigned long long)q->static_shared, (unsigned long long)q->dynamic_shared, q->carveout, q->barriers,
           o.blocks, csv_limit(o.limit[WG_LIMIT_REGISTERS]), csv_limit(o.limit[WG_LIMIT_SHARED]),
           csv_limit(o.limit[WG_LIMIT_WARPS]), csv_limit(o.limit[WG_LIMIT_BLOCKS]), o.occupancy, o.reported);
}

/* ---- batch ------------------------------------------------------------------------------------------------------- */
enum column {
    COL_CC,
    COL_THREADS,
    COL_REGS,
    COL_STATIC,
    COL_DYNAMIC,
    COL_CARVEOUT,
    COL_BARRIERS,
    COL_COUNT,
    COL_OTHER
};
static const char *const column_names[COL_COUNT] = {"cc",           "threads",      "regs",    "static_smem",
                                                    "dynamic_smem", "carveout_pct", "barriers"};

static int bad_row(const char *file, unsigned line, const char *what, const char *field)
{
    return wg_calc_unread(CMD, "%s:%u: %s '%s'", file, line, what, field);
}

static int batch_row(const char *file, unsigned line, char *text, const enum column *cols, unsigned ncols)
{
    struct wg_occupancy_query q = {.carveout = -1, .barriers = 1};
    const struct wg_cc *cc = NULL;
    char *p = text;
    for (unsigned c = 0; c < ncols; c++) {
        char *field = p, *end;
        if (!p)
            return bad_row(file, line, "a column is missing:", cols[c] < COL_COUNT ? column_names[cols[c]] : "?");
        p = strchr(p, ',');
        if (p)
            *p++ = 0;
        if (cols[c] == COL_OTHER)
            continue;
        if (cols[c] == COL_CC) {
            struct wg_diag d = {0};
            cc = wg_cc_parse(field, &d);
            if (!cc)
                return wg_calc_unread(CMD, "%s:%u: %s", file, line, d.text);
            continue;
        }
        errno = 0;
        long long v = strtoll(field, &end, 10);
        if (end == field || *end || errno || v < (cols[c] == COL_CARVEOUT ? -1 : 0) ||
            v > (cols[c] == COL_CARVEOUT ? 100 : 1 << 30) || (cols[c] == COL_THREADS && v == 0))
            return bad_row(file, line, column_names[cols[c]], field);
        switch (cols[c]) {
        case COL_THREADS: q.threads = (unsigned)v; break;
        case COL_REGS: q.regs = (unsigned)v; break;
        case COL_STATIC: q.static_shared = (uint64_t)v; break;
        case COL_DYNAMIC: q.dynamic_shared = (uint64_t)v; break;
        case COL_CARVEOUT: q.carveout = (int)v; break;
        default: q.barriers = (unsigned)v; break;
        }
    }
    csv_row(cc, &q);
    return 0;
}

static int batch_lines(const char *file, FILE *in)
{
    enum column cols[64];
    unsigned ncols = 0, line = 0, seen = 0;
    char text[4096];
    while (fgets(text, sizeof text, in)) {
        line++;
        size_t n = strcspn(text, "\r\n");
        if (n == sizeof text - 1)
            return wg_calc_unread(CMD, "%s:%u: line too long", file, line);
        text[n] = 0;
        if (!*text)
            continue;
        if (ncols) {
            int r = batch_row(file, line, text, cols, ncols);
            if (r)
                return r;
            continue;
        }
        char *save;
        for (char *t = strtok_r(text, ",", &save); t && ncols < 64; t = strtok_r(NULL, ",", &save)) {
            unsigned k = 0;
            while (k < COL_COUNT && strcmp(column_names[k], t) != 0)
                k++;
            cols[ncols++] = k < COL_COUNT ? (enum column)k : COL_OTHER; /* answers already there are overwritten */
            seen |= k < COL_COUNT ? 1u << k : 0;
        }
        if ((seen & (1u << COL_CC | 1u << COL_THREADS)) != (1u << COL_CC | 1u << COL_THREADS))
            return wg_calc_unread(CMD, "%s:%u: the header must name at least the columns cc and threads", file, line);
        puts(csv_header);
    }
    if (ferror(in))
        return wg_calc_unread(CMD, "cannot read %s: %s", file, strerror(errno));
    return ncols ? 0 : wg_calc_unread(CMD, "%s is empty", file);
}

static int batch(const char *file)
{
    if (strcmp(file, "-") == 0)
        return batch_lines("standard input", stdin);
    FILE *in = fopen(file, "r");
    if (!in)
        return wg_calc_unread(CMD, "cannot read %s: %s", file, strerror(errno));
    int r = batch_lines(file, in);
    fclose(in);
    return r;
}

/* ---- the answer in words ------------------------------------------------------------------------------------------
 */
static void print_number(struct wg_calc_text *t, unsigned v, int width)
{
    printf("%*s", width, v == WG_NO_LIMIT ? "no limit" : wg_calc_grouped(t, v));
}

static void print_limits(const struct ask *a, const struct wg_occupancy *o)
{
    const struct wg_cc *cc = &a->cc;
    struct wg_calc_text t = {0};
    const unsigned takes[WG_LIMIT_COUNT] = {o->warps_per_block, o->regs_per_block, o->smem_per_block, 1, a->q.barriers,
                                            a->q.virtual_resources};
    const unsigned has[WG_LIMIT_COUNT] = {cc->warps_per_sm, cc->regs_per_sm, o->smem_per_sm, cc->blocks_per_sm,
                                          cc->barriers_per_sm, cc->virtual_per_sm};
    printf("\n  %-18s %13s %13s %9s\n", "resource", "a block takes", "an SM has", "blocks");
    for (unsigned i = 0; i < WG_LIMIT_COUNT; i++) {
        if (o->limit[i] == WG_NO_LIMIT && i != WG_LIMIT_REGISTERS && i != WG_LIMIT_SHARED)
            continue;
        if (a->by_hand && has[i] == WG_NO_LIMIT)
            continue;
        printf("  %-18s ", i == WG_LIMIT_SHARED ? "shared memory, B" : wg_limit_name((enum wg_limit)i));
        print_number(&t, takes[i], 13);
        print_number(&t, has[i], 14);
        print_number(&t, o->limit[i], 10);
        puts(o->limiting >> i & 1 ? "  <- limits" : "");
    }
}

static void print_left(const struct ask *a, const struct wg_occupancy *o)
{
    struct wg_calc_text t = {0};
    const char *sep = "";
    printf("  stranded: ");
    if (a->cc.regs_per_sm != WG_NO_LIMIT)
        printf("%s registers", wg_calc_grouped(&t, o->left_regs)), sep = ", ";
    if (a->cc.warps_per_sm != WG_NO_LIMIT)
        printf("%s%s warps", sep, wg_calc_grouped(&t, o->left_warps)), sep = ", ";
    if (a->cc.smem_per_sm != WG_NO_LIMIT)
        printf("%s%s bytes of shared memory", sep, wg_calc_grouped(&t, o->left_smem)), sep = ", ";
    if (a->cc.blocks_per_sm != WG_NO_LIMIT)
        printf("%s%s block slots", sep, wg_calc_grouped(&t, o->left_blocks));
    putchar('\n');
}

/* The next steps up: how few registers, how little shared memory, give one more block, and the most that can be had. */
static void print_thresholds(const struct ask *a, const struct wg_occupancy *o)
{
    const struct wg_cc *cc = &a->cc;
    if (cc->warps_per_sm == WG_NO_LIMIT || o->occupancy >= 1)
        return;
    unsigned last = o->warps;
    for (unsigned warps = o->warps + 1; warps <= cc->warps_per_sm; warps++) {
        uint64_t v;
        struct wg_occupancy_query q = a->q;
        struct wg_occupancy then;
        if ((o->limiting >> WG_LIMIT_REGISTERS & 1) && wg_occupancy_most_regs(cc, q, warps, &v) == WG_OK &&
            v < a->q.regs) {
            q.regs = (unsigned)v;
            wg_occupancy(cc, &q, &then);
            if (then.warps > last)
                printf("  %u or fewer registers a thread: %u blocks, %.1f %%\n", q.regs, then.blocks,
                       then.occupancy * 100);
            last = then.warps > last ? then.warps : last;
        } else if ((o->limiting >> WG_LIMIT_SHARED & 1) && wg_occupancy_most_shared(cc, q, warps, &v) == WG_OK &&
                   v < q.static_shared + q.dynamic_shared) {
            struct wg_calc_text t = {0};
            q.static_shared = 0;
            q.dynamic_shared = v;
            q.dynamic_allowed = 0;
            wg_occupancy(cc, &q, &then);
            if (then.warps > last)
                printf("  %s or fewer bytes of shared memory a block: %u blocks, %.1f %%\n", wg_calc_grouped(&t, v),
                       then.blocks, then.occupancy * 100);
            last = then.warps > last ? then.warps : last;
        }
    }
}

static void explain(const struct ask *a, const struct wg_occupancy *o)
{
    const struct wg_cc *cc = &a->cc;
    const struct wg_occupancy_query *q = &a->q;
    unsigned n = 1;
    printf("\n  %u. %u threads / 32 threads a warp, rounded up = %u warps a block\n", n++, q->threads,
           o->warps_per_block);
    if (cc->warps_per_sm != WG_NO_LIMIT)
        printf("  %u. %u warps an SM / %u = %u blocks\n", n++, cc->warps_per_sm, o->warps_per_block,
               cc->warps_per_sm / o->warps_per_block);
    if (cc->regs_per_sm != WG_NO_LIMIT && q->regs) {
        printf("  %u. %u registers x 32 threads = %u a warp", n++, q->regs, q->regs * 32);
        if (cc->reg_unit > 1)
            printf(", given in units of %u: %u", cc->reg_unit, o->regs_per_warp);
        printf("; x %u warps = %u a block\n", o->warps_per_block, o->regs_per_block);
        if (cc->sub_partitions > 1 && o->limit[WG_LIMIT_REGISTERS])
            printf("     %u registers / %u partitions / %u a warp, rounded down = %u warps a partition, %u an SM;"
                   " / %u = %u blocks\n", cc->regs_per_sm, cc->sub_partitions, o->regs_per_warp,
                   cc->regs_per_sm / cc->sub_partitions / o->regs_per_warp,
                   cc->regs_per_sm / cc->sub_partitions / o->regs_per_warp * cc->sub_partitions, o->warps_per_block,
                   o->limit[WG_LIMIT_REGISTERS]);
        else if (o->limit[WG_LIMIT_REGISTERS])
            printf("     %u registers an SM / %u = %u blocks\n", cc->regs_per_sm, o->regs_per_block,
                   o->limit[WG_LIMIT_REGISTERS]);
    }
    if (cc->smem_per_sm != WG_NO_LIMIT && o->smem_per_block) {
        printf("  %u. %llu static + %llu dynamic", n++, (unsigned long long)q->static_shared,
               (unsigned long long)q->dynamic_shared);
        if (cc->smem_reserved)
            printf(" + %u for the driver", cc->smem_reserved);
        printf(" = %llu bytes", (unsigned long long)(q->static_shared + q->dynamic_shared + cc->smem_reserved));
        if (cc->smem_unit > 1)
            printf(", given in units of %u: %u", cc->smem_unit, o->smem_per_block);
        if (o->limit[WG_LIMIT_SHARED])
            printf("\n     the SM is set to %u bytes; / %u = %u blocks", o->smem_per_sm, o->smem_per_block,
                   o->limit[WG_LIMIT_SHARED]);
        putchar('\n');
    }
    if (cc->blocks_per_sm != WG_NO_LIMIT)
        printf("  %u. an SM has %u block slots\n", n++, cc->blocks_per_sm);
    if (o->limit[WG_LIMIT_BARRIERS] != WG_NO_LIMIT)
        printf("  %u. %u barriers an SM / %u a block = %u blocks\n", n++, cc->barriers_per_sm, q->barriers,
               o->limit[WG_LIMIT_BARRIERS]);
    printf("  %u. the smallest is %u blocks x %u warps = %u warps", n, o->blocks, o->warps_per_block, o->warps);
    if (cc->warps_per_sm != WG_NO_LIMIT)
        printf("; / %u = %.2f %%", cc->warps_per_sm, o->occupancy * 100);
    putchar('\n');
}

static int answer(const struct ask *a)
{
    const struct wg_cc *cc = &a->cc;
    struct wg_occupancy o;
    struct wg_calc_text t = {0};
    char limits[128], why[256];
    wg_occupancy(cc, &a->q, &o);
    printf("%u threads x %u registers, %s bytes of shared memory a block, on ", a->q.threads, a->q.regs,
           wg_calc_grouped(&t, a->q.static_shared + a->q.dynamic_shared));
    if (a->by_hand)
        puts("an SM given by hand");
    else if (a->gpu)
        printf("%s (compute capability %u.%u)\n", a->gpu->name, cc->major, cc->minor);
    else
        printf("compute capability %u.%u (%s)\n", cc->major, cc->minor, cc->arch);
    if (!o.blocks) {
        wg_occupancy_never_text(cc, &a->q, o.never, why, sizeof why);
        printf("  no block fits: %s\n", *why ? why : "the SM is too small for one");
        if (a->explain)
            explain(a, &o);
        return 0;
    }
    wg_occupancy_limits_text(o.limiting, limits, sizeof limits);
    printf("  %u block%s, %u threads", o.blocks, o.blocks == 1 ? "" : "s", o.threads);
    if (cc->warps_per_sm != WG_NO_LIMIT)
        printf(", %u of %u warps: occupancy %.4g %%", o.warps, cc->warps_per_sm, o.occupancy * 100);
    printf("\n  limited by %s%s\n", limits, o.limiting & (o.limiting - 1) ? " (a tie)" : "");
    if (a->explain)
        explain(a, &o);
    print_limits(a, &o);
    print_left(a, &o);
    print_thresholds(a, &o);
    if (a->gpu && a->grid) {
        double waves = wg_occupancy_waves(a->gpu, &o, a->grid), full = (double)(uint64_t)waves;
        printf("  %s blocks over %.0f SMs x %u: %.2f waves%s\n", wg_calc_grouped(&t, a->grid), a->gpu->sms, o.blocks,
               waves, waves > full && full >= 1 ? ", the last one partly empty" : "");
    }
    if (a->gpu && a->cluster) {
        unsigned c = wg_occupancy_clusters(a->gpu, &o, (unsigned)a->cluster);
        if (c)
            printf("  clusters of %llu blocks: about %u resident on the device (estimated: SMs spread evenly over %.0f "
                   "GPCs)%s\n",
                   (unsigned long long)a->cluster, c, a->gpu->gpcs,
                   a->cluster > cc->cluster_portable ? "; this size needs the non-portable attribute" : "");
        else if (!cc->cluster_max)
            printf("  clusters: compute capability %u.%u has none\n", cc->major, cc->minor);
        else
            printf("  clusters of %llu blocks: none fits (at most %u blocks a cluster)\n",
                   (unsigned long long)a->cluster, cc->cluster_max);
    }
    return 0;
}

/* ---- the inverse ----------------------------------------------------------------------------------------------------
 */
static int target(const struct ask *a)
{
    const struct wg_cc *cc = &a->cc;
    struct wg_calc_text t = {0};
    if (cc->warps_per_sm == WG_NO_LIMIT)
        return wg_calc_fail(CMD, "--target needs an SM whose warps or threads are limited");
    unsigned warps = 0;
    while (warps < cc->warps_per_sm && warps * 100.0 < a->target * cc->warps_per_sm - 1e-9)
        warps++;
    printf("%.4g %% of %u warps is %u warps an SM\n", a->target, cc->warps_per_sm, warps);
    bool any = false;
    uint64_t v;
    if (a->q.threads) {
        struct wg_occupancy o;
        wg_occupancy(cc, &a->q, &o);
        char limits[128];
        wg_occupancy_limits_text(o.limiting, limits, sizeof limits);
        printf("  as asked: %u warps, %.4g %%: %s\n", o.warps, o.occupancy * 100,
               o.warps >= warps && o.blocks ? "reaches it" : "does not reach it");
        any |= o.warps >= warps && o.blocks;
        if (wg_occupancy_most_regs(cc, a->q, warps, &v) == WG_OK)
            printf("  registers: %llu or fewer a thread, all else equal\n", (unsigned long long)v), any = true;
        else
            printf("  registers: no count reaches it; %s stop it\n", o.never ? "other limits" : limits);
        if (wg_occupancy_most_shared(cc, a->q, warps, &v) == WG_OK)
            printf("  shared memory: %s bytes or fewer a block, all else equal\n", wg_calc_grouped(&t, v)), any = true;
        else
            printf("  shared memory: no size reaches it; %s stop it\n", o.never ? "other limits" : limits);
    }
    printf("  block sizes with %u registers and %s bytes of shared memory:", a->q.regs,
           wg_calc_grouped(&t, a->q.static_shared + a->q.dynamic_shared));
    bool sizes = false;
    for (unsigned threads = 32; threads <= cc->threads_per_block && threads <= 1024; threads += 32) {
        struct wg_occupancy_query q = a->q;
        struct wg_occupancy o;
        q.threads = threads;
        wg_occupancy(cc, &q, &o);
        if (o.warps >= warps && o.blocks)
            printf("%s %u", sizes ? "," : "", threads), sizes = true;
    }
    puts(sizes ? "" : " none");
    return any || sizes ? 0 : wg_calc_fail(CMD, "%.4g %% cannot be reached by changing one of these alone", a->target);
}

static int curve(const struct ask *a)
{
    const struct wg_cc *cc = &a->cc;
    unsigned what = strcmp(a->curve, "regs") == 0 ? 0 : strcmp(a->curve, "smem") == 0 ? 1 : 2;
    uint64_t from = what == 0 ? 16 : what == 1 ? 0 : 32, step = what == 0 ? 1 : what == 1 ? 256 : 32;
    uint64_t to = what == 0 ? 255 : what == 1 ? cc->smem_per_block_optin : 1024;
    if (cc->warps_per_sm == WG_NO_LIMIT)
        return wg_calc_fail(CMD, "--curve needs an SM whose warps or threads are limited");
    if (what == 1 && to == WG_NO_LIMIT)
        return wg_calc_fail(CMD, "--curve smem needs an SM whose shared memory is limited");
    printf("%10s %7s %10s\n", what == 0 ? "registers" : what == 1 ? "bytes" : "threads", "blocks", "occupancy");
    struct wg_occupancy prev = {.blocks = UINT32_MAX};
    for (uint64_t v = from; v <= to; v += step) {
        struct wg_occupancy_query q = a->q;
        struct wg_occupancy o, next = {.blocks = UINT32_MAX};
        *(what == 0 ? &q.regs : what == 2 ? &q.threads : &(unsigned){0}) = (unsigned)v;
        if (what == 1) {
            q.static_shared = q.dynamic_allowed = 0;
            q.dynamic_shared = v;
        }
        wg_occupancy(cc, &q, &o);
        struct wg_occupancy_query q2 = q;
        if (what == 0)
            q2.regs += (unsigned)step;
        else
            q2.dynamic_shared += step;
        if (what != 2 && v + step <= to)
            wg_occupancy(cc, &q2, &next);
        /* over registers and shared memory only the last value of each step is shown */
        if (what == 2 || next.blocks != o.blocks) {
            char bar[41];
            unsigned n = (unsigned)(o.occupancy * 40 + 0.5);
            memset(bar, '#', n);
            bar[n] = 0;
            bool here = what == 0   ? q.regs >= a->q.regs && (prev.blocks == UINT32_MAX || prev.left_blocks < a->q.regs)
                        : what == 2 ? q.threads == a->q.threads
                                    : false;
            printf("%10llu %7u %8.2f %% %s%s\n", (unsigned long long)v, o.blocks, o.occupancy * 100, bar,
                   here ? " <- asked" : "");
            prev = o;
            prev.left_blocks = (unsigned)v;
        }
    }
    return 0;
}

/* ---- options
 * --------------------------------------------------------------------------------------------------------- */
static bool sm_by_hand(struct ask *a, char *text)
{
    struct wg_cc *cc = &a->cc;
    struct { const char *name; unsigned *to; } keys[] = {
        {"regs", &cc->regs_per_sm}, {"threads", &cc->threads_per_sm}, {"warps", &cc->warps_per_sm},
        {"blocks", &cc->blocks_per_sm}, {"smem", &cc->smem_per_sm}};
    *cc = (struct wg_cc){.arch = "by hand",
                         .chips = "",
                         .source = "",
                         .threads_per_block = 1024,
                         .regs_per_thread = 255,
                         .regs_per_sm = WG_NO_LIMIT,
                         .threads_per_sm = WG_NO_LIMIT,
                         .warps_per_sm = WG_NO_LIMIT,
                         .blocks_per_sm = WG_NO_LIMIT,
                         .smem_per_sm = WG_NO_LIMIT};
    char *save;
    for (char *t = strtok_r(text, ",", &save); t; t = strtok_r(NULL, ",", &save)) {
        char *eq = strchr(t, '=');
        unsigned k = 0;
        while (k < 5 &&
               (!eq || strlen(keys[k].name) != (size_t)(eq - t) || strncmp(keys[k].name, t, (size_t)(eq - t)) != 0))
            k++;
        uint64_t v;
        if (k == 5) {
            wg_calc_fail(CMD, "--sm takes regs=, threads=, warps=, blocks= and smem=, not '%s'", t);
            return false;
        }
        if (!wg_calc_number(CMD, keys[k].name, eq + 1, 1u << 30, &v))
            return false;
        *keys[k].to = (unsigned)v;
    }
    if (cc->threads_per_sm != WG_NO_LIMIT && cc->warps_per_sm > cc->threads_per_sm / 32)
        cc->warps_per_sm = cc->threads_per_sm / 32;
    cc->regs_per_block = cc->regs_per_sm;
    a->by_hand = a->have_cc = true;
    return true;
}

static bool units_of(struct ask *a, const char *text)
{
    struct wg_diag d = {0};
    if (strcmp(text, "none") == 0) {
        a->plain = true;
        return true;
    }
    const struct wg_cc *cc = wg_cc_parse(text, &d);
    if (!cc) {
        wg_calc_fail(CMD, "--granularity: %s", d.text);
        return false;
    }
    struct wg_cc *to = &a->cc;
    to->reg_unit = cc->reg_unit, to->sub_partitions = cc->sub_partitions, to->smem_unit = cc->smem_unit;
    to->smem_reserved = cc->smem_reserved;
    a->plain = false;
    return true;
}

enum {
    O_CC = 256,
    O_DEVICE,
    O_SM,
    O_GRANULARITY,
    O_THREADS,
    O_REGS,
    O_STATIC,
    O_DYNAMIC,
    O_CARVEOUT,
    O_BARRIERS,
    O_NO_OPTIN,
    O_GRID,
    O_CLUSTER,
    O_TARGET,
    O_CURVE,
    O_EXPLAIN,
    O_CSV,
    O_BATCH,
    O_HELP
};
static const struct option options[] = {{"cc", 1, 0, O_CC},
                                        {"device", 1, 0, O_DEVICE},
                                        {"sm", 1, 0, O_SM},
                                        {"granularity", 1, 0, O_GRANULARITY},
                                        {"threads", 1, 0, O_THREADS},
                                        {"regs", 1, 0, O_REGS},
                                        {"static-smem", 1, 0, O_STATIC},
                                        {"dynamic-smem", 1, 0, O_DYNAMIC},
                                        {"carveout", 1, 0, O_CARVEOUT},
                                        {"barriers", 1, 0, O_BARRIERS},
                                        {"no-optin", 0, 0, O_NO_OPTIN},
                                        {"grid", 1, 0, O_GRID},
                                        {"cluster", 1, 0, O_CLUSTER},
                                        {"target", 1, 0, O_TARGET},
                                        {"curve", 1, 0, O_CURVE},
                                        {"explain", 0, 0, O_EXPLAIN},
                                        {"csv", 0, 0, O_CSV},
                                        {"batch", 1, 0, O_BATCH},
                                        {"help", 0, 0, O_HELP},
                                        {0, 0, 0, 0}};

static bool set_number(const char *name, uint64_t most, unsigned *to)
{
    uint64_t v;
    if (!wg_calc_number(CMD, name, optarg, most, &v))
        return false;
    *to = (unsigned)v;
    return true;
}

/* One option; false after saying what is wrong. */
static bool take(struct ask *a, int o, const char **granularity)
{
    struct wg_diag d = {0};
    unsigned v;
    char *percent;
    switch (o) {
    case O_CC: {
        const struct wg_cc *cc = wg_cc_parse(optarg, &d);
        if (cc)
            a->cc = *cc, a->have_cc = true;
        else
            wg_calc_fail(CMD, "--cc: %s", d.text);
        return cc != NULL;
    }
    case O_DEVICE:
        if (wg_gpu_open(optarg, &a->arena, &a->gpu, &d)) {
            wg_calc_fail(CMD, "--device: %s", d.text);
            return false;
        }
        a->cc = *a->gpu->cc, a->have_cc = true;
        return true;
    case O_SM: return sm_by_hand(a, optarg);
    case O_GRANULARITY: *granularity = optarg; return true;
    case O_THREADS: return set_number("--threads", 1 << 20, &a->q.threads);
    case O_REGS: return set_number("--regs", 1 << 16, &a->q.regs);
    case O_STATIC: return wg_calc_number(CMD, "--static-smem", optarg, 1 << 30, &a->q.static_shared);
    case O_DYNAMIC: return wg_calc_number(CMD, "--dynamic-smem", optarg, 1 << 30, &a->q.dynamic_shared);
    case O_CARVEOUT:
        if (!set_number("--carveout", 100, &v))
            return false;
        a->q.carveout = (int)v;
        return true;
    case O_BARRIERS: return set_number("--barriers", 1024, &a->q.barriers);
    case O_NO_OPTIN: a->q.no_optin = true; return true;
    case O_GRID: return wg_calc_number(CMD, "--grid", optarg, UINT64_MAX >> 12, &a->grid);
    case O_CLUSTER: return wg_calc_number(CMD, "--cluster", optarg, 1024, &a->cluster);
    case O_TARGET:
        percent = strchr(optarg, '%');
        if (percent && !percent[1])
            *percent = 0;
        if (!wg_calc_real(CMD, "--target", optarg, &a->target))
            return false;
        if (a->target <= 0 || a->target > 100) {
            wg_calc_fail(CMD, "--target takes a percentage above 0 and up to 100");
            return false;
        }
        return true;
    case O_CURVE:
        a->curve = optarg;
        if (strcmp(optarg, "regs") != 0 && strcmp(optarg, "smem") != 0 && strcmp(optarg, "threads") != 0) {
            wg_calc_fail(CMD, "--curve takes regs, smem or threads, not '%s'", optarg);
            return false;
        }
        return true;
    case O_EXPLAIN: a->explain = true; return true;
    case O_CSV: a->csv = true; return true;
    case O_BATCH: a->batch = optarg; return true;
    default: fprintf(stderr, "Try: warpgrind " CMD " --help\n"); return false;
    }
}

static int run(struct ask *a, int argc, char **argv)
{
    const char *granularity = NULL;
    optind = 0;
    for (int o; (o = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        if (o == O_HELP || o == 'h') {
            usage();
            return 0;
        }
        if (!take(a, o, &granularity))
            return 1;
    }
    if (optind < argc)
        return wg_calc_fail(CMD, "unexpected '%s'", argv[optind]);
    if (a->batch)
        return batch(a->batch);
    if (!a->have_cc)
        return wg_calc_fail(CMD, "say where: --cc X.Y, --device NAME or --sm LIMITS");
    if (!a->q.threads && !a->target && !(a->curve && strcmp(a->curve, "threads") == 0))
        return wg_calc_fail(CMD, "--threads is missing");
    a->plain = a->by_hand;
    if (granularity && !units_of(a, granularity))
        return 1;
    if (a->plain)
        wg_occupancy_plain_division(&a->cc);
    else if (a->by_hand)
        a->cc.smem_per_block = a->cc.smem_per_block_optin = a->cc.smem_per_sm - a->cc.smem_reserved;
    if ((a->grid || a->cluster) && !a->gpu)
        return wg_calc_fail(CMD, "--grid and --cluster need --device");
    if (a->target)
        return target(a);
    if (a->curve)
        return curve(a);
    if (a->csv) {
        puts(csv_header);
        csv_row(&a->cc, &a->q);
        return 0;
    }
    return answer(a);
}

int wg_cmd_occupancy(int argc, char **argv)
{
    struct ask a = {.q = {.carveout = -1, .barriers = 1}};
    int r = run(&a, argc, argv);
    wg_arena_free(&a.arena);
    return r;
}
