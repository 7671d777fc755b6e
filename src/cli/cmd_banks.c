/* cmd_banks.c - `warpgrind banks`: passes of shared-memory accesses to an array, and layouts that need fewer, all
 * tried. */
#include "cli/calc.h"
#include "cli/expr.h"
#include "model/banks.h"
#include "model/occupancy.h"
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define CMD "banks"

static void usage(void)
{
    puts("Usage: warpgrind banks --array 'float tile[32][33]' --access 'tile[t][0]' [options]\n"
         "Bank of each lane and passes of shared-memory accesses; tries paddings and swizzles.\n\n"
         "  --array DECL      the array, as declared in CUDA C\n"
         "  --access EXPR     a load of lane t, in C; x and y are the thread's place in a block of --block;\n"
         "                    repeat for several: a layout must then suit all\n"
         "  --store EXPR      the same for a store\n"
         "  --atomic EXPR     the same for an atomic\n"
         "  --width 32|64|128 bits a lane accesses; default: the element's size\n"
         "  --for k=0..31     a loop variable of the accesses: passes are summed over its values\n"
         "  --block XxY       shape of the block; default 32x1\n"
         "  --warp N          which warp of the block; default 0\n"
         "  --offset B        where in shared memory the array begins; default 0\n"
         "  --device D | --cc X.Y  with --threads N and --regs N: what a layout costs in occupancy\n"
         "  --explain         the steps, with the numbers put in");
}

enum { MOST = 8 };
struct access { const char *text; enum wg_banks_op op; };
struct ask {
    struct wg_array array;
    struct access access[MOST];
    unsigned naccess, width, bx, by, warp;
    uint64_t offset;
    const char *array_text;
    char loop[32]; /* name of the loop variable; "" for none */
    int64_t from, to, value;
    bool explain;
    struct wg_arena arena;
    const struct wg_cc *cc;
    struct wg_occupancy_query q;
};
/* How an index becomes an address: pad elements after each row; the column exclusive-or'ed with row bits; 1-D skewed.
 */
struct layout { unsigned pad, mask, skew; };

static int say(const struct wg_diag *d)
{
    return wg_calc_fail(CMD, "%s", d->text);
}

static uint64_t bytes_of(const struct wg_array *a, struct layout l)
{
    uint64_t n = a->element;
    for (unsigned i = 0; i < a->ndims; i++)
        n *= a->dim[i] + (a->ndims > 1 && i + 1 == a->ndims ? l.pad : 0);
    return l.skew ? n + (a->dim[0] - 1) / 32 * l.skew * a->element : n;
}

static uint64_t place(const struct ask *a, struct layout l, const int64_t *index, unsigned member)
{
    const struct wg_array *r = &a->array;
    uint64_t at = 0, step = a->width > r->element ? a->width / r->element : 1;
    for (unsigned i = 0; i < r->ndims; i++) {
        uint64_t k = (uint64_t)index[i];
        if (i + 1 == r->ndims && r->ndims > 1)
            k ^= ((uint64_t)index[i - 1] & l.mask) * step;
        at = at * (r->dim[i] + (r->ndims > 1 && i + 1 == r->ndims ? l.pad : 0)) + k;
    }
    if (l.skew)
        at += at / 32 * l.skew;
    return a->offset + at * r->element + member;
}

/* Addresses of the lanes for one access; false after saying what is wrong. */
static bool lanes(const struct ask *a, const struct access *c, struct layout l, uint32_t addr[32], uint32_t *mask,
                  unsigned *width)
{
    *mask = 0;
    for (unsigned i = 0; i < 32; i++) {
        unsigned t = a->warp * 32 + i, member, bytes;
        struct wg_diag d = {0};
        int64_t index[WG_ARRAY_DIMS];
        const struct wg_expr_var vars[] = {
            {"t", t},    {"x", t % a->bx},           {"y", t / a->bx},           {"tx", t % a->bx},  {"ty", t / a->bx},
            {"lane", i}, {"threadIdx.x", t % a->bx}, {"threadIdx.y", t / a->bx}, {a->loop, a->value}};
        size_t nvars = sizeof vars / sizeof *vars - !*a->loop;
        addr[i] = 0;
        if (t >= a->bx * a->by)
            continue;
        if (wg_access_eval(c->text, &a->array, vars, nvars, index, &member, &bytes, &d))
            return say(&d), false;
        *width = a->width ? a->width : bytes;
        addr[i] = (uint32_t)place(a, l, index, member);
        *mask |= 1u << i;
        if (*width > 16 || (*width & (*width - 1)))
            return wg_calc_fail(CMD, "an access of %u bytes a lane is several instructions: give --width", *width),
                   false;
        if (addr[i] % *width && !(l.pad | l.mask | l.skew))
            return wg_calc_fail(CMD, "lane %u accesses %u bytes at byte %u, no multiple of %u: a GPU faults", i, *width,
                                addr[i], *width),
                   false;
        if (addr[i] % *width)
            return false; /* a layout that breaks alignment is no candidate */
    }
    return true;
}

