/* coalesce.h - how many 32-byte sectors and 128-byte lines one warp-wide global access touches.
 *
 * The rule (equal to an H200's counters on every launch of tests/models/data/coalesce.csv, compute capability 7.0 up):
 *   sectors  distinct 32-byte sectors touched by the active lanes     l1tex__t_sectors, memory_l2_theoretical_sectors
 *   lines    distinct 128-byte lines touched by the active lanes      memory_l1_tag_requests_global
 *   ideal    sectors had the lanes' bytes been packed, at most sectors
 *                                                                     memory_l2_theoretical_sectors_global_ideal
 *   unique   bytes asked for, those that lanes share counted once     smsp__sass_average_data_bytes_per_sector, times
 * sectors A line or sector counts once however many lanes share it; loads, stores, reductions and atomics follow one
 * rule. Equal also on 408 patterns with lanes missing or sharing (tests/models/data/probe_global.csv). */
#ifndef WG_MODEL_COALESCE_H
#define WG_MODEL_COALESCE_H
#include <stdbool.h>
#include <stdint.h>

#define WG_SECTOR_BYTES 32u
#define WG_LINE_BYTES 128u

struct wg_coalesce {
    uint32_t sectors, lines, ideal;
    uint32_t bytes;  /* asked for: active lanes times access size, duplicates counted once per lane */
    uint32_t unique; /* the same, an address that several lanes ask for counted once */
};
/* addr[i]: byte address of lane i, read only where bit i of mask is set. bytes: per lane, 1..128. A lane whose bytes
 * cross a sector (misaligned) touches both. mask 0: all zero. */
void wg_coalesce(const uint64_t addr[32], uint32_t mask, unsigned bytes, struct wg_coalesce *out);
/* The same for lane i at base + stride * i (bytes; arithmetic modulo 2^64), mostly by formula. */
void wg_coalesce_affine(uint64_t base, int64_t stride, uint32_t mask, unsigned bytes, struct wg_coalesce *out);
/* What l1tex__t_sectors_..._op_atom and _op_red count: lanes of one sector that share an address go one by one, so each
 * sector counts as often as its most wanted address. bytes: 2, 4, 8 or 16 (measured for 4). */
uint32_t wg_coalesce_atomic_sectors(const uint64_t addr[32], uint32_t mask, unsigned bytes);
/* bytes asked for / bytes moved, 0..1 (above 1 where lanes share words); 0 when nothing is moved. */
double wg_coalesce_efficiency(const struct wg_coalesce *c);
#endif
