/* cmd_program.c - runs a CUDA program with our runtime library in it, then shows the profile it left. */
#include "cli/cli.h"
#include "shim/env.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct started {
    const struct wg_cli *o;
    char dir[64];         /* temporary: profiles arrive here, one per process */
    char lib[4096 + 64];  /* folder of our runtime library */
    const char *compiler; /* of a .cu, or NULL */
};

/* The library lies beside this program: in the build tree, or where it is installed. */
static bool find_library(struct started *s)
{
    static const char *const places[] = {"../shim", "../lib/warpgrind", "../lib64/warpgrind"};
    char self[4096];
    if (!wg_cli_self(self, sizeof self))
        return false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char probe[sizeof s->lib + 32];
        snprintf(s->lib, sizeof s->lib, "%s/%s", self, places[i]);
        snprintf(probe, sizeof probe, "%s/libcudart.so", s->lib);
        if (!access(probe, R_OK))
            return true;
    }
    return false;
}

static bool prepend(const char *name, const char *value, char separator)
{
    const char *old = getenv(name);
    char *v = NULL;
    if (asprintf(&v, "%s%s%s", value, old && *old ? (char[]){separator, 0} : "", old && *old ? old : "") < 0)
        return false;
    bool ok = !setenv(name, v, 1);
    free(v);
    return ok;
}

/* Runs in the child: the program sees nothing of ours but these three variables. */
static bool environment(const struct started *s)
{
    const struct wg_cli *o = s->o;
    char profile[96], preload[sizeof s->lib + 32];
    snprintf(profile, sizeof profile, "%s/%%p.wgprof", s->dir);
    snprintf(preload, sizeof preload, "%s/libcudart.so", s->lib);
    struct wg_env e = {.profile = profile, .device = (char *)o->device, .compiler = (char *)s->compiler, .jobs = o->jobs,
                       .no_counters = o->no_counters, .as_written = o->as_written, .any_block_order = o->any_block_order,
                       .progress = !o->quiet && isatty(STDERR_FILENO)};
    char *text = wg_env_write(&e);
    bool ok = text && !setenv(WG_ENV_NAME, text, 1) && prepend("LD_LIBRARY_PATH", s->lib, ':') &&
              prepend("LD_PRELOAD", preload, ':');
    free(text);
    return ok;
}

