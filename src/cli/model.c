/* model.c - what the options of the models of caches and time ask for. */
#include "cli/cli.h"
#include <stdlib.h>
#include <string.h>

bool wg_cli_model(const struct wg_cli *o, bool *models, bool *keep, unsigned *level)
{
    const char *c = o->cache_control, *s = o->sample;
    *models = o->model;
    *keep = c && !strcmp(c, "none");
    *level = 0;
    if (c && strcmp(c, "all") && strcmp(c, "none")) {
        wg_cli_error(0, "--cache-control is all or none, not \"%s\"", c);
        return false;
    }
    if (o->model && o->no_counters) {
        wg_cli_error(0, "--model needs what --no-counters leaves out");
        return false;
    }
    if ((c || s) && !o->model) {
        wg_cli_error(0, "%s is for --model", c ? "--cache-control" : "--sample");
        return false;
    }
    if (!s || !strcmp(s, "auto"))
        return true;
    if (!strcmp(s, "all")) {
        *level = 1;
        return true;
    }
    uint64_t part = 0;
    double share = 0;
    char *end;
    if (!strncmp(s, "1/", 2) && wg_cli_number(s + 2, &part) && part) {
        share = 1.0 / (double)part;
    } else {
        share = strtod(s, &end);
        share = *end || end == s ? 0 : share;
    }
    if (!(share > 0 && share <= 1)) {
        wg_cli_error(0, "--sample is auto, all or a share such as 1/8, not \"%s\"", s);
        return false;
    }
    for (*level = 1; *level < 7 && share < 0.75; share *= 2) /* the nearest power of two */
        ++*level;
    return true;
}
