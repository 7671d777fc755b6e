/* profile_json.c - writes a profile as a .wgprof file (JSON, see docs/profile-format.md). */
#include "profile/profile.h"
#include "profile/profile_json.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const wg_profile_status_ids[WG_STATUS_COUNT] = {
#define WG_STATUS(id, text) #id,
#include <warpgrind/status.def>
#undef WG_STATUS
};
const char *const wg_profile_severities[] = {"info", "warning", "error"};

/* JSON integers are signed; what does not fit is written as hexadecimal text. */
static json_t *number(uint64_t v)
{
    char hex[24];
    if (v <= INT64_MAX)
        return json_integer((json_int_t)v);
    snprintf(hex, sizeof hex, "0x%" PRIx64, v);
    return json_string(hex);
}

static json_t *triple(const uint32_t v[3])
{
    return json_pack("[I,I,I]", (json_int_t)v[0], (json_int_t)v[1], (json_int_t)v[2]);
}

/* Every value is owned by `o` from here on; a failed allocation anywhere leaves *ok false. */
static void put(json_t *o, const char *key, json_t *value, bool *ok)
{
    if (json_object_set_new(o, key, value))
        *ok = false;
}

static void append(json_t *a, json_t *value, bool *ok)
{
    if (json_array_append_new(a, value))
        *ok = false;
}

static void put_text(json_t *o, const char *key, const char *s, bool *ok)
{
    if (s && *s)
        put(o, key, json_string(s), ok);
}

static void put_number(json_t *o, const char *key, uint64_t v, bool *ok)
{
    if (v)
        put(o, key, number(v), ok);
}

static void put_place(json_t *o, const char *key, uint32_t source, uint32_t line, bool *ok)
{
    if (source != UINT32_MAX)
        put(o, key, json_pack("[I,I]", (json_int_t)source, (json_int_t)line), ok);
}

static json_t *findings(const struct wg_finding *v, size_t n, bool *ok)
{
    json_t *a = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct wg_finding *f = &v[i];
        json_t *o = json_object();
        put_text(o, "id", f->id, ok);
        put_text(o, "tool", f->tool, ok);
        put(o, "severity", json_string(wg_profile_severities[f->severity <= WG_SEVERITY_ERROR ? f->severity : 2]), ok);
        if (f->line)
            put_place(o, "at", f->source, f->line, ok);
        if (f->other_line)
            put_place(o, "other_at", f->other_source, f->other_line, ok);
        put_number(o, "count", f->count, ok);
        put(o, "thread", triple(f->thread), ok);
        put(o, "block", triple(f->block), ok);
        put(o, "other_thread", triple(f->other_thread), ok);
        put(o, "other_block", triple(f->other_block), ok);
        put_number(o, "address", f->address, ok);
        put_text(o, "message", f->message, ok);
        append(a, o, ok);
    }
    return a;
}

static bool same_code(const struct wg_launch_result *a, const struct wg_launch_result *b)
{
    if (a->nsites != b->nsites || strcmp(a->mangled, b->mangled))
        return false;
    for (size_t i = 0; a->sites != b->sites && i < a->nsites; i++) {
        const struct wg_site *x = &a->sites[i], *y = &b->sites[i];
        if (x->source != y->source || x->line != y->line || x->inlined_source != y->inlined_source ||
            x->inlined_line != y->inlined_line || x->ptx_line != y->ptx_line || x->kind != y->kind ||
            x->space != y->space || x->access_bytes != y->access_bytes || x->machine != y->machine || strcmp(x->text, y->text) ||
            strcmp(x->opcode, y->opcode) || x->idle != y->idle)
            return false;
    }
    return true;
}

static json_t *code_table(const struct wg_launch_result *l, bool *ok)
{
    json_t *a = json_array();
    for (size_t i = 0; i < l->nsites; i++) {
        const struct wg_site *s = &l->sites[i];
        json_t *o = json_object();
        put_text(o, "text", s->text, ok);
        put_text(o, "opcode", s->opcode, ok);
        put_place(o, "at", s->source, s->line, ok);
        if (s->inlined_line)
            put_place(o, "inlined_at", s->inlined_source, s->inlined_line, ok);
        put_number(o, "ptx_line", s->ptx_line, ok);
        if (s->kind && s->kind <= WG_SITE_MATRIX)
            put_text(o, "kind", wg_profile_site_kinds[s->kind], ok);
        if (s->space && s->space <= WG_SITE_GENERIC)
            put_text(o, "space", wg_profile_site_spaces[s->space], ok);
        put_number(o, "access_bytes", s->access_bytes, ok);
        put_number(o, "machine", s->machine, ok);
        if (s->idle)
            put(o, "idle", json_true(), ok);
        append(a, o, ok);
    }
    return a;
}

