/* join.c - joins PTX translation units by text: statements are told apart and moved, never understood. */
#include "shim/join.h"
#include "base/arena.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

enum kind { END, IDENT, DIRECTIVE, NUMBER, STRING, PUNCT };
struct token { enum kind kind; const char *at; size_t n; };

enum what { HEADER, FILE_LINE, SECTION, VARIABLE, FUNCTION, ENTRY, OTHER };
enum linkage { NONE, EXTERN, VISIBLE, WEAK };
struct statement {
    enum what what;
    enum linkage linkage;
    bool body; /* a function with code */
    bool refers; /* a variable whose initial value names another */
    const char *at, *end, *brace; /* brace: where the code begins */
    struct token name;
};
struct unit {
    const char *text, *end;
    struct statement *s;
    size_t ns, cap;
    unsigned files; /* numbers in use */
};
/* What is known of a name with linkage. */
struct symbol {
    const char *name; /* key */
    const struct statement *def, *decl;
    UT_hash_handle hh;
};
/* A name and how many units have a variable or function of it. */
struct use { const char *name; size_t unit; unsigned units; UT_hash_handle hh; };
/* A name of the unit in hand that gets something behind it. */
struct local { const char *name; char *suffix; UT_hash_handle hh; };

static bool name_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

static struct token next(const char *p, const char *end)
{
    for (;;) {
        while (p < end && isspace((unsigned char)*p))
            p++;
        if (end - p >= 2 && p[0] == '/' && p[1] == '/') {
            while (p < end && *p != '\n')
                p++;
        } else if (end - p >= 2 && p[0] == '/' && p[1] == '*') {
            const char *q = memmem(p + 2, (size_t)(end - p - 2), "*/", 2);
            p = q ? q + 2 : end;
        } else {
            break;
        }
    }
    if (p >= end || !*p)
        return (struct token){END, end, 0};
    const char *q = p + 1;
    enum kind k = PUNCT;
    if (*p == '"') {
        k = STRING;
        while (q < end && *q != '"')
            q += *q == '\\' && q + 1 < end ? 2 : 1;
        q += q < end;
    } else if (isdigit((unsigned char)*p)) {
        k = NUMBER;
        while (q < end && (name_char(*q) || *q == '.'))
            q++;
    } else if (name_char(*p) || *p == '%' || (*p == '.' && q < end && name_char(*q))) {
        k = *p == '.' ? DIRECTIVE : IDENT;
        while (q < end && name_char(*q))
            q++;
    }
    return (struct token){k, p, (size_t)(q - p)};
}

static bool is(struct token t, const char *s) { return t.n == strlen(s) && memcmp(t.at, s, t.n) == 0; }

static const char *after(struct token t) { return t.at + t.n; }

/* From the token after an opening bracket to behind the closing one. */
static const char *skip_group(const char *p, const char *end, char open, char close)
{
    for (int depth = 1; depth;) {
        struct token t = next(p, end);
        if (t.kind == END)
            return NULL;
        depth += t.kind == PUNCT && *t.at == open;
        depth -= t.kind == PUNCT && *t.at == close;
        p = after(t);
    }
    return p;
}

static bool is_line(struct token t)
{
    return is(t, ".version") || is(t, ".target") || is(t, ".address_size") || is(t, ".file") || is(t, ".loc");
}

