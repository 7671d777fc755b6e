/* cmd_report.c - shows a profile, from a file or fresh from a run. */
#include "cli/cli.h"
#include "report/ncu.h"
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

/* The page that was asked for, else the report. */
static enum wg_status render(const struct wg_cli *o, const struct wg_profile *p, const struct wg_ncu_style *page, FILE *f)
{
    if (wg_cli_wants_page(o))
        return wg_report_ncu(p, page, f);
    struct wg_text_style style = {.color = want_color(o, fileno(f)), .verbose = o->verbose};
    struct winsize w;
    if (isatty(fileno(f)) && !ioctl(fileno(f), TIOCGWINSZ, &w))
        style.width = w.ws_col;
    return wg_report_text(p, &style, f);
}

int wg_cli_report(const struct wg_cli *o, const struct wg_profile *p, FILE *out)
{
    struct wg_arena a = {0};
    struct wg_ncu_style page;
    if (!wg_cli_page(o, &a, &page)) {
        wg_arena_free(&a);
        return WG_EXIT_USAGE;
    }
    if (wg_cli_wants_page(o))
        out = stdout; /* where ncu's scripts look for it */
    FILE *f = o->log_file ? fopen(o->log_file, "we") : out;
    if (!f) {
        wg_arena_free(&a);
        return wg_cli_error(WG_EXIT_OUTPUT, "cannot write %s: %s", o->log_file, strerror(errno));
    }
    struct wg_launch_result *v = malloc((p->nlaunches + 1) * sizeof *v);
    if (!v) {
        if (f != out)
            fclose(f);
        wg_arena_free(&a);
        return wg_cli_error(WG_EXIT_OUTPUT, "out of memory");
    }
    struct wg_profile q = wg_cli_select(o, p, v);
    int code = WG_EXIT_OK, e;
    enum wg_status written = WG_OK;
    errno = 0;
    if (!q.nlaunches && p->nlaunches)
        code = wg_cli_none_selected(o, p);
    else if ((written = render(o, &q, &page, f)) == WG_NO_MEMORY)
        code = wg_cli_error(WG_EXIT_OUTPUT, "out of memory");
    e = errno;
    free(v);
    wg_arena_free(&a);
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
    if (o->rest.n + (o->import != NULL) != 1)
        return wg_cli_error(WG_EXIT_USAGE, "report takes one file: warpgrind report FILE.wgprof");
    char err[512];
    struct wg_profile *p;
    if (!wg_cli_page_check(o) || !wg_cli_launches_check(o))
        return WG_EXIT_USAGE;
    if (wg_profile_read(o->import ? o->import : o->rest.v[0], &p, err, sizeof err) != WG_OK)
        return wg_cli_error(WG_EXIT_INPUT, "%s", err);
    int code = wg_cli_report(o, p, stdout), gate = code ? code : wg_cli_gate(o, p, 0, true);
    wg_profile_free(p);
    return gate;
}
