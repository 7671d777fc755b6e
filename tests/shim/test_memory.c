/* test_memory.c - allocation, pinning, copies and fills, and what CUDA says of wrong ones. */
#include "api.h"

static void malloc_gives_aligned_memory_that_copies_both_ways(void **state)
{
    (void)state;
    char *d = NULL, in[1000], out[1000] = {0};
    for (int i = 0; i < 1000; i++)
        in[i] = (char)(i * 7);
    ok(cudaMalloc((void **)&d, 1000));
    assert_int_equal((uintptr_t)d % 256, 0);
    ok(cudaMemcpy(d, in, 1000, cudaMemcpyHostToDevice));
    ok(cudaMemcpy(out, d, 1000, cudaMemcpyDeviceToHost));
    assert_memory_equal(in, out, 1000);
    ok(cudaFree(d));
}

static void malloc_of_nothing_is_null(void **state)
{
    (void)state;
    void *d = (void *)1;
    ok(cudaMalloc(&d, 0));
    assert_null(d);
    ok(cudaFree(NULL));
    expect(cudaErrorInvalidValue, cudaMalloc(NULL, 8));
    expect(cudaErrorMemoryAllocation, cudaMalloc(&d, (size_t)1 << 60));
}

static void free_takes_only_what_malloc_gave(void **state)
{
    (void)state;
    char *d, *h, mine[16];
    ok(cudaMalloc((void **)&d, 64));
    ok(cudaMallocHost((void **)&h, 64));
    expect(cudaErrorInvalidValue, cudaFree(d + 4));
    expect(cudaErrorInvalidValue, cudaFree(mine));
    expect(cudaErrorInvalidValue, cudaFree(h));
    expect(cudaErrorInvalidValue, cudaFreeHost(d));
    ok(cudaFree(d));
    expect(cudaErrorInvalidValue, cudaFree(d));
    ok(cudaFreeHost(h));
}

static void copies_are_checked_for_size_direction_and_kind(void **state)
{
    (void)state;
    char *d, h[256] = {0}, *p;
    ok(cudaMalloc((void **)&d, 100));
    ok(cudaMallocHost((void **)&p, 100));
    expect(cudaErrorInvalidValue, cudaMemcpy(d, h, 101, cudaMemcpyHostToDevice));
    expect(cudaErrorInvalidValue, cudaMemcpy(d + 50, h, 51, cudaMemcpyHostToDevice));
    ok(cudaMemcpy(d + 50, h, 50, cudaMemcpyHostToDevice));
    expect(cudaErrorInvalidValue, cudaMemcpy(h, h + 100, 4, cudaMemcpyHostToDevice));
    expect(cudaErrorInvalidValue, cudaMemcpy(h, h + 100, 4, cudaMemcpyDeviceToHost));
    expect(cudaErrorInvalidMemcpyDirection, cudaMemcpy(d, h, 4, 5));
    expect(cudaErrorInvalidMemcpyDirection, cudaMemcpy(d, h, 4, -1));
    expect(cudaErrorInvalidValue, cudaMemcpy(d, NULL, 4, cudaMemcpyHostToDevice));
    ok(cudaMemcpy(d, NULL, 0, cudaMemcpyHostToDevice));
    ok(cudaMemcpy(d, h, 4, cudaMemcpyDefault));
    ok(cudaMemcpy(h, d, 4, cudaMemcpyDefault));
    ok(cudaMemcpy(p, d, 100, cudaMemcpyDeviceToHost));
    ok(cudaMemcpy(d, p, 100, cudaMemcpyHostToDevice));
    expect(cudaErrorInvalidValue, cudaMemcpy(d, p, 101, cudaMemcpyHostToDevice));
    ok(cudaFree(d));
    expect(cudaErrorInvalidValue, cudaMemcpy(d, h, 4, cudaMemcpyHostToDevice));
    ok(cudaFreeHost(p));
}

static void managed_memory_is_the_hosts_too(void **state)
{
    (void)state;
    int *m, h = 3;
    struct cudaPointerAttributes a;
    ok(cudaMallocManaged((void **)&m, sizeof *m, cudaMemAttachGlobal));
    *m = 41;
    ok(cudaMemcpy(m, &h, sizeof h, cudaMemcpyHostToDevice));
    assert_int_equal(*m, 3);
    ok(cudaPointerGetAttributes(&a, m));
    assert_int_equal(a.type, cudaMemoryTypeManaged);
    assert_ptr_equal(a.devicePointer, m);
    assert_ptr_equal(a.hostPointer, m);
    ok(cudaFree(m));
    expect(cudaErrorInvalidValue, cudaMallocManaged((void **)&m, 4, 9));
    ok(cudaMallocManaged((void **)&m, 0, cudaMemAttachGlobal));
    assert_null(m);
}

