/* cuda_profiler_api.h - cudaProfilerStart and cudaProfilerStop. */
#pragma once
#include "cuda_runtime_api.h"
