/* options.c - the command-line parser, driven by options.def. */
#include "cli/letters.h"
#include "cli/options.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HAS_FLAG(field) 0
#define HAS_TEXT(field) 0
#define HAS_MANY(field) 0
#define HAS_NUMBER(field) offsetof(struct wg_cli, has_##field)
const struct wg_option wg_option_table[] = {
#define WG_TOPIC(title) {.topic = title},
#define WG_OPTION(field, kind, name, short_name, arg, commands, help)                                                  \
    {NULL, name, arg, help, short_name, commands, WG_OPTION_KIND_##kind, offsetof(struct wg_cli, field), HAS_##kind(field)},
#include "cli/options.def"
#undef WG_OPTION
#undef WG_TOPIC
};
const size_t wg_option_count = sizeof wg_option_table / sizeof *wg_option_table;

bool wg_cli_number(const char *s, uint64_t *out)
{
    char *end;
    if (!isdigit((unsigned char)*s))
        return false;
    errno = 0;
    int base = s[0] == '0' && (s[1] == 'x' || s[1] == 'X') ? 16 : 10;
    unsigned long long v = strtoull(s, &end, base);
    if (errno)
        return false;
    int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (shift)
        end++;
    if (*end || (shift && v >> (64 - shift)))
        return false;
    *out = v << shift;
    return true;
}

/* Edit distance with neighbouring swaps; words are short. */
static size_t distance(const char *a, const char *b)
{
    enum { MAX = 40 };
    size_t n = strlen(a), m = strlen(b), d[MAX + 1][MAX + 1];
    if (n > MAX || m > MAX)
        return MAX;
    for (size_t i = 0; i <= n; i++)
        d[i][0] = i;
    for (size_t j = 0; j <= m; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        for (size_t j = 1; j <= m; j++) {
            size_t v = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            v = v < d[i - 1][j] + 1 ? v : d[i - 1][j] + 1;
            v = v < d[i][j - 1] + 1 ? v : d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < v)
                v = d[i - 2][j - 2] + 1;
            d[i][j] = v;
        }
    }
    return d[n][m];
}

const char *wg_cli_nearest(const char *s, const char *const *words, size_t n)
{
    const char *best = NULL;
    size_t least = strlen(s) / 3 + 2;
    for (size_t i = 0; i < n; i++) {
        size_t k = strlen(s) >= 3 && !strncmp(words[i], s, strlen(s)) ? 0 : distance(s, words[i]);
        if (k < least) {
            least = k;
            best = words[i];
        }
    }
    return best;
}

static void unknown(const char *name, enum wg_cli_command command)
{
    const char *words[128];
    size_t n = 0;
    for (size_t i = 0; i < wg_option_count && n < 128; i++)
        if (wg_option_table[i].name && (wg_option_table[i].commands & command))
            words[n++] = wg_option_table[i].name;
    const char *near = wg_cli_nearest(name, words, n);
    if (near)
        wg_cli_error(1, "unknown option --%s; did you mean --%s?", name, near);
    else
        wg_cli_error(1, "unknown option --%s; `warpgrind --help` lists them", name);
}

static bool push(struct wg_many *m, const char *s)
{
    const char **v = realloc(m->v, (m->n + 1) * sizeof *v);
    if (!v)
        return false;
    m->v = v;
    v[m->n++] = s;
    return true;
}

static bool assign(struct wg_cli *o, const struct wg_option *p, const char *value)
{
    void *at = (char *)o + p->offset;
    switch (p->kind) {
    case WG_OPTION_KIND_FLAG:
        *(bool *)at = true;
        return true;
    case WG_OPTION_KIND_TEXT:
        *(const char **)at = value;
        return true;
    case WG_OPTION_KIND_MANY:
        return push(at, value);
    default:
        if (!wg_cli_number(value, at)) {
            wg_cli_error(1, "--%s needs a number, not \"%s\"", p->name, value);
            return false;
        }
        *(bool *)((char *)o + p->has_offset) = true;
        return true;
    }
}