/* One statement at module scope; false: the text ends inside it. */
static bool read_statement(const char *p, const char *end, struct statement *s)
{
    struct token t = next(p, end);
    *s = (struct statement){.what = OTHER, .at = t.at};
    if (is_line(t)) {
        s->what = is(t, ".file") ? FILE_LINE : HEADER;
        const char *nl = memchr(t.at, '\n', (size_t)(end - t.at));
        s->end = nl ? nl + 1 : end;
        return true;
    }
    bool init = false, named = false;
    for (; t.kind != END; t = next(p, end)) {
        p = after(t);
        if (t.kind == DIRECTIVE) {
            if (is(t, ".section"))
                s->what = SECTION;
            else if (is(t, ".entry"))
                s->what = ENTRY;
            else if (is(t, ".func"))
                s->what = FUNCTION;
            else if (s->what == OTHER && (is(t, ".global") || is(t, ".const") || is(t, ".shared") || is(t, ".local")))
                s->what = VARIABLE;
            else if (is(t, ".extern"))
                s->linkage = EXTERN;
            else if (is(t, ".visible"))
                s->linkage = VISIBLE;
            else if (is(t, ".weak") || is(t, ".common"))
                s->linkage = WEAK;
        } else if (t.kind == IDENT && !named) {
            s->name = t;
            named = true;
        } else if (t.kind == IDENT && init) {
            s->refers = true;
        } else if (t.kind == PUNCT && *t.at == '=') {
            init = true;
        } else if (t.kind == PUNCT && *t.at == '(') {
            if (!(p = skip_group(p, end, '(', ')')))
                return false;
        } else if (t.kind == PUNCT && *t.at == '{') {
            s->brace = init ? NULL : t.at;
            s->body = !init && (s->what == FUNCTION || s->what == ENTRY);
            if (init) {
                for (struct token in = next(p, end); in.kind != END && *in.at != '}'; in = next(after(in), end))
                    s->refers |= in.kind == IDENT;
            }
            if (!(p = skip_group(p, end, '{', '}')))
                return false;
            if (!init) {
                s->end = p;
                return true;
            }
        } else if (t.kind == PUNCT && *t.at == ';') {
            s->end = p;
            return true;
        }
    }
    return false;
}

static unsigned long number(struct token t)
{
    unsigned long v = 0;
    for (size_t i = 0; i < t.n && isdigit((unsigned char)t.at[i]); i++)
        v = v * 10 + (unsigned long)(t.at[i] - '0');
    return v;
}

static bool read_unit(struct unit *u, struct wg_arena *a)
{
    for (const char *p = u->text; next(p, u->end).kind != END;) {
        struct statement s;
        if (!read_statement(p, u->end, &s))
            return false;
        u->s = wg_arena_grow(a, u->s, u->ns + 1, &u->cap, sizeof *u->s);
        if (!u->s)
            return false;
        u->s[u->ns++] = s;
        p = s.end;
        if (s.what == FILE_LINE) {
            const unsigned long k = number(next(after(next(s.at, s.end)), s.end));
            u->files = k > u->files && k < 1u << 20 ? (unsigned)k : u->files;
        }
    }
    return true;
}

/* Definitions and declarations by name. false: defined twice, or no memory. */
static bool add_symbols(const struct unit *u, struct symbol **all, struct wg_arena *a, char *err, size_t n)
{
    for (size_t i = 0; i < u->ns; i++) {
        const struct statement *s = &u->s[i];
        if ((s->what != VARIABLE && s->what != FUNCTION && s->what != ENTRY) || !s->name.n ||
            (s->linkage == NONE && s->what != ENTRY))
            continue;
        struct symbol *y;
        HASH_FIND(hh, *all, s->name.at, s->name.n, y);
        if (!y) {
            if (!(y = wg_arena_alloc(a, sizeof *y)))
                return false;
            y->name = s->name.at;
            HASH_ADD_KEYPTR(hh, *all, y->name, s->name.n, y);
        }
        const bool def = s->linkage != EXTERN && (s->what == VARIABLE || s->body);
        if (def && y->def && s->linkage != WEAK && y->def->linkage != WEAK) {
            snprintf(err, n, "%.*s is defined in two units", (int)s->name.n, s->name.at);
            return false;
        }
        if (def && (!y->def || y->def->linkage == WEAK) && !(y->def && s->linkage == WEAK))
            y->def = s;
        if (!def && !y->decl)
            y->decl = s;
    }
    return true;
}

static bool wanted(const struct statement *s, struct symbol *all)
{
    struct symbol *y;
    if (s->linkage == NONE && s->what != ENTRY)
        return true;
    HASH_FIND(hh, all, s->name.at, s->name.n, y);
    return y && (y->def ? y->def == s : y->decl == s);
}

