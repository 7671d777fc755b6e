// block_sum.cu - the textbook's block reduction, of ones: sequential addressing until a warp is left, which unrolls the
// rest. Right for 64, 128, 256, ... threads. With 32 the first unrolled step reads past the end of the array; with 96 some
// elements are added twice, with no race. `warpgrind learn R1`, R2 and R3 ask about it.
// usage: block_sum [threads]
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void block_sum(const float *in, float *out)
{
    extern __shared__ float part[]; // one word a thread
    const unsigned t = threadIdx.x;
    part[t] = in[t];
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 32; s /= 2) {
        if (t < s)
            part[t] += part[t + s];
        __syncthreads();
    }
    if (t < 32)
        for (unsigned s = 32; s > 0; s /= 2) {
            const float v = part[t] + part[t + s];
            __syncwarp();
            part[t] = v;
            __syncwarp();
        }
    if (t == 0)
        *out = part[0];
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? atoi(argv[1]) : 256;
    if (threads < 1 || threads > 1024) {
        std::fprintf(stderr, "usage: block_sum [threads], 1 to 1024\n");
        return 2;
    }
    float ones[1024], sum = 0, *in, *out;
    for (float &v : ones)
        v = 1;
    cudaMalloc(&in, threads * sizeof *in);
    cudaMalloc(&out, sizeof *out);
    cudaMemcpy(in, ones, threads * sizeof *in, cudaMemcpyHostToDevice);
    block_sum<<<1, threads, threads * sizeof(float)>>>(in, out);
    cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
    std::printf("%d threads: %g\n", threads, sum);
    cudaFree(in);
    cudaFree(out);
    return 0;
}
