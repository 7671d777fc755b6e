/* stub.c - a stand-in for the runtime library: it says on stdout what a program hands it. For tests of the build only. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dim3 { unsigned x, y, z; };
struct wrapper { uint32_t magic, version; const unsigned char *data; void *more; };

static struct { const void *host; const char *name; } kernels[64];
static int nkernels;
static struct { struct dim3 grid, block; size_t shared; void *stream; } config;

void **__cudaRegisterFatBinary(struct wrapper *w);
void **__cudaRegisterFatBinary(struct wrapper *w)
{
    uint32_t magic, arch;
    uint16_t kind, major, minor;
    memcpy(&magic, w->data, 4);
    memcpy(&kind, w->data + 16, 2);
    memcpy(&minor, w->data + 16 + 24, 2);
    memcpy(&major, w->data + 16 + 26, 2);
    memcpy(&arch, w->data + 16 + 28, 4);
    printf("fatbin wrapper %08x container %08x kind %u ptx %u.%u sm_%u\n", w->magic, magic, kind, major, minor, arch);
    return (void **)w;
}
void __cudaRegisterFatBinaryEnd(void **h);
void __cudaRegisterFatBinaryEnd(void **h) { (void)h; }
void __cudaUnregisterFatBinary(void **h);
void __cudaUnregisterFatBinary(void **h) { (void)h; }
void __cudaRegisterFunction(void **h, const void *host, char *device, const char *name, int limit, void *a, void *b,
                            void *c, void *d, int *e);
void __cudaRegisterFunction(void **h, const void *host, char *device, const char *name, int limit, void *a, void *b,
                            void *c, void *d, int *e)
{
    (void)h, (void)device, (void)limit, (void)a, (void)b, (void)c, (void)d, (void)e;
    kernels[nkernels].host = host;
    kernels[nkernels++].name = name;
}
void __cudaRegisterVar(void **h, char *host, char *device, const char *name, int ext, size_t size, int constant, int g);
void __cudaRegisterVar(void **h, char *host, char *device, const char *name, int ext, size_t size, int constant, int g)
{
    (void)h, (void)host, (void)device, (void)ext, (void)g;
    printf("variable %s of %zu bytes%s\n", name, size, constant ? ", constant" : "");
}
unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared, void *stream);
unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared, void *stream)
{
    config.grid = grid;
    config.block = block;
    config.shared = shared;
    config.stream = stream;
    return 0;
}
int __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared, void **stream);
int __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared, void **stream)
{
    *grid = config.grid;
    *block = config.block;
    *shared = config.shared;
    *stream = config.stream;
    return 0;
}
int cudaLaunchKernel(const void *host, struct dim3 grid, struct dim3 block, void **args, size_t shared, void *stream);
int cudaLaunchKernel(const void *host, struct dim3 grid, struct dim3 block, void **args, size_t shared, void *stream)
{
    (void)stream;
    for (int i = 0; i < nkernels; i++)
        if (kernels[i].host == host)
            printf("launch %s <<<(%u,%u,%u), (%u,%u,%u), %zu>>> first argument %d\n", kernels[i].name, grid.x, grid.y,
                   grid.z, block.x, block.y, block.z, shared, *(int *)args[0]);
    return 0;
}
int cudaMemcpyToSymbol(const void *symbol, const void *from, size_t n, size_t offset, int kind);
int cudaMemcpyToSymbol(const void *symbol, const void *from, size_t n, size_t offset, int kind)
{
    (void)symbol, (void)from, (void)kind;
    printf("to symbol %zu bytes at %zu\n", n, offset);
    return 0;
}
int cudaDeviceSynchronize(void);
int cudaDeviceSynchronize(void) { return 0; }
