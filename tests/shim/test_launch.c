/* test_launch.c - registration, call configurations, arguments, launch checks, kernel attributes. */
#include "api.h"

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

struct pod { double a, b; int c; };
static uint64_t arg0 = 0x1122334455667788;
static int arg1 = -5;
static struct pod arg2 = {1.5, 2.5, 77};
static float arg3 = 0.25f;

static void check_arguments(void)
{
    const unsigned char *p = wg_double.last.params;
    assert_string_equal(wg_double.last.kernel, "mix");
    assert_memory_equal(p, &arg0, 8);
    assert_memory_equal(p + 8, &arg1, 4);
    assert_memory_equal(p + 16, &arg2, 20);
    assert_memory_equal(p + 40, &arg3, 4);
}

static void launch_kernel_passes_shape_and_arguments(void **state)
{
    (void)state;
    void *args[] = {&arg0, &arg1, &arg2, &arg3};
    ok(cudaLaunchKernel(&fn_mix, (dim3){3, 2, 1}, (dim3){32, 4, 2}, args, 100, NULL));
    const struct wg_launch *l = &wg_double.last.cfg;
    assert_int_equal(l->grid[0], 3);
    assert_int_equal(l->grid[1], 2);
    assert_int_equal(l->block[1], 4);
    assert_int_equal(l->block[2], 2);
    assert_int_equal(l->shared_bytes, 100);
    assert_false(l->cooperative);
    check_arguments();
}

static void kernel_handles_launch_too(void **state)
{
    (void)state;
    const void *k;
    void *args[] = {&arg0, &arg1, &arg2, &arg3};
    ok(__cudaGetKernel(&k, &fn_mix));
    ok(__cudaLaunchKernel(k, (dim3){1, 1, 1}, (dim3){1, 1, 1}, args, 0, NULL));
    check_arguments();
}

static void old_calls_launch_with_offsets(void **state)
{
    (void)state;
    expect(cudaErrorMissingConfiguration, cudaLaunch(&fn_mix));
    ok(cudaConfigureCall((dim3){1, 1, 1}, (dim3){8, 1, 1}, 0, NULL));
    ok(cudaSetupArgument(&arg0, 8, 0));
    ok(cudaSetupArgument(&arg1, 4, 8));
    ok(cudaSetupArgument(&arg2, sizeof arg2, 16));
    ok(cudaSetupArgument(&arg3, 4, 40));
    ok(cudaLaunch(&fn_mix));
    check_arguments();
    assert_int_equal(wg_double.last.cfg.block[0], 8);
}

static void configurations_nest_and_run_out(void **state)
{
    (void)state;
    dim3 g, b;
    size_t shared;
    void *stream;
    assert_int_equal(__cudaPushCallConfiguration((dim3){1, 2, 3}, (dim3){4, 5, 6}, 7, (void *)1), 0);
    assert_int_equal(__cudaPushCallConfiguration((dim3){9, 9, 9}, (dim3){9, 9, 9}, 9, NULL), 0);
    ok(__cudaPopCallConfiguration(&g, &b, &shared, &stream));
    assert_int_equal(g.x, 9);
    ok(__cudaPopCallConfiguration(&g, &b, &shared, &stream));
    assert_int_equal(g.z, 3);
    assert_int_equal(b.y, 5);
    assert_int_equal(shared, 7);
    assert_ptr_equal(stream, (void *)1);
    expect(cudaErrorMissingConfiguration, __cudaPopCallConfiguration(&g, &b, &shared, &stream));
}

static int launch(dim3 g, dim3 b, size_t shared)
{
    return cudaLaunchKernel(&fn_small, g, b, NULL, shared, NULL);
}

