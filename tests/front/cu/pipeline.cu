// wants: cp.async.cg.shared.global \[%r[0-9]+\], \[%rd[0-9]+\], 16
// wants: cp.async.ca.shared.global \[%r[0-9]+\], \[%rd[0-9]+\], 4
// wants: cp.async.commit_group
// wants: cp.async.wait_group 1
// wants: cp.async.wait_all
// wants: mbarrier.init.shared.b64
// wants: mbarrier.arrive.shared.b64
// wants: mbarrier.test_wait.shared.b64
#include <cuda_awbarrier.h>
#include <cuda_pipeline.h>
__global__ void k(const float *in, float *out)
{
    __shared__ float4 s[2][64];
    __shared__ nvcuda::experimental::awbarrier bar;
    if (threadIdx.x == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    __pipeline_memcpy_async(&s[0][threadIdx.x], in + 4 * threadIdx.x, 16);
    __pipeline_commit();
    __pipeline_memcpy_async(&s[1][threadIdx.x].x, in + threadIdx.x, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    bar.arrive_and_wait();
    out[threadIdx.x] = s[0][63 - threadIdx.x].y;
    __pipeline_wait_prior(0);
    bar.wait(bar.arrive());
    out[threadIdx.x] += s[1][63 - threadIdx.x].x;
}
int main() {}
