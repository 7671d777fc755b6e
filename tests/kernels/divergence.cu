// divergence.cu - nested divergent loops, switches, early returns, breaks and continues give what the host gives.
#include "check.h"

__host__ __device__ inline unsigned work(int t, int n)
{
    unsigned acc = 17u * t + 3;
    if (t % 11 == 10)
        return acc;
    for (int i = 0; i < n + t % 5; i++) {
        if ((acc >> 3) % 7 == 2)
            continue;
        switch ((acc + i) % 9) {
        case 0: acc += 5; break;
        case 1: acc ^= 0x55; break;
        case 2: acc = acc * 3 + 1;
        case 3: acc -= i; break;
        case 4:
            for (unsigned j = acc % 6; j < 6; j++) {
                acc += j * t;
                if (acc % 13 == 0)
                    break;
            }
            break;
        case 5: acc = acc << 1 | acc >> 31; break;
        case 6:
            if (t & 1)
                acc += 100;
            else if (i & 1)
                acc -= 50;
            else
                return acc + 1;
            break;
        case 7: acc /= 3; break;
        default: acc ^= acc << 5;
        }
        if (acc % 1009 == 0)
            break;
    }
    int k = 0;
    do {
        acc = acc * 1664525u + 1013904223u;
        k++;
    } while (acc % 5 && k < 40);
    return acc + k;
}
__global__ void run(unsigned *out, int n)
{
    int t = blockIdx.x * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
    out[t] = work(t, n);
}
// a variable that one side of a branch sets and both sides read; loops whose exits differ per lane
__host__ __device__ inline int phi(int t)
{
    int x = 1, y = 0;
    if (t % 3 == 0)
        x = t;
    else
        y = x + t;
    int s = 0, last = -1;
    for (int i = 0; i < t % 17; i++) {
        s += i * x;
        last = i;
    }
    return s + y * 1000 + last;
}
__global__ void run_phi(int *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = phi(blockIdx.x * blockDim.x + threadIdx.x); }

int main()
{
    const dim3 shapes[] = {dim3(32), dim3(64), dim3(33), dim3(16, 16), dim3(7, 5), dim3(1, 64), dim3(96, 2)};
    for (dim3 b : shapes) {
        int per = b.x * b.y, n = per * 5;
        unsigned *d = device<unsigned>(n), *h = new unsigned[n];
        run<<<5, b>>>(d, 23);
        CK(cudaGetLastError());
        fetch(h, d, n);
        for (int t = 0; t < n; t++)
            EXPECT(h[t] == work(t, 23), "block (%u,%u) thread %d: %u, not %u", b.x, b.y, t, h[t], work(t, 23));
        delete[] h;
    }
    int *d = device<int>(300), h[300];
    run_phi<<<3, 100>>>(d);
    fetch(h, d, 300);
    for (int t = 0; t < 300; t++)
        EXPECT(h[t] == phi(t), "phi %d: %d, not %d", t, h[t], phi(t));
    return verdict("divergence");
}
