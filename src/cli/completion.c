/* completion.c - completion scripts for bash, zsh and fish, made from the tables of commands and options. */
#include "cli/completion.h"
#include "cli/help.h"
#include "cli/options.h"
#include "model/gpus.h"
#include <stdio.h>
#include <string.h>

enum { PROGRAM = WG_CLI_P | WG_CLI_M }; /* the options of `warpgrind PROGRAM` */

/* Options whose value is a file or folder. */
static bool of_file(const struct wg_option *p)
{
    return p->arg && (strstr(p->arg, "FILE") || !strcmp(p->arg, "PATH"));
}

/* What may follow `help`, and the devices, each on its own by `print`. */
static void each_topic(void (*print)(const char *))
{
    for (size_t i = 0; wg_help_topic_name(i); i++)
        print(wg_help_topic_name(i));
    for (size_t i = 0; i < wg_command_count; i++)
        print(wg_command_table[i].name);
}

static void each_device(void (*print)(const char *))
{
    for (size_t i = 0; i < wg_gpu_count(); i++) {
        char name[64];
        snprintf(name, sizeof name, "%s", wg_gpu_at(i)->name);
        for (char *s = name; *s; s++)
            *s = *s == ' ' ? '-' : *s; /* the same to --device, and one word to a shell */
        print(name);
    }
}

static void spaced(const char *word)
{
    printf("%s ", word);
}

static void bash(void)
{
    printf("# bash completion for warpgrind\n_warpgrind()\n{\n    local cur=${COMP_WORDS[COMP_CWORD]} words=\"\"\n"
           "    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; i <= wg_command_count; i++) {
        bool last = i == wg_command_count;
        unsigned mask = last ? PROGRAM : wg_command_table[i].letter;
        printf("    %s) words=\"", last ? "*" : wg_command_table[i].name);
        for (size_t k = 0; k < wg_option_count; k++)
            if (wg_option_table[k].name && (wg_option_table[k].commands & mask))
                printf("--%s ", wg_option_table[k].name);
        printf("--help\" ;;\n");
    }
    printf("    esac\n    if [ \"$COMP_CWORD\" = 1 ]; then\n        words=\"$words --version");
    for (size_t i = 0; i < wg_command_count; i++)
        printf(" %s", wg_command_table[i].name);
    printf("\"\n    elif [ \"${COMP_WORDS[1]}\" = help ]; then\n        mapfile -t COMPREPLY < <(compgen -W \"");
    each_topic(spaced);
    printf("\" -- \"$cur\")\n        return\n    fi\n    case ${COMP_WORDS[COMP_CWORD - 1]} in --device|-d)\n"
           "        mapfile -t COMPREPLY < <(compgen -W \"");
    each_device(spaced);
    printf("\" -- \"$cur\"; compgen -f -- \"$cur\")\n        return ;;\n    esac\n    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\"; compgen -f -- \"$cur\")\n}\n"
           "complete -o filenames -F _warpgrind warpgrind\n");
}

/* Text inside '...' of a shell, where `special` characters are also given a backslash. */
static void quoted(const char *s, const char *special)
{
    putchar('\'');
    for (; *s; s++)
        if (*s == '\'')
            fputs("'\\''", stdout);
        else
            printf(strchr(special, *s) ? "\\%c" : "%c", *s);
    putchar('\'');
}

