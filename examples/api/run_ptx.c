/* run_ptx.c - the C API on one page: load PTX, launch a kernel of it, check its result, read what it did to memory.
 *
 *     cc run_ptx.c $(pkg-config --cflags --libs warpgrind) -o run_ptx && ./run_ptx
 */
#include <stdio.h>
#include <string.h>
#include <warpgrind/profile.h>

/* out[i * 2] = i: every other word, so half of each sector that moves is wasted */
static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry every_other(.param .u64 out)\n{\n"
                          "    .reg .b64 %a, %o;\n    .reg .b32 %i, %b, %n;\n"
                          "    ld.param.u64 %o, [out];\n    cvta.to.global.u64 %o, %o;\n"
                          "    mov.u32 %b, %ctaid.x;\n    mov.u32 %n, %ntid.x;\n    mov.u32 %i, %tid.x;\n"
                          "    mad.lo.u32 %i, %b, %n, %i;\n    mul.wide.u32 %a, %i, 8;\n    add.u64 %a, %o, %a;\n"
                          "    st.global.u32 [%a], %i;\n    ret;\n}\n";

int main(void)
{
    enum { BLOCKS = 4, THREADS = 128, N = BLOCKS * THREADS };
    const struct wg_options options = {.size = sizeof options, .device = "H200"};
    struct wg *g;
    struct wg_module *module;
    uint64_t out;
    char err[512];
    if (wg_open(&options, &g, err, sizeof err) != WG_OK) {
        fprintf(stderr, "%s\n", err);
        return 1;
    }
    struct wg_launch launch = {.size = sizeof launch, .grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1},
                               .args = (void *[]){&out}};
    if (wg_module_load(g, ptx, strlen(ptx), "every_other.ptx", NULL, &module) != WG_OK ||
        wg_alloc(g, N * 8, 256, &out) != WG_OK ||
        wg_launch(g, wg_module_kernel(module, "every_other"), &launch) != WG_OK) {
        fprintf(stderr, "%s\n", wg_error(g));
        wg_close(g);
        return 1;
    }

    /* Device memory lies in this process: read it where it is. */
    const uint32_t *result = (const uint32_t *)(uintptr_t)out;
    int wrong = 0;
    for (uint32_t i = 0; i < N; i++)
        wrong += result[i * 2] != i;
    printf("%s: %d of %d wrong\n", wrong ? "FAIL" : "PASS", wrong, N);

    const struct wg_launch_result *r = &wg_get_profile(g)->launches[0];
    for (size_t i = 0; i < r->nsites; i++)
        if (r->sites[i].kind == WG_SITE_STORE)
            printf("PTX line %u: %s\n    %llu requests, %llu sectors; %llu would do\n", r->sites[i].ptx_line,
                   r->sites[i].text, (unsigned long long)r->sites[i].c[WG_C_ACCESS],
                   (unsigned long long)r->sites[i].c[WG_C_SECTORS],
                   (unsigned long long)r->sites[i].c[WG_C_SECTORS_IDEAL]);
    wg_close(g);
    return wrong != 0;
}
