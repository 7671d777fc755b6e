/* parse_debug.c - directives that say where code comes from, and those that are allowed everywhere. */
#include "ptx/parse.h"
#include <stdlib.h>
#include <string.h>

static bool file_directive(struct wg_parser *p)
{
    uint64_t number;
    if (!wg_parse_int(p, WG_PTX_MAX_FILE, "a file number", &number))
        return false;
    if (!wg_parse_is(p, WG_TOK_STRING))
        return wg_parse_unexpected(p, "a file name in quotes");
    struct wg_token a = p->lex.t;
    struct wg_ptx_module *m = p->m;
    wg_parse_next(p);
    const char **files = wg_arena_grow(&m->arena, (void *)m->files, number + 1, &p->cap_files, sizeof *files);
    if (!files)
        return wg_parse_oom(p);
    m->files = files;
    if (number >= m->nfiles)
        m->nfiles = (uint32_t)number + 1;
    if (wg_parse_is(p, WG_TOK_STRING)) { /* directory, file */
        struct wg_token b = p->lex.t;
        files[number] = wg_arena_printf(&m->arena, "%.*s/%.*s", (int)(a.n - 2), a.s + 1, (int)(b.n - 2), b.s + 1);
        wg_parse_next(p);
    } else {
        files[number] = wg_arena_str(&m->arena, a.s + 1, a.n - 2);
    }
    if (!files[number])
        return wg_parse_oom(p);
    for (int i = 0; i < 2 && wg_parse_accept(p, ','); i++) { /* time stamp and size */
        uint64_t unused;
        if (!wg_parse_int(p, UINT64_MAX, "a number", &unused))
            return false;
    }
    return true;
}

static bool loc_triple(struct wg_parser *p, uint32_t v[3])
{
    return wg_parse_small(p, UINT32_MAX, "a file number", &v[0]) &&
           wg_parse_small(p, UINT32_MAX, "a line number", &v[1]) &&
           wg_parse_small(p, UINT32_MAX, "a column number", &v[2]);
}

static struct wg_loc_root *find_root(struct wg_loc_root *t, size_t cap, const uint32_t v[3])
{
    size_t k = (v[0] * 2654435761u ^ v[1] * 2246822519u ^ v[2] * 3266489917u) * 2654435761u;
    for (k = (k ^ k >> 15) & (cap - 1);; k = (k + 1) & (cap - 1))
        if (!t[k].used || (t[k].file == v[0] && t[k].line == v[1] && t[k].col == v[2]))
            return &t[k];
}

/* The place of a .loc is remembered with the call site it leads to, so that chains of inlined_at end at the
 * outermost. */
static struct wg_loc_root *root_slot(struct wg_parser *p, const uint32_t v[3])
{
    if (p->nlocs * 2 >= p->cap_locs) {
        size_t cap = p->cap_locs ? p->cap_locs * 2 : 256;
        struct wg_loc_root *t = wg_arena_alloc(&p->tmp, cap * sizeof *t);
        if (!t) {
            wg_parse_oom(p);
            return NULL;
        }
        for (size_t i = 0; i < p->cap_locs; i++)
            if (p->locs[i].used)
                *find_root(t, cap, (uint32_t[3]){p->locs[i].file, p->locs[i].line, p->locs[i].col}) = p->locs[i];
        p->locs = t;
        p->cap_locs = cap;
    }
    struct wg_loc_root *r = find_root(p->locs, p->cap_locs, v);
    if (!r->used) {
        *r = (struct wg_loc_root){.file = v[0], .line = v[1], .col = v[2], .used = true};
        p->nlocs++;
    }
    return r;
}

/* The chain that starts with a call at `at`; 0 where memory is out. */
static uint32_t chain_from(struct wg_parser *p, struct wg_loc_root *at)
{
    struct wg_ptx_module *m = p->m;
    if (at->from && m->calls[at->from].up == at->call)
        return at->from;
    uint32_t k = m->ncalls ? m->ncalls : 1;
    struct wg_ptx_call *v = wg_arena_grow(&m->arena, m->calls, k + 1, &p->cap_calls, sizeof *v);
    if (!v)
        return wg_parse_oom(p), 0;
    m->calls = v;
    m->ncalls = k + 1;
    v[k] = (struct wg_ptx_call){at->file, at->line, at->call};
    return at->from = k;
}

