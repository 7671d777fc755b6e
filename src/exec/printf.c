/* printf.c - placeholder until merged */
#include "exec/printf.h"
size_t wg_printf_format(char *out, size_t cap, const char *fmt, const uint8_t *args, size_t nbytes, wg_printf_string string,
                        void *ctx, int *count)
{ (void)cap;(void)fmt;(void)args;(void)nbytes;(void)string;(void)ctx; *count=0; out[0]=0; return 0; }
