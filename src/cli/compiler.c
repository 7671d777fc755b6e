/* compiler.c - which CUDA compiler there is, and nvcc's options in clang's words. */
#include "cli/compiler.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- finding one ---------------------------------------------------------------------------------------------- */
static bool in_dir(const char *dir, size_t len, const char *name, char *out, size_t n)
{
    int k = snprintf(out, n, "%.*s/%s", (int)len, dir, name);
    return k > 0 && (size_t)k < n && !access(out, X_OK);
}

static bool in_path(const char *name, char *out, size_t n)
{
    if (strchr(name, '/')) {
        int k = snprintf(out, n, "%s", name);
        return k > 0 && (size_t)k < n && !access(out, X_OK);
    }
    for (const char *p = getenv("PATH"); p && *p;) {
        size_t len = strcspn(p, ":");
        if (len && in_dir(p, len, name, out, n))
            return true;
        p += len + (p[len] == ':');
    }
    return false;
}

static bool find_nvcc(char *out, size_t n)
{
    const char *homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    if (in_path("nvcc", out, n))
        return true;
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++)
        if (homes[i] && *homes[i] && in_dir(homes[i], strlen(homes[i]), "bin/nvcc", out, n))
            return true;
    return false;
}

static bool find_clang(char *out, size_t n)
{
    static const char *const names[] = {"clang++-19", "clang++-18", "clang++-17", "clang++-16", "clang++"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (in_path(names[i], out, n))
            return true;
    return false;
}

/* Reads "... version 19.1.7 ..." or "... release 13.0, V13.0.88". */
static bool read_version(struct wg_compiler *c)
{
    char text[2048], number[32];
    char *argv[] = {c->path, "--version", NULL};
    if (!wg_proc_read(argv, text, sizeof text))
        return false;
    const bool nvcc = c->kind == WG_COMPILER_NVCC;
    const char *at = strstr(text, nvcc ? "release " : "version ");
    if (!at || sscanf(at + 8, "%31[0-9.]", number) != 1)
        return false;
    c->major = (unsigned)strtoul(number, NULL, 10);
    snprintf(c->version, sizeof c->version, "%s %s", nvcc ? "nvcc" : "clang", number);
    return true;
}

enum wg_status wg_compiler_find(const char *wanted, struct wg_compiler *out, char *err, size_t n)
{
    const bool any = !wanted || !*wanted, nvcc = wanted && !strcmp(wanted, "nvcc"),
               clang = wanted && !strcmp(wanted, "clang");
    *out = (struct wg_compiler){0};
    bool found = false;
    if (any || nvcc) {
        found = find_nvcc(out->path, sizeof out->path);
        out->kind = WG_COMPILER_NVCC;
    }
    if (!found && (any || clang)) {
        found = find_clang(out->path, sizeof out->path);
        out->kind = WG_COMPILER_CLANG;
    }
    if (!any && !nvcc && !clang) {
        const char *base = strrchr(wanted, '/');
        found = in_path(wanted, out->path, sizeof out->path);
        out->kind = strstr(base ? base : wanted, "nvcc") ? WG_COMPILER_NVCC : WG_COMPILER_CLANG;
    }
    if (!found) {
        if (any)
            snprintf(err, n, "no CUDA compiler found: install clang-19 (no CUDA toolkit is needed), or put nvcc in PATH");
        else if (nvcc)
            snprintf(err, n, "nvcc not found in PATH, $CUDA_HOME/bin or /usr/local/cuda/bin");
        else if (clang)
            snprintf(err, n, "clang++-19, -18, -17 or -16 not found in PATH: install clang-19");
        else
            snprintf(err, n, "no such compiler: %s", wanted);
        return WG_NOT_FOUND;
    }
    if (!read_version(out)) {
        snprintf(err, n, "%s does not say its version", out->path);
        return WG_NOT_FOUND;
    }
    if (out->kind == WG_COMPILER_CLANG && out->major < 14) {
        snprintf(err, n, "%s is %s: at least clang 14 is needed", out->path, out->version);
        return WG_UNSUPPORTED;
    }
    return WG_OK;
}

/* What each clang knows: its LLVM's NVPTX target description. */
static const struct { unsigned major, ptx; const char *newest; } knows[] = {
    {14, 75, "sm_86"}, {15, 75, "sm_86"}, {16, 78, "sm_90"}, {17, 81, "sm_90"}, {18, 83, "sm_90a"}, {19, 85, "sm_90a"},
};
enum { KNOWN = sizeof knows / sizeof *knows };

static size_t row_of(const struct wg_compiler *c)
{
    size_t i = KNOWN - 1;
    while (i && knows[i].major > c->major)
        i--;
    return i;
}

unsigned wg_compiler_ptx(const struct wg_compiler *c)
{
    return knows[row_of(c)].ptx;
}

const char *wg_compiler_arch(const struct wg_compiler *c, const char *sm, char *buf)
{
    const char *newest = knows[row_of(c)].newest;
    const long want = strtol(sm + 3, NULL, 10), most = strtol(newest + 3, NULL, 10);
    const bool plain = want == most && !strchr(newest, 'a');
    snprintf(buf, 16, "%s", want > most ? newest : sm);
    if (plain && strchr(buf, 'a'))
        *strchr(buf, 'a') = 0;
    return buf;
}

/* ---- options -------------------------------------------------------------------------------------------------- */
static const char *after(const char *arg, const char *name)
{
    size_t n = strlen(name);
    return !strncmp(arg, name, n) ? arg + n : NULL;
}

static const char *const arch_names[] = {"-arch", "--gpu-architecture", "-gencode", "--generate-code", "-code",
                                         "--gpu-code", "--cuda-gpu-arch", "--offload-arch"};

bool wg_is_arch_option(const char *arg)
{
    for (size_t i = 0; i < sizeof arch_names / sizeof *arch_names; i++) {
        const char *rest = after(arg, arch_names[i]);
        if (rest && (!*rest || *rest == '='))
            return true;
    }
    return false;
}

/* nvcc's words that mean nothing for PTX made by clang, or are always so: plain, and with a value ("-x v" or "-x=v"). */
static const char *const drop_plain[] = {
    "-lineinfo", "--generate-line-info", "--expt-relaxed-constexpr", "-expt-relaxed-constexpr", "--extended-lambda",
    "-extended-lambda", "--expt-extended-lambda", "-expt-extended-lambda", "-rdc=false",
    "--relocatable-device-code=false", "-Wno-deprecated-gpu-targets", "-res-usage", "--resource-usage", "-m64",
    "-no-compress", "--no-compress", "-restrict", "--restrict", "-ewp",
};
static const char *const drop_value[] = {
    "-Xptxas", "--ptxas-options", "-maxrregcount", "--maxrregcount", "-cudart", "--cudart", "-diag-suppress",
    "--diag-suppress", "-t", "--threads", "-ccbin", "--compiler-bindir", "-Xcudafe", "-Xfatbin", "-Xnvlink",
    "-compress-mode", "--compress-mode", "-x", "-split-compile", "--split-compile",
};

static bool listed(const char *arg, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(arg, list[i]))
            return true;
    return false;
}

