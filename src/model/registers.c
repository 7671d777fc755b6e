/* registers.c - finds and runs ptxas, reads what it says of each kernel, and remembers it on disk. */
#include "model/registers.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

unsigned wg_registers_at_launch(unsigned sm, unsigned registers)
{
    return sm >= 70 && registers < 16 ? 16 : registers;
}

const struct wg_ptxas_kernel *wg_ptxas_kernel(const struct wg_ptxas_info *info, const char *name)
{
    for (size_t i = 0; i < info->n; i++)
        if (strcmp(info->kernels[i].name, name) == 0)
            return &info->kernels[i];
    return NULL;
}

/* ---- finding it
 * ------------------------------------------------------------------------------------------------------ */
static bool runnable(const char *path)
{
    struct stat s;
    return access(path, X_OK) == 0 && stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

static bool found(char *path, size_t n, const char *dir, size_t len, const char *rest)
{
    return len && (size_t)snprintf(path, n, "%.*s%s", (int)len, dir, rest) < n && runnable(path);
}

static bool found_by_glob(char *path, size_t n, const char *dir, const char *rest)
{
    char pattern[PATH_MAX];
    glob_t g;
    bool ok = false;
    if (!dir || (size_t)snprintf(pattern, sizeof pattern, "%s%s", dir, rest) >= sizeof pattern)
        return false;
    if (glob(pattern, 0, NULL, &g) == 0)
        for (size_t i = g.gl_pathc; i-- > 0 && !ok;) /* newest version last */
            ok = strlen(g.gl_pathv[i]) < n && runnable(strcpy(path, g.gl_pathv[i]));
    globfree(&g);
    return ok;
}

enum wg_status wg_ptxas_find(char *path, size_t n)
{
    const char *given = getenv("WARPGRIND_PTXAS");
    if (given && *given) /* named: that one or none */
        return found(path, n, given, strlen(given), "") ? WG_OK : WG_NOT_FOUND;
    for (const char *p = getenv("PATH"); p && *p;) {
        size_t len = strcspn(p, ":");
        if (found(path, n, p, len, "/ptxas"))
            return WG_OK;
        p += len + (p[len] == ':');
    }
    const char *homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda", "/usr/lib/nvidia-cuda-toolkit"};
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++)
        if (homes[i] && found(path, n, homes[i], strlen(homes[i]), "/bin/ptxas"))
            return WG_OK;
    static const char *const wheels[] = {"/nvidia/*/bin/ptxas", "/triton/backends/nvidia/bin/ptxas"};
    static const char *const sites[] = {"/lib/python3*/site-packages", "/lib/python3*/dist-packages",
                                        "/.local/lib/python3*/site-packages"};
    const char *roots[] = {getenv("VIRTUAL_ENV"), getenv("CONDA_PREFIX"), getenv("HOME"), "/usr/local", "/usr"};
    for (size_t r = 0; r < sizeof roots / sizeof *roots; r++)
        for (size_t s = 0; s < 3; s++)
            for (size_t w = 0; w < 2; w++) {
                char rest[128];
                snprintf(rest, sizeof rest, "%s%s", sites[s], wheels[w]);
                if (found_by_glob(path, n, roots[r], rest))
                    return WG_OK;
            }
    return WG_NOT_FOUND;
}

/* ---- what it prints
 * -------------------------------------------------------------------------------------------------- */
/* "... entry function 'name' for ..." or "Function properties for name": the name, NULL if it is neither. */
static const char *after(const char *line, size_t n, const char *key, char quote, size_t *len)
{
    const char *p = line ? memmem(line, n, key, strlen(key)) : NULL;
    if (!p)
        return NULL;
    p += strlen(key);
    const char *end = quote ? memchr(p, quote, (size_t)(line + n - p)) : line + n;
    while (end && !quote && end > p && isspace((unsigned char)end[-1]))
        end--;
    *len = end ? (size_t)(end - p) : 0;
    return end ? p : NULL;
}

