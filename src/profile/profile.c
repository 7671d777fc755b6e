/* profile.c - collects the results of launches into a profile: one copy of each string, shared sites, source texts. */
#include "profile/profile.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const counter_names[] = {
#define WG_COUNTER(id, name, unit, text) name,
#include <warpgrind/counters.def>
#undef WG_COUNTER
};
static const char *const counter_units[] = {
#define WG_COUNTER(id, name, unit, text) unit,
#include <warpgrind/counters.def>
#undef WG_COUNTER
};
const char *const wg_profile_machines[] = {"none", "estimated", "ptxas"};
static const char *const modelled_names[] = {
#define WG_MODELLED(id, name, unit, text) name,
#include <warpgrind/modelled.def>
#undef WG_MODELLED
};
static const char *const modelled_units[] = {
#define WG_MODELLED(id, name, unit, text) unit,
#include <warpgrind/modelled.def>
#undef WG_MODELLED
};
const char *const wg_profile_site_kinds[] = {"other", "load", "store", "atom", "red", "branch", "barrier", "async", "matrix"};
const char *const wg_profile_site_spaces[] = {"none", "global", "shared", "local", "const", "param", "generic"};

const char *wg_counter_name(enum wg_counter c) { return (unsigned)c < WG_C_COUNT ? counter_names[c] : ""; }

const char *wg_counter_unit(enum wg_counter c) { return (unsigned)c < WG_C_COUNT ? counter_units[c] : ""; }

const char *wg_modelled_name(enum wg_modelled m) { return (unsigned)m < WG_MODELLED_COUNT ? modelled_names[m] : ""; }

const char *wg_modelled_unit(enum wg_modelled m) { return (unsigned)m < WG_MODELLED_COUNT ? modelled_units[m] : ""; }

/* Length of the valid UTF-8 sequence at s, or 0. Refuses overlong forms, surrogates and values past U+10FFFF. */
static size_t utf8_len(const unsigned char *s, size_t n)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t k = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (k == 1)
        return s[0] != 0;
    if (s[0] < 0xc2 || s[0] > 0xf4 || k > n)
        return 0;
    uint32_t v = s[0] & (0x7fu >> k);
    for (size_t i = 1; i < k; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        v = v << 6 | (s[i] & 0x3f);
    }
    return v >= least[k] && v <= 0x10ffff && !(v >= 0xd800 && v <= 0xdfff) ? k : 0;
}

size_t wg_profile_utf8(char *dst, const char *s, size_t n)
{
    char *d = dst;
    for (size_t i = 0; i < n;) {
        size_t k = utf8_len((const unsigned char *)s + i, n - i);
        memcpy(d, k ? s + i : "\xef\xbf\xbd", k ? k : 3);
        d += k ? k : 3;
        i += k ? k : 1;
    }
    *d = 0;
    return (size_t)(d - dst);
}

static uint64_t hash(const char *s)
{
    uint64_t h = 1469598103934665603u;
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 1099511628211u;
    return h ^ h >> 29;
}

static size_t slot_of(const char *const *table, size_t cap, const char *s)
{
    size_t i = hash(s) & (cap - 1);
    while (table[i] && strcmp(table[i], s))
        i = (i + 1) & (cap - 1);
    return i;
}

static bool grow_table(struct wg_profile_builder *b)
{
    size_t cap = b->cap_strings ? b->cap_strings * 2 : 64;
    const char **t = wg_calloc(cap, sizeof *t);
    if (!t)
        return false;
    for (size_t i = 0; i < b->cap_strings; i++)
        if (b->strings[i])
            t[slot_of(t, cap, b->strings[i])] = b->strings[i];
    free(b->strings);
    b->strings = t;
    b->cap_strings = cap;
    return true;
}

const char *wg_profile_string(struct wg_profile_builder *b, const char *s)
{
    if (!s || !*s)
        return "";
    if (b->nstrings * 2 >= b->cap_strings && !grow_table(b)) {
        b->arena.failed = 1;
        return "";
    }
    /* What is kept is valid UTF-8, so a string that is found as it stands needs no second look. */
    size_t i = slot_of(b->strings, b->cap_strings, s);
    if (b->strings[i])
        return b->strings[i];
    size_t n = strlen(s), bad = 0;
    for (size_t at = 0, k; at < n; at += k ? k : 1) {
        k = utf8_len((const unsigned char *)s + at, n - at);
        bad += !k;
    }
    char *copy = wg_arena_alloc(&b->arena, n + 2 * bad + 1);
    if (!copy)
        return "";
    wg_profile_utf8(copy, s, n);
    i = slot_of(b->strings, b->cap_strings, copy);
    if (!b->strings[i]) {
        b->strings[i] = copy;
        b->nstrings++;
    }
    return b->strings[i];
}

