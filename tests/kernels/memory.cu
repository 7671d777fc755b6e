// memory.cu - local arrays, constants, symbols, device heap, narrow and wide accesses, generic pointers.
#include "check.h"
struct Pair { short a; unsigned char b, c; };
__constant__ int coeff[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__constant__ double scale = 0.5;
__device__ float table[64];
__device__ const char text[] = "warp";
struct alignas(16) Quad { float x, y, z, w; };
__global__ void run(int *out, const unsigned char *bytes, const short *shorts, const Quad *quads, const Pair *pairs)
{
    __shared__ int sh[64];
    extern __shared__ double dyn[];
    int t = threadIdx.x, *o = out + t * 12, local[20];
    for (int i = 0; i < 20; i++)
        local[i] = i * t;
    o[0] = local[(t * 7) % 20]; // an index only known at run time
    o[1] = coeff[t % 8];
    o[2] = (int)(scale * t * 4);
    table[t] = t * 1.5f;
    __threadfence_block();
    __syncthreads();
    o[3] = (int)table[63 - t];
    o[4] = bytes[t] + (signed char)bytes[t];
    o[5] = shorts[t];
    Quad q = quads[t];
    o[6] = (int)(q.x + 2 * q.y + 4 * q.z + 8 * q.w);
    Pair p = pairs[t];
    o[7] = p.a * 1000 + p.b - p.c;
    sh[t] = t * t;
    dyn[t] = t * 0.25;
    __syncthreads();
    int *generic = t & 1 ? &sh[63 - t] : t & 2 ? &local[t % 20] : (int *)coeff + t % 8; // three spaces in one access
    o[8] = *generic;
    o[9] = (int)(dyn[63 - t] * 4);
    int *heap = (int *)malloc((t + 1) * sizeof(int));
    heap[t] = t + 7;
    o[10] = heap[t];
    free(heap);
    o[11] = text[t % 4];
}
int main()
{
    const int n = 64;
    unsigned char hb[n];
    short hs[n];
    Quad hq[n];
    Pair hp[n];
    for (int i = 0; i < n; i++) {
        hb[i] = (unsigned char)(i * 37);
        hs[i] = (short)(i * 1001 - 30000);
        hq[i] = Quad{(float)i, 1.f * i * i, -1.f * i, 3.f};
        hp[i] = Pair{(short)-i, (unsigned char)(i * 5), (unsigned char)(255 - i)};
    }
    unsigned char *db = device<unsigned char>(n);
    short *ds = device<short>(n);
    Quad *dq = device<Quad>(n);
    Pair *dp = device<Pair>(n);
    CK(cudaMemcpy(db, hb, sizeof hb, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(ds, hs, sizeof hs, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dq, hq, sizeof hq, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dp, hp, sizeof hp, cudaMemcpyHostToDevice));
    int *d = device<int>(n * 12), h[n * 12];
    run<<<1, n, n * sizeof(double)>>>(d, db, ds, dq, dp);
    CK(cudaGetLastError());
    fetch(h, d, n * 12);
    const int c[8] = {3, 1, 4, 1, 5, 9, 2, 6};
    for (int t = 0; t < n; t++) {
        int u = 63 - t;
        int want[12] = {(t * 7) % 20 * t, c[t % 8], t * 2, (int)(u * 1.5f), hb[t] + (signed char)hb[t], hs[t],
                        (int)(hq[t].x + 2 * hq[t].y + 4 * hq[t].z + 8 * hq[t].w), hp[t].a * 1000 + hp[t].b - hp[t].c,
                        t & 1 ? u * u : t & 2 ? t % 20 * t : c[t % 8], u, t + 7, "warp"[t % 4]};
        for (int k = 0; k < 12; k++)
            EXPECT(h[t * 12 + k] == want[k], "thread %d value %d: %d, not %d", t, k, h[t * 12 + k], want[k]);
    }
    return verdict("memory");
}
