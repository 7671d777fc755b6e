/* quiet.c - a program that registers one kernel by hand, launches it, and ends in the way that its argument names:
 * return, exit, abort, crash, interrupt (waits for a signal), launch (waits for one inside a launch). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "shim/abi.h"

void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
int cudaLaunchKernel(const void *, struct wg_dim3, struct wg_dim3, void **, size_t, void *);
int cudaDeviceReset(void);

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n"
                          ".visible .entry endless()\n{\nL:\n\tbra L;\n}\n";
static struct wg_fatbin_wrapper wrapper = {WG_WRAPPER_MAGIC, 1, ptx, NULL};
static char k, endless;

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "return";
    void **h = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(h, &k, &k, "k", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(h, &endless, &endless, "endless", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(h);
    const struct wg_dim3 one = {1, 1, 1};
    for (int i = 0; i < 2; i++)
        if (cudaLaunchKernel(&k, one, one, NULL, 0, NULL) != 0)
            return 9;
    if (strcmp(how, "reset") == 0)
        cudaDeviceReset();
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "crash") == 0)
        raise(SIGSEGV);
    if (strcmp(how, "fork") == 0 && fork() == 0)
        exit(0);
    if (strcmp(how, "launch") != 0) { /* the double says it when the launch has begun: no signal must come before */
        printf("ready\n");
        fflush(stdout);
    }
    if (strcmp(how, "interrupt") == 0)
        for (;;)
            pause();
    if (strcmp(how, "launch") == 0) {
        cudaLaunchKernel(&endless, one, one, NULL, 0, NULL);
        printf("not reached\n");
        fflush(stdout);
        return 5;
    }
    return 0;
}
