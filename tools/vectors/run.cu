// run.cu - runs every kernel of a package (tests/ref/gen package) on the GPU and writes what it computed.
// Result file: "WGR1", sets, device name, driver version; pools: count, then sets x 8 bytes each; variants: count, then
// name, CUresult of the load or launch, sources as pool numbers, and per destination its bytes and sets values.
#include <cuda.h>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Variant {
    std::string name, ptx;
    std::vector<uint32_t> bytes;           // of each destination
    std::vector<std::vector<uint64_t>> in; // sources
    std::vector<uint64_t> out;
    uint32_t status = 0;
    std::string log;
};

static void must(CUresult r, const char *what)
{
    if (r == CUDA_SUCCESS)
        return;
    const char *s = "";
    cuGetErrorString(r, &s);
    fprintf(stderr, "%s: %s\n", what, s);
    exit(1);
}

static uint32_t get32(FILE *f)
{
    uint32_t x;
    if (fread(&x, 4, 1, f) != 1) {
        fprintf(stderr, "package ends early\n");
        exit(1);
    }
    return x;
}

static std::string get_text(FILE *f)
{
    std::string s(get32(f), 0);
    if (fread(&s[0], 1, s.size(), f) != s.size())
        exit(1);
    return s;
}

static void put32(FILE *f, uint32_t x) { fwrite(&x, 4, 1, f); }
static void put_text(FILE *f, const std::string &s)
{
    put32(f, (uint32_t)s.size());
    fwrite(s.data(), 1, s.size(), f);
}

static void worker(CUcontext ctx, std::vector<Variant> *all, std::atomic<size_t> *next, uint32_t sets)
{
    must(cuCtxSetCurrent(ctx), "context");
    CUstream stream;
    must(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "stream");
    CUdeviceptr in, out, cells;
    const size_t room = 8ull * sets * 8;
    must(cuMemAlloc(&in, room), "memory");
    must(cuMemAlloc(&out, room), "memory");
    must(cuMemAlloc(&cells, room), "memory");
    for (size_t i; (i = (*next)++) < all->size();) {
        Variant &v = (*all)[i];
        char log[1024] = "";
        CUjit_option opt[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        void *val[] = {log, (void *)(uintptr_t)sizeof log};
        CUmodule mod;
        CUresult r = cuModuleLoadDataEx(&mod, v.ptx.c_str(), 2, opt, val);
        if (r) {
            v.status = r;
            v.log = log;
            continue;
        }
        CUfunction k;
        must(cuModuleGetFunction(&k, mod, "k"), "entry");
        for (size_t s = 0; s < v.in.size(); s++)
            must(cuMemcpyHtoDAsync(in + s * sets * 8, v.in[s].data(), sets * 8, stream), "copy in");
        must(cuMemsetD8Async(out, 0, room, stream), "clear");
        must(cuMemsetD8Async(cells, 0, room, stream), "clear");
        uint32_t stride = sets, mask = ~0u;
        uint64_t s[16] = {0};
        void *args[21] = {&in, &out, &cells, &stride, &mask};
        for (int a = 0; a < 16; a++)
            args[5 + a] = &s[a];
        r = cuLaunchKernel(k, 1, 1, 1, sets, 1, 1, 0, stream, args, NULL);
        v.out.resize(sets * v.bytes.size());
        if (!r)
            r = cuMemcpyDtoHAsync(v.out.data(), out, v.out.size() * 8, stream);
        if (!r)
            r = cuStreamSynchronize(stream);
        v.status = r;
        cuModuleUnload(mod);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: run PACKAGE RESULT\n");
        return 2;
    }
    FILE *f = fopen(argv[1], "rb");
    char magic[4];
    if (!f || fread(magic, 4, 1, f) != 1 || memcmp(magic, "WGV1", 4)) {
        fprintf(stderr, "%s: not a package\n", argv[1]);
        return 1;
    }
    std::vector<Variant> all(get32(f));
    uint32_t sets = get32(f);
    for (Variant &v : all) {
        v.name = get_text(f);
        v.ptx = get_text(f);
        v.bytes.resize(get32(f));
        for (uint32_t &b : v.bytes)
            b = get32(f);
        v.in.resize(get32(f));
        for (auto &a : v.in) {
            a.resize(sets);
            if (fread(a.data(), 8, sets, f) != sets)
                return 1;
        }
    }
    fclose(f);

    CUdevice dev;
    CUcontext ctx;
    char name[200] = "";
    int driver = 0;
    must(cuInit(0), "no GPU");
    must(cuDeviceGet(&dev, 0), "device");
    cuDeviceGetName(name, sizeof name, dev);
    cuDriverGetVersion(&driver);
    must(cuDevicePrimaryCtxRetain(&ctx, dev), "context");
    std::atomic<size_t> next(0);
    std::vector<std::thread> team;
    for (unsigned t = 0; t < 8; t++)
        team.emplace_back(worker, ctx, &all, &next, sets);
    for (auto &t : team)
        t.join();

    std::map<std::vector<uint64_t>, uint32_t> pools;
    std::vector<const std::vector<uint64_t> *> order;
    for (Variant &v : all)
        for (auto &a : v.in)
            if (pools.emplace(a, (uint32_t)order.size()).second)
                order.push_back(&a);
    f = fopen(argv[2], "wb");
    if (!f) {
        perror(argv[2]);
        return 1;
    }
    fwrite("WGR1", 1, 4, f);
    put32(f, sets);
    put_text(f, name);
    put32(f, (uint32_t)driver);
    put32(f, (uint32_t)order.size());
    for (auto *a : order)
        fwrite(a->data(), 8, sets, f);
    put32(f, (uint32_t)all.size());
    size_t refused = 0;
    for (Variant &v : all) {
        put_text(f, v.name);
        put32(f, v.status);
        put32(f, (uint32_t)v.in.size());
        for (auto &a : v.in)
            put32(f, pools[a]);
        put32(f, (uint32_t)v.bytes.size());
        for (size_t d = 0; d < v.bytes.size(); d++) {
            put32(f, v.bytes[d]);
            for (uint32_t i = 0; !v.status && i < sets; i++)
                fwrite(&v.out[d * sets + i], 1, v.bytes[d], f);
        }
        if (v.status) {
            refused++;
            printf("refused (%u): %s: %s\n", v.status, v.name.c_str(), v.log.c_str());
        }
    }
    if (fclose(f)) {
        perror(argv[2]);
        return 1;
    }
    printf("%s, driver %d: %zu variants run, %zu refused\n", name, driver, all.size() - refused, refused);
    return 0;
}
