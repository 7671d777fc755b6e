/* place.c - where in the program a CUDA call is made: the return addresses outside this library, as file and offset. */
#include "shim/place.h"
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <execinfo.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { DEEP = 32, SHOWN = 6 };

/* The program's own file is known to the loader by the name it was called with, which may be anything. */
static const char *file_of(const Dl_info *d, char *self, size_t n)
{
    if (strcmp(d->dli_fname, program_invocation_name) != 0)
        return d->dli_fname;
    ssize_t k = readlink("/proc/self/exe", self, n - 1);
    if (k <= 0)
        return d->dli_fname;
    self[k] = 0;
    return self;
}

static bool ours(const Dl_info *d, const Dl_info *self)
{
    const char *name = strrchr(d->dli_fname, '/');
    return d->dli_fbase == self->dli_fbase || strncmp(name ? name + 1 : d->dli_fname, "libwarpgrind", 12) == 0;
}

void wg_place_here(char *out, size_t n)
{
    void *at[DEEP];
    char exe[1024];
    Dl_info self, d;
    size_t len = 0;
    int frames = backtrace(at, DEEP), shown = 0;
    *out = 0;
    if (!dladdr((void *)(uintptr_t)wg_place_here, &self))
        return;
    for (int k = 0; k < frames && shown < SHOWN; k++) {
        if (!dladdr(at[k], &d) || !d.dli_fname || ours(&d, &self))
            continue;
        const char *name = strrchr(d.dli_fname, '/');
        if (strncmp(name ? name + 1 : d.dli_fname, "libc.so", 7) == 0)
            break; /* what calls main is nobody's doing */
        /* The call is the instruction before the one it returns to. */
        const Elf64_Ehdr *head = d.dli_fbase;
        uintptr_t base = head->e_type == ET_EXEC ? 0 : (uintptr_t)d.dli_fbase;
        int add = snprintf(out + len, n - len, "%sHost Frame: [%s+0x%llx]", len ? "\n" : "", file_of(&d, exe, sizeof exe),
                           (unsigned long long)((uintptr_t)at[k] - 1 - base));
        if (add < 0 || (size_t)add >= n - len) {
            out[len] = 0;
            return;
        }
        len += (size_t)add;
        shown++;
    }
}