static void zsh_option(const struct wg_option *p)
{
    char text[512], value[64] = "";
    if (p->arg)
        snprintf(value, sizeof value, ":%s:%s", p->arg,
                 of_file(p) ? "_files" : !strcmp(p->name, "device") ? "_warpgrind_devices" : " ");
    for (int brief = 0; brief < 1 + (p->short_name != 0); brief++) {
        printf("            ");
        if (brief)
            snprintf(text, sizeof text, "%s-%c%s[", p->kind == WG_OPTION_KIND_MANY ? "*" : "", p->short_name,
                     p->arg ? "+" : "");
        else
            snprintf(text, sizeof text, "%s--%s%s[", p->kind == WG_OPTION_KIND_MANY ? "*" : "", p->name,
                     p->arg ? "=" : "");
        fputs("'", stdout);
        fputs(text, stdout);
        for (const char *s = p->help; *s; s++)
            if (*s == '\'')
                fputs("'\\''", stdout);
            else
                printf(strchr("[]:\\", *s) ? "\\%c" : "%c", *s);
        printf("]%s' \\\n", value);
    }
}

static void zsh(void)
{
    printf("#compdef warpgrind\n_warpgrind_devices()\n{\n    compadd -- ");
    each_device(spaced);
    printf("\n    _files\n}\n_warpgrind()\n{\n    local -a commands=(\n");
    for (size_t i = 0; i < wg_command_count; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s:%s", wg_command_table[i].name, wg_command_table[i].help);
        printf("        ");
        quoted(text, "");
        putchar('\n');
    }
    printf("    )\n    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n        _describe command commands\n      "
           "  _files\n"
           "        return\n    fi\n    case $words[2] in\n    help)\n        compadd -- ");
    each_topic(spaced);
    printf(";;\n");
    for (size_t i = 0; i <= wg_command_count; i++) {
        bool last = i == wg_command_count;
        unsigned mask = last ? PROGRAM : wg_command_table[i].letter;
        printf("    %s)\n        _arguments -s \\\n", last ? "*" : wg_command_table[i].name);
        for (size_t k = 0; k < wg_option_count; k++)
            if (wg_option_table[k].name && (wg_option_table[k].commands & mask))
                zsh_option(&wg_option_table[k]);
        printf("            '--help[explain]' '*:file:_files' ;;\n");
    }
    printf("    esac\n}\n_warpgrind \"$@\"\n");
}

static void fish_topic(const char *word)
{
    printf("complete -c warpgrind -f -n '__fish_seen_subcommand_from help' -a %s\n", word);
}

static void fish_device(const char *word)
{
    printf("complete -c warpgrind -x -l device -s d -a %s\n", word);
}

static void fish(void)
{
    printf("# fish completion for warpgrind\n");
    for (size_t i = 0; i < wg_command_count; i++) {
        printf("complete -c warpgrind -n __fish_use_subcommand -a %s -d ", wg_command_table[i].name);
        quoted(wg_command_table[i].help, "\\");
        putchar('\n');
    }
    each_topic(fish_topic);
    each_device(fish_device);
    for (size_t k = 0; k < wg_option_count; k++) {
        const struct wg_option *p = &wg_option_table[k];
        if (!p->name)
            continue;
        printf("complete -c warpgrind -l %s", p->name);
        if (p->short_name)
            printf(" -s %c", p->short_name);
        if (p->arg)
            printf(of_file(p) ? " -r -F" : " -x");
        if (p->commands & PROGRAM) {
            printf(" -n 'not __fish_seen_subcommand_from");
            for (size_t i = 0; i < wg_command_count; i++)
                if (!(wg_command_table[i].letter & p->commands))
                    printf(" %s", wg_command_table[i].name);
        } else {
            printf(" -n '__fish_seen_subcommand_from");
            for (size_t i = 0; i < wg_command_count; i++)
                if (wg_command_table[i].letter & p->commands)
                    printf(" %s", wg_command_table[i].name);
        }
        printf("' -d ");
        quoted(p->help, "\\");
        putchar('\n');
    }
}

const char *const wg_completion_shells[] = {"bash", "zsh", "fish", NULL};

bool wg_completion(const char *shell)
{
    void (*const write[])(void) = {bash, zsh, fish};
    for (size_t i = 0; wg_completion_shells[i]; i++)
        if (!strcmp(wg_completion_shells[i], shell)) {
            write[i]();
            return true;
        }
    return false;
}
