/* ci_json.c - SARIF 2.1.0 and GitLab's code quality report. */
#include "report/ci.h"
#include "report/markup.h"
#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

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

static const char *path_of(const struct wg_ci *c, uint32_t source, uint32_t line)
{
    const struct wg_profile *p = c->view->p;
    return line && source < p->nsources ? wg_markup_path(p->sources[source].path, c->root) : NULL;
}

/* Message and remedy as plain text without control characters. */
static json_t *text(const struct wg_ci *c, const struct wg_issue *i, bool kernel)
{
    const char *s = wg_arena_printf(c->issues->arena, "%s%s%s%s%s", i->message, *i->remedy ? "\n" : "", i->remedy,
                                    kernel && *i->kernel ? "\nin " : "", kernel ? i->kernel : "");
    return s ? json_string(wg_markup_string(c->issues->arena, WG_MARKUP_PLAIN, s)) : NULL;
}

/* Equal for the same problem in the same place of the text, although line numbers move. */
static void fingerprint(const struct wg_ci *c, const struct wg_issue *i, char out[33])
{
    const char *path = path_of(c, i->source, i->line);
    size_t n = 0;
    const char *line = path ? wg_source_line(&c->view->p->sources[i->source], i->line, &n) : NULL;
    const char *parts[] = {i->rule, i->kind == WG_ISSUE_GATE ? i->title : "", i->kernel, path ? path : "",
                           line ? line : ""};
    uint64_t h[2] = {1469598103934665603u, 0x9e3779b97f4a7c15u};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        size_t len = k == 4 ? n : strlen(parts[k]);
        for (size_t b = 0; b <= len; b++) {
            unsigned char x = b < len ? (unsigned char)parts[k][b] : 0;
            if (k == 4 && isspace(x))
                continue;
            h[0] = (h[0] ^ x) * 1099511628211u;
            h[1] = (h[1] ^ x) * 0xff51afd7ed558ccdu + (h[1] >> 31);
        }
    }
    snprintf(out, 33, "%016" PRIx64 "%016" PRIx64, h[0], h[1]);
}

/* A path as a URI reference: relative, or file:// for an absolute one. */
static const char *uri(struct wg_arena *a, const char *path)
{
    static const char plain[] = "-._~/";
    char *s = wg_arena_alloc(a, 3 * strlen(path) + 8), *d = s;
    if (!s)
        return "";
    if (*path == '/')
        d += sprintf(d, "file://");
    for (const unsigned char *p = (const unsigned char *)path; *p; p++)
        if (isalnum(*p) || strchr(plain, *p))
            *d++ = (char)*p;
        else
            d += sprintf(d, "%%%02X", *p);
    *d = 0;
    return s;
}

static json_t *location(const struct wg_ci *c, uint32_t source, uint32_t line, const char *kernel, const char *says,
                        bool *ok)
{
    json_t *o = json_object();
    const char *path = path_of(c, source, line);
    if (path) {
        json_t *at = json_pack("{s:{s:s},s:{s:I}}", "artifactLocation", "uri", uri(c->issues->arena, path), "region",
                               "startLine", (json_int_t)line);
        if (at && *path != '/')
            put(json_object_get(at, "artifactLocation"), "uriBaseId", json_string("%SRCROOT%"), ok);
        put(o, "physicalLocation", at, ok);
    }
    if (*kernel)
        put(o, "logicalLocations",
            json_pack("[{s:s,s:s}]", "fullyQualifiedName", wg_markup_string(c->issues->arena, WG_MARKUP_PLAIN, kernel),
                      "kind", "function"),
            ok);
    if (says)
        put(o, "message", json_pack("{s:s}", "text", says), ok);
    return o;
}

static const char *level(uint8_t severity)
{
    return severity >= WG_SEVERITY_ERROR ? "error" : severity == WG_SEVERITY_WARNING ? "warning" : "note";
}

