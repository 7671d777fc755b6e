/* letters.h - the commands by the letters that commands.def and options.def use; D marks a detail. For the files that
 * expand those tables. */
#ifndef WG_CLI_LETTERS_H
#define WG_CLI_LETTERS_H
#include "cli/cli.h"
#define P WG_CLI_P
#define X WG_CLI_X
#define R WG_CLI_R
#define N WG_CLI_N
#define F WG_CLI_F
#define C WG_CLI_C
#define H WG_CLI_H
#define G WG_CLI_G
#define L WG_CLI_L
#define A WG_CLI_A
#define M WG_CLI_M
#define D WG_CLI_D
#endif
