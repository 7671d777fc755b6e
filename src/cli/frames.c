/* frames.c - names the host's call sites in findings with the help of addr2line. */
#include "cli/frames.h"
#include "cli/proc.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char mark[] = "Host Frame: [";
enum { BATCH = 200, ANSWER = 1024 }; /* addresses asked for at once; bytes that one answer may take */

/* One address: where it is and, when known, what it is called there: functions inlined into one another, innermost first. */
enum { INLINED = 8 };
struct place { char *function, *file; uint32_t line; };
struct site {
    char *object, *offset;
    struct place p[INLINED];
    size_t n;
    bool asked;
};
struct sites { struct site *v; size_t n; };

static char *keep(struct wg_frames *f, char *s)
{
    char **v = s ? realloc(f->strings, (f->nstrings + 1) * sizeof *v) : NULL;
    if (!v) {
        free(s);
        return NULL;
    }
    f->strings = v;
    return v[f->nstrings++] = s;
}

/* Reads "FILE+0xOFFSET]" at s, which ends its line. */
static bool split(const char *s, size_t *object, size_t *offset)
{
    size_t n = strcspn(s, "\n");
    if (!n || s[n - 1] != ']')
        return false;
    for (size_t k = --n; k > 3; k--)
        if (memcmp(s + k - 3, "+0x", 3) == 0) {
            *object = k - 3;
            *offset = n - *object - 1;
            return true;
        }
    return false;
}

static struct site *find(struct sites *t, const char *s)
{
    size_t object, offset;
    if (!split(s, &object, &offset))
        return NULL;
    for (size_t k = 0; k < t->n; k++)
        if (strlen(t->v[k].object) == object && !memcmp(t->v[k].object, s, object) &&
            strlen(t->v[k].offset) == offset && !memcmp(t->v[k].offset, s + object + 1, offset))
            return &t->v[k];
    return NULL;
}

static void gather(struct wg_frames *f, struct sites *t, const char *message)
{
    size_t object, offset;
    for (const char *s = message; (s = strstr(s, mark)); s += sizeof mark - 1) {
        const char *at = s + sizeof mark - 1;
        if (find(t, at) || !split(at, &object, &offset))
            continue;
        struct site x = {keep(f, strndup(at, object)), keep(f, strndup(at + object + 1, offset)), {{NULL}}, 0, false};
        struct site *v = x.object && x.offset ? realloc(t->v, (t->n + 1) * sizeof *v) : NULL;
        if (!v)
            return;
        t->v = v;
        v[t->n++] = x;
    }
}

/* Functions that stand between the program's line and us: of CUDA headers, and what compilers make of <<<>>>. */
static bool between(const char *function, const char *file)
{
    return strstr(function, "__device_stub__") || strstr(file, "/include/cuda/") || strstr(file, "/warpgrind/cuda/") ||
           strstr(file, "/cuda_runtime.h") || strstr(file, ".cudafe1.");
}

/* For each address a line 0xADDRESS, then pairs of lines: the function, and FILE:LINE with remarks behind. */
static void take_answers(struct wg_frames *f, struct site **of, size_t n, char *text)
{
    char *save = NULL, *s = strtok_r(text, "\n", &save);
    for (size_t k = 0; s && k < n; k++) {
        s = strtok_r(NULL, "\n", &save);
        while (s && strncmp(s, "0x", 2)) {
            char *function = s, *file = strtok_r(NULL, "\n", &save), *remark = file ? strstr(file, " (") : NULL;
            if (!file)
                return;
            if (remark)
                *remark = 0;
            char *colon = strrchr(file, ':');
            long line = colon ? strtol(colon + 1, NULL, 10) : 0;
            if (colon)
                *colon = 0;
            struct site *x = of[k];
            if (x->n < INLINED && line > 0 && strcmp(file, "??") && !between(function, file)) {
                struct place p = {keep(f, strdup(function)), keep(f, strdup(file)), (uint32_t)line};
                if (p.function && p.file)
                    x->p[x->n++] = p;
            }
            s = strtok_r(NULL, "\n", &save);
        }
    }
}

