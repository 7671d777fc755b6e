/* cuda_pipeline.h - the C-like primitives; the C++ pipeline is in <cuda/pipeline>. */
#pragma once
#include "cuda_pipeline_primitives.h"
