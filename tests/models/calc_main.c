/* calc_main.c - runs one calculator command, so that the commands are tested without the rest of the program. */
#include "cli/calc.h"
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    static const struct { const char *name; int (*run)(int, char **); } commands[] = {
        {"occupancy", wg_cmd_occupancy}, {"devices", wg_cmd_devices},
    };
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, argv[1]) == 0)
            return commands[i].run(argc - 1, argv + 1);
    fprintf(stderr, "usage: calc COMMAND ...\n");
    return 2;
}
