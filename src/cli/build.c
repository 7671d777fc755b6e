/* build.c - from .cu files to a program that meets our runtime library: the compiler's runs, side by side. */
#include "cli/build.h"
#include "cli/compiler.h"
#include "cli/relink.h"
#include "ptx/fatbin.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* One run of the compiler. A host pass embeds the device pass's PTX, which it reads from a named pipe at its very end:
 * so both can start at once, and a feeder process fills the pipe when the PTX is there. */
struct job {
    struct wg_args argv;
    char *out, *log;      /* files in the build folder */
    char *pipe;           /* of a host pass of a .cu: where it reads the fat binary; else NULL */
    const char *source;
    size_t waits;         /* 1 + index of the device pass it belongs to; 0: none */
    pid_t pid, feeder;    /* 0: not running */
    bool started, done;
    int status;
};

struct build {
    const struct wg_build_options *o;
    struct wg_compiler compiler;
    struct wg_clang_options options;
    struct job *jobs;
    size_t njobs;
    sigset_t mask;        /* as it was before */
    char *dir, *program;
    char *stub;           /* C of the registration that joins several units of -rdc=true; NULL: not so */
    char sm[16];
    char cccl[4096];      /* folder of Thrust, CUB and libcu++, where a toolkit is; "" */
    char *err;
    size_t errn;
    enum wg_status status;
};

static enum wg_status fail(struct build *b, enum wg_status s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static enum wg_status fail(struct build *b, enum wg_status s, const char *fmt, ...)
{
    if (b->status == WG_OK) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(b->err, b->errn, fmt, ap);
        va_end(ap);
        b->status = s;
    }
    return b->status;
}

static FILE *messages(const struct build *b)
{
    return b->o->messages ? b->o->messages : stderr;
}

/* ---- planning ------------------------------------------------------------------------------------------------- */
enum source { SOURCE_CUDA, SOURCE_CXX, SOURCE_C, SOURCE_LINK };

static enum source kind_of(const char *path)
{
    static const struct { const char *ext; enum source kind; } kinds[] = {
        {".cu", SOURCE_CUDA}, {".cpp", SOURCE_CXX}, {".cc", SOURCE_CXX}, {".cxx", SOURCE_CXX}, {".C", SOURCE_CXX},
        {".c", SOURCE_C},
    };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(dot, kinds[i].ext))
            return kinds[i].kind;
    return SOURCE_LINK;
}

static void copy_args(struct wg_args *to, const struct wg_args *from)
{
    for (size_t i = 0; i < from->n; i++)
        wg_args_add(to, from->v[i]);
}

/* A job with its output and log named; its command starts with the compiler. */
static struct job *new_job(struct build *b, const char *source, const char *ext)
{
    struct job *j = &b->jobs[b->njobs++];
    *j = (struct job){.source = source};
    if (asprintf(&j->out, "%s/%zu%s", b->dir, b->njobs, ext) < 0)
        j->out = NULL;
    if (asprintf(&j->log, "%s/%zu.log", b->dir, b->njobs) < 0)
        j->log = NULL;
    if (!j->out || !j->log)
        fail(b, WG_NO_MEMORY, "out of memory");
    wg_args_add(&j->argv, b->compiler.path);
    /* its diagnostics go through a file, so it cannot see the terminal */
    if (b->compiler.kind == WG_COMPILER_CLANG && isatty(fileno(messages(b))))
        wg_args_add(&j->argv, "-fcolor-diagnostics");
    return j;
}

