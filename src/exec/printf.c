/* printf.c - formats a kernel's printf from its format string and packed argument buffer. */
#include "exec/printf.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct sink {
    char *out;
    size_t cap, len;
};

static void put(struct sink *s, const char *text, size_t n)
{
    if (s->len < s->cap) {
        size_t room = s->cap - s->len;
        memcpy(s->out + s->len, text, n < room ? n : room);
    }
    s->len += n;
}

static void fill(struct sink *s, char c, size_t n)
{
    if (s->len < s->cap) {
        size_t room = s->cap - s->len;
        memset(s->out + s->len, c, n < room ? n : room);
    }
    s->len += n;
}

struct args {
    const uint8_t *bytes;
    size_t n, at;
    int used;
};

/* The next argument of 4 or 8 bytes; false when there is none. */
static bool next(struct args *a, unsigned size, uint64_t *v)
{
    size_t at = (a->at + size - 1) / size * size;
    if (a->used >= WG_PRINTF_MAX_ARGS || a->n < size || at > a->n - size)
        return false;
    *v = 0;
    if (a->bytes)
        memcpy(v, a->bytes + at, size);
    a->at = at + size;
    a->used++;
    return true;
}

enum size_mod { SIZE_NONE, SIZE_HH, SIZE_H, SIZE_L, SIZE_LL };

struct spec {
    bool left, plus, space, alt, zero;
    bool star_width, star_precision;
    long width, precision; /* precision -1: none */
    enum size_mod size;
    char conv;
    const char *end; /* past the conversion */
};

static const char *number(const char *p, long *v)
{
    for (*v = 0; *p >= '0' && *p <= '9'; p++)
        if (*v <= (long)WG_PRINTF_MAX_WIDTH)
            *v = *v * 10 + (*p - '0');
    return p;
}

/* Parses what follows a '%'. */
static struct spec parse(const char *p)
{
    struct spec s = {.precision = -1};
    for (;; p++) {
        if (*p == '-')
            s.left = true;
        else if (*p == '+')
            s.plus = true;
        else if (*p == ' ')
            s.space = true;
        else if (*p == '#')
            s.alt = true;
        else if (*p == '0')
            s.zero = true;
        else
            break;
    }
    s.star_width = *p == '*';
    p = s.star_width ? p + 1 : number(p, &s.width);
    if (*p == '.') {
        s.star_precision = p[1] == '*';
        p = s.star_precision ? p + 2 : number(p + 1, &s.precision);
    }
    for (;; p++) {
        if (*p == 'h')
            s.size = s.size == SIZE_H ? SIZE_HH : SIZE_H;
        else if (*p == 'l')
            s.size = s.size == SIZE_L ? SIZE_LL : SIZE_L;
        else if (*p == 'j' || *p == 'z' || *p == 't')
            s.size = SIZE_LL;
        else if (*p != 'L') /* CUDA's long double is double */
            break;
    }
    s.conv = *p;
    s.end = *p ? p + 1 : p;
    return s;
}

/* Bytes of the argument that a conversion takes; 0: none. */
static unsigned arg_size(const struct spec *s)
{
    if (!s->conv)
        return 0;
    if (strchr("diouxX", s->conv))
        return s->size >= SIZE_L ? 8 : 4;
    if (s->conv == 'c')
        return 4;
    return strchr("psneEfFgGaA", s->conv) ? 8 : 0;
}

size_t wg_printf_arg_bytes(const char *fmt)
{
    struct args a = {NULL, SIZE_MAX, 0, 0};
    uint64_t v;
    for (const char *p = fmt ? strchr(fmt, '%') : NULL; p; p = strchr(p, '%')) {
        struct spec s = parse(p + 1);
        unsigned size = arg_size(&s);
        if (size) {
            if (s.star_width)
                next(&a, 4, &v);
            if (s.star_precision)
                next(&a, 4, &v);
            next(&a, size, &v);
        }
        p = s.end;
    }
    return a.at;
}

static size_t clamp(long n)
{
    return n<0 ? 0 : n>(long) WG_PRINTF_MAX_WIDTH ? WG_PRINTF_MAX_WIDTH : (size_t)n;
}

