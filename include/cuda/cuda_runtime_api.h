/* cuda_runtime_api.h - the C calls of the runtime API. wg/api_*.h hold them by subject. */
#ifndef __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_API_H__
#include "wg/version.h"
#include "crt/host_defines.h"
#include "builtin_types.h"
#include "cuda_device_runtime_api.h"

#ifdef __cplusplus
#define WG_DEFAULT(value) = value
extern "C" {
#else
#define WG_DEFAULT(value)
#endif
/* Some calls are also offered to kernels (dynamic parallelism); those stay undefined in PTX and are named when called. */
#define WG_BOTH __host__ __device__

#include "wg/api_device.h"
#include "wg/api_stream.h"
#include "wg/api_memory.h"
#include "wg/api_graph.h"
#include "wg/api_old.h"

#undef WG_BOTH
#undef WG_DEFAULT
#ifdef __cplusplus
}
#endif
#endif
