/* profile_read.c - reads a .wgprof file and checks all of it: any bytes give a profile that is safe to use, or a message. */
#include "profile/profile.h"
#include "profile/profile_json.h"
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A profile and the memory it lives in; profile first, so that wg_profile_free finds it. */
struct owned {
    struct wg_profile p;
    struct wg_arena arena;
};
struct reader {
    struct owned *o;
    enum wg_status status;
    char where[64];  /* the part being read, for messages: "launch 3" */
    char msg[256];
    int column[64];  /* counter of each column of the file, -1: one we do not know */
    size_t ncolumns;
    uint64_t nsites; /* materialised so far */
};

__attribute__((format(printf, 3, 4))) static void bad(struct reader *r, enum wg_status s, const char *fmt, ...)
{
    if (r->status != WG_OK)
        return;
    r->status = s;
    char text[160];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    snprintf(r->msg, sizeof r->msg, "%s%s%s", r->where, *r->where ? ": " : "", text);
}

static void *get_memory(struct reader *r, size_t n, size_t size)
{
    void *p = n > SIZE_MAX / 2 / size ? NULL : wg_arena_alloc(&r->o->arena, n * size);
    if (!p)
        bad(r, WG_NO_MEMORY, "out of memory");
    return p;
}

/* A member of an object, or NULL when it is absent; a member of another type is an error. */
static json_t *member(struct reader *r, const json_t *o, const char *key, json_type t)
{
    json_t *v = json_object_get(o, key);
    if (v && json_typeof(v) != t) {
        bad(r, WG_CORRUPT, "\"%s\" has the wrong type", key);
        return NULL;
    }
    return v;
}

static const char *get_text(struct reader *r, const json_t *o, const char *key)
{
    json_t *v = member(r, o, key, JSON_STRING);
    const char *s = v ? wg_arena_str(&r->o->arena, json_string_value(v), json_string_length(v)) : "";
    if (!s)
        bad(r, WG_NO_MEMORY, "out of memory");
    return s ? s : "";
}

/* A non-negative integer, or hexadecimal text for what JSON integers cannot hold. */
static uint64_t to_number(struct reader *r, const json_t *v, const char *what, uint64_t max)
{
    uint64_t x = 0;
    bool ok = false;
    if (json_is_integer(v)) {
        ok = json_integer_value(v) >= 0;
        x = (uint64_t)json_integer_value(v);
    } else if (json_is_string(v)) {
        const char *s = json_string_value(v);
        char *end;
        errno = 0;
        ok = !strncmp(s, "0x", 2) && strspn(s + 2, "0123456789abcdefABCDEF") > 0;
        x = ok ? strtoull(s, &end, 16) : 0;
        ok = ok && !*end && !errno;
    }
    if (!ok || x > max) {
        bad(r, WG_CORRUPT, "\"%s\" is no number from 0 to %" PRIu64, what, max);
        return 0;
    }
    return x;
}

static uint64_t get_number(struct reader *r, const json_t *o, const char *key, uint64_t max)
{
    json_t *v = json_object_get(o, key);
    return v ? to_number(r, v, key, max) : 0;
}

static bool get_bool(struct reader *r, const json_t *o, const char *key)
{
    json_t *v = json_object_get(o, key);
    if (v && !json_is_boolean(v))
        bad(r, WG_CORRUPT, "\"%s\" is neither true nor false", key);
    return json_is_true(v);
}

static void get_triple(struct reader *r, const json_t *o, const char *key, uint32_t out[3])
{
    json_t *v = member(r, o, key, JSON_ARRAY);
    if (!v)
        return;
    if (json_array_size(v) != 3) {
        bad(r, WG_CORRUPT, "\"%s\" does not have 3 numbers", key);
        return;
    }
    for (size_t i = 0; i < 3; i++)
        out[i] = (uint32_t)to_number(r, json_array_get(v, i), key, UINT32_MAX);
}

