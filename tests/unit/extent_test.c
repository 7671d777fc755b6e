/* extent_test.c - element size and dimensions of shared arrays, from declarations as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "exec/extent.h"

/* want: element size and dimensions; "" where the text must not be believed */
static const struct { const char *text, *name; uint64_t bytes; uint32_t line; const char *want; } rows[] = {
    {"__shared__ float s[64];", "s", 256, 0, "4 64"},
    {"__shared__ float As[32][33], Bs[32][32];", "As", 4224, 0, "4 32 33"},
    {"__shared__ float As[32][33], Bs[32][32];", "Bs", 4096, 0, "4 32 32"},
    {"__shared__ float As[32][33];", "As", 4096, 0, ""},
    {"#define TILE 16 // a side\n__shared__ double t[TILE][TILE + 1];", "t", 2176, 0, "8 16 17"},
    {"#define TILE (8 * 2)\n#define PITCH (TILE+1)\n__shared__ int t[TILE][PITCH];", "t", 1088, 0, "4 16 17"},
    {"constexpr int N = 4, M = N * 8;\n__shared__ unsigned char t[N][M];", "t", 128, 0, "1 4 32"},
    {"template <int N> __global__ void k() { __shared__ float t[N][N + 1]; }", "t", 1088, 0, "4 16 17"},
    {"template <int N, int M> __global__ void k() { __shared__ float t[N][M]; }", "t", 1024, 0, ""},
    {"template <class T> __global__ void k() { __shared__ T t[8][4]; }", "t", 256, 0, "8 8 4"},
    {"__shared__ __align__(16) half t[2][8 * 16];", "t", 512, 0, "2 2 128"},
    {"__shared__ unsigned long long t[4];", "t", 32, 0, "8 4"},
    {"__shared__ long int t[4];", "t", 32, 0, "8 4"},
    {"__shared__ unsigned int t[4];", "t", 16, 0, "4 4"},
    {"extern __shared__ float d[];", "d", 0, 0, "4 0"},
    {"extern __shared__ float d[][32];", "d", 0, 0, "4 0 32"},
    {"/* __shared__ float s[8]; */ // __shared__ float s[8];\n__shared__ int s[2][4];", "s", 32, 0, "4 2 4"},
    {"const char *c = \"__shared__ int s[8];\"; __shared__ int s[4][2];", "s", 32, 0, "4 4 2"},
    {"__shared__ int s[8][4];\n\n\n__shared__ int s[4][8];", "s", 128, 1, "4 8 4"},
    {"__shared__ int s[8][4];\n\n\n__shared__ int s[4][8];", "s", 128, 4, "4 4 8"},
    {"__shared__ int other[8];", "s", 32, 0, ""},
    {"__shared__ int s;", "s", 4, 0, ""},
    {"#define A B\n#define B A\n__shared__ int s[A];", "s", 32, 0, "4 8"},
    {"__shared__ int s[", "s", 32, 0, ""},
    {"__shared__ int s[9999999999999][9999999999999];", "s", 32, 0, ""},
    {"__shared__ int s[8 / 0];", "s", 32, 0, ""},
    {"__shared__ int s[((((((((8))))))))];", "s", 32, 0, "4 8"},
    {"__shared__ ", "s", 32, 0, ""},
    {"", "s", 32, 0, ""},
};

static void declarations(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct wg_extent x;
        char got[128] = "";
        if (wg_extent_find(rows[k].text, strlen(rows[k].text), rows[k].name, rows[k].bytes, rows[k].line, &x)) {
            snprintf(got, sizeof got, "%u", x.elem);
            for (uint32_t d = 0; d < x.ndims; d++)
                snprintf(got + strlen(got), sizeof got - strlen(got), " %u", x.dim[d]);
        }
        if (strcmp(got, rows[k].want))
            fail_msg("%s of \"%s\": \"%s\", not \"%s\"", rows[k].name, rows[k].text, got, rows[k].want);
    }
}

static void deep_nesting_ends(void **state)
{
    static char text[200000] = "__shared__ int s[";
    struct wg_extent x;
    (void)state;
    memset(text + strlen(text), '(', sizeof text - 100);
    assert_false(wg_extent_find(text, strlen(text), "s", 32, 0, &x));
    memset(text + 17, '-', sizeof text - 100);
    assert_false(wg_extent_find(text, strlen(text), "s", 32, 0, &x));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(declarations), cmocka_unit_test(deep_nesting_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
