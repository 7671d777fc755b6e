/* ptx_merge.c - the model of what ptxas joins, against what ptxas 13.0 made of the same kernels for sm_90: each row was
 * assembled and the widths and offsets of its loads and stores were read from the machine code. */
#include "ptx_util.h"
#include "ptx/merge.h"

#define SUM1 "st.volatile.global.f32 [%rd5], %f10;"
#define SUM2 SUM1 "st.volatile.global.f32 [%rd5+512], %f11;"
#define SUM3 SUM2 "st.volatile.global.f32 [%rd5+1024], %f12;"
#define SUM4 SUM3 "st.volatile.global.f32 [%rd5+1536], %f13;"
#define L(reg, at) "ld.shared.f32 %f" #reg ", [" at "];"
#define L4(base) L(10, base "+0") L(11, base "+4") L(12, base "+8") L(13, base "+12")
#define MID(text) L(10, "s") text L(11, "s+4") SUM2 "st.volatile.global.u32 [%rd5], %r7;"
#define TID(shift) "shl.b32 %r5, %r1, " #shift "; add.u32 %r6, %r3, %r5;"
#define LOOP(text) "mov.u32 %r20, 0; LL: .pragma \"nounroll\"; " text " add.u32 %r20, %r20, 1; " \
    "setp.lt.u32 %p3, %r20, %r9; @%p3 bra LL;"
#define S(reg, at) "st.shared.f32 [" at "], %f" #reg ";"
#define POST "bar.sync 0; ld.shared.f32 %f1, [%r4]; st.volatile.global.f32 [%rd5], %f1;"
#define LG(reg, at) "ld.global.f32 %f" #reg ", [" at "];"
#define LL_(reg, at) "ld.local.f32 %f" #reg ", [" at "];"

