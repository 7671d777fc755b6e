/* test_graphs.c - graphs made by hand and by capture: what runs, in which order, with which arguments. */
#include "api.h"
#include "shim/graph.h"

int cudaGraphAddKernelNode(void **, void *, void *const *, size_t, const struct cudaKernelNodeParams *);
int cudaGraphAddHostNode(void **, void *, void *const *, size_t, const struct cudaHostNodeParams *);
int cudaGraphAddMemcpyNode1D(void **, void *, void *const *, size_t, void *, const void *, size_t, int);
int cudaGraphAddMemsetNode(void **, void *, void *const *, size_t, const struct cudaMemsetParams *);
int cudaGraphExecKernelNodeSetParams(void *, void *, const struct cudaKernelNodeParams *);
int cudaGraphInstantiateWithFlags(void **, void *, unsigned long long);
int cudaGraphLaunch(void *, void *);
int cudaGraphExecDestroy(void *);
int cudaGraphDestroy(void *);
int cudaGraphClone(void **, void *);
int cudaGraphGetNodes(void *, void **, size_t *);
int cudaGraphNodeSetEnabled(void *, void *, unsigned);
int cudaStreamBeginCapture(void *, int);
int cudaStreamEndCapture(void *, void **);
int cudaStreamIsCapturing(void *, int *);

static int order[8], norder;
static void note(void *what)
{
    order[norder++] = (int)(intptr_t)what;
}

static int setup(void **state)
{
    norder = 0;
    return fresh(state);
}

static struct cudaKernelNodeParams mix(void **args)
{
    return (struct cudaKernelNodeParams){
        .func = &fn_mix, .gridDim = {2, 1, 1}, .blockDim = {64, 1, 1}, .kernelParams = args};
}

/* Made in the wrong order: the edges decide. */
static void nodes_run_after_what_they_wait_for(void **state)
{
    (void)state;
    void *g, *x, *last, *middle, *fst, *p;
    char h[16] = {0};
    ok(cudaMalloc(&p, 16));
    ok(cudaGraphCreate(&g, 0));
    ok(cudaGraphAddHostNode(&last, g, NULL, 0, &(struct cudaHostNodeParams){note, (void *)3}));
    ok(cudaGraphAddMemcpyNode1D(&middle, g, NULL, 0, h, p, 16, cudaMemcpyDeviceToHost));
    ok(cudaGraphAddMemsetNode(&fst, g, NULL, 0, &(struct cudaMemsetParams){p, 16, 0x01020304, 4, 4, 1}));
    struct wg_node *l = last, *m = middle;
    assert_true(wg_node_depend(l, m));
    assert_true(wg_node_depend(m, fst));
    ok(cudaGraphInstantiateWithFlags(&x, g, 0));
    ok(cudaGraphLaunch(x, NULL));
    assert_int_equal(norder, 1);
    for (int i = 0; i < 16; i++)
        assert_int_equal(h[i], 4 - i % 4);
    assert_true(wg_node_depend(fst, last)); /* now it bites its tail */
    expect(cudaErrorInvalidValue, cudaGraphInstantiateWithFlags(&p, g, 0));
    ok(cudaGraphExecDestroy(x));
    expect(cudaErrorInvalidValue, cudaGraphLaunch(x, NULL));
    ok(cudaGraphDestroy(g));
}

static void arguments_are_kept_and_can_be_changed(void **state)
{
    (void)state;
    register_all();
    void *g, *x, *k;
    uint64_t a = 1;
    unsigned b = 2;
    char c[24] = "structure";
    float d = 4;
    void *args[] = {&a, &b, c, &d};
    struct cudaKernelNodeParams p = mix(args);
    ok(cudaGraphCreate(&g, 0));
    ok(cudaGraphAddKernelNode(&k, g, NULL, 0, &p));
    b = 99; /* the node has its own copy by now */
    ok(cudaGraphInstantiateWithFlags(&x, g, 0));
    ok(cudaGraphLaunch(x, NULL));
    assert_int_equal(wg_double.launches, 1);
    assert_int_equal(*(unsigned *)(wg_double.last.params + 8), 2);
    assert_int_equal(wg_double.last.cfg.grid[0], 2);
    p.gridDim.x = 5;
    ok(cudaGraphExecKernelNodeSetParams(x, k, &p));
    ok(cudaGraphLaunch(x, NULL));
    assert_int_equal(*(unsigned *)(wg_double.last.params + 8), 99);
    assert_int_equal(wg_double.last.cfg.grid[0], 5);
    ok(cudaGraphNodeSetEnabled(x, k, 0));
    ok(cudaGraphLaunch(x, NULL));
    assert_int_equal(wg_double.launches, 2);
    ok(cudaGraphExecDestroy(x));
    ok(cudaGraphDestroy(g));
}

