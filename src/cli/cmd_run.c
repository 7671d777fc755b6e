/* cmd_run.c - launches one kernel of a PTX file with arguments from the command line. */
#include "base/ending.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "report/progress.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A signal handler can reach nothing else. */
static volatile int cancelled;
static struct wg_ending ending;

static void on_interrupt(int sig)
{
    cancelled = 1;
    if (!wg_ending_insists(&ending))
        return;
    signal(sig, SIG_DFL);
    raise(sig);
}

static void progress(void *ctx, uint64_t done, uint64_t all, uint64_t warp_insts)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    wg_progress_show(ctx, (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec, done, all, warp_insts);
}

struct job {
    const struct wg_cli *o;
    struct wg *g;
    struct wg_module *module;
    struct wg_kernel *kernel;
    struct wg_kernel_info info;
    struct wg_arg *args;
    uint64_t *addr; /* of buffers */
    unsigned grid[3], block[3];
    struct wg_progress line;
};

static char *read_all(const char *path, size_t *n)
{
    FILE *f = fopen(path, "re");
    char *s = NULL;
    size_t cap = 0;
    *n = 0;
    while (f && !feof(f) && !ferror(f)) {
        if (*n == cap) {
            char *q = realloc(s, cap = cap ? cap * 2 : 65536);
            if (!q)
                break;
            s = q;
        }
        *n += fread(s + *n, 1, cap - *n, f);
    }
    bool ok = f && feof(f) && !ferror(f);
    int e = errno;
    if (f)
        fclose(f);
    if (!ok) {
        free(s);
        s = NULL;
        wg_cli_error(WG_EXIT_INPUT, "cannot read %s: %s", path, strerror(e));
    }
    return s;
}

static int load(struct job *j, const char *path)
{
    size_t n;
    char *text = read_all(path, &n);
    if (!text)
        return WG_EXIT_INPUT;
    enum wg_status s = wg_module_load(j->g, text, n, path, NULL, &j->module);
    free(text);
    return s == WG_OK ? WG_EXIT_OK : wg_cli_error(WG_EXIT_INPUT, "%s", wg_error(j->g));
}

static int choose_kernel(struct job *j, const char *path)
{
    size_t n = wg_module_kernel_count(j->module);
    const char *want = j->o->kernel, *words[64];
    size_t nwords = 0;
    struct wg_kernel_info info;
    if (!n)
        return wg_cli_error(WG_EXIT_INPUT, "%s has no kernel (.entry)", path);
    for (size_t i = 0; i < n && nwords < 64; i++)
        if (wg_kernel_get_info(wg_module_kernel_at(j->module, i), &info) == WG_OK)
            words[nwords++] = info.name;
    j->kernel = want ? wg_module_kernel(j->module, want) : n == 1 ? wg_module_kernel_at(j->module, 0) : NULL;
    if (!j->kernel && want) {
        const char *near = wg_cli_nearest(want, words, nwords);
        return wg_cli_error(WG_EXIT_USAGE, "%s has no kernel %s%s%s%s", path, want, near ? "; did you mean " : "",
                            near ? near : "", near ? "?" : "");
    }
    if (!j->kernel) {
        wg_cli_error(WG_EXIT_USAGE, "%s has %zu kernels; choose one with --kernel:", path, n);
        for (size_t i = 0; i < nwords; i++)
            wg_cli_error(WG_EXIT_USAGE, "  %s", words[i]);
        return WG_EXIT_USAGE;
    }
    return wg_kernel_get_info(j->kernel, &j->info) == WG_OK ? WG_EXIT_OK
                                                             : wg_cli_error(WG_EXIT_LAUNCH, "%s", wg_error(j->g));
}

