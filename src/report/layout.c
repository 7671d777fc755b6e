/* layout.c - moves the recorded lanes of a shared array as another layout would, and counts wavefronts again. */
#include "report/layout.h"
#include "model/banks.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t wg_layout_bytes(const struct wg_launch_result *l, const struct wg_shared_array *a)
{
    return a->bytes ? a->bytes : l->dynamic_shared;
}

const struct wg_shared_array *wg_layout_array(const struct wg_launch_result *l, uint64_t offset)
{
    const struct wg_shared_array *found = NULL;
    for (size_t i = 0; i < l->narrays; i++) {
        const struct wg_shared_array *a = &l->arrays[i];
        if (offset >= a->offset && offset - a->offset < wg_layout_bytes(l, a) && (!found || a->bytes))
            found = a;
    }
    return found;
}

static const struct wg_shared_array *of_pattern(const struct wg_launch_result *l, const struct wg_pattern *p)
{
    return wg_layout_array(l, p->offset[__builtin_ctz(p->mask)]);
}

const struct wg_shared_array *wg_layout_array_of(const struct wg_launch_result *l, const struct wg_site *s)
{
    const struct wg_shared_array *a = NULL;
    for (size_t i = 0; s->patterns && i < s->patterns->n; i++) {
        const struct wg_shared_array *x = of_pattern(l, &s->patterns->v[i]);
        if (!x || (a && a != x))
            return NULL;
        a = x;
    }
    return a;
}

static uint64_t moved(const struct wg_layout *y, uint64_t at)
{
    uint64_t row = at / y->row, column = at % y->row;
    if (y->mask)
        column = ((column / y->unit) ^ (row & y->mask)) * y->unit + column % y->unit;
    return row * (y->row + y->pad) + column;
}

/* Atomics whose lanes share words have two rules: the one that gives what was counted. */
static enum wg_banks_op rule(const struct wg_site *s, const struct wg_pattern *p)
{
    struct wg_banks b;
    if (s->kind == WG_SITE_STORE || s->kind == WG_SITE_ASYNC)
        return WG_BANKS_STORE;
    if (s->kind != WG_SITE_ATOM && s->kind != WG_SITE_RED)
        return WG_BANKS_LOAD;
    wg_banks_of(WG_BANKS_ATOMIC, p->offset, p->mask, p->bytes, &b);
    return b.wavefronts == p->cost ? WG_BANKS_ATOMIC : WG_BANKS_COUNT;
}

/* Wavefronts of a pattern in a layout; 0: a lane's address would not be aligned. What ptxas joined is taken apart where
 * the layout tears it or leaves it unaligned. */
static uint32_t cost(const struct wg_site *s, const struct wg_pattern *p, const struct wg_shared_array *a,
                     const struct wg_layout *y)
{
    uint32_t sum = 0, at[32] = {0};
    unsigned bytes = p->bytes;
    const enum wg_banks_op op = rule(s, p);
    struct wg_banks b;
    for (uint32_t m = p->mask; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        if (p->offset[lane] < a->offset)
            return 0;
        uint64_t rel = p->offset[lane] - a->offset, to = moved(y, rel);
        at[lane] = (uint32_t)(a->offset + to);
        if (at[lane] % bytes || moved(y, rel + p->bytes - 1) != to + p->bytes - 1)
            bytes = s->access_bytes && s->access_bytes < bytes ? s->access_bytes : 0;
        if (!bytes)
            return 0;
    }
    if (bytes == p->bytes) {
        wg_banks_of(op, at, p->mask, bytes, &b);
        return b.wavefronts;
    }
    for (unsigned k = 0; k < p->bytes; k += bytes) {
        for (uint32_t m = p->mask; m; m &= m - 1) {
            unsigned lane = (unsigned)__builtin_ctz(m);
            at[lane] = (uint32_t)(a->offset + moved(y, p->offset[lane] - a->offset + k));
            if (at[lane] % bytes)
                return 0;
        }
        wg_banks_of(op, at, p->mask, bytes, &b);
        sum += b.wavefronts;
    }
    return sum;
}

/* One site's part. false: state says why not. */
static bool add(const struct wg_launch_result *l, const struct wg_site *s, const struct wg_shared_array *a,
                const struct wg_layout *y, struct wg_layout_result *out)
{
    uint64_t before = 0, after = 0, accesses = 0;
    const struct wg_patterns *p = s->patterns;
    for (size_t i = 0; i < p->n; i++) {
        accesses += p->v[i].count;
        if (of_pattern(l, &p->v[i]) != a) {
            before += p->v[i].count * p->v[i].cost;
            after += p->v[i].count * p->v[i].cost;
            continue;
        }
        uint32_t c = cost(s, &p->v[i], a, y);
        if (!c) {
            out->state = WG_LAYOUT_ALIGNMENT;
            out->site = s;
            return false;
        }
        before += p->v[i].count * p->v[i].cost;
        after += p->v[i].count * c;
    }
    if (p->left_out) {
        out->state = WG_LAYOUT_TOO_MANY;
        out->site = s;
        return false;
    }
    const uint64_t *c = s->c, blocks = accesses ? c[WG_C_ACCESS] / accesses : 0;
    out->alike &= c[WG_C_ACCESS] == blocks * accesses && c[WG_C_WAVEFRONTS] == blocks * before;
    out->before += c[WG_C_WAVEFRONTS];
    out->ideal += c[WG_C_WAVEFRONTS_IDEAL];
    out->after += before ? (uint64_t)((double)c[WG_C_WAVEFRONTS] * (double)after / (double)before + 0.5) : 0;
    return true;
}

