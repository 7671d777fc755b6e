/* fault_test.c - makes each host allocation fail in turn while a kernel is loaded and run: every call must then report
 * it or do without, nothing may crash or leak, and the engine must work again afterwards. */
#include "base/arena.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <warpgrind/profile.h>
#include <warpgrind/warpgrind.h>

static const char kernel[] =
    ".version 8.2\n.target sm_90\n.address_size 64\n"
    ".global .align 4 .b32 total = 5;\n"
    ".func (.param .b32 r) twice(.param .b32 a)\n{\n    .reg .b32 %x;\n    ld.param.b32 %x, [a];\n    add.u32 %x, %x, "
    "%x;\n"
    "    st.param.b32 [r], %x;\n    ret;\n}\n"
    ".visible .entry k(.param .u64 out, .param .u32 n)\n{\n"
    "    .reg .b64 %o, %a;\n    .reg .b32 %t, %x, %y, %n;\n    .reg .pred %p;\n"
    "    .shared .align 4 .b8 sh[256];\n    .local .align 4 .b8 loc[16];\n"
    "    ld.param.u64 %o, [out];\n    ld.param.u32 %n, [n];\n    mov.u32 %t, %tid.x;\n"
    "    shl.b32 %x, %t, 2;\n    mov.u32 %y, sh;\n    add.u32 %y, %y, %x;\n    st.shared.u32 [%y], %t;\n    bar.sync "
    "0;\n"
    "    xor.b32 %x, %t, 1;\n    shl.b32 %x, %x, 2;\n    mov.u32 %y, sh;\n    add.u32 %y, %y, %x;\n    ld.shared.u32 "
    "%x, [%y];\n"
    "    setp.ge.u32 %p, %t, 20;\n    @%p bra SKIP;\n"
    "    { .param .b32 pa; .param .b32 pr; st.param.b32 [pa], %x; call (pr), twice, (pa); ld.param.b32 %x, [pr]; }\n"
    "SKIP:\n    st.local.u32 [loc+4], %x;\n    ld.local.u32 %x, [loc+4];\n    add.u32 %x, %x, %n;\n"
    "    red.global.add.u32 [total], 1;\n    mul.wide.u32 %a, %t, 4;\n    add.u64 %a, %o, %a;\n    st.global.u32 [%a], "
    "%x;\n"
    "    ret;\n}\n";

enum { THREADS = 64 };

static bool right(const uint32_t *out)
{
    for (uint32_t t = 0; t < THREADS; t++)
        if (out[t] != (t < 20 ? (t ^ 1) * 2 : t ^ 1) + 7)
            return false;
    return true;
}

/* From open to close. *correct: the launch succeeded and computed what it should. */
static enum wg_status session(bool counters, bool *correct)
{
    struct wg_options o = {.size = sizeof o, .jobs = 1, .no_counters = !counters, .memory = 1 << 26};
    struct wg *g = NULL;
    struct wg_module *m = NULL;
    uint64_t out = 0;
    char err[300];
    *correct = false;
    enum wg_status st = wg_open(&o, &g, err, sizeof err);
    if (!st)
        st = wg_module_load(g, kernel, strlen(kernel), "fault.ptx", NULL, &m);
    if (!st)
        st = wg_alloc(g, THREADS * 4, 256, &out);
    if (!st) {
        uint32_t n = 7;
        void *args[] = {&out, &n};
        struct wg_launch l = {.size = sizeof l, .grid = {1, 1, 1}, .block = {THREADS, 1, 1}, .args = args};
        st = wg_launch(g, wg_module_kernel(m, "k"), &l);
    }
    if (!st) {
        uint32_t got[THREADS];
        st = wg_copy(g, got, (const void *)(uintptr_t)out, sizeof got);
        *correct = !st && right(got);
    }
    if (!st)
        st = wg_get_profile(g) ? WG_OK : WG_NO_MEMORY;
    if (st && g && !wg_error(g))
        st = WG_INVALID; /* a failed call must leave a message */
    wg_close(g);
    return st;
}

/* Allocations that one session makes: those that were left of a large allowance are counted by using them up. */
static long count(bool counters)
{
    const long many = 200000;
    bool correct;
    wg_alloc_fail_after(many);
    enum wg_status st = session(counters, &correct);
    long left = 1;
    for (void *p; (p = wg_calloc(1, 1)); left++)
        free(p);
    wg_alloc_fail_after(0);
    if (st || !correct) {
        printf("without failures: %s, result %s\n", wg_status_text(st), correct ? "right" : "wrong");
        return -1;
    }
    return many - left;
}

int main(void)
{
    unsigned failed = 0, reported = 0, survived = 0;
    for (int counters = 0; counters < 2; counters++) {
        long n = count(counters);
        if (n < 1) {
            printf("no allocation to make fail (%ld)\n", n);
            return 1;
        }
        for (long i = 1; i <= n; i++) {
            bool correct;
            wg_alloc_fail_after(i);
            enum wg_status st = session(counters, &correct);
            wg_alloc_fail_after(0);
            if (st == WG_NO_MEMORY)
                reported++;
            else if (st == WG_OK && correct)
                survived++;
            else {
                failed++;
                printf("allocation %ld of %ld (%s counters): status %s, result %s\n", i, n, counters ? "with" : "no",
                       wg_status_text(st), correct ? "right" : "wrong");
            }
        }
        bool correct;
        if (session(counters, &correct) || !correct) {
            printf("the engine does not work after failures\n");
            failed++;
        }
    }
    printf("%u failures reported, %u done without, %u wrong\n", reported, survived, failed);
    return failed != 0;
}