enum wg_status wg_profile_builder_init(struct wg_profile_builder *b, const char *program)
{
    *b = (struct wg_profile_builder){0};
    b->profile.version = WG_PROFILE_VERSION;
    b->profile.tool_version = "warpgrind " WARPGRIND_VERSION;
    b->profile.program = wg_profile_string(b, program);
    b->profile.device_file = "";
    return b->arena.failed ? WG_NO_MEMORY : WG_OK;
}

void wg_profile_builder_free(struct wg_profile_builder *b)
{
    free(b->strings);
    free(b->scratch);
    wg_arena_free(&b->arena);
    *b = (struct wg_profile_builder){0};
}

uint32_t wg_profile_add_source(struct wg_profile_builder *b, const char *path)
{
    struct wg_profile *p = &b->profile;
    const char *s = wg_profile_string(b, path);
    for (size_t i = 0; i < p->nsources; i++)
        if (p->sources[i].path == s)
            return (uint32_t)i;
    struct wg_source *v = wg_arena_grow(&b->arena, p->sources, p->nsources + 1, &b->cap_sources, sizeof *v);
    if (!*s || !v || p->nsources >= UINT32_MAX - 1)
        return UINT32_MAX;
    p->sources = v;
    v[p->nsources] = (struct wg_source){.path = s};
    return (uint32_t)p->nsources++;
}

struct wg_launch_result *wg_profile_begin_launch(struct wg_profile_builder *b, size_t nsites)
{
    struct wg_profile *p = &b->profile;
    struct wg_launch_result *v = wg_arena_grow(&b->arena, p->launches, p->nlaunches + 1, &b->cap_launches, sizeof *v);
    if (!v) {
        b->arena.failed = 0; /* the caller is told here; the next launch may fit */
        return NULL;
    }
    p->launches = v;
    if (nsites > b->cap_scratch) {
        struct wg_site *s = nsites > SIZE_MAX / sizeof *s ? NULL : wg_realloc(b->scratch, nsites * sizeof *s);
        if (!s)
            return NULL;
        b->scratch = s;
        b->cap_scratch = nsites;
    }
    struct wg_launch_result *l = &v[p->nlaunches];
    *l = (struct wg_launch_result){.index = (uint32_t)p->nlaunches, .nsites = nsites, .sites = b->scratch};
    if (nsites)
        memset(b->scratch, 0, nsites * sizeof *b->scratch);
    for (size_t i = 0; i < nsites; i++)
        b->scratch[i].source = UINT32_MAX;
    b->cap_findings = 0;
    b->open = true;
    return l;
}

static bool same_worst(const struct wg_worst *a, const struct wg_worst *b)
{
    return a == b || (a && b && a->block == b->block && a->warp == b->warp && a->mask == b->mask && a->cost == b->cost &&
                      a->ideal == b->ideal && a->bytes == b->bytes && a->shared == b->shared &&
                      !memcmp(a->offset, b->offset, sizeof a->offset));
}

static bool same_pattern(const struct wg_pattern *a, const struct wg_pattern *b)
{
    return a->count == b->count && a->mask == b->mask && a->cost == b->cost && a->bytes == b->bytes &&
           !memcmp(a->offset, b->offset, sizeof a->offset);
}

static bool same_patterns(const struct wg_patterns *a, const struct wg_patterns *b)
{
    if (!a || !b || a->n != b->n || a->left_out != b->left_out)
        return a == b;
    for (size_t i = 0; i < a->n; i++)
        if (!same_pattern(&a->v[i], &b->v[i]))
            return false;
    return true;
}

static const struct wg_patterns *keep_patterns(struct wg_profile_builder *b, const struct wg_patterns *p)
{
    struct wg_patterns *q = wg_arena_dup(&b->arena, p, sizeof *p);
    if (q)
        q->v = wg_arena_dup(&b->arena, p->v, p->n * sizeof *p->v);
    return q && (q->v || !q->n) ? q : NULL;
}

/* Strings of both are the builder's, so equal ones are one pointer. */
static bool same_site(const struct wg_site *a, const struct wg_site *b)
{
    return a->source == b->source && a->line == b->line && a->inlined_source == b->inlined_source &&
           a->inlined_line == b->inlined_line && a->ptx_line == b->ptx_line && a->kind == b->kind &&
           a->space == b->space && a->access_bytes == b->access_bytes && a->machine == b->machine && a->text == b->text &&
           a->opcode == b->opcode && a->stored == b->stored && !memcmp(a->c, b->c, sizeof a->c) && same_worst(a->worst, b->worst) &&
           a->idle == b->idle && same_patterns(a->patterns, b->patterns);
}

