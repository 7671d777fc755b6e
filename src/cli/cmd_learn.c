/* cmd_learn.c - `warpgrind learn`: the rows of learn.def as short exercises. */
#include "cli/calc.h"
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define CMD "learn"

static const struct { const char *id, *question, *answer, *command, *holds; } rows[] = {
#define WG_LEARN(id, question, answer, command, holds) {#id, question, answer, command, holds},
#include "cli/learn.def"
#undef WG_LEARN
};

int wg_cmd_learn(int argc, char **argv)
{
    static const struct option options[] = {
        {"answers", 0, 0, 'a'}, {"checks", 0, 0, 'c'}, {"help", 0, 0, 'h'}, {0, 0, 0, 0}};
    bool answers = false, checks = false, any = false;
    optind = 0;
    for (int o; (o = getopt_long(argc, argv, "h", options, NULL)) != -1;)
        switch (o) {
        case 'a': answers = true; break;
        case 'c': checks = true; break;
        case 'h':
            puts("Usage: warpgrind learn [ID]... [--answers] [--checks]\n"
                 "Exercises on coalescing (C), banks (B), occupancy (O), tiling (T), reductions (R) and races (S),\n"
                 "each with the command that answers it, in the source folder; with an ID, its answer too.\n\n"
                 "  --answers  all answers\n"
                 "  --checks   id, command and what its output must hold, tab-separated, for scripts");
            return 0;
        default: fprintf(stderr, "Try: warpgrind " CMD " --help\n"); return 1;
        }
    for (int i = optind; i < argc; i++) {
        bool known = false;
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
            known |= strcasecmp(rows[k].id, argv[i]) == 0;
        if (!known)
            return wg_calc_fail(CMD, "no exercise '%s'; they are C1 to C4, B1 to B4, O1 to O9, T1 to T5, R1 to R5 and S1 to S3", argv[i]);
    }
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        bool wanted = optind == argc;
        for (int i = optind; i < argc; i++)
            wanted |= strcasecmp(rows[k].id, argv[i]) == 0;
        if (!wanted)
            continue;
        if (checks) {
            printf("%s\t%s\t", rows[k].id, rows[k].command);
            for (const char *p = rows[k].holds; *p; p++)
                fputs(*p == '\n' ? "\\n" : (char[]){*p, 0}, stdout);
            putchar('\n');
            continue;
        }
        printf("%s%s  %s\n    warpgrind %s\n", any ? "\n" : "", rows[k].id, rows[k].question, rows[k].command);
        if (answers || optind < argc)
            printf("    %s\n", rows[k].answer);
        any = true;
    }
    return 0;
}
