/* gain.c - bounds of a launch, unit by unit, and what moving one of them is worth.
 *
 * A unit's bound is what it must do at its full rate: a warp instruction a cycle for each of four schedulers; a wavefront or
 * a 128-byte line a cycle in the load/store unit; sectors and bytes at the device's measured rates (gpus.def). docs/ladder.md
 * compares such bounds with an H200: near where a unit is busy, too low where latency is all. So a gain is given as a range:
 * high if the kernel is held by that unit alone, low as far as the unit's share of the modelled time vouches for it. */
#include "report/gain.h"

enum { SCHEDULERS = 4, SECTOR = 32 };

static void bounds(const struct wg_gain *x, const struct wg_work *w, double out[WG_UNITS])
{
    double l2 = x->gpu->l2_bytes_per_clk > 0 ? x->gpu->l2_bytes_per_clk : 64,
           gbs = x->gpu->dram_read_gbs > 0 ? x->gpu->dram_read_gbs : x->gpu->dram_gbs;
    out[WG_UNIT_ISSUE] = w->instructions / SCHEDULERS / x->sms;
    out[WG_UNIT_LSU] = (w->wavefronts + w->lines) / x->sms;
    out[WG_UNIT_L2] = w->l2 * SECTOR / l2 / x->sms;
    out[WG_UNIT_DRAM] = gbs > 0 && x->gpu->clock_mhz > 0 ? w->dram / (gbs * 1e3 / x->gpu->clock_mhz) : 0;
}

static double largest(const double v[WG_UNITS])
{
    double most = 0;
    for (int u = 0; u < WG_UNITS; u++)
        most = v[u] > most ? v[u] : most;
    return most;
}

bool wg_gain_open(const struct wg_group *g, const struct wg_gpu *gpu, struct wg_gain *x)
{
    const struct wg_launch_result *l = g->first;
    *x = (struct wg_gain){.g = g, .gpu = gpu, .timed = l->has_model && l->modelled[WG_MODELLED_CYCLES] > 0};
    double blocks = (double)l->grid[0] * l->grid[1] * l->grid[2], n = (double)g->nlaunches;
    if (!gpu || !(gpu->sms > 0) || !(blocks > 0))
        return false;
    x->sms = blocks < gpu->sms ? blocks : gpu->sms;
    for (size_t i = 0; i < l->nsites; i++) {
        const struct wg_site *s = &g->sites[i];
        double tags = (double)s->c[WG_C_TAGS], data = (double)s->c[WG_C_SECTORS] / 4;
        x->work.instructions += (double)s->c[WG_C_INST] * (l->machine ? s->machine / 100.0 : 1) / n;
        x->work.wavefronts += (double)s->c[WG_C_WAVEFRONTS] / n;
        x->work.lines += (tags > data ? tags : data) / n;
        x->work.l2 += (double)s->c[WG_C_SECTORS] / n;
    }
    if (x->timed) {
        const double *m = l->modelled;
        x->cycles = m[WG_MODELLED_CYCLES];
        x->work.l2 = m[WG_MODELLED_L2_READ] + m[WG_MODELLED_L2_WRITE] + m[WG_MODELLED_L2_ATOM] + m[WG_MODELLED_L2_RED];
        x->work.dram = m[WG_MODELLED_DRAM_READ] + m[WG_MODELLED_DRAM_WRITE];
    }
    bounds(x, &x->work, x->bound);
    x->most = largest(x->bound);
    return x->most > 0;
}

/* The share of the modelled time that the busiest unit needs, 0..1. */
static double held(const struct wg_gain *x)
{
    double share = x->timed ? x->most / x->cycles : 0;
    return share > 1 ? 1 : share;
}

struct wg_faster wg_gain_work(const struct wg_gain *x, const struct wg_work *after)
{
    double then[WG_UNITS];
    bounds(x, after, then);
    double most = largest(then), high = most > 0 ? x->most / most : 1;
    if (high <= 1)
        return (struct wg_faster){1, 1};
    /* what is saved of the busiest unit comes off the time; the rest of the time stays */
    double saved = (x->most - most) / (x->most > 0 ? x->most : 1) * held(x);
    return (struct wg_faster){x->timed ? 1 / (1 - saved * 0.65) : 1, high};
}

struct wg_faster wg_gain_warps(const struct wg_gain *x, double times)
{
    if (!x->timed || times <= 1)
        return (struct wg_faster){1, 1};
    double room = x->most > 0 ? x->cycles / x->most : times, high = times < room ? times : room;
    double stall = x->g->first->modelled[WG_MODELLED_STALL_MEMORY];
    return high <= 1 ? (struct wg_faster){1, 1} : (struct wg_faster){1 + (high - 1) * 0.4 * stall, high};
}

struct wg_faster wg_gain_waiting(const struct wg_gain *x, double share)
{
    if (!x->timed || share <= 0)
        return (struct wg_faster){1, 1};
    double left = x->cycles * (1 - (share < 0.95 ? share : 0.95)), high = x->cycles / (left > x->most ? left : x->most);
    return high <= 1 ? (struct wg_faster){1, 1} : (struct wg_faster){1 + (high - 1) * 0.15, high};
}

enum wg_unit wg_gain_unit(const struct wg_gain *x)
{
    enum wg_unit best = WG_UNIT_ISSUE;
    for (int u = 0; u < WG_UNITS; u++)
        if (x->bound[u] > x->bound[best])
            best = (enum wg_unit)u;
    return best;
}

const char *wg_unit_name(enum wg_unit u)
{
    static const char *const names[] = {"instructions", "the load/store unit", "the L2", "device memory"};
    return names[u];
}
