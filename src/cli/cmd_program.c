/* cmd_program.c - runs a CUDA program with our runtime library in it, then shows the profile it left. */
#include "cli/build.h"
#include "cli/cli.h"
#include "cli/frames.h"
#include "cli/runs.h"
#include "model/gpus.h"
#include "shim/env.h"
#include "shim/inspect.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUR_LIBRARY "libcudart.so.13" /* the one our headers belong to; programs of other versions find theirs beside it */

struct started {
    bool models, keep;
    unsigned level;
    const struct wg_cli *o;
    char dir[64];          /* temporary: profiles arrive here, one per process */
    char lib[4096 + 64];   /* folder of our runtime library */
    char moved[4096 + 96];
    const char *include;   /* folder of our CUDA headers; perhaps `moved` */
    unsigned tools;        /* bits of enum wg_tool */
    enum wg_schedule schedule;
    bool again;            /* not the first of several runs: only its findings are wanted */
    uint64_t seed, errors; /* errors: findings of that severity so far */
    bool gate;             /* a condition of --fail-if was met, or the baseline was better */
    struct wg_built built; /* of a .cu; zero otherwise */
    struct wg_arena arena;
    const struct wg_gpu *gpu;
    const char *device;       /* --device; a device file by its full path, for the program may change folders */
    bool follow;           /* --trace-children=yes */
    char preload[4096 + 128]; /* what must be loaded first, or "" */
};

/* Our library and headers: where this program was built, or where it was installed. */
static bool find_library(struct started *s)
{
    char self[4096], probe[sizeof s->lib + 32];
    if (wg_cli_self(self, sizeof self)) {
        snprintf(s->lib, sizeof s->lib, "%s/../shim", self);
        snprintf(probe, sizeof probe, "%s/" OUR_LIBRARY, s->lib);
        s->include = WG_SOURCE_INCLUDE;
        if (!access(probe, R_OK))
            return true;
        /* a prefix that was moved after it was installed */
        snprintf(s->lib, sizeof s->lib, "%s/" WG_FROM_BIN, self);
        snprintf(probe, sizeof probe, "%s/" OUR_LIBRARY, s->lib);
        snprintf(s->moved, sizeof s->moved, "%s/cuda", s->lib);
        s->include = s->moved;
        if (!access(probe, R_OK))
            return true;
    }
    snprintf(s->lib, sizeof s->lib, "%s", WG_INSTALLED);
    s->include = WG_INSTALLED "/cuda";
    return !access(WG_INSTALLED "/" OUR_LIBRARY, R_OK);
}

/* Of the words for the compiler, those that name further sources or objects: with one of their endings and no option,
 * nor the file of an option before them. */
static bool is_source(const struct wg_many *words, size_t i)
{
    static const char *const endings[] = {".cu", ".cpp", ".cc", ".cxx", ".C", ".c", ".o", ".a", ".so"};
    const char *w = words->v[i], *dot = strrchr(w, '.');
    if (*w == '-' || !dot || (i && !strcmp(words->v[i - 1], "-include")))
        return false;
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++)
        if (!strcmp(dot, endings[k]))
            return true;
    return false;
}

