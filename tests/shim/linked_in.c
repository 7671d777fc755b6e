/* linked_in.c - a program with a make-believe CUDA runtime linked in: functions of its own under public names. Only
 * when they are led elsewhere does it print what our library answers. KIND is the kind of its one image (1 PTX, 2
 * machine). */
#include <stdint.h>
#include <stdio.h>
#ifndef KIND
#define KIND 1
#endif
/* The caller must not rely on what the compiler knows of the body, as it cannot of a library's function: neither on what
 * it returns, which is read from memory, nor on how little stack it needs. */
#if defined(__clang__)
#define NOT_INLINE __attribute__((noinline, used, aligned(16)))
#else
#define NOT_INLINE __attribute__((noipa, used, aligned(16)))
#endif
static volatile int wrong = 12345;

struct image {
    uint32_t magic; uint16_t version, header; uint64_t bytes;
    uint16_t kind, v; uint32_t entry_header; uint64_t payload; uint32_t stored, options; uint16_t minor, major;
    uint32_t arch, name, name_bytes; uint64_t flags, zero, raw;
    char text[64];
};
__attribute__((section(".nv_fatbin"), used, aligned(8))) const struct image image = {
    .magic = 0xBA55ED50, .version = 1, .header = 16, .bytes = 64 + 64, .kind = KIND, .v = 0x101, .entry_header = 64,
    .payload = 64, .arch = 80, .text = ".version 8.0\n.target sm_80\n.address_size 64\n"};

/* In address order with the others between them; the last is of CUDA 12 at most. */
int cudaLaunchKernel(void);
int cudaBrandNewCall(int);
int cudaGetDeviceCount(int *);
int cudaRuntimeGetVersion(int *);
void **__cudaRegisterFatBinary(void *);
int cudaThreadSynchronize(void);
int cudaOfTheProgramItself(void);

NOT_INLINE int cudaLaunchKernel(void) { return wrong; }
NOT_INLINE int cudaBrandNewCall(int x) { return x + (wrong != 0); }
NOT_INLINE int cudaGetDeviceCount(int *n) { *n = wrong; return wrong; }
NOT_INLINE int cudaRuntimeGetVersion(int *v) { *v = wrong; return wrong; }
NOT_INLINE void **__cudaRegisterFatBinary(void *p) { return p; }
NOT_INLINE int cudaThreadSynchronize(void) { return wrong; }
NOT_INLINE int cudaOfTheProgramItself(void) { return wrong - 12345 + 77; }

/* Before main, as compiled code registers itself. */
static int early;
__attribute__((constructor)) static void at_start(void)
{
    int n = 0;
    early = cudaGetDeviceCount(&n) == 0 ? n : -1;
}

int main(void)
{
    int version = 0;
    cudaRuntimeGetVersion(&version);
    printf("early %d version %d new %d own %d sync %d\n", early, version, cudaBrandNewCall(1), cudaOfTheProgramItself(),
           cudaThreadSynchronize());
    return 0;
}