/* .loc file line column [, function_name label [+ n]] [, inlined_at file line column] */
static bool loc(struct wg_parser *p)
{
    uint32_t v[3], at[3];
    uint64_t unused;
    bool inlined = false;
    if (!loc_triple(p, v))
        return false;
    while (wg_parse_accept(p, ',')) {
        if (wg_parse_text_is(p, "function_name")) {
            wg_parse_next(p);
            if (!wg_parse_is(p, WG_TOK_IDENT) && !wg_parse_is(p, WG_TOK_DIR))
                return wg_parse_unexpected(p, "a label");
            wg_parse_next(p);
            if (wg_parse_accept(p, '+') && !wg_parse_int(p, UINT64_MAX, "an offset", &unused))
                return false;
        } else if (wg_parse_text_is(p, "inlined_at")) {
            wg_parse_next(p);
            inlined = true;
            if (!loc_triple(p, at))
                return false;
        } else {
            return wg_parse_unexpected(p, "function_name or inlined_at");
        }
    }
    struct wg_loc_root *outer = inlined ? root_slot(p, at) : NULL;
    if (inlined && !outer)
        return false;
    uint32_t root_file = !inlined ? 0 : outer->root_line ? outer->root_file : at[0];
    uint32_t root_line = !inlined ? 0 : outer->root_line ? outer->root_line : at[1];
    uint32_t call = inlined ? chain_from(p, outer) : 0;
    struct wg_loc_root *here = inlined && !call ? NULL : root_slot(p, v);
    if (!here)
        return false;
    here->call = call;
    here->root_file = root_file;
    here->root_line = root_line;
    p->loc_file = v[0];
    p->loc_line = v[1];
    p->loc_col = v[2];
    p->loc_root_file = root_file;
    p->loc_root_line = root_line;
    p->loc_call = call;
    if (p->fn && !p->fn->line) {
        p->fn->file = v[0];
        p->fn->line = v[1];
    }
    return true;
}

bool wg_parse_skip_statement(struct wg_parser *p)
{
    while (!wg_parse_is(p, ';')) {
        if (wg_parse_is(p, WG_TOK_EOF) || wg_parse_is(p, WG_TOK_BAD) || wg_parse_is(p, '{') || wg_parse_is(p, '}'))
            return wg_parse_unexpected(p, "';'");
        wg_parse_next(p);
    }
    wg_parse_next(p);
    return true;
}

/* .pragma "nounroll"; of these only the bytes that a load needs tell something about accesses. */
static bool pragma(struct wg_parser *p)
{
    static const char used[] = "\"used_bytes_mask ";
    const struct wg_token t = p->lex.t;
    if (t.kind == WG_TOK_STRING && t.n > sizeof used && t.n < 40 && memcmp(t.s, used, sizeof used - 1) == 0)
        p->used_bytes = (uint32_t)strtoul(t.s + sizeof used - 1, NULL, 0);
    return wg_parse_skip_statement(p);
}

/* .section .debug_info { ... }: not read */
static bool section(struct wg_parser *p)
{
    const char *at = p->lex.t.s;
    while (!wg_parse_is(p, '{')) {
        if (wg_parse_is(p, WG_TOK_EOF) || wg_parse_is(p, WG_TOK_BAD) || wg_parse_is(p, ';') || wg_parse_is(p, '}'))
            return wg_parse_unexpected(p, "'{'");
        wg_parse_next(p);
    }
    wg_lex_skip_block(&p->lex);
    if (p->lex.t.kind == WG_TOK_EOF && p->lex.end[-1] != '}') {
        const char *e = p->lex.end;
        while (e > at && (unsigned char)e[-1] <= ' ')
            e--;
        if (e[-1] != '}')
            return wg_parse_error(p, at, "this section has no closing '}'");
    }
    return true;
}

/* Directives allowed at module scope and in bodies; *done tells whether it was one of them. */
bool wg_parse_common(struct wg_parser *p, bool *done)
{
    *done = true;
    if (wg_parse_text_is(p, ".file"))
        return wg_parse_next(p), file_directive(p);
    if (wg_parse_text_is(p, ".loc"))
        return wg_parse_next(p), loc(p);
    if (wg_parse_text_is(p, ".section"))
        return wg_parse_next(p), section(p);
    if (wg_parse_text_is(p, ".pragma"))
        return wg_parse_next(p), pragma(p);
    *done = false;
    return true;
}
