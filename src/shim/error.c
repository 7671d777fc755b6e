/* error.c - the last error of each host thread, and the names and texts of all codes. */
#include "shim/state.h"
#include <stdlib.h>

struct text { int code, since; const char *name, *text; };
static const struct text texts[] = {
#define WG_ERROR(code, name, since, text) {code, since, #name, text},
#include "shim/errors.def"
#undef WG_ERROR
};

static int by_code(const void *key, const void *row)
{
    const int code = *(const int *)key, at = ((const struct text *)row)->code;
    return code < at ? -1 : code > at;
}

static const struct text *find(int code)
{
    const struct text *t = bsearch(&code, texts, sizeof texts / sizeof *texts, sizeof *texts, by_code);
    return t && t->since <= WG_CUDART_MAJOR ? t : NULL;
}

WG_EXPORT int cudaGetLastError(void);
WG_EXPORT int cudaPeekAtLastError(void);

const char *cudaGetErrorName(int code)
{
    const struct text *t = find(code);
    return t ? t->name : "unrecognized error code";
}

const char *cudaGetErrorString(int code)
{
    const struct text *t = find(code);
    return t ? t->text : "unrecognized error code";
}

int cudaGetLastError(void) { return (int)wg_shim_last_error(true); }

int cudaPeekAtLastError(void) { return (int)wg_shim_last_error(false); }
