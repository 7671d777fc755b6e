/* api.h - the public calls as a C program would see them, a small PTX module, and what each test program needs. */
#ifndef WG_TESTS_SHIM_API_H
#define WG_TESTS_SHIM_API_H
#include <stdarg.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "shim/abi.h"
#include "shim/props.h"
#include "shim/state.h"
#include "double.h"

typedef struct wg_dim3 dim3;
int cudaGetLastError(void);
int cudaPeekAtLastError(void);
const char *cudaGetErrorName(int);
const char *cudaGetErrorString(int);
int cudaMalloc(void **, size_t);
int cudaFree(void *);
int cudaMallocManaged(void **, size_t, unsigned);
int cudaMallocHost(void **, size_t);
int cudaHostAlloc(void **, size_t, unsigned);
int cudaFreeHost(void *);
int cudaHostRegister(void *, size_t, unsigned);
int cudaHostUnregister(void *);
int cudaHostGetDevicePointer(void **, void *, unsigned);
int cudaHostGetFlags(unsigned *, void *);
int cudaMallocPitch(void **, size_t *, size_t, size_t);
int cudaMalloc3D(struct cudaPitchedPtr *, struct cudaExtent);
int cudaMemGetInfo(size_t *, size_t *);
int cudaPointerGetAttributes(struct cudaPointerAttributes *, const void *);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemcpyAsync(void *, const void *, size_t, int, void *);
int cudaMemcpyAsync_ptsz(void *, const void *, size_t, int, void *);
int cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
int cudaMemcpy3D(const struct cudaMemcpy3DParms *);
int cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
int cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, int);
int cudaGetSymbolAddress(void **, const void *);
int cudaGetSymbolSize(size_t *, const void *);
int cudaMemset(void *, int, size_t);
int cudaMemset2D(void *, size_t, int, size_t, size_t);
int cudaMemset3D(struct cudaPitchedPtr, int, struct cudaExtent);
int cudaMallocAsync(void **, size_t, void *);
int cudaFreeAsync(void *, void *);
int cudaDeviceGetDefaultMemPool(void **, int);
int cudaMemPoolGetAttribute(void *, int, void *);
int cudaMemPoolSetAttribute(void *, int, void *);
int cudaMemPoolCreate(void **, const struct cudaMemPoolProps *);
int cudaMemPoolDestroy(void *);
int cudaMallocFromPoolAsync(void **, size_t, void *, void *);
int cudaDeviceSynchronize(void);
int cudaDeviceReset(void);
int cudaGetDeviceCount(int *);
int cudaGetDevice(int *);
int cudaSetDevice(int);
int cudaGetDeviceProperties(void *, int);
int cudaGetDeviceProperties_v2(void *, int);
int cudaDeviceGetAttribute(int *, int, int);
int cudaDeviceSetLimit(int, size_t);
int cudaDeviceGetLimit(size_t *, int);
int cudaSetDeviceFlags(unsigned);
int cudaGetDeviceFlags(unsigned *);
int cudaDeviceCanAccessPeer(int *, int, int);
int cudaDeviceEnablePeerAccess(int, unsigned);
int cudaDeviceGetPCIBusId(char *, int, int);
int cudaDeviceGetByPCIBusId(int *, const char *);
int cudaDriverGetVersion(int *);
int cudaRuntimeGetVersion(int *);
int cudaStreamCreate(void **);
int cudaStreamCreateWithFlags(void **, unsigned);
int cudaStreamCreateWithPriority(void **, unsigned, int);
int cudaStreamGetPriority(void *, int *);
int cudaStreamGetFlags(void *, unsigned *);
int cudaStreamDestroy(void *);
int cudaStreamSynchronize(void *);
int cudaStreamQuery(void *);
int cudaStreamWaitEvent(void *, void *, unsigned);
int cudaStreamAddCallback(void *, void (*)(void *, int, void *), void *, unsigned);
int cudaLaunchHostFunc(void *, void (*)(void *), void *);
int cudaEventCreate(void **);
int cudaEventCreateWithFlags(void **, unsigned);
int cudaEventRecord(void *, void *);
int cudaEventQuery(void *);
int cudaEventSynchronize(void *);
int cudaEventElapsedTime(float *, void *, void *);
int cudaEventDestroy(void *);
int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
int cudaLaunchKernelExC(const struct cudaLaunchConfig *, const void *, void **);
int cudaLaunchCooperativeKernel(const void *, dim3, dim3, void **, size_t, void *);
int cudaConfigureCall(dim3, dim3, size_t, void *);
int cudaSetupArgument(const void *, size_t, size_t);
int cudaLaunch(const void *);
int cudaFuncGetAttributes(struct cudaFuncAttributes *, const void *);
int cudaFuncSetAttribute(const void *, int, int);
int cudaFuncGetName(const char **, const void *);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t);
int cudaGraphCreate(void **, unsigned);
int cudaIpcGetMemHandle(void *, void *);
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, dim3 *, dim3 *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int);
char __cudaInitModule(void **);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, void *);
int __cudaPopCallConfiguration(dim3 *, dim3 *, size_t *, void *);
int __cudaGetKernel(const void **, const void *);
int __cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);