/* [site, counter, counter, ...] for each site that counted something; zeros at the end of a row are left out. */
static json_t *count_rows(const struct wg_launch_result *l, bool *ok)
{
    json_t *a = json_array();
    for (size_t i = 0; i < l->nsites; i++) {
        unsigned n = WG_C_COUNT;
        while (n && !l->sites[i].c[n - 1])
            n--;
        if (!n)
            continue;
        json_t *row = json_array();
        append(row, json_integer((json_int_t)i), ok);
        for (unsigned c = 0; c < n; c++)
            append(row, number(l->sites[i].c[c]), ok);
        append(a, row, ok);
    }
    return a;
}

/* The accesses that wasted most, of the sites that wasted anything. */
static json_t *worst_list(const struct wg_launch_result *l, bool *ok)
{
    json_t *a = json_array();
    for (size_t i = 0; i < l->nsites; i++) {
        const struct wg_worst *w = l->sites[i].worst;
        if (!w)
            continue;
        json_t *o = json_object(), *offsets = json_array();
        put(o, "site", json_integer((json_int_t)i), ok);
        put_number(o, "block", w->block, ok);
        put_number(o, "warp", w->warp, ok);
        put_number(o, "mask", w->mask, ok);
        put(o, "space", json_string(wg_profile_site_spaces[w->shared ? WG_SITE_SHARED : WG_SITE_GLOBAL]), ok);
        put_number(o, "bytes", w->bytes, ok);
        put_number(o, "cost", w->cost, ok);
        put_number(o, "ideal", w->ideal, ok);
        for (unsigned k = 0; k < 32; k++)
            append(offsets, number(w->offset[k]), ok);
        put(o, "offsets", offsets, ok);
        append(a, o, ok);
    }
    return a;
}

/* Offsets of the lanes: where equally far apart that of the first and the distance, else all 32. */
static json_t *lanes_of(const struct wg_pattern *p, bool *ok)
{
    json_t *a = json_array();
    unsigned first = p->mask ? (unsigned)__builtin_ctz(p->mask) : 0;
    uint32_t above = p->mask & (p->mask - 1), step = 0;
    if (above)
        step = (uint32_t)((int32_t)(p->offset[__builtin_ctz(above)] - p->offset[first]) /
                          (int32_t)((unsigned)__builtin_ctz(above) - first));
    bool even = true;
    for (uint32_t m = p->mask; m; m &= m - 1)
        even &= p->offset[__builtin_ctz(m)] == p->offset[first] + step * ((unsigned)__builtin_ctz(m) - first);
    if (even) {
        append(a, number(p->offset[first]), ok);
        append(a, json_integer((int32_t)step), ok);
        return a;
    }
    for (unsigned k = 0; k < 32; k++)
        append(a, number(p->offset[k]), ok);
    return a;
}

static json_t *pattern_list(const struct wg_launch_result *l, bool *ok)
{
    json_t *a = json_array();
    for (size_t i = 0; i < l->nsites; i++) {
        const struct wg_patterns *p = l->sites[i].patterns;
        if (!p)
            continue;
        json_t *o = json_object(), *rows = json_array();
        put(o, "site", json_integer((json_int_t)i), ok);
        put_number(o, "left_out", p->left_out, ok);
        for (size_t k = 0; k < p->n; k++)
            append(rows, json_pack("[o,o,o,o,o]", number(p->v[k].count), number(p->v[k].mask), number(p->v[k].bytes),
                                   number(p->v[k].cost), lanes_of(&p->v[k], ok)), ok);
        put(o, "rows", rows, ok);
        append(a, o, ok);
    }
    return a;
}

static json_t *shared_arrays(const struct wg_launch_result *l, bool *ok)
{
    json_t *a = json_array();
    for (size_t i = 0; i < l->narrays; i++) {
        json_t *o = json_object();
        put_text(o, "name", l->arrays[i].name, ok);
        put_number(o, "offset", l->arrays[i].offset, ok);
        put_number(o, "bytes", l->arrays[i].bytes, ok);
        if (l->arrays[i].dynamic)
            put(o, "dynamic", json_true(), ok);
        append(a, o, ok);
    }
    return a;
}

