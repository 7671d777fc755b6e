/* calc.h - what the calculator commands share: reading numbers from options, refusing, printing. */
#ifndef WG_CLI_CALC_H
#define WG_CLI_CALC_H
#include "base/diag.h"

/* Prints "warpgrind CMD: message" to stderr; returns 1, the exit status of a command that was asked wrongly
 * (WG_EXIT_USAGE). wg_calc_unread returns 2: a file is missing or broken (WG_EXIT_INPUT). */
int wg_calc_fail(const char *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int wg_calc_unread(const char *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A whole number up to `most`, with an optional K, M or G (powers of 1024). On failure says so for option `name`. */
bool wg_calc_number(const char *cmd, const char *name, const char *text, uint64_t most, uint64_t *v);
bool wg_calc_real(const char *cmd, const char *name, const char *text, double *v);
/* "32x8" or "128": threads of a block in x and y. */
bool wg_calc_block(const char *cmd, const char *text, unsigned *bx, unsigned *by);
/* v with thousands separators, in one of a few rotating slots of buf, so that one printf can take several. */
struct wg_calc_text { char slot[8][32]; unsigned next; };
const char *wg_calc_grouped(struct wg_calc_text *t, uint64_t v);

#define WG_COMMAND(name, letter, usage, help)
#define WG_CALCULATOR(name, help) int wg_cmd_##name(int argc, char **argv);
#include "cli/commands.def"
#undef WG_COMMAND
#undef WG_CALCULATOR
#endif
