/* The second unit of main.cu. */
__device__ int counter = 100;
__constant__ float scale[2] = {2, 3};
static __device__ int mine = 7;
static __global__ void own(int *o) { *o = mine; }
__device__ float twice(float x) { return 2 * x; }
__global__ void k2(float *o) { o[32 + threadIdx.x] = counter + mine; }
void other(float *o)
{
    const int v = 50;
    int *d;
    k2<<<1, 32>>>(o);
    cudaMalloc(&d, sizeof *d);
    own<<<1, 1>>>(d);
    cudaMemcpyToSymbol(mine, &v, sizeof v);
    k2<<<1, 32>>>(o);
}
