/* printf.h - device printf: a format string and the packed argument buffer of vprintf to text. */
#ifndef WG_EXEC_PRINTF_H
#define WG_EXEC_PRINTF_H
#include <stddef.h>
#include <stdint.h>
typedef size_t (*wg_printf_string)(void *ctx, uint64_t addr, char *out, size_t cap);
size_t wg_printf_format(char *out, size_t cap, const char *fmt, const uint8_t *args, size_t nbytes, wg_printf_string string,
                        void *ctx, int *count);
#endif
