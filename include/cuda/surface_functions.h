/* surface_functions.h - a name that programs include; cuda_runtime.h has all of it. */
#pragma once
#include "cuda_runtime.h"