/* The text from p to end, with names of `locals` and file numbers made the unit's own. */
static void emit(FILE *f, const char *p, const char *end, struct local *locals, unsigned shift)
{
    bool file_next = false;
    for (struct token t = next(p, end); t.kind != END; t = next(p, end)) {
        fwrite(p, 1, (size_t)(t.at - p), f); /* spaces and comments */
        struct local *l = NULL;
        if (t.kind == IDENT)
            HASH_FIND(hh, locals, t.at, t.n, l);
        if (file_next && t.kind == NUMBER)
            fprintf(f, "%lu", number(t) + shift);
        else
            fwrite(t.at, 1, t.n, f);
        if (l)
            fputs(l->suffix, f);
        file_next = is(t, ".loc") || is(t, ".file") || is(t, "inlined_at");
        p = after(t);
    }
    fputc('\n', f);
}

static bool is_object(const struct statement *s) { return (s->what == VARIABLE || s->what == FUNCTION) && s->name.n; }

static struct use *uses_of(const struct unit *u, size_t n, struct wg_arena *a)
{
    struct use *all = NULL, *x;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < u[i].ns; k++) {
            const struct statement *s = &u[i].s[k];
            if (!is_object(s))
                continue;
            HASH_FIND(hh, all, s->name.at, s->name.n, x);
            if (!x && (x = wg_arena_alloc(a, sizeof *x))) {
                x->name = s->name.at;
                x->unit = SIZE_MAX;
                HASH_ADD_KEYPTR(hh, all, x->name, s->name.n, x);
            }
            if (x && x->unit != i) {
                x->unit = i;
                x->units++;
            }
        }
    return all;
}

static void add_local(struct local **all, struct token name, const char *suffix, size_t n, struct wg_arena *a)
{
    struct local *l;
    HASH_FIND(hh, *all, name.at, name.n, l);
    if (!l && (l = wg_arena_alloc(a, sizeof *l)) && (l->suffix = wg_arena_alloc(a, n + 1))) {
        memcpy(l->suffix, suffix, n);
        l->suffix[n] = 0;
        l->name = name.at;
        HASH_ADD_KEYPTR(hh, *all, l->name, name.n, l);
    }
}

/* clang 19 gives a static variable that the host reads a suffix, "__static__" and a number, but not where code before
 * the host's use mentions it: that is left as a declaration of the plain name. */
static void add_lost(struct local **all, const struct unit *u, const struct statement *declared, struct wg_arena *a)
{
    static const char mark[] = "__static__";
    for (size_t k = 0; k < u->ns; k++) {
        const struct token name = declared->name, t = u->s[k].name;
        if (u->s[k].what == VARIABLE && u->s[k].linkage != EXTERN && t.n > name.n + sizeof mark &&
            memcmp(t.at, name.at, name.n) == 0 && memcmp(t.at + name.n, mark, sizeof mark - 1) == 0)
            add_local(all, name, t.at + name.n, t.n - name.n, a);
    }
}

/* Names without linkage that another unit has too. Others keep theirs: the host asks for variables by name. */
static struct local *locals_of(const struct unit *u, size_t unit, struct use *uses, struct wg_arena *a)
{
    struct local *all = NULL;
    struct use *x;
    char suffix[32];
    const int n = snprintf(suffix, sizeof suffix, "__unit%zu", unit);
    for (size_t i = 0; i < u->ns; i++) {
        const struct statement *s = &u->s[i];
        if (!is_object(s))
            continue;
        HASH_FIND(hh, uses, s->name.at, s->name.n, x);
        if (s->linkage == NONE && unit && x && x->units > 1)
            add_local(&all, s->name, suffix, (size_t)n, a);
        if (s->linkage == EXTERN && s->what == VARIABLE)
            add_lost(&all, u, s, a);
    }
    return all;
}