/* [source, line]; absent: no source, line 0. */
static void get_place(struct reader *r, const json_t *o, const char *key, uint32_t *source, uint32_t *line)
{
    json_t *v = member(r, o, key, JSON_ARRAY);
    *source = UINT32_MAX;
    *line = 0;
    if (!v)
        return;
    if (json_array_size(v) != 2) {
        bad(r, WG_CORRUPT, "\"%s\" is not [source, line]", key);
        return;
    }
    uint32_t s = (uint32_t)to_number(r, json_array_get(v, 0), key, UINT32_MAX);
    if (s >= r->o->p.nsources)
        bad(r, WG_CORRUPT, "\"%s\" names source %" PRIu32 " of %zu", key, s, r->o->p.nsources);
    *source = s;
    *line = (uint32_t)to_number(r, json_array_get(v, 1), key, UINT32_MAX);
}

/* Index of a text in a table; one that is not there (from a later warpgrind) gives `other`. */
static unsigned get_word(struct reader *r, const json_t *o, const char *key, const char *const *table, unsigned n,
                         unsigned absent, unsigned other)
{
    json_t *v = member(r, o, key, JSON_STRING);
    if (!v)
        return absent;
    for (unsigned i = 0; i < n; i++)
        if (!strcmp(json_string_value(v), table[i]))
            return i;
    return other;
}

static json_t *element(struct reader *r, const json_t *list, size_t i, json_type t, const char *what)
{
    json_t *v = json_array_get(list, i);
    if (json_typeof(v) != t) {
        bad(r, WG_CORRUPT, "%s %zu has the wrong type", what, i);
        return NULL;
    }
    return v;
}

static struct wg_finding *findings(struct reader *r, const json_t *o, const char *key, size_t *count)
{
    json_t *list = member(r, o, key, JSON_ARRAY);
    size_t n = json_array_size(list);
    struct wg_finding *v = n ? get_memory(r, n, sizeof *v) : NULL;
    for (size_t i = 0; i < n && r->status == WG_OK; i++) {
        const json_t *f = element(r, list, i, JSON_OBJECT, "finding");
        v[i].id = get_text(r, f, "id");
        v[i].tool = get_text(r, f, "tool");
        v[i].severity = (uint8_t)get_word(r, f, "severity", wg_profile_severities, 3, WG_SEVERITY_ERROR, WG_SEVERITY_ERROR);
        get_place(r, f, "at", &v[i].source, &v[i].line);
        get_place(r, f, "other_at", &v[i].other_source, &v[i].other_line);
        v[i].count = get_number(r, f, "count", UINT64_MAX);
        get_triple(r, f, "thread", v[i].thread);
        get_triple(r, f, "block", v[i].block);
        get_triple(r, f, "other_thread", v[i].other_thread);
        get_triple(r, f, "other_block", v[i].other_block);
        v[i].address = get_number(r, f, "address", UINT64_MAX);
        v[i].message = get_text(r, f, "message");
    }
    *count = r->status == WG_OK ? n : 0;
    return v;
}

static void site(struct reader *r, const json_t *o, struct wg_site *s)
{
    s->text = get_text(r, o, "text");
    s->opcode = get_text(r, o, "opcode");
    get_place(r, o, "at", &s->source, &s->line);
    if (json_object_get(o, "inlined_at"))
        get_place(r, o, "inlined_at", &s->inlined_source, &s->inlined_line);
    s->ptx_line = (uint32_t)get_number(r, o, "ptx_line", UINT32_MAX);
    s->kind = (uint8_t)get_word(r, o, "kind", wg_profile_site_kinds, WG_SITE_MATRIX + 1, WG_SITE_OTHER, WG_SITE_OTHER);
    s->space = (uint8_t)get_word(r, o, "space", wg_profile_site_spaces, WG_SITE_GENERIC + 1, WG_SITE_NONE, WG_SITE_NONE);
    s->access_bytes = (uint16_t)get_number(r, o, "access_bytes", UINT16_MAX);
    s->machine = (uint32_t)get_number(r, o, "machine", UINT32_MAX);
    s->idle = json_is_true(json_object_get(o, "idle"));
}

