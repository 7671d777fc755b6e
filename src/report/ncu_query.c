/* ncu_query.c - lists what can be asked for: metrics with their trust or why they have no value, sections, sets, rules.
 */
#include "report/ncu_page.h"
#include "report/rules.h"
#include <string.h>

static const char *trust(struct wg_metric_ref r)
{
    return wg_fidelity_name(wg_metric_infos[r.metric].fidelity);
}

static void one(FILE *out, struct wg_metric_ref r, bool csv)
{
    char name[WG_METRIC_NAME_BYTES];
    const char *why = wg_metric_ref_why(r),
               *cells[] = {wg_metric_ref_name(r, name), wg_metric_ref_unit(r), why ? "n/a" : trust(r),
                           why ? why : wg_metric_infos[r.metric].text};
    if (csv) {
        for (unsigned i = 0; i < 4; i++)
            wg_csv_text(out, i == 0, cells[i]);
        fputc('\n', out);
    } else {
        fprintf(out, "%-76s %-15s %-18s %s\n", cells[0], cells[1], cells[2], cells[3]);
    }
}

void wg_list_metrics(FILE *out, const struct wg_selection *s, bool csv)
{
    if (csv)
        fputs("\"Metric Name\",\"Metric Unit\",\"Fidelity\",\"Metric Description\"\n", out);
    else
        fprintf(out, "%-76s %-15s %-18s %s\n", "Metric Name", "Metric Unit", "Fidelity",
                "Metric Description, or why it is n/a");
    for (size_t i = 0; s && s->n && i < s->n; i++)
        one(out, s->v[i].ref, csv);
    for (unsigned m = 0; !(s && s->n) && m < WG_METRIC_COUNT; m++)
        one(out, (struct wg_metric_ref){.metric = (enum wg_metric)m}, csv);
    if (csv || (s && s->n))
        return;
    fputs("\nOf each name in .sum there are also .avg (over all units of the device), and .max and .min, which are "
          "n/a: they need\n"
          "to know which SM runs which block. Groups:",
          out);
    const char *last = "";
    for (size_t i = 0; i < wg_group_row_count; i++)
        if (strcmp(last, wg_group_rows[i].group))
            fprintf(out, " group:%s", last = wg_group_rows[i].group);
    fputc('\n', out);
}

static void sets_of(FILE *out, unsigned sets)
{
    for (unsigned b = 0, k = 0; b < 4; b++)
        if (sets >> b & 1)
            fprintf(out, "%s%s", k++ ? ", " : "", wg_set_names[b]);
    fputc('\n', out);
}

void wg_list_sections(FILE *out)
{
    fprintf(out, "%-32s %-36s %s\n", "Identifier", "Display Name", "Sets");
    for (unsigned i = 0; i < WG_SECTION_COUNT; i++) {
        fprintf(out, "%-32s %-36s ", wg_section_infos[i].id, wg_section_infos[i].name);
        sets_of(out, wg_section_infos[i].sets);
    }
}

void wg_list_sets(FILE *out)
{
    fprintf(out, "%-12s %s\n", "Identifier", "Sections");
    for (unsigned b = 0; b < 4; b++) {
        fprintf(out, "%-12s", wg_set_names[b]);
        for (unsigned i = 0, k = 0; i < WG_SECTION_COUNT; i++)
            if (wg_section_infos[i].sets >> b & 1)
                fprintf(out, "%s%s", k++ ? ", " : " ", wg_section_infos[i].id);
        fputs(b ? "\n" : "  (default)\n", out);
    }
}

void wg_list_rules(FILE *out)
{
    fprintf(out, "%-26s %-30s %s\n", "Identifier", "Section", "Display Name");
    for (size_t i = 0; i < wg_rule_info_count; i++) {
        const struct wg_rule_info *r = &wg_rule_infos[i];
        fprintf(out, "%-26s %-30s %s%s%s\n", r->id, wg_section_infos[r->section].id, r->title,
                r->why ? ": never speaks, " : "", r->why ? r->why : "");
    }
}
