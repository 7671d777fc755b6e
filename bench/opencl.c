/* opencl.c - runs the benchmark kernels under whatever OpenCL it finds: PoCL, or Oclgrind around it.
 *
 * usage: bench_opencl [-r rounds] [-k kernel]... [-n size]... [-p platform] kernels.cl
 * Prints "# platform" and one line a run: "kernel n cpu-ns wall-ns", nanoseconds per unit. The first run, which
 * compiles, is not counted; every result is checked once. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "work.h"

enum { MAX_PICK = 16 };
static cl_context ctx;
static cl_command_queue queue;
static cl_program program;

static void need(cl_int err, const char *what)
{
    if (err != CL_SUCCESS) {
        fprintf(stderr, "bench_opencl: %s: OpenCL error %d\n", what, err);
        exit(1);
    }
}

/* The first device of the platform whose name contains `wanted`. */
static cl_device_id find_device(const char *wanted)
{
    cl_platform_id p[16];
    cl_uint n = 0;
    char name[256];
    if (clGetPlatformIDs(16, p, &n) != CL_SUCCESS)
        n = 0;
    for (cl_uint i = 0; i < n && i < 16; i++) {
        cl_device_id d;
        need(clGetPlatformInfo(p[i], CL_PLATFORM_NAME, sizeof name, name, NULL), "platform");
        if (strstr(name, wanted) && clGetDeviceIDs(p[i], CL_DEVICE_TYPE_ALL, 1, &d, NULL) == CL_SUCCESS) {
            printf("# %s\n", name);
            return d;
        }
    }
    fprintf(stderr, "bench_opencl: no OpenCL platform%s%s\n", *wanted ? " named " : "", wanted);
    exit(3);
}

static void build(cl_device_id d, const char *path)
{
    static char text[1 << 16];
    const char *source = text;
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    cl_int err;
    if (f)
        fclose(f);
    if (!n) {
        fprintf(stderr, "bench_opencl: cannot read %s\n", path);
        exit(1);
    }
    ctx = clCreateContext(NULL, 1, &d, NULL, NULL, &err);
    need(err, "context");
    queue = clCreateCommandQueue(ctx, d, 0, &err);
    need(err, "queue");
    program = clCreateProgramWithSource(ctx, 1, &source, &n, &err);
    need(err, "source");
    need(clBuildProgram(program, 1, &d, "", NULL, NULL), "build");
}

static void measure(const char *kernel, unsigned size, unsigned rounds)
{
    struct work w;
    cl_mem mem[WORK_BUFFERS] = {0};
    cl_uint nargs = 0;
    cl_int err, n = (cl_int)size;
    if (!work_init(&w, kernel, size)) {
        fprintf(stderr, "bench_opencl: cannot set up %s at size %u\n", kernel, size);
        exit(1);
    }
    cl_kernel k = clCreateKernel(program, kernel, &err);
    need(err, kernel);
    for (unsigned b = 0; b < WORK_BUFFERS; b++)
        if (w.bytes[b]) {
            mem[b] = clCreateBuffer(ctx, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, w.bytes[b], w.host[b], &err);
            need(err, "buffer");
            need(clSetKernelArg(k, nargs++, sizeof mem[b], &mem[b]), "argument");
        }
    if (w.takes_n)
        need(clSetKernelArg(k, nargs, sizeof n, &n), "argument");
    size_t global[2] = {(size_t)w.grid[0] * w.block[0], (size_t)w.grid[1] * w.block[1]},
           local[2] = {w.block[0], w.block[1]};
    for (unsigned r = 0; r <= rounds; r++) {
        struct work_time t = work_now();
        need(clEnqueueNDRangeKernel(queue, k, 2, NULL, global, local, 0, NULL, NULL), kernel);
        need(clFinish(queue), kernel);
        t = work_since(t);
        if (r)
            printf("%s %u %.6g %.6g\n", kernel, size, t.cpu * 1e9 / w.units, t.wall * 1e9 / w.units);
        else {
            void *out = w.host[w.output];
            need(clEnqueueReadBuffer(queue, mem[w.output], CL_TRUE, 0, w.bytes[w.output], out, 0, NULL, NULL), "read");
            if (!work_check(&w)) {
                fprintf(stderr, "bench_opencl: wrong result of %s at size %u\n", kernel, size);
                exit(1);
            }
        }
        fflush(stdout);
    }
    for (unsigned b = 0; b < WORK_BUFFERS; b++)
        if (mem[b])
            clReleaseMemObject(mem[b]);
    clReleaseKernel(k);
    work_free(&w);
}

int main(int argc, char **argv)
{
    unsigned rounds = 1, sizes[MAX_PICK] = {512}, nsizes = 0, nkernels = 0;
    const char *kernels[MAX_PICK] = {"sgemm_naive", "sgemm_tiled"}, *platform = "";
    for (int o; (o = getopt(argc, argv, "r:k:n:p:")) != -1;) {
        unsigned v = o == 'k' || o == 'p' ? 0 : (unsigned)atoi(optarg ? optarg : "");
        if (o == 'r' && v >= 1 && v <= 99)
            rounds = v;
        else if (o == 'n' && v && nsizes < MAX_PICK)
            sizes[nsizes++] = v;
        else if (o == 'k' && nkernels < MAX_PICK)
            kernels[nkernels++] = optarg;
        else if (o == 'p')
            platform = optarg;
        else
            argc = 0; /* shows the usage */
    }
    if (argc == 0 || optind + 1 != argc) {
        fprintf(stderr, "usage: bench_opencl [-r rounds] [-k kernel]... [-n size]... [-p platform] kernels.cl\n");
        return 2;
    }
    nsizes = nsizes ? nsizes : 1;
    nkernels = nkernels ? nkernels : 2;
    build(find_device(platform), argv[optind]);
    for (unsigned k = 0; k < nkernels; k++)
        for (unsigned s = 0; s < nsizes; s++)
            measure(kernels[k], sizes[s], rounds);
    return 0;
}