/* Each "NUMBER what" of a comma-separated line. */
static void read_numbers(struct wg_ptxas_kernel *k, const char *line, size_t n)
{
    for (const char *p = line, *end = line + n; p < end;) {
        const char *comma = memchr(p, ',', (size_t)(end - p)), *stop = comma ? comma : end;
        const char *d = p;
        while (d < stop && !isdigit((unsigned char)*d))
            d++;
        uint64_t v = 0;
        while (d < stop && isdigit((unsigned char)*d))
            v = v * 10 + (uint64_t)(*d++ - '0');
        size_t rest = (size_t)(stop - d);
#define IS(word) (memmem(d, rest, word, sizeof word - 1) != NULL)
        if (IS(" registers"))
            k->registers = (unsigned)v;
        else if (IS(" barriers"))
            k->barriers = (unsigned)v;
        else if (IS(" bytes spill stores"))
            k->spill_stores = v;
        else if (IS(" bytes spill loads"))
            k->spill_loads = v;
        else if (IS(" bytes stack frame") || IS(" bytes cumulative stack"))
            k->stack = v;
        else if (IS(" bytes smem"))
            k->shared = v;
#undef IS
        p = stop + 1;
    }
}

enum wg_status wg_ptxas_parse(const char *text, size_t len, struct wg_arena *a, struct wg_ptxas_kernel **out, size_t *n)
{
    size_t cap = 0;
    struct wg_ptxas_kernel *k = NULL;
    bool mine = false; /* the properties being told are those of the entry itself, not of a function it calls */
    *n = 0;
    *out = NULL;
    if (!text)
        return WG_OK;
    for (const char *p = text, *end = text + len; p < end;) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        size_t ll = nl ? (size_t)(nl - p) : (size_t)(end - p), nn;
        const char *name = after(p, ll, "ompiling entry function '", '\'', &nn);
        if (name) {
            k = wg_arena_grow(a, k, *n + 1, &cap, sizeof *k);
            char *copy = wg_arena_str(a, name, nn);
            if (!k || !copy)
                return WG_NO_MEMORY;
            k[*n] = (struct wg_ptxas_kernel){.name = copy};
            mine = true;
            ++*n;
        } else if ((name = after(p, ll, "unction properties for ", 0, &nn))) {
            mine = *n && strlen(k[*n - 1].name) == nn && memcmp(k[*n - 1].name, name, nn) == 0;
        } else if (*n && (memmem(p, ll, "Used ", 5) || (mine && memmem(p, ll, " bytes stack frame", 18)))) {
            read_numbers(&k[*n - 1], p, ll);
        }
        p += ll + 1;
    }
    *out = k;
    return WG_OK;
}

/* ---- running it
 * ------------------------------------------------------------------------------------------------------- */
/* Without what warpgrind sets for the program that it runs, which the assembler is not. */
static char **plain_environment(struct wg_arena *a)
{
    size_t n = 0, k = 0;
    while (environ[n])
        n++;
    char **env = wg_arena_alloc(a, (n + 1) * sizeof *env);
    for (size_t i = 0; env && i < n; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", 11) && strncmp(environ[i], "LD_LIBRARY_PATH=", 16) &&
            strncmp(environ[i], "WARPGRIND_OPTIONS=", 18))
            env[k++] = environ[i];
    return env;
}

/* Runs argv, gathers what it prints on both streams into the arena. *code: exit status, or 128 + signal. */
static enum wg_status capture(char *const *argv, struct wg_arena *a, char **text, size_t *len, int *code,
                              struct wg_diag *d)
{
    int fd[2];
    if (pipe2(fd, O_CLOEXEC))
        return wg_diag_set(d, WG_IO, "cannot open a pipe: %s", strerror(errno));
    posix_spawn_file_actions_t act;
    posix_spawn_file_actions_init(&act);
    posix_spawn_file_actions_addopen(&act, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&act, fd[1], 1);
    posix_spawn_file_actions_adddup2(&act, fd[1], 2);
    pid_t pid;
    char **env = plain_environment(a);
    int e = env ? posix_spawn(&pid, argv[0], &act, NULL, argv, env) : ENOMEM;
    posix_spawn_file_actions_destroy(&act);
    close(fd[1]);
    if (e) {
        close(fd[0]);
        return wg_diag_set(d, WG_IO, "cannot run %s: %s", argv[0], strerror(e));
    }
    size_t cap = 0;
    char *buf = NULL;
    *len = 0;
    struct timespec t0;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    bool late = false;
    for (ssize_t got = 1; got > 0;) {
        char part[4096];
        struct pollfd p = {.fd = fd[0], .events = POLLIN};
        if (poll(&p, 1, 200) == 0) {
            struct timespec t1;
            clock_gettime(CLOCK_MONOTONIC, &t1);
            late = t1.tv_sec - t0.tv_sec >= WG_PTXAS_SECONDS;
            if (!late)
                continue;
            kill(pid, SIGKILL);
            break;
        }
        got = read(fd[0], part, sizeof part);
        if (got < 0 && errno == EINTR) {
            got = 1;
            continue;
        }
        if (got > 0) {
            buf = wg_arena_grow(a, buf, *len + (size_t)got, &cap, 1);
            if (!buf)
                break;
            memcpy(buf + *len, part, (size_t)got);
            *len += (size_t)got;
        }
    }
    close(fd[0]);
    int status = 0; /* a program that reaps every child leaves none to us; then what was printed decides */
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (late)
        return wg_diag_set(d, WG_CANCELLED, "%s took more than %d seconds", argv[0], WG_PTXAS_SECONDS);
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    *text = buf ? buf : "";
    return a->failed ? wg_diag_set(d, WG_NO_MEMORY, "out of memory") : WG_OK;
}

