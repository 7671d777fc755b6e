/* cmd_diff.c - what changed between two saved profiles. */
#include "cli/cli.h"
#include "report/compare.h"
#include "report/html.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int print(const struct wg_cli *o, const struct wg_compare *c, FILE *out)
{
    const char *how = o->format ? o->format : "text", *no = getenv("NO_COLOR");
    bool color =
        o->color && strcmp(o->color, "auto") ? !strcmp(o->color, "always") : isatty(fileno(out)) && !(no && *no);
    enum wg_status s = !strcmp(how, "markdown") ? wg_compare_markdown(c, out)
                       : !strcmp(how, "html")   ? wg_html_diff(c, out)
                                                : wg_compare_print(c, color, o->verbose, out);
    if (s == WG_OK && !fflush(out))
        return WG_EXIT_OK;
    return wg_cli_error(WG_EXIT_OUTPUT, s == WG_NO_MEMORY ? "out of memory" : "cannot write the comparison");
}

int wg_cmd_diff(const struct wg_cli *o)
{
    char err[512];
    struct wg_profile *p[2] = {NULL, NULL};
    struct wg_arena a = {0};
    struct wg_view v[2];
    struct wg_compare c;
    if (o->rest.n != 2)
        return wg_cli_error(WG_EXIT_USAGE, "diff takes two files: warpgrind diff OLD.wgprof NEW.wgprof");
    if (o->format && strcmp(o->format, "text") && strcmp(o->format, "markdown") && strcmp(o->format, "html"))
        return wg_cli_error(WG_EXIT_USAGE, "--format is text, markdown or html, not \"%s\"", o->format);
    int code = WG_EXIT_OK;
    for (int i = 0; i < 2 && !code; i++)
        if (wg_profile_read(o->rest.v[i], &p[i], err, sizeof err) != WG_OK)
            code = wg_cli_error(WG_EXIT_INPUT, "%s", err);
    if (!code && (wg_view_open(p[0], true, &a, &v[0]) != WG_OK || wg_view_open(p[1], true, &a, &v[1]) != WG_OK ||
                  wg_compare(&v[0], &v[1], &a, &c) != WG_OK))
        code = wg_cli_error(WG_EXIT_OUTPUT, "out of memory");
    FILE *out = code ? NULL : o->output && strcmp(o->output, "-") ? fopen(o->output, "we") : stdout;
    if (!code && !out)
        code = wg_cli_error(WG_EXIT_OUTPUT, "cannot write %s: %s", o->output, strerror(errno));
    if (!code)
        code = print(o, &c, out);
    if (out && out != stdout && fclose(out) && !code)
        code = wg_cli_error(WG_EXIT_OUTPUT, "cannot write %s: %s", o->output, strerror(errno));
    wg_arena_free(&a);
    wg_profile_free(p[0]);
    wg_profile_free(p[1]);
    return code;
}
