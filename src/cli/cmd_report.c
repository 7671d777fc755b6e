/* cmd_report.c - shows a profile, from a file or fresh from a run. */
#include "cli/cli.h"
#include "report/report.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool want_color(const struct wg_cli *o, int fd)
{
    if (o->color && strcmp(o->color, "auto"))
        return !strcmp(o->color, "always");
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fd) && !(no && *no) && term && strcmp(term, "dumb");
}

struct wg_profile wg_cli_select(const struct wg_cli *o, const struct wg_profile *p, struct wg_launch_result *v)
{
    struct wg_profile q = *p;
    size_t n = 0, skipped = 0;
    for (size_t i = 0; i < p->nlaunches; i++) {
        const struct wg_launch_result *l = &p->launches[i];
        if (o->kernel_name && !strstr(l->kernel, o->kernel_name) && !strstr(l->mangled, o->kernel_name))
            continue;
        if (skipped < o->launch_skip)
            skipped++;
        else if (!o->has_launch_count || n < o->launch_count)
            v[n++] = *l;
    }
    q.launches = v;
    q.nlaunches = n;
    return q;
}

int wg_cli_report(const struct wg_cli *o, const struct wg_profile *p, FILE *out)
{
    FILE *f = o->log_file ? fopen(o->log_file, "we") : out;
    if (!f)
        return wg_cli_error(WG_EXIT_OUTPUT, "cannot write %s: %s", o->log_file, strerror(errno));
    struct wg_launch_result *v = malloc((p->nlaunches + 1) * sizeof *v);
    if (!v) {
        if (f != out)
            fclose(f);
        return wg_cli_error(WG_EXIT_OUTPUT, "out of memory");
    }
    struct wg_profile q = wg_cli_select(o, p, v);
    struct wg_text_style style = {.color = want_color(o, fileno(f)), .verbose = o->verbose};
    struct winsize w;
    if (isatty(fileno(f)) && !ioctl(fileno(f), TIOCGWINSZ, &w))
        style.width = w.ws_col;
    int code = WG_EXIT_OK, e;
    enum wg_status written = WG_OK;
    errno = 0;
    if (!q.nlaunches && p->nlaunches)
        code = wg_cli_error(WG_EXIT_USAGE, "none of the %zu launches is selected", p->nlaunches);
    else if ((written = wg_report_text(&q, &style, f)) == WG_NO_MEMORY)
        code = wg_cli_error(WG_EXIT_OUTPUT, "out of memory");
    e = errno;
    free(v);
    bool bad = written == WG_IO;
    if (f == out ? fflush(f) : fclose(f)) {
        e = bad && e ? e : errno;
        bad = true;
    }
    if (bad && e == EPIPE)
        return WG_EXIT_OUTPUT; /* the reader has left, and knows */
    if (bad && code == WG_EXIT_OK)
        code = wg_cli_error(WG_EXIT_OUTPUT, "cannot write the report: %s", strerror(e ? e : EIO));
    return code;
}

int wg_cmd_report(const struct wg_cli *o)
{
    if (o->rest.n != 1)
        return wg_cli_error(WG_EXIT_USAGE, "report takes one file: warpgrind report FILE.wgprof");
    char err[512];
    struct wg_profile *p;
    if (wg_profile_read(o->rest.v[0], &p, err, sizeof err) != WG_OK)
        return wg_cli_error(WG_EXIT_INPUT, "%s", err);
    int code = wg_cli_report(o, p, stdout), gate = code ? code : wg_cli_gate(o, p, 0, true);
    wg_profile_free(p);
    return gate;
}
