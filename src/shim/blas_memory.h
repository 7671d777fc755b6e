/* blas_memory.h - device memory for the host's BLAS: every access is a copy that the runtime checks and remembers. */
#ifndef WG_SHIM_BLAS_MEMORY_H
#define WG_SHIM_BLAS_MEMORY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* cudaDataType of the public API, as far as it is served */
enum wg_blas_type { WG_F32 = 0, WG_F64 = 1, WG_F16 = 2, WG_I8 = 3, WG_I32 = 10, WG_BF16 = 14 };
unsigned wg_blas_bytes(int type); /* 0: a type that is not served */

/* `rows` elements, ld elements apart from those of the next of `cols` columns, to and from doubles that lie close.
 * false: the runtime refused the copy (a pointer that is no device memory, or too little of it), or no memory. */
bool wg_blas_read(void *stream, const void *from, int type, int64_t rows, int64_t cols, int64_t ld, double *to);
bool wg_blas_write(void *stream, void *to, int type, int64_t rows, int64_t cols, int64_t ld, const double *from);
/* One number; on the host when device is false. */
bool wg_blas_get(void *stream, bool device, const void *p, int type, double *out);
bool wg_blas_put(void *stream, bool device, void *p, int type, double value);
/* cudaMemcpy2DAsync of the runtime that the program has, and the wait for it. */
bool wg_blas_copy(void *stream, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                  size_t height);
#endif
