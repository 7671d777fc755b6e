/* cmd_roofline.c - `warpgrind roofline`: which side of a device's ridge some work, or each kernel of a profile, lies
 * on. */
#include "cli/calc.h"
#include "model/metrics.h"
#include "report/device.h"
#include "report/escape.h"
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CMD "roofline"

static void usage(void)
{
    puts("Usage: warpgrind roofline --device D --flops F --bytes B [options]\n"
         "       warpgrind roofline FILE.wgprof [--device D]\n"
         "Arithmetic intensity against what a device can do.\n\n"
         "  --device D     a device or a device file\n"
         "  --flops F      floating-point operations of the work; 2e9, or 2G with powers of 1000\n"
         "  --bytes B      bytes it moves to and from memory\n"
         "  --seconds S    time it took: prints what was reached\n"
         "  --double       the work is in double precision\n"
         "  --explain      the steps, with the numbers put in\n"
         "From a profile, bytes are those that global accesses ask of L2 if no cache holds them: an upper\n"
         "bound.");
}

static const char *scaled(char buf[24], double v, const char *unit)
{
    static const char prefix[] = " kMGTPE";
    unsigned k = 0;
    while (v >= 1000 && k < 6)
        v /= 1000, k++;
    snprintf(buf, 24, "%.4g %.*s%s", v, k ? 1 : 0, prefix + k, unit);
    return buf;
}

static bool amount(const char *name, const char *text, double *v)
{
    static const char prefix[] = "kMGTPE";
    char number[64];
    size_t n = strlen(text);
    const char *p = n ? strchr(prefix, text[n - 1] == 'K' ? 'k' : text[n - 1]) : NULL;
    if (!p || n >= sizeof number)
        return wg_calc_real(CMD, name, text, v);
    snprintf(number, sizeof number, "%.*s", (int)n - 1, text);
    if (!wg_calc_real(CMD, name, number, v))
        return false;
    *v *= pow(1000, (double)(p - prefix + 1));
    return true;
}

struct work { double flops, bytes, seconds; bool is_double; };

static void judge(const struct wg_gpu *g, const struct work *w, bool explain)
{
    char a[24], b[24], c[24];
    double peak = w->is_double ? wg_gpu_fp64_flops(g) : wg_gpu_fp32_flops(g), memory = g->dram_gbs * 1e9;
    double intensity = w->flops / w->bytes, ridge = peak / memory, roof = fmin(peak, intensity * memory);
    printf("  intensity %.4g flop/byte, the ridge of %s is at %.4g: %s bound\n", intensity, g->name, ridge,
           intensity < ridge ? "memory" : "compute");
    printf("  at most %s (%.4g %% of the %s peak of %s), so at least %s\n", scaled(a, roof, "flop/s"),
           roof / peak * 100, w->is_double ? "double" : "single", scaled(b, peak, "flop/s"),
           scaled(c, w->flops / roof * 1e9, "ns"));
    if (w->seconds > 0)
        printf("  reached %s: %.4g %% of that\n", scaled(a, w->flops / w->seconds, "flop/s"),
               w->flops / w->seconds / roof * 100);
    if (!explain)
        return;
    printf("  1. %.6g flop / %.6g byte = %.4g flop/byte\n", w->flops, w->bytes, intensity);
    printf("  2. peak: 2 x %u lanes x %.0f SMs x %.0f MHz = %s\n", w->is_double ? g->cc->fp64_lanes : g->cc->fp32_lanes,
           g->sms, g->clock_mhz, scaled(a, peak, "flop/s"));
    printf("  3. ridge: %s / %s = %.4g flop/byte\n", scaled(a, peak, "flop/s"), scaled(b, memory, "byte/s"), ridge);
    printf("  4. roof: the smaller of the peak and %.4g flop/byte x %s = %s\n", intensity, scaled(b, memory, "byte/s"),
           scaled(c, roof, "flop/s"));
}

static double metric(enum wg_metric m, const struct wg_launch_result *l)
{
    double v;
    return wg_metric_launch(m, l, NULL, &v) ? v : 0;
}

