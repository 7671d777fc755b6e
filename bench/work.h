/* work.h - the work that bench/engine and bench/peers time: sizes, shapes, inputs, and whether a result is right. */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H
#include <stdbool.h>
#include <stddef.h>

enum { WORK_BUFFERS = 3 };
/* One kernel at one size. Every kernel takes its buffers, inputs first, then n if takes_n. */
struct work {
    const char *kernel;
    const char *unit; /* what `units` counts: "multiply-add", "element" */
    unsigned n;       /* the size: matrix order, or thousands of elements */
    double units;
    unsigned grid[2], block[2]; /* in blocks, in threads */
    size_t bytes[WORK_BUFFERS]; /* 0: no such buffer */
    unsigned output;            /* which buffer is the result; it starts as zeros */
    bool takes_n;
    void *host[WORK_BUFFERS]; /* contents; [output] is where the caller puts the result before work_check */
};

/* Fills *w for a kernel of kernels.cu at size n (a multiple of 32; for the linear kernels, n * 1024 elements, n a
 * multiple of 4). False: no such kernel, size or memory. */
bool work_init(struct work *w, const char *kernel, unsigned n);
/* Is w->host[w->output] right? Checks all of a linear result, a sample of a matrix, against plain C. */
bool work_check(const struct work *w);
void work_free(struct work *w);

/* Two clocks at once. The CPU time of all threads stands still while others have the machine: on a busy one it is what
 * compares programs of one worker; the wall clock is what several workers shorten. */
struct work_time {
    double wall, cpu; /* seconds */
};
struct work_time work_now(void);
struct work_time work_since(struct work_time start);
int work_compare(const void *a, const void *b); /* doubles, for qsort */
double work_median(double *v, size_t n);        /* sorts v */
#endif
