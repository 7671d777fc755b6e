/* args.c - parses kernel arguments and fills buffers. */
#include "cli/args.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct { char name[4]; char kind; uint8_t bytes; } types[WG_ARG_TYPES] = {
    {"u8", 'u', 1},  {"u16", 'u', 2}, {"u32", 'u', 4}, {"u64", 'u', 8}, {"s8", 's', 1},  {"s16", 's', 2},  {"s32", 's', 4},
    {"s64", 's', 8}, {"b8", 'b', 1},  {"b16", 'b', 2}, {"b32", 'b', 4}, {"b64", 'b', 8}, {"f32", 'f', 4}, {"f64", 'f', 8},
};
#define SHAPES "zeros, fill, iota, random, file, bytes or a type"

size_t wg_arg_type_bytes(enum wg_arg_type t) { return types[t].bytes; }

__attribute__((format(printf, 3, 4))) static bool bad(char *err, size_t n, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err, n, fmt, ap);
    va_end(ap);
    return false;
}

/* Splits s at colons into at most max parts; the last keeps what follows. The parts point into copy. */
static size_t split(char *copy, char **part, size_t max)
{
    size_t n = 0;
    for (part[n++] = copy; n < max && (copy = strchr(copy, ':')); n++) {
        *copy++ = 0;
        part[n] = copy;
    }
    return n;
}

static bool find_type(const char *s, enum wg_arg_type *t)
{
    for (int i = 0; i < WG_ARG_TYPES; i++)
        if (!strcmp(s, types[i].name)) {
            *t = (enum wg_arg_type)i;
            return true;
        }
    return false;
}

/* One value as the bits of its type. Out of range is refused, not wrapped; b types take what fits their bits. */
static bool value(const char *s, enum wg_arg_type t, uint64_t *bits)
{
    char *end;
    unsigned width = types[t].bytes * 8u;
    errno = 0;
    if (!*s || isspace((unsigned char)*s))
        return false;
    if (types[t].kind == 'f') {
        double d = strtod(s, &end);
        float f = types[t].bytes == 4 ? strtof(s, &end) : 0;
        if (types[t].bytes == 4) {
            uint32_t u;
            memcpy(&u, &f, 4);
            *bits = u;
        } else {
            memcpy(bits, &d, 8);
        }
        return !*end && !(errno == ERANGE && (types[t].bytes == 4 ? isinf(f) : isinf(d)));
    }
    bool minus = *s == '-';
    const char *digits = s + (minus || *s == '+');
    if (!isdigit((unsigned char)*digits) || (minus && types[t].kind != 's'))
        return false;
    uint64_t v = strtoull(digits, &end, digits[0] == '0' && (digits[1] | 32) == 'x' ? 16 : 10);
    uint64_t max = types[t].kind == 's' ? (UINT64_C(1) << (width - 1)) - !minus : UINT64_MAX >> (64 - width);
    if (*end || errno || v > max)
        return false;
    *bits = (minus ? 0 - v : v) & (UINT64_MAX >> (64 - width));
    return true;
}

static bool count(const char *s, uint64_t *n)
{
    char *end;
    errno = 0;
    if (!isdigit((unsigned char)*s))
        return false;
    *n = strtoull(s, &end, 10);
    return !*end && !errno && *n > 0;
}

static void put(struct wg_arg *a, size_t i, uint64_t bits)
{
    memcpy(a->data + i * types[a->type].bytes, &bits, types[a->type].bytes); /* little endian, as the device is */
}

static uint64_t next(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15u); /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t random_bits(enum wg_arg_type t, uint64_t *state, uint64_t below)
{
    uint64_t r = next(state), bits = 0;
    if (types[t].kind == 'f') {
        double d = (double)(r >> 11) * 0x1p-53;
        float f = (float)(r >> 40) * 0x1p-24f;
        types[t].bytes == 4 ? memcpy(&bits, &f, 4) : memcpy(&bits, &d, 8);
        return bits;
    }
    return below ? r % below : r;
}

static bool file(const char *spec, const char *path, struct wg_arg *a, char *err, size_t n)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return bad(err, n, "argument %s: cannot read %s: %s", spec, path, strerror(errno));
    size_t cap = 0, used = 0, got;
    do {
        if (used == cap) {
            uint8_t *p = realloc(a->data, cap = cap ? cap * 2 : 65536);
            if (!p) {
                fclose(f);
                return bad(err, n, "argument %s: out of memory", spec);
            }
            a->data = p;
        }
        got = fread(a->data + used, 1, cap - used, f);
        used += got;
    } while (got);
    int e = ferror(f) ? errno : 0;
    fclose(f);
    if (e)
        return bad(err, n, "argument %s: cannot read %s: %s", spec, path, strerror(e));
    if (!used || used % types[a->type].bytes)
        return bad(err, n, "argument %s: %s has %zu bytes, not a multiple of %u", spec, path, used, types[a->type].bytes);
    a->bytes = used;
    return true;
}

static bool bytes(const char *spec, const char *hex, struct wg_arg *a, char *err, size_t n)
{
    size_t len = strlen(hex);
    if (!len || len % 2 || strspn(hex, "0123456789abcdefABCDEF") != len)
        return bad(err, n, "argument %s: bytes takes pairs of hexadecimal digits", spec);
    a->type = WG_ARG_B8;
    a->bytes = len / 2;
    a->data = calloc(a->bytes, 1);
    for (size_t i = 0; a->data && i < a->bytes; i++) {
        char two[3] = {hex[2 * i], hex[2 * i + 1], 0};
        a->data[i] = (uint8_t)strtoul(two, NULL, 16);
    }
    return a->data || bad(err, n, "argument %s: out of memory", spec);
}