static json_t *result(const struct wg_ci *c, const struct wg_issue *i, size_t rule, bool *ok)
{
    char print[33];
    fingerprint(c, i, print);
    json_t *o = json_object(), *places = json_array();
    put(o, "ruleId", json_string(i->rule), ok);
    put(o, "ruleIndex", json_integer((json_int_t)rule), ok);
    put(o, "level", json_string(level(i->severity)), ok);
    put(o, "message", json_pack("{s:o}", "text", text(c, i, true)), ok);
    append(places, location(c, i->source, i->line, i->kernel, NULL, ok), ok);
    put(o, "locations", places, ok);
    if (path_of(c, i->other_source, i->other_line))
        put(o, "relatedLocations",
            json_pack("[o]", location(c, i->other_source, i->other_line, "", "the other access", ok)), ok);
    put(o, "partialFingerprints", json_pack("{s:s}", "warpgrindProblem/v1", print), ok);
    return o;
}

/* The index of the issue's rule among those listed so far; a new one is appended. */
static size_t rule_of(json_t *rules, const struct wg_issue *i, bool *ok)
{
    size_t k;
    json_t *r;
    json_array_foreach(rules, k, r) if (!strcmp(json_string_value(json_object_get(r, "id")), i->rule)) return k;
    const char *title = i->kind == WG_ISSUE_GATE ? "a condition of --fail-if is met" : i->title;
    r = json_pack("{s:s,s:{s:s}}", "id", i->rule, "shortDescription", "text", title);
    if (r && *i->remedy)
        put(r, "help", json_pack("{s:s}", "text", i->remedy), ok);
    append(rules, r, ok);
    return json_array_size(rules) - 1;
}

static enum wg_status dump(json_t *root, bool ok, struct wg_arena *a, FILE *out)
{
    int e = ok && !a->failed ? json_dumpf(root, out, JSON_INDENT(1)) : 0;
    if (ok)
        fputc('\n', out);
    json_decref(root);
    return !ok || a->failed ? WG_NO_MEMORY : e || ferror(out) ? WG_IO : WG_OK;
}

enum wg_status wg_ci_sarif(const struct wg_ci *c, FILE *out)
{
    bool ok = true;
    json_t *root = json_object(), *rules = json_array(), *results = json_array(), *run = json_object(),
           *driver = json_object();
    for (size_t i = 0; i < c->issues->n && ok; i++) {
        const struct wg_issue *x = &c->issues->v[i];
        size_t rule = rule_of(rules, x, &ok);
        append(results, result(c, x, rule, &ok), &ok);
    }
    put(driver, "name", json_string("warpgrind"), &ok);
    put(driver, "version", json_string(WARPGRIND_VERSION), &ok);
    put(driver, "rules", rules, &ok);
    put(run, "tool", json_pack("{s:o}", "driver", driver), &ok);
    put(run, "columnKind", json_string("utf16CodeUnits"), &ok);
    put(run, "results", results, &ok);
    put(root, "$schema", json_string("https://json.schemastore.org/sarif-2.1.0.json"), &ok);
    put(root, "version", json_string("2.1.0"), &ok);
    put(root, "runs", json_pack("[o]", run), &ok);
    return dump(root, ok, c->issues->arena, out);
}

enum wg_status wg_ci_gitlab(const struct wg_ci *c, FILE *out)
{
    static const char *const severities[] = {"info", "minor", "major"};
    bool ok = true;
    json_t *list = json_array();
    for (size_t i = 0; i < c->issues->n && ok; i++) {
        const struct wg_issue *x = &c->issues->v[i];
        const char *path = path_of(c, x->source, x->line);
        char print[33];
        fingerprint(c, x, print);
        json_t *o = json_object();
        put(o, "description", text(c, x, true), &ok);
        put(o, "check_name", json_string(x->rule), &ok);
        put(o, "fingerprint", json_string(print), &ok);
        put(o, "severity", json_string(severities[x->severity <= WG_SEVERITY_ERROR ? x->severity : WG_SEVERITY_ERROR]),
            &ok);
        /* GitLab wants a place for everything: what has none is put at the head of the first source */
        const char *any = path                   ? path
                          : c->view->p->nsources ? wg_markup_path(c->view->p->sources[0].path, c->root)
                                                 : "unknown";
        put(o, "location",
            json_pack("{s:s,s:{s:I}}", "path", wg_markup_string(c->issues->arena, WG_MARKUP_PLAIN, any), "lines",
                      "begin", (json_int_t)(path ? x->line : 1)),
            &ok);
        append(list, o, &ok);
    }
    return dump(list, ok, c->issues->arena, out);
}