/* Returns the program's exit code, or -1 after a message when it did not start. */
static int start(const struct started *s, const char *path, char **argv)
{
    int report[2], e = 0, status;
    if (pipe(report))
        return wg_cli_error(-1, "cannot start %s: %s", path, strerror(errno));
    fflush(NULL);
    pid_t pid = fork();
    if (!pid) {
        close(report[0]);
        if (fcntl(report[1], F_SETFD, FD_CLOEXEC) != -1 && environment(s))
            execvp(path, argv);
        e = errno;
        if (write(report[1], &e, sizeof e) != sizeof e)
            _exit(127);
        _exit(126);
    }
    close(report[1]);
    if (pid < 0) {
        close(report[0]);
        return wg_cli_error(-1, "cannot start %s: %s", path, strerror(errno));
    }
    /* Ctrl-C reaches the program too; it writes its profile and ends, and then the report is still ours to show. */
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old_int, old_quit;
    sigaction(SIGINT, &ignore, &old_int);
    sigaction(SIGQUIT, &ignore, &old_quit);
    bool failed = read(report[0], &e, sizeof e) == sizeof e;
    close(report[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGQUIT, &old_quit, NULL);
    if (failed)
        return wg_cli_error(-1, "cannot start %s: %s", path, strerror(e));
    if (WIFSIGNALED(status))
        wg_cli_error(0, "%s was ended by signal %d (%s)", path, WTERMSIG(status), strsignal(WTERMSIG(status)));
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- afterwards ----------------------------------------------------------------------------------------------- */
static int by_number(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;
    return x < y ? -1 : x > y;
}

/* Process numbers of the profiles in the folder, ascending; NULL when memory is out or there is none. */
static long *processes(const char *dir, size_t *n)
{
    DIR *d = opendir(dir);
    long *v = NULL;
    *n = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        char *end;
        long pid = strtol(e->d_name, &end, 10);
        if (end == e->d_name || strcmp(end, ".wgprof"))
            continue;
        long *w = realloc(v, (*n + 1) * sizeof *v);
        if (!w)
            break;
        v = w;
        v[(*n)++] = pid;
    }
    if (d)
        closedir(d);
    if (*n)
        qsort(v, *n, sizeof *v, by_number);
    return v;
}

/* Where -o puts the profile of one process: %p becomes its number; without %p the later of several get it appended. */
static char *export_path(const char *pattern, long pid, bool first)
{
    const char *at = strstr(pattern, "%p");
    char *path = NULL;
    int k = at ? asprintf(&path, "%.*s%ld%s", (int)(at - pattern), pattern, pid, at + 2)
               : first ? asprintf(&path, "%s", pattern) : asprintf(&path, "%s.%ld", pattern, pid);
    return k < 0 ? NULL : path;
}

static char *command_line(const struct wg_many *words)
{
    size_t n = 1;
    for (size_t i = 0; i < words->n; i++)
        n += strlen(words->v[i]) + 1;
    char *s = calloc(n, 1);
    for (size_t i = 0, k = 0; s && i < words->n; i++)
        k += (size_t)snprintf(s + k, n - k, "%s%s", i ? " " : "", words->v[i]);
    return s;
}

static int show(const struct started *s, long pid, bool first)
{
    const struct wg_cli *o = s->o;
    char path[128], err[512];
    struct wg_profile *p;
    snprintf(path, sizeof path, "%s/%ld.wgprof", s->dir, pid);
    if (wg_profile_read(path, &p, err, sizeof err) != WG_OK)
        return wg_cli_error(WG_EXIT_OUTPUT, "%s", err);
    int code = WG_EXIT_OK;
    char *line = first ? command_line(&o->rest) : NULL, *to = o->export ? export_path(o->export, pid, first) : NULL;
    if (line)
        p->program = line;
    if (o->export && !to)
        code = wg_cli_error(WG_EXIT_OUTPUT, "out of memory");
    else if (to && wg_profile_write(p, to, err, sizeof err) != WG_OK)
        code = wg_cli_error(WG_EXIT_OUTPUT, "%s", err);
    if (!o->quiet) {
        int r = wg_cli_report(o, p, stderr);
        code = code ? code : r;
    }
    free(line);
    free(to);
    wg_profile_free(p);
    return code;
}

static void remove_dir(const char *dir)
{
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));)
        unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    rmdir(dir);
}

static int run(struct started *s, const char *path, char **argv)
{
    int code = start(s, path, argv), later = WG_EXIT_OK;
    if (code < 0)
        return WG_EXIT_INPUT;
    size_t n;
    long *pids = processes(s->dir, &n);
    for (size_t i = 0; i < n; i++) {
        int r = show(s, pids[i], i == 0);
        later = later ? later : r;
    }
    free(pids);
    if (!n && !s->o->quiet)
        wg_cli_error(0, "nothing to report: %s did not use the CUDA runtime that warpgrind offers\n"
                        "(a program built by nvcc needs -cudart shared; see `warpgrind help programs`)", s->o->rest.v[0]);
    return code ? code : later;
}

int wg_cli_program(const struct wg_cli *o)
{
    struct started s = {.o = o, .dir = "/tmp/warpgrind-XXXXXX"};
    const char *path = o->rest.v[0], *dot = strrchr(path, '.');
    char *built = NULL, **argv = calloc(o->rest.n + 1, sizeof *argv);
    if (!argv)
        return wg_cli_error(WG_EXIT_INPUT, "out of memory");
    int code = WG_EXIT_OK;
    if (access(path, F_OK))
        code = wg_cli_error(WG_EXIT_INPUT, "cannot read %s: %s", path, strerror(errno));
    else if (!find_library(&s))
        code = wg_cli_error(WG_EXIT_INPUT, "cannot find our libcudart.so beside the warpgrind program");
    else if (!mkdtemp(s.dir))
        code = wg_cli_error(WG_EXIT_OUTPUT, "cannot make a folder in /tmp: %s", strerror(errno));
    if (!code) {
        if (dot && !strcmp(dot, ".cu"))
            code = wg_cli_build(&s, path, &built);
        for (size_t i = 0; i < o->rest.n; i++)
            argv[i] = (char *)o->rest.v[i];
        /* execvp would search PATH for a bare name; a file was named. */
        char *here = NULL;
        if (!code && !built && !strchr(path, '/') && asprintf(&here, "./%s", path) >= 0)
            path = here;
        code = code ? code : run(&s, built ? built : path, argv);
        free(here);
        remove_dir(s.dir);
    }
    free(built);
    free(argv);
    return code;
}