void wg_layout_try(const struct wg_launch_result *l, const struct wg_site *sites, const struct wg_shared_array *array,
                   const struct wg_layout *layout, struct wg_layout_result *out)
{
    *out = (struct wg_layout_result){.state = WG_LAYOUT_NOTHING, .alike = true};
    for (size_t i = 0; i < l->nsites; i++) {
        const struct wg_site *s = &sites[i];
        bool here = false;
        if (!s->patterns) {
            if (s->c[WG_C_WAVEFRONTS]) {
                out->state = WG_LAYOUT_UNSEEN;
                out->site = s;
                return;
            }
            continue;
        }
        for (size_t k = 0; k < s->patterns->n && !here; k++)
            here = of_pattern(l, &s->patterns->v[k]) == array;
        if (here && !add(l, s, array, layout, out))
            return;
        if (here)
            out->state = WG_LAYOUT_TRIED;
    }
    out->exact = out->alike && l->blocks_done == 1;
}

/* ---- the search ---- */
enum { MOST_ROWS = 16, MOST_PADDING = 8 };

static void note(uint64_t *rows, size_t *n, uint64_t row, uint64_t bytes)
{
    for (size_t i = 0; i < *n; i++)
        if (rows[i] == row)
            return;
    if (row >= 32 && row % 4 == 0 && row < bytes && *n < MOST_ROWS)
        rows[(*n)++] = row;
}

/* Distances between neighbouring lanes that may be rows; then powers of two. */
static size_t find_rows(const struct wg_launch_result *l, const struct wg_site *sites, const struct wg_shared_array *a,
                        uint64_t rows[MOST_ROWS])
{
    size_t n = 0;
    uint64_t bytes = wg_layout_bytes(l, a);
    for (size_t i = 0; i < l->nsites; i++) {
        const struct wg_patterns *p = sites[i].patterns;
        for (size_t k = 0; p && k < p->n; k++) {
            const struct wg_pattern *v = &p->v[k];
            struct wg_banks b;
            if (of_pattern(l, v) != a)
                continue;
            wg_banks_of(rule(&sites[i], v), v->offset, v->mask, v->bytes, &b);
            if (b.wavefronts == b.ideal)
                continue;
            uint32_t last = v->offset[__builtin_ctz(v->mask)];
            for (uint32_t m = v->mask & (v->mask - 1); m; m &= m - 1) {
                uint32_t at = v->offset[__builtin_ctz(m)];
                note(rows, &n, at > last ? at - last : last - at, bytes);
                last = at;
            }
        }
    }
    for (uint64_t row = 32; row <= 4096; row *= 2)
        note(rows, &n, row, bytes);
    return n;
}

/* The smallest and the widest access to the array: padding and swizzles go in such units. */
static unsigned widest(const struct wg_launch_result *l, const struct wg_site *sites, const struct wg_shared_array *a)
{
    unsigned most = 4;
    for (size_t i = 0; i < l->nsites; i++)
        for (size_t k = 0; sites[i].patterns && k < sites[i].patterns->n; k++)
            if (of_pattern(l, &sites[i].patterns->v[k]) == a && sites[i].patterns->v[k].bytes > most)
                most = sites[i].patterns->v[k].bytes;
    return most;
}

void wg_layout_best(const struct wg_launch_result *l, const struct wg_site *sites, const struct wg_shared_array *array,
                    const uint64_t *given, size_t ngiven, struct wg_layout_best *out)
{
    uint64_t found[MOST_ROWS], bytes = wg_layout_bytes(l, array);
    size_t n = given ? ngiven : find_rows(l, sites, array, found);
    const uint64_t *rows = given ? given : found;
    unsigned wide = widest(l, sites, array);
    struct wg_layout_result r;
    *out = (struct wg_layout_best){0};
    wg_layout_try(l, sites, array, &(struct wg_layout){bytes ? bytes : 4, 0, 0, 4}, &r);
    out->padded = out->swizzled = r;
    if (r.state != WG_LAYOUT_TRIED)
        return;
    for (size_t i = 0; i < n; i++) {
        for (uint32_t pad = 4; pad <= MOST_PADDING * wide; pad += 4) {
            struct wg_layout y = {rows[i], pad, 0, 4};
            wg_layout_try(l, sites, array, &y, &r);
            out->tried++;
            uint64_t more = bytes / rows[i] * pad, most = out->pad.row ? bytes / out->pad.row * out->pad.pad : 0;
            if (r.state == WG_LAYOUT_TRIED &&
                (r.after < out->padded.after || (r.after == out->padded.after && out->pad.row && more < most)))
                out->padded = r, out->pad = y;
        }
        for (uint32_t unit = wide; unit >= 4; unit = unit > 4 ? 4 : 0)
            for (uint32_t mask = 1; (uint64_t)(mask + 1) * unit <= rows[i] && mask < 32; mask = 2 * mask + 1) {
                struct wg_layout y = {rows[i], 0, mask, unit};
                if (rows[i] / unit & (rows[i] / unit - 1) || rows[i] % unit)
                    continue;
                wg_layout_try(l, sites, array, &y, &r);
                out->tried++;
                if (r.state == WG_LAYOUT_TRIED && r.after < out->swizzled.after)
                    out->swizzled = r, out->swizzle = y;
            }
    }
}

