// wants: \.global \.texref linear
// wants: mov\.u64\s+%rd\d+, linear
// wants: tex\.1d\.v4\.f32\.s32
// wants: tex\.2d\.v4\.f32\.f32
// wants: tex\.1d\.v4\.s32\.s32
texture<float, 1, cudaReadModeElementType> linear;
texture<uchar4, cudaTextureType2D, cudaReadModeNormalizedFloat> image;
static texture<int> other;
__device__ float helper(int i) { return tex1Dfetch(linear, i) + (float)tex1Dfetch(other, i); }
__global__ void fetch(float *out)
{
    const int i = (int)threadIdx.x;
    const float4 c = tex2D(image, (float)i + 0.5f, 0.5f);
    out[i] = helper(i) + c.x;
}
cudaError_t bind(float *p, int *q, cudaArray_t a)
{
    image.filterMode = cudaFilterModeLinear;
    image.normalized = 1;
    cudaBindTexture(nullptr, linear, p);
    cudaBindTexture(nullptr, other, q, 64);
    cudaBindTextureToArray(image, a);
    return cudaUnbindTexture(linear);
}
