/* replay.c - runs a fuzz target once on each file named on the command line, where libFuzzer is not at hand. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f) {
            perror(argv[i]);
            return 1;
        }
        size_t n = 0, cap = 4096, k;
        uint8_t *b = malloc(cap);
        while (b && (k = fread(b + n, 1, cap - n, f)) > 0)
            if ((n += k) == cap)
                b = realloc(b, cap *= 2);
        fclose(f);
        if (!b)
            return 1;
        uint8_t *exact = malloc(n ? n : 1); /* so that reading past the end is seen */
        if (!exact)
            return 1;
        for (size_t j = 0; j < n; j++)
            exact[j] = b[j];
        free(b);
        LLVMFuzzerTestOneInput(exact, n);
        free(exact);
    }
    printf("%d inputs\n", argc - 1);
    return argc > 1 ? 0 : 1;
}