static json_t *stored_rows(const struct wg_launch_result *l, bool *ok)
{
    json_t *a = NULL;
    for (size_t i = 0; i < l->nsites; i++)
        if (l->sites[i].stored) {
            a = a ? a : json_array();
            json_t *row = json_array();
            append(row, json_integer((json_int_t)i), ok);
            append(row, number(l->sites[i].stored), ok);
            append(a, row, ok);
        }
    return a;
}

static json_t *launch(const struct wg_launch_result *l, bool *ok)
{
    json_t *o = json_object(), *total = json_object();
    put(o, "index", number(l->index), ok);
    put_text(o, "kernel", l->kernel, ok);
    put_text(o, "mangled", l->mangled, ok);
    put_text(o, "module", l->module, ok);
    put_text(o, "compiler", l->compiler, ok);
    put_text(o, "device", l->device, ok);
    put(o, "grid", triple(l->grid), ok);
    put(o, "block", triple(l->block), ok);
    put(o, "cluster", triple(l->cluster), ok);
    put_number(o, "static_shared", l->static_shared, ok);
    put_number(o, "dynamic_shared", l->dynamic_shared, ok);
    put_number(o, "local_bytes", l->local_bytes, ok);
    if (l->narrays)
        put(o, "shared_arrays", shared_arrays(l, ok), ok);
    put_number(o, "registers", l->registers, ok);
    put(o, "registers_exact", json_boolean(l->registers_exact), ok);
    put_number(o, "registers_low", l->registers_low, ok);
    put_number(o, "registers_high", l->registers_high, ok);
    put_number(o, "spill_stores", l->spill_stores, ok);
    put_number(o, "spill_loads", l->spill_loads, ok);
    put_text(o, "ptxas", l->ptxas, ok);
    put_number(o, "blocks_done", l->blocks_done, ok);
    put(o, "status", json_string(wg_profile_status_ids[(unsigned)l->status < WG_STATUS_COUNT ? l->status : WG_CORRUPT]), ok);
    put_text(o, "status_text", l->status_text, ok);
    put(o, "host_seconds", json_real(isfinite(l->host_seconds) ? l->host_seconds : 0), ok);
    put(o, "one_worker", json_boolean(l->one_worker), ok);
    if (l->machine && l->machine <= WG_MACHINE_PTXAS)
        put_text(o, "machine", wg_profile_machines[l->machine], ok);
    put_number(o, "merged_sites", l->merged_sites, ok);
    if (l->uncounted) {
        json_t *names = json_array();
        for (unsigned c = 0; c < WG_C_COUNT; c++)
            if (l->uncounted >> c & 1)
                append(names, json_string(wg_counter_name(c)), ok);
        put(o, "uncounted", names, ok);
    }
    for (unsigned c = 0; c < WG_C_COUNT; c++)
        put_number(total, wg_counter_name(c), l->total[c], ok);
    put(o, "total", total, ok);
    if (l->has_model) {
        json_t *model = json_object();
        for (unsigned m = 0; m < WG_MODELLED_COUNT; m++)
            put(model, wg_modelled_name(m), json_real(isfinite(l->modelled[m]) ? l->modelled[m] : 0), ok);
        put(o, "model", model, ok);
    }
    put(o, "findings", findings(l->findings, l->nfindings, ok), ok);
    return o;
}

/* Sites are split into what the kernel is ("code", one table per kernel) and what a launch counted ("counts"). */
static void launches(json_t *root, const struct wg_profile *p, bool *ok)
{
    json_t *codes = json_array(), *list = json_array();
    size_t *first = wg_calloc(p->nlaunches + 1, sizeof *first), *last = wg_calloc(p->nlaunches + 1, sizeof *last), ncodes = 0;
    if (!first || !last)
        *ok = false;
    for (size_t i = 0; *ok && i < p->nlaunches; i++) {
        const struct wg_launch_result *l = &p->launches[i];
        json_t *o = launch(l, ok);
        if (l->nsites) {
            size_t k = 0;
            while (k < ncodes && !same_code(&p->launches[first[k]], l))
                k++;
            bool old = k < ncodes;
            if (!old) {
                first[ncodes++] = i;
                append(codes, code_table(l, ok), ok);
            }
            put(o, "code", json_integer((json_int_t)k), ok);
            if (old && p->launches[last[k]].sites == l->sites) {
                put(o, "counts_of", json_integer((json_int_t)last[k]), ok);
            } else {
                json_t *worst = worst_list(l, ok);
                put(o, "counts", count_rows(l, ok), ok);
                if (json_array_size(worst))
                    put(o, "worst", worst, ok);
                else
                    json_decref(worst);
                json_t *patterns = pattern_list(l, ok);
                if (json_array_size(patterns))
                    put(o, "patterns", patterns, ok);
                else
                    json_decref(patterns);
            }
            json_t *stored = json_object_get(o, "counts") ? stored_rows(l, ok) : NULL;
            if (stored)
                put(o, "stored", stored, ok);
            last[k] = i;
        }
        append(list, o, ok);
    }
    free(first);
    free(last);
    put(root, "code", codes, ok);
    put(root, "launches", list, ok);
}

