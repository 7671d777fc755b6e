/* gpus.c - the tables of compute capabilities and devices, look-up by name, and the reader of device files. */
#include "model/gpus.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
#define WG_CC(major, minor, arch, chips, source, carve, ...) CC_##major##_##minor,
#include "model/cc.def"
#undef WG_CC
    CC_COUNT
};
#define WG_CC(maj, min, arch_, chips_, source_, carve, ...)                                                            \
    [CC_##maj##_##                                                                                                     \
        min] = {.major = maj, .minor = min, .arch = arch_, .chips = chips_, .source = source_, carve, __VA_ARGS__},
#define WG_CARVEOUTS(...) \
    .carveout_kb = {__VA_ARGS__}, .ncarveouts = sizeof((const unsigned[]){0, ##__VA_ARGS__}) / sizeof(unsigned) - 1
static const struct wg_cc ccs[CC_COUNT] = {
#include "model/cc.def"
};
#undef WG_CC

static const struct wg_gpu gpus[] = {
#define WG_GPU(name_, aliases_, chip_, maj, min, memory_, source_, ...)                                                \
    {.name = name_,                                                                                                    \
     .aliases = aliases_,                                                                                              \
     .chip = chip_,                                                                                                    \
     .memory = memory_,                                                                                                \
     .source = source_,                                                                                                \
     .cc = &ccs[CC_##maj##_##min],                                                                                     \
     __VA_ARGS__},
#include "model/gpus.def"
#undef WG_GPU
};

const struct wg_gpu_field wg_cc_field_infos[] = {
#define WG_CC_FIELD(member, unit, text) {#member, unit, text, offsetof(struct wg_cc, member)},
#include "model/cc_fields.def"
#undef WG_CC_FIELD
    {0}};
const struct wg_gpu_field wg_gpu_field_infos[] = {
#define WG_GPU_FIELD(member, unit, text) {#member, unit, text, offsetof(struct wg_gpu, member)},
#include "model/gpu_fields.def"
#undef WG_GPU_FIELD
    {0}};

size_t wg_cc_count(void) { return CC_COUNT; }
const struct wg_cc *wg_cc_at(size_t i) { return i < CC_COUNT ? &ccs[i] : NULL; }
size_t wg_gpu_count(void) { return sizeof gpus / sizeof *gpus; }
const struct wg_gpu *wg_gpu_at(size_t i) { return i < wg_gpu_count() ? &gpus[i] : NULL; }
double wg_gpu_fp32_flops(const struct wg_gpu *g) { return 2.0 * g->cc->fp32_lanes * g->sms * g->clock_mhz * 1e6; }
double wg_gpu_fp64_flops(const struct wg_gpu *g) { return 2.0 * g->cc->fp64_lanes * g->sms * g->clock_mhz * 1e6; }

const struct wg_cc *wg_cc_find(unsigned major, unsigned minor)
{
    for (size_t i = 0; i < CC_COUNT; i++)
        if (ccs[i].major == major && ccs[i].minor == minor)
            return &ccs[i];
    return NULL;
}

const struct wg_cc *wg_cc_parse(const char *text, struct wg_diag *d)
{
    const char *p = text;
    if (strncasecmp(p, "sm_", 3) == 0)
        p += 3;
    else if (strncasecmp(p, "compute_", 8) == 0)
        p += 8;
    char *end;
    if (isdigit((unsigned char)*p)) {
        unsigned long v = strtoul(p, &end, 10), minor;
        if (*end == '.' && isdigit((unsigned char)end[1])) {
            minor = strtoul(end + 1, &end, 10);
        } else {
            minor = v % 10;
            v /= 10;
        }
        if ((*end == 'a' || *end == 'f') && !end[1])
            end++;
        const struct wg_cc *cc = *end ? NULL : wg_cc_find((unsigned)v, (unsigned)minor);
        if (cc)
            return cc;
    }
    if (d) {
        char known[256] = "";
        for (size_t i = 0, n = 0; i < CC_COUNT && n < sizeof known; i++)
            n += (size_t)snprintf(known + n, sizeof known - n, "%s%u.%u", i ? ", " : "", ccs[i].major, ccs[i].minor);
        wg_diag_set(d, WG_NOT_FOUND, "unknown compute capability '%s'; known are %s", text, known);
    }
    return NULL;
}

/* Letters and digits only, lower case. */
static void plain(const char *s, size_t n, char out[64])
{
    size_t k = 0;
    for (size_t i = 0; i < n && k < 63; i++)
        if (isalnum((unsigned char)s[i]))
            out[k++] = (char)tolower((unsigned char)s[i]);
    out[k] = 0;
}

const struct wg_gpu *wg_gpu_find(const char *name)
{
    char want[64], have[64];
    plain(name, strlen(name), want);
    for (size_t i = 0; i < wg_gpu_count(); i++) {
        plain(gpus[i].name, strlen(gpus[i].name), have);
        if (strcmp(want, have) == 0)
            return &gpus[i];
        for (const char *a = gpus[i].aliases; *a;) {
            size_t n = strcspn(a, ",");
            plain(a, n, have);
            if (strcmp(want, have) == 0)
                return &gpus[i];
            a += n + (a[n] == ',');
        }
    }
    return NULL;
}

/* Changes of one letter, and swaps of neighbours, that turn a into b. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[3][65];
    size_t n = strlen(b);
    if (n > 64 || strlen(a) > 64)
        return 99;
    unsigned *older = row[0], *prev = row[1], *cur = row[2];
    for (size_t j = 0; j <= n; j++)
        prev[j] = (unsigned)j;
    for (size_t i = 1; a[i - 1]; i++) {
        cur[0] = (unsigned)i;
        for (size_t j = 1; j <= n; j++) {
            unsigned best = prev[j - 1] + (a[i - 1] != b[j - 1]);
            best = prev[j] + 1 < best ? prev[j] + 1 : best;
            best = cur[j - 1] + 1 < best ? cur[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && older[j - 2] + 1 < best)
                best = older[j - 2] + 1;
            cur[j] = best;
        }
        unsigned *t = older;
        older = prev, prev = cur, cur = t;
    }
    return prev[n];
}

void wg_gpu_nearest(const char *word, const char *const *candidates, size_t count, unsigned n, char *buf, size_t size)
{
    char want[64], have[64];
    unsigned pick[8], npick = 0;
    unsigned score[8];
    plain(word, strlen(word), want);
    for (size_t i = 0; i < count; i++) {
        plain(candidates[i], strlen(candidates[i]), have);
        unsigned s = strstr(have, want) && *want ? 1 : distance(want, have);
        if (s > 2 && s * 2 > strlen(want))
            continue;
        unsigned at = npick < n && npick < 8 ? npick++ : npick;
        while (at > 0 && score[at - 1] > s) { /* keep the list sorted by score, first come first */
            if (at < npick) {
                score[at] = score[at - 1];
                pick[at] = pick[at - 1];
            }
            at--;
        }
        if (at < npick) {
            score[at] = s;
            pick[at] = (unsigned)i;
        }
    }
    size_t used = 0;
    buf[0] = 0;
    for (unsigned i = 0; i < npick && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%s", i == 0 ? "" : i + 1 == npick ? " or " : ", ",
                                 candidates[pick[i]]);
}

