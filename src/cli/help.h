/* help.h - the program's own description: --help, topics, the man page, shell completion. */
#ifndef WG_CLI_HELP_H
#define WG_CLI_HELP_H
#include "cli/cli.h"

struct wg_command {
    const char *name, *usage, *help;
    enum wg_cli_command letter;
    int (*run)(const struct wg_cli *o);
    int (*calculate)(int argc, char **argv); /* a calculator's, instead of run; argv[0] is the command */
};
extern const struct wg_command wg_command_table[];
extern const size_t wg_command_count;

int wg_help_main(FILE *out);
int wg_help_topic(const char *name); /* a topic, a command or an option */
const char *wg_help_topic_name(size_t i); /* NULL past the last */
int wg_help_version(void);
#endif