static bool write_file(const char *path, const char *text, size_t n)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return false;
    bool ok = fwrite(text, 1, n, f) == n;
    return fclose(f) == 0 && ok;
}

/* The suffix of ".target sm_90a" when the number is ours: such PTX only compiles for that very architecture. */
static void choose_arch(const char *ptx, size_t n, unsigned sm, char arch[16])
{
    char number[16];
    snprintf(arch, 16, "sm_%u", sm % 10000);
    snprintf(number, sizeof number, "sm_%u", sm % 10000);
    const char *t = memmem(ptx, n < 65536 ? n : 65536, ".target", 7);
    const char *s =
        t ? memmem(t, (size_t)(ptx + n - t) < 64 ? (size_t)(ptx + n - t) : 64, number, strlen(number)) : NULL;
    if (s && s + strlen(number) < ptx + n && (s[strlen(number)] == 'a' || s[strlen(number)] == 'f'))
        snprintf(arch, 16, "sm_%u%c", sm % 10000, s[strlen(number)]);
}

/* The whole file, or NULL. */
static char *read_file(const char *path, struct wg_arena *a, size_t *n)
{
    FILE *f = fopen(path, "rb");
    struct stat s;
    char *text = f && fstat(fileno(f), &s) == 0 && s.st_size > 0 ? wg_arena_alloc(a, (size_t)s.st_size) : NULL;
    *n = text ? fread(text, 1, (size_t)s.st_size, f) : 0;
    if (f)
        fclose(f);
    return text;
}

static enum wg_status compile(const char *tool, const char *arch, const char *ptx, size_t n, struct wg_arena *a,
                              char **text, size_t *len, char **code, size_t *code_len, struct wg_diag *d)
{
    const char *tmp = getenv("TMPDIR");
    char dir[PATH_MAX - 16], in[PATH_MAX], object[PATH_MAX], option[32];
    if ((size_t)snprintf(dir, sizeof dir, "%s/warpgrind-XXXXXX", tmp && *tmp ? tmp : "/tmp") >= sizeof dir ||
        !mkdtemp(dir))
        return wg_diag_set(d, WG_IO, "cannot make a temporary folder: %s", strerror(errno));
    snprintf(in, sizeof in, "%s/k.ptx", dir);
    snprintf(object, sizeof object, "%s/k.cubin", dir);
    snprintf(option, sizeof option, "-arch=%s", arch);
    char *argv[] = {(char *)tool, "-v", option, in, "-o", object, "-lineinfo", NULL};
    int failed = 0;
    enum wg_status s = write_file(in, ptx, n) ? capture(argv, a, text, len, &failed, d)
                                              : wg_diag_set(d, WG_IO, "cannot write %s: %s", in, strerror(errno));
    *code = !s && !failed ? read_file(object, a, code_len) : NULL;
    unlink(in);
    unlink(object);
    rmdir(dir);
    if (s || failed == 0)
        return s;
    const char *fatal = memmem(*text, *len, "not defined for option", 22);
    if (fatal || memmem(*text, *len, "is not supported", 16))
        return wg_diag_set(d, WG_UNSUPPORTED, "%s does not compile for %s", tool, arch);
    return wg_diag_set(d, WG_PARSE, "%s -arch=%s failed (%d): %.*s", tool, arch, failed, (int)(*len < 1500 ? *len : 1500),
                       *text);
}

