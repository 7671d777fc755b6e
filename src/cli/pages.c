/* pages.c - reads the options that ask for a page in Nsight Compute's form. */
#include "cli/cli.h"
#include "report/ncu.h"
#include <string.h>

bool wg_cli_wants_page(const struct wg_cli *o)
{
    return o->page || o->csv || o->metrics.n || o->section.n || o->set.n || o->print_units || o->print_metric_name ||
           o->print_kernel_base;
}

/* Index of a word among n; -1 after a message. */
static int word(const char *option, const char *s, const char *const *words, unsigned n)
{
    char all[128] = "";
    for (unsigned i = 0; i < n; i++) {
        if (!strcmp(s, words[i]))
            return (int)i;
        size_t k = strlen(all);
        snprintf(all + k, sizeof all - k, "%s%s", i == 0 ? "" : i + 1 == n ? " or " : ", ", words[i]);
    }
    return wg_cli_error(-1, "--%s is %s, not \"%s\"", option, all, s);
}

static bool select(const struct wg_cli *o, struct wg_arena *a, struct wg_selection *s)
{
    struct wg_diag d = {0};
    const struct wg_select_request rq = {o->metrics.n, o->section.n, o->set.n, o->metrics.v, o->section.v, o->set.v};
    if (wg_select(&rq, a, s, &d) == WG_OK)
        return true;
    wg_cli_error(0, "%s", d.text);
    return false;
}

bool wg_cli_page(const struct wg_cli *o, struct wg_arena *a, struct wg_ncu_style *style)
{
    static const char *const units[] = {"auto", "base"};
    int page = o->page ? word("page", o->page, wg_ncu_pages, WG_NCU_PAGES) : WG_NCU_DETAILS;
    int unit = o->print_units ? word("print-units", o->print_units, units, 2) : 0;
    int label =
        o->print_metric_name ? word("print-metric-name", o->print_metric_name, wg_ncu_labels, WG_NCU_LABELS) : 0;
    int base = o->print_kernel_base ? word("print-kernel-base", o->print_kernel_base, wg_ncu_bases, WG_NCU_BASES) : 0;
    struct wg_selection *s = wg_arena_alloc(a, sizeof *s);
    if (page < 0 || unit < 0 || label < 0 || base < 0)
        return false;
    if (page == WG_NCU_RAW && o->print_metric_name) {
        wg_cli_error(0, "--print-metric-name is about the details and source pages; the raw page has names only");
        return false;
    }
    if (!s)
        return wg_cli_error(0, "out of memory");
    *style = (struct wg_ncu_style){.page = (enum wg_ncu_page)page,
                                   .label = (enum wg_ncu_label)label,
                                   .has_label = o->print_metric_name != NULL,
                                   .kernel = (enum wg_ncu_base)base,
                                   .csv = o->csv,
                                   .base_units = unit,
                                   .selection = s};
    return select(o, a, s);
}

bool wg_cli_page_check(const struct wg_cli *o)
{
    struct wg_arena a = {0};
    struct wg_ncu_style style;
    bool ok = wg_cli_page(o, &a, &style);
    wg_arena_free(&a);
    if (ok && wg_cli_wants_page(o) && (o->quiet || o->verbose)) {
        wg_cli_error(0, "--%s is about the report; a page was asked for", o->quiet ? "quiet" : "verbose");
        return false;
    }
    return ok;
}

int wg_cli_list(const struct wg_cli *o)
{
    if (!o->query_metrics && !o->list_sections && !o->list_sets && !o->list_rules)
        return -1;
    if (o->rest.n || o->import)
        return wg_cli_error(WG_EXIT_USAGE, "--%s needs no program and no file",
                            o->query_metrics   ? "query-metrics"
                            : o->list_sections ? "list-sections"
                            : o->list_sets     ? "list-sets"
                                               : "list-rules");
    struct wg_arena a = {0};
    struct wg_selection s;
    bool ok = select(o, &a, &s);
    if (ok && o->query_metrics)
        wg_list_metrics(stdout, &s, o->csv);
    if (ok && o->list_sections)
        wg_list_sections(stdout);
    if (ok && o->list_sets)
        wg_list_sets(stdout);
    if (ok && o->list_rules)
        wg_list_rules(stdout);
    wg_arena_free(&a);
    if (ok && fflush(stdout))
        return wg_cli_error(WG_EXIT_OUTPUT, "cannot write the list");
    return ok ? WG_EXIT_OK : WG_EXIT_USAGE;
}
