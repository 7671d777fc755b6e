// warp.cu - shuffles, votes, match, reductions and warp barriers, also by parts of a warp in divergent code.
#include "check.h"
__global__ void run(int *out)
{
    int t = threadIdx.x, l = t & 31, *o = out + t * 16;
    o[0] = __shfl_sync(~0u, t * 3, 5);
    o[1] = __shfl_up_sync(~0u, t, 3);
    o[2] = __shfl_down_sync(~0u, t, 4, 8);
    o[3] = __shfl_xor_sync(~0u, t, 9);
    o[4] = (int)__ballot_sync(~0u, l % 3 == 0);
    o[5] = __any_sync(~0u, l == 7) + 2 * __all_sync(~0u, l < 31);
    o[6] = (int)__match_any_sync(~0u, l / 5);
    o[7] = __reduce_add_sync(~0u, l);
    o[8] = (int)__activemask();
    if (l < 12) { // a part of the warp, all named
        o[9] = __shfl_down_sync(0xfff, t, 1);
        o[10] = (int)__ballot_sync(0xfff, l & 1);
    } else {
        o[9] = __shfl_sync(0xfffff000, t, 20);
        o[10] = __reduce_max_sync(0xfffff000, (unsigned)l);
    }
    __syncwarp();
    __shared__ int s[64];
    s[t] = t;
    if (l & 1)
        s[t] += 100;
    __syncwarp();
    o[11] = s[t ^ 1];
    int sum = t; // lanes leave a loop one by one, then meet in a shuffle
    for (int i = 0; i < l; i++)
        sum += i;
    o[12] = __shfl_xor_sync(~0u, sum, 1);
    long long wide = (long long)t << 33;
    o[13] = (int)(__shfl_sync(~0u, wide, 31) >> 33);
    o[14] = (int)__float_as_int(__shfl_xor_sync(~0u, (float)t, 2));
    int pred;
    o[15] = (int)__match_all_sync(~0u, t / 32, &pred) + pred;
}
int main()
{
    const int n = 64;
    int *d = device<int>(n * 16), h[n * 16];
    run<<<1, n>>>(d);
    CK(cudaGetLastError());
    fetch(h, d, n * 16);
    for (int t = 0; t < n; t++) {
        int l = t & 31, w = t & ~31, *o = h + t * 16;
        unsigned same = 0, third = 0;
        for (int k = 0; k < 32; k++) {
            same |= (unsigned)(k / 5 == l / 5) << k;
            third |= (unsigned)(k % 3 == 0) << k;
        }
        int partner = t ^ 1, pl = partner & 31, psum = partner + pl * (pl - 1) / 2;
        float f = (float)(t ^ 2);
        int want[16] = {(w + 5) * 3, l < 3 ? t : t - 3, l % 8 + 4 < 8 ? t + 4 : t, t ^ 9, (int)third, 1, (int)same, 496, -1,
                        l < 12 ? (l < 11 ? t + 1 : 0) : w + 20, l < 12 ? 0xaaa : 31, partner + (partner & 1 ? 100 : 0), psum,
                        w + 31, *(int *)&f, (int)(~0u) + 1};
        for (int k = 0; k < 16; k++) {
            if (k == 9 && l == 11)
                continue; // its source is outside the mask: undefined
            EXPECT(o[k] == want[k], "thread %d value %d: %x, not %x", t, k, o[k], want[k]);
        }
    }
    return verdict("warp");
}
