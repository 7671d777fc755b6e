/* libdevice.h - the __nv_* functions of CUDA's math library, run natively over a warp.
 *
 * PTX that clang makes without NVIDIA's libdevice.10.bc calls them: `call.uni (retval0), __nv_expf, (param0);`.
 * Every name that clang's __clang_cuda_libdevice_declares.h declares is in libdevice.def, with its error bound.
 *
 * What differs from a GPU: the last bits (the bounds of the CUDA C++ Programming Guide hold; we are mostly closer to
 * the true value); subnormals are never flushed (clang's -fgpu-flush-denormals-to-zero does not reach these calls); one
 * call counts as one instruction, where nvcc inlines ten to a hundred. Results are the same bits on every x86-64 host.
 */
#ifndef WG_EXEC_LIBDEVICE_H
#define WG_EXEC_LIBDEVICE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory as the functions with pointer arguments see it. `addr` is a generic address. A callback that refuses (returns
 * false) has recorded why; the lane's result is then unspecified, and no further access of that lane follows a refused
 * load. Only lanes of the call's mask are asked for, in ascending order. */
struct wg_libdevice_ctx {
    void *owner;
    bool (*store)(void *owner, unsigned lane, uint64_t addr, const void *bytes, unsigned n);
    bool (*load)(void *owner, unsigned lane, uint64_t addr, void *bytes, unsigned n);
};

/* Runs the function for the lanes in mask. Words are lane-interleaved: word k of lane l of argument j is
 * arg[j][k * 32 + l]; an 8-byte value is two words, low first; a 16-bit value is the low half of one word. The same for
 * ret. Words of lanes outside mask are read (any bits will do) and never written. ret and arg may not overlap. ctx is
 * used by the functions with pointers only and may be NULL for the others. Thread safe; the floating-point environment
 * is as before on return, and must be the default one (to nearest, no flushing) on entry. */
typedef void (*wg_libdevice_fn)(const struct wg_libdevice_ctx *ctx, uint32_t mask, uint32_t *ret,
                                const uint32_t *const *arg);

#define WG_LIBDEVICE_MAX_ARGS 4
struct wg_libdevice {
    const char *name;  /* "__nv_expf" */
    const char *sig;   /* result, then arguments: v void, f float, d double, i int, u unsigned, l long long,
                          m unsigned long long, h 16 bits, p pointer; 'r' is a float whose NaN bits are kept */
    const char *bound; /* largest error, as written in libdevice.def: ULP(n), ABS(x), or a condition and both */
    wg_libdevice_fn fn;
    uint8_t nargs;
    uint8_t ret_size; /* bytes; 0 for void */
    uint8_t arg_size[WG_LIBDEVICE_MAX_ARGS];
};

/* The function named by the n bytes at name, or NULL: not ours. */
const struct wg_libdevice *wg_libdevice_find(const char *name, size_t n);

/* All of them, for listings and tests: i-th row, NULL past the end. `level` 0 is the portable build of the table and 1
 * the one for x86-64-v3, NULL where this machine lacks that; both give the same bits. */
const struct wg_libdevice *wg_libdevice_row(unsigned level, size_t i);
#endif