/* 8.3 as 8003; numbers in PTX text have no end of their own that strtod could rely on. */
static unsigned version_of(struct token t)
{
    unsigned part[2] = {0}, at = 0;
    for (size_t i = 0; i < t.n && i < 8; i++)
        if (t.at[i] == '.')
            at = 1;
        else if (isdigit((unsigned char)t.at[i]))
            part[at] = part[at] * 10 + (unsigned)(t.at[i] - '0');
    return part[0] * 1000 + part[1];
}

/* Order: header, files, declarations of functions, variables, those that refer to others, code; so that whatever the
 * unit, a name is known before it is used. */
static void write_all(FILE *f, const struct unit *u, size_t n, struct symbol *all, struct wg_arena *a)
{
    struct token newest = {0}, target = {0};
    struct use *uses = uses_of(u, n, a);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < u[i].ns; k++) {
            const struct statement *s = &u[i].s[k];
            const struct token t = next(s->at, s->end), value = next(after(t), s->end);
            if (is(t, ".version") && (!newest.n || version_of(value) > version_of(newest)))
                newest = value;
            if (is(t, ".target") && !target.n)
                target = value;
        }
    if (newest.n && target.n)
        fprintf(f, ".version %.*s\n.target %.*s\n.address_size 64\n", (int)newest.n, newest.at, (int)target.n,
                target.at);
    for (int round = 0; round < 5; round++) {
        unsigned shift = 0;
        for (size_t i = 0; i < n; shift += u[i++].files) {
            struct local *locals = locals_of(&u[i], i, uses, a);
            for (size_t k = 0; k < u[i].ns; k++) {
                const struct statement *s = &u[i].s[k];
                const bool code = s->what == FUNCTION || s->what == ENTRY;
                if (round == 0 && s->what == FILE_LINE)
                    emit(f, s->at, s->end, NULL, shift);
                struct local *lost = NULL;
                if (s->what == VARIABLE && s->linkage == EXTERN) /* its definition says it under its whole name */
                    HASH_FIND(hh, locals, s->name.at, s->name.n, lost);
                if ((s->what != VARIABLE && !code) || !wanted(s, all) || lost)
                    continue;
                if (round == 1 && s->what == FUNCTION) {
                    emit(f, s->at, s->body ? s->brace : s->end, locals, shift);
                    if (s->body)
                        fputs(";\n", f);
                } else if ((round == (s->refers ? 3 : 2) && s->what == VARIABLE) || (round == 4 && code && s->body)) {
                    emit(f, s->at, s->end, locals, shift);
                }
            }
            HASH_CLEAR(hh, locals);
        }
    }
    HASH_CLEAR(hh, uses);
}

enum wg_status wg_join(const struct wg_join_unit *units, size_t n, char **out, char *err, size_t err_size)
{
    struct wg_arena a = {0};
    struct symbol *all = NULL;
    struct unit *u = wg_arena_alloc(&a, n * sizeof *u);
    enum wg_status st = u ? WG_OK : WG_NO_MEMORY;
    size_t size;
    *out = NULL;
    *err = 0;
    for (size_t i = 0; i < n && st == WG_OK; i++) {
        u[i].text = units[i].text;
        u[i].end = units[i].text + units[i].n;
        if (!read_unit(&u[i], &a)) {
            snprintf(err, err_size, "unit %zu of %zu ends inside a statement", i + 1, n);
            st = a.failed ? WG_NO_MEMORY : WG_PARSE;
        } else if (!add_symbols(&u[i], &all, &a, err, err_size)) {
            st = a.failed ? WG_NO_MEMORY : WG_INVALID;
        }
    }
    FILE *f = st == WG_OK ? open_memstream(out, &size) : NULL;
    if (st == WG_OK && !f)
        st = WG_NO_MEMORY;
    if (f) {
        write_all(f, u, n, all, &a);
        if (fclose(f) != 0 || a.failed) {
            free(*out);
            *out = NULL;
            st = WG_NO_MEMORY;
        }
    }
    HASH_CLEAR(hh, all);
    wg_arena_free(&a);
    return st;
}