struct code { struct wg_site *sites; size_t n; };

static struct code *codes(struct reader *r, const json_t *root, size_t *count)
{
    json_t *list = member(r, root, "code", JSON_ARRAY);
    size_t n = json_array_size(list);
    struct code *v = get_memory(r, n + 1, sizeof *v);
    for (size_t k = 0; k < n && r->status == WG_OK; k++) {
        snprintf(r->where, sizeof r->where, "code %zu", k);
        const json_t *table = element(r, list, k, JSON_ARRAY, "code table");
        v[k].n = json_array_size(table);
        v[k].sites = get_memory(r, v[k].n + 1, sizeof *v[k].sites);
        for (size_t i = 0; i < v[k].n && r->status == WG_OK; i++)
            site(r, element(r, table, i, JSON_OBJECT, "site"), &v[k].sites[i]);
    }
    r->where[0] = 0;
    *count = n;
    return v;
}

static void count_rows(struct reader *r, const json_t *rows, struct wg_launch_result *l)
{
    for (size_t i = 0; i < json_array_size(rows) && r->status == WG_OK; i++) {
        const json_t *row = element(r, rows, i, JSON_ARRAY, "row of counts");
        size_t n = json_array_size(row);
        if (n < 1 || n > r->ncolumns + 1) {
            bad(r, WG_CORRUPT, "row of counts %zu has %zu numbers", i, n);
            return;
        }
        uint64_t at = to_number(r, json_array_get(row, 0), "site", UINT64_MAX);
        if (at >= l->nsites) {
            bad(r, WG_CORRUPT, "counts name site %" PRIu64 " of %zu", at, l->nsites);
            return;
        }
        for (size_t c = 1; c < n; c++) {
            uint64_t v = to_number(r, json_array_get(row, c), "counts", UINT64_MAX);
            if (r->column[c - 1] >= 0)
                l->sites[at].c[r->column[c - 1]] = v;
        }
    }
}

static void worst(struct reader *r, const json_t *list, struct wg_launch_result *l)
{
    for (size_t i = 0; i < json_array_size(list) && r->status == WG_OK; i++) {
        const json_t *o = element(r, list, i, JSON_OBJECT, "worst access");
        struct wg_worst *w = get_memory(r, 1, sizeof *w);
        if (!o || !w)
            return;
        uint64_t at = get_number(r, o, "site", UINT64_MAX);
        const json_t *offsets = member(r, o, "offsets", JSON_ARRAY);
        w->block = get_number(r, o, "block", UINT64_MAX);
        w->warp = (uint32_t)get_number(r, o, "warp", UINT32_MAX);
        w->mask = (uint32_t)get_number(r, o, "mask", UINT32_MAX);
        w->shared = get_word(r, o, "space", wg_profile_site_spaces, WG_SITE_GENERIC + 1, WG_SITE_GLOBAL, WG_SITE_GLOBAL) ==
                    WG_SITE_SHARED;
        w->bytes = (uint16_t)get_number(r, o, "bytes", UINT16_MAX);
        w->cost = (uint32_t)get_number(r, o, "cost", UINT32_MAX);
        w->ideal = (uint32_t)get_number(r, o, "ideal", UINT32_MAX);
        if (r->status == WG_OK && (at >= l->nsites || json_array_size(offsets) != 32))
            bad(r, WG_CORRUPT, "worst access %zu names no site, or does not have 32 offsets", i);
        /* the models take no others, and neither does the hardware */
        bool bytes = w->shared ? w->bytes && w->bytes <= 16 && !(w->bytes & (w->bytes - 1)) : w->bytes && w->bytes <= 128;
        if (r->status == WG_OK && (!bytes || !w->mask))
            bad(r, WG_CORRUPT, "worst access %zu has no lanes, or %u bytes a lane", i, w->bytes);
        for (size_t k = 0; k < 32 && r->status == WG_OK; k++)
            w->offset[k] = to_number(r, json_array_get(offsets, k), "offsets", w->shared ? UINT32_MAX : INT64_MAX);
        if (r->status == WG_OK)
            l->sites[at].worst = w;
    }
}

