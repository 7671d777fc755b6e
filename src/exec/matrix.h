/* matrix.h - the arithmetic of matrix products on whole small matrices, as tensor cores round it. */
#ifndef WG_EXEC_MATRIX_H
#define WG_EXEC_MATRIX_H
#include "exec/warp.h"
#include "exec/lanes.h"

/* Raw elements [row of a or column of b][k], each in the low bits of a word; for sparse products a holds what is
 * stored. Accumulators [row][column]: f32 or s32 bits, or f16 bits. */
struct wg_matrix_raw { uint32_t v[32][64]; };
struct wg_matrix_acc { uint32_t v[32][32]; };

/* How a product is formed. Floats: all products of `run` neighbouring k and the accumulator are aligned to the largest
 * exponent among them (of unnormalised factors), cut to `fraction` bits below it, added exactly and cut to f32; then the
 * next run. The result is rounded to nearest only where it becomes f16.
 * Compute capability 9.0: fraction 25, runs of 16 (tf32: 8); checked on an H200 bit by bit (tests/kernels/mma_bits.cu),
 * as is that fp8 there is two runs of f16, bytes 0 and 1 of each register before 2 and 3, added to c by an f32 addition.
 * Volta's m8n8k4 of f16 follows the same rule here; an H200, which has no such unit, differs in the last bits.
 * 8.x: fraction 24, runs of 8 (tf32: 4); 7.x: fraction 23, runs of 4: after published studies of those parts (Fasi et al.,
 * PeerJ Computer Science 7:e330, 2021; Li et al., arXiv 2403.00232, 2024; Khattak and Mikaitis, arXiv 2512.07004, 2025),
 * not checked here on such a part. wgmma: as mma of 9.0, but fp8: fraction 13,
 * one run of 32, and of an f32 result 13 fraction bits are kept; tests/ops/data/wgmma_h200.txt agrees bit by bit, but for
 * the last bits of f16 summed in f16, which are not understood. f64 is a chain of fused multiply-adds in
 * rising k. Integers are exact and wrap, or saturate at the end. */
struct wg_matrix_rule {
    uint8_t ta, tb, tc, td;
    uint8_t fraction, run;
    bool fp8, sat;
};

#define wg_matrix_rule_of WG_ISA_NAME(wg_matrix_rule_of)
#define wg_matrix_rule_wgmma WG_ISA_NAME(wg_matrix_rule_wgmma)
#define wg_matrix_float WG_ISA_NAME(wg_matrix_float)
#define wg_matrix_int WG_ISA_NAME(wg_matrix_int)
#define wg_matrix_bits WG_ISA_NAME(wg_matrix_bits)
#define wg_matrix_f64 WG_ISA_NAME(wg_matrix_f64)
#define wg_matrix_count WG_ISA_NAME(wg_matrix_count)

struct wg_matrix_rule wg_matrix_rule_of(unsigned cc, unsigned ta, unsigned tb, unsigned tc, unsigned td, bool sat);
/* wgmma's: as mma's but for fp8, see above. */
struct wg_matrix_rule wg_matrix_rule_wgmma(unsigned cc, unsigned ta, unsigned tb, unsigned td, bool sat);
/* d = a b + c. m rows; n columns, a multiple of 8; k of b; depth of a: less than k when sparse, then sel[row][x] is the k
 * that element x of the row meets, otherwise NULL. d may be c. */
void wg_matrix_float(struct wg_matrix_acc *d, const struct wg_matrix_raw *a, const struct wg_matrix_raw *b,
                     const uint8_t (*sel)[64], const struct wg_matrix_acc *c, unsigned m, unsigned n, unsigned k,
                     unsigned depth, const struct wg_matrix_rule *rule);
void wg_matrix_int(struct wg_matrix_acc *d, const struct wg_matrix_raw *a, const struct wg_matrix_raw *b,
                   const uint8_t (*sel)[64], const struct wg_matrix_acc *c, unsigned m, unsigned n, unsigned k,
                   unsigned depth, const struct wg_matrix_rule *rule);
/* Elements are words of 32 bits: counts ones of a ^ b, or of a & b. */
void wg_matrix_bits(struct wg_matrix_acc *d, const struct wg_matrix_raw *a, const struct wg_matrix_raw *b,
                    const struct wg_matrix_acc *c, unsigned m, unsigned n, unsigned words, bool use_and);
/* a: m rows of 16; b: 8 columns of 16; d: rows of 8, holds c before. */
void wg_matrix_f64(double *d, const double *a, const double *b, unsigned m, unsigned k);
/* One access of `bytes` a lane, parts of it in shared memory (lanes sh). */
void wg_matrix_count(struct wg_site_count *c, const uint64_t *addr, uint32_t on, uint32_t sh, unsigned bytes, bool store);
#endif
