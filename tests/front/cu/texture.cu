// wants: tex.1d.v4.s32.s32
// wants: tex.1d.v4.f32.f32
// wants: tex.2d.v4.f32.f32
// wants: tex.3d.v4.u32.f32
// wants: tex.a2d.v4.f32.f32
// wants: tex.level.2d.v4.f32.f32
// wants: tld4.r.2d.v4.f32.f32
// wants: suld.b.2d.b32.trap
// wants: sust.b.2d.v4.b32.trap
// wants: suld.b.1d.b8.clamp
__global__ void k(cudaTextureObject_t t, cudaSurfaceObject_t s, float *f, int *i)
{
    i[0] = tex1Dfetch<int>(t, i[1]);
    f[0] = tex1D<float>(t, f[1]) + tex2D<float4>(t, f[2], f[3]).y;
    i[2] = (int)tex3D<uchar4>(t, f[4], f[5], f[6]).z;
    f[7] = tex2DLayered<float>(t, f[8], f[9], i[3]) + tex2DLod<float2>(t, f[1], f[2], 1.0f).x;
    f[10] = tex2Dgather<float4>(t, f[11], f[12]).w;
    f[13] = surf2Dread<float>(s, i[4], i[5]);
    surf2Dwrite(make_float4(1, 2, 3, 4), s, i[6], i[7]);
    unsigned char c;
    surf1Dread(&c, s, i[8], cudaBoundaryModeClamp);
    i[9] = c;
}
int main()
{
    const cudaChannelFormatDesc d = cudaCreateChannelDesc<float4>();
    cudaArray_t a;
    cudaTextureObject_t t;
    cudaResourceDesc r = {};
    cudaTextureDesc p = {};
    r.resType = cudaResourceTypeArray;
    if (cudaMallocArray(&a, &d, 4, 4))
        return 1;
    r.res.array.array = a;
    p.filterMode = cudaFilterModeLinear;
    return cudaCreateTextureObject(&t, &r, &p, nullptr);
}
