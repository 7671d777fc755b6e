/* cmd_whatif.c - `warpgrind whatif`: asks a saved profile what another device, register count, tile or layout would give,
 * and says where only another run can tell. */
#include "cli/calc.h"
#include "cli/expr.h"
#include "model/occupancy.h"
#include "report/device.h"
#include "report/escape.h"
#include "report/kernel_name.h"
#include "report/layout.h"
#include "report/view.h"
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CMD "whatif"

static void usage(void)
{
    puts("Usage: warpgrind whatif FILE.wgprof [options]\n"
         "Asks each kernel of a saved profile what would change, without running it again.\n\n"
         "  --pad A=N          rows of the shared array A longer by N elements: its wavefronts\n"
         "  --swizzle A=MASK   columns of A exclusive-or'ed with (row & MASK)\n"
         "  --array DECL       how A is declared, 'float A[32][32]': where the source does not tell\n"
         "  --device D         on another device: occupancy\n"
         "  --regs N           with N registers a thread: occupancy\n"
         "  --shared B         with B bytes of shared memory a block: occupancy\n"
         "  --block N          with N threads a block: occupancy; the rest needs another run\n"
         "  -k, --kernel-name NAME  only this kernel\n\n"
         "Sectors and wavefronts do not depend on device, registers or occupancy. Times and caches need\n"
         "another run.");
}

struct ask {
    struct wg_arena arena;
    const struct wg_gpu *gpu;
    const char *file, *kernel;
    char array[64];
    struct wg_array declared;
    bool has_declared, pad, swizzle, has_shared;
    uint64_t amount, regs, shared, block;
    bool met, answered; /* the array was found in some kernel; and its rows are known */
};

static struct wg_occupancy_query query_of(const struct wg_launch_result *l)
{
    return (struct wg_occupancy_query){.threads = l->block[0] * l->block[1] * l->block[2], .regs = l->registers, .carveout = -1,
                                       .static_shared = l->static_shared, .dynamic_shared = l->dynamic_shared};
}

static void print_one(const char *label, const struct wg_gpu *g, const struct wg_occupancy_query *q)
{
    struct wg_calc_text t = {0};
    struct wg_occupancy o;
    char text[256];
    wg_occupancy(g->cc, q, &o);
    printf("  %-10s %s, %u threads x %u registers, %s bytes of shared memory: ", label, g->name, q->threads, q->regs,
           wg_calc_grouped(&t, q->static_shared + q->dynamic_shared));
    if (!o.blocks) {
        wg_occupancy_never_text(g->cc, q, o.never, text, sizeof text);
        printf("no block fits: %s\n", *text ? text : "the SM is too small for one");
        return;
    }
    wg_occupancy_limits_text(o.limiting, text, sizeof text);
    printf("%u block%s, %.4g %%, limited by %s\n", o.blocks, o.blocks == 1 ? "" : "s", o.occupancy * 100, text);
}

/* Registers are ptxas' for one architecture; another device may get other code. */
static void occupancy(const struct ask *a, const struct wg_launch_result *l, const struct wg_gpu *now, uint64_t more_shared)
{
    const struct wg_gpu *then = a->gpu ? a->gpu : now;
    struct wg_occupancy_query q = query_of(l), p = q;
    if (!now && !then) {
        puts("  occupancy: the profile's device is not known here; give --device");
        return;
    }
    if (a->regs)
        p.regs = (unsigned)a->regs;
    if (a->has_shared)
        p.static_shared = 0, p.dynamic_shared = a->shared;
    if (a->block)
        p.threads = (unsigned)a->block;
    p.static_shared += more_shared;
    if (!p.regs || !p.threads) {
        puts("  occupancy: the profile does not know the kernel's registers; give --regs");
        return;
    }
    bool other_code = a->gpu && now && a->gpu->cc != now->cc && !a->regs;
    if (now && q.regs)
        print_one("now", now, &q);
    print_one("then", then, &p);
    if (!l->registers_exact && !a->regs)
        puts("             estimated: the registers are (no ptxas told them)");
    else if (other_code)
        printf("             estimated: ptxas may use other registers for %s than the %u it used for %s; --regs sets them\n",
               then->name, q.regs, now->name);
    else
        puts("             exact");
}

static int refuse(const struct wg_layout_result *r, const char *array)
{
    const char *what = r->site ? r->site->text : "";
    printf("  %s: must be run again: ", array);
    if (r->state == WG_LAYOUT_NOTHING)
        puts("the profile holds no access to it");
    else if (r->state == WG_LAYOUT_UNSEEN)
        printf("the lanes of \"%.60s\" are not recorded\n", what);
    else if (r->state == WG_LAYOUT_TOO_MANY)
        printf("\"%.60s\" makes more kinds of accesses than are kept\n", what);
    else
        printf("lanes of \"%.60s\" would access addresses that their size does not divide; a GPU faults\n", what);
    return 0;
}

