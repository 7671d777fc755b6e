/* banks.h - how many passes (wavefronts) one warp-wide shared-memory access needs.
 *
 * 32 banks of 4 bytes. A pass lets each bank give one word, to any number of lanes. Up to 32-bit accesses are served as
 * one group of 32 lanes, 64-bit ones as two half-warps, 128-bit ones as four quarter-warps; a group costs the largest
 * number of distinct words that any one bank must give. Groups without active lanes cost nothing. loads     Two
 * neighbouring groups (halves; quarters of one half) are served in one pass when no bank must give two words and
 * neighbouring lanes share addresses: each active lane finds lane i^1 at its own address or inactive, or each finds
 * lane i^2 so. For 64-bit that is asked of the whole warp, for 128-bit of each half. A 128-bit load of one address by
 * all costs one pass per 16 active lanes. stores    groups are never served together atomics   lanes that share a word
 * wait for each other: a group costs the most lanes that any one bank must serve ldmatrix  each 8x8 matrix is a group:
 * its 8 rows of 16 bytes Measured with Nsight Compute's memory_l1_wavefronts_shared on an H200 (tests/models/data):
 * equal on all of 144 random and regular patterns with all lanes active, on 439 of 439 64-bit ones with lanes missing,
 * on 432 of 439 128-bit ones with lanes missing, where the lower half merges only as told in banks.c. Not measured:
 * 64-bit stores, 64-bit atomics. */
#ifndef WG_MODEL_BANKS_H
#define WG_MODEL_BANKS_H
#include <stdint.h>

#define WG_BANKS 32u
#define WG_BANK_BYTES 4u

struct wg_banks {
    uint32_t wavefronts;
    uint32_t ideal; /* memory_l1_wavefronts_shared_ideal: passes for as many bytes packed, at most wavefronts */
    uint32_t
        ways; /* most words one bank gives in one group (atomics: lanes): 1 is conflict-free, 2 a two-way conflict */
};
enum wg_banks_op {
    WG_BANKS_LOAD,
    WG_BANKS_STORE,
    WG_BANKS_ATOMIC,
    WG_BANKS_COUNT, /* atomic add of 1 whose result is unused: ptxas makes it a population count, and lanes share words
                     */
};
/* addr[i]: byte offset of lane i in shared memory, read only where bit i of mask is set; aligned to bytes, else rounded
 * down. bytes: per lane, 1, 2, 4, 8 or 16. mask 0: all zero. */
void wg_banks_of(enum wg_banks_op op, const uint32_t addr[32], uint32_t mask, unsigned bytes, struct wg_banks *out);
/* The same for lane i at base + stride * i (bytes; modulo 2^32), mostly by formula. */
void wg_banks_affine_of(enum wg_banks_op op, uint32_t base, int32_t stride, uint32_t mask, unsigned bytes,
                        struct wg_banks *out);
/* ldmatrix and stmatrix of n (1, 2 or 4) matrices: addr[8 * m + r] is row r of matrix m. */
void wg_banks_matrix(const uint32_t *addr, unsigned n, struct wg_banks *out);

/* Loads. */
static inline void wg_banks(const uint32_t addr[32], uint32_t mask, unsigned bytes, struct wg_banks *out)
{
    wg_banks_of(WG_BANKS_LOAD, addr, mask, bytes, out);
}
static inline void wg_banks_affine(uint32_t base, int32_t stride, uint32_t mask, unsigned bytes, struct wg_banks *out)
{
    wg_banks_affine_of(WG_BANKS_LOAD, base, stride, mask, bytes, out);
}
#endif