static void cuda_args(struct build *b, struct job *j, bool device)
{
    static const char *const common[] = {
        "--driver-mode=g++", "-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-path=/nonexistent", "-include",
        "cuda_runtime.h", "-Wno-unknown-cuda-version", "-Wno-pass-failed",
        /* the release decides the launch call that clang makes; 11.0 is the one that every clang from 14 on knows */
        "-Xclang", "-target-sdk-version=11.0",
        /* nvcc takes "f(...)" where nothing calls it; C++ libraries declare such functions to ask about types */
        "-Xclang", "-fcuda-allow-variadic-functions",
    };
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        wg_args_add(&j->argv, common[i]);
    wg_args_addf(&j->argv, "--cuda-gpu-arch=%s", b->sm);
    wg_args_add(&j->argv, "-isystem");
    wg_args_add(&j->argv, b->o->include);
    if (*b->cccl) { /* its small float types need headers of the toolkit that we have no counterpart of */
        wg_args_add(&j->argv, "-isystem");
        wg_args_add(&j->argv, b->cccl);
        wg_args_add(&j->argv, "-DCCCL_DISABLE_NVFP8_SUPPORT");
    }
    wg_args_add(&j->argv, device ? "--cuda-device-only" : "--cuda-host-only");
    if (device) {
        wg_args_add(&j->argv, "-S");
        wg_args_add(&j->argv, "-O3");
        wg_args_add(&j->argv, "-gline-tables-only");
        /* without a toolkit clang stays at the oldest PTX of the architecture, which lacks activemask and more */
        wg_args_add(&j->argv, "-Xclang");
        wg_args_add(&j->argv, "-target-feature");
        wg_args_add(&j->argv, "-Xclang");
        wg_args_addf(&j->argv, "+ptx%u", wg_compiler_ptx(&b->compiler));
    } else {
        wg_args_add(&j->argv, "-O1"); /* quick to compile; -O in the options comes later and wins */
        wg_args_add(&j->argv, "-fwrapv"); /* checks on the host that overflow hold with nvcc's host compiler, by luck */
        wg_args_add(&j->argv, "-gline-tables-only"); /* findings name the host's calls */
        wg_args_add(&j->argv, "-c");
        wg_args_add(&j->argv, "-Xclang");
        wg_args_add(&j->argv, "-fcuda-include-gpubinary");
        wg_args_add(&j->argv, "-Xclang");
        wg_args_add(&j->argv, j->pipe);
    }
    if (b->options.rdc) { /* names without linkage get the same suffix in both passes */
        wg_args_add(&j->argv, "-fgpu-rdc");
        wg_args_add(&j->argv, "-fuse-cuid=none"); /* the driver's own would differ between the passes */
        wg_args_add(&j->argv, "-Xclang");
        wg_args_addf(&j->argv, "-cuid=unit%zu", b->njobs);
    }
    copy_args(&j->argv, &b->options.both);
    copy_args(&j->argv, device ? &b->options.device : &b->options.host);
    wg_args_add(&j->argv, j->source);
    wg_args_add(&j->argv, "-o");
    wg_args_add(&j->argv, j->out);
}

static void plan_cuda(struct build *b, const char *source)
{
    struct job *device = new_job(b, source, ".ptx");
    size_t index = b->njobs;
    struct job *host = new_job(b, source, ".o");
    if (asprintf(&host->pipe, "%s/%zu.fatbin", b->dir, b->njobs) < 0)
        host->pipe = NULL;
    if (b->status || !host->pipe) {
        fail(b, WG_NO_MEMORY, "out of memory");
        return;
    }
    if (mkfifo(host->pipe, 0600)) {
        fail(b, WG_IO, "cannot make %s: %s", host->pipe, strerror(errno));
        return;
    }
    host->waits = index;
    cuda_args(b, device, true);
    cuda_args(b, host, false);
}

