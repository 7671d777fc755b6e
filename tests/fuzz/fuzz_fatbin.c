/* fuzz_fatbin.c - any bytes may be given to the container reader. */
#include "ptx/fatbin.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct wg_fatbin_image i;
    size_t at = 0, k;
    for (size_t f = wg_fatbin_find(data, n, 0); f < n; f = wg_fatbin_find(data, n, f + 8))
        if (wg_fatbin_size(data + f, n - f) > n - f)
            abort();
    while (wg_fatbin_next(data, n, &at, &i, NULL) == WG_OK) {
        char *text;
        if (i.raw <= 1 << 24 && wg_fatbin_load(&i, &text, &k, NULL) == WG_OK)
            free(text);
    }
    wg_fatbin_choose(data, n, 90, &i, NULL);
    return 0;
}
