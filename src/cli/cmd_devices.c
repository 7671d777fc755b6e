/* cmd_devices.c - `warpgrind devices`: the devices and compute capabilities known, and everything known of one. */
#include "cli/calc.h"
#include "model/gpus.h"
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define CMD "devices"

static void usage(void)
{
    puts("Usage: warpgrind devices [NAME | FILE] [--cc X.Y] [--csv]\n"
         "Lists the devices that --device takes; with a name or a device file, all that is known of it and\n"
         "from where.\n\n"
         "  --cc X.Y  the limits of one compute capability\n"
         "  --csv     all devices, all fields, as comma-separated values with a line of units\n\n"
         "A device file has lines `key = value` with the names shown here; `base = H200` starts from another\n"
         "device, `cc = 9.0` from a compute capability.");
}

static void list(void)
{
    printf("%-10s %-17s %4s %4s %9s %15s %11s %9s %13s\n", "device", "chip", "cc", "SMs", "clock", "memory",
           "bandwidth", "L2", "fp32 peak");
    for (size_t i = 0; i < wg_gpu_count(); i++) {
        const struct wg_gpu *g = wg_gpu_at(i);
        printf("%-10s %-17s %2u.%u %4.0f %5.0f MHz %4.0f GiB %-6s %6.0f GB/s %5.1f MiB %6.1f TFLOP/s\n", g->name,
               g->chip, g->cc->major, g->cc->minor, g->sms, g->clock_mhz, g->memory_bytes / (1 << 30), g->memory,
               g->dram_gbs, g->l2_bytes / (1 << 20), wg_gpu_fp32_flops(g) / 1e12);
    }
    printf("Compute capabilities:");
    for (size_t i = 0; i < wg_cc_count(); i++)
        printf(" %u.%u", wg_cc_at(i)->major, wg_cc_at(i)->minor);
    puts("\n`warpgrind devices NAME` shows all that is known of one, and its source.");
}

static void field(const struct wg_gpu_field *f, double v)
{
    if (v == 0)
        printf("  %-22s %14s %-12s %s\n", f->name, "-", f->unit, f->text);
    else
        printf("  %-22s %14.12g %-12s %s\n", f->name, v, f->unit, f->text);
}

static void show_cc(const struct wg_cc *cc)
{
    printf("compute capability %u.%u, %s: %s\n", cc->major, cc->minor, cc->arch, cc->chips);
    for (const struct wg_gpu_field *f = wg_cc_field_infos; f->name; f++)
        field(f, *(const unsigned *)((const char *)cc + f->offset));
    if (cc->ncarveouts) {
        printf("  %-22s ", "carveouts");
        for (unsigned i = 0; i < cc->ncarveouts; i++)
            printf("%s%u", i ? ", " : "", cc->carveout_kb[i]);
        puts(" KiB: sizes shared memory can be set to");
    }
    printf("  source: %s\n", cc->source);
}

static void show(const struct wg_gpu *g)
{
    printf("%s: %s, %s", g->name, g->chip, g->memory);
    if (*g->aliases)
        printf("; also %s", g->aliases);
    putchar('\n');
    for (const struct wg_gpu_field *f = wg_gpu_field_infos; f->name; f++)
        field(f, *(const double *)((const char *)g + f->offset));
    printf("  %-22s %14.4g %-12s %s\n", "fp32 peak", wg_gpu_fp32_flops(g) / 1e12, "TFLOP/s", "2 x lanes x SMs x clock");
    printf("  source: %s\n", g->source);
    show_cc(g->cc);
}

static void csv(void)
{
    printf("name,chip,cc,memory");
    for (const struct wg_gpu_field *f = wg_gpu_field_infos; f->name; f++)
        printf(",%s", f->name);
    printf(",source\n,,,");
    for (const struct wg_gpu_field *f = wg_gpu_field_infos; f->name; f++)
        printf(",%s", f->unit);
    puts(",");
    for (size_t i = 0; i < wg_gpu_count(); i++) {
        const struct wg_gpu *g = wg_gpu_at(i);
        printf("%s,%s,%u.%u,%s", g->name, g->chip, g->cc->major, g->cc->minor, g->memory);
        for (const struct wg_gpu_field *f = wg_gpu_field_infos; f->name; f++) {
            double v = *(const double *)((const char *)g + f->offset);
            if (v == 0)
                putchar(',');
            else
                printf(",%.15g", v);
        }
        printf(",\"%s\"\n", g->source);
    }
}

int wg_cmd_devices(int argc, char **argv)
{
    static const struct option options[] = {{"cc", 1, 0, 'c'}, {"csv", 0, 0, 'v'}, {"help", 0, 0, 'h'}, {0, 0, 0, 0}};
    struct wg_diag d = {0};
    const struct wg_cc *cc = NULL;
    bool as_csv = false;
    optind = 0;
    for (int o; (o = getopt_long(argc, argv, "h", options, NULL)) != -1;)
        switch (o) {
        case 'c':
            cc = wg_cc_parse(optarg, &d);
            if (!cc)
                return wg_calc_fail(CMD, "%s", d.text);
            break;
        case 'v': as_csv = true; break;
        case 'h': usage(); return 0;
        default: fprintf(stderr, "Try: warpgrind " CMD " --help\n"); return 1;
        }
    if (argc - optind > 1)
        return wg_calc_fail(CMD, "unexpected '%s'", argv[optind + 1]);
    if (optind < argc) {
        struct wg_arena a = {0};
        const struct wg_gpu *g;
        enum wg_status s = wg_gpu_open(argv[optind], &a, &g, &d);
        if (s == WG_OK)
            show(g);
        else
            wg_calc_fail(CMD, "%s", d.text);
        wg_arena_free(&a);
        return s != WG_OK;
    }
    if (cc)
        show_cc(cc);
    else if (as_csv)
        csv();
    else
        list();
    return 0;
}