static const struct wg_shared_array *find_array(const struct wg_launch_result *l, const char *name)
{
    for (size_t i = 0; i < l->narrays; i++)
        if (!strcmp(l->arrays[i].name, name))
            return &l->arrays[i];
    return NULL;
}

/* Bytes that the layout adds to a block, or UINT64_MAX after a message that ends the command. */
static uint64_t layout(struct ask *a, const struct wg_profile *p, const struct wg_group *g)
{
    const struct wg_launch_result *l = g->first;
    const struct wg_shared_array *array = find_array(l, a->array);
    unsigned element = 0;
    if (!array)
        return 0;
    a->met = true;
    for (size_t i = 0; i < l->nsites; i++)
        if (wg_layout_array_of(l, &g->sites[i]) == array && g->sites[i].access_bytes &&
            (!element || g->sites[i].access_bytes < element))
            element = g->sites[i].access_bytes;
    uint64_t row = element ? wg_layout_declared(p, l, array, element, NULL) : 0, bytes = wg_layout_bytes(l, array);
    if (a->has_declared) {
        uint64_t all = a->declared.element;
        for (unsigned i = 0; i < a->declared.ndims; i++)
            all *= a->declared.dim[i];
        element = a->declared.element;
        row = element * a->declared.dim[a->declared.ndims - 1];
        if (array->bytes && all != array->bytes) {
            wg_calc_fail(CMD, "--array makes %s %" PRIu64 " bytes, the program has it at %" PRIu64, a->array, all, array->bytes);
            return UINT64_MAX;
        }
    }
    if (!row) {
        printf("  %s: the source does not tell how long its rows are: give --array 'float %s[..][..]'\n", a->array, a->array);
        return 0;
    }
    struct wg_layout y = {.row = row, .unit = element, .mask = a->swizzle ? (uint32_t)a->amount : 0,
                          .pad = a->pad ? (uint32_t)a->amount * element : 0};
    if (y.mask && ((row / element) & (row / element - 1) || y.mask >= row / element)) {
        printf("  %s: a swizzle needs rows of a power of two of elements, and a mask below it; these have %" PRIu64 "\n", a->array,
               row / element);
        return 0;
    }
    struct wg_layout_result r;
    struct wg_calc_text t = {0};
    wg_layout_try(l, g->sites, array, &y, &r);
    if (r.state != WG_LAYOUT_TRIED) {
        a->answered = true;
        return (uint64_t)refuse(&r, a->array);
    }
    a->answered = true;
    printf("  %s: rows of %" PRIu64 " elements of %u bytes, ", a->array, row / element, element);
    if (a->pad)
        printf("padded by %" PRIu64, a->amount);
    else
        printf("swizzled with row & %u", y.mask);
    printf(": wavefronts %s -> %s, ideally %s\n             %s\n", wg_calc_grouped(&t, r.before), wg_calc_grouped(&t, r.after),
           wg_calc_grouped(&t, r.ideal),
           r.exact   ? "exact: every access was recorded"
           : r.alike ? "modelled: block 0's accesses stand for the others, which count the same"
                     : "modelled: block 0's accesses stand for the others, which count differently");
    return bytes / row * y.pad;
}

static int each(struct ask *a, const struct wg_profile *p)
{
    struct wg_view v;
    struct wg_devices devices = {0};
    bool any = false;
    size_t shown = 0;
    if (wg_view_open(p, true, &a->arena, &v) != WG_OK)
        return wg_calc_fail(CMD, "out of memory");
    for (size_t k = 0; k < v.n; k++) {
        const struct wg_launch_result *l = v.groups[k].first;
        char shape[128], name[256];
        if (a->kernel && strcmp(wg_kernel_function(name, sizeof name, l->kernel), a->kernel) != 0)
            continue;
        bool layout_only = !a->gpu && !a->regs && !a->has_shared && !a->block;
        any = true;
        if (layout_only && !find_array(l, a->array))
            continue;
        if (shown++)
            putchar('\n');
        wg_escape(stdout, l->kernel, strlen(l->kernel), 0);
        printf("  %s\n", wg_view_shape(shape, l));
        uint64_t more = a->pad || a->swizzle ? layout(a, p, &v.groups[k]) : 0;
        if (more == UINT64_MAX) {
            wg_arena_free(&devices.arena);
            return 1;
        }
        if (a->gpu || a->regs || a->has_shared || a->block || more)
            occupancy(a, l, wg_device_of(&devices, p, l), more);
        if (a->block)
            printf("  sectors, wavefronts and divergence: must be run again: with %" PRIu64 " threads a block other lanes share a warp\n",
                   a->block);
        else if (a->gpu || a->regs || a->has_shared)
            puts("  sectors and wavefronts: as they are; times and caches: must be run again with --model");
    }
    wg_arena_free(&devices.arena);
    if (!any)
        return wg_calc_fail(CMD, "no kernel of the profile is called %s", a->kernel ? a->kernel : "anything");
    if (a->met && !a->answered)
        return 1;
    if ((a->pad || a->swizzle) && !a->met)
        return wg_calc_fail(CMD, "no kernel has a shared array %s%s", a->array, a->kernel ? " there" : "");
    return 0;
}

