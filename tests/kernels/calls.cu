// calls.cu - recursion, calls through pointers, virtual functions and structures passed by value give what the host gives.
#include "check.h"

__host__ __device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__host__ __device__ __noinline__ unsigned ackermann(unsigned m, unsigned n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
struct Big { int v[11]; double d; };
__host__ __device__ __noinline__ Big twist(Big b, int k)
{
    Big r = b;
    for (int i = 0; i < 11; i++)
        r.v[i] = b.v[(i + k) % 11] * 3 + i;
    r.d = b.d * k;
    return r;
}
typedef int (*Op)(int, int);
__host__ __device__ __noinline__ int add(int a, int b) { return a + b; }
__host__ __device__ __noinline__ int sub(int a, int b) { return a - b; }
__host__ __device__ __noinline__ int mul(int a, int b) { return a * b; }
__device__ Op table[3] = {add, sub, mul};

struct Shape {
    __device__ virtual ~Shape() {}
    __device__ virtual int area(int x) const = 0;
};
struct Square : Shape { int s; __device__ Square(int a) : s(a) {} __device__ int area(int x) const override { return s * s + x; } };
struct Strip : Shape { int w; __device__ Strip(int a) : w(a) {} __device__ int area(int x) const override { return w * 7 - x; } };

__global__ void run(int *out, Big seed)
{
    int t = threadIdx.x + blockIdx.x * blockDim.x;
    int *o = out + t * 8;
    o[0] = fib(t % 13);
    o[1] = (int)ackermann(t % 3, t % 4);
    o[2] = table[t % 3](t, 5);           // lanes call different functions
    o[3] = table[blockIdx.x % 3](t, 5);  // all call one
    Big b = twist(seed, t % 7);
    o[4] = b.v[t % 11];
    o[5] = (int)b.d;
    Square sq(t);
    Strip st(t);
    const Shape *s = t & 1 ? (const Shape *)&sq : (const Shape *)&st;
    o[6] = s->area(t);
    o[7] = t % 5 == 0 ? fib(t % 9) : -1; // a call in divergent code
}

int main()
{
    const int blocks = 3, threads = 70;
    Big seed;
    for (int i = 0; i < 11; i++)
        seed.v[i] = i * i - 5;
    seed.d = 1.5;
    int *d = device<int>(blocks * threads * 8), h[blocks * threads * 8];
    run<<<blocks, threads>>>(d, seed);
    CK(cudaGetLastError());
    fetch(h, d, blocks * threads * 8);
    Op ops[3] = {add, sub, mul};
    for (int t = 0; t < blocks * threads; t++) {
        const int *o = h + t * 8;
        Big b = twist(seed, t % 7);
        int want[8] = {fib(t % 13), (int)ackermann(t % 3, t % 4), ops[t % 3](t, 5), ops[t / threads % 3](t, 5), b.v[t % 11],
                       (int)b.d, t & 1 ? t * t + t : t * 7 - t, t % 5 == 0 ? fib(t % 9) : -1};
        for (int k = 0; k < 8; k++)
            EXPECT(o[k] == want[k], "thread %d value %d: %d, not %d", t, k, o[k], want[k]);
    }
    return verdict("calls");
}
