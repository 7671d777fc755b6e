/* cli.h - what the commands of the warpgrind program share: options, messages, exit codes. */
#ifndef WG_CLI_CLI_H
#define WG_CLI_CLI_H
#include <warpgrind/profile.h>
#include <stdio.h>

/* Exit codes. A program that was started decides the code itself; 128 + N when signal N ended it. */
enum wg_exit {
    WG_EXIT_OK = 0,
    WG_EXIT_USAGE = 1,  /* the command line is wrong */
    WG_EXIT_INPUT = 2,  /* a file is missing, broken, or does not build */
    WG_EXIT_LAUNCH = 3, /* `warpgrind run`: the launch failed, hung or was refused */
    WG_EXIT_OUTPUT = 4, /* a report, profile or dump could not be written */
    WG_EXIT_GATE = 100, /* a condition of --fail-if is met, or something is worse than the baseline */
    WG_EXIT_CANCELLED = 130,
};

struct wg_many { size_t n; const char **v; };
struct wg_cli {
#define WG_TOPIC(title)
#define WG_OPTION_FLAG(field) bool field;
#define WG_OPTION_NUMBER(field) uint64_t field; bool has_##field;
#define WG_OPTION_TEXT(field) const char *field;
#define WG_OPTION_MANY(field) struct wg_many field;
#define WG_OPTION(field, kind, name, short_name, arg, commands, help) WG_OPTION_##kind(field)
#include "cli/options.def"
#undef WG_OPTION
#undef WG_TOPIC
    struct wg_many rest;  /* what is no option */
    bool check;           /* the command `check`: its own form of report */
    bool help, version;   /* --help, --version were given */
};
enum wg_cli_command { WG_CLI_P = 1, WG_CLI_X = 2, WG_CLI_R = 4, WG_CLI_N = 8, WG_CLI_F = 16, WG_CLI_C = 32,
                      WG_CLI_M = 4096, /* whatever shows launches: pages in Nsight Compute's form */
                      WG_CLI_D = 64 /* not a command: a detail that the first screen of help leaves out */,
                      WG_CLI_H = 128, WG_CLI_G = 256, WG_CLI_L = 512, WG_CLI_A = 1024 };

/* Parses argv[0..argc), the words after the command's name. With WG_CLI_P it stops at the first word that is no option:
 * that word and all that follow are `rest`. Returns false after printing a message. wg_cli_free frees the lists. */
bool wg_cli_parse(struct wg_cli *o, enum wg_cli_command command, int argc, char **argv);
void wg_cli_free(struct wg_cli *o);

/* "warpgrind: ..." and a newline on stderr; returns code. Control characters in the text are escaped. */
int wg_cli_error(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Decimal, or hexadecimal after 0x; a suffix K, M or G counts in powers of 1024. */
bool wg_cli_number(const char *s, uint64_t *out);
/* The word of a list that is closest to s, or NULL when none is close. */
const char *wg_cli_nearest(const char *s, const char *const *words, size_t n);

/* output.c. Judges --fail-if and --baseline on the launches asked for and writes the files of --write. process: number and
 * whether it is the first of several; 0 and true when there is one. WG_EXIT_GATE when something failed. */
int wg_cli_gate(const struct wg_cli *o, const struct wg_profile *p, long process, bool first);
/* False after a message when --fail-if, --tolerance or --write are not understood: said before anything runs. */
bool wg_cli_gate_check(const struct wg_cli *o);
/* A file name for one of several processes: %p becomes its number; without %p the later ones get it appended. NULL: no
 * memory. The caller frees. */
char *wg_cli_numbered(const char *pattern, long process, bool first);
/* Writes the report of p as the options ask: to log_file, else to `out`. Returns an exit code. */
int wg_cli_report(const struct wg_cli *o, const struct wg_profile *p, FILE *out);
/* pages.c. Whether a page in Nsight Compute's form was asked for, and which: false after a message when the command line
 * names no such metric, section, set or page. Everything lives in the arena. */
struct wg_ncu_style;
bool wg_cli_wants_page(const struct wg_cli *o);
struct wg_arena;
bool wg_cli_page(const struct wg_cli *o, struct wg_arena *a, struct wg_ncu_style *style);
/* The same check alone, before a program is started for nothing. */
bool wg_cli_page_check(const struct wg_cli *o);
/* --query-metrics, --list-sections, ...: prints what was asked for; -1 when none was. */
int wg_cli_list(const struct wg_cli *o);
/* launches.c. A copy of p that holds only the launches asked for. v must hold p->nlaunches + 1. */
struct wg_profile wg_cli_select(const struct wg_cli *o, const struct wg_profile *p, struct wg_launch_result *v);
int wg_cli_none_selected(const struct wg_cli *o, const struct wg_profile *p); /* says so; WG_EXIT_USAGE */
/* False after a message when --kernel-name and the like are not understood: asked before wg_cli_select. */
bool wg_cli_launches_check(const struct wg_cli *o);
/* cmd_check.c. Reads --tool, --schedule and the like into bits of enum wg_tool; false after a message. */
bool wg_cli_tools(const struct wg_cli *o, unsigned *tools);
/* What --model, --cache-control and --sample ask for; false after a message. */
bool wg_cli_model(const struct wg_cli *o, bool *models, bool *keep, unsigned *level);
bool wg_cli_schedule(const struct wg_cli *o, enum wg_schedule *s, uint64_t *seed);
/* Leaves suppressed findings out of p and writes --gen-suppressions; an exit code. */
int wg_cli_suppress(const struct wg_cli *o, struct wg_profile *p);
/* p's findings in the form of compute-sanitizer. */
int wg_cli_sanitizer(const struct wg_cli *o, const struct wg_profile *p, FILE *out);
uint64_t wg_cli_errors(const struct wg_profile *p);
/* The folder this program lies in; false when it cannot be found. */
bool wg_cli_self(char *buf, size_t n);

int wg_cli_program(const struct wg_cli *o); /* rest: program and its arguments */
#define WG_COMMAND(name, letter, usage, help) int wg_cmd_##name(const struct wg_cli *o);
#define WG_CALCULATOR(name, help) int wg_cmd_##name(int argc, char **argv);
#include "cli/commands.def"
#undef WG_COMMAND
#undef WG_CALCULATOR
#endif
