/* cmd_coalesce.c - `warpgrind coalesce`: sectors and lines of one warp access, drawn. */
#include "cli/calc.h"
#include "cli/expr.h"
#include "model/coalesce.h"
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define CMD "coalesce"

static void usage(void)
{
    puts("Usage: warpgrind coalesce --stride B | --expr EXPR [options]\n"
         "What one access of a warp to global memory moves.\n\n"
         "  --stride B     bytes from one lane's address to the next; may be negative\n"
         "  --expr EXPR    byte address of lane t, in C: 'a + 32*t'; a is the base, x and y the thread's place\n"
         "                 in a block of --block\n"
         "  --size B       bytes a lane: 1, 2, 4 (default), 8 or 16\n"
         "  --offset B     added to every address; the base itself is aligned to 256\n"
         "  --lanes LIST   lanes that take part: 0-15, 0,2,4; default all\n"
         "  --block XxY    shape of the block, for x and y; default 32x1\n"
         "  --atomic       an atomic or reduction: lanes that share an address go one by one\n"
         "  --explain      the steps, with the numbers put in");
}

struct ask {
    const char *expr;
    int64_t stride, offset;
    bool have_stride, atomic, explain;
    unsigned size, bx, by;
    uint32_t lanes;
    uint64_t addr[32];
};

static const uint64_t base = 0x100000; /* where `a` is taken to lie; any multiple of 256 gives the same answer */

static bool parse_lanes(const char *text, uint32_t *mask)
{
    *mask = 0;
    for (const char *p = text; *p;) {
        unsigned a, b;
        int n = 0;
        if (sscanf(p, "%u-%u%n", &a, &b, &n) != 2 || !n) {
            n = 0;
            if (sscanf(p, "%u%n", &a, &n) != 1 || !n)
                break;
            b = a;
        }
        if (a > b || b > 31)
            break;
        for (unsigned i = a; i <= b; i++)
            *mask |= 1u << i;
        p += n;
        if (*p && *p++ != ',')
            break;
        if (!*p)
            return true;
    }
    wg_calc_fail(CMD, "--lanes takes lanes 0 to 31 as in 0-15 or 0,2,4, not '%s'", text);
    return false;
}

static bool addresses(struct ask *a)
{
    for (unsigned t = 0; t < 32; t++) {
        struct wg_diag d = {0};
        int64_t v = (int64_t)base + a->stride * (int64_t)t;
        const struct wg_expr_var vars[] = {{"t", t}, {"a", (int64_t)base}, {"x", t % a->bx}, {"y", t / a->bx},
                                           {"threadIdx.x", t % a->bx}, {"threadIdx.y", t / a->bx}};
        if (a->expr && wg_expr_eval(a->expr, vars, sizeof vars / sizeof *vars, &v, &d)) {
            wg_calc_fail(CMD, "%s", d.text);
            return false;
        }
        a->addr[t] = (uint64_t)(v + a->offset);
    }
    return true;
}

/* Lane numbers against sectors, in rising order; every touched sector is one column. */
static void picture(const struct ask *a)
{
    uint64_t sectors[64];
    unsigned n = 0;
    for (unsigned t = 0; t < 32; t++)
        for (uint64_t s = a->addr[t] / 32; (a->lanes >> t & 1) && s <= (a->addr[t] + a->size - 1) / 32; s++) {
            unsigned i = 0;
            while (i < n && sectors[i] < s)
                i++;
            if (i < n && sectors[i] == s)
                continue;
            memmove(sectors + i + 1, sectors + i, (n - i) * sizeof *sectors);
            sectors[i] = s;
            n++;
        }
    puts("\n  line  sector  lanes");
    uint64_t first_line = sectors[0] / 4;
    for (unsigned i = 0; i < n; i++) {
        unsigned used = 0;
        uint8_t bytes[32] = {0};
        if (i == 0 || sectors[i] / 4 != sectors[i - 1] / 4)
            printf("  %4llu", (unsigned long long)(sectors[i] / 4 - first_line));
        else
            printf("      ");
        printf("  %6llu  ", (unsigned long long)(sectors[i] % 4));
        for (unsigned t = 0; t < 32; t++) {
            bool in = false;
            for (unsigned b = 0; b < a->size && (a->lanes >> t & 1); b++)
                if ((a->addr[t] + b) / 32 == sectors[i]) {
                    bytes[(a->addr[t] + b) % 32] = 1;
                    in = true;
                }
            putchar(in ? '#' : a->lanes >> t & 1 ? '.' : ' ');
        }
        for (unsigned b = 0; b < 32; b++)
            used += bytes[b];
        printf("  %2u of 32 bytes used\n", used);
    }
    puts("                0       8       16      24      lane");
}

