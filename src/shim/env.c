/* env.c - reads and writes WARPGRIND_OPTIONS. */
#include "shim/env.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_number(const char *v, size_t n, uint64_t *out)
{
    char buf[32];
    if (n == 0 || n >= sizeof buf || v[0] < '0' || v[0] > '9')
        return false;
    memcpy(buf, v, n);
    buf[n] = 0;
    char *end;
    errno = 0;
    *out = strtoull(buf, &end, 10);
    return *end == 0 && errno == 0;
}

static enum wg_status read_item(const char *item, size_t n, struct wg_env *e, char *err, size_t nerr)
{
    const char *eq = memchr(item, '=', n);
    size_t nk = eq ? (size_t)(eq - item) : n, nv = eq ? n - nk - 1 : 0;
    const char *v = eq ? eq + 1 : item + n;
    bool ok = false, known = false;
#define KEY(key) (nk == sizeof #key - 1 && memcmp(item, #key, nk) == 0)
#define WG_ENV_TEXT(key, meaning)                                                                                      \
    if (KEY(key)) {                                                                                                    \
        known = true;                                                                                                  \
        free(e->key);                                                                                                  \
        e->key = strndup(v, nv);                                                                                       \
        if (!e->key)                                                                                                   \
            return WG_NO_MEMORY;                                                                                       \
        ok = eq != NULL;                                                                                               \
    }
#define WG_ENV_NUMBER(key, meaning)                                                                                    \
    if (KEY(key)) {                                                                                                    \
        known = true;                                                                                                  \
        ok = read_number(v, nv, &e->key);                                                                              \
    }
#define WG_ENV_FLAG(key, meaning)                                                                                      \
    if (KEY(key)) {                                                                                                    \
        known = true;                                                                                                  \
        ok = nv == 1 && (*v == '0' || *v == '1');                                                                      \
        e->key = nv == 1 && *v == '1';                                                                                 \
    }
#include "shim/env.def"
#undef WG_ENV_TEXT
#undef WG_ENV_NUMBER
#undef WG_ENV_FLAG
#undef KEY
    if (ok)
        return WG_OK;
    snprintf(err, nerr, "%s: %s in \"%.*s\"", WG_ENV_NAME, known ? "unreadable value" : "unknown key",
             (int)(n > 200 ? 200 : n), item);
    return WG_INVALID;
}

enum wg_status wg_env_read(const char *text, struct wg_env *e, char *err, size_t n)
{
    *e = (struct wg_env){0};
    for (const char *p = text; p && *p;) {
        size_t len = strcspn(p, (char[]){WG_ENV_SEPARATOR, 0});
        enum wg_status s = len ? read_item(p, len, e, err, n) : WG_OK;
        if (s != WG_OK)
            return s;
        p += len;
        if (*p)
            p++;
    }
    return WG_OK;
}

void wg_env_free(struct wg_env *e)
{
#define WG_ENV_TEXT(key, meaning) free(e->key);
#define WG_ENV_NUMBER(key, meaning)
#define WG_ENV_FLAG(key, meaning)
#include "shim/env.def"
#undef WG_ENV_TEXT
#undef WG_ENV_NUMBER
#undef WG_ENV_FLAG
    *e = (struct wg_env){0};
}

char *wg_env_write(const struct wg_env *e)
{
    char *out = NULL;
    size_t n;
    FILE *f = open_memstream(&out, &n);
    if (!f)
        return NULL;
#define WG_ENV_TEXT(key, meaning)                                                                                      \
    if (e->key)                                                                                                        \
        fprintf(f, "%s=%s%c", #key, e->key, WG_ENV_SEPARATOR);
#define WG_ENV_NUMBER(key, meaning)                                                                                    \
    if (e->key)                                                                                                        \
        fprintf(f, "%s=%llu%c", #key, (unsigned long long)e->key, WG_ENV_SEPARATOR);
#define WG_ENV_FLAG(key, meaning)                                                                                      \
    if (e->key)                                                                                                        \
        fprintf(f, "%s=1%c", #key, WG_ENV_SEPARATOR);
#include "shim/env.def"
#undef WG_ENV_TEXT
#undef WG_ENV_NUMBER
#undef WG_ENV_FLAG
    bool bad = ferror(f);
    if (fclose(f) != 0 || bad) {
        free(out);
        return NULL;
    }
    return out;
}

enum wg_status wg_env_options(const struct wg_env *e, struct wg_options *o, char *err, size_t n)
{
    *o = (struct wg_options){.size = sizeof *o, .device = e->device, .jobs = (unsigned)e->jobs,
                             .no_counters = e->no_counters, .as_written = e->as_written, .ptxas = e->ptxas,
                             .models = e->models, .keep_caches = e->keep_caches,
                             .sample_level = (unsigned)e->sample_level, .any_block_order = e->any_block_order,
                             .seed = e->seed, .stored = e->stored, .memory = e->memory};
    static const char *const schedules[] = {"round-robin", "random", "adversarial"};
    static const char *const tools[] = {"memcheck", "racecheck", "initcheck", "synccheck"};
    bool found = !e->schedule;
    for (unsigned i = 0; i < 3 && e->schedule; i++)
        if (strcmp(e->schedule, schedules[i]) == 0) {
            o->schedule = (enum wg_schedule)i;
            found = true;
        }
    if (!found) {
        snprintf(err, n, "%s: schedule \"%.100s\" is none of round-robin, random, adversarial", WG_ENV_NAME,
                 e->schedule);
        return WG_INVALID;
    }
    for (const char *p = e->tools; p && *p;) {
        size_t len = strcspn(p, ",");
        unsigned bit = 0;
        for (unsigned i = 0; i < 4; i++)
            if (strlen(tools[i]) == len && memcmp(tools[i], p, len) == 0)
                bit = 1u << i;
        if (!bit) {
            snprintf(err, n, "%s: no check is named \"%.*s\"", WG_ENV_NAME, (int)(len > 100 ? 100 : len), p);
            return WG_INVALID;
        }
        o->tools |= bit;
        p += len + (p[len] == ',');
    }
    return WG_OK;
}