/* One row of wg_patterns; false after a message. */
static bool pattern(struct reader *r, const json_t *row, struct wg_pattern *p)
{
    const json_t *lanes = json_array_get(row, 4);
    p->count = to_number(r, json_array_get(row, 0), "pattern", UINT64_MAX);
    p->mask = (uint32_t)to_number(r, json_array_get(row, 1), "pattern", UINT32_MAX);
    p->bytes = (uint16_t)to_number(r, json_array_get(row, 2), "pattern", 16);
    p->cost = (uint32_t)to_number(r, json_array_get(row, 3), "pattern", UINT32_MAX);
    size_t n = json_array_size(lanes);
    if (r->status == WG_OK && (!p->mask || !p->bytes || (p->bytes & (p->bytes - 1)) || (n != 2 && n != 32)))
        bad(r, WG_CORRUPT, "a pattern has no lanes, %u bytes a lane, or %zu offsets", p->bytes, n);
    if (r->status != WG_OK)
        return false;
    if (n == 2) {
        const json_t *step = json_array_get(lanes, 1);
        uint32_t first = (uint32_t)to_number(r, json_array_get(lanes, 0), "pattern", UINT32_MAX);
        if (r->status == WG_OK && !json_is_integer(step))
            bad(r, WG_CORRUPT, "a pattern's distance is no whole number");
        for (uint32_t m = p->mask; m && r->status == WG_OK; m &= m - 1) {
            unsigned at = (unsigned)__builtin_ctz(m), from = (unsigned)__builtin_ctz(p->mask);
            p->offset[at] = first + (uint32_t)json_integer_value(step) * (at - from);
        }
        return r->status == WG_OK;
    }
    for (size_t k = 0; k < 32 && r->status == WG_OK; k++)
        p->offset[k] = (uint32_t)to_number(r, json_array_get(lanes, k), "pattern", UINT32_MAX);
    return r->status == WG_OK;
}

static void patterns(struct reader *r, const json_t *list, struct wg_launch_result *l)
{
    for (size_t i = 0; i < json_array_size(list) && r->status == WG_OK; i++) {
        const json_t *o = element(r, list, i, JSON_OBJECT, "pattern list"), *rows = o ? member(r, o, "rows", JSON_ARRAY) : NULL;
        uint64_t at = o ? get_number(r, o, "site", UINT64_MAX) : 0;
        size_t n = json_array_size(rows);
        struct wg_patterns *p = get_memory(r, 1, sizeof *p);
        struct wg_pattern *v = get_memory(r, n + 1, sizeof *v);
        if (r->status != WG_OK || !p || !v)
            return;
        if (at >= l->nsites) {
            bad(r, WG_CORRUPT, "patterns name site %" PRIu64 " of %zu", at, l->nsites);
            return;
        }
        for (size_t k = 0; k < n; k++) {
            const json_t *row = element(r, rows, k, JSON_ARRAY, "pattern");
            if (!row || !pattern(r, row, &v[k]))
                return;
        }
        *p = (struct wg_patterns){n, v, get_number(r, o, "left_out", UINT64_MAX)};
        l->sites[at].patterns = p;
    }
}

static void shared_arrays(struct reader *r, const json_t *list, struct wg_launch_result *l)
{
    size_t n = json_array_size(list);
    struct wg_shared_array *v = n ? get_memory(r, n, sizeof *v) : NULL;
    for (size_t i = 0; i < n && r->status == WG_OK; i++) {
        const json_t *o = element(r, list, i, JSON_OBJECT, "shared array");
        if (!o)
            return;
        v[i].name = get_text(r, o, "name");
        v[i].offset = get_number(r, o, "offset", UINT32_MAX);
        v[i].bytes = get_number(r, o, "bytes", UINT32_MAX);
        v[i].dynamic = json_is_true(json_object_get(o, "dynamic"));
    }
    l->arrays = v;
    l->narrays = r->status == WG_OK ? n : 0;
}

