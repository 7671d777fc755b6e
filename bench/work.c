/* work.c - sizes, inputs and plain C results of the benchmark kernels. */
#include "work.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint32_t hash(uint32_t x)
{
    x = (x ^ x >> 16) * 0x45d9f3bu;
    x = (x ^ x >> 16) * 0x45d9f3bu;
    return x ^ x >> 16;
}

static void shape(struct work *w, unsigned gx, unsigned gy, unsigned bx, unsigned by)
{
    w->grid[0] = gx, w->grid[1] = gy, w->block[0] = bx, w->block[1] = by;
}

static bool layout(struct work *w, unsigned n)
{
    const char *k = w->kernel;
    size_t square = (size_t)n * n, line = (size_t)n * 1024;
    bool naive = !strcmp(k, "sgemm_naive");
    w->unit = "element";
    if (naive || !strcmp(k, "sgemm_tiled")) {
        w->unit = "multiply-add";
        w->units = (double)square * n;
        w->bytes[0] = w->bytes[1] = w->bytes[2] = square * 4;
        w->output = 2;
        w->takes_n = true;
        shape(w, n / 32, naive ? n / 8 : n / 32, 32, naive ? 8 : 32);
        return n % 32 == 0;
    }
    w->output = 1;
    w->units = (double)line;
    w->bytes[0] = line * 4;
    if (!strcmp(k, "transpose")) {
        w->units = (double)square;
        w->bytes[0] = w->bytes[1] = square * 4;
        w->takes_n = true;
        shape(w, n / 32, n / 32, 32, 8);
        return n % 32 == 0;
    }
    if (!strcmp(k, "reduce")) {
        w->bytes[1] = line / 512 * 4;
        shape(w, (unsigned)(line / 512), 1, 256, 1);
    } else if (!strcmp(k, "histogram")) {
        w->bytes[1] = 256 * 4;
        shape(w, (unsigned)(line / 4096), 1, 256, 1);
    } else if (!strcmp(k, "divergent")) {
        w->bytes[1] = line * 4;
        shape(w, (unsigned)(line / 256), 1, 256, 1);
    } else {
        return false;
    }
    return n % 4 == 0;
}

bool work_init(struct work *w, const char *kernel, unsigned n)
{
    *w = (struct work){.kernel = kernel, .n = n};
    if (n == 0 || n > 1u << 14 || !layout(w, n))
        return false;
    for (unsigned b = 0; b < WORK_BUFFERS; b++) {
        if (!w->bytes[b])
            continue;
        w->host[b] = calloc(1, w->bytes[b]);
        if (!w->host[b]) {
            work_free(w);
            return false;
        }
        bool whole = !strcmp(kernel, "histogram") || !strcmp(kernel, "divergent");
        for (size_t i = 0; b != w->output && i < w->bytes[b] / 4; i++) {
            uint32_t h = hash((uint32_t)i + b * 7919u);
            if (whole)
                ((uint32_t *)w->host[b])[i] = h % 100000 + 1;
            else
                ((float *)w->host[b])[i] = (float)(h % 1024) / 1024.0f; /* sums of products stay near exact */
        }
    }
    return true;
}

static bool close_to(double got, double want)
{
    return fabs(got - want) <= 1e-3 * (1 + fabs(want));
}

static bool check_sgemm(const struct work *w)
{
    const float *A = w->host[0], *B = w->host[1], *C = w->host[2];
    size_t n = w->n;
    for (uint32_t s = 0; s < 200; s++) {
        size_t y = hash(s) % n, x = hash(s + 1000) % n;
        double sum = 0;
        for (size_t k = 0; k < n; k++)
            sum += (double)A[y * n + k] * (double)B[k * n + x];
        if (!close_to((double)C[y * n + x], sum))
            return false;
    }
    return true;
}

bool work_check(const struct work *w)
{
    const float *in = w->host[0], *out = w->host[1];
    const uint32_t *uin = w->host[0], *uout = w->host[1];
    size_t count = w->bytes[0] / 4, n = w->n;
    if (w->output == 2)
        return check_sgemm(w);
    if (!strcmp(w->kernel, "transpose")) {
        for (size_t i = 0; i < count; i++)
            if (out[i] != in[i % n * n + i / n])
                return false;
    } else if (!strcmp(w->kernel, "reduce")) {
        for (size_t b = 0; b < count / 512; b++) {
            double sum = 0;
            for (size_t i = 0; i < 512; i++)
                sum += (double)in[b * 512 + i];
            if (!close_to((double)out[b], sum))
                return false;
        }
    } else if (!strcmp(w->kernel, "histogram")) {
        uint32_t want[256] = {0};
        for (size_t i = 0; i < count; i++)
            want[uin[i] & 255]++;
        return !memcmp(want, uout, sizeof want);
    } else {
        for (size_t i = 0; i < count; i++) {
            uint32_t v = uin[i], steps = 0;
            for (; v > 1; steps++)
                v = v & 1 ? 3 * v + 1 : v >> 1;
            if (uout[i] != steps)
                return false;
        }
    }
    return true;
}

void work_free(struct work *w)
{
    for (unsigned b = 0; b < WORK_BUFFERS; b++) {
        free(w->host[b]);
        w->host[b] = NULL;
    }
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct work_time work_now(void)
{
    return (struct work_time){seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID)};
}

struct work_time work_since(struct work_time start)
{
    struct work_time t = work_now();
    return (struct work_time){t.wall - start.wall, t.cpu - start.cpu};
}

int work_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double work_median(double *v, size_t n)
{
    qsort(v, n, sizeof *v, work_compare);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}
