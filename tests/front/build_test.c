/* build_test.c - wg_build: what it makes, what it says, what it leaves behind. argv: stub library, headers, scratch. */
#include "cli/build.h"
#include "cli/compiler.h"
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static const char *stub, *headers, *scratch;
static char err[1024], said[1 << 16], printed[1 << 16];

static const char *put(const char *name, const char *text)
{
    static char path[8][512];
    static int at;
    char *p = path[at++ % 8];
    snprintf(p, sizeof path[0], "%s/%s", scratch, name);
    FILE *f = fopen(p, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return p;
}

/* Folders that a killed or failed run left. */
static int sweep(void **state)
{
    char *argv[] = {"sh", "-c", "rm -rf \"$0\"/warpgrind-build-*", (char *)scratch, NULL};
    (void)state;
    return wg_proc_read(argv, printed, sizeof printed) ? 0 : -1;
}

static enum wg_status build(const char *compiler, const char *const *sources, size_t n, const char *const *args,
                            size_t nargs, struct wg_built *out)
{
    FILE *m = tmpfile();
    struct wg_build_options o = {.size = sizeof o, .compiler = compiler, .sources = sources, .nsources = n,
                                 .args = args, .nargs = nargs, .include = headers, .library = stub, .sm = "sm_80",
                                 .temporary = scratch, .messages = m};
    err[0] = 0;
    enum wg_status s = wg_build(&o, out, err, sizeof err);
    rewind(m);
    said[fread(said, 1, sizeof said - 1, m)] = 0;
    fclose(m);
    return s;
}

/* What the built program prints. */
static void run(const struct wg_built *b)
{
    char *argv[] = {b->program, NULL};
    assert_true(wg_proc_read(argv, printed, sizeof printed));
}

static int folders(void)
{
    int n = 0;
    DIR *d = opendir(scratch);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        n += strncmp(e->d_name, "warpgrind-build-", 16) == 0;
    closedir(d);
    return n;
}

static const char program[] =
    "#include <cstdio>\n"
    "__constant__ float table[3];\n"
    "template <class T> __global__ void scale(int n, T *p) { if ((int)threadIdx.x < n) p[threadIdx.x] *= (T)table[1]; }\n"
    "int main() { float t[3] = {1, 2, 3}; cudaMemcpyToSymbol(table, t, sizeof t);\n"
    "  scale<float><<<dim3(2, 3), 64, 128>>>(41 + VALUE, (float *)0);\n"
    "  return cudaDeviceSynchronize(); }\n";

static void clang_builds_a_program_that_carries_its_ptx(void **state)
{
    (void)state;
    const char *sources[] = {put("one.cu", program)}, *args[] = {"-DVALUE=1", "-std=c++14", "-O2"};
    struct wg_built b;
    assert_int_equal(build("clang", sources, 1, args, 3, &b), WG_OK);
    assert_string_equal(said, "");
    assert_memory_equal(b.compiler, "clang ", 6);
    assert_string_equal(b.sm, "sm_80");
    assert_int_equal(folders(), 1);
    run(&b);
    assert_non_null(strstr(printed, "fatbin wrapper 466243b1 container ba55ed50 kind 1 ptx "));
    assert_non_null(strstr(printed, " sm_80\n"));
    assert_non_null(strstr(printed, "variable table of 12 bytes, constant\n"));
    assert_non_null(strstr(printed, "to symbol 12 bytes at 0\n"));
    assert_non_null(strstr(printed, "launch _Z5scaleIfEviPT_ <<<(2,3,1), (64,1,1), 128>>> first argument 42\n"));
    wg_build_remove(&b);
    wg_build_remove(&b);
    assert_int_equal(folders(), 0);
}

static void several_files_of_each_kind_are_linked(void **state)
{
    (void)state;
    const char *sources[] = {
        put("a.cu", "__global__ void ka(int n) {}\nvoid b(); extern \"C\" int c(void); int d();\n"
                    "int main() { ka<<<1, c()>>>(d()); b(); }\n"),
        put("b.cu", "__global__ void kb(int n) {}\nvoid b() { kb<<<1, 2>>>(7); }\n"),
        put("c.c", "#include <cuda_runtime_api.h>\nint c(void) { return cudaErrorInvalidDevice; }\n"),
        put("d.cpp", "#include <cuda_runtime.h>\nint d() { return (int)make_uint3(1, 2, 3).y; }\n"),
    };
    struct wg_built b;
    assert_int_equal(build("clang", sources, 4, NULL, 0, &b), WG_OK);
    run(&b);
    assert_non_null(strstr(printed, "launch _Z2kai <<<(1,1,1), (101,1,1), 0>>> first argument 2\n"));
    assert_non_null(strstr(printed, "launch _Z2kbi <<<(1,1,1), (2,1,1), 0>>> first argument 7\n"));
    wg_build_remove(&b);
}

static void an_error_is_shown_once_and_unchanged(void **state)
{
    (void)state;
    const char *sources[] = {put("bad.cu", "int main() { return missing; }\n")};
    struct wg_built b;
    assert_int_equal(build("clang", sources, 1, NULL, 0, &b), WG_PARSE);
    char *first = strstr(said, "error: use of undeclared identifier 'missing'");
    assert_non_null(strstr(said, "bad.cu:1:21: error: "));
    assert_non_null(first);
    if (strstr(first + 1, "error:"))
        fail_msg("shown twice:\n%s", said);
    assert_non_null(strstr(err, "could not build"));
    assert_non_null(strstr(err, "bad.cu"));
    assert_int_equal(folders(), 0);
}

static void an_error_of_the_host_pass_alone_is_shown(void **state)
{
    (void)state;
    const char *sources[] = {put("host.cu", "#ifndef __CUDA_ARCH__\n#error only here\n#endif\nint main() {}\n")};
    struct wg_built b;
    assert_int_equal(build("clang", sources, 1, NULL, 0, &b), WG_PARSE);
    assert_non_null(strstr(said, "only here"));
    assert_int_equal(folders(), 0);
}

static void a_warning_of_both_passes_is_shown_once(void **state)
{
    (void)state;
    const char *sources[] = {put("warn.cu", "#warning look\nint main() {}\n")};
    struct wg_built b;
    assert_int_equal(build("clang", sources, 1, NULL, 0, &b), WG_OK);
    char *first = strstr(said, "warning: look");
    assert_non_null(first);
    assert_null(strstr(first + 1, "warning: look"));
    wg_build_remove(&b);
}

static void managed_variables_are_refused_by_name(void **state)
{
    (void)state;
    const char *sources[] = {put("managed.cu", "__managed__ int x;\nint main() {}\n")};
    struct wg_built b;
    assert_int_equal(build("clang", sources, 1, NULL, 0, &b), WG_PARSE);
    assert_non_null(strstr(said, "__managed__ variables cannot be compiled by clang"));
}

static void wrong_input_has_a_message_each(void **state)
{
    (void)state;
    const char *missing[] = {"/nonexistent/x.cu"}, *good[] = {put("good.cu", "int main() {}\n")}, *out[] = {"-o", "x"};
    struct wg_built b;
    assert_int_equal(build("clang", missing, 1, NULL, 0, &b), WG_NOT_FOUND);
    assert_string_equal(err, "/nonexistent/x.cu: No such file or directory");
    assert_int_equal(build("/nonexistent/clang", good, 1, NULL, 0, &b), WG_NOT_FOUND);
    assert_string_equal(err, "no such compiler: /nonexistent/clang");
    assert_int_equal(build("clang", good, 1, out, 2, &b), WG_INVALID);
    assert_non_null(strstr(err, "-o"));
    assert_int_equal(build("clang", NULL, 0, NULL, 0, &b), WG_INVALID);
    assert_int_equal(folders(), 0);
}

static void options_of_nvcc_are_understood(void **state)
{
    (void)state;
    const char *args[] = {"-arch=sm_86", "-lineinfo", "-Xptxas", "-v", "-Xcompiler", "-Wall,-fopenmp", "--maxrregcount=32",
                          "-use_fast_math", "-lm", "-I", "dir", "-L", "libs", "-gencode", "arch=compute_90a,code=sm_90a",
                          "-g", "-Xlinker", "-zdefs"};
    struct wg_clang_options o;
    wg_clang_options_sort(&o, args, sizeof args / sizeof *args);
    assert_string_equal(o.sm, "sm_90a");
    assert_null(o.bad);
    assert_int_equal(o.both.n, 5); /* -I dir, three of fast math */
    assert_string_equal(o.both.v[o.both.n - 2], "-I");
    assert_string_equal(o.host.v[0], "-Wall");
    assert_string_equal(o.host.v[1], "-fopenmp");
    assert_string_equal(o.host.v[2], "-g");
    assert_int_equal(o.link.n, 5); /* -Wall -fopenmp -lm -Llibs -Wl,-zdefs */
    assert_string_equal(o.link.v[3], "-Llibs");
    assert_string_equal(o.link.v[4], "-Wl,-zdefs");
    wg_clang_options_free(&o);
}

static void architectures_beyond_the_compiler_become_its_newest(void **state)
{
    (void)state;
    struct wg_compiler c = {.kind = WG_COMPILER_CLANG, .major = 19};
    char buf[16];
    assert_string_equal(wg_compiler_arch(&c, "sm_75", buf), "sm_75");
    assert_string_equal(wg_compiler_arch(&c, "sm_90a", buf), "sm_90a");
    assert_string_equal(wg_compiler_arch(&c, "sm_100", buf), "sm_90a");
    c.major = 16;
    assert_string_equal(wg_compiler_arch(&c, "sm_90a", buf), "sm_90");
    assert_int_equal(wg_compiler_ptx(&c), 78);
    c.major = 25;
    assert_int_equal(wg_compiler_ptx(&c), 85);
}

static void nvcc_builds_with_the_shared_runtime(void **state)
{
    (void)state;
    struct wg_compiler c;
    if (wg_compiler_find("nvcc", &c, err, sizeof err) != WG_OK) {
        print_message("skipped: %s\n", err);
        skip();
    }
    const char *sources[] = {put("nv.cu", program)}, *args[] = {"-DVALUE=2"};
    struct wg_built b;
    assert_int_equal(build("nvcc", sources, 1, args, 1, &b), WG_OK);
    assert_memory_equal(b.compiler, "nvcc ", 5);
    char *ldd[] = {"readelf", "-d", b.program, NULL};
    assert_true(wg_proc_read(ldd, printed, sizeof printed));
    assert_non_null(strstr(printed, "[libcudart.so."));
    wg_build_remove(&b);
    assert_int_equal(folders(), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clang_builds_a_program_that_carries_its_ptx),
        cmocka_unit_test(several_files_of_each_kind_are_linked),
        cmocka_unit_test(an_error_is_shown_once_and_unchanged),
        cmocka_unit_test(an_error_of_the_host_pass_alone_is_shown),
        cmocka_unit_test(a_warning_of_both_passes_is_shown_once),
        cmocka_unit_test(managed_variables_are_refused_by_name),
        cmocka_unit_test(wrong_input_has_a_message_each),
        cmocka_unit_test(options_of_nvcc_are_understood),
        cmocka_unit_test(architectures_beyond_the_compiler_become_its_newest),
        cmocka_unit_test(nvcc_builds_with_the_shared_runtime),
    };
    struct wg_compiler c;
    if (argc != 4)
        return 2;
    stub = argv[1];
    headers = argv[2];
    scratch = argv[3];
    char *folder = strdup(stub);
    if (!folder || !strrchr(folder, '/'))
        return 2;
    *strrchr(folder, '/') = 0;
    setenv("LD_LIBRARY_PATH", folder, 1);
    free(folder);
    if (wg_compiler_find("clang", &c, err, sizeof err) != WG_OK) {
        printf("skipped: %s\n", err);
        return 77;
    }
    return cmocka_run_group_tests(tests, sweep, NULL);
}
