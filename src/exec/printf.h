/* printf.h - what a kernel's printf prints: CUDA's format rules over the argument buffer that vprintf is given.
 *
 * nvcc and clang compile printf(fmt, ...) to vprintf(fmt, args), where args is the promoted arguments laid out as a C
 * struct: 4-byte integers at multiples of 4, everything else (double, pointer, long) 8 bytes at multiples of 8. */
#ifndef WG_EXEC_PRINTF_H
#define WG_EXEC_PRINTF_H
#include <stddef.h>
#include <stdint.h>

#define WG_PRINTF_MAX_ARGS  32         /* CUDA's limit; conversions past it are printed as they stand */
#define WG_PRINTF_MAX_WIDTH (1u << 20) /* fields are cut to CUDA's default printf buffer, which holds no more */

/* Copies the device string at addr: at most cap - 1 bytes of it, then a NUL. Returns the bytes copied without the NUL,
 * or SIZE_MAX when the address is bad. */
typedef size_t (*wg_printf_string)(void *owner, uint64_t addr, char *out, size_t cap);

/* How many argument bytes fmt consumes, so that a caller knows how much of the buffer to fetch. */
size_t wg_printf_arg_bytes(const char *fmt);

/* Formats as CUDA does: flags "-+ #0", width and precision (also *), sizes hh h l ll j z t L, and
 * conversions % c d i o u x X p s e E f F g G a A. Anything else, %n included, is printed as it stands (%n uses up its
 * argument). A conversion whose argument lies beyond args_bytes is printed as it stands too. %s of a null pointer is
 * "(null)", of one that `read` refuses "(unreadable 0x...)".
 *
 * Writes at most cap - 1 bytes and a NUL (nothing when cap is 0) and returns the length that a large enough buffer
 * would have held; the text may contain NULs (%c). *count, if not NULL, becomes what printf returns to the kernel: the
 * number of arguments used, or -1 when fmt is NULL. Never fails on any format or argument bytes. */
size_t wg_printf_format(char *out, size_t cap, const char *fmt, const uint8_t *args, size_t args_bytes,
                        wg_printf_string read, void *owner, int *count);
#endif
