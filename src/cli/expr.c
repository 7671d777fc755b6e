/* expr.c - a small recursive parser that evaluates as it reads. */
#include "cli/expr.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64 };
struct reader {
    const char *text, *p;
    const struct wg_expr_var *vars;
    size_t nvars;
    unsigned depth;
    bool skipping; /* inside what is not evaluated: the other arm of ?:, the right side of && and || */
    struct wg_diag *d;
};

static void wrong(struct reader *r, const char *at, const char *what, const char *detail)
{
    wg_diag_at(r->d, WG_INVALID, "expression", r->text, strlen(r->text), at, what, detail);
}

static void blanks(struct reader *r)
{
    while (isspace((unsigned char)*r->p))
        r->p++;
}

/* Takes op if it is next and not the beginning of a longer operator. */
static bool take(struct reader *r, const char *op)
{
    static const char *const all[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    size_t n = strlen(op);
    blanks(r);
    if (strncmp(r->p, op, n) != 0)
        return false;
    for (size_t i = 0; n == 1 && i < sizeof all / sizeof *all; i++)
        if (strncmp(r->p, all[i], 2) == 0)
            return false;
    r->p += n;
    return true;
}

static int64_t choice(struct reader *r);

static bool name_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

static int64_t name(struct reader *r)
{
    const char *start = r->p;
    char text[32];
    while (name_char(*r->p))
        r->p++;
    size_t n = (size_t)(r->p - start);
    for (size_t i = 0; i < r->nvars; i++)
        if (strlen(r->vars[i].name) == n && memcmp(r->vars[i].name, start, n) == 0)
            return r->vars[i].value;
    snprintf(text, sizeof text, "%.*s", (int)n, start);
    wrong(r, start, "unknown name '%s'", text);
    return 0;
}

static int64_t primary(struct reader *r)
{
    blanks(r);
    const char *at = r->p;
    if (take(r, "(")) {
        int64_t v = choice(r);
        if (r->d->status == WG_OK && !take(r, ")"))
            wrong(r, r->p, "expected ')'%s", "");
        return v;
    }
    if (isdigit((unsigned char)*r->p)) {
        char *end;
        errno = 0;
        unsigned long long v = strtoull(r->p, &end, 0);
        while (*end == 'u' || *end == 'U' || *end == 'l' || *end == 'L')
            end++;
        if (errno || v > INT64_MAX || name_char(*end))
            wrong(r, at, "not a whole number that fits 63 bits%s", "");
        r->p = end;
        return (int64_t)v;
    }
    if (isalpha((unsigned char)*r->p) || *r->p == '_')
        return name(r);
    wrong(r, at, *at ? "expected a number, a name or '('%s" : "the expression ends too early%s", "");
    return 0;
}

static int64_t unary(struct reader *r)
{
    if (r->d->status)
        return 0;
    if (++r->depth > DEEPEST)
        wrong(r, r->p, "nested too deeply%s", "");
    int64_t v;
    if (r->d->status)
        v = 0;
    else if (take(r, "-"))
        v = (int64_t)(0 - (uint64_t)unary(r));
    else if (take(r, "+"))
        v = unary(r);
    else if (take(r, "~"))
        v = ~unary(r);
    else if (take(r, "!"))
        v = !unary(r);
    else
        v = primary(r);
    r->depth--;
    return v;
}

static const struct binary { const char *op; int level; } binaries[] = {
    {"*", 10}, {"/", 10}, {"%", 10}, {"+", 9}, {"-", 9}, {"<<", 8}, {">>", 8}, {"<=", 7}, {">=", 7}, {"<", 7}, {">", 7},
    {"==", 6}, {"!=", 6}, {"&", 5}, {"^", 4}, {"|", 3}, {"&&", 2}, {"||", 1}};

static int64_t apply(struct reader *r, const char *op, const char *at, int64_t a, int64_t b)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (*op) {
    case '*': return (int64_t)(x * y);
    case '+': return (int64_t)(x + y);
    case '-': return (int64_t)(x - y);
    case '^': return a ^ b;
    case '/':
    case '%':
        if (b == 0) {
            if (!r->skipping)
                wrong(r, at, "division by zero%s", "");
            return 0;
        }
        if (b == -1)
            return *op == '/' ? (int64_t)(0 - x) : 0;
        return *op == '/' ? a / b : a % b;
    case '&': return op[1] ? a && b : a & b;
    case '|': return op[1] ? a || b : a | b;
    case '=': return a == b;
    case '!': return a != b;
    default: break;
    }
    if (op[1] == '<' || (op[0] == '>' && op[1] == '>')) {
        if ((b < 0 || b > 63) && !r->skipping)
            wrong(r, at, "shift by less than 0 or more than 63%s", "");
        return *op == '<' ? (int64_t)(x << (y & 63)) : a >> (y & 63);
    }
    return *op == '<' ? (op[1] ? a <= b : a < b) : op[1] ? a >= b : a > b;
}

