/* kernel_name.h - the parts of a kernel's readable name. */
#ifndef WG_REPORT_KERNEL_NAME_H
#define WG_REPORT_KERNEL_NAME_H
#include <stddef.h>

/* "void ns::k<int>(int*)" -> "k": the function's name without result, scopes, template arguments and parameters. */
const char *wg_kernel_function(char *buf, size_t n, const char *readable);
/* "void ns::k<int>(int*)" -> "ns::k<int>", *n bytes of the name given: without result and parameters. */
const char *wg_kernel_label(const char *readable, size_t *n);
#endif
