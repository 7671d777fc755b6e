/* extent.c - reads declarations like `__shared__ float As[T][T + 1];` in CUDA source text. PTX keeps an array's size only.
 *
 * What is read is believed only where the elements add up to the size that PTX gives. */
#include "exec/extent.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 256, NUMBER, END, DEPTH = 8, NESTED = 32, TRIES = 10000, LARGEST = 1024 };
enum { TEXT_MAX = 4 << 20 }; /* bytes of a source that are looked at */
struct token { int kind; const char *s; uint32_t n, line; }; /* kind: a character, or one of the above */
struct text { const char *at, *end; uint32_t line; };

/* An expression under evaluation: where the names' values are looked up, and the one name that has none. */
struct env { const char *text; size_t n; const char *free; uint32_t free_n; int64_t value; bool failed; int depth, nested, *tries; };

static struct token next(struct text *t)
{
    while (t->at < t->end) {
        if (*t->at == '\n')
            t->line++;
        if (isspace((unsigned char)*t->at) || *t->at == '\\') {
            t->at++;
        } else if (t->end - t->at > 1 && t->at[0] == '/' && t->at[1] == '/') {
            while (t->at < t->end && *t->at != '\n')
                t->at++;
        } else if (t->end - t->at > 1 && t->at[0] == '/' && t->at[1] == '*') {
            for (t->at += 2; t->end - t->at > 1 && !(t->at[0] == '*' && t->at[1] == '/'); t->at++)
                t->line += *t->at == '\n';
            t->at = t->end - t->at > 1 ? t->at + 2 : t->end;
        } else if (*t->at == '"' || *t->at == '\'') {
            for (char q = *t->at++; t->at < t->end && *t->at != q && *t->at != '\n'; t->at++)
                if (*t->at == '\\' && t->end - t->at > 1)
                    t->at++;
            t->at += t->at < t->end;
        } else {
            break;
        }
    }
    struct token k = {END, t->at, 0, t->line};
    if (t->at == t->end)
        return k;
    if (isalpha((unsigned char)*t->at) || *t->at == '_')
        k.kind = WORD;
    else if (isdigit((unsigned char)*t->at))
        k.kind = NUMBER;
    if (k.kind == END) {
        k.kind = (unsigned char)*t->at++;
    } else {
        while (t->at < t->end && (isalnum((unsigned char)*t->at) || *t->at == '_' || *t->at == '\''))
            t->at++;
    }
    k.n = (uint32_t)(t->at - k.s);
    return k;
}
static struct token peek(const struct text *t)
{
    struct text copy = *t;
    return next(&copy);
}
static bool is(const struct token *k, const char *s) { return k->kind == WORD && k->n == strlen(s) && !memcmp(k->s, s, k->n); }
static bool same(const struct token *a, const struct token *b) { return a->n == b->n && !memcmp(a->s, b->s, a->n); }

/* ---- constants ---- */
static int64_t sum(struct env *e, struct text *t);

/* The value of a name: `#define N 32`, or `N = 32` as in constexpr int and enum. */
static bool defined(struct env *e, const struct token *name, int64_t *value)
{
    struct text t = {e->text, e->text + e->n, 1};
    bool define = false;
    if (++e->depth > DEPTH || --*e->tries < 0) {
        e->failed = true;
        return false;
    }
    for (struct token k = next(&t); k.kind != END; define = is(&k, "define"), k = next(&t)) {
        if (k.kind != WORD || !same(&k, name))
            continue;
        struct token after = peek(&t);
        struct env sub = *e;
        struct text rest = t;
        bool macro = define && after.line == k.line && !(after.kind == '(' && after.s == k.s + k.n);
        if (macro) {
            const char *line = memchr(rest.at, '\n', (size_t)(rest.end - rest.at));
            rest.end = line ? line : rest.end;
        } else if (!define && after.kind == '=') {
            next(&rest);
        } else {
            continue;
        }
        int64_t v = sum(&sub, &rest);
        int stop = peek(&rest).kind;
        if (!sub.failed && (macro ? stop == END : stop == ';' || stop == ',' || stop == '}')) {
            sub.depth = e->depth - 1;
            *e = sub;
            *value = v;
            return true;
        }
    }
    e->depth--;
    return false;
}