/* ---- what the program's text says ---- */
static bool word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The value of a name that the text makes a constant with a plain number: `#define N 32`, `const int N = 32`. */
static uint64_t constant(const char *text, const char *name, size_t n)
{
    for (const char *at = text; (at = strstr(at, name)); at += n) {
        if ((at > text && word_char(at[-1])) || word_char(at[n]))
            continue;
        const char *p = at + n, *line = at;
        while (line > text && line[-1] != '\n')
            line--;
        while (*p == ' ' || *p == '\t')
            p++;
        bool defined = !strncmp(line, "#define", 7) && isdigit((unsigned char)*p), set = *p == '=';
        for (p += set; set && (*p == ' ' || *p == '\t');)
            p++;
        if ((defined || set) && isdigit((unsigned char)*p)) {
            char *end;
            uint64_t v = strtoull(p, &end, 0);
            end += strspn(end, "uUlL \t");
            if (!*end || strchr("\r\n;,/)", *end))
                return v;
        }
    }
    return 0;
}

/* "[N]" at *p as a number; 0: it is none. *p moves behind it. */
static uint64_t dimension(const char *text, const char **p)
{
    const char *q = *p + 1;
    uint64_t sum = 0;
    for (;;) { /* terms with + between them, of factors with * */
        uint64_t product = 1;
        for (;; q++) {
            char name[64];
            q += strspn(q, " \t");
            const char *start = q;
            while (word_char(*q))
                q++;
            size_t n = (size_t)(q - start);
            if (!n || n >= sizeof name)
                return 0;
            memcpy(name, start, n);
            name[n] = 0;
            uint64_t v = isdigit((unsigned char)*name) ? strtoull(name, NULL, 0) : constant(text, name, n);
            if (!v || v > 1 << 20)
                return 0;
            product *= v;
            q += strspn(q, " \t");
            if (*q != '*')
                break;
        }
        sum += product;
        if (*q != '+')
            break;
        q++;
    }
    if (*q != ']')
        return 0;
    *p = q + 1;
    return sum;
}

/* The last declaration that begins at or before a line: of arrays of one name that of the function the line is in. */
static uint64_t declared_in(const char *text, const struct wg_shared_array *a, unsigned element, uint32_t before, char *dims,
                            size_t room)
{
    size_t n = strlen(a->name);
    uint64_t row = 0;
    uint32_t at_line = 1;
    const char *counted = text;
    for (const char *at = text; n && (at = strstr(at, a->name)); at += n) {
        for (; counted < at; counted++)
            at_line += *counted == '\n';
        if (at_line > before)
            break;
        if ((at > text && word_char(at[-1])) || at[n] != '[')
            continue;
        const char *line = at, *p = at + n;
        while (line > text && line[-1] != '\n' && line[-1] != ';' && line[-1] != '{')
            line--;
        const char *shared = strstr(line, "__shared__");
        if (!shared || shared > at)
            continue;
        uint64_t last = 0, known = 1, words = a->bytes / element;
        unsigned count = 0, unknown = 0;
        row = 0; /* what an earlier one said is of another function */
        for (; *p == '['; count++) {
            last = dimension(text, &p);
            if (!last) { /* one that only the compiler knows follows from the array's size */
                p += strcspn(p, "]\n");
                if (*p++ != ']')
                    break;
                unknown++;
            }
            known *= last ? last : 1;
        }
        if (p[-1] != ']' || count < 2 || unknown > 1 || !known || words % known || (!unknown && words != known))
            continue;
        row = (last ? last : words / known) * element;
        if (dims)
            snprintf(dims, room, "%.*s", (int)(p - (at + n)), at + n);
    }
    return row;
}

uint64_t wg_layout_declared(const struct wg_profile *p, const struct wg_launch_result *l, const struct wg_shared_array *a,
                            unsigned element, char dims[64])
{
    uint32_t source = UINT32_MAX, line = UINT32_MAX;
    for (size_t i = 0; i < l->nsites; i++) {
        const struct wg_site *s = &l->sites[i];
        if (!s->line || s->source >= p->nsources || wg_layout_array_of(l, s) != a)
            continue;
        if (source != UINT32_MAX && s->source != source)
            return 0;
        source = s->source;
        line = s->line < line ? s->line : line;
    }
    return source == UINT32_MAX || !element || !p->sources[source].text
               ? 0 : declared_in(p->sources[source].text, a, element, line, dims, 64);
}