/* Passes of all accesses in a layout, over all values of the loop variable; 0 when it does not work. */
static unsigned total(struct ask *a, struct layout l, unsigned *ideal)
{
    unsigned sum = 0, width;
    *ideal = 0;
    for (a->value = a->from; a->value <= a->to; a->value++)
        for (unsigned i = 0; i < a->naccess; i++) {
            uint32_t addr[32], mask;
            struct wg_banks b;
            if (!lanes(a, &a->access[i], l, addr, &mask, &width))
                return 0;
            wg_banks_of(a->access[i].op, addr, mask, width, &b);
            sum += b.wavefronts;
            *ideal += b.ideal;
        }
    a->value = a->from;
    return sum;
}

static const char *op_name(enum wg_banks_op op)
{
    return op == WG_BANKS_STORE ? "store" : op == WG_BANKS_ATOMIC ? "atomic" : "load";
}

static void show(const struct ask *a, const struct access *c)
{
    uint32_t addr[32], mask;
    unsigned width;
    struct wg_banks b;
    lanes(a, c, (struct layout){0}, addr, &mask, &width);
    wg_banks_of(c->op, addr, mask, width, &b);
    printf("%s %s, %u bits a lane", op_name(c->op), c->text, width * 8);
    if (*a->loop)
        printf(", %s = %lld", a->loop, (long long)a->value);
    printf(": %u pass%s", b.wavefronts, b.wavefronts == 1 ? "" : "es");
    if (b.wavefronts > b.ideal)
        printf(" where %u would do; %u-way conflict\n", b.ideal, b.ways);
    else
        printf(", no conflict\n");
    for (unsigned half = 0; half < 32; half += 16) {
        printf("  lanes %2u-%2u, bank:", half, half + 15);
        for (unsigned i = half; i < half + 16; i++)
            if (mask >> i & 1)
                printf(" %2u", addr[i] / 4 % 32);
            else
                printf("  -");
        putchar('\n');
    }
    if (!a->explain)
        return;
    printf("  1. bank = byte address / 4 %% 32; a pass lets each bank give one 4-byte word, to any number of lanes\n");
    if (c->op == WG_BANKS_ATOMIC)
        puts("  2. lanes of an atomic that share a word wait for each other");
    else if (width > 4)
        printf("  2. %u-bit accesses go %s at a time\n", width * 8, width == 8 ? "half a warp" : "a quarter of a warp");
    else
        puts("  2. all 32 lanes go together");
    unsigned worst = 0, most = 0;
    for (unsigned bank = 0; bank < 32; bank++) {
        unsigned n = 0;
        for (unsigned i = 0; i < 32; i++) {
            bool fresh = (mask >> i & 1) && addr[i] / 4 % 32 == bank;
            for (unsigned j = 0; j < i && fresh && c->op != WG_BANKS_ATOMIC; j++)
                fresh = !((mask >> j & 1) && addr[j] / 4 == addr[i] / 4);
            n += fresh;
        }
        if (n > most)
            most = n, worst = bank;
    }
    printf("  3. bank %u is asked for %u different words%s: %u pass%s in all\n", worst, most,
           width > 4 ? " over the whole warp" : "", b.wavefronts, b.wavefronts == 1 ? "" : "es");
}

