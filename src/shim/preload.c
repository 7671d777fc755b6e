/* preload.c - for programs with the CUDA runtime linked in: leads its public functions to our library at load.
 *
 * Preloaded by the warpgrind command. Before the program's own constructors run, the program's symbol table is read and
 * the first bytes of every public runtime function in it become a jump to the function of that name in our libcudart of
 * the same major version, as Valgrind redirects malloc. A public function that even our table does not know becomes a
 * stub that names it. Programs without such functions are left alone. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Jump to a 64-bit address: its size, and how to write it. */
#if defined(__x86_64__)
enum { JUMP = 14, STUB = 32 };
static void write_jump(unsigned char *at, uint64_t to)
{
    memcpy(at, (unsigned char[]){0xff, 0x25, 0, 0, 0, 0}, 6); /* jmp *[next] */
    memcpy(at + 6, &to, 8);
}
static void write_stub(unsigned char *at, const char *name, uint64_t to)
{
    const uint64_t text = (uint64_t)(uintptr_t)name;
    memcpy(at, (unsigned char[]){0x48, 0xbf}, 2); /* mov rdi, name */
    memcpy(at + 2, &text, 8);
    write_jump(at + 10, to);
}
#elif defined(__aarch64__)
enum { JUMP = 16, STUB = 40 };
static void write_jump(unsigned char *at, uint64_t to)
{
    memcpy(at, (uint32_t[]){0x58000050, 0xd61f0200}, 8); /* ldr x16, [pc + 8]; br x16 */
    memcpy(at + 8, &to, 8);
}
static void write_stub(unsigned char *at, const char *name, uint64_t to)
{
    const uint64_t text = (uint64_t)(uintptr_t)name;
    memcpy(at, (uint32_t[]){0x580000c0}, 4); /* ldr x0, [pc + 24] */
    memcpy(at + 4, (uint32_t[]){0xd503201f}, 4); /* nop, to keep the address aligned */
    write_jump(at + 8, to);
    memcpy(at + 24, &text, 8);
}
#else
#error "this processor's jump is not known here"
#endif

/* The file of this process, mapped, and its symbol table. */
struct program {
    const char *map;
    size_t size;
    const Elf64_Sym *syms;
    size_t nsyms;
    const char *names;
    size_t names_size;
    uint64_t base; /* where it was loaded, minus where it was linked to be */
};

static bool inside(const struct program *p, uint64_t at, uint64_t n) { return at <= p->size && n <= p->size - at; }

static bool find_symbols(struct program *p)
{
    const Elf64_Ehdr *e = (const void *)p->map;
    if (p->size < sizeof *e || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 || e->e_ident[EI_CLASS] != ELFCLASS64 ||
        e->e_shentsize != sizeof(Elf64_Shdr) || !inside(p, e->e_shoff, (uint64_t)e->e_shnum * sizeof(Elf64_Shdr)))
        return false;
    const Elf64_Shdr *sh = (const void *)(p->map + e->e_shoff);
    for (unsigned i = 0; i < e->e_shnum; i++) {
        if (sh[i].sh_type != SHT_SYMTAB || sh[i].sh_link >= e->e_shnum || !inside(p, sh[i].sh_offset, sh[i].sh_size))
            continue;
        const Elf64_Shdr *str = &sh[sh[i].sh_link];
        if (!inside(p, str->sh_offset, str->sh_size) || str->sh_size == 0 ||
            p->map[str->sh_offset + str->sh_size - 1] != 0)
            continue;
        p->syms = (const void *)(p->map + sh[i].sh_offset);
        p->nsyms = sh[i].sh_size / sizeof(Elf64_Sym);
        p->names = p->map + str->sh_offset;
        p->names_size = str->sh_size;
        return true;
    }
    return false;
}

static int first_object(struct dl_phdr_info *info, size_t size, void *base)
{
    (void)size;
    *(uint64_t *)base = info->dlpi_addr; /* the program itself comes first */
    return 1;
}