/* One field: prefix (sign, 0x), zeros, body, more zeros before the last `tail` bytes of body, padded to the width. */
static void field(struct sink *out, const struct spec *s, const char *prefix, size_t zeros, const char *body, size_t n,
                  size_t inner, size_t tail, bool zero_pad)
{
    size_t np = strlen(prefix), width = clamp(s->width), used = np + zeros + n + inner;
    size_t pad = width > used ? width - used : 0;
    if (zero_pad && s->zero && !s->left) {
        zeros += pad;
        pad = 0;
    }
    if (!s->left)
        fill(out, ' ', pad);
    put(out, prefix, np);
    fill(out, '0', zeros);
    put(out, body, n - tail);
    fill(out, '0', inner);
    put(out, body + n - tail, tail);
    if (s->left)
        fill(out, ' ', pad);
}

static void integer(struct sink *out, const struct spec *s, uint64_t v)
{
    bool is_signed = s->conv == 'd' || s->conv == 'i', minus = false;
    unsigned bits = s->size >= SIZE_L ? 64 : s->size == SIZE_HH ? 8 : s->size == SIZE_H ? 16 : 32;
    if (bits < 64)
        v &= ((uint64_t)1 << bits) - 1;
    if (is_signed && v >> (bits - 1)) {
        minus = true;
        v = (bits < 64 ? (uint64_t)1 << bits : 0) - v;
    }
    unsigned base = s->conv == 'o' ? 8 : s->conv == 'x' || s->conv == 'X' ? 16 : 10;
    const char *digits = s->conv == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    char buf[24];
    size_t n = 0;
    const bool zero = v == 0;
    for (; v || (zero && !n && s->precision != 0); v /= base)
        buf[sizeof buf - ++n] = digits[v % base];
    size_t want = clamp(s->precision), zeros = want > n ? want - n : 0;
    const char *prefix = "";
    if (is_signed)
        prefix = minus ? "-" : s->plus ? "+" : s->space ? " " : "";
    else if (s->alt && base == 16 && !zero)
        prefix = s->conv == 'X' ? "0X" : "0x";
    else if (s->alt && base == 8 && !zeros && (!n || buf[sizeof buf - n] != '0'))
        zeros = 1;
    field(out, s, prefix, zeros, buf + sizeof buf - n, n, 0, 0, s->precision < 0);
}

static void floating(struct sink *out, const struct spec *s, double v)
{
    /* a double has at most 1074 digits after the point: those beyond are zeros, added by hand */
    enum { DIGITS = 1074 };
    char buf[DIGITS + 400], format[] = {'%', s->alt ? '#' : '.', '.', '*', s->conv, 0};
    int precision = s->precision < 0 ? -1 : s->precision > DIGITS ? DIGITS : (int)s->precision;
    bool g = s->conv == 'g' || s->conv == 'G';
    if (!s->alt)
        memmove(format + 1, format + 2, sizeof format - 2);
    int n = snprintf(buf, sizeof buf, format, precision, fabs(v));
    size_t inner = 0, len = n < 0 ? 0 : (size_t)n, skip = 0, tail = 0;
    const char *prefix = signbit(v) ? "-" : s->plus ? "+" : s->space ? " " : "";
    char with_hex[4];
    if (isfinite(v)) {
        if (s->precision > DIGITS && (!g || s->alt))
            inner = clamp(s->precision) - DIGITS;
        const char *e = strpbrk(buf + 1, s->conv == 'a' || s->conv == 'A' ? "pP" : "eE");
        tail = e ? len - (size_t)(e - buf) : 0;
        if (s->conv == 'a' || s->conv == 'A') { /* "0x" goes before zeros that pad */
            snprintf(with_hex, sizeof with_hex, "%s%.2s", prefix, buf);
            prefix = with_hex;
            skip = 2;
        }
    }
    field(out, s, prefix, 0, buf + skip, len - skip, inner, tail, isfinite(v));
}