static void stored_rows(struct reader *r, const json_t *rows, struct wg_launch_result *l)
{
    for (size_t i = 0; i < json_array_size(rows) && r->status == WG_OK; i++) {
        const json_t *row = element(r, rows, i, JSON_ARRAY, "row of stored digests");
        uint64_t at = to_number(r, json_array_get(row, 0), "site", UINT64_MAX);
        uint64_t v = to_number(r, json_array_get(row, 1), "digest", UINT64_MAX);
        if (r->status == WG_OK && at >= l->nsites)
            bad(r, WG_CORRUPT, "stored digests name site %" PRIu64 " of %zu", at, l->nsites);
        else if (r->status == WG_OK)
            l->sites[at].stored = v;
    }
}

static void sites(struct reader *r, const json_t *o, struct wg_launch_result *l, size_t index, const struct code *code,
                  size_t ncode)
{
    const json_t *k = json_object_get(o, "code"), *of = json_object_get(o, "counts_of");
    if (!k)
        return;
    uint64_t at = to_number(r, k, "code", UINT64_MAX);
    if (r->status == WG_OK && at >= ncode)
        bad(r, WG_CORRUPT, "names code %" PRIu64 " of %zu", at, ncode);
    if (r->status != WG_OK)
        return;
    l->nsites = code[at].n;
    if (of) {
        uint64_t other = to_number(r, of, "counts_of", UINT64_MAX);
        if (r->status == WG_OK && (other >= index || r->o->p.launches[other].nsites != l->nsites))
            bad(r, WG_CORRUPT, "\"counts_of\" names no earlier launch of that code");
        if (r->status == WG_OK)
            l->sites = r->o->p.launches[other].sites;
        return;
    }
    r->nsites += l->nsites;
    if (r->nsites > WG_PROFILE_MAX_SITES) {
        bad(r, WG_LIMIT, "more than %u sites in all launches", WG_PROFILE_MAX_SITES);
        return;
    }
    l->sites = get_memory(r, l->nsites + 1, sizeof *l->sites);
    if (!l->sites)
        return;
    memcpy(l->sites, code[at].sites, l->nsites * sizeof *l->sites);
    count_rows(r, member(r, o, "counts", JSON_ARRAY), l);
    stored_rows(r, json_object_get(o, "stored"), l);
    worst(r, member(r, o, "worst", JSON_ARRAY), l);
    patterns(r, member(r, o, "patterns", JSON_ARRAY), l);
}

/* Counters that are no column of the file, and those that the launch names. */
static uint64_t uncounted(struct reader *r, const json_t *o)
{
    uint64_t set = (WG_C_COUNT < 64 ? (uint64_t)1 << WG_C_COUNT : 0) - 1;
    const json_t *names = member(r, o, "uncounted", JSON_ARRAY);
    for (size_t i = 0; i < r->ncolumns; i++)
        if (r->column[i] >= 0)
            set &= ~((uint64_t)1 << r->column[i]);
    for (size_t i = 0; i < json_array_size(names) && r->status == WG_OK; i++) {
        const json_t *name = element(r, names, i, JSON_STRING, "uncounted counter");
        for (unsigned c = 0; name && c < WG_C_COUNT; c++)
            if (!strcmp(json_string_value(name), wg_counter_name(c)))
                set |= (uint64_t)1 << c;
    }
    return set;
}

