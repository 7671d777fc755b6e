/* special_ops.c - kernels for rows whose results are addresses: each thread writes numbers that say what held. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <warpgrind/warpgrind.h>

#define HEAD                                                                                                           \
    ".version 8.3\n.target sm_90a\n.address_size 64\n.global .align 8 .b64 gv[4];\n.const .align 8 .b64 cv[2] = {7, "   \
    "9};\n"
#define ENTRY                                                                                                          \
    ".visible .entry k(.param .u64 out)\n{\n    .reg .b64 %o, %a<10>;\n    .reg .b32 %r<16>;\n    .reg .pred %p<4>;\n" \
    "    ld.param.u64 %o, [out];\n    mov.u32 %r0, %tid.x;\n    mov.u32 %r1, %ctaid.x;\n    mov.u32 %r2, %ntid.x;\n"   \
    "    mad.lo.u32 %r0, %r1, %r2, %r0;\n    mul.wide.u32 %a0, %r0, 32;\n    add.u64 %o, %o, %a0;\n"
#define TAIL "    ret;\n}\n"
#define SPACE(n, space, addr)                                                                                          \
    "    isspacep." space " %p0, " addr ";\n    selp.u32 %r3, 1, 0, %p0;\n    shl.b32 %r3, %r3, " n                    \
    ";\n    or.b32 %r4, %r4, %r3;\n"
#define SPACES(addr)                                                                                                   \
    "    mov.u32 %r4, 0;\n" SPACE("0", "global", addr) SPACE("1", "shared", addr) SPACE("2", "local", addr)            \
        SPACE("3", "const", addr)

static const struct {
    const char *name, *ptx;
    unsigned grid, cluster;
    uint32_t want[8]; /* of every thread */
} cases[] = {
    {"generic addresses of shared memory go there and back",
     HEAD ENTRY
     "    .shared .align 4 .b8 sh[256];\n    mov.u32 %r5, %tid.x;\n    shl.b32 %r6, %r5, 2;\n    mov.u64 %a1, sh;\n"
     "    cvt.u64.u32 %a2, %r6;\n    add.u64 %a1, %a1, %a2;\n    cvta.shared.u64 %a3, %a1;\n    add.u32 %r7, %r5, "
     "100;\n"
     "    st.u32 [%a3], %r7;\n    ld.shared.u32 %r8, [%a1];\n    sub.u32 %r8, %r8, %r5;\n    st.global.u32 [%o], %r8;\n"
     "    cvta.to.shared.u64 %a4, %a3;\n    setp.eq.u64 %p1, %a4, %a1;\n    selp.u32 %r9, 1, 0, %p1;\n"
     "    st.global.u32 [%o+4], %r9;\n" SPACES("%a3") "    st.global.u32 [%o+8], %r4;\n" TAIL,
     1,
     0,
     {100, 1, 2}},
    {"generic addresses of global memory go there and back",
     HEAD ENTRY
     "    mov.u64 %a1, gv;\n    cvta.global.u64 %a2, %a1;\n    cvta.to.global.u64 %a3, %a2;\n"
     "    setp.eq.u64 %p1, %a3, %a1;\n    selp.u32 %r9, 1, 0, %p1;\n    st.global.u32 [%o], %r9;\n"
     "    mov.u64 %a4, 41;\n    st.u64 [%a2+8], %a4;\n    ld.global.u32 %r8, [gv+8];\n    st.global.u32 [%o+4], "
     "%r8;\n" SPACES(
         "%a2") "    st.global.u32 [%o+8], %r4;\n    cvta.global.u64 %a5, gv+16;\n    sub.u64 %a5, %a5, %a2;\n"
                "    cvt.u32.u64 %r9, %a5;\n    st.global.u32 [%o+12], %r9;\n" TAIL,
     1,
     0,
     {1, 41, 1, 16}},
    {"generic addresses of constants can be read",
     HEAD ENTRY
     "    mov.u64 %a1, cv;\n    cvta.const.u64 %a2, %a1;\n    ld.u32 %r8, [%a2+8];\n    st.global.u32 [%o], %r8;\n"
     "    ld.const.u32 %r9, [cv];\n    st.global.u32 [%o+4], %r9;\n" SPACES(
         "%a2") "    st.global.u32 [%o+8], %r4;\n" TAIL,
     1,
     0,
     {9, 7, 8}},
    {"generic addresses of local memory go there and back",
     HEAD ENTRY "    .local .align 8 .b8 mine[64];\n    mov.u64 %a1, mine;\n    cvta.local.u64 %a2, %a1;\n    mov.u32 "
                "%r5, %tid.x;\n"
                "    st.u32 [%a2+12], %r5;\n    ld.local.u32 %r6, [mine+12];\n    sub.u32 %r6, %r6, %r5;\n    "
                "st.global.u32 [%o], %r6;\n"
                "    cvta.to.local.u64 %a3, %a2;\n    setp.eq.u64 %p1, %a3, %a1;\n    selp.u32 %r9, 1, 0, %p1;\n"
                "    st.global.u32 [%o+4], %r9;\n" SPACES("%a2") "    st.global.u32 [%o+8], %r4;\n" TAIL,
     1,
     0,
     {0, 1, 4}},
    {"alloca gives each thread memory, stackrestore takes it back",
     HEAD ENTRY "    mov.u32 %r5, %tid.x;\n    mov.u64 %a1, 40;\n    stacksave.u64 %a2;\n    alloca.u64 %a3, %a1, 16;\n"
                "    st.local.u32 [%a3], %r5;\n    st.local.u32 [%a3+36], 5;\n    alloca.u64 %a4, %a1;\n    "
                "st.local.u32 [%a4], 77;\n"
                "    st.local.u32 [%a4+36], 78;\n    ld.local.u32 %r6, [%a3];\n    sub.u32 %r6, %r6, %r5;\n    "
                "st.global.u32 [%o], %r6;\n"
                "    ld.local.u32 %r7, [%a3+36];\n    st.global.u32 [%o+4], %r7;\n    and.b64 %a5, %a3, 15;\n    "
                "cvt.u32.u64 %r8, %a5;\n"
                "    st.global.u32 [%o+8], %r8;\n    stackrestore.u64 %a2;\n    alloca.u64 %a6, %a1, 16;\n    "
                "setp.eq.u64 %p1, %a6, %a3;\n"
                "    selp.u32 %r9, 1, 0, %p1;\n    st.global.u32 [%o+12], %r9;\n    stackrestore.u64 %a2;\n" TAIL,
     1,
     0,
     {0, 5, 0, 1}},
    {"a predicate beside a result that nobody wants is each lane's own",
     HEAD ENTRY "    elect.sync _|%p1, 0xffffffff;\n    selp.u32 %r3, 1, 0, %p1;\n    mov.u32 %r5, %laneid;\n"
                "    setp.eq.u32 %p2, %r5, 0;\n    selp.u32 %r6, 1, 0, %p2;\n    xor.b32 %r6, %r6, %r3;\n"
                "    st.global.u32 [%o], %r6;\n    mov.u32 %r7, 0;\n    @%p1 bra CHOSEN;\n    bra DONE;\n"
                "CHOSEN:\n    mov.u32 %r7, 1;\nDONE:\n    xor.b32 %r7, %r7, %r3;\n    st.global.u32 [%o+4], %r7;\n"
                "    match.all.sync.b32 _|%p3, %r5, 0xffffffff;\n    selp.u32 %r8, 1, 2, %p3;\n    st.global.u32 [%o+8], %r8;\n" TAIL,
     1,
     0,
     {0, 0, 2}},
    {"shared addresses map into the other block of a cluster",
     HEAD ENTRY
     "    .shared .align 4 .b32 word;\n    mov.u32 %r5, %cluster_ctarank;\n    add.u32 %r6, %r5, 50;\n"
     "    st.shared.u32 [word], %r6;\n    barrier.cluster.arrive;\n    barrier.cluster.wait;\n    mov.u64 %a1, word;\n"
     "    xor.b32 %r7, %r5, 1;\n    mapa.shared::cluster.u64 %a2, %a1, %r7;\n    ld.shared::cluster.u32 %r8, [%a2];\n"
     "    add.u32 %r8, %r8, %r5;\n    st.global.u32 [%o], %r8;\n    getctarank.shared::cluster.u64 %r9, %a2;\n"
     "    add.u32 %r9, %r9, %r5;\n    st.global.u32 [%o+4], %r9;\n    cvta.shared.u64 %a3, %a1;\n"
     "    mapa.u64 %a4, %a3, %r5;\n    ld.u32 %r10, [%a4];\n    sub.u32 %r10, %r10, %r5;\n    st.global.u32 [%o+8], "
     "%r10;\n"
     "    getctarank.u64 %r11, %a3;\n    sub.u32 %r11, %r11, %r5;\n    st.global.u32 [%o+12], %r11;\n"
     "    barrier.cluster.arrive;\n    barrier.cluster.wait;\n" TAIL,
     2,
     2,
     {51, 1, 50, 0}},
    {"128-bit registers go from and to memory, halves and each other",
     HEAD ENTRY "    .reg .b128 %q<3>;\n    .shared .align 16 .b8 sh[4096];\n    mov.u32 %r5, %tid.x;\n    mul.wide.u32 %a1, "
                "%r5, 16;\n    mov.u64 %a2, sh;\n    add.u64 %a2, %a2, %a1;\n    mov.u64 %a3, 0x100000002;\n    mov.u64 %a4, "
                "0x300000004;\n    mov.b128 %q0, {%a3, %a4};\n    setp.ge.u32 %p1, %r5, 16;\n    mov.b128 %q1, %q0;\n"
                "    mov.b128 %q2, {%a4, %a3};\n    @%p1 mov.b128 %q1, %q2;\n    st.shared.b128 [%a2], %q1;\n    "
                "ld.shared.b128 %q2, [%a2];\n    mov.b128 {%a5, %a6}, %q2;\n    @%p1 xor.b64 %a5, %a5, %a6;\n    @%p1 xor.b64 "
                "%a6, %a5, %a6;\n    @%p1 xor.b64 %a5, %a5, %a6;\n    st.global.u64 [%o], %a5;\n    st.global.u64 [%o+8], "
                "%a6;\n    ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%a2];\n    add.u32 %r6, %r6, %r8;\n    add.u32 %r7, %r7, "
                "%r9;\n    st.global.u32 [%o+16], %r6;\n    st.global.u32 [%o+20], %r7;\n" TAIL,
     1,
     0,
     {2, 1, 4, 3, 6, 4}},
    {"one lane is elected, named barriers count threads, hints do nothing",
     HEAD ENTRY
     "    .shared .align 4 .b32 word;\n    mov.u32 %r5, %tid.x;\n    elect.sync %r6|%p1, 0xffff;\n    selp.u32 %r7, 1, 0, %p1;\n"
     "    setp.eq.u32 %p2, %r5, 0;\n    @%p2 st.shared.u32 [word], 0;\n    barrier.sync 3, 64;\n    atom.shared.add.u32 %r8, [word], "
     "%r7;\n    bar.red.popc.u32 %r9, 4, 64, %p2;\n    ld.shared.u32 %r10, [word];\n    st.global.u32 [%o], %r10;\n    "
     "st.global.u32 [%o+4], %r9;\n    griddepcontrol.wait;\n    griddepcontrol.launch_dependents;\n    "
     "setmaxnreg.inc.sync.aligned.u32 64;\n    setmaxnreg.dec.sync.aligned.u32 40;\n    nanosleep.u32 20;\n    fence.proxy.async;\n    "
     "fence.proxy.async.shared::cta;\n    fence.proxy.async.global;\n    fence.proxy.alias;\n    "
     "fence.proxy.tensormap::generic.release.gpu;\n    fence.proxy.tensormap::generic.acquire.gpu [%o], 128;\n    "
     "fence.mbarrier_init.release.cluster;\n    fence.acq_rel.cluster;\n    prefetch.tensormap [%o];\n    mov.u64 %a1, "
     "%globaltimer;\n    mov.u64 %a2, %clock64;\n    nanosleep.u32 20;\n    mov.u64 %a3, %globaltimer;\n    mov.u64 %a4, %clock64;\n"
     "    setp.gt.u64 %p1, %a3, %a1;\n    setp.gt.and.u64 %p1, %a4, %a2, %p1;\n    selp.u32 %r11, 1, 0, %p1;\n    st.global.u32 "
     "[%o+8], %r11;\n" TAIL,
     1,
     0,
     {2, 1, 1}},
    {"a kernel says its cluster's size itself",
     HEAD ".visible .entry k(.param .u64 out) .explicitcluster .reqnctapercluster 2\n{\n    .reg .b64 %o, %a<10>;\n    .reg .b32 "
          "%r<16>;\n    .reg .pred %p<4>;\n    ld.param.u64 %o, [out];\n    mov.u32 %r0, %tid.x;\n    mov.u32 %r1, %ctaid.x;\n    "
          "mov.u32 %r2, %ntid.x;\n    mad.lo.u32 %r0, %r1, %r2, %r0;\n    mul.wide.u32 %a0, %r0, 32;\n    add.u64 %o, %o, %a0;\n    "
          "mov.u32 %r3, %cluster_nctarank;\n    st.global.u32 [%o], %r3;\n    mov.u32 %r4, %cluster_ctarank;\n    mov.u32 %r5, "
          "%clusterid.x;\n    shl.b32 %r5, %r5, 1;\n    add.u32 %r4, %r4, %r5;\n    sub.u32 %r4, %r4, %r1;\n    st.global.u32 [%o+4], "
          "%r4;\n    mov.pred %p0, %is_explicit_cluster;\n    selp.u32 %r6, 1, 0, %p0;\n    st.global.u32 [%o+8], %r6;\n    "
          "barrier.cluster.arrive.release.aligned;\n    barrier.cluster.wait.acquire.aligned;\n" TAIL,
     4,
     0,
     {2, 0, 1}},
};