static void cost(const struct ask *a, struct layout l)
{
    struct wg_calc_text t = {0};
    uint64_t before = bytes_of(&a->array, (struct layout){0}), after = bytes_of(&a->array, l);
    if (after == before)
        printf("costs no memory");
    else
        printf("costs %s bytes, %s in all", wg_calc_grouped(&t, after - before), wg_calc_grouped(&t, after));
    if (a->cc && a->q.threads) {
        struct wg_occupancy x, y;
        struct wg_occupancy_query q = a->q;
        q.static_shared = before;
        wg_occupancy(a->cc, &q, &x);
        q.static_shared = after;
        wg_occupancy(a->cc, &q, &y);
        printf("; occupancy %.4g %% -> %.4g %%", x.occupancy * 100, y.occupancy * 100);
    }
    putchar('\n');
}

static bool power_of_two(uint64_t v) { return v && !(v & (v - 1)); }

static void advise(struct ask *a)
{
    const struct wg_array *r = &a->array;
    unsigned ideal, now = total(a, (struct layout){0}, &ideal), tried = 0;
    if (now == ideal) {
        puts("nothing to gain: every access is at its ideal");
        return;
    }
    struct layout best_pad = {0}, best_xor = {0};
    unsigned pad_passes = now, xor_passes = now, i;
    uint64_t columns = r->dim[r->ndims - 1], step = a->width > r->element ? a->width / r->element : 1;
    for (unsigned p = 1; p <= 32; p++) {
        struct layout l = r->ndims > 1 ? (struct layout){.pad = p} : (struct layout){.skew = p};
        unsigned n = total(a, l, &i);
        tried++;
        if (n && n < pad_passes)
            pad_passes = n, best_pad = l;
    }
    for (unsigned m = 1; r->ndims > 1 && power_of_two(columns) && m * step < columns && m < 32; m = m * 2 + 1) {
        unsigned n = total(a, (struct layout){.mask = m}, &i);
        tried++;
        if (n && n < xor_passes)
            xor_passes = n, best_xor = (struct layout){.mask = m};
    }
    printf("tried %u layouts:\n", tried);
    if (pad_passes == now && xor_passes == now)
        puts("  none needs fewer passes: the accesses themselves must change");
    if (pad_passes < now) {
        total(a, best_pad, &i);
        if (r->ndims > 1)
            printf("  pad rows by %u: [%llu] becomes [%llu], %u passes instead of %u%s; ", best_pad.pad,
                   (unsigned long long)columns, (unsigned long long)columns + best_pad.pad, pad_passes, now,
                   pad_passes == i ? ", the ideal" : "");
        else
            printf("  index i becomes i + i / 32 * %u: %u passes instead of %u%s; ", best_pad.skew, pad_passes, now,
                   pad_passes == i ? ", the ideal" : "");
        cost(a, best_pad);
    }
    if (xor_passes < now) {
        total(a, best_xor, &i);
        printf("  swizzle: column ^ (row & %u)", best_xor.mask);
        if (step > 1)
            printf(" * %llu", (unsigned long long)step);
        printf(" in every access, %u passes instead of %u%s; ", xor_passes, now, xor_passes == i ? ", the ideal" : "");
        cost(a, best_xor);
    }
    if (pad_passes < now && xor_passes < now)
        printf("  cheapest: %s\n",
               xor_passes <= pad_passes ? "the swizzle (no memory, a few instructions)" : "the padding");
}

static int answer(struct ask *a)
{
    struct wg_diag d = {0};
    unsigned ideal;
    if (wg_array_parse(a->array_text, &a->array, &d))
        return say(&d);
    if (bytes_of(&a->array, (struct layout){0}) + a->offset > 1u << 20)
        return wg_calc_fail(CMD, "the array is larger than any shared memory");
    unsigned now = total(a, (struct layout){0}, &ideal);
    if (!now)
        return 1;
    printf("%s: %llu bytes of shared memory\n", a->array_text,
           (unsigned long long)bytes_of(&a->array, (struct layout){0}));
    for (unsigned i = 0; i < a->naccess; i++)
        show(a, &a->access[i]);
    if (*a->loop)
        printf("over %s = %lld to %lld: %u passes, ideally %u\n", a->loop, (long long)a->from, (long long)a->to, now,
               ideal);
    advise(a);
    return 0;
}