static void launch(struct reader *r, const json_t *o, size_t index, const struct code *code, size_t ncode)
{
    struct wg_launch_result *l = &r->o->p.launches[index];
    l->index = (uint32_t)get_number(r, o, "index", UINT32_MAX);
    l->kernel = get_text(r, o, "kernel");
    l->mangled = get_text(r, o, "mangled");
    l->module = get_text(r, o, "module");
    l->compiler = get_text(r, o, "compiler");
    l->device = get_text(r, o, "device");
    get_triple(r, o, "grid", l->grid);
    get_triple(r, o, "block", l->block);
    get_triple(r, o, "cluster", l->cluster);
    l->static_shared = get_number(r, o, "static_shared", UINT64_MAX);
    l->dynamic_shared = get_number(r, o, "dynamic_shared", UINT64_MAX);
    l->local_bytes = get_number(r, o, "local_bytes", UINT64_MAX);
    shared_arrays(r, member(r, o, "shared_arrays", JSON_ARRAY), l);
    l->registers = (uint32_t)get_number(r, o, "registers", UINT32_MAX);
    l->registers_exact = get_bool(r, o, "registers_exact");
    l->registers_low = (uint32_t)get_number(r, o, "registers_low", UINT32_MAX);
    l->registers_high = (uint32_t)get_number(r, o, "registers_high", UINT32_MAX);
    l->spill_stores = get_number(r, o, "spill_stores", UINT64_MAX);
    l->spill_loads = get_number(r, o, "spill_loads", UINT64_MAX);
    l->ptxas = get_text(r, o, "ptxas");
    l->blocks_done = get_number(r, o, "blocks_done", UINT64_MAX);
    unsigned s = get_word(r, o, "status", wg_profile_status_ids, WG_STATUS_COUNT, WG_OK, WG_STATUS_COUNT);
    if (s == WG_STATUS_COUNT)
        bad(r, WG_CORRUPT, "unknown \"status\"");
    l->status = (enum wg_status)s;
    l->status_text = get_text(r, o, "status_text");
    json_t *t = json_object_get(o, "host_seconds");
    if (t && !json_is_number(t))
        bad(r, WG_CORRUPT, "\"host_seconds\" is no number");
    l->host_seconds = json_number_value(t);
    l->one_worker = get_bool(r, o, "one_worker");
    l->machine = (uint8_t)get_word(r, o, "machine", wg_profile_machines, WG_MACHINE_PTXAS + 1, WG_MACHINE_NONE, WG_MACHINE_NONE);
    l->merged_sites = get_number(r, o, "merged_sites", UINT64_MAX);
    const json_t *model = json_object_get(o, "model");
    if (model && !json_is_object(model))
        bad(r, WG_CORRUPT, "\"model\" is no object");
    l->has_model = model != NULL;
    for (unsigned m = 0; model && m < WG_MODELLED_COUNT; m++) /* rows that the file's writer did not know stay 0 */
        l->modelled[m] = json_number_value(json_object_get(model, wg_modelled_name(m)));
    l->uncounted = uncounted(r, o);
    sites(r, o, l, index, code, ncode);
    l->findings = findings(r, o, "findings", &l->nfindings);
    if (r->status != WG_OK)
        return;
    wg_profile_sum(l);
    const json_t *total = member(r, o, "total", JSON_OBJECT);
    for (unsigned c = 0; total && c < WG_C_COUNT && r->status == WG_OK; c++) {
        bool known = false; /* a file without this counter cannot give its sum either */
        for (size_t i = 0; i < r->ncolumns; i++)
            known |= r->column[i] == (int)c;
        if (known && get_number(r, total, wg_counter_name(c), UINT64_MAX) != l->total[c])
            bad(r, WG_CORRUPT, "\"total\" of %s is not the sum of its sites", wg_counter_name(c));
    }
}

static void columns(struct reader *r, const json_t *root)
{
    json_t *names = member(r, root, "counters", JSON_ARRAY);
    r->ncolumns = json_array_size(names);
    if (r->ncolumns > sizeof r->column / sizeof *r->column) {
        bad(r, WG_CORRUPT, "%zu counters", r->ncolumns);
        return;
    }
    for (size_t i = 0; i < r->ncolumns && r->status == WG_OK; i++) {
        const json_t *name = element(r, names, i, JSON_STRING, "counter");
        r->column[i] = -1;
        for (unsigned c = 0; name && c < WG_C_COUNT; c++)
            if (!strcmp(json_string_value(name), wg_counter_name(c)))
                r->column[i] = (int)c;
        for (size_t k = 0; k < i; k++)
            if (r->column[i] >= 0 && r->column[k] == r->column[i])
                bad(r, WG_CORRUPT, "a counter is listed twice");
    }
}

