/* cuda_runtime.h - the runtime API with its C++ forms and, for .cu files, everything that kernels use unasked. */
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__
#include "wg/version.h"
#include "crt/host_defines.h"
#if defined(__CUDA__) && defined(__cplusplus)
/* before <cmath>: its constexpr functions would otherwise become device functions */
#include <__clang_cuda_math_forward_declares.h>
#include <cmath>
#include <cstdlib>
#include <stdlib.h>
#include <string.h>
#include <limits.h>
#include <time.h>
#endif
#include "library_types.h"
#include "cuda_runtime_api.h"
#include "driver_functions.h"
#include "vector_functions.h"
#include "channel_descriptor.h"
#ifdef __cplusplus
#include "wg/runtime_templates.h"
#endif
#if defined(__CUDA__) && defined(__cplusplus)
#include "wg/device.h"
#endif
#endif
