/* cmd_ops.c - lists the PTX operations, from the table of them. */
#include "cli/cli.h"
#include "isa/isa.h"
#include <string.h>

static const char *const group_names[] = {"arithmetic", "conversion", "move", "memory", "atomic", "warp", "flow", "barrier",
                                          "async copy", "matrix", "texture", "video"};

int wg_cmd_ops(const struct wg_cli *o)
{
    if (o->rest.n > 1)
        return wg_cli_error(WG_EXIT_USAGE, "ops takes one text to look for");
    const char *want = o->rest.n ? o->rest.v[0] : "";
    size_t shown = 0;
    for (int i = 0; i < WG_OP_COUNT; i++) {
        const struct wg_op_info *p = &wg_op_infos[i];
        if (!strstr(p->text, want))
            continue;
        if (!shown++)
            printf("%-30s %-12s %s\n", "operation", "group", "operands");
        printf("%-30s %-12s %s\n", p->text, group_names[p->group], p->shape);
    }
    if (!shown)
        return wg_cli_error(WG_EXIT_USAGE, "no operation contains \"%s\"", want);
    printf("\n%zu operations. Operands: d destination, p destination predicate, a source, q source predicate, m memory,\n"
           "l label, f function, * a call's lists; ? after an optional one.\n", shown);
    return 0;
}
