// atomics.cu - every atomic operation and type ends at the sum, extreme or bit pattern that order cannot change.
#include "check.h"
struct All { int add, sub, mn, mx, an, o, x; unsigned inc, dec, umin, umax; unsigned long long add64, max64; float fadd; double dadd; int exch, cas; };
__device__ All g;
__global__ void run(All *out)
{
    __shared__ All s;
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        s = All();
        s.mn = 1 << 30;
        s.an = -1;
        s.umin = ~0u;
    }
    __syncthreads();
    int t = threadIdx.x + threadIdx.y * blockDim.x;
    for (int k = 0; k < 2; k++) {
        All *p = k ? out : &s;
        atomicAdd(&p->add, t);
        atomicSub(&p->sub, 2);
        atomicMin(&p->mn, 50 - t);
        atomicMax(&p->mx, t * 3);
        atomicAnd(&p->an, ~(1 << (t % 8)));
        atomicOr(&p->o, 1 << (t % 20));
        atomicXor(&p->x, t);
        atomicInc(&p->inc, 6);
        atomicDec(&p->dec, 6);
        atomicMin(&p->umin, (unsigned)t + 3);
        atomicMax(&p->umax, (unsigned)-t);
        atomicAdd(&p->add64, 1ull << 33);
        atomicMax(&p->max64, (unsigned long long)t << 40);
        atomicAdd(&p->fadd, 0.5f);
        atomicAdd(&p->dadd, 0.25);
        atomicExch(&p->exch, 77);
        int old = *(volatile int *)&p->cas, seen;
        while ((seen = atomicCAS(&p->cas, old, old + 1)) != old)
            old = seen;
    }
    __syncthreads();
    if (t == 0)
        out[1] = s;
}
static void check(const All &a, int n, const char *where)
{
    int x = 0;
    for (int i = 0; i < n; i++)
        x ^= i;
    EXPECT(a.add == n * (n - 1) / 2, "%s %d", where, a.add);
    EXPECT(a.sub == -2 * n, "%s %d", where, a.sub);
    EXPECT(a.mn == 50 - (n - 1), "%s %d", where, a.mn);
    EXPECT(a.mx == 3 * (n - 1), "%s %d", where, a.mx);
    EXPECT(a.an == (int)~0xffu, "%s %x", where, a.an);
    EXPECT(a.o == 0xfffff, "%s %x", where, a.o);
    EXPECT(a.x == x, "%s %x", where, a.x);
    EXPECT(a.inc == (unsigned)n % 7, "%s %u", where, a.inc);
    EXPECT(a.dec == (7 - (unsigned)n % 7) % 7, "%s %u", where, a.dec);
    EXPECT(a.umin == 3, "%s %u", where, a.umin);
    EXPECT(a.umax == ~0u, "%s %u", where, a.umax);
    EXPECT(a.add64 == (unsigned long long)n << 33, "%s %llu", where, a.add64);
    EXPECT(a.max64 == (unsigned long long)(n - 1) << 40, "%s %llu", where, a.max64);
    EXPECT(a.fadd == n * 0.5f, "%s %f", where, a.fadd);
    EXPECT(a.dadd == n * 0.25, "%s %f", where, a.dadd);
    EXPECT(a.exch == 77 && a.cas == n, "%s %d %d", where, a.exch, a.cas);
}
int main()
{
    All init = {}, h[2];
    init.mn = 1 << 30;
    init.an = -1;
    init.umin = ~0u;
    All *d = device<All>(2);
    CK(cudaMemcpy(d, &init, sizeof init, cudaMemcpyHostToDevice));
    run<<<1, dim3(20, 5)>>>(d);
    CK(cudaGetLastError());
    fetch(h, d, 2);
    check(h[0], 100, "global");
    check(h[1], 100, "shared");
    return verdict("atomics");
}
