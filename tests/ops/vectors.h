/* vectors.h - reads the results that a GPU gave for the variants of legal.def (tools/vectors/run.cu describes the
 * file). */
#ifndef OPS_VECTORS_H
#define OPS_VECTORS_H
#include "../ref/ref.h"

struct vector {
    char *name;
    uint32_t status;             /* CUresult; 0: it ran */
    uint32_t nsrc, src[REF_MAX]; /* numbers of pools */
    uint32_t ndst, bytes[REF_MAX];
    uint64_t *dst[REF_MAX];
};
struct vectors {
    uint32_t sets, driver, npools, n;
    char *device;
    uint64_t **pools;
    struct vector *v;
};
/* NULL after a message on stderr. The process keeps it. */
struct vectors *vectors_read(const char *path);
#endif
