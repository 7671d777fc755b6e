/* calc.h - what the calculator commands share: reading numbers from options, refusing, printing. */
#ifndef WG_CLI_CALC_H
#define WG_CLI_CALC_H
#include "base/diag.h"

/* Prints "warpgrind CMD: message" to stderr; returns 1, the exit status of a command that was asked wrongly. */
int wg_calc_fail(const char *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A whole number up to `most`, with an optional K, M or G (powers of 1024). On failure says so for option `name`. */
bool wg_calc_number(const char *cmd, const char *name, const char *text, uint64_t most, uint64_t *v);
bool wg_calc_real(const char *cmd, const char *name, const char *text, double *v);
/* v with thousands separators, in one of a few rotating slots of buf, so that one printf can take several. */
struct wg_calc_text { char slot[8][32]; unsigned next; };
const char *wg_calc_grouped(struct wg_calc_text *t, uint64_t v);

int wg_cmd_occupancy(int argc, char **argv);
int wg_cmd_devices(int argc, char **argv);
int wg_cmd_coalesce(int argc, char **argv);
int wg_cmd_banks(int argc, char **argv);
int wg_cmd_tile(int argc, char **argv);
int wg_cmd_roofline(int argc, char **argv);
int wg_cmd_learn(int argc, char **argv);
#endif
