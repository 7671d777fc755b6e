/* tiling.h - the arithmetic of a tiled matrix product C = A x B on CUDA cores: reads, bytes per flop, what a tile
 * takes.
 *
 * Assumes: every block makes one bm x bn tile of C in steps of bk along K; each step brings bm x bk of A and bk x bn of
 * B to shared memory once; each thread keeps a tm x tn rectangle of C in registers and reads tm + tn values of shared
 * memory for tm x tn multiply-adds. A multiply-add is two flops. */
#ifndef WG_MODEL_TILING_H
#define WG_MODEL_TILING_H
#include "model/occupancy.h"

struct wg_gemm { uint64_t m, n, k; unsigned bytes; /* of a value */ };
struct wg_tile { unsigned bm, bn, bk, tm, tn, stages; };

double wg_gemm_flops(const struct wg_gemm *g);
/* Values read from global memory: naively two a multiply-add; tiled, each row and column of tiles once. */
double wg_gemm_reads_naive(const struct wg_gemm *g);
double wg_gemm_reads_tiled(const struct wg_gemm *g, const struct wg_tile *t);
/* Bytes a flop from global memory: bytes of a value / 2 x (1/bm + 1/bn). */
double wg_tile_bytes_per_flop(const struct wg_gemm *g, const struct wg_tile *t);
/* Bytes of shared memory a multiply-add: bytes of a value x (tm + tn) / (tm x tn). */
double wg_tile_shared_bytes_per_madd(const struct wg_gemm *g, const struct wg_tile *t);
uint64_t wg_tile_shared_bytes(const struct wg_gemm *g, const struct wg_tile *t); /* a block, all stages */
unsigned wg_tile_threads(const struct wg_tile *t);
/* Registers a thread, estimated: the rectangle, two sets of its operands, and 24 for addresses and the loop. */
unsigned wg_tile_registers(const struct wg_gemm *g, const struct wg_tile *t);

/* What holds a tile back on a device. Times are lower bounds in seconds; 0 where the device's figure is unknown. */
enum wg_tile_bound { WG_TILE_COMPUTE, WG_TILE_SHARED, WG_TILE_L2, WG_TILE_DRAM, WG_TILE_BOUNDS };
struct wg_tile_fit {
    struct wg_occupancy occupancy;
    unsigned threads, registers;
    uint64_t shared;
    double seconds[WG_TILE_BOUNDS];
    double tail; /* time of whole waves / time of the waves' work: 1 when the last one is full */
    double bound; /* the largest of seconds, times tail */
    enum wg_tile_bound holds;
};
const char *wg_tile_bound_name(enum wg_tile_bound b);
void wg_tile_evaluate(const struct wg_gpu *gpu, const struct wg_gemm *g, const struct wg_tile *t,
                      struct wg_tile_fit *f);
#endif