/* The value of an option that takes one, glued with '=' or as the next word; NULL: it is another option. */
static const char *value_of(const char *name, const char *const *args, size_t n, size_t *i)
{
    const char *rest = after(args[*i], name);
    if (!rest || (*rest && *rest != '='))
        return NULL;
    if (*rest)
        return rest + 1;
    return *i + 1 < n ? args[++*i] : "";
}

static void each_comma(struct wg_args *to, struct wg_args *also, const char *list)
{
    for (;;) {
        size_t len = strcspn(list, ",");
        if (len) {
            wg_args_addf(to, "%.*s", (int)len, list);
            if (also)
                wg_args_addf(also, "%.*s", (int)len, list);
        }
        if (!list[len])
            return;
        list += len + 1;
    }
}

/* "sm_80", "compute_80" or a -gencode list: the newest architecture named */
static void take_arch(struct wg_clang_options *o, const char *value)
{
    for (const char *p = value; (p = strpbrk(p, "sc")); p++) {
        const char *digits = after(p, "sm_");
        digits = digits ? digits : after(p, "compute_");
        unsigned sm;
        char letter = 0;
        if (!digits || sscanf(digits, "%u%c", &sm, &letter) < 1 || sm > 999)
            continue;
        if (!o->sm[0] || sm >= strtoul(o->sm + 3, NULL, 10))
            snprintf(o->sm, sizeof o->sm, "sm_%u%s", sm, letter == 'a' ? "a" : "");
    }
}

