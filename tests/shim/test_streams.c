/* test_streams.c - streams, events, callbacks. */
#include "api.h"
#include <time.h>

static void streams_come_and_go(void **state)
{
    (void)state;
    void *a, *b;
    unsigned flags;
    int priority;
    ok(cudaStreamCreate(&a));
    ok(cudaStreamCreateWithPriority(&b, cudaStreamNonBlocking, -99));
    assert_ptr_not_equal(a, b);
    ok(cudaStreamGetFlags(b, &flags));
    assert_int_equal(flags, cudaStreamNonBlocking);
    ok(cudaStreamGetPriority(b, &priority));
    assert_int_equal(priority, -5);
    ok(cudaStreamQuery(a));
    ok(cudaStreamSynchronize(a));
    ok(cudaStreamSynchronize(NULL));
    ok(cudaStreamSynchronize(WG_STREAM_LEGACY));
    ok(cudaStreamSynchronize(WG_STREAM_PER_THREAD));
    ok(cudaStreamDestroy(a));
    expect(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(a));
    expect(cudaErrorInvalidResourceHandle, cudaStreamDestroy(a));
    expect(cudaErrorInvalidResourceHandle, cudaStreamDestroy(NULL));
    expect(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&a, 2));
    ok(cudaStreamDestroy(b));
}

static void work_on_a_destroyed_stream_is_refused(void **state)
{
    (void)state;
    void *s, *d;
    char h[8] = {0};
    ok(cudaStreamCreate(&s));
    ok(cudaMalloc(&d, 8));
    ok(cudaMemcpyAsync(d, h, 8, cudaMemcpyHostToDevice, s));
    ok(cudaMemcpyAsync_ptsz(d, h, 8, cudaMemcpyHostToDevice, NULL));
    ok(cudaStreamDestroy(s));
    expect(cudaErrorInvalidResourceHandle, cudaMemcpyAsync(d, h, 8, cudaMemcpyHostToDevice, s));
    ok(cudaFree(d));
}

static void elapsed_time_is_the_hosts_clock(void **state)
{
    (void)state;
    void *a, *b, *untimed;
    float ms = -1;
    ok(cudaEventCreate(&a));
    ok(cudaEventCreate(&b));
    ok(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    ok(cudaEventRecord(a, NULL));
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    expect(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, a, b));
    ok(cudaEventRecord(b, NULL));
    ok(cudaEventRecord(untimed, NULL));
    ok(cudaEventQuery(b));
    ok(cudaEventSynchronize(b));
    ok(cudaEventElapsedTime(&ms, a, b));
    assert_true(ms >= 20.0f && ms < 5000.0f);
    expect(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, a, untimed));
    expect(cudaErrorInvalidValue, cudaEventElapsedTime(NULL, a, b));
    ok(cudaStreamWaitEvent(NULL, a, 0));
    ok(cudaEventDestroy(a));
    expect(cudaErrorInvalidResourceHandle, cudaEventRecord(a, NULL));
    expect(cudaErrorInvalidResourceHandle, cudaStreamWaitEvent(NULL, a, 0));
    expect(cudaErrorInvalidValue, cudaEventCreateWithFlags(&a, 64));
    ok(cudaEventDestroy(b));
    ok(cudaEventDestroy(untimed));
}

static void *seen_stream;
static int seen_status = -1, seen_data;
static void callback(void *stream, int status, void *data)
{
    int n;
    seen_stream = stream;
    seen_status = status;
    seen_data = *(int *)data;
    cudaGetDeviceCount(&n); /* must not deadlock */
}
static void host_function(void *data) { seen_data = *(int *)data; }

static void callbacks_run_in_order_with_their_data(void **state)
{
    (void)state;
    void *s;
    int v = 42;
    ok(cudaStreamCreate(&s));
    ok(cudaStreamAddCallback(s, callback, &v, 0));
    assert_ptr_equal(seen_stream, s);
    assert_int_equal(seen_status, cudaSuccess);
    assert_int_equal(seen_data, 42);
    v = 43;
    ok(cudaLaunchHostFunc(s, host_function, &v));
    assert_int_equal(seen_data, 43);
    expect(cudaErrorInvalidValue, cudaStreamAddCallback(s, callback, &v, 1));
    expect(cudaErrorInvalidValue, cudaLaunchHostFunc(s, NULL, &v));
    ok(cudaStreamDestroy(s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(streams_come_and_go, fresh),
        cmocka_unit_test_setup(work_on_a_destroyed_stream_is_refused, fresh),
        cmocka_unit_test_setup(elapsed_time_is_the_hosts_clock, fresh),
        cmocka_unit_test_setup(callbacks_run_in_order_with_their_data, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