static const char *tool_version(const char *tool, struct wg_arena *a)
{
    struct wg_diag d = {0};
    char *argv[] = {(char *)tool, "--version", NULL}, *text;
    size_t len;
    int code;
    if (capture(argv, a, &text, &len, &code, &d) || code)
        return "";
    const char *v = memmem(text, len, ", V", 3);
    if (!v)
        return "";
    size_t n = 0;
    while (v + 2 + n < text + len && (isalnum((unsigned char)v[2 + n]) || v[2 + n] == '.'))
        n++;
    const char *copy = wg_arena_str(a, v + 2, n);
    return copy ? copy : "";
}

/* ---- remembering
 * ------------------------------------------------------------------------------------------------------ */
static uint64_t mix(uint64_t h, const void *p, size_t n)
{
    const unsigned char *c = p;
    for (size_t i = 0; i < n; i++)
        h = (h ^ c[i]) * 0x100000001b3ull;
    return h ^ h >> 29;
}

/* Where the answer is kept; false when there is no place for it. */
static bool cache_path(char *path, size_t n, const char *tool, const char *arch, const char *ptx, size_t len)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    struct stat s;
    if (stat(tool, &s))
        return false;
    int k;
    if (base && *base == '/')
        k = snprintf(path, n, "%s", base);
    else if (home && *home == '/')
        k = snprintf(path, n, "%s/.cache", home);
    else
        return false;
    uint64_t id[] = {(uint64_t)s.st_size, (uint64_t)s.st_mtim.tv_sec, (uint64_t)s.st_mtim.tv_nsec, len};
    uint64_t h[2] = {0xcbf29ce484222325ull, 0x9e3779b97f4a7c15ull};
    for (unsigned i = 0; i < 2; i++) {
        h[i] = mix(h[i], id, sizeof id);
        h[i] = mix(h[i], tool, strlen(tool));
        h[i] = mix(h[i], arch, strlen(arch));
        h[i] = mix(h[i], ptx, len);
    }
    mkdir(path, 0700);
    if (k < 0 || (size_t)k >= n - 80)
        return false;
    k += snprintf(path + k, n - (size_t)k, "/warpgrind");
    mkdir(path, 0700);
    snprintf(path + k, n - (size_t)k, "/ptxas-%016llx%016llx", (unsigned long long)h[0], (unsigned long long)h[1]);
    return true;
}

static const char cache_head[] = "warpgrind ptxas 2 ";

static bool read_cached_lines(FILE *f, size_t n, struct wg_arena *a, struct wg_ptxas_kernel *k)
{
    struct wg_cubin_line *v = wg_arena_alloc(a, (n + 1) * sizeof *v);
    for (size_t i = 0; v && i < n; i++)
        if (fscanf(f, "%u %hu %hu %hu\n", &v[i].line, &v[i].depth, &v[i].instructions, &v[i].branches) != 4)
            return false;
    k->nlines = n;
    k->lines = v;
    return v != NULL;
}

/* A damaged file is no answer. */
static bool read_cache(const char *path, struct wg_arena *a, struct wg_ptxas_info *info)
{
    FILE *f = fopen(path, "r");
    char line[8192], version[64] = "";
    size_t n = 0, cap = 0;
    bool ok = false;
    if (!f)
        return false;
    if (fgets(line, sizeof line, f) && strncmp(line, cache_head, sizeof cache_head - 1) == 0 &&
        sscanf(line + sizeof cache_head - 1, "%zu %63s", &info->n, version) >= 1 && info->n < 1u << 20) {
        struct wg_ptxas_kernel *k = NULL;
        while (n < info->n && fgets(line, sizeof line, f)) {
            k = wg_arena_grow(a, k, n + 1, &cap, sizeof *k);
            unsigned long long st, ld, stack, shared;
            size_t nlines;
            int at = 0;
            if (!k ||
                sscanf(line, "%u %u %llu %llu %llu %llu %zu %n", &k[n].registers, &k[n].barriers, &st, &ld, &stack, &shared,
                       &nlines, &at) != 7 ||
                !at || nlines > 1u << 20)
                break;
            k[n].spill_stores = st, k[n].spill_loads = ld, k[n].stack = stack, k[n].shared = shared;
            size_t len = strcspn(line + at, "\n");
            k[n].name = wg_arena_str(a, line + at, len);
            if (!k[n].name || !len || line[(size_t)at + len] != '\n' || !read_cached_lines(f, nlines, a, &k[n]))
                break;
            n++;
        }
        info->kernels = k;
        info->version = wg_arena_str(a, version, strlen(version));
        ok = n == info->n && fgets(line, sizeof line, f) && strcmp(line, "end\n") == 0 && info->version;
    }
    fclose(f);
    return ok;
}