static bool open_program(struct program *p)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && st.st_size > 0) {
        p->size = (size_t)st.st_size;
        p->map = mmap(NULL, p->size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    close(fd);
    if (!p->map || p->map == MAP_FAILED)
        return false;
    dl_iterate_phdr(first_object, &p->base);
    return true;
}

static const char *function_name(const struct program *p, const Elf64_Sym *y)
{
    if (ELF64_ST_TYPE(y->st_info) != STT_FUNC || y->st_shndx == SHN_UNDEF || !y->st_value ||
        y->st_name >= p->names_size)
        return NULL;
    const char *n = p->names + y->st_name, *rest = n + (strncmp(n, "__", 2) == 0 ? 2 : 0);
    return strncmp(rest, "cuda", 4) == 0 && rest[4] >= 'A' && rest[4] <= 'Z' ? n : NULL;
}

static bool defines(const struct program *p, const char *name)
{
    for (size_t i = 0; i < p->nsyms; i++) {
        const char *n = function_name(p, &p->syms[i]);
        if (n && strcmp(n, name) == 0)
            return true;
    }
    return false;
}

/* Names that came and went tell which runtime was linked in. */
static const char *runtime_of(const struct program *p)
{
    if (!defines(p, "__cudaRegisterFatBinary") || !defines(p, "cudaLaunchKernel"))
        return NULL;
    if (defines(p, "cudaBindTexture"))
        return "libcudart.so.11.0";
    return defines(p, "cudaThreadSynchronize") ? "libcudart.so.12" : "libcudart.so.13";
}

static void *open_ours(const char *soname)
{
    char path[PATH_MAX];
    Dl_info self;
    if (!dladdr((void *)(uintptr_t)open_ours, &self) || !self.dli_fname)
        return NULL;
    const char *slash = strrchr(self.dli_fname, '/');
    snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - self.dli_fname + 1) : 0, self.dli_fname, soname);
    void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!h)
        fprintf(stderr, "warpgrind: %s\n", dlerror());
    return h;
}

/* The function of ours with that name; NULL also when the name resolves into another library. */
static void *ours_named(void *lib, const char *name)
{
    Dl_info at, anchor;
    void *f = dlsym(lib, name), *known = dlsym(lib, "cudaGetLastError");
    if (!f || !known || !dladdr(f, &at) || !dladdr(known, &anchor) || at.dli_fbase != anchor.dli_fbase)
        return NULL;
    return f;
}

static int unknown_call(const char *name)
{
    fprintf(stderr, "warpgrind: %s is not supported: newer than our list of runtime calls\n", name);
    return 801; /* cudaErrorNotSupported */
}

