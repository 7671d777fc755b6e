/* driver.h - how the driver API's calls (libcuda.so.1) are defined: over the same device, memory and streams as the
 * runtime's, with the driver's own rules on initialising and contexts.
 *
 * libcuda.so.1 is another name of our libcudart, so that a program that uses both APIs meets one device. */
#ifndef WG_SHIM_DRIVER_H
#define WG_SHIM_DRIVER_H
#include "shim/image.h"
#include "shim/state.h"

/* enum CUresult where its number is not the runtime's for the same thing */
enum { CUDA_ERROR_NOT_INITIALIZED = 3, CUDA_ERROR_INVALID_CONTEXT = 201, CUDA_ERROR_NOT_FOUND = 500,
       CUDA_ERROR_INVALID_HANDLE = 400, CUDA_ERROR_FILE_NOT_FOUND = 301 };

/* What a driver call needs before it runs: nothing, cuInit, or a current context too. */
enum wg_driver_need { WG_DRIVER_NOTHING, WG_DRIVER_INIT, WG_DRIVER_CONTEXT };
/* 0, or the error; and the thread's last error of the runtime API, which driver calls leave alone. */
int wg_driver_ready(enum wg_driver_need need, enum cudaError *last);
int wg_driver_result(int runtime, enum cudaError last);

/* The call does what a runtime call does. */
#define WG_SAME(name, need, params, call)                                                                              \
    WG_EXPORT int name params;                                                                                         \
    int name params                                                                                                    \
    {                                                                                                                  \
        enum cudaError last;                                                                                           \
        const int not_ready = wg_driver_ready(WG_DRIVER_##need, &last);                                                \
        return not_ready ? not_ready : wg_driver_result(call, last);                                                   \
    }
/* The call has a body of its own, which runs with the lock held, the engine open and s in scope; it answers in the
 * runtime's codes. */
#define WG_DRIVER(name, need, params, args)                                                                            \
    static enum cudaError name##_locked(struct wg_shim *s, WG_BARE params);                                            \
    static int name##_runtime params                                                                                   \
    {                                                                                                                  \
        struct wg_shim *s;                                                                                             \
        enum cudaError result = wg_shim_enter(&s, WG_NEED_CONTEXT);                                                    \
        if (result == cudaSuccess)                                                                                     \
            result = name##_locked(s, WG_BARE args);                                                                   \
        return (int)wg_shim_leave(s, result, #name);                                                                   \
    }                                                                                                                  \
    WG_SAME(name, need, params, name##_runtime args)                                                                   \
    static enum cudaError name##_locked(__attribute__((unused)) struct wg_shim *s, WG_BARE params)
/* The names for the per-thread default stream. */
#define WG_DRIVER_PTSZ(name, params) WG_ALIAS(name##_ptsz, name, params)
#define WG_DRIVER_PTDS(name, params) WG_ALIAS(name##_ptds, name, params)
#endif
