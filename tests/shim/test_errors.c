/* test_errors.c - last error, sticky errors, refused calls, names and texts. */
#include "api.h"
#include <pthread.h>

static void **module;
static int setup(void **state)
{
    fresh(state);
    module = register_all();
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    __cudaUnregisterFatBinary(module);
    return 0;
}
static int launch(void) { return cudaLaunchKernel(&fn_small, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL); }

static void last_error_stays_until_it_is_read(void **state)
{
    (void)state;
    void *d;
    expect(cudaErrorInvalidDevice, cudaSetDevice(7));
    ok(cudaMalloc(&d, 8));
    expect(cudaErrorInvalidDevice, cudaPeekAtLastError());
    expect(cudaErrorInvalidDevice, cudaPeekAtLastError());
    expect(cudaErrorInvalidDevice, cudaGetLastError());
    expect(cudaSuccess, cudaGetLastError());
    ok(cudaFree(d));
}

static void *other_thread(void *arg)
{
    *(int *)arg = cudaGetLastError();
    cudaSetDevice(9);
    return NULL;
}

static void last_error_belongs_to_a_thread(void **state)
{
    (void)state;
    pthread_t t;
    int seen = -1;
    expect(cudaErrorInvalidValue, cudaMalloc(NULL, 1));
    pthread_create(&t, NULL, other_thread, &seen);
    pthread_join(t, NULL);
    assert_int_equal(seen, cudaSuccess);
    expect(cudaErrorInvalidValue, cudaGetLastError());
}

static void kernel_faults_come_to_light_later_and_stick(void **state)
{
    (void)state;
    static const struct { const char *finding; int code; } cases[] = {
#define WG_FAULT(finding, code) {finding, code},
#include "shim/faults.def"
#undef WG_FAULT
        {"something new", cudaErrorLaunchFailure},
    };
    void *d;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fresh(NULL);
        wg_double.next_status = WG_KERNEL_FAULT;
        wg_double.next_finding = cases[i].finding;
        ok(launch());
        expect(cudaSuccess, cudaGetLastError());
        expect(cases[i].code, cudaDeviceSynchronize());
        expect(cases[i].code, cudaMalloc(&d, 8));
        expect(cases[i].code, launch());
        expect(cases[i].code, cudaGetLastError());
        expect(cudaSuccess, cudaGetLastError());
        expect(cases[i].code, cudaDeviceSynchronize());
        ok(cudaMalloc(&d, 0));
        ok(cudaSetDevice(0));
        assert_int_equal(wg_double.launches, 1);
        ok(cudaDeviceReset());
        cudaGetLastError();
        expect(cudaErrorDevicesUnavailable, cudaMalloc(&d, 8));
    }
}

static void a_launch_that_cannot_finish_times_out(void **state)
{
    (void)state;
    wg_double.next_status = WG_HANG;
    ok(launch());
    expect(cudaErrorLaunchTimeout, cudaDeviceSynchronize());
}

static void our_own_limits_are_said_at_once_and_stick(void **state)
{
    (void)state;
    wg_double.next_status = WG_UNSUPPORTED;
    expect(cudaErrorNotSupported, launch());
    expect(cudaErrorNotSupported, cudaDeviceSynchronize());
}

static void sticky_errors_leave_queries_alone(void **state)
{
    (void)state;
    int n = 0;
    wg_double.next_status = WG_KERNEL_FAULT;
    ok(launch());
    ok(cudaGetDeviceCount(&n));
    assert_int_equal(n, 1);
    assert_string_equal(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered");
}

static void calls_we_lack_answer_not_supported(void **state)
{
    (void)state;
    void *g;
    expect(cudaErrorNotSupported, cudaIpcGetMemHandle(&g, NULL));
    expect(cudaErrorNotSupported, cudaGetLastError());
}

static void every_code_has_its_name_and_text(void **state)
{
    (void)state;
    static const struct { int code, since; const char *name, *text; } rows[] = {
#define WG_ERROR(code, name, since, text) {code, since, #name, text},
#include "shim/errors.def"
#undef WG_ERROR
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(i == 0 || rows[i - 1].code < rows[i].code);
        const bool known = rows[i].since <= WG_CUDART_MAJOR;
        assert_string_equal(cudaGetErrorName(rows[i].code), known ? rows[i].name : "unrecognized error code");
        assert_string_equal(cudaGetErrorString(rows[i].code), known ? rows[i].text : "unrecognized error code");
    }
    assert_string_equal(cudaGetErrorName(12345), "unrecognized error code");
    assert_string_equal(cudaGetErrorString(-1), "unrecognized error code");
}

static void *hammer(void *arg)
{
    (void)arg;
    char in[256], out[256];
    memset(in, (int)(uintptr_t)arg, sizeof in);
    for (int i = 0; i < 300; i++) {
        void *d, *s, *e;
        if (cudaMalloc(&d, 256) || cudaStreamCreate(&s) || cudaEventCreate(&e))
            return (void *)1;
        if (cudaMemcpyAsync(d, in, 256, cudaMemcpyHostToDevice, s) || cudaEventRecord(e, s) || launch() ||
            cudaMemcpy(out, d, 256, cudaMemcpyDeviceToHost) || memcmp(in, out, 256) != 0)
            return (void *)2;
        if (cudaSetDevice(3) != cudaErrorInvalidDevice || cudaGetLastError() != cudaErrorInvalidDevice)
            return (void *)3;
        if (cudaEventDestroy(e) || cudaStreamDestroy(s) || cudaFree(d))
            return (void *)4;
    }
    return NULL;
}

static void many_threads_use_one_context(void **state)
{
    (void)state;
    pthread_t t[4];
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, hammer, (void *)i);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(t[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(wg_double.launches, 1200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        T(last_error_stays_until_it_is_read),
        T(last_error_belongs_to_a_thread),
        T(kernel_faults_come_to_light_later_and_stick),
        T(a_launch_that_cannot_finish_times_out),
        T(our_own_limits_are_said_at_once_and_stick),
        T(sticky_errors_leave_queries_alone),
        T(calls_we_lack_answer_not_supported),
        T(every_code_has_its_name_and_text),
        T(many_threads_use_one_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