static void all(struct reader *r, const json_t *root)
{
    struct wg_profile *p = &r->o->p;
    const json_t *format = json_object_get(root, "format"), *version = json_object_get(root, "version");
    if (!json_is_string(format) || strcmp(json_string_value(format), WG_PROFILE_FORMAT)) {
        bad(r, WG_CORRUPT, "this is JSON, but not a warpgrind profile");
        return;
    }
    if (!json_is_integer(version) || json_integer_value(version) < 1) {
        bad(r, WG_CORRUPT, "the format version is missing");
        return;
    }
    if (json_integer_value(version) > WG_PROFILE_VERSION) {
        bad(r, WG_VERSION, "written in format version %lld; this warpgrind reads up to %d: use a newer one",
            (long long)json_integer_value(version), WG_PROFILE_VERSION);
        return;
    }
    p->version = (uint32_t)json_integer_value(version);
    p->tool_version = get_text(r, root, "tool_version");
    p->program = get_text(r, root, "program");
    p->device_file = get_text(r, root, "device_file");
    columns(r, root);
    const json_t *list = member(r, root, "sources", JSON_ARRAY);
    p->nsources = json_array_size(list);
    p->sources = get_memory(r, p->nsources + 1, sizeof *p->sources);
    for (size_t i = 0; i < p->nsources && r->status == WG_OK; i++) {
        const json_t *o = element(r, list, i, JSON_OBJECT, "source");
        p->sources[i].path = get_text(r, o, "path");
        p->sources[i].text = json_object_get(o, "text") ? get_text(r, o, "text") : NULL;
    }
    size_t ncode = 0;
    const struct code *code = codes(r, root, &ncode);
    list = member(r, root, "launches", JSON_ARRAY);
    p->nlaunches = json_array_size(list);
    p->launches = get_memory(r, p->nlaunches + 1, sizeof *p->launches);
    for (size_t i = 0; i < p->nlaunches && r->status == WG_OK; i++) {
        snprintf(r->where, sizeof r->where, "launch %zu", i);
        const json_t *o = element(r, list, i, JSON_OBJECT, "launch");
        if (o)
            launch(r, o, i, code, ncode);
    }
    r->where[0] = 0;
    p->host_findings = findings(r, root, "host_findings", &p->nhost_findings);
}

enum wg_status wg_profile_read(const char *path, struct wg_profile **out, char *err, size_t n)
{
    struct reader r = {0};
    json_error_t je;
    *out = NULL;
    errno = 0;
    FILE *f = fopen(path, "re");
    json_t *root = f ? json_loadf(f, JSON_REJECT_DUPLICATES, &je) : NULL;
    if (!f || (!root && ferror(f))) {
        bad(&r, WG_IO, "%s", strerror(errno ? errno : EIO));
    } else if (!root) {
        bad(&r, json_error_code(&je) == json_error_out_of_memory ? WG_NO_MEMORY : WG_CORRUPT, "line %d: %s", je.line,
            je.text);
    } else if (!(r.o = wg_calloc(1, sizeof *r.o))) {
        bad(&r, WG_NO_MEMORY, "out of memory");
    } else if (!json_is_object(root)) {
        bad(&r, WG_CORRUPT, "this is JSON, but not a warpgrind profile");
    } else {
        all(&r, root);
    }
    if (f)
        fclose(f);
    json_decref(root);
    if (r.status != WG_OK) {
        if (err && n)
            snprintf(err, n, "cannot read %s: %s", path, r.msg);
        wg_profile_free(r.o ? &r.o->p : NULL);
        return r.status;
    }
    *out = &r.o->p;
    return WG_OK;
}

void wg_profile_free(struct wg_profile *p)
{
    if (!p)
        return;
    struct owned *o = (struct owned *)p;
    wg_arena_free(&o->arena);
    free(o);
}