static void plan_host(struct build *b, const char *source, enum source kind)
{
    struct job *j = new_job(b, source, ".o");
    if (kind == SOURCE_CXX)
        wg_args_add(&j->argv, "--driver-mode=g++");
    wg_args_add(&j->argv, "-x");
    wg_args_add(&j->argv, kind == SOURCE_C ? "c" : "c++");
    wg_args_add(&j->argv, "-c");
    wg_args_add(&j->argv, "-O1");
    wg_args_add(&j->argv, "-isystem");
    wg_args_add(&j->argv, b->o->include);
    if (kind == SOURCE_C) { /* as nvcc's host compiler takes old C */
        wg_args_add(&j->argv, "-Wno-error=implicit-function-declaration");
        wg_args_add(&j->argv, "-Wno-error=implicit-int");
        wg_args_add(&j->argv, "-Wno-error=int-conversion");
    }
    for (size_t i = 0; i < b->options.both.n; i++) /* a C++ standard would be an error in C */
        if (kind == SOURCE_CXX || strncmp(b->options.both.v[i], "-std=c++", 8))
            wg_args_add(&j->argv, b->options.both.v[i]);
    copy_args(&j->argv, &b->options.host);
    wg_args_add(&j->argv, source);
    wg_args_add(&j->argv, "-o");
    wg_args_add(&j->argv, j->out);
}

static void plan_link(struct build *b)
{
    struct job *j = new_job(b, "the program", "");
    free(j->out);
    j->out = strdup(b->program);
    if (!j->out) {
        fail(b, WG_NO_MEMORY, "out of memory");
        return;
    }
    const char *slash = strrchr(b->o->library, '/');
    const size_t folder = slash ? (size_t)(slash - b->o->library) + 1 : 0;
    wg_args_add(&j->argv, "--driver-mode=g++");
    for (size_t i = 0; i + 1 < b->njobs; i++)
        if (b->jobs[i].out && strstr(b->jobs[i].out, ".o"))
            wg_args_add(&j->argv, b->jobs[i].out);
    for (size_t i = 0; i < b->o->nsources; i++)
        if (kind_of(b->o->sources[i]) == SOURCE_LINK)
            wg_args_add(&j->argv, b->o->sources[i]);
    for (size_t i = 0; i < b->options.link.n; i++) { /* ours stands in for both names of the runtime */
        const char *a = b->options.link.v[i];
        if (!strcmp(a, "-lcublas") || !strcmp(a, "-lcublasLt")) /* beside the runtime library */
            wg_args_addf(&j->argv, "%.*slib%s.so.13", (int)folder, b->o->library, a + 2);
        else if (strcmp(a, "-lcudart") && strcmp(a, "-lcudart_static") && strcmp(a, "-lcudadevrt") && strcmp(a, "-lcuda"))
            wg_args_add(&j->argv, a);
    }
    if (b->options.rdc && asprintf(&b->stub, "%s/units.c", b->dir) < 0)
        b->stub = NULL;
    if (b->options.rdc && !b->stub) {
        fail(b, WG_NO_MEMORY, "out of memory");
        return;
    }
    if (b->stub) {
        wg_args_add(&j->argv, "-x");
        wg_args_add(&j->argv, "c");
        wg_args_add(&j->argv, b->stub);
        wg_args_add(&j->argv, "-x");
        wg_args_add(&j->argv, "none");
    }
    wg_args_add(&j->argv, b->o->library);
    wg_args_add(&j->argv, "-o");
    wg_args_add(&j->argv, b->program);
}

static void plan_nvcc(struct build *b)
{
    struct job *j = new_job(b, "the program", "");
    bool arch = false;
    wg_args_add(&j->argv, "-cudart");
    wg_args_add(&j->argv, "shared"); /* a static runtime could not be replaced */
    wg_args_add(&j->argv, "-lineinfo");
    wg_args_add(&j->argv, "-Xcompiler");
    wg_args_add(&j->argv, "-g1"); /* findings name the host's calls */
    for (size_t i = 0; i < b->o->nargs; i++)
        arch = arch || wg_is_arch_option(b->o->args[i]);
    if (!arch)
        wg_args_addf(&j->argv, "-arch=%s", b->sm);
    wg_args_add(&j->argv, "-o");
    wg_args_add(&j->argv, b->program);
    for (size_t i = 0; i < b->o->nargs; i++)
        wg_args_add(&j->argv, b->o->args[i]);
    for (size_t i = 0; i < b->o->nsources; i++)
        wg_args_add(&j->argv, b->o->sources[i]);
}