static int build(struct started *s, const char *source)
{
    const struct wg_cli *o = s->o;
    char library[sizeof s->lib + 32], err[1024] = "", sm[32] = "";
    snprintf(library, sizeof library, "%s/" OUR_LIBRARY, s->lib);
    snprintf(sm, sizeof sm, "sm_%u%u", s->gpu->cc->major, s->gpu->cc->minor);
    const char **sources = calloc(o->build_arg.n + 1, sizeof *sources), **args = calloc(o->build_arg.n + 1, sizeof *args);
    size_t nsources = 0, nargs = 0;
    enum wg_status e = sources && args ? WG_OK : WG_NO_MEMORY;
    if (e == WG_OK) {
        sources[nsources++] = source;
        for (size_t i = 0; i < o->build_arg.n; i++)
            if (is_source(&o->build_arg, i))
                sources[nsources++] = o->build_arg.v[i];
            else
                args[nargs++] = o->build_arg.v[i];
        const struct wg_build_options opt = {.size = sizeof opt, .compiler = o->compiler, .sources = sources,
                                             .nsources = nsources, .args = args, .nargs = nargs, .include = s->include,
                                             .library = library, .sm = sm};
        e = wg_build(&opt, &s->built, err, sizeof err);
    }
    free(sources);
    free(args);
    return e == WG_OK ? WG_EXIT_OK : wg_cli_error(WG_EXIT_INPUT, "%s", e == WG_NO_MEMORY ? "out of memory" : err);
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

/* Runs in the child: the program sees nothing of ours but these variables. */
static bool environment(const struct started *s)
{
    const struct wg_cli *o = s->o;
    static const char *const schedules[] = {"round-robin", "random", "adversarial"};
    char profile[96], tools[64] = "";
    static const char *const names[] = {"memcheck", "racecheck", "initcheck", "synccheck"};
    for (unsigned k = 0; k < 4; k++)
        if (s->tools >> k & 1)
            snprintf(tools + strlen(tools), sizeof tools - strlen(tools), "%s%s", *tools ? "," : "", names[k]);
    snprintf(profile, sizeof profile, "%s/%%p.wgprof", s->dir);
    struct wg_env e = {.profile = profile, .device = (char *)s->device,
                       .compiler = s->built.program ? (char *)s->built.compiler : NULL, .jobs = o->jobs,
                       .tools = *tools ? tools : NULL, .seed = s->seed,
                       .leaks = o->leak_check && !strcmp(o->leak_check, "full"), .stored = o->runs > 1,
                       .schedule = s->schedule ? (char *)schedules[s->schedule] : NULL, .no_counters = o->no_counters, .as_written = o->as_written, .ptxas = o->ptxas ? (char *)o->ptxas : "auto", .any_block_order = o->any_block_order,
                       .models = s->models, .keep_caches = s->keep, .sample_level = s->level,
                       .progress = !o->quiet && isatty(STDERR_FILENO)};
    char *text = wg_env_write(&e);
    bool ok = text && !setenv(WG_ENV_NAME, text, 1) && prepend("LD_LIBRARY_PATH", s->lib, ':') &&
              (!*s->preload || prepend("LD_PRELOAD", s->preload, ':'));
    free(text);
    return ok;
}

/* A signal handler can reach nothing else. */
static volatile pid_t child;

static void pass_on(int sig) { kill(child, sig); }

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
        if (s->o->runs > 1) /* so that pointers in what is stored are the same in every run */
            personality(ADDR_NO_RANDOMIZE);
        if (s->again) {
            int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
            dup2(null, STDOUT_FILENO);
        }
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
    static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    enum { NSIGNALS = sizeof signals / sizeof *signals };
    struct sigaction old[NSIGNALS];
    child = pid;
    for (int i = 0; i < NSIGNALS; i++) { /* the last two reach only us */
        struct sigaction a = {.sa_handler = i < 2 ? SIG_IGN : pass_on, .sa_flags = SA_RESTART};
        sigaction(signals[i], NULL, &old[i]);
        if (old[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &a, NULL);
    }
    ssize_t got;
    while ((got = read(report[0], &e, sizeof e)) < 0 && errno == EINTR)
        ;
    bool failed = got == sizeof e;
    close(report[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    for (int i = 0; i < NSIGNALS; i++)
        sigaction(signals[i], &old[i], NULL);
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

/* How run k of several takes turns: as asked first, then finely from the last warp on, then at random. */
static void schedule_of(const struct started *s, uint64_t k, enum wg_schedule *how, uint64_t *seed, char *text, size_t n)
{
    static const char *const names[] = {"round-robin", "random", "adversarial"};
    *how = k == 0 ? s->schedule : k == 1 && s->schedule != WG_SCHEDULE_ADVERSARIAL ? WG_SCHEDULE_ADVERSARIAL : WG_SCHEDULE_RANDOM;
    *seed = s->seed + k;
    if (*how == WG_SCHEDULE_RANDOM)
        snprintf(text, n, "random:%" PRIu64, *seed);
    else
        snprintf(text, n, "%s", names[*how]);
}

static struct wg_profile *read_profile(const struct started *s, long pid)
{
    char path[128], err[512];
    struct wg_profile *p = NULL;
    snprintf(path, sizeof path, "%s/%ld.wgprof", s->dir, pid);
    if (wg_profile_read(path, &p, err, sizeof err) != WG_OK)
        wg_cli_error(0, "%s", err);
    return p;
}

/* others: the same process in the later runs, 0 where it has none. */
static int show(struct started *s, long pid, bool first, const long *others)
{
    const struct wg_cli *o = s->o;
    char err[512], how[2][64];
    struct wg_profile *p = read_profile(s, pid), **later = calloc(o->runs + 1, sizeof *later);
    struct wg_frames frames = {0};
    struct wg_runs runs = {0};
    if (!p || !later) {
        wg_profile_free(p);
        free(later);
        return p ? wg_cli_error(WG_EXIT_OUTPUT, "out of memory") : WG_EXIT_OUTPUT;
    }
    int code = WG_EXIT_OK;
    for (uint64_t k = 1; others && k < o->runs; k++) {
        enum wg_schedule sched;
        uint64_t seed;
        schedule_of(s, 0, &sched, &seed, how[0], sizeof *how);
        schedule_of(s, k, &sched, &seed, how[1], sizeof *how);
        later[k] = others[k] ? read_profile(s, others[k]) : NULL;
        if (later[k] && !wg_runs_merge(&runs, p, later[k], how[0], how[1]))
            code = wg_cli_error(WG_EXIT_OUTPUT, "out of memory");
    }
    wg_frames_name(&frames, p);
    char *line = first ? command_line(&o->rest) : NULL, *to = o->export ? wg_cli_numbered(o->export, pid, first) : NULL;
    if (line)
        p->program = line;
    int left = wg_cli_suppress(o, p);
    code = code ? code : left;
    s->errors += wg_cli_errors(p);
    if (o->export && !to)
        code = wg_cli_error(WG_EXIT_OUTPUT, "out of memory");
    else if (to && wg_profile_write(p, to, err, sizeof err) != WG_OK)
        code = wg_cli_error(WG_EXIT_OUTPUT, "%s", err);
    if (!o->quiet) {
        int r = o->check ? wg_cli_sanitizer(o, p, stderr) : wg_cli_report(o, p, stderr);
        code = code ? code : r;
    }
    int gate = wg_cli_gate(o, p, pid, first);
    s->gate |= gate == WG_EXIT_GATE;
    code = code || gate == WG_EXIT_GATE ? code : gate;
    free(line);
    free(to);
    wg_profile_free(p);
    for (uint64_t k = 1; k < o->runs; k++)
        wg_profile_free(later[k]);
    free(later);
    wg_runs_free(&runs);
    wg_frames_free(&frames);
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

/* How our library takes the place of the CUDA runtime in this executable. With --trace-children nothing is asked of it:
 * what is preloaded finds out in every process. */
static int look_inside(struct started *s, const char *path)
{
    struct wg_inspect in;
    char text[1024] = "";
    if (s->follow) {
        snprintf(s->preload, sizeof s->preload, "%s/libwarpgrind-preload.so", s->lib);
        return WG_EXIT_OK;
    }
    if (wg_inspect_file(path, &in, text, sizeof text) != WG_OK)
        return wg_cli_error(WG_EXIT_INPUT, "%s", text);
    if (in.way == WG_WAY_NONE) {
        wg_inspect_advice(&in, path, text, sizeof text);
        return wg_cli_error(WG_EXIT_INPUT, "%s%s", text, in.elf ? "" : "; a script is run with --trace-children=yes");
    }
    if (*in.library)
        wg_cli_error(0, "%s uses %s, whose calls run no kernels here and will fail", path, in.library);
    if (in.way == WG_WAY_SHARED)
        snprintf(s->preload, sizeof s->preload, "%s/%s", s->lib, in.runtime);
    else if (in.way == WG_WAY_REDIRECT)
        snprintf(s->preload, sizeof s->preload, "%s/libwarpgrind-preload.so", s->lib);
    return WG_EXIT_OK;
}

/* Runs it under the other schedules; others[i * runs + k]: process in run k that stands for the first run's process i. */
static void run_again(struct started *s, const char *path, char **argv, const long *pids, size_t n, long *others)
{
    uint64_t runs = s->o->runs;
    struct started t = *s;
    char text[64];
    t.again = true;
    for (uint64_t k = 1; k < runs; k++) {
        schedule_of(s, k, &t.schedule, &t.seed, text, sizeof text);
        if (start(&t, path, argv) < 0)
            return;
        size_t all, at = 0;
        long *now = processes(s->dir, &all);
        for (size_t i = 0; now && i < all && at < n; i++) {
            bool old = false;
            for (size_t j = 0; j < n && !old; j++) {
                old = now[i] == pids[j];
                for (uint64_t q = 1; q < k && !old; q++)
                    old = now[i] == others[j * runs + q];
            }
            if (!old)
                others[at++ * runs + k] = now[i];
        }
        free(now);
    }
}

static int run(struct started *s, const char *path, char **argv)
{
    int code = look_inside(s, path), later = WG_EXIT_OK;
    if (code)
        return code;
    code = start(s, path, argv);
    if (code < 0)
        return WG_EXIT_INPUT;
    signal(SIGPIPE, SIG_IGN); /* from here on only we write; who reads may leave early, the clean-up still happens */
    size_t n;
    long *pids = processes(s->dir, &n), *others = s->o->runs > 1 && n ? calloc(n * s->o->runs, sizeof *others) : NULL;
    if (others)
        run_again(s, path, argv, pids, n, others);
    for (size_t i = 0; i < n; i++) {
        int r = show(s, pids[i], i == 0, others ? others + i * s->o->runs : NULL);
        later = later ? later : r;
    }
    free(others);
    free(pids);
    if (!n && !s->o->quiet)
        wg_cli_error(0, "nothing to report: %s did not use the CUDA runtime", s->o->rest.v[0]);
    if (!code && !later && s->errors && s->o->has_error_exitcode)
        return (int)s->o->error_exitcode;
    return code ? code : later ? later : s->gate ? WG_EXIT_GATE : WG_EXIT_OK;
}

static int built_or_not(struct started *s, const char *path, char **argv)
{
    const char *dot = strrchr(path, '.');
    const bool cxx = dot && (!strcmp(dot, ".cpp") || !strcmp(dot, ".cc") || !strcmp(dot, ".cxx"));
    if (dot && (!strcmp(dot, ".cu") || (cxx && access(path, X_OK)))) { /* host code alone: the driver API */
        int code = build(s, path);
        return code ? code : run(s, s->built.program, argv);
    }
    if (strchr(path, '/') || (s->follow && access(path, F_OK))) /* as a shell finds it: make, python3 */
        return run(s, path, argv);
    char *here = NULL; /* execvp would search PATH for a bare name; a file was named */
    if (asprintf(&here, "./%s", path) < 0)
        return wg_cli_error(WG_EXIT_INPUT, "out of memory");
    int code = run(s, here, argv);
    free(here);
    return code;
}

/* A device nobody knows is refused here: a program that never looks for one would not notice. */
static int find_device(struct started *s)
{
    struct wg_diag d = {0};
    s->device = s->o->device;
    enum wg_status e = wg_gpu_open(s->device ? s->device : "H200", &s->arena, &s->gpu, &d);
    if (e != WG_OK)
        return wg_cli_error(e == WG_NOT_FOUND ? WG_EXIT_USAGE : WG_EXIT_INPUT, "%s", d.text);
    char *full = s->gpu->file ? realpath(s->device, NULL) : NULL;
    if (full)
        s->device = wg_arena_str(&s->arena, full, strlen(full));
    free(full);
    return s->device || !s->o->device ? WG_EXIT_OK : wg_cli_error(WG_EXIT_INPUT, "out of memory");
}

static int program(struct started *s)
{
    const struct wg_cli *o = s->o;
    const char *path = o->rest.v[0];
    if (!wg_cli_model(o, &s->models, &s->keep, &s->level) || !wg_cli_tools(o, &s->tools) ||
        !wg_cli_schedule(o, &s->schedule, &s->seed))
        return WG_EXIT_USAGE;
    if (!wg_cli_page_check(o) || !wg_cli_launches_check(o))
        return WG_EXIT_USAGE;
    int unknown = find_device(s);
    if (unknown)
        return unknown;
    if (o->racecheck_report && strcmp(o->racecheck_report, "analysis") && strcmp(o->racecheck_report, "hazard") &&
        strcmp(o->racecheck_report, "all"))
        return wg_cli_error(WG_EXIT_USAGE, "--racecheck-report is analysis, hazard or all, not \"%s\"", o->racecheck_report);
    if (o->trace_children && strcmp(o->trace_children, "yes") && strcmp(o->trace_children, "no"))
        return wg_cli_error(WG_EXIT_USAGE, "--trace-children is yes or no, not \"%s\"", o->trace_children);
    s->follow = o->trace_children && !strcmp(o->trace_children, "yes");
    if (o->leak_check && strcmp(o->leak_check, "full") && strcmp(o->leak_check, "no"))
        return wg_cli_error(WG_EXIT_USAGE, "--leak-check is full or no, not \"%s\"", o->leak_check);
    if (o->leak_check && !strcmp(o->leak_check, "full") && !(s->tools & WG_TOOL_MEMCHECK))
        return wg_cli_error(WG_EXIT_USAGE, "--leak-check needs memcheck: warpgrind check, or --tool memcheck");
    if (o->has_runs && (o->runs < 1 || o->runs > 100))
        return wg_cli_error(WG_EXIT_USAGE, "--runs takes a number from 1 to 100");
    if (o->runs > 1 && (!s->tools || o->no_counters))
        return wg_cli_error(WG_EXIT_USAGE, "--runs compares runs with checks: warpgrind check, or --tool; not --no-counters");
    if (access(path, F_OK) && !(s->follow && !strchr(path, '/')))
        return wg_cli_error(WG_EXIT_INPUT, "cannot read %s: %s", path, strerror(errno));
    if (!find_library(s))
        return wg_cli_error(WG_EXIT_INPUT, "cannot find our " OUR_LIBRARY " beside the warpgrind program");
    char **argv = calloc(o->rest.n + 1, sizeof *argv);
    if (!argv || !mkdtemp(s->dir)) {
        free(argv);
        return wg_cli_error(WG_EXIT_OUTPUT, "cannot make a folder in /tmp: %s", strerror(errno));
    }
    for (size_t i = 0; i < o->rest.n; i++)
        argv[i] = (char *)o->rest.v[i];
    int code = built_or_not(s, path, argv);
    wg_build_remove(&s->built);
    remove_dir(s->dir);
    free(argv);
    return code;
}

int wg_cli_program(const struct wg_cli *o)
{
    struct started s = {.o = o, .dir = "/tmp/warpgrind-XXXXXX"};
    int code = program(&s);
    wg_arena_free(&s.arena);
    return code;
}
