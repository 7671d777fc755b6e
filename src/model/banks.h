/* banks.h - how many passes (wavefronts) one warp-wide shared-memory access needs.
 *
 * The rule (equal to an H200's memory_l1_wavefronts_shared on all 144 lane patterns of tests/models/data/banks.csv):
 *   32 banks of 4 bytes. Up to 32-bit accesses: one group of 32 lanes. 64-bit: two half-warps. 128-bit: four
 *   quarter-warps. Two neighbouring groups of a 64- or 128-bit access (halves; quarters of one half) are served together
 *   when over the whole warp each active lane i finds lane i^1 inactive or at its own address, or each finds lane i^2 so.
 *   A group costs the largest number of distinct words any one bank must give; lanes that share a word cost nothing
 *   extra. Groups without active lanes cost nothing. Loads, stores and atomics follow one rule. */
#ifndef WG_MODEL_BANKS_H
#define WG_MODEL_BANKS_H
#include <stdint.h>

#define WG_BANKS 32u
#define WG_BANK_BYTES 4u

struct wg_banks {
    uint32_t wavefronts;
    uint32_t ideal; /* passes without conflicts: the groups with active lanes */
    uint32_t ways;  /* distinct words of the worst bank in the worst group: 1 is conflict-free, 2 a two-way conflict */
};
/* addr[i]: byte offset of lane i in shared memory, read only where bit i of mask is set; aligned to bytes, else rounded
 * down. bytes: per lane, 1, 2, 4, 8 or 16. mask 0: all zero. */
void wg_banks(const uint32_t addr[32], uint32_t mask, unsigned bytes, struct wg_banks *out);
/* The same for lane i at base + stride * i (bytes; modulo 2^32), mostly by formula. */
void wg_banks_affine(uint32_t base, int32_t stride, uint32_t mask, unsigned bytes, struct wg_banks *out);
/* The groups a 1..16-byte access is served in: fills group[0..3] with lane masks, returns how many have lanes. */
unsigned wg_banks_groups(const uint32_t addr[32], uint32_t mask, unsigned bytes, uint32_t group[4]);
#endif