static void pointer_attributes_tell_the_kinds_apart(void **state)
{
    (void)state;
    struct cudaPointerAttributes a;
    char *d, *p, mine[64];
    ok(cudaMalloc((void **)&d, 64));
    ok(cudaHostAlloc((void **)&p, 64, cudaHostAllocMapped));
    ok(cudaPointerGetAttributes(&a, d + 9));
    assert_int_equal(a.type, cudaMemoryTypeDevice);
    assert_int_equal(a.device, 0);
    assert_ptr_equal(a.devicePointer, d + 9);
    assert_null(a.hostPointer);
    ok(cudaPointerGetAttributes(&a, p));
    assert_int_equal(a.type, cudaMemoryTypeHost);
    assert_ptr_equal(a.hostPointer, p);
    ok(cudaPointerGetAttributes(&a, mine));
    assert_int_equal(a.type, cudaMemoryTypeUnregistered);
    assert_null(a.devicePointer);
    unsigned flags = 0;
    ok(cudaHostGetFlags(&flags, p));
    assert_int_equal(flags & cudaHostAllocMapped, cudaHostAllocMapped);
    void *q;
    ok(cudaHostGetDevicePointer(&q, p, 0));
    assert_ptr_equal(q, p);
    expect(cudaErrorInvalidValue, cudaHostGetDevicePointer(&q, mine, 0));
    ok(cudaFree(d));
    ok(cudaFreeHost(p));
}

static void touch_shadow(void *ctx) { ((int *)ctx)[1] += ((int *)ctx)[0]; }

static void registered_memory_is_kept_equal_around_a_launch(void **state)
{
    (void)state;
    int mine[4] = {5, 1, 0, 0}, *d;
    void **h = register_all();
    ok(cudaHostRegister(mine, sizeof mine, 0));
    expect(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(mine + 1, 4, 0));
    ok(cudaHostGetDevicePointer((void **)&d, mine, 0));
    mine[0] = 9;
    wg_double.during = touch_shadow; /* the kernel: what it sees is the host's value, what it leaves the host sees */
    wg_double.during_ctx = d;
    ok(cudaLaunchKernel(&fn_small, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, NULL));
    wg_double.during = NULL;
    assert_int_equal(mine[1], 10);
    ok(cudaHostUnregister(mine));
    expect(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(mine));
    __cudaUnregisterFatBinary(h);
}

static void pitched_memory_copies_by_rows(void **state)
{
    (void)state;
    char *d, in[6][10], out[6][16];
    size_t pitch;
    memset(out, 'x', sizeof out);
    for (int i = 0; i < 60; i++)
        in[i / 10][i % 10] = (char)i;
    ok(cudaMallocPitch((void **)&d, &pitch, 10, 6));
    assert_true(pitch >= 10 && pitch % 32 == 0);
    ok(cudaMemset2D(d, pitch, 1, 10, 6));
    ok(cudaMemcpy2D(d, pitch, in, 10, 10, 6, cudaMemcpyHostToDevice));
    ok(cudaMemcpy2D(out, 16, d, pitch, 10, 6, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 6; y++) {
        assert_memory_equal(out[y], in[y], 10);
        assert_int_equal(out[y][10], 'x');
    }
    expect(cudaErrorInvalidPitchValue, cudaMemcpy2D(out, 9, d, pitch, 10, 6, cudaMemcpyDeviceToHost));
    expect(cudaErrorInvalidValue, cudaMemcpy2D(d, pitch, in, 10, 10, 7, cudaMemcpyHostToDevice));
    ok(cudaFree(d));
}

static void volumes_copy_a_box_out_of_the_middle(void **state)
{
    (void)state;
    struct cudaPitchedPtr p;
    unsigned char host[3][4][5], got[3][4][5] = {{{0}}};
    for (int i = 0; i < 60; i++)
        (&host[0][0][0])[i] = (unsigned char)(i + 1);
    ok(cudaMalloc3D(&p, (struct cudaExtent){5, 4, 3}));
    ok(cudaMemset3D(p, 0, (struct cudaExtent){5, 4, 3}));
    struct cudaMemcpy3DParms c = {.srcPtr = {host, 5, 5, 4}, .dstPtr = p, .srcPos = {1, 2, 1}, .dstPos = {1, 2, 1},
                                  .extent = {3, 2, 2}, .kind = cudaMemcpyHostToDevice};
    ok(cudaMemcpy3D(&c));
    struct cudaMemcpy3DParms r = {.srcPtr = p, .dstPtr = {got, 5, 5, 4}, .extent = {5, 4, 3},
                                  .kind = cudaMemcpyDeviceToHost};
    ok(cudaMemcpy3D(&r));
    for (int z = 0; z < 3; z++)
        for (int y = 0; y < 4; y++)
            for (int x = 0; x < 5; x++) {
                const bool in = z >= 1 && y >= 2 && x >= 1 && x < 4;
                assert_int_equal(got[z][y][x], in ? host[z][y][x] : 0);
            }
    ok(cudaFree(p.ptr));
}

static void symbols_read_write_and_know_their_size(void **state)
{
    (void)state;
    void **h = register_all(), *addr;
    size_t n;
    char in[64], out[64] = {0};
    int scale = 0;
    memset(in, 3, sizeof in);
    ok(cudaGetSymbolSize(&n, var_table));
    assert_int_equal(n, 64);
    ok(cudaMemcpyFromSymbol(&scale, &var_scale, 4, 0, cudaMemcpyDeviceToHost));
    assert_int_equal(scale, 7);
    ok(cudaMemcpyToSymbol(var_table, in, 60, 4, cudaMemcpyHostToDevice));
    expect(cudaErrorInvalidValue, cudaMemcpyToSymbol(var_table, in, 61, 4, cudaMemcpyHostToDevice));
    expect(cudaErrorInvalidMemcpyDirection, cudaMemcpyToSymbol(var_table, in, 4, 0, cudaMemcpyDeviceToHost));
    expect(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(in, in, 4, 0, cudaMemcpyHostToDevice));
    ok(cudaGetSymbolAddress(&addr, var_table));
    ok(cudaMemcpy(out, addr, 64, cudaMemcpyDeviceToHost));
    assert_int_equal(out[3], 0);
    assert_memory_equal(out + 4, in, 60);
    __cudaUnregisterFatBinary(h);
    expect(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&addr, var_table));
}