static void impossible_shapes_are_refused_as_cuda_does(void **state)
{
    (void)state;
    const dim3 one = {1, 1, 1};
    const int bad_shape = WG_CUDART_MAJOR >= 13 ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration;
    expect(bad_shape, launch((dim3){0, 1, 1}, one, 0));
    expect(bad_shape, launch(one, (dim3){0, 1, 1}, 0));
    expect(bad_shape, launch(one, (dim3){1025, 1, 1}, 0));
    expect(bad_shape, launch(one, (dim3){1, 1, 65}, 0));
    expect(bad_shape, launch(one, (dim3){32, 33, 1}, 0));
    expect(bad_shape, launch((dim3){1, 65536, 1}, one, 0));
    expect(bad_shape, launch((dim3){1, 1, 65536}, one, 0));
    expect(bad_shape, launch((dim3){0x80000000u, 1, 1}, one, 0));
    ok(launch((dim3){0x7fffffffu, 1, 1}, one, 0));
    assert_int_equal(wg_double.launches, 1);
    expect(bad_shape, cudaGetLastError());
    expect(cudaSuccess, cudaGetLastError());
}

static void dynamic_shared_memory_beyond_48_kib_needs_the_attribute(void **state)
{
    (void)state;
    const dim3 one = {1, 1, 1};
    ok(launch(one, one, 49152 - 4096));
    expect(cudaErrorInvalidValue, launch(one, one, 49152 - 4095));
    ok(cudaFuncSetAttribute(&fn_small, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    ok(launch(one, one, 100000));
    expect(cudaErrorInvalidValue, launch(one, one, 100001));
    expect(cudaErrorInvalidValue,
           cudaFuncSetAttribute(&fn_small, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448 - 4095));
    expect(cudaErrorInvalidValue, cudaFuncSetAttribute(&fn_small, 99, 1));
}

static void too_many_registers_for_the_block(void **state)
{
    (void)state;
    void *args[] = {&arg0, &arg1, &arg2, &arg3};
    wg_double.registers = 128;
    __cudaUnregisterFatBinary(module);
    module = register_all();
    ok(cudaLaunchKernel(&fn_mix, (dim3){1, 1, 1}, (dim3){512, 1, 1}, args, 0, NULL));
    expect(cudaErrorLaunchOutOfResources,
           cudaLaunchKernel(&fn_mix, (dim3){1, 1, 1}, (dim3){1024, 1, 1}, args, 0, NULL));
}

static void cooperative_grid_must_be_resident(void **state)
{
    (void)state;
    void *args[] = {&arg0, &arg1, &arg2, &arg3};
    int fit;
    ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, &fn_mix, 1024, 0));
    assert_int_equal(fit, 2);
    const dim3 b = {1024, 1, 1};
    ok(cudaLaunchCooperativeKernel(&fn_mix, (dim3){264, 1, 1}, b, args, 0, NULL));
    assert_true(wg_double.last.cfg.cooperative);
    expect(cudaErrorCooperativeLaunchTooLarge,
           cudaLaunchCooperativeKernel(&fn_mix, (dim3){265, 1, 1}, b, args, 0, NULL));
    ok(cudaLaunchKernel(&fn_mix, (dim3){265, 1, 1}, b, args, 0, NULL));
}

static void extended_launch_reads_its_attributes(void **state)
{
    (void)state;
    void *args[] = {&arg0, &arg1, &arg2, &arg3};
    struct cudaLaunchAttribute a[2] = {{.id = cudaLaunchAttributeCooperative, .val.value = 1},
                                       {.id = cudaLaunchAttributeClusterDimension, .val.clusterDim = {2, 1, 1}}};
    struct cudaLaunchConfig c = {.gridDim = {4, 1, 1}, .blockDim = {32, 1, 1}, .attrs = a, .numAttrs = 2};
    ok(cudaLaunchKernelExC(&c, &fn_mix, args));
    assert_true(wg_double.last.cfg.cooperative);
    assert_int_equal(wg_double.last.cfg.cluster[0], 2);
    c.gridDim.x = 3;
    expect(cudaErrorInvalidClusterSize, cudaLaunchKernelExC(&c, &fn_mix, args));
}

static void unknown_functions_have_their_own_error(void **state)
{
    (void)state;
    const dim3 one = {1, 1, 1};
    struct cudaFuncAttributes a;
    expect(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(&fn_alien, one, one, NULL, 0, NULL));
    expect(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(&fn_gone, one, one, NULL, 0, NULL));
    expect(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&a, &fn_alien));
}