static json_t *to_json(const struct wg_profile *p)
{
    bool ok = true;
    json_t *root = json_object(), *names = json_array(), *sources = json_array();
    put(root, "format", json_string(WG_PROFILE_FORMAT), &ok);
    put(root, "version", json_integer(WG_PROFILE_VERSION), &ok);
    put_text(root, "tool_version", p->tool_version, &ok);
    put_text(root, "program", p->program, &ok);
    put_text(root, "device_file", p->device_file, &ok);
    for (unsigned c = 0; c < WG_C_COUNT; c++)
        append(names, json_string(wg_counter_name(c)), &ok);
    put(root, "counters", names, &ok);
    for (size_t i = 0; i < p->nsources; i++) {
        json_t *o = json_object();
        put_text(o, "path", p->sources[i].path, &ok);
        if (p->sources[i].text)
            put(o, "text", json_string(p->sources[i].text), &ok);
        append(sources, o, &ok);
    }
    put(root, "sources", sources, &ok);
    launches(root, p, &ok);
    put(root, "host_findings", findings(p->host_findings, p->nhost_findings, &ok), &ok);
    if (!ok) {
        json_decref(root);
        return NULL;
    }
    return root;
}

static enum wg_status fail(enum wg_status s, char *err, size_t n, const char *path, const char *what)
{
    if (err && n)
        snprintf(err, n, "cannot write %s: %s", path, what);
    return s;
}

/* jansson hands its text over word by word: so many of them to a write. */
struct out {
    int fd;
    size_t n;
    char text[1 << 16];
};

static int flush(struct out *o)
{
    for (size_t at = 0; at < o->n;) {
        ssize_t k = write(o->fd, o->text + at, o->n - at);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return -1;
        at += (size_t)k;
    }
    o->n = 0;
    return 0;
}

static int add(const char *text, size_t n, void *ctx)
{
    struct out *o = ctx;
    while (n) {
        size_t k = sizeof o->text - o->n < n ? sizeof o->text - o->n : n;
        memcpy(o->text + o->n, text, k);
        o->n += k;
        text += k;
        n -= k;
        if (o->n == sizeof o->text && flush(o))
            return -1;
    }
    return 0;
}

static int dump(const json_t *root, int fd)
{
    struct out o = {.fd = fd};
    return json_dump_callback(root, add, &o, JSON_COMPACT) || add("\n", 1, &o) || flush(&o) ? -1 : 0;
}

enum wg_status wg_profile_write(const struct wg_profile *p, const char *path, char *err, size_t n)
{
    json_t *root = to_json(p);
    if (!root)
        return fail(WG_NO_MEMORY, err, n, path, "out of memory, or text that is not UTF-8");
    struct stat st;
    bool there = stat(path, &st) == 0;
    if (there && S_ISDIR(st.st_mode)) {
        json_decref(root);
        return fail(WG_IO, err, n, path, strerror(EISDIR));
    }
    bool direct = there && !S_ISREG(st.st_mode); /* a pipe or a device: nothing to rename */
    char *real = there && !direct ? realpath(path, NULL) : NULL;
    const char *target = real ? real : path;
    char *tmp = NULL;
    int fd = -1, e = ENOMEM;
    if (direct) {
        fd = open(path, O_WRONLY | O_CLOEXEC);
        e = errno;
    } else if (asprintf(&tmp, "%s.%ld.tmp", target, (long)getpid()) >= 0) {
        unlink(tmp); /* left over by a killed process of our number */
        fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        e = errno;
    } else {
        tmp = NULL;
    }
    bool ok = fd >= 0;
    if (ok) {
        errno = EIO;
        ok = !dump(root, fd) && (direct || !fsync(fd));
        e = errno;
        if (close(fd) && ok) {
            ok = false;
            e = errno;
        }
        if (!direct && ok && rename(tmp, target)) {
            ok = false;
            e = errno;
        }
        if (!direct && !ok)
            unlink(tmp);
    }
    json_decref(root);
    free(tmp);
    free(real);
    return ok ? WG_OK : fail(WG_IO, err, n, path, strerror(e));
}
