// kernels.cl - the kernels of kernels.cu in OpenCL, for the peers.

__kernel void sgemm_naive(__global const float *A, __global const float *B, __global float *C, int n)
{
    int x = get_group_id(0) * 32 + get_local_id(0), y = get_group_id(1) * 8 + get_local_id(1);
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += A[y * n + k] * B[k * n + x];
    C[y * n + x] = sum;
}

__kernel void sgemm_tiled(__global const float *A, __global const float *B, __global float *C, int n)
{
    __local float a[32][32], b[32][32];
    int tx = get_local_id(0), ty = get_local_id(1), x = get_group_id(0) * 32 + tx, y = get_group_id(1) * 32 + ty;
    float sum = 0;
    for (int t = 0; t < n; t += 32) {
        a[ty][tx] = A[y * n + t + tx];
        b[ty][tx] = B[(t + ty) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 32; k++)
            sum += a[ty][k] * b[k][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    C[y * n + x] = sum;
}

__kernel void transpose(__global const float *in, __global float *out, int n)
{
    __local float tile[32][33];
    int lx = get_local_id(0), ly = get_local_id(1), x = get_group_id(0) * 32 + lx, y = get_group_id(1) * 32 + ly;
    for (int k = 0; k < 32; k += 8)
        tile[ly + k][lx] = in[(y + k) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    x = get_group_id(1) * 32 + lx, y = get_group_id(0) * 32 + ly;
    for (int k = 0; k < 32; k += 8)
        out[(y + k) * n + x] = tile[lx][ly + k];
}

__kernel void reduce(__global const float *in, __global float *out)
{
    __local float s[256];
    uint t = get_local_id(0), i = get_group_id(0) * 512 + t;
    s[t] = in[i] + in[i + 256];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 128; d > 0; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0)
        out[get_group_id(0)] = s[0];
}

__kernel void histogram(__global const uint *in, __global uint *counts)
{
    __local uint s[256];
    uint t = get_local_id(0), i = get_group_id(0) * 4096 + t;
    s[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; k++)
        atomic_add(&s[in[i + k * 256] & 255], 1u);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&counts[t], s[t]);
}

__kernel void divergent(__global const uint *in, __global uint *steps)
{
    uint i = get_group_id(0) * 256 + get_local_id(0), v = in[i], n = 0;
    while (v > 1) {
        if (v & 1)
            v = 3 * v + 1;
        else
            v >>= 1;
        n++;
    }
    steps[i] = n;
}
