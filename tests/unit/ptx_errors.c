/* ptx_errors.c - malformed PTX gets a message at the right line and column; failing allocation and deep nesting do
 * too. */
#include "ptx_util.h"

#define E "\n.entry k() {\n.reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;\n" /* next: line 7 */
#define Q PTX_HEAD ".global .u32 g;" E

static const struct { const char *text; unsigned line, col; const char *says; } cases[] = {
    {"", 1, 1, "starts with .version"},
    {".target sm_90\n", 1, 1, "starts with .version"},
    {".version x\n", 1, 10, "a version such as"},
    {".version 8.5\n.target 90", 2, 9, "a target such as"},
    {".version 8.5\n", 2, 1, "no .target"},
    {PTX_HEAD "nonsense", 4, 1, "a directive is expected"},
    {PTX_HEAD ".nonsense", 4, 1, "'.nonsense' is not known"},
    {PTX_HEAD "/* open", 4, 1, "comment has no end"},
    {PTX_HEAD ".file 1 \"open\n", 4, 9, "no closing quote"},
    {PTX_HEAD ".address_size 16", 4, 15, "32 or 64 bits"},
    {PTX_HEAD ".global .u32 a[4] = {1,2,3,4,5};", 4, 30, "more than 4 values"},
    {PTX_HEAD ".global .u32 a[4][];", 4, 19, "only the first dimension"},
    {PTX_HEAD ".global .u32 a = nobody;", 4, 18, "'nobody' is no declared variable"},
    {PTX_HEAD ".global .u32 a; .global .u32 a;", 4, 30, "already declared"},
    {PTX_HEAD ".global .u32 a = 1.5;", 4, 18, "cannot be initialised with a floating-point"},
    {PTX_HEAD ".global .align 3 .u32 a;", 4, 16, "power of two"},
    {PTX_HEAD ".global a;", 4, 1, "no type"},
    {PTX_HEAD ".global .b8 a[0x7fffffffffffffff][16];", 4, 14, "too large"},
    {PTX_HEAD ".global .b8 a[0xfffffffffffffffff];", 4, 15, "does not fit 64 bits"},
    {PTX_HEAD ".entry k(.param .u32) {}", 4, 21, "name of the parameter"},
    {PTX_HEAD ".entry k(.u32 a) {}", 4, 10, "a parameter is .param or .reg"},
    {PTX_HEAD ".entry k() { ret;", 4, 12, "no closing '}'"},
    {PTX_HEAD ".entry k() { } .entry k() { }", 4, 23, "has a body already"},
    {Q "add.u32 %r1, %r2, %r9; }", 7, 19, "'%r9' is not declared"},
    {Q "add.u32 %r1, %r2, %r01; }", 7, 19, "'%r01' is not declared"},
    {Q "ld.global.u32 %r1, g[%r2]; }", 7, 22, "an array's index is a constant here"},
    {Q "ld.global.u32 %r1, g[1.5]; }", 7, 22, "an array's index is an integer"},
    {Q "ld.global.u32 %r1, g[1; }", 7, 23, "']'"},
    {Q "add.u32 %r1, %r2; }", 7, 1, "operands are missing after the first 2"},
    {Q "add.u32 %r1, %r2, %r3, %r4; }", 7, 1, "operand 4 cannot stand there"},
    {Q "add.u32 %r1, %r2, [%rd1]; }", 7, 1, "operand 3 cannot stand there"},
    {Q "add.u32 5, %r2, %r1; }", 7, 1, "operand 1 cannot stand there"},
    {Q "add.u32 %r1 %r2, %r3; }", 7, 13, "',' or ';' is expected"},
    {Q "add.u32 %r1, , %r3; }", 7, 14, "an operand is expected"},
    {Q "add.u64 %r1, %rd2, %rd3; }", 7, 1, "register in operand 1 does not fit"},
    {Q "add.u32 %p1, %r2, %r3; }", 7, 1, "register in operand 1 does not fit"},
    {Q "add %r1, %r2, %r3; }", 7, 1, "add needs a type"},
    {Q "setp.s32 %p1, %r2, %r3; }", 7, 1, "needs a comparison"},
    {Q "mul.s32 %r1, %r2, %r3; }", 7, 1, "needs .lo, .hi or .wide"},
    {Q "cvt.f32 %f1, %r3; }", 7, 1, "needs two types"},
    {Q "selp.b32 %r1, %r2, %r3, %r4; }", 7, 1, "operand 4 cannot stand there"},
    {Q "ld.global.u32 %r1, %rd1; }", 7, 1, "operand 2 cannot stand there"},
    {Q "ld.global.u32 %r1, [%p1]; }", 7, 1, "address in operand 2"},
    {Q "ld.global.v2.u32 {%r1,%r2,%r3}, [%rd1]; }", 7, 1, "{vector} does not match"},
    {Q "ld.global.v4.u32 %r1, [%rd1]; }", 7, 1, "{vector} does not match"},
    {Q "mov.b64 {%r1,%r2,%r3}, %rd1; }", 7, 1, "{vector} does not match"},
    {Q "mov.b64 {}, %rd1; }", 7, 1, "operand 1 cannot stand there"},
    {Q "mov.f32 %f1, 0f123; }", 7, 14, "exactly 8 hexadecimal digits"},
    {Q "mov.u32 %r1, 12abc; }", 7, 14, "no number"},
    {Q "mov.u32 %r1, 1/0; }", 7, 15, "division by zero"},
    {Q "ld.global.u32 %r1, [%rd1+%rd2]; }", 7, 26, "one register or variable"},
    {Q "ld.global.u32 %r1, [%rd1; }", 7, 25, "']' is expected"},
    {Q "bra nowhere; }", 7, 5, "label 'nowhere' is not defined"},
    {Q "{ here: } bra here; }", 7, 15, "label 'here' is not defined"},
    {Q "l: l: ret; }", 7, 4, "already declared"},
    {Q "@%r1 ret; }", 7, 2, "a guard must be a predicate"},
    {Q "@5 ret; }", 7, 2, "a predicate register is expected"},
    {Q "call nobody; }", 7, 6, "'nobody' is not declared"},
    {Q "call g; }", 7, 6, "neither a function nor a register"},
    {Q "call (%r1), %rd1, (%r2), proto; }", 7, 26, "call prototype 'proto' is not defined"},
    {Q "ts: .branchtargets x, y; brx.idx %r1, ts; x: }", 7, 20, "label 'y' is not defined"},
    {Q ".reg .b32 %r<4>; }", 7, 11, "already declared"},
    {Q ".reg %q; }", 7, 6, "registers need a type"},
    {Q ".loc 1 2; }", 7, 9, "a constant is expected"},
    {Q "ret }", 7, 5, "an operand is expected"},
    {Q "mov.u32 %r1, \x01; }", 7, 14, "this byte has no place"},
    {Q "mov.u32 %r1, ((1); }", 7, 18, "')' is expected"},
    {Q "setp.eq.u32 %p1|5, %r1, %r2; }", 7, 17, "a predicate register is expected after '|'"},
};