/* "As=1" */
static bool named(struct ask *a, const char *option)
{
    const char *equals = strchr(optarg, '=');
    size_t n = equals ? (size_t)(equals - optarg) : 0;
    if (a->pad || a->swizzle)
        return wg_calc_fail(CMD, "one --pad or --swizzle at a time"), false;
    if (!n || n >= sizeof a->array)
        return wg_calc_fail(CMD, "%s takes an array's name and a number, as in As=1, not '%s'", option, optarg), false;
    memcpy(a->array, optarg, n);
    return wg_calc_number(CMD, option, equals + 1, 1024, &a->amount) &&
           (a->amount || (wg_calc_fail(CMD, "%s by 0 changes nothing", option), false));
}

static bool take(struct ask *a, int o)
{
    struct wg_diag d = {0};
    switch (o) {
    case 'p':
        if (!named(a, "--pad"))
            return false;
        return a->pad = true;
    case 'w':
        if (!named(a, "--swizzle"))
            return false;
        return a->swizzle = true;
    case 'a':
        if (wg_array_parse(optarg, &a->declared, &d) != WG_OK)
            return wg_calc_fail(CMD, "%s", d.text), false;
        return a->has_declared = true;
    case 'd':
        if (wg_gpu_open(optarg, &a->arena, &a->gpu, &d) != WG_OK)
            return wg_calc_fail(CMD, "--device: %s", d.text), false;
        return true;
    case 'r':
        return wg_calc_number(CMD, "--regs", optarg, 255, &a->regs) && (a->regs || (wg_calc_fail(CMD, "--regs is above 0"), false));
    case 's': return a->has_shared = wg_calc_number(CMD, "--shared", optarg, 1 << 20, &a->shared);
    case 'b':
        return wg_calc_number(CMD, "--block", optarg, 1024, &a->block) && (a->block || (wg_calc_fail(CMD, "--block is above 0"), false));
    case 'k': a->kernel = optarg; return true;
    default: fprintf(stderr, "Try: warpgrind " CMD " --help\n"); return false;
    }
}

static int run(struct ask *a, int argc, char **argv)
{
    static const struct option options[] = {{"pad", 1, 0, 'p'}, {"swizzle", 1, 0, 'w'}, {"array", 1, 0, 'a'}, {"device", 1, 0, 'd'},
                                            {"regs", 1, 0, 'r'}, {"shared", 1, 0, 's'}, {"block", 1, 0, 'b'},
                                            {"kernel-name", 1, 0, 'k'}, {"help", 0, 0, 'h'}, {0, 0, 0, 0}};
    optind = 0;
    for (int o; (o = getopt_long(argc, argv, "hk:", options, NULL)) != -1;) {
        if (o == 'h') {
            usage();
            return 0;
        }
        if (!take(a, o))
            return 1;
    }
    if (argc - optind != 1)
        return wg_calc_fail(CMD, "takes one file: warpgrind whatif FILE.wgprof --pad As=1");
    if (!a->pad && !a->swizzle && !a->gpu && !a->regs && !a->has_shared && !a->block)
        return wg_calc_fail(CMD, "what if what? give --pad, --swizzle, --device, --regs, --shared or --block");
    if (a->has_declared && (!*a->array || strcmp(a->declared.name, a->array) != 0))
        return wg_calc_fail(CMD, "--array declares %s, but --pad or --swizzle is about %s", a->declared.name, *a->array ? a->array : "nothing");
    struct wg_profile *p;
    char err[512] = "";
    if (wg_profile_read(argv[optind], &p, err, sizeof err) != WG_OK)
        return wg_calc_unread(CMD, "%s", err);
    int r = each(a, p);
    wg_profile_free(p);
    return r;
}

int wg_cmd_whatif(int argc, char **argv)
{
    struct ask a = {0};
    int r = run(&a, argc, argv);
    wg_arena_free(&a.arena);
    return r;
}