/* ---- running -------------------------------------------------------------------------------------------------- */
static char *slurp(const char *path, size_t *n)
{
    FILE *f = fopen(path, "re");
    char *text = NULL;
    *n = 0;
    for (size_t cap = 0; f;) {
        if (*n + 1 >= cap) {
            char *t = realloc(text, cap = cap ? cap * 2 : 65536);
            if (!t)
                break;
            text = t;
        }
        size_t k = fread(text + *n, 1, cap - 1 - *n, f);
        *n += k;
        text[*n] = 0;
        if (!k)
            break;
    }
    if (f)
        fclose(f);
    return text;
}

/* Starts the process that writes the fat binary into the host pass's pipe as soon as that opens it. */
static void feed(struct build *b, const struct job *device, struct job *host)
{
    struct wg_diag d = {0};
    void *box = NULL;
    size_t n, box_n = 0;
    char *ptx = slurp(device->out, &n);
    if (!ptx) {
        fail(b, WG_IO, "cannot read %s", device->out);
        return;
    }
    if (wg_fatbin_write(ptx, n, b->sm, wg_compiler_ptx(&b->compiler), WG_FATBIN_RAW, &box, &box_n, &d) != WG_OK)
        fail(b, d.status, "%s", d.text);
    free(ptx);
    unlink(device->out);
    if (b->status)
        return;
    host->feeder = fork();
    if (!host->feeder) { /* only calls that are safe after fork */
        sigprocmask(SIG_SETMASK, &b->mask, NULL);
        int fd = open(host->pipe, O_WRONLY | O_CLOEXEC);
        for (size_t at = 0; fd >= 0 && at < box_n;) {
            ssize_t k = write(fd, (char *)box + at, box_n - at);
            if (k < 0 && errno != EINTR)
                _exit(1);
            at += k > 0 ? (size_t)k : 0;
        }
        _exit(fd < 0);
    }
    free(box);
    if (host->feeder < 0)
        fail(b, WG_IO, "cannot start a process: %s", strerror(errno));
}

static void reap(pid_t *pid, bool stop, int *status)
{
    if (*pid > 0 && stop)
        kill(*pid, SIGTERM);
    while (*pid > 0 && !wg_proc_ended(*pid, status))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    *pid = 0;
}

static void stop_all(struct build *b)
{
    for (size_t i = 0; i < b->njobs; i++) {
        reap(&b->jobs[i].feeder, true, &(int){0});
        reap(&b->jobs[i].pid, true, &(int){0});
    }
}

static bool interrupted(void)
{
    sigset_t pending;
    return !sigpending(&pending) && (sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) ||
                                     sigismember(&pending, SIGHUP));
}

/* One look at every job of [from, to): starts what may start, notices what ended. Returns how many are not done. */
static size_t step(struct build *b, size_t from, size_t to, size_t limit)
{
    size_t running = 0, left = 0;
    for (size_t i = from; i < to; i++)
        running += b->jobs[i].pid > 0;
    for (size_t i = from; i < to && !b->status; i++) {
        struct job *j = &b->jobs[i];
        if (!j->started && running < limit) {
            j->started = true;
            j->pid = wg_proc_start(j->argv.v, j->log, &b->mask);
            if (j->pid < 0) {
                j->pid = 0;
                fail(b, WG_IO, "cannot start %s: %s", j->argv.v[0], strerror(errno));
            }
            running++;
        }
        if (j->pid > 0 && wg_proc_ended(j->pid, &j->status)) {
            j->pid = 0;
            j->done = true;
            reap(&j->feeder, true, &(int){0});
            if (j->status && j->waits) /* what the device pass has to say is wanted whole, or not at all */
                reap(&b->jobs[j->waits - 1].pid, false, &b->jobs[j->waits - 1].status);
            if (j->status)
                fail(b, WG_PARSE, "%s could not build %s (exit status %d)", b->compiler.version, j->source, j->status);
            else if (i + 1 < to && b->jobs[i + 1].waits == i + 1 && !b->jobs[i + 1].done)
                feed(b, j, &b->jobs[i + 1]); /* without a kernel in it the host pass ends without reading */
        }
        left += !j->done;
    }
    return left;
}

