/* exit.c - gets the profile out of the process, however it ends: return, exit, a signal, an abort.
 *
 * A signal handler can hardly do anything itself, so it wakes a thread that waits for nothing else. That thread takes
 * the lock, which a cancelled launch soon gives up, writes the profile, and lets the signal take its course. */
#include "base/ending.h"
#include "shim/state.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
enum { PATIENCE_MS = 10000 };

static struct {
    struct wg_shim *shim; /* NULL: nothing to write */
    int wake[2], done[2]; /* pipes: signal number to the thread; one byte back */
    bool watching;
    struct wg_ending ending;
} way_out;

/* The command line, for the profile's head; "" when it cannot be read. */
static void command_line(char *out, size_t n)
{
    FILE *f = fopen("/proc/self/cmdline", "r");
    size_t k = f ? fread(out, 1, n - 1, f) : 0;
    if (f)
        fclose(f);
    out[k] = 0;
    for (size_t i = 0; i + 1 < k; i++) /* arguments end in NUL */
        if (!out[i])
            out[i] = ' ';
}

void wg_shim_write_profile(struct wg_shim *s)
{
    if (s->g && s->env.leaks && getpid() == s->owner)
        wg_find_leaks(s->g);
    struct wg_profile *p = s->g ? wg_get_profile(s->g) : NULL;
    if (!p || !s->env.profile || getpid() != s->owner)
        return;
    char path[4096], err[512] = "";
    size_t n = 0;
    for (const char *c = s->env.profile; *c && n + 16 < sizeof path; c++)
        if (c[0] == '%' && c[1] == 'p') {
            n += (size_t)snprintf(path + n, sizeof path - n, "%ld", (long)s->owner);
            c++;
        } else {
            path[n++] = *c;
        }
    path[n] = 0;
    static char program[4096]; /* the profile keeps the pointer */
    command_line(program, sizeof program);
    p->program = program;
    if (wg_profile_write(p, path, err, sizeof err) != WG_OK)
        wg_shim_say("the profile was not written: %s", err);
}

static bool is_crash(int sig) { return sig != SIGINT && sig != SIGTERM && sig != SIGHUP && sig != SIGQUIT; }

static void on_signal(int sig)
{
    const int saved = errno;
    struct wg_shim *s = way_out.shim;
    const unsigned char b = (unsigned char)sig;
    if (!s || getpid() != s->owner) { /* a forked child: none of our business */
        signal(sig, SIG_DFL);
        raise(sig);
        errno = saved;
        return;
    }
    s->cancel = 1;
    if (is_crash(sig)) {
        /* This thread cannot go on. Inside the engine its data is in pieces; anywhere else the thread that waits can
         * still write them. Returning with the default action in place repeats the fault and ends the process. */
        signal(sig, SIG_DFL);
        const bool inside = s->is_busy && pthread_equal(s->busy, pthread_self());
        if (!inside && write(way_out.wake[1], &b, 1) == 1) {
            struct pollfd f = {.fd = way_out.done[0], .events = POLLIN};
            poll(&f, 1, PATIENCE_MS + 1000);
        }
        raise(sig);
    } else {
        const bool first = !s->dying;
        s->dying = 1;
        if (wg_ending_insists(&way_out.ending) || (first && write(way_out.wake[1], &b, 1) != 1)) {
            signal(sig, SIG_DFL);
            raise(sig);
        }
    }
    errno = saved;
}

static void *wait_for_signal(void *arg)
{
    struct wg_shim *s = arg;
    unsigned char sig;
    while (read(way_out.wake[0], &sig, 1) != 1)
        if (errno != EINTR)
            return NULL;
    if (wg_shim_lock_within(PATIENCE_MS))
        wg_shim_write_profile(s);
    else
        wg_shim_say("the profile was not written: a launch did not stop within %d s", PATIENCE_MS / 1000);
    if (is_crash(sig)) {
        if (write(way_out.done[1], &sig, 1) == 1)
            return NULL;
    } else {
        signal(sig, SIG_DFL);
        kill(getpid(), sig);
    }
    return NULL;
}

void wg_shim_watch_exit(struct wg_shim *s)
{
    if (way_out.shim)
        return;
    way_out.shim = s;
    pthread_t t;
    sigset_t all, old;
    if (pipe(way_out.wake) != 0 || pipe(way_out.done) != 0)
        return; /* then only a normal end writes the profile */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    way_out.watching = pthread_create(&t, NULL, wait_for_signal, s) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!way_out.watching)
        return;
    pthread_detach(t);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++) {
        struct sigaction now, ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
        sigemptyset(&ours.sa_mask);
        if (is_crash(watched[i]))
            ours.sa_flags |= SA_RESETHAND;
        /* What the program or its parent chose (nohup, a handler of its own) stays. */
        if (sigaction(watched[i], NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
            sigaction(watched[i], &ours, NULL);
    }
}

/* Runs after main's exit handlers and static destructors, which may still call the runtime. */
__attribute__((destructor)) static void at_end(void)
{
    struct wg_shim *s = way_out.shim;
    if (!s || getpid() != s->owner)
        return;
    s->cancel = 1; /* a launch that another thread is in */
    if (wg_shim_lock_within(PATIENCE_MS))
        wg_shim_write_profile(s);
    /* The lock stays: other threads must not run on into an engine that is going away. */
}