static void malformed_input_is_located(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wg_ptx_module *m = (struct wg_ptx_module *)1;
        struct wg_diag d = {0};
        char where[64];
        enum wg_status s = wg_ptx_parse(cases[i].text, strlen(cases[i].text), "t.ptx", &m, &d);
        snprintf(where, sizeof where, "t.ptx:%u:%u: ", cases[i].line, cases[i].col);
        if (s != WG_PARSE || m || strncmp(d.text, where, strlen(where)) != 0 || !strstr(d.text, cases[i].says))
            fail_msg("case %zu: want %s ... %s\ngot %s\nfor %s", i, where, cases[i].says, d.text, cases[i].text);
    }
}

static char *repeat(const char *head, const char *text, size_t n, const char *tail)
{
    size_t h = strlen(head), k = strlen(text), t = strlen(tail);
    char *s = malloc(h + k * n + t + 1);
    assert_non_null(s);
    memcpy(s, head, h);
    for (size_t i = 0; i < n; i++)
        memcpy(s + h + i * k, text, k);
    memcpy(s + h + k * n, tail, t + 1);
    return s;
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    static const struct { const char *head, *text, *tail, *says; } deep[] = {
        {Q, "{", "}", "nested more than"},
        {Q "mov.u32 %r1, ", "(", "1;", "nested more than"},
        {Q "mov.u32 %r1, ", "-", "1;", "nested more than"},
        {Q "mov.u32 %r1, ", "1?", "1;", "nested more than"},
        {Q "mov.u32 %r1, ", "{", "1;", "nested too deep"},
        {Q "mov.u32 %r1, ", "[", "1;", "nested too deep"},
        {PTX_HEAD ".global .u32 a[2] = ", "{", "1;", "a constant is expected"},
        {PTX_HEAD ".global .u32 a", "[1]", ";", "at most 15 dimensions"},
    };
    for (size_t i = 0; i < sizeof deep / sizeof *deep; i++) {
        struct wg_ptx_module *m;
        struct wg_diag d = {0};
        char *s = repeat(deep[i].head, deep[i].text, 100000, deep[i].tail);
        assert_int_equal(wg_ptx_parse(s, strlen(s), "t", &m, &d), WG_PARSE);
        if (!strstr(d.text, deep[i].says))
            fail_msg("case %zu: %s", i, d.text);
        free(s);
    }
}

/* One module with a bit of everything; each allocation in turn fails. */
static void failing_allocation_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    static const char text[] =
        PTX_HEAD ".file 1 \"a.cu\"\n.global .u32 g[4] = {1, 2};\n"
                 ".func (.reg .b32 r) f(.reg .b32 x) { mov.u32 r, x; ret; }\n"
                 ".global .u64 t[1] = {generic(g)+4};\n.entry k(.param .u64 p) { .reg .b32 %r<9>; .reg .b64 %rd<3>;\n"
                 ".loc 1 2 3\nL: ld.param.u64 %rd1, [p]; ld.global.v2.u32 {%r1,%r2}, [%rd1]; call (%r3), f, (%r1);\n"
                 "ts: .branchtargets L; brx.idx %r1, ts; vadd.u32.u32.u32 %r1, %r2.b0, %r3, %r4; bra L; }\n";
    bool done = false;
    int failures = 0;
    for (long n = 1; !done; n++) {
        struct wg_ptx_module *m = NULL;
        struct wg_diag d = {0};
        assert_true(n < 100000);
        wg_alloc_fail_after(n);
        enum wg_status s = wg_ptx_parse(text, sizeof text - 1, "t", &m, &d);
        char *printed = s == WG_OK ? wg_ptx_print(m) : NULL;
        wg_alloc_fail_after(0);
        if (s == WG_OK) {
            done = printed != NULL;
            wg_ptx_free(m);
            free(printed);
        } else {
            assert_int_equal(s, WG_NO_MEMORY);
            assert_int_equal(d.status, WG_NO_MEMORY);
            assert_null(m);
        }
        failures += !done;
    }
    assert_true(failures > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_input_is_located),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(failing_allocation_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