static struct wg_site *keep_sites(struct wg_profile_builder *b, const struct wg_launch_result *l)
{
    for (size_t k = b->profile.nlaunches; k-- > 0;) {
        const struct wg_launch_result *o = &b->profile.launches[k];
        if (o->mangled != l->mangled || o->module != l->module || o->nsites != l->nsites)
            continue;
        size_t i = 0;
        while (i < l->nsites && same_site(&o->sites[i], &l->sites[i]))
            i++;
        if (i == l->nsites)
            return o->sites;
        break;
    }
    struct wg_site *v = wg_arena_dup(&b->arena, l->sites, l->nsites * sizeof *l->sites);
    for (size_t i = 0; v && i < l->nsites; i++)
        if (v[i].worst)
            v[i].worst = wg_arena_dup(&b->arena, v[i].worst, sizeof *v[i].worst);
    for (size_t i = 0; v && i < l->nsites; i++)
        if (v[i].patterns)
            v[i].patterns = keep_patterns(b, v[i].patterns);
    return v;
}

void wg_profile_sum(struct wg_launch_result *l)
{
    memset(l->total, 0, sizeof l->total);
    for (size_t i = 0; i < l->nsites; i++)
        for (unsigned c = 0; c < WG_C_COUNT; c++)
            l->total[c] += l->sites[i].c[c];
}

enum wg_status wg_profile_end_launch(struct wg_profile_builder *b)
{
    struct wg_launch_result *l = &b->profile.launches[b->profile.nlaunches];
    const char **strings[] = {&l->kernel, &l->mangled, &l->module, &l->compiler, &l->device, &l->status_text,
                              &l->ptxas};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        *strings[i] = wg_profile_string(b, *strings[i]);
    for (size_t i = 0; i < l->nsites; i++) {
        l->sites[i].text = wg_profile_string(b, l->sites[i].text);
        l->sites[i].opcode = wg_profile_string(b, l->sites[i].opcode);
    }
    struct wg_shared_array *arrays = l->narrays ? wg_arena_dup(&b->arena, l->arrays, l->narrays * sizeof *l->arrays) : NULL;
    for (size_t i = 0; arrays && i < l->narrays; i++)
        arrays[i].name = wg_profile_string(b, arrays[i].name);
    l->arrays = arrays;
    wg_profile_sum(l);
    l->sites = l->nsites ? keep_sites(b, l) : NULL;
    b->open = false;
    if (b->arena.failed) {
        b->arena.failed = 0; /* this launch is lost; the next may fit */
        return WG_NO_MEMORY;
    }
    b->profile.nlaunches++;
    return WG_OK;
}

enum wg_status wg_profile_add_finding(struct wg_profile_builder *b, const struct wg_finding *f)
{
    struct wg_profile *p = &b->profile;
    struct wg_launch_result *l = b->open ? &p->launches[p->nlaunches] : NULL;
    struct wg_finding **v = l ? &l->findings : &p->host_findings;
    size_t *n = l ? &l->nfindings : &p->nhost_findings;
    struct wg_finding *w = wg_arena_grow(&b->arena, *v, *n + 1, l ? &b->cap_findings : &b->cap_host_findings, sizeof *w);
    if (!w) {
        b->arena.failed = 0;
        return WG_NO_MEMORY;
    }
    *v = w;
    w[*n] = *f;
    w[*n].id = wg_profile_string(b, f->id);
    w[*n].tool = wg_profile_string(b, f->tool);
    w[*n].message = wg_profile_string(b, f->message);
    ++*n;
    return b->arena.failed ? WG_NO_MEMORY : WG_OK;
}

/* The whole file as UTF-8, or NULL. */
static const char *load(struct wg_profile_builder *b, const char *path)
{
    /* The name comes from the PTX: it may be a pipe or a device, where reading could wait for ever. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    FILE *f = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) ? fdopen(fd, "r") : NULL;
    if (!f) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    const char *text = NULL;
    size_t cap = 0, n = 0;
    char *raw = NULL;
    while (!feof(f) && !ferror(f) && n <= WG_PROFILE_SOURCE_LIMIT) {
        if (n + 4096 > cap) {
            char *q = wg_realloc(raw, cap = cap ? cap * 2 : 65536);
            if (!q)
                break;
            raw = q;
        }
        n += fread(raw + n, 1, cap - n, f);
    }
    if (feof(f) && !ferror(f) && n <= WG_PROFILE_SOURCE_LIMIT) {
        int failed = b->arena.failed;
        char *wide = wg_calloc(3 * n + 1, 1);
        if (wide)
            text = wg_arena_str(&b->arena, wide, wg_profile_utf8(wide, raw, n));
        free(wide);
        b->arena.failed = failed;
    }
    free(raw);
    fclose(f);
    return text;
}

void wg_profile_load_sources(struct wg_profile_builder *b)
{
    for (; b->sources_tried < b->profile.nsources; b->sources_tried++) {
        struct wg_source *s = &b->profile.sources[b->sources_tried];
        s->text = load(b, s->path);
    }
}