/* mnemonic letters: l shared load, s shared store, g global load, k local load, t local store; width@offset */
static const struct { const char *name, *body, *want; } rows[] = {
    {"one word", L(10, "s") SUM1, "l4@0"},
    {"aligned pair", L(10, "s") L(11, "s+4") SUM2, "l8@0"},
    {"pair that is not aligned", L(10, "s+4") L(11, "s+8") SUM2, "l4@4 l4@8"},
    {"words apart", L(10, "s") L(11, "s+8") SUM2, "l4@0 l4@8"},
    {"three of four", L(10, "s+4") L(11, "s+8") L(12, "s+12") SUM3, "l16@0"},
    {"four, backwards", L(10, "s+12") L(11, "s+8") L(12, "s+4") L(13, "s") SUM4, "l16@0"},
    {"base at 16 t", TID(4) L4("%r6") SUM4, "l16@0"},
    {"base at 8 t", TID(3) L4("%r6") SUM4, "l8@0 l8@8"},
    {"base at 4 t", TID(2) L4("%r6") SUM4, "l4@0 l4@4 l4@8 l4@12"},
    {"base masked", "and.b32 %r5, %r9, -16; add.u32 %r6, %r3, %r5;" L4("%r6") SUM4, "l16@0"},
    {"base times 48", "mad.lo.u32 %r6, %r9, 48, %r3;" L4("%r6") SUM4, "l16@0"},
    {"below the base", TID(4) L(10, "%r6+-4") L(11, "%r6") L(12, "%r6+4") L(13, "%r6+8") SUM4, "l4@-4 l16@0"},
    /* offsets are counted from the register */
    {"constant in the base", TID(4) "add.u32 %r6, %r6, 4;" L4("%r6") SUM4, "l16@-4 l4@12"},
    {"constant or-ed in", "shl.b32 %r8, %r1, 4; or.b32 %r5, %r8, 4; add.u32 %r6, %r3, %r5; add.u32 %r7, %r3, %r8;"
     L(10, "%r7") L(11, "%r6") SUM2, "l8@0"},
    {"index plus one", "add.u32 %r5, %r1, 1; shl.b32 %r6, %r5, 4; add.u32 %r7, %r3, %r6; shl.b32 %r8, %r1, 4;"
     "add.u32 %r9, %r3, %r8;" L(10, "%r7") L(11, "%r9+20") SUM2, "l8@0"}, /* counted from %r7 */
    {"used in between", L(10, "s") SUM1 L(11, "s+4") SUM2, "l8@0"},
    {"store to global memory between", MID("st.global.f32 [%rd5], %f1;"), "l8@0"},
    {"store to the same space between", MID("st.shared.f32 [z+64], %f1;"), "l4@0 s4@4160 l4@4"},
    {"guarded store between", "setp.lt.u32 %p1, %r1, %r9;" MID("@%p1 st.shared.f32 [z], %f1;"), "l4@0 s4@4096 l4@4"},
    {"generic store between", MID("st.f32 [%rd2], %f1;"), "l4@0 l4@4"},
    {"barrier between", MID("bar.sync 0;"), "l4@0 l4@4"},
    {"warp barrier between", MID("bar.warp.sync -1;"), "l4@0 l4@4"},
    {"fence between", MID("membar.cta;"), "l4@0 l4@4"},
    {"shuffle between", MID("shfl.sync.down.b32 %r7|%p1, %r7, 1, 31, -1;"), "l8@0"},
    {"global atomic between", MID("atom.global.add.u32 %r7, [%rd5], 1;"), "l8@0"},
    {"shared atomic between", MID("atom.shared.add.u32 %r7, [z], %r1;"), "l4@0 l4@4"},
    {"generic atomic between", MID("atom.add.u32 %r7, [%rd2], 1;"), "l4@0 l4@4"},
    {"asynchronous commit between", MID("cp.async.commit_group;"), "l8@0"},
    {"asynchronous wait between", MID("cp.async.wait_group 0;"), "l4@0 l4@4"},
    {"nanosleep between", MID("nanosleep.u32 1;"), "l4@0 l4@4"},
    {"volatile", "ld.volatile.shared.f32 %f10, [s]; ld.volatile.shared.f32 %f11, [s+4];" SUM2, "l4@0 l4@4"},
    {"both guarded", "setp.lt.u32 %p1, %r1, 5; mov.f32 %f10, %f1; mov.f32 %f11, %f1; @%p1 " L(10, "s") "@%p1 "
     L(11, "s+4") SUM2, "l4@0 l4@4"},
    {"guarded after unguarded", "setp.lt.u32 %p1, %r1, %r9; mov.f32 %f11, %f1;" L(10, "s") "@%p1 " L(11, "s+4") SUM2,
     "l8@0"},
    {"nobody reads", L4("s") SUM2, "l8@0"},
    {"nobody reads the middle", L(10, "s") L(30, "s+4") L(31, "s+8") L(11, "s+12") SUM2, "l4@0 l4@12"},
    {"twice the same", L(10, "s") L(11, "s") SUM2, "l4@0"},
    {"64-bit words", "ld.shared.u64 %rd10, [s]; ld.shared.u64 %rd11, [s+8]; st.volatile.global.u64 [%rd5], %rd10;"
     "st.volatile.global.u64 [%rd5], %rd11;", "l16@0"},
    {"bytes", "ld.shared.u8 %r10, [s]; ld.shared.u8 %r11, [s+1]; st.volatile.global.u32 [%rd5], %r10;"
     "st.volatile.global.u32 [%rd5], %r11;", "l1@0 l1@1"},
    {"32 and 64 bits", "ld.shared.u32 %r10, [s]; ld.shared.u32 %r11, [s+4]; ld.shared.u64 %rd10, [s+8];"
     "st.volatile.global.u32 [%rd5], %r10; st.volatile.global.u32 [%rd5], %r11; st.volatile.global.u64 [%rd5], %rd10;",
     "l8@0 l8@8"},
    {"vectors", "ld.shared.v2.f32 {%f10, %f11}, [s]; ld.shared.v2.f32 {%f12, %f13}, [s+8];" SUM4, "l16@0"},
    {"vector and word", "ld.shared.v2.f32 {%f10, %f11}, [s]; ld.shared.f32 %f12, [s+8];" SUM3, "l16@0"},
    {"half of a vector", "ld.shared.v4.f32 {%f30, %f31, %f10, %f11}, [s];" SUM2, "l8@8"},
    {"ends of a vector", "ld.shared.v4.f32 {%f10, %f30, %f31, %f11}, [s];" SUM2, "l4@0 l4@12"},
    {"three of a vector", "ld.shared.v4.f32 {%f30, %f10, %f11, %f12}, [s];" SUM3, "l16@0"},
    {"three of a vector, announced", ".pragma \"used_bytes_mask 61695\";"
     "ld.shared.v4.f32 {%f10, %f11, %f30, %f12}, [s];" L(13, "s+8") SUM4, "l16@0 l4@8"},
    {"vector and a word of it", "ld.shared.v4.f32 {%f10, %f11, %f12, %f13}, [s];" L(14, "s+8") SUM4
     "st.volatile.global.f32 [%rd5], %f14;", "l16@0"},
    {"low half of 64 bits", "ld.shared.u64 %rd20, [s]; cvt.u32.u64 %r10, %rd20; st.volatile.global.u32 [%rd5], %r10;",
     "l4@0"},
    {"after a branch", "setp.lt.u32 %p1, %r1, %r9;" L(10, "s") "@%p1 bra E;" L(11, "s+4") SUM2 "E:", "l8@0"},
    {"around a branch", "setp.lt.u32 %p1, %r1, %r9;" L(10, "s") "@%p1 bra E; st.volatile.global.f32 [%rd5], %f1; E:"
     L(11, "s+4") SUM2, "l8@0"},
    {"store in an arm", "setp.lt.u32 %p1, %r1, %r9;" L(10, "s") "@%p1 bra E; st.shared.f32 [z], %f1; E:"
     L(11, "s+4") SUM2, "l4@0 s4@4096 l4@4"},
    {"one word in each arm", "setp.lt.u32 %p1, %r1, %r9;" L(10, "s") "@%p1 bra E;" L(11, "s+4")
     "st.volatile.global.f32 [%rd5], %f11; bra M; E:" L(11, "s+8") "st.volatile.global.f32 [%rd5+64], %f11; M:" SUM1,
     "l16@0"},
    {"loop between", L(10, "s") LOOP("fma.rn.f32 %f1, %f1, %f1, %f1;") L(11, "s+4") SUM2
     "st.volatile.global.f32 [%rd5], %f1;", "l4@0 l4@4"},
    {"inside a loop", "mov.u32 %r10, s;" LOOP("ld.shared.f32 %f10, [%r10]; ld.shared.f32 %f11, [%r10+4];"
     "add.u32 %r10, %r10, 16; st.volatile.global.f32 [%rd5], %f10; st.volatile.global.f32 [%rd5], %f11;"), "l8@0"},
    {"stores of a pair", S(20, "s") S(21, "s+4") POST, "s8@0 l4@0"},
    {"three stores", S(20, "s") S(21, "s+4") S(22, "s+8") POST, "s8@0 s4@8 l4@0"},
    {"four stores", S(20, "s+12") S(21, "s+8") S(22, "s+4") S(23, "s") POST, "s16@0 l4@0"},
    {"stores to two groups in turn", S(20, "s") S(21, "s+16") S(22, "s+4") S(23, "s+20") POST,
     "s4@0 s4@16 s4@4 s4@20 l4@0"},
    {"store, load, store", S(20, "s") "ld.shared.f32 %f30, [z]; st.volatile.global.f32 [%rd5], %f30;" S(21, "s+4") POST,
     "s4@0 l4@4096 s4@4 l4@0"},
    {"stores around a global store", S(20, "s") "st.global.f32 [%rd5], %f20;" S(21, "s+4") POST, "s8@0 l4@0"},
    {"stores around a branch", "setp.lt.u32 %p1, %r1, %r9;" S(20, "s") "@%p1 bra E;" S(21, "s+4") "E:" POST,
     "s4@0 s4@4 l4@0"},
    {"global loads", LG(10, "%rd4") LG(11, "%rd4+4") SUM2, "g4@0 g4@4"},
    {"global load twice", LG(10, "%rd4") LG(11, "%rd4") SUM2, "g4@0"},
    {"global load twice over a store", LG(10, "%rd4") "st.global.f32 [%rd5+64], %f10;" LG(11, "%rd4") SUM2,
     "g4@0 g4@0"},
    {"constant load twice over a store", "ld.global.nc.f32 %f10, [%rd4]; st.global.f32 [%rd5+64], %f10;"
     "ld.global.nc.f32 %f11, [%rd4];" SUM2, "g4@0"},
    {"global load twice over a barrier", LG(10, "%rd4") "bar.sync 0;" LG(11, "%rd4") SUM2, "g4@0 g4@0"},
    {"half of a global vector", "ld.global.v4.f32 {%f10, %f11, %f30, %f31}, [%rd4];" SUM2, "g8@0"},
    {"middle of a global vector", "ld.global.v4.f32 {%f30, %f10, %f11, %f31}, [%rd4];" SUM2, "g4@4 g4@8"},
    {"half of a global pair", "ld.global.v2.f64 {%fd1, %fd2}, [%rd4]; st.volatile.global.f64 [%rd5], %fd2;", "g8@8"},
    {"volatile vector", "ld.volatile.global.v4.f32 {%f10, %f11, %f12, %f13}, [%rd4];" SUM1, "g16@0"},
    {"local loads", "st.local.f32 [%rd12], %f1;" LL_(10, "d") LL_(11, "d+4") LL_(12, "d+8") SUM3, "t4@0 k8@0 k4@8"},
    {"local loads over a local store", "st.local.f32 [%rd12], %f1;" LL_(10, "d") "st.local.f32 [d+1024], %f1;"
     LL_(11, "d+4") SUM2, "t4@0 k4@0 t4@1024 k4@4"},
};

