/* test_device.c - one device, its properties in every layout, settings, and the devices that do not exist. */
#include "api.h"

static void there_is_one_device(void **state)
{
    (void)state;
    int n = 0, d = -1, can = 1;
    ok(cudaGetDeviceCount(&n));
    assert_int_equal(n, 1);
    ok(cudaSetDevice(0));
    ok(cudaGetDevice(&d));
    assert_int_equal(d, 0);
    expect(cudaErrorInvalidDevice, cudaSetDevice(1));
    expect(cudaErrorInvalidDevice, cudaSetDevice(-1));
    expect(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&n, 1, 1));
    ok(cudaDeviceCanAccessPeer(&can, 0, 0));
    assert_int_equal(can, 0);
    expect(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(1, 0));
}

/* Offsets as in the structures of CUDA 11.8, 12.8 and 13.0 (offsetof, in their own headers). */
static void layouts_match_the_headers_of_each_version(void **state)
{
    (void)state;
    assert_int_equal(sizeof(struct wg_props_old), 728);
    assert_int_equal(sizeof(struct wg_props_v2), 1032);
    assert_int_equal(sizeof(struct wg_props_13), 1008);
    assert_int_equal(offsetof(struct wg_props_old, multiProcessorCount), 388);
    assert_int_equal(offsetof(struct wg_props_v2, multiProcessorCount), 388);
    assert_int_equal(offsetof(struct wg_props_13, multiProcessorCount), 384);
    assert_int_equal(offsetof(struct wg_props_old, reservedSharedMemPerBlock), 720);
    assert_int_equal(offsetof(struct wg_props_v2, clusterLaunch), 772);
    assert_int_equal(offsetof(struct wg_props_13, clusterLaunch), 748);
    assert_int_equal(sizeof(struct cudaFuncAttributes), WG_CUDART_MAJOR >= 12 ? 144 : 56);
    assert_int_equal(sizeof(struct cudaPointerAttributes), WG_CUDART_MAJOR >= 13 ? 88 : 24);
    assert_int_equal(sizeof(struct cudaLaunchConfig), 56);
    assert_int_equal(sizeof(struct cudaLaunchAttribute), 72);
    assert_int_equal(sizeof(struct cudaMemPoolProps), 88);
    assert_int_equal(offsetof(struct wg_props_13, hostNumaMultinodeIpcSupported), 780);
}

static void properties_describe_the_modelled_device(void **state)
{
    (void)state;
#if WG_CUDART_MAJOR >= 13
    struct wg_props_13 p;
#else
    struct wg_props_old p;
#endif
    unsigned char room[4096];
    memset(room, 0xa5, sizeof room);
    ok(cudaGetDeviceProperties(room, 0));
    memcpy(&p, room, sizeof p);
    assert_int_equal(room[sizeof p], 0xa5); /* nothing written past the caller's structure */
    assert_string_equal(p.name, "NVIDIA H200");
    assert_int_equal(p.major, 9);
    assert_int_equal(p.minor, 0);
    assert_int_equal(p.multiProcessorCount, 132);
    assert_int_equal(p.warpSize, 32);
    assert_int_equal(p.sharedMemPerBlock, 49152);
    assert_int_equal(p.sharedMemPerBlockOptin, 232448);
    assert_int_equal(p.maxThreadsDim[2], 64);
    assert_int_equal(p.maxGridSize[0], 2147483647);
    assert_int_equal(p.regsPerMultiprocessor, 65536);
    assert_true(p.totalGlobalMem > (size_t)100 << 30);
    struct wg_props_v2 v2;
    memset(room, 0xa5, sizeof room);
    ok(cudaGetDeviceProperties_v2(room, 0));
    memcpy(&v2, room, sizeof v2);
    assert_int_equal(room[sizeof v2], 0xa5);
    assert_int_equal(v2.clusterLaunch, 1);
    assert_int_equal(v2.clockRate, 1980000);
    expect(cudaErrorInvalidDevice, cudaGetDeviceProperties(room, 1));
    expect(cudaErrorInvalidValue, cudaGetDeviceProperties(NULL, 0));
}

static void attributes_have_values_or_are_unknown(void **state)
{
    (void)state;
    int v = -1;
    ok(cudaDeviceGetAttribute(&v, 16, 0));
    assert_int_equal(v, 132);
    ok(cudaDeviceGetAttribute(&v, 97, 0));
    assert_int_equal(v, 232448);
    expect(cudaErrorInvalidValue, cudaDeviceGetAttribute(&v, 0, 0));
    expect(cudaErrorInvalidValue, cudaDeviceGetAttribute(&v, 4000, 0));
}

static void limits_and_flags_are_kept(void **state)
{
    (void)state;
    size_t v;
    unsigned flags;
    ok(cudaDeviceGetLimit(&v, cudaLimitStackSize));
    assert_int_equal(v, 1024);
    ok(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 26));
    ok(cudaDeviceGetLimit(&v, cudaLimitMallocHeapSize));
    assert_int_equal(v, 1 << 26);
    expect(cudaErrorInvalidValue, cudaDeviceSetLimit(77, 1));
    ok(cudaSetDeviceFlags(4));
    ok(cudaGetDeviceFlags(&flags));
    assert_int_equal(flags & 7, 4);
    expect(cudaErrorInvalidValue, cudaSetDeviceFlags(0x1000));
}

static void versions_are_the_librarys(void **state)
{
    (void)state;
    int r, d;
    ok(cudaRuntimeGetVersion(&r));
    ok(cudaDriverGetVersion(&d));
    assert_int_equal(r / 1000, WG_CUDART_MAJOR);
    assert_true(d >= r);
}

static void bus_ids_go_both_ways(void **state)
{
    (void)state;
    char id[16];
    int d = -1;
    ok(cudaDeviceGetPCIBusId(id, sizeof id, 0));
    ok(cudaDeviceGetByPCIBusId(&d, id));
    assert_int_equal(d, 0);
    expect(cudaErrorInvalidDevice, cudaDeviceGetByPCIBusId(&d, "0000:7f:00.0"));
    expect(cudaErrorInvalidValue, cudaDeviceGetByPCIBusId(&d, "nonsense"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(there_is_one_device, fresh),
        cmocka_unit_test_setup(layouts_match_the_headers_of_each_version, fresh),
        cmocka_unit_test_setup(properties_describe_the_modelled_device, fresh),
        cmocka_unit_test_setup(attributes_have_values_or_are_unknown, fresh),
        cmocka_unit_test_setup(limits_and_flags_are_kept, fresh),
        cmocka_unit_test_setup(versions_are_the_librarys, fresh),
        cmocka_unit_test_setup(bus_ids_go_both_ways, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
