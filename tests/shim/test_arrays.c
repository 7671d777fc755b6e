/* test_arrays.c - CUDA arrays: shapes that are taken and refused, and copies of every kind to and from them. */
#include "api.h"

int cudaMallocArray(void **, const struct cudaChannelFormatDesc *, size_t, size_t, unsigned);
int cudaMalloc3DArray(void **, const struct cudaChannelFormatDesc *, struct cudaExtent, unsigned);
int cudaMallocMipmappedArray(void **, const struct cudaChannelFormatDesc *, struct cudaExtent, unsigned, unsigned);
int cudaGetMipmappedArrayLevel(void **, void *, unsigned);
int cudaFreeArray(void *);
int cudaFreeMipmappedArray(void *);
int cudaArrayGetInfo(struct cudaChannelFormatDesc *, struct cudaExtent *, unsigned *, void *);
int cudaMemcpy2DToArray(void *, size_t, size_t, const void *, size_t, size_t, size_t, int);
int cudaMemcpy2DFromArray(void *, size_t, const void *, size_t, size_t, size_t, size_t, int);
int cudaMemcpyToArray(void *, size_t, size_t, const void *, size_t, int);
int cudaMemcpyFromArray(void *, const void *, size_t, size_t, size_t, int);

int cudaCreateTextureObject_v2(uint64_t *, const struct cudaResourceDesc *, const struct cudaTextureDesc *,
                               const struct cudaResourceViewDesc *);
int cudaCreateSurfaceObject(uint64_t *, const struct cudaResourceDesc *);
int cudaDestroyTextureObject(uint64_t);
int cudaDestroySurfaceObject(uint64_t);
void __cudaRegisterTexture(void **, const void *, const void **, const char *, int, int, int);
int cudaBindTexture(size_t *, const struct textureReference *, const void *, const struct cudaChannelFormatDesc *, size_t);
int cudaBindTextureToArray(const struct textureReference *, void *, const struct cudaChannelFormatDesc *);
int cudaUnbindTexture(const struct textureReference *);
int cudaGetTextureAlignmentOffset(size_t *, const struct textureReference *);

static const struct cudaChannelFormatDesc f32 = {32, 0, 0, 0, cudaChannelFormatKindFloat},
                                          u8x4 = {8, 8, 8, 8, cudaChannelFormatKindUnsigned};

static void formats_and_shapes(void **state)
{
    (void)state;
    void *a;
    struct cudaExtent e;
    unsigned flags;
    ok(cudaMallocArray(&a, &f32, 7, 5, cudaArraySurfaceLoadStore));
    ok(cudaArrayGetInfo(NULL, &e, &flags, a));
    assert_int_equal(e.width, 7);
    assert_int_equal(e.height, 5);
    assert_int_equal(e.depth, 0);
    assert_int_equal(flags, cudaArraySurfaceLoadStore);
    expect(cudaErrorInvalidValue, cudaFree(a));
    ok(cudaFreeArray(a));
    expect(cudaErrorInvalidResourceHandle, cudaFreeArray(a));
    ok(cudaFreeArray(NULL));
    const struct cudaChannelFormatDesc three = {8, 8, 8, 0, cudaChannelFormatKindUnsigned}, mixed = {8, 16, 0, 0, 1},
                                       tiny = {8, 0, 0, 0, cudaChannelFormatKindFloat};
    expect(cudaErrorInvalidValue, cudaMallocArray(&a, &three, 4, 4, 0));
    expect(cudaErrorInvalidValue, cudaMallocArray(&a, &mixed, 4, 4, 0));
    expect(cudaErrorInvalidValue, cudaMallocArray(&a, &tiny, 4, 4, 0));
    expect(cudaErrorInvalidValue, cudaMallocArray(&a, &f32, 0, 4, 0));
    expect(cudaErrorInvalidValue, cudaMalloc3DArray(&a, &f32, (struct cudaExtent){8, 8, 5}, cudaArrayCubemap));
    expect(cudaErrorInvalidValue, cudaMalloc3DArray(&a, &f32, (struct cudaExtent){8, 4, 6}, cudaArrayCubemap));
    ok(cudaMalloc3DArray(&a, &f32, (struct cudaExtent){8, 8, 6}, cudaArrayCubemap));
    ok(cudaFreeArray(a));
}