/* SHAPE:TYPE:N[:...] */
static bool buffer(const char *spec, char **part, size_t nparts, struct wg_arg *a, char *err, size_t n)
{
    bool fill = !strcmp(part[0], "fill"), iota = !strcmp(part[0], "iota"), rnd = !strcmp(part[0], "random");
    uint64_t elems, bits = 0, seed = 1, below = 0;
    if (!find_type(part[1], &a->type))
        return bad(err, n, "argument %s: %s is no type; types are u s b of 8 16 32 64, f32, f64", spec, part[1]);
    if (!strcmp(part[0], "file"))
        return file(spec, part[2], a, err, n);
    if (nparts != 3u + fill && !(rnd && nparts <= 5))
        return bad(err, n, "argument %s: %s takes TYPE:N%s", spec, part[0], fill ? ":VALUE" : rnd ? "[:SEED[:BELOW]]" : "");
    if (!count(part[2], &elems) || elems > (UINT64_C(1) << 40) / types[a->type].bytes)
        return bad(err, n, "argument %s: %s is no count of elements from 1 to 1 TiB", spec, part[2]);
    if (fill && !value(part[3], a->type, &bits))
        return bad(err, n, "argument %s: %s is no value of %s", spec, part[3], types[a->type].name);
    if (rnd && nparts > 3 && !value(part[3], WG_ARG_U64, &seed))
        return bad(err, n, "argument %s: %s is no seed", spec, part[3]);
    if (rnd && nparts > 4 && (types[a->type].kind == 'f' || !count(part[4], &below)))
        return bad(err, n, "argument %s: BELOW is an integer from 1, and for integers only", spec);
    a->bytes = elems * types[a->type].bytes;
    if (!fill && !iota && !rnd)
        return true;
    a->data = malloc(a->bytes);
    if (!a->data)
        return bad(err, n, "argument %s: out of memory", spec);
    for (uint64_t i = 0; i < elems; i++) {
        if (iota && types[a->type].kind == 'f') {
            float f = (float)i;
            double d = (double)i;
            types[a->type].bytes == 4 ? memcpy(&bits, &f, 4) : memcpy(&bits, &d, 8);
        } else if (iota) {
            bits = i;
        } else if (rnd) {
            bits = random_bits(a->type, &seed, below);
        }
        put(a, i, bits);
    }
    return true;
}

bool wg_arg_parse(const char *spec, struct wg_arg *a, char *err, size_t n)
{
    static const char *const shapes[] = {"zeros", "fill", "iota", "random", "file"};
    *a = (struct wg_arg){0};
    char *copy = strdup(spec), *part[6];
    if (!copy)
        return bad(err, n, "out of memory");
    size_t nparts = split(copy, part, !strncmp(spec, "file:", 5) ? 3 : 6);
    bool ok, is_shape = false;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        is_shape |= !strcmp(part[0], shapes[i]);
    uint64_t bits;
    if (is_shape && nparts < 3) {
        ok = bad(err, n, "argument %s: a buffer is SHAPE:TYPE:N; see `warpgrind help arguments`", spec);
    } else if (is_shape) {
        a->is_buffer = true;
        ok = buffer(spec, part, nparts, a, err, n);
    } else if (!strcmp(part[0], "bytes") && nparts == 2) {
        ok = bytes(spec, part[1], a, err, n);
    } else if (!find_type(part[0], &a->type) || nparts != 2) {
        ok = bad(err, n, "argument %s: expected " SHAPES ", a colon and a value; see `warpgrind help arguments`", spec);
    } else if (!value(part[1], a->type, &bits)) {
        ok = bad(err, n, "argument %s: %s is no value of %s", spec, part[1], part[0]);
    } else {
        a->bytes = types[a->type].bytes;
        a->data = malloc(a->bytes);
        ok = a->data || bad(err, n, "out of memory");
        if (ok)
            put(a, 0, bits);
    }
    free(copy);
    if (!ok)
        wg_arg_free(a);
    return ok;
}

void wg_arg_free(struct wg_arg *a)
{
    free(a->data);
    *a = (struct wg_arg){0};
}

void wg_arg_print(FILE *out, enum wg_arg_type type, const void *data, size_t nbytes)
{
    size_t size = types[type].bytes;
    for (size_t i = 0; i + size <= nbytes; i += size) {
        uint64_t bits = 0;
        memcpy(&bits, (const char *)data + i, size);
        unsigned shift = 64 - 8 * (unsigned)size;
        float f;
        double d;
        switch (types[type].kind) {
        case 'f':
            memcpy(&f, &bits, 4);
            memcpy(&d, &bits, 8);
            size == 4 ? fprintf(out, "%.9g\n", (double)f) : fprintf(out, "%.17g\n", d);
            break;
        case 's':
            fprintf(out, "%" PRId64 "\n", (int64_t)(bits << shift) >> shift);
            break;
        case 'b':
            fprintf(out, "0x%0*" PRIx64 "\n", (int)size * 2, bits);
            break;
        default:
            fprintf(out, "%" PRIu64 "\n", bits);
        }
    }
}

bool wg_arg_dims(const char *s, unsigned out[3])
{
    out[0] = out[1] = out[2] = 1;
    for (int i = 0; i < 3; i++) {
        char *end;
        errno = 0;
        if (!isdigit((unsigned char)*s))
            return false;
        unsigned long v = strtoul(s, &end, 10);
        if (errno || v < 1 || v > UINT32_MAX)
            return false;
        out[i] = (unsigned)v;
        if (!*end)
            return true;
        if (*end != 'x' && *end != ',')
            return false;
        s = end + 1;
    }
    return false;
}