static uint32_t type_bytes(const struct token *k)
{
    static const struct { const char *name; uint32_t bytes; } types[] = {
        {"char", 1}, {"bool", 1}, {"short", 2}, {"int", 4}, {"unsigned", 4}, {"uint", 4}, {"long", 8}, {"float", 4},
        {"double", 8}, {"half", 2}, {"__half", 2}, {"__nv_bfloat16", 2}, {"nv_bfloat16", 2}, {"half2", 4}, {"__half2", 4},
        {"int8_t", 1}, {"uint8_t", 1}, {"int16_t", 2}, {"uint16_t", 2}, {"int32_t", 4}, {"uint32_t", 4}, {"int64_t", 8},
        {"uint64_t", 8}, {"float2", 8}, {"float3", 12}, {"float4", 16}, {"int2", 8}, {"int3", 12}, {"int4", 16}, {"uint2", 8},
        {"uint3", 12}, {"uint4", 16}, {"uchar", 1}, {"uchar4", 4}, {"ushort", 2}, {"double2", 16}, {"size_t", 8},
    };
    for (size_t i = 0; k->kind == WORD && i < sizeof types / sizeof *types; i++)
        if (is(k, types[i].name))
            return types[i].bytes;
    return 0;
}

static int64_t primary(struct env *e, struct text *t)
{
    struct token k = next(t);
    int64_t v = 0;
    if (++e->nested > NESTED) {
        e->failed = true;
        return 0;
    }
    if (k.kind == NUMBER) {
        char digits[32], *out = digits;
        for (uint32_t i = 0; i < k.n && out < digits + sizeof digits - 1; i++)
            if (k.s[i] != '\'')
                *out++ = k.s[i];
        *out = 0;
        v = strtoll(digits, &out, 0);
        e->failed |= *out && strspn(out, "uUlL") != strlen(out);
    } else if (k.kind == '(') {
        v = sum(e, t);
        e->failed |= next(t).kind != ')';
    } else if (k.kind == '-') {
        v = -primary(e, t);
    } else if (is(&k, "sizeof")) {
        struct token open = next(t), type = next(t);
        v = type_bytes(&type);
        e->failed |= open.kind != '(' || next(t).kind != ')' || !v;
    } else if (k.kind == WORD) {
        if (e->free && k.n == e->free_n && !memcmp(k.s, e->free, k.n)) {
            v = e->value;
        } else if (!defined(e, &k, &v) && !e->failed) {
            e->failed = e->free != NULL; /* a second one */
            e->free = k.s;
            e->free_n = k.n;
            v = e->value;
        }
    } else {
        e->failed = true;
    }
    e->nested--;
    return v;
}
static int64_t product(struct env *e, struct text *t)
{
    int64_t v = primary(e, t);
    for (int op; !e->failed && ((op = peek(t).kind) == '*' || op == '/' || op == '%');) {
        next(t);
        int64_t r = primary(e, t);
        e->failed |= (op != '*' && r <= 0) || v > INT32_MAX || v < INT32_MIN || r > INT32_MAX || r < INT32_MIN;
        if (!e->failed)
            v = op == '*' ? v * r : op == '/' ? v / r : v % r;
    }
    return v;
}
static int64_t sum(struct env *e, struct text *t)
{
    int64_t v = product(e, t);
    for (int op; !e->failed && ((op = peek(t).kind) == '+' || op == '-');) {
        next(t);
        int64_t r = product(e, t);
        v = op == '+' ? v + r : v - r;
    }
    return v;
}

/* ---- declarations ---- */
/* The brackets behind a name, one free name having a value; the bytes of the whole array, 0 where one is no constant. */
static uint64_t dimensions(struct env *e, struct text t, struct wg_extent *s)
{
    uint64_t all = s->elem;
    s->ndims = 0;
    while (peek(&t).kind == '[') {
        next(&t);
        bool open = peek(&t).kind == ']'; /* as many as the launch gives */
        int64_t v = open ? 0 : sum(e, &t);
        if (next(&t).kind != ']' || e->failed || v < 0 || v > 1 << 24 || (!open && !v) || s->ndims == WG_EXTENT_DIMS)
            return 0;
        s->dim[s->ndims++] = (uint32_t)v;
        all *= (uint64_t)v;
    }
    return s->ndims ? all : 0;
}