static void ask(struct wg_frames *f, struct sites *t, size_t from)
{
    struct wg_args a = {0};
    struct site *of[BATCH];
    size_t n = 0;
    char *text = malloc(BATCH * ANSWER);
    wg_args_add(&a, "addr2line");
    wg_args_add(&a, "-afiCe");
    wg_args_add(&a, t->v[from].object);
    for (size_t k = from; k < t->n && n < BATCH; k++)
        if (!t->v[k].asked && !strcmp(t->v[k].object, t->v[from].object)) {
            t->v[k].asked = true;
            wg_args_add(&a, t->v[k].offset);
            of[n++] = &t->v[k];
        }
    if (text && !a.failed && wg_proc_read(a.v, text, BATCH * ANSWER))
        take_answers(f, of, n, text);
    free(text);
    wg_args_free(&a);
}

static const char *rewritten(struct wg_frames *f, struct sites *t, const char *message)
{
    char *out = NULL;
    size_t n;
    FILE *m = strstr(message, mark) ? open_memstream(&out, &n) : NULL;
    if (!m)
        return message;
    const char *s = message;
    for (const char *at; (at = strstr(s, mark)); s = at) {
        const struct site *x = find(t, at + sizeof mark - 1);
        const char *line = at + strcspn(at, "\n");
        fwrite(s, 1, (size_t)(at - s), m);
        for (size_t k = 0; x && k < x->n; k++) {
            const char *base = strrchr(x->p[k].file, '/');
            fprintf(m, "%sHost Frame: %s in %s:%u", k ? "\n" : "", x->p[k].function, base ? base + 1 : x->p[k].file,
                    (unsigned)x->p[k].line);
        }
        if (!x || !x->n)
            fwrite(at, 1, (size_t)(line - at), m);
        at = line;
    }
    fputs(s, m);
    bool bad = ferror(m) != 0;
    const char *kept = fclose(m) == 0 && !bad ? keep(f, out) : NULL;
    return kept ? kept : message;
}

static uint32_t source(struct wg_frames *f, struct wg_profile *p, char *file)
{
    for (size_t k = 0; k < p->nsources; k++)
        if (!strcmp(p->sources[k].path, file))
            return (uint32_t)k;
    struct wg_source *v = malloc((p->nsources + 1) * sizeof *v);
    if (!v)
        return UINT32_MAX;
    memcpy(v, p->sources, p->nsources * sizeof *v);
    v[p->nsources] = (struct wg_source){.path = file};
    free(f->sources);
    f->sources = p->sources = v;
    return (uint32_t)p->nsources++;
}

void wg_frames_name(struct wg_frames *f, struct wg_profile *p)
{
    struct sites t = {0};
    for (size_t l = 0; l <= p->nlaunches; l++) {
        const struct wg_finding *v = l < p->nlaunches ? p->launches[l].findings : p->host_findings;
        for (size_t k = 0; k < (l < p->nlaunches ? p->launches[l].nfindings : p->nhost_findings); k++)
            gather(f, &t, v[k].message);
    }
    for (size_t k = 0; k < t.n; k++)
        if (!t.v[k].asked)
            ask(f, &t, k);
    for (size_t l = 0; l <= p->nlaunches; l++) {
        struct wg_finding *v = l < p->nlaunches ? p->launches[l].findings : p->host_findings;
        for (size_t k = 0; k < (l < p->nlaunches ? p->launches[l].nfindings : p->nhost_findings); k++) {
            const char *s = l == p->nlaunches ? strstr(v[k].message, mark) : NULL;
            for (; s && !v[k].line; s = strstr(s + 1, mark)) {
                const struct site *x = find(&t, s + sizeof mark - 1);
                if (x && x->n && (v[k].source = source(f, p, x->p[0].file)) != UINT32_MAX)
                    v[k].line = x->p[0].line;
            }
            v[k].message = rewritten(f, &t, v[k].message);
        }
    }
    free(t.v);
}

void wg_frames_free(struct wg_frames *f)
{
    for (size_t k = 0; k < f->nstrings; k++)
        free(f->strings[k]);
    free(f->strings);
    free(f->sources);
    *f = (struct wg_frames){0};
}