/* Two kernels and three variables, as a compiler would register them. */
static const char test_ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .global .align 4 .b8 table[64];\n.visible .const .align 4 .u32 scale = 7;\n"
    ".visible .global .attribute(.managed) .align 4 .u32 shared_count = 5;\n"
    ".visible .entry mix(\n\t.param .u64 mix_param_0,\n\t.param .u32 mix_param_1,\n\t.param .align 8 .b8 "
    "mix_param_2[24],\n"
    "\t.param .f32 mix_param_3\n)\n{\n\tret;\n}\n"
    ".visible .entry small()\n.maxntid 128, 1, 1\n{\n\t.shared .align 4 .b8 tile[4096];\n\tret;\n}\n";
static __attribute__((unused)) char fn_mix, fn_small, fn_gone, fn_alien;
static __attribute__((unused)) char var_table[64];
static __attribute__((unused)) int var_scale;
static __attribute__((unused)) void *var_managed;

static __attribute__((unused)) void **register_module(const char *ptx)
{
    static struct wg_fatbin_wrapper w[8];
    static int used;
    struct wg_fatbin_wrapper *p = &w[used++ % 8];
    *p = (struct wg_fatbin_wrapper){WG_WRAPPER_MAGIC, 1, ptx, NULL};
    return __cudaRegisterFatBinary(p);
}

static __attribute__((unused)) void **register_all(void)
{
    void **h = register_module(test_ptx);
    __cudaRegisterFunction(h, &fn_mix, &fn_mix, "mix", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(h, &fn_small, &fn_small, "small", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(h, &fn_gone, &fn_gone, "not_in_the_ptx", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(h, var_table, var_table, "table", 0, 64, 0, 0);
    __cudaRegisterVar(h, (char *)&var_scale, (char *)&var_scale, "scale", 0, 4, 1, 0);
    __cudaRegisterManagedVar(h, &var_managed, (char *)"shared_count", "shared_count", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(h);
    return h;
}

/* Expect a code, by name in the message when it differs. */
#define expect(code, call) assert_string_equal(cudaGetErrorName(call), cudaGetErrorName(code))
#define ok(call)           expect(cudaSuccess, call)
/* Every test starts from a fresh context. */
static __attribute__((unused)) int fresh(void **state)
{
    (void)state;
    cudaDeviceReset();
    struct wg_shim *s = wg_shim_lock(); /* a process in which a kernel failed is lost: undo that between tests */
    s->lost = false;
    wg_shim_unlock(s);
    cudaGetLastError();
    unsetenv("CUDA_LAUNCH_BLOCKING");
    wg_double.launches = 0;
    wg_double.next_status = WG_OK;
    wg_double.next_finding = NULL;
    wg_double.registers = 32;
    return 0;
}
#endif
