/* blas_memory.c - between device memory in any type and doubles on the host. */
#include "shim/blas_memory.h"
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

unsigned wg_blas_bytes(int type)
{
    switch (type) {
    case WG_F32: case WG_I32: return 4;
    case WG_F64: return 8;
    case WG_F16: case WG_BF16: return 2;
    case WG_I8: return 1;
    default: return 0;
    }
}

bool wg_blas_copy(void *stream, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                  size_t height)
{
    enum { BY_ADDRESS = 4 }; /* cudaMemcpyDefault */
    union { /* the runtime is the program's own, and may be another version's than the one this was linked beside */
        void *p;
        int (*call)(void *, size_t, const void *, size_t, size_t, size_t, int, void *);
    } copy = {.p = dlsym(RTLD_DEFAULT, "cudaMemcpy2DAsync")};
    union { void *p; int (*call)(void *); } wait = {.p = dlsym(RTLD_DEFAULT, "cudaStreamSynchronize")};
    return copy.p && wait.p && copy.call(to, to_pitch, from, from_pitch, width, height, BY_ADDRESS, stream) == 0 &&
           wait.call(stream) == 0;
}

static double value_of(const void *p, int type)
{
    float f;
    double d;
    int32_t i;
    _Float16 h;
    uint16_t b;
    uint32_t bits;
    switch (type) {
    case WG_F32: memcpy(&f, p, 4); return (double)f;
    case WG_F64: memcpy(&d, p, 8); return d;
    case WG_F16: memcpy(&h, p, 2); return (double)h;
    case WG_I8: return *(const int8_t *)p;
    case WG_I32: memcpy(&i, p, 4); return i;
    default:
        memcpy(&b, p, 2);
        bits = (uint32_t)b << 16;
        memcpy(&f, &bits, 4);
        return (double)f;
    }
}

static void keep(void *p, int type, double v)
{
    float f = (float)v;
    int32_t i;
    _Float16 h;
    uint16_t b;
    uint32_t bits;
    switch (type) {
    case WG_F32: memcpy(p, &f, 4); break;
    case WG_F64: memcpy(p, &v, 8); break;
    case WG_F16: h = (_Float16)v; memcpy(p, &h, 2); break;
    case WG_I8: *(int8_t *)p = (int8_t)(v < -128 ? -128 : v > 127 ? 127 : v); break;
    case WG_I32: i = (int32_t)(int64_t)v; memcpy(p, &i, 4); break;
    default:
        memcpy(&bits, &f, 4);
        b = isnan(f) ? 0x7fff : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
        memcpy(p, &b, 2);
    }
}

bool wg_blas_read(void *stream, const void *from, int type, int64_t rows, int64_t cols, int64_t ld, double *to)
{
    const size_t size = wg_blas_bytes(type), row = (size_t)rows * size;
    char *raw = rows > 0 && cols > 0 ? malloc(row * (size_t)cols) : NULL;
    if (rows <= 0 || cols <= 0)
        return true;
    bool ok = raw && wg_blas_copy(stream, raw, row, from, (size_t)ld * size, row, (size_t)cols);
    for (size_t i = 0; ok && i < (size_t)(rows * cols); i++)
        to[i] = value_of(raw + i * size, type);
    free(raw);
    return ok;
}

bool wg_blas_write(void *stream, void *to, int type, int64_t rows, int64_t cols, int64_t ld, const double *from)
{
    const size_t size = wg_blas_bytes(type), row = (size_t)rows * size;
    char *raw = rows > 0 && cols > 0 ? malloc(row * (size_t)cols) : NULL;
    if (rows <= 0 || cols <= 0)
        return true;
    for (size_t i = 0; raw && i < (size_t)(rows * cols); i++)
        keep(raw + i * size, type, from[i]);
    const bool ok = raw && wg_blas_copy(stream, to, (size_t)ld * size, raw, row, row, (size_t)cols);
    free(raw);
    return ok;
}

bool wg_blas_get(void *stream, bool device, const void *p, int type, double *out)
{
    if (device)
        return wg_blas_read(stream, p, type, 1, 1, 1, out);
    *out = value_of(p, type);
    return true;
}

bool wg_blas_put(void *stream, bool device, void *p, int type, double value)
{
    if (device)
        return wg_blas_write(stream, p, type, 1, 1, 1, &value);
    keep(p, type, value);
    return true;
}