static void run(struct build *b, size_t from, size_t to)
{
    /* A host pass never waits for one that has not started: its device pass stands before it. */
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t limit = cpus > 2 ? (size_t)cpus : 2;
    while (!b->status && step(b, from, to, limit)) {
        if (interrupted())
            fail(b, WG_CANCELLED, "the build was interrupted");
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    if (b->status)
        stop_all(b);
}

/* ---- what the compiler said ----------------------------------------------------------------------------------- */
/* Length without clang's last line, "2 warnings generated when compiling for host.", which differs between passes. */
static size_t without_count(const char *s, size_t n)
{
    size_t at = n;
    while (at && s[at - 1] == '\n')
        at--;
    while (at && s[at - 1] != '\n')
        at--;
    return strstr(s + at, " generated") ? at : n;
}

/* Both passes of a .cu parse the same text: what the host pass repeats is shown once. When the device pass failed, only
 * that is shown; the host pass was stopped. */
static void show(const struct build *b)
{
    for (size_t i = 0; i < b->njobs; i++) {
        const struct job *j = &b->jobs[i];
        size_t n, m;
        char *text = j->log && j->started ? slurp(j->log, &n) : NULL;
        if (!text)
            continue;
        bool hide = false;
        if (j->waits) {
            const struct job *device = &b->jobs[j->waits - 1];
            char *before = slurp(device->log, &m);
            hide = device->status != 0;
            if (before) {
                size_t cut = without_count(text, n);
                hide = hide || (cut == without_count(before, m) && !memcmp(text, before, cut));
            }
            free(before);
        }
        if (!hide)
            fwrite(text, 1, n, messages(b));
        free(text);
    }
    fflush(messages(b));
}

/* "fatal error: 'cub/cub.cuh' file not found": what that library is, and what can be done. */
static void explain(struct build *b)
{
    enum kind { HEADERS, GPU };
    static const struct { const char *header, *library; enum kind kind; } known[] = {
#define WG_LIBRARY(header, library, kind) {header, library, kind},
#include "cli/libraries.def"
#undef WG_LIBRARY
    };
    for (size_t i = 0; i < b->njobs; i++) {
        size_t n;
        char *text = b->jobs[i].log && b->jobs[i].status ? slurp(b->jobs[i].log, &n) : NULL;
        const char *end = text ? strstr(text, "' file not found") : NULL, *name = end;
        while (name && name > text && name[-1] != '\'')
            name--;
        for (size_t k = 0; name && k < sizeof known / sizeof *known; k++) {
            const size_t len = strlen(known[k].header), used = strlen(b->err);
            if ((size_t)(end - name) < len || strncmp(name, known[k].header, len) != 0 || used >= b->errn)
                continue;
            snprintf(b->err + used, b->errn - used,
                     known[k].kind == GPU ? "; %s has kernels of its own as machine code, which cannot be run here"
                                          : "; %s is not installed: it comes with the CUDA toolkit, or give its folder with --build-arg=-I...", known[k].library);
            free(text);
            return;
        }
        free(text);
    }
}

/* ---- the whole ------------------------------------------------------------------------------------------------ */
static void remove_folder(const char *dir, const char *keep)
{
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));)
        if (!keep || strcmp(e->d_name, keep))
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    if (!keep)
        rmdir(dir);
}

