/* main.c - the warpgrind program: finds the command, parses its options, runs it. */
#include "cli/letters.h"
#include "cli/help.h"
#include "report/escape.h"
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct wg_command wg_command_table[] = {
#define WG_COMMAND(name, letter, usage, help) {#name, usage, help, letter, wg_cmd_##name, NULL},
#define WG_CALCULATOR(name, help) {#name, #name " ...", help, N, NULL, wg_cmd_##name},
#include "cli/commands.def"
#undef WG_COMMAND
#undef WG_CALCULATOR
};
const size_t wg_command_count = sizeof wg_command_table / sizeof *wg_command_table;

int wg_cli_error(int code, const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    fputs("warpgrind: ", stderr);
    for (const char *s = n < 0 ? "out of memory" : text; s; s = strchr(s, '\n') ? strchr(s, '\n') + 1 : NULL) {
        wg_escape(stderr, s, strlen(s), 0);
        fputc('\n', stderr);
    }
    if (n >= 0)
        free(text);
    return code;
}

bool wg_cli_self(char *buf, size_t n)
{
    ssize_t k = readlink("/proc/self/exe", buf, n - 1);
    if (k <= 0)
        return false;
    buf[k] = 0;
    char *s = strrchr(buf, '/');
    if (!s)
        return false;
    *s = 0;
    return true;
}

static const struct wg_command *command(const char *name)
{
    for (size_t i = 0; i < wg_command_count; i++)
        if (!strcmp(wg_command_table[i].name, name))
            return &wg_command_table[i];
    return NULL;
}

/* A bare word that names no command may be a program; if it is neither, perhaps a command was meant. */
static int run_program(const struct wg_cli *o)
{
    const char *name = o->rest.v[0], *words[64];
    if (!strpbrk(name, "/.") && access(name, F_OK) && !(o->trace_children && !strcmp(o->trace_children, "yes"))) {
        size_t n = 0;
        for (size_t i = 0; i < wg_command_count && n < 64; i++)
            words[n++] = wg_command_table[i].name;
        const char *near = wg_cli_nearest(name, words, n);
        if (near)
            return wg_cli_error(WG_EXIT_USAGE, "no command or file is named %s; did you mean `warpgrind %s`?", name, near);
        return wg_cli_error(WG_EXIT_USAGE, "no command or file is named %s; `warpgrind --help` lists the commands", name);
    }
    return wg_cli_program(o);
}

/* argv[0] is the command's name. */
static int run_command(const struct wg_command *c, int argc, char **argv)
{
    if (c->calculate)
        return c->calculate(argc, argv);
    argc--;
    argv++;
    struct wg_cli o = {0};
    int code = WG_EXIT_USAGE;
    if (c->run == wg_cmd_help && argc == 1 && strcmp(argv[0], "--help")) /* the topic may look like an option */
        return wg_help_topic(argv[0]);
    if (wg_cli_parse(&o, c->letter, argc, argv))
        code = o.help ? wg_help_topic(c->name) : o.version ? wg_help_version() : (code = wg_cli_list(&o)) >= 0 ? code : c->run(&o);
    wg_cli_free(&o);
    return code;
}

/* `warpgrind -i FILE ...`, as ncu has it, is `warpgrind report -i FILE ...`: parsed again, as that knows fewer options. */
static int import(const struct wg_cli *o, int argc, char **argv)
{
    if (o->rest.n)
        return wg_cli_error(WG_EXIT_USAGE, "--import shows a saved profile; it runs no program, but %s was given", o->rest.v[0]);
    char *name = argv[0];
    argv[0] = (char *)"report";
    int code = run_command(command("report"), argc, argv);
    argv[0] = name;
    return code;
}

int main(int argc, char **argv)
{
    const struct wg_command *c = argc > 1 ? command(argv[1]) : NULL;
    if (c)
        return run_command(c, argc - 1, argv + 1);
    struct wg_cli o = {0};
    int code = WG_EXIT_USAGE;
    if (!wg_cli_parse(&o, P | M, argc - 1, argv + 1)) {
        /* said */
    } else if (o.version) {
        code = wg_help_version();
    } else if (o.help) {
        code = wg_help_main(stdout);
    } else if ((code = wg_cli_list(&o)) >= 0) {
        /* printed */
    } else if (o.import) {
        code = import(&o, argc, argv);
    } else if (!o.rest.n) {
        code = argc > 1 ? wg_cli_error(WG_EXIT_USAGE, "options, but no program to run; see `warpgrind --help`")
                        : (wg_help_main(stderr), WG_EXIT_USAGE);
    } else if ((c = command(o.rest.v[0]))) {
        /* Options came before the command: parse again, as the command's. */
        char **rest = malloc(((size_t)argc + 1) * sizeof *rest);
        int n = 0;
        if (rest)
            rest[n++] = (char *)o.rest.v[0];
        for (int i = 1; rest && i < argc; i++)
            if (argv[i] != o.rest.v[0])
                rest[n++] = argv[i];
        if (rest)
            rest[n] = NULL;
        code = rest ? run_command(c, n, rest) : wg_cli_error(WG_EXIT_LAUNCH, "out of memory");
        free(rest);
    } else {
        code = run_program(&o);
    }
    wg_cli_free(&o);
    return code;
}