static int64_t binary(struct reader *r, int level)
{
    int64_t a = level > 10 ? unary(r) : binary(r, level + 1);
    for (;;) {
        const struct binary *found = NULL;
        blanks(r);
        const char *at = r->p;
        for (size_t i = 0; i < sizeof binaries / sizeof *binaries && !found && !r->d->status; i++)
            if (binaries[i].level == level && take(r, binaries[i].op))
                found = &binaries[i];
        if (!found)
            return a;
        bool was = r->skipping;
        r->skipping |= (level == 2 && !a) || (level == 1 && a);
        int64_t b = binary(r, level + 1);
        a = apply(r, found->op, at, a, b);
        r->skipping = was;
    }
}

static int64_t choice(struct reader *r)
{
    int64_t c = binary(r, 1);
    if (r->d->status || !take(r, "?"))
        return c;
    bool was = r->skipping;
    r->skipping = was || !c;
    int64_t a = choice(r);
    if (r->d->status == WG_OK && !take(r, ":"))
        wrong(r, r->p, "expected ':'%s", "");
    r->skipping = was || c;
    int64_t b = choice(r);
    r->skipping = was;
    return c ? a : b;
}

enum wg_status wg_expr_eval(const char *text, const struct wg_expr_var *vars, size_t nvars, int64_t *out,
                            struct wg_diag *d)
{
    struct reader r = {.text = text, .p = text, .vars = vars, .nvars = nvars, .d = d};
    *out = choice(&r);
    blanks(&r);
    if (d->status == WG_OK && *r.p)
        wrong(&r, r.p, "unexpected text%s", "");
    return d->status;
}

/* ---- arrays
 * ------------------------------------------------------------------------------------------------------------ */
unsigned wg_array_type_bytes(const char *s, size_t n, unsigned *parts)
{
    static const struct { const char *name; unsigned bytes; bool vectors;
    } scalars[] = {
        {"char", 1, 1},      {"uchar", 1, 1},    {"bool", 1, 0},    {"int8_t", 1, 0},   {"uint8_t", 1, 0},
        {"short", 2, 1},     {"ushort", 2, 1},   {"half", 2, 0},    {"__half", 2, 0},   {"__nv_bfloat16", 2, 0},
        {"int16_t", 2, 0},   {"uint16_t", 2, 0}, {"int", 4, 1},     {"uint", 4, 1},     {"float", 4, 1},
        {"int32_t", 4, 0},   {"uint32_t", 4, 0}, {"long", 8, 1},    {"ulong", 8, 1},    {"longlong", 8, 1},
        {"ulonglong", 8, 1}, {"double", 8, 1},   {"int64_t", 8, 0}, {"uint64_t", 8, 0}, {"size_t", 8, 0}};
    *parts = 1;
    if ((n == 5 && memcmp(s, "half2", 5) == 0) || (n == 7 && memcmp(s, "__half2", 7) == 0)) {
        *parts = 2;
        return 4;
    }
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        size_t k = strlen(scalars[i].name);
        if (k > n || memcmp(scalars[i].name, s, k) != 0)
            continue;
        if (k == n)
            return scalars[i].bytes;
        if (scalars[i].vectors && k + 1 == n && s[k] >= '1' && s[k] <= '4') {
            *parts = (unsigned)(s[k] - '0');
            return scalars[i].bytes * *parts;
        }
    }
    return 0;
}

static bool skip_word(struct reader *r, const char *word)
{
    size_t n = strlen(word);
    blanks(r);
    if (strncmp(r->p, word, n) != 0 || name_char(r->p[n]))
        return false;
    r->p += n;
    return true;
}