static void fast_math(struct wg_clang_options *o, unsigned what)
{
    if (what & 1)
        wg_args_add(&o->device, "-fcuda-flush-denormals-to-zero");
    if (what & 2) {
        wg_args_add(&o->device, "-mllvm");
        wg_args_add(&o->device, "-nvptx-prec-divf32=0");
    }
    if (what & 4) {
        wg_args_add(&o->device, "-mllvm");
        wg_args_add(&o->device, "-nvptx-prec-sqrtf32=0");
        wg_args_add(&o->both, "-DWG_APPROX_SQRT=1");
    }
    if (what & 8) {
        wg_args_add(&o->both, "-fgpu-approx-transcendentals");
        wg_args_add(&o->both, "-D__USE_FAST_MATH__=1");
    }
}

/* Options that need more than being passed on. */
static bool translate(struct wg_clang_options *o, const char *const *args, size_t n, size_t *i)
{
    static const struct { const char *name; unsigned what; } fast[] = {
        {"-use_fast_math", 15}, {"--use_fast_math", 15}, {"-ftz=true", 1}, {"--ftz=true", 1}, {"-prec-div=false", 2},
        {"--prec-div=false", 2}, {"-prec-sqrt=false", 4}, {"--prec-sqrt=false", 4}, {"-ftz=false", 0},
        {"-prec-div=true", 0}, {"-prec-sqrt=true", 0}, {"-fmad=true", 0}, {"--fmad=true", 0},
    };
    const char *arg = args[*i], *value;
    for (size_t k = 0; k < sizeof fast / sizeof *fast; k++)
        if (!strcmp(arg, fast[k].name)) {
            fast_math(o, fast[k].what);
            return true;
        }
    if (!strcmp(arg, "-fmad=false") || !strcmp(arg, "--fmad=false")) {
        wg_args_add(&o->device, "-ffp-contract=off");
        return true;
    }
    if (!strcmp(arg, "-G") || !strcmp(arg, "--device-debug")) {
        wg_args_add(&o->device, "-O0");
        wg_args_add(&o->host, "-g");
        return true;
    }
    if (!strcmp(arg, "-rdc=true") || !strcmp(arg, "-dc") || !strcmp(arg, "--device-c") || !strcmp(arg, "--relocatable-device-code=true")) {
        o->rdc = true;
        return true;
    }
    for (size_t k = 0; k < sizeof arch_names / sizeof *arch_names; k++)
        if ((value = value_of(arch_names[k], args, n, i))) {
            take_arch(o, value);
            return true;
        }
    if ((value = value_of("-Xcompiler", args, n, i)) || (value = value_of("--compiler-options", args, n, i))) {
        each_comma(&o->host, &o->link, value);
        return true;
    }
    if ((value = value_of("-Xlinker", args, n, i)) || (value = value_of("--linker-options", args, n, i))) {
        wg_args_addf(&o->link, "-Wl,%s", value);
        return true;
    }
    for (size_t k = 0; k < sizeof drop_value / sizeof *drop_value; k++)
        if (value_of(drop_value[k], args, n, i))
            return true;
    return listed(arg, drop_plain, sizeof drop_plain / sizeof *drop_plain);
}

void wg_clang_options_sort(struct wg_clang_options *o, const char *const *args, size_t n)
{
    static const char *const two_words[] = {"-I", "-D", "-U", "-include", "-isystem", "-iquote", "-idirafter"};
    *o = (struct wg_clang_options){0};
    for (size_t i = 0; i < n; i++) {
        const char *a = args[i];
        if (translate(o, args, n, &i))
            continue;
        if (listed(a, two_words, sizeof two_words / sizeof *two_words) && i + 1 < n) {
            wg_args_add(&o->both, a);
            wg_args_add(&o->both, args[++i]);
        } else if (!strcmp(a, "-L") && i + 1 < n) {
            wg_args_addf(&o->link, "-L%s", args[++i]);
        } else if (after(a, "-l") || after(a, "-L") || after(a, "-Wl,") || after(a, "-fuse-ld") || !strcmp(a, "-s")) {
            wg_args_add(&o->link, a);
        } else if (!strcmp(a, "-c") || !strcmp(a, "-S") || !strcmp(a, "-E") || after(a, "-o") == a + 2) {
            o->bad = a;
        } else if (after(a, "-O") || after(a, "-g")) {
            wg_args_add(&o->host, a);
        } else if (after(a, "-f") || after(a, "-m") || !strcmp(a, "-pthread")) {
            wg_args_add(&o->host, a);
            wg_args_add(&o->link, a);
        } else {
            wg_args_add(&o->both, a);
        }
    }
}

void wg_clang_options_free(struct wg_clang_options *o)
{
    wg_args_free(&o->both);
    wg_args_free(&o->device);
    wg_args_free(&o->host);
    wg_args_free(&o->link);
}
