/* printf_sink_test.c - a kernel's printf arrives whole at the caller's sink, however long its format and strings are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <warpgrind/warpgrind.h>

struct text { char *p; size_t n; };
static void sink(void *ctx, const char *text, size_t n)
{
    struct text *t = ctx;
    t->p = realloc(t->p, t->n + n + 1);
    assert_non_null(t->p);
    memcpy(t->p + t->n, text, n);
    t->n += n;
    t->p[t->n] = 0;
}

/* ".global .b8 NAME[n + 1] = {text, 0};" */
static void variable(FILE *f, const char *name, const char *text)
{
    fprintf(f, ".global .align 1 .b8 %s[%zu] = {", name, strlen(text) + 1);
    for (const char *s = text; *s; s++)
        fprintf(f, "%d,", *s);
    fprintf(f, "0};\n");
}

static char *printing_kernel(const char *format, const char *string)
{
    char *ptx = NULL;
    size_t n;
    FILE *f = open_memstream(&ptx, &n);
    assert_non_null(f);
    fprintf(f, ".version 8.0\n.target sm_80\n.address_size 64\n");
    variable(f, "fmt", format);
    variable(f, "str", string);
    fprintf(f, ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
               ".visible .entry k()\n{\n    .local .align 8 .b8 buf[8];\n    .reg .b64 %%a, %%s, %%f;\n"
               "    mov.u64 %%a, str;\n    cvta.global.u64 %%a, %%a;\n    st.local.u64 [buf], %%a;\n"
               "    mov.u64 %%s, buf;\n    cvta.local.u64 %%s, %%s;\n    mov.u64 %%f, fmt;\n"
               "    cvta.global.u64 %%f, %%f;\n    { .param .b64 p0; st.param.b64 [p0], %%f; .param .b64 p1;\n"
               "    st.param.b64 [p1], %%s; .param .b32 r; call.uni (r), vprintf, (p0, p1); }\n    ret;\n}\n");
    fclose(f);
    return ptx;
}

static char *of_length(size_t n)
{
    char *s = malloc(n + 1);
    assert_non_null(s);
    for (size_t i = 0; i < n; i++)
        s[i] = (char)('a' + i % 26);
    s[n] = 0;
    return s;
}

static void check(size_t format_bytes, size_t string_bytes)
{
    char *head = of_length(format_bytes), *string = of_length(string_bytes), *format = malloc(format_bytes + 8);
    assert_non_null(format);
    sprintf(format, "%s<%%s>\n", head);
    char *ptx = printing_kernel(format, string), err[200];
    struct text got = {NULL, 0};
    struct wg_options o = {.size = sizeof o, .jobs = 1, .printf_sink = sink, .ctx = &got};
    struct wg *g;
    struct wg_module *m;
    assert_int_equal(wg_open(&o, &g, err, sizeof err), WG_OK);
    assert_int_equal(wg_module_load(g, ptx, strlen(ptx), "p.ptx", NULL, &m), WG_OK);
    struct wg_launch l = {.size = sizeof l, .grid = {1, 1, 1}, .block = {2, 1, 1}};
    assert_int_equal(wg_launch(g, wg_module_kernel(m, "k"), &l), WG_OK);
    char *want = malloc(2 * (format_bytes + string_bytes + 4));
    assert_non_null(want);
    sprintf(want, "%s<%s>\n%s<%s>\n", head, string, head, string);
    assert_non_null(got.p);
    assert_true(got.n == strlen(want) && memcmp(got.p, want, got.n) == 0);
    wg_close(g);
    free(want), free(got.p), free(ptx), free(format), free(string), free(head);
}

static void any_length_arrives_whole(void **state)
{
    (void)state;
    for (size_t n = 0; n < 40000; n = n * 3 + 1000)
        check(n, n);
    check(1015, 1); /* at the edges of the buffers on the stack */
    check(1020, 1019);
    check(2000, 43);
    check(3, 30000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_length_arrives_whole)};
    return cmocka_run_group_tests_name("printf", tests, NULL, NULL);
}
