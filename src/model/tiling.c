/* tiling.c - bytes, registers and lower bounds of time of a tiled matrix product. */
#include "model/tiling.h"

double wg_gemm_flops(const struct wg_gemm *g) { return 2.0 * (double)g->m * (double)g->n * (double)g->k; }
double wg_gemm_reads_naive(const struct wg_gemm *g) { return wg_gemm_flops(g); }

static double tiles(uint64_t size, unsigned tile) { return (double)((size + tile - 1) / tile); }

double wg_gemm_reads_tiled(const struct wg_gemm *g, const struct wg_tile *t)
{
    /* A is read once for each column of tiles, B once for each row */
    return (double)g->m * (double)g->k * tiles(g->n, t->bn) + (double)g->k * (double)g->n * tiles(g->m, t->bm);
}

double wg_tile_bytes_per_flop(const struct wg_gemm *g, const struct wg_tile *t)
{
    return g->bytes / 2.0 * (1.0 / t->bm + 1.0 / t->bn);
}

double wg_tile_shared_bytes_per_madd(const struct wg_gemm *g, const struct wg_tile *t)
{
    return (double)g->bytes * (t->tm + t->tn) / ((double)t->tm * t->tn);
}

uint64_t wg_tile_shared_bytes(const struct wg_gemm *g, const struct wg_tile *t)
{
    return (uint64_t)t->stages * (t->bm + t->bn) * t->bk * g->bytes;
}

unsigned wg_tile_threads(const struct wg_tile *t) { return (t->bm / t->tm) * (t->bn / t->tn); }

unsigned wg_tile_registers(const struct wg_gemm *g, const struct wg_tile *t)
{
    unsigned words = g->bytes > 4 ? 2 : 1; /* narrower values are held in whole registers */
    return words * (t->tm * t->tn + 2 * (t->tm + t->tn)) + 24;
}

const char *wg_tile_bound_name(enum wg_tile_bound b)
{
    static const char *const names[] = {"arithmetic", "shared memory", "L2", "DRAM"};
    return names[b];
}

void wg_tile_evaluate(const struct wg_gpu *gpu, const struct wg_gemm *g, const struct wg_tile *t, struct wg_tile_fit *f)
{
    *f = (struct wg_tile_fit){.threads = wg_tile_threads(t), .registers = wg_tile_registers(g, t),
                              .shared = wg_tile_shared_bytes(g, t), .tail = 1};
    struct wg_occupancy_query q = {
        .threads = f->threads, .regs = f->registers, .dynamic_shared = f->shared, .carveout = -1, .barriers = 1};
    wg_occupancy(gpu->cc, &q, &f->occupancy);
    double hz = gpu->clock_mhz * 1e6, madds = wg_gemm_flops(g) / 2;
    double peak = g->bytes == 8 ? wg_gpu_fp64_flops(gpu) : wg_gpu_fp32_flops(gpu);
    double shared = gpu->smem_bytes_per_clk * gpu->sms * hz, l2 = gpu->l2_bytes_per_clk * gpu->sms * hz;
    double once = ((double)g->m * (double)g->k + (double)g->k * (double)g->n + (double)g->m * (double)g->n) * g->bytes;
    f->seconds[WG_TILE_COMPUTE] = peak > 0 ? 2 * madds / peak : 0;
    f->seconds[WG_TILE_SHARED] = shared > 0 ? madds * wg_tile_shared_bytes_per_madd(g, t) / shared : 0;
    f->seconds[WG_TILE_L2] = l2 > 0 ? wg_gemm_reads_tiled(g, t) * g->bytes / l2 : 0;
    f->seconds[WG_TILE_DRAM] = gpu->dram_gbs > 0 ? once / (gpu->dram_gbs * 1e9) : 0;
    double blocks = tiles(g->m, t->bm) * tiles(g->n, t->bn),
           waves = wg_occupancy_waves(gpu, &f->occupancy, (uint64_t)blocks);
    if (waves > 0) {
        double whole = (double)(uint64_t)waves;
        f->tail = (whole < waves ? whole + 1 : whole) / waves;
    }
    for (unsigned i = 0; i < WG_TILE_BOUNDS; i++)
        if (f->seconds[i] > f->seconds[f->holds])
            f->holds = (enum wg_tile_bound)i;
    f->bound = f->seconds[f->holds] * f->tail;
}
