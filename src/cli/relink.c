/* relink.c - what nvcc's linker would add to a program of several -rdc units: one registration of all of them. */
#include "cli/relink.h"
#include <stdlib.h>
#include <string.h>

/* clang gives each object a call of its own, of a function that nobody defines: this and a number. */
static const char prefix[] = "__cudaRegisterLinkedBinary__nv_";

/* The name in the object's table of strings; false: it has no device code. */
static bool name_in(const char *object, char *out, size_t n)
{
    FILE *f = fopen(object, "re");
    char *text = NULL;
    size_t size = 0;
    bool found = false;
    if (!f)
        return false;
    FILE *to = open_memstream(&text, &size);
    char part[65536];
    for (size_t k; to && (k = fread(part, 1, sizeof part, f)) > 0;)
        fwrite(part, 1, k, to);
    fclose(f);
    if (to && !fclose(to)) {
        const char *at = memmem(text, size, prefix, sizeof prefix - 1);
        const size_t rest = at ? size - (size_t)(at - text) : 0;
        found = at && strnlen(at, rest) < rest && strlen(at) < n;
        if (found)
            strcpy(out, at);
    }
    free(text);
    return found;
}

static const char head[] =
    "/* the registration of all device code of this program */\n"
    "struct binary { int magic, version; const void *data; const void *const *units; };\n"
    "typedef void (*callback)(void **);\n"
    "extern void **__cudaRegisterFatBinary(const struct binary *);\n"
    "extern void __cudaRegisterFatBinaryEnd(void **);\n"
    "extern void __cudaUnregisterFatBinary(void **);\n"
    "extern int atexit(void (*)(void));\n"
    "/* a container with nothing in it: the loader joins the units instead */\n"
    "static const struct { unsigned magic; unsigned short version, header; unsigned long long bytes; }\n"
    "    none __attribute__((aligned(8))) = {0xba55ed50u, 1, 16, 0};\n";
static const char tail[] =
    "static callback calls[COUNT];\n"
    "static const void *units[COUNT + 1];\n"
    "static const struct binary all = {0x466243b1, 2, &none, units};\n"
    "static int count;\n"
    "static void **handle;\n"
    "static void leave(void) { __cudaUnregisterFatBinary(handle); }\n"
    "static void add(callback f, const struct binary *b)\n"
    "{\n"
    "    calls[count] = f;\n"
    "    units[count++] = b->data;\n"
    "    if (count < COUNT)\n"
    "        return;\n"
    "    handle = __cudaRegisterFatBinary(&all);\n"
    "    for (int i = 0; i < COUNT; i++)\n"
    "        calls[i](handle);\n"
    "    __cudaRegisterFatBinaryEnd(handle);\n"
    "    atexit(leave);\n"
    "}\n";

enum wg_status wg_relink(const char *const *objects, size_t n, const char *path)
{
    FILE *f = fopen(path, "we");
    char name[128];
    size_t units = 0;
    if (!f)
        return WG_IO;
    for (size_t i = 0; i < n; i++)
        units += name_in(objects[i], name, sizeof name);
    fputs(head, f);
    if (units) {
        fprintf(f, "enum { COUNT = %zu };\n%s", units, tail);
        for (size_t i = 0; i < n; i++)
            if (name_in(objects[i], name, sizeof name))
                fprintf(f, "void %s(callback f, const struct binary *b, const char *id, callback unused)\n"
                           "{\n    (void)id, (void)unused;\n    add(f, b);\n}\n", name);
    }
    return fclose(f) ? WG_IO : WG_OK;
}