enum wg_status wg_array_parse(const char *text, struct wg_array *out, struct wg_diag *d)
{
    struct reader r = {.text = text, .p = text, .d = d};
    *out = (struct wg_array){0};
    while (skip_word(&r, "__shared__") || skip_word(&r, "static") || skip_word(&r, "volatile") ||
           skip_word(&r, "const"))
        ;
    blanks(&r);
    const char *type = r.p;
    bool is_unsigned = skip_word(&r, "unsigned");
    while (skip_word(&r, "long"))
        out->element = 8;
    blanks(&r);
    const char *word = r.p;
    while (name_char(*r.p))
        r.p++;
    unsigned bytes = wg_array_type_bytes(word, (size_t)(r.p - word), &out->parts);
    if (bytes && !out->element)
        out->element = bytes;
    else if (!(out->element == 8 && bytes == 4)) /* "long int" */
        r.p = word; /* that was the array's name */
    if (!out->element && is_unsigned)
        out->element = 4;
    if (out->element != bytes)
        out->parts = 1;
    if (!out->element) {
        wrong(&r, type, "expected a type such as float, double, half, int or float4%s", "");
        return d->status;
    }
    blanks(&r);
    const char *start = r.p;
    while (name_char(*r.p) && *r.p != '.')
        r.p++;
    size_t n = (size_t)(r.p - start);
    if (!n || isdigit((unsigned char)*start) || n >= sizeof out->name) {
        wrong(&r, start, "expected the array's name%s", "");
        return d->status;
    }
    memcpy(out->name, start, n);
    uint64_t total = 1;
    while (d->status == WG_OK && take(&r, "[")) {
        const char *at = r.p;
        int64_t v = choice(&r);
        if (d->status == WG_OK && out->ndims == WG_ARRAY_DIMS)
            wrong(&r, at, "more than four dimensions%s", "");
        else if (d->status == WG_OK && (v < 1 || v > 1 << 20 || (total *= (uint64_t)v) > 1u << 28))
            wrong(&r, at, "a dimension must be from 1 to 2^20, and the array at most 2^28 elements%s", "");
        else if (d->status == WG_OK && !take(&r, "]"))
            wrong(&r, r.p, "expected ']'%s", "");
        else if (d->status == WG_OK)
            out->dim[out->ndims++] = (uint64_t)v;
    }
    take(&r, ";");
    blanks(&r);
    if (d->status == WG_OK && !out->ndims)
        wrong(&r, r.p, "expected '[' and a dimension%s", "");
    else if (d->status == WG_OK && *r.p)
        wrong(&r, r.p, "unexpected text%s", "");
    return d->status;
}

enum wg_status wg_access_eval(const char *text, const struct wg_array *a, const struct wg_expr_var *vars, size_t nvars,
                              int64_t index[WG_ARRAY_DIMS], unsigned *member, unsigned *bytes, struct wg_diag *d)
{
    struct reader r = {.text = text, .p = text, .vars = vars, .nvars = nvars, .d = d};
    size_t n = strlen(a->name);
    blanks(&r);
    *member = 0;
    *bytes = a->element;
    if (strncmp(r.p, a->name, n) != 0 || (name_char(r.p[n]) && r.p[n] != '.')) {
        wrong(&r, r.p, "expected the array '%s'", a->name);
        return d->status;
    }
    r.p += n;
    for (unsigned i = 0; i < a->ndims && d->status == WG_OK; i++) {
        if (!take(&r, "[")) {
            wrong(&r, r.p, "expected '[' and an index: the array has more dimensions%s", "");
            break;
        }
        blanks(&r);
        const char *at = r.p;
        index[i] = choice(&r);
        if (d->status == WG_OK && !take(&r, "]"))
            wrong(&r, r.p, "expected ']'%s", "");
        else if (d->status == WG_OK && (index[i] < 0 || (uint64_t)index[i] >= a->dim[i])) {
            char range[96];
            snprintf(range, sizeof range, "%lld, outside 0 to %llu, for t = %lld", (long long)index[i],
                     (unsigned long long)a->dim[i] - 1, nvars ? (long long)vars[0].value : 0);
            wrong(&r, at, "the index is %s", range);
        }
    }
    if (d->status == WG_OK && *r.p == '.') {
        static const char members[] = "xyzw";
        const char *m = r.p[1] ? strchr(members, r.p[1]) : NULL;
        if (!m || name_char(r.p[2]) || a->parts < 2 || (unsigned)(m - members) >= a->parts) {
            wrong(&r, r.p, "no such member of the element's type%s", "");
        } else {
            *bytes = a->element / a->parts;
            *member = (unsigned)(m - members) * *bytes;
            r.p += 2;
        }
    }
    blanks(&r);
    if (d->status == WG_OK && *r.p)
        wrong(&r, r.p, "unexpected text%s", "");
    return d->status;
}
