/* help.c - explains the program from its tables of commands and options. */
#include "cli/help.h"
#include "cli/completion.h"
#include "cli/options.h"
#include <string.h>

struct topic { const char *name, *help, *text; };
static const struct topic topics[] = {
    {"report", "how to read a report",
     "A report has one part per kernel and launch shape; launches alike are added up (--verbose: not).\n"
     "\n"
     "  result     findings: what the kernel did wrong, worst first\n"
     "  to fix     traffic or lanes wasted, from a tenth up, with the worst line and what to try\n"
     "  rows       the numbers that matter; at the right edge how far to trust each:\n"
     "             exact      counted; a GPU's own counters say the same for this PTX\n"
     "             modelled   counted, but a model had a say, for example of what ptxas joins\n"
     "             estimated  no measurement behind it\n"
     "  source     what each line counted; > marks a line that wastes a tenth of its traffic or\n"
     "             more, !! one that wastes half\n"
     "\n"
     "  request    a memory instruction of a warp with at least one lane on\n"
     "  sector     32 bytes of global memory, the unit it moves in; 32 lanes reading 4 bytes each side\n"
     "             by side need 4, scattered lanes up to 32\n"
     "  wavefront  one pass of the shared memory; lanes that want different words of one bank wait for\n"
     "             each other, a pass each\n"
     "  lanes on   threads of a warp (of 32) that do work in an instruction, on average\n"},
    {"arguments", "how `warpgrind run` takes kernel arguments",
     "One --arg per kernel parameter, in order. A scalar is TYPE:VALUE; its size must be the parameter's.\n"
     "\n"
     "  u32:5  s64:-1  f32:1.5  f64:0x1p-3  b32:0x3f800000   types: u s b of 8 16 32 64, f32, f64\n"
     "  bytes:0011aaff                  a structure, byte by byte in hexadecimal\n"
     "\n"
     "A buffer is device memory whose address is passed; N counts elements.\n"
     "\n"
     "  zeros:f32:1024                  every element zero\n"
     "  fill:f32:1024:1.5               every element 1.5\n"
     "  iota:u32:1024                   0, 1, 2, ...\n"
     "  random:f32:1024[:SEED[:BELOW]]  f32, f64: from 0 up to 1; integers: any value; or below BELOW\n"
     "  file:f32:PATH                   the bytes of a file\n"
     "\n"
     "--dump I=FILE writes buffer argument I (from 0) to FILE after the launch; --dump I=- prints it.\n"},
    {"exit", "what the exit status means",
     "warpgrind PROGRAM ends with the program's own status, 128 + N when signal N ended it. Otherwise:\n"
     "\n"
     "  0    done\n"
     "  1    the command line is wrong\n"
     "  2    a file is missing, broken, or does not build\n"
     "  3    `warpgrind run`: the launch failed, hung or was refused\n"
     "  4    a report, profile or dump could not be written\n"
     "  100  a gate: a condition of --fail-if is met, or something is worse than in --baseline\n"
     "  130  interrupted\n"
     "\n"
     "--error-exitcode N chooses what ends a run whose checks found an error. When several apply, the program's own\n"
     "failure comes first, then 1 to 4, then N, then 100. Our own messages begin with \"warpgrind: \".\n"},
    {"gate", "conditions that fail a build",
     "--fail-if '[WHERE:]METRIC OP VALUE' ends with 100 when the condition is met anywhere; give several.\n"
     "\n"
     "  WHERE    kernel:GLOB     launches of kernels of that name, with or without its parameter types\n"
     "           FILE:LINE       a source line; FILE:10-20 and FILE:* each of those lines by itself;\n"
     "                           FILE is a path, its end, or a glob\n"
     "           nothing         every launch\n"
     "  METRIC   a name of Nsight Compute's; errors, warnings, findings (at least that severe); or\n"
#define WG_HEADLINE(metric, name, label, how, column) "           " name ": " label "\n"
#include "report/headline.def"
#undef WG_HEADLINE
     "  OP       > >= < <= == !=\n"
     "\n"
     "  --fail-if 'bank_conflicts > 0'   --fail-if 'kernel:reduce*:lanes < 24'   --fail-if 'mm.cu:42:sectors_per_load > 4'\n"
     "\n"
     "What cannot be judged (no such kernel or line, no value) is an error, not a pass. --baseline OLD.wgprof compares\n"
     "each kernel's leading figures with those of a saved profile; --tolerance PERCENT is what may be lost (2).\n"
     "--write FORMAT=FILE adds html, sarif, junit, gitlab, github (annotations), markdown or text; FILE - is stdout.\n"},
    {"programs", "which programs run, and how",
     "PROGRAM.cu is built with nvcc when that is found, else with clang and warpgrind's own CUDA headers, which need\n"
     "no CUDA toolkit. A program built elsewhere runs as it is when it holds PTX, and its CUDA runtime is the shared\n"
     "library (nvcc -cudart shared), or is linked in and the executable is not stripped. The program's arguments, input\n"
     "and output are untouched; the report goes to stderr, or to --log-file.\n"
     "\n"
     "-o FILE saves the profile. When a program starts others that use CUDA, each has a profile of its own: %p in FILE\n"
     "becomes the process number; without %p the later ones get it appended. Ctrl-C ends the program, and what was\n"
     "counted until then is still shown.\n"},
    {"ncu", "showing a run in the forms of Nsight Compute",
     "--page, --metrics, --section, --set or --csv asks for Nsight Compute's form instead of the report; it goes to\n"
     "stdout, or to --log-file. Names, columns, units and header rows are ncu's, so what reads its CSV reads this.\n"
     "\n"
     "  warpgrind --metrics smsp__inst_executed.sum,regex:mem_shared prog.cu\n"
     "  warpgrind --set full ./prog               sections in tables, and what the guided rules say to them\n"
     "  warpgrind -i x.wgprof --page raw --csv --print-units base      a row a launch; the second line is units\n"
     "  warpgrind -i x.wgprof --page source --csv                      a row a launch and source line\n"
     "\n"
     "n/a stands where there is no value; --query-metrics says why, and how far to trust the others. What is not like\n"
     "ncu: the profile holds everything, so that no choice has to be made while the program runs; numbers in CSV have\n"
     "no thousands separators (ncu's depend on the locale); Process ID, Context, Stream and Device are always 0, 1, 7\n"
     "and 0, for there is one simulated process, device and order of launches; tables have a fourth column, how far to\n"
     "trust a value; source columns have the metrics' names, or with --print-metric-name label ncu's headings.\n"},
    {"environment", "variables that are read",
     "  NO_COLOR             set and not empty: no colours unless --color=always\n"
     "  WARPGRIND_OPTIONS    set by warpgrind for the program it starts; not meant to be set by hand\n"},
};
enum { NTOPICS = sizeof topics / sizeof *topics };

