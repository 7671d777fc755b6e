/* proc.c - child processes: start one, wait without blocking, catch what one prints. */
#include "cli/proc.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void take(struct wg_args *a, char *s)
{
    if (!s) {
        a->failed = true;
        return;
    }
    if (a->n + 2 > a->cap) {
        size_t cap = a->cap ? a->cap * 2 : 32;
        char **v = realloc(a->v, cap * sizeof *v);
        if (!v) {
            free(s);
            a->failed = true;
            return;
        }
        a->v = v;
        a->cap = cap;
    }
    a->v[a->n++] = s;
    a->v[a->n] = NULL;
}

void wg_args_add(struct wg_args *a, const char *s)
{
    take(a, strdup(s));
}

void wg_args_addf(struct wg_args *a, const char *fmt, ...)
{
    char *s = NULL;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&s, fmt, ap) < 0)
        s = NULL;
    va_end(ap);
    take(a, s);
}

void wg_args_free(struct wg_args *a)
{
    for (size_t i = 0; i < a->n; i++)
        free(a->v[i]);
    free(a->v);
    *a = (struct wg_args){0};
}

static pid_t start(char *const argv[], const char *log, int out, const sigset_t *mask)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    pid_t pid = -1;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (log) {
        posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_APPEND | O_TRUNC, 0600);
        posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    } else if (out >= 0) {
        posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    }
    if (mask) {
        posix_spawnattr_setsigmask(&attr, mask);
        posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    }
    int e = posix_spawnp(&pid, argv[0], &files, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    errno = e;
    return e ? -1 : pid;
}

pid_t wg_proc_start(char *const argv[], const char *log, const sigset_t *mask)
{
    return start(argv, log, -1, mask);
}

static int exit_status(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool wg_proc_ended(pid_t pid, int *status)
{
    int s = 0;
    pid_t r;
    do
        r = waitpid(pid, &s, WNOHANG);
    while (r < 0 && errno == EINTR);
    if (r == 0)
        return false;
    *status = r < 0 ? 127 : exit_status(s);
    return true;
}

bool wg_proc_read(char *const argv[], char *out, size_t n)
{
    int fd[2], status = 0;
    size_t at = 0;
    if (pipe2(fd, O_CLOEXEC))
        return false;
    pid_t pid = start(argv, NULL, fd[1], NULL);
    close(fd[1]);
    for (char rest[512]; pid > 0;) {
        bool full = at + 1 >= n;
        ssize_t k = read(fd[0], full ? rest : out + at, full ? sizeof rest : n - 1 - at);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            break;
        at += full ? 0 : (size_t)k;
    }
    out[at] = 0;
    close(fd[0]);
    if (pid < 0)
        return false;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return exit_status(status) == 0;
}
