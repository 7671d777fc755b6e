/* inspect.c - reads an executable's ELF sections for the CUDA runtime and device code in it. */
#include "shim/inspect.h"
#include "ptx/fatbin.h"
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void look_at_images(struct wg_inspect *o, const char *p, size_t n)
{
    for (size_t at = wg_fatbin_find(p, n, 0); at < n;) {
        const size_t bytes = wg_fatbin_size(p + at, n - at);
        struct wg_fatbin_image im;
        size_t next = 0;
        if (!bytes || bytes > n - at)
            return;
        while (wg_fatbin_next(p + at, bytes, &next, &im, NULL) == WG_OK) {
            o->has_code = true;
            if (im.kind == WG_FATBIN_PTX) {
                o->nptx++;
                o->newest_ptx = im.arch > o->newest_ptx ? im.arch : o->newest_ptx;
                o->oldest_ptx = o->oldest_ptx == 0 || im.arch < o->oldest_ptx ? im.arch : o->oldest_ptx;
            } else {
                o->nmachine++;
                o->newest_machine = im.arch > o->newest_machine ? im.arch : o->newest_machine;
            }
        }
        at = wg_fatbin_find(p, n, at + bytes);
    }
}

/* Libraries that bring kernels of their own as machine code, or talk to the driver by private ways. */
static bool is_nvidia(const char *name)
{
    static const char *const names[] = {"libcublasXt", "libcurand", "libcufft", "libcusparse", "libcusolver", "libcudnn",
                                        "libnccl", "libnpp", "libnvjpeg", "libnvrtc", "libcutensor", "libnvJitLink"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static void look_at_needs(struct wg_inspect *o, Elf *e, Elf_Scn *scn, const GElf_Shdr *sh)
{
    Elf_Data *d = elf_getdata(scn, NULL);
    GElf_Dyn y;
    for (int i = 0; d && gelf_getdyn(d, i, &y); i++) {
        const char *name = y.d_tag == DT_NEEDED ? elf_strptr(e, sh->sh_link, y.d_un.d_val) : NULL;
        if (name && strncmp(name, "libcudart.so", 12) == 0)
            snprintf(o->runtime, sizeof o->runtime, "%s", name);
        else if (name && strncmp(name, "libcuda.so", 10) == 0)
            o->driver_api = true;
        else if (name && is_nvidia(name) && !*o->library)
            snprintf(o->library, sizeof o->library, "%s", name);
    }
}

static void look_at_symbols(struct wg_inspect *o, Elf *e, Elf_Scn *scn, const GElf_Shdr *sh)
{
    Elf_Data *d = elf_getdata(scn, NULL);
    GElf_Sym y;
    bool launch = false, v11 = false, v12 = false;
    for (int i = 0; d && gelf_getsym(d, i, &y); i++) {
        const char *name = y.st_shndx != SHN_UNDEF && GELF_ST_TYPE(y.st_info) == STT_FUNC
                               ? elf_strptr(e, sh->sh_link, y.st_name)
                               : NULL;
        if (!name)
            continue;
        launch |= strcmp(name, "cudaLaunchKernel") == 0;
        v11 |= strcmp(name, "cudaBindTexture") == 0;
        v12 |= strcmp(name, "cudaThreadSynchronize") == 0;
    }
    if (launch && !*o->runtime) {
        o->runtime_inside = true;
        snprintf(o->runtime, sizeof o->runtime, "%s",
                 v11 ? "libcudart.so.11.0" : v12 ? "libcudart.so.12" : "libcudart.so.13");
    }
}

static void look_at_sections(struct wg_inspect *o, Elf *e)
{
    size_t names;
    bool symbols = false;
    if (elf_getshdrstrndx(e, &names) != 0)
        return;
    for (int pass = 0; pass < 2; pass++) /* what it needs first: a shared runtime makes symbols uninteresting */
        for (Elf_Scn *scn = NULL; (scn = elf_nextscn(e, scn));) {
            GElf_Shdr sh;
            if (!gelf_getshdr(scn, &sh))
                continue;
            const char *name = elf_strptr(e, names, sh.sh_name);
            if (pass == 0 && sh.sh_type == SHT_DYNAMIC) {
                look_at_needs(o, e, scn, &sh);
            } else if (pass == 1 && sh.sh_type == SHT_SYMTAB) {
                symbols = true;
                look_at_symbols(o, e, scn, &sh);
            } else if (pass == 1 && name && (strcmp(name, ".nv_fatbin") == 0 || strcmp(name, "__nv_relfatbin") == 0)) {
                Elf_Data *d = elf_rawdata(scn, NULL);
                if (d && d->d_buf)
                    look_at_images(o, d->d_buf, d->d_size);
            }
        }
    o->stripped = !symbols;
}

static bool is_ours(const char *runtime)
{
    return strcmp(runtime, "libcudart.so.11.0") == 0 || strcmp(runtime, "libcudart.so.12") == 0 ||
           strcmp(runtime, "libcudart.so.13") == 0;
}

static void decide(struct wg_inspect *o)
{
    o->way = WG_WAY_NONE;
    if (!o->elf)
        o->wrong = "it is not an ELF executable";
    else if (o->damaged)
        o->wrong = "the file ends before its section headers";
    else if (!o->executable)
        o->wrong = "it is built for another machine, or is no program";
    else if (o->has_code && !o->has_interpreter)
        o->wrong = "it is linked statically as a whole, so no library of ours can be loaded into it";
    else if (o->has_code && !*o->runtime && o->stripped)
        o->wrong = "the CUDA runtime is linked in and the symbol table was stripped";
    else if (*o->runtime && !is_ours(o->runtime))
        o->wrong = "it needs a version of the CUDA runtime that we do not stand in for";
    else if (o->has_code && !o->nptx)
        o->wrong = "it holds machine code but no PTX";
    else if (*o->runtime)
        o->way = o->runtime_inside ? WG_WAY_REDIRECT : WG_WAY_SHARED;
    else
        o->way = WG_WAY_PLAIN;
}

enum wg_status wg_inspect_file(const char *path, struct wg_inspect *o, char *err, size_t n)
{
    static const struct { const char *machine; unsigned id; } here =
#if defined(__x86_64__)
        {"x86-64", EM_X86_64};
#elif defined(__aarch64__)
        {"aarch64", EM_AARCH64};
#else
        {"unknown", EM_NONE};
#endif
    *o = (struct wg_inspect){0};
    elf_version(EV_CURRENT);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf *e = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (!e) {
        snprintf(err, n, "%s: %s", path, fd < 0 ? strerror(errno) : elf_errmsg(-1));
        if (fd >= 0)
            close(fd);
        return WG_IO;
    }
    GElf_Ehdr eh;
    o->elf = elf_kind(e) == ELF_K_ELF && gelf_getehdr(e, &eh);
    if (o->elf) {
        size_t segments = 0;
        o->executable = (eh.e_type == ET_EXEC || eh.e_type == ET_DYN) && eh.e_machine == here.id;
        elf_getphdrnum(e, &segments);
        for (size_t i = 0; i < segments; i++) {
            GElf_Phdr ph;
            o->has_interpreter |= gelf_getphdr(e, (int)i, &ph) && ph.p_type == PT_INTERP;
        }
        struct stat st;
        const uint64_t headers = eh.e_shoff + (uint64_t)eh.e_shnum * eh.e_shentsize;
        o->damaged = fstat(fd, &st) != 0 || headers > (uint64_t)st.st_size;
        if (!o->damaged)
            look_at_sections(o, e);
    }
    elf_end(e);
    close(fd);
    decide(o);
    return WG_OK;
}

void wg_inspect_advice(const struct wg_inspect *o, const char *path, char *buf, size_t n)
{
    *buf = 0;
    if (o->way != WG_WAY_NONE)
        return;
    int k = snprintf(buf, n, "%s cannot be run here: %s", path, o->wrong);
    if (k < 0 || (size_t)k >= n)
        return;
    buf += k;
    n -= (size_t)k;
    if (o->has_code && (o->stripped || !o->has_interpreter || (*o->runtime && !is_ours(o->runtime))))
        snprintf(buf, n, "; build it with CUDA 11, 12 or 13 and the option -cudart shared");
    else if (o->has_code && !o->nptx)
        snprintf(buf, n, " (for sm_%u); build it with -gencode arch=compute_%u,code=compute_%u, or simply -arch=sm_%u",
                 o->newest_machine, o->newest_machine, o->newest_machine, o->newest_machine);
}