/* clang's own OpenMP library is a package of its own. Without it the calls go to GCC's and the pragmas to nobody,
 * so that host regions run on one thread; the device code is not concerned. */
static void check_openmp(struct build *b)
{
    char path[4096] = "";
    struct wg_clang_options *o = &b->options;
    bool asked = false;
    for (size_t i = 0; i < o->host.n; i++)
        asked |= !strcmp(o->host.v[i], "-fopenmp");
    if (!asked || (wg_proc_read((char *[]){b->compiler.path, "-print-file-name=libomp.so", NULL}, path, sizeof path) &&
                   *path == '/'))
        return;
    struct wg_args *const lists[] = {&o->host, &o->link};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < lists[k]->n; i++)
            if (!strcmp(lists[k]->v[i], "-fopenmp")) {
                free(lists[k]->v[i]);
                lists[k]->v[i] = strdup(k ? "-lgomp" : "-Wno-source-uses-openmp");
            }
    wg_args_add(&o->both, "-idirafter");
    wg_args_addf(&o->both, "%s/wg/openmp", b->o->include);
    fprintf(messages(b), "warpgrind: clang's OpenMP library (libomp) is not installed: host code runs its parallel regions "
                         "on one thread\n");
}

/* Thrust, CUB and libcu++ are source that clang can read, when somebody has installed it. */
static void find_cccl(struct build *b)
{
    const char *const roots[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda", "/opt/cuda"};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        snprintf(b->cccl, sizeof b->cccl, "%s/include/cccl", roots[i] ? roots[i] : "");
        if (roots[i] && !access(b->cccl, R_OK))
            return;
    }
    *b->cccl = 0;
}

static enum wg_status check(struct build *b)
{
    const struct wg_build_options *o = b->o;
    if (o->size != sizeof *o || !o->nsources || !o->sources)
        return fail(b, WG_INVALID, "no source files");
    for (size_t i = 0; i < o->nsources; i++)
        if (access(o->sources[i], R_OK))
            return fail(b, WG_NOT_FOUND, "%s: %s", o->sources[i], strerror(errno));
    if (wg_compiler_find(o->compiler, &b->compiler, b->err, b->errn) != WG_OK)
        return b->status = WG_NOT_FOUND;
    snprintf(b->sm, sizeof b->sm, "%s", o->sm ? o->sm : "sm_90");
    wg_clang_options_sort(&b->options, o->args, o->nargs);
    if (b->options.bad)
        return fail(b, WG_INVALID, "%s: a whole program is built here; the option does not fit", b->options.bad);
    if (b->compiler.kind == WG_COMPILER_NVCC)
        return WG_OK;
    check_openmp(b);
    find_cccl(b);
    if (!o->include || !o->library)
        return fail(b, WG_INVALID, "clang needs our CUDA headers and runtime library");
    size_t units = 0;
    for (size_t i = 0; i < o->nsources; i++)
        units += kind_of(o->sources[i]) == SOURCE_CUDA;
    b->options.rdc &= units > 1; /* else there is nothing to link */
    char buf[16];
    snprintf(b->sm, sizeof b->sm, "%s",
             wg_compiler_arch(&b->compiler, b->options.sm[0] ? b->options.sm : o->sm ? o->sm : "sm_90", buf));
    return WG_OK;
}

static enum wg_status open_folder(struct build *b)
{
    const char *tmp = b->o->temporary ? b->o->temporary : getenv("TMPDIR"), *base = strrchr(b->o->sources[0], '/');
    base = base ? base + 1 : b->o->sources[0];
    const size_t stem = strcspn(base, ".");
    if (asprintf(&b->dir, "%s/warpgrind-build-XXXXXX", tmp && *tmp ? tmp : "/tmp") < 0)
        b->dir = NULL;
    if (!b->dir)
        return fail(b, WG_NO_MEMORY, "out of memory");
    if (!mkdtemp(b->dir)) {
        fail(b, WG_IO, "cannot make a folder %s: %s", b->dir, strerror(errno));
        free(b->dir);
        b->dir = NULL;
        return b->status;
    }
    if (asprintf(&b->program, "%s/%.*s", b->dir, stem ? (int)stem : 7, stem ? base : "program") < 0)
        b->program = NULL;
    b->jobs = calloc(2 * b->o->nsources + 1, sizeof *b->jobs);
    return b->program && b->jobs ? WG_OK : fail(b, WG_NO_MEMORY, "out of memory");
}