/* Accesses that the model leaves, in order of their leaders, as in the rows. */
static void describe(const struct wg_ptx_module *m, const struct wg_merge *g, char *out, size_t n)
{
    const struct wg_function *f = m->funcs[0];
    size_t k = 0;
    uint32_t first = 0;
    out[0] = 0;
    while (f->instrs[first].op != WG_OP_BAR_SYNC) /* of the frame in kernel() */
        first++;
    for (uint32_t i = first; i < f->ninstrs; i++) {
        const struct wg_instr *in = &f->instrs[i];
        bool store = in->op == WG_OP_ST;
        char letter = in->space == WG_SPACE_SHARED             ? store ? 's' : 'l'
                      : in->space == WG_SPACE_LOCAL              ? store ? 't' : 'k'
                      : in->space == WG_SPACE_GLOBAL && !store ? 'g'
                                                                 : 0;
        if ((in->op != WG_OP_LD && !store) || !letter || g[i].dead || g[i].leader != i)
            continue;
        int64_t at = in->ops[store ? 0 : 1].imm - g[i].position;
        if (in->ops[!store].sym && strcmp(in->ops[!store].sym->name, "z") == 0)
            at += 4096;
        k += (size_t)snprintf(out + k, n - k, "%s%c%u@%d", k ? " " : "", letter, g[i].bytes, (int)at);
        if (g[i].again)
            k += (size_t)snprintf(out + k, n - k, " %c%u@%d", letter, g[i].bytes, (int)at + g[i].again);
    }
}