static void explain(const struct ask *a, const struct wg_coalesce *c)
{
    unsigned lanes = (unsigned)__builtin_popcount(a->lanes);
    printf("\n  1. %u lanes x %u bytes = %u bytes asked for\n", lanes, a->size, c->bytes);
    printf("  2. each lane's address / 32, rounded down, names its sector; %u different ones\n", c->sectors);
    printf("  3. %u sectors x 32 bytes = %u bytes moved\n", c->sectors, c->sectors * 32);
    printf("  4. %u / %u = %.4g efficiency\n", c->bytes, c->sectors * 32, wg_coalesce_efficiency(c));
    printf("  5. each address / 128 names its line; %u different ones\n", c->lines);
    printf("  6. packed, %u bytes would take %u sectors\n", c->bytes, c->ideal);
}

static int answer(const struct ask *a)
{
    struct wg_coalesce c;
    wg_coalesce(a->addr, a->lanes, a->size, &c);
    for (unsigned t = 0; t < 32; t++)
        if ((a->lanes >> t & 1) && a->addr[t] % a->size)
            return wg_calc_fail(CMD, "lane %u reads %u bytes at an address that is no multiple of %u: a GPU faults", t,
                                a->size, a->size);
    printf("%u sectors of 32 bytes, %u line%s of 128 bytes\n", c.sectors, c.lines, c.lines == 1 ? "" : "s");
    printf("  %u bytes asked for, %u moved in sectors (%u in lines): efficiency %.4g\n", c.bytes, c.sectors * 32,
           c.lines * 128, wg_coalesce_efficiency(&c));
    if (c.unique != c.bytes)
        printf("  lanes share addresses: %u bytes are distinct\n", c.unique);
    if (c.sectors > c.ideal)
        printf("  packed, the same bytes would take %u sectors: %u are excess\n", c.ideal, c.sectors - c.ideal);
    if (a->atomic)
        printf("  as an atomic: %u sector operations, the lanes of one address one by one\n",
               wg_coalesce_atomic_sectors(a->addr, a->lanes, a->size));
    if (a->explain)
        explain(a, &c);
    picture(a);
    return 0;
}

static bool signed_number(const char *name, const char *text, int64_t *v)
{
    uint64_t u;
    bool negative = *text == '-';
    if (!wg_calc_number(CMD, name, text + negative, 1ull << 40, &u))
        return false;
    *v = negative ? -(int64_t)u : (int64_t)u;
    return true;
}

int wg_cmd_coalesce(int argc, char **argv)
{
    static const struct option options[] = {
        {"stride", 1, 0, 's'}, {"expr", 1, 0, 'e'}, {"size", 1, 0, 'z'}, {"offset", 1, 0, 'o'}, {"lanes", 1, 0, 'l'},
        {"block", 1, 0, 'b'}, {"atomic", 0, 0, 'a'}, {"explain", 0, 0, 'x'}, {"help", 0, 0, 'h'}, {0, 0, 0, 0}};
    struct ask a = {.size = 4, .bx = 32, .by = 1, .lanes = UINT32_MAX};
    uint64_t v;
    optind = 0;
    for (int o; (o = getopt_long(argc, argv, "h", options, NULL)) != -1;)
        switch (o) {
        case 's':
            if (!signed_number("--stride", optarg, &a.stride))
                return 1;
            a.have_stride = true;
            break;
        case 'e': a.expr = optarg; break;
        case 'z':
            if (!wg_calc_number(CMD, "--size", optarg, 16, &v))
                return 1;
            a.size = (unsigned)v;
            if (!v || (v & (v - 1)))
                return wg_calc_fail(CMD, "--size takes 1, 2, 4, 8 or 16, not '%s'", optarg);
            break;
        case 'o':
            if (!signed_number("--offset", optarg, &a.offset))
                return 1;
            break;
        case 'l':
            if (!parse_lanes(optarg, &a.lanes))
                return 1;
            break;
        case 'b':
            if (!wg_calc_block(CMD, optarg, &a.bx, &a.by))
                return 1;
            break;
        case 'a': a.atomic = true; break;
        case 'x': a.explain = true; break;
        case 'h': usage(); return 0;
        default: fprintf(stderr, "Try: warpgrind " CMD " --help\n"); return 1;
        }
    if (optind < argc)
        return wg_calc_fail(CMD, "unexpected '%s'", argv[optind]);
    if (a.have_stride == !!a.expr)
        return wg_calc_fail(CMD, "say how lanes are spread: either --stride or --expr");
    return addresses(&a) ? answer(&a) : 1;
}