/* Only now known together. */
static bool check(const struct wg_cli *o)
{
    if (o->color && strcmp(o->color, "auto") && strcmp(o->color, "always") && strcmp(o->color, "never")) {
        wg_cli_error(1, "--color is auto, always or never, not \"%s\"", o->color);
        return false;
    }
    if (o->has_jobs && (o->jobs < 1 || o->jobs > 4096)) {
        wg_cli_error(1, "--jobs is from 1 to 4096");
        return false;
    }
    if (o->quiet && o->log_file) {
        wg_cli_error(1, "--quiet asks for no report, --log-file for one");
        return false;
    }
    return wg_cli_gate_check(o);
}

static const struct wg_option *find(const char *name, size_t n, char short_name, unsigned commands)
{
    for (size_t i = 0; i < wg_option_count; i++) {
        const struct wg_option *p = &wg_option_table[i];
        if (p->name && (p->commands & commands) &&
            (short_name ? p->short_name == short_name : strlen(p->name) == n && !strncmp(p->name, name, n)))
            return p;
    }
    return NULL;
}

/* --name, --name=value, --name value. Advances *i past a value that is a word of its own. */
static bool long_option(struct wg_cli *o, enum wg_cli_command command, int argc, char **argv, int *i)
{
    const char *s = argv[*i] + 2, *eq = strchr(s, '=');
    size_t n = eq ? (size_t)(eq - s) : strlen(s);
    if (!strcmp(s, "help") || !strcmp(s, "version")) {
        o->help |= *s == 'h';
        o->version |= *s == 'v';
        return true;
    }
    const struct wg_option *p = find(s, n, 0, command);
    if (!p) {
        const struct wg_option *other = find(s, n, 0, ~0u);
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(n < 60 ? n : 60), s);
        if (other)
            wg_cli_error(1, "--%s has no meaning here; see `warpgrind help %s`", name, name);
        else
            unknown(name, command);
        return false;
    }
    if (!p->arg && eq) {
        wg_cli_error(1, "--%s takes no value", p->name);
        return false;
    }
    if (p->arg && !eq && ++*i >= argc) {
        wg_cli_error(1, "--%s needs %s", p->name, p->arg);
        return false;
    }
    return assign(o, p, eq ? eq + 1 : p->arg ? argv[*i] : NULL);
}

/* -v, -vq, -oFILE, -o FILE. */
static bool short_options(struct wg_cli *o, enum wg_cli_command command, int argc, char **argv, int *i)
{
    for (const char *s = argv[*i] + 1; *s; s++) {
        const struct wg_option *p = find(NULL, 0, *s, command);
        if (*s == 'h' && !p) {
            o->help = true;
            continue;
        }
        if (!p) {
            wg_cli_error(1, "unknown option -%c; `warpgrind --help` lists them", *s);
            return false;
        }
        if (!p->arg) {
            assign(o, p, NULL);
            continue;
        }
        if (!s[1] && ++*i >= argc) {
            wg_cli_error(1, "-%c needs %s", *s, p->arg);
            return false;
        }
        return assign(o, p, s[1] ? s + 1 : argv[*i]);
    }
    return true;
}

bool wg_cli_parse(struct wg_cli *o, enum wg_cli_command command, int argc, char **argv)
{
    bool options = true;
    for (int i = 0; i < argc; i++) {
        bool ok;
        if (options && !strcmp(argv[i], "--")) {
            options = false;
            continue;
        }
        if (options && !strncmp(argv[i], "--", 2)) {
            ok = long_option(o, command, argc, argv, &i);
        } else if (options && argv[i][0] == '-' && argv[i][1]) {
            ok = short_options(o, command, argc, argv, &i);
        } else {
            if (command & WG_CLI_P)
                options = false;
            ok = push(&o->rest, argv[i]);
        }
        if (!ok)
            return false;
    }
    return o->help || o->version || check(o);
}

void wg_cli_free(struct wg_cli *o)
{
    free(o->rest.v);
    for (size_t i = 0; i < wg_option_count; i++)
        if (wg_option_table[i].name && wg_option_table[i].kind == WG_OPTION_KIND_MANY)
            free(((struct wg_many *)((char *)o + wg_option_table[i].offset))->v);
}