enum {
    O_ARRAY = 256,
    O_ACCESS,
    O_STORE,
    O_ATOMIC,
    O_WIDTH,
    O_BLOCK,
    O_WARP,
    O_OFFSET,
    O_DEVICE,
    O_CC,
    O_THREADS,
    O_REGS,
    O_EXPLAIN,
    O_FOR,
    O_HELP
};
static const struct option options[] = {
    {"for", 1, 0, O_FOR},
    {"array", 1, 0, O_ARRAY}, {"access", 1, 0, O_ACCESS}, {"store", 1, 0, O_STORE}, {"atomic", 1, 0, O_ATOMIC},
    {"width", 1, 0, O_WIDTH}, {"block", 1, 0, O_BLOCK}, {"warp", 1, 0, O_WARP}, {"offset", 1, 0, O_OFFSET},
    {"device", 1, 0, O_DEVICE}, {"cc", 1, 0, O_CC}, {"threads", 1, 0, O_THREADS}, {"regs", 1, 0, O_REGS},
    {"explain", 0, 0, O_EXPLAIN}, {"help", 0, 0, O_HELP}, {0, 0, 0, 0}};

static bool number(const char *name, uint64_t most, unsigned *to)
{
    uint64_t v;
    if (!wg_calc_number(CMD, name, optarg, most, &v))
        return false;
    *to = (unsigned)v;
    return true;
}

static bool add(struct ask *a, enum wg_banks_op op)
{
    if (a->naccess == MOST)
        return wg_calc_fail(CMD, "more than %d accesses", MOST), false;
    a->access[a->naccess++] = (struct access){optarg, op};
    return true;
}

static bool loop(struct ask *a, const char *text)
{
    long long from, to;
    int n = 0;
    if (sscanf(text, "%31[A-Za-z_]=%lld..%lld%n", a->loop, &from, &to, &n) != 3 || !n || text[n] || from > to ||
        from < -(1 << 20) || to > 1 << 20 || to - from >= 4096)
        return wg_calc_fail(CMD, "--for takes a name and a range of at most 4096 values as in k=0..31, not '%s'", text),
               false;
    a->from = from, a->to = to, a->value = from;
    return true;
}

static bool take(struct ask *a, int o)
{
    struct wg_diag d = {0};
    const struct wg_gpu *g;
    switch (o) {
    case O_ARRAY: a->array_text = optarg; return true;
    case O_ACCESS: return add(a, WG_BANKS_LOAD);
    case O_STORE: return add(a, WG_BANKS_STORE);
    case O_ATOMIC: return add(a, WG_BANKS_ATOMIC);
    case O_WIDTH:
        if (!number("--width", 128, &a->width))
            return false;
        if (a->width != 8 && a->width != 16 && a->width != 32 && a->width != 64 && a->width != 128)
            return wg_calc_fail(CMD, "--width takes 32, 64 or 128 bits (8 and 16 too), not '%s'", optarg), false;
        a->width /= 8;
        return true;
    case O_FOR: return loop(a, optarg);
    case O_BLOCK: return wg_calc_block(CMD, optarg, &a->bx, &a->by);
    case O_WARP: return number("--warp", 31, &a->warp);
    case O_OFFSET: return wg_calc_number(CMD, "--offset", optarg, 1 << 20, &a->offset);
    case O_DEVICE:
        if (wg_gpu_open(optarg, &a->arena, &g, &d))
            return wg_calc_fail(CMD, "--device: %s", d.text), false;
        a->cc = g->cc;
        return true;
    case O_CC:
        a->cc = wg_cc_parse(optarg, &d);
        return a->cc || (wg_calc_fail(CMD, "--cc: %s", d.text), false);
    case O_THREADS: return number("--threads", 1024, &a->q.threads);
    case O_REGS: return number("--regs", 255, &a->q.regs);
    case O_EXPLAIN: a->explain = true; return true;
    default: fprintf(stderr, "Try: warpgrind " CMD " --help\n"); return false;
    }
}

int wg_cmd_banks(int argc, char **argv)
{
    struct ask a = {.bx = 32, .by = 1, .q = {.carveout = -1, .barriers = 1}};
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
    if (!r && (!a.array_text || !a.naccess))
        r = wg_calc_fail(CMD,
                         "give the array and at least one access: --array 'float tile[32][33]' --access 'tile[t][0]'");
    if (!r && a.warp * 32 >= a.bx * a.by)
        r = wg_calc_fail(CMD, "a block of %ux%u has no warp %u", a.bx, a.by, a.warp);
    if (!r)
        r = answer(&a);
    wg_arena_free(&a.arena);
    return r;
}