/* t stands behind the array's name. */
static bool fits(const char *text, size_t n, struct text t, uint64_t bytes, int *tries, struct wg_extent *s)
{
    struct env e = {.text = text, .n = n, .value = 1, .tries = tries};
    uint64_t all = dimensions(&e, t, s);
    if (e.failed || !s->ndims)
        return false;
    if (!bytes) /* all but the first dimension must be known */
        return !e.free;
    if (!s->elem) { /* what is left is the size of an element */
        s->elem = 1;
        e = (struct env){.text = text, .n = n, .value = 1, .tries = tries};
        all = dimensions(&e, t, s);
        s->elem = all && bytes % all == 0 && !e.free ? (uint32_t)(bytes / all) : 0;
        return s->elem;
    }
    if (!e.free)
        return all == bytes;
    for (int64_t v = 1; v <= LARGEST; v++) {
        struct env f = {.text = text, .n = n, .free = e.free, .free_n = e.free_n, .value = v,
                        .tries = tries};
        uint64_t got = dimensions(&f, t, s);
        if (got == bytes)
            return true;
        if (f.failed)
            return false;
    }
    return false;
}

bool wg_extent_find(const char *text, size_t n, const char *name, uint64_t bytes, uint32_t line, struct wg_extent *out)
{
    struct text t = {text, text + n, 1};
    uint32_t best = UINT32_MAX;
    int tries = TRIES; /* look-ups of names: a text made to be slow is given up */
    for (struct token k = next(&t); k.kind != END; k = next(&t)) {
        if (!is(&k, "__shared__"))
            continue;
        uint32_t elem = 0;
        int depth = 0;
        for (k = next(&t); k.kind != END && !(k.kind == ';' && !depth) && k.kind != '{'; k = next(&t)) {
            depth += (k.kind == '(' || k.kind == '[') - (k.kind == ')' || k.kind == ']');
            if (depth)
                continue;
            uint32_t b = type_bytes(&k);
            if (b && !(is(&k, "int") && elem)) /* long int, unsigned int */
                elem = is(&k, "unsigned") && elem ? elem : b;
            if (!is(&k, name) || peek(&t).kind != '[')
                continue;
            struct wg_extent s = {.elem = elem};
            uint32_t away = line > k.line ? line - k.line : k.line - line;
            if (away < best && fits(text, n, t, bytes, &tries, &s)) {
                best = away;
                *out = s;
            }
        }
    }
    return best != UINT32_MAX;
}

static bool read_text(const char *path, struct wg_arena *a, struct wg_extent_text *t)
{
    FILE *f = fopen(path, "re");
    char *v = f ? malloc(TEXT_MAX) : NULL;
    t->n = v ? fread(v, 1, TEXT_MAX, f) : 0;
    t->text = t->n ? wg_arena_str(a, v, t->n) : NULL;
    free(v);
    if (f)
        fclose(f);
    return t->text != NULL;
}

bool wg_extent_of(struct wg_extent_texts *c, struct wg_arena *a, const struct wg_ptx_module *m, const struct wg_function *f,
                 const char *name, uint64_t bytes, struct wg_extent *out)
{
    if (!c->v && !(c->v = wg_arena_alloc(a, (m->nfiles + 1) * sizeof *c->v)))
        return false;
    for (uint32_t k = 0; k <= m->nfiles; k++) { /* the kernel's own file first */
        uint32_t file = k ? k - 1 : f->file;
        if (file >= m->nfiles || !m->files[file] || (k && file == f->file))
            continue;
        struct wg_extent_text *t = &c->v[file];
        if (!t->tried) {
            t->tried = true;
            if (!strncmp(m->files[file], "/usr/", 5) || !read_text(m->files[file], a, t))
                t->n = 0;
        }
        if (t->n && wg_extent_find(t->text, t->n, name, bytes, k ? 0 : f->line, out))
            return true;
    }
    return false;
}