static char *kernel(const char *body)
{
    static const char head[] =
        PTX_HEAD ".visible .entry k(.param .u64 o, .param .u64 in, .param .u32 n)\n{\n"
                 ".reg .b32 %r<99>; .reg .b64 %rd<99>; .reg .f32 %f<99>; .reg .f64 %fd<9>; .reg .pred %p<9>;\n"
                 ".shared .align 16 .b8 s[4096]; .shared .align 16 .b8 z[4096]; .local .align 16 .b8 d[4096];\n"
                 "ld.param.u64 %rd1, [o]; ld.param.u64 %rd2, [in]; ld.param.u32 %r9, [n];\n"
                 "cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2; mov.u32 %r1, %tid.x;\n"
                 "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3; add.s64 %rd5, %rd1, %rd3;\n"
                 "mov.u64 %rd10, d; mul.wide.u32 %rd11, %r1, 16; add.s64 %rd12, %rd10, %rd11;\n"
                 "mov.u32 %r3, s; shl.b32 %r2, %r1, 2; add.u32 %r4, %r3, %r2; mov.u32 %r7, 1;\n"
                 /* without a store ptxas would know that the memory never changes */
                 "ld.global.f32 %f1, [%rd4]; st.shared.f32 [%r4], %f1; bar.sync 0;\n";
    size_t n = sizeof head + strlen(body) + 16;
    char *s = malloc(n);
    assert_non_null(s);
    snprintf(s, n, "%s%s\nret;\n}\n", head, body);
    return s;
}

