/* calc_main.c - runs one calculator command, so that the commands are tested without the rest of the program. */
#include "cli/calc.h"
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    static const struct { const char *name; int (*run)(int, char **); } commands[] = {
#define WG_COMMAND(name, letter, usage, help)
#define WG_CALCULATOR(name, help) {#name, wg_cmd_##name},
#include "cli/commands.def"
#undef WG_COMMAND
#undef WG_CALCULATOR
    };
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, argv[1]) == 0)
            return commands[i].run(argc - 1, argv + 1);
    fprintf(stderr, "usage: calc COMMAND ...\n");
    return 2;
}