int wg_help_version(void)
{
    puts("warpgrind " WARPGRIND_VERSION);
    return 0;
}

/* "  -o, --export FILE    help", wrapped at 80 columns. */
static void option_line(FILE *out, const struct wg_option *p)
{
    char left[64];
    char brief[8] = "    ";
    if (p->short_name)
        snprintf(brief, sizeof brief, "-%c, ", p->short_name);
    snprintf(left, sizeof left, "%s--%s%s%s", brief, p->name, p->arg ? " " : "", p->arg ? p->arg : "");
    fprintf(out, "  %-25s", left);
    size_t col = strlen(left) > 24 ? 80 : 27; /* too long: the help begins on the next line */
    for (const char *s = p->help; *s;) {
        size_t n = strcspn(s, " ");
        if (col + n + 1 > 80) {
            fprintf(out, "\n%27s", "");
            col = 27;
        }
        fprintf(out, " %.*s", (int)n, s);
        col += n + 1;
        s += n + (s[n] == ' ');
    }
    fputc('\n', out);
}

static bool shown(const struct wg_option *p, unsigned commands)
{
    return p->name && (p->commands & commands) && (commands != WG_CLI_P || !(p->commands & WG_CLI_D));
}

/* Of each topic the options that some of these commands take. */
static void options(FILE *out, unsigned commands)
{
    for (size_t i = 0; i < wg_option_count; i++) {
        bool any = false;
        for (size_t k = i + 1; wg_option_table[i].topic && k < wg_option_count && !wg_option_table[k].topic; k++)
            any |= shown(&wg_option_table[k], commands);
        if (any)
            fprintf(out, "%s:\n", wg_option_table[i].topic);
        else if (shown(&wg_option_table[i], commands))
            option_line(out, &wg_option_table[i]);
    }
}

int wg_help_main(FILE *out)
{
    fputs("usage: warpgrind [options] PROGRAM.cu [args]   build a CUDA program and run it\n"
          "       warpgrind [options] ./PROGRAM [args]    run one that is built\n"
          "       warpgrind COMMAND ...\n\ncommands:\n", out);
    for (size_t i = 0; i < wg_command_count; i++)
        fprintf(out, "  %-10s %s\n", wg_command_table[i].name, wg_command_table[i].help);
    options(out, WG_CLI_P);
    fputs("help TOPIC:", out);
    for (size_t i = 0; i < NTOPICS; i++)
        fprintf(out, " %s", topics[i].name);
    fputs(" options\n", out);
    return 0;
}

