/* ptx_run_test.c - the call that embedders of libgpuocelot make: arguments are host pointers and 8-byte values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <warpgrind/warpgrind.h>

/* out[i] = a[i] + x for i < n, through one word of dynamic shared memory a thread */
static const char add[] = ".version 7.5\n.target sm_75\n.address_size 64\n.extern .shared .align 4 .b8 sh[];\n"
                          ".visible .entry add(.param .u64 out, .param .u64 a, .param .s32 n, .param .f32 x)\n{\n"
                          "    .reg .b64 %o, %p, %w;\n    .reg .b32 %i, %t, %b, %d, %n, %s;\n    .reg .f32 %x, %v;\n"
                          "    .reg .pred %q;\n"
                          "    ld.param.u64 %o, [out];\n    ld.param.u64 %p, [a];\n    ld.param.s32 %n, [n];\n"
                          "    ld.param.f32 %x, [x];\n    mov.u32 %t, %tid.x;\n    mov.u32 %b, %ctaid.x;\n"
                          "    mov.u32 %d, %ntid.x;\n    mad.lo.s32 %i, %b, %d, %t;\n    setp.ge.s32 %q, %i, %n;\n"
                          "    @%q ret;\n    mul.wide.s32 %w, %i, 4;\n    add.s64 %p, %p, %w;\n"
                          "    add.s64 %o, %o, %w;\n    ld.global.f32 %v, [%p];\n    mov.u32 %s, sh;\n"
                          "    mad.lo.s32 %s, %t, 4, %s;\n    st.shared.f32 [%s], %v;\n    ld.shared.f32 %v, [%s];\n"
                          "    add.f32 %v, %v, %x;\n    st.global.f32 [%o], %v;\n    ret;\n}\n";
static const char stray[] = ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n    .reg .b32 %r;\n"
                            "    ld.shared.u32 %r, [4096];\n    st.shared.u32 [0], %r;\n    ret;\n}\n";

static void *value(int32_t v) { return (void *)(intptr_t)v; }
static void *value_f32(float f)
{
    union { float f; int32_t i; } u = {f};
    return value(u.i);
}

static void host_pointers_are_device_pointers(void **state)
{
    (void)state;
    enum { N = 1000 };
    float a[N], out[N + 1];
    for (int i = 0; i < N; i++)
        a[i] = (float)i, out[i] = -1;
    out[N] = -1;
    assert_int_equal(ptx_run(add, 4, (void *[]){out, a, value(N), value_f32(0.5f)}, 128, 1, 1, 8, 1, 1, 512), 0);
    for (int i = 0; i < N; i++)
        assert_true(out[i] == (float)i + 0.5f);
    assert_true(out[N] == -1);
}

static void it_can_be_called_again_and_again(void **state)
{
    (void)state;
    float a[4] = {0, 1, 2, 3};
    for (int i = 0; i < 20; i++)
        assert_int_equal(ptx_run(add, 4, (void *[]){a, a, value(4), value_f32(1)}, 4, 1, 1, 1, 1, 1, 16), 0);
    for (int i = 0; i < 4; i++)
        assert_true(a[i] == (float)i + 20);
}

static void bad_calls_return_an_error(void **state)
{
    (void)state;
    float a[4] = {0};
    void *args[] = {a, a, value(4), value_f32(1), NULL};
    assert_int_not_equal(ptx_run(NULL, 0, NULL, 1, 1, 1, 1, 1, 1, 0), 0);
    assert_int_not_equal(ptx_run("not PTX", 0, NULL, 1, 1, 1, 1, 1, 1, 0), 0);
    assert_int_not_equal(ptx_run(add, 3, args, 4, 1, 1, 1, 1, 1, 16), 0);
    assert_int_not_equal(ptx_run(add, 5, args, 4, 1, 1, 1, 1, 1, 16), 0);
    assert_int_not_equal(ptx_run(add, 4, args, 0, 1, 1, 1, 1, 1, 16), 0);
    assert_int_not_equal(ptx_run(add, 4, args, 2048, 1, 1, 1, 1, 1, 16), 0);
    assert_int_not_equal(ptx_run(add, 4, args, 4, 1, 1, 1, 1, 1, -16), 0);
    assert_int_not_equal(ptx_run(add, 4, args, 4, 1, 1, 1, 1, 1, 1 << 30), 0);
    assert_int_not_equal(ptx_run(stray, 0, NULL, 1, 1, 1, 1, 1, 1, 4), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_pointers_are_device_pointers),
        cmocka_unit_test(it_can_be_called_again_and_again),
        cmocka_unit_test(bad_calls_return_an_error),
    };
    return cmocka_run_group_tests_name("ptx_run", tests, NULL, NULL);
}