/* Everything about the arguments that can be wrong is found before anything is allocated. */
static int check_args(struct job *j)
{
    const struct wg_cli *o = j->o;
    char list[512] = "";
    for (size_t i = 0, k = 0; i < j->info.nparams && k + 40 < sizeof list; i++)
        k += (size_t)snprintf(list + k, sizeof list - k, "%s%s of %zu byte%s", i ? ", " : "", j->info.params[i].type,
                              j->info.params[i].bytes, j->info.params[i].bytes == 1 ? "" : "s");
    if (o->arg.n != j->info.nparams)
        return wg_cli_error(WG_EXIT_USAGE, "kernel %s takes %zu argument%s%s%s%s, %zu given", j->info.name, j->info.nparams,
                            j->info.nparams == 1 ? "" : "s", *list ? " (" : "", list, *list ? ")" : "", o->arg.n);
    char err[512];
    for (size_t i = 0; i < o->arg.n; i++) {
        if (!wg_arg_parse(o->arg.v[i], &j->args[i], err, sizeof err))
            return wg_cli_error(WG_EXIT_USAGE, "%s", err);
        size_t bytes = j->args[i].is_buffer ? 8 : j->args[i].bytes;
        if (bytes != j->info.params[i].bytes)
            return wg_cli_error(WG_EXIT_USAGE, "argument %zu, %s, has %zu bytes; parameter %zu of %s is %s of %zu", i,
                                o->arg.v[i], bytes, i, j->info.name, j->info.params[i].type, j->info.params[i].bytes);
    }
    for (size_t i = 0; i < o->dump.n; i++) {
        const char *eq = strchr(o->dump.v[i], '=');
        char num[24] = "";
        uint64_t at = UINT64_MAX;
        if (eq && (size_t)(eq - o->dump.v[i]) < sizeof num)
            memcpy(num, o->dump.v[i], (size_t)(eq - o->dump.v[i]));
        if (!eq || !eq[1] || !wg_cli_number(num, &at) || at >= o->arg.n || !j->args[at].is_buffer)
            return wg_cli_error(WG_EXIT_USAGE, "--dump %s: expected I=FILE where argument I (from 0) is a buffer", o->dump.v[i]);
    }
    return WG_EXIT_OK;
}

static int allocate(struct job *j)
{
    for (size_t i = 0; i < j->o->arg.n; i++) {
        struct wg_arg *a = &j->args[i];
        if (!a->is_buffer)
            continue;
        if (wg_alloc(j->g, a->bytes, 256, &j->addr[i]) != WG_OK ||
            (a->data && wg_copy(j->g, (void *)(uintptr_t)j->addr[i], a->data, a->bytes) != WG_OK))
            return wg_cli_error(WG_EXIT_LAUNCH, "argument %zu, %s: %s", i, j->o->arg.v[i], wg_error(j->g));
        wg_host_writes(j->g, j->addr[i], a->bytes); /* zeros too */
    }
    return WG_EXIT_OK;
}

static int launch(struct job *j)
{
    struct wg_launch cfg = {.size = sizeof cfg, .shared_bytes = j->o->shared};
    void **args = calloc(j->o->arg.n + 1, sizeof *args);
    if (!args)
        return wg_cli_error(WG_EXIT_LAUNCH, "out of memory");
    for (size_t i = 0; i < j->o->arg.n; i++)
        args[i] = j->args[i].is_buffer ? (void *)&j->addr[i] : (void *)j->args[i].data;
    memcpy(cfg.grid, j->grid, sizeof cfg.grid);
    memcpy(cfg.block, j->block, sizeof cfg.block);
    cfg.args = args;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    enum { NSIGNALS = sizeof signals / sizeof *signals };
    struct sigaction sa = {.sa_handler = on_interrupt}, old[NSIGNALS];
    for (int i = 0; i < NSIGNALS; i++) {
        sigaction(signals[i], NULL, &old[i]);
        if (old[i].sa_handler != SIG_IGN) /* nohup's choice stays */
            sigaction(signals[i], &sa, NULL);
    }
    enum wg_status s = wg_launch(j->g, j->kernel, &cfg);
    for (int i = 0; i < NSIGNALS; i++)
        sigaction(signals[i], &old[i], NULL);
    wg_progress_erase(&j->line);
    free(args);
    if (s == WG_OK)
        return WG_EXIT_OK;
    return wg_cli_error(s == WG_CANCELLED ? WG_EXIT_CANCELLED : WG_EXIT_LAUNCH, "%s", wg_error(j->g));
}

