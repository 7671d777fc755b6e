/* lex.c - splits PTX text into tokens; comments and white space vanish here. */
#include "ptx/lex.h"
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_name(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }

static int hex_digit(char c)
{
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

uint64_t wg_lex_f32_to_f64(uint32_t bits)
{
    if ((bits & 0x7f800000u) == 0x7f800000u)
        return (uint64_t)(bits >> 31) << 63 | 0x7ffull << 52 | (uint64_t)(bits & 0x7fffffu) << 29;
    float f;
    memcpy(&f, &bits, 4);
    double d = f;
    uint64_t u;
    memcpy(&u, &d, 8);
    return u;
}

static void bad(struct wg_lexer *l, const char *why)
{
    l->t.kind = WG_TOK_BAD;
    l->error = why;
}

/* White space and comments; false when a comment has no end. */
static bool skip_space(struct wg_lexer *l)
{
    const char *p = l->p;
    for (;; p++) {
        if (*p == '\n') {
            l->line++;
        } else if (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\f' || *p == '\v') {
            continue;
        } else if (*p == '/' && p[1] == '/') {
            const char *q = memchr(p, '\n', (size_t)(l->end - p));
            p = (q ? q : l->end) - 1;
        } else if (*p == '/' && p[1] == '*') {
            const char *open = p;
            for (p += 2; p < l->end && !(*p == '*' && p[1] == '/'); p++)
                if (*p == '\n')
                    l->line++;
            if (p >= l->end) {
                l->p = open;
                return false;
            }
            p++;
        } else {
            l->p = p;
            return true;
        }
    }
}

static const char *scan_name(const char *p, bool dots)
{
    for (;;) {
        while (is_name(*p))
            p++;
        if (dots && *p == '.' && is_name(p[1]))
            p += 2;
        else if (*p == ':' && p[1] == ':' && is_name(p[2]))
            p += 3;
        else
            return p;
    }
}

/* 0fXXXXXXXX and 0dXXXXXXXXXXXXXXXX; false when p is neither. */
static bool scan_hex_float(struct wg_lexer *l, const char *p)
{
    int want = p[1] == 'f' || p[1] == 'F' ? 8 : p[1] == 'd' || p[1] == 'D' ? 16 : 0;
    if (p[0] != '0' || !want)
        return false;
    uint64_t v = 0;
    int k = 0;
    for (p += 2; k < want && hex_digit(*p) >= 0; k++, p++)
        v = v << 4 | (unsigned)hex_digit(*p);
    l->p = p;
    l->t.kind = WG_TOK_FLOAT;
    l->t.bits = want == 8 ? wg_lex_f32_to_f64((uint32_t)v) : v;
    if (k != want || is_name(*p))
        bad(l, want == 8 ? "a 0f constant has exactly 8 hexadecimal digits"
                         : "a 0d constant has exactly 16 hexadecimal digits");
    return true;
}

static void scan_decimal_float(struct wg_lexer *l, const char *p)
{
    /* The host program may have changed the locale, so plain strtod could expect a comma. */
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    char *q = (char *)p;
    double d = c ? strtod_l(p, &q, c) : strtod(p, &q);
    if (c)
        freelocale(c);
    memcpy(&l->t.bits, &d, 8);
    l->t.kind = WG_TOK_FLOAT;
    l->p = q > p ? q : p + 1;
}

static void scan_number(struct wg_lexer *l)
{
    const char *p = l->p;
    if (scan_hex_float(l, p))
        return;
    unsigned base = 10;
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
        base = 16, p += 2;
    else if (p[0] == '0' && (p[1] == 'b' || p[1] == 'B'))
        base = 2, p += 2;
    else {
        const char *q = p;
        while (is_digit(*q))
            q++;
        const char *e = q + 1 + (*q && (q[1] == '-' || q[1] == '+'));
        if (*q == '.' || ((*q == 'e' || *q == 'E') && is_digit(*e))) {
            scan_decimal_float(l, p);
            return;
        }
        if (p[0] == '0' && is_digit(p[1]))
            base = 8, p++;
    }
    uint64_t v = 0;
    bool over = false;
    const char *first = p;
    for (int d; (d = hex_digit(*p)) >= 0 && (unsigned)d < base; p++)
        over |= __builtin_mul_overflow(v, (uint64_t)base, &v) || __builtin_add_overflow(v, (uint64_t)d, &v);
    l->t.kind = WG_TOK_INT;
    l->t.bits = v;
    l->t.is_unsigned = v >> 63;
    if (p == first)
        bad(l, "a number needs digits after its prefix");
    if (*p == 'U' || *p == 'u')
        l->t.is_unsigned = true, p++;
    if (over)
        bad(l, "this integer does not fit 64 bits");
    if (is_name(*p))
        bad(l, "this is no number");
    l->p = p;
}

void wg_lex_next(struct wg_lexer *l)
{
    l->t.bits = 0;
    l->t.is_unsigned = false;
    if (!skip_space(l)) {
        l->t.s = l->p;
        l->t.n = 2;
        l->t.line = l->line;
        l->p = l->end;
        bad(l, "this comment has no end");
        return;
    }
    const char *p = l->p;
    l->t.s = p;
    l->t.line = l->line;
    if (p >= l->end) {
        l->t.kind = WG_TOK_EOF;
        l->t.n = 0;
        return;
    }
    if (is_letter(*p) || *p == '_' || *p == '$' || (*p == '%' && is_name(p[1]))) {
        l->t.kind = WG_TOK_IDENT;
        l->p = scan_name(p + 1, true);
    } else if (*p == '.' && (is_letter(p[1]) || p[1] == '_')) {
        l->t.kind = WG_TOK_DIR;
        l->p = scan_name(p + 1, false);
    } else if (is_digit(*p) || (*p == '.' && is_digit(p[1]))) {
        scan_number(l);
    } else if (*p == '"') {
        const char *q = p + 1;
        while (q < l->end && *q != '"' && *q != '\n')
            q += *q == '\\' && q + 1 < l->end && q[1] != '\n' ? 2 : 1;
        l->t.kind = WG_TOK_STRING;
        if (q < l->end && *q == '"')
            q++;
        else
            bad(l, "this string has no closing quote");
        l->p = q;
    } else {
        l->t.kind = (unsigned char)*p;
        l->p = p + 1;
        if (*p < 32 || *p > 126)
            bad(l, "this byte has no place in PTX");
    }
    l->t.n = (size_t)(l->p - p);
}

void wg_lex_start(struct wg_lexer *l, const char *text, size_t len)
{
    *l = (struct wg_lexer){.p = text, .end = text + len, .line = 1};
    wg_lex_next(l);
}

void wg_lex_skip_block(struct wg_lexer *l)
{
    size_t depth = 0;
    do {
        if (l->t.kind == '{')
            depth++;
        else if (l->t.kind == '}')
            depth--;
        wg_lex_next(l);
    } while (depth && l->t.kind != WG_TOK_EOF);
}