/* Best effort: without it the next run is only slower. */
static void write_cache(const char *path, const struct wg_ptxas_info *info)
{
    char part[PATH_MAX + 32];
    snprintf(part, sizeof part, "%s.%ld", path, (long)getpid());
    FILE *f = fopen(part, "wx");
    if (!f)
        return;
    fprintf(f, "%s%zu %s\n", cache_head, info->n, info->version);
    for (size_t i = 0; i < info->n; i++) {
        const struct wg_ptxas_kernel *k = &info->kernels[i];
        fprintf(f, "%u %u %llu %llu %llu %llu %zu %s\n", k->registers, k->barriers, (unsigned long long)k->spill_stores,
                (unsigned long long)k->spill_loads, (unsigned long long)k->stack, (unsigned long long)k->shared,
                k->nlines, k->name);
        for (size_t x = 0; x < k->nlines; x++)
            fprintf(f, "%u %hu %hu %hu\n", k->lines[x].line, k->lines[x].depth, k->lines[x].instructions, k->lines[x].branches);
    }
    fputs("end\n", f);
    bool bad = ferror(f) != 0;
    if (fclose(f) || bad || rename(part, path))
        unlink(part);
}

enum wg_status wg_ptxas_info(const char *given, const char *ptx, size_t n, unsigned sm, struct wg_arena *a,
                             const struct wg_ptxas_info **out, struct wg_diag *d)
{
    char tool[PATH_MAX], cache[PATH_MAX], *text, *code = NULL;
    size_t len, code_len = 0;
    *out = NULL;
    if (given && !found(tool, sizeof tool, given, strlen(given), ""))
        return wg_diag_set(d, WG_NOT_FOUND, "no program %s", given);
    if (!given && wg_ptxas_find(tool, sizeof tool))
        return wg_diag_set(d, WG_NOT_FOUND,
                           "no ptxas found (PATH, CUDA_HOME, the usual folders, pip's nvidia-cuda-nvcc)");
    struct wg_ptxas_info *info = wg_arena_alloc(a, sizeof *info);
    if (!info || !(info->tool = wg_arena_str(a, tool, strlen(tool))))
        return wg_diag_set(d, WG_NO_MEMORY, "out of memory");
    choose_arch(ptx, n, sm, info->arch);
    bool place = cache_path(cache, sizeof cache, tool, info->arch, ptx, n);
    if (place && read_cache(cache, a, info)) {
        info->cached = true;
        *out = info;
        return WG_OK;
    }
    info->kernels = NULL;
    enum wg_status s = compile(tool, info->arch, ptx, n, a, &text, &len, &code, &code_len, d);
    if (s == WG_CANCELLED && place) { /* not again */
        info->n = 0;
        info->version = "";
        write_cache(cache, info);
    }
    if (s)
        return s;
    if (wg_ptxas_parse(text, len, a, &info->kernels, &info->n))
        return wg_diag_set(d, WG_NO_MEMORY, "out of memory");
    struct wg_cubin_code *v;
    size_t nv;
    if (code && wg_cubin_read(code, code_len, sm, a, &v, &nv) == WG_OK)
        for (size_t i = 0; i < info->n; i++)
            for (size_t k = 0; k < nv; k++)
                if (strcmp(v[k].name, info->kernels[i].name) == 0) {
                    info->kernels[i].nlines = v[k].n;
                    info->kernels[i].lines = v[k].lines;
                }
    for (size_t i = 0; i < info->n; i++)
        if (!info->kernels[i].registers)
            return wg_diag_set(d, WG_IO, "cannot read what %s says of %s", tool, info->kernels[i].name);
    info->version = tool_version(tool, a);
    if (place)
        write_cache(cache, info);
    *out = info;
    return a->failed ? wg_diag_set(d, WG_NO_MEMORY, "out of memory") : WG_OK;
}