static int dump(struct job *j)
{
    for (size_t i = 0; i < j->o->dump.n; i++) {
        const char *path = strchr(j->o->dump.v[i], '=') + 1;
        size_t at = (size_t)strtoull(j->o->dump.v[i], NULL, 0);
        const struct wg_arg *a = &j->args[at];
        const void *data = (const void *)(uintptr_t)j->addr[at];
        bool text = !strcmp(path, "-");
        FILE *f = text ? stdout : fopen(path, "we");
        if (f && text)
            wg_arg_print(f, a->type, data, a->bytes);
        else if (f)
            fwrite(data, 1, a->bytes, f);
        bool ok = f && !ferror(f);
        if (f && (text ? fflush(f) : fclose(f)))
            ok = false;
        if (!ok)
            return wg_cli_error(WG_EXIT_OUTPUT, "cannot write %s: %s", path, strerror(errno));
    }
    return WG_EXIT_OK;
}

static int export_and_report(struct job *j, int code)
{
    struct wg_profile *p = wg_get_profile(j->g);
    char err[512];
    int later = WG_EXIT_OK;
    if (!p)
        return code;
    p->program = j->o->rest.v[0];
    later = wg_cli_suppress(j->o, p);
    if (!code && !later && wg_cli_errors(p) && j->o->has_error_exitcode)
        code = (int)j->o->error_exitcode;
    if (j->o->export && wg_profile_write(p, j->o->export, err, sizeof err) != WG_OK)
        later = wg_cli_error(WG_EXIT_OUTPUT, "%s", err);
    if (!j->o->quiet && p->nlaunches) {
        int r = wg_cli_report(j->o, p, stderr);
        later = later ? later : r;
    }
    int gate = wg_cli_gate(j->o, p, 0, true);
    return code ? code : later ? later : gate;
}

static int run(struct job *j, const char *path)
{
    int code = load(j, path);
    code = code ? code : choose_kernel(j, path);
    code = code ? code : check_args(j);
    code = code ? code : allocate(j);
    if (code)
        return code;
    code = launch(j);
    int later = code ? WG_EXIT_OK : dump(j);
    code = export_and_report(j, code);
    return code ? code : later;
}

int wg_cmd_run(const struct wg_cli *o)
{
    struct job j = {.o = o, .line.out = stderr};
    if (o->rest.n != 1)
        return wg_cli_error(WG_EXIT_USAGE, "run takes one PTX file; see `warpgrind help run`");
    if (o->import)
        return wg_cli_error(WG_EXIT_USAGE, "--import shows a saved profile; it launches nothing");
    if (!wg_cli_page_check(o) || !wg_cli_launches_check(o))
        return WG_EXIT_USAGE;
    if (!wg_arg_dims(o->grid ? o->grid : "1", j.grid))
        return wg_cli_error(WG_EXIT_USAGE, "--grid is 64, 64x2 or 64x2x1, not \"%s\"", o->grid);
    if (!wg_arg_dims(o->block ? o->block : "1", j.block))
        return wg_cli_error(WG_EXIT_USAGE, "--block is 256, 16x16 or 8x8x4, not \"%s\"", o->block);
    char err[1024] = "";
    struct wg_options opt = {.size = sizeof opt, .device = o->device, .jobs = (unsigned)o->jobs,
                             .no_counters = o->no_counters, .as_written = o->as_written, .ptxas = o->ptxas ? o->ptxas : "auto",
                             .any_block_order = o->any_block_order, .cancel = &cancelled};
    if (!wg_cli_model(o, &opt.models, &opt.keep_caches, &opt.sample_level) || !wg_cli_tools(o, &opt.tools) || !wg_cli_schedule(o, &opt.schedule, &opt.seed))
        return WG_EXIT_USAGE;
    if (!o->quiet && isatty(STDERR_FILENO)) {
        opt.progress = progress;
        opt.ctx = &j.line;
    }
    if (wg_open(&opt, &j.g, err, sizeof err) != WG_OK)
        return wg_cli_error(WG_EXIT_USAGE, "%s", err);
    j.args = calloc(o->arg.n + 1, sizeof *j.args);
    j.addr = calloc(o->arg.n + 1, sizeof *j.addr);
    int code = j.args && j.addr ? run(&j, o->rest.v[0]) : wg_cli_error(WG_EXIT_LAUNCH, "out of memory");
    for (size_t i = 0; j.args && i < o->arg.n; i++)
        wg_arg_free(&j.args[i]);
    free(j.args);
    free(j.addr);
    wg_close(j.g);
    return code;
}