const struct wg_gpu *wg_gpu_find_or_say(const char *name, struct wg_diag *d)
{
    const struct wg_gpu *g = wg_gpu_find(name);
    if (g)
        return g;
    const char *names[sizeof gpus / sizeof *gpus];
    for (size_t i = 0; i < wg_gpu_count(); i++)
        names[i] = gpus[i].name;
    char near[256];
    wg_gpu_nearest(name, names, wg_gpu_count(), 3, near, sizeof near);
    wg_diag_set(d, WG_NOT_FOUND,
                "unknown device '%s'%s%s; `warpgrind devices` lists them, and a file can describe another", name,
                *near ? "; did you mean " : "", near);
    return NULL;
}

/* ---- device files --------------------------------------------------------------------------------------------------
 */
struct file {
    const char *path, *text;
    size_t len;
    struct wg_arena *arena;
    struct wg_gpu *gpu;
    struct wg_cc *cc;
    bool based;
    struct wg_diag *diag;
};

static enum wg_status wrong(struct file *f, const char *at, const char *what, const char *detail)
{
    return wg_diag_at(f->diag, WG_INVALID, f->path, f->text, f->len, at, what, detail);
}

static bool number(const char *s, double *v)
{
    char *end;
    errno = 0;
    *v = strtod(s, &end);
    while (isspace((unsigned char)*end))
        end++;
    return end != s && !*end && errno == 0 && *v >= 0 && *v < 1e18;
}