static void relink(struct build *b, size_t n)
{
    const char **objects = calloc(n + 1, sizeof *objects);
    size_t k = 0;
    for (size_t i = 0; objects && i < n; i++)
        if (b->jobs[i].pipe)
            objects[k++] = b->jobs[i].out;
    if (!objects)
        fail(b, WG_NO_MEMORY, "out of memory");
    else if (wg_relink(objects, k, b->stub) != WG_OK)
        fail(b, WG_IO, "cannot write %s: %s", b->stub, strerror(errno));
    free(objects);
}

static void compile(struct build *b)
{
    if (b->compiler.kind == WG_COMPILER_NVCC) {
        plan_nvcc(b);
    } else {
        for (size_t i = 0; i < b->o->nsources && !b->status; i++) {
            const enum source kind = kind_of(b->o->sources[i]);
            if (kind == SOURCE_CUDA)
                plan_cuda(b, b->o->sources[i]);
            else if (kind != SOURCE_LINK)
                plan_host(b, b->o->sources[i], kind);
        }
        if (!b->status)
            plan_link(b);
    }
    for (size_t i = 0; i < b->njobs; i++)
        if (b->jobs[i].argv.failed)
            fail(b, WG_NO_MEMORY, "out of memory");
    const size_t last = b->njobs ? b->njobs - 1 : 0;
    if (!b->status)
        run(b, 0, last);
    if (!b->status && b->stub)
        relink(b, last);
    if (!b->status)
        run(b, last, b->njobs);
    show(b);
    if (b->status == WG_PARSE)
        explain(b);
}

enum wg_status wg_build(const struct wg_build_options *o, struct wg_built *out, char *err, size_t n)
{
    struct build b = {.o = o, .err = err, .errn = n};
    struct timespec from, to;
    sigset_t ours;
    *out = (struct wg_built){0};
    clock_gettime(CLOCK_MONOTONIC, &from);
    /* A signal waits until the folder is gone; the compilers get it at once. */
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGHUP);
    sigprocmask(SIG_BLOCK, &ours, &b.mask);
    if (check(&b) == WG_OK && open_folder(&b) == WG_OK)
        compile(&b);
    clock_gettime(CLOCK_MONOTONIC, &to);
    if (b.dir) {
        const char *name = b.program ? strrchr(b.program, '/') + 1 : NULL;
        remove_folder(b.dir, b.status ? NULL : name);
    }
    if (b.status == WG_OK) {
        out->program = b.program;
        out->dir = b.dir;
        memcpy(out->compiler, b.compiler.version, sizeof out->compiler);
        memcpy(out->sm, b.sm, sizeof out->sm);
        out->seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
    } else {
        free(b.program);
        free(b.dir);
    }
    for (size_t i = 0; i < b.njobs; i++) {
        wg_args_free(&b.jobs[i].argv);
        free(b.jobs[i].out);
        free(b.jobs[i].log);
        free(b.jobs[i].pipe);
    }
    free(b.jobs);
    free(b.stub);
    wg_clang_options_free(&b.options);
    sigprocmask(SIG_SETMASK, &b.mask, NULL);
    return b.status;
}

void wg_build_remove(struct wg_built *b)
{
    if (b->dir)
        remove_folder(b->dir, NULL);
    free(b->program);
    free(b->dir);
    *b = (struct wg_built){0};
}
