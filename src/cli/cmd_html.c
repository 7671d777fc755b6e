/* cmd_html.c - a saved profile as one page, its charts as SVG files, and the advice on it. */
#include "cli/cli.h"
#include "report/advice.h"
#include "report/html.h"
#include "report/svg.h"
#include "report/timing.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A profile that was read, the launches asked for, and their view. */
struct shown {
    struct wg_profile *p;
    struct wg_launch_result *chosen;
    struct wg_profile q;
    struct wg_view v;
};

static int open_shown(const struct wg_cli *o, const char *path, struct wg_arena *a, struct shown *s)
{
    char err[512];
    *s = (struct shown){0};
    if (!wg_cli_launches_check(o))
        return WG_EXIT_USAGE;
    if (wg_profile_read(path, &s->p, err, sizeof err) != WG_OK)
        return wg_cli_error(WG_EXIT_INPUT, "%s", err);
    s->chosen = calloc(s->p->nlaunches + 1, sizeof *s->chosen);
    if (!s->chosen)
        return wg_cli_error(WG_EXIT_OUTPUT, "out of memory");
    s->q = wg_cli_select(o, s->p, s->chosen);
    if (!s->q.nlaunches && s->p->nlaunches)
        return wg_cli_none_selected(o, s->p);
    return wg_view_open(&s->q, true, a, &s->v) == WG_OK ? WG_EXIT_OK : wg_cli_error(WG_EXIT_OUTPUT, "out of memory");
}

static void close_shown(struct shown *s)
{
    wg_profile_free(s->p);
    free(s->chosen);
}

/* "dir/x.wgprof" -> "dir/x.html" */
static char *beside(const char *path, const char *ending)
{
    size_t n = strlen(path);
    char *out = NULL;
    n -= n > 7 && !strcmp(path + n - 7, ".wgprof") ? 7 : 0;
    return asprintf(&out, "%.*s%s", (int)n, path, ending) < 0 ? NULL : out;
}

static int close_file(FILE *f, const char *path, enum wg_status s)
{
    int e = errno;
    if ((f == stdout ? fflush(f) : fclose(f)) && s == WG_OK) {
        e = errno;
        s = WG_IO;
    }
    return s == WG_OK          ? WG_EXIT_OK
           : s == WG_NO_MEMORY ? wg_cli_error(WG_EXIT_OUTPUT, "out of memory")
                               : wg_cli_error(WG_EXIT_OUTPUT, "cannot write %s: %s", path, strerror(e ? e : EIO));
}

int wg_cmd_html(const struct wg_cli *o)
{
    struct wg_arena a = {0};
    struct shown new, old = {0};
    struct wg_compare c;
    if (o->rest.n != 1)
        return wg_cli_error(WG_EXIT_USAGE, "html takes one file: warpgrind html FILE.wgprof -o FILE.html");
    int code = open_shown(o, o->rest.v[0], &a, &new);
    if (!code && o->baseline) {
        code = open_shown(o, o->baseline, &a, &old);
        if (!code && wg_compare(&old.v, &new.v, &a, &c) != WG_OK)
            code = wg_cli_error(WG_EXIT_OUTPUT, "out of memory");
    }
    char *path = o->output ? strdup(o->output) : beside(o->rest.v[0], ".html");
    FILE *f = code || !path ? NULL : !strcmp(path, "-") ? stdout : fopen(path, "we");
    if (!code && !f)
        code = wg_cli_error(WG_EXIT_OUTPUT, "cannot write %s: %s", path ? path : "", strerror(errno));
    if (!code)
        code = close_file(f, path, wg_html_page(&new.v, o->baseline ? &c : NULL, f));
    free(path);
    wg_arena_free(&a);
    close_shown(&new);
    close_shown(&old);
    return code;
}

int wg_cmd_advise(const struct wg_cli *o)
{
    struct wg_arena a = {0};
    struct shown s;
    if (o->rest.n != 1)
        return wg_cli_error(WG_EXIT_USAGE, "advise takes one file: warpgrind advise FILE.wgprof");
    int code = open_shown(o, o->rest.v[0], &a, &s);
    if (!code)
        code = close_file(stdout, "the advice", wg_advise(&s.v, stdout));
    wg_arena_free(&a);
    close_shown(&s);
    return code;
}

/* ---- charts as files ------------------------------------------------------------------------------------------ */
struct plots {
    const char *dir;
    int code;
    size_t n;
};

static FILE *start(struct plots *p, char **path, const char *name)
{
    *path = NULL;
    if (p->code || asprintf(path, "%s/%s.svg", p->dir, name) < 0)
        return NULL;
    FILE *f = fopen(*path, "we");
    if (!f) {
        p->code = wg_cli_error(WG_EXIT_OUTPUT, "cannot write %s: %s", *path, strerror(errno));
        free(*path);
    }
    return f;
}

/* drawn false: there was nothing to draw; the file goes. */
static void finish(struct plots *p, FILE *f, char *path, bool drawn)
{
    fputc('\n', f);
    p->code = close_file(f, path, ferror(f) ? WG_IO : WG_OK);
    if (!drawn)
        remove(path);
    else if (!p->code && printf("%s\n", path) >= 0)
        p->n++;
    free(path);
}

static void plot_kernel(struct plots *p, const struct wg_view *v, size_t k)
{
    const struct wg_group *g = &v->groups[k];
    char name[64], *path;
    FILE *f;
    for (int i = 0; i < WG_SVG_AXIS_COUNT; i++) {
        snprintf(name, sizeof name, "kernel%zu-occupancy-%s", k, wg_svg_axis_names[i]);
        if ((f = start(p, &path, name)))
            finish(p, f, path, wg_svg_occupancy(f, g, (enum wg_svg_axis)i, true));
    }
    snprintf(name, sizeof name, "kernel%zu-time", k);
    if (wg_timing_known(g->first) && (f = start(p, &path, name)))
        finish(p, f, path, wg_svg_timing(f, g->first, true));
    for (size_t s = 0; s < g->first->nsites; s++) {
        if (!g->sites[s].worst)
            continue;
        snprintf(name, sizeof name, "kernel%zu-ptx%u-lanes", k, g->sites[s].ptx_line);
        if ((f = start(p, &path, name))) {
            wg_svg_lanes(f, g->sites[s].worst, true);
            finish(p, f, path, true);
        }
    }
}

int wg_cmd_plot(const struct wg_cli *o)
{
    struct wg_arena a = {0};
    struct shown s;
    char *path;
    if (o->rest.n != 1)
        return wg_cli_error(WG_EXIT_USAGE, "plot takes one file: warpgrind plot FILE.wgprof -o FOLDER");
    int code = open_shown(o, o->rest.v[0], &a, &s);
    struct plots p = {.dir = o->output ? o->output : ".", .code = code};
    if (!code && mkdir(p.dir, 0777) && errno != EEXIST)
        p.code = wg_cli_error(WG_EXIT_OUTPUT, "cannot make %s: %s", p.dir, strerror(errno));
    FILE *f = start(&p, &path, "roofline");
    if (f)
        finish(&p, f, path, wg_svg_roofline(f, &s.v, true));
    for (size_t k = 0; !p.code && k < s.v.n; k++)
        plot_kernel(&p, &s.v, k);
    if (!p.code && !p.n)
        wg_cli_error(0,
                     "nothing to draw: no registers are known, no access wastes anything, no arithmetic was counted");
    wg_arena_free(&a);
    close_shown(&s);
    return p.code;
}