static void string(struct sink *out, const struct spec *s, uint64_t addr, wg_printf_string read, void *owner)
{
    char chunk[257];
    size_t limit = s->precision < 0 ? SIZE_MAX : clamp(s->precision), total = 0, n;
    if (!addr || !read) {
        const char *text = addr ? "(unreadable)" : "(null)";
        n = strlen(text);
        field(out, s, "", 0, text, n < limit ? n : limit, 0, 0, false);
        return;
    }
    /* first its length (strings are bounded by the width limit too), for padding on the left */
    limit = limit > WG_PRINTF_MAX_WIDTH ? WG_PRINTF_MAX_WIDTH : limit;
    while (total < limit) {
        size_t want = limit - total < sizeof chunk - 1 ? limit - total : sizeof chunk - 1;
        n = read(owner, addr + total, chunk, want + 1);
        if (n == SIZE_MAX) {
            n = (size_t)snprintf(chunk, sizeof chunk, "(unreadable 0x%llx)", (unsigned long long)addr);
            field(out, s, "", 0, chunk, n, 0, 0, false);
            return;
        }
        total += n < want ? n : want;
        if (n < want)
            break;
    }
    size_t width = clamp(s->width), pad = width > total ? width - total : 0;
    if (!s->left)
        fill(out, ' ', pad);
    for (size_t at = 0; at < total; at += n) {
        n = total - at < sizeof chunk - 1 ? total - at : sizeof chunk - 1;
        size_t got = read(owner, addr + at, chunk, n + 1);
        if (got > n) /* changed meanwhile: by another block */
            got = 0;
        put(out, chunk, got);
        fill(out, ' ', n - got);
    }
    if (s->left)
        fill(out, ' ', pad);
}

/* One conversion; false when it has to be printed as it stands. */
static bool convert(struct sink *out, struct spec *s, struct args *a, wg_printf_string read, void *owner)
{
    uint64_t v = 0, w = 0, p = 0;
    unsigned size = arg_size(s);
    struct args before = *a;
    if (s->conv == '%') {
        put(out, "%", 1);
        return true;
    }
    if (!size)
        return false;
    if ((s->star_width && !next(a, 4, &w)) || (s->star_precision && !next(a, 4, &p)) || !next(a, size, &v)) {
        *a = before;
        a->n = 0; /* nor is there one for any conversion after it */
        return false;
    }
    if (s->star_width) {
        s->width = (int32_t)(uint32_t)w;
        if (s->width < 0) {
            s->left = true;
            s->width = -s->width;
        }
    }
    if (s->star_precision)
        s->precision = (int32_t)(uint32_t)p < 0 ? -1 : (int32_t)(uint32_t)p;
    char c = (char)v, buf[20];
    double d;
    switch (s->conv) {
    case 'c':
        field(out, s, "", 0, &c, 1, 0, 0, false);
        return true;
    case 's':
        if (s->size >= SIZE_L) /* wide strings: not CUDA's */
            return false;
        string(out, s, v, read, owner);
        return true;
    case 'p':
        snprintf(buf, sizeof buf, v ? "0x%llx" : "(nil)", (unsigned long long)v);
        field(out, s, "", 0, buf, strlen(buf), 0, 0, false);
        return true;
    case 'n':
        return false;
    default:
        if (strchr("diouxX", s->conv)) {
            integer(out, s, v);
        } else {
            memcpy(&d, &v, 8);
            floating(out, s, d);
        }
        return true;
    }
}

size_t wg_printf_format(char *out, size_t cap, const char *fmt, const uint8_t *args, size_t args_bytes,
                        wg_printf_string read, void *owner, int *count)
{
    struct sink sink = {out, cap ? cap - 1 : 0, 0};
    struct args a = {args, args ? args_bytes : 0, 0, 0};
    for (const char *p = fmt; p && *p;) {
        size_t plain = strcspn(p, "%");
        put(&sink, p, plain);
        p += plain;
        if (!*p)
            break;
        struct spec s = parse(p + 1);
        if (!convert(&sink, &s, &a, read, owner))
            put(&sink, p, (size_t)(s.end - p));
        p = s.end;
    }
    if (cap)
        out[sink.len < cap - 1 ? sink.len : cap - 1] = 0;
    if (count)
        *count = fmt ? a.used : -1;
    return sink.len;
}