static enum wg_status set_carveouts(struct file *f, const char *at, char *value)
{
    f->cc->ncarveouts = 0;
    char *save;
    for (char *p = strtok_r(value, ", ", &save); p; p = strtok_r(NULL, ", ", &save)) {
        double v;
        if (!number(p, &v) || f->cc->ncarveouts == WG_CARVEOUT_MAX ||
            (f->cc->ncarveouts && v <= f->cc->carveout_kb[f->cc->ncarveouts - 1]))
            return wrong(f, at, "carveouts must be at most 12 rising sizes in KiB%s", "");
        f->cc->carveout_kb[f->cc->ncarveouts++] = (unsigned)v;
    }
    return WG_OK;
}

static enum wg_status set_text(struct file *f, const char *key, const char *value)
{
    char *copy = wg_arena_str(f->arena, value, strlen(value));
    if (!copy)
        return wg_diag_set(f->diag, WG_NO_MEMORY, "out of memory");
    if (strcmp(key, "name") == 0)
        f->gpu->name = copy;
    else if (strcmp(key, "chip") == 0)
        f->gpu->chip = copy;
    else if (strcmp(key, "memory") == 0)
        f->gpu->memory = copy;
    else
        f->gpu->source = copy;
    return WG_OK;
}

static enum wg_status set_base(struct file *f, const char *key, const char *value, const char *at)
{
    struct wg_diag d = {0};
    if (strcmp(key, "base") == 0) {
        const struct wg_gpu *g = wg_gpu_find_or_say(value, &d);
        if (!g)
            return wrong(f, at, "%s", d.text);
        *f->gpu = *g;
        *f->cc = *g->cc;
    } else {
        const struct wg_cc *cc = wg_cc_parse(value, &d);
        if (!cc)
            return wrong(f, at, "%s", d.text);
        *f->cc = *cc;
    }
    f->gpu->cc = f->cc;
    f->based = true;
    return WG_OK;
}

static enum wg_status set_number(struct file *f, const char *key, const char *value, const char *at_key,
                                 const char *at_value)
{
    double v;
    for (const struct wg_gpu_field *i = wg_gpu_field_infos; i->name; i++)
        if (strcmp(i->name, key) == 0) {
            if (!number(value, &v))
                return wrong(f, at_value, "'%s' is not a number from 0 up", value);
            *(double *)((char *)f->gpu + i->offset) = v;
            return WG_OK;
        }
    for (const struct wg_gpu_field *i = wg_cc_field_infos; i->name; i++)
        if (strcmp(i->name, key) == 0) {
            if (!number(value, &v) || v > 1u << 30)
                return wrong(f, at_value, "'%s' is not a number from 0 to 2^30", value);
            *(unsigned *)((char *)f->cc + i->offset) = (unsigned)v;
            return WG_OK;
        }
    const char *names[96];
    size_t n = 0;
    for (const struct wg_gpu_field *i = wg_gpu_field_infos; i->name; i++)
        names[n++] = i->name;
    for (const struct wg_gpu_field *i = wg_cc_field_infos; i->name; i++)
        names[n++] = i->name;
    char near[256], text[512];
    wg_gpu_nearest(key, names, n, 3, near, sizeof near);
    snprintf(text, sizeof text, "unknown key '%s'%s%s", key, *near ? "; did you mean " : "", near);
    return wrong(f, at_key, "%s", text);
}

static enum wg_status line(struct file *f, const char *start, size_t n)
{
    char buf[512];
    if (n >= sizeof buf)
        return wrong(f, start, "line longer than 511 bytes%s", "");
    memcpy(buf, start, n);
    buf[n] = 0;
    buf[strcspn(buf, "#")] = 0;
    char *key = buf + strspn(buf, " \t\r"), *eq = strchr(key, '=');
    if (!*key)
        return WG_OK;
    if (!eq)
        return wrong(f, start + (key - buf), "expected `key = value`%s", "");
    char *value = eq + 1 + strspn(eq + 1, " \t");
    for (char *e = eq; e > key && isspace((unsigned char)e[-1]); e--)
        e[-1] = 0;
    *eq = 0;
    for (char *e = value + strlen(value); e > value && isspace((unsigned char)e[-1]); e--)
        e[-1] = 0;
    const char *at_key = start + (key - buf), *at_value = start + (value - buf);
    if (strcmp(key, "name") == 0 || strcmp(key, "chip") == 0 || strcmp(key, "memory") == 0 ||
        strcmp(key, "source") == 0)
        return set_text(f, key, value);
    if (strcmp(key, "base") == 0 || strcmp(key, "cc") == 0)
        return set_base(f, key, value, at_value);
    if (!f->based)
        return wrong(f, at_key, "`base = DEVICE` or `cc = X.Y` must come first%s", "");
    if (strcmp(key, "carveouts") == 0)
        return set_carveouts(f, at_value, value);
    return set_number(f, key, value, at_key, at_value);
}

