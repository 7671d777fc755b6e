/* alu.c - nanoseconds per warp instruction of single handlers, in a chain as a decoded kernel runs them: alu [LEVEL]. */
#include "exec/exec.h"
#include "exec/lanes.h"
#include "exec/warp.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CHAIN = 512, SLOTS = 16, SLOT = 512, ROUNDS = 400, REPEATS = 15 };

static const struct wg_inst *stop(struct wg_warp *w, const struct wg_inst *i, char *R)
{
    (void)w, (void)i, (void)R;
    return NULL;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The first instruction of a kernel that holds only this one. */
static const struct wg_instr *read_one(const char *ptx, struct wg_ptx_module **m)
{
    char text[1024];
    struct wg_diag d = {WG_OK, ""};
    snprintf(text, sizeof text, ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .b16 %%h<4>;\n"
             ".reg .b32 %%r<4>;\n.reg .b64 %%q<4>;\n.reg .pred %%p<4>;\n%s\nret;\n}\n", ptx);
    if (wg_ptx_parse(text, strlen(text), "bench", m, &d)) {
        printf("%s\n", d.text);
        exit(1);
    }
    return &wg_ptx_function(*m, "k")->instrs[0];
}

static void measure(const char *name, const char *ptx, struct wg_alu_form form)
{
    static char R[SLOTS * SLOT] __attribute__((aligned(64)));
    static struct wg_inst code[CHAIN + 1];
    static struct wg_warp w = {.mask = ~0u};
    struct wg_ptx_module *m;
    const struct wg_instr *in = read_one(ptx, &m);
    memset(code, 0, sizeof code);
    for (int k = 0; k < SLOTS * SLOT / 4; k++)
        ((float *)R)[k] = 1.0f + (float)(k % 7) / 8;
    if (in->op == WG_OP_SHL) { /* a distance */
        memset(R + 7 * SLOT, 0, SLOT);
        R[7 * SLOT] = 5;
    }
    memset(R, 0xff, 4);
    for (int k = 0; k < CHAIN; k++) { /* four independent chains, as unrolled code has */
        code[k].fn = wg_alu_select(in, form, &code[k]);
        if (!code[k].fn) {
            printf("%-28s no such form\n", name);
            wg_ptx_free(m);
            return;
        }
        code[k].d = (uint32_t)(1 + k % 4) * SLOT;
        code[k].a = (uint32_t)(in->op == WG_OP_SETP ? 6 : 1 + k % 4) * SLOT;
        code[k].b = 7 * SLOT;
        code[k].c = 8 * SLOT;
        code[k].e = 9 * SLOT;
    }
    code[CHAIN].fn = stop;
    double best = 1e30;
    for (int r = 0; r < REPEATS; r++) {
        const double t = now();
        for (int k = 0; k < ROUNDS; k++)
            for (const struct wg_inst *i = code; i;)
                i = i->fn(&w, i, R);
        const double ns = (now() - t) / ROUNDS / CHAIN;
        best = ns < best ? ns : best;
    }
    printf("%-28s %7.2f\n", name, best);
    wg_ptx_free(m);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        setenv("WARPGRIND_ISA", argv[1], 1);
    printf("level %s; best of %d, ns per warp instruction (32 lanes)\n", wg_lanes_best()->level, REPEATS);
    const struct wg_alu_form v = {.src_scalar = 0}, vm = {.masked = true}, s = {.dst_scalar = true, .src_scalar = 7};
    const struct wg_alu_form a = {.src_scalar = 1}, b = {.src_scalar = 2};
    measure("add.s32 VV", "add.s32 %r0, %r1, %r2;", v);
    measure("add.s32 VS", "add.s32 %r0, %r1, %r2;", b);
    measure("add.s32 VV masked, all on", "add.s32 %r0, %r1, %r2;", vm);
    measure("add.s32 SS", "add.s32 %r0, %r1, %r2;", s);
    measure("mad.lo.s32 VVV", "mad.lo.s32 %r0, %r1, %r2, %r3;", v);
    measure("add.s64 VV", "add.s64 %q0, %q1, %q2;", v);
    measure("mul.wide.s32 VS", "mul.wide.s32 %q0, %r1, %r2;", b);
    measure("fma.rn.f32 VVV", "fma.rn.f32 %r0, %r1, %r2, %r3;", v);
    measure("fma.rn.f32 SVV", "fma.rn.f32 %r0, %r1, %r2, %r3;", a);
    measure("fma.rn.ftz.f32 VVV", "fma.rn.ftz.f32 %r0, %r1, %r2, %r3;", v);
    measure("fma.rm.f32 VVV", "fma.rm.f32 %r0, %r1, %r2, %r3;", v);
    measure("fma.rn.f64 VVV", "fma.rn.f64 %q0, %q1, %q2, %q3;", v);
    measure("fma.rn.f16x2 VVV", "fma.rn.f16x2 %r0, %r1, %r2, %r3;", v);
    measure("min.f32 VV", "min.f32 %r0, %r1, %r2;", v);
    measure("div.rn.f32 VV", "div.rn.f32 %r0, %r1, %r2;", v);
    measure("ex2.approx.f32 V", "ex2.approx.f32 %r0, %r1;", v);
    measure("div.u32 VV", "div.u32 %r0, %r1, %r2;", v);
    measure("setp.lt.s32 VV", "setp.lt.s32 %p0, %r1, %r2;", v);
    measure("setp.lt.s32 VS", "setp.lt.s32 %p0, %r1, %r2;", b);
    measure("setp.gt.f32 VV", "setp.gt.f32 %p0, %r1, %r2;", v);
    measure("selp.b32 VV", "selp.b32 %r0, %r1, %r2, %p1;", v);
    measure("shl.b32 VS", "shl.b32 %r0, %r1, %r2;", b);
    measure("cvt.rn.f32.s32 V", "cvt.rn.f32.s32 %r0, %r1;", v);
    measure("cvt.rzi.s32.f32 V", "cvt.rzi.s32.f32 %r0, %r1;", v);
    measure("cvt.s64.s32 V", "cvt.s64.s32 %q0, %r1;", v);
    measure("cvt.f32.f16 V", "cvt.f32.f16 %r0, %h1;", v);
    measure("cvt.rn.f16.f32 V", "cvt.rn.f16.f32 %h0, %r1;", v);
    return 0;
}