static void a_capture_records_and_does_nothing(void **state)
{
    (void)state;
    register_all();
    void *a, *b, *fork, *join, *g, *x;
    int status;
    size_t n = 0;
    ok(cudaStreamCreate(&a));
    ok(cudaStreamCreate(&b));
    ok(cudaEventCreate(&fork));
    ok(cudaEventCreate(&join));
    ok(cudaStreamBeginCapture(a, 0));
    expect(cudaErrorIllegalState, cudaStreamBeginCapture(a, 0));
    ok(cudaLaunchHostFunc(a, note, (void *)1));
    ok(cudaEventRecord(fork, a));
    ok(cudaStreamWaitEvent(b, fork, 0));
    ok(cudaStreamIsCapturing(b, &status));
    assert_int_equal(status, 1);
    ok(cudaLaunchHostFunc(b, note, (void *)2));
    expect(cudaErrorStreamCaptureUnmatched, cudaStreamEndCapture(b, &g));
    ok(cudaEventRecord(join, b));
    ok(cudaStreamWaitEvent(a, join, 0));
    ok(cudaLaunchHostFunc(a, note, (void *)3));
    ok(cudaLaunchKernel(&fn_small, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, a));
    assert_int_equal(norder, 0);
    assert_int_equal(wg_double.launches, 0);
    ok(cudaStreamEndCapture(a, &g));
    ok(cudaStreamIsCapturing(b, &status));
    assert_int_equal(status, 0);
    ok(cudaGraphGetNodes(g, NULL, &n));
    assert_int_equal(n, 4);
    ok(cudaGraphInstantiateWithFlags(&x, g, 0));
    ok(cudaGraphDestroy(g)); /* an executable outlives its graph */
    ok(cudaGraphLaunch(x, a));
    ok(cudaGraphLaunch(x, b));
    assert_int_equal(wg_double.launches, 2);
    assert_int_equal(norder, 6);
    for (int i = 0; i < 6; i++)
        assert_int_equal(order[i], i % 3 + 1);
}

static void a_capture_that_waits_or_forgets_a_stream_fails(void **state)
{
    (void)state;
    void *a, *b, *fork, *g = &a;
    ok(cudaStreamCreate(&a));
    ok(cudaStreamCreate(&b));
    ok(cudaEventCreate(&fork));
    ok(cudaStreamBeginCapture(a, 0));
    expect(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(a));
    expect(cudaErrorStreamCaptureInvalidated, cudaLaunchHostFunc(a, note, NULL));
    expect(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(a, &g));
    assert_null(g);
    ok(cudaStreamSynchronize(a));
    ok(cudaStreamBeginCapture(a, 0));
    ok(cudaEventRecord(fork, a));
    ok(cudaStreamWaitEvent(b, fork, 0));
    ok(cudaLaunchHostFunc(b, note, NULL));
    expect(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(a, &g));
    assert_int_equal(norder, 0);
    ok(cudaLaunchHostFunc(b, note, NULL));
    assert_int_equal(norder, 1);
    expect(cudaErrorIllegalState, cudaStreamEndCapture(a, &g));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nodes_run_after_what_they_wait_for, setup),
        cmocka_unit_test_setup(arguments_are_kept_and_can_be_changed, setup),
        cmocka_unit_test_setup(a_capture_records_and_does_nothing, setup),
        cmocka_unit_test_setup(a_capture_that_waits_or_forgets_a_stream_fails, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
