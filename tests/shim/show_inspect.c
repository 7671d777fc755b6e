/* show_inspect.c - prints what wg_inspect_file found in each file named on the command line. */
#include "shim/inspect.h"
#include <stdio.h>

int main(int argc, char **argv)
{
    static const char *const ways[] = {"none", "shared", "redirect", "plain"};
    for (int i = 1; i < argc; i++) {
        struct wg_inspect o;
        char text[1024] = "";
        if (wg_inspect_file(argv[i], &o, text, sizeof text) != WG_OK) {
            printf("error %s\n", text);
            continue;
        }
        wg_inspect_advice(&o, argv[i], text, sizeof text);
        printf("%s runtime=%s inside=%d stripped=%d ptx=%u machine=%u driver=%d %s\n", ways[o.way],
               *o.runtime ? o.runtime : "-", o.runtime_inside, o.stripped, o.nptx, o.nmachine, o.driver_api, text);
    }
    return 0;
}