/* The man page in the language of scdoc. */
static void man_page(void)
{
    printf("warpgrind(1)\n\n# NAME\n\nwarpgrind - run CUDA programs with no GPU and show what their memory accesses cost\n\n"
           "# SYNOPSIS\n\n*warpgrind* [_options_] _program.cu_ [_arguments_]\n\n"
           "*warpgrind* [_options_] _./program_ [_arguments_]\n\n");
    for (size_t i = 0; i < wg_command_count; i++)
        printf("*warpgrind* %s\n\n", wg_command_table[i].usage);
    printf("# OPTIONS\n");
    for (size_t i = 0; i < wg_option_count; i++) {
        const struct wg_option *p = &wg_option_table[i];
        if (p->topic) {
            printf("\n## %s\n\n", p->topic);
            continue;
        }
        if (p->short_name)
            printf("*-%c*, ", p->short_name);
        printf("*--%s*%s%s%s\n\t%s\n\n", p->name, p->arg ? " _" : "", p->arg ? p->arg : "", p->arg ? "_" : "", p->help);
    }
    for (size_t i = 0; i < NTOPICS; i++) {
        size_t n = strlen(topics[i].text);
        printf("# %s\n\n```\n%s%s```\n\n", topics[i].help, topics[i].text, n && topics[i].text[n - 1] != '\n' ? "\n" : "");
    }
}

static int command_help(const struct wg_command *c)
{
    char *words[] = {(char *)c->name, "--help", NULL};
    if (c->calculate)
        return c->calculate(2, words);
    printf("usage: warpgrind %s\n\n%s\n", c->usage, c->help);
    if (c->letter != WG_CLI_N)
        putchar('\n');
    options(stdout, c->letter);
    return 0;
}

const char *wg_help_topic_name(size_t i)
{
    return i < NTOPICS ? topics[i].name : i == NTOPICS ? "options" : NULL;
}

int wg_help_topic(const char *name)
{
    if (!strcmp(name, "options")) {
        options(stdout, ~0u);
        return 0;
    }
    if (!strcmp(name, "man-page")) {
        man_page();
        return 0;
    }
    for (size_t i = 0; wg_completion_shells[i]; i++) {
        char topic[32];
        snprintf(topic, sizeof topic, "%s-completion", wg_completion_shells[i]);
        if (!strcmp(name, topic))
            return wg_completion(wg_completion_shells[i]) ? 0 : WG_EXIT_USAGE;
    }
    bool found = false;
    for (size_t i = 0; i < wg_command_count; i++)
        if (!strcmp(wg_command_table[i].name, name))
            found = !command_help(&wg_command_table[i]);
    for (size_t i = 0; i < NTOPICS; i++)
        if (!strcmp(topics[i].name, name))
            found = printf("%s%s", found ? "\n" : "", topics[i].text) >= 0;
    const char *opt = name + strspn(name, "-");
    for (size_t i = 0; i < wg_option_count; i++)
        if (wg_option_table[i].name && !strcmp(wg_option_table[i].name, opt)) {
            option_line(stdout, &wg_option_table[i]);
            found = true;
        }
    if (found)
        return 0;
    const char *words[128];
    size_t n = 0;
    for (size_t i = 0; i < NTOPICS; i++)
        words[n++] = topics[i].name;
    for (size_t i = 0; i < wg_command_count && n < 64; i++)
        words[n++] = wg_command_table[i].name;
    for (size_t i = 0; i < wg_option_count && n < 128; i++)
        if (wg_option_table[i].name)
            words[n++] = wg_option_table[i].name;
    const char *near = wg_cli_nearest(opt, words, n);
    return wg_cli_error(WG_EXIT_USAGE, "no help on %s; %s%s%s", name, near ? "did you mean " : "`warpgrind help` lists the topics",
                        near ? near : "", near ? "?" : "");
}

int wg_cmd_help(const struct wg_cli *o)
{
    if (o->rest.n > 1)
        return wg_cli_error(WG_EXIT_USAGE, "help takes one topic");
    if (o->rest.n)
        return wg_help_topic(o->rest.v[0]);
    wg_help_main(stdout);
    puts("");
    for (size_t i = 0; i < NTOPICS; i++)
        printf("  help %-18s %s\n", topics[i].name, topics[i].help);
    printf("  help %-18s %s\n  help %-18s %s\n  help %-18s %s\n", "options", "every option of every command", "man-page",
           "the man page, as scdoc text", "bash-completion", "completion for bash; also zsh-completion, fish-completion");
    return 0;
}