static void attributes_come_from_the_kernel(void **state)
{
    (void)state;
    struct cudaFuncAttributes a;
    const char *name;
    ok(cudaFuncGetAttributes(&a, &fn_small));
    assert_int_equal(a.sharedSizeBytes, 4096);
    assert_int_equal(a.maxThreadsPerBlock, 128);
    assert_int_equal(a.numRegs, 32);
    assert_int_equal(a.maxDynamicSharedSizeBytes, 49152 - 4096);
    assert_int_equal(a.binaryVersion, 90);
    ok(cudaFuncGetName(&name, &fn_small));
    assert_string_equal(name, "small");
}

static void images_load_once_and_at_first_use(void **state)
{
    (void)state;
    const unsigned before = wg_double.modules;
    void **h = register_module(test_ptx);
    static char f;
    __cudaRegisterFunction(h, &f, &f, "small", -1, NULL, NULL, NULL, NULL, NULL);
    assert_int_equal(wg_double.modules, before);
    ok(cudaLaunchKernel(&f, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL));
    ok(cudaLaunchKernel(&f, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL));
    assert_int_equal(wg_double.modules, before + 1);
    ok(cudaDeviceReset());
    ok(cudaLaunchKernel(&f, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL));
    assert_int_equal(wg_double.modules, before + 2);
    __cudaUnregisterFatBinary(h);
    expect(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(&f, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL));
}

/* A fat binary of one uncompressed entry. */
static void *container(uint16_t kind, uint32_t arch, const char *payload)
{
    const size_t n = (strlen(payload) + 8) / 8 * 8;
    unsigned char *c = calloc(1, 16 + 64 + n);
    uint64_t size = 64 + n, payload_bytes = n;
    memcpy(c, &(uint32_t){0xBA55ED50}, 4);
    memcpy(c + 4, &(uint16_t){1}, 2);
    memcpy(c + 6, &(uint16_t){16}, 2);
    memcpy(c + 8, &size, 8);
    memcpy(c + 16, &kind, 2);
    memcpy(c + 18, &(uint16_t){0x101}, 2);
    memcpy(c + 20, &(uint32_t){64}, 4);
    memcpy(c + 24, &payload_bytes, 8);
    memcpy(c + 44, &arch, 4);
    memcpy(c + 80, payload, strlen(payload));
    return c;
}

static int launch_from(const void *image)
{
    static char f;
    void **h = register_module(image);
    __cudaRegisterFunction(h, &f, &f, "small", -1, NULL, NULL, NULL, NULL, NULL);
    int e = cudaLaunchKernel(&f, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL);
    __cudaUnregisterFatBinary(h);
    return e;
}

static void images_that_cannot_run_say_why(void **state)
{
    (void)state;
    void *good = container(1, 80, test_ptx), *newer = container(1, 120, test_ptx), *machine = container(2, 80, "ELF");
    ok(launch_from(good));
    expect(cudaErrorNoKernelImageForDevice, launch_from(newer));
    expect(cudaErrorNoKernelImageForDevice, launch_from(machine));
    expect(cudaErrorInvalidKernelImage, launch_from("neither text nor container"));
    expect(cudaErrorInvalidPtx, launch_from(container(1, 80, "garbage")));
    memcpy((char *)good + 24, &(uint64_t){1u << 30}, 8); /* a payload that ends beyond the container */
    expect(cudaErrorInvalidKernelImage, launch_from(good));
    free(good);
    free(newer);
    free(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        T(launch_kernel_passes_shape_and_arguments),
        T(kernel_handles_launch_too),
        T(old_calls_launch_with_offsets),
        T(configurations_nest_and_run_out),
        T(impossible_shapes_are_refused_as_cuda_does),
        T(dynamic_shared_memory_beyond_48_kib_needs_the_attribute),
        T(too_many_registers_for_the_block),
        T(cooperative_grid_must_be_resident),
        T(extended_launch_reads_its_attributes),
        T(unknown_functions_have_their_own_error),
        T(attributes_come_from_the_kernel),
        T(images_load_once_and_at_first_use),
        T(images_that_cannot_run_say_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
