/* demangle.c - readable names through the C++ runtime where the process has one, else the mangled name. */
#include "exec/demangle.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

const char *wg_demangle(struct wg_arena *a, const char *name)
{
    typedef char *(*demangle_fn)(const char *, char *, size_t *, int *);
    if (name[0] != '_' || name[1] != 'Z')
        return name;
    demangle_fn fn = (demangle_fn)dlsym(RTLD_DEFAULT, "__cxa_demangle");
    void *lib = NULL;
    if (!fn && (lib = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL)))
        fn = (demangle_fn)dlsym(lib, "__cxa_demangle");
    int status = -1;
    char *s = fn ? fn(name, NULL, NULL, &status) : NULL;
    const char *r = s && status == 0 ? wg_arena_str(a, s, strlen(s)) : name;
    free(s);
    return r ? r : name;
}