static void accesses_are_those_of_ptxas(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = kernel(rows[i].body), got[512];
        struct wg_ptx_module *m = ptx_good(text);
        struct wg_arena a = {0};
        const struct wg_merge *g;
        assert_int_equal(wg_merge_analyse(m, m->funcs[0], &a, &g), WG_OK);
        describe(m, g, got, sizeof got);
        if (strcmp(got, rows[i].want) != 0)
            fail_msg("%s: ptxas makes %s, the model %s", rows[i].name, rows[i].want, got);
        wg_arena_free(&a);
        wg_ptx_free(m);
        free(text);
    }
}

/* The first variable is 4 bytes long, so that the second begins in the middle of a group: ptxas packs them. */
static void shared_variables_are_packed_in_order(void **state)
{
    (void)state;
    struct wg_ptx_module *m = ptx_good(
        PTX_HEAD ".entry k(.param .u64 o) { .reg .f32 %f<9>; .reg .b64 %rd<3>; .shared .align 4 .b8 q[4];\n"
                 ".shared .align 4 .b8 unused[8]; .shared .align 4 .b8 v[64]; ld.param.u64 %rd1, [o];\n"
                 "ld.shared.f32 %f1, [v]; ld.shared.f32 %f2, [v+4]; ld.shared.f32 %f3, [v+8];\n"
                 "ld.shared.f32 %f4, [v+12]; ld.shared.f32 %f5, [q]; add.f32 %f1, %f1, %f2; add.f32 %f3, %f3, %f4;\n"
                 "add.f32 %f1, %f1, %f3;\n"
                 "add.f32 %f1, %f1, %f5; st.global.f32 [%rd1], %f1; ret; }");
    struct wg_arena a = {0};
    const struct wg_merge *g;
    assert_int_equal(wg_merge_analyse(m, m->funcs[0], &a, &g), WG_OK);
    for (uint32_t i = 1; i <= 5; i++) {
        assert_int_equal(g[i].leader, i == 4 ? 4 : 1);
        assert_int_equal(g[i].bytes, i == 4 ? 4 : 16);
        assert_int_equal(g[i].position, i == 4 ? 0 : i == 5 ? 0 : 4 * (int)i);
    }
    wg_arena_free(&a);
    wg_ptx_free(m);
}

