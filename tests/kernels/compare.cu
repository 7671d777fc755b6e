// compare.cu - comparisons of a value that grows by the same step from lane to lane with one for all lanes give what the
// same comparisons give on values read from memory, one by one: every relation, signed and not, steps of either sign,
// values that wrap, lanes left out.
#include "check.h"

const int T = 96;

template <class X> __device__ unsigned relations(X a, X b)
{
    return (a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 | (a != b) << 5 | (b < a) << 6 |
           (b >= a) << 7;
}

__global__ void by_step(unsigned base, unsigned step, unsigned with, unsigned *out, unsigned *values)
{
    unsigned x = base + step * threadIdx.x;
    values[threadIdx.x] = x;
    unsigned r = relations(x, with) | relations(int(x), int(with)) << 8;
    if (threadIdx.x % 3) { // some lanes only
        r |= relations(x + 1, with) << 16;
        if (int(x) < int(with))
            r ^= 0x80000000u;
    }
    out[threadIdx.x] = r;
}

__global__ void one_by_one(const unsigned *values, unsigned with, unsigned *out)
{
    unsigned x = values[threadIdx.x];
    unsigned r = relations(x, with) | relations(int(x), int(with)) << 8;
    if (threadIdx.x % 3) {
        r |= relations(x + 1, with) << 16;
        if (int(x) < int(with))
            r ^= 0x80000000u;
    }
    out[threadIdx.x] = r;
}

int main()
{
    static const unsigned bases[] = {0, 1, 40, 0x7ffffff0u, 0x80000000u, 0xfffffff0u, 0x12345678u},
                          steps[] = {1, 0, 2, 7, ~0u, 0u - 3, 0x10000000u, 0x80000000u},
                          offsets[] = {0, 1, 15, 31, 32, 33, 95, 96, ~0u, 0x80000000u};
    unsigned *values = device<unsigned>(T), *a = device<unsigned>(T), *b = device<unsigned>(T), ha[T], hb[T];
    for (unsigned base : bases)
        for (unsigned step : steps)
            for (unsigned offset : offsets) {
                unsigned with = base + step * offset;
                by_step<<<1, T>>>(base, step, with, a, values);
                one_by_one<<<1, T>>>(values, with, b);
                fetch(ha, a, T);
                fetch(hb, b, T);
                for (int t = 0; t < T; t++) {
                    unsigned x = base + step * t, r = hb[t];
                    EXPECT((r & 1) == (x < with) && (r >> 8 & 1) == (int(x) < int(with)) && (r >> 4 & 1) == (x == with),
                           "%#x and %#x: %#x from memory", x, with, r);
                    EXPECT(ha[t] == hb[t], "%#x + %#x * %d with %#x: %#x, from memory %#x", base, step, t, with, ha[t], hb[t]);
                }
            }
    return verdict("compare");
}
