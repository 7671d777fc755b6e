// common.h - what every example needs around its kernel: arguments, random inputs, copies, timing, the verdict.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        const cudaError_t e_ = (call);                                                                                 \
        if (e_ != cudaSuccess) {                                                                                       \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e_));                \
            std::exit(2);                                                                                              \
        }                                                                                                              \
    } while (0)

// Reads zeros; the store never happens.
static __global__ void sweep_caches(int *words, int n)
{
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += words[i];
    if (sum != 0)
        words[0] = sum;
}

// Random bits, the same on every machine for one seed (SplitMix64).
struct Random {
    unsigned long long state;
    explicit Random(unsigned seed) : state(seed) {}
    unsigned operator()()
    {
        unsigned long long z = state += 0x9e3779b97f4a7c15ull;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ z >> 27) * 0x94d049bb133111ebull;
        return (unsigned)(z >> 32);
    }
};

// The command line of an example: [n] [way...] [--seed N] [--time REPEATS]. Without a way it runs all of them but those
// that are wrong on purpose, which are called bug-something.
struct Example {
    const char *name;
    std::vector<const char *> ways;
    int n;
    unsigned seed = 1;
    int repeats = 0;                  // of a timing with events; 0: none
    std::vector<const char *> wanted; // ways that were named
    bool failed = false;

    Example(const char *program, std::vector<const char *> all, int argc, char **argv, int standard, int least,
            int most, int multiple = 1)
        : name(program), ways(all), n(standard)
    {
        bool good = true;
        for (int i = 1; i < argc; i++)
            if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
                seed = (unsigned)std::atoi(argv[++i]);
            else if (std::strcmp(argv[i], "--time") == 0 && i + 1 < argc)
                repeats = std::atoi(argv[++i]);
            else if (i == 1 && argv[i][0] >= '0' && argv[i][0] <= '9')
                n = std::atoi(argv[i]);
            else if (has(ways, argv[i]))
                wanted.push_back(argv[i]);
            else
                good = false;
        if (good && n >= least && n <= most && n % multiple == 0)
            return;
        std::fprintf(stderr, "usage: %s [n] [way...] [--seed N] [--time REPEATS], n from %d to %d", name, least, most);
        if (multiple > 1)
            std::fprintf(stderr, " in steps of %d", multiple);
        std::fprintf(stderr, ", ways");
        for (const char *w : ways)
            std::fprintf(stderr, " %s", w);
        std::fprintf(stderr, "\n");
        std::exit(2);
    }
    static bool has(const std::vector<const char *> &list, const char *w)
    {
        return std::any_of(list.begin(), list.end(), [w](const char *x) { return std::strcmp(x, w) == 0; });
    }
    bool wants(const char *w) const { return wanted.empty() ? std::strncmp(w, "bug-", 4) != 0 : has(wanted, w); }

    // Launches once; with --time warms up for a while, then launches again and again, from caches without our data.
    // Returns the median in milliseconds, or 0.
    template <class Launch> double run(Launch launch) const
    {
        launch();
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        if (repeats < 1)
            return 0.0;
        cudaEvent_t from, to;
        const int words = 1 << 25; // 128 MiB, more than any L2
        int *scratch;
        CHECK(cudaEventCreate(&from));
        CHECK(cudaEventCreate(&to));
        CHECK(cudaMalloc(&scratch, (size_t)words * sizeof(int)));
        CHECK(cudaMemset(scratch, 0, (size_t)words * sizeof(int)));
        const std::clock_t start = std::clock();
        do {
            launch();
            CHECK(cudaDeviceSynchronize());
        } while (std::clock() - start < CLOCKS_PER_SEC / 10);
        std::vector<float> ms(repeats);
        for (float &t : ms) {
            sweep_caches<<<256, 1024>>>(scratch, words);
            CHECK(cudaEventRecord(from));
            launch();
            CHECK(cudaEventRecord(to));
            CHECK(cudaEventSynchronize(to));
            CHECK(cudaEventElapsedTime(&t, from, to));
        }
        CHECK(cudaFree(scratch));
        CHECK(cudaEventDestroy(from));
        CHECK(cudaEventDestroy(to));
        std::nth_element(ms.begin(), ms.begin() + repeats / 2, ms.end());
        return ms[repeats / 2];
    }
    // One line: the error against a reference in double precision, and what it may be; a NaN fails.
    void report(const char *w, double error, double limit, double ms)
    {
        const bool ok = error <= limit;
        std::printf("%s %s n=%d: error %.2e", name, w, n, error);
        if (repeats > 0)
            std::printf(", median of %d: %.6f ms", repeats, ms);
        std::printf(": %s\n", ok ? "PASS" : "FAIL");
        failed = failed || !ok;
    }
};

inline double worse(double a, double b)
{
    return b <= a ? a : b;
} // a NaN is the worst

inline std::vector<float> random_floats(size_t count, unsigned seed)
{
    Random bits(seed);
    std::vector<float> v(count);
    for (float &x : v)
        x = (float)(bits() >> 8) * 0x1p-23f - 1.0f; // from -1 to 1
    return v;
}

template <class T> T *on_device(size_t count)
{
    T *p;
    CHECK(cudaMalloc(&p, count * sizeof(T)));
    return p;
}
template <class T> T *to_device(const std::vector<T> &v)
{
    T *const p = on_device<T>(v.size());
    CHECK(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}
template <class T> std::vector<T> to_host(const T *p, size_t count)
{
    std::vector<T> v(count);
    CHECK(cudaMemcpy(v.data(), p, count * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
}

// The largest |c - AB| relative to |A||B| + out |AB|, in double; `out` is the rounding of a narrower result in units of
// the limit (0 for float). Every entry up to n = 256, beyond that every 8th row, from a random start, of a column
// in 64.
template <class T, class R>
double product_error(const std::vector<T> &a, const std::vector<T> &b, const std::vector<R> &c, int n, double out = 0.0)
{
    const int rows = n > 256 ? 8 : 1, columns = n > 256 ? 64 : 1;
    Random bits(n);
    std::vector<double> column(n);
    double worst = 0.0;
    for (int group = 0; group < n; group += columns) {
        const int j = std::min(n - 1, group + (int)(bits() % columns));
        for (int k = 0; k < n; k++)
            column[k] = (double)(float)b[(size_t)k * n + j];
        for (int i = (int)(bits() % rows); i < n; i += rows) {
            double sum = 0.0, size = 0.0;
            for (int k = 0; k < n; k++) {
                const double x = (double)(float)a[(size_t)i * n + k] * column[k];
                sum += x;
                size += std::fabs(x);
            }
            worst = worse(worst, std::fabs((double)(float)c[(size_t)i * n + j] - sum) / (size + out * std::fabs(sum)));
        }
    }
    return worst;
}