/* Offsets read from the stores that ptxas made for the same declarations. */
static void shared_memory_is_laid_out_as_by_ptxas(void **state)
{
    (void)state;
    static const struct { const char *decls, *use, *want; } layouts[] = {
        {".entry k() { .reg .f32 f; .shared .align 4 .b8 a[4]; .shared .align 16 .b8 b[64]; .shared .align 4 .b8 c[4];"
         ".shared .align 8 .b8 d[8];", "dcba", "a0 b16 c80 d88"},
        {".entry k() { .reg .f32 f; .shared .align 4 .b8 a[4]; .shared .align 16 .b8 b[64]; .shared .align 4 .b8 c[4];"
         ".shared .align 8 .b8 d[8];", "bcd", "b0 c64 d72"},
        {".shared .align 4 .b8 b[4]; .shared .align 8 .b8 a[8]; .entry k() { .reg .f32 f; .shared .align 4 .b8 x[4];"
         ".shared .align 16 .b8 y[16];", "abxy", "x0 y16 b32 a40"},
        {".extern .shared .align 128 .b8 e[]; .extern .shared .align 4 .b8 f2[]; .entry k() { .reg .f32 f;"
         ".shared .align 4 .b8 a[4];", "ae", "a0 e128"},
        {".extern .shared .align 1 .b8 e[]; .entry k() { .reg .f32 f; .shared .align 4 .b8 a[20];", "ea", "a0 e32"},
        {".shared .align 4 .b8 m[8]; .shared .align 4 .b8 n[8]; .func g() { .reg .f32 f; .shared .align 4 .b8 s[12];"
         "st.shared.f32 [s], f; st.shared.f32 [m], f; ret; } .entry k() { .reg .f32 f; .shared .align 4 .b8 x[4];"
         "call g;", "xn", "x0 m4 n12 s20"},
    };
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        char text[1024], got[128] = "";
        size_t n = (size_t)snprintf(text, sizeof text, PTX_HEAD "%s", layouts[i].decls);
        for (const char *c = layouts[i].use; *c; c++)
            n += (size_t)snprintf(text + n, sizeof text - n, " st.shared.f32 [%c], f;", *c);
        snprintf(text + n, sizeof text - n, " ret; }");
        struct wg_ptx_module *m = ptx_good(text);
        struct wg_arena a = {0};
        struct wg_ptx_shared_layout l;
        assert_int_equal(wg_ptx_shared_layout(m, wg_ptx_function(m, "k"), &a, &l), WG_OK);
        n = 0;
        for (uint32_t k = 0; k < l.n; k++)
            n += (size_t)snprintf(got + n, sizeof got - n, "%s%s%u", k ? " " : "", l.v[k].sym->name,
                                  (unsigned)l.v[k].offset);
        assert_string_equal(got, layouts[i].want);
        assert_int_equal(l.uses_dynamic, strchr(layouts[i].want, 'e') != NULL);
        wg_arena_free(&a);
        wg_ptx_free(m);
    }
}

static void failing_allocation_is_reported(void **state)
{
    (void)state;
    char *text = kernel(TID(4) L4("%r6") SUM4);
    struct wg_ptx_module *m = ptx_good(text);
    enum wg_status s = WG_NO_MEMORY;
    int failures = 0;
    for (long n = 1; s != WG_OK; n++) {
        struct wg_arena a = {0};
        const struct wg_merge *g;
        assert_true(n < 1000);
        wg_alloc_fail_after(n);
        s = wg_merge_analyse(m, m->funcs[0], &a, &g);
        wg_alloc_fail_after(0);
        assert_true(s == WG_OK ? g != NULL : s == WG_NO_MEMORY && g == NULL);
        failures += s != WG_OK;
        wg_arena_free(&a);
    }
    assert_true(failures > 0);
    wg_ptx_free(m);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_are_those_of_ptxas),
        cmocka_unit_test(shared_variables_are_packed_in_order),
        cmocka_unit_test(shared_memory_is_laid_out_as_by_ptxas),
        cmocka_unit_test(failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
