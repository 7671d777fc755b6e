/* random_ptx.h - makes random structured kernels whose result does not depend on the order of threads. */
#ifndef OPS_RANDOM_PTX_H
#define OPS_RANDOM_PTX_H
#include "../ref/ref.h"

enum { RANDOM_IN = 1024, RANDOM_OUT = 512, RANDOM_SUMS = 64 }; /* bytes: read-only input; output per thread; sums */
struct random_kernel {
    char *ptx; /* malloc'd; one entry "k" (u64 in, u64 out, u64 sums, u32 a, u32 b, u64 c) */
    unsigned grid[3], block[3];
};
/* To tell one fault from another: integers leaves out floating-point operations, avoid (may be NULL) lists words
 * between commas; variants with one of them in their name are left out, and so are the constructs branch, loop, switch,
 * call, carry, local, shared, global, red, barrier, warp. */
struct random_kernel random_ptx(uint64_t seed, const struct ref_variant *v, size_t n, bool integers, const char *avoid);
#endif
