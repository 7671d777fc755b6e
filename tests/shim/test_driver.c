/* test_driver.c - the driver API over the same device: order of calls, modules, launches in both forms, the runtime
 * beside it. */
#include "api.h"

int cuInit(unsigned);
int cuGetErrorName(int, const char **);
int cuGetErrorString(int, const char **);
int cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);
int cuDeviceGet(int *, int);
int cuDeviceGetName(char *, int, int);
int cuDeviceGetAttribute(int *, int, int);
int cuCtxCreate_v2(void **, unsigned, int);
int cuCtxDestroy_v2(void *);
int cuCtxGetCurrent(void **);
int cuDevicePrimaryCtxRetain(void **, int);
int cuCtxSetCurrent(void *);
int cuModuleLoadData(void **, const void *);
int cuModuleUnload(void *);
int cuModuleGetFunction(void **, void *, const char *);
int cuModuleGetGlobal_v2(uint64_t *, size_t *, void *, const char *);
int cuMemAlloc_v2(uint64_t *, size_t);
int cuMemFree_v2(uint64_t);
int cuMemcpyHtoD_v2(uint64_t, const void *, size_t);
int cuMemcpyDtoH_v2(void *, uint64_t, size_t);
int cuMemsetD32_v2(uint64_t, unsigned, size_t);
int cuMemsetD2D16_v2(uint64_t, size_t, unsigned short, size_t, size_t);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                   void **);
int cuFuncGetAttribute(int *, int, void *);
int cuIpcGetMemHandle(void *, uint64_t);

/* Runs first: nothing works before cuInit, and memory needs a context. */
static void calls_come_in_order(void **state)
{
    (void)state;
    uint64_t p;
    int v;
    void *c;
    assert_int_equal(cuDeviceGet(&v, 0), 3);
    assert_int_equal(cuMemAlloc_v2(&p, 4), 3);
    assert_int_equal(cuInit(1), 1);
    assert_int_equal(cuInit(0), 0);
    assert_int_equal(cuDeviceGet(&v, 0), 0);
    assert_int_equal(cuDeviceGet(&v, 1), 101);
    assert_int_equal(cuMemAlloc_v2(&p, 4), 201);
    assert_int_equal(cuCtxCreate_v2(&c, 0, 0), 0);
    assert_int_equal(cuMemAlloc_v2(&p, 0), 1);
    assert_int_equal(cuMemAlloc_v2(&p, 4), 0);
    assert_int_equal(cuMemFree_v2(p), 0);
    assert_int_equal(cuCtxDestroy_v2(c), 0);
    assert_int_equal(cuCtxDestroy_v2(c), 201);
    assert_int_equal(cuMemAlloc_v2(&p, 4), 201);
    assert_int_equal(cudaGetLastError(), 0); /* the runtime's own */
}

static int context(void **state)
{
    void *c;
    fresh(state);
    return cuInit(0) || cuDevicePrimaryCtxRetain(&c, 0) || cuCtxSetCurrent(c);
}

static void both_forms_of_arguments_arrive(void **state)
{
    (void)state;
    void *m, *f;
    uint64_t a = 0x1122334455667788, addr;
    unsigned b = 7;
    char c[24] = "twenty-four bytes", packed[48] = {0};
    float d = 2.5f;
    size_t bytes, size = sizeof packed;
    char *text = strdup(test_ptx);
    assert_int_equal(cuModuleLoadData(&m, text), 0);
    memset(text, 'x', strlen(text)); /* the module does not need it any more */
    assert_int_equal(cuModuleGetFunction(&f, m, "nothing"), 500);
    assert_int_equal(cuModuleGetFunction(&f, m, "mix"), 0);
    void *args[] = {&a, &b, c, &d};
    assert_int_equal(cuLaunchKernel(f, 3, 2, 1, 64, 1, 1, 128, NULL, args, NULL), 0);
    assert_int_equal(wg_double.launches, 1);
    assert_string_equal(wg_double.last.kernel, "mix");
    assert_int_equal(wg_double.last.cfg.grid[1], 2);
    assert_int_equal(wg_double.last.cfg.shared_bytes, 128);
    struct wg_double_launch listed = wg_double.last;
    memcpy(packed, &a, 8);
    memcpy(packed + 8, &b, 4);
    memcpy(packed + 16, c, 24);
    memcpy(packed + 40, &d, 4);
    void *extra[] = {(void *)1, packed, (void *)2, &size, NULL};
    assert_int_equal(cuLaunchKernel(f, 3, 2, 1, 64, 1, 1, 128, NULL, NULL, extra), 0);
    assert_memory_equal(listed.params, wg_double.last.params, listed.param_bytes);
    assert_int_equal(cuLaunchKernel(f, 3, 2, 1, 64, 1, 1, 128, NULL, args, extra), 1);
    size = 8;
    assert_int_equal(cuLaunchKernel(f, 3, 2, 1, 64, 1, 1, 128, NULL, NULL, extra), 1);
    assert_int_equal(cuModuleGetGlobal_v2(&addr, &bytes, m, "table"), 0);
    assert_int_equal(bytes, 64);
    assert_int_equal(cuModuleUnload(m), 0);
    assert_int_equal(cuModuleUnload(m), 400);
    assert_int_equal(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL), 400);
    free(text);
}

static void one_device_under_both_names(void **state)
{
    (void)state;
    uint64_t p;
    void *q;
    unsigned h[8];
    assert_int_equal(cuMemAlloc_v2(&p, 32), 0);
    assert_int_equal(cuMemsetD32_v2(p, 0x01020304, 8), 0);
    assert_int_equal(cuMemsetD2D16_v2(p, 8, 0xabcd, 1, 4), 0);
    ok(cudaMemcpy(h, (void *)(uintptr_t)p, 32, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; i++)
        assert_int_equal(h[i], i % 2 ? 0x01020304 : 0x0102abcd);
    assert_int_equal(cuMemsetD32_v2(p + 2, 0, 1), 1);
    ok(cudaFree((void *)(uintptr_t)p));
    ok(cudaMalloc(&q, 16));
    assert_int_equal(cuMemcpyHtoD_v2((uint64_t)(uintptr_t)q, h, 16), 0);
    assert_int_equal(cuMemcpyHtoD_v2((uint64_t)(uintptr_t)q, h, 17), 1);
    ok(cudaGetLastError());
    assert_int_equal(cuMemFree_v2((uint64_t)(uintptr_t)q), 0);
}

static void names_lead_to_the_newest_form(void **state)
{
    (void)state;
    void *fn;
    int how;
    const char *text;
    assert_int_equal(cuGetProcAddress_v2("cuMemAlloc", &fn, 12000, 0, &how), 0);
    assert_ptr_equal(fn, (void *)(uintptr_t)cuMemAlloc_v2);
    assert_int_equal(cuGetProcAddress_v2("cuMem", &fn, 12000, 0, &how), 500);
    assert_int_equal(how, 1);
    assert_null(fn);
    assert_int_equal(cuGetErrorName(700, &text), 0);
    assert_string_equal(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_int_equal(cuGetErrorString(500, &text), 0);
    assert_string_equal(text, "named symbol not found");
    assert_int_equal(cuGetErrorName(12345, &text), 1);
    assert_int_equal(cuIpcGetMemHandle(NULL, 0), 801);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_come_in_order),
        cmocka_unit_test_setup(both_forms_of_arguments_arrive, context),
        cmocka_unit_test_setup(one_device_under_both_names, context),
        cmocka_unit_test_setup(names_lead_to_the_newest_form, context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