static bool overwrite(uint64_t at, uint64_t to)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from = at / page * page,
                   bytes = (at + JUMP - from + page - 1) / page * page;
    if (mprotect((void *)(uintptr_t)from, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return false;
    write_jump((unsigned char *)(uintptr_t)at, to);
    __builtin___clear_cache((char *)(uintptr_t)at, (char *)(uintptr_t)(at + JUMP));
    return mprotect((void *)(uintptr_t)from, bytes, PROT_READ | PROT_EXEC) == 0;
}

struct target { uint64_t at, size; const char *name; void *to; };

static int by_address(const void *a, const void *b)
{
    const struct target *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Every public function of the linked-in runtime, by address. Names that we lack count only between those we know, so
 * that a function of the program's own that happens to be called cudaSomething stays. */
static size_t collect(const struct program *p, void *lib, struct target *t)
{
    size_t n = 0, kept = 0;
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < p->nsyms; i++) {
        const char *name = function_name(p, &p->syms[i]);
        if (!name)
            continue;
        t[n] = (struct target){p->syms[i].st_value + p->base, p->syms[i].st_size, name, ours_named(lib, name)};
        if (t[n].to && ELF64_ST_BIND(p->syms[i].st_info) != STB_LOCAL) {
            low = t[n].at < low ? t[n].at : low;
            high = t[n].at > high ? t[n].at : high;
        }
        n++;
    }
    for (size_t i = 0; i < n; i++)
        if (t[i].to || (t[i].at > low && t[i].at < high))
            t[kept++] = t[i];
    qsort(t, kept, sizeof *t, by_address);
    return kept;
}

static bool redirect(const struct program *p, void *lib)
{
    struct target *t = calloc(p->nsyms, sizeof *t);
    const size_t n = t ? collect(p, lib, t) : 0;
    unsigned char *stubs = MAP_FAILED;
    bool ok = n > 0;
    if (ok)
        stubs = mmap(NULL, n * STUB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ok = stubs != MAP_FAILED;
    for (size_t i = 0; ok && i < n; i++) {
        if (i && t[i].at == t[i - 1].at) /* two names of one function */
            continue;
        const uint64_t next = i + 1 < n && t[i + 1].at != t[i].at ? t[i + 1].at : UINT64_MAX;
        /* Functions start at multiples of 16, so a short one has room behind it; next makes sure. */
        if (t[i].size < JUMP && (t[i].at % 16 != 0 || next - t[i].at < JUMP)) {
            fprintf(stderr, "warpgrind: %s is too short to be redirected\n", t[i].name);
            ok = false;
            break;
        }
        uint64_t to = (uint64_t)(uintptr_t)t[i].to;
        if (!to) {
            to = (uint64_t)(uintptr_t)(stubs + i * STUB);
            write_stub(stubs + i * STUB, t[i].name, (uint64_t)(uintptr_t)unknown_call);
        }
        ok = overwrite(t[i].at, to);
        if (!ok)
            fprintf(stderr, "warpgrind: %s cannot be redirected: %s\n", t[i].name, strerror(errno));
    }
    if (stubs != MAP_FAILED)
        ok = mprotect(stubs, n * STUB, PROT_READ | PROT_EXEC) == 0 && ok;
    free(t);
    return ok;
}

/* A program with device code in it, whose runtime is neither a library nor to be found in its symbols: with
 * --trace-children nobody has looked into it before. */
static bool hidden_runtime(const struct program *p)
{
    const Elf64_Ehdr *e = (const void *)p->map;
    if (!p->map || p->map == MAP_FAILED || p->size < sizeof *e || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 ||
        e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_shstrndx >= e->e_shnum ||
        !inside(p, e->e_shoff, (uint64_t)e->e_shnum * sizeof(Elf64_Shdr)))
        return false;
    const Elf64_Shdr *sh = (const void *)(p->map + e->e_shoff), *names = &sh[e->e_shstrndx];
    bool code = false;
    for (unsigned i = 0; i < e->e_shnum; i++)
        if (sh[i].sh_name < names->sh_size && inside(p, names->sh_offset, names->sh_size) &&
            p->map[names->sh_offset + names->sh_size - 1] == 0)
            code |= strcmp(p->map + names->sh_offset + sh[i].sh_name, ".nv_fatbin") == 0;
    return code && !dlsym(RTLD_DEFAULT, "cudaGetLastError");
}

/* The mapped file stays: stubs point to names in it. A program that cannot be led to us must not run on a GPU runtime
 * that finds no GPU, or half of it here and half there. */
__attribute__((constructor)) static void at_start(void)
{
    struct program p = {0};
    const char *soname = open_program(&p) && find_symbols(&p) ? runtime_of(&p) : NULL;
    if (!soname) {
        if (hidden_runtime(&p)) {
            fprintf(stderr, "warpgrind: %s holds device code, but its symbol table was stripped, so that the CUDA "
                            "runtime inside it cannot be replaced; build it with -cudart shared\n",
                    program_invocation_short_name);
            _exit(127);
        }
        return;
    }
    void *lib = open_ours(soname);
    if (!lib || !redirect(&p, lib)) {
        fprintf(stderr, "warpgrind: the CUDA runtime inside this program cannot be replaced; build it with "
                        "-cudart shared\n");
        _exit(127);
    }
}
