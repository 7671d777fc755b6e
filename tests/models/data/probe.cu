// One warp, one access, lane offsets given by the host: the kernel behind probe_global.csv and probe_shared.csv.
// nvcc -arch=sm_90 probe.cu; run under ncu --clock-control none with the metrics that the tables name. Each launch is one row;
// lanes with a negative offset take no part. Results are kept alive by a store that never happens.
#include <cstdio>
#include <cuda_runtime.h>

__constant__ int lane_offset[32];

#define ACCESS(kind, ptx) \
    case kind: asm volatile(ptx : "+r"(x), "+r"(y), "+r"(z), "+r"(w) : "l"(global), "r"(shared) : "memory"); break;

__global__ void probe(int kind, char *memory, int never)
{
    extern __shared__ int block[];
    int o = lane_offset[threadIdx.x], x = 0, y = 0, z = 0, w = 0;
    char *global = memory + o;
    unsigned shared = o + (unsigned)__cvta_generic_to_shared(block);
    if (o >= 0)
        switch (kind) {
            ACCESS(0, "ld.global.u8 %0, [%4];")
            ACCESS(1, "ld.global.u32 %0, [%4];")
            ACCESS(2, "ld.global.v2.u32 {%0, %1}, [%4];")
            ACCESS(3, "ld.global.v4.u32 {%0, %1, %2, %3}, [%4];")
            ACCESS(4, "st.global.u32 [%4], %0;")
            ACCESS(5, "st.global.v4.u32 [%4], {%0, %1, %2, %3};")
            ACCESS(6, "red.global.add.u32 [%4], %5;")
            ACCESS(7, "atom.global.add.u32 %0, [%4], %5;")
            ACCESS(8, "ld.shared.u8 %0, [%5];")
            ACCESS(9, "ld.shared.u32 %0, [%5];")
            ACCESS(10, "ld.shared.v2.u32 {%0, %1}, [%5];")
            ACCESS(11, "ld.shared.v4.u32 {%0, %1, %2, %3}, [%5];")
            ACCESS(12, "st.shared.u32 [%5], %0;")
            ACCESS(13, "st.shared.v4.u32 [%5], {%0, %1, %2, %3};")
            ACCESS(14, "atom.shared.add.u32 %0, [%5], %5;")
            ACCESS(15, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%5];")
        }
    if (x + y + z + w == never)
        block[x & 31] = never;
}

int main(int argc, char **argv)
{
    // reads rows of "kind offset0 ... offset31" from standard input
    char *memory;
    int kind, offset[32];
    cudaMalloc(&memory, 1 << 20);
    while (scanf("%d", &kind) == 1) {
        for (int i = 0; i < 32; i++)
            if (scanf("%d", &offset[i]) != 1)
                return 1;
        cudaMemcpyToSymbol(lane_offset, offset, sizeof offset);
        probe<<<1, 32, 8192>>>(kind, memory, 77);
    }
    puts(cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