static int from_profile(const char *path, const struct wg_gpu *given, bool explain)
{
    struct wg_profile *p;
    char err[512] = "";
    if (wg_profile_read(path, &p, err, sizeof err))
        return wg_calc_unread(CMD, "%s", err);
    struct wg_devices devices = {0};
    for (size_t i = 0; i < p->nlaunches; i++) {
        const struct wg_launch_result *l = &p->launches[i];
        const struct wg_gpu *g = given ? given : wg_device_of(&devices, p, l);
        double f32 = 2 * metric(WG_M_FFMA, l) + metric(WG_M_FADD, l) + metric(WG_M_FMUL, l);
        double f64 = 2 * metric(WG_M_DFMA, l) + metric(WG_M_DADD, l) + metric(WG_M_DMUL, l);
        const double *m = l->modelled;
        struct work w = {.flops = f32 + f64, .is_double = f64 > f32,
                         .bytes = l->has_model ? m[WG_MODELLED_DRAM_READ] + m[WG_MODELLED_DRAM_WRITE] : metric(WG_M_L2_SECTORS, l) * 32};
        char a[24], b[24];
        printf("%u ", l->index);
        wg_escape(stdout, l->kernel, strlen(l->kernel), 0);
        printf(": %s, %s %s\n", scaled(a, w.flops, "flop"), scaled(b, w.bytes, "byte"),
               l->has_model ? "from and to memory (modelled)" : "asked of L2, at most that of memory (modelled; --model tells)");
        if (!g) {
            fputs("  device '", stdout);
            wg_escape(stdout, l->device, strlen(l->device), 0);
            puts("' is not known: give --device");
        } else if (w.flops <= 0 || w.bytes <= 0)
            puts("  no floating-point arithmetic or no global memory: the roofline says nothing");
        else
            judge(g, &w, explain);
    }
    wg_arena_free(&devices.arena);
    wg_profile_free(p);
    return 0;
}

static int run(int argc, char **argv, struct wg_arena *arena)
{
    static const struct option options[] = {{"device", 1, 0, 'd'}, {"flops", 1, 0, 'f'}, {"bytes", 1, 0, 'b'},
                                            {"seconds", 1, 0, 's'}, {"double", 0, 0, 'D'}, {"explain", 0, 0, 'x'},
                                            {"help", 0, 0, 'h'}, {0, 0, 0, 0}};
    const struct wg_gpu *g = NULL;
    struct work w = {0};
    struct wg_diag d = {0};
    bool explain = false;
    optind = 0;
    for (int o; (o = getopt_long(argc, argv, "h", options, NULL)) != -1;)
        switch (o) {
        case 'd':
            if (wg_gpu_open(optarg, arena, &g, &d))
                return wg_calc_fail(CMD, "--device: %s", d.text);
            break;
        case 'f':
            if (!amount("--flops", optarg, &w.flops))
                return 1;
            break;
        case 'b':
            if (!amount("--bytes", optarg, &w.bytes))
                return 1;
            break;
        case 's':
            if (!amount("--seconds", optarg, &w.seconds))
                return 1;
            break;
        case 'D': w.is_double = true; break;
        case 'x': explain = true; break;
        case 'h': usage(); return 0;
        default: fprintf(stderr, "Try: warpgrind " CMD " --help\n"); return 1;
        }
    if (argc - optind > 1)
        return wg_calc_fail(CMD, "unexpected '%s'", argv[optind + 1]);
    if (optind < argc) {
        if (w.flops > 0 || w.bytes > 0 || w.seconds > 0)
            return wg_calc_fail(CMD, "give either a profile or --flops and --bytes");
        return from_profile(argv[optind], g, explain);
    }
    if (!g)
        return wg_calc_fail(CMD, "--device is missing");
    if (w.flops <= 0 || w.bytes <= 0)
        return wg_calc_fail(CMD, "--flops and --bytes must be above 0");
    judge(g, &w, explain);
    return 0;
}

int wg_cmd_roofline(int argc, char **argv)
{
    struct wg_arena arena = {0};
    int r = run(argc, argv, &arena);
    wg_arena_free(&arena);
    return r;
}