/* Rows of a picture into the middle of an array and back from there; the frame around it stays as it was. */
static void rectangles_go_in_and_come_back(void **state)
{
    (void)state;
    void *a;
    uint32_t in[3][5], out[3][4], all[6][8];
    for (unsigned i = 0; i < 15; i++)
        in[i / 5][i % 5] = 100 + i;
    ok(cudaMallocArray(&a, &u8x4, 8, 6, 0));
    memset(all, 0xee, sizeof all);
    ok(cudaMemcpy2DToArray(a, 0, 0, all, 32, 32, 6, cudaMemcpyHostToDevice));
    ok(cudaMemcpy2DToArray(a, 2 * 4, 1, in, 20, 16, 3, cudaMemcpyHostToDevice));
    ok(cudaMemcpy2DFromArray(out, 16, a, 2 * 4, 1, 16, 3, cudaMemcpyDeviceToHost));
    for (unsigned y = 0; y < 3; y++)
        assert_memory_equal(out[y], in[y], 16);
    ok(cudaMemcpyFromArray(all, a, 0, 0, sizeof all, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < 48; i++) {
        const unsigned x = i % 8, y = i / 8;
        assert_int_equal(all[y][x], x >= 2 && x < 6 && y >= 1 && y < 4 ? in[y - 1][x - 2] : 0xeeeeeeee);
    }
    expect(cudaErrorInvalidValue, cudaMemcpy2DToArray(a, 5 * 4, 1, in, 20, 16, 3, cudaMemcpyHostToDevice));
    expect(cudaErrorInvalidValue, cudaMemcpy2DToArray(a, 0, 4, in, 20, 16, 3, cudaMemcpyHostToDevice));
    expect(cudaErrorInvalidValue, cudaMemcpy2DToArray(a, 2, 0, in, 20, 16, 3, cudaMemcpyHostToDevice));
    expect(cudaErrorInvalidMemcpyDirection, cudaMemcpy2DToArray(a, 0, 0, in, 20, 16, 3, cudaMemcpyDeviceToHost));
    expect(cudaErrorInvalidValue, cudaMemcpyToArray(a, 0, 5, in, 33, cudaMemcpyHostToDevice));
}

static void volumes_count_elements(void **state)
{
    (void)state;
    void *a;
    uint16_t in[4][3][5], out[2][2][2] = {{{0}}};
    const struct cudaChannelFormatDesc u16 = {16, 0, 0, 0, cudaChannelFormatKindUnsigned};
    for (unsigned i = 0; i < 60; i++)
        (&in[0][0][0])[i] = (uint16_t)i;
    ok(cudaMalloc3DArray(&a, &u16, (struct cudaExtent){5, 3, 4}, 0));
    struct cudaMemcpy3DParms p = {
        .srcPtr = {in, 10, 5, 3}, .dstArray = a, .extent = {5, 3, 4}, .kind = cudaMemcpyHostToDevice};
    ok(cudaMemcpy3D(&p));
    p = (struct cudaMemcpy3DParms){.srcArray = a,
                                   .srcPos = {3, 1, 2},
                                   .dstPtr = {out, 4, 2, 2},
                                   .extent = {2, 2, 2},
                                   .kind = cudaMemcpyDeviceToHost};
    ok(cudaMemcpy3D(&p));
    for (unsigned z = 0; z < 2; z++)
        for (unsigned y = 0; y < 2; y++)
            assert_memory_equal(out[z][y], &in[z + 2][y + 1][3], 4);
    p.srcPos.x = 4;
    expect(cudaErrorInvalidValue, cudaMemcpy3D(&p));
}

static void levels_halve_and_share_the_mipmap(void **state)
{
    (void)state;
    void *m, *level, *other;
    struct cudaExtent e;
    ok(cudaMallocMipmappedArray(&m, &f32, (struct cudaExtent){20, 9, 0}, 99, 0));
    const unsigned widths[] = {20, 10, 5, 2, 1}, heights[] = {9, 4, 2, 1, 1};
    for (unsigned i = 0; i < 5; i++) {
        ok(cudaGetMipmappedArrayLevel(&level, m, i));
        ok(cudaArrayGetInfo(NULL, &e, NULL, level));
        assert_int_equal(e.width, widths[i]);
        assert_int_equal(e.height, heights[i]);
    }
    expect(cudaErrorInvalidValue, cudaGetMipmappedArrayLevel(&other, m, 5));
    expect(cudaErrorInvalidResourceHandle, cudaFreeArray(level));
    ok(cudaFreeMipmappedArray(m));
    expect(cudaErrorInvalidResourceHandle, cudaArrayGetInfo(NULL, &e, NULL, level));
}

static void objects_describe_the_array(void **state)
{
    (void)state;
    void *a, *p;
    uint64_t t, u;
    wg_double.objects = 0;
    ok(cudaMalloc3DArray(&a, &u8x4, (struct cudaExtent){20, 9, 3}, cudaArrayLayered));
    struct cudaResourceDesc r = {.resType = cudaResourceTypeArray, .res.array.array = a};
    struct cudaTextureDesc d = {.addressMode = {3, 1, 0}, .filterMode = 1, .normalizedCoords = 1};
    expect(cudaErrorInvalidFilterSetting, cudaCreateTextureObject_v2(&t, &r, &d, NULL)); /* integers do not blend */
    d.readMode = 1;
    ok(cudaCreateTextureObject_v2(&t, &r, &d, NULL));
    const struct wg_texture *x = &wg_double.texture;
    assert_int_equal(x->image.shape, WG_IMAGE_2D);
    assert_true(x->image.layered && x->normalized && x->normalized_float);
    assert_int_equal(x->image.layers, 3);
    assert_int_equal(x->image.channels * x->image.bits, 32);
    assert_int_equal(x->image.level[0].row_bytes, 80);
    assert_int_equal(x->image.level[0].layer_bytes, 720);
    assert_int_equal(x->address[0], WG_ADDRESS_BORDER);
    expect(cudaErrorInvalidValue, cudaCreateSurfaceObject(&u, &r)); /* the array was not made for it */
    expect(cudaErrorInvalidValue, cudaDestroySurfaceObject(t));
    ok(cudaDestroyTextureObject(t));
    expect(cudaErrorInvalidValue, cudaDestroyTextureObject(t));
    ok(cudaMalloc(&p, 400));
    r = (struct cudaResourceDesc){.resType = cudaResourceTypeLinear};
    r.res.linear.devPtr = p;
    r.res.linear.desc = f32;
    r.res.linear.sizeInBytes = 400;
    d = (struct cudaTextureDesc){0};
    ok(cudaCreateTextureObject_v2(&t, &r, &d, NULL));
    assert_int_equal(x->image.shape, WG_IMAGE_LINEAR);
    assert_int_equal(x->image.level[0].width, 100);
    r.res.linear.sizeInBytes = 404;
    expect(cudaErrorInvalidValue, cudaCreateTextureObject_v2(&t, &r, &d, NULL));
    assert_int_equal(wg_double.objects, 1);
    cudaDeviceReset();
    assert_int_equal(wg_double.objects, 0);
}

static void references_are_objects_that_change(void **state)
{
    (void)state;
    static struct textureReference t = {.filterMode = 1, .addressMode = {1, 1, 1}}, stranger, absent;
    void **h = register_module(test_ptx), *p, *a;
    size_t offset = 7;
    const struct wg_texture *x = &wg_double.texture;
    wg_double.objects = 0;
    wg_double.bound = 0;
    __cudaRegisterTexture(h, &t, NULL, "reference", 1, 1, 0);
    __cudaRegisterTexture(h, &absent, NULL, "not_in_the_ptx", 1, 0, 0);
    ok(cudaMalloc(&p, 400));
    expect(cudaErrorInvalidTexture, cudaBindTexture(NULL, &stranger, p, &f32, 400));
    expect(cudaErrorInvalidTexture, cudaBindTexture(NULL, &absent, p, &f32, 400));
    expect(cudaErrorInvalidTextureBinding, cudaGetTextureAlignmentOffset(&offset, &t));
    ok(cudaBindTexture(&offset, &t, (char *)p + 40, &f32, UINT32_MAX)); /* all there is */
    assert_int_equal(offset, 0);
    assert_int_equal(x->image.level[0].width, 90);
    const uint64_t first = wg_double.bound;
    assert_true(first != 0);
    ok(cudaMallocArray(&a, &u8x4, 20, 9, 0));
    ok(cudaBindTextureToArray(&t, a, &u8x4));
    assert_true(x->normalized_float && x->filter == WG_FILTER_LINEAR && x->image.shape == WG_IMAGE_2D);
    assert_int_equal(wg_double.objects, 1); /* the first one is gone */
    ok(cudaGetTextureAlignmentOffset(&offset, &t));
    ok(cudaUnbindTexture(&t));
    assert_int_equal(wg_double.bound, 0);
    assert_int_equal(wg_double.objects, 0);
    ok(cudaUnbindTexture(&t));
    __cudaUnregisterFatBinary(h);
    expect(cudaErrorInvalidTexture, cudaBindTexture(NULL, &t, p, &f32, 400));
    cudaDeviceReset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(formats_and_shapes, fresh),
        cmocka_unit_test_setup(rectangles_go_in_and_come_back, fresh),
        cmocka_unit_test_setup(volumes_count_elements, fresh),
        cmocka_unit_test_setup(levels_halve_and_share_the_mipmap, fresh),
        cmocka_unit_test_setup(objects_describe_the_array, fresh),
        cmocka_unit_test_setup(references_are_objects_that_change, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