static enum wg_status check(struct file *f)
{
    const struct wg_cc *c = f->cc;
    if (!f->based)
        return wg_diag_set(f->diag, WG_INVALID, "%s: no `base = DEVICE` or `cc = X.Y`", f->path);
    if (!c->threads_per_block || !c->warps_per_sm || !c->blocks_per_sm || !c->regs_per_sm || !c->reg_unit ||
        !c->sub_partitions || !c->smem_unit || !c->regs_per_thread || f->gpu->sms < 1)
        return wg_diag_set(f->diag, WG_INVALID, "%s: sms, threads_per_block, warps_per_sm, blocks_per_sm, regs_per_sm, "
                           "regs_per_thread, reg_unit, sub_partitions and smem_unit must be above 0", f->path);
    return WG_OK;
}

enum wg_status wg_gpu_load(const char *path, struct wg_arena *a, const struct wg_gpu **out, struct wg_diag *d)
{
    *out = NULL;
    FILE *in = fopen(path, "r");
    if (!in)
        return wg_diag_set(d, WG_IO, "cannot read device file %s: %s", path, strerror(errno));
    enum { MOST = 1 << 16 };
    char *text = wg_arena_alloc(a, MOST);
    size_t n = text ? fread(text, 1, MOST, in) : 0;
    bool failed = ferror(in);
    fclose(in);
    if (failed)
        return wg_diag_set(d, WG_IO, "cannot read device file %s", path);
    if (n == MOST)
        return wg_diag_set(d, WG_INVALID, "%s is no device file: larger than 64 KiB", path);
    return text ? wg_gpu_read(path, text, n, a, out, d) : wg_diag_set(d, WG_NO_MEMORY, "out of memory");
}

enum wg_status wg_gpu_read(const char *path, const char *text, size_t n, struct wg_arena *a, const struct wg_gpu **out,
                           struct wg_diag *d)
{
    *out = NULL;
    struct file f = {.path = path, .text = text, .len = n, .arena = a, .diag = d};
    f.gpu = wg_arena_alloc(a, sizeof *f.gpu);
    f.cc = wg_arena_alloc(a, sizeof *f.cc);
    char *kept = wg_arena_str(a, text, n);
    if (!kept || !f.gpu || !f.cc)
        return wg_diag_set(d, WG_NO_MEMORY, "out of memory");
    const char *slash = strrchr(path, '/');
    char *name = wg_arena_str(a, slash ? slash + 1 : path, strlen(slash ? slash + 1 : path));
    for (const char *p = text, *end = text + n; p < end;) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        size_t len = nl ? (size_t)(nl - p) : (size_t)(end - p);
        enum wg_status s = line(&f, p, len);
        if (s)
            return s;
        p += len + 1;
    }
    if (!f.gpu->name || wg_gpu_find(f.gpu->name))
        f.gpu->name = name; /* never pass for a device we know */
    f.gpu->aliases = "";
    f.gpu->file = kept;
    if (!f.gpu->chip)
        f.gpu->chip = "";
    if (!f.gpu->memory)
        f.gpu->memory = "";
    if (!f.gpu->source)
        f.gpu->source = path;
    enum wg_status s = check(&f);
    if (s == WG_OK)
        *out = f.gpu;
    return s;
}

enum wg_status wg_gpu_open(const char *name, struct wg_arena *a, const struct wg_gpu **out, struct wg_diag *d)
{
    size_t n = strlen(name);
    if (strchr(name, '/') || (n > 4 && strcmp(name + n - 4, ".gpu") == 0))
        return wg_gpu_load(name, a, out, d);
    *out = wg_gpu_find_or_say(name, d);
    return *out ? WG_OK : d->status;
}

const struct wg_gpu *wg_gpu_of(const char *name, const char *device_file, struct wg_arena *a)
{
    const struct wg_gpu *g = wg_gpu_find(name);
    struct wg_diag d = {0};
    if (!g && !strncmp(name, "NVIDIA ", 7)) /* as a driver calls it */
        g = wg_gpu_find(name + 7);
    if (!g && device_file && *device_file && wg_gpu_read(name, device_file, strlen(device_file), a, &g, &d) != WG_OK)
        g = NULL;
    return g;
}
