/* escape.c - safe display of text that programs chose, column counting, number formats. */
#include "report/escape.h"
#include <inttypes.h>
#include <string.h>

/* One character of UTF-8 (the profile holds nothing else; a stray byte counts as itself). */
static size_t next(const char *s, size_t n, uint32_t *cp)
{
    const unsigned char *u = (const unsigned char *)s;
    size_t k = u[0] < 0xc0 ? 1 : u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : 2;
    if (k > n)
        k = 1;
    *cp = k == 1 ? u[0] : u[0] & (0x7fu >> k);
    for (size_t i = 1; i < k; i++)
        *cp = *cp << 6 | (u[i] & 0x3f);
    return k;
}

/* Control characters, and those that change direction, join invisibly or take no room: they could disguise text. */
static bool hidden(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || c == 0x061c ||
           (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe0fff);
}

/* East Asian wide and emoji blocks take two columns, combining marks none. */
static unsigned columns(uint32_t c)
{
    if ((c >= 0x300 && c <= 0x36f) || (c >= 0x1ab0 && c <= 0x1aff) || (c >= 0x20d0 && c <= 0x20ff) ||
        (c >= 0xfe00 && c <= 0xfe0f) || (c >= 0xfe20 && c <= 0xfe2f))
        return 0;
    return (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf && c != 0x303f) || (c >= 0xac00 && c <= 0xd7a3) ||
                   (c >= 0xf900 && c <= 0xfaff) || (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
                   (c >= 0xffe0 && c <= 0xffe6) || (c >= 0x1f300 && c <= 0x1f64f) || (c >= 0x1f900 && c <= 0x1f9ff) ||
                   (c >= 0x20000 && c <= 0x3fffd)
               ? 2
               : 1;
}

/* One character as it is shown, in buf; returns its bytes and sets *w to its columns. */
static size_t shown(char buf[16], const char *s, size_t k, uint32_t c, unsigned at, unsigned *w)
{
    if (c == '\t') {
        *w = 4 - at % 4;
        memset(buf, ' ', *w);
        return *w;
    }
    if (hidden(c)) {
        int n = snprintf(buf, 16, c < 0x100 ? "\\x%02" PRIx32 : c < 0x10000 ? "\\u%04" PRIx32 : "\\U%08" PRIx32, c);
        *w = (unsigned)n;
        return (size_t)n;
    }
    *w = columns(c);
    memcpy(buf, s, k);
    return k;
}

size_t wg_escape_next(char buf[16], const char *s, size_t n, size_t *bytes)
{
    uint32_t c;
    unsigned w;
    size_t k = next(s, n, &c);
    *bytes = shown(buf, s, k, c, 0, &w);
    return k;
}

unsigned wg_escape_width(const char *s, size_t n)
{
    char buf[16];
    unsigned total = 0, w;
    uint32_t c;
    for (size_t i = 0, k; i < n && s[i] != '\n'; i += k) {
        k = next(s + i, n - i, &c);
        if (c == '\r' && (i + 1 == n || s[i + 1] == '\n'))
            break;
        shown(buf, s + i, k, c, total, &w);
        total += w;
    }
    return total;
}

unsigned wg_escape(FILE *out, const char *s, size_t n, unsigned width)
{
    char buf[16];
    unsigned total = 0, w;
    bool cut = width && wg_escape_width(s, n) > width;
    unsigned room = cut ? (width > 3 ? width - 3 : 0) : UINT32_MAX;
    uint32_t c;
    for (size_t i = 0, k; i < n && s[i] != '\n'; i += k) {
        k = next(s + i, n - i, &c);
        if (c == '\r' && (i + 1 == n || s[i + 1] == '\n'))
            break;
        size_t bytes = shown(buf, s + i, k, c, total, &w);
        if (total + w > room)
            break;
        fwrite(buf, 1, bytes, out);
        total += w;
    }
    for (unsigned i = 0; cut && i < 3 && total < width; i++, total++)
        fputc('.', out);
    return total;
}

size_t wg_escape_fit(const char *s, size_t n, unsigned width)
{
    char buf[16];
    unsigned total = 0, w;
    uint32_t c;
    size_t i = 0;
    for (size_t k; i < n && s[i] != '\n'; i += k) {
        k = next(s + i, n - i, &c);
        shown(buf, s + i, k, c, total, &w);
        if (total + w > width && i)
            break;
        total += w;
    }
    return i;
}

static void group(char *buf, const char *digits)
{
    size_t n = strcspn(digits, ".");
    char *d = buf;
    for (size_t i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            *d++ = ',';
        *d++ = digits[i];
    }
    strcpy(d, digits + n);
}

const char *wg_format_count(char *buf, uint64_t v)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, v);
    group(buf, digits);
    return buf;
}

const char *wg_format_ratio(char *buf, double v)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%.1f", v < 1e15 ? v : 1e15);
    group(buf, digits);
    return buf;
}

const char *wg_format_percent(char *buf, uint64_t part, uint64_t whole)
{
    double p = whole ? 100.0 * (double)part / (double)whole : 0;
    if (part && p < 0.1)
        snprintf(buf, WG_NUMBER_BYTES, "under 0.1 %%");
    else if (part < whole && p > 99.9)
        snprintf(buf, WG_NUMBER_BYTES, "99.9 %%");
    else if ((p > 0 && p < 10) || (p > 99 && p < 100))
        snprintf(buf, WG_NUMBER_BYTES, "%.1f %%", p);
    else
        snprintf(buf, WG_NUMBER_BYTES, "%.0f %%", p);
    return buf;
}

const char *wg_format_bytes(char *buf, uint64_t v)
{
    wg_format_count(buf, v);
    strcat(buf, v == 1 ? " byte" : " bytes");
    return buf;
}
