/* options.h - options.def as a table, for the parser and for what describes options. */
#ifndef WG_CLI_OPTIONS_H
#define WG_CLI_OPTIONS_H
#include <stddef.h>

enum wg_option_kind { WG_OPTION_KIND_FLAG, WG_OPTION_KIND_NUMBER, WG_OPTION_KIND_TEXT, WG_OPTION_KIND_MANY };
struct wg_option {
    const char *topic; /* not NULL: a heading, all else is empty */
    const char *name, *arg, *help;
    char short_name;
    unsigned commands; /* set of enum wg_cli_command */
    enum wg_option_kind kind;
    size_t offset, has_offset; /* in struct wg_cli; has_offset only of a NUMBER */
};
extern const struct wg_option wg_option_table[];
extern const size_t wg_option_count;
#endif