enum { SKIP = 2 };

static int run(const char *name, const char *ptx, unsigned grid, unsigned cluster, const uint32_t *want)
{
    enum { THREADS = 64 };
    char err[500] = "";
    struct wg *g;
    struct wg_module *m;
    uint64_t out;
    struct wg_options o = {.size = sizeof o, .jobs = 1};
    if (wg_open(&o, &g, err, sizeof err))
        return printf("%s: %s\n", name, err), 1;
    enum wg_status st = wg_alloc(g, grid * THREADS * 32, 256, &out);
    if (!st)
        st = wg_module_load(g, ptx, strlen(ptx), "special.ptx", NULL, &m);
    if (!st) {
        void *args[] = {&out};
        struct wg_launch l = {.size = sizeof l,
                              .grid = {grid, 1, 1},
                              .block = {THREADS, 1, 1},
                              .cluster = {cluster, cluster != 0, cluster != 0},
                              .args = args};
        st = wg_launch(g, wg_module_kernel_at(m, 0), &l);
    }
    int wrong = st == WG_UNSUPPORTED ? SKIP : st != WG_OK; /* refused by name: said, and not counted as passed */
    if (st)
        printf("%s: %s: %s\n", name, wg_status_text(st), wg_error(g));
    const uint32_t *got = (const uint32_t *)(uintptr_t)out;
    for (unsigned i = 0; !st && !wrong && i < grid * THREADS; i++)
        for (unsigned k = 0; k < 8; k++)
            if (got[i * 8 + k] != want[k]) {
                printf("%s: thread %u, number %u: %" PRIu32 ", expected %" PRIu32 "\n", name, i, k, got[i * 8 + k],
                       want[k]);
                wrong = 1;
                break;
            }
    wg_close(g);
    return wrong;
}

int main(int argc, char **argv)
{
    unsigned failed = 0, skipped = 0, n = sizeof cases / sizeof *cases;
    if (argc == 2 && !strcmp(argv[1], "--ptx")) /* for an assembler to check */
        for (unsigned i = 0; i < n; i++)
            printf("//// %s\n%s", cases[i].name, cases[i].ptx);
    else
        for (unsigned i = 0; i < n; i++)
            switch (run(cases[i].name, cases[i].ptx, cases[i].grid, cases[i].cluster, cases[i].want)) {
            case 0: break;
            case SKIP: skipped++; break;
            default: failed++;
            }
    if (argc == 1)
        printf("%u passed, %u failed, %u refused by name\n", n - failed - skipped, failed, skipped);
    return failed != 0;
}
