/* launches.c - which launches a report shows: --kernel-name, --launch-skip, --launch-count, as Nsight Compute reads
 * them. */
#include "base/arena.h"
#include "cli/cli.h"
#include "model/gpus.h"
#include "report/kernel_name.h"
#include "report/pattern.h"
#include <stdlib.h>
#include <string.h>

enum base { ANY_NAME, FUNCTION, DEMANGLED, MANGLED };

/* Which name is meant; -1 after a message. Unless told, a plain NAME may be any of them, an expression is the
 * function's. */
static int base_of(const struct wg_cli *o)
{
    static const char *const words[] = {"", "function", "demangled", "mangled"};
    if (!o->kernel_name_base)
        return o->kernel_name && !strncmp(o->kernel_name, "regex:", 6) ? FUNCTION : ANY_NAME;
    for (int i = 1; i < 4; i++)
        if (!strcmp(o->kernel_name_base, words[i]))
            return i;
    return wg_cli_error(-1, "--kernel-name-base is function, demangled or mangled, not \"%s\"", o->kernel_name_base);
}

static bool compile(const struct wg_cli *o, regex_t *re, bool *is_regex)
{
    struct wg_diag d = {0};
    *is_regex = o->kernel_name && !strncmp(o->kernel_name, "regex:", 6);
    if (!*is_regex || wg_pattern(o->kernel_name + 6, re, &d) == WG_OK)
        return true;
    wg_cli_error(0, "--kernel-name: %s", d.text);
    return false;
}

bool wg_cli_launches_check(const struct wg_cli *o)
{
    regex_t re;
    bool is_regex;
    if (base_of(o) < 0)
        return false;
    if (o->kernel_name_base && !o->kernel_name) {
        wg_cli_error(0, "--kernel-name-base is about --kernel-name, which is not given");
        return false;
    }
    if (!compile(o, &re, &is_regex))
        return false;
    if (is_regex)
        regfree(&re);
    return true;
}

static bool matches(const struct wg_cli *o, const regex_t *re, int base, const struct wg_launch_result *l)
{
    char *function = malloc(strlen(l->kernel) + 1);
    if (function)
        wg_kernel_function(function, strlen(l->kernel) + 1, l->kernel);
    const char *names[] = {function && *function ? function : l->mangled, *l->kernel ? l->kernel : l->mangled,
                           l->mangled};
    bool yes = false;
    for (int b = FUNCTION; b <= MANGLED; b++)
        if (base == b || base == ANY_NAME)
            yes |= re ? !regexec(re, names[b - 1], 0, NULL, 0) : !strcmp(o->kernel_name, names[b - 1]);
    free(function);
    return yes;
}

int wg_cli_none_selected(const struct wg_cli *o, const struct wg_profile *p)
{
    enum { MOST = 64 };
    char *names[MOST], near[512] = "";
    size_t n = 0;
    for (size_t i = 0; o->kernel_name && i < p->nlaunches && n < MOST; i++) {
        const char *s = *p->launches[i].kernel ? p->launches[i].kernel : p->launches[i].mangled;
        size_t k = 0;
        char *f = malloc(strlen(s) + 1);
        if (!f)
            break;
        wg_kernel_function(f, strlen(s) + 1, s);
        while (k < n && strcmp(names[k], f))
            k++;
        if (k < n)
            free(f);
        else
            names[n++] = f;
    }
    if (n) {
        const char *word = o->kernel_name + (strncmp(o->kernel_name, "regex:", 6) ? 0 : 6);
        wg_gpu_nearest(word, (const char *const *)names, n, 3, near, sizeof near);
        for (size_t i = 0; !*near && i < n && i < 3; i++) /* nothing is like it: name some that there are */
            snprintf(near + strlen(near), sizeof near - strlen(near), "%s%.100s", i ? ", " : "", names[i]);
    }
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    return wg_cli_error(WG_EXIT_USAGE, "none of the %zu launches is selected%s%s", p->nlaunches,
                        *near ? "; there are kernels " : "", near);
}

struct wg_profile wg_cli_select(const struct wg_cli *o, const struct wg_profile *p, struct wg_launch_result *v)
{
    regex_t re;
    bool is_regex;
    int base = base_of(o);
    struct wg_profile q = *p;
    size_t skipped = 0;
    q.launches = v;
    q.nlaunches = 0;
    if (base < 0 || !compile(o, &re, &is_regex))
        return q;
    for (size_t i = o->launch_skip_before_match; i < p->nlaunches; i++) {
        if (o->kernel_name && !matches(o, is_regex ? &re : NULL, base, &p->launches[i]))
            continue;
        if (skipped < o->launch_skip)
            skipped++;
        else if (!o->has_launch_count || q.nlaunches < o->launch_count)
            v[q.nlaunches++] = p->launches[i];
    }
    if (is_regex)
        regfree(&re);
    return q;
}