static void managed_variables_are_set_before_the_host_reads_them(void **state)
{
    (void)state;
    var_managed = NULL;
    void **h = register_all();
    assert_int_equal(__cudaInitModule(h), 1);
    assert_non_null(var_managed);
    assert_int_equal(*(int *)var_managed, 5);
    __cudaUnregisterFatBinary(h);
}

static void pools_count_what_is_in_use(void **state)
{
    (void)state;
    void *pool, *own, *a, *b;
    uint64_t v = 1;
    ok(cudaDeviceGetDefaultMemPool(&pool, 0));
    ok(cudaMallocAsync(&a, 100, NULL));
    ok(cudaMallocAsync(&b, 50, NULL));
    ok(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &v));
    assert_int_equal(v, 150);
    ok(cudaFreeAsync(a, NULL));
    ok(cudaFree(b));
    ok(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &v));
    assert_int_equal(v, 0);
    ok(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &v));
    assert_int_equal(v, 150);
    expect(cudaErrorInvalidValue, cudaFreeAsync(a, NULL));
    struct cudaMemPoolProps props = {.allocType = cudaMemAllocationTypePinned,
                                     .location = {cudaMemLocationTypeDevice, 0}};
    ok(cudaMemPoolCreate(&own, &props));
    ok(cudaMallocFromPoolAsync(&a, 8, own, NULL));
    ok(cudaMemPoolDestroy(own));
    ok(cudaFree(a));
    expect(cudaErrorInvalidValue, cudaMemPoolDestroy(own));
    expect(cudaErrorInvalidValue, cudaMemPoolDestroy(pool));
}

static void memory_info_follows_allocations(void **state)
{
    (void)state;
    size_t free0, free1, total;
    void *d;
    ok(cudaMemGetInfo(&free0, &total));
    ok(cudaMalloc(&d, 1 << 20));
    ok(cudaMemGetInfo(&free1, &total));
    assert_true(free0 - free1 >= 1 << 20);
    assert_true(free1 < total);
    ok(cudaFree(d));
}

static void reset_frees_everything(void **state)
{
    (void)state;
    void *d;
    char h[4];
    ok(cudaMalloc(&d, 64));
    ok(cudaDeviceReset());
    expect(cudaErrorInvalidValue, cudaMemcpy(h, d, 4, cudaMemcpyDeviceToHost));
    expect(cudaErrorInvalidValue, cudaFree(d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(malloc_gives_aligned_memory_that_copies_both_ways, fresh),
        cmocka_unit_test_setup(malloc_of_nothing_is_null, fresh),
        cmocka_unit_test_setup(free_takes_only_what_malloc_gave, fresh),
        cmocka_unit_test_setup(copies_are_checked_for_size_direction_and_kind, fresh),
        cmocka_unit_test_setup(managed_memory_is_the_hosts_too, fresh),
        cmocka_unit_test_setup(pointer_attributes_tell_the_kinds_apart, fresh),
        cmocka_unit_test_setup(registered_memory_is_kept_equal_around_a_launch, fresh),
        cmocka_unit_test_setup(pitched_memory_copies_by_rows, fresh),
        cmocka_unit_test_setup(volumes_copy_a_box_out_of_the_middle, fresh),
        cmocka_unit_test_setup(symbols_read_write_and_know_their_size, fresh),
        cmocka_unit_test_setup(managed_variables_are_set_before_the_host_reads_them, fresh),
        cmocka_unit_test_setup(pools_count_what_is_in_use, fresh),
        cmocka_unit_test_setup(memory_info_follows_allocations, fresh),
        cmocka_unit_test_setup(reset_frees_everything, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
