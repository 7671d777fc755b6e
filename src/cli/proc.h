/* proc.h - child processes: start one, wait without blocking, catch what one prints. */
#ifndef WG_CLI_PROC_H
#define WG_CLI_PROC_H
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A list of arguments that grows; always NULL-terminated. failed: memory ran out. */
struct wg_args { char **v; size_t n, cap; bool failed; };
void wg_args_add(struct wg_args *a, const char *s);
void wg_args_addf(struct wg_args *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void wg_args_free(struct wg_args *a);

/* Start argv[0] (looked up in PATH). Standard output and error go to the file `log` where that is not NULL. mask: signals
 * blocked in the child. Returns the process, or -1 with errno set. */
pid_t wg_proc_start(char *const argv[], const char *log, const sigset_t *mask);
/* Has the process ended? Then *status is its exit status, or 128 + signal. */
bool wg_proc_ended(pid_t pid, int *status);
/* Run argv and keep the first n - 1 bytes that it prints on standard output. False: it did not start or failed. */
bool wg_proc_read(char *const argv[], char *out, size_t n);
#endif
